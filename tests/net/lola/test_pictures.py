"""Pictures over TCP: the head to the byte, colours, choices, and clients that do not read."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

from nutmeg.net.host.cameras import Picture
from nutmeg.net.lola.packets import pack
from nutmeg.net.lola.pictures import HEAD, RGB, YUYV, PicturePort, packed_picture, yuyv

from ...conftest import wait_until

Serving = Callable[..., AbstractContextManager[Any]]
Whole = Callable[..., bytes]


def picture(camera: str = "nao-1/CameraTop", shape: tuple[int, int] = (2, 4), sequence: int = 7) -> Picture:
    rows, columns = shape
    pixels = np.arange(rows * columns * 3, dtype=np.uint32).reshape(rows, columns, 3).astype(np.uint8)
    return Picture(camera=camera, time=1.5, sequence=sequence, pixels=pixels)


def test_a_head_has_the_documented_bytes() -> None:
    data = packed_picture(picture("nao-1/CameraBottom"), RGB)
    expected = b"NUTM" + bytes([1, 0]) + struct.pack("<HHH", 4, 2, 0) + struct.pack("<dII", 1.5, 7, 24)
    assert HEAD.size == 28
    assert data == expected + bytes(range(24))
    assert packed_picture(picture(), YUYV)[24:28] == struct.pack("<I", 16)


@pytest.mark.parametrize(
    ("colour", "expected"),
    [
        ((0, 0, 0), (0, 128, 0, 128)),
        ((255, 255, 255), (255, 128, 255, 128)),
        ((255, 0, 0), (76, 85, 76, 255)),
        ((0, 255, 0), (150, 44, 150, 21)),
        ((0, 0, 255), (29, 255, 29, 107)),
    ],
)
def test_colours_are_those_of_bt_601(colour: tuple[int, int, int], expected: tuple[int, ...]) -> None:
    out = yuyv(np.full((2, 4, 3), colour, dtype=np.uint8))
    assert out.shape == (2, 2, 4)
    assert np.abs(out.astype(int) - expected).max() <= 1


class Stills:
    """A feed that shows the same picture at every state."""

    shape = (2, 4)

    def __init__(self, _worlds: object) -> None:
        self.wanted: frozenset[str] = frozenset()
        self.count = 0
        self.ready: list[Picture] = []

    def want(self, cameras: Any) -> None:
        self.wanted = cameras

    def show(self, time: float, qpos: Any) -> None:
        self.count += 1
        self.ready += [picture(camera, self.shape, self.count) for camera in sorted(self.wanted)]

    def take(self) -> Sequence[Picture]:
        taken, self.ready = self.ready, []
        return taken

    def close(self) -> None:
        pass


class LargeStills(Stills):
    shape = (480, 640)


def next_picture(client: socket.socket, whole: Whole) -> tuple[int, int, int, int]:
    """Camera, format, sequence number and size of the next picture."""
    magic, camera, form, _, _, _, _, sequence, size = HEAD.unpack(whole(client, HEAD.size))
    assert magic == b"NUTM"
    whole(client, size)
    return camera, form, sequence, size


def test_a_client_gets_both_cameras_and_may_choose_one(serving: Serving, whole: Whole) -> None:
    port = PicturePort()
    with serving(lock_step=False, speed=2.0, cameras=Stills, pictures=port) as served:
        with socket.create_connection(("127.0.0.1", port.ports["nao-1"]), timeout=120) as client:
            assert {next_picture(client, whole)[:2] for _ in range(10)} == {(0, YUYV), (1, YUYV)}
            client.sendall(bytes([2, 0]))
            wait_until(lambda: next_picture(client, whole)[:2] == (1, RGB), every=0.0)
            assert {next_picture(client, whole)[:2] for _ in range(6)} == {(1, RGB)}
        with served.connect() as lola:
            whole(lola)
            lola.sendall(pack({}))


def test_a_client_that_does_not_read_misses_whole_pictures(serving: Serving, whole: Whole) -> None:
    port = PicturePort()
    with serving(lock_step=False, speed=5.0, cameras=LargeStills, pictures=port) as served:
        with socket.create_connection(("127.0.0.1", port.ports["nao-1"]), timeout=120) as client:
            wait_until(lambda: port.missed >= 20)
            sequences = [next_picture(client, whole)[2] for _ in range(60)]
        assert np.diff(sequences).max() > 1
        assert served.failure is None
