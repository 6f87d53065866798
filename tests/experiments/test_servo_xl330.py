"""The real servo: its recordings, what is left out of a fit, and the peer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.experiments.identification import servo_xl330
from nutmeg.experiments.identification.servo_xl330 import M6_SPACE, SPLITS, Split, fit_without
from nutmeg.reality.identify.identification import Identification
from nutmeg.reality.identify.settings import read_identify
from nutmeg.reality.logs.conditions import stated_adjustments
from nutmeg.reality.logs.replay import found_files

CONFIGURATION = Path(__file__).parents[2] / "examples" / "servo_xl330" / "identify.toml"
RECORDINGS = sorted((CONFIGURATION.parent / "recordings").glob("*.csv"))
FOUND = {
    "stall_torque": 2.702e-3, "rotor_inertia": 2.398e-8, "coulomb": 9.833e-3, "viscous": 8.448e-3,
    "squeeze_friction": 2.066, "squeeze_static": 1.506, "squeeze_speed": 0.1172, "offset": 0.02015,
}  # fmt: skip
"""Of `nutmeg identify --seed 0` without the recordings of gain 100."""


def fit(pattern: str) -> Identification:
    settings = read_identify(CONFIGURATION)
    train = found_files([f"recordings/{pattern}.csv"], CONFIGURATION.parent, "train")
    return Identification(settings, train=train, held_out={}, seed=0)


def test_every_recording_tells_its_gain() -> None:
    told = read_identify(CONFIGURATION).recordings.told
    assert len(RECORDINGS) == 12
    for path in RECORDINGS:
        (condition,) = stated_adjustments(told, path)
        gain = int(path.stem.partition("_")[0].removeprefix("kp"))
        assert condition.target == "servo.xl330.p"
        assert condition.value == pytest.approx(gain / 256 * 4096 / (2 * np.pi) / 885 * 7.35, rel=1e-6)


def test_recordings_of_other_gains_weights_and_arms_can_be_fitted(tmp_path: Path) -> None:
    path = tmp_path / "later_kp350_m0.3_l0.15.csv"
    path.write_text(RECORDINGS[0].read_text())
    settings = read_identify(CONFIGURATION)
    one = Identification(settings, train=found_files([path.name], tmp_path, "train"), held_out={}, seed=0)
    conditions = {c.target: c.value for c in one.measured[0].trial.conditions}
    assert conditions == pytest.approx({"servo.xl330.p": 350 * 0.021148725, "robot.weight": 0.3, "robot.length": 0.15})
    scene = one.twin.base
    assert scene.model.body("robot/arm").mass == pytest.approx(0.49)
    assert np.isfinite(one.cost(one.twin.space.start[None])[0])


def short_bench(folder: Path) -> Path:
    """The configuration with the first quarter of a second of every recording."""
    for path in (*CONFIGURATION.parent.glob("*.toml"), *RECORDINGS):
        target = folder / path.relative_to(CONFIGURATION.parent)
        target.parent.mkdir(exist_ok=True)
        lines = path.read_text().splitlines()
        target.write_text("\n".join(lines[:50] if path.suffix == ".csv" else lines) + "\n")
    return folder / CONFIGURATION.name


@pytest.mark.slow
def test_an_interrupted_experiment_goes_on_and_ends_with_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "nutmeg.experiments.identification.servo_xl330.SPLITS", SPLITS[1:]
    )  # two fits are enough to see it
    config, out = short_bench(tmp_path), tmp_path / "out"
    settings = servo_xl330.Settings(quick=True, seed=2, seeds=2, reality=config)
    said: list[str] = []
    first = servo_xl330.run(out, settings, said.append)
    assert [row["left_out"] for row in first["splits"]] == ["sin_time_square", "lift_and_drop"]
    assert all(len(row["per_seed"]) == 2 for row in first["splits"])
    assert "to go" in said[0]
    assert all(row["m6"] > 0 for row in first["splits"])
    assert (out / "servo-xl330.png").stat().st_size > 10_000
    untouched = (out / "without-sin_time_square" / "seed-2.json").stat().st_mtime_ns
    (out / "without-lift_and_drop" / "seed-3.json").unlink()
    (searched,) = out.glob("searches/*/without-lift_and_drop/seed-3/search.jsonl")
    lines = searched.read_text().splitlines(keepends=True)
    searched.write_text("".join(lines[:3]) + lines[3][:100])  # two generations, and what a crash left of the third
    again = servo_xl330.run(out, settings)
    assert again["splits"] == first["splits"]
    assert searched.read_text().splitlines(keepends=True) == lines
    assert (out / "without-sin_time_square" / "seed-2.json").stat().st_mtime_ns == untouched


@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name)
def test_what_is_left_out_is_a_part_of_the_recordings(split: Split) -> None:
    for pattern in split.left_out:
        matching = [path for path in RECORDINGS if Path(path.stem).match(pattern)]
        assert len(matching) in (3, 4)


def test_an_identified_servo_predicts_a_gain_that_it_was_not_fitted_to() -> None:
    one = fit("kp100_*")
    space = one.twin.space
    candidates = np.stack([space.start, space.array(FOUND)])
    whole = one.cost.of(one.reported)
    errors = np.mean(list(whole.per_recording(candidates, one.error).values()), axis=0) * one.factor
    assert errors[0] > 3.0
    assert errors[1] < 1.3


def test_the_model_like_m6_predicts_a_gain_that_it_was_not_fitted_to(tmp_path: Path) -> None:
    found = fit_without(tmp_path, CONFIGURATION, "kp200_*", "M6", quick=True, seed=0)
    assert set(found["parameters"]) == set(M6_SPACE.names)
    assert found["held_out"] < 4.0, "the servo of the data sheet has 5.7"


def test_friction_under_load_is_what_holds_the_weight() -> None:
    one = fit("kp800_up_and_down")
    space = one.twin.space
    bare = FOUND | {"squeeze_friction": 0.0, "squeeze_static": 0.0}
    values = one.cost(np.stack([space.array(FOUND), space.array(bare)]))
    assert values[0] < 0.5 * values[1]
