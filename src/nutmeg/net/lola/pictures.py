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

Only what somebody looks at is drawn. A client that reads too slowly misses whole pictures, never a part of one.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.net.lola.packets import CAMERAS
from nutmeg.net.loop import tcp_listener

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes
    from nutmeg.net.host.cameras import Picture
    from nutmeg.net.host.robot_host import RobotHost
    from nutmeg.net.loop import Sockets

MAGIC = b"NUTM"
HEAD = struct.Struct("<4sBBHHHdII")
RGB, YUYV = 0, 1
CLIENTS = 4
"""Connections at once to one robot's port."""
SEND_BUFFER = 2 * 1024 * 1024
"""What the system is asked to hold for a client [bytes]: a few pictures of 640 x 480."""


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


@dataclass(eq=False)
class _Viewer:
    """Somebody who looks through a robot's cameras."""

    socket: socket.socket
    robot: str
    cameras: int = 3
    form: int = YUYV
    unsent: bytes = b""
    missed: int = 0
    asked: bytes = b""


class PicturePort:
    """Serves pictures.

    Args:
        host: the address to listen on.
        port: of the first robot; 0 takes free ones.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.ports: dict[str, int] = {}
        """The port of each robot, by its name."""
        self.sent = self.missed = 0
        """Pictures sent, and left out because somebody read too slowly."""
        self._address, self._first = host, port
        self._listeners: list[socket.socket] = []
        self._viewers: list[_Viewer] = []

    def open(self, host: RobotHost, robots: tuple[str, ...]) -> None:
        """Listens, a port for each robot."""
        self._host = host
        self._sockets: Sockets = host.sockets
        for number, robot in enumerate(robots):
            listener = tcp_listener(self._address, self._first + number if self._first else 0)
            self._listeners.append(listener)
            self.ports[robot] = int(listener.getsockname()[1])
            self._sockets.watch(listener, readable=lambda at=listener, r=robot: self._accept(at, r))  # type: ignore[misc]

    def send(self, picture: Picture) -> None:
        """Sends a picture to everybody who looks through its camera."""
        robot, _, camera = picture.camera.rpartition("/")
        if camera not in CAMERAS:
            return
        ready: dict[int, bytes] = {}
        for viewer in list(self._viewers):
            if viewer.robot != robot or not viewer.cameras & (1 << CAMERAS.index(camera)):
                continue
            if viewer.unsent:
                viewer.missed += 1
                self.missed += 1
                continue
            if viewer.form not in ready:
                ready[viewer.form] = packed_picture(picture, viewer.form)
            viewer.unsent = ready[viewer.form]
            self.sent += 1
            self._flush(viewer)

    def close(self) -> None:
        """Disconnects everybody and frees the ports."""
        for viewer in list(self._viewers):
            self._drop(viewer)
        for listener in self._listeners:
            self._sockets.forget(listener)
            listener.close()
        self._listeners.clear()

    def _accept(self, listener: socket.socket, robot: str) -> None:
        try:
            sock, _ = listener.accept()
        except OSError:  # whoever came has gone again
            return
        if sum(viewer.robot == robot for viewer in self._viewers) >= CLIENTS:
            sock.close()
            return
        sock.settimeout(0.0)
        with contextlib.suppress(OSError):  # the peer may have gone already
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        viewer = _Viewer(sock, robot)
        self._viewers.append(viewer)
        self._watch(viewer)
        self._want()

    def _watch(self, viewer: _Viewer) -> None:
        writable = (lambda: self._flush(viewer)) if viewer.unsent else None
        self._sockets.watch(viewer.socket, readable=lambda: self._receive(viewer), writable=writable)

    def _flush(self, viewer: _Viewer) -> None:
        try:
            viewer.unsent = viewer.unsent[viewer.socket.send(viewer.unsent) :]
        except BlockingIOError:
            pass  # no room yet: it is watched, and tried again
        except OSError:
            self._drop(viewer)
            return
        self._watch(viewer)

    def _receive(self, viewer: _Viewer) -> None:
        try:
            data = viewer.socket.recv(256)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(viewer)
            return
        asked = viewer.asked + data
        whole = len(asked) // 2 * 2
        if whole:
            viewer.cameras, viewer.form = asked[whole - 2] & 3, YUYV if asked[whole - 1] else RGB
            self._want()
        viewer.asked = asked[whole:]

    def _drop(self, viewer: _Viewer) -> None:
        if viewer in self._viewers:
            self._viewers.remove(viewer)
            self._sockets.forget(viewer.socket)
            viewer.socket.close()
            self._want()

    def _want(self) -> None:
        """Tells the host which cameras somebody looks through."""
        wanted = {f"{v.robot}/{name}" for v in self._viewers for k, name in enumerate(CAMERAS) if v.cameras & (1 << k)}
        self._host.want_cameras("lola", sorted(wanted))
