"""How fast the behavioural world plays: many matches at once with compiled players, and one with players in Python.

Both are matches of four against four on `spl2011` with symbolic vision, trackers, messages and the referee: everything
that `BehaviourGames` and `BehaviourGame` do. One thread; the best turn counts.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from nutmeg.benchmark.row import Row
from nutmeg.match.behaviour.game import BehaviourGame
from nutmeg.match.behaviour.games import BehaviourGames
from nutmeg.match.behaviour.strategies import strategy_decide
from nutmeg.match.driver import Driver
from nutmeg.match.rules import load_rules

if TYPE_CHECKING:
    from collections.abc import Callable

TURNS = 5
MATCHES = 256
WARM_UP, SLICE = 20.0, 1.0
"""Simulated before anything is measured, and in one go [s]."""
TARGET = 2000.0
"""Times real time per core."""
SIDES = ("roles-pass", "roles")


def batched(seconds: float) -> list[Row]:
    """Many matches at once."""
    rules = load_rules("spl2011")
    games = BehaviourGames(rules, left=SIDES[0], right=SIDES[1], seeds=range(MATCHES))
    games.run(WARM_UP)
    value = _best(lambda: len(games.run(SLICE)) * SLICE, seconds)
    return [
        Row(
            name=f"behaviour, {rules.match.players} v {rules.match.players}, symbolic vision, {MATCHES} matches",
            value=value,
            unit="x real time, one core",
            peer="",
            ratio=None,
            target=f">= {TARGET:,.0f}",
            met=value >= TARGET,
        )
    ]


def alone(seconds: float) -> list[Row]:
    """One match with players in Python."""
    rules = load_rules("spl2011")
    game = BehaviourGame(rules, seed=1, left="reds", right="blues")
    players = game.team("reds", strategy_decide(SIDES[0])) | game.team("blues", strategy_decide(SIDES[1]))
    driver = Driver(game, players)
    driver.run(round(WARM_UP * 10))

    def play() -> float:
        driver.run(round(SLICE * 10))
        return SLICE

    value = _best(play, seconds)
    name = f"behaviour, {rules.match.players} v {rules.match.players}, one match, players in Python"
    return [Row(name=name, value=value, unit="x real time, one core", peer="", ratio=None, target="")]


def _best(play: Callable[[], float], seconds: float) -> float:
    """Simulated seconds in a second of the best turn."""
    best = 0.0
    for _ in range(TURNS):
        played, began = 0.0, time.perf_counter()
        while (took := time.perf_counter() - began) < seconds:
            played += play()
        best = max(best, played / took)
    return best
