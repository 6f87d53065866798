"""Starts that are never quite the same, so that luck does not win.

    begin_noisy(worlds, "nao", StartNoise(), generators)        # a generator for each world

Joint angles, the torso's tilt and its velocity are drawn anew for every try, and so is the foot that swings first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.engine.start import Start, begin

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.engine.worlds import Worlds
    from nutmeg.motion.trot_walker import Steered


@dataclass(frozen=True, kw_only=True)
class StartNoise:
    """How much starts differ: standard deviations of normal distributions, cut off at two of them."""

    joints: float = 0.02
    """Of every joint's angle [rad]."""
    tilt: float = 0.02
    """Of the torso's roll and pitch [rad]."""
    velocity: float = 0.05
    """Of the torso's horizontal velocity [m/s]."""
    rate: float = 0.1
    """Of the torso's roll and pitch rates [rad/s]."""
    lifted: float = 0.003
    """How far above the ground a robot is put, for bent legs reach deeper than straight ones [m]."""

    def __post_init__(self) -> None:
        for name in ("joints", "tilt", "velocity", "rate", "lifted"):
            if not 0 <= getattr(self, name) <= 0.5:
                raise ValueError(f"start noise: {name} is {getattr(self, name):g}; allowed is 0..0.5.")


def begin_noisy(worlds: Worlds, robot: str, noise: StartNoise, generators: Sequence[np.random.Generator]) -> Floats:
    """Puts a robot to noisy starts in all worlds; returns what was drawn for the first swing, 0..1, (N,)."""
    worlds.reset()
    table, pose = worlds.robot(robot).table, worlds.robot(robot).pose.copy()
    width = len(table.joints) + 6
    drawn = np.stack([np.clip(rng.standard_normal(width), -2.0, 2.0) for rng in generators])
    first = np.array([rng.random() for rng in generators])
    joints, rest = drawn[:, 6:], drawn[:, :6]
    tilt = noise.tilt * rest[:, :2] / 2
    pose[:, 3:7] = _product(pose[:, 3:7], np.concatenate([np.ones((len(tilt), 1)), tilt, 0 * tilt[:, :1]], axis=1))
    pose[:, 3:7] /= np.linalg.norm(pose[:, 3:7], axis=1, keepdims=True)
    pose[:, 2] += noise.lifted
    velocity = np.zeros((worlds.count, 6))
    velocity[:, :2], velocity[:, 3:5] = noise.velocity * rest[:, 2:4], noise.rate * rest[:, 4:6]
    angles = worlds.qpos[:, table.angles] + noise.joints * joints
    angles = np.clip(angles, table.limits[:, 0], table.limits[:, 1])
    begin(worlds, robot, Start(angles=angles, pose=pose, velocity=velocity))
    return first


def ready(walker: Steered, first: Floats) -> None:
    """Makes walkers ready to walk from a noisy start: `first` (N,) decides which foot swings first."""
    walker.reset()
    walker.walk.swing[:] = first < 0.5


def _product(a: Floats, b: Floats) -> Floats:
    """Products of quaternions, (N, 4)."""
    aw, ax, ay, az = a.T
    bw, bx, by, bz = b.T
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=1,
    )
