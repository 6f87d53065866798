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

import numpy as np
from scipy.optimize import linear_sum_assignment

from nutmeg.base.angles import wrap_angle
from nutmeg.match.players.builtin.situation import BALL_DAMPING, Phase, Point, clipped
from nutmeg.match.players.messages import MAX_ARRIVAL_TIME
from nutmeg.match.rules.play_modes import GOAL_KICKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.match.players.builtin.situation import Memory, Other, Situation
    from nutmeg.match.rules.book import Pitch


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
POST_SPACING = 1.6
"""Posts are at least so far from each other, m."""
BALL_DISTANCE = 1.2
"""Who does not go for the ball keeps so far from it, m."""
RESTART_DISTANCE = 2.4
"""The same when opponents put it into play: the rules want 2 m."""
LINE_MARGIN = 0.5
"""Posts keep so far inside the lines, m."""
AREA_MARGIN = 0.4
"""And so far outside a penalty area, m."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where players may stand."""

    pitch: Pitch
    ball: Point
    off_ball: float = BALL_DISTANCE
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
            off_ball=RESTART_DISTANCE if theirs else BALL_DISTANCE,
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
            for turn in PLACE_ANGLES:
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
        x, y = clipped(x, LINE_MARGIN - end, end - LINE_MARGIN), clipped(y, LINE_MARGIN - side, side - LINE_MARGIN)
        edge, half_width = end - pitch.penalty_depth - AREA_MARGIN, pitch.penalty_width / 2 + AREA_MARGIN
        if abs(y) < half_width and (x < -edge or (self.off_their_area and x > edge)):
            x = math.copysign(edge, x)
        if self.own_half and x > -LINE_MARGIN:
            x = -LINE_MARGIN
        if self.off_circle and math.hypot(x, y) < pitch.circle_radius + LINE_MARGIN:
            x = -math.sqrt((pitch.circle_radius + LINE_MARGIN) ** 2 - y * y) - 1e-6
        return x, y

    def _too_near(self, x: float, y: float) -> bool:
        dx, dy = x - self.ball[0], y - self.ball[1]
        return dx * dx + dy * dy < self.off_ball * self.off_ball


PLACE_ANGLES = tuple(sign * step * math.pi / 8 for step in range(9) for sign in (1, -1))
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
    for way in (0.0, POST_SPACING, 1.5 * POST_SPACING, 2.0 * POST_SPACING):
        for turn in PLACE_ANGLES[::2] if way else PLACE_ANGLES[:1]:
            x, y = place[0] - way * math.cos(turn), place[1] + way * math.sin(turn)
            x, y = room.nearest(x, y)
            if all(math.hypot(x - u, y - v) >= POST_SPACING for u, v in others):
                return x, y
    return place


RECEIVER_NUMBER, TAKER_NUMBER = 3, 2
"""Numbers who take a kick-off, and get the ball from it."""
TAKER_DISTANCE = 0.28
"""How far from the ball the taker of a kick-off is put, m."""
KICK_OFF_AIM = math.radians(62)
"""Where a kick-off is played: aside, to the receiver, and ahead, so that the taker stands in its own half, rad."""
LINE_UP_PLACES = (
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
    if kicks_off and number == (TAKER_NUMBER if players > 1 else 1):
        aim = KICK_OFF_AIM if players >= RECEIVER_NUMBER else 0.0
        return -TAKER_DISTANCE * math.cos(aim), -TAKER_DISTANCE * math.sin(aim), aim
    if kicks_off and number == RECEIVER_NUMBER:
        return -0.5, 1.5, -0.5
    x, y = LINE_UP_PLACES[number - 1] if players > 1 else LINE_UP_PLACES[1]
    x, y = x * pitch.length / 30.0, y * pitch.width / 20.0
    if number != 1 or players == 1:
        x, y = Room(pitch=pitch, ball=(0.0, 0.0), own_half=True, off_circle=True).nearest(x, y)
    return x, y, math.atan2(-y, -x)


# ----------------------------------------------------------------------------------------------------
# Who does what: who goes for the ball, and who takes which place of the formation.
#
# Everybody works out the same from what it knows; team-mates tell when they could play the ball, so that they agree
# within a few tenths of a second on who goes, and who goes already is given some credit, so that they do not waver.
#
# Places are given out so that the sum of the squares of the ways is least. Straight ways then never make two players
# meet (Turpin, Michael and Kumar 2014: concurrent assignment and planning of trajectories), and nobody has to go much
# farther than the others, as in SCRAM (MacAlpine, Price and Stone 2015), which minimises the longest way.


POST_LOYALTY = 1.0
"""A player keeps its post unless another assignment saves the team so much of the squared ways, m^2."""
CHASING_SPEED = 0.6
"""Speed of somebody who goes for the ball, m/s."""
TURNING_SPEED = 1.6
"""rad/s."""
CIRCLING_TIME = 0.5
"""Time for each radian around the ball, s."""
DRIVEN_BALL_SHARE, PREDICTION_TIME = 0.8, 3.0
"""How much of its speed a ball keeps that is driven along, and for how long that is foreseen, s."""
KICKED_BALL_SPEED = 0.9
"""Faster balls have been kicked, and roll on by themselves, m/s."""
GET_UP_TIME = 4.0
"""s."""
GOING_CREDIT = 0.8
"""Who goes already is taken to be there so much sooner, s."""
KEEPER_CREDIT = 3.0
"""The same for a keeper, who goes for few balls."""
MAX_REPORT_AGE = 1.5
"""What a team-mate said so long ago about its arrival is not used, s."""


def arrival_time(s: Situation, aim: float) -> float:
    """When the player could play the ball in a direction, s from now; slow balls are driven on by somebody."""
    vx, vy = s.ball_velocity
    kicked, time = math.hypot(vx, vy) > KICKED_BALL_SPEED, s.ball_way / CHASING_SPEED
    for _ in range(2):
        lead = (
            (1.0 - math.exp(-BALL_DAMPING * time)) / BALL_DAMPING
            if kicked
            else DRIVEN_BALL_SHARE * min(time, PREDICTION_TIME)
        )
        dx, dy = s.ball[0] + lead * vx - s.x, s.ball[1] + lead * vy - s.y
        time = math.hypot(dx, dy) / CHASING_SPEED
    bearing = math.atan2(dy, dx)
    around = abs(wrap_angle(bearing - aim))
    turn = abs(wrap_angle(bearing - s.heading))
    return time + CIRCLING_TIME * around + max(turn - 0.5, 0.0) / TURNING_SPEED


def goes_for_ball(s: Situation, memory: Memory) -> bool:
    """Whether the player is the one of its team to go for the ball."""
    mine = memory.arrival - (GOING_CREDIT if memory.goes else 0.0)
    return all((mine, memory.number) < (arrival_of(mate, s, memory), mate.number) for mate in s.mates)


def arrival_of(mate: Other, s: Situation, memory: Memory) -> float:
    """When a team-mate could play the ball: as it says, else as it looks."""
    report = memory.reports.get(mate.number)
    if report is not None and s.time - report.time < MAX_REPORT_AGE:
        if report.arrival >= MAX_ARRIVAL_TIME:
            return math.inf
        said = report.arrival - (s.time - report.time if report.goes else 0.0)
        return said - ((KEEPER_CREDIT if mate.number == 1 else GOING_CREDIT) if report.goes else 0.0)
    if mate.number == 1:
        return math.inf
    way = math.hypot(mate.x - s.ball[0], mate.y - s.ball[1])
    return way / CHASING_SPEED + 1.0 + (GET_UP_TIME if mate.fallen else 0.0)


def goer_of(s: Situation, memory: Memory) -> int:
    """The number of who goes for the ball, as far as this player knows."""
    if memory.goes or not s.mates:
        return memory.number
    best = min(s.mates, key=lambda mate: (arrival_of(mate, s, memory), mate.number))
    return best.number


def takes_part(s: Situation, memory: Memory) -> list[tuple[int, Point]]:
    """Numbers and places of those who share the posts: all but the keeper and who goes for the ball."""
    goer, alone = goer_of(s, memory), memory.players == 1
    own = [] if memory.goes else [(memory.number, (s.x, s.y))]
    others = [(mate.number, (mate.x, mate.y)) for mate in s.mates]
    return sorted(who for who in own + others if who[0] != goer and (who[0] != 1 or alone))


def kick_off_taker(s: Situation, memory: Memory, taker: int) -> int:
    """Who takes the own kick-off: the one with the number, if it is on the pitch."""
    here = {memory.number, *(mate.number for mate in s.mates)}
    field = sorted(here - {1}) or [1]
    return taker if taker in here else field[0]


def assign_posts(players: Sequence[Point], posts: Sequence[Point], kept: Sequence[int]) -> list[int]:
    """The post of each player, so that the sum of the squared ways is least; as many posts as players.

    `kept` are the posts that players have already, which they keep if that costs little; `len(posts)` for none.
    """
    cost = np.array([[(x - u) ** 2 + (y - v) ** 2 for u, v in posts] for x, y in players])
    for row, post in enumerate(kept):
        if post < len(posts):
            cost[row, post] -= POST_LOYALTY
    found: list[int] = linear_sum_assignment(cost)[1].tolist()
    return found


def may_go(s: Situation) -> bool:
    """Whether the own team may go for the ball at all."""
    return s.phase is Phase.PLAY or (s.phase in (Phase.KICK_OFF, Phase.RESTART) and s.ours is True)
