"""How far candidates are from recordings: commands repeated in simulation, pictures taken again, and compared.

    cost = ReplayCost(twin, tuple(measured), DistanceSettings(kind="rms"))
    cost(candidates, generators)                # (n,): for `search.minimise`, in threads, processes or on a cluster
    cost.per_recording(candidates)              # {"kp100_sin_sin.csv": (n,), ...}

A candidate that breaks down in a recording, or ends before anything can be compared, is infinitely far away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.reality.columns import sensors_in
from nutmeg.reality.distance import DistanceSettings, make_distance
from nutmeg.reality.measured import Measured
from nutmeg.reality.photographed import Photographed
from nutmeg.reality.residuals import residual_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.behaviour import Behaviour
    from nutmeg.reality.twin import Twin

Recorded = Measured | Photographed
"""Something that was seen of the real robot: what it did, or what its camera saw."""


@dataclass(frozen=True, eq=False)
class ReplayCost:
    """The distance of candidates from recordings; can be sent to other processes."""

    twin: Twin
    measured: tuple[Recorded, ...]
    distance: DistanceSettings
    fallen: float | None = None
    """A simulated robot is down when the cosine of its tilt is below this."""

    def __call__(self, candidates: Floats, generators: Sequence[Generator] = ()) -> Floats:  # noqa: ARG002
        """The distance of candidates (n, k) over all recordings, (n,); nothing in it is random."""
        return make_distance(self.distance).over_trials(self._per_piece(candidates, self.distance))

    def per_recording(self, candidates: ArrayLike, distance: DistanceSettings | None = None) -> dict[str, Floats]:
        """The distance in each recording, (n,) each: the mean over its windows."""
        values = self._per_piece(candidates, distance or self.distance)
        sources = [m.source for m in self.measured]
        return {
            name: values[[i for i, source in enumerate(sources) if source == name]].mean(axis=0)
            for name in dict.fromkeys(sources)
        }

    def of(self, measured: tuple[Recorded, ...]) -> ReplayCost:
        """The same for other recordings."""
        return replace(self, measured=measured)

    def behaviours(self, candidates: ArrayLike) -> list[Behaviour]:
        """What is seen of candidates, one a recording or window, at the times of the measurements."""
        rows = np.atleast_2d(np.asarray(candidates, float))
        moved = [m for m in self.measured if isinstance(m, Measured)]
        observe = sensors_in([c for m in moved for c in m.real.columns], self.twin.table)
        rollouts = self.twin.simulate(rows, [m.trial for m in moved], observe=observe, fallen=self.fallen)
        replayed = iter([m.simulated(r, self.twin.table) for m, r in zip(moved, rollouts, strict=True)])
        return [m.simulated(self.twin, rows) if isinstance(m, Photographed) else next(replayed) for m in self.measured]

    def residuals(self, candidates: Floats) -> list[Floats]:
        """Weighted differences, (n, K) for each recording and channel, for `reality.curvature`."""
        pairs = zip(self.measured, self.behaviours(candidates), strict=True)
        return [series for m, seen in pairs for series in residual_series(self.distance, m.real, seen)]

    def _per_piece(self, candidates: ArrayLike, settings: DistanceSettings) -> Floats:
        """The distances in each recording or window, (M, n)."""
        distance = make_distance(settings)
        out = []
        for one, seen in zip(self.measured, self.behaviours(candidates), strict=True):
            values = distance.per_trial(one.real, seen)
            out.append(np.where(np.asarray(seen.frames) > 0, values, np.inf))
        return np.stack(out)
