"""Messages of agents of rcssservermj: five numbers a motor, beams, speech, and the request with which they enter.

    orders = read_orders(b"(he1 10 0 20 0.5 0)(SPK say 100 SGVsbG8=)(syn)", "t1")
    orders.action.motors[0]                 # [10, 0, 20, 0.5, 0]; rows of motors that were not mentioned are NaN
    orders.problems                         # (), or sentences about what was ignored

    read_entry(b"(init T1 reds 3)")         # Entry(robot="t1", team="reds", number=3)

Nothing an agent sends raises: what cannot be used is left out and reported in `problems`. Nearly all messages are
motors with `(syn)` at their end; these are read by compiled code. What it does not know, it leaves to `sexpr`.
"""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

import numpy as np

from nutmeg.match.worlds.mj.percept import EFFECTORS, MOTOR_NUMBERS, ROBOTS, Action
from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.effectors import (
    MAX_TEAM_NAME,
    MOTORS,
    NO_MOTORS,
    SYN,
    Draft,
    merged_motors,
    name_key,
    read_motor_text,
)
from nutmeg.net.simspark.sexpr import Expression

MAX_WORDS = 1024
"""Words and parentheses in a message; all motors have about 190."""
MAX_SPEECH = 1024
"""Longest message that is decoded [bytes of base64]; ten bytes, the most that are heard, need sixteen."""
_KEYS = {robot: np.array([name_key(name) for name in names], np.int64) for robot, names in EFFECTORS.items()}
_COLUMNS = {robot: {name.encode(): k for k, name in enumerate(names)} for robot, names in EFFECTORS.items()}


class Entry(NamedTuple):
    """`(init MODEL TEAM NUMBER)`."""

    robot: str
    """`t1` or `k1`."""
    team: str
    number: int


class Orders(NamedTuple):
    """The content of one message."""

    action: Action
    problems: tuple[str, ...] = ()
    """What was ignored, and why."""
    broken: bool = False
    """Whether the message was no list of effectors."""


def read_entry(message: bytes) -> Entry | str:
    """The request with which an agent enters, or why it is none."""
    parsed = sexpr.parse(message.rstrip(b"\0"), max_words=MAX_WORDS)
    found = parsed.expressions[0] if parsed.expressions else []
    if not isinstance(found, list) or len(found) != 4 or found[0] != b"init":
        return f"an agent begins with (init MODEL TEAM NUMBER), not with {sexpr.shown(message, 80)}"
    model, team, number = sexpr.text(found[1]), sexpr.text(found[2]), sexpr.number(found[3])
    if model is None or model.lower() not in ROBOTS:
        known = ", ".join(name.upper() for name in ROBOTS)
        return f"the model {sexpr.shown(found[1])} is not known; there are {known}"
    if team is None or len(team) > MAX_TEAM_NAME:
        return f"the team {sexpr.shown(found[2])} needs a name of at most {MAX_TEAM_NAME} printable characters"
    if number is None or number != int(number):
        return f"the number {sexpr.shown(found[3])} is not a whole number"
    return Entry(model.lower(), team, int(number))


def read_orders(message: bytes, robot: str) -> Orders:
    """The orders in a message to a robot."""
    motors = np.empty((len(_KEYS[robot]), MOTOR_NUMBERS))
    found = read_motor_text(np.frombuffer(message, np.uint8), _KEYS[robot], MOTOR_NUMBERS, motors.ravel())
    if found != NO_MOTORS:  # nearly always
        return Orders(Action(motors=motors if found & MOTORS else None, syn=found >= SYN))
    return _read_slowly(message, robot)


def merged(first: Action, second: Action) -> Action:
    """Two answers within one cycle as one: what the second does not mention stays as the first has it."""
    return Action(
        motors=merged_motors(first.motors, second.motors),
        beam=first.beam if second.beam is None else second.beam,
        say=first.say if second.say is None else second.say,
        syn=first.syn or second.syn,
    )


def _read_slowly(message: bytes, robot: str) -> Orders:
    """The orders in a message with more than plain motors."""
    draft = _Draft(robot)
    draft.read(message.rstrip(b"\0"), MAX_WORDS)
    motors = np.array(draft.motors) if draft.moved else None
    action = Action(motors=motors, beam=draft.beam, say=draft.say, syn=draft.syn)
    return Orders(action, tuple(draft.problems), draft.broken)


class _Draft(Draft):
    """Orders while they are read."""

    example = "(he1 0 0 20 0.5 0)"

    def __init__(self, robot: str) -> None:
        wanted = "five finite numbers: degrees, degrees/s, kp, kd, N m"
        super().__init__(_COLUMNS[robot], MOTOR_NUMBERS, wanted)
        self._robot = robot
        self._named = False  # whether a problem already names the effectors that there are
        self.say: tuple[float, bytes] | None = None

    def _other(self, name: bytes, values: list[Expression]) -> None:
        if name == b"SPK":
            self._speak(values)
        elif name == b"init":
            self.problems.append("a second (init ...)")
        else:
            known = "" if self._named else f"; there are {', '.join(EFFECTORS[self._robot])}, beam, SPK and syn"
            self.problems.append(f"unknown effector {sexpr.shown(name)} of a {self._robot.upper()}{known}")
            self._named = True

    def _speak(self, values: list[Expression]) -> None:
        loudness = sexpr.number(values[1]) if len(values) > 2 else None
        text = values[2] if len(values) > 2 else b""
        try:
            if loudness is None or not isinstance(text, bytes) or len(text) > MAX_SPEECH:
                raise ValueError
            self.say = (loudness / 100, base64.b64decode(text, validate=True))
        except (ValueError, binascii.Error):
            self.problems.append(f"SPK needs a name, a loudness and a message in base64, not {sexpr.shown(values)}")
