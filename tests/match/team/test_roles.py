"""Who goes for the ball, and who takes which place."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nutmeg.match.players.builtin.formation import assign, matching


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6])
def test_a_matching_is_the_best_of_all(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(30):
        cost = rng.uniform(0, 10, (size, size)).tolist()
        found = matching(cost)
        best = min(sum(cost[i][j] for i, j in enumerate(p)) for p in itertools.permutations(range(size)))
        assert sorted(found) == list(range(size))
        assert sum(cost[i][j] for i, j in enumerate(found)) == pytest.approx(best)


def test_players_on_straight_ways_to_their_places_never_meet() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        players, places = rng.uniform(-8, 8, (2, 9, 2))
        order = assign(players.tolist(), places.tolist())
        for share in np.linspace(0, 1, 21):
            now = players + share * (places[order] - players)
            gaps = np.linalg.norm(now[:, None] - now[None], axis=2)[np.triu_indices(9, 1)]
            at_ends = min(_least_gap(players), _least_gap(places))
            assert gaps.min() > at_ends / np.sqrt(2) - 1e-9


def _least_gap(places: np.ndarray) -> float:
    return float(np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(len(places), 1)].min())
