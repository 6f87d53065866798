"""The ball of a match against recorded kicks of rcssserver3d 0.7.3."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.match.worlds.physical.percept import JOINTS
from nutmeg.match.worlds.physical.world import MatchWorld

RECORDED = (  # cycles since the kick, x, of the first of ten recorded kicks
    (3, 0.41), (9, 1.00), (18, 1.84), (27, 2.60), (36, 3.18), (45, 3.71), (54, 4.14), (63, 4.48), (72, 4.76),
    (90, 5.18), (111, 5.50), (171, 5.91),
)  # fmt: skip


def test_a_ball_let_go_like_a_recorded_kick_flies_bounces_and_rolls_as_that_one() -> None:
    world = MatchWorld("sim3d", seats=1)
    world.place_ball((0.1, 0.0, 0.09), (5.2, -0.1, 2.3))
    ways = []
    for _ in range(600):
        world.step()
        ways.append(world.ball[0])
    for cycles, x in RECORDED:
        assert ways[cycles - 1] == pytest.approx(x, abs=0.12)
    assert ways[-1] == pytest.approx(6.07, abs=0.2)


def test_a_dropped_ball_bounces_less_each_time_and_comes_to_rest_on_the_ground() -> None:
    world = MatchWorld("sim3d", seats=1)
    world.place_ball((0.0, 0.0, 0.36))
    heights = []
    for _ in range(200):
        world.step()
        heights.append(world.ball[2])
    peaks = [b for a, b, c in zip(heights, heights[1:], heights[2:], strict=False) if a < b >= c and b > 0.05]
    assert len(peaks) >= 2
    assert peaks == sorted(peaks, reverse=True)
    assert peaks[0] == pytest.approx(0.17, abs=0.05)  # recorded: 0.36 m, then 0.17 m
    assert heights[-1] == pytest.approx(world.ball_radius, abs=5e-4)
    assert np.linalg.norm(world.ball_velocity) < 1e-3


def test_a_swinging_foot_kicks_the_ball_wherever_in_the_step_it_meets_it() -> None:
    speeds = []
    for gap in np.linspace(0.0, 0.06, 7):
        world = MatchWorld("sim3d", seats=1)
        world.join(0, 0)
        seat_angles = world.ground.seats["joints"][0]
        world.ground.world.qpos[seat_angles[JOINTS.index("llj3")]] = np.radians(-20)
        world.place(0, x=0.0, y=0.0, height=0.5, heading=0.0)
        world.settle()
        foot = world.ground.world.data.xpos[world.ground.seats["feet"][0, 1]]
        world.place_ball((foot[0] + 0.15 + gap, foot[1], foot[2] + 0.01))
        command = np.zeros((1, 22))
        command[0, JOINTS.index("llj3")] = 6.0
        fastest = 0.0
        for _ in range(12):
            world.command([0], command)
            world.step()
            fastest = max(fastest, world.ball_velocity[0])
        speeds.append(fastest)
        assert world.touches.sum() <= 1
    assert min(speeds) > 1.5
    assert max(speeds) < 1.2 * min(speeds)
