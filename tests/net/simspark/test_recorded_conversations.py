"""Recorded agents of two teams against our server and a real game: accepted, and answered in the league's own form."""

from __future__ import annotations

import itertools
import re
import socket
import threading
from types import SimpleNamespace

from nutmeg.match.game import Game
from nutmeg.match.rules.book import load_rules
from nutmeg.net.connection import Report
from nutmeg.net.simspark.server import Server, ServerSettings
from nutmeg.net.simspark.sexpr import Unframer, framed

NUMBER = re.compile(rb"-?\d+\.\d\d(?=[ )])")
SEEN = re.compile(rb"\(See.*?\)\)\)(?=\(HJ)")
FELT = re.compile(rb"\(FRP \(n \w+\) \(c # # #\) \(f # # #\)\)")


def conversations(recorded: SimpleNamespace) -> list[list[bytes]]:
    """The messages of each recorded agent."""
    starts = [i for i, message in enumerate(recorded.from_agents) if b"(scene" in message]
    return [recorded.from_agents[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]


def form(message: bytes) -> bytes:
    """A percept with its reals, what is seen and felt, heard, and the first introduction taken out."""
    text = NUMBER.sub(b"#", SEEN.sub(b"", message))
    text = FELT.sub(b"", text)
    text = re.sub(rb"\(hear [^)]*\)", b"", text)
    return re.sub(rb"\(unum \d+\) \(team \w+\) ", b"", text)


def answers(messages: list[bytes], reports: list[Report]) -> list[bytes]:
    """Every percept that our server sends to an agent with these messages."""
    game = Game(load_rules("sim3d"), seed=1, seats=2)
    found: list[bytes] = []
    with game, Server(game, ServerSettings(agent_port=0, monitor_port=0, pace="sync"), reports.append) as server:
        thread = threading.Thread(target=server.run)
        thread.start()
        with socket.create_connection(("127.0.0.1", server.agent_port), timeout=120.0) as sock:
            unframer = Unframer(1 << 20)
            for message in messages:
                sock.sendall(framed(message if b"(syn)" in message else message + b"(syn)"))
                count = len(found)
                while len(found) == count:
                    found += unframer.feed(sock.recv(65536))
        server.stop()
        thread.join(120.0)
    return found


def test_recorded_agents_are_accepted_and_told_percepts_of_the_recorded_form(recorded: SimpleNamespace) -> None:
    theirs = {form(message) for message in recorded.to_agents}
    for messages in conversations(recorded):
        reports: list[Report] = []
        percepts = answers(messages, reports)
        assert [report.text for report in reports if report.kind == "problem"] == []
        assert [report.kind for report in reports][:1] == ["joined"]
        assert {form(message) for message in percepts} <= theirs
        assert sum(b"(unum " in message for message in percepts) == 1
        times = [float(re.search(rb"now ([\d.]+)", message)[1]) for message in percepts]  # type: ignore[index]
        assert {round(b - a, 2) for a, b in itertools.pairwise(times)} == {0.02}


def test_images_come_every_third_cycle_as_recorded(recorded: SimpleNamespace) -> None:
    percepts = answers([*conversations(recorded)[0], *[b"(syn)"] * 12], [])
    joined = next(i for i, message in enumerate(percepts) if b"(unum " in message)
    seen = [i for i, message in enumerate(percepts) if b"(See" in message and i >= joined]
    assert len(seen) > 2
    assert {b - a for a, b in itertools.pairwise(seen)} == {3}
    assert all(len(message) < 8192 for message in percepts)
