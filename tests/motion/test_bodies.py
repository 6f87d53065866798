"""A body of which nothing is known but what it tells walks as one in a simulated world does."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.motion.bodies import OnboardRobot
from nutmeg.motion.keyframes import shipped_get_ups
from nutmeg.motion.skills import Skill, Skills
from nutmeg.motion.walk.settings import PendulumWalkSettings
from nutmeg.motion.walk.walker import Walker
from nutmeg.sim.worlds import Worlds


def test_told_its_own_senses_a_body_commands_what_a_simulated_one_does() -> None:
    body = OnboardRobot("nao-spark")
    worlds = Worlds(body.scene, 1)
    view, walk = worlds.robot(body.name), [PendulumWalkSettings()]
    simulated, told = Walker(worlds, body.name, walk), Walker(body, body.name, walk)
    simulated.wanted[:] = told.wanted[:] = [0.1, 0.05, 0.1]
    addresses = view.table.angles[view.table.motor_joints]
    for _ in range(60):
        simulated.sample(0.0)
        senses = simulated.senses._imu
        body.observe(worlds.qpos[0, addresses], senses.gyro[0], senses.acceleration[0])
        told.sample(0.0)
        np.testing.assert_allclose(body.command, np.clip(view.command, -body.top_speeds, body.top_speeds), atol=1e-9)
        worlds.step(1)


def test_angles_are_carried_forward_by_what_is_on_its_way() -> None:
    body = OnboardRobot("nao-spark", delay=1)
    angles, still = body.angles, np.zeros(3)
    body.observe(angles, still, np.array([0.0, 0.0, 9.81]))
    np.testing.assert_allclose(body.angles, angles)
    body.command = np.full((1, len(body.motors)), 0.5)
    body.observe(angles, still, np.array([0.0, 0.0, 9.81]))
    np.testing.assert_allclose(body.angles, angles + 0.01)
    body.command = np.full((1, len(body.motors)), 100.0)
    assert (body.command == body.top_speeds).all()


def test_a_body_that_is_felt_to_lie_gets_up() -> None:
    body = OnboardRobot("nao-spark")
    skills = Skills(body, body.name, Walker(body, body.name, [PendulumWalkSettings()]), shipped_get_ups("nao-spark"))
    lying = np.array([-9.81, 0.0, 0.0])
    body.observe(body.angles, np.zeros(3), lying)
    body.at_rest()
    skills.reset()
    for _ in range(20):
        body.observe(body.angles, np.zeros(3), lying)
        skills.sample(0.0)
    assert skills.state[0] == Skill.GET_UP
    assert np.abs(body.command).max() > 0.5


def test_a_body_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="velocity drives"):
        OnboardRobot("nao-v6")
    with pytest.raises(UsageError, match="0 or more"):
        OnboardRobot("nao-spark", delay=-1)
    with pytest.raises(UnknownNameError):
        OnboardRobot("nao-spark").robot("other")


def test_a_lent_robot_follows_what_it_is_told_even_if_it_falls_and_gets_up_when_given_back() -> None:
    body = OnboardRobot("nao-spark")
    skills = Skills(body, body.name, Walker(body, body.name, [PendulumWalkSettings()]), shipped_get_ups("nao-spark"))
    skills.lend([0])
    skills.lent[0] = body.angles + 0.02
    before = body.angles
    skills.sample(0.0)
    assert skills.state[0] == Skill.LENT
    np.testing.assert_allclose(body.command[0], np.minimum((skills.lent[0] - before) / 0.02, body.top_speeds))
    body.up[:] = body.acceleration[:] = [0.0, 1.0, 0.0]
    skills.senses.reset()
    skills.falls.reset()
    skills.sample(0.0)
    assert skills.state[0] == Skill.LENT
    skills.give_back([0])
    assert skills.state[0] == Skill.FALL
    assert skills.fallen_times[0] == 1
