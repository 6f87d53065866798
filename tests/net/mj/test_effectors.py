"""What agents of rcssservermj send is read, and nothing that they send raises."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.match.worlds.mj.percept import EFFECTORS, Action
from nutmeg.net.mj import effectors
from nutmeg.net.mj.effectors import Entry, merged, read_entry, read_orders


def test_a_request_to_enter_names_robot_team_and_number() -> None:
    assert read_entry(b"(init T1 reds 3)") == Entry("t1", "reds", 3)
    assert read_entry(b"(init K1 a-b_c 11)\0") == Entry("k1", "a-b_c", 11)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"(init Nao reds 3)", "the model 'Nao' is not known; there are T1, K1"),
        (b"(init T1 reds)", "an agent begins with (init MODEL TEAM NUMBER)"),
        (b"(init T1 reds x)", "the number 'x' is not a whole number"),
        (b"(scene rsg/agent/nao/nao.rsg)", "an agent begins with (init MODEL TEAM NUMBER)"),
        (b"\xff\x00((", "an agent begins with"),
        (b"", "an agent begins with"),
    ],
)
def test_what_is_no_request_to_enter_says_why(message: bytes, reason: str) -> None:
    found = read_entry(message)
    assert isinstance(found, str)
    assert reason in found


@pytest.mark.parametrize("robot", ["t1", "k1"])
def test_five_numbers_reach_their_motor(robot: str) -> None:
    names = EFFECTORS[robot]
    message = "".join(f"({name} {k}.5 -{k} {k}0 0.{k} 1)" for k, name in enumerate(names)).encode() + b"(syn)"
    orders = read_orders(message, robot)
    assert orders.problems == ()
    assert orders.action.syn
    assert orders.action.motors is not None
    wanted = [[float(f"{k}.5"), -k, float(f"{k}0"), float(f"0.{k}"), 1.0] for k in range(len(names))]
    assert orders.action.motors == pytest.approx(np.array(wanted))


def test_motors_that_are_not_mentioned_are_left_alone() -> None:
    motors = read_orders(b"(rle6 1 2 3 4 5)", "t1").action.motors
    assert motors is not None
    assert motors[-1].tolist() == [1, 2, 3, 4, 5]
    assert np.isnan(motors[:-1]).all()


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (b"(xyz 0 0 0 0 0)(syn)", "unknown effector 'xyz' of a K1"),
        (b"(te1 0 0 0 0 0)", "unknown effector 'te1' of a K1"),
        (b"(he1 0 0 0 0)", "he1 needs five finite numbers"),
        (b"(he1 nan 0 0 0 0)", "he1 needs five finite numbers"),
        (b"(he1 0 0 0 0 1e999)", "he1 needs five finite numbers"),
        (b"(beam 1 2)", "beam needs three finite numbers"),
        (b"(SPK say 100 ???)", "SPK needs a name, a loudness and a message in base64"),
        (b"(init K1 reds 1)", "a second (init ...)"),
        (b"((((", "parentheses that are not closed"),
    ],
)
def test_what_cannot_be_done_is_left_out_and_said(message: bytes, problem: str) -> None:
    orders = read_orders(message, "k1")
    assert any(problem in said for said in orders.problems), orders.problems
    assert orders.action.motors is None


def test_the_first_unknown_effector_of_a_message_is_told_with_those_that_there_are() -> None:
    first, second = read_orders(b"(q_hj1 0 0 0 0 0)(q_hj2 0 0 0 0 0)", "k1").problems
    assert first.startswith("unknown effector 'q_hj1' of a K1; there are he1, he2, lae1, ")
    assert first.endswith(", beam, SPK and syn")
    assert second == "unknown effector 'q_hj2' of a K1"


def test_speech_and_beams_stand_beside_motors() -> None:
    orders = read_orders(b"(he1 1 0 2 3 0)(SPK say 50 SGVsbG8=)(beam -1.5 2 90)(syn)", "t1")
    assert orders.problems == ()
    assert orders.action.say == (0.5, b"Hello")
    assert orders.action.beam == (-1.5, 2.0, 90.0)
    assert orders.action.motors is not None
    assert orders.action.motors[0].tolist() == [1, 0, 2, 3, 0]


def test_quick_and_thorough_reading_agree() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        names = rng.choice(EFFECTORS["t1"], 5, replace=False)
        message = "".join(f"({name} {' '.join(f'{x:.4f}' for x in rng.normal(0, 50, 5))})" for name in names).encode()
        quick, thorough = read_orders(message, "t1"), effectors._read_slowly(message, "t1")
        assert quick.action.motors is not None
        assert thorough.action.motors is not None
        assert np.array_equal(quick.action.motors, thorough.action.motors, equal_nan=True)


def test_two_answers_in_a_cycle_count_as_one() -> None:
    first, second = (
        read_orders(text, "t1").action for text in (b"(he1 1 0 1 1 0)(he2 5 0 1 1 0)", b"(he1 2 0 1 1 0)(syn)")
    )
    both = merged(first, second)
    assert both.motors is not None
    assert both.motors[:2, 0].tolist() == [2, 5]
    assert both.syn
    assert merged(Action(beam=(1, 2, 3)), Action()).beam == (1, 2, 3)
