"""Back-to-Reality on the ant, in a tiny configuration."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError
from nutmeg.experiments import btr_ant
from nutmeg.experiments.btr_ant import (
    FAMILIES,
    FIT_SETTINGS,
    LAME_FAMILY,
    LENGTHS,
    LENGTHS_FAMILY,
    Effort,
    ant_lengths,
    ant_settings,
    length_summary,
    on_true_body,
    read_reality,
    without_identification,
)
from nutmeg.experiments.experiment import perform

TINY = Effort(iterations=2, controllers=2, simulations=2, trials=8, most_trials=20)


@pytest.mark.slow
def test_a_tiny_run_writes_figures_and_results_and_is_only_read_when_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "nutmeg.experiments.btr_ant.FIT_SETTINGS", replace(FIT_SETTINGS, candidates=11, rounds=1)
    )  # found well below
    said: list[str] = []
    settings = btr_ant.Settings(quick=True, seed=3, families=(LENGTHS_FAMILY,), effort=TINY, bodies=1)
    answer = perform(btr_ant, tmp_path, settings, said.append)
    written = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert written["complete"]
    assert written["learned"] == answer["learned"]
    assert (tmp_path / "lengths" / "seed-03" / "figure-3.png").stat().st_size > 10_000
    family = answer["families"]["lengths"]
    assert family["trials_in_reality"] <= TINY.most_trials
    assert set(family["speed"]) == {"btr", "true body", "no identification", "reality alone"}
    assert all(np.isfinite(value) for value in family["speed"].values())
    shown = btr_ant.table(answer)
    assert any("true body" in row[0] and row[2] == ">= 0.9" for row in shown.rows)
    again = btr_ant.run(tmp_path, settings)
    assert again["learned"][0]["errors"] == answer["learned"][0]["errors"]


@pytest.mark.slow
def test_our_way_finds_the_lengths_of_a_hidden_body_from_two_trials(tmp_path: Path) -> None:
    file = tmp_path / "reality.toml"
    file.write_text("[hidden]\nL1_femur = 1.2\nL1_tibia = 0.8\nR3_femur = 0.75\nR3_tibia = 1.3\n", encoding="utf-8")
    found = ant_lengths(1, btr_ant.Settings(seed=5, reality=file))
    same = length_summary(found, "same")
    assert same["trials_in_reality"] == 2
    assert same["median"] < 0.03
    assert same["worst"] < 0.12
    assert length_summary(found, "other")["median"] < 0.12


def test_hidden_numbers_are_drawn_within_their_ranges() -> None:
    for family in FAMILIES:
        for seed in range(20):
            for name, value in family.draw(np.random.default_rng(seed)).items():
                low, high = family.hidden[name]
                assert low <= value <= high


def test_the_true_body_is_where_its_search_starts_and_the_control_starts_as_drawn() -> None:
    hidden = LAME_FAMILY.draw(np.random.default_rng(1))
    settings = ant_settings(LAME_FAMILY, hidden, (), TINY, seed=1)
    true = on_true_body(settings)
    assert {name: one.start for name, one in true.simulation.items()} == hidden
    control = without_identification(settings)
    assert {name: one.start for name, one in control.simulation.items()} == {
        n: s.start for n, s in LAME_FAMILY.searched.items()
    }
    assert (control.mode, control.trials) == ("none", 0)


def test_another_reality_is_read_and_a_misspelt_number_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "reality.toml"
    file.write_text(
        "[hidden]\nL1_femur = 1.3\n[[adjustments]]\ntarget = 'foot.friction'\nvalue = 0.7\n", encoding="utf-8"
    )
    found = read_reality(file)
    assert found.hidden == {"L1_femur": 1.3}
    assert found.adjustments[0].value == 0.7
    file.write_text("[hidden]\nL1_femr = 1.3\n", encoding="utf-8")
    with pytest.raises(FileError, match="L1_femur"):
        read_reality(file)


def test_the_four_lengths_are_the_papers() -> None:
    assert set(LENGTHS_FAMILY.hidden) == set(LENGTHS)
