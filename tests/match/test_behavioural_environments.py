"""The environments of the behavioural world: PettingZoo's own test, arrays over matches, and what numbers mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test

from nutmeg.base.errors import NutmegError
from nutmeg.match.behavioural_environments import ACTION_WIDTHS, BehaviourVectorEnv
from nutmeg.match.environment import parallel_env
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.worlds.behavioural.state import KickKind, Legs

SHORT = {"players": 1, "half_length": 1.0}


@pytest.mark.parametrize("options", [{}, {"observations": "images", "shrink": 8, "opponents": "roles"}])
def test_it_passes_the_test_of_pettingzoo(options: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    parallel_api_test(parallel_env(world="behavioural", **SHORT, **options), num_cycles=20)
    assert "Passed Parallel API test" in capsys.readouterr().out


def test_a_match_among_many_comes_out_as_it_does_alone() -> None:
    options: dict[str, Any] = {"players": 2, "opponents": "roles", "half_length": 10.0}
    alone, many = parallel_env(world="behavioural", **options), BehaviourVectorEnv(3, **options)
    rng = np.random.default_rng(5)
    one, _ = alone.reset(seed=8)
    all_of_them, _ = many.reset(seed=7)
    assert all_of_them.shape == many.observation_space.shape == (3, 2, alone.layout.width)
    for _ in range(20):
        assert np.array_equal(np.stack(list(one.values())), all_of_them[1])
        wishes = rng.uniform(-1, 1, (3, 2, 4))
        one, paid, *_ = alone.step({"left_1": wishes[1, 0], "left_2": wishes[1, 1]})
        all_of_them, rewards, *_ = many.step(wishes)
        assert list(paid.values()) == rewards[1].tolist()
    assert not np.array_equal(all_of_them[0], all_of_them[1])


def test_a_match_that_is_over_begins_anew_with_another_kick_off() -> None:
    env = BehaviourVectorEnv(2, **SHORT)
    first, _ = env.reset(seed=0)
    over = np.zeros(2, bool)
    for _ in range(60):
        _, _, over, cut, infos = env.step(np.zeros((2, 2, 4)))
        assert not cut.any()
        if over.any():
            break
    assert over.all()
    assert infos["ended"].tolist() == [0, 1]
    slices = env.layout.slices
    assert infos["final_observations"][..., slices["phase"]][0, 0].tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert env.observe()[..., slices["time_left"]].max() > first[..., slices["time_left"]].max() - 0.5
    assert env.games.goals().tolist() == [[0, 0], [0, 0]]


def test_sonar_tells_agents_how_near_the_robot_before_them_is() -> None:
    env, plain = (BehaviourVectorEnv(1, players=1, half_length=60.0, sonar=sonar) for sonar in (True, False))
    env.reset(seed=3)
    assert env.layout.width == plain.layout.width + 2
    state = env.games.world.state
    state.pose[0, 0], state.pose[0, 11] = (0.0, 0.0, 0.0), (0.6, 0.2, np.pi)
    rows, *_ = env.step(np.zeros((1, 2, 4)))
    left, right = rows[0, 0, env.layout.slices["sonar"]]
    assert 0.3 < left < 0.75, "the opponent is ahead to the left"
    assert right == 0.0 or right > left
    state.pose[0, 11] = 3.0, 0.2, np.pi
    rows, *_ = env.step(np.zeros((1, 2, 4)))
    assert rows[0, 0, env.layout.slices["sonar"]].tolist() == [0.0, 0.0]


def test_a_wish_walks_and_observations_tell_where_things_are() -> None:
    env = BehaviourVectorEnv(16, players=1, half_length=60.0)
    _, infos = env.reset(seed=3)
    start = infos["place"].copy()
    wishes = np.zeros((16, 2, 4))
    wishes[:, :, 0] = -1.0
    for _ in range(20):
        rows, *_, infos = env.step(wishes)
    gone = np.median((infos["place"] - start)[..., 0], axis=0)
    back = env.games.world.settings[0].walk.back
    assert gone == pytest.approx(-2.0 * back, rel=0.2), "both teams walk away from the others' goal"
    part = env.layout.slices
    off = np.linalg.norm(rows[..., part["pose"]][..., :2] - infos["place"], axis=-1)
    assert np.median(off) < 0.1, "they know where they are"
    ball = rows[..., part["ball"]]
    seen = ball[..., 0] == 1.0
    true = np.linalg.norm(infos["ball"] - infos["place"], axis=-1)
    assert seen.mean() > 0.8
    assert np.median(np.abs(ball[..., 1] - true)[seen]) < 0.15
    assert env.observation_space.contains(rows)


def test_the_numbers_of_a_body_are_kicks_looks_and_dives() -> None:
    env = BehaviourVectorEnv(1, players=1, actions="body", opponents="statue")
    env.reset(seed=0)
    orders, world = env.games.world.orders, env.games.world
    wish = np.zeros((1, 1, ACTION_WIDTHS["body"]))
    wish[0, 0, 3:7] = 0.7, 1.0, 0.5, -1.0
    env.step(wish)
    head = world.settings[0].head
    assert (orders.legs[0, 0], orders.kick[0, 0]) == (Legs.KICK, KickKind.RIGHT_SIDE)
    assert orders.strength[0, 0] == pytest.approx(0.7)
    assert orders.look[0, 0] == pytest.approx([0.5 * head.yaw, -head.down])
    env.step(np.array([[[0, 0, 0, 0, 0, 0, 0, -1.0]]]))
    assert orders.legs[0, 0] == Legs.DIVE_RIGHT


def test_goals_and_the_way_of_the_ball_are_paid_to_one_team_and_taken_from_the_other() -> None:
    env = parallel_env(world="behavioural", players=1, half_length=60.0, ball_reward=0.1)
    env.reset(seed=0)
    games = env.matches.games
    for _ in range(200):  # until anybody may play the ball
        if games.modes[0] == int(PlayMode.PLAY_ON):
            break
        env.step({agent: np.zeros(4) for agent in env.agents})
    assert games.modes[0] == int(PlayMode.PLAY_ON)
    for slot, place in ((0, (-2.0, 1.5)), (11, (2.0, -1.5))):
        games.world.place(0, slot, *place)
    games.world.place_ball(0, 2.5, 0.0)
    env.step({agent: np.zeros(4) for agent in env.agents})
    games.world.place_ball(0, 2.5, 0.0, 2.0, 0.0)
    total = np.zeros(2)
    for _ in range(10):
        _, rewards, *_ = env.step({agent: np.zeros(4) for agent in env.agents})
        total += list(rewards.values())
    assert total[0] == pytest.approx(1.0 + 0.1 * 0.5, abs=0.06)
    assert total[1] == pytest.approx(-total[0])


def test_an_episode_is_cut_off() -> None:
    env = parallel_env(world="behavioural", **SHORT, max_cycles=2)
    env.reset(seed=0)
    env.step({agent: np.zeros(4) for agent in env.agents})
    _, _, over, cut, _ = env.step({agent: np.zeros(4) for agent in env.agents})
    assert (set(over.values()), set(cut.values()), env.agents) == ({False}, {True}, [])
    with pytest.raises(NutmegError, match=r"call reset\(\) before step"):
        env.step({})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"players": 12}, "players is 12; allowed are 1 to 11"),
        ({"actions": "joints"}, "unknown kind of actions 'joints'"),
        ({"observations": "picture"}, "unknown kind of observations"),
        ({"shrink": 7}, "must be divisible"),
        ({"player": 1}, "Did you mean 'players'?"),
        ({"opponents": "rolls"}, "unknown strategy 'rolls'"),
        ({"half_length": -1.0}, "rules of the match"),
    ],
)
def test_wrong_options_are_told(options: dict[str, Any], said: str) -> None:
    with pytest.raises(NutmegError) as problem:
        parallel_env(world="behavioural", **options)
    assert said in str(problem.value)


def test_wrong_worlds_and_actions_are_told() -> None:
    with pytest.raises(NutmegError, match="unknown world 'flat'"):
        parallel_env(world="flat")  # type: ignore[call-overload]
    env = BehaviourVectorEnv(1, **SHORT)
    with pytest.raises(NutmegError, match="no match was begun"):
        env.step(np.zeros((1, 2, 4)))
    env.reset(seed=0)
    with pytest.raises(NutmegError, match="shape"):
        env.step(np.zeros((1, 2, 3)))
