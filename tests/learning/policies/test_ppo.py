"""Proximal policy optimisation: gradients against differences, symmetry, and a task that it solves."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from nutmeg.learning.policies.ppo import GENTLE_RATE, Arrays, Learner, Mirrors, Perceptron, PpoSettings, Rollout

NOT = np.arange(4), -np.ones(4, np.float32)
MIRRORS = Mirrors(NOT, (np.arange(1), np.ones(1, np.float32)), (np.arange(2), -np.ones(2, np.float32)))


def test_the_gradient_of_a_network_is_that_of_finite_differences() -> None:
    rng = np.random.default_rng(0)
    network = Perceptron((5, 7, 6, 3), Arrays(), rng, 1.0)
    values, slope = (rng.standard_normal((11, width)).astype(np.float32) for width in (5, 3))
    _, kept = network.forward(values)
    network.backward(slope, kept)
    for place in (0, 3, 40, 60, 80, len(network.numbers) - 1):
        sums, before = [], float(network.numbers[place])
        for change in (0.01, -0.01):
            network.numbers[place] = before + change
            sums.append(float((network.forward(values)[0] * slope).sum()))
        network.numbers[place] = before
        assert network.gradient[place] == pytest.approx((sums[0] - sums[1]) / 0.02, rel=0.01, abs=0.01)


def test_actions_of_mirrored_robots_are_mirror_images() -> None:
    learner = Learner((4, 1, 2), PpoSettings(hidden=(16,)), seed=1, mirrors=MIRRORS)
    seen = np.random.default_rng(0).standard_normal((20, 4)).astype(np.float32)
    truth = np.zeros((20, 1), np.float32)
    assert learner.best(-seen) == pytest.approx(-learner.best(seen), abs=1e-6)
    assert learner.value(-seen, truth) == pytest.approx(learner.value(seen, truth), abs=1e-6)


def test_a_policy_that_was_held_begins_with_steps_of_the_length_of_the_rate() -> None:
    rng = np.random.default_rng(0)
    shapes = (6, 10, 4), (6, 10, 1), (6, 10, 2), (6, 10), (7, 10), (6, 10)
    parts = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    parts[3] = -2.0 - 0.1 * parts[3] ** 2
    rollout = Rollout(*parts, np.zeros((6, 10), bool))
    learner = Learner((4, 1, 2), PpoSettings(hidden=(16,), epochs=1, batches=1, divergence=1e6), seed=1)
    learner.held, before = 300, learner.policy.numbers.copy()
    critic = learner.critic.numbers.copy()
    for _ in range(300):
        learner.update(rollout)
    assert np.array_equal(learner.policy.numbers, before)
    assert not np.array_equal(learner.critic.numbers, critic)
    learner.update(rollout)
    assert np.abs(learner.policy.numbers - before).max() == pytest.approx(GENTLE_RATE, rel=0.01)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torch_learns_what_numpy_does() -> None:
    """With one batch, whose order does not count, both make the same step."""
    rng, found = np.random.default_rng(0), []
    shapes = (6, 10, 4), (6, 10, 1), (6, 10, 2), (6, 10), (7, 10), (6, 10)
    parts = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    parts[3] = -2.0 - 0.1 * parts[3] ** 2
    for device in ("cpu", "cpu:0"):
        settings = PpoSettings(hidden=(16,), epochs=2, batches=1, divergence=1e6)
        learner = Learner((4, 1, 2), settings, seed=1, mirrors=MIRRORS, device=device)
        for _ in range(3):
            learner.update(Rollout(*map(learner.arrays.put, (*parts, parts[5] > 1.0))))
        found.append(learner.save())
    for name in ("policy", "critic", "spread", "seen_mean", "rate"):
        np.testing.assert_allclose(found[1][name], found[0][name], atol=1e-4)


def point_masses(iterations: int, seed: int) -> list[float]:
    """Mean rewards of 128 point masses that learn to come to rest at the origin."""
    rng, count, cycles = np.random.default_rng(seed), 128, 24
    settings = PpoSettings(hidden=(32, 32), spread=1.0)
    learner = Learner((4, 1, 2), settings, seed=seed, mirrors=MIRRORS)
    place, speed = rng.standard_normal((count, 2)).astype(np.float32), np.zeros((count, 2), np.float32)
    age, found, truth = rng.integers(0, 100, count), [], np.zeros((count, 1), np.float32)
    for _ in range(iterations):
        kept: list[list[np.ndarray]] = [[] for _ in range(7)]
        for _ in range(cycles):
            seen = np.concatenate([place, speed], axis=1)
            action, probability, value = learner.act(seen, truth)
            speed = speed + 0.1 * np.clip(0.3 * action, -1, 1)
            place = place + 0.1 * speed
            reward = -0.1 * (place**2).sum(1).clip(0, 5) - 0.01 * (speed**2).sum(1).clip(0, 5)
            age += 1
            done = age >= 100
            found_now = (seen, truth, action, probability, value, reward.astype(np.float32), done)
            for parts, part in zip(kept, found_now, strict=True):
                parts.append(part)
            place[done], speed[done], age[done] = rng.standard_normal((int(done.sum()), 2)), 0.0, 0
        stacked = [np.stack(parts) for parts in kept]
        after = learner.value(np.concatenate([place, speed], axis=1), truth)
        stacked[4] = np.concatenate([stacked[4], after[None]])
        learner.update(Rollout(*stacked))
        found.append(float(stacked[5].mean()))
    return found


def test_point_masses_learn_to_come_to_rest_and_repeat_it_with_the_same_seed() -> None:
    rewards = point_masses(60, 0)
    assert np.mean(rewards[-5:]) > -0.1
    assert np.mean(rewards[10:20]) < -0.2
    assert point_masses(5, 0) == rewards[:5]
