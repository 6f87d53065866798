"""Files of JSON lines: a crash or a full disk costs at most what was being added."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

import pytest

from nutmeg.base.errors import FileError
from nutmeg.base.journal import append_lines, read_lines


def test_what_was_added_is_read_and_no_file_is_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "log.jsonl"
    assert read_lines(path) == []
    append_lines(path, [{"a": 1}, {"b": [None, "x\u00e4"]}])
    append_lines(path, [{"c": {}}])
    assert read_lines(path) == [{"a": 1}, {"b": [None, "x\u00e4"]}, {"c": {}}]


def test_half_a_line_is_left_out_and_then_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n{"b": ')
    assert read_lines(path) == [{"a": 1}]
    append_lines(path, [{"b": 2}])
    assert path.read_text() == '{"a": 1}\n{"b": 2}\n'


@pytest.mark.parametrize("line", ["[1, 2]", "nonsense", '{"a": '])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"a": 1}}\n{line}\n{{"c": 3}}\n')
    with pytest.raises(FileError, match=r"log\.jsonl, line 2: is not an object in JSON"):
        read_lines(path)


def test_lines_for_which_a_disk_has_no_room_are_not_there_at_all(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    append_lines(path, [{"a": 1}])
    limit, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30, limit[1]))
    try:
        with pytest.raises(FileError, match=r"games cannot be saved: File too large\. Everything before is safe"):
            append_lines(path, [{"b": 2}, {"c": "x" * 30}], problem="games cannot be saved")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert read_lines(path) == [{"a": 1}]
    assert path.read_text() == '{"a": 1}\n'
