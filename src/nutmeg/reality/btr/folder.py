"""The folder of a Back-to-Reality run: whose it is, where its searches are, and a line for each iteration.

    folder = RunFolder(Path("runs/ant"), settings, command=("nutmeg", "btr", "ant.toml"))
    with folder.opened():                               # refused if it belongs to a run with other settings
        folder.search(3, "simulations")                 # runs/ant/search/03-simulations
        folder.note({"iteration": 3, ...})              # a line of iterations.jsonl, once

Settings of [stop] may be changed, so that a run can be made longer.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nutmeg.base.journal import append_lines, open_run, read_lines

if TYPE_CHECKING:
    from nutmeg.reality.btr.settings import BtrSettings

ITERATIONS_FILE = "iterations.jsonl"


class RunFolder:
    """Where a run is kept."""

    def __init__(self, path: Path, settings: BtrSettings, *, command: Sequence[str], copy: Path | None = None) -> None:
        self.path, self._settings, self._command, self._copy = path, settings, tuple(command), copy
        self._noted = 0

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """The folder for this run alone, while it runs."""
        with open_run(
            self.path,
            command=self._command,
            seed=self._settings.seed,
            configuration=described(self._settings),
            copy=self._copy,
        ):
            self._noted = len(read_lines(self.path / ITERATIONS_FILE))
            yield

    def search(self, iteration: int, step: str) -> Path:
        """Where the search of a step is saved."""
        return self.path / "search" / f"{iteration:02d}-{step}"

    def note(self, line: Mapping[str, Any]) -> None:
        """Adds the line of an iteration, unless it is there."""
        if int(line["iteration"]) >= self._noted:
            append_lines(self.path / ITERATIONS_FILE, [line])
            self._noted += 1


def described(settings: BtrSettings) -> dict[str, object]:
    """The settings that decide what comes out, without those that only decide when it ends."""
    fields = (field.name for field in dataclasses.fields(settings) if field.name != "stop")
    return {name: getattr(settings, name) for name in fields}
