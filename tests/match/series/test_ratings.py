"""Ratings from who beat whom: closed forms of the model, and intervals that hold what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.match.series.standings import POINTS_PER_LOGIT, Rating, fitted, ratings


def test_the_difference_of_two_teams_is_the_logarithm_of_the_odds() -> None:
    found = ratings(("A", "B"), {("A", "B"): (700, 200, 100)})
    assert found["A"].value - found["B"].value == pytest.approx(400.0 * math.log10(800 / 200), rel=0.01)
    assert found["A"].value == pytest.approx(-found["B"].value)
    assert list(found) == ["A", "B"]
    spread = math.sqrt(1.0 / (1000 * 0.8 * 0.2)) / 2  # of the centred strength: half that of the difference
    assert found["A"].high - found["A"].value == pytest.approx(1.96 * POINTS_PER_LOGIT * spread, rel=0.02)


def test_draws_only_are_worth_nothing_and_more_games_are_surer() -> None:
    few, many = (ratings(("A", "B"), {("B", "A"): (0, games, 0)}) for games in (10, 1000))
    assert many["A"].value == pytest.approx(0.0, abs=1e-9)
    assert (few["A"].high - few["A"].low) / (many["A"].high - many["A"].low) == pytest.approx(10.0, rel=0.01)


def test_a_team_that_has_won_everything_has_a_finite_rating() -> None:
    found = ratings(("A", "B", "C"), {("A", "B"): (50, 0, 0), ("A", "C"): (50, 0, 0), ("B", "C"): (25, 0, 25)})
    assert 300.0 < found["A"].value < 2000.0
    assert found["A"].low < found["A"].value < found["A"].high
    assert found["B"].value == pytest.approx(found["C"].value, abs=1e-6)


def test_teams_that_never_met_are_compared_through_others() -> None:
    found = ratings(("A", "B", "C"), {("A", "B"): (75, 0, 25), ("B", "C"): (75, 0, 25)})
    one = 400.0 * math.log10(3.0)
    assert found["A"].value - found["C"].value == pytest.approx(2 * one, rel=0.03)


def test_intervals_of_95_percent_hold_the_truth_about_as_often() -> None:
    rng, true = np.random.default_rng(0), np.array([0.6, 0.1, -0.7])
    held = []
    for _ in range(200):
        points = np.zeros((3, 3))
        for i in range(3):
            for j in range(i + 1, 3):
                won = rng.binomial(40, 1.0 / (1.0 + math.exp(true[j] - true[i])))
                points[i, j], points[j, i] = won, 40 - won
        strength, spread = fitted(points)
        held += (np.abs(strength - true) < 1.96 * spread).tolist()
    assert 0.92 < np.mean(held) < 0.985


def test_a_rating_is_shown_with_half_its_interval() -> None:
    assert Rating(value=-12.4, low=-112.4, high=87.6).shown() == "−12 ± 100"
