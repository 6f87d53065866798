"""The controls of `nutmeg view`: a slider for each joint, poses, pushes, and what the sensors measure.

    workbench = Workbench(client, bench, film, send)     # for each browser
    workbench.refresh(playback.time)                     # now and then

What a user does becomes orders (see `orders`): `joint`, `pose`, `push` and `restart`. The sliders follow the commands
of the recording, so that everybody who watches sees the same.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.view.html import render
from nutmeg.view.pages.orders import MAX_FORCE, Order

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

    from nutmeg.view.pages.orders import Bench
    from nutmeg.view.stage.film import Film

SLIDER_PAUSE = 0.8
"""A slider that was moved by hand is left alone for this time, seconds."""
_PUSHES = {
    "ahead": (1.0, 0.0, 0.0),
    "back": (-1.0, 0.0, 0.0),
    "left": (0.0, 1.0, 0.0),
    "right": (0.0, -1.0, 0.0),
    "up": (0.0, 0.0, 1.0),
}
"""Directions of pushes in the frame of the world."""
_FREE_TURN = math.pi
"""A joint without limits gets a slider from minus to plus this angle [rad]."""
_MAX_SHOWN_VALUES = 6
"""Of a sensor with more numbers only these are listed; all can be plotted."""


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
        if command is not None and command.unit == "rad" and time.monotonic() - self._touched > SLIDER_PAUSE:
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
