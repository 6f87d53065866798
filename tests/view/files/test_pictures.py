import math
from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.sim.cameras.renderer import Quality
from nutmeg.view.files.pictures import FINE, QUICK, Photographer, picture
from nutmeg.view.stage.cameras import Viewpoint

pytestmark = pytest.mark.usefixtures("renderer")

BALL = """
<mujoco><worldbody>
  <geom type="box" size="3 3 .01" pos="0 0 -.01" rgba=".1 .5 .2 1"/>
  <body name="ball/ball" pos="0 0 .1"><freejoint name="ball/root"/><geom size=".1" rgba="1 0 0 1"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def ball() -> Any:
    return mujoco.MjModel.from_xml_string(BALL)


@pytest.mark.parametrize("quality", [FINE, QUICK], ids=["fine", "quick"])
@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (0.6, 0.0), (-0.5, 0.4)])
def test_a_red_ball_is_red_where_it_is_projected(ball: Any, quality: Quality, x: float, y: float) -> None:
    height, fov = 3.0, math.radians(40)
    above = Viewpoint(position=np.array([0, 0, height]), look_at=np.zeros(3), up=np.array([0.0, 1.0, 0.0]), fov=fov)
    qpos = np.array(ball.qpos0)
    qpos[:2] = x, y
    image = picture(ball, qpos, above, (320, 240), quality)
    assert image.shape == (240, 320, 3)
    assert image.dtype == np.uint8
    per_metre = 120 / (math.tan(fov / 2) * (height - 0.1))
    column, row = round(160 + x * per_metre), round(120 - y * per_metre)
    red, green, blue = (int(v) for v in image[row, column])
    assert red > 100
    assert red > 2 * max(green, blue)
    corner = image[5, 5].astype(int)
    assert corner[1] > corner[0]


def test_the_model_is_left_as_it_was(ball: Any) -> None:
    before = (int(ball.vis.global_.offwidth), np.array(ball.vis.headlight.ambient), int(ball.ngeom))
    picture(ball, ball.qpos0, size=(1600, 900), quality=QUICK)
    assert before[0] == ball.vis.global_.offwidth
    assert np.array_equal(before[1], ball.vis.headlight.ambient)


def test_collision_geoms_are_not_in_the_picture(model: Any) -> None:
    with Photographer(model, (200, 150), QUICK) as photographer:
        photographer.pose(np.array(model.qpos0))
        from nutmeg.view.stage.cameras import CameraOperator

        image = photographer.shoot(CameraOperator(model, "follow:a").view(photographer.data)).astype(int)
    magenta = (image[..., 0] > 120) & (image[..., 2] > 120) & (image[..., 1] < 60)
    assert not magenta.any()


def test_shadows_darken_the_ground(ball: Any) -> None:
    bright = picture(ball, ball.qpos0, "broadcast", (160, 120), QUICK).astype(int)
    shaded = picture(ball, ball.qpos0, "broadcast", (160, 120), FINE).astype(int)
    assert ((bright - shaded)[..., 1] > 25).sum() > 5


def test_an_impossible_size_is_refused(ball: Any) -> None:
    with pytest.raises(UsageError, match="between 8 and 8192"):
        picture(ball, ball.qpos0, size=(0, 100))
