"""Pictures of robots' cameras, made beside the simulation: it never waits for them.

A host posts the state of the world to a `CameraFeed` at every control cycle and asks it for the pictures that have
come; what stands behind it (a process of its own) decides which states become pictures. With `NoCameras` graphics are
off.

    feed.want({"nao-1/CameraTop"})          # only what somebody looks at is drawn
    feed.show(0.012, qpos)                  # returns at once
    for picture in feed.take(): ...
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from nutmeg.base.arrays import Bytes, Floats


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture of one camera."""

    camera: str
    """`<robot>/<camera>`, as `nao-1/CameraTop`."""
    time: float
    """Simulated time at which it was taken [s]."""
    sequence: int
    """Counts the pictures of this camera from 0; gaps are pictures that were left out."""
    pixels: Bytes
    """Red, green, blue, the top row first, (height, width, 3)."""


class CameraFeed(Protocol):
    """Where states go and pictures come from; nothing here waits."""

    def want(self, cameras: Set[str]) -> None:
        """Draws these cameras from now on, by `<robot>/<camera>`, and no others."""

    def show(self, time: float, qpos: Floats) -> None:
        """Posts the world's configuration (nq,) at a simulated time."""

    def take(self) -> Sequence[Picture]:
        """The pictures that have come since the last call, the oldest first."""

    def close(self) -> None:
        """Ends it."""


class NoCameras:
    """Graphics are off."""

    def want(self, cameras: Set[str]) -> None:
        """Nothing is drawn."""

    def show(self, time: float, qpos: Floats) -> None:
        """Nobody looks."""

    def take(self) -> Sequence[Picture]:
        """Never any."""
        return ()

    def close(self) -> None:
        """Nothing to end."""
