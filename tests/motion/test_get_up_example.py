"""The example that measures and searches get-ups, and with it the get-ups that come with Nutmeg."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.motion.inertial import FallDetector, Lying, UpEstimator
from nutmeg.motion.keyframes import Keyframe, KeyframeMotion, Side, shipped_get_up
from nutmeg.sim.worlds import Worlds

WAYS = ("toppled", "straight", "anyhow", "ready")
EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "get_up.py"


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("get_up_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("side", "kind", "ways"), [("front", "", ("toppled", "ready")), ("back", "type1", WAYS)])
def test_the_leagues_robot_gets_up_from_most_ways_to_lie(
    example: Any, side: Side, kind: str, ways: tuple[str, ...]
) -> None:
    """On its front, a robot with straight or random limbs stays down: see docs/howto/skills.md."""
    results = example.measure_get_up(shipped_get_up("nao-spark", side, kind), trials=64, seed=5, kind=kind)
    tried = np.isin(np.arange(64) % len(WAYS), [WAYS.index(way) for way in ways])
    assert (results.stood & tried).sum() >= 0.7 * tried.sum(), results
    assert results.seconds[results.stood].max() < 3.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "side", "least"), [("nao-spark", "front", 11), ("nao-v6", "front", 16), ("nao-v6", "back", 14)]
)
def test_most_of_twenty_noisy_ways_to_lie_are_got_up_from(example: Any, robot: str, side: Side, least: int) -> None:
    results = example.measure_get_up(shipped_get_up(robot, side), trials=20, seed=101)
    assert results.stood.sum() >= least, results


@pytest.mark.parametrize(("side", "lies"), [("front", [0, 2]), ("back", [0, 1])])
def test_a_nao_v6_gets_up_on_its_servos(example: Any, side: Side, lies: list[int]) -> None:
    motion = shipped_get_up("nao-v6", side, actuation="servo")
    results = example.measure_get_up(motion, trials=3, seed=300, actuation="servo")
    assert results.stood[lies].all(), [example.WAYS[way] for way in lies]
    assert results.seconds[results.stood].max() < 8.0


def test_robots_lie_at_rest_on_the_side_they_were_laid_on(example: Any) -> None:
    worlds = Worlds(example.lying_scene("nao-spark"), 4)
    for side in (Lying.FRONT, Lying.BACK):
        example.lay_down(worlds, side, range(4), np.random.default_rng(2).spawn(4))
        assert (FallDetector(UpEstimator(worlds, example.ROBOT)).lying == side).all()
        assert np.abs(worlds.robot(example.ROBOT).velocity).max() < 1.0
        assert len(np.unique(worlds.qpos.round(6), axis=0)) == 4, "no two lie alike"


def test_standing_costs_its_time_and_lying_costs_more(example: Any) -> None:
    good = shipped_get_up("nao-v6", "front")
    idle = KeyframeMotion(robot="nao-v6", lying="front", frame=(Keyframe(seconds=0.3, pose="ready"),))
    trials = example.GetUpTrials(motion=good, starts=1, longest=good.seconds)
    results = trials.results([good, idle], np.random.default_rng(1).spawn(2))
    assert results.stood.tolist() == [True, False]
    assert results.cost[0] == pytest.approx(results.seconds[0])
    assert results.cost[1] > results.cost[0] + 3.0


def test_the_numbers_can_be_searched(example: Any) -> None:
    frames = Keyframe(seconds=0.2, angles={"llj3": 10.0}), Keyframe(seconds=0.1)
    motion = KeyframeMotion(robot="nao-spark", lying="front", frame=frames)
    assert example.get_up_space(motion).names == ("frame1.seconds", "frame1.llj3", "frame2.seconds")
    found = example.search_get_up(motion, 8, population=4)
    assert found.frame[0].angles["llj3"] != 10.0
