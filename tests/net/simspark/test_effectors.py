"""Effector messages: recorded, made up, and malformed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.match.worlds.physical.percept import EFFECTORS, Action
from nutmeg.net.simspark import effectors
from nutmeg.net.simspark.agent import action_message
from nutmeg.net.simspark.effectors import Entry, joints_of, merged, read_motors, read_orders

NUMBERS = st.floats(-10, 10).map("{:.5f}".format) | st.sampled_from(
    ["nan", "inf", "1e999", "x", "", "1_0", "1 2", "1 2 3", "a_b"]
)
SINGLE = st.tuples(st.sampled_from([*EFFECTORS, "he9", "syn", "pass", "say", "beam", "scene", "init"]), NUMBERS)
LIKELY = st.lists(SINGLE.map(lambda pair: f"({pair[0]} {pair[1]})"), max_size=6).map("".join)
MESSAGES = LIKELY.map(str.encode) | st.binary(max_size=200) | st.text("()he1 23.-_\n", max_size=100).map(str.encode)


def test_every_message_of_the_recorded_agents_is_understood(recorded: SimpleNamespace) -> None:
    assert len(recorded.from_agents) > 10
    for message in recorded.from_agents:
        orders = read_orders(message)
        assert orders.problems == ()
        assert b"(syn)" not in message or orders.action.syn
        assert b"(beam" not in message or orders.action.beam is not None
        assert (b"(he1" in message) == (orders.action.speeds is not None)
        assert b"(say" not in message or f"(say {orders.action.say})".encode() in message


def test_speeds_land_in_the_columns_of_their_joints() -> None:
    orders = read_orders(b"(he1 0.5)(rae2 -1)(lle6 2e-1)(rle3 +3.25)(lae4 -0)(syn)")
    assert orders.action.speeds is not None
    expected = dict.fromkeys(EFFECTORS[:22], np.nan) | {"he1": 0.5, "rae2": -1, "lle6": 0.2, "rle3": 3.25, "lae4": 0}
    np.testing.assert_array_equal(orders.action.speeds, list(expected.values()))
    assert orders.action.syn


def test_toes_belong_to_those_who_have_them() -> None:
    assert joints_of(4) == 24
    assert joints_of(0) == 22
    speeds = read_orders(b"(rle7 1)(lle7 2)", joints=24).action.speeds
    assert speeds is not None
    assert speeds[22:].tolist() == [1.0, 2.0]
    orders = read_orders(b"(rle7 1)(he1 1)", joints=22)
    assert orders.problems == ("rle7 is a toe, which this robot has not; only type 4 has",)
    assert orders.action.speeds is not None
    assert orders.action.speeds[0] == 1.0


def test_an_agent_asks_for_a_robot_and_enters() -> None:
    assert read_orders(b"(scene rsg/agent/nao/nao_hetero.rsg 4)").scene == 4
    assert read_orders(b"(scene rsg/agent/nao/nao.rsg)").scene == 0
    assert read_orders(b"(init (unum 0)(teamname UTA))").entry == Entry(number=0, team="UTA")
    assert read_orders(b"(init (teamname a_b%) (unum 11))(syn)").entry == Entry(number=11, team="a_b%")
    assert read_orders(b"(init (TeamName NaoRobot))").entry == Entry(number=0, team="NaoRobot")


def test_messages_may_end_as_c_ends_a_text_and_of_several_words_the_first_is_said() -> None:
    orders = read_orders(b"(he1 0.5)(say Hello World!)(syn)\0")
    assert orders.problems == ()
    assert orders.action.speeds is not None
    assert (orders.action.speeds[0], orders.action.say, orders.action.syn) == (0.5, "Hello", True)


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (b"(he1 nan)", "he1 needs one finite number"),
        (b"(he1 1 2)", "he1 needs one finite number"),
        (b"(he1)", "he1 needs one finite number"),
        (b"(he1 (x 1))", "he1 needs one finite number"),
        (b"(he1 1_0)", "he1 needs one finite number"),
        (b"(beam 1 2)", "beam needs three finite numbers"),
        (b"(beam 1 2 inf)", "beam needs three finite numbers"),
        (b"(say " + b"x" * 21 + b")", "say needs one word of at most 20"),
        (b"(say (a) b)", "say needs one word of at most 20"),
        (b"(say \xff)", "say needs one word of at most 20"),
        (b"(scene rsg/agent/nao/nao_hetero.rsg 5)", "is not known"),
        (b"(scene (x) 1)", "is not known"),
        (b"(init (unum 12)(teamname UTA))", "init needs"),
        (b"(init (unum 1.5)(teamname UTA))", "init needs"),
        (b"(init)", "init needs"),
        (b"(wings 3)", "unknown effector 'wings'"),
        (b"junk", "is not an effector"),
        (b"()", "is not an effector"),
        (b"(he1 1", "the message has a parenthesis that is not closed"),
        (b"(he1 1))", "closing parenthesis too many"),
    ],
)
def test_what_cannot_be_used_is_left_out_and_said(message: bytes, problem: str) -> None:
    orders = read_orders(b"(he2 0.25)" + message)
    assert any(problem in found for found in orders.problems)
    assert orders.action.speeds is not None
    assert orders.action.speeds[1] == 0.25
    assert orders.action.beam is None
    assert orders.action.say is None
    assert orders.scene is None
    assert orders.entry is None


def test_a_message_full_of_problems_is_not_read_to_its_end() -> None:
    orders = read_orders(b"(wings 3)" * 100)
    assert len(orders.problems) == effectors.MAX_PROBLEMS + 1


@settings(max_examples=200)
@given(message=MESSAGES, joints=st.sampled_from([22, 24]))
def test_nothing_raises_and_no_speed_is_infinite(message: bytes, joints: int) -> None:
    action = read_orders(message, joints).action
    if action.speeds is not None:
        assert action.speeds.shape == (joints,)
        assert not np.isinf(action.speeds).any()
        assert np.isfinite(action.speeds).any()
    assert action.beam is None or np.isfinite(action.beam).all()
    assert action.say is None or len(action.say) <= 20


@settings(max_examples=200)
@given(message=MESSAGES)
def test_the_quick_way_of_reading_finds_what_the_thorough_one_does(message: bytes) -> None:
    quick, thorough = read_orders(message, 22), effectors._read_slowly(message, 22)
    assert (quick.scene, quick.entry, quick.problems, quick.broken) == (
        (thorough.scene, thorough.entry, thorough.problems, thorough.broken)
    )
    assert (quick.action.beam, quick.action.say, quick.action.syn) == (
        (thorough.action.beam, thorough.action.say, thorough.action.syn)
    )
    if quick.action.speeds is None or thorough.action.speeds is None:
        assert quick.action.speeds is thorough.action.speeds
    else:
        np.testing.assert_array_equal(quick.action.speeds, thorough.action.speeds)


@given(
    speeds=st.none() | st.lists(st.floats(-9, 9) | st.just(np.nan), min_size=22, max_size=22),
    say=st.none()
    | st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="()"), min_size=1, max_size=20),
)
def test_what_an_agent_of_ours_writes_is_what_is_read(speeds: list[float] | None, say: str | None) -> None:
    rows = None if speeds is None or np.isnan(speeds).all() else np.array(speeds)
    action = Action(speeds=rows, beam=(-1.5, 2.0, 30.0), say=say, wants_pass=True, syn=True)
    orders = read_orders(action_message(action))
    assert orders.problems == ()
    again = orders.action
    assert (again.beam, again.say, again.wants_pass, again.syn) == (action.beam, say, True, True)
    if rows is None:
        assert again.speeds is None
    else:
        np.testing.assert_allclose(again.speeds, rows, atol=1e-5)


def test_several_answers_in_a_cycle_are_one() -> None:
    first = Action(speeds=np.array([1.0, np.nan, 3.0]), say="a", beam=(1.0, 2.0, 3.0))
    second = Action(speeds=np.array([np.nan, 5.0, 6.0]), say="b", syn=True, wants_pass=True)
    both = merged(first, second)
    assert both.speeds is not None
    assert both.speeds.tolist() == [1.0, 5.0, 6.0]
    assert (both.say, both.beam, both.syn, both.wants_pass) == ("b", (1.0, 2.0, 3.0), True, True)
    assert merged(first, Action(syn=True)).speeds is first.speeds


@given(
    st.lists(
        st.tuples(st.sampled_from(EFFECTORS), st.integers(-(10**9), 10**9), st.integers(0, 9)), min_size=1, max_size=30
    )
)
def test_motors_are_read_as_python_reads_numbers(told: list[tuple[str, int, int]]) -> None:
    words = [(name, f"{value / 10**decimals:.{decimals}f}") for name, value, decimals in told]
    read = read_motors("".join(f"({name} {text})" for name, text in words).encode(), 24)
    assert read is not None
    found, syn = read
    assert found is not None
    assert not syn
    wanted = dict(words)
    for column, name in enumerate(EFFECTORS):
        if name in wanted:
            assert found[column] == float(wanted[name])
        else:
            assert np.isnan(found[column])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"(",
        b"(he1",
        b"(he1 ",
        b"(he1 1",
        b"(he1 )",
        b"(he1 1)x",
        b"(he1  1)",
        b"(he1 1 )",
        b"(he1 1e3)",
        b"(he1 nan)",
        b"(he1 1.2.3)",
        b"(he1 1)(he9 1)",
        b"(lle7 1)",
        b"(he1 12345678901234567)",
        b"(\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff 1)",
        b"(he1 -)",
        b"(he1 .)",
    ],
)
def test_what_is_not_plainly_motors_is_left_to_others(text: bytes) -> None:
    assert read_motors(text, 22) is None


def test_motors_may_be_followed_by_syn_and_by_nothing_else() -> None:
    found = read_motors(b"(he1 0.5)(syn)", 22)
    assert found is not None
    assert found[0] is not None
    assert found[0][0] == 0.5
    assert np.isnan(found[0][1:]).all()
    assert found[1]
    assert read_motors(b"(syn)", 22) == (None, True)
    plain = read_motors(b"(he2 1)", 22)
    assert plain is not None
    assert not plain[1]
    for text in (b"", b"(syn", b"(syn)(he1 1)", b"(syn)(syn)", b"(he1 1)(syn) ", b"(he1 1)(say x)(syn)", b"syn)"):
        assert read_motors(text, 22) is None, text


@given(st.binary(max_size=60))
def test_no_bytes_upset_the_reader_of_motors(data: bytes) -> None:
    for text, joints in ((data, 22), (b"(he1 " + data, 24)):
        speeds = (read_motors(text, joints) or (None, False))[0]
        assert speeds is None or (speeds.shape == (joints,) and not np.isinf(speeds).any())
