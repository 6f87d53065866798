"""What may import what, and how long things may be: read from the source, imports inside functions included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import nutmeg

SOURCE = Path(nutmeg.__file__).parent
CHAPTERS = ("body", "engine", "motion", "search", "reality", "learning", "match", "net", "view")
FOUNDATIONS = frozenset(
    {"base", "closing", "compiled", "errors", "json_lines", "json_values", "settings", "recording", "runs"}
)
"""Beside the chapters; every chapter may use them."""
OUTERMOST = frozenset({"cli", "live", "starting", "terminal", "commands", "benchmark", "reproduce", "__main__"})
"""May use everything; used by no chapter."""
MODULES = sorted(SOURCE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The chapter or top module that a file belongs to."""
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imported_parts(path: Path) -> Iterator[str]:
    """The chapters and top modules that a file imports, wherever in it."""
    package = ["nutmeg", *path.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            stem = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*stem, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "nutmeg" else [module]
        for name in names:
            if name.startswith("nutmeg."):
                yield name.split(".")[1]


def named(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def test_the_source_is_where_it_is_looked_for() -> None:
    parts = {part_of(path) for path in MODULES}
    assert {"body", "engine", "motion", "view", "commands", "cli", "errors"} <= parts
    assert "engine" in set(imported_parts(SOURCE / "live.py"))
    assert "view" in set(imported_parts(SOURCE / "live.py")), "imports inside functions are seen"
    assert "body" in set(imported_parts(SOURCE / "engine" / "worlds.py")), "imports for types are seen"


def test_everything_is_a_chapter_or_has_its_place_beside_them() -> None:
    parts = {part_of(path) for path in MODULES} - {"__init__"}
    assert parts <= {*CHAPTERS, *FOUNDATIONS, *OUTERMOST}


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_chapter_imports_only_itself_and_what_comes_before_it(path: Path) -> None:
    part = part_of(path)
    found = set(imported_parts(path))
    if part in CHAPTERS:
        assert found <= {*CHAPTERS[: CHAPTERS.index(part) + 1], *FOUNDATIONS, "__version__"}
    elif part in FOUNDATIONS:
        assert found <= FOUNDATIONS | {"__version__"}
    elif part == "__init__":
        assert not found


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_only_the_view_and_commands_know_browsers_and_pictures(path: Path) -> None:
    outside = {"viser", "rich", "tyro", "PIL", "imageio_ffmpeg", "matplotlib"}
    if part_of(path) in {"view", *OUTERMOST}:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not outside & {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.module.split(".")[0] not in outside
