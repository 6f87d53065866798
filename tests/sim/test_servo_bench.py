"""The rig measures what was put in; replays of a real servo come near to it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, ModelError, RecordingError, UnknownNameError, UsageError
from nutmeg.cli import main
from nutmeg.model import load_robot
from nutmeg.model.actuation import load_actuation
from nutmeg.sim.servo.bench import (
    FrequencyResponse,
    Rig,
    StepResponses,
    TorqueSpeed,
    frequency_response,
    hysteresis,
    measure_servo,
)
from nutmeg.sim.servo.replay import actuation_of, compare_servo, read_bench, read_log

pytestmark = pytest.mark.slow

XL330 = Path(__file__).parents[2] / "examples" / "servo_xl330"
KNEE = "LKneePitch"


@pytest.fixture(scope="module")
def knee() -> Rig:
    return Rig("nao-v6", KNEE, "motoflex")


def test_the_rig_moves_one_joint_and_what_is_geared_to_it(knee: Rig) -> None:
    names = {knee.model.joint(j).name for j in range(knee.model.njnt)}
    assert {"rig/LKneePitch", "rig/LKneePitch.motor", "rig/LThigh.end.bend_1", "rig/LTibia.end.bend_2"} <= names
    assert not any(name.startswith(("rig/R", "rig/LHip", "rig/root")) for name in names)
    assert knee.model.nu == 1
    assert not knee.model.opt.gravity.any()


def test_a_shared_motor_turns_both_joints() -> None:
    rig = Rig("nao-v6", "LHipYawPitch", "servo")
    assert (rig.model.nv, rig.model.neq) == (2, 1)
    data = rig.run(np.full((60, 1), rig.centre + 0.1))
    assert data.angles[-1, 0] == pytest.approx(rig.centre + 0.1, abs=0.02)


def test_the_limb_keeps_its_inertia_whatever_the_step() -> None:
    coarse, fine = (Rig("nao-v6", KNEE, "servo", timestep=dt).inertia() for dt in (0.004, 0.0005))
    assert coarse == pytest.approx(fine, rel=1e-9)


@pytest.mark.parametrize("actuation", ["servo", "motoflex"])
def test_measured_numbers_are_those_of_the_actuation_file(actuation: str) -> None:
    rig = Rig("nao-v6", KNEE, actuation)
    servo, found = rig.servo, measure_servo(rig, name=actuation).numbers()
    full = load_actuation(load_robot("nao-v6"), "motoflex")
    assert servo is not None
    assert full is not None
    gear = next(g for g in full.gear.values() if "*KneePitch" in g.joints)
    stall = servo.ratio * servo.efficiency * servo.stall_torque
    fastest, braking = (
        servo.no_load_speed / servo.ratio,
        servo.constant(rig.voltage) ** 2 / servo.resistance(rig.voltage),
    )
    expected = (braking * fastest - servo.coulomb) / (braking + servo.viscous)
    assert found["stall_torque_Nm"] == pytest.approx(stall - servo.coulomb, rel=0.01)
    assert found["no_load_speed_rad_per_s"] == pytest.approx(expected, rel=0.01)
    assert found["dead_time_s"] == pytest.approx(servo.delay, abs=0.006)
    firmware = servo.stiffness(rig.voltage)
    if actuation == "motoflex":
        assert found["play_rad"] == pytest.approx(gear.play, rel=0.01)
        assert found["gear_stiffness_Nm_per_rad"] == pytest.approx(gear.stiffness, rel=0.01)
        firmware = 1 / (1 / firmware + 1 / gear.stiffness)
    else:
        assert (found["play_rad"], found["gear_stiffness_Nm_per_rad"]) == (0.0, math.inf)
    assert found["holding_stiffness_Nm_per_rad"] == pytest.approx(firmware, rel=0.03)


def test_a_loop_is_wider_with_play_than_without(knee: Rig) -> None:
    widths = []
    for rig in (knee, Rig("nao-v6", KNEE, "servo")):
        loop = hysteresis(rig, 2.0)
        near = np.abs(loop.torques) < 0.05
        widths.append(np.ptp(loop.angles[near]))
    assert widths[0] > widths[1] + 0.7 * knee_play()


def knee_play() -> float:
    full = load_actuation(load_robot("nao-v6"), "motoflex")
    assert full is not None
    return next(g.play for g in full.gear.values() if "*KneePitch" in g.joints)


def test_the_rig_is_stable_from_half_a_millisecond_to_four() -> None:
    ends = []
    for timestep in (0.0005, 0.001, 0.002, 0.004):
        rig = Rig("nao-v6", KNEE, "motoflex", timestep=timestep)
        motion = rig.run(np.full((150, 1), rig.centre + 0.3), period=0.012)
        ends.append(float(motion.angles[-1, 0]) - rig.centre)
    assert np.array(ends) == pytest.approx(0.3, abs=knee_play())


def test_each_copy_runs_by_itself(knee: Rig) -> None:
    commands = knee.centre + np.tile([0.0, 0.1, -0.1], (40, 1))
    together = knee.run(commands).angles
    alone = knee.run(commands[:, 1:2]).angles
    np.testing.assert_array_equal(together[:, 1:2], alone)
    assert np.abs(together[:, 0] - knee.centre).max() < 1e-9


def test_the_response_at_low_frequency_is_one_with_the_lag_of_delay_and_back_emf() -> None:
    rig = Rig("nao-v6", KNEE, "servo")
    found = frequency_response(rig, 0.1, lowest=0.5, highest=1.0)
    assert np.abs(found.response[0]) == pytest.approx(1.0, abs=0.02)
    servo = rig.servo
    assert servo is not None
    lag = servo.delay + servo.constant(rig.voltage) / servo.p
    assert -found.phase[0] / (2 * math.pi * found.frequencies[0]) == pytest.approx(lag, rel=0.15)


def test_numbers_are_read_off_known_curves() -> None:
    times = np.arange(0, 1, 0.001)
    rise = np.where(times < 0.1, 0.0, 1 - np.exp(-(times - 0.1) / 0.05))
    steps = StepResponses(times, np.array([1.0]), rise[:, None])
    assert steps.rise_time()[0] == pytest.approx(0.05 * math.log(9), rel=0.01)
    assert steps.overshoot()[0] < 1e-3
    f = np.geomspace(0.5, 20, 30)
    assert FrequencyResponse(f, 1 / (1 + 1j * f / 4.0), 0.05).bandwidth() == pytest.approx(4.0, rel=0.01)
    assert FrequencyResponse(f, np.ones(30, complex), 0.05).bandwidth() == math.inf
    assert math.isnan(FrequencyResponse(f, np.full(30, 0.1 + 0j), 0.05).bandwidth())
    torques = np.linspace(0, 2.2, 12)
    assert TorqueSpeed(torques, np.maximum(0, 5 - 2.5 * torques)).stall_torque() == pytest.approx(2.0)


def test_joints_that_cannot_be_measured_are_refused() -> None:
    with pytest.raises(UsageError, match="say which joint"):
        Rig("nao-v6", "", "servo")
    with pytest.raises(UsageError, match="--joint LHipYawPitch"):
        Rig("nao-v6", "RHipYawPitch", "servo")
    with pytest.raises(UnknownNameError, match="Did you mean 'LKneePitch'"):
        Rig("nao-v6", "LKneePich", "servo")
    with pytest.raises(ModelError, match="takes a velocity"):
        Rig("nao-spark", "llj4", "ideal")
    with pytest.raises(UsageError, match="take motoflex"):
        Rig("nao-v6", KNEE, "motoflex-paper")


def test_the_simulated_servo_is_nearer_to_the_real_one_than_goal_and_ideal_drive() -> None:
    bench = read_bench(str(XL330))
    log = read_log(XL330 / "kp200_sin_sin.csv", bench)
    assert actuation_of(log.name, bench).endswith("kp200.toml")
    assert log.powered.all()
    (one,) = compare_servo(str(XL330), [log], [actuation_of(log.name, bench)])
    errors = {name: math.degrees(error) for name, error in one.errors().items()}
    assert errors["servo"] < 5.5
    assert errors["goal"] == pytest.approx(32.12, abs=0.01)
    assert errors["servo"] < 0.25 * min(errors["goal"], errors["ideal"])


def test_a_released_servo_lets_the_pendulum_swing(tmp_path: Path) -> None:
    """With the file's `torque_on` set to 0 from 1 s on, the pendulum swings down, past the bottom and comes to rest."""
    header, *rows = (XL330 / "kp200_sin_sin.csv").read_text(encoding="utf-8").splitlines()
    off = [r.rsplit(",", 1)[0] + (",0" if float(r.split(",")[0]) > 1.0 else ",1") for r in rows]
    path = tmp_path / "kp200_released.csv"
    path.write_text("\n".join([header, *off]) + "\n", encoding="utf-8")
    bench = read_bench(str(XL330))
    log = read_log(path, bench)
    assert log.powered[0]
    assert not log.powered[-1]
    (one,) = compare_servo(str(XL330), [log], [actuation_of(log.name, bench)])
    before, after = one.times < 1.0, one.times > 1.0
    assert one.simulated[before][-1] > 0.3
    assert one.simulated[after].min() < -0.05
    assert abs(one.simulated[-1]) < 0.1
    assert np.ptp(one.simulated[-100:]) < 0.01
    assert one.ideal[after].min() < -0.5, "the ideal drive has no friction to stop it"


def test_recordings_of_one_batch_do_not_disturb_each_other() -> None:
    bench = read_bench(str(XL330))
    log = read_log(XL330 / "kp200_sin_sin.csv", bench)
    kinds = [str(XL330 / "kp200.toml"), str(XL330 / "kp800.toml"), str(XL330 / "kp200.toml")]
    first, second, third = compare_servo(str(XL330), [log] * 3, kinds)
    np.testing.assert_array_equal(first.simulated, third.simulated)
    assert np.abs(first.simulated - second.simulated).max() > 0.1


def test_a_recording_without_an_actuation_says_which_patterns_there_are() -> None:
    with pytest.raises(RecordingError, match=r"'kp400_sin'.*kp100_\*"):
        actuation_of("kp400_sin", read_bench(str(XL330)))
    with pytest.raises(FileError, match=r"has no bench\.toml"):
        read_bench(str(XL330.parent / "pendulum"))


def test_the_command_writes_figure_page_and_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    png = tmp_path / "knee.png"
    assert main(["servo", "nao-v6", "--joint", KNEE, "--actuation", "servo", "-o", str(png), "--json"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg role=" in (tmp_path / "knee.html").read_text(encoding="utf-8")
    assert result["measured"]["gear_stiffness_Nm_per_rad"] is None
    assert result["measured"]["stall_torque_Nm"] > 1
    assert [round(s["size_rad"], 2) for s in result["steps"]] == [0.05, 0.1, 0.2, 0.4]


def test_the_command_compares_with_recordings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    png = tmp_path / "against.png"
    assert main(["servo", str(XL330), "--against", str(XL330 / "*.csv"), "-o", str(png), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out.splitlines()[-1])["errors"]
    assert row["recording"] == "kp200_sin_sin"
    assert row["servo_deg"] < 0.25 * row["ideal_deg"] < row["goal_deg"]
    assert png.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nao-v6", "--joint", KNEE, "-o", "/nowhere/x.png"], "its folder does not exist"),
        (["nao-v6", "--joint", KNEE, "--amplitude", "3"], "--amplitude is 3; allowed"),
        (["nao-v6", "--joint", KNEE, "--timestep", "0.2"], "timestep is 0.2; allowed"),
        (["nao-v6", "--joint", KNEE, "--actuation", "motofle"], "Did you mean 'motoflex'"),
        ([str(XL330), "--against", "/nowhere/*.csv"], "There is no folder /nowhere"),
        (["ant", "--joint", "x"], "no actuation.toml"),
    ],
)
def test_wrong_calls_say_what_is_wrong(
    arguments: list[str],
    problem: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["servo", *arguments]) in (1, 2)
    assert problem in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
