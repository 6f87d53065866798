"""Stiffness, a sagging battery and load-dependent friction of servos."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import ModelError
from nutmeg.model import Placement, SceneSettings, assemble, load_robot
from nutmeg.model.actuation import Actuation, load_actuation
from nutmeg.sim import Worlds
from nutmeg.sim.power_supply import PowerSupply, changes_with_load
from nutmeg.sim.rollout import CommandSeries, roll_out
from nutmeg.sim.schedule import Schedule
from nutmeg.sim.setpoints import profiled
from nutmeg.sim.worlds import StartState


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


# ----------------------------------------------------------------------------------------------------
# Friction of servos under load against its formula, and a weight that it holds.


XL330 = Path(__file__).parents[2] / "examples" / "servo_xl330"
STEP = 0.002
WEIGHT = 0.49 * 9.81 * 0.1
"""Torque of the weight when the arm is level [N m]."""


def rubbing(**numbers: float) -> Actuation:
    plain = load_actuation(load_robot(str(XL330)), str(XL330 / "servo.toml"))
    assert plain is not None
    servo = dataclasses.replace(plain.servo["xl330"], **({"coulomb": 0.0, "viscous": 0.0} | numbers))  # type: ignore[arg-type]
    return dataclasses.replace(plain, servo={"xl330": servo})


def bench(actuation: Actuation, angle: float, goal: float, speed: float = 0.0) -> tuple[Worlds, PowerSupply]:
    """The pendulum at an angle, told to go to another."""
    placement = Placement(robot=str(XL330), name="b", actuation=actuation)
    worlds = Worlds(assemble(SceneSettings(field="none", robots=(placement,), timestep=STEP, visuals=False)))
    worlds.qpos[:, 0], worlds.qvel[:, 0], worlds.batch.ctrl[:, 0] = angle, speed, goal
    supply = PowerSupply(worlds, "b")
    worlds.refresh()
    return worlds, supply


def friction(worlds: Worlds, supply: PowerSupply) -> float:
    """The dry friction now."""
    supply.sample(0.0)
    return float(worlds.batch.expanded("dof_frictionloss")[0, 0])


def lead(worlds: Worlds, supply: PowerSupply, goal: float, seconds: float) -> float:
    """Leads the goal somewhere in a time; returns the angle then."""
    for command in np.linspace(worlds.batch.ctrl[0, 0], goal, round(seconds / STEP)):
        worlds.batch.ctrl[:, 0] = command
        supply.sample(0.0)
        worlds.step()
    return float(worlds.qpos[0, 0])


@pytest.mark.parametrize(("angle", "goal"), [(0.5, 0.7), (0.5, 1.2), (-0.5, -1.2), (1.0, 1.3)])
def test_the_gear_is_squeezed_by_the_smaller_of_motor_and_weight(angle: float, goal: float) -> None:
    worlds, supply = bench(rubbing(coulomb=0.01, squeeze_friction=1.5, squeeze_static=2.5), angle, goal)
    motor, weight = float(worlds.batch.actuator_force[0, 0]), -WEIGHT * np.sin(angle)
    assert motor * weight < 0
    expected = 0.01 + 4.0 * min(abs(motor), abs(weight)) ** 2
    assert friction(worlds, supply) == pytest.approx(expected, rel=0.002)


def test_a_motor_that_pulls_with_the_weight_does_not_squeeze() -> None:
    worlds, supply = bench(rubbing(coulomb=0.01, squeeze_friction=1.5, squeeze_static=2.5), 0.5, -0.5)
    assert friction(worlds, supply) == pytest.approx(0.01)


def test_half_of_what_is_added_at_rest_is_left_at_its_speed() -> None:
    numbers = {"squeeze_friction": 1.0, "squeeze_static": 3.0, "squeeze_speed": 0.8}
    worlds, supply = bench(rubbing(**numbers), 0.5, 1.2, speed=0.8)
    motor = float(worlds.batch.actuator_force[0, 0])
    squeeze = min(motor, WEIGHT * np.sin(0.5))
    assert friction(worlds, supply) == pytest.approx((1.0 + 3.0 / 2) * squeeze**2, rel=0.002)


def test_a_lifted_weight_stays_when_the_motor_yields_and_sinks_without_that_friction() -> None:
    sunk = []
    for numbers in ({"squeeze_friction": 1.5, "squeeze_static": 2.5}, {"load_friction": 1e-6}):
        worlds, supply = bench(rubbing(**numbers, viscous=0.01), 0.0, 0.0)
        lifted = lead(worlds, supply, 1.5, 3.0)
        assert lifted > 0.3
        sunk.append(lifted - lead(worlds, supply, 1.25, 2.0))
    assert -0.02 < sunk[0] < 1e-3
    assert sunk[1] > 0.1


def test_a_servo_without_such_numbers_need_not_be_looked_after() -> None:
    assert not changes_with_load(rubbing())
    for name in ("load_friction", "squeeze_friction", "squeeze_static"):
        assert changes_with_load(rubbing(**{name: 0.1}))


def test_within_its_dead_zone_a_servo_does_nothing_and_beyond_it_gives_at_least_its_least_output() -> None:
    still = rubbing(dead_zone=0.05)
    for goal, moves in ((0.04, False), (0.3, True)):
        worlds, supply = bench(still, 0.0, goal)
        assert (abs(lead(worlds, supply, goal, 0.4)) > 0.01) == moves
    assert changes_with_load(still)
    weak = rubbing(p=0.5, min_output=0.3)
    worlds, supply = bench(weak, 0.0, 0.02)
    supply.sample(0.0)
    gain = worlds.batch.expanded("actuator_gainprm")[0, 0, 4]
    plain = rubbing(p=0.5).servo["xl330"].stiffness(7.35)
    assert gain == pytest.approx(plain * 0.3 * 7.35 / (0.5 * 0.02), rel=1e-3)


def test_a_servo_that_sets_a_share_of_its_supply_is_weaker_at_a_lower_voltage() -> None:
    for pwm, factor in ((True, 0.5), (False, 1.0)):
        worlds, supply = bench(rubbing(pwm=pwm), 0.0, 0.3)  # type: ignore[arg-type]
        full = worlds.batch.expanded("actuator_gainprm")[0, 0].copy()
        supply.measured = np.array([7.35 / 2])
        supply.sample(0.0)
        half = worlds.batch.expanded("actuator_gainprm")[0, 0]
        assert half[4] == pytest.approx(factor * full[4]), "the gain"
        assert half[7] == pytest.approx(full[7] / 2), "the limit of the voltage"


def test_a_hot_winding_gives_less_torque_and_brakes_less() -> None:
    worlds, supply = bench(rubbing(), 0.0, 0.3)
    cold = worlds.batch.expanded("actuator_gainprm")[0, 0].copy()
    supply.temperature = np.array([75.0])
    supply.sample(0.0)
    hot = worlds.batch.expanded("actuator_gainprm")[0, 0].copy()
    factor = 1 + 0.0039 * 50
    assert hot[0] == pytest.approx(cold[0] * factor), "the resistance"
    assert hot[[4, 6]] == pytest.approx(cold[[4, 6]] / factor), "torque for an error, and braking"
    assert hot[[1, 7]] == pytest.approx(cold[[1, 7]]), "the motor constant and the limit of the voltage"
    supply.temperature = np.array([25.0])
    supply.sample(0.0)
    assert worlds.batch.expanded("actuator_gainprm")[0, 0] == pytest.approx(cold)


def test_goals_are_rounded_to_the_steps_of_the_firmware() -> None:
    worlds, supply = bench(rubbing(goal_step=0.25, p=40.0), 0.0, 0.3)
    for _ in range(round(1.0 / STEP)):
        supply.sample(0.0)
        worlds.step()
    assert worlds.batch.ctrl[0, 0] == 0.25
    assert worlds.qpos[0, 0] == pytest.approx(0.25, abs=0.04)
    assert changes_with_load(rubbing(goal_step=0.25))


def trapezoid(way: float, cruise: float, acceleration: float, times: Floats) -> Floats:
    """The way that is gone at each time with a trapezoid of speed, or a triangle on a short way."""
    rise = min(cruise / acceleration, np.sqrt(way / acceleration))
    top = acceleration * rise
    end = rise + way / top
    return np.select(
        [times < rise, times < end - rise, times < end],
        [acceleration * times**2 / 2, top * (times - rise / 2), way - acceleration * (end - times) ** 2 / 2],
        way,
    )


@pytest.mark.parametrize(("way", "cruise", "acceleration"), [(1.0, 2.0, 8.0), (0.1, 2.0, 8.0), (-1.0, 0.7, 100.0)])
def test_a_set_point_with_an_acceleration_moves_as_a_trapezoid_of_speed(
    way: float, cruise: float, acceleration: float
) -> None:
    count, step = 2000, 0.001
    profile = np.array([[[cruise]], [[acceleration]]])
    begin, goals = np.full((1, 1), 0.3), np.full((1, count, 1), 0.3 + way)
    found, speeds = profiled(begin, np.zeros((1, 1)), goals, profile, step)
    wanted = trapezoid(abs(way), cruise, acceleration, step * np.arange(1, count + 1))
    assert np.abs(np.abs(found[0, :, 0] - 0.3) - wanted).max() < cruise * step
    assert np.abs(speeds).max() <= cruise + 1e-12
    assert np.abs(np.diff(speeds[0, :, 0])).max() <= 2 * acceleration * step
    assert np.abs(found - 0.3).max() < abs(way) + 1e-4, "it does not pass its goal"
    assert found[0, -1, 0] == 0.3 + way


def test_a_set_point_slows_down_before_it_turns_to_a_new_goal() -> None:
    goals = np.concatenate([np.full(300, 1.0), np.full(1700, -0.5)])[None, :, None]
    found, speeds = profiled(np.zeros((1, 1)), np.zeros((1, 1)), goals, np.array([[[2.0]], [[8.0]]]), 0.001)
    assert speeds[0, 299, 0] == pytest.approx(2.0, rel=0.02)
    assert np.abs(np.diff(speeds[0, :, 0])).max() < 2 * 8.0 * 0.001
    assert found.max() == pytest.approx(found[0, 299, 0] + 2.0**2 / 16, abs=0.01), "the way in which it stops"
    assert found[0, -1, 0] == -0.5


def test_servos_follow_the_trapezoid_live_and_in_replays() -> None:
    stiff = rubbing(profile_speed=2.0, profile_acceleration=8.0, p=400.0)
    times = STEP * np.arange(500)
    wanted = trapezoid(1.0, 2.0, 8.0, times)
    worlds, supply = bench(stiff, 0.0, 1.0)
    live = []
    for _ in times:
        live.append(worlds.qpos[0, 0])
        supply.sample(0.0)
        worlds.step()
    assert live == pytest.approx(wanted, abs=0.06)
    assert live[-1] == pytest.approx(1.0, abs=0.02)
    worlds, _ = bench(stiff, 0.0, 0.0)
    series = CommandSeries(values=np.ones((50, 1)), period=10 * STEP)
    replayed = roll_out(worlds, "b", series).angles[0, :, 0]
    assert replayed == pytest.approx(live[::10], abs=0.01)
    late = roll_out(worlds, "b", dataclasses.replace(series, delay=10.5 * STEP)).angles[0, :, 0]
    assert late[1:] == pytest.approx(np.interp(times[::10] - 0.5 * STEP, times[::10], replayed)[:-1], abs=0.003)


def test_a_replay_begins_with_the_set_point_where_the_command_was() -> None:
    slow = rubbing(profile_speed=0.01, p=400.0)
    worlds, _ = bench(slow, 0.0, 0.0)
    start = StartState(angles=np.array([0.8]), rates=np.zeros(1), command=np.array([0.8]))
    held = roll_out(worlds, "b", CommandSeries(values=np.full((50, 1), 0.8), period=10 * STEP), start=start)
    assert held.angles[0, -1, 0] == pytest.approx(0.8, abs=0.05)


def test_a_profile_lets_the_set_point_move_no_faster() -> None:
    worlds, supply = bench(rubbing(profile_speed=0.5, p=40.0), 0.0, 1.0)
    for _ in range(round(1.0 / STEP)):
        supply.sample(0.0)
        worlds.step()
    assert worlds.qpos[0, 0] == pytest.approx(0.5, abs=0.08)
