"""The filters of a player's tracker, compiled: own pose, ball and other players, for one player or for thousands.

All worlds fill the same `MindRecord` with the same functions. Each has an input stage that turns what its players
observe into a `Motion` (odometry and how far it is trusted), sightings on the ground (`vision.SightingRecord`: kind,
distance and bearing from the player, and their errors) and parts of lines (`LinePart`):

- the behavioural world's vision makes sightings itself, for M matches at once (`track_all`);
- `league_sight` levels the polar coordinates of the 3D simulation league by its estimate of tilt and height
  (`track_one`);
- `perception` finds sightings and points on lines in camera pictures (`track_one`).

**Ball**: place and velocity with their covariance in the frame of the odometer, in which walking and corrections of the
pose do not move it.

**Other players**: sightings without numbers become tracks, one for each known player. A robot that is seen belongs to
the nearest track of its team, if that is near enough for the time since it was seen; otherwise to a free row: one never
used, or the one that was not seen for longest. So rows of opponents are players, but not their numbers, unless eyes
recognise numbers; team-mates send theirs (`share_beliefs`, `hear_mate`). Each track is a Kalman filter of place and
velocity. A velocity lasts for about `TrackerSettings.others_time`, after which the player has chosen another one, so
that the predicted velocity of a player that is not seen decays (Singer, 1970, with the velocity in the place of the
acceleration).

Beliefs are in the frame in which landmarks are given: that of the player's own team. Metres, seconds, radians.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.kernels import inlined, kernel, unchecked
from nutmeg.match.players.tracking.localisation import (
    PitchView,
    Symmetric,
    inverse,
    is_lost,
    localise,
    polar_covariance,
    walk,
)
from nutmeg.match.players.tracking.records import Motion
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.random import VOICES, uniform
from nutmeg.match.worlds.behavioural.sonar import LEFT_SONAR, echo
from nutmeg.match.worlds.behavioural.state import Posture

if TYPE_CHECKING:
    import numpy as np

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.base.records import Records
    from nutmeg.match.players.tracking.records import (
        BallFilter,
        BeliefRecord,
        LandmarkTable,
        LinePart,
        MindRecord,
        Observations,
        TrackerNumbers,
    )
    from nutmeg.match.worlds.behavioural.eyes import TrackerSettings
    from nutmeg.match.worlds.behavioural.sonar import SonarNumbers
    from nutmeg.match.worlds.behavioural.state import Ball, Player
    from nutmeg.match.worlds.behavioural.vision import SightingRecord

_FOUND_BALL_SPEED = 0.5  # standard deviation of the velocity of a ball that was just found, m/s
_MAX_KICKS = 4.0  # a ball that seems faster than this many deviations of kicks was put elsewhere
_LOST_BALL_DRIFT = 0.1  # growth rate of the variance of a lost ball's place, m^2/s
_LOST_BALL_SLOWING = 7.0  # rate at which the estimated velocity of a lost ball decays, 1/s
_BALL_FLOOR = 2.5e-5  # least variance of a sighting of the ball, m^2
_MAX_ROBOT_SURPRISE = 25.0
"""A robot whose squared distance from where it should be exceeds this many variances was put elsewhere, or it is
another one."""
_JUST_SEEN_AGE = 1e-9  # age of a player that was seen in this very cycle, s
_MAX_SONAR_TRACK_DISTANCE = 2.0  # tracks farther away explain no answer of a sonar, m
_SAME_ECHO_DISTANCE = 0.15
"""Echoes of both sonars whose distances differ by less than this come from the same object, m."""
_MIN_SILENT_AGE = 0.5  # a player seen or heard less long ago than this is kept although no sonar answers, s
_SONAR_SPREAD = 0.1
"""Standard deviation of the place of a robot from an echo, m: its distance is known well, its direction is not."""
_POST_TOLERANCE = 0.15  # a post explains an echo that differs by less than this from the expected distance, m
_MAX_SHARED_BALL_AGE = 0.35  # oldest sighting of the ball that players share with team-mates, s
_MAX_SHARED_SPREAD = 1.0  # standard deviation of the own place above which a player shares nothing, m
_HEARD_MATE_SPREAD = 0.02  # standard deviation of the place that a team-mate sends, m
_HEARD_MATE_SPEED_ERROR = 0.1  # standard deviation of the velocity that a team-mate sends along an axis, m/s
_HEARD_BALL_SPEED = 0.5  # standard deviation of the velocity of a ball from a team-mate's message, m/s


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
            _move(mind, own, _odometry(ahead, left, turn, mind.belief.upright, kicks, numbers.settings), numbers)
            view = PitchView(observed.things[m][s][: observed.counts[m, s]], observed.parts, table)
            _see(mind, own, view, numbers)
            if numbers.settings.uses_sonar:
                _hear_sonar(mind, own, observed.sonar[m, s], table, numbers)
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
    _move(minds[0], own, motion, settings[0])
    _see(minds[0], own, PitchView(seen, parts, table), settings[0])
    _update_belief(minds[0], own)
    belief, numbers = minds[0].belief, settings[0]
    inside: bool = abs(belief.x) < numbers.reach_x and abs(belief.y) < numbers.reach_y
    return inside and not is_lost(minds[0], numbers.settings)


@kernel
def hear_sonar(
    minds: Records[MindRecord], own: int, sonar: Floats, table: LandmarkTable, settings: Records[TrackerNumbers]
) -> None:
    """Takes what the sonars of one player measure into its mind (1,), where sonar is used.

    Args:
        minds: (1,), written.
        own: the player's number less 1; -1 while it is not known.
        sonar: (2,) distances to the left and to the right, m; NaN where nothing answers.
        table: landmarks of the pitch.
        settings: (1,) numbers of the tracker.
    """
    if settings[0].settings.uses_sonar:
        _hear_sonar(minds[0], own, sonar, table, settings[0])


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
    _move(mind, own, _odometry(ahead, left, turn, mind.belief.upright, kicks, numbers.settings), numbers)
    if numbers.settings.uses_sonar:
        _hear_sonar(mind, own, sonar, table, numbers)
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
def _move(mind: MindRecord, own: int, motion: Motion, numbers: TrackerNumbers) -> None:
    """Lets a cycle pass: the player walks, the ball rolls, and what is known of others grows older."""
    walk(mind, motion, numbers.settings.slip_time)
    _roll(mind, motion, numbers)
    _move_others(mind, motion.step, numbers.settings)
    if own >= 0 and motion.step > 0.0:
        # The own velocity, which team-mates are told, is that of the odometry and its slip.
        me, pose, heading = mind.belief.others[own], mind.pose, mind.belief.heading
        ahead, left = motion.ahead / motion.step + pose.slip_ahead, motion.left / motion.step + pose.slip_left
        c, s = math.cos(heading), math.sin(heading)
        me.vx, me.vy = c * ahead - s * left, s * ahead + c * left


@inlined
def _move_others(mind: MindRecord, dt: float, settings: TrackerSettings) -> None:
    """Predicts places and velocities of other players after a time, s; what is known of them grows older."""
    keep = math.exp(-dt / settings.others_time)
    push = settings.others_speed**2 * (1.0 - keep * keep)
    for k in range(2 * MAX_PLAYERS):
        other, track = mind.belief.others[k], mind.others[k]
        other.age += dt
        if other.age == math.inf:
            continue
        other.x += dt * other.vx
        other.y += dt * other.vy
        other.vx *= keep
        other.vy *= keep
        track.xx += dt * (2.0 * track.xu + dt * track.uu)
        track.xu = keep * (track.xu + dt * track.uu)
        track.uu = keep * keep * track.uu + push


@inlined
def _see(mind: MindRecord, own: int, view: PitchView, numbers: TrackerNumbers) -> None:
    """Takes what is seen: landmarks and lines, then, from the corrected pose, the ball and other players."""
    localise(mind, view, numbers)
    for i in range(len(view.seen)):
        if view.seen[i].kind == ObjectKind.BALL:
            _see_ball(mind, view.seen[i], numbers)
            break
    # A player that does not know where it is cannot say where others are.
    if not is_lost(mind, numbers.settings):
        _see_robots(mind, own, view.seen, numbers)


@kernel
def refresh_belief(minds: Records[MindRecord], row: int, own: int) -> None:
    """Brings the belief in a row of some (N,) up to date, for callers in Python; `own` as in `track_one`."""
    _update_belief(minds[row], own)


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


# ---- the ball


@inlined
def _roll(mind: MindRecord, motion: Motion, numbers: TrackerNumbers) -> None:
    """Lets the ball roll for a cycle, and time pass for it."""
    belief, ball = mind.belief, mind.ball
    dt, u, v = motion.step, ball.u, ball.v
    belief.seen_ago += dt
    belief.heard_ago += dt
    speed = math.sqrt(u * u + v * v)
    if speed > 1e-6:
        slower = max(0.0, math.exp(-numbers.damping * dt) - numbers.rolling * dt / speed)
        ball.x += 0.5 * (1.0 + slower) * dt * u
        ball.y += 0.5 * (1.0 + slower) * dt * v
        ball.u, ball.v = slower * u, slower * v
    if belief.seen_ago > numbers.settings.ball_memory:
        # What happens to a lost ball is not known: it is expected to come to rest, with growing uncertainty.
        keep, drift = math.exp(-_LOST_BALL_SLOWING * dt), _LOST_BALL_DRIFT * dt
        ball.u, ball.v = keep * ball.u, keep * ball.v
        ball.xx += drift
        ball.yy += drift
        return
    walked = motion.place_variance + numbers.settings.ball_sway**2
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


@inlined
def _see_ball(mind: MindRecord, sighting: SightingRecord, numbers: TrackerNumbers) -> None:
    """Takes a sighting of the ball into its filter."""
    belief, pose, ball, settings = mind.belief, mind.pose, mind.ball, numbers.settings
    distance, far = sighting.distance, sighting.spread
    way = pose.odometer_heading + sighting.bearing
    ux, uy = math.cos(way), math.sin(way)
    bx, by = pose.odometer_x + distance * ux, pose.odometer_y + distance * uy
    along, across = far * far + _BALL_FLOOR, (distance * numbers.bearing_noise) ** 2 + _BALL_FLOOR
    noise = polar_covariance(along, across, ux, uy)
    ex, ey = bx - ball.x, by - ball.y
    information = inverse(ball.xx + noise.xx, ball.xy + noise.xy, ball.yy + noise.yy)
    off = information.xx * ex * ex + 2.0 * information.xy * ex * ey + information.yy * ey * ey
    if off > settings.ball_gate:
        # The first sightings far off may be false ones; then it is a ball that was kicked or put elsewhere.
        ball.surprises += 1
        lost = belief.seen_ago > settings.ball_memory
        if ball.surprises <= settings.ball_doubts and not lost:
            return
        reach = _MAX_KICKS * settings.kick_speed * belief.seen_ago + 5.0 * math.sqrt(ball.xx + ball.yy)
        if lost or ball.surprises > 1 or math.sqrt(ex * ex + ey * ey) > reach:
            _find_ball(ball, bx, by, noise, _FOUND_BALL_SPEED if lost else settings.kick_speed)
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
def _find_ball(ball: BallFilter, x: float, y: float, place: Symmetric, speed: float) -> None:
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
    _find_ball(ball, ball.x, ball.y, Symmetric(spread * spread, 0.0, spread * spread), _FOUND_BALL_SPEED)


# ---- other players


@kernel
def _see_robots(mind: MindRecord, own: int, seen: Records[SightingRecord], numbers: TrackerNumbers) -> None:
    """Takes the robots that are seen into a mind; `own` is the player's number less 1."""
    belief, settings = mind.belief, numbers.settings
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
        variance = sighting.spread**2 + (sighting.distance * numbers.bearing_noise) ** 2 + settings.others_noise**2
        _move_track(mind, track, x, y, variance, 0.0, settings)
        belief.others[track].lies = sighting.lying
        if sighting.lying:
            belief.others[track].vx, belief.others[track].vy = 0.0, 0.0


@kernel
def _nearest_track(belief: BeliefRecord, own: int, kind: int, x: float, y: float, settings: TrackerSettings) -> int:
    """The track of a robot at a place: the nearest, or a free one; -1 if there is none."""
    first = MAX_PLAYERS if kind == ObjectKind.OPPONENT else 0
    last = MAX_PLAYERS if kind == ObjectKind.MATE else 2 * MAX_PLAYERS
    best, nearest, free, oldest = -1, math.inf, -1, settings.others_memory
    for k in range(first, last):
        other = belief.others[k]
        age = other.age
        if k == own or age < _JUST_SEEN_AGE:
            continue
        # A robot whose colour is not seen takes a free row of the opponents, because team-mates send their places.
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
def _move_track(
    mind: MindRecord, row: int, x: float, y: float, variance: float, age: float, settings: TrackerSettings
) -> None:
    """Corrects place and velocity of another player by a place that was measured some time ago.

    Args:
        mind: the mind.
        row: the row of the player.
        x: the measured place, m.
        y: likewise.
        variance: of the measurement, m^2.
        age: of the measurement, s.
        settings: of the tracker.
    """
    other, track = mind.belief.others[row], mind.others[row]
    # The covariances of the place at the time of the measurement with itself, and with place and velocity now.
    total = track.xx - age * (2.0 * track.xu - age * track.uu) + variance
    ex, ey = x - other.x + age * other.vx, y - other.y + age * other.vy
    known = other.age < settings.others_memory and ex * ex + ey * ey < _MAX_ROBOT_SURPRISE * total
    if known:
        gain, speed_gain = (track.xx - age * track.xu) / total, (track.xu - age * track.uu) / total
        other.x += gain * ex
        other.y += gain * ey
        other.vx += speed_gain * ex
        other.vy += speed_gain * ey
        xu = track.xu - age * track.uu
        track.xx -= gain * gain * total
        track.xu -= gain * xu
        track.uu -= speed_gain * xu
    else:
        other.x, other.y, other.vx, other.vy = x, y, 0.0, 0.0
        track.xx, track.xu, track.uu = variance, 0.0, settings.others_speed**2
    other.age = age


@kernel
def _hear_sonar(mind: MindRecord, own: int, answers: Floats, table: LandmarkTable, numbers: TrackerNumbers) -> None:
    """Corrects the tracks of robots before the player by its two sonars (2,), m; NaN where nothing answers."""
    belief, sonar = mind.belief, numbers.sonar
    if sonar.robot_radius <= 0.0 or not belief.upright:
        return
    left, right = answers[LEFT_SONAR], answers[1 - LEFT_SONAR]
    if abs(left - right) < _SAME_ECHO_DISTANCE:
        # Both answer for what is straight ahead, between their cones.
        _hear_echo(mind, own, belief.heading, sonar.angle - sonar.half_opening, min(left, right), table, numbers)
        return
    for side in range(2):
        way = belief.heading + (sonar.angle if side == LEFT_SONAR else -sonar.angle)
        if math.isnan(answers[side]):
            _hear_silence(belief, own, way, numbers)
        else:
            _hear_echo(mind, own, way, sonar.half_opening, answers[side], table, numbers)


@kernel
def _hear_silence(belief: BeliefRecord, own: int, way: float, numbers: TrackerNumbers) -> None:
    """Silence where a robot that stands should answer says that it has left."""
    sonar, settings, c, s = numbers.sonar, numbers.settings, math.cos(way), math.sin(way)
    for k in range(2 * MAX_PLAYERS):
        other = belief.others[k]
        dx, dy = other.x - belief.x, other.y - belief.y
        if k == own or other.lies or other.age < _MIN_SILENT_AGE:
            continue
        # Only what is well inside the cone must answer; nothing is nearer than NaN.
        if dx * dx + dy * dy < sonar.settings.farthest * sonar.settings.farthest:
            expected = echo(c * dx + s * dy, c * dy - s * dx, 0.5 * sonar.robot_radius, 0.5 * sonar.half_opening)
            if expected < sonar.settings.farthest - sonar.robot_radius:
                other.age = max(other.age, settings.others_memory)


@kernel
def _hear_echo(
    mind: MindRecord,
    own: int,
    way: float,
    half: float,
    answer: float,
    table: LandmarkTable,
    numbers: TrackerNumbers,
) -> None:
    """Moves the track that explains an answer best to its distance, within `half` of a direction, rad.

    Where no robot and no post is believed that explains it, a robot is there that was not known.
    """
    belief = mind.belief
    sonar, settings, c, s = numbers.sonar, numbers.settings, math.cos(way), math.sin(way)
    best, nearest, best_off, far = -1, math.inf, 0.0, answer + sonar.robot_radius
    for k in range(2 * MAX_PLAYERS):
        other = belief.others[k]
        dx, dy = other.x - belief.x, other.y - belief.y
        # A player that lies is too low to answer.
        if k == own or other.lies or not dx * dx + dy * dy < _MAX_SONAR_TRACK_DISTANCE**2:
            continue
        ahead, left = c * dx + s * dy, c * dy - s * dx
        off = min(max(math.atan2(left, ahead), -half), half)
        away = math.hypot(far * math.cos(off) - ahead, far * math.sin(off) - left)
        if away < min(nearest, settings.others_gate + settings.others_drift * min(other.age, settings.others_memory)):
            best, nearest, best_off = k, away, off
    if best < 0 and not _is_post(belief, c, s, answer, table, sonar):
        best = _nearest_track(belief, own, ObjectKind.ROBOT, belief.x + far * c, belief.y + far * s, settings)
    # Cameras measure directions better than sonars do.
    if best >= 0 and belief.others[best].age > _JUST_SEEN_AGE:
        x, y = belief.x + far * math.cos(way + best_off), belief.y + far * math.sin(way + best_off)
        _move_track(mind, best, x, y, _SONAR_SPREAD**2, 0.0, settings)


@kernel
def _is_post(
    belief: BeliefRecord, c: float, s: float, answer: float, table: LandmarkTable, sonar: SonarNumbers
) -> bool:
    """Whether a post explains the answer of a sonar that looks along (c, s)."""
    for k in range(table.first[ObjectKind.POST], table.first[ObjectKind.POST + 1]):
        dx, dy = table.landmarks[k].x - belief.x, table.landmarks[k].y - belief.y
        expected = echo(c * dx + s * dy, c * dy - s * dx, sonar.post_radius + belief.spread, 2.0 * sonar.half_opening)
        if abs(expected - answer) < _POST_TOLERANCE + 2.0 * belief.spread:
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
    """Shares beliefs between team-mates of the matches `chosen` (K,), which changes their minds (M, 22).

    Once a cycle every player sends its team-mates its own place and that of the ball, as NaOISIS's robots share a
    structure of beliefs (seed 002, section 3.3). A player that has not seen the ball for `patience` seconds uses the
    message with the least variance.
    """
    for m in chosen:
        present, ball = players[m], balls[m]
        for s in range(SLOTS):
            if not present[s].present:
                continue
            mind, first, teller, least = minds[m][s], s - s % MAX_PLAYERS, -1, math.inf
            for k in range(first, first + MAX_PLAYERS):
                heard = minds[m][k].belief
                if k == s or not present[k].present or heard.spread > _MAX_SHARED_SPREAD:
                    continue
                if not arrives(ball.seed, ball.cycle, k, s, loss):
                    continue
                mate, told = mind.belief.others[k - first], heard.others[k - first]
                mate.x, mate.y, mate.age, mate.lies = heard.x, heard.y, 0.0, not heard.upright
                mate.vx, mate.vy = told.vx, told.vy
                track = mind.others[k - first]
                track.xx, track.xu, track.uu = heard.spread**2, 0.0, _HEARD_MATE_SPEED_ERROR**2
                variance = _heard_ball_variance(heard)
                if variance < least:
                    teller, least = k, variance
            if teller >= 0:
                heard = minds[m][teller].belief
                mind.belief.heard_ago = heard.seen_ago
                if mind.belief.seen_ago > patience:
                    _use_heard_ball(mind, heard.ball_x, heard.ball_y, heard.ball_vx, heard.ball_vy, least)
                    _update_belief(mind, s - first)


@kernel
def _heard_ball_variance(heard: BeliefRecord) -> float:
    """Variance of the ball's place on the pitch in a player's message; inf if the player does not see the ball."""
    if heard.seen_ago > _MAX_SHARED_BALL_AGE:
        return math.inf
    far = math.hypot(heard.ball_x - heard.x, heard.ball_y - heard.y)
    variance: float = heard.ball_spread**2 + heard.spread**2 + (far * heard.heading_spread) ** 2
    return variance


@kernel
def hear_mate(
    minds: Records[MindRecord], row: int, x: float, y: float, age: float, settings: Records[TrackerNumbers]
) -> None:
    """Takes the place of a team-mate, a row of the belief (1,), some time ago, s; later sightings are better."""
    if age < minds[0].belief.others[row].age:
        _move_track(minds[0], row, x, y, _HEARD_MATE_SPREAD**2, age, settings[0].settings)


@kernel
def hear_ball(
    minds: Records[MindRecord], x: float, y: float, age: float, spread: float, settings: Records[TrackerNumbers]
) -> None:
    """A team-mate of a player (1,) saw the ball at a place some time ago, s, with a deviation, m."""
    mind = minds[0]
    mind.belief.heard_ago = min(mind.belief.heard_ago, age)
    if mind.belief.seen_ago > settings[0].settings.ball_told:
        _use_heard_ball(mind, x, y, 0.0, 0.0, spread * spread)


@kernel
def _use_heard_ball(mind: MindRecord, x: float, y: float, vx: float, vy: float, variance: float) -> None:
    """Puts the ball into a mind where another one has it on the pitch, with its velocity."""
    belief, pose, ball = mind.belief, mind.pose, mind.ball
    turn = pose.odometer_heading - belief.heading
    c, s = math.cos(turn), math.sin(turn)
    dx, dy = x - belief.x, y - belief.y
    variance += belief.spread**2 + (dx * dx + dy * dy) * belief.heading_spread**2
    place = Symmetric(variance, 0.0, variance)
    _find_ball(ball, pose.odometer_x + c * dx - s * dy, pose.odometer_y + s * dx + c * dy, place, _HEARD_BALL_SPEED)
    ball.u, ball.v = c * vx - s * vy, s * vx + c * vy
