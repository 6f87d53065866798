"""Parameters that differ from world to world, against what they should do."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import ModelError, NutmegError, UnknownNameError
from nutmeg.model import Adjustment, Placement, Scene, SceneSettings, assemble
from nutmeg.sim import Worlds
from nutmeg.sim.ode_step import begin_step, finish_step, places, solve_step
from nutmeg.sim.variation import robot_rows, robot_types
from nutmeg.sim.worlds import SingleWorld


def scene_of(robot: str, actuation: str = "ideal", *adjustments: Adjustment) -> Scene:
    placement = Placement(robot=robot, name="r", actuation=actuation, adjustments=adjustments)
    return assemble(SceneSettings(ball="none", visuals=False, robots=(placement,)))


@pytest.fixture
def ants() -> Worlds:
    return Worlds(scene_of("ant"), 3)


@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf, [1.0, 1.0, -2.0], [1.0, 2.0], np.ones((2, 1))])
@pytest.mark.parametrize("target", ["mass.Torso", "drives.*.stiffness", "drives.*.damping", "drives.*.torque"])
def test_nonsense_is_refused_and_changes_nothing(ants: Worlds, target: str, wrong: object) -> None:
    with pytest.raises(ModelError, match=r"must be|allowed is|has the shape"):
        ants.vary("r", target, wrong)  # type: ignore[arg-type]
    assert np.array_equal(ants.batch.get_model(2).body_mass, ants.scene.model.body_mass)


def test_unknown_robots_are_refused(ants: Worlds) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'r'"):
        ants.vary("rr", "mass.Torso", 1.0)


def test_a_number_that_is_put_back_is_as_in_the_scene(ants: Worlds) -> None:
    torso = ants.scene.model.body("r/Torso")
    ants.vary("r", "mass.Torso", [0.3, 0.4, 0.6])
    ants.vary("r", "mass.Torso", float(torso.mass[0]))
    for world in range(3):
        assert np.array_equal(ants.batch.get_model(world).body_mass, ants.scene.model.body_mass)
        assert ants.batch.get_model(world).body("r/Torso").inertia == pytest.approx(torso.inertia)


def test_worlds_with_scenes_of_their_own_are_varied_as_well() -> None:
    worlds = Worlds.of([scene_of("ant", "ideal", Adjustment(target="robot.L1_femur", value=v)) for v in (0.07, 0.09)])
    worlds.vary("r", "foot.friction", [0.3, 0.4])
    sole = int(worlds.scene.model.geom_priority.argmax())
    for world, friction in enumerate((0.3, 0.4)):
        assert worlds.batch.get_model(world).geom_friction[sole, 0] == pytest.approx(friction)
    shins = worlds.batch.expand("body_pos")[:, worlds.scene.model.body("r/L1Tibia").id]
    assert not np.allclose(shins[0], shins[1])


def numbers(model: mujoco.MjModel) -> dict[str, np.ndarray]:
    """The numbers of a model, by field."""
    kinds = ("body_", "dof_", "jnt_", "geom_", "actuator_", "tendon_", "eq_")
    found = {name: getattr(model, name) for name in dir(model) if name.startswith(kinds)}
    return {name: v for name, v in found.items() if isinstance(v, np.ndarray) and v.dtype.kind in "fiu"} | {
        "impratio": np.array(model.opt.impratio)
    }


SETTABLE = [
    ("ant", "ideal", "robot.L1_femur", (0.07, 0.09)),
    ("ant", "ideal", "mass.*Tibia", (0.03, 0.04)),
    ("ant", "ideal", "joint.*_knee.damping", (0.05, 0.1)),
    ("ant", "ideal", "joint.L*.armature", (0.01, 0.02)),
    ("ant", "ideal", "joint.*.friction", (0.01, 0.02)),
    ("ant", "ideal", "drives.*.stiffness", (8.0, 12.0)),
    ("ant", "ideal", "drives.*.damping", (0.3, 0.4)),
    ("ant", "ideal", "drives.*.torque", (0.5, 0.9)),
    ("ant", "ideal", "drives.*.speed", (3.0, 4.0)),
    ("ant", "ideal", "drives.*.armature", (0.01, 0.02)),
    ("ant", "ideal", "drives.*.friction", (0.01, 0.02)),
    ("ant", "ideal", "foot.friction", (0.3, 0.4)),
    ("ant", "ideal", "physics.impratio", (2.0, 3.0)),
    ("nao-spark", "ideal", "drives.*.torque", (5.0, 6.0)),
    ("nao-spark", "ideal", "drives.*.speed", (3.0, 4.0)),
    ("nao-v4", "motoflex", "mass.*Tibia", (0.3, 0.4)),
    ("nao-v4", "motoflex", "servo.*.p", (200.0, 300.0)),
    ("nao-v4", "motoflex", "servo.*.d", (1.0, 2.0)),
    ("nao-v4", "motoflex", "servo.leg*.stall_torque", (0.05, 0.06)),
    ("nao-v4", "motoflex", "servo.leg*.no_load_speed", (800.0, 900.0)),
    ("nao-v4", "motoflex", "servo.*.efficiency", (0.6, 0.7)),
    ("nao-v4", "motoflex", "servo.leg*.ratio", (100.0, 150.0)),
    ("nao-v4", "motoflex", "servo.leg*.rotor_inertia", (2e-7, 4e-7)),
    ("nao-v4", "motoflex", "servo.*.viscous", (0.1, 0.2)),
    ("nao-v4", "motoflex", "battery.voltage", (20.0, 21.0)),
    ("nao-v4", "motoflex", "gear.*.play", (0.01, 0.02)),
    ("nao-v4", "motoflex", "gear.*.stiffness", (400.0, 3000.0)),
    ("nao-v4", "motoflex", "gear.*.damping", (0.5, 0.6)),
    ("nao-v4", "motoflex", "flex.*.stiffness", (300.0, 350.0)),
    ("nao-v4", "motoflex", "flex.*.damping", (0.2, 0.3)),
    ("nao-v4", "motoflex", "flex.*.friction", (0.1, 0.2)),
]


@pytest.mark.parametrize(("robot", "actuation", "target", "values"), SETTABLE)
def test_a_target_that_is_set_gives_the_model_that_is_built_so(
    robot: str, actuation: str, target: str, values: tuple[float, float]
) -> None:
    worlds = Worlds(scene_of(robot, actuation), 2)
    worlds.vary("r", target, values)
    built = [scene_of(robot, actuation, Adjustment(target=target, value=v)).model for v in values]
    differ = [not np.array_equal(a, b) for a, b in zip(*(numbers(m).values() for m in built), strict=True)]
    assert any(differ), "the target has an effect"
    for world, model in enumerate(built):
        found, wanted = numbers(worlds.batch.get_model(world)), numbers(model)
        for name in wanted:
            np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


def test_relative_values_multiply_what_is_there_again_and_again() -> None:
    worlds = Worlds(scene_of("nao-v4", "servo"), 3)
    motor = worlds.scene.model.actuator("r/LKneePitch").id
    gain = float(worlds.scene.model.actuator_gainprm[motor, 4])
    mass = float(worlds.scene.model.body("r/LTibia").mass[0])
    for factors in ([1.0, 2.0, 3.0], [1.0, 1.0, 0.5]):
        worlds.vary("r", "servo.*.p", factors, relative=True)
        worlds.vary("r", "mass.LTibia", factors, relative=True)
    assert worlds.batch.expand("actuator_gainprm")[:, motor, 4] == pytest.approx([gain, 2 * gain, 1.5 * gain], rel=1e-5)
    body = worlds.scene.model.body("r/LTibia").id
    assert worlds.batch.expand("body_mass")[:, body] == pytest.approx([mass, 2 * mass, 1.5 * mass])


def test_worlds_that_were_set_move_as_scenes_built_so() -> None:
    targets = {"mass.Torso": [0.5, 0.9], "foot.friction": [0.4, 0.9], "drives.*.stiffness": [10.0, 20.0]}
    targets["joint.*.damping"] = [0.02, 0.05]
    fields = Worlds(scene_of("ant"), 2)
    for target, values in targets.items():
        fields.vary("r", target, values)
    each = [[Adjustment(target=t, value=v[world]) for t, v in targets.items()] for world in range(2)]
    built = Worlds.of([scene_of("ant", "ideal", *adjustments) for adjustments in each])
    for worlds in (fields, built):
        worlds.robot("r").command[:] += 0.1
        worlds.advance(0.2)
    assert np.array_equal(fields.qpos, built.qpos)
    assert np.abs(fields.qpos[0] - fields.qpos[1]).max() > 1e-3


def test_steps_delays_and_other_parts_are_the_same_in_all_worlds() -> None:
    ant, nao = (Worlds(scene_of(*one), 2) for one in (("ant", "ideal"), ("nao-v4", "motoflex")))
    with pytest.raises(ModelError, match="one timestep"):
        ant.vary("r", "physics.timestep", [0.002, 0.004])
    with pytest.raises(ModelError, match="no number of the physics"):
        ant.vary("r", "delay", 0.01)
    with pytest.raises(ModelError, match=r"do not have the same parts: they differ in na"):
        nao.vary("r", "servo.*.i", 1.0)


@pytest.mark.parametrize(
    ("target", "values", "message"),
    [
        ("mass.Torzo", 1.0, "Did you mean 'Torso'"),
        ("mass.Torso", [1.0, -1.0], r"mass\.Torso is -1 kg; it must be above 0"),
        ("joint.*.damping", [1.0, -1.0], r"joint\.\*\.damping is -1; it must be 0 or above"),
        ("drives.*.stiffness", [1.0, 0.0], r"drives\.\*\.stiffness: stiffness is 0"),
        ("foot.friction", [1.0, 2.0, 3.0], r"has the shape \(3,\); needed is \(2,\)"),
        ("servo.*.p", 1.0, "ant has ideal drives here"),
    ],
)
def test_values_that_cannot_be_set_say_why(target: str, values: object, message: str) -> None:
    worlds = Worlds(scene_of("ant"), 2)
    with pytest.raises(NutmegError, match=message):
        worlds.vary("r", target, values)  # type: ignore[arg-type]


# ----------------------------------------------------------------------------------------------------
# Robots that change their type without a new model.


TYPES = ("type0", "type1", "type2", "type3")


def world_of(*kinds: str) -> SingleWorld:
    robots = tuple(
        Placement(robot="nao-spark", name=f"r{i}", type=kind, pos=(2.0 * i, 0.0), pose="zero")
        for i, kind in enumerate(kinds)
    )
    return SingleWorld(assemble(SceneSettings(field="sim3d", ball="none", robots=robots, visuals=False)))


def danced(world: SingleWorld, robot: int) -> Floats:
    """Where a robot gets when all its joints sway and it falls, (steps, 51)."""
    table = world.scene.robots[robot]
    path = []
    for step in range(150):
        world.ctrl[table.commands] = 8.0 * np.sin(0.2 * step + np.arange(22))
        world.refresh()
        solve_step(*world.addresses, places())
        finish_step(*world.addresses)
        begin_step(*world.addresses, places())
        path.append(world.qpos[table.root : table.root + 51].copy())
    return np.array(path)


@pytest.mark.parametrize("kind", TYPES[1:])
def test_a_robot_set_to_a_type_moves_as_one_built_so(kind: str) -> None:
    changed, built = world_of("type0", "type0"), world_of("type0", kind)
    robot_types("nao-spark", TYPES, "league").set(
        changed.model, robot_rows(changed.model, changed.scene.robots[1].body), kind
    )
    changed.qpos[:] = built.qpos
    difference = np.abs(danced(changed, 1) - danced(built, 1))
    assert difference.max() < 1e-9


def test_types_move_differently() -> None:
    one, other = world_of("type0", "type0"), world_of("type0", "type0")
    robot_types("nao-spark", TYPES, "league").set(
        other.model, robot_rows(other.model, other.scene.robots[1].body), "type3"
    )
    assert np.abs(danced(one, 1) - danced(other, 1)).max() > 0.01


def test_a_type_can_be_taken_back() -> None:
    world, kinds = world_of("type0", "type0"), robot_types("nao-spark", TYPES, "league")
    before = world.model.body_pos.copy(), world.model.actuator_ctrlrange.copy()
    rows = robot_rows(world.model, world.scene.robots[0].body)
    for kind in ("type3", "type2", "type0"):
        kinds.set(world.model, rows, kind)
    assert np.array_equal(world.model.body_pos, before[0])
    assert np.array_equal(world.model.actuator_ctrlrange, before[1])


def test_a_type_with_other_parts_is_refused() -> None:
    with pytest.raises(ModelError, match="type4 of nao-spark has other parts than type0"):
        robot_types("nao-spark", ("type0", "type4"), "league")
    with pytest.raises(UnknownNameError, match="unknown type of nao-spark"):
        robot_types("nao-spark", TYPES, "league").set(world_of("type0").model, {}, "type9")
