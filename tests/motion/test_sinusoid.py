"""Sinusoid gaits: r(t) = theta + a sin(w t + psi), from files, for one or many."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.base.settings import read
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.model.robot import ROBOTS_FOLDER
from nutmeg.motion.sinusoid import GaitFile, GaitSettings, SinusoidGait, Swing, gait_of, read_gait
from nutmeg.sim import Worlds


@pytest.fixture(scope="module")
def worlds() -> Worlds:
    robots = (Placement(robot="ant", name="ant"),)
    return Worlds(assemble(SceneSettings(ball="none", robots=robots, visuals=False)))


def test_a_gait_is_the_printed_formula(worlds: Worlds) -> None:
    ant = worlds.robot("ant")
    first, second = ant.table.motors[:2]
    swings = {first: Swing(theta=0.1, a=0.3, psi=0.5), second: Swing(a=0.2, psi=-1.0)}
    gait = gait_of(GaitSettings(frequency=1.5, joints=swings), ant.table, ant.start)
    for t in (0.0, 0.123, 4.5):
        angles = gait.angles(t)
        assert angles[0] == pytest.approx(0.1 + 0.3 * math.sin(2 * math.pi * 1.5 * t + 0.5))
        assert angles[1] == pytest.approx(0.2 * math.sin(2 * math.pi * 1.5 * t - 1.0))
        assert np.array_equal(angles[2:], ant.start[2:])


def test_many_gaits_are_many_rows() -> None:
    theta, amplitude, phase = np.random.default_rng(1).normal(size=(3, 5, 18))
    gait = SinusoidGait(theta, amplitude, phase, omega=3.0)
    times = np.linspace(0, 1, 5)[:, None]
    together = gait.angles(times)
    assert together.shape == (5, 18)
    for i in range(5):
        alone = SinusoidGait(theta[i], amplitude[i], phase[i], omega=3.0)
        assert np.array_equal(together[i], alone.angles(float(times[i, 0])))


def test_a_gait_repeats_after_its_period(worlds: Worlds) -> None:
    ant = worlds.robot("ant")
    gait = gait_of(read_gait(ROBOTS_FOLDER / "ant" / "gaits.toml", "tripod"), ant.table, ant.start)
    assert gait.angles(0.3) == pytest.approx(gait.angles(0.3 + 2 * math.pi / gait.omega))


@pytest.mark.parametrize("name", sorted(read(ROBOTS_FOLDER / "ant" / "gaits.toml", GaitFile).gaits))
def test_every_gait_of_the_ant_stays_within_its_joints_and_on_its_feet(worlds: Worlds, name: str) -> None:
    worlds.reset()
    ant = worlds.robot("ant")
    gait = gait_of(read_gait(ROBOTS_FOLDER / "ant" / "gaits.toml", name), ant.table, ant.start)
    limits = ant.table.limits[ant.table.motor_joints]
    for cycle in range(100):
        angles = gait.angles(cycle * 0.02)
        assert (angles >= limits[:, 0] - 1e-6).all()
        assert (angles <= limits[:, 1] + 1e-6).all()
        ant.command = angles
        worlds.advance(0.02)
    assert ant.uprightness()[0] > 0.8


def test_the_tripod_walks_forward(worlds: Worlds) -> None:
    worlds.reset()
    ant = worlds.robot("ant")
    gait = gait_of(read_gait(ROBOTS_FOLDER / "ant" / "gaits.toml", "tripod"), ant.table, ant.start)
    for cycle in range(200):
        ant.command = gait.angles(cycle * 0.02)
        worlds.advance(0.02)
    assert ant.pose[0, 0] > 0.1
    assert abs(ant.pose[0, 1]) < ant.pose[0, 0]


def test_unknown_gaits_and_motors_are_named(worlds: Worlds, tmp_path: Path) -> None:
    ant = worlds.robot("ant")
    with pytest.raises(UnknownNameError, match=r"gaits\.toml: unknown gait 'tirpod'\. Did you mean 'tripod'"):
        read_gait(ROBOTS_FOLDER / "ant" / "gaits.toml", "tirpod")
    wrong = GaitSettings(frequency=1, joints={ant.table.motors[0] + "x": Swing()})
    with pytest.raises(UnknownNameError, match=f"unknown motor of ant .*Did you mean '{ant.table.motors[0]}'"):
        gait_of(wrong, ant.table, ant.start)
    (tmp_path / "g.toml").write_text("[gaits.a]\nfrequency = 1\njoints = { x = { amp = 1 } }\n")
    with pytest.raises(FileError, match=r"g\.toml, line 3: gaits\.a\.joints\.x\.amp: .*Known keys: a, psi, theta"):
        read_gait(tmp_path / "g.toml", "a")
