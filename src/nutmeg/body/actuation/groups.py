"""Groups of joints and bodies by name or pattern, and joints that share a motor."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import mujoco

from nutmeg.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.body.robot import RobotSettings


BENDS = (".bend_1", ".bend_2")
"""Ends of the names of the hinges of bending links: no motor drives them, whatever a pattern says."""


def chosen(patterns: Iterable[str], names: Iterable[str], kind: str, where: str) -> list[str]:
    """The names that match any of the patterns, in the order of the patterns; one that matches nothing is an error."""
    names = list(names)
    out: list[str] = []
    for pattern in patterns:
        found = [name for name in names if fnmatchcase(name, pattern)]
        if not found:
            raise UnknownNameError(kind, pattern, names, where=where)
        out += [name for name in found if name not in out]
    return out


def hinges(spec: mujoco.MjSpec) -> dict[str, mujoco.MjsJoint]:
    """The hinges of a specification by name, without those of bending links."""
    hinge = mujoco.mjtJoint.mjJNT_HINGE
    return {j.name: j for j in spec.joints if j.type == hinge and not j.name.endswith(BENDS)}


def share_motors(spec: mujoco.MjSpec, robot: RobotSettings) -> None:
    """Lets the follower of each pair of shared joints have its leader's angle."""
    joints = hinges(spec)
    for shared in robot.shared:
        for name in (shared.leader, shared.follower):
            if name not in joints:
                raise UnknownNameError("joint", name, joints, where=f"shared joints of {robot.name}")
        pair = spec.add_equality(
            name=f"{shared.leader}={shared.follower}",
            type=mujoco.mjtEq.mjEQ_JOINT,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
        )
        pair.name1, pair.name2 = shared.follower, shared.leader
        pair.data[:5] = [0.0, shared.ratio, 0.0, 0.0, 0.0]
        pair.solref = [0.01, 1.0]
