"""The compiled ball of one match: it is kicked, rolls, and bounces off feet, bodies, posts and nets.

    strike(players, ball, numbers, STEP)                  # kicks that come to their moment
    push_ball(players, ball, numbers)                     # feet that have moved into it
    roll_ball(players, ball, numbers, goals, STEP)        # on its way

The last two kinds of collision of seed 002: a robot and a ball that rolls, and a robot that walks into one that lies.
Both use the rectangles of the feet, made larger by the ball's radius. Across the surface the ball leaves with a share
of the speed with which it met it (`BounceSettings`), relative to what it met; along the surface the speed stays the
same, except at nets, which take as much there. A path is followed from bounce to bounce within a step: no ball is fast
enough to pass through a foot, a post or a net. Robots that lie or dive stop a ball like feet.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from nutmeg.base.arrays import Floats
from nutmeg.base.kernels import kernel
from nutmeg.match.worlds.behavioural.collisions import FEET, bounds
from nutmeg.match.worlds.behavioural.random import KICK, key, normal_pair
from nutmeg.match.worlds.behavioural.state import KickKind, Posture

if TYPE_CHECKING:
    from nutmeg.base.records import Records
    from nutmeg.match.worlds.behavioural.collisions import Rectangle
    from nutmeg.match.worlds.behavioural.settings import BehaviourSettings
    from nutmeg.match.worlds.behavioural.state import Ball, Player

_MAX_BOUNCES = 6  # bounces in one step; the rest of the way is then lost
_SURFACE_GAP = 1e-6  # gap between the ball and a surface that it has just met, so that it does not meet it again [m]
_SLIP_PER_STEP = 0.01  # how far a ball between several players slips to a side in a step of 0.02 s [m]
_HIT_POST, _HIT_NET, _HIT_NOTHING = -1, -2, -3  # what a ball has met, if it is no player
STRAIGHT_KICK, SIDE_KICK, WRONG_SIDE_KICK = 0, 1, 2
"""Outcomes of a kick."""
_STOPPED_SPEED = 0.01
"""A ball that is slower and has no friction but damping stops [m/s]: it would roll on by at most a centimetre."""
_SERIES_LIMIT = 1e-3  # below this, a difference of two nearly equal numbers is computed as a series


class Goals(NamedTuple):
    """Posts and nets of a pitch; empty where there are no goals."""

    posts: Floats
    """(P, 2) their centres, m."""
    post_radius: float
    """The radius of a goal post, m."""
    nets: Floats
    """(W, 4) walls along x or y: x, y of their ends, the smaller first, m."""
    nearest: float
    """No post or net is nearer to the halfway line, m."""


# ---- kicks
# Seed 002, table 2: a ball is kicked if it lies in the kick's rectangle. It leaves along the line from the tip of the
# foot, (10, 5) or (10, -5) cm, through its centre. That is the angle between this line and the foot's normal, which
# points ahead for a straight kick and to the other foot's side for a side kick. A left side kick takes balls to the
# right of the middle, and the other way round; a ball before the kicking foot instead (in the rectangle of the
# straight kick of that foot) is on the wrong side: it is kicked straight, and weakly. Strength is a share of the
# kind's longest distance. A ball slows down by dv/dt = -(a + b v), solved exactly, so that steps of any length give
# the same way: v^2 / 2a for b = 0, v / b for a = 0, otherwise v/b - a/b^2 ln(1 + b v / a).


@kernel
def kicked_ball(
    kick: int, strength: float, x: float, y: float, numbers: BehaviourSettings
) -> tuple[bool, float, float, int]:
    """The effect of a kick on a ball at a place of the robot's frame [m].

    Returns whether it reaches the ball, the ball's direction from the heading to the left [rad], how far it goes [m],
    and the outcome: `STRAIGHT_KICK`, `SIDE_KICK` or `WRONG_SIDE_KICK`.
    """
    # kicks of the right foot are mirror images
    mirror = 1.0 if kick in (KickKind.LEFT_STRAIGHT, KickKind.LEFT_SIDE) else -1.0
    y *= mirror
    tip_x, tip_y = numbers.kick.tip_ahead, numbers.kick.tip_aside
    before = numbers.kick.straight_near <= x <= numbers.kick.straight_far
    before = before and numbers.kick.straight_inner <= y <= numbers.kick.straight_outer
    if kick in (KickKind.LEFT_SIDE, KickKind.RIGHT_SIDE):
        # The foot sweeps across to the other side, so it meets balls there (negative y, once mirrored).
        beside = numbers.kick.side_near <= x <= numbers.kick.side_far
        if beside and numbers.kick.side_inner <= -y <= numbers.kick.side_outer:
            direction = math.atan2(y - tip_y, x - tip_x - numbers.kick.side_stretch)
            return True, mirror * direction, strength * numbers.kick.side_distance, SIDE_KICK
        # Otherwise the foot may still meet a ball ahead of it: the wrong side, a weak straight kick.
        distance = strength * numbers.kick.straight_distance * numbers.kick.wrong_side_share
        return before, mirror * math.atan2(y - tip_y, x - tip_x), distance, WRONG_SIDE_KICK
    return before, mirror * math.atan2(y - tip_y, x - tip_x), strength * numbers.kick.straight_distance, STRAIGHT_KICK


@kernel
def strike(players: Records[Player], ball: Ball, numbers: BehaviourSettings, step: float) -> None:
    """Kicks the ball for players whose kicks meet it within this step."""
    moment = numbers.kick.follow_through + 1e-9
    for k in range(len(players)):
        player = players[k]
        # The foot meets the ball once in a kick: in the step in which only the follow-through is left.
        if player.posture != Posture.KICKING or player.busy <= moment or player.busy - step > moment:
            continue
        # The ball's place in the robot's frame decides, now: it may have rolled away since the kick was ordered.
        x, y = ball.x - player.x, ball.y - player.y
        along, across = x * player.cos + y * player.sin, y * player.cos - x * player.sin
        reached, direction, distance, kind = kicked_ball(player.kick, player.strength, along, across, numbers)
        if not reached or distance <= 0.0:
            continue
        aside, apart = numbers.kick.straight_direction_spread, numbers.kick.straight_distance_spread
        if kind == SIDE_KICK:
            aside, apart = numbers.kick.side_direction_spread, numbers.kick.side_distance_spread
        # A draw of its own for each kick (match, cycle, player), so that results do not depend on the order of players.
        first, second = normal_pair(key(ball.seed, ball.cycle, player.slot, KICK), 0)
        direction += player.heading + aside * first
        distance *= max(0.0, 1.0 + apart * second)
        speed = launch_speed(distance, numbers.ball.deceleration, numbers.ball.damping)
        ball.vx, ball.vy = speed * math.cos(direction), speed * math.sin(direction)
        player.touched, player.kicked = True, True


@kernel
def rolled(speed: float, time: float, deceleration: float, damping: float) -> tuple[float, float]:
    """How far a ball rolls in a time [m], and how fast it then is [m/s]."""
    a, b = deceleration, damping
    # Damping alone slows a ball down for ever: what is left of its way is rolled at once.
    if a == 0.0 and speed * math.exp(-b * time) < _STOPPED_SPEED:
        return speed / b, 0.0
    until = time  # or until it stops, if that is sooner
    if a > 0.0:
        until = min(time, math.log1p(b * speed / a) / b if b > 0.0 else speed / a)
    # Exact solution of dv/dt = -(a + b v). Its terms are divided by b, hence the series where b t is near 0.
    slows, z = a + b * speed, b * until
    if z < _SERIES_LIMIT:
        way = speed * until - slows * until**2 * (0.5 - z / 6.0 + z**2 / 24.0)
        left_over = speed - slows * until * (1.0 - z / 2.0 + z**2 / 6.0)
    else:
        way = -slows * math.expm1(-z) / b**2 - a * until / b
        left_over = (slows * math.exp(-z) - a) / b
    return way, max(left_over, 0.0) if until == time else 0.0


@kernel
def rolling_distance(speed: float, deceleration: float, damping: float) -> float:
    """How far a ball rolls until it stops [m]."""
    a, b = deceleration, damping
    if a == 0.0:
        return speed / b
    z = b * speed / a
    if z < _SERIES_LIMIT:
        return speed**2 / a * (0.5 - z / 3.0 + z**2 / 4.0)
    return speed / b - a / b**2 * math.log1p(z)


@kernel
def launch_speed(distance: float, deceleration: float, damping: float) -> float:
    """How fast a ball must start to roll a distance [m/s]; with both kinds of friction by Newton's method."""
    a, b = deceleration, damping
    if a == 0.0:
        return b * distance
    # Exact without damping; with it too slow, but a start from which Newton's method converges.
    speed = math.sqrt(2.0 * a * distance)
    if b == 0.0 or distance <= 0.0:
        return speed
    for _ in range(50):  # the distance is convex in the speed, and its slope is v / (a + b v)
        short = distance - rolling_distance(speed, a, b)
        change = short * (a + b * speed) / speed
        speed += change
        if abs(change) < 1e-12 * speed:
            break
    return speed


# ---- bounces and rolling


@kernel
def _reflect(ball: Ball, nx: float, ny: float, vx: float, vy: float, share: float) -> bool:
    """Reflects the ball at a surface that moves with (vx, vy); False if it is leaving the surface already."""
    # In the frame of the moving surface: what counts is the speed of approach, not the ball's own.
    towards = (ball.vx - vx) * nx + (ball.vy - vy) * ny
    if towards >= 0.0:
        return False
    ball.vx -= (1.0 + share) * towards * nx
    ball.vy -= (1.0 + share) * towards * ny
    return True


@kernel
def _slow_along(ball: Ball, nx: float, ny: float, share: float) -> None:
    """Leaves a share of the ball's speed along a surface."""
    along = ball.vy * nx - ball.vx * ny
    ball.vx += (1.0 - share) * along * ny
    ball.vy -= (1.0 - share) * along * nx


@kernel
def _surface_speed(player: Player, ball: Ball) -> tuple[float, float]:
    """Velocity of a player's surface where the ball is: its walk and its turn [m/s]."""
    if player.posture != Posture.UPRIGHT:
        return 0.0, 0.0
    return player.vx - player.turn * (ball.y - player.y), player.vy + player.turn * (ball.x - player.x)


@kernel
def push_ball(players: Records[Player], ball: Ball, numbers: BehaviourSettings) -> None:
    """Moves the ball out of players that have stepped into it, and lets it roll as fast as it was met.

    A ball between the feet of several players slips out to a side, a little in each step.
    """
    count, last = 0, 0
    for k in range(len(players)):
        player = players[k]
        x, y, near = ball.x - player.x, ball.y - player.y, player.reach + ball.radius
        if x * x + y * y <= near * near and _push_out(player, ball, numbers):
            count, last = count + 1, k
    # Several players would push the ball to and fro between them for ever. It slips along the front of the last one, to
    # the side on which it already is.
    if count > 1:
        player = players[last]
        across = (ball.y - player.y) * player.cos - (ball.x - player.x) * player.sin
        slip = math.copysign(_SLIP_PER_STEP, across)
        ball.x -= slip * player.sin
        ball.y += slip * player.cos


@kernel
def _push_out(player: Player, ball: Ball, numbers: BehaviourSettings) -> bool:
    """Moves the ball out of a player's rectangle on the nearest way, if it is in it."""
    a, radius = bounds(player, numbers, FEET), ball.radius
    x, y = ball.x - a.x, ball.y - a.y
    along, across = x * a.cos + y * a.sin, y * a.cos - x * a.sin
    depth_x, depth_y = a.length + radius - abs(along), a.width + radius - abs(across)
    if depth_x <= 0.0 or depth_y <= 0.0:
        return False
    # The shorter way out of the rectangle is the side through which the ball came in.
    if depth_x < depth_y:
        sign = math.copysign(1.0, along)
        nx, ny, depth = sign * a.cos, sign * a.sin, depth_x
    else:
        sign = math.copysign(1.0, across)
        nx, ny, depth = -sign * a.sin, sign * a.cos, depth_y
    ball.x += (depth + _SURFACE_GAP) * nx
    ball.y += (depth + _SURFACE_GAP) * ny
    player.touched = True
    vx, vy = _surface_speed(player, ball)
    _reflect(ball, nx, ny, vx, vy, numbers.bounce.robot if player.posture <= Posture.KICKING else numbers.bounce.held)
    return True


@kernel
def roll_ball(players: Records[Player], ball: Ball, numbers: BehaviourSettings, goals: Goals, step: float) -> None:
    """Rolls the ball for a step."""
    speed = math.hypot(ball.vx, ball.vy)
    if speed == 0.0:
        return
    # Friction is applied to the whole step first; bounces then only bend the way, and shorten what is left of it.
    way, slower = rolled(speed, step, numbers.ball.deceleration, numbers.ball.damping)
    ux, uy = ball.vx / speed, ball.vy / speed
    ball.vx, ball.vy = slower * ux, slower * uy
    for _ in range(_MAX_BOUNCES):
        # follow the path to the first thing that is met, bounce there, and go on with what is left of the way
        share, nx, ny, what = _first_hit(players, ball, numbers, goals, way * ux, way * uy)
        ball.x += share * way * ux
        ball.y += share * way * uy
        if what == _HIT_NOTHING:
            return
        vx, vy, springs = 0.0, 0.0, numbers.bounce.post
        if what == _HIT_NET:
            springs = numbers.bounce.net
        elif what != _HIT_POST:
            player = players[what]
            player.touched = True
            vx, vy = _surface_speed(player, ball)
            springs = numbers.bounce.robot if player.posture <= Posture.KICKING else numbers.bounce.held
        # A bounce takes speed, and the rest of the way becomes shorter in the same ratio.
        before = math.hypot(ball.vx, ball.vy)
        bounced = _reflect(ball, nx, ny, vx, vy, springs)
        if what == _HIT_NET:
            _slow_along(ball, nx, ny, springs)
        after = math.hypot(ball.vx, ball.vy)
        if not bounced or before == 0.0 or after == 0.0:
            return  # it stopped there
        # A ball exactly on the surface would meet it again at once.
        ball.x += _SURFACE_GAP * nx
        ball.y += _SURFACE_GAP * ny
        ux, uy = ball.vx / after, ball.vy / after
        way *= (1.0 - share) * after / before


@kernel
def _first_hit(
    players: Records[Player], ball: Ball, numbers: BehaviourSettings, goals: Goals, dx: float, dy: float
) -> tuple[float, float, float, int]:
    """The first hit of the ball on its way (dx, dy): the share of the way, the normal there, and the thing it hits.

    The thing is the index of a player, `_HIT_POST`, `_HIT_NET` or `_HIT_NOTHING`, for which the share is 1.
    """
    best, best_x, best_y, what = 1.0, 0.0, 0.0, _HIT_NOTHING
    x, y, radius, length = ball.x, ball.y, ball.radius, math.hypot(dx, dy)
    for k in range(len(players)):
        player = players[k]
        off_x, off_y, near = x - player.x, y - player.y, player.reach + radius + length
        if off_x * off_x + off_y * off_y > near * near:
            continue
        share, nx, ny = _into_rectangle(bounds(player, numbers, FEET), x, y, dx, dy, radius)
        # A player who walks away faster than the ball follows is not hit, although the path crosses its feet.
        if share < best:
            vx, vy = _surface_speed(player, ball)
            if (ball.vx - vx) * nx + (ball.vy - vy) * ny < 0.0:
                best, best_x, best_y, what = share, nx, ny, k
    if abs(x) + length + radius < goals.nearest:  # most balls are far from both goals
        return best, best_x, best_y, what
    for p in range(len(goals.posts)):
        share, nx, ny = _into_post(x - goals.posts[p, 0], y - goals.posts[p, 1], dx, dy, radius + goals.post_radius)
        if share < best:
            best, best_x, best_y, what = share, nx, ny, _HIT_POST
    for w in range(len(goals.nets)):
        share, nx, ny = _into_net(goals.nets, w, x, y, dx, dy, radius)
        if share < best:
            best, best_x, best_y, what = share, nx, ny, _HIT_NET
    return best, best_x, best_y, what


@kernel
def _into_rectangle(
    a: Rectangle, x: float, y: float, dx: float, dy: float, radius: float
) -> tuple[float, float, float]:
    """The share of a way after which a ball enters a rectangle, 1 if it does not, and the normal of the side."""
    along, across = (x - a.x) * a.cos + (y - a.y) * a.sin, (y - a.y) * a.cos - (x - a.x) * a.sin
    way_x, way_y = dx * a.cos + dy * a.sin, dy * a.cos - dx * a.sin
    # Slab method: the path is inside while it is between both pairs of sides; the last side that it passes on its way
    # in is the one that it hits. The rectangle is larger by the ball's radius on all sides, so the ball is a point.
    enter, leave, side_x, side_y = -math.inf, math.inf, 0.0, 0.0
    for axis in range(2):
        place, way, half = (along, way_x, a.length + radius) if axis == 0 else (across, way_y, a.width + radius)
        # Parallel to this pair of sides: never between them, or always.
        if way == 0.0:
            if abs(place) >= half:
                return 1.0, 0.0, 0.0
            continue
        sign = 1.0 if way > 0.0 else -1.0
        first, last = (-sign * half - place) / way, (sign * half - place) / way
        if first > enter:
            enter = first
            side_x, side_y = (-sign, 0.0) if axis == 0 else (0.0, -sign)
        leave = min(leave, last)
    # A start inside (enter < 0) is no hit: `push_ball` has dealt with it.
    if enter >= leave or enter < 0.0 or enter >= 1.0:
        return 1.0, 0.0, 0.0
    return enter, side_x * a.cos - side_y * a.sin, side_x * a.sin + side_y * a.cos


@kernel
def _into_post(x: float, y: float, dx: float, dy: float, radius: float) -> tuple[float, float, float]:
    """The share of a way after which a point enters a circle around the origin, 1 if it does not, and the normal."""
    length, towards = dx * dx + dy * dy, x * dx + y * dy
    # A ball that does not come nearer cannot hit.
    if length == 0.0 or towards >= 0.0:
        return 1.0, 0.0, 0.0
    gap = x * x + y * y - radius * radius
    if gap <= 0.0:  # a player pushed it in
        size = math.sqrt(x * x + y * y)
        return (0.0, x / size, y / size) if size > 0.0 else (1.0, 0.0, 0.0)
    # The smaller root of |p + share d|^2 = r^2.
    under = towards * towards - length * gap
    if under <= 0.0:
        return 1.0, 0.0, 0.0
    share = (-towards - math.sqrt(under)) / length
    if share >= 1.0:
        return 1.0, 0.0, 0.0
    share = max(share, 0.0)
    return share, (x + share * dx) / radius, (y + share * dy) / radius


@kernel
def _into_net(
    nets: Floats, w: int, x: float, y: float, dx: float, dy: float, radius: float
) -> tuple[float, float, float]:
    """The share of a way after which a ball meets a net, 1 if it does not, and the normal."""
    upright = nets[w, 0] == nets[w, 2]  # along y
    # Nets are walls along an axis: one coordinate says whether the ball reaches it, the other where.
    place, way = (x - nets[w, 0], dx) if upright else (y - nets[w, 1], dy)
    # Only a ball that comes nearer meets it, from either side.
    if way == 0.0 or place * way >= 0.0:
        return 1.0, 0.0, 0.0
    side = 1.0 if place > 0.0 else -1.0
    share = max((side * radius - place) / way, 0.0)
    if share >= 1.0:
        return 1.0, 0.0, 0.0
    beside = y + share * dy if upright else x + share * dx
    low, high = (nets[w, 1], nets[w, 3]) if upright else (nets[w, 0], nets[w, 2])
    if not low - radius < beside < high + radius:
        return 1.0, 0.0, 0.0
    return (share, side, 0.0) if upright else (share, 0.0, side)
