"""The filters of a player's tracker, compiled: own pose, ball and other players, for one player or for thousands.

All worlds fill the same `MindRecord` with the same functions. Each has an input stage that turns what its players
observe into a `Motion` (odometry and how far it is trusted), sightings on the ground (`vision.SightingRecord`: kind,
distance and bearing from the player, and their errors) and parts of lines (`LinePart`):

- the behavioural world's vision makes sightings itself, for M matches at once (`track_all`);
- `league_sight` levels the polar coordinates of the 3D simulation league by its estimate of tilt and height
  (`track_one`);
- `perception` finds sightings and points on lines in camera pictures (`track_one`).

**Pose**: an extended Kalman filter of (x, y, heading), and of the slip of the odometry where it is worth estimating. A
landmark at z in the body's frame is where `w = place + R(heading) z` on the pitch, so that its innovation `c - w` has
the same covariance `S = P_xy + h P_t h' + ... + R` for every landmark c that it could be, with h = dw/dheading: S is
inverted once, and all landmarks of that kind are compared. It counts as the nearest one only if that is near enough and
no other is (gates and nearest neighbours: Bar-Shalom and Li, Estimation and Tracking, 1993). A part of a line is
compared with all lines of the pitch in the same way, and measures the distance from its line. Directions of crossings
measure the heading alone.

**Relocation**: a player who sees too much that fits nothing is lost. A crossing whose direction is seen says where the
player is if one knows which crossing it is; so do two posts, and a post and the direction of a line. Each possibility
is a hypothesis of the pose, and fits the landmarks and lines in view more or less. The best is taken if it fits well
and clearly better than every other one elsewhere; a picture that leaves a choice (both ends of the pitch look alike
where no goal is seen) leaves the player lost.

**Ball**: place and velocity with their covariance in the frame of the odometer, in which walking and corrections of the
pose do not move it.

**Other players**: sightings without numbers become tracks, one for each known player. A robot that is seen belongs to
the nearest track of its team, if that is near enough for the time since it was seen; otherwise to a free row: one never
used, or the one that was not seen for longest. So rows of opponents are players, but not their numbers, unless eyes
recognise numbers; team-mates tell theirs (`share_beliefs`, `hear_mate`).

Beliefs are in the frame in which landmarks are given: that of the player's own team. Metres, seconds, radians.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.kernels import inlined, kernel, unchecked
from nutmeg.match.players.tracking.records import BeliefRecord
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.eyes import TrackerSettings
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.random import VOICES, uniform
from nutmeg.match.worlds.behavioural.sonar import LEFT_SONAR, SonarNumbers, echo
from nutmeg.match.worlds.behavioural.state import Posture

if TYPE_CHECKING:
    import numpy as np

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.base.records import Records
    from nutmeg.match.players.tracking.records import OtherRecord
    from nutmeg.match.worlds.behavioural.state import Ball, Player
    from nutmeg.match.worlds.behavioural.vision import SightingRecord

MISFIT_SHARE = 0.05
"""Share of the last landmark in the average of those that fit nothing."""
POST_MISFIT_SHARE = 0.3
"""The same of a goal post, which counts more because posts tell the ends of the pitch apart."""
LINES_MISFIT_SHARE = 0.2
"""The same of all line points of a picture together."""
MIN_MISFIT_POINTS = 8
"""Fewer line points say nothing about whether the player is lost."""
FOUND_BALL_SPEED = 0.5
"""Deviation of the velocity of a ball that is found, m/s."""
MAX_KICKS = 4.0
"""A ball that would be so many times as fast as the deviation of kicks was put elsewhere."""
LOST_BALL_DRIFT = 0.1
"""How fast the variance of the place of a ball grows that was lost, m^2/s."""
LOST_BALL_SLOWING = 7.0
"""How fast a ball that was lost is believed to come to rest, 1/s."""
LOST_HEADING_VARIANCE = 1.0
"""Variance of a heading that is too uncertain for small corrections, rad^2."""
BALL_FLOOR = 2.5e-5
"""Least variance of a sighting of the ball, m^2."""
MIN_ROBOT_SPREAD = 0.05
"""What no place of a robot is known better than, m."""
JUST_SEEN_AGE = 1e-9
"""Age of a player that was seen in this very cycle, s."""
MIN_RELOCATION_FIT = 1.8
"""How many landmarks a new pose must fit, less what they are off."""
OTHER_POSE_DISTANCE = 0.5
"""Poses farther apart than this are different ones, m."""
OTHER_POSE_ANGLE = 0.5
"""Poses turned by more than this are different ones, rad."""
LANDMARK_TOLERANCE = 0.2
"""How far a landmark may be from where it should be, beside three deviations of its distance, m."""
LINE_WORTH, MAX_LINES_WORTH = 0.5, 3.0
"""What a part of a line counts for in a relocation, and all of them at most, in landmarks."""
RELOCATED_VARIANCE = 0.04
"""Variance of place and heading after a relocation, m^2 and rad^2."""
LINE_GATE, LINE_RIVAL_GATE = 9.0, 36.0
"""A line is known if it is nearer than the first, and no other nearer than the second (squared, in deviations)."""
MAX_LINE_SKEW = 0.26
"""Lines are not the same whose directions differ by more, rad."""
LINE_END_MARGIN = 0.3
"""How far beyond the end of a line a part of it may be seen, m."""
MAX_SONAR_TRACK_DISTANCE = 2.0
"""Tracks farther away explain no answer of a sonar, m."""
MIN_SILENT_AGE = 0.5
"""A player that was seen or told so lately is believed to be there although no sonar answers, s."""
SONAR_SPREAD = 0.1
"""Deviation of the place of a robot that a sonar tells of, m: its distance is known well, its direction is not."""
POST_TOLERANCE = 0.15
"""A post explains an answer that differs by less from what is expected of it, m."""
MAX_TOLD_BALL_AGE = 0.35
"""Players do not tell of balls that they saw longer ago, s."""
MAX_TOLD_SPREAD = 1.0
"""A player that is less sure of its own place tells nothing, m."""
TOLD_BALL_SPEED = 0.5
"""Deviation of the velocity of a ball that a team-mate tells of, m/s."""


@dataclass
class PoseFilter:
    """The covariance of a pose (x, y, heading t) and of the slip (ahead a, left b), and the odometer."""

    xx: float
    xy: float
    yy: float
    xt: float
    yt: float
    tt: float
    slip_ahead: float
    """How much faster the player is than its odometry says, m/s."""
    slip_left: float
    xa: float
    ya: float
    ta: float
    xb: float
    yb: float
    tb: float
    aa: float
    ab: float
    bb: float
    odometer_x: float
    """Where the player would be by its odometry and slip alone."""
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
    prior_penalty: float
    """What a new pose loses for each metre from where the player believed to be, in landmarks."""
    reach_x: float
    """Nobody is farther from the middle of the pitch along x, m."""
    reach_y: float
    sonar: SonarNumbers


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
    """The landmarks of a pitch, sorted by kind, and its lines."""

    landmarks: Records[LandmarkRecord]
    first: Ints
    """(kinds + 1,) where each kind begins."""
    lines: Floats
    """(L, 4) x and y of both ends of straight pieces, m; none where lines are not looked at."""


@dataclass
class LinePart:
    """A straight part of a line in the body's frame, ahead and to the left; a single point has both ends there."""

    ahead: float
    left: float
    spread: float
    """Deviation of the first end, m."""
    other_ahead: float
    other_left: float
    other_spread: float


class Motion(NamedTuple):
    """How a player has moved in a cycle, and how far that is trusted."""

    step: float
    """The time that has passed, s."""
    ahead: float
    """Odometry: ahead and to the left in the frame half way through the turn, m, and turned left, rad."""
    left: float
    turn: float
    place_variance: float
    """What the cycle adds to the variance of the place, m^2."""
    turn_variance: float
    """What it adds to that of the heading, rad^2."""
    slip: float
    """Deviation of the slip that lasts for `TrackerSettings.slip_time`, m/s; 0 where slip is not estimated."""
    push: float
    """What it adds to the variance of the ball's velocity, m^2/s^2."""


STILL = Motion(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""No time passes."""


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


class Observations(NamedTuple):
    """What the players of M matches observe in a cycle."""

    things: Records[Records[Records[SightingRecord]]]
    """(M, 22, things) of which the first `counts` are seen."""
    counts: Ints
    """(M, 22)."""
    sonar: Floats
    """(M, 22, 2) distances to the left and to the right, m; NaN where nothing answers."""
    parts: Records[LinePart]
    """(0,) of lines: symbolic vision shows none."""


class _View(NamedTuple):
    """What a player sees in a cycle, and what there is to be seen."""

    seen: Records[SightingRecord]
    parts: Records[LinePart]
    table: LandmarkTable


# ---- a cycle


@unchecked
def track_all(
    chosen: Ints,
    players: Records[Records[Player]],
    observed: Observations,
    table: LandmarkTable,
    minds: Records[Records[MindRecord]],
    settings: Records[TrackerNumbers],
) -> None:
    """Takes a cycle's odometry and observations of all players of the matches `chosen` into their minds (M, 22).

    Args:
        chosen: (K,) matches.
        players: (M, 22).
        observed: what they see and hear.
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
            mind, own = minds[m][s], s % MAX_PLAYERS
            mind.belief.upright = player.posture <= Posture.KICKING
            ahead, left, turn = player.odometry_ahead, player.odometry_left, player.odometry_turn
            kicks = player.posture == Posture.KICKING
            _move(mind, _odometry(ahead, left, turn, mind.belief.upright, kicks, numbers.settings), numbers)
            view = _View(observed.things[m][s][: observed.counts[m, s]], observed.parts, table)
            _see(mind, own, view, numbers)
            if numbers.settings.uses_sonar:
                _hear_sonar(mind.belief, own, observed.sonar[m, s], table, numbers)
            _update_belief(mind, own)


@unchecked
def track_one(
    minds: Records[MindRecord],
    own: int,
    motion: Motion,
    seen: Records[SightingRecord],
    parts: Records[LinePart],
    table: LandmarkTable,
    settings: Records[TrackerNumbers],
) -> bool:
    """Takes a cycle of one player into its mind (1,): its odometry, and what it sees; whether it knows where it is.

    Args:
        minds: (1,), written.
        own: the player's number less 1; -1 while it is not known.
        motion: odometry.
        seen: (K,) sightings.
        parts: (L,) of lines.
        table: landmarks and lines of the pitch.
        settings: (1,) numbers of the tracker.
    """
    _move(minds[0], motion, settings[0])
    _see(minds[0], own, _View(seen, parts, table), settings[0])
    _update_belief(minds[0], own)
    belief, numbers = minds[0].belief, settings[0]
    inside: bool = abs(belief.x) < numbers.reach_x and abs(belief.y) < numbers.reach_y
    return inside and not _is_lost(minds[0], numbers.settings)


@unchecked
def walk_one(
    minds: Records[MindRecord],
    own: int,
    odometry: Floats,
    sonar: Floats,
    table: LandmarkTable,
    settings: Records[TrackerNumbers],
) -> None:
    """Moves one player of the behavioural world (1,), which its belief says to be upright or not.

    Args:
        minds: (1,), written.
        own: the player's number less 1; -1 while it is not known.
        odometry: (3,) ahead, left [m], turned left [rad].
        sonar: (2,) distances to the left and to the right, m; NaN where nothing answers.
        table: landmarks of the pitch.
        settings: (1,) numbers of the tracker.
    """
    mind, numbers, kicks = minds[0], settings[0], False
    ahead, left, turn = odometry[0], odometry[1], odometry[2]
    _move(mind, _odometry(ahead, left, turn, mind.belief.upright, kicks, numbers.settings), numbers)
    if numbers.settings.uses_sonar:
        _hear_sonar(mind.belief, own, sonar, table, numbers)
    _update_belief(mind, own)


@inlined
def _odometry(ahead: float, left: float, turn: float, upright: bool, kicks: bool, settings: TrackerSettings) -> Motion:
    """The motion of a player of the behavioural world: ahead, left [m], turned left [rad]; whether it kicks."""
    move, around, slip = settings.fallen_noise, settings.fallen_turn_noise, settings.slip_fallen
    if upright:
        way = math.sqrt(ahead * ahead + left * left)
        move, around = (
            settings.move_noise + settings.move_share * way,
            settings.turn_noise + settings.turn_share * abs(turn),
        )
        slip = settings.slip_floor + settings.slip_share * way / BEHAVIOURAL_CYCLE
    push = settings.kick_speed if kicks else settings.ball_push
    return Motion(BEHAVIOURAL_CYCLE, ahead, left, turn, move * move, around * around, slip, push * push)


@inlined
def _move(mind: MindRecord, motion: Motion, numbers: TrackerNumbers) -> None:
    """Lets a cycle pass: the player walks, the ball rolls, and what is known of others grows older."""
    _walk(mind, motion, numbers.settings.slip_time)
    _roll(mind, motion, numbers)
    for k in range(2 * MAX_PLAYERS):
        mind.belief.others[k].age += motion.step


@inlined
def _see(mind: MindRecord, own: int, view: _View, numbers: TrackerNumbers) -> None:
    """Takes what is seen: landmarks and lines, then, from the corrected pose, the ball and other players."""
    if mind.pose.tt < LOST_HEADING_VARIANCE:
        _see_pitch(mind, view, numbers)
    if _is_lost(mind, numbers.settings) and _relocate(mind, view, numbers):
        _see_pitch(mind, view, numbers)
    for i in range(len(view.seen)):
        if view.seen[i].kind == ObjectKind.BALL:
            _see_ball(mind, view.seen[i], numbers)
            break
    # A player that does not know where it is cannot say where others are.
    if not _is_lost(mind, numbers.settings):
        _see_robots(mind.belief, own, view.seen, numbers.settings)


@inlined
def _is_lost(mind: MindRecord, settings: TrackerSettings) -> bool:
    """Whether a player does not know where it is."""
    lost: bool = mind.pose.misfit > settings.lost or mind.pose.tt >= LOST_HEADING_VARIANCE
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
    if own >= 0:
        me = belief.others[own]
        me.x, me.y, me.age, me.lies = belief.x, belief.y, 0.0, not belief.upright


# ---- odometry


@inlined
def _walk(mind: MindRecord, motion: Motion, slip_time: float) -> None:
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


@inlined
def _roll(mind: MindRecord, motion: Motion, numbers: TrackerNumbers) -> None:
    """Lets the ball roll for a cycle, and time pass for it."""
    belief, pose, ball = mind.belief, mind.pose, mind.ball
    dt, u, v = motion.step, ball.u, ball.v
    belief.seen_ago += dt
    belief.told_ago += dt
    speed = math.sqrt(u * u + v * v)
    if speed > 1e-6:
        slower = max(0.0, speed - (numbers.rolling + numbers.damping * speed) * dt) / speed
        ball.x += 0.5 * (1.0 + slower) * dt * u
        ball.y += 0.5 * (1.0 + slower) * dt * v
        ball.u, ball.v = slower * u, slower * v
    if belief.seen_ago > numbers.settings.ball_memory:
        # Nobody knows what has become of it: it is believed to come to rest, ever less surely.
        keep, drift = math.exp(-LOST_BALL_SLOWING * dt), LOST_BALL_DRIFT * dt
        ball.u, ball.v = keep * ball.u, keep * ball.v
        ball.xx += drift
        ball.yy += drift
        return
    walked = motion.place_variance + dt * dt * 0.5 * (pose.aa + pose.bb)
    ball.xx += dt * (2.0 * ball.xu + dt * ball.uu) + walked
    ball.xy += dt * (ball.xv + ball.yu + dt * ball.uv)
    ball.yy += dt * (2.0 * ball.yv + dt * ball.vv) + walked
    ball.xu += dt * ball.uu
    ball.xv += dt * ball.uv
    ball.yu += dt * ball.uv
    ball.yv += dt * ball.vv
    # A kicked ball slides, and slows down faster, before it rolls: its speed is less sure along its way.
    slide = numbers.settings.ball_slide * dt
    ball.uu += motion.push + slide * u * u
    ball.uv += slide * u * v
    ball.vv += motion.push + slide * v * v


# ---- landmarks and lines


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
def _see_pitch(mind: MindRecord, view: _View, numbers: TrackerNumbers) -> None:
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
        noise = _polar_covariance(along, across, ux, uy)
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
def _innovation_information(pose: PoseFilter, zx: float, zy: float, noise: _Symmetric) -> _Symmetric:
    """The inverse covariance of where a landmark seems to be: H P H' + R inverted, with H = (1, 0, -zy; 0, 1, zx)."""
    tx, ty = pose.xt - zy * pose.tt, pose.yt + zx * pose.tt
    information: _Symmetric = _inverse(
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
            misfits += nearest > LINE_GATE
        if nearest > LINE_GATE or rival < LINE_RIVAL_GATE:
            continue
        for end in range(1 if single else 2):
            ahead, left = (part.ahead, part.left) if end == 0 else (part.other_ahead, part.other_left)
            spread = part.spread if end == 0 else part.other_spread
            c, s = math.cos(belief.heading), math.sin(belief.heading)
            zx, zy = c * ahead - s * left, s * ahead + c * left
            nx, ny = _normal(lines[which])
            off = nx * (lines[which, 0] - belief.x - zx) + ny * (lines[which, 1] - belief.y - zy)
            _take(mind, nx, ny, zx * ny - zy * nx, off, spread * spread)
    if points >= MIN_MISFIT_POINTS:
        pose.misfit += LINES_MISFIT_SHARE * ((1.0 if 2 * misfits > points else 0.0) - pose.misfit)


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
    if off_axis > math.sqrt(wx * wx + wy * wy) * (MAX_LINE_SKEW + 3.0 * math.sqrt(pose.tt)):
        return math.inf
    margin, worst = LINE_END_MARGIN + 3.0 * math.sqrt(pose.xx + pose.yy), 0.0
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
def _relocate(mind: MindRecord, view: _View, numbers: TrackerNumbers) -> bool:
    """Looks for a new pose in what is seen, and takes it if there is one; whether there is."""
    belief, pose, seen, table = mind.belief, mind.pose, view.seen, view.table
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
                best = _try_pose(best, wrap_angle_exactly(landmark.turn - sighting.turn), i, c, belief, view, numbers)
            elif sighting.kind <= ObjectKind.POST:
                best = _try_pairs(best, i, c, belief, view, numbers)
                best = _try_lines(best, i, c, belief, view, numbers)
    if best.fit <= MIN_RELOCATION_FIT or best.fit <= best.rival_fit + numbers.apart:
        return False
    belief.x, belief.y, belief.heading = best.x, best.y, best.heading
    _forget_pose(pose, RELOCATED_VARIANCE, RELOCATED_VARIANCE)
    return True


@kernel
def _try_pairs(
    best: _PoseGuess, i: int, c: int, belief: BeliefRecord, view: _View, numbers: TrackerNumbers
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
    best: _PoseGuess, i: int, c: int, belief: BeliefRecord, view: _View, numbers: TrackerNumbers
) -> _PoseGuess:
    """Tries the four poses in which sighting i is post c, and the longest line is along or across the pitch."""
    longest, angle = 0.0, 0.0
    for k in range(len(view.parts)):
        part = view.parts[k]
        ahead, left = part.other_ahead - part.ahead, part.other_left - part.left
        length = math.hypot(ahead, left)
        if length > longest:
            longest, angle = length, math.atan2(left, ahead)
    if longest > 0.0:
        for quarter in range(4):
            heading = wrap_angle_exactly(0.5 * math.pi * quarter - angle)
            best = _try_pose(best, heading, i, c, belief, view, numbers)
    return best


@kernel
def _try_pose(
    best: _PoseGuess, heading: float, i: int, c: int, belief: BeliefRecord, view: _View, numbers: TrackerNumbers
) -> _PoseGuess:
    """Tries the pose with a heading in which sighting i is landmark c."""
    sighting, landmark = view.seen[i], view.table.landmarks[c]
    way = heading + sighting.bearing
    x, y = landmark.x - sighting.distance * math.cos(way), landmark.y - sighting.distance * math.sin(way)
    if abs(x) > numbers.reach_x or abs(y) > numbers.reach_y:
        return best
    fit = -numbers.prior_penalty * math.hypot(x - belief.x, y - belief.y)
    for k in range(len(view.seen)):
        if view.seen[k].kind >= ObjectKind.OWN_POST:
            fit += _landmark_fit(x, y, heading, view.seen[k], view.table)
    count = len(view.parts)
    if count:
        worth = min(LINE_WORTH, MAX_LINES_WORTH / count)
        for k in range(count):
            fit += worth * _line_fit(x, y, heading, view.parts[k], view.table.lines)
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


@kernel
def _line_fit(x: float, y: float, heading: float, part: LinePart, lines: Floats) -> float:
    """How well a part of a line fits a pose: 1 less half its share of what its worse end may be off, or -1."""
    c, s = math.cos(heading), math.sin(heading)
    ax, ay = x + c * part.ahead - s * part.left, y + s * part.ahead + c * part.left
    bx, by = x + c * part.other_ahead - s * part.other_left, y + s * part.other_ahead + c * part.other_left
    most, fit = LANDMARK_TOLERANCE + part.spread, -1.0
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


# ---- the ball


@inlined
def _see_ball(mind: MindRecord, sighting: SightingRecord, numbers: TrackerNumbers) -> None:
    """Takes a sighting of the ball into its filter."""
    belief, pose, ball, settings = mind.belief, mind.pose, mind.ball, numbers.settings
    distance, far = sighting.distance, sighting.spread
    way = pose.odometer_heading + sighting.bearing
    ux, uy = math.cos(way), math.sin(way)
    bx, by = pose.odometer_x + distance * ux, pose.odometer_y + distance * uy
    along, across = far * far + BALL_FLOOR, (distance * numbers.bearing_noise) ** 2 + BALL_FLOOR
    noise = _polar_covariance(along, across, ux, uy)
    ex, ey = bx - ball.x, by - ball.y
    information = _inverse(ball.xx + noise.xx, ball.xy + noise.xy, ball.yy + noise.yy)
    off = information.xx * ex * ex + 2.0 * information.xy * ex * ey + information.yy * ey * ey
    if off > settings.ball_gate:
        # The first sightings far off may be false ones; then it is a ball that was kicked or put elsewhere.
        ball.surprises += 1
        lost = belief.seen_ago > settings.ball_memory
        if ball.surprises <= settings.ball_doubts and not lost:
            return
        reach = MAX_KICKS * settings.kick_speed * belief.seen_ago + 5.0 * math.sqrt(ball.xx + ball.yy)
        if lost or ball.surprises > 1 or math.sqrt(ex * ex + ey * ey) > reach:
            _find_ball(ball, bx, by, noise, FOUND_BALL_SPEED if lost else settings.kick_speed)
            belief.seen_ago = 0.0
            return
        # It was kicked at some moment since it was seen last, with any velocity.
        speed = settings.kick_speed * settings.kick_speed
        ball.uu += speed
        ball.vv += speed
        ball.xx += speed * belief.seen_ago * belief.seen_ago
        ball.yy += speed * belief.seen_ago * belief.seen_ago
        ball.xu += speed * belief.seen_ago
        ball.yv += speed * belief.seen_ago
    ball.surprises, belief.seen_ago = 0, 0.0
    before_x, before_y = ball.x, ball.y
    _take_ball(ball, ux, uy, ux * ex + uy * ey, along)
    ex -= ball.x - before_x
    ey -= ball.y - before_y
    _take_ball(ball, -uy, ux, ux * ey - uy * ex, across)


@inlined
def _take_ball(ball: BallFilter, hx: float, hy: float, residual: float, variance: float) -> None:
    """One measured number of the ball's place, along the direction (hx, hy)."""
    gx, gy = ball.xx * hx + ball.xy * hy, ball.xy * hx + ball.yy * hy
    gu, gv = ball.xu * hx + ball.yu * hy, ball.xv * hx + ball.yv * hy
    share = 1.0 / (hx * gx + hy * gy + variance)
    gain = share * residual
    ball.x, ball.y, ball.u, ball.v = ball.x + gx * gain, ball.y + gy * gain, ball.u + gu * gain, ball.v + gv * gain
    ball.xx, ball.xy, ball.yy = ball.xx - gx * gx * share, ball.xy - gx * gy * share, ball.yy - gy * gy * share
    ball.xu, ball.xv = ball.xu - gx * gu * share, ball.xv - gx * gv * share
    ball.yu, ball.yv = ball.yu - gy * gu * share, ball.yv - gy * gv * share
    ball.uu, ball.uv, ball.vv = ball.uu - gu * gu * share, ball.uv - gu * gv * share, ball.vv - gv * gv * share


@inlined
def _find_ball(ball: BallFilter, x: float, y: float, place: _Symmetric, speed: float) -> None:
    """Puts the ball at a place in the odometer's frame, with an unknown velocity of that size."""
    ball.x, ball.y, ball.u, ball.v = x, y, 0.0, 0.0
    ball.xx, ball.xy, ball.yy, ball.uv = place.xx, place.xy, place.yy, 0.0
    ball.xu, ball.xv, ball.yu, ball.yv = 0.0, 0.0, 0.0, 0.0
    ball.uu, ball.vv = speed * speed, speed * speed
    ball.surprises = 0


@kernel
def lose_ball(minds: Records[MindRecord], spread: float) -> None:
    """The ball of a player (1,) is not where it should be: it lies somewhere around there, with a deviation, m."""
    ball = minds[0].ball
    _find_ball(ball, ball.x, ball.y, _Symmetric(spread * spread, 0.0, spread * spread), FOUND_BALL_SPEED)


# ---- other players


@kernel
def _see_robots(belief: BeliefRecord, own: int, seen: Records[SightingRecord], settings: TrackerSettings) -> None:
    """Takes the robots that are seen into a belief; `own` is the player's number less 1."""
    for i in range(len(seen)):
        sighting = seen[i]
        if not ObjectKind.MATE <= sighting.kind <= ObjectKind.ROBOT:
            continue
        way = belief.heading + sighting.bearing
        x, y = belief.x + sighting.distance * math.cos(way), belief.y + sighting.distance * math.sin(way)
        if sighting.number > 0:
            track = sighting.number - 1 + (0 if sighting.kind == ObjectKind.MATE else MAX_PLAYERS)
        else:
            track = _nearest_track(belief, own, sighting.kind, x, y, settings)
        if track < 0 or track == own:
            continue
        _move_track(belief.others[track], x, y, sighting.spread, settings.others_drift)
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


@kernel
def _hear_sonar(belief: BeliefRecord, own: int, answers: Floats, table: LandmarkTable, numbers: TrackerNumbers) -> None:
    """Corrects the tracks of robots before the player by its two sonars (2,), m; NaN where nothing answers.

    An answer moves the track that explains it best to its distance, or makes a new one where no robot and no post is
    believed. Silence where a robot should answer says that it has left.
    """
    sonar, settings = numbers.sonar, numbers.settings
    if sonar.robot_radius <= 0.0 or not belief.upright:
        return
    for side in range(2):
        answer = answers[side]
        way = belief.heading + (sonar.angle if side == LEFT_SONAR else -sonar.angle)
        c, s = math.cos(way), math.sin(way)
        best, nearest, best_off = -1, math.inf, 0.0
        for k in range(2 * MAX_PLAYERS):
            other = belief.others[k]
            dx, dy = other.x - belief.x, other.y - belief.y
            # A player that lies is too low to answer; NaN is never near.
            if k == own or other.lies or not dx * dx + dy * dy < MAX_SONAR_TRACK_DISTANCE**2:
                continue
            ahead, left = c * dx + s * dy, c * dy - s * dx
            if math.isnan(answer):
                expected = echo(ahead, left, 0.5 * sonar.robot_radius, 0.5 * sonar.half_opening)
                if other.age > MIN_SILENT_AGE and expected < sonar.settings.farthest - sonar.robot_radius:
                    other.age = max(other.age, settings.others_memory)
                continue
            # Where in the cone it would have to be: as far as the answer says, in a direction as near as can be.
            off = min(max(math.atan2(left, ahead), -sonar.half_opening), sonar.half_opening)
            far = answer + sonar.robot_radius
            away = math.hypot(far * math.cos(off) - ahead, far * math.sin(off) - left)
            if away < min(
                nearest, settings.others_gate + settings.others_drift * min(other.age, settings.others_memory)
            ):
                best, nearest, best_off = k, away, off
        if math.isnan(answer):
            continue
        if best < 0:
            if _is_post(belief, c, s, answer, table, sonar):
                continue
            x, y = belief.x + c * (answer + sonar.robot_radius), belief.y + s * (answer + sonar.robot_radius)
            best = _nearest_track(belief, own, ObjectKind.ROBOT, x, y, settings)
        if best >= 0 and belief.others[best].age > JUST_SEEN_AGE:
            far, way = answer + sonar.robot_radius, way + best_off
            x, y = belief.x + far * math.cos(way), belief.y + far * math.sin(way)
            _move_track(belief.others[best], x, y, SONAR_SPREAD, settings.others_drift)


@kernel
def _is_post(
    belief: BeliefRecord, c: float, s: float, answer: float, table: LandmarkTable, sonar: SonarNumbers
) -> bool:
    """Whether a post explains the answer of a sonar that looks along (c, s)."""
    for k in range(table.first[ObjectKind.POST], table.first[ObjectKind.POST + 1]):
        dx, dy = table.landmarks[k].x - belief.x, table.landmarks[k].y - belief.y
        expected = echo(c * dx + s * dy, c * dy - s * dx, sonar.post_radius + belief.spread, 2.0 * sonar.half_opening)
        if abs(expected - answer) < POST_TOLERANCE + 2.0 * belief.spread:
            return True
    return False


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
                    _believe_told_ball(mind, told.ball_x, told.ball_y, told.ball_vx, told.ball_vy, least)
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
def hear_mate(minds: Records[MindRecord], row: int, x: float, y: float, age: float) -> None:
    """A team-mate in a row of the belief (1,) told where it stood some time ago, s; what was seen since is better."""
    mate = minds[0].belief.others[row]
    if age < mate.age:
        mate.x, mate.y, mate.age = x, y, age


@kernel
def hear_ball(
    minds: Records[MindRecord], x: float, y: float, age: float, spread: float, settings: Records[TrackerNumbers]
) -> None:
    """A team-mate of a player (1,) saw the ball at a place some time ago, s, with a deviation, m."""
    mind = minds[0]
    mind.belief.told_ago = min(mind.belief.told_ago, age)
    if mind.belief.seen_ago > settings[0].settings.ball_told:
        _believe_told_ball(mind, x, y, 0.0, 0.0, spread * spread)


@kernel
def _believe_told_ball(mind: MindRecord, x: float, y: float, vx: float, vy: float, variance: float) -> None:
    """Puts the ball into a mind where another one has it on the pitch, with its velocity."""
    belief, pose, ball = mind.belief, mind.pose, mind.ball
    turn = pose.odometer_heading - belief.heading
    c, s = math.cos(turn), math.sin(turn)
    dx, dy = x - belief.x, y - belief.y
    variance += belief.spread**2 + (dx * dx + dy * dy) * belief.heading_spread**2
    place = _Symmetric(variance, 0.0, variance)
    _find_ball(ball, pose.odometer_x + c * dx - s * dy, pose.odometer_y + s * dx + c * dy, place, TOLD_BALL_SPEED)
    ball.u, ball.v = c * vx - s * vy, s * vx + c * vy
