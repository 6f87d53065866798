"""The report of a fit, for identification, Back-to-Reality, calibration and learning.

    report = FitReport(
        title="Servo of the bench",
        command="nutmeg identify servo.toml --seed 3",
        parameters=parameter_rows(space, result.best.candidate, identifiability=found, old=space.start),
        convergences=(Convergence.of(result, label="seed 3"),),
        series=(Series(recording="kp8_sine", channel="angle", unit="rad", times=t, measured=y, before=y0, after=y1),),
        cost=Cost(evaluations=result.evaluations, failures=result.failures, seconds=12.0),
    )
    write_report(Path("report.html"), report)
    save_figures(Path("figures"), report)          # the same pictures as PNG files

Sections for results that a fit does not have are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.errors import UsageError, writing
from nutmeg.base.journal import versions, write_file
from nutmeg.view.reports import fit_plots, plots
from nutmeg.view.reports.fit_plots import Convergence, ParameterRow, Series
from nutmeg.view.reports.plots import Chart, alone, png, side_by_side, svg
from nutmeg.view.reports.report import (
    Bullets,
    Card,
    Cell,
    Columns,
    Details,
    Facts,
    Legend,
    Picture,
    Pictures,
    Report,
    Section,
    Table,
    Text,
    Track,
    Video,
    duration,
    number,
    write_page,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.identify.identifiability import Identifiability
    from nutmeg.reality.identify.profiles import Profile
    from nutmeg.search.space import Space
    from nutmeg.view.reports.report import Block

MAX_SERIES = 36
"""Largest number of series in a report; of more, those with the largest errors of each recording are drawn."""
_MAX_CHANNELS = 12  # channels of a recording that a PNG file shows
KINDS = {"identify": "Identification", "btr": "Back-to-Reality", "learn": "Learning to walk"}


@dataclass(frozen=True, kw_only=True)
class RecordingRow:
    """The error in one recording."""

    name: str
    after: float
    """The error with the estimates."""
    before: float | None = None
    """The error before the fit."""
    held_out: bool = False
    """Whether the fit never saw this recording."""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of a fit."""

    real_trials: int | None = None
    """Trials in reality."""
    evaluations: int | None = None
    """Candidates simulated."""
    failures: int = 0
    """Candidates that failed."""
    seconds: float | None = None
    """Duration of the fit by the wall clock [s]; None if it was not measured."""
    cpu_seconds: float | None = None
    """Time of all processors together."""
    workers: str = ""
    """The machines or threads it ran on: `2 threads`, `Dask, 8 workers`."""
    resumed: int = 0
    """Number of times it was interrupted and resumed."""


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """The results of a fit, and its settings."""

    title: str
    command: str
    """The exact command that makes it again."""
    summary: str = ""
    """A few sentences about the fit and its data; an empty line begins a new paragraph."""
    kind: Literal["identify", "btr", "learn"] = "identify"
    parameters: tuple[ParameterRow, ...] = ()
    error_name: str = "error"
    """The name of the error, such as `mean absolute error`."""
    error_unit: str = ""
    distance: str = ""
    """Name of the minimised distance, with its unit, such as `rms [rad]`; the error above if empty."""
    train_error: float | None = None
    train_error_before: float | None = None
    held_out_error: float | None = None
    held_out_error_before: float | None = None
    convergences: tuple[Convergence, ...] = ()
    """One for each search; the first is shown in full, the others as lines."""
    charts: tuple[Chart, ...] = ()
    """Further curves: held-out error over evaluations, fitness over iterations."""
    identifiability: Identifiability | None = None
    profiles: tuple[Profile, ...] = ()
    """Profiles of parameters."""
    regions: Mapping[tuple[str, str], Floats] = field(default_factory=dict)
    """Rims of the joint regions of pairs of parameters, (points, 2)."""
    series: tuple[Series, ...] = ()
    recordings: tuple[RecordingRow, ...] = ()
    tables: tuple[Table, ...] = ()
    cost: Cost = field(default_factory=Cost)
    seeds: tuple[int, ...] = ()
    video: str = ""
    """The file name of a video beside the report, if there is one."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Further settings: robot, actuation, distance, searcher."""
    versions: Mapping[str, str] = field(default_factory=versions)
    warnings: tuple[str, ...] = ()
    """Warnings beside those that the report finds: parameters at bounds, undetermined ones, failed candidates."""
    notes: tuple[str, ...] = ()
    """Remarks at the end."""

    def __post_init__(self) -> None:
        for one in self.convergences:
            if self.parameters and one.candidates.shape[1] != len(self.parameters):
                raise UsageError(
                    f"a convergence has {one.candidates.shape[1]} parameters, but the report {len(self.parameters)}; "
                    "give both in the same order."
                )

    @property
    def minimised(self) -> str:
        """Name of the minimised distance, with its unit."""
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
        space: the space that was searched.
        best: the estimates, (k,).
        identifiability: adds intervals and verdicts.
        old: the values before, (k,).
        true: the true values that are known, by name.
        sets: targets that each parameter sets, by name.
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


def write_report(path: Path, report: FitReport) -> None:
    """Write the report as one HTML file; the folder must exist."""
    write_page(path, fit_page(report))


def save_figures(folder: Path, report: FitReport) -> tuple[Path, ...]:
    """Write the pictures of the report as PNG files into a folder, made if missing; returns their paths."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    pictures = {folder / f"{name}.png": picture for name, picture in _pictures(report)}
    for path, picture in pictures.items():
        write_file(path, picture)
    return tuple(pictures)


def _pictures(report: FitReport) -> Iterator[tuple[str, bytes]]:
    """Name and PNG file of each picture."""
    rows, searches, known = report.parameters, report.convergences, report.identifiability
    if rows:
        yield "parameters", png(alone(partial(fit_plots.draw_intervals, rows=rows)), (7.5, 0.9 + 0.34 * len(rows)))
    if searches:
        draw = partial(fit_plots.draw_errors, convergences=searches, label=report.minimised)
        yield "error", png(alone(draw), plots.WIDE)
    if searches and rows:
        yield "convergence", png(*side_by_side([_convergence_panel(report, i) for i in range(len(rows))]))
    if known is not None and known.correlation is not None:
        side = 2.2 + 0.42 * known.space.size
        yield "correlation", png(alone(partial(fit_plots.draw_correlation, known=known)), (side, side))
    for index, chart in enumerate(report.charts):
        yield f"chart_{index + 1}", png(alone(partial(plots.draw_chart, chart=chart)), plots.WIDE)
    for index, (name, channels) in enumerate(_by_recording(report.series).items()):
        panels = [
            partial(fit_plots.draw_series, one=one, legend=one is channels[0]) for one in channels[:_MAX_CHANNELS]
        ]
        yield f"series_{index + 1}", png(*side_by_side(panels, title=name))


def found_warnings(report: FitReport) -> tuple[str, ...]:
    """All warnings of the report: its own, then those that follow from its numbers."""
    found = list(report.warnings)
    for row in report.parameters:
        for end, bound, at_bound in (("lower", row.low, 0.0), ("upper", row.high, 1.0)):
            if row.share(row.value) == at_bound:
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


def fit_page(report: FitReport) -> Report:
    """The report in the form that the template shows."""
    errors = {"learn": "Learning and course", "btr": "Learning"}.get(report.kind, "Errors")
    fitted = bool(report.series)  # then the picture of the fit comes first, and all that only explains it is folded
    residuals = "What is left unexplained" if fitted else "Further numbers"
    return Report(
        title=report.title,
        kind=KINDS[report.kind],
        summary=f"{report.summary}\n\n{_verdict(report)}",
        command=report.command,
        cards=tuple(_cards(report)),
        warnings=found_warnings(report),
        versions=report.versions,
        sections=(
            Section(key="video", title="The walk", blocks=(Video(file=report.video),) if report.video else ()),
            Section(key="series", title="Measured and simulated", blocks=tuple(_series(report))),
            Section(key="estimates", title="Estimates", blocks=tuple(_estimates(report))),
            Section(
                key="recordings",
                title="Error in each recording",
                blocks=(*_recordings(report), *_each_recording(report)),
                folded=fitted,
            ),
            Section(key="trade-offs", title="What trades off", blocks=tuple(_trade_offs(report)), folded=True),
            Section(key="regions", title="Profiles and joint regions", blocks=tuple(_regions(report))),
            Section(key="convergence", title="Convergence", blocks=tuple(_convergence(report)), folded=fitted),
            Section(key="errors", title=errors, blocks=tuple(_errors(report)), folded=fitted),
            Section(key="numbers", title=residuals, blocks=report.tables, folded=fitted),
            Section(key="cost", title="How it was made", blocks=tuple(_making(report)), folded=True),
        ),
    )


def _verdict(report: FitReport) -> str:
    """Whether the estimates hold beyond the recordings that they were fitted to; empty where nothing was recorded."""
    before, after = report.held_out_error_before, report.held_out_error
    if not report.recordings:
        return ""
    if before is None or after is None:
        return "No recording was held out, so nothing shows that the estimates hold beyond those that were fitted."
    if after < before:
        return (
            f"In recordings that the fit never saw, the {report.error_name} fell from {number(before)} to "
            f"{number(after)} {report.error_unit}: the estimates hold beyond the recordings that were fitted."
        )
    return (
        f"In recordings that the fit never saw, the {report.error_name} did not fall ({number(before)} before, "
        f"{number(after)} {report.error_unit} after): do not use the estimates."
    )


def _cards(report: FitReport) -> Iterator[Card]:
    """The most important numbers."""
    cost, unit = report.cost, report.error_unit
    for name, after, before in (
        (f"{report.error_name}, fitted", report.train_error, report.train_error_before),
        (f"{report.error_name}, held out", report.held_out_error, report.held_out_error_before),
    ):
        if after is not None:
            note = "" if before is None else f"from {number(before)} {unit}{_times_less(before, after)}"
            yield Card(name=name, value=number(after), unit=unit, note=note)
    judged = [row.identifiable for row in report.parameters if row.identifiable is not None]
    if judged:
        yield Card(name="parameters determined", value=f"{sum(judged)}", unit=f"of {len(judged)}", note="by the data")
    if cost.real_trials is not None:
        yield Card(name="trials in reality", value=f"{cost.real_trials}")
    if cost.evaluations is not None:
        failed = f"{cost.failures} failed" if cost.failures else "none failed"
        yield Card(name="simulated candidates", value=f"{cost.evaluations:,}".replace(",", " "), note=failed)
    if cost.seconds is not None:
        busy = "" if cost.cpu_seconds is None else f"{duration(cost.cpu_seconds)} of processors"
        yield Card(name="time", value=duration(cost.seconds), note=busy)


def _times_less(before: float, after: float) -> str:
    if not (math.isfinite(before) and before > 0 and after > 0):
        return ""
    ratio = before / after
    return f", {ratio:.3g} times less" if ratio > 1.05 else ", not better" if ratio <= 1 else ""


def _estimates(report: FitReport) -> Iterator[Block]:
    rows, known = report.parameters, report.identifiability
    if not rows:
        return
    shown = {
        "Parameter": True,
        "Estimate": True,
        "Interval": any(row.interval for row in rows),
        "Before": any(row.old is not None for row in rows),
        "In reality": any(row.true is not None for row in rows),
        "Between its bounds": True,
        "Determined": any(row.identifiable is not None for row in rows),
    }
    columns = tuple(name for name, here in shown.items() if here)
    percent = f"{100 * known.thresholds.confidence:g} % intervals. " if known else ""
    cross = ", the cross the value in reality" if shown["In reality"] else ""
    yield Table(
        columns=columns,
        rows=tuple(tuple(_estimate(row)[name] for name in columns) for row in rows),
        numeric=("Estimate", "Interval", "Before", "In reality"),
        kind="stack",
        about=f"{percent}The track runs from the lower to the upper bound: the dot is the estimate, the band its "
        f"interval, the thin mark the value before{cross}.",
    )


def _estimate(row: ParameterRow) -> dict[str, Cell]:
    """The cells of a parameter, by column."""
    width = row.interval[1] - row.interval[0] if row.interval else None
    about = " · ".join(text for text in (row.about, ", ".join(row.sets)) if text)
    verdict = Cell(value="–")
    if row.identifiable is not None:
        verdict = Cell(value="yes" if row.identifiable else "no", verdict=row.identifiable, notes=(row.reason,))
    track = Track(
        value=row.share(row.value),
        low=number(row.low),
        high=number(row.high),
        band=(row.share(row.interval[0]), row.share(row.interval[1])) if row.interval else None,
        old=None if row.old is None else row.share(row.old),
        true=None if row.true is None else row.share(row.true),
        vague=row.identifiable is False,
    )
    return {
        "Parameter": Cell(value=row.name, strong=True, notes=(about,) if about else ()),
        "Estimate": Cell(value=number(row.value, width=width), strong=True, unit=row.unit),
        "Interval": Cell(value=" … ".join(number(end, width=width) for end in row.interval) if row.interval else "–"),
        "Before": Cell(value=row.old),
        "In reality": Cell(value=row.true),
        "Between its bounds": Cell(track=track),
        "Determined": verdict,
    }


def _trade_offs(report: FitReport) -> Iterator[Block]:
    known = report.identifiability
    if known is None or (known.correlation is None and not known.directions):
        return
    words: list[Block] = []
    if known.trade_offs:
        words.append(Bullets(items=tuple(_trade_off(p.first, p.second, p.correlation) for p in known.trade_offs)))
    else:
        words.append(Text(text=f"No two estimates correlate by more than {known.thresholds.trade_off:g}.", quiet=False))
    words += [*_directions(known), *_refits(known)]
    if known.correlation is None or known.space.size < 2:
        yield from words
        return
    side = 2.0 + 0.36 * known.space.size
    strong = "; ".join(f"{p.first} and {p.second} {p.correlation:.2f}" for p in known.trade_offs) or "No strong pairs."
    picture = svg(
        alone(partial(fit_plots.draw_correlation, known=known)),
        (side, side),
        alt=f"Correlation of the estimates. {strong}",
        panel=False,
    )
    caption = "How estimates would move together if the noise were another: green alike, orange against each other."
    picture_block = Pictures(pictures=(Picture(image=picture, caption=caption),), kind="square")
    yield Columns(left=(picture_block,), right=tuple(words))


def _regions(report: FitReport) -> Iterator[Block]:
    """Profiles and joint regions of the parameters that were asked for."""
    pictures = []
    best = {row.name: row.value for row in report.parameters}
    for one in report.profiles:
        panel = partial(
            fit_plots.draw_profile, name=one.name, values=one.values, growth=one.growth, ends=(one.low, one.high)
        )
        alt = f"Profile of {one.name}: the interval is {one.low:.4g} to {one.high:.4g}."
        pictures.append(Picture(image=svg(alone(panel), alt=alt), caption=alt))
    for pair, rim in report.regions.items():
        panel = partial(fit_plots.draw_region, pair=pair, rim=rim, best=(best[pair[0]], best[pair[1]]))
        alt = f"Region in which {pair[0]} and {pair[1]} lie together with a confidence of 90 %."
        pictures.append(Picture(image=svg(alone(panel), alt=alt), caption=alt))
    if pictures:
        yield Pictures(pictures=tuple(pictures))


def _trade_off(first: str, second: str, correlation: float) -> tuple[str, str]:
    way = "raising" if correlation > 0 else "lowering"
    shown = f"{correlation:.3f}".replace("-", "−")
    return f"{first} and {second}", f"raising one is made up for by {way} the other (correlation {shown})."


def _directions(known: Identifiability) -> Iterator[Block]:
    """Combinations of parameters from sloppy to stiff."""
    found = known.directions
    if not found:
        return
    shown = found if len(found) <= 6 else (*found[:3], *found[-3:])
    left_out = f" Only the three at each end of {len(found)}." if len(shown) < len(found) else ""
    yield Table(
        title="Combinations, from sloppy to stiff",
        columns=("combination", "standard error"),
        rows=tuple((_combination(d.weights), f"{100 * min(d.spread, 1.0):.3g} %") for d in shown),
        numeric=("standard error",),
        about="Along each of these the error is curved independently of the others; standard errors are shares of "
        f"the ranges.{left_out}",
    )


def _combination(weights: Mapping[str, float]) -> str:
    """The largest weights of a combination, such as `0.71 far − 0.71 near`."""
    strongest = sorted(weights.items(), key=lambda item: -abs(item[1]))
    parts = [(name, w) for name, w in strongest if abs(w) >= 0.2][:4]
    signed = [f"{'−' if w < 0 else '+'} {abs(w):.2f} {name}" for name, w in parts]
    more = " …" if len(parts) < sum(abs(w) >= 0.1 for w in weights.values()) else ""
    return " ".join(signed).removeprefix("+ ") + more


def _refits(known: Identifiability) -> Iterator[Block]:
    refits = known.refits
    if refits is None or len(refits.good) < 2:
        return
    worst = int(np.argmax(refits.spread))
    yield Text(
        text=f"{sum(refits.good)} of {len(refits.good)} fits from different seeds ended about as well as the best; "
        f"their estimates differ most in {known.space.names[worst]}, by {100 * refits.spread[worst]:.3g} % of its "
        "range.",
        quiet=False,
    )


def _convergence_panel(report: FitReport, index: int) -> plots.Panel:
    row = report.parameters[index]
    return partial(fit_plots.draw_convergence, row=row, convergences=report.convergences, index=index)


def _convergence(report: FitReport) -> Iterator[Block]:
    rows, searches = report.parameters, report.convergences
    if not searches or not rows:
        return
    keys = [("ink", "●", "candidates, the stronger the smaller their error"), ("green", "━", "the best")]
    if any(row.interval for row in rows):
        keys.append(("green", "▒", "its interval"))
    if len(searches) > 1:
        keys.append(("blue", "━", "other searches"))
    if any(row.old is not None for row in rows):
        keys.append(("orange", "┈", "before"))
    if any(row.true is not None for row in rows):
        keys.append(("red", "╌", "in reality"))
    if len(searches[0].starts) > 1:
        keys.append(("grey", "│", "a new iteration: the best is sought anew"))
    yield Legend(keys=tuple(keys))
    pictures = []
    for index, row in enumerate(rows):
        alt = (
            f"{row.name} over {len(searches[0].values)} evaluations, between {row.low:g} and {row.high:g} {row.unit}; "
            f"it ends at {row.value:.4g}."
        )
        pictures.append(Picture(image=svg(alone(_convergence_panel(report, index)), alt=alt)))
    yield Pictures(pictures=tuple(pictures))


def _errors(report: FitReport) -> Iterator[Block]:
    pictures = []
    if report.convergences:
        best = report.convergences[0].best_so_far()[1]
        alt = f"{report.minimised} over evaluations; the best ends at {best[-1]:.4g}."
        draw = partial(fit_plots.draw_errors, convergences=report.convergences, label=report.minimised)
        pictures.append(Picture(image=svg(alone(draw), alt=alt)))
    for chart in report.charts:
        alt = f"{chart.title}. {chart.about}".strip()
        pictures.append(Picture(image=svg(alone(partial(plots.draw_chart, chart=chart)), alt=alt)))
    if pictures:
        yield Pictures(pictures=tuple(pictures))
    about = tuple((chart.title, chart.about) for chart in report.charts if chart.about)
    if about:
        yield Bullets(items=about, quiet=True)


def _by_recording(series: tuple[Series, ...]) -> dict[str, list[Series]]:
    found: dict[str, list[Series]] = {}
    for one in series:
        found.setdefault(one.recording, []).append(one)
    return found


def _series(report: FitReport) -> Iterator[Block]:
    """The worst of the fitted series, and the worst of those that the fit never saw."""
    if not report.series:
        return
    keys = [("ink", "━", "measured")]
    for name, key in (
        ("after", ("green", "━", "simulated after")),
        ("before", ("orange", "━", "simulated before")),
        ("commanded", ("grey", "┈", "commanded")),
        ("band", ("green", "▒", "where 90 % of the samples should lie")),
    ):
        if any(getattr(one, name) is not None for one in report.series):
            keys.append(key)
    yield Legend(keys=tuple(keys))
    worst = []
    # Errors of different units cannot be compared: where there are several, that of the report's error counts.
    compared = [one for one in report.series if one.unit == report.error_unit] or report.series
    for held_out, which in ((False, "that were fitted"), (True, "never seen by the fit")):
        group = [one for one in compared if one.held_out == held_out]
        if group:
            one = max(group, key=lambda one: one.mean_error(one.after))
            caption = f"{one.recording}: the largest error of the recordings {which}, {_error_numbers(one)}"
            draw = alone(partial(fit_plots.draw_series, one=one, legend=False))
            worst.append(Picture(image=svg(draw, alt=_error_alt(one)), caption=caption))
    yield Pictures(pictures=tuple(worst))


def _each_recording(report: FitReport) -> Iterator[Block]:
    """The series of each recording, folded."""
    recordings = _by_recording(report.series)
    most = max(1, MAX_SERIES // max(1, len(recordings)))
    for name, channels in list(recordings.items())[:MAX_SERIES]:
        yield _recording_series(name, channels, most)
    if len(recordings) > MAX_SERIES:
        missing = ", ".join(list(recordings)[MAX_SERIES:])
        yield Text(text=f"Not drawn, to keep the page small: {missing}.")


def _error_numbers(one: Series) -> str:
    """The mean absolute errors of a series before and after the fit, with their unit."""
    errors = (one.mean_error(one.before), one.mean_error(one.after))
    known = " → ".join(f"{error:.3g}" for error in errors if error >= 0)
    return f"{known} {one.unit}".strip() if known else "not known"


def _error_alt(one: Series) -> str:
    return f"{one.channel} in {one.recording}, measured and simulated; mean absolute error {_error_numbers(one)}."


def _recording_series(name: str, channels: list[Series], most: int) -> Details:
    shown = channels
    if len(channels) > most:
        worst = sorted(channels, key=lambda one: -one.mean_error(one.after))[:most]
        shown = [one for one in channels if one in worst]
    pictures = []
    for one in shown:
        picture = svg(
            partial(fit_plots.draw_series_with_detail, one=one),
            fit_plots.series_size(one),
            alt=_error_alt(one),
            panel=False,
        )
        pictures.append(Picture(image=picture, caption=f"mean absolute error {_error_numbers(one)}"))
    blocks: list[Block] = [Pictures(pictures=tuple(pictures), kind="wide")]
    left = len(channels) - len(shown)
    if left:
        text = f"The {len(shown)} channels with the largest errors; {left} more are not drawn."
        blocks.append(Text(text=text))
    badge = "never seen by the fit" if channels[0].held_out else ""
    return Details(summary=name, badge=badge, blocks=tuple(blocks))


def _recordings(report: FitReport) -> Iterator[Block]:
    rows = report.recordings
    if not rows:
        return
    finite = [v for row in rows for v in (row.before, row.after) if v is not None and math.isfinite(v)]
    most = max(finite, default=0.0) or 1.0
    unit = f" [{report.error_unit}]" if report.error_unit else ""
    lines: list[tuple[Cell, ...] | str] = []
    for held_out, title in ((False, "fitted"), (True, "never seen by the fit")):
        group = [row for row in rows if row.held_out == held_out]
        if group:
            lines += [title, *(_recording(row, most) for row in group)]
    yield Table(
        columns=("recording", "before", "after", f"{report.error_name}{unit}"),
        rows=tuple(lines),
        numeric=("before", "after"),
        kind="bars",
    )


def _recording(row: RecordingRow, most: float) -> tuple[Cell, ...]:
    bars = tuple(
        (kind, min(max(value / most, 0.0), 1.0))
        for kind, value in (("was", row.before), ("is", row.after))
        if value is not None and math.isfinite(value)
    )
    name = Cell(value=row.name, notes=(row.note,) if row.note else ())
    return name, Cell(value=row.before), Cell(value=row.after, strong=True), Cell(bars=bars)


def _making(report: FitReport) -> Iterator[Block]:
    cost, facts = report.cost, dict(report.facts)
    if cost.real_trials is not None:
        facts["trials in reality"] = str(cost.real_trials)
    if cost.evaluations is not None:
        facts["candidates simulated"] = f"{cost.evaluations}, of which {cost.failures} failed"
    if report.identifiability and report.identifiability.curvature:
        facts["more for identifiability"] = f"{report.identifiability.curvature.evaluations} candidates"
    if cost.seconds is not None:
        facts["time"] = duration(cost.seconds)
    if cost.cpu_seconds is not None:
        facts["time of processors"] = duration(cost.cpu_seconds)
    if cost.workers:
        facts["ran on"] = cost.workers
    if cost.resumed:
        facts["interrupted and resumed"] = f"{cost.resumed} times" if cost.resumed > 1 else "once"
    if report.seeds:
        facts["seed" if len(report.seeds) == 1 else "seeds"] = ", ".join(str(seed) for seed in report.seeds)
    facts["versions"] = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    yield Facts(items=facts)
    if report.notes:
        yield Bullets(items=report.notes, quiet=True)
