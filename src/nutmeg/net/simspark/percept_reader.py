"""SimSpark's percept messages read back: the agent's side of `percepts`, for players over the socket and for tests.

    percept = read_percept(message)
    percept.game.mode, percept.angles

It reads what servers send, so a message that is not a percept raises `ProtocolError`; what a message has beyond the
perceptors known here is passed over, because servers differ in what they add.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from nutmeg.errors import NutmegError
from nutmeg.match.percept import FEET, JOINTS, PARTS, WITH_TOES, WITHOUT_TOES, GameView, Heard, Percept, Sight
from nutmeg.match.play_modes import Side
from nutmeg.net import sexpr
from nutmeg.net.sexpr import Expression

_JOINT_COLUMNS = {name.encode(): column for column, name in enumerate(JOINTS)}
_FOOT_ROWS = {name.encode(): row for row, name in enumerate(FEET)}
_PART_COLUMNS = {name.encode(): column for column, name in enumerate(PARTS)}
_MOST_WORDS = 65536

Words: TypeAlias = list[Expression]


class ProtocolError(NutmegError):
    """A message that is not what the protocol says should come here."""


def read_percept(message: bytes) -> Percept:
    """The percept in a message, whose length has been taken off."""
    reading = sexpr.read(message, most_words=_MOST_WORDS)
    if reading.problem is not None:
        raise ProtocolError(f"a percept cannot be read: {reading.problem}. It begins {sexpr.shown(message[:80])}")
    try:
        return _percept([_list(expression) for expression in reading.expressions])
    except (LookupError, ValueError, TypeError) as error:
        raise ProtocolError(f"a percept has unexpected content ({error!r}): {sexpr.shown(message, 200)}") from None


def _percept(expressions: list[Words]) -> Percept:
    angles, forces = np.full(WITH_TOES, np.nan), np.full((len(FEET), 6), np.nan)
    gyro, acc = np.full(3, np.nan), np.full(3, np.nan)
    time, game, sight, hears = float("nan"), None, None, []
    for words in expressions:
        match words[0]:
            case b"HJ":
                angles[_JOINT_COLUMNS[_named(words)]] = _value(words[2])
            case b"FRP":
                forces[_FOOT_ROWS[_named(words)]] = [*_values(words[2]), *_values(words[3])]
            case b"GYR":
                gyro[:] = _values(words[2])
            case b"ACC":
                acc[:] = _values(words[2])
            case b"time":
                time = _value(words[1])
            case b"GS":
                game = _game(words[1:])
            case b"hear":
                hears.append(_heard(words))
            case b"See":
                sight = _sight([_list(item) for item in words[1:]])
    if game is None:
        raise ValueError("no GS in it")
    joints, feet = (WITH_TOES, 4) if angles[-1] == angles[-1] else (WITHOUT_TOES, 2)
    return Percept(
        time=time,
        game=game,
        hears=tuple(hears),
        gyro=gyro,
        acc=acc,
        angles=angles[:joints],
        forces=forces[:feet],
        sight=sight,
    )


def _game(fields: Words) -> GameView:
    found = {_atom(words[0]): _atom(words[1]) for words in map(_list, fields)}
    number, team = found.get(b"unum"), found.get(b"team")
    return GameView(
        mode=found[b"pm"].decode("ascii"),
        time=float(found[b"t"]),
        score_left=int(found.get(b"sl", b"0")),
        score_right=int(found.get(b"sr", b"0")),
        number=None if number is None else int(number),
        side=None if team is None else Side[team.decode("ascii").upper()],
    )


def _heard(words: Words) -> Heard:
    team, time, direction, message = (_atom(word).decode("ascii") for word in words[1:5])
    return Heard(
        team=team, time=float(time), direction=None if direction == "self" else float(direction), message=message
    )


def _sight(items: list[Words]) -> Sight:
    truth = {words[0]: _numbers(words[1:]) for words in items if words[0] in (b"mypos", b"myorien", b"ballpos")}
    players = [words for words in items if words[0] == b"P"]
    lines = [[_values(end) for end in words[1:3]] for words in items if words[0] == b"L"]
    marks = [words for words in items if words[0] not in (b"P", b"L", *truth)]
    parts = np.full((len(players), len(PARTS), 3), np.nan)
    for row, words in zip(parts, players, strict=True):
        for part in map(_list, words[3:]):
            row[_PART_COLUMNS[_atom(part[0])]] = _values(part[1])
    return Sight(
        labels=tuple(_atom(words[0]).decode("ascii") for words in marks),
        marks=np.array([_values(words[1]) for words in marks]).reshape(-1, 3),
        teams=tuple(_atom(_list(words[1])[1]).decode("ascii") for words in players),
        numbers=tuple(int(_atom(_list(words[2])[1])) for words in players),
        parts=parts,
        lines=np.array(lines).reshape(-1, 2, 3),
        my_position=np.array(truth[b"mypos"]) if b"mypos" in truth else None,
        my_heading=truth[b"myorien"][0] if b"myorien" in truth else None,
        ball_position=np.array(truth[b"ballpos"]) if b"ballpos" in truth else None,
    )


def _list(expression: Expression) -> Words:
    if not isinstance(expression, list) or not expression:
        raise TypeError(f"{sexpr.shown(expression)} stands where a list should be")
    return expression


def _atom(expression: Expression) -> bytes:
    if not isinstance(expression, bytes):
        raise TypeError(f"{sexpr.shown(expression)} stands where a word should be")
    return expression


def _named(words: Words) -> bytes:
    return _atom(_list(words[1])[1])


def _value(pair: Expression) -> float:
    return float(_atom(_list(pair)[1]))


def _values(named: Expression) -> list[float]:
    return _numbers(_list(named)[1:4])


def _numbers(words: Words) -> list[float]:
    return [float(_atom(word)) for word in words]
