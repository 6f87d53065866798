"""Walking, looking, falling, getting up and diving without joints."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.match.worlds.behavioural.motion import within_limits
from nutmeg.match.worlds.behavioural.settings import load_behaviour, numbers_of
from nutmeg.match.worlds.behavioural.state import Legs, Posture
from nutmeg.match.worlds.behavioural.world import BehaviourWorld

Make = Callable[..., BehaviourWorld]
LayDown = Callable[..., None]
AT_ONCE = {"walk__acceleration": math.inf, "walk__turn_acceleration": math.inf}


def _one(world: BehaviourWorld, heading: float = 0.0) -> None:
    """Player 1 of the left side in the middle of every match, far from the ball."""
    for match in range(world.count):
        world.join(match, 0)
        world.place(match, 0, 0.0, 0.0, heading)
        world.place_ball(match, 2.0, 1.0)


def _order(
    world: BehaviourWorld, legs: Legs, wish: tuple[float, float, float] = (0.0, 0.0, 0.0), cycles: int = 1
) -> None:
    world.orders.legs[:, 0], world.orders.wish[:, 0] = legs, wish
    for _ in range(cycles):
        world.step()


def test_wishes_are_scaled_down_to_the_ellipsoid_of_the_limits_and_keep_their_direction() -> None:
    settings = load_behaviour("nao")
    numbers, walk = numbers_of([settings])[0], settings.walk
    rng = np.random.default_rng(0)
    for wish in rng.normal(size=(300, 3)):
        got = np.array(within_limits(*wish, numbers))
        most = np.array([walk.ahead if wish[0] >= 0 else walk.back, walk.side, walk.turn])
        effort = np.linalg.norm(wish / most)
        assert np.linalg.norm(got / most) == pytest.approx(min(effort, 1.0))
        assert got * max(effort, 1.0) == pytest.approx(wish)
    assert within_limits(math.nan, 0.1, 0.1, numbers) == (0.0, 0.0, 0.0)
    assert within_limits(math.inf, 0.1, 0.1, numbers) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("wish", "axis", "limit"),
    [
        ((9, 0, 0), 0, "ahead"),
        ((-9, 0, 0), 0, "back"),
        ((0, 9, 0), 1, "side"),
        ((0, -9, 0), 1, "side"),
        ((0, 0, 9), 2, "turn"),
    ],
)
def test_nobody_is_faster_than_the_limit_of_its_direction(
    make_world: Make, wish: tuple[float, float, float], axis: int, limit: str
) -> None:
    world = make_world(**AT_ONCE)
    _one(world, heading=0.7)
    _order(world, Legs.WALK, wish, cycles=10)
    fastest = math.copysign(getattr(world.settings[0].walk, limit), wish[axis])
    expected = np.zeros(3)
    expected[axis] = fastest
    assert world.state.speed[0, 0] == pytest.approx(expected, abs=1e-12)
    assert world.state.odometry[0, 0] == pytest.approx(expected * BEHAVIOURAL_CYCLE, abs=1e-12)
    turn = np.array([[math.cos(0.7), math.sin(0.7)], [-math.sin(0.7), math.cos(0.7)]])
    gone = turn @ world.state.pose[0, 0, :2]
    assert gone == pytest.approx(expected[:2] * 1.0, abs=1e-12)


def test_walking_and_turning_at_once_goes_along_a_circle(make_world: Make) -> None:
    world = make_world(walk__ahead=1.0, walk__turn=2.0, **AT_ONCE)
    _one(world)
    speed, turn = 0.4, 0.5
    _order(world, Legs.WALK, (speed, 0.0, turn), cycles=40)
    angle, radius = turn * 4.0, speed / turn
    expected = [radius * math.sin(angle), radius * (1 - math.cos(angle))]
    assert world.state.pose[0, 0, :2] == pytest.approx(expected, abs=1e-4)
    assert world.state.pose[0, 0, 2] == pytest.approx(angle)


def test_speed_changes_no_faster_than_the_acceleration(make_world: Make) -> None:
    world = make_world(walk__acceleration=0.4, walk__turn_acceleration=2.0)
    _one(world)
    paces = []
    for legs, cycles in ((Legs.WALK, 6), (Legs.STAND, 6)):
        for _ in range(cycles):
            _order(world, legs, (0.2, 0.0, 0.0))
            paces.append(float(world.state.pace[0, 0, 0]))
    assert paces == pytest.approx([0.04, 0.08, 0.12, 0.16, 0.2, 0.2, 0.16, 0.12, 0.08, 0.04, 0.0, 0.0])


def test_each_axis_is_disturbed_by_a_base_and_by_a_share_of_its_speed(make_world: Make) -> None:
    count = 4000
    noise = {
        "walk__ahead_noise": 0.01,
        "walk__ahead_noise_share": 0.1,
        "walk__side_noise": 0.02,
        "walk__turn_noise": 0.05,
    }
    world = make_world(count, walk__ahead=1.0, **AT_ONCE, **noise)
    _one(world)
    _order(world, Legs.WALK, (0.5, 0.0, 0.0))
    speed = world.state.speed[:, 0]
    assert speed.std(axis=0) == pytest.approx([0.06, 0.02, 0.05], rel=5 / math.sqrt(2 * count))
    assert np.all(np.abs(speed.mean(axis=0) - [0.5, 0.0, 0.0]) < 5 * np.array([0.06, 0.02, 0.05]) / math.sqrt(count))
    assert world.state.odometry[:, 0] == pytest.approx(np.tile([0.05, 0.0, 0.0], (count, 1)))
    _order(world, Legs.STAND)
    assert not world.state.speed[:, 0].any()


def test_the_head_keeps_to_its_limits_and_its_speed(make_world: Make) -> None:
    world = make_world(head__speed=3.0)
    _one(world)
    world.orders.look[0, 0] = 9.0, 9.0
    world.step()
    assert world.state.head[0, 0] == pytest.approx([0.3, 0.3])
    for _ in range(10):
        world.step()
    assert np.degrees(world.state.head[0, 0]) == pytest.approx([120.0, 35.0])
    world.orders.look[0, 0] = -9.0, -9.0
    for _ in range(20):
        world.step()
    assert np.degrees(world.state.head[0, 0]) == pytest.approx([-120.0, -30.0])
    world.orders.look[0, 0] = math.nan
    world.step()
    assert np.degrees(world.state.head[0, 0]) == pytest.approx([-120.0, -30.0])


def test_falls_without_a_touch_have_the_rate_of_the_settings(make_world: Make) -> None:
    count, cycles = 4000, 20
    world = make_world(count, fall__walking=0.05, fall__fast=0.2, **AT_ONCE)
    _one(world)
    standing = np.ones(count, bool)
    _order(world, Legs.WALK, (0.1, 0.0, 0.0), cycles=0)  # half the full speed
    for _ in range(cycles):
        world.step()
        standing &= ~world.state.fell[:, 0]
    expected = math.exp(-(0.05 + 0.2 * 0.25) * cycles * BEHAVIOURAL_CYCLE)
    assert standing.mean() == pytest.approx(expected, abs=5 * math.sqrt(expected * (1 - expected) / count))
    assert ((world.state.posture[:, 0] == Posture.LYING) == ~standing).all()
    assert set(np.round(world.state.fallen_to[~standing, 0], 6)) == {0.0, round(math.pi, 6)}


def test_who_stands_does_not_fall(make_world: Make) -> None:
    world = make_world(500, fall__walking=5.0, fall__fast=5.0)
    _one(world)
    _order(world, Legs.STAND, cycles=20)
    assert (world.state.posture[:, 0] == Posture.UPRIGHT).all()


@pytest.mark.parametrize(("to", "time"), [(0.0, 0.8), (math.pi, 1.1), (math.pi / 2, 1.4), (-math.pi / 2, 1.4)])
def test_getting_up_takes_its_time_and_only_begins_when_ordered(
    make_world: Make, to: float, time: float, lay_down: LayDown
) -> None:
    world = make_world(get_up__front=0.8, get_up__back=1.1, get_up__side=1.4)
    _one(world)
    lay_down(world, 0, 0, to)
    _order(world, Legs.WALK, (0.2, 0.0, 0.0), cycles=5)
    assert world.state.posture[0, 0] == Posture.LYING
    assert world.state.pose[0, 0] == pytest.approx([0.0, 0.0, 0.0])
    cycles = 0
    while world.state.posture[0, 0] != Posture.UPRIGHT:
        _order(world, Legs.GET_UP)
        cycles += 1
        assert cycles < 50
    assert cycles * BEHAVIOURAL_CYCLE == pytest.approx(time)


def test_a_share_of_tries_to_get_up_fails_and_others_turn_the_robot(make_world: Make) -> None:
    count = 3000
    world = make_world(count, get_up__front=0.1, get_up__failure=0.3, get_up__turn=0.2)
    _one(world)
    world.state.posture[:, 0] = Posture.LYING
    _order(world, Legs.GET_UP)
    lying = world.state.posture[:, 0] == Posture.LYING
    assert lying.mean() == pytest.approx(0.3, abs=5 * math.sqrt(0.21 / count))
    assert world.state.pose[:, 0, 2].std() == pytest.approx(0.2, rel=5 / math.sqrt(2 * count))
    assert not world.state.odometry[:, 0].any()


@pytest.mark.parametrize(("legs", "sign"), [(Legs.DIVE_LEFT, 1), (Legs.DIVE_RIGHT, -1)])
@pytest.mark.parametrize("place", [0.2, 0.5, 0.59])
def test_a_dive_stops_balls_within_its_reach_on_its_side(make_world: Make, legs: Legs, sign: int, place: float) -> None:
    for side in (sign, -sign):
        world = make_world()
        world.join(0, 0)
        world.place(0, 0, -2.9, 0.0, 0.0)
        world.place_ball(0, -1.5, side * place, -1.6, 0.0)
        _order(world, legs, cycles=25)
        held = world.state.ball[0, 0] > -2.9
        assert held == (side == sign)
        if held:
            assert world.state.posture[0, 0] in (Posture.LYING, Posture.DIVING_LEFT, Posture.DIVING_RIGHT)


def test_a_dive_out_of_reach_or_too_late_holds_nothing(make_world: Make) -> None:
    for place, distance in ((0.75, 1.4), (0.5, 0.25)):
        world = make_world(dive__reach=0.6, dive__time=0.6)
        world.join(0, 0)
        world.place(0, 0, -2.5, 0.0, 0.0)
        world.place_ball(0, -2.5 + distance, place, -2.0, 0.0)
        _order(world, Legs.DIVE_LEFT, cycles=15)
        assert world.state.ball[0, 0] < -2.6


def test_after_a_dive_the_robot_lies_on_that_side_and_has_not_fallen(make_world: Make) -> None:
    world = make_world(dive__time=0.4, dive__hold=0.3)
    _one(world)
    postures, fell = [], False
    for _ in range(8):
        _order(world, Legs.DIVE_RIGHT)
        postures.append(int(world.state.posture[0, 0]))
        fell |= bool(world.state.fell[0, 0])
    assert postures == [Posture.DIVING_RIGHT] * 6 + [Posture.LYING] * 2
    assert world.state.fallen_to[0, 0] == pytest.approx(-math.pi / 2)
    assert not fell
