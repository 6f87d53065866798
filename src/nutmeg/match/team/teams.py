"""The built-in team: its players by the name of a walk, and matches between two of them.

    reds, blues = make_team("final", 4, team="reds"), make_team("holonomic", 4, team="blues")
    game = Game(rules.with_match(automatic_kick_off=True), seed=7, left="reds", right="blues", players=8)
    Driver(game, by_number(reds, blues)).run()

A team plays from whichever side it is told to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.errors import UsageError
from nutmeg.learning.walks import read_walk
from nutmeg.match.rules import MOST_PLAYERS
from nutmeg.match.team.player import TeamPlayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.match.percept import Player


def make_team(
    walk: str, players: int, *, team: str = "", types: Sequence[int] = (0,), field: str = "sim3d"
) -> list[TeamPlayer]:
    """The players of a team, number 1 first.

    Args:
        walk: name or file of the walk they have.
        players: how many, 1 to 11; of more than one, number 1 keeps the goal.
        team: name of the team, as the game knows it; that of the walk if empty.
        types: types of their robots, in turn.
        field: the name of the field they play on.
    """
    if not 1 <= players <= MOST_PLAYERS:
        raise UsageError(f"a team of {players} cannot play; allowed are 1 to {MOST_PLAYERS} players.")
    if not types:
        raise UsageError("a team needs at least one robot type.")
    numbers = read_walk(walk)
    return [
        TeamPlayer(team or walk, n + 1, players=players, walk=numbers, robot_type=types[n % len(types)], field=field)
        for n in range(players)
    ]


def by_number(left: Sequence[TeamPlayer], right: Sequence[TeamPlayer]) -> dict[tuple[str, int], Player]:
    """The players of two teams by team and number, as a `Driver` wants them; the left team first."""
    names = {player.team for player in left}, {player.team for player in right}
    if names[0] & names[1]:
        raise UsageError(f"both teams are called {min(names[0] & names[1])!r}; two names are needed.")
    return {(player.team, player.number): player for player in (*left, *right)}
