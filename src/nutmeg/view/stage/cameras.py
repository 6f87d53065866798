"""Camera viewpoints: broadcast, side line, behind a robot, and in a robot's head.

One description serves the browser and the renderer.

    view = broadcast_view(pitch_bounds(model))
    view = eyes_view(model, data, "nao1/CameraTop")
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import UnknownNameError
from nutmeg.model.tables import camera_names
from nutmeg.view.stage.bodies import geom_bounds, is_paint, visible_geoms

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats


_BROADCAST_FOV = math.radians(32.0)  # vertical field of view of the broadcast camera: a long lens, little distortion
_MAX_FITTED_FOV = math.radians(110.0)  # the widest angle of a high picture
_FREE_FOV = math.radians(45.0)  # vertical field of view of the other cameras outside robots
_BROADCAST_ELEVATION = math.radians(33.0)
"""Height of the broadcast camera above the horizon, seen from the centre spot."""
_STAND_FOLLOWS = 0.6  # share of the ball's position along the pitch by which the television camera moves
_STAND_BEHIND, STAND_HEIGHT = 5.0, 5.0
"""Its distance from the touchline and its height, metres."""
_FOLLOWED_SIZE = 0.6  # the size of a robot, metres, that a camera two metres away shows well
_STAND_PICTURE_HEIGHT = 5.5  # it zooms so that the picture has at least this height at the ball, metres
_STAND_BESIDE_BALL, _STAND_BEHIND_GOAL = 3.0, 1.0
"""Lengths that it shows beside the ball, and behind the goal, metres."""
_STAND_MIDDLE = 0.35
"""Within this share of half the pitch's length from the middle, it turns from one goal to the other."""
_STAND_HEADROOM = 1.15  # height of its picture relative to the region that has to be seen
_STAND_ASPECT = 16 / 9  # the width through the height of a picture in which ball and goal are both seen


@dataclass(frozen=True, kw_only=True)
class Viewpoint:
    """A camera: its position, target and field of view."""

    position: Floats
    """Position (3,) in the world, metres."""
    look_at: Floats
    """The point (3,) in the middle of the picture."""
    up: Floats
    """The direction (3,) that is up in the picture."""
    fov: float
    """Vertical field of view, radians."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """A box around the things to show."""

    low: Floats
    """Lowest corner (3,), metres."""
    high: Floats
    """Highest corner (3,), metres."""

    @property
    def centre(self) -> Floats:
        """The middle (3,) of its floor."""
        x, y = ((self.low + self.high) / 2)[:2]
        return np.array([x, y, self.low[2]])

    @property
    def size(self) -> float:
        """Its longest edge, metres."""
        return float(np.max(self.high - self.low))


def pitch_bounds(model: mujoco.MjModel) -> Bounds:
    """The pitch: all painted lines; without lines, the things that stand or start there, at least 2 m wide."""
    geoms = visible_geoms(model)
    paint = [g for g in geoms if is_paint(model, g)]
    if paint:
        corners = [geom_bounds(model, g) for g in paint]
        low, high = np.min([c[0] for c in corners], axis=0), np.max([c[1] for c in corners], axis=0)
        return Bounds(low=low, high=high)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    moving = [data.xpos[b] for b in range(1, model.nbody) if model.body_weldid[b] != 0] or [np.zeros(3)]
    low, high = np.min(moving, axis=0), np.max(moving, axis=0)
    return Bounds(low=np.append(low[:2] - 1.0, 0.0), high=np.append(high[:2] + 1.0, high[2]))


def broadcast_view(pitch: Bounds, aspect: float = 16 / 9) -> Viewpoint:
    """The main stand: high beside the long side, the whole pitch in the picture."""
    half = (pitch.high - pitch.low) / 2
    along_x = half[0] >= half[1]
    length, width = (half[0], half[1]) if along_x else (half[1], half[0])
    tangent = math.tan(_BROADCAST_FOV / 2)
    distance = 1.1 * max(length / (tangent * aspect), width) + width * math.cos(_BROADCAST_ELEVATION)
    away = np.array([0.0, -1.0, 0.0]) if along_x else np.array([1.0, 0.0, 0.0])
    offset = away * math.cos(_BROADCAST_ELEVATION) + np.array([0.0, 0.0, math.sin(_BROADCAST_ELEVATION)])
    return Viewpoint(position=pitch.centre + distance * offset, look_at=pitch.centre, up=_upright(), fov=_BROADCAST_FOV)


def side_view(pitch: Bounds, target: Floats) -> Viewpoint:
    """A camera that runs along the touchline, level with `target` (3,)."""
    half = (pitch.high - pitch.low) / 2
    place = np.array([target[0], pitch.low[1] - 1.2, pitch.low[2] + 0.9])
    if half[1] > half[0]:
        place = np.array([pitch.high[0] + 1.2, target[1], pitch.low[2] + 0.9])
    return Viewpoint(position=place, look_at=target * [1, 1, 0.6], up=_upright(), fov=math.radians(38.0))


def stand_view(pitch: Bounds, target: Floats) -> Viewpoint:
    """A camera on the main stand that turns after `target` (3,) and moves a little with it, as on television.

    It shows the target and the nearer goal; around the middle of the pitch it turns from one goal to the other.
    """
    centre, half = pitch.centre, (pitch.high - pitch.low) / 2
    along, across = (0, 1) if half[0] >= half[1] else (1, 0)
    near = -1.0 if along == 0 else 1.0
    place, goal = centre.copy(), centre.copy()
    place[along] += _STAND_FOLLOWS * (target[along] - centre[along])
    place[across] += near * (half[across] + _STAND_BEHIND)
    place[2] += STAND_HEIGHT
    ahead = float(np.clip(target[along] - centre[along], -half[along], half[along]))
    goal[across] = np.clip(target[across], centre[across] - half[across], centre[across] + half[across])
    goal[2] += 0.25
    # The picture has to contain the ball with some pitch on both sides, and the nearer goal.
    nearness = min(abs(ahead) / (_STAND_MIDDLE * half[along]), 1.0)
    beside = min(_STAND_BESIDE_BALL, 0.5 * half[along])
    seen = np.tile(goal, (2, 1))
    seen[:, along] += (ahead - beside, ahead + beside)
    nearer = int(ahead > 0)
    line = goal.copy()
    line[along] += (half[along] + _STAND_BEHIND_GOAL) * (1.0 if nearer else -1.0)
    line[across] = centre[across]
    seen[nearer] += nearness * (line - seen[nearer])
    goal[along] = np.mean(seen[:, along])
    rays = seen - place
    forward = (goal - place) / np.linalg.norm(goal - place)
    right = np.cross(forward, _upright())
    right /= np.linalg.norm(right)
    depth = rays @ forward
    width = float(np.max(np.abs(rays @ right) / depth))
    height = float(np.max(np.abs(rays @ np.cross(right, forward)) / depth))
    least = _STAND_PICTURE_HEIGHT / 2 / float(np.linalg.norm(goal - place))
    fov = 2 * math.atan(max(least, width / _STAND_ASPECT, _STAND_HEADROOM * height))
    return Viewpoint(position=place, look_at=goal, up=_upright(), fov=fov)


def follow_view(target: Floats, size: float = _FOLLOWED_SIZE) -> Viewpoint:
    """A camera near `target` (3,), from the side of the main stand: two metres from something of the size of a Nao."""
    offset = np.array([0.7, -1.7, 0.75]) * max(size, 0.02) / _FOLLOWED_SIZE
    return Viewpoint(position=target + offset, look_at=target, up=_upright(), fov=_FREE_FOV)


def fitted_fov(fov: float, aspect: float) -> float:
    """The vertical angle of a picture, `aspect` times as wide as high, for a view with the angle `fov` [rad].

    A picture that is higher than wide, as on a phone, shows as much to the sides as a square one.
    """
    return fov if not 0 < aspect < 1 else min(2 * math.atan(math.tan(fov / 2) / aspect), _MAX_FITTED_FOV)


def eyes_view(model: mujoco.MjModel, data: mujoco.MjData, camera: str) -> Viewpoint:
    """The view of a camera of the model; it looks along its own -z (MuJoCo's convention)."""
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, camera)
    if number < 0:
        raise UnknownNameError("camera", camera, camera_names(model))
    axes = np.array(data.cam_xmat[number]).reshape(3, 3)
    place = np.array(data.cam_xpos[number])
    fov = math.radians(float(model.cam_fovy[number]))
    return Viewpoint(position=place, look_at=place - axes[:, 2], up=axes[:, 1], fov=fov)


def robot_cameras(model: mujoco.MjModel, robot: str) -> list[str]:
    """The cameras a robot carries."""
    return [name for name in camera_names(model) if name.startswith(f"{robot}/")]


def thing_position(model: mujoco.MjModel, data: mujoco.MjData, thing: str) -> Floats | None:
    """The position (3,) of the root body of a thing, or None when there is no such thing."""
    body = root_body(model, thing)
    return None if body < 0 else np.array(data.xpos[body])


def root_body(model: mujoco.MjModel, thing: str) -> int:
    """The number of the root body of a thing; -1 when there is no such thing."""
    joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, f"{thing}/root")
    return -1 if joint < 0 else int(model.jnt_bodyid[joint])


def thing_bounds(model: mujoco.MjModel, data: mujoco.MjData, thing: str) -> Bounds | None:
    """The box around all shapes of a thing; None when there is no such thing."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for geom in visible_geoms(model):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, int(model.geom_bodyid[geom])) or ""
        if name.startswith(f"{thing}/"):
            reach = float(model.geom_rbound[geom])
            low, high = np.minimum(low, data.geom_xpos[geom] - reach), np.maximum(high, data.geom_xpos[geom] + reach)
    return Bounds(low=low, high=high) if np.isfinite(low).all() else None


def _upright() -> Floats:
    return np.array([0.0, 0.0, 1.0])


# ---- cameras by name

FOLLOW_SMOOTHING = 0.12
"""Share of the distance to its target that a following camera moves per frame."""


class CameraOperator:
    """Moves one named camera, frame after frame.

    `broadcast` shows the whole pitch, `stand` turns after the ball as on television, `side` runs along the touchline,
    `follow:<thing>` and `eyes:<robot>` belong to one thing; every camera of the model has its own name. A camera that
    follows something moves only a part of the way in each frame, so that it does not shake.
    """

    def __init__(self, model: mujoco.MjModel, name: str, *, aspect: float = 16 / 9) -> None:
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

    def view(self, data: mujoco.MjData) -> Viewpoint:
        """The present view of the camera; `data` is the model's `mujoco.MjData`, with poses up to date."""
        if self._kind == "broadcast":
            return broadcast_view(self._pitch, self._aspect)
        if self._kind == "eyes":
            return eyes_view(self._model, data, self._camera)
        place = thing_position(self._model, data, self._robot or self._subject())
        assert place is not None
        self._goal = place if self._goal is None else self._goal + FOLLOW_SMOOTHING * (place - self._goal)
        if self._kind == "stand":
            return stand_view(self._pitch, self._goal)
        return follow_view(self._goal) if self._kind == "follow" else side_view(self._pitch, self._goal)

    def _subject(self) -> str:
        """The thing that the cameras beside the pitch follow: the ball, or else the first thing."""
        names = things(self._model)
        return "ball" if "ball" in names else names[0]


def known_cameras(model: mujoco.MjModel) -> list[str]:
    """The names of all cameras that this model has."""
    moving = things(model)
    names = ["broadcast", *(["stand", "side"] if moving else [])]
    names += [f"follow:{thing}" for thing in moving]
    names += [f"eyes:{thing}" for thing in moving if robot_cameras(model, thing)]
    return names + camera_names(model)


def things(model: mujoco.MjModel) -> list[str]:
    """Things with a free joint `<thing>/root`, in the order of the model."""
    joints = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or "" for j in range(model.njnt)]
    return [name.removesuffix("/root") for name in joints if name.endswith("/root")]
