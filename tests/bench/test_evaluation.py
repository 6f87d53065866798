"""The benchmark of evaluation, on work of a moment."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.bench import evaluation


@pytest.mark.slow
def test_threads_and_dask_workers_give_the_same_values_and_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"TRIALS": 1, "SECONDS": 0.4, "TURNS": 2}.items():
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
