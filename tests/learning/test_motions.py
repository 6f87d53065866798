"""Searching kicks and get-ups: what is tried, what it costs, and what the shipped motions do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nutmeg.learning.motions import NEAREST, STRAIGHT, GetUpTrials, KickGoals, KickTrials, MotionSearch
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.bodies import JointTargets, Mirror
from nutmeg.motion.keyframes import motion_path, shipped_get_up, shipped_motion
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.walk.files import read_walk
from nutmeg.sim.worlds import Worlds

ROBOT = "nao-spark"


@pytest.fixture(scope="module")
def kicking() -> KickTrials:
    return KickTrials(ROBOT, "type0", population=4, starts=8, seed=4)


def test_candidates_are_tried_from_the_same_starts_whatever_else_is_tried(kicking: KickTrials) -> None:
    one = shipped_motion(ROBOT, "kick", "type0")
    other = one.with_numbers({"frame2.seconds": 1.5 * one.frame[1].seconds})
    together, twice = kicking.run([one, other], seed=3), kicking.run([other, one], seed=3)
    assert np.array_equal(together.ahead[0], twice.ahead[1])
    assert not np.array_equal(together.ahead[0], together.ahead[1])
    assert not np.array_equal(together.ahead, kicking.run([one, other], seed=5).ahead)


def test_a_ball_that_lies_elsewhere_makes_a_kick_worse(kicking: KickTrials) -> None:
    motion = shipped_motion(ROBOT, "kick", "type0")
    spoilt = motion.with_numbers({"ball.ahead": motion.ball[0] + 0.12})
    good, bad = kicking.costs([motion, spoilt], seed=1)
    assert bad > good + 1.0


def test_a_kick_that_is_too_late_costs_more(kicking: KickTrials) -> None:
    motion = shipped_motion(ROBOT, "kick", "type0")
    (plain,) = kicking.costs([motion], seed=1)
    hit = kicking.run([motion], seed=1).seconds.max()
    kicking.goals = KickGoals(within=float(hit) - 0.2)
    (late,) = kicking.costs([motion], seed=1)
    kicking.goals = KickGoals()
    assert late > plain + 2.0


def test_the_space_has_all_numbers_of_the_file_and_keeps_the_ball_out_of_the_feet(kicking: KickTrials) -> None:
    motion = dataclasses.replace(shipped_motion(ROBOT, "kick", "type0"), ahead={"llj3": 80.0})
    space = kicking.space(motion.with_numbers({"ball.ahead": 0.1}))
    assert {"frame1.seconds", "frame3.llj3", "ball.ahead", "ball.left", "ahead.llj3"} <= set(space.names)
    assert space.dimensions["ball.ahead"].low == NEAREST[ROBOT]


def test_a_generation_moves_the_search_and_begins_at_the_motion(kicking: KickTrials) -> None:
    motion = shipped_motion(ROBOT, "kick", "type0")
    search = MotionSearch(kicking, motion, step=0.01, seed=1)
    assert [frame.seconds for frame in search.motion.frame] == pytest.approx([frame.seconds for frame in motion.frame])
    costs = search.advance()
    assert costs.shape == (4,)
    assert np.isfinite(costs).all()
    assert search.motion.frame != motion.frame


def test_get_ups_are_searched_with_their_network() -> None:
    motion = shipped_get_up(ROBOT, "back", "type0")
    trials = GetUpTrials(ROBOT, motion, "type0", population=2, starts=8, seed=2)
    assert (trials.task.stored.motion == 1).all()
    (corrected,) = trials.run([motion], seed=1).stood
    trials.network = None
    (alone,) = trials.run([motion], seed=1).stood
    assert corrected.mean() > 0.9
    assert alone.mean() < corrected.mean()


def test_a_search_of_the_later_frames_leaves_the_first_ones_as_they_are() -> None:
    motion = shipped_get_up(ROBOT, "front", "type1")
    trials = GetUpTrials(ROBOT, motion, "type1", population=4, starts=1, seed=2)
    search = MotionSearch(trials, motion, step=0.02, seed=1, first=4)
    search.advance()
    assert search.motion.frame[:3] == motion.frame[:3]
    assert search.motion.frame[3] != motion.frame[3]


def test_jolts_are_the_same_for_all_candidates_and_make_get_ups_less_sure() -> None:
    motion = shipped_get_up(ROBOT, "front", "type1")
    trials = GetUpTrials(ROBOT, motion, "type1", population=2, starts=6, seed=2, jolt=0.02)
    jolted = trials.run([motion, motion], seed=1).earned
    assert np.array_equal(jolted[0], jolted[1])
    calm = GetUpTrials(ROBOT, motion, "type1", population=2, starts=6, seed=2).run([motion, motion], seed=1).earned
    assert calm.mean() > jolted.mean()


def test_a_t1_kicks_and_stands_afterwards() -> None:
    trials = KickTrials("t1", population=1, starts=8, seed=4, goals=KickGoals(off=0.01))
    tries = trials.run([shipped_motion("t1", "kick")], seed=1)
    assert tries.ahead.mean() > 8.0
    assert tries.stood.mean() >= 0.75


def test_a_nao_v6_on_motoflex_kicks_and_stands_afterwards() -> None:
    goals = KickGoals(off=0.01)
    trials = KickTrials("nao-v6", actuation="motoflex", population=1, starts=8, seed=4, goals=goals, stored=16)
    tries = trials.run([shipped_motion("nao-v6", "kick")], seed=1)
    assert tries.ahead.mean() > 4.0
    assert (tries.aside < STRAIGHT * tries.ahead).mean() >= 0.75
    assert tries.stood.mean() >= 0.75


def test_a_kick_is_played_as_the_docs_show() -> None:
    """See docs/howto/skills.md, kick of the Nao V6."""
    kick, policy = shipped_motion("nao-v6", "kick"), read_walk("policy-nao-v6").policy
    assert policy is not None
    robots = (Placement(robot="nao-v6", name="nao", actuation="motoflex"),)
    scene = assemble(SceneSettings(field="floor", ball="spl-foam", robots=robots))
    worlds = Worlds(scene)
    worlds.put_ball(kick.ball)
    walker, targets = PolicyWalker(worlds, "nao", policy), JointTargets(worlds, "nao")
    table = scene.robot("nao")
    for angles in motion_path(kick, table, Mirror.of(scene, table), targets.angles[0], ball=(0.0, 0.0)):
        targets.follow(angles[None])
        worlds.advance(0.02)
    walker.reset()
    for cycle in range(100):
        walker.wanted[:, 0] = 0.2 if cycle < 30 else 0.0
        walker.sample(0.02 * cycle)
        worlds.advance(0.02)
    assert worlds.robot("nao").uprightness()[0] > 0.95
    assert worlds.ball is not None
    assert worlds.ball[0, 0] > 2.0
