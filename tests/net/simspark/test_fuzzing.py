"""A real game under thousands of malformed messages from many connections; one polite agent notices nothing."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nutmeg.match.game import Game
from nutmeg.match.rules.book import load_rules
from nutmeg.match.worlds.physical.percept import EFFECTORS
from nutmeg.net.agents import AgentLimits
from nutmeg.net.simspark.agent import Agent
from nutmeg.net.simspark.server import Server, ServerSettings
from nutmeg.net.simspark.sexpr import framed

from ...conftest import resident

VALID = (
    b"(scene rsg/agent/nao/nao_hetero.rsg 3)",
    b"(scene rsg/agent/nao/nao.rsg)(syn)",
    b"(init (unum 0)(teamname Rogues))",
    b"(beam -1.5 2 30)(say abc!)(pass)(syn)",
    "".join(f"({name} 1.5)" for name in EFFECTORS[:22]).encode("ascii") + b"(syn)",
    b"(agent (unum 1)(team Left)(move 1 2 0.4 90))",
    b"(ball (pos 1 2 3)(vel 4 5 6))",
    b"(playMode PlayOn)(dropBall)(kickOff Left)(reqfullstate)(time 3)(score 1 2)",
)
LENGTHS = (0, 1, 4097, 65537, 2**31 - 1, 2**31, 2**32 - 1)


def malformed(rng: np.random.Generator) -> bytes:
    """Bytes to send: noise, a broken message, one with a wrong length, or a valid one at the wrong time."""
    kind = rng.integers(6)
    if kind == 0:
        return rng.bytes(int(rng.integers(1, 120)))
    if kind == 1:
        return framed(rng.bytes(int(rng.integers(0, 120))))
    message = bytearray(VALID[rng.integers(len(VALID))])
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(message)))
        message[at : at + int(rng.integers(0, 4))] = rng.bytes(int(rng.integers(0, 4)))
        message = message or bytearray(b"(")
    if kind == 2:
        return framed(bytes(message))
    if kind == 3:
        return framed(b"(" * int(rng.integers(1, 2000)) + bytes(message))
    if kind == 4:
        return struct.pack(">I", int(rng.choice(LENGTHS))) + bytes(message)
    return framed(bytes(message))[: int(rng.integers(1, len(message) + 4))]  # half-open: the rest never comes


def without_end(message: bytes) -> bytes:
    """Without an order to end the simulation, which a monitor may give."""
    return message.replace(b"kill", b"kiss")


class Harassment:
    """Clients that send malformed messages, come again when they are thrown out, and mostly do not read."""

    def __init__(self, server: Server, rng: np.random.Generator, clients: int) -> None:
        self.ports, self.rng = (server.agent_port, server.monitor_port), rng
        self.sockets: list[socket.socket | None] = [None] * clients
        self.sent = self.connects = 0

    def go_on(self, messages: int) -> None:
        while self.sent < messages:
            at = int(self.rng.integers(len(self.sockets)))
            self._send(at, without_end(malformed(self.rng)))
            self.sent += 1

    def _send(self, at: int, message: bytes) -> None:
        sock = self.sockets[at]
        try:
            if sock is None:
                sock = self.sockets[at] = socket.create_connection(("127.0.0.1", self.ports[at % 5 == 0]), timeout=5.0)
                sock.settimeout(0.0)
                self.connects += 1
            sock.sendall(message)
            if at % 2:
                sock.recv(65536)
        except BlockingIOError:
            pass  # the server has sent nothing yet, or reads slower than this sends: the next message comes anyway
        except OSError:
            self._drop(at)
        if self.rng.random() < 0.01:
            self._drop(at)

    def _drop(self, at: int) -> None:
        sock, self.sockets[at] = self.sockets[at], None
        if sock is not None:
            if self.rng.random() < 0.5:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()

    def close(self) -> None:
        for at in range(len(self.sockets)):
            self._drop(at)


@contextlib.contextmanager
def real_game(pace: str) -> Iterator[tuple[Server, threading.Thread]]:
    """A served game with physics."""
    game = Game(load_rules("sim3d"), seed=3, seats=4)
    patient = AgentLimits(unsent=1 << 24, handshake=120.0)  # the polite one may be kept from its turn
    settings = ServerSettings(agent_port=0, monitor_port=0, pace=pace, limits=patient)  # type: ignore[arg-type]
    with game, Server(game, settings) as server:
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield server, thread
        finally:
            server.stop()
            thread.join(120.0)


def polite_times(agent: Agent, done: threading.Event, least: int) -> list[float]:
    """Plays until the harassment is over and for so many cycles at least; the server's times that it was told."""
    times: list[float] = []
    while not done.is_set() or len(times) < least:
        percept = agent.perceive()
        assert percept is not None, "the server has ended the connection of the polite agent"
        times.append(percept.time)
        assert np.isfinite(percept.angles).all()
        agent.send(b"(he1 0.1)(syn)")
    return times


def harass(messages: int, clients: int) -> dict[str, Any]:
    """What a polite agent sees while others misbehave."""
    with real_game("real-time") as (server, thread), Agent("127.0.0.1", server.agent_port, team="Polite") as agent:
        first = agent.perceive()
        assert first is not None
        agent.send(b"(syn)")
        harassment = Harassment(server, np.random.default_rng(1), clients)
        harassment.go_on(messages // 10)
        before, done = resident(), threading.Event()

        def rest() -> None:
            try:
                harassment.go_on(messages)
            finally:
                done.set()

        worker = threading.Thread(target=rest)
        worker.start()
        times = polite_times(agent, done, least=50)
        worker.join()
        grown = resident() - before
        harassment.close()
        return {"times": times, "grown": grown, "alive": thread.is_alive(), "connects": harassment.connects}


def check(found: dict[str, Any]) -> None:
    assert found["alive"]
    assert np.diff(found["times"]) == pytest.approx(0.02, abs=1e-9)
    assert found["grown"] < 60.0


def test_thousands_of_malformed_messages_leave_a_real_game_as_it_is() -> None:
    check(harass(3_000, 20))


@pytest.mark.slow
def test_a_hundred_thousand_malformed_messages_from_forty_connections() -> None:
    found = harass(100_000, 40)
    check(found)
    assert found["connects"] > 1_000


def test_a_synchronous_game_goes_on_while_others_connect_and_say_nothing() -> None:
    with real_game("sync") as (server, thread), Agent("127.0.0.1", server.agent_port, team="Polite") as agent:
        silent = [socket.create_connection(("127.0.0.1", server.agent_port)) for _ in range(10)]
        done = threading.Event()
        done.set()
        times = polite_times(agent, done, least=100)
        for sock in silent:
            sock.close()
        assert thread.is_alive()
    assert np.diff(times) == pytest.approx(0.02, abs=1e-9)
