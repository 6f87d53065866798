"""A robot whose joints somebody moves from the page of `nutmeg view`.

    handling = Handling(worlds, inbox)
    watch(worlds, handling, Watching(bench=handling.offer(), inbox=inbox), terminal)

Joints stay where they were put. Poses, pushes and restarts are events of the recording.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.model.posing import pose_angles
from nutmeg.view.pages.workbench import Bench

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nutmeg.sim.worlds import Worlds
    from nutmeg.view.pages.orders import Inbox, Order

PUSH_TIME = 0.1
"""Duration of a push [s]."""
_ANGLE_GAIN = 10.0
"""Speed that is commanded for each radian that a joint with a velocity drive is away from its slider [1/s]."""


class Handling:
    """Director of one robot whose joints somebody moves from the page; it holds them where they were put."""

    def __init__(self, worlds: Worlds, inbox: Inbox) -> None:
        self._worlds, self._inbox = worlds, inbox
        self._robot = worlds.robots[0]
        table = self._robot.table
        self._wanted = self._robot.start.copy()
        self._rates = np.array([drive == "velocity" for drive in table.drives], dtype=bool)
        self._pushed_until = 0.0

    def offer(self, overlaps: tuple[str, ...]) -> Bench:
        """What the page may do with the robot."""
        table, scene = self._robot.table, self._worlds.scene
        weight = float(scene.model.body_subtreemass[table.body] * np.linalg.norm(scene.model.opt.gravity))
        limits = table.limits[table.motor_joints]
        return Bench(
            robot=table.name,
            joints={
                name: (float(low), float(high))
                for name, (low, high), drive in zip(table.motors, limits, table.drives, strict=True)
                if drive != "torque"
            },
            poses=tuple(dict.fromkeys(("ready", "zero", *table.settings.poses))),
            force=weight if table.root >= 0 else 0.0,
            overlaps=overlaps,
        )

    def cycle(self, time: float) -> Iterator[tuple[str, dict[str, object]]]:
        """One control cycle."""
        for order in self._inbox.take():
            yield from self._obey(order, time)
        if self._pushed_until and time >= self._pushed_until:
            self._robot.push((0.0, 0.0, 0.0))
            self._pushed_until = 0.0
        angles = self._robot.angles[0, self._robot.table.motor_joints]
        # A velocity drive gets a speed towards the angle on its slider; a position drive gets the angle itself.
        command = np.where(self._rates, _ANGLE_GAIN * (self._wanted - angles), self._wanted)
        torque = np.array([drive == "torque" for drive in self._robot.table.drives], dtype=bool)
        self._robot.command = np.where(torque, self._robot.command, command)

    def _obey(self, order: Order, time: float) -> Iterator[tuple[str, dict[str, object]]]:
        table = self._robot.table
        if order.order == "joint" and order.thing in table.motors:
            index = table.motors.index(order.thing)
            low, high = table.limits[table.motor_joints[index]]
            self._wanted[index] = min(max(order.numbers[0], low), high)
        elif order.order == "pose" and order.thing in ("zero", "ready", *table.settings.poses):
            self._wanted = pose_angles(table.settings, table, order.thing)[table.motor_joints]
            yield "pose", {"robot": table.name, "text": f"pose {order.thing}"}
        elif order.order == "push" and table.root >= 0:
            self._robot.push(order.numbers)
            self._pushed_until = time + PUSH_TIME
            newtons = float(np.linalg.norm(order.numbers))
            yield "push", {"robot": table.name, "text": f"pushed with {newtons:.0f} N for {PUSH_TIME:g} s"}
        elif order.order == "restart":
            self._worlds.reset()
            self._wanted = self._robot.start.copy()
            yield "restart", {"robot": table.name, "text": "put back to the start"}
