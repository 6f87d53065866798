"""Teams that are a `decide`, by name: a strategy of the compiled tactics, or a function of a user's own.

    decide = read_decide("roles-pass")                  # a strategy that comes with Nutmeg
    decide = read_decide("builtin")                     # that of the built-in team
    decide = read_decide("chaser.py:decide")            # decide(percept, memory) -> Request; or package.module:name
    title_of("teams/chaser.py:decide")                  # "chaser"

They play in both worlds (see `players.decide`). Strategies, and functions that are compiled (`tactics.own_tactics`),
can also play thousands of matches at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from nutmeg.base.errors import UnknownNameError, UsageError, suggestion
from nutmeg.base.plugins import load_module

if TYPE_CHECKING:
    from nutmeg.match.players.decide import Decide
    from nutmeg.match.worlds.physical.percept import Player


# ----------------------------------------------------------------------------------------------------
# Players of a user's own, named on a command line or in a file.
#
# The file is loaded as a module of its own; what it imports must be installed or stand on Python's path.


_MakePlayer = Callable[[str, int], "Player"]  # makes the player of a team with a number
_CLASS_HINT = "`class {name}:` with `__init__(self, team, number)` and `act(self, percept)`, which returns an Action"
_FUNCTION_HINT = "`def {name}(percept, memory):` into it, which returns a Request"
"""Hints for files without a player; they agree with docs/howto/decision-algorithm.md."""


def load_player(name: str) -> _MakePlayer:
    """The player class of a name such as `file.py:Class` or `module:Class`."""
    module, attribute = load_module(name, "player", "Class")
    found = getattr(module, attribute, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if hasattr(value, "act")]
        raise UsageError(
            f"{_place(name)} has no class {attribute!r}. {_instead(attribute, known, 'class with `act`', _CLASS_HINT)}"
        )
    make: _MakePlayer = found
    return make


def load_function(name: str) -> Callable[..., Any]:
    """The function of a name such as `file.py:decide` or `module:decide`."""
    module, attribute = load_module(name, "player", "decide")
    found: Callable[..., Any] | None = getattr(module, attribute, None)
    if not callable(found) or isinstance(found, type):
        known = [key for key, value in vars(module).items() if isinstance(value, FunctionType) and key[0] != "_"]
        raise UsageError(
            f"{_place(name)} has no function {attribute!r}. {_instead(attribute, known, 'function', _FUNCTION_HINT)}"
        )
    return found


def _instead(name: str, known: list[str], kind: str, needed: str) -> str:
    """A hint: the candidates that the file has, or what to write into it if there are none."""
    if known:
        return f"{suggestion(name, known)}It has: {', '.join(known)}."
    return f"It has no {kind}; write {needed.format(name=name)}."


def _place(name: str) -> str:
    return name.rpartition(":")[0]


def player_digest(name: str) -> str:
    """A digest of the file of a player, by which a changed player is recognised; empty for a module."""
    path = Path(_place(name))
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.suffix == ".py" and path.is_file() else ""


_DEFAULT_FUNCTION = "decide"  # a team whose function has this name is named after its file


def is_decider(name: str) -> bool:
    """Whether a name stands for a `decide`, rather than for a walk."""
    return ":" in name or is_strategy(name)


def is_strategy(name: str) -> bool:
    """Whether a name stands for a compiled strategy."""
    from nutmeg.match.players.tactics.strategies import strategy_names

    return name in strategy_names()


def read_decide(name: str) -> Decide:
    """The `decide` function of a strategy's name or of `file.py:function`."""
    if ":" in name:
        return load_function(name)
    from nutmeg.match.players.tactics.strategies import strategy_names
    from nutmeg.match.players.tactics.tactician import strategy_decide

    if not is_strategy(name):
        raise UnknownNameError("strategy", name, (*strategy_names(), "file.py:decide"))
    return strategy_decide(name)


def is_compiled(name: str) -> bool:
    """Whether a name stands for what plays in batches: a strategy, or a compiled function of a user."""
    from nutmeg.match.players.tactics.own_tactics import CompiledDecide

    return is_strategy(name) or (":" in name and isinstance(load_function(name), CompiledDecide))


def title_of(name: str) -> str:
    """The default name of a team: the strategy, the function, or the file of a function `decide`."""
    place, _, attribute = name.rpartition(":")
    if place and attribute == _DEFAULT_FUNCTION:
        return Path(place).stem if place.endswith(".py") else place.rpartition(".")[2]
    return attribute
