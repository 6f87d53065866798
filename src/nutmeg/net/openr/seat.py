"""The sockets of one robot: whoever listens to its sensors, and whoever commands it.

    seat = Seat(robot, sockets, sensors=("127.0.0.1", 10120), commands=("127.0.0.1", 10121))
    seat.turn()                     # every 8 ms: lost clients go, the robot has its frame, packets leave
    seat.addresses                  # where it really listens
    seat.counts                     # what was dropped, refused, and so on

Clients come and go as they like. Every buffer is bounded (see `connection` and `execution`); a client that vanishes
takes its queued commands with it, and the joints hold where they were told.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nutmeg.net.host_sockets import tcp_listener
from nutmeg.net.openr.commands import read_step
from nutmeg.net.openr.connection import Connection
from nutmeg.net.openr.packets import (
    Event,
    Packet,
    PacketError,
    PacketType,
    Status,
    design_packet,
    status_packet,
)

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from nutmeg.net.host_cameras import Picture
    from nutmeg.net.host_sockets import Sockets
    from nutmeg.net.openr.robot import OpenrRobot

    Address = tuple[str, int]

CLIENTS = 4
"""Most clients on each port."""
SENSORS_KEPT, PICTURES_KEPT, STATUS_KEPT = 32, 2, 256
"""Vectors, pictures and status packets that wait for a slow client."""
REPORTED = 10
"""Problems of a client that are told; the rest are only counted."""


class Commander:
    """A client that commands."""

    def __init__(self, sock: socket.socket, name: str, seat: Seat) -> None:
        self._seat = seat
        self.answered = seat.robot.sequence - 2
        """The sensor vector up to which it has dealt with them; not with the newest yet (lock-step)."""
        self.statuses = 0
        self.problems = 0
        self.connection = Connection(
            sock, name, seat.sockets, most={"design": 1, "status": STATUS_KEPT}, heard=self._hear
        )

    def tell(self, command: int, channel: int, event: Event) -> None:
        """Sends what became of a command vector."""
        robot = self._seat.robot
        status = Status(command=command, channel=channel, event=event, frame=max(0, robot.frame - 1))
        time = max(0, robot.time)
        self.connection.send("status", status_packet(robot.model.model, self.statuses, time, status))
        self.statuses += 1

    def _hear(self, packet: Packet) -> None:
        try:
            if packet.type == PacketType.STEP:
                self.answered = max(self.answered, min(read_step(packet.body), self._seat.robot.sequence - 1))
            else:
                self._seat.robot.hear(packet, self)
        except PacketError as problem:
            self._refuse(packet, str(problem))
            return
        known = packet.type in PacketType.__members__.values()
        self._seat.counts[PacketType(packet.type).name.lower() if known else "unknown"] += 1

    def _refuse(self, packet: Packet, problem: str) -> None:
        self.problems += 1
        self._seat.counts["refused"] += 1
        if self.problems <= REPORTED:
            self._seat.report(f"{self.connection.name}: a packet was refused: {problem}")
        if packet.type == PacketType.COMMANDS:
            channel = int.from_bytes(packet.body[:4], "little")
            self.tell(packet.sequence, channel, Event.REFUSED)


class Seat:
    """One robot and its clients.

    Args:
        robot: what is served.
        sockets: where sockets are watched.
        sensors: where to listen for those who want sensors and pictures.
        commands: where to listen for those who command.
        pictures: whether there are pictures.
        lock_step: whether time waits for those who command.
        report: told what happens to clients.
        changed: called when clients have come or gone.
    """

    def __init__(
        self,
        robot: OpenrRobot[Commander],
        sockets: Sockets,
        *,
        sensors: Address,
        commands: Address,
        pictures: bool = True,
        lock_step: bool = False,
        report: Callable[[str], None] = lambda _text: None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.robot, self.sockets, self.report, self._changed = robot, sockets, report, changed
        self.listeners: list[Connection] = []
        """Who gets sensors."""
        self.commanders: list[Commander] = []
        """Who commands."""
        self.counts: Counter[str] = Counter()
        """Packets by what became of them."""
        self._design = design_packet(robot.model, pictures=pictures, lock_step=lock_step)
        self._doors: list[socket.socket] = []
        try:
            for place, welcome in ((sensors, self._welcome_listener), (commands, self._welcome_commander)):
                door = tcp_listener(*place)
                self._doors.append(door)
                sockets.watch(door, readable=lambda d=door, w=welcome: self._accept(d, w))  # type: ignore[misc]
        except BaseException:
            self.close()
            raise

    @property
    def addresses(self) -> tuple[Address, Address]:
        """Where it listens: sensors, commands."""
        sensors, commands = (door.getsockname() for door in self._doors)
        return (sensors[0], sensors[1]), (commands[0], commands[1])

    @property
    def present(self) -> list[Commander]:
        """Those who command and are still there."""
        return [commander for commander in self.commanders if commander.connection.lost is None]

    def waiting(self) -> list[str]:
        """Names of those who command that have not answered the last sensor vector."""
        last = self.robot.sequence - 1
        return [commander.connection.name for commander in self.present if commander.answered < last]

    def turn(self) -> None:
        """One frame of 8 ms."""
        self._part()
        for commander in self.commanders:
            commander.connection.new_turn()
        for happening in self.robot.turn():
            self.counts[happening.event.name.lower()] += 1
            happening.owner.tell(happening.sequence, happening.vector.channel, happening.event)
        packet = self.robot.vector()
        if packet is not None:
            for listener in self.listeners:
                listener.send("sensors", packet)

    def picture(self, picture: Picture) -> None:
        """Sends a picture of this robot's camera."""
        if self.listeners:
            packets = self.robot.picture(picture)
            for listener in self.listeners:
                listener.send("pictures", *packets)

    def close(self) -> None:
        """Disconnects everybody."""
        for connection in [*self.listeners, *(commander.connection for commander in self.commanders)]:
            connection.close()
        self.listeners, self.commanders = [], []
        for door in self._doors:
            self.sockets.forget(door)
            door.close()
        self._doors = []

    def _part(self) -> None:
        """Closes the connections that are lost."""
        lost = [listener for listener in self.listeners if listener.lost is not None]
        gone = [commander for commander in self.commanders if commander.connection.lost is not None]
        for commander in gone:
            self.robot.queues.forget(commander)
        for connection in lost + [commander.connection for commander in gone]:
            self.counts["dropped_packets"] += connection.dropped
            self.report(f"{connection.name} left: {connection.lost}")
            connection.close()
        if lost or gone:
            self.listeners = [listener for listener in self.listeners if listener not in lost]
            self.commanders = [commander for commander in self.commanders if commander not in gone]
            self._changed()

    def _accept(self, door: socket.socket, welcome: Callable[[socket.socket, str], None]) -> None:
        try:
            sock, peer = door.accept()
        except OSError:  # gone before it was let in
            return
        self._part()  # time may stand still, but clients may come and go
        welcome(sock, f"{peer[0]}:{peer[1]}")
        self._changed()

    def _welcome_listener(self, sock: socket.socket, peer: str) -> None:
        name = f"{self.robot.robot.name} sensors {peer}"
        if self._full(sock, name, sum(each.lost is None for each in self.listeners)):
            return
        most = {"design": 1, "sensors": SENSORS_KEPT, "pictures": PICTURES_KEPT}
        listener = Connection(sock, name, self.sockets, most=most)
        listener.send("design", self._design)
        self.listeners.append(listener)
        self.report(f"{name} joined")

    def _welcome_commander(self, sock: socket.socket, peer: str) -> None:
        name = f"{self.robot.robot.name} commands {peer}"
        if self._full(sock, name, len(self.present)):
            return
        commander = Commander(sock, name, self)
        commander.connection.send("design", self._design)
        self.commanders.append(commander)
        self.report(f"{name} joined")

    def _full(self, sock: socket.socket, name: str, present: int) -> bool:
        if present < CLIENTS:
            return False
        sock.close()
        self.counts["turned_away"] += 1
        self.report(f"{name} was turned away: there are {CLIENTS} clients already")
        return True
