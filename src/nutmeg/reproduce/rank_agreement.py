"""How well two series of games agree on who is stronger: rank correlations with bootstrap intervals.

    strengths, errors = strengths_of(names, results, rng)
    agreement(names, physical, behavioural, rng, goal=0.8)["spearman"]
    ceiling_of(names, physical, rng)            # how well the series would agree with itself, played again

Strengths are those whose differences come nearest to all goal differences (least squares over games). A bootstrap draws
games anew: what the strengths say plus the error of a game drawn from all, so that pairs with one game do not look
certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.arrays import Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.match.series import GameResult


RESAMPLES = 1000
LEVEL = 0.95


def design(names: Sequence[str], results: Sequence[GameResult]) -> tuple[Floats, Floats]:
    """Who played (n, teams), 1 at home and -1 away, and goal differences (n,); games that broke off are left out."""
    played = [one for one in results if not one.failure]
    rows, places = np.zeros((len(played), len(names))), {name: k for k, name in enumerate(names)}
    for row, one in enumerate(played):
        rows[row, places[one.home]], rows[row, places[one.away]] = 1.0, -1.0
    return rows, np.array([one.difference for one in played], float)


def _fit(rows: Floats, differences: Floats) -> Floats:
    """(teams, ...) strengths with the mean 0, of goal differences (n, ...)."""
    found = np.linalg.pinv(rows) @ differences
    return np.asarray(found - found.mean(axis=0))


def _drawn(rows: Floats, differences: Floats, rng: np.random.Generator, count: int) -> Floats:
    """(teams, count) strengths of games drawn anew."""
    strengths = _fit(rows, differences)
    told = rows @ strengths
    errors = differences - told
    errors *= np.sqrt(
        len(errors) / max(len(errors) - rows.shape[1] + 1, 1)
    )  # a fit leaves smaller errors than there are
    return _fit(rows, told[:, None] + rng.choice(errors, (len(errors), count)))


def strengths_of(
    names: Sequence[str], results: Sequence[GameResult], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """(teams,) goals a game more than an average opponent, and their standard errors."""
    rows, differences = design(names, results)
    return _fit(rows, differences), _drawn(rows, differences, rng, RESAMPLES).std(axis=1)


def spearman(a: Floats, b: Floats) -> float:
    """Rank correlation of Spearman; 0 where one of both puts all alike."""
    ranks = [_ranks(values) for values in (a, b)]
    spread = ranks[0].std() * ranks[1].std()
    return (
        0.0 if spread == 0.0 else float(np.mean((ranks[0] - ranks[0].mean()) * (ranks[1] - ranks[1].mean())) / spread)
    )


def _ranks(values: Floats) -> Floats:
    """(n,) ranks from 1; equal values have the mean of theirs."""
    below = (values[None, :] < values[:, None]).sum(axis=1)
    return np.asarray(below + 0.5 * (1 + (values[None, :] == values[:, None]).sum(axis=1)))


def kendall(a: Floats, b: Floats) -> float:
    """Rank correlation of Kendall (tau-b); 0 where one of both puts all alike."""
    first, second = (np.sign(values[:, None] - values[None, :]) for values in (a, b))
    both = np.sqrt((first**2).sum() * (second**2).sum())
    return 0.0 if both == 0.0 else float((first * second).sum() / both)


def agreement(
    names: Sequence[str],
    first: Sequence[GameResult],
    second: Sequence[GameResult],
    rng: np.random.Generator,
    *,
    goal: float,
) -> dict[str, Any]:
    """Rank correlations between two series, their intervals, and whether the goal is met.

    `error` is by how much strengths differ (root mean square, goals a game). Games drawn anew have their luck twice, in
    both series, so that intervals lie lower than the correlation of what was played.
    """
    designs = [design(names, results) for results in (first, second)]
    a, b = (_fit(*one) for one in designs)
    drawn_a, drawn_b = (_drawn(*one, rng, RESAMPLES) for one in designs)
    answer: dict[str, Any] = {"error": float(np.sqrt(np.mean((a - b) ** 2)))}
    for word, of in (("spearman", spearman), ("kendall", kendall)):
        drawn = [of(x, y) for x, y in zip(drawn_a.T, drawn_b.T, strict=True)]
        answer[word] = of(a, b)
        answer[f"{word}_interval"] = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
        answer[f"{word}_above_goal"] = float(np.mean(np.array(drawn) >= goal))
    return {**answer, "met": bool(answer["spearman"] >= goal)}


def ceiling_of(names: Sequence[str], results: Sequence[GameResult], rng: np.random.Generator) -> dict[str, float]:
    """How well two series as long as this one would agree with each other, on average."""
    rows, differences = design(names, results)
    a, b = (_drawn(rows, differences, rng, RESAMPLES // 2) for _ in range(2))
    return {
        word: float(np.mean([of(x, y) for x, y in zip(a.T, b.T, strict=True)]))
        for word, of in (("spearman", spearman), ("kendall", kendall))
    }
