"""Adjustments: each target does what it says, and what cannot be done says why."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import ModelError, NutmegError, UnknownNameError
from nutmeg.model import Adjustment, Placement, Scene, SceneSettings, assemble
from nutmeg.model.actuation import Actuation
from nutmeg.model.parameters import FAMILIES, INERTIA_NUMBERS, Target, parse_target, pseudo_inertia
from nutmeg.model.physics import PROFILES, Physics
from nutmeg.sim import Worlds

BOX = """
<mujoco>
  <worldbody>
    <body name="trunk" pos="0 0 0.3" euler="0 0 90">
      <freejoint/>
      <geom type="box" size="0.1 0.05 0.02"/>
      <body name="arm" pos="0.1 0 0">
        <joint name="elbow" axis="0 1 0" damping="0.2"/>
        <inertial pos="0.1 0 0" mass="0.4" diaginertia="0.001 0.002 0.003"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


URDF = """
<robot name="arm">
  <link name="base"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0.1 0 0"/><mass value="0.4"/>
    <inertia ixx="0.001" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="fore"/><origin xyz="0.2 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="5" velocity="5"/></joint>
</robot>
"""


def a(target: str, value: float, *, relative: bool = False) -> Adjustment:
    return Adjustment(target=target, value=value, relative=relative)


def scene(
    robot: str,
    *adjustments: Adjustment,
    physics: str | Physics = "",
    actuation: str = "ideal",
    held: bool = False,
    height: float = 0.0,
) -> Scene:
    placement = Placement(robot=robot, name="r", actuation=actuation, adjustments=adjustments, held=held, height=height)
    return assemble(SceneSettings(ball="none", visuals=False, physics=physics, robots=(placement,)))


@pytest.fixture(scope="module")
def ant() -> Scene:
    return scene("ant")


def test_a_target_is_taken_apart_at_its_first_and_last_dot() -> None:
    assert parse_target("joint.LTibia.end.damping") == Target("joint", "LTibia.end", "damping")
    assert parse_target("physics.contact.solref_1") == Target("physics", "", "contact.solref_1")
    assert parse_target("mass.*Tibia") == Target("mass", "*Tibia")
    assert parse_target("delay") == Target("delay")


def test_a_parameter_of_the_robot_is_set_and_comes_before_masses() -> None:
    plain = scene("ant", a("robot.L1_femur", 0.8)).model
    both = scene("ant", a("mass.L1Femur", 2.0, relative=True), a("robot.L1_femur", 0.8)).model
    assert plain.body("r/L1Tibia").pos[1] == pytest.approx(0.8 * 0.075)
    assert both.body("r/L1Femur").mass == pytest.approx(2 * plain.body("r/L1Femur").mass, rel=1e-5)


def test_a_mass_takes_its_inertia_along(ant: Scene) -> None:
    found = scene("ant", a("mass.*Tibia", 1.5, relative=True), a("mass.Torso", 0.7)).model
    for leg in ("L1", "R3"):
        old, new = (model.body(f"r/{leg}Tibia") for model in (ant.model, found))
        assert new.mass == pytest.approx(1.5 * old.mass, rel=1e-5)
        assert new.inertia == pytest.approx(1.5 * old.inertia, rel=1e-5)
        assert new.ipos == pytest.approx(old.ipos, abs=1e-6)
    assert found.body("r/Torso").mass == pytest.approx(0.7)
    assert found.body("r/L1Coxa").mass == pytest.approx(ant.model.body("r/L1Coxa").mass)


def test_the_mass_of_a_bending_link_is_that_of_both_halves() -> None:
    model = scene("nao-v4", a("mass.LTibia", 0.5), actuation="motoflex").model
    assert model.body("r/LTibia").mass + model.body("r/LTibia.end").mass == pytest.approx(0.5)


def test_masses_of_a_model_file_can_be_set_given_or_from_shapes(tmp_path: Path) -> None:
    path = tmp_path / "box.xml"
    path.write_text(BOX)
    old, new = scene(str(path)).model, scene(str(path), a("mass.trunk", 0.3), a("mass.arm", 2, relative=True)).model
    assert new.body("r/trunk").mass == pytest.approx(0.3)
    factor = 0.3 / old.body("r/trunk").mass
    assert new.body("r/trunk").inertia == pytest.approx(factor * old.body("r/trunk").inertia, rel=1e-5)
    assert new.body("r/arm").mass == pytest.approx(0.8)
    assert new.body("r/arm").inertia == pytest.approx([0.002, 0.004, 0.006], rel=1e-5)


def test_joints_take_numbers_whatever_drives_them() -> None:
    for actuation in ("ideal", "motoflex"):
        adjustments = (a("joint.*KneePitch.damping", 0.3), a("joint.LKneePitch.armature", 0.02))
        model = scene("nao-v6", *adjustments, a("joint.RKneePitch.friction", 0.4), actuation=actuation).model
        left, right = model.joint("r/LKneePitch"), model.joint("r/RKneePitch")
        assert (left.damping[0], right.damping[0]) == pytest.approx((0.3, 0.3))
        assert (left.armature[0], right.frictionloss[0]) == pytest.approx((0.02, 0.4))
        assert model.joint("r/LHipPitch").damping[0] != pytest.approx(0.3)


def test_drives_and_soles_take_numbers(ant: Scene) -> None:
    found = scene(
        "ant", a("drives.*.stiffness", 0.5, relative=True), a("drives.*.torque", 0.4), a("foot.friction", 0.3)
    )
    old, new = ant.model.actuator("r/L1_knee"), found.model.actuator("r/L1_knee")
    assert new.biasprm[1] == pytest.approx(old.biasprm[1] / 2)
    assert new.forcerange == pytest.approx([-0.4, 0.4])
    assert found.robots[0].settings.foot.friction == 0.3
    soles = found.model.geom_priority == 1
    assert soles.sum() == 6
    assert found.model.geom_friction[soles, 0] == pytest.approx(0.3)


def test_the_actuation_takes_numbers_and_the_placement_tells_them() -> None:
    found = scene(
        "nao-v6",
        a("servo.*.p", 2.0, relative=True),
        a("gear.*.play", 0.01),
        a("flex.*.stiffness", 300.0),
        a("battery.resistance", 0.2),
        a("mass.torso", 1.1),
        actuation="motoflex",
    )
    placement = found.placements[0]
    assert placement.adjustments == (a("mass.torso", 1.1),)
    assert isinstance(placement.actuation, Actuation)
    assert placement.actuation.battery.resistance == 0.2
    assert {gear.play for gear in placement.actuation.gear.values()} == {0.01}
    plain = scene("nao-v6", actuation="motoflex").model
    assert found.model.actuator_gainprm[:, 4] == pytest.approx(2 * plain.actuator_gainprm[:, 4], rel=1e-5)
    again = assemble(dataclasses.replace(found.settings, robots=found.placements))
    assert again.xml == found.xml


def test_numbers_that_depend_on_each_other_are_checked_when_all_are_set() -> None:
    pair = (a("servo.leg130.coulomb", 0.5), a("servo.leg130.static", 0.6))
    for order in (pair, pair[::-1]):
        found = scene("nao-v6", *order, actuation="servo").placements[0].actuation
        assert isinstance(found, Actuation)
        assert (found.servo["leg130"].coulomb, found.servo["leg130"].static) == (0.5, 0.6)
    with pytest.raises(ModelError, match=r"servo\.leg130\.coulomb, servo\.leg130\.static: .*static is 0\.4"):
        scene("nao-v6", pair[0], a("servo.leg130.static", 0.4), actuation="servo")


def test_the_world_takes_numbers() -> None:
    found = scene("ant", a("physics.timestep", 0.002), a("physics.impratio", 3.0))
    assert (found.timestep, found.model.opt.impratio) == (0.002, 3.0)
    spark = scene(
        "nao-spark",
        a("physics.contact.friction", 7.0),
        a("physics.contact.solimp", 0.97),
        a("physics.contact.solref_0", 0.5, relative=True),
        physics="league-native",
    )
    shape = np.flatnonzero(spark.model.geom_friction[:, 0] == 7.0)
    assert len(shape) > 3
    assert spark.model.geom_solref[shape[0]] == pytest.approx([-500.0, -50.0])
    assert spark.model.geom_solimp[shape[0], :2] == pytest.approx([0.97, 0.97])


def test_physics_can_be_given_as_numbers() -> None:
    own = dataclasses.replace(PROFILES["standard"], timestep=0.001, impratio=2.0)
    found = scene("ant", physics=own)
    assert found.physics == own
    assert (found.timestep, found.model.opt.impratio) == (0.001, 2.0)


def test_two_robots_cannot_want_two_worlds() -> None:
    def pair(first: float, second: float) -> SceneSettings:
        robots = tuple(
            Placement(robot="ant", pos=(i, 0), adjustments=(a("physics.impratio", v, relative=True),))
            for i, v in enumerate((first, second))
        )
        return SceneSettings(ball="none", robots=robots, visuals=False)

    assert assemble(pair(2.0, 2.0)).physics.impratio == 2.0
    with pytest.raises(ModelError, match=r"two robots of this scene set physics\.impratio differently"):
        assemble(pair(2.0, 3.0))


@pytest.mark.parametrize(
    ("robot", "target", "value", "message"),
    [
        ("ant", "robot.L1_femr", 1.0, "Did you mean 'L1_femur'"),
        ("ant", "robot.L1_femur", math.nan, r"robot\.L1_femur is nan; it must be a finite number"),
        ("ant", "mass.Torzo", 1.0, r"target 'mass\.Torzo': unknown body .* Did you mean 'Torso'"),
        ("ant", "mass.Torso", -1.0, r"mass\.Torso is -1 kg; it must be above 0"),
        ("ant", "joint.L1_kne.damping", 1.0, "Did you mean 'L1_knee'"),
        ("ant", "joint.L1_knee.stiffness", 1.0, "unknown number of joint 'stiffness'"),
        ("ant", "joint.L1_knee.damping", -1.0, "it must be 0 or above"),
        ("ant", "joint.damping", 1.0, r"it is written joint\.JOINT\.FIELD"),
        ("ant", "drives.leg.stiffness", 1.0, "unknown group in drives 'leg'. Known groups in drives: servo"),
        ("ant", "drives.*.stifness", 1.0, "Did you mean 'stiffness'"),
        ("ant", "drives.*.stiffness", 0.0, r"drives\.\*\.stiffness: stiffness is 0; allowed is above 0"),
        ("ant", "servo.*.p", 1.0, "ant has ideal drives here"),
        ("ant", "battery.voltage", 1.0, "ant has ideal drives here"),
        ("ant", "foot.friction", -0.1, r"foot\.friction is -0\.1"),
        ("ant", "foot.radius", 0.1, "unknown number of foot 'radius'. Known numbers of foot: friction"),
        ("ant", "physics.gravity", 1.0, "unknown number of physics 'gravity'"),
        ("ant", "physics.timestep", 1.0, "timestep is 1.0 s; allowed is"),
        ("ant", "physics.contact.friction", 1.0, "leaves contacts to the robots"),
        ("ant", "delay", -0.1, "delay is a time of 0 s or above"),
        ("ant", "fot.friction", 1.0, "Did you mean 'foot'"),
        ("nao-spark", "foot.friction", 1.0, "it does not limit friction"),
        ("nao-spark", "drives.*.damping", 1.0, "no effect on the velocity drive"),
        ("nao-spark", "physics.contact.solimp", 1.0, "leaves contacts to the robots"),
    ],
)
def test_what_cannot_be_set_says_why(robot: str, target: str, value: float, message: str) -> None:
    with pytest.raises(NutmegError, match=message):
        scene(robot, a(target, value))


def test_ideal_drives_have_no_numbers_where_servos_drive() -> None:
    with pytest.raises(ModelError, match=r"servos drive nao-v6 here. Set servo\.GROUP\.FIELD"):
        scene("nao-v6", a("drives.*.stiffness", 1.0), actuation="servo")
    with pytest.raises(UnknownNameError, match="There are no groups in gear here"):
        scene("nao-v6", a("gear.*.play", 0.01), actuation="servo")


def test_the_module_tells_of_every_family() -> None:
    from nutmeg.model import parameters

    assert parameters.__doc__ is not None
    assert all(f"`{family}" in parameters.__doc__ for family in FAMILIES)


@pytest.mark.parametrize(("robot", "actuation"), [("nao-v6", "ideal"), ("nao-v6", "motoflex"), ("nao-spark", "ideal")])
def test_a_held_robot_stays_where_it_is_while_its_joints_move(robot: str, actuation: str) -> None:
    free = scene(robot, actuation=actuation, height=0.2)
    held = scene(robot, actuation=actuation, height=0.2, held=True)
    table = held.robots[0]
    assert table.root == table.root_rate == -1
    assert table.joints == free.robots[0].joints
    assert table.motors == free.robots[0].motors
    worlds = Worlds(held)
    places = worlds.batch.bind("xpos")
    worlds.refresh()
    before = places[0, table.body].copy()
    assert before == pytest.approx(free.start[:3], abs=1e-5)
    command = worlds.robot("r").command.copy()
    command[:, :4] += 0.2
    worlds.robot("r").command = command
    worlds.advance(0.4)
    worlds.refresh()
    assert places[0, table.body] == pytest.approx(before, abs=0)
    assert np.abs(worlds.robot("r").angles - held.start[table.angles]).max() > 0.01
    alone = mujoco.MjModel.from_xml_string(held.xml)
    assert (alone.nq, alone.nu) == (held.model.nq, held.model.nu)


def test_a_held_robot_of_a_model_file_is_where_its_free_joint_would_begin(tmp_path: Path) -> None:
    path = tmp_path / "box.xml"
    path.write_text(BOX)
    free, held = scene(str(path)), scene(str(path), held=True)
    data = mujoco.MjData(held.model)
    mujoco.mj_kinematics(held.model, data)
    body = held.robots[0].body
    assert data.xpos[body] == pytest.approx(free.start[:3], abs=1e-5)
    assert data.xquat[body] == pytest.approx(free.start[3:7], abs=1e-5)


def test_a_robot_cannot_be_held_and_parked() -> None:
    with pytest.raises(ModelError, match="parked and held"):
        assemble(SceneSettings(robots=(Placement(robot="ant", held=True, parked=True),)))


@pytest.mark.parametrize(("robot", "actuation"), [("ant", "ideal"), ("nao-v6", "servo"), ("nao-spark", "ideal")])
def test_a_delay_of_the_motors_shifts_what_they_do(robot: str, actuation: str) -> None:
    paths = []
    for delay in (0.0, 0.06):
        placement = Placement(robot=robot, name="r", actuation=actuation, held=True, height=0.3, delay=delay)
        own = dataclasses.replace(PROFILES["standard"], timestep=0.004)
        worlds = Worlds(assemble(SceneSettings(ball="none", visuals=False, physics=own, robots=(placement,))))
        worlds.advance(1.0)
        body = worlds.robot("r")
        body.command = body.command + 0.2
        angles = []
        for _ in range(80):
            angles.append(body.angles[0].copy())
            worlds.step()
        paths.append(np.array(angles))
    at_once, later = paths
    assert np.abs(at_once - at_once[0]).max() > 0.05
    assert later[15:] == pytest.approx(at_once[:-15], abs=2e-3)
    assert np.abs(later[:15] - later[0]).max() < 2e-3


@pytest.mark.parametrize("kind", ["mjcf", "toml"])
def test_log_cholesky_numbers_of_zero_change_nothing_and_any_others_make_a_body_that_can_exist(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "box.xml"
    path.write_text(BOX)
    robot, body = (str(path), "arm") if kind == "mjcf" else ("ant", "L1Tibia")
    old = scene(robot).model.body(f"r/{body}")
    same = scene(robot, a(f"inertia.{body}.alpha", 0.0)).model.body(f"r/{body}")
    assert (same.mass, np.sort(same.inertia)) == (
        pytest.approx(old.mass),
        pytest.approx(np.sort(old.inertia), rel=1e-4),
    )
    heavier = scene(robot, a(f"inertia.{body}.alpha", 0.1)).model.body(f"r/{body}")
    assert heavier.mass == pytest.approx(math.exp(0.2) * old.mass, rel=1e-5)
    assert heavier.ipos == pytest.approx(old.ipos, abs=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(5):
        numbers = rng.normal(0, 0.5, len(INERTIA_NUMBERS))
        wild = [a(f"inertia.{body}.{n}", float(v)) for n, v in zip(INERTIA_NUMBERS, numbers, strict=True)]
        model = scene(robot, *wild).model
        sizes = np.linalg.eigvalsh(pseudo_inertia(model, f"r/{body}"))
        assert sizes.min() > 0, "there is a density with these moments"


def test_the_inertia_of_shapes_that_a_model_file_insists_on_can_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "box.xml"
    path.write_text(BOX.replace("<mujoco>", '<mujoco><compiler inertiafromgeom="true"/>'))
    old, new = scene(str(path)).model, scene(str(path), a("com.arm.z", 0.03)).model
    assert new.body("r/arm").ipos[2] == pytest.approx(0.03)
    assert new.body("r/arm").mass == pytest.approx(old.body("r/arm").mass, rel=1e-5)
    kept, before = (np.sort(model.body("r/trunk").inertia) for model in (new, old))
    assert kept == pytest.approx(before, rel=1e-4)


def test_a_centre_of_mass_and_a_length_of_a_urdf_robot_are_set(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    old = scene(str(path)).model
    new = scene(str(path), a("com.fore.x", 0.12), a("offset.fore.x", 1.5, relative=True)).model
    assert new.body("r/fore").ipos == pytest.approx([0.12, 0, 0], abs=1e-6)
    assert new.body("r/fore").inertia == pytest.approx(old.body("r/fore").inertia, rel=1e-4)
    assert new.body("r/fore").pos == pytest.approx([1.5 * old.body("r/fore").pos[0], 0, 0], abs=1e-6)
    with pytest.raises(ModelError, match="cannot be relative"):
        scene(str(path), a("inertia.fore.d1", 1.0, relative=True))
    with pytest.raises(UnknownNameError, match="t4"):
        scene(str(path), a("inertia.fore.t4", 1.0))
