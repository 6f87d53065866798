"""Directors that follow the commands of a page: driving a walking robot, and moving the joints of a robot.

    driver = Driver(worlds, walker, (0.5, 0.0, 0.0), inbox, sets=("walk", "sprint"))
    watch(worlds, driver, Watching(controls=driver.controls()), terminal)

    handling = Handling(worlds, inbox)
    watch(worlds, handling, Watching(controls=handling.controls()), terminal)

Everything that a page does to a robot is an event of the recording: changed speeds (`drive`), poses, pushes, restarts,
falls, and why something was ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.learning.courses import ROBOT_NAME, FallJudge
from nutmeg.model.posing import pose_angles
from nutmeg.view.pages.orders import Bench, Controls, Drive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nutmeg.motion.trot import SteerableWalker
    from nutmeg.sim.worlds import Worlds
    from nutmeg.view.pages.orders import Inbox, Order

    Event = tuple[str, dict[str, object]]
    Triple = tuple[float, float, float]

HOLD_TIMEOUT = 0.6  # a held key that was not reported for this time was released, or its page has vanished [s]
_NOTICE_INTERVAL = 1.0  # least time between two reasons why something was ignored [s]
FLOOR_EDGE = 9.5  # how far from the middle of the floor, 20 m wide, a robot is allowed to get [m]
STANDING: Triple = (0.0, 0.0, 0.0)
PUSH_TIME = 0.1  # duration of a push [s]
_ANGLE_GAIN = 10.0
"""Speed that is commanded for each radian that a joint with a velocity drive is away from its slider [1/s]."""


class Driver:
    """Drives the walker of one world by the commands of a page.

    The first command (ahead, to the left [m/s], turning left [rad/s]) and those of sliders stay in effect, also without
    a page. Commands of keys and buttons are in effect only while they are held: the page repeats them, and a robot that
    gets none for `HOLD_TIMEOUT` stops. If two pages drive, the one that pressed last counts.
    """

    def __init__(
        self, worlds: Worlds, walker: SteerableWalker, wanted: Triple, inbox: Inbox, sets: tuple[str, ...] = ("walk",)
    ) -> None:
        self._worlds, self._walker, self._inbox, self._sets = worlds, walker, inbox, sets
        self._falls = FallJudge(worlds)
        self._now: Triple = STANDING
        self._next: Triple | None = wanted
        self._holder: int | None = None
        self._lapsed: int | None = None  # the page that held a key until it was silent for too long
        self._shares: Triple = STANDING
        self._heard = 0.0
        self._down = False
        self._noticed_at = -_NOTICE_INTERVAL

    def controls(self) -> Controls:
        """The controls that the page offers."""
        return Controls(inbox=self._inbox, drive=Drive(robot=ROBOT_NAME, top=self._top(), sets=self._sets))

    def cycle(self, time: float) -> Iterator[Event]:
        """One control cycle."""
        for order in self._inbox.take():
            yield from self._obey(order, time)
        yield from self._excuse(time)
        if self._holder is not None and time - self._heard > HOLD_TIMEOUT:
            silent = self._holder
            self._want(STANDING)
            self._lapsed = silent
        if self._next is not None and self._next != self._now:
            yield self._change(self._next)
        self._next = None
        yield from self._watch_falls()
        yield from self._wrap()
        self._walker.sample(time)

    def _obey(self, order: Order, time: float) -> Iterator[Event]:
        if order.order == "hold":
            self._hold(order, time)
        elif order.order == "go":
            self._want(order.numbers)
        elif order.order == "stop":
            self._want(STANDING)
        elif order.order == "restart":
            self._want(STANDING)
            yield self._restart()
        elif order.index < len(self._sets):
            if self._walker.chosen[0] != order.index:
                self._walker.chosen[:] = order.index
                yield "set", {"text": f"walks with the set {self._sets[order.index]}"}
        else:
            yield "ignored", {"text": f"there is no set {order.index + 1}; it has {len(self._sets)}"}

    def _hold(self, order: Order, time: float) -> None:
        """A key is down, or was let go; only the page that pressed last is obeyed.

        A page that was only slow goes on with the key that it still holds, unless something else was commanded since.
        """
        moving = any(order.numbers)
        fresh = order.fresh or order.page == self._lapsed
        if not (fresh and moving) and order.page != self._holder:
            return
        if not moving:
            self._want(STANDING)
            return
        self._heard = time
        if not fresh and order.numbers == self._shares:
            return
        ahead, left, turn = (share * most for share, most in zip(order.numbers, self._top(), strict=True))
        if order.numbers[0] < 0:
            ahead = order.numbers[0] * float(self._walker.walk.top_speed_back()[0])
        self._next, self._holder, self._shares = (ahead, left, turn), order.page, order.numbers
        self._lapsed = None

    def _want(self, wanted: Triple) -> None:
        """Sets a command that stays in effect without a held key."""
        self._next, self._holder, self._lapsed = wanted, None, None

    def _change(self, wanted: Triple) -> Event:
        self._now = wanted
        self._walker.wanted[:] = wanted
        ahead, left, turn = (round(value, 4) + 0.0 for value in wanted)
        text = f"wanted {ahead:.2f}, {left:.2f}, turn {turn:.2f}" if any(wanted) else "wanted: stand"
        return "drive", {"ahead": ahead, "left": left, "turn": turn, "text": text}

    def _restart(self) -> Event:
        self._worlds.reset()
        self._walker.reset()
        self._down = False
        return "restart", {"robot": ROBOT_NAME, "text": "back on its feet at the start"}

    def _watch_falls(self) -> Iterator[Event]:
        down = bool(self._falls.now()[0])
        if down and not self._down:
            self._down = True
            yield "fall", {"robot": ROBOT_NAME, "text": "falls"}

    def _wrap(self) -> Iterator[Event]:
        """Before the robot walks off the floor it is put in at the other side."""
        place = self._worlds.robot(ROBOT_NAME).pose[0, :2]
        for axis in (0, 1):
            if abs(place[axis]) > FLOOR_EDGE and not self._down:
                place[axis] -= 2 * FLOOR_EDGE * (1 if place[axis] > 0 else -1)
                yield "wrap", {"robot": ROBOT_NAME, "text": "comes in again at the other side"}

    def _excuse(self, time: float) -> Iterator[Event]:
        """Why something was ignored; a flood of nonsense makes one event a second."""
        if time - self._noticed_at < _NOTICE_INTERVAL:
            return
        reasons = self._inbox.refused()
        if reasons:
            self._noticed_at = time
            more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
            yield "ignored", {"text": reasons[-1] + more}

    def _top(self) -> Triple:
        """Top speeds ahead, to the side [m/s] and turning [rad/s]."""
        ahead, left, turn = self._walker.walk.top_speed()[0].tolist()
        return ahead, left, turn


class Handling:
    """Holds the joints of one robot where a page has put them."""

    def __init__(self, worlds: Worlds, inbox: Inbox) -> None:
        self._worlds, self._inbox = worlds, inbox
        self._robot = worlds.robots[0]
        table = self._robot.table
        self._wanted = self._robot.start.copy()
        drives = np.array(table.drives, dtype=str)
        self._rates, self._torques = drives == "velocity", drives == "torque"
        self._pushed_until = 0.0

    def controls(self, overlaps: tuple[str, ...] = ()) -> Controls:
        """The controls that the page offers; they also name shapes that overlap at rest."""
        table, scene = self._robot.table, self._worlds.scene
        weight = float(scene.model.body_subtreemass[table.body] * np.linalg.norm(scene.model.opt.gravity))
        limits = table.limits[table.motor_joints]
        bench = Bench(
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
        return Controls(inbox=self._inbox, bench=bench)

    def cycle(self, time: float) -> Iterator[Event]:
        """One control cycle."""
        for order in self._inbox.take():
            yield from self._obey(order, time)
        if self._pushed_until and time >= self._pushed_until:
            self._robot.push((0.0, 0.0, 0.0))
            self._pushed_until = 0.0
        angles = self._robot.angles[0, self._robot.table.motor_joints]
        # A velocity drive gets a speed towards the angle on its slider; a position drive gets the angle itself.
        command = np.where(self._rates, _ANGLE_GAIN * (self._wanted - angles), self._wanted)
        self._robot.command = np.where(self._torques, self._robot.command, command)

    def _obey(self, order: Order, time: float) -> Iterator[Event]:
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
