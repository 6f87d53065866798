"""Estimates of how the ball rolls, and how kicks and walking feet send it off.

    friction = ball_friction(all_tracks, rng)               # ball.deceleration, ball.damping
    touches = find_touches(tracks, friction)                # every time that a robot moved the ball
    kick_estimates(touches, base, rng)

A ball with no robot near it slows down by dv/dt = -(a + b v). Its mean speeds over two cycles that are h apart then
obey v2 = exp(-b h) v1 - a (1 - exp(-b h)) / b, a straight line. A kick is a jump of the ball's speed beside a robot
that requested a kick; its distance is how far the ball rolled until a robot was near, plus what friction leaves of the
rest. Directions are measured from the line through the tip of the foot and the ball, as in `worlds.behavioural.ball`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle, wrap_angle_exactly
from nutmeg.base.arrays import Bools, Floats
from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.match.calibration.estimates import (
    Estimate,
    robust_fit,
    several,
    share_estimate,
    statistic_estimate,
    unknown,
)
from nutmeg.match.worlds.behavioural.ball import rolling_distance
from nutmeg.match.worlds.behavioural.motion import STEP
from nutmeg.match.worlds.behavioural.state import KickKind, Legs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.match.calibration.tracks import RobotTrack, Tracks
    from nutmeg.match.worlds.behavioural.settings import BehaviourSettings


_FRICTION_LAG = 3  # cycles between the two speeds from which friction is estimated
_FREE_BALL_DISTANCE = 0.45  # a ball with no robot nearer than this rolls freely [m]
_KICKER_DISTANCE = 0.45  # A robot that kicks the ball is not farther from it [m]
LINE_MARGIN = 0.4
"""Balls nearer to a line may meet a post, or be put elsewhere [m]."""
_MAX_BALL_SPEED = 15.0  # A ball that is faster was put there [m/s]
_MIN_BALL_SPEED = 0.25  # slower balls are too noisy to count [m/s]
_MAX_BALL_HEIGHT = 0.04  # A ball higher than this does not roll [m]
_MIN_SPEED_LEAP = 0.4  # least change of the ball's speed that counts as a kick or a touch [m/s]
_STANCE_CYCLES = 2  # cycles after the command to kick in which a robot stands, before it swings its leg
_CROWDED_DISTANCE = 0.6  # a kick with another robot nearer to the ball than this does not count [m]
_MAX_KICK_DELAY = 16  # cycles after the command within which a kick comes
_DIRECTION_SCALE = 0.3  # errors of a kick's direction beyond this count less than with their squares [rad]
_FALL_WITHIN_CYCLES = 10  # a robot that falls within this number of cycles after its kick fell because of it
_MIN_KICKS = 12  # kicks that an estimate needs


@dataclass(frozen=True, kw_only=True)
class Touch:
    """A ball that a robot sent off."""

    robot: str
    row: int
    """The cycle in which it began to move."""
    kicked: bool
    """Whether the robot requested a kick; otherwise it walked into the ball."""
    side: bool
    """Whether it was a side kick."""
    alone: bool
    """Whether no other robot was near the ball."""
    strength: float
    ball: tuple[float, float]
    """Where the ball lay, as for a left foot: ahead and to the left, m."""
    speed: float
    """The speed of the ball as it set off, m/s."""
    direction: float
    """The direction of the ball, from the heading to the left, as for a left foot, rad."""
    towards: float
    """How fast the robot went in that direction, m/s."""
    distance: float
    """How far the ball goes until it stops, m; nan if it met something too soon."""
    wind_up: float
    """Time from the request to the hit, s; nan without a request."""
    follow_through: float
    """Time from the hit until the robot requested something else, s; nan without a request."""


def _ball_speeds(tracks: Tracks) -> Floats:
    """(T,) mean speed of the ball in the cycle that ended then, m/s; nan if it was put elsewhere."""
    moved = np.diff(tracks.ball, axis=0, prepend=tracks.ball[:1])
    speeds = np.hypot(*moved.T) / BEHAVIOURAL_CYCLE
    return np.where(speeds < _MAX_BALL_SPEED, speeds, np.nan)


def _clear_ball(tracks: Tracks) -> Bools:
    """(T,) whether the ball rolls freely: no robot and no line near, and not in the air."""
    x, y = np.abs(tracks.ball).T
    clear = (
        (x < tracks.half_length - LINE_MARGIN)
        & (y < tracks.half_width - LINE_MARGIN)
        & (tracks.ball_height < _MAX_BALL_HEIGHT)
    )
    for track in tracks.robots.values():
        clear &= ~track.present | (np.hypot(*(track.place - tracks.ball).T) > _FREE_BALL_DISTANCE)
    return np.asarray(clear)


def ball_friction(all_tracks: Sequence[Tracks], rng: np.random.Generator) -> list[Estimate]:
    """Deceleration and damping of a rolling ball."""
    pairs = np.concatenate([np.zeros((0, 2)), *(_speed_pairs(tracks) for tracks in all_tracks)])
    names = ("ball.deceleration", "ball.damping")
    if len(pairs) < 3 * _MIN_KICKS:
        reason = f"{len(pairs)} cycles of a freely rolling ball; needed are {3 * _MIN_KICKS}"
        return [unknown(name, reason, len(pairs)) for name in names]
    off = pairs[:, 1] - pairs[:, 0] * np.median(pairs[:, 1] / pairs[:, 0])
    pairs = pairs[np.abs(off - np.median(off)) < 6 * 1.4826 * np.median(np.abs(off - np.median(off))) + 1e-3]
    return several(names, pairs, friction_of, rng)


def _speed_pairs(tracks: Tracks) -> Floats:
    """(n, 2) speeds of the ball in two cycles with a free way between them."""
    speeds, clear = _ball_speeds(tracks), _clear_ball(tracks)
    moved = np.diff(tracks.ball, axis=0, prepend=tracks.ball[:1])
    way = np.arctan2(moved[:, 1], moved[:, 0])
    first = np.arange(1, len(speeds) - _FRICTION_LAG)
    free = np.all([clear[first - 1 + k] for k in range(_FRICTION_LAG + 2)], axis=0)
    bent = np.abs(wrap_angle(way[first + _FRICTION_LAG] - way[first])) < 0.1
    steady = np.all([speeds[first + k + 1] <= speeds[first + k] + 0.02 for k in range(_FRICTION_LAG)], axis=0)
    with np.errstate(invalid="ignore"):
        moving = (speeds[first] > _MIN_BALL_SPEED) & (speeds[first + _FRICTION_LAG] > 0.3 * _MIN_BALL_SPEED)
    rows = first[free & bent & steady & moving]
    return np.column_stack([speeds[rows], speeds[rows + _FRICTION_LAG]])


def friction_of(pairs: Floats) -> tuple[float, float]:
    """Deceleration and damping by least squares, neither below 0, of pairs of speeds (n, 2) that are `LAG` apart."""
    before, after = pairs.T
    lag = _FRICTION_LAG * BEHAVIOURAL_CYCLE
    damped = float(before @ after / (before @ before))
    choices = [
        (0.0, -math.log(min(max(damped, 1e-6), 1.0)) / lag),
        (max(float(np.mean(before - after)) / lag, 0.0), 0.0),
    ]
    slope, short = np.polyfit(before, after, 1)
    if 0.0 < slope < 1.0 and short < 0.0:
        damping = -math.log(slope) / lag
        choices.append((-float(short) * damping / (1.0 - float(slope)), damping))

    def error(choice: tuple[float, float]) -> float:
        a, b = choice
        left = math.exp(-b * lag)
        lost = a * lag if b == 0.0 else a * (1.0 - left) / b
        return float(np.sum((after - left * before + lost) ** 2))

    return min(choices, key=error)


def find_touches(tracks: Tracks, friction: tuple[float, float]) -> list[Touch]:
    """All moments at which a robot sent off a ball that lay still or nearly so."""
    speeds = np.nan_to_num(_ball_speeds(tracks), nan=_MAX_BALL_SPEED)
    found = []
    for row in range(2, len(speeds) - 3):
        before = speeds[row - 1]
        leaps = (
            max(speeds[row], speeds[row + 1]) - before > _MIN_SPEED_LEAP
            and before < 0.2
            and speeds[row] - before > 0.05
        )
        if leaps and max(speeds[row], speeds[row + 1]) < _MAX_BALL_SPEED:
            touch = _touch(tracks, row, speeds, friction)
            if touch is not None:
                found.append(touch)
    return found


def _touch(tracks: Tracks, row: int, speeds: Floats, friction: tuple[float, float]) -> Touch | None:
    """The touch of a cycle in which the ball's speed changed; None if no robot touched it."""
    lay = tracks.ball[row - 1]
    near = {
        name: float(np.hypot(*(track.place[row - 1] - lay)))
        for name, track in tracks.robots.items()
        if track.present[row - 1] and not track.lies[row - 1]
    }
    if not near or min(near.values()) > _KICKER_DISTANCE:
        return None
    name = min(near, key=near.__getitem__)
    track = tracks.robots[name]
    asked = np.flatnonzero(track.legs[max(row - _MAX_KICK_DELAY, 0) : row + 1] == int(Legs.KICK)) + max(
        row - _MAX_KICK_DELAY, 0
    )
    wish = int(asked[-1]) if len(asked) else -1
    kind = int(track.kick[wish]) if wish >= 0 else -1
    mirror = -1.0 if kind in (int(KickKind.RIGHT_STRAIGHT), int(KickKind.RIGHT_SIDE)) else 1.0
    first = _first_wish(track, wish) if wish >= 0 else -1
    stood = min(first + _STANCE_CYCLES, row - 1) if first >= 0 else row - 1  # a body with joints leans in its kick
    heading = float(track.heading[stood])
    c, s = math.cos(heading), math.sin(heading)
    x, y = (lay - track.place[stood]).tolist()
    way = tracks.ball[row + 2] - tracks.ball[row]
    angle = math.atan2(way[1], way[0])
    went = (track.place[row] - track.place[row - 1]) / BEHAVIOURAL_CYCLE
    speed = float(max(speeds[row + 1], speeds[row]))
    struck = tracks.times[row] - min(BEHAVIOURAL_CYCLE * speeds[row] / max(speeds[row + 1], 1e-6), BEHAVIOURAL_CYCLE)
    slowed = float(tracks.times[row] + BEHAVIOURAL_CYCLE / 2 - struck) * (friction[0] + friction[1] * speed)
    return Touch(
        robot=name,
        row=row,
        kicked=wish >= 0,
        alone=_alone(tracks, row, name),
        side=kind in (int(KickKind.LEFT_SIDE), int(KickKind.RIGHT_SIDE)),
        strength=float(track.strength[wish]) if wish >= 0 else 0.0,
        ball=(c * x + s * y, mirror * (c * y - s * x)),
        speed=speed + slowed,
        direction=mirror * wrap_angle_exactly(angle - heading),
        towards=float(went @ way) / max(float(np.hypot(*way)), 1e-9),
        distance=_distance(tracks, row, speeds, friction, name),
        wind_up=float(struck - tracks.times[first - 1]) if first > 0 else math.nan,
        follow_through=_follow_through(tracks, track, row, float(struck)) if wish >= 0 else math.nan,
    )


def _first_wish(track: RobotTrack, row: int) -> int:
    """The cycle in which the request to kick of a row began."""
    kick = int(Legs.KICK)
    while row > 0 and track.legs[row - 1] == kick:
        row -= 1
    return row


def _follow_through(tracks: Tracks, track: RobotTrack, row: int, struck: float) -> float:
    """The time from the hit until a robot requested something else, which it could a cycle after its kick had ended."""
    later = np.flatnonzero(track.legs[row : row + 30] == int(Legs.WALK))
    if not len(later) or track.lies[row : row + int(later[0]) + 1].any():
        return math.nan
    return float(tracks.times[row + int(later[0])]) - 1.5 * BEHAVIOURAL_CYCLE - struck


def _distance(tracks: Tracks, row: int, speeds: Floats, friction: tuple[float, float], kicker: str) -> float:
    """How far a ball goes; nan if it met something within three cycles."""
    lay, last = tracks.ball[row - 1], row
    others = [one for one in tracks.robots.values() if one.name != kicker]
    if not _alone(tracks, row, kicker):
        return math.nan
    for later in range(row + 1, min(row + 25, len(speeds))):
        place = tracks.ball[later]
        if abs(place[0]) > tracks.half_length - LINE_MARGIN or abs(place[1]) > tracks.half_width - LINE_MARGIN:
            break
        if any(one.present[later] and np.hypot(*(one.place[later] - place)) < _FREE_BALL_DISTANCE for one in others):
            break
        if later > row + 1 and (speeds[later] > speeds[later - 1] + 0.1 or speeds[later] < 0.05):
            break
        last = later
    if last < row + 3:
        return math.nan
    middle = 0.5 * (tracks.ball[last] + tracks.ball[last - 1])
    return float(np.hypot(*(middle - lay))) + float(rolling_distance(float(speeds[last]), *friction))


def _alone(tracks: Tracks, row: int, kicker: str) -> bool:
    """Whether no robot but the kicker is near the ball."""
    others = (one for one in tracks.robots.values() if one.name != kicker and one.playing[row])
    return all(np.hypot(*(one.place[row] - tracks.ball[row - 1])) >= _CROWDED_DISTANCE for one in others)


def kick_estimates(
    touches: Sequence[tuple[Tracks, Touch]], base: BehaviourSettings, rng: np.random.Generator
) -> list[Estimate]:
    """Estimates of straight and of side kicks."""
    kicks = [(tracks, one) for tracks, one in touches if one.kicked]
    found = []
    for word, side in (("straight", False), ("side", True)):
        some = [one for _, one in kicks if one.side == side and one.strength > 0.3]
        ways = np.array([one.distance / one.strength for one in some if math.isfinite(one.distance)])
        what = f"{word} kicks with a free way"
        found.append(statistic_estimate(f"kick.{word}_distance", ways, np.mean, rng, least=_MIN_KICKS, what=what))
        found.append(statistic_estimate(f"kick.{word}_distance_spread", ways, _share, rng, least=_MIN_KICKS, what=what))
        found += _directions(word, some, base, rng)
    times = np.array([(one.wind_up, one.follow_through) for _, one in kicks]).reshape(-1, 2)
    for column, (name, coarse) in enumerate(
        (("kick.wind_up", 1.5 * STEP), ("kick.follow_through", BEHAVIOURAL_CYCLE / 2))
    ):
        known = times[np.isfinite(times[:, column]) & (times[:, column] > 0.0), column]
        found.append(statistic_estimate(name, known, np.median, rng, least=_MIN_KICKS, what="kicks", coarse=coarse))
    alone = [(tracks, one) for tracks, one in kicks if one.alone]
    falls = sum(_falls(tracks, one) for tracks, one in alone)
    found.append(
        share_estimate(
            "kick.fall", hits=falls, trials=len(alone), least=_MIN_KICKS, what="kicks with no other robot near"
        )
    )
    return found


def _directions(word: str, some: Sequence[Touch], base: BehaviourSettings, rng: np.random.Generator) -> list[Estimate]:
    """The spread of directions, and for straight kicks where the tip of the foot is that they come from."""
    name = f"kick.{word}_direction_spread"
    rows = np.array([(*one.ball, one.direction) for one in some if math.isfinite(one.distance)]).reshape(-1, 3)
    kick = base.kick
    stretch = kick.side_stretch if word == "side" else 0.0
    tip = np.array([kick.tip_ahead + stretch, kick.tip_aside])
    if word == "side":
        return [statistic_estimate(name, rows, lambda r: _off(r, tip), rng, least=_MIN_KICKS, what="side kicks")]
    names = ("kick.tip_ahead", "kick.tip_aside")
    if len(rows) < _MIN_KICKS:
        less = [unknown(one, f"{len(rows)} straight kicks; needed are {_MIN_KICKS}", len(rows)) for one in names]
        return [
            *less,
            statistic_estimate(name, rows, lambda r: _off(r, tip), rng, least=_MIN_KICKS, what="straight kicks"),
        ]
    most = float(np.quantile(rows[:, 0], 0.02)) - 0.005
    tips = several(names, rows, lambda r: _tip(r, tip, most), rng)
    values = np.array([one.value for one in tips])
    spread = statistic_estimate(name, rows, lambda r: _off(r, values), rng, least=_MIN_KICKS, what="straight kicks")
    return [*tips, spread]


def _tip(rows: Floats, start: Floats, most: float) -> Floats:
    """Where the tip of the foot is, so that balls at (n, 2) are kicked in directions (n,) as they were."""
    high = np.array([max(most, 0.02), 0.15])
    return robust_fit(lambda tip: _misses(rows, tip) / _DIRECTION_SCALE, start, np.zeros(2), high, step=1e-4).x


def _misses(rows: Floats, tip: Floats) -> Floats:
    """(n,) by how much directions differ from those through the tip, rad."""
    expected = np.arctan2(rows[:, 1] - tip[1], rows[:, 0] - tip[0])
    return wrap_angle(rows[:, 2] - expected)


def _off(rows: Floats, tip: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(np.clip(_misses(rows, tip), -1.0, 1.0)))))


def _falls(tracks: Tracks, kick: Touch) -> bool:
    """Whether a robot fell at the end of its kick."""
    lies = tracks.robots[kick.robot].lies
    return bool(lies[kick.row : kick.row + _FALL_WITHIN_CYCLES].any() and not lies[kick.row - 1])


def push_estimate(touches: Sequence[tuple[Tracks, Touch]], rng: np.random.Generator) -> Estimate:
    """The restitution of a ball from feet that walk into it, without turns and kicks."""
    shares = np.array([one.speed / one.towards - 1.0 for _, one in touches if not one.kicked and one.towards > 0.15])
    found = statistic_estimate(
        "bounce.robot", shares, np.median, rng, least=_MIN_KICKS, what="balls that were walked into"
    )
    if found.value is None or 0.0 <= found.value <= 1.0:
        return found
    value = min(max(found.value, 0.0), 1.0)
    reason = f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f}) was seen; this world can give back 0 to 1"
    return Estimate(name=found.name, value=value, low=value, high=value, samples=found.samples, reason=reason)


def _share(values: Floats) -> float:
    return float(np.std(values, ddof=1) / np.mean(values))
