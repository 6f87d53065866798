"""What can be plotted of a recording, and that plots look like what was recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.recording import Channel, Recording, RecordingWriter
from nutmeg.view.pages.plots import ALL_LABELS, Signals, thinned


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
    with RecordingWriter.create(tmp_path / "put.nutmeg", [channel], kind="log", seed=0) as writer:
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
