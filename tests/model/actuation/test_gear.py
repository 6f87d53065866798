"""Gears against their closed forms: free travel, deflection, energy, stability."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import ModelError
from nutmeg.model import load_robot
from nutmeg.model.actuation import LINK_END_SUFFIX, load_actuation
from nutmeg.model.actuation.settings import Actuation, Battery, Flex, Gear, Servo
from nutmeg.model.build import build
from nutmeg.model.physics import Physics
from nutmeg.model.robot import Body, Drive, Joint, RobotSettings, Shape

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


# ----------------------------------------------------------------------------------------------------
# Bending links against the rigid ones that they replace.


LINKS = ("LThigh", "LTibia", "RThigh", "RTibia")


def nao(actuation: Actuation | None) -> Any:
    return build(load_robot("nao-v6"), visuals=False, physics=Physics(timestep=0.001), actuation=actuation).compile()


def only_flex(**changed: Any) -> Actuation:
    return Actuation(flex={"legs": Flex(**{"bodies": ("*Thigh", "*Tibia"), "friction": 0.0, **changed})})


def composite(model: Any, names: list[str], origin: str) -> tuple[float, Any, Any]:
    """Mass, centre of mass and inertia about it, in the frame of the body `origin`, of bodies at angle zero."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    base = model.body(origin).id
    turn = data.xmat[base].reshape(3, 3).T
    ids = [model.body(n).id for n in names]
    masses = model.body_mass[ids]
    places = np.array([turn @ (data.xipos[i] - data.xpos[base]) for i in ids])
    centre = masses @ places / masses.sum()
    inertia = np.zeros((3, 3))
    for i, place in zip(ids, places, strict=True):
        axes = turn @ data.ximat[i].reshape(3, 3)
        away = place - centre
        inertia += axes @ np.diag(model.body_inertia[i]) @ axes.T
        inertia += model.body_mass[i] * (away @ away * np.eye(3) - np.outer(away, away))
    return float(masses.sum()), centre, inertia


@pytest.mark.parametrize("link", LINKS)
def test_the_two_halves_have_the_mass_centre_and_inertia_of_the_link(link: str) -> None:
    rigid, bending = nao(None), nao(only_flex())
    mass, centre, inertia = composite(rigid, [link], link)
    halves = composite(bending, [link, link + LINK_END_SUFFIX], link)
    assert halves[0] == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(halves[1], centre, atol=1e-12)
    np.testing.assert_allclose(halves[2], inertia, atol=1e-10 * np.trace(inertia) + 1e-12)


def test_the_whole_robot_weighs_and_stands_as_before() -> None:
    rigid, bending = nao(None), nao(load_actuation(load_robot("nao-v6"), "motoflex"))
    assert bending.body_mass.sum() == pytest.approx(rigid.body_mass.sum(), rel=1e-4), "but for the rotors"
    places = []
    for model in (rigid, bending):
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        places.append((data.body("l_ankle").xpos.copy(), data.subtree_com[0].copy()))
    np.testing.assert_allclose(places[0][0], places[1][0], atol=1e-9)
    np.testing.assert_allclose(places[0][1], places[1][1], atol=1e-5)


def test_left_and_right_bend_alike() -> None:
    """The published inertias of left and right differ by 1 %, and with them where the halves' centres are put."""
    model = nao(only_flex())
    for link in ("Thigh", "Tibia"):
        left, right = model.body(f"L{link}{LINK_END_SUFFIX}").id, model.body(f"R{link}{LINK_END_SUFFIX}").id
        assert model.body_mass[left] == pytest.approx(model.body_mass[right], rel=1e-9)
        np.testing.assert_allclose(model.body_pos[left] * [1, -1, 1], model.body_pos[right], atol=1e-9)
        np.testing.assert_allclose(model.body_ipos[left] * [1, -1, 1], model.body_ipos[right], atol=3e-4)
        for number in (1, 2):
            springs = [model.joint(f"{side}{link}{LINK_END_SUFFIX}.bend_{number}") for side in "LR"]
            assert springs[0].stiffness == springs[1].stiffness
            assert model.dof_armature[springs[0].dofadr[0]] == model.dof_armature[springs[1].dofadr[0]]


def rod(flex: Flex, *, timestep: float = 0.001) -> Any:
    """A rod of 0.4 m that hangs from the world, with a tip, without weight."""
    link = Body(
        name="rod", parent="stand", mass=0.4, com=(0.0, 0.0, -0.2), inertia=(5e-3, 5e-3, 1e-3, 0.0, 0.0, 0.0)
    )  # fmt: skip
    tip = Body(
        name="tip", parent="rod", pos=(0.0, 0.0, -0.4), mass=0.1, com=(0.0, 0.0, 0.0),
        inertia=(1e-4, 1e-4, 1e-4, 0.0, 0.0, 0.0),
    )  # fmt: skip
    robot = RobotSettings(
        format=1, name="rod", source="", licence="", base="fixed", body=(Body(name="stand"), link, tip)
    )  # fmt: skip
    model = build(robot, physics=Physics(timestep=timestep), actuation=Actuation(flex={"rod": flex})).compile()
    model.opt.gravity[:] = 0.0
    return model


@pytest.mark.parametrize("number", [0, 1])
def test_a_torque_bends_the_link_by_torque_over_stiffness(number: int) -> None:
    model = rod(Flex(bodies=("rod",), stiffness=50.0, damping=1.0))
    assert [model.joint(j).name for j in range(model.njnt)] == ["rod.end.bend_1", "rod.end.bend_2"]
    data = mujoco.MjData(model)
    axis = np.array(model.jnt_axis[number])
    for _ in range(3000):
        data.xfrc_applied[model.body("tip").id, 3:] = 2.0 * axis
        mujoco.mj_step(model, data)
    assert data.qpos[number] == pytest.approx(2.0 / 50.0, rel=0.01)
    assert abs(data.qpos[1 - number]) < 1e-3


def test_the_springs_lie_across_the_link_and_each_other() -> None:
    model = rod(Flex(bodies=("rod",)))
    first, second = model.jnt_axis
    assert abs(first @ second) < 1e-12
    assert abs(first[2]) < 1e-12
    assert abs(second[2]) < 1e-12


def test_dry_friction_damps_the_swing_of_a_bent_link() -> None:
    left = []
    for friction in (0.0, 0.2):
        model = rod(Flex(bodies=("rod",), stiffness=500.0, damping=0.0, friction=friction))
        data = mujoco.MjData(model)
        data.qpos[0] = 0.02
        late = 0.0
        for _ in range(1000):
            mujoco.mj_step(model, data)
            late = max(late, abs(data.qpos[0])) if data.time > 0.7 else 0.0
        left.append(late)
    assert left[0] > 0.015
    assert left[1] < 0.2 * left[0]


@pytest.mark.parametrize("timestep", [0.0005, 0.001, 0.002, 0.004])
def test_a_bent_link_swings_back_at_any_step_without_gaining(timestep: float) -> None:
    model = rod(Flex(bodies=("rod",), stiffness=500.0, damping=0.2), timestep=timestep)
    data = mujoco.MjData(model)
    data.qpos[0] = 0.05
    largest = 0.0
    for _ in range(round(2.0 / timestep)):
        mujoco.mj_step(model, data)
        largest = max(largest, abs(data.qpos[0]))
    assert largest <= 0.05 * 1.01
    assert abs(data.qpos[0]) < 0.005


def test_a_stiff_robot_moves_like_the_rigid_one() -> None:
    """Joint angles within 2 mrad over 1 s of a kick in the air, springs of 20 kN m/rad at 0.25 ms."""
    robot = load_robot("nao-v6")
    stiff = only_flex(stiffness=2e4, damping=5.0)
    angles = []
    for actuation in (None, stiff):
        model = build(robot, visuals=False, physics=Physics(timestep=0.00025), actuation=actuation).compile()
        model.opt.gravity[:] = 0.0
        data = mujoco.MjData(model)
        knee, motor = int(model.joint("LKneePitch").qposadr[0]), model.actuator("LKneePitch").id
        path = []
        for step in range(2000):
            data.ctrl[model.actuator_ctrladr[motor]] = 0.3 * (1 - math.cos(2 * math.pi * step / 2000))
            mujoco.mj_step(model, data)
            path.append(float(data.qpos[knee]))
        angles.append(np.array(path))
    assert angles[0].max() > 0.5
    assert np.abs(angles[0] - angles[1]).max() < 2e-3


def test_a_link_without_length_or_inertia_cannot_bend() -> None:
    with pytest.raises(ModelError, match="'l_ankle' cannot bend: nothing hangs on it"):
        nao(only_flex(bodies=("l_ankle",)))
    link = Body(name="a", mass=1.0)
    end = Body(name="b", parent="a", pos=(0.0, 0.0, 0.2), mass=0.1, joint=Joint(name="j"))
    shapes = tuple(Shape(body=n, type="sphere", size=(0.05,), role="both") for n in "ab")
    robot = RobotSettings(format=1, name="x", source="", licence="", body=(link, end), shape=shapes)
    with pytest.raises(ModelError, match="'a' cannot bend: it needs an inertia of its own"):
        build(robot, actuation=Actuation(flex={"f": Flex(bodies=("a",))}))


def test_flex_can_be_switched_off() -> None:
    full = load_actuation(load_robot("nao-v6"), "motoflex")
    assert full is not None
    without = nao(dataclasses.replace(full, flex={}))
    assert not [j for j in range(without.njnt) if ".bend_" in without.joint(j).name]
