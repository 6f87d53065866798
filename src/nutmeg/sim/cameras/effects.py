"""The effects of a camera in their order, from drawn pictures to those of the robot.

    effects = CameraEffects(settings, size=(320, 240), fov=0.76, effects=("lens", "noise"))
    drawn = renderer.draw(camera, effects.drawn_size, effects.drawn_fov)
    picture = effects.apply(drawn[None], rng)[0]                    # (240, 320, 3) uint8

Light goes through the shutter and the lens (one table for both), is dimmed towards the corners, tinted, collected,
filtered, read with noise, amplified, converted, put together to colours, balanced and gamma-coded. Effects that are
not wanted are left out, and cost nothing. Without any effect a drawn picture comes back as it was. `gather` and
`sense` are the two halves of `apply`, for many pictures of the same light.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.model.sensors import CAMERA_EFFECTS, CameraSettings, checked_effects
from nutmeg.sim.cameras import image_sensor, shutter
from nutmeg.sim.cameras.lens import Lens, remap, vignetting

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes, Floats, Floats32
    from nutmeg.sim.cameras.image_sensor import Exposure

MAX_BLUR_SAMPLES, SAMPLE_WIDTH = 9, 3.0
"""Largest number of directions that are averaged for blur from the camera's angular velocity, and their distance
[pixels]."""
TURN_MARGIN = 0.06
"""Share of the width that is drawn on every side for a camera that turns while a picture is taken."""
STILL_TURN_PIXELS = 0.05
"""Pixels; a camera that turns less while a picture is taken stands still."""


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
        """For how long a row collects light [s]; 0 if the blur's effect is off."""
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
        `shutter.turned_rays`. Without it, it is at rest. An `exposure` stands for the settings' own time and gain.
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
            shutter.expose(
                one[None], shutter.exposure_weights(self.size[1], times, readout=self.readout, exposure=blur)
            )
            for one, blur in zip(light, self.blurs(count, exposure), strict=True)
        ]
        return self.sense(np.concatenate(exposed), rng, exposure)

    def blurs(self, count: int, exposure: Exposure | None) -> list[float]:
        """For how long rows of each of N pictures collect light while things move [s]."""
        return [self.blur] * count if exposure is None or not self.blur else [float(t) for t in exposure.time]

    def gather(
        self,
        drawn: Bytes,
        angular_velocity: Floats | None = None,
        exposure: Exposure | None = None,
    ) -> Floats32:
        """The light (N, height, width, 3) that comes through the lens while drawn pictures (N, *drawn, 3) are seen."""
        light = image_sensor.to_light(drawn)
        if angular_velocity is None or not (self.readout or self.blur):
            return light if self._table is None else remap(light, self._table)
        each = zip(light, np.asarray(angular_velocity), self.blurs(len(light), exposure), strict=True)
        return np.concatenate([self._turning(one[None], velocity, blur) for one, velocity, blur in each])

    def _turning(self, light: Floats32, velocity: Floats, blur: float) -> Floats32:
        """One picture (1, height, width, 3) that a turning camera takes."""
        focal = self.lens.focal
        if shutter.turn_in_pixels(velocity, self.readout + blur, focal) < STILL_TURN_PIXELS:
            return light if self._table is None else remap(light, self._table)
        rows = shutter.row_times(self.size[1], self.readout)
        smear = shutter.turn_in_pixels(velocity, blur, focal)
        if smear < STILL_TURN_PIXELS:
            return remap(light, self.lens.table(shutter.turned_rays(self._rays, velocity, rows)))
        # While a row collects light, each of its rays goes so short a way that it is straight.
        first, last = (shutter.turned_rays(self._rays, velocity, rows + side * blur / 2) for side in (-1, 1))
        way = last - first
        total = np.zeros((1, *self.lens.shape, 3), np.float32)
        samples = min(max(2, math.ceil(smear / SAMPLE_WIDTH)), MAX_BLUR_SAMPLES)
        for share in shutter.blur_shares(samples):
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
