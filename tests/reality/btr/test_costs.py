from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.reality.btr.costs import LinearDiscrepancy


def test_a_linear_discrepancy_is_found_exactly() -> None:
    simulated = np.array([0.1, 0.2, 0.4, np.nan])
    correction = LinearDiscrepancy.fit(simulated, 0.05 + 0.5 * simulated)
    assert correction.offset == pytest.approx(0.05)
    assert correction.slope == pytest.approx(0.5)
    assert correction.residual == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(correction.predict([0.3]), [0.2])


def test_one_trial_tells_an_offset_only() -> None:
    correction = LinearDiscrepancy.fit([0.3], [0.2])
    np.testing.assert_allclose(correction.predict([0.3, 0.5]), [0.2, 0.4])


def test_the_controllers_numbers_explain_what_fitness_does_not() -> None:
    rng = np.random.default_rng(0)
    controllers, simulated = rng.random((60, 3)), rng.random(60)
    real = simulated + controllers @ np.array([0.5, 0.0, -0.5])
    plain = LinearDiscrepancy.fit(simulated, real)
    full = LinearDiscrepancy.fit(simulated, real, controllers)
    assert full.residual < 0.4 * plain.residual
    best = controllers[np.argmax(full.predict(simulated, controllers))]
    assert best[0] > best[2]
    with pytest.raises(UsageError, match="give them to predict"):
        full.predict(simulated)


def test_nothing_known_is_an_error() -> None:
    with pytest.raises(UsageError, match="some known"):
        LinearDiscrepancy.fit([np.nan], [1.0])
