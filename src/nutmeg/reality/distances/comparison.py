"""Simulated recordings beside a real one: channels matched by name, and the error of each in a table.

    table = compare(Recording.open(real), Recording.open(simulated), channels=["nao.angles"])
    for row in table.channels:
        row.column, row.rms, row.unit, row.missing   # "nao.angles.HeadYaw", 0.013, "rad", 4

    real, simulated = read_behaviours(recording, simulated_recordings, channels=["nao.angles"])
    make_distance(settings).per_trial(real, simulated)   # (N,)

Rows count until the end of the shorter recording: its last row, or its first event of the kind `fall`. Channels that
only one recording has are left out, and named.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import RecordingError, suggestion
from nutmeg.reality.behaviour import Behaviour, frames_before, match_series, resample
from nutmeg.reality.distances.information import STANDARD_BINNING, Binning, information_distance
from nutmeg.reality.distances.series_error import series_errors
from nutmeg.recording import Log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.recording import Recording


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """How the times of a simulated recording relate to those of the real one."""

    delay: float = 0.0
    """Delay of the simulation [s]: real values at t are compared with simulated ones at t - delay."""
    from_start: bool = False
    """Whether both clocks start at the first row; if not, they are the same."""
    angles: bool = False
    """Whether values are angles in rad that may jump by whole turns."""
    end: str = "fall"
    """The kind of event that ends a recording; later rows are not compared."""


SAME_CLOCK = Alignment()


@dataclass(frozen=True, kw_only=True)
class ChannelComparison:
    """The errors of one column."""

    column: str
    unit: str
    rms: float
    """Root mean square error [unit]."""
    mean_absolute: float
    """Mean absolute error [unit]."""
    information: float
    """Information distance [bit]."""
    samples: int
    """Number of rows that were compared."""
    missing: int
    """Number of rows before the end in which either value is missing."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A simulated recording against a real one."""

    real: str
    simulated: str
    frames: int
    """Rows of the real recording until the end of the shorter one."""
    channels: tuple[ChannelComparison, ...]
    left_out: tuple[str, ...]
    """Columns that only one of the two has, when no channels were asked for."""

    def as_json(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        return dataclasses.asdict(self)


def compare(
    real: Recording,
    simulated: Recording,
    channels: Sequence[str] | Mapping[str, str] | None = None,
    *,
    alignment: Alignment = SAME_CLOCK,
    binning: Binning = STANDARD_BINNING,
) -> Comparison:
    """The errors of a simulated recording in every channel.

    Args:
        real: the measurements, at whose times both are compared.
        simulated: what is compared with them.
        channels: names of channels that both must have with the same labels, or real names with their names in the
            simulation; without it, all columns that both have.
        alignment: of the times.
        binning: of the information distance.
    """
    ours, theirs = read_behaviours(real, [simulated], channels, alignment=alignment)
    seen = match_series(ours, theirs)
    errors = series_errors(seen.real, seen.simulated, frames=seen.frames, angles=alignment.angles, columns=seen.columns)
    bits = information_distance(seen.real, seen.simulated, frames=seen.frames, binning=binning, columns=seen.columns)
    rows = tuple(
        ChannelComparison(
            column=column,
            unit=seen.units[i],
            rms=float(errors.rms[0, i]),
            mean_absolute=float(errors.mean_absolute[0, i]),
            information=float(bits[0, i]),
            samples=int(errors.samples[0, i]),
            missing=int(errors.missing[0, i]),
        )
        for i, column in enumerate(seen.columns)
    )
    left_out = Log.of(real).units.keys() ^ Log.of(simulated).units.keys() if channels is None else ()
    return Comparison(
        real=str(real.path),
        simulated=str(simulated.path),
        frames=int(seen.frames[0]),
        channels=rows,
        left_out=tuple(sorted(left_out)),
    )


def read_behaviours(
    real: Recording,
    simulated: Sequence[Recording],
    channels: Sequence[str] | Mapping[str, str] | None = None,
    *,
    alignment: Alignment = SAME_CLOCK,
) -> tuple[Behaviour, Behaviour]:
    """The series of a real recording, (T, columns), and of N simulated ones at its times, (N, T, columns)."""
    log, others = Log.of(real), [Log.of(recording) for recording in simulated]
    pairs = _wanted(log, others, channels)
    columns, names = (tuple(side) for side in zip(*pairs, strict=True))
    units = tuple(log.units[column] for column in columns)
    ours = Behaviour(
        columns=columns,
        units=units,
        series=log.series(columns),
        frames=int(frames_before(log.times, log.first_event(alignment.end))),
        source=str(log.path),
    )
    times = log.times - (log.times[0] if alignment.from_start and len(log.times) else 0.0)
    series, frames = [], []
    for other in others:
        _check_units(log, other, pairs)
        values, lasted = _at_times(other, names, times, alignment)
        if not lasted:
            raise RecordingError(_no_overlap(log, other))
        series.append(values)
        frames.append(lasted)
    theirs = Behaviour(
        columns=columns,
        units=units,
        series=np.stack(series),
        frames=np.array(frames, dtype=np.intp),
        source=", ".join(str(other.path) for other in others),
    )
    return ours, theirs


def _at_times(log: Log, columns: tuple[str, ...], times: Floats, alignment: Alignment) -> tuple[Floats, int]:
    """The columns of a simulation at real times, (T, columns), and how many of these come before its end."""
    if not len(log.times):
        raise RecordingError(f"{log.path}: has no rows, so there is nothing to compare.")
    zero = log.times[0] if alignment.from_start else 0.0
    own = log.times - zero
    values = resample(own, log.series(columns), at=times, delay=alignment.delay, angles=alignment.angles)
    slack = 1e-6 * float(np.diff(own).min(initial=1.0))  # rounding of times
    begun = frames_before(times, own[0] - slack + alignment.delay)
    end = min(own[-1] + slack, log.first_event(alignment.end) - zero)
    lasted = frames_before(times, end + alignment.delay)
    return values, int(lasted) if lasted > begun else 0


def _wanted(
    real: Log, simulated: Sequence[Log], channels: Sequence[str] | Mapping[str, str] | None
) -> list[tuple[str, str]]:
    """The real and the simulated name of each column to compare."""
    if not simulated:
        raise RecordingError(f"{real.path}: there is no simulated recording to compare it with.")
    if channels is None:
        shared = [c for c in real.owners if all(c in other.owners for other in simulated)]
        if not shared:
            raise RecordingError(_nothing_shared(real, simulated[0]))
        return [(column, column) for column in shared]
    names = [channels] if isinstance(channels, str) else channels
    renamed = names if isinstance(names, Mapping) else {name: name for name in names}
    if not renamed:
        raise RecordingError(f"{real.path}: no channels were asked for. It has {', '.join(real.channels)}.")
    found = []
    for name, other_name in renamed.items():
        for log, wanted in [(real, name), *((other, other_name) for other in simulated)]:
            if wanted not in log.channels:
                raise RecordingError(_no_channel(real, log, wanted))
        for label in real.channels[name].labels:
            for other in simulated:
                if label not in other.channels[other_name].labels:
                    raise RecordingError(_no_label(real, name, other, other_name, label))
            found.append((f"{name}.{label}", f"{other_name}.{label}"))
    return found


def _check_units(real: Log, simulated: Log, pairs: list[tuple[str, str]]) -> None:
    for ours, theirs in pairs:
        if real.units[ours] != simulated.units[theirs]:
            raise RecordingError(
                f"{real.path} has {ours!r} in {real.units[ours] or 'no unit'}, but {simulated.path} has {theirs!r} in "
                f"{simulated.units[theirs] or 'no unit'}. Convert one of them, for CSV files with `scale` in the "
                "column map."
            )


def _no_channel(real: Log, log: Log, name: str) -> str:
    side = "the real recording" if log is real else f"the simulation of {real.path}"
    hint = suggestion(name, log.channels)
    return (
        f"{log.path} ({side}) has no channel {name!r}. {hint}It has {', '.join(log.channels)}; "
        f"{real.path} has {', '.join(real.channels)}."
    )


def _no_label(real: Log, name: str, simulated: Log, other_name: str, label: str) -> str:
    ours, theirs = real.channels[name].labels, simulated.channels[other_name].labels
    return (
        f"{simulated.path}: channel {other_name!r} has no {label!r}. It has {', '.join(theirs)}; channel {name!r} of "
        f"{real.path} has {', '.join(ours)}. Record the same labels, or compare other channels."
    )


def _nothing_shared(real: Log, simulated: Log) -> str:
    return (
        f"{real.path} and {simulated.path} have no column in common: the first has the channels "
        f"{', '.join(real.channels)}, the second {', '.join(simulated.channels)}. Give `channels` as a table of real "
        "and simulated names."
    )


def _no_overlap(real: Log, simulated: Log) -> str:
    spans = [f"{r.path} runs from {r.times[0]:g} s to {r.times[-1]:g} s" for r in (real, simulated) if len(r.times)]
    return (
        f"{' and '.join(spans)}, or one of them ends (falls) before the other starts: no time to compare. "
        "If their clocks differ, align them with `from_start` or `delay`."
    )
