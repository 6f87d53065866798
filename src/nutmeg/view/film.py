"""A recording as something to show: for any moment, where everything is.

A film holds the model of the recorded scene and a window of a few hundred rows, so that its memory does not
depend on the length of the recording. Between two rows it turns and moves things evenly, which makes slow motion
smooth.

    film = Film.open(Path("runs/match-3"))
    qpos = film.qpos_at(12.5)            # (nq,)
    film.refresh()                       # rows written since then
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import mujoco
import numpy as np

from nutmeg.errors import ModelError, RecordingError
from nutmeg.view.posture import Posture

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats

WINDOW = 400
"""Rows kept at once."""


class SceneRecording(Protocol):
    """What a film asks of a recording; `nutmeg.recording.Recording` is one."""

    @property
    def channels(self) -> Mapping[str, Any]:
        """The channels, by name."""

    @property
    def events(self) -> list[dict[str, Any]]:
        """What happened, each with `time` and `kind`."""

    @property
    def finished(self) -> bool:
        """Whether no more rows will come."""

    @property
    def scene_xml(self) -> str | None:
        """The recorded scene as MJCF."""

    @property
    def times(self) -> Floats:
        """The time (rows,) of each row, seconds."""

    def read(self, channel: str, start: int, stop: int) -> NDArray[Any]:
        """Rows `start` to `stop` of a channel, (rows, columns)."""

    def refresh(self) -> bool:
        """Look for new rows; whether there were any."""

    def __len__(self) -> int: ...


class Film:
    """A recorded scene, its model, and where everything was at any time."""

    def __init__(self, recording: SceneRecording, title: str = "recording") -> None:
        self.recording = recording
        self.title = title
        self.model = _compile(recording.scene_xml, title)
        labels = {name: channel.labels for name, channel in recording.channels.items()}
        self.posture = Posture(self.model, labels)
        self._start = self._stop = 0
        self._window: Floats = np.empty((0, self.model.nq))
        self._times: Floats = np.asarray(recording.times, dtype=np.float64)

    @classmethod
    def open(cls, path: Path) -> Film:
        """The film of a recording on disk."""
        from nutmeg.recording import Recording

        return cls(Recording.open(path), path.name)

    @property
    def times(self) -> Floats:
        """Times (rows,) of the rows known so far, seconds."""
        return self._times

    @property
    def robots(self) -> tuple[str, ...]:
        """The names of the robots."""
        return self.posture.robots

    @property
    def start(self) -> float:
        """Time of the first row, seconds; 0 while there is none."""
        return float(self._times[0]) if len(self._times) else 0.0

    @property
    def end(self) -> float:
        """Time of the newest row, seconds; 0 while there is none."""
        return float(self._times[-1]) if len(self._times) else 0.0

    def refresh(self) -> bool:
        """Take in what was written since; whether there was anything."""
        if not self.recording.refresh():
            return False
        self._times = np.asarray(self.recording.times, dtype=np.float64)
        return True

    def row_at(self, time: float) -> int:
        """The last row not later than `time`; the first row for earlier times."""
        return max(int(np.searchsorted(self._times, time + 1e-9, side="right")) - 1, 0)

    def qpos_at(self, time: float) -> Floats:
        """Generalised positions (nq,) at a time, evenly between the two nearest rows."""
        if not len(self._times):
            return self.posture.rest.copy()
        row = self.row_at(time)
        here = self._row(row)
        if row + 1 >= len(self._times):
            return here.copy()
        gap = self._times[row + 1] - self._times[row]
        share = float(np.clip((time - self._times[row]) / gap, 0.0, 1.0)) if gap > 0 else 0.0
        return self.posture.between(here, self._row(row + 1), share)

    def frames(self, fps: float, seconds: float | None = None) -> Iterator[tuple[float, Floats]]:
        """Moments `fps` times a second from the start, as (time since the start, qpos)."""
        for number in range(self.frame_count(fps, seconds)):
            moment = number / fps
            yield moment, self.qpos_at(self.start + moment)

    def frame_count(self, fps: float, seconds: float | None = None) -> int:
        """How many moments `frames` yields."""
        length = self.end - self.start
        if seconds is not None:
            length = min(length, seconds)
        return int(np.floor(length * fps + 1e-6)) + 1 if len(self._times) else 0

    def _row(self, row: int) -> Floats:
        if not self._start <= row < self._stop:
            self._load(row)
        values: Floats = self._window[row - self._start]
        return values

    def _load(self, row: int) -> None:
        """Read the window in which `row` lies; a little of the past stays for stepping back."""
        start = max(row - WINDOW // 8, 0)
        stop = min(start + WINDOW, len(self._times))
        values = {name: self.recording.read(name, start, stop) for name in self.posture.channels}
        self._window = self.posture.qpos(values)
        self._start, self._stop = start, start + len(self._window)


def _compile(scene_xml: str | None, title: str) -> Any:  # noqa: ANN401
    if scene_xml is None:
        raise RecordingError(
            f"{title}: this recording has no scene.xml, so there is nothing to draw. Only recordings of scenes "
            f"(matches, walks) can be shown."
        )
    try:
        return mujoco.MjModel.from_xml_string(scene_xml)
    except ValueError as error:
        raise ModelError(f"{title}: the scene.xml of this recording does not compile: {error}") from error
