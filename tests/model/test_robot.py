"""Finding robots: by name, by folder, by file; and tables in CSV."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.model.posing import body_rows, robot_facts
from nutmeg.model.robot import ROBOTS_FOLDER, load_robot, robot_names

LINKS = """\
# masses
link,mass_kg,com_x,com_y,com_z,Ixx_G,Ixy_G,Ixz_G,Iyy_G,Iyz_G,Izz_G,source
base,1.0,0,0,0,0.01,0,0,0.01,0,0.01,own
arm,0.2,0,0,0.1,0.001,0,0,0.001,0,0.001,own
"""
JOINTS = """\
joint,parent,child,x,y,z,ax,ay,az,lower_rad,upper_rad,source
elbow,base,arm,0,0,0.1,0,1,0,-1,1,own
"""
TOML = """\
format = 1
name = "table"
source = "own"
licence = "CC0"
[model]
links = "links.csv"
joints = "joints.csv"
"""


def write(folder: Path, *, links: str = LINKS, joints: str = JOINTS, toml: str = TOML) -> Path:
    for name, text in (("links.csv", links), ("joints.csv", joints), ("robot.toml", toml)):
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", robot_names())
def test_every_built_in_robot_is_complete(name: str) -> None:
    robot = load_robot(name)
    assert robot.name == name
    assert robot.source
    assert robot.licence
    assert "ready" in robot.poses
    assert robot.drives
    assert robot.sensor
    known = robot_facts(robot)
    assert 0.5 < known.mass_kg < 40
    assert 0.05 < known.height_m < 1.3
    assert known.motors <= known.joints
    assert {row.joint for row in body_rows(robot) if row.joint}
    assert sum(row.mass for row in body_rows(robot)) == pytest.approx(known.mass_kg, abs=1e-3)


def test_a_folder_a_toml_and_a_name_give_the_same_robot(tmp_path: Path) -> None:
    shutil.copytree(ROBOTS_FOLDER / "ant", tmp_path / "ant")
    assert load_robot(tmp_path / "ant") == load_robot("ant")
    assert load_robot(str(tmp_path / "ant" / "robot.toml")) == load_robot("ant")


def test_an_edited_robot_is_read_again(tmp_path: Path) -> None:
    assert load_robot(write(tmp_path)).body[1].mass == 0.2
    write(tmp_path, links=LINKS.replace("arm,0.2", "arm,0.25"))
    assert load_robot(tmp_path).body[1].mass == 0.25
    write(tmp_path, toml=TOML.replace("own", "other"))
    assert load_robot(tmp_path).source == "other"
    assert load_robot(tmp_path) is load_robot(tmp_path)


def test_bodies_come_from_two_tables(tmp_path: Path) -> None:
    base, arm = load_robot(write(tmp_path)).body
    assert (base.name, base.parent, base.joint) == ("base", "", None)
    assert (arm.parent, arm.pos, arm.mass, arm.com) == ("base", (0.0, 0.0, 0.1), 0.2, (0.0, 0.0, 0.1))
    assert arm.joint is not None
    assert (arm.joint.name, arm.joint.axis, arm.joint.range) == ("elbow", (0.0, 1.0, 0.0), (-1.0, 1.0))


def test_a_misspelt_robot_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown robot 'nao-v66'\. Did you mean 'nao-v6'\?"):
        load_robot("nao-v66")


def test_a_folder_without_a_robot_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"has no robot\.toml"):
        load_robot(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for name in ("a.toml", "a.xml", "a.urdf"):
        with pytest.raises(FileError, match=rf"{name}.*there is no such file"):
            load_robot(tmp_path / name)


def test_a_wrong_number_in_a_table_names_file_line_and_column(tmp_path: Path) -> None:
    for wrong in ("heavy", "nan", "inf", ""):
        folder = tmp_path / (wrong or "empty")
        folder.mkdir()
        write(folder, links=LINKS.replace("arm,0.2", f"arm,{wrong}"))
        with pytest.raises(FileError) as caught:
            load_robot(folder)
        assert caught.value.line == 4
        assert "'mass_kg'" in str(caught.value)
        assert "links.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("upper_rad", "upper", "line 1: lacks the column 'upper_rad'"),
        ("base,arm", "base,amr", r"line 2: joint to 'amr', but links\.csv has no such link"),
    ],
)
def test_a_missing_column_and_a_joint_to_no_link_are_named(tmp_path: Path, old: str, new: str, problem: str) -> None:
    write(tmp_path, joints=JOINTS.replace(old, new))
    with pytest.raises(FileError, match=rf"joints\.csv, {problem}"):
        load_robot(tmp_path)


def test_a_table_that_is_missing_or_no_text_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "links.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match=r"links\.csv: cannot be read"):
        load_robot(tmp_path)
    (tmp_path / "links.csv").unlink()
    with pytest.raises(FileError, match=r"links\.csv: cannot be read"):
        load_robot(tmp_path)


def test_links_without_joints_are_refused(tmp_path: Path) -> None:
    write(tmp_path, toml=TOML.replace('joints = "joints.csv"\n', ""))
    with pytest.raises(FileError, match="give both"):
        load_robot(tmp_path)
