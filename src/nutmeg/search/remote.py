"""What evaluating in other processes has in common, whether they are our own or a cluster's.

A worker answers a piece with its result, or with the traceback of a mistake in the function, as text: not every
exception can be sent from one process to another.

    answer = answered(function, candidates, seeds)      # there
    result = result_of(answer, "a worker process")      # here; a mistake becomes a UsageError

The candidates of a worker that died are tried again one by one, which shows the one that kills.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence

from numpy.random import SeedSequence

from nutmeg.base.arrays import Floats
from nutmeg.errors import UsageError
from nutmeg.search.evaluation import Function, Piece, PieceResult, evaluate_piece

ATTEMPTS = 2
"""How often a candidate whose process dies is tried."""

Answer = PieceResult | str
"""The values of a piece, or the traceback of what the function raised."""


def answered(function: Function, candidates: Floats, seeds: Sequence[SeedSequence]) -> Answer:
    """What a worker says to a piece (n, k)."""
    try:
        return evaluate_piece(function, candidates, seeds)
    except Exception:  # noqa: BLE001 (told to the caller, who raises it)
        return traceback.format_exc()


def result_of(answer: object, where: str) -> PieceResult:
    """The values in an answer; a UsageError with the traceback if the function has failed `where`."""
    if isinstance(answer, str):
        raise UsageError(f"the evaluated function failed in {where}:\n{answer}")
    assert isinstance(answer, PieceResult)
    return answer


def singly(piece: Piece) -> list[Piece]:
    """The candidates of a piece whose worker died, each alone, for the next attempt."""
    return [Piece((row,), piece.attempt + 1) for row in piece.rows]


def lost(piece: Piece, reason: str) -> PieceResult:
    """The result of candidates that have killed their workers too often."""
    return PieceResult((float("nan"),) * len(piece.rows), (reason,) * len(piece.rows))
