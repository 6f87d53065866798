"""What clients send: documented bytes, round trips, and refusals that say why."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.net.openr import commands as wire
from nutmeg.net.openr.commands import Command, CommandVector, joint_command
from nutmeg.net.openr.models import Gains
from nutmeg.net.openr.packets import PacketError, PacketReader, PacketType

commands = st.builds(
    Command,
    type=st.sampled_from(sorted(wire.COMMAND_TYPES)),
    primitive=st.integers(0, 2**32 - 1),
    values=st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=16).map(tuple),
)
vectors = st.builds(
    CommandVector,
    channel=st.integers(0, 15),
    wait=st.integers(0, 1000),
    sync_key=st.integers(0, 2**32 - 1),
    commands=st.lists(commands, max_size=20).map(tuple),
    optional=st.binary(max_size=64),
    offset=st.integers(0, 64),
)


def test_a_command_vector_has_its_documented_bytes() -> None:
    vector = CommandVector(
        channel=3,
        wait=2,
        sync_key=5,
        commands=(joint_command(12, [0.5, -0.25]), Command(type=260, primitive=40, values=(bytes(range(8)),))),
        optional=b"abcde",
        offset=1,
    )
    data = wire.commands_packet(vector, sequence=77, model=7)
    assert data[:32] == struct.pack("<4sHHIIIIQ", b"NMOR", 1, 16, 112, 7, 77, 0, 0)
    assert data[32:64] == struct.pack("<6I", 3, 2, 5, 2, 1, 5) + b"abcde\0\0\0"
    assert data[64:92] == struct.pack("<3Iiiii", 259, 12, 2, 500000, 0, -250000, 0)
    assert data[92:] == struct.pack("<3I", 260, 40, 1) + bytes(range(8))


@given(vectors)
@settings(max_examples=40)
def test_a_command_vector_comes_back_as_it_was(vector: CommandVector) -> None:
    (packet,) = PacketReader(16384).feed(wire.commands_packet(vector, sequence=1))
    assert packet.type == PacketType.COMMANDS
    assert wire.read_commands(packet.body) == vector


@given(vectors, st.data())
@settings(max_examples=40)
def test_a_damaged_command_vector_is_read_or_refused(vector: CommandVector, data: st.DataObject) -> None:
    body = bytearray(wire.commands_packet(vector)[32:])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
        if not body:
            break
    try:
        read = wire.read_commands(bytes(body))
    except PacketError:
        return
    assert read.channel < 16
    assert all(1 <= len(command.values) <= 16 for command in read.commands)


@pytest.mark.parametrize(
    ("vector", "problem"),
    [
        (CommandVector(channel=16), "channel is 16"),
        (CommandVector(wait=10**6), "wait"),
        (CommandVector(optional=bytes(100), offset=29), "optional"),
        (CommandVector(commands=(Command(type=257, primitive=1, values=(bytes(8),)),)), "type 257"),
        (CommandVector(commands=(Command(type=259, primitive=1, values=()),)), "0 frames"),
        (CommandVector(commands=(joint_command(1, [0.0] * 17),)), "17 frames"),
        (CommandVector(commands=(joint_command(1, [0.0]),) * 97), "numData is 97"),
        (CommandVector(commands=(Command(type=259, primitive=1, values=(bytes(7),)),)), "ends within"),
    ],
)
def test_a_vector_that_is_not_allowed_says_why(vector: CommandVector, problem: str) -> None:
    with pytest.raises(PacketError, match=problem):
        wire.commands_packet(vector)


def test_values_that_last_take_their_periods() -> None:
    value = struct.pack("<IHH", 1, 3, 0)
    assert Command(type=wire.LED_COMMAND2, primitive=1, values=(value, value)).periods == (3, 3)
    assert Command(type=wire.LED_COMMAND, primitive=1, values=(value,)).periods == (48,)
    assert Command(type=wire.LED_COMMAND2, primitive=1, values=(bytes(8),)).periods == (1,)
    assert joint_command(1, [0.1, 0.2]).periods == (1, 1)
    assert joint_command(1, [0.1, -0.2]).references == (100000, -200000)


def test_gains_power_camera_and_steps_have_their_documented_bytes() -> None:
    gains = Gains(p=28, i=8, d=1)
    data = wire.gains_packet([(12, gains), (wire.EVERY, Gains())], sequence=4)
    assert data[:32] == struct.pack("<4sHHIIIIQ", b"NMOR", 1, 17, 68, 0, 4, 0, 0)
    assert data[32:] == struct.pack("<I", 2) + struct.pack("<I6H", 12, 28, 8, 1, 14, 2, 15) + struct.pack(
        "<I6H", 0xFFFFFFFF, 0, 0, 0, 14, 2, 15
    )
    assert wire.read_gains(data[32:]) == [(12, gains), (wire.EVERY, Gains())]
    for packet, number, inside in (
        (wire.power_packet(on=True), 18, (1,)),
        (wire.camera_packet(386, 2), 19, (386, 2)),
        (wire.step_packet(31), 20, (31,)),
    ):
        assert packet[6] == number
        assert packet[32:] == struct.pack(f"<{len(inside)}I", *inside)
    assert wire.read_power(wire.power_packet(on=False)[32:]) is False
    assert wire.read_camera(wire.camera_packet(384, 3)[32:]) == (384, 3)
    assert wire.read_step(wire.step_packet(2**32 + 5)[32:]) == 5


@pytest.mark.parametrize(
    ("read", "body", "problem"),
    [
        (wire.read_gains, b"", "too early"),
        (wire.read_gains, struct.pack("<I", 2), "2 records"),
        (wire.read_power, struct.pack("<I", 2), "0 or 1"),
        (wire.read_power, b"", "not 4"),
        (wire.read_camera, struct.pack("<2I", 383, 1), "383"),
        (wire.read_camera, struct.pack("<2I", 384, 4), "parameter 4"),
        (wire.read_step, b"abcde", "not 4"),
        (wire.read_commands, b"abcd", "too early"),
        (wire.read_commands, struct.pack("<6I", 0, 0, 0, 0, 0, 4), "optional"),
        (wire.read_commands, struct.pack("<6I", 0, 0, 0, 0, 0, 0) + b"more", "counts make 24"),
        (wire.read_commands, struct.pack("<6I", 0, 0, 0, 1, 0, 0), "too early"),
    ],
)
def test_packets_with_a_wrong_inside_say_why(read: object, body: bytes, problem: str) -> None:
    with pytest.raises(PacketError, match=problem):
        read(body)  # type: ignore[operator]


def test_gains_beyond_sixteen_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="65535"):
        Gains(p=70000)
