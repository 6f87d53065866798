"""Physics against closed forms: falling, swinging, drives with their limits, weights on feet, standing."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UnknownNameError
from nutmeg.model import Placement, SceneSettings, assemble, load_robot, robot_names
from nutmeg.model.build import build, parameter_values, parts_of_type
from nutmeg.model.geometry import evaluate
from nutmeg.model.physics import PROFILES, physics_profile
from nutmeg.model.posing import robot_facts
from nutmeg.sim import Worlds

G = 9.81
MASS, ARM, INERTIA = 0.5, 0.2, 0.002
WEIGHT = MASS * G * ARM
"""Torque of the level rod about its hinge [N m]."""
KINDS = [(name, kind) for name in robot_names() for kind in ("", *load_robot(name).types)]

ROD = """
format = 1
name = "rod"
source = "test"
licence = "CC0"
base = "fixed"
[[body]]
name = "stand"
mass = 1.0
inertia = [0.1, 0.1, 0.1, 0, 0, 0]
[[body]]
name = "rod"
parent = "stand"
mass = {mass}
com = {com}
inertia = [{inertia}, {inertia}, {inertia}, 0, 0, 0]
joint = {{ name = "swing", axis = {axis}, range = [-3, 3] }}
{drive}
"""


def rod(
    folder: Path, *, com: list[float], axis: tuple[int, int, int] = (0, 1, 0), drive: str = "", timestep: float = 0.0
) -> Worlds:
    """A rod on a fixed stand, hinged at the origin."""
    if drive:
        drive = f'[drives.servo]\njoints = ["swing"]\narmature = 0\n{drive}'
    text = ROD.format(mass=MASS, com=com, inertia=INERTIA, axis=list(axis), drive=drive)
    (folder / "robot.toml").write_text(text)
    placement = Placement(robot=str(folder), name="rod")
    return Worlds(assemble(SceneSettings(field="none", ball="none", robots=(placement,), timestep=timestep)))


def alone(name: str, kind: str = "", field: str = "floor") -> Worlds:
    placement = Placement(robot=name, name="r", type=kind)
    return Worlds(assemble(SceneSettings(field=field, ball="none", robots=(placement,), visuals=False)))


def centre_of_mass(worlds: Worlds) -> Floats:
    model, data = worlds.scene.model, worlds.batch.get_data(0)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return np.array(data.subtree_com[worlds.robots[0].table.body])


@pytest.mark.parametrize("name", robot_names())
def test_a_robot_in_empty_space_falls_as_galileo_says(name: str) -> None:
    worlds = alone(name, field="none")
    start = centre_of_mass(worlds)
    worlds.advance(0.4)
    fallen, step = start - centre_of_mass(worlds), worlds.scene.timestep
    air = worlds.scene.physics.air_density  # a little drag, for which there is no closed form
    assert fallen[:2] == pytest.approx([0, 0], abs=1e-4 if air else 1e-5)
    model, drag = worlds.scene.model, 0.0
    if worlds.scene.physics.ode:
        drag = model.body_user[1:, 0].sum() / model.body_mass.sum() * step
    # The integrator's own closed form: each step adds G step to the speed, and drag takes its share.
    speeds = [sum((1 - drag) ** k for k in range(n + 1)) * G * step for n in range(round(0.4 / step))]
    assert fallen[2] == pytest.approx(sum(speeds) * step, rel=3e-3 if air else 1e-4)
    assert fallen[2] == pytest.approx(G * 0.4**2 / 2, abs=G * 0.4 * step)


def test_a_pendulum_swings_with_the_period_of_its_inertia(tmp_path: Path) -> None:
    worlds = rod(tmp_path, com=[0, 0, -ARM], timestep=0.001)
    robot = worlds.robots[0]
    robot.angles[0, 0] = 0.02
    angles = []
    for _ in range(6000):
        worlds.step()
        angles.append(float(robot.angles[0, 0]))
    trace = np.array(angles)
    down = np.flatnonzero((trace[:-1] > 0) & (trace[1:] <= 0))
    crossings = down + trace[down] / (trace[down] - trace[down + 1])
    period = 2 * math.pi * math.sqrt((INERTIA + MASS * ARM**2) / WEIGHT)
    assert len(crossings) >= 5
    assert np.diff(crossings) * 0.001 == pytest.approx(period, rel=2e-3)


def test_a_swinging_pendulum_keeps_its_energy(tmp_path: Path) -> None:
    worlds = rod(tmp_path, com=[0, 0, -ARM], timestep=0.0005)
    robot = worlds.robots[0]
    robot.angles[0, 0] = 1.0
    worlds.advance(5.0)
    angle, rate = float(robot.angles[0, 0]), float(robot.rates[0, 0])
    energy = (INERTIA + MASS * ARM**2) * rate**2 / 2 - WEIGHT * math.cos(angle)
    assert energy == pytest.approx(-WEIGHT * math.cos(1.0), rel=0.01)


@pytest.mark.parametrize("stiffness", [20.0, 80.0])
def test_a_position_drive_gives_way_by_torque_over_stiffness(tmp_path: Path, stiffness: float) -> None:
    worlds = rod(tmp_path, com=[ARM, 0, 0], drive=f"stiffness = {stiffness}\ndamping = 1.0\n")
    worlds.advance(4.0)
    sag = float(worlds.robots[0].angles[0, 0])
    assert sag * stiffness == pytest.approx(WEIGHT * math.cos(sag), rel=1e-4)


def test_a_position_drive_moves_no_faster_than_its_speed(tmp_path: Path) -> None:
    drive = "stiffness = 60\ndamping = 3\nspeed = 0.5\n"
    worlds = rod(tmp_path, com=[ARM, 0, 0], axis=(0, 0, 1), drive=drive)
    robot = worlds.robots[0]
    robot.command = 1.0
    rates = []
    for _ in range(250):
        worlds.step()
        rates.append(float(robot.rates[0, 0]))
    assert max(rates) < 0.5 * 1.02
    lag = 3 * 0.5 / 60  # at constant speed the damping holds the servo back: stiffness * lag = damping * speed
    assert robot.angles[0, 0] == pytest.approx(0.5 * 1.0 - lag, abs=0.003)
    worlds.advance(2.0)
    assert robot.angles[0, 0] == pytest.approx(1.0, abs=1e-3)


def test_a_position_drive_stops_at_the_joint_limit(tmp_path: Path) -> None:
    worlds = rod(tmp_path, com=[ARM, 0, 0], axis=(0, 0, 1), drive="speed = 100\n")
    worlds.robots[0].command = 9.0
    worlds.advance(3.0)
    assert worlds.robots[0].angles[0, 0] == pytest.approx(3.0, abs=0.01)


def test_a_drive_that_is_too_weak_lets_the_limb_sag(tmp_path: Path) -> None:
    weak = rod(tmp_path, com=[ARM, 0, 0], drive=f"torque = {WEIGHT / 2}\n")
    weak.advance(0.8)
    (tmp_path / "strong").mkdir()
    strong = rod(tmp_path / "strong", com=[ARM, 0, 0], drive=f"torque = {WEIGHT * 1.5}\n")
    strong.advance(0.8)
    assert weak.robots[0].angles[0, 0] > 0.9
    assert strong.robots[0].angles[0, 0] == pytest.approx(WEIGHT / 100, rel=0.02)


def test_velocity_drives_turn_every_joint_at_the_commanded_speed_in_the_air() -> None:
    scene = assemble(SceneSettings(field="none", ball="none", robots=(Placement(robot="nao-spark", name="r"),)))
    table = scene.robots[0]
    worlds = Worlds(scene, len(table.motors))
    robot = worlds.robots[0]
    start = robot.angles[:, table.motor_joints].diagonal().copy()
    limits = table.limits[table.motor_joints]
    away = np.where(start - limits[:, 0] > limits[:, 1] - start, -0.4, 0.4)
    robot.command = np.diag(away)
    worlds.advance(0.2)
    rates = robot.rates[:, table.motor_joints]
    assert rates.diagonal() == pytest.approx(away, rel=0.01)
    others = rates[~np.eye(len(away), dtype=bool)]
    assert np.abs(others).max() < 0.004
    turned = robot.angles[:, table.motor_joints].diagonal() - start
    assert turned == pytest.approx(away * 0.2, rel=0.02)


def test_a_velocity_drive_told_zero_holds_its_load(tmp_path: Path) -> None:
    worlds = rod(tmp_path, com=[ARM, 0, 0], drive=f'kind = "velocity"\ntorque = {1.3 * WEIGHT}\n')
    worlds.advance(2.0)
    assert abs(worlds.robots[0].angles[0, 0]) < 1e-3


def test_a_velocity_drive_lifts_what_it_can_and_stalls_at_its_torque_limit(tmp_path: Path) -> None:
    found = {}
    for share in (0.7, 1.3):
        folder = tmp_path / str(share)
        folder.mkdir()
        worlds = rod(folder, com=[ARM, 0, 0], drive=f'kind = "velocity"\ntorque = {share * WEIGHT}\n')
        worlds.robots[0].command = -0.5
        worlds.advance(0.4)
        found[share] = float(worlds.robots[0].rates[0, 0])
    assert found[1.3] == pytest.approx(-0.5, rel=0.01)
    assert found[0.7] > 0.5  # the load wins


@pytest.mark.parametrize("name", [n for n in robot_names() if load_robot(n).shared])
def test_joints_on_one_motor_follow_each_other(name: str) -> None:
    worlds = alone(name, field="none")
    robot = worlds.robots[0]
    for pair in robot.table.settings.shared:
        assert pair.leader in robot.table.motors
        assert pair.follower not in robot.table.motors
        goal = robot.start.copy()
        goal[robot.table.motor_index([pair.leader])] = -0.4
        robot.command = goal
        apart = []
        for _ in range(20):
            worlds.advance(0.04)
            leader, follower = (robot.angles[0, robot.table.joints.index(j)] for j in (pair.leader, pair.follower))
            apart.append(abs(float(follower) - pair.ratio * float(leader)))
        assert max(apart) < 0.01
        assert leader == pytest.approx(-0.4, abs=0.02)


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_a_robot_weighs_what_its_table_says(name: str, kind: str) -> None:
    robot = load_robot(name)
    values = parameter_values(robot, kind, {})
    table = sum(evaluate(body.mass, values) for body in parts_of_type(robot, kind).body)
    assert robot_facts(robot, kind).mass_kg == pytest.approx(table, abs=2e-4)


@pytest.mark.parametrize(
    ("name", "kind"),
    [(n, k) for n, k in KINDS if any(s.type == "force" for s in parts_of_type(load_robot(n), k).sensor)],
)
def test_the_foot_force_sensors_of_a_standing_robot_add_up_to_its_weight(name: str, kind: str) -> None:
    worlds = alone(name, kind)
    data = worlds.batch.bind("sensordata")
    worlds.advance(4.0)
    model = worlds.scene.model
    pressed = 0.0
    for sensor in worlds.robots[0].table.sensors:
        if sensor.type == "force":
            pressed += float(data[0, int(model.sensor(f"r/{sensor.name}").adr[0])])
    assert pressed == pytest.approx(G * robot_facts(load_robot(name), kind).mass_kg, rel=0.01)


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_every_robot_stands_for_ten_seconds_in_its_ready_pose(name: str, kind: str) -> None:
    worlds = alone(name, kind)
    robot = worlds.robots[0]
    start = robot.pose[0].copy()
    worlds.advance(10.0)
    assert np.linalg.norm(robot.pose[0, :3] - start[:3]) < 0.03
    assert robot.uprightness()[0] > 0.97
    assert not worlds.diverged().any()


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_every_robot_compiles_and_steps_without_a_warning(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings into the current folder
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        worlds = alone(name, kind)
        worlds.advance(0.2)
        data = worlds.batch.get_data(0)
    assert not list(tmp_path.iterdir())
    assert not worlds.batch.warning[..., 1].any()
    assert np.isfinite(data.qpos).all()


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_what_collides_is_the_same_on_the_left_and_on_the_right(name: str, kind: str) -> None:
    model = build(load_robot(name), kind=kind, visuals=False).compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    left, right = Counter[tuple[object, ...]](), Counter[tuple[object, ...]]()
    for geom in np.flatnonzero(model.geom_contype):
        turn = np.abs(data.geom_xmat[geom].reshape(3, 3))
        extent = tuple((turn @ model.geom_size[geom] * 1e3).round().astype(int).tolist())
        x, y, z = (float(v) for v in data.geom_xpos[geom] * 1e3)
        left[int(model.geom_type[geom]), extent, round(x), round(y) + 0, round(z)] += 1
        right[int(model.geom_type[geom]), extent, round(x), round(-y) + 0, round(z)] += 1
    assert left == right
    assert len(left) > 2


def test_profiles_are_found_by_name_and_misspelt_ones_suggested() -> None:
    assert physics_profile("standard") is PROFILES["standard"]
    with pytest.raises(UnknownNameError, match="Did you mean 'league'"):
        physics_profile("leage")


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_a_profile_sets_the_engine(name: str) -> None:
    spec = mujoco.MjSpec()
    PROFILES[name].apply(spec)
    assert spec.option.timestep == PROFILES[name].timestep
    assert spec.option.impratio == PROFILES[name].impratio
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(Placement(robot="nao-spark"),), physics=name))
    assert scene.timestep == PROFILES[name].timestep
