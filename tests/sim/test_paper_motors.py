"""MoToFlex as printed: against a plain transcription of the paper, against the native gear, and on a robot."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import math
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import EnvironmentProblem, ModelError, SimulationError
from nutmeg.model.actuation import Actuation, load_actuation
from nutmeg.model.actuation.printed import BRAKE, CONSTANT, KD, KI, KP, LAG, RESISTANCE, STIFFNESS
from nutmeg.model.actuation.settings import Gear, Servo
from nutmeg.model.robot import load_robot
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.sim.control_callback import install_for, printed_count
from nutmeg.sim.engine_memory import check_layout, place_of
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nutmeg.base.arrays import Floats


pytestmark = pytest.mark.slow

STEP = 0.001
BENCH = """\
format = 1
name = "bench"
source = "own"
licence = "CC0"
base = "fixed"
[[body]]
name = "base"
mass = 1.0
inertia = [0.01, 0.01, 0.01, 0, 0, 0]
[[body]]
name = "arm"
parent = "base"
mass = 1.0
com = [0.15, 0, 0]
inertia = [0.002, 0.004, 0.004, 0, 0, 0]
[body.joint]
name = "elbow"
axis = [0, 1, 0]
range = [-2, 2]
[drives.all]
joints = ["elbow"]
torque = 10.0
[poses.ready]
"""
SERVO = Servo(
    joints=("elbow",), stall_torque=0.065, no_load_speed=911.0, ratio=130.85, efficiency=0.8, rotor_inertia=3e-7,
    inductance=5e-4, p=250.0, i=20.0, d=0.2, coulomb=0.04, viscous=0.04,
)  # fmt: skip
PLAIN = Actuation(
    servo={"one": SERVO}, gear={"one": Gear(joints=("elbow",), play=0.0244, stiffness=400.0, damping=1.0)}
)
PRINTED = dataclasses.replace(PLAIN, printed=True)


@pytest.fixture(autouse=True)
def before() -> Iterator[object]:
    """The control callback of worlds that earlier tests keep, if any; it is the same when a test has ended."""
    gc.collect()
    before = mujoco.get_mjcb_control()
    yield before
    gc.collect()
    assert mujoco.get_mjcb_control() is before


@pytest.fixture
def bench(tmp_path: Path) -> Callable[[Actuation], Scene]:
    """A scene with one heavy arm on an elbow."""
    path = tmp_path / "robot.toml"
    path.write_text(BENCH)

    def build(actuation: Actuation) -> Scene:
        placement = Placement(robot=str(path), name="b", actuation=actuation)
        return assemble(SceneSettings(field="none", robots=(placement,), timestep=STEP))

    return build


def nao(actuation: str | Actuation = "motoflex-paper", *, timestep: float = STEP, **more: object) -> Scene:
    placement = Placement(robot="nao-v6", name="n", actuation=actuation, **more)  # type: ignore[arg-type]
    return assemble(SceneSettings(robots=(placement,), timestep=timestep, visuals=False))


def as_printed(motor: Floats, gear: Floats, target: float, angle: float, rate: float, state: Floats) -> float:
    """Algorithms 1 and 2, transcribed once more; `state` is summed error, U_R, p_m and its speed."""
    _, p, i, d, battery, lag, resistance, s, k_t, brake = motor
    ratio, d_g, b_g, l_h, m_g, steps = gear[:6]
    state[0] += (target - angle) * STEP
    u = p * (target - angle) + i * state[0] - d * rate
    u = math.copysign(min(abs(u), battery), u)
    state[1] = u if lag == 0 else state[1] + (u - state[1]) * (1 - math.exp(-STEP / lag))
    t_m = state[1] / resistance * s * k_t - brake * ratio * rate
    if not steps:
        return float(t_m * ratio)
    t_j, dt_g = 0.0, STEP / steps
    for _ in range(int(steps)):
        p_m, speed = state[2], state[3]
        t_s = d_g * (p_m - l_h if p_m > l_h else min(p_m, 0.0))
        state[2] = p_m + speed * dt_g
        state[3] = speed + (t_m * ratio - t_s - b_g * speed) / m_g * dt_g
        t_j += t_s * dt_g / STEP
    return t_j


def test_the_compiled_motor_does_what_the_paper_prints_and_a_look_at_the_state_does_not_move_it(
    bench: Callable[[Actuation], Scene],
) -> None:
    model = bench(PRINTED).model
    data, state = mujoco.MjData(model), np.zeros(4)
    torques = []
    install_for(data, model)
    for step in range(400):
        data.ctrl[0] = 0.6 * math.sin(0.03 * step) + (step > 200)
        wanted = as_printed(
            model.actuator_dynprm[0], model.actuator_biasprm[0], data.ctrl[0], data.qpos[0], data.qvel[0], state
        )
        for _ in range(step % 3):
            mujoco.mj_forward(model, data)
        mujoco.mj_step(model, data)
        assert data.act[0] == data.actuator_force[0] == pytest.approx(wanted, rel=1e-9, abs=1e-12)
        torques.append(wanted)
    assert data.userdata[5:] == pytest.approx(state, rel=1e-9)
    assert np.ptp(torques) > 2.0


def test_a_command_takes_as_long_as_the_servo_says(bench: Callable[[Actuation], Scene]) -> None:
    late = dataclasses.replace(PRINTED, servo={"one": dataclasses.replace(SERVO, delay=0.02)})
    worlds = Worlds(bench(late))
    worlds.batch.ctrl[:] = 0.5
    torques = []
    for _ in range(30):
        worlds.step()
        torques.append(float(np.abs(worlds.batch.bind("userdata")[0, 6])))
    moved = int(np.argmax(np.array(torques) > 10.0))
    assert moved == 20


def through_native_gear(model: mujoco.MjModel, torques: Floats) -> Floats:
    """The spring's torque when a motor torque turns the rotor of a native gear, the joint held, (steps,)."""
    motor, joint = model.joint("b/elbow.motor"), model.joint("b/elbow")
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION | mujoco.mjtDisableBit.mjDSBL_GRAVITY
    rotor = int(motor.dofadr[0])
    model.dof_armature[joint.dofadr] = 1e9
    model.dof_damping[rotor] = model.dof_frictionloss[rotor] = 0.0
    data = mujoco.MjData(model)
    low, high = model.tendon_lengthspring[0]
    data.qpos[motor.qposadr] = low  # p_m = 0 is one end of the play
    out = []
    for torque in torques:
        data.qfrc_applied[rotor] = torque
        mujoco.mj_step(model, data)
        length = float(data.ten_length[0])
        out.append(float(model.tendon_stiffness[0]) * (length - np.clip(length, low, high)))
    return np.array(out)


def through_printed_gear(model: mujoco.MjModel, torques: Floats) -> Floats:
    """T_j when a motor torque acts on a printed gear, the joint held, (steps,)."""
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_GRAVITY
    model.dof_armature[:] = 1e9
    motor = model.actuator_dynprm[0]
    motor[[KI, KD, LAG, BRAKE]] = 0.0
    at_joint = motor[KP] / motor[RESISTANCE] * motor[CONSTANT] * model.actuator_biasprm[0, 0]
    data, out = mujoco.MjData(model), []
    install_for(data, model)
    for torque in torques:
        data.ctrl[0] = torque / at_joint
        mujoco.mj_step(model, data)
        out.append(float(data.act[0]))
    return np.array(out)


@pytest.mark.parametrize("shape", ["sine", "steps"])
def test_the_native_and_the_printed_gear_agree_under_the_same_torque_with_the_joint_held(
    bench: Callable[[Actuation], Scene], shape: str
) -> None:
    time = np.arange(1000) * STEP
    torques = 2.0 * np.sin(8 * np.pi * time) if shape == "sine" else 1.5 * np.where(time % 0.5 < 0.25, 1.0, -1.0)
    whole = dataclasses.replace(PRINTED, gear_mass=1.0, gear_friction=1.0)
    native = through_native_gear(bench(PLAIN).model, torques)
    printed = through_printed_gear(bench(whole).model, torques)
    size = math.sqrt(np.mean(native**2))
    assert size > 1.0
    assert math.sqrt(np.mean(printed**2)) == pytest.approx(size, rel=0.02)
    assert math.sqrt(np.mean((printed - native) ** 2)) < 0.1 * size


def joint_torques(scene: Scene, reference: Floats) -> tuple[Floats, Floats]:
    """What the joint gets from its gear, and its angles, along a reference, (steps,) each."""
    worlds = Worlds(scene)
    robot, native = worlds.robot("b"), not printed_count(scene.model)
    dof = int(robot.table.rates[0])
    passive, force = worlds.batch.bind("qfrc_passive"), worlds.batch.bind("actuator_force")
    torques, angles = [], []
    for target in reference:
        robot.command = np.array([[target]])
        worlds.step()
        torques.append(float(passive[0, dof] if native else force[0, 0]))
        angles.append(float(robot.angles[0, 0]))
    return np.array(torques), np.array(angles)


def test_the_whole_chain_needs_the_same_torque_as_the_native_one_for_the_same_motion(
    bench: Callable[[Actuation], Scene],
) -> None:
    time = np.arange(3000) * STEP
    reference = 0.4 * np.sin(2 * np.pi * time) + 0.3 * (time > 1.5)
    native, native_angles = joint_torques(bench(PLAIN), reference)
    printed, printed_angles = joint_torques(bench(PRINTED), reference)
    late = slice(300, None)  # both have fallen through their play by then
    size = math.sqrt(np.mean(native[late] ** 2))
    assert size > 1.0
    assert math.sqrt(np.mean(printed[late] ** 2)) == pytest.approx(size, rel=0.1)
    # The printed PID sees the joint, the native one the motor: the joint differs by no more than play and spring.
    assert np.abs(printed_angles - native_angles)[late].mean() < 0.0244 + 1.5 / 400


@pytest.mark.parametrize("timestep", [0.001, 0.004])
def test_a_nao_stands_still_for_five_seconds(timestep: float) -> None:
    worlds = Worlds(nao(timestep=timestep))
    robot = worlds.robot("n")
    height = float(robot.pose[0, 2])
    worlds.advance(5.0)
    assert robot.uprightness()[0] > 0.999
    assert robot.pose[0, 2] == pytest.approx(height, abs=0.003)
    assert np.abs(worlds.qvel).max() < 0.01


def test_results_are_the_same_to_the_last_bit_at_any_number_of_threads_and_in_one_world() -> None:
    scene = nao()
    states = []
    for threads in (1, 2):
        worlds, rng = Worlds(scene, 6, threads=threads), np.random.default_rng(1)
        robot = worlds.robot("n")
        for _ in range(10):
            robot.command = robot.start + rng.normal(0, 0.05, (6, len(robot.start)))
            worlds.step(10)
        states.append(worlds.batch.state.copy())
    assert np.array_equal(*states)
    assert np.abs(states[0] - states[0][0]).max() > 0.01


def test_worlds_without_such_motors_are_untouched_by_worlds_with_them(before: object) -> None:
    def run() -> Floats:
        worlds = Worlds(nao("motoflex"))
        worlds.step(100)
        return np.array(worlds.batch.state)

    alone = run()
    printed, other = Worlds(nao()), Worlds(nao(timestep=0.002))
    assert mujoco.get_mjcb_control() is not None
    printed.step(50)
    other.step(10)
    beside = run()
    assert np.array_equal(alone, beside)
    del printed
    gc.collect()
    assert mujoco.get_mjcb_control() is not None
    other.step(10)
    del other
    gc.collect()
    assert mujoco.get_mjcb_control() is before


def test_a_stranger_with_user_dynamics_and_user_data_is_left_alone() -> None:
    xml = """<mujoco><size nuserdata="40"/><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
      <actuator><general joint="j" dyntype="user" dynprm="1"/></actuator></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.act[0], data.userdata[:] = 0.25, np.arange(40.0)
    printed = Worlds(nao())  # installs the callback for the whole process
    mujoco.mj_step(model, data)
    assert data.act[0] == 0.25
    assert np.array_equal(data.userdata, np.arange(40.0))
    assert printed.has_callback


def test_someone_elses_callback_is_neither_replaced_nor_overlooked(before: Any) -> None:
    scene = nao()
    other = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda _model, _data: None)
    mujoco.set_mjcb_control(other)
    try:
        with pytest.raises(ModelError, match="control callback, and another one is installed"):
            Worlds(scene)
        assert mujoco.get_mjcb_control() is other
    finally:
        mujoco.set_mjcb_control(before)
    worlds = Worlds(scene)
    try:
        mujoco.set_mjcb_control(None)
        with pytest.raises(SimulationError, match="set_mjcb_control was called"):
            worlds.step()
    finally:
        mujoco.set_mjcb_control(before)


def test_worlds_may_differ_in_the_numbers_of_their_motors(bench: Callable[[Actuation], Scene]) -> None:
    soft = dataclasses.replace(PRINTED, servo={"one": dataclasses.replace(SERVO, p=50.0)})
    both = Worlds.of([bench(PRINTED), bench(soft)])
    both.batch.ctrl[:] = 0.3
    both.step(200)
    alone = Worlds(bench(soft))
    alone.batch.ctrl[:] = 0.3
    alone.step(200)
    assert np.array_equal(both.qpos[1], alone.qpos[0])
    assert abs(both.qpos[0, 0] - both.qpos[1, 0]) > 0.01


def test_a_limp_motor_only_brakes(bench: Callable[[Actuation], Scene]) -> None:
    worlds = Worlds(bench(PRINTED), 2)
    worlds.batch.expand("actuator_dynprm")[1, 0, STIFFNESS] = 0.0
    worlds.step(4000)
    assert abs(worlds.qpos[0, 0]) < 0.1
    assert worlds.qpos[1, 0] == pytest.approx(math.pi / 2, abs=0.2)  # it has sunk until the arm hangs


def test_resetting_a_world_empties_its_motors(bench: Callable[[Actuation], Scene]) -> None:
    worlds = Worlds(bench(PRINTED), 2)
    first = []
    for _ in range(2):
        worlds.step(100)
        first.append(worlds.batch.state[0].copy())
        worlds.reset([0])
    assert np.array_equal(*first)


def test_parked_robots_sleep() -> None:
    placements = tuple(
        Placement(robot="nao-v6", name=name, actuation="motoflex-paper", parked=name == "b") for name in "ab"
    )
    worlds = Worlds(assemble(SceneSettings(robots=placements, timestep=STEP, visuals=False)))
    awake = worlds.batch.bind("tree_awake")
    worlds.advance(2.0)
    assert awake[0].tolist() == [1, 0]
    assert worlds.robot("a").uprightness()[0] > 0.999


def test_numbers_with_which_the_printed_gear_would_diverge_are_refused(bench: Callable[[Actuation], Scene]) -> None:
    with pytest.raises(ModelError, match=r"the gear of joint 'elbow' is unstable as printed.*Change gear_step"):
        bench(dataclasses.replace(PRINTED, gear_step=0.001))


def test_the_kind_by_name_is_the_robots_own_actuation_as_printed() -> None:
    robot = load_robot("nao-v6")
    native, printed = load_actuation(robot, "motoflex"), load_actuation(robot, "motoflex-paper")
    assert native is not None
    assert printed == dataclasses.replace(native, printed=True)
    assert printed_count(nao().model) == nao().model.nu


def test_a_field_that_the_engine_does_not_have_is_named() -> None:
    assert place_of("mjModel", "nq") == 0
    check_layout(["nv", "qpos0", "opt.impratio"], ["qacc"])
    with pytest.raises(EnvironmentProblem, match=r"no field 'opt\.nothing' in mjModel"):
        place_of("mjModel", "opt.nothing")
