"""Shapes that overlap at the start are named, with the line that lets them pass."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from nutmeg.cli import main
from nutmeg.model import Placement, SceneSettings, assemble, robot_names
from nutmeg.model.posing import overlap_advice, overlaps
from nutmeg.model.scene import Scene

MODEL = """
<mujoco><worldbody><body name="trunk">
  <geom type="box" size="0.1 0.1 0.1" mass="2"/>
  <body name="upper" pos="0 0 0.15"><joint name="shoulder" axis="0 1 0" range="-2 2" limited="true"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.1" size="0.02" mass="0.2"/>
    <body name="lower" pos="0 0 0.1"><joint name="elbow" axis="0 1 0" range="-3 3" limited="true"/>
      <geom type="box" size="0.02 0.02 0.09" pos="0 0 -0.07" mass="0.2"/>
    </body></body></body></worldbody></mujoco>
"""
"""The lower arm is folded back into the trunk by 10 mm."""


def folded(folder: Path, extra: str = "") -> str:
    (folder / "arm.xml").write_text(MODEL)
    head = 'format = 1\nname = "folded"\nsource = "drawn for this test"\nlicence = "Apache-2.0"\nbase = "fixed"\n'
    text = f'{head}{extra}\n[model]\nmjcf = "arm.xml"\n'
    (folder / "robot.toml").write_text(text + '[drives.all]\njoints = ["*"]\nstiffness = 20.0\ndamping = 0.5\n')
    return str(folder)


def scene_of(robot: str) -> Scene:
    return assemble(SceneSettings(field="none", robots=(Placement(robot=robot, name="robot"),), visuals=False))


def test_an_arm_that_is_folded_into_its_trunk_is_named_and_the_advice_helps(tmp_path: Path) -> None:
    scene = scene_of(folded(tmp_path))
    (pair,) = overlaps(scene, "robot")
    assert (pair.first, pair.second) == ("lower", "trunk")
    assert pair.depth == pytest.approx(0.01, abs=1e-6)
    assert not overlaps(scene, "robot", np.array([np.nan, np.pi]))
    line = re.search(r"ignore_contacts = \[\[.*?\]\]", overlap_advice([pair]))
    assert line is not None
    assert not overlaps(scene_of(folded(tmp_path, line.group())), "robot")


@pytest.mark.parametrize("name", robot_names())
def test_no_built_in_robot_overlaps_with_itself(name: str) -> None:
    assert not overlaps(scene_of(name), "robot")
    assert not overlap_advice([])


def test_the_command_that_shows_a_robot_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robots", folded(tmp_path)]) == 0
    assert "lower and trunk overlap by 10.0 mm" in " ".join(capsys.readouterr().err.split())
