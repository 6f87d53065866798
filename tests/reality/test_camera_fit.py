"""A camera's numbers found again from its pictures."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nutmeg.body import Placement, SceneSettings, assemble
from nutmeg.body.cameras import CameraSettings
from nutmeg.engine.cameras import RobotCamera, scene_cameras
from nutmeg.engine.cameras.response import add_noise, convert
from nutmeg.errors import UnknownNameError, UsageError
from nutmeg.reality.camera_fit import Photo, fit_camera, photon_transfer
from nutmeg.search.space import Dimension, Space

CAMERA = "dog/camera"


@pytest.mark.slow
def test_lens_fall_off_and_balance_are_found_from_two_pictures() -> None:
    robots = (Placement(robot="ers7", name="dog"),)
    scene = assemble(SceneSettings(field="spl2025", robots=robots, ball_pos=(0.5, -0.1)))
    hidden = dataclasses.replace(scene_cameras(scene)[CAMERA], k1=-0.25, v2=-0.4, balance_blue=1.9)
    turned = scene.start.copy()
    turned[scene.model.joint("dog/NECK:pan").qposadr[0]] = 0.4
    with RobotCamera(
        scene.model, CAMERA, size=(104, 80), settings=hidden, rng=np.random.default_rng(3), effects="all"
    ) as camera:
        photos = [Photo(image=camera.look(qpos), qpos=qpos) for qpos in (scene.start, turned)]
    space = Space(
        {
            "camera.camera.k1": Dimension(low=-0.4, high=0.1),
            "camera.camera.v2": Dimension(low=-0.6, high=0.2),
            "camera.camera.balance_blue": Dimension(low=1.0, high=2.5),
        }
    )
    found = fit_camera(scene, CAMERA, photos, space, rounds=3)
    assert found.settings.k1 == pytest.approx(-0.25, abs=0.03)
    assert found.settings.v2 == pytest.approx(-0.4, abs=0.03)
    assert found.settings.balance_blue == pytest.approx(1.9, abs=0.03)
    assert found.error < 0.6 * found.start_error
    assert found.numbers["camera.camera.k1"] == found.settings.k1


def test_targets_of_other_cameras_or_fields_are_told() -> None:
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(Placement(robot="ers7", name="dog"),)))
    photo = Photo(image=np.zeros((16, 16, 3), np.uint8), qpos=scene.start)
    one = Dimension(low=0.0, high=1.0)
    with pytest.raises(UsageError, match=r"targets are written camera\.camera\.FIELD"):
        fit_camera(scene, CAMERA, [photo], Space({"camera.CameraTop.k1": one}))
    with pytest.raises(UnknownNameError, match="number of a camera"):
        fit_camera(scene, CAMERA, [photo], Space({"camera.camera.k7": one}))
    with pytest.raises(UsageError, match="pictures of one size"):
        fit_camera(scene, CAMERA, [], Space({"camera.camera.k1": one}))


def test_noise_is_found_from_how_variance_grows_with_light() -> None:
    settings = CameraSettings(full_well=5000, read_noise=12)
    rng = np.random.default_rng(4)
    ramp = np.broadcast_to(np.linspace(0.05, 0.45, 200, dtype=np.float32), (400, 20, 200))
    signal = convert(add_noise(ramp, settings, rng), gain=2.0, bits=16)
    full_well, read_noise = photon_transfer(signal, gain=2.0)
    assert full_well == pytest.approx(5000, rel=0.03)
    assert read_noise == pytest.approx(12, rel=0.15)
    with pytest.raises(UsageError, match="several pictures"):
        photon_transfer(signal[:1], gain=2.0)
