"""Messages between players, by the rules of the league.

    hearing = Hearing()
    hearing.say(slot, "hello")
    heard = hearing.deliver(game_time, playing, positions, headings, ("reds", "blues"))     # by slot

A message has at most 20 characters from `!` to `~` without parentheses. It carries 50 m. Every player hears itself,
and one message of a team-mate and one of an opponent every two cycles; when several speak at once, they take turns, so
that every player is heard in the end. (rcssserver3d lets each kind of message cost two of a capacity that grows by one
a cycle; which one of several it takes depends on its internal order.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.match.rules.slots import SLOTS, side_of_slot
from nutmeg.match.worlds.physical.percept import MAX_MESSAGE_LENGTH, Heard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.base.arrays import Floats

HEARING_RANGE = 50.0
"""How far a message is heard, m."""
MESSAGE_CYCLES = 2
"""Cycles from one message of a kind to the next."""


def checked_message(message: str) -> str:
    """The message, if the rules allow it."""
    if not message or len(message) > MAX_MESSAGE_LENGTH or not all("!" <= c <= "~" and c not in "()" for c in message):
        raise UsageError(
            f"the message {message[:40]!r} cannot be said: 1 to {MAX_MESSAGE_LENGTH} characters from ! to ~ "
            "without parentheses are allowed."
        )
    return message


class Hearing:
    """The messages of a cycle, and what each player can still hear."""

    def __init__(self) -> None:
        self._said: dict[int, str] = {}
        self._last = np.full((SLOTS, 2), -MESSAGE_CYCLES, np.int64)  # the turn in which a kind was last heard
        self._turn = 0

    def say(self, slot: int, message: str) -> None:
        """Lets a player say something in this cycle; the last message counts."""
        self._said[slot] = checked_message(message)

    @property
    def busy(self) -> bool:
        """Whether a player has spoken in this cycle."""
        return bool(self._said)

    def greet(self, slot: int) -> None:
        """Gives a new player fresh ears."""
        self._last[slot] = self._turn - MESSAGE_CYCLES

    def swap_ends(self) -> None:
        """Lets everything follow the players to the other side."""
        self._said = {(slot + SLOTS // 2) % SLOTS: message for slot, message in self._said.items()}
        self._last = np.roll(self._last, SLOTS // 2, axis=0)

    def pause(self) -> None:
        """Lets a cycle without messages pass."""
        self._turn += 1

    def deliver(
        self,
        time: float,
        playing: Iterable[int],
        positions: Floats,
        headings: Floats,
        teams: tuple[str, str],
    ) -> dict[int, tuple[Heard, ...]]:
        """The messages that players hear in this cycle, by slot; players that hear nothing are left out.

        Args:
            time: game time, s.
            playing: slots of the robots that play.
            positions: (22, 3) positions of the torsos, m.
            headings: (22,) headings of the torsos, 0 along x, rad.
            teams: names of left and right.
        """
        self._turn += 1
        if not self._said:
            return {}
        said, self._said = self._said, {}
        speakers = sorted(said, key=lambda slot: (slot - self._turn // MESSAGE_CYCLES) % SLOTS)
        heard = {}
        for listener in playing:
            found = self._for(listener, speakers, said, time, positions, headings, teams)
            if found:
                heard[listener] = found
        return heard

    def _for(
        self,
        listener: int,
        speakers: list[int],
        said: dict[int, str],
        time: float,
        positions: Floats,
        headings: Floats,
        teams: tuple[str, str],
    ) -> tuple[Heard, ...]:
        """The messages that one player hears: its own, then others'."""
        side, found = side_of_slot(listener), []
        if listener in said:
            found.append(Heard(team=teams[side], time=time, direction=None, message=said[listener]))
        for speaker in speakers:
            kind = 0 if side_of_slot(speaker) is side else 1
            if speaker == listener or self._turn - self._last[listener, kind] < MESSAGE_CYCLES:
                continue
            x, y, z = (positions[speaker] - positions[listener]).tolist()
            if math.hypot(x, y, z) > HEARING_RANGE:
                continue
            self._last[listener, kind] = self._turn
            turn = math.degrees(math.atan2(y, x) - headings[listener])
            direction = (turn + 180.0) % 360.0 - 180.0
            team = teams[side_of_slot(speaker)]
            found.append(Heard(team=team, time=time, direction=direction, message=said[speaker]))
        return tuple(found)
