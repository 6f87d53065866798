"""The scripts of the repository, run as a developer runs them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parents[1] / "scripts"


def compare_rules(settings: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "compare_rules.py"), str(settings)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def ruby_settings(output: str) -> str:
    """A settings file that says what the comparison wants to see."""
    rows = re.findall(r"^(\S+) +(\S+) +(?:\S+|not in the file)   (\w+)", output, re.MULTILINE)
    values = {setting: value.lower() for rule, value, setting in rows if rule not in ("match.halves",)}
    values |= {"SingleHalfTime": "false", "PenaltyWidth": "3.9", "RuleHalfTime": "5.0 * 60", "MinOppDistance": "0.0"}
    values |= {"RuleDropBallTime": "15", "SelfCollisionBeamPenalty": "false"}
    return "".join(f"addSoccerVar('{name}', {value})\n" for name, value in values.items())


def test_compare_rules_tells_every_number_that_differs_from_the_settings_of_a_server(tmp_path: Path) -> None:
    settings = tmp_path / "naosoccersim.rb"
    settings.write_text("# nothing is set\n")
    nothing = compare_rules(settings)
    assert nothing.returncode == 1
    assert nothing.stdout.count("not in the file") > 50

    settings.write_text(ruby_settings(nothing.stdout))
    same = compare_rules(settings)
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout.endswith(" 0 differ.\n")

    settings.write_text(ruby_settings(nothing.stdout) + "addSoccerVar('FreeKickMoveDist', 2.2)\n")
    other = compare_rules(settings)
    assert other.returncode == 1
    assert re.findall(r"^(\S+) .*differs", other.stdout, re.MULTILINE) == ["restarts.move_distance"]


def test_compare_rules_without_a_file_says_what_it_needs(tmp_path: Path) -> None:
    missing = compare_rules(tmp_path / "naosoccersim.rb")
    assert missing.returncode == 2
    assert "there is no file" in missing.stderr
