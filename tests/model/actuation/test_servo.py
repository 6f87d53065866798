"""Servos against their closed forms: time constants, torque-speed line, firmware, friction, delay, heat."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import mujoco
import pytest

from nutmeg.base.errors import FileError, ModelError, NutmegError, UnknownNameError
from nutmeg.model import Placement, Scene, SceneSettings, assemble
from nutmeg.model.actuation.settings import Actuation, Battery, Servo
from nutmeg.model.build import build
from nutmeg.model.physics import Physics
from nutmeg.model.robot import Body, Drive, Joint, RobotSettings

VOLTAGE, INERTIA = 12.0, 0.01
SERVO: dict[str, Any] = {
    "joints": ("swing",), "stall_torque": 0.03, "no_load_speed": 900.0, "ratio": 100.0, "efficiency": 0.8,
}  # fmt: skip
STALL, NO_LOAD = 0.8 * 100 * 0.03, 9.0
POWERLESS: dict[str, Any] = {**SERVO, "stall_torque": 1e-9, "p": 1e-6}


def wheel(servo: Servo, *, timestep: float = 0.001, inertia: float = INERTIA) -> tuple[Any, Any]:
    """A wheel of known inertia on a servo, without weight."""
    joint = Joint(name="swing", axis=(0.0, 1.0, 0.0))
    moment = (inertia, inertia, inertia, 0.0, 0.0, 0.0)
    robot = RobotSettings(
        format=1, name="wheel", source="", licence="", base="fixed",
        body=(Body(name="stand"), Body(name="rim", parent="stand", mass=0.5, inertia=moment, joint=joint)),
        drives={"drive": Drive(joints=("swing",))},
    )  # fmt: skip
    actuation = Actuation(battery=Battery(voltage=VOLTAGE), servo={"servo": servo})
    model = build(robot, physics=Physics(timestep=timestep), actuation=actuation).compile()
    model.opt.gravity[:] = 0.0
    return model, mujoco.MjData(model)


def run(model: Any, data: Any, seconds: float) -> None:
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)


def test_the_torque_of_a_stalled_motor_rises_with_l_over_r() -> None:
    servo = Servo(**SERVO, inductance=0.05)
    constant = servo.electrical_time(VOLTAGE)
    assert constant == pytest.approx(0.05 / (VOLTAGE**2 / (900 * 0.03)))
    model, data = wheel(servo, timestep=1e-4, inertia=1e6)
    data.ctrl[0] = 100.0
    run(model, data, round(constant, 4))
    mujoco.mj_forward(model, data)
    assert data.actuator_force[0] == pytest.approx(STALL * (1 - math.exp(-round(constant, 4) / constant)), rel=0.01)
    run(model, data, 10 * constant)
    assert data.actuator_force[0] == pytest.approx(STALL, rel=1e-3)


def test_a_free_wheel_speeds_up_with_the_mechanical_time_constant() -> None:
    servo = Servo(**SERVO)
    mechanical = INERTIA * servo.resistance(VOLTAGE) / servo.constant(VOLTAGE) ** 2
    model, data = wheel(servo, timestep=1e-4)
    data.ctrl[0] = 1e4
    for times in (0.5, 1.0, 2.0):
        run(model, data, times * mechanical - data.time)
        assert data.qvel[0] == pytest.approx(NO_LOAD * (1 - math.exp(-data.time / mechanical)), rel=0.005)
    run(model, data, 20 * mechanical)
    assert data.qvel[0] == pytest.approx(NO_LOAD, rel=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_torque_falls_in_a_line_from_stall_to_no_load(share: float) -> None:
    model, data = wheel(Servo(**SERVO))
    data.ctrl[0], data.qvel[0] = 1e4, share * NO_LOAD
    mujoco.mj_forward(model, data)
    assert data.actuator_force[0] == pytest.approx((1 - share) * STALL, rel=1e-9, abs=1e-9)


def test_the_firmware_is_a_spring_until_its_voltage_is_used_up() -> None:
    servo = Servo(**SERVO, p=100.0, output_limit=0.5)
    model, data = wheel(servo)
    for error in (0.001, 0.02, -0.02):
        data.ctrl[0] = error
        mujoco.mj_forward(model, data)
        assert data.actuator_force[0] == pytest.approx(servo.stiffness(VOLTAGE) * error, rel=1e-9)
    for error in (0.5 * VOLTAGE / 100 * 1.001, 3.0, -3.0):
        data.ctrl[0] = error
        mujoco.mj_forward(model, data)
        assert data.actuator_force[0] == pytest.approx(math.copysign(0.5 * STALL, error), rel=1e-9)


def test_tracking_a_ramp_lags_by_the_back_emf_that_firmware_does_not_compensate() -> None:
    servo, speed = Servo(**SERVO, p=50.0), 2.0
    model, data = wheel(servo)
    while data.time < 2.0:
        data.ctrl[0] = speed * data.time
        mujoco.mj_step(model, data)
    assert data.qvel[0] == pytest.approx(speed, rel=1e-6)
    lag = speed * data.time - data.qpos[0]
    assert lag == pytest.approx(servo.constant(VOLTAGE) * speed / servo.p, rel=1e-3)


def test_the_damping_term_of_the_firmware_adds_its_own_lag() -> None:
    servo, speed = Servo(**SERVO, p=50.0, d=1.0), 2.0
    model, data = wheel(servo)
    while data.time < 2.0:
        data.ctrl[0] = speed * data.time
        mujoco.mj_step(model, data)
    assert speed * data.time - data.qpos[0] == pytest.approx((servo.constant(VOLTAGE) + 1.0) * speed / 50.0, rel=1e-3)


def test_the_integral_term_takes_away_what_a_load_would_leave() -> None:
    model, data = wheel(Servo(**SERVO, p=50.0, i=200.0, d=1.0))
    data.qfrc_applied[0] = 0.5
    run(model, data, 5.0)
    assert abs(data.qpos[0]) < 1e-4


def test_viscous_friction_and_a_shorted_winding_brake_exponentially() -> None:
    servo = Servo(**{**SERVO, "p": 1e-9}, viscous=0.02)
    model, data = wheel(servo, timestep=1e-4)
    data.qvel[0] = 5.0
    run(model, data, 0.05)
    rate = (0.02 + servo.constant(VOLTAGE) ** 2 / servo.resistance(VOLTAGE)) / INERTIA
    assert data.qvel[0] == pytest.approx(5.0 * math.exp(-rate * 0.05), rel=0.01)


def test_dry_friction_brakes_linearly_and_holds_below_breakaway() -> None:
    model, data = wheel(Servo(**POWERLESS, coulomb=0.05))
    data.qvel[0] = 2.0
    run(model, data, 0.2)
    assert data.qvel[0] == pytest.approx(2.0 - 0.05 / INERTIA * 0.2, rel=0.01)
    held, moved = (_speed_under(Servo(**POWERLESS, coulomb=0.05), torque, 0.2) for torque in (0.045, 0.06))
    assert abs(held) < 2e-4, "does not creep"
    assert moved == pytest.approx((0.06 - 0.05) / INERTIA * 0.2, rel=0.05)


def test_friction_at_rest_is_larger_and_fades_with_speed() -> None:
    stribeck: dict[str, Any] = {
        **POWERLESS, "coulomb": 0.05, "static": 0.1, "stribeck_speed": 0.05, "rotor_inertia": 1e-7,
    }  # fmt: skip
    inertia = INERTIA + 1e-7 * 100**2
    model, data = wheel(Servo(**stribeck))
    while abs(data.qvel[0]) < 0.05 and data.time < 8.0:
        data.qfrc_applied[0] = 0.025 * data.time
        mujoco.mj_step(model, data)
    assert data.qfrc_applied[0] == pytest.approx(0.1, rel=0.05), "breaks away from a slowly growing load at `static`"
    model, data = wheel(Servo(**stribeck))
    data.qvel[0] = 5.0
    run(model, data, 0.1)
    before = float(data.qvel[0])
    run(model, data, 0.2)
    assert (before - data.qvel[0]) / 0.2 == pytest.approx(0.05 / inertia, rel=0.03), "only dry friction at speed"


def _speed_under(servo: Servo, torque: float, seconds: float) -> float:
    model, data = wheel(servo)
    data.qfrc_applied[0] = torque
    run(model, data, seconds)
    return float(data.qvel[0])


@pytest.mark.parametrize(("delay", "timestep", "steps"), [(0.036, 0.004, 9), (0.01, 0.001, 10), (0.0, 0.001, 0)])
def test_a_command_acts_after_the_delay(delay: float, timestep: float, steps: int) -> None:
    model, data = wheel(Servo(**SERVO, delay=delay), timestep=timestep)
    data.ctrl[0] = 0.1
    waited = 0
    while waited < 100:
        mujoco.mj_step(model, data)
        if data.actuator_force[0] != 0:
            break
        waited += 1
    assert waited == steps


def test_a_hot_winding_gives_less_torque() -> None:
    servo = Servo(**SERVO, thermal=(2.0, 0.5))
    model, data = wheel(servo, inertia=1e6)
    data.ctrl[0] = 100.0
    mujoco.mj_step(model, data)
    assert data.actuator_force[0] == pytest.approx(STALL, rel=0.01), "cold at first"
    run(model, data, 10.0)
    hot = float(data.actuator_force[0])
    run(model, data, 10.0)
    assert hot < 0.98 * STALL
    assert data.actuator_force[0] == pytest.approx(hot, rel=0.02), "until it gives off what it takes in"


def test_without_optional_terms_only_the_plain_motor_is_left() -> None:
    model, _ = wheel(Servo(**SERVO))
    assert (model.na, model.nv, model.dof_damping[0], model.dof_frictionloss[0], model.dof_armature[0]) == (
        0,
        1,
        0,
        0,
        0,
    )
    assert not model.actuator_history[0, 0]
    full, _ = wheel(Servo(**SERVO, inductance=0.01, i=1.0, static=0.1, thermal=(1.0, 1.0), delay=0.01))
    assert full.na == 4, "current, sum of errors, bristle, heat"


def test_a_servo_with_the_gains_of_an_ideal_drive_moves_like_it() -> None:
    """Within 1e-3 of the amplitude at 1 ms: same stiffness, damping and inertia, no limit reached."""
    servo = Servo(
        joints=("swing",), stall_torque=1.0, no_load_speed=2000.0, ratio=100.0, p=20.0, d=2.0, rotor_inertia=5e-7
    )
    constant, resistance = servo.constant(VOLTAGE), servo.resistance(VOLTAGE)
    model, data = wheel(servo)
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.integrator = 0.001, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    body = spec.worldbody.add_body(explicitinertial=True, mass=0.5, inertia=[INERTIA] * 3)
    body.add_joint(name="swing", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0], armature=5e-7 * 100**2)
    ideal = spec.add_actuator(name="swing", target="swing", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    damping = constant * (servo.d + constant) / resistance
    ideal.set_to_pid(kp=servo.stiffness(VOLTAGE), kv=damping, ctrlspec=1)
    other = spec.compile()
    other.opt.gravity[:] = 0.0
    beside = mujoco.MjData(other)
    worst = 0.0
    for step in range(2000):
        data.ctrl[0] = beside.ctrl[0] = 0.1 * math.sin(2 * math.pi * 2 * step / 1000)
        mujoco.mj_step(model, data)
        mujoco.mj_step(other, beside)
        worst = max(worst, abs(data.qpos[0] - beside.qpos[0]))
    assert worst < 1e-3 * 0.1


def placed(actuation: str, *, robot: str = "nao-v6", physics: str = "") -> Scene:
    robots = (Placement(robot=robot, name="r", actuation=actuation),)
    return assemble(SceneSettings(field="none", robots=robots, physics=physics, visuals=False))


def written(path: Path, text: str) -> str:
    (path / "my.toml").write_text(text, encoding="utf-8")
    return str(path / "my.toml")


GOOD = """\
[servo.all]
joints = ["*"]
stall_torque = 0.03
no_load_speed = 900.0
ratio = 100.0
[gear.knee]
joints = ["*KneePitch"]
stiffness = 500.0
play = 0.02
[flex.legs]
bodies = ["*Thigh"]
"""


def test_a_file_of_the_users_own_is_taken(tmp_path: Path) -> None:
    model = placed(written(tmp_path, GOOD)).model
    assert {model.joint(j).name for j in range(model.njnt)} >= {"r/LKneePitch.motor", "r/RThigh.end.bend_1"}


@pytest.mark.parametrize(
    ("old", "new", "problem", "kind"),
    [
        (
            "stiffness = 500.0",
            "stiffness = -5.0",
            r"line 6: gear.knee: stiffness is -5; allowed is above 0 N m/rad",
            FileError,
        ),
        ("play = 0.02", "play = 2.5", r"play of 2.5 rad.*allowed is 0 to 2.2", ModelError),
        ("play = 0.02", "play = -0.1", r"play is -0.1; allowed is 0 rad or more", FileError),
        ("*KneePitch", "*KneePich", r"gear 'knee'.*unknown joint '\*KneePich'", UnknownNameError),
        ("*Thigh", "*Thig", r"flex 'legs'.*unknown body '\*Thig'", UnknownNameError),
        ("ratio = 100.0", "ratio = 0.0", r"ratio is 0; allowed is above 0", FileError),
        ("ratio = 100.0", "ratio = 1.0\nefficiency = 1.2", r"efficiency is 1.2; .* up to 1", FileError),
        ("ratio = 100.0", "ratio = 1.0\ndelay = 2.0", r"delay is 2; allowed is 0..0.5 s", FileError),
        (
            "ratio = 100.0",
            "ratio = 1.0\ncoulomb = 0.2\nstatic = 0.1",
            r"static is 0.1; .*coulomb \(0.2\) or more",
            FileError,
        ),
        ("ratio = 100.0", "ratio = 1.0\nthermal = [0, 1]", r"thermal is .* above 0", NutmegError),
        ('joints = ["*"]', 'joints = ["L*"]', r"no servo drives the joint 'RHipYawPitch'", ModelError),
        ("stall_torque", "stall_torqe", r"stall_torqe.*Did you mean 'stall_torque'", FileError),
    ],
)
def test_bad_numbers_and_names_are_refused_with_what_is_allowed(
    tmp_path: Path, old: str, new: str, problem: str, kind: type[NutmegError]
) -> None:
    with pytest.raises(kind, match=problem):
        placed(written(tmp_path, GOOD.replace(old, new, 1)))


def test_an_unknown_actuation_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'motoflex'"):
        placed("motofle")


def test_servos_are_refused_where_the_integrator_cannot_carry_them() -> None:
    with pytest.raises(ModelError, match=r"implicitfast.*standard"):
        placed("servo", physics="league")


def test_links_of_a_model_file_cannot_bend(tmp_path: Path) -> None:
    arm = Path(__file__).parents[3] / "examples" / "arm" / "arm.xml"
    text = GOOD.replace("[gear.knee]", "").split("joints", 2)
    own = written(tmp_path, "joints".join(text[:2]) + '\n[flex.all]\nbodies = ["*"]\n')
    with pytest.raises(ModelError, match="only in robots made of tables"):
        placed(own, robot=str(arm))


def test_a_robot_without_a_file_says_that_it_has_none() -> None:
    with pytest.raises(ModelError, match=r"no actuation\.toml"):
        placed("servo", robot="ant")


def test_firmware_that_controls_the_current_is_limited_by_back_emf_but_not_braked() -> None:
    torques = {}
    for controls in (False, True):
        servo = Servo(**{**SERVO, "p": 1.0, "current_control": controls})
        model, data = wheel(servo)
        torques[controls] = []
        for speed, command in ((0.25 * NO_LOAD, 0.5), (0.5 * NO_LOAD, 50.0)):
            data.qvel[0], data.ctrl[0] = speed, command
            mujoco.mj_forward(model, data)
            torques[controls].append(float(data.actuator_force[0]))
    gain = STALL / VOLTAGE
    braking = 0.25 * STALL
    assert torques[False][0] == pytest.approx(0.5 * gain - braking, rel=1e-3)
    assert torques[True][0] == pytest.approx(0.5 * gain, rel=1e-3)
    assert torques[False][1] == pytest.approx(torques[True][1], rel=1e-3)  # both at the limit of the voltage
    assert torques[True][1] == pytest.approx(0.5 * STALL, rel=1e-3)


@pytest.mark.parametrize("robot", ["t1", "k1"])
def test_t1_and_k1_stand_on_the_motors_that_are_published(robot: str) -> None:
    placement = Placement(robot=robot, name="robot", actuation="servo")
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,)))
    data = mujoco.MjData(scene.model)
    data.qpos[:], data.ctrl[:] = scene.start, scene.commands
    mujoco.mj_step(scene.model, data, round(3.0 / scene.model.opt.timestep))
    torso = data.body("robot/torso")
    assert torso.xpos[2] == pytest.approx(scene.start[2], abs=0.04)
    assert torso.xmat[8] > 0.98
