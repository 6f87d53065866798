from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from nutmeg.base.errors import FileError, NutmegError, RecordingError, UsageError
from nutmeg.model.parameters import Adjustment
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.btr.back_to_reality import BackToReality, Listeners
from nutmeg.reality.btr.result import BtrResult
from nutmeg.reality.btr.settings import (
    BtrSettings,
    ExtendSettings,
    MemorySettings,
    StopSettings,
    TransferSettings,
    read_btr,
)
from nutmeg.reality.btr.warnings import Prior
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.realities import Observed, Reality, RealitySettings
from nutmeg.reality.realities.hidden import HiddenSimulation
from nutmeg.reality.twin import Searched, Trial
from nutmeg.recording import Channel, Manifest, RecordingWriter
from nutmeg.search import CmaEsSettings, GeneticSettings, SearchSettings, Threads
from nutmeg.view.reports.btr import btr_report, figure3

Small = Callable[..., BtrSettings]
EXAMPLES = Path(__file__).parents[3] / "examples"
EXAMPLE = EXAMPLES / "btr_ant" / "btr.toml"


def run(settings: BtrSettings, folder: Path, *, reality: Any = None, **given: Any) -> BtrResult:
    """A run, in the reality of its settings or in another one."""
    if reality is not None:
        given["realities"] = {settings.reality.kind: lambda *_: reality}
    return BackToReality(settings, folder=folder, **given).run()


@pytest.fixture(scope="module")
def undisturbed(small_btr: Small, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    return folder, run(small_btr(), folder).as_json()


def test_simulation_comes_nearer_and_everything_is_counted(
    undisturbed: tuple[Path, dict[str, Any]], small_btr: Small
) -> None:
    folder, found = undisturbed
    first, second, last = found["iterations"]
    assert first["phi"] < 0.7 * first["phi_before"]
    assert second["phi"] <= second["phi_before"]
    assert last["phi"] is None, "the last iteration only searches controllers"
    assert found["evaluations"] == {"controllers": 30, "simulations": 64, "simulated_trials": 30 + 32 * 2 + 32 * 4}
    assert found["trials_in_reality"] == 5 == len((folder / "reality.jsonl").read_text().splitlines())
    assert [t["how"] for i in found["iterations"] for t in i["tried"]] == ["fittest"] * 4 + ["confirm"]
    assert found["fitness"] == max(t["real"] for i in found["iterations"] for t in i["tried"])
    assert found["champion"]["real"] == last["tried"][0]["real"]
    assert len((folder / "iterations.jsonl").read_text().splitlines()) == 3
    assert [json.loads(line) for line in (folder / "iterations.jsonl").read_text().splitlines()] == found["iterations"]


def test_the_same_call_finds_the_same_without_asking_reality_again(
    undisturbed: tuple[Path, dict[str, Any]], small_btr: Small
) -> None:
    folder, found = undisturbed

    class Gone:
        trials = 0

        def try_out(self, trials: Sequence[Trial]) -> list[Observed]:
            raise AssertionError("asked again")

    assert run(small_btr(), folder, reality=Gone()).as_json() == found


def test_threads_do_not_change_a_bit(
    undisturbed: tuple[Path, dict[str, Any]], small_btr: Small, tmp_path: Path
) -> None:
    assert run(small_btr(), tmp_path / "run", evaluator=Threads(2, piece=3)).as_json() == undisturbed[1]


@pytest.mark.parametrize("stop_at", [0, 2, 7, 11, 13])
def test_an_interrupted_run_ends_with_the_same_numbers(
    undisturbed: tuple[Path, dict[str, Any]], small_btr: Small, tmp_path: Path, stop_at: int
) -> None:
    done = []

    def stop(step: str, number: int, generation: object) -> None:
        done.append((step, number, generation))
        if len(done) == stop_at + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(small_btr(), tmp_path / "run", listeners=Listeners(on_generation=stop))
    assert run(small_btr(), tmp_path / "run").as_json() == undisturbed[1]


class Breaking:
    """A reality that fails once, in some way, then is repaired."""

    def __init__(self, inner: Reality, how: str) -> None:
        self.inner, self.how, self.trials = inner, how, 0

    def try_out(self, trials: Sequence[Trial]) -> Iterator[Observed]:
        for observed in self.inner.try_out(trials):
            self.trials += 1
            b = observed.behaviour
            if self.trials == 4 and self.how == "raises":
                raise ConnectionError("the robot is out of reach")
            if self.trials == 4 and self.how == "nan":
                b = dataclasses.replace(b, fitness=float("nan"))
            if self.trials == 4 and self.how == "columns":
                b = Behaviour(columns=("x",), units=("",), series=b.series, fitness=b.fitness)
            yield Observed(trial=observed.trial, behaviour=b)


@pytest.mark.parametrize(
    ("how", "error"), [("raises", ConnectionError), ("nan", RecordingError), ("columns", RecordingError)]
)
def test_a_reality_that_fails_changes_nothing_once_it_is_repaired(
    undisturbed: tuple[Path, dict[str, Any]], small_btr: Small, tmp_path: Path, how: str, error: type[Exception]
) -> None:
    whole = BackToReality(small_btr(), folder=tmp_path / "other").reality.reality
    with pytest.raises(error):
        run(small_btr(), tmp_path / "run", reality=Breaking(whole, how))
    assert run(small_btr(), tmp_path / "run").as_json() == undisturbed[1]


def test_a_folder_is_not_shared_by_runs_with_other_settings(
    undisturbed: tuple[Path, dict[str, Any]], small_btr: Small
) -> None:
    with pytest.raises(FileError, match="another configuration"):
        run(small_btr(distance=DistanceSettings(kind="phi1")), undisturbed[0])


def test_a_finished_run_can_be_made_longer(small_btr: Small, tmp_path: Path) -> None:
    run(small_btr(stop=StopSettings(iterations=1)), tmp_path / "run")
    longer = run(small_btr(stop=StopSettings(iterations=2)), tmp_path / "run").as_json()
    fresh = run(small_btr(stop=StopSettings(iterations=2)), tmp_path / "fresh").as_json()
    assert longer == fresh


def test_trials_in_reality_are_never_more_than_allowed(small_btr: Small, tmp_path: Path) -> None:
    settings = small_btr(stop=StopSettings(iterations=3, most_trials=4), transfer=TransferSettings(trials=3))
    result = run(settings, tmp_path / "run")
    assert [len(i.tried) for i in result.iterations] == [3, 0, 1]
    assert result.trials == 4


def test_a_goal_ends_the_run(small_btr: Small, tmp_path: Path) -> None:
    result = run(small_btr(stop=StopSettings(iterations=3, goal=0.1)), tmp_path / "run")
    assert len(result.iterations) == 1
    assert "the goal 0.1 is reached" in result.reason


def test_trials_may_be_random_or_chosen_for_what_they_tell(small_btr: Small, tmp_path: Path) -> None:
    transfer = TransferSettings(trials=4, exploring=1, random=2, pool=5, rivals=3)
    settings = small_btr(
        transfer=transfer,
        memory=MemorySettings(use="informative", most=3),
        stop=StopSettings(iterations=2, last="full"),
    )
    result = run(settings, tmp_path / "run")
    assert [t.how for t in result.iterations[0].tried] == ["fittest", "exploring", "random", "random"]
    assert [i.compared for i in result.iterations] == [3, 3]
    again = run(settings, tmp_path / "again")
    assert again.as_json() == result.as_json()


def test_the_control_never_changes_the_simulation(small_btr: Small, tmp_path: Path) -> None:
    result = run(small_btr(mode="none", stop=StopSettings(iterations=2)), tmp_path / "run")
    assert result.evaluations["simulations"] == 0
    np.testing.assert_array_equal(result.simulation, result.simulations.start)
    assert result.trials == 3


def test_discrepancy_correction_learns_what_to_expect_in_reality(small_btr: Small, tmp_path: Path) -> None:
    def gap(result: BtrResult) -> float:
        last = result.iterations[-1]
        return abs(last.fitness - last.tried[0].real)

    stop = StopSettings(iterations=2)
    plain = run(small_btr(mode="none", stop=stop), tmp_path / "none")
    corrected = run(small_btr(mode="discrepancy", stop=stop), tmp_path / "fitness")
    full = run(small_btr(mode="discrepancy", discrepancy="controller", stop=stop), tmp_path / "controller")
    assert gap(corrected) < 0.5 * gap(plain)
    assert gap(full) < 0.5 * gap(plain)


def test_learning_in_reality_alone_spends_trials_and_no_simulation(small_btr: Small, tmp_path: Path) -> None:
    settings = small_btr(mode="reality", stop=StopSettings(most_trials=12))
    calls = []

    def stop(name: str, fitness: float | None, known: bool) -> None:
        calls.append(name)
        if len(calls) == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(settings, tmp_path / "run", listeners=Listeners(on_trial=stop))
    result = run(settings, tmp_path / "run")
    assert result.trials == 10, "two populations of five"
    assert result.evaluations["simulated_trials"] == 0
    assert result.fitness == result.champion_fitness
    assert result.as_json() == run(settings, tmp_path / "fresh").as_json()


def test_phi1_and_other_searchers_do_as_well(small_btr: Small, tmp_path: Path) -> None:
    search = SearchSettings(algorithm="cma-es", generations=4, cma_es=CmaEsSettings(population=6))
    settings = small_btr(
        distance=DistanceSettings(kind="phi1"),
        simulation_search=search,
        estimate="mean",
        transfer=TransferSettings(trials=3),
        stop=StopSettings(iterations=2),
    )
    folder = tmp_path / "run"
    result = run(settings, folder)
    assert result.iterations[0].phi < result.iterations[0].phi_before
    assert not (folder / "trials").exists(), "phi1 needs no series"


@pytest.mark.parametrize("algorithm", ["least-squares", "response-fit"])
def test_methods_that_see_every_sample_find_the_hidden_body(
    small_btr: Small, tmp_path: Path, algorithm: Literal["least-squares", "response-fit"]
) -> None:
    search = SearchSettings(algorithm=algorithm, generations=6)
    settings = small_btr(simulation_search=search, stop=StopSettings(iterations=2))
    result = run(settings, tmp_path / "run")
    assert result.simulations.named(result.simulation) == pytest.approx(settings.reality.values, rel=0.01)
    wrong = dataclasses.replace(settings, controller_search=search)
    with pytest.raises(UsageError, match=f"{algorithm} works with the differences of series"):
        run(wrong, tmp_path / "wrong")


def test_the_accuracy_of_the_simulation_can_be_searched(small_btr: Small, tmp_path: Path) -> None:
    searched = {"step": Searched(low=0.0018, high=0.01, start=0.005, unit="s", sets=("physics.timestep",))}
    settings = small_btr(
        simulation=searched, reality=RealitySettings(values={"step": 0.002}), stop=StopSettings(iterations=2)
    )
    result = run(settings, tmp_path / "run")
    assert result.iterations[0].phi < 0.5 * result.iterations[0].phi_before
    assert result.simulation[0] < 0.0035


def test_where_reality_is_recordings_the_simulation_learns_from_those_alone(small_btr: Small, tmp_path: Path) -> None:
    source = BackToReality(small_btr(), folder=tmp_path / "source")
    made = source.controllers.trials([[0.2, 0.3], [0.5, 0.2], [0.6, 0.4]], ["a", "b", "c"])
    channels = [Channel(name=name, labels=("swing",), unit="rad") for name in ("command", "angles")]
    files = {}
    for trial, observed in zip(made, source.reality.reality.try_out(made), strict=True):
        series = observed.behaviour.series
        assert series is not None
        files[trial.name] = tmp_path / f"{trial.name}.nutmeg"
        with RecordingWriter.create(
            files[trial.name], Manifest(kind="log", seed=0, channels=tuple(channels))
        ) as writer:
            writer.append_many(0.02 * np.arange(len(trial)), np.concatenate([trial.commands, series], axis=1))
    settings = small_btr(
        reality=RealitySettings(kind="recorded", recordings=files), transfer=TransferSettings(trials=2, exploring=1)
    )
    result = run(settings, tmp_path / "run")
    assert sorted(t.trial.name for i in result.iterations for t in i.tried) == ["a", "b", "c"]
    assert [len(i.tried) for i in result.iterations] == [2, 1, 0]
    assert result.iterations[0].phi < 0.7 * result.iterations[0].phi_before
    np.testing.assert_array_equal(result.controller, result.champion)


def test_a_bizarre_simulation_is_warned_about(small_btr: Small, tmp_path: Path) -> None:
    settings = small_btr(
        plausible={"stiffness": Prior(value=11.0, deviation=0.1)}, stop=StopSettings(iterations=1, last="full")
    )
    result = run(settings, tmp_path / "run")
    assert any("stiffness" in text and "deviations from the 11" in text for text in result.iterations[0].warnings)


def test_warnings_about_the_last_estimate_are_told_though_the_last_iteration_searches_no_simulations(
    small_btr: Small, tmp_path: Path
) -> None:
    narrow = {"stiffness": Searched(low=7.5, high=12.0, start=8.0, unit="N m/rad", sets=("drives.servo.stiffness",))}
    settings = small_btr(simulation=narrow, reality=RealitySettings(values={"stiffness": 7.5}))
    result = run(settings, tmp_path / "run")
    assert result.iterations[-1].simulations is None
    assert any("stiffness" in text and "is at the end of its range" in text for text in result.as_json()["warnings"])


def test_an_estimate_that_predicts_worse_than_none_is_not_used_until_it_does_better(
    small_btr: Small, tmp_path: Path
) -> None:
    settings = small_btr(stop=StopSettings(iterations=4))
    source = BackToReality(settings, folder=tmp_path / "source")
    bodies = [HiddenSimulation(source.twin, values, source.watch) for values in ({"stiffness": 3.5}, {})]

    class ChangesItsSprings:
        """A robot whose springs break in after the first iteration: then it is as it was drawn."""

        trials = 0

        def try_out(self, trials: Sequence[Trial]) -> Iterator[Observed]:
            yield from bodies[not trials[0].name.startswith("i00")].try_out(trials)

    result = run(settings, tmp_path / "run", reality=ChangesItsSprings())
    assert [i.searched_in for i in result.iterations[:3]] == ["estimate", "estimate", "start"]
    first, second = (i.prediction for i in result.iterations[:2])
    assert first is None
    assert second is not None
    assert second.before == pytest.approx(0.0, abs=1e-12)
    assert second.phi > 0.01
    assert any("do not trust it" in text for text in result.warnings)
    assert all(i.phi <= i.phi_before for i in result.iterations if i.simulations)


def test_a_last_gait_that_is_worse_than_without_identification_is_not_the_one_handed_over(
    small_btr: Small, tmp_path: Path
) -> None:
    found = run(small_btr(), tmp_path / "run")
    worse = dataclasses.replace(found, champion_fitness=found.iterations[0].best_real - 0.1)
    assert not any("The last gait" in text for text in found.warnings)
    assert any("less than" in text and "is the one handed over" in text for text in worse.warnings)
    assert found.fitness >= found.iterations[0].best_real


def test_without_trials_there_is_nothing_to_identify(small_btr: Small, tmp_path: Path) -> None:
    with pytest.raises(NutmegError, match="no trial was made in reality"):
        run(small_btr(transfer=TransferSettings(trials=0)), tmp_path / "run")


def test_the_example_configuration_is_the_papers() -> None:
    settings = read_btr(EXAMPLE)
    assert settings.controller_search.generations * settings.controller_search.population == 11 * 20
    assert settings.simulation_search.generations * settings.simulation_search.population == 11 * 15
    assert settings.stop.iterations == 13
    assert settings.stop.most_trials == 180
    assert set(settings.simulation) == {"L1_femur", "L1_tibia", "R3_femur", "R3_tibia"}


def test_a_wrong_configuration_says_where(tmp_path: Path) -> None:
    file = tmp_path / "btr.toml"
    text = EXAMPLE.read_text(encoding="utf-8")
    file.write_text(text.replace('kind = "phi1"', 'kind = "phi3"'), encoding="utf-8")
    with pytest.raises(NutmegError, match="phi3"):
        read_btr(file)
    file.write_text(text.replace("random = 12", "random = 16"), encoding="utf-8")
    with pytest.raises(FileError, match="16 random of 15 trials"):
        read_btr(file)


@pytest.mark.slow
def test_an_ant_learns_to_walk_on_a_body_it_does_not_know(tmp_path: Path) -> None:
    example = read_btr(EXAMPLE)
    settings = dataclasses.replace(
        example,
        controller=dataclasses.replace(example.controller, begin="gait"),  # no time to learn from scratch
        controller_search=SearchSettings(generations=2, genetic=GeneticSettings(population=6)),
        simulation_search=SearchSettings(generations=4, genetic=GeneticSettings(population=6, step=0.2)),
        transfer=TransferSettings(trials=3),
        stop=StopSettings(iterations=2, last="full"),
    )
    result = run(settings, tmp_path / "run")
    assert result.fitness > 0.05
    assert result.iterations[0].phi < result.iterations[0].phi_before
    assert result.trials == 6


def test_estimates_have_intervals(small_btr: Small, tmp_path: Path) -> None:
    result = run(small_btr(stop=StopSettings(iterations=3)), tmp_path / "run")
    assert result.judged is not None
    intervals = result.as_json()["intervals"]
    for name, value in result.simulations.named(result.simulation).items():
        assert intervals[name][0] <= value <= intervals[name][1]


def test_what_the_searched_numbers_lack_is_proposed(small_btr: Small, tmp_path: Path) -> None:
    damping = {"damping": Searched(low=0.01, high=0.3, start=0.05, scale="log", sets=("joint.swing.damping",))}
    late = RealitySettings(values={"damping": 0.05}, adjustments=(Adjustment(target="delay", value=0.04),))
    result = run(small_btr(simulation=damping, reality=late), tmp_path / "run")
    assert result.proposals
    assert result.proposals[0].untried.target == "delay"
    assert result.proposals[0].value in (0.02, 0.04), "some of it went into the damping"
    assert '[simulation.delay] sets = ["delay"]' in result.as_json()["proposals"][0]
    same = run(small_btr(), tmp_path / "same")
    assert same.proposals == (), "the searched numbers explain everything"


TERMS = {
    "zero": Searched(low=-0.2, high=0.2, start=0.0, unit="rad", sets=("zero.swing",)),
    "delay": Searched(low=0.0, high=0.08, start=0.0, unit="s", sets=("delay",)),
    "mass": Searched(low=0.5, high=2.0, start=1.0, sets=("mass.*",), relative=True),
}


def late(delay: float) -> RealitySettings:
    """A reality that answers late, and does not call it a name."""
    return RealitySettings(values={"damping": 0.1}, adjustments=(Adjustment(target="delay", value=delay),))


@pytest.fixture(scope="module")
def lacking(small_btr: Small) -> BtrSettings:
    """Settings whose reality is late, which no searched number explains."""
    damping = {"damping": Searched(low=0.01, high=0.3, start=0.05, scale="log", sets=("joint.swing.damping",))}
    return small_btr(
        simulation=damping,
        reality=RealitySettings(values={"damping": 0.1, "delay": 0.04}),
        extend=ExtendSettings(terms=TERMS),
        transfer=TransferSettings(trials=4),
    )


@pytest.fixture(scope="module")
def grown(lacking: BtrSettings, tmp_path_factory: pytest.TempPathFactory) -> BtrResult:
    return run(lacking, tmp_path_factory.mktemp("grown") / "run")


def test_a_term_that_the_space_lacks_is_found_and_joins_it(grown: BtrResult, lacking: BtrSettings) -> None:
    extension = grown.iterations[0].extension
    assert extension is not None
    assert extension.freed is not None
    assert extension.freed.name == "delay"
    assert {one.name for one in extension.tried} == set(TERMS), "each was tried"
    assert extension.freed.held_out < 0.5 * extension.control
    assert extension.phi < 0.5 * extension.phi_before
    assert grown.simulations.names == ("damping", "delay")
    found = grown.simulations.named(grown.simulation)
    assert found["delay"] == pytest.approx(0.04, abs=0.005)
    assert [i.space.size for i in grown.iterations] == [2, 2, 2]
    assert grown.iterations[1].phi <= grown.iterations[1].phi_before


def test_a_term_that_gains_too_little_stays_out(lacking: BtrSettings, tmp_path: Path) -> None:
    demanding = ExtendSettings(terms={"mass": TERMS["mass"]}, least_gain=0.99)
    result = run(dataclasses.replace(lacking, extend=demanding, reality=late(0.04)), tmp_path / "run")
    extension = result.iterations[0].extension
    assert extension is not None
    assert extension.freed is None
    assert "None carries over" in extension.text
    assert result.simulations.names == ("damping",)
    assert result.iterations[1].extension is not None, "it is tried again when there are many more trials"


def test_what_was_tried_and_gained_is_in_json_and_report(grown: BtrResult, lacking: BtrSettings) -> None:
    told = grown.as_json()
    extension = told["iterations"][0]["extension"]
    assert extension["freed"] == "delay"
    assert extension["tried"][0]["sets"] == ["delay"]
    assert told["intervals"].keys() == {"damping", "delay"} == told["simulation"].keys()
    assert extension["evaluations"] > 0
    assert told["evaluations"]["simulations"] == extension["evaluations"] + 2 * 32
    (table,) = btr_report(grown, lacking, command="nutmeg btr").tables
    assert table.rows[0][1] == "delay"
    assert table.rows[0][-1] == "joins"
    assert figure3(grown).startswith(b"\x89PNG")


@pytest.mark.parametrize("stop_at", [6, 11, 23, 27])
def test_a_run_that_is_interrupted_while_terms_are_tried_ends_with_the_same_numbers(
    grown: BtrResult, lacking: BtrSettings, tmp_path: Path, stop_at: int
) -> None:
    steps: list[str] = []

    def stop(step: str, number: int, generation: object) -> None:
        steps.append(step)
        if len(steps) == stop_at + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(lacking, tmp_path / "run", listeners=Listeners(on_generation=stop))
    assert any(step.startswith("terms/") for step in steps)
    assert run(lacking, tmp_path / "run").as_json() == grown.as_json()


def test_without_a_list_the_numbers_of_the_robot_are_tried(lacking: BtrSettings, tmp_path: Path) -> None:
    result = run(dataclasses.replace(lacking, extend=ExtendSettings(), reality=late(0.04)), tmp_path / "run")
    extension = result.iterations[0].extension
    assert extension is not None
    assert extension.freed is not None
    assert extension.freed.name == "delay"
    assert 1 <= len(extension.tried) <= 3


def test_a_space_that_explains_reality_stays_as_it_is(small_btr: Small, tmp_path: Path) -> None:
    settings = small_btr(extend=ExtendSettings(terms=TERMS), transfer=TransferSettings(trials=4))
    result = run(settings, tmp_path / "run")
    assert result.simulations.names == ("damping", "stiffness")
    assert [i.extension for i in result.iterations] == [None, None, None]


def test_a_term_that_is_searched_already_is_refused(small_btr: Small) -> None:
    with pytest.raises(ValueError, match=r"which \[simulation\] searches from the beginning"):
        small_btr(extend=ExtendSettings(terms={"damping": Searched(low=0.0, high=1.0)}))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["btr_nao_walk/btr.toml", "btr_ers7_trot/btr.toml", "btr_ers7_trot/extend.toml"])
def test_the_examples_of_walks_run_at_a_small_size(name: str, tmp_path: Path) -> None:
    settings = read_btr(EXAMPLES / name)
    small = SearchSettings(generations=2, algorithm="cma-es", cma_es=CmaEsSettings(population=4, step=0.1))
    result = run(
        dataclasses.replace(
            settings,
            controller=dataclasses.replace(settings.controller, seconds=2.0),
            controller_search=small,
            simulation_search=SearchSettings(generations=2, genetic=GeneticSettings(population=3)),
            transfer=TransferSettings(trials=2),
            stop=StopSettings(iterations=2),
        ),
        tmp_path / "run",
    )
    assert result.trials == 3
    assert result.fitness > 0.0
