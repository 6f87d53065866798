"""Robots on short courses: rewards that are distances, falls, stops, starts that differ, and the same again."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.base.settings import names_in
from nutmeg.learning.courses import (
    COURSES_FOLDER,
    DIRECTIONS,
    Bout,
    BoutResults,
    StartNoise,
    Target,
    Trajectory,
    read_course,
    run_bouts,
)
from nutmeg.motion.walk.files import WalkParameters, read_walk
from nutmeg.motion.walk.settings import PendulumWalkSettings

INITIAL = read_walk("initial")
FALLING = WalkParameters(
    robot="nao-spark", name="falls", walk=PendulumWalkSettings(y_shift=0.08, z_step=0.10, tilt=0.5)
)
NONE = StartNoise(joints=0.0, tilt=0.0, velocity=0.0, rate=0.0, lifted=0.0)


def trajectory(*targets: Target) -> Trajectory:
    return Trajectory(name="test", target=targets)


def go(x: float, y: float, seconds: float = 1.0) -> Target:
    return Target(to=(x, y), seconds=seconds)


def bouts(walk: WalkParameters, one: Trajectory, seeds: range = range(1)) -> list[Bout]:
    return [Bout(walk, one, np.random.default_rng(seed)) for seed in seeds]


def same(a: BoutResults, b: BoutResults, rows: Any = slice(None)) -> None:
    np.testing.assert_array_equal(a.gained[rows], b.gained)
    np.testing.assert_array_equal(a.lost[rows], b.lost)


def test_what_is_gained_is_the_way_towards_the_target() -> None:
    one = trajectory(go(20.0, 0.0, 2.0), go(-20.0, 0.0, 1.0), Target(stop=True, seconds=0.5))
    result = run_bouts("nao-spark", bouts(INITIAL, one), noise=NONE, paths=True)
    assert result.paths is not None
    way = result.paths[:, 0]
    assert not result.fell[0]
    assert result.seconds[0] == pytest.approx(3.5)
    assert result.gained[0, 0] == pytest.approx(way[100, 0] - way[0, 0], abs=2e-3)
    assert 0.1 < result.gained[0, 0] < 0.5
    stopped = np.linalg.norm(way[150:176] - way[150], axis=1).max()
    assert result.lost[0, 2] == pytest.approx(-stopped, abs=1e-9)
    assert result.gained[0, 2] == result.lost[0, 0] == 0


def test_a_target_within_reach_is_extrapolated() -> None:
    near = run_bouts("nao-spark", bouts(INITIAL, trajectory(go(0.25, 0.0, 4.0))), noise=NONE, paths=True)
    assert near.paths is not None
    distance = np.linalg.norm([0.25, 0.0] + near.paths[0, 0] - near.paths[:, 0], axis=1)
    taken = int(np.flatnonzero(distance < 0.1)[0])
    assert near.gained[0, 0] == pytest.approx((0.25 - 0.1) * 200 / taken)


def test_a_fallen_robot_pays_for_every_target_that_is_left() -> None:
    one = trajectory(go(20.0, 0.0, 8.0), Target(stop=True, seconds=1.0), go(0.0, 20.0, 1.0))
    result = run_bouts("nao-spark", bouts(FALLING, one), noise=NONE)
    assert result.fell[0]
    assert result.seconds[0] < 8.0
    np.testing.assert_allclose(result.lost[0], -5.0)
    assert result.gained[0, 1:] == pytest.approx([0.0, 0.0])
    assert result.total[0] == pytest.approx(result.gained[0, 0] - 15.0)


def test_starts_differ_with_the_seed_and_repeat_with_it_in_any_company() -> None:
    one = trajectory(go(20.0, 0.0, 0.6), go(0.0, 20.0, 0.4))
    many = run_bouts("nao-spark", bouts(INITIAL, one, range(3)))
    assert len(np.unique(many.gained[:, 0])) == 3
    same(many, run_bouts("nao-spark", bouts(INITIAL, one, range(3)), threads=2))
    same(many, run_bouts("nao-spark", bouts(INITIAL, one, range(2, 3))), slice(2, 3))


def test_a_robot_that_turns_faces_its_target_and_one_that_holds_walks_there_as_it_stands() -> None:
    """Facing the target to the left, a robot is soon as fast as forward; the steps aside are the slower ones."""
    narrow = dataclasses.replace(INITIAL, walk=dataclasses.replace(INITIAL.walk, max_step_y=0.002))
    one = trajectory(go(0.0, 20.0, 5.0))
    turned, held, turned_first = (
        run_bouts("nao-spark", bouts(dataclasses.replace(narrow, facing=facing), one), noise=NONE).gained[0, 0]
        for facing in ("turn", "hold", "turn-first")
    )
    assert held < 0.15
    assert turned > held + 0.15
    assert held < turned_first < turned


def test_a_robot_that_turns_first_stays_where_it_is_until_its_target_is_ahead() -> None:
    """A quarter turn takes `initial` about three seconds."""
    turn_first = dataclasses.replace(INITIAL, facing="turn-first")
    gained = run_bouts("nao-spark", bouts(turn_first, trajectory(go(0.0, 20.0, 2.0), go(0.0, 20.0, 5.0))), noise=NONE)
    assert abs(gained.gained[0, 0]) < 0.04
    assert gained.gained[0, 1] > 0.3


def test_sets_change_within_a_bout_and_the_robot_stays_on_its_feet() -> None:
    fast = dataclasses.replace(INITIAL.walk, max_step_x=0.045, z_torso=0.335)
    two = dataclasses.replace(INITIAL, sprint=fast)
    one = trajectory(go(20.0, 0.0, 2.0), go(0.0, 20.0, 2.0))
    plain, sprinting = (run_bouts("nao-spark", bouts(walk, one), noise=NONE) for walk in (INITIAL, two))
    assert not sprinting.fell[0]
    assert sprinting.gained[0, 0] > 1.15 * plain.gained[0, 0]


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


@pytest.mark.parametrize("name", names_in(COURSES_FOLDER))
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
