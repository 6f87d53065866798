"""The benchmark of evaluation, on work of a moment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.bench import benchmarks, evaluation
from nutmeg.learning.tasks import WalkTrials, task_settings
from nutmeg.motion.walk.files import read_walk


@pytest.mark.slow
def test_threads_and_dask_workers_give_the_same_values_and_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"ANT_TRIALS": 1, "TRIAL_SECONDS": 0.4, "MEASURED_TURNS": 2}.items():
        monkeypatch.setattr(evaluation, name, value)
    machine, threads, cluster = evaluation.evaluation_scaling(0.1)
    assert machine.ratio is not None
    assert machine.met is None
    assert threads.ratio is not None
    assert threads.met == (threads.ratio >= 1.7)
    assert cluster.ratio is not None
    assert cluster.met == (cluster.ratio >= 0.85)
    assert "ratios of 2 turns" in cluster.peer


def test_the_median_of_the_ratios_counts() -> None:
    ours, theirs = np.array([10.0, 30.0, 11.0]), np.array([10.0, 10.0, 10.0])
    row = evaluation._row("threads", "candidates/s", ours, theirs, "one", 1.7)
    assert (row.value, row.met) == (11.0, False)
    assert row.ratio == pytest.approx(1.1)
    assert row.peer == "one 10.0; ratios of 3 turns 1.00 to 3.00"


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
