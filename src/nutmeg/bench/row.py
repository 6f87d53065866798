"""Rows of the benchmark table, and processes of their own in which memory is measured."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nutmeg.base.errors import SimulationError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True)
class Row:
    """A measured value beside its peer and its target."""

    name: str
    value: float
    unit: str
    peer: str = ""
    """The peer of the comparison, with its value."""
    ratio: float | None = None
    """Ours over the peer's; None where there is nothing to compare with."""
    least_ratio: float | None = None
    """The target: the smallest ratio that is promised."""
    least: float | None = None
    """The target: the smallest value that is promised."""
    below: float | None = None
    """The target: a limit that the value must stay below."""

    @property
    def target(self) -> str:
        """The promise in words, such as `ratio >= 0.85`; empty where there is none."""
        if self.least_ratio is not None:
            return f"ratio >= {self.least_ratio}"
        if self.least is not None:
            return f">= {self.least:,g}"
        return "" if self.below is None else f"< {self.below:g} {self.unit}"

    @property
    def met(self) -> bool | None:
        """Whether the promise is kept; None where there is none."""
        if self.least_ratio is not None:
            return self.ratio is not None and self.ratio >= self.least_ratio
        if self.least is not None:
            return self.value >= self.least
        return None if self.below is None else self.value < self.below

    @property
    def shown(self) -> str:
        """The value with four digits, and as a whole number from 1,000 on."""
        return f"{self.value:,.0f}" if self.value >= 1000 else f"{self.value:.4g}"

    def as_json(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {key: getattr(self, key) for key in ("name", "value", "unit", "peer", "ratio", "target")}

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        met = {True: "yes", False: "NO", None: ""}[self.met]
        return (self.name, self.shown, self.unit, self.peer, ratio, self.target, met)

    def sentence(self) -> str:
        """The row as a line that is printed while benchmarks run."""
        return f"{self.name}: {self.shown} {self.unit}" + (f" ({self.peer})" if self.peer else "")


def resident_bytes(process: int | str = "self") -> int:
    """Resident memory of a process; Linux only."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) * 1024


def in_process(work: Callable[..., None], *arguments: object) -> Any:  # noqa: ANN401
    """The object that `work` sends through its connection, from a separate process, so that nothing else counts."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(sending, *arguments))
    process.start()
    sending.close()
    try:
        return receiving.recv()
    except EOFError:
        raise SimulationError("the benchmark's process ended without a result; its error is above.") from None
    finally:
        process.join()
