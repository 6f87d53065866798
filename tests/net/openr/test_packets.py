"""Packets, sensor vectors and pictures to the byte."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nutmeg.base.errors import UnknownNameError
from nutmeg.net.openr import packets
from nutmeg.net.openr.models import DATA_TYPES, MODELS, Kind, model_named, model_numbered
from nutmeg.net.openr.packets import PacketError, PacketReader, PacketType

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "openr-wire.md"


def test_a_header_has_its_documented_bytes() -> None:
    packet = packets.Packet(type=2, model=7, sequence=0x01020304, dropped=5, time=0x0807060504030201, body=b"\xff\xfe")
    assert packet.pack() == bytes.fromhex("4e4d4f5201000200220000000700000004030201050000000102030405060708fffe")
    assert packets.with_dropped(packet.pack(), 258)[20:24] == b"\x02\x01\x00\x00"


@pytest.mark.parametrize(("name", "length"), [("ers7", 10496), ("ers210", 6976)])
def test_a_design_tells_every_primitive_at_its_documented_place(name: str, length: int) -> None:
    model = model_named(name)
    data = packets.design_packet(model, pictures=True, lock_step=True)
    assert len(data) == length == struct.unpack_from("<I", data, 8)[0]
    assert data[32:64].rstrip(b"\0").decode() == model.design
    assert len(data[32:64]) == 32
    counts = struct.unpack_from("<8I", data, 64)
    assert counts == (len(model.primitives), len(model.sensors), 8000, 4, *model.image, model.image_period, 1)
    for k, primitive in enumerate(model.primitives):
        start = 96 + 160 * k
        assert data[start : start + 128].rstrip(b"\0").decode() == primitive.locator
        number, kind, data_type, command = struct.unpack_from("<4I", data, start + 128)
        assert (number, kind, data_type, command) == (
            k + 1,
            primitive.kind,
            primitive.data_type,
            primitive.command_type,
        )
        gains = struct.unpack_from("<6H", data, start + 144)
        assert gains == ((*primitive.gains, 14, 2, 15) if primitive.gains else (0,) * 6)
        assert data[start + 156 : start + 160] == bytes(4)


def test_a_design_comes_back_as_it_was() -> None:
    model = model_named("ers210")
    (packet,) = PacketReader().feed(packets.design_packet(model, pictures=False))
    design = packets.read_design(packet.body)
    assert packet.type == PacketType.DESIGN
    assert packet.model == 210
    assert design.design == "ERS-210"
    assert (design.sensors, design.image, design.image_period, design.lock_step) == (31, (176, 144), 0, False)
    assert [record.locator for record in design.primitives] == list(model.ids)
    with pytest.raises(PacketError, match="primitives"):
        packets.read_design(packet.body[:-1])
    with pytest.raises(PacketError, match="at least"):
        packets.read_design(b"ERS-7")


def test_a_status_has_its_documented_bytes() -> None:
    status = packets.Status(command=7, channel=2, event=packets.Event.DROPPED, frame=100)
    data = packets.status_packet(7, 3, 800000, status)
    assert len(data) == 48
    assert data[32:] == struct.pack("<4I", 7, 2, 3, 100)
    assert struct.unpack_from("<HHIIIIQ", data, 4) == (1, 4, 48, 7, 3, 0, 800000)
    assert packets.read_status(data[32:]) == status
    with pytest.raises(PacketError, match="STATUS"):
        packets.read_status(data[32:40])


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 50), min_size=1, max_size=20))
@settings(max_examples=60)
def test_packets_come_out_of_a_stream_however_it_is_cut(bodies: list[bytes], cuts: list[int]) -> None:
    sent = [packets.Packet(type=k, sequence=k, model=7, time=k, body=body) for k, body in enumerate(bodies)]
    stream = b"".join(packet.pack() for packet in sent)
    reader, found, start, turn = PacketReader(), [], 0, 0
    while start < len(stream):
        size = cuts[turn % len(cuts)]
        found += reader.feed(stream[start : start + size])
        start, turn = start + size, turn + 1
    assert found == sent
    assert not reader._kept
    assert reader.problem is None


@pytest.mark.parametrize(
    ("at", "value", "problem"),
    [(0, b"X", "begins with"), (4, b"\x02", "version 2"), (8, b"\x1f", "31 bytes"), (9, b"\xff", "announced")],
)
def test_a_header_without_sense_loses_the_stream(at: int, value: bytes, problem: str) -> None:
    good = bytearray(packets.Packet(type=20, body=b"abcd").pack())
    good[at : at + 1] = value
    reader = PacketReader(longest=16384)
    assert reader.feed(bytes(good)) == []
    assert reader.problem is not None
    assert problem in reader.problem
    assert reader.feed(packets.Packet(type=20).pack()) == []


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    reader = PacketReader(longest=128)
    sent = reader.feed(data)
    assert len(reader._kept) <= 128
    assert all(len(packet.body) <= 96 for packet in sent)


@pytest.mark.parametrize("name", MODELS)
def test_the_document_tells_the_same_primitives_as_the_tables(name: str) -> None:
    model = model_named(name)
    part = DOCUMENT.read_text().split(f"### {model.design}\n")[1].split("\n### ")[0]
    rows = re.findall(r"^\| (\d+) \| (\d+) \| `([^`]+)` \| ([^|]+) \| (\d+) \| ([\d ]*) ?\|$", part, re.M)
    told = [(int(i), int(n), locator, about, int(t), gains.strip()) for i, n, locator, about, t, gains in rows]
    assert told == [
        (k, k + 1, p.locator, p.about, p.data_type, " ".join(map(str, p.gains or ())))
        for k, p in enumerate(model.sensors)
    ]
    rest = re.findall(r"^\| (\d+) \| `([^`]+)` \| ([^|]+) \|$", part, re.M)
    first = len(model.sensors) + 1
    assert [(int(n), x, y) for n, x, y in rest] == [(k, p.locator, p.about) for k, p in enumerate(model.others, first)]


@pytest.mark.parametrize(("name", "joints"), [("ers7", 18), ("ers210", 18)])
def test_both_models_have_their_joints_and_units(name: str, joints: int) -> None:
    model = model_named(name)
    assert model_numbered(model.model) is model
    assert len(model.joints) == joints
    assert all(model.joints[k].gains for k in model.joints)
    assert {p.measures for p in model.sensors} <= set(DATA_TYPES)
    assert sum(p.kind == Kind.FBKIMAGESENSOR for p in model.primitives) == 1
    assert len(model.ids) == len(model.primitives)
    assert model.primitive(model.id_of("PRM:/a3-Sensor:a3")).axis == 2


def test_unknown_names_are_told_with_what_is_known() -> None:
    with pytest.raises(UnknownNameError, match="ers7"):
        model_named("ers8")
    with pytest.raises(UnknownNameError, match="210"):
        model_numbered(211)
    with pytest.raises(UnknownNameError, match=r"Did you mean 'PRM:/r2/c1-Joint2:21'"):
        model_named("ers7").id_of("PRM:/r2/c1-Joint2:2l")
    with pytest.raises(UnknownNameError, match="primitive"):
        model_named("ers7").primitive(66)


LENGTHS = {"ers7": (34, 10016, 33360), "ers210": (31, 9152, 25424)}


def test_structures_have_the_sizes_of_the_robot() -> None:
    assert (packets.VECTOR_INFO.itemsize, packets.FRAME_INFO.itemsize, packets.VALUE.itemsize) == (192, 32, 16)
    offsets = {name: packets.VECTOR_INFO.fields[name][1] for name in packets.VECTOR_INFO.names or ()}  # type: ignore[index]
    words = "memRegionID physAddr offset totalSize type infoOffset infoSize maxNumData numData syncKey wait"
    expected = {name: 4 * k for k, name in enumerate([*words.split(), "optOffset", "optSize", "padding"])}
    assert offsets == {**expected, "optional": 64}


@pytest.mark.parametrize("name", MODELS)
def test_a_sensor_packet_has_every_value_at_its_documented_place(name: str) -> None:
    model = model_named(name)
    count, length, _ = LENGTHS[name]
    vector = packets.SensorVector(model)
    for k in range(count):
        for f in range(4):
            vector.values[k, f] = (-1000 * k - f, k, -f, 1000 * k + f, 2 * k, 0)
    vector.echo(9, 2, b"hello")
    data = vector.packet(sequence=5, time=184000)
    assert len(data) == length
    assert struct.unpack_from("<HHIIIIQ", data, 4) == (1, 2, length, model.model, 5, 0, 184000)
    info = struct.unpack_from("<13I", data, 32)
    assert info == (0, 0, 0, length - 32, 1025, 192, 32, count, count, 9, 0, 2, 5)
    assert data[96 + 2 : 96 + 7] == b"hello"
    assert data[96 + 7 : 224] == bytes(121)
    for k, primitive in enumerate(model.sensors):
        row = struct.unpack_from("<8I", data, 224 + 32 * k)
        place = 192 + 32 * count + 256 * k
        assert row == (primitive.data_type, k + 1, 20, 4, 16, place, 256, 0)
        for f in range(4):
            value = struct.unpack_from("<iHhiHH", data, 32 + place + 16 * f)
            assert value == (-1000 * k - f, k, -f, 1000 * k + f, 2 * k, 0)
        assert data[32 + place + 64 : 32 + place + 256] == bytes(192)


@given(st.integers(0, 2**32 // 4 - 1), st.integers(0, 2**63), st.binary(max_size=128), st.integers(0, 1000))
@settings(max_examples=40)
def test_what_a_sensor_packet_tells_comes_back(sequence: int, time: int, optional: bytes, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = model_named("ers7")
    vector = packets.SensorVector(model)
    for part, low, high in (("value", -(2**31), 2**31), ("signal", 0, 2**16), ("pwmDuty", -512, 513)):
        vector.values[part] = rng.integers(low, high, vector.values.shape)
    vector.echo(1, 128 - len(optional), optional)
    (packet,) = PacketReader().feed(vector.packet(sequence=sequence, time=time))
    back = packets.read_sensors(packet.body, len(model.sensors))
    assert (packet.sequence, packet.time, back.frame) == (sequence, time, 4 * sequence)
    assert (back.optional, back.sync_key) == (optional, 1)
    np.testing.assert_array_equal(back.values, vector.values)


def test_a_sensor_packet_that_contradicts_itself_is_refused() -> None:
    body = packets.SensorVector(model_named("ers7")).packet(sequence=0, time=0)[32:]
    with pytest.raises(PacketError, match="bytes"):
        packets.read_sensors(body, 31)
    wrong = bytearray(body)
    wrong[32:36] = struct.pack("<I", 33)
    with pytest.raises(PacketError, match="contradicts"):
        packets.read_sensors(bytes(wrong), 34)


@pytest.mark.parametrize("name", MODELS)
def test_a_picture_is_three_packets_with_the_same_number_and_time(name: str) -> None:
    model = model_named(name)
    _, _, length = LENGTHS[name]
    width, height = model.image
    planes = np.random.default_rng(1).integers(0, 256, (3, height, width), np.uint8)
    sent = packets.image_packets(model, planes, sequence=65540, frame=12, time=100000)
    camera = next(k for k, p in enumerate(model.primitives, 1) if "FbkImageSensor" in p.locator)
    for plane, data in enumerate(sent):
        assert len(data) == length
        assert struct.unpack_from("<HHIIIIQ", data, 4) == (1, 3, length, model.model, 65540, 0, 100000)
        size = width * height
        assert struct.unpack_from("<12I", data, 32) == (19, camera, 12, 80, size, width, height, 0, plane, 3, 4, 0)
        assert data[80:] == planes[plane].tobytes()
    back = [packets.read_image(packet) for packet in PacketReader().feed(b"".join(sent))]
    assert [part.plane for part in back] == [0, 1, 2]
    np.testing.assert_array_equal(np.stack([part.pixels for part in back]), planes)


def test_a_picture_of_the_wrong_size_is_refused() -> None:
    model = model_named("ers7")
    with pytest.raises(PacketError, match="208"):
        packets.image_packets(model, np.zeros((3, 144, 176), np.uint8), sequence=0, frame=0, time=0)
    data = packets.image_packets(model, np.zeros((3, 160, 208), np.uint8), sequence=0, frame=0, time=0)[0]
    for body in (data[32:-1], data[32:60], data[32:64] + b"\x07" + data[65:]):
        with pytest.raises(PacketError, match="IMAGE"):
            packets.read_image(packets.Packet(type=3, body=body))


@given(arrays(np.uint8, (7, 5, 3)))
@settings(max_examples=60)
def test_colours_are_those_of_the_printed_formula(picture: np.ndarray) -> None:
    planes = packets.ycrcb(picture)
    red, green, blue = (picture[..., k].astype(float) for k in range(3))
    bright = 0.299 * red + 0.587 * green + 0.114 * blue
    expected = [bright, 128 + 0.713 * (red - bright), 128 + 0.564 * (blue - bright)]
    for plane, values in zip(planes, expected, strict=True):
        assert np.abs(plane - np.clip(values, 0, 255)).max() <= 1.0
    unclipped = (np.stack(expected) > 0.5).all(0) & (np.stack(expected) < 254.5).all(0)
    assert np.abs(packets.rgb(planes).astype(int) - picture)[unclipped].max(initial=0) <= 4


def test_grey_has_no_colour_and_pure_colours_have_their_known_values() -> None:
    for level in range(256):
        assert packets.ycrcb(np.full((1, 1, 3), level, np.uint8)).ravel().tolist() == [level, 128, 128]
    known = {(255, 0, 0): (76, 255, 85), (0, 255, 0): (150, 21, 43), (0, 0, 255): (29, 107, 255)}
    for colour, planes in known.items():
        found = packets.ycrcb(np.array([[colour]], np.uint8)).ravel().astype(int)
        np.testing.assert_allclose(found, planes, atol=1)
