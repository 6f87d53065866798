"""Who goes for the ball, and who takes which place."""

from __future__ import annotations

import numpy as np

from nutmeg.match.players.builtin.formation import assign_posts


def test_players_keep_their_posts_unless_others_are_much_nearer() -> None:
    players, posts = [(0.0, 0.4), (0.0, -0.4)], [(1.0, -0.4), (1.0, 0.4)]
    assert assign_posts(players, posts, [2, 2]) == [1, 0]
    assert assign_posts(players, posts, [0, 1]) == [0, 1]
    assert assign_posts([(0.0, 2.0), (0.0, -2.0)], posts, [0, 1]) == [1, 0]


def test_players_on_straight_ways_to_their_places_never_meet() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        players, places = rng.uniform(-8, 8, (2, 9, 2))
        order = assign_posts(players.tolist(), places.tolist(), [9] * 9)
        for share in np.linspace(0, 1, 21):
            now = players + share * (places[order] - players)
            gaps = np.linalg.norm(now[:, None] - now[None], axis=2)[np.triu_indices(9, 1)]
            at_ends = min(_least_gap(players), _least_gap(places))
            assert gaps.min() > at_ends / np.sqrt(2) - 1e-9


def _least_gap(places: np.ndarray) -> float:
    return float(np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(len(places), 1)].min())
