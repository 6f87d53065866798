"""Table 3 of MacAlpine and others (2012): the agents with their walks play against each other.

    answer = walk_table3(Path("runs/walk-table3"), quick=True, threads=2)
    answer["pairs"][0]                      # DynamicRewards against Final: ours, the paper's, and whether they agree
    answer["order"], answer["paper_order"]  # the agents from the strongest to the weakest

The paper played 100 games of ten minutes, nine against nine, for each of its pairs: the ten of table 3, and three that
sections 5.1 to 5.3 tell. Here all agents are the built-in team, whose tactics are not the paper's, and games are
smaller and shorter unless `scale="paper"` is asked for; the answer says how large and long they were. Each game is kept
as it ends: the same command goes on where it was interrupted. Agents whose walk is not there are left out.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.journal import versions, write_json
from nutmeg.learning.agents import AGENTS, agent_walks
from nutmeg.match.series.series import GameLog, Series
from nutmeg.match.series.settings import Entrant, SeriesSettings
from nutmeg.match.series.standings import standings
from nutmeg.search.evaluation import InThisThread
from nutmeg.search.processes import Processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from nutmeg.match.series.series import GameResult
    from nutmeg.match.series.standings import Record
    from nutmeg.motion.walk.files import WalkParameters


# ----------------------------------------------------------------------------------------------------
# The picture of table 3: goal differences of all pairs, ours and the paper's, each with twice its standard error.


def plot_differences(path: Path, pairs: Sequence[Mapping[str, Any]]) -> None:
    """Writes the picture."""
    from matplotlib.figure import Figure

    shown = [row for row in pairs if row["difference"] is not None]
    figure = Figure(figsize=(8.0, 1.2 + 0.38 * max(len(shown), 1)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(shown):
        error = 2 * (row["error"] or 0.0)
        axes.errorbar(row["difference"], place - 0.12, xerr=error, fmt="o", color="#227848", capsize=3)
        axes.errorbar(
            row["paper_difference"], place + 0.12, xerr=2 * row["paper_error"], fmt="s", color="#d9772b", capsize=3
        )
    axes.plot([], [], "o", color="#227848", label="here, ± 2 standard errors")
    axes.plot([], [], "s", color="#d9772b", label="paper")
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set_yticks(range(len(shown)), [f"{row['home']} – {row['away']}" for row in shown])
    axes.invert_yaxis()
    axes.set_xlabel("goals a game, first minus second")
    axes.legend(loc="best", fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


PAPER_DIFFERENCES: dict[tuple[str, str], tuple[float, float]] = {
    ("DynamicRewards", "Final"): (0.20, 0.08),
    ("DynamicRewards", "FaceForward"): (3.27, 0.09),
    ("DynamicRewards", "StaticRewards"): (3.18, 0.11),
    ("DynamicRewards", "DynamicAvgRewards"): (-0.06, 0.07),
    ("DynamicAvgRewards", "Final"): (0.10, 0.07),
    ("DynamicAvgRewards", "FaceForward"): (3.49, 0.11),
    ("DynamicAvgRewards", "StaticRewards"): (2.88, 0.11),
    ("StaticRewards", "Final"): (-2.77, 0.13),
    ("StaticRewards", "FaceForward"): (0.22, 0.06),
    ("FaceForward", "Final"): (-2.99, 0.12),
    ("GoToTarget", "Initial"): (8.82, 0.11),
    ("Sprint", "GoToTarget"): (0.09, 0.07),
    ("Final", "Sprint"): (0.15, 0.07),
}
"""Mean goal differences of the first agent and their standard errors: table 3, then sections 5.1, 5.2 and 5.3."""
CLEAR_ERRORS = 2.0
"""A difference of at most so many standard errors is taken for none."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is played."""

    games: int
    """Of each pair."""
    players: int
    """Of a team."""
    half_length: float
    """s."""
    halves: int


SIZES = {
    "quick": Size(games=1, players=1, half_length=80.0, halves=1),
    "middle": Size(games=8, players=2, half_length=120.0, halves=1),
    "full": Size(games=10, players=4, half_length=300.0, halves=1),
    "paper": Size(games=100, players=9, half_length=300.0, halves=2),
}


def walk_table3(
    out: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    scale: str | None = None,
    walks: Path | None = None,
    threads: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
    size: Size | None = None,
) -> dict[str, Any]:
    """Plays all pairs of the paper; writes table-3.png, report.html and results.json.

    Args:
        out: folder for the results.
        quick: one game of 80 s of each pair, one against one.
        seed: of everything random.
        scale: quick, middle, full or paper, for how many games of which size.
        walks: a folder with other walks than those that come with Nutmeg.
        threads: how many processes play; the result is the same.
        on_progress: called with what is being done.
        size: other sizes.
    """
    began = time.perf_counter()
    size = size or _size(scale or ("quick" if quick else "full"))
    known, missing = agent_walks(walks)
    series = _series(known, size, seed)
    evaluator = InThisThread(piece=Series.piece) if threads == 1 else Processes(threads, piece=Series.piece)
    with contextlib.closing(evaluator):
        results = series.play(
            evaluator,
            log=GameLog(out / f"games-{_digest(series)}.jsonl"),
            at_once=1 if threads == 1 else 2 * threads,
            on_game=lambda done, count: on_progress(f"game {done} of {count}"),
        )
    answer = _answer(series, results, size)
    answer |= {"missing": list(missing), "wall_seconds": time.perf_counter() - began}
    write_json(out / "results.json", answer)
    plot_differences(out / "table-3.png", answer["pairs"])
    _report(out, series, results, answer)
    return answer


def _size(name: str) -> Size:
    if name not in SIZES:
        raise UnknownNameError("scale of walk-table3", name, SIZES)
    return SIZES[name]


def _series(known: Mapping[str, WalkParameters], size: Size, seed: int) -> Series:
    settings = SeriesSettings(
        name="Table 3",
        team=tuple(Entrant(name=name, walk=AGENTS[name].walk) for name in known),
        only=tuple(pair for pair in PAPER_DIFFERENCES if set(pair) <= set(known)),
        seed=seed,
        games=size.games,
        players=size.players,
        half_length=size.half_length,
        halves=1 if size.halves == 1 else 2,
    )
    return Series(settings, tuple(known.values()))


def _digest(series: Series) -> str:
    """Of all that decides how a game ends but for its number, so that games of other settings are not mixed up."""
    text = json.dumps([series.described(), series.settings.seed, versions()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _answer(series: Series, results: Sequence[GameResult], size: Size) -> dict[str, Any]:
    settings = series.settings
    table = standings(settings.names, results)
    pairs = [_pair(home, away, table.pairs[home, away]) for home, away in settings.only]
    ours = {(row["home"], row["away"]): row["difference"] for row in pairs if row["difference"] is not None}
    paper = {pair: PAPER_DIFFERENCES[pair][0] for pair in ours}
    strengths, paper_strengths = fitted_strengths(ours), fitted_strengths(paper)
    return {
        "experiment": "walk-table3",
        "pairs": pairs,
        "agreements": {word: sum(row["verdict"] == word for row in pairs) for word in ("agrees", "open", "differs")},
        "order": _order(strengths),
        "paper_order": _order(paper_strengths),
        "strengths": strengths,
        "paper_strengths": paper_strengths,
        "rank_correlation": rank_correlation(strengths, paper_strengths),
        "settings": {**asdict(size), "seed": settings.seed, "rules": settings.rules},
        "broken": [f"{one.home} – {one.away}, {one.number}: {one.failure}" for one in results if one.failure],
    }


def _pair(home: str, away: str, record: Record) -> dict[str, Any]:
    told, error = PAPER_DIFFERENCES[home, away]
    return {
        "home": home,
        "away": away,
        **record.as_json(),
        "paper_difference": told,
        "paper_error": error,
        "verdict": verdict(record.difference, record.error, told, error),
    }


def verdict(ours: float | None, error: float | None, paper: float, paper_error: float) -> str:
    """Whether both say the same: `agrees`, `differs`, or `open` where ours does not say who is better."""
    theirs = _sign(paper, paper_error)
    if ours is None or error is None:
        return "open"
    own = _sign(ours, error)
    if own == theirs:
        return "agrees"
    return "differs" if own else "open"


def _sign(difference: float, error: float) -> int:
    return 0 if abs(difference) <= CLEAR_ERRORS * error else int(math.copysign(1, difference))


def fitted_strengths(differences: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """A number for each agent, so that their differences come nearest to those of the pairs; their mean is 0.

    The least squares of s_home - s_away - difference over all pairs.
    """
    names = sorted({name for pair in differences for name in pair})
    if not names:
        return {}
    system = np.zeros((len(differences) + 1, len(names)))
    for row, (home, away) in enumerate(differences):
        system[row, names.index(home)], system[row, names.index(away)] = 1.0, -1.0
    system[-1] = 1.0
    found = np.linalg.lstsq(system, np.array([*differences.values(), 0.0]), rcond=None)[0]
    return dict(zip(names, found.tolist(), strict=True))


def _order(strengths: Mapping[str, float]) -> list[str]:
    return sorted(strengths, key=lambda name: -strengths[name])


def rank_correlation(ours: Mapping[str, float], paper: Mapping[str, float]) -> float | None:
    """Spearman's, from -1 to 1; None for fewer than two agents, or where all are alike."""
    names = [name for name in ours if name in paper]
    if len(names) < 2:
        return None
    ranks = np.array([_ranks([values[name] for name in names]) for values in (ours, paper)])
    spread = ranks.std(axis=1)
    if not spread.all():
        return None
    return float(((ranks[0] - ranks[0].mean()) * (ranks[1] - ranks[1].mean())).mean() / spread.prod())


def _ranks(values: Iterable[float]) -> list[float]:
    """Ranks from 1; equal values have the mean of theirs."""
    numbers = list(values)
    return [sum(other < value for other in numbers) + (1 + numbers.count(value)) / 2 for value in numbers]


def _report(out: Path, series: Series, results: Sequence[GameResult], answer: Mapping[str, Any]) -> None:
    from nutmeg.view.reports.series import SeriesReport, write_series_report

    report = SeriesReport(
        settings=series.settings,
        results=results,
        command="nutmeg reproduce walk-table3",
        seconds=answer["wall_seconds"],
        paper=PAPER_DIFFERENCES,
    )
    write_series_report(out / "report.html", report)
