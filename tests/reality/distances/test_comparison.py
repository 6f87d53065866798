"""Recordings compared: names, times and ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import RecordingError
from nutmeg.reality import Alignment, DistanceSettings, compare, make_distance, read_behaviours
from nutmeg.recording import Channel, Recording, RecordingWriter

JOINTS = ("hip", "knee")
Record = Callable[..., Recording]


def motion(times: np.ndarray) -> np.ndarray:
    return np.stack([np.sin(times), 2 * times], axis=1)


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """A function that records `motion` at some times under some names."""

    def write(
        name: str,
        times: np.ndarray,
        *,
        channel: str = "nao.angles",
        labels: tuple[str, ...] = JOINTS,
        unit: str = "rad",
        error: float = 0.0,
        shift: float = 0.0,
        fall: float | None = None,
    ) -> Recording:
        series = dict(zip(JOINTS, motion(times - shift).T + error, strict=True))
        values = np.stack([series.get(label, np.zeros(len(times))) for label in labels], axis=1)
        channels = [Channel(name=channel, labels=labels, unit=unit)]
        with RecordingWriter.create(tmp_path / name, channels, kind="scene", seed=0) as writer:
            writer.append_many(times, values)
            if fall is not None:
                writer.event(fall, "fall")
        return Recording.open(tmp_path / name)

    return write


def test_labels_are_matched_by_name_and_times_by_interpolation(record: Record) -> None:
    real = record("real.nutmeg", np.arange(0, 5, 0.05))
    simulated = record("simulated.nutmeg", np.arange(0, 5, 0.004), labels=("knee", "toe", "hip"), error=0.1)
    table = compare(real, simulated)
    assert [row.column for row in table.channels] == ["nao.angles.hip", "nao.angles.knee"]
    assert table.left_out == ("nao.angles.toe",)
    for row in table.channels:
        assert row.rms == pytest.approx(0.1, abs=1e-5)
        assert row.mean_absolute == pytest.approx(0.1, abs=1e-5)
        assert (row.unit, row.samples, row.missing) == ("rad", 100, 0)
    assert json.loads(json.dumps(table.as_json()))["channels"][0]["column"] == "nao.angles.hip"


def test_a_delay_and_clocks_that_start_elsewhere_are_taken_into_account(record: Record) -> None:
    times = np.arange(0, 4, 0.01)
    simulated = record("simulated.nutmeg", times)
    late = record("late.nutmeg", times, shift=0.3)
    table = compare(late, simulated, alignment=Alignment(delay=0.3))
    assert max(row.rms for row in table.channels) < 1e-9
    assert {row.missing for row in table.channels} == {30}
    other_clock = record("other.nutmeg", times + 1000, shift=1000)
    with pytest.raises(RecordingError, match=r"from 1000 s to 1003.99 s.*from 0 s to 3.99 s.*from_start"):
        compare(other_clock, simulated)
    table = compare(other_clock, simulated, alignment=Alignment(from_start=True))
    assert max(row.rms for row in table.channels) < 1e-9
    assert table.frames == 400


@pytest.mark.parametrize("which", ["real", "simulated", "shorter"])
def test_rows_count_until_the_fall_or_the_end_of_the_shorter_recording(record: Record, which: str) -> None:
    times = np.arange(400) * 0.01
    real = record("real.nutmeg", times, fall=2.0 if which == "real" else None)
    end = 200 if which == "shorter" else 400
    simulated = record("simulated.nutmeg", times[:end], fall=2.0 if which == "simulated" else None)
    table = compare(real, simulated)
    assert table.frames == 200
    assert {(row.samples, row.missing) for row in table.channels} == {(200, 0)}


def test_any_distance_takes_recordings(record: Record) -> None:
    times = np.arange(100) * 0.02
    real = record("real.nutmeg", times)
    simulated = [record(f"{i}.nutmeg", times, error=0.1 * i, channel="sim.angles") for i in range(3)]
    behaviours = read_behaviours(real, simulated, {"nao.angles": "sim.angles"})
    found = make_distance(DistanceSettings(kind="joint_error", exponent=2.0)).per_trial(*behaviours)
    np.testing.assert_allclose(found, 2 * np.array([0.0, 0.01, 0.04]) / 100, atol=1e-12)


def test_wrong_channels_are_errors_that_name_both_files_and_what_is_there(record: Record) -> None:
    times = np.arange(10) * 0.1
    real = record("real.nutmeg", times)
    renamed = record("renamed.nutmeg", times, channel="nao.angels")
    fewer = record("fewer.nutmeg", times, labels=("hip",))
    degrees = record("degrees.nutmeg", times, unit="deg")
    with pytest.raises(RecordingError, match=r"(?s)real.nutmeg and .*renamed.nutmeg have no column.*nao.angels"):
        compare(real, renamed)
    with pytest.raises(RecordingError, match=r"renamed.nutmeg.*no channel 'nao.angles'.*'nao.angels'.*real.nutmeg has"):
        compare(real, renamed, ["nao.angles"])
    with pytest.raises(RecordingError, match=r"fewer.nutmeg: .* no 'knee'. It has hip; .*real.nutmeg has hip, knee"):
        compare(real, fewer, ["nao.angles"])
    with pytest.raises(RecordingError, match=r"real.nutmeg has .* in rad, but .*degrees.nutmeg has .* in deg"):
        compare(real, degrees)
    with pytest.raises(RecordingError, match=r"real.nutmeg \(the real recording\) has no channel 'ball'"):
        compare(real, renamed, ["ball"])
    with pytest.raises(RecordingError, match="no channels were asked for"):
        compare(real, renamed, [])
