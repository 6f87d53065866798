"""Fields as data, and their geometry in a scene: carpet, lines, goals, flags and light.

A field is a TOML file under `data/fields/` (or a user's own): measures, goals, carpet, colours, and where each
number comes from (rule book and year).

    field = load_field("spl2025")
    field.landmarks()["G1R"]   # (4.5, 0.75, 0.8)

**Coordinates.** The origin is the centre mark, on the carpet. x points along the pitch to the right goal (the one
the left team shoots at), y to the left when looking along x, z up. SI units. Lines are measured at their
middle, as in the rule books.

**Light.** A field has a sun. A lighting, a TOML file with a list of `[[light]]`s, replaces it; those that come with
Nutmeg lie in `data/lights`.

    lights = load_lights("hall").light              # or the path of a file of your own

    [[light]]                                       # a lamp under the ceiling
    kind = "lamp"
    pos = [2.0, 1.5, 4.0]
    direction = [0, 0, -1]
    colour = [0.5, 0.48, 0.42]
    shadow = true

Colours of lights are as MuJoCo takes them: what a white surface that faces the light adds to its pixel, from 0 to 1 for
each of red, green and blue. Where several lights meet, they add. OpenGL lights a surface by eight at most.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import mujoco

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.settings import Bounds, at_least, check_bounds, names_in, read_named

if TYPE_CHECKING:
    from collections.abc import Iterator


FIELDS_FOLDER = Path(__file__).parent / "data" / "fields"

Colour = tuple[float, float, float]
Point = tuple[float, float]
Segment = tuple[Point, Point]


@dataclass(frozen=True, kw_only=True)
class AreaSettings:
    """A penalty or goal area; both ends of the pitch are alike."""

    depth: float
    """Distance from the goal line into the pitch [m]."""
    width: float
    """Length along the goal line [m]."""


@dataclass(frozen=True, kw_only=True)
class GoalSettings:
    """The two goals, which differ only in their colours."""

    inner_width: float
    """Distance between the inner faces of the posts [m]."""
    height: float
    """Height of the crossbar's lower edge above the carpet [m]."""
    depth: float
    """Distance from the posts' centres to the net at the back [m]."""
    post_radius: float
    """Radius of posts and crossbar [m]."""
    post_offset: float
    """Distance of the posts' centres behind the middle of the goal line [m]."""
    net_thickness: float = 0.15
    """Thickness of the colliding net, outwards [m]; in the front halves of the sides it is `post_radius` instead."""
    net_friction: float = 0.8
    """Sliding coefficient of the net: a large one lets a ball that rolls into it at 7 m/s climb out again."""
    left_colour: Colour
    """Colour of posts and crossbar of the goal at negative x."""
    right_colour: Colour
    """Colour of posts and crossbar of the goal at positive x."""
    net_colour: tuple[float, float, float, float] = (0.9, 0.9, 0.9, 0.35)
    """Colour of the nets: red, green, blue and opacity, 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class CarpetSettings:
    """The ground."""

    colour: Colour
    """Red, green, blue, 0 to 1."""
    friction: tuple[float, float, float]
    """Sliding coefficient; torsional and rolling coefficients [m]. They hold for robots: a ball has its own."""
    solref: tuple[float, float] = (0.02, 1.0)
    """MuJoCo's contact time constant [s] and damping ratio."""
    solimp: tuple[float, float, float, float, float] = (0.9, 0.95, 0.001, 0.5, 2.0)
    """MuJoCo's contact impedance."""
    thickness: float = 0.3
    """Thickness of the colliding box [m], so that nothing falls through."""
    endless: bool = False
    """Whether the ground is a plane without an end; the box is then only seen. Soles meet a plane in fewer contacts."""
    stripe_width: float = 0.75
    """Width of the mown stripes [m]; 0 for none."""
    tiles: bool = False
    """Whether squares are drawn instead of stripes."""


@dataclass(frozen=True, kw_only=True)
class FieldSettings:
    """A pitch; `source` says where each number comes from."""

    name: str
    """The name it is called by, that of its file."""
    length: Annotated[float, at_least(0, "m")]
    """Distance between the goal lines, along x [m]."""
    width: Annotated[float, at_least(0, "m")]
    """Distance between the touch lines, along y [m]."""
    border: Annotated[float, at_least(0, "m")] = 0.0
    """Width of the free carpet around the lines [m]."""
    line_width: Annotated[float, at_least(0, "m")] = 0.0
    """Width of the lines [m]; 0 for a floor without lines."""
    centre_circle_radius: Annotated[float, at_least(0, "m")] = 0.0
    """Radius of the centre circle [m]; 0 for none."""
    circle_segments: int = 40
    """Number of straight pieces of which the centre circle is made; an even number."""
    centre_mark: bool = False
    """Whether a dash crosses the halfway line at the centre."""
    penalty_area: AreaSettings | None = None
    """Penalty areas, if marked."""
    goal_area: AreaSettings | None = None
    """Goal areas, if marked."""
    penalty_mark_distance: float = 0.0
    """Distance from the goal line to the penalty mark [m]; 0 for none."""
    penalty_mark_size: float = 0.1
    """Length of the strokes of the penalty cross [m]."""
    corner_arc_radius: Annotated[float, at_least(0, "m")] = 0.0
    """Radius of the quarter circles at the corners [m]; 0 for none."""
    goal: GoalSettings | None = None
    """The goals, if there are any."""
    carpet: CarpetSettings | None = None
    """The ground, if there is any."""
    ball: str = "none"
    """Name of the ball that is played with; `none` for no ball."""
    flags: bool = False
    """Whether corner flags are drawn."""
    source: Mapping[str, str] = field(default_factory=dict)
    """Source of each number."""

    def __post_init__(self) -> None:
        """Checks the measures."""
        check_bounds(self)
        if self.circle_segments < 4 or self.circle_segments % 2:
            raise ValueError(f"circle_segments is {self.circle_segments}, but must be even and at least 4.")
        if self.carpet and not (self.length > 0 and self.width > 0):
            raise ValueError("a carpet needs a length and a width above 0.")
        if self.goal and self.goal.inner_width >= self.width:
            raise ValueError(f"the goal ({self.goal.inner_width} m) is wider than the pitch ({self.width} m).")

    def landmarks(self) -> dict[str, tuple[float, float, float]]:
        """Positions of the landmarks [m], by their names in the 3D simulation league.

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
        """The centre lines of all lines as straight pieces ((x1, y1), (x2, y2)) [m]; circles are polygons."""
        return tuple(segment for layer in self.layers() for segment in layer)

    def layers(self) -> tuple[tuple[Segment, ...], ...]:
        """The lines in groups; lines of one group do not cross. Touch, goal and inner lines, arcs (two), marks."""
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
    return names_in(FIELDS_FOLDER)


def load_field(name: str | Path) -> FieldSettings:
    """The field of that name, or of a user's own file (a path ending in `.toml`)."""
    return read_named(name, FIELDS_FOLDER, FieldSettings, "field")


# ----------------------------------------------------------------------------------------------------
# A pitch in a scene: carpet, lines, goals with their nets, flags and light.
#
# **Physics.** The carpet is one finite box with its top at z = 0; there is no ground beyond it. A net
# collides as a block behind the drawn one, so thick that a hard shot cannot pass it within a step; nets take the energy
# out of a ball, posts and crossbars give part of it back. Both have a higher `priority` than the ball (see `ball`).
# Geoms that collide and are visible are in group 0, only visible in 1, only colliding in 3. `visuals=False` leaves out
# everything that does not collide, light and sky included.


GOAL_PRIORITY = 3
POST_SOLREF = (0.014, 0.4)
NET_SOLREF = (0.010, 1.0)
LINE_COLOUR = (0.95, 0.95, 0.95, 1.0)

# A carpet, a line or a net that throws shadows mottles itself and its neighbours.
SEEN_ONLY = {"contype": 0, "conaffinity": 0, "group": 1, "mass": 0, "castshadow": False}


def add_field(spec: mujoco.MjSpec, field: FieldSettings, *, visuals: bool = True) -> None:
    """Add carpet, lines, goals, flags and light to the scene; all names begin with `field/`."""
    if visuals:
        _add_light(spec, field)
    if field.carpet:
        _add_carpet(spec, field, field.carpet, visuals=visuals)
    if field.goal:
        _add_goal(spec, field, field.goal, "left", visuals=visuals)
        _add_goal(spec, field, field.goal, "right", visuals=visuals)
    if visuals:
        _add_lines(spec, field)
        if field.flags:
            _add_flags(spec, field)


def _add_carpet(spec: mujoco.MjSpec, field: FieldSettings, carpet: CarpetSettings, *, visuals: bool) -> None:
    x, y = field.length / 2 + field.border, field.width / 2 + field.border
    geom = spec.worldbody.add_geom(
        name="field/carpet",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[x, y, carpet.thickness / 2],
        pos=[0, 0, -carpet.thickness / 2],
        friction=list(carpet.friction),
        solref=list(carpet.solref),
        solimp=list(carpet.solimp),
        rgba=[*carpet.colour, 1],
        group=0,
        castshadow=False,
    )
    if carpet.endless:
        _add_plane(spec, geom)
        if not visuals:
            spec.delete(geom)
    if visuals and carpet.stripe_width:
        texture = spec.add_texture(
            name="field/mown",
            type=mujoco.mjtTexture.mjTEXTURE_2D,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
            rgb1=[1, 1, 1],
            rgb2=[0.9, 0.9, 0.9],
            width=256,
            height=256,
        )
        # A checker holds two squares a side. Stripes show a hair's breadth of one row of it only.
        along = x / carpet.stripe_width
        across = y / carpet.stripe_width if carpet.tiles else 1e-3
        material = spec.add_material(name="field/carpet", texrepeat=[along, across], specular=0, shininess=0)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = texture.name
        geom.material = material.name


def _add_plane(spec: mujoco.MjSpec, carpet: mujoco.MjsGeom) -> None:
    """Lets a plane collide instead of the carpet's box."""
    carpet.contype, carpet.conaffinity, carpet.group = 0, 0, 1
    spec.worldbody.add_geom(
        name="field/ground",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0, 0, 1],
        friction=carpet.friction,
        solref=carpet.solref,
        solimp=carpet.solimp,
        group=3,
    )


def _add_lines(spec: mujoco.MjSpec, field: FieldSettings) -> None:
    """Draws lines as thin boxes, each layer a little higher, so that no faces coincide where lines cross."""
    for level, layer in enumerate(field.layers()):
        top = 0.0015 + 0.0001 * level
        # Straight lines end in square corners, pieces of an arc meet at their outer edges, marks keep their length.
        longer = (1.0, 1.0, 1.0, *2 * [math.tan(math.pi / field.circle_segments)], 0.0)[level]
        for number, ((x1, y1), (x2, y2)) in enumerate(layer):
            half = (math.hypot(x2 - x1, y2 - y1) + longer * field.line_width) / 2
            turn = math.atan2(y2 - y1, x2 - x1)
            spec.worldbody.add_geom(
                name=f"field/line{level}_{number}",
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=[half, field.line_width / 2, top],
                pos=[(x1 + x2) / 2, (y1 + y2) / 2, 0],
                quat=[math.cos(turn / 2), 0, 0, math.sin(turn / 2)],
                rgba=list(LINE_COLOUR),
                **SEEN_ONLY,
            )


def _add_goal(
    spec: mujoco.MjSpec, field: FieldSettings, goal: GoalSettings, side: Literal["left", "right"], *, visuals: bool
) -> None:
    """Adds a goal as a body at the middle of the goal line whose x axis points into the goal."""
    out = -1 if side == "left" else 1
    turned = [0, 0, 0, 1] if side == "left" else [1, 0, 0, 0]
    body = spec.worldbody.add_body(name=f"field/{side}_goal", pos=[out * field.length / 2, 0, 0], quat=turned)
    colour = [*(goal.left_colour if side == "left" else goal.right_colour), 1]
    x, y = goal.post_offset, goal.inner_width / 2 + goal.post_radius
    top = goal.height + goal.post_radius
    bars = {
        "post1": ((x, y, 0), (x, y, top)),
        "post2": ((x, -y, 0), (x, -y, top)),
        "crossbar": ((x, -y, top), (x, y, top)),
    }
    for name, (start, end) in bars.items():
        body.add_geom(
            name=f"field/{side}_goal/{name}",
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[*start, *end],
            size=[goal.post_radius, 0, 0],
            friction=[0.6, 0.005, 0.0001],
            solref=list(POST_SOLREF),
            solimp=[0.95, 0.99, 0.001, 0.5, 2],
            priority=GOAL_PRIORITY,
            rgba=colour,
            group=0,
            castshadow=goal.post_radius > 0.03,  # thinner than the shadow map can draw
        )
    _add_nets(body, goal, f"field/{side}_goal")
    if visuals:
        _draw_nets(spec, body, goal, f"field/{side}_goal")


def _net_panels(goal: GoalSettings) -> dict[str, tuple[list[float], list[float]]]:
    """Centre and half size of the panels as drawn (2 mm thick); the thin axis points out of the goal."""
    front, back = goal.post_offset, goal.post_offset + goal.depth
    y, z = goal.inner_width / 2 + goal.post_radius, goal.height
    middle, half, thin = (front + back) / 2, goal.depth / 2, 0.001
    return {
        "back": ([back, 0, z / 2], [thin, y, z / 2]),
        "side1": ([middle, y, z / 2], [half, thin, z / 2]),
        "side2": ([middle, -y, z / 2], [half, thin, z / 2]),
        "roof": ([middle, 0, z], [half, y, thin]),
    }


def _add_nets(body: mujoco.MjsBody, goal: GoalSettings, prefix: str) -> None:
    """Adds the colliding part of the nets: blocks whose inner faces are the panels.

    The front halves of the side nets are no thicker than the posts. A thick block there would be a wall beside the
    goal, which stops balls that roll past the post, and robots that play a ball beside it.
    """
    blocks = {}
    for name, (centre, size) in _net_panels(goal).items():
        axis = size.index(min(size))
        if name.startswith("side"):
            size[0] /= 2
            front = [centre[0] - size[0], *centre[1:]]
            centre[0] += size[0]
            blocks[f"{name}_front"] = _thickened(front, size, axis, goal.post_radius)
        blocks[name] = _thickened(centre, size, axis, goal.net_thickness)
    for name, (centre, size) in blocks.items():
        body.add_geom(
            name=f"{prefix}/net_{name}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=centre,
            size=size,
            friction=[goal.net_friction, 0.005, 0.001],
            solref=list(NET_SOLREF),
            solimp=[0.95, 0.99, 0.001, 0.5, 2],
            priority=GOAL_PRIORITY,
            rgba=[0.8, 0.8, 0.8, 0.3],
            group=3,
            castshadow=False,
        )


def _thickened(centre: list[float], size: list[float], axis: int, thickness: float) -> tuple[list[float], list[float]]:
    """Centre and half size of a block that begins at a panel and is `thickness` metres thick outwards along an axis."""
    centre, size = list(centre), list(size)
    size[axis] = thickness / 2
    centre[axis] += math.copysign(thickness / 2, centre[axis])
    return centre, size


def _draw_nets(spec: mujoco.MjSpec, body: mujoco.MjsBody, goal: GoalSettings, prefix: str) -> None:
    """Adds the visible part of the nets: translucent panels with a mesh pattern, and the frame at the ground."""
    if not spec.texture("field/net"):
        spec.add_texture(
            name="field/net",
            type=mujoco.mjtTexture.mjTEXTURE_2D,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
            mark=mujoco.mjtMark.mjMARK_EDGE,
            rgb1=[0.5, 0.5, 0.5],
            markrgb=[1, 1, 1],
            width=32,
            height=32,
        )
        material = spec.add_material(name="field/net", texuniform=True, texrepeat=[10, 10], specular=0, shininess=0)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "field/net"
    for name, (centre, size) in _net_panels(goal).items():
        # A texture lies in the x-y plane of its geom, so the thin axis is made z.
        axis = size.index(min(size))
        across, up = [i for i in range(3) if i != axis]
        quat = {0: [0.5, 0.5, 0.5, 0.5], 1: [0.5**0.5, 0.5**0.5, 0, 0], 2: [1, 0, 0, 0]}[axis]
        body.add_geom(
            name=f"{prefix}/mesh_{name}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=centre,
            size=[size[across], size[up], size[axis]],
            quat=quat,
            material="field/net",
            rgba=list(goal.net_colour),
            **SEEN_ONLY,
        )
    front, back, y = goal.post_offset, goal.post_offset + goal.depth, goal.inner_width / 2 + goal.post_radius
    for number, z in enumerate((0.01, goal.height)):
        corners = [(front, y, z), (back, y, z), (back, -y, z), (front, -y, z)]
        for piece, (start, end) in enumerate(itertools.pairwise(corners)):
            _draw_rod(body, f"{prefix}/frame{number}_{piece}", start, end, 0.01)
    for number, sign in enumerate((1, -1)):
        _draw_rod(body, f"{prefix}/stay{number}", (back, sign * y, 0), (back, sign * y, goal.height), 0.01)


def _add_flags(spec: mujoco.MjSpec, field: FieldSettings) -> None:
    for name, (x, y, _) in field.landmarks().items():
        if name.startswith("F"):
            _draw_rod(spec.worldbody, f"field/{name}/pole", (x, y, 0), (x, y, 0.5), 0.01)
            spec.worldbody.add_geom(
                name=f"field/{name}/cloth",
                type=mujoco.mjtGeom.mjGEOM_BOX,
                pos=[x - math.copysign(0.09, x), y, 0.43],
                size=[0.08, 0.003, 0.06],
                rgba=[0.85, 0.15, 0.12, 1],
                **SEEN_ONLY,
            )


def _draw_rod(
    body: mujoco.MjsBody, name: str, start: tuple[float, float, float], end: tuple[float, float, float], radius: float
) -> None:
    body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_CAPSULE,
        fromto=[*start, *end],
        size=[radius, 0, 0],
        rgba=list(LINE_COLOUR),
        **SEEN_ONLY,
    )


def _add_light(spec: mujoco.MjSpec, field: FieldSettings) -> None:
    """Adds a sun that throws shadows, a weaker light from the other side, a bright headlight and a sky."""
    reach = max(field.length, field.width, 4.0)
    spec.worldbody.add_light(
        name="field/sun",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[-0.3 * reach, -0.4 * reach, reach],
        dir=[0.3, 0.4, -1],
        diffuse=[0.65, 0.64, 0.6],
        specular=[0.2, 0.2, 0.2],
        castshadow=True,
    )
    spec.worldbody.add_light(
        name="field/fill",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[0.3 * reach, 0.4 * reach, reach],
        dir=[-0.4, -0.3, -1],
        diffuse=[0.2, 0.2, 0.22],
        specular=[0, 0, 0],
        castshadow=False,
    )
    spec.visual.headlight.ambient = [0.35, 0.35, 0.35]
    spec.visual.headlight.diffuse = [0.15, 0.15, 0.15]
    spec.visual.headlight.specular = [0, 0, 0]
    spec.visual.quality.shadowsize = 4096
    spec.visual.quality.numslices, spec.visual.quality.numstacks = 48, 32
    spec.add_texture(
        name="field/sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.42, 0.62, 0.86],
        rgb2=[0.93, 0.96, 0.99],
        width=512,
        height=3072,
    )
    if field.length:
        spec.stat.center = [0, 0, 0.3]
        spec.stat.extent = reach / 2


OWN_LIGHTS, _LIT_LENGTH = "field", 9.0
"""The name of a field's own lights; the length of the pitch that built-in lightings are for [m]."""
LIGHTS_FOLDER = Path(__file__).parent / "data" / "lights"
MAX_LIGHTS = 8
"""Largest number of lights in a scene, which is that of OpenGL."""

Three = tuple[float, float, float]
LightColour = tuple[Annotated[float, at_least(0)], Annotated[float, at_least(0)], Annotated[float, at_least(0)]]


@dataclass(frozen=True, kw_only=True)
class Light:
    """A sun or a lamp."""

    kind: Literal["sun", "lamp"] = "lamp"
    """A sun is equally bright everywhere; a lamp shines into a cone."""
    pos: Three = (0.0, 0.0, 4.0)
    """Position [m]; for a sun, the point from which its shadows are drawn."""
    direction: Three = (0.0, 0.0, -1.0)
    """Direction of its light; need not be normalised."""
    colour: LightColour = (0.5, 0.5, 0.5)
    """Red, green, blue, from 0 to 1 each."""
    ambient: LightColour = (0.0, 0.0, 0.0)
    """Light that it adds to every surface, whatever its orientation."""
    shine: Annotated[float, at_least(0)] = 0.2
    """Share of its colour in highlights on glossy surfaces."""
    opening: Annotated[float, Bounds(0, math.pi, "rad", without_low=True, without_high=True)] = 2.6
    """lamp: full opening angle of its cone [rad], below pi."""
    focus: Annotated[float, at_least(0)] = 0.5
    """lamp: exponent of the cosine with which it fades from the middle of its cone."""
    shadow: bool = True
    """Whether it casts shadows, where pictures have any."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if not any(self.direction):
            raise ValueError("direction is [0, 0, 0], which is none.")


@dataclass(frozen=True, kw_only=True)
class Lighting:
    """All lights of a scene: the contents of a lighting file."""

    about: str = ""
    light: tuple[Light, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.light) <= MAX_LIGHTS:
            raise ValueError(f"has {len(self.light)} lights; a scene can have 1 to {MAX_LIGHTS}.")


def lighting_names() -> list[str]:
    """The lightings that come with Nutmeg."""
    return names_in(LIGHTS_FOLDER)


def load_lights(name: str | Path) -> Lighting:
    """A built-in lighting by name, or a user's by the path of its TOML file."""
    return read_named(name, LIGHTS_FOLDER, Lighting, "lighting")


def lights_on(pitch: FieldSettings, name: str, folder: Path | None = None) -> tuple[Light, ...] | None:
    """The lights that a name means on a field; None for the field's own, which are called `field`.

    Built-in lightings are those of a pitch of 9 m. Above a longer one lamps hang as much farther apart and higher, or
    its ends would be dark.

    Args:
        pitch: the field.
        name: of a built-in lighting, the path of a TOML file, or `field`.
        folder: of the file that has the name, where relative paths begin; the current folder if left out.
    """
    if name == OWN_LIGHTS:
        return None
    if name.endswith(".toml"):
        return load_lights(name if folder is None else folder / name).light
    if name not in lighting_names():
        raise UnknownNameError("lighting", name, [*lighting_names(), OWN_LIGHTS], where=str(folder or ""))
    farther = max(pitch.length / _LIT_LENGTH, 1.0)
    return tuple(
        replace(light, pos=(farther * light.pos[0], farther * light.pos[1], farther * light.pos[2]))
        for light in load_lights(name).light
    )
