"""PNG files against another program's (Pillow): both ways, every filter, and damaged ones."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from nutmeg.reality.logs.pictures import SIGNATURE, _chunk, decoded, encoded

PICTURE = np.random.default_rng(2).integers(0, 255, (11, 7, 3), dtype=np.uint8)


def test_what_is_written_is_read_by_others_and_the_other_way_round() -> None:
    with Image.open(io.BytesIO(encoded(PICTURE))) as image:
        assert image.mode == "RGB"
        assert np.array_equal(np.asarray(image), PICTURE)
    smooth = np.cumsum(np.ones((40, 60, 3)), axis=1).astype(np.uint8) + np.arange(40, dtype=np.uint8)[:, None, None]
    for picture in (PICTURE, smooth):
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "PNG", optimize=True)
        assert np.array_equal(decoded(file.getvalue()), picture)


def filtered(picture: np.ndarray, number: int) -> bytes:
    """A file in which every row has the same filter, pixel by pixel as the standard says."""
    height, width = picture.shape[:2]
    old = np.zeros((height + 1, width + 1, 3), int)
    old[1:, 1:] = picture
    rows = b""
    for y in range(1, height + 1):
        row = bytearray([number])
        for x in range(1, width + 1):
            for a, b, c, now in zip(old[y, x - 1], old[y - 1, x], old[y - 1, x - 1], old[y, x], strict=True):
                paeth = min((a, b, c), key=lambda one: abs(int(a + b - c) - int(one)))
                row.append(int(now - (0, a, b, (a + b) // 2, paeth)[number]) & 255)
        rows += bytes(row)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = zlib.compress(rows)
    parts = [(b"IHDR", head), (b"IDAT", packed[:9]), (b"IDAT", packed[9:]), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(*part) for part in parts)


@pytest.mark.parametrize("number", range(5))
def test_every_filter_is_undone(number: int) -> None:
    data = filtered(PICTURE, number)
    with Image.open(io.BytesIO(data)) as image:
        assert np.array_equal(np.asarray(image), PICTURE)
    assert np.array_equal(decoded(data), PICTURE)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"GIF89a", "no PNG file"),
        (encoded(PICTURE)[:-20], "ends too early"),
        (encoded(PICTURE).replace(b"IDAT", b"IDOT"), "checksum"),
        (SIGNATURE + _chunk(b"IEND", b""), "no head"),
        (SIGNATURE + _chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 16, 6, 0, 0, 1)) + _chunk(b"IEND", b""), "16 bits"),
        (
            SIGNATURE + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 9**6, 8, 2, 0, 0, 0)) + _chunk(b"IEND", b""),
            "the most",
        ),
        (SIGNATURE + _chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)) + _chunk(b"IEND", b""), "0 bytes"),
    ],
)
def test_damaged_and_other_files_are_told(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decoded(data)
