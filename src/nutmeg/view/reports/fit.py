"""The report of a fit: one page that needs nothing else, for identification and for Back-to-Reality.

    report = FitReport(
        title="Servo of the bench",
        command="nutmeg identify servo.toml --seed 3",
        parameters=parameter_rows(space, result.best.candidate, identifiability=found, old=space.start),
        convergences=(Convergence.of(result, seed=3),),
        series=(Series(recording="kp8_sine", channel="angle", unit="rad", times=t, measured=y, before=y0, after=y1),),
        cost=Cost(evaluations=result.evaluations, failures=result.failures, seconds=12.0),
    )
    write_report(Path("report.html"), report)
    save_figures(Path("figures"), report)          # the same pictures as PNG files

Whatever a fit does not have is left out, and so is its section. Everything is text from users until it is escaped.
The pictures are those of seed 000: parameters over evaluations, shaded by error (figure 3), and measured against
simulated series before and after (figure 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import FileError, UsageError
from nutmeg.base.journal import versions
from nutmeg.search.space import Space

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike

    from nutmeg.reality.identify.identifiability import Identifiability
    from nutmeg.search.run import SearchResult


@dataclass(frozen=True, kw_only=True)
class ParameterRow:
    """What is known of a parameter after the fit."""

    name: str
    value: float
    """The estimate."""
    low: float
    """The smallest value that was allowed."""
    high: float
    """The largest value that was allowed."""
    unit: str = ""
    about: str = ""
    """What it is, in a few words."""
    sets: tuple[str, ...] = ()
    """What it sets, such as `robot.L1_femur`."""
    scale: Literal["linear", "log"] = "linear"
    old: float | None = None
    """Its value before the fit."""
    true: float | None = None
    """The value in reality, where that is known, as in an experiment with a hidden simulation."""
    interval: tuple[float, float] | None = None
    """Where it probably lies."""
    identifiable: bool | None = None
    """Whether the data determine it; nothing where that was not asked."""
    reason: str = ""
    """Why, or why not."""


@dataclass(frozen=True, kw_only=True)
class Convergence:
    """All candidates of a search, or of the searches of all iterations one after the other."""

    candidates: Floats
    """(E, k), in the order of evaluation."""
    values: Floats
    """Their errors, (E,); nan for those that failed."""
    starts: tuple[int, ...] = (0,)
    """Evaluations at which an iteration begins: the best is sought anew from there, because the error changed."""
    label: str = ""
    """Which search it is, such as `seed 3`."""

    def __post_init__(self) -> None:
        if self.candidates.ndim != 2 or self.values.shape != (len(self.candidates),):
            raise UsageError(
                f"candidates of the shape {self.candidates.shape} have values of the shape {self.values.shape}; "
                "needed are (E, k) and (E,)."
            )
        if not self.starts or self.starts[0] != 0 or list(self.starts) != sorted(set(self.starts)):
            raise UsageError(f"iterations start at {self.starts}; they must begin with 0 and grow.")

    @classmethod
    def of(cls, *results: SearchResult, label: str = "") -> Convergence:
        """Of a search; of several, one after the other, as the iterations of Back-to-Reality."""
        generations = [[(g.candidates, g.values) for g in result.history] for result in results]
        flat = [pair for each in generations for pair in each]
        if not flat:
            raise UsageError("the search has no history to show; evaluate at least one generation.")
        sizes = [sum(len(values) for _, values in each) for each in generations]
        starts = tuple(int(n) for n in np.cumsum([0, *sizes[:-1]]))
        return cls(
            candidates=np.concatenate([c for c, _ in flat]),
            values=np.concatenate([v for _, v in flat]),
            starts=starts,
            label=label,
        )

    def best_so_far(self) -> tuple[Floats, Floats]:
        """The best candidate (E, k) of its iteration until each evaluation, and its error (E,); nan without one."""
        rows, errors = np.full(self.candidates.shape, np.nan), np.full(len(self.values), np.nan)
        for first, last in zip(self.starts, (*self.starts[1:], len(self.values)), strict=True):
            values = np.where(np.isfinite(self.values[first:last]), self.values[first:last], np.inf)
            lowest = np.minimum.accumulate(values)
            index = np.maximum.accumulate(np.where(values <= lowest, np.arange(len(values)), 0))
            found = np.isfinite(lowest)
            rows[first:last][found] = self.candidates[first:last][index[found]]
            errors[first:last][found] = lowest[found]
        return rows, errors


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line of a chart."""

    name: str
    x: Floats
    """(n,)."""
    y: Floats
    """(n,); nan leaves a gap."""
    low: Floats | None = None
    """The lower edge of a band around it, (n,)."""
    high: Floats | None = None
    """The upper edge of the band, (n,)."""
    dashed: bool = False
    points: bool = False
    """Whether to mark every point."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A plot of curves: errors over evaluations, fitness over iterations, what a study finds."""

    title: str
    curves: tuple[Curve, ...]
    x_label: str = ""
    y_label: str = ""
    log: bool = False
    """Whether the vertical axis is logarithmic."""
    equal: bool = False
    """Whether both axes have the same scale, as in a map."""
    about: str = ""
    """A sentence below it; says to those who cannot see it what it shows."""


@dataclass(frozen=True, kw_only=True)
class Series:
    """A channel of a recording, measured and simulated."""

    recording: str
    channel: str
    times: Floats
    """(T,), s."""
    measured: Floats
    """(T,)."""
    after: Floats | None = None
    """Simulated with the estimates, (T,)."""
    before: Floats | None = None
    """Simulated before the fit, (T,)."""
    commanded: Floats | None = None
    """The command, (T,), where the channel has one."""
    unit: str = ""
    held_out: bool = False
    """Whether the fit never saw this recording."""
    along: str = "time [s]"
    """What `times` are, where they are none."""


@dataclass(frozen=True, kw_only=True)
class RecordingRow:
    """The error in one recording."""

    name: str
    after: float
    """With the estimates."""
    before: float | None = None
    """Before the fit."""
    held_out: bool = False
    """Whether the fit never saw this recording."""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Any further numbers, such as the paper's beside ours."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | int | None, ...], ...]
    """One cell per column; numbers are written with four digits."""
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What the fit took."""

    real_trials: int | None = None
    """Trials in reality."""
    evaluations: int | None = None
    """Candidates simulated."""
    failures: int = 0
    """Of them, those that failed."""
    seconds: float | None = None
    """By the clock on the wall."""
    cpu_seconds: float | None = None
    """Of all processors together."""
    workers: str = ""
    """Where it ran: `2 threads`, `Dask, 8 workers`."""
    resumed: int = 0
    """How often it was interrupted and resumed."""


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """All that a report shows."""

    title: str
    command: str
    """The exact command that makes it again."""
    summary: str = ""
    """What was fitted to what, in a few sentences; an empty line begins a new paragraph."""
    kind: Literal["identify", "btr", "learn"] = "identify"
    parameters: tuple[ParameterRow, ...] = ()
    error_name: str = "error"
    """What the error is, such as `mean absolute error`."""
    error_unit: str = ""
    distance: str = ""
    """What the searches minimise, with its unit, such as `rms [rad]`; the error above if empty."""
    train_error: float | None = None
    train_error_before: float | None = None
    held_out_error: float | None = None
    held_out_error_before: float | None = None
    convergences: tuple[Convergence, ...] = ()
    """Of each search; the first is shown in full, the others as lines."""
    charts: tuple[Chart, ...] = ()
    """Further curves: held-out error over evaluations, fitness over iterations."""
    identifiability: Identifiability | None = None
    series: tuple[Series, ...] = ()
    recordings: tuple[RecordingRow, ...] = ()
    tables: tuple[Table, ...] = ()
    cost: Cost = field(default_factory=Cost)
    seeds: tuple[int, ...] = ()
    video: str = ""
    """The file name of a video beside the report, if there is one."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else was set: robot, actuation, distance, searcher."""
    versions: Mapping[str, str] = field(default_factory=versions)
    warnings: tuple[str, ...] = ()
    """In addition to those the report finds itself: parameters at bounds, undetermined ones, failed candidates."""
    notes: tuple[str, ...] = ()
    """Remarks at the end."""

    @property
    def minimised(self) -> str:
        """What the searches minimise, with its unit."""
        unit = f" [{self.error_unit}]" if self.error_unit else ""
        return self.distance or f"{self.error_name}{unit}"


def parameter_rows(
    space: Space,
    best: ArrayLike,
    *,
    identifiability: Identifiability | None = None,
    old: ArrayLike | None = None,
    true: Mapping[str, float] | None = None,
    sets: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[ParameterRow, ...]:
    """The rows of a space's parameters.

    Args:
        space: what was searched.
        best: the estimates, (k,).
        identifiability: adds intervals and verdicts.
        old: the values before, (k,).
        true: the values in reality that are known, by name.
        sets: what each parameter sets, by name.
    """
    values, before = space.named(best), space.named(old) if old is not None else {}
    return tuple(
        ParameterRow(
            name=name,
            value=values[name],
            low=d.low,
            high=d.high,
            unit=d.unit,
            about=d.about,
            scale=d.scale,
            sets=(sets or {}).get(name, ()),
            old=before.get(name),
            true=(true or {}).get(name),
            interval=identifiability.interval(name) if identifiability else None,
            identifiable=identifiability.identifiable(name) if identifiability else None,
            reason=identifiability.reason(name) if identifiability else "",
        )
        for name, d in space.dimensions.items()
    )


def found_warnings(report: FitReport) -> tuple[str, ...]:
    """What a reader must know before trusting the numbers: the report's own warnings, then what they show."""
    found = list(report.warnings)
    for row in report.parameters:
        for end, bound in (("lower", row.low), ("upper", row.high)):
            if share_of_range(row, row.value) == (0.0 if end == "lower" else 1.0):
                found.append(
                    f"{row.name} ended at its {end} bound, {bound:g} {row.unit}".rstrip()
                    + ": widen the range, or ask what else is wrong."
                )
    vague = [row.name for row in report.parameters if row.identifiable is False]
    if vague:
        found.append(f"The data do not determine {', '.join(vague)}: other values fit about as well.")
    failed, tried = report.cost.failures, report.cost.evaluations
    if failed:
        share = f" of {tried} ({100 * failed / tried:.1f} %)" if tried else ""
        found.append(f"{failed}{share} candidates failed and counted as the worst.")
    return tuple(dict.fromkeys(found))


def share_of_range(row: ParameterRow, value: float) -> float:
    """Where a value lies between the bounds, 0 to 1, along the scale; a thousandth from a bound is at it."""
    low, high, at = np.log((row.low, row.high, value)) if row.scale == "log" else (row.low, row.high, value)
    share = float((at - low) / (high - low)) if high > low else 0.5
    return 0.0 if share < 0.001 else 1.0 if share > 0.999 else share


def write_report(path: Path, report: FitReport) -> None:
    """Writes the page; the folder must exist."""
    from nutmeg.view.reports.fit_page import page

    if not path.parent.is_dir():
        raise FileError(path, f"the report cannot be written: there is no folder {path.parent}.")
    try:
        path.write_text(page(report), encoding="utf-8")
    except OSError as error:
        raise FileError(path, f"the report cannot be written: {error.strerror}.") from None


def save_figures(folder: Path, report: FitReport) -> tuple[Path, ...]:
    """Writes the pictures of the report as PNG files into a folder, made if missing; gives their paths."""
    from nutmeg.view.reports.plots import pictures

    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, png in pictures(report).items():
            paths.append(folder / f"{name}.png")
            paths[-1].write_bytes(png)
    except OSError as error:
        raise FileError(folder, f"the figures cannot be written: {error.strerror}.") from None
    return tuple(paths)
