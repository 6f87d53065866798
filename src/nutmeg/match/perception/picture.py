"""A picture of one camera with what is needed to measure in it: colours, where the camera looks, pixels and ground.

    picture = Picture.of(images["top"], eyes.cameras, "top", head=percept.head)
    picture.ground([[160.0, 200.0]])                    # (1, 2) ahead and left of the feet, m
    picture.horizon                                     # the row of what is infinitely far away on the ground

The geometry is that of `behaviour.camera_geometry`. A camera of these robots does not roll, so that the horizon is a
row. Half a pixel is what any place in a picture may be wrong by; `blur` says how far that is on the ground.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.behaviour.camera_geometry import camera_pose, in_picture, to_ground, to_pixels
from nutmeg.match.perception.colours import classify

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.match.behaviour.camera_geometry import Which
    from nutmeg.match.behaviour.eyes import CamerasSettings
    from nutmeg.match.perception.colours import Classes


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What a camera shows."""

    classes: Classes
    """(height, width) of `Colour`."""
    cameras: CamerasSettings
    """With the size of this picture."""
    which: Which
    head: tuple[float, float]
    """Yaw to the left and pitch upwards, rad."""
    place: Floats
    """(3,) of the camera from between the feet, m."""
    horizon: float
    """Its row; may lie outside the picture."""

    @classmethod
    def of(cls, image: Bytes, cameras: CamerasSettings, which: Which, *, head: tuple[float, float]) -> Picture:
        """A picture (height, width, 3), which may be smaller than the camera's."""
        height, width = image.shape[:2]
        fitting = replace(cameras, width=width, height=height)
        place, axes = camera_pose(fitting, which, head=head)
        down, forward = float(axes[2, 1]), float(axes[2, 2])
        horizon = height / 2 - fitting.focal * forward / down
        return cls(
            classes=classify(image), cameras=fitting, which=which, head=head, place=place, horizon=float(horizon)
        )

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, pixels."""
        return self.cameras.width, self.cameras.height

    def ground(self, pixels: ArrayLike, height: float = 0.0) -> Floats:
        """(..., 2) where pixels (..., 2) of things at a height are, ahead and left, m; NaN above the horizon."""
        return to_ground(self.cameras, self.which, pixels, head=self.head, height=height)

    def pixels(self, points: ArrayLike) -> Floats:
        """(..., 2) where points (..., 3) of the body's frame are in the picture; NaN if they are behind it."""
        return to_pixels(self.cameras, self.which, points, head=self.head)

    def colours_at(self, spots: Floats) -> NDArray[np.int16]:
        """(...) colours of spots (..., 2) on the ground; -1 of those outside the picture."""
        pixels = self.pixels(np.concatenate([spots, np.zeros((*spots.shape[:-1], 1))], axis=-1))
        inside = in_picture(self.cameras, np.nan_to_num(pixels, nan=-1.0))
        whole = np.where(inside[..., None], np.nan_to_num(pixels), 0.0).astype(int)
        return np.where(inside, self.classes[whole[..., 1], whole[..., 0]].astype(np.int16), -1)

    def away(self, spot: Floats) -> float:
        """How far a spot (2,) on the ground is from below the camera, m."""
        return float(math.hypot(spot[0] - self.place[0], spot[1] - self.place[1]))

    def blur(self, away: float, height: float = 0.0) -> float:
        """How far apart two rows show things at a height that are so far from below the camera, m."""
        up = float(self.place[2]) - height
        return (away**2 + up**2) / (up * self.cameras.focal)

    def scale(self, away: float, height: float = 0.0) -> float:
        """Pixels of a metre across, at a height and so far from below the camera."""
        return self.cameras.focal / math.hypot(away, float(self.place[2]) - height)
