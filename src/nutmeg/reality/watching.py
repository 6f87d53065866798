"""Watching: what is seen of simulated trials, as behaviours with fitness and series.

    watch = Watch(fitness=FitnessSettings(kind="speed"), series=("angles.*",))
    for behaviour in watch.simulate(twin, candidates, trials):      # one a trial, each of N candidates
        behaviour.fitness, behaviour.series                         # (N,), (N, T, columns)

Columns are called as in `reality.columns`; a log of a real robot has to have the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UnknownNameError
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.columns import column_units, sensors_in, series_of
from nutmeg.reality.fitness import FitnessSettings, fitness_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.body.tables import RobotTable
    from nutmeg.engine.rollout import Rollout
    from nutmeg.reality.trial import Trial
    from nutmeg.reality.twin import Twin


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What is measured of a trial."""

    fitness: FitnessSettings | None = field(default_factory=FitnessSettings)
    """How controllers are judged; None where nothing is."""
    series: tuple[str, ...] = ()
    """Patterns of the columns that are kept; none without any."""

    @property
    def fallen(self) -> float | None:
        """The cosine of the tilt at which the robot is down; None where it cannot fall."""
        if self.fitness is None or self.fitness.kind == "swing" or self.fitness.upright <= -1:
            return None
        return self.fitness.upright

    def columns(self, table: RobotTable) -> dict[str, str]:
        """The columns that are kept of a robot, and their units."""
        units = column_units(table)
        for pattern in self.series:
            if not any(fnmatchcase(name, pattern) for name in units):
                raise UnknownNameError("channel", pattern, units)
        return {n: unit for n, unit in units.items() if any(fnmatchcase(n, pattern) for pattern in self.series)}

    def simulate(self, twin: Twin, candidates: ArrayLike, trials: Sequence[Trial]) -> list[Behaviour]:
        """Behaviours of N candidate simulations (N, k), one a trial; failed ones have the fitness nan."""
        rows = np.atleast_2d(np.asarray(candidates, float))
        columns = self.columns(twin.table)
        observe = sensors_in(tuple(columns), twin.table)
        rollouts = twin.simulate(rows, trials, observe=observe, fallen=self.fallen)
        return [self._behaviour(rollout, columns, twin.table) for rollout in rollouts]

    def _behaviour(self, rollout: Rollout, columns: dict[str, str], table: RobotTable) -> Behaviour:
        """What is seen of N worlds."""
        fitness = None
        if self.fitness:
            found = fitness_of(
                self.fitness,
                rollout.times,
                rollout.frames,
                pose=rollout.pose,
                angles=rollout.angles,
                joints=rollout.joints,
            )
            fitness = np.where(rollout.diverged, np.nan, found)
        return Behaviour(
            columns=tuple(columns),
            units=tuple(columns.values()),
            series=series_of(rollout, tuple(columns), table) if columns else None,
            frames=np.where(rollout.diverged, 0, rollout.frames),
            fitness=fitness,
        )
