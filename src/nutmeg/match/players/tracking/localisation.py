"""Where a player is: the part of the tracker (`filters`) that estimates its pose, compiled.

**Pose**: an extended Kalman filter of (x, y, heading), and of the slip of the odometry where it is worth estimating. A
landmark at z in the body's frame is where `w = place + R(heading) z` on the pitch, so that its innovation `c - w` has
the same covariance `S = P_xy + h P_t h' + ... + R` for every landmark c that it could be, with h = dw/dheading: S is
inverted once, and all landmarks of that kind are compared. It counts as the nearest one only if that is near enough and
no other is (gates and nearest neighbours: Bar-Shalom and Li, Estimation and Tracking, 1993). A part of a line is
compared with all lines of the pitch in the same way, and measures the distance from its line. Directions of crossings
measure the heading alone.

**Relocation**: a player that sees too many things that fit no landmark is lost. A crossing whose direction is seen
gives the player's place if the crossing is identified; so do two posts, and a post with the direction of a line; and
the player may be at the same place of the other half. Each possibility is a hypothesis of the pose, and fits the
landmarks and lines in view more or less. The best is taken if it fits well and clearly better than every other one
elsewhere; a picture that leaves a choice (both ends of the pitch look alike where no goal is seen) leaves the player
lost.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.kernels import inlined, kernel
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.base.records import Records
    from nutmeg.match.players.tracking.records import (
        BeliefRecord,
        LandmarkTable,
        LinePart,
        MindRecord,
        Motion,
        PoseFilter,
        TrackerNumbers,
    )
    from nutmeg.match.worlds.behavioural.eyes import TrackerSettings
    from nutmeg.match.worlds.behavioural.vision import SightingRecord

_MISFIT_SHARE = 0.05  # share of the last landmark in the average of those that fit nothing
_POST_MISFIT_SHARE = 0.3  # the same for a goal post, which counts more because posts distinguish the ends of the pitch
_LINES_MISFIT_SHARE = 0.2  # the same of all line points of a picture together
_MIN_MISFIT_POINTS = 8  # fewer line points say nothing about whether the player is lost
_LOST_HEADING_VARIANCE = 1.0  # variance of a heading that is too uncertain for small corrections, rad^2
_MIN_RELOCATION_FIT = 1.8  # how many landmarks a new pose must fit, less what they are off
_HEADING_TRIES = 60  # how many headings are tried with a post and points on lines
_OTHER_POSE_DISTANCE = 0.5  # poses farther apart than this are different ones, m
_OTHER_POSE_ANGLE = 0.5  # poses turned by more than this are different ones, rad
_LANDMARK_TOLERANCE = 0.2
"""How far a landmark may be from where it should be, beside three deviations of its distance, m."""
_LINE_WORTH, _MAX_LINES_WORTH = 0.5, 3.0
"""Weight of a part of a line in a relocation, and of all of them together at most, in landmarks."""
_RELOCATED_VARIANCE = 0.04  # variance of place and heading after a relocation, m^2 and rad^2
_LINE_GATE, _LINE_RIVAL_GATE = 9.0, 36.0
"""A line is known if it is nearer than the first, and no other nearer than the second (squared, in deviations)."""
_MAX_LINE_SKEW = 0.26  # lines are not the same whose directions differ by more, rad
_LINE_END_MARGIN = 0.3  # how far beyond the end of a line a part of it may be seen, m


class Symmetric(NamedTuple):
    """A symmetric matrix of two rows: a covariance, or its inverse."""

    xx: float
    xy: float
    yy: float


class _PoseGuess(NamedTuple):
    """The best pose of a relocation up to now."""

    x: float
    y: float
    heading: float
    fit: float
    """How many landmarks it fits."""
    rival_fit: float
    """How many landmarks the best other pose, elsewhere, fits."""


class PitchView(NamedTuple):
    """The observations of a player in a cycle, and the landmarks of the pitch."""

    seen: Records[SightingRecord]
    parts: Records[LinePart]
    table: LandmarkTable


@inlined
def is_lost(mind: MindRecord, settings: TrackerSettings) -> bool:
    """Whether a player does not know where it is."""
    lost: bool = mind.pose.misfit > settings.lost or mind.pose.tt >= _LOST_HEADING_VARIANCE
    return lost


@kernel
def widen_pose(minds: Records[MindRecord], distance: float, angle: float, slip: float) -> None:
    """A player (1,) has been moved, and knows its place, heading and slip only to deviations, m, rad and m/s."""
    _forget_pose(minds[0].pose, distance * distance, angle * angle)
    minds[0].pose.aa = minds[0].pose.bb = slip * slip


@inlined
def _forget_pose(pose: PoseFilter, place: float, heading: float) -> None:
    """Sets the variances of place and heading, m^2 and rad^2, as of a player that has looked for itself anew."""
    pose.xx, pose.xy, pose.yy, pose.xt, pose.yt, pose.tt = place, 0.0, place, 0.0, 0.0, heading
    pose.xa, pose.ya, pose.ta, pose.xb, pose.yb, pose.tb = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    pose.ab, pose.misfit = 0.0, 0.0


# ---- odometry


@inlined
def walk(mind: MindRecord, motion: Motion, slip_time: float) -> None:
    """Moves pose and odometer by a cycle's odometry, and by the slip that it is believed to have."""
    belief, pose = mind.belief, mind.pose
    ahead, left = motion.ahead + motion.step * pose.slip_ahead, motion.left + motion.step * pose.slip_left
    half = belief.heading + 0.5 * motion.turn
    c, s = math.cos(half), math.sin(half)
    dx, dy = c * ahead - s * left, s * ahead + c * left
    belief.x += dx
    belief.y += dy
    belief.heading = wrap_angle_exactly(belief.heading + motion.turn)
    # P = F P F' + Q with F = (1, 0, -dy; 0, 1, dx; 0, 0, 1)
    xt, yt, tt = pose.xt, pose.yt, pose.tt
    pose.xx += -2.0 * dy * xt + dy * dy * tt + motion.place_variance
    pose.xy += dx * xt - dy * yt - dx * dy * tt
    pose.yy += 2.0 * dx * yt + dx * dx * tt + motion.place_variance
    pose.xt -= dy * tt
    pose.yt += dx * tt
    pose.tt += motion.turn_variance
    if motion.slip > 0.0:
        _slip(pose, motion, dx, dy, c * motion.step, s * motion.step, slip_time)
    half = pose.odometer_heading + 0.5 * motion.turn
    c, s = math.cos(half), math.sin(half)
    pose.odometer_x += c * ahead - s * left
    pose.odometer_y += s * ahead + c * left
    pose.odometer_heading = wrap_angle_exactly(pose.odometer_heading + motion.turn)


@inlined
def _slip(pose: PoseFilter, motion: Motion, dx: float, dy: float, c: float, s: float, slip_time: float) -> None:
    """Lets errors of the slip become errors of the place; the slip itself fades, and others come."""
    # the part of the heading in F, for the columns of the slip
    pose.xa, pose.ya = pose.xa - dy * pose.ta, pose.ya + dx * pose.ta
    pose.xb, pose.yb = pose.xb - dy * pose.tb, pose.yb + dx * pose.tb
    # x grows by c a - s b, y by s a + c b, where c and s are multiplied by the time step
    xa, ya, ta, xb, yb, tb, aa, ab, bb = (
        *(pose.xa, pose.ya, pose.ta, pose.xb, pose.yb, pose.tb),
        *(pose.aa, pose.ab, pose.bb),
    )
    pose.xx += 2.0 * (c * xa - s * xb) + c * c * aa - 2.0 * c * s * ab + s * s * bb
    pose.xy += s * xa + c * xb + c * ya - s * yb + c * s * (aa - bb) + (c * c - s * s) * ab
    pose.yy += 2.0 * (s * ya + c * yb) + s * s * aa + 2.0 * c * s * ab + c * c * bb
    pose.xt += c * ta - s * tb
    pose.yt += s * ta + c * tb
    keep = math.exp(-motion.step / slip_time)
    fresh = 2.0 * motion.slip * motion.slip * motion.step / slip_time
    pose.xa, pose.xb = keep * (xa + c * aa - s * ab), keep * (xb + c * ab - s * bb)
    pose.ya, pose.yb = keep * (ya + s * aa + c * ab), keep * (yb + s * ab + c * bb)
    pose.ta, pose.tb = keep * ta, keep * tb
    pose.aa, pose.ab, pose.bb = keep * keep * aa + fresh, keep * keep * ab, keep * keep * bb + fresh
    pose.slip_ahead *= keep
    pose.slip_left *= keep


# ---- landmarks and lines


@inlined
def localise(mind: MindRecord, view: PitchView, numbers: TrackerNumbers) -> None:
    """Corrects the pose by what is seen of the pitch; a player that is lost looks for a new one."""
    if mind.pose.tt < _LOST_HEADING_VARIANCE:
        _see_pitch(mind, view, numbers)
    if is_lost(mind, numbers.settings) and _relocate(mind, view, numbers):
        _see_pitch(mind, view, numbers)


@inlined
def _is_other_number(number: int, landmarks: int) -> bool:
    """Whether the number that is recognised with a sighting, if any is, is another than a landmark's."""
    found: bool = number > 0 and number != landmarks
    return found


@inlined
def polar_covariance(along: float, across: float, ux: float, uy: float) -> Symmetric:
    """The covariance of a place that is seen in the direction (ux, uy), from its variances along and across it."""
    return Symmetric(along * ux * ux + across * uy * uy, (along - across) * ux * uy, along * uy * uy + across * ux * ux)


@inlined
def inverse(xx: float, xy: float, yy: float) -> Symmetric:
    """The inverse of a symmetric matrix of two rows."""
    scale = 1.0 / (xx * yy - xy * xy)
    return Symmetric(yy * scale, -xy * scale, xx * scale)


@inlined
def _take(mind: MindRecord, hx: float, hy: float, ht: float, residual: float, variance: float) -> None:
    """The step of a Kalman filter: one measured number, which depends on (x, y, heading) by the row (hx, hy, ht)."""
    belief, pose = mind.belief, mind.pose
    gx = pose.xx * hx + pose.xy * hy + pose.xt * ht
    gy = pose.xy * hx + pose.yy * hy + pose.yt * ht
    gt = pose.xt * hx + pose.yt * hy + pose.tt * ht
    share = 1.0 / (hx * gx + hy * gy + ht * gt + variance)
    belief.x += gx * share * residual
    belief.y += gy * share * residual
    belief.heading = wrap_angle_exactly(belief.heading + gt * share * residual)
    pose.xx -= gx * gx * share
    pose.xy -= gx * gy * share
    pose.yy -= gy * gy * share
    pose.xt -= gx * gt * share
    pose.yt -= gy * gt * share
    pose.tt -= gt * gt * share
    if pose.aa > 0.0:
        ga = pose.xa * hx + pose.ya * hy + pose.ta * ht
        gb = pose.xb * hx + pose.yb * hy + pose.tb * ht
        pose.slip_ahead += ga * share * residual
        pose.slip_left += gb * share * residual
        pose.xa, pose.ya, pose.ta = pose.xa - gx * ga * share, pose.ya - gy * ga * share, pose.ta - gt * ga * share
        pose.xb, pose.yb, pose.tb = pose.xb - gx * gb * share, pose.yb - gy * gb * share, pose.tb - gt * gb * share
        pose.aa, pose.ab, pose.bb = pose.aa - ga * ga * share, pose.ab - ga * gb * share, pose.bb - gb * gb * share


@inlined
def _see_pitch(mind: MindRecord, view: PitchView, numbers: TrackerNumbers) -> None:
    """Corrects the pose by all landmarks and lines that are seen and known."""
    _see_landmarks(mind, view.seen, view.table, numbers)
    if len(view.parts):
        _see_lines(mind, view.parts, view.table.lines)


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
        along, across = far * far + floor, (distance * numbers.bearing_noise) ** 2 + floor
        noise = polar_covariance(along, across, ux, uy)
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
        share = _MISFIT_SHARE if k > ObjectKind.POST else _POST_MISFIT_SHARE
        misfit += share * ((1.0 if best > settings.gate else 0.0) - misfit)
        if best > settings.gate or rival < settings.rival_gate:
            continue
        landmark = table.landmarks[which]
        # Errors along and across the line of sight do not depend on each other: two numbers, one after the other.
        ex, ey = landmark.x - x, landmark.y - y
        before_x, before_y, before = belief.x, belief.y, belief.heading
        _take(mind, ux, uy, zx * uy - zy * ux, ux * ex + uy * ey, along)
        moved = wrap_angle_exactly(belief.heading - before)
        ex -= belief.x - before_x - zy * moved
        ey -= belief.y - before_y + zx * moved
        _take(mind, -uy, ux, zx * ux + zy * uy, ux * ey - uy * ex, across)
        if aimed:
            _take(mind, 0.0, 0.0, 1.0, wrap_angle_exactly(landmark.turn - belief.heading - turn), crossing)
    pose.misfit = misfit


@inlined
def _innovation_information(pose: PoseFilter, zx: float, zy: float, noise: Symmetric) -> Symmetric:
    """The inverse covariance of where a landmark seems to be: H P H' + R inverted, with H = (1, 0, -zy; 0, 1, zx)."""
    tx, ty = pose.xt - zy * pose.tt, pose.yt + zx * pose.tt
    information: Symmetric = inverse(
        pose.xx - zy * pose.xt - zy * tx + noise.xx,
        pose.xy + zx * pose.xt - zy * ty + noise.xy,
        pose.yy + zx * pose.yt + zx * ty + noise.yy,
    )
    return information


@kernel
def _see_lines(mind: MindRecord, parts: Records[LinePart], lines: Floats) -> None:
    """Corrects the pose by those parts of lines of which it is clear which line they belong to.

    Single points that are near no line count as a misfit: a player that is lost sees many of them.
    """
    belief, pose = mind.belief, mind.pose
    points, misfits = 0, 0
    for i in range(len(parts)):
        part = parts[i]
        nearest, rival, which = math.inf, math.inf, -1
        for k in range(len(lines)):
            off = _line_off(mind, part, lines[k])
            if off < nearest:
                # The next piece of a circle is no rival: two pieces that meet end to end are one line.
                rival = rival if which >= 0 and _goes_on(lines[k], lines[which]) else nearest
                nearest, which = off, k
            elif off < rival and not _goes_on(lines[k], lines[which]):
                rival = off
        single = part.ahead == part.other_ahead and part.left == part.other_left
        if single:
            points += 1
            misfits += nearest > _LINE_GATE
        if nearest > _LINE_GATE or rival < _LINE_RIVAL_GATE:
            continue
        for end in range(1 if single else 2):
            ahead, left = (part.ahead, part.left) if end == 0 else (part.other_ahead, part.other_left)
            spread = part.spread if end == 0 else part.other_spread
            c, s = math.cos(belief.heading), math.sin(belief.heading)
            zx, zy = c * ahead - s * left, s * ahead + c * left
            nx, ny = _normal(lines[which])
            off = nx * (lines[which, 0] - belief.x - zx) + ny * (lines[which, 1] - belief.y - zy)
            _take(mind, nx, ny, zx * ny - zy * nx, off, spread * spread)
    # Lines that fit say little, since a pitch looks the same from its other end.
    if points >= _MIN_MISFIT_POINTS and 2 * misfits > points:
        pose.misfit += _LINES_MISFIT_SHARE * (1.0 - pose.misfit)


@inlined
def _normal(line: Floats) -> tuple[float, float]:
    """The unit vector at a right angle to a line (4,)."""
    x, y = line[2] - line[0], line[3] - line[1]
    length = math.sqrt(x * x + y * y)
    return -y / length, x / length


@inlined
def _goes_on(one: Floats, other: Floats) -> bool:
    """Whether two pieces of lines (4,) meet end to end and hardly bend there, as those of a circle do."""
    (ax, ay), (bx, by) = _normal(one), _normal(other)
    meet = (one[0] == other[2] and one[1] == other[3]) or (one[2] == other[0] and one[3] == other[1])
    bends: bool = meet and ax * bx + ay * by > 0.8
    return bends


@inlined
def _line_off(mind: MindRecord, part: LinePart, line: Floats) -> float:
    """How far the worse end of a part is off a line (4,), in squared deviations; inf if it cannot be that line."""
    belief, pose = mind.belief, mind.pose
    c, s = math.cos(belief.heading), math.sin(belief.heading)
    nx, ny = _normal(line)
    length = math.sqrt((line[2] - line[0]) ** 2 + (line[3] - line[1]) ** 2)
    wx, wy = part.other_ahead - part.ahead, part.other_left - part.left
    off_axis = abs(nx * (c * wx - s * wy) + ny * (s * wx + c * wy))
    if off_axis > math.sqrt(wx * wx + wy * wy) * (_MAX_LINE_SKEW + 3.0 * math.sqrt(pose.tt)):
        return math.inf
    margin, worst = _LINE_END_MARGIN + 3.0 * math.sqrt(pose.xx + pose.yy), 0.0
    for end in range(2):
        ahead, left = (part.ahead, part.left) if end == 0 else (part.other_ahead, part.other_left)
        spread = part.spread if end == 0 else part.other_spread
        zx, zy = c * ahead - s * left, s * ahead + c * left
        dx, dy = belief.x + zx - line[0], belief.y + zy - line[1]
        along = ny * dx - nx * dy
        if along < -margin or along > length + margin:
            return math.inf
        ht, off = zx * ny - zy * nx, nx * dx + ny * dy
        variance = nx * nx * pose.xx + 2.0 * nx * ny * pose.xy + ny * ny * pose.yy
        variance += ht * (2.0 * (nx * pose.xt + ny * pose.yt) + ht * pose.tt) + spread * spread
        worst = max(worst, off * off / variance)
    return worst


# ---- relocation


@kernel
def _relocate(mind: MindRecord, view: PitchView, numbers: TrackerNumbers) -> bool:
    """Looks for a new pose in what is seen, and takes it if there is one; whether there is."""
    belief, pose, seen, table = mind.belief, mind.pose, view.seen, view.table
    best = _PoseGuess(0.0, 0.0, 0.0, -math.inf, -math.inf)
    # The pitch looks the same from its other end but for the goals.
    best = _judge_pose(best, -belief.x, -belief.y, wrap_angle_exactly(belief.heading + math.pi), belief, view, numbers)
    for i in range(len(seen)):
        sighting = seen[i]
        if sighting.kind < ObjectKind.OWN_POST:
            continue
        for c in range(table.first[sighting.kind], table.first[sighting.kind + 1]):
            landmark = table.landmarks[c]
            if _is_other_number(sighting.number, landmark.number):
                continue
            if not math.isnan(sighting.turn):
                best = _try_pose(best, wrap_angle_exactly(landmark.turn - sighting.turn), i, c, belief, view, numbers)
            elif sighting.kind <= ObjectKind.POST:
                best = _try_pairs(best, i, c, belief, view, numbers)
                best = _try_lines(best, i, c, belief, view, numbers)
    if best.fit <= _MIN_RELOCATION_FIT or best.fit <= best.rival_fit + numbers.apart:
        return False
    belief.x, belief.y, belief.heading = best.x, best.y, best.heading
    _forget_pose(pose, _RELOCATED_VARIANCE, _RELOCATED_VARIANCE)
    return True


@kernel
def _try_pairs(
    best: _PoseGuess, i: int, c: int, belief: BeliefRecord, view: PitchView, numbers: TrackerNumbers
) -> _PoseGuess:
    """Tries poses in which sighting i is post c, with any other post that is seen."""
    seen, table = view.seen, view.table
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
            best = _try_pose(best, heading, i, c, belief, view, numbers)
    return best


@kernel
def _try_lines(
    best: _PoseGuess, i: int, c: int, belief: BeliefRecord, view: PitchView, numbers: TrackerNumbers
) -> _PoseGuess:
    """Tries poses in which sighting i is post c, and the longest line in view is along or across the pitch."""
    longest, angle = 0.0, 0.0
    for k in range(len(view.parts)):
        part = view.parts[k]
        ahead, left = part.other_ahead - part.ahead, part.other_left - part.left
        length = math.hypot(ahead, left)
        if length > longest:
            longest, angle = length, math.atan2(left, ahead)
    # Points alone have no direction: all headings are tried.
    tries = 4 if longest > 0.0 else _HEADING_TRIES if len(view.parts) >= _MIN_MISFIT_POINTS else 0
    for k in range(tries):
        heading = wrap_angle_exactly(2.0 * math.pi * k / tries - angle)
        best = _try_pose(best, heading, i, c, belief, view, numbers)
    return best


@kernel
def _try_pose(
    best: _PoseGuess, heading: float, i: int, c: int, belief: BeliefRecord, view: PitchView, numbers: TrackerNumbers
) -> _PoseGuess:
    """Tries the pose with a heading in which sighting i is landmark c."""
    sighting, landmark = view.seen[i], view.table.landmarks[c]
    way = heading + sighting.bearing
    x, y = landmark.x - sighting.distance * math.cos(way), landmark.y - sighting.distance * math.sin(way)
    return _judge_pose(best, x, y, heading, belief, view, numbers)


@kernel
def _judge_pose(
    best: _PoseGuess,
    x: float,
    y: float,
    heading: float,
    belief: BeliefRecord,
    view: PitchView,
    numbers: TrackerNumbers,
) -> _PoseGuess:
    """The better one of the best pose up to now and another one, with the fit of the best of all poses elsewhere."""
    if abs(x) > numbers.reach_x or abs(y) > numbers.reach_y:
        return best
    fit = -numbers.prior_penalty * math.hypot(x - belief.x, y - belief.y)
    for k in range(len(view.seen)):
        if view.seen[k].kind >= ObjectKind.OWN_POST:
            fit += _landmark_fit(x, y, heading, view.seen[k], view.table)
    count = len(view.parts)
    if count:
        worth = min(_LINE_WORTH, _MAX_LINES_WORTH / count)
        for k in range(count):
            fit += worth * _line_fit(x, y, heading, view.parts[k], view.table.lines)
    away = math.hypot(x - best.x, y - best.y) > _OTHER_POSE_DISTANCE
    away = away or abs(wrap_angle_exactly(heading - best.heading)) > _OTHER_POSE_ANGLE
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
    most, fit = _LANDMARK_TOLERANCE + 3.0 * sighting.spread, -1.0
    for c in range(table.first[sighting.kind], table.first[sighting.kind + 1]):
        landmark = table.landmarks[c]
        off = math.hypot(landmark.x - sx, landmark.y - sy) / most
        if off >= 1.0 or _is_other_number(sighting.number, landmark.number):
            continue
        if not math.isnan(turn) and abs(wrap_angle_exactly(landmark.turn - heading - turn)) > _OTHER_POSE_ANGLE:
            continue
        fit = max(fit, 1.0 - 0.5 * off)
    return fit


@kernel
def _line_fit(x: float, y: float, heading: float, part: LinePart, lines: Floats) -> float:
    """How well a part of a line fits a pose: 1 less half its share of what its worse end may be off, or -1."""
    c, s = math.cos(heading), math.sin(heading)
    ax, ay = x + c * part.ahead - s * part.left, y + s * part.ahead + c * part.left
    bx, by = x + c * part.other_ahead - s * part.other_left, y + s * part.other_ahead + c * part.other_left
    most, fit = _LANDMARK_TOLERANCE + part.spread, -1.0
    for k in range(len(lines)):
        off = max(_line_distance(ax, ay, lines[k]), _line_distance(bx, by, lines[k])) / most
        if off < 1.0:
            fit = max(fit, 1.0 - 0.5 * off)
    return fit


@inlined
def _line_distance(x: float, y: float, line: Floats) -> float:
    """How far a place is from a piece of a line (4,), m."""
    wx, wy = line[2] - line[0], line[3] - line[1]
    share = ((x - line[0]) * wx + (y - line[1]) * wy) / (wx * wx + wy * wy)
    share = min(max(share, 0.0), 1.0)
    return math.sqrt((x - line[0] - share * wx) ** 2 + (y - line[1] - share * wy) ** 2)
