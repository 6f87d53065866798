"""Put a robot on a field and handle it in the browser: a built-in one, or your own.

The page has a slider for each joint within its limits, the robot's poses, pushes, and what its sensors measure.
Collision shapes that are inside each other at rest are named.

example: nutmeg view nao-v6 --field spl2011
         nutmeg view path/to/my-robot
         nutmeg view arm.urdf --field floor
         nutmeg view ant --body params.toml
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nutmeg.base.interrupts import Starting, load_physics
from nutmeg.commands.options import BodyOptions, JsonOption, WatchOptions

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(BodyOptions, WatchOptions, JsonOption):
    """Options of `nutmeg view`."""

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ROBOT")]
    """Name of a robot, or path of your own: a folder with robot.toml, an MJCF or a URDF file."""
    field: str = "floor"
    """Field to put it on."""
    ball: str = ""
    """Ball; empty for the field's own, none for no ball."""
    pose: str = "ready"
    """Pose it stands in."""
    team: str = "blue"
    """Colour of its shirt, such as blue or red."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Builds the scene and watches it."""
    with Starting():
        load_physics()
        from nutmeg.commands.directors import Handling
        from nutmeg.model import Placement, SceneSettings, assemble
        from nutmeg.model.identified import placed_with_body
        from nutmeg.model.posing import overlap_advice, overlaps
        from nutmeg.sim import Worlds
        from nutmeg.sim.sensing import Sensing
        from nutmeg.view.live import watch
        from nutmeg.view.pages.orders import Inbox

    plain = Placement(
        robot=arguments.robot, pose=arguments.pose, type=arguments.type, team=arguments.team, pos=(-0.5, 0.0)
    )
    placement = placed_with_body(plain, arguments.body, actuation=arguments.actuation)
    scene = assemble(SceneSettings(field=arguments.field, ball=arguments.ball, robots=(placement,)))
    name = scene.robots[0].name
    found = overlaps(scene, name)
    if found:
        terminal.warn(f"{name}: {overlap_advice(found)}")
    worlds, inbox = Worlds(scene), Inbox()
    handling, pairs = Handling(worlds, inbox), tuple(map(str, found))
    how = arguments.watching(name, controls=handling.controls(pairs), paced=True)
    watched = watch(worlds, handling, how, terminal, senses=(Sensing(worlds, name),))
    return {**watched, "overlaps": list(pairs)}
