"""A user's own `decide` that is compiled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.behavioural_game import BehaviourGame
from nutmeg.match.behavioural_games import BehaviourGames
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.registry import is_compiled, load_function
from nutmeg.match.players.tactics.own_tactics import PlayerContext, compiled, go_to, play_soccer
from nutmeg.match.players.tactics.strategies import strategy
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules

if TYPE_CHECKING:
    from nutmeg.match.players.tactics.own_tactics import CompiledDecide

RULES = load_rules("spl2011")
CHASER = f"{Path(__file__).parents[4] / 'examples' / 'behaviour' / 'compiled_chaser.py'}:decide"


@compiled(strategy("roles"))
def as_roles(player: PlayerContext) -> None:
    """Plays as the strategy does."""
    play_soccer(player)


@compiled()
def counter(player: PlayerContext) -> None:
    """Walks ahead by a metre with each decision that it remembers."""
    player.memory.notes[0] += 1.0  # type: ignore[index]
    go_to(player, player.memory.notes[0], 0.0, 0.0)


def _games(left: str | CompiledDecide, right: str, seconds: float) -> BehaviourGames:
    games = BehaviourGames(RULES, left=left, right=right, seeds=[1, 2, 3], players=3)
    games.run(seconds)
    return games


def _chaser() -> CompiledDecide:
    found = load_function(CHASER)
    assert is_compiled(CHASER)
    return found  # type: ignore[return-value]


def test_a_compiled_function_that_plays_as_a_strategy_does_gets_the_same_games() -> None:
    own, theirs = _games(as_roles, "everyone-chases", 40.0), _games("roles", "everyone-chases", 40.0)
    assert own.results() == theirs.results()
    assert own.world.state.pose.tolist() == theirs.world.state.pose.tolist()


def test_a_compiled_function_plays_alone_as_it_does_among_others() -> None:
    many = _games(_chaser(), "roles", 30.0)
    with BehaviourGame(RULES, seed=2, left="chasers", right="others") as game:
        loop = GameLoop(game, game.team("chasers", _chaser(), 3) | game.team("others", strategy_decide("roles"), 3))
        loop.run(300)
        assert game.world.state.ball[0].tolist() == many.world.state.ball[1].tolist()
        assert game.world.state.pose[0].tolist() == many.world.state.pose[1].tolist()


def test_a_compiled_chaser_beats_statues() -> None:
    found = _games(_chaser(), "statue", 120.0).results()
    assert sum(one.goals[0] - one.goals[1] for one in found) >= 3


def test_a_compiled_function_remembers_numbers() -> None:
    games = _games(counter, "statue", 30.0)
    notes = games._table.memories["notes"][:, :, 0]
    assert (notes[:, :3] > 20).all()
    assert (notes[:, 11:] == 0.0).all()


def test_a_function_that_numba_cannot_compile_says_so() -> None:
    @compiled()
    def broken(player: PlayerContext) -> None:
        player.order.legs = {"walk": object()}  # type: ignore[assignment]

    with pytest.raises(UsageError, match="broken cannot be compiled"):
        _games(broken, "statue", 1.0)
