"""How punctual the tasks of hosted robots are, on the page: a table that follows the recording.

A recording of hosted robots has a channel `schedule.<task>` for each task (see `net.robot_host`); others have none, and
then nothing is added to the page.

    board = ScheduleBoard(server, film)
    board.show(12.5)                    # at most once a second it is brought up to date
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser
    from numpy.typing import NDArray

    from nutmeg.view.film import Film

PREFIX = "schedule."
EVERY = 1.0
"""Seconds between two updates."""
COLUMNS = {"turns": "turns", "late": "late", "overruns": "over", "mean_took_ms": "ms", "worst_late_ms": "worst"}
"""What is shown of each task, and what it is called."""


class ScheduleBoard:
    """The table of one film's tasks."""

    def __init__(self, server: viser.ViserServer, film: Film) -> None:
        self._film = film
        self._tasks = {
            name.removeprefix(PREFIX): [channel.labels.index(label) for label in COLUMNS]
            for name, channel in film.recording.channels.items()
            if name.startswith(PREFIX) and set(COLUMNS) <= set(channel.labels)
        }
        self._told = 0.0
        self._table: Any = None
        if self._tasks:
            with server.gui.add_folder("Schedule", order=25, expand_by_default=False):
                self._table = server.gui.add_markdown("")

    def show(self, moment: float) -> None:
        """Shows the table of a time of the recording."""
        now = time.monotonic()
        if self._table is None or now - self._told < EVERY or not len(self._film.times):
            return
        self._told = now
        row = self._film.row_at(moment)
        self._table.content = schedule_text(
            {
                task: self._film.recording.read(f"{PREFIX}{task}", row, row + 1)[0][at]
                for task, at in self._tasks.items()
            }
        )


def schedule_text(rows: dict[str, NDArray[Any]]) -> str:
    """The table as Markdown: turns, late ones, overruns, mean time taken and worst lateness of each task."""
    head = f"| task | {' | '.join(COLUMNS.values())} |\n|---|{'---|' * len(COLUMNS)}\n"
    return head + "\n".join(f"| {task} | {' | '.join(f'{value:.4g}' for value in row)} |" for task, row in rows.items())
