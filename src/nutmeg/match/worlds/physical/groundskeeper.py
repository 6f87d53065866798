"""Larger grounds, prepared in another process while a match goes on.

    with Groundskeeper("sim3d") as keeper:
        keeper.prepare(seats=8, toed=0)
        keeper.has(seats=8, toed=0)             # soon
        ground = Ground(keeper.scene(seats=8, toed=0))

Compiling a ground of 22 robots takes seconds, taking a compiled one over some 20 ms. The other process starts with the
first order, works off one order after the other, and ends when there are no more, or when this process ends, however
that happens. It does not hear Ctrl-C: what that means is up to whoever plays the match.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TYPE_CHECKING

from nutmeg.base.interrupts import Closing, ignore_interrupts, interrupts_blocked
from nutmeg.match.worlds.physical.ground import ground_scene

if TYPE_CHECKING:
    from nutmeg.model.scene import Scene


class Groundskeeper(Closing):
    """Prepares scenes of grounds by their numbers of seats, all and toed."""

    def __init__(self, field: str = "sim3d") -> None:
        self.field = field
        self._pool: ProcessPoolExecutor | None = None
        self._orders: dict[tuple[int, int], Future[Scene]] = {}
        self._lock = threading.RLock()

    def prepare(self, *, seats: int, toed: int) -> None:
        """Orders a ground, unless it has been ordered already."""
        with self._lock:
            if (seats, toed) in self._orders:
                return
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_serve_parent)
            with interrupts_blocked():
                order = self._pool.submit(ground_scene, self.field, seats=seats, toed=toed)
            self._orders[seats, toed] = order
        order.add_done_callback(lambda _: self._rest())

    def _rest(self) -> None:
        """Ends the other process if there is nothing left to do; it takes much memory."""
        with self._lock:
            if self._pool is not None and all(order.done() for order in self._orders.values()):
                self._pool.shutdown(wait=False)
                self._pool = None

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
        with self._lock:
            pool, self._pool = self._pool, None
            self._orders.clear()
        if pool is not None:
            for process in dict(pool._processes or {}).values():  # `terminate_workers` from Python 3.14 on
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)


def _serve_parent() -> None:
    """In the other process: leaves Ctrl-C to the parent, and ends with it."""
    ignore_interrupts()
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)
