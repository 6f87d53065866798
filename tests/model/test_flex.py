"""Bending links against the rigid ones that they replace."""

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
from nutmeg.model.actuation.settings import Actuation, Flex
from nutmeg.model.build import build
from nutmeg.model.physics import Physics
from nutmeg.model.robot import Body, Joint, RobotSettings, Shape

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
