"""Pitches as data; `field_geoms` puts them into a scene.

A field is a TOML file under `data/fields/` (or a user's own): measures, goals, carpet, colours, and where each
number comes from (rule book and year).

    field = load_field("spl2025")
    field.landmarks()["G1R"]   # (4.5, 0.75, 0.8)

**Coordinates.** The origin is the centre mark, on the carpet. x points along the pitch to the right goal (the one
the left team shoots at), y to the left of someone who looks that way, z up. SI units. Lines are measured at their
middle, as in the rule books.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nutmeg import settings
from nutmeg.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent / "data" / "fields"

Colour = tuple[float, float, float]
Point = tuple[float, float]
Segment = tuple[Point, Point]


@dataclass(frozen=True, kw_only=True)
class AreaSettings:
    """A penalty or goal area, both ends alike."""

    depth: float
    """From the goal line into the pitch, m."""
    width: float
    """Along the goal line, m."""


@dataclass(frozen=True, kw_only=True)
class GoalSettings:
    """Both goals."""

    inner_width: float
    """Between the posts, m."""
    height: float
    """From the carpet to the crossbar's lower edge, m."""
    depth: float
    """From the posts' centres to the net at the back, m."""
    post_radius: float
    """Radius of posts and crossbar, m."""
    post_offset: float
    """How far the posts' centres stand behind the middle of the goal line, m."""
    net_thickness: float = 0.15
    """How thick the net is to the physics, outwards, m."""
    left_colour: Colour
    """Posts and crossbar of the goal at negative x."""
    right_colour: Colour
    """Posts and crossbar of the goal at positive x."""
    net_colour: tuple[float, float, float, float] = (0.9, 0.9, 0.9, 0.35)
    """Red, green, blue and opacity."""


@dataclass(frozen=True, kw_only=True)
class CarpetSettings:
    """The ground."""

    colour: Colour
    """Red, green, blue, 0 to 1."""
    friction: tuple[float, float, float]
    """Sliding coefficient; torsional and rolling coefficients in m. For robots: a ball brings its own."""
    solref: tuple[float, float] = (0.02, 1.0)
    """MuJoCo's contact time constant, s, and damping ratio."""
    solimp: tuple[float, float, float, float, float] = (0.9, 0.95, 0.001, 0.5, 2.0)
    """MuJoCo's contact impedance."""
    thickness: float = 0.3
    """m, so that nothing falls through."""
    stripe_width: float = 0.75
    """Width of the mown stripes, m; 0 for none."""
    tiles: bool = False
    """Squares instead of stripes."""


@dataclass(frozen=True, kw_only=True)
class FieldSettings:
    """A pitch; every number's origin is in `source`."""

    name: str
    """The name it is called by, that of its file."""
    length: float
    """Between the goal lines, m; x."""
    width: float
    """Between the touch lines, m; y."""
    border: float = 0.0
    """Free carpet around the lines, m."""
    line_width: float = 0.0
    """m; 0 for a floor without lines."""
    centre_circle_radius: float = 0.0
    """m; 0 for none."""
    circle_segments: int = 40
    """Straight pieces the centre circle is made of; even."""
    centre_mark: bool = False
    """A dash across the halfway line at the centre."""
    penalty_area: AreaSettings | None = None
    """Penalty areas, if marked."""
    goal_area: AreaSettings | None = None
    """Goal areas, if marked."""
    penalty_mark_distance: float = 0.0
    """From the goal line to the penalty mark, m; 0 for none."""
    penalty_mark_size: float = 0.1
    """Length of the strokes of the penalty cross, m."""
    corner_arc_radius: float = 0.0
    """Quarter circles at the corners, m; 0 for none."""
    goal: GoalSettings | None = None
    """The goals, if there are any."""
    carpet: CarpetSettings | None = None
    """The ground, if there is any."""
    ball: str = "none"
    """The ball played with here; `none` where nobody plays."""
    flags: bool = False
    """Corner flags are drawn."""
    source: Mapping[str, str] = field(default_factory=dict)
    """Where each number comes from."""

    def __post_init__(self) -> None:
        """Refuse what no pitch can have."""
        for name in ("length", "width", "border", "line_width", "centre_circle_radius", "corner_arc_radius"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}, but cannot be negative.")
        if self.circle_segments < 4 or self.circle_segments % 2:
            raise ValueError(f"circle_segments is {self.circle_segments}, but must be even and at least 4.")
        if self.carpet and not (self.length > 0 and self.width > 0):
            raise ValueError("a carpet needs a length and a width above 0.")
        if self.goal and self.goal.inner_width >= self.width:
            raise ValueError(f"the goal ({self.goal.inner_width} m) is wider than the pitch ({self.width} m).")

    def landmarks(self) -> dict[str, tuple[float, float, float]]:
        """What players see, m, by the names of the 3D simulation league.

        Corners F1L .. F2R, and upper inner corners of the goals G1L .. G2R; 1 is at positive y, L at negative x.
        """
        marks = {}
        for side, x in (("L", -self.length / 2), ("R", self.length / 2)):
            for number, sign in (("1", 1), ("2", -1)):
                if self.line_width:
                    marks[f"F{number}{side}"] = (x, sign * self.width / 2, 0.0)
                if self.goal:
                    marks[f"G{number}{side}"] = (x, sign * self.goal.inner_width / 2, self.goal.height)
        return marks

    def lines(self) -> tuple[Segment, ...]:
        """The middles of all lines as straight pieces ((x1, y1), (x2, y2)), m; circles as polygons."""
        return tuple(segment for layer in self.layers() for segment in layer)

    def layers(self) -> tuple[tuple[Segment, ...], ...]:
        """The lines in groups that do not cross within: touch, goal, inner lines, arcs (two), marks."""
        if not self.line_width:
            return ()
        x, y = self.length / 2, self.width / 2
        touch: tuple[Segment, ...] = (((-x, y), (x, y)), ((-x, -y), (x, -y)))
        goal_lines: tuple[Segment, ...] = (((-x, -y), (-x, y)), ((x, -y), (x, y)))
        inside: list[Segment] = [((0.0, -y), (0.0, y))]
        for area in (self.penalty_area, self.goal_area):
            inside += _area(area, x) if area else []
        even, odd = tuple(self._arcs())[::2], tuple(self._arcs())[1::2]
        return touch, goal_lines, tuple(inside), even, odd, tuple(self._marks())

    def _arcs(self) -> Iterator[Segment]:
        if self.centre_circle_radius:
            yield from _arc((0.0, 0.0), self.centre_circle_radius, 0.0, 2 * math.pi, self.circle_segments)
        if self.corner_arc_radius:
            for sx, sy, start in ((1, 1, math.pi), (-1, 1, 1.5 * math.pi), (-1, -1, 0.0), (1, -1, 0.5 * math.pi)):
                corner = (sx * self.length / 2, sy * self.width / 2)
                yield from _arc(corner, self.corner_arc_radius, start, math.pi / 2, 6)

    def _marks(self) -> Iterator[Segment]:
        half = self.penalty_mark_size / 2
        if self.centre_mark:
            yield (-half, 0.0), (half, 0.0)
        if self.penalty_mark_distance:
            for x in (self.penalty_mark_distance - self.length / 2, self.length / 2 - self.penalty_mark_distance):
                yield (x - half, 0.0), (x + half, 0.0)
                yield (x, -half), (x, half)


def _area(area: AreaSettings, x: float) -> list[Segment]:
    """The three lines of an area at each end."""
    half, edge = area.width / 2, x - area.depth
    right: list[Segment] = [((edge, -half), (edge, half)), ((edge, half), (x, half)), ((edge, -half), (x, -half))]
    return right + [((-x1, y1), (-x2, y2)) for (x1, y1), (x2, y2) in right]


def _arc(centre: Point, radius: float, start: float, angle: float, pieces: int) -> Iterator[Segment]:
    turns = [start + angle * i / pieces for i in range(pieces + 1)]
    points = [(centre[0] + radius * math.cos(t), centre[1] + radius * math.sin(t)) for t in turns]
    yield from itertools.pairwise(points)


def field_names() -> list[str]:
    """The fields that come with Nutmeg."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_field(name: str | Path) -> FieldSettings:
    """The field of that name, or of a user's own file (a path ending in `.toml`)."""
    if str(name).endswith(".toml"):
        return settings.read_cached(Path(name), FieldSettings)
    if name not in field_names():
        raise UnknownNameError("field", str(name), field_names())
    return settings.read_cached(FOLDER / f"{name}.toml", FieldSettings)
