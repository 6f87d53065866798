"""What the environments of a match have in common, in the physical and in the behavioural world.

    class MatchOptions(EpisodeOptions): ...

    options = MatchOptions.of({"players": 2, "half_length": 30.0})
    check_actions({"left_1": action}, agents=["left_1", "left_2"])  # UsageError: there is no action for 'left_2'

A cycle is 20 ms in the physical world, and 0.1 s in the behavioural one.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from nutmeg.errors import UnknownNameError, UsageError
from nutmeg.match.rules import MOST_PLAYERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.match.rules import Rules


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions:
    """Who plays how long, and what it is worth."""

    players: int = 2
    """Of a team, 1 to 11."""
    half_length: float = 60.0
    """s."""
    halves: Literal[1, 2] = 1
    """One or two."""
    max_cycles: int = 0
    """The episode is cut off after so many cycles; 0 lets it go on until the game is over."""
    goal_reward: float = 1.0
    """For a goal, and as a loss for one against."""
    ball_reward: float = 0.05
    """For each metre that the ball comes nearer to the others' goal line while it is in play, and as a loss."""

    def __post_init__(self) -> None:
        if not isinstance(self.players, int) or not 1 <= self.players <= MOST_PLAYERS:
            raise UsageError(f"players is {self.players!r}; allowed are 1 to {MOST_PLAYERS}.")
        if not isinstance(self.max_cycles, int) or self.max_cycles < 0:
            raise UsageError(f"max_cycles is {self.max_cycles!r}; allowed is 0 or more.")
        if self.halves not in (1, 2):
            raise UsageError(f"halves is {self.halves!r}; allowed are 1 and 2.")

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """The options from keyword arguments."""
        known = {one.name for one in dataclasses.fields(cls)}
        for name in options:
            if name not in known:
                raise UnknownNameError("option of the environment of a match", name, known)
        return cls(**options)

    @property
    def length(self) -> float:
        """Of the whole game, s."""
        return self.half_length * self.halves

    def changed(self, rules: Rules) -> Rules:
        """The rules for so many players and so long a game, which begins by itself."""
        changes = {"players": self.players, "half_length": self.half_length, "halves": self.halves}
        return rules.with_match(**changes, automatic_kick_off=True, wait_before_kick_off=1.0)


def check_actions(actions: Mapping[str, object], agents: Sequence[str]) -> None:
    """An error unless the episode goes on and just its agents act."""
    if not agents:
        raise UsageError("the episode is over or was never begun; call reset() before step().")
    for agent in actions:
        if agent not in agents:
            raise UnknownNameError("agent", agent, agents)
    for agent in agents:
        if agent not in actions:
            raise UsageError(f"there is no action for {agent!r}; every agent needs one.")
