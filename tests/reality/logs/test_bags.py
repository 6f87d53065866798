"""Logs of other tools: ROS 2 bags written byte by byte, MCAP files where the package is there, LeRobot data sets."""

from __future__ import annotations

import json
import sqlite3
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nutmeg.base.errors import FileError
from nutmeg.reality.logs.bags import EPISODE_SECONDS, is_bag, open_bag
from nutmeg.recording import CsvChannel, CsvMap, CsvTime

NAMES = ("hip", "knee")


def joint_state(time: float, angles: tuple[float, ...]) -> bytes:
    """A `sensor_msgs/msg/JointState` in CDR, little endian."""
    out = bytearray(struct.pack("<4BiI", 0, 1, 0, 0, int(time), round(1e9 * (time % 1))))

    def align(size: int) -> None:
        out.extend(b"\0" * (-(len(out) - 4) % size))

    def text(word: str) -> None:
        align(4)
        out.extend(struct.pack("<I", len(word) + 1) + word.encode() + b"\0")

    text("base")
    align(4)
    out.extend(struct.pack("<I", len(NAMES)))
    for name in NAMES:
        text(name)
    for values in (angles, (), tuple(2 * one for one in angles)):
        align(4)
        out.extend(struct.pack("<I", len(values)))
        if values:
            align(8)
            out.extend(struct.pack(f"<{len(values)}d", *values))
    return bytes(out)


def bag(path: Path) -> Path:
    with sqlite3.connect(path) as base:
        base.execute("create table topics (id integer, name text, type text, serialization_format text)")
        base.execute("create table messages (id integer, topic_id integer, timestamp integer, data blob)")
        base.execute("insert into topics values (1, '/joint_states', 'sensor_msgs/msg/JointState', 'cdr')")
        base.execute("insert into topics values (2, '/commands', 'std_msgs/msg/Float64MultiArray', 'cdr')")
        base.execute("insert into topics values (3, '/camera', 'sensor_msgs/msg/Image', 'cdr')")
        command = struct.pack("<4BIII2d", 0, 1, 0, 0, 0, 0, 2, 0.5, -0.5)
        command = command[:16] + b"\0" * (-(16 - 4) % 8) + command[16:]
        base.execute("insert into messages values (0, 2, ?, ?)", (5_010_000_000, command))
        base.execute("insert into messages values (1, 3, ?, ?)", (5_011_000_000, b"\0\1\0\0picture"))
        for row in range(5):
            time = 5 + 0.02 * row
            data = joint_state(time, (0.1 * row, -0.1 * row))
            base.execute("insert into messages values (?, 1, ?, ?)", (2 + row, round(1e9 * time), data))
    return path


def test_joints_of_a_ros_bag_have_their_names_and_units(tmp_path: Path) -> None:
    path = bag(tmp_path / "walk_0.db3")
    assert is_bag(path)
    log = open_bag(path)
    assert log.channels["/joint_states.position"].labels == NAMES
    assert log.units["/joint_states.effort.knee"] == "N m"
    assert np.allclose(log.times, 0.02 * np.arange(5))
    assert np.allclose(log.series(["/joint_states.position.hip"])[:, 0], 0.1 * np.arange(5))
    assert np.allclose(log.series(["/joint_states.effort.knee"])[:, 0], -0.2 * np.arange(5))
    held = log.series(["/commands.data.0", "/commands.data.1"])
    assert np.isnan(held[0]).all(), "before the first message"
    assert np.allclose(held[1:], [0.5, -0.5])


def test_a_column_map_names_scales_and_chooses_the_rows(tmp_path: Path) -> None:
    path = bag(tmp_path / "walk_0.db3")
    goal = CsvChannel(name="goal", columns=("/commands.data.1",), labels=("knee",), unit="rad", scale=2.0)
    log = open_bag(path, CsvMap(time=CsvTime(column="/joint_states"), channels=(goal,)))
    assert log.units == {"goal.knee": "rad"}
    assert np.allclose(log.series(["goal.knee"])[1:, 0], -1.0)
    with pytest.raises(FileError, match="has no topic '/joints'"):
        open_bag(path, CsvMap(time=CsvTime(column="/joints"), channels=(goal,)))
    wrong = CsvChannel(name="goal", columns=("/commands.data.7",), labels=("knee",))
    with pytest.raises(FileError, match=r"has no column '/commands.data.7'"):
        open_bag(path, CsvMap(time=CsvTime(column="/joint_states"), channels=(wrong,)))


def test_what_is_no_bag_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.db3").write_bytes(b"nothing of the kind" * 60)
    with pytest.raises(FileError, match="not a ROS 2 bag"):
        open_bag(tmp_path / "a.db3")


def test_an_mcap_file_has_json_and_ros_messages(tmp_path: Path) -> None:
    writer_module: Any = pytest.importorskip("mcap.writer")
    path = tmp_path / "walk.mcap"
    with path.open("wb") as file:
        writer = writer_module.Writer(file)
        writer.start()
        plain = writer.register_channel("/imu", "json", 0)
        text = b"std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort"
        schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", text)
        joints = writer.register_channel("/joint_states", "cdr", schema)
        for row in range(4):
            stamp = 10**9 + 20_000_000 * row
            writer.add_message(plain, stamp, json.dumps({"gyro": [row, 0.0], "ok": True}).encode(), stamp)
            writer.add_message(joints, stamp, joint_state(1.0, (0.1 * row, 0.0)), stamp)
        writer.finish()
    log = open_bag(path)
    assert np.allclose(log.series(["/imu.gyro.0"])[:, 0], np.arange(4))
    assert np.allclose(log.series(["/joint_states.position.hip"])[:, 0], 0.1 * np.arange(4))


def test_episodes_of_a_lerobot_data_set_stand_apart(tmp_path: Path) -> None:
    names = ["shoulder.pos", "elbow.pos"]
    features = {name: {"dtype": "float32", "shape": [2], "names": names} for name in ("action", "observation.state")}
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text(json.dumps({"codebase_version": "v3.0", "features": features}))
    path = tmp_path / "data" / "chunk-000" / "file-000.parquet"
    path.parent.mkdir(parents=True)
    table = {
        "timestamp": [0.0, 0.02, 0.0, 0.02],
        "episode_index": [0, 0, 1, 1],
        "action": [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]],
        "observation.state": [[0.0, 0.0]] * 4,
    }
    pq.write_table(pa.table(table), path)
    assert is_bag(path)
    log = open_bag(path)
    assert log.channels["action"].labels == ("shoulder_pos", "elbow_pos")
    assert np.allclose(log.times, [0, 0.02, EPISODE_SECONDS, EPISODE_SECONDS + 0.02])
    assert np.allclose(log.series(["action.elbow_pos"])[:, 0], [0.2, 0.4, 0.6, 0.8])
    other = tmp_path.parent / "plain.parquet"
    pq.write_table(pa.table({"time": [0.0]}), other)
    assert not is_bag(other)
