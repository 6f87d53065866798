"""From the options of `nutmeg serve --protocol lola` and `openr` to what a host needs: robots in their places, a port.

settings, port, cameras = planned(arguments, journal)
with RobotHost(settings, [port], cameras=cameras) as host: ...
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from nutmeg.base.errors import UsageError

if TYPE_CHECKING:
    from nutmeg.commands.serve_robots import Arguments
    from nutmeg.commands.server_log import Journal
    from nutmeg.model.scene import Placement
    from nutmeg.net.host.cameras import CameraFeed
    from nutmeg.net.host.robot_host import HostSettings, Port
    from nutmeg.sim.worlds import Worlds

Cameras: TypeAlias = "Callable[[Worlds], CameraFeed] | None"

NAO = "nao-v6"
"""The robot whose interface is LoLA."""
FIELD = "spl2025"
POSE = "ready"
SOCKET = Path("/tmp/robocup")  # noqa: S108 (where the real robot has it, and clients expect it)
ROW = 4
"""Robots side by side."""


def planned(arguments: Arguments, journal: Journal) -> tuple[HostSettings, Port, Cameras]:
    """What to host, the protocol's port, and what makes pictures."""
    return _openr(arguments, journal) if arguments.protocol == "openr" else _lola(arguments, journal)


def where(port: Port) -> str:
    """Where clients connect to, for people."""
    from nutmeg.net.lola.port import LolaPort
    from nutmeg.net.openr.port import OpenrPort

    lines = []
    if isinstance(port, LolaPort):
        lines = [f"{name}: socket {path}" for name, path in port.paths.items()]
        if port.pictures is not None:
            lines += [f"{name}: cameras on TCP port {number}" for name, number in port.pictures.ports.items()]
    if isinstance(port, OpenrPort):
        for name, seat in port.seats.items():
            (host, sensors), (_, commands) = seat.addresses
            lines.append(f"{name}: sensors on {host}, port {sensors}; commands on port {commands}")
    return "\n".join(lines)


def _lola(arguments: Arguments, journal: Journal) -> tuple[HostSettings, Port, Cameras]:
    from nutmeg.net.host.robot_host import HostSettings
    from nutmeg.net.lola.pictures import PicturePort
    from nutmeg.net.lola.port import LolaPort

    if arguments.config is not None or arguments.first_port is not None:
        raise UsageError("--config and --first-port are for OPEN-R; LoLA has sockets: --socket PATH.")
    if arguments.awake:
        raise UsageError("--awake is for OPEN-R; a Nao's client sets the stiffness of each joint itself.")
    if arguments.robot not in ("", NAO):
        raise UsageError(f"--robot is {arguments.robot!r}; LoLA is the interface of {NAO}.")
    robots = _naos(arguments)
    paths = _sockets(arguments, len(robots))
    port = arguments.camera_port if arguments.graphics else None
    pictures = PicturePort(host=arguments.host, port=port) if port is not None else None
    settings = HostSettings(
        robots=robots,
        field=arguments.field or FIELD,
        lock_step=arguments.lock_step,
        needed=_needed(arguments, len(robots)),
        patience=arguments.patience,
        noise=arguments.noise,
        seed=arguments.seed,
        record=_recording(arguments),
    )
    names = [placement.name for placement in robots]
    lola = LolaPort(dict(zip(names, paths, strict=True)), pictures=pictures, report=journal.report)
    return settings, lola, _cameras(drawn=pictures is not None, in_step=arguments.lock_step)


def _naos(arguments: Arguments) -> tuple[Placement, ...]:
    """Robots in rows of four on the left half, looking to the right."""
    from nutmeg.model.scene import Placement

    count = arguments.robots or max(1, len(arguments.socket))
    middle = (min(count, ROW) - 1) / 2
    return tuple(
        Placement(
            robot=NAO,
            name=f"{NAO}-{number + 1}",
            pos=(-1.0 - number // ROW, number % ROW - middle),
            pose=arguments.pose or POSE,
            actuation=arguments.actuation or "servo",
            team="blue",
        )
        for number in range(count)
    )


def _sockets(arguments: Arguments, count: int) -> list[Path]:
    """A path for each robot."""
    given = list(arguments.socket) or [SOCKET]
    if len(given) == 1:
        given += [given[0].with_name(f"{given[0].name}-{number}") for number in range(2, count + 1)]
    if len(given) != count:
        raise UsageError(f"--socket names {len(given)} sockets for {count} robots; name one, or one for each.")
    if len({path.resolve() for path in given}) != count:
        raise UsageError("--socket names the same socket twice; each robot needs its own.")
    return given


def _openr(arguments: Arguments, journal: Journal) -> tuple[HostSettings, Port, Cameras]:
    from nutmeg.net.openr.configuration import FIRST_PORT, host_settings, settings_for
    from nutmeg.net.openr.port import OpenrPort

    if arguments.socket or arguments.camera_port is not None:
        raise UsageError(
            "--socket and --camera-port are for LoLA; OPEN-R has TCP ports: --first-port or --config FILE."
        )
    if arguments.config is not None and (arguments.pose or arguments.awake):
        raise UsageError(
            "--pose and --awake are for robots without a file; with --config write `pose` and `awake` under [[robot]]."
        )
    settings = settings_for(
        [arguments.robot or "ers7"] * (arguments.robots or 1),
        config=arguments.config,
        host=arguments.host,
        first_port=FIRST_PORT if arguments.first_port is None else arguments.first_port,
        pose=arguments.pose or POSE,
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
        record=_recording(arguments),
        patience=arguments.patience,
    )
    return (
        hosted,
        OpenrPort(settings, report=journal.report),
        _cameras(drawn=settings.pictures, in_step=arguments.lock_step),
    )


def _needed(arguments: Arguments, robots: int) -> int:
    if not 1 <= arguments.clients <= robots:
        raise UsageError(f"--clients is {arguments.clients}; allowed is 1 to the number of robots, {robots}.")
    return arguments.clients


def _recording(arguments: Arguments) -> Path | None:
    from nutmeg.base.journal import new_folder

    if arguments.no_record:
        return None
    return arguments.record or new_folder(Path("runs"), "serve") / "robots.nutmeg"


def _cameras(*, drawn: bool, in_step: bool) -> Cameras:
    """What makes pictures: a process of its own, or in lock-step the simulation itself, the same every time."""
    if not drawn:
        return None
    if in_step:
        from nutmeg.net.host.cameras import cameras_in_step

        return cameras_in_step
    from nutmeg.net.host.cameras import camera_feed

    return camera_feed
