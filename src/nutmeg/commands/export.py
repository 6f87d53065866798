"""Write a robot as MJCF or URDF, or a recording as MCAP (Foxglove) or .rrd (rerun), for other programs.

The ending of the file decides. A robot, alone or on a field, becomes .xml (MJCF that MuJoCo, dm_control and mujoco_warp
load) or .urdf, with mesh files beside it. A recording becomes .mcap or .rrd.

example: nutmeg export nao-v6 --field none -o nao.xml
         nutmeg export nao-v6 -o nao.urdf
         nutmeg export nao-v6 --actuation motoflex -o soft-nao.xml
         nutmeg export ant --body params.toml -o my-ant.xml
         nutmeg export walk.nutmeg -o walk.mcap
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nutmeg.base.errors import UsageError, counted, writing
from nutmeg.base.journal import replace_file
from nutmeg.base.settings import above
from nutmeg.commands.options import BodyOptions, JsonOption, Output

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(BodyOptions, JsonOption):
    """Options of `nutmeg export`."""

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ROBOT|RECORDING")]
    """Name of a robot, or path of your own (folder, MJCF or URDF file), or of a recording."""
    output: Output
    """File to write: .xml for MJCF, .urdf for URDF, .mcap for Foxglove, .rrd for rerun."""
    fps: Annotated[float, above(0)] = 25.0
    """With a recording: how often per second the poses of bodies are written; numbers are written for each row."""
    field: str = "none"
    """Field to put it on; none for the robot alone."""
    ball: str = "none"
    """Ball to add; empty for the field's own."""
    pose: str = "ready"
    """Pose it starts in."""
    physics: str = ""
    """Physics profile; empty for the robot's own."""
    visuals: bool = True
    """Include shapes that are only seen and collide with nothing."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Writes what was asked for."""
    if arguments.output.suffix in (".mcap", ".rrd"):
        return _export_recording(arguments, terminal)
    from nutmeg.model import Placement, SceneSettings, assemble
    from nutmeg.model.export import as_mjcf, as_urdf
    from nutmeg.model.identified import placed_with_body
    from nutmeg.model.physics import native_profile, profile_for_servos
    from nutmeg.model.robot import load_robot

    urdf = _is_urdf(arguments)
    plain = Placement(robot=arguments.robot, name="robot", pose=arguments.pose, type=arguments.type)
    placement = placed_with_body(plain, arguments.body, actuation="ideal" if urdf else arguments.actuation)
    if placement.actuation == "motoflex-paper":
        raise UsageError("motoflex-paper is compiled code that plain MJCF cannot hold; export motoflex instead.")
    own = load_robot(arguments.robot).physics
    asked = arguments.physics or (own if placement.actuation == "ideal" else profile_for_servos(own))
    physics = native_profile(asked)
    if physics != asked and not urdf:
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
    exported = as_urdf(scene) if urdf else as_mjcf(scene)
    with writing(arguments.output) as path:  # an error names the file that was asked for, not a mesh beside it
        for name, data in exported.meshes.items():
            replace_file(path.parent / name, data)
        replace_file(path, exported.text.encode())
    model, robot = scene.model, scene.robots[0]
    beside = f", {counted(len(exported.meshes), 'mesh file')} beside it" if exported.meshes else ""
    if urdf:
        terminal.say(f"wrote {arguments.output}{beside}: {counted(len(robot.joints), 'joint')}.")
    else:
        # Actuators of a model file that drive a tendon or a site stay in the export, but no command reaches them here.
        others = model.nu - len(robot.motors)
        more = f" and {counted(others, 'actuator')} without a joint" if others else ""
        terminal.say(
            f"wrote {arguments.output}{beside}: {counted(model.nbody - 1, 'body')}, "
            f"{counted(len(robot.motors), 'motor')}{more}, step {scene.timestep * 1e3:g} ms. "
            f"Keyframe 'start' holds the {arguments.pose} pose."
        )
    return {
        "file": str(arguments.output),
        "meshes": sorted(exported.meshes),
        "bodies": model.nbody - 1,
        "motors": len(robot.motors),
        "timestep": scene.timestep,
    }


def _export_recording(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.recording import Recording
    from nutmeg.view.files.logs import write_mcap, write_rrd

    source, mcap = Path(arguments.robot), arguments.output.suffix == ".mcap"
    for problem in Recording.open(source).problems:
        terminal.warn(problem)
    write = write_mcap if mcap else write_rrd
    with writing(arguments.output) as path:
        count = write(source, path, fps=arguments.fps)
    terminal.say(f"wrote {arguments.output}: {count} {'messages' if mcap else 'rows'}.")
    return {"file": str(arguments.output), "messages" if mcap else "rows": count}


def _is_urdf(arguments: Arguments) -> bool:
    """Whether URDF is asked for; refuses what a URDF file cannot hold."""
    if arguments.output.suffix not in (".xml", ".urdf"):
        raise UsageError(
            f"-o {arguments.output}: the ending must be .xml (MJCF) or .urdf for a robot, and .mcap or .rrd for a "
            "recording."
        )
    urdf = arguments.output.suffix == ".urdf"
    if urdf and (arguments.field != "none" or arguments.ball != "none"):
        raise UsageError("a URDF file holds one robot and nothing else: leave --field and --ball out.")
    if urdf and arguments.actuation not in ("", "ideal"):
        raise UsageError("a URDF file holds no motors: leave --actuation out, or export .xml.")
    return urdf
