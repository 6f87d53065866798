"""What players make of what they see, compiled: own pose, ball and others of all players of M matches.

**Pose**: an extended Kalman filter of (x, y, heading). Odometry moves it. A landmark at z in the body's frame is where
`w = place + R(heading) z` on the pitch, so that its innovation `c - w` has the same covariance
`S = P_xy + h P_t h' + ... + R` for every landmark c that it could be, with h = dw/dheading: S is inverted once, and all
landmarks of that kind are compared. It counts as the nearest one only if that is near enough and no other is (gates and
nearest neighbours: Bar-Shalom and Li, Estimation and Tracking, 1993). Directions of crossings correct the heading
alone. Who sees too much that fits nothing is lost, and begins anew (`relocation_kernels`).

**Ball**: place and velocity with their covariance in the frame of the odometer, in which walking and corrections of the
pose do not move it. **Others**: see `others_kernels`.

All is in the frame of the player's own team and written to rows as `strategy_rows` describes them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.compiled import inlined, unchecked
from nutmeg.match.behaviour.marks import Kind
from nutmeg.match.behaviour.mind_rows import (
    BU,
    BV,
    BX,
    BY,
    MISFIT,
    ODD,
    ODO_T,
    ODO_X,
    ODO_Y,
    PUU,
    PUV,
    PVV,
    PXU,
    PXV,
    PXX,
    PXY,
    PYU,
    PYV,
    PYY,
    TT,
    XT,
    XX,
    XY,
    YT,
    YY,
    Seen,
    Table,
    TrackerNumbers,
)
from nutmeg.match.behaviour.others_kernels import see_robots
from nutmeg.match.behaviour.relocation_kernels import begin_anew, differs
from nutmeg.match.behaviour.state import Posture
from nutmeg.match.behaviour.strategy_rows import (
    BALL_SPREAD,
    BALL_VX,
    BALL_VY,
    BALL_X,
    BALL_Y,
    HEADING,
    MATES,
    SEEN,
    SPREAD,
    TOLD,
    TURN_SPREAD,
    UPRIGHT,
    X,
    Y,
)
from nutmeg.match.behaviour.view_kernels import BEARING, DISTANCE, TURN
from nutmeg.match.behaviour.view_kernels import SPREAD as FAR_SPREAD
from nutmeg.match.slots import SLOTS

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts


BALL, FIRST_MARK, LAST_POST = Kind.BALL.value, Kind.OWN_POST.value, Kind.POST.value
KICKING = Posture.KICKING.value
"""Who does more than this (lies, gets up, dives) does not stand."""
PLAYERS = SLOTS // 2
FORGET, FORGET_POST = 0.05, 0.3
"""Share of the last landmark in the average of those that fit nothing; posts tell the ends of the pitch apart."""
FOUND, STRUCK = 0.5, 1.5
"""Deviation of the velocity of a ball that is found, and of one that may just have been kicked, m/s."""
LONG = 1.5
"""A ball that was not seen for so long is taken wherever it is seen, s."""
ASTRAY = 1.0
"""Variance of a heading that is too uncertain for small corrections, rad^2."""
WANDERS = 0.1
"""How far such a ball may get in a cycle, m."""


@unchecked
def track_all(
    rows: Ints,
    present: Bools,
    odometry: Floats,
    posture: SmallInts,
    count: Ints,
    kind: SmallInts,
    number: SmallInts,
    lying: Bools,
    polar: Floats,
    table: Table,
    minds: Floats,
    n: TrackerNumbers,
) -> None:
    """Lets all players of the matches `rows` take a cycle's odometry and sights into their minds (M, 22, `MIND`)."""
    for m in rows:
        for s in range(SLOTS):
            if not present[m, s]:
                continue
            w, seen = minds[m, s], Seen(count[m, s], kind[m, s], number[m, s], lying[m, s], polar[m, s])
            upright = posture[m, s] <= KICKING
            w[UPRIGHT] = 1.0 if upright else 0.0
            _walk(w, odometry[m, s, 0], odometry[m, s, 1], odometry[m, s, 2], n)
            _roll(w, odometry[m, s, 0], odometry[m, s, 1], posture[m, s] == KICKING, n)
            if w[TT] < ASTRAY:
                _see_landmarks(w, seen, table, n)
            if w[MISFIT] > n.lost or w[TT] >= ASTRAY:
                begin_anew(w, seen, table, n)
            for i in range(seen.things):
                if seen.kind[i] == BALL:
                    _see_ball(w, seen.polar[i], n)
                    break
            see_robots(w, s % PLAYERS, seen, n)
            tell(w, s % PLAYERS)


@inlined
def _walk(w: Floats, ahead: float, left: float, turn: float, n: TrackerNumbers) -> None:
    """Moves pose and odometer by a cycle's odometry, which is told as seen half way through the turn."""
    half = w[HEADING] + 0.5 * turn
    c, s = math.cos(half), math.sin(half)
    dx, dy = c * ahead - s * left, s * ahead + c * left
    w[X] += dx
    w[Y] += dy
    w[HEADING] = wrap_angle_exactly(w[HEADING] + turn)
    half = w[ODO_T] + 0.5 * turn
    c, s = math.cos(half), math.sin(half)
    w[ODO_X] += c * ahead - s * left
    w[ODO_Y] += s * ahead + c * left
    w[ODO_T] = wrap_angle_exactly(w[ODO_T] + turn)
    move, around = n.fallen_noise, n.fallen_turn_noise
    if w[UPRIGHT] > 0.0:
        move = n.move_noise + n.move_share * math.sqrt(ahead * ahead + left * left)
        around = n.turn_noise + n.turn_share * abs(turn)
    xt, yt, tt = w[XT], w[YT], w[TT]
    w[XX] += -2.0 * dy * xt + dy * dy * tt + move * move
    w[XY] += dx * xt - dy * yt - dx * dy * tt
    w[YY] += 2.0 * dx * yt + dx * dx * tt + move * move
    w[XT] -= dy * tt
    w[YT] += dx * tt
    w[TT] += around * around


@inlined
def _roll(w: Floats, ahead: float, left: float, kicking: bool, n: TrackerNumbers) -> None:
    """Lets the ball roll for a cycle, and time pass for it."""
    dt, u, v = n.step, w[BU], w[BV]
    w[SEEN] += dt
    w[TOLD] += dt
    speed = math.sqrt(u * u + v * v)
    if speed > 1e-6:
        slower = max(0.0, speed - (n.rolling + n.damping * speed) * dt) / speed
        w[BX] += 0.5 * (1.0 + slower) * dt * u
        w[BY] += 0.5 * (1.0 + slower) * dt * v
        w[BU], w[BV] = slower * u, slower * v
    walked = (n.move_noise + n.move_share * math.sqrt(ahead * ahead + left * left)) ** 2
    if w[SEEN] > LONG:
        w[BU], w[BV] = 0.5 * w[BU], 0.5 * w[BV]
        w[PXX] += WANDERS**2
        w[PYY] += WANDERS**2
        return
    push = (STRUCK if kicking else n.ball_push) ** 2
    w[PXX] += dt * (2.0 * w[PXU] + dt * w[PUU]) + walked
    w[PXY] += dt * (w[PXV] + w[PYU] + dt * w[PUV])
    w[PYY] += dt * (2.0 * w[PYV] + dt * w[PVV]) + walked
    w[PXU] += dt * w[PUU]
    w[PXV] += dt * w[PUV]
    w[PYU] += dt * w[PUV]
    w[PYV] += dt * w[PVV]
    w[PUU] += push
    w[PVV] += push


@inlined
def _see_landmarks(w: Floats, seen: Seen, table: Table, n: TrackerNumbers) -> None:
    """Corrects the pose by all landmarks that are seen and known."""
    polar, places = seen.polar, table.places
    misfit, crossing = w[MISFIT], n.crossing_noise**2
    for i in range(seen.things):
        k = seen.kind[i]
        if k < FIRST_MARK:
            continue
        distance, turn, far = polar[i, DISTANCE], polar[i, TURN], polar[i, FAR_SPREAD]
        way = w[HEADING] + polar[i, BEARING]
        ux, uy = math.cos(way), math.sin(way)
        zx, zy = distance * ux, distance * uy
        along, across = far * far + n.floor**2, (distance * n.bearing_noise) ** 2 + n.floor**2
        r11, r12 = along * ux * ux + across * uy * uy, (along - across) * ux * uy
        r22 = along * uy * uy + across * ux * ux
        i11, i12, i22 = _seen_information(w, zx, zy, r11, r12, r22)
        x, y, aimed = w[X] + zx, w[Y] + zy, not math.isnan(turn)
        best, rival, which, sure = math.inf, math.inf, -1, 1.0 / (w[TT] + crossing)
        for c in range(table.first[k], table.first[k + 1]):
            if differs(seen.number[i], places[c, 3]):
                continue
            ex, ey = places[c, 0] - x, places[c, 1] - y
            off = i11 * ex * ex + 2.0 * i12 * ex * ey + i22 * ey * ey
            if aimed and off < rival:
                off += wrap_angle_exactly(places[c, 2] - w[HEADING] - turn) ** 2 * sure
            if off < best:
                best, rival, which = off, best, c
            elif off < rival:
                rival = off
        share = FORGET if k > LAST_POST else FORGET_POST
        misfit += share * ((1.0 if best > n.gate else 0.0) - misfit)
        if best > n.gate or rival < n.rival_gate:
            continue
        _correct(w, zx, zy, places[which, 0] - x, places[which, 1] - y, i11, i12, i22)
        if aimed:
            _turn(w, wrap_angle_exactly(places[which, 2] - w[HEADING] - turn), crossing)
    w[MISFIT] = misfit


@inlined
def _seen_information(
    w: Floats, zx: float, zy: float, r11: float, r12: float, r22: float
) -> tuple[float, float, float]:
    """The inverse covariance of where a landmark seems to be: H P H' + R inverted, with H = (1, 0, -zy; 0, 1, zx)."""
    tx, ty = w[XT] - zy * w[TT], w[YT] + zx * w[TT]
    s11 = w[XX] - zy * w[XT] - zy * tx + r11
    s12 = w[XY] + zx * w[XT] - zy * ty + r12
    s22 = w[YY] + zx * w[YT] + zx * ty + r22
    scale = 1.0 / (s11 * s22 - s12 * s12)
    return s22 * scale, -s12 * scale, s11 * scale


@inlined
def _correct(w: Floats, zx: float, zy: float, ex: float, ey: float, i11: float, i12: float, i22: float) -> None:
    """Takes a landmark at z that is off by e into pose and covariance."""
    xx, xy, yy, xt, yt, tt = w[XX], w[XY], w[YY], w[XT], w[YT], w[TT]
    # the rows of P H'
    ax, ay = xx - zy * xt, xy + zx * xt
    bx, by = xy - zy * yt, yy + zx * yt
    tx, ty = xt - zy * tt, yt + zx * tt
    gx, gy = i11 * ex + i12 * ey, i12 * ex + i22 * ey
    w[X] += ax * gx + ay * gy
    w[Y] += bx * gx + by * gy
    w[HEADING] = wrap_angle_exactly(w[HEADING] + tx * gx + ty * gy)
    w[XX] = xx - _form(ax, ay, ax, ay, i11, i12, i22)
    w[XY] = xy - _form(ax, ay, bx, by, i11, i12, i22)
    w[YY] = yy - _form(bx, by, bx, by, i11, i12, i22)
    w[XT] = xt - _form(ax, ay, tx, ty, i11, i12, i22)
    w[YT] = yt - _form(bx, by, tx, ty, i11, i12, i22)
    w[TT] = tt - _form(tx, ty, tx, ty, i11, i12, i22)


@inlined
def _form(ax: float, ay: float, bx: float, by: float, i11: float, i12: float, i22: float) -> float:
    """The product a' I b of two vectors with a symmetric matrix between them."""
    return ax * (i11 * bx + i12 * by) + ay * (i12 * bx + i22 * by)


@inlined
def _turn(w: Floats, off: float, variance: float) -> None:
    """Corrects the pose by a measured heading that is off by so much."""
    xt, yt, tt = w[XT], w[YT], w[TT]
    share = 1.0 / (tt + variance)
    w[X] += xt * share * off
    w[Y] += yt * share * off
    w[HEADING] = wrap_angle_exactly(w[HEADING] + tt * share * off)
    w[XX] -= xt * xt * share
    w[XY] -= xt * yt * share
    w[YY] -= yt * yt * share
    w[XT] -= xt * tt * share
    w[YT] -= yt * tt * share
    w[TT] -= tt * tt * share


@inlined
def _see_ball(w: Floats, polar: Floats, n: TrackerNumbers) -> None:
    """Takes a sight of the ball, a row of `Seen.polar`."""
    distance, far = polar[DISTANCE], polar[FAR_SPREAD]
    way = w[ODO_T] + polar[BEARING]
    ux, uy = math.cos(way), math.sin(way)
    bx, by = w[ODO_X] + distance * ux, w[ODO_Y] + distance * uy
    along, across = far * far + 2.5e-5, (distance * n.bearing_noise) ** 2 + 2.5e-5
    r11, r12 = along * ux * ux + across * uy * uy, (along - across) * ux * uy
    r22 = along * uy * uy + across * ux * ux
    ex, ey = bx - w[BX], by - w[BY]
    s11, s12, s22 = w[PXX] + r11, w[PXY] + r12, w[PYY] + r22
    scale = 1.0 / (s11 * s22 - s12 * s12)
    i11, i12, i22 = s22 * scale, -s12 * scale, s11 * scale
    gx, gy = i11 * ex + i12 * ey, i12 * ex + i22 * ey
    if ex * gx + ey * gy > n.ball_gate:
        w[ODD] += 1.0
        if w[ODD] > 1.0 or w[SEEN] > LONG:
            find_ball(w, bx, by, r11, r12, r22, STRUCK if w[SEEN] < LONG else FOUND)
            w[SEEN] = 0.0
        return
    w[ODD] = 0.0
    w[SEEN] = 0.0
    p, xu, xv, yu, yv = w[PXY], w[PXU], w[PXV], w[PYU], w[PYV]
    pxx, pyy = w[PXX], w[PYY]
    w[BX] += pxx * gx + p * gy
    w[BY] += p * gx + pyy * gy
    w[BU] += xu * gx + yu * gy
    w[BV] += xv * gx + yv * gy
    w[PXX] -= _form(pxx, p, pxx, p, i11, i12, i22)
    w[PXY] -= _form(pxx, p, p, pyy, i11, i12, i22)
    w[PYY] -= _form(p, pyy, p, pyy, i11, i12, i22)
    w[PXU] -= _form(pxx, p, xu, yu, i11, i12, i22)
    w[PXV] -= _form(pxx, p, xv, yv, i11, i12, i22)
    w[PYU] -= _form(p, pyy, xu, yu, i11, i12, i22)
    w[PYV] -= _form(p, pyy, xv, yv, i11, i12, i22)
    w[PUU] -= _form(xu, yu, xu, yu, i11, i12, i22)
    w[PUV] -= _form(xu, yu, xv, yv, i11, i12, i22)
    w[PVV] -= _form(xv, yv, xv, yv, i11, i12, i22)


@inlined
def find_ball(w: Floats, x: float, y: float, xx: float, xy: float, yy: float, speed: float) -> None:
    """Puts the ball at a place in the odometer's frame, with an unknown velocity of that size."""
    w[BX], w[BY], w[BU], w[BV] = x, y, 0.0, 0.0
    w[PXX], w[PXY], w[PYY], w[PUV] = xx, xy, yy, 0.0
    w[PXU], w[PXV], w[PYU], w[PYV] = 0.0, 0.0, 0.0, 0.0
    w[PUU], w[PVV] = speed * speed, speed * speed
    w[ODD] = 0.0


@inlined
def tell(w: Floats, own: int) -> None:
    """Writes what follows from pose and ball to the belief: spreads, the ball on the pitch, the player among mates."""
    w[SPREAD] = math.sqrt(0.5 * (w[XX] + w[YY]))
    w[TURN_SPREAD] = math.sqrt(w[TT])
    turn = w[HEADING] - w[ODO_T]
    c, s = math.cos(turn), math.sin(turn)
    dx, dy = w[BX] - w[ODO_X], w[BY] - w[ODO_Y]
    w[BALL_X], w[BALL_Y] = w[X] + c * dx - s * dy, w[Y] + s * dx + c * dy
    w[BALL_VX], w[BALL_VY] = c * w[BU] - s * w[BV], s * w[BU] + c * w[BV]
    w[BALL_SPREAD] = math.sqrt(0.5 * (w[PXX] + w[PYY]))
    me = MATES + 4 * own
    w[me], w[me + 1], w[me + 2], w[me + 3] = w[X], w[Y], 0.0, 1.0 - w[UPRIGHT]
