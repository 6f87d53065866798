"""Cameras by name, for pictures and videos: `broadcast`, `side`, `follow:<robot>`, `eyes:<robot>`, or the model's own.

`broadcast` has the whole pitch in view; `stand` turns after the ball, as television does. A camera that follows
something is calm: it goes a part of the way to its goal at every frame.

    operator = CameraOperator(model, "follow:nao1")
    view = operator.view(data)           # once per frame
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco

from nutmeg.errors import UnknownNameError
from nutmeg.view.viewpoints import (
    Viewpoint,
    broadcast_view,
    camera_names,
    eyes_view,
    follow_view,
    pitch_bounds,
    robot_cameras,
    side_view,
    stand_view,
    thing_position,
)

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats

CALM = 0.12
"""Share of the way to its goal that a following camera goes per frame."""


class CameraOperator:
    """Holds one named camera, frame after frame."""

    def __init__(self, model: Any, name: str, *, aspect: float = 16 / 9) -> None:  # noqa: ANN401
        """Take the camera `name`; `aspect` is width through height of the picture."""
        self._model, self._aspect = model, aspect
        self._pitch = pitch_bounds(model)
        self._kind, _, self._robot = name.partition(":")
        self._camera = ""
        self._goal: Floats | None = None
        if self._kind == "eyes" and self._robot:
            cameras = robot_cameras(model, self._robot)
            if not cameras:
                raise UnknownNameError("camera", name, known_cameras(model))
            self._camera = cameras[0]
        elif name in camera_names(model):
            self._kind, self._camera = "eyes", name
        elif name not in known_cameras(model):
            raise UnknownNameError("camera", name, known_cameras(model))

    def view(self, data: Any) -> Viewpoint:  # noqa: ANN401
        """Where the camera is now; `data` is the model's `mujoco.MjData`, with poses up to date."""
        if self._kind == "broadcast":
            return broadcast_view(self._pitch, self._aspect)
        if self._kind == "eyes":
            return eyes_view(self._model, data, self._camera)
        place = thing_position(self._model, data, self._robot or self._subject())
        assert place is not None
        self._goal = place if self._goal is None else self._goal + CALM * (place - self._goal)
        if self._kind == "stand":
            return stand_view(self._pitch, self._goal)
        return follow_view(self._goal) if self._kind == "follow" else side_view(self._pitch, self._goal)

    def _subject(self) -> str:
        """What the cameras beside the pitch run with: the ball, or else the first thing."""
        names = things(self._model)
        return "ball" if "ball" in names else names[0]


def known_cameras(model: Any) -> list[str]:  # noqa: ANN401
    """Every name that a picture of this model can ask for."""
    moving = things(model)
    names = ["broadcast", *(["stand", "side"] if moving else [])]
    names += [f"follow:{thing}" for thing in moving]
    names += [f"eyes:{thing}" for thing in moving if robot_cameras(model, thing)]
    return names + camera_names(model)


def things(model: Any) -> list[str]:  # noqa: ANN401
    """Things with a free joint `<thing>/root`, in the order of the model."""
    joints = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or "" for j in range(model.njnt)]
    return [name.removesuffix("/root") for name in joints if name.endswith("/root")]
