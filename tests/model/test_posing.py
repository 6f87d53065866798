"""Named poses: within the limits, on the ground."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.model import Placement, SceneSettings, assemble, load_robot, robot_names
from nutmeg.model.posing import GROUND_CLEARANCE, POSE_TOLERANCE, pose_angles, standing

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
