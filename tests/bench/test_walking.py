"""What walking costs: that it is measured at all, beside the same physics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.bench import benchmarks, evaluation
from nutmeg.learning.tasks import WalkTrials, task_settings
from nutmeg.motion.walk.files import read_walk

COURSE = 'name = "short"\n[[trajectory]]\nname = "a"\ntarget = [{ to = [20, 0], seconds = 0.2 }]\n'


def test_benchmarks_of_walking_are_chosen_by_their_name() -> None:
    assert {"walk evaluation", "walk overhead", "walk cycle"} <= {name for name in benchmarks(0.1) if "walk" in name}


def test_the_walk_is_measured_beside_the_same_physics() -> None:
    (row,) = evaluation.walk_overhead(0.01)
    assert row.value > 0
    assert row.ratio is not None
    assert row.met == (row.ratio >= 0.7)


def test_a_cycle_of_one_robot_takes_time() -> None:
    (row,) = evaluation.walk_cycle(0.01)
    assert 0 < row.value < 1000
    assert row.met == (row.value < 0.2)


def test_candidates_are_the_start_in_as_many_rows_as_the_judgement_has_parts() -> None:
    walk = read_walk("initial")
    trials = WalkTrials(robot=walk.robot, task=task_settings("go-to-target"), start=walk, names=("max_step_x",))
    rows, seeds = evaluation._candidates(trials, 3)
    np.testing.assert_allclose(rows, [[0.03, 0], [0.03, 1]] * 3)
    assert seeds[0] is seeds[1]
    assert seeds[2] is not seeds[1]


@pytest.mark.slow
def test_an_evaluation_is_measured_in_one_process_and_in_two(tmp_path: Path) -> None:
    course = tmp_path / "short.toml"
    course.write_text(COURSE, encoding="utf-8")
    core, times, hourly = evaluation.walk_evaluation(0.1, str(course))
    assert core.value > 0
    assert times.value == pytest.approx(0.2 / core.value)
    assert hourly.value > 0
