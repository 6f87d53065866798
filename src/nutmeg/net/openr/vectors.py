"""Sensor vectors and pictures as OPEN-R lays them out in memory.

    vector = SensorVector(model)                       # one buffer, filled again and again
    vector.values["value"][k, f] = 523599              # primitive k, frame f of four
    packet = vector.packet(sequence=0, time=32000, dropped=0)
    frames = read_sensors(packet.body, model)

    y, cr, cb = ycrcb(picture)                         # (height, width, 3) RGB -> three planes
    packets = image_packets(model, planes, sequence=0, frame=12, time=100000)

Layouts: docs/reference/openr-wire.md. The conversion of colours is ITU-R BT.601 in full range, in whole numbers.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.net.openr.models import FRAMES, Kind, Model
from nutmeg.net.openr.packets import Packet, PacketError, PacketType, header

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes


OPTIONAL = 128
"""Size of the optional area, bytes."""
MAX_FRAMES = 16
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
SENSOR_FRAME_VECTOR = 1025
YCRCB = 19

_IMAGE_INFO = struct.Struct("<12I")
IMAGE_HEADER = _IMAGE_INFO.size
"""Bytes of an IMAGE packet between its header and the pixels."""


def vector_dtype(count: int) -> np.dtype[Any]:
    """An OSensorFrameVectorData with so many primitives."""
    return np.dtype([("vectorInfo", VECTOR_INFO), ("info", FRAME_INFO, count), ("data", VALUE, (count, MAX_FRAMES))])


class SensorVector:
    """The memory of an OSensorFrameVectorData."""

    def __init__(self, model: Model) -> None:
        count = len(model.sensors)
        self._model = model
        self._all: Any = np.zeros(1, vector_dtype(count))
        info, vector = self._all["info"][0], self._all["vectorInfo"]
        vector["totalSize"], vector["type"] = self._all.dtype.itemsize, SENSOR_FRAME_VECTOR
        vector["infoOffset"], vector["infoSize"] = VECTOR_INFO.itemsize, FRAME_INFO.itemsize
        vector["maxNumData"] = vector["numData"] = count
        info["type"] = [primitive.data_type for primitive in model.sensors]
        info["primitiveID"] = np.arange(1, count + 1)
        info["numFrames"], info["frameSize"], info["dataSize"] = FRAMES, VALUE.itemsize, VALUE.itemsize * MAX_FRAMES
        first = VECTOR_INFO.itemsize + count * FRAME_INFO.itemsize
        info["dataOffset"] = first + np.arange(count) * VALUE.itemsize * MAX_FRAMES
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
    """What a SENSORS packet tells."""

    frame: int
    """Number of the first frame."""
    sync_key: int
    optional: bytes
    values: Any
    """Structured array (primitives, frames): value, signal, pwmDuty, refValue, refSignal."""


def read_sensors(body: bytes, count: int) -> SensorFrames:
    """What the body of a SENSORS packet tells, for a vector of `count` primitives."""
    layout = vector_dtype(count)
    if len(body) != layout.itemsize:
        raise PacketError(f"a SENSORS packet has a body of {len(body)} bytes; {layout.itemsize} are needed.")
    whole: Any = np.frombuffer(body, layout)[0]
    vector, info = whole["vectorInfo"], whole["info"]
    frames = int(info["numFrames"][0])
    if int(vector["numData"]) != count or frames > MAX_FRAMES or int(vector["optSize"]) > OPTIONAL:
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
        start = header(PacketType.IMAGE, IMAGE_HEADER + size, model.model, sequence, 0, time)
        offset = len(start) + IMAGE_HEADER
        about = (YCRCB, camera, frame & 0xFFFFFFFF, offset, size, width, height, 0, plane, 3, sequence & 0xFFFF, 0)
        packets.append(start + _IMAGE_INFO.pack(*about) + planes[plane].tobytes())
    return tuple(packets)


@dataclass(frozen=True, kw_only=True)
class ImagePlane:
    """One of the three packets of a picture."""

    plane: int
    """0 Y, 1 Cr, 2 Cb."""
    frame: int
    field_counter: int
    pixels: Bytes
    """(height, width)"""


def read_image(packet: Packet) -> ImagePlane:
    """What an IMAGE packet tells."""
    body = packet.body
    if len(body) < IMAGE_HEADER:
        raise PacketError(f"an IMAGE packet has a body of {len(body)} bytes; at least {IMAGE_HEADER} are needed.")
    type_, _, frame, _, size, width, height, _, plane, planes, counter, _ = _IMAGE_INFO.unpack_from(body)
    if type_ != YCRCB or planes != 3 or plane > 2 or size != width * height or len(body) != IMAGE_HEADER + size:
        raise PacketError("an IMAGE packet contradicts itself: type, plane or size are wrong.")
    pixels = np.frombuffer(body, np.uint8, offset=IMAGE_HEADER).reshape(height, width)
    return ImagePlane(plane=plane, frame=frame, field_counter=counter, pixels=pixels)
