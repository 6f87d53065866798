from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.reality.btr.result import BtrResult, Iteration
from nutmeg.reality.btr.settings import BtrSettings, read_btr
from nutmeg.search import Dimension, Genetic, GeneticSettings, InThisThread, OneByOne, SearchResult, Space, minimise
from nutmeg.view.reports.btr import btr_report, figure3
from nutmeg.view.reports.fit import write_report

EXAMPLE = Path(__file__).parents[3] / "examples" / "btr_ant" / "btr.toml"
NAMES = ("L1_femur", "L1_tibia", "R3_femur", "R3_tibia")
SIMULATIONS = Space({name: Dimension(low=0.6, high=1.4) for name in NAMES})
CONTROLLERS = Space({"a": Dimension(low=0, high=1)})


def searched(space: Space, seed: int) -> SearchResult:
    searcher = Genetic(space, GeneticSettings(population=6), np.random.default_rng(seed))
    return minimise(OneByOne(lambda c, _: float(np.sum((c - 0.8) ** 2))), searcher, InThisThread(), budget=24)


@pytest.fixture(scope="module")
def result() -> BtrResult:
    iterations = [
        Iteration(
            number=i,
            controllers=searched(CONTROLLERS, i),
            champion=np.array([0.8]),
            fitness=0.3,
            tried=(),
            simulations=searched(SIMULATIONS, i) if i < 2 else None,
            simulation=np.full(4, 0.8),
            space=SIMULATIONS,
            phi=0.01 if i < 2 else np.nan,
            phi_before=0.1 if i < 2 else np.nan,
            compared=4,
            warnings=("L1_femur is odd",),
        )
        for i in range(3)
    ]
    return BtrResult(
        mode="btr",
        iterations=tuple(iterations),
        controllers=CONTROLLERS,
        simulations=SIMULATIONS,
        searched={},
        controller=np.array([0.8]),
        fitness=0.25,
        champion=np.array([0.8]),
        champion_fitness=0.25,
        champion_simulated=0.3,
        simulation=np.full(4, 0.8),
        trials=12,
        reason="3 iterations are done",
    )


@pytest.fixture
def settings() -> BtrSettings:
    return read_btr(EXAMPLE)


def test_the_figure_is_a_picture_with_and_without_a_known_truth(result: BtrResult) -> None:
    for truth in ({}, {"L1_femur": 1.2}):
        png = figure3(result, truth=truth)
        assert png.startswith(b"\x89PNG")
        assert len(png) > 20_000


def test_the_report_shows_what_was_found_and_what_it_cost(
    result: BtrResult, settings: BtrSettings, tmp_path: Path
) -> None:
    report = btr_report(
        result, settings, command="nutmeg btr ant.toml", truth={"L1_femur": 1.25}, seconds=3.0, video="best.mp4"
    )
    assert [row.name for row in report.parameters] == list(NAMES)
    assert report.parameters[0].true == 1.25
    assert report.train_error == 0.01
    assert report.train_error_before == 0.1
    assert report.convergences[0].starts == (0, 24)
    assert report.cost.real_trials == 12
    assert report.cost.evaluations == 3 * 24 + 2 * 24
    write_report(tmp_path / "report.html", report)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "L1_femur is odd" in page
    assert "nutmeg btr ant.toml" in page
    assert "0.25 m/s in reality" in page
    assert "phi1 tells how far a simulation is from reality" in page
    assert 'src="best.mp4"' in page
