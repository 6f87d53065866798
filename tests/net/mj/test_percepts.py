"""Percepts are written as rcssservermj writes them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.match.worlds.mj.percept import Percept, Sight
from nutmeg.match.worlds.physical.percept import GameView
from nutmeg.net.mj.percepts import PerceptWriter, percept_message


def percept(**changes: object) -> Percept:
    given = {
        "robot": "k1",
        "time": 4.479999999,
        "game": GameView(mode="PlayOn", time=1.02, score_left=2, score_right=0),
        "teams": ("reds", ""),
        "attitude": np.array([1.0, -0.0004, 0.7079, 0.0]),
        "position": np.array([-2.9999, 21.0, 0.6735]),
        "gyro": np.array([-0.001, 12.349, 100.0]),
        "acc": np.array([0.0, 0.0, 9.81]),
        "angles": np.zeros(22),
        "rates": np.zeros(22),
    }
    return Percept(**{**given, **changes})  # type: ignore[arg-type]


def test_numbers_are_cut_and_written_as_python_writes_them() -> None:
    text = percept_message(percept()).decode()
    assert text.startswith(
        "(time (now 4.47))(GS (t 1.02)(pm PlayOn)(tl reds)(sl 2)(sr 0))(quat (n torso_quat) (q 1.0 -0.0 0.707 0.0))"
    )
    assert "(pos (n torso_pos) (p -2.999 21.0 0.673))(GYR (n torso_gyro) (rt -0.0 12.34 100.0))" in text
    assert "(ACC (n torso_acc) (a 0.0 0.0 9.81))(HJ (n q_hj1)(ax 0.0)(vx 0.0))(HJ (n q_hj2)" in text
    assert text.endswith("(HJ (n q_rlj6)(ax 0.0)(vx 0.0))")


def test_every_number_is_that_of_numpy_s_own_cut() -> None:
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.normal(0, 10.0**k, 22) for k in range(-4, 6)]).reshape(-1, 22)
    for row in values:
        text = percept_message(percept(angles=row)).decode()
        written = [part.split(")")[0] for part in text.split("(ax ")[1:]]
        assert written == [str(float(number)) for number in np.trunc(row * 100) / 100.0]


def test_a_number_that_is_none_is_never_told() -> None:
    text = percept_message(percept(gyro=np.array([math.nan, math.inf, 1e300]))).decode()
    assert "(rt 0.0 0.0 0.0)" in text


@pytest.mark.parametrize(
    ("heard", "text"),
    [(None, ""), ((), "(MIC hear )"), (((66, b"Hello"), (-13, b"ABC")), "(MIC hear (66 SGVsbG8=)(-13 QUJD))")],
)
def test_voices_follow_the_joints(heard: tuple[tuple[int, bytes], ...] | None, text: str) -> None:
    assert percept_message(percept(heard=heard)).decode().endswith(f"(HJ (n q_rlj6)(ax 0.0)(vx 0.0)){text}")


def test_what_is_out_of_view_is_left_out() -> None:
    marks = np.array([[1.239, -2.0, 3.5], [math.nan] * 3, [4.0, 5.0, -0.001]])
    parts = np.full((2, 3, 3), math.nan)
    parts[1, 1] = 7.0, 8.0, 9.0
    sight = Sight(marks, parts, ("reds", "blues"), (1, 2))
    text = PerceptWriter(("l_luf", "l_llf", "B")).framed(percept(sight=sight)).decode("latin-1")
    assert text.endswith(
        "(See (l_luf (pol 1.23 -2.0 3.5))(B (pol 4.0 5.0 -0.0))(P (team blues)(id 2)(lfoot (pol 7.0 8.0 9.0))))"
    )
