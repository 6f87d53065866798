"""Serve robots to other people's robot software: LoLA (Nao V6), OPEN-R (AIBO), or ROS topics over rosbridge (any).

LoLA: a Unix socket for each robot, packets of 896 bytes every 12 ms. OPEN-R (AIBO): two TCP connections for each robot.
ROS: one WebSocket for all robots, messages 50 times a second.
The line `ready` on standard output says that everything listens. Ends with Ctrl-C, SIGTERM or after --seconds; the
recording is then closed and named.

example: nutmeg serve lola --robot nao-v6 --socket /tmp/robocup
         nutmeg serve lola --robots 4 --lock-step --no-view --show-schedule
         nutmeg serve openr --robot ers7
         nutmeg serve ros --robot t1
"""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import tyro

from nutmeg.base.errors import UsageError
from nutmeg.base.interrupts import Starting, load_physics, signals_handled
from nutmeg.base.settings import Bounds, above
from nutmeg.commands.options import Port, Seconds
from nutmeg.commands.serving import ControllerOptions, ServedPage, ServeOptions, ServerLog, ended_as_asked

if TYPE_CHECKING:
    from nutmeg.model.scene import Placement
    from nutmeg.net.host.cameras import CameraFeed
    from nutmeg.net.host.robot_host import HostSettings, RobotHost
    from nutmeg.net.host.robot_host import Port as RobotPort
    from nutmeg.sim.worlds import Worlds
    from nutmeg.view.pages.orders import Controls
    from nutmeg.view.terminal import Terminal

Cameras: TypeAlias = "Callable[[Worlds], CameraFeed] | None"
NAO = "nao-v6"  # the robot whose interface is LoLA
DEFAULT_FIELD = "spl2025"
_DEFAULT_SOCKET = Path("/tmp/robocup")  # noqa: S108 (where the real robot has it, and clients expect it)
_ROBOTS_PER_ROW = 4
MAX_ROBOTS = 20
_SCHEDULE_INTERVAL = 10.0  # time between two tables of `--show-schedule` [s]
SCHEDULE_COLUMNS = {
    "task": "task",
    "period_ms": "period",
    "turns": "turns",
    "late": "late",
    "worst_late_ms": "worst",
    "overruns": "overruns",
    "left_out": "left out",
    "mean_took_ms": "took",
    "longest_ms": "longest",
}
"""Columns of the table of tasks, and their titles."""


@dataclass(frozen=True, kw_only=True)
class HostOptions(ServeOptions, ControllerOptions):
    """Options of hosted robots, in any protocol."""

    protocol: ClassVar[str]
    group: ClassVar[str] = "robots and clients"
    robots: Annotated[int, Bounds(1, MAX_ROBOTS)] | None = None
    """How many robots; one, or as many as there are sockets, if left out."""
    field: str = ""
    """The field, with its ball: a name, or a TOML file of your own; floor for a plain floor."""
    actuation: str = ""
    """Actuation of the joints: ideal, servo, motoflex, or a TOML file; servo where the robot has it if left out."""
    pose: str = ""
    """The pose in which robots start, by its name in the robot's file; ready if left out."""
    real_time: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """A cycle begins by the wall clock; this is the default."""
    lock_step: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """A cycle begins when all clients have answered; without clients time stands still."""
    clients: int = 1
    """Clients without which a run in lock-step does not begin."""
    patience: Annotated[float, above(0, "s")] = 10.0
    """How long a client may be silent in lock-step before it is disconnected [s]."""
    noise: bool = True
    """Add noise to what sensors measure."""
    seconds: Seconds = 0.0
    """End after this simulated time; 0 continues until the server is ended."""
    show_schedule: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Show how punctual every task is, every ten seconds and at the end."""
    graphics: bool = True
    """Draw what cameras see."""
    game: str = ""
    """Play a match by this rule book (spl2025, spl2011, or a TOML file): half of the robots against the others, with a
    referee and a GameController that informs them."""


@dataclass(frozen=True, kw_only=True)
class LolaArguments(HostOptions):
    """Serve Nao V6 robots over LoLA: a Unix socket for each robot, packets of 896 bytes every 12 ms.

    example: nutmeg serve lola --socket /tmp/robocup
             nutmeg serve lola --robots 4 --lock-step --no-view --show-schedule
    """

    protocol: ClassVar[str] = "lola"

    robot: str = NAO
    """Which robot; LoLA is the interface of the nao-v6."""
    socket: tuple[Path, ...] = ()
    """The Unix socket of each robot; /tmp/robocup as on the robot, and -2, -3 behind it for the others."""
    camera_port: Port | None = None
    """TCP port for pictures of the first robot, counted upwards for the others; 0 takes free ones. Without it nothing
    is drawn."""


@dataclass(frozen=True, kw_only=True)
class OpenrArguments(HostOptions):
    """Serve AIBO robots over OPEN-R: two TCP connections for each robot, one for sensors, one for commands.

    example: nutmeg serve openr --robot ers7
             nutmeg serve openr --config pitch.toml
    """

    protocol: ClassVar[str] = "openr"

    robot: str = "ers7"
    """Which robot: ers7 or ers210."""
    config: Path | None = None
    """A TOML file with addresses and models of several robots."""
    first_port: Port | None = None
    """TCP port of the first robot's sensors, the next one is that of its commands; 10120 if left out, 0 takes free
    ones."""
    awake: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Motors are on, with standard gains, before any client says so."""


@dataclass(frozen=True, kw_only=True)
class RosArguments(HostOptions):
    """Serve robots as ROS topics over rosbridge's WebSocket, without ROS on this machine.

    example: nutmeg serve ros --robot nao-v6
             nutmeg serve ros --robot t1 --robots 2 --lock-step --no-view
    """

    protocol: ClassVar[str] = "ros"

    robot: str = NAO
    """Which robot: a name, or a model file of your own."""
    ros_port: Port = 9090
    """TCP port of the WebSocket; 0 takes a free one."""


def run(arguments: LolaArguments | OpenrArguments | RosArguments, terminal: Terminal) -> dict[str, Any]:
    """Serves until the server is ended."""
    if arguments.real_time and arguments.lock_step:
        raise UsageError("--real-time and --lock-step do not go together; leave one of them out.")
    with contextlib.ExitStack() as stack:
        with Starting(signal.SIGTERM):
            load_physics()
            from nutmeg.net.host.robot_host import RobotHost
            from nutmeg.view.pages.process import check_port

            log = stack.enter_context(ServerLog(terminal.say))
            settings, port, cameras = _plan(arguments, log)
            settings, referees = _match(arguments, settings)
            host = stack.enter_context(RobotHost(settings, [port, *referees], cameras=cameras))
        stack.enter_context(signals_handled(host.stop, signal.SIGINT, signal.SIGTERM))
        shown = settings.record if arguments.view else None
        if shown is not None:
            check_port(arguments.host, arguments.port)
        page = stack.enter_context(ServedPage(log, shown, host=arguments.host, port=arguments.port))
        page.show(_hands_on(host))
        if arguments.show_schedule:
            host.every(_SCHEDULE_INTERVAL, "show", lambda now: _log_schedule(host, log) if now else None)
        terminal.say(_addresses(port))
        began = time.monotonic()
        with ended_as_asked(settings.record, host.finish):
            host.run(arguments.seconds or float("inf"))
        wall = time.monotonic() - began
    return _summary(arguments, host, page.url, wall, terminal)


def _plan(
    arguments: LolaArguments | OpenrArguments | RosArguments, log: ServerLog
) -> tuple[HostSettings, RobotPort, Cameras]:
    """The settings of the host, the port of its protocol, and the cameras."""
    if isinstance(arguments, OpenrArguments):
        return _openr(arguments, log)
    return _ros(arguments, log) if isinstance(arguments, RosArguments) else _lola(arguments, log)


def _match(arguments: HostOptions, settings: HostSettings) -> tuple[HostSettings, list[RobotPort]]:
    """The robots in their places for a kick-off, and their referee, if a match was asked for."""
    if not arguments.game:
        return settings, []
    from nutmeg.match.rules.book import rules_on
    from nutmeg.net.host.robot_match import RobotMatch, side_places, split_teams

    rules = rules_on(arguments.game, settings.field)
    teams = split_teams([placement.name for placement in settings.robots])
    referee = RobotMatch(rules, teams, arguments.controller_settings(arguments.host))
    places = side_places(rules, (len(teams[0]), len(teams[1])))
    robots = tuple(
        dataclasses.replace(robot, pos=place, heading=heading, team="blue" if robot.name in teams[0] else "red")
        for robot, (place, heading) in zip(settings.robots, places, strict=True)
    )
    return dataclasses.replace(settings, robots=robots), [referee]


def _hands_on(host: RobotHost) -> Controls:
    """The sensors that people can set by hand on the page."""
    from nutmeg.view.pages.orders import Controls, Inbox, Order

    def touch(order: Order) -> None:  # called in the thread that reads the page's orders
        robot, _, sensor = order.thing.rpartition("/")
        value, seconds, release = order.numbers
        if robot in host.robots:
            host.robots[robot].poke(sensor, None if release else value, seconds=seconds or float("inf"))

    inbox = Inbox()
    inbox.on_poke = touch
    pokes = {name: tuple(robot.hands_on) for name, robot in host.robots.items() if robot.hands_on}
    return Controls(inbox=inbox, pokes=pokes)


def _log_schedule(host: RobotHost, log: ServerLog) -> None:
    for row in host.schedule_rows():
        log.write(
            f"{row['task']:>10}: every {row['period_ms']:g} ms, {row['turns']} turns, {row['late']} late "
            f"(worst {row['worst_late_ms']} ms), {row['overruns']} overruns, takes {row['mean_took_ms']} ms"
        )


def _summary(
    arguments: HostOptions,
    host: RobotHost,
    url: str | None,
    wall: float,
    terminal: Terminal,
) -> dict[str, Any]:
    """Prints how the run went; returns what `--json` prints."""
    rows = host.schedule_rows()
    if arguments.show_schedule:
        terminal.table(
            "tasks (times in ms)", SCHEDULE_COLUMNS.values(), [[row[name] for name in SCHEDULE_COLUMNS] for row in rows]
        )
    clock, record = host.clock, host.settings.record
    terminal.say(f"{host.time:.1f} s simulated in {wall:.1f} s; {clock.late} of {clock.stretches} cycles late.")
    if host.recording is not None and (host.recording.problem or host.recording.left_out):
        terminal.warn(host.recording.problem or f"{host.recording.left_out} rows of the recording were left out.")
    if record is not None:
        terminal.say(f"recording: {record}   replay it with: nutmeg replay {record}")
    counted: dict[str, object] = {}
    for port in host.ports:
        counts: Callable[[], dict[str, object]] = getattr(port, "counts", dict)
        counted |= counts()
    return {
        "protocol": arguments.protocol,
        "robots": list(host.robots),
        "simulated_s": round(host.time, 6),
        "wall_s": round(wall, 3),
        "cycles": clock.stretches,
        "late_cycles": clock.late,
        "late_by_itself": clock.late_by_itself,
        "lost_s": round(clock.lost, 3),
        **counted,
        "schedule": rows,
        "recording": record,
        "url": url,
    }


def _addresses(port: RobotPort) -> str:
    """Where clients connect to, for people."""
    from nutmeg.net.lola.port import LolaPort
    from nutmeg.net.openr.port import OpenrPort
    from nutmeg.net.rosbridge import RosPort

    lines = []
    if isinstance(port, RosPort):
        host, number = port.address
        lines = [f"rosbridge: ws://{host}:{number}"]
    if isinstance(port, LolaPort):
        lines = [f"{name}: socket {path}" for name, path in port.paths.items()]
        if port.pictures is not None:
            lines += [f"{name}: cameras on TCP port {number}" for name, number in port.pictures.ports.items()]
    if isinstance(port, OpenrPort):
        for name, seat in port.seats.items():
            (host, sensors), (_, commands) = seat.addresses
            lines.append(f"{name}: sensors on {host}, port {sensors}; commands on port {commands}")
    return "\n".join(lines)


def _lola(arguments: LolaArguments, log: ServerLog) -> tuple[HostSettings, RobotPort, Cameras]:
    from nutmeg.net.lola.pictures import PicturePort
    from nutmeg.net.lola.port import LolaPort

    if arguments.robot != NAO:
        raise UsageError(f"--robot is {arguments.robot!r}; LoLA is the interface of {NAO}.")
    robots = _in_rows(arguments, NAO, arguments.robots or max(1, len(arguments.socket)), arguments.actuation or "servo")
    paths = _sockets(arguments, len(robots))
    port = arguments.camera_port if arguments.graphics else None
    pictures = PicturePort(host=arguments.host, port=port) if port is not None else None
    names = [placement.name for placement in robots]
    lola = LolaPort(dict(zip(names, paths, strict=True)), pictures=pictures, report=log.report)
    return _hosted(arguments, robots), lola, _cameras(drawn=pictures is not None, in_step=arguments.lock_step)


def _hosted(arguments: HostOptions, robots: tuple[Placement, ...]) -> HostSettings:
    """The settings of a host with these robots."""
    from nutmeg.net.host.robot_host import HostSettings

    return HostSettings(
        robots=robots,
        field=arguments.field or DEFAULT_FIELD,
        lock_step=arguments.lock_step,
        needed=_needed(arguments, len(robots)),
        patience=arguments.patience,
        noise=arguments.noise,
        seed=arguments.seed,
        record=arguments.new_recording("robots.nutmeg"),
    )


def _ros(arguments: RosArguments, log: ServerLog) -> tuple[HostSettings, RobotPort, Cameras]:
    from nutmeg.net.rosbridge import RosPort, ros_name

    robots = _in_rows(arguments, arguments.robot, arguments.robots or 1, arguments.actuation)
    names = [placement.name for placement in robots]
    spaces = {name: ros_name(name) if len(names) > 1 else "" for name in names}
    port = RosPort(spaces, address=(arguments.host, arguments.ros_port), report=log.report)
    return _hosted(arguments, robots), port, _cameras(drawn=arguments.graphics, in_step=arguments.lock_step)


def _in_rows(arguments: HostOptions, robot: str, count: int, actuation: str) -> tuple[Placement, ...]:
    """Robots in rows of four on the left half, looking to the right; each has its servos where it has any."""
    from nutmeg.model.robot import load_robot
    from nutmeg.model.scene import Placement

    loaded = load_robot(robot)
    if not actuation:
        actuation = "servo" if loaded.model.actuation else "ideal"
    middle = (min(count, _ROBOTS_PER_ROW) - 1) / 2
    return tuple(
        Placement(
            robot=robot,
            name=f"{loaded.name}-{number + 1}",
            pos=(-1.0 - number // _ROBOTS_PER_ROW, number % _ROBOTS_PER_ROW - middle),
            pose=arguments.pose or "ready",
            actuation=actuation,
            team="blue",
        )
        for number in range(count)
    )


def _sockets(arguments: LolaArguments, count: int) -> list[Path]:
    """A path for each robot."""
    given = list(arguments.socket) or [_DEFAULT_SOCKET]
    if len(given) == 1:
        given += [given[0].with_name(f"{given[0].name}-{number}") for number in range(2, count + 1)]
    if len(given) != count:
        raise UsageError(f"--socket names {len(given)} sockets for {count} robots; name one, or one for each.")
    if len({path.resolve() for path in given}) != count:
        raise UsageError("--socket names the same socket twice; each robot needs its own.")
    return given


def _openr(arguments: OpenrArguments, log: ServerLog) -> tuple[HostSettings, RobotPort, Cameras]:
    from nutmeg.net.openr.configuration import FIRST_PORT, host_settings, settings_for
    from nutmeg.net.openr.port import OpenrPort

    if arguments.config is not None and (arguments.pose or arguments.awake):
        raise UsageError(
            "--pose and --awake are for robots without a file; with --config write `pose` and `awake` under [[robot]]."
        )
    settings = settings_for(
        [arguments.robot] * (arguments.robots or 1),
        config=arguments.config,
        host=arguments.host,
        first_port=FIRST_PORT if arguments.first_port is None else arguments.first_port,
        pose=arguments.pose or "ready",
        awake=arguments.awake,
        actuation=arguments.actuation or "ideal",
        pictures=arguments.graphics,
    )
    if arguments.field:
        settings = dataclasses.replace(settings, field=arguments.field)
    hosted = host_settings(
        settings,
        lock_step=arguments.lock_step,
        needed=_needed(arguments, len(settings.robot)),
        noise=arguments.noise,
        seed=arguments.seed,
        record=arguments.new_recording("robots.nutmeg"),
        patience=arguments.patience,
    )
    return (
        hosted,
        OpenrPort(settings, report=log.report),
        _cameras(drawn=settings.pictures, in_step=arguments.lock_step),
    )


def _needed(arguments: HostOptions, robots: int) -> int:
    if not 1 <= arguments.clients <= robots:
        raise UsageError(f"--clients is {arguments.clients}; allowed is 1 to the number of robots, {robots}.")
    return arguments.clients


def _cameras(*, drawn: bool, in_step: bool) -> Cameras:
    """The cameras: a process of its own or, in lock-step, the simulation itself, the same every time."""
    if not drawn:
        return None
    if in_step:
        from nutmeg.net.host.cameras import CamerasInStep

        return CamerasInStep
    from nutmeg.net.host.cameras import ProcessCameras

    return ProcessCameras
