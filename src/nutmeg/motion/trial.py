"""A walk tried out: how far, how fast, how much the body rocks, and whether the robot falls.

    trial = try_walk(worlds, "robot", walk.angles, seconds=20.0)
    trial.speed(2.0, 18.0)        # (N,) m/s along the start's heading
    trial.fallen_at               # (N,) s, infinite for those that stood

Everything is over N worlds at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.engine.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Floats
    from nutmeg.engine.worlds import Worlds


FALLEN = 0.7
"""A robot is down when the cosine between its z axis and the vertical is below this (45 degrees)."""


@dataclass(frozen=True)
class Trial:
    """What came of a walk in N worlds, at T moments."""

    times: Floats
    """(T,) [s]."""
    place: Floats
    """Of the root, (T, N, 3) [m]."""
    pitch: Floats
    """Of the body, positive forward, (T, N) [rad]."""
    roll: Floats
    """Of the body, positive to the right, (T, N) [rad]."""
    fallen_at: Floats
    """When each robot fell, infinite if it did not, (N,) [s]."""

    def speed(self, start: float, stop: float) -> Floats:
        """Mean speed along x between two times, of the robots that stood that long; else NaN, (N,) [m/s]."""
        first, last = np.searchsorted(self.times, [start, stop])
        last = min(last, len(self.times) - 1)
        way = self.place[last, :, 0] - self.place[first, :, 0]
        mean = way / (self.times[last] - self.times[first])
        return np.where(self.fallen_at > self.times[last], mean, np.nan)

    def swing(self, angle: Floats, start: float, stop: float) -> Floats:
        """Half the range of pitch or roll between two times, while standing, (N,) [rad]."""
        inside = (self.times[:, None] >= start) & (self.times[:, None] <= np.minimum(stop, self.fallen_at - 0.5))
        high = np.where(inside, angle, -np.inf).max(axis=0)
        low = np.where(inside, angle, np.inf).min(axis=0)
        return np.where(inside.any(axis=0), (high - low) / 2, np.nan)

    def rhythm(self, angle: Floats, start: float, stop: float) -> Floats:
        """Frequency of the strongest oscillation of pitch or roll between two times, (N,) [Hz]; NaN after a fall."""
        inside = (self.times >= start) & (self.times <= stop)
        rows = angle[inside] - angle[inside].mean(axis=0)
        strength = np.abs(np.fft.rfft(rows * np.hanning(len(rows))[:, None], n=8 * len(rows), axis=0))
        frequencies = np.fft.rfftfreq(8 * len(rows), float(np.diff(self.times).mean()))
        return np.where(self.fallen_at > stop, frequencies[strength.argmax(axis=0)], np.nan)


def try_walk(
    worlds: Worlds, robot: str, angles: Callable[[float], Floats], *, seconds: float, period: float = 0.02
) -> Trial:
    """Lets a robot follow reference angles and watches its body.

    Args:
        worlds: N worlds with the robot in them.
        robot: its name.
        angles: reference at a time, (motors,) or (N, motors).
        seconds: how long.
        period: of the commands [s].
    """
    body, schedule = worlds.robot(robot), Schedule(worlds)
    rows: list[tuple[Floats, Floats, Floats, Floats]] = []
    times: list[float] = []

    def act(now: float) -> None:
        body.command = angles(now)
        times.append(now)
        rows.append((body.pose[:, :3].copy(), *_tilt(body.pose[:, 3:7]), body.uprightness()))

    schedule.every(period, act)
    schedule.run(seconds)
    place, pitch, roll, upright = (np.array(column) for column in zip(*rows, strict=True))
    down = upright < FALLEN
    fallen_at = np.where(down.any(axis=0), np.array(times)[down.argmax(axis=0)], np.inf)
    return Trial(np.array(times), place, pitch, roll, fallen_at)


def _tilt(quaternions: Floats) -> tuple[Floats, Floats]:
    """Pitch and roll of unit quaternions (N, 4), each (N,) [rad]."""
    w, x, y, z = quaternions.T
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    return pitch, roll
