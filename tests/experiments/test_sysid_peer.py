"""Identification beside its peers, at several efforts, and what is learned from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import EnvironmentProblem, UnknownNameError
from nutmeg.experiments.back_to_reality import btr_ant
from nutmeg.experiments.experiment import SeedJob, finish_jobs
from nutmeg.experiments.identification import posterior, sysid_peer
from nutmeg.experiments.identification.sysid_peer import fit_machine, sysid_fit
from nutmeg.reality.identify.identification import ReplayCost
from nutmeg.search import Dimension, Space

SPACE = Space({"a": Dimension(low=-1, high=1, start=0.5), "b": Dimension(low=-1, high=1, start=-0.5)})


def line(candidates: Floats) -> Floats:
    """Residuals of a straight line, (n, 20)."""
    return np.asarray(candidates[:, :1] - 0.1 + (candidates[:, 1:] - 0.3) * np.linspace(0, 1, 20))


def installed() -> bool:
    try:
        sysid_peer._sysid()
    except EnvironmentProblem:
        return False
    return True


needs_sysid = pytest.mark.skipif(not installed(), reason="mujoco.sysid is not installed")


@needs_sysid
def test_the_peer_finds_the_truth_and_keeps_to_its_candidates() -> None:
    best, spent = sysid_fit(line, SPACE)
    assert best == pytest.approx([0.1, 0.3], abs=1e-3)
    assert sysid_fit(line, SPACE, candidates=4)[1] <= 4 + SPACE.size < spent


@needs_sysid
def test_both_methods_begin_at_the_same_error_and_note_their_course() -> None:
    ours, peer = (fit_machine("ant", method, 12, 1) for method in sysid_peer.METHODS)
    assert peer["course"][0][2] == pytest.approx(ours["course"][0][2], rel=0.3), "from the same start"
    for one in (ours, peer):
        assert one["train"] == pytest.approx(one["course"][-1][2], rel=1e-6)
        assert [point[0] for point in one["course"]] == sorted(point[0] for point in one["course"])


def test_the_hidden_arm_has_friction_that_the_fitted_model_lacks_and_begins_far_from_it() -> None:
    fitted, judged, _ = sysid_peer._MACHINES["arm"](0)
    assert len(sysid_peer.ARM) == 17
    errors = np.degrees(np.sqrt((fitted.rows(fitted.twin.space.start[None]) ** 2).sum()))
    assert 1.0 < errors < 20.0
    assert isinstance(fitted, ReplayCost)
    assert isinstance(judged, ReplayCost)
    assert len(judged.measured) == len(fitted.measured) == 4


def counted(seed: int) -> dict[str, int]:
    """A job."""
    return {"square": seed * seed}


def test_jobs_run_in_processes_are_kept_and_come_back_in_order(tmp_path: Path) -> None:
    jobs = [SeedJob(tmp_path, seed, {"a": 1}, counted) for seed in (3, 1, 2)]
    said: list[str] = []
    assert [one["square"] for one in finish_jobs(jobs, 2, said.append)] == [9, 1, 4]
    assert len(said) == 3
    assert said[-1].endswith("0 of 3 to go")
    times = [(tmp_path / f"seed-{seed}.json").stat().st_mtime_ns for seed in (1, 2, 3)]
    finish_jobs(jobs, 1, said.append)
    assert times == [(tmp_path / f"seed-{seed}.json").stat().st_mtime_ns for seed in (1, 2, 3)]


def test_an_unknown_effort_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="huge"):
        btr_ant.Efforts.run(tmp_path, btr_ant.Efforts.Settings(scale="quick huge"))


def test_trials_to_be_as_good_count_until_the_control_is_reached() -> None:
    def one(speed: float, best: list[float]) -> dict[str, object]:
        return {"handed_over": speed, "best_so_far": best, "trials": len(best), "cpu_seconds": 1.0}

    found = {
        ("quick", family.name, way, 0): one(*values)
        for family in btr_ant.FAMILIES
        for way, values in {
            "improved": (0.3, [0.1, 0.25, 0.3]),
            "paper": (0.1, [0.1, 0.1, 0.1]),
            "same trials": (0.2, [0.1, 0.2, 0.2]),
            "reality alone": (0.0, [0.0, 0.0, 0.0]),
        }.items()
    }
    row = btr_ant._effort_row("quick", [0], found)
    assert row["ways"]["improved"]["needed"] == 2
    assert row["ways"]["paper"]["needed"] == 3
    assert row["ways"]["paper"]["worse"] == "2 of 2"
    assert row["gain"]["improved"] == pytest.approx([0.1, 0.1])


@pytest.mark.slow
def test_a_trot_is_learned_on_the_posterior_and_measured_on_the_hidden_body(tmp_path: Path) -> None:
    settings = posterior.Settings(population=4, generations=1, bodies=1, judged_bodies=1, evaluations=20)
    found = posterior.learn_body(tmp_path, settings, 0)
    assert set(found["hidden_values"]) == set(posterior.SEARCHED) == set(found["estimate"])
    assert set(found["ways"]) == set(posterior.WAYS)
    assert all(way["hidden_before"] > 0.5 for way in found["ways"].values())
