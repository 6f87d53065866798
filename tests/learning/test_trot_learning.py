"""Trots as walks: files, learning with the search that walks are learned with, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.learning.courses import Bout, Target, Trajectory, run_bouts
from nutmeg.learning.learn import LearnSettings, WalkLearning, search_space
from nutmeg.motion.trot import TROT_AHEAD_PARAMETERS, TROT_PARAMETERS
from nutmeg.motion.walk.files import read_walk, walk_names, walk_text, write_walk
from nutmeg.search.evaluation import InThisThread, Share

TROTS = [name for name in walk_names() if read_walk(name).trot is not None]
AHEAD_3_S = Trajectory(name="ahead", target=(Target(to=(30.0, 0.0), seconds=3.0),))


def test_a_trot_is_found_by_its_name_and_the_robots() -> None:
    assert {"trot-ers7", "trot-ers210", "learned-ers7"} <= set(TROTS)
    assert read_walk("trot", "ers7") == read_walk("trot-ers7")
    assert read_walk("learned", "ers7").robot == "ers7"
    with pytest.raises(UnknownNameError, match="trot-ers7"):
        read_walk("trot", "nao-v6")


def test_a_trot_has_one_set_of_its_own_kind(tmp_path: Path) -> None:
    walk = read_walk("trot-ers7")
    assert walk.sets == {}
    assert list(walk.as_tables()) == ["trot"]
    faster = walk.with_set("trot", {"frequency": 2.5})
    write_walk(tmp_path / "params.toml", faster)
    assert read_walk(str(tmp_path)) == faster
    assert "[walk]" not in walk_text(faster)
    with pytest.raises(UnknownNameError, match="trot"):
        walk.with_set("sprint", {"max_step_x": 0.05})
    with pytest.raises(UsageError, match=r"duty is 0.99; allowed is 0.45..0.8"):
        walk.with_set("trot", {"duty": 0.99})


@pytest.mark.parametrize("name", TROTS)
def test_every_shipped_trot_goes_ahead_from_noisy_starts_without_a_fall(name: str) -> None:
    walk = read_walk(name)
    found = run_bouts(walk.robot, [Bout(walk, AHEAD_3_S, np.random.default_rng(k)) for k in range(3)])
    assert not found.fell.any()
    assert (found.gained[:, 0] > 0.12 * 3.0).all()


def test_the_learned_trot_is_much_faster_than_the_hand_set_one() -> None:
    gained = []
    for name in ("trot-ers7", "learned-ers7"):
        bouts = [Bout(read_walk(name), AHEAD_3_S, np.random.default_rng(k)) for k in range(2)]
        gained.append(run_bouts("ers7", bouts).gained[:, 0].mean())
    assert gained[1] > 1.5 * gained[0]


def test_what_is_searched_are_the_numbers_of_a_trot() -> None:
    start = read_walk("trot-ers7")
    ahead = search_space(LearnSettings(task="trot", robot="ers7"), start)
    assert ahead.names == TROT_AHEAD_PARAMETERS
    assert ahead.named(ahead.start)["frequency"] == start.trot.frequency  # type: ignore[union-attr]
    everything = search_space(LearnSettings(task="trot", robot="ers7", parameters="extended"), start)
    assert everything.names == TROT_PARAMETERS
    with pytest.raises(UnknownNameError, match="parameter of the trot"):
        search_space(LearnSettings(task="trot", robot="ers7", parameters=("phi_length",)), start)


def test_a_trot_is_learned_by_the_same_search(tmp_path: Path) -> None:
    settings = LearnSettings(
        task="trot", robot="ers7", starts=1, judged_starts=1, population=4, generations=1, seed=3, name="mine"
    )
    learning = WalkLearning(settings)
    evaluator = InThisThread(piece=Share(unit=len(learning.task.parts)))
    learned = learning.run(evaluator, folder=tmp_path, command="nutmeg learn --task trot")
    assert learned.walk.trot != learned.before.trot
    assert learned.walk.origin.start == "trot"
    assert learned.fitness_before > 0.8
    assert np.isfinite(learned.parts).all()


def test_tasks_and_walks_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(UsageError, match="is a trot; the task sprint cannot begin with it"):
        WalkLearning(LearnSettings(task="sprint", robot="ers7", start="trot"))
    with pytest.raises(UsageError, match="walks on two legs; the task trot cannot begin with it"):
        WalkLearning(LearnSettings(task="trot", robot="nao-spark", start="initial"))
    with pytest.raises(UsageError, match="two legs only"):
        WalkLearning(LearnSettings(task="trot", robot="ers7", device="gpu"))
