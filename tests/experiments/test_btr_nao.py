"""The Nao in the air, with few samples and generations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.experiments.back_to_reality import btr_nao
from nutmeg.experiments.back_to_reality.btr_nao import (
    COMMAND_PERIOD,
    DISTURBANCE,
    RMS,
    STEPS_PER_COMMAND,
    TABLE_MASSES,
    Scale,
    nao_twin,
    walking_in_the_air,
)
from nutmeg.experiments.back_to_reality.hidden_fit import Disturbance, hidden_fit, hidden_values
from nutmeg.experiments.experiment import perform

if TYPE_CHECKING:
    from pathlib import Path

TINY = Scale(samples=280, generations=1, pure=1, newton=1)


def test_the_twin_is_the_table_on_a_stand_with_eight_masses_within_half() -> None:
    twin = nao_twin()
    assert twin.table.root < 0
    assert len(twin.table.motors) == 22
    assert twin.timestep == pytest.approx(COMMAND_PERIOD / STEPS_PER_COMMAND)
    assert twin.space.named(twin.space.start) == {
        f"mass_{s}{part}": kg for s in "RL" for part, kg in TABLE_MASSES.items()
    }
    np.testing.assert_allclose(twin.space.high / twin.space.start, 1.5)


def test_all_joints_move_and_stay_within_their_ranges() -> None:
    twin = nao_twin()
    trial = walking_in_the_air(twin.table, 280)
    model = twin.base.model
    limits = model.actuator_ctrlrange[[model.actuator(f"robot/{m}").id for m in twin.table.motors]]
    assert trial.commands.shape == (280, 22)
    assert (np.ptp(trial.commands, axis=0) > 0.05).all()
    assert (trial.commands >= limits[:, 0]).all()
    assert (trial.commands <= limits[:, 1]).all()


def test_the_masses_of_hip_roll_cannot_be_seen_but_a_shank_can() -> None:
    twin = nao_twin()
    trial = walking_in_the_air(twin.table, 280)
    fit = hidden_fit(twin, twin.space.start, [trial], Disturbance(), np.random.default_rng(0))
    rows = np.tile(twin.space.start, (3, 1))
    rows[1, twin.space.names.index("mass_LHipRoll")] *= 1.4
    rows[2, twin.space.names.index("mass_LKneePitch")] *= 1.4
    same, hip, shank = fit(rows)
    assert same == 0
    assert hip < 1e-5
    assert shank > 100 * hip


def test_noise_is_that_of_the_encoders() -> None:
    twin = nao_twin()
    trial = walking_in_the_air(twin.table, 280)
    fit = hidden_fit(
        twin, twin.space.start, [trial], Disturbance(angle=0.0005, resolution=0.0015), np.random.default_rng(0)
    )
    series = fit.measured[0].real.series
    assert series is not None
    np.testing.assert_allclose(series, np.round(series / 0.0015) * 0.0015, atol=1e-12)
    error = series - np.asarray(fit.behaviours(twin.space.start)[0].series)[0]
    assert error.std() == pytest.approx(np.hypot(0.0005, 0.0015 / np.sqrt(12)), rel=0.05)


def test_a_file_sets_hidden_masses_and_others_are_drawn(tmp_path: Path) -> None:
    file = tmp_path / "reality.toml"
    file.write_text("[values]\nmass_LKneePitch = 0.5\n")
    space = nao_twin().space
    first, second = (hidden_values(space, np.random.default_rng(3), file) for _ in range(2))
    assert space.named(first)["mass_LKneePitch"] == 0.5
    np.testing.assert_array_equal(first, second)
    file.write_text("[values]\nmass_LKnee = 0.5\n")
    with pytest.raises(UnknownNameError, match="mass_LKneePitch"):
        hidden_values(space, np.random.default_rng(3), file)


@pytest.mark.slow
def test_a_run_writes_figures_and_results_that_repeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = perform(btr_nao, tmp_path / "a", btr_nao.Settings(seed=3, seeds=1, size=TINY))
    for drawn in ("plot_following", "plot_parameters", "plot_errors"):  # once is enough
        monkeypatch.setattr(f"nutmeg.view.reports.figures.{drawn}", lambda *_, **__: None)
    second = perform(btr_nao, tmp_path / "b", btr_nao.Settings(seed=3, seeds=1, threads=2, size=TINY))
    assert {f.name for f in (tmp_path / "a").iterdir()} == {"results.json", "seed-3.json", "robot-3", "searches"}
    assert {f.name for f in (tmp_path / "a" / "robot-3").iterdir()} == {
        "figure-5.png",
        "figure-6.png",
        "figure-6-paper.png",
        "figure-7.png",
        "figure-7-paper.png",
    }
    assert json.loads((tmp_path / "a" / "results.json").read_text()) == json.loads(json.dumps(first))
    assert first["runs"][0]["masses"] == second["runs"][0]["masses"]
    verdicts = {m["name"]: m["identifiable"] for m in first["runs"][0]["masses"]}
    assert not verdicts["mass_LHipRoll"]
    assert not verdicts["mass_RHipRoll"]
    assert first["settings"]["noise"] == vars(DISTURBANCE)
    assert RMS.weight == first["settings"]["rms_weight"]
