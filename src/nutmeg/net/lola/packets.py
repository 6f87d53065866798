"""LoLA's packets to the byte: what a robot sends every 12 ms, and what it is sent.

A sensor packet is one MessagePack map of 13 entries in exactly 896 bytes:

    1                map of 13
    12 + 55          RobotConfig: list of 4 texts: number of the body (20 letters), version (5), the same of the head
    14 + 16          Accelerometer: list of 3 floats of 32 bits
    7 + 11           Angles: 2 floats
    8 + 21           Battery: 4 floats
    8 + 128          Current: 25 floats, in a list whose head takes three bytes
    4 + 41           FSR: 8 floats
    10 + 16          Gyroscope: 3 floats
    9 + 128          Position: 25 floats
    6 + 11           Sonar: 2 floats
    10 + 128         Stiffness: 25 floats
    12 + 128         Temperature: 25 floats
    6 + 71           Touch: 14 floats
    7 + 28           Status: 25 whole numbers of one byte
    = 896

(the first number is that of the key's bytes). The order is that of a packet of a real robot printed in the sources of
Berlin United; clients do not rely on it. Sizes follow from MessagePack alone: with floats of 32 bits, numbers of 20 and
versions of 5 letters, nothing else gives 896.

    packet = SensorPacket(body="P0000073A00S00000001", head="P0000074A00S00000001")
    packet["Position"] = angles                 # (25,)
    packet.bytes()                              # 896 of them

An actuator packet is a map of any of the keys of `COMMANDS` in any order; `read_commands` takes what makes sense and
says what does not. `PacketReader` cuts a stream of bytes, which may be anything, into such messages.

The order of joints, buttons and lights is that of the interface's description in the documentation of the Nao V6 for
RoboCup teams, checked against published clients (rUNSWift 2022, nao_lola, nidhogg). The pairs of hip joints share a
motor, which has the left one's name; hands open and close from 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import msgpack
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats

PERIOD = 0.012
"""The period of a control cycle [s]."""
PACKET_SIZE = 896
"""Bytes of a sensor packet."""
JOINTS = (
    *("HeadYaw", "HeadPitch"),
    *("LShoulderPitch", "LShoulderRoll", "LElbowYaw", "LElbowRoll", "LWristYaw"),
    *("LHipYawPitch", "LHipRoll", "LHipPitch", "LKneePitch", "LAnklePitch", "LAnkleRoll"),
    *("RHipRoll", "RHipPitch", "RKneePitch", "RAnklePitch", "RAnkleRoll"),
    *("RShoulderPitch", "RShoulderRoll", "RElbowYaw", "RElbowRoll", "RWristYaw"),
    *("LHand", "RHand"),
)
HANDS = ("LHand", "RHand")
"""Joints of the packets that the simulated robot does not have."""
FORCES = ("LFsrFL", "LFsrFR", "LFsrRL", "LFsrRR", "RFsrFL", "RFsrFR", "RFsrRL", "RFsrRR")
"""Foot force sensors, by their names in the robot's file."""
TOUCHES = (
    *("ChestButton", "HeadTouchFront", "HeadTouchMiddle", "HeadTouchRear"),
    *("LBumperL", "LBumperR", "LHandTouchBack", "LHandTouchLeft", "LHandTouchRight"),
    *("RBumperL", "RBumperR", "RHandTouchBack", "RHandTouchLeft", "RHandTouchRight"),
)
"""Buttons and touch sensors, by their names in the robot's file."""
SONARS = ("SonarLeft", "SonarRight")
CAMERAS = ("CameraTop", "CameraBottom")
LIGHTS = {"Chest": 3, "LEar": 10, "LEye": 24, "LFoot": 3, "REar": 10, "REye": 24, "RFoot": 3, "Skull": 12}
"""Numbers of each group of lights. Chest and feet are red, green, blue; an eye is eight reds, eight greens, eight
blues; ears (blue) and skull (white) have one brightness for each light."""
COMMANDS = {"Position": len(JOINTS), "Stiffness": len(JOINTS), "Sonar": 2, **LIGHTS}
"""Keys of an actuator packet, and how many numbers belong to each."""

Value: TypeAlias = "bool | int | float | bytes | list[Value] | dict[Value, Value] | None"
"""Values of a message; texts are read as bytes, so that no encoding can be wrong."""
MAX_MESSAGE = 8192
"""The longest message [bytes]; a full set of actuators with floats of 64 bits has 1374."""
MAX_ENTRIES = 64
"""Most entries of a list or a map."""
MAX_TEXT = 256
"""Longest text [bytes]."""


def pack(value: object) -> bytes:
    """A value as MessagePack, with floats of 32 bits as on the robot."""
    packed: bytes = msgpack.packb(value, use_single_float=True)
    return packed


class PacketReader:
    """Cuts a stream of bytes into messages; bytes that are no MessagePack, or too much of it, are a problem.

    Lists and maps that are too long are refused as soon as their head is seen, before anything is set aside for them.
    """

    def __init__(self) -> None:
        self.problem: str | None = None
        """Why nothing more can be read from this stream, once that is so."""
        self._unpacker: Any = msgpack.Unpacker(
            raw=True,
            strict_map_key=False,
            max_buffer_size=MAX_MESSAGE,
            max_array_len=MAX_ENTRIES,
            max_map_len=MAX_ENTRIES,
            max_str_len=MAX_TEXT,
            max_bin_len=MAX_TEXT,
            max_ext_len=0,
        )

    def feed(self, data: bytes) -> list[Value]:
        """Returns the messages that are complete once `data` has arrived; after a problem, none."""
        messages: list[Value] = []
        if self.problem is None:
            try:
                self._unpacker.feed(data)
                messages.extend(self._unpacker)
            except msgpack.BufferFull:
                self.problem = f"sent a packet of more than {MAX_MESSAGE} bytes"
            except (msgpack.UnpackException, ValueError, TypeError) as error:  # TypeError: a list as the key of a map
                self.problem = f"sent what is no packet: {str(error) or type(error).__name__}"
        return messages


SERIAL_LENGTH, VERSION_LENGTH = 20, 5
"""Letters of a serial number and of a version."""
FLOATS = {
    "Accelerometer": 3,
    "Angles": 2,
    "Battery": 4,
    "Current": len(JOINTS),
    "FSR": 8,
    "Gyroscope": 3,
    "Position": len(JOINTS),
    "Sonar": 2,
    "Stiffness": len(JOINTS),
    "Temperature": len(JOINTS),
    "Touch": 14,
}
"""Entries of floats in a sensor packet, in their order."""
HIGHEST_STATUS = 127
"""A status takes one byte."""
_FLOAT = np.dtype([("kind", "u1"), ("value", ">f4")])


class SensorPacket:
    """A sensor packet that is filled in anew every cycle.

    Args:
        body: number of the body, 20 letters.
        head: number of the head, 20 letters.
        version: of both, 5 letters.
    """

    def __init__(self, *, body: str, head: str, version: str = "6.0.0") -> None:
        for text, length in ((body, SERIAL_LENGTH), (head, SERIAL_LENGTH), (version, VERSION_LENGTH)):
            if len(text.encode()) != length:
                raise ValueError(f"{text!r} has {len(text.encode())} bytes; a packet of {PACKET_SIZE} needs {length}.")
        out = bytearray(bytes([0x80 | (2 + len(FLOATS))]) + pack("RobotConfig") + pack([body, version, head, version]))
        places = {}
        for name, count in FLOATS.items():
            entry = pack([0.0] * count)
            out += pack(name) + entry
            places[name] = len(out) - 5 * count
        out += pack("Status") + pack([0] * len(JOINTS))
        if len(out) != PACKET_SIZE:
            raise AssertionError(f"a packet has {len(out)} bytes instead of {PACKET_SIZE}")
        self._bytes = out
        self._views = {
            name: np.frombuffer(out, dtype=_FLOAT, count=FLOATS[name], offset=place)["value"]
            for name, place in places.items()
        }
        self._status = np.frombuffer(out, dtype=np.uint8, count=len(JOINTS), offset=PACKET_SIZE - len(JOINTS))

    def __setitem__(self, name: str, values: ArrayLike) -> None:
        """Fills in the numbers of an entry."""
        if name == "Status":
            self._status[:] = np.clip(values, 0, HIGHEST_STATUS)
        else:
            self._views[name][:] = values

    def bytes(self) -> bytes:
        """The packet as it is sent."""
        return bytes(self._bytes)


def read_sensors(data: bytes) -> dict[str, list[float] | list[str]]:
    """A sensor packet as a client reads it, by name."""
    found: dict[str, list[float] | list[str]] = msgpack.unpackb(data)
    return found


@dataclass(frozen=True, kw_only=True)
class Commands:
    """The content of an actuator packet."""

    numbers: dict[str, Floats] = field(default_factory=dict)
    """Numbers by key, all of the right length; some may be NaN."""
    problems: tuple[str, ...] = ()
    """What was ignored, and why."""


def read_commands(message: Value) -> Commands:
    """The commands in a message; invalid ones are left out and reported in `problems`."""
    if not isinstance(message, dict):
        return Commands(problems=(f"a packet must be a map, this is a {type(message).__name__}",))
    numbers: dict[str, Floats] = {}
    problems = []
    for key, values in message.items():
        name = key.decode("ascii", "replace") if isinstance(key, bytes) else str(key)
        if name not in COMMANDS:
            problems.append(f"unknown key {name[:20]!r}; known are {', '.join(COMMANDS)}")
        elif (
            not isinstance(values, list)
            or len(values) != COMMANDS[name]
            or not all(isinstance(value, int | float) for value in values)
        ):
            problems.append(f"{name} must be a list of {COMMANDS[name]} numbers")
        else:
            numbers[name] = np.array(values, dtype=np.float64)
    return Commands(numbers=numbers, problems=tuple(problems))
