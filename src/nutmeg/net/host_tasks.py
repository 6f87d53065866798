"""How punctual the tasks of a hosted simulation are: period, lateness, time taken, overruns.

    times = TaskTimes(name="lola", period=0.012)
    times.note(late=0.0002, took=0.0011)        # one turn: began 0.2 ms after it was due, took 1.1 ms
    times.row()                                 # for people and for recordings

*Late* is a turn that began more than a millisecond after it was due by the wall clock; an *overrun* is one that ended
after the next one was due. A run in lock-step has no due times: there nothing is late, and a turn overruns when it
takes longer than its period.
"""

from __future__ import annotations

from dataclasses import dataclass

from nutmeg.engine.clock import PUNCTUAL


@dataclass(kw_only=True)
class TaskTimes:
    """Statistics of one task."""

    name: str
    period: float
    """Of simulated time [s]."""
    turns: int = 0
    late: int = 0
    """Turns that began more than a millisecond too late."""
    overruns: int = 0
    """Turns that ended after the next one was due."""
    left_out: int = 0
    """Turns left out because the run was behind."""
    lateness: float = 0.0
    """Of all turns together [s]."""
    latest: float = 0.0
    """The worst lateness [s]."""
    took: float = 0.0
    """By all turns together [s]."""
    longest: float = 0.0
    """The longest turn [s]."""

    def note(self, *, late: float, took: float) -> None:
        """Counts a turn that began so late and took so long [s]."""
        late = max(0.0, late)
        self.turns += 1
        self.late += late > PUNCTUAL
        self.overruns += late + took > self.period
        self.lateness += late
        self.took += took
        self.latest, self.longest = max(self.latest, late), max(self.longest, took)

    def row(self) -> dict[str, object]:
        """The numbers as they are told, times in ms."""
        turns = max(1, self.turns)
        return {
            "task": self.name,
            "period_ms": round(1e3 * self.period, 3),
            "turns": self.turns,
            "late": self.late,
            "overruns": self.overruns,
            "left_out": self.left_out,
            "mean_late_ms": round(1e3 * self.lateness / turns, 4),
            "worst_late_ms": round(1e3 * self.latest, 3),
            "mean_took_ms": round(1e3 * self.took / turns, 4),
            "longest_ms": round(1e3 * self.longest, 3),
        }
