from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import NutmegError, RecordingError, SimulationError
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.btr.controllers import SinusoidControllers
from nutmeg.reality.observation import FitnessSettings, Watch
from nutmeg.reality.realities import (
    HiddenSimulation,
    LoggedReality,
    Noise,
    Observed,
    RealitySettings,
    RecordedReality,
    fingerprint,
    make_reality,
    recorded_trials,
)
from nutmeg.reality.twin import Trial, Twin
from nutmeg.recording import Channel, Manifest, RecordingWriter

WATCH = Watch(fitness=FitnessSettings(kind="swing"), series=("angles.*",))


@pytest.fixture
def trials(pendulum_gaits: SinusoidControllers) -> list[Trial]:
    rows = pendulum_gaits.space.values(np.random.default_rng(0).random((3, 2)))
    return pendulum_gaits.trials(rows, ["a", "b", "c"])


def hidden(twin: Twin, noise: Noise | None = None, seed: int = 0) -> HiddenSimulation:
    return HiddenSimulation(twin, {"damping": 0.2}, WATCH, noise=noise or Noise(), seed=seed)


class Failing:
    """A reality that breaks in its second trial, in some way."""

    def __init__(self, inner: HiddenSimulation, how: str) -> None:
        self.inner, self.how, self.trials = inner, how, 0

    def try_out(self, trials: Sequence[Trial]) -> Iterator[Observed]:
        for index, observed in enumerate(self.inner.try_out(trials)):
            b = observed.behaviour
            if index == 1 and self.how == "raises":
                raise OSError("the cable came off")
            if index == 1 and self.how == "breaks down":
                raise SimulationError("it exploded")
            if index == 1 and self.how == "nan":
                b = Behaviour(columns=b.columns, units=b.units, series=b.series, fitness=float("nan"))
            if index == 1 and self.how == "columns":
                b = Behaviour(columns=("angles.other",), units=("rad",), series=b.series, fitness=b.fitness)
            if index == 1 and self.how == "nothing":
                return
            yield Observed(trial=observed.trial, behaviour=b)


def test_a_hidden_simulation_does_what_its_twin_does_with_the_hidden_values(
    pendulum: Twin, trials: list[Trial]
) -> None:
    reality = hidden(pendulum)
    observed = list(reality.try_out(trials))
    same = WATCH.simulate(pendulum, pendulum.space.array({"damping": 0.2, "stiffness": 8.0})[None], trials)
    for one, behaviour in zip(observed, same, strict=True):
        assert behaviour.series is not None
        assert one.behaviour.series is not None
        np.testing.assert_array_equal(one.behaviour.series, behaviour.series[0])
        assert one.fitness == np.asarray(behaviour.fitness)[0]
    assert [one.trial for one in observed] == ["a", "b", "c"]
    assert reality.trials == 3


def test_noise_is_the_same_for_a_trial_whenever_it_is_tried(pendulum: Twin, trials: list[Trial]) -> None:
    noise = Noise(command=0.02, angle=0.01, fitness=0.1)
    together = list(hidden(pendulum, noise).try_out(trials))
    alone = [next(iter(hidden(pendulum, noise).try_out([trial]))) for trial in reversed(trials)]
    for one, other in zip(together, reversed(alone), strict=True):
        np.testing.assert_array_equal(one.behaviour.series, other.behaviour.series)
        assert one.fitness == other.fitness
    quiet, others = list(hidden(pendulum).try_out(trials)), list(hidden(pendulum, noise, seed=1).try_out(trials))
    assert quiet[0].fitness != together[0].fitness != others[0].fitness


def test_reality_may_lie_outside_what_is_searched_and_differ_in_more(pendulum: Twin, trials: list[Trial]) -> None:
    from nutmeg.model.parameters import Adjustment

    settings = RealitySettings(
        values={"stiffness": 20.0}, adjustments=(Adjustment(target="physics.timestep", value=0.002),)
    )
    reality = make_reality(settings, pendulum, WATCH, wait=lambda: None, say=lambda _: None)
    assert isinstance(reality, HiddenSimulation)
    assert reality.twin.timestep == 0.002
    assert len(list(reality.try_out(trials))) == 3
    wrong = RealitySettings(values={"stifness": 20.0})
    with pytest.raises(NutmegError, match="Did you mean 'stiffness'"):
        make_reality(wrong, pendulum, WATCH, wait=lambda: None, say=lambda _: None)


def test_a_fingerprint_is_of_what_is_done_not_of_the_name(trials: list[Trial]) -> None:
    renamed = Trial(name="z", period=trials[0].period, commands=trials[0].commands.copy())
    assert fingerprint(renamed) == fingerprint(trials[0])
    assert len({fingerprint(trial) for trial in trials}) == 3
    slower = Trial(name="a", period=0.04, commands=trials[0].commands)
    assert fingerprint(slower) != fingerprint(trials[0])


def test_no_trial_is_made_twice_and_memory_is_exact(pendulum: Twin, trials: list[Trial], tmp_path: Path) -> None:
    first = LoggedReality(hidden(pendulum, Noise(angle=0.01)), tmp_path, columns=("angles.swing",))
    seen = first.try_out(trials[:2])
    second = hidden(pendulum, Noise(angle=0.01))
    told: list[tuple[str, bool]] = []
    again = LoggedReality(second, tmp_path, on_trial=lambda one, known: told.append((one.trial, known)))
    assert again.trials == 2
    results = again.try_out(trials)
    assert second.trials == 1, "only the third was new"
    assert told == [("a", True), ("b", True), ("c", False)]
    for one, other in zip(seen, results[:2], strict=True):
        assert one.fitness == other.fitness
        assert one.behaviour.columns == other.behaviour.columns == ("angles.swing",)
        assert other.behaviour.units == ("rad",)
        np.testing.assert_array_equal(one.behaviour.series, other.behaviour.series)
    assert again.knows(trials[2])
    lines = [json.loads(line) for line in (tmp_path / "reality.jsonl").read_text().splitlines()]
    assert [line["trial"] for line in lines] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("how", "error", "match"),
    [
        ("raises", OSError, "the cable came off"),
        ("breaks down", RecordingError, "reality failed: it exploded"),
        ("nan", RecordingError, "trial 'b' in reality came back with the fitness nan"),
        ("columns", RecordingError, "without the column 'angles.swing'; it has angles.other"),
        ("nothing", RecordingError, "no result for trial 'b'"),
    ],
)
def test_a_failing_reality_loses_only_the_trial_that_failed(
    pendulum: Twin, trials: list[Trial], tmp_path: Path, how: str, error: type[Exception], match: str
) -> None:
    failing = LoggedReality(Failing(hidden(pendulum), how), tmp_path, columns=("angles.swing",))
    with pytest.raises(error, match=match):
        failing.try_out(trials)
    good = hidden(pendulum)
    after = LoggedReality(good, tmp_path, columns=("angles.swing",))
    assert after.trials == 1
    fitness = [one.fitness for one in after.try_out(trials)]
    assert good.trials == 2
    assert fitness == [one.fitness for one in hidden(pendulum).try_out(trials)]


def test_half_a_line_of_a_crash_is_left_out_and_damage_is_named(
    pendulum: Twin, trials: list[Trial], tmp_path: Path
) -> None:
    LoggedReality(hidden(pendulum), tmp_path).try_out(trials[:1])
    log = tmp_path / "reality.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + whole[:40])
    again = LoggedReality(hidden(pendulum), tmp_path)
    assert again.trials == 1
    again.try_out(trials[:2])
    assert log.read_bytes().startswith(whole)
    assert LoggedReality(hidden(pendulum), tmp_path).trials == 2
    log.write_bytes(b"broken\n" + whole)
    with pytest.raises(NutmegError, match=r"reality\.jsonl, line 1: is not an object"):
        LoggedReality(hidden(pendulum), tmp_path)


def test_half_a_series_of_a_killed_run_is_written_anew_and_names_may_be_anything(
    pendulum: Twin, trials: list[Trial], tmp_path: Path
) -> None:
    half = tmp_path / "trials" / "a.nutmeg"
    half.mkdir(parents=True)
    (half / "tail-00000.f64").write_bytes(b"half a row")
    named = dataclasses.replace(trials[1], name="walk 1/left")
    LoggedReality(hidden(pendulum), tmp_path).try_out([trials[0], named])
    again = LoggedReality(hidden(pendulum), tmp_path).try_out([trials[0], named])
    assert [one.trial for one in again] == ["a", "walk 1/left"]
    assert all(one.behaviour.series is not None for one in again)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_said_and_loses_nothing_before(pendulum: Twin, trials: list[Trial], tmp_path: Path) -> None:
    reality = LoggedReality(hidden(pendulum), tmp_path)
    reality.try_out(trials[:1])
    log = tmp_path / "reality.jsonl"
    kept = log.rename(tmp_path / "kept.jsonl")
    log.symlink_to("/dev/full")
    with pytest.raises(NutmegError, match="No space left on device"):
        reality.try_out(trials)
    log.unlink()
    kept.rename(log)
    assert LoggedReality(hidden(pendulum), tmp_path).trials == 1


def test_columns_of_any_kind_come_back_in_their_order(tmp_path: Path, trials: list[Trial]) -> None:
    class Given:
        trials = 0

        def try_out(self, trials: Sequence[Trial]) -> list[Observed]:
            series = np.random.default_rng(2).random((4, 4))
            series[2, 1] = np.nan
            columns = ("pose.x", "imu.gyro_x", "imu.accel_x", "pose.y")
            behaviour = Behaviour(columns=columns, units=("m", "rad/s", "m/s²", "m"), series=series, fitness=1.0)
            return [Observed(trial=trial.name, behaviour=behaviour) for trial in trials]

    given = LoggedReality(Given(), tmp_path).try_out(trials[:1])[0].behaviour
    back = LoggedReality(Given(), tmp_path).try_out(trials[:1])[0].behaviour
    assert (back.columns, back.units) == (given.columns, given.units)
    np.testing.assert_array_equal(back.series, given.series)


def test_recordings_are_a_reality_of_what_was_recorded(pendulum: Twin, trials: list[Trial], tmp_path: Path) -> None:
    real = {one.trial: one for one in hidden(pendulum).try_out(trials)}
    channels = [
        Channel(name="command", labels=("swing",), unit="rad"),
        Channel(name="angles", labels=("swing",), unit="rad"),
    ]
    files = {}
    for trial in trials:
        files[trial.name] = tmp_path / f"{trial.name}.nutmeg"
        series = real[trial.name].behaviour.series
        assert series is not None
        with RecordingWriter.create(
            files[trial.name], Manifest(kind="log", seed=0, channels=tuple(channels))
        ) as writer:
            times = 5.0 + trial.period * np.arange(len(trial))  # a clock of its own
            writer.append_many(times, np.concatenate([trial.commands, series], axis=1))
    found = recorded_trials(files, ("swing",))
    for trial, one in zip(trials, found, strict=True):
        assert one.name == trial.name
        assert one.period == pytest.approx(trial.period)
        np.testing.assert_array_equal(one.commands, trial.commands)
    reality = RecordedReality(files, WATCH, columns=("angles.swing",))
    for seen in reality.try_out(found):
        ours, theirs = seen.behaviour.series, real[seen.trial].behaviour.series
        assert ours is not None
        assert theirs is not None
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
        assert seen.fitness == pytest.approx(real[seen.trial].fitness)
    with pytest.raises(NutmegError, match="unknown recorded trial 'd'"):
        list(reality.try_out([Trial(name="d", period=0.02, commands=trials[0].commands)]))
    with pytest.raises(NutmegError, match="has no command of the motor 'knee'"):
        recorded_trials(files, ("knee",))
