"""Messages of clients to an OPEN-R robot: command vectors, gains, power, the camera's settings, steps.

    vector = CommandVector(channel=0, commands=(joint_command(4, [0.1, 0.2]),))
    socket.sendall(commands_packet(vector, sequence=1))
    vector = read_commands(packet.body)                 # PacketError says what is wrong

References are micro-radians on the wire; nothing here knows joints or their limits. Layouts:
docs/reference/openr-wire.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nutmeg.net.openr.models import Gains, gains_of
from nutmeg.net.openr.packets import MAX_COMMAND, Packet, PacketError, PacketType

CHANNELS = 16
_MAX_COMMANDS = 96
_MAX_VECTOR_FRAMES = 16
_MAX_WAIT = 125 * 600
"""Ten minutes; a vector that waits longer is refused."""
OPTIONAL = 128
EVERY = 0xFFFFFFFF
"""The primitive ID that means all joints."""
NEWEST = 0xFFFFFFFF
"""In a STEP: the newest sensor vector, or none yet."""

JOINT_COMMAND, JOINT_COMMAND2, _JOINT_COMMAND3, _JOINT_COMMAND4 = 256, 259, 261, 262
LED_COMMAND, LED_COMMAND2, _LED_COMMAND3 = 258, 260, 263
JOINT_COMMANDS = (JOINT_COMMAND, JOINT_COMMAND2, _JOINT_COMMAND3, _JOINT_COMMAND4)
LED_COMMANDS = (LED_COMMAND, LED_COMMAND2, _LED_COMMAND3)
COMMAND_TYPES = frozenset((*JOINT_COMMANDS, *LED_COMMANDS))
WHITE_BALANCE, GAIN, SHUTTER = 384, 385, 386

_VECTOR = struct.Struct("<6I")
_COMMAND = struct.Struct("<3I")
_NUMBER = struct.Struct("<I")
_GAINS = struct.Struct("<I6H")
_PAIR = struct.Struct("<2I")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Values for one primitive, one for each frame of 8 ms."""

    type: int
    """ODataType of the command."""
    primitive: int
    """ID of the primitive."""
    values: tuple[bytes, ...]
    """OCommandValue of each frame, 8 bytes each."""

    @property
    def references(self) -> tuple[int, ...]:
        """The values as signed numbers: references of a joint [1e-6 rad], states of an ear."""
        return tuple(struct.unpack_from("<i", value)[0] for value in self.values)

    @property
    def periods(self) -> tuple[int, ...]:
        """How many frames each value lasts: more than one for ears and lights."""
        if self.type in (JOINT_COMMAND, JOINT_COMMAND2, _JOINT_COMMAND3):
            return (1,) * len(self.values)
        factor = 16 if self.type == LED_COMMAND else 1
        return tuple(max(1, factor * struct.unpack_from("<H", value, 4)[0]) for value in self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandVector:
    """Commands that are executed together."""

    channel: int = 0
    wait: int = 0
    """Frames of 8 ms before the first is executed."""
    sync_key: int = 0
    commands: tuple[Command, ...] = ()
    optional: bytes = b""
    """Copied into sensor vectors from the moment this vector begins."""
    offset: int = 0
    """Where in the optional area."""


def joint_command(primitive: int, references: Iterable[float]) -> Command:
    """A command for a joint: references [rad], one for each frame."""
    return Command(
        type=JOINT_COMMAND2,
        primitive=primitive,
        values=tuple(struct.pack("<2i", round(reference * 1e6), 0) for reference in references),
    )


def commands_packet(vector: CommandVector, *, sequence: int = 0, model: int = 0) -> bytes:
    """A COMMANDS packet; wrong vectors raise PacketError here rather than at the server."""
    head = (vector.channel, vector.wait, vector.sync_key, len(vector.commands), vector.offset, len(vector.optional))
    parts = [_VECTOR.pack(*head), vector.optional, bytes(-len(vector.optional) % 4)]
    for command in vector.commands:
        parts += [_COMMAND.pack(command.type, command.primitive, len(command.values)), *command.values]
    body = b"".join(parts)
    read_commands(body)
    packet = Packet(type=PacketType.COMMANDS, model=model, sequence=sequence, body=body).pack()
    if len(packet) > MAX_COMMAND:
        raise PacketError(f"a COMMANDS packet has {len(packet)} bytes; at most {MAX_COMMAND} are allowed.")
    return packet


def read_commands(body: bytes) -> CommandVector:
    """The vector in the body of a COMMANDS packet."""
    channel, wait, sync_key, count, offset, size = _read(_VECTOR, body, 0, "COMMANDS")
    _need(channel < CHANNELS, f"channel is {channel}; it is 0 to {CHANNELS - 1}.")
    _need(wait <= _MAX_WAIT, f"wait is {wait} frames; at most {_MAX_WAIT} are allowed.")
    _need(count <= _MAX_COMMANDS, f"numData is {count}; at most {_MAX_COMMANDS} are allowed.")
    _need(offset + size <= OPTIONAL, f"the optional area is {offset} + {size} bytes; at most {OPTIONAL} are allowed.")
    start = _VECTOR.size
    optional = body[start : start + size]
    _need(len(optional) == size, "the packet ends within the optional area.")
    start += size + (-size % 4)
    commands = []
    for _ in range(count):
        command, start = _read_command(body, start)
        commands.append(command)
    _need(start == len(body), f"the packet has {len(body)} bytes behind its header, but its counts make {start}.")
    return CommandVector(
        channel=channel, wait=wait, sync_key=sync_key, commands=tuple(commands), optional=optional, offset=offset
    )


def _read_command(body: bytes, start: int) -> tuple[Command, int]:
    type_, primitive, frames = _read(_COMMAND, body, start, "COMMANDS")
    _need(type_ in COMMAND_TYPES, f"a command has type {type_}; allowed are {sorted(COMMAND_TYPES)}.")
    _need(1 <= frames <= _MAX_VECTOR_FRAMES, f"a command has {frames} frames; 1 to {_MAX_VECTOR_FRAMES} are allowed.")
    start += _COMMAND.size
    end = start + 8 * frames
    _need(end <= len(body), "the packet ends within a command.")
    values = tuple(body[at : at + 8] for at in range(start, end, 8))
    return Command(type=type_, primitive=primitive, values=values), end


def gains_packet(gains: Sequence[tuple[int, Gains]], *, sequence: int = 0) -> bytes:
    """A GAINS packet: pairs of a joint's ID (or EVERY) and its gains."""
    body = _NUMBER.pack(len(gains)) + b"".join(_GAINS.pack(joint, *g.numbers) for joint, g in gains)
    return Packet(type=PacketType.GAINS, sequence=sequence, body=body).pack()


def read_gains(body: bytes) -> list[tuple[int, Gains]]:
    """The pairs in the body of a GAINS packet."""
    (count,) = _read(_NUMBER, body, 0, "GAINS")
    needed = _NUMBER.size + count * _GAINS.size
    _need(len(body) == needed, f"a GAINS packet with {count} records has {len(body)} bytes behind its header.")
    return [(joint, gains_of(*numbers)) for joint, *numbers in _GAINS.iter_unpack(body[_NUMBER.size :])]


def power_packet(*, on: bool, sequence: int = 0) -> bytes:
    """The bytes of a POWER packet, which switches the motors on or off."""
    return Packet(type=PacketType.POWER, sequence=sequence, body=_NUMBER.pack(int(on))).pack()


def read_power(body: bytes) -> bool:
    """Whether a POWER packet switches the motors on."""
    (on,) = _whole(_NUMBER, body, "POWER")
    _need(on in (0, 1), f"POWER is {on}; it is 0 or 1.")
    return bool(on)


def camera_packet(request: int, parameter: int, *, sequence: int = 0) -> bytes:
    """A CAMERA packet."""
    return Packet(type=PacketType.CAMERA, sequence=sequence, body=_PAIR.pack(request, parameter)).pack()


def read_camera(body: bytes) -> tuple[int, int]:
    """Request and parameter of a CAMERA packet."""
    request, parameter = _whole(_PAIR, body, "CAMERA")
    allowed = (WHITE_BALANCE, GAIN, SHUTTER)
    _need(request in allowed and 1 <= parameter <= 3, f"CAMERA has request {request} with parameter {parameter}.")
    return request, parameter


def step_packet(vector: int, *, sequence: int = 0) -> bytes:
    """A STEP packet: the sensor vector of this sequence was dealt with."""
    return Packet(type=PacketType.STEP, sequence=sequence, body=_NUMBER.pack(vector & 0xFFFFFFFF)).pack()


def read_step(body: bytes) -> int:
    """Sequence of the sensor vector in a STEP packet."""
    (vector,) = _whole(_NUMBER, body, "STEP")
    return int(vector)


def _whole(layout: struct.Struct, body: bytes, kind: str) -> tuple[int, ...]:
    _need(len(body) == layout.size, f"a {kind} packet has {len(body)} bytes behind its header, not {layout.size}.")
    return layout.unpack(body)


def _read(layout: struct.Struct, body: bytes, start: int, kind: str) -> tuple[int, ...]:
    _need(start + layout.size <= len(body), f"a {kind} packet ends too early, after {len(body)} bytes.")
    return layout.unpack_from(body, start)


def _need(fine: bool, problem: str) -> None:
    if not fine:
        raise PacketError(problem)
