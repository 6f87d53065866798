r"""Percepts as rcssservermj 0.2.1 writes them: order, names, spaces, and numbers cut to two or three decimals.

    message = percept_message(percept)       # b"(time (now 4.47))(GS (t 0.0)(pm BeforeKickOff)(tl reds)(sl 0)..."
    writer = PerceptWriter(marks)            # for many of them; marks are the names of what is seen beside players
    connection.send(writer.framed(percept))

That server cuts numbers towards zero and writes the rest as Python does: `-0.0`, `12.3`, `12.34`. Text is written by
compiled code from the templates of `net.simspark.percepts`: in them, byte 1 is a number cut to two decimals, byte 2 one
cut to three.
"""

from __future__ import annotations

import base64
import math
import struct
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import kernel
from nutmeg.match.worlds.mj.percept import JOINTS, PARTS
from nutmeg.net.simspark.percepts import START, joined, put_players, put_template, put_text

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.worlds.mj.percept import Percept
    from nutmeg.net.simspark.percepts import Names, Text

BUFFER_SIZE = 32768
"""Bytes of a message; 22 players in view of one make 5,000."""
WIDEST_NUMBER = 20
_POLAR = b"(pol \1 \1 \1)"


class PerceptWriter:
    """Writes percepts, one after the other.

    Args:
        marks: names of landmarks and ball, rows of `Sight.marks`.
    """

    def __init__(self, marks: tuple[str, ...]) -> None:
        self._out = np.empty(BUFFER_SIZE, np.uint8)
        self._marks = joined([b"(%b %b)" % (mark.encode("ascii"), _POLAR) for mark in marks])

    def framed(self, percept: Percept) -> bytes:
        """The text of a percept with its length before it, ready to be sent."""
        head, script = _head(percept), _script(percept.robot)
        sensors = (percept.attitude, percept.position, percept.gyro, percept.acc, percept.angles, percept.rates)
        heard = _NOTHING if percept.heard is None else np.frombuffer(_hearing(percept.heard), np.uint8)
        end = _write_sensors(np.frombuffer(head, np.uint8), script, sensors, heard, self._out)
        sight = percept.sight
        if sight is not None:
            needed = end + 16 + len(self._marks[0]) + WIDEST_NUMBER * (sight.marks.size + sight.parts.size)
            needed += len(sight.parts) * (len(_PARTS[0]) + 96)
            if needed > len(self._out):
                self._out = np.concatenate([self._out, np.empty(needed, np.uint8)])
            end = _write_sight(
                self._marks, sight.marks, _players(sight.teams, sight.numbers), sight.parts, self._out, end
            )
        self._out[:START] = np.frombuffer(struct.pack(">I", end - START), np.uint8)
        return self._out[:end].tobytes()


_NOTHING = np.zeros(0, np.uint8)
_PARTS = joined([b"(%b %b)" % (part.encode("ascii"), _POLAR) for part in PARTS])
_SEE, _CLOSE = np.frombuffer(b"(See ", np.uint8), ord(")")


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
    joints = b"".join(b"(HJ (n q_%b)(ax \1)(vx \1))" % name.encode("ascii") for name in JOINTS[robot])
    pose = b"(quat (n torso_quat) (q \2 \2 \2 \2))(pos (n torso_pos) (p \2 \2 \2))"
    inertial = b"(GYR (n torso_gyro) (rt \1 \1 \1))(ACC (n torso_acc) (a \1 \1 \1))"
    return np.frombuffer(pose + inertial + joints, np.uint8)


def _hearing(heard: tuple[tuple[int, bytes], ...]) -> bytes:
    voices = (b"(%d %b)" % (direction, base64.b64encode(message)) for direction, message in heard)
    return b"(MIC hear %b)" % b"".join(voices)


@lru_cache(maxsize=256)
def _players(teams: tuple[str, ...], numbers: tuple[int, ...]) -> Names:
    """The beginning of each player's text."""
    pairs = zip(teams, numbers, strict=True)
    return joined([b"(P (team %b)(id %d)" % (team.encode("ascii"), number) for team, number in pairs])


@kernel
def _write_sensors(
    head: Text, script: Text, sensors: tuple[Floats, Floats, Floats, Floats, Floats, Floats], heard: Text, out: Text
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
    place = put_text(head, out, START)
    place = put_template(script, 0, len(script), numbers, 0, out, place)
    return put_text(heard, out, place)


@kernel
def _write_sight(mark_names: Names, marks: Floats, players: Names, parts: Floats, out: Text, place: int) -> int:
    """Writes `(See ...)`; what is NaN is left out. Returns where it ends."""
    names, ends = mark_names
    place = put_text(_SEE, out, place)
    points = marks.ravel()
    for k in range(len(marks)):
        if not math.isnan(marks[k, 0]):
            place = put_template(names, ends[k], ends[k + 1], points, 3 * k, out, place)
    place = put_players(players, parts, _PARTS, out, place)
    out[place] = _CLOSE
    return place + 1


def percept_message(percept: Percept, marks: tuple[str, ...] = ()) -> bytes:
    """The text of a percept, without its length."""
    return PerceptWriter(marks).framed(percept)[START:]
