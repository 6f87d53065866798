"""The commands of trainers and monitors: they move players and the ball, set the play mode, or end the simulation.

    trainer = Trainer(game, lose_player=agents.lose, end=server.stop)
    outcome = trainer.obey(b"(playMode PlayOn)(ball (pos 1 0 0.04)(vel 2 0 0))")
    outcome.problems                    # (), or sentences about what was not carried out

| command | what it does |
|---|---|
| `(agent (unum n)(team Left)(pos x y z))`, or `(move x y z degrees)` | places a player |
| `(ball (pos x y z)(vel x y z))` | places the ball, gives it a velocity, or both |
| `(playMode X)`, `(kickOff Left)`, `(dropBall)`, `(time t)`, `(score l r)` or `(score (left l)(right r))` | the game |
| `(select (unum n)(team Left))`, `(select (unum -1))`, `(select)` | selects a player, nobody, the next player |
| `(kill (unum n)(team Left))`, `(repos ...)`, without a name: the selected player | disconnects it, sends it off |
| `(reqfullstate)`, `(killsim)` | asks for a full frame, ends the simulation |
| `(getAck)`, `(init)`, `(battery x)` and `(temperature x)` of a player | nothing, as on the league's server |

Several commands may share a message. Nothing raises: a command that makes no sense, or that the game refuses, is left
out and reported. Headings on the wire count from +y, because the league's robot looks along its y axis; here they count
from +x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.errors import NutmegError, UnknownNameError, UsageError
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import Side, mode_named
from nutmeg.match.rules.slots import side_and_number, slot_of
from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.sexpr import Expression

if TYPE_CHECKING:
    from nutmeg.net.simspark.game_port import GamePort

MAX_PROBLEMS = 8
"""Number of problems after which the rest of a message is not read."""
MAX_COORDINATE = 1000.0
"""Nothing is put farther away than this [m]."""
MAX_SCORE = 1000

Words = list[Expression]
Vector = tuple[float, float, float]


class Outcome(NamedTuple):
    """The outcome of a message."""

    problems: tuple[str, ...] = ()
    """Commands that were not carried out, and why."""
    broken: bool = False
    """Whether the message was no list of commands."""


class Trainer:
    """Carries out the commands of one monitor.

    Args:
        game: what is commanded.
        lose_player: disconnects the agent of a slot, with a reason.
        end: ends the simulation.
    """

    def __init__(self, game: GamePort, *, lose_player: Callable[[int, str], None], end: Callable[[], None]) -> None:
        self._game, self._lose_player, self._end = game, lose_player, end
        self.needs_full = True
        """Whether the monitor needs a full frame, because it has not seen the frame that differences refer to."""
        self.selected: int | None = None
        """The slot of the selected player."""

    def obey(self, message: bytes) -> Outcome:
        """Carries out the commands in a message."""
        parsed = sexpr.parse(message.rstrip(b"\0"))  # texts of C programs end with a zero
        problems: list[str] = []
        done, broken = 0, parsed.problem is not None
        for expression in parsed.expressions:
            try:
                if self._command(expression):
                    done += 1
                else:
                    broken |= not isinstance(expression, list)
                    problems.append(f"{sexpr.shown(expression, 80)} is not a trainer's command that is known here")
            except NutmegError as error:
                done += 1
                problems.append(str(error))
            if len(problems) >= MAX_PROBLEMS:
                problems.append("the rest of the message was not read")
                break
        if parsed.problem is not None:
            problems.append(f"the message has {parsed.problem}")
        return Outcome(tuple(problems), broken and not done)

    def _command(self, expression: Expression) -> bool:
        """Carries out one command; False if it makes no sense."""
        if not isinstance(expression, list) or not expression or not isinstance(expression[0], bytes):
            return False
        command = _COMMANDS.get(expression[0])
        return command is not None and command(self, expression[1:])

    def _place_player(self, words: Words) -> bool:
        fields = _fields(words)
        slot = _slot(fields)
        if slot is None:
            return False
        move, position = _bounded(fields.get(b"move", []), 4), _vector(fields.get(b"pos"))
        if move is not None:
            self._game.place_player(self._present(slot), (move[0], move[1], move[2]), move[3] + 90.0)
        elif position is not None:
            self._game.place_player(self._present(slot), position, None)
        else:
            return b"battery" in fields or b"temperature" in fields
        return True

    def _place_ball(self, words: Words) -> bool:
        fields = _fields(words)
        position, velocity = _vector(fields.get(b"pos")), _vector(fields.get(b"vel"))
        wrong = (position is None and b"pos" in fields) or (velocity is None and b"vel" in fields)
        if wrong or (position is None and velocity is None):
            return False
        self._game.place_ball(position, velocity)
        return True

    def _set_play_mode(self, words: Words) -> bool:
        name = sexpr.text(words[0]) if len(words) == 1 else None
        try:
            mode = None if name is None else mode_named(name)
        except UnknownNameError:
            return False
        if mode is not None:
            self._game.set_play_mode(mode)
        return mode is not None

    def _kick_off(self, words: Words) -> bool:
        side = _side(words)
        if side is None and words not in ([], [b"None"]):
            return False
        self._game.kick_off(side)
        return True

    def _drop_ball(self, words: Words) -> bool:
        if not words:
            self._game.drop_ball()
        return not words

    def _set_time(self, words: Words) -> bool:
        found = sexpr.numbers(words, 1)
        if found is None or found[0] < 0:
            return False
        self._game.set_time(found[0])
        return True

    def _set_score(self, words: Words) -> bool:
        fields = _fields(words)
        if fields:
            words = [*fields.get(b"left", []), *fields.get(b"right", [])]
        found = sexpr.numbers(words, 2)
        if found is None or not all(0 <= value <= MAX_SCORE and value == int(value) for value in found):
            return False
        self._game.set_score(int(found[0]), int(found[1]))
        return True

    def _select(self, words: Words) -> bool:
        fields = _fields(words)
        slot = _slot(fields)
        if not words:
            players = np.flatnonzero(self._game.present).tolist()
            later = [slot for slot in players if self.selected is not None and slot > self.selected]
            self.selected = next(iter(later or players), None)
        elif slot is not None or fields.get(b"unum") == [b"-1"]:
            self.selected = slot
        else:
            return False
        return True

    def _kill(self, words: Words) -> bool:
        slot = self._meant(words)
        if slot is not None:
            self._lose_player(slot, "a trainer removed it")
        return slot is not None

    def _send_off(self, words: Words) -> bool:
        slot = self._meant(words)
        if slot is not None:
            self._game.send_off(slot)
        return slot is not None

    def _request_full_state(self, words: Words) -> bool:
        self.needs_full |= not words
        return not words

    def _end_simulation(self, words: Words) -> bool:
        if not words:
            self._end()
        return not words

    def _ignore(self, words: Words) -> bool:
        return not words

    def _meant(self, words: Words) -> int | None:
        """The slot of the player that is named, or of the selected one; None if the name makes no sense."""
        slot = _slot(_fields(words)) if words else self.selected
        if slot is None and not words:
            raise UsageError("no player is selected; select one first, or name it with (unum n)(team Left).")
        return None if slot is None else self._present(slot)

    def _present(self, slot: int) -> int:
        """The slot of a player that is in the game; one that is not is refused."""
        if not self._game.present[slot]:
            side, number = side_and_number(slot)
            raise UsageError(f"player {number} of the {side.word} team is not in the game.")
        return slot


_COMMANDS: dict[bytes, Callable[[Trainer, Words], bool]] = {
    b"agent": Trainer._place_player,
    b"ball": Trainer._place_ball,
    b"playMode": Trainer._set_play_mode,
    b"kickOff": Trainer._kick_off,
    b"dropBall": Trainer._drop_ball,
    b"select": Trainer._select,
    b"kill": Trainer._kill,
    b"repos": Trainer._send_off,
    b"time": Trainer._set_time,
    b"score": Trainer._set_score,
    b"reqfullstate": Trainer._request_full_state,
    b"killsim": Trainer._end_simulation,
    b"getAck": Trainer._ignore,
    b"init": Trainer._ignore,
}


def _fields(words: Words) -> dict[bytes, Words]:
    """The lists `(name value ...)` by name."""
    return {w[0]: w[1:] for w in words if isinstance(w, list) and w and isinstance(w[0], bytes)}


def _slot(fields: dict[bytes, Words]) -> int | None:
    side, number = _side(fields.get(b"team", [])), sexpr.numbers(fields.get(b"unum", []), 1)
    if side is None or number is None or number[0] not in range(1, MAX_PLAYERS + 1):
        return None
    return slot_of(side, int(number[0]))


def _side(words: Words) -> Side | None:
    name = sexpr.text(words[0]) if len(words) == 1 else None
    return None if name is None else {"left": Side.LEFT, "right": Side.RIGHT}.get(name.lower())


def _vector(words: Words | None) -> Vector | None:
    found = None if words is None else _bounded(words, 3)
    return None if found is None else (found[0], found[1], found[2])


def _bounded(words: Words, count: int) -> tuple[float, ...] | None:
    found = sexpr.numbers(words, count)
    return None if found is None or max(map(abs, found)) > MAX_COORDINATE else found
