"""Steps of the league's engine against the closed forms of its equations, and against the engine itself."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import ModelError, SimulationError
from nutmeg.model.ode import gaps_of, is_ode
from nutmeg.model.physics import native_profile, physics_profile
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.sim.control_callback import install_for
from nutmeg.sim.worlds import Worlds

H, SLIP, CFM, ERP, LAYER = 0.02, 5e-3, 1e-4, 0.4, 0.001


def scene_of(*, field: str = "floor", ball: str = "none", height: float = 0.0, **more: object) -> Scene:
    placement = Placement(robot="nao-spark", name="r", pose="zero", height=height, **more)  # type: ignore[arg-type]
    return assemble(SceneSettings(field=field, ball=ball, robots=(placement,), visuals=False))


@pytest.fixture(scope="module")
def standing() -> Worlds:
    worlds = Worlds(scene_of(), keep_data=True)
    worlds.step(200)
    return worlds


def test_a_standing_robot_is_as_deep_in_the_ground_as_its_weight_presses_it(standing: Worlds) -> None:
    data = standing.batch.get_data(0)
    # At rest the row of a contact says erp (depth - layer) / h = cfm f; both feet have four corners.
    weight = 9.81 * standing.scene.model.body_mass.sum()
    depths = -np.array([contact.dist for contact in data.contact if contact.efc_address >= 0])
    assert len(depths) == 8
    assert depths.mean() == pytest.approx(LAYER + CFM * weight / 8 * H / ERP, abs=2e-6)


def test_a_pushed_robot_slides_as_fast_as_the_slip_of_its_contacts_allows(standing: Worlds) -> None:
    robot = standing.robot("r")
    standing.step(20)
    before = robot.pose[0, 1]
    robot.push([0.0, 1.6, 0.0])
    standing.step(50)
    robot.push(0.0)
    assert (robot.pose[0, 1] - before) / (50 * H) == pytest.approx(SLIP * 1.6 / 8, rel=0.1)


def test_drives_turn_at_their_speed_at_once_and_no_faster_than_they_can() -> None:
    worlds = Worlds(scene_of(field="none", height=1.0))
    robot = worlds.robot("r")
    column = robot.table.motors.index("raj1")
    command = np.zeros((1, len(robot.table.motors)))
    for asked, given in ((2.0, 2.0), (-50.0, -6.1395)):
        command[0, column] = asked
        robot.command = command
        worlds.step()
        assert robot.rates[0, robot.table.joints.index("raj1")] == pytest.approx(given, abs=1e-6)


def test_a_turn_is_short_by_what_the_engines_quaternions_lack() -> None:
    worlds = Worlds(scene_of(field="none", held=True))
    robot, cycles = worlds.robot("r"), 15
    command = np.zeros((1, len(robot.table.motors)))
    command[0, robot.table.motors.index("raj1")] = -6.0
    robot.command = command
    worlds.step(cycles + 1)
    turned = robot.angles[0, robot.table.joints.index("raj1")]
    # The last step is put right in the next one.
    assert turned == pytest.approx(-cycles * 2 * np.arctan(6.0 * H / 2) - 6.0 * H, abs=2e-4)


def test_a_swinging_leg_stands_off_from_its_joint_by_the_way_its_centre_goes_round() -> None:
    scene = scene_of(field="none", held=True)
    worlds = Worlds(scene, keep_data=True)
    robot = worlds.robot("r")
    command = np.zeros((1, len(robot.table.motors)))
    command[0, robot.table.motors.index("raj1")] = -6.0
    robot.command = command
    worlds.step(60)
    data = worlds.batch.get_data(0)
    body = scene.model.body("r/RUpperArm").id
    off = gaps_of(scene.model, data.userdata)[body, :3]
    pivot = data.xanchor[scene.model.joint("r/raj1").id]
    arm = data.xipos[body] - pivot
    arm[1] = 0.0  # along the axis nothing goes round
    # In each step the gap closes by a fifth and opens by w^2 r h^2 / 2, away from the pivot.
    assert np.linalg.norm(off) == pytest.approx(5 * np.linalg.norm(arm) * (6.0 * H) ** 2 / 2, rel=0.1)
    assert off @ arm > 0.8 * np.linalg.norm(off) * np.linalg.norm(arm)


def test_a_joint_takes_up_what_its_bodies_are_turned_about_its_axis() -> None:
    # ODE's joints pull nothing back in this direction: bodies that are turned away there would turn by themselves.
    scene = scene_of(field="none", held=True)
    worlds, model = Worlds(scene, keep_data=True), scene.model
    command = np.random.default_rng(3).uniform(-6.0, 6.0, (1, len(worlds.robot("r").table.motors)))
    worlds.robot("r").command = command
    worlds.step(6)
    data = worlds.batch.get_data(0)
    away = gaps_of(model, data.userdata)[:, 3:6]
    hinges = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE)
    bodies = model.jnt_bodyid[hinges]
    apart = away[bodies] - away[model.body_parentid[bodies]]
    assert np.abs(apart).max() > 1e-3
    assert np.abs(np.einsum("ij,ij->i", apart, data.xaxis[hinges])).max() < 1e-4


@pytest.mark.parametrize(("name", "stop", "leaves"), [("llj5", 0, True), ("raj2", 1, False)])
def test_a_joint_that_rests_at_its_stop_hears_a_command_only_where_the_leagues_rounding_lets_it(
    name: str, stop: int, leaves: bool
) -> None:
    # As measured on rcssserver3d: an arm that was laid against its stop at 1 degree stays there.
    worlds = Worlds(scene_of(field="none", held=True))
    robot = worlds.robot("r")
    column, limits = robot.table.joints.index(name), robot.table.limits[robot.table.joints.index(name)]
    worlds.qpos[0, robot.table.angles[column]] = limits[stop] + (1e-4 if stop else -1e-4)
    worlds.step(20)  # told nothing, which lets a drive press it into the stop
    assert robot.angles[0, column] == pytest.approx(limits[stop], abs=1e-6)
    command = np.zeros((1, len(robot.table.motors)))
    command[0, robot.table.motors.index(name)] = 2.0 if stop == 0 else -2.0
    robot.command = command
    worlds.step(10)
    assert (abs(robot.angles[0, column] - limits[stop]) > 0.3) == leaves


def test_worlds_are_stepped_alike_on_any_number_of_threads_and_beside_other_models(standing: Worlds) -> None:
    scene = scene_of(height=0.02)
    ends = []
    for threads in (1, 2):
        worlds = Worlds(scene, 3, threads=threads)
        for cycle in range(40):
            worlds.robot("r").command = np.sin(0.2 * cycle + np.arange(22) + np.arange(3)[:, None])
            worlds.step()
        ends.append(worlds.qpos.copy())
    assert np.array_equal(*ends)
    assert not np.array_equal(ends[0][0], ends[0][1])


def test_a_state_that_is_only_looked_at_does_not_change() -> None:
    worlds = Worlds(scene_of(height=0.02), 2, keep_data=True)
    for cycle in range(30):
        worlds.robot("r").command = np.sin(0.2 * cycle + np.arange(22))[None].repeat(2, axis=0)
        worlds.step()
        worlds.refresh([1])
        worlds.refresh([1])
    assert worlds.qpos[0] == pytest.approx(worlds.qpos[1], abs=1e-4)


def test_no_part_of_a_robot_touches_another() -> None:
    worlds = Worlds(scene_of(field="none", held=True), keep_data=True)
    worlds.robot("r").command = np.full((1, 22), -3.0)
    for _ in range(30):
        worlds.step()
        assert worlds.batch.get_data(0).ncon == 0


def test_only_marked_models_are_stepped_so() -> None:
    native = assemble(dataclasses.replace(scene_of().settings, physics=native_profile("league")))
    assert physics_profile("league").ode
    assert is_ode(scene_of().model)
    assert not is_ode(native.model)
    data = mujoco.MjData(native.model)
    assert not install_for(data, native.model)


def test_a_callback_of_somebody_else_is_told() -> None:
    scene = scene_of()
    worlds = Worlds(scene)
    mine = mujoco.get_mjcb_control()
    mujoco.set_mjcb_control(None)
    try:
        with pytest.raises(SimulationError, match="the physics profile league"):
            worlds.step()
        mujoco.set_mjcb_control(lambda model, data: None)
        with pytest.raises(ModelError, match="another one is installed"):
            Worlds(scene)
    finally:
        mujoco.set_mjcb_control(mine)
    worlds.step()
