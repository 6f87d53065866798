"""A robot's camera: pictures of a scene through a pinhole, or through its lens and image sensor.

    scene = assemble(SceneSettings(field="spl2025", robots=(Placement(robot="nao-v6", name="red1"),)))
    with RobotCamera(scene.model, "red1/CameraTop") as camera:
        picture = camera.look(scene.start)                           # (480, 640, 3) uint8, a pinhole's

Place, field of view and size are the robot's data (`[[sensor]]` of type camera in its `robot.toml`); `size=` draws
smaller or larger. Cameras of one scene share a renderer:

    with SceneRenderer(scene.model, (640, 480)) as renderer:
        top = RobotCamera(scene.model, "red1/CameraTop", renderer=renderer)
        bottom = RobotCamera(scene.model, "red1/CameraBottom", renderer=renderer)

With `settings`, pictures are as the camera's lens and sensor make them (`effects` says which effects); velocities are
for rolling shutter and motion blur:

    settings = scene_cameras(scene)["red1/CameraTop"]
    camera = RobotCamera(scene.model, "red1/CameraTop", settings=settings, effects="lens,noise", rng=rng)
    picture = camera.look(qpos, qvel)

Scenes are drawn as their lights and colours are: build them with visuals (the default). Poses are generalised
positions (nq,) of the same scene; a scene built without visuals has the same ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.base.interrupts import Closing
from nutmeg.model.parameters import adjusted_cameras
from nutmeg.model.robot import load_robot
from nutmeg.model.sensors import CAMERA_EFFECTS, CameraSettings
from nutmeg.model.tables import camera_names
from nutmeg.sim.cameras.effects import CameraEffects, moment_times
from nutmeg.sim.cameras.image_sensor import initial_exposure, mean_signal, next_exposure
from nutmeg.sim.cameras.renderer import SceneRenderer, checked_size

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.model.scene import Scene


def _camera_number(model: mujoco.MjModel, name: str) -> int:
    """Id of the camera of a name in a model."""
    number = int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, name))
    if number < 0:
        raise UnknownNameError("camera", name, camera_names(model))
    return number


def camera_size(model: mujoco.MjModel, name: str) -> tuple[int, int]:
    """Width and height of a camera's pictures, pixels; one that does not say is an error."""
    width, height = (int(length) for length in model.cam_resolution[_camera_number(model, name)])
    if width <= 1 or height <= 1:  # MuJoCo's own default is one pixel
        raise UsageError(f"the camera {name!r} does not say how large its pictures are. Give a size (width, height).")
    return width, height


def scene_cameras(scene: Scene) -> dict[str, CameraSettings]:
    """Lens and sensor of every camera of every robot in a scene, by `<robot>/<camera>`, adjusted as the robot is."""
    return {
        f"{placement.name}/{name}": settings
        for placement in scene.placements
        for name, settings in adjusted_cameras(load_robot(placement.robot), placement.adjustments).items()
    }


class RobotCamera(Closing):
    """One camera of a scene.

    Args:
        model: the compiled scene.
        name: `<robot>/<camera>`, as in `camera_names`.
        size: width and height, pixels; None for the camera's own.
        renderer: a renderer of the same scene to share; without one, the camera has its own until closed.
        settings: lens and sensor; without them the camera is a pinhole.
        effects: names of the effects to apply, or text such as `lens,noise` or `all`.
        rng: random generator of the noise; needed if there is noise.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        name: str,
        *,
        size: tuple[int, int] | None = None,
        renderer: SceneRenderer | None = None,
        settings: CameraSettings | None = None,
        effects: str | tuple[str, ...] = CAMERA_EFFECTS,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.name = name
        self.number = _camera_number(model, name)
        self.size = checked_size(size or camera_size(model, name))
        self.fov = math.radians(float(model.cam_fovy[self.number]))
        """Vertical field of view [rad]."""
        wanted = effects if settings is not None else ()
        self.effects = CameraEffects(settings or CameraSettings(), size=self.size, fov=self.fov, effects=wanted)
        if "noise" in self.effects.effects and rng is None:
            raise UsageError("noise needs a random generator: RobotCamera(..., rng=numpy.random.default_rng(seed)).")
        self.exposure = initial_exposure(self.effects.settings, 1) if self.effects.automatic else None
        """Exposure of the next picture with automatic exposure; None for that of the settings."""
        self._rng = rng or np.random.default_rng(0)  # not used without noise
        self._own = renderer is None
        self._renderer = renderer or SceneRenderer(model, self.effects.drawn_size)

    def look(self, qpos: Floats, qvel: Floats | None = None, moments: int = 1) -> Bytes:
        """The picture (height, width, 3) at generalised positions (nq,), rows from the top.

        Velocities (nv,) are for shutter and blur; without them everything is at rest. For these effects `moments`
        pictures are drawn; a single one is drawn once and its rays are turned (see `effects`).
        """
        if qvel is not None and moments > 1 and (self.effects.readout or self.effects.blur):
            return self._look_several_times(qpos, qvel, moments)
        drawn = self.draw(qpos)
        velocity = None if qvel is None else self._renderer.angular_velocity(self.number, qvel)
        return self.develop(drawn, velocity)

    def develop(self, drawn: Bytes, angular_velocity: Floats | None = None) -> Bytes:
        """The picture (height, width, 3) from a drawn one, as `draw` makes it; see `CameraEffects.apply`."""
        velocity = None if angular_velocity is None else angular_velocity[None]
        return self._adapted(self.effects.apply(drawn[None], self._rng, velocity, self.exposure))

    def _adapted(self, pictures: Bytes) -> Bytes:
        """The single picture of a batch; sets the automatic exposure of the next one from it."""
        if self.exposure is not None:
            self.exposure = next_exposure(
                self.exposure, mean_signal(pictures, self.effects.gamma), self.effects.settings
            )
        picture: Bytes = pictures[0]
        return picture

    def _look_several_times(self, qpos: Floats, qvel: Floats, moments: int) -> Bytes:
        """The picture from several moments around the present one, with all velocities taken as constant."""
        (blur,) = self.effects.blurs(1, self.exposure)
        times = moment_times(moments, readout=self.effects.readout, exposure=blur)
        drawn = []
        for after in times:
            moved = np.array(qpos, dtype=np.float64)
            mujoco.mj_integratePos(self._renderer.model, moved, qvel, after)
            drawn.append(self.draw(moved))
        return self._adapted(self.effects.apply_moments(np.stack(drawn)[None], times, self._rng, self.exposure))

    def draw(self, qpos: Floats) -> Bytes:
        """The pinhole's picture that effects begin with, (*drawn, 3): it may be larger than the camera's."""
        self._renderer.pose(qpos)
        return self._renderer.draw(self.number, self.effects.drawn_size, self.effects.drawn_fov)

    def close(self) -> None:
        """Closes the renderer, if it belongs to the camera."""
        if self._own:
            self._renderer.close()
