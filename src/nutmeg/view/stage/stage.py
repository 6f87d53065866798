"""A model in the browser: built once from meshes, then only moved.

A frame sends the pieces whose pose in their parent has changed, all in one batch. Poses are rounded to a
sixteen-thousandth (0.06 mm; 0.1 mrad), far below what is seen; a resting robot then costs nothing, and
replays compress well.

    server = viser.ViserServer(host="127.0.0.1", port=8080, verbose=False)
    stage = Stage(server, model, robots=("nao1",))
    stage.show(qpos)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.view.stage.bodies import Piece, body_tree, geom_bounds, is_paint, local_poses, visible_geoms
from nutmeg.view.stage.cameras import Viewpoint, beside_panel, broadcast_view, pitch_bounds, thing_position
from nutmeg.view.stage.film import UNDERGROUND

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import viser

    from nutmeg.base.arrays import Floats

POSE_GRAIN = 2.0**-14
"""Poses are sent in multiples of this, metres or quaternion components."""
LABEL_HEIGHT = 0.18
"""Height of a label above the highest joint of its robot, metres: clear of a Nao's head."""
STEP_BACK = 1.12
"""The first camera of a page stands this much farther away, so that the panel does not hide the pitch."""
GRID_CELL = 0.5
"""A floor without lines gets a grid with cells of this size, metres: without it, a robot that walks seems to stand."""
WALKABLE_WIDTH = 4.0
"""A floor this wide is one to walk on, metres."""
SKY_COLOURS = ((176, 206, 232), (238, 244, 248))
"""Background colours (sRGB) at the top and at the bottom of the page."""


class Stage:
    """The drawn scene of one server."""

    def __init__(self, server: viser.ViserServer, model: Any, *, robots: Sequence[str] = ()) -> None:  # noqa: ANN401
        """Send everything that is to be seen.

        Args:
            server: the viser server to draw on.
            model: the compiled `mujoco.MjModel`.
            robots: the things that get labels and can be picked.
        """
        self._server = server
        self.model = model
        self.data: Any = mujoco.MjData(model)
        self.robots = tuple(robots)
        self._labelled = True
        self._shift: Floats = np.zeros(3)
        self.pitch = pitch_bounds(model)
        self.tree = body_tree(model)
        mujoco.mj_kinematics(model, self.data)
        with server.atomic():
            _light(server)
            if _plain_floor(model):
                _add_grid(server)
            self._nodes = [self._add(piece) for piece in self.tree]
            self._labels = {robot: self._add_label(robot) for robot in self.robots}
        poses = len(self.tree)
        self._positions: Floats = np.zeros((poses, 3))
        self._turns: Floats = np.tile([1.0, 0.0, 0.0, 0.0], (poses, 1))
        self.show(np.array(model.qpos0))
        server.initial_camera.near, server.initial_camera.far = 0.03, 300.0
        view = beside_panel(broadcast_view(self.pitch))
        self.aim(replace(view, position=view.look_at + STEP_BACK * (view.position - view.look_at)))

    def show(self, qpos: Floats) -> int:
        """Move everything to generalised positions (nq,); returns how many pieces moved."""
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        positions, turns = local_poses(self.tree, self.data.xpos, self.data.xquat)
        positions, turns = _grained(positions), _grained(turns)
        shifted = np.any(positions != self._positions, axis=1)
        turned = np.any(turns != self._turns, axis=1)
        with self._server.atomic():
            for place in np.flatnonzero(shifted | turned):
                if shifted[place]:
                    self._nodes[place].position = positions[place]
                if turned[place]:
                    self._nodes[place].wxyz = turns[place]
            if np.any(shifted):
                self._move_labels()
        self._positions, self._turns = positions, turns
        return int(np.count_nonzero(shifted | turned))

    def on_pick(self, picked: Callable[[str, Any], None]) -> None:
        """Call `picked(robot, client)` when a robot is clicked."""
        for piece, node in zip(self.tree, self._nodes, strict=True):
            if piece.thing in self.robots and piece.glb is not None:
                node.on_click(lambda event, robot=piece.thing: picked(robot, event.client))

    @property
    def labels_visible(self) -> bool:
        """Whether robots carry their names."""
        return self._labelled and bool(self._labels)

    @labels_visible.setter
    def labels_visible(self, visible: bool) -> None:
        self._labelled = visible
        self._move_labels()

    def name(self, robot: str, text: str) -> None:
        """Write something else than its name on the label of a robot."""
        self._labels[robot].text = text

    def _add(self, piece: Piece) -> Any:  # noqa: ANN401
        if piece.glb is None:
            return self._server.scene.add_frame(piece.path, show_axes=False)
        return self._server.scene.add_glb(piece.path, piece.glb, cast_shadow=piece.casts, receive_shadow=True)

    def _add_label(self, robot: str) -> Any:  # noqa: ANN401
        return self._server.scene.add_label(
            f"/labels/{robot}", robot, anchor="bottom-center", font_screen_scale=0.9, depth_test=False
        )

    def _move_labels(self) -> None:
        for robot, label in self._labels.items():
            place = thing_position(self.model, self.data, robot)
            if place is not None:
                label.visible = self._labelled and bool(place[2] > UNDERGROUND)
                above = np.append(place[:2], self._top(robot) + LABEL_HEIGHT)
                label.position = _grained(above) + self._shift

    def _top(self, robot: str) -> float:
        """The height of the highest body frame of a robot, metres; the label stays above it when the robot falls."""
        bodies = [piece.body for piece in self.tree if piece.thing == robot]
        return float(np.max(self.data.xpos[bodies, 2])) if bodies else 0.0

    def aim(self, view: Viewpoint) -> None:
        """Set the camera that new pages start with."""
        camera = self._server.initial_camera
        camera.look_at, camera.position, camera.up, camera.fov = view.look_at, view.position, view.up, view.fov

    def carry(self, place: Floats) -> None:
        """Draw everything moved, so that a place (3,) is where the centre of the pitch was.

        A page that plays without a server cannot move its camera: this is how it follows something all the same.
        """
        self._shift = _grained((self.pitch.centre - place) * [1.0, 1.0, 0.0])
        with self._server.atomic():
            self._nodes[0].position = self._shift
            self._move_labels()


def _light(server: viser.ViserServer) -> None:
    """Daylight: a soft environment, one sun that casts shadows, and a pale sky behind."""
    scene = server.scene
    scene.set_up_direction("+z")
    scene.configure_environment_map("park", environment_intensity=0.4)
    scene.configure_default_lights(enabled=True, cast_shadow=True)
    share = np.linspace(0.0, 1.0, 64)[:, None, None]
    top, bottom = np.array(SKY_COLOURS[0]), np.array(SKY_COLOURS[1])
    rows = top + share * (bottom - top)
    scene.set_background_image(np.tile(rows, (1, 8, 1)).astype(np.uint8), format="png")


def _plain_floor(model: Any) -> bool:  # noqa: ANN401
    """Whether there is a wide floor and nothing is painted on it."""
    geoms = visible_geoms(model)
    still = [geom for geom in geoms if model.body_weldid[model.geom_bodyid[geom]] == 0]
    wide = any(np.all(np.subtract(*reversed(geom_bounds(model, geom)))[:2] >= WALKABLE_WIDTH) for geom in still)
    return bool(wide) and not any(is_paint(model, geom) for geom in geoms)


def _add_grid(server: viser.ViserServer) -> None:
    server.scene.add_grid(
        "/grid",
        width=20.0,
        height=20.0,
        cell_size=GRID_CELL,
        cell_color=(138, 143, 150),
        section_size=4 * GRID_CELL,
        section_color=(112, 117, 124),
        section_thickness=1.4,
        fade_distance=14.0,
        fade_from="camera",
        position=(0.0, 0.0, 0.002),
    )


def _grained(values: Floats) -> Floats:
    rounded: Floats = np.round(values / POSE_GRAIN) * POSE_GRAIN
    return rounded
