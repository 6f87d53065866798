"""Motions through keyframes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.base.errors import FileError, ModelError, UnknownNameError, UsageError
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.bodies import Mirror, OnboardRobot
from nutmeg.motion.correction import Corrector
from nutmeg.motion.inertial import FallDetector, Lying, UpEstimator
from nutmeg.motion.keyframes import (
    LYING_SIDES,
    GetUp,
    Keyframe,
    KeyframeMotion,
    SmoothPath,
    motion_path,
    motion_poses,
    read_motion,
    shipped_get_up,
    shipped_get_ups,
    shipped_motion,
    with_changes,
    write_motion,
)
from nutmeg.sim.worlds import Worlds

POSES = [[0.0, 1.0], [1.0, 0.0], [3.0, -1.0], [1.0, 0.0]]
TIMES = [0.0, 0.5, 1.0, 1.5]


def test_every_keyframe_is_reached_at_its_time() -> None:
    motion = SmoothPath(TIMES, POSES)
    for time, pose in zip(TIMES, POSES, strict=True):
        assert motion.angles(time) == pytest.approx(pose)


def test_it_waits_in_the_first_pose_and_holds_the_last() -> None:
    motion = SmoothPath(TIMES, POSES)
    assert motion.angles(-1.0) == pytest.approx(POSES[0])
    assert motion.angles(99.0) == pytest.approx(POSES[-1])


def test_half_way_is_half_way_and_starts_and_stops_gently() -> None:
    motion = SmoothPath(TIMES, POSES)
    assert motion.angles(0.75) == pytest.approx([2.0, -0.5])
    slow = (motion.angles(0.5 + 1e-4) - motion.angles(0.5)) / 1e-4
    fast = (motion.angles(0.75 + 1e-4) - motion.angles(0.75)) / 1e-4
    assert np.abs(slow).max() < 0.01 * np.abs(fast).max()
    assert np.abs(fast) == pytest.approx(1.5 * np.array([2.0, 1.0]) / 0.5, rel=1e-3)  # 3/2 of the mean speed


@given(st.floats(-1, 10))
def test_it_never_leaves_the_span_of_its_poses(time: float) -> None:
    angles = SmoothPath(TIMES, POSES, repeat_from=0.5).angles(time)
    assert (angles >= np.min(POSES, axis=0) - 1e-12).all()
    assert (angles <= np.max(POSES, axis=0) + 1e-12).all()


@given(st.floats(0.5, 1.4999), st.integers(1, 50))
def test_a_repeated_motion_has_its_period(time: float, turns: int) -> None:
    motion = SmoothPath(TIMES, POSES, repeat_from=0.5)
    assert motion.angles(time + turns * 1.0) == pytest.approx(motion.angles(time), abs=1e-6)


def test_many_times_give_many_rows() -> None:
    motion = SmoothPath(TIMES, POSES, repeat_from=0.5)
    times = np.linspace(-0.5, 4, 19)
    assert motion.angles(times).shape == (19, 2)
    assert motion.angles(times) == pytest.approx(np.array([motion.angles(float(t)) for t in times]))


def test_wrong_keyframes_are_refused() -> None:
    with pytest.raises(ModelError, match="rising times"):
        SmoothPath([0.0, 1.0, 1.0], [[0], [1], [2]])
    with pytest.raises(ModelError, match="at least two"):
        SmoothPath([0.0], [[0]])
    with pytest.raises(ModelError, match="3 keyframe times but 2 poses"):
        SmoothPath([0.0, 1.0, 2.0], [[0], [1]])
    for wrong in (1.5, 2.0, -0.5):
        with pytest.raises(ModelError, match="cannot repeat from"):
            SmoothPath(TIMES, POSES, repeat_from=wrong)


def test_a_pose_is_changed_by_the_names_of_motors() -> None:
    table = assemble(SceneSettings(field="none", robots=(Placement(robot="nao-v6"),))).robots[0]
    rest = np.zeros(len(table.motors))
    pose = with_changes(table, rest, {"HeadYaw": 0.3, "RElbowRoll": 0.7})
    assert {m: float(a) for m, a in zip(table.motors, pose, strict=True) if a} == {"HeadYaw": 0.3, "RElbowRoll": 0.7}
    assert not rest.any()
    with pytest.raises(UnknownNameError, match="Did you mean 'HeadYaw'"):
        with_changes(table, rest, {"HeadYwa": 1.0})


def worlds(count: int, robot: str = "nao-spark", kind: str = "") -> Worlds:
    placement = Placement(robot=robot, name="nao", type=kind)
    return Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False)), count)


def motion(*frames: Keyframe, robot: str = "nao-spark") -> KeyframeMotion:
    return KeyframeMotion(robot=robot, lying="front", frame=frames)


@pytest.mark.parametrize(
    ("robot", "kind"),
    [
        *(("nao-spark", kind) for kind in ("", "type1", "type3")),
        *(("nao-v6", kind) for kind in ("", "servo")),
        ("t1", ""),
        ("k1", ""),
    ],
)
def test_shipped_get_ups_are_within_the_joints_limits_and_survive_a_round_trip(
    robot: str, kind: str, tmp_path: Path
) -> None:
    servo = kind == "servo"
    made = worlds(1, robot, "" if servo else kind)
    table = made.robot("nao").table
    mirror = Mirror.of(made.scene, table)
    for side in LYING_SIDES:
        shipped = shipped_get_up(robot, side, actuation="servo") if servo else shipped_get_up(robot, side, kind)
        poses = motion_poses(shipped, table, mirror)
        limits = table.limits[table.motor_joints]
        assert ((poses >= limits[:, 0]) & (poses <= limits[:, 1])).all()
        write_motion(tmp_path / "copy.toml", shipped)
        again = read_motion(tmp_path / "copy.toml")
        write_motion(tmp_path / "copied.toml", again)
        assert (tmp_path / "copied.toml").read_text() == (tmp_path / "copy.toml").read_text()
        assert np.abs(motion_poses(again, table, mirror) - poses).max() < 2e-3


def test_a_types_own_get_up_is_taken_where_there_is_one_and_the_shared_one_elsewhere() -> None:
    shared, own = shipped_get_ups("nao-spark"), shipped_get_ups("nao-spark", "type3")
    assert own["back"] != shared["back"]
    assert own["front"] != shared["front"]
    assert own["side"] == shared["side"]
    assert shipped_get_ups("nao-spark", "type4") == shared


def test_drives_that_are_not_ideal_get_their_own_get_up_where_there_is_one() -> None:
    ideal, servo = shipped_get_ups("nao-v6"), shipped_get_ups("nao-v6", actuation="servo")
    assert servo["front"] != ideal["front"]
    assert servo["back"] != ideal["back"]
    assert servo["side"] == ideal["side"]
    assert shipped_get_ups("nao-v6", actuation="motoflex") == servo
    assert shipped_get_ups("nao-spark", actuation="servo") == shipped_get_ups("nao-spark")


def test_a_left_joint_stands_for_both_sides_unless_the_right_one_is_named() -> None:
    made = worlds(1)
    table = made.robot("nao").table
    frames = (
        Keyframe(seconds=0.2, angles={"laj1": 30.0, "laj2": 40.0}),
        Keyframe(seconds=0.2, angles={"laj2": 10.0, "raj2": -50.0}),
    )
    poses = np.degrees(motion_poses(motion(*frames), table, Mirror.of(made.scene, table)))
    columns = [table.motors.index(name) for name in ("laj1", "raj1", "laj2", "raj2")]
    np.testing.assert_allclose(poses[0, columns], [30.0, 30.0, 40.0, -40.0])
    np.testing.assert_allclose(poses[1, columns], [30.0, 30.0, 10.0, -50.0])


def test_a_left_joint_whose_name_says_its_side_in_the_middle_stands_for_both_sides() -> None:
    made = worlds(1, "k1")
    table = made.robot("nao").table
    raised = motion(Keyframe(seconds=0.2, angles={"ALeft_Shoulder_Pitch": -90.0}), robot="k1")
    (pose,) = np.degrees(motion_poses(raised, table, Mirror.of(made.scene, table)))
    assert pose[table.motors.index("ALeft_Shoulder_Pitch")] == pytest.approx(-90.0)
    assert pose[table.motors.index("ARight_Shoulder_Pitch")] == pytest.approx(-90.0)


@pytest.mark.parametrize("robot", ["nao-spark", "nao-v6"])
def test_the_mirror_image_of_a_mirror_image_is_the_posture_itself(robot: str) -> None:
    made = worlds(1, robot)
    table = made.robot("nao").table
    mirror = Mirror.of(made.scene, table)
    posture = np.random.default_rng(1).standard_normal(len(table.motors))
    np.testing.assert_allclose(mirror(mirror(posture)), posture)


def test_each_world_follows_its_own_motion_in_its_own_time() -> None:
    made = worlds(3)
    column = made.robot("nao").table.motors.index("hj1")
    to = [motion(Keyframe(seconds=0.2, angles={"hj1": degrees})) for degrees in (10.0, 20.0, 40.0)]
    get_up = GetUp(made, "nao", {"front": to})
    get_up.begin([0, 1], Lying.FRONT)
    for cycle in range(10):
        if cycle == 5:
            get_up.begin([2], [Lying.FRONT])
        get_up.sample(cycle * 0.02)
    np.testing.assert_allclose(np.degrees(get_up.targets[:, column]), [10.0, 20.0, 20.0], atol=1e-9)
    assert get_up.done.tolist() == [True, True, False]
    assert get_up.active.tolist() == [False, False, True]


def test_a_network_presses_no_joint_against_its_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive of the league hears nothing while its joint is at a stop."""
    made = worlds(2, kind="type0")
    falls = FallDetector(UpEstimator(made, "nao"))
    get_up = GetUp(made, "nao", shipped_get_ups("nao-spark", "type0"), falls=falls)
    monkeypatch.setattr(Corrector, "correct", lambda self, ids, *_: np.array([[-9.0], [9.0]])[ids])
    get_up.begin([0, 1], Lying.BACK)
    get_up.sample(0.0)
    low, high = np.degrees(made.robot("nao").table.limits[made.robot("nao").table.motor_joints].T)
    assert np.degrees(get_up.targets) == pytest.approx(np.stack([low + 1.0, high - 1.0]))


def test_unknown_sides_and_wrong_numbers_of_motions_are_refused() -> None:
    made = worlds(2)
    one = motion(Keyframe(seconds=0.2))
    with pytest.raises(UnknownNameError, match="front"):
        GetUp(made, "nao", {"frnt": [one]})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="3 motions from the front for 2 worlds"):
        GetUp(made, "nao", {"front": [one] * 3})
    with pytest.raises(UsageError, match="lies BACK"):
        GetUp(made, "nao", {"front": [one]}).begin([0], Lying.BACK)
    with pytest.raises(UnknownNameError, match="nao-spark-front"):
        shipped_get_up("nao-spork", "front")
    with pytest.raises(UsageError, match="is for the robot 'nao-v6'"):
        GetUp(made, "nao", shipped_get_ups("nao-v6"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('robot = "nao-spark"\nlying = "front"\nframe = []\n', "needs at least one"),
        ('robot = "nao-spark"\nlying = "belly"\n[[frame]]\nseconds = 1\n', "'front', 'back', 'side'"),
        ('robot = "nao-spark"\nlying = "front"\n[[frame]]\nseconds = -1\n', "seconds is -1"),
        ('robot = "nao-spark"\nlying = "front"\n[[frame]]\nsecond = 1\n', "Did you mean 'seconds'"),
        ('robot = "nao-spark"\nlying = "front"\n[[frame]]\nseconds = 1\nangles = { llj3 = "up" }\n', "needs a number"),
        ('robot = "nao-spark"\n[[frame]]\nseconds = 1\n', "has no name"),
        ('format = 2\nrobot = "nao-spark"\nlying = "front"\n[[frame]]\nseconds = 1\n', "reads format 1"),
    ],
)
def test_bad_keyframe_files_are_refused_with_what_is_allowed(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(FileError, match=r"bad\.toml") as error:
        read_motion(tmp_path / "bad.toml")
    assert told in str(error.value)


def test_joints_that_do_not_exist_or_are_out_of_range_are_refused_with_the_frame() -> None:
    made = worlds(1)
    for angles, told in (({"llj9": 1.0}, r"frame 1: unknown joint 'llj9'"), ({"llj3": 170.0}, r"llj3 is 170 .*100\.0")):
        with pytest.raises((UnknownNameError, UsageError), match=told):
            GetUp(made, "nao", {"front": [motion(Keyframe(seconds=0.2, angles=angles))]})
    with pytest.raises(UnknownNameError, match="frame1"):
        motion(Keyframe(seconds=0.2)).with_numbers({"frame7.llj3": 1.0})


BODY = OnboardRobot("nao-spark")
TABLE, MIRROR = BODY.table, Mirror.of(BODY.scene, BODY.table)


@pytest.mark.parametrize("name", ["kick", "pass", "dive"])
def test_a_motion_survives_being_written_and_read(name: str, tmp_path: Path) -> None:
    motion = shipped_motion("nao-spark", name)
    write_motion(tmp_path / "one.toml", motion)
    assert read_motion(tmp_path / "one.toml") == motion


def test_a_path_begins_with_a_step_from_the_posture_and_ends_at_the_last_frame() -> None:
    frames = (
        Keyframe(seconds=0.1, angles={"llj3": 30.0, "rlj3": 0.0}),
        Keyframe(seconds=0.2, angles={"llj3": 0.0}),
    )
    motion = KeyframeMotion(robot="nao-spark", name="nod", frame=frames)
    start = np.zeros(len(TABLE.motors))
    path = motion_path(motion, TABLE, MIRROR, start)
    knee = TABLE.motors.index("llj3")
    assert path.shape == (15, len(TABLE.motors))
    np.testing.assert_allclose(np.degrees(path[[0, 4, 14], knee]), [6.0, 30.0, 0.0], atol=1e-9)


def test_the_mirror_image_of_a_mirror_image_is_the_motion() -> None:
    motion = shipped_motion("nao-spark", "kick")
    start = np.zeros(len(TABLE.motors))
    left = motion_path(motion, TABLE, MIRROR, start)
    right = motion_path(motion, TABLE, MIRROR, start, mirrored=True)
    np.testing.assert_allclose(MIRROR(right), left, atol=1e-12)
    hip = TABLE.motors.index("llj3"), TABLE.motors.index("rlj3")
    np.testing.assert_allclose(right[:, hip[1]], left[:, hip[0]], atol=1e-12)


def test_numbers_can_be_changed_by_name() -> None:
    motion = shipped_motion("nao-spark", "kick").with_numbers({"frame2.llj3": 7.0, "ball.ahead": 0.2})
    assert motion.frame[1].angles["llj3"] == 7.0
    assert motion.ball[0] == 0.2
    with pytest.raises(UnknownNameError):
        motion.with_numbers({"frame99.llj3": 7.0})


def test_what_is_wrong_with_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="dive, kick, pass"):
        shipped_motion("nao-spark", "somersault")
    path = tmp_path / "bad.toml"
    path.write_text('robot = "nao-spark"\nname = "x"\nstrike = 3\n[[frame]]\nseconds = 0.1\n')
    with pytest.raises(FileError, match="strike is 3"):
        read_motion(path)
    with pytest.raises(FileError):
        write_motion(tmp_path / "no" / "folder.toml", shipped_motion("nao-spark", "dive"))


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_kick_answers_to_where_the_ball_lies_from_the_second_frame_to_the_strike(mirrored: bool) -> None:
    body = OnboardRobot("nao-spark", "type0")
    mirror, table = Mirror.of(body.scene, body.table), body.table
    shot = shipped_motion("nao-spark", "shot")
    slopes = dataclasses.replace(shot, ahead={"llj3": 100.0}, left={"llj2": -50.0})
    motion = dataclasses.replace(slopes, frame=tuple(Keyframe(seconds=0.1, pose="ready") for _ in range(3)), strike=2)
    start = np.zeros(len(table.motors))
    near, far = (
        motion_path(motion, table, mirror, start, ball=off, mirrored=mirrored) for off in ((0.0, 0.0), (0.04, 0.02))
    )
    change = np.degrees(far - near)
    side = "r" if mirrored else "l"
    hip, roll = table.motors.index(f"{side}lj3"), table.motors.index(f"{side}lj2")
    assert change[9, hip] == pytest.approx(4.0)
    assert change[9, roll] == pytest.approx(1.0 if mirrored else -1.0)
    assert not change[4].any()
    assert np.abs(change[14]).max() < 1e-9


def test_the_file_of_a_shot_keeps_its_slopes(tmp_path: Path) -> None:
    shot = shipped_motion("nao-spark", "shot", "type1")
    assert shot.ahead
    write_motion(tmp_path / "shot.toml", shot)
    assert read_motion(tmp_path / "shot.toml") == shot
