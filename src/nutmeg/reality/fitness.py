"""Fitness: what a controller achieved, by name, from where the robot went and how its joints moved.

    [fitness]                       # of a configuration file
    kind = "speed"                  # along the heading at the start [m/s]
    after = 0.5                     # the first half second does not count
    falls = "end"                   # what comes after a fall does not count, but takes its time

    fitness_of(settings, times, frames, pose=pose)      # (N,), the larger the better

| kind       | what                                                                   | unit  |
|------------|------------------------------------------------------------------------|-------|
| `speed`    | way along the starting heading over the whole time of the trial        | m/s   |
| `distance` | way along the starting heading                                         | m     |
| `swing`    | how far the joints turn on average, highest less lowest angle          | rad   |

Seed 000 measures its ant by gait speed. `sideways` takes off a part of the way across the heading.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from nutmeg.base.arrays import Floats


UNITS = {"speed": "m/s", "distance": "m", "swing": "rad"}


@dataclass(frozen=True, kw_only=True)
class FitnessSettings:
    """How a controller is judged."""

    kind: Literal["speed", "distance", "swing"] = "speed"
    """What is measured."""
    after: float = 0.0
    """Seconds at the start that do not count."""
    sideways: float = 0.0
    """speed, distance: what part of the way across the heading is taken off."""
    joints: tuple[str, ...] = ("*",)
    """swing: patterns of the joints that count."""
    falls: Literal["end", "fail"] = "end"
    """A fall ends what counts, or makes the controller one that failed (no fitness, not to be transferred)."""
    upright: float = 0.7
    """The robot has fallen when the cosine between its z axis and the vertical is below this; -1 for never."""

    def __post_init__(self) -> None:
        if self.kind not in UNITS:
            raise UnknownNameError("fitness", self.kind, UNITS)
        if self.after < 0 or self.sideways < 0 or not -1 <= self.upright < 1:
            raise ValueError(
                f"after ({self.after:g}) and sideways ({self.sideways:g}) must be 0 or more, and upright "
                f"({self.upright:g}) a cosine from -1 to below 1."
            )

    @property
    def unit(self) -> str:
        """Of the fitness."""
        return UNITS[self.kind]


def fitness_of(
    settings: FitnessSettings,
    times: ArrayLike,
    frames: ArrayLike,
    *,
    pose: Floats | None = None,
    angles: Floats | None = None,
    joints: tuple[str, ...] = (),
) -> Floats:
    """The fitness of N robots, (N,); nan where a fall is a failure, and where nothing was seen.

    Args:
        settings: what counts.
        times: of the rows [s], (T,).
        frames: rows until each robot fell or the trial ended, (N,).
        pose: of the roots, (N, T, 7): place [m] and quaternion.
        angles: of the joints, (N, T, joints) [rad].
        joints: their names.
    """
    when, lasted = np.asarray(times, float), np.asarray(frames, int)
    first = int(np.searchsorted(when, settings.after - 1e-9))
    if first >= len(when) - 1:
        raise UsageError(
            f"the trial lasts {when[-1]:g} s, but its first {settings.after:g} s do not count for the fitness. "
            "Make trials longer, or `after` of [fitness] shorter."
        )
    if settings.kind == "swing":
        value = _swing(settings, angles, joints, first, lasted)
    else:
        value = _way(settings, pose, first, lasted)
        if settings.kind == "speed":
            value = value / (when[-1] - when[first])
    failed = (lasted < len(when)) if settings.falls == "fail" else (lasted < 1)
    return np.where(failed, np.nan, value)


def _way(settings: FitnessSettings, pose: Floats | None, first: int, frames: NDArray[np.int_]) -> Floats:
    """Metres along the heading of the first row, less the sideways part, (N,)."""
    if pose is None:
        raise UsageError(
            f"the fitness {settings.kind!r} needs to know where the robot is, but its root is fixed or was not "
            "recorded. Use kind = 'swing', record the pose, or give the fitness as a number."
        )
    count = np.arange(len(pose))
    w, x, y, z = pose[:, 0, 3:7].T
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    start = np.minimum(first, np.maximum(frames - 1, 0))
    move = pose[count, np.maximum(frames - 1, 0), :2] - pose[count, start, :2]
    along = move[:, 0] * np.cos(yaw) + move[:, 1] * np.sin(yaw)
    across = move[:, 1] * np.cos(yaw) - move[:, 0] * np.sin(yaw)
    return np.asarray(along - settings.sideways * np.abs(across))


def _swing(
    settings: FitnessSettings,
    angles: Floats | None,
    joints: tuple[str, ...],
    first: int,
    frames: NDArray[np.int_],
) -> Floats:
    """Mean range of the chosen joints, (N,) [rad]."""
    chosen = [i for i, name in enumerate(joints) if any(fnmatchcase(name, p) for p in settings.joints)]
    if angles is None or not chosen:
        raise UsageError(
            f"the fitness 'swing' finds no joint like {', '.join(settings.joints)}; there are "
            f"{', '.join(joints) or 'none'}."
        )
    seen = angles[:, first:, :][..., chosen]
    inside = (np.arange(seen.shape[1]) < (frames - first)[:, None])[..., None]
    high = np.where(inside, seen, -np.inf).max(axis=1)
    low = np.where(inside, seen, np.inf).min(axis=1)
    return np.asarray(np.where(inside.any(axis=1), high - low, 0.0).mean(axis=1))
