"""Kinematics of an AIBO's legs, forwards and backwards in closed form.

Each of the four legs has three hinges: the rotor swings it along the trunk, the elevator lifts it sideways, the knee
bends it. Rotor and elevator meet in a point, the shoulder. So the distance from shoulder to paw gives the knee, the
sideways distance the elevator, and what is left the rotor. A hind leg is a fore leg seen in a mirror, and a right one
that of the left. Lengths and limits are read from the robot's own tables.

    legs = AiboLegs(scene.robot("ers7-1"))
    paws = legs.forward(angles)                     # angles (N, 4, 3) to (N, 4, 3): centres of the paws [m]
    found = legs.inverse(paws)                      # angles again, always inside the joints' limits

Arrays have any leading axes, written `N` here; the axis of 4 is in the order of `LEGS`, the last axis of angles is
rotor, elevator, knee, and that of places x ahead, y to the left, z up, from the trunk's origin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import ModelError
from nutmeg.model.build import parameter_values, parts_of_type
from nutmeg.model.geometry import evaluate_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.model.robot import Body, RobotSettings
    from nutmeg.model.tables import RobotTable


LEGS = ("LFr", "LBk", "RFr", "RBk")
"""Left fore, left hind, right fore, right hind."""
JOINTS = ("rotor", "elvtr", "knee")
LEG_JOINT_NAMES = tuple(tuple(f"{leg}:{joint}" for joint in JOINTS) for leg in LEGS)
"""The twelve joints, (4, 3)."""
FORE_SIGN = np.array([1.0, -1.0, 1.0, -1.0])
"""1 for fore legs, -1 for hind legs, (4,)."""
LEFT_SIGN = np.array([1.0, 1.0, -1.0, -1.0])
"""1 for left legs, -1 for right legs, (4,)."""
MIRROR_SIGNS = np.stack([FORE_SIGN, LEFT_SIGN, np.ones(4)], axis=1)
"""Turns the places of a leg into those of a left fore leg and back, (4, 3)."""
GEOMETRY_TOLERANCE = 1e-6
"""Allowed difference of the tables from the geometry that the closed form needs [m]."""


class AiboLegs:
    """The legs of a robot that has legs like an AIBO's; any other raises a ModelError that names what is missing.

    Attributes:
        shoulders: points where rotor and elevator meet, from the trunk's origin, (4, 3) [m].
        thigh: vectors from shoulder to knee at zero angles, mirrored to a left fore leg, (4, 3) [m].
        shank: vectors from knee to the paw's centre likewise, (4, 3) [m].
        paw: radius of the paws [m].
        limits: lowest and highest angle of each joint, (4, 3, 2) [rad].
        columns: index of each leg joint among the robot's motors, (4, 3).
    """

    def __init__(self, table: RobotTable) -> None:
        settings = parts_of_type(table.settings, table.kind)
        values = parameter_values(table.settings, table.kind, {})
        bodies = {b.joint.name: b for b in settings.body if b.joint is not None}
        missing = [name for leg in LEG_JOINT_NAMES for name in leg if name not in bodies]
        if missing:
            raise ModelError(
                f"{settings.name} has no joint {missing[0]!r}, so it has no legs like an AIBO's. Use ers7 or ers210, "
                "or another motion."
            )
        legs = [[bodies[name] for name in leg] for leg in LEG_JOINT_NAMES]
        places = np.array([[evaluate_all(body.pos, values) for body in leg] for leg in legs])
        self.shoulders = places[:, 0]
        self.thigh = places[:, 2] * MIRROR_SIGNS
        paws = [_paw(settings, leg[2], values) for leg in legs]
        self.shank = np.array([place for place, _ in paws]) * MIRROR_SIGNS
        self.paw = paws[0][1]
        _check(settings.name, places)
        columns = [[table.joints.index(name) for name in leg] for leg in LEG_JOINT_NAMES]
        self.limits = table.limits[np.array(columns)]
        self.columns = table.motor_index([name for leg in LEG_JOINT_NAMES for name in leg]).reshape(4, 3)
        self._lengths = np.hypot(self.thigh[:, 0], self.thigh[:, 2]), np.hypot(self.shank[:, 0], self.shank[:, 2])
        self._bows = (np.arctan2(self.thigh[:, 0], -self.thigh[:, 2]), np.arctan2(self.shank[:, 0], -self.shank[:, 2]))
        self._aside = self.thigh[:, 1] + self.shank[:, 1]

    def forward(self, angles: ArrayLike) -> Floats:
        """Centres of the paws from the trunk's origin, (N, 4, 3) [m], at angles (N, 4, 3) [rad]."""
        rotor, elevator, knee = np.moveaxis(np.asarray(angles, float), -1, 0)
        ahead, up = self._bent(knee)
        outward = self._aside * np.cos(elevator) - up * np.sin(elevator)
        up = self._aside * np.sin(elevator) + up * np.cos(elevator)
        swung = ahead * np.cos(rotor) - up * np.sin(rotor), outward, ahead * np.sin(rotor) + up * np.cos(rotor)
        return np.asarray(self.shoulders + np.stack(swung, axis=-1) * MIRROR_SIGNS)

    def inverse(self, paws: ArrayLike) -> Floats:
        """Angles (N, 4, 3) that bring the paws' centres to places (N, 4, 3), or as near as legs and limits allow."""
        ahead, outward, up = np.moveaxis((np.asarray(paws, float) - self.shoulders) * MIRROR_SIGNS, -1, 0)
        thigh, shank = self._lengths
        # The knee: the law of cosines for the distance from shoulder to paw within the plane that the leg bends in.
        squared = ahead * ahead + outward * outward + up * up - self._aside * self._aside
        fold = np.arccos(np.clip((squared - thigh * thigh - shank * shank) / (2 * thigh * shank), -1.0, 1.0))
        knee = np.clip(fold + self._bows[0] - self._bows[1], *np.moveaxis(self.limits[:, 2], -1, 0))
        # The elevator: it lifts the bent leg until the paw is as far outside as it is wanted.
        bent, drop = self._bent(knee)
        reach = np.hypot(self._aside, drop)
        elevator = np.arcsin(np.clip(outward / reach, -1.0, 1.0)) - np.arctan2(self._aside, -drop)
        elevator = np.clip(elevator, *np.moveaxis(self.limits[:, 1], -1, 0))
        # The rotor: it swings the lifted leg from where it hangs to where the paw is wanted.
        drop = self._aside * np.sin(elevator) + drop * np.cos(elevator)
        rotor = np.clip(np.arctan2(ahead, -up) - np.arctan2(bent, -drop), *np.moveaxis(self.limits[:, 0], -1, 0))
        return np.stack([rotor, elevator, knee], axis=-1)

    def _bent(self, knee: Floats) -> tuple[Floats, Floats]:
        """Ahead and up from the shoulder to the paw of a leg that is bent but not swung, (N, 4) each."""
        angle = self._bows[1] + knee
        length = self._lengths[1]
        return self.thigh[:, 0] + length * np.sin(angle), self.thigh[:, 2] - length * np.cos(angle)


def _paw(robot: RobotSettings, body: Body, values: Mapping[str, float]) -> tuple[list[float], float]:
    """Centre of the ball that a shank ends in, from its knee, and its radius."""
    left = body.name.replace("R", "L", 1) if body.name.startswith("R") else body.name
    for shape in robot.shape:
        if shape.foot and shape.body in (body.name, left) and shape.fromto is not None:
            end = evaluate_all(shape.fromto, values)[3:]
            mirrored = shape.body != body.name
            return [end[0], -end[1] if mirrored else end[1], end[2]], evaluate_all(shape.size, values)[0]
    raise ModelError(f"{robot.name} has no capsule with foot = true on {body.name!r}, so its paw is unknown.")


def _check(name: str, places: Floats) -> None:
    """Raises a ModelError that names the first difference from an AIBO's legs."""
    problems = {
        "rotor and elevator do not meet in a point": places[:, 1],
        "its right legs are no mirror images of the left": places[:2] - places[2:] * [1.0, -1.0, 1.0],
    }
    for problem, error in problems.items():
        if np.abs(error).max() > GEOMETRY_TOLERANCE:
            raise ModelError(f"{name} has other legs than an AIBO: {problem} (off by {np.abs(error).max():.3g} m).")
