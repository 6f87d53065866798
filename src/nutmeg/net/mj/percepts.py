r"""Percepts as rcssservermj 0.2.1 writes them: order, names, spaces, and numbers cut to two or three decimals.

    message = percept_message(percept)       # b"(time (now 4.47))(GS (t 0.0)(pm BeforeKickOff)(tl reds)(sl 0)..."
    writer = PerceptWriter(marks)            # for many of them; marks are the names of what is seen beside players
    connection.send(writer.framed(percept))

That server cuts numbers towards zero and writes the rest as Python does: `-0.0`, `12.3`, `12.34`. Text is written by
compiled code from templates with a byte for each number: 0 has two decimals, 1 has three.
"""

from __future__ import annotations

import base64
import math
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from nutmeg.base.kernels import inlined, kernel
from nutmeg.match.worlds.mj.percept import JOINTS, PARTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.match.worlds.mj.percept import Percept

Text: TypeAlias = "NDArray[np.uint8]"
Names: TypeAlias = "tuple[Text, Ints]"
"""Texts one after the other, and where each begins and ends, (texts + 1,)."""

START = 4
"""Where text begins, after its length."""
BUFFER_SIZE = 32768
"""Bytes of a message; 22 players in view of one make 5,000."""
WIDEST_NUMBER = 20
LARGEST_NUMBER = 1e13
"""Larger numbers, and those that are none, are written as 0.0; no robot is ever told one."""
_POLAR = b"(pol \0 \0 \0)"
_MINUS, _POINT, _ZERO, _CLOSE = (ord(letter) for letter in "-.0)")


class PerceptWriter:
    """Writes percepts, one after the other.

    Args:
        marks: names of landmarks and ball, rows of `Sight.marks`.
    """

    def __init__(self, marks: tuple[str, ...]) -> None:
        self._out = np.empty(BUFFER_SIZE, np.uint8)
        self._marks = _names([b"(%b %b)" % (mark.encode("ascii"), _POLAR) for mark in marks])

    def framed(self, percept: Percept) -> bytes:
        """The text of a percept with its length before it, ready to be sent."""
        head, script = _head(percept), _script(percept.robot)
        sensors = (percept.attitude, percept.position, percept.gyro, percept.acc, percept.angles, percept.rates)
        heard = _NOTHING if percept.heard is None else np.frombuffer(_hearing(percept.heard), np.uint8)
        end = write_sensors(np.frombuffer(head, np.uint8), script, sensors, heard, self._out)
        sight = percept.sight
        if sight is not None:
            needed = end + 16 + len(self._marks[0]) + WIDEST_NUMBER * (sight.marks.size + sight.parts.size)
            needed += len(sight.parts) * (len(_PARTS[0]) + 96)
            if needed > len(self._out):
                self._out = np.concatenate([self._out, np.empty(needed, np.uint8)])
            end = write_sight(
                self._marks, sight.marks, _players(sight.teams, sight.numbers), sight.parts, self._out, end
            )
        self._out[:START] = np.frombuffer(struct.pack(">I", end - START), np.uint8)
        return self._out[:end].tobytes()


def _names(texts: list[bytes]) -> Names:
    return np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)])


_NOTHING = np.zeros(0, np.uint8)
_PARTS = _names([b"(%b %b)" % (part.encode("ascii"), _POLAR) for part in PARTS])
_SEE = np.frombuffer(b"(See ", np.uint8)


def _head(percept: Percept) -> bytes:
    game = percept.game
    return _written_head(
        int(percept.time * 100), round(game.time * 1000), game.mode, (game.score_left, game.score_right), percept.teams
    )


@lru_cache(maxsize=8)
def _written_head(
    hundredths: int, milliseconds: int, mode: str, score: tuple[int, int], teams: tuple[str, str]
) -> bytes:
    """How a percept begins, the same for all players of a cycle."""
    left, right = (f"({key} {name})" if name else "" for key, name in zip(("tl", "tr"), teams, strict=True))
    game = f"(t {milliseconds / 1000.0})(pm {mode}){left}{right}(sl {score[0]})(sr {score[1]})"
    return f"(time (now {hundredths / 100.0}))(GS {game})".encode("ascii")


@lru_cache(maxsize=4)
def _script(robot: str) -> Text:
    """The template of a robot's sensors."""
    joints = b"".join(b"(HJ (n q_%b)(ax \0)(vx \0))" % name.encode("ascii") for name in JOINTS[robot])
    pose = b"(quat (n torso_quat) (q \1 \1 \1 \1))(pos (n torso_pos) (p \1 \1 \1))"
    inertial = b"(GYR (n torso_gyro) (rt \0 \0 \0))(ACC (n torso_acc) (a \0 \0 \0))"
    return np.frombuffer(pose + inertial + joints, np.uint8)


def _hearing(heard: tuple[tuple[int, bytes], ...]) -> bytes:
    voices = (b"(%d %b)" % (direction, base64.b64encode(message)) for direction, message in heard)
    return b"(MIC hear %b)" % b"".join(voices)


@lru_cache(maxsize=256)
def _players(teams: tuple[str, ...], numbers: tuple[int, ...]) -> Names:
    """The beginning of each player's text."""
    pairs = zip(teams, numbers, strict=True)
    return _names([b"(P (team %b)(id %d)" % (team.encode("ascii"), number) for team, number in pairs])


@kernel
def write_sensors(
    head: Text,
    script: Text,
    sensors: tuple[Floats, Floats, Floats, Floats, Floats, Floats],
    heard: Text,
    out: Text,
) -> int:
    """Writes all of a percept but vision; returns where it ends.

    Args:
        head: text of time and game.
        script: template of the sensors.
        sensors: attitude (4,), position (3,), gyroscope (3,), accelerometer (3,), angles and rates (joints,).
        heard: text.
        out: bytes.
    """
    attitude, position, gyro, acc, angles, rates = sensors
    numbers = np.empty(13 + 2 * len(angles))
    numbers[:4], numbers[4:7], numbers[7:10], numbers[10:13] = attitude, position, gyro, acc
    for k in range(len(angles)):
        numbers[13 + 2 * k], numbers[14 + 2 * k] = angles[k], rates[k]
    place = _put_text(head, 0, len(head), out, START)
    place = _put_template(script, 0, len(script), numbers, 0, out, place)
    return _put_text(heard, 0, len(heard), out, place)


@kernel
def write_sight(mark_names: Names, marks: Floats, players: Names, parts: Floats, out: Text, place: int) -> int:
    """Writes `(See ...)`; what is NaN is left out. Returns where it ends."""
    names, ends = mark_names
    place = _put_text(_SEE, 0, len(_SEE), out, place)
    points = marks.ravel()
    for k in range(len(marks)):
        if not math.isnan(marks[k, 0]):
            place = _put_template(names, ends[k], ends[k + 1], points, 3 * k, out, place)
    names, ends = players
    part_names, part_ends = _PARTS
    points, columns = parts.ravel(), parts.shape[1]
    for player in range(len(parts)):
        named = False  # a player of whom nothing is in view is left out
        for part in range(columns):
            first = 3 * (player * columns + part)
            if math.isnan(points[first]):
                continue
            if not named:
                place = _put_text(names, ends[player], ends[player + 1], out, place)
                named = True
            place = _put_template(part_names, part_ends[part], part_ends[part + 1], points, first, out, place)
        if named:
            out[place] = _CLOSE
            place += 1
    out[place] = _CLOSE
    return place + 1


@inlined
def _put_text(text: Text, start: int, stop: int, out: Text, place: int) -> int:
    """Writes a text; returns where the text goes on."""
    out[place : place + stop - start] = text[start:stop]
    return place + stop - start


@inlined
def _put_template(text: Text, start: int, stop: int, values: Floats, first: int, out: Text, place: int) -> int:
    """Writes a template with values from `first` on; returns where the text goes on."""
    for k in range(start, stop):
        byte = text[k]
        if byte > 1:
            out[place] = byte
            place += 1
        else:
            place = _put_cut(values[first], 2 + byte, out, place)
            first += 1
    return place


@kernel
def _put_cut(value: float, decimals: int, out: Text, place: int) -> int:
    """Writes a number cut to so many decimals, without zeros at its end but one; returns where the text goes on."""
    if not abs(value) < LARGEST_NUMBER:
        value = 0.0
    if math.copysign(1.0, value) < 0.0:
        out[place] = _MINUS
        place += 1
    scale = 100 if decimals == 2 else 1000
    units = int(abs(value * scale))
    whole, rest = units // scale, units % scale
    digits, left = 1, whole
    while left >= 10:
        left //= 10
        digits += 1
    for k in range(digits - 1, -1, -1):
        out[place + k] = _ZERO + whole % 10
        whole //= 10
    place += digits
    out[place] = _POINT
    place += 1
    written = 0
    while written == 0 or rest > 0:
        scale //= 10
        out[place] = _ZERO + rest // scale
        rest %= scale
        place += 1
        written += 1
    return place


def percept_message(percept: Percept, marks: tuple[str, ...] = ()) -> bytes:
    """The text of a percept, without its length."""
    return PerceptWriter(marks).framed(percept)[START:]
