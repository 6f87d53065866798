"""One line of a benchmark table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Row:
    """A measured value beside its peer and its target."""

    name: str
    value: float
    unit: str
    peer: str = ""
    """What it is compared with, with the peer's own value."""
    ratio: float | None = None
    """Ours over the peer's; None where there is nothing to compare with."""
    target: str = ""
    """The promise, e.g. `ratio >= 0.85`; empty where there is none."""
    met: bool | None = None
    """Whether the promise is kept."""

    def as_json(self) -> dict[str, Any]:
        """For scripts: the fixed keys."""
        return {k: v for k, v in asdict(self).items() if k != "met"}

    def cells(self) -> tuple[str, ...]:
        """For the table."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        met = {True: "yes", False: "NO", None: ""}[self.met]
        return (self.name, f"{self.value:,.4g}", self.unit, self.peer, ratio, self.target, met)

    def sentence(self) -> str:
        """For watching it run."""
        return f"{self.name}: {self.value:,.4g} {self.unit}" + (f" ({self.peer})" if self.peer else "")
