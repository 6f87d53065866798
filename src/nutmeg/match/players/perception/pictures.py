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

from nutmeg.base.arrays import Bytes, Floats, Ints
from nutmeg.base.kernels import kernel
from nutmeg.match.players.perception.colours import Colour, classify
from nutmeg.match.worlds.behavioural.camera_geometry import camera_pose, in_picture, to_ground, to_pixels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from nutmeg.match.players.perception.colours import Classes
    from nutmeg.match.worlds.behavioural.camera_geometry import CameraName
    from nutmeg.match.worlds.behavioural.eyes import CamerasSettings


@dataclass(frozen=True, kw_only=True)
class Picture:
    """The picture of a camera."""

    classes: Classes
    """(height, width) of `Colour`."""
    cameras: CamerasSettings
    """Settings of the cameras, with the size of this picture."""
    which: CameraName
    head: tuple[float, float]
    """Yaw to the left and pitch upwards, rad."""
    place: Floats
    """(3,) of the camera from between the feet, m."""
    horizon: float
    """Its row; may lie outside the picture."""

    @classmethod
    def of(cls, image: Bytes, cameras: CamerasSettings, which: CameraName, *, head: tuple[float, float]) -> Picture:
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
        """Distance between things that neighbouring rows show, at a height and a distance from below the camera, m."""
        up = float(self.place[2]) - height
        return (away**2 + up**2) / (up * self.cameras.focal)

    def scale(self, away: float, height: float = 0.0) -> float:
        """Pixels per metre across, at a height and a distance from below the camera."""
        return self.cameras.focal / math.hypot(away, float(self.place[2]) - height)


# ----------------------------------------------------------------------------------------------------
# Compiled scans along columns and rows: where the carpet ends, upright bars, and what lies across it.
#
# Pixels are (column, row) as in `camera_geometry`: an edge between two pixels is a whole number.


_MIN_CARPET_RUN = 3  # green pixels in a row that are carpet
_MAX_CUTS = 4000  # most white cuts in a picture
_MAX_BAR_GAP = 2  # pixels of another colour that do not end a bar


@kernel
def border_rows(classes: Bytes, horizon: float) -> Ints:
    """(width,) row of the highest carpet below the horizon in each column; the height where there is none."""
    height, width = classes.shape
    border = np.full(width, height)
    first = max(0, int(np.ceil(horizon)))
    for column in range(width):
        green = 0
        for row in range(first, height):
            green = green + 1 if classes[row, column] == Colour.GREEN else 0
            if green == _MIN_CARPET_RUN:
                border[column] = row - _MIN_CARPET_RUN + 1
                break
    return border


@kernel
def upright_runs(classes: Bytes, colour: int) -> Ints:
    """(width, 2) first and last row of the longest run of a colour in each column; -1 where there is none."""
    height, width = classes.shape
    runs = np.full((width, 2), -1)
    for column in range(width):
        start, last = -1, -1
        for row in range(height + _MAX_BAR_GAP + 1):
            if row < height and classes[row, column] == colour:
                start = row if start < 0 else start
                last = row
            elif start >= 0 and row - last > _MAX_BAR_GAP:
                if runs[column, 0] < 0 or last - start > runs[column, 1] - runs[column, 0]:
                    runs[column, 0], runs[column, 1] = start, last
                start = -1
    return runs


@kernel
def white_cuts(classes: Bytes, border: Ints, step: int) -> Floats:
    """(K, 4) column and row of both ends of white with green on both sides, along each step-th column and row."""
    height, width = classes.shape
    cuts = np.empty((_MAX_CUTS, 4))
    used = 0
    # Each column from the bottom up to the border of the field. A cut counts only if white follows green and green
    # follows white directly: posts, robots and the outside of the field have other colours beside them.
    for column in range(step // 2, width, step):
        start, before = -1, -1
        for row in range(height - 1, border[column] - 1, -1):
            here = classes[row, column]
            if here == Colour.WHITE and before == Colour.GREEN:
                start = row + 1
            elif here == Colour.GREEN and before == Colour.WHITE and start >= 0 and used < _MAX_CUTS:
                cuts[used, 0], cuts[used, 1], cuts[used, 2], cuts[used, 3] = column + 0.5, start, column + 0.5, row + 1
                used += 1
                start = -1
            elif here != Colour.WHITE:
                start = -1
            before = here
    # Each row from left to right; pixels above the border of their column count as no colour.
    for row in range(step // 2, height, step):
        start, before = -1, -1
        for column in range(width):
            here = classes[row, column]
            if row < border[column]:
                here = 0
            if here == Colour.WHITE and before == Colour.GREEN:
                start = column
            elif here == Colour.GREEN and before == Colour.WHITE and start >= 0 and used < _MAX_CUTS:
                cuts[used, 0], cuts[used, 1], cuts[used, 2], cuts[used, 3] = start, row + 0.5, column, row + 0.5
                used += 1
                start = -1
            elif here != Colour.WHITE:
                start = -1
            before = here
    return cuts[:used]
