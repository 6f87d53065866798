"""A gear with play and elasticity, native in the engine.

The motor turns a rotor of its own; a fixed tendon measures how far the rotor is ahead of the joint, and its
spring has a dead band as wide as the play (two numbers for `springlength`): within it the rotor is free, beyond
it both push each other with the gear's stiffness and damping. The engine integrates springs explicitly, which
is stable while stiffness dt² is below four times the inertia on the softer side; the joint's side therefore has
an armature of at least stiffness dt²/2 (see `smallest_inertia`): 0.25 g m² at 1 ms, 4 g m² at 4 ms for a
stiffness of 500 N m/rad, against 5 to 12 g m² of the rotor itself.

The rotor's inertia is all in its armature, so that its spin does not turn the robot; it hangs on the driven
body because tendons must not span two kinematic trees (see `drives`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco

if TYPE_CHECKING:
    from nutmeg.body.actuation.settings import Gear

MOTOR_SIDE = ".motor"
"""Suffix of the joint and body on the motor's side of a gear."""
LINK_INERTIA = 2e-4
"""Armature of the joint's own side [kg m²]: the last wheel of the gear."""
SMALLEST_ROTOR = 1e-3
"""Armature of a rotor whose servo gives none [kg m²]."""


def smallest_inertia(stiffness: float, timestep: float) -> float:
    """The inertia with which a spring is stable at a step, with room to spare [kg m²]."""
    return stiffness * timestep**2 / 2


def add_gear(spec: mujoco.MjSpec, joint: Any, gear: Gear, timestep: float) -> Any:  # noqa: ANN401
    """Puts a gear between a joint and its motor; returns the joint on the motor's side."""
    rotor = joint.parent.add_body(name=joint.name + MOTOR_SIDE, explicitinertial=True)
    rotor.mass, rotor.inertia, rotor.ipos, rotor.gravcomp = 1e-6, [1e-6, 1e-6, 1e-6], [0, 0, 0], 1.0
    hinge = rotor.add_joint(name=joint.name + MOTOR_SIDE, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    hinge.armature = SMALLEST_ROTOR
    joint.armature = max(LINK_INERTIA, smallest_inertia(gear.stiffness, timestep))
    spring = spec.add_tendon(name=joint.name + ".gear")
    spring.wrap_joint(hinge.name, 1.0)
    spring.wrap_joint(joint.name, -1.0)
    spring.stiffness[0], spring.damping[0] = gear.stiffness, gear.damping
    spring.springlength = [-gear.play / 2, gear.play / 2]
    return hinge
