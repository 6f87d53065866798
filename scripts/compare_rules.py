"""Compares the league's rule book with the settings of an rcssserver3d: every number that claims to come from there.

    .venv/bin/python scripts/compare_rules.py /usr/local/share/rcssserver3d/naosoccersim.rb

The rule book names its sources in comments: after `[M]` (sent to monitors) or `[S]` (a setting) stands the name of the
setting. This script reads these comments and the settings file, prints both numbers side by side, and ends with exit
code 1 if they differ or if the file has no such setting. A few constants outside of the rule book are compared as well.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from nutmeg.match.rules import book, slots
from nutmeg.net.simspark import monitors

RULE_BOOK = Path(book.__file__).parent / "data" / "rules" / "sim3d.toml"

Value: TypeAlias = "bool | int | float | str"
Settings: TypeAlias = "dict[str, Value]"

_HEADING = re.compile(r"\[([\w.]+)\]")
_SOURCED = re.compile(r"(\w+)\s*=[^#]*#\s*\[[MS]\]\s*(\w+)")
_SETTING = re.compile(r"^\s*addSoccerVar\(\s*'(\w+)'\s*,\s*([^)]*?)\s*\)", re.MULTILINE)

EXPECTED: dict[str, Callable[[Settings], Value]] = {
    "pitch.penalty_width": lambda settings: float(settings["PenaltyWidth"]) + float(settings["GoalWidth"]),
    "match.halves": lambda settings: 1 if settings["SingleHalfTime"] else 2,
    "restarts.untaken": lambda settings: "drop" if settings["RuleDropBallTime"] else "",
    "fouls.crowding.on": lambda settings: bool(settings["MinOppDistance"]),
    "fouls.self_collision.penalty": lambda settings: "outside" if settings["SelfCollisionBeamPenalty"] else "freeze",
}
"""What the rule book should say where that is not simply the value of the setting."""
CONSTANTS: dict[str, tuple[str, Value]] = {
    "monitors.BALL_MASS": ("BallMass", monitors.BALL_MASS),
    "slots.MAX_OF_TYPE": ("MaxRobotTypeCount", slots.MAX_OF_TYPE),
    "slots.MAX_OF_TWO_TYPES": ("MaxSumTwoRobotTypes", slots.MAX_OF_TWO_TYPES),
}
"""Constants of the code, each with its setting and its value."""


class Compared(NamedTuple):
    """A number of the rule book beside that of the server."""

    rule: str
    """Its name, as `restarts.distance`."""
    value: Value
    """What the rule book says."""
    setting: str
    """The name of the server's setting."""
    expected: Value | None
    """What the rule book should say, from the server's file; None if the file has no such setting."""

    @property
    def equal(self) -> bool:
        """Whether both say the same."""
        if isinstance(self.value, str) or isinstance(self.expected, str) or self.expected is None:
            return self.value == self.expected
        return isinstance(self.value, bool) == isinstance(self.expected, bool) and math.isclose(
            self.value, self.expected
        )


def main() -> int:
    """Prints the comparison; returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare the rule book sim3d with the settings of an rcssserver3d.")
    parser.add_argument("settings", type=Path, help="the server's naosoccersim.rb")
    path: Path = parser.parse_args().settings
    if not path.is_file():
        parser.error(f"there is no file {path}")
    compared = compare(RULE_BOOK.read_text(), read_settings(path.read_text(errors="replace")))
    for one in compared:
        found = "not in the file" if one.expected is None else str(one.expected)
        mark = "" if one.equal else "   <-- differs"
        sys.stdout.write(f"{one.rule:<42} {one.value!s:>8} {found:>16}   {one.setting}{mark}\n")
    differences = sum(not one.equal for one in compared)
    sys.stdout.write(f"{len(compared)} numbers compared, {differences} differ.\n")
    return 1 if differences else 0


def compare(rule_book: str, settings: Settings) -> list[Compared]:
    """Every sourced number of a rule book's text beside the server's."""
    values = tomllib.loads(rule_book)
    found = []
    for rule, setting in sourced(rule_book):
        expected = EXPECTED.get(rule, lambda known, name=setting: known[name])
        value = values
        for part in rule.split("."):
            value = value[part]
        found.append(Compared(rule, value, setting, expected(settings) if setting in settings else None))
    found += [Compared(name, value, setting, settings.get(setting)) for name, (setting, value) in CONSTANTS.items()]
    return found


def sourced(rule_book: str) -> Iterator[tuple[str, str]]:
    """Names of the rules that come from a setting, each with the setting's name."""
    table = ""
    for line in rule_book.splitlines():
        if heading := _HEADING.match(line):
            table = heading[1]
        elif number := _SOURCED.match(line):
            yield f"{table}.{number[1]}", number[2]


def read_settings(text: str) -> Settings:
    """The settings in the text of a naosoccersim.rb, by name; of those that are set twice, the last."""
    return {name: _value(value) for name, value in _SETTING.findall(text)}


def _value(text: str) -> Value:
    """A value of Ruby: true, false, a text, or a number, which may be a product."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return math.prod(float(factor) for factor in text.split("*"))
    except ValueError:
        return text.strip("'\"")


if __name__ == "__main__":
    sys.exit(main())
