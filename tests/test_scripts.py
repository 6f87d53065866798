"""The scripts of the repository, run as a developer runs them."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import socket
import struct
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from nutmeg.match.rules.book import load_rules

SCRIPTS = Path(__file__).parents[1] / "scripts"


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_a_fall_and_a_shot_are_counted_from_the_frames_of_a_monitor_port() -> None:
    league_games = load_script("league_games")
    upright, lying = "1 0 0 0 0 1 0 0 0 0 1 0 3 2 0.4 1", "1 0 0 0 0 0 1 0 0 -1 0 0 3 2 0.1 1"
    robot = "(nd StaticMesh (load models/naobody0.obj) (sSc 1 1 1)(resetMaterials matNum7 matRight naowhite))"
    whole = (
        "((play_modes BeforeKickOff PlayOn)(time 0)(half 1)(score_left 0)(score_right 0)(play_mode 1))(RSG 0 1)"
        f"((nd TRF (SLT 1 0 0 0 0 1 0 0 0 0 1 0 8 0 0.04 1)(nd StaticMesh (load models/soccerball.obj)))"
        f"(nd TRF (SLT {upright})(nd TRF (SLT {upright}) {robot})))"
    )
    frames = [whole]
    for k in range(1, 12):  # the ball rolls towards the goal at +x, with 2.5 m/s, and the robot lies
        ball = f"(SLT 1 0 0 0 0 1 0 0 0 0 1 0 {8 + 0.1 * k} 0 0.04 1)"
        foul = "(foul 1 6 2 7)" if k in (3, 4) else ""
        frames.append(f"((time {0.04 * k:g}){foul})(RDS 0 1)((nd {ball}(nd))(nd (SLT {lying})(nd (nd))))")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monitor, tally = league_games.Monitor(listener.getsockname()[1]), league_games.Tally()
        server = listener.accept()[0]
        server.sendall(b"".join(struct.pack(">I", len(frame)) + frame.encode() for frame in frames))
        for _ in frames:
            monitor.read()
            tally.note(monitor)
        server.close()
        with pytest.raises(ConnectionError):
            monitor.read()
        monitor.close()
    found = league_games.report(tally, monitor)
    assert monitor.count("right") == 1
    assert found["falls_of"] == {"left": {}, "right": {7: [0.32]}}
    assert found["shots"] == {"left": 1, "right": 0}
    assert found["fouls"] == {"charging right": 1}
    assert found["ball"]["mean_x"] > 8.0


def test_the_path_of_a_served_match_is_that_of_a_match_with_agents() -> None:
    paths = load_script("trace_paths")
    trace = paths.Trace()
    paths.served_cycle(trace)
    files = {file.replace("\\", "/").rsplit("/nutmeg/", 1)[1] for file in trace.files}
    assert files >= {"net/simspark/effectors.py", "net/simspark/percepts.py", "match/worlds/physical/vision.py"}


def test_a_team_of_the_script_of_games_is_a_strategy_with_parameters_that_differ() -> None:
    team_games = load_script("team_games")
    name, found, walk = team_games.team_of("builtin:brake_time=0.5,walk=policy-fast,chasers=2")
    assert (name, walk) == ("builtin:brake_time=0.5,walk=policy-fast,chasers=2", "policy-fast")
    assert (found.brake_time, found.chasers, found.duel_speed) == (0.5, 2, 0.3)
    assert team_games.team_of("patient").strategy.brake_time == 0.0
    assert team_games.team_of("patient").walk == "policy"


def test_the_script_of_games_sums_goals_and_falls_of_halves_up(tmp_path: Path) -> None:
    team_games, path = load_script("team_games"), tmp_path / "games.jsonl"
    falls = [{"team": "second", "cause": "contact"}, {"team": "second", "cause": "dive"}]
    both = {"teams": ["builtin", "patient"], "players": 4, "seconds": 300.0, "first": {"shots": 3}, "second": {}}
    early, late = ({"team": "first", "after": "KickOff_Left", "played": seconds} for seconds in (4.0, 60.0))
    halves = [
        both | {"score": [1, 0], "falls": falls, "goals": [early], "stuck": 1.5},
        both | {"score": [0, 2], "falls": [], "goals": [late, late], "stuck": 2.5},
    ]
    duels = {"teams": ["builtin", "patient"], "duels": "goal"}
    path.write_text("".join(json.dumps(line) + "\n" for line in (*halves, duels)))
    told = team_games.summary(path)
    assert "2 halves, 600 s" in told
    assert "goals 1 : 2; halves with a goal 2; from open play 2, in 1 halves; ball stuck for 4 s" in told
    assert "builtin: falls a player-hour 0.0" in told
    assert "patient: falls a player-hour 3.0 (2: {'contact': 1, 'dive': 1}" in told  # in 8 x 300 s
    assert "shots 6" in told


def test_a_duel_at_a_post_begins_with_the_ball_between_both_players_and_a_free_team_mate() -> None:
    team_games, rules = load_script("team_games"), load_rules("sim3d")
    duels = SimpleNamespace(rng=np.random.default_rng(1), game=SimpleNamespace(rules=rules))
    for _ in range(50):
        ball, player, mate, keeper = team_games.Duels._at_post(duels)
        assert 0.3 < rules.pitch.length / 2 - ball[0] < 0.8
        assert abs(abs(ball[1]) - rules.pitch.goal_width / 2) < 0.5
        assert np.add(player[:2], keeper[:2]) / 2 == pytest.approx(ball)
        assert keeper[0] > ball[0] > player[0]
        assert abs(keeper[1]) < abs(ball[1])
        assert 2.0 < math.dist(mate[:2], ball) < 3.0
        assert mate[0] < ball[0] - 1.5
