"""Balls roll, bounce, fly and rest as the closed forms say."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.model.ball import BallSettings, add_ball, ball_names, damping_ratio, load_ball
from nutmeg.model.field import add_field, load_field

STEPS = (0.001, 0.002, 0.004, 0.005)


ELLIPTIC, PYRAMIDAL = mujoco.mjtCone.mjCONE_ELLIPTIC, mujoco.mjtCone.mjCONE_PYRAMIDAL


def world(
    ball: BallSettings, height: float = 0.0, *, step: float = 0.002, cone: mujoco.mjtCone = ELLIPTIC
) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.option.cone = cone
    spec.option.timestep = step
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    add_field(spec, load_field("floor"), visuals=False)
    add_ball(spec, ball, (0, 0, ball.radius + height), visuals=False)
    return spec.compile()


def run(model: mujoco.MjModel, data: mujoco.MjData, seconds: float) -> None:
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)


def rolled(model: mujoco.MjModel, speed: float, direction: float = 0.0) -> float:
    """How far a rolling ball comes, m."""
    data = mujoco.MjData(model)
    run(model, data, 1.0)
    start = data.qpos[:2].copy()
    ahead = np.array([math.cos(direction), math.sin(direction)])
    data.qvel[:2] = speed * ahead
    data.qvel[3:5] = speed / data.qpos[2] * np.array([-ahead[1], ahead[0]])
    for _ in range(round(20 / model.opt.timestep)):
        mujoco.mj_step(model, data)
        if np.abs(data.qvel[:2]).max() < 1e-3:
            break
    way = data.qpos[:2] - start
    assert abs(way @ [-ahead[1], ahead[0]]) < 0.01 * np.linalg.norm(way)
    return float(np.linalg.norm(way))


def rebound(model: mujoco.MjModel, ball: BallSettings, height: float) -> float:
    """The height to which a ball dropped from `height` comes back, m."""
    data = mujoco.MjData(model)
    data.qpos[2] = ball.radius + height
    while data.qpos[2] > ball.radius:
        mujoco.mj_step(model, data)
    while data.qpos[2] < ball.radius or data.qvel[2] > 0:
        mujoco.mj_step(model, data)
    return float(data.qpos[2] - ball.radius)


@pytest.mark.parametrize("name", ["spl-orange", "spl-foam"])
@pytest.mark.parametrize("step", STEPS)
def test_a_rolling_ball_stops_after_its_speed_squared_over_twice_its_deceleration(name: str, step: float) -> None:
    ball = load_ball(name)
    model = world(ball, step=step)
    for speed in (0.3, 1.0, 2.0):
        assert rolled(model, speed) == pytest.approx(speed**2 / 2 / ball.rolling_deceleration, rel=0.05)


def test_a_ball_rolls_straight_and_equally_far_in_every_direction() -> None:
    model = world(load_ball("spl-foam"), step=0.004)
    ways = [rolled(model, 1.0, direction) for direction in np.radians([0, 10, 30, 45, 100, 225])]
    assert max(ways) / min(ways) < 1.01


def test_under_a_pyramidal_cone_a_ball_rolls_as_far_along_the_axes() -> None:
    ball = load_ball("spl-foam")
    for step in STEPS:
        model = world(ball, step=step, cone=PYRAMIDAL)
        for speed, direction in ((1.0, 0.0), (2.0, math.pi / 2)):
            way = speed**2 / 2 / ball.rolling_deceleration
            assert rolled(model, speed, direction) == pytest.approx(way, rel=0.05)


def test_a_ball_kicked_without_spin_first_slides_down_to_its_rolling_speed() -> None:
    ball = load_ball("spl-foam")
    model = world(ball)
    data = mujoco.MjData(model)
    run(model, data, 1.0)
    data.qvel[0] = 2.0
    run(model, data, 0.12)  # sliding ends after 2 v / 7 mu g = 0.073 s
    assert data.qvel[4] * ball.radius == pytest.approx(data.qvel[0], rel=0.04)
    assert data.qvel[0] == pytest.approx(5 / 7 * 2.0, rel=0.03)


@pytest.mark.parametrize("name", ["spl-orange", "spl-foam", "sim3d"])
def test_a_dropped_ball_comes_back_to_the_square_of_its_restitution(name: str) -> None:
    ball = dataclasses.replace(load_ball(name), air_drag=0.0)  # the closed form knows no air
    for step in STEPS:
        model = world(ball, step=step)
        shares = [rebound(model, ball, height) / height for height in np.linspace(0.3, 1.5, 25)]
        assert np.mean(shares) == pytest.approx(ball.restitution**2, rel=0.10)
        assert max(shares) < 1
        if step == 0.001:
            assert np.allclose(shares, ball.restitution**2, rtol=0.15)


def test_a_damping_ratio_gives_the_restitution_it_was_made_for() -> None:
    for restitution in (0.15, 0.5, 0.9):
        angle = math.asin(damping_ratio(restitution))
        assert math.exp(-(math.pi - 2 * angle) * math.tan(angle)) == pytest.approx(restitution)


def test_a_ball_falls_freely() -> None:
    model = world(load_ball("spl-foam"), 2.0)
    data = mujoco.MjData(model)
    run(model, data, 0.5)
    assert data.qpos[2] == pytest.approx(2.05 - 9.81 / 2 * 0.25, abs=0.006)
    assert data.qvel[2] == pytest.approx(-9.81 * 0.5, rel=1e-3)


@pytest.mark.parametrize("name", ball_names())
@pytest.mark.parametrize("step", [0.002, 0.005, 0.02])
def test_a_resting_ball_stays_where_it_is(name: str, step: float) -> None:
    ball = load_ball(name)
    model = world(ball, step=step)
    data = mujoco.MjData(model)
    run(model, data, 10.0)
    assert np.abs(data.qpos[:2]).max() < 1e-6
    assert -0.2 * ball.radius < data.qpos[2] - ball.radius < 9.81 * step**2
    assert np.abs(np.delete(data.qvel, 2)).max() < 1e-6
    assert abs(data.qvel[2]) < 9.81 * step  # it may hop by less than one step's fall


def test_the_league_ball_loses_speed_at_its_recorded_rates() -> None:
    ball = load_ball("sim3d")
    model = world(ball)
    assert rolled(model, 1.5) == pytest.approx(1.5 / ball.rolling_damping, rel=0.05)
    data = mujoco.MjData(model)
    data.qpos[2], data.qvel[0] = 8.0, 5.0
    run(model, data, 1.0)
    assert data.qvel[0] == pytest.approx(5 * math.exp(-ball.air_drag), rel=0.01)


def test_the_league_ball_flies_bounces_and_rolls_as_far_as_a_recorded_kick() -> None:
    """Recorded on rcssserver3d: at its highest point 0.44 m up, at 1.34 m with 4.8 m/s; at rest at 6.08 m."""
    ball = load_ball("sim3d")
    for step in (0.002, 0.005):
        model = world(ball, step=step)
        data = mujoco.MjData(model)
        data.qpos[:3], data.qvel[0] = (1.34, 0, 0.44), 4.8
        run(model, data, 8.0)
        assert data.qpos[0] == pytest.approx(6.08, rel=0.10)


@pytest.mark.parametrize("name", ball_names())
def test_every_ball_compiles_with_its_own_mass_and_inertia(name: str) -> None:
    ball = load_ball(name)
    spec = mujoco.MjSpec()
    add_ball(spec, ball, (1, 2, 3), "other")
    model = spec.compile()
    assert ball.name == name
    assert model.body("other").mass[0] == pytest.approx(ball.mass)
    assert np.allclose(model.body("other").inertia, ball.inertia_factor * ball.mass * ball.radius**2)
    assert np.allclose(model.qpos0[:3], (1, 2, 3))
    assert model.nq == 7
    assert model.nv == 6
    assert set(ball.source) >= {"radius", "mass", "rolling_deceleration", "restitution"}


def test_a_misspelt_ball_is_told_its_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'spl-foam'"):
        load_ball("spl-fome")


def test_a_ball_of_the_users_own_is_read_from_its_path(tmp_path: Path) -> None:
    text = (Path(load_ball.__code__.co_filename).parent / "data/balls/spl-foam.toml").read_text()
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace("mass = 0.044", "mass = 0.1"))
    assert load_ball(mine).mass == 0.1
    mine.write_text(text.replace("restitution = 0.50", "restitution = 1.50"))
    with pytest.raises(FileError, match=r"mine\.toml.*restitution is 1\.5"):
        load_ball(mine)
    mine.write_text(text.replace("mass = 0.044", "mess = 0.044"))
    with pytest.raises(FileError, match=r"mine\.toml, line 4: mess: .*Did you mean 'mass'"):
        load_ball(mine)
