"""The kick: its plan, and that it sends a ball away in physics."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from nutmeg.base.errors import ModelError
from nutmeg.model.posing import pose_angles
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.motion.kick import Kick, KickSettings
from nutmeg.sim.worlds import Worlds


@functools.cache
def pitch_scene() -> Scene:
    robots = (Placement(robot="nao-v6", name="nao", pos=(-3.0, 0.0)),)
    return assemble(SceneSettings(field="spl2025", robots=robots, visuals=False))


@functools.cache
def kick_with(foot: str) -> Kick:
    return Kick(pitch_scene().robots[0], KickSettings(foot="left" if foot == "left" else "right"))


def test_a_kick_begins_and_ends_in_the_ready_stance() -> None:
    table, kick = pitch_scene().robots[0], kick_with("left")
    ready = pose_angles(table.settings, table, "ready")[table.motor_joints]
    np.testing.assert_allclose(kick.angles(0.0), ready, atol=2e-5)
    np.testing.assert_allclose(kick.angles(kick.duration), ready, atol=1e-9)
    np.testing.assert_allclose(kick.angles(99.0), ready, atol=1e-9)


def test_the_kicking_foot_goes_back_then_ahead_and_never_into_the_ground() -> None:
    kick = kick_with("left")
    path = kick.plan.feet.position[:, 0] - kick.plan.feet.position[0, 0]
    assert path[:, 0].min() == pytest.approx(-kick.settings.back, abs=1e-3)
    assert path[:, 0].max() == pytest.approx(kick.settings.reach, abs=1e-3)
    assert path[:, 2].min() >= 0
    assert path[:, 0].argmin() < path[:, 0].argmax()


def test_the_other_foot_stays_where_it_is_with_the_weight_on_it() -> None:
    kick = kick_with("left")
    assert (kick.plan.feet.position[:, 1] == kick.plan.feet.position[0, 1]).all()
    begin = round(kick.strike / 0.01)
    assert np.abs(kick.motion.centre[begin - 20, 1] - kick.plan.feet.position[0, 1, 1]) < 0.01


def test_a_kick_with_the_right_foot_is_the_mirror_image() -> None:
    left, right = kick_with("left"), kick_with("right")
    np.testing.assert_allclose(right.plan.feet.position, left.plan.feet.position[:, ::-1] * [1, -1, 1], atol=1e-12)
    np.testing.assert_allclose(right.motion.centre * [1, -1], left.motion.centre, atol=1e-3)
    np.testing.assert_allclose(right.ball_place(), left.ball_place() * [1, -1], atol=1e-12)


def test_worlds_may_be_at_different_moments_of_a_kick() -> None:
    kick = kick_with("left")
    times = np.array([0.0, 1.3, 1.7])
    np.testing.assert_allclose(kick.angles(times)[1], kick.angles(1.3))
    assert kick.angles(times).shape == (3, len(pitch_scene().robots[0].motors))


def test_a_kick_out_of_reach_is_refused() -> None:
    with pytest.raises(ModelError, match="out of reach"):
        Kick(pitch_scene().robots[0], KickSettings(reach=0.3))
    with pytest.raises(ValueError, match="strike_time"):
        KickSettings(strike_time=0.0)


@pytest.mark.parametrize("foot", ["left", "right"])
def test_the_ball_rolls_more_than_a_metre_and_the_robot_keeps_standing(foot: str) -> None:
    worlds, kick = Worlds(pitch_scene()), kick_with(foot)
    robot = worlds.robot("nao")
    place = robot.pose[0, :2] + kick.ball_place()
    worlds.put_ball(place)
    upright = 1.0
    for k in range(round(6.0 / 0.02)):
        robot.command = kick.angles(k * 0.02)
        worlds.advance(0.02)
        upright = min(upright, float(robot.uprightness()[0]))
    assert worlds.ball is not None
    way = worlds.ball[0, :2] - place
    assert way[0] > 1.0
    assert abs(way[1]) < 0.2 * way[0]
    assert upright > np.cos(np.radians(6))
