"""N robots of one kind in N worlds: their starts, what they feel, and how a cycle passes.

bodies = Bodies(options, count=64)
bodies.start(rows, generators)              # some of them, each by a generator of its own
bodies.step(active)                         # 20 ms
bodies.felt()                               # joint angles and speeds, gyro, tilt
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.learning.courses import CONTROL_CYCLE, ROBOT_NAME, FallJudge, course_scene, make_walker, yaw_of
from nutmeg.learning.gym.spaces import Part
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.inertial import TiltEstimator
from nutmeg.motion.walk.walker import Walker
from nutmeg.sim.cameras.renderer import Quality, SceneRenderer
from nutmeg.sim.worlds import Worlds, steps_in

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Bytes, Floats, Indices
    from nutmeg.learning.gym.options import RobotOptions
    from nutmeg.motion.walk.files import WalkParameters


FASTEST_JOINT = 20.0
"""Joint speeds are told up to this [rad/s]."""
FASTEST_TORSO = 20.0
"""Angular velocities of the torso are told up to this [rad/s]."""
PAST_LIMIT = 0.1
"""How far joints are told beyond their limits, which are not quite hard [rad]."""


class RobotBatch:
    """The robots of an environment.

    Args:
        options: which robot, and how it is driven.
        count: how many worlds, N.
    """

    def __init__(self, options: RobotOptions, count: int) -> None:
        self.count, self._noise = count, options.noise
        self.worlds = Worlds(course_scene(options.robot, actuation=options.actuation), count, threads=options.threads)
        self.robot = self.worlds.robot(ROBOT_NAME)
        self.table = self.robot.table
        self.senses = TiltEstimator(self.worlds, ROBOT_NAME, period=CONTROL_CYCLE)
        self.velocity_driven: Bools = np.array([drive == "velocity" for drive in self.table.drives])
        """Which motors are told speeds, (motors,)."""
        self.fell: Bools = np.zeros(count, dtype=bool)
        """Who lay, or whose world broke down, after the last cycle, (N,)."""
        self._falls = FallJudge(self.worlds)
        self._steps = steps_in(CONTROL_CYCLE, self.worlds.scene.timestep)

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


# ----------------------------------------------------------------------------------------------------
# The pendulum walk inside an environment.
#
# walker = walker_for(bodies, read_walk("initial")) phase(walker) # (N, 2): where each robot is in its pair of steps


def walker_for(bodies: RobotBatch, walk: WalkParameters) -> Walker:
    """A walker with one walk for all worlds."""
    walker = make_walker(bodies.worlds, [walk] * bodies.count)
    if not isinstance(walker, Walker):
        raise UsageError(f"the walk {walk.name!r} is a trot; environments walk on two legs.")
    return walker


def phase(walker: Walker) -> Floats:
    """Sine and cosine of an angle that goes once round in a left and a right step, (N, 2)."""
    angle = np.pi * (walker.walk.fraction + walker.walk.swing)
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def velocities_from_shares(walker: Walker, shares: Floats) -> Floats:
    """Velocities from shares of the top speeds, -1..1, (N, 3): ahead, to the left, turning to the left."""
    top = walker.walk.top_speed()
    wanted = shares * top
    wanted[:, 0] = np.where(shares[:, 0] < 0, shares[:, 0] * walker.walk.top_speed_back(), wanted[:, 0])
    return np.asarray(wanted)


# ----------------------------------------------------------------------------------------------------
# Pictures of the robots of an environment, drawn off screen.
#
# Environments step without what is only seen, so pictures have a scene of their own with the same joints. The
# renderer is MuJoCo's, on what works here (`engine.renderers`). Videos with shadows and a sky are made from
# recordings (`nutmeg video`).


AZIMUTH, ELEVATION, DISTANCE, HEIGHT = 140.0, -15.0, 1.7, 0.28
"""Where the camera is, seen from the robot [deg, deg, m], and how high it looks [m]."""


def checked_mode(mode: str | None) -> str | None:
    """A render mode, if there is such a one."""
    if mode not in (None, "rgb_array"):
        raise UnknownNameError("render mode", str(mode), ["rgb_array"])
    return mode


class Pictures:
    """Draws the robot of an environment; holds a renderer until closed."""

    def __init__(self, options: RobotOptions) -> None:
        placement = Placement(robot=options.robot, name=ROBOT_NAME, actuation=options.actuation)
        scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,)))
        self._root = scene.robot(ROBOT_NAME).root
        self._camera = mujoco.MjvCamera()
        self._camera.azimuth, self._camera.elevation, self._camera.distance = AZIMUTH, ELEVATION, DISTANCE
        smooth = Quality(samples=4, facets=None)
        self._renderer = SceneRenderer(scene.model, (options.width, options.height), quality=smooth)

    def draw(self, qpos: Floats) -> Bytes:
        """A picture (height, width, 3) of a configuration (nq,)."""
        self._renderer.pose(qpos)
        self._camera.lookat[:] = [*qpos[self._root : self._root + 2], HEIGHT]
        self._renderer.update(self._camera)
        return self._renderer.paint()

    def close(self) -> None:
        """Gives the renderer back."""
        self._renderer.close()
