"""The names that percepts and actions go by."""

from __future__ import annotations

import tomllib
from pathlib import Path

import nutmeg.model
from nutmeg.match.worlds.physical.percept import EFFECTORS, FEET, JOINTS, WITH_TOES, WITHOUT_TOES

ROBOT = Path(nutmeg.model.__file__).parent / "data" / "robots" / "nao-spark" / "robot.toml"


def test_the_joints_are_those_of_the_league_robot_with_the_toes_last() -> None:
    bodies = tomllib.loads(ROBOT.read_text(encoding="utf-8"))["body"]
    names = [body["joint"]["name"] for body in bodies if "joint" in body]
    assert list(JOINTS) == names
    assert len(JOINTS) == WITH_TOES
    assert all(name.endswith("lj7") for name in JOINTS[WITHOUT_TOES:])


def test_every_joint_has_its_motor_in_the_same_column() -> None:
    pairs = dict(zip(JOINTS, EFFECTORS, strict=True))
    assert (pairs["hj1"], pairs["raj4"], pairs["llj6"], pairs["rlj7"]) == ("he1", "rae4", "lle6", "rle7")
    assert len(set(EFFECTORS)) == len(EFFECTORS)


def test_the_feet_are_the_force_sensors_of_the_league_robot() -> None:
    sensors = tomllib.loads(ROBOT.read_text(encoding="utf-8"))["sensor"]
    assert {sensor["name"] for sensor in sensors if sensor["type"] == "force"} == set(FEET)
