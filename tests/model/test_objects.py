"""Users' objects land where they are put, under their own names."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import FileError, ModelError
from nutmeg.model.scene import ObjectSettings, add_object

CRATE = """<mujoco><worldbody>
  <geom name="plate" type="box" size=".2 .1 .01" pos=".3 0 0"/>
  <body name="crate" pos="0.5 0 0.1"><freejoint name="root"/>
    <geom type="box" size=".1 .1 .1" density="500"/>
    <body name="lid" pos="0 0 .1"><joint name="hinge"/><inertial mass="1" pos="0 0 0" diaginertia=".1 .1 .1"/></body>
  </body></worldbody></mujoco>"""


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    path = tmp_path / "crate.xml"
    path.write_text(CRATE)
    return path


def test_an_object_is_moved_turned_and_prefixed(crate: Path) -> None:
    spec = mujoco.MjSpec()
    add_object(spec, ObjectSettings(name="box", file=crate, pos=(1, 2, 0), heading=math.pi / 2))
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert np.allclose(data.body("box/crate").xpos, (1, 2.5, 0.1))
    assert np.allclose(data.geom("box/plate").xpos, (1, 2.3, 0))
    assert model.joint("box/root").type[0] == mujoco.mjtJoint.mjJNT_FREE


def test_two_of_a_kind_live_in_one_scene_but_not_under_one_name(crate: Path) -> None:
    spec = mujoco.MjSpec()
    add_object(spec, ObjectSettings(name="a", file=crate))
    add_object(spec, ObjectSettings(name="b", file=crate, pos=(3, 0, 0)))
    assert spec.compile().nbody == 5
    with pytest.raises(ModelError, match="already has something called 'a'"):
        add_object(spec, ObjectSettings(name="a", file=crate))


def test_a_given_mass_scales_all_bodies_and_inertias(crate: Path) -> None:
    light, heavy = mujoco.MjSpec(), mujoco.MjSpec()
    add_object(light, ObjectSettings(name="a", file=crate))
    add_object(heavy, ObjectSettings(name="a", file=crate, mass=10.0))
    before, after = light.compile(), heavy.compile()
    assert before.body_mass.sum() == pytest.approx(5.0)  # 0.2^3 m^3 * 500 + 1
    assert np.allclose(after.body_mass, 2 * before.body_mass)
    assert np.allclose(after.body_inertia, 2 * before.body_inertia)


def test_a_file_that_is_missing_or_broken_is_named_with_mujocos_words(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"gone\.xml: there is no such file"):
        add_object(mujoco.MjSpec(), ObjectSettings(name="a", file=tmp_path / "gone.xml"))
    broken = tmp_path / "broken.xml"
    broken.write_text('<mujoco><worldbody><geom type="cube"/></worldbody></mujoco>')
    with pytest.raises(FileError, match=r"broken\.xml: MuJoCo cannot build this object: (.|\n)*cube"):
        add_object(mujoco.MjSpec(), ObjectSettings(name="a", file=broken))
    unsound = tmp_path / "unsound.xml"
    unsound.write_text('<mujoco><worldbody><geom type="sphere" size="0"/></worldbody></mujoco>')
    with pytest.raises(FileError, match=r"unsound\.xml: MuJoCo cannot build this object"):
        add_object(mujoco.MjSpec(), ObjectSettings(name="a", file=unsound))


def test_what_has_no_mass_cannot_be_made_heavy(tmp_path: Path) -> None:
    wall = tmp_path / "wall.xml"
    wall.write_text('<mujoco><worldbody><geom type="box" size="1 1 1"/></worldbody></mujoco>')
    with pytest.raises(FileError, match="no moving mass"):
        add_object(mujoco.MjSpec(), ObjectSettings(name="wall", file=wall, mass=3.0))
    with pytest.raises(ValueError, match="without '/'"):
        ObjectSettings(name="a/b", file=wall)
