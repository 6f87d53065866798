"""The same parameters fitted to the same recordings by `mujoco.sysid`: least squares from the start of the space.

    fit = least_squares_fit(cost, iterations=30)
    fit.candidate                           # (k,) in SI units

`mujoco.sysid` is the system identification that comes with the engine: Gauss-Newton with finite differences, a
regulariser and box bounds, on the differences of all samples. It gets the same simulation (`reality.replay_cost`) and
the same start and bounds as ours, scaled to the unit cube, and steps of 1e-3 for its differences: its own, 1.5e-8,
are lost in stick and slip. It needs packages that only the extra `sysid` of mujoco-core installs.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.errors import EnvironmentProblem
from nutmeg.reality.distance import DistanceSettings

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.reality.replay_cost import ReplayCost

DIFFERENCE = 1e-3
"""Step of finite differences, as a part of each range."""
FAR = 10.0
"""In place of a difference that cannot be told because the simulation broke down [rad]."""


@dataclass(frozen=True, eq=False)
class PeerFit:
    """What the peer found."""

    candidate: Floats
    """(k,) in SI units."""
    evaluations: int
    """Candidates that it simulated."""


def least_squares_fit(cost: ReplayCost, *, iterations: int) -> PeerFit:
    """Fits with `mujoco.sysid`; where that is not installed, an EnvironmentProblem."""
    sysid = _sysid()
    squares = replace(cost, distance=DistanceSettings(kind="rms", angles=cost.distance.angles))
    space, spent = cost.twin.space, 0

    def residual(unit: Floats, _parameters: object) -> tuple[list[Floats], list[Any], list[Any]]:
        nonlocal spent
        columns = np.asarray(unit, float).reshape(space.size, -1)  # one candidate a column
        spent += columns.shape[1]
        found = squares.residuals(space.values(np.clip(columns.T, 0.0, 1.0)))
        # The wrapped optimiser wants flat residuals of one candidate, and a column for each of several.
        flat = unit.ndim == 1
        return [np.nan_to_num(f.T[:, 0] if flat else f.T, nan=FAR, posinf=FAR, neginf=-FAR) for f in found], [], []

    parameters = sysid.ParameterDict()
    for name, start in zip(space.dimensions, space.unit(space.start), strict=True):
        parameters.add(sysid.Parameter(name, float(start), 0.0, 1.0))
    parameters.move_off_bounds()
    best, _ = sysid.optimize(
        parameters, residual, verbose=False, max_iters=iterations, eps=DIFFERENCE, output=io.StringIO()
    )
    return PeerFit(space.values(np.clip(best.as_vector(), 0.0, 1.0)), spent)


def _sysid() -> Any:  # noqa: ANN401 (a module without types)
    from mujoco import sysid

    if not hasattr(sysid, "optimize"):  # it leaves out what it cannot import
        raise EnvironmentProblem(
            "mujoco.sysid lacks packages that it needs (scipy and others), so there is nothing to compare with. "
            "Install them with: pip install 'mujoco-core[sysid]'"
        )
    return sysid
