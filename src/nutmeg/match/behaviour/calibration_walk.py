"""How robots walk, from what they wanted and how they went: top speeds, accelerations, noise, and the head's speed.

    runs, model = fit_walks(all_tracks, base)   # top speeds and accelerations with intervals
    model.paces(track)                          # (T, 3) what the legs were set to, by the model
    walk_noise(runs, model, rng)                # noise on each axis

The model is that of the behavioural world (`motion_kernels`): wishes are scaled down to an ellipsoid, and the pace goes
towards that with limited accelerations. The four speeds and two accelerations that come nearest to how robots went are
those of a robust least-squares fit over all cycles in which a robot walked with nobody near; intervals are those of the
sandwich estimator over blocks of two seconds. A body with joints answers late; the delay with which the fit is best is
taken out. Noise is drawn anew in every cycle in that world, but a body with joints
sways to and fro; what matters for where it ends up is how far it strays in a second, and from that the noise is told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Bools, Floats, Ints
from nutmeg.compiled import kernel
from nutmeg.match.behaviour.estimates import Estimate, several, statistic_estimate, unknown
from nutmeg.match.behaviour.robust_fit import robust_fit
from nutmeg.match.behaviour.state import Legs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.match.behaviour.recorded_tracks import RobotTrack, Tracks
    from nutmeg.match.behaviour.settings import BehaviourSettings


FITTED = ("walk.ahead", "walk.back", "walk.side", "walk.turn", "walk.acceleration", "walk.turn_acceleration")
AXES = ("ahead", "side", "turn")
NEAR = 0.6
"""Who has another robot so near may be held up by it, and does not count [m]."""
AFTER_FALL, AFTER_KICK = 15, 25
"""Cycles after a fall or a wish to kick that do not count."""
LATEST = 3
"""The longest delay between a wish and the walk that is tried [cycles]."""
BURN_IN = 10
"""Cycles after which a pace does not depend on where it began."""
WINDOW = 10
"""Cycles over which noise is looked at: a second."""
BLOCK = 20
"""Cycles that are taken to depend on each other."""
SCALE = np.array([0.1, 0.1, 0.2])
"""Errors beyond these count less than with their squares [m/s, m/s, rad/s]."""
LEAST, SURE = 30, 0.35
"""A speed is known if so many cycles were at that limit, and its standard error is below this share of it."""
SCORINGS = 30
"""Steps towards the most likely noise."""
COARSE = 0.005
"""What the rounding of angles does to the speed of a head [rad/s]."""
STRAYS = 5.0
"""Windows that stray by so many robust standard deviations are not noise: somebody was in the way."""


@kernel
def model_paces(wish: Floats, speed: Floats, begins: Bools, limits: Floats, paces: Floats, pressed: Floats) -> None:
    """Fills the paces (n, 3) that wishes (n, 3) lead to, and what each cycle says about which limit, (n, 6) of 0 or 1.

    A run of cycles begins with the speed that was seen. `limits` (6,) are those of `FITTED`.
    """
    x, y, turn = 0.0, 0.0, 0.0
    for i in range(len(wish)):
        if begins[i]:
            x, y, turn = speed[i, 0], speed[i, 1], speed[i, 2]
        a, b, c = wish[i, 0], wish[i, 1], wish[i, 2]
        way = 0 if a >= 0.0 else 1
        parts = (abs(a) / limits[way], abs(b) / limits[2], abs(c) / limits[3])
        effort = math.sqrt(parts[0] ** 2 + parts[1] ** 2 + parts[2] ** 2)
        pressed[i] = 0.0
        if effort > 1.0:
            a, b, c = a / effort, b / effort, c / effort
            for k, place in ((0, way), (1, 2), (2, 3)):
                pressed[i, place] = 1.0 if parts[k] > 0.6 * effort else 0.0
        dx, dy = a - x, b - y
        change, most = math.sqrt(dx * dx + dy * dy), limits[4] * 0.1
        share = most / change if change > most else 1.0
        pressed[i, 4] = 1.0 if change > most else 0.0
        x, y = x + share * dx, y + share * dy
        most = limits[5] * 0.1
        pressed[i, 5] = 1.0 if abs(c - turn) > most else 0.0
        turn += min(max(c - turn, -most), most)
        paces[i, 0], paces[i, 1], paces[i, 2] = x, y, turn


@dataclass(frozen=True)
class WalkModel:
    """Top speeds and accelerations, and how sure they are."""

    limits: Floats
    """(6,) the numbers of `FITTED`."""
    estimates: tuple[Estimate, ...]
    cost: float
    """What the fit leaves, for each cycle and axis."""

    def paces(self, track: RobotTrack) -> Floats:
        """(T, 3) what the legs of a robot were set to; nothing while it lies or is not told to walk."""
        free = track.present & ~track.lies & (track.legs >= 0)
        found, pressed = np.zeros((len(free), 3)), np.zeros((len(free), 6))
        begins = free & ~np.concatenate([[False], free[:-1]])
        model_paces(track.wish, np.zeros_like(track.wish), begins, self.limits, found, pressed)
        found[~free] = 0.0
        return found


@dataclass(frozen=True)
class Runs:
    """Cycles that tell how robots walk: all runs of them, one after the other."""

    wish: Floats
    speed: Floats
    begins: Bools
    settled: Bools
    """(n,) whether the pace does not depend any more on how the run began."""
    block: Ints
    """(n,) which cycles belong together."""


def free_cycles(tracks: Tracks, name: str) -> Bools:
    """(T,) when a robot is on its feet, told what to do, and nobody is near."""
    track = tracks.robots[name]
    free = track.present & (track.legs >= 0) & (track.legs <= int(Legs.WALK))
    free &= ~_after(track.lies, AFTER_FALL) & ~_after(track.legs >= int(Legs.KICK), AFTER_KICK)
    for other in tracks.robots.values():
        if other.name != name:
            free &= np.hypot(*(other.place - track.place).T) > NEAR
    return np.asarray(free)


def _after(flags: Bools, cycles: int) -> Bools:
    """(T,) whether there is a flag now or was one within so many cycles."""
    counts = np.cumsum(np.concatenate([[0], flags.astype(np.int64)]))
    now = np.arange(1, len(counts))
    return np.asarray(counts[now] - counts[np.maximum(now - cycles - 1, 0)] > 0)


def walk_runs(all_tracks: Sequence[Tracks], delay: int = 0) -> Runs:
    """All that recordings tell of walks, if legs do what was wanted so many cycles ago."""
    parts: list[tuple[Floats, Floats, Bools, Bools]] = []
    for tracks in all_tracks:
        for name, track in tracks.robots.items():
            free = free_cycles(tracks, name)
            begins = free & ~np.concatenate([[False], free[:-1]])
            since = np.arange(len(free)) - np.maximum.accumulate(np.where(begins, np.arange(len(free)), 0))
            wish = np.concatenate([track.wish[:1].repeat(delay, axis=0), track.wish])[: len(free)]
            parts.append((wish[free], track.speed[free], begins[free], since[free] >= BURN_IN))
    if not parts:
        return Runs(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, bool), np.zeros(0, bool), np.zeros(0, np.int64))
    wish, speed, begins, settled = (np.concatenate(column) for column in zip(*parts, strict=True))
    started = np.cumsum(begins)
    order = np.arange(len(begins))
    since = order - np.maximum.accumulate(np.where(begins, order, 0))
    _, block = np.unique(np.column_stack([started, since // BLOCK]), axis=0, return_inverse=True)
    return Runs(wish, speed, begins, settled, block.ravel())


def fit_walks(all_tracks: Sequence[Tracks], base: BehaviourSettings) -> tuple[Runs, WalkModel]:
    """The fit with the delay between wish and walk with which it is best."""
    found = [(runs, fit_walk(runs, base)) for runs in (walk_runs(all_tracks, delay) for delay in range(LATEST + 1))]
    return min(found, key=lambda pair: pair[1].cost)


def fit_walk(runs: Runs, base: BehaviourSettings) -> WalkModel:
    """Top speeds and accelerations; where nothing tells them, those of the base."""
    start = np.array([base.number(name) for name in FITTED])
    start = np.where(np.isfinite(start), start, 10.0)
    if runs.settled.sum() < 10 * LEAST:
        reason = f"{int(runs.settled.sum())} cycles of free walking; needed are {10 * LEAST}"
        return WalkModel(start, tuple(unknown(name, reason) for name in FITTED), math.inf)
    paces, pressed = np.zeros_like(runs.wish), np.zeros((len(runs.wish), 6))

    def residuals(logs: Floats) -> Floats:
        model_paces(runs.wish, runs.speed, runs.begins, np.exp(logs), paces, pressed)
        return np.asarray(((runs.speed - paces) / SCALE)[runs.settled].ravel())

    fit = robust_fit(residuals, np.log(start), np.log(start) - 2.5, np.log(start) + 2.5)
    errors = _sandwich(fit.jacobian, fit.residuals, runs.block[runs.settled])
    residuals(fit.x)
    seen = pressed[runs.settled].sum(axis=0)
    limits, estimates = np.exp(fit.x), []
    for k, name in enumerate(FITTED):
        if seen[k] < LEAST or not errors[k] < SURE:
            limits[k] = start[k]
            estimates.append(unknown(name, f"{int(seen[k])} cycles at that limit, too few to tell", int(seen[k])))
            continue
        low, high = limits[k] * math.exp(-1.96 * errors[k]), limits[k] * math.exp(1.96 * errors[k])
        estimates.append(Estimate(name=name, value=float(limits[k]), low=low, high=high, samples=int(seen[k])))
    return WalkModel(limits, tuple(estimates), fit.cost)


def _sandwich(jacobian: Floats, residuals: Floats, block: Ints) -> Floats:
    """Standard errors (k,) of a least-squares fit whose residuals (n * 3,) depend on each other within blocks (n,)."""
    rows = np.repeat(block, 3)
    scores = np.zeros((int(block.max()) + 1, jacobian.shape[1]))
    np.add.at(scores, rows, jacobian * residuals[:, None])
    bread = np.linalg.pinv(jacobian.T @ jacobian)
    variances = np.diag(bread @ (scores.T @ scores) @ bread)
    told = np.abs(jacobian).sum(axis=0) > 0
    return np.where(told, np.sqrt(np.maximum(variances, 0.0)), np.inf)


def walk_noise(runs: Runs, model: WalkModel, rng: np.random.Generator) -> list[Estimate]:
    """Noise at any speed and as a share of it, on each axis."""
    names = [(f"walk.{axis}_noise", f"walk.{axis}_noise_share") for axis in AXES]
    strays, sizes = _windows(runs, model)
    if len(strays) < LEAST:
        reason = f"{len(strays)} seconds of free walking; needed are {LEAST}"
        return [unknown(name, reason, len(strays)) for pair in names for name in pair]
    found: list[Estimate] = []
    for axis, pair in enumerate(names):
        rows = np.column_stack([strays[:, axis], sizes[:, axis]])
        centred = np.abs(rows[:, 0])
        rows = rows[centred < STRAYS * 1.4826 * np.median(centred) + 1e-12]
        found += several(pair, rows, _noise_of, rng)
    return found


def _windows(runs: Runs, model: WalkModel) -> tuple[Floats, Floats]:
    """By how much robots strayed from the model in whole seconds, per square root of a cycle, and their paces."""
    paces, pressed = np.zeros_like(runs.wish), np.zeros((len(runs.wish), 6))
    model_paces(runs.wish, runs.speed, runs.begins, model.limits, paces, pressed)
    walks = runs.settled & paces.any(axis=1)
    strays, sizes = [], []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (walks & ~runs.begins).astype(np.int8), [0]])))
    for first, last in edges.reshape(-1, 2).tolist():
        for begin in range(first, last - WINDOW + 1, WINDOW):
            rows = slice(begin, begin + WINDOW)
            strays.append((runs.speed[rows] - paces[rows]).sum(axis=0) / math.sqrt(WINDOW))
            sizes.append(np.abs(paces[rows]).mean(axis=0))
    return np.array(strays).reshape(-1, 3), np.array(sizes).reshape(-1, 3)


def _noise_of(rows: Floats) -> tuple[float, float]:
    """The most likely noise and share of strays and paces (n, 2): normal, with deviation noise + share * pace."""
    stray, size = rows.T
    spread = float(np.sqrt(np.mean(stray**2))) + 1e-9
    best = np.array([0.7 * spread, 0.3 * spread / (float(size.mean()) + 1e-9)])
    for _ in range(SCORINGS):
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
    if len(rates) < LEAST:
        return unknown("head.speed", f"{len(rates)} quick turns of a head; needed are {LEAST}", len(rates))
    fastest = float(np.quantile(rates, 0.99))
    at_limit = rates[np.abs(rates - fastest) < 0.05 * fastest]
    if len(at_limit) < LEAST:
        return unknown("head.speed", "no limit was seen", len(at_limit))
    return statistic_estimate("head.speed", at_limit, _median, rng, least=LEAST, what="turns", coarse=COARSE)


def _median(values: Floats) -> float:
    return float(np.median(values))
