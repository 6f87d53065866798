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
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.arrays import Bools, Floats
from nutmeg.base.kernels import inlined
from nutmeg.match.worlds.behavioural.random import normal_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.match.worlds.behavioural.eyes import CamerasSettings


CameraName = Literal["top", "bottom"]
CAMERA_NAMES: tuple[CameraName, CameraName] = ("top", "bottom")
"""The cameras of a robot, in the order of all arrays of pictures."""
AT_ORIGIN = (0.0, 0.0, 0.0)
LOOKING_AHEAD = (0.0, 0.0)


def camera_matrix(cameras: CamerasSettings) -> Floats:
    """(3, 3) the intrinsic matrix of both cameras."""
    f = cameras.focal
    return np.array([[f, 0.0, cameras.width / 2], [0.0, f, cameras.height / 2], [0.0, 0.0, 1.0]])


def camera_pose(
    cameras: CamerasSettings,
    which: CameraName,
    *,
    pose: Sequence[float] | Floats = AT_ORIGIN,
    head: Sequence[float] | Floats = LOOKING_AHEAD,
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
    which: CameraName,
    points: ArrayLike,
    *,
    pose: Sequence[float] | Floats = AT_ORIGIN,
    head: Sequence[float] | Floats = LOOKING_AHEAD,
) -> Floats:
    """(..., 2) where points (..., 3) are in a picture, also beside it; NaN of what is not ahead of the camera."""
    place, axes = camera_pose(cameras, which, pose=pose, head=head)
    seen = (np.asarray(points, float) - place) @ axes @ camera_matrix(cameras).T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(seen[..., 2:] > 0.0, seen[..., :2] / seen[..., 2:], np.nan)


def to_ground(
    cameras: CamerasSettings,
    which: CameraName,
    pixels: ArrayLike,
    *,
    pose: Sequence[float] | Floats = AT_ORIGIN,
    head: Sequence[float] | Floats = LOOKING_AHEAD,
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
    which: CameraName,
    *,
    pose: Sequence[float] | Floats = AT_ORIGIN,
    head: Sequence[float] | Floats = LOOKING_AHEAD,
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


# ----------------------------------------------------------------------------------------------------
# The geometry of two cameras in a head, compiled: what is in a picture, what hides it, and where it is found to be.
#
# The frame of the head has the body's origin, turned by heading and yaw. There a camera is at (x, y, z) and looks
# ahead and down by a tilt; a point in its own frame is ahead by `cos a - sin dz` and above by `sin a + cos dz`, and
# is in view if its slopes to the side and upwards are within half the opening. A thing that stands (post, robot) is
# an upright line that is cut to the view. What is seen is measured as in a picture: its place there with the noise of
# a pixel and of the unknown sway of the trunk, put back onto the ground through the camera that the player believes
# to have. So the error of a distance d grows with d^2 over the camera's height. Of a thing whose foot is not in view,
# the distance comes from its width in pixels.


Frame = tuple[float, float, float, float, float, float]
"""Of a head: x, y, cosine and sine of where it looks on the pitch, its yaw, and the body's heading."""

DISTANCE, BEARING, TURN, SPREAD = 0, 1, 2, 3
"""Columns of what is told of a thing: m, rad to the left, rad, and the standard deviation of the distance, m."""
Camera = tuple[float, float, float, float, float]
X, Y, Z, COS, SIN = 0, 1, 2, 3, 4
"""Columns of a camera: its place in the frame of the head, and its tilt downwards."""
TOP, BOTTOM = 0, 1
"""Which camera is which in a pair."""
MIN_CAMERA_DISTANCE = 0.02
"""Nothing nearer to a camera is in view, m."""
Sway = tuple[float, float, float, float]
"""The unknown tilt of a trunk: downwards ahead and to the left, and the standard deviation of both; rad. And the share
of a distance that is its error, where distances are measured as such."""
Polar = tuple[float, float, float]
"""Where a thing is found to be: distance, bearing, standard deviation of the distance; `NOWHERE` if it is not found."""
NOT_FOUND = (-1.0, 0.0, 0.0)
MAX_CAMERA_OFFSET = 0.2
"""How far at most a camera is from above the feet, m."""
MAX_GROUND_DISTANCE = 50.0
"""Nothing is found farther away on the ground, m."""


class VisionNumbers(NamedTuple):
    """The settings as the kernels want them; m, rad. What is not said here is as in `eyes`, under the same name."""

    top: tuple[float, float, float]
    """From the neck to the upper camera, head straight."""
    bottom: tuple[float, float, float]
    bottom_tilt: tuple[float, float]
    """Cosine and sine of how far the lower camera looks further down."""
    neck: tuple[float, float, float]
    across: float
    """Tangent of half the horizontal opening."""
    up: float
    """Tangent of half the vertical opening."""
    noise: float
    """Standard deviation of a slope in a picture."""
    sway: float
    turn_noise: float
    ball_range: float
    post_range: float
    robot_range: float
    team_range: float
    mark_range: float
    miss_ball: float
    miss_post: float
    miss_robot: float
    miss_mark: float
    ghost_ball: float
    ghost_robot: float
    ghost_mark: float
    range_noise: float
    hides: bool
    numbers: bool
    names: bool
    goals_differ: bool
    width: float
    height: float
    waistband: float
    lying_width: float
    lying_height: float
    ball_radius: float
    post_radius: float
    post_height: float


@inlined
def aim(pose: Floats, head: Floats, m: int, s: int) -> Frame:
    """The frame of the head of player s in match m."""
    way = pose[m, s, 2] + head[m, s, 0]
    return pose[m, s, 0], pose[m, s, 1], math.cos(way), math.sin(way), head[m, s, 0], pose[m, s, 2]


@inlined
def cameras_of(yaw: float, pitch: float, n: VisionNumbers) -> tuple[Camera, Camera]:
    """The upper and the lower camera in the frame of the head."""
    x, y, z = n.neck
    if x != 0.0 or y != 0.0:
        c, s = math.cos(yaw), math.sin(yaw)
        x, y = c * x + s * y, c * y - s * x
    c, s = math.cos(pitch), math.sin(pitch)
    top, bottom, (tilt_c, tilt_s) = n.top, n.bottom, n.bottom_tilt
    return (
        (x + c * top[0] - s * top[2], y + top[1], z + s * top[0] + c * top[2], c, -s),
        (
            x + c * bottom[0] - s * bottom[2],
            y + bottom[1],
            z + s * bottom[0] + c * bottom[2],
            tilt_c * c + tilt_s * s,
            tilt_s * c - tilt_c * s,
        ),
    )


@inlined
def into_head(x: float, y: float, frame: Frame) -> tuple[float, float]:
    """A place on the pitch in the frame of the head."""
    dx, dy = x - frame[0], y - frame[1]
    return frame[2] * dx + frame[3] * dy, frame[2] * dy - frame[3] * dx


@inlined
def is_hidden(x: float, y: float, z: float, own: int, hiding: Floats, count: int, camera: Camera) -> bool:
    """Whether something that is nearer than a point covers it; `own` is the row that is the thing itself, or -1."""
    tx, ty = x - camera[X], y - camera[Y]
    far2 = tx * tx + ty * ty + 1e-12
    for k in range(count):
        ox, oy = hiding[k, 0] - camera[X], hiding[k, 1] - camera[Y]
        along = ox * tx + oy * ty
        if k == own or along <= 0.0 or along >= far2:
            continue
        off = ox * ty - oy * tx
        if off * off < hiding[k, 2] ** 2 * far2 and camera[Z] + (z - camera[Z]) * along / far2 < hiding[k, 3]:
            return True
    return False


@inlined
def surely_out(x: float, y: float, farthest: float, across: float, height: float) -> bool:
    """Whether a thing is in no picture, told quickly: too far, behind, or far to a side for cameras at that height.

    A camera at a height h that looks down by any tilt has a point on the ground ahead by at most its distance and h.
    """
    out: bool = x <= 0.0 or abs(y) > across * (x + height) or x * x + y * y > farthest * farthest
    return out


@inlined
def is_aside(x: float, y: float, half: float, across: float, height: float) -> bool:
    """Whether a thing of some half width neither is in a picture nor can hide what is; of the rest, not all do.

    The line from a camera within `NECK` of the origin to a point that is not `surely_out` goes through points that are
    at most `across * (x + height + NECK) + NECK` to a side, and what hides it is within its half width of one of them.
    """
    off: bool = (
        x < -(MAX_CAMERA_OFFSET + half)
        or abs(y) > across * (x + half + MAX_CAMERA_OFFSET + height) + MAX_CAMERA_OFFSET + half
    )
    return off


@inlined
def to_camera(x: float, y: float, z: float, camera: Camera) -> tuple[float, float, float]:
    """A point in a camera's own frame: ahead, to the left and above."""
    a, dz = x - camera[X], z - camera[Z]
    return camera[COS] * a - camera[SIN] * dz, y - camera[Y], camera[SIN] * a + camera[COS] * dz


@inlined
def is_in_picture(x: float, y: float, z: float, camera: Camera, across: float, up: float) -> bool:
    """Whether a point is in a camera's picture."""
    ahead, left, above = to_camera(x, y, z, camera)
    seen: bool = ahead > MIN_CAMERA_DISTANCE and abs(left) <= across * ahead and abs(above) <= up * ahead
    return seen


@inlined
def visible_heights(x: float, y: float, top: float, camera: Camera, across: float, up: float) -> tuple[float, float]:
    """The part of an upright line from the ground to `top` that is in a picture: its heights; none if low > high."""
    a, left = x - camera[X], abs(y - camera[Y])
    ahead, above = camera[COS] * a + camera[SIN] * camera[Z], camera[SIN] * a - camera[COS] * camera[Z]
    low, high = 0.0, top
    for k in range(3):
        if k == 0:
            at, slope = up * ahead - above, -up * camera[SIN] - camera[COS]
        elif k == 1:
            at, slope = up * ahead + above, -up * camera[SIN] + camera[COS]
        else:
            at, slope = across * ahead - left, -across * camera[SIN]
        if slope > 1e-9:
            low = max(low, -at / slope)
        elif slope < -1e-9:
            high = min(high, -at / slope)
        elif at < 0.0:
            return 1.0, 0.0
    return low, high


@inlined
def measure(
    x: float,
    y: float,
    z: float,
    camera: Camera,
    draw: np.uint64,
    count: int,
    sway: Sway,
    yaw: float,
    noise: float,
) -> Polar:
    """Where a point of known height z is found to be from its place in a picture."""
    ahead, left, up = to_camera(x, y, z, camera)
    dz = z - camera[Z]
    e, f = normal_pair(draw, count)
    if sway[3] > 0.0:
        far = math.sqrt(x * x + y * y)
        return far * (1.0 + sway[3] * e), wrap_angle_exactly(math.atan2(y, x) + noise * f + yaw), far * sway[3]
    across, above = left / ahead + noise * e, up / ahead + noise * f
    across, above = across + sway[1] * above, above + sway[0] * (1.0 + above * above) - sway[1] * across
    level, down = camera[COS] + camera[SIN] * above, camera[SIN] - camera[COS] * above
    if down * MAX_GROUND_DISTANCE < -dz or dz >= 0.0:
        return NOT_FOUND
    far = -dz / down
    hx, hy = camera[X] + level * far, camera[Y] + across * far
    flat2 = (level * level + across * across) * far * far
    spread = (flat2 + dz * dz) / -dz * math.sqrt(noise**2 + sway[2] ** 2)
    return math.sqrt(hx * hx + hy * hy), wrap_angle_exactly(math.atan2(hy, hx) + yaw), spread


@inlined
def measure_width(x: float, y: float, width: float, draw: np.uint64, count: int, yaw: float, noise: float) -> Polar:
    """Where a thing of known width is found to be without its foot."""
    e, f = normal_pair(draw, count)
    distance = math.sqrt(x * x + y * y)
    slope = math.sqrt(2.0) * noise * distance / width
    if 1.0 + slope * e < 0.2:
        return NOT_FOUND
    return distance / (1.0 + slope * e), wrap_angle_exactly(math.atan2(y, x) + noise * f + yaw), slope * distance
