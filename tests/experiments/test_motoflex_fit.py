"""The MoToFlex fit; `test_experiment` runs its quick version."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.experiments.back_to_reality.hidden_fit import Disturbance, hidden_fit
from nutmeg.experiments.motoflex import motoflex_fit
from nutmeg.experiments.motoflex.motoflex_fit import (
    SCALES,
    SEARCHED_FACTORS,
    WALKS,
    Scale,
    falling,
    found_body,
    four_walks_and_a_kick,
    motoflex_twin,
    walking,
)
from nutmeg.model.identified import read_body, write_body
from nutmeg.motion.preview_walk import FALLEN_COSINE
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.twin import TwinSettings, TwinTogether

if TYPE_CHECKING:
    from pathlib import Path


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


def test_every_scale_has_time_for_its_walks() -> None:
    table = motoflex_twin(0.004).table
    for scale in SCALES.values():
        trials = four_walks_and_a_kick(table, scale.seconds)
        assert all(len(trial) >= scale.seconds / trial.period - 1 for trial in trials[:4])


def test_searches_of_several_robots_on_a_device_are_judged_on_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # MuJoCo stands for the device: what is tested is that all robots and strategies are searched in one batch.
    batches: list[int] = []

    class Counted(TwinTogether):
        def _answer_all(self, asked: Any) -> Any:
            batches.append(sum(len(one.rows) for one in asked))
            return super()._answer_all(asked)

    def on_processor(settings: TwinSettings, *rest: Any, **more: Any) -> TwinTogether:
        return Counted(dataclasses.replace(settings, device="cpu"), *rest, **more)

    monkeypatch.setattr(motoflex_fit, "TwinTogether", on_processor)
    scale = Scale(
        seconds=1.9,
        timestep=0.004,
        parents=1,
        children=4,
        generations=2,
        strategies=("es", "cma-es"),
        walk_seconds=4.0,
        references=0,
    )
    settings = motoflex_fit.Settings(scale=scale, seeds=2, device="warp-cpu")
    found = motoflex_fit.run(tmp_path, settings)
    assert batches == [16, 16]
    for run in found["runs"]:
        for strategy in run["strategies"].values():
            assert strategy["evaluations"] == 8
            assert strategy["searched_error"] == strategy["error"]
    (tmp_path / "seed-1.json").unlink()
    again = motoflex_fit.run(tmp_path, settings)
    assert batches == [16, 16], "searches that are over are not run again"
    assert again["runs"][1]["strategies"]["es"]["estimate"] == found["runs"][1]["strategies"]["es"]["estimate"]


def test_found_numbers_make_a_body_that_can_be_read_and_placed(tmp_path: Path) -> None:
    twin = motoflex_twin(0.004)
    write_body(tmp_path / "params.toml", found_body(twin, twin.space.start * 0.9, "a test"))
    body = read_body(tmp_path / "params.toml")
    assert body.robot == "nao-v4"
    assert {one.target for one in body.adjustments} >= {"gear.leg201.play", "gear.ankle.play", "servo.leg130.p"}
    assert all(one.value == pytest.approx(0.9) for one in body.adjustments)
