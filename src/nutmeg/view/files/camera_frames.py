"""The camera pictures of all robots in a match of the behavioural world as files, with the ground truth.

    count = write_cameras(Path("match.nutmeg"), Path("cameras"), rate=2.0)

The folder gets numbered pictures of each camera, `left3-top/000000.png`, or one video of each, `left3-top.mp4`; and
`frames.csv`, which has a line for every picture: robot, camera, frame and time, the true pose of the robot, the angles
of its head, whether it was upright, and the place of the ball; metres, radians, seconds. A README describes it. The
pictures of a robot that lies, gets up or dives are black.

With `labels`, for training detectors, each camera also has a folder of masks, `left3-top-labels/000000.png`, whose
pixels are labels (`match.worlds.behavioural.cameras`), and `labels.csv` has a line for each object in a picture: its
label, its name and its box, from the top left pixel to the bottom right one.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from nutmeg.base.errors import FileError, UsageError
from nutmeg.match.worlds.behavioural.camera_geometry import CAMERA_NAMES
from nutmeg.match.worlds.behavioural.cameras import BALL_LABEL, FIRST_ROBOT_LABEL, GOAL_LABEL, Cameras
from nutmeg.match.worlds.behavioural.figures import RecordedMatch
from nutmeg.recording import Recording
from nutmeg.view.files.video import encoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from nutmeg.base.arrays import Bytes, Floats, Ints

    Take = Callable[[Bytes], None]
    """Saves one picture after the other."""

_CSV_COLUMNS = ("robot", "camera", "frame", "time", "x", "y", "heading", "yaw", "pitch", "upright", "ball_x", "ball_y")
_LABEL_COLUMNS = ("robot", "camera", "frame", "label", "name", "left", "top", "right", "bottom", "pixels")
_README_TEXT = """Pictures of the cameras of all robots of a match, {width} x {height}, {rate:g} a second.

Each camera has {form}. Robots are called by the side that they began on.
frames.csv has a line for every picture: robot, camera and frame; time since the beginning (s); where the robot truly
stood: x, y (m) and heading (rad, 0 looks along +x); where its head looked: yaw to the left and pitch upwards (rad);
whether it was on its feet (else its pictures are black); and where the ball was (m). The origin is the centre of the
pitch. Camera places and openings: nutmeg.match.worlds.behavioural.camera_geometry, eyes "{eyes}".
"""


def write_cameras(
    path: Path,
    folder: Path,
    *,
    rate: float = 2.0,
    form: str = "png",
    labels: bool = False,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Write the pictures of all cameras; returns their number.

    Args:
        path: the recording.
        folder: the output folder; it must not have pictures yet.
        rate: pictures of each camera per second.
        form: `png` or `mp4`.
        labels: whether to write masks and boxes of the visible objects, too.
        on_progress: called with the pictures done and their total.
    """
    recording = Recording.open(path)
    match = RecordedMatch(recording)
    rows = rows_at(recording.times, rate)
    if not len(rows):
        raise UsageError(f"{path}: the recording has no rows yet, so there is nothing to draw.")
    if folder.exists() and any(folder.iterdir()):
        raise FileError(folder, "the folder is not empty; write the cameras' pictures elsewhere.")
    folder.mkdir(parents=True, exist_ok=True)
    total, done = len(match.robots) * len(CAMERA_NAMES) * len(rows), 0
    with (
        Cameras(match.eyes, match.field, match.ball) as cameras,
        (folder / "frames.csv").open("w", encoding="utf-8", newline="") as table,
        _Labels(folder) if labels else contextlib.nullcontext() as labelled,
    ):
        lines = csv.writer(table)
        lines.writerow(_CSV_COLUMNS)
        for robot in match.robots:
            with _takers(folder, robot, form, rate, match) as takers:
                for frame, row in enumerate(rows.tolist()):
                    state, slot = match.state(row), match.slot(robot, row)
                    pictures = cameras.draw(state, 0, [slot])[0]
                    truth = (*state.pose[0, slot], *state.head[0, slot])
                    for camera, picture, take in zip(CAMERA_NAMES, pictures, takers, strict=True):
                        take(picture)
                        place = [f"{number:.4f}" for number in (recording.times[row], *truth)]
                        upright = int(state.present[0, slot] and not state.posture[0, slot])
                        ball = [f"{number:.4f}" for number in state.ball[0]]
                        lines.writerow((robot, camera, frame, *place, upright, *ball))
                    if labelled is not None:
                        names = {match.slot(other, row): other for other in match.robots}
                        labelled.take(robot, frame, cameras.label(state, 0, [slot])[0], names)
                    done += len(CAMERA_NAMES)
                    on_progress(done, total)
    lens, kind = match.eyes.cameras, "a folder of numbered pictures" if form == "png" else "a video"
    text = _README_TEXT.format(width=lens.width, height=lens.height, rate=rate, form=kind, eyes=match.eyes.name)
    (folder / "README.txt").write_text(text, encoding="utf-8")
    return total


class _Labels(contextlib.ExitStack):
    """Writes masks and labels.csv into a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._lines = csv.writer(self.enter_context((folder / "labels.csv").open("w", encoding="utf-8", newline="")))
        self._lines.writerow(_LABEL_COLUMNS)

    def take(self, robot: str, frame: int, masks: Bytes, names: Mapping[int, str]) -> None:
        """Writes the masks (cameras, height, width) of a robot's cameras and boxes; `names` are robots by slot."""
        known = {BALL_LABEL: "ball", GOAL_LABEL: "goal"}
        known |= {FIRST_ROBOT_LABEL + slot: name for slot, name in names.items()}
        for camera, mask in zip(CAMERA_NAMES, masks, strict=True):
            place = self._folder / f"{robot}-{camera}-labels"
            place.mkdir(exist_ok=True)
            _save_numbered(place, iter([frame]), mask)
            for label in np.unique(mask[mask > 0]).tolist():
                y, x = np.nonzero(mask == label)
                box = x.min(), y.min(), x.max(), y.max()
                self._lines.writerow((robot, camera, frame, label, known[label], *map(int, box), len(x)))


def rows_at(times: Floats, rate: float) -> Ints:
    """The rows to draw for a rate of pictures per second: the newest row at each moment."""
    if not len(times):
        return np.zeros(0, np.int64)
    moments = np.arange(times[0], times[-1] + 1e-6, 1.0 / rate)
    return np.searchsorted(times, moments + 1e-6, side="right") - 1


@contextlib.contextmanager
def _takers(folder: Path, robot: str, form: str, rate: float, match: RecordedMatch) -> Iterator[list[Take]]:
    """The functions that save the pictures of both cameras of a robot."""
    cameras = match.eyes.cameras
    with contextlib.ExitStack() as stack:
        takers: list[Take] = []
        for camera in CAMERA_NAMES:
            name = f"{robot}-{camera}"
            if form == "mp4":
                out = folder / f"{name}.mp4"
                takers.append(stack.enter_context(encoder(out, out, (cameras.width, cameras.height), rate)))
            else:
                (folder / name).mkdir()
                takers.append(partial(_save_numbered, folder / name, itertools.count()))
        yield takers


def _save_numbered(folder: Path, numbers: Iterator[int], picture: Bytes) -> None:
    """Save a picture under the next number."""
    path = folder / f"{next(numbers):06d}.png"
    try:
        Image.fromarray(picture).save(path, compress_level=1)
    except OSError as error:
        raise FileError(path, f"the picture cannot be written: {error.strerror}.") from None
