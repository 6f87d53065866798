"""Pictures of a Nao's cameras over TCP: LoLA itself has none, as on the robot they come from a video device.

Each robot has a port of its own, counted upwards from the first. A client that connects is sent pictures of both
cameras in YUYV until it goes; it may send two bytes at any time to choose:

    byte 0: cameras wanted, 1 top, 2 bottom, 3 both, 0 none
    byte 1: format, 0 RGB (three bytes a pixel), 1 YUYV (four bytes for two pixels: Y U Y V, full range, BT.601)

Every picture is a head of 28 bytes, little-endian, followed by its pixels, the top row first:

    offset  type     meaning
    0       4 bytes  "NUTM"
    4       uint8    camera: 0 top, 1 bottom
    5       uint8    format: 0 RGB, 1 YUYV
    6       uint16   width
    8       uint16   height
    10      uint16   0
    12      float64  simulated time at which it was taken, s
    20      uint32   sequence number of this camera's pictures; gaps are pictures that were left out
    24      uint32   bytes that follow

Only cameras that clients use are drawn. A client that reads too slowly misses whole pictures, never a part of one.
"""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.net.connection import Connection, Limits, no_report, refuse
from nutmeg.net.lola.packets import CAMERAS
from nutmeg.net.loop import Listener, tcp_listener

if TYPE_CHECKING:
    import socket

    from nutmeg.base.arrays import Bytes
    from nutmeg.net.host.cameras import Picture
    from nutmeg.net.host.robot_host import RobotHost

MAGIC = b"NUTM"
HEAD = struct.Struct("<4sBBHHHdII")
RGB, YUYV = 0, 1
MAX_CLIENTS = 4
"""Connections at once to one robot's port."""
LIMITS = Limits(
    piece=256,
    cycle_share=1 << 30,  # no cycle renews it while nothing is drawn; a piece in each turn is little enough
    sustained=1 << 30,
    burst=1 << 30,
    socket_buffer=2 * 1024 * 1024,  # a few pictures of 640 x 480
)
"""Limits of one client."""


def yuyv(pixels: Bytes) -> Bytes:
    """Pictures (height, width, 3) in red, green, blue as YUYV, (height, width / 2, 4); full range, BT.601."""
    red, green, blue = np.moveaxis(pixels.astype(np.float32), -1, 0)
    light = 0.299 * red + 0.587 * green + 0.114 * blue
    pairs = light.reshape(light.shape[0], -1, 2)
    u = (0.564 * (blue - light) + 128).reshape(pairs.shape).mean(axis=2)
    v = (0.713 * (red - light) + 128).reshape(pairs.shape).mean(axis=2)
    out = np.stack([pairs[..., 0], u, pairs[..., 1], v], axis=-1)
    return np.asarray(np.clip(np.rint(out), 0, 255), dtype=np.uint8)


def packed_picture(picture: Picture, form: int) -> bytes:
    """A picture as it is sent: its head and its pixels."""
    height, width = picture.pixels.shape[:2]
    body = (yuyv(picture.pixels) if form == YUYV else picture.pixels).tobytes()
    camera = CAMERAS.index(picture.camera.rpartition("/")[2])
    head = HEAD.pack(MAGIC, camera, form, width, height, 0, picture.time, picture.sequence % 2**32, len(body))
    return head + body


class _Choices:
    """Reads what viewers choose: pairs of bytes, cameras and format."""

    problem: str | None = None

    def __init__(self) -> None:
        self._kept = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The newest pair that is complete, if there is one."""
        data = self._kept + data
        whole = len(data) // 2 * 2
        self._kept = data[whole:]
        return [data[whole - 2 : whole]] if whole else []


class _Viewer(Connection[bytes]):
    """The connection to a client that looks through a robot's cameras."""

    robot = ""
    cameras = 3
    """The requested cameras, a bit for each."""
    form = YUYV


class PicturePort:
    """Serves pictures; the owner of its viewers' connections.

    Args:
        host: the address to listen on.
        port: of the first robot; 0 takes free ones.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.ports: dict[str, int] = {}
        """The port of each robot, by its name."""
        self._address, self._first = host, port
        self._listeners: list[Listener] = []
        self._viewers: list[_Viewer] = []

    def open(self, host: RobotHost, robots: tuple[str, ...]) -> None:
        """Listens, a port for each robot."""
        self._host = host
        for number, robot in enumerate(robots):
            sock = tcp_listener(self._address, self._first + number if self._first else 0)
            self._listeners.append(Listener(host.loop, sock, partial(self._admit, robot)))
            self.ports[robot] = self._listeners[-1].address[1]

    def send(self, picture: Picture) -> None:
        """Sends a picture to the viewers of its camera."""
        robot, _, camera = picture.camera.rpartition("/")
        if camera not in CAMERAS:
            return
        ready: dict[int, bytes] = {}
        for viewer in self._viewers:
            if viewer.robot != robot or not viewer.cameras & (1 << CAMERAS.index(camera)):
                continue
            if viewer.form not in ready:
                ready[viewer.form] = packed_picture(picture, viewer.form)
            viewer.offer(ready[viewer.form])

    @property
    def missed(self) -> int:
        """Pictures that were left out because a client reads too slowly."""
        return sum(viewer.missed for viewer in self._viewers)

    def handle(self, connection: _Viewer, message: bytes) -> None:
        """A viewer has chosen cameras and a format."""
        connection.cameras, connection.form = message[0] & 3, YUYV if message[1] else RGB
        self._want()

    def dismiss(self, connection: _Viewer) -> None:
        """A viewer has gone."""
        self._viewers.remove(connection)
        self._want()

    def close(self) -> None:
        """Disconnects all clients and frees the ports."""
        for viewer in self._viewers:
            viewer.close()
        for listener in self._listeners:
            listener.close()
        self._viewers.clear()
        self._listeners.clear()

    def _admit(self, robot: str, sock: socket.socket, peer: str) -> None:
        name = f"{robot} cameras {peer}"
        if sum(viewer.robot == robot for viewer in self._viewers) >= MAX_CLIENTS:
            refuse(sock, name, MAX_CLIENTS, no_report)
            return
        viewer = _Viewer(sock, name, self._host.loop, reader=_Choices(), owner=self, limits=LIMITS)
        viewer.robot = robot
        self._viewers.append(viewer)
        self._want()

    def _want(self) -> None:
        """Has those cameras drawn that clients use."""
        wanted = {f"{v.robot}/{name}" for v in self._viewers for k, name in enumerate(CAMERAS) if v.cameras & (1 << k)}
        self._host.want_cameras("lola", sorted(wanted))
