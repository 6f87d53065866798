from __future__ import annotations

import numpy as np

from nutmeg.reality.btr.controllers import SinusoidControllers
from nutmeg.reality.btr.transfer import disagreement, far_apart, rivals_of
from nutmeg.reality.distances.distance import DistanceSettings, make_distance
from nutmeg.reality.observation import FitnessSettings, Watch
from nutmeg.reality.twin import Twin
from nutmeg.search import Dimension, Genetic, GeneticSettings, InThisThread, OneByOne, Space, minimise

SQUARE = Space({"x": Dimension(low=0, high=1), "y": Dimension(low=0, high=1)})


def test_rivals_are_good_and_far_apart() -> None:
    searcher = Genetic(SQUARE, GeneticSettings(population=20, first="anywhere"), np.random.default_rng(3))
    cost = OneByOne(lambda c, _: abs(c[0] - 0.5))  # y does not matter
    result = minimise(cost, searcher, InThisThread(), budget=100)
    rivals = rivals_of(result, SQUARE, 4)
    np.testing.assert_array_equal(rivals[0], result.best.candidate)
    assert len(rivals) == 4
    assert np.abs(rivals[:, 0] - 0.5).max() < 0.3
    assert np.ptp(rivals[:, 1]) > 0.5, "they differ where the trials say nothing"


def test_far_apart_stops_where_all_are_the_same() -> None:
    points = np.array([[0.5, 0.5]] * 3 + [[0.9, 0.5]])
    np.testing.assert_array_equal(far_apart(points, SQUARE, 4), [[0.5, 0.5], [0.9, 0.5]])


def test_simulations_disagree_about_what_moves_and_not_about_what_stands(
    pendulum: Twin, pendulum_gaits: SinusoidControllers
) -> None:
    watch = Watch(fitness=FitnessSettings(kind="swing"), series=("angles.*",))
    trials = pendulum_gaits.trials([[0.0, 0.3], [0.2, 0.3], [0.6, 0.3]])
    rivals = np.array([[0.02, 8.0], [0.25, 8.0], [0.02, 7.0]])
    for settings in (DistanceSettings(kind="rms"), DistanceSettings(kind="phi1")):
        distance = make_distance(settings)
        worth = disagreement(pendulum, rivals, trials, watch, distance)
        assert worth.shape == (3,)
        assert worth[2] > worth[1] > 0
        assert (disagreement(pendulum, rivals[:1], trials, watch, distance) == 0).all()
    same = disagreement(pendulum, rivals[[0, 0]], trials, watch, make_distance(DistanceSettings(kind="rms")))
    np.testing.assert_array_equal(same, 0.0)
