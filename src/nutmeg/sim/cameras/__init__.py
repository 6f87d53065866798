"""Pictures of robots' cameras, drawn off screen, with imperfect lenses and image sensors.

`RobotCamera` takes pictures with the `renderer`; `effects` has what its lens and sensor do to them, step by step in
`lens` and `image_sensor`. `net.host.cameras` takes pictures in another process.
"""

from nutmeg.sim.cameras.effects import CameraEffects
from nutmeg.sim.cameras.renderer import Quality, SceneRenderer
from nutmeg.sim.cameras.robot_camera import RobotCamera, camera_names, camera_size, scene_cameras

__all__ = ["CameraEffects", "Quality", "RobotCamera", "SceneRenderer", "camera_names", "camera_size", "scene_cameras"]
