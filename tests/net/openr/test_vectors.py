"""Sensor vectors and pictures: every byte where OPEN-R has it, and back again."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nutmeg.net.openr.models import MODELS, model_named
from nutmeg.net.openr.packets import (
    FRAME_INFO,
    VALUE,
    VECTOR_INFO,
    Packet,
    PacketError,
    PacketReader,
    SensorVector,
    image_packets,
    read_image,
    read_sensors,
    rgb,
    ycrcb,
)

LENGTHS = {"ers7": (34, 10016, 33360), "ers210": (31, 9152, 25424)}


def test_structures_have_the_sizes_of_the_robot() -> None:
    assert (VECTOR_INFO.itemsize, FRAME_INFO.itemsize, VALUE.itemsize) == (192, 32, 16)
    offsets = {name: VECTOR_INFO.fields[name][1] for name in VECTOR_INFO.names or ()}  # type: ignore[index]
    words = "memRegionID physAddr offset totalSize type infoOffset infoSize maxNumData numData syncKey wait"
    expected = {name: 4 * k for k, name in enumerate([*words.split(), "optOffset", "optSize", "padding"])}
    assert offsets == {**expected, "optional": 64}


@pytest.mark.parametrize("name", MODELS)
def test_a_sensor_packet_has_every_value_at_its_documented_place(name: str) -> None:
    model = model_named(name)
    count, length, _ = LENGTHS[name]
    vector = SensorVector(model)
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
@settings(max_examples=40, deadline=None)
def test_what_a_sensor_packet_tells_comes_back(sequence: int, time: int, optional: bytes, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = model_named("ers7")
    vector = SensorVector(model)
    for part, low, high in (("value", -(2**31), 2**31), ("signal", 0, 2**16), ("pwmDuty", -512, 513)):
        vector.values[part] = rng.integers(low, high, vector.values.shape)
    vector.echo(1, 128 - len(optional), optional)
    (packet,) = PacketReader().feed(vector.packet(sequence=sequence, time=time))
    back = read_sensors(packet.body, len(model.sensors))
    assert (packet.sequence, packet.time, back.frame) == (sequence, time, 4 * sequence)
    assert (back.optional, back.sync_key) == (optional, 1)
    np.testing.assert_array_equal(back.values, vector.values)


def test_a_sensor_packet_that_contradicts_itself_is_refused() -> None:
    body = SensorVector(model_named("ers7")).packet(sequence=0, time=0)[32:]
    with pytest.raises(PacketError, match="bytes"):
        read_sensors(body, 31)
    wrong = bytearray(body)
    wrong[32:36] = struct.pack("<I", 33)
    with pytest.raises(PacketError, match="contradicts"):
        read_sensors(bytes(wrong), 34)


@pytest.mark.parametrize("name", MODELS)
def test_a_picture_is_three_packets_with_the_same_number_and_time(name: str) -> None:
    model = model_named(name)
    _, _, length = LENGTHS[name]
    width, height = model.image
    planes = np.random.default_rng(1).integers(0, 256, (3, height, width), np.uint8)
    packets = image_packets(model, planes, sequence=65540, frame=12, time=100000)
    camera = next(k for k, p in enumerate(model.primitives, 1) if "FbkImageSensor" in p.locator)
    for plane, data in enumerate(packets):
        assert len(data) == length
        assert struct.unpack_from("<HHIIIIQ", data, 4) == (1, 3, length, model.model, 65540, 0, 100000)
        size = width * height
        assert struct.unpack_from("<12I", data, 32) == (19, camera, 12, 80, size, width, height, 0, plane, 3, 4, 0)
        assert data[80:] == planes[plane].tobytes()
    back = [read_image(packet) for packet in PacketReader().feed(b"".join(packets))]
    assert [part.plane for part in back] == [0, 1, 2]
    np.testing.assert_array_equal(np.stack([part.pixels for part in back]), planes)


def test_a_picture_of_the_wrong_size_is_refused() -> None:
    model = model_named("ers7")
    with pytest.raises(PacketError, match="208"):
        image_packets(model, np.zeros((3, 144, 176), np.uint8), sequence=0, frame=0, time=0)
    data = image_packets(model, np.zeros((3, 160, 208), np.uint8), sequence=0, frame=0, time=0)[0]
    for body in (data[32:-1], data[32:60], data[32:64] + b"\x07" + data[65:]):
        with pytest.raises(PacketError, match="IMAGE"):
            read_image(Packet(type=3, body=body))


@given(arrays(np.uint8, (7, 5, 3)))
@settings(max_examples=60, deadline=None)
def test_colours_are_those_of_the_printed_formula(picture: np.ndarray) -> None:
    planes = ycrcb(picture)
    red, green, blue = (picture[..., k].astype(float) for k in range(3))
    bright = 0.299 * red + 0.587 * green + 0.114 * blue
    expected = [bright, 128 + 0.713 * (red - bright), 128 + 0.564 * (blue - bright)]
    for plane, values in zip(planes, expected, strict=True):
        assert np.abs(plane - np.clip(values, 0, 255)).max() <= 1.0
    unclipped = (np.stack(expected) > 0.5).all(0) & (np.stack(expected) < 254.5).all(0)
    assert np.abs(rgb(planes).astype(int) - picture)[unclipped].max(initial=0) <= 4


def test_grey_has_no_colour_and_pure_colours_have_their_known_values() -> None:
    for level in range(256):
        assert ycrcb(np.full((1, 1, 3), level, np.uint8)).ravel().tolist() == [level, 128, 128]
    known = {(255, 0, 0): (76, 255, 85), (0, 255, 0): (150, 21, 43), (0, 0, 255): (29, 107, 255)}
    for colour, planes in known.items():
        found = ycrcb(np.array([[colour]], np.uint8)).ravel().astype(int)
        np.testing.assert_allclose(found, planes, atol=1)
