"""Kicks as in table 2 and figure 5 of seed 002, and a ball that stops where it should."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from nutmeg.match.worlds.behavioural.ball import (
    SIDE_KICK,
    STRAIGHT_KICK,
    WRONG_SIDE_KICK,
    kicked_ball,
    launch_speed,
    rolled,
    rolling_distance,
)
from nutmeg.match.worlds.behavioural.settings import load_behaviour, numbers_of
from nutmeg.match.worlds.behavioural.state import KickKind, Legs, Posture
from nutmeg.match.worlds.behavioural.world import BehaviourWorld

NUMBERS = numbers_of([load_behaviour("nao")])[0]
TABLE = {  # cm: least and greatest x, least and greatest y
    KickKind.LEFT_STRAIGHT: (10, 20, 0, 10),
    KickKind.RIGHT_STRAIGHT: (10, 20, -10, 0),
    KickKind.LEFT_SIDE: (10, 22, -15, 0),
    KickKind.RIGHT_SIDE: (10, 22, 0, 15),
}
INTENDED = {kick: SIDE_KICK if kick >= KickKind.LEFT_SIDE else STRAIGHT_KICK for kick in KickKind}


@pytest.mark.parametrize("kick", KickKind)
def test_a_ball_is_kicked_as_intended_if_and_only_if_it_is_in_the_rectangle_of_table_2(kick: KickKind) -> None:
    low_x, high_x, low_y, high_y = TABLE[kick]
    for x in np.arange(8.5, 24.0, 1.0):
        for y in np.arange(-17.5, 18.0, 1.0):
            reached, _, _, kind = kicked_ball(int(kick), 1.0, x / 100, y / 100, NUMBERS)
            inside = low_x <= x <= high_x and low_y <= y <= high_y
            assert (reached and kind == INTENDED[kick]) == inside


@pytest.mark.parametrize("kick", KickKind)
def test_the_edges_belong_to_the_rectangle(kick: KickKind) -> None:
    low_x, high_x, low_y, high_y = (edge / 100 for edge in TABLE[kick])
    for x in (low_x, high_x):
        for y in (low_y, high_y):
            assert kicked_ball(int(kick), 1.0, x, y, NUMBERS)[0]


@pytest.mark.parametrize(
    ("kick", "place", "degrees"),
    [
        (KickKind.RIGHT_STRAIGHT, (15, -5), 0.0),  # straight before the foot's tip
        (KickKind.RIGHT_STRAIGHT, (15, -10), -45.0),  # at an angle, as figure 5(b)
        (KickKind.RIGHT_STRAIGHT, (15, 0), 45.0),
        (KickKind.LEFT_STRAIGHT, (15, 10), 45.0),
        (KickKind.LEFT_STRAIGHT, (20, 5), 0.0),
        (KickKind.RIGHT_SIDE, (10, 10), 90.0),  # to the left of a robot that kicks with its right foot: figure 5(a)
        (KickKind.RIGHT_SIDE, (20, 5), 45.0),
        (KickKind.LEFT_SIDE, (10, -10), -90.0),
        (KickKind.LEFT_SIDE, (20, -5), -45.0),
    ],
)
def test_the_ball_leaves_along_the_line_from_the_tip_of_the_foot(
    kick: KickKind, place: tuple[float, float], degrees: float
) -> None:
    reached, direction, _, _ = kicked_ball(int(kick), 1.0, place[0] / 100, place[1] / 100, NUMBERS)
    assert reached
    assert math.degrees(direction) == pytest.approx(degrees)


def test_kicks_of_the_right_foot_mirror_those_of_the_left() -> None:
    rng = np.random.default_rng(1)
    for x, y, strength in rng.uniform((0.08, -0.17, 0.0), (0.24, 0.17, 1.0), (500, 3)):
        for left, right in (
            (KickKind.LEFT_STRAIGHT, KickKind.RIGHT_STRAIGHT),
            (KickKind.LEFT_SIDE, KickKind.RIGHT_SIDE),
        ):
            one = kicked_ball(int(left), strength, x, y, NUMBERS)
            other = kicked_ball(int(right), strength, x, -y, NUMBERS)
            assert one == (other[0], -other[1], other[2], other[3])


def test_a_side_kick_from_the_wrong_side_is_a_weak_straight_kick() -> None:
    straight = kicked_ball(int(KickKind.LEFT_STRAIGHT), 0.8, 0.15, 0.06, NUMBERS)
    wrong = kicked_ball(int(KickKind.LEFT_SIDE), 0.8, 0.15, 0.06, NUMBERS)
    assert straight[3] == STRAIGHT_KICK
    assert wrong[3] == WRONG_SIDE_KICK
    assert wrong[0]
    assert wrong[1] == straight[1]
    assert wrong[2] == pytest.approx(load_behaviour("nao").kick.wrong_side_share * straight[2])


def test_strength_is_a_share_of_the_kind_s_longest_distance() -> None:
    kick = load_behaviour("nao").kick
    for strength in (0.0, 0.25, 1.0):
        assert kicked_ball(0, strength, 0.15, 0.05, NUMBERS)[2] == pytest.approx(strength * kick.straight_distance)
        assert kicked_ball(2, strength, 0.15, -0.05, NUMBERS)[2] == pytest.approx(strength * kick.side_distance)


@pytest.mark.parametrize(("deceleration", "damping"), [(0.25, 0.0), (0.0, 1.06), (0.25, 0.5), (2.0, 1e-4)])
def test_a_ball_stops_after_the_distance_it_was_launched_for(deceleration: float, damping: float) -> None:
    for distance in (0.01, 1.0, 3.0, 12.0):
        speed = launch_speed(distance, deceleration, damping)
        assert rolling_distance(speed, deceleration, damping) == pytest.approx(distance, rel=1e-6)
        for step in (0.02, 0.13):
            way, left_over = 0.0, speed
            while left_over > 0.0:
                more, left_over = rolled(left_over, step, deceleration, damping)
                way += more
            assert way == pytest.approx(distance, rel=1e-6)


def test_constant_deceleration_gives_the_parabola() -> None:
    assert launch_speed(3.0, 0.25, 0.0) == pytest.approx(math.sqrt(2 * 0.25 * 3.0))
    assert rolled(1.0, 2.0, 0.25, 0.0) == pytest.approx((1.0 * 2.0 - 0.125 * 4.0, 0.5))
    assert rolled(1.0, 9.0, 0.25, 0.0) == pytest.approx((2.0, 0.0))


def _kick(world: BehaviourWorld, kick: KickKind, ball: tuple[float, float], strength: float, cycles: int) -> None:
    """Player 3 of the left side, at (-1, 0.5) and looking to +y, kicks a ball at a place of its frame."""
    world.join(0, 2)
    world.place(0, 2, -1.0, 0.5, math.pi / 2)
    world.place_ball(0, -1.0 - ball[1], 0.5 + ball[0])
    world.orders.legs[0, 2], world.orders.kick[0, 2], world.orders.strength[0, 2] = Legs.KICK, kick, strength
    world.step()
    world.orders.legs[0, 2] = Legs.STAND
    for _ in range(cycles - 1):
        world.step()


@pytest.mark.parametrize(("field", "robot"), [("spl2011", "nao"), ("spl2025", "nao"), ("sim3d", "nao-spark")])
@pytest.mark.parametrize("strength", [0.2, 0.5])
def test_a_kicked_ball_goes_the_longest_distance_times_the_strength(
    make_world: Callable[..., BehaviourWorld], field: str, robot: str, strength: float
) -> None:
    world = make_world(field=field, robot=robot)
    kick = world.settings[0].kick
    ball = (0.16, kick.tip_aside)
    _kick(world, KickKind.LEFT_STRAIGHT, ball, strength, cycles=120)
    start = np.array([-1.0 - ball[1], 0.5 + ball[0]])
    assert world.state.ball[0] - start == pytest.approx([0.0, strength * kick.straight_distance], abs=1e-6)
    assert not world.state.ball_speed.any()


def test_a_kick_meets_the_ball_after_the_wind_up_and_ends_after_the_follow_through(
    make_world: Callable[..., BehaviourWorld],
) -> None:
    world = make_world(kick__wind_up=0.5, kick__follow_through=0.3)
    _kick(world, KickKind.LEFT_STRAIGHT, (0.15, 0.05), 1.0, cycles=1)
    met, postures = [], [int(world.state.posture[0, 2])]
    for _ in range(9):
        met.append(bool(world.state.kicked[0, 2]))
        world.step()
        postures.append(int(world.state.posture[0, 2]))
    assert met.index(True) == 5 - 1
    assert sum(met) == 1
    assert postures[:7] == [Posture.KICKING] * 7
    assert postures[7] == Posture.UPRIGHT


def test_a_ball_outside_the_rectangle_stays_where_it_is(make_world: Callable[..., BehaviourWorld]) -> None:
    world = make_world()
    _kick(world, KickKind.RIGHT_STRAIGHT, (0.15, 0.05), 1.0, cycles=30)  # figure 5(c)
    assert world.state.ball[0] == pytest.approx([-1.05, 0.65])
    assert not world.state.kicked.any()


def test_kicks_scatter_as_the_settings_say(make_world: Callable[..., BehaviourWorld]) -> None:
    count = 4000
    world = make_world(count, kick__straight_direction_spread=0.1, kick__straight_distance_spread=0.2)
    world.state.present[:, 0] = True
    world.state.ball[:] = 0.15, 0.05
    world.orders.legs[:, 0], world.orders.strength[:, 0] = Legs.KICK, 0.5
    while not world.state.kicked.any():
        world.step()
    speed = np.hypot(*world.state.ball_speed.T)
    angle = np.arctan2(world.state.ball_speed[:, 1], world.state.ball_speed[:, 0])
    # Up to 0.1 s of the cycle are over: undo the friction of the step in which the ball was met, and of those after.
    distance = rolling_distance(float(np.median(speed)), 0.25, 0.0)
    assert distance == pytest.approx(1.5, rel=0.2)
    assert angle.std() == pytest.approx(0.1, rel=5 / math.sqrt(2 * count))
    assert abs(angle.mean()) < 5 * 0.1 / math.sqrt(count)
    assert (speed**2).std() / (speed**2).mean() == pytest.approx(0.2, rel=0.2)
