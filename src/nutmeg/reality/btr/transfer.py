"""Step 2 of Back-to-Reality: which controllers are tried in reality, and which stored trials a simulation must explain.

    chosen = choose(request, rng)           # Chosen controllers, in the order of their trials

The fittest of the last generation come first, then those of earlier ones, as the paper fills up its m when too few
are transferable; a controller that was tried before is not tried again. Others may be random, or chosen for what they
tell about candidate simulations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.btr.settings import MemorySettings, TransferSettings
from nutmeg.reality.realities.reality import Observed
from nutmeg.reality.twin import Trial
from nutmeg.search.space import Space, reflected

if TYPE_CHECKING:
    from nutmeg.reality.distances.distance import Distance
    from nutmeg.reality.observation import Watch
    from nutmeg.reality.twin import Twin
    from nutmeg.search import SearchResult


How = Literal["fittest", "exploring", "random"]
AMPLITUDE_SUFFIX = ".a"
"""Ending of the names of amplitudes (`btr.controllers`)."""


@dataclass(frozen=True)
class Tried:
    """A controller that was tried in reality."""

    iteration: int
    how: str
    """Why it was chosen: fittest, exploring, random, confirm."""
    controller: Floats
    """c: the numbers of the controller, (c,)."""
    trial: Trial
    simulated: float
    """Its fitness in the simulation of that iteration; nan if it failed there."""
    observed: Observed

    @property
    def real(self) -> float:
        """Its fitness in reality; nan if it was not measured."""
        return float("nan") if self.observed.fitness is None else self.observed.fitness


@dataclass(frozen=True)
class ChosenController:
    """A controller to try."""

    how: How
    controller: Floats


@dataclass(frozen=True, kw_only=True)
class TransferRequest:
    """A request for controllers to try in reality."""

    search: SearchResult
    """The controller search of the iteration."""
    space: Space
    """C: the space of controllers."""
    count: int
    """m: how many controllers to choose."""
    settings: TransferSettings
    known: Callable[[Floats], bool]
    """Whether a controller was tried before."""
    worth: Callable[[Floats], Floats]
    """How much candidate simulations disagree about controllers (n, c), (n,)."""


def fittest(search: SearchResult, least: float) -> Floats:
    """Controllers of a search, the last generation first, each by descending fitness, (n, c); transferable ones."""
    rows, have = [], set()
    for generation in reversed(search.history):
        for index in np.argsort(generation.values, kind="stable"):
            value, row = generation.values[index], generation.candidates[index]
            if np.isfinite(value) and -value >= least and row.tobytes() not in have:
                have.add(row.tobytes())
                rows.append(row)
    return np.array(rows).reshape(-1, len(search.best.candidate))


def choose_controllers(request: TransferRequest, rng: np.random.Generator) -> list[ChosenController]:
    """The controllers of an iteration; fewer than asked for if there are not so many."""
    settings, chosen, have = request.settings, [], set()

    def take(how: How, rows: Floats, count: int) -> None:
        for row in rows:
            if count <= 0:
                return
            if row.tobytes() not in have and not request.known(row):
                have.add(row.tobytes())
                chosen.append(ChosenController(how, row))
                count -= 1

    ranked = fittest(request.search, settings.least)
    exploring = min(settings.exploring, request.count)
    drawn = min(settings.random, request.count - exploring)
    take("fittest", _best_first(request, ranked), request.count - exploring - drawn)
    if exploring:
        pool = np.concatenate([ranked, _drawn(request, settings.pool, rng)])
        take("exploring", pool[np.argsort(-request.worth(pool), kind="stable")], exploring)
    if drawn:
        take("random", _drawn(request, drawn, rng), drawn)
    return chosen


def _best_first(request: TransferRequest, ranked: Floats) -> Floats:
    """The best of the whole search, which may be an elite of an earlier generation, before all others."""
    return np.concatenate([request.search.best.candidate[None], ranked]) if len(ranked) else ranked


def _drawn(request: TransferRequest, count: int, rng: np.random.Generator) -> Floats:
    """Random controllers, anywhere or about the best, (count, c); their amplitudes are scaled."""
    step, space = request.settings.random_step, request.space
    if step >= 1:
        rows = space.values(rng.random((count, space.size)))
    else:
        centre = space.unit(request.search.best.candidate)
        rows = space.values(reflected(centre + step * rng.standard_normal((count, space.size))))
    amplitudes = np.array([name.endswith(AMPLITUDE_SUFFIX) for name in space.names])
    scaled = space.low + request.settings.random_scale * (rows - space.low)
    return np.where(amplitudes, scaled, rows)


def remembered_trials(
    tried: Sequence[Tried], iteration: int, settings: MemorySettings, worth: Callable[[Sequence[Trial]], Floats]
) -> list[Tried]:
    """The stored trials that simulations are compared in, in the order in which they were made."""
    stored = list(tried)
    if settings.use == "last":
        stored = [one for one in stored if one.iteration > iteration - settings.iterations]
    if not settings.most or len(stored) <= settings.most:
        return stored
    if settings.use != "informative":
        return stored[-settings.most :]
    best = np.argsort(-worth([one.trial for one in stored]), kind="stable")[: settings.most]
    return [stored[index] for index in sorted(best)]


# Exploration: the Estimation-Exploration algorithm of Bongard and Lipson (2004, 2005) tries next in reality what the
# models at hand disagree about most. Disagreement is the mean distance between the predictions of each two of them, in
# the distance that the simulation search minimises.


RIVAL_SHARE = 0.25
"""The part of the candidates of a search from which rivals are chosen."""


def rivals_of(result: SearchResult, space: Space, count: int) -> Floats:
    """Candidates of a search that are good and far apart, the best one first, (count or fewer, k)."""
    points = np.concatenate([generation.candidates for generation in result.history])
    values = np.concatenate([generation.values for generation in result.history])
    order = np.argsort(values, kind="stable")
    order = order[np.isfinite(values[order])]
    good = points[order[: max(count, round(RIVAL_SHARE * len(order)))]]
    return far_apart(good, space, count)


def far_apart(points: Floats, space: Space, count: int) -> Floats:
    """The first point, then again and again the one farthest from those chosen, (count or fewer, k)."""
    unit = space.unit(points)
    chosen = [0]
    distances = np.linalg.norm(unit - unit[0], axis=1)
    while len(chosen) < min(count, len(points)) and distances.max() > 0:
        chosen.append(int(distances.argmax()))
        distances = np.minimum(distances, np.linalg.norm(unit - unit[chosen[-1]], axis=1))
    found: Floats = points[chosen]
    return found


def disagreement(twin: Twin, rivals: Floats, trials: Sequence[Trial], watch: Watch, distance: Distance) -> Floats:
    """How much rivals (r, k) differ about each trial, (trials,); 0 for one in which any of them breaks down."""
    if len(rivals) < 2:
        return np.zeros(len(trials))
    seen = watch.simulate(twin, rivals, trials)
    return np.array([_between(behaviour, len(rivals), distance) for behaviour in seen])


def _between(behaviour: Behaviour, rivals: int, distance: Distance) -> float:
    """Mean distance of each two rivals in a trial."""
    frames = np.asarray(behaviour.frames)
    failed = behaviour.fitness is not None and not np.isfinite(behaviour.fitness).all()
    if failed or (frames < 1).any():
        return 0.0
    total = 0.0
    for index in range(rivals):
        total += float(distance.per_trial(behaviour.one(index), behaviour).sum())
    mean = total / (rivals * (rivals - 1))
    return mean if np.isfinite(mean) else 0.0
