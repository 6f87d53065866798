"""Does the behavioural world predict the physical one? Nine strategies play each other in both.

    answer = behaviour_predicts(Path("runs/behaviour-predicts"), quick=True, threads=2)
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

import contextlib
import dataclasses
import hashlib
import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence, default_rng

from nutmeg.base.arrays import Floats
from nutmeg.base.journal import draft, versions, write_json
from nutmeg.match.calibration.calibrate import calibrate
from nutmeg.match.game import Game
from nutmeg.match.loop import GameLoop
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.series.series import GameLog, Series, SeriesGames
from nutmeg.match.series.settings import Entrant, SeriesSettings
from nutmeg.match.worlds.behavioural.settings import load_behaviour, write_behaviour
from nutmeg.search.evaluation import InThisThread
from nutmeg.search.processes import Processes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nutmeg.match.calibration.calibrate import Calibrated
    from nutmeg.match.series.series import GameResult


# ----------------------------------------------------------------------------------------------------
# How well two series of games agree on who is stronger: rank correlations with bootstrap intervals.
#
# Strengths are those whose differences come nearest to all goal differences (least squares over games). A bootstrap
# draws games anew: what the strengths say plus the error of a game drawn from all, so that pairs with one game do not
# look certain.


BOOTSTRAP_SAMPLES = 1000
CONFIDENCE_LEVEL = 0.95


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
    return _fit(rows, differences), _drawn(rows, differences, rng, BOOTSTRAP_SAMPLES).std(axis=1)


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
    drawn_a, drawn_b = (_drawn(*one, rng, BOOTSTRAP_SAMPLES) for one in designs)
    answer: dict[str, Any] = {"error": float(np.sqrt(np.mean((a - b) ** 2)))}
    for word, of in (("spearman", spearman), ("kendall", kendall)):
        drawn = [of(x, y) for x, y in zip(drawn_a.T, drawn_b.T, strict=True)]
        answer[word] = of(a, b)
        answer[f"{word}_interval"] = np.quantile(
            drawn, [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2]
        ).tolist()
        answer[f"{word}_above_goal"] = float(np.mean(np.array(drawn) >= goal))
    return {**answer, "met": bool(answer["spearman"] >= goal)}


def ceiling_of(names: Sequence[str], results: Sequence[GameResult], rng: np.random.Generator) -> dict[str, float]:
    """How well two series as long as this one would agree with each other, on average."""
    rows, differences = design(names, results)
    a, b = (_drawn(rows, differences, rng, BOOTSTRAP_SAMPLES // 2) for _ in range(2))
    return {
        word: float(np.mean([of(x, y) for x, y in zip(a.T, b.T, strict=True)]))
        for word, of in (("spearman", spearman), ("kendall", kendall))
    }


# ----------------------------------------------------------------------------------------------------
# The picture of strengths in both worlds: physical against behavioural, before and after calibration.


def plot_worlds(path: Path, answer: Mapping[str, Any]) -> None:
    """Writes the picture."""
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
"""Who plays: all that come with Nutmeg but `roles-pass`, who with two in a team has nobody to pass to."""
WALK_NAME, RULE_BOOK, BASE_BODY, RANK_GOAL = "final", "sim3d", "nao-spark", 0.8
"""How robots walk, what the referee judges by, whose numbers and eyes are taken before calibration, what is hoped for.
"""
RECORDED_PAIRS = ((5, 7), (2, 3), (6, 4), (1, 7), (3, 6), (5, 4), (7, 2), (3, 5))
"""Pairs whose games are recorded for the calibration; these games do not count."""
FIRST_RECORDED_GAME = 1000
"""Their numbers begin here."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is played."""

    games: int
    """Physical games of each pair."""
    behavioural_games: int
    """Behavioural games of each pair, before and after the calibration each."""
    recorded: int
    """Physical games to calibrate from."""
    players: int = 2
    """Of a team."""
    half_length: float = 100.0
    """s; there is one half."""
    field: str = "sim3d-12x8"
    strategies: tuple[str, ...] = STRATEGIES


QUICK = Size(games=1, behavioural_games=4, recorded=1, half_length=15.0, strategies=STRATEGIES[:8:2])
FULL = Size(games=4, behavioural_games=100, recorded=6)


def behaviour_predicts(
    out: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    threads: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
    size: Size | None = None,
) -> dict[str, Any]:
    """Plays in both worlds and compares; writes worlds.png, body.toml and results.json.

    Args:
        out: folder for the results.
        quick: four strategies and games of 15 s, to see that it works; its numbers mean nothing.
        seed: of everything random.
        threads: how many processes or threads play; the result is the same.
        on_progress: called with what is being done.
        size: other sizes.
    """
    began = time.perf_counter()
    size = size or (QUICK if quick else FULL)
    settings = series_of(size, seed)
    found = calibrated(out, settings, size, on_progress)
    worlds = {
        "physical": settings,
        "before": behavioural(settings, BASE_BODY, size.behavioural_games),
        "after": behavioural(settings, str(out / "body.toml"), size.behavioural_games),
    }
    results = {word: played(out, word, one, threads, on_progress) for word, one in worlds.items()}
    answer = compared(settings, size, results["physical"], results["before"], results["after"])
    answer |= {"calibration": _told(found), "wall_seconds": time.perf_counter() - began}
    write_json(out / "results.json", answer)
    plot_worlds(out / "worlds.png", answer)
    return answer


def series_of(size: Size, seed: int) -> SeriesSettings:
    """Who plays whom in the physical world."""
    return SeriesSettings(
        name="Does the behavioural world predict?",
        team=tuple(Entrant(name=name, decide=name, walk=WALK_NAME) for name in size.strategies),
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
    return dataclasses.replace(settings, world="behavioural", behaviour=body, eyes=BASE_BODY, games=games)


def played(
    out: Path, word: str, settings: SeriesSettings, threads: int, on_progress: Callable[[str], None]
) -> list[GameResult]:
    """Plays a series, or reads what was played."""
    series = Series(settings)
    evaluator = InThisThread(piece=series.piece) if threads == 1 else Processes(threads, piece=series.piece)
    with contextlib.closing(evaluator):
        return series.play(
            evaluator,
            log=GameLog(out / f"{word}-{digest(series)}.jsonl"),
            at_once=1 if threads == 1 else 2 * threads,
            on_game=lambda done, count: on_progress(f"{word}: game {done} of {count}"),
        )


def digest(series: Series) -> str:
    """Of all that decides how a game ends but for its number, so that games of other settings are not mixed up."""
    text = json.dumps([series.described(), series.settings.seed, versions()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def calibrated(out: Path, settings: SeriesSettings, size: Size, on_progress: Callable[[str], None]) -> Calibrated:
    """Records physical games that do not count, and calibrates from them; writes body.toml."""
    games, known, recordings = SeriesGames(settings, settings.walks()), digest(Series(settings)), []
    for k, chosen in enumerate(RECORDED_PAIRS[: size.recorded]):
        home, away = (index % len(settings.team) for index in chosen)
        pair, number = (home, away if away != home else (home + 1) % len(settings.team)), FIRST_RECORDED_GAME + k
        path = out / f"calibration-{known}-{number}.nutmeg"
        recordings.append(path)
        if not path.exists():
            on_progress(f"recording game {k + 1} of {size.recorded} to calibrate from")
            with draft(path) as temporary:
                record_game(games, pair, number, temporary)
    on_progress("calibrating")
    found = calibrate(recordings, base=load_behaviour(BASE_BODY), seed=settings.seed)
    out.mkdir(parents=True, exist_ok=True)
    write_behaviour(found.settings, out / "body.toml")
    return found


def record_game(games: SeriesGames, pair: tuple[int, int], number: int, path: Path) -> None:
    """Plays a physical game and writes it down, with what players believe and want."""
    settings = games.settings
    seed = int(default_rng(SeedSequence(settings.seed, spawn_key=(*pair, number))).integers(2**63))
    sides = pair if number % 2 == 0 else pair[::-1]
    game = Game(
        settings.rule_book(),
        seed=seed,
        left=settings.team[sides[0]].name,
        right=settings.team[sides[1]].name,
        field=settings.ground,
        players=2 * settings.players,
        kick_off=Side(number // 2 % 2),
        record=path,
    )
    with game:
        driver = GameLoop(game, {who: player for index in sides for who, player in games.team(index)})
        game.record_with(minds=lambda: driver.players)
        driver.run()


def compared(
    settings: SeriesSettings,
    size: Size,
    physical: Sequence[GameResult],
    before: Sequence[GameResult],
    after: Sequence[GameResult],
) -> dict[str, Any]:
    """Strengths in both worlds and how well their orders agree."""
    names, rng = settings.names, np.random.default_rng(settings.seed)
    real, error = strengths_of(names, physical, rng)
    worlds = {word: strengths_of(names, games, rng) for word, games in (("before", before), ("after", after))}
    order = np.argsort(-real)
    table = [
        {
            "strategy": names[k],
            "physical": float(real[k]),
            "physical_error": float(error[k]),
            **{word: float(found[k]) for word, (found, _) in worlds.items()},
            **{f"{word}_error": float(errors[k]) for word, (_, errors) in worlds.items()},
        }
        for k in order
    ]
    agreements = {
        word: agreement(names, physical, games, rng, goal=RANK_GOAL)
        for word, games in (("before", before), ("after", after))
    }
    return {
        "experiment": "behaviour-predicts",
        "table": table,
        **agreements,
        "ceiling": ceiling_of(names, physical, rng),
        "goal": RANK_GOAL,
        "pairs": _pairs(settings, physical, before, after),
        "settings": {**asdict(size), "seed": settings.seed},
        "physical_games": len(physical),
        "behavioural_games": len(before) + len(after),
        "goals": {
            word: float(np.mean([sum(one.goals) for one in games]))
            for word, games in (("physical", physical), ("before", before), ("after", after))
        },
        "falls": {
            word: float(np.mean([sum(one.falls) for one in games]))
            for word, games in (("physical", physical), ("before", before), ("after", after))
        },
    }


def _pairs(settings: SeriesSettings, *worlds: Sequence[GameResult]) -> list[dict[str, Any]]:
    """Mean goal differences of all pairs in all worlds."""
    rows = []
    for home, away in settings.pairs:
        first, second = settings.names[home], settings.names[away]
        row: dict[str, Any] = {"home": first, "away": second}
        for word, games in zip(("physical", "before", "after"), worlds, strict=True):
            found = [one.difference for one in games if (one.home, one.away) == (first, second) and not one.failure]
            row |= {word: float(np.mean(found)) if found else None, f"{word}_games": len(found)}
        rows.append(row)
    return rows


def _told(found: Calibrated) -> dict[str, Any]:
    return {
        "recorded_seconds": found.seconds,
        "estimates": {
            name: {"base": found.base.number(name), "value": one.value, "low": one.low, "high": one.high}
            for name, one in found.estimates.items()
        },
    }
