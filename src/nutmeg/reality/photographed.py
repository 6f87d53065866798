"""What a camera saw, and what candidates' cameras would have seen in its place.

    one = read_photographed(Path("pictures/monday"), settings, twin)
    one.real                                    # Behaviour: rows are blocks of pixels of all views
    one.simulated(twin, candidates)             # the same of N candidates, (N, rows, columns)

The columns `picture.red`, `.green` and `.blue` are the means of blocks of pixels [level, 0 to 255]. Where a view has
several pictures, `noise.red` and so on are by how much pixels differ between them: the root of the mean variance in a
square of 4 x 4 blocks, told in the first of these and missing in the others. A candidate's camera takes one picture
without noise and, for the noise, as many as there are, from the same seeds for all candidates. (In what is nearly
black, noise brightens a real picture a little; that is not seen.)

The place is drawn by MuJoCo as `pictures.toml` tells (`reality.pictures`): lines, ball and robots must be where they
were, and have colours like theirs. Exposure, tints and lights can stand for one another: search only some of them.
Candidates that change nothing but cameras share one drawing, a little larger than needed, of which lenses see a part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.body import Placement, SceneSettings, assemble, load_robot
from nutmeg.body.adjustment import parse
from nutmeg.body.cameras import EFFECTS, CameraSettings, adjusted_cameras, load_cameras
from nutmeg.body.geometry import heading, product
from nutmeg.body.lights import lighting_names, load_lights
from nutmeg.engine.cameras import CameraEffects, Quality, SceneRenderer
from nutmeg.engine.cameras.auto_exposure import Exposure
from nutmeg.errors import FileError, ModelError, RecordingError, UnknownNameError
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.pictures import FILE, PicturesFile, View, read_pictures
from nutmeg.reality.twin import ROBOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.body.adjustment import Adjustment
    from nutmeg.body.lights import Light
    from nutmeg.body.scene import Scene
    from nutmeg.reality.twin import Twin

COLOURS = ("red", "green", "blue")
COLUMNS = tuple(f"{kind}.{colour}" for kind in ("picture", "noise") for colour in COLOURS)
UNIT = "level"
SQUARE = 4
"""Blocks on each side in which noise is averaged: single pixels of eight bits hardly show a little more of it."""
STEP = 64
"""Drawings grow by so many pixels, so that lenses that differ a little can share one."""
DRAWINGS_KEPT = 4
SEED = 710_000_020
"""Of the noise of simulated pictures; nobody else's, or it would not be noise."""
NOISY = tuple(effect for effect in EFFECTS if effect != "auto")
CLEAN = tuple(effect for effect in NOISY if effect != "noise")
"""Effects with and without noise; exposures are told, not chosen again."""


@dataclass(frozen=True)
class Place:
    """Where pictures were taken: all that drawing them needs but the numbers of robot and camera."""

    told: PicturesFile
    robot: str
    """The twin's robot."""
    type: str
    lights: tuple[Light, ...] | None
    """In place of the field's own."""
    size: tuple[int, int]
    """Width and height of the pictures, pixels."""

    @property
    def camera(self) -> str:
        """The camera's name in the scene."""
        return f"{ROBOT}/{self.told.camera}"


class Drawing(NamedTuple):
    """The views of a place as a pinhole sees them."""

    pictures: Bytes
    """(views, height, width, 3), larger than the camera's."""
    velocities: Floats
    """Of the turning camera in its own frame, (views, 3) [rad/s]."""

    def middle(self, size: tuple[int, int]) -> Bytes:
        """The part (views, *size, 3) in the middle that a pinhole of the same focal length and less width sees."""
        height, width = self.pictures.shape[1:3]
        top, left = (height - size[1]) // 2, (width - size[0]) // 2
        return self.pictures[:, top : top + size[1], left : left + size[0]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Photographed:
    """The pictures of one folder."""

    source: str
    """Name of the folder."""
    place: Place
    real: Behaviour
    """What was seen: blocks of pixels of all views, (rows, columns)."""
    block: int
    """Pixels on each side that are compared as one."""
    conditions: tuple[Adjustment, ...] = ()
    """What was different when these pictures were taken."""
    told: Mapping[str, Floats] = field(default_factory=dict)
    """Nothing was commanded."""

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return self.source

    @property
    def times(self) -> Floats:
        """Numbers of the blocks, (rows,): pictures have no time."""
        return np.arange(len(np.asarray(self.real.series)), dtype=float)

    def simulated(self, twin: Twin, candidates: Floats) -> Behaviour:
        """What the cameras of N candidates see, (N, rows, columns); those that cannot be have no rows that count."""
        shape = np.asarray(self.real.series).shape
        series, frames = np.full((len(candidates), *shape), np.nan), np.zeros(len(candidates), np.intp)
        for number, candidate in enumerate(candidates):
            try:
                series[number] = self.seen(twin, candidate)
                frames[number] = shape[0]
            except ModelError:  # a lens that folds the picture over, a body that cannot be built
                continue
        return Behaviour(
            columns=self.real.columns,
            units=self.real.units,
            series=series,
            frames=frames,
            source=f"simulation of {self.source}",
        )

    def seen(self, twin: Twin, candidate: Floats) -> Floats:
        """What the camera of one candidate (k,) sees, (rows, columns)."""
        every = (*twin.settings.adjustments, *self.conditions, *twin.adjustments(candidate))
        ordered = sorted(every, key=lambda one: one.relative)
        camera = adjusted_cameras(load_robot(self.place.robot), ordered)[self.place.told.camera]
        body = tuple(a for a in ordered if parse(a.target).family == "robot")  # nothing else shows in a picture
        counts = [len(view.files) for view in self.place.told.view]
        clean = taken(self.place, camera, body, [1] * len(counts), effects=CLEAN)
        seen = np.concatenate([blocks(one, self.block) for one in clean])[:, : len(self.real.columns)]
        if max(counts) > 1:
            noisy = taken(self.place, camera, body, counts, effects=NOISY)
            seen[:, len(COLOURS) :] = np.concatenate([blocks(one, self.block) for one in noisy])[:, len(COLOURS) :]
        return seen


def taken(
    place: Place,
    camera: CameraSettings,
    body: tuple[Adjustment, ...],
    counts: list[int],
    *,
    effects: tuple[str, ...],
    seed: int = SEED,
) -> list[Bytes]:
    """The pictures that a camera takes of each view, (count, height, width, 3) each."""
    scene = _scene(place, body)
    fov = math.radians(float(scene.model.camera(place.camera).fovy[0]))
    lens = CameraEffects(camera, size=place.size, fov=fov, effects=effects)
    (width, height), out = lens.drawn_size, []
    drawing = _drawing(place, body, (_rounded(width, place.size[0]), _rounded(height, place.size[1])))
    drawn = drawing.middle((width, height))
    for number, (view, count) in enumerate(zip(place.told.view, counts, strict=True)):
        exposure = _exposure(view, camera)
        light = lens.gather(drawn[number : number + 1], drawing.velocities[number : number + 1], exposure)
        repeated = np.broadcast_to(light, (count, *light.shape[1:]))
        out.append(lens.sense(repeated, np.random.default_rng([seed, number]), exposure))
    return out


def blocks(pictures: Bytes, size: int) -> Floats:
    """Means and deviations of blocks of pictures of the same (count, height, width, 3), as rows (blocks, columns)."""
    count = len(pictures)
    height, width = (length // size * size for length in pictures.shape[1:3])
    parts = pictures[:, :height, :width].reshape(count, height // size, size, width // size, size, 3).astype(float)
    means = parts.mean(axis=(0, 2, 4))
    noise = np.full_like(means, np.nan)
    if count > 1:
        variance = parts.var(axis=0, ddof=1).mean(axis=(1, 3))
        high, wide = (min(SQUARE, length) for length in variance.shape[:2])
        rows, columns = variance.shape[0] // high, variance.shape[1] // wide
        squares = variance[: rows * high, : columns * wide].reshape(rows, high, columns, wide, 3).mean(axis=(1, 3))
        noise[: rows * high : high, : columns * wide : wide] = np.sqrt(squares)
    return np.concatenate([means, noise], axis=-1).reshape(-1, len(COLUMNS))


def read_photographed(
    folder: Path, twin: Twin, *, block: int, name: str = "", conditions: tuple[Adjustment, ...] = ()
) -> Photographed:
    """The pictures in a folder as a recording of a twin's camera."""
    told, images = read_pictures(folder)
    robot = twin.table.settings
    if told.robot != robot.name:
        raise RecordingError(f"{folder / FILE}: these are pictures of a {told.robot}, but {robot.name} is identified.")
    cameras = load_cameras(robot)
    if told.camera not in cameras:
        raise UnknownNameError(f"camera of {robot.name}", told.camera, cameras, where=str(folder / FILE))
    for joint in (joint for view in told.view for joint in view.angles):
        if joint not in twin.table.joints:
            raise UnknownNameError(f"joint of {robot.name}", joint, twin.table.joints, where=str(folder / FILE))
    height, width = images[0].shape[1:3]
    if min(height, width) < block:
        raise FileError(folder, f"has pictures of {width} x {height}, smaller than a block of {block} pixels.")
    place = Place(told, twin.settings.robot, twin.settings.type, lights_of(told.lights, folder), (width, height))
    columns = COLUMNS if any(len(of_one) > 1 for of_one in images) else COLUMNS[: len(COLOURS)]
    series = np.concatenate([blocks(of_one, block) for of_one in images])[:, : len(columns)]
    real = Behaviour(columns=columns, units=(UNIT,) * len(columns), series=series, source=name or folder.name)
    return Photographed(source=name or folder.name, place=place, real=real, block=block, conditions=conditions)


def lights_of(name: str, folder: Path) -> tuple[Light, ...] | None:
    """The lights that a name means: a lighting, a file in the folder, or None for the field's own."""
    if name == "field":
        return None
    if name not in lighting_names() and not name.endswith(".toml"):
        raise UnknownNameError("lighting", name, [*lighting_names(), "field"], where=str(folder / FILE))
    return load_lights(name if name in lighting_names() else folder / name).light


def state(scene: Scene, view: View) -> tuple[Floats, Floats]:
    """Generalised positions and velocities of a view."""
    qpos, qvel, table = scene.start.copy(), np.zeros(scene.model.nv), scene.robot(ROBOT)
    if table.root >= 0:
        root = qpos[table.root : table.root + 7]
        standing = (*view.pos, root[2], *product(heading(view.heading), root[3:].tolist()))
        root[:] = view.place or standing
        qvel[table.root_rate + 5] = view.turn
    for joint, angle in view.angles.items():
        qpos[table.angles[table.joints.index(joint)]] = angle
    if view.ball is not None and scene.has_ball:
        ball = int(scene.model.joint("ball/root").qposadr[0])
        qpos[ball : ball + 2] = view.ball
    return qpos, qvel


def _exposure(view: View, camera: CameraSettings) -> Exposure | None:
    """What a view tells of its exposure and gain; None if nothing."""
    if view.exposure is None and view.gain is None:
        return None
    return Exposure(
        np.array([camera.exposure if view.exposure is None else view.exposure]),
        np.array([camera.gain if view.gain is None else view.gain]),
    )


def _rounded(drawn: int, own: int) -> int:
    """A length to draw of which a lens may see less; the middle stays where it is."""
    return own + math.ceil((drawn - own) / STEP) * STEP


@lru_cache(maxsize=DRAWINGS_KEPT)
def _scene(place: Place, body: tuple[Adjustment, ...]) -> Scene:
    told = place.told
    mine = Placement(robot=place.robot, name=ROBOT, type=place.type, pose=told.pose, adjustments=body)
    others = (
        Placement(robot=b.robot, name=f"bystander{k}", pos=b.pos, heading=b.heading, pose=b.pose, team=b.team)
        for k, b in enumerate(told.bystander)
    )
    return assemble(SceneSettings(field=told.field, robots=(mine, *others)))


@lru_cache(maxsize=DRAWINGS_KEPT)
def _drawing(place: Place, body: tuple[Adjustment, ...], size: tuple[int, int]) -> Drawing:
    """All views at a size, with the camera's focal length; the graphics are given back at once, for other threads."""
    scene = _scene(place, body)
    number, fov = scene.model.camera(place.camera).id, math.radians(float(scene.model.camera(place.camera).fovy[0]))
    wide = 2 * math.atan(math.tan(fov / 2) * size[1] / place.size[1])
    pictures, velocities = [], []
    quality = Quality(shadows=place.told.shadows, samples=4)
    with SceneRenderer(scene.model, size, quality=quality, lights=place.lights) as renderer:
        for view in place.told.view:
            qpos, qvel = state(scene, view)
            renderer.pose(qpos)
            pictures.append(renderer.draw(number, size, wide))
            velocities.append(renderer.angular_velocity(number, qvel))
    return Drawing(np.stack(pictures), np.stack(velocities))
