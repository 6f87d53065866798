"""PNG files of 8-bit RGB pictures, read and written with nothing but zlib (ISO/IEC 15948).

    data = encoded(picture)                 # (height, width, 3) uint8 -> bytes
    picture = decoded(data)                 # ValueError says what is wrong with other bytes

Everything that cameras and drawing programs write as plain RGB is read: all five filters, any number of IDAT chunks,
checksums looked at. Grey, palettes, transparency, 16 bits and interlacing are told, not guessed at: they are no
pictures of a robot's camera. What is drawn on screens and pages goes through `view`.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nutmeg.base.arrays import Bytes

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOURS = {0: "grey", 2: "RGB", 3: "a palette", 4: "grey with transparency", 6: "RGB with transparency"}
RGB = 2
MOST = 8192
"""Pixels on a side of the largest picture that is read."""


def encoded(picture: Bytes) -> bytes:
    """A picture (height, width, 3) as the bytes of a PNG file."""
    height, width = picture.shape[:2]
    differences = np.diff(picture, axis=0, prepend=np.zeros((1, width, 3), np.uint8))  # filter 2: what is above
    rows = np.concatenate([np.full((height, 1), 2, np.uint8), differences.reshape(height, -1)], axis=1)
    head = struct.pack(">IIBBBBB", width, height, 8, RGB, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(name, content) for name, content in parts)


def decoded(data: bytes) -> Bytes:
    """The picture (height, width, 3) in the bytes of a PNG file."""
    if not data.startswith(SIGNATURE):
        raise ValueError("it is no PNG file")
    chunks = list(_chunks(data))
    if not chunks or chunks[0][0] != b"IHDR" or len(chunks[0][1]) != 13:
        raise ValueError("it has no head")
    width, height, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
    if bits != 8 or colour != RGB or interlaced:
        kind = f"{COLOURS.get(colour, 'unknown colours')}, {bits} bits" + (", interlaced" if interlaced else "")
        raise ValueError(f"it has {kind}; needed is RGB of 8 bits each, not interlaced")
    if not (0 < width <= MOST and 0 < height <= MOST):
        raise ValueError(f"it has {width} x {height} pixels; {MOST} on a side are the most")
    size = height * (1 + 3 * width)
    try:
        packed = b"".join(content for name, content in chunks if name == b"IDAT")
        flat = zlib.decompressobj().decompress(packed, size)
    except zlib.error as error:
        raise ValueError(f"its pixels cannot be unpacked ({error})") from None
    if len(flat) != size:
        raise ValueError(f"it has {len(flat)} bytes of pixels; {size} are needed")
    return _unfiltered(np.frombuffer(flat, np.uint8).reshape(height, 1 + 3 * width), width)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names and contents of chunks up to the last."""
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        name, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if len(data) < at + 12 + length:
            break
        if struct.unpack_from(">I", data, at + 8 + length)[0] != zlib.crc32(name + content):
            raise ValueError(f"its part {name.decode('latin-1')} is damaged (checksum)")
        yield name, content
        if name == b"IEND":
            return
        at += 12 + length
    raise ValueError("it ends too early")


def _unfiltered(rows: Bytes, width: int) -> Bytes:
    """Pixels (height, width, 3) from filtered rows, each begun by the number of its filter."""
    out = np.zeros((len(rows) + 1, width, 3), np.uint8)  # the row above the first is black
    for number, row in enumerate(rows, 1):
        above, coded = out[number - 1], row[1:].reshape(width, 3)
        match int(row[0]):
            case 0:
                out[number] = coded
            case 1:
                out[number] = np.cumsum(coded, axis=0, dtype=np.uint8)
            case 2:
                out[number] = coded + above
            case 3 | 4:
                out[number] = _guessed(coded, above, average=row[0] == 3)
            case unknown:
                raise ValueError(f"it has a row of the filter {unknown}; 0 to 4 are known")
    return out[1:]


def _guessed(coded: Bytes, above: Bytes, *, average: bool) -> Bytes:
    """A row of the filters that need each pixel's left neighbour: the mean with what is above, or Paeth's choice."""
    out = [0, 0, 0]  # the pixel left of the first is black
    up = [0, 0, 0, *above.ravel().tolist()]
    for k, value in enumerate(coded.ravel().tolist()):
        left, top, corner = out[k], up[k + 3], up[k]
        if average:
            guess = (left + top) // 2
        else:
            by_left, by_top, by_corner = abs(top - corner), abs(left - corner), abs(left + top - 2 * corner)
            guess = left if by_left <= by_top and by_left <= by_corner else top if by_top <= by_corner else corner
        out.append((value + guess) & 255)
    return np.array(out[3:], np.uint8).reshape(coded.shape)
