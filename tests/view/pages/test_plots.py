"""What can be plotted of a recording, and that plots look like what was recorded."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.recording import Channel, Manifest, Recording, RecordingWriter
from nutmeg.view.pages import plots
from nutmeg.view.pages.plots import ALL_LABELS, Signals, SignalTable, bridged, packed_series, thinned


def test_every_channel_can_be_plotted_whole_or_by_one_label(recorded: Path) -> None:
    signals = Signals(Recording.open(recorded))
    assert signals.find("a.angles") == ("a.angles", ALL_LABELS)
    assert signals.find("a.angles.LKneePitch") == ("a.angles", "LKneePitch")
    assert signals.read("a.angles", 3, 10).shape == (7, 9)


@pytest.mark.parametrize(
    ("name", "known"), [("a.angels", "a.angles"), ("a.angles.LKnePitch", "LKneePitch"), ("", "a.")]
)
def test_an_unknown_name_is_answered_with_those_there_are(recorded: Path, name: str, known: str) -> None:
    with pytest.raises(UnknownNameError, match=known):
        Signals(Recording.open(recorded)).find(name)


def test_speeds_are_those_of_the_recorded_places(recorded: Path) -> None:
    """The toy ball rolls at 0.2 m/s; poses of the toy are stored exactly."""
    speeds = Signals(Recording.open(recorded)).read("ball.speed", 20, 120)
    assert speeds == pytest.approx(0.2, abs=1e-6)


def test_a_ball_that_is_put_somewhere_else_has_no_speed_then(tmp_path: Path) -> None:
    channel = Channel(name="ball.pose", labels=("x", "y", "z", "qw", "qx", "qy", "qz"), unit="m")
    with RecordingWriter.create(tmp_path / "put.nutmeg", Manifest(kind="log", seed=0, channels=(channel,))) as writer:
        for row in range(50):
            writer.append(0.02 * row, np.array([0.01 * row + (9.0 if row >= 20 else 0.0), 0, 0, 1, 0, 0, 0]))
    speeds = Signals(Recording.open(tmp_path / "put.nutmeg")).read("ball.speed", 0, 50)[:, 0]
    assert np.isnan(speeds[20:25]).all()
    assert np.nanmax(speeds) == pytest.approx(0.5)
    assert np.isfinite(speeds[30:]).all()


def test_a_distance_to_the_ball_is_measured_on_the_ground(recorded: Path) -> None:
    recording = Recording.open(recorded)
    apart = Signals(recording).read("a.to_ball", 0, 1)[0, 0]
    gap = recording.read("a.pose", 0, 1)[0, :2] - recording.read("ball.pose", 0, 1)[0, :2]
    assert apart == pytest.approx(float(np.hypot(*gap)))


def test_the_errors_of_beliefs_are_distances_to_the_truth(match_path: Path) -> None:
    recording = Recording.open(match_path)
    errors = Signals(recording).read("left1.belief_error", 100, 101)[0]
    place = recording.read("left1.pose", 100, 101)[0, :2]
    assert errors[0] == pytest.approx(float(np.hypot(*(place - [-2.0, 1.3]))), abs=0.01)


def test_a_long_curve_is_thinned_without_losing_its_peaks() -> None:
    times = np.arange(100_000) * 0.02
    values = np.zeros((100_000, 2))
    values[54_321, 0], values[99_999, 1] = 7.0, -3.0
    moments, thin = thinned(times, values, most=1000)
    assert len(moments) == len(thin) < 1200
    assert (np.diff(moments) > 0).all()
    assert thin[:, 0].max() == 7.0
    assert thin[:, 1].min() == -3.0
    assert thinned(times[:500], values[:500], most=1000)[0] is not None
    assert len(thinned(times[:500], values[:500], most=1000)[0]) == 500


def test_a_channel_that_was_measured_less_often_than_others_is_a_line_and_a_gap_stays_one() -> None:
    times = np.concatenate([np.arange(0.0, 2.0, 0.1), np.arange(7.0, 9.0, 0.1)])  # nothing for five seconds
    slow = np.where(np.arange(len(times)) % 5 == 0, times, np.nan)
    moments, values = bridged(times, np.stack([times, slow], axis=1))
    assert len(moments) == len(times) + 1
    assert np.isnan(values[20]).all(), "the row that breaks both lines"
    known = np.isfinite(values[:, 1])
    assert values[known, 1] == pytest.approx(moments[known])
    assert known[:16].all()
    assert not known[16:20].any(), "its last value before the gap is not drawn on"
    assert (np.diff(moments) > 0).all()


def test_a_channel_without_any_value_has_no_line() -> None:
    times = np.arange(0.0, 1.0, 0.1)
    _, values = bridged(times, np.full((10, 1), np.nan))
    assert np.isnan(values).all()


def unpacked(packed: dict[str, Any], rows: int) -> np.ndarray:
    """Series (rows, n) as `replay_plots.js` unpacks them."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), np.uint8).reshape(2, -1).astype(int)
    steps = np.cumsum((planes[0] + 256 * planes[1]).reshape(-1, rows), axis=1).T % 65536
    low, high = np.array(packed["low"]), np.array(packed["high"])
    return np.where(steps == 65535, np.nan, low + steps * (high - low) / 65534)


def test_packed_series_are_those_that_were_packed() -> None:
    rng = np.random.default_rng(3)
    values = (rng.normal(size=(500, 4)) * [1e-3, 1.0, 50.0, 0.0] + [0, 5, -1e4, 7]).astype(np.float32)
    values[rng.random((500, 4)) < 0.1] = np.nan
    values[:, 2] = np.nan
    found = unpacked(packed_series(values), 500)
    assert (np.isnan(found) == np.isnan(values)).all()
    for column in (0, 1, 3):
        span = np.nanmax(values[:, column]) - np.nanmin(values[:, column])
        assert np.nanmax(np.abs(found[:, column] - values[:, column])) <= span / 65534 + 1e-6
    assert len(packed_series(values[:0])["low"]) == 4, "a recording without rows"


def test_of_a_long_recording_every_so_many_rows_are_kept_however_it_was_read(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = Recording.open(recorded)
    monkeypatch.setattr(plots, "MAX_VALUES", 3000)
    monkeypatch.setattr(plots, "ROWS_PER_READ", 17)
    whole, pieces = SignalTable(recording), SignalTable(recording)
    whole.take()
    for end in np.arange(0.0, 4.0, 0.13):
        pieces.take(float(end))
    one, other = whole.packed(["ball.speed"]), pieces.packed(["ball.speed"])
    assert one == other
    assert 10 < one["rows"] < len(recording) / 2
    assert one["period"] == pytest.approx(0.02 * round(len(recording) / one["rows"]), abs=0.021)
    assert one["first"] == [["ball.speed", ALL_LABELS]]
    times = np.frombuffer(zlib.decompress(base64.b64decode(one["times"])), "<f4")
    signal = next(s for s in one["signals"] if s["name"] == "ball.pose")
    rows = [recording.row_at(recording.times[0] + t + 1e-4) for t in times]
    assert unpacked(signal, one["rows"]) == pytest.approx(recording.read("ball.pose")[rows], abs=1e-3)


def test_ten_hours_of_recording_are_thinned_to_what_a_page_can_draw(tmp_path: Path) -> None:
    channel = Channel(name="servo.position", labels=("knee",), unit="rad", resolution=1e-4)
    times = np.arange(0.0, 36_000.0, 0.04)  # 900,000 rows
    with RecordingWriter.create(
        tmp_path / "long.nutmeg", Manifest(kind="log", seed=0, channels=(channel,)), rows_per_chunk=50_000
    ) as log:
        log.append_many(times, np.sin(times[:, None]))
    recording = Recording.open(tmp_path / "long.nutmeg")
    values = Signals(recording).read("servo.position", 0, len(recording))
    moments, drawn = thinned(*bridged(np.asarray(recording.times), values))
    assert len(moments) <= plots.MAX_POINTS + 2
    assert drawn.max() == pytest.approx(1.0, abs=1e-3)
    table = SignalTable(recording)
    table.take()
    assert 100_000 < table.packed()["rows"] <= plots.MAX_VALUES
