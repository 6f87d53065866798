"""Motions that are played once: files, numbers, mirror images and paths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.motion.bodies import OnboardRobot
from nutmeg.motion.keyframes import (
    Keyframe,
    Mirror,
    PlayedMotion,
    motion_names,
    motion_path,
    read_motion,
    shipped_motion,
    write_motion,
)

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
    motion = PlayedMotion(robot="nao-spark", name="nod", frame=frames)
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
    assert motion_names("nao-spark") == ["dive", "kick", "pass"]
    with pytest.raises(UnknownNameError):
        shipped_motion("nao-spark", "somersault")
    path = tmp_path / "bad.toml"
    path.write_text('robot = "nao-spark"\nname = "x"\nstrike = 3\n[[frame]]\nseconds = 0.1\n')
    with pytest.raises(FileError, match="strike is 3"):
        read_motion(path)
    with pytest.raises(FileError):
        write_motion(tmp_path / "no" / "folder.toml", shipped_motion("nao-spark", "dive"))
