from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import RecordingError
from nutmeg.recording import Channel, Recording, RecordingWriter
from nutmeg.view.stage.film import WINDOW_ROWS, Film


def test_a_film_shows_the_recorded_rows_and_moves_evenly_between_them(recorded: Path, toy: Any) -> None:
    film = Film.open(recorded)
    assert film.robots == ("a", "b")
    expected = film.posture.qpos(toy.values(np.array([1.0, 1.02])))
    assert film.qpos_at(1.0) == pytest.approx(expected[0], abs=1e-6)
    x = film.model.joint("a/root").qposadr[0]
    assert film.qpos_at(1.01)[x] == pytest.approx(expected[:, x].mean(), abs=1e-6)


def test_times_outside_the_recording_show_its_ends(recorded: Path) -> None:
    film = Film.open(recorded)
    assert np.array_equal(film.qpos_at(-5.0), film.qpos_at(film.start))
    assert np.array_equal(film.qpos_at(99.0), film.qpos_at(film.end))


def test_a_long_film_keeps_only_a_window_of_rows(tmp_path: Path, toy: Any) -> None:
    film = Film.open(toy.record(tmp_path / "long.nutmeg", seconds=30))
    rows = [film.qpos_at(t) for t in (0.0, 29.0, 3.0, 15.0)]
    assert len(film.times) == 1501
    assert len(film._window) <= WINDOW_ROWS
    assert np.array_equal(film.qpos_at(0.0), rows[0])


def test_a_growing_recording_gets_longer_after_a_refresh(tmp_path: Path, toy: Any) -> None:
    labels = toy.labels()
    channels = [Channel(name=n, labels=k, unit="1") for n, k in labels.items()]
    values = toy.values(np.array([0.0, 0.1]))
    rows = np.concatenate([values[n] for n in labels], axis=1)
    path = tmp_path / "live.nutmeg"
    with RecordingWriter.create(path, channels, kind="scene", seed=0, scene_xml=toy.xml()) as writer:
        film = Film.open(path)
        assert film.frame_count(25) == 0
        assert np.array_equal(film.qpos_at(0.0), film.posture.rest)
        writer.append(0.0, rows[0])
        writer.append(0.1, rows[1])
        assert film.refresh()
        assert film.end == 0.1
        assert film.qpos_at(0.1) == pytest.approx(film.posture.qpos(values)[1])
        assert not film.recording.finished


def test_a_recording_without_a_scene_cannot_be_shown(tmp_path: Path) -> None:
    channels = [Channel(name="servo", labels=("angle",), unit="rad")]
    with RecordingWriter.create(tmp_path / "s.nutmeg", channels, kind="servo", seed=0) as writer:
        writer.append(0.0, np.zeros(1))
    with pytest.raises(RecordingError, match=r"no scene\.xml"):
        Film(Recording.open(tmp_path / "s.nutmeg"))


def test_frames_come_at_the_asked_rate_and_include_both_ends(recorded: Path) -> None:
    film = Film.open(recorded)
    moments = [moment for moment, _ in film.frames(25)]
    assert len(moments) == film.frame_count(25) == 76
    assert moments[-1] == pytest.approx(3.0)
    assert film.frame_count(25, seconds=1.0) == 26
