"""The five kinds of collision of seed 002, posts and nets, and who is responsible."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from nutmeg.match.worlds.behavioural.collisions import Rectangle, into_circle, overlap
from nutmeg.match.worlds.behavioural.state import Legs, Posture
from nutmeg.match.worlds.behavioural.world import BehaviourWorld

Make = Callable[..., BehaviourWorld]
LayDown = Callable[..., None]
LEFT, RIGHT = 0, 11
"""Slots of the two who meet."""


def _two(world: BehaviourWorld, distance: float, *, paces: tuple[float, float] = (0.0, 0.0)) -> None:
    """Two robots in the middle that look at each other and walk at these speeds; the ball is far away."""
    world.join(0, LEFT)
    world.join(0, RIGHT)
    world.place(0, LEFT, -distance / 2, 0.0, 0.0)
    world.place(0, RIGHT, distance / 2, 0.0, math.pi)
    world.place_ball(0, 0.0, 1.8)
    world.orders.legs[0, [LEFT, RIGHT]] = Legs.WALK
    world.orders.wish[0, [LEFT, RIGHT], 0] = paces


def _steps(world: BehaviourWorld, cycles: int) -> None:
    for _ in range(cycles):
        world.step()


def _gap(world: BehaviourWorld) -> float:
    return float(world.state.pose[0, RIGHT, 0] - world.state.pose[0, LEFT, 0])


def test_two_robots_that_walk_into_each_other_stop_at_their_torsos(make_world: Make) -> None:
    world = make_world()
    _two(world, 0.4, paces=(0.2, 0.2))
    _steps(world, 20)
    assert _gap(world) == pytest.approx(2 * world.settings[0].body.torso_ahead, abs=1e-9)
    assert world.state.pose[0, LEFT, 0] == pytest.approx(-world.state.pose[0, RIGHT, 0], abs=1e-9)
    assert world.state.contact[0, LEFT, RIGHT]
    assert world.state.contact[0, RIGHT, LEFT]
    assert world.state.speed[0, LEFT, 0] == pytest.approx(0.0, abs=1e-9)
    assert world.state.odometry[0, LEFT, 0] == pytest.approx(0.02)


def test_who_walks_into_a_robot_that_stands_shoves_it_by_the_share_of_the_settings(make_world: Make) -> None:
    for share in (0.0, 0.3):
        world = make_world(bounce__shoved=share)
        _two(world, 2 * world.settings[0].body.torso_ahead, paces=(0.2, 0.0))
        world.state.pace[0, LEFT, 0] = 0.2
        before = world.state.pose[0, RIGHT, 0]
        _steps(world, 10)
        assert world.state.pose[0, RIGHT, 0] - before == pytest.approx(share * 0.2 * 1.0, abs=1e-6)
        assert _gap(world) == pytest.approx(2 * world.settings[0].body.torso_ahead, abs=1e-6)


def test_robots_side_by_side_do_not_touch_until_their_torsos_do(make_world: Make) -> None:
    world = make_world()
    _two(world, 1.0)
    width = 2 * world.settings[0].body.torso_aside
    world.place(0, RIGHT, -0.5, width + 0.001, 0.0)
    _steps(world, 1)
    assert not world.state.contact.any()
    world.place(0, RIGHT, -0.5, width - 0.001, 0.0)
    _steps(world, 1)
    assert world.state.contact[0, LEFT, RIGHT]


def test_who_lies_stays_and_is_an_obstacle_as_long_as_its_body(make_world: Make, lay_down: LayDown) -> None:
    world = make_world()
    body = world.settings[0].body
    _two(world, 1.2, paces=(0.2, 0.0))
    lay_down(world, 0, RIGHT)  # on its belly, towards the other
    _steps(world, 80)
    assert _gap(world) == pytest.approx(body.torso_ahead + body.lying_length, abs=1e-6)
    assert world.state.pose[0, RIGHT, 0] == pytest.approx(0.6)


@pytest.mark.parametrize("field", ["spl2011", "spl2025", "sim3d"])
def test_a_robot_stops_at_a_goal_post_and_beside_it_walks_on(make_world: Make, field: str) -> None:
    world = make_world(field=field)
    x, y = world.goals.posts[2]
    reach = world.settings[0].body.torso_ahead + world.goals.post_radius
    world.join(0, LEFT)
    for beside, stops in ((0.0, True), (0.3, False)):
        world.place(0, LEFT, x - 0.4, y + beside, 0.0)
        world.orders.legs[0, LEFT], world.orders.wish[0, LEFT, 0] = Legs.WALK, 0.2
        _steps(world, 40)
        if stops:
            assert world.state.pose[0, LEFT, 0] == pytest.approx(x - reach, abs=1e-6)
        else:
            assert world.state.pose[0, LEFT, 0] > x + 0.2


def test_collisions_make_robots_fall_as_often_as_the_settings_say(make_world: Make) -> None:
    count = 3000
    world = make_world(count, fall__collision=5.0)
    world.state.present[:, [LEFT, RIGHT]] = True
    world.state.pose[:, RIGHT] = 0.15, 0.0, math.pi
    world.state.ball[:] = 0.0, 1.8
    world.orders.legs[:, LEFT], world.orders.wish[:, LEFT, 0] = Legs.WALK, 0.2
    world.state.pace[:, LEFT, 0] = 0.2
    world.step()
    expected = 1 - math.exp(-5.0 * 0.2 * 0.1)
    for slot in (LEFT, RIGHT):
        fell = world.state.fell[:, slot]
        assert fell.mean() == pytest.approx(expected, abs=5 * math.sqrt(expected * (1 - expected) / count))
        assert np.abs(world.state.fallen_to[fell, slot]) == pytest.approx(np.full(fell.sum(), math.pi))  # backwards


def _blame(world: BehaviourWorld) -> tuple[int, int]:
    return int(world.state.pushed[0, LEFT, RIGHT]), int(world.state.pushed[0, RIGHT, LEFT])


@pytest.mark.parametrize(
    ("paces", "ball", "blame"),
    [
        ((0.2, 0.0), (0.0, 1.8), (1, 0)),  # runs into one that stands
        ((0.0, 0.2), (0.0, 1.8), (0, 1)),
        ((0.2, 0.1), (0.0, 1.8), (1, 0)),  # the faster
        ((0.2, 0.18), (-1.0, 0.0), (0, 1)),  # about as fast, and farther from the ball
        ((0.2, 0.18), (1.0, 0.0), (1, 0)),
        ((0.2, 0.0), (0.0, 0.15), (1, 0)),  # the other is as near to the ball
        ((0.2, 0.0), (0.1, 0.4), (1, 0)),  # the other is nearer
        ((0.2, 0.0), (-0.01, 0.25), (1, 0)),  # nearer, but the ball is at its side
        ((0.0, 0.0), (0.0, 1.8), (0, 0)),
    ],
)
def test_responsible_is_who_runs_into_the_other_by_speed_and_by_the_place_of_the_ball(
    make_world: Make, paces: tuple[float, float], ball: tuple[float, float], blame: tuple[int, int]
) -> None:
    world = make_world()
    _two(world, 0.149, paces=paces)
    world.state.pace[0, [LEFT, RIGHT], 0] = paces
    world.place_ball(0, *ball)
    world.step()
    assert world.state.contact[0, LEFT, RIGHT]
    assert _blame(world) == blame


def test_who_plays_the_ball_is_not_responsible(make_world: Make) -> None:
    for angle, blame in ((0.6, 0), (1.2, 1)):  # the ball ahead within 0.8 rad, or not
        world = make_world()
        _two(world, 1.0, paces=(0.2, 0.0))
        world.place(0, RIGHT, -0.5 + 0.1, -0.2, 0.0)  # stands at its right, a little ahead
        world.place_ball(0, -0.5 + 0.3 * math.cos(angle), 0.3 * math.sin(angle))
        world.orders.wish[0, LEFT] = 0.1, -0.09, 0.0
        world.state.pace[0, LEFT] = 0.1, -0.09, 0.0
        world.step()
        assert world.state.contact[0, LEFT, RIGHT]
        assert _blame(world) == (blame, 0)


def test_a_still_ball_is_nudged_by_a_robot_that_walks_into_it(make_world: Make) -> None:
    world = make_world(bounce__robot=0.3)
    front = world.settings[0].body.base_front + world.ball_radius
    world.join(0, LEFT)
    world.place(0, LEFT, 0.0, 0.0, 0.0)
    world.place_ball(0, front + 0.002, 0.04)
    world.orders.legs[0, LEFT], world.orders.wish[0, LEFT, 0] = Legs.WALK, 0.2
    world.state.pace[0, LEFT, 0] = 0.2
    world.step()
    assert world.state.touched[0].tolist() == [True] + [False] * 21
    assert not world.state.kicked.any()
    assert world.state.ball[0, 1] == pytest.approx(0.04)
    assert 0.0 < world.state.ball_speed[0, 0] <= 1.3 * 0.2
    _steps(world, 20)
    assert world.state.ball[0, 0] >= world.state.pose[0, LEFT, 0] + front - 1e-9


@pytest.mark.parametrize("place", [0.0, 0.05, -0.08])
def test_a_ball_between_the_feet_of_two_who_face_each_other_slips_out(make_world: Make, place: float) -> None:
    world = make_world()
    _two(world, 0.4, paces=(0.2, 0.2))
    world.place_ball(0, 0.0, place)
    _steps(world, 40)
    body = world.settings[0].body
    assert abs(world.state.ball[0, 1]) >= body.base_aside + world.ball_radius - 1e-6
    assert np.linalg.norm(world.state.ball[0]) < 1.0
    assert not world.state.touched.any()


@pytest.mark.parametrize("speed", [0.5, 3.0, 20.0])
def test_a_rolling_ball_is_reflected_at_the_feet_whatever_its_speed(make_world: Make, speed: float) -> None:
    world = make_world(bounce__robot=0.4, ball__deceleration=1e-9)
    world.join(0, LEFT)
    world.place(0, LEFT, 0.0, 0.0, 0.0)
    front = world.settings[0].body.base_front + world.ball_radius
    angle = math.radians(20.0)
    vx, vy = -speed * math.cos(angle), speed * math.sin(angle)
    time = 0.3 * 0.1  # it meets the feet in the second step of the first cycle
    world.place_ball(0, front - vx * time, -vy * time, vx, vy)
    world.step()
    assert world.state.ball_speed[0] == pytest.approx([-0.4 * vx, vy], rel=1e-6)
    assert world.state.ball[0, 0] == pytest.approx(front - 0.4 * vx * 0.07, abs=1e-4)
    assert world.state.touched[0, LEFT]


def test_a_walking_robot_gives_a_ball_that_comes_some_of_its_speed(make_world: Make) -> None:
    world = make_world(bounce__robot=0.5, ball__deceleration=1e-9)
    world.join(0, LEFT)
    world.place(0, LEFT, 0.0, 0.0, 0.0)
    world.place_ball(0, 0.2, 0.0, -1.0, 0.0)
    world.orders.legs[0, LEFT], world.orders.wish[0, LEFT, 0] = Legs.WALK, 0.2
    world.state.pace[0, LEFT, 0] = 0.2
    world.step()
    assert world.state.ball_speed[0, 0] == pytest.approx(0.2 + 0.5 * 1.2, rel=1e-6)


def test_a_ball_straight_at_a_post_comes_back(make_world: Make) -> None:
    world = make_world(bounce__post=0.6, ball__deceleration=1e-9)
    x, y = world.goals.posts[2]
    world.place_ball(0, x - 0.5, y, 10.0, 0.0)
    world.step()
    assert world.state.ball_speed[0] == pytest.approx([-6.0, 0.0], abs=1e-6)
    world.place_ball(0, x - 0.5, y + 0.3, 10.0, 0.0)
    world.step()
    assert world.state.ball_speed[0] == pytest.approx([10.0, 0.0], abs=1e-6)


@pytest.mark.parametrize("field", ["spl2011", "spl2025", "sim3d"])
def test_a_shot_between_the_posts_stays_in_the_goal_and_one_from_behind_stays_out(make_world: Make, field: str) -> None:
    count = 400
    world = make_world(count, field=field, bounce__net=0.0)
    goal = world.field.goal
    assert goal is not None
    rng = np.random.default_rng(3)
    line, half = world.field.length / 2, goal.inner_width / 2
    world.state.ball[:, 0] = line - 0.5
    world.state.ball[:, 1] = rng.uniform(-half, half, count)
    aim = rng.uniform(-half + 0.06, half - 0.06, count)
    direction = np.stack([np.full(count, 0.5), aim - world.state.ball[:, 1]], axis=1)
    world.state.ball_speed[:] = (
        direction / np.linalg.norm(direction, axis=1)[:, None] * rng.uniform(3, 30, count)[:, None]
    )
    for _ in range(100):
        world.step()
    back = line + goal.post_offset + goal.depth
    assert (world.state.ball[:, 0] < back).all()
    inside = (world.state.ball[:, 0] > line) & (np.abs(world.state.ball[:, 1]) < half + goal.post_radius)
    assert inside.mean() > 0.95  # the others touched a post
    world.place_ball(0, back + 0.5, 0.0, -8.0, 0.0)
    world.place_ball(1, line + 0.3, half + 1.0, 0.0, -8.0)
    for _ in range(20):
        world.step(np.array([0, 1]))
    assert world.state.ball[0, 0] > back
    assert world.state.ball[1, 1] > half


def test_a_net_takes_most_of_a_ball_s_speed_in_both_directions(make_world: Make) -> None:
    world = make_world(bounce__net=0.1, ball__deceleration=1e-9)
    back = world.goals.nets[5, 0]
    world.place_ball(0, back - 0.1, 0.0, 4.0, 1.0)
    world.step()
    assert world.state.ball_speed[0] == pytest.approx([-0.4, 0.1], abs=1e-6)


def test_rectangles_overlap_if_and_only_if_they_share_a_point() -> None:
    rng = np.random.default_rng(4)
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 60), np.linspace(-1, 1, 60)), axis=-1).reshape(-1, 2)
    for x, y, first, second in rng.uniform((-0.5, -0.5, -3, -3), (0.5, 0.5, 3, 3), (300, 4)):
        a = Rectangle(0.0, 0.0, math.cos(first), math.sin(first), 0.2, 0.1)
        b = Rectangle(x, y, math.cos(second), math.sin(second), 0.15, 0.3)
        points = np.array([[a[2], -a[3]], [a[3], a[2]]]) @ (grid * [a[4], a[5]]).T
        off = points.T - [x, y]
        along, across = off @ [b[2], b[3]], off @ [-b[3], b[2]]
        inside = ((np.abs(along) < b[4]) & (np.abs(across) < b[5])).any()
        depth, nx, ny = overlap(a, b)
        assert inside == (depth > 0.0) or depth < 0.01
        if depth > 0.0:
            assert math.hypot(nx, ny) == pytest.approx(1.0)
            assert overlap(a, Rectangle(x + (depth + 1e-9) * nx, y + (depth + 1e-9) * ny, *b[2:]))[0] == 0.0
            assert overlap(a, Rectangle(x + (depth - 1e-6) * nx, y + (depth - 1e-6) * ny, *b[2:]))[0] > 0.0


def test_a_rectangle_and_a_circle_are_parted_by_their_depth() -> None:
    rng = np.random.default_rng(5)
    met = 0
    for x, y, turn in rng.uniform((-0.4, -0.4, -3), (0.4, 0.4, 3), (300, 3)):
        a = Rectangle(0.0, 0.0, math.cos(turn), math.sin(turn), 0.2, 0.1)
        depth, nx, ny = into_circle(a, x, y, 0.05)
        if depth > 0.0:
            met += 1
            assert into_circle(a, x + (depth + 1e-9) * nx, y + (depth + 1e-9) * ny, 0.05)[0] == pytest.approx(0.0)
    assert met > 30


def test_who_gets_up_is_no_longer_in_the_way_as_a_lying_body(make_world: Make, lay_down: LayDown) -> None:
    world = make_world(get_up__back=0.3)
    _two(world, 0.4)
    lay_down(world, 0, RIGHT, math.pi)
    world.orders.legs[0, RIGHT] = Legs.GET_UP
    _steps(world, 4)
    assert world.state.posture[0, RIGHT] == Posture.UPRIGHT
    assert not world.state.contact.any()
