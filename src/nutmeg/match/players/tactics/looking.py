"""Where a player looks: at the ball, at landmarks, and around when its pose or the ball is lost.

There are two kinds of eyes. The league's camera sees 60 degrees to each side with the same accuracy everywhere, so a
player can keep the ball near the edge of its view while it looks at landmarks; it does so when its pose is uncertain.
A player that walks looks where it goes, and glances at a ball that lies elsewhere: robots that walk into others fall.
Two cameras with a narrow view show either the ball or a goal: such a player looks at the ball most of the time, and at
intervals for a goal. A player that has lost its pose or the ball sweeps its head from side to side; the angle of the
sweep is a function of time, so it needs no state.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.kernels import inlined, unchecked
from nutmeg.match.players.tactics.walking import clip, length
from nutmeg.match.players.tracking.league_sight import HALF_VIEW, NECK_HEIGHT, NOD_HEIGHT
from nutmeg.match.players.tracking.league_sight import YAW_LIMIT as WIDE_YAW_LIMIT
from nutmeg.match.worlds.behavioural.state import Legs

if TYPE_CHECKING:
    from nutmeg.match.players.tactics.records import GroundRecord, PlayerContext
    from nutmeg.match.players.tracking.records import BeliefRecord

# ---- one camera with a wide view

CERTAIN_PLACE, UNCERTAIN_PLACE = 0.04, 0.3
"""Standard deviation of the own place below which a player looks straight at the ball, and above which it sweeps its
head for landmarks, m."""
CERTAIN_HEADING, UNCERTAIN_HEADING = math.radians(0.5), math.radians(10.0)
"""The same two limits for the standard deviation of the own heading, rad."""
BALL_SEARCH_AGE, BALL_SEARCH_DEVIATION = 2.0, 1.0
"""The head searches for a ball that was neither seen nor heard of for the first, s, or whose place has a standard
deviation above the second, m."""
BALL_OFF_CENTRE, KEEPER_BALL_OFF_CENTRE = math.radians(45.0), math.radians(25.0)
"""Largest angle between the ball and the middle of the view, for field players and for the keeper, rad."""
WIDE_SWEEP_ANGLE, WIDE_SWEEP_TIME = math.radians(100.0), 1.6
"""Amplitude, rad, and period, s, of the head's sweep."""
HEAD_PITCH = -0.35
"""Usual pitch of the head, from which the camera sees both the horizon and the robot's feet, rad."""
TORSO_HEIGHT = 0.33
"""Height of the torso of a walking robot, m."""
VIEW_MARGIN = math.radians(8.0)
"""Landmarks nearer than this to the edge of the view count less, because they may be just outside, rad."""
GAZE_DIRECTIONS = 5
"""Number of gaze directions that are compared to each side, the middle one included."""
WAY_OFF_CENTRE = math.radians(45.0)
"""Largest angle between the middle of the view and the direction in which a player walks, rad."""
WATCHED_SPEED = 0.3
"""A player that walks faster than this looks where it goes, m/s."""
GLANCE_BALL_AGE = 0.7
"""A walking player that cannot have both in view glances at a ball of which it knew nothing for this time, s."""
KICKER_GAZE_DISTANCE = 0.6
"""Within this distance, a player that goes for the ball looks at nothing else, m."""

# ---- two cameras with a narrow view

GLANCE_INTERVAL = 2.4
"""Time between two glances at a goal, s."""
GLANCE_TIME = 0.7
"""Duration of a glance at a goal, s."""
CERTAIN_SPREAD = 0.12
"""Standard deviation of the own place below which no glance is needed, m."""
CERTAIN_HEADING_SPREAD = 0.08
"""Standard deviation of the own heading below which no glance is needed, rad."""
NARROW_SWEEP_ANGLE, NARROW_SWEEP_TIME = 1.6, 2.6
"""Amplitude, rad, and period, s, of the head's sweep."""
NARROW_YAW_LIMIT = 2.0
"""Largest yaw at which the head looks at something, rad."""
SEARCH_BALL_AGE = 1.5
"""The head searches for a ball that was neither seen nor heard of for this time, s."""
SEARCH_PITCH = -0.2
"""Pitch of the head while it searches, rad."""


@inlined
def look(player: PlayerContext) -> None:
    """Orders yaw and pitch of the head."""
    if player.ground.body.wide_view:
        _look_with_wide_view(player)
    else:
        _look_with_narrow_view(player)


@inlined
def _look_with_wide_view(player: PlayerContext) -> None:
    """Looks with the league's camera."""
    belief, game, order = player.belief, player.game, player.order
    dx, dy = belief.ball_x - belief.x, belief.ball_y - belief.y
    way, keeps = length(dx, dy), player.traits.keeper and game.number == 1 and game.players > 1
    kicks = player.memory.goes and way < KICKER_GAZE_DISTANCE and not keeps
    lost = min(belief.seen_ago, belief.heard_ago) > BALL_SEARCH_AGE or belief.ball_spread > BALL_SEARCH_DEVIATION
    unsure = belief.spread > UNCERTAIN_PLACE or belief.heading_spread > UNCERTAIN_HEADING
    if (lost or unsure) and not (kicks and belief.seen_ago < BALL_SEARCH_AGE):
        order.yaw, order.pitch = sweep(game.time, WIDE_SWEEP_ANGLE, WIDE_SWEEP_TIME), HEAD_PITCH
        return
    bearing = wrap_angle(math.atan2(dy, dx) - belief.heading)
    order.yaw = clip(bearing, -WIDE_YAW_LIMIT, WIDE_YAW_LIMIT)
    if not kicks and (belief.spread > CERTAIN_PLACE or belief.heading_spread > CERTAIN_HEADING):
        aside = KEEPER_BALL_OFF_CENTRE if keeps else BALL_OFF_CENTRE
        order.yaw = _best_yaw(belief, player.ground, bearing, aside)
    if not kicks and not keeps and order.legs == Legs.WALK and length(order.ahead, order.left) > WATCHED_SPEED:
        way_yaw = math.atan2(order.left, order.ahead)
        both = abs(wrap_angle(way_yaw - bearing)) < WAY_OFF_CENTRE + BALL_OFF_CENTRE
        if both or min(belief.seen_ago, belief.heard_ago) < GLANCE_BALL_AGE:
            off = clip(wrap_angle(order.yaw - way_yaw), -WAY_OFF_CENTRE, WAY_OFF_CENTRE)
            order.yaw = clip(wrap_angle(way_yaw + off), -WIDE_YAW_LIMIT, WIDE_YAW_LIMIT)
    # The pitch is low enough for a ball at the feet, and otherwise level enough to see the far side of the pitch.
    below = math.atan2(TORSO_HEIGHT + NECK_HEIGHT + NOD_HEIGHT - belief.ball_height, way)
    order.pitch = min(HEAD_PITCH, HALF_VIEW * 0.7 - below)


@unchecked
def _best_yaw(belief: BeliefRecord, ground: GroundRecord, bearing: float, aside: float) -> float:
    """The yaw with the ball and the most corners and goal posts in view, of which near ones count more, rad."""
    best, most = bearing, -1.0
    for step in range(-GAZE_DIRECTIONS + 1, GAZE_DIRECTIONS):
        yaw = clip(bearing + aside * step / (GAZE_DIRECTIONS - 1), -WIDE_YAW_LIMIT, WIDE_YAW_LIMIT)
        worth = -0.01 * abs(step)
        for end in (-0.5, 0.5):
            for y in (0.5 * ground.width, 0.5 * ground.goal_width, -0.5 * ground.goal_width, -0.5 * ground.width):
                dx, dy = end * ground.length - belief.x, y - belief.y
                off = abs(wrap_angle(math.atan2(dy, dx) - belief.heading - yaw))
                worth += clip((HALF_VIEW - off) / VIEW_MARGIN, 0.0, 1.0) / (1.0 + 0.1 * length(dx, dy))
        if worth > most:
            best, most = yaw, worth
    return clip(best, -WIDE_YAW_LIMIT, WIDE_YAW_LIMIT)


@inlined
def sweep(time: float, angle: float, period: float) -> float:
    """The yaw of a searching head at a time: a triangle wave of constant speed, rad."""
    return angle * (4.0 * abs((time / period) % 1.0 - 0.5) - 1.0)


@inlined
def _look_with_narrow_view(player: PlayerContext) -> None:
    """Looks with two cameras, of which the lower one shows the ground before the feet."""
    belief, body, order = player.belief, player.ground.body, player.order
    time, age = player.game.time, min(belief.seen_ago, belief.heard_ago)
    dx, dy = belief.ball_x - belief.x, belief.ball_y - belief.y
    way = length(dx, dy)
    # The glances of players are shifted by their numbers, so that not all look away from the ball at once.
    phase = (time + 0.3 * player.game.number) % GLANCE_INTERVAL
    unsure = belief.spread > CERTAIN_SPREAD or belief.heading_spread > CERTAIN_HEADING_SPREAD
    lost = belief.spread > 5 * CERTAIN_SPREAD or belief.heading_spread > 5 * CERTAIN_HEADING_SPREAD
    if age > SEARCH_BALL_AGE or (lost and way > 0.4):
        order.yaw, order.pitch = sweep(time, NARROW_SWEEP_ANGLE, NARROW_SWEEP_TIME), SEARCH_PITCH
        return
    if unsure and phase < GLANCE_TIME and way > 0.35:
        order.yaw, order.pitch = _nearest_goal(player), 0.0
        return
    order.yaw = clip(wrap_angle(math.atan2(dy, dx) - belief.heading), -NARROW_YAW_LIMIT, NARROW_YAW_LIMIT)
    # A near ball is in the middle of the lower camera's picture, a far one in that of the upper one.
    below = math.atan2(body.eyes, max(way, 0.05))
    order.pitch = -(below - body.lower_eye) if below > 0.55 * body.lower_eye else -below


@inlined
def _nearest_goal(player: PlayerContext) -> float:
    """Yaw of the goal for which the head has to turn least, rad."""
    belief, best = player.belief, math.inf
    for end in (-1.0, 1.0):
        yaw = wrap_angle(math.atan2(-belief.y, end * player.ground.length / 2 - belief.x) - belief.heading)
        if abs(yaw) < abs(best):
            best = yaw
    return clip(best, -NARROW_YAW_LIMIT, NARROW_YAW_LIMIT)
