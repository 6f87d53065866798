"""How much of a walk the built-in team uses: shares of its top speeds, and how gradually wishes change.

    pace = pace_of("dynamic-rewards")
    pace.share                                          # of the top speeds ahead, aside and in turning

Walks were learned without the server's delay, and for targets that change every few seconds; players of a match wish
something else at any time. The numbers of each walk are in `data/paces.toml`, with what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from nutmeg import settings


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How much of a walk's speed is used, and how fast it changes."""

    share: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Of the walk's top speeds ahead, aside and in turning."""
    gain: tuple[float, float, float] = (0.87, 0.9, 1.0)
    """True speeds for each of the walk's step sizes and times: measured, for `Limbs.odometry`."""
    side_turn: float = 0.0
    """Turn to the left for each m/s to the left, which is taken back in advance [rad/m]."""
    straighten: float = 2.0
    """Turn rate for each radian by which the robot has turned less than it was to [1/s]."""
    speed_up: tuple[float, float, float] = (0.5, 0.5, 3.0)
    """How fast wanted velocities may grow [m/s², m/s², rad/s²]."""
    slow_down: tuple[float, float, float] = (2.0, 2.0, 6.0)
    """How fast they may get smaller [m/s², m/s², rad/s²]."""

    turning: float = 0.3
    """Share of the speed ahead and aside that is given up for turning as fast as possible."""

    def __post_init__(self) -> None:
        if not all(0 < share <= 1 for share in self.share):
            raise ValueError(f"the shares of top speed are {self.share}; allowed is above 0 and up to 1.")
        if not all(rate > 0 for rate in (*self.gain, *self.speed_up, *self.slow_down)):
            raise ValueError(
                f"gains are {self.gain}, speed_up {self.speed_up} and slow_down {self.slow_down}; all must be above 0."
            )


@dataclass(frozen=True, kw_only=True)
class Paces:
    """The paces of walks, as their file has them."""

    pace: Mapping[str, Pace]
    """By the walk's name; `default` is for all others."""

    def __post_init__(self) -> None:
        if "default" not in self.pace:
            raise ValueError("has no [pace.default], which walks need that are not named.")


def pace_of(walk: str) -> Pace:
    """The pace of a walk by its name."""
    with resources.as_file(resources.files("nutmeg.match.team") / "data" / "paces.toml") as path:
        paces = settings.read_cached(path, Paces).pace
    return paces.get(walk, paces["default"])
