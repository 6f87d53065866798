from __future__ import annotations

import csv
import gzip
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nutmeg.base.errors import FileError
from nutmeg.reality.btr.controllers import SinusoidControllers
from nutmeg.reality.observation import FitnessSettings, Watch
from nutmeg.reality.realities import LoggedReality, ManualReality
from nutmeg.reality.realities.manual import LogFormat
from nutmeg.reality.twin import Trial
from nutmeg.recording import Channel, CsvChannel, CsvMap, CsvTime, Manifest, RecordingWriter

WATCH = Watch(fitness=FitnessSettings(kind="swing"), series=("angles.*",))


@pytest.fixture
def trials(pendulum_gaits: SinusoidControllers) -> list[Trial]:
    rows = pendulum_gaits.space.values(np.random.default_rng(0).random((2, 2)))
    return pendulum_gaits.trials(rows, ["i00-00", "i00-01"])


class Laboratory:
    """People who do one thing after the other, each while the run waits."""

    def __init__(self, folder: Path, *acts: Callable[[], object]) -> None:
        self.folder, self.acts, self.said = folder, list(acts), []  # type: ignore[var-annotated]
        self.waits = 0

    def wait(self) -> None:
        self.waits += 1
        assert self.waits < 50, self.said
        if self.acts:
            self.acts.pop(0)()

    def reality(self, **changed: object) -> ManualReality:
        logs = LogFormat(**{"columns": {"angles.swing": "rad"}, **changed})  # type: ignore[arg-type]
        return ManualReality(self.folder, WATCH, motors=("swing",), logs=logs, wait=self.wait, say=self.said.append)


def angles(trial: Trial) -> np.ndarray:
    return np.linspace(0.0, 0.5, len(trial))


def log_text(trial: Trial, column: str = "angles.swing", rows: int | None = None) -> str:
    lines = [f"{0.02 * i:.3f},{value:.6f}" for i, value in enumerate(angles(trial))]
    return "\n".join([f"time,{column}", *lines[:rows]]) + "\n"


def drop(folder: Path, name: str, text: str) -> Callable[[], object]:
    return lambda: (folder / "results" / name).write_text(text, encoding="utf-8")


def test_commands_are_written_for_people_and_machines(trials: list[Trial], tmp_path: Path) -> None:
    laboratory = Laboratory(tmp_path)
    laboratory.acts = [drop(tmp_path, f"{t.name}.csv", log_text(t)) for t in trials]
    results = laboratory.reality().try_out(trials)
    first = next(results)
    with (tmp_path / "to_try" / "i00-01.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["time", "swing"]
    np.testing.assert_array_equal([float(row[1]) for row in rows[1:]], trials[1].commands[:, 0])
    assert [float(rows[i][0]) for i in (1, 2)] == [0.0, 0.02]
    about = tomllib.loads((tmp_path / "to_try" / "i00-01.toml").read_text())
    assert about["period"] == 0.02
    assert "angles.swing" in (tmp_path / "README.txt").read_text()
    assert not (tmp_path / "to_try" / "i00-00.csv").exists(), "done"
    assert first.fitness == pytest.approx(0.5)
    np.testing.assert_allclose(first.behaviour.series[:, 0], angles(trials[0]), atol=1e-6)  # type: ignore[index]
    assert next(results).trial == "i00-01"
    assert not any((tmp_path / "to_try").iterdir())
    assert "2 trials to try" in laboratory.said[0]


def test_a_file_that_still_grows_is_waited_for(trials: list[Trial], tmp_path: Path) -> None:
    text = log_text(trials[0])
    parts = [text[: len(text) * i // 4] for i in (1, 2, 3, 4)]
    laboratory = Laboratory(tmp_path, *(drop(tmp_path, "i00-00.csv", part) for part in parts))
    observed = next(iter(laboratory.reality().try_out(trials[:1])))
    assert observed.fitness == pytest.approx(0.5)
    assert laboratory.waits >= 5
    assert not any("refused" in text for text in laboratory.said)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("time,angles.other\n0,1\n0.02,1\n", "has no column 'angles.swing'. It has angles.other"),
        ("zeit,angles.swing\n0,1\n", "has no column 'time'"),
        ("time,angles.swing\n" + "".join(f"{0.02 * i},\n" for i in range(30)), "100% of the values of 'angles.swing'"),
        ("time,angles.swing\n0,0.1\n0.02,0.2\n", "lasts 0.02 s, but the trial 0.6 s"),
        ("time,angles.swing\n0,0.1\n0.02,oops\n", "line 3"),
        ("", "has no column 'time'"),
    ],
)
def test_a_wrong_file_is_named_and_a_corrected_one_waited_for(
    trials: list[Trial], tmp_path: Path, wrong: str, said: str
) -> None:
    laboratory = Laboratory(tmp_path, drop(tmp_path, "i00-00.csv", wrong), *(lambda: None,) * 4)
    laboratory.acts.append(drop(tmp_path, "i00-00.csv", log_text(trials[0])))
    observed = next(iter(laboratory.reality().try_out(trials[:1])))
    assert observed.fitness == pytest.approx(0.5)
    refused = [text for text in laboratory.said if "refused" in text]
    assert len(refused) == 1, "said once, not again and again"
    assert "i00-00.csv" in refused[0]
    assert said in refused[0]


def test_a_restart_does_not_ask_for_what_is_there(trials: list[Trial], tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "laboratory"
    first = Laboratory(folder, drop(folder, "i00-00.csv", log_text(trials[0])), lambda: None, stop)
    with pytest.raises(KeyboardInterrupt):
        LoggedReality(first.reality(), tmp_path).try_out(trials)
    second = Laboratory(folder, drop(folder, "i00-01.csv", log_text(trials[1])))
    reality = second.reality()
    results = LoggedReality(reality, tmp_path).try_out(trials)
    assert [one.trial for one in results] == ["i00-00", "i00-01"]
    assert reality.trials == 1
    assert not (folder / "to_try" / "i00-00.csv").exists()
    third = Laboratory(folder)
    list(third.reality().try_out(trials))
    assert not third.said, "without the log, what lies in results is enough"
    assert third.waits == 2, "a look to see, and one to see that it does not grow"


def test_a_number_is_enough_where_only_fitness_counts(trials: list[Trial], tmp_path: Path) -> None:
    laboratory = Laboratory(
        tmp_path,
        drop(tmp_path, "i00-00.toml", "fitnes = 0.3\n"),
        lambda: None,
        lambda: None,
        drop(tmp_path, "i00-00.toml", "fitness = 0.3\nfell_at = 0.1\n"),
    )
    observed = next(iter(laboratory.reality(columns={}).try_out(trials[:1])))
    assert observed.fitness == 0.3
    assert observed.behaviour.frames == 5
    assert observed.behaviour.series is None
    assert any("Did you mean 'fitness'" in text for text in laboratory.said)


def test_a_fall_is_told_in_a_note_beside_a_shorter_log(trials: list[Trial], tmp_path: Path) -> None:
    laboratory = Laboratory(tmp_path)

    def both() -> None:
        drop(tmp_path, "i00-00.csv", log_text(trials[0], rows=12))()
        drop(tmp_path, "i00-00.toml", "fell_at = 0.2\nfitness = 0.11\n")()

    laboratory.acts = [both]
    observed = next(iter(laboratory.reality().try_out(trials[:1])))
    assert observed.behaviour.frames == 10
    assert observed.fitness == 0.11


def test_logs_may_be_compressed_parquet_or_recordings(trials: list[Trial], tmp_path: Path) -> None:
    results = tmp_path / "results"
    times, values = 0.02 * np.arange(len(trials[0])), angles(trials[0])

    def compressed() -> None:
        (results / "i00-00.csv.gz").write_bytes(gzip.compress(log_text(trials[0]).encode()))

    def parquet() -> None:
        pq.write_table(pa.table({"time": times, "angles.swing": values}), results / "i00-00.parquet")

    def recording() -> None:
        channels = [Channel(name="angles", labels=("swing",), unit="rad")]
        with RecordingWriter.create(
            results / "i00-00.nutmeg", Manifest(kind="log", seed=0, channels=tuple(channels))
        ) as writer:
            writer.append_many(times, values[:, None])

    for act in (compressed, parquet, recording):
        laboratory = Laboratory(tmp_path, act)
        observed = next(iter(laboratory.reality().try_out(trials[:1])))
        np.testing.assert_allclose(observed.behaviour.series[:, 0], values, atol=1e-6)  # type: ignore[index]
        for path in results.iterdir():
            if path.is_file():
                path.unlink()


def test_a_column_map_reads_logs_in_the_laboratorys_own_words(trials: list[Trial], tmp_path: Path) -> None:
    mapping = CsvMap(
        time=CsvTime(column="ms", scale=0.001),
        channels=(CsvChannel(name="servo", columns=("deg",), labels=("angle",), scale=np.pi / 180, unit="rad"),),
    )
    text = "ms,deg\n" + "".join(f"{20 * i},{np.degrees(a):.6f}\n" for i, a in enumerate(angles(trials[0])))
    laboratory = Laboratory(
        tmp_path, drop(tmp_path, "i00-00.csv", text), lambda: None, drop(tmp_path, "i00-00.toml", "fitness = 1.5\n")
    )
    reality = laboratory.reality(mapping=mapping, names={"angles.swing": "servo.angle"})
    observed = next(iter(reality.try_out(trials[:1])))
    np.testing.assert_allclose(observed.behaviour.series[:, 0], angles(trials[0]), atol=1e-6)  # type: ignore[index]
    assert observed.fitness == 1.5, "waited for: the log has no joint angle by its own name"


def test_a_folder_of_another_run_is_not_mixed_in(trials: list[Trial], tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next(iter(Laboratory(tmp_path, stop).reality().try_out(trials[:1])))
    other = Trial(name="i00-00", period=0.02, commands=trials[0].commands + 0.1)
    with pytest.raises(FileError, match="is of another run"):
        next(iter(Laboratory(tmp_path).reality().try_out([other])))
