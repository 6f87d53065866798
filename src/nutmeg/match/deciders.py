"""Teams that are a `decide`, by name: a compiled strategy, the built-in team's tactics, or a function of a user's own.

    decide = read_decide("roles-pass")                  # a strategy that comes with Nutmeg
    decide = read_decide("builtin")                     # the built-in team's tactics
    decide = read_decide("chaser.py:decide")            # decide(percept, memory) -> Request; or package.module:name
    title_of("teams/chaser.py:decide")                  # "chaser"

They play in both worlds (see `brain`). Strategies can also play thousands of matches at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nutmeg.errors import UnknownNameError
from nutmeg.match.own_players import load_function

if TYPE_CHECKING:
    from nutmeg.match.brain import Decide

BUILTIN = "builtin"
"""The built-in team's tactics."""
USUAL = "decide"
"""A function of this name lends its team the name of its file."""


def decider_names() -> list[str]:
    """Those that come with Nutmeg."""
    from nutmeg.match.behaviour.strategies import strategy_names

    return [*strategy_names(), BUILTIN]


def is_decider(name: str) -> bool:
    """Whether a name stands for a `decide`, rather than for a walk."""
    return ":" in name or name in decider_names()


def is_strategy(name: str) -> bool:
    """Whether a name stands for a compiled strategy."""
    return ":" not in name and name != BUILTIN and is_decider(name)


def read_decide(name: str) -> Decide:
    """What a name stands for."""
    if ":" in name:
        return load_function(name)
    if name == BUILTIN:
        from nutmeg.match.team.as_brain import team_decide

        return team_decide
    if name not in decider_names():
        raise UnknownNameError("strategy", name, (*decider_names(), "file.py:decide"))
    from nutmeg.match.behaviour.strategies import strategy_decide

    return strategy_decide(name)


def title_of(name: str) -> str:
    """What a team is called that decides so: the strategy, the function, or the file of a function `decide`."""
    place, _, attribute = name.rpartition(":")
    if place and attribute == USUAL:
        return Path(place).stem if place.endswith(".py") else place.rpartition(".")[2]
    return attribute
