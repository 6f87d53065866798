"""Perception of a player from its camera pictures alone: what it sees, where it stands, and where the ball is.

    def decide(percept, memory):
        if "senses" not in memory:
            memory["senses"] = CameraSenses(load_field("spl2011"), load_eyes("nao"), rng=memory.rng)
        senses = memory["senses"]
        senses.update(percept)
        senses.seen                     # ball, robots, posts and crossings, as symbolic vision has them
        senses.pose                     # by the particle filter
        senses.belief(percept.time)     # both as the `Belief` that tactics are written for

Only pictures, the head's angles, odometry and the play mode are looked at.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.match.players.belief import NEVER, BallBelief, Belief, Others, Pose
from nutmeg.match.players.decide import Seen, SeenMark, SeenRobot
from nutmeg.match.players.perception.colours import Colour, colour_of, find_blobs
from nutmeg.match.players.perception.lines import find_crossings, find_line_points
from nutmeg.match.players.perception.localisation import ParticleFilter, post_records, post_sighting
from nutmeg.match.players.perception.objects import find_ball, find_posts, find_robots
from nutmeg.match.players.perception.pictures import Picture
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.behavioural.camera_geometry import CAMERA_NAMES
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.base.records import Records
    from nutmeg.match.players.decide import View
    from nutmeg.match.players.perception.localisation import LocalisationSettings, PostSighting
    from nutmeg.match.players.perception.objects import FoundPost, FoundRobot
    from nutmeg.match.worlds.behavioural.eyes import EyesSettings
    from nutmeg.model.field import FieldSettings


Found = TypeVar("Found", "FoundPost", "FoundRobot")

SAME_OBJECT_DISTANCE = 0.35
"""Things of a kind that both cameras show nearer to each other than this are one, m and as a share of the distance."""
BLUE_TEAM = Side.LEFT
"""The team with blue waistbands; those of the other one are pink (`worlds.behavioural.cameras`)."""


class CameraSenses:
    """Perception of one player.

    Args:
        field: a pitch with lines, a yellow and a blue goal.
        eyes: where the cameras are.
        rng: random numbers of the particle filter.
        settings: numbers of the particle filter.
    """

    def __init__(
        self,
        field: FieldSettings,
        eyes: EyesSettings,
        *,
        rng: np.random.Generator,
        settings: LocalisationSettings | None = None,
    ) -> None:
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
        self._radius = load_ball(field.ball).radius
        self.filter = ParticleFilter(field, rng=rng, settings=settings)
        """Where it may stand."""
        self.seen = Seen()
        """What the last pictures showed, in the body's frame."""
        self.lines: Floats = np.zeros((0, 3))
        """(K, 3) points on lines: ahead, to the left, and how far a row of the picture reaches there, m."""
        self.ball: tuple[Floats, float, float] | None = None
        """Where on the pitch the ball was seen last (2,), its deviation, m, and when, s."""

    @property
    def pose(self) -> Pose:
        """The estimated pose, in the frame of the own team."""
        return self.filter.pose

    def update(self, percept: View) -> None:
        """Takes in the odometry of a view and looks at its pictures; a robot that is not upright sees nothing."""
        self.filter.move(percept.odometry, upright=percept.upright)
        if not percept.upright:
            self.seen, self.lines = Seen(), np.zeros((0, 3))
            return
        if percept.images is None:
            raise UsageError("this world gives no camera pictures: percept.images is None.")
        self.look(percept.images, percept.head, percept.side, percept.time)

    def look(self, images: Mapping[str, Bytes], head: tuple[float, float], side: Side, time: float = 0.0) -> None:
        """Looks at pictures by the names of their cameras.

        Args:
            images: (height, width, 3) each.
            head: yaw to the left and pitch upwards, rad.
            side: the end that the own team defends.
            time: of the world, s.
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
        posts = _once(posts)
        self.filter.observe(self._sightings(posts, side), self.lines)
        ball = min(balls, key=lambda ball: ball.spread, default=None)
        self.seen = Seen(
            ball=None if ball is None else ball.place,
            robots=tuple(_robot(robot, side) for robot in _once(robots)),
            marks=(*(self._mark(post, side) for post in posts), *_crossings(self.lines, pictures)),
        )
        if ball is not None:
            self.ball = self._belief_of(self.pose).to_pitch(np.array(ball.place)), ball.spread, time

    def _is_own(self, post: FoundPost, side: Side) -> bool:
        return post.colour is self._goals[0 if side is Side.LEFT else 1]

    def _sightings(self, posts: Sequence[FoundPost], side: Side) -> Records[PostSighting]:
        """(P,) posts for the filter, in the frame of the own team."""
        x = self._field.length / 2 + self._goal.post_offset
        y = self._goal.inner_width / 2 + self._goal.post_radius
        found = []
        for post in posts:
            end = -1.0 if self._is_own(post, side) else 1.0
            both = [(end * x, end * y), (end * x, -end * y)]
            may_be = both if post.side is None else both[:1] if post.side == "left" else both[1:]
            found.append(post_sighting(post.place, post.spread, may_be, self.filter.settings))
        return post_records(found)

    def _mark(self, post: FoundPost, side: Side) -> SeenMark:
        own = self._is_own(post, side)
        name = None
        if post.side is not None:  # a goal's left post, seen from the pitch, is at +y in theirs and at -y in the own
            name = f"G{1 if (post.side == 'left') != own else 2}{'L' if own else 'R'}"
        return SeenMark(kind="own post" if own else "their post", place=post.place, name=name)

    # ---- for tactics

    def belief(self, time: float) -> Belief:
        """What it believes at a time, s: pose and ball; of others, what is in view has no number and is left out."""
        return self._belief_of(self.pose, time)

    def _belief_of(self, pose: Pose, time: float = 0.0) -> Belief:
        nobody = Others(places=np.full((11, 2), np.nan), ages=np.full(11, NEVER), fallen=np.zeros(11, bool))
        place, spread, seen = self.ball or (np.zeros(2), NEVER, -NEVER)
        ball = BallBelief(
            place=place,
            height=self._radius,
            velocity=np.zeros(2),
            spread=spread,
            seen_ago=time - seen,
            told_ago=NEVER,
        )
        return Belief(time=time, me=pose, ball=ball, mates=nobody, opponents=nobody, upright=True)


def compile_now() -> None:
    """Compiles what is compiled, so that no first decision takes longer than a player may think."""
    senses = CameraSenses(load_field("spl2011"), load_eyes("nao"), rng=np.random.default_rng(0))
    dark = np.zeros((240, 320, 3), np.uint8)
    senses.look(dict.fromkeys(CAMERA_NAMES, dark), (0.0, 0.0), Side.LEFT)
    post = post_sighting((1.0, 0.0), 0.1, [(3.0, 0.7)], senses.filter.settings)
    senses.filter.observe(post_records([post]), np.ones((1, 3)))


def _once(things: list[Found]) -> list[Found]:
    """Things without those that the other camera shows, too; the lower one comes later, and is nearer and better."""
    kept: list[Found] = []
    for thing in reversed(things):
        near = SAME_OBJECT_DISTANCE * max(1.0, math.hypot(*thing.place))
        if not any(one.colour is thing.colour and math.dist(one.place, thing.place) < near for one in kept):
            kept.append(thing)
    return kept[::-1]


def _robot(robot: FoundRobot, side: Side) -> SeenRobot:
    blue = robot.colour is Colour.BLUE
    return SeenRobot(place=robot.place, mate=blue == (side is BLUE_TEAM), lying=robot.lying)


def _crossings(lines: Floats, pictures: Sequence[Picture]) -> tuple[SeenMark, ...]:
    return tuple(
        SeenMark(kind=crossing.kind, place=crossing.place, turn=crossing.turn)
        for crossing in find_crossings(lines, pictures)
    )
