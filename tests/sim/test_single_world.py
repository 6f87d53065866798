"""One world stepped in two halves."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import ModelError
from nutmeg.model import Placement, Scene, SceneSettings, assemble
from nutmeg.sim import Worlds
from nutmeg.sim.worlds import SingleWorld


@pytest.fixture(scope="module")
def scene() -> Scene:
    robots = tuple(Placement(robot="nao-spark", name=f"r{i}", pos=(i, 0.0), parked=i == 1) for i in range(2))
    return assemble(SceneSettings(field="sim3d", robots=robots, ball_pos=(0.3, 0.0), visuals=False))


def test_it_moves_as_many_worlds_do_to_the_last_bit(scene: Scene) -> None:
    single, worlds = SingleWorld(scene), Worlds(scene)
    single.hold(scene.robots[0], parked=False)
    for step in range(60):
        speeds = np.sin(0.3 * step + np.arange(22))
        single.ctrl[scene.robots[0].commands] = speeds
        worlds.robots[0].command = speeds[None]
        single.step(lambda: None)
        worlds.step()
    assert np.array_equal(single.qpos, worlds.qpos[0])
    assert np.array_equal(single.qvel, worlds.qvel[0])


def test_places_of_bodies_are_those_of_the_present_state(scene: Scene) -> None:
    world, torso = SingleWorld(scene), scene.robots[0]
    world.data.qvel[torso.root_rate] = 1.0
    world.step(lambda: None)
    assert world.data.xpos[torso.body] == pytest.approx(world.qpos[torso.root : torso.root + 3], abs=1e-15)


def test_forces_of_contacts_carry_the_robot(scene: Scene) -> None:
    world = SingleWorld(scene)
    world.hold(scene.robots[0], parked=False)
    carried: list[float] = []

    def weigh() -> None:
        contact, model = world.data.contact, world.model
        mine = model.body_rootid[model.geom_bodyid[contact.geom]] == scene.robots[0].body
        carried.append(float(world.data.efc_force[contact.efc_address[mine.any(axis=1)]].sum()))

    for _ in range(100):
        world.step(weigh)
    mass = world.model.body_subtreemass[scene.robots[0].body]
    assert np.mean(carried[-20:]) == pytest.approx(9.81 * mass, rel=0.01)


def test_another_integrator_is_refused() -> None:
    scene = assemble(SceneSettings(field="floor", ball="none", physics="standard", visuals=False))
    with pytest.raises(ModelError, match="needs the integrator euler; this scene has implicitfast"):
        SingleWorld(scene)
