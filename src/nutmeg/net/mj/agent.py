"""A player in Python that plays on rcssservermj, or on any other server of its protocol, over the socket.

    with MjAgent("127.0.0.1", 60000, team="reds", number=3, robot_type=0) as agent:
        agent.play(BoosterPlayer("reds", 3, BoosterSetup()))

`play` calls the player once for each percept, and returns when the server ends the connection. `read_percept` reads
what servers send: what it does not know it leaves out.
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.match.worlds.mj.percept import EFFECTORS, JOINTS, PARTS, ROBOTS, Action, Percept, Sight
from nutmeg.match.worlds.physical.percept import GameView
from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.agent import Agent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.net.simspark.sexpr import Expression

_COLUMNS = {robot: {f"q_{name}".encode(): k for k, name in enumerate(names)} for robot, names in JOINTS.items()}
_MAX_WORDS = 65536


def action_message(action: Action, robot: str) -> bytes:
    """The text of an answer, with `(syn)` at its end."""
    pieces: list[str] = []
    if action.beam is not None:
        pieces.append("(beam {:g} {:g} {:g})".format(*action.beam))
    if action.motors is not None:
        for name, row in zip(EFFECTORS[robot], action.motors.tolist(), strict=True):
            if not math.isnan(row[0]):
                pieces.append("({} {:.4f} {:.4f} {:.3f} {:.3f} {:.4f})".format(name, *row))
    if action.say is not None:
        loudness, message = action.say
        pieces.append(f"(SPK say {100 * loudness:.0f} {base64.b64encode(message).decode()})")
    pieces.append("(syn)")
    return "".join(pieces).encode("ascii")


def read_percept(message: bytes, robot: str, marks: Sequence[str]) -> Percept:
    """The percept in a message to a robot; `marks` are the names of what is seen beside players, in order."""
    found: dict[str, Any] = {"angles": np.zeros(len(JOINTS[robot])), "rates": np.zeros(len(JOINTS[robot]))}
    game: dict[bytes, str] = {}
    for part in sexpr.parse(message, max_words=_MAX_WORDS).expressions:
        if not isinstance(part, list) or not part or not isinstance(part[0], bytes):
            continue
        name, fields = part[0], _fields(part[1:])
        if name == b"time":
            found["time"] = _numbers(fields.get(b"now"), 1)[0]
        elif name == b"GS":
            game = {key: sexpr.text(values[0]) or "" for key, values in fields.items() if values}
        elif name in _SENSORS:
            key, field, count = _SENSORS[name]
            found[key] = _numbers(fields.get(field), count)
        elif name == b"HJ":
            column = _COLUMNS[robot].get(_word(fields.get(b"n")))
            if column is not None:
                found["angles"][column] = _numbers(fields.get(b"ax"), 1)[0]
                found["rates"][column] = _numbers(fields.get(b"vx"), 1)[0]
        elif name == b"MIC":
            found["heard"] = tuple(_voice(voice) for voice in part[2:] if isinstance(voice, list) and len(voice) == 2)
        elif name == b"See":
            found["sight"] = _sight(part[1:], marks)
    view = GameView(
        mode=game.get(b"pm", "BeforeKickOff"),
        time=_number(game.get(b"t")),
        score_left=int(_number(game.get(b"sl"))),
        score_right=int(_number(game.get(b"sr"))),
    )
    blank = {
        "attitude": np.array([1.0, 0.0, 0.0, 0.0]),
        "position": np.zeros(3),
        "gyro": np.zeros(3),
        "acc": np.zeros(3),
    }
    teams = (game.get(b"tl", ""), game.get(b"tr", ""))
    return Percept(**{"robot": robot, "time": 0.0, "game": view, "teams": teams, **blank, **found})


_SENSORS = {
    b"quat": ("attitude", b"q", 4),
    b"pos": ("position", b"p", 3),
    b"GYR": ("gyro", b"rt", 3),
    b"ACC": ("acc", b"a", 3),
}
"""Sensors with one list of numbers: field of the percept, name of the list, how many."""


def _fields(parts: Sequence[Expression]) -> dict[bytes, list[Expression]]:
    """Lists that begin with a name, by that name."""
    return {part[0]: part[1:] for part in parts if isinstance(part, list) and part and isinstance(part[0], bytes)}


def _numbers(words: Sequence[Expression] | None, count: int) -> Floats:
    """A number of values; zeros if the count differs."""
    found = None if words is None else sexpr.numbers(words, count)
    return np.zeros(count) if found is None else np.array(found)


def _number(text: str | None) -> float:
    return 0.0 if text is None else sexpr.number(text.encode()) or 0.0


def _word(words: Sequence[Expression] | None) -> bytes:
    return words[0] if words and isinstance(words[0], bytes) else b""


def _voice(voice: list[Expression]) -> tuple[int, bytes]:
    """Direction and message of a voice; what is no base64 is silence."""
    try:
        message = base64.b64decode(_word(voice[1:]), validate=True)
    except (ValueError, binascii.Error):
        message = b""
    return int(sexpr.number(voice[0]) or 0), message


def _sight(parts: Sequence[Expression], marks: Sequence[str]) -> Sight:
    rows = {name.encode(): row for row, name in enumerate(marks)}
    seen, players = np.full((len(marks), 3), np.nan), []
    for part in parts:
        if not isinstance(part, list) or not part or not isinstance(part[0], bytes):
            continue
        fields = _fields(part[1:])
        if part[0] == b"P":
            polar = [_fields(fields.get(name.encode(), [])).get(b"pol") for name in PARTS]
            known = [np.full(3, np.nan) if words is None else _numbers(words, 3) for words in polar]
            team = sexpr.text(_word(fields.get(b"team"))) or ""
            players.append((team, int(sexpr.number(_word(fields.get(b"id"))) or 0), known))
        elif part[0] in rows and b"pol" in fields:
            seen[rows[part[0]]] = _numbers(fields[b"pol"], 3)
    return Sight(
        marks=seen,
        parts=np.array([known for _, _, known in players]).reshape(-1, len(PARTS), 3),
        teams=tuple(team for team, _, _ in players),
        numbers=tuple(number for _, number, _ in players),
    )


class MjAgent(Agent):
    """A connection to a server, as one of its players; enters the game at once.

    Arguments are those of `Agent`; `robot_type` is an index in `ROBOTS` here.
    """

    marks: tuple[str, ...] = ()
    """Names of what is seen beside players, in the order of percepts; set it before `play`."""

    def _enter(self, team: str, number: int, robot_type: int) -> None:
        self.robot = ROBOTS[robot_type]
        self.send(f"(init {self.robot.upper()} {team} {number})".encode("ascii"))

    def perceive(self) -> Percept | None:  # type: ignore[override]
        """The next percept; None when the server has ended the connection."""
        message = self.receive()
        return None if message is None else read_percept(message, self.robot, self.marks)

    def answer(self, action: Action) -> None:  # type: ignore[override]
        """Sends an action."""
        self.send(action_message(action, self.robot))
