"""A walker's senses, and its changes from one set of parameters to another."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.inertial import TiltEstimator
from nutmeg.motion.walk.settings import PendulumWalkSettings
from nutmeg.motion.walk.walker import Walker
from nutmeg.sim.worlds import StartState, Worlds, set_start_state

SLOW = PendulumWalkSettings()
FAST = dataclasses.replace(SLOW, max_step_x=0.05, z_torso=0.33, phi_length=0.11, sensing_delay=0.04)


def worlds(count: int, robot: str = "nao-spark", actuation: str = "ideal") -> Worlds:
    placement = Placement(robot=robot, name="nao", actuation=actuation)
    return Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False)), count)


def tilts(pose: Any) -> Any:
    w, x, y, z = pose[:, 3:7].T
    return np.stack([np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), np.arcsin(2 * (w * y - z * x))], axis=1)


def test_the_tilt_that_is_felt_is_that_of_the_torso() -> None:
    made = worlds(3)
    walker = Walker(made, "nao", [SLOW])
    walker.wanted[:] = [[0.15, 0.0, 0.0], [0.0, 0.12, 0.0], [0.05, 0.0, 0.4]]
    errors = []
    for _ in range(150):
        true = tilts(made.robot("nao").pose)
        walker.sample(0.0)
        errors.append(walker.senses.tilt - true)
        made.step(1)
    assert np.sqrt(np.mean(np.square(errors))) < 0.04


def test_the_gyro_reads_in_the_steps_of_the_sensor_and_gravity_draws_the_tilt() -> None:
    made = worlds(1)
    sense = TiltEstimator(made, "nao")
    pose = made.robot("nao").pose.copy()
    pose[:, 3:7] = [np.cos(0.1), np.sin(0.1), 0.0, 0.0]
    set_start_state(made, "nao", StartState(pose=pose))
    made.robot("nao").velocity[:, 3] = 0.12345678
    sense.sample()
    step = 1.745329e-4
    assert sense.gyro[0, 0] / step == pytest.approx(round(0.12345678 / step))
    assert sense.gyro[0, 0] != 0.12345678
    made.robot("nao").velocity[:] = 0.0
    for _ in range(400):  # the robot is held there: only gravity tells
        sense.sample()
    np.testing.assert_allclose(sense.tilt[0], [0.2, 0.0], atol=0.01)


def test_parameters_pass_from_one_set_to_the_other_without_a_jump() -> None:
    made = worlds(2)
    walker = Walker(made, "nao", [SLOW], others=([FAST],))
    walker.wanted[:, 0] = 0.1
    last = None
    for cycle in range(60):
        walker.chosen[1] = 1 if 20 <= cycle < 40 else 0
        walker.sample(0.0)
        height = walker.walk.feet[:, :, 2].min(axis=1)
        if last is not None:
            assert np.abs(height - last).max() < 0.004
        last = height
        if cycle == 30:
            assert walker.walk.parameters.z_torso.tolist() == [SLOW.z_torso, FAST.z_torso]
            np.testing.assert_allclose(
                walker.walk.step_time[1], 4 * np.arccosh(3) * 0.11 * np.sqrt(0.33 / 9.80665), rtol=0.02
            )
    assert walker.walk.parameters.z_torso.tolist() == [SLOW.z_torso] * 2
    assert walker.walk.parameters.sensing_delay[1] == SLOW.sensing_delay


def test_a_set_that_does_not_exist_is_refused() -> None:
    walker = Walker(worlds(1), "nao", [SLOW], others=([FAST],))
    walker.chosen[:] = 2
    with pytest.raises(UsageError, match=r"0\.\.1"):
        walker.sample(0.0)


@pytest.mark.parametrize(("robot", "actuation"), [("nao-spark", "ideal"), ("nao-v6", "servo")])
def test_a_batch_of_one_walks_exactly_as_any_row_of_a_batch(robot: str, actuation: str) -> None:
    walks = [dataclasses.replace(SLOW, z_torso=0.31, gyro_ankle_roll=g, arm_swing=2.0) for g in (0.0, 0.03, 0.05, 0.02)]
    wanted = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.05, 0.05, 0.3], [-0.1, 0.0, 0.0]])
    together = worlds(4, robot, actuation)
    many = Walker(together, "nao", walks)
    many.wanted[:] = wanted
    for row in (0, 2):
        alone = worlds(1, robot, actuation)
        one = Walker(alone, "nao", [walks[row]])
        one.wanted[:] = wanted[row]
        together.reset()
        many.reset()
        steps = round(0.02 / alone.scene.timestep)
        for _ in range(40):
            for walker, stepped in ((many, together), (one, alone)):
                walker.sample(0.0)
                stepped.step(steps)
        np.testing.assert_array_equal(together.qpos[row], alone.qpos[0])
        assert alone.robot("nao").uprightness()[0] > 0.9


@pytest.mark.parametrize("robot", ["nao-spark", "nao-v6"])
def test_a_mirrored_command_gives_mirrored_joints(robot: str) -> None:
    """Rolls and yaws of the left leg are those of the right one with the other sign, pitches are the same."""
    made = worlds(2, robot)
    extras = {"foot_roll": 0.1, "foot_pitch": 0.1, "lean_y": 0.5, "tilt": 0.05, "shoulder_roll": 0.1, "arm_swing": 3.0}
    walker = Walker(made, "nao", [dataclasses.replace(SLOW, z_torso=0.31, **extras)])
    walker.walk.swing[:] = [0, 1]
    motors, legs = made.robot("nao").table.motors, walker.body.legs
    pairs = {left: right for left, right in zip(*legs.names, strict=True) if {left, right} <= set(motors)}
    signs = dict(zip(legs.names[0], [1.0, -1.0, 1.0, 1.0, 1.0, -1.0], strict=True))
    for _ in range(60):
        walker.walk.advance([[0.1, 0.05, 0.3], [0.1, -0.05, -0.3]])
        one, other = walker.targets()
        for left, right in pairs.items():
            for here, there in ((left, right), (right, left)):
                expected = signs[left] * one[motors.index(here)]
                assert other[motors.index(there)] == pytest.approx(expected, abs=1e-12)
    assert len(pairs) >= 5


def test_velocity_drives_are_told_the_speed_that_leads_to_the_target_and_servos_the_angle() -> None:
    for robot, gain in (("nao-spark", 0.8), ("nao-v6", 0.8)):
        made = worlds(2, robot)
        walker = Walker(made, "nao", [dataclasses.replace(SLOW, joint_gain=gain)])
        view = made.robot("nao")
        angles = made.qpos[:, view.table.angles[view.table.motor_joints]].copy()
        walker.sample(0.0)
        targets = walker.targets()
        told = gain * (targets - angles) / 0.02 if robot == "nao-spark" else targets
        np.testing.assert_allclose(view.command, told, atol=1e-9)


def test_smoothed_targets_begin_where_the_joints_are() -> None:
    made = worlds(1)
    walker = Walker(made, "nao", [dataclasses.replace(SLOW, joint_smoothing=0.5)])
    plain = Walker(made, "nao", [SLOW])
    angles = made.qpos[:, made.robot("nao").table.angles[made.robot("nao").table.motor_joints]]
    np.testing.assert_allclose(walker.targets(), (angles + plain.targets()) / 2, atol=1e-12)
