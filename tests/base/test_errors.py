"""Errors that tell the reader what to do next."""

from __future__ import annotations

import pytest

from nutmeg.base.errors import (
    EnvironmentProblem,
    FileError,
    ModelError,
    NutmegError,
    RecordingError,
    SimulationError,
    UnknownNameError,
    UsageError,
    listing,
    suggestion,
)


def test_an_unknown_name_suggests_the_nearest_and_lists_what_is_known() -> None:
    error = UnknownNameError("robot", "nao-v7", ["nao-v6", "ant", "nao-v4"])
    assert str(error) == "unknown robot 'nao-v7'. Did you mean 'nao-v6'? Known robots: ant, nao-v4, nao-v6."


def test_an_unknown_name_says_where_it_was_found() -> None:
    assert str(UnknownNameError("joint", "x", ["knee"], where="pose 'sit' of dog")).startswith("pose 'sit' of dog: ")


def test_a_suggestion_ignores_case_and_keeps_the_known_spelling() -> None:
    assert suggestion("lkneepitch", ["LKneePitch", "HeadYaw"]) == "Did you mean 'LKneePitch'? "


def test_a_suggestion_may_come_from_a_generator() -> None:
    assert "'ant'" in suggestion("amt", (name for name in ("ant", "dog")))


def test_nothing_is_suggested_for_a_name_that_is_like_no_other() -> None:
    assert not suggestion("zzzz", ["ant", "nao"])


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("robot", "robots"),
        ("body", "bodies"),
        ("key", "keys"),
        ("motor of red1", "motors of red1"),
        ("robot in this scene", "robots in this scene"),
    ],
)
def test_a_listing_has_the_right_plural(kind: str, plural: str) -> None:
    assert listing(kind, ["a", "b"]) == f"Known {plural}: a, b."
    assert listing(kind, []) == f"There are no {plural} here."


def test_a_long_listing_says_how_many_it_leaves_out() -> None:
    assert listing("joint", [f"j{i}" for i in range(45)]).endswith("j39, and 5 more.")


def test_a_file_error_names_the_file_and_the_line() -> None:
    error = FileError("robot.toml", "is wrong.", line=7)
    assert str(error) == "robot.toml, line 7: is wrong."
    assert (error.path, error.line) == ("robot.toml", 7)
    assert str(FileError("robot.toml", "is wrong.")) == "robot.toml: is wrong."


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 2),
        (UnknownNameError("a", "b", []), 2),
        (FileError("a", "b"), 1),
        (ModelError("x"), 1),
        (RecordingError("x"), 1),
        (SimulationError("x"), 1),
        (EnvironmentProblem("x"), 3),
    ],
)
def test_every_error_has_its_exit_code(error: NutmegError, code: int) -> None:
    assert isinstance(error, NutmegError)
    assert error.exit_code == code
