"""Skills for players of your own: line up, walk somewhere, get behind the ball and kick it, look.

    def decide(percept, memory):
        waiting = line_up(percept, memory)
        if waiting is not None:
            return waiting
        legs = play_ball(percept.belief, memory, aim=goal_ahead(percept.belief, memory))
        return Request(legs=legs, look=look_at_ball(percept.belief, memory))

Each is a plain function of a `Belief` and a `Memory` (see `decide`) and can be replaced by something better. Places are
as the own team sees the pitch, which attacks +x, m; angles rad.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.match.players.request import Kick, Legs, Look, Request, Stand, Walk
from nutmeg.match.rules.play_modes import PlayMode, may_beam, mode_named, side_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.decide import Memory, View

POSITION_GAIN = 2.0
"""Speed for each metre or radian that is missing, 1/s."""
BEHIND_BALL_DISTANCE, CIRCLING_DISTANCE = 0.22, 0.35
"""How far from the ball a player stands behind it, and while it walks around it, m."""
ALIGNED_ANGLE, KICK_ANGLE = 0.35, 0.15
"""How far to a side of its aim a player may stand behind the ball, and look when it kicks, rad."""
BALL_LOST_AGE = 1.5
"""A ball that nothing was known of for so long is searched for, s."""
GLANCE_TIME, GLANCE_INTERVAL = 0.6, 2.4
"""How long, and how often, a player looks for a goal to know where it is, s."""
KICK_OFF_PLACES = ((-0.93, 0.0), (-0.12, 0.32), (-0.35, -0.45), (-0.55, 0.2), (-0.55, -0.2))
"""Places of numbers 1, 2, ... before a kick-off, in halves of the pitch's length and width."""


def line_up(percept: View, memory: Memory, belief: Belief | None = None) -> Request | None:
    """What to do while the own team may not play the ball; None if it may.

    Before a kick-off it takes its place in its own half; while the other team has the ball, it stands.

    Args:
        percept: what is told.
        memory: knows the pitch.
        belief: what is believed, if it is not the built-in tracker's.
    """
    mode = mode_named(percept.game.mode)
    look = look_at_ball(percept.belief if belief is None else belief, memory)
    if may_beam(mode):
        x, y = KICK_OFF_PLACES[(percept.number - 1) % len(KICK_OFF_PLACES)]
        place = x * memory.pitch.length / 2, y * memory.pitch.width / 2
        heading = math.degrees(math.atan2(-place[1], -place[0]))
        return Request(beam=(*place, heading), look=look, intent="line up")
    if mode is PlayMode.PLAY_ON or side_of(mode) is percept.side:
        return None
    return Request(look=look, intent="wait")


def walk_to(belief: Belief, memory: Memory, place: ArrayLike, *, face: float | None = None) -> Walk | Stand:
    """Walks to a place (2,), and looks into a direction when it is near; stands if it is there.

    Args:
        belief: what is believed.
        memory: knows the body.
        place: where to.
        face: where to look there; None for anywhere.
    """
    body = memory.body
    ahead, left = belief.to_body(np.asarray(place, float)).tolist()
    way, bearing = math.hypot(ahead, left), math.atan2(left, ahead)
    turn = 0.0 if face is None else wrap_angle_exactly(face - belief.me.heading)
    if way < 0.08 and abs(turn) < 0.25:
        return Stand()
    if way > 0.5 or face is None:
        turn = bearing
    speed = min(1.0, POSITION_GAIN * way / body.ahead) * (max(0.5 + 0.5 * math.cos(bearing), 0.1) if way > 0.5 else 1.0)
    top = 1.0 / math.hypot(math.cos(bearing) / body.ahead, math.sin(bearing) / body.side)
    return Walk(
        ahead=speed * top * math.cos(bearing),
        left=speed * top * math.sin(bearing),
        turn=_clip(POSITION_GAIN * turn, body.turn),
    )


def play_ball(belief: Belief, memory: Memory, *, aim: float, strength: float = 1.0) -> Legs:
    """Walks around the ball until it lies between oneself and the aim, and kicks it.

    Args:
        belief: what is believed.
        memory: knows the body.
        aim: direction in which the ball is to go.
        strength: of the kick, 0..1.
    """
    ball = belief.ball.place + 0.3 * belief.ball.velocity
    if belief.ball.age > BALL_LOST_AGE:
        return Walk(turn=0.7 * memory.body.turn)
    ahead, left = belief.to_body(ball).tolist()
    away, bearing = math.hypot(ahead, left), belief.me.heading + math.atan2(left, ahead)
    missing = wrap_angle_exactly(aim - bearing)
    if away < 2 * CIRCLING_DISTANCE and abs(missing) < ALIGNED_ANGLE:
        return _strike(belief, memory, aim, strength)
    if away > 2 * CIRCLING_DISTANCE and abs(missing) < 1.2:
        place = ball - CIRCLING_DISTANCE * _towards(aim)
    else:
        place = ball - (BEHIND_BALL_DISTANCE if abs(missing) < 2 * ALIGNED_ANGLE else CIRCLING_DISTANCE) * _towards(
            bearing + _clip(missing, 0.8)
        )
    return walk_to(belief, memory, place, face=bearing)


def _strike(belief: Belief, memory: Memory, aim: float, strength: float) -> Legs:
    """Gets the ball before the nearer foot and kicks."""
    body, (ahead, left) = memory.body, belief.to_body(belief.ball.place).tolist()
    turn = wrap_angle_exactly(aim - belief.me.heading)
    foot = math.copysign(body.kick_place[1], left + 0.15 * turn)
    off_ahead, off_left = ahead - body.kick_place[0], left - foot
    near = abs(off_ahead) < body.kick_slack[0] and abs(off_left) < body.kick_slack[1]
    if near and abs(turn) < KICK_ANGLE and float(np.hypot(*belief.ball.velocity)) < 0.25:
        return Kick(ball=(ahead, left), strength=strength, foot="left" if foot > 0 else "right")
    fits = abs(off_left) < 2 * body.kick_slack[1] and abs(turn) < 0.3
    turns = _clip(POSITION_GAIN * turn, body.turn)
    return Walk(
        ahead=_clip(POSITION_GAIN * (off_ahead if fits else off_ahead - 0.05), 0.6 * body.ahead),
        left=_clip(POSITION_GAIN * off_left - body.kick_place[0] * turns, body.side),  # who turns goes around the ball
        turn=turns,
    )


def goal_ahead(belief: Belief, memory: Memory) -> float:
    """The direction from the ball to the opponents' goal."""
    x, y = belief.ball.place.tolist()
    aim = _clip(y, 0.2 * memory.pitch.goal_width)
    return math.atan2(aim - y, memory.pitch.length / 2 + 0.15 - x)


def look_at_ball(belief: Belief, memory: Memory) -> Look:
    """At the ball, now and then at a goal, and around if the ball is lost."""
    if belief.ball.age > BALL_LOST_AGE:
        return Look(yaw=1.6 * math.sin(2.4 * belief.time), pitch=-0.2)
    if belief.time % GLANCE_INTERVAL < GLANCE_TIME and belief.me.spread > 0.1:
        goal = memory.pitch.length / 2 * (1.0 if math.cos(belief.me.heading) > 0 else -1.0)
        return look_at(belief, memory, (goal, 0.0))
    return look_at(belief, memory, belief.ball.place)


def look_at(belief: Belief, memory: Memory, place: ArrayLike) -> Look:
    """At a place (2,) on the ground, with the camera that shows it best."""
    ahead, left = belief.to_body(np.asarray(place, float)).tolist()
    below = math.atan2(memory.body.eyes, max(math.hypot(ahead, left), 0.05))
    pitch = memory.body.lower_eye - below if below > 0.55 * memory.body.lower_eye else -below
    return Look(yaw=math.atan2(left, ahead), pitch=pitch)


def _towards(direction: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([math.cos(direction), math.sin(direction)])


def _clip(value: float, most: float) -> float:
    return max(-most, min(most, value))
