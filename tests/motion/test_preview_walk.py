"""The open-loop preview walk: its plan, its commands, and that it walks in physics."""

from __future__ import annotations

import dataclasses
import functools
import re

import numpy as np
import pytest

from nutmeg.base.errors import ModelError
from nutmeg.model.posing import pose_angles
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.motion.legs.nao import NaoBody
from nutmeg.motion.preview_walk import (
    MOTOFLEX_1,
    MOTOFLEX_2,
    QUICK_STEPS,
    PreviewWalk,
    PreviewWalkSettings,
    WalkTrial,
    try_walk,
)
from nutmeg.sim.worlds import Worlds

CURVE = PreviewWalkSettings(forward=0.08, sideways=0.02, turn=0.2)
ASIDE = PreviewWalkSettings(forward=0.0, sideways=-0.04)
ALL = (MOTOFLEX_1, MOTOFLEX_2, QUICK_STEPS, CURVE, ASIDE)


@functools.cache
def pitch_scene(robot: str = "nao-v6") -> Scene:
    robots = (Placement(robot=robot, name="nao", pos=(-3.0, 0.0)),)
    return assemble(SceneSettings(field="spl2025", ball="none", robots=robots, visuals=False))


@functools.cache
def walks() -> tuple[PreviewWalk, ...]:
    return tuple(PreviewWalk(pitch_scene().robots[0], settings, duration=8.0) for settings in ALL)


@pytest.fixture
def ready() -> np.ndarray:
    table = pitch_scene().robots[0]
    return pose_angles(table.settings, table, "ready")[table.motor_joints]


def test_a_walk_begins_and_ends_in_the_ready_stance(ready: np.ndarray) -> None:
    for walk in walks():
        np.testing.assert_allclose(walk.angles(0.0), ready, atol=2e-5)
        np.testing.assert_allclose(walk.angles(walk.duration), ready, atol=1e-9)
        np.testing.assert_allclose(walk.angles(99.0), walk.angles(walk.duration))
        times = np.linspace(2.0, 4.0, 5)
        np.testing.assert_allclose(walk.angles(times)[2], walk.angles(times[2]))


def test_the_feet_are_parallel_and_side_by_side_in_the_end() -> None:
    for walk in walks():
        left, right = walk.plan.feet.position[-1]
        yaw = walk.yaws[-1, 0]
        assert walk.yaws[-1, 1] == pytest.approx(yaw)
        np.testing.assert_allclose(left - right, [-0.1 * np.sin(yaw), 0.1 * np.cos(yaw), 0.0], atol=1e-9)


def test_feet_never_go_below_the_ground_and_one_always_stands_on_it() -> None:
    for walk, settings in zip(walks(), ALL, strict=True):
        heights = walk.plan.feet.position[..., 2]
        assert heights.min() >= 0
        assert (heights.min(axis=1) == 0).all()
        assert heights.max() == pytest.approx(settings.step_height, rel=0.05)


def test_a_standing_foot_does_not_move() -> None:
    for walk in walks():
        feet = walk.plan.feet.position
        standing = (feet[1:, :, 2] == 0) & (feet[:-1, :, 2] == 0)
        moved = np.linalg.norm(np.diff(feet, axis=0), axis=-1)
        assert moved[standing].max() < 2e-5
        assert moved.max() > 1e-3


def test_the_body_sways_without_jumps() -> None:
    period = walks()[0].control.period
    speed = np.diff([walk.motion.centre for walk in walks()], axis=1) / period
    push = np.diff(speed, axis=1) / period
    assert np.abs(speed).max() < 0.5
    assert np.abs(push).max() < 5.0
    assert np.abs(np.diff(push, axis=1)).max() < 1.5


def test_commands_stay_within_what_the_motors_can_do() -> None:
    table, commands = pitch_scene().robots[0], np.stack([walk.commands for walk in walks()])
    limits = table.limits[table.motor_joints]
    assert (commands >= limits[:, 0] - 1e-9).all()
    assert (commands <= limits[:, 1] + 1e-9).all()
    assert np.abs(np.diff(commands, axis=1)).max() / walks()[0].control.period < 7.0


def test_the_moving_links_put_the_zmp_where_the_reference_has_it() -> None:
    error = np.stack([walk.motion.zmp - walk.plan.zmp for walk in walks()])
    assert np.sqrt((error**2).mean(axis=1)).max() < 0.0035


def test_without_correction_the_swinging_legs_throw_the_zmp_off() -> None:
    error = []
    for settings in (dataclasses.replace(MOTOFLEX_1, corrections=0), MOTOFLEX_1):
        walk = PreviewWalk(pitch_scene().robots[0], settings, duration=6.0)
        error.append(np.abs(walk.motion.zmp - walk.plan.zmp)[150:450, 0].mean())
    assert error[0] > 0.008
    assert error[1] < 0.002


def test_the_planned_speed_is_the_commanded_one() -> None:
    settings = dataclasses.replace(MOTOFLEX_1, ramp=0)
    walk = PreviewWalk(pitch_scene().robots[0], settings, duration=12.0)
    begin, end = (round(t / walk.control.period) for t in (3.0, 9.0))
    way = walk.motion.torso.position[end] - walk.motion.torso.position[begin]
    assert way[0] / 6.0 == pytest.approx(0.2, rel=0.01)


def test_sideways_steps_never_bring_the_feet_closer_than_they_stand() -> None:
    feet = walks()[ALL.index(ASIDE)].plan.feet.position
    assert (feet[:, 0, 1] - feet[:, 1, 1]).min() > 0.1 - 1e-9
    assert feet[-1, 0, 1] < -0.1


def test_a_walk_that_starts_with_the_other_foot_is_its_mirror_image() -> None:
    table = pitch_scene().robots[0]
    pair = [MOTOFLEX_1, dataclasses.replace(MOTOFLEX_1, first="right")]
    left, right = (PreviewWalk(table, settings, duration=6.0) for settings in pair)
    mirrored = left.plan.feet.position[:, ::-1] * [1, -1, 1]
    np.testing.assert_allclose(right.plan.feet.position, mirrored, atol=1e-12)
    names = list(table.motors)
    for name in ("HipRoll", "HipPitch", "KneePitch", "AnklePitch", "AnkleRoll"):
        sign = -1 if name.endswith("Roll") else 1
        mine, other = (walk.commands[:, names.index(s + name)] for walk, s in ((left, "L"), (right, "R")))
        np.testing.assert_allclose(other, sign * mine, atol=0.01)  # the head's mass is 1.5 mm off the middle


def test_the_reference_zmp_can_be_moved_and_narrowed() -> None:
    table, half = pitch_scene().robots[0], MOTOFLEX_2.foot_separation / 2
    narrow = dataclasses.replace(MOTOFLEX_2, zmp_width=0.6, zmp_offset=(0.03, 0.005), zmp_travel=0.02)
    wide, moved = (PreviewWalk(table, settings, duration=8.0) for settings in (MOTOFLEX_2, narrow))
    assert np.abs(wide.plan.zmp[:, 1]).max() == pytest.approx(half)
    assert np.abs(moved.plan.zmp[:, 1]).max() == pytest.approx(0.6 * half + 0.005)
    assert np.abs(moved.motion.centre[:, 1]).max() < np.abs(wide.motion.centre[:, 1]).max()


def test_arms_can_be_held_elsewhere_and_come_back(ready: np.ndarray) -> None:
    table = pitch_scene().robots[0]
    walk = PreviewWalk(table, PreviewWalkSettings(arms={"LShoulderPitch": 0.9}), duration=6.0)
    shoulder = table.motors.index("LShoulderPitch")
    assert walk.angles(3.0)[shoulder] == pytest.approx(0.9)
    np.testing.assert_allclose(walk.angles(0.0), ready, atol=2e-5)
    np.testing.assert_allclose(walk.angles(6.0), ready, atol=1e-9)


def test_a_stride_longer_than_the_legs_is_refused_or_clipped_on_request() -> None:
    table, giant = pitch_scene().robots[0], PreviewWalkSettings(forward=0.6, torso_height=0.31)
    with pytest.raises(ModelError, match="out of reach") as refused:
        PreviewWalk(table, giant, duration=6.0)
    (said,) = re.findall(r"--speed ([\d.]+) of nutmeg walk", str(refused.value))
    assert 0.0 < float(said) < 0.6
    assert PreviewWalk(table, dataclasses.replace(giant, forward=float(said)), duration=6.0).reached, (
        "what it proposes works"
    )
    walk = PreviewWalk(table, giant, duration=6.0, clip=True)
    assert not walk.reached
    assert np.isfinite(walk.commands).all()


def test_walks_that_make_no_sense_are_refused() -> None:
    table = pitch_scene().robots[0]
    with pytest.raises(ModelError, match="no time for two steps"):
        PreviewWalk(table, MOTOFLEX_2, duration=3.0)
    with pytest.raises(ValueError, match="double_support"):
        PreviewWalkSettings(double_support=1.0)


@pytest.mark.slow
def test_the_papers_walks_stand_and_keep_their_speed_on_ideal_drives() -> None:
    scene, told = pitch_scene(), (MOTOFLEX_1, MOTOFLEX_2, QUICK_STEPS)
    worlds = Worlds(scene, len(told), threads=0)
    robot = worlds.robot("nao")
    walks = [PreviewWalk(robot.table, settings, duration=24.0) for settings in told]
    places = [robot.pose[:, :2].copy()]
    upright = np.ones(len(told))
    for k in range(1200):
        robot.command = [walk.angles(k * 0.02) for walk in walks]
        worlds.advance(0.02)
        upright = np.minimum(upright, robot.uprightness())
        places.append(robot.pose[:, :2].copy())
    assert (upright > np.cos(np.radians(8))).all()
    begin, end = 250, 1050  # sixteen seconds: whole cycles of each
    speed = np.linalg.norm(places[end] - places[begin], axis=1) / 16.0
    np.testing.assert_allclose(speed, [s.forward for s in told], rtol=0.05)


@pytest.mark.slow
def test_it_turns_and_steps_aside_in_physics() -> None:
    told = (PreviewWalkSettings(forward=0.0, turn=0.3), PreviewWalkSettings(forward=0.0, sideways=0.05))
    worlds = Worlds(pitch_scene("nao-v4"), len(told), threads=0)
    robot = worlds.robot("nao")
    walks = [PreviewWalk(robot.table, settings, duration=8.0) for settings in told]
    for k in range(420):
        robot.command = [walk.angles(k * 0.02) for walk in walks]
        worlds.advance(0.02)
    yaw = 2 * np.arctan2(robot.pose[0, 6], robot.pose[0, 3])
    assert (robot.uprightness() > 0.99).all()
    assert yaw == pytest.approx(walks[0].yaws[-1].mean(), rel=0.1)
    assert robot.pose[1, 1] == pytest.approx(walks[1].plan.feet.position[-1, :, 1].mean(), rel=0.1)


def test_the_height_of_the_centre_of_mass_is_the_robots_own_unless_given() -> None:
    body = NaoBody(pitch_scene().robots[0])
    centre = body.centre_of_mass(body.ready_legs)[2] + MOTOFLEX_1.torso_height
    given = dataclasses.replace(MOTOFLEX_1, centre_height=float(centre))
    one, other = (PreviewWalk(pitch_scene().robots[0], s, duration=6.0).motion for s in (MOTOFLEX_1, given))
    np.testing.assert_allclose(one.centre, other.centre, atol=1e-3)


def trial(angles: list[float], falls: float = np.inf) -> WalkTrial:
    times = np.arange(len(angles)) * 0.1
    place = np.stack([0.25 * times, 0 * times, 0 * times], axis=1)
    return WalkTrial(times, place, np.array(angles), 0 * times, falls)


def test_speed_is_way_over_time() -> None:
    assert trial([0.0] * 101).speed(2.0, 8.0) == pytest.approx(0.25)


def test_a_robot_that_fell_has_no_speed() -> None:
    assert np.isnan(trial([0.0] * 101, falls=5.0).speed(2.0, 8.0))


def test_swing_is_half_the_range() -> None:
    waves = list(0.1 + 0.05 * np.sin(np.arange(101)))
    assert trial(waves).swing(trial(waves).pitch, 0.0, 10.0) == pytest.approx(0.05, rel=0.02)


def test_a_standing_robot_stays_and_a_limp_pose_falls() -> None:
    robot = Placement(robot="nao-v6", name="n", pos=(-1, 0))
    scene = assemble(SceneSettings(field="spl2025", ball="none", robots=(robot,), visuals=False))
    stand = Worlds(scene).robot("n").start
    lean = stand.copy()
    lean[scene.robots[0].motor_index(["LAnklePitch", "RAnklePitch"])] -= 0.6
    standing, falling = (try_walk(Worlds(scene), "n", lambda _, pose=pose: pose, seconds=2.0) for pose in (stand, lean))
    assert np.isinf(standing.fallen_at)
    assert falling.fallen_at < 2.0
    assert abs(standing.pitch[-1]) < 0.05


def test_rhythm_is_the_frequency_of_the_strongest_oscillation() -> None:
    times = np.arange(101) * 0.1
    waves = list(0.1 * np.sin(2 * np.pi * 1.3 * times) + 0.02 * np.sin(2 * np.pi * 3.0 * times))
    assert trial(waves).rhythm(trial(waves).pitch, 0.0, 10.0) == pytest.approx(1.3, abs=0.03)
