"""Worlds written into recordings and read back."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import RecordingError
from nutmeg.model import Placement, SceneSettings, assemble, load_robot
from nutmeg.recording import Recording
from nutmeg.sim import Worlds
from nutmeg.sim.schedule import Schedule
from nutmeg.sim.sensing import Sensing
from nutmeg.sim.trace import ANGLE_STEP, POSE_STEP, SENSOR_STEP, TraceWriter


def match(count: int = 2) -> Worlds:
    robots = (
        Placement(robot="nao-v6", name="nao", pos=(-0.5, 0), height=0.02),
        Placement(robot="nao-spark", name="spark", pos=(1, 0)),
    )
    return Worlds(assemble(SceneSettings(field="spl2025", robots=robots, visuals=False)), count)


def test_a_recording_holds_the_state_within_its_resolution(tmp_path: Path) -> None:
    worlds = match()
    rng = np.random.default_rng(3)
    senses = [Sensing(worlds, "nao", rng), Sensing(worlds, "spark", rng)]
    schedule = Schedule(worlds)
    truth: dict[str, list[np.ndarray]] = {}

    def keep(_: float) -> None:
        assert worlds.ball is not None
        now = {"ball.pose": worlds.ball[1]}
        for robot in worlds.robots:
            name = robot.table.name
            now |= {
                f"{name}.pose": robot.pose[1],
                f"{name}.angles": robot.angles[1],
                f"{name}.command": robot.command[1],
            }
        for sense in senses:
            now |= {f"{sense.robot.table.name}.{s}": sense.read(s)[1] for s in sense.names}
        for key, value in now.items():
            truth.setdefault(key, []).append(value.copy())

    with TraceWriter(tmp_path / "a.nutmeg", worlds, world=1, seed=9, senses=senses, config={"speed": 2}) as trace:

        def act(now: float) -> None:
            worlds.robot("nao").command = worlds.robot("nao").start + 0.1 * np.sin(9 * now) * np.array([[0.0], [1.0]])
            worlds.robot("spark").command = [[0.0], [0.3]]

        schedule.every(0.02, act)
        for sense in senses:
            schedule.every(0.02, sense.sample)
        schedule.every(0.02, trace.sample)
        schedule.every(0.02, keep)
        schedule.run(0.5)
        trace.event(0.5, "whistle", team="blue")
    recording = Recording.open(tmp_path / "a.nutmeg")
    assert recording.times == pytest.approx(0.02 * np.arange(26))
    assert set(recording.channels) == set(truth)
    for name, rows in truth.items():
        channel = recording.channels[name]
        wanted = {"pose": POSE_STEP, "angles": ANGLE_STEP}.get(name.split(".")[1], SENSOR_STEP)
        assert channel.resolution == wanted
        assert np.abs(recording.read(name) - np.array(rows)).max() <= wanted / 2 + 1e-12
    assert recording.read("nao.angles").std() > 0
    assert recording.manifest.seed == 9
    assert recording.manifest.config == {"speed": 2}
    assert [(e["kind"], e["team"]) for e in recording.events] == [("whistle", "blue")]


def test_channels_have_labels_and_units(tmp_path: Path) -> None:
    worlds = match(1)
    with TraceWriter(tmp_path / "a.nutmeg", worlds, senses=[Sensing(worlds, "nao")]) as trace:
        trace.sample(0.0)
    channels = Recording.open(tmp_path / "a.nutmeg").channels
    assert channels["nao.angles"].labels == worlds.robot("nao").table.joints
    assert channels["nao.command"].labels == worlds.robot("nao").table.motors
    assert (channels["nao.angles"].unit, channels["nao.command"].unit) == ("rad", "rad")
    assert channels["spark.command"].unit == "rad/s"
    assert channels["ball.pose"].labels == ("x", "y", "z", "qw", "qx", "qy", "qz")
    kinds = {s.name: s.type for s in load_robot("nao-v6").sensor if s.type != "camera"}
    for name, kind in kinds.items():
        unit = {"encoder": "rad", "imu": "rad/s, m/s2", "force": "N", "switch": ""}.get(kind, "m")
        assert channels[f"nao.{name}"].unit == unit


def test_the_recorded_scene_is_that_of_the_recorded_world(tmp_path: Path) -> None:
    scenes = [
        assemble(
            SceneSettings(
                ball="none", robots=(Placement(robot="nao-spark", name="n", parameters={"ankle_z": z}),), visuals=False
            )
        )
        for z in (-0.055, -0.08)
    ]
    with TraceWriter(tmp_path / "a.nutmeg", Worlds.of(scenes), world=1) as trace:
        trace.sample(0.0)
    recording = Recording.open(tmp_path / "a.nutmeg")
    assert recording.scene_xml == scenes[1].xml
    model = mujoco.MjModel.from_xml_string(recording.scene_xml)
    assert recording.read("n.pose")[0, 2] == pytest.approx(model.key("start").qpos[2], abs=1e-4)


def test_an_older_recording_is_not_overwritten(tmp_path: Path) -> None:
    worlds = match(1)
    TraceWriter(tmp_path / "a.nutmeg", worlds).close()
    with pytest.raises(RecordingError, match="exists already"):
        TraceWriter(tmp_path / "a.nutmeg", worlds)
