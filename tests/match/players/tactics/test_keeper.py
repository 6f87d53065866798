"""The goalkeeper."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nutmeg.match.players.request import Dive
from nutmeg.match.rules.play_modes import PlayMode, Side

NewToy = Callable[..., Any]


def toy_with_ball(new_toy: NewToy, ball: tuple[float, float], velocity: tuple[float, float] = (0.0, 0.0)) -> Any:
    """Two a side; the field players are far away."""
    toy = new_toy(2)
    toy.run(2.2)
    toy.order(PlayMode.PLAY_ON, ball)
    toy.pose[0, 0], toy.pose[0, 1], toy.pose[1, 1] = (-14.2, 0.0, 0.0), (10.0, 6.0, 0.0), (10.0, -6.0, 0.0)
    toy.ball_velocity = np.array(velocity)
    return toy


@pytest.mark.parametrize("ball", [(-8.0, 4.0), (-8.0, -4.0), (0.0, 0.0)])
def test_the_keeper_stays_between_ball_and_goal(new_toy: NewToy, ball: tuple[float, float]) -> None:
    toy = toy_with_ball(new_toy, ball)
    toy.pose[1, 1] = (ball[0] + 0.5, ball[1], math.pi)
    toy.run(1.0)
    toy.ball, toy.ball_velocity = np.array(ball), np.zeros(2)
    x, y = toy.places(Side.LEFT)[0]
    assert -15.0 < x < -13.5
    assert abs(y) < 1.05
    on_line = ball[1] * (x + 15.0) / (ball[0] + 15.0)
    assert y == pytest.approx(on_line, abs=0.4)


@pytest.mark.parametrize(("side", "aim"), [("left", 0.6), ("right", -0.6)])
def test_the_keeper_dives_for_a_fast_ball_beside_it(new_toy: NewToy, side: str, aim: float) -> None:
    toy = toy_with_ball(new_toy, (-12.0, 0.0))
    toy.run(0.02)
    toy.ball_velocity = np.array([-4.0, 4.0 * aim / 2.9])
    dives = []
    toy.run(0.8, lambda: dives.append(toy.requests[Side.LEFT, 0].legs))
    found = [legs for legs in dives if isinstance(legs, Dive)]
    assert [legs.side for legs in found] == [side]


@pytest.mark.parametrize("velocity", [(-1.5, 0.0), (-3.0, 3.0), (3.0, 0.0)])
def test_the_keeper_does_not_dive_for_balls_that_will_not_go_in(new_toy: NewToy, velocity: tuple[float, float]) -> None:
    toy = toy_with_ball(new_toy, (-11.0, 0.5), velocity)
    dives = []
    toy.run(1.0, lambda: dives.append(isinstance(toy.requests[Side.LEFT, 0].legs, Dive)))
    assert not any(dives)


def test_the_keeper_clears_a_slow_ball_before_its_goal(new_toy: NewToy) -> None:
    toy = toy_with_ball(new_toy, (-13.0, 0.8))
    toy.run(8.0)
    assert toy.ball[0] > -12.0
    assert toy.state.score == (0, 0)
