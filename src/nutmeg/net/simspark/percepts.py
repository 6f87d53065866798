"""Percepts as SimSpark writes them: order, spaces and two decimals as rcssserver3d 0.7.3 sends them to its agents.

    message = percept_message(percept)       # b"(time (now 22.92))(GS (sl 0) (sr 0) (t 0.00) (pm BeforeKickOff))..."
    writer = PerceptWriter()                 # for many of them
    socket.send(writer.framed(percept))

There is a script for robots with and without toes: what is told after what, with holes for numbers. What is seen has
templates of its own, kept by what is in view. Whoever has toes (type 4) has twenty-four joints.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.percept import FEET, JOINTS, WITH_TOES, WITHOUT_TOES
from nutmeg.net.simspark.percept_kernels import ACC, FOOT, GYRO, JOINT, POLAR, SEEN, write_percept, write_seen
from nutmeg.net.simspark.text_kernels import START, written

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.match.percept import Heard, Percept, Sight
    from nutmeg.match.play_modes import Side
    from nutmeg.net.simspark.text_kernels import Text

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
