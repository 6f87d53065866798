"""Pictures of the cameras of robots in a physical match while it is played; `nutmeg camera frames` draws them later.

    with MatchCameras(LeagueFigures(world)) as cameras:
        cameras.prepare()                   # in every cycle, before players decide
        pictures = cameras.draw(slot)       # {"Vision": (240, 240, 3)}

The scene is that of the match's recording, in the present pose, through the cameras of its robots; a robot does not see
its own head. It is built by `prepare`, which takes a second or two, and anew when another robot has joined or the teams
have changed ends. The renderer must stay in its thread.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.interrupts import Closing
from nutmeg.match.drawing import match_scene
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS
from nutmeg.model.scene import assemble
from nutmeg.model.tables import camera_names
from nutmeg.sim.cameras.renderer import Quality, SceneRenderer, working_renderer
from nutmeg.sim.cameras.robot_camera import camera_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Bytes
    from nutmeg.match.drawing import Kind
    from nutmeg.match.recording import Figures
    from nutmeg.model.scene import Scene

_PLAIN = Quality(shadows=False)
"""The quality of cameras' pictures: shadows take several times as long."""


class MatchCameras(Closing):
    """The cameras of all robots of a match; holds a renderer until closed.

    Args:
        figures: the robots and the ball, as they are seen.
    """

    def __init__(self, figures: Figures) -> None:
        working_renderer()  # without one, a match is refused before it begins
        self._figures = figures
        self._shown: tuple[dict[int, Kind], bool] | None = None
        self._scene: Scene | None = None
        self._renderer: SceneRenderer | None = None

    def draw(self, slot: int, *, swapped: bool = False) -> Mapping[str, Bytes]:
        """The present pictures of a player by the names of its cameras, (height, width, 3) each.

        Args:
            slot: the player's present slot.
            swapped: whether the teams have changed ends; players keep the shirts with which they began.
        """
        scene, renderer = self._stage(swapped=swapped)
        figures, tables = self._figures, {table.name: table for table in scene.robots}
        poses, angles, qpos = figures.poses(), figures.angles(), scene.start.copy()
        for present in figures.present.nonzero()[0].tolist():
            table = tables[_name(present, swapped=swapped)]
            qpos[table.root : table.root + 7] = poses[present]
            qpos[table.angles] = angles[present, [figures.joints.index(joint) for joint in table.joints]]
        ball = int(scene.model.jnt_qposadr[scene.model.body("ball").jntadr[0]])
        qpos[ball : ball + 7] = figures.ball()
        renderer.pose(qpos)
        robot, pictures = _name(slot, swapped=swapped), {}
        for name in camera_names(scene.model):
            if not name.startswith(f"{robot}/"):
                continue
            camera = scene.model.camera(name).id
            with renderer.hidden(renderer.carrier(camera)):
                fov = math.radians(float(scene.model.cam_fovy[camera]))
                pictures[name.removeprefix(f"{robot}/")] = renderer.draw(camera, camera_size(scene.model, name), fov)
        return pictures

    def prepare(self, *, swapped: bool = False) -> None:
        """Builds the scene if the robots have changed: that takes longer than a player has for its decision."""
        self._stage(swapped=swapped)

    def _stage(self, *, swapped: bool) -> tuple[Scene, SceneRenderer]:
        """The scene with the present robots, and its renderer."""
        figures = self._figures
        kinds = {slot: figures.kind(slot) for slot in figures.present.nonzero()[0].tolist()}
        if self._scene is None or self._renderer is None or self._shown != (kinds, swapped):
            self.close()
            began = {_began(slot, swapped=swapped): kind for slot, kind in kinds.items()}
            settings = match_scene(began, field=figures.field, physics=figures.physics, pose=figures.pose)
            self._shown, self._scene = (kinds, swapped), assemble(settings)
            model = self._scene.model
            sizes = [camera_size(model, name) for name in camera_names(model)]
            self._renderer = SceneRenderer(model, tuple(map(max, zip(*sizes, strict=True))), quality=_PLAIN)
        return self._scene, self._renderer

    def close(self) -> None:
        """Gives the renderer back; closing twice is fine."""
        if self._renderer is not None:
            self._renderer.close()
        self._renderer = None


def _began(slot: int, *, swapped: bool) -> int:
    """The slot that a player began in."""
    return (slot + MAX_PLAYERS * swapped) % SLOTS


def _name(slot: int, *, swapped: bool) -> str:
    """The name of a player in the scene."""
    return SLOT_NAMES[_began(slot, swapped=swapped)]
