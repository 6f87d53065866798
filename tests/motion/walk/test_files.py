"""Walks as files: shipped ones, sets, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, UnknownNameError, UsageError
from nutmeg.learning.courses import Bout, read_course, run_bouts
from nutmeg.motion.walk.files import read_walk, walk_names, walk_text
from nutmeg.motion.walk.settings import PendulumWalkSettings


@pytest.mark.parametrize("name", walk_names())
def test_a_shipped_walk_reads_and_survives_being_written(name: str, tmp_path: Path) -> None:
    walk = read_walk(name)
    path = tmp_path / "again.toml"
    path.write_text(walk_text(walk))
    assert read_walk(str(path)) == walk


def test_the_initial_walk_is_the_untrained_one() -> None:
    walk = read_walk("initial")
    assert walk.walk == PendulumWalkSettings()
    assert list(walk.sets) == ["walk"]


def test_a_new_set_begins_as_a_copy_of_the_first() -> None:
    walk = read_walk("initial").with_set("sprint", {"max_step_x": 0.05})
    assert walk.sprint is not None
    assert walk.sprint.max_step_x == 0.05
    assert walk.sprint.z_torso == walk.walk.z_torso
    assert walk.walk.max_step_x == 0.03


def test_a_walk_that_cannot_be_used_is_refused_with_what_is_allowed(tmp_path: Path) -> None:
    walk = read_walk("initial")
    with pytest.raises(UsageError, match="is for the robot 'nao-spark'"):
        walk.for_robot("nao-v6")
    with pytest.raises(UsageError, match=r"z_torso is 2; allowed is 0.2..0.45 m"):
        walk.with_set("walk", {"z_torso": 2.0})
    with pytest.raises(UnknownNameError, match="initial"):
        read_walk("inital")
    path = tmp_path / "mine.toml"
    path.write_text('robot = "nao-spark"\n[walk]\nphi_lenght = 0.1\n')
    with pytest.raises(FileError, match="phi_length"):
        read_walk(str(path))
    path.write_text('robot = "nao-spark"\n[walk]\nphi_length = 9.0\n')
    with pytest.raises(FileError, match=r"phi_length is 9; allowed is 0.03..0.6"):
        read_walk(str(path))


@pytest.mark.parametrize("name", [name for name in walk_names() if name != "initial"])
def test_every_shipped_walk_says_what_made_it(name: str) -> None:
    walk = read_walk(name)
    assert walk.name == name
    assert walk.origin.about or walk.origin.command.startswith("nutmeg learn ")
    assert "/tmp" not in walk.origin.command


@pytest.mark.slow
def test_the_holonomic_walk_goes_half_a_metre_a_second_in_every_direction() -> None:
    walk, course = read_walk("holonomic"), read_course("table-2")
    ways = [one for one in course.trajectory if one.name != "changes"]
    result = run_bouts(walk.robot, [Bout(walk, way, np.random.default_rng(2)) for way in ways])
    assert not result.fell.any()
    assert (result.gained[:, 0] > 5.0).all()
