"""How fast the behavioural world plays: many matches at once with compiled players, and one with players in Python.

Both are matches of four against four on `spl2011` with symbolic vision, trackers, messages and the referee: everything
that `BehaviourGames` and `BehaviourGame` do. Pictures are those of the players' cameras in such a match, 320 x 240.

What counts is processor time of the whole process, with all its threads: so a value is that of one core, also while
other programs run on it. They still cost caches and clock rate; the best of several turns counts.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.benchmark.row import Row
from nutmeg.body.ball import load_ball
from nutmeg.match.behaviour.cameras import Cameras
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
TARGET, PICTURES_TARGET = 2000.0, 100.0
"""Times real time, and pictures a second; per core."""
CORE = "x real time, CPU time of one core"
SIDES = ("roles-pass", "roles")


def batched(seconds: float) -> list[Row]:
    """What is promised: many matches at once, and pictures."""
    return [_matches(seconds), _pictures(seconds)]


def _matches(seconds: float) -> Row:
    rules = load_rules("spl2011")
    games = BehaviourGames(rules, left=SIDES[0], right=SIDES[1], seeds=range(MATCHES))
    games.run(WARM_UP)
    value = _best(lambda: len(games.run(SLICE)) * SLICE, seconds)
    players = rules.match.players
    return Row(
        name=f"behaviour, {players} v {players}, symbolic vision, {MATCHES} matches",
        value=value,
        unit=CORE,
        target=f">= {TARGET:,.0f}",
        met=value >= TARGET,
    )


def _pictures(seconds: float) -> Row:
    """Both cameras of all players of a match, moment after moment."""
    games = BehaviourGames(load_rules("spl2011"), left=SIDES[0], right=SIDES[1], seeds=[1])
    games.run(WARM_UP)
    world, eyes = games.world, games.perception.eyes
    slots = np.flatnonzero(world.state.present[0]).tolist()
    with Cameras(eyes, world.field, load_ball(world.field.ball)) as cameras:

        def draw() -> float:
            games.run(SLICE / 10)
            pictures = cameras.draw(world.state, 0, slots)
            return float(pictures.shape[0] * pictures.shape[1])

        value = _best(draw, seconds)
    return Row(
        name=f"behaviour, pictures of the cameras, {eyes.cameras.width} x {eyes.cameras.height}",
        value=value,
        unit="pictures/s, CPU time of one core",
        target=f">= {PICTURES_TARGET:,.0f}",
        met=value >= PICTURES_TARGET,
    )


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
    return [Row(name=name, value=value, unit=CORE)]


def _best(play: Callable[[], float], seconds: float) -> float:
    """What `play` gives in a second of processor time, in the best turn."""
    best = 0.0
    for _ in range(TURNS):
        played, began = 0.0, time.process_time()
        while (took := time.process_time() - began) < seconds:
            played += play()
        best = max(best, played / took)
    return best
