"""The ant, the two AIBOs, the OP3 and the league's Nao: their numbers, and that they stand and walk."""

from __future__ import annotations

import math
import re
import tomllib
from typing import TYPE_CHECKING

import mujoco
import numpy as np
import pytest

from nutmeg.model.build import build
from nutmeg.model.posing import standing
from nutmeg.model.robot import ROBOTS_FOLDER, load_robot
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.sim.control_callback import install_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Floats

SPARK_TYPES = ["", "type0", "type1", "type2", "type3", "type4"]
ALL = [("ant", ""), ("ers7", ""), ("ers210", ""), ("robotis-op3", ""), *[("nao-spark", kind) for kind in SPARK_TYPES]]
ANT_SEGMENTS = ("L1_femur", "L1_tibia", "R3_femur", "R3_tibia")


def compiled(name: str, kind: str = "", parameters: Mapping[str, float] | None = None) -> mujoco.MjModel:
    return build(load_robot(name), kind=kind, parameters=parameters).compile()


def world(name: str, kind: str = "", parameters: Mapping[str, float] | None = None) -> Scene:
    placement = Placement(robot=name, name="it", type=kind, parameters=parameters or {})
    return assemble(SceneSettings(robots=(placement,), ball="none", visuals=False))


def started(scene: Scene) -> mujoco.MjData:
    data = mujoco.MjData(scene.model)
    data.qpos[:] = scene.start
    data.ctrl[:], data.act[:] = scene.commands, scene.setpoints
    mujoco.mj_forward(scene.model, data)
    return data


def own_contacts(model: mujoco.MjModel, data: mujoco.MjData) -> list[tuple[str, str]]:
    pairs = [(model.geom(c.geom1), model.geom(c.geom2)) for c in data.contact]
    return [(a.name, b.name) for a, b in pairs if a.name.startswith("it/") and b.name.startswith("it/")]


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_every_robot_stands_still_for_ten_seconds(name: str, kind: str) -> None:
    scene = world(name, kind)
    data = started(scene)
    install_for(data, scene.model)
    assert own_contacts(scene.model, data) == []
    start = data.qpos[:3].copy()
    for _ in range(round(10 / scene.timestep)):
        mujoco.mj_step(scene.model, data)
    assert np.linalg.norm(data.qpos[:3] - start) < 0.02
    assert data.xmat[scene.robots[0].body][8] > 0.999
    assert not any(warning.number for warning in data.warning)


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_every_pose_is_within_the_limits_of_its_joints(name: str, kind: str) -> None:
    robot = load_robot(name)
    heights = [standing(robot, pose, kind=kind).height for pose in robot.poses]
    assert all(0.03 < height < 0.5 for height in heights)


@pytest.mark.parametrize(
    ("name", "kind", "mass", "motors"),
    [
        ("ant", "", 1.65, 18),
        ("ers7", "", 1.65, 20),
        ("ers210", "", 1.40, 20),
        ("robotis-op3", "", 3.1475, 20),
        ("nao-spark", "", 4.6071, 22),
        ("nao-spark", "type3", 4.6071, 22),
        ("nao-spark", "type4", 4.6071, 24),
    ],
)
def test_mass_and_number_of_motors_are_those_of_the_robot(name: str, kind: str, mass: float, motors: int) -> None:
    model = compiled(name, kind)
    root = model.body(load_robot(name).body[0].name)
    assert root.subtreemass[0] == pytest.approx(mass, abs=1e-4)
    assert model.nu == motors
    hinges = [j for j in range(model.njnt) if not model.joint(j).name.endswith((".rotor", "root"))]
    assert len(hinges) == motors


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_the_right_side_is_the_mirror_image_of_the_left(name: str, kind: str) -> None:
    model = compiled(name, kind)
    flip = np.array([1.0, -1.0, 1.0])
    left = [b for b in range(model.nbody) if re.match("L[A-Z0-9]|l_", model.body(b).name)]
    assert left
    for b in left:
        name = model.body(b).name
        here, there = model.body(b), model.body(("R" if name[0] == "L" else "r") + name[1:])
        assert there.mass[0] == pytest.approx(here.mass[0])
        assert there.pos == pytest.approx(here.pos * flip, abs=1e-9)
        assert there.ipos == pytest.approx(here.ipos * flip, abs=1e-9)
        assert np.sort(there.inertia) == pytest.approx(np.sort(here.inertia), rel=1e-6)
        assert there.geomnum[0] == here.geomnum[0]
        for k in range(here.geomnum[0]):
            one, other = here.geomadr[0] + k, there.geomadr[0] + k
            assert model.geom_pos[other] == pytest.approx(model.geom_pos[one] * flip, abs=1e-6)


@pytest.mark.parametrize("name", ["ant", "ers7", "ers210", "nao-spark"])
def test_leaving_out_the_looks_leaves_the_physics_as_it_is(name: str) -> None:
    seen = build(load_robot(name)).compile()
    bare = build(load_robot(name), visuals=False).compile()
    assert bare.ngeom < seen.ngeom / 3
    for array in ("body_mass", "body_ipos", "body_inertia", "jnt_axis", "jnt_pos", "jnt_range"):
        assert getattr(bare, array) == pytest.approx(getattr(seen, array), abs=1e-12)


# The ant


def foot(model: mujoco.MjModel, leg: str) -> tuple[float, float]:
    """Length of femur and tibia as built."""
    femur = np.linalg.norm(model.body(f"{leg}Tibia").pos)
    tibia = np.linalg.norm(model.site(f"{leg}_foot").pos)
    return float(femur), float(tibia)


def test_the_ant_has_twelve_segments_and_the_same_axes_on_both_sides() -> None:
    model = compiled("ant")
    names = [model.joint(j).name for j in range(1, model.njnt)]
    assert names == [
        f"{leg}_{axis}" for leg in ("L1", "L2", "L3", "R1", "R2", "R3") for axis in ("yaw", "lift", "knee")
    ]
    for leg in ("L1", "L2", "L3", "R1", "R2", "R3"):
        assert foot(model, leg) == pytest.approx((0.075, 0.115))


@pytest.mark.parametrize("segment", ANT_SEGMENTS)
@pytest.mark.parametrize("ratio", [0.5, 1.5])
def test_a_length_of_the_ant_changes_one_segment_and_its_mass_alone(segment: str, ratio: float) -> None:
    plain, changed = compiled("ant"), compiled("ant", parameters={segment: ratio})
    leg, part = segment.split("_")
    body = leg + part.capitalize()
    index = ("femur", "tibia").index(part)
    for other in ("L1", "L2", "L3", "R1", "R2", "R3"):
        expected = list(foot(plain, other))
        if other == leg:
            expected[index] *= ratio
        assert foot(changed, other) == pytest.approx(expected)
    assert changed.body(body).mass[0] == pytest.approx(ratio * plain.body(body).mass[0])
    others = [b for b in range(1, plain.nbody) if plain.body(b).name != body]
    assert changed.body_mass[others] == pytest.approx(plain.body_mass[others])


@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.5])
def test_a_segment_of_the_ant_has_the_inertia_of_a_cylinder(ratio: float) -> None:
    model = compiled("ant", parameters={"R3_femur": ratio})
    mass, length, radius = 0.065 * ratio, 0.075 * ratio, 0.012
    across = mass * (3 * radius**2 + length**2) / 12
    expected = sorted([across, across, mass * radius**2 / 2])
    assert sorted(model.body("R3Femur").inertia) == pytest.approx(expected)
    assert model.body("R3Femur").ipos[1] == pytest.approx(-length / 2)


def positive_turn(model: mujoco.MjModel, joint: str, site: str) -> Floats:
    """How a point of the robot moves when a joint turns a little in its positive direction."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    before = data.site(site).xpos.copy()
    data.qpos[model.joint(joint).qposadr[0]] += 0.01
    mujoco.mj_forward(model, data)
    return np.asarray(data.site(site).xpos - before)


@pytest.mark.parametrize(("leg", "out"), [("L1", 1), ("L2", 1), ("L3", 1), ("R1", -1), ("R2", -1), ("R3", -1)])
def test_positive_angles_of_the_ant_swing_forward_lift_and_stretch(leg: str, out: int) -> None:
    model = compiled("ant")
    assert positive_turn(model, f"{leg}_yaw", f"{leg}_foot")[0] > 0
    assert positive_turn(model, f"{leg}_lift", f"{leg}_foot")[2] > 0
    assert out * positive_turn(model, f"{leg}_knee", f"{leg}_foot")[1] > 0


def walk(
    scene: Scene, frequency: float, joints: Mapping[str, Mapping[str, float]], seconds: float
) -> tuple[float, float]:
    """Distance walked forward, and the least uprightness on the way."""
    data, table = started(scene), scene.robots[0]
    theta, a, psi = (np.array([joints[name][key] for name in table.motors]) for key in ("theta", "a", "psi"))
    upright = 1.0
    for _ in range(round(seconds / scene.timestep)):
        data.ctrl[table.commands] = theta + a * np.sin(2 * math.pi * frequency * data.time + psi)
        mujoco.mj_step(scene.model, data)
        upright = min(upright, float(data.xmat[table.body][8]))
    return float(data.qpos[0]), upright


def test_the_tripod_gait_of_the_ant_walks_twenty_seconds_without_tumbling() -> None:
    gait = tomllib.loads((ROBOTS_FOLDER / "ant" / "gaits.toml").read_text(encoding="utf-8"))["gaits"]["tripod"]
    distance, upright = walk(world("ant"), gait["frequency"], gait["joints"], 20.0)
    assert distance > 0.15 * 20
    assert upright > 0.98


def test_the_tripod_gait_of_the_ant_stays_within_its_limits() -> None:
    gait = tomllib.loads((ROBOTS_FOLDER / "ant" / "gaits.toml").read_text(encoding="utf-8"))["gaits"]["tripod"]
    model = compiled("ant")
    assert len(gait["joints"]) == 18
    for name, wave in gait["joints"].items():
        low, high = model.joint(name).range
        assert low <= wave["theta"] - wave["a"]
        assert wave["theta"] + wave["a"] <= high


def test_an_ant_with_any_body_and_any_controller_stays_on_its_feet() -> None:
    random = np.random.default_rng(7)
    centre = {"yaw": 0.0, "lift": 0.5, "knee": -0.1}
    for _ in range(6):
        scene = world("ant", parameters={name: float(random.uniform(0.5, 1.5)) for name in ANT_SEGMENTS})
        joints = {
            name: {"theta": centre[name[3:]], "a": random.uniform(0, 0.4), "psi": random.uniform(-math.pi, math.pi)}
            for name in scene.robots[0].motors
        }
        _, upright = walk(scene, 1.2, joints, 4.0)
        assert upright > 0.7


# AIBO


def link(theta: float, d: float, alpha: float, r: float, angle: float = 0.0) -> Floats:
    """Rz(theta) Tz(d) Tx(r) Rx(alpha) Rz(angle), with theta and alpha in degrees and d and r in millimetres."""

    def turn_z(a: float) -> Floats:
        return np.array(
            [[math.cos(a), -math.sin(a), 0, 0], [math.sin(a), math.cos(a), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
        )

    shift = np.eye(4)
    shift[:3, 3] = r / 1000, 0, d / 1000
    a = math.radians(alpha)
    turn_x = np.array([[1, 0, 0, 0], [0, math.cos(a), -math.sin(a), 0], [0, math.sin(a), math.cos(a), 0], [0, 0, 0, 1]])
    return np.asarray(turn_z(math.radians(theta)) @ shift @ turn_x @ turn_z(angle))


ERS7_LEGS = {
    "LFr": ((0, 0, 90, 65), (-90, -62.5, -90, 0), (0, 9, 90, 69.5), (-4.4088, -4.7, 0, 65.434)),
    "RFr": ((0, 0, 90, 65), (-90, 62.5, 90, 0), (0, -9, -90, 69.5), (-4.4088, 4.7, 0, 65.434)),
    "LBk": ((0, 0, -90, -65), (90, 62.5, 90, 0), (0, -9, -90, 69.5), (-11.537, 4.7, 180, 67.647)),
    "RBk": ((0, 0, -90, -65), (90, -62.5, -90, 0), (0, 9, 90, 69.5), (-11.537, -4.7, 180, 67.647)),
}
ERS7_CAMERA = ((0, 19.5, 90, 67.5), (0, 0, -90, 0), (0, 80, 90, 0), (-90, 0, -90, 14.6), (-90, 81.06, 0, 0))
ERS210_CAMERA = ((0, 50, 90, 75), (0, 0, -90, 0), (90, 48, 90, 0), (180, 66.6, 0, 0))


def chain(rows: tuple[tuple[float, float, float, float], ...], angles: Floats) -> Floats:
    frame = np.eye(4)
    for row, angle in zip(rows, [*angles, *[0.0] * (len(rows) - len(angles))], strict=True):
        frame = frame @ link(*row, angle)
    return frame


def set_joints(model: mujoco.MjModel, angles: Mapping[str, float]) -> mujoco.MjData:
    data = mujoco.MjData(model)
    for name, angle in angles.items():
        data.qpos[model.joint(name).qposadr[0]] = angle
    mujoco.mj_forward(model, data)
    return data


@pytest.mark.parametrize("leg", ERS7_LEGS)
def test_the_paws_of_the_ers7_are_where_denavit_and_hartenberg_say(leg: str) -> None:
    model = compiled("ers7")
    random = np.random.default_rng(3)
    for angles in (np.zeros(3), *random.uniform(-0.4, 1.4, (5, 3))):
        names = [f"{leg}:{joint}" for joint in ("rotor", "elvtr", "knee")]
        data = set_joints(model, dict(zip(names, angles, strict=True)))
        assert data.site(f"{leg}Paw").xpos == pytest.approx(chain(ERS7_LEGS[leg], angles)[:3, 3], abs=2e-5)


@pytest.mark.parametrize(
    ("name", "rows", "last"), [("ers7", ERS7_CAMERA, "NECK:nod"), ("ers210", ERS210_CAMERA, "NECK:roll")]
)
def test_the_camera_looks_from_the_end_of_the_neck_chain(
    name: str, rows: tuple[tuple[float, float, float, float], ...], last: str
) -> None:
    model = compiled(name)
    for angles in (np.zeros(3), np.array([-0.4, 0.7, 0.3])):
        data = set_joints(model, dict(zip(("NECK:tilt", "NECK:pan", last), angles, strict=True)))
        frame = chain(rows, angles)
        assert data.camera("camera").xpos == pytest.approx(frame[:3, 3], abs=2e-5)
        assert -data.camera("camera").xmat.reshape(3, 3)[:, 2] == pytest.approx(frame[:3, 2], abs=1e-4)


@pytest.mark.parametrize(
    ("leg", "ball"),
    [
        ("LFr", (59.5 + 12.8 - 18.88, 59.2 + 0.5, -64.0 - 66.0)),
        ("RFr", (59.5 + 12.8 - 18.88, -59.2 - 0.5, -64.0 - 66.0)),
        ("LBk", (-59.5 - 12.8 + 29.36, 59.2 + 0.5, -64.0 - 70.88)),
        ("RBk", (-59.5 - 12.8 + 29.36, -59.2 - 0.5, -64.0 - 70.88)),
    ],
)
def test_the_outermost_point_of_an_ers210_paw_is_the_ball_of_its_foot(
    leg: str, ball: tuple[float, float, float]
) -> None:
    data = set_joints(compiled("ers210"), {})
    paw, knee = data.site(f"{leg}Paw").xpos, data.body(f"{leg}Shank").xpos
    outermost = paw + 0.0125 * (paw - knee) / np.linalg.norm(paw - knee)
    assert 1000 * outermost == pytest.approx(ball, abs=0.05)


@pytest.mark.parametrize(
    ("name", "degrees"),
    [
        (
            "ers7",
            {
                "LFr:rotor": (-115, 130), "RFr:rotor": (-115, 130), "LBk:rotor": (-130, 115), "RBk:rotor": (-130, 115),
                "LFr:elvtr": (-10, 88), "RBk:elvtr": (-10, 88), "LFr:knee": (-25, 122), "RBk:knee": (-25, 122),
                "NECK:tilt": (-75, 0), "NECK:pan": (-88, 88), "NECK:nod": (-15, 45), "MOUTH": (-55, -3),
                "TAIL:tilt": (5, 60), "TAIL:pan": (-45, 45),
            },
        ),
        (
            "ers210",
            {
                "LFr:rotor": (-117, 117), "RBk:rotor": (-117, 117), "LFr:elvtr": (-11, 89), "LBk:knee": (-27, 147),
                "NECK:tilt": (-82, 43), "NECK:pan": (-89.6, 89.6), "NECK:roll": (-29, 29), "MOUTH": (-47, -3),
                "TAIL:tilt": (-22, 22), "TAIL:pan": (-22, 22),
            },
        ),
        (
            "nao-spark",
            {
                "hj1": (-120, 120), "hj2": (-45, 45), "laj1": (-120, 120), "laj2": (-1, 95), "raj2": (-95, 1),
                "laj4": (-90, 1), "raj4": (-1, 90), "llj1": (-90, 1), "llj2": (-25, 45), "rlj2": (-45, 25),
                "llj3": (-25, 100), "llj4": (-130, 1), "llj5": (-45, 75), "llj6": (-45, 25), "rlj6": (-25, 45),
            },
        ),
    ],
)  # fmt: skip
def test_joint_limits_are_those_of_the_platform(name: str, degrees: Mapping[str, tuple[float, float]]) -> None:
    model = compiled(name)
    for joint, limits in degrees.items():
        assert np.degrees(model.joint(joint).range) == pytest.approx(limits, abs=1e-3)


@pytest.mark.parametrize("name", ["ers7", "ers210"])
@pytest.mark.parametrize(("leg", "ahead", "out"), [("LFr", 1, 1), ("RFr", 1, -1), ("LBk", -1, 1), ("RBk", -1, -1)])
def test_positive_angles_of_an_aibo_mean_the_same_left_and_right(name: str, leg: str, ahead: int, out: int) -> None:
    model = compiled(name)
    assert ahead * positive_turn(model, f"{leg}:rotor", f"{leg}Paw")[0] > 0
    assert out * positive_turn(model, f"{leg}:elvtr", f"{leg}Paw")[1] > 0
    assert ahead * positive_turn(model, f"{leg}:knee", f"{leg}Paw")[0] > 0


@pytest.mark.parametrize("name", ["ers7", "ers210"])
def test_every_joint_of_an_aibo_but_the_ears_carries_its_openr_locator(name: str) -> None:
    sources = {b.joint.name: b.source for b in load_robot(name).body if b.joint}
    moved = {joint: source for joint, source in sources.items() if not joint.startswith("EAR")}
    assert len(moved) == 18
    assert all(source.startswith("PRM:/r") for source in moved.values())
    locators = [source.split(" ")[0] for source in moved.values()]
    assert len(set(locators)) == 18


@pytest.mark.parametrize("name", ["ers7", "ers210"])
def test_masses_of_an_aibo_are_parameters_with_room_to_identify_them(name: str) -> None:
    robot = load_robot(name)
    assert len(robot.parameters) == 11
    for parameter, prior in robot.parameters.items():
        assert prior.low <= 0.6 * prior.value
        assert prior.high >= 1.4 * prior.value
        plain, heavy = compiled(name), compiled(name, parameters={parameter: prior.high})
        assert heavy.body_mass.sum() > plain.body_mass.sum()


# The league's Nao


@pytest.mark.parametrize("kind", SPARK_TYPES)
def test_only_type_2_has_other_ankle_speeds(kind: str) -> None:
    model = compiled("nao-spark", kind)
    pitch, roll = (8.80667, 3.47234) if kind == "type2" else (6.1395, 6.1395)
    for side in "lr":
        assert model.actuator(f"{side}lj5").ctrlrange[1] == pytest.approx(pitch)
        assert model.actuator(f"{side}lj6").ctrlrange[1] == pytest.approx(roll)
        assert model.actuator(f"{side}lj4").ctrlrange[1] == pytest.approx(6.1395)


def test_the_order_of_motors_is_the_same_in_all_types_without_toes() -> None:
    orders = [[a.name for a in build(load_robot("nao-spark"), kind=kind).actuators] for kind in SPARK_TYPES[:-1]]
    assert all(order == orders[0] for order in orders)


@pytest.mark.parametrize(
    ("kind", "hip", "leg", "elbow"),
    [
        ("type0", 0.055, 0.04 + 0.125 + 0.055 + 0.04, 0.07),
        ("type1", 0.055, 0.05832 + 0.125 + 0.07332 + 0.04, 0.10664),
        ("type3", 0.072954143, 0.067868424 + 0.125 + 0.082868424 + 0.04, 0.125736848),
        ("type4", 0.055, 0.04 + 0.125 + 0.055 + 0.04, 0.07),
    ],
)
def test_types_of_the_leagues_nao_have_the_servers_lengths(kind: str, hip: float, leg: float, elbow: float) -> None:
    data = set_joints(compiled("nao-spark", kind), {})
    assert data.body("LHip1").xpos[1] == pytest.approx(hip)
    assert data.body("LHip1").xpos[2] - data.body("LFoot").xpos[2] == pytest.approx(leg)
    assert data.body("LElbow").xpos[0] - data.body("LUpperArm").xpos[0] == pytest.approx(elbow)


def test_foot_and_toe_of_type_4_cover_the_sole_of_the_other_types() -> None:
    whole, split = compiled("nao-spark"), compiled("nao-spark", "type4")
    length = 0.035517656
    assert split.body("LToe").mass[0] == pytest.approx(0.2 * length / 0.32)
    assert split.body("LToe").mass[0] + split.body("LFoot").mass[0] == pytest.approx(0.2)
    sole, foot_box, toe_box = whole.geom("LFoot.1"), split.geom("LFoot.1"), split.geom("LToe.1")
    assert 2 * (foot_box.size[0] + toe_box.size[0]) == pytest.approx(2 * sole.size[0])
    data = set_joints(split, {})
    heel = data.body("LFoot").xpos[0] - foot_box.size[0]
    tip = data.body("LToe").xpos[0] + toe_box.size[0]
    assert tip - heel == pytest.approx(0.16)
    assert heel == pytest.approx(set_joints(whole, {}).body("LFoot").xpos[0] - sole.size[0])
    bottoms = [data.body(b).xpos[2] - split.geom(f"{b}.1").size[2] for b in ("LFoot", "LToe")]
    assert bottoms[0] == pytest.approx(bottoms[1])


def test_the_toe_of_type_4_bends_upward_by_up_to_seventy_degrees() -> None:
    model = compiled("nao-spark", "type4")
    assert np.degrees(model.joint("llj7").range) == pytest.approx((-1, 70), abs=1e-3)
    assert positive_turn(model, "llj7", "lf1")[2] > 0


def test_joints_without_a_collider_have_the_inertia_of_a_ball_of_one_centimetre() -> None:
    model = compiled("nao-spark")
    for name, mass in (("LShoulder", 0.07), ("RElbow", 0.035), ("LHip1", 0.09), ("RHip2", 0.125), ("LAnkle", 0.125)):
        assert model.body(name).inertia == pytest.approx([0.4 * mass * 1e-4] * 3)
        assert all(
            model.geom_contype[g] == 0 for g in range(model.ngeom) if model.geom_bodyid[g] == model.body(name).id
        )


def test_the_leagues_nao_feels_its_weight_on_its_soles() -> None:
    scene = world("nao-spark", "type4")
    data = started(scene)
    install_for(data, scene.model)
    for _ in range(100):
        mujoco.mj_step(scene.model, data)
    force = sum(float(data.sensor(f"it/{name}").data[0]) for name in ("lf", "rf", "lf1", "rf1"))
    assert force == pytest.approx(4.6071 * 9.81, rel=0.02)
