"""What there is to know about a robot at a glance: for `nutmeg robots`, its JSON, and the docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco

from nutmeg.body.build import build
from nutmeg.body.physics import profile
from nutmeg.body.posing import standing
from nutmeg.body.tables import RobotTable, robot_table

if TYPE_CHECKING:
    from nutmeg.body.robot import RobotSettings


@dataclass(frozen=True, kw_only=True)
class RobotFacts:
    """A robot in numbers."""

    name: str
    mass_kg: float
    height_m: float
    """Of the highest point above the ground in the ready pose."""
    joints: int
    motors: int
    sensors: int
    source: str
    licence: str


@dataclass(frozen=True)
class BodyRow:
    """One body of a robot, for a table."""

    name: str
    parent: str
    mass: float
    joint: str
    axis: str
    low: float | None
    high: float | None


def facts(robot: RobotSettings, kind: str = "") -> RobotFacts:
    """Builds a robot and counts."""
    stands = standing(robot, "ready", kind=kind)  # says what is wrong with a robot that cannot be built
    _, table = _compiled(robot, kind)
    return RobotFacts(
        name=robot.name,
        mass_kg=round(stands.mass, 4),
        height_m=round(stands.top, 4),
        joints=len(table.joints),
        motors=len(table.motors),
        sensors=len(table.sensors),
        source=robot.source,
        licence=robot.licence,
    )


def body_rows(robot: RobotSettings, kind: str = "") -> list[BodyRow]:
    """The bodies of a robot with their joints, rotors left out."""
    model, table = _compiled(robot, kind)
    rows = []
    for body in range(1, model.nbody):
        name = model.body(body).name.removeprefix("r/")
        first, count = model.body_jntadr[body], model.body_jntnum[body]
        hinges = [j for j in range(first, first + count) if model.joint(j).name.removeprefix("r/") in table.joints]
        if count and not hinges and model.jnt_type[first] != mujoco.mjtJoint.mjJNT_FREE:
            continue
        parent = model.body(model.body_parentid[body]).name.removeprefix("r/")
        mass = float(model.body_mass[body])
        if not hinges:
            rows.append(BodyRow(name, "" if parent == "world" else parent, mass, "", "", None, None))
        for j in hinges:
            axis = " ".join(f"{a:.3g}" for a in model.jnt_axis[j])
            low, high = (float(v) for v in model.jnt_range[j]) if model.jnt_limited[j] else (None, None)
            rows.append(BodyRow(name, parent, mass, model.joint(j).name.removeprefix("r/"), axis, low, high))
    return rows


def _compiled(robot: RobotSettings, kind: str) -> tuple[mujoco.MjModel, RobotTable]:
    spec = mujoco.MjSpec()
    profile(robot.physics).apply(spec)
    spec.attach(build(robot, kind=kind, visuals=False), frame=spec.worldbody.add_frame(), prefix="r/")
    model = spec.compile()
    return model, robot_table(model, "r", robot, kind)
