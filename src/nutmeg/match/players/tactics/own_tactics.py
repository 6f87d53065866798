"""A user's own `decide` that numba compiles: one source for both worlds, and for thousands of games at once.

    from nutmeg.match.players.tactics.own_tactics import PlayerContext, compiled, go_for_ball, go_to, goal_direction

    @compiled()
    def decide(player: PlayerContext) -> None:
        belief, length = player.belief, player.ground.length
        if player.game.number == 1 and belief.ball_x > -0.2 * length:
            go_to(player, -0.48 * length, 0.3 * belief.ball_y, 0.0)
        else:
            go_for_ball(player, goal_direction(player), 1.0)

The function gets the records of one player (`records.PlayerContext`) and fills its order, by the skills of this module
or by itself. It is asked while the game goes on and the player is on its feet; lining up, getting up, leaving a ball
that the player has put into play, and looking are done around it. What it wants to remember it keeps in
`player.memory.notes`, eight numbers.

What `compiled()` makes is a `decide(percept, memory)` as any other (`players.decide`), so that it plays wherever those
play. `BehaviourGames` and series of games in the behavioural world play it in batches, as they play strategies. Of what
it calls only kernels are compiled with it: functions of the same file need `@unchecked` (`base.kernels`). What numba
cannot compile (dictionaries, text, classes) belongs into a `decide(percept, memory)`, which is slower.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numba.core.errors import NumbaError

from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import closure, unchecked
from nutmeg.match.players.tactics.ball_play import ball_way, goal_direction, nearest_opponent
from nutmeg.match.players.tactics.decisions import (
    awaits_play,
    begin_decision,
    each_player,
    hold_post,
    leaves_ball,
    play_soccer,
    play_towards,
)
from nutmeg.match.players.tactics.formation import goes_for_ball, may_go
from nutmeg.match.players.tactics.looking import look
from nutmeg.match.players.tactics.records import Intent, PlayerContext
from nutmeg.match.players.tactics.strategies import Strategy
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.players.tactics.walking import at_ease, stand, walk, walk_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nutmeg.match.players.decide import Decide, Memory, View
    from nutmeg.match.players.request import Request
    from nutmeg.match.players.tactics.records import PlayerRecords

__all__ = [
    "CompiledDecide",
    "PlayerContext",
    "ball_way",
    "compiled",
    "go_for_ball",
    "go_to",
    "goal_direction",
    "goes_for_ball",
    "hold_post",
    "nearest_opponent",
    "play_soccer",
    "walk",
]


@unchecked
def go_to(player: PlayerContext, x: float, y: float, face: float) -> None:
    """Walks to a place, m, and there looks into a direction, rad (NaN for any)."""
    player.memory.goes = False
    walk_to(player, x, y, face, at_ease(player, 0.0))


@unchecked
def go_for_ball(player: PlayerContext, direction: float, strength: float) -> None:
    """Plays the ball in a direction, rad, with a strength from 0 to 1; where the rules forbid it, holds the post."""
    memory = player.memory
    memory.goes = memory.barred == -math.inf and may_go(player)
    if player.game.kicking:
        stand(player, Intent.KICK)
    elif memory.goes:
        play_towards(player, direction, strength)
    else:
        hold_post(player)


class CompiledDecide:
    """A compiled function of a user as a player.

    Args:
        function: fills the order of a player.
        traits: the parameters of the skills that it uses.
    """

    def __init__(self, function: Callable[[PlayerContext], None], traits: Strategy) -> None:
        self.traits, self.name = traits, function.__name__
        self._function = unchecked(function)

    def __call__(self, percept: View, memory: Memory) -> Request:
        """Decides for one player of any world."""
        return self._decide(percept, memory)

    def prepare(self) -> None:
        """Compiles the function for single players: that takes longer than a decision may."""
        self._decide  # noqa: B018 (made when it is first asked for)

    def decide_matches(self, *records: object) -> None:
        """Decides for players of many matches; arguments are those of `decisions.each_player`."""
        with self._explained():
            self._each_player(*records)

    @cached_property
    def _whole(self) -> Any:  # noqa: ANN401 (compiled)
        """The function with what is done around it."""
        function = self._function

        def decide(player: PlayerContext) -> None:
            begin_decision(player)
            if not awaits_play(player) and not leaves_ball(player):
                function(player)
            look(player)

        return closure(decide, function)

    @cached_property
    def _each_player(self) -> Callable[..., None]:
        return closure(each_player(self._whole), self._whole, self._function)

    @cached_property
    def _decide(self) -> Decide:
        whole = self._whole

        def decide_one(records: PlayerRecords) -> None:
            beliefs, games, grounds, traits, memories, orders = records
            whole(PlayerContext(beliefs[0], games[0], grounds[0], traits[0], memories[0], orders[0]))

        kernel = closure(decide_one, whole, self._function)

        def decides(records: PlayerRecords) -> None:
            with self._explained():
                kernel(records)

        return strategy_decide(self.traits, decides)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Says what to do about a function that numba cannot compile."""
        try:
            yield
        except NumbaError as error:
            raise UsageError(
                f"{self.name} cannot be compiled: {error}\nWrite it with numbers and the skills of own_tactics, or as "
                "decide(percept, memory), which is not compiled."
            ) from error


def compiled(traits: Strategy | None = None) -> Callable[[Callable[[PlayerContext], None]], CompiledDecide]:
    """Makes a function of one player's records a player that is compiled; `traits` are for the skills that it uses."""
    return lambda function: CompiledDecide(function, traits or Strategy())
