"""Motions through keyframes: poses reached one after another, smoothly, repeated or held at the end.

wave = Keyframes(times=[0.0, 0.5, 1.0], angles=poses, repeat_from=0.5)   # poses (3, motors)
robot.command = wave.angles(t)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.body.tables import RobotTable


class Keyframes:
    """A motion through poses.

    Args:
        times: when each pose is reached, rising [s].
        angles: the poses, (frames, motors) [rad].
        repeat_from: after the last pose go on from this time again; None holds the last pose.
    """

    def __init__(self, times: Sequence[float], angles: ArrayLike, *, repeat_from: float | None = None) -> None:
        self.times = np.asarray(times, float)
        self.poses = np.asarray(angles, float)
        self.repeat_from = repeat_from
        if len(self.times) < 2 or (np.diff(self.times) <= 0).any():
            raise ModelError(f"a motion needs at least two keyframes at rising times, found {list(times)}.")
        if self.poses.shape[0] != len(self.times):
            raise ModelError(f"{len(self.times)} keyframe times but {self.poses.shape[0]} poses: give one for each.")
        if repeat_from is not None and not self.times[0] <= repeat_from < self.times[-1]:
            raise ModelError(
                f"a motion cannot repeat from {repeat_from} s: that must be at or after its first keyframe "
                f"({self.times[0]:g} s) and before its last ({self.times[-1]:g} s)."
            )

    def angles(self, time: ArrayLike) -> Floats:
        """The reference at a time, (motors,), or at N times, (N, motors); it starts and stops gently."""
        when = np.asarray(time, float)
        last = self.times[-1]
        if self.repeat_from is not None:
            beyond = self.repeat_from + np.mod(when - self.repeat_from, last - self.repeat_from)
            when = np.where(when > last, beyond, when)
        frame = np.clip(np.searchsorted(self.times, when, side="right") - 1, 0, len(self.times) - 2)
        share = np.clip((when - self.times[frame]) / (self.times[frame + 1] - self.times[frame]), 0.0, 1.0)
        blend = (share * share * (3 - 2 * share))[..., None]
        return np.asarray(self.poses[frame] * (1 - blend) + self.poses[frame + 1] * blend)


def with_changes(table: RobotTable, rest: Floats, changes: Mapping[str, float]) -> Floats:
    """A pose (motors,) that is `rest` but for the named motors."""
    pose = rest.copy()
    pose[table.motor_index(list(changes))] = list(changes.values())
    return pose
