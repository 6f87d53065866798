"""Estimates of how robots walk, fall and get up, from their commands and their motion.

    runs, model = fit_walks(all_tracks, base)   # top speeds and accelerations with intervals
    model.paces(track)                          # (T, 3) what the legs were set to, by the model
    walk_noise(runs, model, rng)                # noise on each axis

The model is that of the behavioural world (`worlds.behavioural.motion`): commands are scaled down to an ellipsoid, and
the pace goes towards that with limited accelerations. The four speeds and two accelerations are those of a robust
least-squares fit over all cycles in which a robot walked with no other robot near; intervals are those of the sandwich
estimator over blocks of two seconds. A body with joints answers late; the delay with which the fit is best is taken
out. Noise is drawn anew in every cycle in that world, but a body with joints sways to and fro; what matters for its
place is how far it strays in a second, and the noise is estimated from that.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.base.arrays import Bools, Floats, Ints
from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.kernels import kernel
from nutmeg.match.calibration.estimates import (
    Estimate,
    rate_estimate,
    robust_fit,
    several,
    share_estimate,
    statistic_estimate,
    unknown,
)
from nutmeg.match.worlds.behavioural.collisions import Rectangle, overlap
from nutmeg.match.worlds.behavioural.state import Legs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nutmeg.match.calibration.tracks import RobotTrack, Tracks
    from nutmeg.match.worlds.behavioural.settings import BehaviourSettings


_FITTED_NUMBERS = ("walk.ahead", "walk.back", "walk.side", "walk.turn", "walk.acceleration", "walk.turn_acceleration")
"""Names of the fitted numbers."""
_NOISE_AXES = ("ahead", "side", "turn")  # axes of a walk, in names of noise
_FREE_WALK_DISTANCE = 0.6  # a robot with another one nearer than this may be hindered, and does not count [m]
_CYCLES_AFTER_FALL = 15  # cycles after a fall that do not count
_CYCLES_AFTER_KICK = 25  # cycles after a command to kick that do not count
_MAX_DELAY = 3  # the longest delay between command and walk that is tried [cycles]
_BURN_IN_CYCLES = 10  # cycles after which a pace does not depend on where it began
_NOISE_WINDOW = 10  # cycles over which noise is measured: a second
_BLOCK_LENGTH = 20  # cycles that are taken to depend on each other
_ERROR_SCALE = np.array([0.1, 0.1, 0.2])  # errors beyond these count less than with their squares [m/s, m/s, rad/s]
_MIN_WALK_SAMPLES = 30  # cycles at a limit that its estimate needs
_MAX_RELATIVE_ERROR = 0.35  # an estimate with a larger standard error, as a share of it, does not count
_SCORING_STEPS = 30  # steps of Fisher's scoring towards the most likely noise
_HEAD_SPEED_ROUNDING = 0.005  # error of a head's speed from the rounding of recorded angles [rad/s]
# windows that deviate by more robust standard deviations than this are not noise: a robot was in the way
_MAX_STRAY = 5.0


@kernel
def _model_paces(wish: Floats, speed: Floats, begins: Bools, limits: Floats, paces: Floats, pressed: Floats) -> None:
    """Computes paces (n, 3) from requested velocities (n, 3), and whether each cycle depends on each limit, (n, 6).

    A run of cycles begins with the measured speed. `limits` (6,) are those of `_FITTED_NUMBERS`.
    """
    x, y, turn = 0.0, 0.0, 0.0
    for i in range(len(wish)):
        if begins[i]:
            x, y, turn = speed[i, 0], speed[i, 1], speed[i, 2]
        # The same arithmetic as `worlds.behavioural.motion`: scale down to the ellipsoid of top speeds, then
        # accelerate.
        a, b, c = wish[i, 0], wish[i, 1], wish[i, 2]
        way = 0 if a >= 0.0 else 1
        parts = (abs(a) / limits[way], abs(b) / limits[2], abs(c) / limits[3])
        effort = math.sqrt(parts[0] ** 2 + parts[1] ** 2 + parts[2] ** 2)
        pressed[i] = 0.0
        if effort > 1.0:
            a, b, c = a / effort, b / effort, c / effort
            # A cycle says something about a top speed only if that axis has most of the effort.
            for k, place in ((0, way), (1, 2), (2, 3)):
                pressed[i, place] = 1.0 if parts[k] > 0.6 * effort else 0.0
        dx, dy = a - x, b - y
        change, most = math.sqrt(dx * dx + dy * dy), limits[4] * BEHAVIOURAL_CYCLE
        share = most / change if change > most else 1.0
        pressed[i, 4] = 1.0 if change > most else 0.0
        x, y = x + share * dx, y + share * dy
        most = limits[5] * BEHAVIOURAL_CYCLE
        pressed[i, 5] = 1.0 if abs(c - turn) > most else 0.0
        turn += min(max(c - turn, -most), most)
        paces[i, 0], paces[i, 1], paces[i, 2] = x, y, turn


@dataclass(frozen=True)
class _WalkModel:
    """Top speeds and accelerations, and how sure they are."""

    limits: Floats
    """(6,) the numbers of `_FITTED_NUMBERS`."""
    estimates: tuple[Estimate, ...]
    cost: float
    """Remaining cost of the fit, per cycle and axis."""

    def paces(self, track: RobotTrack) -> Floats:
        """(T, 3) velocities to which the legs of a robot were set; zero while it lies or does not walk."""
        free = track.present & ~track.lies & (track.legs >= 0)
        found, pressed = np.zeros((len(free), 3)), np.zeros((len(free), 6))
        begins = free & ~np.concatenate([[False], free[:-1]])
        _model_paces(track.wish, np.zeros_like(track.wish), begins, self.limits, found, pressed)
        found[~free] = 0.0
        return found


@dataclass(frozen=True)
class Runs:
    """Cycles that show how robots walk: all runs of them, one after the other."""

    wish: Floats
    speed: Floats
    begins: Bools
    settled: Bools
    """(n,) whether the pace does not depend any more on how the run began."""
    block: Ints
    """(n,) which cycles belong together."""


def _free_cycles(tracks: Tracks, name: str) -> Bools:
    """(T,) cycles in which a robot is on its feet, has a request, and no other robot is near."""
    track = tracks.robots[name]
    free = track.present & (track.legs >= 0) & (track.legs <= int(Legs.WALK))
    free &= ~_after(track.lies, _CYCLES_AFTER_FALL) & ~_after(track.legs >= int(Legs.KICK), _CYCLES_AFTER_KICK)
    for other in tracks.robots.values():
        if other.name != name:
            free &= np.hypot(*(other.place - track.place).T) > _FREE_WALK_DISTANCE
    return np.asarray(free)


def _after(flags: Bools, cycles: int) -> Bools:
    """(T,) whether a flag is set now or was within a number of cycles."""
    counts = np.cumsum(np.concatenate([[0], flags.astype(np.int64)]))
    now = np.arange(1, len(counts))
    return np.asarray(counts[now] - counts[np.maximum(now - cycles - 1, 0)] > 0)


def walk_runs(all_tracks: Sequence[Tracks], delay: int = 0) -> Runs:
    """All free walking of recordings, with a delay of the legs behind the requests, in cycles."""
    parts: list[tuple[Floats, Floats, Bools, Bools]] = []
    for tracks in all_tracks:
        for name, track in tracks.robots.items():
            free = _free_cycles(tracks, name)
            begins = free & ~np.concatenate([[False], free[:-1]])
            since = np.arange(len(free)) - np.maximum.accumulate(np.where(begins, np.arange(len(free)), 0))
            wish = np.concatenate([track.wish[:1].repeat(delay, axis=0), track.wish])[: len(free)]
            parts.append((wish[free], track.speed[free], begins[free], since[free] >= _BURN_IN_CYCLES))
    if not parts:
        return Runs(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, bool), np.zeros(0, bool), np.zeros(0, np.int64))
    wish, speed, begins, settled = (np.concatenate(column) for column in zip(*parts, strict=True))
    started = np.cumsum(begins)
    order = np.arange(len(begins))
    since = order - np.maximum.accumulate(np.where(begins, order, 0))
    _, block = np.unique(np.column_stack([started, since // _BLOCK_LENGTH]), axis=0, return_inverse=True)
    return Runs(wish, speed, begins, settled, block.ravel())


def fit_walks(all_tracks: Sequence[Tracks], base: BehaviourSettings) -> tuple[Runs, _WalkModel]:
    """The fit with the best delay between request and walk."""
    found = [
        (runs, _fit_walk(runs, base)) for runs in (walk_runs(all_tracks, delay) for delay in range(_MAX_DELAY + 1))
    ]
    return min(found, key=lambda pair: pair[1].cost)


def _fit_walk(runs: Runs, base: BehaviourSettings) -> _WalkModel:
    """Top speeds and accelerations; those of the base where nothing determines them."""
    start = np.array([base.number(name) for name in _FITTED_NUMBERS])
    start = np.where(np.isfinite(start), start, 10.0)
    if runs.settled.sum() < 10 * _MIN_WALK_SAMPLES:
        reason = f"{int(runs.settled.sum())} cycles of free walking; needed are {10 * _MIN_WALK_SAMPLES}"
        return _WalkModel(start, tuple(unknown(name, reason) for name in _FITTED_NUMBERS), math.inf)
    paces, pressed = np.zeros_like(runs.wish), np.zeros((len(runs.wish), 6))

    def residuals(logs: Floats) -> Floats:
        _model_paces(runs.wish, runs.speed, runs.begins, np.exp(logs), paces, pressed)
        return np.asarray(((runs.speed - paces) / _ERROR_SCALE)[runs.settled].ravel())

    fit = robust_fit(residuals, np.log(start), np.log(start) - 2.5, np.log(start) + 2.5)
    errors = _sandwich(fit.jacobian, fit.residuals, runs.block[runs.settled])
    residuals(fit.x)
    seen = pressed[runs.settled].sum(axis=0)
    limits, estimates = np.exp(fit.x), []
    for k, name in enumerate(_FITTED_NUMBERS):
        if seen[k] < _MIN_WALK_SAMPLES or not errors[k] < _MAX_RELATIVE_ERROR:
            limits[k] = start[k]
            estimates.append(unknown(name, f"{int(seen[k])} cycles at that limit, too few to tell", int(seen[k])))
            continue
        low, high = limits[k] * math.exp(-1.96 * errors[k]), limits[k] * math.exp(1.96 * errors[k])
        estimates.append(Estimate(name=name, value=float(limits[k]), low=low, high=high, samples=int(seen[k])))
    return _WalkModel(limits, tuple(estimates), fit.cost)


def _sandwich(jacobian: Floats, residuals: Floats, block: Ints) -> Floats:
    """Standard errors (k,) of a least-squares fit whose residuals (n * 3,) depend on each other within blocks (n,)."""
    rows = np.repeat(block, 3)
    scores = np.zeros((int(block.max()) + 1, jacobian.shape[1]))
    np.add.at(scores, rows, jacobian * residuals[:, None])
    bread = np.linalg.pinv(jacobian.T @ jacobian)
    variances = np.diag(bread @ (scores.T @ scores) @ bread)
    is_determined = np.abs(jacobian).sum(axis=0) > 0
    return np.where(is_determined, np.sqrt(np.maximum(variances, 0.0)), np.inf)


def walk_noise(runs: Runs, model: _WalkModel, rng: np.random.Generator) -> list[Estimate]:
    """Noise at any speed and as a share of it, on each axis."""
    names = [(f"walk.{axis}_noise", f"walk.{axis}_noise_share") for axis in _NOISE_AXES]
    strays, sizes = _windows(runs, model)
    if len(strays) < _MIN_WALK_SAMPLES:
        reason = f"{len(strays)} seconds of free walking; needed are {_MIN_WALK_SAMPLES}"
        return [unknown(name, reason, len(strays)) for pair in names for name in pair]
    found: list[Estimate] = []
    for axis, pair in enumerate(names):
        rows = np.column_stack([strays[:, axis], sizes[:, axis]])
        centred = np.abs(rows[:, 0])
        rows = rows[centred < _MAX_STRAY * 1.4826 * np.median(centred) + 1e-12]
        found += several(pair, rows, _noise_of, rng)
    return found


def _windows(runs: Runs, model: _WalkModel) -> tuple[Floats, Floats]:
    """Deviations of robots from the model in whole seconds, per square root of a cycle, and their paces."""
    paces, pressed = np.zeros_like(runs.wish), np.zeros((len(runs.wish), 6))
    _model_paces(runs.wish, runs.speed, runs.begins, model.limits, paces, pressed)
    walks = runs.settled & paces.any(axis=1)
    strays, sizes = [], []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (walks & ~runs.begins).astype(np.int8), [0]])))
    for first, last in edges.reshape(-1, 2).tolist():
        for begin in range(first, last - _NOISE_WINDOW + 1, _NOISE_WINDOW):
            rows = slice(begin, begin + _NOISE_WINDOW)
            strays.append((runs.speed[rows] - paces[rows]).sum(axis=0) / math.sqrt(_NOISE_WINDOW))
            sizes.append(np.abs(paces[rows]).mean(axis=0))
    return np.array(strays).reshape(-1, 3), np.array(sizes).reshape(-1, 3)


def _noise_of(rows: Floats) -> tuple[float, float]:
    """The most likely noise and share of strays and paces (n, 2): normal, with deviation noise + share * pace."""
    stray, size = rows.T
    spread = float(np.sqrt(np.mean(stray**2))) + 1e-9
    best = np.array([0.7 * spread, 0.3 * spread / (float(size.mean()) + 1e-9)])
    for _ in range(_SCORING_STEPS):
        best = _scored(best, stray, size, 1e-3 * spread)
    return float(best[0]), float(best[1])


def _scored(now: Floats, stray: Floats, size: Floats, least: float) -> Floats:
    """A step of Fisher's scoring towards the most likely noise and share; neither gets below 0."""
    sigma = np.maximum(now[0] + now[1] * size, least)
    pull, weight = ((stray / sigma) ** 2 - 1.0) / sigma, 2.0 / sigma**2
    score = np.array([pull.sum(), (pull * size).sum()])
    a, b, c = weight.sum(), (weight * size).sum(), (weight * size**2).sum()
    information = np.array([[a, b], [b, c]]) + 1e-12 * np.diag([a, c + 1e-12])
    new = now + np.linalg.solve(information, score)
    if new[0] < 0.0:
        return np.array([0.0, max(now[1] + (score[1] - b * -now[0]) / max(c, 1e-12), 0.0)])
    if new[1] < 0.0:
        return np.array([max(now[0] + (score[0] - b * -now[1]) / a, 0.0), 0.0])
    return np.asarray(new)


def head_speed(all_tracks: Sequence[Tracks], rng: np.random.Generator) -> Estimate:
    """How fast the head turns at most, if it was seen at its limit."""
    rates = np.concatenate([np.zeros(0), *(one.yaw_rates for t in all_tracks for one in t.robots.values())])
    rates = rates[rates > 0.5]
    if len(rates) < _MIN_WALK_SAMPLES:
        return unknown("head.speed", f"{len(rates)} quick turns of a head; needed are {_MIN_WALK_SAMPLES}", len(rates))
    fastest = float(np.quantile(rates, 0.99))
    at_limit = rates[np.abs(rates - fastest) < 0.05 * fastest]
    if len(at_limit) < _MIN_WALK_SAMPLES:
        return unknown("head.speed", "no limit was seen", len(at_limit))
    return statistic_estimate(
        "head.speed", at_limit, np.median, rng, least=_MIN_WALK_SAMPLES, what="turns", coarse=_HEAD_SPEED_ROUNDING
    )


# ----------------------------------------------------------------------------------------------------
# When robots fall, and how they get up again.
#
# Hazards are events divided by exposure, as in the behavioural world: of walking by seconds and by effort, of contact
# by the metres that two robots would have moved into each other had they gone as their legs were set.
# Contact is not recorded: robots whose rectangles are within a few centimetres of each other
# are taken to touch.


_FALL_SIDES = ("front", "back", "side")
_MIN_FALLS = 6  # falls to a side that an estimate of getting up needs
_SECOND_TRY_SHARE = 1.5  # a robot that lies longer than this share of the median has tried more than once to get up
_MAX_LYING_TIME = 20.0  # A robot that lies longer was left lying [s]
_MIN_UPRIGHT_CYCLES = 10  # a robot that falls within this number of cycles after getting up had not got up
_FALL_AFTER_CONTACT = 6  # cycles within which a fall is attributed to a contact
_FALL_AFTER_DRAWN_CONTACT = 1  # the same for the drawn bodies of the behavioural world, which fall at once
_FALL_AFTER_KICK = 25  # cycles within which a fall is attributed to a kick
_FALL_AFTER_DIVE = 20  # cycles within which a fall is a dive
_CONTACT_MARGIN = 0.02  # rectangles that are grown by this on each side touch when robots do [m]
_DRAWN_CONTACT_MARGIN = 0.002  # the same for drawn bodies, which touch exactly [m]
_MAX_CONTACT_DISTANCE = 1.2  # farther robots do not touch [m]


@dataclass(frozen=True, kw_only=True)
class _Fall:
    """A robot that fell and got up again."""

    robot: str
    row: int
    """The first cycle in which it lay."""
    side: str
    """Where it fell to: front, back or side."""
    time: float
    """Until it was up again, s; nan if it was not, or was carried."""
    turned: float
    """How its heading had changed then, rad."""
    again: bool
    """Whether it had been up for a moment only: it had not got up."""


def find_falls(tracks: Tracks) -> list[_Fall]:
    """All falls but dives."""
    found = []
    for name, track in tracks.robots.items():
        changes = np.diff(track.lies.astype(np.int8))
        for row in (np.flatnonzero(changes == 1) + 1).tolist():
            dives = np.isin(
                track.legs[max(row - _FALL_AFTER_DIVE, 0) : row + 1], (int(Legs.DIVE_LEFT), int(Legs.DIVE_RIGHT))
            )
            if track.playing[row] and not dives.any():
                found.append(_fall(tracks, name, row))
    return found


def _fall(tracks: Tracks, name: str, row: int) -> _Fall:
    track = tracks.robots[name]
    up = np.flatnonzero(~track.lies[row:])
    end = row + int(up[0]) if len(up) else -1
    was_up = np.flatnonzero(track.lies[max(row - _MIN_UPRIGHT_CYCLES, 0) : row])
    # A robot that falls while it turns still turns in the cycle of the fall, which is no part of getting up.
    before = track.heading[row - 1] + BEHAVIOURAL_CYCLE * track.speed[row - 1, 2]
    lean = wrap_angle_exactly(float(track.lean[min(row + 2, max(end - 1, row))] - before))
    side = "front" if math.cos(lean) > 0.5 else "back" if math.cos(lean) < -0.5 else "side"
    time, turned = math.nan, math.nan
    if end > 0 and (track.playing & track.present)[row : end + 1].all():
        time = float(tracks.times[end] - tracks.times[row]) - 0.5 * BEHAVIOURAL_CYCLE
        turned = wrap_angle_exactly(float(track.heading[end] - before))
    time = time if time < _MAX_LYING_TIME else math.nan
    return _Fall(robot=name, row=row, side=side, time=time, turned=turned, again=len(was_up) > 0)


def get_up_estimates(falls: Sequence[_Fall], rng: np.random.Generator) -> list[Estimate]:
    """How long getting up takes, by the side that a robot lies on, and how it ends."""
    found, shares, turns, tries, failures = [], [np.zeros(0)], [np.zeros(0)], 0, 0
    for side in _FALL_SIDES:
        those = [fall for fall in falls if fall.side == side and math.isfinite(fall.time)]
        times, headings = np.array([fall.time for fall in those]), np.array([fall.turned for fall in those])
        usual = float(np.median(times)) if len(times) else math.nan
        once = times[times < _SECOND_TRY_SHARE * usual] if len(times) else times
        what = f"falls to the {side}"
        found.append(statistic_estimate(f"get_up.{side}", once, np.mean, rng, least=_MIN_FALLS, what=what))
        if len(times) >= _MIN_FALLS:
            shares.append(once / np.mean(once))
            turns.append(headings[(times < _SECOND_TRY_SHARE * usual) & ~np.array([fall.again for fall in those])])
            each = np.maximum(np.round(times / np.mean(once)), 1.0)
            tries, failures = tries + int(each.sum()), failures + int((each - 1).sum())
    failures += sum(fall.again for fall in falls)
    spread = np.concatenate(shares)
    found.append(statistic_estimate("get_up.spread", spread, _spread, rng, least=_MIN_FALLS, what="falls"))
    found.append(
        share_estimate("get_up.failure", hits=failures, trials=tries, least=_MIN_FALLS, what="tries to get up")
    )
    turned = np.concatenate(turns)
    found.append(statistic_estimate("get_up.turn", turned, _root_mean_square, rng, least=_MIN_FALLS, what="falls"))
    return found


def _spread(shares: Floats) -> float:
    """Standard deviation without what comes from looking every 0.1 s only, which is little."""
    return float(np.std(shares, ddof=1))


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


# ---- why they fall


@dataclass
class Exposure:
    """The exposure of robots to falls, and the falls."""

    walked: list[Floats]
    """Squares of efforts in all cycles of walking free of contact."""
    walking_falls: list[float]
    """The same squares just before a fall."""
    met: float = 0.0
    """Metres by which robots would have overlapped standing ones, counted for each robot."""
    met_falls: int = 0
    stepped: float = 0.0
    """Metres by which robots would have overlapped lying ones."""
    stepped_falls: int = 0


def fall_estimates(all_tracks: Sequence[Tracks], model: _WalkModel, base: BehaviourSettings) -> list[Estimate]:
    """Hazards of falling: by walking, by walking fast, by collisions, by walking into robots that lie."""
    seen = Exposure([np.zeros(0)], [])
    for tracks in all_tracks:
        if tracks.wishes_known:
            _expose(tracks, model, base, seen)
    efforts = np.concatenate(seen.walked)
    if not len(efforts):
        return [
            unknown(f"fall.{name}", "no robot is known to have walked")
            for name in ("walking", "fast", "collision", "lying")
        ]
    old = base.fall
    return [
        *_walking_hazards(efforts, np.array(seen.walking_falls), base),
        rate_estimate(
            "fall.collision", events=seen.met_falls, exposure=seen.met, samples=seen.met_falls, base=old.collision
        ),
        rate_estimate(
            "fall.lying", events=seen.stepped_falls, exposure=seen.stepped, samples=seen.stepped_falls, base=old.lying
        ),
    ]


def _walking_hazards(efforts: Floats, at_falls: Floats, base: BehaviourSettings) -> list[Estimate]:
    """Hazards of walking at any speed and of walking fast; their intervals consider that either may cause a fall."""
    steady, fast = _attributed(efforts, at_falls)
    time, work, count = BEHAVIOURAL_CYCLE * len(efforts), BEHAVIOURAL_CYCLE * float(efforts.sum()), len(at_falls)
    found = [
        rate_estimate("fall.walking", events=steady, exposure=time, samples=count, base=base.fall.walking),
        rate_estimate("fall.fast", events=fast, exposure=work, samples=count, base=base.fall.fast),
    ]
    hazards = np.maximum(steady / time + fast / work * at_falls, 1e-12)
    shapes = np.column_stack([np.ones(count), at_falls]) / hazards[:, None]
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(shapes.T @ shapes)), 0.0))
    return [
        one
        if one.value is None or one.low is None or one.high is None
        else dataclasses.replace(
            one, low=max(min(one.low, one.value - 1.96 * error), 0.0), high=max(one.high, one.value + 1.96 * error)
        )
        for one, error in zip(found, errors.tolist(), strict=True)
    ]


def _attributed(efforts: Floats, at_falls: Floats) -> tuple[float, float]:
    """Numbers of falls due to walking at any speed, and to walking fast: the most likely ones, by iteration."""
    steady, fast = 0.5 * len(at_falls), 0.5 * len(at_falls)
    time, effort = len(efforts), max(float(efforts.sum()), 1e-9)
    for _ in range(500):
        slow, quick = steady / time, fast / effort * at_falls
        share = np.divide(slow, slow + quick, out=np.zeros(len(at_falls)), where=slow + quick > 0)
        steady = float(np.sum(share))
        fast = len(at_falls) - steady
    return steady, fast


def _expose(tracks: Tracks, model: _WalkModel, base: BehaviourSettings, seen: Exposure) -> None:
    """Adds what happened in a match."""
    names = list(tracks.robots)
    paces = {name: model.paces(track) for name, track in tracks.robots.items()}
    touching = {name: np.zeros((2, len(tracks.times)), bool) for name in names}
    for first, second, row in _near(tracks):
        lengths = _closing(tracks, first, second, row, paces, base)
        if lengths is None:
            continue
        for name, other in ((first, second), (second, first)):
            lying = bool(tracks.robots[other].lies[row])
            if tracks.robots[name].lies[row]:
                continue
            touching[name][int(lying), row] = True
            if lying:
                seen.stepped += lengths
            else:
                seen.met += lengths
    found = [fall for fall in find_falls(tracks) if not fall.again]
    falls = {name: [fall.row for fall in found if fall.robot == name] for name in names}
    for name, track in tracks.robots.items():
        after = _FALL_AFTER_DRAWN_CONTACT if tracks.drawn else _FALL_AFTER_CONTACT
        _count(track, paces[name], touching[name], falls[name], seen, model, after)


def _count(
    track: RobotTrack,
    paces: Floats,
    touching: Bools,
    falls: Sequence[int],
    seen: Exposure,
    model: _WalkModel,
    after: int,
) -> None:
    ahead, back, side, turn = model.limits[:4]
    efforts = (paces[:, 0] / np.where(paces[:, 0] >= 0, ahead, back)) ** 2
    efforts += (paces[:, 1] / side) ** 2 + (paces[:, 2] / turn) ** 2
    kicks = track.legs == int(Legs.KICK)
    free = track.present & ~track.lies & paces.any(axis=1) & ~touching.any(axis=0)
    seen.walked.append(np.minimum(efforts[free], 1.0))
    for row in falls:
        recent = slice(max(row - after, 0), row + 1)
        if kicks[max(row - _FALL_AFTER_KICK, 0) : row + 1].any():
            continue
        if touching[1, recent].any():
            seen.stepped_falls += 1
        elif touching[0, recent].any():
            seen.met_falls += 1
        else:
            seen.walking_falls.append(float(min(efforts[max(row - 1, 0)], 1.0)))


def _near(tracks: Tracks) -> Iterator[tuple[str, str, int]]:
    """All pairs of robots and cycles in which they may touch, and one is on its feet."""
    names = list(tracks.robots)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            a, b = tracks.robots[first], tracks.robots[second]
            close = (
                (np.hypot(*(a.place - b.place).T) < _MAX_CONTACT_DISTANCE) & a.playing & b.playing & ~(a.lies & b.lies)
            )
            for row in np.flatnonzero(close).tolist():
                yield first, second, row


def _closing(
    tracks: Tracks, first: str, second: str, row: int, paces: dict[str, Floats], base: BehaviourSettings
) -> float | None:
    """How far two robots would have moved into each other in the next cycle, m; None if they do not touch."""
    a, b = tracks.robots[first], tracks.robots[second]
    grown = _DRAWN_CONTACT_MARGIN if tracks.drawn else _CONTACT_MARGIN
    depth, nx, ny = overlap(_rectangle(a, row, base, grown), _rectangle(b, row, base, grown))
    if depth <= 0.0 or row + 1 >= len(tracks.times):
        return None
    speeds = 0.0
    for name, sign in ((first, 1.0), (second, -1.0)):
        ahead, left, _ = paces[name][row + 1].tolist()
        heading = float(tracks.robots[name].heading[row])
        c, s = math.cos(heading), math.sin(heading)
        speeds += max(0.0, sign * ((ahead * c - left * s) * nx + (ahead * s + left * c) * ny))
    return BEHAVIOURAL_CYCLE * speeds


def _rectangle(track: RobotTrack, row: int, base: BehaviourSettings, grown: float) -> Rectangle:
    """The grown rectangle of a robot's torso, or of one that lies, as `collisions.bounds` gives it."""
    body = base.body
    x, y = track.place[row].tolist()
    lies = bool(track.lies[row])
    angle = float(track.lean[row] if lies else track.heading[row])
    length = body.lying_length / 2 if lies else body.torso_ahead
    width = body.lying_width / 2 if lies else body.torso_aside
    return Rectangle(x, y, math.cos(angle), math.sin(angle), length + grown, width + grown)
