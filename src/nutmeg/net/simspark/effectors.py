"""Messages of agents: motor speeds, beams, messages, and the two requests with which they enter the game.

    orders = read_orders(b"(he1 0.5)(lle3 -1.2)(say hello)(syn)", joints=22)
    orders.action.speeds[0]          # 0.5 rad/s; joints that were not mentioned are NaN
    orders.problems                  # (), or sentences about what was ignored

    read_orders(b"(scene rsg/agent/nao/nao_hetero.rsg 1)").scene        # 1, the robot's type
    read_orders(b"(init (unum 0)(teamname Nutmeg))").entry               # Entry(number=0, team="Nutmeg")

Nothing an agent sends raises: what cannot be used is left out and reported in `problems`, at most a few a message.

Nearly all messages are motor speeds with `(syn)` at their end. These are read by compiled code, in a tenth of the time
that `sexpr` takes: decimals of up to fifteen digits and ten decimals, for which one division gives exactly what `float`
gives. What it does not know, it leaves to `sexpr`.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from nutmeg.base.arrays import Bytes, Floats, Ints
from nutmeg.base.kernels import kernel
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.worlds.physical.percept import EFFECTORS, MAX_MESSAGE_LENGTH, WITH_TOES, WITHOUT_TOES, Action
from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.sexpr import Expression

_COLUMNS = {name.encode(): column for column, name in enumerate(EFFECTORS)}
_COLUMNS_WITHOUT_TOES = dict(itertools.islice(_COLUMNS.items(), WITHOUT_TOES))
_BESIDE_MOTORS = (b"(say ", b"(beam ", b"(pass)")
_SCENES = (b"rsg/agent/nao/nao_hetero.rsg", b"rsg/agent/nao/nao.rsg")
ROBOT_TYPES = 5
"""Types 0 to 4."""
MAX_TEAM_NAME = 40
"""Letters of a team's name."""
MAX_WORDS = 512
"""Words and parentheses in a message; all motors, a beam and a message have about 120."""
MAX_PROBLEMS = 8
"""Number of problems after which the rest of a message is not read."""
_MAX_DIGITS, _MAX_DECIMALS = 15, 10
"""Longer numbers are left to Python: up to here, a whole number over a power of ten is the nearest float."""
_POWERS = np.array([10.0**k for k in range(_MAX_DECIMALS + 1)])
NO_MOTORS, MOTORS, SYN = 0, 1, 2
"""Flags of a message: none of these, motors, and `(syn)` at its end; added up."""
_OPEN, _CLOSE, _SPACE, _PLUS, _MINUS, _POINT, _ZERO, _NINE = (ord(letter) for letter in "() +-.09")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """`(init ...)`: the team and number that an agent asks for."""

    number: int
    """1 to 11; 0 is any that is free."""
    team: str
    """The team's name."""


class Orders(NamedTuple):
    """The content of one message."""

    action: Action
    """Action of the player's body."""
    scene: int | None = None
    """Type of the robot that is asked for, or None."""
    entry: Entry | None = None
    """Entry into the game that is asked for, or None."""
    problems: tuple[str, ...] = ()
    """What was ignored, and why."""
    broken: bool = False
    """Whether the message was no list of effectors."""


def read_orders(message: bytes, joints: int = WITHOUT_TOES) -> Orders:
    """The orders in a message to a robot with a number of joints."""
    plain = read_motors(message, joints)
    if plain is not None:  # nearly always
        return Orders(Action(plain[0], None, None, False, plain[1]))  # noqa: FBT003 (by place: for every message)
    rest, others = _set_apart(message)
    found = read_motors(rest, joints) if rest else (None, False)
    if not others or found is None:
        return _read_slowly(message, joints)
    draft = _Draft(joints)
    for other in others:
        words: list[Expression] = [*other[1:-1].split()]
        draft.add(words)
    if draft.problems:
        return _read_slowly(message, joints)
    speeds, draft.syn = found
    return draft.orders(speeds)


def read_motors(message: bytes, joints: int) -> tuple[Floats | None, bool] | None:
    """The speeds in a message of motors, if it has any, and whether `(syn)` follows; None for any other message."""
    speeds = np.empty(joints)
    found = read_motor_text(np.frombuffer(message, np.uint8), _KEYS, 1, speeds)
    return None if found == NO_MOTORS else (speeds if found & MOTORS else None, found >= SYN)


def _set_apart(message: bytes) -> tuple[bytes, list[bytes]]:
    """The message without what stands beside motors in it, and that; only where each is plainly one effector."""
    others: list[bytes] = []
    for name in _BESIDE_MOTORS:
        start = message.find(name)
        if start < 0:
            continue
        end = message.find(b")", start) + 1
        other = message[start:end]
        if (
            message[start - 1 : start] in (b")", b"")
            and message[end : end + 1] in (b"(", b"")
            and b"(" not in other[1:]
        ):
            others.append(other)
            message = message[:start] + message[end:]
    return message, others


def merged(first: Action, second: Action) -> Action:
    """Two answers within one cycle as one: what the second does not mention stays as the first has it."""
    return Action(
        speeds=merged_motors(first.speeds, second.speeds),
        beam=first.beam if second.beam is None else second.beam,
        say=first.say if second.say is None else second.say,
        wants_pass=first.wants_pass or second.wants_pass,
        syn=first.syn or second.syn,
    )


def merged_motors(first: Floats | None, second: Floats | None) -> Floats | None:
    """The numbers of motors in two answers; where the second has NaN, those of the first."""
    if first is None or second is None:
        return second if first is None else first
    return np.where(np.isnan(second), first, second)


def _read_slowly(message: bytes, joints: int) -> Orders:
    """The orders in a message with more than plain motors."""
    if message.endswith(b"\0"):  # as C ends a text
        return read_orders(message.rstrip(b"\0"), joints)
    draft = _Draft(joints)
    draft.read(message, MAX_WORDS)
    return draft.orders()


class Draft:
    """Orders while they are read: the common part of the effectors of both leagues' agents.

    Args:
        columns: rows of the motors that the robot has, by name.
        numbers: count of numbers of a motor command.
        wanted: these numbers in words, for error messages.
    """

    example: ClassVar[str]
    """An example of an effector, for error messages."""

    def __init__(self, columns: Mapping[bytes, int], numbers: int, wanted: str) -> None:
        self._columns, self._numbers, self._wanted = columns, numbers, wanted
        self.motors = [[math.nan] * numbers for _ in columns]
        """Numbers of the motors; NaN where none was given."""
        self.moved = self.syn = self.broken = False
        self.beam: tuple[float, float, float] | None = None
        self.problems: list[str] = []

    def read(self, message: bytes, max_words: int) -> None:
        """Reads a message of at most a number of words."""
        parsed = sexpr.parse(message, max_words=max_words)
        for expression in parsed.expressions:
            self.add(expression)
            if len(self.problems) >= MAX_PROBLEMS:
                self.problems.append("the rest of the message was not read")
                break
        if parsed.problem is not None:
            self.problems.append(f"the message has {parsed.problem}")
            self.broken = True

    def add(self, expression: Expression) -> None:
        """Takes up one effector, or notes why not."""
        if not isinstance(expression, list) or not expression or not isinstance(expression[0], bytes):
            self.broken = True
            self.problems.append(f"{sexpr.shown(expression)} is not an effector; they look like {self.example}")
            return
        name, values = expression[0], expression[1:]
        if name in self._columns:
            self._motor(name, values)
        elif name == b"syn":
            self.syn = True
        elif name == b"beam":
            self._beam(values)
        else:
            self._other(name, values)

    def _motor(self, name: bytes, values: list[Expression]) -> None:
        found = sexpr.numbers(values, self._numbers)
        if found is None:
            self.problems.append(f"{name.decode()} needs {self._wanted}, not {sexpr.shown(values)}")
        else:
            self.motors[self._columns[name]] = list(found)
            self.moved = True

    def _beam(self, values: list[Expression]) -> None:
        found = sexpr.numbers(values, 3)
        if found is None:
            self.problems.append(f"beam needs three finite numbers, x y degrees, not {sexpr.shown(values)}")
        else:
            self.beam = (found[0], found[1], found[2])

    @abstractmethod
    def _other(self, name: bytes, values: list[Expression]) -> None:
        """Takes up an effector that only this league has, or notes that it is not known."""


class _Draft(Draft):
    """Orders while they are read."""

    example = "(he1 0.5)"

    def __init__(self, joints: int) -> None:
        columns = _COLUMNS if joints == WITH_TOES else _COLUMNS_WITHOUT_TOES
        super().__init__(columns, 1, "one finite number")
        self.say: str | None = None
        self.wants_pass = False
        self.scene: int | None = None
        self.entry: Entry | None = None

    def orders(self, speeds: Floats | None = None) -> Orders:
        """The orders that were read, with the speeds of motors that were read separately."""
        action = Action(
            speeds=np.array(self.motors)[:, 0] if self.moved else speeds,
            beam=self.beam,
            say=self.say,
            wants_pass=self.wants_pass,
            syn=self.syn,
        )
        problems = tuple(self.problems)
        return Orders(action=action, scene=self.scene, entry=self.entry, problems=problems, broken=self.broken)

    def _other(self, name: bytes, values: list[Expression]) -> None:
        if name in _COLUMNS:
            self.problems.append(f"{name.decode()} is a toe, which this robot has not; only type {ROBOT_TYPES - 1} has")
        elif name == b"pass":
            self.wants_pass = True
        elif name == b"say":
            self._say(values)
        elif name == b"scene":
            self._scene(values)
        elif name == b"init":
            self._init(values)
        else:
            self.problems.append(f"unknown effector {sexpr.shown(name)}")

    def _say(self, values: list[Expression]) -> None:
        message = sexpr.text(values[0]) if values else None
        if message is None or len(message) > MAX_MESSAGE_LENGTH:
            self.problems.append(
                f"say needs one word of at most {MAX_MESSAGE_LENGTH} printable characters, not {sexpr.shown(values)}"
            )
        else:
            self.say = message  # of several messages the first is sent, as on the league's server

    def _scene(self, values: list[Expression]) -> None:
        kind = sexpr.number(values[1]) if len(values) == 2 else 0.0
        if not 1 <= len(values) <= 2 or values[0] not in _SCENES or kind is None or kind not in range(ROBOT_TYPES):
            wanted = "rsg/agent/nao/nao_hetero.rsg with a type from 0 to 4, or rsg/agent/nao/nao.rsg"
            self.problems.append(f"scene {sexpr.shown(values)} is not known; there is {wanted}")
        else:
            self.scene = int(kind)

    def _init(self, values: list[Expression]) -> None:
        given = {v[0].lower(): v[1] for v in values if isinstance(v, list) and len(v) == 2 and isinstance(v[0], bytes)}
        number, team = sexpr.number(given.get(b"unum", b"0")), sexpr.text(given.get(b"teamname", []))
        known = number is not None and number in range(MAX_PLAYERS + 1)
        if number is None or not known or team is None or len(team) > MAX_TEAM_NAME:
            wanted = f"(unum n) from 0 to {MAX_PLAYERS} and (teamname x) of at most {MAX_TEAM_NAME} characters"
            self.problems.append(f"init needs {wanted}, not {sexpr.shown(values, 80)}")
        else:
            self.entry = Entry(number=int(number), team=team)


def joints_of(robot_type: int) -> int:
    """How many joints a robot of this type has."""
    return WITH_TOES if robot_type == ROBOT_TYPES - 1 else WITHOUT_TOES


@kernel
def read_motor_text(text: Bytes, keys: Ints, numbers: int, motors: Floats) -> int:
    """Reads `(name number ...)` one after the other, and `(syn)` at the end; says what that was, if all is known.

    Args:
        text: the message.
        keys: (K,) names of motors as numbers, see `name_key`; the first of them count, as many as there is room for.
        numbers: how many numbers a motor has.
        motors: (joints * numbers,) the numbers of the motors one after the other, written; NaN where there are none.
    """
    place, size, column, found = 0, len(text), -1, NO_MOTORS
    known = keys[: len(motors) // numbers]
    motors[:] = np.nan
    while place < size:
        if text[place] != _OPEN:
            return NO_MOTORS
        place += 1
        # A name of at most four letters is compared as one number; a longer one overflows and is unknown.
        key = 0
        while place < size and text[place] != _SPACE and key < 1 << 32:
            key = key << 8 | int(text[place])
            place += 1
        if place == size and key == _SYN_KEY:
            return found | SYN
        column = _find_column(key, known, column)
        if column < 0:
            return NO_MOTORS
        for number in range(numbers):
            if place + 1 >= size or text[place] != _SPACE:
                return NO_MOTORS
            place, value = _read_number(text, place + 1)
            if math.isnan(value):
                return NO_MOTORS
            motors[column * numbers + number] = value
        if place >= size or text[place] != _CLOSE:
            return NO_MOTORS
        found = MOTORS
        place += 1
    return found


@kernel
def _find_column(key: int, keys: Ints, before: int) -> int:
    """The column of a motor, -1 for an unknown name.

    Agents send motors in the order of the columns, so the search begins with the column after the last one.
    """
    for step in range(1, len(keys) + 1):
        column = (before + step) % len(keys)
        if keys[column] == key:
            return column
    return -1


@kernel
def _read_number(text: Bytes, place: int) -> tuple[int, float]:
    """Reads a plain decimal; returns the place after it, and the value, or NaN if it is none."""
    sign = 1.0
    if text[place] == _MINUS or text[place] == _PLUS:
        sign = -1.0 if text[place] == _MINUS else 1.0
        place += 1
    mantissa, digits, decimals, point = 0, 0, 0, False
    # Digits are gathered as a whole number and divided once by a power of ten. The limits keep both exact in 53 bits,
    # so the value is correctly rounded. Exponents and longer numbers are left to Python.
    while place < len(text) and digits <= _MAX_DIGITS:
        byte = int(text[place])
        if byte == _POINT and not point:
            point = True
        elif _ZERO <= byte <= _NINE:
            mantissa = mantissa * 10 + (byte - _ZERO)
            digits += 1
            decimals += point
        else:
            break
        place += 1
    if digits == 0 or digits > _MAX_DIGITS or decimals > _MAX_DECIMALS:
        return place, np.nan
    return place, sign * (mantissa / _POWERS[decimals])


def name_key(name: str) -> int:
    """A name of at most four letters as a number."""
    return int.from_bytes(name.encode("ascii"), "big")


_SYN_KEY = name_key("syn)")
_KEYS = np.array([name_key(name) for name in EFFECTORS], np.int64)
