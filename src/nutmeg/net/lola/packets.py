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

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.net.lola.names import COMMANDS, JOINTS, SIZE
from nutmeg.net.packed import Value, pack, read_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats

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
