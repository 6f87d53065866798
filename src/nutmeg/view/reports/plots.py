"""Shared parts of all figures: colours, style, SVG elements for reports, and PNG files.

    svg(lambda figure: draw_chart(figure.add_subplot(), chart), alt="Fitness over 60 generations")
    Path("chart.png").write_bytes(png(alone(partial(draw_chart, chart=chart)), WIDE))

Colours in an SVG are variables of the page's style sheet (`var(--ink)`), so that it follows a light or dark theme; its
text stays text. The element has the places of its axes and the names of its curves, so that the script of a report can
show values under the pointer. Long lines are thinned to the smallest and the largest value of short stretches: no peak
is lost.
"""

from __future__ import annotations

import io
import json
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from nutmeg.base.arrays import Floats
from nutmeg.base.journal import write_file

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

INK, GREY, GRID, GREEN, ORANGE = "#24302a", "#9aa39e", "#e4e8e5", "#227848", "#d9772b"
BLUE, VIOLET, RED, PAPER = "#2f6fb0", "#7a5bb0", "#b83a4b", "#fffffe"
_THEME = {INK: "ink", GREY: "grey", GRID: "grid", GREEN: "green", ORANGE: "orange", BLUE: "blue", VIOLET: "violet"}
_THEME |= {RED: "red", PAPER: "card"}
"""The name of each colour in the style sheet of reports."""
COLOUR_CYCLE = (GREEN, ORANGE, BLUE, VIOLET, RED, INK, GREY)
PANEL, WIDE = (4.3, 2.7), (8.8, 3.1)
"""Width and height of a panel and of a wide picture, inches; their text is readable on a phone and on a desk."""
MARGINS = (0.66, 0.08, 0.28, 0.44)
"""Left, right, top and bottom margin of a panel, inches; equal for all, so that panels side by side line up."""
_LINE_STRETCHES = 260  # number of stretches, of two points each, to which a long line is thinned
_STYLE: Any = {
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
Draw = Callable[["Figure"], None]
Panel = Callable[["Axes"], None]
Size = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line of a chart."""

    name: str
    x: Floats
    """Values along the x axis, (n,)."""
    y: Floats
    """Values along the y axis, (n,); nan leaves a gap."""
    low: Floats | None = None
    """The lower edge of a band around the line, (n,)."""
    high: Floats | None = None
    """The upper edge of the band, (n,)."""
    dashed: bool = False
    points: bool = False
    """Whether to mark every point."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A plot of curves: errors over evaluations, fitness over iterations, a map of a walk."""

    title: str
    curves: tuple[Curve, ...]
    x_label: str = ""
    y_label: str = ""
    log: bool = False
    """Whether the vertical axis is logarithmic."""
    equal: bool = False
    """Whether both axes have the same scale, as in a map."""
    about: str = ""
    """A sentence below it, also read by screen readers."""


def load_plotting() -> None:
    """Loads the plotting library and its fonts ahead of time."""

    def draw(figure: Figure) -> None:
        figure.text(0, 0, "a")

    png(draw, (0.5, 0.5))


@contextmanager
def _drawing(size: Size, *, panel: bool = False) -> Iterator[Figure]:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # Names in any script are measured with a font that may lack them; the browser draws them with one that has.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, dpi=130, layout=None if panel else "constrained")
        if panel:
            (width, height), (left, right, top, bottom) = size, MARGINS
            figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height, hspace=0.3)
        yield figure


def svg(draw: Draw, size: Size = PANEL, *, alt: str, panel: bool = True) -> Markup:
    """A picture as an `<svg>` element of a report.

    Args:
        draw: draws on the figure.
        size: width and height, inches.
        alt: a description of the picture for screen readers.
        panel: whether it has the margins of a panel among others; otherwise it takes the room it needs.
    """
    with _drawing(size, panel=panel) as figure:
        draw(figure)
        curves = _name_parts(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        axes = escape(json.dumps([_axes(one, names, size) for one, names in zip(figure.axes, curves, strict=True)]))
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    box = re.search(r'viewBox="[^"]+"', text)
    assert box is not None
    inside = text[text.index(">") + 1 :]
    inside = re.sub(r"<metadata>.*?</metadata>\s*", "", inside, flags=re.DOTALL)
    inside = re.sub(r"<!--.*?-->", "", inside, flags=re.DOTALL)
    inside = re.sub(r'<g id="((?:curve|legend)-[-\d]+)"', r'<g data-part="\1"', inside)
    inside = re.sub(r'<g id="[^"]*"', "<g", inside)
    inside = re.sub(r' d="[^"]*"', _shorter, re.sub(r"\n\s*", "\n", inside))
    inside = inside.replace("'DejaVu Sans', sans-serif", "system-ui, sans-serif")
    for colour, name in _THEME.items():
        inside = inside.replace(colour, f"var(--{name})")
    words = escape(alt)
    head = f'<svg role="img" aria-label="{words}" {box.group(0)} data-axes="{axes}"><title>{words}</title>'
    return Markup(head + inside.strip())  # noqa: S704 (matplotlib escapes its texts)


def _name_parts(figure: Figure) -> list[list[str]]:
    """Names the curves and the texts of legends, so that the script of a page finds them; the curves of each axes.

    A line without a name belongs to the named one that looks alike: a legend often names one of several.
    """
    from matplotlib.colors import to_hex

    found = []
    for a, axes in enumerate(figure.axes):
        lines = axes.get_lines()
        looks = [(to_hex(line.get_color()), line.get_linestyle()) for line in lines]
        named = {look: str(line.get_label()) for look, line in zip(looks, lines, strict=True) if not _is_bare(line)}
        names = list(dict.fromkeys(str(line.get_label()) for line in lines if not _is_bare(line)))
        for number, (look, line) in enumerate(zip(looks, lines, strict=True)):
            name = named.get(look) if _is_bare(line) else str(line.get_label())
            if name is not None:
                line.set_gid(f"curve-{a}-{names.index(name)}-{number}")
        legend = axes.get_legend()
        for text in legend.get_texts() if legend is not None else ():
            if text.get_text() in names:
                text.set_gid(f"legend-{a}-{names.index(text.get_text())}")
        found.append(names)
    return found


def _is_bare(line: Line2D) -> bool:
    """Whether a line has no name; matplotlib gives it one that begins with an underscore."""
    return str(line.get_label()).startswith("_")


def _axes(axes: Axes, curves: Sequence[str], size: Size) -> dict[str, Any]:
    """Place of axes in the picture, in points from the upper left corner, and the values at their edges."""
    wide, high = 72 * size[0], 72 * size[1]
    place = axes.get_position()
    box = (place.x0 * wide, (1 - place.y1) * high, place.width * wide, place.height * high)
    return {
        "box": [round(float(value), 1) for value in box],
        "x": [float(value) for value in axes.get_xlim()],
        "y": [float(value) for value in axes.get_ylim()],
        "logX": axes.get_xscale() == "log",
        "logY": axes.get_yscale() == "log",
        "label": axes.get_xlabel(),
        "curves": [{"name": name} for name in curves],
    }


def _shorter(path: re.Match[str]) -> str:
    """The path rounded to a tenth of a point, which is invisible and needs a third of the characters."""
    rounded = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found.group()):.1f}".removesuffix(".0"), path.group())
    return re.sub(r"\s*([MLCQz])\s*", r"\1", rounded.replace("\n", " ")).replace(' d=" ', ' d="')


def png(draw: Draw, size: Size, *, facecolor: str = "white", panel: bool = False) -> bytes:
    """A picture as a PNG file; `size` is its width and height in inches."""
    with _drawing(size, panel=panel) as figure:
        draw(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", facecolor=facecolor)
    return buffer.getvalue()


def save_png(path: Path, draw: Draw, size: Size, *, panel: bool = False) -> None:
    """Write a picture as a PNG file."""
    write_file(path, png(draw, size, panel=panel))


def alone(panel: Panel) -> Draw:
    """A function that draws a panel on a figure of its own."""
    return lambda figure: panel(figure.add_subplot())


def side_by_side(panels: Sequence[Panel], title: str = "", *, columns: int = 0) -> tuple[Draw, Size]:
    """Panels in rows of `columns`, or of two or three: the function that draws them, and the size of the figure."""
    columns = min(len(panels), columns or (2 if len(panels) < 5 else 3))
    rows = math.ceil(len(panels) / columns)

    def draw(figure: Figure) -> None:
        if title:
            figure.suptitle(shortened(title, 30 * columns), x=0.01, ha="left", fontsize=11, fontweight="bold")
        for index, panel in enumerate(panels):
            panel(figure.add_subplot(rows, columns, index + 1))

    return draw, (PANEL[0] * columns, PANEL[1] * rows + (0.4 if title else 0.0))


def draw_chart(axes: Axes, chart: Chart) -> None:
    """Draw the curves of a chart over each other."""
    for number, curve in enumerate(chart.curves):
        colour = COLOUR_CYCLE[number % len(COLOUR_CYCLE)]
        if curve.low is not None and curve.high is not None:
            axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.15, lw=0)
        marker: Any = {"marker": "o", "ms": 3.2} if curve.points else {}
        line = "--" if curve.dashed else "-"
        axes.plot(*thinned(curve.x, curve.y), color=colour, lw=1.6, ls=line, label=curve.name, **marker)
    if chart.log:
        set_logarithmic(axes)
    if chart.equal:
        axes.set_aspect("equal", adjustable="datalim")
    axes.set(title=shortened(chart.title, 70), xlabel=chart.x_label, ylabel=chart.y_label)
    if any(curve.name and not curve.name.startswith("_") for curve in chart.curves):
        axes.legend()


def thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """A line reduced to the smallest and the largest value of every stretch, in their order; short lines stay."""
    size = len(x) // _LINE_STRETCHES
    if size < 4:
        return x, y
    count = len(x) // size
    block = y[: count * size].reshape(count, size)
    finite = np.isfinite(block)
    empty = ~finite.any(axis=1)
    low = np.where(empty, 0, np.argmin(np.where(finite, block, np.inf), axis=1))
    high = np.where(empty, 0, np.argmax(np.where(finite, block, -np.inf), axis=1))
    picked = np.sort(np.stack([low, high], axis=1), axis=1) + (np.arange(count) * size)[:, np.newaxis]
    index = np.concatenate([picked.ravel(), np.arange(count * size, len(x))])
    return x[index], y[index]


def set_logarithmic(axes: Axes) -> None:
    """Give the vertical axis a logarithmic scale with plain numbers on it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    decades = math.log10(high / low) if 0 < low < high else 1.0
    marks = (1.0,) if decades > 2.5 else (1.0, 3.0) if decades > 1.2 else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(subs=marks, numticks=8))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def shortened(name: str, longest: int = 34) -> str:
    """A name cut to a number of characters."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
