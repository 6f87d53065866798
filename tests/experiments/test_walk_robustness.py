"""Pushes and other motors, small: curves, losses, and walks that cannot be tried."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nutmeg.experiments.learned_walk import walk_robustness as robustness
from nutmeg.learning import measure
from nutmeg.learning.measure import PushSettings
from nutmeg.motion.walk.files import read_walk, write_walk

TINY = robustness.Scale(
    pushes=PushSettings(impulses=(0.0, 9.0), trials=1, earliest=0.1, within=0.1, watched=0.6),
    trials=1,
    real_pushes=False,
)


def test_every_walk_is_pushed_and_those_with_real_motors_tried_on_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "SPEED_SECONDS", 0.2)
    initial = read_walk("initial")
    real = dataclasses.replace(initial.with_set("walk", {"z_torso": 0.31}), name="mine", robot="nao-v6")
    monkeypatch.setattr(robustness, "agent_walks", lambda _: ({"Initial": initial}, ("Sprint",)))
    monkeypatch.setattr(robustness, "other_walks", lambda _: {"mine": real})
    said: list[str] = []
    answer = robustness.run(tmp_path, robustness.Settings(size=TINY), said.append)
    assert [(curve["walk"], curve["walking"]) for curve in answer["pushes"]] == [
        ("Initial", True),
        ("Initial", False),
        ("mine", True),
        ("mine", False),
    ]
    assert [row["share"] for row in answer["pushes"][0]["impulses"]] == [1.0, 0.0]
    assert [row["actuation"] for row in answer["transfer"]] == ["ideal", "servo", "motoflex"]
    assert answer["transfer"][0]["loss"]["turn"] in (0.0, None)
    assert answer["not_transferred"] == {"Initial": "nao-spark has ideal drives only"}
    assert answer["missing"] == {"Sprint": "motion/data/walks/sprint.toml"}
    assert (tmp_path / "pushes.png").stat().st_size > 5000
    before = len(said)
    robustness.run(tmp_path, robustness.Settings(size=TINY), said.append)
    assert len(said) == before, "results are kept"
    shown = robustness.table(answer)
    assert all(len(line) == len(shown.columns) for line in shown.rows)
    assert shown.rows[0][:4] == ("Initial, ideal", "walking", "100 %", "0 %")
    assert any(note.startswith("mine on motoflex: forward") for note in shown.notes)


def test_a_loss_is_a_share_of_what_there_was() -> None:
    assert robustness._loss({"mean": 0.2}, {"mean": 0.15}) == pytest.approx(0.25)
    assert robustness._loss({"mean": 0.01}, {"mean": 0.15}) is None


def test_the_league_robot_has_ideal_drives_and_a_nao_all(tmp_path: Path) -> None:
    write_walk(tmp_path / "walk.toml", dataclasses.replace(read_walk("initial"), robot="nao-v6"))
    assert robustness.actuations_of(read_walk("initial")) == ("ideal",)
    assert robustness.actuations_of(read_walk(str(tmp_path / "walk.toml"))) == ("ideal", "servo", "motoflex")
