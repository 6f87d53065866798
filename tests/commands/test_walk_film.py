"""The film of a walk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.commands import walk_film
from nutmeg.commands.walk_film import WALK_PLAN, record_walk
from nutmeg.motion.walk.files import read_walk
from nutmeg.recording import Recording


def test_what_is_filmed_goes_into_every_direction_and_ends_standing(tmp_path: Path) -> None:
    path = tmp_path / "walk.nutmeg"
    assert record_walk(read_walk("initial"), path)
    recording = Recording.open(path)
    assert [event["text"] for event in recording.events] == [name for name, _, _ in WALK_PLAN]
    begins = np.cumsum([0.0, *(seconds for _, _, seconds in WALK_PLAN)])
    rows = np.searchsorted(recording.times, begins[:-1] - 1e-9)
    pose = recording.read("walker.pose", 0, len(recording))
    moved = np.diff(np.vstack([pose[rows, :2], pose[-1:, :2]]), axis=0)
    assert moved[0, 0] > 0.25, "forward"
    assert moved[1, 1] > 0.2, "to the left"
    assert moved[2, 0] < -0.25, "back"
    assert moved[3, 1] < -0.2, "to the right"
    assert np.hypot(*moved[5]) < 0.1, "stopped"


def test_a_walk_that_falls_is_filmed_until_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk_film, "FILMED_AFTER_FALL", 0.2)
    stumbling = read_walk("initial").with_set("walk", {"max_step_x": 0.2, "delta": 0.9, "x_offset": -0.1})
    path = tmp_path / "fall.nutmeg"
    assert not record_walk(stumbling, path)
    recording = Recording.open(path)
    assert recording.finished
    assert len(recording) < 50 * sum(seconds for _, _, seconds in WALK_PLAN)
