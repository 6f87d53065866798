"""Perception of a player from its camera pictures alone: what it sees, where it stands, and where the ball is.

    def decide(percept, memory):
        if "senses" not in memory:
            memory["senses"] = CameraSenses(load_field("spl2011"), load_eyes("nao"))
        senses = memory["senses"]
        senses.update(percept)
        senses.seen                     # ball, robots, posts and crossings, as symbolic vision has them
        senses.pose                     # by the tracker
        senses.belief(percept.time)     # all of it as the `Belief` that tactics are written for

Only pictures, the head's angles, odometry, sonar and the play mode are looked at. This is the tracker's input stage
(`tracking.filters`) for pictures: what is found in them becomes sightings, and points on lines.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.base.records import new_records, record_values
from nutmeg.match.players.decide import Seen, SeenMark, SeenRobot
from nutmeg.match.players.perception.colours import Colour, colour_of, find_blobs
from nutmeg.match.players.perception.lines import find_crossings, find_line_points
from nutmeg.match.players.perception.objects import find_ball, find_posts, find_robots
from nutmeg.match.players.perception.pictures import Picture
from nutmeg.match.players.tracking.filters import track_one, walk_one
from nutmeg.match.players.tracking.records import STILL, LinePart, MindRecord, belief_of
from nutmeg.match.players.tracking.tracker import (
    PLACED_SPREAD,
    blank_mind,
    landmark_table,
    place_mind,
    tracker_numbers,
)
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.behavioural.camera_geometry import CAMERA_NAMES
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.vision import SightingRecord
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.base.records import Records
    from nutmeg.match.players.belief import Belief, Pose
    from nutmeg.match.players.decide import View
    from nutmeg.match.players.perception.lines import Crossing
    from nutmeg.match.players.perception.objects import FoundPost, FoundRobot
    from nutmeg.match.worlds.behavioural.eyes import EyesSettings
    from nutmeg.model.field import FieldSettings


Found = TypeVar("Found", "FoundPost", "FoundRobot")

_SAME_OBJECT_DISTANCE = 0.35
"""Things of a kind that both cameras show nearer to each other than this are one, m and as a share of the distance."""
_BALL_DECELERATION = 0.25  # how a ball slows down that the player tracks, m/s^2
_BLUE_TEAM = Side.LEFT
"""The team with blue waistbands; those of the other one are pink (`worlds.behavioural.cameras`)."""


ROW_DEVIATION = 2.5
"""Deviation of places in a picture, rows: half a pixel, and what the trunk sways unnoticed."""
_LINE_DEVIATION, _LINE_ROWS = 0.05, 2.0
"""Deviation of a point from its line, m, beside that of its place in the picture, rows."""
_MAX_LINE_POINTS = 60  # points on lines that are taken from one cycle's pictures
_POST_SHARE = 0.05  # deviation of the distance of a post as a part of it, beside what rows make of it
_ROBOT_SHARE = 0.05  # deviation of the distance of a robot, as a part of it
_CROSSING_KINDS = {"L": ObjectKind.L_CROSSING, "T": ObjectKind.T_CROSSING, "X": ObjectKind.X_CROSSING}


class CameraSenses:
    """Perception of one player.

    Args:
        field: a pitch with lines, a yellow and a blue goal.
        eyes: where the cameras are, and the settings of the tracker.
    """

    def __init__(self, field: FieldSettings, eyes: EyesSettings) -> None:
        if field.goal is None or {colour_of(field.goal.left_colour), colour_of(field.goal.right_colour)} != {
            Colour.YELLOW,
            Colour.BLUE,
        }:
            raise UsageError(
                f"the field {field.name!r} has no yellow and blue goals, by which this perception tells its ends "
                "apart; spl2011 has."
            )
        self._field, self._goal, self._eyes = field, field.goal, eyes
        self._goals = colour_of(field.goal.left_colour), colour_of(field.goal.right_colour)
        ball = load_ball(field.ball)
        self._radius, self._table = ball.radius, landmark_table(field)
        self._numbers = record_values(tracker_numbers(eyes, field, rolling=_BALL_DECELERATION))
        self.minds = new_records(MindRecord, 1)
        """(1,) what the tracker keeps."""
        self.minds[0] = blank_mind(ball.radius)
        self._own = -1
        self.seen = Seen()
        """The sightings of the last pictures, in the body's frame."""
        self.lines: Floats = np.zeros((0, 3))
        """(K, 3) points on lines: ahead, to the left, and how far a row of the picture reaches there, m."""

    @property
    def pose(self) -> Pose:
        """The estimated pose, in the frame of the own team."""
        return self.belief(0.0).me

    def belief(self, time: float) -> Belief:
        """The belief at a time, s."""
        return belief_of(self.minds["belief"], time)

    def place(self, x: float, y: float, heading: float, *, spread: float = PLACED_SPREAD) -> None:
        """Knows where it is, to a deviation [m, rad]."""
        place_mind(self.minds, self._own, (x, y, heading), spread)

    def update(self, percept: View) -> None:
        """Takes in the odometry of a view and looks at its pictures; a robot that is not upright sees nothing."""
        self._own = percept.number - 1
        self.walk(percept.odometry, upright=percept.upright, sonar=percept.sonar)
        if not percept.upright:
            self.seen, self.lines = Seen(), np.zeros((0, 3))
            return
        if percept.images is None:
            raise UsageError("this world gives no camera pictures: percept.images is None.")
        self.look(percept.images, percept.head, percept.side)

    def walk(
        self, odometry: Sequence[float], *, upright: bool = True, sonar: tuple[float, float] | None = None
    ) -> None:
        """Moves the estimate by the odometry of a cycle.

        Args:
            odometry: ahead, left [m], turned left [rad].
            upright: whether it is on its feet.
            sonar: distances of the left and the right sonar, m, infinite without an echo; None without sonar.
        """
        self.minds["belief"]["upright"] = upright
        heard = np.array(sonar if sonar is not None else (np.inf, np.inf))
        heard[np.isinf(heard)] = np.nan
        walk_one(self.minds, self._own, np.array(odometry, float), heard, self._table, self._numbers)

    def look(self, images: Mapping[str, Bytes], head: tuple[float, float], side: Side) -> None:
        """Looks at pictures by the names of their cameras.

        Args:
            images: (height, width, 3) each.
            head: yaw to the left and pitch upwards, rad.
            side: the end that the own team defends.
        """
        pictures = [
            Picture.of(images[which], self._eyes.cameras, which, head=head) for which in CAMERA_NAMES if which in images
        ]
        balls, posts, robots, lines = [], [], [], []
        for picture in pictures:
            blobs = find_blobs(picture.classes)
            here = find_robots(picture, blobs, self._eyes.bodies.waistband)
            balls += [found for found in (find_ball(picture, blobs, self._radius),) if found is not None]
            posts += [post for colour in self._goals for post in find_posts(picture, colour, self._goal)]
            robots += here
            lines.append(
                find_line_points(picture, self._field.line_width, [robot.box for robot in here])
                if self._field.line_width
                else np.zeros((0, 3))
            )
        self.lines = np.concatenate(lines)
        posts, robots = _once(posts), _once(robots)
        crossings = find_crossings(self.lines, pictures)
        ball = min(balls, key=lambda ball: ball.spread, default=None)
        self.seen = Seen(
            ball=None if ball is None else ball.place,
            robots=tuple(_robot(robot, side) for robot in robots),
            marks=(*(self._mark(post, side) for post in posts), *_marks(crossings)),
        )
        things = [self._post_sighting(post, side) for post in posts]
        things += [
            _sighting(_CROSSING_KINDS[one.kind], one.place, ROW_DEVIATION * self._blur(one.place), turn=one.turn)
            for one in crossings
        ]
        if ball is not None:
            things.append(_sighting(ObjectKind.BALL, ball.place, ball.spread))
        for robot in self.seen.robots:
            kind = ObjectKind.MATE if robot.mate else ObjectKind.OPPONENT
            things.append(_sighting(kind, robot.place, _ROBOT_SHARE * math.hypot(*robot.place), lying=robot.lying))
        seen = record_values(*things) if things else new_records(SightingRecord, 0)
        track_one(self.minds, self._own, STILL, seen, self._line_parts(), self._table, self._numbers)

    def _blur(self, place: tuple[float, float]) -> float:
        """How far on the ground a row of the upper camera's picture reaches at a place, m."""
        up = self._eyes.cameras.top[2]
        return (place[0] ** 2 + place[1] ** 2 + up**2) / (up * self._eyes.cameras.focal)

    def _line_parts(self) -> Records[LinePart]:
        """(K,) some of the points on lines, as the tracker takes them."""
        points = self.lines[:: max(1, -(-len(self.lines) // _MAX_LINE_POINTS))]
        parts = new_records(LinePart, len(points))
        parts["ahead"] = parts["other_ahead"] = points[:, 0]
        parts["left"] = parts["other_left"] = points[:, 1]
        spread = np.hypot(_LINE_DEVIATION, _LINE_ROWS * points[:, 2])
        parts["spread"] = parts["other_spread"] = spread
        return parts

    def _is_own(self, post: FoundPost, side: Side) -> bool:
        return post.colour is self._goals[0 if side is Side.LEFT else 1]

    def _post_sighting(self, post: FoundPost, side: Side) -> SightingRecord:
        """A post for the tracker; its number is 1 at +y and 2 at -y in the frame of the own team, 0 if unknown."""
        own = self._is_own(post, side)
        number = 0 if post.side is None else 1 if (post.side == "left") != own else 2
        kind = ObjectKind.OWN_POST if own else ObjectKind.THEIR_POST
        spread = math.hypot(ROW_DEVIATION * post.spread, _POST_SHARE * math.hypot(*post.place))
        return _sighting(kind, post.place, spread, number=number)

    def _mark(self, post: FoundPost, side: Side) -> SeenMark:
        own = self._is_own(post, side)
        name = None
        if post.side is not None:  # a goal's left post, seen from the pitch, is at +y in theirs and at -y in the own
            name = f"G{1 if (post.side == 'left') != own else 2}{'L' if own else 'R'}"
        return SeenMark(kind="own post" if own else "their post", place=post.place, name=name)


def _sighting(
    kind: ObjectKind,
    place: tuple[float, float],
    spread: float,
    *,
    turn: float | None = None,
    number: int = 0,
    lying: bool = False,
) -> SightingRecord:
    """The sighting of a thing at a place, ahead and to the left, m, as the tracker takes it."""
    return SightingRecord(
        kind=int(kind),
        distance=math.hypot(*place),
        bearing=math.atan2(place[1], place[0]),
        spread=spread,
        turn=math.nan if turn is None else turn,
        number=number,
        lying=lying,
    )


def compile_now() -> None:
    """Compiles what is compiled, so that no first decision takes longer than a player may think."""
    senses = CameraSenses(load_field("spl2011"), load_eyes("nao"))
    dark = np.zeros((240, 320, 3), np.uint8)
    senses.walk((0.0, 0.0, 0.0))
    senses.look(dict.fromkeys(CAMERA_NAMES, dark), (0.0, 0.0), Side.LEFT)


def _once(things: list[Found]) -> list[Found]:
    """Things without those that the other camera shows, too; the lower one comes later, and is nearer and better."""
    kept: list[Found] = []
    for thing in reversed(things):
        near = _SAME_OBJECT_DISTANCE * max(1.0, math.hypot(*thing.place))
        if not any(one.colour is thing.colour and math.dist(one.place, thing.place) < near for one in kept):
            kept.append(thing)
    return kept[::-1]


def _robot(robot: FoundRobot, side: Side) -> SeenRobot:
    blue = robot.colour is Colour.BLUE
    return SeenRobot(place=robot.place, mate=blue == (side is _BLUE_TEAM), lying=robot.lying)


def _marks(crossings: Sequence[Crossing]) -> tuple[SeenMark, ...]:
    return tuple(SeenMark(kind=one.kind, place=one.place, turn=one.turn) for one in crossings)
