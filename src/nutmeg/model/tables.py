"""Tables that resolve names: where a robot's joints, motors and sensors are in the model's arrays.

Every array of a robot has the order of its table, so no name is looked up while a simulation runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import UnknownNameError
from nutmeg.model.actuation import HIDDEN_JOINTS, MOTOR_SIDE_SUFFIX, ROTOR_SUFFIX
from nutmeg.model.actuation.printed import is_printed
from nutmeg.model.build import parts_of_type
from nutmeg.model.ode import DRIVE_MARK, MARK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.model.robot import RobotSettings
    from nutmeg.model.sensors import Sensor


@dataclass(frozen=True)
class RobotTable:
    """One robot's place in the arrays of a model."""

    name: str
    """Its name in the scene."""
    settings: RobotSettings
    kind: str
    """Its type, empty for the plain one."""
    body: int
    """Id of its root body."""
    root: int
    """Address of its root's pose (7 numbers) in qpos; -1 for a fixed robot."""
    root_rate: int
    """Address of its root's velocity (6 numbers) in qvel; -1 for a fixed robot."""
    joints: tuple[str, ...]
    angles: Indices
    """Addresses of the joints in qpos, (joints,)."""
    rates: Indices
    """Addresses of the joints in qvel, (joints,)."""
    motors: tuple[str, ...]
    """Names of the motors, in the order of commands. An actuator of a user's file that drives no hinge or slide is not
    among them and keeps its command of the start."""
    motor_joints: Indices
    """Index of each motor's joint in `joints`, (motors,)."""
    commands: Indices
    """Addresses of the motors in ctrl, (motors,)."""
    setpoints: Indices
    """Addresses of the motors' moving set-points in act, -1 where there is none, (motors,)."""
    drives: tuple[str, ...]
    """The kind of each motor's command: `position`, `velocity`, or (only in users' model files) `torque`, (motors,)."""
    hidden: Indices
    """Joints of the actuation (rotors, motor sides of gears, bends): address in qpos, address in qvel, and the
    index in `joints` of the joint whose angle they have at rest, -1 for zero, (hidden, 3)."""
    limits: Floats
    """Lowest and highest angle of each joint, infinite where it turns freely, (joints, 2) [rad]; of a slide [m]."""
    sensors: tuple[Sensor, ...]

    def at_rest(self, angles: Floats) -> Floats:
        """Angles of the hidden joints when the robot holds joint angles (..., joints), (..., hidden)."""
        padded = np.concatenate([angles, np.zeros((*angles.shape[:-1], 1))], axis=-1)
        return np.asarray(padded[..., self.hidden[:, 2]])

    def actuators(self, model: mujoco.MjModel) -> list[int]:
        """Ids of the motors among the actuators of the scene's model, (motors,)."""
        return [int(model.actuator(f"{self.name}/{motor}").id) for motor in self.motors]

    def motor_index(self, names: Iterable[str]) -> Indices:
        """Positions of the named motors in this robot's command arrays."""
        found = {name: i for i, name in enumerate(self.motors)}
        for name in names:
            if name not in found:
                raise UnknownNameError(f"motor of {self.name}", name, self.motors)
        return np.array([found[name] for name in names], dtype=np.intp)


def robot_table(model: mujoco.MjModel, name: str, robot: RobotSettings, kind: str) -> RobotTable:
    """Resolves the names of one robot in a compiled model."""
    prefix = f"{name}/"
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or "" for j in range(model.njnt)]
    mine = [j for j in range(model.njnt) if names[j].startswith(prefix)]
    hinges = [j for j in mine if model.jnt_type[j] in _ONE_NUMBER and not names[j].endswith(HIDDEN_JOINTS)]
    free = [j for j in mine if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE]
    joints = tuple(names[j].removeprefix(prefix) for j in hinges)
    actuators = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) or "" for i in range(model.nu)]
    mine_driven = {i: _joint_of(model, i, joints, prefix) for i in range(model.nu) if actuators[i].startswith(prefix)}
    motors = [i for i, joint in mine_driven.items() if joint is not None]
    motor_names = [actuators[i].removeprefix(prefix) for i in motors]
    motor_joints = [mine_driven[a] for a in motors]
    limited = model.jnt_limited[hinges].astype(bool) if hinges else np.zeros(0, bool)
    limits = np.where(limited[:, None], model.jnt_range[hinges].reshape(-1, 2), [-np.inf, np.inf])
    setpoints = np.array([_setpoint(model, a) for a in motors], dtype=np.intp)
    return RobotTable(
        name=name,
        settings=robot,
        kind=kind,
        body=int(model.jnt_bodyid[free[0]]) if free else _first_body(model, prefix),
        root=int(model.jnt_qposadr[free[0]]) if free else -1,
        root_rate=int(model.jnt_dofadr[free[0]]) if free else -1,
        joints=joints,
        angles=model.jnt_qposadr[hinges].astype(np.intp),
        rates=model.jnt_dofadr[hinges].astype(np.intp),
        motors=tuple(motor_names),
        motor_joints=np.array(motor_joints, dtype=np.intp),
        commands=np.array([int(model.actuator_ctrladr[a]) for a in motors], dtype=np.intp),
        setpoints=setpoints,
        drives=tuple(_drive_kind(model, a) for a in motors),
        hidden=_hidden(model, mine, prefix, joints),
        limits=limits,
        sensors=parts_of_type(robot, kind).sensor,
    )


def leg_joints(model: mujoco.MjModel, table: RobotTable) -> frozenset[str]:
    """Names of the joints between a robot's root and its feet; none if its file names no feet."""
    found = set()
    for foot in table.settings.feet:
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"{table.name}/{foot}")
        if body < 0:
            bodies = [model.body(b).name.removeprefix(f"{table.name}/") for b in range(1, model.nbody)]
            raise UnknownNameError("body", foot, bodies, where=f"feet of {table.settings.name}")
        while body not in (0, table.body):
            first = int(model.body_jntadr[body])
            found |= {
                model.joint(j).name.removeprefix(f"{table.name}/")
                for j in range(first, first + int(model.body_jntnum[body]))
            }
            body = int(model.body_parentid[body])
    return frozenset(found & set(table.joints))


def camera_names(model: mujoco.MjModel) -> list[str]:
    """The cameras of a model, as `<robot>/<camera>`."""
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_CAMERA, c) for c in range(model.ncam)]
    return [name for name in names if name]


def _hidden(model: mujoco.MjModel, mine: list[int], prefix: str, joints: tuple[str, ...]) -> Indices:
    """Addresses of the joints of the actuation, and the joint whose angle each has at rest."""
    rows = []
    for number in mine:
        name = model.joint(number).name.removeprefix(prefix)
        if name.endswith(HIDDEN_JOINTS):
            follows = joints.index(name.removesuffix(MOTOR_SIDE_SUFFIX)) if name.endswith(MOTOR_SIDE_SUFFIX) else -1
            rows.append((int(model.jnt_qposadr[number]), int(model.jnt_dofadr[number]), follows))
    return np.array(rows, dtype=np.intp).reshape(-1, 3)


SERVO_SLEW_LIMIT = 7
"""Place of the limit of a servo's set-point speed in the engine's `actuator_dynprm`."""
_ONE_NUMBER = (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value)
"""Joint types with one coordinate, which is a column of the arrays; slides come only from users' model files."""


def _joint_of(model: mujoco.MjModel, actuator: int, joints: tuple[str, ...], prefix: str) -> int | None:
    """Index of the joint that an actuator drives; None for those of users' files that pull tendons or push sites."""
    if model.actuator_trntype[actuator] != mujoco.mjtTrn.mjTRN_JOINT:
        return None
    found = model.joint(int(model.actuator_trnid[actuator, 0])).name.removeprefix(prefix)
    found = found.removesuffix(ROTOR_SUFFIX).removesuffix(MOTOR_SIDE_SUFFIX)
    return joints.index(found) if found in joints else None


def _setpoint(model: mujoco.MjModel, actuator: int) -> int:
    """Address of a motor's moving set-point; -1 for servos without one, whose states are current, heat and the like."""
    servo = model.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_DCMOTOR
    still = servo and not model.actuator_dynprm[actuator, SERVO_SLEW_LIMIT] > 0  # otherwise it is the first state
    still |= is_printed(model.actuator_dyntype[actuator], model.actuator_dynprm[actuator, 0])
    return -1 if still else int(model.actuator_actadr[actuator])


def _drive_kind(model: mujoco.MjModel, actuator: int) -> str:
    """The kind of an actuator's command, derived from its feedback (`biasprm`)."""
    if str(model.joint(int(model.actuator_trnid[actuator, 0])).name).endswith(ROTOR_SUFFIX):
        return "velocity"
    if model.actuator_gainprm[actuator, DRIVE_MARK] == MARK:
        return "velocity"
    if model.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_DCMOTOR:
        return "position"
    if is_printed(model.actuator_dyntype[actuator], model.actuator_dynprm[actuator, 0]):
        return "position"
    if model.actuator_biastype[actuator] != mujoco.mjtBias.mjBIAS_AFFINE:
        return "torque"
    angle, rate = model.actuator_biasprm[actuator, 1:3]
    return "position" if angle else "velocity" if rate else "torque"


def _first_body(model: mujoco.MjModel, prefix: str) -> int:
    return next(b for b in range(model.nbody) if model.body(b).name.startswith(prefix))
