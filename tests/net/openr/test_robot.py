"""A simulated AIBO behind OPEN-R, without any client: what it senses, and how gains and power move it."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.net.host.robot_host import RobotHost
from nutmeg.net.openr import commands as wire
from nutmeg.net.openr.commands import Command, CommandVector, commands_packet, gains_packet, joint_command
from nutmeg.net.openr.configuration import host_settings, settings_for
from nutmeg.net.openr.models import Gains, model_named
from nutmeg.net.openr.packets import Event, Packet, PacketError, PacketReader, read_sensors
from nutmeg.net.openr.port import torques
from nutmeg.net.openr.robot import COLOURS, MAX_QUEUED, CameraControls, CommandQueues, OpenrRobot, emission


class Bench:
    """A robot on a plain floor that is simulated as fast as possible; a port without sockets."""

    name, period, clients = "bench", 0.008, 0

    def __init__(self, kind: str = "ers7", *, awake: bool = True) -> None:
        chosen = settings_for([kind], first_port=0, pictures=False)
        settings = dataclasses.replace(chosen, field="floor", ball="none")
        self.model, self._awake = model_named(kind), awake
        self.host = RobotHost(host_settings(settings, lock_step=True, needed=0, noise=False), [self])

    def open(self, host: RobotHost) -> None:
        (name,) = (robot.name for robot in host.settings.robots)
        hosted = host.take(name, period=self.period)
        self.robot: OpenrRobot[str] = OpenrRobot(self.model, hosted, torques(host.worlds, name), awake=self._awake)
        self.robot.motors.turn()

    def turn(self, time: float) -> None:
        del time
        self.robot.turn()

    def waiting(self) -> list[str]:
        return []

    def give_up(self, names: object) -> None:
        raise AssertionError(names)

    def picture(self, picture: object) -> None:
        raise AssertionError(picture)

    def close(self) -> None:
        pass

    def run(self, seconds: float) -> None:
        self.host.run(seconds)

    def hear(self, data: bytes) -> None:
        (packet,) = PacketReader().feed(data)
        self.robot.receive(packet, "a client")

    def values(self) -> Any:
        """The frames of the last vector, by locator or name."""
        while self.robot.vector() is None:
            self.run(0.008)
        (packet,) = PacketReader().feed(self.robot.vector() or b"")
        frames = read_sensors(packet.body, len(self.model.sensors))
        names = {p.of: k for k, p in enumerate(self.model.sensors)} | {
            p.locator: k for k, p in enumerate(self.model.sensors)
        }
        return {name: frames.values[row] for name, row in names.items()}


@pytest.fixture(name="bench", params=["ers7", "ers210"])
def _bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    bench = Bench(request.param)
    yield bench
    bench.host.close()


@pytest.fixture(name="ers7")
def _ers7() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.host.close()


def test_a_standing_robot_feels_gravity_and_its_paws(bench: Bench) -> None:
    bench.run(1.5)
    values = bench.values()
    assert values["PRM:/a3-Sensor:a3"]["value"][-1] == pytest.approx(-9806650, rel=0.01)
    assert abs(values["PRM:/a1-Sensor:a1"]["value"][-1]) < 1e6
    assert values["PRM:/a3-Sensor:a3"]["signal"][-1] == pytest.approx(512 - 256, abs=4)
    assert [values[f"{leg}Paw"]["value"][-1] for leg in ("LFr", "RFr", "LBk", "RBk")] == [1, 1, 1, 1]


def test_angles_are_micro_radians_and_references_stand_beside_them(bench: Bench) -> None:
    bench.run(0.5)
    values = bench.values()
    hosted = bench.robot.robot
    for number, primitive in bench.model.joints.items():
        joint = values[primitive.of]
        angle = hosted.senses.read("joints")[0][hosted.table.joints.index(primitive.of)]
        assert joint["value"][-1] == round(angle * 1e6)
        low, high = hosted.table.limits[hosted.table.joints.index(primitive.of)]
        assert joint["signal"][-1] == pytest.approx(1023 * (angle - low) / (high - low), abs=1)
        assert abs(joint["refValue"][-1] - joint["value"][-1]) < 60000, (number, primitive.of)
        assert abs(joint["pwmDuty"][-1]) <= 512


@pytest.mark.parametrize("roll", [-np.pi / 2, np.pi / 2, 0.0])
def test_a_robot_at_rest_feels_gravity_along_its_own_axes(ers7: Bench, roll: float) -> None:
    ers7.robot.motors.power = False
    pose = ers7.host.worlds.robot("ers7-1").pose
    pose[0] = [0, 0, 0.12, np.cos(roll / 2), np.sin(roll / 2), 0, 0]
    ers7.run(2.5)
    values = ers7.values()
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, pose[0, 3:].copy())
    front, left, up = axes.reshape(3, 3).T
    pulled = [-9.80665e6 * axis[2] for axis in (front, -left, up)]
    felt = [int(values[f"PRM:/a{k}-Sensor:a{k}"]["value"][-1]) for k in (1, 2, 3)]
    np.testing.assert_allclose(felt, pulled, atol=1e5)
    assert np.sign(felt[1]) == np.sign(roll) or roll == 0  # on its left side it is pulled to the left


def test_a_robot_is_limp_until_it_has_power_and_gains() -> None:
    bench = Bench(awake=False)
    start = bench.host.worlds.robot("ers7-1").pose[0, 2]
    bench.run(0.8)
    fallen = bench.host.worlds.robot("ers7-1").pose[0, 2]
    assert fallen < start - 0.01
    assert bench.robot.motors.limp.sum() >= 18
    bench.hear(wire.power_packet(on=True))
    bench.run(0.1)
    assert bench.robot.motors.limp.sum() == 18
    before = {of: v["value"][-1] for of, v in bench.values().items()}
    bench.hear(gains_packet([(k, bench.model.standard_gains(k)) for k in bench.model.joints]))
    bench.run(0.3)
    assert not bench.robot.motors.limp.any()
    after = bench.values()
    for joint in bench.model.joints.values():
        assert abs(after[joint.of]["value"][-1] - before[joint.of]) < 150000, joint.of
    bench.host.close()


def test_references_move_a_joint_at_the_speed_of_the_frames(ers7: Bench) -> None:
    number = ers7.model.id_of("PRM:/r1/c1/c2-Joint2:12")
    way = np.linspace(0, 0.4, 65)[1:]
    for first in range(0, 64, 16):
        ers7.hear(commands_packet(CommandVector(commands=(joint_command(number, way[first : first + 16]),))))
    ers7.run(31 * 0.008)  # the first of 32 turns is at once
    assert ers7.robot.motors.references[ers7.robot.robot.motor_index(["NECK:pan"])[0]] == pytest.approx(0.2, abs=1e-6)
    ers7.run(0.5)
    assert ers7.values()["NECK:pan"]["value"][-1] == pytest.approx(400000, abs=3000)
    ers7.hear(commands_packet(CommandVector(commands=(joint_command(number, [3.0]),))))
    ers7.run(0.5)
    assert ers7.values()["NECK:pan"]["refValue"][-1] == pytest.approx(1535890, abs=2)


def test_twice_the_gain_halves_what_gravity_bends(ers7: Bench) -> None:
    number = ers7.model.id_of("PRM:/r1/c1/c2/c3-Joint2:13")
    standard = dataclasses.replace(ers7.model.standard_gains(number), i=0)
    bent = []
    for factor in (1, 2, 4):
        ers7.hear(gains_packet([(number, dataclasses.replace(standard, p=standard.p * factor))]))
        ers7.run(1.2)
        joint = ers7.values()["NECK:nod"]
        bent.append(abs(int(joint["value"][-1]) - int(joint["refValue"][-1])))
    assert bent[0] > 1000
    assert bent[1] / bent[0] == pytest.approx(0.5, rel=0.05)
    assert bent[2] / bent[0] == pytest.approx(0.25, rel=0.08)
    ers7.hear(gains_packet([(number, dataclasses.replace(standard, p_shift=standard.p_shift + 1))]))
    ers7.run(1.2)
    joint = ers7.values()["NECK:nod"]
    assert abs(int(joint["value"][-1]) - int(joint["refValue"][-1])) / bent[0] == pytest.approx(2, rel=0.08)


def test_the_integral_gain_takes_away_what_gravity_bends_and_twice_of_it_in_half_of_the_time(ers7: Bench) -> None:
    number = ers7.model.id_of("PRM:/r1/c1/c2/c3-Joint2:13")
    standard = ers7.model.standard_gains(number)

    def bent(i: int, seconds: float) -> int:
        ers7.hear(gains_packet([(number, dataclasses.replace(standard, i=0))]))
        ers7.robot.motors._offset[:] = 0.0
        ers7.run(1.2)
        ers7.hear(gains_packet([(number, dataclasses.replace(standard, i=i))]))
        ers7.run(seconds)
        joint = ers7.values()["NECK:nod"]
        return abs(int(joint["value"][-1]) - int(joint["refValue"][-1]))

    before = bent(0, 0.4)
    assert bent(standard.i, 0.8) / bent(2 * standard.i, 0.4) == pytest.approx(1.0, rel=0.15)
    assert bent(standard.i, 4.0) < before / 20


def test_the_largest_gains_are_stable(bench: Bench) -> None:
    bench.hear(gains_packet([(wire.EVERY, Gains(p=60000, d=0))]))
    swing = [0.3 * (-1) ** (k // 8) for k in range(16)]
    for _ in range(4):
        commands = tuple(joint_command(k, swing) for k in bench.model.joints)
        bench.hear(commands_packet(CommandVector(commands=commands)))
    bench.run(2.0)
    assert np.isfinite(bench.host.worlds.qpos).all()
    assert np.abs(bench.robot.robot._views.rates[0]).max() < 20


def test_gains_in_a_command_are_those_of_the_old_format(ers7: Bench) -> None:
    number = ers7.model.id_of("PRM:/r2/c1-Joint2:21")
    value = struct.pack("<iBBBB", 100000, 14, 4, 1, 0)
    command = Command(type=wire.JOINT_COMMAND, primitive=number, values=(value,))
    ers7.hear(commands_packet(CommandVector(commands=(command,))))
    ers7.run(0.02)
    assert ers7.robot.motors.gains[number] == Gains(p=14, i=4, d=1)
    assert ers7.robot.motors.references[ers7.robot.robot.motor_index(["LFr:rotor"])[0]] == pytest.approx(0.1)


def test_near_and_far_take_turns(ers7: Bench) -> None:
    ers7.run(0.4)
    values = ers7.values()
    near, far = values["near"], values["far"]
    assert [signal > 0 for signal in near["signal"]] == [True, False, True, False]
    assert [signal > 0 for signal in far["signal"]] == [False, True, False, True]
    assert near["value"][0] == near["value"][1]
    assert far["value"][1] == far["value"][2]
    assert near["value"][2] == round(float(ers7.robot.robot.read("near")[0]) * 1e6)
    assert 50000 <= near["value"][0] <= 500000
    assert 200000 <= far["value"][1] <= 1500000
    assert 100000 <= values["chest"]["value"][0] <= 900000


@pytest.mark.parametrize(
    ("name", "sensor", "pressed"), [("ers7", "head", 50), ("ers7", "chin", 1), ("ers210", "head_rear", 980665)]
)
def test_a_pressed_sensor_tells_its_value(name: str, sensor: str, pressed: int) -> None:
    bench = Bench(name)
    bench.run(0.04)
    assert bench.values()[sensor]["value"].tolist() == [0, 0, 0, 0]
    bench.robot.robot.poke(sensor, 1.0)
    bench.run(0.064)
    assert bench.values()[sensor]["value"].tolist() == [pressed] * 4
    bench.host.close()


def test_the_ears_know_two_positions(bench: Bench) -> None:
    ear = next(k for k, p in enumerate(bench.model.primitives, 1) if p.about == "Left ear")
    place = bench.robot.robot.motor_index(["EAR:left"])[0]
    kind = bench.model.primitive(ear).command_type
    for state, side in ((1, 1), (0, 0), (7, 0)):
        command = Command(type=kind, primitive=ear, values=(struct.pack("<IHH", state, 1, 0),))
        bench.hear(commands_packet(CommandVector(commands=(command,))))
        bench.run(0.4)
        limits = bench.robot.robot.table.limits[bench.robot.robot.table.joints.index("EAR:left")]
        assert bench.robot.motors.references[place] == pytest.approx(limits[side])
        assert bench.robot.robot.angles[bench.robot.robot.table.joints.index("EAR:left")] == pytest.approx(
            limits[side], abs=0.03
        )


def test_the_optional_area_of_a_command_comes_back_with_the_sensors(ers7: Bench) -> None:
    ers7.hear(commands_packet(CommandVector(optional=b"mark", offset=8, sync_key=3, commands=())))
    ers7.run(0.056)
    (packet,) = PacketReader().feed(ers7.robot.vector() or b"")
    frames = read_sensors(packet.body, len(ers7.model.sensors))
    assert packet.sequence == 1
    assert (frames.optional, frames.sync_key) == (b"mark", 3)


def test_ears_that_are_commanded_like_other_joints_do_not_hold_up_the_legs(ers7: Bench) -> None:
    ear = next(k for k, p in enumerate(ers7.model.primitives, 1) if p.about == "Left ear")
    knee = ers7.model.id_of("PRM:/r2/c1/c2/c3-Joint2:23")
    up, nothing = (
        Command(type=wire.JOINT_COMMAND2, primitive=ear, values=(struct.pack("<2i", n, 0),)) for n in (1, 350000)
    )
    ear_place, knee_place = ers7.robot.robot.motor_index(["EAR:left", "LFr:knee"])
    limits = ers7.robot.robot.table.limits[ers7.robot.robot.table.joints.index("EAR:left")]
    for command, angle in ((up, 1.5), (nothing, 1.6)):
        ers7.hear(commands_packet(CommandVector(commands=(command, joint_command(knee, [angle])))))
        ers7.run(0.02)
        assert ers7.robot.motors.references[knee_place] == pytest.approx(angle)
        assert ers7.robot.motors.references[ear_place] == pytest.approx(limits[1])


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (commands_packet(CommandVector(commands=(joint_command(66, [0.0]),))), "primitive 66"),
        (commands_packet(CommandVector(commands=(joint_command(2, [0.0]),))), "does not take"),
        (commands_packet(CommandVector(), model=210), "model 210"),
        (gains_packet([(2, Gains())]), "no joint"),
        (Packet(type=18).pack(), "POWER"),
    ],
)
def test_a_packet_that_does_not_fit_the_robot_changes_nothing(ers7: Bench, data: bytes, problem: str) -> None:
    before = dict(ers7.robot.motors.gains)
    with pytest.raises(PacketError, match=problem):
        ers7.hear(data)
    assert ers7.robot.queues.waiting == 0
    assert ers7.robot.motors.gains == before


RAMP = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)


def test_nothing_changes_until_something_is_asked() -> None:
    controls = CameraControls(model_named("ers7"))
    assert controls.apply(RAMP) is RAMP
    controls.set(wire.SHUTTER, 3)
    assert controls.apply(RAMP) is not RAMP
    controls.set(wire.SHUTTER, 2)
    assert controls.apply(RAMP) is RAMP


@pytest.mark.parametrize(
    ("model", "request_", "parameter", "factor"),
    [
        ("ers7", wire.SHUTTER, 1, 2.0),
        ("ers7", wire.SHUTTER, 3, 0.5),
        ("ers7", wire.GAIN, 1, 10**-0.3),
        ("ers7", wire.GAIN, 3, 10**0.3),
        ("ers210", wire.GAIN, 1, 1.0),
        ("ers210", wire.GAIN, 3, 10**0.3),
    ],
)
def test_light_is_multiplied_by_shutter_and_gain(model: str, request_: int, parameter: int, factor: float) -> None:
    controls = CameraControls(model_named(model))
    controls.set(request_, parameter)
    np.testing.assert_allclose(controls.factors, factor)
    expected = np.round(255 * np.clip((RAMP / 255) ** 2.2 * factor, 0, 1) ** (1 / 2.2))
    np.testing.assert_array_equal(controls.apply(RAMP), expected)


def test_a_balance_for_lamps_is_bluer_and_one_for_daylight_redder() -> None:
    controls = CameraControls(model_named("ers7"))
    controls.set(wire.WHITE_BALANCE, 1)
    red, green, blue = controls.factors
    assert green == pytest.approx(1.0)
    assert red < green < blue
    controls.set(wire.WHITE_BALANCE, 2)
    red, green, blue = controls.factors
    assert blue < green < red
    controls.set(wire.WHITE_BALANCE, 3)
    np.testing.assert_allclose(controls.factors, 1.0)


def test_a_black_body_is_planck_s() -> None:
    # Wien's approximation holds to 1 % where h c / (k L T) is above 5
    kelvin = 2856.0
    wien = COLOURS**-5 * np.exp(-1.438777e-2 / (COLOURS * kelvin))
    np.testing.assert_allclose(emission(kelvin), wien / wien[1], rtol=0.01)


class Robot:
    """Notes what is obeyed, frame by frame."""

    def __init__(self) -> None:
        self.queues: CommandQueues[str] = CommandQueues()
        self.frames: list[list[tuple[int, int]]] = []
        self.events: list[tuple[int, int, Event]] = []

    def run(self, frames: int) -> None:
        for _ in range(frames):
            self.frames.append([])
            for event in self.queues.advance(self._obey):
                self.events.append((len(self.frames) - 1, event.sequence, event.event))

    def _obey(self, command: Command, value: bytes) -> None:
        self.frames[-1].append((command.primitive, struct.unpack_from("<i", value)[0]))


def vector(values: list[int], *, primitive: int = 1, channel: int = 0, wait: int = 0) -> CommandVector:
    command = joint_command(primitive, [value * 1e-6 for value in values])
    return CommandVector(channel=channel, wait=wait, commands=(command,))


def test_vectors_of_a_channel_follow_each_other_without_a_gap() -> None:
    robot = Robot()
    robot.queues.add(vector([1, 2, 3]), sequence=7, owner="a")
    robot.queues.add(vector([4, 5]), sequence=8, owner="a")
    robot.run(6)
    assert robot.frames == [[(1, 1)], [(1, 2)], [(1, 3)], [(1, 4)], [(1, 5)], []]
    assert robot.events == [(0, 7, Event.BEGUN), (2, 7, Event.FINISHED), (3, 8, Event.BEGUN), (4, 8, Event.FINISHED)]


def test_a_vector_waits_as_many_frames_as_it_says() -> None:
    robot = Robot()
    robot.queues.add(vector([1], wait=3), sequence=1, owner="a")
    robot.queues.add(vector([2], wait=1), sequence=2, owner="a")
    robot.run(7)
    assert [frame for frame, done in enumerate(robot.frames) if done] == [3, 5]
    assert (3, 1, Event.BEGUN) in robot.events


def test_channels_run_side_by_side_and_the_later_one_is_obeyed_last() -> None:
    robot = Robot()
    robot.queues.add(vector([1] * 4, channel=1), sequence=1, owner="a")
    robot.run(1)
    robot.queues.add(vector([2] * 2, channel=0), sequence=2, owner="a")
    robot.queues.add(vector([3] * 2, channel=1), sequence=3, owner="b")
    robot.run(3)
    assert robot.frames == [[(1, 1)], [(1, 1), (1, 2), (1, 3)], [(1, 1), (1, 2), (1, 3)], [(1, 1)]]


def test_commands_of_different_lengths_finish_with_the_longest() -> None:
    robot = Robot()
    both = CommandVector(commands=(joint_command(1, [1e-6]), joint_command(2, [1e-6, 2e-6, 3e-6])))
    robot.queues.add(both, sequence=1, owner="a")
    robot.run(4)
    assert robot.frames == [[(1, 1), (2, 1)], [(2, 2)], [(2, 3)], []]
    assert robot.events[-1] == (2, 1, Event.FINISHED)


def test_lights_take_their_time() -> None:
    robot = Robot()
    light = Command(
        type=wire.LED_COMMAND2, primitive=40, values=(struct.pack("<IHH", 1, 3, 0), struct.pack("<IHH", 0, 2, 0))
    )
    robot.queues.add(CommandVector(commands=(light,)), sequence=1, owner="a")
    robot.run(6)
    assert [bool(done) for done in robot.frames] == [True, False, False, True, False, False]
    assert robot.events[-1] == (4, 1, Event.FINISHED)


def test_an_empty_vector_takes_one_frame() -> None:
    robot = Robot()
    robot.queues.add(CommandVector(), sequence=1, owner="a")
    robot.run(2)
    assert robot.events == [(0, 1, Event.BEGUN), (0, 1, Event.FINISHED)]


def test_a_full_queue_drops_its_oldest_and_counts_it() -> None:
    robot = Robot()
    for number in range(MAX_QUEUED + 3):
        robot.queues.add(vector([number]), sequence=number, owner="a")
    assert (robot.queues.dropped, robot.queues.waiting) == (3, MAX_QUEUED)
    robot.run(3)
    assert [done[0][1] for done in robot.frames] == [3, 4, 5]
    assert [(n, e) for _, n, e in robot.events if e == Event.DROPPED] == [(k, Event.DROPPED) for k in range(3)]


def test_a_client_that_goes_takes_its_vectors_with_it() -> None:
    robot = Robot()
    robot.queues.add(vector([1] * 16), sequence=1, owner="a")
    robot.queues.add(vector([1] * 16), sequence=2, owner="a")
    robot.queues.add(vector([2] * 2), sequence=3, owner="b")
    robot.run(1)
    robot.queues.forget("a")
    robot.run(2)
    assert robot.frames[1:] == [[(1, 2)], []]
    assert robot.queues.waiting == 0


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(1, 5), st.integers(0, 6)), min_size=1, max_size=14
    )
)
@settings(max_examples=80)
def test_every_value_is_executed_once_and_in_order(plan: list[tuple[int, int, int, int]]) -> None:
    robot = Robot()
    expected: dict[int, list[int]] = {}
    for number, (channel, wait, length, pause) in enumerate(plan):
        values = [100 * number + k for k in range(length)]
        robot.queues.add(vector(values, primitive=channel + 1, channel=channel, wait=wait), sequence=number, owner="a")
        expected.setdefault(channel + 1, []).extend(values)
        robot.run(pause)
    robot.run(sum(wait + length for _, wait, length, _ in plan))
    done = [pair for frame in robot.frames for pair in frame]
    assert {p: [v for q, v in done if q == p] for p in expected} == expected
    assert sum(event == Event.FINISHED for _, _, event in robot.events) == len(plan)
    assert robot.queues.dropped == 0


@pytest.mark.parametrize("length", [1, 16])
def test_a_vector_that_comes_when_the_last_has_just_finished_loses_no_frame(length: int) -> None:
    robot = Robot()
    for number in range(4):
        robot.queues.add(vector([number] * length), sequence=number, owner="a")
        robot.run(length)
    assert all(robot.frames)
