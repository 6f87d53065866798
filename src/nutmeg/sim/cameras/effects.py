"""The effects of a camera in their order, from drawn pictures to those of the robot; rolling shutter and motion blur.

    effects = CameraEffects(settings, size=(320, 240), fov=0.76, effects=("lens", "noise"))
    drawn = renderer.draw(camera, effects.drawn_size, effects.drawn_fov)
    picture = effects.apply(drawn[None], rng)[0]                    # (240, 320, 3) uint8

Light goes through the shutter and the lens (one table for both), is dimmed towards the corners, tinted, collected,
filtered, read with noise, amplified, converted, put together to colours, balanced and gamma-coded. Effects that are
not wanted are left out, and cost nothing. Without any effect a drawn picture comes back as it was. `gather` and
`sense` are the two halves of `apply`, for many pictures of the same light.

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

from nutmeg.model.sensors import CAMERA_EFFECTS, CameraSettings, checked_effects
from nutmeg.sim.cameras import image_sensor
from nutmeg.sim.cameras.lens import Lens, remap, vignetting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bytes, Floats, Floats32
    from nutmeg.sim.cameras.image_sensor import Exposure


Real = TypeVar("Real", np.float32, np.float64)
Number = TypeVar("Number", bound=np.generic)


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
        angular_velocity: angular velocity of the camera in its own frame, (3,): x right, y up, z backwards [rad/s].
        times: times at which rows are read, (height,) [s].
    """
    turn = rotations(np.asarray(angular_velocity) * times[:, None]).astype(rays.dtype)  # (height, 3, 3)
    x, y = rays[..., 0], -rays[..., 1]  # the third component is -1: a camera looks along its -z
    parts = [turn[:, k, 0, None] * x + turn[:, k, 1, None] * y - turn[:, k, 2, None] for k in range(3)]
    depth: NDArray[Any] = np.maximum(-parts[2], rays.dtype.type(1e-3))  # behind the camera there is nothing to show
    out = np.empty((*depth.shape, 2), rays.dtype)
    np.divide(parts[0], depth, out=out[..., 0])
    np.divide(parts[1], -depth, out=out[..., 1])
    return out


def _blur_shares(samples: int) -> Iterator[float]:
    """The middles of equal parts of an exposure, from 0 at its start to 1 at its end."""
    return ((k + 0.5) / samples for k in range(samples))


def exposure_weights(height: int, moments: Floats, *, readout: float, exposure: float) -> Floats:
    """Weights of the drawn moments in each row, (height, moments); every row's sum is 1.

    Args:
        height: number of rows.
        moments: (M,) rising times of the drawn pictures, after the time of the picture [s]; before the first and
            after the last the world stands still.
        readout: time from the first row to the last [s].
        exposure: exposure time of each row [s].
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
    """Integrals (n, M) of those weights up to times (n,), except for a constant."""
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


def _turn_in_pixels(angular_velocity: Floats, duration: float, focal: float) -> float:
    """Largest distance that the middle of the picture or its corners move within a time [pixels]."""
    return float(np.linalg.norm(angular_velocity)) * duration * focal * math.sqrt(2)


MAX_BLUR_SAMPLES, SAMPLE_WIDTH = 9, 3.0
"""Largest number of directions that are averaged for blur from the camera's angular velocity, and their distance
[pixels]."""
TURN_MARGIN = 0.06
"""Share of the width that is drawn on every side for a camera that turns while a picture is taken."""
STILL_TURN_PIXELS = 0.05
"""Turn during a picture below which a camera counts as standing still [pixels]."""


class CameraEffects:
    """The effects of one camera at one size.

    Args:
        settings: the camera's numbers.
        size: width and height of its pictures, pixels.
        fov: its vertical field of view [rad].
        effects: which to have, of `model.sensors.CAMERA_EFFECTS`, or text such as `lens,noise`.
    """

    def __init__(
        self,
        settings: CameraSettings,
        *,
        size: tuple[int, int],
        fov: float,
        effects: str | tuple[str, ...] = CAMERA_EFFECTS,
    ) -> None:
        self.settings, self.size = settings, size
        self.effects = checked_effects(effects)
        margin = TURN_MARGIN if self.readout or self.blur else 0.0
        self.lens = Lens.of(settings, size=size, fov=fov, effects=self.effects, margin=margin)
        self._rays = self.lens.rays.astype(np.float32)
        self._table = None if self.lens.plain else self.lens.table(self.lens.rays)
        shaded = "vignette" in self.effects and any((settings.cos4, settings.v2, settings.v4))
        self._shade = vignetting(settings, size=size, fov=fov) if shaded else None

    @property
    def drawn_size(self) -> tuple[int, int]:
        """Width and height of the pictures to draw: a lens may show more than a pinhole."""
        return self.lens.drawn_shape[1], self.lens.drawn_shape[0]

    @property
    def drawn_fov(self) -> float:
        """Vertical field of view of the pictures to draw [rad]."""
        return self.lens.drawn_fov

    @property
    def readout(self) -> float:
        """Time from reading the first row to the last [s]; 0 if the shutter's effect is off."""
        return self.settings.readout if "shutter" in self.effects else 0.0

    @property
    def blur(self) -> float:
        """Time for which a row collects light [s]; 0 if the effect `blur` is off."""
        return self.settings.exposure if "blur" in self.effects else 0.0

    @property
    def gamma(self) -> float:
        """The picture's values are the signal to the power 1/gamma."""
        return self.settings.gamma if "gamma" in self.effects else image_sensor.SCREEN_GAMMA

    @property
    def automatic(self) -> bool:
        """Whether the camera has automatic exposure; then `apply` needs the present exposure."""
        return {"exposure", "auto"} <= set(self.effects) and self.settings.auto_target > 0

    def apply(
        self,
        drawn: Bytes,
        rng: np.random.Generator,
        angular_velocity: Floats | None = None,
        exposure: Exposure | None = None,
    ) -> Bytes:
        """Pictures (N, height, width, 3) from drawn ones (N, *drawn, 3).

        Shutter and blur need the `angular_velocity` (N, 3) of the camera in its own frame [rad/s]; see
        `turned_rays`. Without it, it is at rest. An `exposure` stands for the settings' own time and gain.
        """
        if not self.effects:
            return drawn
        return self.sense(self.gather(drawn, angular_velocity, exposure), rng, exposure)

    def apply_moments(
        self,
        drawn: Bytes,
        times: Floats,
        rng: np.random.Generator,
        exposure: Exposure | None = None,
    ) -> Bytes:
        """Pictures (N, height, width, 3) from moments (N, M, *drawn, 3) at times (M,) after the picture's [s]."""
        count, moments = drawn.shape[:2]
        light = self.gather(drawn.reshape(-1, *drawn.shape[2:])).reshape(count, moments, *self.lens.shape, 3)
        exposed = [
            expose(one[None], exposure_weights(self.size[1], times, readout=self.readout, exposure=blur))
            for one, blur in zip(light, self.blurs(count, exposure), strict=True)
        ]
        return self.sense(np.concatenate(exposed), rng, exposure)

    def blurs(self, count: int, exposure: Exposure | None) -> list[float]:
        """Times for which rows of each of N pictures collect light while things move, (N,) [s]."""
        return [self.blur] * count if exposure is None or not self.blur else [float(t) for t in exposure.time]

    def gather(
        self,
        drawn: Bytes,
        angular_velocity: Floats | None = None,
        exposure: Exposure | None = None,
    ) -> Floats32:
        """The light (N, height, width, 3) behind the lens from drawn pictures (N, *drawn, 3)."""
        light = image_sensor.to_light(drawn)
        if angular_velocity is None or not (self.readout or self.blur):
            return light if self._table is None else remap(light, self._table)
        each = zip(light, np.asarray(angular_velocity), self.blurs(len(light), exposure), strict=True)
        return np.concatenate([self._turning(one[None], velocity, blur) for one, velocity, blur in each])

    def rearrange(self, drawn: NDArray[Number], angular_velocity: Floats | None = None) -> NDArray[Number]:
        """What the pixels of a picture (height, width) show, from what those of a drawn one (*drawn) show.

        Every pixel takes the nearest drawn one, in the middle of its exposure, as the green image of `gather` does.
        """
        rays = self._rays[len(self._rays) // 2][None]
        if angular_velocity is not None and self.readout:
            rays = turned_rays(rays, angular_velocity, row_times(self.size[1], self.readout))
        width, height = self.drawn_size
        column, row = np.moveaxis(np.rint(self.lens.points(rays)[0]).astype(np.intp), -1, 0)
        shown: NDArray[Number] = drawn[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
        return shown

    def _turning(self, light: Floats32, velocity: Floats, blur: float) -> Floats32:
        """One picture (1, height, width, 3) that a turning camera takes."""
        focal = self.lens.focal
        if _turn_in_pixels(velocity, self.readout + blur, focal) < STILL_TURN_PIXELS:
            return light if self._table is None else remap(light, self._table)
        rows = row_times(self.size[1], self.readout)
        smear = _turn_in_pixels(velocity, blur, focal)
        if smear < STILL_TURN_PIXELS:
            return remap(light, self.lens.table(turned_rays(self._rays, velocity, rows)))
        # During the exposure of a row its rays move so little that their path is taken as straight.
        first, last = (turned_rays(self._rays, velocity, rows + side * blur / 2) for side in (-1, 1))
        way = last - first
        total = np.zeros((1, *self.lens.shape, 3), np.float32)
        samples = min(max(2, math.ceil(smear / SAMPLE_WIDTH)), MAX_BLUR_SAMPLES)
        for share in _blur_shares(samples):
            total += remap(light, self.lens.table(first + np.float32(share) * way))
        return total / np.float32(samples)

    def sense(self, light: Floats32, rng: np.random.Generator, exposure: Exposure | None = None) -> Bytes:
        """Pictures from the light that has come through the lens, (N, height, width, 3)."""
        settings, on = self.settings, self.effects
        if self._shade is not None:
            light = light * self._shade
        if "balance" in on:
            light = image_sensor.tint(light, settings.light_red, settings.light_blue)
        pattern = settings.filter if "filter" in on else "none"
        signal = light if pattern == "none" else image_sensor.mosaic(light, pattern)
        gain: float | Floats32 = 1.0
        if "exposure" in on:
            each = (-1, *(1,) * (signal.ndim - 1))
            time = None if exposure is None else exposure.time.astype(np.float32).reshape(each)
            gain = settings.gain if exposure is None else exposure.gain.astype(np.float32).reshape(each)
            signal = image_sensor.collect(signal, settings, time)
        if "noise" in on:
            signal = image_sensor.add_noise(signal, settings, rng)
            signal = image_sensor.convert(signal, gain=gain, bits=settings.bits)
        elif np.any(gain != 1.0):
            signal = np.minimum(signal * np.float32(gain), np.float32(1))
        light = signal if pattern == "none" else image_sensor.demosaic(signal, pattern)
        if "balance" in on:
            light = image_sensor.tint(light, settings.balance_red, settings.balance_blue)
        return image_sensor.to_picture(light, self.gamma)
