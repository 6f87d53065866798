"""What can be chosen when an environment of the behavioural world is made, and what is refused.

options = BehaviourOptions.of({"players": 2, "opponents": "roles", "observations": "images"})
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nutmeg.errors import UnknownNameError, UsageError
from nutmeg.match.behaviour.game import eyes_for
from nutmeg.match.behaviour.settings import load_behaviour
from nutmeg.match.behaviour.strategies import strategy
from nutmeg.match.pitches import rules_on
from nutmeg.match.rules import MOST_PLAYERS

if TYPE_CHECKING:
    from nutmeg.match.rules import Rules

ACTIONS, OBSERVATIONS = ("walk", "body"), ("symbols", "images")


@dataclass(frozen=True, kw_only=True)
class BehaviourOptions:
    """Options of the environments of the behavioural world."""

    players: int = 2
    """Of a team, 1 to 11."""
    actions: Literal["walk", "body"] = "walk"
    """Whether actions steer the walk and the kick, or the head, the kind of a kick and dives as well."""
    observations: Literal["symbols", "images"] = "symbols"
    """Whether players are told what they see in numbers, or get the pictures of their cameras."""
    shrink: int = 4
    """With `observations="images"`: by how much pictures are smaller than the cameras' 320 x 240."""
    opponents: str = ""
    """Let a strategy play from the right; then only the left team's players are agents."""
    half_length: float = 60.0
    """s."""
    halves: Literal[1, 2] = 1
    """One or two."""
    max_cycles: int = 0
    """The episode is cut off after so many cycles of 0.1 s; 0 lets it go on until the game is over."""
    goal_reward: float = 1.0
    """For a goal, and as a loss for one against."""
    ball_reward: float = 0.05
    """For each metre that the ball comes nearer to the others' goal line while it is in play, and as a loss."""
    field: str = "spl2011"
    """What is played on."""
    rules: str = "spl2011"
    """The rule book: a name, or a TOML file."""
    behaviour: str = "nao"
    """What robots and ball can do: a name, or a TOML file."""
    eyes: str = ""
    """What robots see with: a name, or a TOML file; what goes with the robots if empty."""

    def __post_init__(self) -> None:
        if not isinstance(self.players, int) or not 1 <= self.players <= MOST_PLAYERS:
            raise UsageError(f"players is {self.players!r}; allowed are 1 to {MOST_PLAYERS}.")
        for name, value, known in (
            ("kind of actions", self.actions, ACTIONS),
            ("kind of observations", self.observations, OBSERVATIONS),
        ):
            if value not in known:
                raise UnknownNameError(name, str(value), known)
        if not isinstance(self.max_cycles, int) or self.max_cycles < 0:
            raise UsageError(f"max_cycles is {self.max_cycles!r}; allowed is 0 or more.")
        if self.halves not in (1, 2):
            raise UsageError(f"halves is {self.halves!r}; allowed are 1 and 2.")
        if self.opponents:
            strategy(self.opponents)
        cameras = eyes_for(load_behaviour(self.behaviour), self.eyes or None).cameras
        if self.shrink < 1 or cameras.width % self.shrink or cameras.height % self.shrink:
            raise UsageError(f"shrink is {self.shrink}; {cameras.width} x {cameras.height} must be divisible by it.")
        self.rule_book()

    @staticmethod
    def of(options: Mapping[str, Any]) -> BehaviourOptions:
        """The options from keyword arguments."""
        known = {one.name for one in dataclasses.fields(BehaviourOptions)}
        for name in options:
            if name not in known:
                raise UnknownNameError("option of the environment of a match", name, known)
        return BehaviourOptions(**options)

    @property
    def length(self) -> float:
        """Of the whole game, s."""
        return self.half_length * self.halves

    @property
    def agents(self) -> tuple[str, ...]:
        """Who is steered: `left_1`, ..., and `right_1`, ... if no strategy plays there."""
        teams = ("left",) if self.opponents else ("left", "right")
        return tuple(f"{team}_{number}" for team in teams for number in range(1, self.players + 1))

    def rule_book(self) -> Rules:
        """The rules of every episode; a draw is a draw."""
        changes = {"players": self.players, "half_length": self.half_length, "halves": self.halves}
        try:
            rules = rules_on(self.rules, self.field)
            rules = dataclasses.replace(rules, shoot_out=dataclasses.replace(rules.shoot_out, on=False))
            return rules.with_match(**changes, automatic_kick_off=True, wait_before_kick_off=1.0)
        except (ValueError, TypeError) as error:
            raise UsageError(f"rules of the match: {error}") from None
