"""Exploration: which trials tell candidate simulations apart best.

The Estimation-Exploration algorithm of Bongard and Lipson (2004, 2005) tries next in reality what the models at hand
disagree about most. Disagreement is the mean distance between what each two of them predict, in the distance that the
simulation search minimises.

    rivals = rivals_of(result, count=6)                                     # (r, k): good, and far apart
    worth = disagreement(twin, rivals, trials, watch, distance)             # (trials,)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.reality.behaviour import Behaviour
from nutmeg.search.space import Space

if TYPE_CHECKING:
    from nutmeg.reality.distance import Distance
    from nutmeg.reality.trial import Trial
    from nutmeg.reality.twin import Twin
    from nutmeg.reality.watching import Watch
    from nutmeg.search import SearchResult

BEST_PART = 0.25
"""The part of the candidates of a search from which rivals are chosen."""


def rivals_of(result: SearchResult, space: Space, count: int) -> Floats:
    """Candidates of a search that are good and far apart, the best one first, (count or fewer, k)."""
    points = np.concatenate([generation.candidates for generation in result.history])
    values = np.concatenate([generation.values for generation in result.history])
    order = np.argsort(values, kind="stable")
    order = order[np.isfinite(values[order])]
    good = points[order[: max(count, round(BEST_PART * len(order)))]]
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
        fitness = None if behaviour.fitness is None else float(np.asarray(behaviour.fitness)[index])
        real = Behaviour(
            columns=behaviour.columns,
            units=behaviour.units,
            series=None if behaviour.series is None else behaviour.series[index],
            frames=int(frames[index]),
            fitness=fitness,
        )
        total += float(distance.per_trial(real, behaviour).sum())
    mean = total / (rivals * (rivals - 1))
    return mean if np.isfinite(mean) else 0.0
