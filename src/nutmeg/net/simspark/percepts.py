r"""Percepts as SimSpark writes them: order, spaces and two decimals as rcssserver3d 0.7.3 sends them to its agents.

    message = percept_message(percept)       # b"(time (now 22.92))(GS (sl 0) (sr 0) (t 0.00) (pm BeforeKickOff))..."
    writer = PerceptWriter()                 # for many of them
    connection.send(writer.framed(percept))

The text is written by compiled code, because it is nearly all that a server of twenty-two robots writes: a percept
takes 3 us where `%` takes 55 us, and with vision 11 us instead of 296 us. No library writes text from compiled code.

Text comes from *templates*, text with a zero byte (a hole) for each number. A *script* has a row for each piece of a
percept of a robot with or without toes: which sensor the numbers come from, and where its template is. Vision has
templates of its own, cached by what is in view; it is written first, into an array of its own.

Numbers are written as C's `%.2f` writes them, to the last digit: a number times a hundred is rounded by its exact
value, which Dekker's product has in two floating-point numbers. Arrays of text begin with four bytes for the message's
length. A number that is not finite, or too large, stays a hole with the number's own eight bytes after it, and is
written by Python (`written`); until then, the first of the four bytes notes that there are holes.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from nutmeg.base.kernels import inlined, kernel
from nutmeg.match.worlds.physical.percept import FEET, JOINTS, PARTS, WITH_TOES, WITHOUT_TOES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.match.rules.play_modes import Side
    from nutmeg.match.worlds.physical.percept import Heard, Percept, Sight

Text: TypeAlias = "NDArray[np.uint8]"
Script: TypeAlias = "tuple[Text, Ints]"
"""Templates one after the other, and a row (source, first number, start, end) for each of them."""
Template: TypeAlias = "tuple[Text, Floats]"
"""A template and the numbers for its holes."""
Names: TypeAlias = "tuple[Text, Ints]"
"""Texts one after the other, and where each begins and ends, (texts + 1,)."""

HOLE = b"\x00"
"""Where a number belongs."""
CUT_TO_TWO, CUT_TO_THREE = 1, 2
"""Placeholders of numbers that are cut to this number of decimals, as rcssservermj writes them (`net.mj.percepts`)."""
START = 4
"""Where text begins, after its length."""
WIDEST_NUMBER = 17
"""Most characters of a number: a sign, thirteen digits, a point and two more."""
LARGEST_NUMBER = 1e13
"""Larger numbers are written by Python."""
BUFFER_SIZE = 16384
"""Bytes of a message before more room is made for it; nearly all have fewer."""
GYRO, ACC, JOINT, FOOT, VISION = range(5)
"""Sources of the numbers of a piece; `VISION` is the whole of what is seen."""
_FIRST = (2, 5, 8, 8 + WITH_TOES)  # where the numbers of each source begin in `_numbers`, after the two times
_NECK_JOINTS = 2  # joints that come before vision in a message
_POLAR = b"(pol \0 \0 \0)"
_SPLIT = 134217729.0  # 2^27 + 1: splits a float into two halves of 26 bits, whose products are exact (Dekker 1971)
_MINUS, _POINT, _ZERO, _CLOSE = (ord(letter) for letter in "-.0)")


def percept_message(percept: Percept) -> bytes:
    """The text of a percept, without its length."""
    return PerceptWriter().framed(percept)[START:]


class PerceptWriter:
    """Writes percepts, one after the other."""

    def __init__(self) -> None:
        self._out, self._seen = np.empty(BUFFER_SIZE, np.uint8), np.empty(BUFFER_SIZE, np.uint8)

    def framed(self, percept: Percept) -> bytes:
        """The text of a percept with its length before it, ready to be sent."""
        seen_end = START if percept.sight is None else self._write_vision(percept.sight)
        script, game = _script(len(percept.angles)), percept.game
        head = _head(game.mode, game.score_left, game.score_right, game.number, game.side)
        if percept.hears:
            head = _text(head.tobytes() + "".join(map(_heard, percept.hears)).encode("ascii"))
        # A plain tuple: numba takes 1.5 us longer to take a named one apart.
        sensors = (percept.gyro, percept.acc, percept.angles, percept.forces)
        while True:
            end = _write_percept(head, percept.time, game.time, self._seen, seen_end, script, sensors, self._out)
            if end:
                return written(self._out, end)
            self._out = np.empty(2 * len(self._out), np.uint8)

    def _write_vision(self, sight: Sight) -> int:
        """Writes what is seen; returns where it ends, negative if it has holes."""
        truth, landmarks = _truth(sight), (_landmarks(sight.labels), sight.marks)
        names = _names(sight.teams, sight.numbers)
        while True:
            end = write_vision(truth, landmarks, names, sight.parts, sight.lines, self._seen)
            if end:
                return end
            self._seen = np.empty(2 * len(self._seen), np.uint8)


def written(out: Text, end: int) -> bytes:
    """The message that has been written into an array, with its length before it; `end` is negative if it has holes."""
    if end >= 0:
        return out[:end].tobytes()
    pieces, place, text = [], START, out[:-end].tobytes()
    while (hole := text.find(HOLE, place)) >= 0:
        (number,) = struct.unpack_from("=d", text, hole + 1)
        pieces += [text[place:hole], b"%.2f" % number]
        place = hole + 9
    message = b"".join([*pieces, text[place:]])
    return struct.pack(">I", len(message)) + message


def _text(text: bytes) -> Text:
    return np.frombuffer(text, np.uint8)


def joined(pieces: list[bytes]) -> Names:
    """Texts as one, and where each begins and ends."""
    return np.frombuffer(bytearray(b"".join(pieces)), np.uint8), np.cumsum([0, *map(len, pieces)])


_PARTS, _PART_ENDS = joined([b" (%b %b)" % (part.encode("ascii"), _POLAR) for part in PARTS])
_LINE, _ = joined([b" (L %b %b)" % (_POLAR, _POLAR)])
_SEE, _ = joined([b"(See"])


@lru_cache(maxsize=256)
def _head(mode: str, left: int, right: int, number: int | None, side: Side | None) -> Text:
    """How a percept begins: a template of time and game time, score, play mode, and number and side, sent once."""
    assert number is None or side is not None, "a number comes together with the side"
    introduction = "" if side is None or number is None else f"(unum {number}) (team {side.word}) "
    return _text(f"(time (now \0))(GS {introduction}(sl {left}) (sr {right}) (t \0) (pm {mode}))".encode("ascii"))


@lru_cache(maxsize=4)
def _script(joints: int) -> Script:
    """The pieces of a percept of a robot with a number of joints, in the order of the league's server."""
    if joints not in (WITHOUT_TOES, WITH_TOES):
        raise ValueError(f"a percept has {joints} joint angles; SimSpark's robots have 22, or 24 with toes.")
    pieces = [
        (GYRO, 0, b"(GYR (n torso) (rt \0 \0 \0))"),
        (ACC, 0, b"(ACC (n torso) (a \0 \0 \0))"),
        *(_joint(name) for name in JOINTS[:_NECK_JOINTS]),
        (VISION, 0, b""),
    ]
    for name in [n for n in JOINTS[_NECK_JOINTS:] if not n.endswith("lj7")]:
        foot = f"{name[0]}f"
        if name.endswith("lj6"):
            pieces.append(_foot(foot))
        pieces.append(_joint(name))
        if name.endswith("lj6") and joints == WITH_TOES:
            pieces += [_foot(f"{foot}1"), _joint(f"{name[0]}lj7")]
    text, ends = joined([text for _, _, text in pieces])
    rows = [(source, first, ends[k], ends[k + 1]) for k, (source, first, _) in enumerate(pieces)]
    return text, np.array(rows, np.int64)


def _joint(name: str) -> tuple[int, int, bytes]:
    return JOINT, JOINTS.index(name), b"(HJ (n %b) (ax \0))" % name.encode("ascii")


def _foot(name: str) -> tuple[int, int, bytes]:
    return FOOT, FEET.index(name), b"(FRP (n %b) (c \0 \0 \0) (f \0 \0 \0))" % name.encode("ascii")


def _heard(heard: Heard) -> str:
    direction = "self" if heard.direction is None else f"{heard.direction:.2f}"
    return f"(hear {heard.team} {heard.time:.2f} {direction} {heard.message})"


def _truth(sight: Sight) -> Template:
    """The true pose and ball, where the server sends them."""
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
def _landmarks(labels: tuple[str, ...]) -> Text:
    """The template of landmarks."""
    return _text(b"".join(b" (%b %b)" % (label.encode("ascii"), _POLAR) for label in labels))


@lru_cache(maxsize=4096)
def _names(teams: tuple[str, ...], numbers: tuple[int, ...]) -> Names:
    """The beginning of each player's text."""
    players = zip(teams, numbers, strict=True)
    return joined([b" (P (team %b) (id %d)" % (team.encode("ascii"), number) for team, number in players])


@kernel
def _write_percept(
    head: Text,
    now: float,
    game_time: float,
    seen: Text,
    seen_end: int,
    script: Script,
    sensors: tuple[Floats, Floats, Floats, Floats],
    out: Text,
) -> int:
    """Writes a percept into `out`; returns where it ends, negative if it has holes, 0 if there is too little room.

    Args:
        head: a template of the server's time and the game's, followed by text without holes.
        now: the server's time [s].
        game_time: the game's clock [s].
        seen: what `write_vision` has written.
        seen_end: what `write_vision` has returned; `START` without vision.
        script: the pieces of the message, see `_script`.
        sensors: gyroscope (3,), accelerometer (3,), joint angles (joints,), forces of the feet (feet, 6).
        out: bytes.
    """
    text, rows = script
    gyro, acc, angles, forces = sensors
    if len(head) + abs(seen_end) + len(text) + WIDEST_NUMBER * (8 + angles.size + forces.size) > len(out):
        return 0
    numbers, feet = _numbers(now, game_time, gyro, acc, angles, forces), len(forces)
    out[0] = 0 if seen_end >= 0 else 1  # vision brings its holes along
    place = put_template(head, 0, len(head), numbers, 0, out, START)
    for k in range(len(rows)):
        source, first = rows[k, 0], rows[k, 1]
        if source == VISION:
            place = put_text(seen[START : abs(seen_end)], out, place)
            continue
        # A foot that does not touch the ground has no forces, and is left out.
        if source == FOOT and (first >= feet or math.isnan(numbers[_FIRST[FOOT] + 6 * first])):
            continue
        number = _FIRST[source] + (6 * first if source == FOOT else first)
        place = put_template(text, rows[k, 2], rows[k, 3], numbers, number, out, place)
    return finish(place, out)


@kernel
def _numbers(now: float, game_time: float, gyro: Floats, acc: Floats, angles: Floats, forces: Floats) -> Floats:
    """All numbers of a percept but those of vision in one row, at the places of `_FIRST`."""
    row = np.empty(8 + WITH_TOES + forces.size)
    row[0], row[1] = now, game_time
    for i in range(3):
        row[2 + i], row[5 + i] = gyro[i], acc[i]
    for i in range(len(angles)):
        row[8 + i] = angles[i]
    for i in range(len(forces)):
        for j in range(6):
            row[8 + WITH_TOES + 6 * i + j] = forces[i, j]
    return row


@kernel
def write_vision(truth: Template, landmarks: Template, names: Names, parts: Floats, lines: Floats, out: Text) -> int:
    """Writes `(See ...)` after the place of a message's length; returns where it ends, as `_write_percept` does.

    Args:
        truth: template and numbers (n,) of the true pose, which stands between players and lines.
        landmarks: template and polar coordinates (landmarks, 3).
        names: the beginning of each player's text.
        parts: polar coordinates of the players' parts, (players, parts, 3); NaN for a part that is not seen.
        lines: polar coordinates of both ends of each line, (lines, 2, 3).
        out: bytes.
    """
    truth_text, true_numbers = truth
    landmark_text, marks = landmarks
    name_text, _ = names
    numbers = true_numbers.size + marks.size + parts.size + lines.size
    fixed = len(truth_text) + len(landmark_text) + len(name_text) + len(parts) * len(_PARTS) + len(lines) * len(_LINE)
    if START + 8 + fixed + WIDEST_NUMBER * numbers > len(out):
        return 0
    out[0] = 0
    place = put_text(_SEE, out, START)
    place = put_template(landmark_text, 0, len(landmark_text), marks.ravel(), 0, out, place)
    place = put_players(names, parts, (_PARTS, _PART_ENDS), out, place)
    place = put_template(truth_text, 0, len(truth_text), true_numbers, 0, out, place)
    points = lines.ravel()
    for k in range(len(lines)):
        place = put_template(_LINE, 0, len(_LINE), points, 6 * k, out, place)
    out[place] = _CLOSE
    return place + 1 if out[0] == 0 else -place - 1


@kernel
def put_players(names: Names, parts: Floats, templates: Names, out: Text, place: int) -> int:
    """Writes the players in view; returns the place after them.

    Args:
        names: the beginning of each player's text.
        parts: (players, parts, 3) polar coordinates; NaN for a part that is not seen.
        templates: of the parts.
        out: bytes.
        place: where to begin.
    """
    name_text, name_ends = names
    part_text, part_ends = templates
    points, columns = parts.ravel(), parts.shape[1]
    for player in range(len(parts)):
        named = False  # players without a part in view are left out
        for part in range(columns):
            first = 3 * (player * columns + part)
            if math.isnan(points[first]):
                continue
            if not named:
                place = put_text(name_text[name_ends[player] : name_ends[player + 1]], out, place)
                named = True
            place = put_template(part_text, part_ends[part], part_ends[part + 1], points, first, out, place)
        if named:
            out[place] = _CLOSE
            place += 1
    return place


@inlined
def put_template(text: Text, start: int, stop: int, values: Floats, first: int, out: Text, place: int) -> int:
    """Writes the template text[start:stop] with values from `first` on; returns the place after it."""
    for k in range(start, stop):
        byte = text[k]
        if byte > CUT_TO_THREE:
            out[place] = byte
            place += 1
        else:
            value = values[first]
            place = _put_number(value, out, place) if byte == 0 else _put_cut(value, byte == CUT_TO_TWO, out, place)
            first += 1
    return place


@inlined
def put_text(text: Text, out: Text, place: int) -> int:
    """Writes a text without placeholders; returns the place after it."""
    out[place : place + len(text)] = text
    return place + len(text)


@kernel
def finish(place: int, out: Text) -> int:
    """Writes the length of the text that ends at `place` before it; returns that place, negative if there are holes."""
    if out[0] != 0:  # Python fills the holes, and only then is the length known
        return -place
    for k in range(START):
        out[k] = (place - START) >> 8 * (START - 1 - k) & 255
    return place


@kernel
def _put_number(value: float, out: Text, place: int) -> int:
    """Writes a number with two decimals, or a placeholder with its bytes; returns the place after it."""
    if not abs(value) < LARGEST_NUMBER:  # also if it is no number
        raw = np.array([value]).view(np.uint8)
        out[0], out[place] = 1, 0
        for k in range(8):
            out[place + 1 + k] = raw[k]
        return place + 9
    if math.copysign(1.0, value) < 0.0:  # C writes -0.00, too
        out[place] = _MINUS
        place += 1
    return _put_hundredths(_hundredths(abs(value)), out, place)


@kernel
def _hundredths(value: float) -> int:
    """A number times a hundred, rounded to the nearest by its exact value, halves to even."""
    product = value * 100.0
    # Dekker's product: what `product` is too small by, exactly.
    high = _SPLIT * value - (_SPLIT * value - value)
    low = value - high
    error = (high * 100.0 - product) + low * 100.0
    whole = math.floor(product)
    rest = product - whole
    # At a half, the exact product decides: above it up, below it down, and at an exact half to even.
    if rest > 0.5 or (rest == 0.5 and (error > 0.0 or (error == 0.0 and whole % 2.0 == 1.0))):
        return int(whole) + 1
    return int(whole)


@kernel
def _put_hundredths(hundredths: int, out: Text, place: int) -> int:
    """Writes hundredths as a number with two decimals; returns the place after it."""
    place = _put_whole(hundredths // 100, out, place)
    out[place] = _ZERO + hundredths // 10 % 10
    out[place + 1] = _ZERO + hundredths % 10
    return place + 2


@kernel
def _put_cut(value: float, to_two: bool, out: Text, place: int) -> int:
    """Writes a number cut to two or three decimals, without trailing zeros but one; returns the place after it."""
    if not abs(value) < LARGEST_NUMBER:
        value = 0.0
    if math.copysign(1.0, value) < 0.0:
        out[place] = _MINUS
        place += 1
    scale = 100 if to_two else 1000
    units = int(abs(value * scale))
    rest, begin = units % scale, _put_whole(units // scale, out, place)
    place = begin
    while place == begin or rest > 0:
        scale //= 10
        out[place] = _ZERO + rest // scale
        rest %= scale
        place += 1
    return place


@inlined
def _put_whole(whole: int, out: Text, place: int) -> int:
    """Writes a whole number and a point; returns the place after it."""
    digits, left = 1, whole
    while left >= 10:
        left //= 10
        digits += 1
    for k in range(digits - 1, -1, -1):
        out[place + k] = _ZERO + whole % 10
        whole //= 10
    out[place + digits] = _POINT
    return place + digits + 1
