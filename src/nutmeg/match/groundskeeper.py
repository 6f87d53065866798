"""Larger grounds, prepared in another process while a match goes on.

    with Groundskeeper("sim3d") as keeper:
        keeper.prepare(seats=8, toed=0)
        keeper.has(seats=8, toed=0)             # soon
        ground = Ground(keeper.scene(seats=8, toed=0))

Compiling a ground of 22 robots takes seconds, taking a compiled one over some 20 ms. The other process starts with the
first order and works off one order after the other.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TYPE_CHECKING, Self

from nutmeg.match.ground import ground_scene

if TYPE_CHECKING:
    from types import TracebackType

    from nutmeg.body.scene import Scene


class Groundskeeper:
    """Prepares scenes of grounds by their numbers of seats, all and toed."""

    def __init__(self, field: str = "sim3d") -> None:
        self.field = field
        self._pool: ProcessPoolExecutor | None = None
        self._orders: dict[tuple[int, int], Future[Scene]] = {}

    def prepare(self, *, seats: int, toed: int) -> None:
        """Orders a ground, unless it has been ordered already."""
        if (seats, toed) not in self._orders:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
            self._orders[seats, toed] = self._pool.submit(ground_scene, self.field, seats=seats, toed=toed)

    def has(self, *, seats: int, toed: int) -> bool:
        """Whether a ground is ready."""
        order = self._orders.get((seats, toed))
        return order is not None and order.done()

    def scene(self, *, seats: int, toed: int) -> Scene:
        """A ground's scene; waits for it if it is not ready."""
        self.prepare(seats=seats, toed=toed)
        return self._orders[seats, toed].result()

    def close(self) -> None:
        """Ends the other process; what it was working on is lost."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        self._orders.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
