"""The scene that the players' cameras look at: pitch, ball and robots of a few boxes, moved from a state.

    scene = CameraScene(load_field("spl2011"), load_ball("spl-orange"), neck=eyes.cameras.neck, size=(320, 240))
    scene.show(state, match=0)
    scene.model, scene.data                 # for the renderer

Colours are those of NaOISIS (seed 002): an orange ball, a yellow and a blue goal, robots of simple boxes with a blue or
pink waistband (its simplified design, made of the measures of a Nao). It is drawn for eyes, not for spectators: even
light without shadows, no nets, a plain carpet, a grey hall around the pitch. Robots are mocap bodies, so that nothing
is simulated here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.body.field_geoms import add_field
from nutmeg.body.geometry import product, quaternion
from nutmeg.match.behaviour.state import Posture
from nutmeg.match.slots import SLOT_NAMES, SLOTS

if TYPE_CHECKING:
    from nutmeg.body.ball import BallSettings
    from nutmeg.body.field import FieldSettings
    from nutmeg.match.behaviour.state import MatchesState

Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Middle and half size of a box, m."""

WAISTBANDS = ((0.15, 0.30, 0.95), (1.0, 0.35, 0.65))
"""Colours of the left and the right team's waistbands: blue and pink."""
SHELL, DARK, HALL = (0.88, 0.88, 0.88), (0.25, 0.25, 0.27), (0.62, 0.62, 0.62)
BAND: Box = ((0.0, 0.0, 0.29), (0.068, 0.098, 0.03))
TRUNK: tuple[tuple[Box, tuple[float, float, float]], ...] = (
    (((0.0, 0.0, 0.375), (0.06, 0.09, 0.055)), SHELL),
    (((0.0, 0.125, 0.33), (0.03, 0.03, 0.10)), SHELL),
    (((0.0, -0.125, 0.33), (0.03, 0.03, 0.10)), SHELL),
    (((0.0, 0.05, 0.15), (0.045, 0.04, 0.11)), SHELL),
    (((0.0, -0.05, 0.15), (0.045, 0.04, 0.11)), SHELL),
    (((0.02, 0.05, 0.02), (0.08, 0.045, 0.02)), DARK),
    (((0.02, -0.05, 0.02), (0.08, 0.045, 0.02)), DARK),
)
"""Chest, arms, legs and feet of who stands, the origin between the feet."""
HEAD: Box = ((0.0, 0.0, 0.055), (0.045, 0.06, 0.055))
"""From the neck."""
UNSEEN = 5
"""The group of geoms of who is not there: not drawn."""
LEAN = {
    Posture.LYING: math.pi / 2,
    Posture.GETTING_UP: math.pi / 4,
    Posture.DIVING_LEFT: math.pi / 3,
    Posture.DIVING_RIGHT: math.pi / 3,
}
"""How far bodies lean over, rad."""
LIFT = 0.07
"""How far the middle of a body that lies is above the ground, m."""


class CameraScene:
    """A compiled model of pitch, ball and twenty-two robots.

    Args:
        field: the pitch.
        ball: the ball.
        neck: where the head turns, m from between the feet.
        size: of the largest picture, pixels.
    """

    def __init__(
        self,
        field: FieldSettings,
        ball: BallSettings,
        *,
        neck: tuple[float, float, float],
        size: tuple[int, int],
    ) -> None:
        self._neck, self._radius = np.array(neck), ball.radius
        spec = mujoco.MjSpec()
        add_field(spec, field)
        _strip(spec)
        _add_hall(spec, field)
        self._add_ball(spec, ball)
        for slot, name in enumerate(SLOT_NAMES):
            _add_robot(spec, name, WAISTBANDS[slot // (SLOTS // 2)])
        _light(spec, size)
        self.model: Any = spec.compile()
        self.data: Any = mujoco.MjData(self.model)
        self._ball, self._bodies = self._mocap("ball"), [self._mocap(f"{name}/body") for name in SLOT_NAMES]
        self._heads = [self._mocap(f"{name}/head") for name in SLOT_NAMES]
        owners = [self.model.body(int(body)).name.split("/")[0] for body in self.model.geom_bodyid]
        self._geoms = [np.flatnonzero([owner == name for owner in owners]) for name in SLOT_NAMES]

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
            lean = LEAN.get(Posture(int(state.posture[match, slot])), 0.0)
            turn = _leaning(heading, lean, float(state.fallen_to[match, slot]))
            yaw, pitch = state.head[match, slot].tolist()
            up = np.array(_turned(turn, self._neck))
            places[body] = x, y, LIFT * math.sin(lean)
            turns[body] = turn
            places[head] = x + up[0], y + up[1], LIFT * math.sin(lean) + up[2]
            turns[head] = product(turn, quaternion((0.0, -pitch, yaw)))
        mujoco.mj_kinematics(self.model, self.data)

    def hide(self, slot: int, *, hidden: bool) -> None:
        """Lets a robot not be drawn, or be drawn again."""
        self.model.geom_group[self._geoms[slot]] = UNSEEN if hidden else 0


def _leaning(heading: float, lean: float, to: float) -> list[float]:
    """The attitude of a body that leans over into a direction, counted from its heading."""
    upright = quaternion((0.0, 0.0, heading))
    if lean == 0.0:
        return upright
    return product(product(quaternion((0.0, 0.0, heading + to)), quaternion((0.0, lean, 0.0))), quaternion((0, 0, -to)))


def _turned(turn: list[float], point: Floats) -> Floats:
    out = np.zeros(3)
    mujoco.mju_rotVecQuat(out, point, np.array(turn))
    return out


def _add_robot(spec: mujoco.MjSpec, name: str, colour: tuple[float, float, float]) -> None:
    body = spec.worldbody.add_body(name=f"{name}/body", mocap=True)
    for box, paint in (*TRUNK, (BAND, colour)):
        _add_box(body, box, paint)
    head = spec.worldbody.add_body(name=f"{name}/head", mocap=True)
    _add_box(head, HEAD, SHELL)


def _add_box(body: mujoco.MjsBody, box: Box, colour: tuple[float, float, float]) -> None:
    middle, half = box
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=list(middle),
        size=list(half),
        rgba=[*colour, 1],
        contype=0,
        conaffinity=0,
    )


def _strip(spec: mujoco.MjSpec) -> None:
    """Takes out what costs time and tells players nothing: lights, textures, nets and the carpet's stripes."""
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
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=list(middle),
            size=list(half),
            rgba=[*HALL, 1],
            contype=0,
            conaffinity=0,
        )


def _light(spec: mujoco.MjSpec, size: tuple[int, int]) -> None:
    """Even light from the eyes, so that colours stay what they are; no shadows, no smoothing of edges."""
    spec.visual.headlight.ambient = [0.8, 0.8, 0.8]
    spec.visual.headlight.diffuse = [0.2, 0.2, 0.2]
    spec.visual.headlight.specular = [0, 0, 0]
    spec.visual.quality.shadowsize, spec.visual.quality.offsamples = 0, 0
    spec.visual.quality.numslices, spec.visual.quality.numstacks = 16, 10
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
