"""A recorded match in words, and its shots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.match.recording import STATE_LABELS
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.recording import Channel, Manifest, Recording, RecordingWriter
from nutmeg.view.match_story import MatchStory, ShotFinder, clock_text, is_match
from nutmeg.view.stage.film import Film


@pytest.fixture
def story(match_path: Path) -> MatchStory:
    return MatchStory(Recording.open(match_path))


def test_a_match_is_told_from_other_recordings(match_path: Path, recorded: Path) -> None:
    assert is_match(Recording.open(match_path))
    assert not is_match(Recording.open(recorded))


def test_goals_belong_to_the_team_also_after_the_change_of_ends(story: MatchStory) -> None:
    goals = [(event["text"], event["about"]) for event in story.events if event["kind"] == "goal"]
    assert goals == [("Goal for reds", 0), ("Goal for <blues>", 1)]
    last = story.moment(len(story.recording) - 1)
    assert last.swapped
    assert last.score == (1, 1)
    early = story.moment(story.recording.row_at(3.0))
    assert not early.swapped
    assert early.score == (1, 0)


def test_a_place_is_told_as_if_the_teams_had_never_changed_ends(story: MatchStory) -> None:
    first, second = (event["place"][0] for event in story.events if event["kind"] == "goal")
    assert first > 14, "reds attack to the right"
    assert second < -14, "blues attack to the left"


def test_a_player_that_falls_is_named_by_its_team(story: MatchStory) -> None:
    falls = [event for event in story.events if event["kind"] == "fall"]
    assert falls
    assert {event["text"] for event in falls} == {"reds 2 falls"}
    assert {event["robot"] for event in falls} == {"left2"}


def test_play_modes_name_the_team_they_favour(story: MatchStory) -> None:
    recording = story.recording
    kick_off = story.moment(recording.row_at(0.6))
    assert kick_off.mode is PlayMode.KICK_OFF_LEFT
    assert story.mode_text(kick_off) == "kick-off reds"
    again = story.moment(recording.row_at(6.0))
    assert again.mode is PlayMode.KICK_OFF_LEFT
    assert story.mode_text(again) == "kick-off <blues>", "who plays from the left has changed"
    assert again.favoured == 1
    assert story.mode_text(story.moment(len(recording) - 1)) == "full time"


def test_what_a_player_wants_is_known_from_the_moment_it_was_told(story: MatchStory) -> None:
    assert story.intent("right2", 5.0) == "guards post 2"
    assert story.intent("right2", 0.0) == ""
    assert story.intent("right3", 5.0) == ""


def test_events_are_remembered_for_a_while(story: MatchStory) -> None:
    goal = story.events[0]
    assert story.last_event(goal["time"] - 0.1, 4.0) is None
    assert story.last_event(goal["time"] + 0.5, 4.0) == goal
    assert story.last_event(goal["time"] + 0.5, 0.2) is None


def test_clocks_are_written_as_people_do() -> None:
    assert clock_text(0.0) == "0:00"
    assert clock_text(64.999) == "1:04"
    assert clock_text(4.9999999) == "0:05"


def test_a_film_of_a_match_has_its_robots(match_path: Path) -> None:
    assert Film.open(match_path).robots == ("left1", "left2", "right1", "right2")


def test_titles_in_the_recording_count_more_than_the_names_of_the_teams(match_path: Path, tmp_path: Path) -> None:
    recording = Recording.open(match_path)
    recording.manifest.config.update(titles=["Blue", ""], subtitles=["walk: final", ""])
    story = MatchStory(recording)
    assert story.teams == ("Blue", "<blues>")
    assert story.subtitles == ("walk: final", "")
    assert story.name_of("left2") == "Blue 2"


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
    with RecordingWriter.create(
        path, Manifest(kind="match", seed=1, channels=CHANNELS, config={"rules": "sim3d"})
    ) as writer:
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
    writer = RecordingWriter.create(
        tmp_path / "m.nutmeg", Manifest(kind="match", seed=1, channels=CHANNELS, config={"rules": "sim3d"})
    )
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
