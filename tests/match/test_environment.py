"""The PettingZoo environment of a match: PettingZoo's own test, and what observations and rewards mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test

from nutmeg.base.errors import NutmegError
from nutmeg.match.environment import MatchEnv, parallel_env
from nutmeg.match.players.learned import WalkActionPlayer
from nutmeg.match.rules.play_modes import PlayMode

SHORT = {"players": 1, "half_length": 1.0}


def still(env: MatchEnv) -> dict[str, Any]:
    return {agent: np.zeros(env.action_space(agent).shape) for agent in env.agents}


@pytest.mark.parametrize("actions", ["joints", "walk"])
def test_it_passes_the_test_of_pettingzoo(actions: str, capsys: pytest.CaptureFixture[str]) -> None:
    parallel_api_test(parallel_env(**SHORT, actions=actions), num_cycles=30)
    assert "Passed Parallel API test" in capsys.readouterr().out


def played(seed: int, cycles: int = 20) -> list[Any]:
    env = parallel_env(players=1, half_length=5.0)
    observations, _ = env.reset(seed=seed)
    rng = np.random.default_rng(3)
    found = [observations["left_1"]]
    for _ in range(cycles):
        actions = {agent: rng.uniform(-1, 1, 22) for agent in env.agents}
        observations, rewards, *_ = env.step(actions)
        found += [observations["left_1"], observations["right_1"], list(rewards.values())]
    return found


def test_the_same_seed_gives_the_same_episode() -> None:
    first, second, other = played(1), played(1), played(2)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_sonar_tells_agents_how_near_the_robot_before_them_is() -> None:
    env, plain = (parallel_env(players=1, half_length=60.0, sonar=sonar, noise=False) for sonar in (True, False))
    env.reset(seed=3)
    assert env.layout.width == plain.layout.width + 2
    env.game.set_play_mode(PlayMode.PLAY_ON)
    heard = []
    for x, y in ((0.6, 0.2), (3.0, 0.2)):
        for _ in range(6):
            env.game.place_player(0, (0.0, 0.0, 0.4), 0.0)
            env.game.place_player(11, (x, y, 0.4), 0.0)
            observations, *_ = env.step(still(env))
        assert env.observation_space("left_1").contains(observations["left_1"])
        heard.append(observations["left_1"][env.layout.slices["sonar"]].tolist())
    (left, right), gone = heard
    assert 0.45 < left < 0.65, "the opponent is ahead to the left"
    assert right == 0.0
    assert gone == [0.0, 0.0]


def test_observations_are_in_their_space_and_both_teams_see_the_pitch_alike() -> None:
    env = parallel_env(players=1, half_length=5.0, noise=False, beam_noise=False)
    observations, infos = env.reset(seed=0)
    for agent, row in observations.items():
        assert env.observation_space(agent).contains(row)
    for _ in range(6):
        observations, *_, infos = env.step(still(env))
    slices = env.layout.slices
    both = [observations[agent][slices["landmarks"]].reshape(-1, 4) for agent in env.possible_agents]
    places = [infos[agent]["place"] for agent in env.possible_agents]
    for marks, (x, _) in zip(both, places, strict=True):
        assert marks[4, 0] == pytest.approx(np.hypot(15.0 - x, 1.05), abs=0.3), "left post of their goal"
        assert marks[4, 1] > 0 > marks[5, 1]
        assert marks[4, 3] < 0.07
        assert marks[0].tolist() == [0, 0, 0, 10], "the own goal is behind"
    kicks = int(observations["right_1"][slices["phase"]][1])
    assert observations["left_1"][slices["phase"]].tolist() == [0, 1 - kicks, kicks, 0, 0, 0, 0]
    ball = observations["left_1"][slices["ball"]]
    assert ball[0] == pytest.approx(abs(places[0][0]), abs=0.6)
    assert observations["left_1"][slices["opponents"]][0] > 1.0


def test_goals_and_the_way_of_the_ball_are_paid_to_one_team_and_taken_from_the_other() -> None:
    env = parallel_env(players=1, half_length=60.0, ball_reward=0.1)
    env.reset(seed=0)
    env.game.set_play_mode(PlayMode.PLAY_ON)
    env.game.place_ball((13.0, 0.0, 0.042), (0.0, 0.0, 0.0))
    env.step(still(env))
    env.game.place_ball((13.0, 0.0, 0.042), (8.0, 0.0, 0.0))
    total = np.zeros(2)
    for _ in range(40):
        _, rewards, *_ = env.step(still(env))
        total += list(rewards.values())
    assert total[0] == pytest.approx(1.0 + 0.1 * 2.0, abs=0.05)
    assert total[1] == pytest.approx(-total[0])


def test_an_episode_ends_with_the_game_or_is_cut_off() -> None:
    env = parallel_env(**SHORT, max_cycles=3)
    env.reset(seed=0)
    for _ in range(2):
        *_, cut, _ = env.step(still(env))
        assert not any(cut.values())
    _, _, over, cut, _ = env.step(still(env))
    assert (set(over.values()), set(cut.values()), env.agents) == ({False}, {True}, [])
    with pytest.raises(NutmegError, match=r"call reset\(\) before step"):
        env.step({})
    env.max_cycles = 0
    env.reset(seed=0)
    for _ in range(100):
        _, _, over, cut, _ = env.step(still(env))
        if not env.agents:
            break
    assert (set(over.values()), set(cut.values())) == ({True}, {False})


def test_against_the_built_in_team_only_the_left_players_are_agents() -> None:
    env = parallel_env(players=1, opponents="initial", actions="walk", half_length=5.0)
    observations, _ = env.reset(seed=0)
    assert env.agents == ["left_1"] == list(observations)
    assert env.game.present.sum() == 2
    assert env.state().shape == (12,)


@pytest.mark.slow
def test_a_steered_walk_goes_where_it_is_told_to_and_knows_where_it_is() -> None:
    env = parallel_env(players=1, actions="walk", half_length=60.0)
    _, infos = env.reset(seed=0)
    start = infos["left_1"]["place"].copy()
    observations: dict[str, Any] = {}
    for _ in range(250):
        wishes = {"left_1": np.array([-1.0, 0.0, 0.0, -1.0]), "right_1": np.zeros(4)}
        observations, *_, infos = env.step(wishes)
    assert infos["left_1"]["place"][0] - start[0] < -0.3
    belief = observations["left_1"][env.layout.slices["belief"]]
    assert belief[:2] == pytest.approx(infos["left_1"]["place"], abs=0.3)
    assert WalkActionPlayer.parts[0].width == len(belief)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"players": 12}, "players is 12; allowed are 1 to 11"),
        ({"actions": "feet"}, "unknown kind of actions 'feet'"),
        ({"player": 1}, "Did you mean 'players'?"),
        ({"half_length": -1.0}, "rules of the match"),
        ({"opponents": "holonomick"}, "unknown walk 'holonomick'"),
    ],
)
def test_wrong_options_are_told(options: dict[str, Any], said: str) -> None:
    with pytest.raises(NutmegError) as problem:
        parallel_env(**options)
    assert said in str(problem.value)


def test_wrong_actions_are_told() -> None:
    env = parallel_env(**SHORT)
    env.reset(seed=0)
    with pytest.raises(NutmegError, match="there is no action for 'right_1'"):
        env.step({"left_1": np.zeros(22)})
    with pytest.raises(NutmegError, match="unknown agent 'left_9'"):
        env.step({"left_9": np.zeros(22)})
    with pytest.raises(NutmegError, match="shape"):
        env.step({"left_1": np.zeros(3), "right_1": np.zeros(22)})
