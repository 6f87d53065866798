"""The report of a calibration of the behavioural world.

report = calibration_report(found, recordings, command=text, seconds=12.0, seed=0)
write_report(folder / "body.html", report)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.view.reports.fit import Cost, FitReport
from nutmeg.view.reports.fit_plots import ParameterRow
from nutmeg.view.reports.plots import Chart, Curve
from nutmeg.view.reports.report import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nutmeg.match.calibration.calibrate import Calibrated
    from nutmeg.match.calibration.estimates import Estimate

_GROUP_UNITS = {"walk": "m/s", "head": "rad/s", "fall": "1/s", "get_up": "s", "ball": "", "bounce": "", "kick": ""}
_NUMBER_UNITS = {
    "walk.turn": "rad/s",
    "walk.acceleration": "m/s²",
    "walk.turn_acceleration": "rad/s²",
    "walk.turn_noise": "rad/s",
    "walk.ahead_noise_share": "",
    "walk.side_noise_share": "",
    "walk.turn_noise_share": "",
    "fall.collision": "1/m",
    "fall.lying": "1/m",
    "get_up.spread": "",
    "get_up.failure": "",
    "get_up.turn": "rad",
    "ball.deceleration": "m/s²",
    "ball.damping": "1/s",
    "kick.straight_distance": "m",
    "kick.side_distance": "m",
    "kick.straight_direction_spread": "rad",
    "kick.side_direction_spread": "rad",
    "kick.tip_ahead": "m",
    "kick.tip_aside": "m",
    "kick.wind_up": "s",
    "kick.follow_through": "s",
}
"""Units of the settings of the behavioural world: by group, and where they differ from it."""
_SPEED_BINS = 12


def calibration_report(
    found: Calibrated, recordings: Sequence[Path], *, command: str, seconds: float, seed: int
) -> FitReport:
    """The report of a calibration."""
    known = [one for one in found.estimates.values() if one.value is not None]
    kept = [one for one in found.estimates.values() if one.value is None]
    return FitReport(
        title="Calibration of the behavioural world",
        command=command,
        summary=(
            f"{len(known)} numbers of the behavioural world, estimated from {found.seconds:.0f} s of recorded matches "
            f"({found.robot_minutes:.0f} robot-minutes). {len(kept)} could not be estimated and stay those of "
            f"{found.base.name!r}. Intervals are for 95 %."
        ),
        parameters=tuple(_row(one, found) for one in known),
        charts=(*_speeds(found), *_kicks(found)),
        tables=(_samples(known), _unknown(kept, found)),
        cost=Cost(seconds=seconds),
        seeds=(seed,),
        facts={"recordings": ", ".join(path.name for path in recordings), "base": found.base.name},
    )


def _unit_of(name: str) -> str:
    """The unit of a number of the behavioural world."""
    return _NUMBER_UNITS.get(name, _GROUP_UNITS.get(name.split(".", maxsplit=1)[0], ""))


def _row(one: Estimate, found: Calibrated) -> ParameterRow:
    value, old = float(one.value or 0.0), found.base.number(one.name)
    low, high = float(one.low or 0.0), float(one.high or 0.0)
    top = 1.25 * max(value, high, old if np.isfinite(old) else 0.0, 1e-6)
    return ParameterRow(
        name=one.name,
        value=value,
        low=min(0.0, 1.25 * low) - 0.02 * top,
        high=top,
        unit=_unit_of(one.name),
        old=old if np.isfinite(old) else None,
        interval=(low, high),
        reason=one.reason,
    )


def _samples(known: Sequence[Estimate]) -> Table:
    return Table(
        title="What the numbers rest on",
        columns=("number", "observations", "remark"),
        rows=tuple((one.name, one.samples, one.reason or None) for one in known),
    )


def _unknown(kept: Sequence[Estimate], found: Calibrated) -> Table:
    return Table(
        title="What the recordings cannot tell",
        columns=("number", "stays", "why"),
        rows=tuple((one.name, found.base.number(one.name), one.reason) for one in kept),
        about="Sizes of bodies, rectangles of kicks, dives and the blame for pushes are never estimated.",
    )


def _speeds(found: Calibrated) -> tuple[Chart, ...]:
    wished, gone = found.walked.T
    if len(wished) < _SPEED_BINS:
        return ()
    edges = np.linspace(wished.min(), wished.max() + 1e-9, _SPEED_BINS + 1)
    places = np.digitize(wished, edges) - 1
    full = [k for k in range(_SPEED_BINS) if np.sum(places == k) >= 10]
    if not full:
        return ()
    middle = np.array([wished[places == k].mean() for k in full])
    means, lows, highs = (
        np.array([float(of(gone[places == k])) for k in full])
        for of in (np.mean, lambda v: np.quantile(v, 0.1), lambda v: np.quantile(v, 0.9))
    )
    return (
        Chart(
            title="Speed ahead",
            curves=(
                Curve(name="gone, and 80 % of cycles", x=middle, y=means, low=lows, high=highs, points=True),
                Curve(name="as wanted", x=middle, y=middle, dashed=True),
            ),
            x_label="wanted [m/s]",
            y_label="gone [m/s]",
            about="What robots wanted to walk ahead and how they went, in cycles of 0.1 s with nobody near.",
        ),
    )


def _kicks(found: Calibrated) -> tuple[Chart, ...]:
    ways = np.sort(found.kicked)
    if len(ways) < 2:
        return ()
    return (
        Chart(
            title="Straight kicks",
            curves=(Curve(name="kicks", x=ways, y=(np.arange(len(ways)) + 0.5) / len(ways), points=True),),
            x_label="distance [m]",
            y_label="share that goes no farther",
            about="How far balls go after straight kicks of full strength with a free way.",
        ),
    )
