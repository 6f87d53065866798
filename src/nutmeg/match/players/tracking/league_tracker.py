"""The belief of a player in the physical world: from observations to its pose, the ball and the other players.

    tracker = LeagueTracker(load_field("sim3d"), team="reds", number=3)
    belief = tracker.update(percept, limbs.odometry, upright=limbs.upright)    # every cycle, in order
    tracker.hear_mate(2, (x, y), ball_place, age=0.1)                          # a team-mate's message, team frame
    tracker.beamed(-3.0, 1.0)                                                  # after asking for a beam
    tracker.side                                                               # follows when teams change ends

One Kalman filter (`kalman_filter`) holds pose and ball; `localisation` corrects the pose. The other players are tracked
one by one. Beliefs are in the team's frame, see `players.belief`. Nothing is random: the same observations give the
same beliefs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.kernels import kernel
from nutmeg.base.records import Records, new_records
from nutmeg.match.players.tracking.kalman_filter import (
    BALL,
    PLACE,
    ROLL,
    STATE_SIZE,
    TURN,
    forget,
    inject,
    new_estimate,
    take,
)
from nutmeg.match.players.tracking.localisation import (
    DISTANCE_NOISE,
    HALF_VIEW,
    LEFT_NOISE,
    MIN_NOISE,
    CameraPose,
    Localisation,
    head_frame,
    measure_point,
    new_measured,
    onto_pitch,
)
from nutmeg.match.players.tracking.records import BeliefRecord, OtherRecord, belief_of
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import Side, may_beam, mode_named
from nutmeg.model.ball import load_ball

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.tracking.kalman_filter import Estimate
    from nutmeg.match.players.tracking.localisation import LocalisationSettings
    from nutmeg.match.worlds.physical.percept import GameView, Percept, Sight
    from nutmeg.model.field import FieldSettings


# ----------------------------------------------------------------------------------------------------
# Where the ball is and rolls, seen or not.
#
# The ball is part of the player's filter (see `estimate`), rolls on while nobody looks, and slows down exponentially,
# as its data file says. A kick shows as a surprise: then the velocity is opened up, and the image taken again. A ball
# that is somewhere else altogether has been put there by the referee and lies still.


WATCHED_VARIANCE, UNWATCHED_VARIANCE = 0.01, 0.08
"""Variance that a second adds to the velocity of a ball that is watched, or not [m²/s²]."""
SLIDING_VARIANCE = 0.05
"""The same along the way, for each m²/s²: a kicked ball slides, and slows down faster, before it rolls [1/s]."""
KICK_GATE = 16.0
"""Squared deviations, of three numbers, from which on the ball must have been kicked."""
KICK_DEVIATION = 3.0
"""Deviation of the velocity then [m/s]."""
MAX_KICK_SPEED = 12.0
"""Nobody kicks so hard: a ball that would be so fast was put elsewhere [m/s]."""
GONE_DEVIATION = 3.0
"""Deviation of the place of a ball that is not where it should be [m]."""
HEARD_DEVIATION = 0.3
"""Deviation of a place that team-mates tell [m]; it grows by the ball's speed and their age."""
SEEN_RECENTLY = 0.5
"""What was seen so lately needs no telling [s]."""


class BallTrack:
    """The ball's part of a player's filter.

    Args:
        estimate: the filter.
        radius: of the ball [m].
    """

    def __init__(self, estimate: Estimate, *, radius: float) -> None:
        self._estimate, self._radius = estimate, radius
        self.seen_ago = math.inf
        """Time since it was seen [s]."""
        self.told_ago = math.inf
        """Time since a team-mate told of it [s]."""
        self.forget()

    def forget(self) -> None:
        """Nothing is known of the ball."""
        self._place(0.0, 0.0, UNKNOWN_DEVIATION)
        self.seen_ago = self.told_ago = math.inf

    def _place(self, x: float, y: float, deviation: float) -> None:
        """Puts the ball to rest somewhere, with a deviation of its place."""
        e = self._estimate
        e.ball[:] = x, y, self._radius, 0.0, 0.0
        forget(e.cov, BALL, STATE_SIZE - BALL)
        e.cov[range(BALL, STATE_SIZE), range(BALL, STATE_SIZE)] = deviation**2, deviation**2, 0.1**2, 0.3**2, 0.3**2

    def noise(self, step: float) -> tuple[float, float]:
        """Variance that a time step adds to the velocity [m²/s²], and along its way for each m²/s² of it."""
        return step * (WATCHED_VARIANCE if self.seen_ago < 0.1 else UNWATCHED_VARIANCE), step * SLIDING_VARIANCE

    def pass_time(self, step: float) -> None:
        """Lets time pass; the filter's `predict` rolls the ball."""
        self.seen_ago += step
        self.told_ago += step

    def see(self, polar: Floats, camera: CameraPose) -> None:
        """Takes the ball's place in an image, (3,) polar."""
        e = self._estimate
        fresh = self.seen_ago < MAX_TRACK_AGE
        _see_ball(e, camera, polar, fresh, max(self.seen_ago, 0.02))
        self.seen_ago = 0.0

    def miss(self, camera: CameraPose) -> None:
        """The image has no ball: if it should be there, nobody knows where it is."""
        e = self._estimate
        if e.cov[BALL, BALL] < GONE_DEVIATION**2 and self.seen_ago < math.inf:
            way = e.turn.T @ (e.ball[:3] - e.place) - camera.centre
            x, y, z = (camera.turn.T @ way).tolist()
            far = math.sqrt(x * x + y * y + z * z)
            inside = max(abs(math.atan2(y, x)), abs(math.atan2(z, math.hypot(x, y)))) < HALF_VIEW - VIEW_EDGE
            if inside and far > MIN_VISIBLE_DISTANCE:
                self._place(float(e.ball[0]), float(e.ball[1]), GONE_DEVIATION)

    def hear(self, x: float, y: float, age: float) -> None:
        """A team-mate saw the ball at a place some time ago."""
        self.told_ago = min(self.told_ago, age)
        if self.seen_ago < SEEN_RECENTLY:
            return
        e, variance, delta = self._estimate, (HEARD_DEVIATION + age) ** 2, np.zeros(STATE_SIZE)
        off = (x - e.ball[0]) ** 2 / (variance + e.cov[BALL, BALL])
        off += (y - e.ball[1]) ** 2 / (variance + e.cov[BALL + 1, BALL + 1])
        if off > KICK_GATE:
            self._place(x, y, math.sqrt(variance))
            return
        for i, value in enumerate((x, y)):
            row = np.zeros(STATE_SIZE)
            row[BALL + i] = 1.0
            take(e.cov, delta, row, value - float(e.ball[i]), variance, STATE_SIZE)
        inject(e, delta)


UNKNOWN_DEVIATION = 20.0
"""Deviation of the place of a ball that nobody has seen [m]."""
MAX_TRACK_AGE = 3.0
"""A ball not seen for longer is found anew [s]."""
VIEW_EDGE = 0.17
"""So near to the edge of the view a ball may be just outside [rad]."""
MIN_VISIBLE_DISTANCE = 0.3
"""Nearer balls may be hidden by the limit of the camera [m]."""


@kernel
def _see_ball(estimate: Estimate, camera: CameraPose, polar: Floats, fresh: bool, since: float) -> int:
    """Takes the ball's polar coordinates (3,) into the filter; it rolled on (0), was kicked (1), or put there (2)."""
    place, turn, _, ball, cov = estimate
    seen = onto_pitch(polar, camera, place, turn)
    jump = math.hypot(seen[0] - ball[0], seen[1] - ball[1])
    if not fresh or jump > MAX_KICK_SPEED * since + 5.0 * math.sqrt(cov[BALL, BALL] + cov[BALL + 1, BALL + 1]):
        _find(place, cov, ball, seen, polar[0])
        return 2
    trial, delta = cov.copy(), np.zeros(STATE_SIZE)
    kicked = 0
    if _update(estimate, camera, polar, trial, delta) > KICK_GATE:
        kicked = 1
        for i in range(2):
            cov[ROLL + i, ROLL + i] += KICK_DEVIATION**2
            cov[BALL + i, BALL + i] += (KICK_DEVIATION * since) ** 2
        trial[:], delta[:] = cov, 0.0
        _update(estimate, camera, polar, trial, delta)
    cov[:] = trial
    inject(estimate, delta)
    return kicked


@kernel
def _update(estimate: Estimate, camera: CameraPose, polar: Floats, cov: Floats, delta: Floats) -> float:
    """Takes three numbers into covariance and errors; returns the sum of squared normalised innovations."""
    measured, sum_ = new_measured(), 0.0
    measure_point(polar, estimate.ball[:3], estimate.place, estimate.turn, camera, measured)
    for k in range(3):
        row = measured.rows[k]
        for i in range(3):  # the ball farther away is as the player farther back
            row[BALL + i] = -row[i]
        sum_ += take(cov, delta, row, measured.residuals[k], measured.variances[k], STATE_SIZE)
    return sum_


@kernel
def _find(place: Floats, cov: Floats, ball: Floats, seen: Floats, far: float) -> None:
    """Puts the ball where it is seen, at rest, with the errors that it shares with the pose."""
    forget(cov, BALL, STATE_SIZE - BALL)
    x, y, z = seen[0] - place[0], seen[1] - place[1], seen[2] - place[2]
    rows = np.zeros((3, 6))
    for i in range(3):
        rows[i, i] = 1.0
    rows[0, 4], rows[0, 5], rows[1, 3], rows[1, 5], rows[2, 3], rows[2, 4] = z, -y, -z, x, y, -x
    for i in range(3):
        for j in range(BALL):
            total = 0.0
            for k in range(6):
                total += rows[i, k] * cov[k, j]
            cov[BALL + i, j] = total
            cov[j, BALL + i] = total
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(6):
                total += cov[BALL + i, k] * rows[j, k]
            cov[BALL + i, BALL + j] = total
        cov[BALL + i, BALL + i] += (LEFT_NOISE * far) ** 2 + (DISTANCE_NOISE * far) ** 2 + MIN_NOISE**2
        ball[i] = seen[i]
    for i in range(2):
        ball[3 + i] = 0.0
        cov[ROLL + i, ROLL + i] = FOUND_DEVIATION**2


FOUND_DEVIATION = 0.5
"""Deviation of the velocity of a ball that is seen for the first time [m/s]."""


# ----------------------------------------------------------------------------------------------------
# Where the other players are, and whether they lie.
#
# Of a player up to five parts are seen. Who stands has its head above its feet, so that either tells where it is; of
# who lies both together do, and the head is low. Rows are players, team-mates 1 to 11 first, then opponents. Places
# are in the frame in which landmarks are named.


LYING_HEAD_HEIGHT = 0.33
"""Heads of who walks are at 0.45 m and more, of who lies below 0.2 m [m]."""


class OthersTrack:
    """What a player knows of all others.

    Args:
        team: name of the own team.
        number: own number; 0 while it is not known.
    """

    def __init__(self, *, team: str, number: int) -> None:
        self._team, self.number = team, number
        self.records = new_records(OtherRecord, 2 * MAX_PLAYERS)
        """(22,)."""
        self.records["x"], self.records["y"], self.records["age"] = math.nan, math.nan, math.inf

    def pass_time(self, step: float) -> None:
        """Lets what is known of others grow older by a time step, s."""
        self.records["age"] += step

    def see(self, sight: Sight, camera: CameraPose, place: Floats, turn: Floats) -> None:
        """Takes an image: where the parts of others are, from a pose (3,), (3, 3)."""
        if len(sight.numbers) > 1 or (sight.numbers and sight.numbers[0] != self.number):
            rows = [
                (number if team == self._team else MAX_PLAYERS + number) - 1 if 0 < number <= MAX_PLAYERS else -1
                for team, number in zip(sight.teams, sight.numbers, strict=True)
            ]
            _see_players(np.array(rows), sight.parts, camera, place, turn, self.number - 1, self.records)

    def hear(self, number: int, x: float, y: float, age: float) -> None:
        """A team-mate told where it stands; what was seen since then is better."""
        row = number - 1
        if number != self.number and 0 <= row < MAX_PLAYERS and age < self.records[row].age:
            mate = self.records[row]
            mate.x, mate.y, mate.age = x, y, age


@kernel
def _see_players(
    rows: Ints,
    parts: Floats,
    camera: CameraPose,
    place: Floats,
    turn: Floats,
    own: int,
    known: Records[OtherRecord],
) -> None:
    """Takes the parts of P players (P, 5, 3): head, lower arms, feet; seen from a pose (3,), (3, 3).

    `rows` (P,) are those of the players in `known` (22,); below 0 is nobody's.
    """
    for k in range(len(rows)):
        row = rows[k]
        if row < 0 or row == own:
            continue
        other = known[row]
        arms, feet, top = np.zeros(3), np.zeros(3), np.zeros(3)
        for part in range(5):
            if math.isnan(parts[k, part, 0]):
                continue
            where = onto_pitch(parts[k, part], camera, place, turn)
            sums = top if part == 0 else arms if part < 3 else feet
            sums[0] += where[0]
            sums[1] += where[1]
            sums[2] += 1.0
            if part == 0:
                other.lies = where[2] < LYING_HEAD_HEIGHT
        has_top, has_feet, has_arms = min(top[2], 1.0), min(feet[2], 1.0), min(arms[2], 1.0)
        if has_top + has_feet > 0.0:
            share = 1.0 / feet[2] if feet[2] > 0.0 else 0.0
            other.x = (top[0] + share * feet[0]) / (has_top + has_feet)
            other.y = (top[1] + share * feet[1]) / (has_top + has_feet)
        elif has_arms > 0.0:
            other.x, other.y = arms[0] / arms[2], arms[1] / arms[2]
        else:
            continue
        other.age = 0.0


# ----------------------------------------------------------------------------------------------------
# Which end of the pitch the own team defends, as far as a player can know.
#
# The league's server keeps the ends for the whole match; a rule book may change them at half time (`swap_ends`), and
# then nobody is told. Two things give it away: the numbers of the score change places, and who asks to be put into
# its own half finds itself in the other. The first shows only if the score is not even, the second within a few
# cycles of the first beam, which every team asks for before a kick-off. A player who never beams while the score is
# even cannot know.


BEAM_LATENCY = 0.04
"""A beam is carried out so long after it was asked for [s]."""
BEAM_PATIENCE = 0.5
"""And forgotten after so long, if nothing came of it [s]."""
BEAM_LANDING_DISTANCE = 0.6
"""Nearer than this to where it wished to be a player was put there [m]; noise is 0.07 m, others may be in the way."""


class Ends:
    """Which end the own team defends, as far as the player can know."""

    def __init__(self) -> None:
        self.side: Side | None = None
        """None while it was not told."""
        self.changes = 0
        """How often ends have changed."""
        self._score: tuple[int, int] | None = None
        self._wish: tuple[float, float, float] | None = None
        self._mode, self._may_beam = "", False

    @property
    def sign(self) -> int:
        """1 or -1: times a place on the pitch, the place as the own team sees it. 1 while the side is not known."""
        return 1 if self.side is None else self.side.sign

    def hear(self, game: GameView) -> None:
        """Takes what everybody is told."""
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
        if self._wish is None or now < self._wish[2] + BEAM_LATENCY - 1e-6:
            return
        if now > self._wish[2] + BEAM_PATIENCE:
            self._wish = None
            return
        here = math.hypot(self.sign * x - self._wish[0], self.sign * y - self._wish[1])
        there = math.hypot(self.sign * x + self._wish[0], self.sign * y + self._wish[1])
        if there < BEAM_LANDING_DISTANCE and here > 2 * BEAM_LANDING_DISTANCE:
            self._change()
        if min(here, there) < BEAM_LANDING_DISTANCE:
            self._wish = None


MAX_PERCEPT_GAP = 1.0
"""A gap between percepts is bridged up to this long [s]."""
LOST_DEVIATION = 10.0
"""Deviation of the place of who does not know where it is [m]."""
CAMERA_MISPLACEMENT = 0.004
"""Cameras are misplaced for good, which no filter sees: added to the deviation of the place [m]."""


class LeagueTracker:
    """What a player makes of its percepts.

    Args:
        field: the pitch.
        team: name of the own team, as in images and messages.
        number: own number; 0 for what the first percept tells.
        settings: of the localisation.
    """

    def __init__(
        self, field: FieldSettings, *, team: str, number: int = 0, settings: LocalisationSettings | None = None
    ) -> None:
        ball = load_ball(field.ball)
        self._estimate = new_estimate()
        self._where = Localisation(field, self._estimate, rolling=ball.rolling_damping, settings=settings)
        self._ball = BallTrack(self._estimate, radius=ball.radius)
        self._others = OthersTrack(team=team, number=number)
        self._ends, self._radius, self._time = Ends(), ball.radius, -math.inf
        self.record = new_records(BeliefRecord, 1)
        """(1,) what the player believes, as compiled tactics get it; written by every update."""

    @property
    def side(self) -> Side | None:
        """The side the own team plays from now; None before it is told."""
        return self._ends.side

    @property
    def number(self) -> int:
        """Own number; 0 before it is told."""
        return self._others.number

    @property
    def known(self) -> bool:
        """Whether the player knows where it is."""
        return self._where.known

    def update(self, percept: Percept, odometry: tuple[float, float, float], *, upright: bool) -> Belief:
        """Takes a percept; to be called every cycle.

        Args:
            percept: what the player is told.
            odometry: how far the legs went since the last cycle, ahead and to the left [m], and turned left [rad].
            upright: whether the player stands.
        """
        step = CONTROL_CYCLE if self._time < 0.0 else min(max(percept.time - self._time, 1e-3), MAX_PERCEPT_GAP)
        self._time = percept.time
        self._ends.hear(percept.game)
        if percept.game.number is not None:
            self._others.number = percept.game.number
        self._where.walk(percept.gyro, odometry, upright=upright, step=step, ball_noise=self._ball.noise(step))
        self._ball.pass_time(step)
        self._others.pass_time(step)
        if percept.sight is not None:
            self._see(percept.sight, percept)
        return self._believe(upright=upright)

    def _see(self, sight: Sight, percept: Percept) -> None:
        """Corrects pose, ball, others and ends by an image."""
        yaw, pitch = percept.angles[:2].tolist()
        camera = head_frame(math.radians(yaw), math.radians(pitch))
        where, e = self._where, self._estimate
        where.see(sight, camera, percept.acc)
        if not where.known:
            return
        if "B" in sight.labels:
            self._ball.see(sight.marks[sight.labels.index("B")], camera)
        else:
            self._ball.miss(camera)
        self._others.see(sight, camera, e.place, e.turn)
        self._ends.land(float(e.place[0]), float(e.place[1]), now=percept.time)

    def _believe(self, *, upright: bool) -> Belief:
        """What follows from the filter, in the team's frame."""
        e, sign, others, ball = self._estimate, self._ends.sign, self._others, self._ball
        x, y, heading, spread, heading_spread, ball_spread = summary(e.place, e.turn, e.ball, e.cov)
        if not self._where.known:
            spread, heading_spread = max(spread, LOST_DEVIATION), math.pi
        if sign < 0:
            x, y, heading = -x, -y, heading - math.copysign(math.pi, heading)
        height, own = max(float(e.ball[2]), self._radius), others.number - 1
        bx, by, _, vx, vy = (sign * e.ball).tolist()
        self.record[0] = (
            *(x, y, heading, spread, heading_spread),
            *(bx, by, vx, vy, ball_spread, height, ball.seen_ago, ball.told_ago),
            *(upright, others.records),
        )
        known = self.record["others"][0]
        if sign < 0:
            known["x"] *= -1.0
            known["y"] *= -1.0
        if own >= 0:
            known[own] = x, y, 0.0, not upright
        return belief_of(self.record, self._time)

    def hear_mate(
        self, number: int, place: Sequence[float] | Floats, ball_place: Sequence[float] | Floats | None, age: float
    ) -> None:
        """Takes what a team-mate told: where it is, where the ball is, both in the team's frame, and how old that is.

        Args:
            number: of the team-mate.
            place: (2,) where it stands [m].
            ball_place: (2,) where it sees the ball [m]; None if it does not.
            age: of what it told [s].
        """
        sign = self._ends.sign
        self._others.hear(number, sign * float(place[0]), sign * float(place[1]), age)
        if ball_place is not None:
            self._ball.hear(sign * float(ball_place[0]), sign * float(ball_place[1]), age)

    def beamed(self, x: float, y: float) -> None:
        """The player asks, with its answer to the last percept, to be put at a place in the team's frame."""
        self._ends.beamed(x, y, now=self._time)


@kernel
def summary(place: Floats, turn: Floats, ball: Floats, cov: Floats) -> tuple[float, float, float, float, float, float]:
    """Place, heading, deviations of both, and the deviation of the ball as the player sees it."""
    spread = math.sqrt((cov[PLACE, PLACE] + cov[PLACE + 1, PLACE + 1]) / 2.0 + CAMERA_MISPLACEMENT**2)
    yaw = TURN + 2
    total = 0.0
    for i in range(2):
        lever = ball[1] - place[1] if i == 0 else place[0] - ball[0]
        p, b = PLACE + i, BALL + i
        total += cov[p, p] + cov[b, b] + lever * lever * cov[yaw, yaw]
        total += 2.0 * (lever * (cov[b, yaw] - cov[p, yaw]) - cov[p, b])
    return (
        place[0],
        place[1],
        math.atan2(turn[1, 0], turn[0, 0]),
        spread,
        math.sqrt(cov[yaw, yaw]),
        math.sqrt(max(total, 0.0) / 2.0),
    )
