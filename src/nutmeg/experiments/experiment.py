"""What all experiments share: how they are found, their settings, and the table of their results.

Each experiment is a module with

    Settings                                    # its options, as `nutmeg reproduce` names them
    run(out, settings, say) -> answer           # does it, and writes its figures; the answer is made of JSON values
    table(answer) -> ResultTable                # the answer as a table for a terminal, ours beside the paper's

    experiment = load_experiment("btr-nao")
    answer = perform(experiment, Path("runs/btr-nao"), experiment.Settings(quick=True))

Modules that draw figures are imported when a figure is drawn, so that listing experiments loads none of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.base.journal import versions, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nutmeg.base.arrays import Floats
    from nutmeg.match.series.series import GameResult, Series

EXPERIMENTS = {
    "motoflex-walk": "motoflex_walk",
    "btr-ant": "btr_ant",
    "btr-nao": "btr_nao",
    "motoflex-fit": "motoflex_fit",
    "openr-ball": "openr_ball",
    "servo-xl330": "servo_xl330",
    "coverage": "coverage",
    "simspark": "simspark",
    "league-replay": "league_replay",
    "walk-table2": "walk_table2",
    "walk-table3": "walk_table3",
    "walk-robustness": "walk_robustness",
    "behaviour-predicts": "behaviour_predicts",
    "camera-localisation": "camera_localisation",
}
"""The module of each experiment."""
DEGREES = 180 / math.pi
Progress = Callable[[str], None]
"""Called with what is being done."""


@dataclass(frozen=True, kw_only=True)
class ExperimentSettings:
    """Options that all experiments have."""

    quick: bool = False
    """Whether a smaller version is run, which takes about a minute on two cores."""
    threads: int = 1
    """Number of threads or processes that simulate; results do not depend on it."""


Cell = Callable[["Mapping[str, Any]"], str]
"""Writes a cell of a table from a row of JSON values."""


@dataclass(frozen=True)
class ResultTable:
    """The results of an experiment as they are printed."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Cell], *notes: str) -> ResultTable:
        """A table of rows of JSON values, with a cell for each column, by its header."""
        return cls(tuple(columns), [tuple(cell(row) for cell in columns.values()) for row in rows], notes)


def text(key: str) -> Cell:
    """Cells that show a value as it is."""
    return lambda row: str(row[key])


def decimal(key: str, digits: int = 3, scale: float = 1.0) -> Cell:
    """Cells that show a number, or a dash if there is none."""
    return lambda row: number(row[key], digits, scale)


def share(key: str, digits: int = 1) -> Cell:
    """Cells that show a share in percent, or a dash if there is none."""
    return lambda row: percent(row[key], digits)


class Experiment(Protocol):
    """The module of an experiment."""

    Settings: type[ExperimentSettings]

    def run(self, out: Path, settings: Any, say: Progress = ...) -> dict[str, Any]:  # noqa: ANN401 (its own Settings)
        """Runs it and writes its figures into a folder."""

    def table(self, answer: Mapping[str, Any]) -> ResultTable:
        """The answer of `run` as a table."""


def load_experiment(name: str) -> Experiment:
    """The module of an experiment; it is imported now."""
    return cast("Experiment", importlib.import_module(f"nutmeg.experiments.{EXPERIMENTS[name]}"))


def silent(_: str) -> None:
    """Progress that nobody reads."""


def perform(experiment: Experiment, out: Path, settings: ExperimentSettings, say: Progress = silent) -> dict[str, Any]:
    """Runs an experiment and writes its answer to results.json in its folder."""
    out.mkdir(parents=True, exist_ok=True)
    answer = experiment.run(out, settings, say)
    write_json(out / "results.json", answer)
    return answer


def example_folder(name: str, file: str = "identify.toml") -> Path:
    """The folder of an example that has a file: below the present folder, or in the source tree."""
    places = [Path.cwd(), Path(__file__).parents[3]]
    for place in places:
        if (place / "examples" / name / file).is_file():
            return place / "examples" / name
    raise UsageError(
        f"there is no examples/{name} in {places[0]}. Run this in a copy of Nutmeg's repository, which has the "
        "examples."
    )


def number(value: float | None, digits: int = 3, scale: float = 1.0) -> str:
    """A number, or a dash if there is none."""
    return "-" if value is None else f"{value * scale:.{digits}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """A share in percent, or a dash if there is none."""
    return "-" if value is None else f"{value * 100:.{digits}f} %"


def yes_or_no(met: bool | None) -> str:
    """Whether a goal was met; empty if there is none."""
    return "" if met is None else "yes" if met else "NO"


# Series of games


def series_digest(series: Series) -> str:
    """A digest of all that decides how games end, so that games of other settings are kept apart."""
    content = json.dumps([series.described(), series.settings.seed, versions()], sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()[:8]


def play_series(series: Series, out: Path, name: str, threads: int, say: Progress) -> list[GameResult]:
    """Plays a series of games, each of which is kept as it ends; games that were played before are read."""
    from nutmeg.match.series.series import GameLog
    from nutmeg.search.evaluation import InThisThread
    from nutmeg.search.processes import Processes

    evaluator = InThisThread(piece=series.piece) if threads == 1 else Processes(threads, piece=series.piece)
    with contextlib.closing(evaluator):
        return series.play(
            evaluator,
            log=GameLog(out / f"{name}-{series_digest(series)}.jsonl"),
            at_once=1 if threads == 1 else 2 * threads,
            on_game=lambda done, count: say(f"{name}: game {done} of {count}"),
        )


def games_matrix(names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Floats:
    """Who played in each game, (games, teams): 1 at home, -1 away, else 0."""
    rows = np.zeros((len(pairs), len(names)))
    for row, (home, away) in enumerate(pairs):
        rows[row, names.index(home)], rows[row, names.index(away)] = 1.0, -1.0
    return rows


def fit_strengths(games: Floats, differences: Floats) -> Floats:
    """Strengths (teams, ...) with the mean 0 whose differences are nearest to goal differences (games, ...)."""
    found = np.linalg.pinv(games) @ differences
    return np.asarray(found - found.mean(axis=0))


def rank_correlation(kind: Literal["spearman", "kendall"], a: Floats, b: Floats) -> float | None:
    """The rank correlation of Spearman or of Kendall (tau-b); None where one of both ranks all alike."""
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    from scipy import stats  # takes half a second to import

    return float((stats.spearmanr if kind == "spearman" else stats.kendalltau)(a, b).statistic)
