from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nutmeg.base.errors import RecordingError
from nutmeg.recording import Channel, Manifest, Recording, RecordingWriter

from .conftest import CHANNELS, Record
from .conftest import signal as wave

KILLED = """
import sys
from pathlib import Path
import numpy as np
from nutmeg.recording import Channel, Manifest, RecordingWriter
channel = Channel(name="a", labels=tuple(f"x{i}" for i in range(50)))
manifest = Manifest(kind="scene", seed=1, channels=(channel,))
writer = RecordingWriter.create(Path(sys.argv[1]), manifest, rows_per_chunk=100)
row = 0
while True:
    writer.append(float(row), np.full(50, float(row)))
    if row % 7 == 0:
        writer.event(float(row), "seven")
    row += 1
    if row % 10 == 0:
        print(row, flush=True)
"""

FULL_DISK = """
import resource, sys
from pathlib import Path
import numpy as np
from nutmeg.base.errors import RecordingError
from nutmeg.recording import Channel, Manifest, RecordingWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
channel = Channel(name="a", labels=tuple(f"x{i}" for i in range(50)))
manifest = Manifest(kind="scene", seed=1, channels=(channel,))
writer = RecordingWriter.create(Path(sys.argv[1]), manifest, rows_per_chunk=int(sys.argv[2]))
rng = np.random.default_rng(0)
for row in range(100):
    try:
        writer.append(float(row), rng.normal(size=50))
    except RecordingError as error:
        print(error)
        break
try:
    writer.append(1000.0, np.zeros(50))
except RecordingError as error:
    print(error)
writer.close()
"""


@settings(max_examples=40)
@given(
    values=hnp.arrays(np.float64, st.tuples(st.integers(0, 35), st.just(3)), elements=st.floats(width=64)),
    chunk=st.integers(1, 12),
    cut=st.integers(0, 35),
)
def test_exact_channels_come_back_bit_by_bit(values: np.ndarray, chunk: int, cut: int) -> None:
    times = np.arange(len(values)) / 3
    channels = [Channel(name="b", labels=("x",)), Channel(name="a", labels=("x", "y"))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "walk.nutmeg"
        with RecordingWriter.create(
            path, Manifest(kind="scene", seed=1, channels=tuple(channels)), rows_per_chunk=chunk
        ) as writer:
            writer.append_many(times[:cut], values[:cut])
            for time, row in zip(times[cut:], values[cut:], strict=True):
                writer.append(time, row)
        recording = Recording.open(path)
        np.testing.assert_array_equal(recording.times, times)
        np.testing.assert_array_equal(recording.rows(), values)
        np.testing.assert_array_equal(recording.read("a", 2, -1), values[2:-1, 1:])
        assert recording.problems == []
        assert recording.finished


def test_rounded_channels_come_back_within_half_their_resolution(record: Record) -> None:
    recording = Recording.open(record(25))
    _, values = wave(25)
    assert np.abs(recording.read("nao1.angles") - values[:, :2]).max() <= 0.5e-4
    np.testing.assert_array_equal(recording.read("ball"), values[:, 2:])


def test_other_tools_see_one_float_column_per_component(record: Record) -> None:
    path = record(25)
    assert sorted(p.name for p in path.iterdir()) == [
        "events.jsonl",
        "manifest.toml",
        "series-00000.parquet",
        "series-00001.parquet",
        "series-00002.parquet",
    ]
    table = pq.read_table(path / "series-00001.parquet")
    assert table.column_names == [
        "time",
        "nao1.angles.HeadYaw",
        "nao1.angles.HeadPitch",
        "ball.x",
        "ball.y",
        "ball.z",
    ]
    assert [str(kind) for kind in table.schema.types] == ["double", "float", "float", "double", "double", "double"]
    assert table.num_rows == 10


def test_the_manifest_keeps_seed_configuration_and_channels(record: Record) -> None:
    config = {"robot": "nao-v6", "gait": {"frequency": 1.5, "legs": [1, 2]}}
    manifest = Recording.open(record(3, config=config)).manifest
    assert (manifest.kind, manifest.seed, manifest.rows, manifest.events) == ("scene", 7, 3, 2)
    assert manifest.config == config
    assert manifest.channels == CHANNELS


def test_a_killed_writer_leaves_a_readable_recording(tmp_path: Path) -> None:
    path = tmp_path / "killed.nutmeg"
    with subprocess.Popen([sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = 0
        while told < 540:
            told = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        told = max([told, *(int(line) for line in process.stdout.read().split("\n")[:-1])])
    recording = Recording.open(path)
    assert len(recording) >= told
    np.testing.assert_array_equal(recording.times, np.arange(len(recording)))
    np.testing.assert_array_equal(recording.rows(), np.tile(recording.times[:, np.newaxis], 50))
    assert [event["time"] for event in recording.events][: told // 7] == list(range(0, told, 7))[: told // 7]
    assert not recording.finished


@pytest.mark.parametrize(("rows_per_chunk", "file"), [(1000, "tail-00000.f64"), (24, "series-00000.parquet")])
def test_a_full_disk_says_until_when_all_is_safe_and_corrupts_nothing(
    tmp_path: Path, rows_per_chunk: int, file: str
) -> None:
    """The limit on the size of files stands for the full disk: 24 rows of 408 bytes fit, a chunk does not."""
    path = tmp_path / "full.nutmeg"
    command = [sys.executable, "-c", FULL_DISK, path, str(rows_per_chunk)]
    first, again = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert f"cannot write {file}" in first
    assert "until t=23 s are safe" in first
    assert again == first
    recording = Recording.open(path)
    np.testing.assert_array_equal(recording.times, np.arange(24))
    np.testing.assert_array_equal(recording.rows(), np.random.default_rng(0).normal(size=(24, 50)))
    assert recording.problems == []
    assert not recording.finished
    assert not list(path.glob("*.draft"))


def test_a_crash_between_sealing_and_removing_the_tail_doubles_nothing(record: Record) -> None:
    path = record(9, finish=False)
    tail = (path / "tail-00000.f64").read_bytes()
    whole = record(10, name="whole.nutmeg", finish=False)
    (path / "series-00000.parquet").write_bytes((whole / "series-00000.parquet").read_bytes())
    recording = Recording.open(path)
    assert len(tail) == 9 * 6 * 8
    assert len(recording) == 10
    np.testing.assert_array_equal(recording.rows(), Recording.open(whole).rows())


def test_times_must_increase_and_a_refused_row_changes_nothing(record: Record, tmp_path: Path) -> None:
    writer = RecordingWriter.create(tmp_path / "a.nutmeg", Manifest(kind="scene", seed=1, channels=CHANNELS))
    writer.append(1.0, np.zeros(5))
    for time in (1.0, 0.5, np.nan, np.inf):
        with pytest.raises(RecordingError, match=r"cannot follow t=1\.0 s"):
            writer.append(time, np.zeros(5))
        with pytest.raises(RecordingError, match=r"cannot follow t=2\.0 s"):
            writer.append_many([2.0, min(time, 1.5) if time < np.inf else time], np.zeros((2, 5)))
    with pytest.raises(RecordingError, match=r"shape \(4,\), needed is \(5,\): nao1.angles \(2\), ball \(3\)"):
        writer.append(2.0, np.zeros(4))
    with pytest.raises(RecordingError, match="too large"):
        writer.append_many([2.0, 3.0], [np.zeros(5), np.full(5, 1e9)])
    writer.append(2.0, np.ones(5))
    writer.close()
    np.testing.assert_array_equal(Recording.open(tmp_path / "a.nutmeg").times, [1.0, 2.0])
    with pytest.raises(RecordingError, match="is closed"):
        writer.append(3.0, np.zeros(5))
    with pytest.raises(RecordingError, match="is closed"):
        writer.event(3.0, "late")


def test_an_exception_keeps_the_rows_but_does_not_finish(tmp_path: Path) -> None:
    def fall() -> None:
        with RecordingWriter.create(tmp_path / "a.nutmeg", Manifest(kind="scene", seed=1, channels=CHANNELS)) as writer:
            writer.append(1.0, np.zeros(5))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fall()
    recording = Recording.open(tmp_path / "a.nutmeg")
    assert len(recording) == 1
    assert not recording.finished


def test_only_a_recording_is_overwritten_and_only_if_asked(record: Record, tmp_path: Path) -> None:
    path = record(3)
    with pytest.raises(RecordingError, match="exists already"):
        record(5)
    assert len(Recording.open(record(5, overwrite=True))) == 5
    (path / "thesis.tex").write_text("precious")
    with pytest.raises(RecordingError, match=r"also holds 'thesis\.tex'"):
        record(7, overwrite=True)
    assert len(Recording.open(path)) == 5
    (tmp_path / "photos").mkdir()
    with pytest.raises(RecordingError, match=r"no manifest\.toml"):
        record(7, name="photos", overwrite=True)
    (tmp_path / "file").write_text("x")
    with pytest.raises(RecordingError, match="is no recording"):
        record(7, name="file", overwrite=True)


def test_an_event_that_json_cannot_hold_is_refused(tmp_path: Path) -> None:
    with RecordingWriter.create(tmp_path / "a.nutmeg", Manifest(kind="scene", seed=1, channels=CHANNELS)) as writer:
        refused: list[tuple[float, dict[str, object]]] = [
            (1.0, {"x": np.nan}),
            (1.0, {"x": object()}),
            (np.nan, {}),
            (1.0, {"kind": "x"}),
        ]
        for time, fields in refused:
            with pytest.raises(RecordingError, match="the event 'goal'"):
                writer.event(time, "goal", **fields)
        writer.event(2, "goal", position=np.array([1.0, 2.0]), robot=np.int64(3), team=None)
    events = Recording.open(tmp_path / "a.nutmeg").events
    assert events == [{"time": 2.0, "kind": "goal", "position": [1.0, 2.0], "robot": 3, "team": None}]


def test_a_recording_that_cannot_be_begun_leaves_nothing_behind(tmp_path: Path) -> None:
    program = FULL_DISK.replace("10_000", "100")
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "full.nutmeg", "10"], check=False, capture_output=True, text=True
    )
    assert "RecordingError" in done.stderr
    assert "cannot be written: File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []
