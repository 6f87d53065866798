"""Rewards and their weights: equations 1 to 7 of MacAlpine and others (2012).

    target_reward(distance=2.0, total=7.0, taken=3.5)                   # 4.0
    stop_reward(moved=0.2) - FALL_COST                                  # -5.2
    next_weights([[3.0, 2.0, 1.0]])                                     # slower directions weigh more

What is gained and what is lost are kept apart wherever it matters: the holonomic tasks weigh only the former.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from nutmeg.base.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats


FALL_COST = 5.0
"""What a fall costs, in equations 1 and 2."""
MIN_REWARD = 0.1
"""The least reward of a direction that weights are computed from (equation 5)."""
Weighting = Literal["static", "dynamic", "dynamic-avg"]
Number = TypeVar("Number", float, "Floats")


# The two rewards are plain arithmetic, so that they serve for arrays as they are, and for numbers when
# `learning.course_kernels` compiles them.


def target_reward(distance: Number, total: Number, taken: Number) -> Number:
    """Equation 1 without the fall: the distance gone towards a target, extrapolated if it was reached early.

    Args:
        distance: gone towards the target [m].
        total: how long the target is active, in any unit of time.
        taken: how long it took to reach it; `total` if it was not reached.
    """
    return distance * (total / taken)


def stop_reward(moved: Number) -> Number:
    """Equation 2 without the fall: less the distance moved [m]."""
    return -moved


def first_weights(directions: int = 3) -> Floats:
    """Equation 3: all alike, (directions,)."""
    return np.full(directions, 1 / directions)


def weights_from(rewards: ArrayLike) -> Floats:
    """Equations 5 to 7: the weights that follow from rewards of the directions, (directions,)."""
    raised = np.maximum(np.asarray(rewards, float), MIN_REWARD)
    factors = raised.max() / raised
    return np.asarray(factors / factors.sum())


def next_weights(rewards: ArrayLike, fitness: ArrayLike, weighting: Weighting) -> Floats:
    """The weights of the next generation.

    Args:
        rewards: of the directions, a row for each member of the population, (N, directions).
        fitness: of the members, larger is better, nan for those that failed, (N,).
        weighting: `dynamic` takes the rewards of the fittest, `dynamic-avg` the average of the fitter half with the
            weights of CMA-ES, `static` keeps all alike.
    """
    table, worth = np.asarray(rewards, float), np.asarray(fitness, float)
    if table.ndim != 2 or worth.shape != (len(table),):
        raise UsageError(f"rewards {table.shape} with fitness {worth.shape}; needed are (N, directions) and (N,).")
    if weighting == "static":
        return first_weights(table.shape[1])
    order = np.argsort(-np.where(np.isfinite(worth), worth, -np.inf), kind="stable")
    if weighting == "dynamic":
        return weights_from(table[order[0]])
    half = order[: max(len(order) // 2, 1)]
    return weights_from(rank_weights(len(order))[: len(half)] @ np.nan_to_num(table[half]))


def rank_weights(population: int) -> Floats:
    """What CMA-ES gives the fitter half of a population, the fittest first, summing to 1, (population // 2,)."""
    half = max(population // 2, 1)
    raw = np.array([math.log(population / 2 + 0.5) - math.log(rank) for rank in range(1, half + 1)])
    return np.asarray(raw / raw.sum())
