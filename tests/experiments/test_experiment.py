"""What all experiments share: the rule of verdicts, the list, and quick versions at their real scale."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.commands import reproduce
from nutmeg.experiments.experiment import (
    Claim,
    Estimate,
    Goal,
    ListedGoal,
    claim_notes,
    find_scale,
    listed_experiments,
    load_experiment,
    perform,
)
from nutmeg.view.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1.00, 1.02, 0.98, 1.01], "agrees"),
        ([1.50, 1.52, 1.48, 1.51], "differs"),
        ([0.50, 0.52, 0.48, 0.51], "differs"),
        ([1.00, 1.60, 0.50, 0.90], "cannot tell"),  # too vague to agree, although its mean is the paper's
        ([1.08, 1.14, 1.12, 1.10], "cannot tell"),  # clearly not the same, but perhaps within the tolerance
        ([1.0], "cannot tell"),  # one measurement says nothing
    ],
)
def test_an_interval_within_the_tolerance_agrees_and_one_outside_differs(values: list[float], verdict: str) -> None:
    assert Claim.near("x", Estimate.of(values), 1.0, 0.1).verdict == verdict


def test_a_claim_with_one_side_needs_the_whole_interval_on_it() -> None:
    assert Claim(what="x", ours=Estimate.of([2.0, 2.1, 1.9]), least=1.0).verdict == "agrees"
    assert Claim(what="x", ours=Estimate.of([2.0, 2.1, 1.9]), most=1.0).verdict == "differs"
    assert Claim(what="x", ours=Estimate.of([2.0, 0.5]), least=1.0).verdict == "cannot tell"
    assert Claim(what="x", ours=Estimate.exact(0.15), least=0.15).verdict == "agrees"


def test_two_robots_have_the_same_outcome_if_they_fall_in_the_same_tries() -> None:
    falls = [True, False, True, False] * 5
    assert Claim.same_outcome("falls", falls, falls).verdict == "agrees"
    half = Claim.same_outcome("falls", falls, [True] * 20)
    assert (half.ours.mean, half.verdict) == (0.5, "differs")


def test_a_scale_is_found_by_name_or_given_as_it_is() -> None:
    scales = {"quick": 1.0, "paper": 100.0}
    assert find_scale("", scales, "quick") == 1.0
    assert find_scale("paper", scales, "quick") == 100.0
    assert find_scale(7.0, scales, "quick") == 7.0
    with pytest.raises(UnknownNameError, match="paper"):
        find_scale("papr", scales, "quick")


def test_more_measurements_of_the_same_spread_can_only_make_a_verdict_clearer() -> None:
    few, many = Estimate.with_error(3.0, 0.5, 8), Estimate.with_error(3.0, 0.05, 800)
    assert Claim.near("goals", few, 3.27, 0.8).verdict == "cannot tell"
    assert Claim.near("goals", many, 3.27, 0.8).verdict == "agrees"
    assert Claim.near("goals", many, 3.27, 0.8, error=1.0).verdict == "cannot tell", "the paper may be vague, too"
    assert Claim.near("goals", Estimate.with_error(0.38, 0.05, 800), 3.27, 0.8).verdict == "differs", "sizes count"


def test_intervals_are_those_of_student_and_wilson() -> None:
    found = Estimate.of([1.0, 2.0, 3.0])
    assert (found.low, found.high) == pytest.approx(
        (2 - 2.919986 / math.sqrt(3), 2 + 2.919986 / math.sqrt(3)), abs=1e-5
    )
    share = Estimate.of_share(12, 12)
    assert (share.low, share.high) == pytest.approx((12 / (12 + 1.644854**2), 1.0), abs=1e-4)


def test_claims_are_told_with_their_range_and_counted() -> None:
    claims = [Claim.near("speed", Estimate.of([0.2, 0.2, 0.21]), 0.2, 0.02, unit="m/s").as_json()]
    assert claim_notes(claims) == [
        "agrees: speed 0.203 (0.194 to 0.213) m/s; claimed: 0.2, taken as 0.180 to 0.220",
        "verdicts (90 % intervals): 1 agrees.",
    ]


def test_an_experiment_that_does_not_exist_is_refused_with_the_names_of_those_that_do() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown experiment 'btr-ent'\. Did you mean 'btr-ant'\?.*walk-table2"):
        reproduce.run(reproduce.Arguments(experiment="btr-ent"), Terminal())


def test_every_listed_experiment_can_be_loaded() -> None:
    for name, one in listed_experiments().items():
        experiment = load_experiment(name)
        assert callable(experiment.run)
        assert experiment.Settings(quick=True).quick
        assert 0 < one.quick_seconds <= 120


def test_a_listed_goal_takes_the_worst_of_all_numbers_that_its_path_names() -> None:
    answer = {"rows": [{"error": 1.0}, {"error": 3.0}, {"error": None}], "share": {"a": 0.9, "b": 0.5}}
    assert ListedGoal(what="error", at="rows.*.error", most=2.0).of(answer).met is False
    assert ListedGoal(what="error", at="rows.0.error", most=2.0).of(answer).met is True
    assert ListedGoal(what="share", at="share.*", least=0.5).of(answer).met is True
    assert ListedGoal(what="error", at="rows.2.error", most=2.0).of(answer).met is None


def test_goals_that_are_missed_or_no_longer_missed_are_told_beside_the_list() -> None:
    listed = replace(listed_experiments()["naoisis"], known_misses=("slow",))
    goals = [Goal(what="slow", found=1.0, limit=2.0), Goal(what="far", found=3.0, limit=2.0)]
    found = {"goals": [goal.as_json() for goal in goals]}
    assert (listed.missed(found), listed.reached(found)) == ([], [])
    found = {"goals": [replace(goal, found=3.0).as_json() for goal in goals]}
    assert listed.reached(found) == ["slow: listed as a known miss, but not missed"]
    found = {"goals": [replace(goal, found=None).as_json() for goal in goals]}
    assert listed.missed(found) == ["not measured: far -, wanted at least 2"]


def test_a_goal_with_two_sides_is_missed_on_either_of_them() -> None:
    listed = replace(listed_experiments()["naoisis"], known_misses=())
    sides = [Goal(what="share", found=0.5, limit=0.8), Goal(what="share", found=0.5, limit=0.9, most=True)]
    assert listed.missed({"goals": [goal.as_json() for goal in sides]}) == ["MISSED: share 0.5000, wanted at least 0.8"]


def test_all_experiments_run_although_one_breaks_off_and_the_end_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    listed = {name: replace(listed_experiments()["naoisis"], known_misses=()) for name in ("first", "second")}
    monkeypatch.setattr("nutmeg.experiments.experiment.listed_experiments", lambda: listed)

    def run_one(name: str, *_: object) -> dict[str, Any]:
        if name == "first":
            raise ValueError("no ground")
        return {"goals": [Goal(what="far", found=3.0, limit=2.0).as_json()]}

    monkeypatch.setattr(reproduce, "_run_one", run_one)
    answer = reproduce.run(reproduce.Arguments(experiment="all", quick=True, output=tmp_path), Terminal(json=True))
    assert answer["missed"] == {"first": ["broke off: ValueError: no ground"], "second": []}
    assert answer["exit_code"] == 1


@pytest.mark.slow
def test_a_quick_version_runs_at_its_real_scale_and_reaches_its_goals(tmp_path: Path) -> None:
    """`make experiments` does this with all of them."""
    listed, experiment = listed_experiments()["naoisis"], load_experiment("naoisis")
    answer = perform(experiment, tmp_path, experiment.Settings(quick=True, seeds=1), goals=listed.goal)
    assert listed.missed(answer) == []
    shown = experiment.table(answer)
    assert all(len(row) == len(shown.columns) for row in shown.rows)
    assert list(tmp_path.rglob("*.png"))
