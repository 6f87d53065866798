"""Numbers that recordings tell of themselves, in names, columns and metadata."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from nutmeg.base.errors import ModelError, RecordingError
from nutmeg.model import Adjustment
from nutmeg.reality.logs.conditions import StatedNumber, stated_adjustments

KP = {"kp": StatedNumber(sets="servo.xl330.p", factor=0.5, needed=True)}
MASS = {"mass": StatedNumber(sets="robot.weight", names=("mass", "mass_kg", "m"), unit="kg", low=0.1, high=1.0)}


def value(told: dict[str, StatedNumber], name: str) -> float:
    (found,) = stated_adjustments(told, Path(name), {})
    return found.value


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("kp100_sin_sin.csv", 100),
        ("sin_sin_kp75.csv.gz", 75),
        ("lab-KP=1600-2.csv", 1600),
        ("lift_kp_12.5_again.nutmeg", 12.5),
        ("kp400.parquet", 400),
    ],
)
def test_the_name_of_a_recording_tells_its_gain(name: str, number: float) -> None:
    assert stated_adjustments(KP, Path(name), {}) == (Adjustment(target="servo.xl330.p", value=0.5 * number),)


@pytest.mark.parametrize("name", ["sin_sin.csv", "xkp100_sin.csv", "kp100x_sin.csv", "kp_sin.csv", "kpi100.csv"])
def test_a_recording_that_does_not_tell_what_is_needed_says_how_to(name: str) -> None:
    with pytest.raises(RecordingError, match=rf"{name}: does not tell kp.*kp100_.*column 'kp'.*conditions"):
        stated_adjustments(KP, Path(name), {})


def test_numbers_have_other_names_and_units_and_may_be_left_out() -> None:
    assert value(MASS, "kp100_m0.3_lift.csv") == 0.3
    assert value(MASS, "mass-0.57kg_lift.csv") == 0.57
    assert stated_adjustments(MASS, Path("kp100_lift.csv"), {}) == ()


def test_a_number_that_cannot_be_meant_is_an_error() -> None:
    with pytest.raises(RecordingError, match=r"tells 6 for mass in its name; allowed is 0\.1 to 1 kg"):
        value(MASS, "kp100_m6.csv")


def test_a_name_that_tells_two_numbers_is_an_error() -> None:
    with pytest.raises(RecordingError, match="100 and 200"):
        value(KP, "kp100_kp200_sin.csv")


def test_metadata_tell_it_too_and_may_not_say_something_else() -> None:
    assert stated_adjustments(KP, Path("lift.nutmeg"), {"Kp": 200})[0].value == 100.0
    assert stated_adjustments(KP, Path("kp200_lift.nutmeg"), {"kp": 200})[0].value == 100.0
    with pytest.raises(RecordingError, match=r"200 in its metadata \(kp\) and 100 in its name"):
        stated_adjustments(KP, Path("kp100_lift.nutmeg"), {"kp": 200})
    with pytest.raises(RecordingError, match="'high', not a number"):
        stated_adjustments(KP, Path("lift.nutmeg"), {"kp": "high"})


def test_a_column_of_a_csv_file_tells_it_if_it_holds_one_number(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.csv", tmp_path / "b.csv.gz"
    plain.write_text("time;kp\n0.0;300\n0.1;300\n")
    assert stated_adjustments(KP, plain, delimiter=";")[0].value == 150.0
    with gzip.open(packed, "wt") as file:
        file.write("time,kp\n0.0,300\n0.1,301\n")
    with pytest.raises(RecordingError, match="must hold one number; it holds 2"):
        stated_adjustments(KP, packed)


def test_what_it_sets_must_be_something() -> None:
    with pytest.raises(ModelError, match="incomplete"):
        StatedNumber(sets="servo")
    with pytest.raises(ValueError, match="factor"):
        StatedNumber(sets="robot.weight", factor=0.0)
