"""One browser's camera: free, following a robot, on the touchline, or in a robot's head.

While a robot is followed the watcher may still orbit and zoom: only the centre of the view is moved, and not while
a hand is on the mouse.

    spectator = Spectator(client, stage)
    spectator.choose("Robot's eyes")
    spectator.follow()                   # once per frame
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.view.viewpoints import (
    Viewpoint,
    beside_panel,
    broadcast_view,
    eyes_view,
    follow_view,
    robot_cameras,
    side_view,
    stand_view,
    thing_position,
)

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.view.stage import Stage

FREE, FOLLOW, SIDE, EYES = CAMERAS = ("Free", "Follow robot", "Side line", "Robot's eyes")
"""What a watcher can choose from."""

BROADCAST, WHOLE, BALL = BALL_CAMERAS = ("Broadcast", "Whole pitch", "Follow ball")
"""What there is besides where there is a ball: the television camera turns after it."""

HAND_PAUSE = 0.35
"""After the watcher moved the camera by hand it is left alone for so long, seconds."""

CALM = 0.15
"""Share of the way to its goal that a following camera goes per frame: steps do not shake it."""


def cameras_of(stage: Stage) -> tuple[str, ...]:
    """The cameras from which a stage can be watched."""
    if not stage.robots:
        return CAMERAS[:1]
    return (*CAMERAS, *BALL_CAMERAS) if thing_position(stage.model, stage.data, "ball") is not None else CAMERAS


class Spectator:
    """The camera of one connected browser."""

    def __init__(self, client: Any, stage: Stage) -> None:  # noqa: ANN401
        self._client, self._stage = client, stage
        self._choice = FREE
        self._robot = stage.robots[0] if stage.robots else ""
        self._goal: Floats | None = None
        self._offset: Floats | None = None
        self._touched = 0.0
        self.picker: Any = None
        """The control that shows the chosen robot, if there are robots."""
        client.camera.on_update(self._moved)

    def choose(self, choice: str) -> None:
        """Take another camera."""
        was_eyes, self._choice = self._choice == EYES, choice
        self._goal = self._offset = None
        if choice in (FOLLOW, BALL) and (place := self._place()) is not None:
            self._take(follow_view(place))
            self._goal, self._offset = place, follow_view(place).position - place
        elif choice == WHOLE or (choice == FREE and was_eyes):
            self._take(beside_panel(broadcast_view(self._stage.pitch)))

    @property
    def robot(self) -> str:
        """The chosen robot; empty if there is none."""
        return self._robot

    def pick(self, robot: str) -> None:
        """Choose a robot; the cameras that look at one turn to it."""
        self._robot = robot

    def follow(self) -> None:
        """Move the camera after what it follows."""
        if self._choice == EYES:
            names = robot_cameras(self._stage.model, self._robot)
            if names:
                self._take(eyes_view(self._stage.model, self._stage.data, names[0]))
            return
        place = self._place()
        if self._choice in (FREE, WHOLE) or place is None:
            return
        self._goal = place if self._goal is None else self._goal + CALM * (place - self._goal)
        if self._choice == SIDE:
            self._take(side_view(self._stage.pitch, self._goal))
        elif self._choice == BROADCAST:
            self._take(beside_panel(stand_view(self._stage.pitch, self._goal)))
        elif time.monotonic() - self._touched > HAND_PAUSE:
            self._centre(self._goal)

    def _place(self) -> Floats | None:
        thing = "ball" if self._choice in (BROADCAST, BALL) else self._robot
        return thing_position(self._stage.model, self._stage.data, thing)

    def _centre(self, goal: Floats) -> None:
        """Keep the watcher's own distance and angle, and shift what is looked at."""
        camera = self._client.camera
        offset = self._offset if self._offset is not None else camera.position - camera.look_at
        with self._client.atomic():
            camera.position = goal + offset
            camera.look_at = goal
        self._offset = offset

    def _moved(self, camera: Any) -> None:  # noqa: ANN401
        """The browser tells its camera: when its angle is not the one we set, a hand is on the mouse."""
        if self._choice not in (FOLLOW, BALL) or self._offset is None:
            return
        offset = np.asarray(camera.position) - np.asarray(camera.look_at)
        if np.linalg.norm(offset - self._offset) > 0.02 * np.linalg.norm(self._offset):
            self._touched, self._offset = time.monotonic(), offset

    def _take(self, view: Viewpoint) -> None:
        camera = self._client.camera
        with self._client.atomic():
            camera.up_direction = view.up
            camera.position = view.position
            camera.look_at = view.look_at
            camera.fov = view.fov
