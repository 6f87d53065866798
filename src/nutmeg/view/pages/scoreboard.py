"""The score board over the picture of a match, as on television: in the live page, and in a replay without a server.

    server.gui.add_html(board_html(story, row, time))       # renewed a few times a second
    head = replay_head(story)                               # for the head of a replay's page: board and list of events

The board is drawn by a script (`match_board.js`), so that it stays where it is when the panel is moved or folded.
"""

from __future__ import annotations

import html
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.match.rules.play_modes import clock_runs
from nutmeg.view.match_story import EVENT_SIGNS, HALF_NAMES, TEAM_COLOURS, clock_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.view.match_story import MatchStory

CAPTION_TIME = 4.0
"""How long an event is told under the picture, seconds."""
ROWS_PER_READ = 20000
"""Rows of the state of the game that are read at once."""


def board_html(story: MatchStory, row: int, time: float) -> str:
    """The state of the board at a row, as an element that the script reads."""
    moment = story.moment(row)
    event = story.last_told(time, CAPTION_TIME)
    state = {
        "teams": story.teams,
        "colours": TEAM_COLOURS,
        "score": moment.score,
        "clock": clock_text(moment.clock),
        "half": HALF_NAMES.get(moment.half, ""),
        "mode": story.mode_text(moment),
        "favoured": moment.favoured,
        "caption": None if event is None else _told(event),
    }
    return f'<div data-nutmeg-match="{html.escape(json.dumps(state), quote=True)}"></div>'


def script_html() -> str:
    """Style and script of the board for a live page: what is put into a page does not run scripts, but a frame does."""
    load = (
        "<script>const d = parent.document, s = d.createElement('script'), c = d.createElement('style');"
        f"c.textContent = {_quoted(_file('match_board.css'))}; d.head.appendChild(c);"
        f"s.textContent = {_quoted(_file('match_board.js'))}; d.head.appendChild(s);</script>"
    )
    return f'<iframe title="score board" style="display: none" srcdoc="{html.escape(load, quote=True)}"></iframe>'


def replay_head(story: MatchStory, start: float, end: float) -> str:
    """What the head of a replay's page needs for the board and the list of events; times from `start` to `end`, s."""
    table = {"teams": story.teams, "colours": TEAM_COLOURS, "states": _states(story, start, end)}
    events = [e for e in story.told if start <= e["time"] <= end + 1e-9]
    table["events"] = [{**_told(e), "t": round(e["time"] - start, 2), "clock": clock_text(e["clock"])} for e in events]
    return (
        f"<style>{_file('match_board.css')}</style>"
        f"<script>window.nutmegMatch = {_quoted(table)};</script><script>{_file('match_board.js')}</script>"
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


def _told(event: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": event["text"], "mark": EVENT_SIGNS[event["kind"]], "kind": event["kind"], "about": event["about"]}


def _file(name: str) -> str:
    return (resources.files("nutmeg.view") / name).read_text(encoding="utf-8")


def _quoted(value: object) -> str:
    """As JSON that may stand in a script: nothing in it ends the script."""
    return json.dumps(value).replace("</", "<\\/")
