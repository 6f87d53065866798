"""N worlds: the same at any number of threads, alone or together, after a reset; parking; divergence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import ModelError, SimulationError, UnknownNameError
from nutmeg.model import Placement, Scene, SceneSettings, assemble, load_robot
from nutmeg.recording import Recording
from nutmeg.sim import Worlds
from nutmeg.sim.ode_step import begin_step, finish_step, places, solve_step
from nutmeg.sim.schedule import Schedule
from nutmeg.sim.sensing import Sensing
from nutmeg.sim.trace import TraceWriter
from nutmeg.sim.worlds import SingleWorld, steps_in


@pytest.fixture(scope="module")
def zoo() -> Scene:
    robots = (
        Placement(robot="nao-v6", name="nao", pos=(-0.4, 0)),
        Placement(robot="ant", name="ant", pos=(0.4, 0.1), height=0.02),
        Placement(robot="nao-spark", name="spark", pos=(0.4, 1.0)),
    )
    return assemble(SceneSettings(field="spl2025", robots=robots, visuals=False))


@pytest.fixture(scope="module")
def ant() -> Scene:
    return assemble(
        SceneSettings(ball="none", robots=(Placement(robot="ant", name="ant", height=0.01),), visuals=False)
    )


def sway(worlds: Worlds, time: float) -> None:
    """Every world moves differently."""
    phase = np.arange(worlds.count)[:, None] + np.arange(worlds.scene.model.nu)
    worlds.batch.ctrl[:] = worlds.scene.commands + 0.2 * np.sin(5 * time + phase)


def run(worlds: Worlds, cycles: int = 25) -> Floats:
    for cycle in range(cycles):
        sway(worlds, cycle * 0.02)
        worlds.advance(0.02)
    return np.concatenate([worlds.qpos, worlds.qvel], axis=1)


def test_results_are_bit_identical_at_any_number_of_threads(zoo: Scene) -> None:
    one, two, three = (run(Worlds(zoo, 5, threads=t)) for t in (1, 2, 3))
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)
    assert not np.array_equal(one[0], one[1])


@pytest.mark.parametrize("world", [0, 2])
def test_a_noisy_run_has_the_same_recording_at_any_number_of_threads(zoo: Scene, tmp_path: Path, world: int) -> None:
    def record(threads: int, seed: int) -> str:
        worlds = Worlds(zoo, 3, threads=threads)
        rng = np.random.default_rng(seed)
        senses = [Sensing(worlds, name, rng) for name in ("nao", "ant", "spark")]
        schedule = Schedule(worlds)
        path = tmp_path / f"{threads}-{seed}.nutmeg"
        with TraceWriter(path, worlds, world=world, seed=5, senses=senses) as trace:
            schedule.every(0.02, lambda now: sway(worlds, now))
            for sense in senses:
                schedule.every(0.02, sense.sample)
            schedule.every(0.02, trace.sample)
            schedule.run(0.4)
        recording = Recording.open(path)
        assert len(recording) == 21
        assert not recording.problems
        return recording.content_hash()

    once = record(1, 5)
    assert record(2, 5) == once
    assert record(1, 6) != once


def test_a_world_of_a_batch_moves_as_it_would_alone(zoo: Scene) -> None:
    together = Worlds(zoo, 4)
    alone = Worlds(zoo, 1)
    for cycle in range(20):
        sway(together, cycle * 0.02)
        alone.batch.ctrl[0] = together.batch.ctrl[2]
        together.advance(0.02)
        alone.advance(0.02)
    assert np.array_equal(together.qpos[2], alone.qpos[0])
    assert np.array_equal(together.qvel[2], alone.qvel[0])


def test_sensing_does_not_change_what_happens(zoo: Scene) -> None:
    plain, sensed = Worlds(zoo, 2), Worlds(zoo, 2)
    run(plain, 5)
    run(sensed, 5)
    senses = Sensing(sensed, "nao", np.random.default_rng(1))
    for cycle in range(10):
        for worlds in (plain, sensed):
            sway(worlds, cycle * 0.02)
            worlds.advance(0.02)
        senses.sample(0.0)
    assert np.array_equal(plain.qpos, sensed.qpos)


def test_a_reset_restores_the_start_exactly(zoo: Scene) -> None:
    worlds = Worlds(zoo, 3)
    before = worlds.batch.state.copy()
    first = run(worlds)
    worlds.robot("nao").push((10.0, 0, 0))
    worlds.robot("ant").park()
    worlds.advance(0.02)
    worlds.reset()
    assert np.array_equal(worlds.batch.state, before)
    assert (worlds.time == 0).all()
    assert np.array_equal(run(worlds), first)


def test_a_reset_of_some_worlds_leaves_the_others_alone(zoo: Scene) -> None:
    worlds = Worlds(zoo, 3)
    run(worlds, 5)
    before = worlds.batch.state.copy()
    worlds.reset([1])
    assert np.array_equal(worlds.batch.state[[0, 2]], before[[0, 2]])
    assert np.array_equal(worlds.qpos[1], zoo.start)
    assert worlds.time[1] == 0


def test_what_is_derived_is_current_after_a_reset(ant: Scene) -> None:
    worlds = Worlds(ant, 2)
    places, readings = worlds.batch.bind("xpos"), worlds.batch.bind("sensordata")
    worlds.reset()
    start, felt = places.copy(), readings.copy()
    run(worlds)
    assert not np.array_equal(places, start)
    worlds.reset()
    assert np.array_equal(places, start)
    assert np.array_equal(readings, felt)


def test_state_arrays_are_live(ant: Scene) -> None:
    worlds = Worlds(ant, 2)
    robot = worlds.robot("ant")
    robot.angles[1, 0] = 0.123
    assert worlds.qpos[1, robot.table.angles[0]] == 0.123
    robot.command[0, 3] = 0.5
    assert worlds.batch.ctrl[0, robot.table.commands[3]] == 0.5
    robot.velocity[1, 0] = 2.0
    x = robot.pose[1, 0]
    worlds.step()
    assert robot.pose[1, 0] == pytest.approx(x + 2.0 * ant.timestep, rel=0.05)


def test_a_copy_cannot_be_mistaken_for_the_state(zoo: Scene) -> None:
    spark = Worlds(zoo).robot("spark")  # its joints have rotors in between
    with pytest.raises(ValueError, match="read-only"):
        spark.angles[0, 0] = 1.0


def test_a_push_moves_a_robot_by_its_impulse() -> None:
    robots = (Placement(robot="ant", name="ant"),)
    worlds = Worlds(assemble(SceneSettings(field="none", ball="none", robots=robots, visuals=False)), 2)
    ant = worlds.robot("ant")
    ant.push([[3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    worlds.advance(0.2)
    momentum = []
    for world in range(2):
        model, data = worlds.scene.model, worlds.batch.get_data(world)
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        momentum.append(float(data.subtree_linvel[ant.table.body, 0] * model.body_subtreemass[ant.table.body]))
    assert momentum == pytest.approx([3.0 * 0.2, 0.0], abs=1e-5)


def test_worlds_of_scenes_differ_in_the_lengths_of_their_robots() -> None:
    femur = next(name for name in sorted(load_robot("ant").parameters) if "emur" in name)
    placements = [Placement(robot="ant", name="ant", parameters={femur: length}) for length in (1.0, 1.3, 0.8)]
    scenes = [assemble(SceneSettings(ball="none", visuals=False, robots=(p,))) for p in placements]
    assert len({float(scene.start[2]) for scene in scenes}) > 1
    worlds = Worlds.of(scenes, threads=2)
    together = run(worlds)
    for index, scene in enumerate(scenes):
        alone = Worlds(scene)
        assert np.array_equal(alone.qpos[0], scene.start)
        for cycle in range(25):
            phase = index + np.arange(scene.model.nu)
            alone.batch.ctrl[0] = scene.commands + 0.2 * np.sin(5 * (cycle * 0.02) + phase)
            alone.advance(0.02)
        assert np.array_equal(together[index, : scene.model.nq], alone.qpos[0])
        assert worlds.scene_of(index) is scene
    worlds.reset([1])
    assert np.array_equal(worlds.qpos[1], scenes[1].start)


def test_worlds_of_scenes_hold_and_activate_each_in_its_own_start() -> None:
    def scene(pose: str, kind: str) -> Scene:
        placement = Placement(robot="nao-spark", name="n", pose=pose, type=kind)
        return assemble(SceneSettings(ball="none", visuals=False, physics="standard", robots=(placement,)))

    scenes = [scene("ready", "type0"), scene("ready", "type1")]
    worlds = Worlds.of(scenes)
    worlds.robot("n").activate(1.0, 2.0, 0.0)
    for index, own in enumerate(scenes):
        root = own.robots[0].root
        assert worlds.qpos[index, root + 2] == own.start[root + 2]
    assert worlds.qpos[0, 2] != worlds.qpos[1, 2]

    naos = [
        assemble(SceneSettings(ball="none", visuals=False, robots=(Placement(robot="nao-v6", name="n", pose=p),)))
        for p in ("ready", "sit")
    ]
    worlds = Worlds.of(naos)
    for index, own in enumerate(naos):
        assert np.array_equal(worlds.batch.ctrl[index], own.commands)
        assert np.array_equal(worlds.batch.act[index], own.setpoints)


def test_scenes_with_different_parts_cannot_share_a_batch(ant: Scene, zoo: Scene) -> None:
    with pytest.raises(ModelError, match="do not have the same parts"):
        Worlds.of([ant, zoo])
    with pytest.raises(ModelError, match="at least one"):
        Worlds.of([])
    with pytest.raises(ModelError, match="at least one world, 0"):
        Worlds(ant, 0)


@pytest.fixture(scope="module")
def substitutes() -> Scene:
    robots = (
        Placement(robot="nao-v6", name="plays", pos=(0.0, 0.0)),
        Placement(robot="nao-v6", name="waits", parked=True),
    )
    return assemble(SceneSettings(field="spl2025", ball="none", robots=robots, visuals=False))


def test_a_parked_robot_stays_far_away_and_disturbs_nobody(substitutes: Scene) -> None:
    worlds = Worlds(substitutes)
    assert worlds.robot("waits").parked.all()
    assert not worlds.robot("plays").parked.any()
    start = worlds.robot("waits").pose[0, :3].copy()
    worlds.robot("waits").command += 0.5
    worlds.advance(2.0)
    assert worlds.robot("waits").pose[0, 0] < -5
    assert np.linalg.norm(worlds.robot("waits").pose[0, :3] - start) < 0.02
    lonely = Placement(robot="nao-v6", name="plays", pos=(0.0, 0.0))
    alone = Worlds(assemble(SceneSettings(field="spl2025", ball="none", robots=(lonely,), visuals=False)))
    alone.advance(2.0)
    assert worlds.robot("plays").pose[0] == pytest.approx(alone.robot("plays").pose[0], abs=1e-5)


def test_parking_and_activating_needs_no_new_model(substitutes: Scene) -> None:
    worlds = Worlds(substitutes, 2)
    model, waits = worlds.batch.model, worlds.robot("waits")
    waits.activate(1.0, 0.5, 0.7, ids=[1])
    assert waits.parked.tolist() == [True, False]
    worlds.advance(3.0)
    assert waits.pose[1, :2] == pytest.approx([1.0, 0.5], abs=0.03)
    assert waits.uprightness()[1] > 0.99
    assert waits.pose[0, 0] < -5
    waits.park(ids=[1])
    assert waits.parked.all()
    assert not waits.rates[1].any()
    worlds.advance(1.0)
    assert waits.pose[1] == pytest.approx(waits.pose[0], abs=0.01)
    assert worlds.batch.model is model is substitutes.model


def test_the_ball_is_put_on_the_ground_or_in_the_air(zoo: Scene) -> None:
    worlds = Worlds(zoo, 2)
    assert worlds.ball is not None
    worlds.put_ball((1.0, -1.0), (0.5, 0, 0), ids=[1])
    assert worlds.ball[1, :2].tolist() == [1.0, -1.0]
    assert worlds.ball[1, 2] == worlds.ball[0, 2]
    worlds.advance(0.2)
    assert 1.0 + 0.5 * 0.2 * 5 / 7 - 0.02 < worlds.ball[1, 0] < 1.1  # it slides until it rolls at 5/7 of the speed
    worlds.put_ball((0, 2, 1.5))
    worlds.advance(0.2)
    assert worlds.ball[:, 2] == pytest.approx(1.5 - 9.81 * 0.2**2 / 2, abs=0.01)


def test_without_a_ball_there_is_none_to_put(ant: Scene) -> None:
    worlds = Worlds(ant)
    assert worlds.ball is None
    with pytest.raises(ModelError, match="no ball"):
        worlds.put_ball((0, 0))


def test_a_misspelt_robot_suggests_the_nearest(zoo: Scene) -> None:
    with pytest.raises(
        UnknownNameError, match=r"'spakr'\. Did you mean 'spark'\? Known robots in this scene: ant, nao"
    ):
        Worlds(zoo).robot("spakr")


@pytest.mark.parametrize("value", [np.nan, 1e13])
def test_a_run_that_diverges_names_time_world_and_joint(ant: Scene, value: float) -> None:
    worlds = Worlds(ant, 3)
    schedule = Schedule(worlds)

    def break_it(now: float) -> None:
        if now > 0.05:
            worlds.robot("ant").rates[1, 4] = value

    schedule.every(0.02, break_it)
    joint = worlds.robot("ant").table.joints[4]
    with pytest.raises(SimulationError) as caught:
        schedule.run(1.0)
    message = str(caught.value)
    assert worlds.diverged().tolist() == [False, True, False]
    assert "t = 0.080 s" in message
    assert "world 1 (1 of 3 worlds)" in message
    assert f"ant/{joint}" in message
    assert "smaller timestep" in message
    assert "moves at 0" not in message


def test_a_world_that_diverges_writes_nothing_to_terminal_and_folder_and_other_warnings_are_told(
    ant: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    worlds = Worlds(ant, 2, threads=2)
    worlds.qvel[1, 0] = np.nan
    worlds.step(2)
    assert worlds.diverged().tolist() == [False, True]
    assert capfd.readouterr().err == ""
    mujoco.get_mju_user_warning()("Contact buffer is full.")
    assert "MuJoCo: Contact buffer is full." in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_reset_world_is_no_longer_diverged(ant: Scene) -> None:
    worlds = Worlds(ant, 2)
    worlds.qvel[1, 0] = 1e13
    worlds.step(2)
    assert worlds.diverged().tolist() == [False, True]
    worlds.reset([1])
    worlds.step(2)
    assert not worlds.diverged().any()


@pytest.mark.parametrize(
    ("seconds", "timestep", "steps"),
    # MJCF has six digits: a cycle has a whole number of steps all the same.
    [(0.02, 0.004, 5), (10.0, 0.004, 2500), (0.3, 0.1, 3), *((0.02, float(f"{0.02 / k:.6g}"), k) for k in (3, 6, 7))],
)
def test_a_time_is_a_whole_number_of_steps(seconds: float, timestep: float, steps: int) -> None:
    assert steps_in(seconds, timestep) == steps


@pytest.mark.parametrize(("seconds", "timestep"), [(0.02, 0.003), (0.0201, 0.005), (1000.0005, 0.001), (0.0, 0.004)])
def test_a_time_that_is_no_whole_number_of_steps_is_refused(ant: Scene, seconds: float, timestep: float) -> None:
    with pytest.raises(ModelError, match="not a whole number of physics steps"):
        steps_in(seconds, timestep)
    with pytest.raises(ModelError, match=r"0\.0041 s is not a whole number of physics steps of 0\.004 s"):
        Worlds(ant).advance(0.0041)


# ----------------------------------------------------------------------------------------------------
# One world stepped in two halves.


@pytest.fixture(scope="module")
def scene() -> Scene:
    robots = tuple(Placement(robot="nao-spark", name=f"r{i}", pos=(i, 0.0), parked=i == 1) for i in range(2))
    return assemble(SceneSettings(field="sim3d", robots=robots, ball_pos=(0.3, 0.0), visuals=False))


def whole_step(world: SingleWorld, between: Callable[[], None] = lambda: None) -> None:
    """A whole step, with a look at its contacts when their forces are known."""
    world.refresh()
    solve_step(*world.addresses, places())
    between()
    finish_step(*world.addresses)
    begin_step(*world.addresses, places())


def test_it_moves_as_many_worlds_do_to_the_last_bit(scene: Scene) -> None:
    single, worlds = SingleWorld(scene), Worlds(scene)
    single.hold(scene.robots[0], parked=False)
    for step in range(60):
        speeds = np.sin(0.3 * step + np.arange(22))
        single.ctrl[scene.robots[0].commands] = speeds
        worlds.robots[0].command = speeds[None]
        whole_step(single)
        worlds.step()
    assert np.array_equal(single.qvel, worlds.qvel[0])
    # The league's engine turns joints a little less than their speeds say: `worlds` does that in its next step.
    assert single.qpos == pytest.approx(worlds.qpos[0], abs=1e-3)
    assert np.array_equal(single.qpos[:7], worlds.qpos[0, :7])


def test_places_of_bodies_are_those_of_the_present_state(scene: Scene) -> None:
    world, torso = SingleWorld(scene), scene.robots[0]
    world.data.qvel[torso.root_rate] = 1.0
    whole_step(world)
    assert world.data.xpos[torso.body] == pytest.approx(world.qpos[torso.root : torso.root + 3], abs=1e-15)


def test_forces_of_contacts_carry_the_robot(scene: Scene) -> None:
    world = SingleWorld(scene)
    world.hold(scene.robots[0], parked=False)
    carried: list[float] = []

    def weigh() -> None:
        contact, model = world.data.contact, world.model
        mine = model.body_rootid[model.geom_bodyid[contact.geom]] == scene.robots[0].body
        rows = contact.efc_address[mine.any(axis=1) & (contact.efc_address >= 0)]
        carried.append(float(world.data.efc_force[rows + 4].sum() + world.data.efc_force[rows + 5].sum()))

    for _ in range(100):
        whole_step(world, weigh)
    mass = world.model.body_subtreemass[scene.robots[0].body]
    assert np.mean(carried[-20:]) == pytest.approx(9.81 * mass, rel=0.01)


def test_another_integrator_is_refused() -> None:
    scene = assemble(SceneSettings(field="floor", ball="none", physics="standard", visuals=False))
    with pytest.raises(ModelError, match="needs the integrator euler; this scene has implicitfast"):
        SingleWorld(scene)
