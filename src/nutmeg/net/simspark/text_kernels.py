r"""Numbers to text and text to numbers, compiled: nearly all that a server of twenty-two robots reads and writes.

    text = fill(b"(ax \x00)(ay \x00)", np.array([1.5, -0.004]))           # b"(ax 1.50)(ay -0.00)"
    found = motors(b"(he1 0.5)(lle3 -1.2)", 22)                             # (22,), NaN where nothing is told
    found, syn = motors_and_syn(b"(he1 0.5)(syn)", 22)

`fill` writes what C's `%.2f` writes, to the last digit: a number times a hundred is rounded by its exact value, which
Dekker's product has in two floating-point numbers. `motors` reads decimals of up to fifteen digits and ten decimals,
which one division gives exactly as `float` does; of anything else it says that it cannot read it.

Text is written into arrays of bytes that begin with four bytes for a message's length. A number that is none, or too
large, is left there as a hole with the number's own eight bytes after it, and written by Python (`written`).
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import inlined, kernel
from nutmeg.match.percept import EFFECTORS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Ints

    Text = NDArray[np.uint8]

HOLE = b"\x00"
"""Where a number belongs."""
_LARGEST = 1e13
"""Numbers from here on are written by Python."""
WIDEST = 17
"""Characters of a number at most: a sign, thirteen digits, a point and two more."""
START = 4
"""Where text begins, after its length."""
_MOST_DIGITS, _MOST_DECIMALS = 15, 10
_SPLIT = 134217729.0  # 2^27 + 1
_POWERS = np.array([10.0**k for k in range(_MOST_DECIMALS + 1)])
_NOTHING, _MOTORS, _SYN = 0, 1, 2
"""What a message has been found to be: none of these, motors, and `(syn)` at its end; added up."""


def fill(template: bytes, values: Floats) -> bytes:
    """The template with numbers of two decimals in its holes; there are as many of both."""
    out = np.empty(START + len(template) + WIDEST * len(values), np.uint8)
    return written(out, _fill(np.frombuffer(template, np.uint8), values, out))[START:]


def written(out: Text, end: int) -> bytes:
    """The message that has been written into an array, with its length before it; `end` is negative if it has holes."""
    if end >= 0:
        return out[:end].tobytes()
    pieces, place, text = [], START, out[:-end].tobytes()
    while (hole := text.find(HOLE, place)) >= 0:
        (number,) = struct.unpack_from("=d", text, hole + 1)
        pieces += [text[place:hole], b"%.2f" % number]
        place = hole + 9
    told = b"".join([*pieces, text[place:]])
    return struct.pack(">I", len(told)) + told


def motors(message: bytes, joints: int) -> Floats | None:
    """The speeds in a message of nothing but sound motors, (joints,); None of any other."""
    speeds = np.empty(joints)
    return speeds if _motors(np.frombuffer(message, np.uint8), _KEYS, speeds) == _MOTORS else None


def motors_and_syn(message: bytes, joints: int) -> tuple[Floats | None, bool] | None:
    """The speeds in a message of motors, if it has any, and whether `(syn)` follows them; None of any other message."""
    speeds = np.empty(joints)
    found = _motors(np.frombuffer(message, np.uint8), _KEYS, speeds)
    return None if found == _NOTHING else (speeds if found & _MOTORS else None, found >= _SYN)


@kernel
def _fill(template: Text, values: Floats, out: Text) -> int:
    """Writes a whole template, and returns where it ends, see `finish`."""
    out[0] = 0
    return finish(put_template(template, 0, len(template), values, 0, out, START), out)


@inlined
def put_template(text: Text, start: int, stop: int, values: Floats, first: int, out: Text, place: int) -> int:
    """Writes the template text[start:stop] with values from `first` on; returns where the text goes on."""
    for k in range(start, stop):
        byte = text[k]
        if byte != 0:
            out[place] = byte
            place += 1
        else:
            place = put_number(values[first], out, place)
            first += 1
    return place


@inlined
def put_text(text: Text, out: Text, place: int) -> int:
    """Writes a text; returns where it goes on."""
    out[place : place + len(text)] = text
    return place + len(text)


@kernel
def finish(place: int, out: Text) -> int:
    """Writes the length of what ends at a place before it; returns that place, negative if there are holes."""
    if out[0] != 0:
        return -place
    for k in range(START):
        out[k] = (place - START) >> 8 * (START - 1 - k) & 255
    return place


@kernel
def put_number(value: float, out: Text, place: int) -> int:
    """Writes a number with two decimals, or leaves a hole with its bytes and notes that; returns where text goes on."""
    if not abs(value) < _LARGEST:
        raw = np.array([value]).view(np.uint8)
        out[0], out[place] = 1, 0
        for k in range(8):
            out[place + 1 + k] = raw[k]
        return place + 9
    if math.copysign(1.0, value) < 0.0:
        out[place] = 45
        place += 1
    return _write(_hundredths(abs(value)), out, place)


@kernel
def _hundredths(value: float) -> int:
    """A number times a hundred, rounded to the nearest, and halves to even, as its exact value says."""
    product = value * 100.0
    high = _SPLIT * value - (_SPLIT * value - value)
    low = value - high
    error = (high * 100.0 - product) + low * 100.0
    whole = math.floor(product)
    rest = product - whole
    if rest > 0.5 or (rest == 0.5 and (error > 0.0 or (error == 0.0 and whole % 2.0 == 1.0))):
        return int(whole) + 1
    return int(whole)


@kernel
def _write(hundredths: int, out: Text, place: int) -> int:
    """Writes hundredths as a number with two decimals; returns where the text goes on."""
    whole = hundredths // 100
    digits, left = 1, whole
    while left >= 10:
        left //= 10
        digits += 1
    for k in range(digits - 1, -1, -1):
        out[place + k] = 48 + whole % 10
        whole //= 10
    place += digits
    out[place] = 46
    out[place + 1] = 48 + hundredths // 10 % 10
    out[place + 2] = 48 + hundredths % 10
    return place + 3


@kernel
def _motors(text: Text, keys: Ints, speeds: Floats) -> int:
    """Reads `(name number)` one after the other, and `(syn)` at the end; what that was, if all names are known."""
    place, size, column, found = 0, len(text), -1, _NOTHING
    speeds[:] = np.nan
    while place < size:
        if text[place] != 40:
            return _NOTHING
        place += 1
        key = 0
        while place < size and text[place] != 32 and key < 1 << 32:
            key = key << 8 | int(text[place])
            place += 1
        if place == size and key == _SYN_KEY:
            return found | _SYN
        place += 1
        column = _column(key, keys[: len(speeds)], column)
        if column < 0 or place >= size:
            return _NOTHING
        place, value = _number(text, place)
        if place >= size or text[place] != 41 or math.isnan(value):
            return _NOTHING
        speeds[column] = value
        found = _MOTORS
        place += 1
    return found


@kernel
def _column(key: int, keys: Ints, before: int) -> int:
    """Where a motor has its column, beginning with the one after the last; -1 of none."""
    for step in range(1, len(keys) + 1):
        column = (before + step) % len(keys)
        if keys[column] == key:
            return column
    return -1


@kernel
def _number(text: Text, place: int) -> tuple[int, float]:
    """Reads a plain decimal; where the text goes on, and its value, or NaN if it is no such number."""
    sign = 1.0
    if text[place] == 45 or text[place] == 43:
        sign = -1.0 if text[place] == 45 else 1.0
        place += 1
    mantissa, digits, decimals, point = 0, 0, 0, False
    while place < len(text) and digits <= _MOST_DIGITS:
        byte = int(text[place])
        if byte == 46 and not point:
            point = True
        elif 48 <= byte <= 57:
            mantissa = mantissa * 10 + (byte - 48)
            digits += 1
            decimals += point
        else:
            break
        place += 1
    if digits == 0 or digits > _MOST_DIGITS or decimals > _MOST_DECIMALS:
        return place, np.nan
    return place, sign * (mantissa / _POWERS[decimals])


def _key(name: str) -> int:
    """A name of at most four letters as a number."""
    return int.from_bytes(name.encode("ascii"), "big")


_SYN_KEY = _key("syn)")
_KEYS = np.array([_key(name) for name in EFFECTORS], np.int64)
