"""What lies over the picture of a page, what comes back from it, and what a player has in view."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.recording import Recording
from nutmeg.view.files.replay import replay_html
from nutmeg.view.html import script_frame, script_json
from nutmeg.view.match_sight import in_cone, sight_of
from nutmeg.view.match_story import MatchStory
from nutmeg.view.pages.overlay import MESSAGE_PREFIX, board_state, match_events, match_table, read_message, seconds_of
from nutmeg.view.stage.film import Film


def board(story: MatchStory, time: float) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(json.dumps(board_state(story, story.recording.row_at(time), time)))
    return state


def test_the_board_has_score_clock_play_mode_and_what_has_just_happened(match_path: Path) -> None:
    story = MatchStory(Recording.open(match_path))
    goal = next(float(event["time"]) for event in story.events if event["kind"] == "goal")
    state = board(story, goal + 0.1)
    assert state["teams"] == ["reds", "<blues>"]
    assert state["score"] == [1, 0]
    assert state["clock"] == "0:01"
    assert state["mode"] == "goal reds"
    assert state["caption"]["text"] == "Goal for reds"
    assert board(story, 0.5)["caption"] is None


def test_a_replay_knows_the_board_at_every_moment_and_all_events(match_path: Path) -> None:
    recording = Recording.open(match_path)
    start = float(recording.times[0])
    table = json.loads(json.dumps(match_table(MatchStory(recording), start, float(recording.times[-1]))))
    assert [s["score"] for s in table["states"]][-1] == [1, 1]
    modes = [s["mode"] for s in table["states"]]
    assert modes[:3] == ["before kick-off", "kick-off reds", "play on"]
    assert modes[-1] == "full time"
    kick_off = table["states"][1]
    assert kick_off["runs"]
    assert not table["states"][0]["runs"]
    goal = next(e for e in table["events"] if e["kind"] == "goal")
    first = next(e for e in MatchStory(recording).events if e["kind"] == "goal")
    assert goal["t"] == pytest.approx(first["time"] - start, abs=0.011)
    assert goal["clock"] == "0:01"


def test_scripts_cannot_be_ended_by_a_teams_name(match_path: Path) -> None:
    story = MatchStory(Recording.open(match_path))
    story.teams = ("</script><b>", "b")
    assert "</script><b>" not in script_json(match_table(story, 0.0, 1.0))
    frame = script_frame("page", script="page.js", style="page.css")
    assert frame.count("<iframe") == frame.count("</iframe>") == 1
    assert "<script" not in frame, "the frame's own page is escaped"


def test_a_replay_of_a_match_is_one_file_with_its_story(match_path: Path, tmp_path: Path) -> None:
    out = tmp_path / "replay.html"
    size = replay_html(match_path, out, fps=2)
    text = out.read_text(encoding="utf-8")
    assert size == out.stat().st_size
    assert "window.nutmegStory" in text
    assert "Goal for reds" in text


def test_a_cone_is_120_degrees_wide_and_does_not_begin_at_the_nose() -> None:
    eye, turn = np.zeros(3), np.eye(3)
    angles = np.radians([0.0, 59.0, 61.0, -59.0, 180.0])
    points = np.stack([np.cos(angles), np.sin(angles), np.zeros(5)], axis=1)
    assert in_cone(eye, turn, 3.0 * points).tolist() == [True, True, False, True, False]
    assert not in_cone(eye, turn, 0.05 * points[:1])[0]


def test_what_a_player_has_in_view_follows_from_where_its_head_looks(match_path: Path) -> None:
    film = Film.open(match_path)
    data = mujoco.MjData(film.model)
    data.qpos[:] = film.qpos_at(0.3)
    mujoco.mj_kinematics(film.model, data)
    landmarks = np.array([[15.0, 1.0, 0.8], [15.0, -1.0, 0.8], [-15.0, 1.0, 0.8]])
    view = sight_of(film.model, data, "left1", film.robots, landmarks)
    assert view is not None
    assert abs(view.heading) < math.radians(15), "it looks at the goal of the others"
    assert view.ball
    assert view.landmarks == 2
    assert set(view.robots) == {"right1", "right2"}, "its team-mate stands behind it"
    assert sight_of(film.model, data, "ball", film.robots, landmarks) is None


@pytest.mark.parametrize(("typed", "seconds"), [("89", 89.0), ("1:29", 89.0), (" 1:29.5 ", 89.5), ("1:00:01", 3601.0)])
def test_a_time_can_be_typed_in_seconds_or_as_on_a_clock(typed: str, seconds: float) -> None:
    assert seconds_of(typed) == seconds


@pytest.mark.parametrize("typed", ["", "goal", "-3", "1:x", "nan", "inf", "1e999"])
def test_what_is_not_a_time_is_refused_with_an_example(typed: str) -> None:
    with pytest.raises(UsageError, match="1:29"):
        seconds_of(typed)


def test_a_message_of_a_page_tells_what_was_done_in_order() -> None:
    did = [{"n": 1, "what": "seek", "value": 2.5}, {"n": 2, "what": "toggle", "value": None}]
    assert read_message(MESSAGE_PREFIX + json.dumps({"page": 7, "did": did})) == (
        7,
        [(1, "seek", 2.5), (2, "toggle", None)],
    )
    assert read_message(MESSAGE_PREFIX) == (0, [])


@pytest.mark.parametrize(
    "text", ["", "hello", "[]", "{}", "[" * 900, '{"page": "x", "did": []}', '{"page": 1, "did": [3]}']
)
def test_nonsense_from_a_page_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a message"):
        read_message(("" if text == "hello" else MESSAGE_PREFIX) + (text or "x"))


def test_a_goal_is_shown_from_well_before_it_and_a_fall_is_no_mark_on_the_slider(match_path: Path) -> None:
    events = match_events(MatchStory(Recording.open(match_path)), 0.0)
    goal, fall = (next(e for e in events if e["kind"] == kind) for kind in ("goal", "fall"))
    assert (goal["group"], goal["marked"]) == ("goals", True)
    assert (fall["group"], fall["marked"]) == ("falls", False)
    assert goal["lead"] > fall["lead"]
    assert len({e["id"] for e in events}) == len(events)
