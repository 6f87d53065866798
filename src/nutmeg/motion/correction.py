"""Corrections: networks that adapt a keyframe motion to what the robot senses, cycle by cycle.

    motion = shipped_get_up("nao-spark", "back", "type0")       # a file with a table [correction]
    corrector = Corrector(worlds, "nao", motion.correction, symmetric=True)
    corrector.begin(ids, FROM_BACK)
    targets[ids] += corrector.correct(ids, progress, gyro, up)  # once a cycle

A keyframe motion alone is played blindly: a robot that lies a little differently, or a ball that lies 3 cm beside its
place, makes it fail. The network sees joint angles and speeds, gyro, upward direction, where the ball lay at the
beginning and how much of the motion is over; its smoothed output is added to the target of every joint but those of
neck and toes. `nutmeg train get-up` and `nutmeg train kick` make such networks.

Motions that are the same on both sides of a mirror (get-ups) have a network that is, too: g(x) = (f(x) + M f(M x)) / 2.
A kick with the right foot is the mirror image of one with the left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.base.records import Records, new_records, record_values
from nutmeg.base.settings import Bounds, above, check_bounds
from nutmeg.motion.bodies import Mirror
from nutmeg.motion.policy import (
    MAX_MOTORS,
    MirrorImage,
    Network,
    moved_motors,
    need_velocity_drives,
    read_network,
    widened,
)

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Indices
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.bodies import Bodies

FROM_FRONT, FROM_BACK, KICK = 1.0, -1.0, 0.0
"""What the network is told of the motion that it corrects: one network may serve both get-ups."""


@dataclass(frozen=True, kw_only=True)
class Correction:
    """The table `[correction]` of a motion file."""

    weights: Mapping[str, str]
    """The file with the network for each type of the robot, beside the motion's; the first is the plain robot's."""
    reach: Annotated[float, above(0.0, "rad")] = 0.25
    """How far an output of 1 moves the target of a joint [rad]."""
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
        kind = kind or next(iter(self.weights))
        if kind not in self.weights:
            raise UnknownNameError("type of robot", kind, self.weights, where="the weights of the correction")
        return read_network(Path(self.folder) / self.weights[kind])


@dataclass
class CorrectionState:
    """One robot whose motion is corrected; compiled code has N of them as records."""

    angles: Annotated[Floats, (MAX_MOTORS,)]
    """Angles of the moved joints when the command begins to act [rad]."""
    before: Annotated[Floats, (MAX_MOTORS,)]
    """The same a cycle ago."""
    action: Annotated[Floats, (MAX_MOTORS,)]
    """What the network has answered, smoothed."""
    gyro: Annotated[Floats, (3,)]
    """Angular velocity in the torso's frame [rad/s]."""
    up: Annotated[Floats, (3,)]
    """The upward direction in the torso's frame."""
    ball: Annotated[Floats, (2,)]
    """Where the ball lay at the beginning, from its best place: ahead and to the left [m]."""
    progress: float
    """The share of the motion that is over, 0..1."""
    kind: float
    """`FROM_FRONT`, `FROM_BACK` or `KICK`."""


@dataclass(frozen=True)
class CorrectionTable:
    """What a correction needs to know of its robot; compiled code has it as a record."""

    motors: int
    """How many motors are moved."""
    period: float
    """Of a control cycle [s]."""
    gain: float
    """Share of a new output in the smoothed one."""
    reach: float
    """How far an output of 1 moves a target [rad]."""
    home: Annotated[Floats, (MAX_MOTORS,)]
    """Angles of the stance [rad]."""
    lowest: Annotated[Floats, (MAX_MOTORS,)]
    """Lower limits of the joints [rad]."""
    highest: Annotated[Floats, (MAX_MOTORS,)]
    """Upper limits of the joints [rad]."""
    fastest: Annotated[Floats, (MAX_MOTORS,)]
    """Top speeds of the drives [rad/s]."""


def correction_table(
    scene: Scene, table: RobotTable, correction: Correction, period: float
) -> Records[CorrectionTable]:
    """The record of a robot's numbers, (1,)."""
    need_velocity_drives(table)
    moved = moved_motors(table)
    joints = table.motor_joints[moved]
    return record_values(
        CorrectionTable(
            motors=len(moved),
            period=period,
            gain=correction.gain,
            reach=correction.reach,
            home=widened(scene.start[table.angles[joints]]),
            lowest=widened(table.limits[joints, 0]),
            highest=widened(table.limits[joints, 1]),
            fastest=widened(scene.model.actuator_ctrlrange[table.commands[moved], 1]),
        )
    )


def correction_image(scene: Scene, table: RobotTable) -> MirrorImage:
    """How the observations and outputs of a robot's correction look in a mirror."""
    from nutmeg.motion.correction_kernels import SENSED_SIGNS

    return MirrorImage.of(Mirror.of(scene, table), moved_motors(table), SENSED_SIGNS)


class Corrector:
    """One robot of every world, with the networks that correct its motions.

    Args:
        worlds: N worlds with the robot in them, or an `OnboardRobot`.
        robot: its name.
        correction: of the motion.
        symmetric: whether the motion is the same on both sides of a mirror.
        period: of a control cycle [s].
    """

    def __init__(
        self, worlds: Bodies, robot: str, correction: Correction, *, symmetric: bool, period: float = 0.02
    ) -> None:
        table = worlds.robot(robot).table
        self._network = correction.network(table.kind)
        self._table = correction_table(worlds.scene, table, correction, period)
        self._image = correction_image(worlds.scene, table)
        self._moved, self._symmetric, self._qpos = moved_motors(table), symmetric, worlds.qpos
        width = len(self._image.observation)
        if (int(self._network.sizes[0]), int(self._network.sizes[-1])) != (width, len(self._moved)):
            raise UsageError(
                f"the correction's network has {self._network.sizes[0]} inputs and {self._network.sizes[-1]} outputs; "
                f"{table.settings.name} needs {width} and {len(self._moved)}."
            )
        self._addresses = table.angles[table.motor_joints[self._moved]]
        self._motors = len(table.motors)
        self.states: Records[CorrectionState] = new_records(CorrectionState, worlds.count)
        self._mirrored: Bools = np.zeros(worlds.count, dtype=bool)

    def begin(self, ids: Indices, kind: Floats | float, *, ball: Floats | None = None, mirrored: bool = False) -> None:
        """Begins the corrections of worlds `ids` (n,).

        Args:
            ids: which worlds.
            kind: `FROM_FRONT`, `FROM_BACK` or `KICK`, for all or (n,).
            ball: where the ball lies, from its best place, (2,) [m]; as it is, also for a mirrored motion.
            mirrored: whether the motion is the mirror image of its file's.
        """
        states, motors = self.states, len(self._moved)
        angles = self._qpos[np.ix_(ids, self._addresses)]
        for name in ("angles", "before"):
            states[name][ids[:, None], np.arange(motors)] = angles
        states["action"][ids], states["kind"][ids] = 0.0, kind
        states["ball"][ids] = 0.0 if ball is None else ball
        self._mirrored[ids] = mirrored

    def correct(self, ids: Indices, progress: Floats, gyro: Floats, up: Floats) -> Floats:
        """What is added to the targets of worlds `ids` in this cycle, (n, motors) [rad].

        Args:
            ids: which worlds, (n,).
            progress: the share of the motion that is over, (n,).
            gyro: angular velocities, (N, 3) [rad/s].
            up: upward directions, (N, 3).
        """
        from nutmeg.motion.correction_kernels import run_corrections  # here: loading the compiler takes long

        states, motors = self.states, len(self._moved)
        states["angles"][ids[:, None], np.arange(motors)] = self._qpos[np.ix_(ids, self._addresses)]
        states["gyro"], states["up"], states["progress"][ids] = gyro, up, progress
        answers = np.zeros((len(ids), motors))
        run_corrections(
            ids, states, self._table, self._network, self._image, (self._symmetric, self._mirrored), answers
        )
        found = np.zeros((len(ids), self._motors))
        found[:, self._moved] = answers
        return found
