"""The paper's agents: their walks, and those that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from nutmeg.base.errors import FileError, NutmegError
from nutmeg.learning.agents import AGENTS, agent_walks, other_walks
from nutmeg.learning.tasks import TASKS
from nutmeg.motion.walk.files import WALK_ALIASES, read_walk, walk_names, walk_text


def test_every_agent_but_the_untrained_one_has_the_walk_of_a_task() -> None:
    learned = {agent.walk for agent in AGENTS.values()} - {"initial", "final"}
    assert learned <= set(TASKS)
    assert AGENTS["Final"].paper == {"forward": 0.71, "backward": 0.40, "sideways": 0.21}
    assert len(AGENTS) == 8


def test_an_agent_has_its_walk_or_is_told_to_be_missing() -> None:
    walks, missing = agent_walks()
    assert set(walks) | set(missing) == set(AGENTS)
    assert not set(walks) & set(missing)
    assert walks["Initial"] == read_walk("initial")
    assert all(AGENTS[name].walk not in walk_names() for name in missing)


def test_walks_of_a_folder_come_before_those_that_are_shipped(tmp_path: Path) -> None:
    text = walk_text(read_walk("initial"))
    (tmp_path / "initial.toml").write_text(text.replace('name = "initial"', 'name = "own"'), encoding="utf-8")
    (tmp_path / "sprint").mkdir()
    (tmp_path / "sprint" / "params.toml").write_text(text.replace('"initial"', '"run"'), encoding="utf-8")
    (tmp_path / "another.toml").write_text(text, encoding="utf-8")
    walks, missing = agent_walks(tmp_path)
    assert (walks["Initial"].name, walks["Sprint"].name) == ("own", "run")
    assert "Sprint" not in missing
    others = other_walks(tmp_path)
    assert "another" in others
    assert not {"initial", "sprint"} & set(others)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is no folder"):
        agent_walks(tmp_path / "nowhere")


def test_another_name_reads_the_walk_it_stands_for() -> None:
    assert WALK_ALIASES["holonomic"] == "dynamic-rewards"
    if "dynamic-rewards" in walk_names():
        assert read_walk("holonomic") == read_walk("dynamic-rewards")
    else:
        with pytest.raises(NutmegError, match="unknown walk 'holonomic'"):
            read_walk("holonomic")
