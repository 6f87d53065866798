"""An AIBO under a thousand malformed packets; with polite clients meanwhile: test_hostile_robot_clients.py."""

from __future__ import annotations

import contextlib
import socket
import struct

import numpy as np

from nutmeg.net.openr.client import OpenrClient
from nutmeg.net.openr.commands import (
    EVERY,
    CommandVector,
    camera_packet,
    commands_packet,
    gains_packet,
    joint_command,
    power_packet,
    step_packet,
)
from nutmeg.net.openr.models import Gains
from nutmeg.net.openr.packets import Event, Packet
from nutmeg.net.openr.service import settings_for

from .conftest import Serve, wait_until

VALID = (
    commands_packet(CommandVector(commands=tuple(joint_command(k, [0.1] * 16) for k in (1, 3, 7, 8)))),
    commands_packet(CommandVector(channel=15, wait=3, optional=b"fuzz", commands=(joint_command(1, [9.0]),))),
    gains_packet([(EVERY, Gains(p=65535, i=65535, d=65535, p_shift=0, i_shift=0, d_shift=0))]),
    gains_packet([(1, Gains(p_shift=65535))]),
    power_packet(on=True),
    camera_packet(384, 1),
    step_packet(5),
    Packet(type=77, body=b"nobody knows this one").pack(),
    Packet(type=2, body=bytes(64)).pack(),
)
LENGTHS = (0, 1, 31, 32, 16385, 2**31, 2**32 - 1)


def malformed(rng: np.random.Generator) -> bytes:
    """Bytes to send: noise, a damaged packet, one with a wrong length, or a valid one in pieces."""
    kind = rng.integers(6)
    if kind == 0:
        return rng.bytes(int(rng.integers(1, 200)))
    packet = bytearray(VALID[rng.integers(len(VALID))])
    if kind == 1:
        return bytes(packet[: int(rng.integers(1, len(packet) + 1))])
    if kind == 2:
        packet[8:12] = struct.pack("<I", int(rng.choice(LENGTHS)))
        return bytes(packet)
    inside = int(kind == 3) * 32
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(inside, len(packet))) if len(packet) > inside else 0
        packet[at : at + 1] = rng.bytes(1)
    return bytes(packet)


def test_every_malformed_packet_leaves_the_server_standing(serve: Serve) -> None:
    rng = np.random.default_rng(8)
    with serve(settings_for(["ers7"], first_port=0, pictures=False)) as served:
        for _ in range(40):
            with contextlib.suppress(OSError), socket.create_connection(served.address()[1], timeout=5) as sock:
                for _ in range(25):
                    sock.sendall(malformed(rng))
        wait_until(lambda: not served.seat.commanders)
        with OpenrClient(*served.address()) as robot:
            assert robot.wait_for(robot.command({"NECK:pan": [0.1]})).event == Event.FINISHED
            assert len(robot.design.primitives) == 65
