"""A model in the browser: shapes that all browsers share, and for each browser a cast that moves them.

The shapes are sent once. They hang on frames, one per moving body, and the frames belong to one browser: two people who
watch the same recording can watch different moments of it. A frame of the animation sends the bodies whose pose in
their parent has changed, all in one batch, as viser's own messages: its handles compare every vector with the one
before, which takes several times as long. Each body keeps its two messages (`Shift`, `Turn`), because making and
describing hundreds of them thirty times a second was most of the work of a page. Poses are rounded to a
sixteen-thousandth (0.06 mm; 0.1 mrad), which is invisible; a resting robot then costs nothing, and replays
compress well.

    server = viser.ViserServer(host="127.0.0.1", port=8080, verbose=False)
    stage = Stage(server, model, robots=("nao1",))
    cast = Cast(stage, client)          # or Cast(stage, server): the same for everybody
    cast.show(qpos)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from viser._messages import SetOrientationMessage, SetPositionMessage, SetSceneNodeVisibilityMessage

from nutmeg.view.stage.bodies import body_tree, geom_bounds, is_paint, local_poses, visible_geoms
from nutmeg.view.stage.cameras import Viewpoint, broadcast_view, pitch_bounds, root_body
from nutmeg.view.stage.film import UNDERGROUND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import viser

    from nutmeg.base.arrays import Floats

_POSE_GRAIN = 2.0**-14  # poses are sent in multiples of this, metres or quaternion components
LABEL_HEIGHT = 0.18  # height of a label above the highest joint of its robot, metres: clear of a Nao's head
_GRID_CELL = 0.5
"""Cell size of the grid on a floor without lines, metres: without a grid, a walking robot seems to stand."""
_WALKABLE_WIDTH = 4.0  # a floor this wide is one to walk on, metres
_SKY_COLOURS = ((176, 206, 232), (238, 244, 248))
"""Background colours (sRGB) at the top and at the bottom of the page."""


class Shift(SetPositionMessage):  # type: ignore[misc]
    """Moves a node of the scene; it can be sent again with another `position`.

    viser prepares every field by its type before it is sent, which plain numbers do not need.
    """

    def as_serializable_dict(self, binary_buffers: list[memoryview] | None = None) -> dict[str, Any]:  # noqa: ARG002
        """The message as browsers know it."""
        return {"type": "SetPositionMessage", "name": self.name, "position": self.position, "owner": self.owner}


class Turn(SetOrientationMessage):  # type: ignore[misc]
    """Turns a node of the scene; it can be sent again with another `wxyz`."""

    def as_serializable_dict(self, binary_buffers: list[memoryview] | None = None) -> dict[str, Any]:  # noqa: ARG002
        """The message as browsers know it."""
        return {"type": "SetOrientationMessage", "name": self.name, "wxyz": self.wxyz, "owner": self.owner}


class Stage:
    """The shapes of a scene and its light, shared by all browsers of one server."""

    def __init__(
        self, server: viser.ViserServer, model: mujoco.MjModel, *, robots: Sequence[str] = (), ghost: bool = False
    ) -> None:
        """Sends all visible shapes.

        `robots` get labels and can be picked. A `ghost` has only moving pieces, translucent, beside another stage.
        """
        self._server = server
        self.model = model
        self.robots = tuple(robots)
        self.pitch = pitch_bounds(model)
        self.tree = body_tree(model, ghost=ghost)
        with server.atomic():
            if not ghost:
                _light(server)
            if not ghost and _plain_floor(model):
                _add_grid(server)
            # A shape hangs below the frame of its body, which each cast makes for itself.
            self._shapes = [
                (piece.thing, server.scene.add_glb(f"{piece.path}/shape", piece.glb, cast_shadow=piece.casts))
                for piece in self.tree
                if piece.glb is not None
            ]
        if ghost:
            return
        server.initial_camera.near, server.initial_camera.far = 0.03, 300.0
        self.aim(broadcast_view(self.pitch))

    def on_pick(self, picked: Callable[[str, Any], None]) -> None:
        """Call `picked(robot, client)` when a robot is clicked."""
        for thing, shape in self._shapes:
            if thing in self.robots:
                shape.on_click(lambda event, robot=thing: picked(robot, event.client))

    def aim(self, view: Viewpoint) -> None:
        """Set the camera that new pages start with."""
        camera = self._server.initial_camera
        camera.look_at, camera.position, camera.up, camera.fov = view.look_at, view.position, view.up, view.fov


class Cast:
    """The moving bodies and the labels of a stage, as one browser sees them (the owner), or everybody (the server).

    Everything begins at `qpos` (nq,), or at rest.
    """

    def __init__(self, stage: Stage, owner: viser.ViserServer | viser.ClientHandle, qpos: Floats | None = None) -> None:
        self._owner, self.stage = owner, stage
        self.emit: Callable[[Any], None] = owner.scene._queue_scene_message
        """Gets the messages that move things; a replay writes them into its file instead."""
        self.model = stage.model
        self.robots = stage.robots
        self.data: mujoco.MjData = mujoco.MjData(stage.model)
        self._labelled = True
        with owner.atomic():
            for piece in stage.tree:
                owner.scene.add_frame(piece.path, show_axes=False)
            self._labels = {robot: self._add_label(robot) for robot in self.robots}
        self._labelling = _Labelling(stage, {robot: label.name for robot, label in self._labels.items()})
        self._shifts = [Shift(piece.path, (0.0, 0.0, 0.0)) for piece in stage.tree]
        self._turning = [Turn(piece.path, (1.0, 0.0, 0.0, 0.0)) for piece in stage.tree]
        self._positions: Floats = np.zeros((len(stage.tree), 3))
        self._turns: Floats = np.tile([1.0, 0.0, 0.0, 0.0], (len(stage.tree), 1))
        self.show(np.array(stage.model.qpos0) if qpos is None else qpos)

    def show(self, qpos: Floats) -> int:
        """Move everything to generalised positions (nq,); returns how many pieces moved."""
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        positions, turns = local_poses(self.stage.tree, self.data.xpos, self.data.xquat)
        positions, turns = _grained(positions), _grained(turns)
        shifted = np.any(positions != self._positions, axis=1)
        turned = np.any(turns != self._turns, axis=1)
        with self._owner.atomic():
            for place, position in zip(np.flatnonzero(shifted).tolist(), positions[shifted].tolist(), strict=True):
                self._shifts[place].position = position
                self.emit(self._shifts[place])
            for place, turn in zip(np.flatnonzero(turned).tolist(), turns[turned].tolist(), strict=True):
                self._turning[place].wxyz = turn
                self.emit(self._turning[place])
            if np.any(shifted):
                self._move_labels()
        self._positions, self._turns = positions, turns
        return int(np.count_nonzero(shifted | turned))

    @property
    def labels_visible(self) -> bool:
        """Whether robots carry their names."""
        return self._labelled and bool(self._labels)

    @labels_visible.setter
    def labels_visible(self, visible: bool) -> None:
        self._labelled = visible
        self._move_labels()

    def name(self, robot: str, text: str) -> None:
        """Sets the text on the label of a robot."""
        self._labels[robot].text = text

    def _add_label(self, robot: str) -> Any:  # noqa: ANN401
        return self._owner.scene.add_label(
            f"/labels/{robot}", robot, anchor="bottom-center", font_screen_scale=0.9, depth_test=False
        )

    def _move_labels(self) -> None:
        for message in self._labelling.messages(self.data.xpos, shown=self._labelled):
            self.emit(message)


class _Labelling:
    """Keeps the labels of robots above their heads, also when they fall; those of absent robots are hidden."""

    def __init__(self, stage: Stage, names: Mapping[str, str]) -> None:
        roots = {robot: root_body(stage.model, robot) for robot in names}
        self._robots = [robot for robot in names if roots[robot] >= 0]
        self._roots = [roots[robot] for robot in self._robots]
        bodies = [[roots[r], *(piece.body for piece in stage.tree if piece.thing == r)] for r in self._robots]
        self._bodies = [body for some in bodies for body in some]
        self._starts = np.cumsum([0, *map(len, bodies)])[:-1]
        self._names = [names[robot] for robot in self._robots]
        self._shifts = [Shift(name, (0.0, 0.0, 0.0)) for name in self._names]
        self._where: list[list[float]] = [[] for _ in self._robots]
        self._visible: list[bool | None] = [None] * len(self._robots)

    def messages(self, positions: Floats, *, shown: bool) -> Iterator[Any]:
        """Messages that move the labels for bodies at these positions (bodies, 3), if labels are `shown`."""
        if not self._robots:
            return
        places = positions[self._roots]
        present = places[:, 2] > UNDERGROUND
        # Above the highest body of each robot.
        places[:, 2] = np.maximum.reduceat(positions[self._bodies, 2], self._starts) + LABEL_HEIGHT
        for number, (where, visible) in enumerate(zip(_grained(places).tolist(), present.tolist(), strict=True)):
            if self._visible[number] != (shown and visible):
                self._visible[number] = shown and visible
                yield SetSceneNodeVisibilityMessage(self._names[number], shown and visible)
            if self._where[number] != where:
                self._where[number] = self._shifts[number].position = where
                yield self._shifts[number]


def _light(server: viser.ViserServer) -> None:
    """Daylight: a soft environment, one sun that casts shadows, and a pale sky behind."""
    scene = server.scene
    scene.set_up_direction("+z")
    scene.configure_environment_map("park", environment_intensity=0.4)
    scene.configure_default_lights(enabled=True, cast_shadow=True)
    share = np.linspace(0.0, 1.0, 64)[:, None, None]
    top, bottom = np.array(_SKY_COLOURS[0]), np.array(_SKY_COLOURS[1])
    rows = top + share * (bottom - top)
    scene.set_background_image(np.tile(rows, (1, 8, 1)).astype(np.uint8), format="png")


def _plain_floor(model: mujoco.MjModel) -> bool:
    """Whether there is a wide floor and nothing is painted on it."""
    geoms = visible_geoms(model)
    still = [geom for geom in geoms if model.body_weldid[model.geom_bodyid[geom]] == 0]
    wide = any(np.all(np.subtract(*reversed(geom_bounds(model, geom)))[:2] >= _WALKABLE_WIDTH) for geom in still)
    return bool(wide) and not any(is_paint(model, geom) for geom in geoms)


def _add_grid(server: viser.ViserServer) -> None:
    server.scene.add_grid(
        "/world/grid",
        width=20.0,
        height=20.0,
        cell_size=_GRID_CELL,
        cell_color=(138, 143, 150),
        section_size=4 * _GRID_CELL,
        section_color=(112, 117, 124),
        section_thickness=1.4,
        fade_distance=14.0,
        fade_from="camera",
        position=(0.0, 0.0, 0.002),
    )


def _grained(values: Floats) -> Floats:
    rounded: Floats = np.round(values / _POSE_GRAIN) * _POSE_GRAIN
    return rounded
