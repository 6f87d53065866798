"""Messages: who hears them, and how many are lost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.behavioural_game import deliver
from nutmeg.match.worlds.behavioural.state import MatchesState

TEAMS = ("reds", "blues")


def scene(count: int = 1) -> MatchesState:
    state = MatchesState(count)
    state.seed[:] = np.arange(count) + 5
    state.present[:, [0, 1, 2, 11, 12]] = True
    state.pose[:, 1, :2] = 0.0, 1.0
    return state


def test_team_mates_hear_and_opponents_do_not() -> None:
    heard = deliver({0: "hello", 11: "hallo"}, scene(), 0, loss=0.0, time=3.0, teams=TEAMS)
    assert {slot: [h.message for h in hears] for slot, hears in heard.items()} == {
        1: ["hello"],
        2: ["hello"],
        12: ["hallo"],
    }
    assert heard[1][0].team == "reds"
    assert heard[1][0].time == 3.0
    assert heard[1][0].direction == pytest.approx(-90.0)


def test_messages_are_lost_as_often_as_the_settings_say() -> None:
    state, loss, arrived, cycles = scene(), 0.3, 0, 4000
    for cycle in range(cycles):
        state.cycle[0] = cycle
        arrived += len(deliver({0: "hello"}, state, 0, loss=loss, time=0.0, teams=TEAMS))
    listeners = 2 * cycles
    deviation = math.sqrt(listeners * loss * (1.0 - loss))
    assert abs(arrived - listeners * (1.0 - loss)) < 4.0 * deviation


def test_listeners_lose_messages_independently_and_the_same_match_loses_the_same() -> None:
    state, patterns = scene(), []
    for _ in range(2):
        got = []
        for cycle in range(400):
            state.cycle[0] = cycle
            got.append(frozenset(deliver({0: "hi"}, state, 0, loss=0.5, time=0.0, teams=TEAMS)))
        patterns.append(got)
    assert patterns[0] == patterns[1]
    assert {frozenset(), frozenset({1}), frozenset({2}), frozenset({1, 2})} == set(patterns[0])


def test_all_or_nothing_at_the_ends() -> None:
    assert deliver({0: "hi"}, scene(), 0, loss=1.0, time=0.0, teams=TEAMS) == {}
    assert deliver({}, scene(), 0, loss=0.0, time=0.0, teams=TEAMS) == {}


def test_words_that_the_rules_forbid_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot be said"):
        deliver({0: "too long to be said in one message"}, scene(), 0, loss=0.0, time=0.0, teams=TEAMS)
