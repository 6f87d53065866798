"""Discrepancy correction: real fitness estimated linearly from simulated fitness, with the simulation left as it is.

The alternative to Back-to-Reality that seed 000 (section 2.1.1) discusses: instead of a better simulation, learn from
the trials in reality how far off the fitness of the one there is.

    correction = LinearDiscrepancy.fit(simulated, real)                     # f_real = a + b f_sim
    correction = LinearDiscrepancy.fit(simulated, real, controllers)        # ... + g . c, c in the unit cube
    correction.predict(simulated, controllers)                              # (n,)

With the simulated fitness alone the order of controllers stays as it is (unless b is below 0): it says what to
expect in reality, but cannot find other controllers. With the controller's numbers it can.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nutmeg.base.arrays import Floats
from nutmeg.errors import UsageError

RIDGE = 1.0
"""Weight of the controller's numbers being small, against the error of one trial."""


@dataclass(frozen=True)
class LinearDiscrepancy:
    """A linear estimate of real fitness."""

    offset: float
    """a."""
    slope: float
    """b."""
    gradient: Floats
    """g, (c,); empty if controllers play no part."""
    centre: Floats
    """Mean controller of the fit, (c,)."""
    residual: float
    """Root mean square error in the trials it was fitted to."""

    @classmethod
    def fit(cls, simulated: ArrayLike, real: ArrayLike, controllers: ArrayLike | None = None) -> LinearDiscrepancy:
        """The estimate that explains trials best: fitness (n,) each, and controllers (n, c) in the unit cube."""
        theirs, ours = np.asarray(simulated, float), np.asarray(real, float)
        known = np.isfinite(theirs) & np.isfinite(ours)
        if theirs.shape != ours.shape or theirs.ndim != 1 or not known.any():
            raise UsageError(f"fitness of the shapes {theirs.shape} and {ours.shape}; needed are (n,), some known.")
        theirs, ours = theirs[known], ours[known]
        slope = 1.0  # one trial, or trials that are all alike, tell an offset only
        if theirs.std() > 1e-12:
            slope = float(((theirs - theirs.mean()) * (ours - ours.mean())).mean() / theirs.var())
        offset = float(ours.mean() - slope * theirs.mean())
        left = ours - offset - slope * theirs
        gradient, centre = np.zeros(0), np.zeros(0)
        if controllers is not None:
            rows = np.asarray(controllers, float)[known]
            centre = rows.mean(axis=0)
            x = rows - centre
            gradient = x.T @ np.linalg.solve(x @ x.T + RIDGE * np.eye(len(x)), left)  # ridge, in its dual form
            left = left - x @ gradient
        return cls(offset, slope, gradient, centre, float(np.sqrt((left**2).mean())))

    def predict(self, simulated: ArrayLike, controllers: ArrayLike | None = None) -> Floats:
        """Real fitness of controllers with simulated fitness (n,)."""
        estimate = self.offset + self.slope * np.asarray(simulated, float)
        if len(self.gradient):
            if controllers is None:
                raise UsageError("this estimate was fitted with controllers; give them to predict, too.")
            estimate = estimate + (np.asarray(controllers, float) - self.centre) @ self.gradient
        return np.asarray(estimate)
