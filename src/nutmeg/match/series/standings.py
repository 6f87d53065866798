"""The results of a series of games: goal differences with standard errors, as table 3 of MacAlpine and others (2012).

    table = standings(("Final", "Sprint"), results)
    table.pairs["Final", "Sprint"].difference       # mean goals of Final more than of Sprint in a game
    table.pairs["Final", "Sprint"].error            # standard error of that mean; None after one game
    table.teams["Final"].wins
    table.ratings["Final"].shown()                  # on Elo's scale, with its interval

Games that broke off do not count; how many did is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.match.series.series import GameResult


# ----------------------------------------------------------------------------------------------------
# Strength of teams from the results of their games: ratings after Bradley and Terry with intervals, on Elo's scale.
#
# The model (Bradley and Terry, Rank analysis of incomplete block designs, Biometrika 39, 1952): team i beats team j
# with probability 1 / (1 + exp(s_j - s_i)). A draw counts as half a win and half a loss. Strengths maximise the
# likelihood of all games times a wide prior (a standard deviation of 1000 points), which keeps a team finite that has
# won or lost all its games. Elo's scale is 400 points for odds of ten to one; the mean of all teams is 0. Intervals
# are 95 %, from the curvature of the logarithm at its maximum; with many draws they are wider than they need to be.


POINTS_PER_LOGIT = 400.0 / math.log(10.0)
"""Points of Elo's scale for odds of e."""
_PRIOR_DEVIATION = 1000.0 / POINTS_PER_LOGIT  # standard deviation of strengths before any game
_CONFIDENCE_WIDTH = 1.959964  # half the width of an interval of 95 %, in standard deviations
_MAX_ROUNDS, _ROUND_TOLERANCE = 100, 1e-10


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
            value=POINTS_PER_LOGIT * float(strength[row]),
            low=POINTS_PER_LOGIT * float(strength[row] - _CONFIDENCE_WIDTH * spread[row]),
            high=POINTS_PER_LOGIT * float(strength[row] + _CONFIDENCE_WIDTH * spread[row]),
        )
        for row in order
    }


def fitted(points: Floats) -> tuple[Floats, Floats]:
    """Strengths (n,) and their standard deviations (n,), from the points (n, n) of each team against each other."""
    count, played = len(points), points + points.T
    strength = np.zeros(count)
    for _ in range(_MAX_ROUNDS):
        expected = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
        slope = (points - played * expected).sum(axis=1) - strength / _PRIOR_DEVIATION**2
        step = np.linalg.solve(_curvature(played, expected), slope)
        strength += step / max(1.0, float(np.abs(step).max()))  # no farther than odds of e at a time
        if float(np.abs(step).max()) < _ROUND_TOLERANCE:
            break
    expected = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
    centred = np.eye(count) - 1.0 / count
    covariance = centred @ np.linalg.inv(_curvature(played, expected)) @ centred
    return strength - strength.mean(), np.sqrt(np.diag(covariance).clip(min=0.0))


def _curvature(played: Floats, expected: Floats) -> Floats:
    """(n, n) minus the second derivatives of the logarithm."""
    weight = played * expected * (1.0 - expected)
    curvature: Floats = np.diag(weight.sum(axis=1) + 1.0 / _PRIOR_DEVIATION**2) - weight
    return curvature


@dataclass(frozen=True, kw_only=True)
class Record:
    """Games of one team, against another or against all."""

    games: int
    wins: int
    draws: int
    losses: int
    goals: int
    """Goals that it scored."""
    against: int
    """Scored by the others."""
    falls: int
    """Number of falls of its players."""
    fouls: int
    """Number of fouls of its players."""
    difference: float | None
    """Mean goals a game more than the others; None without games."""
    error: float | None
    """Standard error of the difference: the standard deviation over the root of the number; None after one game."""
    lost_turns: int = 0
    """Decisions of its players that raised, took too long or made no sense."""
    broken: int = 0
    """Games that broke off and do not count."""

    @property
    def rank(self) -> float:
        """The smaller, the better; teams without games come last."""
        return math.inf if self.difference is None else -self.difference

    def as_json(self) -> dict[str, Any]:
        """The numbers of the record by their names, for `--json`."""
        return dict(vars(self))

    def shown(self) -> str:
        """The difference with its error in brackets, as in the paper; a dash without games."""
        if self.difference is None:
            return "–"
        error = "" if self.error is None else f" ({self.error:.2f})"
        return f"{self.difference:+.2f}{error}".replace("-", "−")


@dataclass(frozen=True, kw_only=True)
class Standings:
    """The tables of a series."""

    pairs: dict[tuple[str, str], Record]
    """Results of the first team against the second, both ways round."""
    teams: dict[str, Record]
    """Results of each team against all others, the best first."""
    ratings: dict[str, Rating]
    """How strong teams that have played are, the strongest first."""


def standings(names: Sequence[str], results: Iterable[GameResult]) -> Standings:
    """The tables of the games of some teams."""
    results = list(results)
    pairs = {}
    for name in names:
        for other in names:
            sides = [sided for game in results if (sided := _seen_by(name, game)) and sided[0] == other]
            if sides:
                pairs[name, other] = _record([game for _, game in sides])
    own = {name: _record([sided[1] for game in results if (sided := _seen_by(name, game))]) for name in names}
    ranking = sorted(names, key=lambda name: own[name].rank)
    beaten = {pair: (one.wins, one.draws, one.losses) for pair, one in pairs.items() if one.games and pair[::-1] > pair}
    rated = ratings([name for name in ranking if own[name].games], beaten) if beaten else {}
    return Standings(pairs=pairs, teams={name: own[name] for name in ranking}, ratings=rated)


_Numbers = tuple[int, int, int, int, int] | None
"""Goals, goals against, falls, fouls, lost turns; None of a game that broke off."""


def _seen_by(name: str, game: GameResult) -> tuple[str, _Numbers] | None:
    """The opponent in a game, and its numbers as a team sees them; None of a game without it."""
    if name not in (game.home, game.away):
        return None
    own = 0 if name == game.home else 1
    other = game.away if own == 0 else game.home
    if game.failure:
        return other, None
    return other, (game.goals[own], game.goals[1 - own], game.falls[own], game.fouls[own], game.lost_turns[own])


def _record(games: Sequence[_Numbers]) -> Record:
    counted = [game for game in games if game is not None]
    differences = [game[0] - game[1] for game in counted]
    count = len(differences)
    mean = sum(differences) / count if count else None
    error = None
    if mean is not None and count > 1:
        error = math.sqrt(sum((one - mean) ** 2 for one in differences) / (count - 1) / count)
    return Record(
        games=count,
        wins=sum(one > 0 for one in differences),
        draws=sum(one == 0 for one in differences),
        losses=sum(one < 0 for one in differences),
        goals=sum(game[0] for game in counted),
        against=sum(game[1] for game in counted),
        falls=sum(game[2] for game in counted),
        fouls=sum(game[3] for game in counted),
        lost_turns=sum(game[4] for game in counted),
        difference=mean,
        error=error,
        broken=len(games) - count,
    )
