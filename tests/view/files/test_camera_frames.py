"""Pictures of a recorded match with their truth: an outside reader finds everything where the files say it is."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from PIL import Image

from nutmeg.base.errors import FileError, NutmegError, UsageError
from nutmeg.match.drawing import Kind, match_scene
from nutmeg.match.rules.slots import Side, slot_of
from nutmeg.model.field import Light, lights_on, load_field, load_lights
from nutmeg.model.scene import assemble
from nutmeg.model.sensors import CameraSettings
from nutmeg.recording import Channel, Manifest, RecordingWriter
from nutmeg.sim.cameras.lens import distort
from nutmeg.sim.trace import POSE_LABELS
from nutmeg.view.files.camera_frames import FramePlan, run_lengths, write_cameras

pytestmark = pytest.mark.usefixtures("renderer")

ROWS, RADIUS = 12, 0.042
PLAN = FramePlan(moments=6, seed=3, labels=True, robot="nao-v6", effects=("lens", "shutter", "noise"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _record(tmp_path_factory.mktemp("recorded") / "match.nutmeg")


def _record(path: Path, height_of_the_first: float = 0.38) -> Path:
    """Two robots of the league that look at a ball between them and turn their heads, 12 rows of 20 ms."""
    kinds = {slot_of(side, 1): Kind("nao-spark", "type0") for side in (Side.LEFT, Side.RIGHT)}
    scene = assemble(match_scene(kinds, field="sim3d", physics="", pose="zero"))
    channels = []
    for robot in scene.robots:
        channels.append(Channel(name=f"{robot.name}.pose", labels=POSE_LABELS, unit="m"))
        channels.append(Channel(name=f"{robot.name}.angles", labels=robot.joints, unit="rad"))
    channels.append(Channel(name="ball.pose", labels=POSE_LABELS, unit="m"))
    manifest = Manifest(kind="match", seed=0, channels=tuple(channels), config={"field": "sim3d"})
    with RecordingWriter.create(path, manifest, scene_xml=scene.xml) as writer:
        for row in range(ROWS):
            ball = [0.25 * np.sin(row), 0.08 * row - 0.5, RADIUS, 1.0, 0.0, 0.0, 0.0]
            values: list[float] = []
            places = (-1.3, 0.0, height_of_the_first, 1.0, 0.0, 0.0, 0.0), (1.3, 0.0, 0.38, 0.0, 0.0, 0.0, 1.0)
            for robot, place in zip(scene.robots, places, strict=True):
                angles = dict.fromkeys(robot.joints, 0.0) | {"hj1": 0.02 * row - 0.1, "hj2": -0.3}
                values += [*place, *angles.values()]
            writer.append(0.02 * row, np.array([*values, *ball]))
    return path


def _read(folder: Path) -> tuple[list[dict[str, str]], dict[str, Any]]:
    with (folder / "frames.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file)), json.loads((folder / "labels.json").read_text(encoding="utf-8"))


def _seen(line: dict[str, str], points: np.ndarray) -> np.ndarray:
    """Pixels (n, 2) of points (n, 3), from nothing but a line of frames.csv, by OpenCV's model of a camera."""
    number = {key: float(value) for key, value in line.items() if key not in ("robot", "camera")}
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, np.array([number[f"camera_q{k}"] for k in "wxyz"]))
    inside = (points - [number[f"camera_{k}"] for k in "xyz"]) @ axes.reshape(3, 3)
    lens = CameraSettings(**{key: number[key] for key in ("k1", "k2", "p1", "p2", "k3")})
    bent = distort(inside[:, :2] / inside[:, 2:], lens)
    pixels: np.ndarray = bent * [number["fx"], number["fy"]] + [number["cx"], number["cy"]]
    return pixels


def _sphere(middle: list[float]) -> np.ndarray:
    ways = np.random.default_rng(0).normal(size=(20000, 3))
    points: np.ndarray = np.array(middle) + RADIUS * ways / np.linalg.norm(ways, axis=1, keepdims=True)
    return points


def test_boxes_of_the_ball_are_where_its_place_and_the_camera_say(recorded: Path, tmp_path: Path) -> None:
    write_cameras(recorded, tmp_path / "frames", PLAN)
    lines, labels = _read(tmp_path / "frames")
    pictures = {(one["robot"], one["camera"], one["frame"]): one["id"] for one in labels["images"]}
    assert len(lines) == len(labels["images"]) == 12
    compared = 0
    for line in lines:
        image = pictures[line["robot"], line["camera"], int(line["frame"])]
        boxes = [a["bbox"] for a in labels["annotations"] if a["image_id"] == image and a["name"] == "ball"]
        pixels = _seen(line, _sphere([float(line["ball_x"]), float(line["ball_y"]), RADIUS]))
        low, high = pixels.min(axis=0), pixels.max(axis=0)
        if (low < 5).any() or (high > [634, 474]).any():
            continue
        ((left, top, width, height),) = boxes
        # The shutter moves rows by the turn of the head, 1 rad/s for at most 15 ms: 9 pixels; within the ball by less.
        assert [width - 1, height - 1] == pytest.approx(high - low, abs=2.5)
        assert top + (height - 1) / 2 == pytest.approx((low[1] + high[1]) / 2, abs=1.5)
        assert left + (width - 1) / 2 == pytest.approx((low[0] + high[0]) / 2, abs=9.5)
        compared += 1
    assert compared >= 4


def test_without_a_turning_head_boxes_agree_within_a_pixel(recorded: Path, tmp_path: Path) -> None:
    write_cameras(recorded, tmp_path / "frames", FramePlan(rate=20.0, labels=True, robot="nao-v6", effects=("lens",)))
    lines, labels = _read(tmp_path / "frames")
    errors = []
    for line, image in zip(lines, labels["images"], strict=True):
        pixels = _seen(line, _sphere([float(line["ball_x"]), float(line["ball_y"]), RADIUS]))
        low, high = pixels.min(axis=0), pixels.max(axis=0)
        boxes = [a["bbox"] for a in labels["annotations"] if a["image_id"] == image["id"] and a["name"] == "ball"]
        if (low > 5).all() and (high < [634, 474]).all():
            ((left, top, width, height),) = boxes
            errors += [left - low[0], top - low[1], left + width - 1 - high[0], top + height - 1 - high[1]]
    assert len(errors) >= 16
    assert np.abs(errors).max() < 1.5


def test_masks_boxes_and_run_lengths_agree(recorded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "frames"
    write_cameras(recorded, folder, PLAN)
    _, labels = _read(folder)
    images = {one["id"]: one for one in labels["images"]}
    kinds = {one["id"]: one["name"] for one in labels["categories"]}
    assert {"ball", "robot", "lines"} <= {kinds[one["category_id"]] for one in labels["annotations"]}
    others = 0
    for one in labels["annotations"]:
        image = images[one["image_id"]]
        place, _, name = image["file_name"].partition("/")
        mask = np.asarray(Image.open(folder / f"{place}-labels" / name)) == one["label"]
        rows, columns = np.nonzero(mask)
        left, top, width, height = one["bbox"]
        assert [left, top] == [columns.min(), rows.min()]
        assert [left + width - 1, top + height - 1] == [columns.max(), rows.max()]
        counts = one["segmentation"]["counts"]
        assert sum(counts) == mask.size
        decoded = np.repeat(np.arange(len(counts)) % 2 == 1, counts).reshape(mask.shape, order="F")
        assert (decoded == mask).all()
        assert one["area"] == mask.sum()
        others += kinds[one["category_id"]] == "robot" and one["name"] != image["robot"]
    assert others, "robots see each other"


def test_the_same_seed_gives_the_same_bytes_and_another_one_other_moments(recorded: Path, tmp_path: Path) -> None:
    def files(name: str, seed: int) -> dict[str, bytes]:
        plan = FramePlan(moments=3, seed=seed, labels=True, robot="nao-v6", effects=PLAN.effects)
        write_cameras(recorded, tmp_path / name, plan)
        found = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        return {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in found}

    first = files("a", 1)
    assert first == files("b", 1)
    assert first["frames.csv"] != files("c", 2)["frames.csv"]


def test_robots_have_their_own_cameras_unless_others_are_named(recorded: Path, tmp_path: Path) -> None:
    assert write_cameras(recorded, tmp_path / "own", FramePlan(rate=5.0)) == 4
    assert np.asarray(Image.open(tmp_path / "own" / "left1-Vision" / "000000.png")).shape == (240, 240, 3)
    with pytest.raises(NutmegError, match="unknown robot"):
        write_cameras(recorded, tmp_path / "other", FramePlan(robot="nao-v9"))
    assert not (tmp_path / "other").exists()


def test_pictures_that_were_interrupted_leave_nothing_and_a_file_is_no_folder(recorded: Path, tmp_path: Path) -> None:
    def interrupt(done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_cameras(recorded, tmp_path / "new" / "frames", FramePlan(rate=20.0), on_progress=interrupt)
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="is not an empty folder"):
        write_cameras(recorded, tmp_path / "file")


def test_a_hall_lights_the_ends_of_a_long_pitch_too(recorded: Path, tmp_path: Path) -> None:
    lamps = lights_on(load_field("sim3d"), "hall")
    assert lamps is not None
    assert max(lamp.pos[0] for lamp in lamps) == pytest.approx(2.2 * 30.0 / 9.0)
    assert lights_on(load_field("spl2025"), "hall") == load_lights("hall").light
    (tmp_path / "mine.toml").write_text("[[light]]\npos = [1.0, 2.0, 3.0]\n")
    assert lights_on(load_field("sim3d"), "mine.toml", tmp_path) == (Light(pos=(1.0, 2.0, 3.0)),)
    write_cameras(recorded, tmp_path / "frames", FramePlan(moments=2, lights="hall"))
    pictures = [np.asarray(Image.open(path)) for path in (tmp_path / "frames").rglob("*.png")]
    assert len(pictures) == 2
    assert min(picture.mean() for picture in pictures) > 60


def test_a_robot_that_never_leaves_its_place_below_the_pitch_has_no_pictures(tmp_path: Path) -> None:
    path = _record(tmp_path / "match.nutmeg", height_of_the_first=-2.0)
    assert write_cameras(path, tmp_path / "frames", FramePlan(rate=5.0)) == 2
    assert sorted(one.name for one in (tmp_path / "frames").iterdir()) == ["README.txt", "frames.csv", "right1-Vision"]
    with pytest.raises(UsageError, match="a video has neither labels"):
        FramePlan(form="mp4", labels=True)


@pytest.mark.parametrize(
    ("rows", "counts"),
    [([[0, 1], [0, 1]], [2, 2]), ([[1, 0], [0, 0]], [0, 1, 3]), ([[0, 0]], [2]), ([[1, 1]], [0, 2])],
)
def test_run_lengths_go_down_the_columns_and_begin_with_what_is_off(rows: list[list[int]], counts: list[int]) -> None:
    assert run_lengths(np.array(rows, bool)) == counts
