"""Stiffness, a sagging battery and load-dependent friction of servos."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nutmeg.base.errors import ModelError
from nutmeg.model import Placement, SceneSettings, assemble, load_robot
from nutmeg.model.actuation import Actuation, load_actuation
from nutmeg.sim import Worlds
from nutmeg.sim.power_supply import PowerSupply
from nutmeg.sim.schedule import Schedule


def nao(actuation: str | Actuation = "servo", count: int = 1) -> Worlds:
    robot = Placement(robot="nao-v6", name="n", pos=(-1, 0), actuation=actuation)
    return Worlds(assemble(SceneSettings(field="spl2025", ball="none", robots=(robot,), visuals=False)), count)


def servo_actuation() -> Actuation:
    actuation = load_actuation(load_robot("nao-v6"), "servo")
    assert actuation is not None
    return actuation


def run(worlds: Worlds, supply: PowerSupply, seconds: float) -> None:
    schedule = Schedule(worlds)
    schedule.every(0.02, supply.sample)
    schedule.run(seconds)


def test_a_robot_without_stiffness_is_limp_and_one_with_full_stiffness_stands() -> None:
    worlds = nao(count=2)
    supply = PowerSupply(worlds, "n")
    supply.stiffness[0] = 0.0
    run(worlds, supply, 2.0)
    height = worlds.robot("n").pose[:, 2]
    start = worlds.scene.start[worlds.robot("n").table.root + 2]
    assert height[0] < 0.8 * start
    assert height[1] == pytest.approx(start, abs=0.01)


def test_full_stiffness_and_a_perfect_battery_change_nothing() -> None:
    battery = dataclasses.replace(servo_actuation().battery, resistance=0.0)
    ideal = dataclasses.replace(servo_actuation(), battery=battery)
    plain, supplied = nao(ideal), nao(ideal)
    run(supplied, PowerSupply(supplied, "n"), 1.0)
    plain.advance(1.0)
    assert np.allclose(plain.qpos, supplied.qpos, atol=1e-9)


def test_the_battery_sags_by_its_resistance_times_the_current() -> None:
    battery = dataclasses.replace(servo_actuation().battery, resistance=2.0)
    worlds = nao(dataclasses.replace(servo_actuation(), battery=battery))
    supply = PowerSupply(worlds, "n")
    run(worlds, supply, 1.0)
    assert supply.current[0] > 0.01
    assert supply.voltage[0] == pytest.approx(battery.voltage - 2.0 * supply.current[0])


def test_half_stiffness_doubles_the_sag_of_a_loaded_knee() -> None:
    worlds = nao(count=2)
    supply = PowerSupply(worlds, "n")
    supply.stiffness[1] = 0.5
    run(worlds, supply, 2.0)
    robot = worlds.robot("n")
    knee = robot.table.joints.index("LKneePitch")
    errors = np.abs(robot.angles[:, knee] - worlds.scene.start[robot.table.angles[knee]])
    assert 1.4 < errors[1] / errors[0] < 3.0


def test_friction_grows_with_the_load() -> None:
    leg = {name: dataclasses.replace(s, load_friction=0.3) for name, s in servo_actuation().servo.items()}
    worlds = nao(dataclasses.replace(servo_actuation(), servo=leg))
    supply = PowerSupply(worlds, "n")
    run(worlds, supply, 1.0)
    friction = worlds.batch.expanded("dof_frictionloss")
    torque = np.abs(worlds.batch.actuator_force[0])
    knee = worlds.scene.model.actuator("n/LKneePitch").id
    dof = int(worlds.scene.model.joint("n/LKneePitch").dofadr[0])
    assert friction[0, dof] == pytest.approx(leg["leg130"].coulomb + 0.3 * torque[knee], rel=0.2)
    assert friction[0, dof] > leg["leg130"].coulomb


def test_a_stiffness_outside_its_range_is_refused() -> None:
    worlds = nao()
    supply = PowerSupply(worlds, "n")
    supply.stiffness[:] = 1.5
    with pytest.raises(ModelError, match="between 0"):
        supply.sample(0.0)


def test_ideal_drives_have_no_battery() -> None:
    with pytest.raises(ModelError, match="ideal drives"):
        PowerSupply(nao("ideal"), "n")
