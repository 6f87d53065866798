"""A player's belief as records for compiled code.

    beliefs = new_records(BeliefRecord, 512, 22)
    beliefs["ball_x"][7, 3], beliefs["others"]["age"][7, 3, 11:]
    belief_of(beliefs[7, 3:4], time=12.3)               # the same as an object, for players in Python
    belief_record(percept.belief)                       # and back

Functions between Python and kernels take arrays of one record: numba is slow to find the type of a single one.
A belief is in the frame of the player's own team, which attacks +x: metres, seconds, radians.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.records import Records, new_records
from nutmeg.match.players.belief import BallBelief, Belief, Others, Pose
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.worlds.behavioural.eyes import TrackerSettings
from nutmeg.match.worlds.behavioural.sonar import SonarNumbers

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.match.worlds.behavioural.vision import SightingRecord


@dataclass
class OtherRecord:
    """Where another player is believed to be."""

    x: float
    """NaN if nothing was ever known."""
    y: float
    vx: float
    """Velocity on the pitch, m/s; 0 if it is not known."""
    vy: float
    age: float
    """Time since it was seen or heard, s."""
    lies: bool


@dataclass
class BeliefRecord:
    """All that a player believes, as `players.belief.Belief` has it."""

    x: float
    y: float
    heading: float
    spread: float
    """Standard deviation of the own place, m."""
    heading_spread: float
    ball_x: float
    ball_y: float
    ball_vx: float
    ball_vy: float
    ball_spread: float
    ball_height: float
    seen_ago: float
    """Time since the player saw the ball, s."""
    heard_ago: float
    """Age of the last report of a team-mate about the ball, s."""
    upright: bool
    others: Records[OtherRecord] = field(metadata={"length": 2 * MAX_PLAYERS})
    """(22,) the own team by number, in which the player's own row is its own pose; then the opponents."""


@dataclass
class PoseFilter:
    """The covariance of a pose (x, y, heading t) and of the slip (ahead a, left b), and the odometer."""

    xx: float
    xy: float
    yy: float
    xt: float
    yt: float
    tt: float
    slip_ahead: float
    """How much faster the player is than its odometry says, m/s."""
    slip_left: float
    xa: float
    ya: float
    ta: float
    xb: float
    yb: float
    tb: float
    aa: float
    ab: float
    bb: float
    odometer_x: float
    """Where the player would be by its odometry and slip alone."""
    odometer_y: float
    odometer_heading: float
    misfit: float
    """Share of the landmarks seen lately that fit nothing."""


@dataclass
class BallFilter:
    """The ball in the odometer's frame: place (x, y), velocity (u, v), and their covariance."""

    x: float
    y: float
    u: float
    v: float
    xx: float
    xy: float
    yy: float
    xu: float
    xv: float
    yu: float
    yv: float
    uu: float
    uv: float
    vv: float
    surprises: int
    """How often in a row the ball was not where it should be."""


@dataclass
class OtherFilter:
    """The covariance of another player's place and velocity along each axis of the pitch, the same for both axes."""

    xx: float
    """Variance of the place, m^2."""
    xu: float
    """Covariance of place and velocity, m^2/s."""
    uu: float
    """Variance of the velocity, m^2/s^2."""


@dataclass
class MindRecord:
    """The state of a player's tracker between cycles; strategies get its belief."""

    belief: BeliefRecord
    pose: PoseFilter
    ball: BallFilter
    others: Records[OtherFilter] = field(metadata={"length": 2 * MAX_PLAYERS})
    """(22,) rows as in the belief."""


@dataclass(frozen=True)
class TrackerNumbers:
    """The numbers of a tracker: its settings, and what follows from cameras, ball and pitch."""

    settings: TrackerSettings
    bearing_noise: float
    """Deviation of a bearing, rad."""
    crossing_noise: float
    """Deviation of the direction of a crossing, rad."""
    rolling: float
    """Deceleration of a rolling ball, m/s^2."""
    damping: float
    """Damping of a rolling ball in proportion to its speed, 1/s."""
    apart: float
    """Number of landmarks by which a new pose must fit better than any other."""
    prior_penalty: float
    """Penalty of a new pose for each metre from the believed one, in landmarks."""
    reach_x: float
    """Largest distance of players from the middle of the pitch along x, m."""
    reach_y: float
    sonar: SonarNumbers


@dataclass
class LandmarkRecord:
    """A landmark in the frame of a team."""

    x: float
    y: float
    turn: float
    """Direction of a crossing, rad; else NaN."""
    number: int
    """The number that is recognised with it, or 0."""


class LandmarkTable(NamedTuple):
    """The landmarks of a pitch, sorted by kind, and its lines."""

    landmarks: Records[LandmarkRecord]
    first: Ints
    """(kinds + 1,) where each kind begins."""
    lines: Floats
    """(L, 4) x and y of both ends of straight pieces, m; none where lines are not looked at."""


@dataclass
class LinePart:
    """A straight part of a line in the body's frame, ahead and to the left; a single point has both ends there."""

    ahead: float
    left: float
    spread: float
    """Deviation of the first end, m."""
    other_ahead: float
    other_left: float
    other_spread: float


class Motion(NamedTuple):
    """How a player has moved in a cycle, and how far that is trusted."""

    step: float
    """The time that has passed, s."""
    ahead: float
    """Odometry: ahead and to the left in the frame half way through the turn, m, and turned left, rad."""
    left: float
    turn: float
    place_variance: float
    """Variance of the place that the cycle adds, m^2."""
    turn_variance: float
    """Variance of the heading that the cycle adds, rad^2."""
    slip: float
    """Deviation of the slip that lasts for `TrackerSettings.slip_time`, m/s; 0 where slip is not estimated."""
    push: float
    """Variance of the ball's velocity that the cycle adds, m^2/s^2."""


STILL = Motion(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The motion of a player in zero time."""


class Observations(NamedTuple):
    """Observations of the players of M matches in a cycle."""

    things: Records[Records[Records[SightingRecord]]]
    """(M, 22, things) of which the first `counts` are seen."""
    counts: Ints
    """(M, 22) how many things are seen."""
    sonar: Floats
    """(M, 22, 2) distances to the left and to the right, m; NaN where nothing answers."""
    parts: Records[LinePart]
    """(0,) of lines: symbolic vision shows none."""


def belief_record(belief: Belief) -> Records[BeliefRecord]:
    """(1,) a belief as a record."""
    me, ball = belief.me, belief.ball
    records = new_records(BeliefRecord, 1)
    others = np.zeros(2 * MAX_PLAYERS, records.dtype["others"].base)
    for rows, team in ((slice(0, MAX_PLAYERS), belief.mates), (slice(MAX_PLAYERS, None), belief.opponents)):
        others["x"][rows], others["y"][rows] = team.places.T
        others["vx"][rows], others["vy"][rows] = team.velocities.T
        others["age"][rows], others["lies"][rows] = team.ages, team.fallen
    records[0] = (
        *(me.x, me.y, me.heading, me.spread, me.heading_spread),
        *(*ball.place, *ball.velocity, ball.spread, ball.height, ball.seen_ago, ball.heard_ago),
        *(belief.upright, others),
    )
    return records


def belief_of(records: Records[BeliefRecord], time: float) -> Belief:
    """The belief of a record, the first of an array; its arrays are copies."""
    x, y, heading, spread, heading_spread, ball_x, ball_y, vx, vy, ball_spread, height, seen, told, upright, _ = (
        records[0].tolist()  # type: ignore[attr-defined]
    )
    others = records["others"][0]
    return Belief(
        time=time,
        me=Pose(x=x, y=y, heading=heading, spread=spread, heading_spread=heading_spread),
        ball=BallBelief(
            place=np.array([ball_x, ball_y]),
            height=height,
            velocity=np.array([vx, vy]),
            spread=ball_spread,
            seen_ago=seen,
            heard_ago=told,
        ),
        mates=_others(others[:MAX_PLAYERS]),
        opponents=_others(others[MAX_PLAYERS:]),
        upright=upright,
    )


def _others(records: Records[OtherRecord]) -> Others:
    places, velocities = np.empty((2, len(records), 2))
    places[:, 0], places[:, 1] = records["x"], records["y"]
    velocities[:, 0], velocities[:, 1] = records["vx"], records["vy"]
    return Others(places=places, velocities=velocities, ages=records["age"].copy(), fallen=records["lies"].copy())
