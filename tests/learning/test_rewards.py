"""Rewards and weights against cases computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.learning.rewards import (
    FALL_COST,
    first_weights,
    next_weights,
    rank_weights,
    stop_reward,
    target_reward,
    weights_from,
)
from nutmeg.learning.tasks import task_settings


def test_a_target_reached_early_is_extrapolated_and_moving_costs_at_a_stop() -> None:
    assert target_reward(2.0, 7.0, 3.5) == pytest.approx(4.0)
    assert target_reward(2.0, 7.0, 7.0) - FALL_COST == pytest.approx(-3.0)
    assert stop_reward(0.25) == pytest.approx(-0.25)
    assert stop_reward(0.25) - FALL_COST == pytest.approx(-5.25)


def test_weights_start_alike_and_slower_directions_get_more() -> None:
    np.testing.assert_allclose(first_weights(), [1 / 3] * 3)
    # Rewards 4, 2, 1: factors 1, 2, 4; sum 7.
    np.testing.assert_allclose(weights_from([4.0, 2.0, 1.0]), [1 / 7, 2 / 7, 4 / 7])
    # Equation 5 raises -3 and 0.05 to 0.1: factors 1, 10, 10.
    np.testing.assert_allclose(weights_from([1.0, -3.0, 0.05]), [1 / 21, 10 / 21, 10 / 21])


def test_dynamic_rewards_look_at_the_fittest_and_static_ones_at_nobody() -> None:
    rewards, fitness = [[1.0, 1.0, 1.0], [4.0, 2.0, 1.0], [9.0, 9.0, 0.1]], [0.5, 2.0, np.nan]
    np.testing.assert_allclose(next_weights(rewards, fitness, "dynamic"), [1 / 7, 2 / 7, 4 / 7])
    np.testing.assert_allclose(next_weights(rewards, fitness, "static"), [1 / 3] * 3)


def test_averaged_rewards_weigh_the_fitter_half_as_cma_es_does() -> None:
    # Population 4: ln 2.5 - ln 1 and ln 2.5 - ln 2, normalised.
    a, b = np.log(2.5), np.log(2.5) - np.log(2)
    np.testing.assert_allclose(rank_weights(4), [a / (a + b), b / (a + b)])
    rewards = np.array([[9.0, 1.0, 1.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    expected = weights_from((a * rewards[2] + b * rewards[1]) / (a + b))
    np.testing.assert_allclose(next_weights(rewards, [-1.0, 2.0, 5.0, 0.0], "dynamic-avg"), expected)


def test_what_is_lost_weighs_as_in_the_paper() -> None:
    weights = task_settings("dynamic-rewards").weights()
    np.testing.assert_allclose(weights, [1 / 3, 1 / 3, 1 / 3, 7 / 124.1])
    np.testing.assert_allclose(task_settings("go-to-target").weights(), [1.0, 1.0])
    np.testing.assert_allclose(task_settings("go-to-target", caution=3.0).weights(), [1.0, 3.0])
    np.testing.assert_allclose(task_settings("dynamic-rewards", caution=3.0).weights()[-1], 3.0 * weights[-1])


def test_rewards_without_a_fitness_for_each_are_refused() -> None:
    with pytest.raises(UsageError, match="needed are"):
        next_weights([[1.0, 1.0, 1.0]], [1.0, 2.0], "dynamic")
