"""Events: things that happen at a time, one JSON object per line of `events.jsonl`.

    {"time": 12.34, "kind": "goal", "team": "left"}

A line that a crash cut short is left out and reported; so is one that is no such object.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from nutmeg.errors import RecordingError
from nutmeg.json_values import of_numpy
from nutmeg.recording.manifest import EVENTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def event_line(time: float, kind: str, fields: Mapping[str, object], path: Path) -> bytes:
    """One event as a line of JSON; NumPy's numbers and arrays are allowed, NaN is not."""
    if not math.isfinite(time) or "time" in fields or "kind" in fields:
        raise RecordingError(
            f"{path}: the event {kind!r} at t={time!r} s needs a finite time, and fields called neither "
            "`time` nor `kind`."
        )
    try:
        event = {"time": float(time), "kind": kind, **fields}
        return json.dumps(event, allow_nan=False, default=of_numpy).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise RecordingError(
            f"{path}: the event {kind!r} at t={time:g} s cannot be written as JSON: {error}. Allowed: texts, "
            "finite numbers, true, false, None, lists and mappings of these."
        ) from None


class EventLog:
    """The events of a recording, read as the file grows."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.offset = 0  # bytes that were understood: whole lines
        self._lines = 0
        self._partial = 0
        self._broken: list[str] = []

    def feed(self, data: bytes) -> bool:
        """Take the bytes of the file from `offset` on; True if there was an event among them."""
        end = data.rfind(b"\n") + 1
        self._partial = len(data) - end
        self.offset += end
        before = len(self.events)
        for line in data[:end].split(b"\n")[:-1]:
            self._lines += 1
            try:
                event = json.loads(line)
                if not (isinstance(event, dict) and isinstance(event["time"], int | float)):
                    raise ValueError("not an object with a time")  # noqa: TRY004
                self.events.append(event)
            except (ValueError, KeyError):
                self._broken.append(f"{EVENTS}, line {self._lines}: is not an event, and was left out.")
        return len(self.events) > before

    @property
    def problems(self) -> list[str]:
        """What could not be read, one sentence each."""
        if not self._partial:
            return list(self._broken)
        return [*self._broken, f"{EVENTS}: ends in the middle of a line; {self._partial} bytes were left out."]
