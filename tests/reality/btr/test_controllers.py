from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import NutmegError, UsageError
from nutmeg.model.robot import ROBOTS_FOLDER
from nutmeg.motion.sinusoid import read_gait
from nutmeg.reality.btr.controllers import ControllerSettings, SinusoidControllers
from nutmeg.reality.twin import Searched, Twin, TwinSettings


@pytest.fixture(scope="module")
def ant() -> Twin:
    return Twin(TwinSettings(robot="ant"), {"L1_femur": Searched(low=0.6, high=1.4, start=1.0)})


def test_the_ants_controllers_are_the_papers_36_numbers(ant: Twin) -> None:
    controllers = SinusoidControllers.of(ControllerSettings(gait="tripod"), ant)
    assert controllers.space.size == 36
    assert controllers.space.names[:4] == ("L1_yaw.a", "L1_yaw.psi", "L1_lift.a", "L1_lift.psi")
    assert controllers.space.named(controllers.space.start)["L1_yaw.a"] == pytest.approx(0.35)


def test_the_start_commands_the_gait_of_the_file(ant: Twin) -> None:
    settings = ControllerSettings(gait="tripod", seconds=2.0)
    controllers = SinusoidControllers.of(settings, ant)
    trial = controllers.trials(controllers.space.start[None], ["first"])[0]
    gait = read_gait(ROBOTS_FOLDER / "ant" / "gaits.toml", "tripod")
    times = 0.02 * np.arange(100)
    for index, motor in enumerate(ant.table.motors):
        swing = gait.joints[motor]
        wanted = swing.theta + swing.a * np.sin(2 * np.pi * gait.frequency * times + swing.psi)
        np.testing.assert_allclose(trial.commands[:, index], wanted, atol=1e-3)  # phases in the file have four digits
    assert (trial.name, trial.period, len(trial)) == ("first", 0.02, 100)


def test_from_scratch_means_standing_still(ant: Twin) -> None:
    controllers = SinusoidControllers.of(ControllerSettings(gait="tripod", begin="still"), ant)
    commands = controllers.commands(controllers.space.start)
    assert np.ptp(commands, axis=1).max() == 0


def test_a_ramp_lets_swings_grow(ant: Twin) -> None:
    plain = SinusoidControllers.of(ControllerSettings(gait="tripod"), ant)
    ramped = SinusoidControllers.of(ControllerSettings(gait="tripod", ramp=1.0), ant)
    start = plain.space.start
    centre = plain.commands(np.where([n.endswith(".a") for n in plain.space.names], 0.0, start))
    np.testing.assert_allclose(ramped.commands(start)[0, 25], (centre + plain.commands(start))[0, 25] / 2)
    np.testing.assert_array_equal(ramped.commands(start)[0, 50:], plain.commands(start)[0, 50:])


def test_frequency_and_centres_can_be_searched_and_joints_chosen(ant: Twin) -> None:
    settings = ControllerSettings(gait="tripod", search=("centre", "frequency"), joints=("L1_*",))
    controllers = SinusoidControllers.of(settings, ant)
    assert controllers.space.names == ("L1_yaw.theta", "L1_lift.theta", "L1_knee.theta", "frequency")
    moved = controllers.commands(controllers.space.start + np.array([0.1, 0, 0, 0]))
    np.testing.assert_allclose((moved - controllers.commands(controllers.space.start))[0, :, 0], 0.1)


def test_a_controller_is_written_as_a_gait_and_does_the_same(ant: Twin, tmp_path: Path) -> None:
    settings = ControllerSettings(gait="tripod", search=("amplitude", "phase", "frequency"))
    controllers = SinusoidControllers.of(settings, ant)
    found = controllers.space.values(np.random.default_rng(1).random(controllers.space.size))
    file = tmp_path / "found.toml"
    file.write_text(controllers.text("found", found, ""), encoding="utf-8")
    assert read_gait(file, "found") == dataclasses.replace(controllers.gait_of(found), about="")
    again = SinusoidControllers.of(dataclasses.replace(settings, gait="found", file=file), ant)
    np.testing.assert_array_equal(again.commands(again.space.start), controllers.commands(found))


def test_mistakes_are_named(ant: Twin, sway: ControllerSettings) -> None:
    with pytest.raises(NutmegError, match="Did you mean 'tripod'"):
        SinusoidControllers.of(ControllerSettings(gait="tripd"), ant)
    with pytest.raises(UsageError, match=r"no motor is like wheel\*"):
        SinusoidControllers.of(ControllerSettings(gait="tripod", joints=("wheel*",)), ant)
    with pytest.raises(NutmegError, match="unknown motor 'swing'"):
        SinusoidControllers.of(sway, ant)
    with pytest.raises(ValueError, match="0 < period < seconds"):
        ControllerSettings(gait="tripod", period=6.0)
