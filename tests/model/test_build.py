"""Robot data turned into bodies: frames, masses, inertias, mirror images, parameters, types."""

from __future__ import annotations

import dataclasses
import math

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model.build import build, parameter_values
from nutmeg.model.geometry import (
    all_shapes,
    camera_quaternion,
    euler_quaternion,
    mirrored_name,
    quaternion_product,
    shape_volume,
    yaw_quaternion,
)
from nutmeg.model.robot import Body, Drive, Joint, Parameter, RobotSettings, Shape, load_robot
from nutmeg.model.sensors import Sensor


def robot(**changes: object) -> RobotSettings:
    plain = RobotSettings(
        format=1,
        name="toy",
        source="test",
        licence="CC0",
        body=(
            Body(name="base", mass=1.0, inertia=(0.01, 0.02, 0.03, 0, 0, 0)),
            Body(
                name="Larm",
                parent="base",
                pos=(0.1, "reach", 0.3),
                euler=(0.1, 0.2, 0.3),
                mass=0.2,
                joint=Joint(name="elbow", axis=(0, 2, 0), range=(-1, "open"), anchor=(0, 0, 0.01)),
            ),
        ),
        shape=(Shape(body="Larm", type="box", size=(0.2, 0.1, 0.05), pos=(0.1, 0, 0), role="both"),),
        parameters={"reach": Parameter(value=0.2, low=0.1, high=0.3), "open": Parameter(value=1.5, low=1, high=2)},
        types={"long": {"reach": 0.25}},
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def rotation(quat: list[float]) -> np.ndarray:
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, np.array(quat))
    return out.reshape(3, 3)


def test_a_body_is_where_its_table_says() -> None:
    model = build(robot()).compile()
    arm = model.body("Larm")
    assert arm.pos == pytest.approx([0.1, 0.2, 0.3])
    assert arm.quat == pytest.approx(euler_quaternion((0.1, 0.2, 0.3)))
    joint = model.joint("elbow")
    assert joint.axis == pytest.approx([0, 1, 0])
    assert joint.range == pytest.approx([-1, 1.5])
    assert joint.pos == pytest.approx([0, 0, 0.01])
    assert model.body("base").jntnum == 1


def test_a_given_inertia_is_used_and_another_comes_from_the_shapes() -> None:
    model = build(robot()).compile()
    assert sorted(model.body("base").inertia) == pytest.approx([0.01, 0.02, 0.03])
    x, y, z = 0.2, 0.1, 0.05
    box = [0.2 / 12 * (y * y + z * z), 0.2 / 12 * (x * x + z * z), 0.2 / 12 * (x * x + y * y)]
    assert sorted(model.body("Larm").inertia) == pytest.approx(sorted(box))
    assert model.body("Larm").ipos == pytest.approx([0.1, 0, 0])


def test_mass_is_spread_over_colliding_shapes_by_volume() -> None:
    shapes = (
        Shape(body="Larm", type="sphere", size=(0.1,), role="collision"),
        Shape(body="Larm", type="sphere", size=(0.2,), pos=(1, 0, 0), role="collision"),
        Shape(body="Larm", type="sphere", size=(0.5,), pos=(0, 9, 0)),
    )
    model = build(robot(shape=shapes)).compile()
    assert model.body("Larm").mass == pytest.approx(0.2)
    assert model.body("Larm").ipos == pytest.approx([8 / 9, 0, 0])


def test_a_robot_weighs_the_same_with_and_without_what_is_only_seen() -> None:
    for name in ("nao-v6", "ant", "nao-spark"):
        seen, bare = (build(load_robot(name), visuals=v).compile() for v in (True, False))
        assert seen.body_mass == pytest.approx(bare.body_mass)
        assert seen.body_inertia == pytest.approx(bare.body_inertia)
        assert seen.ngeom > bare.ngeom
        assert not bare.geom_group[bare.geom_contype == 0].size


def test_parameters_types_and_changes_are_applied_in_that_order() -> None:
    assert parameter_values(robot(), "", {}) == {"reach": 0.2, "open": 1.5}
    assert parameter_values(robot(), "long", {}) == {"reach": 0.25, "open": 1.5}
    assert parameter_values(robot(), "long", {"reach": 0.28})["reach"] == 0.28
    assert build(robot(), kind="long").compile().body("Larm").pos[1] == pytest.approx(0.25)


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown parameter of toy 'raech'\. Did you mean 'reach'"):
        build(robot(), parameters={"raech": 1})
    with pytest.raises(UnknownNameError, match="type of toy"):
        build(robot(), kind="lnog")
    for value in (math.nan, math.inf):
        with pytest.raises(ModelError, match="finite"):
            build(robot(), parameters={"reach": value})


def test_the_same_parameters_build_the_same_specification() -> None:
    first, second = (build(load_robot("ant")) for _ in range(2))
    first.compile()
    second.compile()
    assert first.to_xml() == second.to_xml()


def test_only_restricts_a_part_to_its_types() -> None:
    spark = load_robot("nao-spark")
    plain, toes = build(spark).compile(), build(spark, kind="type4").compile()
    assert toes.nu == plain.nu + 2
    assert {toes.body(b).name for b in range(toes.nbody)} >= {"LToe", "RToe"}


def test_a_mirror_image_is_the_shape_seen_in_a_mirror() -> None:
    shape = Shape(
        body="Larm", type="box", size=(0.1, 0.2, 0.3), pos=(0.1, "reach", 0.3), euler=(0.3, 0.5, 0.7), mirror=True
    )
    left, right = all_shapes([shape])
    assert (left.body, right.body, right.pos) == ("Larm", "Rarm", (0.1, "-(reach)", 0.3))
    flip = np.diag([1, -1, 1])
    wanted = flip @ rotation(euler_quaternion((0.3, 0.5, 0.7))) @ flip
    assert rotation(euler_quaternion([float(a) for a in right.euler])) == pytest.approx(wanted)
    capsule = Shape(body="l_leg", type="capsule", size=(0.1,), fromto=(0, 1, 2, 3, 4, 5), mirror=True)
    assert all_shapes([capsule])[1].fromto == (0, -1, 2, 3, -4, 5)


def test_only_a_left_body_can_be_mirrored() -> None:
    assert [mirrored_name(n) for n in ("LThigh", "l_arm", "leftFoot", "torso")] == [
        "RThigh",
        "r_arm",
        "rightFoot",
        None,
    ]
    with pytest.raises(ModelError, match="does not begin with L"):
        all_shapes([Shape(body="torso", type="sphere", size=(1,), mirror=True)])


@pytest.mark.parametrize(
    ("kind", "size"),
    [("box", (1, 2, 3)), ("sphere", (1,)), ("capsule", (1, 2)), ("cylinder", (1, 2)), ("ellipsoid", (1, 2, 3))],
)
def test_a_volume_is_that_of_the_engine(kind: str, size: tuple[float, ...]) -> None:
    shape = Shape(body="Larm", type=kind, size=size, role="collision")  # type: ignore[arg-type]
    spec = build(robot(shape=(shape,)))
    for geom in spec.geoms:
        geom.mass, geom.density = math.nan, 1.0
    assert spec.compile().body("Larm").mass == pytest.approx(shape_volume(kind, size))


def test_rotations_are_roll_then_pitch_then_yaw_about_fixed_axes() -> None:
    roll, pitch, yaw = ([math.cos(a / 2), *(math.sin(a / 2) * np.eye(3)[i])] for i, a in enumerate((0.3, 0.5, 0.7)))
    assert euler_quaternion((0.3, 0.5, 0.7)) == pytest.approx(quaternion_product(yaw, quaternion_product(pitch, roll)))
    assert yaw_quaternion(0.7) == pytest.approx(euler_quaternion((0, 0, 0.7)))


def test_a_camera_looks_along_x_with_z_up() -> None:
    turn = rotation(camera_quaternion([1, 0, 0, 0]))
    assert -turn[:, 2] == pytest.approx([1, 0, 0], abs=1e-12)
    assert turn[:, 1] == pytest.approx([0, 0, 1], abs=1e-12)


def test_a_camera_has_the_field_of_view_of_its_sensor() -> None:
    camera = Sensor(name="eye", type="camera", body="base", fov=(1.0, 0.8), pixels=(64, 48))
    model = build(robot(sensor=(camera,))).compile()
    assert model.camera("eye").fovy[0] == pytest.approx(math.degrees(0.8))
    assert list(model.cam_resolution[0]) == [64, 48]


def test_a_drive_takes_its_joints_by_pattern() -> None:
    model = build(
        robot(drives={"arm": Drive(joints=("el*",), torque=3.0, speed=2.0, armature=0.1, friction=0.05)})
    ).compile()
    assert [model.actuator(a).name for a in range(model.nu)] == ["elbow"]
    assert model.actuator("elbow").forcerange == pytest.approx([-3, 3])
    assert model.actuator("elbow").ctrlrange == pytest.approx([-1, 1.5])
    dof = model.jnt_dofadr[model.joint("elbow").id]
    assert model.dof_armature[dof] == pytest.approx(0.1)
    assert model.dof_frictionloss[dof] == pytest.approx(0.05)


def test_bodies_said_to_overlap_do_not_touch() -> None:
    ball = [Shape(body=b, type="sphere", size=(1.0,), role="collision") for b in ("base", "Larm")]
    far = Body(name="hand", parent="Larm", mass=0.1, joint=Joint(name="wrist"))
    hand = Shape(body="hand", type="sphere", size=(1.0,), role="collision")
    touching = robot(body=(*robot().body, far), shape=(*ball, hand))
    for made, contacts in (
        (touching, True),
        (dataclasses.replace(touching, ignore_contacts=(("base", "hand"),)), False),
    ):
        model = build(made).compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        assert bool(data.ncon) is contacts


def test_soles_have_the_robots_foot_friction() -> None:
    sole = Shape(body="Larm", type="box", size=(1, 1, 1), role="collision", foot=True)
    shin = Shape(body="Larm", type="box", size=(1, 1, 1), role="collision")
    model = build(robot(shape=(sole, shin))).compile()
    assert model.geom("Larm.1").friction[0] == pytest.approx(0.8)
    assert model.geom("Larm.1").priority[0] > model.geom("Larm.2").priority[0]
