"""The pendulum walk: continuity across support exchange, symmetry, limits."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.base.settings import bounds_of
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.motion.inertial import TiltEstimator
from nutmeg.motion.walk.kernels import (
    exchanged,
    exchanged_as_printed,
    half_k,
    swayed,
)
from nutmeg.motion.walk.settings import (
    EXTENDED_PARAMETERS,
    PAPER_PARAMETERS,
    PRINTED_EQUATIONS,
    PendulumWalkSettings,
    walk_records,
)
from nutmeg.motion.walk.walker import PendulumWalk, Walker
from nutmeg.sim.worlds import StartState, Worlds, set_start_state

Array = Any
FLIP = np.array([1.0, -1.0, 1.0])
FINE = 1e-4
"""A cycle so short that differences are derivatives [s]."""


@functools.cache
def scene_of(robot: str) -> Scene:
    placement = Placement(robot=robot, name="nao")
    return assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))


def walked(wanted: Array, *, cycles: int, period: float = FINE, **numbers: float) -> Array:
    """The feet in every cycle of a walk at a constant step size from the first, (cycles, 2, 3)."""
    walk = PendulumWalk([PendulumWalkSettings(delta=1.0, **numbers)], period=period)
    rows = []
    for _ in range(cycles):
        walk.advance(wanted)
        rows.append(walk.feet[0].copy())
    return np.array(rows)


@pytest.mark.parametrize("wanted", [(0, 0, 0), (0.1, 0, 0), (-0.1, 0, 0), (0, 0.1, 0), (0, -0.1, 0), (0.05, 0.05, 0.3)])
def test_the_feet_never_jump_not_even_when_support_changes(wanted: Array) -> None:
    feet = walked(wanted, cycles=8000)[10:]
    speed = np.abs(np.diff(feet, axis=0)).max() / FINE
    assert speed < 2.5  # m/s: a jump of a millimetre would be 10


@pytest.mark.parametrize(
    ("equation", "wanted"),
    [("exchange", (0, 0, 0)), ("lift", (0, 0, 0)), ("side", (0, 0.1, 0)), ("ahead", (0.1, 0, 0))],
)
def test_with_equations_as_they_are_printed_the_feet_jump(equation: str, wanted: Array) -> None:
    feet = walked(wanted, cycles=8000, as_printed=float(PRINTED_EQUATIONS[equation]))[10:]
    assert np.abs(np.diff(feet, axis=0)).max() > 1e-3  # m, in a ten thousandth of a second


def test_the_printed_exchange_never_leaves_its_first_phase() -> None:
    for height in (0.2, 0.34, 0.45):
        assert exchanged_as_printed(half_k(height), 0.5) == (-0.5, 0.5)


@pytest.mark.parametrize("wanted", [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)])
def test_the_centre_of_mass_moves_evenly_across_support_exchange(wanted: Array) -> None:
    """As the foot on the ground sees it, the torso goes on from the same place at the same velocity."""
    walk = PendulumWalk([PendulumWalkSettings(delta=1.0)], period=FINE)
    feet, support = [], []
    for _ in range(8000):
        walk.advance(wanted)
        support.append(1 - int(walk.swing[0]))
        feet.append(walk.feet[0, :, :2].copy())
    places = -np.array(feet)  # of the torso from each foot, (cycles, 2 feet, 2)
    exchanges = np.flatnonzero(np.diff(support))
    exchanges = exchanges[exchanges > 200]
    assert len(exchanges) > 3
    for before in exchanges:
        for foot in (support[before], support[before + 1]):  # both stand on the ground when support changes
            assert np.abs(places[before + 1, foot] - places[before, foot]).max() < 1.0 * FINE  # at most 1 m/s
    supporting = places[np.arange(len(places)), support]
    velocity = np.diff(supporting, axis=0) / FINE
    assert np.abs(velocity[exchanges + 1] - velocity[exchanges - 1]).max() < 0.003


def test_the_pendulums_that_exchange_match_in_place_and_in_velocity() -> None:
    """Exactly, from the equations: y_stance of the two add up to y_sep, and they part as fast as they met."""
    half, sep, shift, tiny = float(half_k(0.31)), 0.1, 0.008, 1e-6
    end = 0.8 * np.arccosh(3.0) / half  # not the fixed point
    misfits = []
    for _ in range(8):
        start, following = exchanged(half, end)
        assert swayed(half, end, sep, shift) + swayed(half, start, sep, shift) == pytest.approx(sep, abs=1e-12)
        into = (swayed(half, end, sep, shift) - swayed(half, end - tiny, sep, shift)) / tiny
        out = (swayed(half, start + tiny, sep, shift) - swayed(half, start, sep, shift)) / tiny
        misfits.append(abs(into + out))  # y is outward: the torso that leaves one foot comes to the other
        end = following
    assert misfits[-1] < 1e-4 < misfits[0]


def test_the_phase_has_the_fixed_point_of_the_paper_and_its_step_time() -> None:
    settings = PendulumWalkSettings()
    walk = PendulumWalk([settings], period=0.02)
    k = np.sqrt(9.80665 / settings.z_torso)
    assert walk.step_time[0] == pytest.approx(4 * np.arccosh(3) * settings.phi_length / k)
    ends = []
    for _ in range(100):
        walk.advance((0.0, 0.0, 0.0))
        ends.append(float(walk.phi_end[0]))
    assert np.ptp(ends) < 1e-12


def test_a_disturbed_phase_returns_to_its_fixed_point() -> None:
    walk = PendulumWalk([PendulumWalkSettings()], period=0.001)
    settled = walk.phi_end.copy()
    walk.phi_end *= 0.8
    for _ in range(3000):
        walk.advance((0.0, 0.0, 0.0))
    assert walk.phi_end == pytest.approx(settled, rel=1e-3)


def test_on_the_spot_a_walk_repeats_itself_and_its_sides_mirror_each_other() -> None:
    walk = PendulumWalk([PendulumWalkSettings()], period=FINE)
    step = round(walk.step_time[0] / FINE)
    feet = walked((0.0, 0.0, 0.0), cycles=6 * step + 10)
    np.testing.assert_allclose(feet[100 : 100 + 2 * step], feet[100 + 2 * step : 100 + 4 * step], atol=2e-4)
    mirrored = feet[100 + step : 100 + 3 * step, ::-1] * FLIP
    np.testing.assert_allclose(feet[100 : 100 + 2 * step], mirrored, atol=2e-4)


@pytest.mark.parametrize("wanted", [(0.1, 0, 0), (-0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.4), (0.05, -0.05, 0.2)])
def test_a_steady_walk_repeats_itself_every_two_steps(wanted: Array) -> None:
    walk = PendulumWalk([PendulumWalkSettings()], period=FINE)
    pair = round(2 * walk.step_time[0] / FINE)
    feet = walked(wanted, cycles=2 * pair + 110)[100:]
    np.testing.assert_allclose(feet[:pair], feet[pair : 2 * pair], atol=2e-4)
    assert np.ptp(feet[:pair], axis=0).max() > 0.01


def test_straight_ahead_the_left_foot_does_what_the_right_one_did_a_step_before() -> None:
    walk = PendulumWalk([PendulumWalkSettings()], period=FINE)
    step = round(walk.step_time[0] / FINE)
    feet = walked((0.1, 0.0, 0.0), cycles=3 * step + 110)[100:]
    np.testing.assert_allclose(feet[: 2 * step], feet[step : 3 * step, ::-1] * FLIP, atol=2e-4)


def test_a_mirrored_command_gives_a_mirrored_walk() -> None:
    settings = PendulumWalkSettings(side_split=0.6, turn_sep=0.05)
    one, other = (PendulumWalk([settings]) for _ in range(2))
    other.swing[:] = 1
    for _ in range(100):
        one.advance((0.1, 0.05, 0.2))
        other.advance((0.1, -0.05, -0.2))
        np.testing.assert_allclose(other.feet[:, ::-1] * FLIP, one.feet, atol=1e-12)


def test_any_row_of_a_batch_is_the_walk_of_its_own() -> None:
    rng = np.random.default_rng(3)
    walks = [PendulumWalkSettings(z_step=z, phi_length=length) for z, length in rng.uniform(0.05, 0.12, (5, 2))]
    wanted = rng.uniform(-0.2, 0.2, (5, 3))
    together, alone = PendulumWalk(walks), PendulumWalk(walks[3:4])
    for _ in range(60):
        together.advance(wanted)
        alone.advance(wanted[3])
    np.testing.assert_array_equal(together.feet[3], alone.feet[0])


def test_steps_are_never_longer_than_allowed_and_stability_shortens_them() -> None:
    walk = PendulumWalk([PendulumWalkSettings(delta=1.0, back_share=0.5)])
    walk.advance((9.0, 9.0, -9.0))
    np.testing.assert_allclose(walk.step[0], [0.030, 0.025, -0.15])
    walk.advance((-9.0, 0.0, 0.0))
    assert walk.step[0, 0] == pytest.approx(-0.015)
    walk.stability[:] = 0.0
    walk.advance((-9.0, 0.0, 0.0))
    assert walk.feet[0, 0, 0] == pytest.approx(walk.feet[0, 1, 0])


def test_a_limit_of_change_turns_a_reversal_into_an_even_ramp_and_no_limit_is_the_papers_walk() -> None:
    limited = PendulumWalkSettings(delta=0.5, step_change=0.1, side_delta=2.0)
    walk = PendulumWalk([limited, PendulumWalkSettings(delta=0.5, side_delta=2.0)])
    fast = walk.top_speed()[0]
    for _ in range(40):
        walk.advance(fast * (1, 1, 0))
    np.testing.assert_allclose(walk.step[0], walk.step[1], rtol=1e-9)
    before = walk.step.copy()
    walk.advance(fast * (-1, -1, 0))
    np.testing.assert_allclose(walk.step[0] - before[0], [-0.1 * 0.030, -0.2 * 0.025, 0.0], atol=1e-15)
    np.testing.assert_allclose(walk.step[1], [0.0, -0.025, 0.0], atol=1e-9)


def test_what_a_walk_cannot_do_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(ValueError, match=r"z_torso is 0.9; allowed is 0.2..0.45 m"):
        PendulumWalkSettings(z_torso=0.9)
    with pytest.raises(ValueError, match=r"phi_length is nan"):
        PendulumWalkSettings(phi_length=float("nan"))
    with pytest.raises(ValueError, match="err_max"):
        PendulumWalkSettings(err_norm=0.2, err_max=0.1)
    with pytest.raises(UsageError, match="not a number"):
        PendulumWalk([PendulumWalkSettings()]).advance((np.nan, 0, 0))
    with pytest.raises(UsageError, match="2 sets of walk parameters for 3 worlds"):
        Walker(Worlds(scene_of("nao-spark"), 3), "nao", [PendulumWalkSettings()] * 2)
    with pytest.raises(UsageError, match="at least one"):
        walk_records([])


def test_every_searched_parameter_has_a_range_around_its_start() -> None:
    assert len(PAPER_PARAMETERS) == 14
    for name in EXTENDED_PARAMETERS:
        assert getattr(PendulumWalkSettings(), name) in bounds_of(PendulumWalkSettings, name)
    with pytest.raises(UnknownNameError, match="phi_length"):
        bounds_of(PendulumWalkSettings, "phi_lenght")


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


def test_what_is_sensed_for_stability_may_be_the_real_centre_of_mass() -> None:
    wary = dataclasses.replace(SLOW, err_norm=0.0, err_max=0.1)
    made = worlds(2)
    walker = Walker(made, "nao", [wary, dataclasses.replace(wary, sense_mass=1.0)])
    walker.wanted[:] = [0.15, 0.0, 0.0]
    shares = []
    for _ in range(100):
        walker.sample(0.0)
        shares.append(walker.walk.stability.copy())
        made.step(1)
    origin, mass = np.mean(shares, axis=0)
    assert 0.5 < origin < 1.0
    assert 0.5 < mass < 1.0
    assert mass != origin
    assert (made.robot("nao").pose[:, 0] > 0.08).all()


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
            assert walker.walk.parameters["z_torso"].tolist() == [SLOW.z_torso, FAST.z_torso]
            np.testing.assert_allclose(
                walker.walk.step_time[1], 4 * np.arccosh(3) * 0.11 * np.sqrt(0.33 / 9.80665), rtol=0.02
            )
    assert walker.walk.parameters["z_torso"].tolist() == [SLOW.z_torso] * 2
    assert walker.walk.parameters["sensing_delay"][1] == SLOW.sensing_delay


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
