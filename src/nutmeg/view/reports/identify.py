"""The report of an identification.

report = identify_report(found, settings, command=text, seconds=12.0, workers="1 thread")
write_report(folder / "report.html", report)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.reality.distances.distance import distance_unit
from nutmeg.reality.identify.identification import FitErrors
from nutmeg.reality.logs.pictures import PictureSet
from nutmeg.view.reports.fit import Cost, FitReport, RecordingRow, parameter_rows
from nutmeg.view.reports.fit_plots import Convergence, Series
from nutmeg.view.reports.report import Table

if TYPE_CHECKING:
    from nutmeg.reality.identify.identification import Band, Identified
    from nutmeg.reality.identify.settings import IdentifySettings
    from nutmeg.reality.logs.replay import RealData

MAX_SERIES = 24
"""The largest number of series that are drawn."""
DEGREES = 180 / np.pi


def identify_report(
    found: Identified, settings: IdentifySettings, *, command: str, seconds: float, workers: str
) -> FitReport:
    """The report of an identification."""
    searched = found.twin.searched
    series, left_out = _series(found)
    return FitReport(
        title=f"Identification of {found.twin.table.settings.name}",
        command=command,
        summary=_summary(found, settings),
        parameters=parameter_rows(
            found.twin.space,
            found.best,
            identifiability=found.identifiability,
            old=found.twin.space.start,
            sets={name: one.targets(name) for name, one in searched.items()},
        ),
        error_name=settings.report_error.kind.replace("_", " ") + " error",
        error_unit=found.unit,
        distance=_distance(found, settings),
        train_error=FitErrors.mean(found.after.train),
        train_error_before=FitErrors.mean(found.before.train),
        held_out_error=FitErrors.mean(found.after.held_out),
        held_out_error_before=FitErrors.mean(found.before.held_out),
        convergences=(
            Convergence.of(found.result, label=f"seed {found.seed}"),
            *(Convergence.of(r, label=f"re-fit {i}") for i, r in enumerate(found.refits, 1)),
        ),
        identifiability=found.identifiability,
        profiles=found.profiles,
        regions=found.regions,
        series=series,
        recordings=_recordings(found),
        tables=_residual_table(found),
        cost=Cost(evaluations=found.evaluations, failures=found.failures, seconds=seconds, workers=workers),
        seeds=(found.seed,),
        facts=_facts(found, settings),
        warnings=found.problems,
        notes=(f"{left_out} further series are not drawn.",) if left_out else (),
    )


def _summary(found: Identified, settings: IdentifySettings) -> str:
    files = f"{len(found.after.train)} recordings were fitted"
    if found.after.held_out:
        files += f", {len(found.after.held_out)} held out"
    return f"{settings.about}\n\n{files}.".strip()


def _distance(found: Identified, settings: IdentifySettings) -> str:
    """Name of the minimised distance, with its unit."""
    units = tuple(dict.fromkeys(u for m in found.train for u in m.real.units))
    unit = distance_unit(settings.distance, units)
    return settings.distance.kind.replace("_", " ") + (f" [{unit}]" if unit else "")


def _facts(found: Identified, settings: IdentifySettings) -> dict[str, str]:
    robot = settings.robot
    return {
        "robot": found.twin.table.settings.name + (f", {robot.type}" if robot.type else ""),
        "actuation": robot.actuation.rsplit("/", 1)[-1],
        "physics step": f"{1000 * found.twin.timestep:g} ms",
        "distance": _distance(found, settings),
        "distance found": f"{found.result.best.value:.4g}",
        "search": f"{found.result.method}; ended because {found.result.reason}",
    }


def _recordings(found: Identified) -> tuple[RecordingRow, ...]:
    sides = ((found.after.train, found.before.train, False), (found.after.held_out, found.before.held_out, True))
    goals = found.baseline.train | found.baseline.held_out if found.baseline else {}
    return tuple(
        RecordingRow(
            name=name,
            after=value,
            before=before.get(name),
            held_out=held,
            note=f"position = goal: {goals[name]:.3g}" if name in goals else "",
        )
        for after, before, held in sides
        for name, value in after.items()
    )


def _residual_table(found: Identified) -> tuple[Table, ...]:
    """Statistics of the residuals of each fitted series: offset, tests of independence, outliers."""
    units = {c: u for m in found.train for c, u in zip(m.real.columns, m.real.units, strict=True)}
    rows: list[tuple[str | float, ...]] = []
    for name, columns in found.residuals.items():
        for column, check in columns.items():
            factor, unit = (DEGREES, "deg") if units[column] == "rad" else (1.0, units[column])
            offset = f"{factor * check.offset:.3g} {unit}".strip()
            tests = (check.correlation, check.whiteness, check.runs)
            rows.append((name, column, offset, *tests, f"{check.outliers:.1%}"))
    if not rows:
        return ()
    heads = ("Recording", "Series", "Offset", "Correlation of successive", "Ljung-Box p", "Runs p", "Outliers")
    about = (
        "Residuals are measured minus simulated. Of independent noise nothing more can be explained; a small p says "
        "that the model still lacks something, or that a sensor is filtered. Intervals take that into account."
    )
    return (Table(columns=heads, rows=tuple(rows[:MAX_SERIES]), about=about),)


def _series(found: Identified) -> tuple[tuple[Series, ...], int]:
    """Measured and simulated series, and the number of those left out; of windows only the first of a recording."""
    out: list[Series] = []
    left_out = 0
    rows = np.stack([found.twin.space.start, found.best])
    for measured, held in ((found.train, False), (found.held_out, True)):
        firsts = list({m.source: m for m in reversed(measured)}.values())[::-1]
        if not firsts or found.cost is None:
            continue
        drawn = firsts[: max(1, (MAX_SERIES - len(out)) // max(1, len(firsts[0].real.columns)))]
        left_out += (len(firsts) - len(drawn)) * len(firsts[0].real.columns)
        for one, seen in zip(drawn, found.cost.of(tuple(drawn)).behaviours(rows), strict=True):
            out += _of(one, np.asarray(seen.series), found.bands.get(one.name), held_out=held)
    left_out += max(0, len(out) - MAX_SERIES)
    return tuple(out[:MAX_SERIES]), left_out


def _of(one: RealData, simulated: np.ndarray, band: Band | None, *, held_out: bool) -> list[Series]:
    """The series of one recording; angles in degrees."""
    real = np.asarray(one.real.series)
    out = []
    for i, (column, unit) in enumerate(zip(one.real.columns, one.real.units, strict=True)):
        factor, shown = (DEGREES, "deg") if unit == "rad" else (1.0, unit)
        commanded = one.commanded.get(column)
        out.append(
            Series(
                recording=one.name,
                channel=column,
                unit=shown,
                times=one.times,
                measured=factor * real[:, i],
                before=factor * simulated[0, :, i],
                after=factor * simulated[1, :, i],
                commanded=None if commanded is None else factor * commanded,
                band=None if band is None else (factor * band.low[:, i], factor * band.high[:, i]),
                held_out=held_out,
                along="block of pixels, row by row" if isinstance(one, PictureSet) else "time [s]",
            )
        )
    return out
