"""Packets of the OPEN-R streams: the header, what tells the robot's design, and cutting a stream into packets.

    packet = design_packet(model_named("ers7"), pictures=True)
    reader = PacketReader(longest=16384)
    for packet in reader.feed(socket.recv(65536)):
        packet.type, packet.sequence, packet.body
    if reader.problem is not None:
        ...                                  # the stream is lost; disconnect, and say why

Every byte is told in docs/reference/openr-wire.md. All numbers are little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from nutmeg.errors import NutmegError
from nutmeg.net.openr.models import FRAME, FRAMES, Model

MAGIC = b"NMOR"
VERSION = 1
HEADER = struct.Struct("<4sHHIIIIQ")
"""magic, version, type, length, model, sequence, dropped, time"""
HEADER_SIZE = HEADER.size
LONGEST_COMMAND = 16384
"""The longest packet of a client, bytes."""
LONGEST = 65536
"""The longest packet of a server, bytes."""

_DESIGN = struct.Struct("<32s8I")
_PRIMITIVE = struct.Struct("<128s4I6HI")
_STATUS = struct.Struct("<4I")


class PacketError(NutmegError):
    """A packet whose inside is not what its type says."""


class PacketType(IntEnum):
    """What a packet is."""

    DESIGN = 1
    SENSORS = 2
    IMAGE = 3
    STATUS = 4
    COMMANDS = 16
    GAINS = 17
    POWER = 18
    CAMERA = 19
    STEP = 20


class Event(IntEnum):
    """What became of a command vector."""

    BEGUN = 1
    FINISHED = 2
    DROPPED = 3
    REFUSED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """A packet of either direction."""

    type: int
    model: int = 0
    sequence: int = 0
    dropped: int = 0
    time: int = 0
    """[microseconds]"""
    body: bytes = b""

    def pack(self) -> bytes:
        """Its bytes."""
        return header(self.type, len(self.body), self.model, self.sequence, self.dropped, self.time) + self.body


def header(type_: int, body: int, model: int = 0, sequence: int = 0, dropped: int = 0, time: int = 0) -> bytes:
    """The header of a packet whose body has `body` bytes."""
    counts = (count & 0xFFFFFFFF for count in (sequence, dropped))
    return HEADER.pack(MAGIC, VERSION, type_, HEADER_SIZE + body, model, *counts, time)


def with_dropped(packet: bytes, dropped: int) -> bytes:
    """A packet that tells how many were dropped before it."""
    return packet[:20] + struct.pack("<I", dropped & 0xFFFFFFFF) + packet[24:]


class PacketReader:
    """Cuts a stream of bytes into packets; a header that makes no sense loses the stream."""

    def __init__(self, longest: int = LONGEST) -> None:
        """A reader of packets of at most `longest` bytes."""
        self.longest = longest
        """Packets longer than this lose the stream, bytes."""
        self.problem: str | None = None
        """Why nothing more can be read from this stream, once that is so."""
        self._kept = bytearray()

    @property
    def waiting(self) -> int:
        """Bytes of a packet that is not complete yet."""
        return len(self._kept)

    def feed(self, data: bytes) -> list[Packet]:
        """The packets that are complete once `data` has arrived; after a problem, none."""
        if self.problem is not None:
            return []
        self._kept += data
        packets: list[Packet] = []
        start = 0
        while len(self._kept) - start >= HEADER_SIZE:
            magic, version, type_, length, model, sequence, dropped, time = HEADER.unpack_from(self._kept, start)
            self.problem = self._wrong(magic, version, length)
            if self.problem is not None:
                self._kept.clear()
                return packets
            if len(self._kept) - start < length:
                break
            body = bytes(self._kept[start + HEADER_SIZE : start + length])
            packets.append(Packet(type=type_, model=model, sequence=sequence, dropped=dropped, time=time, body=body))
            start += length
        del self._kept[:start]
        return packets

    def _wrong(self, magic: bytes, version: int, length: int) -> str | None:
        if magic != MAGIC:
            return f"sent {magic!r} where a packet begins with {MAGIC!r}"
        if version != VERSION:
            return f"speaks version {version} of the protocol; this is version {VERSION}"
        if not HEADER_SIZE <= length <= self.longest:
            return f"announced a packet of {length} bytes; {HEADER_SIZE} to {self.longest} are allowed"
        return None


@dataclass(frozen=True, kw_only=True)
class PrimitiveRecord:
    """A primitive as the DESIGN packet tells it."""

    locator: str
    number: int
    kind: int
    data_type: int
    command_type: int
    gains: tuple[int, ...]
    """P, I, D and their shifts."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """What the DESIGN packet tells."""

    design: str
    sensors: int
    """How many primitives are in the sensor vector."""
    image: tuple[int, int]
    image_period: int
    """[microseconds], 0 if there are no pictures"""
    lock_step: bool
    primitives: tuple[PrimitiveRecord, ...]


def design_packet(model: Model, *, pictures: bool = True, lock_step: bool = False) -> bytes:
    """The first packet of a connection."""
    period = model.image_period if pictures else 0
    counts = (len(model.primitives), len(model.sensors), FRAME, FRAMES, *model.image, period, int(lock_step))
    records = [
        _PRIMITIVE.pack(
            primitive.locator.encode("ascii"),
            number,
            primitive.kind,
            primitive.data_type,
            primitive.command_type,
            *model.standard_gains(number).numbers,
            0,
        )
        for number, primitive in enumerate(model.primitives, 1)
    ]
    body = _DESIGN.pack(model.design.encode("ascii"), *counts) + b"".join(records)
    return Packet(type=PacketType.DESIGN, model=model.model, body=body).pack()


def read_design(body: bytes) -> Design:
    """What the body of a DESIGN packet tells."""
    if len(body) < _DESIGN.size:
        raise PacketError(f"a DESIGN packet has a body of {len(body)} bytes; at least {_DESIGN.size} are needed.")
    name, count, sensors, _, _, width, height, period, lock_step = _DESIGN.unpack_from(body)
    if len(body) != _DESIGN.size + count * _PRIMITIVE.size:
        raise PacketError(f"a DESIGN packet announces {count} primitives, but has a body of {len(body)} bytes.")
    records = []
    for raw in _PRIMITIVE.iter_unpack(body[_DESIGN.size :]):
        locator, number, kind, data_type, command_type, *gains, _ = raw
        records.append(
            PrimitiveRecord(
                locator=_text(locator),
                number=number,
                kind=kind,
                data_type=data_type,
                command_type=command_type,
                gains=tuple(gains),
            )
        )
    return Design(
        design=_text(name),
        sensors=sensors,
        image=(width, height),
        image_period=period,
        lock_step=bool(lock_step),
        primitives=tuple(records),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What became of a command vector."""

    command: int
    """Sequence of its packet."""
    channel: int
    event: int
    frame: int
    """The frame in which that happened."""


def status_packet(model: int, sequence: int, time: int, status: Status) -> bytes:
    """A STATUS packet."""
    body = _STATUS.pack(status.command, status.channel, status.event, status.frame & 0xFFFFFFFF)
    return Packet(type=PacketType.STATUS, model=model, sequence=sequence, time=time, body=body).pack()


def read_status(body: bytes) -> Status:
    """What the body of a STATUS packet tells."""
    if len(body) != _STATUS.size:
        raise PacketError(f"a STATUS packet has a body of {len(body)} bytes; {_STATUS.size} are needed.")
    command, channel, event, frame = _STATUS.unpack(body)
    return Status(command=command, channel=channel, event=event, frame=frame)


def _text(raw: bytes) -> str:
    try:
        return raw.split(b"\0", 1)[0].decode("ascii")
    except UnicodeDecodeError:
        raise PacketError(f"a name is {raw[:32]!r}; names are ASCII.") from None
