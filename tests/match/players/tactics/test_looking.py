"""Where players look."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nutmeg.match.players.belief import BallBelief, Belief, Others, Pose
from nutmeg.match.players.skills import look_around
from nutmeg.match.players.tactics.looking import look
from nutmeg.match.players.tracking.league_sight import HALF_VIEW, YAW_LIMIT
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.worlds.behavioural.state import Legs


def believing(
    *,
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0),
    spread: float = 0.01,
    ball: tuple[float, float] = (3.0, 1.0),
    ball_spread: float = 0.02,
    seen_ago: float = 0.0,
    time: float = 0.0,
) -> Belief:
    nobody = Others(
        places=np.full((11, 2), np.nan),
        velocities=np.zeros((11, 2)),
        ages=np.full(11, np.inf),
        fallen=np.zeros(11, bool),
    )
    return Belief(
        time=time,
        me=Pose(x=pose[0], y=pose[1], heading=pose[2], spread=spread, heading_spread=0.001),
        ball=BallBelief(
            place=np.array(ball),
            height=0.042,
            velocity=np.zeros(2),
            spread=ball_spread,
            seen_ago=seen_ago,
            heard_ago=math.inf,
        ),
        mates=nobody,
        opponents=nobody,
        upright=True,
    )


def test_who_knows_where_it_is_looks_at_the_ball() -> None:
    assert look_around(believing()).yaw == pytest.approx(math.atan2(1.0, 3.0))
    assert look_around(believing(pose=(0.0, 0.0, 1.0))).yaw == pytest.approx(math.atan2(1.0, 3.0) - 1.0)


def test_a_ball_behind_is_looked_at_as_far_as_the_neck_turns() -> None:
    assert look_around(believing(ball=(-3.0, 0.1))).yaw == pytest.approx(YAW_LIMIT)


def test_a_ball_at_the_feet_is_in_view() -> None:
    found = look_around(believing(ball=(0.15, 0.05)))
    assert -math.pi / 4 <= found.pitch
    assert found.pitch - HALF_VIEW < -math.atan2(0.45, 0.15)


def test_who_is_unsure_of_its_place_turns_to_landmarks_and_keeps_the_ball_in_view() -> None:
    here = (13.0, 0.0, math.pi)  # the goal is behind, and nothing ahead is near
    ball = (12.0, 2.0)
    found = look_around(believing(pose=here, ball=ball, spread=0.1))
    bearing = math.atan2(math.sin(math.atan2(2.0, -1.0) - math.pi), math.cos(math.atan2(2.0, -1.0) - math.pi))
    assert abs(found.yaw - bearing) > 0.2
    assert abs(found.yaw - bearing) < HALF_VIEW - 0.1


def test_who_is_about_to_kick_sees_nothing_but_the_ball(new_toy: Callable[..., Any]) -> None:
    toy = new_toy(1)
    toy.pose[0, 0] = (13.0, 0.0, math.pi)
    for seconds, ball, only in ((1.0, (12.6, 0.1), True), (2.0, (10.0, 2.0), False)):
        toy.time = seconds
        toy.order(PlayMode.PLAY_ON, ball)
        player = toy.context(Side.LEFT, 0)
        player.belief.spread = 0.1
        look(player)
        bearing = math.atan2(ball[1], ball[0] - 13.0) - math.pi
        assert (abs(math.remainder(player.order.yaw - bearing, math.tau)) < 1e-6) is only


@pytest.mark.parametrize("lost", [{"seen_ago": 9.0}, {"ball_spread": 3.0}, {"spread": 5.0}])
def test_who_has_lost_the_ball_or_itself_looks_everywhere(lost: dict[str, float]) -> None:
    yaws = [look_around(believing(time=0.02 * k, **lost)).yaw for k in range(80)]  # type: ignore[arg-type]
    assert min(yaws) < -1.7
    assert max(yaws) > 1.7
    assert np.abs(np.diff(yaws)).max() < 6.1 * 0.02  # the neck can follow


def test_who_walks_looks_where_it_goes_and_glances_at_a_ball_behind(new_toy: Callable[..., Any]) -> None:
    toy = new_toy(2)
    toy.run(0.1)
    toy.order(PlayMode.PLAY_ON, (-6.0, -4.0))
    toy.pose[0, 0] = (0.0, 0.0, 0.0)
    player = toy.context(Side.LEFT, 0)
    order, belief = player.order, player.belief
    order.legs, order.ahead, order.left = Legs.WALK, 0.8, 0.0
    for seen_ago, ahead in ((0.1, True), (0.9, False)):
        belief.seen_ago = belief.heard_ago = seen_ago
        player.game.number, belief.spread = 2, 0.01
        look(player)
        assert bool(abs(order.yaw) < HALF_VIEW) is ahead
    order.ahead, belief.seen_ago = 0.0, 0.1
    look(player)
    assert abs(order.yaw) > HALF_VIEW  # who stands looks at the ball
