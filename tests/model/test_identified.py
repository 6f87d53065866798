"""Identified bodies: written and read, placed, and refused for the wrong robot."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, UsageError
from nutmeg.model import Adjustment, Placement, SceneSettings, assemble
from nutmeg.model.identified import (
    Distribution,
    IdentifiedBody,
    IdentifiedParameter,
    placed_with_body,
    read_body,
    write_body,
)

BODY = IdentifiedBody(
    robot="nao-v6",
    actuation="servo",
    source='nutmeg identify "nao.toml" --seed 3',
    parameters={
        "gain": IdentifiedParameter(
            value=1.25, low=0.5, high=2.0, sets=("servo.leg*.p", "servo.pitch150.p"), relative=True, interval=(1.2, 1.3)
        ),
        "lag": IdentifiedParameter(value=0.008, unit="s", sets=("delay",), identifiable=False),
        "torso": IdentifiedParameter(value=1.2, unit="kg", sets=("mass.torso",)),
    },
    fixed=(
        Adjustment(target="mass.l_ankle", value=1.5, relative=True),
        Adjustment(target="servo.leg*.viscous", value=0.1),
    ),
)


def test_a_body_that_is_written_is_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "params.toml"
    write_body(path, BODY)
    assert read_body(path) == BODY


def test_a_parameter_sets_all_its_targets() -> None:
    assert BODY.adjustments == (
        Adjustment(target="servo.leg*.viscous", value=0.1),
        Adjustment(target="delay", value=0.008),
        Adjustment(target="mass.torso", value=1.2),
        Adjustment(target="mass.l_ankle", value=1.5, relative=True),
        Adjustment(target="servo.leg*.p", value=1.25, relative=True),
        Adjustment(target="servo.pitch150.p", value=1.25, relative=True),
    ), "plain values first, then those that multiply them, as in the identification"
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
    assert [one.target for one in limbs.fixed] == ["mass.l_ankle"]
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


DRAWN = IdentifiedBody(
    robot="nao-v6",
    parameters={
        "gain": IdentifiedParameter(
            value=1.0, low=0.5, high=2.0, scale="log", sets=("drives.*.stiffness",), relative=True
        ),
        "torso": IdentifiedParameter(value=1.2, low=0.2, high=2.2, sets=("mass.torso",)),
        "lag": IdentifiedParameter(value=0.019, low=0.0, high=0.02, sets=("delay",)),
    },
    distribution=Distribution(errors=(0.05, 0.1, 0.2), correlation=((1, 0.8, 0), (0.8, 1, 0), (0, 0, 1))),
)


def test_drawn_bodies_vary_as_the_estimates_do_and_stay_within_their_ranges(tmp_path: Path) -> None:
    write_body(tmp_path / "params.toml", DRAWN)
    body = read_body(tmp_path / "params.toml")
    assert body == DRAWN
    drawn = body.draws(4000, np.random.default_rng(1))
    values = np.array([[p.value for p in one.parameters.values()] for one in drawn])
    gain, torso, lag = np.log(values[:, 0]), values[:, 1], values[:, 2]
    assert gain.std() == pytest.approx(0.05 * np.log(4), rel=0.05), "along the logarithmic scale"
    assert torso.std() == pytest.approx(0.2, rel=0.05)
    assert np.corrcoef(gain, torso)[0, 1] == pytest.approx(0.8, abs=0.03)
    assert (lag >= 0).all()
    assert (lag <= 0.02).all(), "what leaves the range is reflected"
    evenly = np.array([one.delay for one in body.draws(2000, np.random.default_rng(1), spread="ranges")])
    assert evenly.mean() == pytest.approx(0.01, rel=0.05)
    assert drawn[0].parameters["gain"].sets == body.parameters["gain"].sets


def test_a_body_without_a_distribution_or_ranges_cannot_be_drawn() -> None:
    with pytest.raises(UsageError, match=r"low.*high"):
        BODY.draws(3, np.random.default_rng(0))
    with pytest.raises(UsageError, match=r"no .distribution."):
        dataclasses.replace(DRAWN, distribution=None).draws(3, np.random.default_rng(0))
