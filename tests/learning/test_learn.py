"""Learning: the same numbers again, resumed or not, and weights that follow from what was told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, UsageError
from nutmeg.learning.courses import read_course, run_bouts
from nutmeg.learning.learn import LearnedWalk, LearnSettings, WalkLearning, read_learn, search_space
from nutmeg.learning.rewards import next_weights
from nutmeg.learning.tasks import course_bouts
from nutmeg.model.identified import Distribution, IdentifiedBody, IdentifiedParameter, write_body
from nutmeg.motion.walk.files import WalkParameters, read_walk, walk_text
from nutmeg.motion.walk.settings import EXTENDED_PARAMETERS
from nutmeg.search.evaluation import InThisThread

COURSE = """\
name = "tiny"
[[trajectory]]
name = "all"
target = [
  { to = [20, 0], seconds = 0.5, counts = "forward" },
  { to = [-20, 0], seconds = 0.4, counts = "backward" },
  { to = [0, 20], seconds = 0.4, counts = "sideways" },
  { stop = true, seconds = 0.2 },
]
"""


def settings(folder: Path, **changes: object) -> LearnSettings:
    path = folder / "tiny.toml"
    path.write_text(COURSE)
    plain = {"task": "dynamic-rewards", "course": str(path), "parameters": ("max_step_x", "max_step_y", "z_step")}
    small = {"population": 4, "generations": 3, "starts": 1, "judged_starts": 2}
    return LearnSettings(**{**plain, **small, **changes})  # type: ignore[arg-type]


def learned(chosen: LearnSettings, folder: Path | None = None) -> LearnedWalk:
    return WalkLearning(chosen).run(InThisThread(), folder=folder)


@pytest.mark.slow
def test_a_resumed_run_ends_with_the_same_numbers_and_weights(tmp_path: Path) -> None:
    whole = learned(settings(tmp_path), tmp_path / "whole")
    learned(settings(tmp_path, generations=1), tmp_path / "parts")
    path = tmp_path / "parts" / "parts.jsonl"
    path.write_text(path.read_text() + '{"centre": [[1.0,')  # an interrupted generation: half a line
    parted = learned(settings(tmp_path), tmp_path / "parts")
    np.testing.assert_array_equal(parted.search.mean, whole.search.mean)
    assert parted.generations == whole.generations
    assert parted.fitness == whole.fitness
    assert path.read_bytes() == (tmp_path / "whole" / "parts.jsonl").read_bytes()
    weights = [g.weights for g in whole.generations]
    assert weights[0] == pytest.approx([1 / 3] * 3)
    rows = [np.array(json.loads(line)["parts"]) for line in path.read_text().splitlines()]
    values = -whole.search.history[0].values
    np.testing.assert_allclose(weights[1], next_weights(rows[0][:, :3], values, "dynamic"))
    np.testing.assert_allclose(rows[1] @ [*weights[1], 0.4 / 1.3 + 0.1 / 3 / 1.3], -whole.search.history[1].values)


def test_what_is_learned_is_the_mean_and_says_where_it_comes_from(tmp_path: Path) -> None:
    chosen = settings(tmp_path, task="go-to-target", name="mine")
    result = learned(chosen)
    assert result.walk.walk.max_step_x == pytest.approx(result.search.mean[0])
    assert result.walk.origin.evaluations == 12
    assert result.walk.facing == "turn"
    path = tmp_path / "params.toml"
    path.write_text(walk_text(result.walk))
    assert read_walk(str(path)) == result.walk
    assert read_walk(str(tmp_path)) == result.walk
    assert result.generations[0].weights == ()


def test_the_walk_learned_so_far_is_there_after_every_generation(tmp_path: Path) -> None:
    walks: list[WalkParameters] = []
    result = WalkLearning(settings(tmp_path, task="go-to-target")).run(InThisThread(), on_walk=walks.append)
    assert [walk.origin.generations for walk in walks] == [1, 2, 3]
    assert walks[-1].walk == result.walk.walk, "the last one is what is learned in the end"
    assert read_text_walk(tmp_path, walks[0]) == walks[0]


def read_text_walk(folder: Path, walk: WalkParameters) -> WalkParameters:
    """A walk written to a file and read again."""
    (folder / "params.toml").write_text(walk_text(walk))
    return read_walk(str(folder))


@pytest.mark.slow
def test_the_rewards_alone_are_enough_to_go_on_and_those_of_another_search_are_refused(tmp_path: Path) -> None:
    whole = learned(settings(tmp_path), tmp_path / "whole")
    for name, seed in (("same", 1), ("other", 2)):
        (tmp_path / name).mkdir()
        lines = (tmp_path / "whole" / "parts.jsonl").read_text().splitlines(keepends=True)
        (tmp_path / name / "parts.jsonl").write_text("".join(lines[:2]))
        if name == "other":
            with pytest.raises(FileError, match="generation 0 has other candidates"):
                learned(settings(tmp_path, seed=seed), tmp_path / name)
    went_on = learned(settings(tmp_path), tmp_path / "same")
    np.testing.assert_array_equal(went_on.search.mean, whole.search.mean)
    for name in ("parts.jsonl", "search.jsonl"):
        assert (tmp_path / "same" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_parts_that_do_not_belong_to_the_search_are_refused(tmp_path: Path) -> None:
    learned(settings(tmp_path, generations=1), tmp_path / "run")
    (tmp_path / "run" / "parts.jsonl").write_text("")
    with pytest.raises(FileError, match="generation 0"):
        learned(settings(tmp_path), tmp_path / "run")


def test_the_searched_ranges_are_around_the_start_and_steps_are_never_too_quick() -> None:
    space = search_space(LearnSettings(parameters="extended"), read_walk("initial"))
    assert space.names == EXTENDED_PARAMETERS
    assert space.dimensions["phi_length"].low >= 0.08
    assert space.dimensions["err_norm"].high < space.dimensions["err_max"].low


def test_learning_can_go_on_from_every_walk_that_comes_for_the_league_robot() -> None:
    for name in ("initial", "go-to-target", "sprint", "final", "static-rewards", "dynamic-rewards", "face-forward"):
        space = search_space(LearnSettings(parameters="extended"), read_walk(name))
        assert space.named(space.start)["err_norm"] == read_walk(name).walk.err_norm


def test_settings_that_do_not_fit_are_refused_with_what_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="dynamic-rewards"):
        LearnSettings(task="dynamic-reward")
    with pytest.raises(UsageError, match="outside the searched range"):
        search_space(LearnSettings(ranges={"z_torso": (0.2, 0.3)}), read_walk("initial"))
    with pytest.raises(UsageError, match="allowed is within"):
        search_space(LearnSettings(ranges={"z_torso": (0.2, 0.9)}), read_walk("initial"))
    with pytest.raises(UsageError, match="nao-v6"):
        LearnSettings(robot="nao-v6").start_walk()
    with pytest.raises(UsageError, match=r"trot is for ers210 and ers7, and the robot is nao-spark; add --robot ers7"):
        LearnSettings(task="trot").start_walk()
    path = tmp_path / "learn.toml"
    path.write_text('task = "go-to-target"\ngenerations = 0\n')
    with pytest.raises(FileError, match="generations is 0"):
        read_learn(path)


def test_candidates_walk_with_bodies_that_are_drawn_from_an_estimate(tmp_path: Path) -> None:
    mass = IdentifiedParameter(value=1.1, low=0.5, high=2.0, scale="log", sets=("mass.*",), relative=True)
    lag = IdentifiedParameter(value=0.02, low=0.0, high=0.08, sets=("delay",))
    body = IdentifiedBody(
        robot="nao-spark",
        parameters={"mass": mass, "lag": lag},
        distribution=Distribution(errors=(0.1, 0.3), correlation=((1.0, 0.0), (0.0, 1.0))),
    )
    write_body(tmp_path / "params.toml", body)
    given = {"body": str(tmp_path / "params.toml"), "bodies": 3}
    point = WalkLearning(settings(tmp_path, **given))
    assert [one.adjustments[0].value for one in point.trials.bodies] == [1.1]
    drawn = WalkLearning(settings(tmp_path, randomise=True, **given))
    masses = [one.adjustments[0].value for one in drawn.trials.bodies]
    assert len(set(masses)) == 3
    assert drawn.task.starts == 3, "every candidate walks with each body"
    assert masses == [one.adjustments[0].value for one in WalkLearning(drawn.settings).trials.bodies]
    rng = np.random.default_rng(0)
    bouts = course_bouts(read_course(drawn.task.course), [drawn.before], [rng], 3, drawn.trials.bodies)
    assert [bout.body for bout in bouts] == list(drawn.trials.bodies)
    walked = run_bouts("nao-spark", bouts, paths=True)
    assert len(np.unique(walked.gained.sum(axis=1))) == 3
    again = course_bouts(
        read_course(drawn.task.course), [drawn.before], [np.random.default_rng(0)], 3, drawn.trials.bodies
    )
    alone = run_bouts("nao-spark", again[1:2], paths=True)
    assert np.array_equal(walked.gained[1:2], alone.gained), "bodies of different delays walk in batches of their own"
    assert walked.paths is not None
    assert alone.paths is not None
    assert np.array_equal(walked.paths[: len(alone.paths), 1], alone.paths[:, 0])
    with pytest.raises(ValueError, match="`randomise` draws bodies"):
        settings(tmp_path, randomise=True)
