from __future__ import annotations

from pathlib import Path

import pytest

from nutmeg.experiments import coverage


@pytest.mark.slow
def test_intervals_under_white_noise_hold_the_truth_and_a_wrong_clock_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coverage, "CASES", (coverage.CASES[0], coverage.CASES[-1]))
    answer = coverage.run(tmp_path, coverage.Settings(seeds=2, evaluations=150))
    white, clock = answer["rows"]
    assert white["all"] >= 0.75
    assert clock["all"] <= 0.25, "the model is wrong there"
    assert coverage.table(answer).rows[0][0] == "white noise"
