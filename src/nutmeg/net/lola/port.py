"""The LoLA side of a host: a Unix socket for each Nao, a packet every 12 ms, and whatever comes back is obeyed.

    robots = (Placement(robot="nao-v6", name="nao-1", pos=(-1, 0), actuation="servo"),)
    port = LolaPort({"nao-1": Path("/tmp/robocup")})
    with RobotHost(HostSettings(robots=robots), [port]) as host:
        host.run()

As on the robot, anybody may connect to a socket and is sent the packets; whoever connected last moves the robot, so
that a program that takes over is not disturbed by one that forgot to go. A client that goes leaves the robot as it was
told last, for the next one. In lock-step everybody connected is waited for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.net.connection import Report, Reporter, Wire
from nutmeg.net.lola.packets import LIGHTS, PERIOD, PackedError, read_commands, read_message
from nutmeg.net.lola.robot import POKES, LolaBody
from nutmeg.net.loop import unix_listener
from nutmeg.recording import Channel

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nutmeg.net.host.cameras import Picture
    from nutmeg.net.host.robot_host import RobotHost
    from nutmeg.net.lola.packets import Value
    from nutmeg.net.lola.pictures import PicturePort


# ----------------------------------------------------------------------------------------------------
# One client at a LoLA socket, with bounded buffers; it can send what it likes and read as slowly as it likes.
#
# Packets go out whole or not at all: a client that does not read misses packets (`missed` counts them) but never sees
# a part of one, and finds the newest few when it reads again. What comes in is taken apart into messages; bytes that
# are no message, or more of them than anybody needs, lose the connection. Nothing here blocks or raises.


@dataclass(frozen=True, kw_only=True)
class LolaLimits:
    """Bounds for each client."""

    message: int = 8192
    """The longest message [bytes]; a full set of actuators with floats of 64 bits has 1374."""
    piece: int = 4096
    """Most bytes taken at once."""
    pieces: int = 8
    """Pieces taken in a cycle; the rest waits in the socket until the next."""
    messages: int = 32
    """Messages in a piece before a client is disconnected."""
    broken: int = 100
    """Messages without any sense before a client is disconnected."""
    reported: int = 10
    """Problems of a client that are told; the rest are only counted."""
    send_buffer: int = 4096
    """What the system is asked to hold for a client that does not read [bytes]: a few packets."""
    clients: int = 8
    """Connections at once to one socket; only the newest moves the robot."""


class LolaConnection(Wire):
    """A socket with bounded buffers."""

    def __init__(self, sock: socket.socket, name: str, limits: LolaLimits) -> None:
        super().__init__(sock, name, send_buffer=limits.send_buffer)
        self.sent = self.received = self.missed = self.problems = self.broken = 0
        """Packets sent, messages received, packets for which it had no room, problems, messages without sense."""
        self.unanswered = False
        """Whether it has been sent a packet since its last message."""
        self._limits = limits
        self._buffer = b""
        self._unsent = b""
        self._pieces = limits.pieces

    @property
    def held_up(self) -> bool:
        """Whether it has used up its share of this cycle."""
        return self._pieces <= 0

    @property
    def unsent(self) -> bool:
        """Whether a part of a packet still has to go out."""
        return bool(self._unsent)

    def new_cycle(self) -> None:
        """Gives it a new share."""
        self._pieces = self._limits.pieces

    def send(self, packet: bytes) -> None:
        """Sends a packet, or leaves it out where there is no room for it."""
        self.flush()
        if self.lost is not None:
            return
        sent = 0 if self._unsent else self.write(packet)
        if self._unsent or not sent:
            self.missed += 1
            return
        self._unsent = packet[sent:]
        self.sent += 1
        self.unanswered = True

    def flush(self) -> None:
        """Goes on with a packet that was begun."""
        if self._unsent and self.lost is None:
            self._unsent = self._unsent[self.write(self._unsent) :]

    def receive(self) -> list[Value]:
        """The messages that have arrived; call when the socket is readable."""
        self._pieces -= 1
        data = self.read(self._limits.piece)
        self._buffer += data
        return self._messages() if data else []

    def _messages(self) -> list[Value]:
        out: list[Value] = []
        at = 0
        try:
            while at < len(self._buffer) and (found := read_message(self._buffer, at)) is not None:
                out.append(found[0])
                at = found[1]
                if len(out) > self._limits.messages:
                    self.lose(f"it sent more than {self._limits.messages} messages at once")
                    return []
        except PackedError as error:
            self.lose(f"it sent what is no packet: {error}")
            return out
        self._buffer = self._buffer[at:]
        if len(self._buffer) > self._limits.message:
            self.lose(f"it sent a packet of more than {self._limits.message} bytes")
        self.received += len(out)
        if out:
            self.unanswered = False
        return out

    def close(self) -> None:
        """Closes the socket; what waits is not sent."""
        self._unsent = b""
        self.socket.close()


ACCEPTED_AT_ONCE = 16
LIGHT_LABELS = tuple(f"{name}{k}" for name, count in LIGHTS.items() for k in range(count))
"""Lights as they are recorded, in the channel `<robot>.lights`."""


class LolaPort:
    """Serves robots over LoLA.

    Args:
        paths: the socket of each robot, by the robot's name.
        pictures: where cameras are served; None for nowhere.
        report: told about clients.
        limits: what one client may do.
    """

    name = "lola"
    period = PERIOD

    def __init__(
        self,
        paths: Mapping[str, Path],
        *,
        pictures: PicturePort | None = None,
        report: Reporter | None = None,
        limits: LolaLimits | None = None,
    ) -> None:
        self.paths, self.pictures = dict(paths), pictures
        self._report: Reporter = report or (lambda _: None)
        self._limits = limits or LolaLimits()
        self.seats: dict[str, LolaSeat] = {}
        """The robots by name."""
        self.packets = self.messages = self.missed = self.problems = 0
        """Packets sent, messages received, packets left out and problems of clients that have gone."""

    def open(self, host: RobotHost) -> None:
        """Takes the robots and listens."""
        self._host = host
        for number, (name, path) in enumerate(self.paths.items(), 1):
            robot = host.take(name, period=PERIOD)
            robot.hands_on = POKES
            body = LolaBody(robot, number=number)
            seat = self.seats[name] = LolaSeat(name, path, body, self)
            seat.listen(host)
            about = "LoLA's lights, 0 to 1"
            channel = Channel(name=f"{name}.lights", labels=LIGHT_LABELS, resolution=0.01, about=about)
            host.add_channel(channel, lambda b=body: b.lights)  # type: ignore[misc]
        if self.pictures is not None:
            self.pictures.open(host, tuple(self.paths))

    def turn(self, time: float) -> None:  # noqa: ARG002
        """Sends every client the packet of its robot; what clients said is obeyed as it comes."""
        for seat in self.seats.values():
            seat.turn()

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        return sum(len(seat.clients) for seat in self.seats.values())

    def waiting(self) -> Sequence[str]:
        """Clients that have not answered the last packet."""
        return [c.name for seat in self.seats.values() for c in seat.clients if c.unanswered]

    def give_up(self, names: Sequence[str]) -> None:
        """Disconnects clients that were silent for too long."""
        for seat in self.seats.values():
            for client in list(seat.clients):
                if client.name in names:
                    client.lose(f"it has not answered for {self._host.settings.patience:g} s")
                    seat.watch(client)

    def picture(self, picture: Picture) -> None:
        """Hands a picture on."""
        if self.pictures is not None:
            self.pictures.send(picture)

    def counts(self) -> dict[str, int]:
        """Packets, messages and problems so far, of all clients."""
        here = [client for seat in self.seats.values() for client in seat.clients]
        return {
            "packets": self.packets + sum(c.sent for c in here),
            "answers": self.messages + sum(c.received for c in here),
            "missed": self.missed + sum(c.missed for c in here),
            "problems": self.problems + sum(c.problems for c in here),
        }

    def close(self) -> None:
        """Disconnects everybody and removes the sockets."""
        for seat in self.seats.values():
            seat.close()
        if self.pictures is not None:
            self.pictures.close()

    def admit(self, seat: LolaSeat, sock: socket.socket, number: int) -> None:
        """A client has connected to a robot's socket."""
        client = LolaConnection(sock, f"{seat.name} client {number}", self._limits)
        if len(seat.clients) >= self._limits.clients:
            text = f"there are {self._limits.clients} connections already"
            self._report(Report(kind="refused", client=client.name, text=text))
            client.close()
            return
        seat.clients.append(client)
        self._report(Report(kind="joined", client=client.name, text=str(seat.path)))
        self._host.event("joined", robot=seat.name, client=number)
        seat.watch(client)

    def dismiss(self, seat: LolaSeat, client: LolaConnection) -> None:
        """A client is lost."""
        seat.clients.remove(client)
        client.close()
        self.packets += client.sent
        self.messages += client.received
        self.missed += client.missed
        self.problems += client.problems
        self._report(Report(kind="left", client=client.name, text=client.lost or ""))
        self._host.event("left", robot=seat.name, reason=client.lost or "")

    def problem(self, client: LolaConnection, text: str) -> None:
        """Something a client sent makes no sense."""
        client.problems += 1
        if client.problems <= self._limits.reported:
            self._report(Report(kind="problem", client=client.name, text=text))

    @property
    def most_broken(self) -> int:
        """Messages without sense before a client is disconnected."""
        return self._limits.broken


class LolaSeat:
    """One robot, its socket and its clients."""

    def __init__(self, name: str, path: Path, body: LolaBody, port: LolaPort) -> None:
        self.name, self.path, self.body, self._port = name, path, body, port
        self.clients: list[LolaConnection] = []
        """In the order in which they came; the last one moves the robot."""
        self._came = 0
        self._listener: socket.socket | None = None

    def listen(self, host: RobotHost) -> None:
        """Opens the socket."""
        self._sockets = host.sockets
        self._listener = unix_listener(self.path)
        self._sockets.watch(self._listener, readable=self._accept)

    def turn(self) -> None:
        """A new cycle: everybody is sent the packet."""
        packet = self.body.packet()
        for client in list(self.clients):
            client.new_cycle()
            client.send(packet)
            self.watch(client)

    def watch(self, client: LolaConnection) -> None:
        """Waits for what matters with this client; drops it if it is lost."""
        if client.lost is not None:
            self._sockets.forget(client.socket)
            self._port.dismiss(self, client)
            return
        readable = None if client.held_up else (lambda: self._receive(client))
        writable = (lambda: self._flush(client)) if client.unsent else None
        self._sockets.watch(client.socket, readable=readable, writable=writable)

    def close(self) -> None:
        """Disconnects everybody and removes the socket."""
        for client in list(self.clients):
            client.lose("the server ends")
            self.watch(client)
        if self._listener is not None:
            self._sockets.forget(self._listener)
            self._listener.close()
            self.path.unlink(missing_ok=True)
            self._listener = None

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            if self._listener is None:
                return
            try:
                sock, _address = self._listener.accept()
            except OSError:  # nobody is left, or whoever came has gone again
                return
            self._came += 1
            self._port.admit(self, sock, self._came)

    def _flush(self, client: LolaConnection) -> None:
        client.flush()
        self.watch(client)

    def _receive(self, client: LolaConnection) -> None:
        for message in client.receive():
            self._handle(client, message)
        self.watch(client)

    def _handle(self, client: LolaConnection, message: Value) -> None:
        commands = read_commands(message)
        if commands.problems and not commands.numbers:
            client.broken += 1
            if client.broken > self._port.most_broken:
                client.lose(f"it sent {client.broken} packets without any sense")
        for problem in commands.problems:
            self._port.problem(client, problem)
        if client is self.clients[-1]:
            wrong = self.body.obey(commands)
            if wrong:
                self._port.problem(client, f"{wrong} of its numbers are none; what they were for stays as it was")
