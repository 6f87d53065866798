"""Names resolved once: where each robot's joints, motors and sensors are in the model's arrays.

Every array of a robot elsewhere in Nutmeg has the order of these tables, so nothing looks names up while it
runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.body.actuation import ROTOR
from nutmeg.body.build import of_type
from nutmeg.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from nutmeg.body.robot import RobotSettings
    from nutmeg.body.sensors import Sensor


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
    angles: NDArray[np.intp]
    """Addresses of the joints in qpos, (joints,)."""
    rates: NDArray[np.intp]
    """Addresses of the joints in qvel, (joints,)."""
    motors: tuple[str, ...]
    """The joints that have a motor, in the order of commands."""
    motor_joints: NDArray[np.intp]
    """Index of each motor's joint in `joints`, (motors,)."""
    commands: NDArray[np.intp]
    """Addresses of the motors in ctrl, (motors,)."""
    setpoints: NDArray[np.intp]
    """Addresses of the motors' moving set-points in act, -1 where there is none, (motors,)."""
    drives: tuple[str, ...]
    """Kind of each motor's drive, `position` or `velocity`, (motors,)."""
    limits: NDArray[np.float64]
    """Lowest and highest angle of each joint, infinite where it turns freely, (joints, 2) [rad]."""
    sensors: tuple[Sensor, ...]

    def motor_index(self, names: Iterable[str]) -> NDArray[np.intp]:
        """Positions of the named motors in this robot's command arrays."""
        found = {name: i for i, name in enumerate(self.motors)}
        for name in names:
            if name not in found:
                raise UnknownNameError(f"motor of {self.name}", name, self.motors)
        return np.array([found[name] for name in names], dtype=np.intp)


def robot_table(model: mujoco.MjModel, name: str, robot: RobotSettings, kind: str) -> RobotTable:
    """Resolves the names of one robot in a compiled model."""
    prefix = f"{name}/"
    mine = [j for j in range(model.njnt) if model.joint(j).name.startswith(prefix)]
    hinges = [
        j for j in mine if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE and not model.joint(j).name.endswith(ROTOR)
    ]
    free = [j for j in mine if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE]
    joints = tuple(model.joint(j).name.removeprefix(prefix) for j in hinges)
    motors = [a for a in range(model.nu) if model.actuator(a).name.startswith(prefix)]
    motor_names = [model.actuator(a).name.removeprefix(prefix) for a in motors]
    motor_joints = [_joint_of(model, a, joints, prefix) for a in motors]
    limited = model.jnt_limited[hinges].astype(bool) if hinges else np.zeros(0, bool)
    limits = np.where(limited[:, None], model.jnt_range[hinges].reshape(-1, 2), [-np.inf, np.inf])
    setpoints = np.array([model.actuator_actadr[a] for a in motors], dtype=np.intp)
    velocity = [_is_velocity_drive(model, a) for a in motors]
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
        drives=tuple("velocity" if v else "position" for v in velocity),
        limits=limits,
        sensors=of_type(robot, kind).sensor,
    )


def _joint_of(model: mujoco.MjModel, actuator: int, joints: tuple[str, ...], prefix: str) -> int:
    name = model.joint(int(model.actuator_trnid[actuator, 0])).name
    return joints.index(name.removeprefix(prefix).removesuffix(ROTOR))


def _is_velocity_drive(model: mujoco.MjModel, actuator: int) -> bool:
    return str(model.joint(int(model.actuator_trnid[actuator, 0])).name).endswith(ROTOR)


def _first_body(model: mujoco.MjModel, prefix: str) -> int:
    return next(b for b in range(model.nbody) if model.body(b).name.startswith(prefix))
