from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import NutmegError, UsageError
from nutmeg.model.robot import ROBOTS_FOLDER
from nutmeg.motion.bodies import Mirror
from nutmeg.motion.keyframes import motion_poses, read_motion
from nutmeg.motion.sinusoid import read_gait
from nutmeg.motion.walk.files import read_walk
from nutmeg.reality.btr.controllers import (
    ControllerSettings,
    IdealRobots,
    KeyframeControllers,
    SinusoidControllers,
    make_controllers,
)
from nutmeg.reality.observation import Watch
from nutmeg.reality.twin import Searched, Twin, TwinSettings


@pytest.fixture(scope="module")
def ant() -> Twin:
    return Twin(TwinSettings(robot="ant"), {"L1_femur": Searched(low=0.6, high=1.4, start=1.0)})


def test_the_ants_controllers_are_the_papers_36_numbers(ant: Twin) -> None:
    controllers = SinusoidControllers.of(ControllerSettings(gait="tripod"), ant)
    assert controllers.space.size == 36
    assert controllers.space.names[:4] == ("L1_yaw.a", "L1_yaw.psi", "L1_lift.a", "L1_lift.psi")
    assert controllers.space.named(controllers.space.start)["L1_yaw.a"] == pytest.approx(0.35)


def test_the_start_commands_the_gait_of_the_file(ant: Twin) -> None:
    settings = ControllerSettings(gait="tripod", seconds=2.0)
    controllers = SinusoidControllers.of(settings, ant)
    trial = controllers.trials(controllers.space.start[None], ["first"])[0]
    gait = read_gait(ROBOTS_FOLDER / "ant" / "gaits.toml", "tripod")
    times = 0.02 * np.arange(100)
    for index, motor in enumerate(ant.table.motors):
        swing = gait.joints[motor]
        wanted = swing.theta + swing.a * np.sin(2 * np.pi * gait.frequency * times + swing.psi)
        np.testing.assert_allclose(trial.commands[:, index], wanted, atol=1e-3)  # phases in the file have four digits
    assert (trial.name, trial.period, len(trial)) == ("first", 0.02, 100)


def test_from_scratch_means_standing_still(ant: Twin) -> None:
    controllers = SinusoidControllers.of(ControllerSettings(gait="tripod", begin="still"), ant)
    commands = controllers.commands(controllers.space.start)
    assert np.ptp(commands, axis=1).max() == 0


def test_a_ramp_lets_swings_grow(ant: Twin) -> None:
    plain = SinusoidControllers.of(ControllerSettings(gait="tripod"), ant)
    ramped = SinusoidControllers.of(ControllerSettings(gait="tripod", ramp=1.0), ant)
    start = plain.space.start
    centre = plain.commands(np.where([n.endswith(".a") for n in plain.space.names], 0.0, start))
    np.testing.assert_allclose(ramped.commands(start)[0, 25], (centre + plain.commands(start))[0, 25] / 2)
    np.testing.assert_array_equal(ramped.commands(start)[0, 50:], plain.commands(start)[0, 50:])


def test_frequency_and_centres_can_be_searched_and_joints_chosen(ant: Twin) -> None:
    settings = ControllerSettings(gait="tripod", search=("centre", "frequency"), joints=("L1_*",))
    controllers = SinusoidControllers.of(settings, ant)
    assert controllers.space.names == ("L1_yaw.theta", "L1_lift.theta", "L1_knee.theta", "frequency")
    moved = controllers.commands(controllers.space.start + np.array([0.1, 0, 0, 0]))
    np.testing.assert_allclose((moved - controllers.commands(controllers.space.start))[0, :, 0], 0.1)


def test_a_controller_is_written_as_a_gait_and_does_the_same(ant: Twin, tmp_path: Path) -> None:
    settings = ControllerSettings(gait="tripod", search=("amplitude", "phase", "frequency"))
    controllers = SinusoidControllers.of(settings, ant)
    found = controllers.space.values(np.random.default_rng(1).random(controllers.space.size))
    file = tmp_path / "found.toml"
    file.write_text(controllers.text("found", found, ""), encoding="utf-8")
    assert read_gait(file, "found") == dataclasses.replace(controllers.gait_of(found), about="")
    again = SinusoidControllers.of(dataclasses.replace(settings, gait="found", file=file), ant)
    np.testing.assert_array_equal(again.commands(again.space.start), controllers.commands(found))


def test_mistakes_are_named(ant: Twin, sway: ControllerSettings) -> None:
    with pytest.raises(NutmegError, match="Did you mean 'tripod'"):
        SinusoidControllers.of(ControllerSettings(gait="tripd"), ant)
    with pytest.raises(UsageError, match=r"no motor is like wheel\*"):
        SinusoidControllers.of(ControllerSettings(gait="tripod", joints=("wheel*",)), ant)
    with pytest.raises(NutmegError, match="unknown motor 'swing'"):
        SinusoidControllers.of(sway, ant)
    with pytest.raises(ValueError, match="0 < period < seconds"):
        ControllerSettings(gait="tripod", period=6.0)


def twin_of(robot: str, **settings: Any) -> Twin:
    return Twin(TwinSettings(robot=robot, **settings), {"delay": Searched(low=0.0, high=0.05, sets=("delay",))})


@pytest.fixture(scope="module")
def spark() -> Twin:
    return twin_of("nao-spark", physics="fine")


def test_a_kick_is_searched_by_the_angles_and_times_of_its_frames(spark: Twin, tmp_path: Path) -> None:
    settings = ControllerSettings(
        kind="keyframes", gait="kick", search=("frame3.seconds", "frame3.ll*"), ranges={"frame3.llj3": (0.5, 1.5)}
    )
    kicks = make_controllers(settings, spark)
    assert kicks.space.names == ("frame3.seconds", *(f"frame3.llj{i}" for i in range(1, 7)))
    assert kicks.space.dimensions["frame3.llj3"].range == "0.5..1.5 rad"
    slower = kicks.space.start * np.array([1.5, 1, 1, 1, 1, 1, 1])
    fast, slow = kicks.commands(np.stack([kicks.space.start, slower]))
    assert np.abs(fast).max() <= np.radians(351.8) + 1e-3, "no faster than the drives"
    hip = spark.table.motors.index("llj3")
    strike = slice(37, 44)
    assert np.abs(slow[strike, hip]).sum() < np.abs(fast[strike, hip]).sum()
    (tmp_path / "kick.toml").write_text(kicks.text("found", slower, "by a test"), encoding="utf-8")
    assert read_motion(tmp_path / "kick.toml").frame[2].seconds == pytest.approx(slower[0])


def test_velocity_commands_lead_through_the_frames_of_a_motion(spark: Twin) -> None:
    settings = ControllerSettings(kind="keyframes", gait="kick", seconds=2.0)
    kicks = KeyframeControllers(settings, spark)
    commands = kicks.commands(kicks.space.start)[0]
    start = IdealRobots(spark.base, 1, 0.02).angles[0]
    reached = start + 0.02 * np.cumsum(commands, axis=0)
    last = motion_poses(kicks.motion, spark.table, Mirror.of(spark.base, spark.table))[-1]
    np.testing.assert_allclose(reached[-1], last, atol=1e-6)


@pytest.mark.parametrize(
    ("robot", "kind", "gait", "least"), [("nao-v6", "walk", "nao-v6-ideal", 0.1), ("ers7", "trot", "", 0.1)]
)
def test_walks_and_trots_without_feedback_get_ahead(
    robot: str, kind: Any, gait: str, least: float, tmp_path: Path
) -> None:
    twin = twin_of(robot)
    walks = make_controllers(ControllerSettings(kind=kind, gait=gait, velocity=(0.2, 0.0, 0.0), seconds=3.0), twin)
    behaviour = Watch().simulate(twin, twin.space.start[None], walks.trials(walks.space.start[None]))[0]
    assert np.asarray(behaviour.fitness)[0] > least
    one = walks.commands(walks.space.start)
    several = walks.commands(np.stack([walks.space.start, walks.space.low, walks.space.start]))
    np.testing.assert_array_equal(several[2], one[0])
    (tmp_path / "walk.toml").write_text(walks.text("found", walks.space.low, ""), encoding="utf-8")
    written = read_walk(str(tmp_path / "walk.toml"))
    parameters = written.trot if kind == "trot" else written.walk
    assert {n: getattr(parameters, n) for n in walks.space.names} == walks.space.named(walks.space.low)


def test_a_policy_walks_in_the_model_and_its_commands_lead_the_same_way_without_it(spark: Twin, tmp_path: Path) -> None:
    asked = ControllerSettings(
        kind="policy", gait="policy", search=("stride", "ahead"), velocity=(0.6, 0.0, 0.0), seconds=1.6
    )
    policies = make_controllers(asked, spark)
    assert policies.space.named(policies.space.start) == {"stride": 0.32, "ahead": 0.6}
    still = policies.space.array({"stride": 0.32, "ahead": 0.0})
    trials = policies.trials(np.stack([policies.space.start, still]))
    ahead = [float(np.asarray(b.fitness)[0]) for b in Watch().simulate(spark, spark.space.start[None], trials)]
    assert ahead[0] > 0.3
    assert abs(ahead[1]) < 0.05
    (tmp_path / "walk.toml").write_text(policies.text("found", policies.space.low, ""), encoding="utf-8")
    written = read_walk(str(tmp_path / "walk.toml")).policy
    assert written is not None
    assert written.gait.stride == pytest.approx(policies.space.low[0])
    with pytest.raises(UsageError, match="is no policy"):
        make_controllers(dataclasses.replace(asked, gait="final"), spark)
    everything = make_controllers(dataclasses.replace(asked, search=("*",)), spark).space
    assert {"slow_down", "gives_way"}.isdisjoint(everything.names)  # neither is one number
    assert np.isfinite(everything.low).all()
    assert np.isfinite(everything.high).all()


HOP = """
import numpy as np
class Hop:
    numbers = {"depth": (0.0, 0.4, 0.1)}
    def __init__(self, table):
        self.motors = len(table.motors)
    def commands(self, rows, times):
        return np.repeat(rows[:, :1] * np.sin(times), 1, axis=0)[:, :, None] * np.ones(self.motors)
"""


def test_a_class_of_the_users_is_a_controller_in_every_process(ant: Twin, tmp_path: Path) -> None:
    (tmp_path / "hop.py").write_text(HOP, encoding="utf-8")
    settings = ControllerSettings(kind="python", function=f"{tmp_path / 'hop.py'}:Hop", seconds=1.0)
    hops = pickle.loads(pickle.dumps(make_controllers(settings, ant)))
    assert hops.space.named(hops.space.start) == {"depth": 0.1}
    np.testing.assert_allclose(hops.commands([[0.2]])[0, :, 3], 0.2 * np.sin(0.02 * np.arange(50)))
    assert "depth = 0.3" in hops.text("found", [0.3], "")
    (tmp_path / "none.py").write_text("class None_:\n    def __init__(self, table): ...\n", encoding="utf-8")
    with pytest.raises(UsageError, match="it needs `numbers`"):
        make_controllers(dataclasses.replace(settings, function=f"{tmp_path / 'none.py'}:None_"), ant)
    with pytest.raises(UsageError, match=r"has no class or function 'Hob' for the controller\. Did you mean 'Hop'"):
        make_controllers(dataclasses.replace(settings, function=f"{tmp_path / 'hop.py'}:Hob"), ant)


def test_mistakes_in_other_controllers_are_named(ant: Twin, spark: Twin) -> None:
    with pytest.raises(NutmegError, match="frame9"):
        make_controllers(ControllerSettings(kind="keyframes", gait="kick", search=("frame9.*",)), spark)
    with pytest.raises(UsageError, match=r"takes 1\.\d* s, but a trial only 1 s"):
        make_controllers(ControllerSettings(kind="keyframes", gait="kick", seconds=1.0), spark)
    with pytest.raises(UsageError, match="is for the robot 'nao-v6', not for 'nao-spark'"):
        make_controllers(ControllerSettings(kind="walk", gait="nao-v6-ideal"), spark)
    with pytest.raises(ValueError, match="needs `gait`"):
        ControllerSettings(kind="walk")
    with pytest.raises(ValueError, match="needs `function`"):
        ControllerSettings(kind="python")
    with pytest.raises(NutmegError, match="Did you mean 'phase'"):
        ControllerSettings(gait="tripod", search=("phases",))
