"""The ball of the behavioural world, compiled: it rolls, and changes its path at feet, bodies, posts and nets.

    push_ball(players, ball, numbers)                     # feet that have moved into it
    roll_ball(players, ball, numbers, goals, STEP)        # on its way

The last two kinds of collision of seed 002: a robot and a ball that rolls, and a robot that walks into one that lies.
Both use the rectangles of the feet, made larger by the ball's radius. Across the surface the ball leaves with a share
of the speed with which it met it (`BounceSettings`), seen from what it met; along the surface nothing changes, but at
nets, which take as much there. A path is followed from bounce to bounce within a step: no ball is fast enough to pass
through a foot, a post or a net. What lies or dives is as good as a foot. `goals` is a `Goals`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from nutmeg.base.arrays import Floats
from nutmeg.compiled import kernel
from nutmeg.match.behaviour.collision_kernels import FEET, bounds
from nutmeg.match.behaviour.kick_kernels import rolled
from nutmeg.match.behaviour.state import Posture

MOST_BOUNCES = 6
"""In one step; what is left of the way is then lost."""
SKIN = 1e-6
"""How far from a surface the ball is put that has met it [m]."""
SLIP = 0.01
"""How far a ball between several players slips to a side in a step of 0.02 s [m]."""
POST, NET, NOTHING = -1, -2, -3
"""What a ball meets that is no player."""
_STANDS = int(Posture.UPRIGHT), int(Posture.KICKING)


class Goals(NamedTuple):
    """What stands around on a pitch; nothing where there are no goals."""

    posts: Floats
    """(P, 2) their centres, m."""
    post_radius: float
    """m."""
    nets: Floats
    """(W, 4) walls along x or y: x, y of their ends, the smaller first, m."""
    nearest: float
    """No post or net is nearer to the halfway line, m."""


@kernel
def _give_back(ball: Any, nx: float, ny: float, vx: float, vy: float, share: float) -> bool:  # noqa: ANN401
    """Turns the ball's speed at a surface that moves with (vx, vy); False if it is leaving it already."""
    towards = (ball.vx - vx) * nx + (ball.vy - vy) * ny
    if towards >= 0.0:
        return False
    ball.vx -= (1.0 + share) * towards * nx
    ball.vy -= (1.0 + share) * towards * ny
    return True


@kernel
def _slow_along(ball: Any, nx: float, ny: float, share: float) -> None:  # noqa: ANN401
    """Leaves a share of the ball's speed along a surface."""
    along = ball.vy * nx - ball.vx * ny
    ball.vx += (1.0 - share) * along * ny
    ball.vy -= (1.0 - share) * along * nx


@kernel
def _surface_speed(player: Any, ball: Any) -> tuple[float, float]:  # noqa: ANN401
    """How a player's surface moves where the ball is [m/s]."""
    if player.posture != _STANDS[0]:
        return 0.0, 0.0
    return player.vx - player.turn * (ball.y - player.y), player.vy + player.turn * (ball.x - player.x)


@kernel
def push_ball(players: Any, ball: Any, numbers: Any) -> None:  # noqa: ANN401
    """Moves the ball out of who has stepped into it, and lets it roll as fast as it was met.

    A ball that several have between their feet slips out to a side, a little in each step.
    """
    count, last = 0, 0
    for k in range(len(players)):
        player = players[k]
        x, y, near = ball.x - player.x, ball.y - player.y, player.reach + ball.radius
        if x * x + y * y <= near * near and _push_out(player, ball, numbers):
            count, last = count + 1, k
    if count > 1:
        player = players[last]
        across = (ball.y - player.y) * player.cos - (ball.x - player.x) * player.sin
        slip = math.copysign(SLIP, across)
        ball.x -= slip * player.sin
        ball.y += slip * player.cos


@kernel
def _push_out(player: Any, ball: Any, numbers: Any) -> bool:  # noqa: ANN401
    """Moves the ball out of a player's rectangle on the nearest way, if it is in it."""
    a, radius = bounds(player, numbers, FEET), ball.radius
    x, y = ball.x - a[0], ball.y - a[1]
    along, across = x * a[2] + y * a[3], y * a[2] - x * a[3]
    depth_x, depth_y = a[4] + radius - abs(along), a[5] + radius - abs(across)
    if depth_x <= 0.0 or depth_y <= 0.0:
        return False
    if depth_x < depth_y:
        sign = math.copysign(1.0, along)
        nx, ny, depth = sign * a[2], sign * a[3], depth_x
    else:
        sign = math.copysign(1.0, across)
        nx, ny, depth = -sign * a[3], sign * a[2], depth_y
    ball.x += (depth + SKIN) * nx
    ball.y += (depth + SKIN) * ny
    player.touched = 1
    vx, vy = _surface_speed(player, ball)
    _give_back(ball, nx, ny, vx, vy, numbers.bounce_robot if player.posture in _STANDS else numbers.bounce_held)
    return True


@kernel
def roll_ball(players: Any, ball: Any, numbers: Any, goals: Goals, step: float) -> None:  # noqa: ANN401
    """Rolls the ball for a step."""
    speed = math.hypot(ball.vx, ball.vy)
    if speed == 0.0:
        return
    way, slower = rolled(speed, step, numbers.ball_deceleration, numbers.ball_damping)
    ux, uy = ball.vx / speed, ball.vy / speed
    ball.vx, ball.vy = slower * ux, slower * uy
    for _ in range(MOST_BOUNCES):
        share, nx, ny, what = _first_hit(players, ball, numbers, goals, way * ux, way * uy)
        ball.x += share * way * ux
        ball.y += share * way * uy
        if what == NOTHING:
            return
        vx, vy, springs = 0.0, 0.0, numbers.bounce_post
        if what == NET:
            springs = numbers.bounce_net
        elif what != POST:
            player = players[what]
            player.touched = 1
            vx, vy = _surface_speed(player, ball)
            springs = numbers.bounce_robot if player.posture in _STANDS else numbers.bounce_held
        before = math.hypot(ball.vx, ball.vy)
        bounced = _give_back(ball, nx, ny, vx, vy, springs)
        if what == NET:
            _slow_along(ball, nx, ny, springs)
        after = math.hypot(ball.vx, ball.vy)
        if not bounced or before == 0.0 or after == 0.0:
            return  # it stopped there
        ball.x += SKIN * nx
        ball.y += SKIN * ny
        ux, uy = ball.vx / after, ball.vy / after
        way *= (1.0 - share) * after / before


@kernel
def _first_hit(
    players: Any,  # noqa: ANN401
    ball: Any,  # noqa: ANN401
    numbers: Any,  # noqa: ANN401
    goals: Goals,
    dx: float,
    dy: float,
) -> tuple[float, float, float, int]:
    """Where on its way (dx, dy) the ball first meets something: the share of the way, the normal there, and what.

    What is the place of a player in `players`, `POST`, `NET` or `NOTHING`; the share is 1 where nothing is met.
    """
    best, best_x, best_y, what = 1.0, 0.0, 0.0, NOTHING
    x, y, radius, length = ball.x, ball.y, ball.radius, math.hypot(dx, dy)
    for k in range(len(players)):
        player = players[k]
        off_x, off_y, near = x - player.x, y - player.y, player.reach + radius + length
        if off_x * off_x + off_y * off_y > near * near:
            continue
        share, nx, ny = _into_rectangle(bounds(player, numbers, FEET), x, y, dx, dy, radius)
        if share < best:
            vx, vy = _surface_speed(player, ball)
            if (ball.vx - vx) * nx + (ball.vy - vy) * ny < 0.0:
                best, best_x, best_y, what = share, nx, ny, k
    if abs(x) + length + radius < goals.nearest:
        return best, best_x, best_y, what
    for p in range(len(goals.posts)):
        share, nx, ny = _into_post(x - goals.posts[p, 0], y - goals.posts[p, 1], dx, dy, radius + goals.post_radius)
        if share < best:
            best, best_x, best_y, what = share, nx, ny, POST
    for w in range(len(goals.nets)):
        share, nx, ny = _into_net(goals.nets, w, x, y, dx, dy, radius)
        if share < best:
            best, best_x, best_y, what = share, nx, ny, NET
    return best, best_x, best_y, what


@kernel
def _into_rectangle(
    a: tuple[float, float, float, float, float, float], x: float, y: float, dx: float, dy: float, radius: float
) -> tuple[float, float, float]:
    """The share of a way after which a ball enters a rectangle, 1 if it does not, and the normal of the side."""
    along, across = (x - a[0]) * a[2] + (y - a[1]) * a[3], (y - a[1]) * a[2] - (x - a[0]) * a[3]
    way_x, way_y = dx * a[2] + dy * a[3], dy * a[2] - dx * a[3]
    enter, leave, side_x, side_y = -math.inf, math.inf, 0.0, 0.0
    for axis in range(2):
        place, way, half = (along, way_x, a[4] + radius) if axis == 0 else (across, way_y, a[5] + radius)
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
    if enter >= leave or enter < 0.0 or enter >= 1.0:
        return 1.0, 0.0, 0.0
    return enter, side_x * a[2] - side_y * a[3], side_x * a[3] + side_y * a[2]


@kernel
def _into_post(x: float, y: float, dx: float, dy: float, radius: float) -> tuple[float, float, float]:
    """The share of a way after which a point enters a circle around the origin, 1 if it does not, and the normal."""
    length, towards = dx * dx + dy * dy, x * dx + y * dy
    if length == 0.0 or towards >= 0.0:
        return 1.0, 0.0, 0.0
    gap = x * x + y * y - radius * radius
    if gap <= 0.0:  # a player pushed it in
        size = math.sqrt(x * x + y * y)
        return (0.0, x / size, y / size) if size > 0.0 else (1.0, 0.0, 0.0)
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
    place, way = (x - nets[w, 0], dx) if upright else (y - nets[w, 1], dy)
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
