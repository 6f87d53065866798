"""The controls with which a page drives a robot: the pad, sliders for steady speeds, and how fast it really is.

    pilot = Pilot(client, drive, film, send)          # for each browser
    pilot.refresh(playback.time)                      # now and then
    pilot.leave()                                     # the browser has gone

Wanted speeds are read from the recording (events of the kind `drive`), not from what was sent: the page shows what the
simulation took. Measured ones are those of the last second.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.errors import UsageError
from nutmeg.view.drive_pad import MARK, PadState, pad_html
from nutmeg.view.orders import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.view.film import Film
    from nutmeg.view.orders import Drive

    Triple = tuple[float, float, float]

MEASURED_OVER = 1.0
"""Seconds over which speeds are measured."""
HAND_PAUSE = 0.8
"""After somebody moved a slider it is left alone for so long, seconds."""
PUT = ("restart", "wrap")
"""Events at which the robot is put somewhere else, so that its way does not count."""
KEY_SHARE = 70
"""Share of the top speed at which keys drive at first, percent."""

_TABLE = (
    '<table style="width: calc(100% - 2em); margin: 2px 1em 6px; font-size: 12px; border-collapse: collapse; '
    'font-variant-numeric: tabular-nums">'
    '<tr style="opacity: 0.65; text-align: right"><td></td><td>ahead</td><td>left</td><td>turn</td></tr>{rows}</table>'
    '<div style="padding: 0 1em 8px; font-size: 11px; color: {colour}">{note}</div>'
)
_ROW = '<tr style="text-align: right"><td style="text-align: left; padding: 0">{name}</td>{cells}</tr>'


class Pilot:
    """The driving controls of one browser."""

    def __init__(self, client: Any, drive: Drive, film: Film, send: Callable[[Order], None]) -> None:  # noqa: ANN401
        self._page, self._drive, self._film, self._send = int(client.client_id), drive, film, send
        self._pad, self._touched, self._problem = PadState(), 0.0, ""
        gui = client.gui
        with gui.add_folder("Drive", order=6):
            gui.add_html(pad_html(drive.sets))
            self._readout = gui.add_html(_readout((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), ""))
            self._share = gui.add_slider("Keys [%]", 10, 100, 5, KEY_SHARE, hint="Share of the top speed.")
            hint = "A steady speed: it stays until something else is wanted."
            self._steady = [
                gui.add_slider(name, -_up(top), _up(top), 0.01, 0.0, hint=hint)
                for name, top in zip(("Ahead [m/s]", "Left [m/s]", "Turn [rad/s]"), drive.top, strict=True)
            ]
            channel = gui.add_text("keys", MARK)
        for slider in self._steady:
            slider.on_update(self._moved)
        channel.on_update(self._heard)

    def refresh(self, now: float) -> None:
        """Shows wanted and measured speeds at the time `now` of the recording."""
        events = self._film.recording.events
        wanted = wanted_at(events, now)
        self._readout.content = _readout(
            wanted, measured(self._film, self._drive.robot, now), self._problem or _state(events, now)
        )
        if time.monotonic() - self._touched > HAND_PAUSE:
            for slider, value in zip(self._steady, wanted, strict=True):
                slider.value = float(np.clip(round(value, 2), slider.min, slider.max))

    def leave(self) -> None:
        """The browser has gone: what it held is let go."""
        if any(self._pad.held):
            self._send(Order(order="hold", page=self._page))

    async def _heard(self, event: Any) -> None:  # noqa: ANN401
        """The pad said something; in the server's own loop, so that orders keep their order."""
        try:
            orders = self._pad.orders(str(event.target.value), page=self._page, share=float(self._share.value) / 100)
            self._problem = ""
        except UsageError as error:
            self._problem = f"ignored: {error}"
            return
        for order in orders:
            self._send(order)

    async def _moved(self, event: Any) -> None:  # noqa: ANN401
        if event.client is None:  # the slider follows what is wanted, it was not moved by hand
            return
        self._touched = time.monotonic()
        ahead, left, turn = (float(slider.value) for slider in self._steady)
        self._send(Order(order="go", page=self._page, numbers=(ahead, left, turn)))


def wanted_at(events: Sequence[Mapping[str, Any]], now: float) -> Triple:
    """What was wanted at a time: ahead, to the left [m/s], turning left [rad/s]."""
    for event in reversed(events):
        if event["kind"] == "drive" and event["time"] <= now + 1e-9:
            return float(event["ahead"]), float(event["left"]), float(event["turn"])
    return 0.0, 0.0, 0.0


def measured(film: Film, robot: str, now: float) -> Triple:
    """Speeds of a robot over the last second, as it sees them itself: ahead, to the left, turning left."""
    stop = film.row_at(now)
    put = [e["time"] for e in film.recording.events if e["kind"] in PUT and e["time"] <= now]
    begun = max(put, default=-1.0)
    start = film.row_at(max(now - MEASURED_OVER, begun + 1e-9))
    while start < stop and film.times[start] <= begun:
        start += 1
    if stop - start < 5:
        return 0.0, 0.0, 0.0
    poses = np.asarray(film.recording.read(f"{robot}.pose", start, stop + 1), dtype=float)
    return body_speed(poses, float(film.times[stop] - film.times[start]))


def body_speed(poses: Floats, seconds: float) -> Triple:
    """Mean speeds of a body with poses (n, 7) that take `seconds`, in the frame half-way between first and last."""
    w, x, y, z = poses[:, 3:7].T
    yaw = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    middle = float(yaw[0] + yaw[-1]) / 2
    east, north = (poses[-1, :2] - poses[0, :2]) / seconds
    ahead = float(np.cos(middle) * east + np.sin(middle) * north)
    left = float(np.cos(middle) * north - np.sin(middle) * east)
    return ahead, left, float(yaw[-1] - yaw[0]) / seconds


def _state(events: Sequence[Mapping[str, Any]], now: float) -> str:
    """What to say about the robot: that it lies, if it does."""
    for event in reversed(events):
        if event["time"] <= now + 1e-9 and event["kind"] in ("fall", "restart"):
            return "It has fallen: R puts it back on its feet." if event["kind"] == "fall" else ""
    return ""


def _readout(wanted: Triple, speed: Triple, note: str) -> str:
    rows = "".join(
        _ROW.format(name=name, cells="".join(f"<td>{_plain(value)}</td>" for value in values))
        for name, values in (("wanted", wanted), ("measured", speed))
    )
    colour = "#c0392b" if note else "inherit"
    return _TABLE.format(
        rows=rows, colour=colour, note=note or '<span style="opacity: 0.7">m/s, turning in rad/s</span>'
    )


def _plain(value: float) -> str:
    """Two digits, and never minus nothing."""
    return f"{round(value, 2) + 0.0:.2f}"


def _up(value: float) -> float:
    """A slider's end: two digits, not below the value, and not nothing."""
    return max(float(np.ceil(100 * value - 1e-9)) / 100, 0.01)
