"""The connection to one client, the same for all protocols: never waited for, and bounded in every direction.

    class Echo:                                                 # the owner of some connections
        def handle(self, connection, message): connection.send(message)
        def dismiss(self, connection): ...                      # closed already; connection.lost says why

    connection = Connection(sock, "agent 127.0.0.1:50000", loop, reader=Unframer(4096), owner=Echo(), limits=Limits())
    connection.new_cycle()                                      # once a cycle: a new share, lost ones are closed

The loop calls the connection when its socket is ready, and the connection calls its owner for each message. A protocol
brings a `reader`, which cuts the stream of bytes into messages, and chooses a way to send: `send` keeps what the socket
does not take, `offer` leaves out whole packets. Nothing here blocks or raises, whatever a client does: every buffer
has a size, every message a longest length, every cycle a share for each client. A client that has used up its share is
held up: what it sends waits in its own socket until the next cycle.
"""

from __future__ import annotations

import contextlib
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from nutmeg.net.loop import READ, WRITE, SocketLoop

Message = TypeVar("Message")
_Handled_contra = TypeVar("_Handled_contra", contravariant=True)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds for each client; the defaults are those of a SimSpark agent."""

    piece: int = 4096
    """Most bytes taken from a socket at once, so that every client gets its turn."""
    cycle_share: int = 16384
    """Bytes a client may send in a cycle before it is held up until the next."""
    message_cost: int = 64
    """Cost of a message in addition to its bytes, as a part of that share."""
    messages_at_once: int = 256
    """Most messages in one piece; more disconnect the client."""
    sustained: int = 4096
    """Bytes a cycle that a client may send for ever; a full set of SimSpark effectors has about 600."""
    burst: int = 524288
    """Bytes beyond that, all cycles together, before a client is disconnected. An agent that has stalled answers all
    percepts at once that wait for it: some 500, if its socket's buffers and the server's are full."""
    socket_buffer: int = 131072
    """Size of the system's send buffer of a client [bytes]."""
    broken_messages: int = 100
    """Number of unreadable messages after which a client is disconnected."""
    reported_problems: int = 10
    """Problems of a client that are reported; the rest are only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report about a client."""

    kind: Literal["joined", "left", "refused", "problem"]
    """Kind of the report."""
    client: str
    """Which client, as `agent 127.0.0.1:50000`."""
    text: str
    """What happened, and why."""


Reporter: TypeAlias = Callable[[Report], None]


def no_report(_report: Report) -> None:
    """A reporter that drops all reports."""


class MessageReader(Protocol[Message]):
    """Cuts a stream of bytes into messages; a stream that makes no sense ends with a problem."""

    @property
    def problem(self) -> str | None:
        """Why nothing more can be read from this stream, once that is so: the sentence after "it"."""

    def feed(self, data: bytes) -> list[Message]:
        """Returns the messages that are complete once `data` has arrived."""


class Owner(Protocol[_Handled_contra]):
    """Whom a connection belongs to."""

    def handle(self, connection: Any, message: _Handled_contra) -> None:  # noqa: ANN401 (the owner's kind of connection)
        """A message has come."""

    def dismiss(self, connection: Any) -> None:  # noqa: ANN401
        """The connection has ended; `connection.lost` says why."""


class Connection(Generic[Message]):
    """A client's socket with bounded buffers.

    Args:
        sock: connected; taken over.
        name: names the client in reports.
        loop: watches the socket.
        reader: cuts what comes into messages.
        owner: gets the messages, and is called at the end.
        limits: what the client may do.
        report: called with problems and the end.
    """

    def __init__(
        self,
        sock: socket.socket,
        name: str,
        loop: SocketLoop,
        *,
        reader: MessageReader[Message],
        owner: Owner[Message],
        limits: Limits,
        report: Reporter = no_report,
    ) -> None:
        sock.settimeout(0.0)
        with contextlib.suppress(OSError):  # the peer may have gone already
            if sock.family == socket.AF_INET:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.socket_buffer)
        self.name = name
        """Names the client in reports."""
        self.lost: str | None = None
        """Why the connection is to be closed, once that is so."""
        self.held_up = False
        """Whether the client has used up its share of this cycle."""
        self.unanswered = False
        """Whether the client was sent something that it has to answer in lock-step; its owner says so."""
        self.sent = self.missed = 0
        """Packets that were offered and taken, and those for which the client had no room."""
        self.problems = 0
        """Number of problems."""
        self.broken = 0
        """Number of unreadable messages."""
        self.received = 0
        """Number of messages received."""
        self._socket, self._loop, self._reader, self._owner = sock, loop, reader, owner
        self._limits, self._report = limits, report
        self._unsent = bytearray()
        self._share, self._credit = limits.cycle_share, limits.burst
        self._watched, self._closed = 0, False
        self._watch()

    @property
    def unsent(self) -> int:
        """Bytes that wait because the client does not read."""
        return len(self._unsent)

    def lose(self, reason: str) -> None:
        """Notes that the connection is to be closed, which `update` does; the first reason counts."""
        if self.lost is None:
            self.lost = reason

    def receive(self) -> None:
        """Takes a piece of what has come, and hands its messages to the owner."""
        data = self._read()
        if not data:
            return
        limits = self._limits
        messages = self._reader.feed(data)
        size, count = len(data), len(messages)
        self.received += count
        self._share -= size + limits.message_cost * count
        self.held_up = self._share <= 0
        self._credit -= size
        if count > limits.messages_at_once:
            self.lose(f"it sent {count} messages at once; at most {limits.messages_at_once} are allowed")
        elif self._credit < 0:
            self.lose(f"it sent {limits.burst} bytes more than the {limits.sustained} bytes a cycle that are allowed")
        for message in messages:
            if self.lost is not None:
                return
            self._owner.handle(self, message)
        if self._reader.problem is not None:
            self.lose(f"it {self._reader.problem}")

    def send(self, data: bytes) -> None:
        """Sends bytes, now or when the client reads again."""
        if self.lost is not None:
            return
        if self._unsent:
            self._unsent += data
            return
        sent = self._write(data)
        if sent < len(data):
            self._unsent += data[sent:]
            self._watch()

    def offer(self, data: bytes) -> bool:
        """Sends bytes as a whole, or not at all if the client has no room for them; returns whether it sent them."""
        self.flush()
        sent = 0 if self._unsent or self.lost is not None else self._write(data)
        if not sent:
            self.missed += 1
            return False
        self.sent += 1
        self._unsent += data[sent:]
        self._watch()
        return True

    def flush(self) -> None:
        """Goes on sending what waits."""
        if self._unsent and self.lost is None:
            del self._unsent[: self._write(self._unsent)]

    def new_cycle(self) -> None:
        """Gives the client a new share, and closes the connection if it is lost."""
        limits = self._limits
        if self._credit < limits.burst:
            self._credit = min(self._credit + limits.sustained, limits.burst)
        self._share = limits.cycle_share
        if self.held_up or self.lost is not None:
            self.held_up = False
            self.update()

    def update(self) -> None:
        """Watches the socket for what matters now, or closes the connection if it is lost."""
        if self.lost is None:
            self._watch()
        elif not self._closed:
            self.close()
            self._owner.dismiss(self)

    def note_problem(self, text: str) -> None:
        """Reports a problem with what the client sent, the first few times."""
        self.problems += 1
        if self.problems <= self._limits.reported_problems:
            last = "; further problems are not reported" if self.problems == self._limits.reported_problems else ""
            self._report(Report(kind="problem", client=self.name, text=f"{text}{last}"))

    def note_problems(self, problems: Sequence[str], *, broken: bool) -> None:
        """Reports what could not be used of a message, and counts one without any sense."""
        for problem in problems:
            self.note_problem(problem)
        if broken:
            self.count_broken()

    def count_broken(self) -> None:
        """Counts a message without any sense; too many of them lose the client."""
        self.broken += 1
        if self.broken >= self._limits.broken_messages:
            self.lose(f"it sent {self.broken} messages without sense")

    def close(self, reason: str = "the server ends") -> None:
        """Closes the socket; what waits is not sent. The owner is not called."""
        if self._closed:
            return
        self._closed = True
        self.lose(reason)
        self._unsent.clear()
        self._loop.forget(self._socket)
        self._report(Report(kind="left", client=self.name, text=self.lost or ""))
        self._socket.close()

    def _turn(self, events: int) -> None:
        """The socket is ready."""
        if events & WRITE:
            self.flush()
        if events & READ:
            self.receive()
        self.update()

    def _watch(self) -> None:
        wanted = 0 if self.held_up else READ
        if self._unsent:
            wanted |= WRITE
        if wanted != self._watched and not self._closed:
            self._watched = wanted
            self._loop.watch(self._socket, wanted, self._turn)

    def _read(self) -> bytes:
        try:
            data = self._socket.recv(self._limits.piece)
        except BlockingIOError:
            return b""
        except OSError as error:
            self._broke(error)
            return b""
        if not data:
            self.lose("it disconnected")
        return data

    def _write(self, data: bytes | bytearray) -> int:
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self._broke(error)
            return 0

    def _broke(self, error: OSError) -> None:
        self.lose(f"the connection broke ({error.strerror or error})")


Client = TypeVar("Client", bound=Connection[Any])


class Clients(list[Client]):
    """The connections of one listener in the order in which they came, never more than a limit.

    Args:
        limit: largest number of connections at once.
        report: called for each client that comes or is refused.
    """

    def __init__(self, limit: int, report: Reporter = no_report) -> None:
        super().__init__()
        self._limit, self._report = limit, report
        self._gone: Counter[str] = Counter()

    def admit(self, sock: socket.socket, name: str, text: str, make: Callable[[], Client]) -> Client | None:
        """The connection that `make` makes for a new client, which is reported with `text`; None if it is refused."""
        if len(self) >= self._limit:
            refuse(sock, name, self._limit, self._report)
            return None
        client = make()
        self.append(client)
        self._report(Report(kind="joined", client=name, text=text))
        return client

    def leave(self, client: Client) -> None:
        """A client has gone; what it did still counts."""
        self.remove(client)
        self._gone.update(_counts(client))

    def waiting(self) -> list[str]:
        """Names of the clients that have not answered (lock-step)."""
        return [client.name for client in self if client.unanswered]

    def give_up(self, names: Sequence[str], reason: str) -> None:
        """Disconnects clients by their names."""
        for client in [client for client in self if client.name in names]:
            client.lose(reason)
            client.update()

    def counts(self) -> Counter[str]:
        """Counts of packets, answers, missed packets and problems, of present and former clients."""
        total = Counter(packets=0, answers=0, missed=0, problems=0)
        for counts in (self._gone, *map(_counts, self)):
            total.update(counts)
        return total

    def close(self) -> None:
        """Disconnects all clients, and notifies their owner."""
        self.give_up([client.name for client in self], "the server ends")


def _counts(client: Connection[Any]) -> dict[str, int]:
    return {"packets": client.sent, "answers": client.received, "missed": client.missed, "problems": client.problems}


def refuse(sock: socket.socket, name: str, limit: int, report: Reporter) -> None:
    """Sends a client away because there are `limit` connections already."""
    report(Report(kind="refused", client=name, text=f"there are {limit} connections already"))
    sock.close()
