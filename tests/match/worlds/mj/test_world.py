"""The world of T1 and K1 robots: drives with five numbers, seats, and what happens when numbers are lost."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.rules.slots import slot_of
from nutmeg.match.worlds.mj.hearing import Hearing
from nutmeg.match.worlds.mj.percept import EFFECTORS, JOINTS, landmarks
from nutmeg.match.worlds.mj.world import MatchWorld
from nutmeg.model.field import load_field
from nutmeg.model.robot import load_robot

ONE, TWO = slot_of(Side.LEFT, 1), slot_of(Side.RIGHT, 1)
STAND = [0.0, 0.0, 100.0, 2.0, 0.0]


def world(**seats: int) -> MatchWorld:
    return MatchWorld("fifa7vs7", seats=seats)


@pytest.mark.parametrize("kind", ["t1", "k1"])
def test_joints_and_motors_of_the_wire_are_the_robot_s_own(kind: str) -> None:
    own = [body.joint.name for body in load_robot(kind).body if body.joint is not None]
    assert len(own) == len(JOINTS[kind]) == len(EFFECTORS[kind])
    assert own[JOINTS[kind].index("llj4")] == "Left_Knee_Pitch"
    assert own[JOINTS[kind].index("raj4")] == "Right_Elbow_Yaw"


def test_a_motor_s_torque_is_what_its_five_numbers_say() -> None:
    ground = world(t1=1)
    ground.join(ONE, "t1")
    rows = np.tile([np.nan] * 5, (23, 1))
    knee = JOINTS["t1"].index("llj4")
    rows[knee] = 20.0, 30.0, 40.0, 0.7, 1.5
    ground.command(ONE, rows)
    ground.step()
    # What sensors tell is the state in which the last step's torque was computed.
    angle, rate = (np.radians(ground.sensors[name][0, ONE, knee]) for name in ("angles", "rates"))
    wanted = 40.0 * (np.radians(20.0) - angle) + 0.7 * (np.radians(30.0) - rate) + 1.5
    assert ground.world.data.actuator_force[ground.seats["motors"][0][knee]] == pytest.approx(wanted, rel=1e-9)


def test_a_motor_has_the_torque_limit_of_its_data() -> None:
    ground = world(t1=1)
    ground.join(ONE, "t1")
    ground.command(ONE, np.tile([500.0, 0.0, 9000.0, 0.0, 0.0], (23, 1)))
    ground.step()
    force = ground.world.data.actuator_force[ground.seats["motors"][0][:23]]
    assert sorted(set(np.round(force, 6))) == [7, 15, 18, 20, 30, 45, 60]


def test_who_joins_moves_nobody_else_and_who_leaves_makes_room() -> None:
    ground = world(t1=2, k1=1)
    ground.join(ONE, "t1")
    ground.command(ONE, np.tile(STAND, (23, 1)))
    for _ in range(20):
        ground.step()
    before = ground.sensors.copy()
    ground.join(TWO, "t1")
    for name in ("position", "attitude", "angles", "acc"):
        assert np.array_equal(ground.sensors[name][0, ONE], before[name][0, ONE])
    assert ground.sensors["position"][0, TWO] == pytest.approx([3.0, 21.0, 0.6735])
    with pytest.raises(UsageError, match="no T1 is left: this match has 2 of them"):
        ground.join(slot_of(Side.RIGHT, 2), "t1")
    ground.leave(TWO)
    ground.join(slot_of(Side.RIGHT, 2), "t1")
    ground.join(slot_of(Side.RIGHT, 3), "k1")
    assert ground.players() == [ONE, slot_of(Side.RIGHT, 2), slot_of(Side.RIGHT, 3)]


def test_a_robot_that_loses_its_numbers_is_put_up_again_and_the_other_plays_on() -> None:
    ground = world(t1=2)
    for slot in (ONE, TWO):
        ground.join(slot, "t1")
        ground.command(slot, np.tile(STAND, (23, 1)))
    for _ in range(20):
        ground.step()
    ground.world.qvel[ground.seats["rates"][ground.seat_of[TWO]][3]] = 1e9
    ground.step()
    assert ground.upsets == 1
    assert np.isfinite(ground.world.qpos).all()
    for _ in range(20):
        ground.step()
    assert ground.poses()[ONE, 2] == pytest.approx(0.666, abs=0.01)
    assert ground.poses()[TWO, 2] > 0.5


@pytest.mark.parametrize("rows", [np.zeros((22, 5)), np.full((23, 5), np.inf)])
def test_commands_that_make_no_sense_are_refused(rows: np.ndarray) -> None:
    ground = world(t1=1)
    ground.join(ONE, "t1")
    with pytest.raises(UsageError, match="motors has"):
        ground.command(ONE, rows)


def test_landmarks_have_the_league_s_quirk_of_full_widths() -> None:
    marks = landmarks(load_field("fifa7vs7"))
    assert marks["t_ruga"] == (27.5, 7.3, 0.0)
    assert marks["l_llpa"] == (-18.5, -16.5, 0.0)
    assert marks["g_lup"] == (-27.5, 1.83, 1.83)
    assert len(marks) == 30


def test_the_three_loudest_voices_are_always_heard_and_quiet_ones_now_and_then() -> None:
    hearing, places = (
        Hearing(np.random.default_rng(1)),
        np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [64, 0, 0.0]]),
    )
    counts = np.zeros(5, int)
    for _ in range(400):
        for slot in range(1, 5):
            hearing.say(slot, loudness=1.0, message=bytes([slot]))
        heard = hearing.deliver(range(5), places, np.tile(np.eye(3), (5, 1, 1)), places)[0]
        for direction, message in heard:
            counts[message[0]] += 1
            assert direction == {1: 0, 2: 90, 3: 180, 4: 0}[message[0]]
    assert counts[1:4].tolist() == [400, 400, 400]
    # -6 dB a doubling: at 64 m a voice has 0.0158 of its loudness, and is heard with ln(1 + (e - 1) 0.0158) = 2.7 %.
    assert 1 <= counts[4] <= 30


def test_long_messages_are_heard_by_nobody() -> None:
    hearing, places = Hearing(np.random.default_rng(1)), np.zeros((2, 3))
    hearing.say(0, loudness=1.0, message=b"eleven byte")
    assert hearing.deliver([0, 1], places, np.tile(np.eye(3), (2, 1, 1)), places) == {0: (), 1: ()}
    assert not hearing.busy


def test_a_ball_at_a_stretched_arm_is_a_hand_ball_and_one_at_an_arm_that_hangs_is_not() -> None:
    ground = world(t1=1)
    ground.join(ONE, "t1")
    seat = ground.seat_of[ONE]
    arm = int(ground.world.model.body("t1-0/LHand").geomadr[0])
    rows = np.tile(STAND, (23, 1))
    found = {}
    for name, roll in (("stretched", 0.0), ("hanging", -80.0)):  # at zero, arms point to the sides
        ground.put(ONE, (0.0, 0.0, 0.6735), (1.0, 0.0, 0.0, 0.0))
        rows[JOINTS["t1"].index("laj2")] = roll, 0.0, 100.0, 2.0, 0.0
        ground.command(ONE, rows)
        for _ in range(50):
            ground.step()
        hand = ground.world.data.geom_xpos[arm].copy()
        ground.place_ball((hand[0], hand[1], hand[2] + 0.13))
        ground.world.qvel[ground.ground.ball_rate + 2] = -1.0
        touched = []
        for _ in range(6):
            ground.step()
            facts = ground.facts()
            touched.append(facts.hand_ball is not None and bool(facts.hand_ball[0, 0]))
            assert facts.hand_ball is None or facts.touches_ball[0, 0]
        found[name] = any(touched)
        assert ground.seats["slot"][seat] == ONE
    assert found == {"stretched": True, "hanging": False}
