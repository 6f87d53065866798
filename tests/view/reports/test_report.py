"""The model that all reports fill, and what importing it loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nutmeg.base.errors import FileError
from nutmeg.view.reports.report import Cell, Report, Section, Table, Text, page, write_page


@pytest.mark.parametrize("builder", ["", ".fit", ".identify", ".btr", ".calibration", ".servo"])
def test_a_report_of_a_fit_loads_neither_the_match_nor_a_compiler_nor_matplotlib(builder: str) -> None:
    code = (
        f"import sys, nutmeg.view.reports{builder}\n"
        "print([name for name in sys.modules if name.startswith(('nutmeg.match', 'numba', 'matplotlib'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_section_without_blocks_is_left_out_and_so_is_the_navigation_of_a_single_one() -> None:
    kept, empty = (
        Section(key="a", title="Kept", blocks=(Text(text="here"),)),
        Section(key="b", title="Empty", blocks=()),
    )
    text = page(Report(title="t", kind="k", sections=(kept, empty)))
    assert 'id="a"' in text
    assert "Empty" not in text
    assert "<nav>" not in text
    assert text.startswith("<!doctype html>")


def test_cells_show_what_they_hold() -> None:
    cell = Cell(value=1.23456, unit="m<", strong=True, notes=("a & b",), shade=-0.5, span=2)
    text = page(
        Report(
            title="t",
            kind="k",
            sections=(Section(key="a", title="A", blocks=(Table(columns=("x", "y"), rows=("group", (cell,))),)),),
        )
    )
    assert '<td class="lost" style="--deep:28" colspan="2">' in text
    assert '<b>1.235</b> <small>m&lt;</small><span class="about">a &amp; b</span>' in text
    assert '<th scope="rowgroup" colspan="2">group</th>' in text


def test_a_report_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    bare = Report(title="t", kind="k")
    with pytest.raises(FileError, match="there is no folder"):
        write_page(tmp_path / "missing" / "report.html", bare)
    with pytest.raises(FileError, match="cannot be written"):
        write_page(tmp_path, bare)
