"""A world of robots that other people's software moves, over whichever protocol their real ones speak.

A host is a scene (robots, pitch, ball), stepped by tasks with exact periods, in real time or in lock-step with the
clients. A protocol comes as a `Port`: it takes robots, opens sockets, and gets a turn once every control period.

    class Mine:                                             # a Port; nothing to inherit from
        name, period = "mine", 0.008
        def open(self, host):
            self.robot = host.take("ers7-1", period=self.period)        # a HostedRobot
            sock = tcp_listener("127.0.0.1", 9000)                      # net.loop
            self.listener = Listener(host.loop, sock, self.admit)       # admit(socket, peer): see net.connection
        def turn(self, time):                               # every 8 ms, after the sensors were sampled
            self.robot.set_targets(index, angles)           # commands that have come since the last turn
            self.send(time, self.robot.read("joints"))      # then what the robot senses now
        ...                                                 # clients, waiting, give_up, picture, close: see `Port`

    settings = HostSettings(robots=(Placement(robot="ers7", pos=(-1, 0)),), field="spl2025")
    with RobotHost(settings, [Mine()]) as host:
        host.run()                                          # until host.stop() (from anywhere), or `seconds`
    host.schedule_rows()                                    # how punctual every task was

**One cycle** of period T: the world has been stepped to t and the sensors have been sampled ahead of time. When the
wall clock reaches t (real time), or every client has answered (lock-step), ports have their turn: commands that have
come go to the motors, sensor packets leave. Then motors get their stiffness, and the world is stepped to t + T at
once. So a command that answers packet k moves the motors from packet k + 1 on, and a run is the same in both paces as
long as clients answer within a period. Everything but cameras and the recording's disk happens in one thread.

**Tasks** are `sense`, the ports by their names, `motors`, `record`, `cameras` and `dynamics` (physics). Cameras are
drawn in a process of their own (`host.cameras`), the recording is written by a thread of its own: neither delays
dynamics. Physics is stepped at 4 ms (`HostSettings.timestep`); all periods must be multiples of it.

**Time** is kept by a `HostClock`, which serves clients while it waits. In *real time* a stretch of simulated time
begins when the wall clock has reached it. In *lock-step* it begins when every connected client has answered what it was
last sent; with too few clients, time stands still. A client that is silent for longer than `patience` is not waited for
any more.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from nutmeg.base.errors import RecordingError, UsageError
from nutmeg.base.interrupts import Closing
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.net.host.cameras import CameraFeed, NoCameras, Picture
from nutmeg.net.host.robot import HostedRobot
from nutmeg.net.loop import SocketLoop
from nutmeg.recording import Channel
from nutmeg.sim.pace import ON_TIME_TOLERANCE, RealTime
from nutmeg.sim.schedule import Schedule
from nutmeg.sim.trace import SENSOR_STEP, TraceWriter
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Floats

    Source = tuple[Channel, Callable[[], Floats]]

MAX_LATENESS = 0.25
"""A run that is later than this does not try to catch up [s]."""
CHECK_PERIOD = 0.25
"""How often a run that waits for clients looks around [s]."""
SELECT_RESOLUTION = 1e-3
"""Selectors wait in steps of this [s]; what is left is slept."""


@dataclass(frozen=True, kw_only=True)
class HostSettings:
    """The scene, its robots and the pace of a host."""

    robots: tuple[Placement, ...]
    """The robots, with their places and actuation (ideal, servo, motoflex)."""
    field: str = "spl2025"
    """Name of a field, or path of a user's; `floor` for a plain floor."""
    ball: str = ""
    """Name of a ball; empty for the field's own, `none` for no ball."""
    ball_pos: tuple[float, float] = (0.0, 0.0)
    timestep: float = 0.004
    """Length of a physics step [s]."""
    lock_step: bool = False
    """Whether a cycle begins when all clients have answered, instead of by the wall clock."""
    needed: int = 1
    """Clients without which a run in lock-step does not begin."""
    patience: float = 10.0
    """How long a client may be silent in lock-step before it is disconnected [s]."""
    speed: float = 1.0
    """Simulated seconds per second, in real time."""
    settle: float = 0.4
    """Time for robots to settle in their start pose before the clock begins [s]."""
    noise: bool = True
    """Whether sensors err."""
    seed: int = 0
    record: Path | None = None
    """Where the recording goes; None for no recording."""
    record_period: float = 0.02
    """Time between two rows of the recording [s]."""


class Port(Protocol):
    """The side of a host that speaks a protocol: for one robot, or for several."""

    @property
    def name(self) -> str:
        """Name of its task."""

    @property
    def period(self) -> float:
        """Time between two turns [s]; a multiple of the physics step."""

    def open(self, host: RobotHost) -> None:
        """Takes robots, listens, declares channels; called once, before anything moves."""

    def turn(self, time: float) -> None:
        """A control cycle begins: commands that have come go to the motors, what robots sense goes to clients."""

    @property
    def clients(self) -> int:
        """How many clients are connected."""

    def waiting(self) -> Sequence[str]:
        """Names of the connected clients that have not answered the last turn yet; only asked in lock-step."""

    def give_up(self, names: Sequence[str]) -> None:
        """These clients were silent for too long in lock-step: they are to be disconnected."""

    def picture(self, picture: Picture) -> None:
        """A picture has come, of any robot's camera; see `RobotHost.want_cameras`."""

    def close(self) -> None:
        """Disconnects all clients and frees the sockets; closing twice is fine."""


class HostClock(RealTime):
    """Serves sockets until simulated time may continue.

    Args:
        loop: the loop to serve while waiting.
        settings: whether to wait for clients instead of for the wall clock, for how many and how long.
        ports: ports whose clients are waited for, unless they were silent for too long.
    """

    def __init__(self, loop: SocketLoop, settings: HostSettings, ports: Sequence[Port]) -> None:
        super().__init__(settings.speed, slack=MAX_LATENESS)
        self.late = 0
        """Stretches that came to an end more than a millisecond after they should have."""
        self.late_by_itself = 0
        """Those of them in which this thread computed for longer than the step lasts; the others were late because the
        computer was busy."""
        self.stretches = 0
        self.patience = settings.patience
        self._loop, self._settings, self._ports = loop, settings, ports
        self._computed = self._last = 0.0

    def start(self, now: float) -> None:
        """Takes the present moment as simulated time `now`."""
        super().start(now)
        self._computed, self._last = time.thread_time(), now

    def due(self, now: float) -> float:
        """When simulated time `now` is due by the wall clock (`time.monotonic`); in lock-step, at once [s]."""
        return time.monotonic() if self._settings.lock_step else super().due(now)

    def keep(self, now: float) -> None:
        """Serves clients until `now` is due, at least once; a task of the schedule."""
        self.stretches += 1
        self._loop.serve(0.0)
        if self._settings.lock_step:
            self._wait_for_clients()
        else:
            self._keep_time(now)

    def wait(self, now: float) -> bool:  # noqa: ARG002
        """Goes on at once, as `keep` does the waiting; False ends the run."""
        return not self._ended

    def end(self) -> None:
        """Ends the run at its next wait."""
        super().end()
        self._loop.wake()

    def _keep_time(self, now: float) -> None:
        due = self.due(now)
        while not self._ended and (left := due - time.monotonic()) > 0:
            whole = math.floor(left / SELECT_RESOLUTION) * SELECT_RESOLUTION
            if whole > SELECT_RESOLUTION:
                self._loop.serve(whole - SELECT_RESOLUTION / 2)
            else:
                time.sleep(left)
        computed = time.thread_time()
        self.note_lateness(now)
        self.late += self._behind
        self.late_by_itself += self._behind and computed - self._computed > (now - self._last) / self.speed
        self._computed, self._last = computed, now

    def _wait_for_clients(self) -> None:
        settings = self._settings
        patience_ends = time.monotonic() + self.patience
        while not self._ended:
            if sum(port.clients for port in self._ports) < settings.needed:
                self._loop.serve(CHECK_PERIOD)
                patience_ends = time.monotonic() + self.patience
                continue
            missing = [name for port in self._ports for name in port.waiting()]
            if not missing:
                return
            left = patience_ends - time.monotonic()
            if left <= 0:
                for port in self._ports:
                    port.give_up(missing)
                return
            self._loop.serve(min(left, CHECK_PERIOD))


@dataclass(kw_only=True)
class TaskTimes:
    """How punctual one task of a hosted simulation is.

    *Late* is a turn that began more than a millisecond after it was due by the wall clock; an *overrun* is one that
    ended after the next one was due. A run in lock-step has no due times: there nothing is late, and a turn overruns
    when it takes longer than its period.
    """

    name: str
    period: float
    """The period of simulated time [s]."""
    turns: int = 0
    late: int = 0
    """Turns that began more than a millisecond too late."""
    overruns: int = 0
    """Turns that ended after the next one was due."""
    left_out: int = 0
    """Turns left out because the run was behind."""
    lateness: float = 0.0
    """Total lateness of all turns [s]."""
    latest: float = 0.0
    """The worst lateness [s]."""
    took: float = 0.0
    """Time of all turns together [s]."""
    longest: float = 0.0
    """The longest turn [s]."""

    def note(self, *, late: float, took: float) -> None:
        """Counts a turn with its lateness and duration [s]."""
        late = max(0.0, late)
        self.turns += 1
        self.late += late > ON_TIME_TOLERANCE
        self.overruns += late + took > self.period
        self.lateness += late
        self.took += took
        self.latest, self.longest = max(self.latest, late), max(self.longest, took)

    def row(self) -> dict[str, object]:
        """The numbers for reports and recordings, times in ms."""
        turns = max(1, self.turns)
        return {
            "task": self.name,
            "period_ms": round(1e3 * self.period, 3),
            "turns": self.turns,
            "late": self.late,
            "overruns": self.overruns,
            "left_out": self.left_out,
            "mean_late_ms": round(1e3 * self.lateness / turns, 4),
            "worst_late_ms": round(1e3 * self.latest, 3),
            "mean_took_ms": round(1e3 * self.took / turns, 4),
            "longest_ms": round(1e3 * self.longest, 3),
        }


MAX_WAITING_ROWS = 512
"""Rows that may wait for the disk."""
CLOSING_PATIENCE = 30.0
"""How long the end waits for the disk [s]."""


class _HostRecording:
    """A recording of world 0, written by a thread of its own: the simulation only copies numbers.

    Rows wait in a bounded queue. Where the disk cannot keep up, rows are left out and counted; events never are.

    Args:
        path: the recording to make.
        worlds: what to record.
        seed: the run's seed, kept in the recording.
        config: settings of the run, kept in the recording.
        more: channels beside those of the scene, each with what reads its numbers.
    """

    def __init__(
        self,
        path: Path,
        worlds: Worlds,
        *,
        seed: int,
        config: Mapping[str, object],
        more: Sequence[tuple[Channel, Callable[[], Floats]]] = (),
    ) -> None:
        self.path = path
        self.left_out = 0
        """Rows for which there was no room."""
        self.problem = ""
        """Why nothing is recorded any more; empty while all is well."""
        self._trace = TraceWriter(path, worlds, seed=seed, config=config, senses=more)
        self._rows: queue.Queue[Callable[[], None] | None] = queue.Queue(MAX_WAITING_ROWS)
        self._thread = threading.Thread(target=self._work, name="recording", daemon=True)
        self._thread.start()
        self._closed = False

    def sample(self, time: float) -> None:
        """Takes the present state; a task of the schedule."""
        row = self._trace.row()
        try:
            self._rows.put_nowait(lambda: self._trace.recording.append(time, row))
        except queue.Full:
            self.left_out += 1

    def event(self, time: float, kind: str, **fields: object) -> None:
        """Keeps an event for the recording; `time` is simulated [s]."""
        if not self._closed:
            self._rows.put(lambda: self._trace.event(time, kind, **fields))

    def close(self) -> None:
        """Writes what waits and finishes the recording; closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        self._rows.put(None)
        self._thread.join(CLOSING_PATIENCE)
        if not self._thread.is_alive() and not self.problem:
            self._trace.close()

    def _work(self) -> None:
        while (write := self._rows.get()) is not None:
            if self.problem:
                continue
            try:
                write()
            except RecordingError as error:
                self.problem = str(error)


SCHEDULE_LABELS = tuple(TaskTimes(name="", period=0.0).row())[2:]
"""Labels of the channel `schedule.<task>` of a recording, with the numbers that change."""


class RobotHost(Closing):
    """A world and its ports; ready to be connected to after construction.

    Args:
        settings: what is hosted.
        ports: the protocols that move its robots.
        cameras: makes the feed of pictures for a world; None keeps graphics off.
    """

    def __init__(
        self, settings: HostSettings, ports: Sequence[Port], *, cameras: Callable[[Worlds], CameraFeed] | None = None
    ) -> None:
        if not settings.robots:
            raise UsageError("there is no robot to host; name at least one.")
        self.settings = settings
        self.robots: dict[str, HostedRobot] = {}
        """Robots that ports have taken, by name."""
        self.tasks: list[TaskTimes] = []
        self._more: list[Source] = []
        self._wanted: dict[str, frozenset[str]] = {}
        self._closed, self._cameras = False, NoCameras()  # type: tuple[bool, CameraFeed]
        self._rng = np.random.default_rng(settings.seed) if settings.noise else None
        scene = assemble(
            SceneSettings(
                field=settings.field,
                robots=settings.robots,
                ball=settings.ball,
                ball_pos=settings.ball_pos,
                timestep=settings.timestep,
            )
        )
        self.worlds = _TimedWorlds(scene)
        """The world; one of them."""
        if settings.settle:
            self.worlds.advance(settings.settle)
        self.worlds.times = self._new_task("dynamics", settings.timestep)
        self._schedule = Schedule(self.worlds)
        self.loop = SocketLoop()
        """Watches the ports' sockets."""
        self.ports: list[Port] = []
        self.clock = HostClock(self.loop, settings, self.ports)
        self.recording: _HostRecording | None = None
        try:
            for port in ports:
                self.ports.append(port)
                port.open(self)
            self._add_tasks(cameras)
        except BaseException:
            self.close()
            raise

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._schedule.time

    def take(self, robot: str, *, period: float) -> HostedRobot:
        """Takes a robot for a port; a robot can be taken once."""
        if robot in self.robots:
            raise UsageError(f"the robot {robot!r} is taken by another port already.")
        self.robots[robot] = HostedRobot(self.worlds, robot, period=period, rng=self._rng)
        return self.robots[robot]

    def add_channel(self, channel: Channel, read: Callable[[], Floats]) -> None:
        """Records something of a port's own, such as lights; only while the port is opened."""
        self._more.append((channel, read))

    def want_cameras(self, port: str, cameras: Sequence[str]) -> None:
        """Sets the cameras that a port's clients use now, by `<robot>/<camera>`; replaces the previous ones."""
        self._wanted[port] = frozenset(cameras)
        self._cameras.want(frozenset().union(*self._wanted.values()))

    def event(self, kind: str, **fields: object) -> None:
        """Puts something that happened into the recording."""
        if self.recording is not None:
            self.recording.event(self.time, kind, **fields)

    def every(self, period: float, name: str, run: Callable[[float], None]) -> None:
        """Adds a task, measured like the others; before `run`."""
        same = sum(task.name.split("-")[0] == name for task in self.tasks)
        task = self._new_task(f"{name}-{same + 1}" if same else name, period)
        self._schedule.every(period, self._timed(task, run), name=task.name)

    def run(self, seconds: float = float("inf")) -> None:
        """Hosts for a simulated time [s], or until `stop`."""
        self._schedule.run(seconds, self.clock)

    def stop(self) -> None:
        """Ends `run` soon; may be called from any thread, and from a signal's handler."""
        self.clock.end()

    def schedule_rows(self) -> list[dict[str, object]]:
        """How punctual every task was."""
        return [task.row() for task in self.tasks]

    def finish(self) -> None:
        """Finishes the recording, if there is one; `close` does so, too."""
        if self.recording is not None:
            self.recording.close()

    def close(self) -> None:
        """Finishes the recording and disconnects all clients; closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        self.finish()
        for port in self.ports:
            port.close()
        self._cameras.close()
        self.loop.close()

    def _add_tasks(self, cameras: Callable[[Worlds], CameraFeed] | None) -> None:
        periods = sorted({robot.period for robot in self.robots.values()})
        for period in periods:
            self.every(period, "sense", self._each_robot(period, HostedRobot.sample))
        for period in sorted({port.period for port in self.ports}):
            self._schedule.every(period, self.clock.keep)
        for port in self.ports:
            self.every(port.period, port.name, port.turn)
        for period in periods:
            self.every(period, "motors", self._each_robot(period, lambda robot, now: robot.motors.sample(now)))
        if cameras is not None and periods:
            self._cameras = cameras(self.worlds)
            self.every(periods[0], "cameras", self._look)
        if self.settings.record is not None:
            self._record(self.settings.record)

    def _record(self, path: Path) -> None:
        settings = self.settings
        task = self._new_task("record", settings.record_period)
        for times in self.tasks:
            channel = Channel(name=f"schedule.{times.name}", labels=SCHEDULE_LABELS, wall_clock=True)
            self._more.append((channel, lambda t=times: _numbers(t)))  # type: ignore[misc]
        sonars: dict[str, tuple[float, float]] = {}  # opening [rad] and range [m] of each, for viewers
        for name, robot in self.robots.items():
            for sensor in robot.table.sensors:
                if sensor.type == "sonar" and sensor.range is not None:
                    channel = Channel(name=f"{name}.{sensor.name}", labels=("value",), unit="m", resolution=SENSOR_STEP)
                    self._more.append((channel, lambda r=robot, s=sensor.name: r.read(s)))  # type: ignore[misc]
                    sonars[channel.name] = sensor.cone, sensor.range[1]
        config = {
            "command": "serve",
            "ports": [port.name for port in self.ports],
            "lock_step": settings.lock_step,
            "sonars": sonars,
        }
        self.recording = _HostRecording(path, self.worlds, seed=settings.seed, config=config, more=self._more)
        self._schedule.every(settings.record_period, self._timed(task, self.recording.sample), name="record")

    def _each_robot(self, period: float, run: Callable[[HostedRobot, float], None]) -> Callable[[float], None]:
        """A task that does something with every robot of a period."""
        robots = [robot for robot in self.robots.values() if robot.period == period]

        def task(now: float) -> None:
            for robot in robots:
                run(robot, now)

        return task

    def _look(self, now: float) -> None:
        """Posts the state for the cameras, and hands pictures on that have come."""
        self._cameras.show(now, self.worlds.qpos[0])
        for picture in self._cameras.take():
            for port in self.ports:
                port.picture(picture)

    def _new_task(self, name: str, period: float) -> TaskTimes:
        self.tasks.append(TaskTimes(name=name, period=period))
        return self.tasks[-1]

    def _timed(self, task: TaskTimes, run: Callable[[float], None]) -> Callable[[float], None]:
        """A task that is measured: how late it began, and how long it took."""

        def turn(now: float) -> None:
            began = time.monotonic()
            run(now)
            task.note(late=began - self.clock.due(now), took=time.monotonic() - began)

        return turn


class _TimedWorlds(Worlds):
    """A world whose steps are measured."""

    times: TaskTimes | None = None

    def step(self, steps: int = 1, ids: object | None = None) -> None:
        """Simulates physics steps; their time counts as that of the task `dynamics`."""
        began = time.monotonic()
        super().step(steps, ids)  # type: ignore[arg-type]
        if self.times is not None:
            self.times.note(late=0.0, took=(time.monotonic() - began) / steps)


def _numbers(task: TaskTimes) -> Floats:
    row = task.row()
    return np.array([float(row[label]) for label in SCHEDULE_LABELS])  # type: ignore[arg-type]
