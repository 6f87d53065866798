"""What runs on the workers of a Dask cluster: a function that is kept there, and called for many pieces.

    client.run(keep, digest, sent)                                      # on all workers, once for each function
    client.submit(evaluate_there, candidates, seeds, digest=digest)     # a piece, on any of them

A function is kept as it was sent until the first piece needs it. A worker that was not there when it was sent
answers `Lacking`, and is sent it then. Pieces do not depend on it in Dask's sense: Dask would give all of them to
the worker that has it, and forget it with that worker.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from numpy.random import SeedSequence

from nutmeg.base.arrays import Floats
from nutmeg.errors import EnvironmentProblem
from nutmeg.runs import versions
from nutmeg.search.evaluation import Function
from nutmeg.search.remote import Answer, answered

if TYPE_CHECKING:
    from distributed import Worker

SAME = ("nutmeg", "python", "numpy", "mujoco")
"""What must have the same version here and on the workers."""
MOST_KEPT = 4
"""How many functions a worker keeps; the oldest goes first."""


@dataclass(frozen=True)
class Lacking:
    """The answer of a worker that does not have the function."""

    worker: str
    """Its address."""


class _Kept:
    """A function as it was sent, and loaded."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent
        self._function: Function | None = None
        self._loading = threading.Lock()

    def function(self) -> Function:
        """The function; one thread of a worker loads it, the others then have it."""
        from distributed.protocol.pickle import loads

        with self._loading:
            if self._function is None:
                try:
                    self._function = cast("Function", loads(self._sent))
                except Exception:  # noqa: BLE001 (some exceptions cannot be sent; as text, all can)
                    raise EnvironmentProblem(
                        f"the function cannot be loaded on a Dask worker:\n{traceback.format_exc()}"
                        "Its module must be there too: install it, or start the workers with PYTHONPATH set."
                    ) from None
            return self._function


def keep(digest: str, sent: bytes, dask_worker: Worker) -> dict[str, str]:
    """Keeps a function on a worker, which Dask puts in; gives back the versions that are there."""
    functions = _functions(dask_worker)
    functions.setdefault(digest, _Kept(sent))
    while len(functions) > MOST_KEPT:
        functions.pop(next(iter(functions)), None)
    return versions(SAME)


def evaluate_there(candidates: Floats, seeds: Sequence[SeedSequence], *, digest: str) -> Answer | Lacking:
    """What a worker says to a piece (n, k) of the function with this digest."""
    from distributed import get_worker

    worker = get_worker()
    kept = _functions(worker).get(digest)
    return Lacking(worker.address) if kept is None else answered(kept.function(), candidates, seeds)


def _functions(worker: Worker) -> dict[str, _Kept]:
    """What a worker keeps, by digest; it lives as long as the worker."""
    return cast("dict[str, _Kept]", vars(worker).setdefault("nutmeg_functions", {}))
