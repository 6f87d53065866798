"""Recordings as trials: times, starts, power, windows, parts and conditions; what is wrong with a log is said."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import NutmegError, RecordingError, UnknownNameError, UsageError
from nutmeg.base.settings import toml_text
from nutmeg.model import Adjustment
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.identify.design import ExcitationSettings, excitations
from nutmeg.reality.identify.identification import ReplayCost
from nutmeg.reality.identify.settings import IdentifySettings, read_identify
from nutmeg.reality.logs.conditions import Condition, StatedNumber
from nutmeg.reality.logs.replay import (
    RecordingsSettings,
    ReplaySettings,
    StartSettings,
    WindowSettings,
    check_conditions,
    read_log,
)
from nutmeg.reality.twin import Searched, Twin, TwinSettings
from nutmeg.sim.worlds import Worlds

TIMES = np.arange(100) * 0.01


@pytest.fixture
def config(bench: Any, tmp_path: Path) -> IdentifySettings:
    return read_identify(bench.logs(tmp_path))


def twin_of(settings: IdentifySettings) -> Twin:
    return Twin(settings.robot, settings.parameters)


def test_a_regular_log_keeps_its_period_and_starts_where_it_was_measured(
    bench: Any, config: IdentifySettings, tmp_path: Path
) -> None:
    bench.log(tmp_path / "a.csv", TIMES + 5, np.sin(TIMES), 0.3 + TIMES, TIMES < 0.5)
    (one,) = read_log(tmp_path / "a.csv", config, twin_of(config))
    assert one.trial.period == pytest.approx(0.01)
    assert np.allclose(one.trial.commands[:, 0], np.sin(TIMES))
    assert one.trial.start is not None
    assert np.asarray(one.trial.start.angles).tolist() == [0.3]
    assert np.isnan(np.asarray(one.trial.start.rates)).all()
    assert one.trial.powered is not None
    assert np.array_equal(one.trial.powered, TIMES < 0.5)
    assert np.allclose(one.times, TIMES)
    assert one.real.columns == ("angles.pendulum",)


def test_commands_of_an_irregular_log_hold_until_the_next(bench: Any, config: IdentifySettings, tmp_path: Path) -> None:
    times = np.array([0.0, 0.005, 0.0113, 0.02, 0.0271])
    bench.log(tmp_path / "a.csv", times, np.arange(5.0) / 10, np.zeros(5), np.ones(5, bool))
    (one,) = read_log(tmp_path / "a.csv", config, twin_of(config))
    assert one.trial.period == pytest.approx(0.002)
    rows = np.arange(len(one.trial)) * 0.002
    expected = [np.flatnonzero(times <= t + 1e-9)[-1] / 10 for t in rows]
    assert np.allclose(one.trial.commands[:, 0], expected)
    assert rows[-1] >= times[-1]


def test_rows_without_a_command_or_start_are_left_out_first(
    bench: Any, config: IdentifySettings, tmp_path: Path
) -> None:
    goal, position = np.sin(TIMES), np.cos(TIMES)
    goal[:3], position[:5], position[50] = np.nan, np.nan, np.nan
    bench.log(tmp_path / "a.csv", TIMES, goal, position, np.ones(100, bool))
    (one,) = read_log(tmp_path / "a.csv", config, twin_of(config))
    assert len(one.times) == 95
    assert np.isnan(np.asarray(one.real.series)[45]).all()
    goal[70] = np.nan
    bench.log(tmp_path / "a.csv", TIMES, goal, position, np.ones(100, bool))
    with pytest.raises(RecordingError, match=r"missing at t=0.7"):
        read_log(tmp_path / "a.csv", config, twin_of(config))
    holding = dataclasses.replace(config, missing_commands="hold")
    (one,) = read_log(tmp_path / "a.csv", holding, twin_of(config))
    assert one.trial.commands[65, 0] == one.trial.commands[64, 0] == pytest.approx(np.sin(0.69))


def test_windows_start_in_the_recorded_state(bench: Any, config: IdentifySettings, tmp_path: Path) -> None:
    bench.log(tmp_path / "a.csv", TIMES, np.sin(TIMES), 2 * TIMES, np.ones(100, bool))
    settings = dataclasses.replace(config, windows=WindowSettings(seconds=0.2, every=0.1))
    pieces = read_log(tmp_path / "a.csv", settings, twin_of(config))
    assert len(pieces) == 8
    assert {p.source for p in pieces} == {"a.csv"}
    assert len({p.trial.name for p in pieces}) == 8
    third = pieces[2].trial
    assert third.start is not None
    assert np.asarray(third.start.angles)[0] == pytest.approx(0.4)
    assert np.asarray(third.start.rates)[0] == pytest.approx(2.0)
    assert pieces[2].times[0] == 0
    assert pieces[2].times[-1] == pytest.approx(0.2)
    longer = dataclasses.replace(config, windows=WindowSettings(seconds=5.0, every=1.0))
    (shorter,) = read_log(tmp_path / "a.csv", longer, twin_of(config))
    assert len(shorter.times) == 100
    rolling = dataclasses.replace(config, start=StartSettings(rates="difference"))
    (whole,) = read_log(tmp_path / "a.csv", rolling, twin_of(config))
    assert whole.trial.start is not None
    assert np.asarray(whole.trial.start.rates)[0] == pytest.approx(2.0)


def test_windows_begin_in_the_next_measured_row_where_samples_are_missing(
    bench: Any, config: IdentifySettings, tmp_path: Path
) -> None:
    position = 2 * TIMES
    position[1::3] = np.nan  # the second window would begin in row 10, which is missing
    position[40:55] = np.nan  # no window begins in the gap, and none in row 56 beside it, whose speed is not known
    bench.log(tmp_path / "a.csv", TIMES, np.sin(TIMES), position, np.ones(100, bool))
    settings = dataclasses.replace(config, windows=WindowSettings(seconds=0.2, every=0.1))
    pieces = read_log(tmp_path / "a.csv", settings, twin_of(config))
    begins = [float(np.asarray(one.trial.start.angles)[0]) / 2 for one in pieces if one.trial.start]
    np.testing.assert_allclose(begins, [0.0, 0.11, 0.2, 0.3, 0.57, 0.6, 0.71], atol=1e-6)
    for one in pieces:
        assert one.trial.start is not None
        assert np.asarray(one.trial.start.rates)[0] == pytest.approx(2.0)
        assert 0.12 <= one.times[-1] <= 0.2 + 1e-9


def test_a_file_is_split_where_time_jumps(bench: Any, config: IdentifySettings, tmp_path: Path) -> None:
    times = np.concatenate([TIMES[:40], TIMES[:60] + 10])
    bench.log(tmp_path / "a.csv", times, np.sin(times), np.zeros(100), np.ones(100, bool))
    recordings = dataclasses.replace(config.recordings, split=1.0)
    parts = read_log(tmp_path / "a.csv", dataclasses.replace(config, recordings=recordings), twin_of(config))
    assert [(p.source, len(p.times)) for p in parts] == [("a.csv#0", 40), ("a.csv#1", 60)]


def test_conditions_go_by_the_name_of_the_recording(bench: Any, config: IdentifySettings, tmp_path: Path) -> None:
    conditions: dict[str, dict[str, float | Condition]] = {
        "a*": {"servo.*.p": 3.0, "robot.length": Condition(value=1.1, relative=True)},
        "b*": {"delay": 0.1},
    }
    recordings = dataclasses.replace(config.recordings, conditions=conditions)
    bench.log(tmp_path / "a.csv", TIMES, np.sin(TIMES), np.zeros(100), np.ones(100, bool))
    (one,) = read_log(tmp_path / "a.csv", dataclasses.replace(config, recordings=recordings), twin_of(config))
    assert one.trial.conditions == (
        Adjustment(target="servo.*.p", value=3.0),
        Adjustment(target="robot.length", value=1.1, relative=True),
    )


def test_what_a_recording_tells_of_itself_gives_way_to_what_is_said_of_its_name(
    bench: Any, config: IdentifySettings, tmp_path: Path
) -> None:
    told = {
        "kp": StatedNumber(sets="servo.xl330.p", factor=0.5, needed=True),
        "length": StatedNumber(sets="robot.length", names=("l",)),
    }
    recordings = dataclasses.replace(config.recordings, told=told, conditions={"odd*": {"servo.xl330.p": 9.0}})
    settings = dataclasses.replace(config, recordings=recordings)
    for name in ("kp4_l0.12.csv", "odd_l0.12.csv", "other.csv"):
        bench.log(tmp_path / name, TIMES, np.sin(TIMES), np.zeros(100), np.ones(100, bool))
    length = Adjustment(target="robot.length", value=0.12)
    (one,) = read_log(tmp_path / "kp4_l0.12.csv", settings, twin_of(config))
    assert one.trial.conditions == (Adjustment(target="servo.xl330.p", value=2.0), length)
    (one,) = read_log(tmp_path / "odd_l0.12.csv", settings, twin_of(config))
    assert one.trial.conditions == (length, Adjustment(target="servo.xl330.p", value=9.0))
    check_conditions([tmp_path / "kp4_l0.12.csv", tmp_path / "odd_l0.12.csv"], settings.recordings)
    with pytest.raises(RecordingError, match=r"other\.csv: does not tell kp"):
        check_conditions([tmp_path / "other.csv"], settings.recordings)


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"commands": {"servo.gaol": "pendulum"}}, UnknownNameError, "servo.goal"),
        ({"commands": {"servo.goal": "pendlum"}}, UnknownNameError, "motor"),
        ({"compare": {"servo.position": "angles.knee"}}, UnknownNameError, "angles.pendulum"),
        ({"compare": {"servo.speed": "angles.pendulum"}}, RecordingError, "rad/s"),
        ({"commands": {"servo.goal": "pendulum", "servo.position": "pendulum"}}, UsageError, "two channels"),
    ],
)
def test_what_does_not_fit_the_log_is_named(
    config: IdentifySettings, tmp_path: Path, changes: dict[str, dict[str, str]], kind: type[NutmegError], text: str
) -> None:
    settings = dataclasses.replace(config, **changes)  # type: ignore[arg-type]
    with pytest.raises(kind, match=text):
        read_log(tmp_path / "slow.csv", settings, twin_of(config))


def test_a_range_of_a_recording_is_used_alone_and_one_that_is_empty_is_refused(
    bench: Any, config: IdentifySettings, tmp_path: Path
) -> None:
    bench.log(tmp_path / "a.csv", TIMES + 5, np.sin(TIMES), 0.3 + TIMES, np.ones(100, bool))

    def ranged(*span: float) -> IdentifySettings:
        recordings = dataclasses.replace(config.recordings, ranges={"a.*": span})  # type: ignore[dict-item]
        return dataclasses.replace(config, recordings=recordings)

    (one,) = read_log(tmp_path / "a.csv", ranged(0.2, 0.5), twin_of(config))
    assert len(one.times) == 31
    assert np.allclose(one.trial.commands[:, 0], np.sin(TIMES[20:51]))
    assert np.asarray(one.trial.start.angles).tolist() == pytest.approx([0.5])  # type: ignore[union-attr]
    with pytest.raises(RecordingError, match=r"it lasts 0.99 s"):
        read_log(tmp_path / "a.csv", ranged(2.0, 3.0), twin_of(config))
    with pytest.raises(ValueError, match="end after it begins"):
        ranged(0.5, 0.2)


def test_the_recorded_voltage_of_the_supply_goes_into_the_replay(
    bench: Any, config: IdentifySettings, tmp_path: Path
) -> None:
    """A servo at half the voltage turns half as fast against a goal that is far away."""
    step = np.where(TIMES < 0.1, 0.0, 2.5)
    bench.log(tmp_path / "a.csv", TIMES, step, np.zeros(100), np.ones(100, bool))
    text = (tmp_path / "a.csv").read_text()
    (tmp_path / "b.csv").write_text(text.replace(",7.3,", ",3.65,"))
    fed = dataclasses.replace(config, supply="servo.supply")
    twin = twin_of(config)
    angles = {}
    for name in ("a", "b"):
        (one,) = read_log(tmp_path / f"{name}.csv", fed, twin)
        assert one.trial.voltage is not None
        angles[name] = twin.simulate(twin.space.start[None], [one.trial])[0].angles[0, :, 0]
    assert angles["b"][-1] < 0.75 * angles["a"][-1]
    with pytest.raises(NutmegError, match=r"'servo.goal\S* is in 'rad'"):
        read_log(tmp_path / "a.csv", dataclasses.replace(config, supply="servo.goal"), twin)


def test_the_recorded_temperature_of_the_motors_goes_into_the_replay(
    bench: Any, config: IdentifySettings, tmp_path: Path
) -> None:
    """A hot servo holds a weight with a larger error than a cold one."""
    channel = '[[channels]]\nname = "servo.temperature"\ncolumns = ["temperature"]\nunit = "°C"\n\n[events]'
    columns = (config.recordings.columns or Path()).read_text().replace("[events]", channel)
    (tmp_path / "columns.toml").write_text(columns)
    bench.log(tmp_path / "a.csv", TIMES, np.full(100, 1.0), np.full(100, 1.0), np.ones(100, bool))
    head, *rows = (tmp_path / "a.csv").read_text().splitlines()
    recordings = dataclasses.replace(config.recordings, columns=tmp_path / "columns.toml")
    fed = dataclasses.replace(config, recordings=recordings, temperature="servo.temperature")
    twin, sag = twin_of(config), {}
    for celsius in (25, 95, 300):
        text = "\n".join([f"{head},temperature", *(f"{row},{celsius}" for row in rows)])
        (tmp_path / "b.csv").write_text(text + "\n")
        if celsius == 300:
            with pytest.raises(RecordingError, match=r"goes from 300 to 300 °C; allowed is -40 to 200"):
                read_log(tmp_path / "b.csv", fed, twin)
            continue
        (one,) = read_log(tmp_path / "b.csv", fed, twin)
        assert one.trial.temperature is not None
        sag[celsius] = 1.0 - twin.simulate(twin.space.start[None], [one.trial])[0].angles[0, -1, 0]
    assert sag[95] > 1.1 * sag[25] > 0


def test_the_base_of_a_robot_that_was_not_measured_stands_on_the_ground_as_its_imu_says(tmp_path: Path) -> None:
    gain = Searched(low=0.1, high=2.0, start=1.0, sets=("drives.servo.stiffness",), relative=True)
    twin = Twin(TwinSettings(robot="ant", timestep=0.004), {"gain": gain})
    motion = ExcitationSettings(seconds=1.2, period=0.02, amplitude={"L*_lift": 0.3}, frequency=(0.5, 1.0))
    (trial,) = excitations(motion, twin.table, Worlds(twin.base).robot("robot").start, (3,))
    (done,) = twin.simulate([[0.3]], [trial])
    assert done.pose is not None
    w, x, y, z = done.pose[0, :, 3:].T
    up = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
    rows = np.column_stack([done.times, trial.commands, done.angles[0], 9.81 * up])
    groups = {"goal": ("rad", twin.table.motors), "angle": ("rad", twin.table.joints), "imu": ("m/s²", tuple("xyz"))}
    columns = {name: [f"{name}.{label}" for label in labels] for name, (_, labels) in groups.items()}
    header = ",".join(["t", *(column for every in columns.values() for column in every)])
    np.savetxt(tmp_path / "sway.csv", rows, delimiter=",", header=header, comments="", fmt="%.9g")
    channels = [
        {"name": name, "columns": columns[name], "labels": list(labels), "unit": unit}
        for name, (unit, labels) in groups.items()
    ]
    (tmp_path / "columns.toml").write_text(toml_text({"time": {"column": "t"}, "channels": channels}))
    settings = ReplaySettings(
        recordings=RecordingsSettings(columns=tmp_path / "columns.toml"),
        commands={"goal": "*"},
        compare={"angle": "angles.*"},
        windows=WindowSettings(seconds=0.3, every=0.3),
    )
    with pytest.raises(UsageError, match=r"base = \"ground\""):
        read_log(tmp_path / "sway.csv", settings, twin)
    settings = dataclasses.replace(settings, start=StartSettings(base="ground", gravity="imu"))
    pieces = read_log(tmp_path / "sway.csv", settings, twin)
    assert len(pieces) == 3
    third = pieces[2].trial.start
    assert third is not None
    row = 30
    assert np.asarray(third.pose)[2] == pytest.approx(done.pose[0, row, 2], abs=2e-3)
    assert np.asarray(third.pose)[3:] == pytest.approx(done.pose[0, row, 3:], abs=0.01)
    errors = ReplayCost(twin, tuple(pieces), DistanceSettings(kind="rms"))(np.array([[0.3], [0.6]]))
    assert errors[0] < 0.5 * errors[1], "the hidden gain shows though the base is unknown"
