"""What a player believes, as records for compiled code.

    beliefs = new_records(BeliefRecord, 512, 22)
    beliefs["ball_x"][7, 3], beliefs["others"]["age"][7, 3, 11:]
    belief_of(beliefs[7, 3:4], time=12.3)               # the same as an object, for players in Python
    belief_record(percept.belief)                       # and back

Functions between Python and kernels take arrays of one record: numba is slow to find the type of a single one.
A belief is in the frame of the player's own team, which attacks +x: metres, seconds, radians.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nutmeg.base.records import Records, new_records
from nutmeg.match.players.belief import BallBelief, Belief, Others, Pose
from nutmeg.match.rules.book import MAX_PLAYERS


@dataclass
class OtherRecord:
    """Where another player is believed to be."""

    x: float
    """NaN if nothing was ever known."""
    y: float
    age: float
    """Time since it was seen or told of itself, s."""
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
    told_ago: float
    """Time since a team-mate told of the ball, s."""
    upright: bool
    others: Records[OtherRecord] = field(metadata={"length": 2 * MAX_PLAYERS})
    """(22,) the own team by number, in which the player's own row is its own pose; then the opponents."""


def belief_record(belief: Belief) -> Records[BeliefRecord]:
    """(1,) a belief as a record."""
    me, ball = belief.me, belief.ball
    records = new_records(BeliefRecord, 1)
    others = np.zeros(2 * MAX_PLAYERS, records.dtype["others"].base)
    for rows, team in ((slice(0, MAX_PLAYERS), belief.mates), (slice(MAX_PLAYERS, None), belief.opponents)):
        others["x"][rows], others["y"][rows] = team.places.T
        others["age"][rows], others["lies"][rows] = team.ages, team.fallen
    records[0] = (
        *(me.x, me.y, me.heading, me.spread, me.heading_spread),
        *(*ball.place, *ball.velocity, ball.spread, ball.height, ball.seen_ago, ball.told_ago),
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
            told_ago=told,
        ),
        mates=_others(others[:MAX_PLAYERS]),
        opponents=_others(others[MAX_PLAYERS:]),
        upright=upright,
    )


def _others(records: Records[OtherRecord]) -> Others:
    places = np.empty((len(records), 2))
    places[:, 0], places[:, 1] = records["x"], records["y"]
    return Others(places=places, ages=records["age"].copy(), fallen=records["lies"].copy())
