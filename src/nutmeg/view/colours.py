"""The colour and the gloss of a geom, from its material or its own rgba.

MuJoCo colours are sRGB numbers from 0 to 1. A material's colour holds unless the geom's rgba was set away
from MuJoCo's default grey (XML reference, `geom rgba`); a texture is drawn as its mean colour. Roughness
follows from the material's `shininess`: 1 is a mirror, 0 is chalk.

    finish = geom_finish(model, geom)
    finish.rgba        # (0.9, 0.1, 0.1, 1.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats

_DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)


@dataclass(frozen=True, kw_only=True)
class Finish:
    """What the surface of a geom looks like."""

    rgba: tuple[float, float, float, float]
    """Colour (sRGB) and opacity, 0 to 1."""

    roughness: float = 0.75
    """0 is a mirror, 1 is chalk."""

    @property
    def transparent(self) -> bool:
        """Whether something behind it shows through."""
        return self.rgba[3] < 0.995


def geom_finish(model: Any, geom: int) -> Finish:  # noqa: ANN401
    """The finish of a geom of a compiled model."""
    material = int(model.geom_matid[geom])
    own = np.asarray(model.geom_rgba[geom], dtype=np.float64)
    if material < 0:
        return Finish(rgba=_four(own))
    colour = np.array(model.mat_rgba[material], dtype=np.float64)
    if not np.allclose(own, _DEFAULT_RGBA):
        colour = own
    texture = int(np.asarray(model.mat_texid[material])[mujoco.mjtTextureRole.mjTEXROLE_RGB])
    if texture >= 0:
        colour[:3] *= mean_colour(model, texture)
    return Finish(rgba=_four(colour), roughness=float(np.clip(1.0 - 0.75 * model.mat_shininess[material], 0.15, 1)))


def mean_colour(model: Any, texture: int) -> Floats:  # noqa: ANN401
    """The mean colour (3,) of a texture."""
    channels = int(model.tex_nchannel[texture])
    start = int(model.tex_adr[texture])
    count = int(model.tex_height[texture]) * int(model.tex_width[texture]) * channels
    pixels = np.asarray(model.tex_data[start : start + count]).reshape(-1, channels)
    rgb = pixels[:, :3] if channels >= 3 else np.repeat(pixels[:, :1], 3, axis=1)
    mean: Floats = rgb.mean(axis=0) / 255.0
    return mean


def linear(srgb: Floats) -> Floats:
    """Light intensity of sRGB values (IEC 61966-2-1), elementwise."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _four(rgba: Floats) -> tuple[float, float, float, float]:
    r, g, b, a = (float(np.clip(value, 0, 1)) for value in rgba)
    return r, g, b, a
