"""Fitting by responses of series to the searched numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.reality.identify.excitation import ExcitationSettings, excitations
from nutmeg.reality.identify.response_fit import ResponseFitSettings, fit_responses
from nutmeg.reality.observation import Watch
from nutmeg.reality.realities.hidden import HiddenSimulation
from nutmeg.reality.twin import TWIN_ROBOT, Searched, Twin, TwinSettings
from nutmeg.sim.worlds import Worlds

SCALES = {"pose.*": 0.05, "pose.z": 0.01}
FIT = ResponseFitSettings(candidates=6, rounds=4)
WATCH = Watch(fitness=None, series=("pose.*",))


@pytest.fixture(scope="module")
def ant() -> Twin:
    return Twin(TwinSettings(robot="ant", timestep=0.01), {"L1_tibia": Searched(low=0.5, high=1.5, start=1.0)})


def test_a_hidden_length_is_found_from_one_short_trial_and_again_with_the_same_seed(ant: Twin) -> None:
    trials = excitations(ExcitationSettings(seconds=1.2), ant.table, Worlds(ant.base).robot(TWIN_ROBOT).start, [2])
    real = [one.behaviour for one in HiddenSimulation(ant, {"L1_tibia": 1.23}, WATCH).try_out(trials)]
    results = [
        fit_responses(ant, trials, real, WATCH, scales=SCALES, settings=FIT, rng=np.random.default_rng(7))
        for _ in range(2)
    ]
    assert results[0].estimate[0] == pytest.approx(1.23, abs=0.03)
    assert results[0].candidates == 24
    assert results[0].course.shape == (4, 1)
    assert np.array_equal(results[0].estimate, results[1].estimate)
    assert abs(results[0].course[-1, 0] - 1.23) <= abs(results[0].course[0, 0] - 1.23)


def test_too_few_candidates_a_round_are_refused(ant: Twin) -> None:
    settings = dataclasses.replace(FIT, candidates=4)
    with pytest.raises(UsageError, match="at least 5"):
        fit_responses(ant, [], [], WATCH, scales=SCALES, settings=settings, rng=np.random.default_rng(0))
