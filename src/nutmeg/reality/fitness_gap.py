"""phi1, the distance by fitness: how far off a simulation is about what its controllers achieve.

Equations 3 and 4 of Zagal, Delpiano and Ruiz-del-Solar, "Self-modeling in humanoid soccer robots", Robotics and
Autonomous Systems 57 (2009): tried both in reality and in simulation, controller k reaches the fitness f_r,k and
f_s,k; phi1 is the mean of the differences.

    phi1(real=[0.21, 0.35], simulated=[[0.20, 0.30], [0.5, 0.6]])  # [0.03, 0.27]: the first simulation is better

It needs nothing but a number per trial, and it only sees what matters to these controllers: parameters that leave
their fitness as it is are not determined by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import RecordingError, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats


def phi1(real: ArrayLike, simulated: ArrayLike) -> Floats:
    """The mean fitness difference, `(...)`.

    Args:
        real: fitness of m controllers in reality, `(m,)`; NaN where a trial is missing, which is left out.
        simulated: their fitness in each of N simulations, `(..., m)`.
    """
    ours, theirs = np.asarray(real, dtype=np.float64), np.asarray(simulated, dtype=np.float64)
    if ours.ndim != 1 or not theirs.ndim or theirs.shape[-1] != ours.shape[0]:
        raise UsageError(
            f"the real fitness has the shape {ours.shape} and the simulated one {theirs.shape}; "
            "needed are (controllers,) and (..., controllers)."
        )
    tried = ~np.isnan(ours)
    if not tried.any():
        raise RecordingError(
            f"none of the {len(ours)} controllers has a fitness in reality. Try one there before comparing."
        )
    difference = np.abs(theirs[..., tried] - ours[tried])  # delta_k, eq. 3
    missing = np.isnan(difference)
    if missing.any():
        where = tuple(int(i) for i in np.argwhere(missing)[0])
        raise RecordingError(
            f"the simulated fitness at {where} is not a number. Give failed simulations the worst fitness instead."
        )
    return np.asarray(difference.mean(axis=-1))  # eq. 4
