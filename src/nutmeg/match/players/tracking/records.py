"""What a player believes, as records for compiled code.

    beliefs = new_records(BeliefRecord, 512, 22)
    beliefs["ball_x"][7, 3], beliefs["others"]["age"][7, 3, 11:]
    belief_of(beliefs[7, 3], time=12.3)                 # the same as an object, for players in Python
    belief_record(percept.belief)                       # and back

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


def belief_record(belief: Belief) -> BeliefRecord:
    """A belief as a record."""
    me, ball = belief.me, belief.ball
    record = new_records(BeliefRecord, 1)[0]
    record.x, record.y, record.heading = me.x, me.y, me.heading
    record.spread, record.heading_spread = me.spread, me.heading_spread
    record.ball_x, record.ball_y = ball.place.tolist()
    record.ball_vx, record.ball_vy = ball.velocity.tolist()
    record.ball_spread, record.ball_height = ball.spread, ball.height
    record.seen_ago, record.told_ago, record.upright = ball.seen_ago, ball.told_ago, belief.upright
    for rows, team in ((slice(0, MAX_PLAYERS), belief.mates), (slice(MAX_PLAYERS, None), belief.opponents)):
        others = record.others[rows]
        others["x"], others["y"] = team.places.T
        others["age"], others["lies"] = team.ages, team.fallen
    return record


def belief_of(record: BeliefRecord, time: float) -> Belief:
    """The belief of a record; its arrays are copies."""
    return Belief(
        time=time,
        me=Pose(
            x=float(record.x),
            y=float(record.y),
            heading=float(record.heading),
            spread=float(record.spread),
            heading_spread=float(record.heading_spread),
        ),
        ball=BallBelief(
            place=np.array([record.ball_x, record.ball_y]),
            height=float(record.ball_height),
            velocity=np.array([record.ball_vx, record.ball_vy]),
            spread=float(record.ball_spread),
            seen_ago=float(record.seen_ago),
            told_ago=float(record.told_ago),
        ),
        mates=_others(record.others[:MAX_PLAYERS]),
        opponents=_others(record.others[MAX_PLAYERS:]),
        upright=bool(record.upright),
    )


def _others(records: Records[OtherRecord]) -> Others:
    places = np.stack([records["x"], records["y"]], axis=-1)
    return Others(places=places, ages=records["age"].copy(), fallen=records["lies"].copy())
