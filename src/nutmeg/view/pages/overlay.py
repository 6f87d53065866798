"""The overlay of a page: score board, list of events, time bar, and the user's actions in them.

    overlay = Overlay(client, heard)                    # heard(what, value): see `Overlay`
    overlay.list_events([shown_event(event, ...), ...])
    overlay.show({"t": 12.5, ...})                        # a few times a second
    table = match_table(story, start, end)                  # for a replay without a server: the same board and list

A script (`templates/page.js`) draws all of it in the browser, so that it stays in place when the panel is moved or
folded, and so that a page with a server and a replay without one have the same board and list. The script gets the
state as JSON in an element of the page. The user's actions come back in a text field: viser has no other way for a
script to talk to its server. Every message is repeated until the state confirms it. Both are in a panel of their own,
which the style sheet hides: viser drops the contents of the panel at the side when that is folded.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from nutmeg.base.errors import UsageError
from nutmeg.match.rules.play_modes import clock_runs
from nutmeg.view.html import script_frame
from nutmeg.view.match_story import EVENT_SIGNS, HALF_NAMES, TEAM_COLOURS, clock_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import viser

    from nutmeg.view.match_story import MatchStory

_CAPTION_TIME = 4.0  # an event is shown under the picture for this time, seconds
ROWS_PER_READ = 20000  # rows of the state of the game that are read at once
MESSAGE_PREFIX = "nutmeg-page "  # the beginning of the text in the hidden field
MAX_MESSAGE_LENGTH = 4000
MAX_LISTED_EVENTS = 1000  # of more events only the last ones are listed: browsers become slow
_EVENT_GROUPS = {
    "goal": "goals",
    "no_goal": "goals",
    "shoot_out": "goals",
    "shot": "shots",
    "foul": "fouls",
    "double_touch": "fouls",
    "fall": "falls",
    "half": "play",
}
"""The filter to which each kind of event of a match belongs."""
_EVENT_LEADS = {"goals": 6.0, "shots": 3.0}
"""Time before an event to which a click on it jumps, seconds, so that the build-up of a goal or a shot is seen."""
_EVENT_LEAD = 2.0  # the same for all other events


class Overlay:
    """The state of the script in one browser, and the messages that come from it.

    Args:
        client: the viser client.
        heard: called with each action of the user and its value: `seek` (seconds since the start of the recording),
            `clock` (a typed time), `skip` (seconds), `step` (rows), `speed`, `pick` (a shirt number), `dark`
            (whether the browser has a dark theme), `toggle`, `live` and `loop`.
    """

    def __init__(self, client: viser.ClientHandle, heard: Callable[[str, Any], None]) -> None:
        self._heard = heard
        self._page = self._read = 0
        self.note = ""
        """A remark for the user, shown in the bar until the next action."""
        gui = client.gui
        panel = gui.add_panel()
        panel.float(x=0, y=0)
        panel.expand()  # on a phone, panels are folded at first
        with panel.add_tab("Page"):
            gui.add_html(script_frame("page", script="page.js", style="page.css"))
            self._state = gui.add_html("")
            self._events = gui.add_html("")
            gui.add_text("page", MESSAGE_PREFIX).on_update(self._hear)
        gui.add_html("<div data-nutmeg-list></div>", order=11)

    def show(self, state: Mapping[str, Any]) -> None:
        """Renew the state; viser sends it only if it has changed."""
        state = {**state, "page": self._page, "read": self._read, "note": self.note or state.get("note", "")}
        self._state.content = _element("data-nutmeg-state", state)

    def list_events(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Renew the list of events (see `shown_event`)."""
        self._events.content = _element("data-nutmeg-events", events[-MAX_LISTED_EVENTS:])

    async def _hear(self, event: viser.GuiEvent) -> None:
        """A message came; in the server's own loop, so that messages keep their order."""
        try:
            page, did = read_message(str(event.target.value))
        except UsageError as error:
            self.note = f"ignored: {error}"
            return
        if page != self._page:  # a page that was loaded again counts anew
            self._page, self._read = page, 0
        for number, what, value in did:
            if number > self._read:
                self._read, self.note = number, ""
                try:
                    self._heard(what, value)
                except UsageError as error:
                    self.note = str(error)


def read_message(text: str) -> tuple[int, list[tuple[int, str, Any]]]:
    """The number of the page and its actions: number, kind and value of each; `UsageError` for nonsense."""
    problem = UsageError(f"{text[:40]!r} is not a message of a page.")
    if not text.startswith(MESSAGE_PREFIX) or len(text) > MAX_MESSAGE_LENGTH:
        raise problem
    try:
        table = json.loads(text.removeprefix(MESSAGE_PREFIX) or '{"page": 0, "did": []}')
        return int(table["page"]), [(int(one["n"]), str(one["what"]), one["value"]) for one in table["did"]]
    except (ValueError, RecursionError, KeyError, TypeError, OverflowError):
        raise problem from None


def seconds_of(text: str) -> float:
    """A typed time, such as `89`, `1:29` or `1:29.5`, in seconds; `UsageError` if it is not one."""
    try:
        seconds = 0.0
        for part in str(text).strip().split(":"):
            seconds = 60 * seconds + float(part)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise UsageError(f"{str(text)[:20]!r} is not a time; type seconds (89) or minutes and seconds (1:29).")
    return seconds


def shown_event(number: int, event: Mapping[str, Any], *, t: float, clock: str, text: str) -> dict[str, Any]:
    """An event as the script lists it, with a number that never changes.

    It happens `t` seconds after the start of the recording, when the page's clock shows `clock`.
    """
    kind = str(event["kind"])
    group = _EVENT_GROUPS.get(kind, kind)
    return {
        "id": number,
        "t": round(t, 2),
        "clock": clock,
        "text": text,
        "mark": EVENT_SIGNS.get(kind, ""),
        "kind": kind,
        "group": group,
        "marked": kind != "fall",
        "lead": _EVENT_LEADS.get(group, _EVENT_LEAD),
        "about": event.get("about"),
    }


def match_events(story: MatchStory, start: float, end: float = math.inf) -> list[dict[str, Any]]:
    """The events of a match between two times of its recording, as the script lists them."""
    return [
        shown_event(e["id"], e, t=e["time"] - start, clock=clock_text(e["clock"]), text=e["text"])
        for e in story.events
        if start <= e["time"] <= end + 1e-9
    ]


def board_state(story: MatchStory, row: int, time: float) -> dict[str, Any]:
    """The score board at a row of the recording."""
    moment = story.moment(row)
    event = story.last_event(time, _CAPTION_TIME)
    caption = None
    if event is not None:
        caption = {key: event[key] for key in ("text", "kind", "about")} | {"mark": EVENT_SIGNS[event["kind"]]}
    return {
        **_teams(story),
        "score": moment.score,
        "clock": clock_text(moment.clock),
        "half": HALF_NAMES.get(moment.half, ""),
        "mode": story.mode_text(moment),
        "favoured": moment.favoured,
        "caption": caption,
    }


def match_table(story: MatchStory, start: float, end: float) -> dict[str, Any]:
    """Data of a match from `start` to `end` [s] for the script of a replay without a server."""
    return {**_teams(story), "states": _states(story, start, end), "events": match_events(story, start, end)}


def _teams(story: MatchStory) -> dict[str, Any]:
    return {"teams": story.teams, "subtitles": story.subtitles, "colours": TEAM_COLOURS}


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


def _element(attribute: str, value: object) -> str:
    """An element that has a value as JSON; viser sends plain strings."""
    return str(Markup('<div {}="{}"></div>').format(attribute, json.dumps(value)))
