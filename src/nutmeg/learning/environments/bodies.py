"""N robots of one kind in N worlds: their starts, what they feel, and how a cycle passes.

bodies = Bodies(options, count=64)
bodies.start(rows, generators)              # some of them, each by a generator of its own
bodies.step(active)                         # 20 ms
bodies.felt()                               # joint angles and speeds, gyro, tilt
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.engine.worlds import Worlds, steps_in
from nutmeg.learning.course_run import CYCLE, ROBOT, Falls, scene_with
from nutmeg.learning.environments.layout import Part
from nutmeg.learning.steering import yaw_of
from nutmeg.motion.inertial import InertialSense

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.learning.environments.options import RobotOptions


FASTEST_JOINT = 20.0
"""Joint speeds are told up to this [rad/s]."""
FASTEST_TORSO = 20.0
"""Angular velocities of the torso are told up to this [rad/s]."""
PAST_LIMIT = 0.1
"""How far joints are told beyond their limits, which are not quite hard [rad]."""


class Bodies:
    """The robots of an environment.

    Args:
        options: which robot, and how it is driven.
        count: how many worlds, N.
    """

    def __init__(self, options: RobotOptions, count: int) -> None:
        self.count, self._noise = count, options.noise
        self.worlds = Worlds(scene_with(options.robot, actuation=options.actuation), count, threads=options.threads)
        self.robot = self.worlds.robot(ROBOT)
        self.table = self.robot.table
        self.senses = InertialSense(self.worlds, ROBOT, period=CYCLE)
        self.velocity_driven: Bools = np.array([drive == "velocity" for drive in self.table.drives])
        """Which motors are told speeds, (motors,)."""
        self.fell: Bools = np.zeros(count, dtype=bool)
        """Who lay, or whose world broke down, after the last cycle, (N,)."""
        self._falls = Falls(self.worlds)
        self._steps = steps_in(CYCLE, self.worlds.scene.timestep)

    def parts(self) -> list[Part]:
        """The parts of an observation that `felt` fills."""
        low, high = np.clip(self.table.limits, -np.pi, np.pi).T
        joints = len(self.table.joints)
        return [
            Part("angles", joints, low - PAST_LIMIT, high + PAST_LIMIT),
            Part("rates", joints, -FASTEST_JOINT, FASTEST_JOINT),
            Part("gyro", 3, -FASTEST_TORSO, FASTEST_TORSO),
            Part("tilt", 2, -np.pi / 2, np.pi / 2),
        ]

    def felt(self) -> dict[str, Floats]:
        """What the robots feel of themselves, by the names of `parts`, each (N, width)."""
        robot, senses = self.robot, self.senses
        return {"angles": robot.angles, "rates": robot.rates, "gyro": senses.gyro, "tilt": senses.tilt}

    def motor_angles(self) -> Floats:
        """Angles of the motors' joints, (N, motors) [rad]."""
        return np.asarray(self.robot.angles[:, self.table.motor_joints])

    def start(self, rows: Indices, generators: Sequence[np.random.Generator]) -> Floats:
        """Puts robots `rows` (n,) to noisy starts, motors told to hold `ready`.

        Returns:
            A further number 0..1 from each generator, to decide which foot swings first, (n,).
        """
        worlds, table, noise = self.worlds, self.table, self._noise
        width = len(table.joints) + 6
        drawn = np.stack([np.clip(rng.standard_normal(width), -2.0, 2.0) for rng in generators])
        first = np.array([rng.random() for rng in generators])
        worlds.reset(rows)
        angles = worlds.qpos[np.ix_(rows, table.angles)] + noise.joints * drawn[:, 6:]
        angles = np.clip(angles, table.limits[:, 0], table.limits[:, 1])
        worlds.qpos[np.ix_(rows, table.angles)] = angles
        worlds.qpos[np.ix_(rows, table.hidden[:, 0])] = table.at_rest(angles)
        half = np.zeros((len(rows), 4))
        half[:, 0], half[:, 1:3] = 1.0, noise.tilt * drawn[:, :2] / 2
        pose, velocity = self.robot.pose, self.robot.velocity
        pose[rows, 2] += noise.lifted
        pose[rows, 3:7] = half / np.linalg.norm(half, axis=1, keepdims=True)  # the scene has it face along x
        velocity[rows, :2], velocity[rows, 3:5] = noise.velocity * drawn[:, 2:4], noise.rate * drawn[:, 4:6]
        worlds.refresh(rows)
        self.senses.reset(rows)
        self.fell[rows] = False
        return first

    def step(self, active: Bools) -> None:
        """Lets a cycle pass in some worlds, (N,), and senses; worlds that broke down are put back to their start."""
        self.worlds.step(self._steps, None if active.all() else np.flatnonzero(active))
        self.fell = self._falls.now()
        if self.fell.any():
            broken = np.flatnonzero(self.worlds.diverged())
            self.worlds.reset(broken)
            self.senses.reset(broken)
        self.senses.sample()

    def velocities(self) -> Floats:
        """How the robots move as they see it: ahead [m/s], to the left [m/s], turning to the left [rad/s], (N, 3)."""
        yaw, velocity = yaw_of(self.robot.pose), self.robot.velocity
        cos, sin = np.cos(yaw), np.sin(yaw)
        ahead = cos * velocity[:, 0] + sin * velocity[:, 1]
        left = cos * velocity[:, 1] - sin * velocity[:, 0]
        return np.stack([ahead, left, velocity[:, 5]], axis=1)
