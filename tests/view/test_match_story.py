"""A recorded match in people's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.recording import Recording
from nutmeg.view.match_story import MatchStory, clock_text, is_match
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
