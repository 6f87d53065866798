"""OPEN-R as a port of a robot host: all its AIBOs, in frames of 8 ms.

port = OpenrPort(OpenrSettings())
with RobotHost(host_settings(settings), [port]) as host:
    host.run()
port.rows()                     # for each robot: frames, vectors executed, packets dropped, ...
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from nutmeg.net.connection import Wire
from nutmeg.net.loop import tcp_listener
from nutmeg.net.openr.commands import read_step
from nutmeg.net.openr.models import FRAME, model_named
from nutmeg.net.openr.packets import (
    LONGEST_COMMAND,
    Event,
    Packet,
    PacketError,
    PacketReader,
    PacketType,
    Status,
    design_packet,
    status_packet,
    with_dropped,
)
from nutmeg.net.openr.robot import OpenrRobot
from nutmeg.sim.power_supply import slice_or_list

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.net.host.cameras import Picture
    from nutmeg.net.host.robot_host import RobotHost
    from nutmeg.net.loop import Sockets
    from nutmeg.net.openr.configuration import OpenrSettings
    from nutmeg.sim.worlds import Worlds

    Address = tuple[str, int]


# ----------------------------------------------------------------------------------------------------
# One client's socket, never waited for: what waits to go out is bounded, and the oldest is dropped and counted.
#
# A connection that may send hands its packets to `heard`; what it may send between two calls of `new_turn` is
# bounded, and the rest waits in its own socket. Nothing here blocks or raises. A connection only notes that it is
# `lost`, and why; whoever owns it closes it.


PIECE = 16384
"""Most bytes taken from a socket at once."""
SHARE = 65536
"""Bytes that a client may send in a turn before it is held up; 20 joints have 3 kB for 16 frames."""
PACKET_COST = 256
"""What a packet costs of that share beside its own bytes."""
SEND_BUFFER = 262144
"""Size of the system's send buffer, bytes."""


class OpenrConnection(Wire):
    """A socket with bounded buffers.

    Args:
        sock: connected; taken over.
        name: what people are told it is.
        sockets: where it is watched.
        most: how many of each kind may wait to be sent.
        heard: called with each packet of the client; without it, the client may not send.
    """

    def __init__(
        self,
        sock: socket.socket,
        name: str,
        sockets: Sockets,
        *,
        most: Mapping[str, int],
        heard: Callable[[Packet], None] | None = None,
    ) -> None:
        super().__init__(sock, name, send_buffer=SEND_BUFFER, at_once=True)
        self.dropped = 0
        """Packets that were dropped because it did not read them."""
        self._sockets, self._most, self._heard = sockets, most, heard
        self._reader = PacketReader(LONGEST_COMMAND)
        self._groups: deque[tuple[str, tuple[bytes, ...]]] = deque()
        self._waiting: Counter[str] = Counter()
        self._sending: deque[memoryview] = deque()
        self._share = SHARE
        self._watch()

    @property
    def waiting(self) -> int:
        """Packets that wait because the client does not read."""
        return len(self._sending) + sum(len(packets) for _, packets in self._groups)

    def send(self, kind: str, *packets: bytes) -> None:
        """Sends packets that belong together, now or when the client reads again; drops the oldest of their kind."""
        if self.lost is not None:
            return
        if self._waiting[kind] >= self._most[kind]:
            oldest = next(k for k, group in enumerate(self._groups) if group[0] == kind)
            self.dropped += len(self._groups[oldest][1])
            del self._groups[oldest]
            self._waiting[kind] -= 1
        self._groups.append((kind, packets))
        self._waiting[kind] += 1
        self._flush()

    def new_turn(self) -> None:
        """Gives it a new share."""
        held_up = self._share <= 0
        self._share = SHARE
        if held_up:
            self._watch()

    def close(self) -> None:
        """Closes the socket; what waits is not sent."""
        self._groups.clear()
        self._sending.clear()
        self._waiting.clear()
        self._sockets.forget(self.socket)
        self.socket.close()

    def _watch(self) -> None:
        reading = self._receive if self._share > 0 and self.lost is None else None
        writing = self._flush if (self._sending or self._groups) and self.lost is None else None
        self._sockets.watch(self.socket, readable=reading, writable=writing)

    def _receive(self) -> None:
        data = self.read(PIECE)
        if data and self._heard is None:
            self.lose("it sent something, but on this connection only the robot speaks")
        elif data:
            self._read(data)
        if self.lost is not None or self._share <= 0:
            self._watch()

    def _read(self, data: bytes) -> None:
        packets = self._reader.feed(data)
        self._share -= len(data) + PACKET_COST * len(packets)
        for packet in packets:
            if self._heard is not None:
                self._heard(packet)
        if self._reader.problem is not None:
            self.lose(f"it {self._reader.problem}")

    def _flush(self) -> None:
        """Sends as much as the socket takes."""
        before = bool(self._sending)
        while self.lost is None and (self._sending or self._groups):
            if not self._sending:
                kind, packets = self._groups.popleft()
                self._waiting[kind] -= 1
                self._sending.extend(memoryview(self._stamped(packet)) for packet in packets)
            sent = self.write(self._sending[0])
            if sent == len(self._sending[0]):
                self._sending.popleft()
            else:
                self._sending[0] = self._sending[0][sent:]
                break
        if bool(self._sending) != before or self.lost is not None:
            self._watch()

    def _stamped(self, packet: bytes) -> bytes:
        return with_dropped(packet, self.dropped) if self.dropped else packet


# ----------------------------------------------------------------------------------------------------
# The sockets of one robot: whoever listens to its sensors, and whoever commands it.
#
# Clients come and go as they like. Every buffer is bounded (see `connection` and `execution`); a client that vanishes
# takes its queued commands with it, and the joints hold where they were told.


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
        self.connection = OpenrConnection(
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
        self.listeners: list[OpenrConnection] = []
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
        listener = OpenrConnection(sock, name, self.sockets, most=most)
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


CAMERA = "camera"
"""What an AIBO's camera is called in its robot file."""
PRESSED = ("switch", "touch", "force")
"""What people can press by hand, on the page."""


class OpenrPort:
    """The AIBOs of a host.

    Args:
        settings: which robots, and where they listen.
        report: told what happens to clients.
    """

    name = "openr"
    period = FRAME * 1e-6

    def __init__(self, settings: OpenrSettings, *, report: Callable[[str], None] = lambda _text: None) -> None:
        self.settings = settings
        self.seats: dict[str, Seat] = {}
        """By the robots' names."""
        self._report = report
        self._host: RobotHost | None = None

    @property
    def clients(self) -> int:
        """How many clients command."""
        return sum(len(seat.present) for seat in self.seats.values())

    def open(self, host: RobotHost) -> None:
        """Takes the robots and listens."""
        self._host = host
        robots = zip(self.settings.robot, self.settings.placements, self.settings.addresses, strict=True)
        for chosen, placed, (sensors, commands) in robots:
            hosted = host.take(placed.name, period=self.period)
            model, torque = model_named(chosen.model), torques(host.worlds, placed.name)
            hosted.hands_on = tuple(p.of for p in model.sensors if p.of and p.measures in PRESSED)
            robot: OpenrRobot[Commander] = OpenrRobot(model, hosted, torque, awake=chosen.awake)
            robot.motors.turn()
            self.seats[placed.name] = Seat(
                robot,
                host.sockets,
                sensors=sensors,
                commands=commands,
                pictures=self.settings.pictures,
                lock_step=host.settings.lock_step,
                report=self._tell,
                changed=self._look,
            )

    def turn(self, time: float) -> None:  # noqa: ARG002 (robots count frames)
        """A frame of every robot."""
        for seat in self.seats.values():
            seat.turn()

    def waiting(self) -> Sequence[str]:
        """Clients that have not answered the last sensor vector."""
        return [name for seat in self.seats.values() for name in seat.waiting()]

    def give_up(self, names: Sequence[str]) -> None:
        """Disconnects clients that were silent for too long."""
        for seat in self.seats.values():
            for commander in seat.commanders:
                if commander.connection.name in names:
                    commander.connection.lose("it did not answer in lock-step")

    def picture(self, picture: Picture) -> None:
        """Hands a picture to those who listen to its robot."""
        robot, _, camera = picture.camera.rpartition("/")
        if robot in self.seats and camera == CAMERA:
            self.seats[robot].picture(picture)

    def close(self) -> None:
        """Disconnects everybody."""
        for seat in self.seats.values():
            seat.close()

    def rows(self) -> list[dict[str, object]]:
        """What each robot has done, for people."""
        return [
            {
                "robot": name,
                "frames": seat.robot.frame,
                "vectors": seat.counts["finished"],
                "dropped_vectors": seat.robot.queues.dropped,
                "refused": seat.counts["refused"],
                "dropped_packets": seat.counts["dropped_packets"] + sum(c.dropped for c in seat.listeners),
            }
            for name, seat in self.seats.items()
        ]

    def counts(self) -> dict[str, int]:
        """The same, of all robots together."""
        rows = self.rows()
        return {key: sum(int(str(row[key])) for row in rows) for key in rows[0] if key != "robot"}

    def _look(self) -> None:
        """Has only those cameras drawn that somebody looks through."""
        if self._host is not None and self.settings.pictures:
            seen = [f"{name}/{CAMERA}" for name, seat in self.seats.items() if seat.listeners]
            self._host.want_cameras(self.name, seen)

    def _tell(self, text: str) -> None:
        self._report(text)
        if self._host is not None:
            self._host.event("client", text=text)


def torques(worlds: Worlds, robot: str) -> Callable[[], Floats]:
    """What reads the drives' torques over their limits, (motors,)."""
    table, model = worlds.robot(robot).table, worlds.scene.model
    motors = [model.actuator(f"{table.name}/{name}").id for name in table.motors]
    limits = model.actuator_forcerange[motors, 1].copy()
    limits[limits <= 0] = 1.0
    numbers, force = slice_or_list(motors), worlds.batch.bind("actuator_force")
    return lambda: force[0, numbers] / limits
