"""Kinematics of the Nao's legs: against MuJoCo's own, against itself, and at the edge of what legs can do."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model.robot import load_robot
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.motion.legs.nao import NaoBody, NaoLegs, Pose, rotation
from nutmeg.motion.legs.nao_kernels import mass_centre

Array = Any
MIRROR = np.array([1, -1, 1, 1, 1, -1])
"""Signs of a leg's joints in its mirror image."""


@functools.cache
def scene_of(robot: str) -> Scene:
    return assemble(SceneSettings(field="none", robots=(Placement(robot=robot, name="nao"),), visuals=False))


@functools.cache
def legs_of(robot: str) -> NaoLegs:
    return NaoLegs(scene_of(robot).robots[0].settings)


def within_limits(legs: NaoLegs, shares: Array) -> Array:
    """Angles inside the limits, with one HipYawPitch and knees that are not overstretched."""
    low, high = legs.limits[..., 0].copy(), legs.limits[..., 1]
    low[:, 3] = 0.02
    angles = low + (high - low) * np.asarray(shares)
    angles[..., 1, 0] = angles[..., 0, 0]
    return angles


def still(count: int | None = None) -> Pose:
    shape = () if count is None else (count,)
    return Pose(np.zeros((*shape, 3)), np.broadcast_to(np.eye(3), (*shape, 3, 3)))


def posed(scene: Scene, angles: Array) -> mujoco.MjData:
    """MuJoCo's kinematics with the torso at the origin."""
    table, data = scene.robots[0], mujoco.MjData(scene.model)
    data.qpos[:] = scene.start
    data.qpos[table.root : table.root + 7] = [0, 0, 0, 1, 0, 0, 0]
    legs = legs_of(table.settings.name)
    for names, leg in zip(legs.names, angles * legs.signs, strict=True):
        for joint, angle in zip(names, leg, strict=True):
            data.qpos[table.angles[table.joints.index(joint)]] = angle
    mujoco.mj_kinematics(scene.model, data)
    mujoco.mj_comPos(scene.model, data)
    return data


shares = st.lists(st.floats(0.0, 1.0), min_size=12, max_size=12).map(lambda v: np.reshape(v, (2, 6)))


ROBOTS = ["nao-v3", "nao-v4", "nao-v6", "nao-spark"]


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_soles_are_where_the_engine_has_them(robot: str) -> None:
    legs, scene, rng = legs_of(robot), scene_of(robot), np.random.default_rng(1)
    for _ in range(20):
        angles = within_limits(legs, rng.random((2, 6)))
        found, data = legs.forward(angles), posed(scene, angles)
        for side, name in enumerate(names[-1] for names in legs.names):
            joint = scene.model.joint(f"nao/{name}")
            turned = data.xmat[joint.bodyid[0]].reshape(3, 3)
            below = data.xanchor[joint.id] - legs.sole * turned[:, 2]
            np.testing.assert_allclose(found.position[side], below, atol=1e-12)
            np.testing.assert_allclose(found.rotation[side], turned, atol=1e-12)


def test_the_sole_is_the_underside_of_the_colliding_foot() -> None:
    legs, scene = legs_of("nao-v6"), scene_of("nao-v6")
    sole = next(g for g in range(scene.model.ngeom) if scene.model.geom(g).name.startswith("nao/l_ankle"))
    assert legs.sole == pytest.approx(scene.model.geom_size[sole][2] - scene.model.geom_pos[sole][2])
    assert legs.toe == pytest.approx(scene.model.geom_size[sole][0] + scene.model.geom_pos[sole][0])


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_centre_of_mass_is_the_engines(robot: str) -> None:
    legs, scene, rng = legs_of(robot), scene_of(robot), np.random.default_rng(2)
    body, root = NaoBody(scene.robots[0]), scene.robots[0].body
    assert body.mass == pytest.approx(scene.model.body_subtreemass[root], rel=1e-5)  # drives: 12 mg
    for _ in range(10):
        angles = within_limits(legs, rng.random((2, 6)))
        np.testing.assert_allclose(body.centre_of_mass(angles), posed(scene, angles).subtree_com[root], atol=2e-6)


@pytest.mark.parametrize("robot", ["nao-v3", "nao-v6", "nao-spark"])
@settings(max_examples=200)
@given(shares=shares)
def test_inverse_kinematics_undoes_forward_kinematics(robot: str, shares: Array) -> None:
    legs = legs_of(robot)
    angles = within_limits(legs, shares)
    feet = legs.forward(angles)
    found = legs.inverse(still(), feet)
    again = legs.forward(found.angles)
    assert found.reached.all()
    np.testing.assert_allclose(again.position, feet.position, atol=1e-9)
    np.testing.assert_allclose(again.rotation, feet.rotation, atol=1e-9)


@settings(max_examples=100)
@given(
    lean=st.tuples(*[st.floats(-0.1, 0.1)] * 3),
    tilt=st.tuples(*[st.floats(-0.1, 0.1)] * 4),
    yaws=st.tuples(*[st.floats(-0.3, 0.3)] * 2),
    ways=st.tuples(*[st.floats(-0.025, 0.025)] * 6),
)
def test_one_hip_motor_costs_only_the_yaw_of_the_feet(lean: Array, tilt: Array, yaws: Array, ways: Array) -> None:
    legs = legs_of("nao-v6")
    places = np.reshape(ways, (2, 3)) + np.array([[0, 0.06, 0], [0, -0.06, 0]])
    feet = Pose(places, rotation(tilt[:2], tilt[2:], yaws))
    torso = Pose(np.array([0.0, 0.0, 0.3]), rotation(*lean))
    found = legs.inverse(torso, feet)
    soles = legs.forward(found.angles)
    assert found.angles[0, 0] == found.angles[1, 0]
    reached = found.reached
    world = torso.position + soles.position @ torso.rotation.T
    ups = (torso.rotation @ soles.rotation)[..., 2]
    np.testing.assert_allclose(world[reached], feet.position[reached], atol=1e-9)
    np.testing.assert_allclose(ups[reached], feet.rotation[reached][..., 2], atol=1e-9)


@pytest.mark.parametrize("robot", ["nao-v4", "nao-spark"])
@settings(max_examples=50)
@given(
    ways=st.tuples(*[st.floats(-0.03, 0.03)] * 6),
    yaws=st.tuples(*[st.floats(-0.2, 0.2)] * 2),
    roll=st.floats(-0.1, 0.1),
)
def test_mirrored_feet_give_mirrored_angles(robot: str, ways: Array, yaws: Array, roll: float) -> None:
    legs = legs_of(robot)
    places = np.reshape(ways, (2, 3)) + np.array([[0, 0.05, -0.29], [0, -0.05, -0.29]])
    rolls, yaws = np.array([roll, 0]), np.array(yaws)
    found = legs.inverse(still(), Pose(places, rotation(rolls, 0.0, yaws)))
    flipped = Pose(places[::-1] * [1, -1, 1], rotation(-rolls[::-1], 0.0, -yaws[::-1]))
    mirrored = legs.inverse(still(), flipped)
    assert mirrored.reached.tolist() == found.reached[::-1].tolist()
    np.testing.assert_allclose(mirrored.angles, found.angles[::-1] * MIRROR, atol=1e-9)


def test_feet_out_of_reach_are_flagged_and_the_leg_points_at_them() -> None:
    legs = legs_of("nao-v6")
    feet = Pose(np.array([[0.1, 0.05, -0.9], [0.0, -0.05, -0.3]]), rotation(yaw=[0.0, 0.0]))
    found = legs.inverse(still(), feet)
    assert found.reached.tolist() == [False, True]
    assert np.isfinite(found.angles).all()
    soles = legs.forward(found.angles)
    ankle = soles.position[0] + legs.sole * soles.rotation[0, :, 2] - legs.hips[0]
    wanted = feet.position[0] + [0, 0, legs.sole] - legs.hips[0]
    assert np.linalg.norm(ankle) == pytest.approx(legs.thigh + legs.tibia)
    np.testing.assert_allclose(ankle / np.linalg.norm(ankle), wanted / np.linalg.norm(wanted), atol=1e-9)


@pytest.mark.parametrize("robot", ["nao-v6", "nao-spark"])
@settings(max_examples=100)
@given(place=st.tuples(*[st.floats(-1, 1)] * 6), turned=st.tuples(*[st.floats(-3, 3)] * 6))
def test_no_target_however_wild_gives_anything_but_angles_within_the_limits(
    robot: str, place: Array, turned: Array
) -> None:
    legs = legs_of(robot)
    feet = Pose(np.reshape(place, (2, 3)), rotation(turned[:2], turned[2:4], turned[4:]))
    found = legs.inverse(still(), feet)
    assert np.isfinite(found.angles).all()
    assert (found.angles >= legs.limits[..., 0]).all()
    assert (found.angles <= legs.limits[..., 1]).all()
    again = legs.forward(found.angles)
    missed = np.linalg.norm(again.position - feet.position, axis=-1) > 1e-6
    assert not (missed & found.reached).any()


def test_a_foot_in_the_hip_is_no_number_lost() -> None:
    legs = legs_of("nao-v6")
    feet = Pose(legs.hips - [0, 0, legs.sole], rotation(yaw=[0.0, 0.0]))
    found = legs.inverse(still(), feet)
    assert np.isfinite(found.angles).all()
    assert not found.reached.any()


def test_many_legs_at_once_are_the_same_as_one_after_another() -> None:
    legs, rng = legs_of("nao-v6"), np.random.default_rng(3)
    angles = within_limits(legs, rng.random((4, 5, 2, 6)))
    feet = legs.forward(angles)
    torso = Pose(np.zeros((4, 5, 3)), np.broadcast_to(np.eye(3), (4, 5, 3, 3)))
    found = legs.inverse(torso, feet)
    single = legs.inverse(still(), Pose(feet.position[2, 3], feet.rotation[2, 3]))
    assert found.angles.shape == (4, 5, 2, 6)
    np.testing.assert_allclose(found.angles[2, 3], single.angles, atol=1e-12)


def test_robots_with_other_legs_are_refused_with_the_reason() -> None:
    broken = load_robot("nao-v6")
    moved = [dataclasses.replace(b, pos=(0.01, *b.pos[1:])) if b.name == "l_ankle" else b for b in broken.body]
    with pytest.raises(ModelError, match="axes of its ankle are not one above"):
        NaoLegs(dataclasses.replace(broken, body=tuple(moved)))
    with pytest.raises(ModelError, match="no joint 'LHipYawPitch'"):
        NaoLegs(load_robot("ant"))


def test_balancing_puts_the_centre_of_mass_where_it_is_wanted() -> None:
    body = NaoBody(scene_of("nao-v6").robots[0], {"LShoulderPitch": 1.0})
    wanted = np.array([[0.02, 0.03], [0.0, -0.02], [-0.01, 0.0]])
    feet = Pose(np.tile([[0.0, 0.05, 0.0], [0.03, -0.05, 0.02]], (3, 1, 1)), np.tile(np.eye(3), (3, 2, 1, 1)))
    turned = rotation([0.0, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1])
    torso, legs = body.balance(wanted, 0.3, turned, feet)
    centre = torso.position + (turned @ body.centre_of_mass(legs.angles)[..., None])[..., 0]
    assert legs.reached.all()
    np.testing.assert_allclose(centre[:, :2], wanted, atol=2e-6)
    np.testing.assert_allclose(torso.position[:, 2], 0.3)


def test_a_robot_that_stands_still_has_its_zmp_below_its_centre_of_mass() -> None:
    body = NaoBody(scene_of("nao-v6").robots[0])
    legs = np.tile(body.ready_legs, (5, 1, 1))
    zmp = body.zmp(Pose(np.tile([0.1, 0.2, 0.3], (5, 1)), np.tile(np.eye(3), (5, 1, 1))), legs, 0.01)
    below = np.array([0.1, 0.2]) + body.centre_of_mass(body.ready_legs)[:2]
    np.testing.assert_allclose(zmp, np.tile(below, (5, 1)), atol=1e-12)


def test_a_leg_cannot_be_held_still() -> None:
    with pytest.raises(UnknownNameError, match="LKneePitch"):
        NaoBody(scene_of("nao-v6").robots[0], {"LKneePitch": 0.5})


@pytest.mark.parametrize("robot", ["nao-v6", "nao-spark"])
def test_the_compiled_centre_of_mass_is_that_of_the_body(robot: str) -> None:
    body = NaoBody(scene_of(robot).robots[0])
    body.weigh()
    shares = np.random.default_rng(5).uniform(size=(20, 2, 6))
    for angles in within_limits(body.legs, shares):
        assert mass_centre(angles, body.legs.record[0]) == pytest.approx(body.centre_of_mass(angles), abs=1e-12)
