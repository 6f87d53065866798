"""What may import what, and which outside libraries are known where: read from the source, imports in functions too.

The order of the chapters is a contract of import-linter, in `pyproject.toml`; here it is run, and the rest is checked.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nutmeg

SOURCE = Path(nutmeg.__file__).parent
PROJECT = Path(__file__).parents[1]
MODULES = sorted(SOURCE.rglob("*.py"))
SHOWING = {"view", "commands", "experiments", "bench", "cli.py"}
"""Chapters that may show something to people, and so know browsers, pictures and terminals."""


def test_chapters_import_only_what_stands_above_them() -> None:
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", lint, "--no-cache"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("library", ["viser", "rich", "tyro", "imageio_ffmpeg", "matplotlib"])
def test_only_what_shows_something_knows_browsers_films_and_terminals(library: str) -> None:
    knowing = {path for path in MODULES if library in _imported(path)}
    chapters = {path.relative_to(SOURCE).parts[0] for path in knowing}
    assert chapters, "the library is used at all"
    assert chapters <= SHOWING


def test_every_module_says_what_it_is_for() -> None:
    silent = [path for path in MODULES if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert not silent


def _imported(path: Path) -> set[str]:
    """The top-level packages that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found
