"""Which recordings are fitted and which are kept apart: patterns become files, and none is both.

    train = found_files(["kp*_sin_sin.csv", "walk.csv.gz#[0-5]"], folder)      # {path: ("",), path: ("[0-5]",)}
    keep = read_all(train, settings, twin)

`FILE#PATTERN` are some of the recordings that a file is split into (`split`), by their number.
"""

from __future__ import annotations

import glob
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from nutmeg.errors import RecordingError, UsageError, suggestion
from nutmeg.reality.measured import read_measured, told_of
from nutmeg.reality.photographed import read_photographed
from nutmeg.reality.pictures import holds_pictures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nutmeg.reality.identify_settings import IdentifySettings
    from nutmeg.reality.replay_cost import Recorded
    from nutmeg.reality.twin import Twin

Files = dict[Path, tuple[str, ...]]
"""Files, each with the patterns of its parts; `*` for all of them."""


def found_files(patterns: Iterable[str], folder: Path, what: str) -> Files:
    """The files that fit patterns, relative to a folder; a pattern that none fits is an error."""
    found: Files = {}
    for pattern in patterns:
        stem, _, part = pattern.partition("#")
        paths = sorted(glob.glob(str(folder / stem)))  # noqa: PTH207 (the pattern may be absolute)
        if not paths:
            raise UsageError(f"no file matches {pattern!r} ({what}). {looked_for(stem, folder)}")
        for path in map(Path, paths):
            found[path.resolve()] = (*found.get(path.resolve(), ()), part or "*")
    return found


def looked_for(pattern: str, folder: Path) -> str:
    """Where a pattern that fits nothing was looked for, and what may have been meant."""
    place = (folder / pattern).parent
    start = "" if Path(pattern).is_absolute() else f"It is taken relative to the folder {folder.resolve()}. "
    if not place.is_dir() and not glob.has_magic(str(place)):
        return f"{start}There is no folder {place.resolve()}."
    near = suggestion(Path(pattern).name, [path.name for path in place.glob("*") if path.is_file()])
    return f"{start}{near}Patterns go in quotes: 'logs/*.csv'."


def check_apart(train: Files, held_out: Files) -> None:
    """No file may be fitted and held out, unless different parts of it are named."""
    if not train:
        raise UsageError("there are no recordings to fit; name them under [recordings] or with --train.")
    for path in train:
        if path in held_out and "*" in (*train[path], *held_out[path]):
            raise UsageError(f"{path} is both fitted and held out; what the fit has seen is no test. Leave one out.")


def read_all(files: Mapping[Path, Sequence[str]], settings: IdentifySettings, twin: Twin) -> tuple[Recorded, ...]:
    """What the files hold, in order: recordings of motion, and folders of pictures."""
    names = [path.name for path in files]
    found: list[Recorded] = []
    for path, parts in files.items():
        name = str(path) if names.count(path.name) > 1 else path.name
        every: Sequence[Recorded] = (
            [
                read_photographed(
                    path, twin, block=settings.pictures.block, name=name, conditions=told_of(path, settings)
                )
            ]
            if holds_pictures(path)
            else read_measured(path, settings, twin, name=name)
        )
        kept = [
            m for m in every if any(part == "*" or fnmatchcase(m.source.rpartition("#")[2], part) for part in parts)
        ]
        if not kept:
            sources = ", ".join(dict.fromkeys(m.source for m in every))
            raise RecordingError(f"{path}: no part of it fits {', '.join(parts)}. It has {sources}.")
        found += kept
    return tuple(found)
