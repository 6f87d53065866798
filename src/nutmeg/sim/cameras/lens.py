"""Lenses: the point at which each ray of light arrives. Brown-Conrady distortion, colour fringes, vignetting.

A ray is written by where it would meet a plane at distance 1: (x, y), x right, y down, r² = x² + y². A lens with radial
numbers k and tangential numbers p lets it arrive at (Brown 1971, eq. 1 in docs/explanation/cameras.md)

    x' = x (1 + k1 r² + k2 r⁴ + k3 r⁶) + 2 p1 x y + p2 (r² + 2 x²)
    y' = y (1 + k1 r² + k2 r⁴ + k3 r⁶) + p1 (r² + 2 y²) + 2 p2 x y

A picture needs the opposite: which ray arrives at a pixel. `undistort` inverts the equations, and `Lens` keeps the
answers for all pixels of a camera as a table that `remap` reads, so a picture costs one interpolation. Red and blue
images are a little larger or smaller than the green one (lateral chromatic aberration): each has its own table then.

    lens = Lens.of(settings, size=(320, 240), fov=0.76, effects=("lens",))
    seen = remap(drawn, lens.table(lens.rays))                 # drawn (N, *lens.drawn_shape, 3) of linear light
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from nutmeg.base.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Floats32, Indices
    from nutmeg.model.sensors import CameraSettings

Real = TypeVar("Real", np.float32, np.float64)
INVERSION_STEPS = 60
"""Largest number of steps of the iteration that inverts a lens."""
INVERSION_TOLERANCE, MAX_RAY_DISTANCE = 1e-9, 10.0
"""Convergence of that iteration, and the distance beyond which it diverges, on the plane at distance 1."""
MAX_DRAWN_RATIO = 2.0
"""Largest width of the drawn picture relative to a pinhole's; lenses that need more are refused."""


def distort(rays: Floats, settings: CameraSettings) -> Floats:
    """Points (..., 2) at which rays (..., 2) arrive, both on the plane at distance 1."""
    x, y = rays[..., 0], rays[..., 1]
    square = x * x + y * y
    radial = 1 + square * (settings.k1 + square * (settings.k2 + square * settings.k3))
    return np.stack(
        [
            x * radial + 2 * settings.p1 * x * y + settings.p2 * (square + 2 * x * x),
            y * radial + settings.p1 * (square + 2 * y * y) + 2 * settings.p2 * x * y,
        ],
        axis=-1,
    )


def undistort(arrived: Floats, settings: CameraSettings) -> Floats:
    """The rays (..., 2) that arrive at places (..., 2); a lens that folds the picture over is an error."""
    rays = arrived.copy()
    for _ in range(INVERSION_STEPS):
        step = distort(rays, settings) - arrived
        rays = rays - step
        if np.abs(step).max(initial=0.0) < INVERSION_TOLERANCE:
            return rays
        if np.abs(rays).max(initial=0.0) > MAX_RAY_DISTANCE:
            break
    if (
        np.abs(rays).max(initial=0.0) < MAX_RAY_DISTANCE
        and np.abs(distort(rays, settings) - arrived).max(initial=0.0) < 1e-4
    ):
        return rays
    raise ModelError(
        f"the lens k1 = {settings.k1:g}, k2 = {settings.k2:g}, k3 = {settings.k3:g}, p1 = {settings.p1:g}, "
        f"p2 = {settings.p2:g} cannot be inverted within the picture: it bends rays too much. Take smaller numbers."
    )


@dataclass(frozen=True)
class RemapTable:
    """For every pixel and colour, the four pixels of the drawn picture that it is made of, and their weights."""

    corner: Indices
    """Number of the upper left of the four in the flattened picture, (colours, pixels); one colour if all agree."""
    weights: Floats32
    """Weights of upper left, upper right, lower left, lower right, (4, colours, pixels)."""
    shape: tuple[int, int]
    """Height and width of the resulting picture."""
    width: int
    """Width of the drawn picture."""


def bilinear(points: NDArray[np.floating[Any]], drawn_shape: tuple[int, int], shape: tuple[int, int]) -> RemapTable:
    """The table that reads a drawn picture at points (colours, pixels, 2): column and row; outside is its edge."""
    height, width = drawn_shape
    column = np.clip(points[..., 0], 0, width - 1).astype(np.float32)
    row = np.clip(points[..., 1], 0, height - 1).astype(np.float32)
    left, top = np.minimum(column.astype(np.int32), width - 2), np.minimum(row.astype(np.int32), height - 2)
    right_share, low_share = column - left.astype(np.float32), row - top.astype(np.float32)
    high, low, left_share = 1 - low_share, low_share, 1 - right_share
    weights = np.stack([high * left_share, high * right_share, low * left_share, low * right_share])
    return RemapTable((top * width + left).astype(np.intp), weights, shape, width)


def remap(images: Floats32, table: RemapTable) -> Floats32:
    """Pictures (N, height, width, 3) read through a table: (N, *table.shape, 3)."""
    planes = np.ascontiguousarray(np.moveaxis(images.reshape(len(images), -1, 3), -1, 0))  # (3, N, pixels)
    out = np.empty((len(images), table.shape[0] * table.shape[1], 3), np.float32)
    steps = (0, 1, table.width, table.width + 1)
    corners = [[corner + step for step in steps] for corner in table.corner]
    for colour, plane in enumerate(planes):
        own = colour if len(corners) == 3 else 0
        total = np.take(plane, corners[own][0], axis=1)
        total *= table.weights[0, own]
        for k in range(1, 4):
            part = np.take(plane, corners[own][k], axis=1)
            part *= table.weights[k, own]
            total += part
        out[..., colour] = total
    return out.reshape(len(images), *table.shape, 3)


@dataclass(frozen=True)
class Lens:
    """The rays of all pixels of a camera, computed once before any picture."""

    shape: tuple[int, int]
    """Height and width of the camera's pictures."""
    focal: float
    """Focal length, pixels."""
    rays: Floats
    """The ray of each pixel, (colours, height, width, 2); one colour if all agree."""
    drawn_shape: tuple[int, int]
    """Height and width of the pinhole's picture that has all that the lens shows, with the same focal length."""
    drawn_fov: float
    """Vertical field of view of that picture [rad]."""

    @classmethod
    def of(
        cls, settings: CameraSettings, *, size: tuple[int, int], fov: float, effects: tuple[str, ...], margin: float = 0
    ) -> Lens:
        """The lens of a camera with pictures of `size` (width, height) and a vertical field of view [rad].

        `margin` is a share of the picture's width that is drawn on every side beyond what the lens shows.
        """
        width, height = size
        focal = height / 2 / math.tan(fov / 2)
        rays = _rays(settings, width, height, focal, effects)
        reach = np.abs(rays).max(axis=(0, 1, 2)) * focal * 2 + 1 + 2 * margin * width
        drawn = [max(length, math.ceil(far)) for length, far in zip((width, height), reach, strict=True)]
        drawn = [n + (n - length) % 2 for n, length in zip(drawn, (width, height), strict=True)]
        if drawn[0] > MAX_DRAWN_RATIO * width or drawn[1] > MAX_DRAWN_RATIO * height:
            raise ModelError(
                f"this lens shows {drawn[0]} x {drawn[1]} pixels of a pinhole's picture in {width} x {height}; twice "
                "the width is the most. Take a wider field of view and a lens that bends less."
            )
        return cls((height, width), focal, rays, (drawn[1], drawn[0]), 2 * math.atan(drawn[1] / 2 / focal))

    @property
    def plain(self) -> bool:
        """Whether every ray arrives where a pinhole would have it."""
        return len(self.rays) == 1 and self.drawn_shape == self.shape and _is_grid(self.rays[0], self.focal)

    def points(self, rays: NDArray[Real]) -> NDArray[Real]:
        """Column and row (..., 2) of rays (..., 2) in the drawn picture."""
        height, width = self.drawn_shape
        return rays * rays.dtype.type(self.focal) + np.array([(width - 1) / 2, (height - 1) / 2], rays.dtype)

    def table(self, rays: NDArray[Real]) -> RemapTable:
        """The table for rays (colours, height, width, 2) at its pixels: its own, or turned ones."""
        points = self.points(rays).reshape(len(rays), -1, 2)
        return bilinear(points, self.drawn_shape, self.shape)


def pixel_grid(width: int, height: int, focal: float) -> Floats:
    """Middles of all pixels on the plane at distance 1, (height, width, 2)."""
    x = (np.arange(width) - (width - 1) / 2) / focal
    y = (np.arange(height) - (height - 1) / 2) / focal
    return np.stack(np.meshgrid(x, y), axis=-1)


def _rays(settings: CameraSettings, width: int, height: int, focal: float, effects: tuple[str, ...]) -> Floats:
    grid = pixel_grid(width, height, focal)
    axis = np.array([settings.centre_x, settings.centre_y]) * width / focal if "lens" in effects else np.zeros(2)
    sizes = [1.0]
    if "fringe" in effects and (settings.fringe_red or settings.fringe_blue):
        sizes = [1 + settings.fringe_red, 1.0, 1 + settings.fringe_blue]
    arrived = np.stack([(grid - axis) / size for size in sizes])
    return undistort(arrived, settings) if "lens" in effects else arrived


def _is_grid(rays: Floats, focal: float) -> bool:
    height, width = rays.shape[:2]
    return bool(np.abs(rays - pixel_grid(width, height, focal)).max() * focal < 1e-6)


def vignetting(settings: CameraSettings, *, size: tuple[int, int], fov: float) -> Floats32:
    """Brightness of each pixel relative to the brightest, (height, width, 1).

    (1 - c + c cos⁴ theta)(1 + v2 ρ² + v4 ρ⁴), eq. 3: theta is a ray's angle to the optical axis, ρ its distance from
    it in half diagonals, c the share of the natural fall-off. Not below 0.
    """
    width, height = size
    focal = height / 2 / math.tan(fov / 2)
    axis = np.array([settings.centre_x, settings.centre_y]) * width
    square = (((pixel_grid(width, height, focal) * focal) - axis) ** 2).sum(axis=-1)
    natural = (1 + square / focal**2) ** -2
    corner = square / ((width / 2) ** 2 + (height / 2) ** 2)
    profile = (1 - settings.cos4 + settings.cos4 * natural) * (1 + corner * (settings.v2 + corner * settings.v4))
    shade: Floats32 = np.maximum(profile, 0)[..., None].astype(np.float32)
    return shade
