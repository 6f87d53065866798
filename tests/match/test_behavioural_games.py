"""Many matches at once: each as if it were alone, on any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.match.behavioural_game import BehaviourGame
from nutmeg.match.behavioural_games import BehaviourGames
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules

BOOK = load_rules("spl2011")
RULES = replace(BOOK, shoot_out=replace(BOOK.shoot_out, on=False)).with_match(
    half_length=15.0, wait_before_kick_off=1.0
)


@pytest.mark.parametrize(("left", "right"), [("roles-pass", "kick-anywhere"), ("everyone-chases", "roles")])
def test_a_match_among_others_is_the_one_that_a_single_game_plays(left: str, right: str) -> None:
    games = BehaviourGames(RULES, left=left, right=right, seeds=[5, 3])
    game = BehaviourGame(RULES, seed=3, left="a", right="b")
    driver = GameLoop(game, game.team("a", strategy_decide(left)) | game.team("b", strategy_decide(right)))
    chosen = np.array([0, 1])
    falls = 0
    for _ in range(330):
        driver.cycle()
        games.cycle(chosen)
        falls += sum(event.kind == "fall" for event in game.events)
        for name in ("pose", "posture", "head", "ball"):
            alone, among = getattr(game.world.state, name)[0], getattr(games.world.state, name)[1]
            assert np.array_equal(alone, among), f"{name} at {game.time} s"
        assert game.state.mode is games.states[1].mode
        assert game.state.score == games.states[1].score
    result = games.results()[1]
    assert result.goals == (game.state.score[::-1] if game.swaps else game.state.score)
    assert sum(result.falls) == falls


def test_results_do_not_depend_on_threads_or_on_what_else_is_played() -> None:
    def results(seeds: list[int], threads: int) -> dict[int, object]:
        games = BehaviourGames(RULES, left="roles", right="everyone-aims", seeds=seeds)
        found = games.run(threads=threads)
        assert all(result.over for result in found)
        poses = {seed: row.tobytes() for seed, row in zip(seeds, games.world.state.pose, strict=True)}
        return {result.seed: (result, poses[result.seed]) for result in found}

    one, two = results([1, 2, 3, 4], 1), results([4, 2, 9, 1], 3)
    for seed in (1, 2, 4):
        assert one[seed] == two[seed]


SHORT_GAMES = """
from nutmeg.match.behavioural_games import BehaviourGames
from nutmeg.match.rules.book import load_rules

rules = load_rules("spl2011").with_match(half_length=15.0, wait_before_kick_off=1.0)
games = BehaviourGames(rules, left="roles-pass", right="everyone-aims", seeds=[4, 2, 9])
games.run(12.0, threads=3)
print(games.world.state.pose.tobytes().hex())
"""


def test_matches_read_and_write_no_memory_that_has_been_freed() -> None:
    # glibc fills freed memory, and gives it back at once, so that its use changes the result or ends the process. Other
    # C libraries ignore the setting.
    filled = {"GLIBC_TUNABLES": "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0"}
    ran = [
        subprocess.run(
            [sys.executable, "-c", SHORT_GAMES], env={**os.environ, **more}, capture_output=True, text=True, check=False
        )
        for more in ({}, filled)
    ]
    assert [one.returncode for one in ran] == [0, 0], ran[1].stderr
    assert ran[0].stdout == ran[1].stdout


def test_each_match_may_have_its_own_strategies() -> None:
    games = BehaviourGames(RULES, left=["roles", "statue"], right=["statue", "statue"], seeds=[1, 1])
    games.run(20.0)
    assert games.world.state.ball[1] == pytest.approx([0.0, 0.0], abs=1e-6), "statues leave the ball alone"
    assert np.abs(games.world.state.pose[0] - games.world.state.pose[1]).max() > 0.1


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="roles"):
        BehaviourGames(RULES, left="rolls", right="statue", seeds=[1])
    with pytest.raises(UsageError, match="2 entries for 1 matches"):
        BehaviourGames(RULES, left=["statue", "statue"], right="statue", seeds=[1])
    games = BehaviourGames(RULES.with_match(automatic_kick_off=False), left="statue", right="statue", seeds=[1])
    with pytest.raises(UsageError, match="never end"):
        games.run()
