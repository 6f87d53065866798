"""Plots of the channels of a recording, linked to the moment that a page shows.

    plots = Plots(client, film, clock)
    plots.add("ball.speed")                             # a channel, or one label of it: "nao.angles.LKneePitch"
    plots.show(playback.time, live=playback.live)       # a few times a second
    plots.span                                          # the clock times at both ends, for the cursor of the page

Every channel of the recording can be plotted, and a few quantities that follow from them: speeds, distances to the
ball, and the errors of a player's beliefs. The x axis has the times of the page's clock. The page's
script draws the cursor at the moment shown, and lets a user drag it.
"""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import viser
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats
    from nutmeg.recording import Recording
    from nutmeg.view.stage.film import Film

ALL_LABELS = "all"  # the choice of all labels of a channel
SPANS = {"2 s": 2.0, "5 s": 5.0, "10 s": 10.0, "30 s": 30.0, "1 min": 60.0, "5 min": 300.0, "10 min": 600.0}
"""Durations that plots can show, seconds."""
_FIRST_SPAN = "10 s"
MAX_SERIES = 24  # curves of one plot: more cannot be distinguished
MAX_POINTS = 1500  # points of a curve; of more rows, the lowest and the highest of each group are drawn
_MAX_BRIDGE = 1.0  # values that are missing for no longer than this are bridged by a straight line, seconds
_LEAD_SHARE = 0.1
"""Plots of a replay shift when the cursor reaches the right end; it then stands at this share of their width."""
_LIVE_PERIOD = 0.2  # time between two renewals of a plot that grows, seconds of the recording
_SPEED_OVER = 0.1
"""Speeds are measured over this time, seconds: poses are stored to 0.1 mm, which single rows would show as noise."""
MAX_STEP = 1.0  # a larger distance between two rows means that the thing was placed there, metres
ROWS_PER_READ = 1000  # rows that are taken up at once for a page without a server
MAX_VALUES = 2_000_000  # numbers in a page without a server: some 3 MB of it
_MISSING_STEP = 65_535
_PLOT_HEIGHT = 190  # height of a plot, pixels
PANEL_WIDTH = 420.0  # width of the panel of plots, pixels
_WIDE_PANEL_WIDTH = 760.0  # the same where there is nothing else to see
COLOURS = ("#2f7ed8", "#e4572e", "#3aa655", "#8e44ad", "#d9a404", "#17a2b8", "#c2185b", "#7f8c8d")


class Signals:
    """The channels of a recording and what follows from them, each with its labels."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.labels: dict[str, tuple[str, ...]] = {name: c.labels for name, c in recording.channels.items()}
        """The labels of each signal, by the name of its channel."""
        self.units = {name: channel.unit for name, channel in recording.channels.items()}
        self._derived: dict[str, Callable[[int, int], Floats]] = {}
        for name in recording.channels:
            thing, _, kind = name.rpartition(".")
            if kind == "pose":
                self._derive(f"{thing}.speed", ("speed",), "m/s", partial(self._speed, name))
                if thing != "ball" and "ball.pose" in recording.channels:
                    self._derive(f"{thing}.to_ball", ("distance",), "m", partial(self._apart, name))
            if kind == "belief" and f"{thing}.pose" in recording.channels:
                self._derive(f"{thing}.belief_error", ("own place", "ball"), "m", partial(self._error, thing))

    def find(self, name: str) -> tuple[str, str]:
        """The channel and the label (or `ALL_LABELS`) that `name` stands for; `UnknownNameError` if there is none."""
        if name in self.labels:
            return name, ALL_LABELS
        channel = next((c for c in self.labels if name.startswith(f"{c}.")), "")
        label = name.removeprefix(f"{channel}.")
        if not channel:
            raise UnknownNameError("channel", name, self.labels, where=str(self._recording.path))
        if label not in self.labels[channel]:
            raise UnknownNameError("label", label, self.labels[channel], where=f"channel {channel}")
        return channel, label

    def read(self, channel: str, start: int, stop: int) -> Floats:
        """Values (rows, labels) of some rows."""
        if channel in self._derived:
            return self._derived[channel](start, stop)
        return self._recording.read(channel, start, stop)

    def _derive(self, name: str, labels: tuple[str, ...], unit: str, read: Callable[[int, int], Floats]) -> None:
        if name not in self.labels:
            self.labels[name], self.units[name], self._derived[name] = labels, unit, read

    def _places(self, channel: str, start: int, stop: int) -> Floats:
        return self._recording.read(channel, start, stop)[:, :3]

    def _speed(self, channel: str, start: int, stop: int) -> Floats:
        times = self._recording.times
        first = int(np.searchsorted(times, times[start] - _SPEED_OVER - 1e-9)) if start < len(times) else start
        places, moments = self._places(channel, first, stop), times[first:stop]
        before = np.searchsorted(moments, moments - _SPEED_OVER - 1e-9)
        gone = np.linalg.norm(places - places[before], axis=1)
        passed = moments - moments[before]
        speed = np.divide(gone, passed, out=np.zeros_like(gone), where=passed > 0)
        # A thing that was put somewhere else, as a referee does with the ball, has no speed then.
        jumps = np.linalg.norm(np.diff(places, axis=0, prepend=places[:1]), axis=1) > MAX_STEP
        put = np.cumsum(jumps)
        speed[put != put[before]] = np.nan
        return np.asarray(speed[start - first :, None])

    def _apart(self, channel: str, start: int, stop: int) -> Floats:
        gap = self._places(channel, start, stop)[:, :2] - self._places("ball.pose", start, stop)[:, :2]
        return np.asarray(np.linalg.norm(gap, axis=1, keepdims=True))

    def _error(self, robot: str, start: int, stop: int) -> Floats:
        """Errors of a player's beliefs about its own place and about the ball, metres."""
        labels = self.labels[f"{robot}.belief"]
        belief = self._recording.read(f"{robot}.belief", start, stop)
        pairs = ((("x", "y"), f"{robot}.pose"), (("ball_x", "ball_y"), "ball.pose"))
        errors = [
            np.linalg.norm(belief[:, [labels.index(n) for n in names]] - self._places(true, start, stop)[:, :2], axis=1)
            for names, true in pairs
        ]
        return np.stack(errors, axis=1)


def _signal_title(name: str, titles: Mapping[str, str]) -> str:
    """The title of a signal on a page: `left1.belief_error` is "Blue 1: belief error" if left1 is "Blue 1"."""
    thing, _, kind = name.rpartition(".")
    title = titles.get(thing, thing)
    return name if title == thing else f"{title}: {kind.replace('_', ' ')}"


def bridged(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Times (rows,) and values (rows, n) that are drawn as one line where they belong together.

    A channel that was measured less often than others has no value (NaN) in most rows: up to `_MAX_BRIDGE` it gets
    those on the straight line between its neighbours. Where nothing was recorded for longer, a row without values is
    added, so that no line hides the gap.
    """
    values = np.array(values)
    for number in np.flatnonzero(np.isnan(values).any(axis=0)):
        column = values[:, number]
        known = np.flatnonzero(np.isfinite(column))
        if len(known) < 2:
            continue
        after = np.clip(np.searchsorted(known, np.arange(len(column))), 1, len(known) - 1)
        near = times[known[after]] - times[known[after - 1]] <= _MAX_BRIDGE
        near &= (np.arange(len(column)) > known[0]) & (np.arange(len(column)) < known[-1])
        column[near] = np.interp(times[near], times[known], column[known])
    gaps = np.flatnonzero(np.diff(times) > _MAX_BRIDGE) + 1
    return np.insert(times, gaps, times[gaps - 1] + 1e-3), np.insert(values, gaps, np.nan, axis=0)


def thinned(times: Floats, values: Floats, most: int = MAX_POINTS) -> tuple[Floats, Floats]:
    """At most about `most` rows of times (rows,) and values (rows, n) that look the same.

    Rows are put into groups, and each group becomes two rows: the lowest and the highest value of every column.
    """
    size = math.ceil(2 * len(times) / most)
    if size <= 2:
        return times, values
    whole = len(times) // size * size
    groups = values[:whole].reshape(-1, size, values.shape[1])
    # fmin and fmax leave out what is missing (NaN), unless all of a group is.
    ends = np.stack([np.fmin.reduce(groups, axis=1), np.fmax.reduce(groups, axis=1)], axis=1)
    ends = ends.reshape(-1, values.shape[1])
    moments = times[:whole].reshape(-1, size)[:, [0, size // 2]].reshape(-1)
    return np.concatenate([moments, times[whole:]]), np.concatenate([ends, values[whole:]])


class SignalTable:
    """The values of all signals for a page without a server, collected while the recording grows.

    Of a long recording only every second, fourth, ... row is kept, so that there are never more than `MAX_VALUES`.
    Beliefs about other players are left out: they are drawn, and would be most of the numbers.

        table = SignalTable(recording)
        table.take()                        # rows since the last call
        table.packed()                      # JSON that `templates/replay_plots.js` unpacks
    """

    def __init__(self, recording: Recording) -> None:
        self._recording, self._signals = recording, Signals(recording)
        self._names = [name for name in self._signals.labels if not name.endswith(".others")]
        self._width = sum(len(self._signals.labels[name]) for name in self._names)
        self._stride, self._next = 1, 0
        self._times: Floats = np.empty(0)
        self._values: NDArray[np.float32] = np.empty((0, self._width), np.float32)

    def take(self, end: float = math.inf) -> None:
        """Take up the rows since the last call, as far as they are not later than a time of the recording."""
        rows = int(np.searchsorted(self._recording.times, end, side="right"))
        while self._next < rows:
            stop = min(self._next + ROWS_PER_READ, rows)
            picked = slice(-self._next % self._stride, None, self._stride)
            raw = self._recording.read_several(
                [n for n in self._names if n in self._recording.channels], self._next, stop
            )
            read = [raw[n] if n in raw else self._signals.read(n, self._next, stop) for n in self._names]
            self._times = np.concatenate([self._times, self._recording.times[self._next : stop][picked]])
            self._values = np.concatenate([self._values, np.concatenate(read, axis=1, dtype=np.float32)[picked]])
            self._next = stop
            while self._values.size > MAX_VALUES and len(self._times) > 2:
                self._stride *= 2
                self._times, self._values = self._times[::2], self._values[::2]

    def packed(self, first: Sequence[str] = (), titles: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Everything as JSON: numbers are packed by `packed_series`; `first` are plotted from the start.

        `titles` are the titles of robots on the page, by their names in the recording.
        """
        start = float(self._times[0]) if len(self._times) else 0.0
        times = (self._times - start).astype("<f4").tobytes()
        return {
            "rows": len(self._times),
            "period": round(float(np.median(np.diff(self._times))), 4) if len(self._times) > 1 else 0.0,
            "times": base64.b64encode(zlib.compress(times)).decode(),
            "signals": [{**one, "title": _signal_title(one["name"], titles or {})} for one in self._packed_signals()],
            "first": [list(self._signals.find(name)) for name in first],
            "all": ALL_LABELS,
            "colours": COLOURS,
            "gap": _MAX_BRIDGE,
        }

    def _packed_signals(self) -> Iterator[dict[str, Any]]:
        column = 0
        for name in self._names:
            labels = self._signals.labels[name]
            values = self._values[:, column : column + len(labels)]
            column += len(labels)
            yield {"name": name, "labels": labels, "unit": self._signals.units[name], **packed_series(values)}


def packed_series(values: NDArray[np.float32]) -> dict[str, Any]:
    """Series (rows, n) in a few bytes: 65,535 steps between the lowest and the highest value of each.

    Steps are stored as differences to the row before (modulo 65,536), column by column, low bytes before high bytes,
    compressed by zlib. The step 65,535 means that there is no value.
    """
    finite = np.isfinite(values)
    low = np.where(finite, values, np.inf).min(axis=0, initial=np.inf)
    high = np.where(finite, values, -np.inf).max(axis=0, initial=-np.inf)
    low, high = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    scale = (_MISSING_STEP - 1) / np.where(high > low, high - low, 1.0)
    steps = np.where(finite, np.round((np.where(finite, values, low) - low) * scale), _MISSING_STEP).astype(np.uint16)
    steps[1:] -= steps[:-1].copy()
    planes = np.ascontiguousarray(steps.T).view(np.uint8).reshape(-1, 2).T
    return {
        "low": [float(f"{value:.7g}") for value in low],
        "high": [float(f"{value:.7g}") for value in high],
        "data": base64.b64encode(zlib.compress(planes.tobytes(), 4)).decode(),
    }


@dataclass(frozen=True, kw_only=True)
class _Plot:
    """One plot: its curves as (channel, column), and its handle on the page."""

    curves: tuple[tuple[str, int], ...]
    chart: Any


class Plots:
    """The plots of one browser, in a panel of their own, and the controls that add them.

    `clock` gives the time on the page's clock for a time of the recording [s]; `titles` are the titles of robots.
    """

    def __init__(
        self,
        client: viser.ClientHandle,
        film: Film,
        clock: Callable[[float], float],
        titles: Mapping[str, str] | None = None,
    ) -> None:
        self._client, self._film, self._clock = client, film, clock
        self.signals = Signals(film.recording)
        self._titles = {name: _signal_title(name, titles or {}) for name in self.signals.labels}
        self._plots: list[_Plot] = []
        self._panel: Any = None
        self._tab: Any = None
        self._length = SPANS[_FIRST_SPAN]
        self._from = self._to = -math.inf
        self._drawn: tuple[float, float] | None = None
        self.span: tuple[float, float] | None = None
        """Clock times at the left and right end of the plots; None without plots."""
        if not self.signals.labels:
            return
        gui, channels = client.gui, tuple(self.signals.labels)
        first = next((name for name in channels if name.endswith((".angles", ".speed"))), channels[0])
        with gui.add_folder("Plots", order=14, expand_by_default=False):
            self._channel = gui.add_dropdown("Channel", tuple(self._titles.values()), initial_value=self._titles[first])
            self._label = gui.add_dropdown("Label", (ALL_LABELS, *self.signals.labels[first]), initial_value=ALL_LABELS)
            self._channel.on_update(lambda _: self._offer_labels())
            gui.add_button("Add plot", icon="chart-line").on_click(lambda _: self.add(self._chosen()))
            gui.add_button("Add to the last plot", icon="plus").on_click(lambda _: self.add(self._chosen(), join=True))
            gui.add_button("Remove the last plot", icon="x", color="gray").on_click(lambda _: self.remove_last())
            span = gui.add_dropdown("Time shown", tuple(SPANS), initial_value=_FIRST_SPAN)
            span.on_update(lambda event: self._set_length(SPANS[str(event.target.value)]))

    def add(self, name: str, *, join: bool = False) -> None:
        """Plot a channel or one label of it, in a plot of its own or together with what the last plot shows."""
        channel, label = self.signals.find(name)
        labels = self.signals.labels[channel]
        wanted = [(channel, column) for column, its in enumerate(labels) if label in (ALL_LABELS, its)]
        old = self._plots[-1] if join and self._plots else None
        curves = dict.fromkeys([*(old.curves if old else ()), *wanted])
        self._plots.append(self._make(tuple(curves)[:MAX_SERIES]))
        self._drawn = None
        if old is not None:
            self._remove(old)

    def remove_last(self) -> None:
        """Remove the plot that was added last."""
        if self._plots:
            self._remove(self._plots[-1])

    def show(self, now: float, *, live: bool) -> None:
        """Updates the plots to a time of the recording; those of a live page end at it."""
        film = self._film
        if not self._plots or not len(film.times):
            self.span = None
            return
        if live:
            self._from, self._to = now - self._length, now
        elif not self._from <= now <= self._to or self._to - self._from != self._length:
            self._from = max(now - _LEAD_SHARE * self._length, film.start)
            self._to = self._from + self._length
        shift = self._clock(now) - now  # the clock of a match stands still now and then
        self.span = self._from + shift, self._to + shift
        wanted = self._from + shift, min(self._to, film.end) + shift
        if self._drawn is not None and max(abs(a - b) for a, b in zip(wanted, self._drawn, strict=True)) < _LIVE_PERIOD:
            return
        self._drawn = wanted
        rows = film.row_at(self._from), film.row_at(self._to) + 1
        for plot in list(self._plots):
            plot.chart.data = self._data(plot.curves, rows, shift)

    def _data(self, curves: tuple[tuple[str, int], ...], rows: tuple[int, int], shift: float) -> tuple[Floats, ...]:
        read: Mapping[str, Floats] = {channel: self.signals.read(channel, *rows) for channel, _ in curves}
        times = self._film.times[rows[0] : rows[1]]
        series = np.stack([read[channel][:, column] for channel, column in curves], axis=1)
        moments, values = thinned(*bridged(times, series))
        return moments + shift, *np.ascontiguousarray(values.T)

    def _make(self, curves: tuple[tuple[str, int], ...]) -> _Plot:
        if self._panel is None:
            self._panel = self._client.gui.add_panel()
            self._tab = self._panel.add_tab("Plots", "chart-line")
            self._panel.dock_left()
            self._panel.set_width(PANEL_WIDTH if self._film.has_scene else _WIDE_PANEL_WIDTH)
        rows = self._film.row_at(self._film.start), self._film.row_at(self._film.start) + 1
        with self._tab:
            gui = self._client.gui
            chart = gui.add_uplot(
                self._data(curves, rows, 0.0),
                ({"label": "time"}, *self._series(curves)),
                title=self._title(curves),
                scales={"x": {"time": False}},
                cursor={"drag": {"x": True, "y": False}, "sync": {"key": "nutmeg"}},
                height=_PLOT_HEIGHT,
                padding=(10, 24, 0, 0),
            )
        return _Plot(curves=curves, chart=chart)

    def _series(self, curves: tuple[tuple[str, int], ...]) -> Iterator[dict[str, Any]]:
        single = len({channel for channel, _ in curves}) == 1
        for number, (channel, column) in enumerate(curves):
            label = self.signals.labels[channel][column]
            dash = () if number < len(COLOURS) else (6, 3)
            yield {
                "label": label if single else f"{self._titles[channel]} {label}",
                "stroke": COLOURS[number % len(COLOURS)],
                "width": 1.5,
                **({"dash": dash} if dash else {}),
                "points": {"show": False},
            }

    def _title(self, curves: tuple[tuple[str, int], ...]) -> str:
        channels = dict.fromkeys(channel for channel, _ in curves)
        units = {self.signals.units[channel] for channel in channels} - {""}
        return ", ".join(self._titles[c] for c in channels) + (f" [{units.pop()}]" if len(units) == 1 else "")

    def _remove(self, plot: _Plot) -> None:
        self._plots.remove(plot)
        plot.chart.remove()
        if not self._plots and self._panel is not None:
            self._panel.remove()
            self._panel = None

    def _chosen(self) -> str:
        label = str(self._label.value)
        return self._chosen_channel() + ("" if label == ALL_LABELS else f".{label}")

    def _chosen_channel(self) -> str:
        return next(channel for channel, title in self._titles.items() if title == self._channel.value)

    def _offer_labels(self) -> None:
        self._label.options = (ALL_LABELS, *self.signals.labels[self._chosen_channel()])
        self._label.value = ALL_LABELS

    def _set_length(self, seconds: float) -> None:
        self._length, self._drawn = seconds, None
