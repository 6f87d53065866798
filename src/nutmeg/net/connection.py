"""A connected socket that is never waited for: nothing here blocks or raises.

    wire = Wire(sock, "sensors 127.0.0.1:50000", send_buffer=4096)
    data = wire.read(4096)                      # b"" if nothing has come
    left = packet[wire.write(packet) :]         # what there was no room for
    if wire.lost is not None:
        ...                                     # close it, and say why

A wire only notes that it is lost, and why; whoever owns it closes it.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from nutmeg.net.simspark.sexpr import Unframer, framed


class Wire:
    """One client's socket.

    Args:
        sock: connected; taken over.
        name: what people are told it is.
        send_buffer: what the system is asked to hold for a client that does not read [bytes].
        at_once: whether small packets leave at once, over TCP.
    """

    def __init__(self, sock: socket.socket, name: str, *, send_buffer: int, at_once: bool = False) -> None:
        sock.settimeout(0.0)
        with contextlib.suppress(OSError):  # the peer may have gone already
            if at_once:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self.socket = sock
        self.name = name
        """What people are told it is."""
        self.lost: str | None = None
        """Why it is to be closed, once that is so."""

    def lose(self, reason: str) -> None:
        """Notes that it is to be closed; the first reason counts."""
        if self.lost is None:
            self.lost = reason

    def read(self, most: int) -> bytes:
        """What has come, at most so many bytes; nothing if it is lost."""
        try:
            data = self.socket.recv(most)
        except BlockingIOError:
            return b""
        except OSError as error:
            self._broke(error)
            return b""
        if not data:
            self.lose("it disconnected")
        return data

    def write(self, data: bytes | memoryview) -> int:
        """Sends what there is room for; how many bytes that was."""
        try:
            return self.socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self._broke(error)
            return 0

    def _broke(self, error: OSError) -> None:
        self.lose(f"the connection broke ({error.strerror or error})")


# ----------------------------------------------------------------------------------------------------
# What a client may do before it is held up or disconnected, and how a server tells people what happened.
#
# Held up means that its messages wait in its own socket until the next cycle. None of it depends on good will: every
# buffer has a size, every message a longest length, every cycle a share for each client.


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds for each client."""

    agent_message: int = 4096
    """The longest message of an agent, bytes."""
    monitor_message: int = 65536
    """The longest message of a monitor, bytes."""
    cycle_share: int = 16384
    """Bytes a client may send in a cycle before it is held up until the next."""
    message_cost: int = 64
    """What a message costs of that share beside its own bytes."""
    messages_at_once: int = 256
    """Messages in one piece of 4096 bytes."""
    sustained: int = 4096
    """Bytes a cycle that a client may send for ever; a full set of effectors has about 600."""
    burst: int = 131072
    """Bytes beyond that, all cycles together, before a client is disconnected."""
    unsent: int = 131072
    """Bytes that may wait here for an agent that does not read, beside what its socket holds."""
    socket_buffer: int = 131072
    """Size of the system's send buffer of a client, bytes."""
    broken_messages: int = 100
    """Messages without sense before a client is disconnected."""
    reported_problems: int = 10
    """Problems of a client that are told; the rest are only counted."""
    handshake: float = 10.0
    """Time to ask for a robot, and again to enter the game once percepts come, s."""
    patience: float = 600.0
    """How long a server that waits for `(syn)` waits for one client, s."""
    newcomers: float = 5.0
    """How long such a server waits for the answer of who does not know its number yet, s. The league's server does not
    wait for the answers to an agent's first percepts at all, and there are agents that throw one of them away."""
    agents: int = 64
    """Connections of agents at once."""
    monitors: int = 16
    """Connections of monitors at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Something about a client that people may want to know."""

    kind: Literal["joined", "left", "refused", "problem"]
    """What kind of thing."""
    client: str
    """Which client, as `agent 127.0.0.1:50000`."""
    text: str
    """What happened, and why."""


Reporter: TypeAlias = Callable[[Report], None]


# ----------------------------------------------------------------------------------------------------
# One client's socket, never waited for: what comes in is bounded, and so is what waits to go out.
#
# A connection only notes that it is lost, and why; whoever owns it closes it. Nothing here blocks or raises.


_PIECE = 4096
"""Most bytes taken from a socket at once, so that everybody has a turn."""


class Connection:
    """A socket with bounded buffers."""

    def __init__(self, sock: socket.socket, name: str, *, longest: int, limits: Limits) -> None:
        """Take over a connected socket; messages longer than `longest` lose it."""
        sock.settimeout(0.0)
        with contextlib.suppress(OSError):  # the peer may have gone already
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.socket_buffer)
        self.socket = sock
        self.name = name
        """What people are told it is."""
        self.lost: str | None = None
        """Why it is to be closed, once that is so."""
        self.held_up = False
        """Whether it has used up its share of this cycle."""
        self.watched = 0
        """Events that its owner's selector waits for; 0 is not registered."""
        self.problems = 0
        """Problems noted so far."""
        self.broken = 0
        """Messages without any sense so far."""
        self._limits = limits
        self._unframer = Unframer(longest)
        self._unsent = bytearray()
        self._share = limits.cycle_share
        self._credit = self._most = limits.burst
        self._sustained, self._cost = limits.sustained, limits.message_cost

    @property
    def unsent(self) -> int:
        """Bytes that wait because the client does not read."""
        return len(self._unsent)

    def lose(self, reason: str) -> None:
        """Note that it is to be closed; the first reason counts."""
        if self.lost is None:
            self.lost = reason

    def receive(self) -> list[bytes]:
        """The messages that have arrived, at most a piece of them; call when the socket is readable."""
        try:
            data = self.socket.recv(_PIECE)
        except BlockingIOError:
            return []
        except OSError as error:
            self.lose(f"the connection broke ({error.strerror or error})")
            return []
        if not data:
            self.lose("it disconnected")
            return []
        messages = self._unframer.feed(data)
        if len(messages) > self._limits.messages_at_once:
            self.lose(f"it sent {len(messages)} messages at once; at most {self._limits.messages_at_once} are allowed")
            return []
        size = len(data)
        self._share -= size + self._cost * len(messages)
        self.held_up = self._share <= 0
        self._credit -= size
        if self._credit < 0:
            limits = self._limits
            self.lose(f"it sent {limits.burst} bytes more than the {limits.sustained} bytes a cycle that are allowed")
        if self._unframer.problem is not None:
            self.lose(self._unframer.problem)
        return messages

    def send(self, message: bytes) -> None:
        """Send a message, now or when the client reads again."""
        self.send_framed(framed(message))

    def send_framed(self, data: bytes) -> None:
        """Send a message that has its length before it already."""
        if self.lost is not None:
            return
        if self._unsent:
            self._unsent += data
        else:
            sent = self._try(data)
            if sent < len(data):
                self._unsent += data[sent:]

    def flush(self) -> None:
        """Go on sending what waits; call when the socket is writable."""
        if self._unsent and self.lost is None:
            del self._unsent[: self._try(self._unsent)]

    def new_cycle(self) -> bool:
        """Give it a new share; whether there is nothing to do but to wait for what it says, as before."""
        if self._credit < self._most:
            self._credit = min(self._credit + self._sustained, self._most)
        plain = self.lost is None and not self.held_up and not self._unsent and self.watched == selectors.EVENT_READ
        self._share = self._limits.cycle_share
        self.held_up = False
        return plain

    def close(self) -> None:
        """Close the socket; what waits is not sent."""
        self._unsent.clear()
        self.socket.close()

    def _try(self, data: bytes | bytearray) -> int:
        try:
            return self.socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self.lose(f"the connection broke ({error.strerror or error})")
            return 0
