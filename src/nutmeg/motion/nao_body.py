"""A whole Nao on its legs: where its mass is, and how it balances.

    body = NaoBody(scene.robot("nao-v6-1"))
    body.centre_of_mass(legs)                       # angles of the legs (N, 2, 6) to (N, 3), seen from the torso
    torso, found = body.balance(centre, height, turned, feet)

Arms and head are held still. Masses and their places are those of the compiled robot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.body.build import build
from nutmeg.body.posing import pose_angles
from nutmeg.errors import ModelError, UnknownNameError
from nutmeg.motion.nao_legs import LegAngles, NaoLegs, Pose, apply, turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.body.tables import RobotTable


AXES = (2, 0, 1, 1, 1, 0)
"""Axes of a leg's joints from the hip down, after the tilt of HipYawPitch."""
ROUNDS = 20
BALANCED = 1e-6
"""How near the centre of mass must come to its place [m]."""
DRAG = 1.2
"""Overcorrection, for the centre of mass moves less than the torso."""


class NaoBody:
    """A whole Nao on its legs, with arms and head held still: where its mass is, and how it balances.

    Args:
        table: the robot.
        held: angles of joints other than the legs' that differ from the pose `ready` [rad].

    Attributes:
        legs: its legs.
        ready: angles of all joints in `ready`, changed by `held`, (joints,) [rad].
        home: commands of the pose `ready` itself, (motors,) [rad].
        motor_legs: of each motor its joint of the legs, 6 for a leg and left before right, or -1, (motors,).
        mass: of the whole robot [kg].
    """

    def __init__(self, table: RobotTable, held: Mapping[str, float] | None = None) -> None:
        self.table = table
        self.legs = NaoLegs(table)
        self.ready = pose_angles(table.settings, table, "ready")
        self.home = self.ready[table.motor_joints]
        legs = [name for leg in self.legs.names for name in leg]
        for name, angle in (held or {}).items():
            if name not in table.joints or name in legs:
                upper = [j for j in table.joints if j not in legs]
                raise UnknownNameError(f"joint of {table.name} that can be held", name, upper)
            self.ready[table.joints.index(name)] = angle
        self._columns = np.array([[table.joints.index(name) for name in leg] for leg in self.legs.names])
        flat = self._columns.ravel().tolist()
        self.motor_legs = np.array([flat.index(j) if j in flat else -1 for j in table.motor_joints.tolist()])
        masses, self._steps, self._coms, self._upper = _distribution(self)
        self.mass = float(masses.sum())
        self._shares = masses / self.mass

    @property
    def ready_legs(self) -> Floats:
        """Angles of the legs in `ready`, (2, 6) [rad]."""
        return np.asarray(self.ready[self._columns] * self.legs.signs)

    def motors(self, legs: Floats) -> Floats:
        """Commands for all motors, (N, motors), from the angles of the legs, (N, 2, 6)."""
        joints = np.broadcast_to(self.ready, (*legs.shape[:-2], len(self.ready))).copy()
        joints[..., self._columns] = legs * self.legs.signs
        return np.asarray(joints[..., self.table.motor_joints])

    def centre_of_mass(self, legs: ArrayLike) -> Floats:
        """The centre of mass as the torso sees it: angles of the legs (N, 2, 6) to (N, 3) [m]."""
        return np.asarray(self._shares @ self._parts(np.asarray(legs, float)))

    def zmp(self, torso: Pose, legs: Floats, period: float, *, gravity: float = GRAVITY) -> Floats:
        """The zero-moment point of a motion sampled every `period` seconds, (T, 2) [m].

        Torso (T, 3) and (T, 3, 3), angles of the legs (T, 2, 6). Unlike in the cart-table model each link is a
        mass of its own, so that swinging legs count; the links' own inertias do not.
        """
        places = torso.position[:, None] + self._parts(legs) @ np.swapaxes(torso.rotation, -1, -2)
        second = np.zeros_like(places)
        second[1:-1] = (places[2:] - 2 * places[1:-1] + places[:-2]) / period**2
        down = self._shares * (second[..., 2] + gravity)
        moment = down[..., None] * places[..., :2] - (self._shares * places[..., 2])[..., None] * second[..., :2]
        return np.asarray(moment.sum(axis=1) / down.sum(axis=1)[:, None])

    def _parts(self, legs: Floats) -> Floats:
        """Centres of mass of the upper body and of the twelve links as the torso sees them, (N, 13, 3)."""
        frame = self.legs.pelvis(legs[..., 0])
        place = np.broadcast_to(self._steps[:, 0], frame.shape[:-1])
        parts = [np.broadcast_to(self._upper, (*legs.shape[:-2], 1, 3))]
        for link in range(len(AXES)):
            if link:
                place = place + apply(frame, self._steps[:, link])
                frame = frame @ turn(AXES[link], legs[..., link])
            parts.append(place + apply(frame, self._coms[:, link]))
        return np.concatenate(parts, axis=-2)

    def balance(
        self, centre: Floats, height: ArrayLike, turned: Floats, feet: Pose, *, guess: Floats | None = None
    ) -> tuple[Pose, LegAngles]:
        """Where the torso must be for the centre of mass to be above a place.

        Args:
            centre: wanted x and y of the centre of mass, (N, 2) [m].
            height: of the torso's origin, () or (N,) [m].
            turned: rotation of the torso, (N, 3, 3).
            feet: the soles, (N, 2, 3) and (N, 2, 3, 3).
            guess: a place of the torso to begin from, (N, 3) [m].

        Moving the torso drags part of the legs along, about four fifths of the mass, so repeating the correction
        converges quickly; it ends when the centre of mass is right to a micrometre.
        """
        about_there = centre if guess is None else guess[..., :2]
        place = np.concatenate([about_there, np.broadcast_to(height, centre.shape[:-1])[..., None]], axis=-1)
        found = self.legs.inverse(Pose(place, turned), feet)
        for _ in range(ROUNDS):
            missing = centre - (place + apply(turned, self.centre_of_mass(found.angles)))[..., :2]
            if np.abs(missing).max() < BALANCED:
                break
            place[..., :2] += DRAG * missing
            found = self.legs.inverse(Pose(place, turned), feet)
        return Pose(place, turned), found


def _distribution(body: NaoBody) -> tuple[Floats, Floats, Floats, Floats]:
    """Where the mass is, from the compiled robot.

    Returns masses of the upper body and of the twelve links (13,), the way from one joint of a leg to the next
    (2, 6, 3), centres of mass of the links from their joints (2, 6, 3), and the upper body's in the torso (3,).
    """
    table = body.table
    model = build(table.settings, kind=table.kind, visuals=False).compile()
    data = mujoco.MjData(model)
    for joint in table.joints:
        data.qpos[model.joint(joint).qposadr[0]] = 0.0
    mujoco.mj_kinematics(model, data)
    joints = np.array([[model.joint(name).id for name in leg] for leg in body.legs.names])
    links = model.jnt_bodyid[joints]
    steps = np.diff(data.xanchor[joints] - data.xpos[1], axis=1, prepend=0.0)
    coms = model.body_ipos[links] - model.jnt_pos[joints]
    for joint, angle in zip(table.joints, body.ready, strict=True):
        data.qpos[model.joint(joint).qposadr[0]] = angle
    mujoco.mj_kinematics(model, data)
    on_legs = _descendants(model, links[:, 0])
    extra = [b for b in on_legs - set(links.flat) if model.body_mass[b] > _NEGLIGIBLE]
    if extra:
        name = model.body(extra[0]).name
        raise ModelError(f"{table.name} has the body {name!r} on its leg, which is none of a Nao's six links.")
    upper = [b for b in range(1, model.nbody) if b not in on_legs]
    weight = model.body_mass[upper]
    centre = weight @ (data.xipos[upper] - data.xpos[1]) / weight.sum()
    masses = np.concatenate([[weight.sum()], model.body_mass[links].T.ravel()])
    return masses, steps, coms, centre


def _descendants(model: mujoco.MjModel, roots: Floats) -> set[int]:
    """Bodies on some others, these included; a child always comes after its parent."""
    found = {int(root) for root in roots}
    for body in range(1, model.nbody):
        if int(model.body_parentid[body]) in found:
            found.add(body)
    return found


_NEGLIGIBLE = 1e-5
"""Mass of a drive's own parts that need not be counted [kg]."""
