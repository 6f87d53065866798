"""Experiments over seeds: an interrupted one goes on, and old results of other settings are not taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nutmeg.base.errors import FileError
from nutmeg.experiments.seeds import each_seed

if TYPE_CHECKING:
    from pathlib import Path


def test_an_interrupted_experiment_runs_only_the_seeds_that_are_missing(tmp_path: Path) -> None:
    done: list[int] = []

    def run(seed: int) -> dict[str, Any]:
        if seed == 2 and len(done) == 2:
            raise KeyboardInterrupt
        done.append(seed)
        return {"value": seed * 0.1}

    with pytest.raises(KeyboardInterrupt):
        each_seed(tmp_path, range(4), {"size": 3}, run)
    results = each_seed(tmp_path, range(4), {"size": 3}, lambda seed: (done.append(seed), {"value": seed * 0.1})[1])
    assert done == [0, 1, 2, 3]
    assert [one["value"] for one in results] == pytest.approx([0.0, 0.1, 0.2, 0.3])


def test_results_of_other_settings_and_broken_files_are_run_again(tmp_path: Path) -> None:
    each_seed(tmp_path, [7], {"size": 3}, lambda _: {"value": "old"})
    assert each_seed(tmp_path, [7], {"size": 4}, lambda _: {"value": "new"}) == [{"value": "new"}]
    (tmp_path / "seed-7.json").write_text("{", encoding="utf-8")
    assert each_seed(tmp_path, [7], {"size": 4}, lambda _: {"value": "again"}) == [{"value": "again"}]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(FileError, match=r"seed-0\.json"):
        each_seed(tmp_path / "file", [0], {}, lambda _: {})
