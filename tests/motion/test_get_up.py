"""Getting up: files of keyframes, and what robots do with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, UnknownNameError, UsageError
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.inertial import Lying
from nutmeg.motion.keyframes import (
    GetUp,
    GetUpMotion,
    Keyframe,
    Mirror,
    get_up_text,
    poses_of,
    read_get_up,
    shipped_get_up,
    shipped_motions,
    shipped_sides,
    write_get_up,
)
from nutmeg.sim.worlds import Worlds


def worlds(count: int, robot: str = "nao-spark", kind: str = "") -> Worlds:
    placement = Placement(robot=robot, name="nao", type=kind)
    return Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False)), count)


def motion(*frames: Keyframe, robot: str = "nao-spark") -> GetUpMotion:
    return GetUpMotion(robot=robot, lying="front", frame=frames)


@pytest.mark.parametrize(
    ("robot", "kind"),
    [("nao-spark", ""), ("nao-spark", "type1"), ("nao-spark", "type3"), ("nao-v6", ""), ("nao-v6", "servo")],
)
def test_shipped_get_ups_are_within_the_joints_limits_and_survive_a_round_trip(
    robot: str, kind: str, tmp_path: Path
) -> None:
    servo = kind == "servo"
    made = worlds(1, robot, "" if servo else kind)
    table = made.robot("nao").table
    mirror = Mirror.of(made.scene, table)
    assert shipped_sides(robot)
    for side in shipped_sides(robot):
        shipped = shipped_get_up(robot, side, actuation="servo") if servo else shipped_get_up(robot, side, kind)
        poses = poses_of(shipped, table, mirror)
        limits = table.limits[table.motor_joints]
        assert ((poses >= limits[:, 0]) & (poses <= limits[:, 1])).all()
        write_get_up(tmp_path / "copy.toml", shipped)
        assert get_up_text(read_get_up(tmp_path / "copy.toml")) == get_up_text(shipped)


def test_a_types_own_get_up_is_taken_where_there_is_one_and_the_shared_one_elsewhere() -> None:
    shared, own = shipped_motions("nao-spark"), shipped_motions("nao-spark", "type3")
    assert own["back"] != shared["back"]
    assert own["front"] == shared["front"]
    assert own["side"] == shared["side"]
    assert shipped_motions("nao-spark", "type4") == shared


def test_drives_that_are_not_ideal_get_their_own_get_up_where_there_is_one() -> None:
    ideal, servo = shipped_motions("nao-v6"), shipped_motions("nao-v6", actuation="servo")
    assert servo["front"] != ideal["front"]
    assert servo["back"] != ideal["back"]
    assert servo["side"] == ideal["side"]
    assert shipped_motions("nao-v6", actuation="motoflex") == servo
    assert shipped_motions("nao-spark", actuation="servo") == shipped_motions("nao-spark")


def test_a_left_joint_stands_for_both_sides_unless_the_right_one_is_named() -> None:
    made = worlds(1)
    table = made.robot("nao").table
    frames = (
        Keyframe(seconds=0.2, angles={"laj1": 30.0, "laj2": 40.0}),
        Keyframe(seconds=0.2, angles={"laj2": 10.0, "raj2": -50.0}),
    )
    poses = np.degrees(poses_of(motion(*frames), table, Mirror.of(made.scene, table)))
    columns = [table.motors.index(name) for name in ("laj1", "raj1", "laj2", "raj2")]
    np.testing.assert_allclose(poses[0, columns], [30.0, 30.0, 40.0, -40.0])
    np.testing.assert_allclose(poses[1, columns], [30.0, 30.0, 10.0, -50.0])


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
        GetUp(made, "nao", shipped_motions("nao-v6"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('robot = "nao-spark"\nlying = "front"\nframe = []\n', "needs at least one"),
        ('robot = "nao-spark"\nlying = "belly"\n[[frame]]\nseconds = 1\n', "'front', 'back', 'side'"),
        ('robot = "nao-spark"\nlying = "front"\n[[frame]]\nseconds = -1\n', "seconds is -1"),
        ('robot = "nao-spark"\nlying = "front"\n[[frame]]\nsecond = 1\n', "Did you mean 'seconds'"),
        ('robot = "nao-spark"\nlying = "front"\n[[frame]]\nseconds = 1\nangles = { llj3 = "up" }\n', "needs a number"),
        ('format = 2\nrobot = "nao-spark"\nlying = "front"\n[[frame]]\nseconds = 1\n', "reads format 1"),
    ],
)
def test_bad_keyframe_files_are_refused_with_what_is_allowed(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(FileError, match=r"bad\.toml") as error:
        read_get_up(tmp_path / "bad.toml")
    assert told in str(error.value)


def test_joints_that_do_not_exist_or_are_out_of_range_are_refused_with_the_frame() -> None:
    made = worlds(1)
    for angles, told in (({"llj9": 1.0}, r"frame 1: unknown joint 'llj9'"), ({"llj3": 170.0}, r"llj3 is 170 .*100\.0")):
        with pytest.raises((UnknownNameError, UsageError), match=told):
            GetUp(made, "nao", {"front": [motion(Keyframe(seconds=0.2, angles=angles))]})
    with pytest.raises(UnknownNameError, match="frame1"):
        motion(Keyframe(seconds=0.2)).with_numbers({"frame7.llj3": 1.0})
