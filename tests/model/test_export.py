"""An exported scene moves in bare MuJoCo as it does here, to the last bit."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.model import Placement, Scene, SceneSettings, assemble, load_robot, robot_names
from nutmeg.sim import Worlds

KINDS = [(name, kind) for name in robot_names() for kind in ("", *load_robot(name).types)]


def sway(scene: Scene, time: float) -> Floats:
    return scene.commands + 0.1 * np.sin(6 * time + np.arange(scene.model.nu))


def in_bare_mujoco(scene: Scene, seconds: float) -> Floats:
    model = mujoco.MjModel.from_xml_string(scene.xml)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("start").id)
    for step in range(round(seconds / model.opt.timestep)):
        data.ctrl[:] = sway(scene, step * model.opt.timestep)
        mujoco.mj_step(model, data)
    return np.array(data.qpos)


def here(scene: Scene, seconds: float) -> Floats:
    worlds = Worlds(scene)
    for step in range(round(seconds / scene.timestep)):
        worlds.batch.ctrl[0] = sway(scene, step * scene.timestep)
        worlds.step()
    assert not worlds.diverged().any()
    return np.array(worlds.qpos[0])


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_an_exported_robot_moves_the_same_without_nutmeg(name: str, kind: str) -> None:
    placement = Placement(robot=name, type=kind, height=0.01, heading=0.3)
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
    moved = here(scene, 1.0)
    assert np.array_equal(in_bare_mujoco(scene, 1.0), moved)
    assert np.abs(moved - scene.start).max() > 0.01


@pytest.mark.parametrize("field", ["spl2025", "sim3d"])
def test_an_exported_match_moves_the_same_without_nutmeg(field: str) -> None:
    robots = (
        Placement(robot="nao-v6", pos=(-0.3, 0.0)),
        Placement(robot="ant", pos=(0.5, 0.2), heading=2.0),
        Placement(robot="nao-spark", pos=(1.5, 0.0), parked=True),
    )
    scene = assemble(SceneSettings(field=field, ball_pos=(-0.15, 0.02), robots=robots))
    moved = here(scene, 1.0)
    assert np.array_equal(in_bare_mujoco(scene, 1.0), moved)
    assert scene.has_ball


def test_the_keyframe_is_the_start() -> None:
    scene = assemble(SceneSettings(field="none", robots=(Placement(robot="nao-v6", pose="sit"),)))
    key = mujoco.MjModel.from_xml_string(scene.xml).key("start")
    assert np.array_equal(key.qpos, scene.start)
    assert np.array_equal(key.ctrl, scene.commands)
    assert np.array_equal(key.act, scene.setpoints)
    held = scene.start[scene.robots[0].angles[scene.robots[0].motor_joints]]
    assert scene.commands == pytest.approx(held, abs=1e-6)


def test_a_users_robot_with_meshes_is_exported_whole(tmp_path: Path) -> None:
    (tmp_path / "robot.xml").write_text(
        """<mujoco><asset><mesh name="wedge" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset><worldbody>
        <body name="base"><geom type="mesh" mesh="wedge"/><body name="arm" pos="0 0 .1">
        <joint name="elbow" axis="0 1 0" range="-60 60"/><geom type="mesh" mesh="wedge"/></body></body>
        </worldbody></mujoco>"""
    )
    scene = assemble(SceneSettings(ball="none", robots=(Placement(robot=str(tmp_path / "robot.xml")),)))
    (tmp_path / "robot.xml").unlink()
    assert np.array_equal(in_bare_mujoco(scene, 0.5), here(scene, 0.5))
