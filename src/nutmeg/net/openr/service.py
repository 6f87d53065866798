"""Serving AIBOs over OPEN-R: from a configuration to a host that runs.

    settings = settings_for(["ers7", "ers210"])             # or read(Path("aibos.toml"), OpenrSettings)
    port = OpenrPort(settings, report=print)
    with RobotHost(host_settings(settings), [port], cameras=...) as host:
        host.run()

`serve_openr` is the same in one call, for programs and tests:

    serve_openr(settings, seconds=10.0, ready=lambda host, port: print(port.seats["ers7-1"].addresses))
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from nutmeg.errors import UnknownNameError, UsageError
from nutmeg.net.openr.configuration import FIRST_PORT, HERE, OpenrRobotSettings, OpenrSettings
from nutmeg.net.openr.models import MODELS
from nutmeg.net.openr.port import OpenrPort
from nutmeg.net.robot_host import HostSettings, RobotHost
from nutmeg.settings import read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from nutmeg.engine.worlds import Worlds
    from nutmeg.net.host_cameras import CameraFeed

APART = 0.8
"""Between robots that nobody placed [m]."""
BALL_AHEAD = 0.9
"""From the robots to a ball that nobody placed [m]."""


def settings_for(
    robots: Sequence[str] = ("ers7",),
    *,
    config: Path | None = None,
    host: str = HERE,
    first_port: int = FIRST_PORT,
    pose: str = "ready",
    awake: bool = False,
    actuation: str = "ideal",
    pictures: bool = True,
) -> OpenrSettings:
    """Settings of a configuration file or, without one, of robots in a row that look at the ball.

    Args:
        robots: names of models, one for each robot; not used with a file.
        config: the file.
        host: address to listen on.
        first_port: of the first robot's sensors; 0 takes free ports.
        pose: in which they start, by its name in the robot's file.
        awake: whether motors are on from the start, with standard gains.
        actuation: what drives the joints.
        pictures: False switches cameras off, whatever the file says.
    """
    if config is not None:
        settings = read(config, OpenrSettings)
        return settings if pictures else dataclasses.replace(settings, pictures=False)
    if not robots:
        raise UsageError(f"there is no robot to serve; name at least one of {', '.join(MODELS)}.")
    for name in robots:
        if name not in MODELS:
            raise UnknownNameError("OPEN-R robot", name, MODELS)
    rows = []
    for number, name in enumerate(robots):
        ports = (first_port + 2 * number, first_port + 2 * number + 1) if first_port else (0, 0)
        rows.append(
            OpenrRobotSettings(
                model="ers7" if name == "ers7" else "ers210",
                pos=(-BALL_AHEAD, APART * (number - (len(robots) - 1) / 2)),
                pose=pose,
                awake=awake,
                actuation=actuation,
                sensors=f"{host}:{ports[0]}",
                commands=f"{host}:{ports[1]}",
            )
        )
    return OpenrSettings(robot=tuple(rows), pictures=pictures)


def host_settings(
    settings: OpenrSettings,
    *,
    lock_step: bool = False,
    needed: int = 1,
    speed: float = 1.0,
    noise: bool = True,
    seed: int = 0,
    record: Path | None = None,
    patience: float = 10.0,
) -> HostSettings:
    """What a host needs to know to serve these robots."""
    return HostSettings(
        robots=settings.placements,
        field=settings.field,
        ball=settings.ball,
        ball_pos=settings.ball_pos,
        lock_step=lock_step,
        needed=needed,
        patience=patience,
        speed=speed,
        noise=noise,
        seed=seed,
        record=record,
    )


def serve_openr(
    settings: OpenrSettings,
    host: HostSettings | None = None,
    *,
    seconds: float = math.inf,
    cameras: Callable[[Worlds], CameraFeed] | None = None,
    report: Callable[[str], None] = lambda _text: None,
    ready: Callable[[RobotHost, OpenrPort], None] = lambda _host, _port: None,
) -> OpenrPort:
    """Serves robots for so long in simulated time, or until the host is stopped; returns the port with its counts.

    Args:
        settings: the robots and their addresses.
        host: pace, recording and so on; `host_settings(settings)` if None.
        seconds: of simulated time.
        cameras: makes the feed of pictures; None keeps graphics off.
        report: told what happens to clients.
        ready: called when clients can connect, with the host (whose `stop` ends it) and the port.
    """
    if cameras is None:
        settings = dataclasses.replace(settings, pictures=False)
    port = OpenrPort(settings, report=report)
    chosen = host or host_settings(settings)
    with RobotHost(chosen, [port], cameras=cameras if settings.pictures else None) as running:
        ready(running, port)
        running.run(seconds)
    return port
