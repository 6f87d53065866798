"""Pictures of the players' two cameras, 320 x 240 RGB, by MuJoCo's renderer.

    with Cameras(load_eyes("nao"), load_field("spl2011"), load_ball("spl-orange")) as cameras:
        pictures = cameras.draw(state, match=0, slots=[0, 3, 12])       # (3, 2, 240, 320, 3): top and bottom
        quick = cameras.draw(state, match=0, slots=[3], which=("bottom",), shrink=2)      # (1, 1, 120, 160, 3)
        labels = cameras.label(state, match=0, slots=[0, 3, 12])        # (3, 2, 240, 320): what each pixel shows

Places and openings are those of `camera_geometry` (and of the symbolic `vision`), which also has the matrices that
perception needs; a picture that is shrunk shows the same with fewer pixels. Robots do not see their own bodies, as in
symbolic vision; pictures of a robot that lies, gets up or dives are black. One renderer serves all matches: the scene
is built once, moved once for each match and cycle, and drawn from each camera. Shadows, reflections and smoothing are
off.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from nutmeg.base.angles import rotated
from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.base.interrupts import Closing
from nutmeg.match.drawing import geom_labels
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS
from nutmeg.match.worlds.behavioural.camera_geometry import CAMERA_NAMES, CameraName, camera_pose
from nutmeg.match.worlds.behavioural.state import Posture
from nutmeg.model.field import add_field
from nutmeg.model.geometry import euler_quaternion, quaternion_product
from nutmeg.model.sensors import CAMERA_EFFECTS, CameraSettings
from nutmeg.sim.cameras.effects import CameraEffects
from nutmeg.sim.cameras.renderer import Eye, Quality, SceneRenderer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nutmeg.match.worlds.behavioural.eyes import EyesSettings
    from nutmeg.match.worlds.behavioural.state import MatchesState
    from nutmeg.model.ball import BallSettings
    from nutmeg.model.field import FieldSettings


# ----------------------------------------------------------------------------------------------------
# The scene that the players' cameras look at: pitch, ball and robots of a few boxes, moved from a state.
#
# Colours are those of NaOISIS (seed 002): an orange ball, a yellow and a blue goal, robots of simple boxes with a
# blue or pink waistband (its simplified design, made of the measures of a Nao). It is drawn for eyes, not for
# spectators: even light without shadows, no nets, a plain carpet, a grey hall around the pitch. Robots are mocap
# bodies, so that nothing is simulated here.


Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Middle and half size of a box, m."""

_WAISTBAND_COLOURS = ((0.15, 0.30, 0.95), (1.0, 0.35, 0.65))
"""Colours of the left and the right team's waistbands: blue and pink."""
_SHELL_COLOUR, _FOOT_COLOUR, _HALL_COLOUR = (0.88, 0.88, 0.88), (0.25, 0.25, 0.27), (0.62, 0.62, 0.62)
"""Colours of bodies, of feet, and of the hall around the pitch."""
_WAISTBAND_BOX: Box = ((0.0, 0.0, 0.29), (0.068, 0.098, 0.03))
_BODY_BOXES: tuple[tuple[Box, tuple[float, float, float]], ...] = (
    (((0.0, 0.0, 0.375), (0.06, 0.09, 0.055)), _SHELL_COLOUR),
    (((0.0, 0.125, 0.33), (0.03, 0.03, 0.10)), _SHELL_COLOUR),
    (((0.0, -0.125, 0.33), (0.03, 0.03, 0.10)), _SHELL_COLOUR),
    (((0.0, 0.05, 0.15), (0.045, 0.04, 0.11)), _SHELL_COLOUR),
    (((0.0, -0.05, 0.15), (0.045, 0.04, 0.11)), _SHELL_COLOUR),
    (((0.02, 0.05, 0.02), (0.08, 0.045, 0.02)), _FOOT_COLOUR),
    (((0.02, -0.05, 0.02), (0.08, 0.045, 0.02)), _FOOT_COLOUR),
)
"""Chest, arms, legs and feet of a robot that stands, the origin between the feet."""
_HEAD_BOX: Box = ((0.0, 0.0, 0.055), (0.045, 0.06, 0.055))  # the head, from the neck
_ABSENT_GROUP = 5  # the group of the geoms of absent robots, which is not drawn
_LEAN_OF_POSTURE = {
    Posture.LYING: math.pi / 2,
    Posture.GETTING_UP: math.pi / 4,
    Posture.DIVING_LEFT: math.pi / 3,
    Posture.DIVING_RIGHT: math.pi / 3,
}
"""How far bodies lean over, rad."""
_LYING_LIFT = 0.07  # how far the middle of a body that lies is above the ground, m


class _CameraScene:
    """A compiled model of pitch, ball and twenty-two robots.

    Args:
        field: the pitch.
        ball: the ball.
        neck: where the head turns, m from between the feet.
    """

    def __init__(self, field: FieldSettings, ball: BallSettings, *, neck: tuple[float, float, float]) -> None:
        self._neck, self._radius = np.array(neck), ball.radius
        spec = mujoco.MjSpec()
        add_field(spec, field)
        _strip(spec)
        _add_hall(spec, field)
        self._add_ball(spec, ball)
        for slot, name in enumerate(SLOT_NAMES):
            _add_robot(spec, name, _WAISTBAND_COLOURS[slot // (SLOTS // 2)])
        _light(spec)
        self.model: Any = spec.compile()
        self.data: Any = mujoco.MjData(self.model)
        self._ball, self._bodies = self._mocap("ball"), [self._mocap(f"{name}/body") for name in SLOT_NAMES]
        self._heads = [self._mocap(f"{name}/head") for name in SLOT_NAMES]
        owners = [self.model.body(int(body)).name.split("/")[0] for body in self.model.geom_bodyid]
        self._geoms = [np.flatnonzero([owner == name for owner in owners]) for name in SLOT_NAMES]
        self.labels = geom_labels(self.model, SLOT_NAMES)

    def _mocap(self, name: str) -> int:
        return int(self.model.body(name).mocapid[0])

    def _add_ball(self, spec: mujoco.MjSpec, ball: BallSettings) -> None:
        body = spec.worldbody.add_body(name="ball", mocap=True)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[ball.radius, 0, 0],
            rgba=[*ball.colour, 1],
            contype=0,
            conaffinity=0,
        )

    def show(self, state: MatchesState, match: int) -> None:
        """Puts ball and robots where a match has them."""
        places, turns = self.data.mocap_pos, self.data.mocap_quat
        places[self._ball] = *state.ball[match], self._radius
        for slot in range(SLOTS):
            body, head = self._bodies[slot], self._heads[slot]
            self.hide(slot, hidden=not state.present[match, slot])
            if not state.present[match, slot]:
                continue
            x, y, heading = state.pose[match, slot].tolist()
            lean = _LEAN_OF_POSTURE.get(Posture(int(state.posture[match, slot])), 0.0)
            turn = _leaning(heading, lean, float(state.fallen_to[match, slot]))
            yaw, pitch = state.head[match, slot].tolist()
            up = rotated(np.array(turn), self._neck)
            places[body] = x, y, _LYING_LIFT * math.sin(lean)
            turns[body] = turn
            places[head] = x + up[0], y + up[1], _LYING_LIFT * math.sin(lean) + up[2]
            turns[head] = quaternion_product(turn, euler_quaternion((0.0, -pitch, yaw)))
        mujoco.mj_kinematics(self.model, self.data)

    def hide(self, slot: int, *, hidden: bool) -> None:
        """Lets a robot not be drawn, or be drawn again."""
        self.model.geom_group[self._geoms[slot]] = _ABSENT_GROUP if hidden else 0


def _leaning(heading: float, lean: float, to: float) -> list[float]:
    """The attitude of a body that leans over into a direction, counted from its heading."""
    upright = euler_quaternion((0.0, 0.0, heading))
    if lean == 0.0:
        return upright
    return quaternion_product(
        quaternion_product(euler_quaternion((0.0, 0.0, heading + to)), euler_quaternion((0.0, lean, 0.0))),
        euler_quaternion((0, 0, -to)),
    )


def _add_robot(spec: mujoco.MjSpec, name: str, colour: tuple[float, float, float]) -> None:
    body = spec.worldbody.add_body(name=f"{name}/body", mocap=True)
    for box, paint in (*_BODY_BOXES, (_WAISTBAND_BOX, colour)):
        _add_box(body, box, paint)
    head = spec.worldbody.add_body(name=f"{name}/head", mocap=True)
    _add_box(head, _HEAD_BOX, _SHELL_COLOUR)


def _add_box(body: mujoco.MjsBody, box: Box, colour: tuple[float, float, float]) -> None:
    middle, half = box
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, pos=list(middle), size=list(half), rgba=[*colour, 1], contype=0, conaffinity=0
    )


def _strip(spec: mujoco.MjSpec) -> None:
    """Removes what costs time and is of no use to players: lights, textures, nets and the carpet's stripes."""
    for geom in list(spec.geoms):
        geom.material = ""
        if "/mesh_" in geom.name or "/net_" in geom.name or "/frame" in geom.name or "/stay" in geom.name:
            spec.delete(geom)
    for thing in (*spec.lights, *spec.materials, *spec.textures):
        spec.delete(thing)


def _add_hall(spec: mujoco.MjSpec, field: FieldSettings) -> None:
    """A grey floor and walls far around the pitch, in place of a sky."""
    x, y = field.length / 2 + field.border + 3.0, field.width / 2 + field.border + 3.0
    walls = (
        ((0, 0, -0.36), (x, y, 0.05)),
        ((x, 0, 2.0), (0.05, y, 2.4)),
        ((-x, 0, 2.0), (0.05, y, 2.4)),
        ((0, y, 2.0), (x, 0.05, 2.4)),
        ((0, -y, 2.0), (x, 0.05, 2.4)),
    )
    for middle, half in walls:
        _add_box(spec.worldbody, (middle, half), _HALL_COLOUR)


def _light(spec: mujoco.MjSpec) -> None:
    """Even light from the eyes, so that colours stay what they are."""
    spec.visual.headlight.ambient = [0.8, 0.8, 0.8]
    spec.visual.headlight.diffuse = [0.2, 0.2, 0.2]
    spec.visual.headlight.specular = [0, 0, 0]


Pictures = NDArray[np.uint8]

NEAR_PLANE, FAR_PLANE = 0.02, 40.0
"""Things nearer or farther than these are not drawn, m."""
_FACETS = (16, 10)  # facets of round things, around and along
_DISABLED_EFFECTS = (mujoco.mjtRndFlag.mjRND_SKYBOX, mujoco.mjtRndFlag.mjRND_HAZE, mujoco.mjtRndFlag.mjRND_FOG)


@lru_cache(maxsize=4)
def _effects(lens: CameraSettings | None, size: tuple[int, int], slope: float) -> CameraEffects:
    """The effects of lens and image sensor for pictures of a size, with the tangent of half their vertical opening."""
    effects = () if lens is None else CAMERA_EFFECTS
    return CameraEffects(lens or CameraSettings(), size=size, fov=2 * math.atan(slope), effects=effects)


def _widened(eye: Eye, effects: CameraEffects) -> Eye:
    """The viewpoint of the pictures to draw: a lens may show more than a pinhole."""
    return replace(eye, slope=math.tan(effects.drawn_fov / 2), slope_across=0.0)


class Cameras(Closing):
    """Draws what players' cameras see; holds a renderer until closed."""

    def __init__(self, eyes: EyesSettings, field: FieldSettings, ball: BallSettings) -> None:
        self._settings, self._lens = eyes.cameras, eyes.lens
        size = eyes.cameras.width, eyes.cameras.height
        self._stage = _CameraScene(field, ball, neck=eyes.cameras.neck)
        self._renderer = SceneRenderer(self._stage.model, size, quality=Quality(facets=_FACETS))
        self._stage.model, self._stage.data = self._renderer.model, self._renderer.data
        for flag in _DISABLED_EFFECTS:
            self._renderer.scene.flags[flag] = False

    def draw(
        self,
        state: MatchesState,
        match: int,
        slots: Sequence[int],
        *,
        which: Sequence[CameraName] = CAMERA_NAMES,
        shrink: int = 1,
    ) -> Pictures:
        """What some players of a match see, (players, cameras, height, width, 3).

        Args:
            state: where everything is.
            match: the row.
            slots: whose cameras.
            which: which of their cameras.
            shrink: 2 for half the width and height, and so on.
        """
        width, height = self._settings.width, self._settings.height
        if shrink < 1 or width % shrink or height % shrink:
            raise UsageError(f"shrink is {shrink}; {width} x {height} pixels must be divisible by it.")
        size = width // shrink, height // shrink
        pictures = np.zeros((len(slots), len(which), *size[::-1], 3), np.uint8)
        effects = _effects(self._lens, size, self._settings.slopes[1])
        for row, column, eye in self._views(state, match, slots, which):
            # Random numbers depend on match, cycle and camera alone.
            drawn = self._renderer.paint(_widened(eye, effects), effects.drawn_size)
            rng = np.random.default_rng([int(state.seed[match]), int(state.cycle[match]), slots[row], column])
            pictures[row, column] = effects.apply(drawn[None], rng)[0]
        return pictures

    def label(
        self, state: MatchesState, match: int, slots: Sequence[int], *, which: Sequence[CameraName] = CAMERA_NAMES
    ) -> Pictures:
        """The label of what each pixel of the pictures of `draw` shows, (players, cameras, height, width).

        Labels are those of `match.drawing`; those of robots go by their slots.
        """
        size = self._settings.width, self._settings.height
        found = np.zeros((len(slots), len(which), *size[::-1]), np.uint8)
        effects = _effects(self._lens, size, self._settings.slopes[1])
        for row, column, eye in self._views(state, match, slots, which):
            geoms = self._renderer.geoms_seen(_widened(eye, effects), effects.drawn_size)
            found[row, column] = effects.rearrange(self._stage.labels[geoms])
        return found

    def _views(
        self, state: MatchesState, match: int, slots: Sequence[int], which: Sequence[CameraName]
    ) -> Iterator[tuple[int, int, Eye]]:
        """Makes the scene ready for each camera in turn: places of player and camera in the arguments, and its eye."""
        self._stage.show(state, match)
        for row, slot in enumerate(slots):
            if state.posture[match, slot] > Posture.KICKING or not state.present[match, slot]:
                continue
            self._stage.hide(slot, hidden=True)  # cameras do not see their own robot
            self._renderer.update()
            self._stage.hide(slot, hidden=False)
            for column, camera in enumerate(which):
                yield row, column, self._eye(camera, state.pose[match, slot], state.head[match, slot])

    def _eye(self, which: CameraName, pose: Floats, head: Floats) -> Eye:
        """Where a robot's camera is and looks."""
        place, axes = camera_pose(self._settings, which, pose=pose, head=head)
        across, up = self._settings.slopes
        return Eye(
            position=place,
            forward=axes[:, 2],
            up=-axes[:, 1],
            slope=up,
            slope_across=across,
            near=NEAR_PLANE,
            far=FAR_PLANE,
        )

    def close(self) -> None:
        """Gives the renderer back."""
        self._renderer.close()
