"""TOML into dataclasses: every supported type, and errors that name file, line, key and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.base.errors import FileError
from nutmeg.base.settings import convert, line_of, read, read_cached, read_toml, toml_text


@dataclass(frozen=True, kw_only=True)
class Part:
    name: str
    mass: float = 1.0
    size: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        if self.mass <= 0:
            raise ValueError(f"mass is {self.mass}; it must be above 0.")


@dataclass(frozen=True, kw_only=True)
class Everything:
    flag: bool = False
    count: int = 0
    ratio: float = 0.0
    text: str = ""
    file: Path | None = None
    choice: Literal["left", "right"] = "left"
    number: float | str = 0.0
    names: tuple[str, ...] = ()
    pair: tuple[int, str] = (0, "")
    table: Mapping[str, float] = field(default_factory=dict)
    part: Part | None = None
    parts: tuple[Part, ...] = ()
    groups: Mapping[str, Part] = field(default_factory=dict)
    anything: object = None


WHOLE = """\
flag = true
count = 3
ratio = 2
text = "hello"
file = "sub/mesh.stl"
choice = "right"
number = "2 * a"
names = ["a", "b"]
pair = [1, "x"]
table = { a = 1, b = 2.5 }
part = { name = "arm", mass = 2 }
anything = [1, "two", { three = 3 }]

[[parts]]
name = "leg"

[[parts]]
name = "foot"
size = [1, 2, 3]

[groups.left]
name = "hand"
"""


def fail(tmp_path: Path, text: str, kind: type[object] = Everything) -> FileError:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        read(path, kind)
    assert str(path) in str(caught.value)
    return caught.value


def test_every_supported_type_is_read(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(WHOLE)
    assert read(path, Everything) == Everything(
        flag=True,
        count=3,
        ratio=2.0,
        text="hello",
        file=(tmp_path / "sub/mesh.stl").resolve(),
        choice="right",
        number="2 * a",
        names=("a", "b"),
        pair=(1, "x"),
        table={"a": 1.0, "b": 2.5},
        part=Part(name="arm", mass=2.0),
        parts=(Part(name="leg"), Part(name="foot", size=(1.0, 2.0, 3.0))),
        groups={"left": Part(name="hand")},
        anything=[1, "two", {"three": 3}],
    )
    assert isinstance(read(path, Everything).ratio, float)


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text("")
    assert read(tmp_path / "empty.toml", Everything) == Everything()


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**62), 2**62), st.booleans())
def test_numbers_survive_being_written_and_read(ratio: float, count: int, flag: bool) -> None:
    table = {"ratio": ratio, "count": count, "flag": flag}
    found = convert(table, Everything, Path("x.toml"))
    assert (found.ratio, found.count, found.flag) == (ratio, count, flag)
    assert "ratio" in toml_text(table)


@pytest.mark.parametrize(
    ("text", "line", "phrases"),
    [
        ("flag = true\nratoi = 2\n", 2, ("ratoi", "Did you mean 'ratio'?", "Known keys:", "choice")),
        ("\n\ncount = 1.5\n", 3, ("count", "a whole number", "1.5")),
        ("count = true\n", 1, ("a whole number", "True")),
        ('ratio = "2"\n', 1, ("ratio", "a number", "'2'")),
        ("ratio = nan\n", 1, ("ratio", "nan")),
        ("text = 3\n", 1, ("text", "a text in quotes", "3")),
        ("flag = 1\n", 1, ("flag", "true or false", "1")),
        ("file = 1\n", 1, ("file", "a path in quotes")),
        ('choice = "lefft"\n', 1, ("choice", "'lefft'", "Did you mean 'left'?", "'left', 'right'")),
        ("number = true\n", 1, ("number", "a number")),
        ('names = "a"\n', 1, ("names", "needs a list", "'a'")),
        ('names = ["a", 2]\n', 1, ("names[1]", "a text in quotes")),
        ("pair = [1]\n", 1, ("pair", "needs 2 values, found 1")),
        ('table = { a = "x" }\n', 1, ("table.a", "a number")),
        ("table = 3\n", 1, ("table", "needs a table")),
        ('part = "arm"\n', 1, ("part", "needs a table")),
        ("flag = true\n[part]\nmass = 2\n", 2, ("part", "lacks the key 'name'")),
        ('flag = true\n[part]\nname = "x"\nmass = -2\n', 2, ("part", "-2", "above 0")),
        ('[[parts]]\nname = "a"\n\n[[parts]]\nname = "b"\nmas = 1\n', 6, ("parts[1].mas", "Did you mean 'mass'?")),
        ('[[parts]]\nname = "a"\nmass = 1\n[[parts]]\nname = "b"\nmass = "x"\n', 6, ("parts[1].mass", "'x'")),
        ('[[parts]]\nname = "a"\n\n[[parts]]\nmass = 1\n', 5, ("parts[1]", "lacks the key 'name'")),
        ('parts = [\n  { name = "a" },\n  { name = "b", mass = [] },\n]\n', 3, ("parts[1].mass", "a list")),
        ('parts = [\n  { name = "a" },\n  { name = "b", size = [1, 2, "c"] },\n]\n', 3, ("parts[1].size[2]",)),
        ('[groups.left]\nname = "a"\n[groups.right]\nnme = "b"\n', 4, ("groups.right.nme", "'name'")),
    ],
)
def test_an_error_names_the_file_the_line_the_key_and_what_is_allowed(
    tmp_path: Path, text: str, line: int, phrases: tuple[str, ...]
) -> None:
    error = fail(tmp_path, text)
    assert error.line == line
    for phrase in phrases:
        assert phrase in str(error)


def test_a_required_key_of_the_whole_file_is_named(tmp_path: Path) -> None:
    assert "the file: lacks the key 'name'" in str(fail(tmp_path, "mass = 1\n", Part))


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = = 2\n", 2), ("a = 1\na = 2\n", 2), ("x = 1\ny = [1,\n2\n", 3), ('a = "x\n', 1)]
)
def test_broken_toml_names_the_line(tmp_path: Path, text: str, line: int) -> None:
    error = fail(tmp_path, text)
    assert "broken TOML" in str(error)
    assert error.line == line


def test_what_is_not_a_readable_text_file_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"a = 1\n\xff\xfe")
    with pytest.raises(FileError, match="UTF-8"):
        read_toml(tmp_path / "binary.toml")
    with pytest.raises(FileError, match="there is no such file"):
        read_toml(tmp_path / "absent.toml")
    with pytest.raises(FileError, match="is a folder"):
        read_toml(tmp_path)


def test_a_line_is_found_for_quoted_keys_and_not_invented_for_absent_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('# mass = 1\ntext = "mass = 1"\n"mass" = 2\n')
    assert line_of(path, "mass") == 3
    assert line_of(path, "absent") is None
    assert line_of(path, "") is None
    assert line_of(tmp_path / "none.toml", "mass") is None


def test_a_file_that_is_read_often_is_read_again_only_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "part.toml"
    path.write_text('name = "arm"')
    first = read_cached(path, Part)
    assert read_cached(path, Part) is first
    path.write_text('name = "finger"')
    assert read_cached(path, Part).name == "finger"
    path.unlink()
    with pytest.raises(FileError, match="there is no such file"):
        read_cached(path, Part)
