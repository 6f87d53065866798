from __future__ import annotations

import math
from pathlib import Path

import pytest

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.base.settings import names_in
from nutmeg.match.worlds.behavioural.settings import (
    BEHAVIOUR_FOLDER,
    GROUPS,
    NAMES,
    load_behaviour,
    numbers_of,
    write_behaviour,
)


def test_the_paper_s_numbers_are_those_of_the_nao() -> None:
    nao = load_behaviour("nao")
    kick = nao.kick
    assert (kick.straight_near, kick.straight_far, kick.straight_inner, kick.straight_outer) == (0.10, 0.20, 0.0, 0.10)
    assert (kick.side_near, kick.side_far, kick.side_inner, kick.side_outer) == (0.10, 0.22, 0.0, 0.15)
    assert (kick.tip_ahead, kick.tip_aside) == (0.10, 0.05)
    degrees = [math.degrees(a) for a in (nao.head.yaw, nao.head.up, nao.head.down)]
    assert degrees == pytest.approx([120.0, 35.0, 30.0])


@pytest.mark.parametrize("name", names_in(BEHAVIOUR_FOLDER))
def test_every_group_of_numbers_has_a_source(name: str) -> None:
    settings = load_behaviour(name)
    told = {key.split(".")[0] for key in settings.source}
    assert settings.name == name
    assert told == set(GROUPS)


def test_numbers_are_changed_by_their_dotted_names_and_nothing_else_changes() -> None:
    nao = load_behaviour("nao")
    faster = nao.changed({"walk.ahead": 0.3, "kick.straight_distance": 4.0})
    different = {name for name in NAMES if nao.number(name) != faster.number(name)}
    assert different == {"walk.ahead", "kick.straight_distance"}
    assert faster.walk.ahead == 0.3


def test_an_unknown_number_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean 'walk\.ahead'"):
        load_behaviour("nao").changed({"walk.ahaed": 0.3})
    with pytest.raises(UnknownNameError, match="nao-spark"):
        load_behaviour("nao-spork")


def test_kernels_get_one_row_of_numbers_for_each_match() -> None:
    nao, spark = load_behaviour("nao"), load_behaviour("nao-spark")
    table = numbers_of([nao, spark])
    assert [row.walk.ahead for row in table] == [nao.walk.ahead, spark.walk.ahead]
    assert len(NAMES) == len(set(NAMES))
    for name in NAMES:
        group, key = name.split(".")
        assert table[group][key][1] == spark.number(name)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    settings = load_behaviour("nao").changed({"walk.acceleration": math.inf, "fall.fast": 1 / 3})
    write_behaviour(settings, tmp_path / "own.toml")
    assert load_behaviour(tmp_path / "own.toml") == settings


@pytest.mark.parametrize(
    ("name", "number", "problem"),
    [
        ("walk.ahead", 0.0, "above 0"),
        ("get_up.failure", 1.5, "allowed is 0..1"),
        ("kick.straight_far", 0.05, "straight_near must be below"),
        ("ball.deceleration", 0.0, "roll for ever"),
        ("head.yaw", 4.0, "allowed is 0..3.14"),
    ],
)
def test_numbers_that_no_robot_can_have_are_refused(tmp_path: Path, name: str, number: float, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        load_behaviour("nao").changed({name: number})
    key = name.split(".")[1]
    write_behaviour(load_behaviour("nao"), tmp_path / "own.toml")
    text = (tmp_path / "own.toml").read_text().splitlines()
    wrong = [f"{key} = {number}" if line.startswith(f"{key} =") else line for line in text]
    (tmp_path / "own.toml").write_text("\n".join(wrong))
    with pytest.raises(FileError, match=problem):
        load_behaviour(tmp_path / "own.toml")
