"""Table 3 of MacAlpine and others (2012): the agents with their walks play against each other.

    answer = run(Path("runs/walk-table3"), Settings(quick=True, threads=2))
    answer["pairs"][0]                      # DynamicRewards against Final: ours, the paper's, and whether they agree
    answer["order"], answer["paper_order"]  # the agents from the strongest to the weakest

The paper played 100 games of ten minutes, nine against nine, for each of its pairs: the ten of table 3, and three that
sections 5.1 to 5.3 tell. Here all agents are the built-in team, whose tactics are not the paper's, and games are
smaller and shorter unless `scale="paper"` is asked for; the answer says how large and long they were. Each game is kept
as it ends: the same command goes on where it was interrupted. Agents whose walk is not there are left out.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.experiments import experiment
from nutmeg.learning.agents import AGENTS, agent_walks
from nutmeg.match.series.series import Series
from nutmeg.match.series.settings import Entrant, SeriesSettings
from nutmeg.match.series.standings import standings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.match.series.series import GameResult
    from nutmeg.match.series.standings import Record
    from nutmeg.motion.walk.files import WalkParameters


def _plot_differences(path: Path, pairs: Sequence[Mapping[str, Any]], longer: float) -> None:
    """Draws the goal differences of all pairs, ours and the paper's, each with twice its standard error.

    Games of the paper are `longer` times as long as ours.
    """
    from matplotlib.figure import Figure

    shown = [row for row in pairs if row["difference"] is not None]
    figure = Figure(figsize=(8.0, 1.2 + 0.38 * max(len(shown), 1)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(shown):
        ours, error = longer * row["difference"], longer * 2 * (row["error"] or 0.0)
        axes.errorbar(ours, place - 0.12, xerr=error, fmt="o", color="#227848", capsize=3)
        axes.errorbar(
            row["paper_difference"], place + 0.12, xerr=2 * row["paper_error"], fmt="s", color="#d9772b", capsize=3
        )
    axes.plot([], [], "o", color="#227848", label="here, ± 2 standard errors")
    axes.plot([], [], "s", color="#d9772b", label="paper")
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set_yticks(range(len(shown)), [f"{row['home']} – {row['away']}" for row in shown])
    axes.invert_yaxis()
    axes.set_xlabel(f"goals in {_PAPER_SECONDS:g} s, first minus second")
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
_TOLERANCE = 0.25
"""A difference counts as the paper's within this share of it."""
_MIN_TOLERANCE = 0.5
"""Smallest tolerance of a goal difference, in goals in 600 s."""
_PAPER_SECONDS = 600.0
"""Length of the paper's games; differences of shorter games are scaled to it before they are compared [s]."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """The number and size of games."""

    games: int
    """Games of each pair."""
    players: int
    """Players of a team."""
    half_length: float
    """Length of a half [s]."""
    halves: int
    pairs: tuple[tuple[str, str], ...] = tuple(PAPER_DIFFERENCES)

    @property
    def longer(self) -> float:
        """How many times as long as these games those of the paper are."""
        return _PAPER_SECONDS / (self.halves * self.half_length)


_SIZES = {
    "quick": Size(games=4, players=1, half_length=120.0, halves=1, pairs=(("GoToTarget", "Initial"),)),
    "middle": Size(games=8, players=2, half_length=120.0, halves=1),
    "full": Size(games=10, players=4, half_length=300.0, halves=1),
    "paper": Size(games=100, players=9, half_length=300.0, halves=2),
}


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means four games of 120 s of the untrained and the trained walk, one against one."""

    seed: int = 0
    """Seed of the games."""
    scale: str = ""
    """Number and size of games: quick, middle, full or paper; `full` if empty."""
    walks: Path | None = None
    """A folder with other walks than those that come with Nutmeg."""
    size: Size | None = None
    """Another size than those that have a name."""

    @property
    def games(self) -> Size:
        """The number and size of games."""
        return experiment.find_scale(self.size or self.scale, _SIZES, "quick" if self.quick else "full")


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Plays all pairs of the paper; writes table-3.png and report.html."""
    began, size = time.perf_counter(), settings.games
    known, missing = agent_walks(settings.walks)
    series = _series(known, size, settings.seed)
    results = experiment.play_series(series, out, "games", settings.threads, say)
    answer = _answer(series, results, size)
    answer |= {"missing": list(missing), "wall_seconds": time.perf_counter() - began}
    answer["goals"] = [one.as_json() for one in _table_goals(answer["pairs"])]
    _plot_differences(out / "table-3.png", answer["pairs"], size.longer)
    _report(out, series, results, answer)
    return answer


def _table_goals(pairs: Sequence[Mapping[str, Any]]) -> list[experiment.Goal]:
    """The learned walk beats the untrained one."""
    found = next((row["difference"] for row in pairs if (row["home"], row["away"]) == ("GoToTarget", "Initial")), None)
    return [experiment.Goal(what="goals a game of GoToTarget more than of Initial", found=found, limit=0.25)]


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Goal differences of the agents beside the paper's; then both orders."""
    columns: dict[str, experiment.Cell] = {
        "pair": lambda row: f"{row['home']} – {row['away']}",
        "here": lambda row: _goals(row["difference"], row["error"]),
        "won/drawn/lost": lambda row: f"{row['wins']}/{row['draws']}/{row['losses']}",
        "paper": lambda row: _goals(row["paper_difference"], row["paper_error"]),
        "in 600 s (90 %)": experiment.text("shown"),
        "verdict": experiment.text("verdict"),
    }
    settings = answer["settings"]
    return experiment.ResultTable.of(
        answer["pairs"],
        columns,
        f"goals a game of the first more than of the second (standard error): {settings['games']} games of "
        f"{settings['halves']} x {settings['half_length']:g} s for each pair, {settings['players']} against "
        f"{settings['players']}; the paper's are 100 games of 2 x 300 s, 9 against 9.",
        f"verdicts by intervals of 90 %, after scaling to 600 s, within {_TOLERANCE:.0%} of the paper's difference or "
        f"{_MIN_TOLERANCE:g} goals: {experiment.count_verdicts(answer['claims'])}.",
        f"order here: {_ranking(answer['strengths'])}.",
        f"the paper's: {_ranking(answer['paper_strengths'])}; rank correlation "
        f"{experiment.number(answer['rank_correlation'], 2)}.",
        *(f"{name}: did not play, its walk is not there." for name in answer["missing"]),
        *(f"broke off: {game}" for game in answer["broken"]),
    )


def _ranking(strengths: Mapping[str, float]) -> str:
    """Names from the strongest to the weakest, with an equals sign between those that are equally strong."""
    names = _order(strengths)
    words = names[0] if names else "nobody"
    for before, name in itertools.pairwise(names):
        words += f"{' = ' if abs(strengths[before] - strengths[name]) < 1e-6 else ', '}{name}"
    return words


def _goals(difference: float | None, error: float | None) -> str:
    return "-" if difference is None else f"{difference:+.2f}" + ("" if error is None else f" ({error:.2f})")


def _series(known: Mapping[str, WalkParameters], size: Size, seed: int) -> Series:
    settings = SeriesSettings(
        name="Table 3",
        team=tuple(Entrant(name=name, walk=AGENTS[name].walk) for name in known),
        only=tuple(pair for pair in size.pairs if set(pair) <= set(known)),
        seed=seed,
        games=size.games,
        players=size.players,
        half_length=size.half_length,
        halves=1 if size.halves == 1 else 2,
    )
    return Series(settings, tuple(known.values()))


def _answer(series: Series, results: Sequence[GameResult], size: Size) -> dict[str, Any]:
    settings = series.settings
    table = standings(settings.names, results)
    pairs = [_pair(home, away, table.pairs[home, away], size) for home, away in settings.only]
    ours = {(row["home"], row["away"]): row["difference"] for row in pairs if row["difference"] is not None}
    paper = {pair: PAPER_DIFFERENCES[pair][0] for pair in ours}
    strengths, paper_strengths = fitted_strengths(ours), fitted_strengths(paper)
    return {
        "experiment": "walk-table3",
        "pairs": pairs,
        "claims": [row["claim"] for row in pairs],
        "order": _order(strengths),
        "paper_order": _order(paper_strengths),
        "strengths": strengths,
        "paper_strengths": paper_strengths,
        "rank_correlation": experiment.rank_correlation(
            "spearman", *(np.array(list(found.values())) for found in (strengths, paper_strengths))
        ),
        "settings": {**asdict(size), "seed": settings.seed, "rules": settings.rules},
        "broken": [f"{one.home} – {one.away}, {one.number}: {one.failure}" for one in results if one.failure],
    }


def _pair(home: str, away: str, record: Record, size: Size) -> dict[str, Any]:
    paper, error = PAPER_DIFFERENCES[home, away]
    longer = size.longer
    ours = experiment.Estimate.with_error(record.difference, None, 0)
    if record.difference is not None and record.error is not None:
        # Games that all end alike have no spread; one goal in all of them is then as likely as none.
        least = 1 / record.games
        ours = experiment.Estimate.with_error(
            record.difference * longer, max(record.error, least) * longer, record.games
        )
    claim = pair_claim(f"{home} – {away}", ours, paper, error)
    return {
        "home": home,
        "away": away,
        **record.as_json(),
        "paper_difference": paper,
        "paper_error": error,
        **{key: value for key, value in claim.as_json().items() if key in ("shown", "range", "verdict")},
        "claim": claim.as_json(),
    }


def pair_claim(what: str, ours: experiment.Estimate, paper: float, paper_error: float) -> experiment.Claim:
    """The claim that two agents differ by as many goals as in the paper, within `_TOLERANCE` of it."""
    tolerance = max(_MIN_TOLERANCE, _TOLERANCE * abs(paper))
    return experiment.Claim.near(what, ours, paper, tolerance, error=paper_error, unit="goals", digits=2)


def fitted_strengths(differences: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """A number for each agent, by name in alphabetical order; their differences are nearest to those of the pairs."""
    names = sorted({name for pair in differences for name in pair})
    if not names:
        return {}
    found = experiment.fit_strengths(
        experiment.games_matrix(names, list(differences)), np.array(list(differences.values()))
    )
    return dict(zip(names, found.tolist(), strict=True))


def _order(strengths: Mapping[str, float]) -> list[str]:
    return sorted(strengths, key=lambda name: -strengths[name])


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
