"""The list of what happened: a page of buttons, each of which jumps to its moment.

The number of buttons is fixed, so that a long match with thousands of events costs no more than a short one. The
list follows the replay until someone turns its pages, and follows it again after the next jump.

    events = EventList(server, playback.seek)
    events.update(recording.events, playback.time, film.start)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import viser

ROWS = 7
"""Events on a page."""

LEAD = 0.5
"""A click shows what led to the event: so many seconds before it."""


class EventList:
    """The events around the moment shown."""

    def __init__(
        self,
        server: viser.ViserServer,
        jump: Callable[[float], None],
        *,
        name: Callable[[Mapping[str, Any], float], str] | None = None,
        lead: float = LEAD,
        colour: Callable[[Mapping[str, Any]], str] | None = None,
    ) -> None:
        """Add the (still empty) list to a page.

        Args:
            server: whose page.
            jump: called with a time in seconds.
            name: what to write on the button of an event, given the time of the first row; its time and a few words.
            lead: how much before an event a click goes, seconds.
            colour: of the button of an event that is past; green if left out.
        """
        self._jump, self._name, self._lead = jump, name or _named, lead
        self._colour = colour or (lambda _event: "green")
        self._events: Sequence[Mapping[str, Any]] = ()
        self._first = 0
        self._turned = False
        with server.gui.add_folder("Events", order=20, visible=False) as self._folder:
            self._buttons = [self._button(server, row) for row in range(ROWS)]
            turn = server.gui.add_button_group("Page", ("Earlier", "Later"))
            turn.on_click(lambda event: self._turn(-ROWS if event.target.value == "Earlier" else ROWS))
            self._pages = turn

    def update(self, events: Sequence[Mapping[str, Any]], now: float, start: float) -> None:
        """Show the events around the time `now`; times are told from `start`, seconds."""
        self._events = events
        if bool(events) != self._folder.visible:
            self._folder.visible = bool(events)
        if not events:
            return
        if not self._turned:
            past = sum(1 for event in events if event["time"] <= now)
            self._first = max(0, min(past - ROWS // 2 - 1, len(events) - ROWS))
        self._pages.visible = len(events) > ROWS
        for row, button in enumerate(self._buttons):
            number = self._first + row
            button.visible = number < len(events)
            if number < len(events):
                event = events[number]
                button.label = self._name(event, start)
                button.color = self._colour(event) if event["time"] <= now else "gray"

    def _button(self, server: viser.ViserServer, row: int) -> Any:  # noqa: ANN401
        button = server.gui.add_button("", visible=False, color="gray")
        button.on_click(lambda _: self._click(row))
        return button

    def _click(self, row: int) -> None:
        number = self._first + row
        if number < len(self._events):
            self._turned = False
            self._jump(float(self._events[number]["time"]) - self._lead)

    def _turn(self, rows: int) -> None:
        self._turned = True
        self._first = max(0, min(self._first + rows, len(self._events) - ROWS))


def _named(event: Mapping[str, Any], start: float) -> str:
    return f"{event['time'] - start:.1f} s  {describe(event)}"


def describe(event: Mapping[str, Any], most: int = 34) -> str:
    """An event in a few words: its text if it has one, else its kind and its short fields."""
    if event.get("text"):
        words = str(event["text"])
    else:
        shown = [str(v) for k, v in event.items() if k not in ("time", "kind") and isinstance(v, str | int | float)]
        words = " ".join([str(event.get("kind", "event")), *shown])
    return words if len(words) <= most else words[: most - 1] + "…"
