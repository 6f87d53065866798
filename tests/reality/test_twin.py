"""The twin: the same as scenes put together by hand, flattened or one at a time, whatever the threads or process."""

from __future__ import annotations

import dataclasses
import importlib.util
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import (
    EnvironmentProblem,
    MissingExtraError,
    ModelError,
    NutmegError,
    UnknownNameError,
    UsageError,
)
from nutmeg.model import Adjustment, Placement, SceneSettings, assemble
from nutmeg.reality.twin import SCENES_KEPT, Searched, Trial, Twin, TwinSettings, TwinTogether
from nutmeg.reality.twin import _scene as scenes
from nutmeg.sim import Worlds
from nutmeg.sim.rollout import CommandSeries, Rollout, roll_out
from nutmeg.sim.worlds import StartState

installed = pytest.mark.skipif(
    importlib.util.find_spec("mujoco_warp") is None,
    reason="mujoco_warp is not installed (pip install 'nutmeg-sim[gpu]')",
)
BENCH = str(Path(__file__).parents[2] / "examples" / "servo_xl330")
LENGTHS = {
    "femur": Searched(low=0.6, high=1.4, start=1.0, sets=("robot.L1_femur", "robot.R3_femur"), relative=True),
    "tibia mass": Searched(low=0.5, high=2.0, sets=("mass.*Tibia",), relative=True),
}
MASSES = {
    "tibia mass": Searched(low=0.01, high=0.1, unit="kg", sets=("mass.*Tibia",)),
    "stiffness": Searched(low=0.5, high=2.0, sets=("drives.*.stiffness",), relative=True),
    "delay": Searched(low=0.0, high=0.1, unit="s", sets=("delay",)),
}


def swing(rows: int, *, name: str = "swing", period: float = 0.02, **more: object) -> Trial:
    times = np.arange(rows)[:, None] * period
    commands = 0.3 * np.sin(7 * times + np.arange(18)) * np.minimum(times / 0.2, 1)
    return Trial(name=name, period=period, commands=commands, **more)  # type: ignore[arg-type]


def equal(one: Rollout, other: Rollout) -> bool:
    return np.array_equal(one.angles, other.angles, equal_nan=True) and np.array_equal(one.frames, other.frames)


def by_hand(trial: Trial, *adjustments: Adjustment) -> Floats:
    placement = Placement(robot="ant", name="robot", adjustments=adjustments)
    scene = assemble(SceneSettings(ball="none", robots=(placement,), visuals=False))
    return np.asarray(
        roll_out(Worlds(scene), "robot", CommandSeries(values=trial.commands, period=trial.period)).angles[0]
    )


def test_a_rebuilt_morphology_is_what_assembling_by_hand_gives() -> None:
    twin, trial = Twin(TwinSettings(robot="ant"), LENGTHS), swing(40)
    found = twin.simulate([[0.8, 1.3], [1.2, 0.9]], [trial])[0]
    expected = by_hand(
        trial,
        Adjustment(target="robot.L1_femur", value=0.8, relative=True),
        Adjustment(target="robot.R3_femur", value=0.8, relative=True),
        Adjustment(target="mass.*Tibia", value=1.3, relative=True),
    )
    assert np.array_equal(found.angles[0], expected)
    assert not np.allclose(found.angles[1], expected, atol=1e-3)
    assert found.joints == twin.table.joints


@pytest.mark.parametrize("searched", [LENGTHS, MASSES], ids=["rebuilt", "fields"])
def test_flattened_or_one_at_a_time_it_is_the_same_to_the_last_bit(searched: dict[str, Searched]) -> None:
    twin = Twin(TwinSettings(robot="ant"), searched)
    heavy = (Adjustment(target="mass.Torso", value=1.5, relative=True),)
    trials = [swing(30), swing(50, name="long"), swing(20, name="heavy", conditions=heavy), swing(60, period=0.012)]
    candidates = twin.space.values(np.random.default_rng(3).random((4, twin.space.size)))
    together = twin.simulate(candidates, trials)
    two = Twin(TwinSettings(robot="ant"), searched, threads=2)
    assert all(equal(a, b) for a, b in zip(together, two.simulate(candidates, trials), strict=True))
    for number, candidate in enumerate(candidates):
        for trial, rollout in zip(trials, together, strict=True):
            alone = twin.simulate(candidate[None], [trial])[0]
            assert np.array_equal(alone.angles[0], rollout.angles[number])
            assert rollout.angles.shape == (4, len(trial), 18)
    assert not np.allclose(together[0].angles[:, :20], together[2].angles, atol=1e-4)


def test_a_twin_sent_to_another_process_simulates_the_same() -> None:
    twin = Twin(TwinSettings(robot="ant"), MASSES)
    sent: Twin = pickle.loads(pickle.dumps(twin))
    assert equal(sent.simulate([[0.03, 1.1, 0.01]], [swing(20)])[0], twin.simulate([[0.03, 1.1, 0.01]], [swing(20)])[0])


def test_the_delay_of_a_candidate_shifts_its_commands() -> None:
    twin, trial = Twin(TwinSettings(robot="ant", held=True, height=0.2), MASSES), swing(40)
    found = twin.simulate([[0.025, 1.0, 0.0], [0.025, 1.0, 0.06]], [trial])[0].angles
    assert np.allclose(found[1, 4:], found[0, 1:-3], atol=0.02)
    assert not np.allclose(found[1], found[0], atol=0.05)


def test_a_searched_length_is_that_of_the_swinging_pendulum() -> None:
    settings = TwinSettings(robot=BENCH, field="none", timestep=0.001)
    twin = Twin(settings, {"length": Searched(low=0.05, high=0.2, unit="m")})
    rows = 3000
    trial = Trial(
        name="free",
        period=0.001,
        commands=np.zeros((rows, 1)),
        start=StartState(angles=np.array([0.05])),
        powered=np.zeros(rows, bool),
    )
    lengths = np.array([0.06, 0.1, 0.19])
    found = twin.simulate(lengths[:, None], [trial])[0].angles[..., 0]
    inertia = 0.49 * lengths**2 + 1e-5 + 0.0017
    expected = 2 * np.pi * np.sqrt(inertia / (0.49 * 9.81 * lengths))
    for angle, period in zip(found, expected, strict=True):
        falling = np.flatnonzero((angle[:-1] > 0) & (angle[1:] <= 0))
        assert np.diff(falling).mean() * 0.001 == pytest.approx(period, rel=2e-3)


def test_plain_values_come_before_relative_ones_wherever_they_are_said() -> None:
    conditions = (Adjustment(target="mass.*Tibia", value=2.0, relative=True),)
    twin = Twin(TwinSettings(robot="ant"), {"mass": MASSES["tibia mass"]})
    found = twin.simulate([[0.03]], [swing(30, conditions=conditions)])[0]
    assert np.array_equal(found.angles[0], by_hand(swing(30), Adjustment(target="mass.*Tibia", value=0.06)))


def test_a_searched_time_step_is_a_whole_part_of_the_period() -> None:
    step = {"step": Searched(low=0.001, high=0.01, unit="s", sets=("physics.timestep",))}
    twin = Twin(TwinSettings(robot="ant"), step)
    fine, near, coarse = twin.simulate([[0.002], [0.00205], [0.01]], [swing(20)])[0].angles
    assert np.array_equal(fine, near)
    assert np.array_equal(fine, by_hand(swing(20), Adjustment(target="physics.timestep", value=0.002)))
    assert not np.allclose(fine, coarse, atol=1e-4)


def test_a_candidate_that_cannot_be_built_fails_alone() -> None:
    twin = Twin(TwinSettings(robot="ant"), {"femur": Searched(low=-1.0, high=1.4, start=1.0, sets=("robot.L1_femur",), relative=True)})  # fmt: skip  # noqa: E501
    found = twin.simulate([[1.0], [-0.5]], [swing(10)])[0]
    assert found.diverged.tolist() == [False, True]
    assert found.frames.tolist() == [10, 0]
    assert np.isnan(found.angles[1]).all()
    gain = Twin(TwinSettings(robot="ant"), {"gain": Searched(low=-1.0, high=1.4, start=1.0, sets=("drives.*.stiffness",), relative=True)})  # fmt: skip  # noqa: E501
    found = gain.simulate([[-0.5], [1.0]], [swing(10)])[0]
    assert found.diverged.tolist() == [True, False]
    assert np.array_equal(found.angles[1], by_hand(swing(10)))


def test_mistakes_are_seen_when_the_twin_is_made() -> None:
    with pytest.raises(UnknownNameError, match="femurr"):
        Twin(TwinSettings(robot="ant"), {"femurr": Searched(low=0.5, high=1.0)})
    with pytest.raises(NutmegError, match="drivs"):
        Twin(TwinSettings(robot="ant"), {"gain": Searched(low=0.5, high=1.0, sets=("drivs.*.stiffness",))})
    twin = Twin(TwinSettings(robot="ant"), LENGTHS)
    with pytest.raises(UsageError, match="allowed is"):
        twin.simulate([[9.0, 1.0]], [swing(10)])
    with pytest.raises(UsageError, match="not a number"):
        Trial(name="bad", period=0.02, commands=np.full((3, 18), np.nan))


def test_every_scene_is_made_once_however_many_there_are_and_few_are_kept() -> None:
    twin, count = Twin(TwinSettings(robot="ant"), LENGTHS), SCENES_KEPT + 6
    rows = np.column_stack([np.linspace(0.7, 1.3, count), np.ones(count)])
    before = scenes.cache_info().misses
    twin.simulate(rows, [swing(2), swing(3, name="other")])
    assert scenes.cache_info().misses - before <= count + 1
    assert scenes.cache_info().currsize <= SCENES_KEPT


def test_servos_that_change_with_their_load_are_looked_after_by_python() -> None:
    assert not Twin(TwinSettings(robot="ant"), LENGTHS).looked_after
    servo = TwinSettings(robot=BENCH, actuation=f"{BENCH}/servo.toml", field="none")
    squeeze = Searched(low=0.0, high=4.0, start=1.0, sets=("servo.xl330.squeeze_friction",))
    assert Twin(servo, {"squeeze": squeeze}).looked_after


def test_a_joint_zero_shifts_commands_start_and_angles_as_an_encoder_does(pendulum: Twin) -> None:
    searched = {"zero": Searched(low=-0.3, high=0.3, start=0.0, unit="rad", sets=("zero.swing",))}
    twin = Twin(pendulum.settings, searched)
    commands = 0.4 * np.sin(np.arange(60)[:, None] * 0.1)
    start = StartState(angles=np.array([0.1]), command=commands[0])
    plain = Trial(name="plain", period=0.02, commands=commands, start=start)
    moved = StartState(angles=np.array([0.3]), command=commands[0] + 0.2)
    read = Trial(name="read", period=0.02, commands=commands + 0.2, start=moved)
    (expected,) = twin.simulate([[0.0]], [plain])
    (found,) = twin.simulate([[0.2], [0.0]], [read])
    np.testing.assert_allclose(found.angles[0], expected.angles[0] + 0.2, atol=1e-12)
    assert np.abs(found.angles[1] - found.angles[0]).max() > 0.005, "gravity acts on the joint, not on its encoder"
    with pytest.raises(UnknownNameError, match="swign"):
        Twin(pendulum.settings, {"zero": Searched(low=-0.3, high=0.3, sets=("zero.swign",))})


def test_candidates_differ_in_how_their_firmware_rounds_commands() -> None:
    bench = Path(__file__).parents[2] / "examples" / "servo_xl330"
    searched = {"step": Searched(low=0.0, high=1.0, start=0.0, sets=("servo.xl330.goal_step",))}
    settings = TwinSettings(robot=str(bench), actuation=str(bench / "servo.toml"), field="none", timestep=0.004)
    trials = [Trial(name=str(goal), period=0.02, commands=np.full((60, 1), goal)) for goal in (0.3, 0.5)]
    lower, upper = (one.angles[:, -1, 0] for one in Twin(settings, searched).simulate([[0.0], [0.5]], trials))
    assert lower[1] == upper[1] == upper[0], "0.3 is rounded to 0.5"
    assert lower[0] < 0.8 * upper[0]


def test_a_number_that_two_parameters_set_is_refused(pendulum: Twin) -> None:
    rubs = {name: Searched(low=0.01, high=0.2, sets=("joint.swing.damping",)) for name in ("damping", "rubbing")}
    with pytest.raises(UsageError, match=r"'damping' and 'rubbing' are both searched, and both set 'joint.swing.dam"):
        Twin(pendulum.settings, rubs)
    rubs["rubbing"] = dataclasses.replace(rubs["rubbing"], relative=True)
    assert Twin(pendulum.settings, rubs).space.size == 2, "one multiplies the other"


def test_the_profile_of_a_servo_can_be_searched_from_no_limit_on() -> None:
    bench = Path(__file__).parents[2] / "examples" / "servo_xl330"
    settings = TwinSettings(robot=str(bench), actuation=str(bench / "kp200.toml"), field="none", timestep=0.002)
    searched = {
        "speed": Searched(low=0.0, high=9.0, start=0.0, sets=("servo.xl330.profile_speed",)),
        "acceleration": Searched(low=0.0, high=90.0, start=0.0, sets=("servo.xl330.profile_acceleration",)),
    }
    trial = Trial(name="step", period=0.01, commands=np.full((30, 1), 0.8))
    (rollout,) = Twin(settings, searched).simulate([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0]], [trial])
    free, fast, soft, softest = rollout.angles[:, -1, 0]
    assert free > fast > soft > 0.0
    assert soft == pytest.approx(softest, abs=1e-6), "half a second is too short to reach 1 rad/s"


@installed
@pytest.mark.slow
def test_candidates_move_on_a_device_as_on_the_processor() -> None:
    # In the air: where a foot touches the ground a step sooner in one engine, robots go apart.
    settings = TwinSettings(robot="ant", held=True, height=0.2)
    searched = {**LENGTHS, **{name: MASSES[name] for name in ("stiffness", "delay")}}
    here, there = (Twin(dataclasses.replace(settings, device=name), searched) for name in ("cpu", "warp-cpu"))
    motors = len(here.table.motors)
    times = np.arange(40)[:, None] * 0.02
    commands = 0.3 * np.sin(7 * times + np.arange(motors)) * np.minimum(times / 0.2, 1)
    trials = [
        Trial(name="whole", period=0.02, commands=commands),
        Trial(name="released", period=0.02, commands=commands[:25], powered=np.arange(25) < 15),
    ]
    rows = here.space.values(np.random.default_rng(2).random((3, len(searched))))
    series = ("rates", "torque")
    for one, other in zip(*(twin.simulate(rows, trials, observe=series) for twin in (here, there)), strict=True):
        assert not one.diverged.any()
        assert one.frames.tolist() == other.frames.tolist()
        assert np.ptp(one.angles[0], axis=0).max() > 0.1
        assert np.abs(one.angles[1] - one.angles[0]).max() > 0.01, "candidates differ"
        np.testing.assert_allclose(other.angles, one.angles, atol=1e-4)
        np.testing.assert_allclose(other.sensors["rates"], one.sensors["rates"], atol=2e-2)
        np.testing.assert_allclose(other.sensors["torque"], one.sensors["torque"], atol=2e-3)


@installed
def test_a_robot_that_a_device_cannot_simulate_is_refused_when_the_twin_is_made() -> None:
    with pytest.raises(ModelError, match="native_profile"):
        Twin(
            TwinSettings(robot="nao-spark", device="warp-cpu"), {"mass": Searched(low=0.5, high=2.0, sets=("mass.*",))}
        )


def test_a_twin_on_a_gpu_that_is_not_there_says_so() -> None:
    if importlib.util.find_spec("mujoco_warp") is not None:
        import warp

        warp.init()
        if warp.is_cuda_available():
            pytest.skip("there is a CUDA device")
    with pytest.raises((MissingExtraError, EnvironmentProblem), match=r"nutmeg-sim\[gpu\]|no CUDA device"):
        Twin(TwinSettings(robot="ant", device="gpu"), LENGTHS)


def test_candidates_of_several_searches_are_simulated_together_and_each_gets_its_own() -> None:
    settings, trial = TwinSettings(robot="ant", held=True, height=0.2), swing(20)
    alone, together = Twin(settings, LENGTHS), TwinTogether(settings, LENGTHS, searches=2)
    rows = alone.space.values(np.random.default_rng(3).random((3, len(LENGTHS))))

    def search(mine: slice) -> Rollout:
        found = together.simulate(rows[mine], [trial], observe=("rates",))[0]
        together.leave()
        return found

    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(search, (slice(0, 1), slice(1, 3))))
    for mine, part in zip((slice(0, 1), slice(1, 3)), parts, strict=True):
        wanted = alone.simulate(rows[mine], [trial], observe=("rates",))[0]
        assert equal(part, wanted)
        np.testing.assert_array_equal(part.sensors["rates"], wanted.sensors["rates"])


def test_searches_that_simulate_together_have_the_same_trials() -> None:
    twin = TwinTogether(TwinSettings(robot="ant"), LENGTHS, searches=2)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(twin.simulate, twin.space.start[None], [swing(rows)]) for rows in (3, 4)]
    assert all("same trials" in str(one.exception()) for one in waiting)


@installed
@pytest.mark.slow
def test_scenes_for_a_device_are_the_same_from_processes() -> None:
    settings = TwinSettings(robot="ant", device="warp-cpu")
    twins = [Twin(settings, LENGTHS, threads=threads) for threads in (1, 2)]
    rows = twins[0].space.values(np.random.default_rng(4).random((40, len(LENGTHS))))
    here, there = ([scene.model.body_mass for scene in twin._scenes(rows, swing(3)) if scene] for twin in twins)
    np.testing.assert_array_equal(here, there)


@installed
@pytest.mark.slow
def test_a_device_keeps_its_worlds_and_gives_the_next_candidates_their_own_numbers() -> None:
    settings = TwinSettings(robot="nao-v4", actuation="motoflex", timestep=0.004)
    searched = {"play": Searched(low=0.3, high=2.0, start=1.0, sets=("gear.*.play",), relative=True)} | {
        "stiffness": Searched(low=0.5, high=2.0, start=1.0, sets=("flex.*.stiffness",), relative=True)
    }
    here, there = (Twin(dataclasses.replace(settings, device=name), searched) for name in ("cpu", "warp-cpu"))
    sway = 0.2 * np.sin(np.arange(25)[:, None] * 0.3 + np.arange(len(here.table.motors)))
    start = here.base.commands[here.table.commands]
    trial = Trial(name="sway", period=0.02, commands=start + sway * np.linspace(0, 1, 25)[:, None])
    kept: list[Worlds | None] = []
    for seed in (1, 2):
        rows = here.space.values(np.random.default_rng(seed).random((2, len(searched))))
        one, other = (twin.simulate(rows, [trial], fallen=0.5)[0] for twin in (here, there))
        np.testing.assert_allclose(other.angles, one.angles, atol=1e-4)
        assert np.abs(one.angles[1] - one.angles[0]).max() > 1e-3, "candidates differ"
        kept.append(there._device_worlds)
    assert kept[0] is kept[1] is not None
