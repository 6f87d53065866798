"""The model of every report: a title, cards, warnings, and sections of text, tables and figures.

Builders fill it (`fit`, `match`, `series`, `servo`), one template (`templates/report.html.j2`) and one style sheet turn
it into one HTML file that needs no server and nothing from the network, and follows the light or dark theme of the
reader's system. A small script in it (`templates/report.js`) shows values under the pointer, zooms, hides curves and
sorts tables; without scripts the page is complete, too.

    table = Table(title="Speeds", columns=("walk", "forward [m/s]"), rows=(("initial", 0.31), ("learned", 0.52)))
    report = Report(kind="Learning", title="A faster walk", sections=(Section(title="Numbers", blocks=(table,)),))
    write_page(Path("report.html"), report)

The template escapes all text. Pictures are either PNG files (`bytes`) or SVG elements of `plots.svg` (`Markup`).
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from nutmeg.base.errors import FileError
from nutmeg.base.journal import versions, write_file
from nutmeg.view.html import read_text, render

if TYPE_CHECKING:
    from pathlib import Path


Value = str | float | int | None
"""The value of a table cell."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, kw_only=True)
class Card:
    """One of the most important numbers."""

    name: str
    value: str
    unit: str = ""
    note: str = ""
    """A remark in small print below the number."""


@dataclass(frozen=True, kw_only=True)
class Track:
    """A value between its bounds as a dot on a line; places are shares of the range, 0 to 1."""

    value: float
    low: str
    """The lower bound as text."""
    high: str
    """The upper bound as text."""
    band: tuple[float, float] | None = None
    """The ends of an interval around the value."""
    old: float | None = None
    true: float | None = None
    vague: bool = False
    """Whether to draw it as a warning."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A table cell with more than a value in it."""

    value: Value = ""
    unit: str = ""
    strong: bool = False
    notes: tuple[str, ...] = ()
    """Lines in small print below the value."""
    verdict: bool | None = None
    """Shows the value as a green (True) or orange (False) badge."""
    swatch: str = ""
    """A CSS colour that is shown as a small square before the value."""
    shade: float = 0.0
    """Colours the background: -1 is orange, 1 is green, 0 leaves it."""
    bars: tuple[tuple[str, float], ...] = ()
    """Horizontal bars: `was` or `is`, and the length as a share of the cell."""
    track: Track | None = None
    links: tuple[tuple[str, str], ...] = ()
    """Names and addresses of other pages."""
    span: int = 1
    """The number of columns that the cell takes."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of cells under named columns. A row that is a string is the heading of a group of rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value | Cell, ...] | str, ...]
    """Numbers are written with four digits."""
    title: str = ""
    about: str = ""
    """A sentence below the table."""
    numeric: tuple[str, ...] | None = None
    """The columns that are set to the right; None chooses those that hold nothing but numbers."""
    kind: Literal["plain", "stack", "grid", "bars"] = "plain"
    """Layout: `stack` puts the cells of a row below each other on a narrow screen, `grid` is a cross table."""

    def is_numeric(self, index: int) -> bool:
        """Whether a column is set to the right."""
        if self.numeric is not None:
            return self.columns[index] in self.numeric
        rows = [row for row in self.rows if not isinstance(row, str)]
        return all(isinstance(value, int | float | None) for row in rows for value in row[index : index + 1])


@dataclass(frozen=True, kw_only=True)
class Text:
    """A paragraph of text."""

    text: str
    quiet: bool = True
    """Whether it is a remark in small print."""


@dataclass(frozen=True, kw_only=True)
class Bullets:
    """A list; an item that is a pair begins with a heading in bold."""

    items: tuple[str | tuple[str, str], ...]
    quiet: bool = False


@dataclass(frozen=True, kw_only=True)
class Legend:
    """Legend of the figures below: a colour name of the style sheet, a sign, and words for each line."""

    keys: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Names and values, such as the settings of a run."""

    items: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture with a caption."""

    image: Markup | bytes
    """An SVG element, or a PNG file."""
    caption: str = ""

    @property
    def source(self) -> str:
        """The PNG file as a `data:` address; empty for an SVG element."""
        if isinstance(self.image, Markup):
            return ""
        return f"data:image/png;base64,{base64.b64encode(self.image).decode()}"


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """Pictures side by side, as many in a row as fit."""

    pictures: tuple[Picture, ...]
    kind: Literal["panels", "square", "wide"] = "panels"
    """`wide` is one picture as wide as the page, `square` one of moderate size."""


@dataclass(frozen=True, kw_only=True)
class Details:
    """Blocks that a click on their summary shows or hides."""

    summary: str
    blocks: tuple[Block, ...]
    badge: str = ""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Blocks in two columns, below each other on a narrow screen."""

    left: tuple[Block, ...]
    right: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True)
class Video:
    """A video file beside the report."""

    file: str


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command line to be copied."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Duel:
    """Numbers of two teams with a bar between them: name, both values as text, and the first one's share or None."""

    rows: tuple[tuple[str, str, str, float | None], ...]
    colours: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """Events in their order: time, sign, words, a CSS colour, whether they are bold, and an address in the replay."""

    events: tuple[tuple[str, str, str, str, bool, str], ...]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """An event on a time line."""

    share: float
    """Its place between both ends, 0 to 1."""
    text: str
    sign: str = ""
    colour: str = ""
    """The colour, as CSS writes it."""
    above: bool = True
    """Whether it stands above the line."""
    strong: bool = False
    address: str = ""
    """Its address in the replay."""


@dataclass(frozen=True, kw_only=True)
class Strip:
    """A time line from left to right with events on it: those of one team above, those of the other below."""

    marks: tuple[Mark, ...]
    ticks: tuple[tuple[float, str], ...] = ()
    """Places, 0 to 1, and times."""
    lanes: tuple[str, str] = ("", "")
    """Headings of the lanes above and below the line."""


@dataclass(frozen=True, kw_only=True)
class Scoreboard:
    """The result of a match, in place of a plain title."""

    teams: tuple[str, str]
    subtitles: tuple[str, str] = ("", "")
    colours: tuple[str, str]
    score: str
    goals: tuple[tuple[str, ...], tuple[str, ...]]
    """A line for each goal of each team."""
    note: str


Block = (
    Text | Bullets | Legend | Table | Facts | Pictures | Details | Columns | Video | Command | Duel | Timeline | Strip
)
"""Everything that a section can hold."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report with a heading. The key is its address within the page."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    half: bool = False
    """Whether it shares a row with its neighbour."""
    folded: bool = False
    """Whether only its heading shows until it is clicked."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that a report shows, in its order."""

    title: str
    kind: str
    """Kind of the report, shown above the title."""
    summary: str = ""
    """A few sentences; an empty line begins a new paragraph."""
    command: str = ""
    """The exact command that makes it again."""
    cards: tuple[Card, ...] = ()
    scoreboard: Scoreboard | None = None
    warnings: tuple[str, ...] = ()
    warning_title: str = "Before you trust it"
    sections: tuple[Section, ...] = ()
    """A section without blocks is left out."""
    versions: Mapping[str, str] = field(default_factory=versions)


def page(report: Report) -> str:
    """The report as an HTML page."""
    return render(
        "report.html.j2",
        report=report,
        sections=[section for section in report.sections if section.blocks],
        style=Markup(read_text("report.css")),  # noqa: S704 (our own file)
        script=Markup(read_text("report.js")),  # noqa: S704 (our own file)
        number=number,
    ).lstrip()


def write_page(path: Path, report: Report) -> None:
    """Write the report as an HTML file; the folder must exist."""
    if not path.parent.is_dir():
        raise FileError(path, f"the report cannot be written: there is no folder {path.parent}.")
    write_file(path, page(report))


def number(value: Value, *, width: float | None = None) -> str:
    """A number with four digits; text stays as it is, None and nan become a dash.

    With the `width` of an interval around it, the number is rounded to two digits of that width.
    """
    if isinstance(value, str | int):
        return str(value)
    if value is None or not math.isfinite(value):
        return "–"
    if width and 1e-5 < width < 1e5 and abs(value) < 1e6:
        return f"{value:.{max(0, 1 - math.floor(math.log10(width)))}f}".replace("-", "−")
    digits, _, power = f"{value:.4g}".partition("e")
    if power and 0 < int(power) <= 6:
        return f"{value:.0f}".replace("-", "−")
    return digits.replace("-", "−") + (f"·10{str(int(power)).translate(_SUPERSCRIPTS)}" if power else "")


def duration(seconds: float) -> str:
    """A time in seconds as people read it."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
