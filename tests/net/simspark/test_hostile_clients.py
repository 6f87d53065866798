"""Clients that do everything wrong: they are held up or disconnected with a reason, and others notice nothing."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from nutmeg.net.agents import AgentLimits
from nutmeg.net.simspark.sexpr import framed

Serve = Callable[..., Any]
QUICK = 0.002
SCENE = b"(scene rsg/agent/nao/nao_hetero.rsg 0)"


def assert_plays_on(agent: Any, cycles: int = 20) -> None:
    """A polite agent is sent every cycle's percept, without a gap."""
    times = []
    for _ in range(cycles):
        times.append(agent.percept().time)
        agent.send(b"(he1 0.1)(syn)")
    assert np.diff(times) == pytest.approx(np.full(cycles - 1, 0.02), abs=1e-9)


@contextlib.contextmanager
def sending(client: Any, data: bytes) -> Iterator[None]:
    """Send the same bytes again and again, until the server ends it."""

    def send() -> None:
        with contextlib.suppress(OSError):
            while True:
                client.socket.sendall(data)

    thread = threading.Thread(target=send)
    thread.start()
    yield
    thread.join(120.0)
    assert not thread.is_alive(), "the server takes it all"


@pytest.mark.parametrize("length", [5000, 2**31 - 1, 2**31, 2**32 - 1])
def test_an_impossible_length_is_the_end_of_it(serve: Serve, length: int) -> None:
    served = serve(cycle=QUICK)
    polite, liar = served.agent(), served.agent()
    polite.enter()
    liar.send_raw(struct.pack(">I", length) + b"x" * 100)
    assert liar.ended()
    assert_plays_on(polite)
    assert any(f"announced a message of {length} bytes" in text for text in served.texts("left"))


def test_a_web_browser_is_sent_away(serve: Serve) -> None:
    served = serve(cycle=QUICK)
    browser = served.monitor()
    browser.send_raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert browser.ended()


def test_messages_without_sense_are_the_end_after_a_while(serve: Serve) -> None:
    served = serve(cycle=QUICK, limits=AgentLimits(broken_messages=20))
    polite, babbler = served.agent(), served.agent()
    polite.enter()
    for junk in (b"((((((((((", b"\x00\xff" * 50, b")", b"hello") * 6:
        babbler.send_raw(framed(junk))
    assert babbler.ended()
    assert_plays_on(polite)
    assert "it sent 20 messages without sense" in served.texts("left")
    assert len(served.texts("problem")) == AgentLimits().reported_problems


def test_unknown_effectors_and_impossible_numbers_are_told_and_survived(serve: Serve) -> None:
    served = serve(pace="sync")
    agent = served.agent()
    agent.enter()
    for _ in range(200):
        agent.send(b"(wings 1)(he1 nan)(lle7 1)(beam nan 0 0)(syn)")
        assert np.isfinite(agent.percept().angles).all()
    assert served.texts("problem")[:2] == ["unknown effector 'wings'", "he1 needs one finite number, not [b'nan']"]
    assert served.server.agents == 1


def test_one_who_does_not_read_misses_whole_percepts_and_stays_in_the_game(serve: Serve) -> None:
    served = serve(cycle=QUICK, limits=AgentLimits(unsent=8192, socket_buffer=4096))
    deaf = served.agent()
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    times = [deaf.enter().time]
    cycles = served.game.cycles
    served.wait_until(lambda: served.game.cycles > cycles + 1000)
    while times[-1] - times[0] < 0.02 * len(times) - 0.01:  # up to the gap every percept comes, and whole
        times.append(deaf.percept().time)
    assert served.game.present.sum() == 1


def test_one_who_stalls_and_then_answers_everything_at_once_plays_on(serve: Serve) -> None:
    served = serve(cycle=QUICK)
    polite, stalled = served.agent(), served.agent()
    polite.enter()
    stalled.enter(team="Stalled")
    assert_plays_on(polite, 400)
    stalled.send_raw(framed(b"(lae1 0.12345)" * 42 + b"(syn)") * 400)
    assert_plays_on(polite, 100)
    assert_plays_on(stalled)
    assert served.texts("left") == []


@pytest.mark.parametrize(
    ("flood", "reason"),
    [
        (framed(b"(he1 1)" * 500), "bytes a cycle that are allowed"),
        (framed(b"(he1 1)"), "messages at once"),
        (framed(b""), "messages at once"),
    ],
)
def test_a_flood_is_held_up_and_then_ended(serve: Serve, flood: bytes, reason: str) -> None:
    served = serve(cycle=QUICK, limits=AgentLimits(sustained=256))
    polite, flooder = served.agent(), served.agent()
    polite.enter()
    flooder.enter(team="Flooders")
    with sending(flooder, flood * 400):
        assert_plays_on(polite)
    assert [reason in text for text in served.texts("left")] == [True], served.texts("left")
    assert_plays_on(polite)


def test_a_flood_does_not_stop_a_synchronous_server(serve: Serve) -> None:
    served = serve(pace="sync", limits=AgentLimits(messages_at_once=1_000_000))
    polite, flooder = served.agent(), served.agent()
    flooder.send(SCENE)
    flooder.percept()
    polite.send(SCENE, b"(syn)")
    with sending(flooder, framed(b"(he1 1)") * 100):
        assert_plays_on(polite)
    assert any("without (syn)" in text for text in served.texts("left"))


def test_half_a_message_and_half_a_handshake_are_not_waited_for(serve: Serve) -> None:
    served = serve(pace="sync", limits=AgentLimits(handshake=1000.0))
    polite, silent, half, undecided = (served.agent() for _ in range(4))
    polite.enter()
    half.send_raw(framed(SCENE)[:20])
    undecided.send(SCENE)
    served.wait_for_robots(2)
    polite.send(b"(syn)")
    undecided.percept()
    polite.percept()
    polite.send(b"(syn)")
    served.let_pass(2000.0, silent, half, undecided)
    assert silent.ended()
    assert half.ended()
    assert undecided.ended()
    assert_plays_on(polite, 3)
    texts = served.texts("left")
    assert sum("it has not sent (scene ...)" in text for text in texts) == 2
    assert sum("it has not sent (init ...)" in text for text in texts) == 1


def test_one_who_does_not_answer_is_waited_for_only_so_long(serve: Serve) -> None:
    served = serve(pace="sync", limits=AgentLimits(patience=1000.0))
    polite, asleep = served.agent(), served.agent()
    polite.enter()
    asleep.send(SCENE, b"(init (unum 0)(teamname Sleepers))")
    served.wait_for_robots(2)
    polite.send(b"(syn)")
    asleep.percept()
    polite.percept()
    polite.send(b"(syn)")
    served.let_pass(2000.0, asleep)
    assert asleep.ended()
    assert_plays_on(polite)
    assert "it has not sent (syn) for 1000 s" in served.texts("left")


def test_only_so_many_connections_are_open_at_once(serve: Serve) -> None:
    served = serve(cycle=QUICK, limits=AgentLimits(agents=3))
    polite = served.agent()
    polite.enter()
    crowd = [served.agent() for _ in range(10)]
    assert sum(not refused(client) for client in crowd) == 2
    assert len(served.texts("refused")) == 8
    assert_plays_on(polite)


def refused(client: Any) -> bool:
    client.send_raw(framed(SCENE))
    return client.receive() is None


def test_hundreds_of_connections_come_and_go(serve: Serve) -> None:
    served = serve(cycle=QUICK, limits=AgentLimits(unsent=1 << 24))  # the polite one does not read meanwhile
    polite = served.agent()
    polite.enter()
    for k in range(200):
        client = served.agent()
        client.send_raw([b"", b"\x00", framed(SCENE), framed(b"(init (unum 0)(teamname B))")][k % 4])
        if k % 3:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset it
        client.close()
    assert_plays_on(polite)
    while served.server.connections > 1:
        assert_plays_on(polite, 3)
    assert served.game.present.sum() == 1


def test_random_bytes_from_a_crowd_leave_the_game_as_it_is(serve: Serve) -> None:
    served = serve(cycle=QUICK)
    polite = served.agent()
    polite.enter()
    rng = np.random.default_rng(0)
    crowd = [served.agent() for _ in range(10)] + [served.monitor() for _ in range(5)]
    for round_number in range(20):
        for client in crowd:
            junk = rng.integers(0, 256, rng.integers(1, 200), np.uint8).tobytes()
            client.send_raw(framed(junk) if round_number % 2 else junk)
    assert_plays_on(polite)
    assert served.server.agents == 1
    assert served.thread.is_alive()
