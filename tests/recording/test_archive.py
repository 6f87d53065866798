from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, RecordingError
from nutmeg.cli import main
from nutmeg.commands.options import check_new
from nutmeg.recording import Recording, pack

from .conftest import Record, signal


@pytest.mark.parametrize("finish", [True, False])
def test_a_packed_recording_has_the_same_content(record: Record, tmp_path: Path, finish: bool) -> None:
    folder = record(25, scene_xml="<mujoco/>", finish=finish)
    pack(folder, tmp_path / "packed.nutmeg")
    packed, loose = Recording.open(tmp_path / "packed.nutmeg"), Recording.open(folder)
    assert packed.content_hash() == loose.content_hash()
    assert packed.scene_xml == "<mujoco/>"
    assert packed.events == loose.events
    assert packed.problems == []
    assert packed.finished == finish
    assert not packed.refresh()


def test_any_zip_tool_unpacks_it_and_packing_again_gives_the_same_bytes(record: Record, tmp_path: Path) -> None:
    folder = record(25)
    pack(folder, tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path / "unpacked")
    assert Recording.open(tmp_path / "unpacked").content_hash() == Recording.open(folder).content_hash()
    pack(tmp_path / "unpacked", tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_however_a_packed_file_is_truncated_what_is_whole_is_read(record: Record, tmp_path: Path) -> None:
    folder = record(35, scene_xml="<mujoco/>")
    pack(folder, tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    manifest_end = data.index(b"PK\x03\x04", 1)
    first_chunk = data.index((folder / "series-00000.parquet").read_bytes())
    first_chunk_end = first_chunk + (folder / "series-00000.parquet").stat().st_size
    _, values = signal(35)
    counts = set()
    for length in range(200, len(data), 97):
        cut = tmp_path / "cut"
        cut.write_bytes(data[:length])
        if length < manifest_end:
            with pytest.raises(RecordingError, match=r"whole manifest\.toml"):
                Recording.open(cut)
            continue
        if first_chunk <= length < first_chunk_end:
            with pytest.raises(RecordingError, match="none of its rows"):
                Recording.open(cut)
            continue
        recording = Recording.open(cut)
        np.testing.assert_allclose(recording.rows(), values[: len(recording)], atol=1e-4)
        assert any("the file is truncated: it ends" in problem for problem in recording.problems)
        if len(recording) < 35:
            assert any(f"35 rows until t=0.7 s; {len(recording)} could" in p for p in recording.problems)
        counts.add(len(recording))
    assert counts == {0, 10, 20, 30, 35}


def test_the_rows_of_a_truncated_tail_are_kept(record: Record, tmp_path: Path) -> None:
    folder = record(8, finish=False)
    pack(folder, tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    tail = (folder / "tail-00000.f64").read_bytes()
    (tmp_path / "cut").write_bytes(data[: data.index(tail) + 5 * 48 + 3])
    recording = Recording.open(tmp_path / "cut")
    assert len(recording) == 5
    assert "in the middle of tail-00000.f64 (243 of 384 bytes)" in recording.problems[0]


def test_damage_inside_a_packed_file_is_told(record: Record, tmp_path: Path) -> None:
    pack(record(5), tmp_path / "packed")
    data = (tmp_path / "packed").read_bytes()
    (tmp_path / "packed").write_bytes(data.replace(b'"left"', b'"lift"'))
    assert Recording.open(tmp_path / "packed").problems == ["events.jsonl: is damaged (its checksum is wrong)."]


def test_packing_refuses_what_is_in_its_way(record: Record, tmp_path: Path) -> None:
    folder = record(5)
    (tmp_path / "there").write_text("x")
    with pytest.raises(RecordingError, match="exists already"):
        pack(folder, tmp_path / "there")
    pack(folder, tmp_path / "there", overwrite=True)
    with pytest.raises(RecordingError, match="packed already"):
        pack(tmp_path / "there", tmp_path / "again")


def test_packing_over_a_file_names_the_option_that_allows_it(record: Record, tmp_path: Path) -> None:
    call = ["pack", str(record(5)), str(tmp_path / "there")]
    assert main(call) == 0
    with pytest.raises(FileError, match="add --overwrite"):
        check_new(tmp_path / "there", overwrite=False)
    assert main(call) == 1
    assert main([*call, "--overwrite"]) == 0


def test_a_folder_of_recordings_names_them(record: Record, tmp_path: Path) -> None:
    folder = record(5)
    with pytest.raises(RecordingError, match=f"Did you mean {folder}"):
        Recording.open(folder.parent)


def test_a_zip_with_compression_says_to_unzip_it(record: Record, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "tight", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in record(5).iterdir():
            archive.write(file, file.name)
    with pytest.raises(RecordingError, match=r"zipped with compression\. Unzip it"):
        Recording.open(tmp_path / "tight")
