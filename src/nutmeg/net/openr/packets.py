"""Packets of the OPEN-R streams: the header, the robot's design, sensor vectors, pictures and status reports.

    packet = design_packet(model_named("ers7"), pictures=True)
    reader = PacketReader(longest=16384)
    for packet in reader.feed(socket.recv(65536)):
        packet.type, packet.sequence, packet.body
    if reader.problem is not None:
        ...                                  # the stream is lost; disconnect, and say why

    vector = SensorVector(model)             # one buffer, filled again and again
    vector.values["value"][k, f] = 523599    # primitive k, frame f of four
    packet = vector.packet(sequence=0, time=32000)

    planes = ycrcb(picture)                  # (height, width, 3) RGB -> three planes Y, Cr, Cb
    packets = image_packets(model, planes, sequence=0, frame=12, time=100000)

Every byte is described in docs/reference/openr-wire.md; sensor vectors and pictures are laid out as OPEN-R has them in
memory. All numbers are little-endian. Colours are converted by ITU-R BT.601 in full range, in whole numbers. What
clients send is in `commands`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nutmeg.base.errors import NutmegError
from nutmeg.net.openr.models import FRAME, FRAMES, Kind, Model

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes


MAGIC = b"NMOR"
VERSION = 1
_HEADER = struct.Struct("<4sHHIIIIQ")
"""magic, version, type, length, model, sequence, dropped, time"""
_HEADER_SIZE = _HEADER.size
MAX_COMMAND = 16384
"""The longest packet of a client [bytes]."""
_MAX_PACKET = 65536
"""The longest packet of a server [bytes]."""

_DESIGN = struct.Struct("<32s8I")
_PRIMITIVE = struct.Struct("<128s4I6HI")
_STATUS = struct.Struct("<4I")


class PacketError(NutmegError):
    """A packet whose inside is not what its type says."""


class PacketType(IntEnum):
    """Types of packets."""

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
    """Outcomes of a command vector."""

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
        """The bytes of the packet as they go over the wire."""
        return header(self.type, len(self.body), self.model, self.sequence, self.dropped, self.time) + self.body


def header(type_: int, body: int, model: int = 0, sequence: int = 0, dropped: int = 0, time: int = 0) -> bytes:
    """The header of a packet whose body has `body` bytes."""
    counts = (count & 0xFFFFFFFF for count in (sequence, dropped))
    return _HEADER.pack(MAGIC, VERSION, type_, _HEADER_SIZE + body, model, *counts, time)


def with_dropped(packet: bytes, dropped: int) -> bytes:
    """A packet with the number of packets that were dropped before it."""
    return packet[:20] + struct.pack("<I", dropped & 0xFFFFFFFF) + packet[24:]


class PacketReader:
    """Cuts a stream of bytes into packets; a header that makes no sense loses the stream."""

    def __init__(self, longest: int = _MAX_PACKET) -> None:
        """A reader of packets of at most `longest` bytes."""
        self.longest = longest
        """Packets longer than this lose the stream, bytes."""
        self.problem: str | None = None
        """Why nothing more can be read from this stream, once that is so."""
        self._kept = bytearray()

    def feed(self, data: bytes) -> list[Packet]:
        """The packets that are complete once `data` has arrived; after a problem, none."""
        if self.problem is not None:
            return []
        self._kept += data
        packets: list[Packet] = []
        start = 0
        while len(self._kept) - start >= _HEADER_SIZE:
            magic, version, type_, length, model, sequence, dropped, time = _HEADER.unpack_from(self._kept, start)
            self.problem = self._wrong(magic, version, length)
            if self.problem is not None:
                self._kept.clear()
                return packets
            if len(self._kept) - start < length:
                break
            body = bytes(self._kept[start + _HEADER_SIZE : start + length])
            packets.append(Packet(type=type_, model=model, sequence=sequence, dropped=dropped, time=time, body=body))
            start += length
        del self._kept[:start]
        return packets

    def _wrong(self, magic: bytes, version: int, length: int) -> str | None:
        if magic != MAGIC:
            return f"sent {magic!r} where a packet begins with {MAGIC!r}"
        if version != VERSION:
            return f"speaks version {version} of the protocol; this is version {VERSION}"
        if not _HEADER_SIZE <= length <= self.longest:
            return f"announced a packet of {length} bytes; {_HEADER_SIZE} to {self.longest} are allowed"
        return None


class PrimitiveRecord(NamedTuple):
    """A primitive in the DESIGN packet."""

    locator: str
    number: int
    kind: int
    data_type: int
    command_type: int
    gains: tuple[int, ...]
    """P, I, D and their shifts."""


class Design(NamedTuple):
    """The content of a DESIGN packet."""

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
    """Reads the body of a DESIGN packet."""
    if len(body) < _DESIGN.size:
        raise PacketError(f"a DESIGN packet has a body of {len(body)} bytes; at least {_DESIGN.size} are needed.")
    name, count, sensors, _, _, width, height, period, lock_step = _DESIGN.unpack_from(body)
    if len(body) != _DESIGN.size + count * _PRIMITIVE.size:
        raise PacketError(f"a DESIGN packet announces {count} primitives, but has a body of {len(body)} bytes.")
    primitives = tuple(
        PrimitiveRecord(_text(locator), number, kind, data_type, command_type, tuple(gains))
        for locator, number, kind, data_type, command_type, *gains, _ in _PRIMITIVE.iter_unpack(body[_DESIGN.size :])
    )
    return Design(_text(name), sensors, (width, height), period, bool(lock_step), primitives)


class Status(NamedTuple):
    """The outcome of a command vector."""

    command: int
    """Sequence of its packet."""
    channel: int
    event: int
    frame: int
    """The frame in which that happened, counted round."""


def status_packet(model: int, sequence: int, time: int, status: Status) -> bytes:
    """A STATUS packet."""
    return Packet(type=PacketType.STATUS, model=model, sequence=sequence, time=time, body=_STATUS.pack(*status)).pack()


def read_status(body: bytes) -> Status:
    """Reads the body of a STATUS packet."""
    if len(body) != _STATUS.size:
        raise PacketError(f"a STATUS packet has a body of {len(body)} bytes; {_STATUS.size} are needed.")
    return Status(*_STATUS.unpack(body))


def _text(raw: bytes) -> str:
    try:
        return raw.split(b"\0", 1)[0].decode("ascii")
    except UnicodeDecodeError:
        raise PacketError(f"a name is {raw[:32]!r}; names are ASCII.") from None


OPTIONAL = 128
"""Size of the optional area, bytes."""
_MAX_FRAMES = 16
"""Frames that the memory of a primitive has room for."""

VECTOR_INFO = np.dtype(
    [
        *((name, "<u4") for name in ("memRegionID", "physAddr", "offset", "totalSize", "type", "infoOffset")),
        *((name, "<u4") for name in ("infoSize", "maxNumData", "numData", "syncKey", "wait", "optOffset", "optSize")),
        ("padding", "<u4", 3),
        ("optional", "u1", OPTIONAL),
    ]
)
"""ODataVectorInfo, 192 bytes."""
FRAME_INFO = np.dtype(
    [
        *((name, "<u4") for name in ("type", "primitiveID", "frameNumber", "numFrames")),
        *((name, "<u4") for name in ("frameSize", "dataOffset", "dataSize", "padding")),
    ]
)
"""OSensorFrameInfo and OCommandInfo, 32 bytes."""
VALUE = np.dtype(
    [
        ("value", "<i4"),
        ("signal", "<u2"),
        ("pwmDuty", "<i2"),
        ("refValue", "<i4"),
        ("refSignal", "<u2"),
        ("padding", "<u2"),
    ]
)
"""OJointValue, 16 bytes; other sensors use value and signal alone."""
_SENSOR_FRAME_VECTOR = 1025
_YCRCB = 19

_IMAGE_INFO = struct.Struct("<12I")
_IMAGE_HEADER = _IMAGE_INFO.size
"""Bytes of an IMAGE packet between its header and the pixels."""


def _vector_dtype(count: int) -> np.dtype[Any]:
    """An OSensorFrameVectorData with a number of primitives."""
    return np.dtype([("vectorInfo", VECTOR_INFO), ("info", FRAME_INFO, count), ("data", VALUE, (count, _MAX_FRAMES))])


class SensorVector:
    """The memory of an OSensorFrameVectorData."""

    def __init__(self, model: Model) -> None:
        count = len(model.sensors)
        self._model = model
        self._all: Any = np.zeros(1, _vector_dtype(count))
        info, vector = self._all["info"][0], self._all["vectorInfo"]
        vector["totalSize"], vector["type"] = self._all.dtype.itemsize, _SENSOR_FRAME_VECTOR
        vector["infoOffset"], vector["infoSize"] = VECTOR_INFO.itemsize, FRAME_INFO.itemsize
        vector["maxNumData"] = vector["numData"] = count
        info["type"] = [primitive.data_type for primitive in model.sensors]
        info["primitiveID"] = np.arange(1, count + 1)
        info["numFrames"], info["frameSize"], info["dataSize"] = FRAMES, VALUE.itemsize, VALUE.itemsize * _MAX_FRAMES
        first = VECTOR_INFO.itemsize + count * FRAME_INFO.itemsize
        info["dataOffset"] = first + np.arange(count) * VALUE.itemsize * _MAX_FRAMES
        self.values: Any = self._all["data"][0][:, :FRAMES]
        """Structured array (primitives, 4), live: value, signal, pwmDuty, refValue, refSignal."""

    def echo(self, sync_key: int, offset: int, optional: bytes) -> None:
        """Copies what came with a command vector."""
        vector = self._all["vectorInfo"][0]
        vector["syncKey"], vector["optOffset"], vector["optSize"] = sync_key, offset, len(optional)
        vector["optional"][offset : offset + len(optional)] = np.frombuffer(optional, np.uint8)

    def packet(self, *, sequence: int, time: int) -> bytes:
        """A SENSORS packet with what the memory holds."""
        self._all["info"][0]["frameNumber"] = (sequence * FRAMES) & 0xFFFFFFFF
        body: bytes = self._all.tobytes()
        return header(PacketType.SENSORS, len(body), self._model.model, sequence, 0, time) + body


@dataclass(frozen=True, kw_only=True)
class SensorFrames:
    """The content of a SENSORS packet."""

    frame: int
    """Number of the first frame."""
    sync_key: int
    optional: bytes
    values: Any
    """Structured array (primitives, frames): value, signal, pwmDuty, refValue, refSignal."""


def read_sensors(body: bytes, count: int) -> SensorFrames:
    """Reads the body of a SENSORS packet, for a vector of `count` primitives."""
    layout = _vector_dtype(count)
    if len(body) != layout.itemsize:
        raise PacketError(f"a SENSORS packet has a body of {len(body)} bytes; {layout.itemsize} are needed.")
    whole: Any = np.frombuffer(body, layout)[0]
    vector, info = whole["vectorInfo"], whole["info"]
    frames = int(info["numFrames"][0])
    if int(vector["numData"]) != count or frames > _MAX_FRAMES or int(vector["optSize"]) > OPTIONAL:
        raise PacketError("a SENSORS packet contradicts itself: its counts do not fit its length.")
    first, size = int(vector["optOffset"]), int(vector["optSize"])
    return SensorFrames(
        frame=int(info["frameNumber"][0]),
        sync_key=int(vector["syncKey"]),
        optional=vector["optional"][first : first + size].tobytes(),
        values=whole["data"][:, :frames],
    )


def ycrcb(picture: Bytes) -> Bytes:
    """The planes Y, Cr, Cb of a picture: (height, width, 3) RGB -> (3, height, width)."""
    colours = np.asarray(picture, np.int32)
    red, green, blue = colours[..., 0], colours[..., 1], colours[..., 2]
    half = 1 << 15
    bright = (19595 * red + 38470 * green + 7471 * blue + half) >> 16
    out = np.empty((3, *bright.shape), np.uint8)
    out[0] = bright
    for plane, colour, factor in ((1, red, 46727), (2, blue, 36962)):
        out[plane] = np.clip(128 + ((factor * (colour - bright) + half) >> 16), 0, 255)
    return out


def rgb(planes: Bytes) -> Bytes:
    """The picture that planes Y, Cr, Cb show: (3, height, width) -> (height, width, 3) RGB."""
    bright, red, blue = (np.asarray(plane, np.float64) for plane in planes)
    out = np.empty((*bright.shape, 3))
    out[..., 0] = bright + (red - 128) / 0.713
    out[..., 2] = bright + (blue - 128) / 0.564
    out[..., 1] = (bright - 0.299 * out[..., 0] - 0.114 * out[..., 2]) / 0.587
    return np.clip(np.round(out), 0, 255).astype(np.uint8)


def image_packets(model: Model, planes: Bytes, *, sequence: int, frame: int, time: int) -> tuple[bytes, ...]:
    """The three packets of a picture; `planes` is (3, height, width)."""
    width, height = model.image
    if planes.shape != (3, height, width):
        raise PacketError(f"a picture of {model.design} has planes (3, {height}, {width}), not {planes.shape}.")
    camera = next(k for k, p in enumerate(model.primitives, 1) if p.kind == Kind.FBKIMAGESENSOR)
    size = width * height
    packets = []
    for plane in range(3):
        start = header(PacketType.IMAGE, _IMAGE_HEADER + size, model.model, sequence, 0, time)
        offset = len(start) + _IMAGE_HEADER
        about = (_YCRCB, camera, frame & 0xFFFFFFFF, offset, size, width, height, 0, plane, 3, sequence & 0xFFFF, 0)
        packets.append(start + _IMAGE_INFO.pack(*about) + planes[plane].tobytes())
    return tuple(packets)


class ImagePlane(NamedTuple):
    """One of the three packets of a picture."""

    plane: int
    """Which component the plane holds: 0 Y, 1 Cr, 2 Cb."""
    frame: int
    field_counter: int
    pixels: Bytes
    """Values of the component, (height, width)."""


def read_image(packet: Packet) -> ImagePlane:
    """Reads an IMAGE packet."""
    body = packet.body
    if len(body) < _IMAGE_HEADER:
        raise PacketError(f"an IMAGE packet has a body of {len(body)} bytes; at least {_IMAGE_HEADER} are needed.")
    type_, _, frame, _, size, width, height, _, plane, planes, counter, _ = _IMAGE_INFO.unpack_from(body)
    if type_ != _YCRCB or planes != 3 or plane > 2 or size != width * height or len(body) != _IMAGE_HEADER + size:
        raise PacketError("an IMAGE packet contradicts itself: type, plane or size are wrong.")
    pixels = np.frombuffer(body, np.uint8, offset=_IMAGE_HEADER).reshape(height, width)
    return ImagePlane(plane, frame, counter, pixels)
