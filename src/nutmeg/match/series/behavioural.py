"""Games of a series in the behavioural world: those between compiled strategies in one batch, others one by one.

    games = BehaviourSeriesGames(settings)
    games(rows, generators)                             # as `series.SeriesGames`, for every evaluator

A game comes out the same in whatever batch it is played.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.match.behavioural_game import BehaviourGame, BehaviourSetup
from nutmeg.match.behavioural_games import BehaviourGames
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.registry import is_strategy, read_decide
from nutmeg.match.series.settings import kick_off_of, played_out, sides_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.random import Generator

    from nutmeg.base.arrays import Floats
    from nutmeg.match.loop import AnyPlayer
    from nutmeg.match.series.settings import Pair, SeriesSettings

    Game = tuple[int, int, int]
    """First team, second team, number."""


@dataclass(frozen=True)
class BehaviourSeriesGames:
    """Plays games; a function for every evaluator of `nutmeg.search`, see `series.SeriesGames`."""

    settings: SeriesSettings

    def __call__(self, rows: Floats, generators: Sequence[Generator]) -> list[float]:
        """The wanted numbers, (n,)."""
        asked = [tuple(int(value) for value in row) for row in rows]
        seeds: dict[Game, int] = {}
        for (home, away, number, _), rng in zip(asked, generators, strict=True):
            if (home, away, number) not in seeds:
                seeds[home, away, number] = int(rng.integers(2**63))
        played = self.batch({game: seed for game, seed in seeds.items() if self.compiled(game[:2])})
        for game, seed in seeds.items():
            if game not in played:
                played[game] = self.counts(game[:2], game[2], seed)
        return [float(played[home, away, number][part]) for home, away, number, part in asked]

    @property
    def setup(self) -> BehaviourSetup:
        """Field, bodies and senses of all games."""
        chosen = self.settings
        return BehaviourSetup(field=chosen.ground, settings=chosen.behaviour, eyes=chosen.eyes or None)

    def compiled(self, pair: Pair) -> bool:
        """Whether both teams are compiled strategies."""
        return all(is_strategy(self.settings.team[index].decide) for index in pair)

    def batch(self, games: dict[Game, int]) -> dict[Game, list[int]]:
        """Plays games between compiled strategies, by their seeds, all at once; numbers as of `counts`."""
        if not games:
            return {}
        chosen = self.settings
        sides = [sides_of(game[:2], game[2]) for game in games]
        found = BehaviourGames(
            chosen.rule_book(),
            left=[chosen.team[left].decide for left, _ in sides],
            right=[chosen.team[right].decide for _, right in sides],
            seeds=list(games.values()),
            setup=self.setup,
            players=chosen.players,
            kick_off=[kick_off_of(number) for *_, number in games],
        ).run()
        numbers = {}
        for game, one in zip(games, found, strict=True):
            columns = list(zip(one.goals, one.falls, one.fouls, (0, 0), strict=True))  # compiled code does not raise
            first, second = columns if game[2] % 2 == 0 else columns[::-1]
            numbers[game] = [*first, *second]
        return numbers

    def counts(self, pair: Pair, number: int, seed: int, *, record: Path | None = None) -> list[int]:
        """Plays one game; goals, falls, fouls and lost turns of the first team and of the second, (8,)."""
        chosen = self.settings
        sides = sides_of(pair, number)
        names = [chosen.team[index].name for index in sides]
        game = BehaviourGame(
            chosen.rule_book(),
            seed=seed,
            setup=self.setup,
            left=names[0],
            right=names[1],
            kick_off=kick_off_of(number),
            record=record,
            cameras=chosen.images,
        )
        with game:
            players: dict[tuple[str, int], AnyPlayer] = {}
            for index, name in zip(sides, names, strict=True):
                players |= game.team(name, read_decide(chosen.team[index].decide), chosen.players)
            driver = GameLoop(game, players)
            if record is not None:
                game.record_with(minds=lambda: driver.players)
            return played_out(driver, [chosen.team[index].name for index in pair])
