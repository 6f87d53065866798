"""The LoLA side of a host: a Unix socket for each Nao, a packet every 12 ms, and commands as they come.

    robots = (Placement(robot="nao-v6", name="nao-1", pos=(-1, 0), actuation="servo"),)
    port = LolaPort({"nao-1": Path("/tmp/robocup")})
    with RobotHost(HostSettings(robots=robots), [port]) as host:
        host.run()

As on the robot, any program may connect to a socket and receives the packets; the client that connected last moves the
robot, so that a program that takes over is not disturbed by one that forgot to go. A client that goes leaves the robot
with its last commands, for the next one. In lock-step all connected clients are waited for. Packets go out whole or not
at all: a client that does not read misses packets, but never sees a part of one, and finds the newest few when it reads
again.

`_LolaBody` is the simulated Nao behind a socket, with the units and signs of the real one:

- *Accelerometer* has the sign of the Nao: gravity, not its reaction, so that it is (0, 0, -9.81) when the robot stands.
  In the sources of nao_lola a real robot leaning back by 0.36 rad has (-3.07, -0.39, -9.32). *Gyroscope* is in rad/s, x
  forward, y left, z up; *Angles* are roll and pitch, estimated from both (as in `motion.inertial`).
- *FSR* are in kilograms; a standing Nao's sum is its mass.
- *Battery* is charge (0..1), status, current (negative while it is drained) and temperature, those of `host.robot`
  unless somebody pokes them. The status is a word of 16 bits with a sign, sent as a float: -32724 on battery and -32628
  while charging are what rUNSWift's sources note of real robots (bit 5: discharging, bit 7: charging).
- *Current* and *Temperature* are those of `host.robot`. *Status* says how hot a motor is: 0 fine, 1 hot (from 70
  degrees), 2 very hot (75), 3 too hot (80); the temperatures are assumed, and nothing is switched off.
- *Stiffness* is what the motors have. Until a client has set it, they hold the start pose at full stiffness, but it is
  reported as 0, as by a real robot: there are programs that compare the joints of stiff motors with their last targets.
- Hands are not simulated: they reach their targets within half a second.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.net.connection import Clients, Connection, Limits, no_report
from nutmeg.net.host.robot import AMBIENT_TEMPERATURE
from nutmeg.net.lola import packets
from nutmeg.net.lola.packets import JOINTS, LIGHTS, PERIOD, Commands, Value
from nutmeg.net.loop import Listener, unix_listener
from nutmeg.recording import Channel

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.net.connection import Reporter
    from nutmeg.net.host.cameras import Picture
    from nutmeg.net.host.robot import HostedRobot
    from nutmeg.net.host.robot_host import RobotHost
    from nutmeg.net.lola.pictures import PicturePort


DISCHARGING, CHARGING = -32724.0, -32628.0
"""Words of the battery's status."""
HOT = (70.0, 75.0, 80.0)
"""Temperatures from which a motor's status is 1, 2 and 3 [degrees Celsius]."""
HAND_SPEED = 2.0
"""Speed of a hand that opens, as a share of its range per second."""
POKES = (*packets.TOUCHES, *packets.SONARS, "Battery", "Charging")
"""Sensors that can be set by hand: touch, sonar and battery."""


class _LolaBody:
    """The body of a Nao behind a LoLA socket; its number is part of its serial numbers."""

    def __init__(self, robot: HostedRobot, *, number: int) -> None:
        self.robot = robot
        self._packet = packets.SensorPacket(body=f"P0000073A07S94N{number:05d}", head=f"P0000074A07S94N{number:05d}")
        self._joints = np.array([i for i, name in enumerate(JOINTS) if name not in packets.HANDS])
        """Places in LoLA's lists of the joints that there are."""
        self._motors = robot.motor_index(JOINTS[i] for i in self._joints)
        self._hands = np.array([JOINTS.index(name) for name in packets.HANDS])
        self._hand_targets, self._hand_stiffness, self._hand_places = np.zeros(2), np.ones(2), np.zeros(2)
        self._stiffened = False
        self._encoders = self._encoder_places()
        self._sonar, self._sonar_on = np.zeros(len(packets.SONARS)), np.ones(len(packets.SONARS), dtype=bool)
        self._tilt: Floats = np.zeros((1, 2))
        self._lights = {name: np.zeros(count) for name, count in LIGHTS.items()}
        self._stand()
        self._lean(np.zeros((1, 3)), np.zeros((1, 3)))  # compiles now, which takes long the first time

    @property
    def lights(self) -> Floats:
        """Brightness of all lights, 0 to 1, in the order of `names.LIGHTS`, (89,)."""
        return np.concatenate(list(self._lights.values()))

    def obey(self, commands: Commands) -> int:
        """Carries out a client's commands; returns how many numbers were invalid (NaN, infinite)."""
        wrong = 0
        for name, numbers in commands.numbers.items():
            good = np.isfinite(numbers)
            wrong += int(len(numbers) - np.count_nonzero(good))
            if name == "Position":
                self.robot.set_targets(self._motors, numbers[self._joints])
                self._keep(self._hand_targets, numbers[self._hands])
            elif name == "Stiffness":
                self._stiffen(numbers, good)
            elif name == "Sonar":
                self._sonar_on = np.where(good, numbers > 0, self._sonar_on)
            else:
                self._keep(self._lights[name], numbers)
                self._shine(name)
        return wrong

    def packet(self) -> bytes:
        """The sensor packet of this cycle; called once a cycle."""
        robot, packet = self.robot, self._packet
        imu = robot.read("imu")
        gyro, acceleration = imu[None, :3].copy(), imu[None, 3:].copy()
        self._lean(gyro, acceleration)
        packet["Accelerometer"], packet["Gyroscope"], packet["Angles"] = -acceleration[0], gyro[0], self._tilt[0]
        packet["Battery"] = self._battery()
        packet["FSR"] = [robot.read(name)[0] / STANDARD_GRAVITY for name in packets.FORCES]
        packet["Touch"] = [robot.read(name)[0] for name in packets.TOUCHES]
        self._sonar = np.where(self._sonar_on, [robot.read(name)[0] for name in packets.SONARS], self._sonar)
        packet["Sonar"] = self._sonar
        self._put_joints(packet)
        return packet.bytes()

    def _put_joints(self, packet: packets.SensorPacket) -> None:
        robot, motors = self.robot, self.robot.motors
        step = HAND_SPEED * PERIOD * (self._hand_stiffness > 0)
        self._hand_places += np.clip(self._hand_targets - self._hand_places, -step, step)
        packet["Position"] = self._all(robot.read("encoders")[self._encoders], self._hand_places)
        packet["Stiffness"] = self._all(motors.stiffness[self._motors], self._hand_stiffness) * self._stiffened
        packet["Current"] = self._all(motors.current[self._motors], 0.0)
        packet["Temperature"] = self._all(motors.temperature[self._motors], AMBIENT_TEMPERATURE)
        packet["Status"] = self._all(np.digitize(motors.temperature[self._motors], HOT).astype(float), 0.0)

    def _all(self, joints: Floats, hands: Floats | float) -> Floats:
        """Numbers of all 25 joints, from those that there are and those of the hands."""
        out = np.empty(len(JOINTS))
        out[self._joints], out[self._hands] = joints, hands
        return out

    def _stiffen(self, numbers: Floats, good: Bools) -> None:
        self._stiffened = True
        stiffness = np.clip(np.where(good, numbers, 0.0), 0.0, 1.0)
        mine = good[self._joints]
        self.robot.motors.stiffness[self._motors[mine]] = stiffness[self._joints[mine]]
        self._keep(self._hand_stiffness, np.where(good, stiffness, np.nan)[self._hands])

    def _battery(self) -> tuple[float, float, float, float]:
        pokes, motors = self.robot.pokes, self.robot.motors
        motors.charging = pokes.get("Charging", 0.0) > 0
        charge = min(max(pokes.get("Battery", motors.charge), 0.0), 1.0)
        status = CHARGING if motors.charging else DISCHARGING
        return charge, status, motors.battery_current, motors.battery_temperature

    def _lean(self, gyro: Floats, acceleration: Floats) -> None:
        from nutmeg.motion.inertial_kernels import estimate_tilts  # here: the compiler takes its time to load

        estimate_tilts(gyro, acceleration, PERIOD, self._tilt)

    def _stand(self) -> None:
        """Takes the tilt at the start from gravity, at rest."""
        up = self.robot.read("imu")[3:]
        norm = float(np.linalg.norm(up))
        if norm > 0:
            self._tilt[0] = np.arctan2(up[1], up[2]), np.arcsin(np.clip(-up[0] / norm, -1.0, 1.0))

    def _encoder_places(self) -> Indices:
        joints = self.robot.table.joints
        return np.array([joints.index(JOINTS[i]) for i in self._joints], dtype=np.intp)

    def _shine(self, name: str) -> None:
        """Tells the robot the mean colour of a group of lights."""
        values = self._lights[name]
        if name in ("LEye", "REye"):
            red, green, blue = (float(part.mean()) for part in values.reshape(3, -1))
        elif len(values) == 3:
            red, green, blue = (float(value) for value in values)
        else:
            blue = float(values.mean())
            red = green = blue if name == "Skull" else 0.0
        self.robot.light(name, (red, green, blue))

    @staticmethod
    def _keep(old: Floats, new: Floats) -> None:
        """Takes numbers from 0 to 1 over in place, but those that are none."""
        good = np.isfinite(new)
        old[good] = np.clip(new[good], 0.0, 1.0)


MAX_CLIENTS = 8
"""Connections at once to one socket; only the newest moves the robot."""
LIMITS = Limits(
    cycle_share=32768,
    message_cost=0,
    messages_at_once=32,
    sustained=32768 + 4096,  # all that a client can send in a cycle before it is held up
    socket_buffer=4096,  # a few packets: a client that reads again finds the newest
)
"""Limits of one client."""
LIGHT_LABELS = tuple(f"{name}{k}" for name, count in LIGHTS.items() for k in range(count))
"""Lights as they are recorded, in the channel `<robot>.lights`."""


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
        self.seats: dict[str, _LolaSeat] = {}
        """The robots by name."""

    def open(self, host: RobotHost) -> None:
        """Takes the robots and listens."""
        self._patience = host.settings.patience
        for number, (name, path) in enumerate(self.paths.items(), 1):
            robot = host.take(name, period=PERIOD)
            robot.hands_on = POKES
            body = _LolaBody(robot, number=number)
            self.seats[name] = _LolaSeat(name, path, body, host, self._report)
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
        return [name for seat in self.seats.values() for name in seat.clients.waiting()]

    def give_up(self, names: Sequence[str]) -> None:
        """Disconnects clients that were silent for too long."""
        for seat in self.seats.values():
            seat.clients.give_up(names, f"it has not answered for {self._patience:g} s")

    def picture(self, picture: Picture) -> None:
        """Hands a picture on."""
        if self.pictures is not None:
            self.pictures.send(picture)

    def counts(self) -> dict[str, int]:
        """Counts of packets, answers, missed packets and problems, of all clients."""
        total: Counter[str] = Counter()
        for seat in self.seats.values():
            total.update(seat.clients.counts())
        return dict(total)

    def close(self) -> None:
        """Disconnects all clients and removes the sockets; closing twice is fine."""
        for seat in self.seats.values():
            seat.close()
        if self.pictures is not None:
            self.pictures.close()


class _LolaSeat:
    """One robot, its socket and its clients; the owner of their connections."""

    def __init__(self, name: str, path: Path, body: _LolaBody, host: RobotHost, report: Reporter) -> None:
        self.name, self.path, self.body = name, path, body
        self.clients: Clients[Connection[Value]] = Clients(MAX_CLIENTS, report)
        """The last one moves the robot."""
        self._host, self._report, self._came = host, report, 0
        self._listener = Listener(host.loop, unix_listener(path), self._admit)

    def turn(self) -> None:
        """Sends all clients the packet of a new cycle."""
        packet = self.body.packet()
        for client in list(self.clients):
            client.unanswered = client.offer(packet) or client.unanswered
            client.new_cycle()

    def handle(self, connection: Connection[Value], message: Value) -> None:
        """Carries out what the newest client commands."""
        connection.unanswered = False
        commands = packets.read_commands(message)
        if commands.problems and not commands.numbers:
            connection.count_broken()
        for problem in commands.problems:
            connection.note_problem(problem)
        if connection is self.clients[-1]:
            wrong = self.body.obey(commands)
            if wrong:
                connection.note_problem(f"{wrong} of its numbers are none; what they were for stays as it was")

    def dismiss(self, connection: Connection[Value]) -> None:
        """A client has gone."""
        self.clients.leave(connection)
        self._host.event("left", robot=self.name, reason=connection.lost or "")

    def close(self) -> None:
        """Disconnects all clients and removes the socket."""
        self.clients.close()
        self._listener.close()
        self.path.unlink(missing_ok=True)

    def _admit(self, sock: socket.socket, _peer: str) -> None:
        self._came += 1
        name = f"{self.name} client {self._came}"
        loop, report, reader = self._host.loop, self._report, packets.PacketReader()

        def connect() -> Connection[Value]:
            return Connection(sock, name, loop, reader=reader, owner=self, limits=LIMITS, report=report)

        if self.clients.admit(sock, name, str(self.path), connect) is not None:
            self._host.event("joined", robot=self.name, client=self._came)
