"""Finds an orange ball in a picture of an AIBO's camera, by its colour.

    finder = BallFinder(model_named("ers7"))
    seen = finder.find(picture.planes)              # planes Y, Cr, Cb, (3, height, width); None: no ball
    seen.left, seen.above, seen.distance            # rad, rad, m

Orange is rich in Cr, and the more so the brighter it is: Cr - 128 is 0.6 to 0.8 of Y for the ball and 0.2 for a yellow
goal, in light and in shade alike. Only pixels with neighbours of that colour count, so that noise is no ball. How far
away it is follows from how large it looks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body.catalogue import load_robot
from nutmeg.errors import UsageError

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Bytes
    from nutmeg.net.openr.models import Model

RADIUS = 0.0325
"""Of the ball [m]."""
GREY = 128
"""Cr and Cb of what has no colour."""
CR_OF_Y, LEAST_CR, MOST_CB = 0.25, 30, 122
"""Orange: Cr - 128 is more than this share of Y and than this, Cb is less than this."""
NEIGHBOURS = 2
"""Pixels beside, above and below of the same colour that a pixel of the ball has at least."""
FEWEST = 4
"""Pixels that are a ball."""


@dataclass(frozen=True, kw_only=True)
class BallSighting:
    """Where the ball is in a picture."""

    left: float
    """Angle from the camera's axis, positive to the left [rad]."""
    above: float
    """Positive up [rad]."""
    distance: float
    """From the camera to the ball's centre, judged by its size [m]; too far if it is partly hidden."""
    pixels: int
    """That have its colour."""


class BallFinder:
    """Knows a model's camera.

    Args:
        model: which AIBO.
    """

    def __init__(self, model: Model) -> None:
        camera = next(sensor for sensor in load_robot(model.robot).sensor if sensor.type == "camera")
        if camera.fov is None:
            raise UsageError(f"the camera of {model.robot} does not say how wide it sees.")
        self._shape = (3, model.image[1], model.image[0])
        self._middle = (np.array(model.image) - 1) / 2
        self._focal = model.image[0] / 2 / math.tan(camera.fov[0] / 2)

    def find(self, planes: Bytes) -> BallSighting | None:
        """The ball in a picture, planes Y, Cr, Cb, (3, height, width); None if there is none."""
        if planes.shape != self._shape:
            raise UsageError(f"the picture has the shape {planes.shape}; this camera's have {self._shape}.")
        rows, columns = np.nonzero(of_ball(planes))
        if len(rows) < FEWEST:
            return None
        right, down = np.median(columns) - self._middle[0], np.median(rows) - self._middle[1]
        return BallSighting(
            left=-math.atan(right / self._focal),
            above=-math.atan(down / self._focal),
            distance=self._focal * RADIUS * math.sqrt(math.pi / len(rows)),
            pixels=len(rows),
        )


def of_ball(planes: Bytes) -> Bools:
    """Which pixels of planes Y, Cr, Cb, (3, height, width), have the ball's colour, (height, width)."""
    y, cr, cb = planes.astype(np.int16)
    orange = (cr - GREY > np.maximum(CR_OF_Y * y, LEAST_CR)) & (cb < MOST_CB)
    framed = np.pad(orange, 1).astype(np.int8)
    beside = framed[:-2, 1:-1] + framed[2:, 1:-1] + framed[1:-1, :-2] + framed[1:-1, 2:]
    return np.asarray(orange & (beside >= NEIGHBOURS))
