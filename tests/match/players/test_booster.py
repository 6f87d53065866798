"""Players of T1 robots: what a walk senses and commands over the league's protocol, and what tactics make of it."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.loop import GameLoop
from nutmeg.match.mj_game import MjGame
from nutmeg.match.players.booster import (
    BoosterBody,
    BoosterPlayer,
    BoosterSetup,
    booster_team,
    policy_of,
    policy_walk,
    walking_setup,
)
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.rules.slots import slot_of
from nutmeg.match.worlds.mj.percept import MAX_HEARD_BYTES
from nutmeg.motion.bodies import SensingRobot
from nutmeg.motion.policy import PolicyWalker


class Recorder:
    """A walk that stands and remembers what was asked of it and what its body sensed."""

    def __init__(self, body: BoosterBody) -> None:
        self.body, self.wanted, self.asked, self.resets = body, np.zeros((1, 3)), [], 0

    def reset(self) -> None:
        self.resets += 1

    def sample(self, time: float) -> None:
        self.asked.append((time, *self.wanted[0]))
        self.body.hold()


@pytest.mark.parametrize("robot", ["t1", "k1"])
def test_a_body_is_what_a_policy_moves_and_its_command_carries_the_gains_of_its_drives(robot: str) -> None:
    body = BoosterBody(robot)
    assert isinstance(body, SensingRobot)
    body.command = np.full((1, len(body.table.motors)), 0.1)
    rows = body.motors()
    assert rows[:, 0] == pytest.approx(np.degrees(0.1))
    assert (rows[:, 1] == 0).all()
    assert (rows[:, 4] == 0).all()
    assert rows[-3, 2:4].tolist() == ([200.0, 5.0] if robot == "t1" else rows[-3, 2:4].tolist())


def test_players_stand_see_the_ball_and_go_for_it_from_both_sides() -> None:
    setup = BoosterSetup(players=1, walk=Recorder)
    players = {**booster_team("reds", setup), **booster_team("blues", setup)}
    with MjGame(load_rules("ssim26"), seed=3, seats={"t1": 2}) as game:
        loop = GameLoop(game, players)
        for _ in range(5):
            loop.cycle()
        game.set_play_mode(PlayMode.PLAY_ON)
        places = {"reds": (-3.0, 1.0, 0.0), "blues": (4.0, -2.0, 180.0)}
        for side, team in ((Side.LEFT, "reds"), (Side.RIGHT, "blues")):
            x, y, heading = places[team]
            game.place_player(slot_of(side, 1), (x, y, 0.69), heading)
        game.world.place_ball((0.0, 0.5))
        for _ in range(60):
            loop.cycle()
        for team, sign in (("reds", 1.0), ("blues", -1.0)):
            player = players[team, 1]
            belief = player._beliefs[0]
            assert (belief["ball_x"], belief["ball_y"]) == pytest.approx((0.0, sign * 0.5), abs=0.03)
            assert (belief["x"], belief["y"]) == pytest.approx(
                (sign * places[team][0], sign * places[team][1]), abs=0.2
            )
            assert belief["upright"]
            assert player.walker.asked[-1][1] > 0.2  # it walks ahead, to the ball
            assert player.walker.resets == 0
        assert game.world.poses()[[0, 11], 2] == pytest.approx([0.66, 0.66], abs=0.03)


def test_a_kick_off_after_a_goal_is_taken_at_once_though_nobody_sees_the_ball_at_its_feet() -> None:
    players = booster_team("reds", walking_setup(BoosterSetup(players=3)))
    with MjGame(load_rules("ssim26").with_match(automatic_kick_off=True), seed=1, seats={"t1": 3}) as game:
        loop = GameLoop(game, players)
        for _ in range(10):
            loop.cycle()
        game.set_play_mode(PlayMode.PLAY_ON)
        game.world.place_ball((-20.0, 3.0))
        for _ in range(50):
            loop.cycle()
        assert players["reds", 2]._beliefs["ball_x"][0] == pytest.approx(-20.0, abs=0.1)
        game.set_play_mode(PlayMode.GOAL_RIGHT)
        while game.state.mode is PlayMode.GOAL_RIGHT:
            loop.cycle()
        assert game.state.mode is PlayMode.KICK_OFF_LEFT
        for _ in range(2):
            loop.cycle()
        assert [float(player._beliefs["ball_x"][0]) for player in players.values()] == [0.0, 0.0, 0.0]
        for _ in range(250):  # the rules give it 15 s
            loop.cycle()
            if game.state.mode is PlayMode.PLAY_ON:
                break
        assert game.state.mode is PlayMode.PLAY_ON
        assert np.hypot(*game.world.ball[:2]) < 2.0


def test_team_mates_tell_each_other_where_they_are_and_opponents_do_not_understand_it() -> None:
    setup = BoosterSetup(walk=Recorder)
    speaker, mate, opponent = (BoosterPlayer(team, n, setup) for team, n in (("reds", 4), ("reds", 2), ("blues", 2)))
    speaker._beliefs["x"], speaker._beliefs["y"], speaker._beliefs["upright"] = -26.5, 17.25, True
    speaker.tactician.memory.goes, speaker.tactician.memory.arrival = True, 3.2
    message = speaker._report()
    assert len(message) <= MAX_HEARD_BYTES
    for player in (mate, opponent):
        player._hear(message, 5.0)
        player._hear(b"nonsense", 5.0)
    told = mate._beliefs["others"][0, 3]
    assert (told["x"], told["y"], told["age"], told["lies"]) == pytest.approx((-26.5, 17.25, 0.0, False))
    report = mate.tactician.memory.reports[3]
    assert (report.goes, report.arrival, report.time) == (True, pytest.approx(3.2), 5.0)
    assert opponent.tactician.memory.reports[3].time == -np.inf


@pytest.mark.parametrize("robot", ["t1", "k1"])
def test_who_falls_does_not_walk_and_begins_anew_when_it_is_put_up(robot: str) -> None:
    player = BoosterPlayer("reds", 2, BoosterSetup(robot=robot, walk=Recorder))
    with MjGame(load_rules("ssim26"), seed=3, seats={robot: 1}) as game:
        loop = GameLoop(game, {("reds", 2): player})
        for _ in range(3):
            loop.cycle()
        game.set_play_mode(PlayMode.PLAY_ON)
        game.put_player(slot_of(Side.LEFT, 2), (-5.0, 0.0, 0.3), (0.7, 0.0, 0.7, 0.0))
        for _ in range(40):
            loop.cycle()
        asked, resets = len(player.walker.asked), player.walker.resets
        loop.cycle()
        assert len(player.walker.asked) == asked
        game.place_player(slot_of(Side.LEFT, 2), (-5.0, 0.0, 0.69), 0.0)
        for _ in range(4):
            loop.cycle()
        assert len(player.walker.asked) > asked
        assert player.walker.resets == resets + 1


@pytest.mark.parametrize("robot", ["t1", "k1"])
@pytest.mark.parametrize("heading", [0.1, 3.0, 4.5])
def test_a_robot_that_lies_anyhow_gets_up_and_stands_by_its_walk(robot: str, heading: float) -> None:
    team = booster_team("reds", walking_setup(BoosterSetup(robot=robot, players=1)))
    with MjGame(load_rules("ssim26"), seed=3, seats={robot: 1}) as game:
        loop = GameLoop(game, team)
        for _ in range(3):
            loop.cycle()
        game.set_play_mode(PlayMode.PLAY_ON)
        game.world.place_ball((8.0, 0.0))
        lean = (np.sqrt(0.5), -np.sqrt(0.5) * np.sin(heading), np.sqrt(0.5) * np.cos(heading), 0.0)
        game.put_player(slot_of(Side.LEFT, 1), (-5.0, 0.0, 0.35), lean)
        lay = False
        for _ in range(40):  # a K1 on its back sits up within them
            loop.cycle()
            lay = lay or not team["reds", 1]._beliefs[0]["upright"]
        assert lay
        stood = 0
        for _ in range(900):
            loop.cycle()
            stood = stood + 1 if team["reds", 1]._beliefs[0]["upright"] else 0
            if stood == 100:
                break
        assert stood == 100


def test_a_t1_walks_to_the_ball_by_the_walk_that_comes_with_nutmeg_and_pushes_it() -> None:
    setup = walking_setup(BoosterSetup(players=1))
    assert setup.speeds == pytest.approx((0.96, 0.672, 0.56, 1.2))  # 0.8 of what its policy was trained for
    player = BoosterPlayer("reds", 1, setup)
    with MjGame(load_rules("ssim26"), seed=3, seats={"t1": 1}) as game:
        loop = GameLoop(game, {("reds", 1): player})
        for _ in range(5):
            loop.cycle()
        game.place_player(slot_of(Side.LEFT, 1), (-3.0, 0.0, 0.69), 0.0)
        game.world.place_ball((0.0, 0.0))
        for _ in range(60):  # it comes to stand before it plays
            loop.cycle()
        game.set_play_mode(PlayMode.PLAY_ON)
        for _ in range(200):
            loop.cycle()
        belief = player._beliefs[0]
        assert belief["upright"]
        assert belief["x"] > -0.5
        assert belief["ball_x"] > 0.3
        assert abs(belief["ball_y"]) < 0.4 * belief["ball_x"]  # pushed by a foot, it goes about straight


@pytest.mark.parametrize(("robot", "foot"), [("t1", 1.0), ("t1", -1.0), ("k1", 1.0)])
def test_a_robot_lines_up_with_a_ball_before_the_goal_shoots_and_stays_up(robot: str, foot: float) -> None:
    setup = walking_setup(BoosterSetup(robot=robot, players=1, strategy="booster-kicks"))
    player = BoosterPlayer("reds", 1, setup)
    with MjGame(load_rules("ssim26"), seed=3, seats={robot: 1}) as game:
        loop = GameLoop(game, {("reds", 1): player})
        for _ in range(5):
            loop.cycle()
        game.set_play_mode(PlayMode.PLAY_ON)
        game.place_player(slot_of(Side.LEFT, 1), (20.0, 0.0, 0.69 if robot == "t1" else 0.56), 0.0)
        game.world.place_ball((21.0, 0.2 * foot))
        kicked, began = False, 0.0
        for _ in range(300):
            loop.cycle()
            if player.kicking and not kicked:
                kicked, began = True, float(player.belief.ball_x)
            assert player.belief.upright
        assert kicked
        assert player.belief.ball_x > began + 4.0


@pytest.mark.parametrize(("strategy", "kicks"), [("booster", False), ("booster-kicks", True)])
def test_players_kick_by_a_strategy_that_kicks_and_walk_through_the_ball_by_another(strategy: str, kicks: bool) -> None:
    player = BoosterPlayer("reds", 1, walking_setup(BoosterSetup(strategy=strategy)))
    assert bool(player.tactician.records.grounds["body"]["can_kick"][0]) == kicks


@pytest.mark.parametrize("robot", ["t1", "k1"])
def test_robots_walk_by_the_policy_that_comes_with_nutmeg_at_a_share_of_its_speeds(robot: str) -> None:
    setup, policy = walking_setup(BoosterSetup(robot=robot)), policy_of(f"policy-{robot}")
    fastest = np.array([policy.fastest[0], policy.back, *policy.fastest[1:]])
    assert setup.speeds == pytest.approx(0.8 * fastest)  # at full speed T1 falls in turns and stops
    assert isinstance(BoosterPlayer("reds", 1, setup).walker, PolicyWalker)


def test_a_walk_without_a_policy_is_refused() -> None:
    with pytest.raises(UsageError, match="has no policy"):
        policy_walk("holonomic")
