"""Possession, progress of the ball, shots and expected goals: the rules, and both ways to play a game count alike."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.match.behavioural_game import BehaviourGame
from nutmeg.match.behavioural_games import BehaviourGames
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.registry import read_decide
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.series.ball_control import (
    CHANCE_WEIGHTS,
    SHOT_PAUSE,
    ControlResult,
    controls_result,
    new_controls,
    observe_matches,
)
from nutmeg.match.series.settings import played_out

RULES = load_rules("spl2011").with_match(half_length=20.0, halves=2, automatic_kick_off=True, players=2)


def observed(balls: list[tuple[float, float, float, float]], *, swapped: bool = False) -> ControlResult:
    """A match with one player of each side, at x = -1 and x = 1, and balls with places and velocities in turn."""
    controls = new_controls(RULES.pitch, 1)
    controls["swapped"] = swapped
    position, present = np.zeros((1, SLOTS, 3)), np.zeros((1, SLOTS), bool)
    for slot, x in ((0, -1.0), (SLOTS // 2, 1.0)):
        position[0, slot, 0], present[0, slot] = x, True
    for x, y, vx, vy in balls:
        ball, velocity = np.array([[x, y]]), np.array([[vx, vy]])
        observe_matches(np.zeros(1, np.intp), controls, ball, velocity, position, present)
    return controls_result(controls[0])


def test_the_nearest_player_has_the_ball_and_the_mean_place_is_its_progress() -> None:
    end = RULES.pitch.length / 2
    found = observed([(-0.5, 0.0, 0.0, 0.0)] * 3 + [(0.5, 0.0, 0.0, 0.0)])
    assert found.possession == pytest.approx((0.75, 0.25))
    assert found.progress == pytest.approx((-0.25 / end, 0.25 / end))
    turned = observed([(-0.5, 0.0, 0.0, 0.0)] * 3 + [(0.5, 0.0, 0.0, 0.0)], swapped=True)
    assert (turned.possession, turned.progress) == (found.possession[::-1], found.progress[::-1])
    assert observed([]) == ControlResult()


def test_a_ball_that_would_roll_between_the_posts_is_one_shot() -> None:
    end, post = RULES.pitch.length / 2, RULES.pitch.goal_width / 2
    near = end - 1.0
    shot = (near, 0.0, 2.0, 0.0)
    assert observed([shot, shot]).shots == (1, 0)
    assert observed([shot, shot], swapped=True).shots == (0, 1)
    assert observed([(-near, 0.0, -2.0, 0.0)]).shots == (0, 1)
    assert observed([(near, 0.0, 0.9, 0.0)]).shots == (0, 0), "it would stop before the line"
    assert observed([(near, 0.0, 2.0, 2.2 * post)]).shots == (0, 0), "it would go past the post"
    assert observed([(near, 0.0, -2.0, 0.0)]).shots == (0, 0), "it rolls away"
    pause = [(0.0, 0.0, 0.0, 0.0)] * (round(SHOT_PAUSE / 0.1) + 1)
    assert observed([shot, *pause, shot]).shots == (2, 0)


def test_goals_are_expected_of_who_has_the_ball_near_the_goal_or_rolling_there() -> None:
    end = RULES.pitch.length / 2

    def expected(x: float, speed: float, *, swapped: bool = False) -> tuple[float, float]:
        seconds = 10.0
        return observed([(x, 0.0, speed, 0.0)] * round(seconds / 0.1), swapped=swapped).expected_goals

    # Both teams have a player a metre from the middle, who are as near to a ball there.
    first, second = expected(0.0, 0.0)
    assert first == pytest.approx(second)
    assert first == pytest.approx(1 / (1 + np.exp(-(CHANCE_WEIGHTS[0] + CHANCE_WEIGHTS[1] * end)))), "in ten seconds"
    near = expected(end - 0.5, 0.0)
    assert near[0] > max(0.2, 3 * near[1])
    assert expected(end - 2.0, 2.0)[0] > 1.5 * expected(end - 2.0, 0.0)[0], "it rolls to the goal"
    assert expected(end - 0.5, 0.0, swapped=True) == pytest.approx(near[::-1])
    assert expected(-(end - 0.5), 0.0) == pytest.approx(near[::-1])


def test_compiled_and_single_games_count_alike_over_both_halves() -> None:
    together = BehaviourGames(RULES, left="roles", right="everyone-chases", seeds=[3, 4], players=2).run()
    for one in together:
        with BehaviourGame(RULES, seed=one.seed, left="A", right="B") as game:
            players = game.team("A", read_decide("roles"), 2) | game.team("B", read_decide("everyone-chases"), 2)
            counts = played_out(GameLoop(game, players), ["A", "B"])
        assert sum(one.control.possession) == pytest.approx(1.0)
        assert counts == pytest.approx(
            [
                *(one.goals[0], one.falls[0], one.fouls[0], 0, *one.control.by_team()[0]),
                *(one.goals[1], one.falls[1], one.fouls[1], 0, *one.control.by_team()[1]),
            ]
        )
