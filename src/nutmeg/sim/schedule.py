"""Tasks at exact rates: physics, control, each sensor, cameras, recording; viewers when there is time.

A task has a period that is a whole number of physics steps, so it runs at exactly that rate in simulated
time whatever the computer does. Between two moments at which some task is due, the worlds are stepped in one
call. Tasks due at the same moment run in the order in which they were added. Best-effort tasks (a live
picture) are left out while the run is behind its clock.

    schedule = Schedule(worlds)
    schedule.every(0.02, control)
    schedule.every(0.04, record, offset=0.02)
    schedule.run(seconds=10, clock=RealTime(speed=1.0))
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.base.errors import SimulationError
from nutmeg.sim.pace import AsFastAsPossible
from nutmeg.sim.worlds import steps_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.sim.pace import Clock
    from nutmeg.sim.worlds import Worlds


@dataclass
class Task:
    """A function that is called at a fixed rate of simulated time."""

    name: str
    period: int
    """Time between two turns, in physics steps."""
    offset: int
    """Physics step of its first turn."""
    run: Callable[[float], None]
    """Called with the simulated time [s]."""
    best_effort: bool = False
    turns: int = 0
    """Number of times that it has run."""
    left_out: int = 0
    """Number of times that a best-effort task was left out because the run was behind."""

    def next_due(self, step: int) -> int:
        """The first step at or after `step` at which it is due."""
        if step <= self.offset:
            return self.offset
        return self.offset + math.ceil((step - self.offset) / self.period) * self.period


class Schedule:
    """Runs tasks and physics in the order of simulated time."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds
        self.step = 0
        """Physics steps since the start."""
        self.tasks: list[Task] = []
        self._stop = False
        self._served = -1

    @property
    def time(self) -> float:
        """Simulated time since the start [s]."""
        return self.step * self.worlds.scene.timestep

    def every(
        self,
        period: float,
        run: Callable[[float], None],
        *,
        name: str = "",
        offset: float = 0.0,
        best_effort: bool = False,
    ) -> Task:
        """Adds a task that runs every `period` seconds of simulated time, a whole number of physics steps."""
        timestep = self.worlds.scene.timestep
        task = Task(
            name=name or getattr(run, "__name__", "task"),
            period=steps_in(period, timestep),
            offset=steps_in(offset, timestep) if offset else 0,
            run=run,
            best_effort=best_effort,
        )
        self.tasks.append(task)
        return task

    def stop(self) -> None:
        """Ends the run after the current moment; may be called by a task or from another thread."""
        self._stop = True

    def run(self, seconds: float, clock: Clock | None = None) -> None:
        """Runs until `seconds` more have been simulated, `stop` is called, or the clock ends the run."""
        clock = clock or AsFastAsPossible()
        last = self.step + (steps_in(seconds, self.worlds.scene.timestep) if math.isfinite(seconds) else 2**62)
        self._stop = False
        clock.start(self.time)
        while not self._stop:
            self._run_due(clock)
            if self.step >= last or self._stop:
                break
            target = min([last, *(t.next_due(self.step + 1) for t in self.tasks)])
            self.worlds.step(target - self.step)
            self.step = target
            self._check()
            if not clock.wait(self.time):
                break

    def _run_due(self, clock: Clock) -> None:
        """Runs the tasks that are due now; a run that continues the last one does not repeat its last moment."""
        if self._served == self.step:
            return
        self._served = self.step
        for task in self.tasks:
            if task.next_due(self.step) != self.step:
                continue
            if task.best_effort and clock.behind(self.time):
                task.left_out += 1
                continue
            task.run(self.time)
            task.turns += 1

    def _check(self) -> None:
        bad = self.worlds.diverged()
        if bad.any():
            world = int(bad.argmax())
            raise SimulationError(
                f"the simulation became unstable at t = {self.time:.3f} s in world {world} ({int(bad.sum())} of "
                f"{self.worlds.count} worlds): {self.worlds.culprit(world)}. A smaller timestep or softer gains help."
            )
