"""Pictures of robots' cameras, drawn off screen, with imperfect lenses and image sensors.

`RobotCamera` takes pictures with the `renderer`; `effects` applies its lens and sensor to them, step by step in
`lens` and `image_sensor`. `net.host.cameras` takes pictures in another process.
"""

from nutmeg.model.tables import camera_names
from nutmeg.sim.cameras.effects import CameraEffects
from nutmeg.sim.cameras.renderer import Quality, SceneRenderer
from nutmeg.sim.cameras.robot_camera import RobotCamera, camera_size, scene_cameras

__all__ = ["CameraEffects", "Quality", "RobotCamera", "SceneRenderer", "camera_names", "camera_size", "scene_cameras"]
