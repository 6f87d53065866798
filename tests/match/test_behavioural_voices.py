"""Messages: who hears them, and how many are lost."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.behavioural_game import BehaviourGame, BehaviourSetup, deliver, deliver_structures
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.decide import Memory, View, checked_structure
from nutmeg.match.players.request import Request, Walk
from nutmeg.match.rules.book import load_rules
from nutmeg.match.worlds.behavioural.eyes import VoicesSettings, load_eyes
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


def test_structures_reach_the_team_mates_that_hear_the_speaker_as_copies_of_their_own() -> None:
    state, plan = scene(), {"plan": "pass", "to": [1.0, 2.0]}
    told = deliver_structures({0: plan}, state, 0, loss=0.0, time=3.0)
    assert {slot: [(one.number, one.time, one.content) for one in found] for slot, found in told.items()} == {
        slot: [(1, 3.0, plan)] for slot in (1, 2)
    }
    told[1][0].content["to"][0] = 9.0
    assert told[2][0].content == plan
    for cycle in range(50):
        state.cycle[0] = cycle
        reached = set(deliver_structures({0: plan}, state, 0, loss=0.5, time=0.0))
        assert reached == set(deliver({0: "hi"}, state, 0, loss=0.5, time=0.0, teams=TEAMS))


@pytest.mark.parametrize(
    ("content", "why"),
    [({"a": object()}, "not JSON serializable"), ({"a": math.nan}, "nan"), ({"a": "x" * 2000}, "at most 1024")],
)
def test_what_cannot_be_told_is_refused(content: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        checked_structure(content)


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_players_are_told_after_the_delay_of_the_voices(delay: float) -> None:
    eyes = load_eyes("nao")
    eyes = dataclasses.replace(eyes, voices=VoicesSettings(loss=0.0, delay=delay))
    got: list[tuple[float, float, int]] = []

    def decide(view: View, memory: Memory) -> Request:
        got.extend((view.time, one.time, one.content["count"]) for one in view.told or ())
        memory["count"] = memory.get("count", 0) + 1
        return Request(legs=Walk.by(0.02), tell={"count": memory["count"]} if view.number == 1 else None)

    rules = load_rules("spl2011").with_match(half_length=8.0, wait_before_kick_off=1.0, players=3)
    game = BehaviourGame(rules, seed=1, left="reds", right="blues", setup=BehaviourSetup(eyes=eyes))
    loop = GameLoop(game, game.team("reds", decide, 2, longest=20.0))
    for _ in range(12):
        loop.cycle()
    assert got
    assert {round(now - then, 6) for now, then, _ in got} == {delay}


def test_a_displacement_is_a_velocity_until_the_next_decision() -> None:
    assert Walk.by(0.5, -0.25, 1.0) == Walk(ahead=5.0, left=-2.5, turn=10.0)
    assert Walk.by(1.0, seconds=4.0) == Walk(ahead=0.25)
