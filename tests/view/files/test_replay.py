from pathlib import Path

import pytest

from nutmeg.base.errors import FileError, UsageError
from nutmeg.view.files.replay import replay_html


def test_a_replay_is_one_page_that_asks_for_nothing_else(recorded: Path, tmp_path: Path) -> None:
    out = tmp_path / "toy.html"
    size = replay_html(recorded, out, fps=10)
    page = out.read_text(encoding="utf-8")
    assert size == out.stat().st_size
    assert size < 3_000_000
    assert "<title>toy.nutmeg · Nutmeg</title>" in page
    head = page[: page.index("</head>")]
    assert 'src="http' not in head
    assert 'href="http' not in head


def test_a_shorter_replay_is_smaller(recorded: Path, tmp_path: Path) -> None:
    whole = replay_html(recorded, tmp_path / "whole.html", fps=20)
    part = replay_html(recorded, tmp_path / "part.html", fps=20, max_seconds=0.5)
    assert part < whole


def test_a_replay_that_cannot_be_written_says_where(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="absent"):
        replay_html(recorded, tmp_path / "absent" / "x.html", fps=5)
    with pytest.raises(UsageError, match="fps"):
        replay_html(recorded, tmp_path / "x.html", fps=0)
