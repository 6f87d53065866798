"""The pictures of robots' cameras in a recorded match as files, with the ground truth and labels for detectors.

    count = write_cameras(Path("match.nutmeg"), Path("cameras"), FramePlan(rate=2.0))
    plan = FramePlan(moments=500, seed=1, labels=True, robot="nao-v6", lights="hall")
    count = write_cameras(Path("match.nutmeg"), Path("frames"), plan)

The folder gets numbered pictures of each camera, `left3-top/000000.png`, or one video of each, `left3-top.mp4`; and
`frames.csv`, which has a line for every picture (see `_README_TEXT`, which is written beside it). With `labels`, each
camera also has a folder of masks, `left3-top-labels/000000.png`, whose pixels are labels (`match.drawing`), and
`labels.json` has the boxes and masks of all objects in COCO's format for detection, which most detectors read.

Pictures of the behavioural world are those of its own `Cameras`. All other recordings are drawn as they are filmed: the
recorded scene in the recorded pose, through the cameras of its robots, or through those of another `robot`, which all
of them then carry at the same place from the joint of the head. Lens and sensor of that robot have their effects, with
a rolling shutter by the recorded motion. Random numbers depend on the seed, the row and the camera alone.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol

import mujoco
import numpy as np
from PIL import Image

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.base.errors import FileError, UsageError, writing
from nutmeg.base.interrupts import Closing
from nutmeg.base.journal import draft
from nutmeg.base.settings import Bounded, above, at_least
from nutmeg.match.drawing import BALL_LABEL, FIRST_ROBOT_LABEL, GOAL_LABELS, LINE_LABEL, geom_labels
from nutmeg.match.rules.slots import SLOT_NAMES
from nutmeg.match.worlds.behavioural.camera_geometry import CAMERA_NAMES, camera_pose
from nutmeg.match.worlds.behavioural.cameras import Cameras
from nutmeg.match.worlds.behavioural.figures import RecordedMatch, is_behavioural
from nutmeg.model.field import OWN_LIGHTS, lights_on, load_field
from nutmeg.model.geometry import camera_quaternion, euler_quaternion
from nutmeg.model.robot import load_robot
from nutmeg.model.sensors import CAMERA_EFFECTS, CameraSettings, load_cameras
from nutmeg.recording import Recording
from nutmeg.sim.cameras.effects import CameraEffects
from nutmeg.sim.cameras.renderer import Quality, SceneRenderer
from nutmeg.sim.cameras.robot_camera import camera_size
from nutmeg.view.files.video import encoder
from nutmeg.view.stage.cameras import robot_cameras, root_body, thing_position
from nutmeg.view.stage.film import UNDERGROUND, Film

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Bytes, Floats, Ints

    Take = Callable[[Bytes], None]
    """Saves one picture after the other."""

_TRUTH_COLUMNS = ("x", "y", "heading", "yaw", "pitch", "upright", "ball_x", "ball_y")
_CAMERA_COLUMNS = ("camera_x", "camera_y", "camera_z", "camera_qw", "camera_qx", "camera_qy", "camera_qz")
_LENS_COLUMNS = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")
_README_TEXT = """Pictures of the cameras of robots in a match, {how}.

Each camera has {form}. Robots are called by the side that they began on, and their number.
frames.csv has a line for every picture: robot, camera and frame; time in the recording (s); where the robot truly
stood: x, y (m) and heading (rad, 0 looks along +x); where its head looked: yaw to the left and pitch upwards (rad);
whether it was on its feet; and where the ball was (m). camera_x, camera_y, camera_z (m) and the quaternion camera_qw,
camera_qx, camera_qy, camera_qz say where the camera was: its own axes are to the right, down and forward, as in OpenCV,
and the quaternion turns them into those of the pitch, whose origin is its centre and whose z axis is up. fx, fy, cx,
cy, k1, k2, p1, p2, k3 are OpenCV's camera matrix and distortion (pixels; the middle of the first pixel is 0, 0).
"""
_LABELS_TEXT = """
The folders *-labels have a mask of each picture: 1 ball, 2 and 3 the posts and crossbars of the left and of the right
goal, 4 lines, 10 and more robots. labels.json has the same in COCO's format for detection: images, categories (ball,
goal, robot, lines), and annotations with bbox, area, segmentation (run lengths) and the name of the object. Lines are
one annotation with iscrowd = 1 in each picture. Boxes are around what is visible of an object.
"""
_CATEGORIES = {1: "ball", 2: "goal", 3: "robot", 4: "lines"}
_MAX_TURN_SPEED = 30.0  # a camera that turns faster was put somewhere else [rad/s]
_UPRIGHT = math.cos(math.radians(45.0))  # least cosine of the lean of a robot that is on its feet


@dataclass(frozen=True, kw_only=True)
class FramePlan(Bounded):
    """Which pictures of a recording are written, and how they are taken."""

    rate: Annotated[float, above(0, "Hz")] = 2.0
    """Pictures of each camera per second, if `moments` is 0."""
    moments: Annotated[int, at_least(0)] = 0
    """Number of randomly chosen moments, each of one robot; 0 takes all robots `rate` times a second."""
    seed: Annotated[int, at_least(0)] = 0
    """Seed of this choice and of the noise."""
    form: Literal["png", "mp4"] = "png"
    """Numbered files, or a video of each camera."""
    labels: bool = False
    """Whether to write masks and boxes of the visible objects, too."""
    robot: str = ""
    """Robot of the catalogue whose cameras the players carry; empty for their own cameras, which in the behavioural
    world are those of the match's eyes."""
    effects: tuple[str, ...] = CAMERA_EFFECTS
    """Effects of lens and sensor to apply; in the behavioural world the eyes say."""
    lights: str = OWN_LIGHTS
    """Name or file of the lights; `field` for those of the recorded scene."""
    shadows: bool = False
    """Whether lights cast shadows, which takes several times as long."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form == "mp4" and (self.labels or self.moments):
            raise UsageError(
                "a video has neither labels nor single moments; write numbered PNG files, or leave them out."
            )


def write_cameras(
    path: Path,
    folder: Path,
    plan: FramePlan | None = None,
    *,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Writes pictures of a recording's cameras into a folder, whole or not at all; returns their number.

    Args:
        path: the recording.
        folder: the output folder; it must not have files yet.
        plan: which pictures, and how they are taken.
        on_progress: called with the pictures done and their total.
    """
    plan, recording = plan or FramePlan(), Recording.open(path)
    if not len(recording.times):
        raise UsageError(f"{path}: the recording has no rows yet, so there is nothing to draw.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(folder, "is not an empty folder; write the cameras' pictures elsewhere.")
    own = is_behavioural(recording) and not plan.robot
    if own and (plan.lights != OWN_LIGHTS or plan.shadows or plan.effects != CAMERA_EFFECTS):
        raise UsageError(
            f"{path}: players of the behavioural world see with the lights, the lens and the sensor of their eyes. "
            "Name the robot whose cameras they shall carry, for instance nao-v6, to choose others."
        )
    with _EyesSource(recording) if own else _SceneSource(recording, plan) as source:
        chosen = _chosen_rows(source, recording.times, plan)
        total = sum(len(rows) * len(source.cameras[robot]) for robot, rows in chosen.items())
        if not total:
            raise UsageError(f"{path}: no robot with a camera is on the pitch, so there is nothing to draw.")
        with writing(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with draft(folder) as temporary:  # pictures without their table and labels would be of no use
                temporary.mkdir()
                _write_pictures(source, chosen, recording.times, temporary, plan, lambda done: on_progress(done, total))
    return total


def _write_pictures(
    source: _Source,
    chosen: Mapping[str, Sequence[int]],
    times: Floats,
    folder: Path,
    plan: FramePlan,
    on_picture: Callable[[int], None],
) -> None:
    """Writes the pictures of the chosen rows of each robot, the table of the truth, the labels and the README."""
    done, labels = 0, _Labels(folder) if plan.labels else None
    with (folder / "frames.csv").open("w", encoding="utf-8", newline="") as table:
        lines = csv.writer(table)
        lines.writerow(("robot", "camera", "frame", "time", *_TRUTH_COLUMNS, *_CAMERA_COLUMNS, *_LENS_COLUMNS))
        for robot, rows in chosen.items():
            with _takers(folder, robot, source.cameras[robot], plan) as takers:
                for frame, row in enumerate(rows):
                    truth, shots = source.shoot(robot, row, labels=plan.labels)
                    for camera, shot, take in zip(source.cameras[robot], shots, takers, strict=True):
                        take(shot.picture)
                        numbers = (times[row], *truth, *shot.place, *shot.turn, *camera.lens)
                        lines.writerow((robot, camera.name, frame, *(f"{number:.7g}" for number in numbers)))
                        if labels is not None and shot.mask is not None:
                            labels.take((robot, camera.name, frame), shot.mask, source.names(row))
                    done += len(shots)
                    on_picture(done)
    if labels is not None:
        labels.close()
    moments = sum(map(len, chosen.values()))  # the recording may have fewer than were asked for
    how = f"{moments} moments chosen with seed {plan.seed}" if plan.moments else f"{plan.rate:g} a second"
    text = _README_TEXT.format(how=how, form="a folder of numbered pictures" if plan.form == "png" else "a video")
    (folder / "README.txt").write_text(text + (_LABELS_TEXT if plan.labels else ""), encoding="utf-8")


def rows_at(times: Floats, rate: float) -> Ints:
    """The rows to draw for a rate of pictures per second: the newest row at each moment."""
    if not len(times):
        return np.zeros(0, np.int64)
    moments = np.arange(times[0], times[-1] + 1e-6, 1.0 / rate)
    return np.searchsorted(times, moments + 1e-6, side="right") - 1


def _chosen_rows(source: _Source, times: Floats, plan: FramePlan) -> dict[str, list[int]]:
    """The rows of the recording to draw for each robot, in order."""
    robots = [robot for robot in source.cameras if source.cameras[robot]]
    if not plan.moments:
        # Picture k of all robots is of the same time, so only robots that never play have none.
        rows = rows_at(times, plan.rate).tolist()
        return {robot: rows for robot in robots if any(source.plays(robot, row) for row in rows)}
    # A robot that does not play at a moment that was drawn is passed over, so that every chosen moment has a picture.
    chosen: dict[str, list[int]] = {robot: [] for robot in robots}
    pairs = np.random.default_rng(plan.seed).permutation(len(robots) * len(times)).tolist()
    playing = ((robots[pair % len(robots)], pair // len(robots)) for pair in pairs)
    for robot, row in itertools.islice((one for one in playing if source.plays(*one)), plan.moments):
        chosen[robot].append(row)
    return {robot: sorted(rows) for robot, rows in chosen.items() if rows}


# ---- where pictures come from


class _Camera(NamedTuple):
    """A camera of a robot."""

    name: str
    size: tuple[int, int]
    """Width and height of its pictures, pixels."""
    lens: tuple[float, ...]
    """OpenCV's fx, fy, cx, cy, k1, k2, p1, p2, k3."""


class _Shot(NamedTuple):
    """A picture."""

    picture: Bytes
    mask: Bytes | None
    """(height, width) labels, if they were asked for."""
    place: Floats
    """(3,) where the camera is, m."""
    turn: Floats
    """(4,) quaternion of its axes: to the right, down, forward."""


class _Source(Protocol):
    """The cameras of the robots of a recording."""

    cameras: dict[str, tuple[_Camera, ...]]
    """Of each robot."""

    def plays(self, robot: str, row: int) -> bool:
        """Whether a robot is on the pitch in a row of the recording."""

    def names(self, row: int) -> Sequence[str]:
        """Names of robots in the order of their labels."""

    def shoot(self, robot: str, row: int, *, labels: bool) -> tuple[Floats, list[_Shot]]:
        """The numbers of `_TRUTH_COLUMNS`, and a picture of each camera of a robot."""


class _EyesSource(Closing):
    """The two cameras of each player of the behavioural world; those of a robot that lies are black."""

    def __init__(self, recording: Recording) -> None:
        self._match = match = RecordedMatch(recording)
        self._cameras = Cameras(match.eyes, match.field, match.ball)
        eyes = match.eyes.cameras
        size = eyes.width, eyes.height
        lens = _lens_numbers(match.eyes.lens or CameraSettings(), size, eyes.focal)
        self.cameras = dict.fromkeys(match.robots, tuple(_Camera(name, size, lens) for name in CAMERA_NAMES))

    def plays(self, robot: str, row: int) -> bool:
        """Whether a robot is on its feet."""
        state, slot = self._match.state(row), self._match.slot(robot, row)
        return bool(state.present[0, slot] and not state.posture[0, slot])

    def names(self, row: int) -> Sequence[str]:
        """Robots by the slot that they have in a row."""
        return sorted(SLOT_NAMES, key=lambda robot: self._match.slot(robot, row))

    def shoot(self, robot: str, row: int, *, labels: bool) -> tuple[Floats, list[_Shot]]:
        """A picture of each camera."""
        state, slot = self._match.state(row), self._match.slot(robot, row)
        pose, head = state.pose[0, slot], state.head[0, slot]
        upright = bool(state.present[0, slot] and not state.posture[0, slot])
        shots = []
        pictures = self._cameras.draw(state, 0, [slot])[0]
        masks = self._cameras.label(state, 0, [slot])[0] if labels else [None] * len(pictures)
        for name, picture, mask in zip(CAMERA_NAMES, pictures, masks, strict=True):
            place, axes = camera_pose(self._match.eyes.cameras, name, pose=pose, head=head)
            shots.append(_Shot(picture, mask, place, _quaternion(axes)))
        return np.array([*pose, *head, upright, *state.ball[0]]), shots

    def close(self) -> None:
        """Gives the renderer back."""
        self._cameras.close()


class _SceneSource(Closing):
    """The cameras of all robots in a recorded scene; a robot does not see its own head."""

    def __init__(self, recording: Recording, plan: FramePlan) -> None:
        self._film, self._plan = Film(recording, recording.path.name), plan
        if not self._film.robots:
            raise UsageError(f"{recording.path}: this recording shows no robots, so there are no pictures of cameras.")
        model = self._film.model
        settings: dict[str, CameraSettings] = {}
        if plan.robot:
            model, settings = _with_cameras_of(plan.robot, recording, self._film)
        self._model = model
        self.cameras: dict[str, tuple[_Camera, ...]] = {}
        self._numbers: dict[tuple[str, str], tuple[int, CameraEffects]] = {}
        for robot in self._film.robots:
            found = []
            for name in robot_cameras(model, robot):
                camera, number = name.removeprefix(f"{robot}/"), int(model.camera(name).id)
                if plan.robot and camera not in settings:
                    continue
                size, fov = camera_size(model, name), math.radians(float(model.cam_fovy[number]))
                lens = settings.get(camera)
                wanted = () if lens is None else plan.effects
                effects = CameraEffects(lens or CameraSettings(), size=size, fov=fov, effects=wanted)
                self._numbers[robot, camera] = number, effects
                bent = lens if lens is not None and "lens" in wanted else CameraSettings()
                found.append(_Camera(camera, size, _lens_numbers(bent, size, effects.lens.focal)))
            self.cameras[robot] = tuple(found)
        players = set(self._film.robots) <= set(SLOT_NAMES)
        self._names: Sequence[str] = SLOT_NAMES if players else self._film.robots
        self._labels = geom_labels(model, self._names)
        lights = lights_on(load_field(str(recording.manifest.config.get("field", "none"))), plan.lights)
        self._renderer = SceneRenderer(model, (640, 480), quality=Quality(shadows=plan.shadows), lights=lights)
        drawn = self._renderer.model
        self._clear = np.flatnonzero(drawn.geom_rgba[:, 3] < 1.0)  # nets, behind which things are seen

    def plays(self, robot: str, row: int) -> bool:
        """Whether a robot is above the ground."""
        channel = f"{robot}.pose"
        if channel not in self._film.recording.channels:
            return True
        return bool(self._film.recording.read(channel, row, row + 1)[0][2] > UNDERGROUND)

    def names(self, row: int) -> Sequence[str]:  # noqa: ARG002 (labels go by the names with which robots began)
        """Robots by their labels."""
        return self._names

    def shoot(self, robot: str, row: int, *, labels: bool) -> tuple[Floats, list[_Shot]]:
        """A picture of each camera."""
        renderer, times = self._renderer, self._film.times
        qpos, qvel = self._film.qpos_at(float(times[row])), np.zeros(self._model.nv)
        if row:
            before = self._film.qpos_at(float(times[row - 1]))
            mujoco.mj_differentiatePos(self._model, qvel, float(times[row] - times[row - 1]), before, qpos)
        renderer.pose(qpos)
        shots = []
        for place, camera in enumerate(self.cameras[robot]):
            number, effects = self._numbers[robot, camera.name]
            velocity = renderer.angular_velocity(number, qvel)
            if np.linalg.norm(velocity) > _MAX_TURN_SPEED:
                velocity = np.zeros(3)
            rng = np.random.default_rng([self._plan.seed, row, self._names.index(robot), place])
            own = renderer.carrier(number)
            with renderer.hidden(own):
                renderer.update()
            eye = renderer.eye(number, effects.drawn_fov)
            picture = effects.apply(renderer.paint(eye, effects.drawn_size)[None], rng, velocity[None])[0]
            mask = None
            if labels:
                with renderer.hidden(np.union1d(own, self._clear)):
                    renderer.update()
                geoms = renderer.geoms_seen(eye, effects.drawn_size)
                mask = effects.rearrange(self._labels[geoms], velocity)
            ahead, up = np.asarray(eye.forward), np.asarray(eye.up)
            axes = np.stack([np.cross(ahead, up), -up, ahead], axis=1)
            shots.append(_Shot(picture, mask, np.asarray(eye.position), _quaternion(axes)))
        return self._truth(robot), shots

    def _truth(self, robot: str) -> Floats:
        """The numbers of `_TRUTH_COLUMNS` in the present pose."""
        data, root = self._renderer.data, max(root_body(self._model, robot), 0)
        head = int(self._model.cam_bodyid[self._numbers[robot, self.cameras[robot][0].name][0]])
        trunk, looks = data.xmat[root].reshape(3, 3), data.xmat[head].reshape(3, 3)[:, 0]
        heading = math.atan2(trunk[1, 0], trunk[0, 0])
        yaw, pitch = wrap_angle_exactly(math.atan2(looks[1], looks[0]) - heading), math.asin(np.clip(looks[2], -1, 1))
        ball = thing_position(self._model, data, "ball")
        there = (math.nan, math.nan) if ball is None else ball[:2]
        return np.array([*data.xpos[root][:2], heading, yaw, pitch, trunk[2, 2] > _UPRIGHT, *there])

    def close(self) -> None:
        """Gives the renderer back."""
        self._renderer.close()


def _with_cameras_of(robot: str, recording: Recording, film: Film) -> tuple[Any, dict[str, CameraSettings]]:
    """The recorded model with the cameras of another robot on all heads, and lens and sensor of each by its name."""
    settings = load_robot(robot)
    cameras = load_cameras(settings)
    if not cameras:
        raise UsageError(f"{robot} has no camera that the players could carry.")
    spec = mujoco.MjSpec.from_string(recording.scene_xml or "<mujoco/>", assets=dict(recording.meshes()))
    for player in film.robots:
        own = robot_cameras(film.model, player)
        if not own:
            continue
        body = int(film.model.cam_bodyid[film.model.camera(own[0]).id])
        head, joint = spec.body(film.model.body(body).name), int(film.model.body_jntadr[body])
        neck = film.model.jnt_pos[joint] if joint >= 0 else np.zeros(3)
        for camera in own:
            spec.delete(spec.camera(camera))
        for sensor in settings.sensor:
            if sensor.type == "camera":
                turn = camera_quaternion(euler_quaternion([float(angle) for angle in sensor.euler]))
                place = neck + np.array([float(number) for number in sensor.pos])
                new = head.add_camera(name=f"{player}/{sensor.name}", pos=place, quat=turn)
                new.fovy, new.resolution = math.degrees(sensor.fov[1]), list(sensor.pixels)
    return spec.compile(), cameras


def _lens_numbers(lens: CameraSettings, size: tuple[int, int], focal: float) -> tuple[float, ...]:
    """OpenCV's fx, fy, cx, cy, k1, k2, p1, p2, k3."""
    middle = [
        (length - 1) / 2 + share * size[0] for length, share in zip(size, (lens.centre_x, lens.centre_y), strict=True)
    ]
    return focal, focal, *middle, lens.k1, lens.k2, lens.p1, lens.p2, lens.k3


def _quaternion(axes: Floats) -> Floats:
    """The quaternion of a rotation matrix."""
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, np.ascontiguousarray(axes, np.float64).ravel())
    return found


# ---- files


class _Labels:
    """Writes masks into a folder, and labels.json at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._images: list[dict[str, Any]] = []
        self._annotations: list[dict[str, Any]] = []

    def take(self, picture: tuple[str, str, int], mask: Bytes, names: Sequence[str]) -> None:
        """Writes the mask (height, width) of a picture (robot, camera, frame); `names` are robots by their labels."""
        robot, camera, frame = picture
        place = self._folder / f"{robot}-{camera}-labels"
        place.mkdir(exist_ok=True)
        _save_numbered(place, iter([frame]), mask)
        image, (height, width) = len(self._images) + 1, mask.shape
        name = f"{robot}-{camera}/{frame:06d}.png"
        about = {"id": image, "file_name": name, "width": width, "height": height}
        self._images.append({**about, "robot": robot, "camera": camera, "frame": frame})
        for label in np.unique(mask[mask > 0]).tolist():
            category, title = _named(label, names)
            shown = mask == label
            y, x = np.nonzero(shown)
            left, top = int(x.min()), int(y.min())
            self._annotations.append(
                {
                    "id": len(self._annotations) + 1,
                    "image_id": image,
                    "category_id": category,
                    "name": title,
                    "label": label,
                    "bbox": [left, top, int(x.max()) + 1 - left, int(y.max()) + 1 - top],
                    "area": len(x),
                    "iscrowd": int(label == LINE_LABEL),
                    "segmentation": {"size": [height, width], "counts": run_lengths(shown)},
                }
            )

    def close(self) -> None:
        """Writes labels.json."""
        categories = [{"id": number, "name": name} for number, name in _CATEGORIES.items()]
        table = {"images": self._images, "annotations": self._annotations, "categories": categories}
        (self._folder / "labels.json").write_text(json.dumps(table), encoding="utf-8")


def _named(label: int, names: Sequence[str]) -> tuple[int, str]:
    """Category and name of what has a label."""
    if label >= FIRST_ROBOT_LABEL:
        return 3, names[label - FIRST_ROBOT_LABEL]
    known = {BALL_LABEL: (1, "ball"), LINE_LABEL: (4, "lines")}
    known |= {goal: (2, f"{side} goal") for goal, side in zip(GOAL_LABELS, ("left", "right"), strict=True)}
    return known[label]


def run_lengths(shown: Any) -> list[int]:  # noqa: ANN401 (a Boolean array (height, width))
    """COCO's run lengths of a mask: column by column, how many pixels are off, on, off, and so on."""
    flat = np.asarray(shown).ravel(order="F")
    ends = np.flatnonzero(flat != np.concatenate([[False], flat[:-1]]))
    return [int(length) for length in np.diff([0, *ends, flat.size])]


@contextlib.contextmanager
def _takers(folder: Path, robot: str, cameras: Sequence[_Camera], plan: FramePlan) -> Iterator[list[Take]]:
    """The functions that save the pictures of the cameras of a robot."""
    with contextlib.ExitStack() as stack:
        takers: list[Take] = []
        for camera in cameras:
            name = f"{robot}-{camera.name}"
            if plan.form == "mp4":
                out = folder / f"{name}.mp4"
                takers.append(stack.enter_context(encoder(out, out, camera.size, plan.rate)))
            else:
                (folder / name).mkdir()
                takers.append(partial(_save_numbered, folder / name, itertools.count()))
        yield takers


def _save_numbered(folder: Path, numbers: Iterator[int], picture: Bytes) -> None:
    """Save a picture under the next number."""
    Image.fromarray(picture).save(folder / f"{next(numbers):06d}.png", compress_level=1)
