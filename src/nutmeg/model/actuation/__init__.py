"""Actuation: ideal drives, or realistic servos, gears with play and bending links.

| actuation        | motor                            | gear               | links                      |
|------------------|----------------------------------|--------------------|----------------------------|
| `ideal`          | drive with torque, speed limits  | rigid              | rigid                      |
| `servo`          | firmware, winding, friction      | rigid              | rigid                      |
| `motoflex`       | firmware, winding, friction      | play and spring    | bend about two axes        |
| `motoflex-paper` | algorithm 1 of MoToFlex          | algorithm 2        | bend about two axes        |

The first three are native MuJoCo; the last, their reference, runs the paper's algorithms as printed beside the
engine (see `sim.paper_motors`). The numbers of the last three are in the robot's `actuation.toml`, or in
a file of the user's own.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.base.settings import read_cached
from nutmeg.model.actuation.drives import ROTOR_SUFFIX, add_drives, drive_of_each_joint
from nutmeg.model.actuation.gear import LINK_END_SUFFIX, MOTOR_SIDE_SUFFIX, add_gear, with_bending_links
from nutmeg.model.actuation.printed import add_printed_motor
from nutmeg.model.actuation.servo import add_servo
from nutmeg.model.actuation.settings import BEND_SUFFIXES, Actuation, Gear, Servo, hinges, matching_names, share_motors

if TYPE_CHECKING:
    from collections.abc import Mapping

    import mujoco

    from nutmeg.model.physics import Physics
    from nutmeg.model.robot import RobotSettings

Group = TypeVar("Group", Servo, Gear)

ACTUATION_KINDS = ("ideal", "servo", "motoflex", "motoflex-paper")
"""Actuations by name; anything else is a path."""
HIDDEN_JOINTS = (ROTOR_SUFFIX, MOTOR_SIDE_SUFFIX, *BEND_SUFFIXES)
"""Ends of names of joints that belong to the actuation, not to the robot."""

__all__ = [
    "ACTUATION_KINDS",
    "HIDDEN_JOINTS",
    "LINK_END_SUFFIX",
    "MOTOR_SIDE_SUFFIX",
    "ROTOR_SUFFIX",
    "Actuation",
    "add_actuation",
    "load_actuation",
    "with_bending_links",
]


def load_actuation(robot: RobotSettings, name: str | Actuation) -> Actuation | None:
    """A robot's actuation by name, or a user's by path; None for ideal drives."""
    if isinstance(name, Actuation):
        return name
    if name == "ideal":
        return None
    if name not in ACTUATION_KINDS:
        path = Path(name)
        if path.suffix != ".toml":
            raise UnknownNameError("actuation", name, ACTUATION_KINDS)
        return read_cached(path, Actuation)
    if robot.model.actuation is None:
        raise ModelError(
            f"{robot.name} has no actuation.toml, so it has only ideal drives; write one (how-to 'Realistic motors') "
            f"and name it: --actuation my.toml"
        )
    full = read_cached(robot.model.actuation, Actuation)
    if name == "servo":
        return dataclasses.replace(full, gear={}, flex={})
    return dataclasses.replace(full, printed=True) if name == "motoflex-paper" else full


def add_actuation(spec: mujoco.MjSpec, robot: RobotSettings, actuation: Actuation | None, physics: Physics) -> None:
    """Gives every driven joint its motor: a servo where the actuation has one, else an ideal drive."""
    if actuation is None or not actuation.servo:
        add_drives(spec, robot, physics)
    else:
        _add_servos(spec, robot, actuation, physics)
    share_motors(spec, robot)


def _add_servos(spec: mujoco.MjSpec, robot: RobotSettings, actuation: Actuation, physics: Physics) -> None:
    if physics.integrator != "implicitfast":
        raise ModelError("servos need the implicitfast integrator: use the physics profile 'standard'.")
    joints, followers = hinges(spec), {s.follower for s in robot.shared}
    servos = _by_joint(robot, joints, actuation.servo, "servo")
    gears = _by_joint(robot, joints, actuation.gear, "gear")
    missing = [name for name in drive_of_each_joint(robot, joints) if name not in servos]
    if missing:
        raise ModelError(f"no servo drives the joint {missing[0]!r}; every joint with a drive needs one.")
    for name, servo in servos.items():
        if name in followers:
            continue
        joint = target = joints[name]
        if name in gears:
            _check_play(joint, gears[name].play)
        if actuation.printed:
            add_printed_motor(spec, joint, servo, gears.get(name), actuation, physics.timestep)
            continue
        if name in gears:
            target = add_gear(spec, joint, gears[name], physics.timestep)
        add_servo(spec, joint, target, servo, actuation.battery, physics.timestep)


def _by_joint(
    robot: RobotSettings, joints: Mapping[str, object], groups: Mapping[str, Group], kind: str
) -> dict[str, Group]:
    """The group of each joint; a joint in two groups is an error."""
    out: dict[str, Group] = {}
    for name, group in groups.items():
        for joint in matching_names(group.joints, joints, "joint", f"{kind} {name!r} of {robot.name}"):
            if joint in out:
                raise ModelError(f"joint {joint!r} is in {kind} {name!r} and in another one.")
            out[joint] = group
    return out


def _check_play(joint: mujoco.MjsJoint, play: float) -> None:
    low, high = (float(limit) for limit in joint.range)
    if low < high and play >= high - low:
        raise ModelError(
            f"the gear of joint {joint.name!r} has a play of {play:g} rad, but the joint turns only {high - low:g} rad "
            f"in all; allowed is 0 to {high - low:g}."
        )
