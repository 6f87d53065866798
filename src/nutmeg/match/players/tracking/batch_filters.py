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
from typing import TYPE_CHECKING, NamedTuple

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts
from nutmeg.base.kernels import inlined, kernel, unchecked
from nutmeg.match.players.strategies.records import (
    BALL_SPREAD,
    BALL_VX,
    BALL_VY,
    BALL_X,
    BALL_Y,
    BELIEF,
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
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.camera_geometry import BEARING, DISTANCE, TURN
from nutmeg.match.worlds.behavioural.camera_geometry import SPREAD as FAR_SPREAD
from nutmeg.match.worlds.behavioural.camera_geometry import SPREAD as SPREAD_
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.state import Posture

if TYPE_CHECKING:
    Best = tuple[float, float, float, float, float]


# ----------------------------------------------------------------------------------------------------
# What trackers keep of a player between cycles: a row of plain numbers, and the settings as kernels want them.
#
# A row begins with the belief as strategies get it (`strategy_rows`), so that nothing is copied; what only the
# tracker needs follows. Everything is in the frame of the player's own team, or of its odometer: the frame in which
# it began, as its odometry has it. Metres, seconds, radians.


XX, XY, YY, XT, YT, TT = range(BELIEF, BELIEF + 6)
"""Covariance of the pose: x, y and heading t."""
ODO_X, ODO_Y, ODO_T = range(BELIEF + 6, BELIEF + 9)
"""Where the player would be by its odometry alone."""
BX, BY, BU, BV = range(BELIEF + 9, BELIEF + 13)
"""The ball in the odometer's frame, and its velocity (u, v)."""
PXX, PXY, PYY, PXU, PXV, PYU, PYV, PUU, PUV, PVV = range(BELIEF + 13, BELIEF + 23)
"""Covariance of the ball."""
ODD = BELIEF + 23
"""How often in a row the ball was not where it should be."""
MISFIT = BELIEF + 24
"""Share of the landmarks seen lately that fit nothing."""
MIND = BELIEF + 25
"""Width of a row."""


class TrackerNumbers(NamedTuple):
    """The settings as the kernels want them; what is not said here is as in `eyes.TrackerSettings`."""

    step: float
    """A cycle, s."""
    move_noise: float
    move_share: float
    turn_noise: float
    turn_share: float
    fallen_noise: float
    fallen_turn_noise: float
    gate: float
    rival_gate: float
    floor: float
    bearing_noise: float
    crossing_noise: float
    ball_push: float
    ball_gate: float
    ball_told: float
    rolling: float
    """How a ball slows down, m/s^2."""
    damping: float
    """The same with its speed, 1/s."""
    others_drift: float
    others_gate: float
    others_memory: float
    lost: float
    apart: float
    """By how many landmarks a new pose must fit better than any other."""
    half_length: float
    half_width: float


class SightingRows(NamedTuple):
    """What one player sees in a cycle, its rows of `sights.Sights`."""

    things: int
    """How many; what follows has more rows."""
    kind: SmallInts
    number: SmallInts
    lying: Bools
    polar: Floats


class LandmarkTable(NamedTuple):
    """The landmarks in the frame of a team, sorted by kind."""

    places: Floats
    """(C, 4): x, y, direction or NaN, and the number that is recognised with it, or 0."""
    first: Ints
    """(kinds + 1,) where each kind begins."""


# ----------------------------------------------------------------------------------------------------
# Where the other players are, compiled: sightings without numbers become tracks, one for each player that is known.
#
# A robot that is seen is the track of its team that is nearest, if that is near enough for the time since it was
# seen; otherwise a row that is free: one never used, or the one that was not seen for longest. So the rows of
# opponents are players, but not their numbers, unless eyes recognise numbers; mates tell theirs. A sighting moves a
# track by the share that its own error has in that of both.


MATE_KIND, OPPONENT_KIND, ROBOT_KIND = ObjectKind.MATE.value, ObjectKind.OPPONENT.value, ObjectKind.ROBOT.value
ALL_PLAYERS = 2 * MAX_PLAYERS
MIN_ROBOT_SPREAD = 0.05
"""What no place of a robot is known better than, m."""
JUST_SEEN_AGE = 1e-9
"""Who was seen in this very cycle, s."""


@kernel
def see_robots(w: Floats, own: int, seen: SightingRows, n: TrackerNumbers) -> None:
    """Takes the robots among the things that are seen into a mind; `own` is the player's number less 1."""
    kind, number, polar = seen.kind, seen.number, seen.polar
    for k in range(ALL_PLAYERS):
        w[MATES + 4 * k + 2] += n.step
    for i in range(seen.things):
        if not MATE_KIND <= kind[i] <= ROBOT_KIND:
            continue
        way = w[HEADING] + polar[i, BEARING]
        x, y = w[X] + polar[i, DISTANCE] * math.cos(way), w[Y] + polar[i, DISTANCE] * math.sin(way)
        if number[i] > 0:
            track = number[i] - 1 + (0 if kind[i] == MATE_KIND else MAX_PLAYERS)
        else:
            track = _nearest(w, own, kind[i], x, y, n)
        if track < 0:
            continue
        _move(w, MATES + 4 * track, x, y, polar[i, SPREAD_], n.others_drift)
        w[MATES + 4 * track + 3] = 1.0 if seen.lying[i] else 0.0


@kernel
def _nearest(w: Floats, own: int, kind: int, x: float, y: float, n: TrackerNumbers) -> int:
    """The track that a robot at a place is: the nearest, or a free one; -1 if there is none."""
    first = MAX_PLAYERS if kind == OPPONENT_KIND else 0
    last = MAX_PLAYERS if kind == MATE_KIND else ALL_PLAYERS
    best, nearest, free, oldest = -1, math.inf, -1, n.others_memory
    for k in range(first, last):
        age = w[MATES + 4 * k + 2]
        if k == own or age < JUST_SEEN_AGE:
            continue
        if age > oldest and (k >= MAX_PLAYERS or kind == MATE_KIND):
            free, oldest = k, age
        if age == math.inf:
            continue
        gate = n.others_gate + n.others_drift * min(age, n.others_memory)
        far = math.hypot(w[MATES + 4 * k] - x, w[MATES + 4 * k + 1] - y) - gate
        if far < min(nearest, 0.0):
            best, nearest = k, far
    return best if best >= 0 else free


@kernel
def _move(w: Floats, at: int, x: float, y: float, spread: float, drift: float) -> None:
    """Moves a track towards where it is seen."""
    age = w[at + 2]
    share = 1.0
    if age < math.inf:
        seen, known = spread * spread + MIN_ROBOT_SPREAD**2, MIN_ROBOT_SPREAD**2 + 0.02 + (drift * age) ** 2
        share = known / (known + seen)
        w[at] += share * (x - w[at])
        w[at + 1] += share * (y - w[at + 1])
    else:
        w[at], w[at + 1] = x, y
    w[at + 2] = 0.0


# ----------------------------------------------------------------------------------------------------
# Where a player is who has lost its way, compiled: poses that explain one picture, tried one by one.
#
# A crossing whose direction is seen says where the player is if one knows which crossing it is; so do two posts. Each
# possibility is a pose, and fits the landmarks in view more or less. The best is taken if it fits at least so well as
# no other, elsewhere, does; a picture that leaves a choice (both ends of the pitch look alike where no goal is seen)
# leaves the player lost.


RELOCATION_KERNELS_FIRST_MARK, RELOCATION_KERNELS_LAST_POST = ObjectKind.OWN_POST.value, ObjectKind.POST.value
MIN_RELOCATION_FIT = 1.8
"""How many landmarks a pose must fit, less what they are off."""
OTHER_POSE_DISTANCE, OTHER_POSE_ANGLE = 0.5, 0.5
"""Poses farther apart than this are different ones, m and rad."""
MAX_DISTANCE_OUTSIDE = 1.0
"""How far outside the lines players may be, m."""
LANDMARK_TOLERANCE = 0.2
"""How far a landmark may be from where it should be, and three times what the eyes say, m."""
PRIOR_PENALTY = 0.05
"""What a pose gets for each metre that it is nearer to where the player believed to be, in landmarks."""


@inlined
def differs(number: int, landmarks: float) -> bool:
    """Whether a number that is recognised with a thing, if any is, is another than a landmark's."""
    found: bool = number > 0 and number != landmarks
    return found


@kernel
def begin_anew(w: Floats, seen: SightingRows, table: LandmarkTable, n: TrackerNumbers) -> None:
    """Looks for a new pose in what is seen, and takes it if there is one."""
    kind, polar, places = seen.kind, seen.polar, table.places
    best = (0.0, 0.0, 0.0, -math.inf, -math.inf)
    for i in range(seen.things):
        if kind[i] < RELOCATION_KERNELS_FIRST_MARK:
            continue
        for c in range(table.first[kind[i]], table.first[kind[i] + 1]):
            if differs(seen.number[i], places[c, 3]):
                continue
            if not math.isnan(polar[i, TURN]):
                heading = wrap_angle_exactly(places[c, 2] - polar[i, TURN])
                best = _try(best, heading, i, c, w, seen, table, n)
            elif kind[i] <= RELOCATION_KERNELS_LAST_POST:
                best = _try_pairs(best, i, c, w, seen, table, n)
    if best[3] > MIN_RELOCATION_FIT and best[3] > best[4] + n.apart:
        w[X], w[Y], w[HEADING], w[MISFIT] = best[0], best[1], best[2], 0.0
        w[XX], w[XY], w[YY], w[XT], w[YT], w[TT] = 0.04, 0.0, 0.04, 0.0, 0.0, 0.04


@kernel
def _try_pairs(
    best: Best, i: int, c: int, w: Floats, seen: SightingRows, table: LandmarkTable, n: TrackerNumbers
) -> Best:
    """Tries poses in which thing i is post c, with any other post that is seen."""
    kind, polar, places = seen.kind, seen.polar, table.places
    ax, ay = polar[i, DISTANCE] * math.cos(polar[i, BEARING]), polar[i, DISTANCE] * math.sin(polar[i, BEARING])
    for j in range(seen.things):
        if j == i or not RELOCATION_KERNELS_FIRST_MARK <= kind[j] <= RELOCATION_KERNELS_LAST_POST:
            continue
        bx, by = polar[j, DISTANCE] * math.cos(polar[j, BEARING]), polar[j, DISTANCE] * math.sin(polar[j, BEARING])
        for d in range(table.first[kind[j]], table.first[kind[j] + 1]):
            if d == c or differs(seen.number[j], places[d, 3]):
                continue
            way = math.atan2(places[d, 1] - places[c, 1], places[d, 0] - places[c, 0])
            heading = wrap_angle_exactly(way - math.atan2(by - ay, bx - ax))
            best = _try(best, heading, i, c, w, seen, table, n)
    return best


@kernel
def _try(
    best: Best, heading: float, i: int, c: int, w: Floats, seen: SightingRows, table: LandmarkTable, n: TrackerNumbers
) -> Best:
    """Tries the pose with a heading in which thing i is landmark c."""
    polar, places = seen.polar, table.places
    way = heading + polar[i, BEARING]
    x, y = places[c, 0] - polar[i, DISTANCE] * math.cos(way), places[c, 1] - polar[i, DISTANCE] * math.sin(way)
    if abs(x) > n.half_length + MAX_DISTANCE_OUTSIDE or abs(y) > n.half_width + MAX_DISTANCE_OUTSIDE:
        return best
    fit = -PRIOR_PENALTY * math.hypot(x - w[X], y - w[Y])
    for k in range(seen.things):
        if seen.kind[k] >= RELOCATION_KERNELS_FIRST_MARK:
            fit += _fits(x, y, heading, k, seen, table)
    away = (
        math.hypot(x - best[0], y - best[1]) > OTHER_POSE_DISTANCE
        or abs(wrap_angle_exactly(heading - best[2])) > OTHER_POSE_ANGLE
    )
    if fit > best[3]:
        return x, y, heading, fit, best[3] if away else best[4]
    if away and fit > best[4]:
        return best[0], best[1], best[2], best[3], fit
    return best


@inlined
def _fits(x: float, y: float, heading: float, k: int, seen: SightingRows, table: LandmarkTable) -> float:
    """How well thing k fits a pose: 1 less its share of what it may be off at most, or -1."""
    kind, polar, places = seen.kind[k], seen.polar, table.places
    way = heading + polar[k, BEARING]
    sx, sy = x + polar[k, DISTANCE] * math.cos(way), y + polar[k, DISTANCE] * math.sin(way)
    turn, most, fit = polar[k, TURN], LANDMARK_TOLERANCE + 3.0 * polar[k, SPREAD_], -1.0
    for c in range(table.first[kind], table.first[kind + 1]):
        off = math.hypot(places[c, 0] - sx, places[c, 1] - sy) / most
        if off >= 1.0 or differs(seen.number[k], places[c, 3]):
            continue
        if not math.isnan(turn) and abs(wrap_angle_exactly(places[c, 2] - heading - turn)) > OTHER_POSE_ANGLE:
            continue
        fit = max(fit, 1.0 - 0.5 * off)
    return fit


BALL_KIND, FIRST_MARK, LAST_POST = ObjectKind.BALL.value, ObjectKind.OWN_POST.value, ObjectKind.POST.value
LAST_UPRIGHT_POSTURE = Posture.KICKING.value
"""Who does more than this (lies, gets up, dives) does not stand."""
TEAM_SIZE = SLOTS // 2
MISFIT_SHARE, POST_MISFIT_SHARE = 0.05, 0.3
"""Share of the last landmark in the average of those that fit nothing; posts tell the ends of the pitch apart."""
FOUND_BALL_SPEED, KICKED_BALL_SPEED = 0.5, 1.5
"""Deviation of the velocity of a ball that is found, and of one that may just have been kicked, m/s."""
LOST_BALL_TIME = 1.5
"""A ball that was not seen for so long is taken wherever it is seen, s."""
LOST_HEADING_VARIANCE = 1.0
"""Variance of a heading that is too uncertain for small corrections, rad^2."""
LOST_BALL_DRIFT = 0.1
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
    table: LandmarkTable,
    minds: Floats,
    n: TrackerNumbers,
) -> None:
    """Lets all players of the matches `rows` take a cycle's odometry and sights into their minds (M, 22, `MIND`)."""
    for m in rows:
        for s in range(SLOTS):
            if not present[m, s]:
                continue
            w, seen = minds[m, s], SightingRows(count[m, s], kind[m, s], number[m, s], lying[m, s], polar[m, s])
            upright = posture[m, s] <= LAST_UPRIGHT_POSTURE
            w[UPRIGHT] = 1.0 if upright else 0.0
            _walk(w, odometry[m, s, 0], odometry[m, s, 1], odometry[m, s, 2], n)
            _roll(w, odometry[m, s, 0], odometry[m, s, 1], posture[m, s] == LAST_UPRIGHT_POSTURE, n)
            if w[TT] < LOST_HEADING_VARIANCE:
                _see_landmarks(w, seen, table, n)
            if w[MISFIT] > n.lost or w[TT] >= LOST_HEADING_VARIANCE:
                begin_anew(w, seen, table, n)
            for i in range(seen.things):
                if seen.kind[i] == BALL_KIND:
                    _see_ball(w, seen.polar[i], n)
                    break
            see_robots(w, s % TEAM_SIZE, seen, n)
            tell(w, s % TEAM_SIZE)


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
    if w[SEEN] > LOST_BALL_TIME:
        w[BU], w[BV] = 0.5 * w[BU], 0.5 * w[BV]
        w[PXX] += LOST_BALL_DRIFT**2
        w[PYY] += LOST_BALL_DRIFT**2
        return
    push = (KICKED_BALL_SPEED if kicking else n.ball_push) ** 2
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
def _see_landmarks(w: Floats, seen: SightingRows, table: LandmarkTable, n: TrackerNumbers) -> None:
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
        share = MISFIT_SHARE if k > LAST_POST else POST_MISFIT_SHARE
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
        if w[ODD] > 1.0 or w[SEEN] > LOST_BALL_TIME:
            find_ball(w, bx, by, r11, r12, r22, KICKED_BALL_SPEED if w[SEEN] < LOST_BALL_TIME else FOUND_BALL_SPEED)
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
