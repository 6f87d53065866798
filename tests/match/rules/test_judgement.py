"""The survey by which rules see that they apply to nobody."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.match.rules.judgement import survey_players


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_survey_finds_the_extremes_of_active_players_and_passes_over_numbers_that_are_none(missing: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        position, active = rng.normal(size=(2, 11, 3)), rng.random((2, 11)) < 0.5
        position[rng.random(position.shape) < missing] = np.nan
        lowest, foremost = survey_players(position, active)
        assert lowest == min((z for z in position[active][:, 2] if not math.isnan(z)), default=math.inf)
        for side, sign in ((0, 1), (1, -1)):
            ahead = sign * position[side, active[side], 0]
            assert foremost[side] == max((x for x in ahead if not math.isnan(x)), default=-math.inf)


def test_a_survey_of_nobody_finds_nothing() -> None:
    assert survey_players(np.zeros((2, 11, 3)), np.zeros((2, 11), bool)) == (math.inf, (-math.inf, -math.inf))
