"""A small OPEN-R runtime for programs in Python: observe sensors and pictures, send commands.

    with OpenrClient() as robot:                            # the first robot of `nutmeg serve openr`
        robot.power(on=True)
        robot.set_gains()                                   # the maker's standard gains for all joints
        robot.move({"LFr:rotor": 0.5, "NECK:pan": -0.3}, seconds=0.5)
        for sensors in robot.sensors():
            print(sensors.time, sensors["LFr:rotor"], sensors["PRM:/a3-Sensor:a3"])

Joints and sensors are named by locators, or by the names of Nutmeg's robots. Values are SI units: rad, m/s², m;
switches 0 or 1. Everything runs in the caller's thread: packets are read while an iterator waits, while `move` and
`wait_for` do, or in `spin`, which calls observers as OPEN-R does:

        robot.observe_sensors(lambda sensors: ...)
        robot.observe_pictures(lambda picture: ...)
        robot.spin(seconds=10)

Sensor vectors and pictures that are not taken are dropped, the oldest first, and counted in `missed`. With a server in
lock-step, a client that waits for the next sensor vector has dealt with the last one: time goes on while it waits.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from nutmeg.base.errors import EnvironmentProblem, UnknownNameError
from nutmeg.base.interrupts import Closing
from nutmeg.net.openr import commands, packets
from nutmeg.net.openr.commands import CommandVector
from nutmeg.net.openr.configuration import FIRST_PORT, LOOPBACK
from nutmeg.net.openr.models import FRAME, Gains, Model, model_numbered
from nutmeg.net.openr.packets import Event, Packet, PacketReader, PacketType, Status

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes, Floats

Item = TypeVar("Item")
_MAX_WAITING = 64
"""Sensor vectors, pictures and status reports that wait to be taken."""
_UNITLESS = ("switch", "touch")


@dataclass(frozen=True, kw_only=True)
class Sensors:
    """A sensor vector: four frames of 8 ms."""

    time: float
    """Simulated time of the last frame [s]."""
    sequence: int
    frames: packets.SensorFrames
    """Everything as it came, in OPEN-R's units."""
    rows: Mapping[str, tuple[int, float]] = field(repr=False)
    """Where each name is, and what its value is multiplied by."""

    def __getitem__(self, name: str) -> float:
        """The newest value of a joint or sensor, by its name or locator."""
        return float(self.all(name)[-1])

    def all(self, name: str) -> Floats:
        """The values in all four frames, (4,)."""
        row, unit = self._find(name)
        return np.asarray(self.frames.values["value"][row] * unit)

    def raw(self, name: str) -> Any:  # noqa: ANN401 (a structured array)
        """value, signal, pwmDuty, refValue, refSignal of the four frames as they came, (4,)."""
        return self.frames.values[self._find(name)[0]]

    def _find(self, name: str) -> tuple[int, float]:
        if name not in self.rows:
            raise UnknownNameError("sensor", name, self.rows)
        return self.rows[name]


@dataclass(frozen=True, kw_only=True)
class CameraPicture:
    """A picture."""

    time: float
    """Simulated time at which it was taken [s]."""
    sequence: int
    planes: Bytes
    """Y, Cr, Cb, (3, height, width)."""

    @property
    def rgb(self) -> Bytes:
        """Red, green, blue, (height, width, 3)."""
        return packets.rgb(self.planes)


class OpenrClient(Closing):
    """The two connections to one robot.

    Args:
        sensors: address and port of its sensors.
        commands: address and port of its commands; the next port if None.
        timeout: how long to wait for the robot to answer, and for packets [s].
    """

    def __init__(
        self,
        sensors: tuple[str, int] = (LOOPBACK, FIRST_PORT),
        commands: tuple[str, int] | None = None,
        *,
        timeout: float = 60.0,
    ) -> None:
        self.timeout = timeout
        self.missed = 0
        """Sensor vectors and pictures that were not taken in time."""
        self.dropped = 0
        """Packets that the server dropped because this client was too slow."""
        self._sockets = [_connect(sensors, timeout)]
        self._readers = [PacketReader(), PacketReader()]
        self._vectors: deque[Sensors] = deque(maxlen=_MAX_WAITING)
        self._pictures: deque[CameraPicture] = deque(maxlen=_MAX_WAITING)
        self._statuses: deque[Status] = deque(maxlen=_MAX_WAITING)
        self._planes: dict[int, Bytes] = {}
        self._watchers: list[tuple[deque[Any], Callable[[Any], None]]] = []
        self._sent = 0
        self._last, self._now = -1, 0.0
        self._designs: list[tuple[int, packets.Design]] = []
        self._rows: dict[str, tuple[int, float]] = {}
        try:
            self._sockets.append(_connect(commands or (sensors[0], sensors[1] + 1), timeout))
            self._wait(lambda: len(self._designs) == 2)
        except BaseException:
            self.close()
            raise
        number, self.design = self._designs[0]
        self.model: Model = model_numbered(number)
        """Its primitives and their names."""
        self._joints = {p.of: k for k, p in self.model.joints.items()}

    def sensors(self) -> Iterator[Sensors]:
        """Sensor vectors as they come, for ever, beginning with the newest that has come already."""
        return self._taken(self._vectors)

    def pictures(self) -> Iterator[CameraPicture]:
        """Pictures as they come, for ever, beginning with the newest that has come already."""
        return self._taken(self._pictures)

    def observe_sensors(self, observer: Callable[[Sensors], None]) -> None:
        """Has `spin` call this with every sensor vector."""
        self._watchers.append((self._vectors, observer))

    def observe_pictures(self, observer: Callable[[CameraPicture], None]) -> None:
        """Has `spin` call this with every picture."""
        self._watchers.append((self._pictures, observer))

    def spin(self, seconds: float) -> None:
        """Calls observers for a simulated time [s]."""
        end = None if self._last < 0 else self._now + seconds
        while end is None or self._now < end:
            seen = self._last
            self._wait_for_news(lambda: self._last > seen or bool(self._pictures))  # noqa: B023 (called at once)
            end = self._now + seconds if end is None and self._last >= 0 else end
            for waiting in (self._vectors, self._pictures):
                while waiting:
                    item = waiting.popleft()
                    for observer in [call for observed, call in self._watchers if observed is waiting]:
                        observer(item)

    def power(self, *, on: bool) -> None:
        """Switches the motors on or off."""
        self._send(commands.power_packet(on=on, sequence=self._next()))

    def set_gains(self, gains: Mapping[str, Gains] | Gains | None = None) -> None:
        """Sets gains by joint, the same for all joints or, by default, the maker's standard ones."""
        if gains is None:
            pairs = [(number, self.model.standard_gains(number)) for number in self.model.joints]
        elif isinstance(gains, Gains):
            pairs = [(commands.EVERY, gains)]
        else:
            pairs = [(self.joint(name), each) for name, each in gains.items()]
        self._send(commands.gains_packet(pairs, sequence=self._next()))

    def camera(self, request: int, parameter: int) -> None:
        """Sets white balance, gain or shutter of the camera, by OPEN-R's numbers."""
        self._send(commands.camera_packet(request, parameter, sequence=self._next()))

    def command(
        self, references: Mapping[str, Sequence[float]], *, channel: int = 0, wait: int = 0, optional: bytes = b""
    ) -> int:
        """Sends a command vector: for each joint its references, one for each frame of 8 ms [rad].

        Returns its number, which `wait_for` and status reports know it by.
        """
        moves = tuple(commands.joint_command(self.joint(name), values) for name, values in references.items())
        return self.send(CommandVector(channel=channel, wait=wait, commands=moves, optional=optional))

    def send(self, vector: CommandVector) -> int:
        """Sends any command vector; returns its number."""
        number = self._next()
        self._send(commands.commands_packet(vector, sequence=number, model=self.model.model))
        return number

    def move(self, angles: Mapping[str, float], seconds: float, *, channel: int = 0) -> None:
        """Moves joints to angles [rad] at an even speed and waits until the last reference was given."""
        start = next(self.sensors())
        frames = max(1, round(seconds * 1e6 / FRAME))
        begin = np.array([start[name] for name in angles])
        way = begin + (np.array(list(angles.values())) - begin) * (np.arange(1, frames + 1)[:, None] / frames)
        numbers = []
        for first in range(0, frames, 16):
            piece = way[first : first + 16]
            numbers.append(self.command(dict(zip(angles, piece.T.tolist(), strict=True)), channel=channel))
            if len(numbers) > 8:
                self.wait_for(numbers[-8])
        self.wait_for(numbers[-1])

    def wait_for(self, number: int, event: Event = Event.FINISHED) -> Status:
        """Waits until a command vector is finished (or has begun), or was dropped or refused."""
        ends = {event, Event.DROPPED, Event.REFUSED, Event.FINISHED}
        while True:
            self._wait_for_news(lambda: bool(self._statuses))
            status = self._statuses.popleft()
            if status.command == number and status.event in ends:
                return status

    def step(self) -> None:
        """In lock-step, acknowledges the newest sensor vector, if there is one."""
        self._send(commands.step_packet(self._last if self._last >= 0 else commands.NEWEST, sequence=self._next()))

    def joint(self, name: str) -> int:
        """The ID of a joint, by its name or locator."""
        if name in self._joints:
            return self._joints[name]
        if name in self.model.ids:
            return self.model.ids[name]
        raise UnknownNameError(f"joint of {self.model.design}", name, self._joints)

    def close(self) -> None:
        """Disconnects from the robot."""
        for sock in self._sockets:
            sock.close()

    def _next(self) -> int:
        self._sent += 1
        return self._sent

    def _send(self, packet: bytes) -> None:
        try:
            self._sockets[1].sendall(packet)
        except OSError as error:
            raise EnvironmentProblem(f"the robot does not take commands any more: {error}.") from None

    def _wait_for_news(self, done: Callable[[], bool]) -> None:
        """Waits; with a server in lock-step, time continues meanwhile."""
        while not done():
            if not self.design.lock_step:
                self._wait(done)
                return
            self.step()
            seen = self._last
            self._wait(lambda: done() or self._last > seen)  # noqa: B023 (called at once)

    def _wait(self, done: Callable[[], bool]) -> None:
        """Reads packets until `done`."""
        end = time.monotonic() + self.timeout
        while not done():
            left = end - time.monotonic()
            if left <= 0:
                raise EnvironmentProblem(f"the robot has sent nothing for {self.timeout:g} s.")
            self._pump(left)

    def _pump(self, timeout: float) -> None:
        """Reads what has come, waiting at most for a time [s]."""
        ready, _, _ = select.select(self._sockets, [], [], timeout)
        for sock in ready:
            reader = self._readers[self._sockets.index(sock)]
            try:
                data = sock.recv(1 << 18)
            except OSError as error:
                raise EnvironmentProblem(f"the connection to the robot broke: {error}.") from None
            if not data:
                raise EnvironmentProblem("the robot has closed the connection.")
            for packet in reader.feed(data):
                self._take(packet)
            if reader.problem is not None:
                raise EnvironmentProblem(f"this is no OPEN-R server of Nutmeg: it {reader.problem}.")

    def _take(self, packet: Packet) -> None:
        self.dropped = max(self.dropped, packet.dropped)
        if packet.type == PacketType.DESIGN:
            self._designs.append((packet.model, packets.read_design(packet.body)))
            self._rows = _rows(model_numbered(packet.model))
        elif packet.type == PacketType.SENSORS:
            frames = packets.read_sensors(packet.body, self._designs[0][1].sensors)
            self._last, self._now = packet.sequence, packet.time * 1e-6
            self._keep(self._vectors, Sensors(time=self._now, sequence=packet.sequence, frames=frames, rows=self._rows))
        elif packet.type == PacketType.IMAGE:
            self._take_plane(packet)
        elif packet.type == PacketType.STATUS:
            self._statuses.append(packets.read_status(packet.body))

    def _take_plane(self, packet: Packet) -> None:
        part = packets.read_image(packet)
        if part.plane == 0:
            self._planes.clear()
        self._planes[part.plane] = part.pixels
        if len(self._planes) == 3:
            planes = np.stack([self._planes[k] for k in range(3)])
            self._planes.clear()
            self._keep(self._pictures, CameraPicture(time=packet.time * 1e-6, sequence=packet.sequence, planes=planes))

    def _taken(self, waiting: deque[Item]) -> Iterator[Item]:
        while len(waiting) > 1:
            waiting.popleft()
        while True:
            if not waiting:
                self._wait_for_news(lambda: bool(waiting))
            yield waiting.popleft()

    def _keep(self, waiting: deque[Any], item: object) -> None:
        self.missed += len(waiting) == waiting.maxlen
        waiting.append(item)


def _connect(address: tuple[str, int], timeout: float) -> socket.socket:
    try:
        sock = socket.create_connection(address, timeout)
    except OSError as error:
        raise EnvironmentProblem(
            f"no robot listens on {address[0]}, port {address[1]}: {error}. Start it with "
            "`nutmeg serve openr --robot ers7`."
        ) from None
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _rows(model: Model) -> dict[str, tuple[int, float]]:
    """Where each locator and name is in the sensor vector, and its unit."""
    rows: dict[str, tuple[int, float]] = {}
    for k, primitive in enumerate(model.sensors):
        unit = 1.0 if primitive.measures in _UNITLESS else 1e-6
        rows[primitive.locator] = (k, unit)
        if primitive.of and primitive.measures != "acceleration":
            rows[primitive.of] = (k, unit)
    for axis, name in enumerate(("front", "right", "up")):
        row = next(k for k, p in enumerate(model.sensors) if p.measures == "acceleration" and p.axis == axis)
        rows[f"acceleration.{name}"] = (row, 1e-6)
    return rows
