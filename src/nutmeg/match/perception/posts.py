"""Goal posts in a picture: upright bars of a goal's colour that stand on the carpet.

    find_posts(picture, Colour.YELLOW, goal)            # [FoundPost(place=(2.9, 0.6), side="left"), ...]

The distance of a post is that of its base, and must go with its width and its height in the picture: that refuses
waistbands of the same colour, crossbars, and posts whose base somebody hides. Which post it is: that on the left if
the crossbar goes off to the right, or if another one stands to the right where the other post must be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.match.perception.colours import Colour
from nutmeg.match.perception.scans import upright_runs

if TYPE_CHECKING:
    from nutmeg.base.arrays import Ints
    from nutmeg.body.field import GoalSettings
    from nutmeg.match.perception.picture import Picture

SHORTEST = 8
"""Pixels of the height of a post."""
NEARLY = 0.6
"""Share of the height that a post should have from which on it is one."""
NARROWEST, WIDEST = 0.4, 1.8
"""Bounds of a post's width, as a share of what it should be, beside a pixel."""
GAUGE = 0.25
"""How far from what the rules say two posts of a goal may be found apart, as a share, beside the blur."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPost:
    """A goal post."""

    colour: Colour
    place: tuple[float, float]
    """Of its axis: ahead and to the left, m."""
    spread: float
    """How far on the ground a row of the picture reaches there, m."""
    side: Literal["left", "right"] | None
    """Which of its goal, as seen from the pitch; None if that cannot be told."""


def find_posts(picture: Picture, colour: Colour, goal: GoalSettings) -> list[FoundPost]:
    """The posts of a colour, from left to right."""
    runs = upright_runs(picture.classes, int(colour))
    found = []
    for first, last in _groups(runs):
        post = _measured(picture, runs, first, last, colour, goal)
        if post is not None:
            found.append(post)
    return named_pairs(found, goal)


def _groups(runs: Ints) -> list[tuple[int, int]]:
    """First and last columns of bars: neighbours whose runs are long and end at about the same height."""
    long = runs[:, 1] - runs[:, 0] + 1 >= SHORTEST
    groups: list[tuple[int, int]] = []
    for column in np.flatnonzero(long).tolist():
        if groups and groups[-1][1] == column - 1 and abs(runs[column, 1] - runs[column - 1, 1]) <= 4:
            groups[-1] = groups[-1][0], column
        else:
            groups.append((column, column))
    return groups


def _measured(
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
    if wide > WIDEST * should + 2 or (wide < NARROWEST * should - 1 and not cut):
        return None
    tall = float(np.hypot(*(picture.pixels((*spot, goal.height)) - picture.pixels((*spot, 0.0)))))
    if base - top < NEARLY * tall and top > 1:
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
    """Which post it is by the side to which its colour goes on at the top."""
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


def named_pairs(posts: list[FoundPost], goal: GoalSettings) -> list[FoundPost]:
    """The posts, from left to right; two that are as far apart as a goal is wide are its left and its right one."""
    posts = sorted(posts, key=lambda post: -math.atan2(post.place[1], post.place[0]))
    if len(posts) != 2:
        return posts
    left, right = posts
    gauge = goal.inner_width + 2 * goal.post_radius
    if abs(math.dist(left.place, right.place) - gauge) > GAUGE * gauge + left.spread + right.spread:
        return posts
    if left.side == "right" or right.side == "left":
        return posts
    return [replace(left, side="left"), replace(right, side="right")]
