"""Pictures of a robot's camera: a folder of PNG files, and `pictures.toml`, which describes where they were taken.

    format = 1
    robot = "nao-v6"
    camera = "CameraTop"
    field = "spl2025"
    lights = "hall"                     # a lighting's name, a file beside this one, or `field` for the field's own sun
    shadows = true

    [[bystander]]                       # another robot in sight; as many as there are
    robot = "nao-v6"
    pos = [-0.6, 0.42]
    heading = 2.9

    [[view]]                            # one for each place that pictures were taken from
    files = ["view1-1.png", "view1-2.png"]      # of the same; several tell the noise
    pos = [-2.0, 0.0]                   # of the robot [m], and where it faces [rad]
    heading = 0.1
    angles = { HeadYaw = 0.3 }          # joints that are not as in the pose `ready` [rad]
    ball = [-1.1, 0.2]                  # where the ball lies [m]

    description, images = read_pictures(folder)            # images: (pictures, height, width, 3) for each view
    write_pictures(folder, description, images)

The scene is rendered by MuJoCo with the parameters of candidates, and compared with the pictures:

    one = read_picture_set(Path("pictures/monday"), twin, block=4)
    one.real                                    # Behaviour: rows are blocks of pixels of all views
    one.simulated(twin, candidates)             # the same of N candidates, (N, rows, columns)

The columns `picture.red`, `.green` and `.blue` are the means of blocks of pixels [level, 0 to 255]. Where a view has
several pictures, `noise.red` and so on are how much pixels differ between them: the root of the mean variance in a
square of 4 x 4 blocks, in the row of the first of these; it is missing in the others. A candidate's camera takes one
picture without noise and, for the noise, as many as there are, from the same seeds for all candidates. (Where a real
picture is nearly black, noise brightens it a little; that is not modelled.)

Lines, ball and robots must be where they were, and have similar colours. Where the camera chose its exposure itself,
`exposure` [s] and `gain` of a view say it. Exposure, tints and lights can stand for one another: search only some of
them. Candidates that change only cameras share one drawing, a little larger than needed, of which lenses see a part.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PIL import Image

from nutmeg.base.errors import FileError, ModelError, RecordingError, UnknownNameError, writing
from nutmeg.base.settings import line_of, read
from nutmeg.model import Placement, SceneSettings, assemble, load_robot
from nutmeg.model.field import lights_on, load_field
from nutmeg.model.geometry import quaternion_product, yaw_quaternion
from nutmeg.model.parameters import adjusted_cameras, parse_target
from nutmeg.model.sensors import CAMERA_EFFECTS, CameraSettings, load_cameras
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.twin import TWIN_ROBOT
from nutmeg.sim.cameras import CameraEffects, Quality, SceneRenderer
from nutmeg.sim.cameras.image_sensor import Exposure

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.model.field import Light
    from nutmeg.model.parameters import Adjustment
    from nutmeg.model.scene import Scene
    from nutmeg.reality.twin import Twin


PICTURES_FILE = "pictures.toml"
PICTURES_FORMAT = 1
PILLOW_MODES = {"L": "grey, 8 bits", "P": "a palette", "LA": "grey with transparency", "RGBA": "transparency"}
"""What modes of Pillow mean, for error messages."""


@dataclass(frozen=True, kw_only=True)
class Bystander:
    """Another robot that may be in sight."""

    robot: str
    """Name of a built-in robot, or path of a user's."""
    pos: tuple[float, float]
    """Where it stands [m]."""
    heading: float = 0.0
    """Where it faces, 0 along x [rad]."""
    pose: str = "ready"
    """One of its poses."""
    team: str = "grey"
    """Colour of its team."""


@dataclass(frozen=True, kw_only=True)
class View:
    """Pictures from one place, and where everything was."""

    files: tuple[str, ...]
    """PNG files beside `pictures.toml`; several of the same view show the noise."""
    pos: tuple[float, float] = (0.0, 0.0)
    """Where the robot stands [m]."""
    heading: float = 0.0
    """Where it faces, 0 along x [rad]."""
    place: tuple[float, float, float, float, float, float, float] | None = None
    """Its whole pose instead, where it does not stand: place [m] and unit quaternion (w, x, y, z) of its root."""
    angles: Mapping[str, float] = field(default_factory=dict)
    """Joints that are not as in its pose [rad]."""
    ball: tuple[float, float] | None = None
    """Where the ball lies [m]; without it, in the middle of the field."""
    turn: float = 0.0
    """How fast the robot turned to the left [rad/s], for shutter and blur."""
    exposure: float | None = None
    """How long a row collected light [s], if the camera reports it; else the camera's own parameter holds."""
    gain: float | None = None
    """The gain, if the camera reports it; else the camera's own parameter holds."""

    def __post_init__(self) -> None:
        if not self.files:
            raise ValueError("`files` is empty; a view has at least one picture.")
        for name in ("exposure", "gain"):
            if (value := getattr(self, name)) is not None and not value > 0:
                raise ValueError(f"{name} is {value}; it must be above 0.")

    def __hash__(self) -> int:
        return hash(repr(self))  # the angles are a table


@dataclass(frozen=True, kw_only=True)
class PicturesFile:
    """The contents of a `pictures.toml`."""

    format: int = PICTURES_FORMAT
    """Version of this file format, 1."""
    robot: str
    """The robot whose camera took the pictures."""
    camera: str
    """The name of the camera."""
    pose: str = "ready"
    """The pose in which its joints are, but for the `angles` of a view."""
    field: str = "spl2025"
    """Name of a field, or path of a user's."""
    lights: str = "field"
    """A lighting's name, a file beside this one, or `field` for the field's own sun."""
    shadows: bool = False
    """Whether lights cast shadows."""
    bystander: tuple[Bystander, ...] = ()
    view: tuple[View, ...]
    about: str = ""

    def __post_init__(self) -> None:
        if self.format != PICTURES_FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {PICTURES_FORMAT}.")
        if not self.view:
            raise ValueError("has no [[view]]; at least one is needed.")


def holds_pictures(path: Path) -> bool:
    """Whether a recording is a folder of pictures."""
    return path.is_dir() and path.suffix != ".nutmeg"


def read_pictures(folder: Path) -> tuple[PicturesFile, list[Bytes]]:
    """The description in a folder, and the pictures of each view, (pictures, height, width, 3), all of one size."""
    path = folder / PICTURES_FILE
    if not path.exists():
        raise FileError(folder, f"is a folder without {PICTURES_FILE}, so it is no recording of a camera.")
    description = read(path, PicturesFile)
    images: list[Bytes] = []
    sizes: dict[tuple[int, ...], str] = {}
    for number, view in enumerate(description.view):
        where = f"view[{number}].files"
        found = [_picture(folder, name, line_of(path, where)) for name in view.files]
        sizes |= {one.shape: name for name, one in zip(view.files, found, strict=True)}
        if len(sizes) > 1:
            said = ", ".join(f"{name} has {width} x {height}" for (height, width, _), name in sizes.items())
            raise FileError(path, f"all pictures must have one size; {said}.", line=line_of(path, where))
        images.append(np.stack(found))
    return description, images


def write_pictures(folder: Path, description: PicturesFile, images: Sequence[Bytes]) -> None:
    """Writes a folder that `read_pictures` reads; images are (pictures, height, width, 3) for each view."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for view, pictures in zip(description.view, images, strict=True):
            for name, picture in zip(view.files, pictures, strict=True):
                Image.fromarray(picture).save(folder / name, "PNG")
        (folder / PICTURES_FILE).write_text(_text(description), encoding="utf-8")


def _picture(folder: Path, name: str, line: int | None) -> Bytes:
    path = folder / name
    try:
        with Image.open(path, formats=["PNG"]) as image:
            # Pillow reads 16 bits per colour as 8, so that only the decoder's mode tells them apart.
            decoded = image.tile[0].args if image.tile else ""
            if image.mode != "RGB" or decoded != "RGB":
                kind = PILLOW_MODES.get(image.mode, image.mode) if image.mode != "RGB" else "RGB, 16 bits"
                raise FileError(path, f"it has {kind}; needed is RGB of 8 bits each.")
            return np.asarray(image)
    except FileNotFoundError:
        raise FileError(folder / PICTURES_FILE, f"there is no file {name} in this folder.", line=line) from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise FileError(path, f"is no picture that can be read: {error}.") from None


def _text(description: PicturesFile) -> str:
    """The contents of a `pictures.toml`, a section for each bystander and each view."""
    from nutmeg.base.settings import toml_text, toml_value

    table = _known(description)
    sections = {name: table.pop(name, ()) for name in ("bystander", "view")}
    table |= {name: getattr(description, name) for name in ("format", "field", "lights", "shadows")}
    text = toml_text(table)
    for name, rows in sections.items():
        for row in rows:
            text += f"\n[[{name}]]\n" + "".join(f"{key} = {toml_value(item, key)}\n" for key, item in row.items())
    return text


def _known(settings: Any) -> dict[str, Any]:  # noqa: ANN401 (one of the dataclasses above)
    """The fields of a dataclass that say something else than their defaults."""
    out: dict[str, Any] = {}
    for one in dataclasses.fields(settings):
        value = getattr(settings, one.name)
        empty = one.default_factory() if one.default_factory is not dataclasses.MISSING else one.default
        if value != empty:
            rows = isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0])
            out[one.name] = [_known(item) for item in value] if rows else value
    return out


@dataclass(frozen=True, kw_only=True)
class PictureSettings:
    """How pictures are compared."""

    block: int = 4
    """Side of the blocks of pixels that are compared as one [pixels]: means over blocks change smoothly with the
    parameters where single pixels at edges jump."""

    def __post_init__(self) -> None:
        if self.block < 1:
            raise ValueError(f"`block` is {self.block}; it must be 1 or more pixels.")


COLOUR_CHANNELS = ("red", "green", "blue")
PICTURE_COLUMNS = tuple(f"{kind}.{colour}" for kind in ("picture", "noise") for colour in COLOUR_CHANNELS)
PIXEL_UNIT = "level"
NOISE_SQUARE = 4
"""Blocks on each side in which noise is averaged: single pixels of eight bits hardly show a little more of it."""
DRAWING_STEP = 64
"""Drawings grow by so many pixels, so that lenses that differ a little can share one."""
DRAWINGS_KEPT = 4
NOISE_SEED = 710_000_020
"""Seed of the noise of simulated pictures, used nowhere else so that the noise is independent."""
NOISY_EFFECTS = tuple(effect for effect in CAMERA_EFFECTS if effect != "auto")
NOISELESS_EFFECTS = tuple(effect for effect in NOISY_EFFECTS if effect != "noise")
"""Effects with and without noise; exposures are given, not chosen again."""


@dataclass(frozen=True)
class PictureScene:
    """Where pictures were taken: all that rendering needs but the parameters of robot and camera."""

    description: PicturesFile
    robot: str
    """The twin's robot."""
    type: str
    lights: tuple[Light, ...] | None
    """Lights that replace the field's own."""
    size: tuple[int, int]
    """Width and height of the pictures, pixels."""

    @property
    def camera(self) -> str:
        """The camera's name in the scene."""
        return f"{TWIN_ROBOT}/{self.description.camera}"


class Drawing(NamedTuple):
    """The views of a scene as a pinhole camera sees them."""

    pictures: Bytes
    """(views, height, width, 3), larger than the camera's."""
    velocities: Floats
    """Angular velocity of the camera in its own frame, (views, 3) [rad/s]."""

    def middle(self, size: tuple[int, int]) -> Bytes:
        """The part (views, *size, 3) in the middle that a pinhole of the same focal length and less width sees."""
        height, width = self.pictures.shape[1:3]
        top, left = (height - size[1]) // 2, (width - size[0]) // 2
        return self.pictures[:, top : top + size[1], left : left + size[0]]


@dataclass(frozen=True, kw_only=True, eq=False)
class PictureSet:
    """The pictures of one folder."""

    source: str
    """Name of the folder."""
    place: PictureScene
    real: Behaviour
    """The real pictures: blocks of pixels of all views, (rows, columns)."""
    block: int
    """Pixels on each side that are compared as one."""
    conditions: tuple[Adjustment, ...] = ()
    """The conditions under which these pictures were taken."""
    commanded: Mapping[str, Floats] = field(default_factory=dict)
    """Nothing was commanded."""

    @property
    def name(self) -> str:
        """Its name in reports."""
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
        camera = adjusted_cameras(load_robot(self.place.robot), ordered)[self.place.description.camera]
        body = tuple(a for a in ordered if parse_target(a.target).family == "robot")  # nothing else shows in a picture
        counts = [len(view.files) for view in self.place.description.view]
        clean = take_pictures(self.place, camera, body, [1] * len(counts), effects=NOISELESS_EFFECTS)
        seen = np.concatenate([block_statistics(one, self.block) for one in clean])[:, : len(self.real.columns)]
        if max(counts) > 1:
            noisy = take_pictures(self.place, camera, body, counts, effects=NOISY_EFFECTS)
            seen[:, len(COLOUR_CHANNELS) :] = np.concatenate([block_statistics(one, self.block) for one in noisy])[
                :, len(COLOUR_CHANNELS) :
            ]
        return seen


def take_pictures(
    place: PictureScene,
    camera: CameraSettings,
    body: tuple[Adjustment, ...],
    counts: list[int],
    *,
    effects: tuple[str, ...],
    seed: int = NOISE_SEED,
) -> list[Bytes]:
    """The pictures that a camera takes of each view, (count, height, width, 3) each."""
    scene = _scene(place, body)
    fov = math.radians(float(scene.model.camera(place.camera).fovy[0]))
    lens = CameraEffects(camera, size=place.size, fov=fov, effects=effects)
    (width, height), out = lens.drawn_size, []
    drawing = _drawing(place, body, (_rounded(width, place.size[0]), _rounded(height, place.size[1])))
    drawn = drawing.middle((width, height))
    for number, (view, count) in enumerate(zip(place.description.view, counts, strict=True)):
        exposure = _exposure(view, camera)
        light = lens.gather(drawn[number : number + 1], drawing.velocities[number : number + 1], exposure)
        repeated = np.broadcast_to(light, (count, *light.shape[1:]))
        out.append(lens.sense(repeated, np.random.default_rng([seed, number]), exposure))
    return out


def block_statistics(pictures: Bytes, size: int) -> Floats:
    """Means and deviations of blocks of pictures of the same (count, height, width, 3), as rows (blocks, columns)."""
    count = len(pictures)
    height, width = (length // size * size for length in pictures.shape[1:3])
    parts = pictures[:, :height, :width].reshape(count, height // size, size, width // size, size, 3).astype(float)
    means = parts.mean(axis=(0, 2, 4))
    noise = np.full_like(means, np.nan)
    if count > 1:
        variance = parts.var(axis=0, ddof=1).mean(axis=(1, 3))
        high, wide = (min(NOISE_SQUARE, length) for length in variance.shape[:2])
        rows, columns = variance.shape[0] // high, variance.shape[1] // wide
        squares = variance[: rows * high, : columns * wide].reshape(rows, high, columns, wide, 3).mean(axis=(1, 3))
        noise[: rows * high : high, : columns * wide : wide] = np.sqrt(squares)
    return np.concatenate([means, noise], axis=-1).reshape(-1, len(PICTURE_COLUMNS))


def read_picture_set(
    folder: Path, twin: Twin, *, block: int, name: str = "", conditions: tuple[Adjustment, ...] = ()
) -> PictureSet:
    """The pictures in a folder as a recording of a twin's camera."""
    description, images = read_pictures(folder)
    robot = twin.table.settings
    if description.robot != robot.name:
        raise RecordingError(
            f"{folder / PICTURES_FILE}: these are pictures of a {description.robot}, but {robot.name} is identified."
        )
    cameras = load_cameras(robot)
    if description.camera not in cameras:
        raise UnknownNameError(
            f"camera of {robot.name}", description.camera, cameras, where=str(folder / PICTURES_FILE)
        )
    for joint in (joint for view in description.view for joint in view.angles):
        if joint not in twin.table.joints:
            raise UnknownNameError(
                f"joint of {robot.name}", joint, twin.table.joints, where=str(folder / PICTURES_FILE)
            )
    height, width = images[0].shape[1:3]
    if min(height, width) < block:
        raise FileError(folder, f"has pictures of {width} x {height}, smaller than a block of {block} pixels.")
    lights = lights_on(load_field(description.field), description.lights, folder)
    place = PictureScene(description, twin.settings.robot, twin.settings.type, lights, (width, height))
    columns = PICTURE_COLUMNS if any(len(of_one) > 1 for of_one in images) else PICTURE_COLUMNS[: len(COLOUR_CHANNELS)]
    series = np.concatenate([block_statistics(of_one, block) for of_one in images])[:, : len(columns)]
    real = Behaviour(columns=columns, units=(PIXEL_UNIT,) * len(columns), series=series, source=name or folder.name)
    return PictureSet(source=name or folder.name, place=place, real=real, block=block, conditions=conditions)


def _view_state(scene: Scene, view: View) -> tuple[Floats, Floats]:
    """Generalised positions and velocities of a view."""
    qpos, qvel, table = scene.start.copy(), np.zeros(scene.model.nv), scene.robot(TWIN_ROBOT)
    if table.root >= 0:
        root = qpos[table.root : table.root + 7]
        standing = (*view.pos, root[2], *quaternion_product(yaw_quaternion(view.heading), root[3:].tolist()))
        root[:] = view.place or standing
        qvel[table.root_rate + 5] = view.turn
    for joint, angle in view.angles.items():
        qpos[table.angles[table.joints.index(joint)]] = angle
    if view.ball is not None and scene.has_ball:
        ball = int(scene.model.joint("ball/root").qposadr[0])
        qpos[ball : ball + 2] = view.ball
    return qpos, qvel


def _exposure(view: View, camera: CameraSettings) -> Exposure | None:
    """The exposure and gain that a view states; None if it states neither."""
    if view.exposure is None and view.gain is None:
        return None
    return Exposure(
        np.array([camera.exposure if view.exposure is None else view.exposure]),
        np.array([camera.gain if view.gain is None else view.gain]),
    )


def _rounded(drawn: int, own: int) -> int:
    """A length to draw of which a lens may see less; the middle stays where it is."""
    return own + math.ceil((drawn - own) / DRAWING_STEP) * DRAWING_STEP


@lru_cache(maxsize=DRAWINGS_KEPT)
def _scene(place: PictureScene, body: tuple[Adjustment, ...]) -> Scene:
    description = place.description
    mine = Placement(robot=place.robot, name=TWIN_ROBOT, type=place.type, pose=description.pose, adjustments=body)
    others = (
        Placement(robot=b.robot, name=f"bystander{k}", pos=b.pos, heading=b.heading, pose=b.pose, team=b.team)
        for k, b in enumerate(description.bystander)
    )
    return assemble(SceneSettings(field=description.field, robots=(mine, *others)))


@lru_cache(maxsize=DRAWINGS_KEPT)
def _drawing(place: PictureScene, body: tuple[Adjustment, ...], size: tuple[int, int]) -> Drawing:
    """All views at a size, with the camera's focal length; the graphics are given back at once, for other threads."""
    scene = _scene(place, body)
    number, fov = scene.model.camera(place.camera).id, math.radians(float(scene.model.camera(place.camera).fovy[0]))
    wide = 2 * math.atan(math.tan(fov / 2) * size[1] / place.size[1])
    pictures, velocities = [], []
    quality = Quality(shadows=place.description.shadows, samples=4)
    with SceneRenderer(scene.model, size, quality=quality, lights=place.lights) as renderer:
        for view in place.description.view:
            qpos, qvel = _view_state(scene, view)
            renderer.pose(qpos)
            pictures.append(renderer.draw(number, size, wide))
            velocities.append(renderer.angular_velocity(number, qvel))
    return Drawing(np.stack(pictures), np.stack(velocities))
