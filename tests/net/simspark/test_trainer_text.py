"""Trainers' commands."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.net.simspark import trainer
from nutmeg.net.simspark.trainer import read_commands

NAMES = ["agent", "ball", "playMode", "kickOff", "dropBall", "kill", "repos", "select", "time", "score", "killsim"]
FIELDS = ["(unum 1)", "(team Left)", "(pos 1 2 3)", "(move 1 2 3 4)", "(vel 1 2 3)", "1", "nan", "Left", "(x)", "()"]
LIKELY = st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from(FIELDS), max_size=4)).map(
    lambda pair: f"({pair[0]} {' '.join(pair[1])})".encode()
)


@pytest.mark.parametrize(
    ("message", "command"),
    [
        (b"(agent (unum 3)(team Right)(pos 1 -2 0.4))", trainer.PlacePlayer(slot=13, position=(1, -2, 0.4))),
        (b"(agent (team Left)(unum 1)(move 1 2 3 -90))", trainer.PlacePlayer(slot=0, position=(1, 2, 3), heading=0.0)),
        (b"(ball (pos 1 2 0.042))", trainer.PlaceBall(position=(1, 2, 0.042))),
        (b"(ball (pos 1 2 3) (vel 4 5 6))", trainer.PlaceBall(position=(1, 2, 3), velocity=(4, 5, 6))),
        (b"(playMode corner_kick_left)", trainer.SetPlayMode(mode=PlayMode.CORNER_KICK_LEFT)),
        (b"(kickOff Right)", trainer.KickOff(side=Side.RIGHT)),
        (b"(kickOff)", trainer.KickOff(side=None)),
        (b"(dropBall)", trainer.DropBall()),
        (b"(select (unum 11)(team right))", trainer.Select(slot=21)),
        (b"(select (unum -1))", trainer.Select(slot=None)),
        (b"(select)", trainer.SelectNext()),
        (b"(getAck)", trainer.Nothing()),
        (b"(init)", trainer.Nothing()),
        (b"(agent (unum 3)(team Right)(battery 50))", trainer.Nothing()),
        (b"(dropBall)\0", trainer.DropBall()),
        (b"(kill)", trainer.Kill(slot=None)),
        (b"(kill (unum 2) (team Left))", trainer.Kill(slot=1)),
        (b"(repos (unum 2) (team Left))", trainer.SendOff(slot=1)),
        (b"(time 12.5)", trainer.SetTime(time=12.5)),
        (b"(score 2 1)", trainer.SetScore(left=2, right=1)),
        (b"(score (left 2) (right 1))", trainer.SetScore(left=2, right=1)),
        (b"(reqfullstate)", trainer.SendFullState()),
        (b"(killsim)", trainer.EndSimulation()),
    ],
)
def test_a_command_is_understood(message: bytes, command: trainer.Command) -> None:
    orders = read_commands(message)
    assert orders.commands == (command,)
    assert orders.problems == ()


def test_the_recorded_command_is_understood(recorded: SimpleNamespace) -> None:
    assert read_commands(recorded.from_monitor[0]).commands == (trainer.KickOff(side=Side.LEFT),)


def test_several_commands_share_a_message_and_good_ones_survive_bad_ones() -> None:
    orders = read_commands(b"(playMode PlayOn)(playMode Tea)(ball (pos 1 2))(time -1)(score 1 x)(dropBall)(dance")
    assert orders.commands == (trainer.SetPlayMode(mode=PlayMode.PLAY_ON), trainer.DropBall())
    assert len(orders.problems) == 5
    assert "not closed" in orders.problems[-1]


def test_a_command_that_is_not_known_is_no_broken_message() -> None:
    assert not read_commands(b"(dance 3)").broken
    assert read_commands(b"(dance").broken
    assert read_commands(b"dance").broken


@pytest.mark.parametrize(
    "message",
    [
        b"(agent (unum 12)(team Left)(pos 1 2 3))",
        b"(agent (unum 1)(team Up)(pos 1 2 3))",
        b"(agent (unum 1)(team Left)(pos 1 2 nan))",
        b"(agent (unum 1)(team Left))",
        b"(ball (pos 1e9 0 0))",
        b"(ball)",
        b"(killsim now)",
        b"(score -1 0)",
        b"(score 0.5 0)",
    ],
)
def test_an_impossible_command_is_not_carried_out(message: bytes) -> None:
    orders = read_commands(message)
    assert orders.commands == ()
    assert len(orders.problems) == 1


@settings(max_examples=150, deadline=None)
@given(message=st.lists(LIKELY, max_size=5).map(b"".join) | st.binary(max_size=200))
def test_nothing_raises_and_every_expression_is_a_command_or_a_problem(message: bytes) -> None:
    orders = read_commands(message)
    assert len(orders.commands) <= message.count(b"(")
    assert len(orders.problems) <= trainer.MOST_PROBLEMS + 2
