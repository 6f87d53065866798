from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.kernels import kernel
from nutmeg.match.worlds.behavioural.random import (
    FALL,
    MOTION,
    key,
    normal,
    normal_of,
    normal_pair,
    uniform,
    uniform_of,
)

SEED = np.uint64(2026)


@kernel
def _many(seed: np.uint64, count: int) -> tuple[Floats, Floats]:
    uniforms, normals = np.empty(count), np.empty((count, 2))
    for i in range(count):
        k = key(seed, i // 100, i % 22, MOTION)
        uniforms[i] = uniform_of(k, i)
        normals[i] = normal_pair(k, i)
    return uniforms, normals


def test_a_draw_depends_only_on_what_it_is_for() -> None:
    first = uniform(SEED, 7, 3, MOTION, 0)
    others = [uniform(SEED, c, s, MOTION, d) for c in range(3) for s in range(3) for d in range(3)]
    assert uniform(SEED, 7, 3, MOTION, 0) == first
    assert len({first, *others}) == 28


def test_seed_cycle_slot_purpose_and_count_each_change_the_draw() -> None:
    draws = {
        uniform(SEED, 7, 3, MOTION, 0),
        uniform(np.uint64(2027), 7, 3, MOTION, 0),
        uniform(SEED, 8, 3, MOTION, 0),
        uniform(SEED, 7, 4, MOTION, 0),
        uniform(SEED, 7, 3, FALL, 0),
        uniform(SEED, 7, 3, MOTION, 1),
    }
    assert len(draws) == 6


def test_a_key_gives_the_same_as_the_long_form() -> None:
    k = key(SEED, 7, 3, MOTION)
    assert uniform_of(k, 5) == uniform(SEED, 7, 3, MOTION, 5)
    assert normal_of(k, 5) == normal(SEED, 7, 3, MOTION, 5) == normal_pair(k, 5)[0]


def test_uniforms_are_even_and_normals_have_the_moments_of_the_normal_distribution() -> None:
    count = 200_000
    uniforms, normals = _many(SEED, count)
    assert uniforms.min() >= 0.0
    assert uniforms.max() < 1.0
    cells = np.bincount((uniforms * 100).astype(int), minlength=100)
    chi_square = float(((cells - count / 100) ** 2 / (count / 100)).sum())
    assert 99 - 5 * np.sqrt(198) < chi_square < 99 + 5 * np.sqrt(198)
    assert abs(normals.mean(axis=0)).max() < 5 / np.sqrt(count)
    assert abs(normals.var(axis=0) - 1).max() < 5 * np.sqrt(2 / count)
    assert abs(np.mean(normals[:, 0] * normals[:, 1])) < 5 / np.sqrt(count)
    assert np.mean(np.abs(normals) < 1) == pytest.approx(0.6827, abs=0.005)
    assert np.mean(np.abs(normals) < 2) == pytest.approx(0.9545, abs=0.002)


def test_neighbouring_draws_are_not_correlated() -> None:
    uniforms, _ = _many(SEED, 100_000)
    for lag in (1, 2, 22, 100):
        assert abs(np.corrcoef(uniforms[:-lag], uniforms[lag:])[0, 1]) < 5 / np.sqrt(100_000)
