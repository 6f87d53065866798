"""Effects together: order, switches, batches, files."""

from __future__ import annotations

import dataclasses
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
from nutmeg.sim.cameras import CameraEffects, scene_cameras

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
