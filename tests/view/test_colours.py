from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.view.stage.meshes import geom_finish, linear, mean_colour

XML = """
<mujoco><asset>
  <texture name="chess" type="2d" builtin="checker" width="64" height="64" rgb1="1 0 0" rgb2="0 0 1"/>
  <material name="shirt" rgba=".1 .2 .3 1" shininess="1"/><material name="chess" texture="chess"/>
</asset><worldbody>
  <geom name="own" size="1" rgba=".4 .5 .6 .7"/><geom name="shirt" size="1" material="shirt"/>
  <geom name="both" size="1" material="shirt" rgba="1 0 0 1"/><geom name="chess" size="1" material="chess"/>
</worldbody></mujoco>"""


@pytest.fixture
def painted() -> Any:
    return mujoco.MjModel.from_xml_string(XML)


def test_a_geom_shows_its_own_colour_and_opacity(painted: Any) -> None:
    finish = geom_finish(painted, painted.geom("own").id)
    assert finish.rgba == pytest.approx((0.4, 0.5, 0.6, 0.7))
    assert finish.transparent


def test_a_material_gives_colour_and_gloss_unless_the_geom_has_its_own_colour(painted: Any) -> None:
    shirt = geom_finish(painted, painted.geom("shirt").id)
    assert shirt.rgba == pytest.approx((0.1, 0.2, 0.3, 1))
    assert shirt.roughness == pytest.approx(0.25)
    assert geom_finish(painted, painted.geom("both").id).rgba == pytest.approx((1, 0, 0, 1))


def test_a_texture_is_drawn_as_its_mean_colour(painted: Any) -> None:
    assert mean_colour(painted, 0) == pytest.approx([0.5, 0, 0.5], abs=0.02)
    assert geom_finish(painted, painted.geom("chess").id).rgba[:3] == pytest.approx((0.5, 0, 0.5), abs=0.02)


def test_linear_light_has_the_standard_fixed_points() -> None:
    assert linear(np.array([0.0, 0.5, 1.0])) == pytest.approx([0.0, 0.21404, 1.0], abs=1e-4)
