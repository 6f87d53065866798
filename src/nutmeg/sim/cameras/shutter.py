"""Rolling shutter and motion blur: each row of a picture sees the world at another time.

A rolling shutter reads rows one after another. Row i of H sees, in the middle of its exposure, the time

    tau_i = ((i + 1/2)/H - 1/2) readout                               (eq. 7 in docs/explanation/cameras.md)

after the time of the picture, which is that of its middle row; with an exposure t it collects light from tau_i - t/2 to
tau_i + t/2. There are two ways to have that, both here:

* `turned_rays`, from the camera's angular velocity: pixels of row i show the ray that the camera, turned by
  omega tau_i, has there (eq. 8). One drawn picture is enough, and edges stay sharp. What moves in front of a camera at
  rest, and the camera's own travel, are left out: right for a head that turns or nods, and for a walk's shaking.
* `exposure_weights` and `expose`, from several drawn moments: each row is the mean over its exposure of what is
  drawn, taken as linear in between. Everything that moves is right, if there are moments enough: things that move
  more than a pixel or two between two moments become double.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Floats32

Real = TypeVar("Real", np.float32, np.float64)


def row_times(height: int, readout: float) -> Floats:
    """Times at which rows are in the middle of their exposure, relative to the picture, (height,) [s]."""
    return ((np.arange(height) + 0.5) / height - 0.5) * readout


def rotations(angles: Floats) -> Floats:
    """Rotation matrices (n, 3, 3) about vectors (n, 3) by their length [rad] (Rodrigues' formula)."""
    angle = np.linalg.norm(angles, axis=-1)
    x, y, z = (angles / np.maximum(angle, 1e-12)[:, None]).T
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(-1, 3, 3)
    sine, versine = np.sin(angle)[:, None, None], 1 - np.cos(angle)[:, None, None]
    matrices: Floats = np.eye(3) + sine * cross + versine * (cross @ cross)
    return matrices


def turned_rays(rays: NDArray[Real], angular_velocity: Floats, times: Floats) -> NDArray[Real]:
    """The rays that pixels have when their row is read, as seen from the camera at time 0.

    Args:
        rays: (colours, height, width, 2) on the plane at distance 1, x right and y down.
        angular_velocity: (3,) of the camera in its own frame: x right, y up, z backwards (MuJoCo's) [rad/s].
        times: (height,) when each row is read [s].
    """
    turn = rotations(np.asarray(angular_velocity) * times[:, None]).astype(rays.dtype)  # (height, 3, 3)
    x, y = rays[..., 0], -rays[..., 1]  # the third component is -1: a camera looks along its -z
    parts = [turn[:, k, 0, None] * x + turn[:, k, 1, None] * y - turn[:, k, 2, None] for k in range(3)]
    depth: NDArray[Any] = np.maximum(-parts[2], rays.dtype.type(1e-3))  # behind the camera there is nothing to show
    out = np.empty((*depth.shape, 2), rays.dtype)
    np.divide(parts[0], depth, out=out[..., 0])
    np.divide(parts[1], -depth, out=out[..., 1])
    return out


def blur_shares(samples: int) -> Iterator[float]:
    """The middles of equal parts of an exposure, from 0 at its start to 1 at its end."""
    return ((k + 0.5) / samples for k in range(samples))


def exposure_weights(height: int, moments: Floats, *, readout: float, exposure: float) -> Floats:
    """Weights of the drawn moments in each row, (height, moments); every row's sum is 1.

    Args:
        height: rows.
        moments: (M,) rising times of the drawn pictures, after the time of the picture [s]; before the first and
            after the last the world stands still.
        readout: from the first row to the last [s].
        exposure: of each row [s].
    """
    middle = row_times(height, readout)[:, None]
    if len(moments) == 1:
        return np.ones((height, 1))
    if exposure <= 0:
        return _interpolation(middle[:, 0], moments)
    # The mean of a hat function over a window is the difference of its integral at both ends.
    ends = _integral(middle[:, 0] + exposure / 2, moments), _integral(middle[:, 0] - exposure / 2, moments)
    weights: Floats = (ends[0] - ends[1]) / exposure
    return weights


def expose(moments: Floats32, weights: Floats) -> Floats32:
    """Pictures (N, height, width, 3) from drawn moments (N, M, height, width, 3) and weights (height, M)."""
    out: Floats32 = np.einsum("nmhwc,hm->nhwc", moments, weights.astype(np.float32), optimize=True)
    return out


def moment_times(count: int, *, readout: float, exposure: float) -> Floats:
    """Times of `count` moments that span all exposures, (count,) [s]."""
    if count == 1:
        return np.zeros(1)
    half = (readout + exposure) / 2
    return np.linspace(-half, half, count)


def _interpolation(times: Floats, moments: Floats) -> Floats:
    """Weights (n, M) of moments in a linear interpolation at times (n,)."""
    columns = [np.interp(times, moments, unit) for unit in np.eye(len(moments))]
    return np.stack(columns, axis=1)


def _integral(times: Floats, moments: Floats) -> Floats:
    """Integrals (n, M) of those weights from long ago to times (n,), but for a constant."""
    start, stop = moments[0], moments[-1]
    inside = np.clip(times, start, stop)
    columns = []
    for k in range(len(moments)):
        total = np.zeros_like(inside)
        if k > 0:
            total += _ramp(inside, moments[k - 1], moments[k])
        if k + 1 < len(moments):
            gap = moments[k + 1] - moments[k]
            total += np.clip(inside - moments[k], 0, gap) - _ramp(inside, moments[k], moments[k + 1])
        columns.append(total)
    columns[0] += np.minimum(times - start, 0)  # the world stands still before and after
    columns[-1] += np.maximum(times - stop, 0)
    return np.stack(columns, axis=1)


def _ramp(times: Floats, low: float, high: float) -> Floats:
    """Integral of a ramp from 0 at `low` to 1 at `high`, up to times between them."""
    passed: Floats = np.clip(times - low, 0, high - low) ** 2 / (2 * (high - low))
    return passed


def turn_in_pixels(angular_velocity: Floats, duration: float, focal: float) -> float:
    """Largest distance that the middle of the picture or its corners move within a time [pixels]."""
    return float(np.linalg.norm(angular_velocity)) * duration * focal * math.sqrt(2)
