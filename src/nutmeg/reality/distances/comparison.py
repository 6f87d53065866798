"""A simulated recording beside a real one: errors of every channel in a table.

    table = compare(Recording.open(real), Recording.open(simulated), channels=["nao.angles"])
    for row in table.channels:
        row.column, row.rms, row.unit, row.missing   # "nao.angles.HeadYaw", 0.013, "rad", 4

Channels that only one of the two has are left out, and named.
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.recording import Recording


# ----------------------------------------------------------------------------------------------------
# Behaviours from recordings: channels matched by name, simulated series at the times of the real ones.
#
# Rows count until the end of the shorter recording: its last row, or its first event of the kind `fall`.


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """How the times of a simulated recording become those of the real one."""

    delay: float = 0.0
    """Seconds that the simulation is shown late: real values at t meet simulated ones of t - delay."""
    from_start: bool = False
    """Whether both clocks start at the first row; else their times are the same."""
    angles: bool = False
    """Whether values are angles in rad that may jump by whole turns."""
    end: str = "fall"
    """The kind of event that ends a recording; later rows are not compared."""


SAME_CLOCK = Alignment()


def read_behaviours(
    real: Recording,
    simulated: Sequence[Recording],
    channels: Sequence[str] | Mapping[str, str] | None = None,
    *,
    alignment: Alignment = SAME_CLOCK,
) -> tuple[Behaviour, Behaviour]:
    """The series of a real recording `(T, columns)` and, at its times, of N simulated ones `(N, T, columns)`."""
    names = _wanted(real, simulated, channels)
    times = real.times - (real.times[0] if alignment.from_start and len(real) else 0.0)
    units = tuple(real.channels[columns_of(real)[column]].unit for column, _ in names)
    columns = tuple(column for column, _ in names)
    ours = Behaviour(
        columns=columns,
        units=units,
        series=_read(real, columns),
        frames=int(frames_before(real.times, _end(real, alignment))),
        source=str(real.path),
    )
    series, frames = [], []
    for recording in simulated:
        _check_units(real, recording, names)
        values, lasted = _at_times(recording, tuple(name for _, name in names), times, alignment)
        if not lasted:
            raise RecordingError(_no_overlap(real, recording))
        series.append(values)
        frames.append(lasted)
    theirs = Behaviour(
        columns=columns,
        units=units,
        series=np.stack(series),
        frames=np.array(frames, dtype=np.intp),
        source=", ".join(str(recording.path) for recording in simulated),
    )
    return ours, theirs


def _at_times(
    recording: Recording, columns: tuple[str, ...], times: Floats, alignment: Alignment
) -> tuple[Floats, int]:
    """The columns of a simulated recording at real times `(T, columns)`, and how many of these come before its end."""
    if not len(recording):
        raise RecordingError(f"{recording.path}: has no rows, so there is nothing to compare.")
    zero = recording.times[0] if alignment.from_start else 0.0
    own = recording.times - zero
    values = resample(own, _read(recording, columns), at=times, delay=alignment.delay, angles=alignment.angles)
    slack = 1e-6 * float(np.diff(own).min(initial=1.0))  # rounding of times
    begun = frames_before(times, own[0] - slack + alignment.delay)
    lasted = frames_before(times, min(own[-1] + slack, _end(recording, alignment) - zero) + alignment.delay)
    return values, int(lasted) if lasted > begun else 0


def _end(recording: Recording, alignment: Alignment) -> float:
    """When the recording ends by an event; infinite if there is none."""
    return min((float(e["time"]) for e in recording.events if e["kind"] == alignment.end), default=np.inf)


def columns_of(recording: Recording) -> dict[str, str]:
    """The channel of each column."""
    return {column: channel.name for channel in recording.channels.values() for column in channel.columns}


def _read(recording: Recording, columns: tuple[str, ...]) -> Floats:
    """Some columns side by side, `(rows, columns)`."""
    owner = columns_of(recording)
    values = {name: recording.read(name) for name in dict.fromkeys(owner[column] for column in columns)}
    parts = [values[owner[c]][:, recording.channels[owner[c]].columns.index(c)] for c in columns]
    return np.stack(parts, axis=1)


def _wanted(
    real: Recording, simulated: Sequence[Recording], channels: Sequence[str] | Mapping[str, str] | None
) -> list[tuple[str, str]]:
    """The real and the simulated name of each column to compare."""
    if not simulated:
        raise RecordingError(f"{real.path}: there is no simulated recording to compare it with.")
    if channels is None:
        shared = [c for c in columns_of(real) if all(c in columns_of(other) for other in simulated)]
        if not shared:
            raise RecordingError(_nothing_shared(real, simulated[0]))
        return [(column, column) for column in shared]
    names = [channels] if isinstance(channels, str) else channels
    renamed = names if isinstance(names, Mapping) else {name: name for name in names}
    if not renamed:
        raise RecordingError(f"{real.path}: no channels were asked for. It has {', '.join(real.channels)}.")
    found = []
    for name, other_name in renamed.items():
        for recording, wanted in [(real, name), *((other, other_name) for other in simulated)]:
            if wanted not in recording.channels:
                raise RecordingError(_no_channel(real, recording, wanted))
        for label in real.channels[name].labels:
            for other in simulated:
                if label not in other.channels[other_name].labels:
                    raise RecordingError(_no_label(real, name, other, other_name, label))
            found.append((f"{name}.{label}", f"{other_name}.{label}"))
    return found


def _check_units(real: Recording, simulated: Recording, names: list[tuple[str, str]]) -> None:
    for ours, theirs in names:
        units = [r.channels[columns_of(r)[c]].unit for r, c in ((real, ours), (simulated, theirs))]
        if units[0] != units[1]:
            raise RecordingError(
                f"{real.path} has {ours!r} in {units[0] or 'no unit'}, but {simulated.path} has {theirs!r} in "
                f"{units[1] or 'no unit'}. Convert one of them, for CSV files with `scale` in the column map."
            )


def _no_channel(real: Recording, recording: Recording, name: str) -> str:
    side = "the real recording" if recording is real else f"the simulation of {real.path}"
    hint = suggestion(name, recording.channels)
    return (
        f"{recording.path} ({side}) has no channel {name!r}. {hint}It has {', '.join(recording.channels)}; "
        f"{real.path} has {', '.join(real.channels)}."
    )


def _no_label(real: Recording, name: str, simulated: Recording, other_name: str, label: str) -> str:
    ours, theirs = real.channels[name].labels, simulated.channels[other_name].labels
    return (
        f"{simulated.path}: channel {other_name!r} has no {label!r}. It has {', '.join(theirs)}; channel {name!r} of "
        f"{real.path} has {', '.join(ours)}. Record the same labels, or compare other channels."
    )


def _nothing_shared(real: Recording, simulated: Recording) -> str:
    return (
        f"{real.path} and {simulated.path} have no column in common: the first has the channels "
        f"{', '.join(real.channels)}, the second {', '.join(simulated.channels)}. Give `channels` as a table of real "
        "and simulated names."
    )


def _no_overlap(real: Recording, simulated: Recording) -> str:
    spans = [f"{r.path} runs from {r.times[0]:g} s to {r.times[-1]:g} s" for r in (real, simulated) if len(r)]
    return (
        f"{' and '.join(spans)}, or one of them ends (falls) before the other starts: no time to compare. "
        "If their clocks differ, align them with `from_start` or `delay`."
    )


@dataclass(frozen=True, kw_only=True)
class ChannelComparison:
    """One column of the table."""

    column: str
    unit: str
    rms: float
    """Root mean square error [unit]."""
    mean_absolute: float
    """Mean absolute error [unit]."""
    information: float
    """Information distance [bit]."""
    samples: int
    """Rows that were compared."""
    missing: int
    """Rows before the end in which either value is missing."""


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
        """For scripts."""
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
        real: what was measured; its times count.
        simulated: what is compared with it.
        channels: names of channels that both must have with the same labels, or real names and what they are called
            in the simulation; all columns that both have without it.
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
    both = (columns_of(real), columns_of(simulated))
    left_out = () if channels is not None else tuple(sorted(both[0].keys() ^ both[1].keys()))
    return Comparison(
        real=str(real.path), simulated=str(simulated.path), frames=int(seen.frames[0]), channels=rows, left_out=left_out
    )
