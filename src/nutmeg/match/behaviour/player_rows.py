"""One match of the behavioural world laid out for its kernels: a record for each player, and one for the ball.

    players, ball = np.zeros(22, PLAYER), np.zeros(1, BALL)
    count = load(rows, m, players, ball[0])                  # from the arrays of all matches
    ...                                                      # kernels read and write players[:count] and ball[0]
    store(rows, m, players[:count], ball[0])                 # and back

A record is passed on as one address, where the two dozen arrays of a `state.Rows` would be copied at each call: that is
most of what a cycle would cost. All are compiled. Units are those of `state`; what is along no axis of `state` is said
here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.compiled import kernel
from nutmeg.match.slots import SLOTS

if TYPE_CHECKING:
    from nutmeg.match.behaviour.state import Rows

_WHOLE = ("slot", "posture", "kick", "touched", "kicked", "fell", "legs", "order_kick")
_ORDERED = ("wish_ahead", "wish_left", "wish_turn", "order_strength", "look_yaw", "look_pitch")
_KEPT = ("x", "y", "heading", "pace_ahead", "pace_left", "pace_turn", "yaw", "pitch", "busy", "fallen_to", "strength")
_MADE = ("ahead", "left", "turn", "believed_ahead", "believed_left", "believed_turn")
_ALSO = ("cos", "sin", "vx", "vy", "reach", "start_x", "start_y", "start_heading", "risk", "shove_x", "shove_y")

PLAYER = np.dtype([(n, np.int64) for n in _WHOLE] + [(n, np.float64) for n in _ORDERED + _KEPT + _MADE + _ALSO])
"""A player. Beside what `state` has:

cos, sin: of the heading
vx, vy: how it walks over the pitch in this cycle [m/s]
reach: no part of it is farther from its place [m]
start_x, start_y, start_heading: its pose at the beginning of the cycle
risk, shove_x, shove_y: the hazard of this cycle's collisions, and the direction on the pitch in which they push
"""
BALL = np.dtype(
    [("seed", np.uint64), ("cycle", np.int64)] + [(n, np.float64) for n in ("x", "y", "vx", "vy", "radius")]
)
"""The ball, and of which match and cycle it is, for what is drawn by lot."""


@kernel
def load(rows: Rows, m: int, players: Any, ball: Any) -> int:  # noqa: ANN401 (numpy records)
    """Copies a match from the arrays of all; how many players it has. Nothing has happened to them yet."""
    ball.seed, ball.cycle = rows.seed[m], rows.cycle[m]
    ball.x, ball.y, ball.vx, ball.vy = rows.ball[m, 0], rows.ball[m, 1], rows.ball_speed[m, 0], rows.ball_speed[m, 1]
    count = 0
    for i in range(SLOTS):
        if not rows.present[m, i]:
            continue
        p = players[count]
        count += 1
        p.slot, p.posture, p.kick = i, rows.posture[m, i], rows.kick[m, i]
        p.touched, p.kicked, p.fell = 0, 0, 0
        p.legs, p.order_kick, p.order_strength = rows.order_legs[m, i], rows.order_kick[m, i], rows.order_strength[m, i]
        p.wish_ahead, p.wish_left = rows.order_wish[m, i, 0], rows.order_wish[m, i, 1]
        p.wish_turn = rows.order_wish[m, i, 2]
        p.look_yaw, p.look_pitch = rows.order_look[m, i, 0], rows.order_look[m, i, 1]
        p.x, p.y, p.heading = rows.pose[m, i, 0], rows.pose[m, i, 1], rows.pose[m, i, 2]
        p.pace_ahead, p.pace_left, p.pace_turn = rows.pace[m, i, 0], rows.pace[m, i, 1], rows.pace[m, i, 2]
        p.yaw, p.pitch, p.busy = rows.head[m, i, 0], rows.head[m, i, 1], rows.busy[m, i]
        p.fallen_to, p.strength = rows.fallen_to[m, i], rows.strength[m, i]
        p.start_x, p.start_y, p.start_heading = p.x, p.y, p.heading
        p.cos, p.sin = math.cos(p.heading), math.sin(p.heading)
        p.vx, p.vy, p.risk, p.shove_x, p.shove_y = 0.0, 0.0, 0.0, 0.0, 0.0
    return count


@kernel
def store(rows: Rows, m: int, players: Any, ball: Any) -> None:  # noqa: ANN401
    """Copies a match back, and counts the cycle."""
    rows.cycle[m] += 1
    rows.ball_before[m, 0], rows.ball_before[m, 1] = rows.ball[m, 0], rows.ball[m, 1]
    rows.ball[m, 0], rows.ball[m, 1], rows.ball_speed[m, 0], rows.ball_speed[m, 1] = ball.x, ball.y, ball.vx, ball.vy
    for k in range(len(players)):
        p = players[k]
        i = p.slot
        rows.posture[m, i], rows.kick[m, i], rows.strength[m, i] = p.posture, p.kick, p.strength
        rows.touched[m, i], rows.kicked[m, i], rows.fell[m, i] = p.touched != 0, p.kicked != 0, p.fell != 0
        rows.pose[m, i, 0], rows.pose[m, i, 1], rows.pose[m, i, 2] = p.x, p.y, p.heading
        rows.pace[m, i, 0], rows.pace[m, i, 1], rows.pace[m, i, 2] = p.pace_ahead, p.pace_left, p.pace_turn
        rows.speed[m, i, 0], rows.speed[m, i, 1], rows.speed[m, i, 2] = p.ahead, p.left, p.turn
        rows.odometry[m, i, 0], rows.odometry[m, i, 1] = p.believed_ahead, p.believed_left
        rows.odometry[m, i, 2] = p.believed_turn
        rows.head[m, i, 0], rows.head[m, i, 1] = p.yaw, p.pitch
        rows.busy[m, i], rows.fallen_to[m, i] = p.busy, p.fallen_to
