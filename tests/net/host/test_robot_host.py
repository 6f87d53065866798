"""A host of robots: tasks at exact periods, motors, a recording, clocks; with a port that speaks no protocol."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.model.scene import Placement
from nutmeg.net.host.cameras import Picture
from nutmeg.net.host.robot import (
    AMBIENT_TEMPERATURE,
    BATTERY_CAPACITY,
    BATTERY_THERMAL,
    CHARGER_CURRENT,
    COMPUTER_CURRENT,
    MOTOR_THERMAL,
    HostedRobot,
)
from nutmeg.net.host.robot_host import HostClock, HostSettings, RobotHost, TaskTimes
from nutmeg.net.loop import SocketLoop
from nutmeg.recording import Recording


class Quiet:
    """A port without clients; somebody else's code in its turn."""

    clients = 1

    def __init__(self, robots: Sequence[str] = ("nao",), period: float = 0.012, name: str = "quiet") -> None:
        self.name, self.period = name, period
        self.names, self.robots = robots, dict[str, HostedRobot]()
        self.times: list[float] = []
        self.pictures: list[Picture] = []
        self.closed = 0

    def open(self, host: RobotHost) -> None:
        self.robots = {name: host.take(name, period=self.period) for name in self.names}

    def turn(self, time: float) -> None:
        self.times.append(time)

    def waiting(self) -> Sequence[str]:
        return ()

    def give_up(self, names: Sequence[str]) -> None:
        raise AssertionError(names)

    def picture(self, picture: Picture) -> None:
        self.pictures.append(picture)

    def close(self) -> None:
        self.closed += 1


def settings(*robots: tuple[str, str], **more: Any) -> HostSettings:
    """Robots by name and actuation, side by side on a plain floor, as fast as it goes."""
    placed = tuple(
        Placement(robot="nao-v6" if "nao" in name else "ers7", name=name, pos=(0.0, 1.0 * k), actuation=actuation)
        for k, (name, actuation) in enumerate(robots or (("nao", "servo"),))
    )
    return HostSettings(**{"robots": placed, "field": "floor", "lock_step": True, "noise": False, **more})


def test_every_port_has_its_turn_at_exactly_its_period() -> None:
    slow, fast = Quiet(("nao",), 0.012, "slow"), Quiet(("ers7",), 0.008, "fast")
    with RobotHost(settings(("nao", "servo"), ("ers7", "ideal")), [slow, fast]) as host:
        host.run(0.24)
    assert np.allclose(slow.times, np.arange(21) * 0.012)
    assert np.allclose(fast.times, np.arange(31) * 0.008)
    rows = {row["task"]: row for row in host.schedule_rows()}
    assert (rows["slow"]["turns"], rows["fast"]["turns"], rows["slow"]["period_ms"]) == (21, 31, 12.0)
    assert slow.closed == fast.closed == 1


def test_in_real_time_a_second_takes_a_second() -> None:
    port = Quiet()
    with RobotHost(settings(lock_step=False, speed=2.0), [port]) as host:
        began = time.monotonic()
        host.run(0.6)
        assert time.monotonic() - began >= 0.3
        host.run(0.012)
    assert len(port.times) == 52


def test_a_limp_robot_falls_and_a_stiff_one_stands_with_every_actuation() -> None:
    for actuation in ("ideal", "servo", "motoflex"):
        port = Quiet(("nao-1", "nao-2"))
        with RobotHost(settings(("nao-1", actuation), ("nao-2", actuation)), [port]) as host:
            port.robots["nao-1"].motors.stiffness[:] = 0.0
            host.run(1.2)
            assert port.robots["nao-1"].pose[2] < 0.25
            assert port.robots["nao-2"].pose[2] > 0.29


def test_a_motor_warms_up_as_its_equation_says() -> None:
    port = Quiet()
    with RobotHost(settings(), [port]) as host:
        motors = port.robots["nao"].motors
        knee = port.robots["nao"].motor_index(["LKneePitch"])[0]
        currents: list[float] = []
        host.every(0.012, "watch", lambda _: currents.append(float(motors.current[knee])))
        host.run(1.2)
        servo = next(s for s in host.worlds.actuations("nao")[0].servo.values() if "*KneePitch" in s.joints)  # type: ignore[union-attr]
        resistance = servo.resistance(21.6) * servo.efficiency
        heat, warm = AMBIENT_TEMPERATURE, []
        for current in currents:
            heat += (
                (resistance * current**2 - (heat - AMBIENT_TEMPERATURE) / MOTOR_THERMAL[0]) / MOTOR_THERMAL[1] * 0.012
            )
            warm.append(heat)
    assert motors.temperature[knee] > AMBIENT_TEMPERATURE
    assert motors.temperature[knee] == pytest.approx(warm[-1], abs=1e-6)
    assert resistance == pytest.approx(21.6**2 / (servo.no_load_speed * servo.stall_torque))


def test_the_battery_loses_what_is_drawn() -> None:
    port = Quiet()
    with RobotHost(settings(("nao", "ideal")), [port]) as host:
        host.run(1.2)
    motors = port.robots["nao"].motors
    assert motors.charge == pytest.approx(1 - 101 * 0.012 * COMPUTER_CURRENT / BATTERY_CAPACITY)
    assert not motors.current.any()


def test_the_battery_loses_the_work_of_the_servos_warms_and_is_charged_again() -> None:
    """Charge, current and temperature against sums over the cycles, drained and with the charger."""
    port = Quiet()
    with RobotHost(settings(("nao", "servo")), [port]) as host:
        motors, seen = port.robots["nao"].motors, []
        host.every(0.012, "watch", lambda _: seen.append((motors.battery_current, motors.drawn, motors.charge)))
        host.run(0.6)
        motors.charging = True
        host.run(0.6)
        motors.charge = 1.0
        host.run(0.024)
    current, drawn, charge = (np.array(column) for column in zip(*seen[1:], strict=True))
    assert (drawn > COMPUTER_CURRENT).all()  # standing takes power, too
    assert current[:48] == pytest.approx(-drawn[:48])
    assert current[52:99] == pytest.approx(CHARGER_CURRENT - drawn[52:99])
    assert np.diff(charge[:48]) == pytest.approx(current[1:48] * 0.012 / BATTERY_CAPACITY)
    assert (np.diff(charge[52:99]) > 0).all()
    assert current[-1] == 0.0
    heat = AMBIENT_TEMPERATURE
    for one in current:
        heat += (0.15 * one**2 - (heat - AMBIENT_TEMPERATURE) / BATTERY_THERMAL[0]) / BATTERY_THERMAL[1] * 0.012
    assert motors.battery_temperature == pytest.approx(heat, abs=1e-5)
    assert heat > AMBIENT_TEMPERATURE


def test_gains_of_an_ideal_drive_make_it_weaker() -> None:
    port = Quiet(("ers7",), 0.008)
    with RobotHost(settings(("ers7", "ideal")), [port]) as host:
        robot = port.robots["ers7"]
        height = robot.pose[2]
        robot.motors.p_gain[:] = robot.motors.d_gain[:] = 0.0
        host.run(0.8)
        assert robot.pose[2] < height - 0.015


def test_a_robot_can_be_taken_once_and_targets_stay_within_a_joint() -> None:
    port = Quiet()
    with RobotHost(settings(), [port]) as host:
        with pytest.raises(UsageError, match="taken by another port"):
            host.take("nao", period=0.012)
        robot = port.robots["nao"]
        index = robot.motor_index(["HeadYaw", "HeadPitch"])
        assert robot.set_targets(index, np.array([99.0, np.nan])) == 1
        low, high = robot.table.limits[robot.table.joints.index("HeadYaw")]
        assert robot.targets[index[0]] == pytest.approx(high)
        assert low < robot.targets[index[1]] < high
    with pytest.raises(UsageError, match="no robot"):
        RobotHost(HostSettings(robots=()), [])


class Pictures:
    """A feed that makes a picture of every state it is shown."""

    def __init__(self, _worlds: object) -> None:
        self.wanted: frozenset[str] = frozenset()
        self.ready: list[Picture] = []

    def want(self, cameras: Any) -> None:
        self.wanted = cameras

    def show(self, time: float, qpos: Any) -> None:
        for camera in sorted(self.wanted):
            image = np.full((2, 4, 3), len(qpos) % 256, dtype=np.uint8)
            self.ready.append(Picture(camera=camera, time=time, sequence=len(self.ready), pixels=image))

    def take(self) -> Sequence[Picture]:
        taken, self.ready = self.ready, []
        return taken

    def close(self) -> None:
        self.wanted = frozenset()


def test_only_cameras_that_somebody_wants_are_drawn() -> None:
    port = Quiet()
    with RobotHost(settings(), [port], cameras=Pictures) as host:
        host.run(0.06)
        assert not port.pictures
        host.want_cameras("quiet", ["nao/CameraTop"])
        host.run(0.06)
        assert {picture.camera for picture in port.pictures} == {"nao/CameraTop"}


def test_a_run_is_recorded_with_its_schedule_and_a_port_s_own_channels_and_its_hash_repeats(tmp_path: Path) -> None:
    for name in ("again", "run"):
        with RobotHost(settings(record=tmp_path / f"{name}.nutmeg", seed=4), [Quiet()]) as host:
            host.event("hello", robot="nao")
            host.run(0.5)
    recording = Recording.open(tmp_path / "run.nutmeg")
    assert recording.content_hash() == Recording.open(tmp_path / "again.nutmeg").content_hash()
    assert recording.finished
    assert len(recording) == 26
    turns = recording.read("schedule.quiet", 0, 26)[:, 0]
    assert turns[-1] == 42  # the last row is of 0.5 s, the last turn before it of 0.492 s
    assert recording.events[0]["kind"] == "hello"


def test_late_turns_and_overruns_are_counted() -> None:
    times = TaskTimes(name="x", period=0.012)
    times.note(late=0.0005, took=0.001)
    times.note(late=0.002, took=0.011)
    times.note(late=-1.0, took=0.001)
    row = times.row()
    assert (row["turns"], row["late"], row["overruns"]) == (3, 1, 1)
    assert (row["worst_late_ms"], row["longest_ms"]) == (2.0, 11.0)


def test_a_host_ends_when_told_from_another_thread() -> None:
    with RobotHost(settings(lock_step=False), [Quiet()]) as host:
        threading.Timer(0.1, host.stop).start()
        host.run()
        assert host.clock.ended


class Silent(Quiet):
    """A port whose client never answers, once it has come."""

    def __init__(self) -> None:
        super().__init__()
        self.clients = 0
        self.given_up: list[Sequence[str]] = []

    def waiting(self) -> Sequence[str]:
        return ["slow"]

    def give_up(self, names: Sequence[str]) -> None:
        self.given_up.append(names)


def test_in_lock_step_a_clock_stands_still_without_clients_and_loses_patience_with_silent_ones() -> None:
    loop, port = SocketLoop(), Silent()
    clock = HostClock(loop, HostSettings(robots=(), lock_step=True, patience=0.05), [port])
    began = time.monotonic()
    threading.Timer(0.15, lambda: (setattr(port, "clients", 1), loop.wake())).start()
    clock.start(0.0)
    clock.keep(0.012)
    assert time.monotonic() - began >= 0.15
    assert port.given_up == [["slow"]]
    loop.close()


def test_a_clock_that_is_far_behind_starts_anew() -> None:
    loop = SocketLoop()
    clock = HostClock(loop, HostSettings(robots=()), [])
    clock.start(0.0)
    time.sleep(0.4)
    before = time.monotonic()
    clock.keep(0.012)
    assert clock.lost > 0.25
    assert clock.behind(0.012)
    assert clock.due(0.024) >= before, "what was lost is not made up for"
    loop.close()
