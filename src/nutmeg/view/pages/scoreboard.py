"""The score board over the picture of a match, as on television: in the live page, and in a replay without a server.

    server.gui.add_html(board_html(story, row, time))       # renewed a few times a second
    head = replay_head(story)                               # for the head of a replay's page: board and list of events

A script (`templates/scoreboard.js`) draws the board, so that it stays in place when the panel is moved or folded.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from nutmeg.match.rules.play_modes import clock_runs
from nutmeg.view.html import read_text, render, script_json
from nutmeg.view.match_story import EVENT_SIGNS, HALF_NAMES, TEAM_COLOURS, clock_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.view.match_story import MatchStory

CAPTION_TIME = 4.0
"""An event is shown under the picture for this time, seconds."""
ROWS_PER_READ = 20000
"""Rows of the state of the game that are read at once."""


def board_html(story: MatchStory, row: int, time: float) -> str:
    """The state of the board at a row, as an element that the script reads."""
    moment = story.moment(row)
    event = story.last_event(time, CAPTION_TIME)
    state = {
        "teams": story.teams,
        "subtitles": story.subtitles,
        "colours": TEAM_COLOURS,
        "score": moment.score,
        "clock": clock_text(moment.clock),
        "half": HALF_NAMES.get(moment.half, ""),
        "mode": story.mode_text(moment),
        "favoured": moment.favoured,
        "caption": None if event is None else _shown(event),
    }
    return str(Markup('<div data-nutmeg-match="{}"></div>').format(json.dumps(state)))  # viser sends plain strings


def replay_head(story: MatchStory, start: float, end: float) -> str:
    """The head of the page of a replay from `start` to `end` [s], with score board and list of events."""
    table = {
        "teams": story.teams,
        "subtitles": story.subtitles,
        "colours": TEAM_COLOURS,
        "states": _states(story, start, end),
    }
    events = [e for e in story.events if start <= e["time"] <= end + 1e-9]
    table["events"] = [{**_shown(e), "t": round(e["time"] - start, 2), "clock": clock_text(e["clock"])} for e in events]
    return render(
        "replay_head.html.j2",
        table=script_json(table),
        style=read_text("scoreboard.css"),
        script=read_text("scoreboard.js"),
    )


def _states(story: MatchStory, start: float, end: float) -> list[dict[str, Any]]:
    """The state of the game whenever it changes in more than the clock."""
    recording, found = story.recording, []
    before: Any = None
    for first in range(0, len(recording), ROWS_PER_READ):
        rows = recording.read("game.state", first, first + ROWS_PER_READ)
        times = recording.times[first : first + ROWS_PER_READ]
        without_clock = np.delete(rows, (1, rows.shape[1] - 1), axis=1)
        for row in range(len(rows)):
            key = tuple(without_clock[row])
            if key == before or times[row] > end + 1e-9:
                continue
            before = key
            moment = story.moment_of(rows[row])
            found.append(
                {
                    "t": round(float(times[row]) - start, 2),
                    "clock": round(moment.clock, 2),
                    "runs": clock_runs(moment.mode),
                    "score": moment.score,
                    "half": HALF_NAMES.get(moment.half, ""),
                    "mode": story.mode_text(moment),
                    "favoured": moment.favoured,
                }
            )
    return found


def _shown(event: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": event["text"], "mark": EVENT_SIGNS[event["kind"]], "kind": event["kind"], "about": event["about"]}
