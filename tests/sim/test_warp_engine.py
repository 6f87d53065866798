"""Worlds of `mujoco_warp`, state by state beside MuJoCo's, on Warp's processor device: no GPU is needed.

The tests run with `make test-device`, or where `pip install 'nutmeg-sim[gpu]'` was done; the first run compiles the
engine for a minute or two.
"""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from nutmeg.base.errors import EnvironmentProblem, MissingExtraError, ModelError, SimulationError
from nutmeg.model.physics import native_profile
from nutmeg.model.robot import load_robot
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.sim.worlds import StartState, Worlds, set_start_state

MISSING = importlib.util.find_spec("mujoco_warp") is None
installed = pytest.mark.skipif(MISSING, reason="mujoco_warp is not installed (pip install 'nutmeg-sim[gpu]')")
CASES = [
    ("nao-spark", "ideal"),
    ("nao-v6", "ideal"),
    ("nao-v6", "servo"),
    ("nao-v6", "motoflex"),
    ("nao-v4", "servo"),
    ("t1", "ideal"),
    ("ant", "ideal"),
    ("ers7", "ideal"),
    ("ers210", "ideal"),
]
USUAL, TOUCHING = 2e-5, 2e-2
"""How far a joint or the root may be off after a cycle from the same state [rad or m]: rounding to 32 bit, and where a
foot touches a step sooner here than there."""


def scene_of(robot: str, actuation: str = "ideal", *, ball: str = "none") -> Scene:
    placement = Placement(robot=robot, name="robot", actuation=actuation)
    physics = native_profile(load_robot(robot).physics)
    return assemble(SceneSettings(field="floor", ball=ball, robots=(placement,), physics=physics, visuals=False))


@installed
@pytest.mark.slow
@pytest.mark.parametrize(("robot", "actuation"), CASES)
def test_a_cycle_from_the_same_state_ends_as_mujocos(robot: str, actuation: str) -> None:
    scene = scene_of(robot, actuation)
    here, there = Worlds(scene, 2), Worlds(scene, 2, device="warp-cpu")
    rng, table = np.random.default_rng(5), here.robots[0].table
    position, off = np.array(table.drives) == "position", []
    for _ in range(15):
        for name in ("qpos", "qvel", "act", "history", "time", "qacc_warmstart"):
            there.batch.bind(name)[:] = here.batch.bind(name)
        sway = rng.normal(0.0, 0.1, (2, len(table.motors)))
        for worlds in (here, there):
            worlds.robots[0].command = np.where(position, worlds.robots[0].start, 0.0) + sway
            worlds.advance(0.02)
        off.append(np.abs(there.qpos - here.qpos).max(axis=1))
    assert np.quantile(off, 0.8) < USUAL
    assert np.max(off) < TOUCHING
    assert np.abs(here.qpos - scene.start).max() > 0.01, "the robot has moved"
    assert not there.diverged().any()


@installed
@pytest.mark.slow
def test_some_worlds_are_stepped_reset_and_varied_alone() -> None:
    scene = scene_of("nao-spark")
    worlds = Worlds(scene, 3, device="warp-cpu")
    worlds.advance(0.02, [0, 2])
    assert (worlds.time > 0).tolist() == [True, False, True]
    moved = worlds.qpos.copy()
    worlds.reset([0])
    np.testing.assert_allclose(worlds.qpos[0], scene.start, atol=1e-6)
    np.testing.assert_array_equal(worlds.qpos[1:], moved[1:])

    both = [Worlds(scene, 3), Worlds(scene, 3, device="warp-cpu")]
    for one in both:
        one.vary("robot", "mass.torso", [0.8, 1.0, 1.6], relative=True)
        one.reset()
        one.robots[0].push([30.0, 0.0, 0.0])
        one.advance(0.1)
    np.testing.assert_allclose(both[1].qpos, both[0].qpos, atol=1e-3)
    light, plain, heavy = both[1].qpos[:, 0]
    assert light > plain + 0.003, "a light robot is pushed farther, by more than the engines may differ"
    assert plain > heavy + 0.006
    for one in both:
        one.vary("robot", "mass.torso", 3.0, relative=True)  # in all worlds alike
        one.reset()
        one.robots[0].push([30.0, 0.0, 0.0])
        one.advance(0.1)
    np.testing.assert_allclose(both[1].qpos, both[0].qpos, atol=1e-3)
    assert both[1].qpos[1, 0] < plain - 0.006


@installed
@pytest.mark.slow
def test_a_ball_rolls_and_a_start_state_is_taken_as_on_the_processor() -> None:
    scene = scene_of("nao-spark", ball="sim3d")
    both = [Worlds(scene, 2), Worlds(scene, 2, device="warp-cpu")]
    for worlds in both:
        set_start_state(worlds, "robot", StartState(velocity=np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0])))
        worlds.put_ball((1.0, 0.2), (1.0, 0.5, 0.0))
        worlds.refresh()
        worlds.advance(0.2)
    assert both[0].ball is not None
    assert both[1].ball is not None
    assert both[0].ball[0, 0] > 1.1
    np.testing.assert_allclose(both[1].ball[:, :3], both[0].ball[:, :3], atol=2e-3)


@installed
@pytest.mark.slow
def test_more_contacts_than_there_is_room_for_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from nutmeg.sim import warp_engine

    monkeypatch.setattr(warp_engine, "CONTACTS_PER_ROBOT", 2)
    worlds = Worlds(scene_of("nao-spark"), 2, device="warp-cpu")
    with pytest.raises(SimulationError, match="more contacts or constraints"):
        worlds.advance(0.2)


@installed
def test_scenes_that_run_beside_the_engine_and_missing_gpus_are_refused() -> None:
    import warp

    league = assemble(
        SceneSettings(field="floor", ball="none", robots=(Placement(robot="nao-spark", name="robot"),), visuals=False)
    )
    with pytest.raises(ModelError, match="native_profile"):
        Worlds(league, 1, device="warp-cpu")
    warp.init()
    if not warp.is_cuda_available():
        with pytest.raises(EnvironmentProblem, match="no CUDA device"):
            Worlds(scene_of("nao-spark"), 1, device="gpu")


@installed
def test_it_is_known_how_many_worlds_fit() -> None:
    from nutmeg.sim.warp_engine import bytes_per_world, worlds_that_fit

    scene = scene_of("nao-spark")
    assert 1e4 < bytes_per_world(scene) < 1e7
    assert worlds_that_fit(scene, 1e9) == int(0.9e9 / bytes_per_world(scene))


@pytest.mark.skipif(not MISSING, reason="mujoco_warp is installed")
def test_a_missing_mujoco_warp_is_an_error_that_says_what_to_install() -> None:
    with pytest.raises(MissingExtraError, match=r"nutmeg-sim\[gpu\]"):
        Worlds(scene_of("nao-spark"), 1, device="gpu")
