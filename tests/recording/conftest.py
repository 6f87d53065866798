"""Small recordings for the tests of the chapter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.recording import Channel, Manifest, RecordingWriter

CHANNELS = (
    Channel(name="nao1.angles", labels=("HeadYaw", "HeadPitch"), unit="rad", resolution=1e-4),
    Channel(name="ball", labels=("x", "y", "z"), unit="m", about="Centre of the ball."),
)

Record = Callable[..., Path]


def signal(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Times `(rows,)` at 50 Hz and values `(rows, 5)`."""
    times = 0.02 * np.arange(1, rows + 1)
    return times, np.sin(times[:, np.newaxis] * np.arange(1, 6))


@pytest.fixture
def channels() -> tuple[Channel, ...]:
    return CHANNELS


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """A function that writes a recording of `rows` rows and gives its folder."""

    def write(rows: int = 25, *, name: str = "walk.nutmeg", finish: bool = True, **options: Any) -> Path:
        described = {"kind": "scene", "seed": 7, "config": {"robot": "nao-v6"}}
        described |= {key: options.pop(key) for key in described.keys() & options.keys()}
        manifest = Manifest(channels=CHANNELS, **described)
        writer = RecordingWriter.create(tmp_path / name, manifest, **{"rows_per_chunk": 10, **options})
        times, values = signal(rows)
        for time, row in zip(times, values, strict=True):
            writer.append(time, row)
        writer.event(0.1, "kick", robot="nao1", power=0.5)
        writer.event(0.2, "goal", team="left")
        if finish:
            writer.close()
        return tmp_path / name

    return write
