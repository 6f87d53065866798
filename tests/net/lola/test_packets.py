"""LoLA's packets to the byte."""

from __future__ import annotations

import struct
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.net.lola import packets
from nutmeg.net.lola.packets import JOINTS, PacketReader, SensorPacket, read_commands

BODY, HEAD = "P0000073A07S94700012", "P0000074A05S93M00061"
ORDER = ["RobotConfig", *packets.FLOATS, "Status"]


def float_list(values: list[float]) -> bytes:
    """As the robot sends it: a head of one byte up to 15 entries, of three beyond, and five bytes for each float."""
    head = bytes([0x90 | len(values)]) if len(values) < 16 else struct.pack(">BH", 0xDC, len(values))
    return head + b"".join(struct.pack(">Bf", 0xCA, value) for value in values)


def key(name: str) -> bytes:
    return bytes([0xA0 | len(name)]) + name.encode()


def test_a_sensor_packet_is_what_was_worked_out_byte_for_byte() -> None:
    packet = SensorPacket(body=BODY, head=HEAD)
    numbers = {name: [0.25 * k - 1.5 for k in range(count)] for name, count in packets.FLOATS.items()}
    status = [k % 4 for k in range(25)]
    for name, values in numbers.items():
        packet[name] = values
    packet["Status"] = status
    expected = b"\x8d" + key("RobotConfig") + b"\x94"
    expected += b"".join(bytes([0xA0 | len(text)]) + text.encode() for text in (BODY, "6.0.0", HEAD, "6.0.0"))
    expected += b"".join(key(name) + float_list(values) for name, values in numbers.items())
    expected += key("Status") + b"\xdc\x00\x19" + bytes(status)
    assert len(expected) == packets.PACKET_SIZE == 896
    assert packet.bytes() == expected


def test_the_reference_reads_a_packet_and_packs_it_again_to_the_same_bytes() -> None:
    packet = SensorPacket(body=BODY, head=HEAD)
    packet["Position"] = np.linspace(-2, 2, 25)
    found = msgpack.unpackb(packet.bytes())
    assert list(found) == ORDER
    assert {name: len(values) for name, values in found.items()} == {**packets.FLOATS, "RobotConfig": 4, "Status": 25}
    assert msgpack.packb(found, use_single_float=True) == packet.bytes()


def test_joints_and_buttons_are_in_the_order_of_the_interface() -> None:
    assert (len(JOINTS), len(packets.TOUCHES)) == (25, 14)
    places = {"HeadYaw": 0, "LHipYawPitch": 7, "RHipRoll": 13, "RShoulderPitch": 18, "LHand": 23, "RHand": 24}
    assert {name: JOINTS.index(name) for name in places} == places
    assert packets.TOUCHES[:6] == (
        "ChestButton",
        "HeadTouchFront",
        "HeadTouchMiddle",
        "HeadTouchRear",
        "LBumperL",
        "LBumperR",
    )


@pytest.mark.parametrize("wrong", [{"body": BODY[:-1]}, {"head": HEAD + "x"}, {"version": "6.0"}])
def test_texts_of_another_length_would_change_the_size_and_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="896"):
        SensorPacket(**{"body": BODY, "head": HEAD, **wrong})


def test_a_full_actuator_packet_has_the_786_bytes_of_other_clients() -> None:
    commands: dict[str, Any] = {name: [0.5] * count for name, count in packets.COMMANDS.items()}
    commands["Sonar"] = [True, False]
    assert len(msgpack.packb(commands, use_single_float=True)) == 786


@settings(max_examples=50)
@given(
    names=st.permutations(list(packets.COMMANDS)),
    count=st.integers(0, len(packets.COMMANDS)),
    single=st.booleans(),
    fill=st.floats(-3, 3, width=32),
)
def test_any_keys_in_any_order_in_floats_of_any_size_are_taken(
    names: list[str], count: int, single: bool, fill: float
) -> None:
    sent: dict[str, Any] = {name: [fill] * packets.COMMANDS[name] for name in names[:count]}
    if "Sonar" in sent:
        sent["Sonar"] = [True, False]
    (found,) = PacketReader().feed(msgpack.packb(sent, use_single_float=single))
    commands = read_commands(found)
    assert commands.problems == ()
    assert {name: values.tolist() for name, values in commands.numbers.items()} == {
        name: [float(value) for value in values] for name, values in sent.items()
    }


@settings(max_examples=50)
@given(
    st.dictionaries(
        st.sampled_from([*packets.COMMANDS, "Mouth", ""]),
        st.lists(st.none() | st.floats(width=32) | st.text(max_size=5), max_size=30),
    )
)
def test_what_does_not_make_sense_is_left_out_and_told(sent: dict[str, Any]) -> None:
    (found,) = PacketReader().feed(packets.pack({name: values[:60] for name, values in sent.items()}))
    commands = read_commands(found)
    assert len(commands.numbers) + len(commands.problems) == len(sent)
    assert all(len(values) == packets.COMMANDS[name] for name, values in commands.numbers.items())


@pytest.mark.parametrize("message", [None, 7, 0.5, b"Position", [1, 2], True])
def test_a_message_that_is_no_map_is_told(message: Any) -> None:
    commands = read_commands(message)
    assert not commands.numbers
    assert "must be a map" in commands.problems[0]


def test_a_client_reads_what_was_filled_in() -> None:
    packet = SensorPacket(body=BODY, head=HEAD)
    packet["Gyroscope"] = (0.5, -0.25, 2.0)
    packet["Status"] = [300] + [0] * 24
    senses = packets.read_sensors(packet.bytes())
    assert senses["RobotConfig"] == [BODY, "6.0.0", HEAD, "6.0.0"]
    assert senses["Gyroscope"] == [0.5, -0.25, 2.0]
    assert senses["Status"][0] == 127  # more would take two bytes
    assert sum(packets.LIGHTS.values()) == 89


@settings(max_examples=40)
@given(
    st.lists(
        st.dictionaries(st.sampled_from([*packets.COMMANDS]), st.lists(st.floats(width=32), max_size=25)), max_size=5
    )
)
def test_messages_arrive_whole_however_the_stream_is_cut(sent: list[dict[str, list[float]]]) -> None:
    stream, found = b"".join(map(packets.pack, sent)), list[packets.Value]()
    reader = PacketReader()
    for at in range(0, len(stream), 7):
        found += reader.feed(stream[at : at + 7])
    assert reader.problem is None
    assert b"".join(map(packets.pack, found)) == b"".join(
        packets.pack({name.encode(): values for name, values in one.items()}) for one in sent
    )


@given(st.lists(st.binary(max_size=300), max_size=5))
def test_any_bytes_are_read_refused_or_waited_for(pieces: list[bytes]) -> None:
    reader = PacketReader()
    for piece in pieces:
        refused = reader.problem is not None
        assert not (reader.feed(piece) and refused)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xc1", "FormatError"),
        (b"\xc7\x01\x00\x00", "max_ext_len"),
        (b"\xdd\xff\xff\xff\xff", "max_array_len"),
        (b"\xdf\x7f\xff\xff\xff", "max_map_len"),
        (bytes([0xDC, 0, packets.MAX_ENTRIES + 1]), "max_array_len"),
        (b"\x91" * 2000, "StackError"),
        (b"\x81\x90\x00", "unhashable"),
        (bytes([0xDA]) + (packets.MAX_TEXT + 1).to_bytes(2, "big") + bytes(packets.MAX_TEXT + 1), "max_str_len"),
        (b"\xdb\xff\xff\xff\xff" + bytes(packets.MAX_MESSAGE), f"more than {packets.MAX_MESSAGE} bytes"),
    ],
)
def test_what_is_too_large_or_unknown_is_refused(data: bytes, reason: str) -> None:
    reader = PacketReader()
    assert reader.feed(data) == []
    assert reader.problem is not None
    assert reason in reader.problem
    assert reader.feed(packets.pack({})) == []
