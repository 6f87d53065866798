"""Corrections: networks that adapt a keyframe motion to the robot's sensors, cycle by cycle.

    motion = shipped_get_up("nao-spark", "back", "type0")       # a file with a table [correction]
    corrector = Corrector(worlds, "nao", motion.correction, symmetric=True)
    corrector.begin(ids, FROM_BACK)
    targets[ids] += corrector.correct(ids, progress, gyro, up)  # once a cycle

A keyframe motion alone is open loop: a robot that lies a little differently, or a ball that lies 3 cm beside its place,
makes it fail. The network observes joint angles and speeds, gyro, upward direction, the place of the ball at the
beginning and the progress of the motion; its smoothed output is added to the target of every joint but those of neck
and toes. `nutmeg train get-up` and `nutmeg train kick` train such networks.

Motions that are the same on both sides of a mirror (get-ups) have a network that is, too: g(x) = (f(x) + M f(M x)) / 2.
A kick with the right foot is the mirror image of one with the left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.base.records import Records, new_records
from nutmeg.base.settings import Bounds, above, check_bounds
from nutmeg.motion.policy import (
    BALL,
    BALL_SCALE,
    KIND,
    MOTION_SIGNS,
    Gait,
    PolicyState,
    check_network,
    mirror_image,
    moved_motors,
    network_of,
    policy_table,
)

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.bodies import Bodies
    from nutmeg.motion.policy import Network

FROM_FRONT, FROM_BACK, KICK = 1.0, -1.0, 0.0
"""Input of the network that names the motion: one network may serve both get-ups."""
STOP_MARGIN = math.radians(1.0)
"""Corrected targets keep this far from the stops of joints [rad]. A drive of the league at a stop hears nothing.
Networks pressed upper arms against the torso, where they stayed while they should have gone aside, and the referee
froze the limbs that then passed through each other: in matches 18 of 96 robots of type 4 stayed down, and with the
margin none."""


@dataclass(frozen=True, kw_only=True)
class Correction:
    """The table `[correction]` of a motion file."""

    weights: Mapping[str, str]
    """File of the network for each type of the robot, in the folder of the motion; the first is the plain robot's."""
    reach: Annotated[float, above(0.0, "rad")] = 0.25
    """Change of a joint's target for an output of 1 [rad]."""
    gain: Annotated[float, Bounds(0.01, 1.0)] = 0.4
    """Share of a new output in the smoothed one."""
    folder: str = field(default="", compare=False)
    """The folder of the motion's file, where the weights are; not written into it."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.weights:
            raise ValueError("has no weights; name the file of a network for each type of the robot.")

    def network(self, kind: str) -> Network:
        """The network for a type of the robot, or for the plain one."""
        return network_of(self.weights, self.folder, kind, "correction")

    @property
    def gait(self) -> Gait:
        """The gait settings that turn outputs into joint targets: those of a walk without a stepping clock."""
        return Gait(reach=self.reach, gain=self.gain, lift=0.0)


def correction_limits(table: RobotTable) -> Floats:
    """The lowest and the highest corrected targets of a robot's motors, (2, motors) [rad]."""
    low, high = table.limits[table.motor_joints].T
    return np.stack([low + STOP_MARGIN, high - STOP_MARGIN])


class Corrector:
    """One robot of every world, with the networks that correct its motions.

    Args:
        worlds: N worlds with the robot in them, or an `OnboardRobot`.
        robot: its name.
        correction: the correction of the motion.
        symmetric: whether the motion is its own mirror image.
        period: control cycle [s].
    """

    def __init__(
        self, worlds: Bodies, robot: str, correction: Correction, *, symmetric: bool, period: float = 0.02
    ) -> None:
        table = worlds.robot(robot).table
        self._network = correction.network(table.kind)
        self._table = policy_table(worlds.scene, table, correction.gait, period, task_size=len(MOTION_SIGNS))
        if self._table[0].position:
            raise UsageError(f"{table.settings.name} is commanded angles; corrections command velocity drives so far.")
        self._image = mirror_image(worlds.scene, table, MOTION_SIGNS)
        self._moved, self._symmetric, self._qpos = moved_motors(worlds.scene, table), symmetric, worlds.qpos
        check_network(self._network, self._image, table, "correction")
        self._addresses = table.angles[table.motor_joints[self._moved]]
        self._motors = len(table.motors)
        self.states: Records[PolicyState] = new_records(PolicyState, worlds.count)
        self._mirrored: Bools = np.zeros(worlds.count, dtype=bool)

    def begin(self, ids: Indices, kind: Floats | float, *, ball: Floats | None = None, mirrored: bool = False) -> None:
        """Begins the corrections of worlds `ids` (n,).

        Args:
            ids: indices of the worlds.
            kind: `FROM_FRONT`, `FROM_BACK` or `KICK`, for all or (n,).
            ball: place of the ball relative to its best place, (2,) [m]; not mirrored, also for a mirrored motion.
            mirrored: whether the motion is the mirror image of that in its file.
        """
        states, motors = self.states, len(self._moved)
        angles = self._qpos[np.ix_(ids, self._addresses)]
        for name in ("angles", "before"):
            states[name][ids[:, None], np.arange(motors)] = angles
        states["action"][ids], states["task"][ids, KIND] = 0.0, kind
        states["task"][ids, BALL : BALL + 2] = 0.0 if ball is None else np.divide(ball, BALL_SCALE)
        self._mirrored[ids] = mirrored

    def correct(self, ids: Indices, progress: Floats, gyro: Floats, up: Floats) -> Floats:
        """The corrections of the targets of worlds `ids` in this cycle, (n, motors) [rad].

        Args:
            ids: indices of the worlds, (n,).
            progress: the share of the motion that is over, (n,).
            gyro: angular velocities, (N, 3) [rad/s].
            up: upward directions, (N, 3).
        """
        from nutmeg.motion.policy_kernels import run_corrections  # here: loading the compiler takes long

        states, motors = self.states, len(self._moved)
        states["angles"][ids[:, None], np.arange(motors)] = self._qpos[np.ix_(ids, self._addresses)]
        states["gyro"], states["up"] = gyro, up
        answers, sides = np.zeros((len(ids), motors)), (self._symmetric, self._mirrored, progress)
        run_corrections(ids, states, self._table, self._network, self._image, sides, answers)
        found = np.zeros((len(ids), self._motors))
        found[:, self._moved] = answers
        return found
