"""Shared parts of all experiments: their list, settings, the rule of their verdicts, and tables of results.

Each experiment is a module with

    Settings                                    # its options, as `nutmeg reproduce` names them
    run(out, settings, say) -> answer           # does it, and writes its figures; the answer is made of JSON values
    table(answer) -> ResultTable                # the answer as a table for a terminal, ours beside the paper's

    experiment = load_experiment("btr-nao")
    answer = perform(experiment, Path("runs/btr-nao"), experiment.Settings(quick=True))

A module that holds two experiments has these three in a class for each. `data/experiments.toml` lists all experiments
with their sizes and last verdicts. Modules that draw figures are imported when a figure is drawn, so that listing
experiments loads none of them.

The verdict on a claim of a paper follows one rule (`Claim`). Our number has an interval of 90 %, over seeds, hidden
bodies, starts or games. The claim is a range: the paper's number plus or minus a tolerance that is stated beside it, or
one side of a limit. The verdict is

- `agrees` if the whole interval lies in that range (for a tolerance this is the two one-sided tests of equivalence at
  5 %, so that a small experiment cannot agree by being vague),
- `differs` if the whole interval lies outside of it, on one side,
- `cannot tell` otherwise, and always where there is one measurement only.

The uncertainty of the paper's own number is added in squares to that of ours.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

import numpy as np

from nutmeg.base import settings as settings_files
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.base.journal import each_seed, versions, write_json

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.series.series import GameResult, Series

DEGREES = 180 / math.pi
Progress = Callable[[str], None]
"""Called with what is being done."""
ScaleT = TypeVar("ScaleT")
"""Size of an experiment, as the experiment describes it."""


@dataclass(frozen=True, kw_only=True)
class ExperimentSettings:
    """Options that all experiments have."""

    quick: bool = False
    """Whether a smaller version is run, which takes about a minute on two cores."""
    threads: int = 1
    """Number of threads or processes that simulate; results do not depend on it."""


def find_scale(wanted: str | ScaleT, scales: Mapping[str, ScaleT], default: str) -> ScaleT:
    """The scale of this name, or the default one if the name is empty; a scale without a name is returned as it is."""
    if not isinstance(wanted, str):
        return wanted
    name = wanted or default
    if name not in scales:
        raise UnknownNameError("scale", name, scales)
    return scales[name]


# Verdicts


Verdict = Literal["agrees", "differs", "cannot tell"]
_VERDICTS: tuple[Verdict, ...] = ("agrees", "differs", "cannot tell")
_SHOWN_DIGITS = 4
"""Digits of goals after the point."""
CONFIDENCE_LEVEL = 0.90
"""Level of the intervals that verdicts are given by."""
_NORMAL_QUANTILE = 1.6449
"""Half the width of such an interval of a normal distribution, in standard deviations."""


@dataclass(frozen=True)
class Estimate:
    """A measured number and its interval of `CONFIDENCE_LEVEL`."""

    mean: float
    low: float
    high: float
    count: int
    """Number of independent measurements."""

    @classmethod
    def of(cls, values: Sequence[float] | Floats) -> Estimate:
        """The mean of measurements with Student's interval; one measurement has an infinite interval."""
        found = np.asarray(values, float)
        mean = float(found.mean())
        if len(found) < 2:
            return cls(mean, -math.inf, math.inf, len(found))
        from scipy.stats import t as student  # takes half a second to import

        half = float(
            student.ppf((1 + CONFIDENCE_LEVEL) / 2, len(found) - 1) * found.std(ddof=1) / math.sqrt(len(found))
        )
        return cls(mean, mean - half, mean + half, len(found))

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """A number without uncertainty, of something in which nothing is random."""
        return cls(value, value, value, 2)

    @classmethod
    def with_error(cls, mean: float | None, error: float | None, count: int) -> Estimate:
        """A mean whose standard error is known; without one, the interval is infinite."""
        half = math.inf if error is None or mean is None or count < 2 else _NORMAL_QUANTILE * error
        mean = math.nan if mean is None else mean
        return cls(mean, mean - half if half < math.inf else -math.inf, mean + half, count)

    @classmethod
    def of_share(cls, successes: int, tries: int) -> Estimate:
        """A share with Wilson's interval."""
        from scipy.stats import binomtest

        interval = binomtest(successes, tries).proportion_ci(CONFIDENCE_LEVEL, method="wilson")
        return cls(successes / tries, float(interval.low), float(interval.high), tries)

    def widened(self, error: float) -> Estimate:
        """The estimate with the standard error of another number added in squares."""
        below = math.hypot(self.mean - self.low, _NORMAL_QUANTILE * error)
        above = math.hypot(self.high - self.mean, _NORMAL_QUANTILE * error)
        return Estimate(self.mean, self.mean - below, self.mean + above, self.count)

    def shown(self, digits: int = 3) -> str:
        """The number and its interval."""
        if not math.isfinite(self.mean):
            return "-"
        if not math.isfinite(self.high - self.low):
            return f"{self.mean:.{digits}f} (one)"
        if self.high == self.low:
            return f"{self.mean:.{digits}f}"
        return f"{self.mean:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of a paper, or a goal, beside what was measured."""

    what: str
    ours: Estimate
    least: float = -math.inf
    """Lower end of the range that the claim allows."""
    most: float = math.inf
    """Upper end of that range."""
    paper: float | None = None
    """The paper's number, if it prints one."""
    error: float = 0.0
    """Standard error of the paper's number."""
    unit: str = ""
    digits: int = 3
    """Digits after the point in tables."""

    @classmethod
    def near(cls, what: str, ours: Estimate, paper: float, tolerance: float, **others: Any) -> Claim:  # noqa: ANN401
        """The claim that our number is the paper's, plus or minus a tolerance."""
        return cls(what=what, ours=ours, least=paper - tolerance, most=paper + tolerance, paper=paper, **others)

    @classmethod
    def same_outcome(cls, what: str, one: Iterable[bool], other: Iterable[bool]) -> Claim:
        """The claim that something happens to one robot if and only if it happens to another, in 80 % of the tries."""
        same = [a == b for a, b in zip(one, other, strict=True)]
        return cls(what=f"{what}: share", ours=Estimate.of_share(sum(same), len(same)), least=0.8, digits=2)

    @property
    def verdict(self) -> Verdict:
        """The verdict by the rule of this module."""
        interval = self.ours.widened(self.error) if self.error else self.ours
        if not math.isfinite(interval.mean) or interval.count < 2:
            return "cannot tell"
        if self.least <= interval.low and interval.high <= self.most:
            return "agrees"
        return "differs" if interval.low > self.most or interval.high < self.least else "cannot tell"

    def range(self) -> str:
        """The range that the claim allows, as text."""
        if math.isinf(self.least):
            return f"at most {self.most:.{self.digits}f}"
        if math.isinf(self.most):
            return f"at least {self.least:.{self.digits}f}"
        return f"{self.least:.{self.digits}f} to {self.most:.{self.digits}f}"

    def as_json(self) -> dict[str, Any]:
        """Plain numbers for results.json; null where there is none."""
        finite = {
            name: value if math.isfinite(value) else None
            for name, value in (
                ("ours", self.ours.mean),
                ("low", self.ours.low),
                ("high", self.ours.high),
                ("least", self.least),
                ("most", self.most),
            )
        }
        return {
            "what": self.what,
            **finite,
            "count": self.ours.count,
            "paper": self.paper,
            "unit": self.unit,
            "shown": self.ours.shown(self.digits),
            "range": self.range(),
            "verdict": self.verdict,
        }


def claim_notes(claims: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each claim, and their count; claims are those of results.json."""
    lines = [
        f"{one['verdict']}: {one['what']} {one['shown']}{' ' + one['unit'] if one['unit'] else ''}; claimed: "
        + ("" if one["paper"] is None else f"{one['paper']:g}, taken as ")
        + one["range"]
        for one in claims
    ]
    return [*lines, *([f"verdicts (90 % intervals): {count_verdicts(claims)}."] if lines else [])]


def goal_notes(goals: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each goal, as results.json has them."""
    return [one["sentence"] for one in goals]


def count_verdicts(claims: Iterable[Mapping[str, Any]]) -> str:
    """Numbers of claims that agree, differ, or cannot be told, as text."""
    found = [one["verdict"] for one in claims]
    return ", ".join(f"{found.count(word)} {word}" for word in _VERDICTS if word in found)


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A number beside what is wanted of it."""

    what: str
    found: float | None
    """The measured number; None if it was not measured."""
    limit: float
    most: bool = False
    """Whether the limit is the most that is allowed, not the least."""
    unit: str = ""
    """Put behind numbers."""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None if it was not measured, False for nan."""
        if self.found is None:
            return None
        return self.found <= self.limit if self.most else self.found >= self.limit

    def shown(self) -> str:
        """The measured number, rounded to the less favourable side."""
        if self.found is None or not math.isfinite(self.found):
            return "-" if self.found is None else str(self.found)
        scale = 10**_SHOWN_DIGITS
        exact = self.found * scale
        near = round(exact)
        cut = near if abs(exact - near) < 1e-6 else math.ceil(exact) if self.most else math.floor(exact)
        return f"{cut / scale:.{_SHOWN_DIGITS}f}"

    def sentence(self) -> str:
        """The goal in a sentence for the terminal."""
        word = {True: "met", False: "MISSED", None: "not measured"}[self.met]
        side = "at most" if self.most else "at least"
        return f"{word}: {self.what} {self.shown()}{self.unit}, wanted {side} {self.limit:g}{self.unit}"

    def as_json(self) -> dict[str, Any]:
        """The goal and what was found, as `results.json` and `--json` have them."""
        found = self.found if self.found is None or math.isfinite(self.found) else None
        side = "at most" if self.most else "at least"
        return {
            "what": self.what,
            "found": found,
            "goal": self.limit,
            "side": side,
            "unit": self.unit.strip(),
            "met": self.met,
            "sentence": self.sentence(),
        }


def goals_of(claims: Iterable[Claim]) -> list[Goal]:
    """Goals that the means meet the claims, whatever their intervals; small versions are checked by these."""
    found = []
    for one in claims:
        unit = f" {one.unit}" if one.unit else ""
        value = one.ours.mean if math.isfinite(one.ours.mean) else None
        if math.isfinite(one.least):
            found.append(Goal(what=one.what, found=value, limit=one.least, unit=unit))
        if math.isfinite(one.most):
            found.append(Goal(what=one.what, found=value, limit=one.most, most=True, unit=unit))
    return found


# Tables


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


@dataclass(frozen=True, kw_only=True)
class _LastRun:
    """The last run of an experiment whose verdict ships with Nutmeg."""

    date: str
    """Year, month and day."""
    scale: str
    """Size of the experiment that was run."""
    seeds: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class ListedGoal:
    """A goal of an experiment that does not state its goals itself."""

    what: str
    at: str
    """Path of its number in the answer: keys and indices between dots; `*` means all, of which the worst counts."""
    least: float | None = None
    most: float | None = None

    def of(self, answer: Mapping[str, Any]) -> Goal:
        """The goal with the number that an answer has."""
        found: list[Any] = [answer]
        for step in self.at.split("."):
            found = [inner for one in found for inner in _inside(one, step)]
        numbers = [float(one) for one in found if one is not None]
        upper = self.least is None
        worst = (max if upper else min)(numbers, default=None)
        return Goal(what=self.what, found=worst, limit=self.most or 0.0 if upper else self.least or 0.0, most=upper)


def _inside(value: Any, step: str) -> list[Any]:  # noqa: ANN401 (values of JSON)
    """The parts of a JSON value at a key or an index, or all of them for `*`."""
    if step == "*":
        return list(value.values() if isinstance(value, dict) else value)
    return [value[int(step)] if isinstance(value, list | tuple) else value[step]]


@dataclass(frozen=True, kw_only=True)
class Listed:
    """An experiment as `nutmeg reproduce --list` shows it."""

    place: str
    """Its module in `nutmeg.experiments`; with a class of it, if the module has several experiments: `module:Class`."""
    paper: str
    """The paper that it belongs to."""
    about: str
    """A description in a few words."""
    size: str
    """Size of the whole version, in words."""
    quick_seconds: float
    """Processor time of `--quick` [s]."""
    full_minutes: float
    """Processor time of the whole version [min]."""
    goal: tuple[ListedGoal, ...] = ()
    """Goals of an experiment whose answer has none."""
    known_misses: tuple[str, ...] = ()
    """Goals that the quick version is known to miss, as the answer names them; the file says why."""
    last: _LastRun | None = None

    def missed(self, answer: Mapping[str, Any]) -> list[str]:
        """Goals that an answer of the quick version misses and that are not listed as known misses."""
        return [
            goal["sentence"] for goal in answer["goals"] if not goal["met"] and goal["what"] not in self.known_misses
        ]

    def reached(self, answer: Mapping[str, Any]) -> list[str]:
        """Known misses that an answer of the quick version does not miss any more: the list is to be shortened."""
        still = {goal["what"] for goal in answer["goals"] if not goal["met"]}
        return [f"{what}: listed as a known miss, but not missed" for what in self.known_misses if what not in still]


@dataclass(frozen=True, kw_only=True)
class _ListFile:
    """`data/experiments.toml`."""

    experiment: Mapping[str, Listed]


@functools.cache
def listed_experiments() -> Mapping[str, Listed]:
    """All experiments by name."""
    return settings_files.read(Path(__file__).parent / "data" / "experiments.toml", _ListFile).experiment


def load_experiment(name: str) -> Experiment:
    """The module of an experiment, or the class of it there; it is imported now."""
    module, _, part = listed_experiments()[name].place.partition(":")
    found = importlib.import_module(f"nutmeg.experiments.{module}")
    return cast("Experiment", getattr(found, part) if part else found)


def silent(_: str) -> None:
    """Progress that nobody reads."""


def perform(
    experiment: Experiment,
    out: Path,
    settings: ExperimentSettings,
    say: Progress = silent,
    goals: Sequence[ListedGoal] = (),
) -> dict[str, Any]:
    """Runs an experiment and writes its answer to results.json in its folder; `goals` are for one that states none."""
    out.mkdir(parents=True, exist_ok=True)
    answer = experiment.run(out, settings, say)
    answer.setdefault("goals", [goal.of(answer).as_json() for goal in goals])
    if answer.get("claims"):
        answer["verdicts"] = count_verdicts(answer["claims"])
    write_json(out / "results.json", answer)
    return answer


@dataclass(frozen=True)
class SeedJob:
    """One seed of an experiment; its result is kept in a file, so that it is run once."""

    folder: Path
    seed: int
    decides: Mapping[str, object]
    """All settings beside the seed that decide the result."""
    run: Callable[[int], dict[str, Any]]
    """Does one seed; it must be known by name to other processes."""

    def __call__(self) -> dict[str, Any]:
        """The result, from its file if there is one."""
        return each_seed(self.folder, (self.seed,), self.decides, self.run)[0]


def search_folder(out: Path, decides: Mapping[str, object]) -> Path:
    """The folder of an experiment's searches with these settings and this software, so that others are kept apart."""
    return out / "searches" / _digest([decides, versions()])


def _digest(decides: object) -> str:
    content = json.dumps(decides, sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()[:8]


def finish_jobs(jobs: Sequence[SeedJob], processes: int, say: Progress) -> list[dict[str, Any]]:
    """The results of jobs in order; `processes` run at once, and each result is kept when it is done."""
    from nutmeg.search.processes import call_each

    left = len(jobs)

    def on_done(number: int, _: dict[str, Any]) -> None:
        nonlocal left
        left -= 1
        job = jobs[number]
        say(f"{job.folder.name}, seed {job.seed}: done; {left} of {len(jobs)} to go")

    return call_each(jobs, processes, on_done)


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
    """A digest of all that decides how games end and what is counted, so that other games are kept apart."""
    from nutmeg.match.series.settings import RESULT_NUMBERS

    return _digest([series.described(), series.settings.seed, RESULT_NUMBERS, versions()])


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
    """Design matrix of games, (games, teams): 1 for the home team, -1 for the away team, else 0."""
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
