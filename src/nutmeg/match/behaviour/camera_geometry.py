"""Where the cameras of a robot are and how they map the world: matrices, pixels, and the ground that is in view.

    eyes = load_eyes("nao").cameras
    K = camera_matrix(eyes)                                             # (3, 3)
    place, axes = camera_pose(eyes, "top", pose=(x, y, heading), head=(yaw, pitch))
    pixels = to_pixels(eyes, "top", points, pose=..., head=...)         # (N, 2)
    spots = to_ground(eyes, "bottom", pixels, head=...)                 # (N, 2) ahead and left of the feet

Pixels are (column, row) from the upper left corner of a picture, so that the middle of the first pixel is (0.5, 0.5).
A camera's axes are to the right, down and forward, as in most books on computer vision: a point p of the pitch is at
`axes.T @ (p - place)` in the camera, and K times that is its pixel times its depth. Heads turn by yaw to the left,
then pitch upwards, about the neck; the lower camera looks further down. Without a pose everything is in the frame of
the body: origin between the feet, x ahead, y to the left, z up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.arrays import Bools, Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.match.behaviour.eyes import CamerasSettings

Which = Literal["top", "bottom"]
WHICH: tuple[Which, Which] = ("top", "bottom")
"""The cameras of a robot, in the order of all arrays of pictures."""
AT_ORIGIN = (0.0, 0.0, 0.0)
AHEAD = (0.0, 0.0)


def camera_matrix(cameras: CamerasSettings) -> Floats:
    """(3, 3) the intrinsic matrix of both cameras."""
    f = cameras.focal
    return np.array([[f, 0.0, cameras.width / 2], [0.0, f, cameras.height / 2], [0.0, 0.0, 1.0]])


def camera_pose(
    cameras: CamerasSettings,
    which: Which,
    *,
    pose: Sequence[float] | Floats = AT_ORIGIN,
    head: Sequence[float] | Floats = AHEAD,
) -> tuple[Floats, Floats]:
    """Where a camera is, (3,) m, and the columns right, down and forward of its attitude, (3, 3).

    Args:
        cameras: settings.
        which: `top` or `bottom`.
        pose: (3,) x, y [m] and heading [rad] of the robot.
        head: (2,) yaw to the left and pitch upwards [rad].
    """
    yaw, pitch = float(head[0]), float(head[1])
    neck, place = np.array(cameras.neck), np.array(cameras.top if which == "top" else cameras.bottom)
    down = (0.0 if which == "top" else math.radians(cameras.bottom_tilt_degrees)) - pitch
    body, turn = _about_z(float(pose[2])), _about_z(yaw)
    at = np.array([pose[0], pose[1], 0.0]) + body @ (neck + turn @ _about_y(-pitch) @ (place - neck))
    looks = body @ turn @ _about_y(down)
    return at, np.stack([-looks[:, 1], -looks[:, 2], looks[:, 0]], axis=1)


def to_pixels(
    cameras: CamerasSettings,
    which: Which,
    points: ArrayLike,
    *,
    pose: Sequence[float] | Floats = AT_ORIGIN,
    head: Sequence[float] | Floats = AHEAD,
) -> Floats:
    """(..., 2) where points (..., 3) are in a picture, also beside it; NaN of what is not ahead of the camera."""
    place, axes = camera_pose(cameras, which, pose=pose, head=head)
    seen = (np.asarray(points, float) - place) @ axes @ camera_matrix(cameras).T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(seen[..., 2:] > 0.0, seen[..., :2] / seen[..., 2:], np.nan)


def to_ground(
    cameras: CamerasSettings,
    which: Which,
    pixels: ArrayLike,
    *,
    pose: Sequence[float] | Floats = AT_ORIGIN,
    head: Sequence[float] | Floats = AHEAD,
    height: float = 0.0,
) -> Floats:
    """(..., 2) what pixels (..., 2) show at a height above the ground, m; NaN above the horizon."""
    place, axes = camera_pose(cameras, which, pose=pose, head=head)
    spots = np.asarray(pixels, float)
    ones = np.ones((*spots.shape[:-1], 1))
    rays = np.concatenate([spots, ones], axis=-1) @ np.linalg.inv(camera_matrix(cameras)).T @ axes.T
    with np.errstate(divide="ignore", invalid="ignore"):
        far = (height - place[2]) / rays[..., 2:]
        return np.where((rays[..., 2:] * (height - place[2]) > 0.0), place[:2] + far * rays[..., :2], np.nan)


def in_picture(cameras: CamerasSettings, pixels: ArrayLike) -> Bools:
    """(...) whether pixels (..., 2) are inside a picture."""
    spots = np.asarray(pixels, float)
    inside = (spots >= 0.0) & (spots < (cameras.width, cameras.height))
    return np.asarray(inside.all(axis=-1))


def ground_view(
    cameras: CamerasSettings,
    which: Which,
    *,
    pose: Sequence[float] | Floats = AT_ORIGIN,
    head: Sequence[float] | Floats = AHEAD,
    farthest: float = 10.0,
) -> Floats:
    """(4, 2) the quadrilateral on the ground that a camera sees: near left, near right, far right, far left; m.

    Where a side of the picture goes beyond `farthest` or the horizon, it is cut there. (0, 2) if no ground is in view.
    """
    w, h = float(cameras.width), float(cameras.height)
    corners = []
    for column in (0.0, w):
        rows = np.linspace(h, 0.0, 241)
        spots = to_ground(cameras, which, np.stack([np.full_like(rows, column), rows], -1), pose=pose, head=head)
        away = np.hypot(*(spots - np.asarray(pose[:2], float)).T)
        good = spots[np.nan_to_num(away, nan=math.inf) <= farthest]
        if not len(good):
            return np.zeros((0, 2))
        corners.append((good[0], good[-1]))
    (near_left, far_left), (near_right, far_right) = corners
    return np.array([near_left, near_right, far_right, far_left])


def _about_z(angle: float) -> Floats:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _about_y(angle: float) -> Floats:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
