"""Twenty characters between team-mates."""

from __future__ import annotations

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.match.players.messages import MAX_ARRIVAL_TIME, MESSAGE_ALPHABET, Report, decode, encode, speaks
from nutmeg.match.worlds.physical.hearing import checked_message

REPORT = Report(
    number=11,
    time=3.14,
    place=(-14.02, 9.98),
    heading=-1.0,
    fallen=True,
    goes=True,
    arrival=3.2,
    ball=(0.5, -0.24),
    ball_velocity=(-1.3, 0.4),
    ball_age=0.3,
    post=7,
)


def test_a_report_comes_back_as_it_was_said() -> None:
    text = encode(REPORT)
    found = decode(text)
    assert len(text) == 20
    assert found is not None
    assert found.heading == pytest.approx(-1.0, abs=0.03)
    assert (found.number, found.time, found.place, found.fallen, found.goes) == (11, 3.14, (-14.02, 9.98), True, True)
    assert (found.arrival, found.ball, found.ball_velocity) == (3.2, (0.5, -0.24), (-1.3, 0.4))
    assert (found.ball_age, found.post) == (0.3, 7)


@given(
    st.integers(1, 11), st.floats(0, 5000), *[st.floats(-1000, 1000)] * 3, st.floats(0, 1e6), st.none() | st.just(1.5)
)
def test_every_report_can_be_said_and_understood(
    number: int, time: float, x: float, y: float, heading: float, age: float, ball: float | None
) -> None:
    place = None if ball is None else (ball, -ball)
    report = Report(number=number, time=time, place=(x, y), heading=heading, arrival=age, ball=place, ball_age=age)
    found = decode(checked_message(encode(report)), now=time)
    assert found is not None
    assert found.number == number
    assert found.time == pytest.approx(time, abs=0.021)
    assert found.place == pytest.approx((min(max(x, -20), 20), min(max(y, -20), 20)), abs=0.0101)
    assert math.cos(found.heading - heading) > 0.998
    assert found.arrival == pytest.approx(min(age, MAX_ARRIVAL_TIME), abs=0.051)
    assert found.ball == place


@given(st.text(string.printable, max_size=24) | st.text(MESSAGE_ALPHABET, min_size=20, max_size=20))
def test_junk_is_no_report(text: str) -> None:
    assert decode(text) is None


def test_a_changed_or_an_old_report_is_refused() -> None:
    text = encode(REPORT)
    for place, sign in enumerate(text):
        assert decode(text[:place] + MESSAGE_ALPHABET[MESSAGE_ALPHABET.index(sign) ^ 1] + text[place + 1 :]) is None
    assert decode(text, now=3.20) is not None
    assert decode(text, now=40.96 + 3.20) is not None
    assert decode(text, now=9.0) is None


@pytest.mark.parametrize("players", [1, 4, 11])
def test_players_take_turns(players: int) -> None:
    for cycle in range(100):
        speakers = [n for n in range(1, players + 1) if speaks(number=n, players=players, time=cycle * 0.02)]
        assert len(speakers) == (1 if cycle % 2 == 0 else 0)
    heard = {n for n in range(1, 12) for c in range(100) if speaks(number=n, players=players, time=c * 0.02)}
    assert heard >= set(range(1, players + 1))
