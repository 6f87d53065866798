"""Compiled filters for the beliefs of all players of M matches: own pose, ball and other players.

**Pose**: an extended Kalman filter of (x, y, heading). Odometry moves it. A landmark at z in the body's frame is where
`w = place + R(heading) z` on the pitch, so that its innovation `c - w` has the same covariance
`S = P_xy + h P_t h' + ... + R` for every landmark c that it could be, with h = dw/dheading: S is inverted once, and all
landmarks of that kind are compared. It counts as the nearest one only if that is near enough and no other is (gates and
nearest neighbours: Bar-Shalom and Li, Estimation and Tracking, 1993). Directions of crossings correct the heading
alone.

**Relocation**: a player who sees too much that fits nothing is lost. A crossing whose direction is seen says where the
player is if one knows which crossing it is; so do two posts. Each possibility is a pose, and fits the landmarks in view
more or less. The best is taken if it fits well and clearly better than every other one elsewhere; a picture that leaves
a choice (both ends of the pitch look alike where no goal is seen) leaves the player lost.

**Ball**: place and velocity with their covariance in the frame of the odometer, in which walking and corrections of the
pose do not move it.

**Other players**: sightings without numbers become tracks, one for each known player. A robot that is seen belongs to
the nearest track of its team, if that is near enough for the time since it was seen; otherwise to a free row: one never
used, or the one that was not seen for longest. So rows of opponents are players, but not their numbers, unless eyes
recognise numbers; team-mates tell theirs (`share_beliefs`).

Beliefs are in the frame of the player's own team. Metres, seconds, radians.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.kernels import inlined, kernel, unchecked
from nutmeg.match.players.tracking.records import BeliefRecord
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.eyes import TrackerSettings
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.random import VOICES, uniform
from nutmeg.match.worlds.behavioural.state import Posture

if TYPE_CHECKING:
    import numpy as np

    from nutmeg.base.arrays import Ints
    from nutmeg.base.records import Records
    from nutmeg.match.players.tracking.records import OtherRecord
    from nutmeg.match.worlds.behavioural.state import Ball, Player
    from nutmeg.match.worlds.behavioural.vision import SightingRecord

MISFIT_SHARE = 0.05
"""Share of the last landmark in the average of those that fit nothing."""
POST_MISFIT_SHARE = 0.3
"""The same of a goal post, which counts more because posts tell the ends of the pitch apart."""
FOUND_BALL_SPEED = 0.5
"""Deviation of the velocity of a ball that is found, m/s."""
KICKED_BALL_SPEED = 1.5
"""Deviation of the velocity of a ball that may just have been kicked, m/s."""
LOST_BALL_TIME = 1.5
"""A ball that was not seen for so long is taken wherever it is seen, s."""
LOST_BALL_DRIFT = 0.1
"""How far such a ball may get in a cycle, m."""
LOST_HEADING_VARIANCE = 1.0
"""Variance of a heading that is too uncertain for small corrections, rad^2."""
BALL_FLOOR = 2.5e-5
"""Least variance of a sighting of the ball, m^2."""
MIN_ROBOT_SPREAD = 0.05
"""What no place of a robot is known better than, m."""
JUST_SEEN_AGE = 1e-9
"""Who was seen in this very cycle, s."""
MIN_RELOCATION_FIT = 1.8
"""How many landmarks a new pose must fit, less what they are off."""
OTHER_POSE_DISTANCE = 0.5
"""Poses farther apart than this are different ones, m."""
OTHER_POSE_ANGLE = 0.5
"""Poses turned by more than this are different ones, rad."""
MAX_DISTANCE_OUTSIDE = 1.0
"""How far outside the lines players may be, m."""
LANDMARK_TOLERANCE = 0.2
"""How far a landmark may be from where it should be, beside three deviations of its distance, m."""
PRIOR_PENALTY = 0.05
"""What a pose loses for each metre from where the player believed to be, in landmarks."""
MAX_TOLD_BALL_AGE = 0.35
"""Players do not tell of balls that they saw longer ago, s."""
MAX_TOLD_SPREAD = 1.0
"""A player that is less sure of its own place tells nothing, m."""
TOLD_BALL_SPEED = 0.5
"""Deviation of the velocity of a ball that a team-mate tells of, m/s."""


@dataclass
class PoseFilter:
    """The covariance of a pose (x, y, heading t), and the odometer."""

    xx: float
    xy: float
    yy: float
    xt: float
    yt: float
    tt: float
    odometer_x: float
    """Where the player would be by its odometry alone."""
    odometer_y: float
    odometer_heading: float
    misfit: float
    """Share of the landmarks seen lately that fit nothing."""


@dataclass
class BallFilter:
    """The ball in the odometer's frame: place (x, y), velocity (u, v), and their covariance."""

    x: float
    y: float
    u: float
    v: float
    xx: float
    xy: float
    yy: float
    xu: float
    xv: float
    yu: float
    yv: float
    uu: float
    uv: float
    vv: float
    surprises: int
    """How often in a row the ball was not where it should be."""


@dataclass
class MindRecord:
    """What a tracker keeps of a player between cycles; the belief is what strategies get."""

    belief: BeliefRecord
    pose: PoseFilter
    ball: BallFilter


@dataclass(frozen=True)
class TrackerNumbers:
    """The numbers of a tracker: its settings, and what follows from cameras, ball and pitch."""

    settings: TrackerSettings
    step: float
    """A cycle, s."""
    bearing_noise: float
    """Deviation of a bearing, rad."""
    crossing_noise: float
    """Deviation of the direction of a crossing, rad."""
    rolling: float
    """How a ball slows down, m/s^2."""
    damping: float
    """How it slows down with its speed, 1/s."""
    apart: float
    """By how many landmarks a new pose must fit better than any other."""
    half_length: float
    """The half length of the pitch, m."""
    half_width: float


@dataclass
class LandmarkRecord:
    """A landmark in the frame of a team."""

    x: float
    y: float
    turn: float
    """Direction of a crossing, rad; else NaN."""
    number: int
    """The number that is recognised with it, or 0."""


class LandmarkTable(NamedTuple):
    """The landmarks of a pitch, sorted by kind."""

    landmarks: Records[LandmarkRecord]
    first: Ints
    """(kinds + 1,) where each kind begins."""


class _Symmetric(NamedTuple):
    """A symmetric matrix of two rows: a covariance, or its inverse."""

    xx: float
    xy: float
    yy: float


class _PoseGuess(NamedTuple):
    """The best pose of a relocation so far."""

    x: float
    y: float
    heading: float
    fit: float
    """How many landmarks it fits."""
    rival_fit: float
    """How many landmarks the best other pose, elsewhere, fits."""


@unchecked
def track_all(
    chosen: Ints,
    players: Records[Records[Player]],
    sightings: Records[Records[Records[SightingRecord]]],
    counts: Ints,
    table: LandmarkTable,
    minds: Records[Records[MindRecord]],
    settings: Records[TrackerNumbers],
) -> None:
    """Takes a cycle's odometry and sightings of all players of the matches `chosen` into their minds (M, 22).

    Args:
        chosen: (K,) matches.
        players: (M, 22).
        sightings: (M, 22, things) of which the first `counts` (M, 22) are seen.
        counts: (M, 22).
        table: landmarks of the pitch.
        minds: (M, 22), written.
        settings: (1,) numbers of the tracker.
    """
    numbers = settings[0]
    for m in chosen:
        for s in range(SLOTS):
            player = players[m][s]
            if not player.present:
                continue
            mind, seen = minds[m][s], sightings[m][s][: counts[m, s]]
            mind.belief.upright = player.posture <= Posture.KICKING
            _walk(mind, player, numbers)
            _roll(mind, player, numbers)
            if mind.pose.tt < LOST_HEADING_VARIANCE:
                _see_landmarks(mind, seen, table, numbers)
            if mind.pose.misfit > numbers.settings.lost or mind.pose.tt >= LOST_HEADING_VARIANCE:
                _relocate(mind, seen, table, numbers)
            for i in range(len(seen)):
                if seen[i].kind == ObjectKind.BALL:
                    _see_ball(mind, seen[i], numbers)
                    break
            _see_robots(mind.belief, s % MAX_PLAYERS, seen, numbers)
            _update_belief(mind, s % MAX_PLAYERS)


@kernel
def refresh_belief(minds: Records[MindRecord], slot: int) -> None:
    """Brings the belief of one of the players of a match (22,) up to date, for callers in Python."""
    _update_belief(minds[slot], slot % MAX_PLAYERS)


@inlined
def _update_belief(mind: MindRecord, own: int) -> None:
    """Writes what follows from the filters to the belief: spreads, the ball on the pitch, the player among mates."""
    belief, pose, ball = mind.belief, mind.pose, mind.ball
    belief.spread = math.sqrt(0.5 * (pose.xx + pose.yy))
    belief.heading_spread = math.sqrt(pose.tt)
    turn = belief.heading - pose.odometer_heading
    c, s = math.cos(turn), math.sin(turn)
    dx, dy = ball.x - pose.odometer_x, ball.y - pose.odometer_y
    belief.ball_x, belief.ball_y = belief.x + c * dx - s * dy, belief.y + s * dx + c * dy
    belief.ball_vx, belief.ball_vy = c * ball.u - s * ball.v, s * ball.u + c * ball.v
    belief.ball_spread = math.sqrt(0.5 * (ball.xx + ball.yy))
    me = belief.others[own]
    me.x, me.y, me.age, me.lies = belief.x, belief.y, 0.0, not belief.upright


# ---- odometry


@inlined
def _walk(mind: MindRecord, player: Player, numbers: TrackerNumbers) -> None:
    """Moves pose and odometer by a cycle's odometry, which is given in the frame half way through the turn."""
    belief, pose, settings = mind.belief, mind.pose, numbers.settings
    ahead, left, turn = player.odometry_ahead, player.odometry_left, player.odometry_turn
    half = belief.heading + 0.5 * turn
    c, s = math.cos(half), math.sin(half)
    dx, dy = c * ahead - s * left, s * ahead + c * left
    belief.x += dx
    belief.y += dy
    belief.heading = wrap_angle_exactly(belief.heading + turn)
    half = pose.odometer_heading + 0.5 * turn
    c, s = math.cos(half), math.sin(half)
    pose.odometer_x += c * ahead - s * left
    pose.odometer_y += s * ahead + c * left
    pose.odometer_heading = wrap_angle_exactly(pose.odometer_heading + turn)
    move, around = settings.fallen_noise, settings.fallen_turn_noise
    if belief.upright:
        move = settings.move_noise + settings.move_share * math.sqrt(ahead * ahead + left * left)
        around = settings.turn_noise + settings.turn_share * abs(turn)
    # P = F P F' + Q with F = (1, 0, -dy; 0, 1, dx; 0, 0, 1)
    xt, yt, tt = pose.xt, pose.yt, pose.tt
    pose.xx += -2.0 * dy * xt + dy * dy * tt + move * move
    pose.xy += dx * xt - dy * yt - dx * dy * tt
    pose.yy += 2.0 * dx * yt + dx * dx * tt + move * move
    pose.xt -= dy * tt
    pose.yt += dx * tt
    pose.tt += around * around


@inlined
def _roll(mind: MindRecord, player: Player, numbers: TrackerNumbers) -> None:
    """Lets the ball roll for a cycle, and time pass for it."""
    belief, ball, settings = mind.belief, mind.ball, numbers.settings
    ahead, left = player.odometry_ahead, player.odometry_left
    dt, u, v = numbers.step, ball.u, ball.v
    belief.seen_ago += dt
    belief.told_ago += dt
    speed = math.sqrt(u * u + v * v)
    if speed > 1e-6:
        slower = max(0.0, speed - (numbers.rolling + numbers.damping * speed) * dt) / speed
        ball.x += 0.5 * (1.0 + slower) * dt * u
        ball.y += 0.5 * (1.0 + slower) * dt * v
        ball.u, ball.v = slower * u, slower * v
    walked = (settings.move_noise + settings.move_share * math.sqrt(ahead * ahead + left * left)) ** 2
    if belief.seen_ago > LOST_BALL_TIME:
        # Nobody knows what has become of it: it is believed to come to rest, ever less surely.
        ball.u, ball.v = 0.5 * ball.u, 0.5 * ball.v
        ball.xx += LOST_BALL_DRIFT**2
        ball.yy += LOST_BALL_DRIFT**2
        return
    push = (KICKED_BALL_SPEED if player.posture == Posture.KICKING else settings.ball_push) ** 2
    ball.xx += dt * (2.0 * ball.xu + dt * ball.uu) + walked
    ball.xy += dt * (ball.xv + ball.yu + dt * ball.uv)
    ball.yy += dt * (2.0 * ball.yv + dt * ball.vv) + walked
    ball.xu += dt * ball.uu
    ball.xv += dt * ball.uv
    ball.yu += dt * ball.uv
    ball.yv += dt * ball.vv
    ball.uu += push
    ball.vv += push


# ---- landmarks


@inlined
def _is_other_number(number: int, landmarks: int) -> bool:
    """Whether the number that is recognised with a sighting, if any is, is another than a landmark's."""
    found: bool = number > 0 and number != landmarks
    return found


@inlined
def _polar_covariance(along: float, across: float, ux: float, uy: float) -> _Symmetric:
    """The covariance of a place that is seen in the direction (ux, uy), from its variances along and across it."""
    return _Symmetric(
        along * ux * ux + across * uy * uy, (along - across) * ux * uy, along * uy * uy + across * ux * ux
    )


@inlined
def _inverse(xx: float, xy: float, yy: float) -> _Symmetric:
    scale = 1.0 / (xx * yy - xy * xy)
    return _Symmetric(yy * scale, -xy * scale, xx * scale)


@inlined
def _form(ax: float, ay: float, bx: float, by: float, matrix: _Symmetric) -> float:
    """The product a' M b of two vectors with a symmetric matrix between them."""
    return ax * (matrix.xx * bx + matrix.xy * by) + ay * (matrix.xy * bx + matrix.yy * by)


@inlined
def _see_landmarks(
    mind: MindRecord, seen: Records[SightingRecord], table: LandmarkTable, numbers: TrackerNumbers
) -> None:
    """Corrects the pose by all landmarks that are seen and known."""
    belief, pose, settings = mind.belief, mind.pose, numbers.settings
    misfit, crossing, floor = pose.misfit, numbers.crossing_noise**2, settings.mark_floor**2
    for i in range(len(seen)):
        sighting = seen[i]
        k = sighting.kind
        if k < ObjectKind.OWN_POST:
            continue
        distance, turn, far = sighting.distance, sighting.turn, sighting.spread
        way = belief.heading + sighting.bearing
        ux, uy = math.cos(way), math.sin(way)
        zx, zy = distance * ux, distance * uy
        noise = _polar_covariance(far * far + floor, (distance * numbers.bearing_noise) ** 2 + floor, ux, uy)
        information = _innovation_information(pose, zx, zy, noise)
        x, y, aimed = belief.x + zx, belief.y + zy, not math.isnan(turn)
        # The nearest landmark of that kind, and how near the second one is, in squared deviations.
        best, rival, which, sure = math.inf, math.inf, -1, 1.0 / (pose.tt + crossing)
        for c in range(table.first[k], table.first[k + 1]):
            landmark = table.landmarks[c]
            if _is_other_number(sighting.number, landmark.number):
                continue
            ex, ey = landmark.x - x, landmark.y - y
            off = information.xx * ex * ex + 2.0 * information.xy * ex * ey + information.yy * ey * ey
            if aimed and off < rival:
                off += wrap_angle_exactly(landmark.turn - belief.heading - turn) ** 2 * sure
            if off < best:
                best, rival, which = off, best, c
            elif off < rival:
                rival = off
        share = MISFIT_SHARE if k > ObjectKind.POST else POST_MISFIT_SHARE
        misfit += share * ((1.0 if best > settings.gate else 0.0) - misfit)
        if best > settings.gate or rival < settings.rival_gate:
            continue
        landmark = table.landmarks[which]
        _correct(mind, zx, zy, landmark.x - x, landmark.y - y, information)
        if aimed:
            _correct_heading(mind, wrap_angle_exactly(landmark.turn - belief.heading - turn), crossing)
    pose.misfit = misfit


@inlined
def _innovation_information(pose: PoseFilter, zx: float, zy: float, noise: _Symmetric) -> _Symmetric:
    """The inverse covariance of where a landmark seems to be: H P H' + R inverted, with H = (1, 0, -zy; 0, 1, zx)."""
    tx, ty = pose.xt - zy * pose.tt, pose.yt + zx * pose.tt
    information: _Symmetric = _inverse(
        pose.xx - zy * pose.xt - zy * tx + noise.xx,
        pose.xy + zx * pose.xt - zy * ty + noise.xy,
        pose.yy + zx * pose.yt + zx * ty + noise.yy,
    )
    return information


@inlined
def _correct(mind: MindRecord, zx: float, zy: float, ex: float, ey: float, information: _Symmetric) -> None:
    """Takes a landmark at z that is off by e into pose and covariance: the step of a Kalman filter."""
    belief, pose = mind.belief, mind.pose
    xx, xy, yy, xt, yt, tt = pose.xx, pose.xy, pose.yy, pose.xt, pose.yt, pose.tt
    # the rows of P H'
    ax, ay = xx - zy * xt, xy + zx * xt
    bx, by = xy - zy * yt, yy + zx * yt
    tx, ty = xt - zy * tt, yt + zx * tt
    gx, gy = information.xx * ex + information.xy * ey, information.xy * ex + information.yy * ey
    belief.x += ax * gx + ay * gy
    belief.y += bx * gx + by * gy
    belief.heading = wrap_angle_exactly(belief.heading + tx * gx + ty * gy)
    pose.xx = xx - _form(ax, ay, ax, ay, information)
    pose.xy = xy - _form(ax, ay, bx, by, information)
    pose.yy = yy - _form(bx, by, bx, by, information)
    pose.xt = xt - _form(ax, ay, tx, ty, information)
    pose.yt = yt - _form(bx, by, tx, ty, information)
    pose.tt = tt - _form(tx, ty, tx, ty, information)


@inlined
def _correct_heading(mind: MindRecord, off: float, variance: float) -> None:
    """Corrects the pose by a measured heading that is off by so much."""
    belief, pose = mind.belief, mind.pose
    xt, yt, tt = pose.xt, pose.yt, pose.tt
    share = 1.0 / (tt + variance)
    belief.x += xt * share * off
    belief.y += yt * share * off
    belief.heading = wrap_angle_exactly(belief.heading + tt * share * off)
    pose.xx -= xt * xt * share
    pose.xy -= xt * yt * share
    pose.yy -= yt * yt * share
    pose.xt -= xt * tt * share
    pose.yt -= yt * tt * share
    pose.tt -= tt * tt * share


# ---- relocation


@kernel
def _relocate(mind: MindRecord, seen: Records[SightingRecord], table: LandmarkTable, numbers: TrackerNumbers) -> None:
    """Looks for a new pose in what is seen, and takes it if there is one."""
    belief, pose = mind.belief, mind.pose
    best = _PoseGuess(0.0, 0.0, 0.0, -math.inf, -math.inf)
    for i in range(len(seen)):
        sighting = seen[i]
        if sighting.kind < ObjectKind.OWN_POST:
            continue
        for c in range(table.first[sighting.kind], table.first[sighting.kind + 1]):
            landmark = table.landmarks[c]
            if _is_other_number(sighting.number, landmark.number):
                continue
            if not math.isnan(sighting.turn):
                best = _try_pose(
                    best, wrap_angle_exactly(landmark.turn - sighting.turn), i, c, belief, seen, table, numbers
                )
            elif sighting.kind <= ObjectKind.POST:
                best = _try_pairs(best, i, c, belief, seen, table, numbers)
    if best.fit > MIN_RELOCATION_FIT and best.fit > best.rival_fit + numbers.apart:
        belief.x, belief.y, belief.heading, pose.misfit = best.x, best.y, best.heading, 0.0
        pose.xx, pose.xy, pose.yy, pose.xt, pose.yt, pose.tt = 0.04, 0.0, 0.04, 0.0, 0.0, 0.04


@kernel
def _try_pairs(
    best: _PoseGuess,
    i: int,
    c: int,
    belief: BeliefRecord,
    seen: Records[SightingRecord],
    table: LandmarkTable,
    numbers: TrackerNumbers,
) -> _PoseGuess:
    """Tries poses in which sighting i is post c, with any other post that is seen."""
    one, stands = seen[i], table.landmarks[c]
    ax, ay = one.distance * math.cos(one.bearing), one.distance * math.sin(one.bearing)
    for j in range(len(seen)):
        other = seen[j]
        if j == i or not ObjectKind.OWN_POST <= other.kind <= ObjectKind.POST:
            continue
        bx, by = other.distance * math.cos(other.bearing), other.distance * math.sin(other.bearing)
        for d in range(table.first[other.kind], table.first[other.kind + 1]):
            second = table.landmarks[d]
            if d == c or _is_other_number(other.number, second.number):
                continue
            way = math.atan2(second.y - stands.y, second.x - stands.x)
            heading = wrap_angle_exactly(way - math.atan2(by - ay, bx - ax))
            best = _try_pose(best, heading, i, c, belief, seen, table, numbers)
    return best


@kernel
def _try_pose(
    best: _PoseGuess,
    heading: float,
    i: int,
    c: int,
    belief: BeliefRecord,
    seen: Records[SightingRecord],
    table: LandmarkTable,
    numbers: TrackerNumbers,
) -> _PoseGuess:
    """Tries the pose with a heading in which sighting i is landmark c."""
    sighting, landmark = seen[i], table.landmarks[c]
    way = heading + sighting.bearing
    x, y = landmark.x - sighting.distance * math.cos(way), landmark.y - sighting.distance * math.sin(way)
    if abs(x) > numbers.half_length + MAX_DISTANCE_OUTSIDE or abs(y) > numbers.half_width + MAX_DISTANCE_OUTSIDE:
        return best
    fit = -PRIOR_PENALTY * math.hypot(x - belief.x, y - belief.y)
    for k in range(len(seen)):
        if seen[k].kind >= ObjectKind.OWN_POST:
            fit += _landmark_fit(x, y, heading, seen[k], table)
    away = math.hypot(x - best.x, y - best.y) > OTHER_POSE_DISTANCE
    away = away or abs(wrap_angle_exactly(heading - best.heading)) > OTHER_POSE_ANGLE
    if fit > best.fit:
        return _PoseGuess(x, y, heading, fit, best.fit if away else best.rival_fit)
    if away and fit > best.rival_fit:
        return _PoseGuess(best.x, best.y, best.heading, best.fit, fit)
    return best


@inlined
def _landmark_fit(x: float, y: float, heading: float, sighting: SightingRecord, table: LandmarkTable) -> float:
    """How well a sighting fits a pose: 1 less half its share of what it may be off at most, or -1."""
    way, turn = heading + sighting.bearing, sighting.turn
    sx, sy = x + sighting.distance * math.cos(way), y + sighting.distance * math.sin(way)
    most, fit = LANDMARK_TOLERANCE + 3.0 * sighting.spread, -1.0
    for c in range(table.first[sighting.kind], table.first[sighting.kind + 1]):
        landmark = table.landmarks[c]
        off = math.hypot(landmark.x - sx, landmark.y - sy) / most
        if off >= 1.0 or _is_other_number(sighting.number, landmark.number):
            continue
        if not math.isnan(turn) and abs(wrap_angle_exactly(landmark.turn - heading - turn)) > OTHER_POSE_ANGLE:
            continue
        fit = max(fit, 1.0 - 0.5 * off)
    return fit


# ---- the ball


@inlined
def _see_ball(mind: MindRecord, sighting: SightingRecord, numbers: TrackerNumbers) -> None:
    """Takes a sighting of the ball into its filter."""
    belief, pose, ball = mind.belief, mind.pose, mind.ball
    distance, far = sighting.distance, sighting.spread
    way = pose.odometer_heading + sighting.bearing
    ux, uy = math.cos(way), math.sin(way)
    bx, by = pose.odometer_x + distance * ux, pose.odometer_y + distance * uy
    across = (distance * numbers.bearing_noise) ** 2 + BALL_FLOOR
    noise = _polar_covariance(far * far + BALL_FLOOR, across, ux, uy)
    ex, ey = bx - ball.x, by - ball.y
    information = _inverse(ball.xx + noise.xx, ball.xy + noise.xy, ball.yy + noise.yy)
    gx, gy = information.xx * ex + information.xy * ey, information.xy * ex + information.yy * ey
    if ex * gx + ey * gy > numbers.settings.ball_gate:
        # One sighting far off may be a false one; the second is a ball that was kicked or put elsewhere.
        ball.surprises += 1
        if ball.surprises > 1 or belief.seen_ago > LOST_BALL_TIME:
            _find_ball(ball, bx, by, noise, KICKED_BALL_SPEED if belief.seen_ago < LOST_BALL_TIME else FOUND_BALL_SPEED)
            belief.seen_ago = 0.0
        return
    ball.surprises, belief.seen_ago = 0, 0.0
    xx, xy, yy, xu, xv, yu, yv = ball.xx, ball.xy, ball.yy, ball.xu, ball.xv, ball.yu, ball.yv
    ball.x += xx * gx + xy * gy
    ball.y += xy * gx + yy * gy
    ball.u += xu * gx + yu * gy
    ball.v += xv * gx + yv * gy
    ball.xx -= _form(xx, xy, xx, xy, information)
    ball.xy -= _form(xx, xy, xy, yy, information)
    ball.yy -= _form(xy, yy, xy, yy, information)
    ball.xu -= _form(xx, xy, xu, yu, information)
    ball.xv -= _form(xx, xy, xv, yv, information)
    ball.yu -= _form(xy, yy, xu, yu, information)
    ball.yv -= _form(xy, yy, xv, yv, information)
    ball.uu -= _form(xu, yu, xu, yu, information)
    ball.uv -= _form(xu, yu, xv, yv, information)
    ball.vv -= _form(xv, yv, xv, yv, information)


@inlined
def _find_ball(ball: BallFilter, x: float, y: float, place: _Symmetric, speed: float) -> None:
    """Puts the ball at a place in the odometer's frame, with an unknown velocity of that size."""
    ball.x, ball.y, ball.u, ball.v = x, y, 0.0, 0.0
    ball.xx, ball.xy, ball.yy, ball.uv = place.xx, place.xy, place.yy, 0.0
    ball.xu, ball.xv, ball.yu, ball.yv = 0.0, 0.0, 0.0, 0.0
    ball.uu, ball.vv = speed * speed, speed * speed
    ball.surprises = 0


# ---- other players


@kernel
def _see_robots(belief: BeliefRecord, own: int, seen: Records[SightingRecord], numbers: TrackerNumbers) -> None:
    """Takes the robots that are seen into a belief; `own` is the player's number less 1."""
    for k in range(2 * MAX_PLAYERS):
        belief.others[k].age += numbers.step
    for i in range(len(seen)):
        sighting = seen[i]
        if not ObjectKind.MATE <= sighting.kind <= ObjectKind.ROBOT:
            continue
        way = belief.heading + sighting.bearing
        x, y = belief.x + sighting.distance * math.cos(way), belief.y + sighting.distance * math.sin(way)
        if sighting.number > 0:
            track = sighting.number - 1 + (0 if sighting.kind == ObjectKind.MATE else MAX_PLAYERS)
        else:
            track = _nearest_track(belief, own, sighting.kind, x, y, numbers.settings)
        if track < 0:
            continue
        _move_track(belief.others[track], x, y, sighting.spread, numbers.settings.others_drift)
        belief.others[track].lies = sighting.lying


@kernel
def _nearest_track(belief: BeliefRecord, own: int, kind: int, x: float, y: float, settings: TrackerSettings) -> int:
    """The track of a robot at a place: the nearest, or a free one; -1 if there is none."""
    first = MAX_PLAYERS if kind == ObjectKind.OPPONENT else 0
    last = MAX_PLAYERS if kind == ObjectKind.MATE else 2 * MAX_PLAYERS
    best, nearest, free, oldest = -1, math.inf, -1, settings.others_memory
    for k in range(first, last):
        other = belief.others[k]
        age = other.age
        if k == own or age < JUST_SEEN_AGE:
            continue
        # A robot whose colour is not seen takes a free row of the opponents: mates tell where they are.
        if age > oldest and (k >= MAX_PLAYERS or kind == ObjectKind.MATE):
            free, oldest = k, age
        if age == math.inf:
            continue
        gate = settings.others_gate + settings.others_drift * min(age, settings.others_memory)
        far = math.hypot(other.x - x, other.y - y) - gate
        if far < min(nearest, 0.0):
            best, nearest = k, far
    return best if best >= 0 else free


@kernel
def _move_track(other: OtherRecord, x: float, y: float, spread: float, drift: float) -> None:
    """Moves a track towards where it is seen, by the share of its error in the error of both."""
    if other.age < math.inf:
        seen = spread * spread + MIN_ROBOT_SPREAD**2
        known = MIN_ROBOT_SPREAD**2 + 0.02 + (drift * other.age) ** 2
        share = known / (known + seen)
        other.x += share * (x - other.x)
        other.y += share * (y - other.y)
    else:
        other.x, other.y = x, y
    other.age = 0.0


# ---- messages between team-mates


@kernel
def arrives(seed: np.uint64, cycle: int, speaker: int, listener: int, loss: float) -> bool:
    """Whether a message of a cycle arrives, by slots; each is lost with a set probability, for each listener anew."""
    luck: bool = uniform(seed, cycle, listener, VOICES, speaker) >= loss
    return luck


@kernel
def share_beliefs(
    chosen: Ints,
    players: Records[Records[Player]],
    balls: Records[Ball],
    minds: Records[Records[MindRecord]],
    loss: float,
    patience: float,
) -> None:
    """Lets team-mates of the matches `chosen` (K,) tell each other what they believe: changes minds (M, 22).

    Once a cycle every player tells its team-mates where it is and where it sees the ball, as NaOISIS's robots share a
    structure of beliefs (seed 002, section 3.3). A player that has not seen the ball for `patience` seconds believes
    the best message about it.
    """
    for m in chosen:
        present, ball = players[m], balls[m]
        for s in range(SLOTS):
            if not present[s].present:
                continue
            mind, first, teller, least = minds[m][s], s - s % MAX_PLAYERS, -1, math.inf
            for k in range(first, first + MAX_PLAYERS):
                told = minds[m][k].belief
                if k == s or not present[k].present or told.spread > MAX_TOLD_SPREAD:
                    continue
                if not arrives(ball.seed, ball.cycle, k, s, loss):
                    continue
                mate = mind.belief.others[k - first]
                mate.x, mate.y, mate.age, mate.lies = told.x, told.y, 0.0, not told.upright
                variance = _told_ball_variance(told)
                if variance < least:
                    teller, least = k, variance
            if teller >= 0:
                told = minds[m][teller].belief
                mind.belief.told_ago = told.seen_ago
                if mind.belief.seen_ago > patience:
                    _believe_told_ball(mind, told, least)
                    _update_belief(mind, s - first)


@kernel
def _told_ball_variance(told: BeliefRecord) -> float:
    """Variance of the place of the ball that a player tells, on the pitch; inf if it does not see it."""
    if told.seen_ago > MAX_TOLD_BALL_AGE:
        return math.inf
    far = math.hypot(told.ball_x - told.x, told.ball_y - told.y)
    variance: float = told.ball_spread**2 + told.spread**2 + (far * told.heading_spread) ** 2
    return variance


@kernel
def _believe_told_ball(mind: MindRecord, told: BeliefRecord, variance: float) -> None:
    """Puts the ball into a mind where another one has it on the pitch."""
    belief, pose = mind.belief, mind.pose
    turn = pose.odometer_heading - belief.heading
    c, s = math.cos(turn), math.sin(turn)
    dx, dy = told.ball_x - belief.x, told.ball_y - belief.y
    variance += belief.spread**2 + (dx * dx + dy * dy) * belief.heading_spread**2
    place = _Symmetric(variance, 0.0, variance)
    _find_ball(mind.ball, pose.odometer_x + c * dx - s * dy, pose.odometer_y + s * dx + c * dy, place, TOLD_BALL_SPEED)
    mind.ball.u, mind.ball.v = c * told.ball_vx - s * told.ball_vy, s * told.ball_vx + c * told.ball_vy
