"""The buttons and keys with which a robot is driven in the page, and how what they say is read.

    html = pad_html(sets=("walk", "sprint"))
    state = PadState()
    orders = state.orders('nutmeg-drive {"held": [1, 0, 0], ...}', page=1, share=0.5)

viser tells hotkeys when they are pressed, but not when they are let go, and moves its camera with the keys that one
wants to drive with. So a script of our own (`driving.js`) takes the keys first, and writes their state into a text
field of the page that it hides; the text comes back over the page's own connection, and no port is opened for it.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from nutmeg.errors import UsageError
from nutmeg.view.orders import LONGEST, Order, numbers_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "nutmeg-drive "
"""What the text in the hidden field begins with."""

_CELLS = (
    ("ccw", "↺", "Q"),
    ("ahead", "▲", "W"),
    ("cw", "↻", "E"),
    ("left", "◀", "A"),
    ("stop", "■", "space"),
    ("right", "▶", "D"),
    ("restart", "⟲ start", "R"),
    ("back", "▼", "S"),
)
_NAMES = {
    "ccw": "Turn left",
    "ahead": "Ahead",
    "cw": "Turn right",
    "left": "To the left",
    "stop": "Stop",
    "right": "To the right",
    "restart": "Back to the start, on its feet",
    "back": "Back",
}
_STYLE = """
.nutmeg-pad { display: grid; grid-template-columns: repeat(3, 1fr); gap: 4px; padding: 2px 0.75em 6px; }
.nutmeg-pad button { height: 40px; border: 1px solid rgba(128, 128, 128, 0.35); border-radius: 6px; font: inherit;
  background: rgba(128, 128, 128, 0.09); color: inherit; cursor: pointer; touch-action: none; user-select: none;
  display: flex; align-items: center; justify-content: center; gap: 6px; line-height: 1; font-size: 13px; }
.nutmeg-pad button:hover { background: rgba(34, 120, 72, 0.15); }
.nutmeg-pad button:active, .nutmeg-pad button[data-on] { background: rgb(34, 120, 72); color: white; }
.nutmeg-pad kbd { font-size: 10px; opacity: 0.65; font-family: inherit; }
.nutmeg-note { padding: 0 1em 4px; font-size: 11px; opacity: 0.7; line-height: 1.3; }
"""


def pad_html(sets: tuple[str, ...] = ()) -> str:
    """The pad as HTML that brings its script along, once for each page."""
    cells = "".join(_cell(what, sign, key) for what, sign, key in _CELLS)
    choice = "".join(_set(number, name) for number, name in enumerate(sets)) if len(sets) > 1 else ""
    note = "Hold a key or a button and it walks; let go and it stops. Arrow keys work, too."
    return (
        f'<style>{_STYLE}</style><div class="nutmeg-pad">{cells}{choice}</div>'
        f'<div class="nutmeg-note">{note}</div>{_loader()}'
    )


def _cell(what: str, sign: str, key: str) -> str:
    name = _NAMES[what]
    return (
        f'<button type="button" tabindex="-1" data-drive="{what}" title="{name}" aria-label="{name}">'
        f"{sign} <kbd>{key}</kbd></button>"
    )


def _set(number: int, name: str) -> str:
    said = html.escape(name, quote=True)
    title = f"Walk with the parameter set {said}"
    # the first one begins a new row
    place = ' style="grid-column: 1"' if number == 0 else ""
    return (
        f'<button type="button" tabindex="-1" data-drive="set{number}" title="{title}" aria-label="{title}"{place}>'
        f"{said} <kbd>{number + 1}</kbd></button>"
    )


def _loader() -> str:
    """HTML that is put into a page does not run its scripts, but a frame does; it hands the script to the page."""
    script = (resources.files("nutmeg.view") / "driving.js").read_text(encoding="utf-8")
    load = (
        "<script>const s = parent.document.createElement('script');"
        f"s.textContent = {json.dumps(script)}; parent.document.head.appendChild(s);</script>"
    )
    return f'<iframe title="keys" style="display: none" srcdoc="{html.escape(load, quote=True)}"></iframe>'


@dataclass
class PadState:
    """What one page said last."""

    held: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stops: int = 0
    restarts: int = 0
    picks: int = 0
    of: int = 0
    """The page's own number: a page that is loaded again counts anew."""

    def orders(self, text: str, *, page: int, share: float = 1.0) -> list[Order]:
        """The orders in a message; `UsageError` for one that makes no sense.

        Args:
            text: what the field says now.
            page: whose it is.
            share: of the top speed at which keys drive, 0..1.
        """
        table = _table(text)
        held = numbers_of(table.get("held"), 1.0)
        counts = [_count(table, key) for key in ("stops", "restarts", "picks", "set", "page")]
        return list(self._new(held, counts, page, share))

    def _new(self, held: tuple[float, float, float], counts: list[int], page: int, share: float) -> Iterator[Order]:
        stops, restarts, picks, index, of = counts
        if of != self.of:
            self.stops = self.restarts = self.picks = 0
            self.of = of
        if stops > self.stops:
            yield Order(order="stop", page=page)
        if restarts > self.restarts:
            yield Order(order="restart", page=page)
        if picks > self.picks:
            yield Order(order="set", page=page, index=index)
        if any(held) or held != self.held:
            numbers = (held[0] * share, held[1] * share, held[2] * share)
            yield Order(order="hold", page=page, numbers=numbers, fresh=held != self.held)
        self.held, self.stops, self.restarts, self.picks = held, stops, restarts, picks


def _table(text: str) -> dict[str, Any]:
    if not text.startswith(MARK) or len(text) > LONGEST:
        raise UsageError(f"{text[:40]!r} is not a message of the driving pad.")
    try:
        table = json.loads(text.removeprefix(MARK))
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict):
        raise UsageError(f"{text[:40]!r} is not a message of the driving pad.")
    return table


def _count(table: dict[str, Any], key: str) -> int:
    value = table.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise UsageError(f"{key} is {str(value)[:20]!r}; needed is a whole number from 0.")
    return value
