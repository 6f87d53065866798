"""How strong teams are, from who beat whom: ratings after Bradley and Terry with intervals, on Elo's scale.

    found = ratings(("A", "B"), {("A", "B"): (7, 2, 1)})        # A's wins, draws and losses against B
    found["A"].value, found["A"].low, found["A"].high

The model (Bradley and Terry, Rank analysis of incomplete block designs, Biometrika 39, 1952): team i beats team j with
probability 1 / (1 + exp(s_j - s_i)). A draw counts as half a win and half a loss. Strengths maximise the likelihood of
all games times a wide prior (a standard deviation of 1000 points), which keeps a team finite that has won or lost all
its games. Elo's scale is 400 points for odds of ten to one; the mean of all teams is 0. Intervals are 95 %, from the
curvature of the logarithm at its maximum; with many draws they are wider than they need to be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Floats


POINTS = 400.0 / math.log(10.0)
"""Points of Elo's scale for odds of e."""
PRIOR = 1000.0 / POINTS
"""Standard deviation of strengths before any game."""
SURE = 1.959964
"""Half the width of an interval of 95 %, in standard deviations."""
ROUNDS, ENOUGH = 100, 1e-10


@dataclass(frozen=True, kw_only=True)
class Rating:
    """How strong a team is, in points; the mean of all is 0."""

    value: float
    low: float
    """Below this with a probability of 2.5 %."""
    high: float
    """Above this with a probability of 2.5 %."""

    def shown(self) -> str:
        """The rating and half the width of its interval."""
        return f"{self.value:+.0f} ± {(self.high - self.low) / 2:.0f}".replace("-", "−")


def ratings(names: Sequence[str], games: Mapping[tuple[str, str], tuple[int, int, int]]) -> dict[str, Rating]:
    """The ratings of teams, the strongest first.

    Args:
        names: of the teams.
        games: wins, draws and losses of the first team against the second; each pair once.
    """
    points, count = np.zeros((len(names), len(names))), len(names)
    place = {name: row for row, name in enumerate(names)}
    for (one, other), (wins, draws, losses) in games.items():
        points[place[one], place[other]] += wins + draws / 2
        points[place[other], place[one]] += losses + draws / 2
    strength, spread = fitted(points)
    order = sorted(range(count), key=lambda row: -strength[row])
    return {
        names[row]: Rating(
            value=POINTS * float(strength[row]),
            low=POINTS * float(strength[row] - SURE * spread[row]),
            high=POINTS * float(strength[row] + SURE * spread[row]),
        )
        for row in order
    }


def fitted(points: Floats) -> tuple[Floats, Floats]:
    """Strengths (n,) and their standard deviations (n,), from the points (n, n) of each team against each other."""
    count, played = len(points), points + points.T
    strength = np.zeros(count)
    for _ in range(ROUNDS):
        expected = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
        slope = (points - played * expected).sum(axis=1) - strength / PRIOR**2
        step = np.linalg.solve(_curvature(played, expected), slope)
        strength += step / max(1.0, float(np.abs(step).max()))  # no farther than odds of e at a time
        if float(np.abs(step).max()) < ENOUGH:
            break
    expected = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
    centred = np.eye(count) - 1.0 / count
    covariance = centred @ np.linalg.inv(_curvature(played, expected)) @ centred
    return strength - strength.mean(), np.sqrt(np.diag(covariance).clip(min=0.0))


def _curvature(played: Floats, expected: Floats) -> Floats:
    """(n, n) minus the second derivatives of the logarithm."""
    weight = played * expected * (1.0 - expected)
    curvature: Floats = np.diag(weight.sum(axis=1) + 1.0 / PRIOR**2) - weight
    return curvature
