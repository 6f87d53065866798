"""Where the ball is played: at the goal, to who is free, and neither out nor into opponents."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from nutmeg.match.players.request import Dribble, Kick
from nutmeg.match.players.tactics.ball_play import (
    PENALTY_ANGLE,
    PENALTY_LINE_UP_TIME,
    PENALTY_PATIENCE,
    SHOT_WORTH,
    Aim,
    dribble,
    fits,
    has_time,
    strike,
    worth,
)
from nutmeg.match.players.tactics.records import Phase, PlayerContext
from nutmeg.match.players.tactics.tactician import request_of
from nutmeg.match.rules.play_modes import KICK_OFFS, PASSES, PlayMode, Side

NewToy = Callable[..., Any]
FAR_OFF = (-14.0, 9.0, 0.0)


def with_ball(
    new_toy: NewToy,
    ball: tuple[float, float],
    mode: PlayMode = PlayMode.PLAY_ON,
    delay: float = 0.0,
    strategy: str = "patient",
) -> Any:
    """Three a side, far off; number 2 is behind the ball and looks ahead; a kick holds players up for `delay`, s."""
    toy = new_toy(3, strategy=strategy)
    for tactician in toy.tacticians.values():
        tactician.records.traits["kick_delay"] = delay
    toy.run(0.1)
    toy.order(mode, ball)
    for n in range(3):
        toy.pose[0, n], toy.pose[1, n] = FAR_OFF, (14.0, -9.0 + n, math.pi)
    toy.pose[0, 1] = (ball[0] - 0.3, ball[1], 0.0)
    return toy


def seen(toy: Any) -> PlayerContext:
    found: PlayerContext = toy.context(Side.LEFT, 1)
    return found


def aim(toy: Any) -> float:
    """Where number 2 wants to play the ball."""
    toy.time += 5.0  # long enough to think again
    return float(seen(toy).memory.aim)


def test_a_shot_at_an_open_goal_is_worth_most_and_one_at_the_keeper_less(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (12.0, 0.0))
    assert worth(seen(toy), 0.0, 4.4) > SHOT_WORTH
    toy.pose[1, 0] = (14.2, 0.0, math.pi)
    assert worth(seen(toy), 0.0, 4.4) < 3.0
    toy = with_ball(new_toy, (12.6, 0.0))
    toy.pose[1, 0] = (14.2, 0.0, math.pi)
    assert 0.1 < abs(aim(toy)) < 0.4, "past the keeper, between the posts"


def test_a_shot_of_a_kick_that_spreads_is_worth_less_from_farther_away_and_near_a_post(new_toy: NewToy) -> None:
    def shot(away: float, angle: float, spread: float) -> float:
        toy = with_ball(new_toy, (15.0 - away, 0.0))
        toy.tacticians[Side.LEFT, 1].records.grounds["body"]["kick"]["spread"] = spread
        return worth(seen(toy), angle, 4.4)

    assert shot(1.5, 0.0, 0.3) == pytest.approx(shot(1.5, 0.0, 0.0) - 12.0 * 0.0176, abs=0.05)  # 2.4 deviations
    assert shot(3.0, 0.0, 0.3) < shot(3.0, 0.0, 0.1) < shot(3.0, 0.0, 0.0)
    assert shot(3.0, 0.25, 0.2) < shot(3.0, 0.0, 0.2)
    assert shot(3.0, 0.25, 0.0) == pytest.approx(shot(3.0, 0.0, 0.0), abs=0.5)


@pytest.mark.parametrize("side", [1, -1])
def test_a_kick_goes_to_where_a_team_mate_is_first(new_toy: NewToy, side: int) -> None:
    toy = with_ball(new_toy, (0.0, 0.0))
    toy.pose[0, 2] = (3.6, side * 2.0, 0.0)
    toy.pose[1, 1] = (3.9, side * -1.0, math.pi)
    assert aim(toy) * side > 0.2


def test_who_could_run_on_with_the_ball_stops_for_shots_alone(new_toy: NewToy) -> None:
    for ball, delay, kicks in (((0.0, 0.0), 0.0, True), ((0.0, 0.0), 9.0, False), ((12.6, 0.0), 9.0, True)):
        memory = seen(with_ball(new_toy, ball, delay=delay)).memory
        assert bool(memory.aim_reach > 1.5) is kicks


def test_who_does_not_kick_in_play_shoots_near_an_open_goal_if_its_strategy_does(new_toy: NewToy) -> None:
    for ball, shot_range, shoots in (((10.5, 0.0), 0.0, False), ((10.5, 0.0), 6.0, True), ((7.0, 0.0), 6.0, False)):
        toy = with_ball(new_toy, ball, strategy="builtin")
        toy.tacticians[Side.LEFT, 1].records.traits["shot_range"] = shot_range
        asked = set()
        for _ in range(100):
            toy.cycle()
            legs = toy.requests[Side.LEFT, 1].legs
            asked |= {legs.kind} if isinstance(legs, Kick) else set()
        assert asked == ({"shot"} if shoots else set())


def test_driving_the_ball_past_an_opponent_who_stands_off_is_worth_more_than_into_it_or_away(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (0.0, 0.0), strategy="builtin")
    toy.pose[1, 1] = (1.2, 0.0, math.pi)
    past, into, away = (worth(seen(toy), angle, 1.5) for angle in (0.4, 0.0, 2.4))
    assert past > into
    assert past > away


def test_nobody_plays_the_ball_out_or_towards_the_own_goal(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (2.0, 9.3))
    assert worth(seen(toy), 0.5, 4.4) < worth(seen(toy), -0.3, 4.4)
    assert worth(seen(toy), math.pi, 4.4) < 0.0
    assert abs(aim(toy)) < 1.0


def test_there_is_time_for_a_kick_only_while_opponents_are_away(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (0.0, 0.0))
    assert has_time(seen(toy), 0.0, 0.0)
    toy.pose[1, 1] = (0.6, 0.0, math.pi)
    assert not has_time(seen(toy), 0.0, 0.0)
    toy.pose[1, 1] = (-0.7, 0.0, 0.0)
    assert has_time(seen(toy), 0.0, 0.0), "it has to come around"
    toy.pose[1, 1] = (0.6, 0.0, math.pi)
    toy.upright[1, 1] = False
    assert has_time(seen(toy), 0.0, 0.0)
    context = seen(toy)
    context.ground.body.can_kick = False  # type: ignore[misc]
    assert not has_time(context, 0.0, 0.0)


def test_a_shot_is_dared_with_opponents_nearer_than_another_kick(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (12.5, 0.0))
    toy.pose[1, 1] = (12.5, 0.7, math.pi)
    context = seen(toy)
    context.memory.kick_since = math.nan
    assert not has_time(context, 0.0, 0.0)
    assert has_time(context, 0.0, worth(context, 0.0, 4.4))
    toy.pose[1, 1] = (12.5, 0.3, math.pi)
    context = seen(toy)
    context.memory.kick_since = math.nan
    assert not has_time(context, 0.0, worth(context, 0.0, 4.4))


def test_a_ball_for_which_there_is_no_time_is_walked_on_straight_rather_than_kicked(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (0.0, 0.0))
    toy.pose[1, 1] = (0.3, 0.5, math.pi)
    toy.cycle()
    memory = toy.tacticians[Side.LEFT, 1].memory
    assert memory.aim_reach == seen(toy).ground.body.push
    assert abs(memory.aim) < 0.7


def test_a_ball_that_the_keeper_would_get_is_not_played_to_it(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (9.6, 0.0))
    toy.pose[1, 0] = (14.1, 0.0, math.pi)
    assert worth(seen(toy), 0.0, 4.4) < worth(seen(toy), 0.0, seen(toy).ground.body.push)


def test_pass_mode_is_asked_for_with_opponents_near_and_far_from_their_goal(new_toy: NewToy) -> None:
    for ball, opponent, asks in (
        ((0.0, 0.0), (2.2, 0.0), True),
        ((0.0, 0.0), (6.0, 0.0), False),
        ((10.0, 0.0), (12.2, 0.0), False),
    ):
        toy = with_ball(new_toy, ball)
        toy.pose[1, 1] = (*opponent, math.pi)
        toy.cycle()
        assert toy.requests[Side.LEFT, 1].wants_pass is asks


def test_pass_mode_is_used_to_kick_and_opponents_keep_off(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (0.0, 0.0), PASSES[Side.LEFT])
    toy.pose[1, 1] = (1.6, 0.0, math.pi)
    kicks, gaps = [], []

    def look() -> None:
        kicks.append(isinstance(toy.requests[Side.LEFT, 1].legs, Kick))
        if toy.state.mode is PASSES[Side.LEFT]:
            gaps.append(math.dist(toy.pose[1, 1, :2], toy.ball))

    toy.run(3.0, look)
    assert any(kicks)
    assert min(gaps) > 1.0
    assert toy.ball[0] > 0.8


def test_who_turns_before_the_ball_goes_around_it(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (0.0, 0.0))
    toy.pose[0, 1] = (-0.18, -0.02, 0.0)
    context = seen(toy)
    for _ in range(10):
        context.game.step = 0.02
        assert strike(context, Aim(0.6, 3.0, kicks=True))
    assert context.order.turn > 0.5
    assert context.order.left < -0.05


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_body_with_feet_wide_apart_walks_through_the_ball_with_the_foot_on_whose_side_it_is(
    new_toy: NewToy, side: float
) -> None:
    lefts = []
    for aside in (0.0, 0.15):
        toy = with_ball(new_toy, (0.0, 0.05 * side))
        toy.pose[0, 1] = (-0.4, 0.0, 0.0)
        context = seen(toy)
        context.ground.body.push_aside, context.game.step = aside, 0.02
        for _ in range(5):  # orders change by a limited step at a time
            dribble(context, 0.0)
        lefts.append(side * context.order.left)
    assert lefts[0] > 0.0  # between the feet: it walks to where the ball is
    assert lefts[1] < 0.0  # before a foot: it walks a little past it


def test_a_network_may_dribble_where_the_strategy_says_so_and_nobody_is_in_the_way(new_toy: NewToy) -> None:
    for by_network, opponent, allowed in ((False, FAR_OFF, False), (True, FAR_OFF, True), (True, (0.55, 0.0), False)):
        toy = with_ball(new_toy, (0.2, 0.0), strategy="builtin")
        toy.tacticians[Side.LEFT, 1].records.traits["network_dribbles"] = by_network
        toy.pose[0, 1], toy.pose[1, 1, :2] = (0.0, 0.05, 0.3), opponent[:2]
        context = seen(toy)
        context.belief.ball_vx, context.belief.ball_vy = 0.4, 0.0
        context.game.step, context.memory.dribbling = 0.02, True
        dribble(context, 0.5)
        assert bool(context.order.dribbles) is allowed
        legs = request_of(toy.tacticians[Side.LEFT, 1].records.orders).legs
        assert isinstance(legs, Dribble) is allowed
        if isinstance(legs, Dribble):
            cos, sin = math.cos(0.3), math.sin(0.3)
            assert legs.direction == pytest.approx(0.2, abs=0.02)
            assert legs.ball == pytest.approx((0.2 * cos - 0.05 * sin, -0.05 * cos - 0.2 * sin), abs=0.02)
            assert legs.ball_velocity == pytest.approx((0.4 * cos, -0.4 * sin), abs=1e-6)
            assert legs.ahead > 0.0, "a body without a network walks"


def test_the_player_of_a_penalty_stays_behind_the_ball_before_its_last_steps(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (9.0, 0.0), KICK_OFFS[Side.LEFT])
    context = seen(toy)
    context.game.phase, context.memory.shoot_out = Phase.KICK_OFF, True
    context.ground.body.stop_linear = 0.02
    kick, asked = context.ground.body.kick, []
    for since in (0.0, PENALTY_LINE_UP_TIME + 0.1):
        context.belief.x = context.belief.ball_x - kick.place[0] - 0.1
        context.belief.y = context.belief.ball_y - kick.place[1]
        context.belief.heading = context.memory.ahead = context.memory.left = context.memory.turn = 0.0
        context.memory.kick_since, context.memory.foot = context.game.time - since, 1.0
        context.game.step = 0.02
        assert strike(context, Aim(0.0, kick.reach, kicks=True))
        asked.append(float(context.order.ahead))
    assert asked[0] < 0.0 < asked[1]


def test_a_penalty_waits_until_the_player_stands_exactly_behind_the_ball_but_not_for_ever(new_toy: NewToy) -> None:
    toy = with_ball(new_toy, (9.0, 0.0), KICK_OFFS[Side.LEFT])
    context = seen(toy)
    context.game.phase, context.memory.shoot_out, context.memory.turn = Phase.KICK_OFF, True, 0.0
    for age, turned, turn, good in (
        (5.0, PENALTY_ANGLE - 0.01, 0.0, True),
        (5.0, PENALTY_ANGLE + 0.01, 0.0, False),
        (5.0, PENALTY_ANGLE - 0.01, 0.5, False),
        (PENALTY_PATIENCE + 1.0, PENALTY_ANGLE + 0.01, 0.5, True),
    ):
        context.game.mode_age, context.memory.turn = age, turn
        assert fits(context, 0.0, turned, context.ground.body.shot.reach) is good
