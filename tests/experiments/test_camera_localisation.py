"""Localisation from pictures: a short walk is measured, recorded and plotted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nutmeg.experiments.experiment import perform
from nutmeg.experiments.naoisis import camera_localisation
from nutmeg.recording import Recording

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_who_looks_at_pictures_knows_where_it_is_and_errors_are_recorded(tmp_path: Path) -> None:
    size = camera_localisation.Scale(seconds=5.0, search=1.0)
    settings = camera_localisation.Settings(seed=1, seeds=1, size=size)
    answer = perform(camera_localisation, tmp_path, settings)
    pictures = answer["conditions"]["pictures"]
    assert answer["met"]
    assert pictures["median_error"] < 0.3
    assert pictures["median_turn"] < np.radians(10.0)
    recording = Recording.open(tmp_path / "seed-1.nutmeg")
    truth, believed = recording.read("truth.pose"), recording.read("pictures.pose")
    assert len(truth) == 50
    off = np.median(np.linalg.norm(truth[:, :2] - believed[:, :2], axis=1))
    assert off == pytest.approx(pictures["median_error"], abs=1e-3)
    assert (tmp_path / "camera-localisation.png").stat().st_size > 10_000
    shown = camera_localisation.table(answer)
    assert [row[0] for row in shown.rows] == ["pictures", "shaken", "odometry"]
    again = camera_localisation.run(tmp_path, settings)
    assert again["runs"] == answer["runs"]
