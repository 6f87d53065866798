"""Floods `nutmeg serve mj` with malformed messages while polite clients play, and counts what these lose.

    .venv/bin/python scripts/flood_mj.py --messages 100000

It starts a server in real time, two polite agents and a polite monitor, sends the messages over twelve connections that
are opened again whenever the server closes them, and prints a line of JSON. A polite agent loses a cycle when the times
of two percepts in a row differ by more than a cycle; it is sent one every 20 ms, whatever the others do. The exit code
is 1 if a polite client lost anything or if the server did not end well.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import numpy as np

from nutmeg.match.worlds.mj.percept import EFFECTORS
from nutmeg.net.simspark.sexpr import Unframer, framed

CONNECTIONS = 12
CYCLE, CUT = 0.02, 0.0101
"""Length of a cycle, and what a time may be off because it is cut to hundredths [s]."""
STAND = "".join(f"({name} 0 0 100 2 0)" for name in EFFECTORS["t1"]).encode("ascii")
VALID = (
    b"(init T1 reds 2)",
    b"(init K1 rogues 1)",
    b"(beam -1.5 2 30)(SPK say 100 QUJD)(syn)",
    STAND,
    b"(he1 1e308 -1e308 1e308 1e308 1e308)(te1 nan inf 0 0 0)(syn)",
    b"(agent (unum 2)(team Left)(move3d 1 2 0.4 0 0 0 0))",
    b"(agent (unum 1)(team blues)(move 1 2 0.7 90))",
    b"(ball (pos 1 2 3)(vel 4 5 6))(kickOff)(dropBall)(playMode PlayOn)(reqfullstate)(time 3)(score 1 2)",
)
LENGTHS = (0, 1, 4097, 65537, 2**31 - 1, 2**32 - 1)


def malformed(rng: np.random.Generator) -> bytes:
    """Bytes to send: noise, a broken message, one with a wrong length, or a valid one at the wrong time."""
    kind = rng.integers(6)
    if kind == 0:
        return rng.bytes(int(rng.integers(1, 120)))
    message = bytearray(VALID[rng.integers(len(VALID))])
    if kind == 5:
        return framed(bytes(message))
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(message) or 1))
        message[at : at + int(rng.integers(0, 4))] = rng.bytes(int(rng.integers(0, 4)))
    text = bytes(message).replace(b"kill", b"kiss")
    if kind == 1:
        return struct.pack(">I", int(rng.choice(LENGTHS))) + text
    if kind == 2:
        return framed(b"(" * int(rng.integers(1, 1000)) + text)
    if kind == 3:
        return framed(text)[: int(rng.integers(1, len(text) + 4))]  # half-open: the rest never comes
    return framed(text)


class Polite(threading.Thread):
    """A client that reads all it is sent; an agent also answers, so that its robot stands."""

    def __init__(self, port: int, entry: bytes = b"") -> None:
        super().__init__(daemon=True)
        self.messages, self.lost, self.ended = 0, 0, False
        self._socket, self._entry = socket.create_connection(("127.0.0.1", port), timeout=30.0), entry
        if entry:
            self._socket.sendall(framed(entry))
        self.start()

    def run(self) -> None:
        """Reads until the server or `stop` closes the connection."""
        reader, last = Unframer(10**7), -1.0
        with contextlib.suppress(OSError):
            while data := self._socket.recv(1 << 16):
                for message in reader.feed(data):
                    self.messages += 1
                    found = re.search(rb"\(now ([0-9.]+)\)", message) if self._entry else None
                    if found:
                        now = float(found[1])
                        self.lost += last >= 0 and not abs(now - last - CYCLE) < CUT
                        last = now
                        self._socket.sendall(framed(STAND))
        self.ended = True

    def stop(self) -> None:
        """Leaves."""
        self._socket.shutdown(socket.SHUT_RDWR)


def flood(ports: tuple[int, int], messages: int, seed: int) -> int:
    """Sends malformed messages to agents' and monitors' ports; returns how often a connection was opened."""
    rng, opened = np.random.default_rng(seed), 0
    rogues: list[socket.socket | None] = [None] * CONNECTIONS
    for _ in range(messages):
        at = int(rng.integers(CONNECTIONS))
        rogue = rogues[at]
        try:
            if rogue is None:
                rogue = rogues[at] = socket.create_connection(("127.0.0.1", ports[at % 4 == 0]), timeout=5.0)
                rogue.settimeout(0.0)
                opened += 1
            rogue.sendall(malformed(rng))
            if at % 2:  # the others never read
                rogue.recv(1 << 16)
        except BlockingIOError:
            pass
        except OSError:
            if rogue is not None:
                rogue.close()
            rogues[at] = None
    for rogue in rogues:
        if rogue is not None:
            rogue.close()
    return opened


def main() -> int:
    """Floods a server and says what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--agent-port", type=int, default=47600)
    arguments = parser.parse_args()
    ports = (arguments.agent_port, arguments.agent_port + 1)
    command = [sys.executable, "-m", "nutmeg", "serve", "mj", "--no-view", "--no-record", "--seats", "4"]
    command += ["--k1-seats", "2", "--agent-port", str(ports[0]), "--monitor-port", str(ports[1])]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as server:  # noqa: S603 (our own command)
        assert server.stdout is not None
        for line in server.stdout:
            if line.strip() == "ready":
                break
        threading.Thread(target=server.stdout.read, daemon=True).start()
        polite = [Polite(ports[0], b"(init T1 polite 1)"), Polite(ports[0], b"(init T1 polite 2)"), Polite(ports[1])]
        time.sleep(1.0)
        began = time.monotonic()
        opened = flood(ports, arguments.messages, arguments.seed)
        took = time.monotonic() - began
        time.sleep(1.0)
        alive = server.poll() is None and not any(client.ended for client in polite)
        for client in polite:
            client.stop()
            client.join(10.0)
        server.send_signal(signal.SIGINT)
        code = server.wait(60)
    result = {
        "messages": arguments.messages,
        "connections": opened,
        "seconds": round(took, 1),
        "percepts": [client.messages for client in polite[:2]],
        "frames": polite[2].messages,
        "lost": [client.lost for client in polite[:2]],
        "all_alive": alive,
        "exit_code": code,
    }
    sys.stdout.write(json.dumps(result) + "\n")
    return 0 if alive and not any(client.lost for client in polite) else 1


if __name__ == "__main__":
    sys.exit(main())
