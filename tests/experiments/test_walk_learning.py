"""Learning runs of the walk's agents: learned together, measured, compared over runs."""

from __future__ import annotations

import dataclasses
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from nutmeg.base.errors import UsageError
from nutmeg.experiments.experiment import perform
from nutmeg.experiments.learned_walk import walk_learning
from nutmeg.learning import measure
from nutmeg.learning import tasks as tasks_module
from nutmeg.learning.courses import read_course
from nutmeg.learning.learn import PARTS_FILE
from nutmeg.motion.walk.files import read_walk
from nutmeg.motion.walk.settings import PAPER_PARAMETERS, PendulumWalkSettings

SHORT_COURSE = """
name = "short"
[[trajectory]]
name = "ways"
target = [
  { to = [20, 0], seconds = 0.4, counts = "forward" },
  { to = [-20, 0], seconds = 0.4, counts = "backward" },
  { to = [0, 20], seconds = 0.4, counts = "sideways" },
]
"""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Courses and speeds in tenths of a second."""
    path = tmp_path / "short.toml"
    path.write_text(SHORT_COURSE, encoding="utf-8")
    monkeypatch.setattr(
        tasks_module, "read_course", lambda name: read_course(str(path) if name == "go-to-target" else name)
    )
    monkeypatch.setattr(measure, "SPEED_SECONDS", 0.2)


@pytest.mark.usefixtures("short")
def test_agents_are_learned_together_and_compared_over_their_runs(tmp_path: Path) -> None:
    folder = tmp_path / "learned"
    agents = (*walk_learning.HOLONOMIC[:2], "SprintAlone")
    effort = walk_learning.Effort(agents=agents, population=4, runs=2, judged=2, starts=2, courses=1)
    for generations in (1, 2):  # the second call goes on
        walk_learning.learn_agents(folder, dataclasses.replace(effort, generations=generations), "cpu")
    history = json.loads((folder / walk_learning.HISTORY_FILE).read_text(encoding="utf-8"))
    tasks = ("static-rewards", "dynamic-rewards", "sprint-alone")
    assert set(history) == {f"{task}-{run}" for task in tasks for run in (1, 2)}
    assert all(len(one["best"]) == 2 for one in history.values())
    answer = perform(walk_learning, tmp_path / "out", walk_learning.Settings(walks=folder, effort=effort))
    static = answer["agents"]["StaticRewards"]
    assert (static["runs"], static["generations"], static["evaluations"]) == (2, [2, 2], [8, 8])
    assert len(static["evenness"]) == 2
    assert [goal["what"][:13] for goal in answer["goals"]] == ["StaticRewards", "DynamicReward", "SprintAlone: "]
    assert [one["base"] for one in answer["mixed_sets"]] == ["StaticRewards"] * 2
    assert all(0.0 <= one["alone"] <= 1.0 and 0.0 <= one["mixed"] <= 1.0 for one in answer["mixed_sets"])
    assert {one["agent"] for one in answer["tests"]} == {"DynamicRewards"}
    assert (tmp_path / "out" / "figure-4.png").stat().st_size > 5000
    assert (tmp_path / "out" / "figure-5.png").stat().st_size > 5000
    shown = walk_learning.table(answer)
    assert all(len(row) == len(shown.columns) for row in shown.rows)


@pytest.mark.usefixtures("short")
def test_a_search_goes_on_from_rewards_that_come_with_nutmeg_if_it_has_their_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    effort = walk_learning.Effort(agents=("GoToTarget",), population=4, generations=2, runs=1, judged=1)
    walk_learning.learn_agents(tmp_path / "whole", effort, "cpu")
    rewards = tmp_path / "whole" / "searches" / "go-to-target-1" / PARTS_FILE
    first = rewards.read_text(encoding="utf-8").splitlines()[0] + "\n"
    # Another number than the walk got shows that the search reads it.
    line = json.loads(first)
    line["parts"][0][0] += 1000.0
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    (shipped / "go-to-target-1.jsonl.xz").write_bytes(lzma.compress(json.dumps(line).encode() + b"\n"))
    monkeypatch.setattr(walk_learning, "_SHIPPED_REWARDS", shipped)
    walk_learning.learn_agents(tmp_path / "on", effort, "cpu")
    history = json.loads((tmp_path / "on" / walk_learning.HISTORY_FILE).read_text(encoding="utf-8"))
    assert history["go-to-target-1"]["best"][0] > 900
    assert len(history["go-to-target-1"]["best"]) == 2
    walk_learning.learn_agents(tmp_path / "larger", dataclasses.replace(effort, population=5), "cpu")
    history = json.loads((tmp_path / "larger" / walk_learning.HISTORY_FILE).read_text(encoding="utf-8"))
    assert history["go-to-target-1"]["best"][0] < 900


@pytest.mark.usefixtures("short")
def test_layers_are_learned_on_the_sets_that_they_ship_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks_module, "DRIBBLE_SECONDS", 0.2)
    effort = walk_learning.Effort(
        agents=("Final", "Sprint", "GoToTarget"), population=4, generations=1, runs=1, judged=1
    )
    walk_learning.learn_agents(tmp_path, effort, "cpu")
    first, second, third = (read_walk(str(tmp_path / f"{name}-1.toml")) for name in ("go-to-target", "sprint", "final"))
    assert list(third.sets) == ["walk", "sprint", "positioning"]
    assert first.walk == second.walk == third.walk != read_walk("initial").walk
    assert second.sprint == third.sprint != first.walk
    assert len(third.origin.history) == 2
    assert set(json.loads((tmp_path / walk_learning.HISTORY_FILE).read_text(encoding="utf-8"))) == {
        "go-to-target-1",
        "sprint-1",
        "final-1",
    }


def runs(*speeds: tuple[float, float, float]) -> list[dict[str, Any]]:
    """Measurements of learning runs: forward, backward, sideways."""
    ways = ("forward", "backward", "sideways", "turn")
    return [
        {way: {"mean": v, "falls": 0, "trials": 100} for way, v in zip(ways, (*one, 1.0), strict=True)}
        for one in speeds
    ]


def test_weights_that_change_are_said_to_help_only_where_runs_differ_clearly() -> None:
    def verdict(static: list[dict[str, Any]], dynamic: list[dict[str, Any]]) -> str:
        agents = {
            name: walk_learning.summary(name, found, [])
            for name, found in (("StaticRewards", static), ("DynamicRewards", dynamic))
        }
        return walk_learning._order_claims(agents, {})[0].verdict

    even = runs((0.5, 0.5, 0.49), (0.5, 0.49, 0.5), (0.51, 0.5, 0.5))
    uneven = runs((0.6, 0.5, 0.3), (0.6, 0.5, 0.31), (0.61, 0.5, 0.3))
    mixed = runs((0.6, 0.5, 0.3), (0.5, 0.5, 0.5), (0.5, 0.5, 0.52))
    assert verdict(uneven, even) == "agrees"
    assert verdict(even, uneven) == "differs"
    assert verdict(mixed, even) == "cannot tell"


def test_a_folder_without_learning_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"static-rewards-1\.toml"):
        walk_learning.run(tmp_path, walk_learning.Settings(walks=tmp_path))


def test_runs_that_ship_can_be_measured_again() -> None:
    folder = Path(walk_learning.__file__).parents[1] / "data" / "walk_learning"
    walks = walk_learning.learned_walks(folder)
    four, three = ("StaticRewards", "DynamicRewards", "SprintAlone"), ("GoToTarget", "GoToTargetHold", "Sprint")
    assert {agent: list(runs) for agent, runs in walks.items()} == {
        **{agent: [1, 2, 3, 4] for agent in four},
        **{agent: [1, 2, 3] for agent in three},
    }
    assert all(walks["Sprint"][run].walk == walks["GoToTarget"][run].walk for run in (1, 2, 3))
    start = read_walk("initial").walk
    changed = {name for runs in walks.values() for one in runs.values() for name in _differences(one.walk, start)}
    assert changed == set(PAPER_PARAMETERS), "nothing but the fourteen starred parameters was searched"
    history = json.loads((folder / walk_learning.HISTORY_FILE).read_text(encoding="utf-8"))
    assert {len(one["best"]) for one in history.values()} == {18, 21, 40}
    for path in walk_learning._SHIPPED_REWARDS.glob("*.jsonl.xz"):
        lines = lzma.decompress(path.read_bytes()).splitlines()
        assert len(lines) == len(history[path.name.removesuffix(".jsonl.xz")]["best"])


def _differences(one: PendulumWalkSettings, other: PendulumWalkSettings) -> list[str]:
    return [name for name, value in dataclasses.asdict(one).items() if value != getattr(other, name)]


def test_figures_of_agents_that_were_not_learned_are_left_out(tmp_path: Path) -> None:
    one = {"best": [1.0, 2.0], "weights": [], "shown": []}
    walk_learning._draw_figures(tmp_path, {"go-to-target-1": one, "sprint-1": one})
    assert not list(tmp_path.iterdir())
    walk_learning._draw_figures(tmp_path, {"face-forward-1": one})
    assert [path.name for path in tmp_path.iterdir()] == ["figure-4.png"]
