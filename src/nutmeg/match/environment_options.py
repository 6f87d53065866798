"""What can be chosen when the environment of a match is made, and what is refused.

options = MatchOptions.of({"players": 2, "actions": "walk", "opponents": "final"})
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nutmeg.errors import UnknownNameError, UsageError
from nutmeg.learning.walks import read_walk
from nutmeg.match.episodes import EpisodeOptions
from nutmeg.match.ground import ROBOT
from nutmeg.match.rules import load_rules

if TYPE_CHECKING:
    from nutmeg.match.rules import Rules

Actions = Literal["joints", "walk"]


@dataclass(frozen=True, kw_only=True)
class MatchOptions(EpisodeOptions):
    """Options of the environment of a match; of more than one player, number 1 begins in its goal."""

    actions: Actions = "joints"
    """Whether actions move the joints, or steer a walk."""
    walk: str = "holonomic"
    """With `actions="walk"`: the walk, by its name, its file or the folder of its run."""
    opponents: str = ""
    """Let the built-in team play from the right, with this walk; then only the left team's players are agents."""
    noise: bool = True
    """Whether cameras err."""
    beam_noise: bool = True
    """Whether players land near their places rather than there; without, all kick-offs begin alike."""
    rules: str = "sim3d"
    """The rule book: a name, or a TOML file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.actions not in ("joints", "walk"):
            raise UnknownNameError("kind of actions", str(self.actions), ("joints", "walk"))
        for walk in (self.walk if self.actions == "walk" else "", self.opponents):
            if walk:
                read_walk(walk).for_robot(ROBOT)
        self.rule_book()

    def rule_book(self) -> Rules:
        """The rules of every episode."""
        try:
            return self.changed(load_rules(self.rules))
        except (ValueError, TypeError) as error:
            raise UsageError(f"rules of the match: {error}") from None
