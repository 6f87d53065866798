"""List all runs of a folder: what they are, how they ended, and their numbers; compare some of them.

Runs are what `play`, `learn`, `identify`, `btr` and `tournament` leave in `runs/`. The list is printed, and written as
a page with links to their reports and replays.

example: nutmeg runs
         nutmeg runs learn-initial-1 learn-initial-2
         nutmeg runs --folder results --json
"""

from __future__ import annotations

import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.commands.options import JsonOption

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg runs`."""

    compare: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="[RUN]")] = ()
    """Names of runs whose numbers are put side by side."""
    folder: Path = Path("runs")
    """The folder that has the runs."""
    open: bool = False
    """Open the page in your browser."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Lists the runs, and writes the page."""
    from nutmeg.view.reports.runs import comparison, find_runs, write_runs_page

    folder = arguments.folder
    if not folder.is_dir():
        where = "runs/ of the folder in which a command is typed"
        raise FileError(
            folder, f"there is no such folder. Runs are written to {where}, unless --output says otherwise."
        )
    runs = find_runs(folder)
    names = {one.folder.name: one for one in runs}
    for name in arguments.compare:
        if name not in names:
            raise UnknownNameError("run", name, names, where=str(folder))
    chosen = [names[name] for name in arguments.compare]
    rows = [(one.folder.name, one.kind, one.began, one.state, one.key_numbers) for one in runs]
    count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    terminal.table(f"{count} in {folder}", ("run", "kind", "began", "state", "numbers"), rows)
    if chosen:
        table = comparison(chosen)
        terminal.table("side by side", table.columns, [row for row in table.rows if not isinstance(row, str)])
    page = folder / "index.html"
    write_runs_page(page, runs, chosen)
    terminal.say(f"page: {page}")
    if arguments.open:
        webbrowser.open(page.resolve().as_uri())
    return {
        "page": page,
        "runs": [
            {
                "name": one.folder.name,
                "kind": one.kind,
                "began": one.began,
                "state": one.state,
                "numbers": dict(one.numbers),
            }
            for one in runs
        ],
    }
