"""Effects together: order, switches, batches, files; rolling shutter and motion blur."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, ModelError, UnknownNameError
from nutmeg.base.settings import read
from nutmeg.model import Placement, SceneSettings, assemble, load_robot, robot_names
from nutmeg.model.parameters import CAMERA_NUMBERS, Adjustment, adjusted_cameras
from nutmeg.model.sensors import (
    CAMERA_EFFECTS,
    CameraFile,
    CameraSettings,
    checked_effects,
    load_cameras,
)
from nutmeg.sim.cameras import scene_cameras
from nutmeg.sim.cameras.effects import (
    CameraEffects,
    expose,
    exposure_weights,
    moment_times,
    rotations,
    row_times,
    turned_rays,
)
from nutmeg.sim.cameras.lens import pixel_grid

SETTINGS = CameraSettings(
    k1=-0.1,
    fringe_red=0.004,
    cos4=1.0,
    gain=2.0,
    exposure=0.004,
    read_noise=10,
    filter="rggb",
    light_red=0.7,
    gamma=1.8,
)
SIZE, FOV = (48, 32), 0.8


def made(effects: str | tuple[str, ...], drawn: np.ndarray | None = None) -> np.ndarray:
    camera = CameraEffects(SETTINGS, size=SIZE, fov=FOV, effects=effects)
    width, height = camera.drawn_size
    if drawn is None:
        drawn = np.random.default_rng(0).integers(0, 255, (1, height, width, 3), dtype=np.uint8)
    return camera.apply(drawn, np.random.default_rng(1))


def test_without_effects_the_drawn_picture_is_the_picture() -> None:
    drawn = np.random.default_rng(0).integers(0, 255, (3, 32, 48, 3), dtype=np.uint8)
    assert np.array_equal(made("none", drawn), drawn)


@pytest.mark.parametrize("effect", [e for e in CAMERA_EFFECTS if e not in ("shutter", "blur", "auto")])
def test_each_effect_alone_changes_the_picture(effect: str) -> None:
    camera = CameraEffects(SETTINGS, size=SIZE, fov=FOV, effects=(effect,))
    width, height = camera.drawn_size
    drawn = np.random.default_rng(0).integers(0, 255, (1, height, width, 3), dtype=np.uint8)
    seen = camera.apply(drawn, np.random.default_rng(1))
    assert seen.shape == (1, 32, 48, 3)
    left, top = (width - 48) // 2, (height - 32) // 2
    assert not np.array_equal(seen, drawn[:, top : top + 32, left : left + 48])


@pytest.mark.parametrize("effect", CAMERA_EFFECTS)
def test_a_perfect_camera_is_changed_by_no_effect_but_rounding(effect: str) -> None:
    perfect = CameraSettings(full_well=1e12, bits=16)
    camera = CameraEffects(perfect, size=SIZE, fov=FOV, effects=(effect,))
    width, height = camera.drawn_size
    drawn = np.random.default_rng(0).integers(40, 255, (1, height, width, 3), dtype=np.uint8)
    left, top = (width - 48) // 2, (height - 32) // 2
    seen = camera.apply(drawn, np.random.default_rng(1), np.zeros((1, 3)))
    assert np.array_equal(seen, drawn[:, top : top + 32, left : left + 48])


def test_pictures_of_a_batch_are_what_they_are_alone() -> None:
    camera = CameraEffects(SETTINGS, size=SIZE, fov=FOV, effects=("lens", "fringe", "vignette", "filter", "gamma"))
    width, height = camera.drawn_size
    drawn = np.random.default_rng(0).integers(0, 255, (3, height, width, 3), dtype=np.uint8)
    rng = np.random.default_rng(1)
    together = camera.apply(drawn, rng)
    assert all(np.array_equal(camera.apply(one[None], rng)[0], seen) for one, seen in zip(drawn, together, strict=True))


def test_the_whole_camera_keeps_the_brightness_that_its_numbers_promise() -> None:
    """Half the light at twice the gain, a balance that undoes the tint: grey stays grey."""
    settings = dataclasses.replace(
        CameraSettings(exposure=0.005, gain=2.0, light_red=0.7, light_blue=0.5, filter="bggr", full_well=1e6),
        balance_red=1 / 0.7,
        balance_blue=2.0,
    )
    camera = CameraEffects(settings, size=SIZE, fov=FOV, effects="exposure,noise,filter,balance,gamma")
    grey = np.full((1, 32, 48, 3), 140, np.uint8)
    seen = camera.apply(grey, np.random.default_rng(1))
    assert seen.mean(axis=(0, 1, 2)) == pytest.approx([140, 140, 140], abs=1.0)


def test_effects_are_named_in_any_order_and_done_in_their_own() -> None:
    assert checked_effects("noise, lens") == ("lens", "noise")
    assert checked_effects("all") == CAMERA_EFFECTS
    assert checked_effects("none") == ()
    with pytest.raises(UnknownNameError, match="Did you mean 'noise'"):
        checked_effects("nois")


def test_four_robots_come_with_numbers_of_their_cameras_and_sources() -> None:
    told = {name: load_cameras(load_robot(name)) for name in robot_names()}
    for name in ("nao-v4", "nao-v6", "ers7", "ers210"):
        for settings in told[name].values():
            assert settings.source
            assert settings.k1 < 0
    assert told["ers7"]["camera"].k1 == -0.147005
    assert told["ant"]["eyes"] == CameraSettings()


def test_numbers_are_set_by_their_targets() -> None:
    robot = load_robot("nao-v6")
    both = adjusted_cameras(robot, [Adjustment(target="camera.Camera*.gain", value=2.0, relative=True)])
    assert {name: one.gain for name, one in both.items()} == {"CameraTop": 8.0, "CameraBottom": 8.0}
    assert "k1" in CAMERA_NUMBERS
    assert "bits" not in CAMERA_NUMBERS
    scene = assemble(
        SceneSettings(
            field="none",
            ball="none",
            robots=(
                Placement(
                    robot="nao-v6", adjustments=(Adjustment(target="camera.CameraTop.k1", value=-0.3),), name="a"
                ),
            ),
            visuals=False,
        )
    )
    assert scene_cameras(scene)["a/CameraTop"].k1 == -0.3
    assert scene_cameras(scene)["a/CameraBottom"].k1 == -0.0648764


@pytest.mark.parametrize(
    ("target", "value", "kind", "said"),
    [
        ("camera.CameraTop.k9", 0.0, UnknownNameError, "number of camera"),
        ("camera.CameraTap.k1", 0.0, UnknownNameError, "Did you mean 'CameraTop'"),
        ("camera.k1", 0.0, ModelError, r"camera\.CAMERA\.FIELD"),
        ("camera.CameraTop.gain", -1.0, ModelError, r"camera\.CameraTop\.gain: gain is -1"),
        ("camera.CameraTop.auto_rate", 0.0, ModelError, "above 0 and up to 1"),
        ("camera.CameraTop.auto_longest", 1e-9, ModelError, "must not be above the second"),
    ],
)
def test_wrong_targets_are_told(target: str, value: float, kind: type[Exception], said: str) -> None:
    placement = Placement(robot="nao-v6", adjustments=(Adjustment(target=target, value=value),))
    with pytest.raises(kind, match=said):
        assemble(SceneSettings(field="none", ball="none", robots=(placement,), visuals=False))


def test_a_wrong_file_says_what_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "cameras.toml"
    path.write_text("[camera.eye]\nfilter = 'xtrans'\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"line 2.*'bggr'"):
        read(path, CameraFile)


def test_rows_are_read_evenly_around_the_time_of_the_picture() -> None:
    times = row_times(4, 0.04)
    np.testing.assert_allclose(times, [-0.015, -0.005, 0.005, 0.015])
    assert row_times(480, 0.0).max() == 0.0


def test_rotations_turn_by_the_length_of_their_vector() -> None:
    quarter = rotations(np.array([[0, 0, math.pi / 2], [0, 0, 0]]))
    np.testing.assert_allclose(quarter[0] @ [1, 0, 0], [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(quarter[1], np.eye(3))


def test_a_panning_camera_leans_upright_things_by_the_tangent_of_what_it_turned() -> None:
    focal, height = 100.0, 41
    rays = pixel_grid(61, height, focal)[None]
    pan = np.array([0.0, 2.0, 0.0])  # to the left: y is up
    times = row_times(height, 0.05)
    turned = turned_rays(rays, pan, times)
    middle = turned[0, :, 30, 0]  # the column that looked straight ahead
    np.testing.assert_allclose(middle, -np.tan(2.0 * times), atol=1e-9)
    np.testing.assert_allclose(turned[0, 20], rays[0, 20], atol=1e-12)  # the middle row is read at the picture's time


def test_a_rolling_camera_turns_the_picture_about_its_middle() -> None:
    rays = np.array([[[[0.1, 0.0]]]])
    turned = turned_rays(rays, np.array([0.0, 0.0, 1.0]), np.array([0.3]))  # z is backwards: anticlockwise
    np.testing.assert_allclose(turned[0, 0, 0], [0.1 * math.cos(0.3), -0.1 * math.sin(0.3)], atol=1e-12)


def test_weights_without_exposure_are_a_linear_interpolation() -> None:
    weights = exposure_weights(4, np.array([-0.02, 0.0, 0.02]), readout=0.04, exposure=0.0)
    np.testing.assert_allclose(weights[0], [0.75, 0.25, 0.0])
    np.testing.assert_allclose(weights[3], [0.0, 0.25, 0.75])


@pytest.mark.parametrize(("readout", "exposure"), [(0.0, 0.02), (0.03, 0.01), (0.03, 0.08)])
def test_weights_of_every_row_sum_to_one_and_keep_the_mean_time(readout: float, exposure: float) -> None:
    moments = moment_times(9, readout=readout, exposure=exposure)
    weights = exposure_weights(12, moments, readout=readout, exposure=exposure)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert weights.min() >= -1e-12
    np.testing.assert_allclose(weights @ moments, row_times(12, readout), atol=1e-12)


def test_blur_of_a_steadily_brightening_world_is_its_middle() -> None:
    moments = np.array([-0.01, 0.0, 0.01])
    light = np.array([0.2, 0.4, 0.6], np.float32)[None, :, None, None, None] * np.ones((1, 3, 6, 5, 3), np.float32)
    blurred = expose(light, exposure_weights(6, moments, readout=0.0, exposure=0.02))
    np.testing.assert_allclose(blurred, 0.4, rtol=1e-6)


def test_a_moving_edge_leans_by_what_it_moves_while_rows_are_read() -> None:
    """An edge at 1000 columns per second, rows read within 20 ms: 20 columns from the top to the bottom."""
    times, height, width = np.linspace(-0.01, 0.01, 21), 40, 80
    columns = np.arange(width)
    moments = np.stack([np.clip(columns - (40 + 1000 * t), 0, 1) for t in times]).astype(np.float32)
    moments = np.broadcast_to(moments[None, :, None, :, None], (1, 21, height, width, 3))
    rows = expose(moments, exposure_weights(height, times, readout=0.02, exposure=0.0))[0, ..., 0]
    edges = width - rows.sum(axis=1)
    np.testing.assert_allclose(edges - edges.mean(), 1000 * row_times(height, 0.02), atol=0.05)


def test_turning_and_moments_agree_on_a_far_edge() -> None:
    settings = CameraSettings(readout=0.03, exposure=0.004)
    effects = CameraEffects(settings, size=(96, 72), fov=0.8, effects=("shutter", "blur"))
    width, height = effects.drawn_size
    focal, velocity = effects.lens.focal, np.array([0.0, 1.5, 0.0])

    def drawn(turned: float) -> np.ndarray:
        ahead = (
            np.arctan((np.arange(width) - (width - 1) / 2) / focal) - turned
        )  # the camera turns left, things go right
        line = np.clip(ahead * focal * 0.3 + 0.5, 0, 1)
        return np.broadcast_to((255 * line[None, :, None]).astype(np.uint8), (height, width, 3))

    rng = np.random.default_rng(0)
    once = effects.apply(drawn(0.0)[None], rng, velocity[None])[0]
    times = moment_times(31, readout=0.03, exposure=0.004)
    often = effects.apply_moments(np.stack([drawn(1.5 * t) for t in times])[None], times, rng)[0]
    assert np.abs(once.astype(int) - often).mean() < 1.0
    assert np.abs(once.astype(int) - drawn(0.0)[:72, :96]).mean() > 5.0


def test_a_camera_at_rest_takes_the_drawn_picture() -> None:
    settings = CameraSettings(readout=0.03, exposure=0.02)
    effects = CameraEffects(settings, size=(32, 24), fov=0.8, effects=("shutter", "blur"))
    width, height = effects.drawn_size
    drawn = np.random.default_rng(1).integers(40, 255, (1, height, width, 3), dtype=np.uint8)
    seen = effects.apply(drawn, np.random.default_rng(0), np.zeros((1, 3)))
    left, top = (width - 32) // 2, (height - 24) // 2
    assert np.array_equal(seen, drawn[:, top : top + 24, left : left + 32])
