"""Recorded agents of two teams against our server and a real game: accepted, and answered in the league's own form."""

from __future__ import annotations

import contextlib
import itertools
import re
import socket
import threading
from types import SimpleNamespace

import numpy as np

from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.rules.book import load_rules
from nutmeg.match.worlds.physical.percept import Percept, Sight
from nutmeg.net.connection import Report
from nutmeg.net.simspark.agent import read_percept
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


def joined(sock: socket.socket, messages: list[tuple[bool, bytes]]) -> list[Percept]:
    """What our server sends to an agent that joins with these messages; the agent goes on saying (syn) then."""
    unframer, waiting, found = Unframer(1 << 20), list[bytes](), list[bytes]()
    for sent, message in messages:
        if sent:
            sock.sendall(framed(message))
            continue
        while not waiting:
            waiting += unframer.feed(sock.recv(65536))
        found.append(waiting.pop(0))

    def idle() -> None:
        with contextlib.suppress(OSError):
            sock.sendall(framed(b"(syn)"))
            while data := sock.recv(65536):
                for _ in unframer.feed(data):
                    sock.sendall(framed(b"(syn)"))

    threading.Thread(target=idle, daemon=True).start()
    return [read_percept(message) for message in found]


def test_newcomers_fall_see_and_stand_as_recorded(recorded: SimpleNamespace) -> None:
    game = Game(load_rules("sim3d"), seed=1, seats=3, setup=PhysicalSetup(toed=1, ground_truth=True))
    ours: dict[str, list[Percept]] = {}
    with game, contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(game, ServerSettings(agent_port=0, monitor_port=0, pace="sync")))
        thread = threading.Thread(target=server.run)
        thread.start()
        for name, messages in recorded.joining.items():
            address = ("127.0.0.1", server.agent_port)
            ours[name] = joined(stack.enter_context(socket.create_connection(address, timeout=120.0)), messages)
        server.stop()
        thread.join(120.0)
    for name, messages in recorded.joining.items():
        theirs = [read_percept(message) for sent, message in messages if not sent]
        entry = len(theirs) - 6
        assert [p.game.number for p in ours[name]] == [p.game.number for p in theirs]
        for mine, real in zip(ours[name][:entry], theirs[:entry], strict=True):
            assert np.abs(mine.acc - real.acc).max() < 0.015
            assert np.array_equal(np.abs(mine.angles), np.abs(real.angles))
            assert (mine.sight is None) == (real.sight is None)
            if mine.sight is not None and real.sight is not None:
                check_same_sight(mine.sight, real.sight)
        first, last = (
            next(p.sight for p in reversed(percepts) if p.sight is not None) for percepts in (ours[name], theirs)
        )
        assert first.my_position is not None
        assert last.my_position is not None
        assert np.abs(first.my_position - last.my_position).max() < 0.02
        assert abs(first.my_heading or 0.0) < 1.0


def check_same_sight(mine: Sight, real: Sight) -> None:
    """Asserts that two images of the same scene differ by nothing but the noise of two cameras."""
    assert mine.labels == real.labels
    # The original names players in the order of addresses in its memory.
    seen, expected = (sorted(zip(one.teams, one.numbers, strict=True)) for one in (mine, real))
    assert seen == expected
    # In one recorded image the halfway line is missing, which goes straight away from the camera: rounding errors.
    assert 0 <= len(mine.lines) - len(real.lines) <= 1
    assert np.abs(mine.marks - real.marks).max() < 1.5
    differences = np.abs(mine.lines[:, None] - real.lines[None]).max(axis=(2, 3))  # each line with each
    assert differences.min(axis=0).max() < 1.5
    assert mine.my_position is not None
    assert real.my_position is not None
    assert np.abs(mine.my_position - real.my_position).max() < 0.015
    assert mine.my_heading == real.my_heading == 90.0
