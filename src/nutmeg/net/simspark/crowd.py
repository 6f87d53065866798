"""Many trivial agents in one process, to find out how fast a server is: each answers every percept with all its motors.

    process = multiprocessing.get_context("spawn").Process(target=play_crowd, args=("127.0.0.1", port, 22))
    process.start()

They read nothing of what they are told but its length, and stay awake while the server is quick (`wakeful`), so what is
measured is the server. The first eleven are one team, the others the second. `play_crowd` returns when the server ends
the connections, or after so many percepts of each agent.
"""

from __future__ import annotations

import selectors
import socket
from dataclasses import dataclass, field

from nutmeg.match.percept import EFFECTORS, WITHOUT_TOES
from nutmeg.match.rules import MOST_PLAYERS
from nutmeg.net.framing import Unframer, framed
from nutmeg.net.simspark.agent import LONGEST_PERCEPT
from nutmeg.net.simspark.wakeful import WakefulSelector

_SCENE = framed(b"(scene rsg/agent/nao/nao_hetero.rsg 0)(syn)")


@dataclass(slots=True, eq=False)
class _Extra:
    """One of the crowd."""

    socket: socket.socket
    entry: bytes
    unframer: Unframer = field(default_factory=lambda: Unframer(LONGEST_PERCEPT))
    percepts: int = 0


def answer_of_motors(speed: float = 0.01) -> bytes:
    """A full set of motors and `(syn)`, framed."""
    motors = "".join(f"({name} {speed:.5f})" for name in EFFECTORS[:WITHOUT_TOES])
    return framed(f"{motors}(syn)".encode("ascii"))


def play_crowd(host: str, port: int, count: int, percepts: int | None = None) -> int:
    """Play with `count` agents until the server ends it, or each has had so many percepts; percepts in all."""
    answer = answer_of_motors()
    with WakefulSelector() as selector:
        extras = [_connect(host, port, index) for index in range(count)]
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


def _connect(host: str, port: int, index: int) -> _Extra:
    sock = socket.create_connection((host, port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.sendall(_SCENE)
    team = "Extras" if index < MOST_PLAYERS else "Others"
    entry = f"(init (unum {index % MOST_PLAYERS + 1})(teamname {team}))(syn)"
    return _Extra(socket=sock, entry=framed(entry.encode("ascii")))


def _turn(extra: _Extra, answer: bytes) -> bool:
    """Answer what has arrived; whether the server is still there."""
    try:
        data = extra.socket.recv(65536)
        for _ in extra.unframer.feed(data):
            extra.socket.sendall(answer if extra.percepts else extra.entry)
            extra.percepts += 1
    except (BrokenPipeError, ConnectionResetError):
        return False
    return bool(data)
