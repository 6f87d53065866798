"""The pictures of a fit and their data: parameters over evaluations, errors, measured and simulated series.

    svg(alone(partial(draw_convergence, row=rows[0], convergences=searches, index=0)), alt="femur over 900 evaluations")

They follow Zagal and others (2009): parameters over evaluations, shaded by error (figure 3), and measured against
simulated series before and after the fit (figure 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.view.reports.plots import (
    BLUE,
    GREEN,
    GREY,
    GRID,
    INK,
    ORANGE,
    PAPER,
    RED,
    VIOLET,
    WIDE,
    Size,
    set_logarithmic,
    shortened,
    thinned,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nutmeg.reality.identify.identifiability import Identifiability
    from nutmeg.search.run import SearchResult

_RANK_SHADES = (0.06, 0.12, 0.2, 0.32, 0.5, 0.8)  # opacities of candidates, from the worst to the best
_MAX_CANDIDATES = 2400  # candidates drawn in a panel; more are thinned evenly
_DETAIL_ROWS, _DETAIL_FROM = 240, 1200
"""Rows of the detail picture of a series, and the number of rows from which on a series has such a picture."""
_MAX_BAND_POINTS = 500  # largest number of rows of a drawn band


@dataclass(frozen=True, kw_only=True)
class ParameterRow:
    """A parameter after the fit."""

    name: str
    value: float
    """The estimated value."""
    low: float
    """The smallest value that was allowed."""
    high: float
    """The largest value that was allowed."""
    unit: str = ""
    about: str = ""
    """A description in a few words."""
    sets: tuple[str, ...] = ()
    """The numbers of the model that it sets, such as `robot.L1_femur`."""
    scale: Literal["linear", "log"] = "linear"
    old: float | None = None
    """Its value before the fit."""
    true: float | None = None
    """The true value, where it is known, as in an experiment with a hidden simulation."""
    interval: tuple[float, float] | None = None
    """The confidence interval."""
    identifiable: bool | None = None
    """Whether the data determine it; None where that was not examined."""
    reason: str = ""
    """The reason why the data determine it, or why not."""

    def share(self, value: float) -> float:
        """Place of a value between the bounds, 0 to 1, along the scale; within a thousandth of a bound it is at it."""
        low, high, at = (self.low, self.high, value)
        if self.scale == "log":
            low, high, at = np.log((low, high, at))
        share = float((at - low) / (high - low)) if high > low else 0.5
        return 0.0 if share < 0.001 else 1.0 if share > 0.999 else share


@dataclass(frozen=True, kw_only=True)
class Convergence:
    """All candidates of a search, or of the searches of all iterations one after the other."""

    candidates: Floats
    """Shape (E, k), in the order of evaluation."""
    values: Floats
    """Their errors, (E,); nan for those that failed."""
    starts: tuple[int, ...] = (0,)
    """Evaluations at which iterations begin; the best is counted anew from there, because the error changed."""
    label: str = ""
    """The name of the search, such as `seed 3`."""

    def __post_init__(self) -> None:
        if self.candidates.ndim != 2 or self.values.shape != (len(self.candidates),):
            raise UsageError(
                f"candidates of the shape {self.candidates.shape} have values of the shape {self.values.shape}; "
                "needed are (E, k) and (E,)."
            )
        if not self.starts or self.starts[0] != 0 or list(self.starts) != sorted(set(self.starts)):
            raise UsageError(f"iterations start at {self.starts}; they must begin with 0 and grow.")

    @classmethod
    def of(cls, *results: SearchResult, label: str = "") -> Convergence:
        """The convergence of a search; of several, one after the other, as the iterations of Back-to-Reality."""
        generations = [[(g.candidates, g.values) for g in result.history] for result in results]
        flat = [pair for each in generations for pair in each]
        if not flat:
            raise UsageError("the search has no history to show; evaluate at least one generation.")
        sizes = [sum(len(values) for _, values in each) for each in generations]
        starts = tuple(int(n) for n in np.cumsum([0, *sizes[:-1]]))
        return cls(
            candidates=np.concatenate([c for c, _ in flat]),
            values=np.concatenate([v for _, v in flat]),
            starts=starts,
            label=label,
        )

    @property
    def iterations(self) -> list[slice]:
        """The evaluations of each iteration."""
        return [slice(a, b) for a, b in zip(self.starts, (*self.starts[1:], len(self.values)), strict=True)]

    def best_so_far(self) -> tuple[Floats, Floats]:
        """The best candidate (E, k) of its iteration until each evaluation, and its error (E,); nan without one."""
        rows, errors = np.full(self.candidates.shape, np.nan), np.full(len(self.values), np.nan)
        for part in self.iterations:
            values = np.where(np.isfinite(self.values[part]), self.values[part], np.inf)
            lowest = np.minimum.accumulate(values)
            index = np.maximum.accumulate(np.where(values <= lowest, np.arange(len(values)), 0))
            found = np.isfinite(lowest)
            rows[part][found] = self.candidates[part][index[found]]
            errors[part][found] = lowest[found]
        return rows, errors

    def sample(self) -> tuple[Floats, Floats, Floats]:
        """Numbers of evaluations, candidates and ranks (0 the worst, 1 the best of its iteration) to be drawn."""
        ranks = np.full(len(self.values), np.nan)
        for part in self.iterations:
            values = self.values[part]
            good = np.flatnonzero(np.isfinite(values))
            order = np.argsort(np.argsort(-values[good], kind="stable"), kind="stable")
            ranks[part.start + good] = order / max(len(good) - 1, 1)
        shown = np.flatnonzero(np.isfinite(ranks))
        shown = shown[:: max(1, math.ceil(len(shown) / _MAX_CANDIDATES))]
        return np.asarray(shown + 1.0, np.float64), self.candidates[shown], np.asarray(ranks[shown])


@dataclass(frozen=True, kw_only=True)
class Series:
    """A channel of a recording, measured and simulated."""

    recording: str
    channel: str
    times: Floats
    """Times of the samples (T,), seconds."""
    measured: Floats
    """Measured values (T,)."""
    after: Floats | None = None
    """Simulated with the estimates, (T,)."""
    before: Floats | None = None
    """Simulated before the fit, (T,)."""
    commanded: Floats | None = None
    """The command, (T,), where the channel has one."""
    band: tuple[Floats, Floats] | None = None
    """Lower and upper ends (T,) of the 90 % prediction interval of each sample."""
    unit: str = ""
    held_out: bool = False
    """Whether the fit never saw this recording."""
    along: str = "time [s]"
    """The meaning of `times`, where they are no times."""

    def mean_error(self, simulated: Floats | None) -> float:
        """The mean absolute error of a simulation; -1 without one."""
        if simulated is None:
            return -1.0
        difference = np.abs(np.asarray(simulated) - self.measured)
        difference = difference[np.isfinite(difference)]
        return float(difference.mean()) if difference.size else -1.0


def draw_convergence(axes: Axes, row: ParameterRow, convergences: Sequence[Convergence], index: int) -> None:
    """Draw the parameter with the number `index` over the evaluations (figure 3 c-f of the paper)."""
    for other in convergences[1:]:
        x, y = _corners(other.best_so_far()[0][:, index])
        axes.plot(x, y, color=BLUE, lw=0.9, alpha=0.6)
    first = convergences[0]
    x, candidates, ranks = first.sample()
    _draw_cloud(axes, x, candidates[:, index], ranks)
    x, y = _corners(first.best_so_far()[0][:, index])
    axes.plot(x, y, color=GREEN, lw=1.8)
    if row.interval:
        axes.axhspan(*row.interval, color=GREEN, alpha=0.13, lw=0)
    if row.old is not None:
        axes.axhline(row.old, color=ORANGE, lw=1, ls=":")
    if row.true is not None:
        axes.axhline(row.true, color=RED, lw=1.1, ls="--")
    mark_starts(axes, first.starts)
    if row.scale == "log":
        axes.set_ylim(row.low / 1.03, row.high * 1.03)
        set_logarithmic(axes)
    else:
        margin = 0.02 * (row.high - row.low)
        axes.set_ylim(row.low - margin, row.high + margin)
    axes.set(title=shortened(row.name), xlabel="evaluations", ylabel=row.unit, xlim=(0, len(first.values)))


def draw_errors(axes: Axes, convergences: Sequence[Convergence], label: str) -> None:
    """Draw the error over the evaluations (figure 3 b of the paper)."""
    for other in convergences[1:]:
        axes.plot(*_corners(other.best_so_far()[1]), color=BLUE, lw=0.9, alpha=0.6)
    first = convergences[0]
    x, _, ranks = first.sample()
    values = first.values[x.astype(int) - 1]
    _draw_cloud(axes, x, values, ranks)
    best = first.best_so_far()[1]
    axes.plot(*_corners(best), color=GREEN, lw=2, label=f"best so far{', ' + first.label if first.label else ''}")
    if len(convergences) > 1:
        axes.plot([], [], color=BLUE, lw=0.9, label="other searches")
    mark_starts(axes, first.starts)
    finite = values[np.isfinite(values)]
    if finite.size and finite.min() > 0 and finite.max() > 5 * finite.min():
        set_logarithmic(axes)
    axes.set(title="Error of all candidates", xlabel="evaluations", ylabel=label, xlim=(0, len(first.values)))
    axes.legend(loc="upper right")


def _draw_cloud(axes: Axes, x: Floats, y: Floats, ranks: Floats) -> None:
    """Draw points shaded by rank; those of a shade are one path of dots, which keeps the page small."""
    level = np.minimum((ranks * len(_RANK_SHADES)).astype(int), len(_RANK_SHADES) - 1)
    for shade, alpha in enumerate(_RANK_SHADES):
        here = level == shade
        if not here.any():
            continue
        gaps = np.full(int(here.sum()), np.nan)
        xs, ys = np.stack([x[here], x[here], gaps], 1).ravel(), np.stack([y[here], y[here], gaps], 1).ravel()
        axes.plot(xs, ys, color=INK, alpha=alpha, lw=2.6, solid_capstyle="round")


def _corners(values: Floats) -> tuple[Floats, Floats]:
    """A line of steps, only where it changes: evaluations and values."""
    changes = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    x = np.concatenate([np.repeat(changes + 1.0, 2)[1:], [float(len(values))]])
    return x, np.repeat(values[changes], 2)


def mark_starts(axes: Axes, starts: Sequence[float]) -> None:
    """Draw a thin line where each iteration but the first begins."""
    for start in starts[1:]:
        axes.axvline(start, color=GREY, lw=0.6, alpha=0.7)


def draw_correlation(axes: Axes, known: Identifiability) -> None:
    """Draw how the estimates of every two parameters correlate: green is positive, orange negative."""
    from matplotlib.patches import Rectangle

    assert known.correlation is not None
    names, k = known.space.names, len(known.space.names)
    for i in range(k):
        for j in range(k):
            value = float(known.correlation[i, j])
            place = (j - 0.47, i - 0.47)
            if i == j:
                axes.add_patch(Rectangle(place, 0.94, 0.94, color=GRID, lw=0))
                continue
            axes.add_patch(Rectangle(place, 0.94, 0.94, color=GREEN if value > 0 else ORANGE, alpha=abs(value), lw=0))
            if k <= 12 and abs(value) >= 0.1:
                ink = PAPER if abs(value) > 0.6 else INK
                axes.text(j, i, f"{value:.2f}".replace("0.", "."), ha="center", va="center", fontsize=7.5, color=ink)
    shown = [shortened(name, 18) for name in names]
    axes.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
    axes.set_xticks(range(k), shown, rotation=90)
    axes.set_yticks(range(k), shown)
    _bare(axes)


def draw_series(axes: Axes, one: Series, *, legend: bool = True, rows: slice | None = None) -> None:
    """Draw a channel measured and simulated, before and after (figure 5 of the paper)."""
    part = rows or slice(None)
    lines = (
        (one.commanded, GREY, 1.0, ":", "commanded"),
        (one.before, ORANGE, 1.1, "-", "simulated before"),
        (one.measured, INK, 1.9, "-", "measured"),
        (one.after, GREEN, 1.3, "-", "simulated after"),
    )
    if one.band is not None:
        step = slice(None, None, 1 + len(one.times[part]) // _MAX_BAND_POINTS)
        low, high = (side[part][step] for side in one.band)
        axes.fill_between(one.times[part][step], low, high, color=GREEN, alpha=0.18, lw=0)
    for values, colour, width, style, name in lines:
        if values is not None:
            axes.plot(*thinned(one.times[part], values[part]), color=colour, lw=width, ls=style, label=name)
    axes.set(ylabel=one.unit, xlabel=one.along)
    axes.margins(x=0.01)
    if rows is None:
        axes.set_title(shortened(one.channel))
    if legend:
        axes.legend(loc="best", ncols=2, handlelength=1.4)


def draw_series_with_detail(figure: Figure, one: Series) -> None:
    """Draw a channel as wide as the page, and below it the residuals and, if it is long, a stretch in its middle."""
    parts = _parts_below(one)
    grid = figure.add_gridspec(1 + bool(parts), max(1, len(parts)))
    whole = figure.add_subplot(grid[0, :])
    draw_series(whole, one, legend=False)
    for column, name in enumerate(parts):
        axes = figure.add_subplot(grid[1, column])
        if name == "detail":
            middle = (len(one.times) - _DETAIL_ROWS) // 2
            part = slice(middle, middle + _DETAIL_ROWS)
            whole.axvspan(one.times[part.start], one.times[part.stop - 1], color=BLUE, alpha=0.2, lw=0)
            draw_series(axes, one, legend=False, rows=part)
            axes.set_title("the blue stretch")
            _scale_to(axes, [one.measured[part], *([] if one.after is None else [one.after[part]])])
        elif one.after is not None:
            axes.axhline(0.0, color=GREY, lw=0.8)
            axes.plot(*thinned(one.times, one.measured - one.after), color=VIOLET, lw=1.1, label="measured - simulated")
            axes.set(ylabel=one.unit, xlabel=one.along, title="measured - simulated")
            axes.margins(x=0.01)


def _parts_below(one: Series) -> tuple[str, ...]:
    """The pictures below a whole channel."""
    return ("detail",) * (len(one.times) > _DETAIL_FROM) + ("residual",) * (one.after is not None)


def _scale_to(axes: Axes, series: Sequence[Floats]) -> None:
    """Let the vertical axis show these values (T,), however far away others are."""
    values = np.concatenate(series)
    values = values[np.isfinite(values)]
    if values.size and np.ptp(values) > 0:
        low, high = float(values.min()), float(values.max())
        axes.set_ylim(low - 0.15 * (high - low), high + 0.15 * (high - low))


def series_size(one: Series) -> Size:
    """Width and height of the picture of a channel, inches."""
    return WIDE[0], WIDE[1] + (2.3 if _parts_below(one) else 0.0)


def draw_region(axes: Axes, pair: tuple[str, str], rim: Floats, best: tuple[float, float]) -> None:
    """Draw the region in which two parameters lie together, (points, 2), about their estimates."""
    axes.fill(rim[:, 0], rim[:, 1], color=GREEN, alpha=0.18, lw=0)
    axes.plot(rim[:, 0], rim[:, 1], color=GREEN, lw=1.4)
    axes.plot(*best, marker="o", color=INK, ms=4)
    axes.set(xlabel=shortened(pair[0]), ylabel=shortened(pair[1]))


def draw_profile(
    axes: Axes, name: str, values: Sequence[float], growth: Sequence[float], ends: Sequence[float]
) -> None:
    """Draw the profile of a parameter: growth of the error when it is fixed and the others are fitted; its interval."""
    axes.axvspan(*ends, color=GREEN, alpha=0.18, lw=0)
    axes.plot(values, growth, color=INK, lw=1.4, marker="o", ms=3.5)
    axes.set(xlabel=shortened(name), ylabel="growth of the error")


def draw_intervals(axes: Axes, rows: Sequence[ParameterRow]) -> None:
    """Draw all estimates and their intervals between their bounds."""
    for index, row in enumerate(rows):
        colour = ORANGE if row.identifiable is False else GREEN
        axes.plot([0, 1], [index, index], color=GRID, lw=5, solid_capstyle="round")
        if row.interval:
            ends = [row.share(end) for end in row.interval]
            axes.plot(ends, [index, index], color=colour, alpha=0.5, lw=5, solid_capstyle="butt")
        axes.plot(row.share(row.value), index, "o", color=colour, ms=6)
        if row.old is not None:
            axes.plot(row.share(row.old), index, "|", color=GREY, ms=11, mew=1.6)
        if row.true is not None:
            axes.plot(row.share(row.true), index, "x", color=RED, ms=6, mew=1.6)
    axes.set_yticks(range(len(rows)), [shortened(row.name) for row in rows])
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(-0.02, 1.02), title="Estimates between their bounds")
    axes.set_xticks([0, 1], ["low", "high"])
    _bare(axes)


def _bare(axes: Axes) -> None:
    """Take grid, frame and tick marks away."""
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
