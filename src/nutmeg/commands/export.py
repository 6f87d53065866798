"""Write a robot, alone or on a field, as plain MJCF that any MuJoCo tool loads and that moves the same.

example: nutmeg export nao-v6 --field none -o nao.xml
         nutmeg export nao-v6 --actuation motoflex -o soft-nao.xml
         nutmeg export ant --body params.toml -o my-ant.xml
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nutmeg.base.errors import FileError, UsageError
from nutmeg.commands.options import JsonOption, Output

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg export`."""

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ROBOT")]
    """Name of a robot, or path of your own (folder, MJCF or URDF file)."""
    output: Output
    """File to write."""
    field: str = "none"
    """Field to put it on; none for the robot alone."""
    ball: str = "none"
    """Ball to add; empty for the field's own."""
    type: str = ""
    """One of the robot's types."""
    pose: str = "ready"
    """Pose it starts in."""
    physics: str = ""
    """Physics profile; empty for the robot's own."""
    visuals: bool = True
    """Whether to include shapes that are only seen and collide with nothing."""
    actuation: str = ""
    """What drives the joints: ideal, servo, motoflex, or a TOML file of your own; ideal, or the body's, if left out."""
    body: Path | None = None
    """An identified body (the params.toml of `nutmeg identify`)."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Assembles the scene and writes it."""
    from nutmeg.model import Placement, SceneSettings, assemble
    from nutmeg.model.identified import placed_with_body
    from nutmeg.model.physics import native_profile
    from nutmeg.model.robot import load_robot

    plain = Placement(robot=arguments.robot, name="robot", pose=arguments.pose, type=arguments.type)
    placement = placed_with_body(plain, arguments.body, actuation=arguments.actuation)
    if placement.actuation == "motoflex-paper":
        raise UsageError("motoflex-paper is compiled code that plain MJCF cannot hold; export motoflex instead.")
    asked = arguments.physics or load_robot(arguments.robot).physics
    physics = native_profile(asked)
    if physics != asked:
        terminal.say(
            f"The physics profile {asked} needs Nutmeg; the model is written for {physics}, which comes nearest to it."
        )
    scene = assemble(
        SceneSettings(
            field=arguments.field,
            ball=arguments.ball,
            robots=(placement,),
            physics=physics,
            visuals=arguments.visuals,
        )
    )
    try:
        arguments.output.write_text(scene.xml, encoding="utf-8")
    except OSError as error:
        raise FileError(arguments.output, f"cannot be written: {error.strerror}.") from None
    model = scene.model
    terminal.say(
        f"wrote {arguments.output}: {model.nbody - 1} bodies, {model.nu} motors, step {scene.timestep * 1e3:g} ms. "
        f"Keyframe 'start' holds the {arguments.pose} pose."
    )
    return {"file": str(arguments.output), "bodies": model.nbody - 1, "motors": model.nu, "timestep": scene.timestep}
