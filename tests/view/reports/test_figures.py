"""Figures of experiments: each is a PNG file with something on it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nutmeg.search import CmaEs, CmaEsSettings, Dimension, InThisThread, Space, minimise
from nutmeg.view.reports import figures

TIMES = np.linspace(0.0, 2.0, 50)
WAVE = np.sin(3 * TIMES)
SPACE = Space({"mass": Dimension(low=0, high=1, unit="kg"), "play": Dimension(low=0.01, high=1, scale="log")})


def history() -> Any:
    searcher = CmaEs(SPACE, CmaEsSettings(), np.random.default_rng(1))
    return minimise(lambda c, _: c.sum(axis=1), searcher, InThisThread(), budget=40).history


def walk() -> Any:
    tilt = np.stack([WAVE, WAVE], axis=1)
    trial = SimpleNamespace(times=TIMES, pitch=tilt, roll=tilt, place=np.cumsum(np.ones((50, 2, 3)), axis=0) / 100)
    return SimpleNamespace(name="ideal", trial=trial, fallen_at=1.5)


@pytest.mark.parametrize(
    "plot",
    [
        lambda path: figures.plot_following(path, {"knee": (WAVE, WAVE, np.stack([WAVE, 0.9 * WAVE]))}, period=0.04),
        lambda path: figures.plot_parameters(path, history(), SPACE, np.array([0.3, 0.1])),
        lambda path: figures.plot_errors(path, history(), label="error [m]"),
        lambda path: figures.plot_falls(path, {"n = 1": 1 + TIMES}, period=0.04),
        lambda path: figures.plot_walks([walk()], path, commanded=0.2, title="walks"),
        lambda path: figures.plot_predictions([figures.Predicted("kp8", {"a.csv": (TIMES, WAVE, 0.9 * WAVE)})], path),
    ],
    ids=["following", "parameters", "errors", "falls", "walks", "predictions"],
)
def test_a_figure_is_a_picture_with_something_on_it(plot: Any, tmp_path: Path) -> None:
    plot(tmp_path / "figure.png")
    picture = np.asarray(Image.open(tmp_path / "figure.png").convert("L"), float)
    assert picture.shape[1] > 400
    assert (picture < 200).mean() > 0.003
