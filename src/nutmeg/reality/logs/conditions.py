"""Numbers that a recording tells of itself: the gain or the load it was made with, in its name or inside it.

    [recordings.told.kp]                        # kp400_sin_sin.csv, lab_kp-400.csv.gz: 400
    sets = "servo.xl330.p"
    factor = 0.0211487                          # what is set is 0.0211487 * 400
    needed = true

    told = {"kp": ToldNumber(sets="servo.xl330.p", factor=0.0211487, needed=True)}
    told_by(told, Path("kp400_sin_sin.csv"))    # (Adjustment(target="servo.xl330.p", value=8.45948),)

A number is looked for under each of its names, upper and lower case alike, in two places:

1. inside the recording: an entry under `[config]` in the manifest of a `.nutmeg`, or a column of a CSV file that holds
   the same number in every row;
2. in the file's name without its endings: the name, directly or after `=`, `-` or `_` followed by the number and, where
   there is one, the unit; before and after it the name of the file ends, or there is a `_`, a `-`, a space or a `+`.

Both may tell, the same. A recording that tells two numbers, or none where one is `needed`, is an error.
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

NAME_ENDINGS = (".gz", ".csv", ".parquet", ".nutmeg")
NUMBER_TOLERANCE = 1e-9
"""Numbers that differ by less than this part are the same."""


@dataclass(frozen=True, kw_only=True)
class StatedNumber:
    """A number that recordings tell of themselves, and what it sets."""

    sets: str
    """A target of `body.adjustment`."""
    factor: float = 1.0
    """What is set is this times the number."""
    names: tuple[str, ...] = ()
    """What it is called; as its table if left out."""
    unit: str = ""
    """What may follow the number in a file's name."""
    needed: bool = False
    """Whether a recording that does not tell it is an error; else the robot's own number holds there."""
    low: float | None = None
    """The least that can be meant; less is an error, as the name may mean something else."""
    high: float | None = None
    """The most that can be meant."""

    def __post_init__(self) -> None:
        parse_target(self.sets)
        if not (math.isfinite(self.factor) and self.factor):
            raise ValueError(f"`factor` is {self.factor}; it must be a finite number other than 0.")


def stated_adjustments(
    told: Mapping[str, StatedNumber], path: Path, config: Mapping[str, object] | None = None, *, delimiter: str = ","
) -> tuple[Adjustment, ...]:
    """What a recording sets by what it tells of itself.

    Args:
        told: the numbers, each under its name.
        path: of the recording.
        config: the recording's own metadata; without it, the columns of a CSV file are looked at.
        delimiter: between the cells of a CSV file.
    """
    out = []
    for name, one in told.items():
        names = {n.lower() for n in one.names or (name,)}
        inside = _in_config(config, names, path) if config is not None else _in_columns(path, names, delimiter)
        found = {**inside, **_in_name(path, names, one.unit)}
        if any(
            not math.isclose(value, next(iter(found.values())), rel_tol=NUMBER_TOLERANCE) for value in found.values()
        ):
            said = " and ".join(f"{value:g} in {where}" for where, value in found.items())
            raise RecordingError(f"{path}: tells two numbers for {name}: {said}. Correct one of them.")
        for where, value in found.items():
            if (one.low is not None and value < one.low) or (one.high is not None and value > one.high):
                least, most = ("any" if limit is None else f"{limit:g}" for limit in (one.low, one.high))
                raise RecordingError(
                    f"{path}: tells {value:g} for {name} in {where}; allowed is {least} to {most} {one.unit}".rstrip()
                    + "."
                )
        if found:
            out.append(Adjustment(target=one.sets, value=one.factor * next(iter(found.values()))))
        elif one.needed:
            raise RecordingError(_missing(path, name, one))
    return tuple(out)


def stem_of(path: Path) -> str:
    """A file's name without the endings of recordings; a number may have a point in it."""
    name = path.name
    for ending in NAME_ENDINGS:
        name = name.removesuffix(ending)
    return name


def _in_name(path: Path, names: set[str], unit: str) -> dict[str, float]:
    called = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    after = f"(?:{re.escape(unit)})?" if unit else ""
    pattern = rf"(?<![^_\-+ ])(?:{called})[=\-_]?(\d+(?:\.\d+)?(?:e-?\d+)?){after}(?![^_\-+ ])"
    found = re.findall(pattern, stem_of(path), flags=re.IGNORECASE)
    if len({float(number) for number in found}) > 1:
        raise RecordingError(f"{path}: its name tells {' and '.join(found)} for {called}; only one can be meant.")
    return {"its name": float(found[0])} if found else {}


def _in_config(config: Mapping[str, object], names: set[str], path: Path) -> dict[str, float]:
    out = {}
    for key, value in config.items():
        if key.lower() in names:
            out[f"its metadata ({key})"] = _number(value, f"{path}: {key} in its metadata")
    return out


def _in_columns(path: Path, names: set[str], delimiter: str) -> dict[str, float]:
    """A column of a CSV file that holds one number; other kinds of files have none."""
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
        f"{names[0]}100_{stem_of(path)}, or inside: a column {called} with the same number in every row of a CSV file, "
        "an entry under [config] in a .nutmeg recording. Or set it by the file's name under [recordings.conditions]."
    )
