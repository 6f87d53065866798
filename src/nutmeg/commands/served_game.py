"""A match that says when it is over, so that whoever serves it can end.

game = ServedGame(rules, seed=0)
game.at_end = server.stop
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.match.game import Game

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nutmeg.match.worlds.physical.percept import Action, Percept


class ServedGame(Game):
    """A game with an end that somebody waits for."""

    at_end: Callable[[], object] | None = None
    """Called after each cycle in which the game is over."""

    def cycle(self, actions: Mapping[int, Action]) -> dict[int, Percept]:
        """Plays one cycle."""
        percepts = super().cycle(actions)
        if self.over and self.at_end is not None:
            self.at_end()
        return percepts
