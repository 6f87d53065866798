"""Users' robots in MJCF or URDF, brought to the form that the rest of Nutmeg expects.

The first body below the world is the robot; it gets a free joint named `root` (an existing one is renamed)
unless the robot's base is fixed. Floors, lights and cameras that belong to the world rather than to the robot
are dropped: the scene brings its own. Actuators in an MJCF file are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco

from nutmeg.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.body.robot import RobotSettings

ROOT = "root"


def parse_model(path: Path) -> mujoco.MjSpec:
    """The specification in an MJCF or URDF file; the engine's complaint becomes a FileError."""
    if not path.is_file():
        raise FileError(path, "there is no such file. Check the path.")
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        spec.copy().compile()
    except (ValueError, mujoco.FatalError) as error:
        message = " ".join(str(error).split())
        raise FileError(path, f"MuJoCo cannot build this model: {message}") from None
    return spec


def read_model_file(robot: RobotSettings) -> mujoco.MjSpec:
    """The specification of a robot whose bodies are in an MJCF or URDF file."""
    path = robot.model.mjcf or robot.model.urdf
    assert path is not None
    spec = parse_model(path)
    spec.compiler.fusestatic = False
    spec.compiler.degree = spec.compiler.degree if robot.model.mjcf else False
    for unwanted in [*spec.worldbody.geoms, *spec.worldbody.lights, *spec.worldbody.cameras]:
        spec.delete(unwanted)
    for key in list(spec.keys):
        spec.delete(key)
    roots = list(spec.worldbody.bodies)
    if len(roots) != 1:
        names = ", ".join(repr(b.name) for b in roots) or "none"
        raise FileError(path, f"a robot has one body below the world, this file has {len(roots)} ({names}).")
    free = [j for j in roots[0].joints if j.type == mujoco.mjtJoint.mjJNT_FREE]
    if free:
        free[0].name = ROOT
    elif robot.base == "free":
        roots[0].add_freejoint(name=ROOT)
    for index, joint in enumerate(spec.joints):
        joint.name = joint.name or f"joint{index}"
    return spec
