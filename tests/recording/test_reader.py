from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import RecordingError, UnknownNameError
from nutmeg.recording import Channel, Manifest, Recording, RecordingWriter, reader

from .conftest import CHANNELS, Record, signal

SLOW_WRITER = """
import sys
from pathlib import Path
import numpy as np
from nutmeg.recording import Channel, Manifest, RecordingWriter
channels = (Channel(name="a", labels=("x", "y"), resolution=1e-3), Channel(name="b", labels=("z",)))
manifest = Manifest(kind="scene", seed=1, channels=channels)
with RecordingWriter.create(Path(sys.argv[1]), manifest, rows_per_chunk=37) as writer:
    print("ready", flush=True)
    for row in range(1, 3001):
        writer.append(float(row), np.full(3, row / 8))
        if row % 100 == 0:
            writer.event(float(row), "hundred", row=row)
"""


def test_rows_are_found_by_time_and_sliced_like_lists(record: Record) -> None:
    recording = Recording.open(record(25))
    assert len(recording) == 25
    assert recording.duration == pytest.approx(0.48)
    assert [recording.row_at(t) for t in (-1.0, 0.02, 0.039, 0.04, 0.3, 99.0)] == [0, 0, 0, 1, 14, 24]
    everything = recording.rows()
    for start, stop in [(0, 10), (9, 11), (5, 25), (24, 99), (-3, None), (10, 10), (12, 3), (0, None)]:
        np.testing.assert_array_equal(recording.rows(start, stop), everything[start:stop])
        np.testing.assert_array_equal(recording.read("ball", start, stop), everything[start:stop, 2:])


def test_an_unknown_channel_is_named_with_the_nearest_known_one(record: Record) -> None:
    with pytest.raises(UnknownNameError, match=r"'nao1.angle'.*Did you mean 'nao1.angles'"):
        Recording.open(record(3)).read("nao1.angle")


def test_times_cannot_be_written_to(record: Record) -> None:
    with pytest.raises(ValueError, match="read-only"):
        Recording.open(record(3)).times[0] = 5.0


def test_a_small_cache_gives_the_same_rows(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    path = record(95)
    everything = Recording.open(path).rows()
    monkeypatch.setattr(reader, "CACHE_BYTES", 300)
    recording = Recording.open(path)
    for row in (0, 94, 50, 51, 9, 10, 0):
        np.testing.assert_array_equal(recording.rows(row, row + 1), everything[row : row + 1])
    np.testing.assert_array_equal(recording.rows(), everything)


def test_a_growing_recording_is_followed_across_chunks(tmp_path: Path) -> None:
    times, values = signal(45)
    writer = RecordingWriter.create(
        tmp_path / "a.nutmeg", Manifest(kind="scene", seed=1, channels=CHANNELS), rows_per_chunk=10
    )
    recording = Recording.open(tmp_path / "a.nutmeg")
    assert len(recording) == 0
    assert not recording.refresh()
    with pytest.raises(RecordingError, match="no rows yet"):
        recording.row_at(0.0)
    for row, count in enumerate([1, 2, 6, 3, 25, 8]):
        start = len(recording)
        writer.append_many(times[start : start + count], values[start : start + count])
        assert recording.refresh()
        assert len(recording) == start + count
        np.testing.assert_allclose(recording.rows(start), values[start : start + count], atol=1e-4)
        writer.event(times[start], "step", number=row)
        assert recording.refresh()
        assert recording.events[-1]["number"] == row
        assert not recording.refresh()
    writer.close()
    assert recording.refresh()
    assert recording.finished
    np.testing.assert_array_equal(recording.times, times)
    assert recording.content_hash() == Recording.open(tmp_path / "a.nutmeg").content_hash()
    assert recording.problems == []


def test_a_reader_in_another_process_never_sees_a_wrong_row(tmp_path: Path) -> None:
    path = tmp_path / "live.nutmeg"
    with subprocess.Popen([sys.executable, "-c", SLOW_WRITER, path], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        recording = Recording.open(path)
        seen, looks = 0, 0
        while not recording.finished:
            if recording.refresh():
                looks += 1
                np.testing.assert_array_equal(recording.times, np.arange(1, len(recording) + 1))
                fresh = recording.rows(max(seen - 50, 0))
                expected = np.arange(max(seen - 50, 0) + 1, len(recording) + 1)[:, np.newaxis] / 8
                np.testing.assert_array_equal(fresh, np.tile(expected, 3))
                assert len(recording) >= seen
                seen = len(recording)
    assert seen == 3000
    assert looks > 1
    assert [event["row"] for event in recording.events] == list(range(100, 3001, 100))
    assert recording.problems == []


def test_half_a_row_at_the_end_of_the_tail_is_left_out_and_reported(record: Record) -> None:
    path = record(25, finish=False)
    tail = path / "tail-00002.f64"
    tail.write_bytes(tail.read_bytes()[:-13])
    recording = Recording.open(path)
    assert len(recording) == 24
    np.testing.assert_allclose(recording.rows(), signal(24)[1], atol=1e-4)
    assert recording.problems == ["tail-00002.f64: ends in the middle of a row; 35 bytes were left out."]


def test_half_an_event_is_left_out_and_reported(record: Record) -> None:
    path = record(3, finish=False)
    events = path / "events.jsonl"
    events.write_bytes(b"[1, 2]\n" + events.read_bytes()[:-4])
    recording = Recording.open(path)
    assert [event["kind"] for event in recording.events] == ["kick"]
    assert "line 1: is not an event" in recording.problems[0]
    assert "ends in the middle of a line" in recording.problems[1]


def test_a_truncated_chunk_costs_its_rows_only_and_the_times_are_told(record: Record) -> None:
    path = record(35)
    chunk = path / "series-00001.parquet"
    chunk.write_bytes(chunk.read_bytes()[:-100])
    recording = Recording.open(path)
    times, values = signal(35)
    kept = np.r_[0:10, 20:35]
    np.testing.assert_array_equal(recording.times, times[kept])
    np.testing.assert_allclose(recording.rows(), values[kept], atol=1e-4)
    assert recording.problems[0].startswith("series-00001.parquet cannot be read")
    assert recording.problems[0].endswith("the rows after t=0.2 s and before t=0.42 s are missing.")
    assert "declares 35 rows until t=0.7" in recording.problems[1]


def test_a_missing_chunk_is_told(record: Record) -> None:
    path = record(35)
    (path / "series-00000.parquet").unlink()
    recording = Recording.open(path)
    assert len(recording) == 25
    assert "is not there: the rows from the start and before t=0.22 s are missing" in recording.problems[0]


def test_a_flipped_bit_costs_one_channel_of_one_chunk(record: Record) -> None:
    path = record(35)
    chunk = path / "series-00001.parquet"
    data = bytearray(chunk.read_bytes())
    footer = int.from_bytes(data[-8:-4], "little")
    data[len(data) - 8 - footer - 10] ^= 0x55  # in the last column: ball.z
    chunk.write_bytes(data)
    recording = Recording.open(path)
    assert len(recording) == 35
    damaged = recording.rows()
    assert np.isnan(damaged[10:20, 2:]).all()
    assert np.isfinite(np.delete(damaged[:, 2:], np.s_[10:20], axis=0)).all()
    assert np.isfinite(damaged[:, :2]).all()
    assert len(recording.problems) == 1
    assert "ball cannot be read" in recording.problems[0]
    assert "t=0.22 s to t=0.4 s is NaN" in recording.problems[0]


def test_where_nothing_can_be_read_an_error_says_so(record: Record, tmp_path: Path) -> None:
    path = record(5)
    (path / "series-00000.parquet").write_bytes(b"")
    with pytest.raises(RecordingError, match=r"none of its rows can be read: series-00000\.parquet"):
        Recording.open(path)
    with pytest.raises(RecordingError, match="no such recording"):
        Recording.open(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format = 1", "format = 2", "has format 2, and this Nutmeg reads up to 1. Update Nutmeg"),
        ("format = 1", "format = 'x'", "says format = 'x'"),
        ("seed = 7", "seed = ", "broken TOML"),
        ("seed = 7", "sed = 7", "Did you mean 'seed'"),
        ('"HeadPitch"', '"HeadYaw"', "twice"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_an_error(record: Record, old: str, new: str, message: str) -> None:
    path = record(5)
    manifest = path / "manifest.toml"
    manifest.write_text(manifest.read_text().replace(old, new))
    with pytest.raises(RecordingError, match=message):
        Recording.open(path)


def test_the_hash_tells_content_from_storage(record: Record) -> None:
    one = Recording.open(record(25, name="a", scene_xml="<mujoco/>")).content_hash()
    assert one == Recording.open(record(25, name="b", scene_xml="<mujoco/>", rows_per_chunk=4)).content_hash()
    assert one == Recording.open(record(25, name="c", scene_xml="<mujoco/>", finish=False)).content_hash()
    others = [
        record(24, name="d", scene_xml="<mujoco/>"),
        record(25, name="e"),
        record(25, name="f", scene_xml="<mujoco/>", seed=8),
        record(25, name="g", scene_xml="<mujoco/>", config={}),
    ]
    hashes = {Recording.open(path).content_hash() for path in others}
    assert len(hashes | {one}) == 5


def test_the_hash_leaves_out_what_the_wall_clock_measured(tmp_path: Path) -> None:
    angle = Channel(name="angle", labels=("x",))
    late = Channel(name="schedule.lola", labels=("late", "took"), wall_clock=True)
    hashes = []
    for name, channels in (("a", [angle, late]), ("b", [angle, late]), ("c", [late, angle]), ("d", [angle])):
        with RecordingWriter.create(
            tmp_path / f"{name}.nutmeg", Manifest(kind="scene", seed=7, channels=tuple(channels))
        ) as writer:
            for row in range(5):
                values = {"angle": [row * 0.1], "schedule.lola": [ord(name), row + ord(name)]}
                writer.append(0.02 * row, np.array([v for channel in channels for v in values[channel.name]]))
        hashes.append(Recording.open(tmp_path / f"{name}.nutmeg").content_hash())
    assert len(set(hashes)) == 1
