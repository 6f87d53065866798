"""LoLA's packets to the byte: what a robot tells every 12 ms, and what it is told.

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

An actuator packet is a map of any of the keys of `names.COMMANDS` in any order; `read_commands` takes what makes sense
and says what does not.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats


# ----------------------------------------------------------------------------------------------------
# The order of everything in LoLA's packets.
#
# From the interface's description in the documentation of the Nao V6 for RoboCup teams, checked against published
# clients (rUNSWift 2022, nao_lola, nidhogg): `JOINTS` is the order of Position, Stiffness, Current, Temperature and
# Status. The pairs of hip joints share a motor, which has the left one's name; hands open and close from 0 to 1.


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


# ----------------------------------------------------------------------------------------------------
# MessagePack, the part of it that robots speak: maps, lists, texts, numbers; read from bytes that may be anything.
#
# Format: https://github.com/msgpack/msgpack/blob/master/spec.md. Texts are read as `bytes`, so that no text can be
# wrong. What is read is bounded: a list or map of more than 64 entries, a text of more than 256 bytes, or a nesting
# of more than four is refused as soon as its head is seen, before anything is set aside for it.


Value: TypeAlias = "bool | int | float | bytes | list[Value] | dict[Value, Value] | None"

ENTRIES = 64
"""Most entries of a list or a map."""
TEXT = 256
"""Longest text [bytes]."""
DEPTH = 4
"""Deepest nesting."""

_FLAT: dict[int, tuple[int, Callable[[bytes], Value]]] = {
    0xC0: (0, lambda _: None),
    0xC2: (0, lambda _: False),
    0xC3: (0, lambda _: True),
    0xCA: (4, lambda b: struct.unpack(">f", b)[0]),
    0xCB: (8, lambda b: struct.unpack(">d", b)[0]),
    **{0xCC + k: (2**k, lambda b: int.from_bytes(b, "big")) for k in range(4)},
    **{0xD0 + k: (2**k, lambda b: int.from_bytes(b, "big", signed=True)) for k in range(4)},
}
"""What follows each of these bytes, and how it is read."""
_TEXTS = {0xD9: 1, 0xDA: 2, 0xDB: 4, 0xC4: 1, 0xC5: 2, 0xC6: 4}
_LISTS = {0xDC: 2, 0xDD: 4}
_MAPS = {0xDE: 2, 0xDF: 4}
_FLOATS = {0xCA: "xf", 0xCB: "xd"}


class PackedError(ValueError):
    """Bytes that are no message that may be sent here."""


class _MoreNeededError(Exception):
    """The message goes on beyond what there is."""


def read_message(data: bytes, start: int = 0) -> tuple[Value, int] | None:
    """The message at `start` and where the next one begins; None while it is not whole."""
    try:
        return _value(data, start, DEPTH)
    except _MoreNeededError:
        return None


def _value(data: bytes, at: int, depth: int) -> tuple[Value, int]:
    head, at = _take(data, at, 1)
    kind = head[0]
    if kind < 0x80:
        return kind, at
    if kind >= 0xE0:
        return kind - 0x100, at
    if kind in _FLAT:
        size, read = _FLAT[kind]
        body, at = _take(data, at, size)
        return read(body), at
    if kind < 0x90:
        return _map(data, at, kind & 0x0F, depth)
    if kind < 0xA0:
        return _list(data, at, kind & 0x0F, depth)
    if kind < 0xC0:
        return _take(data, at, kind & 0x1F)
    return _long(data, at, kind, depth)


def _long(data: bytes, at: int, kind: int, depth: int) -> tuple[Value, int]:
    """What says its size in one, two or four bytes."""
    for kinds in (_TEXTS, _LISTS, _MAPS):
        if kind in kinds:
            number, at = _take(data, at, kinds[kind])
            size = int.from_bytes(number, "big")
            if kinds is _TEXTS:
                return _take(data, at, _fine(size, TEXT, "bytes of text"))
            return (_list if kinds is _LISTS else _map)(data, at, size, depth)
    raise PackedError(f"the byte 0x{kind:02x} begins nothing that may be sent here")


def _list(data: bytes, at: int, count: int, depth: int) -> tuple[list[Value], int]:
    _fine(count, ENTRIES, "entries")
    _fine(1, depth, "lists in lists")
    if count and at < len(data) and data[at] in _FLOATS:
        quick = _floats(data, at, count)
        if quick is not None:
            return quick
    out: list[Value] = []
    for _ in range(count):
        value, at = _value(data, at, depth - 1)
        out.append(value)
    return out, at


def _floats(data: bytes, at: int, count: int) -> tuple[list[Value], int] | None:
    """A list of nothing but floats of one size, which nearly all are; None if it is another."""
    layout = _FLOATS[data[at]]
    stride = struct.calcsize(f">{layout}")
    end = at + stride * count
    if end > len(data) or data[at:end:stride] != data[at : at + 1] * count:
        return None
    return list(struct.unpack_from(f">{layout * count}", data, at)), end


def _map(data: bytes, at: int, count: int, depth: int) -> tuple[dict[Value, Value], int]:
    _fine(count, ENTRIES, "entries")
    _fine(1, depth, "maps in maps")
    out: dict[Value, Value] = {}
    for _ in range(count):
        key, at = _value(data, at, depth - 1)
        if isinstance(key, list | dict):
            raise PackedError("a list or a map cannot be a key")
        out[key], at = _value(data, at, depth - 1)
    return out, at


def _take(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    if at + size > len(data):
        raise _MoreNeededError
    return data[at : at + size], at + size


def _fine(count: int, most: int, what: str) -> int:
    if count > most:
        raise PackedError(f"{count} {what}; allowed are {most}")
    return count


def pack(value: object) -> bytes:
    """A value as bytes: floats as 32 bits, whole numbers as short as can be."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return _packed_int(value)
        case float():
            return struct.pack(">Bf", 0xCA, value)
        case str() | bytes():
            text = value.encode() if isinstance(value, str) else value
            return _head(len(text), 0xA0, 32, (0xD9, 0xDA, 0xDB)) + text
        case Mapping():
            parts = b"".join(pack(key) + pack(entry) for key, entry in value.items())
            return _head(len(value), 0x80, 16, (None, 0xDE, 0xDF)) + parts
        case Sequence():
            return _head(len(value), 0x90, 16, (None, 0xDC, 0xDD)) + b"".join(pack(entry) for entry in value)
    raise TypeError(f"{type(value).__name__} cannot be packed")


def _head(size: int, short: int, limit: int, long: tuple[int | None, int, int]) -> bytes:
    if size < limit:
        return bytes([short | size])
    width = next(w for w, kind in enumerate(long) if kind is not None and size < 2 ** (8 * 2**w))
    return bytes([long[width] or 0]) + size.to_bytes(2**width, "big")


def _packed_int(value: int) -> bytes:
    if -32 <= value < 128:
        return struct.pack(">b" if value < 0 else ">B", value)
    first, signed = (0xCC, False) if value >= 0 else (0xD0, True)
    for width in range(4):
        bits = 8 * 2**width - signed
        if -(2**bits) * signed <= value < 2**bits:
            return bytes([first + width]) + value.to_bytes(2**width, "big", signed=signed)
    raise OverflowError(f"{value} takes more than 64 bits")


NUMBER, VERSION = 20, 5
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
        for text, length in ((body, NUMBER), (head, NUMBER), (version, VERSION)):
            if len(text.encode()) != length:
                raise ValueError(f"{text!r} has {len(text.encode())} bytes; a packet of {SIZE} needs {length}.")
        out = bytearray(bytes([0x80 | (2 + len(FLOATS))]) + pack("RobotConfig") + pack([body, version, head, version]))
        places = {}
        for name, count in FLOATS.items():
            entry = pack([0.0] * count)
            out += pack(name) + entry
            places[name] = len(out) - 5 * count
        out += pack("Status") + pack([0] * len(JOINTS))
        if len(out) != SIZE:
            raise AssertionError(f"a packet has {len(out)} bytes instead of {SIZE}")
        self._bytes = out
        self._views = {
            name: np.frombuffer(out, dtype=_FLOAT, count=FLOATS[name], offset=place)["value"]
            for name, place in places.items()
        }
        self._status = np.frombuffer(out, dtype=np.uint8, count=len(JOINTS), offset=SIZE - len(JOINTS))

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
    found = read_message(data)
    if found is None or not isinstance(found[0], dict):
        raise ValueError("this is no sensor packet")
    out: dict[str, list[float] | list[str]] = {}
    for key, values in found[0].items():
        if isinstance(key, bytes) and isinstance(values, list):
            texts = [value.decode("ascii", "replace") for value in values if isinstance(value, bytes)]
            out[key.decode("ascii", "replace")] = texts or [float(v) for v in values if isinstance(v, int | float)]
    return out


@dataclass(frozen=True, kw_only=True)
class Commands:
    """What an actuator packet says."""

    numbers: dict[str, Floats] = field(default_factory=dict)
    """By key, all of the right length; some may be no numbers (NaN)."""
    problems: tuple[str, ...] = ()
    """What could not be taken, and why."""


def read_commands(message: Value) -> Commands:
    """The commands in a message; whatever does not make sense is left out and told."""
    if not isinstance(message, dict):
        return Commands(problems=(f"a packet must be a map, this is a {type(message).__name__}",))
    numbers: dict[str, Floats] = {}
    problems = []
    for key, values in message.items():
        name = key.decode("ascii", "replace") if isinstance(key, bytes) else str(key)
        if name not in COMMANDS:
            problems.append(f"unknown key {name[:20]!r}; known are {', '.join(COMMANDS)}")
        elif not isinstance(values, list) or len(values) != COMMANDS[name] or not _all_numbers(values):
            problems.append(f"{name} must be a list of {COMMANDS[name]} numbers")
        else:
            numbers[name] = np.array(values, dtype=np.float64)
    return Commands(numbers=numbers, problems=tuple(problems))


def _all_numbers(values: Sequence[Value]) -> bool:
    return all(isinstance(value, int | float) for value in values)
