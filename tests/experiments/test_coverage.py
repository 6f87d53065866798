from __future__ import annotations

from pathlib import Path

import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.experiments.identification import coverage


@pytest.mark.slow
def test_intervals_hold_the_truth_where_the_model_is_right_and_not_where_a_wrong_clock_is_not_searched(
    tmp_path: Path,
) -> None:
    chosen = ("white noise", "5 % outliers, huber", "clock*")
    answer = coverage.run(tmp_path, coverage.Settings(seeds=2, evaluations=150, cases=chosen))
    white, outliers, clock, searched = answer["rows"]
    assert min(white["all"], outliers["all"], searched["all"]) >= 0.6
    assert clock["all"] <= 0.25, "the model is wrong there"
    assert coverage.table(answer).rows[0][0] == "white noise"


def test_an_unknown_kind_of_noise_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="pink"):
        coverage.run(tmp_path, coverage.Settings(cases=("pink",)))


def test_few_recordings_miss_a_goal_only_where_they_can_tell() -> None:
    def met(share: float, repeats: int) -> list[bool | None]:
        return [goal.met for goal in coverage._goals({"case": "white", "all": share, "repeats": repeats})]

    assert met(1.0, 3) == [True, True], "three of three may be 0.9"
    assert met(0.25, 3) == [False, True]
    assert met(1.0, 100) == [True, False]
    assert met(0.9, 100) == [True, True]
