"""What robots see: their cameras drawn off screen, with lenses and sensors that are not perfect.

`RobotCamera` takes pictures (`effects` has what its lens and sensor do to them, step by step in `lens`, `shutter`,
`response`, `auto_exposure` and `colour_filter`); `net.host.camera_process.CameraProcess` takes them in a process of its own.
"""

from nutmeg.sim.cameras.effects import CameraEffects
from nutmeg.sim.cameras.renderer import Quality, SceneRenderer
from nutmeg.sim.cameras.robot_camera import RobotCamera, camera_names, camera_size, scene_cameras

__all__ = ["CameraEffects", "Quality", "RobotCamera", "SceneRenderer", "camera_names", "camera_size", "scene_cameras"]
