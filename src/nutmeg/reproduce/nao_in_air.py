"""A Nao hung in the air that makes walking movements: the set-up of section 4.2 of the Back-to-Reality paper.

    twin = nao_twin(threads=2)
    trial = walking_in_the_air(twin.table, samples=4024)        # 221 s of commands, one every 55 ms

J. C. Zagal, J. Delpiano, J. Ruiz-del-Solar, Self-modeling in humanoid soccer robots, Robotics and Autonomous Systems 57
(2009): commands every 55 ms with 7 integration steps in between, 22 joints, 4024 samples, eight masses within 50 %.

**Walk.** The paper used Aldebaran's; here it is the preview walk of `motion`, planned for a Nao V4 (the closed form of
the legs needs ankle axes that meet, which those of Table 1 do not) and told to the joints of the same name: five
walks one after the other, with swinging arms and a head that looks around, so that all 22 joints move. Forearms are
held away from the thighs: in `ready` the boxes of Table 1 touch, and bumps tell of chaos, not of masses.

**Drives.** Masses show only where motors give way. The robot's own file has 150 N m/rad in the legs (it must
stand), with which phi2 hardly depends on them. Here all drives have half of what a team measured
on a V6 (HULKs: 21.1 N m/rad, 1.08 N m s/rad, armature 0.045 kg m² in the legs), as a Nao with the stiffness
setting 0.5 has. The masses are still not equally visible: those of HipRoll lie on all axes above them and cannot be
seen at all, and thigh and shank pull at the hip with levers of nearly the same direction (11.3 and 12.5 degrees), so
that only their different inertia tells them apart.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body import Placement, SceneSettings, assemble
from nutmeg.body.adjustment import Adjustment
from nutmeg.motion.preview_walk import PreviewWalk, PreviewWalkSettings
from nutmeg.reality.trial import Trial
from nutmeg.reality.twin import Searched, Twin, TwinSettings
from nutmeg.reproduce.hidden_fit import Disturbance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Floats
    from nutmeg.body.tables import RobotTable


PERIOD, STEPS = 0.055, 7
"""Time between commands [s], and integration steps in between (section 4.2.1)."""
MASSES = {"ShoulderRoll": 0.11, "HipRoll": 0.14, "HipPitch": 0.29, "KneePitch": 0.42}
"""Starred in Table 1, on both sides [kg]."""
RANGE = 0.5
"""Masses are searched within this share of what Table 1 says."""
STIFFNESS, DAMPING = 0.5 * 21.1, 0.5 * 1.08
"""Of the drives [N m/rad, N m s/rad]: see above."""
ARMATURE = {"leg*": 0.045, "[!l]*": 0.045 / 4}
"""Of legs, and of arms and head, whose motors are smaller [kg m²]."""
DISTURBANCE = Disturbance(command=0.001, angle=0.0005, resolution=0.0015)
"""Noise of motors (assumed) and sensors (as of the robot's encoders) [rad]."""
WALKS = (
    PreviewWalkSettings(forward=0.25, step_duration=0.8, step_height=0.04),
    PreviewWalkSettings(forward=0.15, step_duration=0.5),
    PreviewWalkSettings(forward=0.0, sideways=0.08, step_duration=0.6),
    PreviewWalkSettings(forward=0.1, turn=0.6, step_duration=0.6, step_height=0.04),
    PreviewWalkSettings(forward=-0.15, step_duration=1.0, step_height=0.05),
)


def nao_twin(*, threads: int = 1, stiffness: float = STIFFNESS, damping: float = DAMPING) -> Twin:
    """The Nao of Table 1 on a stand, with eight masses to be found."""
    drives = [Adjustment(target="drives.*.stiffness", value=stiffness)]
    for group, armature in ARMATURE.items():
        share = 1.0 if group == "leg*" else 0.5
        drives.append(Adjustment(target=f"drives.{group}.damping", value=share * damping))
        drives.append(Adjustment(target=f"drives.{group}.armature", value=armature))
    settings = TwinSettings(
        robot="nao-v3", held=True, field="none", timestep=PERIOD / STEPS, height=0.5, adjustments=tuple(drives)
    )
    return Twin(settings, _searched(), threads=threads)


def _searched() -> Mapping[str, Searched]:
    return {
        f"mass_{side}{part}": Searched(
            low=(1 - RANGE) * mass, high=(1 + RANGE) * mass, start=mass, unit="kg", sets=(f"mass.{side}{part}",)
        )
        for side in "RL"
        for part, mass in MASSES.items()
    }


def walking_in_the_air(table: RobotTable, samples: int = 4024) -> Trial:
    """Five walks one after the other as one trial of so many commands."""
    model = assemble(SceneSettings(field="none", ball="none", robots=(Placement(robot="nao-v4"),), visuals=False))
    walker = model.robots[0]
    rows = math.ceil(samples / len(WALKS))
    legs = np.concatenate([_walk(walker, settings, rows) for settings in WALKS])[:samples]
    arms = [_upper_body(settings, rows) for settings in WALKS]
    commands = np.empty((samples, len(table.motors)))
    for column, motor in enumerate(table.motors):
        if motor in arms[0]:
            commands[:, column] = np.concatenate([part[motor] for part in arms])[:samples]
        else:  # a V4 has one motor for both HipYawPitch joints
            commands[:, column] = legs[:, walker.motors.index(motor.replace("RHipYaw", "LHipYaw"))]
    return Trial(name="walking in the air", period=PERIOD, commands=commands)


def _walk(table: RobotTable, settings: PreviewWalkSettings, rows: int) -> Floats:
    """Commands of one walk, (rows, motors); what is out of reach is done as nearly as the legs can."""
    walk = PreviewWalk(table, settings, duration=rows * PERIOD, clip=True)
    return np.stack([walk.angles(row * PERIOD) for row in range(rows)])


def _upper_body(settings: PreviewWalkSettings, rows: int) -> dict[str, Floats]:
    """Commands of arms and head during a walk, (rows,) by motor; they start and end at rest."""
    time = np.arange(rows) * PERIOD
    share = np.clip(np.minimum(time, rows * PERIOD - time), 0, 1)
    rise = share * share * (3 - 2 * share)
    phase = 2 * math.pi * time / max(0.8, settings.step_duration)
    found = {
        "HeadYaw": 0.6 * np.sin(2 * math.pi * time / 4) * rise,
        "HeadPitch": 0.2 * np.sin(2 * math.pi * time / 3) * rise,
    }
    for side, sign in (("L", 1.0), ("R", -1.0)):
        swing = sign * np.sin(phase) * rise
        found[f"{side}ShoulderPitch"] = 1.2 + 0.4 * swing
        found[f"{side}ShoulderRoll"] = sign * (0.65 + 0.2 * np.sin(phase + 1) * rise)
        found[f"{side}ElbowYaw"] = sign * (-1 + 0.3 * np.sin(phase / 2) * rise)
        found[f"{side}ElbowRoll"] = sign * (-0.6 + 0.3 * swing)
    return found
