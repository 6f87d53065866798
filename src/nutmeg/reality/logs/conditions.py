"""The conditions under which a log was recorded: the gain of a servo, the load on an arm.

Conditions are stated in the configuration, by patterns of file names, or by the logs themselves:

    [recordings.conditions."heavy_*"]           # holds for logs with such names
    "robot.weight" = 0.7
    [recordings.told.kp]                        # kp400_sin_sin.csv, lab_kp-400.csv.gz: 400
    sets = "servo.xl330.p"
    factor = 0.0211487                          # the value that is set is 0.0211487 * 400
    needed = true

    stated = {"kp": StatedNumber(sets="servo.xl330.p", factor=0.0211487, needed=True)}
    stated_adjustments(stated, Path("kp400_sin_sin.csv"))   # (Adjustment(target="servo.xl330.p", value=8.45948),)

A number is looked for under each of its names, in upper or lower case, in two places:

1. inside the log: an entry under `[config]` in the manifest of a `.nutmeg`, or a column of a CSV file that holds the
   same number in every row;
2. in the file's name without its suffixes: the name of the number, directly or after `=`, `-` or `_` followed by the
   number and, where it has one, the unit; before and after it the file's name ends, or there is a `_`, a `-`, a space
   or a `+`.

Both places may state it if they agree. A log that states two numbers, or none where one is `needed`, is an error.
"""

from __future__ import annotations

import csv
import gzip
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nutmeg.base.errors import RecordingError
from nutmeg.model.parameters import Adjustment, parse_target
from nutmeg.recording.log import LOG_SUFFIXES

NUMBER_TOLERANCE = 1e-9
"""Numbers whose relative difference is smaller than this are the same."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A number that is different in some logs."""

    value: float
    relative: bool = False
    """Whether it multiplies the robot's own number."""


@dataclass(frozen=True, kw_only=True)
class StatedNumber:
    """A number that logs state about themselves, and what it sets."""

    sets: str
    """A target of `model.parameters`."""
    factor: float = 1.0
    """The value that is set is this times the number."""
    names: tuple[str, ...] = ()
    """Names under which it is looked for; the name of its table if left out."""
    unit: str = ""
    """Unit that may follow the number in a file's name."""
    needed: bool = False
    """Whether a log that does not state it is an error; if not, the robot's own number holds there."""
    low: float | None = None
    """The smallest plausible number; a smaller one is an error, as the name may mean something else."""
    high: float | None = None
    """The largest plausible number."""

    def __post_init__(self) -> None:
        parse_target(self.sets)
        if not (math.isfinite(self.factor) and self.factor):
            raise ValueError(f"`factor` is {self.factor}; it must be a finite number other than 0.")


def stated_adjustments(
    stated: Mapping[str, StatedNumber], path: Path, config: Mapping[str, object] | None = None, *, delimiter: str = ","
) -> tuple[Adjustment, ...]:
    """The adjustments that follow from what a log states about itself.

    Args:
        stated: the numbers, each under its name.
        path: the file of the log.
        config: the log's metadata; without it, the columns of a CSV file are searched.
        delimiter: the character between the cells of a CSV file.
    """
    out = []
    for name, one in stated.items():
        names = {n.lower() for n in one.names or (name,)}
        inside = _in_config(config, names, path) if config is not None else _in_columns(path, names, delimiter)
        found = {**inside, **_in_name(path, names, one.unit)}
        if any(not math.isclose(v, next(iter(found.values())), rel_tol=NUMBER_TOLERANCE) for v in found.values()):
            said = " and ".join(f"{value:g} in {where}" for where, value in found.items())
            raise RecordingError(f"{path}: tells two numbers for {name}: {said}. Correct one of them.")
        for where, value in found.items():
            if (one.low is not None and value < one.low) or (one.high is not None and value > one.high):
                least, most = ("any" if limit is None else f"{limit:g}" for limit in (one.low, one.high))
                allowed = f"{least} to {most} {one.unit}".rstrip()
                raise RecordingError(f"{path}: tells {value:g} for {name} in {where}; allowed is {allowed}.")
        if found:
            out.append(Adjustment(target=one.sets, value=one.factor * next(iter(found.values()))))
        elif one.needed:
            raise RecordingError(_missing(path, name, one))
    return tuple(out)


def _stem(path: Path) -> str:
    """A file's name without the suffixes of logs; a number may have a point in it."""
    return next((path.name.removesuffix(s) for s in LOG_SUFFIXES if path.name.endswith(s)), path.name)


def _in_name(path: Path, names: set[str], unit: str) -> dict[str, float]:
    called = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    after = f"(?:{re.escape(unit)})?" if unit else ""
    pattern = rf"(?<![^_\-+ ])(?:{called})[=\-_]?(\d+(?:\.\d+)?(?:e-?\d+)?){after}(?![^_\-+ ])"
    found = re.findall(pattern, _stem(path), flags=re.IGNORECASE)
    if len({float(number) for number in found}) > 1:
        raise RecordingError(f"{path}: its name tells {' and '.join(found)} for {called}; only one can be meant.")
    return {"its name": float(found[0])} if found else {}


def _in_config(config: Mapping[str, object], names: set[str], path: Path) -> dict[str, float]:
    return {
        f"its metadata ({key})": _number(value, f"{path}: {key} in its metadata")
        for key, value in config.items()
        if key.lower() in names
    }


def _in_columns(path: Path, names: set[str], delimiter: str) -> dict[str, float]:
    """The number that a column of a CSV file holds in every row; other kinds of files have none."""
    if not path.name.endswith((".csv", ".csv.gz")):
        return {}
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig") as file:
        rows = csv.reader(file, delimiter=delimiter)
        places = {place: column for place, column in enumerate(next(rows, [])) if column.strip().lower() in names}
        cells: dict[int, set[str]] = {place: set() for place in places}
        for row in rows if places else ():
            for place in places:
                cells[place].add(row[place].strip() if place < len(row) else "")
    out = {}
    for place, column in places.items():
        if len(cells[place]) != 1:
            raise RecordingError(
                f"{path}: column {column!r} tells what the recording was made with, so it must hold one number; it "
                f"holds {len(cells[place])}."
            )
        out[f"its column {column!r}"] = _number(cells[place].pop(), f"{path}: column {column!r}")
    return out


def _number(value: object, where: str) -> float:
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise RecordingError(f"{where} is {value!r}, not a number.") from None
    if not math.isfinite(found):
        raise RecordingError(f"{where} is {value!r}, not a finite number.")
    return found


def _missing(path: Path, name: str, one: StatedNumber) -> str:
    names = one.names or (name,)
    called = " or ".join(repr(n) for n in names)
    return (
        f"{path}: does not tell {name}, which sets {one.sets}. Put it into the file's name, like "
        f"{names[0]}100_{_stem(path)}, or inside: a column {called} with the same number in every row of a CSV file, "
        "an entry under [config] in a .nutmeg recording. Or set it by the file's name under [recordings.conditions]."
    )
