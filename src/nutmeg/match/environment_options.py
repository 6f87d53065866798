"""What can be chosen when the environment of a match is made, and what is refused.

options = MatchOptions.of({"players": 2, "actions": "walk", "opponents": "final"})
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nutmeg.errors import UnknownNameError, UsageError
from nutmeg.learning.walks import read_walk
from nutmeg.match.ground import ROBOT
from nutmeg.match.rules import MOST_PLAYERS, load_rules

if TYPE_CHECKING:
    from nutmeg.match.rules import Rules

Actions = Literal["joints", "walk"]


@dataclass(frozen=True, kw_only=True)
class MatchOptions:
    """Options of the environment of a match."""

    players: int = 2
    """Of a team, 1 to 11; of more than one, number 1 begins in its goal."""
    actions: Actions = "joints"
    """Whether actions move the joints, or steer a walk."""
    walk: str = "holonomic"
    """With `actions="walk"`: the walk, by its name, its file or the folder of its run."""
    opponents: str = ""
    """Let the built-in team play from the right, with this walk; then only the left team's players are agents."""
    half_length: float = 60.0
    """s."""
    halves: Literal[1, 2] = 1
    """One or two."""
    max_cycles: int = 0
    """The episode is cut off after so many cycles of 20 ms; 0 lets it go on until the game is over."""
    noise: bool = True
    """Whether cameras err."""
    beam_noise: bool = True
    """Whether players land near their places rather than there; without, all kick-offs begin alike."""
    goal_reward: float = 1.0
    """For a goal, and as a loss for one against."""
    ball_reward: float = 0.05
    """For each metre that the ball comes nearer to the others' goal line while it is in play, and as a loss."""
    rules: str = "sim3d"
    """The rule book: a name, or a TOML file."""

    def __post_init__(self) -> None:
        if not isinstance(self.players, int) or not 1 <= self.players <= MOST_PLAYERS:
            raise UsageError(f"players is {self.players!r}; allowed are 1 to {MOST_PLAYERS}.")
        if self.actions not in ("joints", "walk"):
            raise UnknownNameError("kind of actions", str(self.actions), ("joints", "walk"))
        if not isinstance(self.max_cycles, int) or self.max_cycles < 0:
            raise UsageError(f"max_cycles is {self.max_cycles!r}; allowed is 0 or more.")
        for walk in (self.walk if self.actions == "walk" else "", self.opponents):
            if walk:
                read_walk(walk).for_robot(ROBOT)
        self.rule_book()

    @staticmethod
    def of(options: Mapping[str, Any]) -> MatchOptions:
        """The options from keyword arguments."""
        known = {one.name for one in dataclasses.fields(MatchOptions)}
        for name in options:
            if name not in known:
                raise UnknownNameError("option of the environment of a match", name, known)
        return MatchOptions(**options)

    @property
    def length(self) -> float:
        """Of the whole game, s."""
        return self.half_length * self.halves

    def rule_book(self) -> Rules:
        """The rules of every episode."""
        changes = {"players": self.players, "half_length": self.half_length, "halves": self.halves}
        if self.halves not in (1, 2):
            raise UsageError(f"halves is {self.halves!r}; allowed are 1 and 2.")
        try:
            return load_rules(self.rules).with_match(**changes, automatic_kick_off=True, wait_before_kick_off=1.0)
        except (ValueError, TypeError) as error:
            raise UsageError(f"rules of the match: {error}") from None
