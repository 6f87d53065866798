"""Recordings for Foxglove and rerun: every row, the events, and bodies where MuJoCo has them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pyarrow.parquet as pq
import pytest

from nutmeg.base.errors import MissingExtraError
from nutmeg.cli import main
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.recording import Channel, Manifest, Recording, RecordingWriter
from nutmeg.sim.trace import TraceWriter
from nutmeg.sim.worlds import Worlds
from nutmeg.view.files.logs import write_mcap, write_rrd

needs_mcap = pytest.mark.skipif(importlib.util.find_spec("mcap") is None, reason="the extra mcap is not installed")
needs_rerun = pytest.mark.skipif(importlib.util.find_spec("rerun") is None, reason="the extra rerun is not installed")


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A robot that falls over for a second."""
    path = tmp_path_factory.mktemp("logs") / "fall.nutmeg"
    worlds = Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(Placement(robot="ant", name="a"),))))
    with TraceWriter(path, worlds, seed=1) as trace:
        for step in range(50):
            worlds.robot("a").command[0] = 0.4 * np.sin(0.2 * step)
            worlds.step(5)
            trace.sample(0.02 * (step + 1))
        trace.event(0.5, "push", force=3.0)
    return path


def messages(file: Path) -> dict[str, list[tuple[int, Any, Any]]]:
    """Log times [ns], messages and schemas by topic."""
    from mcap.reader import make_reader

    found: dict[str, list[tuple[int, Any, Any]]] = {}
    with file.open("rb") as stream:
        for schema, channel, message in make_reader(stream).iter_messages():
            content = (message.log_time, json.loads(message.data), json.loads(schema.data))
            found.setdefault(channel.topic, []).append(content)
    return found


@needs_mcap
def test_an_mcap_file_has_every_row_with_its_unit_and_the_events(walked: Path, tmp_path: Path) -> None:
    assert main(["export", str(walked), "-o", str(tmp_path / "fall.mcap"), "--fps", "10"]) == 0
    found, recording = messages(tmp_path / "fall.mcap"), Recording.open(walked)
    labels = recording.channels["a.angles"].labels
    rows = np.array([[message[label] for label in labels] for _, message, _ in found["/a/angles"]])
    assert np.array_equal(rows, recording.read("a.angles"))
    assert [time for time, _, _ in found["/a/angles"]] == [round(t * 1e9) for t in recording.times]
    assert found["/a/angles"][0][2]["properties"][labels[0]]["description"] == "[rad]"
    assert [message["message"] for _, message, _ in found["/events"]] == ["push: force 3.0"]


@needs_mcap
def test_bodies_in_an_mcap_file_are_where_mujoco_has_them(walked: Path, tmp_path: Path) -> None:
    write_mcap(walked, tmp_path / "fall.mcap", fps=10.0)
    found, recording = messages(tmp_path / "fall.mcap"), Recording.open(walked)
    assert recording.scene_xml is not None
    model = mujoco.MjModel.from_xml_string(recording.scene_xml)
    data = mujoco.MjData(model)
    data.qpos[:7] = recording.read("a.pose")[0]
    data.qpos[7:] = recording.read("a.angles")[0]
    mujoco.mj_kinematics(model, data)
    transforms = {t["child_frame_id"]: t for t in found["/tf"][0][1]["transforms"]}
    foot = max(range(model.nbody), key=lambda body: len(chain(transforms, model.body(body).name)))
    assert len(chain(transforms, model.body(foot).name)) > 2
    assert composed(chain(transforms, model.body(foot).name)) == pytest.approx(data.xpos[foot], abs=1e-6)
    frames = {entity["frame_id"] for entity in found["/scene"][0][1]["entities"]}
    assert frames <= {"world", *transforms}
    assert len(found["/tf"]) == 10


def chain(transforms: dict[str, Any], frame: str) -> list[Any]:
    """The transforms from the world to a frame."""
    out: list[Any] = []
    while frame in transforms:
        out.insert(0, transforms[frame])
        frame = transforms[frame]["parent_frame_id"]
    return out


def composed(steps: list[Any]) -> np.ndarray:
    place, turn = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    for step in steps:
        moved, turned = np.zeros(3), np.zeros(4)
        mujoco.mju_rotVecQuat(moved, np.array([step["translation"][axis] for axis in "xyz"]), turn)
        mujoco.mju_mulQuat(turned, turn, np.array([step["rotation"][axis] for axis in "wxyz"]))
        place, turn = place + moved, turned
    return place


@needs_mcap
def test_missing_numbers_are_null_and_a_log_without_a_scene_is_written_too(tmp_path: Path) -> None:
    channel = Channel(name="arm.torque", labels=("elbow",), unit="N m")
    with RecordingWriter.create(tmp_path / "a.nutmeg", Manifest(kind="log", seed=0, channels=(channel,))) as writer:
        writer.append_many([0.0, 0.1], [[1.5], [np.nan]])
    assert write_mcap(tmp_path / "a.nutmeg", tmp_path / "a.mcap", fps=10.0) == 2
    found = messages(tmp_path / "a.mcap")
    assert list(found) == ["/arm/torque"]
    assert [message["elbow"] for _, message, _ in found["/arm/torque"]] == [1.5, None]


@needs_rerun
def test_a_rerun_file_is_written_whole(walked: Path, tmp_path: Path) -> None:
    assert write_rrd(walked, tmp_path / "fall.rrd", fps=10.0) == 50
    assert (tmp_path / "fall.rrd").read_bytes()[:3] == b"RRF"
    assert (tmp_path / "fall.rrd").stat().st_size > 100_000


@pytest.mark.parametrize(("ending", "extra"), [("mcap", "mcap"), ("rrd", "rerun")])
def test_an_export_without_its_extra_names_it(
    ending: str, extra: str, walked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mcap.writer" if extra == "mcap" else "rerun", None)
    write = write_mcap if ending == "mcap" else write_rrd
    with pytest.raises(MissingExtraError, match=rf"nutmeg-sim\[{extra}\]"):
        write(walked, tmp_path / f"a.{ending}", fps=10.0)
    assert not list(tmp_path.iterdir())


def test_the_columns_of_a_chunk_have_their_units(walked: Path) -> None:
    units = json.loads(pq.read_schema(walked / "series-00000.parquet").metadata[b"units"])
    assert units["time"] == "s"
    assert units["a.pose.x"] == "m"
    assert {unit for column, unit in units.items() if column.startswith("a.angles.")} == {"rad"}
