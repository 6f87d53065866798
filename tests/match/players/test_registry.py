"""Teams by the names of those who decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from nutmeg.base.errors import NutmegError
from nutmeg.match.players.registry import is_decider, is_strategy, read_decide, title_of


def test_names_stand_for_strategies_the_built_in_team_and_functions(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def decide(percept, memory): return 7\n")
    assert callable(read_decide("builtin"))
    assert read_decide(f"{file}:decide")(None, None) == 7  # type: ignore[arg-type]
    assert callable(read_decide("roles"))
    assert {name: is_strategy(name) for name in ("roles", "builtin", f"{file}:decide")} == {
        "roles": True,
        "builtin": True,
        f"{file}:decide": False,
    }
    assert all(is_decider(name) for name in ("roles", "builtin", f"{file}:decide"))
    assert not is_decider("holonomic"), "a walk"


def test_a_team_is_called_after_its_file_or_function() -> None:
    assert title_of("teams/chaser.py:decide") == "chaser"
    assert title_of("teams/chaser.py:careful") == "careful"
    assert title_of("package.module:decide") == "module"
    assert title_of("roles-pass") == "roles-pass"
    assert title_of("") == ""


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def decide(percept, memory): ...\nclass Other: ...\n")
    empty = tmp_path / "empty.py"
    empty.touch()
    for name, said in (
        ("role", "Did you mean 'roles'"),
        (f"{file}:Other", "no function 'Other'. It has: decide"),
        (f"{file}:decid", "Did you mean 'decide'"),
        (f"{empty}:decide", r"It has no function; write `def decide\(percept, memory\):`"),
        (f"{tmp_path}/none.py:decide", "no such file"),
        ("nowhere.at_all:decide", "cannot be imported"),
        (f"{file}:", "needed is file.py:decide"),
    ):
        with pytest.raises(NutmegError, match=said):
            read_decide(name)
