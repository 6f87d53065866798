"""Ball, goal posts and robots in a picture.

    find_ball(picture, blobs, radius=0.0325)            # FoundBall(place=(1.2, 0.1), ...), or None
    find_posts(picture, Colour.YELLOW, goal)            # [FoundPost(place=(2.9, 0.6), side="left"), ...]
    find_robots(picture, blobs, height=0.29)            # [FoundRobot(colour=Colour.PINK, place=(1.4, -0.2)), ...]

The ball is an orange disc, on whose distance two measurements must agree. One comes from where the ball lies in the
picture (its middle is a radius above the ground), the other from its size. A sphere of radius r whose middle is d away
fills the solid angle 2 pi (1 - sqrt(1 - (r / d)^2)), wherever it is in the picture; a pixel at the direction (x, y, f)
fills f / (x^2 + y^2 + f^2)^(3/2). Both are averaged by their variances; where they disagree, an orange thing is no
ball. A disc that the edge of the picture cuts has the first only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.match.players.perception.colours import Colour
from nutmeg.match.players.perception.pictures import upright_runs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.base.arrays import Bytes, Floats, Ints
    from nutmeg.match.players.perception.colours import Blob
    from nutmeg.match.players.perception.pictures import Picture
    from nutmeg.model.field import GoalSettings


_MIN_ROUNDNESS = 0.62
"""Least ratio of the sides of a ball's box, and the least share of an ellipse's area that it fills."""
_SMALL_BALL_PIXELS = 12  # discs of fewer pixels may have any shape
ROW_DEVIATION = 0.5
"""Deviation of the middle's row, pixels."""
_AREA_DEVIATION = 0.5  # deviation of the disc's pixels, as a share of the root of its edge's
_MAX_DISTANCE_DEVIATIONS = 3.0  # largest difference of a ball's two distances, in standard deviations
_MAX_DISTANCE_SHARE = 0.1
"""Additional difference that is allowed, as a share of the distance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBall:
    """A ball in a picture, and where it lies as seen from the robot."""

    place: tuple[float, float]
    """Ahead and to the left, m."""
    by_place: float
    """Distance over the ground from below the camera, m: by where it is in the picture."""
    by_size: float
    """The same distance from the size in the picture; NaN if the ball is cut off."""
    spread: float
    """Deviation of the distance, m."""


def find_ball(picture: Picture, blobs: Iterable[Blob], radius: float) -> FoundBall | None:
    """The largest ball in the picture, if there is any."""
    for blob in blobs:
        if blob.colour is Colour.ORANGE and blob.middle[1] > picture.horizon:
            found = _measured_ball(picture, blob, radius)
            if found is not None:
                return found
    return None


def _measured_ball(picture: Picture, blob: Blob, radius: float) -> FoundBall | None:
    spot = picture.ground(blob.middle, radius)
    if not np.isfinite(spot).all():
        return None
    by_place = picture.away(spot)
    spread = ROW_DEVIATION * picture.blur(by_place, radius)
    away, by_size = by_place, math.nan
    if not blob.cut(picture.size):
        if not _is_round(blob):
            return None
        by_size = _distance_by_size(picture, blob, radius)
        share = _AREA_DEVIATION * math.sqrt(2 * math.sqrt(math.pi * blob.count)) / blob.count / 2
        size_spread = max(share * by_size, 1e-4)
        if (
            abs(by_size - by_place)
            > _MAX_DISTANCE_DEVIATIONS * math.hypot(spread, size_spread) + _MAX_DISTANCE_SHARE * by_place
        ):
            return None
        weight = spread**2 / (spread**2 + size_spread**2)
        away = (1 - weight) * by_place + weight * by_size
        spread = spread * size_spread / math.hypot(spread, size_spread)
    along = (spot - picture.place[:2]) * (away / by_place) + picture.place[:2]
    return FoundBall(place=(float(along[0]), float(along[1])), by_place=by_place, by_size=by_size, spread=spread)


def _is_round(blob: Blob) -> bool:
    if blob.count < _SMALL_BALL_PIXELS:
        return max(blob.width, blob.height) <= _SMALL_BALL_PIXELS // 2
    narrow, wide = sorted((blob.width, blob.height))
    return narrow >= _MIN_ROUNDNESS * wide and blob.count >= _MIN_ROUNDNESS * math.pi / 4 * narrow * wide


def _distance_by_size(picture: Picture, blob: Blob, radius: float) -> float:
    """Over the ground from below the camera, m."""
    focal = picture.cameras.focal
    x, y = blob.middle[0] - picture.size[0] / 2, blob.middle[1] - picture.size[1] / 2
    angle = blob.count * focal / math.sqrt(x**2 + y**2 + focal**2) ** 3
    straight = radius / math.sqrt(1 - (1 - angle / (2 * math.pi)) ** 2)
    return math.sqrt(max(straight**2 - (picture.place[2] - radius) ** 2, 0.0))


# ----------------------------------------------------------------------------------------------------
# Goal posts in a picture: upright bars of a goal's colour that stand on the carpet.
#
# The distance of a post is that of its base, and must go with its width and its height in the picture: that refuses
# waistbands of the same colour, crossbars, and posts whose base is hidden. Which post it is: that on the left if
# the crossbar goes off to the right, or if another one stands to the right where the other post must be.


_MIN_POST_PIXELS = 8  # least height of a post, pixels
_MIN_POST_HEIGHT_SHARE = 0.6  # least height of a post, as a share of what it should be
_MIN_POST_WIDTH_SHARE = 0.4  # least width of a post, as a share of what it should be, less a pixel
_MAX_POST_WIDTH_SHARE = 1.8  # greatest width of a post, as a share of what it should be, and two pixels more
_GOAL_WIDTH_TOLERANCE = 0.25
"""How far the distance of two posts may be off the width of a goal, as a share, beside the blur."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPost:
    """A goal post in a picture, and where it stands as seen from the robot."""

    colour: Colour
    place: tuple[float, float]
    """The place of its axis: ahead and to the left, m."""
    spread: float
    """How far on the ground a row of the picture reaches there, m."""
    side: Literal["left", "right"] | None
    """The post of its goal, as seen from the pitch; None if it cannot be identified."""


def find_posts(picture: Picture, colour: Colour, goal: GoalSettings) -> list[FoundPost]:
    """The posts of a colour, from left to right."""
    runs = upright_runs(picture.classes, int(colour))
    found = []
    for first, last in _groups(runs):
        post = _measured_post(picture, runs, first, last, colour, goal)
        if post is not None:
            found.append(post)
    return _named_pairs(found, goal)


def _groups(runs: Ints) -> list[tuple[int, int]]:
    """First and last columns of bars: neighbours whose runs are long and end at about the same height."""
    long = runs[:, 1] - runs[:, 0] + 1 >= _MIN_POST_PIXELS
    groups: list[tuple[int, int]] = []
    for column in np.flatnonzero(long).tolist():
        if groups and groups[-1][1] == column - 1 and abs(runs[column, 1] - runs[column - 1, 1]) <= 4:
            groups[-1] = groups[-1][0], column
        else:
            groups.append((column, column))
    return groups


def _measured_post(
    picture: Picture, runs: Ints, first: int, last: int, colour: Colour, goal: GoalSettings
) -> FoundPost | None:
    width, height = picture.size
    base, top = int(np.max(runs[first : last + 1, 1])) + 1, int(np.min(runs[first : last + 1, 0]))
    if base >= height or base <= picture.horizon or not _stands(picture, first, last, base):
        return None
    spot = picture.ground(((first + last + 1) / 2, base))
    near = picture.away(spot)
    away = near + goal.post_radius
    across = picture.scale(away)
    wide, should = last - first + 1, 2 * goal.post_radius * across
    cut = first == 0 or last == width - 1
    if wide > _MAX_POST_WIDTH_SHARE * should + 2 or (wide < _MIN_POST_WIDTH_SHARE * should - 1 and not cut):
        return None
    tall = float(np.hypot(*(picture.pixels((*spot, goal.height)) - picture.pixels((*spot, 0.0)))))
    if base - top < _MIN_POST_HEIGHT_SHARE * tall and top > 1:
        return None
    place = (spot - picture.place[:2]) * (away / near) + picture.place[:2]
    side = None if cut else _by_crossbar(picture, first, last, top, colour, round(should))
    return FoundPost(colour=colour, place=(float(place[0]), float(place[1])), spread=picture.blur(away), side=side)


def _stands(picture: Picture, first: int, last: int, base: int) -> bool:
    """Whether carpet begins below the base, perhaps behind a line."""
    spot = picture.ground(((first + last + 1) / 2, base))
    if not np.isfinite(spot).all():
        return False
    below = picture.classes[base : base + 4 + int(0.12 / picture.blur(picture.away(spot))), (first + last) // 2]
    green = np.flatnonzero(below == Colour.GREEN)
    return len(green) > 0 and bool((below[: green[0]] == Colour.WHITE).all())


def _by_crossbar(
    picture: Picture, first: int, last: int, top: int, colour: Colour, width: int
) -> Literal["left", "right"] | None:
    """The post, by the side on which its colour continues at the top."""
    if top <= 1:
        return None
    rows = slice(top, top + max(2, 2 * width))
    reach = max(3, width)
    columns = picture.classes.shape[1]
    right = picture.classes[rows, last + 1 : min(last + 1 + reach, columns)]
    left = picture.classes[rows, max(first - reach, 0) : first]
    goes_right, goes_left = (patch.size > 0 and (patch == colour).any(axis=0).mean() > 0.8 for patch in (right, left))
    if goes_right == goes_left:
        return None
    return "left" if goes_right else "right"


def _named_pairs(posts: list[FoundPost], goal: GoalSettings) -> list[FoundPost]:
    """The posts, from left to right; two that are as far apart as a goal is wide are its left and its right one."""
    posts = sorted(posts, key=lambda post: -math.atan2(post.place[1], post.place[0]))
    if len(posts) != 2:
        return posts
    left, right = posts
    gauge = goal.inner_width + 2 * goal.post_radius
    if abs(math.dist(left.place, right.place) - gauge) > _GOAL_WIDTH_TOLERANCE * gauge + left.spread + right.spread:
        return posts
    if left.side == "right" or right.side == "left":
        return posts
    return [replace(left, side="left"), replace(right, side="right")]


# ----------------------------------------------------------------------------------------------------
# Robots in a picture: blue and pink bands around white bodies.
#
# A band is at a known height above the ground, so that its place in the picture tells where the robot is. It must be
# as large as a band is there, have a white body on both sides of it, and carpet before the feet: a blue post between
# a head and a chest is no robot. Arms cut a band in two or three; pieces that belong to one body are joined. Of a
# robot that lies, the white is to the left and to the right of the band, which is near the ground.


_BAND_HEIGHT, _BAND_WIDTH = 0.06, 0.2  # height and width of a waistband, m
_LYING_BAND_HEIGHT = 0.09  # height of the middle of the band of a robot that lies, m
_ONE_ROBOT_DISTANCE = 0.3  # pieces of a colour that are nearer to each other belong to one robot, m
_WHITE_MARGIN_PIXELS = 4  # pixels on each side of a band in which white is looked for
_CARPET_DISTANCES = (0.14, 0.18, 0.22)
"""Distances before the middle of a robot that stands at which there must be carpet, m."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRobot:
    """Another robot in a picture, and where it is as seen from the robot."""

    colour: Colour
    """The colour of its waistband."""
    place: tuple[float, float]
    """Ahead and to the left, m."""
    box: tuple[int, int, int, int]
    """Least column and row, greatest column and row of its band in the picture."""
    lying: bool


def find_robots(picture: Picture, blobs: Iterable[Blob], height: float) -> list[FoundRobot]:
    """The robots whose waistbands are in the picture, the nearest first."""
    robots: list[FoundRobot] = []
    for blob in blobs:
        if blob.colour not in (Colour.BLUE, Colour.PINK):
            continue
        found = _standing(picture, blob, height) or _lying(picture, blob)
        if found is None:
            continue
        for k, known in enumerate(robots):
            if known.colour is blob.colour and math.dist(known.place, found.place) < _ONE_ROBOT_DISTANCE:
                robots[k] = _joined(picture, known, found, height)
                break
        else:
            robots.append(found)
    return sorted(robots, key=lambda robot: math.hypot(*robot.place))


def _standing(picture: Picture, blob: Blob, height: float) -> FoundRobot | None:
    """A robot that stands and wears this band: it has chest and legs above and below, and stands on the carpet."""
    spot = picture.ground(blob.middle, height)
    if not np.isfinite(spot).all():
        return None
    across = picture.scale(picture.away(spot), height)
    tall, wide = _BAND_HEIGHT * across, _BAND_WIDTH * across
    if not (0.4 * tall - 1 <= blob.height <= 1.6 * tall + 2 and blob.width <= 1.7 * wide + 2):
        return None
    left, top, right, bottom = blob.box
    columns = slice(left + blob.width // 4, right + 1 - blob.width // 4)
    above = picture.classes[max(top - _WHITE_MARGIN_PIXELS, 0) : top, columns]
    below = picture.classes[bottom + 1 : bottom + 1 + _WHITE_MARGIN_PIXELS, columns]
    place = _outwards(picture, spot)
    if not (_is_white(above, below) and _on_carpet(picture, place)):
        return None
    return FoundRobot(colour=blob.colour, place=place, box=blob.box, lying=False)


def _lying(picture: Picture, blob: Blob) -> FoundRobot | None:
    """A robot that lies and wears this band: it has chest and legs to the left and to the right."""
    spot = picture.ground(blob.middle, _LYING_BAND_HEIGHT)
    if not np.isfinite(spot).all():
        return None
    across = picture.scale(picture.away(spot), _LYING_BAND_HEIGHT)
    if not _BAND_HEIGHT * across / 2 - 1 <= max(blob.width, blob.height) <= 1.5 * _BAND_WIDTH * across + 2:
        return None
    left, top, right, bottom = blob.box
    rows = slice(top + blob.height // 4, bottom + 1 - blob.height // 4)
    before = picture.classes[rows, max(left - _WHITE_MARGIN_PIXELS, 0) : left]
    after = picture.classes[rows, right + 1 : right + 1 + _WHITE_MARGIN_PIXELS]
    if not (before.size and after.size and _is_white(before, after)):
        return None
    return FoundRobot(colour=blob.colour, place=(float(spot[0]), float(spot[1])), box=blob.box, lying=True)


def _is_white(*patches: Bytes) -> bool:
    """Whether patches are white, as far as they are in the picture."""
    known = [patch for patch in patches if patch.size]
    return len(known) > 0 and all((patch == Colour.WHITE).mean() > 0.5 for patch in known)


def _on_carpet(picture: Picture, place: tuple[float, float]) -> bool:
    """Whether there is carpet before the feet of a robot that stands at a place, as far as that is in the picture."""
    middle = np.array(place) - picture.place[:2]
    towards = middle / max(float(np.hypot(*middle)), 1e-6)
    spots = np.array(place) - np.array(_CARPET_DISTANCES)[:, None] * towards
    seen = picture.colours_at(spots)
    known = seen >= 0
    return not known.any() or bool((seen[known] == Colour.GREEN).mean() >= 0.5)


def _outwards(picture: Picture, spot: Floats) -> tuple[float, float]:
    """The middle of the body behind what is seen of the band."""
    away = picture.away(spot)
    place = (spot - picture.place[:2]) * ((away + _BAND_WIDTH / 2 - 0.02) / max(away, 1e-6)) + picture.place[:2]
    return float(place[0]), float(place[1])


def _joined(picture: Picture, robot: FoundRobot, piece: FoundRobot, height: float) -> FoundRobot:
    """The robot with another piece of its band."""
    boxes = np.array([robot.box, piece.box])
    box = (*boxes[:, :2].min(axis=0).tolist(), *boxes[:, 2:].max(axis=0).tolist())
    if robot.lying or piece.lying:
        return replace(robot, box=box)
    spot = picture.ground(((box[0] + box[2] + 1) / 2, (box[1] + box[3] + 1) / 2), height)
    return replace(robot, place=_outwards(picture, spot), box=box)
