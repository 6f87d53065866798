"""The output of commands, for people and for scripts.

People get tables and progress. With `--json` everything for people goes to standard error, and standard
output gets one JSON object as its last line.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rich.progress import Progress
    from rich.status import Status


_PIPED_WIDTH = 200  # columns of tables that go to a file or another program, which do not tell how wide they are


class Terminal:
    """The output of a command."""

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        self.console = Console(stderr=json, highlight=False)
        if not self.console.is_terminal and "COLUMNS" not in os.environ:
            self.console.width = _PIPED_WIDTH

    def say(self, text: str | Text) -> None:
        """A line for people, shown as it is, whatever names and paths it holds; a Rich `Text` may be coloured."""
        self.console.print(Text(text) if isinstance(text, str) else text, soft_wrap=True)

    def warn(self, text: str) -> None:
        """A line that something is not as it should be."""
        Console(stderr=True, highlight=False).print(Text("note: ", "yellow") + Text(text), soft_wrap=True)

    def table(self, title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
        """A table; numbers are aligned to the right, texts are shown as they are (Rich `Text` may be coloured)."""
        made = Table(
            title=Text(title) if title else None, title_justify="left", header_style="bold", box=None, pad_edge=False
        )
        cells = [list(row) for row in rows]
        for index, column in enumerate(columns):
            numeric = bool(cells) and all(isinstance(row[index], int | float) for row in cells)
            made.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
        for row in cells:
            made.add_row(*(_shown(cell) for cell in row))
        self.console.print(made)

    def busy(self, what: str) -> Status:
        """Shows what is being done for as long as that takes; a context manager."""
        return self.console.status(Text(what))

    def progress(self) -> Progress:
        """A progress bar with the time left; a context manager."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True, highlight=False)
        parts = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        return Progress(*parts, console=console, transient=True, disable=not console.is_terminal)

    def progress_line(self, text: str) -> None:
        """A line about the progress of long work, where no bar can show it: the output is a file."""
        console = Console(stderr=True, highlight=False)
        if not console.is_terminal:
            console.print(Text(text), soft_wrap=True)

    @contextlib.contextmanager
    def counting(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """A progress bar for work that calls back with how much is done, and of how much."""
        self.progress_line(f"{what} …")
        with self.progress() as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    def finish(self, result: Mapping[str, Any] | None) -> None:
        """Prints the result as JSON if that was asked for."""
        if self.json:
            from nutmeg.base.journal import plain  # here: it brings NumPy along

            shown = {k: v for k, v in (result or {}).items() if k != "exit_code"}
            sys.stdout.write(json.dumps(plain(shown)) + "\n")
            sys.stdout.flush()


def _shown(cell: object) -> Text:
    if isinstance(cell, Text):
        return cell
    return Text(f"{cell:.4g}" if isinstance(cell, float) else str(cell))
