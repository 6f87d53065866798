"""Automatic exposure against its closed form, at its limits, and in a camera."""

from __future__ import annotations

import dataclasses
import math

import mujoco
import numpy as np
import pytest

from nutmeg.model.sensors import CameraSettings
from nutmeg.sim.cameras import CameraEffects, RobotCamera
from nutmeg.sim.cameras.auto_exposure import Exposure, initial_exposure, mean_signal, next_exposure

SETTINGS = CameraSettings(
    exposure=0.004, white_exposure=0.02, auto_target=0.2, auto_rate=0.25, auto_longest=0.03, auto_gain=6.0
)


def test_the_error_in_stops_falls_by_the_same_share_with_every_picture() -> None:
    """log(m_n / target) = (1 - rate)^n log(m_0 / target), for three cameras at once: too dark, too bright, right."""
    light = np.array([0.15, 1.0, 0.5])  # mean signal in an exposure of 20 ms
    exposure = initial_exposure(SETTINGS, 3)
    begin = np.log(light * exposure.time / 0.02 / 0.2)
    for n in range(20):
        brightness = light * exposure.time * exposure.gain / 0.02
        assert np.log(brightness / 0.2) == pytest.approx(0.75**n * begin, abs=1e-12)
        exposure = next_exposure(exposure, brightness, SETTINGS)


def test_pictures_settle_at_the_target_within_the_promised_number() -> None:
    """Grey walls through the whole pipeline, rounded to 8 bits; 5 % off after n pictures, as the closed form says."""
    effects = CameraEffects(SETTINGS, size=(32, 24), fov=0.8, effects="exposure,auto,gamma")
    values = np.array([70, 140, 230], np.uint8)
    drawn = np.broadcast_to(values[:, None, None, None], (3, 24, 32, 3))
    exposure, rng = initial_exposure(SETTINGS, 3), np.random.default_rng(0)
    first = mean_signal(effects.apply(drawn, rng, exposure=exposure), effects.gamma)
    needed = math.ceil(math.log(0.05 / np.abs(np.log(first / 0.2)).max()) / math.log(0.75))
    for _ in range(needed):
        exposure = next_exposure(
            exposure, mean_signal(effects.apply(drawn, rng, exposure=exposure), effects.gamma), SETTINGS
        )
    after = mean_signal(effects.apply(drawn, rng, exposure=exposure), effects.gamma)
    assert np.abs(np.log(first / 0.2)).max() > 0.5
    assert after == pytest.approx([0.2] * 3, rel=0.06)


def test_light_is_collected_before_it_is_amplified_and_limits_hold() -> None:
    exposure = Exposure(np.full(3, 0.01), np.ones(3))
    dark, dim, glaring = np.array([0.0, 0.05, 1.0])
    for _ in range(60):
        exposure = next_exposure(exposure, np.array([dark, dim, glaring]), SETTINGS)
    assert exposure.time == pytest.approx([0.03, 0.03, 0.0001])
    assert exposure.gain == pytest.approx([6.0, 6.0, 1.0])
    once = next_exposure(Exposure(np.full(1, 0.001), np.ones(1)), np.zeros(1), SETTINGS)
    assert once.time * once.gain == pytest.approx(0.004)  # two stops at most


def test_a_camera_without_a_target_takes_the_same_picture_again() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><light pos="0 0 3"/><geom type="plane" size="3 3 .1" rgba=".4 .4 .4 1"/>
        <camera name="a/eye" pos="0 0 1" fovy="60" resolution="32 24"/></worldbody></mujoco>"""
    )
    fixed = dataclasses.replace(SETTINGS, auto_target=0.0)
    with RobotCamera(model, "a/eye", settings=fixed, effects="exposure,auto") as camera:
        assert camera.exposure is None
        assert np.array_equal(camera.look(np.zeros(0)), camera.look(np.zeros(0)))
    with RobotCamera(model, "a/eye", settings=SETTINGS, effects="exposure,auto") as camera:
        pictures = [camera.look(np.zeros(0)) for _ in range(30)]
        assert mean_signal(pictures[-1][None], 2.2)[0] == pytest.approx(0.2, rel=0.05)
        assert abs(math.log(mean_signal(pictures[0][None], 2.2)[0] / 0.2)) > 0.2
