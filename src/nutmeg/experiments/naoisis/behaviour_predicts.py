"""Does the behavioural world predict the physical one? All strategies play each other in both.

    answer = run(Path("runs/behaviour-predicts"), Settings(quick=True, threads=2))
    answer["before"]["spearman"], answer["after"]["spearman"]   # rank correlations with the physical world, by goals
    answer["measures"]["progress"]["after"]["spearman_interval"]    # the same by a finer measure
    answer["measures"]["progress"]["ceiling"]

Twelve strategies (`match.players.tactics.strategies`), from one that stands still to that of the built-in team, play
each other with bodies that have joints, and without: before calibration, with the numbers of `nao-spark`, and after,
with those that `match.calibration` finds in recordings of other physical games. A strategy is as strong as the
differences between it and its opponents say (least squares over all pairs), by goals, and by what changes more often
than the score (`match.series.ball_control`): progress of the ball, possession, shots, expected goals. What counts is
whether both worlds put the strategies into the same order. The goal is a rank correlation of 0.8, also without any
single strategy, and no lower after calibration than before.

Intervals are those of a bootstrap over games: each difference is what the strengths say plus the error of a game drawn
from all. A few physical games do not give the order exactly; `ceiling` says how well two such physical series would
agree with each other, and no world can agree much better. Each game is kept as it ends: the same command goes on where
it was interrupted.
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
from nutmeg.experiments import experiment
from nutmeg.experiments.experiment import number
from nutmeg.match.calibration.calibrate import calibrate
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.tactics.strategies import (
    BOOSTER_KICKS_NAME,
    BOOSTER_NAME,
    NETWORK_DRIBBLES_NAME,
    strategy_names,
)
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.series.series import Series, SeriesGames
from nutmeg.match.series.settings import Entrant, SeriesSettings
from nutmeg.match.worlds.behavioural.settings import load_behaviour, write_behaviour

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nutmeg.match.calibration.calibrate import Calibrated
    from nutmeg.match.series.series import GameResult

Measure = Literal["goals", "progress", "possession", "shots", "expected_goals"]
_MEASURES: dict[Measure, str] = {
    "goals": "goals a game",
    "progress": "mean place of the ball, half lengths of the pitch",
    "possession": "share of the time nearest to the ball",
    "shots": "shots a game",
    "expected_goals": "expected goals a game",
}
"""Measures by which strategies are compared: a number of each team of a game minus that of its opponent."""


# Agreement of two series of games about the strengths of teams: rank correlations with bootstrap intervals.
#
# Strengths are those whose differences come nearest to the differences of all games (least squares over games). A
# bootstrap draws games anew: what the strengths say plus the error of a game drawn from all, so that pairs with one
# game do not look certain.


_BOOTSTRAP_SAMPLES = 1000


@dataclass(frozen=True)
class Strengths:
    """Strengths of strategies relative to an average opponent, by a measure."""

    found: Floats
    """Strength of each strategy in all games, (teams,)."""
    drawn: Floats
    """Strengths from bootstrap samples of the games, (teams, samples)."""

    @classmethod
    def of(
        cls, names: Sequence[str], results: Sequence[GameResult], measure: Measure, rng: np.random.Generator
    ) -> Strengths:
        """The strengths of teams from games; those that broke off, or were played by others, do not count."""
        played = [one for one in results if not one.failure and {one.home, one.away} <= set(names)]
        games = experiment.games_matrix(names, [(one.home, one.away) for one in played])
        pairs = (getattr(one, measure) for one in played)
        differences = np.array([first - second for first, second in pairs], float)
        found = experiment.fit_strengths(games, differences)
        fitted = games @ found
        # A fit leaves smaller residuals than the errors are: teams - 1 degrees of freedom are used up.
        errors = (differences - fitted) * np.sqrt(len(fitted) / max(len(fitted) - games.shape[1] + 1, 1))
        drawn = fitted[:, None] + rng.choice(errors, (len(errors), _BOOTSTRAP_SAMPLES))
        return cls(found, experiment.fit_strengths(games, drawn))

    @property
    def errors(self) -> Floats:
        """Standard errors, (teams,)."""
        return np.asarray(self.drawn.std(axis=1))


def correlations(a: Floats, b: Floats) -> dict[str, Floats]:
    """Rank correlations of strengths (teams, n), (n,) by kind; 0 where one of both ranks all alike."""
    kinds: tuple[Literal["spearman", "kendall"], ...] = ("spearman", "kendall")
    return {
        kind: np.array([experiment.rank_correlation(kind, x, y) or 0.0 for x, y in zip(a.T, b.T, strict=True)])
        for kind in kinds
    }


def agreement(first: Strengths, second: Strengths) -> dict[str, Any]:
    """Rank correlations between two series and their intervals.

    `error` is by how much strengths differ (root mean square). Games drawn anew have their luck twice, in both series,
    so that intervals lie lower than the correlation of what was played.
    """
    answer: dict[str, Any] = {"error": float(np.sqrt(np.mean((first.found - second.found) ** 2)))}
    drawn = correlations(first.drawn, second.drawn)
    for kind, found in correlations(first.found[:, None], second.found[:, None]).items():
        answer[kind] = float(found[0])
        answer[f"{kind}_interval"] = _interval(drawn[kind])
        answer[f"{kind}_above_goal"] = float(np.mean(drawn[kind] >= _RANK_GOAL))
    return {**answer, "met": bool(answer["spearman"] >= _RANK_GOAL)}


def _interval(drawn: Floats) -> list[float]:
    level = experiment.CONFIDENCE_LEVEL
    return [float(np.quantile(drawn, share)) for share in ((1 - level) / 2, (1 + level) / 2)]


def ceiling_of(series: Strengths) -> dict[str, float]:
    """The mean rank correlation between two series as long as this one: one half of the drawn games and the other."""
    half = series.drawn.shape[1] // 2
    found = correlations(series.drawn[:, :half], series.drawn[:, half : 2 * half])
    return {kind: float(one.mean()) for kind, one in found.items()}


def without_each(
    names: Sequence[str], first: Sequence[GameResult], second: Sequence[GameResult], measure: Measure
) -> dict[str, float]:
    """Spearman's rank correlation between two series without each of the strategies, by its name."""
    found = {}
    for left_out in names if len(names) > 2 else ():
        others, rng = [name for name in names if name != left_out], default_rng(0)
        a, b = (Strengths.of(others, results, measure, rng).found for results in (first, second))
        found[left_out] = experiment.rank_correlation("spearman", a, b) or 0.0
    return found


def _plot_worlds(path: Path, answer: Mapping[str, Any]) -> None:
    """Draws strengths in the physical world over those in the calibrated behavioural one, measure by measure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16.0, 9.6), layout="constrained")
    for place, (measure, unit) in enumerate(_MEASURES.items(), start=1):
        axes = figure.add_subplot(2, 3, place)
        one = answer["measures"][measure]
        for row in one["table"]:
            axes.errorbar(
                row["after"],
                row["physical"],
                xerr=2 * row["after_error"],
                yerr=2 * row["physical_error"],
                fmt="o",
                color="#227848",
                capsize=2,
                linewidth=0.8,
            )
            axes.annotate(
                row["strategy"], (row["after"], row["physical"]), xytext=(5, 4), textcoords="offset points", fontsize=7
            )
        axes.axline((0.0, 0.0), slope=1.0, color="0.7", linewidth=0.8, linestyle="--")
        low, high = one["after"]["spearman_interval"]
        axes.set_title(
            f"{measure.replace('_', ' ')}: Spearman {one['after']['spearman']:.2f} ({low:.2f} to {high:.2f})",
            fontsize=10,
        )
        axes.set_xlabel(f"behavioural world after calibration, {unit}", fontsize=8)
        axes.set_ylabel("physical world", fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


_NOT_PLAYED = (BOOSTER_NAME, BOOSTER_KICKS_NAME, NETWORK_DRIBBLES_NAME)
STRATEGIES = tuple(name for name in strategy_names() if name not in _NOT_PLAYED)
"""The strategies that play: all that come with Nutmeg, but those for taller robots, and one that only the physical
world tells from `builtin`."""
_WALK_NAME = "final"  # the walk of all robots
RULE_BOOK = "sim3d"
"""The rules of all games."""
_BASE_BODY = "nao-spark"  # robot whose numbers and cameras the behavioural world uses before calibration
_CALIBRATIONS = ("before", "after")
_RANK_GOAL = 0.8  # the rank correlation that is aimed for
_RECORDED_PAIRS = ((6, 8), (3, 4), (7, 5), (11, 8), (4, 7), (10, 6), (9, 3), (2, 11))
"""Pairs whose games are recorded for the calibration; these games do not count."""
_FIRST_RECORDED_GAME = 1000  # the number of the first recorded game


@dataclass(frozen=True, kw_only=True)
class Size:
    """The number and size of games."""

    games: int
    """Physical games of each pair."""
    behavioural_games: int
    """Behavioural games of each pair, before and after the calibration each."""
    recorded: int
    """Physical games to calibrate from."""
    players: int = 3
    """Players of a team; with two, nobody is free to be passed to."""
    half_length: float = 100.0
    """s; there is one half."""
    field: str = "sim3d-12x8"
    strategies: tuple[str, ...] = STRATEGIES


QUICK = Size(games=3, behavioural_games=40, recorded=1, players=2, half_length=60.0, strategies=("statue", "roles"))
FULL = Size(games=3, behavioural_games=30, recorded=6)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means two strategies, of which one stands still, and three physical games of 60 s."""

    seed: int = 0
    """Seed of the games and of the bootstrap."""
    size: Size | None = None
    """Other sizes than those of the quick and the full version."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
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
    results = {
        word: experiment.play_series(Series(one), out, word, settings.threads, say) for word, one in worlds.items()
    }
    answer = compared(physical, size, results)
    answer |= {"calibration": _estimates(found), "wall_seconds": time.perf_counter() - began}
    _plot_worlds(out / "worlds.png", answer)
    return answer


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Strengths of the strategies in both worlds, by goals and by the progress of the ball."""
    finer = {row["strategy"]: row for row in answer["measures"]["progress"]["table"]}
    rows = [{**row, "progress": finer[row["strategy"]]} for row in answer["table"]]
    columns = {
        "strategy": experiment.text("strategy"),
        "physical": experiment.decimal("physical", 2),
        "± error": experiment.decimal("physical_error", 2),
        "behavioural": experiment.decimal("before", 2),
        "calibrated": experiment.decimal("after", 2),
        "progress, physical": lambda row: number(row["progress"]["physical"], 3),
        "progress, calibrated": lambda row: number(row["progress"]["after"], 3),
    }
    notes = []
    for measure, one in answer["measures"].items():
        shown = (
            f"{word} {number(one[word]['spearman'], 2)} ({number(one[word]['spearman_interval'][0], 2)} to "
            f"{number(one[word]['spearman_interval'][1], 2)})"
            for word in ("before", "after")
        )
        least = min(one["without"].items(), key=lambda found: found[1], default=None)
        notes.append(
            f"rank correlation by {measure.replace('_', ' ')} (Spearman): {', '.join(shown)} calibration; two physical "
            f"series: {number(one['ceiling']['spearman'], 2)}"
            + ("." if least is None else f"; after calibration without {least[0]}: {number(least[1], 2)}.")
        )
    size = answer["settings"]
    notes.append(
        f"goals a game more than the opponents', {size['players']} against {size['players']} on {size['field']}, "
        f"{size['half_length']:g} s; {answer['physical_games']} physical and {answer['behavioural_games']} behavioural "
        "games."
    )
    return experiment.ResultTable.of(rows, columns, *notes, *experiment.claim_notes(answer["claims"]))


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
    """The series in the behavioural world, with bodies by name or file."""
    return dataclasses.replace(settings, world="behavioural", behaviour=body, eyes=_BASE_BODY, games=games)


def calibrated(out: Path, settings: SeriesSettings, size: Size, say: experiment.Progress) -> Calibrated:
    """Records physical games that do not count, and calibrates from them; writes body.toml."""
    games, known, recordings = SeriesGames(settings, settings.walks()), experiment.series_digest(Series(settings)), []
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
    """Plays a physical game and records it with the players' beliefs and intentions."""
    settings = games.settings
    seed = int(default_rng(SeedSequence(settings.seed, spawn_key=(*pair, number))).integers(2**63))
    sides = pair if number % 2 == 0 else pair[::-1]
    game = Game(
        settings.rule_book(),
        seed=seed,
        left=settings.team[sides[0]].name,
        right=settings.team[sides[1]].name,
        seats=2 * settings.players,
        record=path,
        setup=PhysicalSetup(field=settings.ground, kick_off=Side(number // 2 % 2)),
    )
    with game:
        driver = GameLoop(game, {who: player for index in sides for who, player in games.team(index)})
        game.record_with(minds=lambda: driver.players)
        driver.run()


def compared(settings: SeriesSettings, size: Size, results: Mapping[str, Sequence[GameResult]]) -> dict[str, Any]:
    """Strengths in both worlds and how well their orders agree; results are those of `physical`, `before`, `after`."""
    rng = np.random.default_rng(settings.seed)
    measures = {measure: _by_measure(settings.names, results, measure, rng) for measure in _MEASURES}
    goals = measures["goals"]
    return {
        "experiment": "behaviour-predicts",
        **{key: goals[key] for key in ("table", "before", "after", "ceiling")},
        "measures": measures,
        "claims": [
            one.as_json() for measure, found in measures.items() for one in _claims(measure, found, len(settings.names))
        ],
        "goal": _RANK_GOAL,
        "pairs": _pairs(settings, results),
        "settings": {**asdict(size), "seed": settings.seed},
        "physical_games": len(results["physical"]),
        "behavioural_games": len(results["before"]) + len(results["after"]),
        "goals_a_game": {word: float(np.mean([sum(one.goals) for one in games])) for word, games in results.items()},
        "falls": {word: float(np.mean([sum(one.falls) for one in games])) for word, games in results.items()},
    }


def _by_measure(
    names: Sequence[str], results: Mapping[str, Sequence[GameResult]], measure: Measure, rng: np.random.Generator
) -> dict[str, Any]:
    """Strengths in all worlds by a measure, and how well the behavioural ones agree with the physical one."""
    worlds = {word: Strengths.of(names, games, measure, rng) for word, games in results.items()}
    physical, before, after = (worlds[word] for word in ("physical", "before", "after"))
    drawn = [correlations(physical.drawn, one.drawn)["spearman"] for one in (before, after)]
    return {
        "table": [
            {"strategy": names[k]}
            | {word: float(one.found[k]) for word, one in worlds.items()}
            | {f"{word}_error": float(one.errors[k]) for word, one in worlds.items()}
            for k in np.argsort(-physical.found)
        ],
        "before": agreement(physical, before),
        "after": agreement(physical, after),
        "change_interval": _interval(drawn[1] - drawn[0]),
        "without": without_each(names, results["physical"], results["after"], measure),
        "ceiling": ceiling_of(physical),
    }


def _claims(measure: Measure, found: Mapping[str, Any], teams: int) -> list[experiment.Claim]:
    """The rank correlation that is aimed for, and that calibration does not lower it; intervals are bootstrapped."""

    def estimate(mean: float, interval: Sequence[float]) -> experiment.Estimate:
        return experiment.Estimate(mean, interval[0], interval[1], teams)

    by = {word: estimate(found[word]["spearman"], found[word]["spearman_interval"]) for word in _CALIBRATIONS}
    change = estimate(by["after"].mean - by["before"].mean, found["change_interval"])
    return [
        *(
            experiment.Claim(
                what=f"{measure}: rank correlation {word} calibration", ours=one, least=_RANK_GOAL, digits=2
            )
            for word, one in by.items()
        ),
        experiment.Claim(what=f"{measure}: rank correlation gained by calibration", ours=change, least=0.0, digits=2),
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
