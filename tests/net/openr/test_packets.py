"""Headers, designs and status reports against the documented bytes; streams cut anywhere."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.base.errors import UnknownNameError
from nutmeg.net.openr.models import DATA_TYPES, MODELS, Kind, model_named, model_numbered
from nutmeg.net.openr.packets import (
    Event,
    Packet,
    PacketError,
    PacketReader,
    PacketType,
    Status,
    design_packet,
    read_design,
    read_status,
    status_packet,
    with_dropped,
)

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "openr-wire.md"


def test_a_header_has_its_documented_bytes() -> None:
    packet = Packet(type=2, model=7, sequence=0x01020304, dropped=5, time=0x0807060504030201, body=b"\xff\xfe")
    assert packet.pack() == bytes.fromhex("4e4d4f5201000200220000000700000004030201050000000102030405060708fffe")
    assert with_dropped(packet.pack(), 258)[20:24] == b"\x02\x01\x00\x00"


@pytest.mark.parametrize(("name", "length"), [("ers7", 10496), ("ers210", 6976)])
def test_a_design_tells_every_primitive_at_its_documented_place(name: str, length: int) -> None:
    model = model_named(name)
    data = design_packet(model, pictures=True, lock_step=True)
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
    (packet,) = PacketReader().feed(design_packet(model, pictures=False))
    design = read_design(packet.body)
    assert packet.type == PacketType.DESIGN
    assert packet.model == 210
    assert design.design == "ERS-210"
    assert (design.sensors, design.image, design.image_period, design.lock_step) == (31, (176, 144), 0, False)
    assert [record.locator for record in design.primitives] == list(model.ids)
    with pytest.raises(PacketError, match="primitives"):
        read_design(packet.body[:-1])
    with pytest.raises(PacketError, match="at least"):
        read_design(b"ERS-7")


def test_a_status_has_its_documented_bytes() -> None:
    status = Status(command=7, channel=2, event=Event.DROPPED, frame=100)
    data = status_packet(7, 3, 800000, status)
    assert len(data) == 48
    assert data[32:] == struct.pack("<4I", 7, 2, 3, 100)
    assert struct.unpack_from("<HHIIIIQ", data, 4) == (1, 4, 48, 7, 3, 0, 800000)
    assert read_status(data[32:]) == status
    with pytest.raises(PacketError, match="STATUS"):
        read_status(data[32:40])


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 50), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_packets_come_out_of_a_stream_however_it_is_cut(bodies: list[bytes], cuts: list[int]) -> None:
    packets = [Packet(type=k, sequence=k, model=7, time=k, body=body) for k, body in enumerate(bodies)]
    stream = b"".join(packet.pack() for packet in packets)
    reader, found, start, turn = PacketReader(), [], 0, 0
    while start < len(stream):
        size = cuts[turn % len(cuts)]
        found += reader.feed(stream[start : start + size])
        start, turn = start + size, turn + 1
    assert found == packets
    assert not reader._kept
    assert reader.problem is None


@pytest.mark.parametrize(
    ("at", "value", "problem"),
    [(0, b"X", "begins with"), (4, b"\x02", "version 2"), (8, b"\x1f", "31 bytes"), (9, b"\xff", "announced")],
)
def test_a_header_without_sense_loses_the_stream(at: int, value: bytes, problem: str) -> None:
    good = bytearray(Packet(type=20, body=b"abcd").pack())
    good[at : at + 1] = value
    reader = PacketReader(longest=16384)
    assert reader.feed(bytes(good)) == []
    assert reader.problem is not None
    assert problem in reader.problem
    assert reader.feed(Packet(type=20).pack()) == []


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    reader = PacketReader(longest=128)
    packets = reader.feed(data)
    assert len(reader._kept) <= 128
    assert all(len(packet.body) <= 96 for packet in packets)


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
