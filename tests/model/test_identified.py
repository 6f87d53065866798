"""Identified bodies: written and read, placed, and refused for the wrong robot."""

from __future__ import annotations

from pathlib import Path

import pytest

from nutmeg.base.errors import FileError, UsageError
from nutmeg.model import Adjustment, Placement, SceneSettings, assemble
from nutmeg.model.identified import IdentifiedBody, IdentifiedParameter, placed_with_body, read_body, write_body

BODY = IdentifiedBody(
    robot="nao-v6",
    actuation="servo",
    source='nutmeg identify "nao.toml" --seed 3',
    parameters={
        "gain": IdentifiedParameter(
            value=1.25,
            low=0.5,
            high=2.0,
            sets=("servo.leg*.p", "servo.pitch150.p"),
            relative=True,
            interval=(1.2, 1.3),
        ),
        "lag": IdentifiedParameter(value=0.008, unit="s", sets=("delay",), identifiable=False),
        "torso": IdentifiedParameter(value=1.2, unit="kg", sets=("mass.torso",)),
    },
)


def test_a_body_that_is_written_is_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "params.toml"
    write_body(path, BODY)
    assert read_body(path) == BODY


def test_a_parameter_sets_all_its_targets() -> None:
    assert BODY.adjustments == (
        Adjustment(target="servo.leg*.p", value=1.25, relative=True),
        Adjustment(target="servo.pitch150.p", value=1.25, relative=True),
        Adjustment(target="delay", value=0.008),
        Adjustment(target="mass.torso", value=1.2),
    )
    ant = IdentifiedBody(robot="ant", parameters={"L1_femur": IdentifiedParameter(value=0.9)})
    assert ant.adjustments == (Adjustment(target="robot.L1_femur", value=0.9),)


def test_a_placed_body_is_in_the_scene_with_its_delay_and_its_actuation() -> None:
    placement = BODY.placed(Placement(robot="nao-v6", name="r"))
    assert (placement.actuation, placement.delay) == ("servo", 0.008)
    scene = assemble(SceneSettings(ball="none", visuals=False, robots=(placement,)))
    plain = assemble(
        SceneSettings(ball="none", visuals=False, robots=(Placement(robot="nao-v6", name="r", actuation="servo"),))
    )
    assert scene.model.body("r/torso").mass == pytest.approx(1.2)
    knee = "r/LKneePitch"
    assert scene.model.actuator(knee).gainprm[4] == pytest.approx(
        1.25 * plain.model.actuator(knee).gainprm[4], rel=1e-5
    )
    delays = scene.model.actuator_delay - plain.model.actuator_delay
    assert delays == pytest.approx(0.008)


def test_the_limbs_of_a_body_go_with_other_drives() -> None:
    limbs = BODY.limbs
    assert list(limbs.parameters) == ["torso"]
    placement = limbs.placed(Placement(robot="nao-v6", name="r"))
    scene = assemble(SceneSettings(ball="none", visuals=False, robots=(placement,)))
    assert scene.model.body("r/torso").mass == pytest.approx(1.2)


def test_a_body_of_another_robot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="belongs to the robot 'nao-v6', but 'ant' was asked for"):
        BODY.placed(Placement(robot="ant"))
    write_body(tmp_path / "p.toml", BODY)
    with pytest.raises(UsageError, match=r"p\.toml: this body belongs to the robot 'nao-v6'"):
        placed_with_body(Placement(robot="nao-v4"), tmp_path / "p.toml")


def test_without_a_body_a_placement_has_only_its_actuation() -> None:
    assert placed_with_body(Placement(robot="ant"), None) == Placement(robot="ant")
    assert placed_with_body(Placement(robot="nao-v6"), None, actuation="servo").actuation == "servo"


def test_an_actuation_file_may_lie_beside_the_body(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[battery]\nvoltage = 5.0\n")
    (tmp_path / "params.toml").write_text('robot = "ant"\nactuation = "own.toml"\n[parameters]\n')
    assert read_body(tmp_path / "params.toml").actuation == str(tmp_path / "own.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('robot = "ant"\n', "lacks the key 'parameters'"),
        ('format = 2\nrobot = "ant"\n[parameters]\n', "has format 2"),
        ('robot = "ant"\n[parameters.x]\nvalue = 1\nsets = ["mas.Torso"]\n', "line 2: .*Did you mean 'mass'"),
        ('robot = "ant"\n[parameters.x]\nvalue = inf\n', "the value is inf"),
        ('robot = "ant"\n[parameters.x]\nvalu = 1\n', "line 3: .*Did you mean 'value'"),
    ],
)
def test_a_wrong_file_says_where_and_why(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "params.toml"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        read_body(path)
