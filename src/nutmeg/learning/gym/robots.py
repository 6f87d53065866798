"""The robots of a Gymnasium environment: which are chosen, N of them in N worlds, and pictures of them.

    options = checked_options(WalkVelocityOptions, "nutmeg/WalkVelocity-v0", {"robot": "nao-v6", "reach": 0.3})
    robots = RobotBatch(options, count=64)
    robots.start(rows, generators)              # some of them, each by a generator of its own
    robots.step(active)                         # 20 ms
    robots.sensed()                             # joint angles and speeds, gyro, tilt

Names and ranges of options are checked before anything is built.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.learning.courses import ROBOT_NAME, FallJudge, StartNoise, course_scene, in_robot_frame, make_walker, yaw_of
from nutmeg.learning.gym.spaces import Part
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.inertial import TiltEstimator
from nutmeg.motion.walk.walker import Walker
from nutmeg.sim.cameras.renderer import Quality, SceneRenderer
from nutmeg.sim.worlds import Worlds, steps_in

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Bytes, Floats, Indices
    from nutmeg.motion.walk.files import WalkParameters

GYM_ROBOTS = ("nao-spark", "nao-v4", "nao-v6")
"""Robots with a Nao's legs, so that the walk can be added to."""
MAX_JOINT_SPEED = 20.0
"""Joint speeds are observed up to this [rad/s]."""
MAX_TORSO_RATE = 20.0
"""Angular velocities of the torso are observed up to this [rad/s]."""
PAST_LIMIT = 0.1
"""How far joints are observed beyond their limits, which are not quite hard [rad]."""
AZIMUTH, ELEVATION, DISTANCE, HEIGHT = 140.0, -15.0, 1.7, 0.28
"""Where the camera is, seen from the robot [deg, deg, m], and how high it looks [m]."""


@dataclass(frozen=True, kw_only=True)
class RobotOptions:
    """Options of all environments."""

    robot: str = "nao-spark"
    """nao-spark, nao-v4 or nao-v6; for WalkVelocity also any other that moves freely, by its name or path."""
    actuation: str = "ideal"
    """What drives the joints: ideal, and for nao-v4 and nao-v6 also servo, motoflex, or the path of a TOML file."""
    noise: StartNoise = field(default_factory=StartNoise)
    """How much starts differ."""
    threads: int = 1
    """How many threads step the worlds; results are the same. 0 for one a core."""
    width: int = 480
    """The width of rendered pictures [pixels]."""
    height: int = 360
    """The height of rendered pictures [pixels]."""

    def __post_init__(self) -> None:
        if not isinstance(self.noise, StartNoise):
            raise UsageError(f"noise is {self.noise!r}; give a nutmeg.learning.courses.StartNoise.")
        for name, low, high in (("threads", 0, 256), ("width", 8, 4096), ("height", 8, 4096)):
            check_whole(name, getattr(self, name), low, high)


def check_known(kind: str, value: object, known: tuple[str, ...]) -> None:
    """Refuses a name that is not known."""
    if value not in known:
        raise UnknownNameError(kind, str(value), known)


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """Refuses what is not a whole number within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UsageError(f"{name} is {value!r}; allowed is a whole number, {low}..{high}.")


def check_number(name: str, value: object, low: float, high: float, unit: str) -> None:
    """Refuses what is not a number within bounds."""
    fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not (fits and low <= value <= high):  # type: ignore[operator]
        raise UsageError(f"{name} is {value!r}; allowed is {low:g}..{high:g} {unit}.")


class RobotBatch:
    """N robots of one kind in N worlds.

    Args:
        options: which robot, and how it is driven.
        count: how many worlds, N.
    """

    def __init__(self, options: RobotOptions, count: int) -> None:
        self.count, self._options = count, options
        self._pictures: Pictures | None = None
        self.worlds = Worlds(course_scene(options.robot, actuation=options.actuation), count, threads=options.threads)
        self.robot = self.worlds.robot(ROBOT_NAME)
        self.table = self.robot.table
        self.senses = TiltEstimator(self.worlds, ROBOT_NAME, period=CONTROL_CYCLE)
        self.velocity_driven: Bools = np.array([drive == "velocity" for drive in self.table.drives])
        """Which motors are commanded speeds, (motors,)."""
        self.fell: Bools = np.zeros(count, dtype=bool)
        """Which robots lay, or whose world broke down, after the last cycle, (N,)."""
        self._falls = FallJudge(self.worlds)
        self._steps = steps_in(CONTROL_CYCLE, self.worlds.scene.timestep)

    def parts(self) -> list[Part]:
        """The parts of an observation that `sensed` fills."""
        low, high = np.clip(self.table.limits, -np.pi, np.pi).T
        joints = len(self.table.joints)
        return [
            Part("angles", joints, low - PAST_LIMIT, high + PAST_LIMIT),
            Part("rates", joints, -MAX_JOINT_SPEED, MAX_JOINT_SPEED),
            Part("gyro", 3, -MAX_TORSO_RATE, MAX_TORSO_RATE),
            Part("tilt", 2, -np.pi / 2, np.pi / 2),
        ]

    def sensed(self) -> dict[str, Floats]:
        """What the robots sense of themselves, by the names of `parts`, each (N, width)."""
        robot, senses = self.robot, self.senses
        return {"angles": robot.angles, "rates": robot.rates, "gyro": senses.gyro, "tilt": senses.tilt}

    def motor_angles(self) -> Floats:
        """Angles of the motors' joints, (N, motors) [rad]."""
        return np.asarray(self.robot.angles[:, self.table.motor_joints])

    def start(self, rows: Indices, generators: Sequence[np.random.Generator]) -> Floats:
        """Puts robots `rows` (n,) to noisy starts, with motors that hold `ready`.

        Returns:
            A further number 0..1 from each generator, to decide which foot swings first, (n,).
        """
        worlds, table = self.worlds, self.table
        worlds.reset(rows)
        start, first = self._options.noise.draw(self.robot, rows, generators)
        assert start.angles is not None
        worlds.qpos[np.ix_(rows, table.angles)] = start.angles
        worlds.qpos[np.ix_(rows, table.hidden[:, 0])] = table.at_rest(start.angles)
        self.robot.pose[rows], self.robot.velocity[rows] = start.pose, start.velocity
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
        """Velocities in the robots' frames: ahead [m/s], to the left [m/s], turning to the left [rad/s], (N, 3)."""
        moved = in_robot_frame(self.robot.velocity[:, :2], yaw_of(self.robot.pose))
        return np.column_stack([moved, self.robot.velocity[:, 5]])

    def walker(self, walk: WalkParameters) -> Walker:
        """A walker with one walk for all worlds."""
        walker = make_walker(self.worlds, [walk] * self.count)
        if not isinstance(walker, Walker):
            raise UsageError(f"the walk {walk.name!r} is a trot; environments walk on two legs.")
        return walker

    def picture(self, row: int) -> Bytes:
        """A picture (height, width, 3) of one robot, drawn off screen."""
        if self._pictures is None:
            self._pictures = Pictures(self._options)
        return self._pictures.draw(self.worlds.qpos[row])

    def close(self) -> None:
        """Frees the renderer."""
        if self._pictures is not None:
            self._pictures.close()
            self._pictures = None


def phase(walker: Walker) -> Floats:
    """Sine and cosine of an angle that goes once round in a left and a right step, (N, 2)."""
    angle = np.pi * (walker.walk.fraction + walker.walk.swing)
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def checked_mode(mode: str | None) -> str | None:
    """A render mode, if there is such a one."""
    if mode not in (None, "rgb_array"):
        raise UnknownNameError("render mode", str(mode), ["rgb_array"])
    return mode


class Pictures:
    """Draws the robot of an environment with MuJoCo's renderer, which it holds until closed.

    Environments step without what is only seen, so pictures have a scene of their own with the same joints. Videos with
    shadows and a sky are made from recordings (`nutmeg video`).
    """

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
        """Frees the renderer."""
        self._renderer.close()
