"""Table 2 of the learned walk, small: what is kept, what is missing, and goals that are not rounded into being met."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from nutmeg.experiments.experiment import Goal, perform
from nutmeg.experiments.learned_walk import walk_table2 as table2
from nutmeg.experiments.learned_walk.walk_table2 import goals
from nutmeg.learning import agents as agents_module
from nutmeg.learning import measure
from nutmeg.learning.agents import AGENTS
from nutmeg.motion.walk.files import WalkParameters, read_walk, write_walk

TINY = table2.Scale(trials=2, changes=2, starts=2)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything in tenths of a second."""
    for name in ("SPEED_SECONDS", "RUN_UP_SECONDS", "STOPPING_SECONDS", "CHANGE_SECONDS"):
        monkeypatch.setattr(measure, name, 0.2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Walks of two agents, and a course that is over at once."""
    course = tmp_path / "short.toml"
    course.write_text(
        'name = "short"\n[[trajectory]]\nname = "a"\ntarget = [{ to = [20, 0], seconds = 0.3 }]\n', encoding="utf-8"
    )

    def on_short_course(walk: WalkParameters, **options: Any) -> measure.TrialMean:
        return measure.course_fitness(walk, course=str(course), **options)

    monkeypatch.setattr(table2, "course_fitness", on_short_course)
    monkeypatch.setattr(agents_module, "walk_names", lambda: ())  # only those of the folder
    walks = tmp_path / "walks"
    walks.mkdir()
    write_walk(walks / "initial.toml", read_walk("initial"))
    write_walk(walks / "dynamic-rewards.toml", dataclasses.replace(read_walk("initial"), name="x", facing="hold"))
    return walks


def row(forward: float, sideways: float, falls: int = 0, **more: Any) -> dict[str, Any]:
    """What is measured of an agent."""
    speeds = {way: {"mean": forward, "se": 0.0, "falls": falls, "trials": 20} for way in ("forward", "backward")}
    speeds["sideways"] = {"mean": sideways, "se": 0.0, "falls": 0, "trials": 20}
    plain = {"changes": {"falls": 0, "trials": 20}, "phi_length": 0.1, "step_time": 0.13}
    return {"speeds": speeds, **plain, "fitness_ratio": 1.0, **more}


def met(agents: dict[str, dict[str, Any]], beginning: str) -> list[bool | None]:
    return [goal.met for goal in goals(agents) if goal.what.startswith(beginning)]


@pytest.mark.usefixtures("short")
def test_agents_are_measured_once_and_again_only_if_their_walk_changes(tmp_path: Path, folder: Path) -> None:
    out = tmp_path / "out"
    said: list[str] = []
    settings = table2.Settings(walks=folder, seed=0, seeds=2, size=TINY)
    answer = perform(table2, out, settings, said.append)
    agents = answer["agents"]
    assert list(agents) == ["Initial", "DynamicRewards"]
    assert set(agents) | set(answer["missing"]) == set(AGENTS)
    assert agents["Initial"]["speeds"]["forward"]["trials"] == 4
    assert agents["Initial"]["fitness_ratio"] == pytest.approx(1.0)
    assert agents["DynamicRewards"]["paper"] == {"forward": 0.42, "backward": 0.53, "sideways": 0.48}
    assert (out / "table-2.png").stat().st_size > 5000
    assert json.loads((out / "results.json").read_text(encoding="utf-8"))["goals"] == answer["goals"]
    assert len(said) == 2 * len(agents)
    write_walk(folder / "initial.toml", read_walk("initial").with_set("walk", {"max_step_x": 0.02}))
    table2.run(out, settings, said.append)
    assert said[2 * len(agents) :] == ["Initial, seed 0", "Initial, seed 1"]
    shown = table2.table(answer)
    assert [line[0] for line in shown.rows] == list(agents)
    assert all(len(line) == len(shown.columns) for line in shown.rows)
    assert any("MISSED: DynamicRewards, forward" in note for note in shown.notes)
    for name in answer["missing"]:
        assert any(note.startswith(f"{name}: not measured") for note in shown.notes)


def test_the_note_of_a_walk_tells_all_searches_and_what_was_done_by_hand() -> None:
    made = {
        "command": "learn c",
        "seed": 2,
        "evaluations": 1008,
        "history": ["learn a", "learn b"],
        "about": "By hand.",
    }
    assert table2._origin("X", made) == (
        "X: seed 2, 1,008 evaluations in the last search, learn c; before that: learn b; before that: learn a. By hand."
    )
    assert table2._origin("X", {**made, "command": ""}) == "X: made by hand."


def test_a_goal_is_not_rounded_into_being_met() -> None:
    almost = Goal(what="speed", found=0.549996, limit=0.55, unit=" m/s")
    assert almost.met is False
    assert almost.sentence() == "MISSED: speed 0.5499 m/s, wanted at least 0.55 m/s"
    above = Goal(what="ratio", found=1.150004, limit=1.15, most=True)
    assert above.met is False
    assert above.shown() == "1.1501"
    exact = Goal(what="speed", found=0.55, limit=0.55)
    assert exact.met is True
    assert exact.shown() == "0.5500"


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    found = goals({})
    assert found
    assert all(goal.met is None for goal in found)
    assert found[0].sentence().startswith("not measured: DynamicRewards, forward")


def test_the_goals_of_the_holonomic_walk() -> None:
    assert met({"DynamicRewards": row(0.6, 0.56)}, "DynamicRewards") == [True] * 6
    assert met({"DynamicRewards": row(0.6, 0.5)}, "DynamicRewards") == [True, True, False, False, True, True]
    assert met({"DynamicRewards": row(0.6, 0.56, falls=1)}, "DynamicRewards, share of falls in the") == [True]
    assert met({"DynamicRewards": row(0.6, 0.56, falls=2)}, "DynamicRewards, share of falls in the") == [False]
    gone = goals({"DynamicRewards": row(0.6, -0.1)})[3]
    assert gone.met is False
    assert gone.as_json()["found"] is None


def test_the_ordering_of_the_paper() -> None:
    papers = {
        "StaticRewards": row(0.58, 0.37),
        "DynamicRewards": row(0.42, 0.48),
        "FaceForward": row(0.74, 0.03),
        "Final": row(0.71, 0.21),
    }
    assert met(papers, "ordering") == [True] * 4
    other = {**papers, "StaticRewards": row(0.4, 0.5), "FaceForward": row(0.7, 0.2)}
    assert met(other, "ordering") == [False] * 4
