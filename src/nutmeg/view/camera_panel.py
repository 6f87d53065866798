"""The two camera pictures of a chosen robot in the panel of one browser, renewed a few times a second.

    panel = CameraPanel(client, sight)
    panel.refresh("left3", row)                     # after the picture of the pitch, as often as one likes

Pictures are drawn only while somebody has them open, and only when robot or moment have changed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.errors import EnvironmentProblem

if TYPE_CHECKING:
    from nutmeg.view.behaviour_sight import BehaviourSight

PERIOD = 0.25
"""Seconds between two pictures."""
QUALITY = 85
"""Of the JPEG files that browsers get, percent."""
LABELS = ("Upper camera", "Lower camera")


class CameraPanel:
    """The cameras of whom one browser looks at."""

    def __init__(self, client: Any, sight: BehaviourSight) -> None:  # noqa: ANN401
        self._sight, self._on, self._drawn = sight, True, 0.0
        self._shown: tuple[str, int] | None = None
        cameras = sight.match.eyes.cameras
        black = np.zeros((cameras.height, cameras.width, 3), np.uint8)
        show = client.gui.add_checkbox("Camera pictures", initial_value=True, hint="What its two cameras see.")
        show.on_update(lambda event: self._switch(on=bool(event.target.value)))
        self._text = client.gui.add_markdown("", visible=False)
        self._images = [
            client.gui.add_image(black, label=label, format="jpeg", jpeg_quality=QUALITY) for label in LABELS
        ]

    def refresh(self, robot: str, row: int) -> None:
        """Bring the pictures up to a row of the recording, if it is time for that."""
        now = time.monotonic()
        if not self._on or self._shown == (robot, row) or now - self._drawn < PERIOD:
            return
        self._drawn, self._shown = now, (robot, row)
        try:
            pictures = self._sight.pictures(robot, row)
        except EnvironmentProblem as problem:
            self._switch(on=False)
            self._text.content, self._text.visible = f"No pictures: {problem}", True
            return
        for handle, picture in zip(self._images, pictures, strict=True):
            handle.image = picture

    def _switch(self, *, on: bool) -> None:
        self._on, self._shown = on, None
        for handle in self._images:
            handle.visible = on
