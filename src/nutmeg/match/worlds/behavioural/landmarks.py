"""Kinds of objects that players see, and the landmarks of a pitch: crossings of lines, marks and goal posts.

    marks = landmarks_of(load_field("spl2011"))
    marks.kind, marks.place, marks.turn        # (F,), (F, 2), (F,)
    goal_posts_of(load_field("spl2011"))       # (4, 2): +y and -y of the goal at -x, then of that at +x

Landmarks are ambiguous: a crossing that looks like an L is one of many. Only goals of two colours tell the ends of a
pitch apart. A pitch looks the same from both goals (turned by half a turn about its middle), so the landmarks are where
they are for both teams, each in its own frame.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Floats, SmallInts

if TYPE_CHECKING:
    from nutmeg.model.field import AreaSettings, FieldSettings


GOAL_POSTS = 4
"""Posts of both goals."""


class ObjectKind(IntEnum):
    """The appearance of a thing in a picture; goals, mates and opponents are those of the player that sees them."""

    BALL = 0
    MATE = 1
    OPPONENT = 2
    ROBOT = 3
    """Its team's colour is not in view, or too far away."""
    OWN_POST = 4
    """A post of the goal that the player's team defends."""
    THEIR_POST = 5
    """A post of the goal that the player's team attacks."""
    POST = 6
    """A post of either goal, where both have the same colour."""
    L_CROSSING = 7
    """Two lines end in each other; its direction is that of the middle between them."""
    T_CROSSING = 8
    """A line ends in another; its direction is that of the line which ends."""
    X_CROSSING = 9
    """The centre circle and the halfway line."""
    PENALTY_MARK = 10
    CENTRE_CIRCLE = 11
    """The middle of the centre circle."""

    @property
    def is_robot(self) -> bool:
        """Whether it is a player."""
        return ObjectKind.MATE <= self <= ObjectKind.ROBOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmarks:
    """Landmarks on the ground."""

    kind: SmallInts
    """(F,) their appearance, of `ObjectKind`."""
    place: Floats
    """(F, 2) their places, m."""
    turn: Floats
    """(F,) direction of L and T crossings, rad; NaN of others."""


def landmarks_of(field: FieldSettings) -> Landmarks:
    """The crossings, marks and the circle of a field; none on a floor without lines.

    The second half is the first one, turned round the middle; the circle comes after them.
    """
    x, y = field.length / 2, field.width / 2
    rows: list[tuple[ObjectKind, float, float, float]] = []
    if field.line_width:
        for end in (-1, 1):
            rows += [(ObjectKind.L_CROSSING, end * x, side * y, math.atan2(-side, -end)) for side in (end, -end)]
            for area in (field.penalty_area, field.goal_area):
                rows += _area(area, x, end) if area else []
            if field.penalty_mark_distance:
                rows.append((ObjectKind.PENALTY_MARK, end * (x - field.penalty_mark_distance), 0.0, math.nan))
            rows.append((ObjectKind.T_CROSSING, 0.0, end * y, -end * math.pi / 2))
            if field.centre_circle_radius:
                rows.append((ObjectKind.X_CROSSING, 0.0, end * field.centre_circle_radius, math.nan))
        if field.centre_circle_radius:
            rows.append((ObjectKind.CENTRE_CIRCLE, 0.0, 0.0, math.nan))
    table = np.array(rows, float).reshape(-1, 4)
    return Landmarks(kind=table[:, 0].astype(np.int8), place=table[:, 1:3].copy(), turn=table[:, 3].copy())


def _area(area: AreaSettings, x: float, end: int) -> list[tuple[ObjectKind, float, float, float]]:
    """The four crossings of an area at an end: its corners on the pitch, and where its sides meet the goal line."""
    inward = math.pi if end > 0 else 0.0
    rows = []
    for side in (end, -end):
        y = side * area.width / 2
        rows.append((ObjectKind.L_CROSSING, end * (x - area.depth), y, math.atan2(-side, end)))
        rows.append((ObjectKind.T_CROSSING, end * x, y, inward))
    return rows


def goal_posts_of(field: FieldSettings) -> Floats:
    """(4, 2) the middles of the posts, m: +y and -y of the goal at -x, then +y and -y of the goal at +x; or none."""
    if not field.goal:
        return np.zeros((0, 2))
    x, y = field.length / 2 + field.goal.post_offset, field.goal.inner_width / 2 + field.goal.post_radius
    return np.array([(end * x, side * y) for end in (-1, 1) for side in (1, -1)])


def goals_differ(field: FieldSettings) -> bool:
    """Whether the goals can be distinguished by their colours."""
    return field.goal is not None and field.goal.left_colour != field.goal.right_colour
