"""The configuration file of an OPEN-R server: robots, their models, places and addresses.

    field = "spl2011"
    ball_pos = [0.0, 0.0]

    [[robot]]
    model = "ers7"
    pos = [-1.0, 0.0]
    sensors = "127.0.0.1:10120"
    commands = "127.0.0.1:10121"

    [[robot]]
    model = "ers210"
    pos = [1.0, 0.0]
    heading = 3.14159

Robots without addresses get those of their number: 10120 and 10121, then 10122 and 10123, and so on. To serve them:

    settings = settings_for(["ers7", "ers210"])             # or a file: settings_for(config=Path("aibos.toml"))
    with RobotHost(host_settings(settings), [OpenrPort(settings)], cameras=...) as host:
        host.run()
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.base.settings import read
from nutmeg.model.scene import Placement
from nutmeg.net.host.robot_host import HostSettings
from nutmeg.net.openr.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


FIRST_PORT = 10120
"""Where the first robot sends its sensors; commands go to the next port."""
LOOPBACK = "127.0.0.1"
_ROBOT_SPACING = 0.8
"""Distance between robots without a place of their own [m]."""
BALL_DISTANCE = 0.9
"""Distance from the ball of robots without a place of their own [m]."""


@dataclass(frozen=True, kw_only=True)
class OpenrRobotSettings:
    """One robot."""

    model: Literal["ers7", "ers210"] = "ers7"
    """Which AIBO."""
    name: str = ""
    """Its name in the scene; `ers7-1` and so on if empty."""
    pos: tuple[float, float] = (0.0, 0.0)
    """Where it starts [m]."""
    heading: float = 0.0
    """Direction it faces, 0 along x [rad]."""
    pose: str = "ready"
    """A pose of the robot, in which it starts."""
    team: str = "grey"
    """Team colour by name."""
    actuation: str = "ideal"
    """Actuation of its joints."""
    awake: bool = False
    """Whether its motors are on, with standard gains, before any client says so."""
    sensors: str = ""
    """Address and port on which it sends sensors and pictures, `127.0.0.1:10120`; port 0 takes a free one."""
    commands: str = ""
    """Address and port for commands."""

    def __post_init__(self) -> None:
        for text in (self.sensors, self.commands):
            if text:
                address(text)


@dataclass(frozen=True, kw_only=True)
class OpenrSettings:
    """Settings of an OPEN-R server."""

    robot: tuple[OpenrRobotSettings, ...] = (OpenrRobotSettings(),)
    """The robots."""
    field: str = "spl2011"
    """Name of a field, or path of a user's; `floor` for a plain floor."""
    ball: str = "spl-orange"
    """Name of a ball; empty for the field's own, `none` for no ball."""
    ball_pos: tuple[float, float] = (0.0, 0.0)
    """Where the ball starts [m]."""
    pictures: bool = True
    """Whether cameras are drawn; False is graphics off."""

    def __post_init__(self) -> None:
        if not self.robot:
            raise ValueError("there is no robot; write at least one [[robot]].")
        names = [placed.name for placed in self.placements]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"two robots are called {min(twice)!r}; give them different names.")
        taken = [each for pair in self.addresses for each in pair if each[1]]
        for place in taken:
            if taken.count(place) > 1:
                raise ValueError(f"the address {place[0]}:{place[1]} is used twice; give each connection its own.")

    @property
    def placements(self) -> tuple[Placement, ...]:
        """The robots as a scene needs them."""
        counted = [[r.model for r in self.robot[: k + 1]].count(r.model) for k, r in enumerate(self.robot)]
        return tuple(
            Placement(
                robot=robot.model,
                name=robot.name or f"{robot.model}-{number}",
                pos=robot.pos,
                heading=robot.heading,
                pose=robot.pose,
                team=robot.team,
                actuation=robot.actuation,
            )
            for robot, number in zip(self.robot, counted, strict=True)
        )

    @property
    def addresses(self) -> tuple[tuple[tuple[str, int], tuple[str, int]], ...]:
        """Where each robot sends sensors and takes commands."""
        return tuple(
            (
                address(robot.sensors) if robot.sensors else (LOOPBACK, FIRST_PORT + 2 * k),
                address(robot.commands) if robot.commands else (LOOPBACK, FIRST_PORT + 2 * k + 1),
            )
            for k, robot in enumerate(self.robot)
        )


def address(text: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:10120`."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"{text!r} is no address; write it like '127.0.0.1:10120' (port 0 takes a free one).")
    return host, int(port)


def settings_for(
    robots: Sequence[str] = ("ers7",),
    *,
    config: Path | None = None,
    host: str = LOOPBACK,
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
                pos=(-BALL_DISTANCE, _ROBOT_SPACING * (number - (len(robots) - 1) / 2)),
                pose=pose,
                awake=awake,
                actuation=actuation,
                sensors=f"{host}:{ports[0]}",
                commands=f"{host}:{ports[1]}",
            )
        )
    return OpenrSettings(robot=tuple(rows), pictures=pictures)


def host_settings(settings: OpenrSettings, **options: Any) -> HostSettings:  # noqa: ANN401
    """The settings of a host for these robots; options are further fields of `HostSettings`."""
    return HostSettings(
        robots=settings.placements, field=settings.field, ball=settings.ball, ball_pos=settings.ball_pos, **options
    )
