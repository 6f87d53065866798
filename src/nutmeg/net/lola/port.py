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

from typing import TYPE_CHECKING

from nutmeg.net.host_sockets import unix_listener
from nutmeg.net.lola.connection import Limits, LolaClient
from nutmeg.net.lola.names import LIGHTS, PERIOD
from nutmeg.net.lola.packets import read_commands
from nutmeg.net.lola.senses import POKES, LolaBody
from nutmeg.net.simspark.limits import Report, Reporter
from nutmeg.recording import Channel

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nutmeg.net.host_cameras import Picture
    from nutmeg.net.lola.pictures import PicturePort
    from nutmeg.net.packed import Value
    from nutmeg.net.robot_host import RobotHost

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
        limits: Limits | None = None,
    ) -> None:
        self.paths, self.pictures = dict(paths), pictures
        self._report: Reporter = report or (lambda _: None)
        self._limits = limits or Limits()
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
        client = LolaClient(sock, f"{seat.name} client {number}", self._limits)
        if len(seat.clients) >= self._limits.clients:
            text = f"there are {self._limits.clients} connections already"
            self._report(Report(kind="refused", client=client.name, text=text))
            client.close()
            return
        seat.clients.append(client)
        self._report(Report(kind="joined", client=client.name, text=str(seat.path)))
        self._host.event("joined", robot=seat.name, client=number)
        seat.watch(client)

    def dismiss(self, seat: LolaSeat, client: LolaClient) -> None:
        """A client is lost."""
        seat.clients.remove(client)
        client.close()
        self.packets += client.sent
        self.messages += client.received
        self.missed += client.missed
        self.problems += client.problems
        self._report(Report(kind="left", client=client.name, text=client.lost or ""))
        self._host.event("left", robot=seat.name, reason=client.lost or "")

    def problem(self, client: LolaClient, text: str) -> None:
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
        self.clients: list[LolaClient] = []
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

    def watch(self, client: LolaClient) -> None:
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

    def _flush(self, client: LolaClient) -> None:
        client.flush()
        self.watch(client)

    def _receive(self, client: LolaClient) -> None:
        for message in client.receive():
            self._handle(client, message)
        self.watch(client)

    def _handle(self, client: LolaClient, message: Value) -> None:
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
