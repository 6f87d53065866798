"""Who may join a match: sides, numbers and types.

    side = side_for(("reds", ""), "blues")                  # Side.RIGHT
    slot = free_slot(present, side, 0, most=11)             # the lowest free number
    check_types(types, present, side, robot_type=1)         # the league's limits

The first team to come plays from the left, the second from the right, a third is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UsageError
from nutmeg.match.play_modes import Side
from nutmeg.match.slots import SLOTS, slot_of
from nutmeg.match.world import TYPES

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Ints

SEATS = (1, 2, 4, 8, 14, 22)
"""Sizes of grounds: a match begins on the smallest that is large enough and moves on as players join."""
TOED_SEATS = (0, 2, 4, 8, 14)
"""How many seats with toes a ground has; at most seven of a team may be of one type."""
MOST_OF_TYPE, MOST_OF_TWO_TYPES = 7, 9
"""Players of a team of one type, and of any two types (league rules, PROTOCOLS section 1)."""


def side_for(teams: tuple[str, str], team: str) -> Side:
    """The side of a team that has one, or the first that is free."""
    for wanted in (team, ""):
        if wanted in teams:
            return Side(teams.index(wanted))
    raise UsageError(f"team {team!r} cannot join: {teams[0]!r} plays {teams[1]!r}.")


def free_slot(present: Bools, side: Side, number: int, *, most: int) -> int:
    """The slot of a number, or for 0 of the lowest free one; `present` is (22,)."""
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
    counts = np.bincount(types[team][present[team]], minlength=len(TYPES))
    counts[robot_type] += 1
    if counts[robot_type] > MOST_OF_TYPE or int(np.sort(counts)[-2:].sum()) > MOST_OF_TWO_TYPES:
        raise UsageError(
            f"one more robot of type {robot_type} is not allowed: a team has at most {MOST_OF_TYPE} of one type "
            f"and {MOST_OF_TWO_TYPES} of any two."
        )


def fitting_seats(players: int, toed: int = 0) -> tuple[int, int]:
    """All seats and seats with toes of the smallest ground for so many players without and with toes."""
    if not (0 <= players <= SEATS[-1] and 0 <= toed <= TOED_SEATS[-1]):
        raise UsageError(
            f"{players} players without and {toed} with toes are not possible; at most {SEATS[-1]} and "
            f"{TOED_SEATS[-1]} play."
        )
    with_toes = next(seats for seats in TOED_SEATS if seats >= toed)
    return next(seats for seats in SEATS if seats >= players) + with_toes, with_toes
