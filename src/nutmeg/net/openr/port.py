"""OPEN-R as a port of a robot host: AIBOs in frames of 8 ms, each with a port for sensors and one for commands.

    port = OpenrPort(OpenrSettings())
    with RobotHost(host_settings(settings), [port]) as host:
        host.run()
    port.rows()                     # for each robot: frames, vectors executed, packets dropped, ...

Clients come and go as they like. Every buffer is bounded: of sensor vectors, pictures and status reports that wait for
a slow client, the oldest are dropped and counted; command vectors wait in bounded queues (see `execution`). A client
that vanishes takes its queued commands with it, and the joints hold their last references.
"""

from __future__ import annotations

from collections import Counter, deque
from functools import partial
from typing import TYPE_CHECKING

from nutmeg.net.connection import Clients, Connection, Limits, Report, no_report
from nutmeg.net.loop import Listener, tcp_listener
from nutmeg.net.openr import packets
from nutmeg.net.openr.commands import read_step
from nutmeg.net.openr.models import FRAME, model_named
from nutmeg.net.openr.robot import OpenrRobot
from nutmeg.sim.power_supply import slice_or_list

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.net.connection import Reporter
    from nutmeg.net.host.cameras import Picture
    from nutmeg.net.host.robot_host import RobotHost
    from nutmeg.net.loop import SocketLoop
    from nutmeg.net.openr.configuration import OpenrSettings
    from nutmeg.sim.worlds import Worlds

    Address = tuple[str, int]

LIMITS = Limits(
    piece=16384,
    cycle_share=65536,  # 20 joints have 3 kB for 16 frames
    message_cost=256,
    messages_at_once=512,
    sustained=65536 + 16384,  # all that a client can send in a frame before it is held up
    socket_buffer=262144,
)
"""Limits of one client."""
MAX_CLIENTS = 4
"""Most clients on each port."""
_SENSORS_KEPT = {"design": 1, "sensors": 32, "pictures": 2}
"""Packets by kind that wait for a slow listener."""
_STATUS_KEPT = {"design": 1, "status": 256}
"""Packets by kind that wait for a slow commander."""
CAMERA = "camera"
"""Name of an AIBO's camera in its robot file."""
_PRESSED = ("switch", "touch", "force")
"""Kinds of sensors that people can press on the page."""


class OpenrConnection(Connection[packets.Packet]):
    """A connection whose waiting packets are bounded by kind; the oldest of a kind are dropped and counted.

    Args:
        sock: connected; taken over.
        name: names the client in reports.
        seat: the robot, which owns the connection.
        kept: how many groups of packets of each kind may wait to be sent.
        reader: cuts what comes into packets.
    """

    def __init__(
        self,
        sock: socket.socket,
        name: str,
        seat: Seat,
        kept: Mapping[str, int],
        reader: packets.PacketReader | _NoPackets,
    ) -> None:
        super().__init__(sock, name, seat.loop, reader=reader, owner=seat, limits=LIMITS, report=seat.report)
        self.dropped = 0
        """Packets that were dropped because the client did not read them."""
        self._kept = kept
        self._groups: deque[tuple[str, tuple[bytes, ...]]] = deque()
        self._waiting: Counter[str] = Counter()

    def send_group(self, kind: str, *packets: bytes) -> None:
        """Sends packets that belong together, now or when the client reads again; drops the oldest of their kind."""
        if self.lost is not None:
            return
        if self._waiting[kind] >= self._kept[kind]:
            oldest = next(k for k, group in enumerate(self._groups) if group[0] == kind)
            self.dropped += len(self._groups[oldest][1])
            del self._groups[oldest]
            self._waiting[kind] -= 1
        self._groups.append((kind, packets))
        self._waiting[kind] += 1
        self.flush()

    def flush(self) -> None:
        """Goes on sending what waits; every packet says how many were dropped before it."""
        super().flush()
        while self._groups and not self._unsent and self.lost is None:
            kind, group = self._groups.popleft()
            self._waiting[kind] -= 1
            self.send(
                b"".join(packets.with_dropped(packet, self.dropped) if self.dropped else packet for packet in group)
            )


class Commander(OpenrConnection):
    """The connection to a client that commands."""

    def __init__(self, sock: socket.socket, name: str, seat: Seat) -> None:
        super().__init__(sock, name, seat, _STATUS_KEPT, packets.PacketReader(packets.MAX_COMMAND))
        self.answered = seat.robot.sequence - 2
        """The sensor vector up to which the client has dealt with them; not with the newest yet (lock-step)."""
        self._statuses = 0

    def send_status(self, robot: OpenrRobot[Commander], command: int, channel: int, event: packets.Event) -> None:
        """Sends what became of a command vector."""
        status = packets.Status(command, channel, event, frame=max(0, robot.frame - 1) & 0xFFFFFFFF)
        self.send_group("status", packets.status_packet(robot.model.model, self._statuses, max(0, robot.time), status))
        self._statuses += 1


class _NoPackets:
    """The reader of a connection on which the client may not send."""

    problem: str | None = None

    def feed(self, _data: bytes) -> list[packets.Packet]:
        """Any data is a problem."""
        self.problem = "sent something, but on this connection only the robot speaks"
        return []


class Seat:
    """One robot and its clients; the owner of their connections.

    Args:
        robot: what is served.
        loop: where sockets are watched.
        addresses: where to listen for clients that want sensors and pictures, and for those that command.
        design: the first packet of every connection.
        report: called with what happens to clients.
        changed: called when clients have come or gone.
    """

    def __init__(
        self,
        robot: OpenrRobot[Commander],
        loop: SocketLoop,
        *,
        addresses: tuple[Address, Address],
        design: bytes,
        report: Reporter,
        changed: Callable[[], None],
    ) -> None:
        self.robot, self.loop, self.report, self._changed = robot, loop, report, changed
        self.listeners: Clients[OpenrConnection] = Clients(MAX_CLIENTS, report)
        """Clients that get sensors."""
        self.commanders: Clients[Commander] = Clients(MAX_CLIENTS, report)
        """Clients that command."""
        self.counts: Counter[str] = Counter()
        """Command vectors by what became of them, refused packets and dropped packets."""
        self._design = design
        self._doors: list[Listener] = []
        try:
            for address, admit in zip(addresses, (self._admit_listener, self._admit_commander), strict=True):
                self._doors.append(Listener(loop, tcp_listener(*address), admit))
        except BaseException:
            self.close()
            raise

    @property
    def addresses(self) -> tuple[Address, Address]:
        """Where it listens: sensors, commands."""
        sensors, commands = (door.address for door in self._doors)
        return sensors, commands

    @property
    def present(self) -> list[Commander]:
        """Clients that command and are still there."""
        return [commander for commander in self.commanders if commander.lost is None]

    def waiting(self) -> list[str]:
        """Names of the commanding clients that have not answered the last sensor vector."""
        last = self.robot.sequence - 1
        return [commander.name for commander in self.present if commander.answered < last]

    def turn(self) -> None:
        """One frame of 8 ms."""
        for connection in (*self.listeners, *self.commanders):
            connection.new_cycle()
        for event in self.robot.turn():
            self.counts[event.event.name.lower()] += 1
            event.owner.send_status(self.robot, event.sequence, event.vector.channel, event.event)
        packet = self.robot.vector()
        if packet is not None:
            for listener in self.listeners:
                listener.send_group("sensors", packet)

    def picture(self, picture: Picture) -> None:
        """Sends a picture of this robot's camera."""
        if self.listeners:
            packets = self.robot.picture(picture)
            for listener in self.listeners:
                listener.send_group("pictures", *packets)

    def handle(self, connection: Commander, packet: packets.Packet) -> None:
        """Takes a packet of a commanding client; one whose inside is wrong is refused."""
        try:
            if packet.type == packets.PacketType.STEP:
                connection.answered = max(connection.answered, min(read_step(packet.body), self.robot.sequence - 1))
            else:
                self.robot.receive(packet, connection)
        except packets.PacketError as problem:
            self.counts["refused"] += 1
            connection.note_problem(f"a packet was refused: {problem}")
            if packet.type == packets.PacketType.COMMANDS:
                channel = int.from_bytes(packet.body[:4], "little")
                connection.send_status(self.robot, packet.sequence, channel, packets.Event.REFUSED)

    def dismiss(self, connection: OpenrConnection) -> None:
        """A client has gone."""
        self.counts["dropped_packets"] += connection.dropped
        if isinstance(connection, Commander):
            self.commanders.leave(connection)
            self.robot.queues.forget(connection)
        else:
            self.listeners.leave(connection)
        self._changed()

    def close(self) -> None:
        """Disconnects all clients; closing twice is fine."""
        self.listeners.close()
        self.commanders.close()
        for door in self._doors:
            door.close()
        self._doors = []

    def _admit_listener(self, sock: socket.socket, peer: str) -> None:
        name = f"{self.robot.robot.name} sensors {peer}"
        connect = partial(OpenrConnection, sock, name, self, _SENSORS_KEPT, _NoPackets())
        self._welcome(self.listeners.admit(sock, name, self.robot.model.design, connect))

    def _admit_commander(self, sock: socket.socket, peer: str) -> None:
        name = f"{self.robot.robot.name} commands {peer}"
        self._welcome(self.commanders.admit(sock, name, self.robot.model.design, partial(Commander, sock, name, self)))

    def _welcome(self, connection: OpenrConnection | None) -> None:
        if connection is not None:
            connection.send_group("design", self._design)
            self._changed()


class OpenrPort:
    """The AIBOs of a host.

    Args:
        settings: which robots, and where they listen.
        report: called with what happens to clients.
    """

    name = "openr"
    period = FRAME * 1e-6

    def __init__(self, settings: OpenrSettings, *, report: Reporter = no_report) -> None:
        self.settings = settings
        self.seats: dict[str, Seat] = {}
        """Seats by the robots' names."""
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
        pictures, lock_step = self.settings.pictures, host.settings.lock_step
        for chosen, placed, addresses in robots:
            hosted = host.take(placed.name, period=self.period)
            model, torque = model_named(chosen.model), torques(host.worlds, placed.name)
            hosted.hands_on = tuple(p.of for p in model.sensors if p.of and p.measures in _PRESSED)
            robot: OpenrRobot[Commander] = OpenrRobot(model, hosted, torque, awake=chosen.awake)
            robot.motors.turn()
            self.seats[placed.name] = Seat(
                robot,
                host.loop,
                addresses=addresses,
                design=packets.design_packet(model, pictures=pictures, lock_step=lock_step),
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
            seat.commanders.give_up(names, "it did not answer in lock-step")

    def picture(self, picture: Picture) -> None:
        """Hands a picture to the listeners of its robot."""
        robot, _, camera = picture.camera.rpartition("/")
        if robot in self.seats and camera == CAMERA:
            self.seats[robot].picture(picture)

    def close(self) -> None:
        """Disconnects all clients."""
        for seat in self.seats.values():
            seat.close()

    def rows(self) -> list[dict[str, object]]:
        """Counts of each robot, for people."""
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
        """The same counts of all robots together."""
        rows = self.rows()
        return {key: sum(int(str(row[key])) for row in rows) for key in rows[0] if key != "robot"}

    def _look(self) -> None:
        """Has only those cameras drawn that clients use."""
        if self._host is not None and self.settings.pictures:
            seen = [f"{name}/{CAMERA}" for name, seat in self.seats.items() if seat.listeners]
            self._host.want_cameras(self.name, seen)

    def _tell(self, report: Report) -> None:
        self._report(report)
        if self._host is not None:
            self._host.event("client", text=f"{report.client} {report.kind}: {report.text}")


def torques(worlds: Worlds, robot: str) -> Callable[[], Floats]:
    """Returns what reads the drives' torques over their limits, (motors,)."""
    table, model = worlds.robot(robot).table, worlds.scene.model
    motors = table.actuators(model)
    limits = model.actuator_forcerange[motors, 1].copy()
    limits[limits <= 0] = 1.0
    numbers, force = slice_or_list(motors), worlds.batch.bind("actuator_force")
    return lambda: force[0, numbers] / limits
