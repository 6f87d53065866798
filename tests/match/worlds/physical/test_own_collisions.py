"""A robot's parts pass through each other, and the referee is told of it."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from nutmeg.match.worlds.physical.kernels import Boxes, boxes_overlap
from nutmeg.match.worlds.physical.percept import JOINTS
from nutmeg.match.worlds.physical.world import MatchWorld


def _boxes_of(depth: float, *, turned: bool) -> bool:
    """Whether two cubes of 0.4 m that overlap so far along x collide; the second may be turned about all its edges."""
    places, turns = np.zeros((2, 3)), np.zeros((2, 9))
    turns[0] = np.eye(3).ravel()
    turns[1] = np.eye(3).ravel()
    if turned:
        mujoco.mju_quat2Mat(turns[1], np.array([0.8, 0.3, 0.4, 0.3]) / np.linalg.norm([0.8, 0.3, 0.4, 0.3]))
    places[1, 0] = 0.2 + 0.2 * np.abs(turns[1, :3]).sum() - depth
    return bool(boxes_overlap(Boxes(places, turns, np.full((2, 3), 0.2)), 0, 1))


def test_boxes_collide_when_they_overlap_by_more_than_the_tolerance() -> None:
    assert not _boxes_of(-0.01, turned=True)
    assert not _boxes_of(0.039, turned=True)
    assert _boxes_of(0.3, turned=True)


def test_boxes_with_parallel_edges_do_not_collide_as_in_the_league() -> None:
    assert not _boxes_of(0.3, turned=False)


def test_a_limb_inside_another_part_does_not_push_it_but_is_told() -> None:
    world = MatchWorld("sim3d", seats=2)
    world.join(0, 0)
    world.join(3, 2)
    for joint, degrees in (("raj1", -77.0), ("raj2", -4.0), ("raj3", -21.0), ("raj4", 61.0)):
        world.ground.world.qpos[world.ground.seats["joints"][0, JOINTS.index(joint)]] = np.radians(degrees)
    world.place(0, x=0.0, y=1.0, heading=0.0)
    world.step()
    owners = world.ground.geoms["owner"][world.ground.world.data.contact.geom]
    assert not ((owners[:, 0] == owners[:, 1]) & (owners[:, 0] >= 0)).any()
    assert world.collides[0].tolist() == [False, True, False, False]
    assert not world.collides[3].any()


def test_robots_still_touch_each_other_the_ball_and_the_ground() -> None:
    world = MatchWorld("sim3d", seats=2)
    world.join(0, 0)
    world.join(11, 0)
    world.place(0, x=0.0, y=1.0, heading=0.0)
    world.place(11, x=0.08, y=1.0, heading=0.0)
    world.place_ball((0.05, 1.0, 0.3))
    world.step()
    contacts = world.ground.geoms["owner"][world.ground.world.data.contact.geom]
    owners = {tuple(sorted(pair)) for pair in contacts.tolist()}
    assert (0, 1) in owners
    assert (-1, 0) in owners
    assert world.touches[0]
    assert world.touches[11]


@pytest.mark.parametrize("phase", [0.0, 0.3, 0.7, 1.1, 1.9])
def test_a_ball_far_away_does_not_change_how_a_robot_moves(phase: float) -> None:
    """The engine's tolerance is relative to all inertia, that of the rotors included; ours is small enough."""
    ends = []
    for ball in ((0.0, -9.0), (0.0, -9.0, 1.5)):
        world = MatchWorld("sim3d", seats=1)
        world.join(0, 0)
        world.place(0, x=-3.0, y=0.0, heading=0.0)
        world.place_ball(ball)
        speeds = np.zeros((1, 22))
        for cycle in range(40):
            speeds[0, JOINTS.index("rlj3")] = 2.0 * np.sin(cycle / 2 + phase)
            speeds[0, JOINTS.index("llj4")] = -2.0 * np.cos(cycle / 2 + phase)
            world.command([0], speeds)
            world.step()
        ends.append(np.concatenate([np.radians(world.angles[0, :22]), world.position[0]]))
    assert np.linalg.norm(ends[0] - ends[1]) < 1e-4
