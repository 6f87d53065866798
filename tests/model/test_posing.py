"""Named poses: within the limits, on the ground."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.cli import main
from nutmeg.model import Placement, SceneSettings, assemble, load_robot, robot_names
from nutmeg.model.posing import GROUND_CLEARANCE, POSE_TOLERANCE, overlap_advice, overlaps, pose_angles, standing
from nutmeg.model.scene import Scene

POSES = [(name, pose) for name in robot_names() for pose in load_robot(name).poses]


@pytest.mark.parametrize(("name", "pose"), POSES)
def test_every_pose_is_within_the_limits_and_stands_on_the_ground(name: str, pose: str) -> None:
    placement = Placement(robot=name, name="r", pose=pose)
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
    table, model = scene.robots[0], scene.model
    angles = scene.start[table.angles]
    assert (angles >= table.limits[:, 0] - POSE_TOLERANCE).all()
    assert (angles <= table.limits[:, 1] + POSE_TOLERANCE).all()
    data = mujoco.MjData(model)
    data.qpos[:] = scene.start
    data.qpos[table.root + 2] -= 2 * GROUND_CLEARANCE
    mujoco.mj_forward(model, data)
    ground = [c.dist for c in data.contact if 0 in model.geom_bodyid[[c.geom1, c.geom2]]]
    assert ground, "lowered by twice the clearance it touches the ground"
    assert min(ground) > -2 * GROUND_CLEARANCE


@pytest.mark.parametrize("name", robot_names())
def test_no_part_of_a_robot_touches_another_in_the_ready_pose(name: str) -> None:
    placement = Placement(robot=name, name="r", height=0.5)
    scene = assemble(SceneSettings(field="none", ball="none", robots=(placement,), visuals=False))
    data = mujoco.MjData(scene.model)
    data.qpos[:] = scene.start
    mujoco.mj_forward(scene.model, data)
    assert data.ncon == 0


def test_a_pose_says_only_what_differs_from_zero() -> None:
    robot = load_robot("nao-v6")
    scene = assemble(SceneSettings(field="none", ball="none", robots=(Placement(robot="nao-v6"),)))
    table = scene.robots[0]
    angles = pose_angles(robot, table, "ready")
    for joint, angle in zip(table.joints, angles, strict=True):
        wanted = robot.poses["ready"].get(joint, 0.0)
        low, high = table.limits[table.joints.index(joint)]
        assert angle == pytest.approx(np.clip(wanted, low, high), abs=POSE_TOLERANCE)


def test_a_follower_takes_the_angle_of_its_leader() -> None:
    robot = load_robot("nao-v6")
    table = assemble(SceneSettings(field="none", ball="none", robots=(Placement(robot="nao-v6"),))).robots[0]
    angles = dict(zip(table.joints, pose_angles(robot, table, "sit"), strict=True))
    assert angles["RHipYawPitch"] == angles["LHipYawPitch"]


def test_a_misspelt_pose_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"pose of nao-v6 'raedy'\. Did you mean 'ready'"):
        standing(load_robot("nao-v6"), "raedy")


def test_longer_legs_stand_higher() -> None:
    spark = load_robot("nao-spark")
    assert standing(spark, "ready", kind="type1").height > standing(spark, "ready").height + 0.02
    low = standing(spark, "ready", parameters={"ankle_z": -0.05}).height
    assert low < standing(spark, "ready").height


MODEL = """
<mujoco><worldbody><body name="trunk">
  <geom type="box" size="0.1 0.1 0.1" mass="2"/>
  <body name="upper" pos="0 0 0.15"><joint name="shoulder" axis="0 1 0" range="-2 2" limited="true"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.1" size="0.02" mass="0.2"/>
    <body name="lower" pos="0 0 0.1"><joint name="elbow" axis="0 1 0" range="-3 3" limited="true"/>
      <geom type="box" size="0.02 0.02 0.09" pos="0 0 -0.07" mass="0.2"/>
    </body></body></body></worldbody></mujoco>
"""
"""The lower arm is folded back into the trunk by 10 mm."""


def folded(folder: Path, extra: str = "") -> str:
    (folder / "arm.xml").write_text(MODEL)
    head = 'format = 1\nname = "folded"\nsource = "drawn for this test"\nlicence = "Apache-2.0"\nbase = "fixed"\n'
    text = f'{head}{extra}\n[model]\nmjcf = "arm.xml"\n'
    (folder / "robot.toml").write_text(text + '[drives.all]\njoints = ["*"]\nstiffness = 20.0\ndamping = 0.5\n')
    return str(folder)


def scene_of(robot: str) -> Scene:
    return assemble(SceneSettings(field="none", robots=(Placement(robot=robot, name="robot"),), visuals=False))


def test_an_arm_that_is_folded_into_its_trunk_is_named_and_the_advice_helps(tmp_path: Path) -> None:
    scene = scene_of(folded(tmp_path))
    (pair,) = overlaps(scene, "robot")
    assert (pair.first, pair.second) == ("lower", "trunk")
    assert pair.depth == pytest.approx(0.01, abs=1e-6)
    assert not overlaps(scene, "robot", np.array([np.nan, np.pi]))
    line = re.search(r"ignore_contacts = \[\[.*?\]\]", overlap_advice([pair]))
    assert line is not None
    assert not overlaps(scene_of(folded(tmp_path, line.group())), "robot")


@pytest.mark.parametrize("name", robot_names())
def test_no_built_in_robot_overlaps_with_itself(name: str) -> None:
    assert not overlaps(scene_of(name), "robot")
    assert not overlap_advice([])


def test_the_command_that_shows_a_robot_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robots", folded(tmp_path)]) == 0
    assert "lower and trunk overlap by 10.0 mm" in " ".join(capsys.readouterr().err.split())
