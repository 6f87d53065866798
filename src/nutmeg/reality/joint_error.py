"""F, the joint-angle error that an early fall must not make small.

Equation 2 of the MoToFlex paper (seed 001): squared differences between measured and simulated joint angles, summed
over frames, joints and robots, divided by T^m; T is the number of frames until the fall or the end.

    joint_error(real, simulated, frames=fallen_after, exponent=2.0)  # (N,) [rad^2]

**Why m > 1.** With m = 0 every frame costs, so the best robot falls at once. With m = 1 it is the mean error, which is
smallest for one that falls before the difficult part. With m > 1 lasting longer pays. An example: a robot stands for
1 s with 0.5 deg of error, then walks for 9 s with 1 deg, 100 frames a second. F of a simulation that makes just these
errors but falls after some time, over F of the one that stays up:

    falls after   0.1 s    1 s    5 s    10 s (stays up)
    m = 0         0.003   0.03   0.46   1
    m = 1         0.27    0.27   0.92   1
    m = 1.5       2.7     0.85   1.30   1
    m = 2         27      2.7    1.84   1
    m = 3         2703    27     3.68   1

So m = 0 and 1 reward every fall, and m > 1 is not enough by itself: 1.5 still prefers the fall after 1 s. What is
needed depends on how the error grows: from `least_exponent(squared_errors)`, here 1.57.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.errors import UsageError
from nutmeg.reality.series_error import series_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats


def joint_error(
    real: ArrayLike,
    simulated: ArrayLike,
    *,
    exponent: float = 2.0,
    frames: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    angles: bool = False,
    columns: Sequence[str] = (),
    empty: Literal["error", "infinite"] = "error",
) -> Floats:
    """F of one robot in each simulation, `(...)`, in the square of the channels' unit; add up several robots.

    Args:
        real: measured joint angles, `(..., T, joints)`; NaN where missing. The missing frames of a joint count with
            the mean of its others, so that gaps neither help nor harm.
        simulated: joint angles, `(..., T, joints)`.
        exponent: m.
        frames: frames until the fall or the end, `(...)`; all without it.
        weights: of the joints, `(joints,)`; 1 each without it.
        angles: whether a difference of a whole turn is none.
        columns: names of the joints, for errors.
        empty: what a simulation without a frame to compare is: an error, or infinitely far away.
    """
    errors = series_errors(real, simulated, frames=frames, angles=angles, columns=columns, empty=empty)
    if not exponent >= 0:
        raise UsageError(f"the exponent m is {exponent}; it must be 0 or more, and above 1 to be of use.")
    lasted = np.maximum(errors.samples + errors.missing, 1).max(axis=-1)  # T, the same for all joints
    weight = np.broadcast_to(1.0 if weights is None else weights, errors.rms.shape[-1:])
    squares = np.where(weight == 0, 0.0, errors.rms) ** 2 * weight
    return np.asarray(squares.sum(axis=-1) * lasted ** (1.0 - exponent))  # eq. 2: T times the mean is the sum


def least_exponent(squared_errors: ArrayLike, *, earliest: int = 1) -> float:
    """The smallest m at which no simulation gains by ending early.

    With S_t the sum of the errors until frame t, ending there is no better than staying until T if
    S_t / t^m >= S_T / T^m, that is m >= ln(S_T / S_t) / ln(T / t).

    Args:
        squared_errors: summed over joints and robots, of a simulation that does not fall, `(T,)`.
        earliest: the first frame at which a robot can have fallen; before it errors may be 0.
    """
    sums = np.cumsum(np.asarray(squared_errors, dtype=np.float64))
    last = len(sums)
    if not 1 <= earliest < last or not np.isfinite(sums).all() or sums[earliest - 1] <= 0:
        raise UsageError(
            f"{last} squared errors and falls from frame {earliest} on: needed are finite errors that add up to more "
            "than 0 at the earliest fall, and an earliest fall of 1 or later, before the last frame."
        )
    ends = np.arange(earliest, last)
    return max(0.0, float((np.log(sums[-1] / sums[earliest - 1 : -1]) / np.log(last / ends)).max()))


def error_if_ended(squared_errors: ArrayLike, exponent: float) -> Floats:
    """F of a simulation that makes these errors and ends after 1, 2, ... T frames, `(T,)`."""
    sums = np.cumsum(np.asarray(squared_errors, dtype=np.float64))
    return np.asarray(sums / np.arange(1, len(sums) + 1) ** float(exponent))
