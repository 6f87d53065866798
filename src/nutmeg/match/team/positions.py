"""Where players belong: the line-up for kick-offs, and the formation while the ball moves.

    line_up_place(number=2, players=4, kicks_off=True, pitch=pitch)         # x, y and heading [rad]
    formation(posts=2, ball=(3.0, 1.0), room=Room.of(situation))            # [(x, y), (x, y)]

A formation has a post for everybody but the keeper and who goes for the ball. Posts are filled in the order of
`POSTS`: with four a side one waits behind the ball and one ahead of it, for balls that get through; the more there are,
the more of them cover the goal and go wide. A post follows the ball by a share of its way, as in the position tables of
2D teams; the shares are chosen here. Afterwards posts are moved to where the rules allow them (`Room`) and apart from
each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.match.play_modes import GOAL_KICKS
from nutmeg.match.team.situation import Phase, Point, clipped

if TYPE_CHECKING:
    from nutmeg.match.rules import Pitch
    from nutmeg.match.team.situation import Situation


@dataclass(frozen=True, slots=True)
class Post:
    """A place that follows the ball: share of the ball's x plus an offset, and the same for y.

    `inward` is an offset to the middle of the pitch from the ball's side, `left` one to the team's left.
    """

    name: str
    follow_x: float
    ahead: float
    follow_y: float
    inward: float = 0.0
    left: float = 0.0


POSTS = (
    Post("support", 0.95, -2.0, 0.9, inward=0.8),
    Post("forward", 0.85, 3.6, 0.5, inward=1.5),
    Post("cover", 0.55, -6.5, 0.5),
    Post("far wing", 0.8, -1.0, 0.4, inward=4.5),
    Post("near wing", 0.8, 2.0, 0.6, inward=-3.0),
    Post("left back", 0.5, -7.0, 0.3, left=3.2),
    Post("right back", 0.5, -7.0, 0.3, left=-3.2),
    Post("anchor", 0.7, -3.5, 0.4),
    Post("striker", 0.6, 6.0, 0.2),
)
APART = 1.6
"""Posts are at least so far from each other, m."""
OFF_BALL = 1.2
"""Who does not go for the ball keeps so far from it, m."""
OFF_RESTART = 2.4
"""The same when opponents put it into play: the rules want 2 m."""
EDGE = 0.5
"""Posts keep so far inside the lines, m."""
AREA_MARGIN = 0.4
"""And so far outside a penalty area, m."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where players may stand."""

    pitch: Pitch
    ball: Point
    off_ball: float = OFF_BALL
    """Distance to keep from the ball, m."""
    own_half: bool = False
    off_circle: bool = False
    """Whether the centre circle is forbidden."""
    off_their_area: bool = False
    """Whether the opponents' penalty area is forbidden."""

    @staticmethod
    def of(s: Situation) -> Room:
        """What the situation leaves."""
        theirs = s.ours is False and s.phase in (Phase.RESTART, Phase.KICK_OFF)
        kick_off = s.phase is Phase.KICK_OFF
        return Room(
            pitch=s.pitch,
            ball=(0.0, 0.0) if kick_off else s.ball,
            off_ball=OFF_RESTART if theirs else OFF_BALL,
            own_half=kick_off,
            off_circle=kick_off and theirs,
            off_their_area=theirs and s.mode in GOAL_KICKS,
        )

    def nearest(self, x: float, y: float) -> Point:
        """The nearest place, more or less, where a player may stand who does not go for the ball."""
        x, y = self._inside(x, y)
        if self._too_near(x, y):
            bx, by = self.ball
            first = math.atan2(y - by, x - bx - 0.5 * self.off_ball)
            for turn in TURNS:
                angle = first + turn
                x, y = bx + self.off_ball * math.cos(angle), by + self.off_ball * math.sin(angle)
                u, v = self._inside(x, y)
                if abs(u - x) + abs(v - y) < 1e-9:
                    break
        return x, y

    def _inside(self, x: float, y: float) -> Point:
        """A place inside the lines and where the play mode allows, whatever the ball."""
        pitch = self.pitch
        end, side = pitch.length / 2, pitch.width / 2
        x, y = clipped(x, EDGE - end, end - EDGE), clipped(y, EDGE - side, side - EDGE)
        edge, half_width = end - pitch.penalty_depth - AREA_MARGIN, pitch.penalty_width / 2 + AREA_MARGIN
        if abs(y) < half_width and (x < -edge or (self.off_their_area and x > edge)):
            x = math.copysign(edge, x)
        if self.own_half and x > -EDGE:
            x = -EDGE
        if self.off_circle and math.hypot(x, y) < pitch.circle_radius + EDGE:
            x = -math.sqrt((pitch.circle_radius + EDGE) ** 2 - y * y) - 1e-6
        return x, y

    def _too_near(self, x: float, y: float) -> bool:
        dx, dy = x - self.ball[0], y - self.ball[1]
        return dx * dx + dy * dy < self.off_ball * self.off_ball


TURNS = tuple(sign * step * math.pi / 8 for step in range(9) for sign in (1, -1))
"""Directions around the ball that are tried for a place, rad from the wished one."""


def formation(*, posts: int, ball: Point, room: Room) -> list[Point]:
    """So many places, the most important first."""
    places: list[Point] = []
    outside = 1.0 if ball[1] >= 0 else -1.0
    for post in POSTS[:posts]:
        x = post.follow_x * ball[0] + post.ahead
        y = post.follow_y * ball[1] - outside * post.inward + post.left
        places.append(_apart(room.nearest(x, y), places, room))
    return places


def _apart(place: Point, others: list[Point], room: Room) -> Point:
    """A place as near to a wished one as others, who have theirs already, leave room."""
    for way in (0.0, APART, 1.5 * APART, 2.0 * APART):
        for turn in TURNS[::2] if way else TURNS[:1]:
            x, y = place[0] - way * math.cos(turn), place[1] + way * math.sin(turn)
            x, y = room.nearest(x, y)
            if all(math.hypot(x - u, y - v) >= APART for u, v in others):
                return x, y
    return place


RECEIVER, TAKER = 3, 2
"""Numbers who take a kick-off, and get the ball from it."""
START = 0.28
"""How far from the ball the taker of a kick-off is put, m."""
KICK_OFF_AIM = math.radians(62)
"""Where a kick-off is played: aside, to the receiver, and ahead, so that the taker stands in its own half, rad."""
LINE_UP = (
    (-14.4, 0.0),
    (-2.6, 0.0),
    (-2.2, 2.2),
    (-6.5, -0.4),
    (-2.6, -3.2),
    (-5.0, 3.4),
    (-2.4, 5.6),
    (-2.4, -6.2),
    (-9.0, 2.6),
    (-9.0, -2.6),
    (-4.6, 0.4),
)
"""Places by number on the league's pitch of 30 m, when opponents kick off."""


def line_up_place(*, number: int, players: int, kicks_off: bool, pitch: Pitch) -> tuple[float, float, float]:
    """Where a player is to stand before a kick-off: x, y and heading [rad]."""
    if kicks_off and number == (TAKER if players > 1 else 1):
        aim = KICK_OFF_AIM if players >= RECEIVER else 0.0
        return -START * math.cos(aim), -START * math.sin(aim), aim
    if kicks_off and number == RECEIVER:
        return -0.5, 1.5, -0.5
    x, y = LINE_UP[number - 1] if players > 1 else LINE_UP[1]
    x, y = x * pitch.length / 30.0, y * pitch.width / 20.0
    if number != 1 or players == 1:
        x, y = Room(pitch=pitch, ball=(0.0, 0.0), own_half=True, off_circle=True).nearest(x, y)
    return x, y, math.atan2(-y, -x)
