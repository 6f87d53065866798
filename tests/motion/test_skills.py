"""A robot that is told a velocity and always gets back on its feet."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.bodies import Mirror
from nutmeg.motion.keyframes import shipped_get_ups
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.skills import Skill, Skills, SkillSettings
from nutmeg.motion.walk.files import read_walk
from nutmeg.motion.walk.settings import PendulumWalkSettings
from nutmeg.motion.walk.walker import Walker
from nutmeg.sim.worlds import Worlds

SLOW = PendulumWalkSettings()


def skilled(count: int, kind: str = "") -> tuple[Worlds, Skills]:
    placement = Placement(robot="nao-spark", name="nao", type=kind)
    made = Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False)), count)
    return made, Skills(made, "nao", Walker(made, "nao", [SLOW]), shipped_get_ups("nao-spark", kind))


def run(made: Worlds, skills: Skills, seconds: float) -> set[tuple[int, ...]]:
    """The states that each world passed through."""
    seen: list[set[int]] = [set() for _ in range(made.count)]
    for cycle in range(round(seconds / 0.02)):
        skills.sample(cycle * 0.02)
        made.step(1)
        for row, state in enumerate(skills.state.tolist()):
            seen[row].add(state)
    return {tuple(sorted(one)) for one in seen}


def knock(made: Worlds, skills: Skills, forces: np.ndarray) -> None:
    made.robot("nao").push(forces)
    run(made, skills, 0.16)
    made.robot("nao").push(0.0)


def test_it_stands_walks_when_told_stops_and_stands_again() -> None:
    made, skills = skilled(1)
    assert run(made, skills, 0.5) == {(Skill.STAND,)}
    still = made.robot("nao").pose[0, :2].copy()
    skills.wanted[:] = [0.12, 0.0, 0.0]
    run(made, skills, 3.0)
    assert skills.state[0] == Skill.WALK
    assert made.robot("nao").pose[0, 0] - still[0] > 0.2
    skills.wanted[:] = 0.0
    assert run(made, skills, 1.5) == {(Skill.STAND, Skill.STOP)}
    assert skills.state[0] == Skill.STAND
    rest = made.robot("nao").pose[0].copy()
    run(made, skills, 1.0)
    np.testing.assert_allclose(made.robot("nao").pose[0], rest, atol=2e-3)


def test_a_robot_stands_still_only_when_it_rocks_no_more_or_has_rocked_for_long() -> None:
    made, skills = skilled(3)
    run(made, skills, 0.3)
    assert skills.stand_still.all()
    made.qvel[1, made.robot("nao").table.root_rate + 4] = 3.0  # it is pushed, so that it rocks on its soles
    skills.wanted[2] = [0.12, 0.0, 0.0]
    run(made, skills, 0.06)
    assert skills.stand_still.tolist() == [True, False, False]
    assert skills.state.tolist() == [Skill.STAND, Skill.STAND, Skill.WALK]
    skills.since[1] = 10.0
    assert skills.stand_still[1]


@pytest.mark.slow
def test_it_walks_on_after_being_knocked_over_to_any_side() -> None:
    made, skills = skilled(4)
    skills.wanted[:] = [0.12, 0.0, 0.0]
    run(made, skills, 1.5)
    knock(made, skills, np.array([[60.0, 0, 0], [-60.0, 0, 0], [0, 60.0, 0], [0, -60.0, 0]]))
    run(made, skills, 1.0)
    assert (skills.fallen_times == 1).all()
    run(made, skills, 10.0)
    assert (skills.state == Skill.WALK).all()
    assert (made.robot("nao").uprightness() > 0.95).all()
    before = made.robot("nao").pose[:, :2].copy()
    run(made, skills, 3.0)
    assert (np.hypot(*(made.robot("nao").pose[:, :2] - before).T) > 0.2).all()


@pytest.mark.slow
def test_a_world_does_the_same_alone_and_among_others() -> None:
    forces = np.array([[0.0, 0, 0], [-60.0, 0, 0], [60.0, 10.0, 0]])
    made, skills = skilled(3)
    skills.wanted[:] = [0.1, 0.0, 0.0]
    run(made, skills, 1.0)
    knock(made, skills, forces)
    run(made, skills, 5.0)
    for row in (1, 2):
        alone, single = skilled(1)
        single.wanted[:] = [0.1, 0.0, 0.0]
        run(alone, single, 1.0)
        knock(alone, single, forces[row : row + 1])
        run(alone, single, 5.0)
        assert single.state[0] == skills.state[row]
        np.testing.assert_array_equal(alone.qpos[0], made.qpos[row])


def test_wanted_velocities_and_times_that_make_no_sense_are_refused() -> None:
    made, skills = skilled(1)
    skills.wanted[0, 1] = np.nan
    with pytest.raises(UsageError, match="finite"):
        skills.sample(0.0)
    assert made.count == 1
    with pytest.raises(ValueError, match=r"steady is -1; allowed is 0\.\.10"):
        dataclasses.replace(SkillSettings(), steady=-1.0)


def test_a_robot_that_cannot_get_up_from_some_side_is_refused_before_it_falls() -> None:
    made, skills = skilled(1)
    motions = shipped_get_ups("nao-spark")
    del motions["back"]
    with pytest.raises(UsageError, match="lying on its back"):
        Skills(made, "nao", skills.walker, motions)


def test_the_policy_of_a_walk_catches_a_robot_that_is_given_back_in_motion() -> None:
    made, _ = skilled(2)
    policy = read_walk("policy").policy
    assert policy is not None
    skills = Skills(made, "nao", PolicyWalker(made, "nao", policy), shipped_get_ups("nao-spark"))
    run(made, skills, 0.5)
    robot = made.robot("nao")
    skills.lend([0, 1])
    skills.give_back([0])
    made.qvel[:, robot.table.root_rate + 1] += 0.35
    run(made, skills, 0.1)
    # The first one answers to the push with all its legs, the second one only holds its joints.
    moved = np.abs(made.qpos[:, robot.table.angles] - made.scene.start[robot.table.angles]).max(axis=1)
    assert skills.state.tolist() == [Skill.STEADY, Skill.LENT]
    assert moved[0] > moved[1] + 0.03
    run(made, skills, 1.0)
    assert skills.state[0] == Skill.STAND


def test_the_policy_of_a_walk_catches_walkers_that_tip_over_after_they_stopped() -> None:
    made, _ = skilled(32)
    policy = read_walk("policy").policy
    assert policy is not None
    rng = np.random.default_rng(5)
    skills = Skills(made, "nao", PolicyWalker(made, "nao", policy, rng=rng), shipped_get_ups("nao-spark"))
    skills.wanted[:] = rng.uniform(-1.0, 1.0, (32, 3)) * [0.8, 0.4, 1.0]
    run(made, skills, 1.2)
    skills.wanted[:] = 0.0
    passed = run(made, skills, 2.5)
    assert any(Skill.STEADY in states for states in passed), "some rocked so much that they were caught"
    assert not skills.fallen_times.any()
    assert (skills.state == Skill.STAND).all()
    assert skills.stand_still.all()


@pytest.mark.parametrize(("kind", "answers"), [("type1", True), ("type0", False)])
def test_the_policy_of_a_walk_takes_over_after_a_get_up_whose_file_says_so(kind: str, answers: bool) -> None:
    made, _ = skilled(2, kind)
    policy = read_walk("policy").policy
    assert policy is not None
    skills = Skills(made, "nao", PolicyWalker(made, "nao", policy), shipped_get_ups("nao-spark", kind))
    rate = made.robot("nao").table.root_rate
    run(made, skills, 0.5)
    made.qvel[:, rate] += 2.0
    for _ in range(200):
        run(made, skills, 0.02)
        if skills.get_up.done.all() and (skills.state == Skill.STEADY).all():
            break
    assert (skills.state == Skill.STEADY).all()
    made.qvel[:, rate + 1] += [0.35, -0.35]
    run(made, skills, 0.1)
    # Joints on their way into the stance stay about the same on both sides; a policy answers to the push.
    table = made.robot("nao").table
    angles = made.qpos[:, table.angles[table.motor_joints]]
    uneven = np.abs(angles - Mirror.of(made.scene, table)(angles)).max(axis=1)
    assert ((uneven > 0.05) == answers).all()
