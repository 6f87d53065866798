"""Parameters that differ from world to world, against what they should do."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.body import Placement, SceneSettings, assemble
from nutmeg.engine import Worlds
from nutmeg.errors import ModelError, UnknownNameError

G = 9.81
LEVER = """
format = 1
name = "lever"
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
mass = 0.5
com = [0.2, 0, 0]
inertia = [0.002, 0.002, 0.002, 0, 0, 0]
joint = { name = "swing", axis = [0, 1, 0] }
[drives.servo]
joints = ["swing"]
stiffness = 50
torque = 10
damping = 2
armature = 0
"""


@pytest.fixture
def lever(tmp_path: Path) -> Worlds:
    (tmp_path / "robot.toml").write_text(LEVER)
    placement = Placement(robot=str(tmp_path), name="lever")
    return Worlds(assemble(SceneSettings(field="none", ball="none", robots=(placement,))), 3)


def sags(worlds: Worlds, seconds: float = 4.0) -> np.ndarray:
    worlds.advance(seconds)
    return worlds.robots[0].angles[:, 0].copy()


def test_a_heavier_load_sags_in_proportion(lever: Worlds) -> None:
    masses = np.array([[0.25], [0.5], [1.0]])
    lever.vary.mass("lever", ["rod"], masses)
    found = sags(lever)
    assert found * 50 == pytest.approx(masses[:, 0] * G * 0.2 * np.cos(found), rel=1e-4)
    model = lever.batch.get_model(2)
    assert model.body("lever/rod").inertia == pytest.approx([0.004] * 3)
    assert model.body("lever/stand").subtreemass == pytest.approx(2.0)


def test_masses_are_set_again_not_multiplied(lever: Worlds) -> None:
    for _ in range(2):
        lever.vary.mass("lever", ["rod"], 1.0)
    assert lever.batch.get_model(0).body("lever/rod").mass == pytest.approx(1.0)
    assert lever.batch.get_model(0).body("lever/rod").inertia == pytest.approx([0.004] * 3)


def test_a_stiffer_drive_sags_less(lever: Worlds) -> None:
    gains = np.array([[25.0], [50.0], [100.0]])
    lever.vary.stiffness("lever", gains)
    found = sags(lever)
    assert found * gains[:, 0] == pytest.approx(0.5 * G * 0.2 * np.cos(found), rel=1e-4)


def test_a_damped_drive_swings_less(lever: Worlds) -> None:
    lever.vary.damping("lever", [[0.0], [0.05], [2.0]])
    lever.robots[0].angles[:, 0] = 0.3
    lever.batch.act[:] = 0.0
    highest = np.zeros(3)
    for step in range(500):
        lever.step()
        if step > 250:
            highest = np.maximum(highest, np.abs(lever.robots[0].rates[:, 0]))
    assert highest[0] > 2 * highest[1] > 20 * highest[2]


def test_a_weaker_drive_lets_the_load_fall(lever: Worlds) -> None:
    lever.vary.torque("lever", [[0.4], [2.0], [10.0]])
    found = sags(lever, 0.8)
    assert found[0] > 0.8
    assert found[1:] == pytest.approx(0.5 * G * 0.2 / 50, rel=0.02)


def test_friction_decides_whether_a_robot_slides() -> None:
    """On a slope of 20 degrees a sole slides when its friction is below tan 20."""
    robots = (Placement(robot="nao-v6", name="n"),)
    worlds = Worlds(assemble(SceneSettings(ball="none", robots=robots, visuals=False)), 3)
    slope = math.radians(20)
    worlds.vary.friction("n", [0.2, 0.8, 1.0])
    gravity = np.array([math.sin(slope), 0, -math.cos(slope)]) * G - [0, 0, -G]
    masses = worlds.scene.model.body_mass
    worlds.batch.xfrc_applied[:, :, :3] = masses[:, None] * gravity  # gravity, turned
    start = worlds.robots[0].pose[:, :2].copy()
    soles = [b for b in range(worlds.scene.model.nbody) if worlds.scene.model.body(b).name.endswith("_ankle")]
    places = worlds.batch.bind("xpos")
    worlds.advance(0.4)
    slid = places[:, soles, 0].min(axis=1) - start[:, 0]
    assert slid[0] > slid[1] + 0.05
    assert worlds.batch.get_model(0).geom_friction.min() <= 0.2


def test_friction_reaches_shapes_without_a_name(tmp_path: Path) -> None:
    (tmp_path / "box.xml").write_text(
        '<mujoco><worldbody><body><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>'
    )
    placement = Placement(robot=str(tmp_path / "box.xml"), name="box")
    worlds = Worlds(assemble(SceneSettings(ball="none", robots=(placement,))), 2)
    worlds.vary.friction("box", [0.3, 2.0])
    mine = np.flatnonzero(worlds.scene.model.geom_bodyid == worlds.robots[0].table.body)
    assert [worlds.batch.get_model(w).geom_friction[mine[0], 0] for w in range(2)] == [0.3, 2.0]
    ground = np.flatnonzero(worlds.scene.model.geom_bodyid == 0)
    assert np.array_equal(worlds.batch.get_model(1).geom_friction[ground], worlds.scene.model.geom_friction[ground])


@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf, [[1.0], [1.0], [-2.0]], [1.0, 2.0], np.ones((2, 1))])
def test_nonsense_is_refused(lever: Worlds, wrong: object) -> None:
    changes = (lever.vary.stiffness, lever.vary.damping, lever.vary.torque)
    for change in changes:
        with pytest.raises(ModelError, match=r"must be finite|has the shape"):
            change("lever", wrong)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"must be finite|has the shape"):
        lever.vary.mass("lever", ["rod"], wrong)  # type: ignore[arg-type]
    assert isinstance(lever.batch.get_model(0), mujoco.MjModel)


def test_zero_is_a_damping_and_a_friction_but_no_mass_or_stiffness(lever: Worlds) -> None:
    lever.vary.damping("lever", 0.0)
    lever.vary.friction("lever", 0.0)
    with pytest.raises(ModelError, match="above 0"):
        lever.vary.stiffness("lever", 0.0)
    with pytest.raises(ModelError, match="above 0"):
        lever.vary.mass("lever", ["rod"], 0.0)


def test_unknown_names_are_refused(lever: Worlds) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown body of lever 'rdo'\. Did you mean 'rod'"):
        lever.vary.mass("lever", ["rdo"], 1.0)
    with pytest.raises(UnknownNameError, match="Did you mean 'lever'"):
        lever.vary.torque("leever", 1.0)


def test_velocity_drives_have_no_gains_to_vary() -> None:
    worlds = Worlds(assemble(SceneSettings(ball="none", robots=(Placement(robot="nao-spark", name="s"),))))
    with pytest.raises(ModelError, match="s has velocity drives"):
        worlds.vary.stiffness("s", 10.0)


def test_worlds_with_scenes_of_their_own_are_not_varied() -> None:
    scene = assemble(SceneSettings(ball="none", robots=(Placement(robot="ant", name="a"),), visuals=False))
    worlds = Worlds.of([scene, scene])
    with pytest.raises(ModelError, match="vary the scenes"):
        worlds.vary.friction("a", 0.5)
