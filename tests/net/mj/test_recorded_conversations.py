"""Percepts against rcssservermj's own bytes: a game that is told what was told there says the same, field by field."""

from __future__ import annotations

import gzip
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from nutmeg.match.mj_game import MjGame
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.mj.percept import Action
from nutmeg.net.mj.effectors import read_entry, read_orders
from nutmeg.net.mj.monitors import MonitorFrames
from nutmeg.net.mj.percepts import PerceptWriter
from nutmeg.net.simspark import sexpr

DATA = Path(__file__).parent.parent / "data"
NUMBER = re.compile(r"-?\d+\.\d+")
HEIGHTS = {"t1": 0.6735, "k1": 1.0}
KICK_OFF_ANSWER = 30
FIRST_COMPARED = 6
"""The first percept after both robots were beamed."""


def recorded(robot: str) -> list[list[str]]:
    with gzip.open(DATA / f"rcssservermj_{robot}.jsonl.gz", "rt", encoding="ascii") as file:
        return [json.loads(line) for line in file]


def replay(robot: str) -> tuple[MjGame, dict[str, list[str]]]:
    """Plays the recorded conversation; returns what a and b were told."""
    rows = recorded(robot)
    answers = {who: [text for kind, text in rows if kind == f"{who}>"] for who in "ab"}
    entry = read_entry(answers["a"].pop(0).encode())
    assert not isinstance(entry, str)
    assert entry == (robot, "reds", 1)
    game = MjGame(load_rules("ssim26"), seed=1, seats={robot: 2})
    writer = PerceptWriter(game.world.marks)
    told: dict[str, list[str]] = {"a": [], "b": []}
    kind = ("t1", "k1").index(robot)

    def play(actions: dict[int, Action], **slots: int) -> None:
        percepts = game.cycle(actions)
        for who, slot in slots.items():
            told[who].append(writer.framed(percepts[slot])[4:].decode("ascii"))

    first_has_picture = "(See" in next(text for who, text in rows if who == "a<")
    for _ in range(2 if first_has_picture else 1):
        game.cycle({})
    game.work_ahead()
    a = game.enter("reds", 1, kind)
    play({}, a=a)
    game.work_ahead()
    b = game.enter("blues", 2, kind)
    play({a: read_orders(answers["a"].pop(0).encode(), robot).action}, a=a, b=b)
    for k, (one, two) in enumerate(zip(answers["a"], answers["b"], strict=True)):
        game.work_ahead()
        if k == KICK_OFF_ANSWER + 1:  # the trainer's command counts from this step on; the recording has b put outside
            game.kick_off(Side.LEFT)
            turn = -math.pi / 4
            game.put_player(b, (2.0, 21.0, HEIGHTS[robot]), (math.cos(turn), 0.0, 0.0, math.sin(turn)))
        play({a: read_orders(one.encode(), robot).action, b: read_orders(two.encode(), robot).action}, a=a, b=b)
    return game, told


def fields(percept: str) -> dict[str, list[float]]:
    """Numbers of a percept by what they belong to."""
    found: dict[str, list[float]] = {}
    for name, numbers in re.findall(r"\((?:n (\w+)\)\s?)?\((?:q|p|rt|a|ax|vx|pol) ([^()]*)\)", percept):
        found.setdefault(name or "seen", []).extend(float(number) for number in numbers.split())
    return found


TOLERANCES = {"torso_quat": 0.002, "torso_pos": 0.003, "torso_gyro": 0.3, "torso_acc": 0.2, "seen": 0.6}


@pytest.mark.parametrize("robot", ["t1", "k1"])
@pytest.mark.parametrize(("who", "until"), [("a", 160), ("b", 32)])
def test_a_conversation_is_answered_as_the_league_s_server_answered_it(robot: str, who: str, until: int) -> None:
    _, told = replay(robot)
    theirs = [text for kind, text in recorded(robot) if kind == f"{who}<"]
    for k, (ours, there) in enumerate(zip(told[who][:until], theirs, strict=False)):
        if k < FIRST_COMPARED:
            continue  # there, joining recomputes everybody, half a step off, and leaves motors with chance commands
        before, after = NUMBER.sub("#", ours.split("(See")[0]), NUMBER.sub("#", there.split("(See")[0])
        assert re.sub(r"\(-?\d+ ", "(# ", before) == re.sub(r"\(-?\d+ ", "(# ", after), f"percept {k}"
        assert ("(See" in ours) == ("(See" in there), f"percept {k}"
        mine, real = fields(ours.split("(See")[0]), fields(there.split("(See")[0])
        assert mine.keys() == real.keys()
        for name, numbers in real.items():
            tolerance = TOLERANCES.get(name, 0.25)
            assert mine[name] == pytest.approx(numbers, abs=tolerance), f"percept {k}: {name}"


def test_at_rest_angles_agree_to_a_hundredth_of_a_degree() -> None:
    _, told = replay("t1")
    theirs = [text for kind, text in recorded("t1") if kind == "a<"]
    differences = []
    for ours, there in zip(told["a"][FIRST_COMPARED:], theirs[FIRST_COMPARED:], strict=True):
        mine, real = (np.array(re.findall(r"\(ax ([^)]*)\)", text), float) for text in (ours, there))
        differences.append(np.abs(mine - real).max())
    assert np.median(differences) <= 0.011
    assert max(differences) < 0.1


@pytest.mark.parametrize("robot", ["t1", "k1"])
def test_the_same_landmarks_are_seen_at_the_same_places(robot: str) -> None:
    _, told = replay(robot)
    theirs = [text for kind, text in recorded(robot) if kind == "b<"]
    looks = 0
    for ours, there in zip(told["b"][FIRST_COMPARED:32], theirs[FIRST_COMPARED:32], strict=True):
        seen = [dict(re.findall(r"\((\w+) \(pol ([^)]*)\)", text.split("(See ")[-1])) for text in (ours, there)]
        if "(See" not in there:
            continue
        looks += 1
        shared = set(seen[0]) & set(seen[1])
        assert len(shared) >= len(seen[1]) - 1  # one may be at the edge of the picture
        assert list(seen[0])[:5] == list(seen[1])[:5]
        for name in shared:
            mine, real = (np.array(one[name].split(), float) for one in seen)
            assert mine == pytest.approx(real, abs=0.06), name
    assert looks >= 12


def shape(expression: sexpr.Expression) -> object:
    """What an expression consists of, without its numbers."""
    if isinstance(expression, bytes):
        return "#" if sexpr.number(expression) is not None else expression.decode()
    return [shape(part) for part in expression]


def test_a_monitor_s_frame_has_the_parts_that_the_league_s_server_sends() -> None:
    game, _ = replay("t1")
    frames = MonitorFrames(game)
    frames.look()
    full = frames.full()
    theirs = next(text for kind, text in reversed(recorded("t1")) if kind == "monitor" and ")full" in text).encode()
    ours, real = (sexpr.parse(text, max_depth=99, max_words=10**6) for text in (full, theirs))
    assert ours.problem is None
    mine, there = ours.expressions[0], real.expressions[0]
    assert isinstance(mine, list)
    assert isinstance(there, list)
    assert [part[0] for part in mine] == [part[0] for part in there]  # RSMP, gt, sg, gs, ge
    assert shape(mine[4]) == shape(there[4])  # all of the pitch and the rules
    assert [part[0] for part in mine[3][1:]] == [part[0] for part in there[3][1:]]
    for name in (
        b"models/T1/Trunk.STL",
        b"models/T1/foot_link.STL",
        b"(agent reds 1)",
        b"(agent blues 2)",
        b"(nd DSC(ball)",
    ):
        assert name in full
    assert set(re.findall(rb"models/\S+?\.STL", full)) == set(re.findall(rb"models/\S+?\.STL", theirs))
    frames.look()
    difference = sexpr.parse(frames.difference(), max_depth=99, max_words=10**6)
    assert difference.problem is None
    assert frames.difference().count(b"(nd") == full.count(b"(nd")
