"""Slots: every player of a match has one of twenty-two, and all arrays of players are over slots.

    slot_of(Side.RIGHT, 3)      # 13
    side_and_number(13)         # (Side.RIGHT, 3)
    SLOT_NAMES[13]              # "right3"

The left team has slots 0 to 10, the right one 11 to 21, by number. A slot array (22, ...) reshaped to (2, 11, ...) is
what the referee calls an array over sides and numbers.
"""

from __future__ import annotations

import math

from nutmeg.errors import UsageError
from nutmeg.match.play_modes import Side
from nutmeg.match.rules import MOST_PLAYERS

SLOTS = 2 * MOST_PLAYERS
SLOT_NAMES = tuple(f"{side.word}{number}" for side in Side for number in range(1, MOST_PLAYERS + 1))
"""What robots are called in recordings."""


def slot_of(side: Side, number: int) -> int:
    """The slot of a player by side and uniform number."""
    if not 1 <= number <= MOST_PLAYERS:
        raise UsageError(f"player number {number} is not possible; numbers are 1 to {MOST_PLAYERS}.")
    return int(side) * MOST_PLAYERS + number - 1


def side_of_slot(slot: int) -> Side:
    """The side of a slot."""
    return Side.LEFT if slot < MOST_PLAYERS else Side.RIGHT


def side_and_number(slot: int) -> tuple[Side, int]:
    """Side and uniform number of a slot."""
    return side_of_slot(slot), slot % MOST_PLAYERS + 1


def start_place(slot: int, length: float, width: float, room: float = 0.4) -> tuple[float, float, float]:
    """Where a player waits that has just joined: in a row from its corner of the pitch, looking at the other goal."""
    sign, index = (1, slot) if slot < SLOTS // 2 else (-1, slot - SLOTS // 2)
    x, y = -length / 2 + 2 * room, width / 2 - 2 * room * index
    return sign * x, y, 0.0 if sign > 0 else math.pi
