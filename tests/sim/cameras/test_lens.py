"""Lenses against the equations, on grids and on pictures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.base.errors import ModelError
from nutmeg.model.sensors import CameraSettings
from nutmeg.sim.cameras.lens import Lens, bilinear, distort, pixel_grid, remap, undistort, vignetting

SIZE, FOV = (64, 48), 0.8
ERS7 = CameraSettings(k1=-0.147005, k2=0.38485, p1=-0.00347777, p2=0.00012873)


def test_one_ray_arrives_where_the_equations_say() -> None:
    settings = CameraSettings(k1=-0.2, k2=0.1, k3=-0.05, p1=0.01, p2=-0.02)
    x, y = 0.3, -0.4  # r² = 0.25
    radial = 1 - 0.2 * 0.25 + 0.1 * 0.25**2 - 0.05 * 0.25**3
    expected = (
        x * radial + 2 * 0.01 * x * y - 0.02 * (0.25 + 2 * x * x),
        y * radial + 0.01 * (0.25 + 2 * y * y) + 2 * -0.02 * x * y,
    )
    np.testing.assert_allclose(distort(np.array([x, y]), settings), expected, rtol=1e-12)


def test_a_grid_comes_back_through_the_inverse_of_a_real_lens() -> None:
    grid = pixel_grid(208, 160, 199.0)
    np.testing.assert_allclose(distort(undistort(grid, ERS7), ERS7), grid, atol=1e-9)


def test_a_barrel_pulls_the_corners_in() -> None:
    corner = np.array([0.5, 0.4])
    assert np.linalg.norm(distort(corner, CameraSettings(k1=-0.2))) < np.linalg.norm(corner)
    assert np.linalg.norm(distort(corner, CameraSettings(k1=0.2))) > np.linalg.norm(corner)


def test_a_lens_that_folds_the_picture_is_refused() -> None:
    with pytest.raises(ModelError, match="cannot be inverted"):
        Lens.of(CameraSettings(k1=-3.0), size=SIZE, fov=1.2, effects=("lens",))


def test_without_effects_the_lens_is_a_pinhole() -> None:
    assert Lens.of(ERS7, size=SIZE, fov=FOV, effects=()).plain
    assert not Lens.of(ERS7, size=SIZE, fov=FOV, effects=("lens",)).plain


def test_the_drawn_picture_holds_every_ray_of_the_lens() -> None:
    lens = Lens.of(CameraSettings(k1=-0.3), size=SIZE, fov=FOV, effects=("lens",))
    points = lens.points(lens.rays)
    assert points.min() >= 0
    assert points[..., 0].max() <= lens.drawn_shape[1] - 1
    assert points[..., 1].max() <= lens.drawn_shape[0] - 1
    assert math.tan(lens.drawn_fov / 2) == pytest.approx(lens.drawn_shape[0] / 2 / lens.focal)


def test_a_table_reads_a_linear_ramp_exactly() -> None:
    rows, columns = np.mgrid[0:10, 0:12]
    ramp = (0.01 * columns + 0.02 * rows).astype(np.float32)
    image = np.repeat(ramp[None, ..., None], 3, axis=3)
    points = np.array([[[2.25, 3.5], [0.0, 0.0], [11.0, 9.0], [-5.0, 4.0]]])
    seen = remap(image, bilinear(points, (10, 12), (1, 4)))
    np.testing.assert_allclose(seen[0, 0, :, 0], [0.0225 + 0.07, 0.0, 0.11 + 0.18, 0.08], atol=1e-6)


def test_a_known_grid_of_dots_lands_where_the_lens_bends_it() -> None:
    settings = CameraSettings(k1=-0.25, p1=0.004)
    lens = Lens.of(settings, size=(161, 121), fov=FOV, effects=("lens",))
    height, width = lens.drawn_shape
    for ray in np.array([[0.3, 0.2], [-0.35, 0.1], [0.05, -0.3]]):
        column, row = lens.points(ray)
        y, x = np.mgrid[0:height, 0:width]
        dot = np.exp(-((x - column) ** 2 + (y - row) ** 2) / 8).astype(np.float32)
        seen = remap(np.repeat(dot[None, ..., None], 3, axis=3), lens.table(lens.rays))[0, ..., 0]
        v, u = np.mgrid[0:121, 0:161]
        found = np.array([(seen * u).sum(), (seen * v).sum()]) / seen.sum()
        expected = distort(ray, settings) * lens.focal + [80, 60]
        np.testing.assert_allclose(found, expected, atol=0.1)


def test_red_and_blue_images_have_their_own_size() -> None:
    settings = CameraSettings(fringe_red=0.02, fringe_blue=-0.01)
    lens = Lens.of(settings, size=SIZE, fov=FOV, effects=("fringe",))
    red, green, blue = lens.rays
    np.testing.assert_allclose(red * 1.02, green, rtol=1e-12)
    np.testing.assert_allclose(blue * 0.99, green, rtol=1e-12)


def test_natural_vignetting_is_the_fourth_power_of_the_cosine() -> None:
    profile = vignetting(CameraSettings(cos4=1.0), size=(65, 49), fov=FOV)[..., 0]
    focal = 49 / 2 / math.tan(FOV / 2)
    angle = math.atan(math.hypot(32, 24) / focal)  # the middle of a corner pixel
    assert profile[24, 32] == 1.0
    assert profile[0, 0] == pytest.approx(math.cos(angle) ** 4, rel=1e-6)
    assert profile[48, 64] == pytest.approx(profile[0, 0])


def test_the_polynomial_changes_the_corners_by_its_sum() -> None:
    profile = vignetting(CameraSettings(v2=-0.3, v4=0.1), size=(640, 480), fov=FOV)[..., 0]
    assert profile[0, 0] == pytest.approx(1 - 0.3 + 0.1, abs=2e-3)
    assert vignetting(CameraSettings(v2=-3.0), size=SIZE, fov=FOV).min() == 0.0
