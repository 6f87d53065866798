"""TOML into dataclasses: every supported type, and errors that name file, line, key and what is allowed."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.base.errors import FileError, RecordingError, UnknownNameError
from nutmeg.base.settings import (
    Bounds,
    above,
    at_least,
    bounds_of,
    check_bounds,
    convert,
    line_of,
    read,
    read_cached,
    read_toml,
    toml_text,
)


@dataclass(frozen=True, kw_only=True)
class Part:
    name: str
    mass: Annotated[float, above(0, "kg")] = 1.0
    size: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        check_bounds(self)


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


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAIN = st.one_of(TEXTS, st.booleans(), st.integers(), st.floats(allow_nan=False), st.dates())
VALUES = st.recursive(PLAIN, lambda part: st.lists(part, max_size=3) | st.dictionaries(TEXTS, part, max_size=3))


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_what_is_written_is_read_back(table: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(table)) == table


def test_numpy_numbers_tuples_and_paths_become_plain_values() -> None:
    table = {"a": np.float64(0.5), "b": np.arange(3), "c": (1, 2), "d": Path("x/y"), "e": np.int32(4)}
    assert tomllib.loads(toml_text(table)) == {"a": 0.5, "b": [0, 1, 2], "c": [1, 2], "d": "x/y", "e": 4}


def test_a_moment_is_kept() -> None:
    moment = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)
    assert tomllib.loads(toml_text({"at": moment})) == {"at": moment}


def test_what_toml_cannot_hold_is_an_error_with_its_key() -> None:
    with pytest.raises(RecordingError, match=r"robot\.legs\[1\]: TOML cannot hold None"):
        toml_text({"robot": {"legs": [1, None]}})
    with pytest.raises(RecordingError, match="the key 3 is a int"):
        toml_text({3: "x"})  # type: ignore[dict-item]


@dataclass(frozen=True, kw_only=True)
class Bounded:
    share: Annotated[float, Bounds(0, 1)] = 0.5
    period: Annotated[float, Bounds(0.5, 3.0, "s")] | None = None
    sizes: tuple[Annotated[float, at_least(0)], ...] = ()
    phase: Annotated[float, Bounds(0, 1, without_high=True)] = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        check_bounds(self)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"share": 1.5}, r"share is 1.5; allowed is 0..1\."),
        ({"share": float("nan")}, "share is nan"),
        ({"period": 4.0}, "period is 4; allowed is 0.5..3 s"),
        ({"sizes": (1.0, -1.0)}, "sizes is -1; allowed is 0 or more"),
        ({"phase": 1.0}, "phase is 1; allowed is 0 or more and below 1"),
    ],
)
def test_a_number_out_of_its_bounds_is_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Bounded(**wrong)  # type: ignore[arg-type]


def test_ends_of_bounds_belong_to_them_unless_said_otherwise() -> None:
    Bounded(share=1.0, period=0.5, sizes=(0.0, float("inf")))
    assert 0 not in above(0)
    assert 3 in above(0, up_to=3)
    assert [str(b) for b in (above(0, "m"), above(0, up_to=3), Bounds(high=2), Bounds(high=2, without_high=True))] == [
        "above 0 m",
        "above 0 and up to 3",
        "up to 2",
        "below 2",
    ]


def test_the_bounds_of_a_field_are_known_by_its_name() -> None:
    assert bounds_of(Bounded, "period") == Bounds(0.5, 3.0, "s")
    with pytest.raises(UnknownNameError, match="Did you mean 'share'"):
        bounds_of(Bounded, "shar")
