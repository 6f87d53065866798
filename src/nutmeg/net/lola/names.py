"""The order of everything in LoLA's packets.

From the interface's description in the documentation of the Nao V6 for RoboCup teams, checked against published clients
(rUNSWift 2022, nao_lola, nidhogg): `JOINTS` is the order of Position, Stiffness, Current, Temperature and Status. The
pairs of hip joints share a motor, which has the left one's name; hands open and close from 0 to 1.

    JOINTS.index("LKneePitch")                  # 10
    TOUCHES.index("ChestButton")                # 0
"""

from __future__ import annotations

PERIOD = 0.012
"""Of a control cycle [s]."""
SIZE = 896
"""Bytes of a sensor packet."""
JOINTS = (
    "HeadYaw",
    "HeadPitch",
    "LShoulderPitch",
    "LShoulderRoll",
    "LElbowYaw",
    "LElbowRoll",
    "LWristYaw",
    "LHipYawPitch",
    "LHipRoll",
    "LHipPitch",
    "LKneePitch",
    "LAnklePitch",
    "LAnkleRoll",
    "RHipRoll",
    "RHipPitch",
    "RKneePitch",
    "RAnklePitch",
    "RAnkleRoll",
    "RShoulderPitch",
    "RShoulderRoll",
    "RElbowYaw",
    "RElbowRoll",
    "RWristYaw",
    "LHand",
    "RHand",
)
HANDS = ("LHand", "RHand")
"""Joints of the packets that the simulated robot does not have."""
FORCES = ("LFsrFL", "LFsrFR", "LFsrRL", "LFsrRR", "RFsrFL", "RFsrFR", "RFsrRL", "RFsrRR")
"""Foot force sensors, by their names in the robot's file."""
TOUCHES = (
    "ChestButton",
    "HeadTouchFront",
    "HeadTouchMiddle",
    "HeadTouchRear",
    "LBumperL",
    "LBumperR",
    "LHandTouchBack",
    "LHandTouchLeft",
    "LHandTouchRight",
    "RBumperL",
    "RBumperR",
    "RHandTouchBack",
    "RHandTouchLeft",
    "RHandTouchRight",
)
"""Buttons and touch sensors, by their names in the robot's file."""
SONARS = ("SonarLeft", "SonarRight")
CAMERAS = ("CameraTop", "CameraBottom")
LIGHTS = {
    "Chest": 3,
    "LEar": 10,
    "LEye": 24,
    "LFoot": 3,
    "REar": 10,
    "REye": 24,
    "RFoot": 3,
    "Skull": 12,
}
"""Numbers of each group of lights. Chest and feet are red, green, blue; an eye is eight reds, eight greens, eight
blues; ears (blue) and skull (white) have one brightness for each light."""
COMMANDS = {"Position": len(JOINTS), "Stiffness": len(JOINTS), "Sonar": 2, **LIGHTS}
"""Keys of an actuator packet, and how many numbers belong to each."""
