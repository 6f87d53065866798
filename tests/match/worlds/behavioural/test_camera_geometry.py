"""Cameras: the paper's places and openings, and what they see of the ground."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.match.worlds.behavioural.camera_geometry import (
    camera_matrix,
    camera_pose,
    ground_view,
    in_picture,
    to_ground,
    to_pixels,
)
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.behavioural.settings import load_behaviour

CAMERAS = load_eyes("nao").cameras


def test_cameras_are_where_the_paper_has_them() -> None:
    top, axes = camera_pose(CAMERAS, "top")
    bottom, lower = camera_pose(CAMERAS, "bottom")
    np.testing.assert_allclose(top, [0.0539, 0.0, 0.5372])
    np.testing.assert_allclose(bottom, [0.0488, 0.0, 0.4709])
    np.testing.assert_allclose(axes, [[0, 0, 1], [-1, 0, 0], [0, -1, 0]], atol=1e-12)
    assert math.degrees(math.acos(axes[:, 2] @ lower[:, 2])) == pytest.approx(40.0)
    assert lower[2, 2] < 0.0


def test_a_picture_is_58_degrees_from_corner_to_corner() -> None:
    rays = np.linalg.inv(camera_matrix(CAMERAS)) @ np.array([[0.0, 0.0, 1.0], [320.0, 240.0, 1.0]]).T
    rays /= np.linalg.norm(rays, axis=0)
    assert math.degrees(math.acos(rays[:, 0] @ rays[:, 1])) == pytest.approx(58.0)
    assert (CAMERAS.width, CAMERAS.height) == (320, 240)


def test_head_limits_are_the_papers_with_its_rows_exchanged_and_pitch_upwards() -> None:
    head = load_behaviour("nao").head
    np.testing.assert_allclose(np.degrees([head.yaw, head.up, head.down]), [120.0, 35.0, 30.0])


@pytest.mark.parametrize("which", ["top", "bottom"])
@pytest.mark.parametrize("head", [(0.0, 0.0), (0.7, -0.3), (-2.0, 0.2)])
def test_what_is_projected_comes_back_to_where_it_was(which: str, head: tuple[float, float]) -> None:
    pose = (0.4, -1.2, 2.5)
    pixels = np.array([[160.0, 239.0], [20.0, 200.0], [300.0, 230.0]])
    spots = to_ground(CAMERAS, which, pixels, pose=pose, head=head, height=0.03)  # type: ignore[arg-type]
    points = np.concatenate([spots, np.full((3, 1), 0.03)], axis=1)
    back = to_pixels(CAMERAS, which, points, pose=pose, head=head)  # type: ignore[arg-type]
    good = np.isfinite(spots).all(axis=1)
    assert good.any() or (which == "top" and head[1] > 0)
    np.testing.assert_allclose(back[good], pixels[good])


def test_known_points_fall_on_known_pixels() -> None:
    focal = 200.0 / math.tan(math.radians(29.0))
    ahead = to_pixels(CAMERAS, "top", [1.0539, 0.0, 0.5372])
    left = to_pixels(CAMERAS, "top", [1.0539, 0.1, 0.5372])
    above = to_pixels(CAMERAS, "top", [1.0539, 0.0, 0.6372])
    np.testing.assert_allclose(ahead, [160.0, 120.0])
    np.testing.assert_allclose(left, [160.0 - 0.1 * focal, 120.0])
    np.testing.assert_allclose(above, [160.0, 120.0 - 0.1 * focal])
    assert np.isnan(to_pixels(CAMERAS, "top", [-1.0, 0.0, 0.0])).all()


def test_the_ground_begins_and_ends_where_the_openings_say() -> None:
    half = math.atan(120.0 / CAMERAS.focal)
    near = 0.0539 + 0.5372 / math.tan(half)
    assert ground_view(CAMERAS, "top", farthest=8.0)[0, 0] == pytest.approx(near)
    lower = ground_view(CAMERAS, "bottom")
    tilt = math.radians(40.0)
    assert lower[0, 0] == pytest.approx(0.0488 + 0.4709 / math.tan(tilt + half))
    assert lower[2, 0] == pytest.approx(0.0488 + 0.4709 / math.tan(tilt - half))
    assert lower[0, 1] == pytest.approx(-lower[1, 1])
    assert len(ground_view(CAMERAS, "top", head=(0.0, 0.6))) == 0


def test_the_head_turns_about_the_neck() -> None:
    neck = np.array(CAMERAS.neck)
    for which, place in (("top", CAMERAS.top), ("bottom", CAMERAS.bottom)):
        arm = np.linalg.norm(np.array(place) - neck)
        for head in ((1.0, 0.5), (-2.0, -0.5)):
            at, _ = camera_pose(CAMERAS, which, head=head)  # type: ignore[arg-type]
            assert np.linalg.norm(at - neck) == pytest.approx(arm)
    up, _ = camera_pose(CAMERAS, "top", head=(0.0, 0.5))
    assert up[0] < CAMERAS.top[0]


def test_only_what_is_within_a_picture_is_in_it() -> None:
    assert in_picture(CAMERAS, [[0.0, 0.0], [319.9, 239.9], [320.0, 10.0], [-0.1, 10.0]]).tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_unknown_eyes_are_named() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'nao'"):
        load_eyes("nan")
