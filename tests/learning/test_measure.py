"""Measuring a walk, judging tasks, and driving a ball."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.learning import measure, tasks
from nutmeg.learning.courses import ROBOT_NAME, course_scene, read_course, run_bouts
from nutmeg.learning.measure import (
    PUSH_DIRECTIONS,
    PushResults,
    PushSettings,
    TrialMean,
    binomial_interval,
    measure_walk,
    push_walk,
)
from nutmeg.learning.tasks import DribbleBout, DribbleStart, WalkTrials, course_bouts, drive_ball, task_settings
from nutmeg.motion.walk.files import WalkParameters, read_walk
from nutmeg.sim.worlds import Worlds

Array = Any


@pytest.mark.slow
def test_the_initial_walk_has_the_speeds_it_is_known_for() -> None:
    found = measure_walk(read_walk("initial"), trials=4)
    for name, least, most in (("forward", 0.13, 0.2), ("backward", 0.13, 0.2), ("sideways", 0.1, 0.18)):
        assert least < found.speeds[name].mean < most
        assert found.speeds[name].falls == 0
        assert 0 < found.stopping[name].mean < 0.15
    assert 0.3 < found.speeds["turn"].mean < 0.8
    assert found.changes.falls == 0
    assert found.changes.mean == pytest.approx(24.0)
    assert 1.0 <= found.evenness < 1.4
    table = found.as_json()
    assert set(table["speeds"]) == {"forward", "backward", "sideways", "turn"}
    assert set(table["speeds"]["turn"]) == {"mean", "se", "falls", "trials"}


def test_a_mean_has_its_standard_error() -> None:
    found = TrialMean.of(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, False, False, False]))
    assert (found.mean, found.falls, found.trials) == (2.5, 1, 4)
    assert found.se == pytest.approx(np.sqrt(5 / 3) / 2)
    assert TrialMean.of(np.zeros(0), np.ones(3, dtype=bool)).as_json()["mean"] is None


def test_parts_of_a_measurement_pool_to_the_whole() -> None:
    values, fell = np.array([1.0, 2.0, 4.0, 8.0, 9.0]), np.array([True, False, False, True, False])
    whole = TrialMean.of(values, fell)
    parts = [TrialMean.of(values[:2], fell[:2]), TrialMean.of(values[2:], fell[2:])]
    pooled = TrialMean.pooled(parts)
    assert (pooled.falls, pooled.trials) == (2, 5)
    assert (pooled.mean, pooled.se) == pytest.approx((whole.mean, whole.se))
    assert TrialMean.pooled([whole]).se == pytest.approx(whole.se)


def test_speeds_alone_are_those_of_the_whole_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPEED_SECONDS", "RUN_UP_SECONDS", "STOPPING_SECONDS", "CHANGE_SECONDS"):
        monkeypatch.setattr(measure, name, 0.4)
    walk = read_walk("initial")
    found = measure_walk(walk, trials=2, seed=4, changes=2)
    assert found.changes.mean == pytest.approx(0.8)
    assert measure.walk_speeds(walk, trials=2, seed=4) == found.speeds


def test_fitness_is_the_reward_of_whole_courses(tmp_path: Path) -> None:
    course = tmp_path / "short.toml"
    course.write_text(
        'name = "short"\n'
        '[[trajectory]]\nname = "ahead"\ntarget = [{ to = [20, 0], seconds = 0.6 }]\n'
        '[[trajectory]]\nname = "aside"\ntarget = [{ to = [0, 20], seconds = 0.4 }, { stop = true, seconds = 0.2 }]\n',
        encoding="utf-8",
    )
    walk = read_walk("initial")
    found = measure.course_fitness(walk, course=str(course), starts=3, seed=2)
    rng = measure._generator(3, 2)
    expected = run_bouts("nao-spark", course_bouts(read_course(str(course)), [walk], [rng], 3)).total
    assert found.trials == 3
    assert found.falls == 0
    assert found.mean == pytest.approx(expected.sum() / 3)
    assert found.se == pytest.approx(np.std(expected.reshape(3, 2).sum(axis=1), ddof=1) / np.sqrt(3))


def test_a_number_of_trials_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match=r"1\.\.1000"):
        measure_walk(read_walk("initial"), trials=0)


def test_directions_change_every_time() -> None:
    targets = measure._changing(np.random.default_rng(3))
    assert len(targets) == measure.CHANGE_COUNT
    assert all(a.to != b.to for a, b in itertools.pairwise(targets))
    long = [target.to for target in measure._changing(np.random.default_rng(5), 20)]
    assert len(long) == 20
    assert all(a != b for a, b in itertools.pairwise(long))
    assert all(set(long[at : at + 4]) == set(measure.FAR_TARGETS.values()) for at in range(0, 20, 4))


def test_a_ball_straight_ahead_is_driven_towards_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "DRIBBLE_SECONDS", 4.0)
    start = DribbleStart((0.25, 0.0), 0.0)
    found = drive_ball("nao-spark", [DribbleBout(read_walk("initial"), start, np.random.default_rng(1))])
    assert not found.fell[0]
    assert found.total[0] > 0.1


def test_rows_of_one_candidate_are_its_parts_whatever_piece_they_come_in() -> None:
    task = dataclasses.replace(task_settings("sprint-alone"), starts=2)
    trials = WalkTrials(robot="nao-spark", task=task, start=read_walk("initial"), names=("max_step_x",))
    calls = []

    class Counting(WalkTrials):
        def parts(
            self,
            walks: Sequence[WalkParameters],
            generators: Sequence[np.random.Generator],
            *,
            starts: int | None = None,
        ) -> Array:
            assert starts is None
            calls.append(len(walks))
            return np.array([[walk.walk.max_step_x, rng.random()] for walk, rng in zip(walks, generators, strict=True)])

    counting = Counting(**{f.name: getattr(trials, f.name) for f in dataclasses.fields(trials)})
    rows = np.array([[0.03, 0], [0.03, 1], [0.03, 0], [0.03, 1], [0.05, 0], [0.05, 1]])
    generators = [np.random.default_rng(seed) for seed in (1, 1, 2, 2, 3, 3)]
    values = counting(rows, generators)
    assert calls == [3]
    assert values[0::2] == [0.03, 0.03, 0.05]
    assert values[1::2] == [np.random.default_rng(seed).random() for seed in (1, 2, 3)]
    assert counting(rows[1:3], [np.random.default_rng(seed) for seed in (1, 2)]) == [values[1], values[2]]


SHORT = PushSettings(impulses=(0.5, 8.0), trials=1, earliest=0.2, within=0.2, watched=1.0)


def results(survived: list[int]) -> PushResults:
    table = np.array([[[place < many] for place in range(len(PUSH_DIRECTIONS))] for many in survived])
    impulses = tuple(float(number) for number in range(1, len(survived) + 1))
    return PushResults("test", walking=True, impulses=impulses, pushed=np.ones_like(table), survived=table)


def momentum(worlds: Worlds, world: int) -> Any:
    """Mass times velocity of the whole robot, (3,)."""
    model = worlds.scene.model
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = worlds.qpos[world], worlds.qvel[world]
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    return data.subtree_linvel[0] * model.body_subtreemass[0]


def test_a_push_gives_a_robot_in_the_air_its_impulse() -> None:
    worlds = Worlds(course_scene("nao-spark"), 2 * len(PUSH_DIRECTIONS))
    shape = (2, len(PUSH_DIRECTIONS), 1)
    settings = PushSettings(impulses=(0.5, 2.0), trials=1, earliest=0.04, within=0.04)
    robot = worlds.robot(ROBOT_NAME)
    robot.pose[:, 2] += 1.0
    yaw = 0.3
    robot.pose[:, 3], robot.pose[:, 6] = np.cos(yaw / 2), np.sin(yaw / 2)
    one = measure._Pushes(settings, worlds, shape, measure._generators(0, shape))
    for cycle in range(int(one.end.max()) + 1):
        one.apply(cycle)
        worlds.step(round(CONTROL_CYCLE / worlds.scene.timestep))
    for world in range(worlds.count):
        impulse = settings.impulses[world // len(PUSH_DIRECTIONS)]
        angle = yaw + list(PUSH_DIRECTIONS.values())[world % len(PUSH_DIRECTIONS)]
        expected = impulse * np.array([np.cos(angle), np.sin(angle)])
        np.testing.assert_allclose(momentum(worlds, world)[:2], expected, atol=0.02 * impulse)


def test_a_robot_survives_a_nudge_and_no_blow_whatever_the_number_of_threads() -> None:
    walk = read_walk("initial")
    found = push_walk(walk, SHORT, walking=True, seed=3)
    assert found.pushed.all()
    assert found.survived[0].all()
    assert not found.survived[1].any()
    again = push_walk(walk, SHORT, walking=True, seed=3, threads=2)
    np.testing.assert_array_equal(found.survived, again.survived)


def test_a_robot_on_the_spot_is_pushed_there() -> None:
    only = dataclasses.replace(SHORT, impulses=(0.0,))
    found = push_walk(read_walk("initial"), only, walking=False)
    assert found.survived.all()
    assert found.as_json()["walking"] is False


def test_the_same_starts_are_used_for_every_impulse() -> None:
    first, *_, last = measure._generators(5, (3, 4, 2))
    eighth = measure._generators(5, (3, 4, 2))[8]
    assert first.random() == eighth.random()
    assert last.random() != first.random()


def test_the_impulse_that_half_survive_lies_between_those_tried() -> None:
    assert results([4, 3, 1, 0]).half() == pytest.approx(2.5)
    assert results([4, 4]).half() is None
    assert results([1, 0]).half() is None


def test_shares_are_told_with_their_intervals() -> None:
    table = results([4, 1]).as_json()
    assert [row["share"] for row in table["impulses"]] == [1.0, 0.25]
    assert table["impulses"][0]["high"] == 1.0
    assert table["impulses"][1]["low"] < 0.25 < table["impulses"][1]["high"]
    nobody = dataclasses.replace(results([0]), pushed=np.zeros((1, 4, 1), dtype=bool)).as_json()
    assert nobody["impulses"][0]["share"] is None
    assert nobody["fell_before"] == 4


@pytest.mark.parametrize(
    ("successes", "tries", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)]
)
def test_intervals_are_those_of_wilson(successes: int, tries: int, low: float, high: float) -> None:
    assert binomial_interval(successes, tries) == pytest.approx((low, high), abs=1e-4)


def test_an_interval_of_no_tries_is_everything() -> None:
    assert binomial_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"impulses": ()},
        {"impulses": (2.0, 1.0)},
        {"impulses": (-1.0, 1.0)},
        {"impulses": (float("inf"),)},
        {"trials": 0},
        {"duration": 0.0},
        {"watched": 61.0},
        {"earliest": -1.0},
    ],
)
def test_pushes_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"allowed|needed|must be"):
        PushSettings(**wrong)
