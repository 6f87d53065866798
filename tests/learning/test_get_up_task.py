"""What get-ups are worth, and the space in which they are searched."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.learning.get_up_task import (
    ROBOT,
    WAYS,
    GetUpTrials,
    LyingNoise,
    begin_lying,
    get_up_space,
    lying_scene,
    measure_get_up,
)
from nutmeg.motion.inertial import FallDetector, Lying, UpEstimator
from nutmeg.motion.keyframes import GetUpMotion, Keyframe, Side, shipped_get_up
from nutmeg.search.evaluation import InThisThread
from nutmeg.search.run import minimise
from nutmeg.search.searchers import CmaEs, CmaEsSettings
from nutmeg.sim.worlds import Worlds


@pytest.mark.parametrize(("robot", "side", "least"), [("nao-spark", "front", 7), ("nao-spark", "back", 7)])
def test_the_leagues_robot_gets_up_from_nearly_every_way_to_lie(robot: str, side: Side, least: int) -> None:
    results = measure_get_up(shipped_get_up(robot, side), trials=8, seed=5)
    assert results.stood.sum() >= least, results
    assert results.seconds[results.stood].max() < 3.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "side", "least"),
    [("nao-spark", "front", 18), ("nao-spark", "back", 18), ("nao-v6", "front", 16), ("nao-v6", "back", 14)],
)
def test_most_of_twenty_noisy_ways_to_lie_are_got_up_from(robot: str, side: Side, least: int) -> None:
    results = measure_get_up(shipped_get_up(robot, side), trials=20, seed=101)
    assert results.stood.sum() >= least, results


@pytest.mark.parametrize(("side", "lies"), [("front", [0, 2]), ("back", [0, 1])])
def test_a_nao_v6_gets_up_on_its_servos(side: Side, lies: list[int]) -> None:
    motion = shipped_get_up("nao-v6", side, actuation="servo")
    results = measure_get_up(motion, trials=3, seed=300, actuation="servo")
    assert results.stood[lies].all(), [WAYS[way] for way in lies]
    assert results.seconds[results.stood].max() < 8.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["type1", "type3"])
def test_longer_limbs_get_up_from_the_back_more_often_than_not_in_a_single_try(kind: str) -> None:
    results = measure_get_up(shipped_get_up("nao-spark", "back", kind), trials=20, seed=101, kind=kind)
    assert results.stood.sum() >= 11, results


def test_robots_lie_at_rest_on_the_side_they_were_laid_on() -> None:
    worlds = Worlds(lying_scene("nao-spark"), 8)
    sides = [Lying.FRONT, Lying.BACK] * 4
    begin_lying(worlds, ROBOT, sides, np.random.default_rng(2).spawn(8), ways=[i // 2 for i in range(8)])
    falls = FallDetector(UpEstimator(worlds, ROBOT))
    assert falls.lying.tolist() == sides
    assert np.abs(worlds.robot(ROBOT).velocity).max() < 1.0
    assert len(np.unique(worlds.qpos[::2].round(6), axis=0)) == len(WAYS), "no two lie alike"


def test_the_space_starts_at_the_motion_and_stays_within_the_joints_limits() -> None:
    motion = shipped_get_up("nao-spark", "front")
    space = get_up_space(motion, reach=20.0)
    table = lying_scene("nao-spark").robot(ROBOT)
    for name, low, high in zip(space.names, space.low, space.high, strict=True):
        _, _, joint = name.partition(".")
        if joint != "seconds":
            limits = table.limits[table.joints.index(joint)]
            assert limits[0] <= low < high <= limits[1]
    trials = GetUpTrials(motion=motion, names=space.names)
    again = trials.motion_of(space.start)
    assert again.seconds == pytest.approx(motion.seconds)
    for one, other in zip(again.frame, motion.frame, strict=True):
        assert dict(one.angles) == pytest.approx(dict(other.angles), abs=0.05)
    with pytest.raises(UsageError, match="reach is 0"):
        get_up_space(motion, reach=0.0)


def test_standing_costs_its_time_and_lying_costs_more() -> None:
    good = shipped_get_up("nao-spark", "front")
    idle = GetUpMotion(robot="nao-spark", lying="front", frame=(Keyframe(seconds=0.3, pose="ready"),))
    trials = GetUpTrials(motion=good, names=(), starts=2, longest=good.seconds)
    results = trials.results([good, idle], np.random.default_rng(1).spawn(2))
    assert results.stood.tolist() == [True, True, False, False]
    assert results.cost[:2] == pytest.approx(results.seconds[:2])
    assert results.cost[2:].min() > results.cost[:2].max() + 3.0


def test_a_candidate_is_worth_the_same_alone_and_among_others() -> None:
    motion = shipped_get_up("nao-spark", "front")
    space = get_up_space(motion, reach=5.0)
    trials = GetUpTrials(motion=motion, names=space.names, starts=1)
    candidates = np.stack([space.start, space.values(np.full(space.size, 0.4))])
    both = trials(candidates, [np.random.default_rng(3), np.random.default_rng(4)])
    alone = trials(candidates[1:], [np.random.default_rng(4)])
    assert alone == both[1:]


def test_the_numbers_can_be_searched() -> None:
    motion = GetUpMotion(
        robot="nao-spark",
        lying="front",
        frame=(Keyframe(seconds=0.2, angles={"llj3": 10.0}), Keyframe(seconds=0.1)),
    )
    space = get_up_space(motion)
    assert space.names == ("frame1.seconds", "frame1.llj3", "frame2.seconds")
    trials = GetUpTrials(motion=motion, names=space.names, starts=1, longest=0.5)
    searcher = CmaEs(space, CmaEsSettings(population=4), np.random.default_rng(1))
    found = minimise(trials, searcher, InThisThread(), budget=8)
    assert found.evaluations == 8
    assert found.failures == 0
    assert trials.motion_of(found.mean).frame[0].angles["llj3"] != 10.0


def test_noise_and_numbers_of_trials_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="tilt is 2"):
        LyingNoise(tilt=2.0)
    with pytest.raises(UsageError, match="0 trials"):
        measure_get_up(shipped_get_up("nao-spark", "front"), trials=0)
