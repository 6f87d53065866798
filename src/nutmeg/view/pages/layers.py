"""Layers over the robots: trails, contact forces, centre of mass, joint axes, collision shapes, inertias.

    layers = Layers(client, cast, film)
    layers.show(playback.time, "nao1")          # a few times a second, after cast.show(...)

Trails and forces are those of everything, the others those of the chosen robot. Recordings have no forces: they follow
from the recorded motion by inverse dynamics (MuJoCo's `mj_inverse`), whose contact forces are unique for given
positions, velocities and accelerations. Velocities and accelerations are differences of recorded positions over one
recorded row, so that forces of impacts are smoothed; rounding of recorded poses (0.1 mm) makes an error of some 10 %.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from nutmeg.view.stage.bodies import collision_glbs, inertia_glbs, rgb_of
from nutmeg.view.stage.cameras import thing_position, things
from nutmeg.view.stage.film import POSE_SUFFIX, UNDERGROUND

if TYPE_CHECKING:
    import viser

    from nutmeg.base.arrays import Floats
    from nutmeg.view.stage.film import Film
    from nutmeg.view.stage.stage import Cast

_TRAILS, FORCES, MASS, AXES, _SHAPES, _INERTIAS = _LAYERS = (
    "Trails",
    "Contact forces",
    "Centre of mass",
    "Joint axes",
    "Collision shapes",
    "Inertias",
)
_LEGEND = {
    _TRAILS: ("#ff9f1c", "the way of the last five seconds"),
    FORCES: ("#d9261f", "contact forces; as long as a robot's weight: 0.4 m"),
    MASS: ("#8e44ad", "centre of mass, its place on the ground, and the support polygon"),
    AXES: ("#17a2b8", "axes of the joints"),
    _SHAPES: ("#2f7ed8", "shapes that collide"),
    _INERTIAS: ("#3aa655", "boxes with the inertia of each body"),
}
"""Colour and meaning of each layer."""
_TRAIL_TIME = 5.0  # length of a trail, seconds
_MAX_TRAIL_POINTS = 100
_WEIGHT_LENGTH = 0.4  # length of the arrow of a force that carries a robot's weight, metres
_AXIS_LENGTH = 0.16  # length of the drawn axis of a joint, metres
_ABOVE_GROUND = 0.01  # height of lines on the ground, metres


class _ContactForce(NamedTuple):
    """A force at a contact."""

    place: Floats
    """Point (3,) at which it acts, metres."""
    force: Floats
    """The force on the body that moves (3,), newtons; on the second one, if both do."""
    bodies: tuple[str, str]
    """Names of both bodies."""


def contact_forces(model: mujoco.MjModel, film: Film, time: float) -> list[_ContactForce]:
    """The forces at all contacts at a time of a recording [s], by inverse dynamics."""
    data, times = mujoco.MjData(model), film.times
    if len(times) < 3:
        return []
    row = min(max(film.row_at(time), 1), len(times) - 2)
    step = float(times[row + 1] - times[row - 1]) / 2
    before, here, after = (film.qpos_at(float(times[r])) for r in (row - 1, row, row + 1))
    arriving, leaving = np.zeros(model.nv), np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, arriving, step, before, here)
    mujoco.mj_differentiatePos(model, leaving, step, here, after)
    data.qpos[:], data.qvel[:], data.qacc[:] = here, (arriving + leaving) / 2, (leaving - arriving) / step
    mujoco.mj_inverse(model, data)
    found, wrench = [], np.zeros(6)
    for number in range(data.ncon):
        contact = data.contact[number]
        mujoco.mj_contactForce(model, data, number, wrench)
        # The contact's frame has its axes as rows, the first along the normal from the first geom to the second.
        force = contact.frame.reshape(3, 3).T @ wrench[:3]
        if model.body_weldid[model.geom_bodyid[contact.geom[1]]] == 0:
            force = -force  # the second one stands still: show the force on the first
        names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, model.geom_bodyid[g]) or "" for g in contact.geom]
        found.append(_ContactForce(place=contact.pos.copy(), force=force, bodies=(names[0], names[1])))
    return found


def support_polygon(places: Floats) -> Floats:
    """The corners (n, 2) of the convex hull of places (m, 2) on the ground, in order; all places if they have none."""
    if len(places) < 3:
        return places
    try:
        return np.asarray(places[ConvexHull(places).vertices])
    except QhullError:  # all in one line
        return places


class Layers:
    """The layers of one browser."""

    def __init__(self, client: viser.ClientHandle, cast: Cast, film: Film) -> None:
        self._client, self._cast, self._film = client, cast, film
        self._on: set[str] = set()
        self._nodes: dict[str, list[Any]] = {}
        self._robot = ""
        gui = client.gui
        with gui.add_folder("Layers", order=16, expand_by_default=False):
            for layer in _LAYERS:
                box = gui.add_checkbox(layer, initial_value=False, hint=_LEGEND[layer][1])
                box.on_update(partial(self._switched, layer))
            self._legend = gui.add_html("")

    def show(self, now: float, robot: str) -> None:
        """Draw the layers that are switched on at a time of the recording, for the chosen robot."""
        if robot != self._robot:
            self._robot = robot
            for layer in (_SHAPES, _INERTIAS):
                self._clear(layer)
        for layer in set(self._nodes) - self._on:
            self._clear(layer)
        if not self._on or not len(self._film.times):
            return
        with self._client.atomic():
            if _TRAILS in self._on:
                self._lines(_TRAILS, self._trails(now), 0.015)
            if AXES in self._on:
                self._lines(AXES, self._axes(), 0.004)
            if self._on & {FORCES, MASS}:
                forces = contact_forces(self._cast.model, self._film, now)
                if FORCES in self._on:
                    self._arrows(forces)
                if MASS in self._on:
                    self._lines(MASS, self._balance(forces), 0.008)
            for layer, make in ((_SHAPES, collision_glbs), (_INERTIAS, inertia_glbs)):
                if layer in self._on and layer not in self._nodes:
                    self._cover(layer, dict(make(self._cast.model, self._cast.stage.tree, robot, _rgb(layer))))

    def _cover(self, layer: str, glbs: dict[str, bytes]) -> None:
        """Draw GLB files instead of the looks of the pieces at their paths.

        A node of a client covers the server's node of the same name: an empty frame hides the shape behind it.
        """
        scene, kind = self._client.scene, layer.split(maxsplit=1)[0].lower()
        self._nodes[layer] = [scene.add_glb(f"{path}/{kind}", glb, cast_shadow=False) for path, glb in glbs.items()]
        own = [piece.path for piece in self._cast.stage.tree if piece.thing == self._robot and piece.glb is not None]
        self._nodes[layer] += [scene.add_frame(f"{path}/shape", show_axes=False) for path in own]

    async def _switched(self, layer: str, event: viser.GuiEvent) -> None:
        """A layer was switched on or off; in the server's own loop, one after the other."""
        if event.target.value:
            self._on.add(layer)
        else:
            self._on.discard(layer)
        rows = "".join(
            f'<div><b style="color: {_LEGEND[one][0]}">━</b> {_LEGEND[one][1]}</div>'
            for one in _LAYERS
            if one in self._on
        )
        self._legend.content = f'<div data-nutmeg-legend style="padding: 2px 1em 6px; font-size: 12px">{rows}</div>'

    def _clear(self, layer: str) -> None:
        for node in self._nodes.pop(layer, []):
            node.remove()

    def _lines(self, layer: str, points: Floats, thickness: float) -> None:
        """Draw line segments (n, 2, 3)."""
        if not len(points):
            self._clear(layer)
            return
        if layer not in self._nodes:
            name = f"/layers/{_LAYERS.index(layer)}"
            self._nodes[layer] = [
                self._client.scene.add_line_segments(name, points.astype(np.float32), _rgb(layer), thickness=thickness)
            ]
        else:
            self._nodes[layer][0].points = points.astype(np.float32)

    def _arrows(self, forces: list[_ContactForce]) -> None:
        model = self._cast.model
        robots = [piece.body for piece in self._cast.stage.tree if piece.thing == self._robot]
        weight = float(model.body_subtreemass[robots[0]]) if robots else float(model.body_subtreemass[0])
        scale = _WEIGHT_LENGTH / max(weight * float(np.linalg.norm(model.opt.gravity)), 1e-9)
        points = [
            (one.place, one.place + scale * one.force)
            for one in forces
            if np.linalg.norm(one.force) * scale > 0.02 * _WEIGHT_LENGTH and one.place[2] > UNDERGROUND
        ]
        self._clear(FORCES)
        if points:
            self._nodes[FORCES] = [
                self._client.scene.add_arrows(
                    "/layers/forces",
                    np.array(points, dtype=np.float32),
                    _rgb(FORCES),
                    shaft_radius=0.006,
                    head_radius=0.014,
                    head_length=0.03,
                )
            ]

    def _trails(self, now: float) -> Floats:
        film = self._film
        first, last = film.row_at(now - _TRAIL_TIME), film.row_at(now) + 1
        every = max(math.ceil((last - first) / _MAX_TRAIL_POINTS), 1)
        lines = [np.empty((0, 2, 3))]
        for thing in things(self._cast.model):
            channel = f"{thing}{POSE_SUFFIX}"
            if channel in film.recording.channels:
                places = film.recording.read(channel, first, last)[::every, :3]
                places = places[np.isfinite(places).all(axis=1) & (places[:, 2] > UNDERGROUND)]
                ground = places * [1.0, 1.0, 0.0] + [0.0, 0.0, _ABOVE_GROUND]
                # A robot that was put somewhere else has no trail from there to here.
                steps = np.stack([ground[:-1], ground[1:]], axis=1)
                lines.append(steps[np.linalg.norm(steps[:, 1] - steps[:, 0], axis=1) < 1.0])
        return np.concatenate(lines)

    def _axes(self) -> Floats:
        """A line along the axis of each hinge of the chosen robot."""
        model, data = self._cast.model, self._cast.data
        lines = []
        for joint in range(model.njnt):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint) or ""
            if name.startswith(f"{self._robot}/") and model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE:
                half = _AXIS_LENGTH / 2 * data.xaxis[joint]
                lines.append((data.xanchor[joint] - half, data.xanchor[joint] + half))
        return np.array(lines).reshape(-1, 2, 3)

    def _balance(self, forces: list[_ContactForce]) -> Floats:
        """The chosen robot's centre of mass, a line from it to the ground, and the polygon of its contacts below."""
        model, data = self._cast.model, self._cast.data
        root = next((piece.body for piece in self._cast.stage.tree if piece.thing == self._robot), None)
        if root is None or thing_position(model, data, self._robot) is None:
            return np.empty((0, 2, 3))
        mujoco.mj_comPos(model, data)
        centre = np.array(data.subtree_com[root])
        below = centre * [1.0, 1.0, 0.0] + [0.0, 0.0, _ABOVE_GROUND]
        arm = 0.04
        lines = [(centre, below), *((below - s, below + s) for s in (np.array([arm, 0, 0]), np.array([0, arm, 0])))]
        lines += [(centre - s, centre + s) for s in arm * np.eye(3)]
        own = [f for f in forces if sum(name.startswith(f"{self._robot}/") for name in f.bodies) == 1]
        corners = support_polygon(np.array([f.place[:2] for f in own]).reshape(-1, 2))
        ground = np.column_stack([corners, np.full(len(corners), _ABOVE_GROUND)])
        lines += list(zip(ground, np.roll(ground, -1, axis=0), strict=True))
        return np.array(lines)


def _rgb(layer: str) -> tuple[int, int, int]:
    return rgb_of(_LEGEND[layer][0])
