"""The LoLA side of a host: a Unix socket for each Nao, a packet every 12 ms, and commands as they come.

    robots = (Placement(robot="nao-v6", name="nao-1", pos=(-1, 0), actuation="servo"),)
    port = LolaPort({"nao-1": Path("/tmp/robocup")})
    with RobotHost(HostSettings(robots=robots), [port]) as host:
        host.run()

As on the robot, anybody may connect to a socket and is sent the packets; the client that connected last moves the
robot, so that a program that takes over is not disturbed by one that forgot to go. A client that goes leaves the robot
with its last commands, for the next one. In lock-step everybody connected is waited for. Packets go out whole or not
at all: a client that does not read misses packets, but never sees a part of one, and finds the newest few when it reads
again.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nutmeg.net.connection import Connection, Limits, Report, no_report, refuse
from nutmeg.net.lola.packets import LIGHTS, PERIOD, PacketReader, Value, read_commands
from nutmeg.net.lola.robot import POKES, LolaBody
from nutmeg.net.loop import Listener, unix_listener
from nutmeg.recording import Channel

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nutmeg.net.connection import Reporter
    from nutmeg.net.host.cameras import Picture
    from nutmeg.net.host.robot_host import RobotHost
    from nutmeg.net.lola.pictures import PicturePort

MAX_CLIENTS = 8
"""Connections at once to one socket; only the newest moves the robot."""
LIMITS = Limits(
    cycle_share=32768,
    message_cost=0,
    messages_at_once=32,
    sustained=32768 + 4096,  # all that a client can send in a cycle before it is held up
    socket_buffer=4096,  # a few packets: a client that reads again finds the newest
)
"""What one client may do."""
LIGHT_LABELS = tuple(f"{name}{k}" for name, count in LIGHTS.items() for k in range(count))
"""Lights as they are recorded, in the channel `<robot>.lights`."""


class LolaConnection(Connection[Value]):
    """The connection to one client."""

    sent = 0
    """Packets sent."""
    missed = 0
    """Packets for which the client had no room."""
    unanswered = False
    """Whether the client has been sent a packet since its last message."""

    def send_packet(self, packet: bytes) -> None:
        """Sends a packet, or leaves it out where there is no room for it."""
        if self.offer(packet):
            self.sent += 1
            self.unanswered = True
        else:
            self.missed += 1

    def counts(self) -> dict[str, int]:
        """Packets, answers, packets that were missed, and problems so far."""
        return {"packets": self.sent, "answers": self.received, "missed": self.missed, "problems": self.problems}


class LolaPort:
    """Serves robots over LoLA.

    Args:
        paths: the socket of each robot, by the robot's name.
        pictures: where cameras are served; None for nowhere.
        report: called with what happens to clients.
    """

    name = "lola"
    period = PERIOD

    def __init__(
        self, paths: Mapping[str, Path], *, pictures: PicturePort | None = None, report: Reporter = no_report
    ) -> None:
        self.paths, self.pictures = dict(paths), pictures
        self._report = report
        self.seats: dict[str, LolaSeat] = {}
        """The robots by name."""

    def open(self, host: RobotHost) -> None:
        """Takes the robots and listens."""
        self._patience = host.settings.patience
        for number, (name, path) in enumerate(self.paths.items(), 1):
            robot = host.take(name, period=PERIOD)
            robot.hands_on = POKES
            body = LolaBody(robot, number=number)
            self.seats[name] = LolaSeat(name, path, body, host, self._report)
            about = "LoLA's lights, 0 to 1"
            channel = Channel(name=f"{name}.lights", labels=LIGHT_LABELS, resolution=0.01, about=about)
            host.add_channel(channel, lambda b=body: b.lights)  # type: ignore[misc]
        if self.pictures is not None:
            self.pictures.open(host, tuple(self.paths))

    def turn(self, time: float) -> None:  # noqa: ARG002
        """Sends every client the packet of its robot; commands are carried out as they come."""
        for seat in self.seats.values():
            seat.turn()

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        return sum(len(seat.clients) for seat in self.seats.values())

    def waiting(self) -> Sequence[str]:
        """Names of the clients that have not answered the last packet."""
        return [client.name for seat in self.seats.values() for client in seat.clients if client.unanswered]

    def give_up(self, names: Sequence[str]) -> None:
        """Disconnects clients that were silent for too long."""
        for client in [client for seat in self.seats.values() for client in seat.clients if client.name in names]:
            client.lose(f"it has not answered for {self._patience:g} s")
            client.update()

    def picture(self, picture: Picture) -> None:
        """Hands a picture on."""
        if self.pictures is not None:
            self.pictures.send(picture)

    def counts(self) -> dict[str, int]:
        """Packets, answers, missed packets and problems so far, of all clients."""
        total = Counter(packets=0, answers=0, missed=0, problems=0)
        for seat in self.seats.values():
            total.update(seat.gone)
            for client in seat.clients:
                total.update(client.counts())
        return dict(total)

    def close(self) -> None:
        """Disconnects everybody and removes the sockets; closing twice is fine."""
        for seat in self.seats.values():
            seat.close()
        if self.pictures is not None:
            self.pictures.close()


class LolaSeat:
    """One robot, its socket and its clients; the owner of their connections."""

    def __init__(self, name: str, path: Path, body: LolaBody, host: RobotHost, report: Reporter) -> None:
        self.name, self.path, self.body = name, path, body
        self.clients: list[LolaConnection] = []
        """In the order in which they came; the last one moves the robot."""
        self.gone: Counter[str] = Counter()
        """The counts of clients that have gone."""
        self._host, self._report, self._came = host, report, 0
        self._listener = Listener(host.loop, unix_listener(path), self._admit)

    def turn(self) -> None:
        """A new cycle: everybody is sent the packet."""
        packet = self.body.packet()
        for client in list(self.clients):
            client.send_packet(packet)
            client.new_cycle()

    def handle(self, connection: LolaConnection, message: Value) -> None:
        """Carries out what the newest client commands."""
        connection.unanswered = False
        commands = read_commands(message)
        if commands.problems and not commands.numbers:
            connection.count_broken()
        for problem in commands.problems:
            connection.note_problem(problem)
        if connection is self.clients[-1]:
            wrong = self.body.obey(commands)
            if wrong:
                connection.note_problem(f"{wrong} of its numbers are none; what they were for stays as it was")

    def dismiss(self, connection: LolaConnection) -> None:
        """A client has gone."""
        self.clients.remove(connection)
        self.gone.update(connection.counts())
        self._host.event("left", robot=self.name, reason=connection.lost or "")

    def close(self) -> None:
        """Disconnects everybody and removes the socket."""
        for client in list(self.clients):
            client.lose("the server ends")
            client.update()
        self._listener.close()
        self.path.unlink(missing_ok=True)

    def _admit(self, sock: socket.socket, _peer: str) -> None:
        self._came += 1
        name = f"{self.name} client {self._came}"
        if len(self.clients) >= MAX_CLIENTS:
            refuse(sock, name, MAX_CLIENTS, self._report)
            return
        self.clients.append(
            LolaConnection(
                sock, name, self._host.loop, reader=PacketReader(), owner=self, limits=LIMITS, report=self._report
            )
        )
        self._report(Report(kind="joined", client=name, text=str(self.path)))
        self._host.event("joined", robot=self.name, client=self._came)
