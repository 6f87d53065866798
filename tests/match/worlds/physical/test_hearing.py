"""Who hears what."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.worlds.physical.hearing import Hearing
from nutmeg.match.worlds.physical.percept import Heard

TEAMS = ("reds", "blues")
SLOTS = (0, 1, 2, 11)


def heard(hearing: Hearing, **places: tuple[float, float]) -> dict[int, tuple[Heard, ...]]:
    positions, headings = np.zeros((22, 3)), np.zeros(22)
    for name, place in places.items():
        positions[int(name.removeprefix("at"))][:2] = place
    headings[1] = np.pi / 2
    return hearing.deliver(12.5, SLOTS, positions, headings, TEAMS)


def test_a_message_is_heard_by_everybody_with_its_direction() -> None:
    hearing = Hearing()
    hearing.say(0, "hello")
    found = heard(hearing, at0=(3.0, 0.0), at11=(3.0, 4.0))
    assert found[0] == (Heard(team="reds", time=12.5, direction=None, message="hello"),)
    assert found[1][0].direction == pytest.approx(-90.0), "it looks along y, the voice comes from the right"
    assert found[2][0].direction == pytest.approx(0.0)
    assert found[11][0].direction == pytest.approx(-90.0)
    assert found[11][0].team == "reds"
    assert heard(hearing) == {}, "a message is in the air for one cycle"


def test_one_team_mate_and_one_opponent_are_heard_every_two_cycles() -> None:
    hearing, counts = Hearing(), []
    for _ in range(6):
        for slot in SLOTS:
            hearing.say(slot, f"m{slot}")
        counts.append([h.message for h in heard(hearing)[0] if h.direction is not None])
    assert [len(messages) for messages in counts] == [2, 0, 2, 0, 2, 0]
    mates = {m for messages in counts for m in messages if m != "m11"}
    assert mates <= {"m1", "m2"}


def test_a_new_player_hears_at_once_whatever_the_last_one_in_its_slot_has_heard() -> None:
    hearing = Hearing()
    hearing.say(2, "first")
    assert {0, 1} <= set(heard(hearing))
    hearing.greet(1)
    hearing.say(2, "second")
    found = heard(hearing)
    assert 0 not in found, "it has heard a team-mate in the cycle before"
    assert [one.message for one in found[1]] == ["second"]


def test_everybody_has_its_turn() -> None:
    hearing, mates = Hearing(), set()
    for _ in range(60):
        for slot in SLOTS:
            hearing.say(slot, f"m{slot}")
        mates |= {h.message for h in heard(hearing)[0] if h.direction is not None}
    assert mates == {"m1", "m2", "m11"}


def test_a_voice_carries_fifty_metres() -> None:
    hearing = Hearing()
    hearing.say(0, "far")
    assert set(heard(hearing, at1=(49.9, 0.0), at2=(50.1, 0.0), at11=(0.0, 60.0))) == {0, 1}


@pytest.mark.parametrize("message", ["", "x" * 21, "two words", "(x)", "tab\t", "\x7f", "ä"])
def test_a_message_that_the_rules_do_not_allow_is_refused(message: str) -> None:
    with pytest.raises(UsageError, match="cannot be said"):
        Hearing().say(0, message)
