"""Percept messages against those the league's server has sent."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.base.arrays import Floats
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.physical.percept import JOINTS, GameView, Heard, Percept, Sight
from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.agent import ProtocolError, read_percept
from nutmeg.net.simspark.percepts import (
    START,
    WIDEST_NUMBER,
    PerceptWriter,
    Text,
    finish,
    percept_message,
    put_template,
    written,
)


def percept(joints: int = 22, sight: Sight | None = None, hears: tuple[Heard, ...] = ()) -> Percept:
    feet = 4 if joints == 24 else 2
    return Percept(
        time=1.0,
        game=GameView(mode="PlayOn", time=12.34, score_left=2, score_right=1, number=7, side=Side.RIGHT),
        hears=hears,
        gyro=np.array([0.0, -0.001, 90.0]),
        acc=np.array([0.0, 0.0, 9.81]),
        angles=np.arange(joints) - 0.5,
        forces=np.arange(feet * 6.0).reshape(feet, 6),
        sight=sight,
    )


def sight() -> Sight:
    parts = np.full((2, 5, 3), np.nan)
    parts[0, [0, 4]] = [[3.0, 10.0, -2.0], [3.1, 11.0, -9.0]]
    return Sight(
        labels=("G1R", "B"),
        marks=np.array([[15.0, 1.0, 0.5], [2.0, -3.0, -20.0]]),
        teams=("100%_(U)"[:5], "Unseen"),
        numbers=(4, 5),
        parts=parts,
        lines=np.arange(12.0).reshape(2, 2, 3),
        my_position=np.array([1.0, 2.0, 0.5]),
        my_heading=-90.0,
        ball_position=np.array([3.0, 2.0, 0.042]),
    )


def names(message: bytes) -> list[str]:
    """What comes in a message, in order: `HJ hj1`, `See`."""
    found = []
    for words in sexpr.parse(message).expressions:
        assert isinstance(words, list)
        name = words[1][1] if words[0] in (b"HJ", b"FRP") else b""
        found.append(f"{words[0].decode()} {name.decode()}".strip())
    return found


def test_the_values_of_a_recorded_percept_give_the_recorded_bytes(recorded: SimpleNamespace) -> None:
    joining = [message for messages in recorded.joining.values() for sent, message in messages if not sent]
    assert min(len(recorded.to_agents), len(joining)) > 10
    for message in [*recorded.to_agents, *joining]:
        assert percept_message(read_percept(message)) == message


def test_the_recordings_have_all_that_percepts_can_carry(recorded: SimpleNamespace) -> None:
    percepts = [read_percept(message) for message in recorded.to_agents]
    assert any(p.game.number is not None for p in percepts)
    assert any(p.hears for p in percepts)
    assert any(p.sight is not None and p.sight.teams for p in percepts)
    assert any(np.isfinite(p.forces).all() for p in percepts)
    assert any(np.isnan(p.forces).all() for p in percepts)


def test_a_robot_with_toes_tells_them_after_the_ankles() -> None:
    told = names(percept_message(percept(24)))
    right = ["HJ rlj5", "FRP rf", "HJ rlj6", "FRP rf1", "HJ rlj7"]
    left = ["HJ llj1", "HJ llj2", "HJ llj3", "HJ llj4", "HJ llj5", "FRP lf", "HJ llj6", "FRP lf1", "HJ llj7"]
    assert told[-14:] == right + left
    again = read_percept(percept_message(percept(24)))
    assert np.array_equal(again.angles, percept(24).angles)
    assert np.array_equal(again.forces, percept(24).forces)


def test_joints_are_told_in_the_order_of_the_columns() -> None:
    told = [name.removeprefix("HJ ") for name in names(percept_message(percept())) if name.startswith("HJ")]
    assert told == list(JOINTS[:22])


def test_sight_is_told_after_the_neck_with_the_truth_between_players_and_lines() -> None:
    message = percept_message(percept(sight=sight()))
    assert names(message)[4:7] == ["HJ hj1", "HJ hj2", "See"]
    assert (
        b"(See (G1R (pol 15.00 1.00 0.50)) "
        b"(B (pol 2.00 -3.00 -20.00)) (P (team 100%_) (id 4) (head (pol 3.00 10.00 -2.00)) "
        b"(lfoot (pol 3.10 11.00 -9.00))) (mypos 1.00 2.00 0.50) (myorien -90.00) (ballpos 3.00 2.00 0.04) "
        b"(L (pol 0.00 1.00 2.00) (pol 3.00 4.00 5.00)) "
        b"(L (pol 6.00 7.00 8.00) (pol 9.00 10.00 11.00)))"
    ) in message
    assert b"Unseen" not in message


def test_nothing_in_view_is_still_an_image() -> None:
    empty = Sight(labels=(), marks=np.zeros((0, 3)), parts=np.zeros((0, 5, 3)), lines=np.zeros((0, 2, 3)))
    message = percept_message(percept(sight=empty))
    assert b"(See)" in message
    again = read_percept(message).sight
    assert again is not None
    assert again.labels == ()


def test_lines_of_which_the_league_s_server_tells_no_place_are_left_out() -> None:
    before = b"(time (now 1.00))(GS (t 0.00) (pm PlayOn))(See (L (pol 3.0 1.0 -9.0) (pol 4.0 2.0 -8.0))"
    sight = read_percept(before + b"(L (pol nan nan nan) (pol 4.0 2.0 -8.0)))").sight
    assert sight is not None
    assert sight.lines.tolist() == [[[3.0, 1.0, -9.0], [4.0, 2.0, -8.0]]]


def test_messages_are_heard_from_oneself_and_from_others() -> None:
    own = Heard(team="UTA", time=1.0, direction=None, message="%:rS_L]B")
    other = Heard(team="FCP", time=1.02, direction=-12.345, message="hello")
    message = percept_message(percept(hears=(own, other)))
    assert b"(pm PlayOn))(hear UTA 1.00 self %:rS_L]B)(hear FCP 1.02 -12.35 hello)(GYR" in message
    assert read_percept(message).hears[0] == own
    nameless = read_percept(message.replace(b"(hear FCP 1.02", b"(hear  1.02")).hears[1]
    assert (nameless.team, nameless.message) == ("", "hello")
    assert read_percept(message).hears[1] == dataclasses.replace(other, direction=-12.35)


def test_numbers_that_no_robot_can_have_are_written_all_the_same() -> None:
    angles = np.arange(22) - 0.5
    angles[[2, 5, 7]] = np.inf, -1e15, np.nan
    odd = sight()._replace(marks=np.array([[np.nan, 1.0, 0.5], [2.0, -np.inf, 1e300]]))
    framed = PerceptWriter().framed(percept(sight=odd)._replace(angles=angles))
    assert int.from_bytes(framed[:4], "big") == len(framed) - 4
    assert b"(HJ (n raj1) (ax inf))" in framed
    assert b"(HJ (n raj4) (ax -1000000000000000.00))" in framed
    assert b"(HJ (n laj2) (ax nan))" in framed
    assert b"(G1R (pol nan 1.00 0.50)) (B (pol 2.00 -inf %.2f))" % 1e300 in framed
    plain = percept_message(percept(sight=sight()))
    assert framed[4:].split(b"(GYR")[0] == plain.split(b"(GYR")[0]


def test_a_writer_writes_the_same_however_much_it_has_written_before() -> None:
    writer = PerceptWriter()
    many = sight()._replace(lines=np.arange(6000.0).reshape(-1, 2, 3))
    later = GameView(mode="KickOff_Left", time=12.36, score_left=2, score_right=1)
    own = Heard(team="UTA", time=1.0, direction=None, message="x")
    for told in (
        percept(sight=sight()),
        percept(24, hears=(own,)),
        percept(sight=many),
        percept(),
        percept()._replace(game=later),
        percept(24)._replace(time=1.02),
    ):
        message = writer.framed(told)[4:]
        assert message == percept_message(told)
        assert message.count(b"(L ") == (0 if told.sight is None else len(told.sight.lines))
        again = read_percept(message)
        assert (again.time, again.game) == (told.time, told.game)


def test_another_number_of_joints_is_refused() -> None:
    with pytest.raises(ValueError, match="23 joint angles"):
        percept_message(percept()._replace(angles=np.zeros(23)))


@pytest.mark.parametrize(
    "message", [b"(time (now 1.00))", b"(GS (pm", b"(HJ (n hj9) (ax 1))", b"(GS (t 1) (pm x))(See x)"]
)
def test_what_is_no_percept_is_refused_with_a_reason(message: bytes) -> None:
    with pytest.raises(ProtocolError, match="percept"):
        read_percept(message)


@numba.njit
def _fill(template: Text, values: Floats, out: Text) -> int:
    out[0] = 0
    return finish(put_template(template, 0, len(template), values, 0, out, START), out)


def fill(template: bytes, values: Floats) -> bytes:
    """The template with numbers in its holes."""
    out = np.empty(START + len(template) + WIDEST_NUMBER * len(values), np.uint8)
    return written(out, _fill(np.frombuffer(template, np.uint8), values, out))[START:]


HALVES = st.integers(-100_000, 100_000).map(lambda n: n / 8)
"""Numbers that end in an exact half of a hundredth now and then, as 0.125."""
NEAR_HALVES = st.integers(-10_000_000, 10_000_000).map(lambda n: (n + 0.5) / 100)
"""Numbers whose hundredfold rounds to a half, though they are not exactly there."""


@given(st.lists(st.one_of(st.floats(), HALVES, NEAR_HALVES), max_size=20))
def test_numbers_are_written_as_c_writes_them(values: list[float]) -> None:
    template = b"(pol" + b" \0" * len(values) + b")"
    assert fill(template, np.array(values)) == ("(pol" + "".join(f" {v:.2f}" for v in values) + ")").encode()


def test_a_million_numbers_near_a_half_are_written_as_c_writes_them() -> None:
    rng = np.random.default_rng(0)
    values = (rng.integers(-(10**7), 10**7, 20_000) + 0.5) / 100
    values = np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])
    text = fill(b"\0 " * len(values), values).decode()
    assert text.split() == [f"{v:.2f}" for v in values.tolist()]
