"""One joint of a robot on a test rig: the trunk bolted down, no weight, every other joint locked at zero.

The rig is the robot's own model with everything taken out that is not about this joint, so the limb behind it
has its true inertia, and its servo, gear and bending links are those of any other scene. Stops are taken out as
well, so that the motor can be spun; contacts and gravity are off. What `supply` does once a control cycle (sag,
friction that grows with the load, stiffness) is not on the rig: it shows the servo as it is exported. N copies run
at once, each with its own commands and loads:

    rig = Rig("nao-v6", "LKneePitch", "motoflex")
    motion = rig.run(commands, loads)        # (rows, N) rad and N m, one row each 10 ms
    motion.angles                            # (rows, N)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from mujoco.batch import Batch

from nutmeg.body import Placement, SceneSettings, assemble
from nutmeg.body.actuation import END, MOTOR_SIDE, load_actuation
from nutmeg.body.actuation.groups import chosen
from nutmeg.errors import ModelError, SimulationError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Floats
    from nutmeg.body.actuation.settings import Actuation, Servo
    from nutmeg.body.identified import IdentifiedBody
    from nutmeg.body.scene import Scene
    from nutmeg.body.tables import RobotTable

PREFIX = "rig/"
PRINTED = "motoflex-paper"
"""The actuation that runs as a callback, beside the engine's own."""
LOCKED = 1e9
"""Inertia of a rotor that is held fast [kg m²]."""


@dataclass(frozen=True)
class Motion:
    """What the joint did."""

    times: Floats
    """(rows,) [s]"""
    angles: Floats
    """Of the joint at these times, (rows, N) [rad]."""
    rates: Floats
    """(rows, N) [rad/s]"""


class Rig:
    """A joint on the rig.

    Args:
        robot: name of a built-in robot, or path of a user's.
        joint: the joint; may be empty if the robot has only one motor.
        actuation: ideal, servo, motoflex, or the path of a TOML file.
        kind: one of the robot's types.
        timestep: of the physics [s].
        body: the robot's identified body.
    """

    def __init__(
        self,
        robot: str,
        joint: str,
        actuation: str,
        *,
        kind: str = "",
        timestep: float = 0.001,
        body: IdentifiedBody | None = None,
    ) -> None:
        if actuation == PRINTED:
            raise UsageError(f"{PRINTED} is not native in the engine, so it does not run on the rig; take motoflex.")
        placement = Placement(robot=robot, name=PREFIX[:-1], actuation=actuation, type=kind)
        if body is not None:
            placement = body.placed(placement, actuation=actuation)
        settings = SceneSettings(field="none", robots=(placement,), timestep=timestep, visuals=False)
        scene = assemble(settings)
        table = scene.robots[0]
        self.joint = checked_joint(table, joint)
        self.timestep = scene.timestep
        full = load_actuation(table.settings, scene.placements[0].actuation)
        self.servo = None if full is None else _servo_of(full, self.joint, table)
        """The servo of this joint; None for an ideal drive."""
        self.voltage = full.battery.voltage if full is not None else 0.0
        self.model = _stripped(scene, table, self.joint)
        index = table.joints.index(self.joint)
        low, high = (float(limit) for limit in table.limits[index])
        self.range = (low, high)
        """The joint's stops, infinite where it has none [rad]."""
        self.centre = (low + high) / 2 if math.isfinite(high - low) else 0.0
        """The angle about which it is tried out: the middle of its range [rad]."""
        hinge = self.model.joint(PREFIX + self.joint)
        self._angle, self._rate = int(hinge.qposadr[0]), int(hinge.dofadr[0])
        motor = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, PREFIX + self.joint + MOTOR_SIDE)
        self._rotor = int(self.model.jnt_dofadr[motor]) if motor >= 0 else -1
        self._turned = _turned_with(self.model, table, self.joint)

    @property
    def has_gear(self) -> bool:
        """Whether there is a gear between motor and joint."""
        return self._rotor >= 0

    @property
    def room(self) -> float:
        """How far the joint can turn from the centre to either side [rad]; one turn where it has no stops."""
        low, high = self.range
        return (high - low) / 2 if math.isfinite(high - low) else 2 * math.pi

    def inertia(self) -> float:
        """Inertia of limb and rotor as the motor sees it with a rigid gear [kg m²]."""
        data = mujoco.MjData(self.model)
        data.qpos[:] = self._start()
        mujoco.mj_forward(self.model, data)
        together = np.zeros(self.model.nv)
        together[[self.model.jnt_dofadr[j] for j in self._turned]] = 1.0
        out = np.zeros(self.model.nv)
        mujoco.mj_mulM(self.model, data, out, together)
        return float(together @ out)

    def run(
        self,
        commands: Floats,
        loads: Floats | None = None,
        *,
        period: float = 0.01,
        rotor_held: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Motion:
        """Starts at rest at the centre, and commands and loads the joint row by row.

        Args:
            commands: angles, (rows, N) [rad]; each row holds for one period.
            loads: torques from outside on the joint, (rows, N) [N m]; none if left out.
            period: of a row [s], a whole number of physics steps.
            rotor_held: hold the gear's motor side fast, to see the gear alone.
            on_progress: is told the rows done and in all.
        """
        rows, count = commands.shape
        steps = max(1, round(period / self.timestep))
        batch = self._batch(count, rotor_held=rotor_held)
        qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
        ctrl, outside = batch.bind("ctrl"), batch.bind("qfrc_applied")
        angles, rates = np.empty((rows, count)), np.empty((rows, count))
        for row in range(rows):
            angles[row], rates[row] = qpos[:, self._angle], qvel[:, self._rate]
            ctrl[:, 0] = commands[row]
            if loads is not None:
                outside[:, self._rate] = loads[row]
            batch.step(nstep=steps)
            if on_progress is not None and row % 50 == 0:
                on_progress(row, rows)
        self._check(angles, batch, steps)
        return Motion(np.asarray(np.arange(rows) * steps * self.timestep, float), angles, rates)

    def _batch(self, count: int, *, rotor_held: bool) -> Batch:
        """N copies at rest at the centre."""
        batch = Batch(self.model, count, 0)
        if rotor_held and self.has_gear:
            batch.expand("dof_armature")[:, self._rotor] = LOCKED
        batch.bind("qpos")[:] = self._start()
        batch.bind("ctrl")[:] = self.centre
        dcmotor = self.model.actuator_gaintype[0] == mujoco.mjtGain.mjGAIN_DCMOTOR
        if self.model.na and not dcmotor:
            batch.bind("act")[:] = self.centre
        if self.model.actuator_history[0, 0] > 0:
            data = mujoco.MjData(self.model)
            held = np.full(int(self.model.actuator_history[0, 0]), self.centre)
            mujoco.mj_initCtrlHistory(self.model, data, 0, None, held)
            batch.bind("history")[:] = data.history
        return batch

    def _start(self) -> Floats:
        qpos: Floats = self.model.qpos0.copy()
        for joint in self._turned:
            qpos[self.model.jnt_qposadr[joint]] = self.centre
        return qpos

    def _check(self, angles: Floats, batch: Batch, steps: int) -> None:
        bad = ~np.isfinite(angles) | (np.abs(angles) > 1e6)
        warned = batch.warning[:, _BAD_STATE, 1].sum() > 0
        if bad.any() or warned:
            row = int(np.flatnonzero(bad.any(axis=1))[0]) if bad.any() else len(angles)
            raise SimulationError(
                f"the joint {self.joint!r} became unstable on the rig before {row * steps * self.timestep:.3f} s at a "
                f"step of {self.timestep:g} s; take a shorter step or a softer gear."
            )


_BAD_STATE = [
    mujoco.mjtWarning.mjWARN_BADQPOS.value,
    mujoco.mjtWarning.mjWARN_BADQVEL.value,
    mujoco.mjtWarning.mjWARN_BADQACC.value,
]


def checked_joint(table: RobotTable, joint: str) -> str:
    """The joint that was asked for, or the only one; it must have a motor that takes angles."""
    robot = table.settings.name
    if not joint:
        if len(table.motors) != 1:
            raise UsageError(f"{robot} has {len(table.motors)} motors; say which joint: --joint {table.motors[0]}.")
        joint = table.joints[table.motor_joints[0]]
    for pair in table.settings.shared:
        if joint == pair.follower:
            raise UsageError(f"{joint} of {robot} has no motor of its own; it shares that of --joint {pair.leader}.")
    driven = [table.joints[index] for index in table.motor_joints]
    if joint not in driven:
        raise UnknownNameError("driven joint", joint, driven, where=robot)
    kind = table.drives[driven.index(joint)]
    if kind != "position":
        raise ModelError(f"the motor of {joint} of {robot} takes a {kind}; the rig needs one that takes an angle.")
    return joint


def _servo_of(actuation: Actuation, joint: str, table: RobotTable) -> Servo | None:
    for servo in actuation.servo.values():
        if joint in chosen(servo.joints, table.joints, "joint", f"servos of {table.settings.name}"):
            return servo
    return None


def _stripped(scene: Scene, table: RobotTable, joint: str) -> mujoco.MjModel:
    """The model with nothing that moves but the joint, what is geared to it, and the links that bend with it."""
    spec = mujoco.MjSpec.from_string(scene.xml)
    spec.option.gravity = [0.0, 0.0, 0.0]
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    motor = table.motors[[table.joints[i] for i in table.motor_joints].index(joint)]
    shared = [s for s in table.settings.shared if s.leader == joint]
    kept = {PREFIX + joint, PREFIX + joint + MOTOR_SIDE, *(PREFIX + s.follower for s in shared)}
    kept |= _bends(spec, spec.joint(PREFIX + joint))
    pairs = {f"{PREFIX}{s.leader}={s.follower}" for s in shared}
    _keep(spec, spec.keys, set())
    _keep(spec, spec.sensors, set())
    _keep(spec, spec.actuators, {PREFIX + motor})
    _keep(spec, spec.tendons, {f"{PREFIX}{joint}.gear"})
    _keep(spec, spec.equalities, pairs)
    _keep(spec, spec.joints, kept)
    for hinge in spec.joints:
        hinge.limited = mujoco.mjtLimited.mjLIMITED_FALSE
    spec.actuators[0].ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
    return spec.compile()


def _bends(spec: mujoco.MjSpec, joint: Any) -> set[str]:  # noqa: ANN401
    """Names of the bending joints between the trunk and the joint, and beyond it."""
    near, body = set(), joint.parent
    while body is not None and body.name != "world":
        near.add(body.name)
        body = body.parent
    beyond = {b.name for b in joint.parent.find_all(mujoco.mjtObj.mjOBJ_BODY)}
    return {hinge.name for hinge in spec.joints if f"{END}.bend_" in hinge.name and hinge.parent.name in near | beyond}


def _keep(spec: mujoco.MjSpec, things: Any, names: set[str]) -> None:  # noqa: ANN401
    for thing in list(things):
        if thing.name not in names:
            spec.delete(thing)


def _turned_with(model: mujoco.MjModel, table: RobotTable, joint: str) -> list[int]:
    """Ids of the joints that have the joint's angle: itself, the motor's side, and those that share its motor."""
    names = [joint, joint + MOTOR_SIDE, *(s.follower for s in table.settings.shared if s.leader == joint)]
    found = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, PREFIX + name) for name in names]
    return [number for number in found if number >= 0]
