"""A player in Python that plays over the socket, on this or on any other server of the league's protocol.

    class Waver:
        def act(self, percept: Percept) -> Action:
            return Action(speeds=wave(percept.time))

    with Agent("127.0.0.1", 3100, team="Wavers") as agent:
        agent.play(Waver())

`play` calls the player once for each percept, and returns when the server ends the connection. Each answer carries
`(syn)`, which servers that do not wait ignore.
"""

from __future__ import annotations

import math
import socket
from types import TracebackType
from typing import TYPE_CHECKING

from nutmeg.errors import EnvironmentProblem
from nutmeg.match.percept import EFFECTORS
from nutmeg.net.framing import Unframer, framed
from nutmeg.net.simspark.percept_reader import read_percept

if TYPE_CHECKING:
    from nutmeg.match.percept import Action, Percept, Player

LONGEST_PERCEPT = 1 << 20
"""Bytes; what a server may send at most."""


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


class Agent:
    """A connection to a server, as one of its players."""

    def __init__(
        self, host: str = "127.0.0.1", port: int = 3100, *, team: str, number: int = 0, robot_type: int = 0
    ) -> None:
        """Connect and enter the game; number 0 takes any that is free."""
        try:
            self._socket = socket.create_connection((host, port), timeout=30.0)
        except OSError as error:
            raise EnvironmentProblem(
                f"no server answers on {host}, port {port} ({error}). "
                "Start one with `nutmeg serve`, or name another port."
            ) from None
        self._socket.settimeout(None)  # a server that waits for its agents may wait long
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._unframer = Unframer(LONGEST_PERCEPT)
        self._messages: list[bytes] = []
        self.send(f"(scene rsg/agent/nao/nao_hetero.rsg {robot_type})(syn)".encode("ascii"))
        self.receive()
        self.send(f"(init (unum {number})(teamname {team}))(syn)".encode("ascii"))

    def __enter__(self) -> Agent:
        """The agent itself, connected."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect."""
        self.close()

    def close(self) -> None:
        """Disconnect."""
        self._socket.close()

    def send(self, message: bytes) -> None:
        """Send a message as it is."""
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
        """Send an action."""
        self.send(action_message(action))

    def play(self, player: Player, cycles: int | None = None) -> int:
        """Let a player play until the server ends it, or for so many cycles; returns how many it were."""
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
