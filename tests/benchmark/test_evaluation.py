"""The benchmark of evaluation, on work of a moment."""

from __future__ import annotations

import pytest

from nutmeg.benchmark import evaluation


@pytest.mark.slow
def test_threads_and_dask_workers_give_the_same_values_and_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"TRIALS": 1, "SECONDS": 0.4, "TURNS": 1}.items():
        monkeypatch.setattr(evaluation, name, value)
    threads, cluster = evaluation.evaluation(0.1)
    assert threads.ratio is not None
    assert threads.met == (threads.ratio >= 1.7)
    assert cluster.ratio is not None
    assert cluster.met == (cluster.ratio >= 0.85)
    assert cluster.value == pytest.approx(cluster.ratio * threads.value)
