"""One AIBO behind OPEN-R: command vectors in, sensor vectors out, a frame at a time. No sockets here.

robot = OpenrRobot(model, hosted, torque)
robot.receive(packet, owner)                    # a client's packet; PacketError if its inside is wrong
for event in robot.turn(): ...                  # every 8 ms
packet = robot.vector()                         # after every fourth turn, else None
"""

from __future__ import annotations

import itertools
import struct
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from nutmeg.model.actuation.drives import drive_of_each_joint
from nutmeg.net.openr import commands
from nutmeg.net.openr.models import FRAME, FRAMES, Gains, Kind, gains_of
from nutmeg.net.openr.packets import Event, Packet, PacketError, PacketType, SensorVector, image_packets, ycrcb

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from nutmeg.base.arrays import Bools, Bytes, Floats
    from nutmeg.net.host.cameras import Picture
    from nutmeg.net.host.robot import HostedRobot
    from nutmeg.net.openr.commands import Command, CommandVector
    from nutmeg.net.openr.models import Model, Primitive


# ----------------------------------------------------------------------------------------------------
# Command vectors executed in order, a value a frame: what the effector side of OVirtualRobotComm does.
#
# Each channel of each owner is a queue. A vector begins in the first frame after it came and after the one before it in
# its queue is finished, plus its `wait`; it is finished when its longest command is. `execute(command, value)` is
# called for each value whose turn it is, for vectors that began later after the others. Time is counted in frames.


Owner = TypeVar("Owner", bound="Hashable")
MAX_QUEUED = 16
"""Vectors that wait in each queue; of more, the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class VectorEvent(Generic[Owner]):
    """The outcome of a command vector."""

    owner: Owner
    sequence: int
    vector: CommandVector
    event: Event


@dataclass(slots=True)
class _Running(Generic[Owner]):
    """A vector that waits or is being executed."""

    vector: CommandVector
    sequence: int
    wait: int = 0
    began: int = 0
    """Counts the vectors in the order in which they began."""
    step: int = 0
    """Number of executed frames."""
    length: int = 1
    turns: list[dict[int, bytes]] = field(default_factory=list)
    """For each command: values by the frame at which they begin, counted from the vector's first."""


@dataclass(slots=True)
class _Channel(Generic[Owner]):
    queue: deque[tuple[CommandVector, int]] = field(default_factory=deque)
    running: _Running[Owner] | None = None


class CommandQueues(Generic[Owner]):
    """The command vectors of one robot."""

    def __init__(self) -> None:
        self.dropped = 0
        """Vectors that were dropped because their queue was full."""
        self._channels: dict[tuple[Owner, int], _Channel[Owner]] = {}
        self._began = itertools.count(1)
        self._lost: list[VectorEvent[Owner]] = []

    @property
    def waiting(self) -> int:
        """Vectors that have not begun."""
        return sum(len(channel.queue) for channel in self._channels.values())

    def add(self, vector: CommandVector, *, sequence: int, owner: Owner) -> None:
        """Queues a vector; if there is no room, the oldest of its queue goes."""
        channel = self._channels.setdefault((owner, vector.channel), _Channel())
        if len(channel.queue) >= MAX_QUEUED:
            old, number = channel.queue.popleft()
            self.dropped += 1
            self._lost.append(VectorEvent(owner, number, old, Event.DROPPED))
        channel.queue.append((vector, sequence))

    def forget(self, owner: Owner) -> None:
        """Forgets all vectors of an owner, begun or not."""
        for key in [key for key in self._channels if key[0] == owner]:
            del self._channels[key]
        self._lost = [event for event in self._lost if event.owner != owner]

    def advance(self, execute: Callable[[Command, bytes], None]) -> list[VectorEvent[Owner]]:
        """Executes one frame; returns what became of the vectors."""
        events, self._lost = self._lost, []
        for (owner, _), channel in self._channels.items():
            events += self._begin(owner, channel)
        running = [(owner, c) for (owner, _), c in self._channels.items() if c.running and not c.running.wait]
        running.sort(key=lambda pair: pair[1].running.began if pair[1].running else 0)
        for owner, channel in running:
            events += _execute(owner, channel, execute)
        for channel in self._channels.values():
            if channel.running and channel.running.wait:
                channel.running.wait -= 1
        return events

    def _begin(self, owner: Owner, channel: _Channel[Owner]) -> Iterator[VectorEvent[Owner]]:
        if channel.running is None and channel.queue:
            vector, sequence = channel.queue.popleft()
            channel.running = _Running(vector, sequence, wait=vector.wait)
        now = channel.running
        if now is not None and not now.wait and not now.began:
            now.began = next(self._began)
            now.turns = [_turns(command) for command in now.vector.commands]
            now.length = max((sum(command.periods) for command in now.vector.commands), default=1)
            yield VectorEvent(owner, now.sequence, now.vector, Event.BEGUN)


def _turns(command: Command) -> dict[int, bytes]:
    starts = itertools.accumulate(command.periods[:-1], initial=0)
    return dict(zip(starts, command.values, strict=True))


def _execute(
    owner: Owner, channel: _Channel[Owner], execute: Callable[[Command, bytes], None]
) -> Iterator[VectorEvent[Owner]]:
    now = channel.running
    if now is None:
        return
    for command, turns in zip(now.vector.commands, now.turns, strict=True):
        value = turns.get(now.step)
        if value is not None:
            execute(command, value)
    now.step += 1
    if now.step >= now.length:
        channel.running = None
        yield VectorEvent(owner, now.sequence, now.vector, Event.FINISHED)


_MAX_STIFFNESS = 8.0
"""Times the stiffness of the drive: at 16 times the light mouth would not be stable in steps of 4 ms."""
_MAX_DAMPING = 4.0
"""Times the damping of the drive."""
_GEAR_DAMPING = 0.5
"""Share of the damping that is the gear's; assumed."""
_INTEGRAL_TIME = 0.5
"""Time in which the integral part of the standard gains grows as large as the proportional part [s]; assumed."""
_INTEGRAL_TORQUE = 0.5
"""The integral part is held within this share of a drive's torque, so that it does not wind up; assumed."""


class _OpenrMotors:
    """The motors of an AIBO under OPEN-R: power, gains, references.

    A joint without power or with P = 0 is limp; its reference follows it, so that it does not jump when it is switched
    on. With the standard gains it has the stiffness and damping of its drive; other gains scale them in proportion,
    where half of the damping is taken to be that of the gear and stays. The integral part is summed once a frame and
    moves the set-point of the drive, while the reference rests and the drive has torque left: a steady load makes no
    lasting error as long as I is not 0.

    Ears have no gains: they are stiff while there is power.
    """

    def __init__(self, model: Model, robot: HostedRobot) -> None:
        self._model, self._robot = model, robot
        table = robot.table
        moved = {k: p.of for k, p in enumerate(model.primitives, 1) if p.kind.name.startswith("JOINT")}
        self._place = {k: int(robot.motor_index([of])[0]) for k, of in moved.items()}
        self._limits = table.limits[table.motor_joints]
        self._joints = table.motor_joints
        self._all = np.arange(len(table.motors))
        ears = [self._place[k] for k in moved if model.primitive(k).kind != Kind.JOINT2]
        self._soft = np.ones(len(table.motors), bool)
        self._soft[ears] = False
        self._scale = np.zeros((2, len(table.motors)))
        self._scale[:, ears] = 1.0
        self._integral_rate = np.zeros(len(table.motors))
        """Ratio of I to P, in shares of the standard gains, (motors,)."""
        self._offset = np.zeros(len(table.motors))
        """The integral part as an angle of the set-point, (motors,) [rad]."""
        self._last_references: Floats = robot.targets
        drives = drive_of_each_joint(table.settings, dict.fromkeys(table.joints))
        self._max_offset = np.array([_INTEGRAL_TORQUE * drives[m].torque / drives[m].stiffness for m in table.motors])
        self.gains: dict[int, Gains] = {k: Gains() for k in model.joints}
        """The gains of each joint, by its ID."""
        self.power = False
        """Whether the motors have power."""
        self.references: Floats = robot.targets
        """Where the joints shall go, (motors,) [rad]."""

    def wake(self) -> None:
        """Switches on with the standard gains."""
        self.power = True
        for number in self.gains:
            self.set_gains(number, self._model.standard_gains(number))

    def set_gains(self, number: int, gains: Gains) -> None:
        """Sets the gains of a joint, by its ID."""
        self.gains[number] = gains
        standard = self._model.standard_gains(number)
        stiff = gains.p / standard.p * 2.0 ** (standard.p_shift - gains.p_shift)
        damp = gains.d / standard.d * 2.0 ** (standard.d_shift - gains.d_shift)
        total = gains.i / standard.i * 2.0 ** (standard.i_shift - gains.i_shift) if standard.i else 0.0
        place = self._place[number]
        self._integral_rate[place] = total / stiff if stiff else 0.0
        self._scale[0, place] = min(stiff, _MAX_STIFFNESS)
        self._scale[1, place] = _GEAR_DAMPING + (1 - _GEAR_DAMPING) * min(damp, 2 * _MAX_DAMPING - 1)

    def set_reference(self, number: int, angle: float) -> None:
        """Gives a joint a reference, by its ID [rad]; beyond its limits, the limit."""
        place = self._place[number]
        self.references[place] = np.clip(angle, *self._limits[place])

    def set_ear(self, number: int, state: int) -> None:
        """Moves an ear down (0) or up (1); other states are no command."""
        if state in (0, 1):
            self.set_reference(number, float(self._limits[self._place[number]][state]))

    @property
    def limp(self) -> Bools:
        """Which motors do nothing, (motors,)."""
        return np.asarray((self._soft & (self._scale[0] == 0)) | (not self.power))

    def turn(self) -> None:
        """Passes references, gains and power on to the drives."""
        limp = self.limp
        self.references[limp] = self._robot.angles[self._joints][limp]
        motors = self._robot.motors
        motors.stiffness[:] = np.where(limp, 0.0, 1.0)
        motors.p_gain[:], motors.d_gain[:] = np.where(limp, 1.0, self._scale)
        # The set-point moves by what the integral torque is worth at the present stiffness.
        error, bound = self.references - self._robot.angles[self._joints], self._max_offset
        # A moving joint lags behind without any load: an integral of that error would carry it past its goal.
        resting = (self.references == self._last_references) & (np.abs(error) < bound / _INTEGRAL_TORQUE)
        self._offset += np.where(resting, self._integral_rate * error * (self._robot.period / _INTEGRAL_TIME), 0.0)
        np.clip(self._offset, -bound, bound, out=self._offset)
        self._last_references = self.references.copy()
        self._offset[limp] = 0.0
        self._robot.set_targets(self._all, self.references + self._offset)


_MAX_SIGNAL = 1023
_MICRO = 1e6
MAX_ACCELERATION = 19.6133
"""[m/s²]"""
_PRESSED_FORCE = 980665
"""The value of a pressed head of an ERS-210 [1e-6 N]."""
_TOUCHED_VALUE = 50
"""The value of a touched sensor of an ERS-7, of 80; its thresholds are 9 to 14."""
_FULL_DUTY = 512
_GRAVITY_SIGNS = np.array([-1.0, 1.0, -1.0])
"""Signs from proper acceleration forward, left, up to gravity forward, right, up."""


class _OpenrSensors:
    """The sensors of an AIBO in OPEN-R's units and order, one frame of the sensor vector at a time.

    Angles are micro-radians, accelerations micro-metres per second squared, distances micrometres; signals are the A/D
    values beside them, of which OPEN-R has ten bits. Units: Sony OPEN-R SDK, Model Information; the sign of
    accelerations is that of gravity's pull (Tekkotsu reads them so: a standing robot has -9.8 m/s² upward). `pwmDuty`
    is 512 at the drive's limit, as Tekkotsu scales it. Ranges of signals are assumed: they are calibrated for each
    robot.

    Args:
        model: which AIBO.
        robot: the simulated one.
        torque: the drives' torques over their limits, (motors,).
    """

    def __init__(self, model: Model, robot: HostedRobot, torque: Callable[[], Floats]) -> None:
        self._robot, self._torque, self._model = robot, torque, model
        table = robot.table
        joints = [(k, p.of) for k, p in enumerate(model.sensors) if p.measures == "joint"]
        self._rows = np.array([k for k, _ in joints])
        self._columns = np.array([table.joints.index(name) for _, name in joints])
        self._motors = robot.motor_index([name for _, name in joints])
        self._low, self._high = table.limits[self._columns].T
        self._encoder = next(s.name for s in table.sensors if s.type == "encoder")
        ranges = {s.name: s.range for s in table.sensors if s.range is not None}
        self._others = [(k, p, ranges.get(p.of)) for k, p in enumerate(model.sensors) if p.measures != "joint"]

    def fill(self, slot: Any, *, frame: int, references: Floats) -> None:  # noqa: ANN401 (a structured array)
        """Writes one frame: `slot` is (primitives,) of the vector, `references` (motors,) [rad]."""
        self._fill_joints(slot, references)
        acceleration = self._robot.read("accelerometer")[3:] * _GRAVITY_SIGNS
        for row, primitive, limits in self._others:
            if primitive.measures == "acceleration":
                value = float(acceleration[primitive.axis])
                slot["value"][row] = round(value * _MICRO)
                slot["signal"][row] = _ten_bits(value, -MAX_ACCELERATION, MAX_ACCELERATION)
            elif primitive.measures == "distance" and limits is not None:
                self._fill_distance(slot, row, primitive, limits, frame)
            else:
                slot["value"][row], slot["signal"][row] = self._simple(primitive)

    def hold(self, slot: Any, before: Any) -> None:  # noqa: ANN401 (structured arrays)
        """Copies the values of the sensors that take turns from the frame before."""
        for row, primitive, _ in self._others:
            if primitive.turn is not None:
                slot["value"][row] = before["value"][row]

    def _fill_joints(self, slot: Any, references: Floats) -> None:  # noqa: ANN401
        angles, wanted = self._robot.read(self._encoder)[self._columns], references[self._motors]
        slot["value"][self._rows] = np.round(angles * _MICRO)
        slot["signal"][self._rows] = self._joint_signal(angles)
        slot["refValue"][self._rows] = np.round(wanted * _MICRO)
        slot["refSignal"][self._rows] = self._joint_signal(wanted)
        duty = np.clip(self._torque()[self._motors], -1.0, 1.0)
        slot["pwmDuty"][self._rows] = np.round(_FULL_DUTY * duty)

    def _joint_signal(self, angles: Floats) -> Floats:
        share = (angles - self._low) / (self._high - self._low)
        return np.asarray(np.round(_MAX_SIGNAL * np.clip(share, 0.0, 1.0)))

    def _fill_distance(
        self,
        slot: Any,  # noqa: ANN401
        row: int,
        primitive: Primitive,
        limits: tuple[float, float],
        frame: int,
    ) -> None:
        if primitive.turn is not None and frame % 2 != primitive.turn:
            slot["signal"][row] = 0
            return
        value = float(self._robot.read(primitive.of)[0])
        slot["value"][row] = round(value * _MICRO)
        slot["signal"][row] = max(1, _ten_bits(value, *limits))

    def _simple(self, primitive: Primitive) -> tuple[int, int]:
        """Value and signal of a switch, a touch or force sensor, or of what never changes."""
        if primitive.constant is not None:
            return primitive.constant, primitive.constant if primitive.measures == "switch" else _MAX_SIGNAL // 2 + 1
        pressed = bool(self._robot.read(primitive.of)[0] > 0)
        if primitive.measures == "force":
            return _PRESSED_FORCE * pressed, _MAX_SIGNAL * pressed
        value = (_TOUCHED_VALUE if primitive.measures == "touch" else 1) * pressed
        return value, value


def _ten_bits(value: float, low: float, high: float) -> int:
    return round(_MAX_SIGNAL * min(1.0, max(0.0, (value - low) / (high - low))))


_GAMMA = 2.2
COLOURS = np.array([600e-9, 540e-9, 450e-9])
"""Wavelengths that stand for red, green, blue [m]."""
_SECOND_RADIATION = 1.438777e-2  # h c / k [m K], CODATA
_FLUORESCENT, _MIDDLE = 3, 2
"""Parameters of the camera's defaults."""


class CameraControls:
    """White balance, gain and shutter of an AIBO's camera, as `OPENR::ControlPrimitive` sets them.

    The picture comes as the camera takes it by default: balanced for fluorescent light, 0 dB, 1/100 s (Sony OPEN-R SDK,
    Model Information). What was asked is done to the finished picture: light is proportional to v^2.2, a longer shutter
    and gain multiply it, and a balance for light of T kelvin divides each colour by what a black body of T emits
    (Planck's law at 600, 540 and 450 nm), green being left as it is. What was too bright or too dark before stays so,
    and blur of motion does not change.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.parameters = {commands.WHITE_BALANCE: _FLUORESCENT, commands.GAIN: _MIDDLE, commands.SHUTTER: _MIDDLE}
        """The present parameter of each request."""
        self._table: Bytes | None = None

    def set(self, request: int, parameter: int) -> None:
        """Sets one of them; parameters are 1, 2 and 3, as OPEN-R numbers them."""
        self.parameters[request] = parameter
        factors = self.factors
        self._table = None if np.allclose(factors, 1.0) else _table(factors)

    @property
    def factors(self) -> Floats:
        """Factors of the light of each colour, (3,)."""
        camera = self._model.camera
        kelvin = camera.white_balance
        now, usual = (emission(kelvin[which - 1]) for which in (self.parameters[commands.WHITE_BALANCE], _FLUORESCENT))
        balance = usual / now
        decibels = camera.gain[self.parameters[commands.GAIN] - 1] - camera.gain[_MIDDLE - 1]
        longer = camera.shutter[self.parameters[commands.SHUTTER] - 1] / camera.shutter[_MIDDLE - 1]
        return np.asarray(balance * longer * 10 ** (decibels / 20))

    def apply(self, pixels: Bytes) -> Bytes:
        """The picture with these settings, (height, width, 3)."""
        if self._table is None:
            return pixels
        return np.stack([self._table[colour][pixels[..., colour]] for colour in range(3)], axis=-1)


def emission(kelvin: float) -> Floats:
    """Emission of a black body at the three colours, green being 1, (3,)."""
    power = 1.0 / (COLOURS**5 * np.expm1(_SECOND_RADIATION / (COLOURS * kelvin)))
    return np.asarray(power / power[1])


def _table(factors: Floats) -> Bytes:
    """New values for all 256 old ones, (3, 256)."""
    light = (np.arange(256) / 255) ** _GAMMA * factors[:, None]
    return np.asarray(np.round(255 * np.clip(light, 0.0, 1.0) ** (1 / _GAMMA)), np.uint8)


_ACCEPTED = {
    Kind.JOINT2: (commands.JOINT_COMMAND, commands.JOINT_COMMAND2),
    Kind.JOINT3: commands.JOINT_COMMANDS,
    Kind.JOINT4: commands.JOINT_COMMANDS,
    Kind.LED2: commands.LED_COMMANDS,
    Kind.LED3: commands.LED_COMMANDS,
}
"""Types of commands that each kind of primitive takes. The maker's own programs (MoNet) command ears like other joints,
in one vector with the legs: there the value is taken as the ear's state."""
_MOTION = (commands.JOINT_COMMAND, commands.JOINT_COMMAND2)


class OpenrRobot(Generic[Owner]):
    """The robot as OPEN-R programs see it, in the place of OVirtualRobotComm.

    Args:
        model: which AIBO.
        robot: the simulated one.
        torque: its drives' torques over their limits, (motors,).
        awake: whether motors are on with standard gains from the start.
    """

    def __init__(self, model: Model, robot: HostedRobot, torque: Callable[[], Floats], *, awake: bool = False) -> None:
        self.model, self.robot = model, robot
        self.motors = _OpenrMotors(model, robot)
        self.queues: CommandQueues[Owner] = CommandQueues()
        self.camera = CameraControls(model)
        """White balance, gain and shutter of the camera."""
        self.frame = 0
        """Number of the next frame."""
        self._senses = _OpenrSensors(model, robot, torque)
        self._vector = SensorVector(model)
        if awake:
            self.motors.wake()

    @property
    def time(self) -> int:
        """When the last frame was [microseconds]."""
        return (self.frame - 1) * FRAME

    @property
    def sequence(self) -> int:
        """Number of the next sensor vector."""
        return self.frame // FRAMES

    def receive(self, packet: Packet, owner: Owner) -> None:
        """Takes a client's packet; one whose inside is wrong raises PacketError, and changes nothing."""
        if packet.model not in (0, self.model.model):
            raise PacketError(f"the packet is for model {packet.model}; this is {self.model.model}.")
        if packet.type == PacketType.COMMANDS:
            vector = commands.read_commands(packet.body)
            self._check(vector)
            self.queues.add(vector, sequence=packet.sequence, owner=owner)
        elif packet.type == PacketType.GAINS:
            self._set_gains(commands.read_gains(packet.body))
        elif packet.type == PacketType.POWER:
            self.motors.power = commands.read_power(packet.body)
        elif packet.type == PacketType.CAMERA:
            self.camera.set(*commands.read_camera(packet.body))

    def turn(self) -> list[VectorEvent[Owner]]:
        """One frame: reads the sensors, then executes commands; returns what became of them."""
        slot = self.frame % FRAMES
        values = self._vector.values
        self._senses.hold(values[:, slot], values[:, slot - 1])
        self._senses.fill(values[:, slot], frame=self.frame, references=self.motors.references)
        events = self.queues.advance(self._execute)
        for event in events:
            if event.event == Event.BEGUN:
                vector = event.vector
                self._vector.echo(vector.sync_key, vector.offset, vector.optional)
        self.motors.turn()
        self.frame += 1
        return events

    def vector(self) -> bytes | None:
        """The SENSORS packet that the last turn has completed, if it has."""
        if self.frame % FRAMES:
            return None
        return self._vector.packet(sequence=self.frame // FRAMES - 1, time=self.time)

    def picture(self, picture: Picture) -> tuple[bytes, ...]:
        """The three IMAGE packets of a picture."""
        time = round(picture.time * 1e6)
        planes = ycrcb(self.camera.apply(picture.pixels))
        return image_packets(self.model, planes, sequence=picture.sequence, frame=time // FRAME, time=time)

    def _check(self, vector: CommandVector) -> None:
        for command in vector.commands:
            if not 1 <= command.primitive <= len(self.model.primitives):
                most = len(self.model.primitives)
                raise PacketError(f"a command is for primitive {command.primitive}; there are 1 to {most}.")
            primitive = self.model.primitive(command.primitive)
            if command.type not in _ACCEPTED.get(primitive.kind, ()):
                raise PacketError(f"{primitive.locator} does not take commands of type {command.type}.")

    def _set_gains(self, pairs: list[tuple[int, Gains]]) -> None:
        for number, _ in pairs:
            if number != commands.EVERY and number not in self.model.joints:
                raise PacketError(f"gains are for primitive {number}, which is no joint with gains.")
        for number, gains in pairs:
            for joint in self.model.joints if number == commands.EVERY else (number,):
                self.motors.set_gains(joint, gains)

    def _execute(self, command: Command, value: bytes) -> None:
        """Executes the value of a command for this frame."""
        ear = self.model.primitive(command.primitive).kind in (Kind.JOINT3, Kind.JOINT4)
        if ear:
            self.motors.set_ear(command.primitive, struct.unpack_from("<I", value)[0])
        elif command.type in _MOTION:
            (reference,) = struct.unpack_from("<i", value)
            self.motors.set_reference(command.primitive, reference * 1e-6)
            if command.type == commands.JOINT_COMMAND and any(value[4:7]):
                gains = gains_of(*value[4:7], *self.model.shifts)
                self.motors.set_gains(command.primitive, gains)
