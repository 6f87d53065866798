"""All senses of all players of M matches: eyes, ears and what they believe, one cycle after the other.

    perception = Perception(load_eyes("nao"), world)
    perception.greet(match, slot)               # somebody has joined
    perception.sense_all(chosen)                # after each step of the world and the referee's decisions
    perception.beliefs[match, slot]             # a row of `strategy_rows`

Players see symbols (`vision`), keep track of themselves, the ball and the others (`tracker`), and tell their team-mates
what they believe once a cycle, with messages that may be lost. Who is put somewhere by the referee, or by its own wish,
knows where that is, as a robot that somebody carries there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.behaviour.tracker import Tracker
from nutmeg.match.behaviour.vision import Vision
from nutmeg.match.decisions import MovePlayer
from nutmeg.match.slots import SLOTS, slot_of

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.match.behaviour.eyes import EyesSettings
    from nutmeg.match.behaviour.sights import Sights
    from nutmeg.match.behaviour.world import BehaviourWorld
    from nutmeg.match.decisions import Decision


class Perception:
    """The senses of everybody in a world.

    Args:
        eyes: settings.
        world: where they are.
    """

    def __init__(self, eyes: EyesSettings, world: BehaviourWorld) -> None:
        self.eyes, self._world = eyes, world
        ball, radius, count = world.settings[0].ball, world.ball_radius, world.count
        self.vision = Vision(eyes, world.field, ball_radius=radius, count=count)
        self.tracker = Tracker(
            eyes, world.field, ball_radius=radius, rolling=ball.deceleration, damping=ball.damping, count=count
        )

    @property
    def beliefs(self) -> Floats:
        """(M, 22, ...) what everybody believes: rows of `strategy_rows`, and what the trackers need beyond."""
        return self.tracker.minds

    @property
    def sights(self) -> Sights:
        """What everybody sees."""
        return self.vision.sights

    def sense_all(self, chosen: Ints) -> None:
        """Lets everybody in some matches (K,) look, think and talk."""
        state = self._world.state
        self.tracker.update(state, self.vision.see(state, chosen), chosen)
        self.tracker.hear(state, chosen)

    # ---- what happens to players

    def greet(self, match: int, slot: int) -> None:
        """Somebody has joined: it knows where."""
        self.tracker.forget(match, slot)
        self.placed(match, slot)

    def placed(self, match: int, slot: int) -> None:
        """Somebody has been put where it is now."""
        self.tracker.placed(match, slot, self._world.state.pose[match, slot])

    def all_placed(self, chosen: Ints, who: Bools) -> None:
        """The same of everybody in some matches (K,) who is marked in `who`, (M, 22)."""
        if who[chosen].any():
            for row, slot in np.argwhere(who[chosen]).tolist():
                self.placed(int(chosen[row]), slot)

    def follow(self, match: int, decision: Decision) -> None:
        """Takes note of what the referee has decided, and the world has carried out."""
        if isinstance(decision, MovePlayer):
            slot = slot_of(decision.side, decision.number)
            if self._world.state.present[match, slot]:
                self.placed(match, slot)

    def swap_ends(self, match: int) -> None:
        """Lets what players know follow them to the other end; they see the pitch as their team does."""
        minds = self.tracker.minds
        minds[match] = np.roll(minds[match], SLOTS // 2, axis=0)
