"""Policies: their files, what the network is asked and answers, and robots that walk by them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import FileError, UnknownNameError, UsageError
from nutmeg.learning.courses import start_walkers, yaw_of
from nutmeg.learning.policies.walk_task import walk_scene
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.motion.bodies import Mirror, OnboardRobot
from nutmeg.motion.legs.feet import find_feet, mirror_of
from nutmeg.motion.policy import (
    MAX_SIDEWARD_ACCELERATION,
    Gait,
    Network,
    PolicyWalker,
    mirror_image,
    policy_table,
    read_network,
    write_network,
)
from nutmeg.motion.policy_kernels import approach, decide, run_network
from nutmeg.motion.walk.files import read_walk, walk_text, write_walk

if TYPE_CHECKING:
    from pathlib import Path

TYPES = ("type0", "type1", "type2", "type3", "type4")


def small_network(seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)
    sizes = np.array([4, 6, 5, 3])
    count = sum((a + 1) * b for a, b in itertools.pairwise(sizes))
    return Network(
        rng.standard_normal(4).astype(np.float32),
        np.abs(rng.standard_normal(4)).astype(np.float32),
        rng.standard_normal(count).astype(np.float32),
        sizes,
    )


def ground(kind: str) -> Scene:
    placement = Placement(robot="nao-spark", name="walker", type=kind)
    return assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))


def test_a_network_answers_as_its_layers_say() -> None:
    network = small_network()
    seen = np.array([0.3, -1.0, 0.5, 2.0], np.float32)
    values, place = (seen - network.mean) * network.scale, 0
    for number, (wide, out) in enumerate(((4, 6), (6, 5), (5, 3))):
        weights = network.layers[place : place + wide * out].reshape(wide, out)
        place += wide * out
        values = values @ weights + network.layers[place : place + out]
        place += out
        values = np.tanh(values) if number < 2 else values
    assert run_network(seen, network) == pytest.approx(values, rel=1e-5, abs=1e-6)


def test_a_network_comes_back_from_its_file_in_half_precision(tmp_path: Path) -> None:
    network = small_network()
    write_network(tmp_path / "one.npz", network)
    found = read_network(tmp_path / "one.npz")
    assert np.array_equal(found.sizes, network.sizes)
    assert found.layers == pytest.approx(network.layers, rel=1e-3, abs=1e-4)


def test_files_that_are_no_networks_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist; the weights of a network belong"):
        read_network(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(FileError, match=r"text\.npz.*is no network"):
        read_network(tmp_path / "text.npz")
    write_network(tmp_path / "whole.npz", small_network())
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:200])
    with pytest.raises(FileError, match=r"cut\.npz.*is no network"):
        read_network(tmp_path / "cut.npz")
    write_network(tmp_path / "short.npz", small_network()._replace(layers=np.zeros(7, np.float32)))
    with pytest.raises(FileError, match="has 7 weights for layers of"):
        read_network(tmp_path / "short.npz")
    write_network(tmp_path / "nan.npz", small_network()._replace(mean=np.full(4, np.nan, np.float32)))
    with pytest.raises(FileError, match="not finite"):
        read_network(tmp_path / "nan.npz")


def test_a_policy_comes_back_from_its_walk_file(tmp_path: Path) -> None:
    walk = read_walk("policy")
    assert walk.policy is not None
    write_walk(tmp_path / "mine.toml", walk)
    again = read_walk(str(tmp_path / "mine.toml"))
    assert walk_text(again) == walk_text(walk)
    assert again.policy is not None
    with pytest.raises(FileError, match="belong beside the file that names them"):
        again.policy.network("type0")
    with pytest.raises(UnknownNameError, match="unknown type of robot 'type9'"):
        walk.policy.network("type9")


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in ("policy", "policy-fast") for kind in TYPES])
def test_the_shipped_policies_walk_straight_on_every_type_of_the_league_s_robot(name: str, kind: str) -> None:
    walk = read_walk(name)
    generators = [np.random.default_rng([7, n]) for n in range(6)]
    worlds, walker = start_walkers(ground(kind), [walk] * 6, generators)
    robot = worlds.robots[0]
    start, yaw = robot.pose[:, :2].copy(), yaw_of(robot.pose)
    walker.wanted[:] = [1.0, 0.0, 0.0]
    for _ in range(250):
        walker.sample(0.0)
        worlds.step()
    way = np.hypot(*(robot.pose[:, :2] - start).T)
    assert (robot.uprightness() > 0.7).all()
    assert (way > 3.0).all()
    assert (np.abs(yaw_of(robot.pose) - yaw) < np.radians(15)).all()


def test_a_robot_that_is_to_turn_at_once_from_a_run_turns_faster_as_it_becomes_slower() -> None:
    walk = read_walk("policy")
    worlds, walker = start_walkers(ground("type0"), [walk], [np.random.default_rng(7)])
    walker.wanted[:] = [1.5, 0.0, 0.0]
    for _ in range(100):
        walker.sample(0.0)
        worlds.step()
    walker.wanted[:], asked = [0.0, 0.0, 2.4], []
    for _ in range(60):
        walker.sample(0.0)
        worlds.step()
        asked.append(walker.states["wanted"][0].copy())
    speed, turn = np.abs(asked).T[[0, 2]]
    assert (speed * turn <= MAX_SIDEWARD_ACCELERATION + 1e-6).all()
    assert (np.diff(turn[:30]) > -1e-6).all()
    assert turn[0] == pytest.approx(MAX_SIDEWARD_ACCELERATION / 1.5, rel=0.01), "it is still as fast as it was"
    assert turn[-1] == pytest.approx(2.4), "a robot that stands still turns as it is to"
    assert worlds.robots[0].uprightness().min() > 0.7


def test_a_robot_with_the_quick_gait_turns_only_when_it_has_slowed_down() -> None:
    worlds, walker = start_walkers(ground("type0"), [read_walk("policy-fast")], [np.random.default_rng(7)])
    asked = []
    for cycle in range(180):
        walker.wanted[:] = [-0.9, 0.0, 0.0] if cycle < 100 else [0.0, 0.0, 2.4]
        walker.sample(0.0)
        worlds.step()
        asked.append(walker.states["wanted"][0].copy())
    ahead, _, turn = np.array(asked[100:]).T
    assert turn[0] < 0.3, "the turn waits"
    assert ahead[40] == pytest.approx(-0.9 + 41 * 0.02 * 0.8)
    assert ahead[-1] == 0.0
    assert turn[-1] == pytest.approx(2.4)
    assert worlds.robots[0].uprightness().min() > 0.7


def velocities_on_the_way(gait: Gait, now: list[float], wanted: list[float]) -> np.ndarray:
    """What a network is asked for in the two seconds after a change of the wanted velocities, (100, 3)."""
    scene = ground("type0")
    table, velocity, found = policy_table(scene, scene.robots[0], gait, 0.02)[0], np.array(now), []
    for _ in range(100):
        approach(velocity, np.array(wanted), table, np.array([1.4, 1.0, 2.4]), 0.9)
        found.append(velocity.copy())
    return np.array(found)


def test_other_velocities_wait_for_the_speed_that_becomes_smaller() -> None:
    waits = Gait(slow_down_back=1.0, gives_way=True)
    ahead, aside, turn = velocities_on_the_way(waits, [-0.9, 0.0, 0.0], [0.0, 1.0, -2.4]).T
    assert np.diff(ahead).max() == pytest.approx(0.02), "at 1 m/s²"
    left = 1 - np.abs(ahead[:44]) / 0.9
    assert aside[:44] == pytest.approx(left), "aside as much as the speed back leaves"
    assert turn[:44] == pytest.approx(-2.4 * left)
    assert (ahead[45:] == 0.0).all()
    assert (aside[45:] == 1.0).all()
    assert (turn[45:] == -2.4).all()
    at_once = velocities_on_the_way(Gait(), [-0.9, 0.0, 0.0], [0.0, 1.0, -2.4])
    assert at_once[0] == pytest.approx([-0.86, 1.0, -2.4]), "other gaits do not wait"


def test_velocities_that_only_grow_are_asked_for_at_once() -> None:
    waits = Gait(slow_down_back=1.0, gives_way=True)
    assert velocities_on_the_way(waits, [0.0, 0.0, 0.0], [1.4, 1.0, 2.4])[0] == pytest.approx([1.4, 1.0, 2.4])
    turning = velocities_on_the_way(waits, [0.5, 0.2, 2.4], [1.0, 0.2, 0.0])
    assert turning[0] == pytest.approx([1.0, 0.2, 2.24]), "a turn that becomes smaller takes no room"


def test_the_shipped_policy_of_a_t1_goes_where_it_is_to() -> None:
    walk = read_walk("policy", "t1").for_robot("t1")
    wishes = np.array([[1.0, 0.0, 0.0], [-0.7, 0.0, 0.0], [0.0, 0.6, 0.0], [0.0, -0.6, 0.0], [0.0, 0.0, 1.2]])
    worlds, walker = start_walkers(walk_scene("t1"), [walk] * 5, [np.random.default_rng([7, n]) for n in range(5)])
    robot = worlds.robots[0]
    start, yaw = robot.pose[:, :2].copy(), yaw_of(robot.pose)
    walker.wanted[:] = wishes
    for _ in range(150):
        walker.sample(0.0)
        worlds.advance(0.02)
    apart = robot.pose[:, :2] - start
    way = np.stack(
        [np.cos(yaw) * apart[:, 0] + np.sin(yaw) * apart[:, 1], np.cos(yaw) * apart[:, 1] - np.sin(yaw) * apart[:, 0]],
        1,
    )
    assert (robot.uprightness() > 0.9).all()
    assert way / 3 == pytest.approx(wishes[:, :2], abs=0.35)
    assert (np.abs(way).max(axis=1)[:4] > 0.9).all()
    assert (yaw_of(robot.pose) - yaw)[4] % (2 * np.pi) == pytest.approx(3.6, abs=0.6)


def test_a_mirrored_robot_moves_as_the_mirror_image() -> None:
    walk = read_walk("policy")
    assert walk.policy is not None
    body, other = (OnboardRobot("nao-spark", "type0") for _ in range(2))
    image = mirror_image(body.scene, body.table)
    one, two = (PolicyWalker(robot, robot.name, walk.policy) for robot in (body, other))
    rng = np.random.default_rng(3)
    motors = len(image.action)
    angles = one.states["angles"][0, :motors] + 0.1 * rng.standard_normal(motors)
    body.qpos[0, body.table.angles[body.table.motor_joints[one.moved]]] = angles
    mirrored = angles[image.action] * image.action_sign
    other.qpos[0, other.table.angles[other.table.motor_joints[two.moved]]] = mirrored
    body.gyro[0], other.gyro[0] = [0.1, 0.2, 0.3], [-0.1, 0.2, -0.3]
    one.wanted[0], two.wanted[0] = [0.5, 0.2, 0.4], [0.5, -0.2, -0.4]
    two.walk.swing[:] = 1
    one.sample(0.0)
    two.sample(0.0)
    first, second = body.command[0, one.moved], other.command[0, two.moved]
    assert np.abs(first).max() > 0.1
    assert second == pytest.approx(first[image.action] * image.action_sign, abs=1e-4)


def test_wishes_that_are_no_numbers_and_other_robots_are_refused() -> None:
    walk = read_walk("policy")
    assert walk.policy is not None
    body = OnboardRobot("nao-spark", "type0")
    walker = PolicyWalker(body, body.name, walk.policy)
    walker.wanted[0, 0] = np.nan
    with pytest.raises(UsageError, match="wanted velocity is not a number"):
        walker.sample(0.0)
    with pytest.raises(UsageError, match="is for the robot 'nao-spark'"):
        walk.for_robot("nao-v6")


@pytest.mark.parametrize(
    ("robot", "kind"), [("nao-spark", "type0"), ("nao-spark", "type4"), ("nao-v6", ""), ("t1", ""), ("k1", "")]
)
def test_the_mirror_by_the_names_of_joints_is_that_found_from_the_model_alone(robot: str, kind: str) -> None:
    placement = Placement(robot=robot, name="walker", type=kind)
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
    table = scene.robots[0]
    named, found = Mirror.of(scene, table), mirror_of(scene, table)
    assert found is not None
    assert np.array_equal(found[0], named.partner)
    assert np.array_equal(found[1], named.sign)


@pytest.mark.parametrize("robot", ["t1", "k1", "nao-v6"])
def test_legs_are_drawn_straight_up_one_group_after_the_other(robot: str) -> None:
    placement = Placement(robot=robot, name="walker")
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
    feet, data = find_feet(scene, scene.robots[0]), mujoco.MjData(scene.model)
    assert feet.group == (0, 1)
    assert [feet.partners[partner] for partner in feet.partners] == [*range(len(feet.bodies))]
    for group, change in enumerate(feet.lift(0.01)):
        data.qpos[:] = scene.start
        data.qpos[scene.robots[0].angles] += change
        mujoco.mj_kinematics(scene.model, data)
        for number, body in enumerate(feet.bodies):
            sole = data.xpos[body] + data.xmat[body].reshape(3, 3) @ feet.record["sole"][0, number]
            lifted = 0.01 if feet.group[number] == group else 0.0
            off = sole - data.xpos[scene.robots[0].body] - feet.places[number]
            assert off == pytest.approx([0.0, 0.0, lifted], abs=0.002)


def test_the_diagonal_legs_of_a_quadruped_swing_together() -> None:
    placement = Placement(robot="ers7", name="walker")
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
    feet = find_feet(scene, scene.robots[0])
    names = [scene.model.body(body).name for body in feet.bodies]
    assert names == [f"walker/{leg}Shank" for leg in ("LFr", "LBk", "RFr", "RBk")]
    assert feet.group == (0, 1, 1, 0)
    assert feet.partners == (2, 3, 0, 1)


def test_a_robot_without_a_mirror_image_has_none() -> None:
    changed = Placement(robot="t1", name="walker", pose="zero")
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(changed,), visuals=False))
    assert mirror_of(scene, scene.robots[0]) is not None
    scene.start[scene.robots[0].angles[-1]] += 0.3
    assert mirror_of(scene, scene.robots[0]) is None
    assert not mirror_image(scene, scene.robots[0]).exists


@pytest.mark.parametrize("mirrored", [True, False])
def test_a_network_as_onnx_answers_the_same_and_comes_back(tmp_path: Path, *, mirrored: bool) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from nutmeg.motion.policy_onnx import write_onnx

    walk = read_walk("policy")
    assert walk.policy is not None
    network, body = walk.policy.network("type0"), OnboardRobot("nao-spark", "type0")
    image = mirror_image(body.scene, body.table)._replace(exists=mirrored)
    write_onnx(tmp_path / "walk.onnx", network, image)
    seen = np.random.default_rng(0).standard_normal((5, 71)).astype(np.float32)
    session = runtime.InferenceSession(tmp_path / "walk.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(["action"], {"observation": seen})
    for row, answer in zip(seen, found, strict=True):
        assert decide(row, network, image, (True, mirrored)) == pytest.approx(answer, abs=2e-5)
    again = read_network(tmp_path / "walk.onnx")
    assert np.array_equal(again.layers, network.layers)
    assert np.array_equal(again.mean, network.mean)


def test_a_perceptron_of_another_program_is_read_and_others_are_refused(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    helper, network = onnx.helper, small_network()
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in ("x", "y")]

    def write(nodes: list[object], constants: dict[str, np.ndarray]) -> Path:
        kept = [onnx.numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()]
        graph = helper.make_graph(nodes, "other", ends[:1], ends[1:], kept)
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.onnx"
        path.write_bytes(helper.make_model(graph).SerializeToString())
        return path

    first, second, bias = network.layers[:24].reshape(4, 6), network.layers[30:48].reshape(6, 3), np.arange(6.0)
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["s"], transB=1),
        helper.make_node("Tanh", ["s"], ["t"]),
        helper.make_node("MatMul", ["t", "v"], ["y"]),
    ]
    found = read_network(write(nodes, {"w": first.T, "b": bias, "v": second}))
    seen = np.array([0.3, -1.0, 0.5, 2.0], np.float32)
    assert run_network(seen, found) == pytest.approx(np.tanh(seen @ first + bias) @ second, rel=1e-4, abs=1e-5)
    (tmp_path / "text.onnx").write_text("hello")
    with pytest.raises(FileError, match="is no ONNX file"):
        read_network(tmp_path / "text.onnx")
    strange = [helper.make_node("Relu", ["x"], ["y"])]
    with pytest.raises(FileError, match="has a node 'Relu'"):
        read_network(write(strange, {}))
