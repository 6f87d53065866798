"""Walking to places around others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nutmeg.match.players.request import Kick
from nutmeg.match.players.tactics.walking import STANDING_ROOM_SHARE, at_ease, out_of_goal, walk_to, without_bumping
from nutmeg.match.rules.decisions import PlaceBall
from nutmeg.match.rules.play_modes import PlayMode, Side

NewToy = Callable[..., Any]


def alone(new_toy: NewToy, ball: tuple[float, float], *, opponents: int = 0, strategy: str = "builtin") -> Any:
    """One player with the ball in play and opponents who stand still."""
    toy = new_toy(1, strategy=strategy)
    toy.run(0.1)
    toy.present[1] = False
    toy.present[1, :opponents] = True
    del toy.tacticians[Side.RIGHT, 0]
    toy.order(PlayMode.PLAY_ON, ball)
    return toy


@pytest.mark.parametrize("beside", [0.0, 0.1, -0.2])
def test_a_player_walks_around_who_is_in_its_way(new_toy: NewToy, beside: float) -> None:
    toy = alone(new_toy, (4.0, 0.0), opponents=1)
    toy.pose[0, 0], toy.pose[1, 0] = (0.0, 0.0, 0.0), (2.0, beside, math.pi)
    gaps = []
    toy.run(6.0, lambda: gaps.append(math.dist(toy.pose[0, 0, :2], toy.pose[1, 0, :2])))
    assert min(gaps) > 0.4
    assert toy.pose[0, 0, 0] > 3.0


def test_who_is_behind_the_goal_line_comes_back_over_it_before_it_passes_the_goal(new_toy: NewToy) -> None:
    toy = alone(new_toy, (9.0, 0.0))
    toy.pose[0, 0] = (-15.3, 1.6, 0.0)
    player = toy.context(Side.LEFT, 0)
    assert out_of_goal(player, -14.2, 0.0) == pytest.approx((-14.5, 1.6))
    assert out_of_goal(player, -12.0, 3.0) == (-12.0, 3.0)
    toy.pose[0, 0] = (-15.3, 0.9, 0.0)
    player = toy.context(Side.LEFT, 0)
    assert out_of_goal(player, -14.0, 3.0) == pytest.approx((-14.5, 0.75))
    assert out_of_goal(player, -14.0, 0.0) == (-14.0, 0.0)


def test_a_player_walks_around_two_in_its_way_and_not_into_the_second(new_toy: NewToy) -> None:
    toy = alone(new_toy, (4.0, 0.0), opponents=2)
    toy.pose[0, 0] = (0.0, 0.0, 0.0)
    toy.pose[1, 0], toy.pose[1, 1] = (1.2, 0.1, math.pi), (1.1, -0.6, math.pi)
    gaps = []
    toy.run(8.0, lambda: gaps.append(np.hypot(*(toy.pose[1, :2, :2] - toy.pose[0, 0, :2]).T).min()))
    assert min(gaps) > 0.4
    assert toy.pose[0, 0, 0] > 3.0


@pytest.mark.parametrize("ball", [(14.8, 0.93), (14.95, 1.3), (14.9, 0.85), (-14.85, 0.9), (-14.85, -1.25)])
def test_a_ball_at_a_goal_post_is_played_without_walking_into_the_post(
    new_toy: NewToy, ball: tuple[float, float]
) -> None:
    toy = alone(new_toy, ball)
    x, y = math.copysign(15.0, ball[0]), math.copysign(1.05, ball[1])
    for start in ((ball[0] - math.copysign(0.5, ball[0]), ball[1]), (ball[0], ball[1] + math.copysign(0.5, ball[1]))):
        toy.order(PlayMode.PLAY_ON, ball)
        toy.pose[0, 0] = (*start, 0.0)
        gaps: list[float] = []
        toy.run(10.0, lambda gaps=gaps: gaps.append(math.dist(toy.pose[0, 0, :2], (x, y))))
        assert min(gaps) > 0.18
        assert math.dist(toy.ball, ball) > 0.5 or toy.state.score != (0, 0)
        assert toy.state.score[1] == 0, "nobody plays the ball into the own goal"
        toy.carry_out((PlaceBall(place=(0.0, 0.0)),))


def test_nobody_walks_into_somebody_close(new_toy: NewToy) -> None:
    toy = alone(new_toy, (9.0, 0.0), opponents=1)
    toy.pose[0, 0], toy.pose[1, 0] = (0.0, 0.0, 0.0), (0.25, 0.0, 0.0)
    player = toy.context(Side.LEFT, 0)
    contact, brake = STANDING_ROOM_SHARE * player.ground.body.contact_distance, player.traits.brake_time
    assert without_bumping(player, 0.5, 0.2, 0.55) == pytest.approx(((0.25 - contact) / brake, 0.2))
    assert without_bumping(player, -0.5, 0.2, 0.55) == (-0.5, 0.2)


def test_a_player_slows_down_before_it_touches_an_opponent_who_is_nearer_to_the_ball(new_toy: NewToy) -> None:
    toy = alone(new_toy, (1.5, 0.0), opponents=1)
    toy.pose[0, 0], toy.pose[1, 0] = (0.0, 0.0, 0.0), (0.7, 0.0, 0.0)
    player = toy.context(Side.LEFT, 0)
    contact, brake = STANDING_ROOM_SHARE * player.ground.body.contact_distance, player.traits.brake_time
    assert without_bumping(player, 1.0, 0.2, 0.2) == pytest.approx(((0.7 - contact) / brake, 0.2))
    player.memory.goes = True
    assert without_bumping(player, 1.0, 0.2, 0.2)[0] == pytest.approx((0.7 - contact) / brake)
    toy.pose[1, 0, 0] = contact + 0.03
    player = toy.context(Side.LEFT, 0)
    assert without_bumping(player, 1.0, 0.2, 0.2)[0] == pytest.approx(player.traits.contact_speed)


def test_a_player_brakes_for_where_others_go_and_not_for_where_they_are(new_toy: NewToy) -> None:
    toy = alone(new_toy, (1.5, 0.0), opponents=1)
    toy.pose[0, 0], toy.pose[1, 0] = (0.0, 0.0, 0.0), (0.7, 0.0, 0.0)
    player = toy.context(Side.LEFT, 0)
    other, contact, brake = player.belief.others[11], player.ground.body.contact_distance, player.traits.brake_time
    other.vx, other.vy = 1.0, 0.0  # it runs away
    assert without_bumping(player, 1.0, 0.0, 0.2) == (1.0, 0.0)
    other.vx, other.vy = -0.3, 0.0  # it comes nearer by itself
    assert without_bumping(player, 1.0, 0.0, 0.2)[0] == pytest.approx((0.7 - contact) / brake - 0.3)
    other.vx, other.vy = 0.0, 1.0  # it crosses, and will be gone
    assert without_bumping(player, 0.8, 0.0, 0.2) == (0.8, 0.0)


def test_a_player_steps_back_from_the_feet_of_an_opponent_who_is_nearer_to_the_ball(new_toy: NewToy) -> None:
    toy = alone(new_toy, (0.6, 0.0), opponents=1)
    toy.pose[0, 0], toy.pose[1, 0] = (0.0, 0.0, 0.0), (0.3, 0.0, 0.0)
    player = toy.context(Side.LEFT, 0)
    player.memory.goes = True
    contact, brake = STANDING_ROOM_SHARE * player.ground.body.contact_distance, player.traits.brake_time
    assert without_bumping(player, 1.0, 0.1, 0.2) == pytest.approx(((0.3 - contact) / brake, 0.1))


def test_a_player_who_is_first_at_the_ball_does_not_wait_for_an_opponent(new_toy: NewToy) -> None:
    toy = alone(new_toy, (0.2, 0.0), opponents=1)
    toy.pose[0, 0], toy.pose[1, 0] = (0.0, 0.0, 0.0), (0.5, 0.0, math.pi)
    player = toy.context(Side.LEFT, 0)
    player.memory.goes, player.memory.dribbling, speed = True, True, player.traits.duel_speed
    assert without_bumping(player, 1.0, 0.2, 0.2) == pytest.approx((speed, 0.2))
    player.belief.others[11].vx = -1.0  # not even for one that runs at it
    assert without_bumping(player, 1.0, 0.2, 0.2) == pytest.approx((speed, 0.2))


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_player_passes_behind_who_crosses_its_way(new_toy: NewToy, side: float) -> None:
    toy = alone(new_toy, (4.0, 0.0), opponents=1)
    toy.pose[0, 0], toy.pose[1, 0] = (0.0, 0.0, 0.0), (1.3, -0.1 * side, 0.0)
    player = toy.context(Side.LEFT, 0)
    player.belief.others[11].vy = 0.5 * side
    player.memory.swerve = 0
    for _ in range(10):  # velocities that are asked for do not jump
        walk_to(player, 4.0, 0.0, 0.0, at_ease(player, 0.0))
    assert math.copysign(1.0, player.order.turn) == -side


def test_a_free_ball_before_the_goal_is_kicked_straight_at_it(new_toy: NewToy) -> None:
    toy = alone(new_toy, (13.2, 0.4), strategy="patient")
    toy.pose[0, 0] = (12.5, 0.3, 0.2)
    kicks = []

    def look() -> None:
        if isinstance(toy.requests[Side.LEFT, 0].legs, Kick):
            kicks.append(toy.pose[0, 0, 2])

    toy.run(6.0, look)
    assert kicks
    assert np.abs(kicks).max() < 0.4
    assert toy.state.score == (1, 0)
