"""Robots, fields, balls and objects as data, assembled into one compiled scene."""

from nutmeg.model.parameters import Adjustment
from nutmeg.model.robot import load_robot, robot_names
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble

__all__ = ["Adjustment", "Placement", "Scene", "SceneSettings", "assemble", "load_robot", "robot_names"]
