"""Gears against their closed forms: free travel, deflection, energy, stability."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.model.actuation.settings import Actuation, Battery, Gear, Servo
from nutmeg.model.build import build
from nutmeg.model.physics import Physics
from nutmeg.model.robot import Body, Drive, Joint, RobotSettings

PLAY, STIFFNESS = 0.03, 200.0
LIMP: dict[str, Any] = {"stall_torque": 1e-9, "p": 1e-6, "rotor_inertia": 2e-7}
STRONG: dict[str, Any] = {"stall_torque": 0.5, "p": 200.0, "rotor_inertia": 2e-7}
ROTOR_INERTIA = 2e-7 * 100**2


def pendulum(gear: Gear | None, servo: dict[str, Any], *, timestep: float = 0.001, weight: bool = True) -> Any:
    """A pendulum of 0.5 kg at 0.1 m on a servo with a gear."""
    joint = Joint(name="swing", axis=(0.0, 1.0, 0.0))
    arm = Body(
        name="arm", parent="stand", mass=0.5, com=(0.0, 0.0, -0.1), inertia=(1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0),
        joint=joint,
    )  # fmt: skip
    robot = RobotSettings(
        format=1, name="pendulum", source="", licence="", base="fixed", body=(Body(name="stand"), arm),
        drives={"drive": Drive(joints=("swing",))},
    )  # fmt: skip
    motor = Servo(joints=("swing",), no_load_speed=900.0, ratio=100.0, **servo)
    actuation = Actuation(
        battery=Battery(voltage=12.0), servo={"servo": motor}, gear={"gear": gear} if gear is not None else {}
    )
    model = build(robot, physics=Physics(timestep=timestep), actuation=actuation).compile()
    if not weight:
        model.opt.gravity[:] = 0.0
    return model


def gear(**changed: Any) -> Gear:
    return Gear(**{"joints": ("swing",), "play": PLAY, "stiffness": STIFFNESS, "damping": 0.5, **changed})


def dofs(model: Any) -> tuple[int, int]:
    """The joint's and the rotor's place in qpos and qvel."""
    return int(model.joint("swing").dofadr[0]), int(model.joint("swing.motor").dofadr[0])


def rest_under(model: Any, torque: float, seconds: float = 3.0) -> float:
    """Where the joint comes to rest under a torque while the rotor is held fast."""
    joint, rotor = dofs(model)
    model.dof_armature[rotor] = 1e9
    data = mujoco.MjData(model)
    data.qfrc_applied[joint] = torque
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    assert abs(data.qvel[joint]) < 1e-3
    return float(data.qpos[joint])


def test_a_held_gear_travels_freely_by_its_play() -> None:
    model, tiny = pendulum(gear(), LIMP, weight=False), 0.05
    width = rest_under(model, tiny) - rest_under(model, -tiny)
    assert width == pytest.approx(PLAY + 2 * tiny / STIFFNESS, rel=1e-3)


@pytest.mark.parametrize("torque", [0.5, 2.0, -2.0])
def test_beyond_the_play_it_gives_way_like_a_spring(torque: float) -> None:
    angle = rest_under(pendulum(gear(), LIMP, weight=False), torque)
    assert angle == pytest.approx(math.copysign(PLAY / 2 + abs(torque) / STIFFNESS, torque), rel=1e-3)


def test_without_play_it_is_a_plain_spring() -> None:
    angle = rest_under(pendulum(gear(play=0.0), LIMP, weight=False), 0.1)
    assert angle == pytest.approx(0.1 / STIFFNESS, rel=1e-3)


def test_a_joint_with_friction_follows_the_motor_with_a_loop_as_wide_as_the_play() -> None:
    model = pendulum(gear(damping=0.05), STRONG, weight=False)
    joint, rotor = dofs(model)
    model.dof_frictionloss[joint] = 0.1
    data = mujoco.MjData(model)
    path = []
    for step in range(16000):
        data.ctrl[0] = 0.3 * math.sin(2 * math.pi * step / 8000)
        mujoco.mj_step(model, data)
        path.append((data.qpos[rotor], data.qpos[joint], data.qvel[rotor]))
    motor, angle, rate = np.array(path[8000:]).T
    behind = motor - angle
    passing = np.abs(motor) < 0.05  # the motor has moved on by far more than the play since it turned round
    width = behind[passing & (rate > 0)].mean() - behind[passing & (rate < 0)].mean()
    assert width == pytest.approx(PLAY + 2 * 0.1 / STIFFNESS, rel=0.05)


def energy(model: Any, data: Any) -> float:
    mujoco.mj_forward(model, data)
    mujoco.mj_energyPos(model, data)
    mujoco.mj_energyVel(model, data)
    return float(data.energy.sum())


@pytest.mark.parametrize("timestep", [0.0005, 0.001, 0.002, 0.004])
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_a_passive_gear_never_makes_energy(damping: float, timestep: float) -> None:
    """The motor is off, the pendulum swings and rattles in its play.

    Semi-implicit Euler lets the energy of any oscillator of frequency w ripple by w dt of itself within a period,
    without a trend: so much above the start is allowed at any time, and 0.5 % in the mean over two seconds. A damped
    gear loses energy in every two seconds.
    """
    model = pendulum(gear(damping=damping), LIMP, timestep=timestep)
    joint, rotor = dofs(model)
    data = mujoco.MjData(model)
    lowest = energy(model, data)
    data.qpos[[joint, rotor]] = 1.2
    swing = energy(model, data) - lowest
    shares, ahead = [], 0.0
    for _ in range(round(10.0 / timestep)):
        mujoco.mj_step(model, data)
        ahead = max(ahead, abs(data.ten_length[0]))
        shares.append((energy(model, data) - lowest) / swing)
    frequency = math.sqrt(0.5 * 9.81 * 0.1 / (1e-3 + 0.5 * 0.1**2))
    means = np.array(shares).reshape(5, -1).mean(axis=1)
    assert ahead > PLAY / 2, "the gear was at its stops"
    assert max(shares) <= 1 + frequency * timestep
    assert means.max() <= 1.005
    if damping:
        assert (np.diff([1.0, *means]) < -0.01).all()


@pytest.mark.parametrize("timestep", [0.0005, 0.001, 0.002, 0.004])
def test_a_driven_gear_is_stable_and_comes_to_rest(timestep: float) -> None:
    model = pendulum(gear(stiffness=500.0, damping=1.0), STRONG, timestep=timestep)
    joint, _ = dofs(model)
    data = mujoco.MjData(model)
    data.ctrl[0] = 0.5
    fastest = 0.0
    for _ in range(round(3.0 / timestep)):
        mujoco.mj_step(model, data)
        fastest = max(fastest, abs(data.qvel[joint]))
    assert fastest < 30.0
    assert abs(data.qvel[joint]) < 0.05
    assert data.qpos[joint] == pytest.approx(0.5, abs=PLAY + 0.02)


def test_the_rotor_carries_the_motors_inertia_and_no_weight() -> None:
    model = pendulum(gear(), STRONG)
    joint, rotor = dofs(model)
    assert model.dof_armature[rotor] == pytest.approx(ROTOR_INERTIA)
    assert model.dof_armature[joint] < 0.2 * ROTOR_INERTIA
    assert model.body_mass.sum() == pytest.approx(0.5, abs=1e-5)


def test_a_rigid_play_free_gear_moves_like_none() -> None:
    """Within 1 % of the amplitude at 0.5 ms, the inertia of the gear's last wheel taken into account."""
    stiff = gear(play=0.0, stiffness=4000.0, damping=2.0)
    geared, plain = (pendulum(g, STRONG, timestep=0.0005, weight=False) for g in (stiff, None))
    plain.dof_armature[0] += geared.dof_armature[dofs(geared)[0]]
    one, other = mujoco.MjData(geared), mujoco.MjData(plain)
    worst = largest = 0.0
    for step in range(4000):
        one.ctrl[0] = other.ctrl[0] = 0.2 * math.sin(2 * math.pi * step / 2000)
        mujoco.mj_step(geared, one)
        mujoco.mj_step(plain, other)
        worst = max(worst, abs(one.qpos[dofs(geared)[0]] - other.qpos[0]))
        largest = max(largest, abs(other.qpos[0]))
    assert largest > 0.1
    assert worst < 0.01 * 0.2
