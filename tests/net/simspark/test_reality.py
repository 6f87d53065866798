"""A kick on a real server of the league's protocol, beside the same kick in simulation."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.rules.book import load_rules
from nutmeg.net.simspark.reality import SimsparkReality
from nutmeg.net.simspark.server import Server, ServerSettings
from nutmeg.reality.btr.back_to_reality import BackToReality
from nutmeg.reality.btr.controllers import ControllerSettings, make_controllers
from nutmeg.reality.btr.settings import StopSettings, TransferSettings, read_btr
from nutmeg.reality.observation import FitnessSettings, Watch
from nutmeg.reality.realities import RealitySettings
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings
from nutmeg.search import CmaEsSettings, GeneticSettings, SearchSettings

EXAMPLE = Path(__file__).parents[3] / "examples" / "btr_nao_kick" / "btr.toml"
WATCH = Watch(fitness=FitnessSettings(kind="ball_distance"), series=("angles.?lj*", "ball.*", "torso.pitch"), ball=True)


@pytest.fixture(scope="module")
def twin() -> Twin:
    """The league's robot on the engine that the server has."""
    settings = TwinSettings(robot="nao-spark", physics="league", ball="sim3d", ball_at=(0.197, 0.018))
    return Twin(settings, {"delay": Searched(low=0.0, high=0.05, start=0.02, sets=("delay",))})


@pytest.fixture(scope="module")
def kick(twin: Twin) -> Trial:
    controllers = make_controllers(ControllerSettings(kind="keyframes", gait="kick", seconds=1.9), twin)
    return controllers.trials(controllers.space.start[None], ["kick"])[0]


def served(*, ground_truth: bool) -> Iterator[RealitySettings]:
    game = Game(load_rules("sim3d"), seed=0, seats=1, setup=PhysicalSetup(noise=False, ground_truth=ground_truth))
    with game, Server(game, ServerSettings(agent_port=0, monitor_port=0, pace="sync")) as server:
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield RealitySettings(kind="simspark", port=server.agent_port, monitor_port=server.monitor_port)
        finally:
            server.stop()
            thread.join()


@pytest.fixture
def server() -> Iterator[RealitySettings]:
    yield from served(ground_truth=True)


@pytest.fixture
def secretive_server() -> Iterator[RealitySettings]:
    yield from served(ground_truth=False)


def test_a_kick_on_the_server_does_what_it_does_on_the_same_engine(
    server: RealitySettings, twin: Twin, kick: Trial
) -> None:
    simulated = WATCH.simulate(twin, twin.space.start[None], [kick])[0].one(0)
    with SimsparkReality(server, twin, WATCH) as reality:
        first, again = reality.try_out([kick, dataclasses.replace(kick, name="again")])
    assert first.behaviour.frames == len(kick), "it did not fall"
    assert first.fitness == pytest.approx(simulated.fitness, rel=0.15)
    assert first.fitness == pytest.approx(again.fitness, rel=0.05), "a trial begins as the one before it"
    assert first.behaviour.series is not None
    assert simulated.series is not None
    legs = [i for i, name in enumerate(simulated.columns) if name.startswith("angles.")]
    error = np.degrees(first.behaviour.series[:, legs] - simulated.series[:, legs])
    assert np.sqrt((error**2).mean()) < 1.5
    ball = [first.behaviour.columns.index(f"ball.{axis}") for axis in "xy"]
    np.testing.assert_allclose(first.behaviour.series[0, ball], [0.197, 0.018], atol=0.02)


def test_a_server_that_keeps_the_truth_to_itself_is_refused(
    secretive_server: RealitySettings, twin: Twin, kick: Trial
) -> None:
    with (
        SimsparkReality(secretive_server, twin, WATCH) as reality,
        pytest.raises(EnvironmentProblem, match="--ground-truth"),
    ):
        next(iter(reality.try_out([kick])))


def test_no_server_another_robot_and_another_period_are_errors_that_say_what_to_do(twin: Twin, kick: Trial) -> None:
    nobody = RealitySettings(kind="simspark", port=1)
    with pytest.raises(EnvironmentProblem, match="no server answers"):
        next(iter(SimsparkReality(nobody, twin, WATCH).try_out([kick])))
    with pytest.raises(UsageError, match=r"every 0\.04 s; needed is 0\.02 s"):
        next(iter(SimsparkReality(nobody, twin, WATCH).try_out([dataclasses.replace(kick, period=0.04)])))
    ant = Twin(TwinSettings(robot="ant"), {"delay": Searched(low=0.0, high=0.05, sets=("delay",))})
    with pytest.raises(UsageError, match="has no robot 'ant'"):
        SimsparkReality(nobody, ant, Watch())


@pytest.mark.slow
def test_the_example_learns_a_kick_on_a_server(server: RealitySettings, tmp_path: Path) -> None:
    small = SearchSettings(generations=2, algorithm="cma-es", cma_es=CmaEsSettings(population=4, step=0.1))
    settings = dataclasses.replace(
        read_btr(EXAMPLE),
        reality=server,
        controller_search=small,
        simulation_search=SearchSettings(generations=2, genetic=GeneticSettings(population=3)),
        transfer=TransferSettings(trials=2),
        stop=StopSettings(iterations=2),
    )
    run = BackToReality(settings, folder=tmp_path / "run", realities={"simspark": SimsparkReality})
    result = run.run()
    assert result.trials == 3
    assert np.isfinite(result.fitness)
    assert 'name = "found"' in run.controllers.text("found", result.controller, "")
