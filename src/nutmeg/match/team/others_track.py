"""Where the other players are, and whether they lie.

    others = OthersTrack(team="reds", number=3)
    others.see(sight, head, centre, place, turn)
    others.hear(2, x, y, age=0.1)                   # team-mate 2 told where it stands

Of a player up to five parts are seen. Who stands has its head above its feet, so that either tells where it is; of who
lies both together do, and the head is low. Rows are players, team-mates 1 to 11 first, then opponents. Places are in
the frame in which landmarks are named.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import kernel
from nutmeg.match.rules import MOST_PLAYERS
from nutmeg.match.team.camera import onto_pitch

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.match.percept import Sight


LOW = 0.33
"""Heads of who walks are at 0.45 m and more, of who lies below 0.2 m [m]."""


class OthersTrack:
    """What a player knows of all others.

    Args:
        team: name of the own team.
        number: own number; 0 while it is not known.
    """

    def __init__(self, *, team: str, number: int) -> None:
        self._team, self.number = team, number
        self.places: Floats = np.full((2 * MOST_PLAYERS, 2), np.nan)
        """(22, 2) m; NaN where nothing was ever known."""
        self.ages: Floats = np.full(2 * MOST_PLAYERS, np.inf)
        """(22,) s."""
        self.fallen: Bools = np.zeros(2 * MOST_PLAYERS, bool)
        """(22,)."""

    def pass_time(self, step: float) -> None:
        """Lets time pass."""
        self.ages += step

    def see(self, sight: Sight, head: Floats, centre: Floats, place: Floats, turn: Floats) -> None:
        """Takes an image: where the parts of others are, from a pose (3,), (3, 3)."""
        if len(sight.numbers) > 1 or (sight.numbers and sight.numbers[0] != self.number):
            rows = [
                (number if team == self._team else MOST_PLAYERS + number) - 1 if 0 < number <= MOST_PLAYERS else -1
                for team, number in zip(sight.teams, sight.numbers, strict=True)
            ]
            see_players(
                np.array(rows), sight.parts, head, centre, place, turn, self.number - 1,
                self.places, self.ages, self.fallen,
            )  # fmt: skip

    def hear(self, number: int, x: float, y: float, age: float) -> None:
        """A team-mate told where it stands; what was seen since then is better."""
        row = number - 1
        if number != self.number and 0 <= row < MOST_PLAYERS and age < self.ages[row]:
            self.places[row], self.ages[row] = (x, y), age


@kernel
def see_players(
    rows: Ints,
    parts: Floats,
    head: Floats,
    centre: Floats,
    place: Floats,
    turn: Floats,
    own: int,
    places: Floats,
    ages: Floats,
    fallen: Bools,
) -> None:
    """Takes P players (P, 5, 3), whose rows are told: head, lower arms, feet; a row below 0 is nobody's."""
    for k in range(len(rows)):
        row = rows[k]
        if row < 0 or row == own:
            continue
        arms, feet, top = np.zeros(3), np.zeros(3), np.zeros(3)
        for part in range(5):
            if math.isnan(parts[k, part, 0]):
                continue
            where = onto_pitch(parts[k, part], head, centre, place, turn)
            sums = top if part == 0 else arms if part < 3 else feet
            sums[0] += where[0]
            sums[1] += where[1]
            sums[2] += 1.0
            if part == 0:
                fallen[row] = where[2] < LOW
        has_top, has_feet, has_arms = min(top[2], 1.0), min(feet[2], 1.0), min(arms[2], 1.0)
        if has_top + has_feet > 0.0:
            for i in range(2):
                both = top[i] + (feet[i] / feet[2] if feet[2] > 0.0 else 0.0)
                places[row, i] = both / (has_top + has_feet)
        elif has_arms > 0.0:
            for i in range(2):
                places[row, i] = arms[i] / arms[2]
        else:
            continue
        ages[row] = 0.0
