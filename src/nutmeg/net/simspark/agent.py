"""A player in Python that plays over the socket, on this or on any other server of the league's protocol.

    class Waver:
        def act(self, percept: Percept) -> Action:
            return Action(speeds=wave(percept.time))

    with Agent("127.0.0.1", 3100, team="Wavers") as agent:
        agent.play(Waver())

`play` calls the player once for each percept, and returns when the server ends the connection. Each answer carries
`(syn)`, which servers that do not wait ignore. `read_percept` reads what servers send; `play_crowd` plays with many
trivial agents, to measure a server.
"""

from __future__ import annotations

import math
import selectors
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from nutmeg.base.errors import EnvironmentProblem, NutmegError
from nutmeg.base.interrupts import Closing
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.physical.percept import (
    EFFECTORS,
    FEET,
    JOINTS,
    PARTS,
    WITH_TOES,
    WITHOUT_TOES,
    Action,
    GameView,
    Heard,
    Percept,
    Sight,
)
from nutmeg.net.loop import AwakeSelector
from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.sexpr import Expression, Unframer, framed

if TYPE_CHECKING:
    from nutmeg.match.worlds.physical.percept import Player

MAX_PERCEPT = 1 << 20
"""Largest message of a server [bytes]."""
_JOINT_COLUMNS = {name.encode(): column for column, name in enumerate(JOINTS)}
_FOOT_ROWS = {name.encode(): row for row, name in enumerate(FEET)}
_PART_COLUMNS = {name.encode(): column for column, name in enumerate(PARTS)}
_MAX_WORDS = 65536

Words: TypeAlias = list[Expression]


def action_message(action: Action) -> bytes:
    """The text of an answer, with `(syn)` at its end."""
    pieces: list[str] = []
    if action.beam is not None:
        pieces.append("(beam {:g} {:g} {:g})".format(*action.beam))
    if action.speeds is not None:
        speeds = action.speeds.tolist()
        pairs = zip(EFFECTORS[: len(speeds)], speeds, strict=True)
        pieces += [f"({name} {speed:.5f})" for name, speed in pairs if not math.isnan(speed)]
    if action.say is not None:
        pieces.append(f"(say {action.say})")
    if action.wants_pass:
        pieces.append("(pass)")
    pieces.append("(syn)")
    return "".join(pieces).encode("ascii")


def check_listening(host: str, port: int) -> None:
    """Raises an error if `host` has no address, or is this machine and no server listens on the port.

    The server does not notice: a port that can be bound has no listener. A connection that is closed at once would
    abort rcssserver3d, if its agents have threads of their own, as they have by default.
    """
    try:
        socket.getaddrinfo(host, port)
    except socket.gaierror as error:
        raise _no_server(host, port, error.strerror or str(error)) from None
    try:
        with socket.socket() as probe:
            probe.bind((host, port))
    except OSError:
        return  # somebody listens, or the address is another machine's
    raise _no_server(host, port, "nothing listens there")


def _no_server(host: str, port: int, why: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"no server answers on {host}, port {port} ({why}). Start one with `nutmeg serve`, or name another port."
    )


class Agent(Closing):
    """A connection to a server, as one of its players; enters the game at once.

    Args:
        host: address of the server.
        port: its port for agents.
        team: name of the team.
        number: of the player; 0 takes any that is free.
        robot_type: 0 to 4.
    """

    def __init__(
        self, host: str = "127.0.0.1", port: int = 3100, *, team: str, number: int = 0, robot_type: int = 0
    ) -> None:
        try:
            self._socket = socket.create_connection((host, port), timeout=30.0)
        except OSError as error:
            raise _no_server(host, port, str(error)) from None
        self._socket.settimeout(None)  # a server that waits for its agents may wait long
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._unframer = Unframer(MAX_PERCEPT)
        self._messages: list[bytes] = []
        self._enter(team, number, robot_type)

    def _enter(self, team: str, number: int, robot_type: int) -> None:
        """Asks for a robot and a number."""
        self.send(f"(scene rsg/agent/nao/nao_hetero.rsg {robot_type})(syn)".encode("ascii"))
        self.receive()
        self.send(f"(init (unum {number})(teamname {team}))(syn)".encode("ascii"))

    def close(self) -> None:
        """Disconnects from the server."""
        self._socket.close()

    def send(self, message: bytes) -> None:
        """Sends a message as it is."""
        self._socket.sendall(framed(message))

    def receive(self) -> bytes | None:
        """The next message of the server; None when it has ended the connection."""
        while not self._messages:
            try:
                data = self._socket.recv(65536)
            except ConnectionResetError:
                data = b""
            if not data or self._unframer.problem is not None:
                return None
            self._messages = self._unframer.feed(data)
        return self._messages.pop(0)

    def perceive(self) -> Percept | None:
        """The next percept; None when the server has ended the connection."""
        message = self.receive()
        return None if message is None else read_percept(message)

    def answer(self, action: Action) -> None:
        """Sends an action."""
        self.send(action_message(action))

    def play(self, player: Player, cycles: int | None = None) -> int:
        """Lets a player play until the server ends the match, or for some cycles; returns the number of cycles."""
        played = 0
        while cycles is None or played < cycles:
            percept = self.perceive()
            if percept is None:
                break
            try:
                self.answer(player.act(percept))
            except (BrokenPipeError, ConnectionResetError):
                break
            played += 1
        return played


class ProtocolError(NutmegError):
    """A message that is not what the protocol says should come here."""


def read_percept(message: bytes) -> Percept:
    """The percept in a message, whose length has been taken off.

    A message that is not a percept raises `ProtocolError`. Perceptors that are not known here are passed over, because
    servers differ in what they add.
    """
    parsed = sexpr.parse(message, max_words=_MAX_WORDS)
    if parsed.problem is not None:
        raise ProtocolError(f"a percept cannot be read: it has {parsed.problem}. It begins {sexpr.shown(message[:80])}")
    try:
        return _percept([_list(expression) for expression in parsed.expressions])
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
    fields = [_atom(word).decode("ascii") for word in words[1:5]]
    # A player that has no team yet has an empty name on the league's server: `(hear  0.00 -0.01 hello)`.
    team, time, direction, message = fields if len(fields) == 4 else ("", *fields)
    return Heard(
        team=team, time=float(time), direction=None if direction == "self" else float(direction), message=message
    )


def _sight(items: list[Words]) -> Sight:
    truth = {words[0]: _numbers(words[1:]) for words in items if words[0] in (b"mypos", b"myorien", b"ballpos")}
    players = [words for words in items if words[0] == b"P"]
    # rcssserver3d cuts lines to the view, and sometimes sends an end of one as `(pol nan nan nan)`.
    lines = np.array([[_values(end) for end in words[1:3]] for words in items if words[0] == b"L"]).reshape(-1, 2, 3)
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
        lines=lines[np.isfinite(lines).all(axis=(1, 2))],
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


@dataclass(slots=True, eq=False)
class _Extra:
    """One agent of the crowd."""

    socket: socket.socket
    entry: bytes
    unframer: Unframer = field(default_factory=lambda: Unframer(MAX_PERCEPT))
    percepts: int = 0


@dataclass(frozen=True, kw_only=True)
class CrowdLines:
    """The messages of a crowd's agents; `{team}` and `{number}` stand for their own."""

    first: str
    """The message after connecting."""
    second: str
    """The answer to the first percept."""
    answer: bytes
    """The answer to all other percepts, without the length before it."""


def spark_lines(speed: float = 0.01) -> CrowdLines:
    """Lines of Nao robots that turn all their motors at a speed [rad/s]; with 0 they stand, otherwise they fall."""
    return CrowdLines(
        first="(scene rsg/agent/nao/nao_hetero.rsg 0)(syn)",
        second="(init (unum {number})(teamname {team}))(syn)",
        answer=action_message(Action(speeds=np.full(WITHOUT_TOES, speed))),
    )


def play_crowd(host: str, port: int, count: int, lines: CrowdLines, percepts: int | None = None) -> int:
    """Plays with many trivial agents in one process, to find out how fast a server is.

    Each agent answers every percept with the same line. The agents read nothing of a percept but its length, and stay
    awake while the server is quick (`net.loop`), so that the server is what is measured. The first eleven are one team,
    the others the second.

    Args:
        host: address of the server.
        port: its port for agents.
        count: how many agents.
        lines: what they say.
        percepts: ends when each agent has had this number; when the server ends the connections if None.

    Returns:
        the number of percepts of all agents together.
    """
    answer = framed(lines.answer)
    with AwakeSelector() as selector:
        extras = [_connect(host, port, index, lines) for index in range(count)]
        for extra in extras:
            selector.register(extra.socket, selectors.EVENT_READ, extra)
        try:
            while percepts is None or min(extra.percepts for extra in extras) < percepts:
                for key, _ in selector.wait():
                    if not _turn(key.data, answer):
                        return sum(extra.percepts for extra in extras)
        finally:
            for extra in extras:
                extra.socket.close()
    return sum(extra.percepts for extra in extras)


def _connect(host: str, port: int, index: int, lines: CrowdLines) -> _Extra:
    sock = socket.create_connection((host, port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    who = {"team": "Extras" if index < MAX_PLAYERS else "Others", "number": index % MAX_PLAYERS + 1}
    first, second = (framed(line.format(**who).encode("ascii")) for line in (lines.first, lines.second))
    sock.sendall(first)
    return _Extra(socket=sock, entry=second)


def _turn(extra: _Extra, answer: bytes) -> bool:
    """Answers what has arrived; whether the server is still there."""
    try:
        data = extra.socket.recv(16384)
        for _ in extra.unframer.feed(data):
            extra.socket.sendall(answer if extra.percepts else extra.entry)
            extra.percepts += 1
    except (BrokenPipeError, ConnectionResetError):
        return False
    return bool(data)
