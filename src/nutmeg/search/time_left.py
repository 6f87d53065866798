"""How long a search will still take, from how fast it has been.

    left = TimeLeft(budget)
    minimise(..., budget=budget, on_generation=left.after_generation, progress=left.during_generation)
    left.seconds()          # about 73.0, asked in one of the two or in another thread; None: not known yet

Replayed generations cost nothing and are not counted. The pace is that of the last few generations, because
candidates get slower while a search learns to stay on its feet. A search may always end earlier: a target is
reached, or the searcher has finished.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nutmeg.search.run import Budget, Generation

LOOKING_BACK = 5
"""Over how many generations the pace is taken."""


class TimeLeft:
    """An estimate that is told how a search gets on.

    Args:
        budget: of the search.
        clock: seconds since any moment.
    """

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget, self._clock = budget, clock
        self._start = self._since = clock()
        self._recent: deque[tuple[int, float]] = deque(maxlen=LOOKING_BACK)
        self._evaluations = self._generations = self._part = self._size = 0

    def after_generation(self, generation: Generation) -> None:
        """A generation is done; for `minimise(on_generation=...)`."""
        now = self._clock()
        if not generation.replayed:
            self._recent.append((len(generation.values), now - self._since))
        self._since, self._part, self._size = now, 0, len(generation.values)
        self._evaluations, self._generations = generation.evaluations, generation.number + 1

    def during_generation(self, done: int, total: int) -> None:
        """Some candidates of a generation are done; for `minimise(progress=...)`."""
        self._part, self._size = done, total

    def seconds(self) -> float | None:
        """The time until the budget is spent [s]; None if it cannot be said yet, or has no end."""
        limits = []
        if self._budget.seconds is not None:
            limits.append(self._start + self._budget.seconds - self._clock())
        pace, todo = self._pace(), self._todo()
        if pace is not None and todo is not None:
            limits.append(pace * todo - (0.0 if self._part else self._clock() - self._since))
        return max(min(limits), 0.0) if limits else None

    def _pace(self) -> float | None:
        """Seconds per candidate."""
        done = sum(count for count, _ in self._recent) + self._part
        if not done:
            return None
        now = self._clock() - self._since if self._part else 0.0
        return (sum(seconds for _, seconds in self._recent) + now) / done

    def _todo(self) -> float | None:
        """How many candidates are still to be evaluated; None if the budget does not count them."""
        counts = []
        if self._budget.evaluations is not None:
            counts.append(self._budget.evaluations - self._evaluations - self._part)
        if self._budget.generations is not None and self._size:
            counts.append((self._budget.generations - self._generations) * self._size - self._part)
        return min(counts) if counts else None
