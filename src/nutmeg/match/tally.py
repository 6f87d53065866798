"""What is counted of the games of a series, and who plays from where.

    sides_of((2, 5), number=3)                          # (5, 2)
    played_out(driver, ["final", "holonomic"])          # [1, 3, 0, 0, 5, 2]

Every other game of a pair is played from the other side, and after two games the other team begins.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nutmeg.match.play_modes import Side

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.match.driver import Driver
    from nutmeg.match.series_settings import Pair

COUNTED = ("fall", "foul")
"""Events that are counted for each team, beside its goals."""


def sides_of(pair: Pair, number: int) -> Pair:
    """Who plays from the left and from the right: every other game of a pair is played from the other side."""
    return pair if number % 2 == 0 else pair[::-1]


def kick_off_of(number: int) -> Side:
    """Which side begins a game of a pair: after two games the other one."""
    return Side(number // 2 % 2)


def played_out(driver: Driver, teams: Iterable[str]) -> list[int]:
    """Plays a match to its end; goals, falls and fouls of each of the teams, one after the other."""
    counted: Counter[tuple[str, str]] = Counter()

    def count(driver: Driver) -> None:
        for event in driver.game.events:
            if event.kind in COUNTED and event.side is not None:
                counted[driver.game.teams[event.side], event.kind] += 1

    driver.run(on_cycle=count)
    goals = dict(zip(driver.game.teams, driver.game.state.score, strict=True))
    return [number for name in teams for number in (goals[name], *(counted[name, kind] for kind in COUNTED))]
