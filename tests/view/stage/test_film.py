from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import RecordingError
from nutmeg.recording import Channel, Manifest, RecordingWriter
from nutmeg.view.stage.film import WINDOW_ROWS, Film, Posture


def test_a_film_shows_the_recorded_rows_and_moves_evenly_between_them(recorded: Path, toy: Any) -> None:
    film = Film.open(recorded)
    assert film.robots == ("a", "b")
    expected = film.posture.qpos(toy.values(np.array([1.0, 1.02])))
    assert film.qpos_at(1.0) == pytest.approx(expected[0], abs=1e-6)
    x = film.model.joint("a/root").qposadr[0]
    assert film.qpos_at(1.01)[x] == pytest.approx(expected[:, x].mean(), abs=1e-6)


def test_times_outside_the_recording_show_its_ends(recorded: Path) -> None:
    film = Film.open(recorded)
    assert np.array_equal(film.qpos_at(-5.0), film.qpos_at(film.start))
    assert np.array_equal(film.qpos_at(99.0), film.qpos_at(film.end))


def test_a_long_film_keeps_only_a_window_of_rows(tmp_path: Path, toy: Any) -> None:
    film = Film.open(toy.record(tmp_path / "long.nutmeg", seconds=30))
    rows = [film.qpos_at(t) for t in (0.0, 29.0, 3.0, 15.0)]
    assert len(film.times) == 1501
    assert len(film._window) <= WINDOW_ROWS
    assert np.array_equal(film.qpos_at(0.0), rows[0])


def test_a_growing_recording_gets_longer_after_a_refresh(tmp_path: Path, toy: Any) -> None:
    labels = toy.labels()
    channels = [Channel(name=n, labels=k, unit="1") for n, k in labels.items()]
    values = toy.values(np.array([0.0, 0.1]))
    rows = np.concatenate([values[n] for n in labels], axis=1)
    path = tmp_path / "live.nutmeg"
    with RecordingWriter.create(
        path, Manifest(kind="scene", seed=0, channels=tuple(channels)), scene_xml=toy.xml()
    ) as writer:
        film = Film.open(path)
        assert film.frame_count(25) == 0
        assert np.array_equal(film.qpos_at(0.0), film.posture.rest)
        writer.append(0.0, rows[0])
        writer.append(0.1, rows[1])
        assert film.refresh()
        assert film.end == 0.1
        assert film.qpos_at(0.1) == pytest.approx(film.posture.qpos(values)[1])
        assert not film.recording.finished


def test_a_film_that_grows_row_by_row_shows_what_one_opened_later_shows(tmp_path: Path, toy: Any) -> None:
    labels, times = toy.labels(), np.arange(0.0, 10.0, 0.02)
    channels = [Channel(name=n, labels=k, unit="1") for n, k in labels.items()]
    rows = np.concatenate([toy.values(times)[n] for n in labels], axis=1)
    rows[60::7, 3:9] = np.nan  # measured less often
    path = tmp_path / "live.nutmeg"
    with RecordingWriter.create(
        path, Manifest(kind="scene", seed=0, channels=tuple(channels)), scene_xml=toy.xml()
    ) as writer:
        film = Film.open(path)
        shown = []
        for time, row in zip(times.tolist(), rows, strict=True):
            writer.append(time, row)
            film.refresh()
            shown.append(film.qpos_at(time))
            assert len(film._window) <= WINDOW_ROWS
    later = Film.open(path)
    assert np.allclose(shown, [later.qpos_at(time) for time in times.tolist()], atol=1e-4)


def test_frames_come_at_the_asked_rate_and_include_both_ends(recorded: Path) -> None:
    film = Film.open(recorded)
    moments = [moment for moment, _ in film.frames(25)]
    assert len(moments) == film.frame_count(25) == 76
    assert moments[-1] == pytest.approx(3.0)
    assert film.frame_count(25, seconds=1.0) == 26


def test_poses_reach_the_free_joint_of_their_thing(model: Any, toy: Any) -> None:
    posture = Posture(model, toy.labels())
    values = toy.values(np.linspace(0, 2, 11))
    qpos = posture.qpos(values)
    for thing in ("a", "b", "ball"):
        start = model.joint(f"{thing}/root").qposadr[0]
        assert np.array_equal(qpos[:, start : start + 7], values[f"{thing}.pose"])


def test_angles_reach_the_joint_they_are_named_after_whatever_their_order(model: Any, toy: Any) -> None:
    labels = toy.labels() | {"a.angles": ("RKneePitch", "HeadYaw")}
    posture = Posture(model, labels)
    values = toy.values(np.zeros(1)) | {"a.angles": np.array([[0.7, -0.2]])}
    qpos = posture.qpos(values)[0]
    assert qpos[model.joint("a/RKneePitch").qposadr[0]] == 0.7
    assert qpos[model.joint("a/HeadYaw").qposadr[0]] == -0.2
    assert qpos[model.joint("a/LKneePitch").qposadr[0]] == 0.0


def test_robots_are_the_things_with_angles_and_other_channels_are_left_alone(model: Any, toy: Any) -> None:
    posture = Posture(model, toy.labels() | {"a.commands": ("HeadYaw",)})
    assert posture.robots == ("a", "b")
    assert "a.commands" not in posture.channels


def test_a_joint_that_the_scene_lacks_is_named(model: Any, toy: Any) -> None:
    with pytest.raises(RecordingError, match="'a/Tail'"):
        Posture(model, toy.labels() | {"a.angles": ("Tail",)})
    with pytest.raises(RecordingError, match="'c/root'"):
        Posture(model, {"c.pose": tuple("xyzabcd")})


def test_a_missing_value_is_drawn_as_the_last_one_before_it(model: Any, toy: Any) -> None:
    posture = Posture(model, toy.labels())
    values = toy.values(np.zeros(3))
    values["ball.pose"][:, 0] = [1.0, np.nan, np.nan]
    values["a.angles"][0, 0] = np.nan
    qpos = posture.qpos(values)
    assert np.array_equal(qpos[:, model.joint("ball/root").qposadr[0]], [1, 1, 1])
    assert qpos[0, model.joint("a/HeadYaw").qposadr[0]] == model.qpos0[model.joint("a/HeadYaw").qposadr[0]]


def test_half_way_between_two_turns_is_half_the_turn_even_if_a_quaternion_changed_sign(model: Any, toy: Any) -> None:
    posture = Posture(model, toy.labels())
    start = model.joint("ball/root").qposadr[0]
    first, second = np.array(model.qpos0), np.array(model.qpos0)
    second[start + 3 : start + 7] = -np.array([np.cos(0.4), 0, 0, np.sin(0.4)])
    middle = posture.between(first, second, 0.5)[start + 3 : start + 7]
    turned = np.zeros(3)
    mujoco.mju_quat2Vel(turned, middle, 1.0)
    assert turned == pytest.approx([0, 0, 0.4], abs=1e-6)


def log(path: Path, labels: tuple[str, ...]) -> Path:
    """The log of a real robot: channels, and no scene."""
    channels = [Channel(name=f"servo.{kind}", labels=labels, unit="rad") for kind in ("goal", "position")]
    with RecordingWriter.create(path, Manifest(kind="log", seed=0, channels=tuple(channels))) as writer:
        for row in range(5):
            writer.append(0.1 * row, np.full(2 * len(labels), 0.1 * row) + np.repeat([0.0, 0.05], len(labels)))
    return path


def test_a_log_without_a_scene_is_a_film_with_nothing_to_draw(tmp_path: Path) -> None:
    path = log(tmp_path / "log.nutmeg", ("HeadYaw",))
    film = Film.open(path)
    assert not film.has_scene
    assert film.robots == ()
    assert len(film.qpos_at(0.2)) == 0
    with pytest.raises(RecordingError, match="nutmeg replay"):
        Film.of_scene(path)


def test_a_robot_moves_as_a_log_measured_it_and_not_as_it_was_told(tmp_path: Path) -> None:
    film = Film.open(log(tmp_path / "log.nutmeg", ("HeadYaw", "HeadPitch")), robot="nao-v6")
    yaw = film.model.joint("nao-v6-1/HeadYaw").qposadr[0]
    assert film.qpos_at(0.2)[yaw] == pytest.approx(0.25)
    assert film.qpos_at(0.2)[2] == pytest.approx(film.posture.rest[2]), "it stands where it starts"


def test_a_log_of_another_robot_says_which_joints_there_are(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="HeadYaw"):
        Film.open(log(tmp_path / "log.nutmeg", ("pendulum",)), robot="nao-v6")
