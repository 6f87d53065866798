"""Matches of the behavioural world in which somebody else steers the players of one team or of both, cycle by cycle.

    games = SteeredGames(options, count=64)
    games.begin_all(seeds)                              # (M,)
    games.wishes[:] = ...                               # (M, agents, 4): ahead, left, turn, kick; -1 to 1
    games.cycle(np.arange(64))

A wish is shares of the top speeds ahead, to the left and turning left; then a kick of that strength if above 0. With
`actions="body"` there follow: to which side the kick goes (above 0.5 left, below -0.5 right, else straight), yaw of the
head to the left and its pitch upwards as shares of what the neck can do, and a dive (above 0.5 to the left, below -0.5
to the right). Otherwise players turn their heads by themselves, as those of the strategies do. Who has fallen gets up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.behaviour.games import BehaviourGames
from nutmeg.match.behaviour.state import KickKind, Legs, Posture
from nutmeg.match.behaviour.strategy_rows import BALL_X, BALL_Y, HEADING, X, Y, new_minds
from nutmeg.match.play_modes import LIVE, PlayMode, Side
from nutmeg.match.slots import SLOTS, slot_of
from nutmeg.match.state import new_match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats, Ints, SmallInts
    from nutmeg.match.behaviour.environment_options import BehaviourOptions


WIDTHS = {"walk": 4, "body": 8}
"""Numbers of a wish."""
LOOKS = "roles"
"""The strategy whose places before a kick-off and whose looks steered players have."""
SLOWEST = 0.05
"""Wishes below this share of the top speeds stand still."""
LINE_UP = 12
"""Cycles before the first observation, in which players are put to their places and the whistle blows."""


class SteeredGames(BehaviourGames):
    """M matches whose agents are steered.

    Args:
        options: of the environment.
        count: how many matches.
    """

    def __init__(self, options: BehaviourOptions, count: int) -> None:
        super().__init__(
            options.rule_book(),
            left=LOOKS,
            right=options.opponents or LOOKS,
            seeds=range(count),
            field=options.field,
            settings=options.behaviour,
            eyes=options.eyes or None,
            players=options.players,
        )
        self.options, self.count = options, count
        walk, head = self.world.settings[0].walk, self.world.settings[0].head
        self._tops = walk.ahead, walk.back, walk.side, walk.turn
        self._neck = head.yaw, head.up, head.down
        self._starts = self._traits.copy()
        numbers = np.arange(options.players)
        teams = [0] if options.opponents else [0, 1]
        self._first = np.concatenate([team * SLOTS // 2 + numbers for team in teams])
        self.wishes: Floats = np.zeros((count, len(self._first), WIDTHS[options.actions]))
        """(M, agents, 4 or 8) what agents are to do."""

    @property
    def slots(self) -> Ints:
        """(M, agents) the slots that agents have at present."""
        turned = np.where(self.swapped, SLOTS // 2, 0)[:, None]
        found: Ints = (self._first[None, :] + turned) % SLOTS
        return found

    # ---- episodes

    def begin(self, chosen: Ints, seeds: Sequence[int], starters: Sequence[Side]) -> None:
        """Begins some matches (K,) anew, up to the first observation."""
        for m, seed, starter in zip(chosen.tolist(), seeds, starters, strict=True):
            self.world.reset(m, seed)
            self.states[m], self.swapped[m] = new_match(kick_off=starter), False
            self._traits[m] = self._starts[m]
            for side in Side:
                for number in range(1, self.options.players + 1):
                    slot = slot_of(side, number)
                    self.world.join(m, slot)
                    self.perception.greet(m, slot)
        for array in (self._counts, self._since, self._due, self._modes, self._orders, self.wishes):
            array[chosen] = 0
        for flags in (self._flags, self._low, self._held, self._beamed):
            flags[chosen] = False
        self._minds[chosen] = new_minds(len(chosen), SLOTS)
        for _ in range(LINE_UP):
            self.cycle(chosen)

    # ---- what agents do

    def _decide(self, chosen: Ints) -> None:
        """Lets the strategies decide, then puts what agents wish in the place of what theirs wanted."""
        super()._decide(chosen)
        rows, slots = chosen[:, None], self.slots[chosen]
        state, orders, wishes = self.world.state, self.world.orders, self.wishes[chosen]
        ahead, left, turn, kick = np.moveaxis(wishes[..., :4], -1, 0)
        walks = np.abs(wishes[..., :3]).max(axis=-1) >= SLOWEST
        legs = np.where(walks, int(Legs.WALK), int(Legs.STAND))
        legs = np.where(kick > 0.0, int(Legs.KICK), legs)
        side = np.zeros_like(kick)
        if self.options.actions == "body":
            side = wishes[..., 4]
            yaw, up, down = self._neck
            pitch = wishes[..., 6]
            orders.look[rows, slots, 0] = yaw * wishes[..., 5]
            orders.look[rows, slots, 1] = pitch * np.where(pitch > 0.0, up, down)
            dive = wishes[..., 7]
            legs = np.where(dive > 0.5, int(Legs.DIVE_LEFT), np.where(dive < -0.5, int(Legs.DIVE_RIGHT), legs))
        legs = np.where(state.posture[rows, slots] == int(Posture.LYING), int(Legs.GET_UP), legs)
        legs = np.where(self._held[rows, slots], int(Legs.STAND), legs)
        top = self._tops
        orders.wish[rows, slots, 0] = ahead * np.where(ahead > 0.0, top[0], top[1])
        orders.wish[rows, slots, 1], orders.wish[rows, slots, 2] = left * top[2], turn * top[3]
        orders.kick[rows, slots] = self._kicks(self.perception.beliefs[rows, slots], side)
        orders.strength[rows, slots] = np.clip(kick, 0.0, 1.0)
        orders.legs[rows, slots] = legs

    @staticmethod
    def _kicks(beliefs: Floats, side: Floats) -> SmallInts:
        """(K, agents) which kick: straight with the foot on whose side the ball is, or to a side."""
        way = beliefs[..., [BALL_X, BALL_Y]] - beliefs[..., [X, Y]]
        heading = beliefs[..., HEADING]
        to_left = np.cos(heading) * way[..., 1] - np.sin(heading) * way[..., 0] >= 0.0
        straight = np.where(to_left, int(KickKind.LEFT_STRAIGHT), int(KickKind.RIGHT_STRAIGHT))
        kinds = np.where(side > 0.5, int(KickKind.RIGHT_SIDE), straight)
        return np.where(side < -0.5, int(KickKind.LEFT_SIDE), kinds).astype(np.int8)

    # ---- how it stands

    def goals(self) -> Ints:
        """(M, 2) of the teams `left` and `right`, wherever they play now."""
        score = np.array([state.score for state in self.states])
        return np.where(self.swapped[:, None], score[:, ::-1], score)

    def ball_ahead(self) -> Floats:
        """(M,) how far the ball is on the way to the goal of the team `right`, m; NaN while it is not in play."""
        live = np.isin(self._modes, [int(mode) for mode in LIVE])
        x = np.where(self.swapped, -1.0, 1.0) * self.world.state.ball[:, 0]
        return np.where(live, x, np.nan)

    def clocks(self) -> Floats:
        """(M,) game time, s."""
        stopped = np.isin(self._modes, [int(PlayMode.BEFORE_KICK_OFF), int(PlayMode.GAME_OVER)])
        return np.array([state.time for state in self.states]) + np.where(stopped, 0.0, self._since)

    @property
    def modes(self) -> Ints:
        """(M,) play modes by index."""
        return self._modes
