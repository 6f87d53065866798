"""The controls that command a robot from the page: a driving pad with speeds, and sliders for joints with sensors.

    pilot = Pilot(client, drive, film, send)             # for each browser of `nutmeg walk drive`
    pilot.refresh(playback.time)                         # now and then
    pilot.leave()                                        # the browser has gone
    workbench = Workbench(client, bench, film, send)     # for each browser of `nutmeg view`

Actions of the user become orders (see `orders`). Wanted speeds and angles are read from the recording, not from the
orders, so that all pages show the commands that the simulation accepted. Measured speeds are means over a second.

viser reports keys that are pressed, but not when they are released, and uses the same keys to move its camera.
Therefore a script (`templates/driving.js`) takes the keys first and writes their state into a hidden text field
of the page; the text comes back over the connection of the page, and no further port is opened.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.angles import heading_of
from nutmeg.base.errors import UsageError
from nutmeg.view.html import render, script_frame
from nutmeg.view.pages.orders import MAX_FORCE, MAX_LINE_LENGTH, Order, numbers_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import viser

    from nutmeg.base.arrays import Floats
    from nutmeg.view.pages.orders import Bench, Drive
    from nutmeg.view.stage.film import Film

    Triple = tuple[float, float, float]

# ---- driving

PAD_PREFIX = "nutmeg-drive "  # the beginning of the text in the hidden field
_PAD_BUTTONS = (
    ("ccw", "↺", "Q", "Turn left"),
    ("ahead", "▲", "W", "Ahead"),
    ("cw", "↻", "E", "Turn right"),
    ("left", "◀", "A", "To the left"),
    ("stop", "■", "space", "Stop"),
    ("right", "▶", "D", "To the right"),
    ("restart", "⟲ start", "R", "Back to the start, on its feet"),
    ("back", "▼", "S", "Back"),
)
"""Key for the script, sign, letter on the keyboard and description of each button."""


def pad_html(sets: tuple[str, ...] = ()) -> str:
    """The driving pad as HTML, with its script; more than one parameter set gets a button each."""
    choice = [(f"set{n}", name, str(n + 1), f"Walk with the parameter set {name}") for n, name in enumerate(sets)]
    buttons = (*_PAD_BUTTONS, *(choice if len(sets) > 1 else ()))
    return render("driving_pad.html.j2", buttons=buttons) + script_frame("keys", script="driving.js")


@dataclass
class PadState:
    """The last state of the keys and buttons of one page."""

    held: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stops: int = 0
    restarts: int = 0
    picks: int = 0
    of: int = 0
    """The page's own number: a page that is loaded again counts anew."""

    def orders(self, text: str, *, page: int, share: float = 1.0) -> list[Order]:
        """The orders in a message of a page; `UsageError` for one that makes no sense.

        Keys drive at this share (0..1) of the top speed.
        """
        table = _table(text)
        held = numbers_of(table.get("held"), 1.0)
        counts = [whole_number(table.get(key), key) for key in ("stops", "restarts", "picks", "set", "page")]
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
    if not text.startswith(PAD_PREFIX) or len(text) > MAX_LINE_LENGTH:
        raise UsageError(f"{text[:40]!r} is not a message of the driving pad.")
    try:
        table = json.loads(text.removeprefix(PAD_PREFIX))
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict):
        raise UsageError(f"{text[:40]!r} is not a message of the driving pad.")
    return table


MEASURED_OVER = 1.0  # seconds over which speeds are measured
_SLIDER_PAUSE = 0.8  # a slider that was moved by hand is left alone for this time, seconds
_PLACING_EVENTS = ("restart", "wrap")
"""Events at which the robot is placed somewhere else, so that speeds are measured from there on."""
_KEY_SHARE = 70  # share of the top speed at which keys drive at first, percent


class Pilot:
    """The driving controls of one browser."""

    def __init__(self, client: viser.ClientHandle, drive: Drive, film: Film, send: Callable[[Order], None]) -> None:
        self._page, self._drive, self._film, self._send = int(client.client_id), drive, film, send
        self._pad, self._touched, self._problem = PadState(), 0.0, ""
        gui = client.gui
        with gui.add_folder("Drive", order=6):
            gui.add_html(pad_html(drive.sets))
            self._readout = gui.add_html(_speeds_html((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), ""))
            self._share = gui.add_slider("Keys [%]", 10, 100, 5, _KEY_SHARE, hint="Share of the top speed.")
            hint = "A steady speed: it stays until something else is wanted."
            self._steady = [
                gui.add_slider(name, -_up(top), _up(top), 0.01, 0.0, hint=hint)
                for name, top in zip(("Ahead [m/s]", "Left [m/s]", "Turn [rad/s]"), drive.top, strict=True)
            ]
            channel = gui.add_text("keys", PAD_PREFIX)
        for slider in self._steady:
            slider.on_update(self._moved)
        channel.on_update(self._heard)

    def refresh(self, now: float) -> None:
        """Shows wanted and measured speeds at the time `now` of the recording."""
        events = self._film.recording.events
        wanted = wanted_at(events, now)
        self._readout.content = _speeds_html(
            wanted, measured(self._film, self._drive.robot, now), self._problem or _state(events, now)
        )
        if time.monotonic() - self._touched > _SLIDER_PAUSE:
            for slider, value in zip(self._steady, wanted, strict=True):
                slider.value = float(np.clip(round(value, 2), slider.min, slider.max))

    def leave(self) -> None:
        """Called when the browser has left: the keys that it held are released."""
        if any(self._pad.held):
            self._send(Order(order="hold", page=self._page))

    async def _heard(self, event: viser.GuiEvent) -> None:
        """Handles a message of the pad; runs in the server's own loop, so that orders keep their sequence."""
        try:
            orders = self._pad.orders(str(event.target.value), page=self._page, share=float(self._share.value) / 100)
            self._problem = ""
        except UsageError as error:
            self._problem = f"ignored: {error}"
            return
        for order in orders:
            self._send(order)

    async def _moved(self, event: viser.GuiEvent) -> None:
        if event.client is None:  # the slider follows what is wanted, it was not moved by hand
            return
        self._touched = time.monotonic()
        ahead, left, turn = (float(slider.value) for slider in self._steady)
        self._send(Order(order="go", page=self._page, numbers=(ahead, left, turn)))


def wanted_at(events: Sequence[Mapping[str, Any]], now: float) -> Triple:
    """The wanted speeds at a time: ahead, to the left [m/s], turning left [rad/s]."""
    for event in reversed(events):
        if event["kind"] == "drive" and event["time"] <= now + 1e-9:
            return float(event["ahead"]), float(event["left"]), float(event["turn"])
    return 0.0, 0.0, 0.0


def measured(film: Film, robot: str, now: float) -> Triple:
    """Speeds of a robot over the last second in its own frame: ahead, to the left, turning left."""
    stop = film.row_at(now)
    put = [e["time"] for e in film.recording.events if e["kind"] in _PLACING_EVENTS and e["time"] <= now]
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
    yaw = np.unwrap(heading_of(poses[:, 3:7]))
    middle = float(yaw[0] + yaw[-1]) / 2
    east, north = (poses[-1, :2] - poses[0, :2]) / seconds
    ahead = float(np.cos(middle) * east + np.sin(middle) * north)
    left = float(np.cos(middle) * north - np.sin(middle) * east)
    return ahead, left, float(yaw[-1] - yaw[0]) / seconds


def _state(events: Sequence[Mapping[str, Any]], now: float) -> str:
    """A remark about the robot: that it has fallen, if so."""
    for event in reversed(events):
        if event["time"] <= now + 1e-9 and event["kind"] in ("fall", "restart"):
            return "It has fallen: R puts it back on its feet." if event["kind"] == "fall" else ""
    return ""


def _speeds_html(wanted: Triple, speed: Triple, note: str) -> str:
    """A table of speeds with two digits, without minus zero."""
    rows = [(name, [round(v, 2) + 0.0 for v in values]) for name, values in (("wanted", wanted), ("measured", speed))]
    return render("speeds.html.j2", rows=rows, note=note)


def _up(value: float) -> float:
    """The end of a slider: rounded up to two digits, and above zero."""
    return max(float(np.ceil(100 * value - 1e-9)) / 100, 0.01)


# ---- joints, poses, pushes and sensors

_PUSHES = {
    "ahead": (1.0, 0.0, 0.0),
    "back": (-1.0, 0.0, 0.0),
    "left": (0.0, 1.0, 0.0),
    "right": (0.0, -1.0, 0.0),
    "up": (0.0, 0.0, 1.0),
}
"""Directions of pushes in the frame of the world."""
_FREE_TURN = math.pi  # a joint without limits gets a slider from minus to plus this angle [rad]
_MAX_SHOWN_VALUES = 6  # of a sensor with more numbers only these are listed; all can be plotted


class Workbench:
    """The controls of one browser; `send` gets the orders."""

    def __init__(self, client: viser.ClientHandle, bench: Bench, film: Film, send: Callable[[Order], None]) -> None:
        self._bench, self._film, self._send = bench, film, send
        self._page, self._touched = int(client.client_id), 0.0
        self._setting = False
        channels = film.recording.channels
        self._sensors = [
            name
            for name in channels
            if name.startswith(f"{bench.robot}.") and name.rpartition(".")[2] not in ("pose", "angles", "command")
        ]
        gui = client.gui
        if bench.overlaps:
            gui.add_markdown("**Shapes inside each other at rest:** " + "; ".join(bench.overlaps), order=5)
        if bench.joints:
            self._add_joints(gui)
        self._table: Any = None
        if self._sensors:
            with gui.add_folder("Sensors", order=8):
                self._table = gui.add_html("")
        if bench.force:
            with gui.add_folder("Push", order=9, expand_by_default=False):
                way = gui.add_dropdown("Direction", tuple(_PUSHES), initial_value="ahead")
                most = min(max(10.0 * bench.force, 10.0), MAX_FORCE)
                newtons = gui.add_slider("Force [N]", 0.0, round(most, 1), 0.1, round(min(bench.force, most), 1))
                gui.add_button("Push for 0.1 s", icon="hand-finger").on_click(
                    lambda _: self._push(str(way.value), float(newtons.value))
                )

    def _add_joints(self, gui: viser.GuiApi) -> None:
        bench = self._bench
        with gui.add_folder("Joints [rad]", order=6):
            if bench.poses:
                pose = gui.add_dropdown("Pose", bench.poses, initial_value=bench.poses[0])
                pose.on_update(lambda event: self._send(self._order("pose", thing=str(event.target.value))))
            gui.add_button("Put it back", icon="refresh").on_click(lambda _: self._send(self._order("restart")))
            self._sliders = {name: self._slider(gui, name, *limits) for name, limits in bench.joints.items()}

    def refresh(self, now: float) -> None:
        """Show the commands and the sensors at a time of the recording."""
        if not len(self._film.times):
            return
        row, recording = self._film.row_at(now), self._film.recording
        command = recording.channels.get(f"{self._bench.robot}.command")
        if command is not None and command.unit == "rad" and time.monotonic() - self._touched > _SLIDER_PAUSE:
            values = recording.read(command.name, row, row + 1)[0]
            for name, value in zip(command.labels, values, strict=True):
                slider = self._sliders.get(name)
                if slider is not None:
                    slider.value = float(np.clip(round(float(value), 3), slider.min, slider.max))
        if self._table is not None:
            rows = []
            for name in self._sensors:
                values = recording.read(name, row, row + 1)[0]
                shown = "  ".join(f"{value:.3g}" for value in values[:_MAX_SHOWN_VALUES])
                more = " …" if len(values) > _MAX_SHOWN_VALUES else ""
                rows.append((name.rpartition(".")[2], shown + more, recording.channels[name].unit))
            self._table.content = render("sensors.html.j2", rows=rows)

    def _slider(self, gui: viser.GuiApi, name: str, low: float, high: float) -> Any:  # noqa: ANN401
        low, high = max(low, -_FREE_TURN), min(high, _FREE_TURN)
        slider = gui.add_slider(
            name, round(low, 3), round(max(high, low + 0.002), 3), 0.001, round(_inside(low, high), 3)
        )

        async def moved(event: viser.GuiEvent) -> None:
            if event.client is not None:  # else the slider follows the recording, it was not moved by hand
                self._touched = time.monotonic()
                self._send(self._order("joint", thing=name, value=float(event.target.value)))

        slider.on_update(moved)
        return slider

    def _push(self, way: str, newtons: float) -> None:
        x, y, z = (newtons * part for part in _PUSHES[way])
        self._send(Order(order="push", page=self._page, numbers=(x, y, z)))

    def _order(self, kind: str, *, thing: str = "", value: float = 0.0) -> Order:
        return Order(order=kind, page=self._page, thing=thing, numbers=(value, 0.0, 0.0))


def _inside(low: float, high: float) -> float:
    """The angle of the range that is nearest to 0."""
    return min(max(0.0, low), high)
