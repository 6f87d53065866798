"""The real servo: its recordings, what is left out of a fit, and the peer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mujoco import sysid

from nutmeg.errors import EnvironmentProblem
from nutmeg.reality.chosen_files import found_files
from nutmeg.reality.identification import Identification
from nutmeg.reality.identify_settings import read_identify
from nutmeg.reproduce.servo_xl330 import SPLITS, Split
from nutmeg.reproduce.sysid_peer import least_squares_fit

CONFIGURATION = Path(__file__).parents[2] / "examples" / "servo_xl330" / "identify.toml"
RECORDINGS = sorted((CONFIGURATION.parent / "recordings").glob("*.csv"))
FOUND = {
    "stall_torque": 2.785e-3, "rotor_inertia": 2.181e-8, "coulomb": 0.01145, "viscous": 6.914e-3,
    "squeeze_friction": 0.6978, "squeeze_static": 2.638, "squeeze_speed": 1.843, "offset": 0.028,
}  # fmt: skip
"""Of `nutmeg identify --seed 0` without the recordings of gain 100, at 5 ms steps."""
INSTALLED = hasattr(sysid, "optimize")


def fit(pattern: str) -> Identification:
    settings = read_identify(CONFIGURATION)
    train = found_files([f"recordings/{pattern}.csv"], CONFIGURATION.parent, "train")
    return Identification(settings, train=train, held_out={}, seed=0)


def test_every_recording_has_the_gain_in_its_name() -> None:
    recordings = read_identify(CONFIGURATION).recordings
    assert len(RECORDINGS) == 12
    for path in RECORDINGS:
        (condition,) = recordings.conditions_of(path.name)
        gain = int(path.stem.partition("_")[0].removeprefix("kp"))
        assert condition.target == "servo.xl330.p"
        assert condition.value == pytest.approx(gain / 256 * 4096 / (2 * np.pi) / 885 * 7.35, rel=1e-4)


@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name)
def test_what_is_left_out_is_a_part_of_the_recordings(split: Split) -> None:
    for pattern in split.left_out:
        matching = [path for path in RECORDINGS if Path(path.stem).match(pattern)]
        assert len(matching) in (3, 4)


def test_an_identified_servo_predicts_a_gain_that_it_was_not_fitted_to() -> None:
    one = fit("kp100_*")
    space = one.twin.space
    candidates = np.stack([space.start, space.array(FOUND)])
    errors = np.mean(list(one.cost.per_recording(candidates, one.error).values()), axis=0) * one.factor
    assert errors[0] > 3.0
    assert errors[1] < 1.9


@pytest.mark.skipif(INSTALLED, reason="mujoco.sysid is installed")
def test_without_its_packages_the_peer_says_what_to_install() -> None:
    with pytest.raises(EnvironmentProblem, match=r"mujoco-core\[sysid\]"):
        least_squares_fit(fit("kp200_up_and_down").cost, iterations=1)


@pytest.mark.skipif(not INSTALLED, reason="mujoco.sysid is not installed")
def test_the_peer_reduces_the_error_of_what_it_is_given() -> None:
    one = fit("kp200_up_and_down")
    found = least_squares_fit(one.cost, iterations=2)
    values = one.cost(np.stack([one.twin.space.start, found.candidate]))
    assert values[1] < 0.7 * values[0]
    assert found.evaluations > one.twin.space.size


def test_friction_under_load_is_what_holds_the_weight() -> None:
    one = fit("kp800_up_and_down")
    space = one.twin.space
    bare = FOUND | {"squeeze_friction": 0.0, "squeeze_static": 0.0}
    values = one.cost(np.stack([space.array(FOUND), space.array(bare)]))
    assert values[0] < 0.5 * values[1]
