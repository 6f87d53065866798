"""A LoLA client for users' programs: sensors as arrays, actuators by name.

    with LolaClient.connect("/tmp/robocup") as nao:
        for senses in nao.cycles(500):                  # six seconds
            nao.move({"HeadYaw": 0.3}, stiffness=0.5)   # sent when the next packet is waited for
            nao.light("Chest", (0, 1, 0))

It works with a real Nao V6 as well: nothing here knows that the robot is simulated. A joint that was never moved
stays where it was when the client connected, at the stiffness that it was given.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import EnvironmentProblem, UnknownNameError
from nutmeg.base.interrupts import Closing
from nutmeg.net.lola.packets import JOINTS, LIGHTS, PACKET_SIZE, pack, read_sensors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats


PACKET_TIMEOUT = 60.0
"""How long to wait for a packet [s]."""


@dataclass(frozen=True, kw_only=True)
class Senses:
    """One sensor packet."""

    position: Floats
    """Joint angles in LoLA's order, (25,) [rad]."""
    stiffness: Floats
    current: Floats
    """Currents of the motors, (25,) [A]."""
    temperature: Floats
    """(25,) [degrees Celsius]."""
    accelerometer: Floats
    """Gravity's sign: (0, 0, -9.81) when standing, (3,) [m/s²]."""
    gyroscope: Floats
    """Angular velocity of the torso, (3,) [rad/s]."""
    angles: Floats
    """Roll and pitch, (2,) [rad]."""
    forces: Floats
    """Under the feet, (8,) [kg]."""
    sonar: Floats
    """Left and right, (2,) [m]."""
    touch: Floats
    """Buttons in LoLA's order, (14,)."""
    battery: Floats
    """Charge 0..1, status, current [A], temperature, (4,)."""
    config: tuple[str, ...]
    """Number and version of the body and of the head."""


_ENTRIES = {"forces": "FSR"}  # entries of a sensor packet that are called otherwise than the fields of `Senses`


class LolaClient(Closing):
    """A connection to a robot; close it, or use it in a `with`."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._targets: dict[str, Floats] = {}
        self._changed: set[str] = set()
        self.packets = 0
        """Sensor packets received."""

    @classmethod
    def connect(cls, path: str | Path) -> LolaClient:
        """Connects to a robot's socket."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(PACKET_TIMEOUT)
        try:
            sock.connect(str(path))
        except OSError as error:
            sock.close()
            raise EnvironmentProblem(
                f"there is no robot at {path}: {error.strerror or error}. Start one: nutmeg serve lola --socket {path}"
            ) from None
        return cls(sock)

    def sense(self) -> Senses:
        """The next packet, once the robot sends it."""
        data = b""
        while len(data) < PACKET_SIZE:
            piece = self._socket.recv(PACKET_SIZE - len(data))
            if not piece:
                raise EnvironmentProblem("the robot has ended the connection.")
            data += piece
        self.packets += 1
        found = read_sensors(data)
        names = [field.name for field in fields(Senses) if field.name != "config"]
        numbers = {name: np.array(found[_ENTRIES.get(name, name.capitalize())], dtype=np.float64) for name in names}
        senses = Senses(config=tuple(str(text) for text in found["RobotConfig"]), **numbers)
        if "Position" not in self._targets:
            self._targets["Position"] = senses.position.copy()
            # Stiffness is sent for all joints. A robot that reports none has not been told any, and holds its pose.
            self._targets["Stiffness"] = senses.stiffness.copy() if senses.stiffness.any() else np.ones(len(JOINTS))
        return senses

    def move(self, angles: Mapping[str, float], *, stiffness: float | None = None) -> None:
        """Sets targets of joints by name [rad], and the stiffness of these joints, with the next `send`.

        The others keep their stiffness; where none was reported, they are held at full stiffness where they are.
        """
        for name, angle in angles.items():
            place = _place(name)
            self._targets["Position"][place] = angle
            if stiffness is not None:
                self._targets["Stiffness"][place] = stiffness
        self._changed |= {"Position", "Stiffness"} if stiffness is not None else {"Position"}

    def light(self, name: str, values: Sequence[float]) -> None:
        """Sets lights, as many numbers as `packets.LIGHTS` says, with the next `send`."""
        if name not in LIGHTS:
            raise UnknownNameError("light", name, LIGHTS)
        self._targets[name] = np.array(values, dtype=np.float64)
        self._changed.add(name)

    def send(self) -> None:
        """Sends what has been set since the last time; an empty packet answers, too."""
        packet = {name: [float(v) for v in self._targets[name]] for name in sorted(self._changed)}
        self._socket.sendall(pack(packet))
        self._changed.clear()

    def cycles(self, count: int) -> Iterator[Senses]:
        """Iterates over cycles; commands that are set during one are sent at its end."""
        for _ in range(count):
            yield self.sense()
            self.send()

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()


def _place(joint: str) -> int:
    if joint not in JOINTS:
        raise UnknownNameError("joint of LoLA", joint, JOINTS)
    return JOINTS.index(joint)
