"""Teams of the real thing: they sense, decide and walk in the world of a match."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.match.game import Game
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import POLICY_TYPES, by_number, make_team
from nutmeg.match.players.tactics.strategies import strategy
from nutmeg.match.rules.book import MAX_PLAYERS, load_rules
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.rules.slots import SLOTS, check_types
from nutmeg.match.worlds.physical.percept import WITHOUT_TOES, GameView, Percept

RULES = load_rules("sim3d").with_match(automatic_kick_off=True, wait_before_kick_off=2.0)


def test_teams_have_numbers_types_and_names() -> None:
    reds, blues = make_team("final", 3, team="reds", types=(0, 1)), make_team("holonomic", 2)
    assert [(p.team, p.number, p.robot_type) for p in reds] == [("reds", 1, 0), ("reds", 2, 1), ("reds", 3, 0)]
    assert {p.team for p in blues} == {"holonomic"}
    assert [p.robot_type for p in blues] == [0, 0]
    assert [p.robot_type for p in make_team("policy", 2)] == [0, 2]
    assert list(by_number(reds, blues)) == [("reds", 1), ("reds", 2), ("reds", 3), ("holonomic", 1), ("holonomic", 2)]


def test_eleven_players_with_a_policy_have_types_that_the_league_allows() -> None:
    types, present = np.zeros(SLOTS, np.int64), np.zeros(SLOTS, bool)
    for slot, robot_type in enumerate(POLICY_TYPES):
        check_types(types, present, Side.LEFT, robot_type)
        types[slot], present[slot] = robot_type, True
    assert present.sum() == MAX_PLAYERS


def test_a_team_plays_the_strategy_of_its_kind_of_walk_or_the_one_that_is_named() -> None:
    still = np.zeros(3)
    percept = Percept(
        time=0.0,
        game=GameView("BeforeKickOff", 0.0, number=1, side=Side.LEFT),
        gyro=still,
        acc=still,
        angles=np.zeros(WITHOUT_TOES),
        forces=np.full((2, 6), np.nan),
    )
    for walk, named, played in (("final", "", "patient"), ("policy", "", "builtin"), ("final", "builtin", "builtin")):
        (player,) = make_team(walk, 1, strategy=named)
        player.act(percept)
        traits = player.mind.memory["tactics"].records.traits[0]
        assert (traits.brake_time, traits.kicks) == (strategy(played).brake_time, strategy(played).kicks)


def test_what_no_team_can_be_is_refused() -> None:
    with pytest.raises(UsageError, match="a team of 12 cannot play"):
        make_team("final", 12)
    with pytest.raises(UnknownNameError, match="unknown walk 'fnal'"):
        make_team("fnal", 1)
    team = make_team("final", 1)
    with pytest.raises(UsageError, match="both teams are called 'final'"):
        by_number(team, team)


def test_two_a_side_line_up_know_where_they_are_and_hear_each_other() -> None:
    game = Game(RULES, seed=3, left="reds", right="blues", seats=4)
    reds, blues = make_team("final", 2, team="reds"), make_team("final", 2, team="blues")
    driver = GameLoop(game, by_number(reds, blues))
    driver.run(98)
    for team, sign, first in ((reds, 1, 0), (blues, -1, 11)):
        for player in team:
            slot, belief = first + player.number - 1, player.belief
            assert belief is not None
            assert math.dist(belief.me.place * sign, game.world.position[slot, :2]) < 0.1
            assert belief.me.x <= 0.05
            reports = player.mind.memory["tactics"].memory.reports
            assert set((np.flatnonzero(reports["time"] > 0.0) + 1).tolist()) == {1, 2} - {player.number}
    assert np.hypot(*game.world.position[1, :2]) < 0.45
    assert np.hypot(*game.world.position[12, :2]) > 2.0


@pytest.mark.slow
def test_a_player_alone_takes_the_ball_towards_the_goal() -> None:
    game = Game(RULES, seed=1, left="reds", right="blues", seats=1)
    (player,) = make_team("final", 1, team="reds")
    driver = GameLoop(game, {("reds", 1): player})
    driver.run(110)
    game.set_play_mode(PlayMode.PLAY_ON)
    game.place_ball((-1.0, 0.5, 0.05), (0.0, 0.0, 0.0))
    driver.run(900)
    assert game.world.ball[0] > 1.0
    assert player.request is not None
    assert player.request.intent


@pytest.mark.slow
def test_the_same_seed_gives_the_same_match() -> None:
    ends = []
    for _ in range(2):
        game = Game(RULES, seed=5, left="reds", right="blues", seats=4)
        driver = GameLoop(game, by_number(make_team("final", 2, team="reds"), make_team("final", 2, team="blues")))
        driver.run(250)
        ends.append(np.concatenate([game.world.position[[0, 1, 11, 12]].ravel(), game.world.ball]))
    assert (ends[0] == ends[1]).all()


@pytest.mark.parametrize("walk", ["policy", "policy-fast"])
def test_takers_of_restarts_kick_the_ball_before_a_foot_brushes_it(walk: str) -> None:
    rules = load_rules("sim3d").with_match(players=2, half_length=1e4, halves=1)
    game = Game(rules, seed=4, left="reds", right="blues", seats=2)
    loop = GameLoop(game, {("reds", player.number): player for player in make_team(walk, 2, team="reds")})
    rng, kicked, touched_twice = np.random.default_rng(4), 0, 0
    places = ((PlayMode.FREE_KICK_LEFT, 1, (2.0, 1.0)), (PlayMode.KICK_IN_LEFT, 1, (-3.0, -9.9)))
    for mode, taker, ball in (*places, *places, (PlayMode.GOAL_KICK_LEFT, 0, (-13.2, 0.2))):
        game.set_play_mode(PlayMode.PLAY_ON)
        angle = rng.uniform(-math.pi, math.pi)
        for slot in range(2):
            x, y = ball[0] + 1.6 * math.cos(angle), ball[1] + 1.6 * math.sin(angle)
            game.place_player(slot, (x, y, 0.38) if slot == taker == 1 else (-14.3, 0.0, 0.38), 0.0)
        game.place_ball((*ball, game.world.ball_radius), (0.0, 0.0, 0.0))
        loop.run(10)
        game.set_play_mode(mode)
        game.place_ball((*ball, game.world.ball_radius), (0.0, 0.0, 0.0))
        for _ in range(700):
            loop.cycle()
            touched_twice += sum(event.kind == "double_touch" for event in game.events)
            if np.hypot(*game.world.ball_velocity[:2]) > 0.1:
                kicked += loop.players[taker].limbs.doing == "kick"
                break
        loop.run(50)
    assert kicked >= 4
    assert touched_twice == 0
