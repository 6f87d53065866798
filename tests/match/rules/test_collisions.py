"""Touching and charging."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nutmeg.match.rules.book import Foul
from nutmeg.match.rules.play_modes import PlayMode, Side

LEFT, RIGHT = Side.LEFT, Side.RIGHT


def fouls(decisions: list[Any], tools: Any) -> list[tuple[Foul, Side, int]]:
    return [(e.foul, e.side, e.number) for e in tools.events(decisions, "foul")]


def meet(game: Any, *pairs: tuple[tuple[Side, int], tuple[Side, int]], times: int = 1, **speeds: Any) -> list[Any]:
    """Players touch each other in the middle between them; speeds by `left7=(vx, vy)`, also for three cycles before."""
    contacts = np.array([[(s, n - 1) for s, n in pair] for pair in pairs])
    places = np.array([game.position[tuple(c.T)][:, :2].mean(axis=0) for c in contacts])
    velocity = np.zeros((2, 11, 2))
    for name, speed in speeds.items():
        velocity[int(name.startswith("right")), int(name.removeprefix("left").removeprefix("right")) - 1] = speed
    game.cycle(times=3 if speeds else 0, velocity=velocity)
    return list(game.cycle(times=times, contacts=contacts, contact_places=places, velocity=velocity))


@pytest.fixture
def apart(live: Any) -> Any:
    """The ball is far away, and nobody has been moved for a while."""
    live.put_ball(-9.0, -8.0)
    live.seconds(1.5)
    return live


def test_two_may_touch_and_the_third_of_the_larger_side_has_to_go(apart: Any, tools: Any) -> None:
    apart.put(LEFT, 5, 3.0, 0.0)
    apart.put(RIGHT, 5, 3.3, 0.0)
    apart.put(LEFT, 6, 2.7, 0.0)
    assert fouls(meet(apart, ((LEFT, 5), (RIGHT, 5)), times=5), tools) == []
    heard = meet(apart, ((LEFT, 5), (RIGHT, 5)), ((LEFT, 6), (LEFT, 5)))
    assert fouls(heard, tools) == [(Foul.TOUCHING, LEFT, 6)]
    assert tools.moves(heard)[0].place[0] < 2.7


def test_goalies_are_not_called_for_touching(apart: Any, tools: Any) -> None:
    apart.put(LEFT, 5, 3.0, 0.0)
    apart.put(RIGHT, 5, 3.3, 0.0)
    apart.put(LEFT, 1, 2.7, 0.0)
    meet(apart, ((LEFT, 5), (RIGHT, 5)))
    heard = meet(apart, ((LEFT, 5), (RIGHT, 5)), ((LEFT, 1), (LEFT, 5)))
    assert fouls(heard, tools) == [(Foul.TOUCHING, LEFT, 5)]


def test_who_runs_into_a_standing_opponent_charges_and_is_sent_out(apart: Any, tools: Any) -> None:
    apart.put(LEFT, 5, 3.0, 0.0)
    apart.put(RIGHT, 5, 3.3, 0.0)
    heard = meet(apart, ((LEFT, 5), (RIGHT, 5)), times=5, left5=(0.6, 0.0))
    assert fouls(heard, tools) == [(Foul.CHARGING, LEFT, 5)]
    apart.seconds(0.6)
    assert abs(apart.place_of(LEFT, 5)[1]) == pytest.approx(10.5)


def test_slow_players_and_those_who_run_past_do_not_charge(apart: Any, tools: Any) -> None:
    apart.put(LEFT, 5, 3.0, 0.0)
    apart.put(RIGHT, 5, 3.3, 0.0)
    assert fouls(meet(apart, ((LEFT, 5), (RIGHT, 5)), times=5, left5=(0.3, 0.0)), tools) == []
    assert fouls(meet(apart, ((LEFT, 5), (RIGHT, 5)), times=5, left5=(0.05, 0.6)), tools) == []


def test_if_both_run_into_each_other_nobody_charges(apart: Any, tools: Any) -> None:
    apart.put(LEFT, 5, 3.0, 0.0)
    apart.put(RIGHT, 5, 3.3, 0.0)
    heard = meet(apart, ((LEFT, 5), (RIGHT, 5)), times=10, left5=(0.6, 0.0), right5=(-0.6, 0.0))
    assert fouls(heard, tools) == []


def test_who_runs_for_the_ball_does_not_charge(apart: Any, tools: Any) -> None:
    apart.put(LEFT, 5, 3.0, 0.0)
    apart.put(RIGHT, 5, 3.3, 0.1)
    apart.put_ball(3.15, -0.1)
    speeds = {"left5": (0.5, -0.3), "right5": (0.0, -0.5)}
    assert fouls(meet(apart, ((LEFT, 5), (RIGHT, 5)), times=5, **speeds), tools) == []
    apart.put_ball(-9.0, -8.0)
    apart.seconds(1.0)
    assert fouls(meet(apart, ((LEFT, 5), (RIGHT, 5)), times=5, **speeds), tools) == [(Foul.CHARGING, LEFT, 5)]


def test_of_two_who_run_for_the_ball_the_farther_one_charges(apart: Any, tools: Any) -> None:
    apart.put(LEFT, 5, 3.0, 0.0)
    apart.put(RIGHT, 5, 3.3, 0.1)
    apart.put_ball(3.3, -0.1)
    heard = meet(apart, ((LEFT, 5), (RIGHT, 5)), times=5, left5=(0.6, -0.2), right5=(0.0, -0.5))
    assert fouls(heard, tools) == [(Foul.CHARGING, LEFT, 5)]


def test_a_goalie_in_its_area_and_a_player_who_was_just_moved_do_not_charge(apart: Any, tools: Any) -> None:
    apart.put(LEFT, 1, -14.0, 0.0)
    apart.put(RIGHT, 5, -13.7, 0.0)
    assert fouls(meet(apart, ((LEFT, 1), (RIGHT, 5)), times=5, left1=(0.6, 0.0)), tools) == []
    apart.order(PlayMode.FREE_KICK_RIGHT)
    apart.seconds(1.1)
    x, y = apart.place_of(LEFT, 8)
    apart.put(LEFT, 8, apart.state.place[0] + 0.5, apart.state.place[1])
    apart.cycle()
    assert apart.place_of(LEFT, 8) != (x, y)
    apart.order(PlayMode.PLAY_ON)
    apart.put(RIGHT, 8, apart.place_of(LEFT, 8)[0] + 0.3, apart.place_of(LEFT, 8)[1])
    assert fouls(meet(apart, ((LEFT, 8), (RIGHT, 8)), times=5, left8=(0.6, 0.0)), tools) == []


def test_team_mates_may_collide(apart: Any, tools: Any) -> None:
    apart.put(LEFT, 5, 3.0, 0.0)
    apart.put(LEFT, 6, 3.3, 0.0)
    assert fouls(meet(apart, ((LEFT, 5), (LEFT, 6)), times=5, left5=(0.9, 0.0)), tools) == []
