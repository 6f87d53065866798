"""The pictures of a fit, as SVG for its report and as PNG files.

    svg(lambda figure: draw_convergence(figure, report, 0), PANEL, alt="femur over 900 evaluations")
    for name, png in pictures(report).items(): ...

Colours in the SVG are the page's own (`var(--ink)`), so that it follows a light or dark theme; text stays text.
Long series are thinned to the smallest and largest value of short stretches, so that no peak is lost.
"""

from __future__ import annotations

import html
import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.view.reports.fit import share_of_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nutmeg.reality.identify.identifiability import Identifiability
    from nutmeg.view.reports.fit import Chart, Convergence, FitReport, ParameterRow, Series

INK, GREY, GRID, GREEN, ORANGE = "#24302a", "#9aa39e", "#e4e8e5", "#227848", "#d9772b"
BLUE, VIOLET, RED, PAPER = "#2f6fb0", "#7a5bb0", "#b83a4b", "#fffffe"
THEME = {INK: "ink", GREY: "grey", GRID: "grid", GREEN: "green", ORANGE: "orange", BLUE: "blue", VIOLET: "violet"}
THEME |= {RED: "red", PAPER: "card"}
"""The page's name of each colour."""
CYCLE = (GREEN, ORANGE, BLUE, VIOLET, RED, INK, GREY)
PANEL, WIDE = (4.3, 2.7), (8.8, 3.1)
"""Sizes of pictures, inches; text is readable on a page as wide as a phone, and a desk."""
SHADES = (0.06, 0.12, 0.2, 0.32, 0.5, 0.8)
"""Opacities of candidates, from the worst to the best (figure 3 of seed 000)."""
MOST_CANDIDATES = 2400
"""Candidates drawn in a panel; more are thinned evenly."""
STRETCHES = 260
"""A series is thinned to so many stretches."""
DETAIL_ROWS, DETAIL_FROM = 240, 1200
"""A series of more rows than the latter also gets a picture of so many of them, one by one."""
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": GRID,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "svg.hashsalt": "nutmeg",
    "path.simplify": False,
}
MOST_CHANNELS = 12
"""Channels of a recording that a PNG file shows."""
Draw = Callable[["Figure"], None]
Panel = Callable[["Axes"], None]
Size = tuple[float, float]


MARGINS = (0.66, 0.08, 0.28, 0.44)
"""Of a panel: left, right, top, bottom, inches; the same for all, so that panels side by side line up."""


@contextmanager
def _drawing(size: Size, *, panel: bool = False) -> Iterator[Figure]:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # Names in any script are measured with a font that may lack them; the browser draws them with one that has.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, dpi=130, layout=None if panel else "constrained")
        if panel:
            (width, height), (left, right, top, bottom) = size, MARGINS
            figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height, hspace=0.3)
        yield figure


def svg(draw: Draw, size: Size = PANEL, *, alt: str, panel: bool = True) -> str:
    """A picture as an `<svg>` element to be put into a page: a panel among others, or one that takes its room."""
    with _drawing(size, panel=panel) as figure:
        draw(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    box = re.search(r'viewBox="[^"]+"', text)
    assert box is not None
    inside = text[text.index(">") + 1 :]
    inside = re.sub(r"<metadata>.*?</metadata>\s*", "", inside, flags=re.DOTALL)
    inside = re.sub(r'<g id="[^"]*"', "<g", re.sub(r"<!--.*?-->", "", inside, flags=re.DOTALL))
    inside = re.sub(r' d="[^"]*"', _shorter, re.sub(r"\n\s*", "\n", inside))
    inside = inside.replace("'DejaVu Sans', sans-serif", "system-ui, sans-serif")
    for colour, name in THEME.items():
        inside = inside.replace(colour, f"var(--{name})")
    words = html.escape(alt)
    return f'<svg role="img" aria-label="{words}" {box.group(0)}><title>{words}</title>{inside.strip()}'


def alone(panel: Panel) -> Draw:
    """What draws a panel on a figure of its own."""
    return lambda figure: panel(figure.add_subplot())


def _shorter(path: re.Match[str]) -> str:
    """The path with a tenth of a point, which is as much as anyone sees, in a third of the letters."""
    rounded = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found.group()):.1f}".removesuffix(".0"), path.group())
    return re.sub(r"\s*([MLCQz])\s*", r"\1", rounded.replace("\n", " ")).replace(' d=" ', ' d="')


def png(draw: Draw, size: Size) -> bytes:
    """A picture as a PNG file on white."""
    with _drawing(size) as figure:
        draw(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", facecolor="white")
    return buffer.getvalue()


def pictures(report: FitReport) -> dict[str, bytes]:
    """All pictures of a report as PNG files, by name."""
    found: dict[str, bytes] = {}
    checked_convergences(report)
    if report.parameters:
        height = 0.9 + 0.34 * len(report.parameters)
        found["parameters"] = png(partial(draw_intervals, rows=report.parameters), (7.5, height))
    if report.convergences:
        found["error"] = png(alone(partial(draw_errors, report=report)), WIDE)
    if report.convergences and report.parameters:
        panels: list[Panel] = [partial(draw_convergence, report=report, index=i) for i in range(len(report.parameters))]
        found["convergence"] = png(*_sheet(panels))
    known = report.identifiability
    if known is not None and known.correlation is not None:
        side = 2.2 + 0.42 * known.space.size
        found["correlation"] = png(alone(partial(draw_correlation, known=known)), (side, side))
    for number, chart in enumerate(report.charts):
        found[f"chart_{number + 1}"] = png(alone(partial(draw_chart, chart=chart)), WIDE)
    for number, name in enumerate(dict.fromkeys(one.recording for one in report.series)):
        channels = [one for one in report.series if one.recording == name][:MOST_CHANNELS]
        panels = [partial(draw_series, one=one, legend=one is channels[0]) for one in channels]
        found[f"series_{number + 1}"] = png(*_sheet(panels, title=name))
    return found


def _sheet(panels: Sequence[Panel], title: str = "") -> tuple[Draw, Size]:
    """Panels side by side: what draws them, and the size of it."""
    columns = min(len(panels), 2 if len(panels) < 5 else 3)
    rows = math.ceil(len(panels) / columns)

    def draw(figure: Figure) -> None:
        if title:
            figure.suptitle(_short(title, 30 * columns), x=0.01, ha="left", fontsize=11, fontweight="bold")
        for index, panel in enumerate(panels):
            panel(figure.add_subplot(rows, columns, index + 1))

    return draw, (PANEL[0] * columns, PANEL[1] * rows + (0.4 if title else 0.0))


def checked_convergences(report: FitReport) -> tuple[Convergence, ...]:
    """The convergences, if each has the parameters of the report."""
    for one in report.convergences:
        if report.parameters and one.candidates.shape[1] != len(report.parameters):
            raise UsageError(
                f"a convergence has {one.candidates.shape[1]} parameters, but the report {len(report.parameters)}; "
                "give both in the same order."
            )
    return report.convergences


def _thinned(convergence: Convergence) -> tuple[Floats, Floats, Floats]:
    """Numbers of evaluations, candidates and ranks (0 the worst, 1 the best of its iteration) to be drawn."""
    ranks = np.full(len(convergence.values), np.nan)
    ends = (*convergence.starts[1:], len(ranks))
    for first, last in zip(convergence.starts, ends, strict=True):
        values = convergence.values[first:last]
        good = np.flatnonzero(np.isfinite(values))
        order = np.argsort(np.argsort(-values[good], kind="stable"), kind="stable")
        ranks[first + good] = order / max(len(good) - 1, 1)
    shown = np.flatnonzero(np.isfinite(ranks))
    shown = shown[:: max(1, math.ceil(len(shown) / MOST_CANDIDATES))]
    return np.asarray(shown + 1.0, np.float64), convergence.candidates[shown], np.asarray(ranks[shown])


def _cloud(axes: Axes, x: Floats, y: Floats, ranks: Floats) -> None:
    """Points shaded by rank; those of a shade are one path of dots, which keeps the page small."""
    level = np.minimum((ranks * len(SHADES)).astype(int), len(SHADES) - 1)
    for shade, alpha in enumerate(SHADES):
        here = level == shade
        if not here.any():
            continue
        gaps = np.full(int(here.sum()), np.nan)
        xs, ys = np.stack([x[here], x[here], gaps], 1).ravel(), np.stack([y[here], y[here], gaps], 1).ravel()
        axes.plot(xs, ys, color=INK, alpha=alpha, lw=2.6, solid_capstyle="round")


def draw_convergence(axes: Axes, report: FitReport, index: int) -> None:
    """A parameter over the evaluations (figure 3 c-f of seed 000)."""
    row = report.parameters[index]
    for other in report.convergences[1:]:
        x, y = _corners(other.best_so_far()[0][:, index])
        axes.plot(x, y, color=BLUE, lw=0.9, alpha=0.6)
    first = report.convergences[0]
    x, candidates, ranks = _thinned(first)
    _cloud(axes, x, candidates[:, index], ranks)
    x, y = _corners(first.best_so_far()[0][:, index])
    axes.plot(x, y, color=GREEN, lw=1.8)
    if row.interval:
        axes.axhspan(*row.interval, color=GREEN, alpha=0.13, lw=0)
    if row.old is not None:
        axes.axhline(row.old, color=ORANGE, lw=1, ls=":")
    if row.true is not None:
        axes.axhline(row.true, color=RED, lw=1.1, ls="--")
    _iterations(axes, first)
    if row.scale == "log":
        axes.set_ylim(row.low / 1.03, row.high * 1.03)
        _logarithmic(axes)
    else:
        margin = 0.02 * (row.high - row.low)
        axes.set_ylim(row.low - margin, row.high + margin)
    axes.set(title=_short(row.name), xlabel="evaluations", ylabel=row.unit, xlim=(0, len(first.values)))


def _corners(values: Floats) -> tuple[Floats, Floats]:
    """A line of steps, only where it changes: evaluations and values."""
    changes = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    x = np.concatenate([np.repeat(changes + 1.0, 2)[1:], [float(len(values))]])
    return x, np.repeat(values[changes], 2)


def _iterations(axes: Axes, convergence: Convergence) -> None:
    for start in convergence.starts[1:]:
        axes.axvline(start, color=GREY, lw=0.6, alpha=0.7)


def draw_errors(axes: Axes, report: FitReport) -> None:
    """The error over the evaluations (figure 3 b of seed 000)."""
    for other in report.convergences[1:]:
        axes.plot(*_corners(other.best_so_far()[1]), color=BLUE, lw=0.9, alpha=0.6)
    first = report.convergences[0]
    x, _, ranks = _thinned(first)
    values = first.values[x.astype(int) - 1]
    _cloud(axes, x, values, ranks)
    best = first.best_so_far()[1]
    axes.plot(*_corners(best), color=GREEN, lw=2, label=f"best so far{', ' + first.label if first.label else ''}")
    if len(report.convergences) > 1:
        axes.plot([], [], color=BLUE, lw=0.9, label="other searches")
    _iterations(axes, first)
    finite = values[np.isfinite(values)]
    if finite.size and finite.min() > 0 and finite.max() > 5 * finite.min():
        _logarithmic(axes)
    axes.set(
        title="Error of all candidates", xlabel="evaluations", ylabel=report.minimised, xlim=(0, len(first.values))
    )
    axes.legend(loc="upper right")


def draw_chart(axes: Axes, chart: Chart) -> None:
    """Curves over each other."""
    for number, curve in enumerate(chart.curves):
        colour = CYCLE[number % len(CYCLE)]
        if curve.low is not None and curve.high is not None:
            axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.15, lw=0)
        marker: Any = {"marker": "o", "ms": 3.2} if curve.points else {}
        line = "--" if curve.dashed else "-"
        axes.plot(*_thin_lines(curve.x, curve.y), color=colour, lw=1.6, ls=line, label=curve.name, **marker)
    if chart.log:
        _logarithmic(axes)
    if chart.equal:
        axes.set_aspect("equal", adjustable="datalim")
    axes.set(title=_short(chart.title, 70), xlabel=chart.x_label, ylabel=chart.y_label)
    if any(curve.name and not curve.name.startswith("_") for curve in chart.curves):
        axes.legend()


def draw_correlation(axes: Axes, known: Identifiability) -> None:
    """How the estimates of every two parameters go together: green alike, orange against each other."""
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
    shown = [_short(name, 18) for name in names]
    axes.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
    axes.set_xticks(range(k), shown, rotation=90)
    axes.set_yticks(range(k), shown)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def draw_series(axes: Axes, one: Series, *, legend: bool = True, rows: slice | None = None) -> None:
    """A channel measured and simulated, before and after (figure 5 of seed 000)."""
    part = rows or slice(None)
    lines = (
        (one.commanded, GREY, 1.0, ":", "commanded"),
        (one.before, ORANGE, 1.1, "-", "simulated before"),
        (one.measured, INK, 1.9, "-", "measured"),
        (one.after, GREEN, 1.3, "-", "simulated after"),
    )
    for values, colour, width, style, name in lines:
        if values is not None:
            axes.plot(*_thin_lines(one.times[part], values[part]), color=colour, lw=width, ls=style, label=name)
    axes.set(ylabel=one.unit, xlabel=one.along)
    axes.margins(x=0.01)
    if rows is None:
        axes.set_title(_short(one.channel))
    if legend:
        axes.legend(loc="best", ncols=2, handlelength=1.4)


def draw_series_with_detail(figure: Figure, one: Series) -> None:
    """A channel; of a long one also a stretch in the middle, row by row."""
    if len(one.times) <= DETAIL_FROM:
        draw_series(figure.add_subplot(), one, legend=False)
        return
    grid = figure.add_gridspec(2, 1)
    whole, middle = figure.add_subplot(grid[0]), (len(one.times) - DETAIL_ROWS) // 2
    draw_series(whole, one, legend=False)
    whole.set_xlabel("")
    part = slice(middle, middle + DETAIL_ROWS)
    whole.axvspan(one.times[part.start], one.times[part.stop - 1], color=BLUE, alpha=0.2, lw=0)
    draw_series(figure.add_subplot(grid[1]), one, legend=False, rows=part)


def _thin_lines(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """A line with the smallest and the largest value of every stretch, in their order; short ones as they are."""
    size = len(x) // STRETCHES
    if size < 4:
        return x, y
    count = len(x) // size
    block = y[: count * size].reshape(count, size)
    filled = np.where(np.isfinite(block), block, np.nan)
    empty = np.isnan(filled).all(axis=1)
    low = np.where(empty, 0, np.argmin(np.where(np.isnan(filled), np.inf, filled), axis=1))
    high = np.where(empty, 0, np.argmax(np.where(np.isnan(filled), -np.inf, filled), axis=1))
    picked = np.sort(np.stack([low, high], axis=1), axis=1) + (np.arange(count) * size)[:, np.newaxis]
    index = np.concatenate([picked.ravel(), np.arange(count * size, len(x))])
    return x[index], y[index]


def draw_intervals(figure: Figure, rows: tuple[ParameterRow, ...]) -> None:
    """All estimates and their intervals between their bounds."""
    axes = figure.add_subplot()
    for index, row in enumerate(rows):
        colour = ORANGE if row.identifiable is False else GREEN
        axes.plot([0, 1], [index, index], color=GRID, lw=5, solid_capstyle="round")
        if row.interval:
            ends = [share_of_range(row, end) for end in row.interval]
            axes.plot(ends, [index, index], color=colour, alpha=0.5, lw=5, solid_capstyle="butt")
        axes.plot(share_of_range(row, row.value), index, "o", color=colour, ms=6)
        if row.old is not None:
            axes.plot(share_of_range(row, row.old), index, "|", color=GREY, ms=11, mew=1.6)
        if row.true is not None:
            axes.plot(share_of_range(row, row.true), index, "x", color=RED, ms=6, mew=1.6)
    axes.set_yticks(range(len(rows)), [_short(row.name) for row in rows])
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(-0.02, 1.02), title="Estimates between their bounds")
    axes.set_xticks([0, 1], ["low", "high"])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _logarithmic(axes: Axes) -> None:
    """A logarithmic vertical axis with plain numbers on it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    decades = math.log10(high / low) if 0 < low < high else 1.0
    marks = (1.0,) if decades > 2.5 else (1.0, 3.0) if decades > 1.2 else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(subs=marks, numticks=8))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _short(name: str, most: int = 34) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
