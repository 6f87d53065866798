"""The walks that learning begins with stay on their feet for a minute, from noisy starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.learning.courses import ROBOT_NAME, FallJudge, course_scene, start_walkers, yaw_of
from nutmeg.motion.walk.files import read_walk

Array = Any
HALF = np.sqrt(0.5)
WAYS = {
    "forward": (1, 0, 0),
    "backward": (-1, 0, 0),
    "left": (0, 1, 0),
    "right": (0, -1, 0),
    "forward left": (HALF, HALF, 0),
    "forward right": (HALF, -HALF, 0),
    "backward left": (-HALF, HALF, 0),
    "backward right": (-HALF, -HALF, 0),
    "turning left": (0, 0, 1),
    "turning right": (0, 0, -1),
}
"""Shares of the fastest that a walk is asked for: ahead, to the left, turning."""


def walked(name: str, ways: Array, seconds: float, actuation: str = "ideal") -> tuple[Array, Array]:
    """Seconds until a fall, infinite without one, (N,), and mean velocities in the robots' own frames, (N, 3)."""
    walk = read_walk(name)
    scene, generators = course_scene(walk.robot, actuation=actuation), np.random.default_rng(11).spawn(len(ways))
    worlds, walker = start_walkers(scene, [walk] * len(ways), generators)
    walker.wanted[:] = np.array(ways) * walker.walk.top_speed()
    pose, falls, fallen = worlds.robot(ROBOT_NAME).pose, FallJudge(worlds), np.full(len(ways), np.inf)
    moved, before, yaw = np.zeros((len(ways), 3)), pose[:, :2].copy(), yaw_of(pose)
    for cycle in range(round(seconds / CONTROL_CYCLE)):
        walker.sample(0.0)
        worlds.advance(CONTROL_CYCLE)
        fallen[falls.now() & np.isinf(fallen)] = cycle * CONTROL_CYCLE
        (dx, dy), now = (pose[:, :2] - before).T, yaw_of(pose)
        turned = (now - yaw + np.pi) % (2 * np.pi) - np.pi
        moved += np.stack([np.cos(now) * dx + np.sin(now) * dy, np.cos(now) * dy - np.sin(now) * dx, turned], axis=1)
        before, yaw = pose[:, :2].copy(), now
    return fallen, moved / seconds


@pytest.mark.slow
def test_the_untrained_walk_goes_a_minute_in_every_direction_without_a_fall() -> None:
    ways = np.array(list(WAYS.values()))
    fallen, velocity = walked("initial", ways, 60.0)
    assert np.isinf(fallen).all(), dict(zip(WAYS, fallen, strict=True))
    reached = (velocity * ways).sum(axis=1)
    assert (reached[:8] > 0.13).all()  # m/s
    assert (reached[8:] > 0.5).all()  # rad/s


@pytest.mark.slow
@pytest.mark.parametrize("actuation", ["servo", "motoflex"])
def test_a_nao_v6_walks_a_minute_forward_on_its_servos_and_on_flexible_legs(actuation: str) -> None:
    fallen, velocity = walked("nao-v6", [WAYS["forward"]] * 2, 60.0, actuation)
    assert np.isinf(fallen).all()
    assert (velocity[:, 0] > 0.08).all()
    assert np.abs(velocity[:, 1]).max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("actuation", ["ideal", "servo", "motoflex"])
def test_a_nao_v6_walks_in_every_direction(actuation: str) -> None:
    ways = np.array(list(WAYS.values()))
    fallen, velocity = walked("nao-v6", ways, 10.0, actuation)
    assert np.isinf(fallen).all(), dict(zip(WAYS, fallen, strict=True))
    reached = (velocity * ways).sum(axis=1)
    assert (reached[:8] > 0.07).all()
    assert (reached[8:] > 0.35).all()
