"""Does the behavioural world predict the physical one? Nine strategies play each other in both.

    answer = run(Path("runs/behaviour-predicts"), Settings(quick=True, threads=2))
    answer["before"]["spearman"], answer["after"]["spearman"]       # rank correlations with the physical world
    answer["after"]["spearman_interval"], answer["ceiling"]

Nine strategies (`match.behaviour.strategies`), from one that stands still to one with roles, play each other with
bodies that have joints, and without: before calibration, with the numbers of `nao-spark`, and after, with those that
`match.behaviour.calibration` finds in recordings of other physical games. A strategy is as strong as its goal
differences say (least squares over all pairs); what counts is whether both worlds put them into the same order. The
goal is a rank correlation of 0.8.

Intervals are those of a bootstrap over games: each goal difference is what the strengths say plus the error of a game
drawn from all. A few physical games do not give the order exactly; `ceiling` says how well two such physical series
would agree with each other, and no world can agree much better. Each game is kept as it ends: the same command goes on
where it was interrupted.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.random import SeedSequence, default_rng

from nutmeg.base.arrays import Floats
from nutmeg.base.journal import draft
from nutmeg.experiments.experiment import (
    CONFIDENCE_LEVEL,
    Claim,
    Estimate,
    ExperimentSettings,
    Progress,
    ResultTable,
    claim_notes,
    decimal,
    fit_strengths,
    games_matrix,
    number,
    play_series,
    rank_correlation,
    series_digest,
    silent,
    text,
    yes_or_no,
)
from nutmeg.match.calibration.calibrate import calibrate
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.series.series import Series, SeriesGames
from nutmeg.match.series.settings import Entrant, SeriesSettings
from nutmeg.match.worlds.behavioural.settings import load_behaviour, write_behaviour

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nutmeg.match.calibration.calibrate import Calibrated
    from nutmeg.match.series.series import GameResult


# How well two series of games agree on who is stronger: rank correlations with bootstrap intervals.
#
# Strengths are those whose differences come nearest to all goal differences (least squares over games). A bootstrap
# draws games anew: what the strengths say plus the error of a game drawn from all, so that pairs with one game do not
# look certain.


_BOOTSTRAP_SAMPLES = 1000


def _played_games(names: Sequence[str], results: Sequence[GameResult]) -> tuple[Floats, Floats]:
    """Who played, (games, teams), and goal differences, (games,), of games that did not break off."""
    played = [one for one in results if not one.failure]
    pairs = [(one.home, one.away) for one in played]
    return games_matrix(names, pairs), np.array([one.difference for one in played], float)


def _bootstrapped(games: Floats, differences: Floats, rng: np.random.Generator, count: int) -> Floats:
    """Strengths (teams, count) of resampled games: the fitted difference plus the residual of a random game.

    Pairs with a single game would look certain if games were only drawn within a pair.
    """
    fitted = games @ fit_strengths(games, differences)
    errors = differences - fitted
    # A fit leaves smaller residuals than the errors are: teams - 1 degrees of freedom are used up.
    errors *= np.sqrt(len(errors) / max(len(errors) - games.shape[1] + 1, 1))
    return fit_strengths(games, fitted[:, None] + rng.choice(errors, (len(errors), count)))


def strengths_of(
    names: Sequence[str], results: Sequence[GameResult], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Goals per game more than an average opponent, (teams,), and their standard errors."""
    games, differences = _played_games(names, results)
    return fit_strengths(games, differences), _bootstrapped(games, differences, rng, _BOOTSTRAP_SAMPLES).std(axis=1)


def correlations(a: Floats, b: Floats) -> dict[str, Floats]:
    """Rank correlations of strengths (teams, n), (n,) by kind; 0 where one of both ranks all alike."""
    kinds: tuple[Literal["spearman", "kendall"], ...] = ("spearman", "kendall")
    return {
        kind: np.array([rank_correlation(kind, x, y) or 0.0 for x, y in zip(a.T, b.T, strict=True)]) for kind in kinds
    }


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
    both = [_played_games(names, results) for results in (first, second)]
    a, b = (fit_strengths(*one)[:, None] for one in both)
    drawn = correlations(*(_bootstrapped(*one, rng, _BOOTSTRAP_SAMPLES) for one in both))
    answer: dict[str, Any] = {"error": float(np.sqrt(np.mean((a - b) ** 2)))}
    ends = [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2]
    for kind, found in correlations(a, b).items():
        answer[kind] = float(found[0])
        answer[f"{kind}_interval"] = np.quantile(drawn[kind], ends).tolist()
        answer[f"{kind}_above_goal"] = float(np.mean(drawn[kind] >= goal))
    return {**answer, "met": bool(answer["spearman"] >= goal)}


def ceiling_of(names: Sequence[str], results: Sequence[GameResult], rng: np.random.Generator) -> dict[str, float]:
    """The mean rank correlation between two series as long as this one."""
    games, differences = _played_games(names, results)
    a, b = (_bootstrapped(games, differences, rng, _BOOTSTRAP_SAMPLES // 2) for _ in range(2))
    return {kind: float(found.mean()) for kind, found in correlations(a, b).items()}


def _plot_worlds(path: Path, answer: Mapping[str, Any]) -> None:
    """Draws strengths in the physical world over those in the behavioural one, before and after calibration."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.8), layout="constrained")
    for axes, word in zip(figure.subplots(1, 2, sharex=True, sharey=True), ("before", "after"), strict=True):
        for row in answer["table"]:
            axes.errorbar(
                row[word],
                row["physical"],
                xerr=2 * row[f"{word}_error"],
                yerr=2 * row["physical_error"],
                fmt="o",
                color="#227848",
                capsize=2,
                linewidth=0.8,
            )
            axes.annotate(
                row["strategy"], (row[word], row["physical"]), xytext=(5, 4), textcoords="offset points", fontsize=8
            )
        axes.axline((0.0, 0.0), slope=1.0, color="0.7", linewidth=0.8, linestyle="--")
        found = answer[word]
        low, high = found["spearman_interval"]
        axes.set_title(f"{word} calibration: Spearman {found['spearman']:.2f} ({low:.2f} to {high:.2f})", fontsize=10)
        axes.set_xlabel("behavioural world, goals a game")
    figure.axes[0].set_ylabel("physical world, goals a game")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


STRATEGIES = (
    "statue",
    "everyone-chases",
    "kick-anywhere",
    "everyone-aims",
    "attacker-keeper",
    "dribblers",
    "roles-no-keeper",
    "roles",
    "wanderer",
)
"""The strategies that play: all that come with Nutmeg but `roles-pass`, which passes to nobody with two in a team."""
_WALK_NAME = "final"
"""The walk of all robots."""
RULE_BOOK = "sim3d"
"""The rules of all games."""
_BASE_BODY = "nao-spark"
"""Whose numbers and eyes the behavioural world uses before calibration."""
_RANK_GOAL = 0.8
"""The rank correlation that is aimed for."""
_RECORDED_PAIRS = ((5, 7), (2, 3), (6, 4), (1, 7), (3, 6), (5, 4), (7, 2), (3, 5))
"""Pairs whose games are recorded for the calibration; these games do not count."""
_FIRST_RECORDED_GAME = 1000
"""The number of the first recorded game."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """The number and size of games."""

    games: int
    """Physical games of each pair."""
    behavioural_games: int
    """Behavioural games of each pair, before and after the calibration each."""
    recorded: int
    """Physical games to calibrate from."""
    players: int = 2
    """Players of a team."""
    half_length: float = 100.0
    """s; there is one half."""
    field: str = "sim3d-12x8"
    strategies: tuple[str, ...] = STRATEGIES


QUICK = Size(games=3, behavioural_games=40, recorded=1, half_length=60.0, strategies=("statue", "roles"))
FULL = Size(games=4, behavioural_games=100, recorded=6)


@dataclass(frozen=True, kw_only=True)
class Settings(ExperimentSettings):
    """Options; quick means two strategies, of which one stands still, and three physical games of 60 s."""

    seed: int = 0
    """Seed of the games and of the bootstrap."""
    size: Size | None = None
    """Other sizes than those of the quick and the full version."""


def run(out: Path, settings: Settings, say: Progress = silent) -> dict[str, Any]:
    """Plays in both worlds and compares; writes worlds.png and body.toml."""
    began = time.perf_counter()
    size = settings.size or (QUICK if settings.quick else FULL)
    physical = series_of(size, settings.seed)
    found = calibrated(out, physical, size, say)
    worlds = {
        "physical": physical,
        "before": behavioural(physical, _BASE_BODY, size.behavioural_games),
        "after": behavioural(physical, str(out / "body.toml"), size.behavioural_games),
    }
    results = {word: play_series(Series(one), out, word, settings.threads, say) for word, one in worlds.items()}
    answer = compared(physical, size, results)
    answer |= {"calibration": _estimates(found), "wall_seconds": time.perf_counter() - began}
    _plot_worlds(out / "worlds.png", answer)
    return answer


def table(answer: Mapping[str, Any]) -> ResultTable:
    """Strengths of the strategies in both worlds."""
    columns = {
        "strategy": text("strategy"),
        "physical": decimal("physical", 2),
        "± error": decimal("physical_error", 2),
        "behavioural": decimal("before", 2),
        "calibrated": decimal("after", 2),
    }
    notes = [
        f"rank correlation {word} calibration: Spearman {number(one['spearman'], 2)} "
        f"({number(one['spearman_interval'][0], 2)} to {number(one['spearman_interval'][1], 2)}), "
        f"Kendall {number(one['kendall'], 2)} ({number(one['kendall_interval'][0], 2)} to "
        f"{number(one['kendall_interval'][1], 2)}); goal {answer['goal']}, met: {yes_or_no(one['met'])}. "
        f"Strengths differ by {number(one['error'], 2)} goals a game."
        for word, one in (("before", answer["before"]), ("after", answer["after"]))
    ]
    size = answer["settings"]
    notes.append(
        f"goals a game more than the opponents', {size['players']} against {size['players']} on {size['field']}, "
        f"{size['half_length']:g} s; {answer['physical_games']} physical and {answer['behavioural_games']} behavioural "
        "games."
    )
    return ResultTable.of(answer["table"], columns, *notes, *claim_notes(answer["claims"]))


def series_of(size: Size, seed: int) -> SeriesSettings:
    """The series of games in the physical world."""
    return SeriesSettings(
        name="Does the behavioural world predict?",
        team=tuple(Entrant(name=name, decide=name, walk=_WALK_NAME) for name in size.strategies),
        games=size.games,
        players=size.players,
        half_length=size.half_length,
        halves=1,
        rules=RULE_BOOK,
        field=size.field,
        seed=seed,
    )


def behavioural(settings: SeriesSettings, body: str, games: int) -> SeriesSettings:
    """The same in the behavioural world, with bodies by name or file."""
    return dataclasses.replace(settings, world="behavioural", behaviour=body, eyes=_BASE_BODY, games=games)


def calibrated(out: Path, settings: SeriesSettings, size: Size, say: Progress) -> Calibrated:
    """Records physical games that do not count, and calibrates from them; writes body.toml."""
    games, known, recordings = SeriesGames(settings, settings.walks()), series_digest(Series(settings)), []
    for k, chosen in enumerate(_RECORDED_PAIRS[: size.recorded]):
        home, away = (index % len(settings.team) for index in chosen)
        pair, number = (home, away if away != home else (home + 1) % len(settings.team)), _FIRST_RECORDED_GAME + k
        path = out / f"calibration-{known}-{number}.nutmeg"
        recordings.append(path)
        if not path.exists():
            say(f"recording game {k + 1} of {size.recorded} to calibrate from")
            with draft(path) as temporary:
                _record_game(games, pair, number, temporary)
    say("calibrating")
    found = calibrate(recordings, base=load_behaviour(_BASE_BODY), seed=settings.seed)
    write_behaviour(found.settings, out / "body.toml")
    return found


def _record_game(games: SeriesGames, pair: tuple[int, int], number: int, path: Path) -> None:
    """Plays a physical game and writes it down, with what players believe and want."""
    settings = games.settings
    seed = int(default_rng(SeedSequence(settings.seed, spawn_key=(*pair, number))).integers(2**63))
    sides = pair if number % 2 == 0 else pair[::-1]
    game = Game(
        settings.rule_book(),
        seed=seed,
        left=settings.team[sides[0]].name,
        right=settings.team[sides[1]].name,
        seats=2 * settings.players,
        kick_off=Side(number // 2 % 2),
        record=path,
        setup=PhysicalSetup(field=settings.ground),
    )
    with game:
        driver = GameLoop(game, {who: player for index in sides for who, player in games.team(index)})
        game.record_with(minds=lambda: driver.players)
        driver.run()


def compared(settings: SeriesSettings, size: Size, results: Mapping[str, Sequence[GameResult]]) -> dict[str, Any]:
    """Strengths in both worlds and how well their orders agree; results are those of `physical`, `before`, `after`."""
    names, rng = settings.names, np.random.default_rng(settings.seed)
    strengths = {word: strengths_of(names, games, rng) for word, games in results.items()}
    rows = [
        {"strategy": names[k]}
        | {word: float(found[k]) for word, (found, _) in strengths.items()}
        | {f"{word}_error": float(errors[k]) for word, (_, errors) in strengths.items()}
        for k in np.argsort(-strengths["physical"][0])
    ]
    physical = results["physical"]
    agreements = {word: agreement(names, physical, results[word], rng, goal=_RANK_GOAL) for word in ("before", "after")}
    return {
        "experiment": "behaviour-predicts",
        "table": rows,
        **agreements,
        "claims": [one.as_json() for one in _claims(agreements, len(names))],
        "ceiling": ceiling_of(names, physical, rng),
        "goal": _RANK_GOAL,
        "pairs": _pairs(settings, results),
        "settings": {**asdict(size), "seed": settings.seed},
        "physical_games": len(physical),
        "behavioural_games": len(results["before"]) + len(results["after"]),
        "goals_a_game": {word: float(np.mean([sum(one.goals) for one in games])) for word, games in results.items()},
        "falls": {word: float(np.mean([sum(one.falls) for one in games])) for word, games in results.items()},
    }


def _claims(agreements: Mapping[str, Mapping[str, Any]], teams: int) -> list[Claim]:
    """The rank correlation that is aimed for; intervals are those of the bootstrap."""
    return [
        Claim(
            what=f"rank correlation {word} calibration",
            ours=Estimate(one["spearman"], one["spearman_interval"][0], one["spearman_interval"][1], teams),
            least=_RANK_GOAL,
            digits=2,
        )
        for word, one in agreements.items()
    ]


def _pairs(settings: SeriesSettings, results: Mapping[str, Sequence[GameResult]]) -> list[dict[str, Any]]:
    """Mean goal differences of all pairs in all worlds."""
    rows = []
    for home, away in settings.pairs:
        first, second = settings.names[home], settings.names[away]
        row: dict[str, Any] = {"home": first, "away": second}
        for word, games in results.items():
            found = [one.difference for one in games if (one.home, one.away) == (first, second) and not one.failure]
            row |= {word: float(np.mean(found)) if found else None, f"{word}_games": len(found)}
        rows.append(row)
    return rows


def _estimates(found: Calibrated) -> dict[str, Any]:
    return {
        "recorded_seconds": found.seconds,
        "estimates": {
            name: {"base": found.base.number(name), "value": one.value, "low": one.low, "high": one.high}
            for name, one in found.estimates.items()
        },
    }
