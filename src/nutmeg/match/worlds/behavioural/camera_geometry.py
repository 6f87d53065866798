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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.arrays import Bools, Floats
from nutmeg.base.kernels import inlined
from nutmeg.base.records import record_of
from nutmeg.match.worlds.behavioural.eyes import BodiesSettings, VisionSettings
from nutmeg.match.worlds.behavioural.random import normal_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.records import Records
    from nutmeg.match.worlds.behavioural.eyes import CamerasSettings
    from nutmeg.match.worlds.behavioural.state import Player

CameraName = Literal["top", "bottom"]
CAMERA_NAMES: tuple[CameraName, CameraName] = ("top", "bottom")
"""The cameras of a robot, in the order of all arrays of pictures."""
_AT_ORIGIN = (0.0, 0.0, 0.0)
_LOOKING_AHEAD = (0.0, 0.0)


def camera_matrix(cameras: CamerasSettings) -> Floats:
    """(3, 3) the intrinsic matrix of both cameras."""
    f = cameras.focal
    return np.array([[f, 0.0, cameras.width / 2], [0.0, f, cameras.height / 2], [0.0, 0.0, 1.0]])


def camera_pose(
    cameras: CamerasSettings,
    which: CameraName,
    *,
    pose: Sequence[float] | Floats = _AT_ORIGIN,
    head: Sequence[float] | Floats = _LOOKING_AHEAD,
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
    pose: Sequence[float] | Floats = _AT_ORIGIN,
    head: Sequence[float] | Floats = _LOOKING_AHEAD,
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
    pose: Sequence[float] | Floats = _AT_ORIGIN,
    head: Sequence[float] | Floats = _LOOKING_AHEAD,
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
    pose: Sequence[float] | Floats = _AT_ORIGIN,
    head: Sequence[float] | Floats = _LOOKING_AHEAD,
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


# ---- the same geometry, compiled, for symbolic vision
#
# The frame of the head has the body's origin, turned by heading and yaw. There a camera is at (x, y, z) and looks
# ahead and down by a tilt; a point in its own frame is ahead by `cos a - sin dz` and above by `sin a + cos dz`, and
# is in view if its slopes to the side and upwards are within half the opening. A thing that stands (post, robot) is
# an upright line that is cut to the view. What is seen is measured as in a picture: its place there with the noise of
# a pixel and of the unknown sway of the trunk, put back onto the ground through the camera that the player believes
# to have. So the error of a distance d grows with d^2 over the camera's height. Of a thing whose foot is not in view,
# the distance comes from its width in pixels.

_MIN_CAMERA_DISTANCE = 0.02  # nothing nearer to a camera is in view, m
_MAX_CAMERA_OFFSET = 0.2  # how far at most a camera is from above the feet, m
_MAX_GROUND_DISTANCE = 50.0  # nothing is found farther away on the ground, m


class _HeadFrame(NamedTuple):
    """The frame of a head on the pitch."""

    x: float
    y: float
    cos: float
    """Cosine of the direction in which the head looks."""
    sin: float
    yaw: float
    """The yaw of the head on the body, rad."""
    heading: float
    """The heading of the body, rad."""


class Camera(NamedTuple):
    """A camera in the frame of its head: its place, m, and its tilt downwards."""

    x: float
    y: float
    z: float
    cos: float
    sin: float


class Sway(NamedTuple):
    """The unknown tilt of a walking trunk in a cycle."""

    ahead: float
    """Downwards ahead, rad."""
    left: float
    """Downwards to the left, rad."""
    spread: float
    """Standard deviation of both, rad."""


class Polar(NamedTuple):
    """Where a thing is found to be."""

    distance: float
    """m; below 0 if it is not found."""
    bearing: float
    """Bearing to the left, rad."""
    spread: float
    """Standard deviation of the distance, m."""


@dataclass
class Occluder:
    """Something that stands, in the frame of a head: it may be seen, and hide what is behind it."""

    x: float
    y: float
    half_width: float
    height: float
    thing: int
    """The number of a goal post (0 to 3), or 4 and the slot of a robot."""


@dataclass(frozen=True)
class VisionNumbers:
    """The numbers of symbolic vision: settings, and what follows from cameras, pitch and ball."""

    vision: VisionSettings
    bodies: BodiesSettings
    neck: tuple[float, float, float]
    top: tuple[float, float, float]
    """Vector from the neck to the upper camera, head straight, m."""
    bottom: tuple[float, float, float]
    """Vector from the neck to the lower camera, m."""
    tilt_cos: float
    """Cosine of the angle by which the lower camera looks further down."""
    tilt_sin: float
    across: float
    """Tangent of half the horizontal opening."""
    up: float
    """Tangent of half the vertical opening."""
    noise: float
    """Standard deviation of a slope in a picture."""
    goals_differ: bool
    """Whether the goals have different colours."""
    ball_radius: float
    post_radius: float
    post_height: float


class Gaze(NamedTuple):
    """How one player looks in a cycle."""

    frame: _HeadFrame
    cameras: tuple[Camera, Camera]
    """The upper and the lower one."""
    sway: Sway
    draw: np.uint64
    """The key of its random draws."""
    numbers: VisionNumbers


NOT_FOUND = Polar(-1.0, 0.0, 0.0)
OCCLUDER = record_of(Occluder)


@inlined
def head_frame(player: Player) -> _HeadFrame:
    """The frame of a player's head."""
    way = player.heading + player.yaw
    return _HeadFrame(player.x, player.y, math.cos(way), math.sin(way), player.yaw, player.heading)


@inlined
def cameras_of(yaw: float, pitch: float, n: VisionNumbers) -> tuple[Camera, Camera]:
    """The upper and the lower camera in the frame of the head."""
    x, y, z = n.neck[0], n.neck[1], n.neck[2]
    # The frame of the head turns with the yaw about the robot's origin; a neck beside that axis moves within it.
    if x != 0.0 or y != 0.0:
        c, s = math.cos(yaw), math.sin(yaw)
        x, y = c * x + s * y, c * y - s * x
    # Both cameras are fixed to the head: they swing about the neck with the pitch.
    c, s = math.cos(pitch), math.sin(pitch)
    top, bottom = n.top, n.bottom
    upper = Camera(x + c * top[0] - s * top[2], y + top[1], z + s * top[0] + c * top[2], c, -s)
    lower = Camera(
        x + c * bottom[0] - s * bottom[2],
        y + bottom[1],
        z + s * bottom[0] + c * bottom[2],
        n.tilt_cos * c + n.tilt_sin * s,
        n.tilt_sin * c - n.tilt_cos * s,
    )
    return upper, lower


@inlined
def into_head(x: float, y: float, frame: _HeadFrame) -> tuple[float, float]:
    """A place on the pitch in the frame of the head."""
    dx, dy = x - frame.x, y - frame.y
    return frame.cos * dx + frame.sin * dy, frame.cos * dy - frame.sin * dx


@inlined
def is_hidden(x: float, y: float, z: float, own: int, occluders: Records[Occluder], camera: Camera) -> bool:
    """Whether something that is nearer than a point covers it; `own` is the row of the thing itself, or -1."""
    tx, ty = x - camera.x, y - camera.y
    far2 = tx * tx + ty * ty + 1e-12
    for k in range(len(occluders)):
        other = occluders[k]
        ox, oy = other.x - camera.x, other.y - camera.y
        along = ox * tx + oy * ty
        if k == own or along <= 0.0 or along >= far2:
            continue
        off = ox * ty - oy * tx
        # the ray passes within its half width, and below its upper end
        if off * off < other.half_width**2 * far2 and camera.z + (z - camera.z) * along / far2 < other.height:
            return True
    return False


@inlined
def is_out(x: float, y: float, farthest: float, across: float, height: float) -> bool:
    """Whether a thing is surely in no picture: too far, behind, or far to a side for cameras at that height.

    It is a quick test. A camera at a height h that looks down by any tilt has a point on the ground ahead by at most
    its distance and h.
    """
    out: bool = x <= 0.0 or abs(y) > across * (x + height) or x * x + y * y > farthest * farthest
    return out


@inlined
def is_aside(x: float, y: float, half: float, across: float, height: float) -> bool:
    """Whether a thing of some half width neither is in a picture nor can hide what is; of the rest, not all do.

    The line from a camera within r = `_MAX_CAMERA_OFFSET` of the origin to a point that is not `is_out` goes through
    points that are at most `across * (x + height + r) + r` to a side, and what hides it is within its half width of
    one of them.
    """
    off: bool = (
        x < -(_MAX_CAMERA_OFFSET + half)
        or abs(y) > across * (x + half + _MAX_CAMERA_OFFSET + height) + _MAX_CAMERA_OFFSET + half
    )
    return off


@inlined
def _to_camera(x: float, y: float, z: float, camera: Camera) -> tuple[float, float, float]:
    """A point in a camera's own frame: ahead, to the left and above."""
    a, dz = x - camera.x, z - camera.z
    return camera.cos * a - camera.sin * dz, y - camera.y, camera.sin * a + camera.cos * dz


@inlined
def is_in_view(x: float, y: float, z: float, camera: Camera, across: float, up: float) -> bool:
    """Whether a point is in a camera's picture."""
    ahead, left, above = _to_camera(x, y, z, camera)
    seen: bool = ahead > _MIN_CAMERA_DISTANCE and abs(left) <= across * ahead and abs(above) <= up * ahead
    return seen


@inlined
def visible_heights(x: float, y: float, top: float, camera: Camera, across: float, up: float) -> tuple[float, float]:
    """The part of an upright line from the ground to `top` that is in a picture: its heights; none if low > high."""
    a, left = x - camera.x, abs(y - camera.y)
    ahead, above = camera.cos * a + camera.sin * camera.z, camera.sin * a - camera.cos * camera.z
    low, high = 0.0, top
    # Each side of the picture is an inequality `at + slope * height >= 0`: below its upper edge, above its lower
    # edge, and between its left and right edges.
    for k in range(3):
        if k == 0:
            at, slope = up * ahead - above, -up * camera.sin - camera.cos
        elif k == 1:
            at, slope = up * ahead + above, -up * camera.sin + camera.cos
        else:
            at, slope = across * ahead - left, -across * camera.sin
        if slope > 1e-9:
            low = max(low, -at / slope)
        elif slope < -1e-9:
            high = min(high, -at / slope)
        elif at < 0.0:
            return 1.0, 0.0
    return low, high


@inlined
def measure(gaze: Gaze, camera: Camera, x: float, y: float, z: float, count: int) -> Polar:
    """Where a point of known height z is found to be from its place in a picture; `count` is of its random draw."""
    sway, yaw, noise, share = gaze.sway, gaze.frame.yaw, gaze.numbers.noise, gaze.numbers.vision.range_noise
    ahead, left, up = _to_camera(x, y, z, camera)
    dz = z - camera.z
    # A thing is found with an error of its place in the picture, in both directions.
    e, f = normal_pair(gaze.draw, count)
    if share > 0.0:  # distances are measured directly
        far = math.sqrt(x * x + y * y)
        return Polar(far * (1.0 + share * e), wrap_angle_exactly(math.atan2(y, x) + noise * f + yaw), far * share)
    across, above = left / ahead + noise * e, up / ahead + noise * f
    # The unknown tilt of the trunk turns the picture (roll) and shifts it (pitch), to first order.
    across, above = across + sway.left * above, above + sway.ahead * (1.0 + above * above) - sway.left * across
    # back onto the plane at height z, along the ray through that place of the picture
    level, down = camera.cos + camera.sin * above, camera.sin - camera.cos * above
    # A ray at or above the horizon meets the plane nowhere, or too far away to be of use.
    if down * _MAX_GROUND_DISTANCE < -dz or dz >= 0.0:
        return NOT_FOUND
    far = -dz / down
    hx, hy = camera.x + level * far, camera.y + across * far
    flat2 = (level * level + across * across) * far * far
    # One pixel is a longer way on the ground the flatter the ray: the derivative of the distance by its angle.
    spread = (flat2 + dz * dz) / -dz * math.sqrt(noise**2 + sway.spread**2)
    return Polar(math.sqrt(hx * hx + hy * hy), wrap_angle_exactly(math.atan2(hy, hx) + yaw), spread)


@inlined
def measure_width(gaze: Gaze, x: float, y: float, width: float, count: int) -> Polar:
    """Where a thing of known width is found to be without its foot."""
    noise = gaze.numbers.noise
    e, f = normal_pair(gaze.draw, count)
    distance = math.sqrt(x * x + y * y)
    # Two edges with a pixel's error each; distance is inversely proportional to the width in the picture.
    slope = math.sqrt(2.0) * noise * distance / width
    if 1.0 + slope * e < 0.2:
        return NOT_FOUND
    return Polar(
        distance / (1.0 + slope * e),
        wrap_angle_exactly(math.atan2(y, x) + noise * f + gaze.frame.yaw),
        slope * distance,
    )
