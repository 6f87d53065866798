"""Slots: every player of a match has one of twenty-two, and all arrays of players are over slots.

    slot_of(Side.RIGHT, 3)      # 13
    side_and_number(13)         # (Side.RIGHT, 3)
    SLOT_NAMES[13]              # "right3"

The left team has slots 0 to 10, the right one 11 to 21, by number. A slot array (22, ...) reshaped to (2, 11, ...) is
what the referee calls an array over sides and numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import Side

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Ints


SLOTS = 2 * MAX_PLAYERS
SLOT_NAMES = tuple(f"{side.word}{number}" for side in Side for number in range(1, MAX_PLAYERS + 1))
"""Names of the robots in recordings."""


def slot_of(side: Side, number: int) -> int:
    """The slot of a player by side and uniform number."""
    if not 1 <= number <= MAX_PLAYERS:
        raise UsageError(f"player number {number} is not possible; numbers are 1 to {MAX_PLAYERS}.")
    return int(side) * MAX_PLAYERS + number - 1


def side_of_slot(slot: int) -> Side:
    """The side of a slot."""
    return Side.LEFT if slot < MAX_PLAYERS else Side.RIGHT


def side_and_number(slot: int) -> tuple[Side, int]:
    """Side and uniform number of a slot."""
    return side_of_slot(slot), slot % MAX_PLAYERS + 1


def start_place(slot: int, length: float, width: float, room: float = 0.4) -> tuple[float, float, float]:
    """Where a player waits that has just joined: in a row from its corner of the pitch, looking at the other goal."""
    sign, index = (1, slot) if slot < SLOTS // 2 else (-1, slot - SLOTS // 2)
    x, y = -length / 2 + 2 * room, width / 2 - 2 * room * index
    return sign * x, y, 0.0 if sign > 0 else math.pi


ROBOT_TYPES = range(5)
"""Types of the league's robot."""


# ----------------------------------------------------------------------------------------------------
# Joining a match: sides, numbers and types.
#
# The first team to come plays from the left, the second from the right, a third is refused.


MAX_OF_TYPE, MAX_OF_TWO_TYPES = 7, 9
"""Players of a team of one type, and of any two types (league rules, PROTOCOLS section 1)."""


def side_for(teams: tuple[str, str], team: str) -> Side:
    """The side of a team that has one, or the first that is free."""
    for wanted in (team, ""):
        if wanted in teams:
            return Side(teams.index(wanted))
    raise UsageError(f"team {team!r} cannot join: {teams[0]!r} plays {teams[1]!r}.")


def free_slot(present: Bools, side: Side, number: int, *, most: int, players: int = MAX_PLAYERS) -> int:
    """The slot of a number up to `most`, or for 0 of the lowest free one, in a team of at most `players`.

    `present` (22,) says which slots are taken.
    """
    if np.count_nonzero(present.reshape(2, -1)[side]) >= players:
        raise UsageError(f"the {side.word} team has its {players} players already.")
    if not 0 <= number <= most:
        raise UsageError(f"player number {number} is not possible; numbers are 1 to {most}, or 0 for a free one.")
    free = [n for n in range(1, most + 1) if not present[slot_of(side, n)]]
    if not free or (number and number not in free):
        taken = f"number {number}" if number else "every number"
        raise UsageError(f"{taken} of the {side.word} team is taken already.")
    return slot_of(side, number or free[0])


def check_types(types: Ints, present: Bools, side: Side, robot_type: int) -> None:
    """Refuses a robot that would be one too many of its type; arrays are (22,)."""
    team = slice(side * (SLOTS // 2), (side + 1) * (SLOTS // 2))
    counts = np.bincount(types[team][present[team]], minlength=len(ROBOT_TYPES))
    counts[robot_type] += 1
    if counts[robot_type] > MAX_OF_TYPE or int(np.sort(counts)[-2:].sum()) > MAX_OF_TWO_TYPES:
        raise UsageError(
            f"one more robot of type {robot_type} is not allowed: a team has at most {MAX_OF_TYPE} of one type "
            f"and {MAX_OF_TWO_TYPES} of any two."
        )
