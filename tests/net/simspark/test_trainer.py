"""Trainers' commands, against a game that notes what it is told."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.net.simspark.trainer import MAX_PROBLEMS, Trainer

NAMES = ["agent", "ball", "playMode", "kickOff", "dropBall", "kill", "repos", "select", "time", "score", "killsim"]
FIELDS = ["(unum 1)", "(team Left)", "(pos 1 2 3)", "(move 1 2 3 4)", "(vel 1 2 3)", "1", "nan", "Left", "(x)", "()"]
LIKELY = st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from(FIELDS), max_size=4)).map(
    lambda pair: f"({pair[0]} {' '.join(pair[1])})".encode()
)
PLAYING = (1, 13, 21)
"""Slots of the players that are in the game; number 2 of the left, 3 and 11 of the right team."""


class Noted:
    """A game, and the server around it, that only note what they are told."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.present = np.isin(np.arange(22), PLAYING)

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *values: self.calls.append((name, *values))


def trainer_of(noted: Noted) -> Trainer:
    return Trainer(noted, lose_player=noted.lose_player, end=noted.end)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "call"),
    [
        (b"(agent (unum 3)(team Right)(pos 1 -2 0.4))", ("place_player", 13, (1, -2, 0.4), None)),
        (b"(agent (team Left)(unum 2)(move 1 2 3 -90))", ("place_player", 1, (1, 2, 3), 0.0)),
        (b"(ball (pos 1 2 0.042))", ("place_ball", (1, 2, 0.042), None)),
        (b"(ball (vel 4 5 6))", ("place_ball", None, (4, 5, 6))),
        (b"(ball (pos 1 2 3) (vel 4 5 6))", ("place_ball", (1, 2, 3), (4, 5, 6))),
        (b"(playMode corner_kick_left)", ("set_play_mode", PlayMode.CORNER_KICK_LEFT)),
        (b"(kickOff Right)", ("kick_off", Side.RIGHT)),
        (b"(kickOff)", ("kick_off", None)),
        (b"(kickOff None)", ("kick_off", None)),
        (b"(dropBall)", ("drop_ball",)),
        (b"(dropBall)\0", ("drop_ball",)),
        (b"(kill (unum 2) (team Left))", ("lose_player", 1, "a trainer removed it")),
        (b"(repos (unum 2) (team Left))", ("send_off", 1)),
        (b"(select (unum 11)(team right))(repos)", ("send_off", 21)),
        (b"(select)(repos)", ("send_off", 1)),
        (b"(select)(select)(repos)", ("send_off", 13)),
        (b"(select (unum 11)(team right))(select)(repos)", ("send_off", 1)),
        (b"(time 12.5)", ("set_time", 12.5)),
        (b"(score 2 1)", ("set_score", 2, 1)),
        (b"(score (left 2) (right 1))", ("set_score", 2, 1)),
        (b"(killsim)", ("end",)),
    ],
)
def test_a_command_is_carried_out(message: bytes, call: tuple[Any, ...]) -> None:
    noted = Noted()
    assert trainer_of(noted).obey(message).problems == ()
    assert noted.calls == [call]


@pytest.mark.parametrize("message", [b"(getAck)", b"(init)", b"(agent (unum 3)(team Right)(battery 50))"])
def test_some_commands_mean_nothing_here(message: bytes) -> None:
    noted = Noted()
    assert trainer_of(noted).obey(message).problems == ()
    assert noted.calls == []


def test_a_full_frame_may_be_asked_for() -> None:
    trainer = trainer_of(Noted())
    trainer.needs_full = False
    trainer.obey(b"(reqfullstate)")
    assert trainer.needs_full


def test_the_recorded_command_is_understood(recorded: SimpleNamespace) -> None:
    noted = Noted()
    trainer_of(noted).obey(recorded.from_monitor[0])
    assert noted.calls == [("kick_off", Side.LEFT)]


def test_several_commands_share_a_message_and_good_ones_survive_bad_ones() -> None:
    noted = Noted()
    outcome = trainer_of(noted).obey(
        b"(playMode PlayOn)(playMode Tea)(ball (pos 1 2))(time -1)(score 1 x)(dropBall)(dance"
    )
    assert noted.calls == [("set_play_mode", PlayMode.PLAY_ON), ("drop_ball",)]
    assert len(outcome.problems) == 5
    assert "not closed" in outcome.problems[-1]
    assert not outcome.broken


def test_a_command_that_is_not_known_is_no_broken_message() -> None:
    trainer = trainer_of(Noted())
    assert not trainer.obey(b"(dance 3)").broken
    assert trainer.obey(b"(dance").broken
    assert trainer.obey(b"dance").broken


@pytest.mark.parametrize(
    "message",
    [
        b"(agent (unum 12)(team Left)(pos 1 2 3))",
        b"(agent (unum 2)(team Up)(pos 1 2 3))",
        b"(agent (unum 2)(team Left)(pos 1 2 nan))",
        b"(agent (unum 2)(team Left))",
        b"(agent (unum 1)(team Left)(pos 1 2 3))",
        b"(select (unum -1))(kill)",
        b"(kill)",
        b"(repos (unum 1)(team Left))",
        b"(ball (pos 1e9 0 0))",
        b"(ball)",
        b"(killsim now)",
        b"(score -1 0)",
        b"(score 0.5 0)",
    ],
)
def test_an_impossible_command_is_not_carried_out(message: bytes) -> None:
    noted = Noted()
    assert len(trainer_of(noted).obey(message).problems) == 1
    assert noted.calls == []


@settings(max_examples=150)
@given(message=st.lists(LIKELY, max_size=5).map(b"".join) | st.binary(max_size=200))
def test_nothing_raises_and_problems_are_bounded(message: bytes) -> None:
    noted = Noted()
    outcome = trainer_of(noted).obey(message)
    assert len(noted.calls) <= message.count(b"(")
    assert len(outcome.problems) <= MAX_PROBLEMS + 2
