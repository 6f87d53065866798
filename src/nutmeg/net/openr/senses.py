"""What an AIBO senses, in OPEN-R's units and order: one frame of the sensor vector at a time.

    senses = OpenrSenses(model, robot, torque)
    senses.fill(vector.values[:, 1], frame=5, references=references)

Angles are micro-radians, accelerations micro-metres per second squared, distances micrometres; signals are the A/D
values beside them, of which OPEN-R tells ten bits. Units: Sony OPEN-R SDK, Model Information; the sign of
accelerations is that of gravity's pull (Tekkotsu reads them so: a standing robot has -9.8 m/s² upward). `pwmDuty` is
512 at the drive's limit, as Tekkotsu scales it. Ranges of signals are assumed: they are calibrated for each robot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Floats
    from nutmeg.net.host_robot import HostedRobot
    from nutmeg.net.openr.models import Model, Primitive


TEN_BITS = 1023
MICRO = 1e6
LARGEST_ACCELERATION = 19.6133
"""[m/s²]"""
PRESSED_FORCE = 980665
"""What a pressed head of an ERS-210 tells [1e-6 N]."""
TOUCHED = 50
"""What a touched sensor of an ERS-7 tells, of 80; its thresholds are 9 to 14."""
FULL_DUTY = 512
_GRAVITY_SIGNS = np.array([-1.0, 1.0, -1.0])
"""From proper acceleration forward, left, up to gravity's pull forward, right, up."""


class OpenrSenses:
    """Reads the sensors of one robot.

    Args:
        model: which AIBO.
        robot: the simulated one.
        torque: the drives' torques over their limits, (motors,).
    """

    def __init__(self, model: Model, robot: HostedRobot, torque: Callable[[], Floats]) -> None:
        self._robot, self._torque, self._model = robot, torque, model
        table = robot.table
        joints = [(k, p.of) for k, p in enumerate(model.sensors) if p.measures == "joint"]
        self._rows = np.array([k for k, _ in joints])
        self._columns = np.array([table.joints.index(name) for _, name in joints])
        self._motors = robot.motor_index([name for _, name in joints])
        self._low, self._high = table.limits[self._columns].T
        self._encoder = next(s.name for s in table.sensors if s.type == "encoder")
        ranges = {s.name: s.range for s in table.sensors if s.range is not None}
        self._others = [(k, p, ranges.get(p.of)) for k, p in enumerate(model.sensors) if p.measures != "joint"]

    def fill(self, slot: Any, *, frame: int, references: Floats) -> None:  # noqa: ANN401 (a structured array)
        """Writes one frame: `slot` is (primitives,) of the vector, `references` (motors,) [rad]."""
        self._fill_joints(slot, references)
        acceleration = self._robot.read("accelerometer")[3:] * _GRAVITY_SIGNS
        for row, primitive, limits in self._others:
            if primitive.measures == "acceleration":
                value = float(acceleration[primitive.axis])
                slot["value"][row] = round(value * MICRO)
                slot["signal"][row] = _ten_bits(value, -LARGEST_ACCELERATION, LARGEST_ACCELERATION)
            elif primitive.measures == "distance" and limits is not None:
                self._fill_distance(slot, row, primitive, limits, frame)
            else:
                slot["value"][row], slot["signal"][row] = self._simple(primitive)

    def hold(self, slot: Any, before: Any) -> None:  # noqa: ANN401 (structured arrays)
        """Copies the values of the sensors that take turns from the frame before."""
        for row, primitive, _ in self._others:
            if primitive.turn is not None:
                slot["value"][row] = before["value"][row]

    def _fill_joints(self, slot: Any, references: Floats) -> None:  # noqa: ANN401
        angles, wanted = self._robot.read(self._encoder)[self._columns], references[self._motors]
        slot["value"][self._rows] = np.round(angles * MICRO)
        slot["signal"][self._rows] = self._joint_signal(angles)
        slot["refValue"][self._rows] = np.round(wanted * MICRO)
        slot["refSignal"][self._rows] = self._joint_signal(wanted)
        duty = np.clip(self._torque()[self._motors], -1.0, 1.0)
        slot["pwmDuty"][self._rows] = np.round(FULL_DUTY * duty)

    def _joint_signal(self, angles: Floats) -> Floats:
        share = (angles - self._low) / (self._high - self._low)
        return np.asarray(np.round(TEN_BITS * np.clip(share, 0.0, 1.0)))

    def _fill_distance(
        self,
        slot: Any,  # noqa: ANN401
        row: int,
        primitive: Primitive,
        limits: tuple[float, float],
        frame: int,
    ) -> None:
        if primitive.turn is not None and frame % 2 != primitive.turn:
            slot["signal"][row] = 0
            return
        value = float(self._robot.read(primitive.of)[0])
        slot["value"][row] = round(value * MICRO)
        slot["signal"][row] = max(1, _ten_bits(value, *limits))

    def _simple(self, primitive: Primitive) -> tuple[int, int]:
        """Value and signal of a switch, a touch or force sensor, or of what never changes."""
        if primitive.constant is not None:
            return primitive.constant, primitive.constant if primitive.measures == "switch" else TEN_BITS // 2 + 1
        pressed = bool(self._robot.read(primitive.of)[0] > 0)
        if primitive.measures == "force":
            return PRESSED_FORCE * pressed, TEN_BITS * pressed
        value = (TOUCHED if primitive.measures == "touch" else 1) * pressed
        return value, value


def _ten_bits(value: float, low: float, high: float) -> int:
    return round(TEN_BITS * min(1.0, max(0.0, (value - low) / (high - low))))
