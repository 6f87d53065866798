"""The MoToFlex fit, with few and short trials."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.experiments import motoflex_fit
from nutmeg.experiments.experiment import perform
from nutmeg.experiments.hidden_fit import Disturbance, hidden_fit
from nutmeg.experiments.motoflex_fit import (
    FALLEN_COSINE,
    SEARCHED_FACTORS,
    WALKS,
    Scale,
    falling,
    four_walks_and_a_kick,
    motoflex_twin,
    walking,
)
from nutmeg.reality.distances.distance import DistanceSettings

if TYPE_CHECKING:
    from pathlib import Path

TINY = Scale(seconds=2.0, timestep=0.004, parents=1, children=2, generations=1, judged=False)


def test_five_robots_walk_and_kick_and_every_number_changes_what_they_do() -> None:
    twin = motoflex_twin(0.004)
    assert [t.name for t in four_walks_and_a_kick(twin.table, 2.0)] == [*WALKS, "kick"]
    trial = walking(twin.table, "long steps", WALKS["long steps"], 2.0)
    fit = hidden_fit(
        twin,
        twin.space.start,
        [trial],
        Disturbance(),
        np.random.default_rng(0),
        distance=DistanceSettings(kind="joint_error"),
        fallen=FALLEN_COSINE,
    )
    rows = np.vstack([twin.space.start, np.where(np.eye(twin.space.size) > 0, 0.5, 1.0)])
    errors = fit(rows)
    assert errors[0] == 0
    assert twin.space.names == tuple(SEARCHED_FACTORS)
    assert (errors[1:] > 0).all()


def test_falling_pays_with_m_0_and_1_and_not_with_2() -> None:
    found = falling(0.004)
    assert found["frames"]["falls"] < found["frames"]["walks on"] == found["frames"]["real"]
    better = found["mean_square_while_both_stand"]
    assert better["walks on"] < better["falls"]
    for m, falls_wins in (("m = 0", True), ("m = 1", True), ("m = 2", False)):
        assert (found["error"][m]["falls"] < found["error"][m]["walks on"]) == falls_wins
    assert 1 < found["least_exponent"] < 2


def test_an_unknown_scale_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="middle"):
        motoflex_fit.run(tmp_path, motoflex_fit.Settings(scale="midle"))


@pytest.mark.slow
def test_a_run_writes_figures_and_results(tmp_path: Path) -> None:
    answer = perform(motoflex_fit, tmp_path, motoflex_fit.Settings(seed=1, seeds=1, scale=TINY))
    names = {f.name for f in tmp_path.iterdir()}
    assert names == {"following.png", "parameters.png", "error.png", "falls.png", "results.json", "seed-1.json"}
    assert json.loads((tmp_path / "results.json").read_text()) == json.loads(json.dumps(answer))
    run = answer["runs"][0]
    assert run["evaluations"] == 2
    assert run["error"]["at_truth"] < run["error"]["end"] <= run["error"]["start"]
