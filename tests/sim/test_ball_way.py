"""Where a ball comes to rest: predicted, and as the engine lets it roll."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.sim.ball_way import rest_of_ball
from nutmeg.sim.worlds import Worlds


@pytest.mark.parametrize(
    ("velocity", "spin"),
    [
        ((3.0, 0.5, 0.0), (0.0, 0.0, 0.0)),
        ((4.8, 0.2, 3.7), (0.0, 0.0, 0.0)),
        ((8.0, -1.0, 7.0), (5.0, -40.0, 2.0)),
    ],
)
def test_a_ball_is_predicted_to_rest_where_the_engine_brings_it(
    velocity: tuple[float, float, float], spin: tuple[float, float, float]
) -> None:
    robots = (Placement(robot="nao-spark", name="far", pos=(-3.0, 3.0)),)
    scene = assemble(SceneSettings(field="floor", ball="sim3d", robots=robots, visuals=False))
    worlds = Worlds(scene)
    assert worlds.ball is not None
    rate = int(scene.model.jnt_dofadr[scene.model.body("ball").jntadr[0]])
    worlds.put_ball((0.0, 0.0))
    worlds.qvel[0, rate : rate + 6] = [*velocity, *spin]
    x, y, z = worlds.ball[0, :3].tolist()
    predicted = rest_of_ball((x, y, z), velocity, spin)
    for _ in range(500):
        worlds.step()
    assert np.hypot(*predicted) > 2.0
    assert predicted == pytest.approx(worlds.ball[0, :2].tolist(), rel=0.02, abs=0.05)
