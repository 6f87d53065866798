"""Losses: the value that is minimised as a function of residuals, and the weight of each residual in it.

    loss_values("huber", residuals)             # (N,) of residuals (N, rows)
    loss_weights("huber", residuals[0])         # (rows,): weight of each residual

| loss       | value                            | what a large residual does                                  |
|------------|----------------------------------|-------------------------------------------------------------|
| `root`     | root of the sum of squares       | pulls by its size                                           |
| `squares`  | sum of squares                   | the same                                                    |
| `absolute` | sum of absolute residuals        | pulls as every other one                                    |
| `huber`    | square up to 1.345 deviations,   | pulls as one of 1.345 deviations                            |
|            | linear beyond                    |                                                             |
| `soft_l1`  | the same with a smooth passage   | the same                                                    |

The deviation s of the last two is estimated together with what is searched: the value is the minimum over s of
sum(s rho(r / s) + a s) (Huber, Robust Statistics, 1981, section 7.7), which is convex in both and has the unit of the
residuals; no threshold has to be known. It is scaled so that for normal residuals it equals `root`. With the constant
1.345 an estimate varies by 5 % more than that of squares if all errors are normal, and hardly more with outliers.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Literal

import numpy as np

from nutmeg.base.arrays import Floats

Loss = Literal["root", "squares", "absolute", "huber", "soft_l1"]
ROBUST_LOSSES = ("huber", "soft_l1")
"""Losses that estimate the standard deviation of the residuals."""
_BEND = 1.345
"""Residual at which a square becomes a line, in deviations: 95 % efficient for normal errors (Huber, 1981, 4.5)."""
SMOOTHING = (1.0, 0.1)
"""Absolute loss: residuals smaller than this share of the mean one count as squares; at first, and in the end. On a
real servo (`experiments.servo_xl330`) descents that began with the second one ended in dents, 20 % worse."""
_MAX_SCALE_STEPS = 200
_SCALE_TOLERANCE = 1e-10


def loss_values(loss: Loss, residuals: Floats) -> Floats:
    """The values of N candidates, (N,), from their residuals, (N, rows); not finite if a residual is not."""
    if loss == "absolute":
        return np.asarray(np.abs(residuals).sum(axis=1))
    if loss in ROBUST_LOSSES:
        return np.array([_robust_value(loss, one) for one in residuals])
    squares = np.einsum("ir,ir->i", residuals, residuals)
    return np.asarray(np.sqrt(squares) if loss == "root" else squares)


def deviation(loss: Loss, residuals: Floats) -> float:
    """The deviation s that minimises a robust loss of some residuals, (rows,); 0 if all of them are."""
    largest = float(np.abs(residuals).max(initial=0.0))
    if not 0 < largest < np.inf:
        return largest
    wanted = _expected(loss)[1]
    scale = float(np.sqrt(np.mean((residuals / largest) ** 2))) * largest
    for _ in range(_MAX_SCALE_STEPS):  # Huber's iteration: it falls to the minimum and never jumps over it
        new = scale * math.sqrt(float(_spread(loss, residuals / scale).mean()) / wanted)
        if abs(new - scale) <= _SCALE_TOLERANCE * scale:
            break
        scale = max(new, 1e-12 * largest)
    return scale


def loss_weights(loss: Loss, residuals: Floats, smoothing: float = 0.0) -> Floats:
    """The weights psi(r) / r of residuals, (rows,): squares with these weights have the same gradient as the loss.

    Args:
        loss: the loss; squares have weight 1.
        residuals: residuals of one candidate, (rows,).
        smoothing: for absolute residuals: share of their mean below which their sign is smoothed.
    """
    size = np.abs(residuals)
    if loss == "absolute":
        return np.asarray(1 / (size + smoothing * size.mean() + 1e-300))
    if loss not in ROBUST_LOSSES:
        return np.ones_like(residuals)
    x = size / max(deviation(loss, residuals), 1e-300)
    return np.asarray(1 / np.maximum(x / _BEND, 1) if loss == "huber" else 1 / np.sqrt(1 + (x / _BEND) ** 2))


def loss_bends(loss: Loss, residuals: Floats) -> Floats:
    """The derivatives psi'(r) of a robust loss, (rows,)."""
    weights = loss_weights(loss, residuals)
    return np.asarray((weights >= 1).astype(float) if loss == "huber" else weights**3)


def smoothed_bend(corner: float, deviation: float) -> float:
    """The mean of psi' of smoothed absolute residuals, psi = r / (abs(r) + corner), if these are normal."""
    x, share = _normal()
    relative = corner / deviation
    return float(relative / (np.abs(x) + relative) ** 2 @ share) / deviation


def _robust_value(loss: Loss, residuals: Floats) -> float:
    if not np.isfinite(residuals).all():
        return math.inf
    scale = deviation(loss, residuals)
    if scale == 0:
        return 0.0
    rho, wanted = _expected(loss)
    mean = float(_rho(loss, residuals / scale).mean()) + wanted
    return math.sqrt(len(residuals)) * scale * mean / (rho + wanted)


def _rho(loss: Loss, x: Floats) -> Floats:
    if loss == "huber":
        return np.where(np.abs(x) <= _BEND, x * x / 2, _BEND * np.abs(x) - _BEND**2 / 2)
    return np.asarray(_BEND**2 * (np.sqrt(1 + (x / _BEND) ** 2) - 1))


def _spread(loss: Loss, x: Floats) -> Floats:
    """The function chi = x psi(x) - rho(x), whose mean over residuals decides their deviation."""
    if loss == "huber":
        return np.asarray(np.minimum(x * x, _BEND**2) / 2)
    return np.asarray(_BEND**2 * (1 - 1 / np.sqrt(1 + (x / _BEND) ** 2)))


@cache
def _expected(loss: Loss) -> tuple[float, float]:
    """The means of rho and chi for normal residuals of deviation 1."""
    x, share = _normal()
    return float(_rho(loss, x) @ share), float(_spread(loss, x) @ share)


@cache
def _normal() -> tuple[Floats, Floats]:
    """Quadrature points of the standard normal distribution and their weights."""
    x = np.linspace(-12, 12, 24001)
    share = np.exp(-x * x / 2)
    return x, share / share.sum()
