"""Courses: the paper's totals, and what a course file may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.learning.courses import DIRECTIONS, Target, course_names, read_course


def test_the_papers_course_has_eleven_trajectories_with_124_seconds_to_walk() -> None:
    course = read_course("go-to-target")
    assert len(course.trajectory) == 11
    assert course.moving_time == pytest.approx(124.1, abs=1e-9)
    assert course.seconds > course.moving_time, "stops come in addition"
    assert course.counted_time() == pytest.approx(7.0)


def test_every_direction_is_walked_for_seven_seconds() -> None:
    for name in ("go-to-target", "holonomic"):
        targets = [t for one in read_course(name).trajectory for t in one.target]
        for direction in DIRECTIONS:
            assert {t.seconds for t in targets if t.counts == direction} == {7.0}


@pytest.mark.parametrize("name", course_names())
def test_every_target_lasts_a_whole_number_of_cycles(name: str) -> None:
    for one in read_course(name).trajectory:
        for target in one.target:
            assert target.seconds / 0.02 == pytest.approx(round(target.seconds / 0.02), abs=1e-6)


def test_a_target_that_makes_no_sense_is_refused_with_what_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="either"):
        Target(seconds=1.0)
    with pytest.raises(ValueError, match="either"):
        Target(seconds=1.0, to=(1.0, 0.0), stop=True)
    with pytest.raises(ValueError, match="longer than 0"):
        Target(seconds=0.0, stop=True)
    with pytest.raises(ValueError, match="forward"):
        Target(seconds=1.0, to=(1.0, 0.0), counts="up")
    with pytest.raises(UnknownNameError, match="holonomic"):
        read_course("holonomc")
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n[[trajectory]]\nname = "a"\ntarget = [{ seconds = 1.0 }]\n')
    with pytest.raises(FileError, match="either"):
        read_course(str(path))
