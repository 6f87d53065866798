"""Pushes: their momentum, who survives them, and what is told of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.learning import measure
from nutmeg.learning.courses import CONTROL_CYCLE, ROBOT_NAME, course_scene
from nutmeg.learning.measure import PUSH_DIRECTIONS, PushResults, PushSettings, binomial_interval, push_walk
from nutmeg.motion.walk.files import read_walk
from nutmeg.sim.worlds import Worlds

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
