"""Plays a match with players in this process: joins them, asks each one every cycle, follows them when ends change.

    game = Game(rules.with_match(automatic_kick_off=True), seed=7, left="reds", right="blues", seats=8)
    loop = GameLoop(game, {("reds", 1): Keeper(), ("blues", 1): Keeper()})
    loop.run(on_cycle=lambda loop: print(loop.game.view.time))
    game.close()

A player is anything with `act(percept) -> Action`; in the behavioural world, `act(view) -> Request` (see
`players.decide`), with the same loop. A player gets the same observations as an agent on the network: its number and
side in the first one, but no word when the teams change ends and it plays on from another slot. A player that fails, or
asks for something that no robot can do, ends the match with a `PlayerError` that names it, because going on without it
would hide a mistake of the user's own code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from nutmeg.base.errors import NutmegError, UsageError
from nutmeg.match.rules.slots import SLOTS, side_and_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nutmeg.match.base_game import BaseGame

    Member = tuple[str, int]
    """Team and number."""


class AnyPlayer(Protocol):
    """A player in any world, called once a cycle with its observation."""

    def act(self, percept: Any, /) -> Any:  # noqa: ANN401 (a `Percept` and an `Action`, or a `View` and a `Request`)
        """The actions of this cycle, from what was observed in the last one."""
        ...


class PlayerError(NutmegError):
    """A player that failed; says which one, when and how."""


class GameLoop:
    """A game and its players.

    Args:
        game: the match.
        players: the players by team and number; they join in this order, so that the first team plays from the left
            unless the game has given the names.
        types: robot types by team and number; by default the player's `robot_type` if it has one, else 0.
    """

    def __init__(
        self, game: BaseGame, players: Mapping[Member, AnyPlayer], *, types: Mapping[Member, int] | None = None
    ) -> None:
        self.game = game
        self.percepts: dict[int, Any] = {}
        """The last percepts of all players, by slot."""
        self._players: dict[Member, AnyPlayer] = {}
        self._entered: dict[Member, int] = {}
        kinds = types or {}
        for member in kinds:
            if member not in players:
                raise UsageError(f"a robot type is given for number {member[1]} of {member[0]!r}, which does not play.")
        for member, player in players.items():
            self.join(member[0], member[1], player, kinds.get(member, getattr(player, "robot_type", 0)))

    # ---- who plays

    def join(self, team: str, number: int, player: AnyPlayer, robot_type: int = 0) -> int:
        """Lets a player join; returns its slot."""
        if (team, number) in self._players:
            raise UsageError(f"number {number} of {team!r} plays already; another number is needed.")
        slot = self.game.enter(team, number, robot_type)
        number = side_and_number(slot)[1]
        self._players[team, number] = player
        self._entered[team, number] = (slot - self._shift(self.game.swaps)) % SLOTS
        return slot

    def leave(self, team: str, number: int) -> None:
        """Removes a player from the game."""
        slot = self.slot(team, number)
        self.game.leave(slot)
        self.percepts.pop(slot, None)
        del self._players[team, number], self._entered[team, number]

    def slot(self, team: str, number: int) -> int:
        """The slot that a player has at present."""
        try:
            return (self._entered[team, number] + self._shift(self.game.swaps)) % SLOTS
        except KeyError:
            known = ", ".join(f"{number} of {team}" for team, number in self._players)
            raise UsageError(f"there is no number {number} of {team!r} here; there are: {known or 'none'}.") from None

    @property
    def players(self) -> dict[int, AnyPlayer]:
        """The players, by their present slots."""
        return {self.slot(*member): player for member, player in self._players.items()}

    def __iter__(self) -> Iterator[tuple[str, int, int, AnyPlayer]]:
        """Team, number, present slot and player of all players."""
        for (team, number), player in self._players.items():
            yield team, number, self.slot(team, number), player

    @staticmethod
    def _shift(swaps: int) -> int:
        """Shift of slots after a number of changes of ends."""
        return SLOTS // 2 * (swaps % 2)

    # ---- the match

    def cycle(self) -> None:
        """Lets all players act, and plays one cycle with their actions."""
        asked = {slot: (team, number, player) for team, number, slot, player in self if slot in self.percepts}
        actions = {slot: self._ask(*member, self.percepts[slot]) for slot, member in asked.items()}
        self.percepts = self.game.cycle(actions)
        for slot, why in self.game.refused:
            team, number, _ = asked[slot]
            raise PlayerError(f"{self._name(team, number)} asked for what cannot be done: {why}")

    def _ask(self, team: str, number: int, player: AnyPlayer, percept: Any) -> Any:  # noqa: ANN401
        """The action of one player."""
        try:
            return player.act(percept)
        except Exception as error:
            raise PlayerError(f"{self._name(team, number)} failed: {type(error).__name__}: {error}") from error

    def _name(self, team: str, number: int) -> str:
        return f"at {self.game.time:.2f} s, number {number} of {team!r}"

    def run(self, cycles: int | None = None, *, on_cycle: Callable[[GameLoop], object] | None = None) -> None:
        """Plays a number of cycles, or until the match is over; `on_cycle` is called after each."""
        if cycles is None and not (self.game.rules.match.automatic_kick_off or self.game.view.time > 0):
            raise UsageError(
                "this match would never end: it has no kick-off. Use rules with automatic_kick_off, let a trainer "
                "kick off, or say how many cycles to play."
            )
        played = 0
        while not self.game.over and (cycles is None or played < cycles):
            self.cycle()
            played += 1
            if on_cycle is not None:
                on_cycle(self)
