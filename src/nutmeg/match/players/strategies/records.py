"""Rows of plain numbers between players and compiled strategies: what each column means.

    row = belief_row(view.belief)               # (101,) what a player believes, in its team's frame
    row[BALL_X], row[others_column(OPPONENTS, 3)]

A strategy is compiled once and plays thousands of players at a time, so that it gets no objects: a row for what a
player believes, one for the game, one for the ground it plays on and what its body can do, one for the traits of the
strategy, one that it keeps in mind itself; and it fills one with what it wants. Metres, seconds, radians.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.match.rules.book import MAX_PLAYERS

if TYPE_CHECKING:
    from nutmeg.match.players.belief import Belief, Others


X, Y, HEADING, SPREAD, TURN_SPREAD = 0, 1, 2, 3, 4
"""Of a belief: the own pose, and how uncertain it is."""
BALL_X, BALL_Y, BALL_VX, BALL_VY, BALL_SPREAD, BALL_HEIGHT, SEEN, TOLD = 5, 6, 7, 8, 9, 10, 11, 12
"""The ball, and how long ago the player saw it or was told of it."""
UPRIGHT = 13
MATES, OPPONENTS = 14, 14 + 4 * MAX_PLAYERS
"""Where others begin: x, y, age and whether they lie, number by number."""
BELIEF = 14 + 8 * MAX_PLAYERS
"""Width of a belief."""

TIME, MODE, SIDE, NUMBER, PLAYERS, DOING_KICK = 0, 1, 2, 3, 4, 5
"""Of the game: time of the world, play mode, own side, number, players of the own team, whether a kick goes on."""
GAME = 6

LENGTH, WIDTH, GOAL, AREA_DEPTH, AREA_WIDTH, CIRCLE = 0, 1, 2, 3, 4, 5
"""Of the ground: measures of the pitch."""
AWAY = 6
"""How far to keep from the ball when others put it into play."""
AHEAD, BACK, ASIDE, TURN = 7, 8, 9, 10
"""Top speeds."""
KICK_X, KICK_Y, KICK_OFF_X, KICK_OFF_Y, REACH = 11, 12, 13, 14, 15
"""Where the ball must lie for the left foot, how far off that it may lie, and how far a full kick goes."""
EYES, TILT = 16, 17
"""Height of the cameras, and how much further down the lower one looks."""
ONE_TOUCH = 18
"""Whether who has put the ball into play must leave it to somebody else."""
SLOWS, DAMPED = 19, 20
"""How a rolling ball slows down: m/s^2, and 1/s."""
DIVE_REACH = 21
GROUND = 22

PLAYS, CHASERS, AIMS, KICKS, KEEPER, DIVES, POSTS, PASSES, AVOIDS, PACE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
"""Traits of a strategy, see `strategies.Strategy`."""
TRAITS = 10

LAST_MODE, SINCE, BEAMED, GOES, BARRED, FOOT, FIRST_SIDE, DIVED, STARTED = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""What a player keeps in mind: mode and since when, when it was beamed, whether it goes for the ball, since when
it must not touch it, the foot it is going to kick with, its first side (plus 1), when it dived, and whether play has
begun."""
MIND = 9

LEGS, WISH, KICK, STRENGTH, YAW, PITCH, BEAMS, BEAM, INTENT = 0, 1, 4, 5, 6, 7, 8, 9, 12
"""Of an order: `Legs`, three speeds, `KickKind`, strength, head, whether to be beamed and where to, and what for."""
ORDER = 13

INTENTS = (
    "stand",
    "line up",
    "to the ball",
    "around the ball",
    "get ready to kick",
    "kick",
    "dribble",
    "keep the goal",
    "hold the post",
    "wait for their kick",
    "look for the ball",
    "leave the ball to others",
    "get up",
    "wander",
    "dive",
    "pass",
)
"""What players want, in words."""


def belief_row(belief: Belief) -> Floats:
    """A belief as a row, (102,)."""
    row = np.empty(BELIEF)
    me, ball = belief.me, belief.ball
    row[:UPRIGHT] = (
        *(me.x, me.y, me.heading, me.spread, me.heading_spread),
        *(ball.place[0], ball.place[1], ball.velocity[0], ball.velocity[1]),
        *(ball.spread, ball.height, ball.seen_ago, ball.told_ago),
    )
    row[UPRIGHT] = belief.upright
    for first, others in ((MATES, belief.mates), (OPPONENTS, belief.opponents)):
        table = row[first : first + 4 * MAX_PLAYERS].reshape(MAX_PLAYERS, 4)
        table[:, :2], table[:, 2], table[:, 3] = others.places, others.ages, others.fallen
    return row


def belief_of(row: Floats, time: float) -> Belief:
    """The belief of a row; arrays are copies."""
    from nutmeg.match.players.belief import BallBelief, Belief, Pose

    x, y, heading, spread, turn_spread, ball_x, ball_y, vx, vy, ball_spread, height, seen, told = row[:UPRIGHT].tolist()
    return Belief(
        time=time,
        me=Pose(x=x, y=y, heading=heading, spread=spread, heading_spread=turn_spread),
        ball=BallBelief(
            place=np.array([ball_x, ball_y]),
            height=height,
            velocity=np.array([vx, vy]),
            spread=ball_spread,
            seen_ago=seen,
            told_ago=told,
        ),
        mates=_others(row[MATES:OPPONENTS]),
        opponents=_others(row[OPPONENTS:BELIEF]),
        upright=bool(row[UPRIGHT]),
    )


def _others(row: Floats) -> Others:
    from nutmeg.match.players.belief import Others

    table = row.reshape(MAX_PLAYERS, 4)
    return Others(places=table[:, :2].copy(), ages=table[:, 2].copy(), fallen=table[:, 3] > 0.5)


def new_minds(*shape: int) -> Floats:
    """Minds that know nothing, (..., 9)."""
    minds = np.zeros((*shape, MIND))
    minds[..., [LAST_MODE]] = -1.0
    minds[..., [BEAMED, BARRED, DIVED]] = -math.inf
    return minds
