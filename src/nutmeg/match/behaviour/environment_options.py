"""What can be chosen when an environment of the behavioural world is made, and what is refused.

options = BehaviourOptions.of({"players": 2, "opponents": "roles", "observations": "images"})
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nutmeg.errors import UnknownNameError, UsageError
from nutmeg.match.behaviour.game import eyes_for
from nutmeg.match.behaviour.settings import load_behaviour
from nutmeg.match.behaviour.strategies import strategy
from nutmeg.match.episodes import EpisodeOptions
from nutmeg.match.pitches import rules_on

if TYPE_CHECKING:
    from nutmeg.match.rules import Rules

ACTIONS, OBSERVATIONS = ("walk", "body"), ("symbols", "images")


@dataclass(frozen=True, kw_only=True)
class BehaviourOptions(EpisodeOptions):
    """Options of the environments of the behavioural world."""

    actions: Literal["walk", "body"] = "walk"
    """Whether actions steer the walk and the kick, or the head, the kind of a kick and dives as well."""
    observations: Literal["symbols", "images"] = "symbols"
    """Whether players are told what they see in numbers, or get the pictures of their cameras."""
    shrink: int = 4
    """With `observations="images"`: by how much pictures are smaller than the cameras' 320 x 240."""
    opponents: str = ""
    """Let a strategy play from the right; then only the left team's players are agents."""
    field: str = "spl2011"
    """What is played on."""
    rules: str = "spl2011"
    """The rule book: a name, or a TOML file."""
    behaviour: str = "nao"
    """What robots and ball can do: a name, or a TOML file."""
    eyes: str = ""
    """What robots see with: a name, or a TOML file; what goes with the robots if empty."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value, known in (
            ("kind of actions", self.actions, ACTIONS),
            ("kind of observations", self.observations, OBSERVATIONS),
        ):
            if value not in known:
                raise UnknownNameError(name, str(value), known)
        if self.opponents:
            strategy(self.opponents)
        cameras = eyes_for(load_behaviour(self.behaviour), self.eyes or None).cameras
        if self.shrink < 1 or cameras.width % self.shrink or cameras.height % self.shrink:
            raise UsageError(f"shrink is {self.shrink}; {cameras.width} x {cameras.height} must be divisible by it.")
        self.rule_book()

    @property
    def agents(self) -> tuple[str, ...]:
        """Who is steered: `left_1`, ..., and `right_1`, ... if no strategy plays there."""
        teams = ("left",) if self.opponents else ("left", "right")
        return tuple(f"{team}_{number}" for team in teams for number in range(1, self.players + 1))

    def rule_book(self) -> Rules:
        """The rules of every episode; a draw is a draw."""
        try:
            rules = rules_on(self.rules, self.field)
            return self.changed(dataclasses.replace(rules, shoot_out=dataclasses.replace(rules.shoot_out, on=False)))
        except (ValueError, TypeError) as error:
            raise UsageError(f"rules of the match: {error}") from None
