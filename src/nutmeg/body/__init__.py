"""What is simulated: robots, fields, balls and objects as data, assembled into one compiled scene."""

from nutmeg.body.adjustment import Adjustment
from nutmeg.body.catalogue import load_robot, robot_names
from nutmeg.body.scene import Placement, Scene, SceneSettings, assemble

__all__ = ["Adjustment", "Placement", "Scene", "SceneSettings", "assemble", "load_robot", "robot_names"]
