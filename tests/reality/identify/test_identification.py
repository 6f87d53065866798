"""Identification: hidden numbers are found, held-out logs are not seen, and nothing depends on how it is run."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import RecordingError, SimulationError, UsageError
from nutmeg.model import Adjustment
from nutmeg.reality.identify.identification import Identification, Identified
from nutmeg.reality.identify.settings import FitSearchSettings, IdentifySettings, read_identify
from nutmeg.reality.logs.conditions import StatedNumber
from nutmeg.reality.logs.replay import MeasuredTrial, RecordingsSettings, WindowSettings, found_files
from nutmeg.reality.twin import Searched, TwinSettings
from nutmeg.search.evaluation import InThisThread, Threads
from nutmeg.search.run import Generation


@pytest.fixture(scope="module")
def folder(bench: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    bench.logs(folder)
    return folder


@pytest.fixture(scope="module")
def settings(folder: Path) -> IdentifySettings:
    return read_identify(folder / "identify.toml")


def folded(folder: Path) -> str:
    """The folder of a robot whose lower arm is folded back into its trunk by 10 mm."""
    arm = """<mujoco><worldbody><body name="trunk"><geom type="box" size="0.1 0.1 0.1" mass="2"/>
      <body name="upper" pos="0 0 0.15"><joint name="shoulder" axis="0 1 0" range="-2 2" limited="true"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.1" size="0.02" mass="0.2"/>
        <body name="lower" pos="0 0 0.1"><joint name="elbow" axis="0 1 0" range="-3 3" limited="true"/>
          <geom type="box" size="0.02 0.02 0.09" pos="0.01 0 -0.07" mass="0.2"/>
        </body></body></body></worldbody></mujoco>"""
    (folder / "arm.xml").write_text(arm)
    head = 'format = 1\nname = "folded"\nsource = "drawn for this test"\nlicence = "Apache-2.0"\nbase = "fixed"\n'
    drives = '[drives.all]\njoints = ["*"]\nstiffness = 20.0\ndamping = 0.5\n'
    (folder / "robot.toml").write_text(f'{head}[model]\nmjcf = "arm.xml"\n{drives}')
    return str(folder)


def fit_of(settings: IdentifySettings, folder: Path, *, held_out: tuple[str, ...] = ("dropped.csv",)) -> Identification:
    train = found_files(settings.recordings.train, folder, "train")
    return Identification(settings, train=train, held_out=found_files(held_out, folder, "held out"), seed=2)


@pytest.fixture(scope="module")
def found(settings: IdentifySettings, folder: Path) -> Identified:
    return fit_of(settings, folder).run(InThisThread())


def short(settings: IdentifySettings, evaluations: int = 36) -> IdentifySettings:
    return dataclasses.replace(settings, search=dataclasses.replace(settings.search, evaluations=evaluations))


def test_a_held_out_log_that_does_not_tell_its_gain_is_refused_before_the_search(
    settings: IdentifySettings, folder: Path
) -> None:
    told = {"kp": StatedNumber(sets="servo.xl330.p", needed=True)}
    conditions = {"slow*": {"servo.xl330.p": 4.2}, "fast*": {"servo.xl330.p": 4.2}}
    recordings = dataclasses.replace(settings.recordings, told=told, conditions=conditions)
    with pytest.raises(RecordingError, match=r"dropped\.csv: does not tell kp"):
        fit_of(dataclasses.replace(settings, recordings=recordings), folder)


def test_hidden_numbers_are_found_and_known_to_be_sure(bench: Any, found: Identified) -> None:
    assert found.values == pytest.approx(bench.hidden, rel=0.05)
    known = found.identifiability
    assert known is not None
    for name, value in bench.hidden.items():
        assert known.identifiable(name)
        low, high = known.interval(name)
        assert low <= found.values[name] <= high
        assert high - low < 0.5 * value
    assert found.unit == "deg"
    assert max(found.after.train.values()) < 0.1 < min(found.before.train.values())
    assert found.after.held_out["dropped.csv"] < 0.2


def test_errors_stand_beside_those_of_the_commands_and_are_told_for_each_joint(found: Identified) -> None:
    assert found.baseline is not None
    assert set(found.baseline.train) == {"slow.csv", "fast.csv"}
    (slow,) = (m for m in found.train if isinstance(m, MeasuredTrial) and m.source == "slow.csv")
    series, goal = np.asarray(slow.real.series)[:, 0], slow.commanded["angles.pendulum"]
    assert found.baseline.train["slow.csv"] == pytest.approx(np.degrees(np.abs(series - goal).mean()))
    assert found.after.columns["angles.pendulum"]["train"] == pytest.approx(np.mean(list(found.after.train.values())))
    assert found.problems == ()


def test_windows_are_fitted_and_whole_recordings_reported(settings: IdentifySettings, folder: Path) -> None:
    windows = WindowSettings(seconds=0.4, every=0.2, errors="whole")
    fit = fit_of(dataclasses.replace(short(settings, 60), windows=windows), folder)
    assert len(fit.measured) > 2 * len(fit.reported) == 4
    whole = fit_of(short(settings), folder)
    found = fit.run(InThisThread())
    by_hand = whole.cost.per_recording(found.best, whole.error)
    assert found.after.train == pytest.approx({name: np.degrees(v[0]) for name, v in by_hand.items()})
    assert max(found.after.train.values()) < 0.5


def test_a_simulation_that_is_worse_than_its_commands_says_so_and_why(tmp_path: Path) -> None:
    """A robot that follows its commands exactly, simulated by one whose arm is folded into its trunk."""
    robot = folded(tmp_path)
    times = np.arange(100) * 0.01
    rows = "".join(f"{t:.2f},{0.3 * np.sin(3 * t):.6f},{0.3 * np.sin(3 * t):.6f}\n" for t in times)
    (tmp_path / "moved.csv").write_text("time_s,goal,position\n" + rows)
    channel = '[[channels]]\nname = "{0}"\ncolumns = ["{0}"]\nlabels = ["shoulder"]\nunit = "rad"\n'
    column_map = '[time]\ncolumn = "time_s"\n' + "".join(channel.format(name) for name in ("goal", "position"))
    (tmp_path / "columns.toml").write_text(f'kind = "log"\n{column_map}')
    settings = IdentifySettings(
        robot=TwinSettings(robot=robot, field="none"),
        recordings=RecordingsSettings(columns=tmp_path / "columns.toml"),
        commands={"goal": "shoulder"},
        compare={"position": "angles.shoulder"},
        parameters={"damping": Searched(low=0.4, high=0.6, sets=("drives.*.damping",))},
        search=FitSearchSettings(evaluations=20),
    )
    train = found_files(["moved.csv"], tmp_path, "train")
    found = Identification(settings, train=train, held_out={}, seed=0).run(InThisThread())
    assert found.baseline is not None
    assert found.baseline.train["moved.csv"] == 0.0
    (problem,) = found.problems
    assert problem.startswith("On fitted recordings the simulation errs by")
    assert "more than the commands themselves (position = goal: 0)" in problem
    assert 'ignore_contacts = [["lower", "trunk"]]' in problem


def test_the_offset_of_an_encoder_is_found_beside_the_friction(
    bench: Any, settings: IdentifySettings, folder: Path, tmp_path: Path
) -> None:
    for name in ("slow.csv", "fast.csv"):
        rows = np.genfromtxt(folder / name, delimiter=",", names=True)
        shifted = (rows["time_s"], rows["goal_rad"] + 0.04, rows["position_rad"] + 0.04, rows["torque_on"] > 0)
        bench.log(tmp_path / name, *shifted)
    zero = {"zero": Searched(low=-0.1, high=0.1, start=0.0, unit="rad", sets=("zero.pendulum",))}
    searched = dataclasses.replace(short(settings, 100), parameters={**settings.parameters, **zero})
    train = found_files(["slow.csv", "fast.csv"], tmp_path, "train")
    found = Identification(searched, train=train, held_out={}, seed=0).run(InThisThread())
    assert found.values == pytest.approx({**bench.hidden, "zero": 0.04}, rel=0.01)


def test_an_encoder_whose_zero_is_off_is_named(
    bench: Any, settings: IdentifySettings, folder: Path, tmp_path: Path
) -> None:
    rows = np.genfromtxt(folder / "slow.csv", delimiter=",", names=True)
    bench.log(
        tmp_path / "slow.csv", rows["time_s"], rows["goal_rad"], rows["position_rad"] + 0.1, rows["torque_on"] > 0
    )
    train = found_files(["slow.csv"], tmp_path, "train")
    found = Identification(short(settings, 40), train=train, held_out={}, seed=0).run(InThisThread())
    assert any("search its zero ([parameters.zero_pendulum]" in problem for problem in found.problems)


def test_angles_in_degrees_are_suspected(bench: Any, settings: IdentifySettings, tmp_path: Path) -> None:
    times = np.arange(60) * 0.01
    bench.log(tmp_path / "slow.csv", times, np.cos(times), np.degrees(np.sin(9 * times)), np.ones(60, bool))
    train = found_files(["slow.csv"], tmp_path, "train")
    found = Identification(short(settings, 12), train=train, held_out={}, seed=0).run(InThisThread())
    assert any(
        "slow.csv: angles.pendulum reaches 57.3 rad, beyond its limits or two turns. If these are degrees" in p
        for p in found.problems
    )


def test_an_error_that_is_far_larger_on_held_out_recordings_is_warned_of(
    bench: Any, settings: IdentifySettings, folder: Path
) -> None:
    times = np.arange(60) * 0.01
    bench.log(folder / "strange.csv", times, np.cos(times), 1 + 0.2 * np.sin(5 * times), np.ones(60, bool))
    found = fit_of(short(settings, 60), folder, held_out=("strange.csv",)).run(InThisThread())
    assert any("is far above that on fitted ones" in problem for problem in found.problems)


def test_the_numbers_are_as_promised_to_scripts(found: Identified) -> None:
    result = found.as_json()
    assert list(result) == ["parameters", "error", "evaluations", "seed"]
    parameters, error = result["parameters"], result["error"]
    assert isinstance(parameters, dict)
    assert isinstance(error, dict)
    assert set(parameters["viscous"]) == {"value", "low", "high", "unit", "interval", "identifiable"}
    assert set(error["per_recording"]) == {"slow.csv", "fast.csv", "dropped.csv"}
    assert error["train"] == pytest.approx(np.mean([error["per_recording"][n] for n in ("slow.csv", "fast.csv")]))


def test_what_is_held_out_changes_nothing_in_the_fit(bench: Any, settings: IdentifySettings, folder: Path) -> None:
    times = np.arange(60) * 0.01
    bench.log(folder / "other.csv", times, np.cos(times), 3 * np.sin(times), np.ones(60, bool))
    results = [
        fit_of(short(settings), folder, held_out=held).run(InThisThread())
        for held in ((), ("dropped.csv",), ("other.csv",))
    ]
    assert all(np.array_equal(results[0].best, r.best) for r in results)
    assert results[0].as_json()["error"]["held_out"] is None  # type: ignore[index]


def test_an_interrupted_fit_goes_on_to_the_same_numbers(
    settings: IdentifySettings, folder: Path, tmp_path: Path
) -> None:
    whole = fit_of(short(settings), folder).run(InThisThread())

    def stop(number: int, generation: Generation) -> None:
        if (number, generation.number) == (0, 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_of(short(settings), folder).run(InThisThread(), folder=tmp_path, on_generation=stop)
    again: list[bool] = []
    resumed = fit_of(short(settings), folder).run(
        Threads(2, piece=3), folder=tmp_path, on_generation=lambda _, g: again.append(g.replayed)
    )
    assert again[:5] == [True] * 4 + [False]
    assert resumed.as_json() == whole.as_json()


def test_re_fits_widen_what_is_known(settings: IdentifySettings, folder: Path) -> None:
    search = dataclasses.replace(settings.search, evaluations=60, refits=1)
    found = fit_of(dataclasses.replace(settings, search=search), folder, held_out=()).run(InThisThread())
    assert len(found.refits) == 1
    assert found.identifiability is not None
    assert found.identifiability.refits is not None
    assert found.result.best.value <= found.refits[0].best.value


def test_the_cost_can_be_sent_to_other_processes(settings: IdentifySettings, folder: Path) -> None:
    cost = fit_of(settings, folder).cost
    sent = pickle.loads(pickle.dumps(cost))
    candidates = np.array([[0.03, 0.01], [0.05, 0.02]])
    assert np.array_equal(sent(candidates), cost(candidates))
    assert cost(candidates)[1] < 1e-3 < cost(candidates)[0]
    assert np.array_equal(cost(candidates[1:]), cost(candidates)[1:])


def test_phi2_is_judged_by_its_own_curvature(settings: IdentifySettings, folder: Path) -> None:
    distance = dataclasses.replace(settings.distance, kind="phi2")
    found = fit_of(short(dataclasses.replace(settings, distance=distance)), folder).run(InThisThread())
    assert found.identifiability is not None
    assert found.unit == "deg"


def test_mistakes_end_with_a_sentence(settings: IdentifySettings, folder: Path) -> None:
    with pytest.raises(UsageError, match=r"no file matches 'slo\.csv'.*slow\.csv"):
        found_files(["slo.csv"], folder, "train")
    with pytest.raises(UsageError, match="relative to the folder") as missing:
        found_files(["none/*.csv"], folder, "train")
    assert f"{folder.resolve()}. There is no folder {folder.resolve() / 'none'}." in str(missing.value)
    with pytest.raises(UsageError, match="both fitted and held out"):
        fit_of(settings, folder, held_out=("slow.csv",))
    with pytest.raises(UsageError, match="no recordings to fit"):
        Identification(settings, train={}, held_out={}, seed=0)
    mixed = dataclasses.replace(settings.report_error, channels=("torso.*",))
    with pytest.raises(RecordingError, match="report_error"):
        fit_of(dataclasses.replace(settings, report_error=mixed), folder)


def test_a_fit_in_which_everything_breaks_down_says_so(settings: IdentifySettings, folder: Path) -> None:
    wild = {"stiffness": Searched(low=1e12, high=1e13, sets=("drives.*.stiffness",))}
    limits = (Adjustment(target="drives.*.torque", value=1e15), Adjustment(target="drives.*.speed", value=1e6))
    robot = dataclasses.replace(settings.robot, actuation="ideal", adjustments=limits)
    broken = dataclasses.replace(settings, robot=robot, parameters=wild)
    with pytest.raises(SimulationError, match=r"none of \d+ candidates"):
        fit_of(short(broken, 200), folder).run(InThisThread())
