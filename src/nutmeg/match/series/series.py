"""A series of games between teams, on any number of workers, with the same results on all of them.

    series = Series(settings)
    evaluator = Processes(2, piece=series.piece)
    results = series.play(evaluator, log=GameLog(Path("runs/walks/games.jsonl")), on_game=print)
    standings(settings, results)

A game is decided by the two teams, its number and the series' seed; what has been played is not played again. Every
other game of a pair is played from the other side, and after two games the other team begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator, SeedSequence

from nutmeg.base.errors import FileError, SimulationError, UnknownNameError, UsageError
from nutmeg.base.journal import append_lines, read_lines
from nutmeg.match.behavioural_game import BehaviourGame, BehaviourSetup
from nutmeg.match.behavioural_games import BehaviourGames
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop, PlayerError
from nutmeg.match.players.deciding_player import DecidingPlayer, PlayerSetup, team_player
from nutmeg.match.players.registry import (
    is_compiled,
    is_strategy,
    load_function,
    load_player,
    player_digest,
    read_decide,
)
from nutmeg.match.players.tactics.own_tactics import CompiledDecide
from nutmeg.match.series.settings import RESULT_NUMBERS, kick_off_of, played_out, sides_of
from nutmeg.search.evaluation import Share

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.match.loop import AnyPlayer
    from nutmeg.match.series.settings import Pair, SeriesSettings
    from nutmeg.match.worlds.physical.percept import Player
    from nutmeg.motion.walk.files import WalkParameters
    from nutmeg.search.evaluation import Evaluator

    BatchGame = tuple[int, int, int]
    """First team, second team and number of a game."""


_RESULT_LENGTH = 2 * len(RESULT_NUMBERS)
"""Numbers that a game ends with: those of the first team, then those of the second."""
_BATCH_SIZE = 64  # games between compiled strategies that are played together; the result is the same


@dataclass(frozen=True, kw_only=True)
class GameResult:
    """How a game ended; pairs of numbers are those of the first team and of the second."""

    home: str
    """The name of the first team."""
    away: str
    """The second team."""
    number: int
    """Which game of the two, from 0."""
    goals: tuple[int, int] = (0, 0)
    falls: tuple[int, int] = (0, 0)
    fouls: tuple[int, int] = (0, 0)
    lost_turns: tuple[int, int] = (0, 0)
    """Decisions of its players that raised, took too long or made no sense."""
    possession: tuple[float, float] = (0.0, 0.0)
    """Share of the time in play in which the nearest player to the ball was theirs."""
    progress: tuple[float, float] = (0.0, 0.0)
    """Where the ball was on average, from the middle (0) to the opponents' goal line (1)."""
    shots: tuple[int, int] = (0, 0)
    """Balls that would have rolled into the goal."""
    expected_goals: tuple[float, float] = (0.0, 0.0)
    """Goals that a team could expect from what it did with the ball."""
    failure: str = ""
    """Why it broke off, if it did; then its numbers do not count."""

    @property
    def difference(self) -> int:
        """Goals of the first team more than of the second."""
        return self.goals[0] - self.goals[1]

    @property
    def home_is_left(self) -> bool:
        """Whether the first team plays from the left."""
        return self.number % 2 == 0


@dataclass(frozen=True)
class SeriesGames:
    """Plays games; a function for every evaluator of `nutmeg.search`.

    Called with rows (n, 4): first team, second team, number of the game, and the index of the requested number. Rows of
    a game stand together, have the same seed and are played once.
    """

    settings: SeriesSettings
    walks: tuple[WalkParameters | None, ...]
    """The walks of the teams; None for players of a user's own."""
    _broken: dict[tuple[int, ...], str] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, rows: Floats, generators: Sequence[Generator]) -> list[float]:
        """The requested numbers, (n,)."""
        played: dict[tuple[int, ...], list[float]] = {}
        values = []
        for row, rng in zip(rows, generators, strict=True):
            home, away, number, part = (int(value) for value in row)
            if (home, away, number) not in played:
                played[home, away, number] = self._counts((home, away), number, int(rng.integers(2**63)))
            values.append(float(played[home, away, number][part]))
        return values

    def _counts(self, pair: Pair, number: int, seed: int) -> list[float]:
        key = (*pair, number)
        try:
            if key not in self._broken:
                return self.counts(pair, number, seed)
        except (SimulationError, PlayerError) as error:
            self._broken[key] = str(error)  # asked again for each of its numbers, it is not played again
        raise SimulationError(self._broken[key])

    def counts(self, pair: Pair, number: int, seed: int, *, record: Path | None = None) -> list[float]:
        """Plays a game; `RESULT_NUMBERS` of the first team and of the second, (16,)."""
        sides = sides_of(pair, number)
        names = [self.settings.team[index].name for index in sides]
        game = Game(
            self.settings.rule_book(),
            seed=seed,
            left=names[0],
            right=names[1],
            seats=2 * self.settings.players,
            record=record,
            setup=PhysicalSetup(noise=self.settings.noise, field=self.settings.ground, kick_off=kick_off_of(number)),
        )
        with game:
            players = {member: player for index in sides for member, player in self.team(index)}
            driver = GameLoop(game, players, types=self.types(sides))
            return played_out(driver, [self.settings.team[index].name for index in pair])

    def team(self, index: int) -> Iterable[tuple[tuple[str, int], Player]]:
        """The players of a team, each with its name and number."""
        entrant, count, walk = self.settings.team[index], self.settings.players, self.walks[index]
        for number in range(1, count + 1):
            member = entrant.name, number
            if walk is None:
                yield member, load_player(entrant.player)(*member)
                continue
            setup = PlayerSetup(walk=walk, players=count, robot_type=entrant.robot_type, field=self.settings.ground)
            if entrant.decide:
                yield member, DecidingPlayer(read_decide(entrant.decide), *member, setup)
            else:
                yield member, team_player(*member, setup)

    def types(self, sides: Pair) -> dict[tuple[str, int], int]:
        """Types of the robots of two teams, by team and number."""
        teams, numbers = (self.settings.team[index] for index in sides), range(1, self.settings.players + 1)
        return {(team.name, number): team.robot_type for team in teams for number in numbers}


@dataclass(frozen=True)
class _BehaviourSeriesGames:
    """Plays games of the behavioural world as `SeriesGames` does those of the physical one.

    Games between compiled strategies are played in one batch, others one by one. A game is the same in any batch.
    """

    settings: SeriesSettings

    def __call__(self, rows: Floats, generators: Sequence[Generator]) -> list[float]:
        """The requested numbers, (n,)."""
        asked = [tuple(int(value) for value in row) for row in rows]
        seeds: dict[BatchGame, int] = {}
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
        eyes = chosen.eyes or None
        return BehaviourSetup(field=chosen.ground, settings=chosen.behaviour, eyes=eyes, cameras=chosen.images)

    def compiled(self, pair: Pair) -> bool:
        """Whether both teams are compiled: strategies, or functions of users."""
        return all(is_compiled(self.settings.team[index].decide) for index in pair)

    def batch(self, games: dict[BatchGame, int]) -> dict[BatchGame, list[float]]:
        """Plays games between compiled strategies, by their seeds, all at once; numbers as of `counts`."""
        if not games:
            return {}
        chosen = self.settings
        sides = [sides_of(game[:2], game[2]) for game in games]
        found = BehaviourGames(
            chosen.rule_book(),
            left=[_entry(chosen.team[left].decide) for left, _ in sides],
            right=[_entry(chosen.team[right].decide) for _, right in sides],
            seeds=list(games.values()),
            setup=self.setup,
            players=chosen.players,
            kick_off=[kick_off_of(number) for *_, number in games],
        ).run()
        numbers: dict[BatchGame, list[float]] = {}
        for game, one in zip(games, found, strict=True):
            counted = zip(one.goals, one.falls, one.fouls, (0, 0), strict=True)  # compiled code does not raise
            columns = [(*whole, *shares) for whole, shares in zip(counted, one.control.by_team(), strict=True)]
            first, second = columns if game[2] % 2 == 0 else columns[::-1]
            numbers[game] = [*first, *second]
        return numbers

    def counts(self, pair: Pair, number: int, seed: int, *, record: Path | None = None) -> list[float]:
        """Plays one game; `RESULT_NUMBERS` of the first team and of the second, (16,)."""
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
        )
        with game:
            players: dict[tuple[str, int], AnyPlayer] = {}
            for index, name in zip(sides, names, strict=True):
                players |= game.team(name, read_decide(chosen.team[index].decide), chosen.players)
            driver = GameLoop(game, players)
            if record is not None:
                game.record_with(minds=lambda: driver.players)
            return played_out(driver, [chosen.team[index].name for index in pair])


def _entry(name: str) -> str | CompiledDecide:
    """What plays in a batch under this name."""
    found = name if is_strategy(name) else load_function(name)
    assert isinstance(found, str | CompiledDecide)
    return found


class Series:
    """All games of a series.

    Args:
        settings: teams, numbers of games, and their length.
        walks: walks of the teams, in their order; by default those of the settings.
    """

    piece: Share = Share(unit=_RESULT_LENGTH, most=_RESULT_LENGTH)
    """How evaluators cut work: a game at a time, or a batch of games of the behavioural world."""

    def __init__(self, settings: SeriesSettings, walks: Sequence[WalkParameters | None] | None = None) -> None:
        self.settings = settings
        found = settings.walks() if walks is None else tuple(walks)
        behavioural = settings.world == "behavioural"
        self.games: SeriesGames | _BehaviourSeriesGames = (
            _BehaviourSeriesGames(settings) if behavioural else SeriesGames(settings, found)
        )
        if behavioural:
            self.piece = Share(unit=_RESULT_LENGTH, most=_RESULT_LENGTH * _BATCH_SIZE)
        self._walks = found

    def described(self) -> dict[str, object]:
        """All that decides how a game ends but for its number and the seed."""
        chosen = self.settings
        walks = [None if walk is None else {n: asdict(one) for n, one in walk.sets.items()} for walk in self._walks]
        described: dict[str, object] = {
            "teams": [(one.name, one.robot_type, one.player, player_digest(one.player)) for one in chosen.team],
            "players": chosen.players,
            "noise": chosen.noise,
            "rules": asdict(chosen.rule_book()),
            "walks": walks,
        }
        if any(one.decide for one in chosen.team):
            described["decide"] = [(one.decide, player_digest(one.decide)) for one in chosen.team]
        if chosen.world == "behavioural":
            described["world"] = chosen.world
            setup = BehaviourSetup(settings=chosen.behaviour, eyes=chosen.eyes or None)
            described["behaviour"] = asdict(setup.behaviours()[0])
            described["eyes"] = asdict(setup.senses())
        return described

    def _batches(self, waiting: Sequence[tuple[Pair, int]], at_once: int) -> Iterator[list[tuple[Pair, int]]]:
        """Games that are handed out together: large batches of compiled strategies first, then others."""
        games = self.games
        compiled: list[tuple[Pair, int]] = []
        others: list[tuple[Pair, int]] = []
        for game in waiting:
            at_a_time = isinstance(games, _BehaviourSeriesGames) and games.compiled(game[0])
            (compiled if at_a_time else others).append(game)
        for games_left, size in ((compiled, _BATCH_SIZE * max(at_once, 1)), (others, max(at_once, 1))):
            for first in range(0, len(games_left), size):
                yield games_left[first : first + size]

    def schedule(self) -> list[tuple[Pair, int]]:
        """All games: the first of every pair, then the second of every pair, and so on."""
        return [(pair, number) for number in range(self.settings.games) for pair in self.settings.pairs]

    def play(
        self,
        evaluator: Evaluator,
        *,
        log: GameLog | None = None,
        at_once: int = 1,
        on_game: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> list[GameResult]:
        """Plays what has not been played; the results of all games, in the order of the schedule.

        Args:
            evaluator: where games are played; cut its work by `piece`.
            log: what was played before, and where to save what is played now.
            at_once: how many games are handed out together (of compiled strategies, how many batches); they are saved
                when all of them have ended.
            on_game: called with the numbers of played and of all games.
        """
        log = log or GameLog(None)
        schedule = self.schedule()
        waiting = [game for game in schedule if self._key(game) not in log.results]
        done = len(schedule) - len(waiting)
        on_game(done, len(schedule))
        for batch in self._batches(waiting, at_once):

            def progress(rows: int, _: int, before: int = done) -> None:
                on_game(before + rows // _RESULT_LENGTH, len(schedule))

            log.append(self._played(evaluator, batch, progress))
            done += len(batch)
        return [log.results[self._key(game)] for game in schedule]

    def record(self, home: str, away: str, number: int, path: Path) -> GameResult:
        """Plays one game again, as it was played in the series, and records it."""
        names = self.settings.names
        for name in (home, away):
            if name not in names:
                raise UnknownNameError("team", name, names)
        pair = names.index(home), names.index(away)
        if pair not in self.settings.pairs or not 0 <= number < self.settings.games:
            raise UsageError(
                f"{home} against {away} has no game {number + 1}: the teams have to be in the order of the report, and "
                f"each pair plays {self.settings.games}."
            )
        rng = np.random.default_rng(SeedSequence(self.settings.seed, spawn_key=(*pair, number)))
        counts = self.games.counts(pair, number, int(rng.integers(2**63)), record=path)
        return self._result((pair, number), np.array(counts, float), "")

    def _key(self, game: tuple[Pair, int]) -> tuple[str, str, int]:
        (home, away), number = game
        return self.settings.names[home], self.settings.names[away], number

    def _played(
        self, evaluator: Evaluator, batch: Sequence[tuple[Pair, int]], progress: Callable[[int, int], None]
    ) -> list[GameResult]:
        rows = np.array([(*pair, number, part) for pair, number in batch for part in range(_RESULT_LENGTH)], float)
        seeds = [
            SeedSequence(self.settings.seed, spawn_key=(*pair, number))
            for pair, number in batch
            for _ in range(_RESULT_LENGTH)
        ]
        found = evaluator.evaluate(self.games, rows, seeds, progress)
        reasons = {failure.index // _RESULT_LENGTH: failure.reason for failure in found.failures}
        return [
            self._result(
                game, found.values[index * _RESULT_LENGTH : (index + 1) * _RESULT_LENGTH], reasons.get(index, "")
            )
            for index, game in enumerate(batch)
        ]

    def _result(self, game: tuple[Pair, int], values: Floats, failure: str) -> GameResult:
        home, away, number = self._key(game)
        if failure:
            return GameResult(home=home, away=away, number=number, failure=failure)
        counted = dict(zip(RESULT_NUMBERS, values.reshape(2, -1).T, strict=True))
        return GameResult(home=home, away=away, number=number, **_pairs(counted))


class GameLog:
    """The results of games in a file of JSON lines, which may have been begun before; None keeps them in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.results: dict[tuple[str, str, int], GameResult] = {}
        """Results by first team, second team and number."""
        if path is not None:
            self._read(path)

    def append(self, results: Iterable[GameResult]) -> None:
        """Adds games that have been played."""
        new = {(one.home, one.away, one.number): one for one in results}
        if self._path is not None:
            append_lines(self._path, map(asdict, new.values()), problem="games cannot be saved")
        self.results |= new

    def _read(self, path: Path) -> None:
        for line, table in enumerate(read_lines(path), start=1):
            try:
                # Logs of version 0.1 have no lost turns, and those before 2026-11-18 nothing about the ball.
                one = GameResult(**table | _pairs({name: table[name] for name in RESULT_NUMBERS if name in table}))
            except (ValueError, TypeError, KeyError, AttributeError):
                raise FileError(path, "is not the result of a game.", line=line) from None
            self.results[one.home, one.away, one.number] = one


def _pairs(counted: Mapping[str, Iterable[float]]) -> dict[str, Any]:
    """The counts of both teams, by name; goals, falls and the like are whole numbers."""
    shares = ("possession", "progress", "expected_goals")
    found = {}
    for name, values in counted.items():
        first, second = (float(value) if name in shares else int(value) for value in values)
        found[name] = first, second
    return found
