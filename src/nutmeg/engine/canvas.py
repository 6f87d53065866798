"""What MuJoCo's scenes are drawn on, off screen: one OpenGL context and its buffer.

    with Canvas(model, (640, 480)) as canvas:
        image = canvas.paint(scene)                         # (480, 640, 3) uint8, the top row first
        small = canvas.paint(scene, (320, 240))             # in a corner of the same buffer

Not for several threads at once: an OpenGL context belongs to one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.closing import Closing
from nutmeg.engine.renderers import make_context, working_renderer
from nutmeg.errors import UsageError

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes

SMALLEST, LARGEST = 8, 8192
"""Bounds of a picture's width and height, pixels."""


class Canvas(Closing):
    """Draws scenes of one model; holds an OpenGL context until closed, and closing twice is fine.

    Args:
        model: the compiled `mujoco.MjModel`; what it says of off-screen buffers must allow the size.
        size: width and height of the largest picture, pixels.
    """

    def __init__(self, model: Any, size: tuple[int, int]) -> None:  # noqa: ANN401
        self.size = checked_size(size)
        self._window: Any = make_context(working_renderer(), *size)
        self._context: Any = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)

    def paint(self, scene: Any, size: tuple[int, int] | None = None) -> Bytes:  # noqa: ANN401
        """A picture of a scene as its eyes see it, (height, width, 3); as large as the canvas if not told otherwise."""
        if self._context is None:
            raise UsageError("this renderer is closed; make a new one to draw again.")
        width, height = self.size if size is None else size
        self._window.make_current()
        if width > self.size[0] or height > self.size[1]:
            self.size = checked_size((max(width, self.size[0]), max(height, self.size[1])))
            mujoco.mjr_resizeOffscreen(*self.size, self._context)
        frame = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(frame, scene, self._context)
        image = np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(image, None, frame, self._context)
        return np.ascontiguousarray(image[::-1])

    def close(self) -> None:
        """Gives the context back."""
        if self._context is not None:
            self._window.make_current()
            self._context.free()
            self._window.free()
            self._context = None


def checked_size(size: tuple[int, int]) -> tuple[int, int]:
    """A size that pictures can have."""
    if not all(SMALLEST <= length <= LARGEST for length in size):
        raise UsageError(
            f"the picture size is {size[0]} x {size[1]}; both must lie between {SMALLEST} and {LARGEST} pixels."
        )
    return size
