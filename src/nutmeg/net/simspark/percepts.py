"""Percepts as SimSpark writes them: order, spaces and two decimals as rcssserver3d 0.7.3 sends them to its agents.

    message = percept_message(percept)       # b"(time (now 22.92))(GS (sl 0) (sr 0) (t 0.00) (pm BeforeKickOff))..."
    writer = PerceptWriter()                 # for many of them
    socket.send(writer.framed(percept))

There is a script for robots with and without toes: what is told after what, with holes for numbers. What is seen has
templates of its own, kept by what is in view. Whoever has toes (type 4) has twenty-four joints.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import inlined, kernel
from nutmeg.match.worlds.physical.percept import EFFECTORS, FEET, JOINTS, PARTS, WITH_TOES, WITHOUT_TOES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.match.rules.play_modes import Side
    from nutmeg.match.worlds.physical.percept import Heard, Percept, Sight

    Text = NDArray[np.uint8]


# ----------------------------------------------------------------------------------------------------
# Numbers to text and text to numbers, compiled: nearly all that a server of twenty-two robots reads and writes.
#
# `fill` writes what C's `%.2f` writes, to the last digit: a number times a hundred is rounded by its exact value,
# which Dekker's product has in two floating-point numbers. `motors` reads decimals of up to fifteen digits and ten
# decimals, which one division gives exactly as `float` does; of anything else it says that it cannot read it.
#
# Text is written into arrays of bytes that begin with four bytes for a message's length. A number that is none, or
# too large, is left there as a hole with the number's own eight bytes after it, and written by Python (`written`).


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


# ----------------------------------------------------------------------------------------------------
# The text of a percept, compiled: a script says what is written after what, and where its numbers come from.
#
# What is seen is written before, by `write_seen`, into an array of its own. Either returns 0 if the array is too
# small.


GYRO, ACC, JOINT, FOOT, SEEN = range(5)
"""Where the numbers of a piece come from; `SEEN` is the whole of what is seen."""
_FIRST = (2, 5, 8, 8 + WITH_TOES)
"""Where the numbers of each source begin, after the two times; see `_numbers`."""
POLAR = b"(pol \0 \0 \0)"


def _joined(pieces: list[bytes]) -> tuple[Text, Ints]:
    """Pieces one after the other, and where each ends."""
    return np.frombuffer(bytearray(b"".join(pieces)), np.uint8), np.cumsum([0, *map(len, pieces)])


_PARTS, _PART_ENDS = _joined([b" (%b %b)" % (part.encode("ascii"), POLAR) for part in PARTS])
_LINE, _ = _joined([b" (L %b %b)" % (POLAR, POLAR)])
_SEE, _ = _joined([b"(See"])


@kernel
def write_percept(
    head: Text,
    now: float,
    clock: float,
    seen: Text,
    seen_end: int,
    text: Text,
    script: Ints,
    gyro: Floats,
    acc: Floats,
    angles: Floats,
    forces: Floats,
    out: Text,
) -> int:
    """Writes a percept; `seen` and `seen_end` are what `write_seen` left, or any array and `START`.

    `head` is a template of the server's time and the game's (s), followed by text without holes.
    script (K, 4) has for each piece its source, the first number there, and where its template is in `text`.
    """
    if len(head) + abs(seen_end) + len(text) + WIDEST * (8 + angles.size + forces.size) > len(out):
        return 0
    numbers, feet = _numbers(now, clock, gyro, acc, angles, forces), len(forces)
    out[0] = 0 if seen_end >= 0 else 1
    place = put_template(head, 0, len(head), numbers, 0, out, START)
    for k in range(len(script)):
        source, first = script[k, 0], script[k, 1]
        if source == SEEN:
            place = put_text(seen[START : abs(seen_end)], out, place)
            continue
        if source == FOOT and (first >= feet or math.isnan(numbers[_FIRST[FOOT] + 6 * first])):
            continue
        number = _FIRST[source] + (6 * first if source == FOOT else first)
        place = put_template(text, script[k, 2], script[k, 3], numbers, number, out, place)
    return finish(place, out)


@kernel
def _numbers(now: float, clock: float, gyro: Floats, acc: Floats, angles: Floats, forces: Floats) -> Floats:
    """All numbers of a percept but those of what is seen, in one row, where `_FIRST` says."""
    row = np.empty(8 + WITH_TOES + forces.size)
    row[0], row[1] = now, clock
    for i in range(3):
        row[2 + i], row[5 + i] = gyro[i], acc[i]
    for i in range(len(angles)):
        row[8 + i] = angles[i]
    for i in range(len(forces)):
        for j in range(6):
            row[8 + WITH_TOES + 6 * i + j] = forces[i, j]
    return row


@kernel
def write_seen(
    truth: Text,
    true_numbers: Floats,
    labels: Text,
    marks: Floats,
    names: Text,
    ends: Ints,
    parts: Floats,
    lines: Floats,
    out: Text,
) -> int:
    """Writes `(See ...)` from the place of a message's length on; negative if there are holes.

    Templates of the true pose and of the landmarks come with their numbers, (n,) and (K, 3). `names` has the beginnings
    of what is told about P players, up to `ends` (P + 1,); a player of whom nothing is in view is left out.
    """
    numbers = true_numbers.size + marks.size + parts.size + lines.size
    fixed = len(truth) + len(labels) + len(names) + len(parts) * len(_PARTS) + len(lines) * len(_LINE)
    if START + 8 + fixed + WIDEST * numbers > len(out):
        return 0
    out[0] = 0
    place = put_text(_SEE, out, START)
    place = put_template(truth, 0, len(truth), true_numbers, 0, out, place)
    place = put_template(labels, 0, len(labels), marks.ravel(), 0, out, place)
    points, columns = parts.ravel(), parts.shape[1]
    for p in range(len(parts)):
        told = False
        for part in range(columns):
            first = 3 * (p * columns + part)
            if math.isnan(points[first]):
                continue
            if not told:
                place = put_text(names[ends[p] : ends[p + 1]], out, place)
                told = True
            place = put_template(_PARTS, _PART_ENDS[part], _PART_ENDS[part + 1], points, first, out, place)
        if told:
            out[place] = 41
            place += 1
    points = lines.ravel()
    for k in range(len(lines)):
        place = put_template(_LINE, 0, len(_LINE), points, 6 * k, out, place)
    out[place] = 41
    return place + 1 if out[0] == 0 else -place - 1


_SEEN_AFTER = 2
"""Joints that are told before what is seen: those of the neck."""
_ROOM = 16384
"""Bytes that a message may have before more room is made for it; nearly all have fewer."""


def percept_message(percept: Percept) -> bytes:
    """The text of a percept, without its length."""
    return PerceptWriter().framed(percept)[START:]


class PerceptWriter:
    """Writes percepts, one after the other."""

    def __init__(self) -> None:
        self._out, self._seen = np.empty(_ROOM, np.uint8), np.empty(_ROOM, np.uint8)

    def framed(self, percept: Percept) -> bytes:
        """The text of a percept with its length before it, ready to be sent."""
        seen_end = START if percept.sight is None else self._write_seen(percept.sight)
        text, script = _script(len(percept.angles))
        game = percept.game
        head = _head(game.mode, game.score_left, game.score_right, game.number, game.side)
        if percept.hears:
            head = _text(head.tobytes() + "".join(map(_heard, percept.hears)).encode("ascii"))
        while True:
            end = write_percept(
                head, percept.time, game.time, self._seen, seen_end, text, script, percept.gyro, percept.acc,
                percept.angles, percept.forces, self._out,
            )  # fmt: skip
            if end:
                return written(self._out, end)
            self._out = np.empty(2 * len(self._out), np.uint8)

    def _write_seen(self, sight: Sight) -> int:
        """Writes what is seen; where it ends, negative if it has holes."""
        truth, numbers = _truth(sight)
        names, ends = _names(sight.teams, sight.numbers)
        while True:
            end = write_seen(
                truth, numbers, _marks(sight.labels), sight.marks, names, ends, sight.parts, sight.lines, self._seen
            )
            if end:
                return end
            self._seen = np.empty(2 * len(self._seen), np.uint8)


@lru_cache(maxsize=256)
def _head(mode: str, left: int, right: int, number: int | None, side: Side | None) -> Text:
    """How a percept begins: a template of time and game time, score, play mode, and perhaps an introduction."""
    who = "" if number is None else introduction(number, side)
    return _text(f"(time (now \0))(GS {who}(sl {left}) (sr {right}) (t \0) (pm {mode}))".encode("ascii"))


def introduction(number: int, side: Side | None) -> str:
    """The number and side, which a player is told once."""
    assert side is not None, "a number is told together with the side"
    return f"(unum {number}) (team {side.word}) "


def _text(text: bytes) -> Text:
    return np.frombuffer(text, np.uint8)


@lru_cache(maxsize=4)
def _script(joints: int) -> tuple[Text, Ints]:
    """What is told of a robot with so many joints: its text, and rows as `percept_kernels.write_percept` wants them."""
    if joints not in (WITHOUT_TOES, WITH_TOES):
        raise ValueError(f"a percept has {joints} joint angles; SimSpark's robots have 22, or 24 with toes.")
    pieces = [
        (GYRO, 0, b"(GYR (n torso) (rt \0 \0 \0))"),
        (ACC, 0, b"(ACC (n torso) (a \0 \0 \0))"),
        *(_joint(name) for name in JOINTS[:_SEEN_AFTER]),
        (SEEN, 0, b""),
    ]
    for name in [n for n in JOINTS[_SEEN_AFTER:] if not n.endswith("lj7")]:
        foot = f"{name[0]}f"
        if name.endswith("lj6"):
            pieces.append(_foot(foot))
        pieces.append(_joint(name))
        if name.endswith("lj6") and joints == WITH_TOES:
            pieces += [_foot(f"{foot}1"), _joint(f"{name[0]}lj7")]
    ends = np.cumsum([len(text) for _, _, text in pieces])
    rows = [
        (source, first, end - len(text), end) for (source, first, text), end in zip(pieces, ends.tolist(), strict=True)
    ]
    return _text(b"".join(text for _, _, text in pieces)), np.array(rows, np.int64)


def _joint(name: str) -> tuple[int, int, bytes]:
    return JOINT, JOINTS.index(name), b"(HJ (n %b) (ax \0))" % name.encode("ascii")


def _foot(name: str) -> tuple[int, int, bytes]:
    return FOOT, FEET.index(name), b"(FRP (n %b) (c \0 \0 \0) (f \0 \0 \0))" % name.encode("ascii")


def _heard(heard: Heard) -> str:
    direction = "self" if heard.direction is None else f"{heard.direction:.2f}"
    return f"(hear {heard.team} {heard.time:.2f} {direction} {heard.message})"


def _truth(sight: Sight) -> tuple[Text, Floats]:
    """Template and values of the true pose, where the server tells it."""
    if sight.my_position is None and sight.my_heading is None and sight.ball_position is None:
        return _NO_TRUTH
    pieces: list[bytes] = []
    values: list[float] = []
    if sight.my_position is not None:
        pieces.append(b" (mypos \0 \0 \0)")
        values += sight.my_position.tolist()
    if sight.my_heading is not None:
        pieces.append(b" (myorien \0)")
        values.append(sight.my_heading)
    if sight.ball_position is not None:
        pieces.append(b" (ballpos \0 \0 \0)")
        values += sight.ball_position.tolist()
    return _text(b"".join(pieces)), np.array(values, float)


_NO_TRUTH = _text(b""), np.zeros(0)


@lru_cache(maxsize=1024)
def _marks(labels: tuple[str, ...]) -> Text:
    """The template of landmarks."""
    return _text(b"".join(b" (%b %b)" % (label.encode("ascii"), POLAR) for label in labels))


@lru_cache(maxsize=4096)
def _names(teams: tuple[str, ...], numbers: tuple[int, ...]) -> tuple[Text, Ints]:
    """How players are called, one after the other, and where each ends."""
    told = zip(teams, numbers, strict=True)
    names = [b" (P (team %b) (id %d)" % (team.encode("ascii"), number) for team, number in told]
    return _text(b"".join(names)), np.cumsum([0, *map(len, names)])
