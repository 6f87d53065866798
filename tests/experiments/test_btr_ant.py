"""Back-to-Reality on the ant; `test_experiment` runs its quick version."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError
from nutmeg.experiments.back_to_reality import btr_ant
from nutmeg.experiments.back_to_reality.btr_ant import (
    EFFORTS,
    FAMILIES,
    IDENTIFYING_WAYS,
    LAME_FAMILY,
    LENGTHS,
    LENGTHS_FAMILY,
    WAYS,
    ant_claims,
    ant_lengths,
    improved_settings,
    length_summary,
    on_true_body,
    read_reality,
    way_settings,
    without_identification,
)


def test_the_papers_step_2_takes_the_fittest_of_this_iteration_and_the_best_simulation() -> None:
    improved = improved_settings(LENGTHS_FAMILY, dict.fromkeys(LENGTHS, 1.2), (), EFFORTS["paper"], seed=1)
    paper = way_settings(improved, "paper")
    assert paper.trials == round(0.6 * 20)
    assert (paper.transfer.random, paper.transfer.exploring, paper.estimate) == (0, 0, "best")
    assert (paper.memory.use, paper.memory.iterations) == ("last", 1)
    assert (improved.trials, improved.transfer.random, improved.estimate) == (15, 12, "mean")
    assert way_settings(improved, "exploring").transfer.exploring == 6
    assert {way: way_settings(improved, way).mode for way in WAYS} == {
        **dict.fromkeys(IDENTIFYING_WAYS, "btr"),
        "discrepancy": "discrepancy",
        "true body": "none",
        "no identification": "none",
        "reality alone": "reality",
    }


def test_gains_are_taken_in_the_same_realities_and_few_of_them_cannot_tell() -> None:
    def way(speed: list[float], error: list[float]) -> dict[str, list[float]]:
        keys = ("error", "error_share", "phi_falls", "of_reality_alone")
        return {"of_true_body": speed, **dict.fromkeys(keys, error)}

    def said(speeds: list[float]) -> str:
        ways = {"paper": way([0.9, 0.5, 0.7], [0.2, 0.3, 0.1]), "exploring": way(speeds, [0.2, 0.3, 0.1])}
        claims = ant_claims({"families": {"lengths": {"ways": ways}}})
        return next(one.verdict for one in claims if "speed gained by active exploration" in one.what)

    assert said([1.0, 0.6, 0.8]) == "agrees"
    assert said([0.8, 0.4, 0.6]) == "differs"
    assert said([0.5, 0.9, 0.8]) == "cannot tell"


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
    settings = improved_settings(LAME_FAMILY, hidden, (), EFFORTS["quick"], seed=1)
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
