"""Where a robot is when something begins: joint angles and speeds, the body's pose and velocity, its last command.

    start = Start(angles=recorded[0], rates=speeds[0], command=goals[0])        # (joints,), (joints,), (motors,)
    begin(worlds, "robot", start)

Everything is in the order of the robot's table, for all worlds alike or for each its own row. What is left out, or
NaN, is as in the scene: its pose, at rest.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.engine.worlds import Worlds


@dataclass(frozen=True, kw_only=True)
class Start:
    """A state to start from; each field for all worlds, (width,), or for each, (N, width)."""

    angles: Floats | None = None
    """Of the joints, (..., joints) [rad]."""
    rates: Floats | None = None
    """Of the joints, (..., joints) [rad/s]."""
    pose: Floats | None = None
    """Of the root: place and unit quaternion, (..., 7) [m, 1]."""
    velocity: Floats | None = None
    """Of the root: linear in the world's frame, angular in its own, (..., 6) [m/s, rad/s]."""
    command: Floats | None = None
    """What the motors were told last, (..., motors); without it, position drives hold their angle."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Start):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(
            a is b or (a is not None and b is not None and np.array_equal(a, b, equal_nan=True)) for a, b in pairs
        )

    __hash__ = None  # type: ignore[assignment]


def begin(worlds: Worlds, robot: str, start: Start | None) -> None:
    """Resets all worlds, and puts a robot where a start says."""
    worlds.reset()
    if start is None:
        return
    table, count, qpos, qvel = worlds.robot(robot).table, worlds.count, worlds.qpos, worlds.qvel
    angles = _filled("angles", start.angles, qpos[:, table.angles])
    rates = _filled("rates", start.rates, qvel[:, table.rates])
    qpos[:, table.angles], qvel[:, table.rates] = angles, rates
    qpos[:, table.hidden[:, 0]], qvel[:, table.hidden[:, 1]] = table.at_rest(angles), table.at_rest(rates)
    if start.pose is not None or start.velocity is not None:
        if table.root < 0:
            raise ModelError(f"{robot} is bolted to the world: it cannot start with a pose or a velocity of its own.")
        root, rate = slice(table.root, table.root + 7), slice(table.root_rate, table.root_rate + 6)
        qpos[:, root] = _normal(_filled("pose", start.pose, qpos[:, root]), robot)
        qvel[:, rate] = _filled("velocity", start.velocity, qvel[:, rate])
    position = np.array(table.drives) == "position"
    held = np.where(position, angles[:, table.motor_joints], 0.0)
    command = _filled("command", start.command, held)
    worlds.batch.ctrl[:, table.commands] = command
    moving = position & (table.setpoints >= 0)
    if moving.any():
        worlds.batch.act[:, table.setpoints[moving]] = command[:, moving]
    if worlds.scene.history.size:
        worlds.batch.history[:] = [_remembered(worlds.scene.model, worlds.batch.ctrl[i]) for i in range(count)]
    worlds.refresh()


def _filled(name: str, given: Floats | None, present: Floats) -> Floats:
    """The given numbers, (N, width), with present ones where they are missing."""
    if given is None:
        return present.copy()
    values = np.asarray(given, float)
    if values.shape[-1:] != present.shape[1:] or values.ndim > 2 or (values.ndim == 2 and len(values) != len(present)):
        count, width = present.shape
        raise ModelError(f"the start's {name} have the shape {values.shape}; needed is ({width},) or {count, width}.")
    return np.where(np.isnan(values), present, values)


def _normal(poses: Floats, robot: str) -> Floats:
    """Poses (N, 7) with unit quaternions."""
    length = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    if (np.abs(length - 1) > 1e-2).any():
        raise ModelError(f"the start of {robot} has a quaternion of length {length.max():g}; needed is 1.")
    return np.concatenate([poses[:, :3], poses[:, 3:] / length], axis=1)


def _remembered(model: mujoco.MjModel, controls: Floats) -> Floats:
    """What delayed motors remember when they have been told the same for a while, (nhistory,)."""
    data = mujoco.MjData(model)
    for motor in np.flatnonzero(model.actuator_history[:, 0] > 0):
        told = np.full(int(model.actuator_history[motor, 0]), controls[model.actuator_ctrladr[motor]])
        mujoco.mj_initCtrlHistory(model, data, int(motor), None, told)
    return np.array(data.history)
