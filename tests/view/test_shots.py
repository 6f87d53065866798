"""Shots, found from the path of the ball."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.match.recording import STATE_LABELS
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.recording import Channel, Recording, RecordingWriter
from nutmeg.view.match_story import MatchStory, ShotFinder

TIMES = np.arange(0.0, 2.0, 0.02)
TOWARDS = np.stack([9.0 + 2.5 * TIMES, np.full(len(TIMES), 0.4)], axis=1)
"""A ball on its way into the right goal of a pitch that is 30 m long."""
WIDE = TOWARDS * [1.0, 10.0]
CHANNELS = [
    Channel(name="game.state", labels=STATE_LABELS, unit=""),
    Channel(name="ball.pose", labels=("x", "y", "z", "qw", "qx", "qy", "qz"), unit="m"),
]


def rows_of(ball: np.ndarray, *, touched: int, mode: PlayMode = PlayMode.PLAY_ON, swapped: bool = False) -> np.ndarray:
    """Rows of a match in which the robot of a slot has touched the ball last."""
    state = {"mode": mode, "half": 1, "touch": touched, "swapped": swapped}
    columns = [np.full(len(ball), float(state.get(name, 0))) for name in STATE_LABELS]
    columns[STATE_LABELS.index("time")] = TIMES[: len(ball)] + 60.0
    pose = np.zeros((len(ball), 7))
    pose[:, :2], pose[:, 3] = ball, 1.0
    return np.concatenate([np.stack(columns, axis=1), pose], axis=1)


def recorded(path: Path, rows: np.ndarray) -> Recording:
    with RecordingWriter.create(path, CHANNELS, kind="match", seed=1, config={"rules": "sim3d"}) as writer:
        writer.append_many(np.arange(len(rows)) * 0.02, rows)
    return Recording.open(path)


LEFT, RIGHT = 2, MAX_PLAYERS + 4


@pytest.mark.parametrize(
    ("rows", "shooters"),
    [
        (rows_of(TOWARDS, touched=LEFT), [(0, 3)]),
        (rows_of(-TOWARDS, touched=RIGHT), [(1, 5)]),
        (rows_of(-TOWARDS, touched=LEFT, swapped=True), [(0, 3)]),
        (rows_of(WIDE, touched=LEFT), []),
        (rows_of(TOWARDS, touched=RIGHT), []),
        (rows_of(TOWARDS, touched=-1), []),
        (rows_of(TOWARDS, touched=LEFT, mode=PlayMode.BEFORE_KICK_OFF), []),
        (rows_of(TOWARDS * [0.1, 1.0], touched=LEFT), []),
    ],
    ids=["left", "right", "ends changed", "wide", "own goal", "nobody", "ball not live", "slow"],
)
def test_a_shot_is_a_fast_live_ball_towards_the_goal_of_the_others(
    tmp_path: Path, rows: np.ndarray, shooters: list[tuple[int, int]]
) -> None:
    shots = ShotFinder(recorded(tmp_path / "m.nutmeg", rows)).take()
    assert [(shot.team, shot.number) for shot in shots] == shooters


def test_a_shot_is_listed_once_however_the_recording_grows(tmp_path: Path) -> None:
    rows = rows_of(TOWARDS, touched=LEFT)
    writer = RecordingWriter.create(tmp_path / "m.nutmeg", CHANNELS, kind="match", seed=1, config={"rules": "sim3d"})
    recording, story = None, None
    for first in range(0, len(rows), 7):
        writer.append_many(np.arange(first, min(first + 7, len(rows))) * 0.02, rows[first : first + 7])
        if recording is None:
            recording = Recording.open(writer.path)
            story = MatchStory(recording)
        recording.refresh()
        assert story is not None
        story.refresh()
    writer.close()
    assert story is not None
    (shot,) = story.events
    assert (shot["kind"], shot["text"], shot["about"]) == ("shot", "Shot by left 3", 0)
    assert shot["clock"] == pytest.approx(60.1, abs=0.011)
    assert shot["place"][0] == pytest.approx(9.25, abs=0.06)
    whole = MatchStory(recorded(tmp_path / "whole.nutmeg", rows))
    assert whole.events == story.events
