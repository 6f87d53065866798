"""What monitors and trainers send: commands that move players and the ball, set the play mode, or end the simulation.

    orders = read_commands(b"(playMode PlayOn)(ball (pos 1 0 0.04)(vel 2 0 0))")
    orders.commands      # (SetPlayMode(mode=<PlayMode.PLAY_ON: 3>), PlaceBall(position=(1.0, 0.0, 0.04), ...))
    orders.problems      # ()

Several commands may share a message. Nothing raises: what cannot be used is left out and said in `problems`. Headings
on the wire count from +y, because the league's robot looks along its y axis; here they count from +x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from nutmeg.base.errors import UnknownNameError
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import PlayMode, Side, mode_named
from nutmeg.match.rules.slots import slot_of
from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.sexpr import Expression

MOST_PROBLEMS = 8
"""After so many, the rest of a message is not looked at."""
MOST_COORDINATE = 1000.0
"""Nothing is put farther away than this, m."""
MOST_SCORE = 1000

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacePlayer:
    """`(agent (unum n)(team Left)(pos x y z))` or `(move x y z degrees)`."""

    slot: int
    position: Vector
    heading: float | None = None
    """Degrees from +x; None keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceBall:
    """`(ball (pos x y z)(vel x y z))`."""

    position: Vector | None = None
    velocity: Vector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPlayMode:
    """`(playMode X)`."""

    mode: PlayMode


@dataclass(frozen=True, slots=True, kw_only=True)
class KickOff:
    """`(kickOff Left)`."""

    side: Side | None
    """None is whoever's turn it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropBall:
    """`(dropBall)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """`(select (unum n)(team Left))`: whom `(kill)` and `(repos)` without a name mean."""

    slot: int | None
    """None, which is `(select (unum -1))`, is nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectNext:
    """`(select)`: the next one of those who play."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """`(kill (unum n)(team Left))`: out of the game, and disconnected."""

    slot: int | None
    """None is the selected player."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendOff:
    """`(repos (unum n)(team Left))`: put beside the pitch."""

    slot: int | None
    """None is the selected player."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTime:
    """`(time t)`."""

    time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SetScore:
    """`(score l r)` or `(score (left l)(right r))`."""

    left: int
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SendFullState:
    """`(reqfullstate)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSimulation:
    """`(killsim)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """What means nothing here or on the league's server: `(getAck)`, `(init)`, a player's `(battery x)`."""


Command: TypeAlias = (
    PlacePlayer
    | PlaceBall
    | SetPlayMode
    | KickOff
    | DropBall
    | Select
    | SelectNext
    | Kill
    | SendOff
    | SetTime
    | SetScore
    | SendFullState
    | EndSimulation
    | Nothing
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerOrders:
    """What one message asks for."""

    commands: tuple[Command, ...]
    """In order."""
    problems: tuple[str, ...] = ()
    """What was ignored, and why."""
    broken: bool = False
    """Whether the message was no list of commands at all, whatever they are."""


def read_commands(message: bytes) -> TrainerOrders:
    """The commands in a message."""
    reading = sexpr.read(message.rstrip(b"\0"))  # as C ends a text
    commands: list[Command] = []
    problems: list[str] = []
    broken = reading.problem is not None
    for expression in reading.expressions:
        command = _command(expression)
        if command is not None:
            commands.append(command)
        else:
            broken |= not isinstance(expression, list)
            problems.append(f"{sexpr.shown(expression, 80)} is not a trainer's command that is known here")
        if len(problems) >= MOST_PROBLEMS:
            problems.append("the rest of the message was not read")
            break
    if reading.problem is not None:
        problems.append(f"the message has {reading.problem}")
    return TrainerOrders(commands=tuple(commands), problems=tuple(problems), broken=broken)


def _command(expression: Expression) -> Command | None:
    if not isinstance(expression, list) or not expression or not isinstance(expression[0], bytes):
        return None
    reader = _READERS.get(expression[0])
    return None if reader is None else reader(expression[1:])


def _agent(words: list[Expression]) -> Command | None:
    fields = _fields(words)
    slot = _slot(fields)
    if slot is None:
        return None
    move = _place(fields.get(b"move", []), 4)
    if move is not None:
        return PlacePlayer(slot=slot, position=(move[0], move[1], move[2]), heading=move[3] + 90.0)
    position = _vector(fields.get(b"pos"))
    if position is None:
        return Nothing() if b"battery" in fields or b"temperature" in fields else None
    return PlacePlayer(slot=slot, position=position)


def _ball(words: list[Expression]) -> Command | None:
    fields = _fields(words)
    position, velocity = _vector(fields.get(b"pos")), _vector(fields.get(b"vel"))
    if (position is None and b"pos" in fields) or (velocity is None and b"vel" in fields):
        return None
    if position is None and velocity is None:
        return None
    return PlaceBall(position=position, velocity=velocity)


def _play_mode(words: list[Expression]) -> Command | None:
    name = sexpr.text(words[0]) if len(words) == 1 else None
    try:
        return None if name is None else SetPlayMode(mode=mode_named(name))
    except UnknownNameError:
        return None


def _kick_off(words: list[Expression]) -> Command | None:
    if not words or words == [b"None"]:
        return KickOff(side=None)
    side = _side(words)
    return None if side is None else KickOff(side=side)


def _time(words: list[Expression]) -> Command | None:
    found = sexpr.numbers(words, 1)
    return None if found is None or found[0] < 0 else SetTime(time=found[0])


def _score(words: list[Expression]) -> Command | None:
    fields = _fields(words)
    if fields:
        words = [*fields.get(b"left", []), *fields.get(b"right", [])]
    found = sexpr.numbers(words, 2)
    if found is None or not all(0 <= value <= MOST_SCORE and value == int(value) for value in found):
        return None
    return SetScore(left=int(found[0]), right=int(found[1]))


def _select(words: list[Expression]) -> Command | None:
    if not words:
        return SelectNext()
    fields = _fields(words)
    slot = _slot(fields)
    return Select(slot=slot) if slot is not None or fields.get(b"unum") == [b"-1"] else None


def _about_player(kind: type[Kill] | type[SendOff]) -> Callable[[list[Expression]], Command | None]:
    def reader(words: list[Expression]) -> Command | None:
        if not words:
            return kind(slot=None)
        slot = _slot(_fields(words))
        return None if slot is None else kind(slot=slot)

    return reader


def _plain(command: Command) -> Callable[[list[Expression]], Command | None]:
    return lambda words: None if words else command


_READERS: dict[bytes, Callable[[list[Expression]], Command | None]] = {
    b"agent": _agent,
    b"ball": _ball,
    b"playMode": _play_mode,
    b"kickOff": _kick_off,
    b"dropBall": _plain(DropBall()),
    b"select": _select,
    b"kill": _about_player(Kill),
    b"repos": _about_player(SendOff),
    b"time": _time,
    b"score": _score,
    b"reqfullstate": _plain(SendFullState()),
    b"killsim": _plain(EndSimulation()),
    b"getAck": _plain(Nothing()),
    b"init": _plain(Nothing()),
}


def _fields(words: list[Expression]) -> dict[bytes, list[Expression]]:
    """`(name value ...)` lists by name."""
    return {w[0]: w[1:] for w in words if isinstance(w, list) and w and isinstance(w[0], bytes)}


def _slot(fields: dict[bytes, list[Expression]]) -> int | None:
    side, number = _side(fields.get(b"team", [])), sexpr.numbers(fields.get(b"unum", []), 1)
    if side is None or number is None or number[0] not in range(1, MAX_PLAYERS + 1):
        return None
    return slot_of(side, int(number[0]))


def _side(words: list[Expression]) -> Side | None:
    name = sexpr.text(words[0]) if len(words) == 1 else None
    return None if name is None else {"left": Side.LEFT, "right": Side.RIGHT}.get(name.lower())


def _vector(words: list[Expression] | None) -> Vector | None:
    found = None if words is None else _place(words, 3)
    return None if found is None else (found[0], found[1], found[2])


def _place(words: list[Expression], count: int) -> tuple[float, ...] | None:
    found = sexpr.numbers(words, count)
    return None if found is None or max(map(abs, found)) > MOST_COORDINATE else found
