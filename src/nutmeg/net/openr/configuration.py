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

    settings = read(Path("aibos.toml"), OpenrSettings)

Robots without addresses get those of their number: 10120 and 10121, then 10122 and 10123, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nutmeg.body.scene import Placement

FIRST_PORT = 10120
"""Where the first robot sends its sensors; commands go to the next port."""
HERE = "127.0.0.1"


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
    """What drives its joints."""
    awake: bool = False
    """Whether its motors are on, with standard gains, before any client says so."""
    sensors: str = ""
    """Address and port on which it sends sensors and pictures, `127.0.0.1:10120`; port 0 takes a free one."""
    commands: str = ""
    """Address and port on which it takes commands."""

    def __post_init__(self) -> None:
        for text in (self.sensors, self.commands):
            if text:
                address(text)


@dataclass(frozen=True, kw_only=True)
class OpenrSettings:
    """What an OPEN-R server serves."""

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
                address(robot.sensors) if robot.sensors else (HERE, FIRST_PORT + 2 * k),
                address(robot.commands) if robot.commands else (HERE, FIRST_PORT + 2 * k + 1),
            )
            for k, robot in enumerate(self.robot)
        )


def address(text: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:10120`."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"{text!r} is no address; write it like '127.0.0.1:10120' (port 0 takes a free one).")
    return host, int(port)
