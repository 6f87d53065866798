"""The belief of a player in the physical world: from observations to its pose, the ball and the other players.

    tracker = LeagueTracker(load_field("sim3d"), team="reds", number=3)
    belief = tracker.update(percept, limbs.odometry, upright=limbs.upright)    # every cycle, in order
    tracker.hear_mate(2, (x, y), ball_place, age=0.1)                          # a team-mate's message, team frame
    tracker.beamed(-3.0, 1.0)                                                  # after asking for a beam
    tracker.side                                                               # follows when teams change ends

This is the league's input stage of the one tracker (`filters`), for one player. `league_sight` brings what is seen down
to the ground. Landmarks have names here, so the pitch is never mirrored, and an image that contradicts what is believed
(a beam, a penalty, a fall that was not noticed) starts the pose anew from that image alone. Odometry may be wrong by a
fifth or more: what it lacks is estimated as slip. The filters work in the frame in which landmarks are named; beliefs
are in the team's frame, see `players.belief`. Nothing is random: the same observations give the same beliefs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.kernels import kernel
from nutmeg.base.records import Records, new_records, record_values
from nutmeg.match.players.tracking.filters import hear_ball, hear_mate, hear_sonar, lose_ball, track_one
from nutmeg.match.players.tracking.league_sight import (
    BALL_CODE,
    LEFT_NOISE,
    MIN_LINE_LENGTH,
    MIN_NOISE,
    NO_CODE,
    Image,
    head_frame,
    is_in_view,
    new_attitudes,
    new_ground_sight,
    read_sight,
    turn_attitude,
    turn_heading,
)
from nutmeg.match.players.tracking.localisation import widen_pose
from nutmeg.match.players.tracking.records import (
    STILL,
    BeliefRecord,
    LandmarkRecord,
    LandmarkTable,
    LinePart,
    MindRecord,
    Motion,
    TrackerNumbers,
    belief_of,
)
from nutmeg.match.players.tracking.tracker import blank_mind
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import Side, may_beam, mode_named
from nutmeg.match.worlds.behavioural.eyes import TrackerSettings, load_eyes
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.sonar import sonar_numbers
from nutmeg.match.worlds.behavioural.vision import SightingRecord
from nutmeg.match.worlds.physical.percept import ROBOT
from nutmeg.model.ball import load_ball

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.tracking.league_sight import CameraPose
    from nutmeg.match.worlds.physical.percept import GameView, Percept, Sight
    from nutmeg.model.field import FieldSettings


# ----------------------------------------------------------------------------------------------------
# Which end of the pitch the own team defends, as far as a player can know.
#
# The league's server keeps the ends for the whole match; a rule book may change them at half time (`swap_ends`), which
# is not announced to players. There are two signs of it: the numbers of the score change places, and a player that asks
# to be beamed into its own half finds itself in the other. The first shows only if the score is not even, the second
# within a few cycles of the first beam, for which every team asks before a kick-off. A player that never beams while
# the score is even cannot know.


_BEAM_LATENCY = 0.04  # time from a request to be beamed to the beam [s]
_BEAM_PATIENCE = 0.5  # time after which a request that had no effect is forgotten [s]
_BEAM_LANDING_DISTANCE = 0.6
"""A player nearer than this to the place that it asked for was beamed there [m]; noise is 0.07 m, and others may be in
the way."""


class Ends:
    """Which end the own team defends, as far as the player can know."""

    def __init__(self) -> None:
        self.side: Side | None = None
        """The end that the own team defends; None while it is unknown."""
        self.changes = 0
        """Number of changes of ends."""
        self._score: tuple[int, int] | None = None
        self._wish: tuple[float, float, float] | None = None
        self._mode, self._may_beam = "", False

    @property
    def sign(self) -> int:
        """1 or -1: times a place on the pitch, the place as the own team sees it. 1 while the side is not known."""
        return 1 if self.side is None else self.side.sign

    def hear(self, game: GameView) -> None:
        """Takes the state of the game."""
        if game.side is not None:
            self.side = game.side
        if game.mode != self._mode:
            self._mode, self._may_beam = game.mode, may_beam(mode_named(game.mode))
        score = game.score_left, game.score_right
        if score != self._score:
            if self._score == score[::-1]:
                self._change()
            self._score = score

    def _change(self) -> None:
        if self.side is not None:
            self.side, self.changes = self.side.other, self.changes + 1

    def beamed(self, x: float, y: float, *, now: float) -> None:
        """The player has asked to be put at a place, as its team sees it."""
        if self._may_beam:
            self._wish = min(x, 0.0), y, now

    def land(self, x: float, y: float, *, now: float) -> None:
        """An image has shown where the player is on the pitch."""
        if self._wish is None or now < self._wish[2] + _BEAM_LATENCY - 1e-6:
            return
        if now > self._wish[2] + _BEAM_PATIENCE:
            self._wish = None
            return
        here = math.hypot(self.sign * x - self._wish[0], self.sign * y - self._wish[1])
        there = math.hypot(self.sign * x + self._wish[0], self.sign * y + self._wish[1])
        if there < _BEAM_LANDING_DISTANCE and here > 2 * _BEAM_LANDING_DISTANCE:
            self._change()
        if min(here, there) < _BEAM_LANDING_DISTANCE:
            self._wish = None


_MAX_PERCEPT_GAP = 1.0  # A gap between percepts is bridged up to this long [s]
MAX_DISTANCE_OUTSIDE = 4.0
"""Nobody is farther outside the pitch [m]."""
_LOST_DEVIATION = 10.0  # deviation of the place of a player that does not know where it is [m]
_CAMERA_MISPLACEMENT = 0.004
"""Additional standard deviation of the place [m]: cameras are misplaced by a constant, which no filter sees."""
_WATCHED_PUSH, _UNWATCHED_PUSH = 0.01, 0.08
"""Variance that a second adds to the velocity of a ball that is watched, or not [m²/s²]."""
_WATCHED_AGE = 0.1  # a ball seen less long ago than this is watched [s]
_GONE_DEVIATION = 3.0  # standard deviation of the place of a ball that is not where it should be [m]
# standard deviation of the ball's place in a team-mate's report [m]; it grows with the age at 1 m/s
_HEARD_DEVIATION = 0.3
# a player whose pose was known less long ago than this may only have been pushed, and is not lost at once [s]
_BUMP_AGE = 1.0
_BUMP_DISTANCE, _BUMP_ANGLE, _BUMP_SLIP = 0.5, 0.3, 0.3
"""Deviations of place [m], heading [rad] and slip [m/s] of a player that was pushed."""
LEAGUE_SETTINGS = TrackerSettings(
    move_noise=0.001,
    move_share=0.0,
    turn_noise=0.0005,
    turn_share=0.05,
    fallen_noise=0.001,
    fallen_turn_noise=0.0005,
    gate=25.0,
    rival_gate=0.0,
    mark_floor=MIN_NOISE,
    ball_push=0.0,
    ball_gate=13.0,
    ball_told=0.5,
    others_drift=0.3,
    others_gate=0.7,
    others_memory=5.0,
    others_speed=0.7,
    others_time=2.0,
    others_noise=0.03,
    lost=0.25,
    slip_floor=0.02,
    slip_share=0.1,
    slip_fallen=0.4,
    slip_time=0.5,
    ball_sway=0.006,
    ball_memory=3.0,
    ball_doubts=0,
    kick_speed=3.0,
    ball_slide=0.05,
)
"""How far what is seen and walked is trusted; chosen by trial, see the tests for what they give. `turn_share` is that
of the difference between the turn of the legs and the gyroscope's."""


_ECHO_DEPTH = 0.1
"""How much nearer than the middle of a robot its echo is [m]: 0.096 on average with a standard deviation of 0.045, over
417 echoes in three minutes of games with four players a side. The width in the eyes' file is for what a body hides."""


class LeagueTracker:
    """The tracker of a player of the league.

    Args:
        field: the pitch.
        team: name of the own team, as in images and messages.
        number: the own number; 0 takes it from the first percept.
        settings: the settings of the filters.
    """

    def __init__(
        self, field: FieldSettings, *, team: str, number: int = 0, settings: TrackerSettings = LEAGUE_SETTINGS
    ) -> None:
        ball = load_ball(field.ball)
        self._team, self.number, self.settings = team, number, settings
        self._names = field.landmarks()
        self._table, self._radius = _named_landmarks(field), ball.radius
        numbers = TrackerNumbers(
            settings=settings,
            bearing_noise=LEFT_NOISE,
            crossing_noise=1.0,
            rolling=0.0,
            damping=ball.rolling_damping,
            apart=0.5,
            prior_penalty=0.0,
            reach_x=field.length / 2 + MAX_DISTANCE_OUTSIDE,
            reach_y=field.width / 2 + MAX_DISTANCE_OUTSIDE,
            sonar=replace(sonar_numbers(load_eyes(ROBOT), field), robot_radius=_ECHO_DEPTH),
        )
        self._numbers, self.minds = record_values(numbers), new_records(MindRecord, 1)
        self.minds[0] = blank_mind(ball.radius)
        self._attitudes = new_attitudes()
        self._sight = new_ground_sight(np.array([z for _, _, z in self._names.values()]))
        self._no_things, self._no_parts = new_records(SightingRecord, 0), new_records(LinePart, 0)
        self._codes = {name: row for row, name in enumerate(self._names)} | {"B": BALL_CODE}
        self._ends, self._time, self._known_at = Ends(), -math.inf, -math.inf
        self.known = False
        """Whether the player knows where it is."""
        self.record = new_records(BeliefRecord, 1)
        """(1,) what the player believes, as compiled tactics get it; written by every update."""

    @property
    def side(self) -> Side | None:
        """The side from which the own team plays now; None while it is unknown."""
        return self._ends.side

    def update(self, percept: Percept, odometry: tuple[float, float, float], *, upright: bool) -> Belief:
        """Takes a percept; it has to be called in every cycle.

        Args:
            percept: the percept.
            odometry: motion by the legs since the last cycle, ahead and to the left [m], and turn to the left [rad].
            upright: whether the player stands.
        """
        step = CONTROL_CYCLE if self._time < 0.0 else min(max(percept.time - self._time, 1e-3), _MAX_PERCEPT_GAP)
        self._time = percept.time
        self._ends.hear(percept.game)
        if percept.game.number is not None:
            self.number = percept.game.number
        minds, sight, own = self.minds, self._sight, self.number - 1
        minds["belief"]["upright"] = upright
        motion = self._motion(odometry, turn_attitude(self._attitudes, percept.gyro, step, upright), upright, step)
        if percept.sight is None:
            nothing = self._no_things, self._no_parts
            self.known = track_one(minds, own, motion, *nothing, self._table, self._numbers)
        else:
            yaw, pitch = percept.angles[:2].tolist()
            camera = head_frame(math.radians(yaw), math.radians(pitch))
            image = self._image(percept.sight)
            level = read_sight(self._attitudes, image, camera, percept.acc, sight)
            if not level:
                minds["pose"]["misfit"] = 1.0
            things, parts = sight.things[: sight.counts[0]], sight.parts[: sight.counts[1]]
            self.known = track_one(minds, own, motion, things, parts, self._table, self._numbers)
            if level and not self.known and self._time - self._known_at < _BUMP_AGE:
                # It may only have been pushed: with a wide spread, what is seen may fit, linearised anew each time.
                for _ in range(3):
                    widen_pose(minds, _BUMP_DISTANCE, _BUMP_ANGLE, _BUMP_SLIP)
                    self.known = track_one(minds, own, STILL, things, parts, self._table, self._numbers)
            turn_heading(self._attitudes, float(minds["belief"]["heading"][0]))
            if self.known:
                self._look_for_ball(image, camera)
        if percept.sonar is not None and self.known:
            heard = np.array(percept.sonar)
            heard[np.isinf(heard)] = math.nan
            hear_sonar(minds, own, heard, self._table, self._numbers)
        _tell_belief(minds, self.record, self._ends.sign, self.known)
        return belief_of(self.record, self._time)

    def _motion(self, odometry: tuple[float, float, float], turn: float, upright: bool, step: float) -> Motion:
        """The odometry of a cycle, of which the turn is the gyroscope's, rad."""
        settings, (ahead, left, legs_turn) = self.settings, odometry
        speed = (math.hypot(ahead, left) + 0.1 * abs(legs_turn)) / step
        watched = self.minds["belief"]["seen_ago"][0] < _WATCHED_AGE
        return Motion(
            step=step,
            ahead=ahead,
            left=left,
            turn=turn,
            place_variance=settings.move_noise**2,
            turn_variance=settings.turn_noise**2 + (settings.turn_share * (turn - legs_turn)) ** 2,
            slip=settings.slip_floor + settings.slip_share * speed if upright else settings.slip_fallen,
            push=step * (_WATCHED_PUSH if watched else _UNWATCHED_PUSH),
        )

    def _image(self, sight: Sight) -> Image:
        """The sight as an image, with the rows of landmarks and players."""
        own, codes = self._team, self._codes
        players = [
            (number if team == own else MAX_PLAYERS + number) - 1
            if 0 < number <= MAX_PLAYERS and (team, number) != (own, self.number)
            else -1
            for team, number in zip(sight.teams, sight.numbers, strict=True)
        ]
        return Image(
            marks=sight.marks,
            codes=np.array([codes.get(label, NO_CODE) for label in sight.labels], np.int64),
            lines=sight.lines,
            parts=sight.parts,
            players=np.array(players, np.int64),
        )

    def _look_for_ball(self, image: Image, camera: CameraPose) -> None:
        """Notes the height of a ball that is seen, forgets one that is not where it should be, and finds the ends."""
        belief = self.minds["belief"]
        x, y = float(belief["x"][0]), float(belief["y"][0])
        self._known_at = self._time
        self._ends.land(x, y, now=self._time)
        if BALL_CODE in image.codes:
            belief["ball_height"] = max(self._sight.heights[-1], self._radius)
            return
        belief["ball_height"] = self._radius
        if belief["ball_spread"][0] < _GONE_DEVIATION and belief["seen_ago"][0] < math.inf:
            dx, dy = float(belief["ball_x"][0]) - x, float(belief["ball_y"][0]) - y
            if is_in_view(self._attitudes, camera, dx, dy, self._radius):
                lose_ball(self.minds, _GONE_DEVIATION)

    def hear_mate(
        self, number: int, place: Sequence[float] | Floats, ball_place: Sequence[float] | Floats | None, age: float
    ) -> None:
        """Takes the report of a team-mate, in the team's frame.

        Args:
            number: number of the team-mate.
            place: (2,) place of the team-mate [m].
            ball_place: (2,) place of the ball [m]; None if it does not see it.
            age: age of the report [s].
        """
        sign = self._ends.sign
        if number != self.number and 0 < number <= MAX_PLAYERS:
            x, y = sign * float(place[0]), sign * float(place[1])
            hear_mate(self.minds, number - 1, x, y, age, self._numbers)
        if ball_place is not None:
            x, y = sign * float(ball_place[0]), sign * float(ball_place[1])
            hear_ball(self.minds, x, y, age, _HEARD_DEVIATION + age, self._numbers)

    def beamed(self, x: float, y: float) -> None:
        """The player asks, with its answer to the last percept, to be put at a place in the team's frame."""
        self._ends.beamed(x, y, now=self._time)


@kernel
def _tell_belief(minds: Records[MindRecord], records: Records[BeliefRecord], sign: int, known: bool) -> None:
    """Writes the belief of a player (1,) as its team sees the pitch: turned round if the sign is -1."""
    records[0] = minds[0].belief
    belief = records[0]
    belief.spread = math.hypot(belief.spread, _CAMERA_MISPLACEMENT)
    if not known:
        belief.spread, belief.heading_spread = max(belief.spread, _LOST_DEVIATION), math.pi
    if sign < 0:
        belief.x, belief.y, belief.heading = -belief.x, -belief.y, wrap_angle_exactly(belief.heading + math.pi)
        belief.ball_x, belief.ball_y = -belief.ball_x, -belief.ball_y
        belief.ball_vx, belief.ball_vy = -belief.ball_vx, -belief.ball_vy
        for k in range(2 * MAX_PLAYERS):
            other = belief.others[k]
            other.x, other.y, other.vx, other.vy = -other.x, -other.y, -other.vx, -other.vy


def _named_landmarks(field: FieldSettings) -> LandmarkTable:
    """The landmarks of the league, which are numbered and count as posts, and the lines that can be identified."""
    places = field.landmarks().values()
    landmarks = new_records(LandmarkRecord, len(places))
    for row, (x, y, _) in enumerate(places):
        landmarks[row] = x, y, math.nan, row + 1
    first = np.where(np.arange(len(ObjectKind) + 1) > ObjectKind.POST, len(landmarks), 0)
    lines = [(*start, *end) for layer in field.layers()[:3] for start, end in layer]
    long = [line for line in lines if math.dist(line[:2], line[2:]) > MIN_LINE_LENGTH]
    return LandmarkTable(landmarks, first.astype(np.int64), np.array(long, float).reshape(-1, 4))
