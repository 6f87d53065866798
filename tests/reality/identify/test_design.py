"""Motions designed for a pendulum and for robots that could hurt themselves."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.cli import main
from nutmeg.model.parameters import Adjustment
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.identify.curvature import curvature
from nutmeg.reality.identify.design import Design, DesignSettings, design
from nutmeg.reality.identify.identifiability import assess_identifiability
from nutmeg.reality.identify.identification import ReplayCost
from nutmeg.reality.logs.replay import MeasuredTrial
from nutmeg.reality.twin import TWIN_ROBOT, Searched, Twin, TwinSettings
from nutmeg.sim.worlds import Worlds

PENDULUM = Path(__file__).parents[3] / "examples" / "pendulum"
SETTINGS = DesignSettings(seconds=3.0, candidates=8, motions=2, amplitude={"*": 0.8})


@pytest.fixture(scope="module")
def pendulum() -> Twin:
    return Twin(
        TwinSettings(robot=str(PENDULUM), field="none"),
        {
            "stiffness": Searched(low=3.0, high=20.0, start=8.0, scale="log", sets=("drives.servo.stiffness",)),
            "delay": Searched(low=0.0, high=0.06, start=0.02, sets=("delay",)),
            "stand": Searched(low=0.2, high=2.0, start=0.5, sets=("mass.stand",)),
        },
    )


@pytest.fixture(scope="module")
def designed(pendulum: Twin) -> Design:
    return design(pendulum, SETTINGS, rest(pendulum))


def rest(twin: Twin) -> np.ndarray:
    return Worlds(twin.base).robot(TWIN_ROBOT).start


def test_what_no_motion_can_find_is_said_before_any_is_tried(designed: Design) -> None:
    assert designed.judged.identifiable("stiffness")
    assert designed.judged.identifiable("delay")
    assert not designed.judged.identifiable("stand"), "it is bolted down"
    assert "hardly depend on it" in designed.judged.reason("stand")


def test_a_fit_to_the_motions_is_as_sure_as_was_promised(pendulum: Twin, designed: Design) -> None:
    rng = np.random.default_rng(0)
    start = pendulum.space.start
    measured = []
    for trial, rollout in zip(designed.trials, pendulum.simulate(start[None], designed.trials), strict=True):
        angles = rollout.angles[0] + SETTINGS.noise * rng.standard_normal(rollout.angles[0].shape)
        real = Behaviour(columns=("angles.swing",), units=("rad",), series=angles, frames=len(trial))
        measured.append(MeasuredTrial(source=trial.name, trial=trial, times=rollout.times, real=real))
    cost = ReplayCost(pendulum, tuple(measured), DistanceSettings(kind="rms"))
    found = assess_identifiability(pendulum.space, curvature=curvature(cost.residuals, pendulum.space, start))
    for name in ("stiffness", "delay"):
        promised, reached = np.ptp(designed.judged.interval(name)), np.ptp(found.interval(name))
        assert reached == pytest.approx(promised, rel=0.5)


def test_the_chosen_motions_tell_more_than_the_others(pendulum: Twin, designed: Design) -> None:
    def volume(found: Design) -> float:
        assert found.judged.curvature is not None
        return float(np.linalg.slogdet(found.judged.curvature.covariance)[1])

    few = [DesignSettings(seconds=3.0, candidates=2, motions=2, amplitude={"*": 0.8}, seed=s) for s in (1, 2, 3)]
    others = [design(pendulum, settings, rest(pendulum)) for settings in few]
    assert volume(designed) < np.median([volume(one) for one in others])
    assert len(designed.gains) == 2
    assert min(designed.gains) > 1.0


def test_motions_keep_the_limits_and_robots_do_not_touch_themselves() -> None:
    settings = TwinSettings(robot="ers7", field="none", held=True, height=0.5)
    twin = Twin(settings, {"delay": Searched(low=0.0, high=0.06, start=0.02, sets=("delay",))})
    found = design(twin, DesignSettings(seconds=2.0, candidates=4, motions=1, amplitude={"*": 0.5}), rest(twin))
    commands, table = found.trials[0].commands, twin.table
    limits = table.limits[table.motor_joints]
    assert (commands >= limits[:, 0]).all()
    assert (commands <= limits[:, 1]).all()
    rotor = [i for i, name in enumerate(table.motors) if name.endswith(":rotor")]
    assert np.abs(np.diff(commands[:, rotor], axis=0)).max() / 0.02 <= np.radians(278.7)
    model, data = twin.base.model, mujoco.MjData(twin.base.model)
    for row in commands[::5]:
        data.qpos[:] = twin.base.start
        data.qpos[table.angles[table.motor_joints]] = row
        mujoco.mj_forward(model, data)
        assert data.ncon == 0


def test_robots_with_velocity_drives_are_refused() -> None:
    spark = Twin(TwinSettings(robot="nao-spark", field="none"), {"d": Searched(low=0, high=0.1, sets=("delay",))})
    with pytest.raises(UsageError, match="has velocity drives"):
        design(spark, SETTINGS, rest(spark))


def test_motions_that_need_too_much_torque_are_dropped_and_counted() -> None:
    weak = TwinSettings(
        robot=str(PENDULUM), field="none", adjustments=(Adjustment(target="drives.servo.torque", value=0.05),)
    )
    twin = Twin(weak, {"delay": Searched(low=0.0, high=0.06, start=0.02, sets=("delay",))})
    with pytest.raises(UsageError, match="all 8 random motions were dropped: 8 because of torque"):
        design(twin, SETTINGS, rest(twin))


def test_a_parameter_that_is_assumed_to_be_at_the_end_of_its_range_is_said_to_be_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration = tmp_path / "identify.toml"
    configuration.write_text(
        f'[robot]\nrobot = "{PENDULUM}"\nfield = "none"\n[recordings]\ntrain = ["*.csv"]\n'
        '[commands]\n"goal" = "swing"\n[compare]\n"angle" = "angles.swing"\n'
        '[parameters.delay]\nlow = 0.0\nhigh = 0.08\nstart = 0.0\nsets = ["delay"]\n'
        '[parameters.stand]\nlow = 0.1\nhigh = 4.0\nstart = 0.1\nsets = ["mass.stand"]\nrelative = true\n'
    )
    options = ["--seconds", "2", "--candidates", "2", "--motions", "1", "--output", str(tmp_path / "motions")]
    assert main(["excite", str(configuration), *options]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "stand cannot be found by these motions: its assumed value 0.1 is the end of its range" in said


def test_the_command_writes_what_to_play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "motions"
    options = ["--seconds", "2", "--candidates", "3", "--motions", "1", "--output", str(folder), "--json"]
    assert main(["excite", str(PENDULUM), "--parameters", "delay", "mass.stand", *options]) == 0
    out = capsys.readouterr()
    answer = json.loads(out.out.splitlines()[-1])
    assert answer["parameters"]["delay"]["identifiable"]
    assert not answer["parameters"]["mass.stand"]["identifiable"]
    assert "mass.stand cannot be found by these motions" in out.err
    rows = list(csv.DictReader((folder / "motion-1.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 100
    assert float(rows[0]["swing"]) == pytest.approx(0.6, abs=1e-6), "it starts where the robot is"
