"""Which end of the pitch the own team defends, as far as a player can know.

    ends = Ends()
    ends.hear(percept.game)                     # the side is told once, when the player joins
    ends.beamed(-3.0, 1.0, now=percept.time)    # the player has just asked to be put there
    ends.land(place, now)                       # where it finds itself: the other half means that ends have changed
    ends.sign * place                           # as the own team sees it

The league's server keeps the ends for the whole match; a rule book may change them at half time (`swap_ends`), and
then nobody is told. Two things give it away: the numbers of the score change places, and who asks to be put into
its own half finds itself in the other. The first shows only if the score is not even, the second within a few
cycles of the first beam, which every team asks for before a kick-off. A player who never beams while the score is even
cannot know.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.match.play_modes import Side, may_beam, mode_named

if TYPE_CHECKING:
    from nutmeg.match.percept import GameView

LATENCY = 0.04
"""A beam is carried out so long after it was asked for [s]."""
PATIENCE = 0.5
"""And forgotten after so long, if nothing came of it [s]."""
LANDED = 0.6
"""Nearer than this to where it wished to be a player was put there [m]; noise is 0.07 m, others may be in the way."""


class Ends:
    """The own side."""

    def __init__(self) -> None:
        self.side: Side | None = None
        """None while it was not told."""
        self.changes = 0
        """How often ends have changed."""
        self._score: tuple[int, int] | None = None
        self._wish: tuple[float, float, float] | None = None
        self._mode, self._may_beam = "", False

    @property
    def sign(self) -> int:
        """1 or -1: times a place on the pitch, the place as the own team sees it. 1 while the side is not known."""
        return 1 if self.side is None else self.side.sign

    def hear(self, game: GameView) -> None:
        """Takes what everybody is told."""
        if game.side is not None:
            self.side = game.side
        if game.mode != self._mode:
            self._mode, self._may_beam = game.mode, may_beam(mode_named(game.mode))
        score = game.score_left, game.score_right
        if score != self._score:
            if self._score == score[::-1]:
                self._change()
            self._score = score

    def _change(self) -> None:
        if self.side is not None:
            self.side, self.changes = self.side.other, self.changes + 1

    def beamed(self, x: float, y: float, *, now: float) -> None:
        """The player has asked to be put at a place, as its team sees it."""
        if self._may_beam:
            self._wish = min(x, 0.0), y, now

    def land(self, x: float, y: float, *, now: float) -> None:
        """An image has shown where the player is on the pitch."""
        if self._wish is None or now < self._wish[2] + LATENCY - 1e-6:
            return
        if now > self._wish[2] + PATIENCE:
            self._wish = None
            return
        here = math.hypot(self.sign * x - self._wish[0], self.sign * y - self._wish[1])
        there = math.hypot(self.sign * x + self._wish[0], self.sign * y + self._wish[1])
        if there < LANDED and here > 2 * LANDED:
            self._change()
        if min(here, there) < LANDED:
            self._wish = None
