"""Slow random motions that tell about a body."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UnknownNameError
from nutmeg.reality.identify.design import ExcitationSettings, excitations
from nutmeg.reality.twin import TWIN_ROBOT, Searched, Twin, TwinSettings
from nutmeg.sim.worlds import Worlds


@pytest.fixture(scope="module")
def ant() -> Twin:
    return Twin(TwinSettings(robot="ant"), {"L1_tibia": Searched(low=0.5, high=1.5, start=1.0)})


def _rest(twin: Twin) -> Floats:
    return np.asarray(Worlds(twin.base).robot(TWIN_ROBOT).start)


def test_a_motion_begins_at_rest_and_stays_within_the_limits_of_joints(ant: Twin) -> None:
    settings = ExcitationSettings(amplitude={"*": 2.0})
    trial = excitations(settings, ant.table, _rest(ant), [1])[0]
    limits = ant.table.limits[ant.table.motor_joints]
    assert np.allclose(trial.commands[0], _rest(ant))
    assert (trial.commands > limits[:, 0]).all()
    assert (trial.commands < limits[:, 1]).all()
    assert trial.seconds == pytest.approx(4.0)


def test_the_same_seed_is_the_same_motion_and_another_seed_another(ant: Twin) -> None:
    first, again, other = excitations(ExcitationSettings(), ant.table, _rest(ant), [5, 5, 6])
    assert np.array_equal(first.commands, again.commands)
    assert not np.allclose(first.commands, other.commands)


def test_only_motors_that_a_pattern_names_move_and_centres_are_reached(ant: Twin) -> None:
    settings = ExcitationSettings(amplitude={"L1_*": 0.2}, centre={"R2_lift": 0.9})
    trial = excitations(settings, ant.table, _rest(ant), [1])[0]
    motors = list(ant.table.motors)
    late = trial.commands[50:]
    assert np.ptp(late[:, motors.index("L1_knee")]) > 0.05
    assert np.ptp(late[:, motors.index("L2_knee")]) == 0
    assert np.allclose(late[:, motors.index("R2_lift")], 0.9)


def test_no_tone_is_faster_than_asked_for(ant: Twin) -> None:
    settings = ExcitationSettings(seconds=20.0, amplitude={"*_yaw": 0.1}, frequency=(0.2, 0.4), ease=0.0)
    trial = excitations(settings, ant.table, _rest(ant), [3])[0]
    yaw = trial.commands[:, list(ant.table.motors).index("L1_yaw")]
    power = np.abs(np.fft.rfft((yaw - yaw.mean()) * np.hanning(len(yaw)))) ** 2
    frequencies = np.fft.rfftfreq(len(yaw), settings.period)
    assert power[(frequencies > 0.05) & (frequencies < 0.55)].sum() > 0.99 * power.sum()


def test_a_pattern_that_fits_no_motor_is_an_error(ant: Twin) -> None:
    with pytest.raises(UnknownNameError, match="L1_nkee"):
        excitations(ExcitationSettings(amplitude={"L1_nkee": 0.1}), ant.table, _rest(ant), [1])
