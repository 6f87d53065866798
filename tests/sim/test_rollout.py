"""Commands rolled out: as stepped by hand, whatever the threads, chunks and company; falls, breakdowns, delays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import ModelError, UnknownNameError, UsageError
from nutmeg.model import Placement, Scene, SceneSettings, assemble, load_robot
from nutmeg.model.actuation import load_actuation
from nutmeg.sim import Worlds, rollout
from nutmeg.sim.rollout import CommandSeries, Rollout, roll_out
from nutmeg.sim.worlds import StartState

PENDULUM = str(Path(__file__).parents[2] / "examples" / "pendulum")
BENCH = str(Path(__file__).parents[2] / "examples" / "servo_xl330")
PERIOD = 0.02


def scene_of(robot: str, actuation: object = "ideal", **more: object) -> Scene:
    placement = Placement(robot=robot, name="robot", actuation=actuation, **more)  # type: ignore[arg-type]
    return assemble(SceneSettings(ball="none", robots=(placement,), visuals=False))


@pytest.fixture(scope="module")
def ant() -> Scene:
    return scene_of("ant")


def swaying(scene: Scene, count: int, rows: int = 40) -> Floats:
    """Commands that differ from world to world, (N, T, motors)."""
    worlds, times, motors = np.arange(count), np.arange(rows) * PERIOD, np.arange(scene.model.nu)
    phase = worlds[:, None, None] + motors
    growing = np.minimum(times / 0.1, 1.0)[None, :, None]
    return np.asarray(scene.commands + 0.4 * growing * np.sin(9 * times[None, :, None] + phase))


def rolled(worlds: Worlds, values: Floats, *, period: float = PERIOD, **more: object) -> Rollout:
    """Commands rolled out; what a series of commands does not know is an option of `roll_out`."""
    options = {name: more.pop(name) for name in ("start", "fallen", "observe") if name in more}
    return roll_out(worlds, "robot", CommandSeries(values=values, period=period, **more), **options)  # type: ignore[arg-type]


def same(one: Rollout, other: Rollout) -> bool:
    return (
        np.array_equal(one.angles, other.angles, equal_nan=True)
        and np.array_equal(one.frames, other.frames)
        and (one.pose is None or np.array_equal(one.pose, np.asarray(other.pose), equal_nan=True))
    )


def test_a_rollout_is_what_stepping_by_hand_gives(ant: Scene) -> None:
    commands = swaying(ant, 3)
    found = rolled(Worlds(ant, 3), commands)
    worlds = Worlds(ant, 3)
    for row in range(commands.shape[1]):
        assert np.array_equal(found.angles[:, row], worlds.robot("robot").angles)
        assert found.pose is not None
        assert np.array_equal(found.pose[:, row], worlds.robot("robot").pose)
        worlds.robot("robot").command = commands[:, row]
        worlds.advance(PERIOD)
    assert found.times[-1] == pytest.approx(39 * PERIOD)
    assert (found.frames == 40).all()
    assert not found.diverged.any()


def test_neither_threads_nor_chunks_nor_company_change_a_bit(ant: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = swaying(ant, 5)
    together = rolled(Worlds(ant, 5), commands)
    assert same(together, rolled(Worlds(ant, 5, threads=2), commands))
    alone = rolled(Worlds(ant, 1), commands[3])
    assert np.array_equal(alone.angles[0], together.angles[3])
    monkeypatch.setattr(rollout, "CHUNK_BYTES", 1.0)
    assert same(together, rolled(Worlds(ant, 5), commands))
    assert not np.array_equal(together.angles[0], together.angles[1])


def test_worlds_end_after_their_own_rows(ant: Scene) -> None:
    commands = swaying(ant, 3)
    whole = rolled(Worlds(ant, 3), commands)
    short = rolled(Worlds(ant, 3), commands, rows=[40, 7, 1])
    assert short.frames.tolist() == [40, 7, 1]
    for world, rows in enumerate((40, 7, 1)):
        assert np.array_equal(short.angles[world, :rows], whole.angles[world, :rows])
        assert np.isnan(short.angles[world, rows:]).all()


def test_a_free_pendulum_swings_with_the_period_of_its_length() -> None:
    scene = assemble(SceneSettings(
        field="none", robots=(Placement(robot=BENCH, name="robot", actuation="ideal"),), timestep=0.001, visuals=False
    ))  # fmt: skip
    start = StartState(angles=np.array([0.05]))
    rows = 4000
    found = rolled(Worlds(scene), np.zeros((rows, 1)), period=0.001, powered=np.zeros(rows, bool), start=start)
    angle = found.angles[0, :, 0]
    falling = np.flatnonzero((angle[:-1] > 0) & (angle[1:] <= 0))
    length, mass, inertia = 0.1, 0.49, 1e-5 + 0.0017  # of the weight itself, and of the servo
    period = 2 * np.pi * np.sqrt((mass * length**2 + inertia) / (mass * 9.81 * length))
    assert np.diff(falling).mean() * 0.001 == pytest.approx(period, rel=2e-3)
    assert found.pose is None
    fed = rolled(Worlds(scene), np.zeros((rows, 1)), period=0.001, start=start)
    assert np.abs(fed.angles[0, -100:, 0]).max() < 1e-3


@pytest.mark.parametrize("actuation", ["ideal", "servo"])
def test_released_motors_let_go_and_take_hold_again(actuation: str) -> None:
    scene = scene_of(BENCH, actuation)
    powered = np.ones((2, 300), bool)
    powered[1, 100:200] = False
    start = StartState(angles=np.array([1.0]), command=np.array([1.0]))
    worlds = Worlds(scene, 2)
    found = rolled(worlds, np.ones((300, 1)), period=PERIOD / 5, powered=powered, start=start)
    fed, released = found.angles[..., 0]
    assert np.array_equal(fed[:101], released[:101])
    assert released[100:200].min() < fed[100:200].min() - 0.3
    assert abs(released[-1] - fed[-1]) < 0.5 * np.abs(released - fed).max()
    assert same(found, rolled(worlds, np.ones((300, 1)), period=PERIOD / 5, powered=powered, start=start))


def test_a_delay_shifts_the_motion_by_any_time(ant: Scene) -> None:
    step = np.tile(ant.commands, (60, 1))
    step[5:, 0] += 0.02
    delays = np.array([0.0, PERIOD, 0.4 * PERIOD, 0.4 * PERIOD + 0.002, 0.4 * PERIOD + 0.004])
    found = rolled(Worlds(ant, 5), step, delay=delays).angles[..., 0]
    assert np.allclose(found[1, 1:], found[0, :-1], atol=1e-3)
    assert not np.allclose(found[1], found[0], atol=4e-3)
    moved = found[:, 7] - found[:, 5]
    assert (np.diff(moved[[0, 2, 3, 4, 1]]) < 0).all(), "the later, the less far"
    assert moved[3] == pytest.approx((moved[2] + moved[4]) / 2, rel=0.05)


def test_what_falls_ends_there_and_the_others_go_on(ant: Scene) -> None:
    pose = np.tile([0, 0, 0.3, 1.0, 0, 0, 0], (2, 1))
    pose[1, 3:] = [0.0, 1.0, 0.0, 0.0]
    commands = np.tile(ant.commands, (30, 1))
    found = rolled(Worlds(ant, 2), commands, start=StartState(pose=pose), fallen=0.3)
    assert found.frames.tolist() == [30, 0]
    spin = np.zeros((2, 6))
    spin[1, 3] = 12.0
    thrown = StartState(pose=pose[:1].repeat(2, axis=0), velocity=spin)
    found = rolled(Worlds(ant, 2), commands, start=thrown, fallen=0.3)
    assert found.frames[0] == 30
    assert 2 < found.frames[1] < 25
    upright = found.uprightness
    assert upright is not None
    assert (upright[1, : found.frames[1]] >= 0.3).all()
    assert np.isnan(upright[1, found.frames[1] :]).all()
    assert not found.diverged.any()


def test_a_breakdown_ends_its_world_alone(ant: Scene) -> None:
    rates = np.zeros((3, 18))
    rates[1] = 1e12
    commands = np.tile(ant.commands, (30, 1))
    found = rolled(Worlds(ant, 3), commands, start=StartState(rates=rates))
    assert found.diverged.tolist() == [False, True, False]
    assert found.frames[1] == 0
    assert np.isnan(found.angles[1, found.frames[1] :]).all()
    assert np.isfinite(found.angles[[0, 2]]).all()
    assert np.array_equal(found.angles[0], found.angles[2])


def test_a_breakdown_on_the_way_is_told_to_the_row(ant: Scene) -> None:
    worlds = Worlds(ant, 2)
    worlds.vary("robot", "drives.*.stiffness", [20.0, 1e9])
    worlds.vary("robot", "drives.*.torque", [2.0, 1e12])
    commands = np.tile(ant.commands, (30, 1))
    commands[15:] += 0.2
    found = rolled(worlds, commands)
    assert found.diverged.tolist() == [False, True]
    assert 0 < found.frames[1] < 30
    assert np.isfinite(found.angles[1, : found.frames[1]]).all()
    assert np.isnan(found.angles[1, found.frames[1] :]).all()


def test_sensors_are_recorded_along() -> None:
    scene = scene_of("nao-v6")
    commands = np.tile(scene.commands, (50, 1))
    names = [s.name for s in load_robot("nao-v6").sensor if s.type in ("imu", "force")]
    found = rolled(Worlds(scene), commands, observe=names)
    imu = next(s.name for s in load_robot("nao-v6").sensor if s.type == "imu")
    assert found.sensors[imu].shape == (1, 50, 6)
    assert found.sensors[imu][0, 20:, 5].mean() == pytest.approx(9.81, rel=0.03)
    with pytest.raises(UnknownNameError):
        rolled(Worlds(scene), commands, observe=["thermometer"])


def test_friction_under_load_and_a_sagging_battery_are_looked_after_in_every_period() -> None:
    robot = load_robot(BENCH)
    plain = load_actuation(robot, "servo")
    assert plain is not None
    servos = {n: replace(s, load_friction=0.3) for n, s in plain.servo.items()}
    start = StartState(angles=np.array([1.0]), command=np.array([1.0]))
    goal = 0.6 * np.sin(np.arange(400) * 0.02)[:, None] + 1.0
    found = []
    for actuation in (plain, replace(plain, servo=servos)):
        scene = scene_of(BENCH, actuation)
        alone = rolled(Worlds(scene), goal, period=0.004, start=start)
        merged = Worlds.of([scene, scene_of(BENCH, plain)])
        assert np.array_equal(rolled(merged, goal, period=0.004, start=start).angles[0], alone.angles[0])
        found.append(alone.angles[0, :, 0])
    assert np.abs(found[0] - found[1]).max() > 0.01


def test_mistakes_are_named(ant: Scene) -> None:
    worlds = Worlds(ant, 2)
    good = np.tile(ant.commands, (5, 1))
    with pytest.raises(UsageError, match="shape"):
        rolled(worlds, good[:, :3])
    bad = good.copy()
    bad[2, 4] = np.nan
    with pytest.raises(UsageError, match="row 2"):
        rolled(worlds, bad)
    with pytest.raises(ModelError, match="whole number"):
        rolled(worlds, good, period=0.0213)
    with pytest.raises(UsageError, match="delay"):
        rolled(worlds, good, delay=-0.1)
    with pytest.raises(UsageError, match="cannot fall"):
        rolled(Worlds(scene_of(PENDULUM)), np.zeros((5, 1)), fallen=0.5)
    with pytest.raises(ModelError, match="angles"):
        rolled(worlds, good, start=StartState(angles=np.zeros(3)))


def test_a_delayed_command_beyond_the_limits_counts_as_the_limit(ant: Scene) -> None:
    """The mean over a step is that of what the motors take, so wild commands act as clipped ones do."""
    wild = scene_of("ant").commands + 5.0 * np.sign(np.sin(20 * np.arange(30) * PERIOD))[:, None]
    ends = ant.model.actuator_ctrlrange
    clipped = np.clip(wild, ends[:, 0], ends[:, 1])
    both = [rolled(Worlds(ant, 1), c, delay=0.0013) for c in (wild, clipped)]
    assert same(*both)


def test_a_drive_with_a_speed_limit_feels_every_part_of_a_step_of_delay_about_alike() -> None:
    """The mean command of a step would let a set-point that has far to go start at once, or a whole step later."""
    commands = np.where(np.arange(30) < 5, 0.6, 1.0)[:, None]
    delays = 0.02 + np.linspace(0, 0.004, 5)
    worlds = Worlds(
        assemble(SceneSettings(field="none", robots=(Placement(robot=PENDULUM, name="robot"),), timestep=0.004)), 5
    )
    found = rolled(worlds, commands, delay=delays)
    apart = np.linalg.norm(np.diff(found.angles[..., 0], axis=0), axis=1)
    assert apart.max() < 2.5 * apart.min()


def test_speeds_torques_and_currents_are_recorded() -> None:
    times = np.arange(60) * PERIOD
    commands = (0.4 * np.sin(5 * times))[:, None]
    bench = scene_of(BENCH, str(Path(BENCH) / "kp200.toml"))
    series = CommandSeries(values=commands, period=PERIOD)
    found = roll_out(Worlds(bench), "robot", series, observe=("rates", "torque", "current"))
    slopes = np.gradient(found.angles[0, :, 0], PERIOD)
    assert np.abs(found.sensors["rates"][0, 5:-5, 0] - slopes[5:-5]).max() < 0.2 * np.abs(slopes).max()
    torque, current = found.sensors["torque"][0, :, 0], found.sensors["current"][0, :, 0]
    servo = load_actuation(load_robot(BENCH), str(Path(BENCH) / "kp200.toml"))
    assert servo is not None
    one = servo.servo["xl330"]
    assert np.allclose(current * one.constant(servo.battery.voltage) * one.efficiency, torque)
    assert np.abs(torque).max() > 0.02
    plain = roll_out(Worlds(bench), "robot", series)
    assert np.array_equal(plain.angles, found.angles)
    assert not plain.sensors
    with pytest.raises(ModelError, match="ideal drives"):
        rolled(Worlds(scene_of(PENDULUM)), commands, observe=("current",))
