"""One AIBO behind OPEN-R: command vectors in, sensor vectors out, a frame at a time. No sockets here.

robot = OpenrRobot(model, hosted, torque)
robot.hear(packet, owner)                       # a client's packet; PacketError if its inside is wrong
for happening in robot.turn(): ...              # every 8 ms
packet = robot.vector()                         # after every fourth turn, else None
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Generic

from nutmeg.net.openr.camera_controls import CameraControls
from nutmeg.net.openr.commands import (
    EVERY,
    JOINT_COMMAND,
    JOINT_COMMAND2,
    JOINT_COMMAND3,
    JOINT_COMMAND4,
    LED_COMMAND,
    LED_COMMAND2,
    LED_COMMAND3,
    read_camera,
    read_commands,
    read_gains,
    read_power,
)
from nutmeg.net.openr.execution import CommandQueues, Happening, Owner
from nutmeg.net.openr.models import FRAME, FRAMES, Gains, Kind
from nutmeg.net.openr.motors import OpenrMotors
from nutmeg.net.openr.packets import Event, Packet, PacketError, PacketType
from nutmeg.net.openr.senses import OpenrSenses
from nutmeg.net.openr.vectors import SensorVector, image_packets, ycrcb

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Floats
    from nutmeg.net.host_cameras import Picture
    from nutmeg.net.host_robot import HostedRobot
    from nutmeg.net.openr.commands import Command, CommandVector
    from nutmeg.net.openr.models import Model

_TAKEN = {
    Kind.JOINT2: (JOINT_COMMAND, JOINT_COMMAND2),
    Kind.JOINT3: (JOINT_COMMAND, JOINT_COMMAND2, JOINT_COMMAND3, JOINT_COMMAND4),
    Kind.JOINT4: (JOINT_COMMAND, JOINT_COMMAND2, JOINT_COMMAND3, JOINT_COMMAND4),
    Kind.LED2: (LED_COMMAND, LED_COMMAND2, LED_COMMAND3),
    Kind.LED3: (LED_COMMAND, LED_COMMAND2, LED_COMMAND3),
}
"""Types of commands that each kind of primitive takes. The maker's own programs (MoNet) command ears like other joints,
in one vector with the legs: there the value is taken as the ear's state."""
_MOTION = (JOINT_COMMAND, JOINT_COMMAND2)


class OpenrRobot(Generic[Owner]):
    """What stands in for OVirtualRobotComm.

    Args:
        model: which AIBO.
        robot: the simulated one.
        torque: its drives' torques over their limits, (motors,).
        awake: whether motors are on with standard gains from the start.
    """

    def __init__(
        self,
        model: Model,
        robot: HostedRobot,
        torque: Callable[[], Floats],
        *,
        awake: bool = False,
    ) -> None:
        self.model, self.robot = model, robot
        self.motors = OpenrMotors(model, robot)
        self.queues: CommandQueues[Owner] = CommandQueues()
        self.camera = CameraControls(model)
        """What clients asked of the camera."""
        self.frame = 0
        """Number of the next frame."""
        self._senses = OpenrSenses(model, robot, torque)
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

    def hear(self, packet: Packet, owner: Owner) -> None:
        """Takes a client's packet; one whose inside is wrong raises PacketError, and changes nothing."""
        if packet.model not in (0, self.model.model):
            raise PacketError(f"the packet is for model {packet.model}; this is {self.model.model}.")
        if packet.type == PacketType.COMMANDS:
            vector = read_commands(packet.body)
            self._check(vector)
            self.queues.add(vector, sequence=packet.sequence, owner=owner)
        elif packet.type == PacketType.GAINS:
            self._set_gains(read_gains(packet.body))
        elif packet.type == PacketType.POWER:
            self.motors.power = read_power(packet.body)
        elif packet.type == PacketType.CAMERA:
            self.camera.ask(*read_camera(packet.body))

    def turn(self) -> list[Happening[Owner]]:
        """One frame: senses, then executes commands; tells what became of them."""
        slot = self.frame % FRAMES
        values = self._vector.values
        self._senses.hold(values[:, slot], values[:, slot - 1])
        self._senses.fill(values[:, slot], frame=self.frame, references=self.motors.references)
        happened = self.queues.advance(self._obey)
        for happening in happened:
            if happening.event == Event.BEGUN:
                vector = happening.vector
                self._vector.echo(vector.sync_key, vector.offset, vector.optional)
        self.motors.turn()
        self.frame += 1
        return happened

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
            if command.type not in _TAKEN.get(primitive.kind, ()):
                raise PacketError(f"{primitive.locator} does not take commands of type {command.type}.")

    def _set_gains(self, pairs: list[tuple[int, Gains]]) -> None:
        for number, _ in pairs:
            if number != EVERY and number not in self.model.joints:
                raise PacketError(f"gains are for primitive {number}, which is no joint with gains.")
        for number, gains in pairs:
            for joint in self.model.joints if number == EVERY else (number,):
                self.motors.set_gains(joint, gains)

    def _obey(self, command: Command, value: bytes) -> None:
        """Executes the value of a command for this frame."""
        ear = self.model.primitive(command.primitive).kind in (Kind.JOINT3, Kind.JOINT4)
        if ear:
            self.motors.refer_ear(command.primitive, struct.unpack_from("<I", value)[0])
        elif command.type in _MOTION:
            (reference,) = struct.unpack_from("<i", value)
            self.motors.refer(command.primitive, reference * 1e-6)
            if command.type == JOINT_COMMAND and any(value[4:7]):
                ps, i_shift, ds = self.model.shifts
                p, i, d = value[4:7]
                gains = Gains(p=p, i=i, d=d, p_shift=ps, i_shift=i_shift, d_shift=ds)
                self.motors.set_gains(command.primitive, gains)
