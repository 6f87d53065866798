"""Serve robots to other people's robot software, at the lowest interface of the real ones: LoLA (Nao V6), OPEN-R.

LoLA: a Unix socket for each robot, packets of 896 bytes every 12 ms. OPEN-R (AIBO): two TCP connections for each robot.
The line `ready` on standard output says that everything listens. Ends with Ctrl-C, SIGTERM or after --seconds; the
recording is then closed and named.

example: nutmeg serve --protocol lola --robot nao-v6 --socket /tmp/robocup
         nutmeg serve --protocol lola --robots 4 --lock-step --no-view --show-schedule
         nutmeg serve --protocol openr --robot ers7
"""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from nutmeg.base.errors import FileError, SimulationError, UsageError
from nutmeg.base.interrupts import Starting, load_physics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from nutmeg.commands.server_log import Journal
    from nutmeg.net.host.robot_host import Port, RobotHost
    from nutmeg.view.terminal import Terminal

MOST_ROBOTS = 20
SHOWN_EVERY = 10.0
"""Between two tables of `--show-schedule` [s]."""
LAST_PORT = 65535
COLUMNS = {
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
"""What is shown of each task, and what it is called."""


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Options of `nutmeg serve --protocol lola` and `--protocol openr`."""

    protocol: Literal["lola", "openr"]
    """What clients speak; SimSpark has options of its own: nutmeg serve --help."""
    robot: str = ""
    """Which robot: nao-v6 for LoLA; ers7 or ers210 for OPEN-R."""
    robots: int | None = None
    """How many; as many as there are sockets if left out."""
    socket: tuple[Path, ...] = ()
    """LoLA: the Unix socket of each robot; /tmp/robocup as on the robot, and -2, -3 behind it for the others."""
    config: Path | None = None
    """OPEN-R: a TOML file with addresses and models."""
    first_port: int | None = None
    """OPEN-R: TCP port of the first robot's sensors, the next one is that of its commands; 10120 if left out, 0 takes
    free ones."""
    field: str = ""
    """The field, with its ball: a name, or a TOML file of your own; floor for a plain floor."""
    actuation: str = ""
    """What drives the joints: ideal, servo, motoflex, or a TOML file; servo where the robot has it if left out."""
    pose: str = ""
    """The pose in which robots start, by its name in the robot's file; ready if left out."""
    awake: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """OPEN-R: motors are on, with standard gains, before any client says so."""
    real_time: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """A cycle begins by the wall clock; so it is anyway."""
    lock_step: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """A cycle begins when all clients have answered; without clients time stands still."""
    clients: int = 1
    """Clients without which a run in lock-step does not begin."""
    patience: float = 10.0
    """How long a client may be silent in lock-step before it is disconnected [s]."""
    noise: bool = True
    """Whether sensors err."""
    seed: int = 0
    """Of all noise."""
    seconds: float = 0.0
    """End after so much simulated time; 0 goes on until it is ended."""
    show_schedule: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Show how punctual every task is, now and then and in the end."""
    host: str = "127.0.0.1"
    """Address of the page, of cameras and of OPEN-R; 0.0.0.0 lets other machines in."""
    camera_port: int | None = None
    """LoLA: TCP port for pictures of the first robot, counted upwards for the others; 0 takes free ones. Without it
    nothing is drawn."""
    graphics: bool = True
    """Whether cameras are drawn at all."""
    record: Path | None = None
    """Where the recording goes; runs/serve-N/robots.nutmeg if left out."""
    no_record: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Make no recording; then there is no page either."""
    view: bool = True
    """Whether to show the robots on a web page."""
    port: int = 8080
    """Port of the page; 0 takes a free one."""
    json: bool = False
    """Print one JSON object as the last line."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Serves until somebody ends it."""
    _check(arguments)
    with contextlib.ExitStack() as stack:
        with Starting():
            load_physics()
            from nutmeg.commands.serve_page import RobotPage
            from nutmeg.commands.serve_ports import planned, where
            from nutmeg.commands.server_log import Journal
            from nutmeg.net.host.robot_host import RobotHost

            journal = stack.enter_context(Journal(terminal.say))
            settings, port, cameras = planned(arguments, journal)
            host = stack.enter_context(RobotHost(settings, [port], cameras=cameras))
        stack.enter_context(_stopped_by_signals(host.stop))
        page = stack.enter_context(RobotPage(host, journal))
        if arguments.view and settings.record is not None:
            page.show(arguments.host, arguments.port)
        if arguments.show_schedule:
            host.every(SHOWN_EVERY, "show", lambda now: _tell_schedule(host, journal) if now else None)
        terminal.say(where(port))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        began = time.monotonic()
        try:
            host.run(arguments.seconds or float("inf"))
        except KeyboardInterrupt:
            pass  # Ctrl-C before or after the host listens to it: it ends as asked
        except SimulationError as error:
            kept = f" Everything up to then is in {settings.record}." if settings.record else ""
            raise SimulationError(f"{error}{kept}") from None
        finally:
            host.finish()  # first of all: whatever else takes long to end, the recording is whole
        wall = time.monotonic() - began
    return _summary(arguments, host, port, page.url, wall, terminal)


def _check(arguments: Arguments) -> None:
    if arguments.real_time and arguments.lock_step:
        raise UsageError("--real-time and --lock-step do not go together; leave one of them out.")
    if arguments.no_record and arguments.record is not None:
        raise UsageError("--record and --no-record do not go together; leave one of them out.")
    for name in ("port", "camera_port", "first_port"):
        value = getattr(arguments, name)
        if value is not None and not 0 <= value <= LAST_PORT:
            raise UsageError(f"--{name.replace('_', '-')} is {value}; ports are 0 to {LAST_PORT}.")
    if not 0 <= arguments.seconds < math.inf:
        raise UsageError(f"--seconds is {arguments.seconds:g}; needed is a number of seconds, or 0 for no end.")
    if not arguments.patience > 0:
        raise UsageError(f"--patience is {arguments.patience:g}; needed is a number of seconds above 0.")
    if arguments.record is not None and arguments.record.exists():
        raise FileError(arguments.record, "exists already; choose another name with --record.")
    if arguments.robots is not None and not 1 <= arguments.robots <= MOST_ROBOTS:
        raise UsageError(f"--robots is {arguments.robots}; allowed is 1 to {MOST_ROBOTS}.")


def _tell_schedule(host: RobotHost, journal: Journal) -> None:
    for row in host.schedule_rows():
        journal.write(
            f"{row['task']:>10}: every {row['period_ms']:g} ms, {row['turns']} turns, {row['late']} late "
            f"(worst {row['worst_late_ms']} ms), {row['overruns']} overruns, takes {row['mean_took_ms']} ms"
        )


def _summary(
    arguments: Arguments, host: RobotHost, port: Port, url: str | None, wall: float, terminal: Terminal
) -> dict[str, Any]:
    """What there is to tell when everything is closed."""
    rows = host.schedule_rows()
    if arguments.show_schedule:
        terminal.table("tasks (times in ms)", COLUMNS.values(), [[row[name] for name in COLUMNS] for row in rows])
    clock, record = host.clock, host.settings.record
    terminal.say(f"{host.time:.1f} s simulated in {wall:.1f} s; {clock.late} of {clock.stretches} cycles late.")
    if host.recording is not None and (host.recording.problem or host.recording.left_out):
        terminal.warn(host.recording.problem or f"{host.recording.left_out} rows of the recording were left out.")
    if record is not None:
        terminal.say(f"recording: {record}   replay it with: nutmeg replay {record}")
    counts: Callable[[], dict[str, int]] = getattr(port, "counts", dict)
    return {
        "protocol": arguments.protocol,
        "robots": list(host.robots),
        "simulated_s": round(host.time, 6),
        "wall_s": round(wall, 3),
        "cycles": clock.stretches,
        "late_cycles": clock.late,
        "late_by_itself": clock.late_by_itself,
        "lost_s": round(clock.lost, 3),
        **counts(),
        "schedule": rows,
        "recording": record,
        "url": url,
    }


@contextlib.contextmanager
def _stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """While inside, Ctrl-C and SIGTERM end the run at the end of a cycle."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop()

    before: dict[int, Any] = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
