"""What a series of games came to: goal differences with standard errors, as table 3 of MacAlpine and others (2012).

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

from nutmeg.match.ratings import Rating, ratings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nutmeg.match.series import GameResult


@dataclass(frozen=True, kw_only=True)
class Record:
    """Games of one team, against another or against all."""

    games: int
    wins: int
    draws: int
    losses: int
    goals: int
    """Scored by it."""
    against: int
    """Scored by the others."""
    falls: int
    """Of its players."""
    fouls: int
    """Of its players."""
    difference: float | None
    """Mean goals a game more than the others; None without games."""
    error: float | None
    """Standard error of the difference: the standard deviation over the root of the number; None after one game."""
    broken: int = 0
    """Games that broke off and do not count."""

    @property
    def rank(self) -> float:
        """The smaller, the better; teams without games come last."""
        return math.inf if self.difference is None else -self.difference

    def as_json(self) -> dict[str, Any]:
        """As a table."""
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
    """Of the first team against the second; both ways round."""
    teams: dict[str, Record]
    """Of each team against all, the best first."""
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


_Numbers = tuple[int, int, int, int] | None
"""Goals, goals against, falls, fouls; None of a game that broke off."""


def _seen_by(name: str, game: GameResult) -> tuple[str, _Numbers] | None:
    """The opponent in a game, and its numbers as a team sees them; None of a game without it."""
    if name not in (game.home, game.away):
        return None
    own = 0 if name == game.home else 1
    other = game.away if own == 0 else game.home
    if game.failure:
        return other, None
    return other, (game.goals[own], game.goals[1 - own], game.falls[own], game.fouls[own])


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
        difference=mean,
        error=error,
        broken=len(games) - count,
    )
