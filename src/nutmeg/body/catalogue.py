"""Finding robots: those that come with Nutmeg by name, users' own by path.

load_robot("nao-v6")          # built in
load_robot("my/robot")        # a folder with robot.toml
load_robot("pendulum.xml")    # an MJCF or URDF file alone, with default drives
"""

from __future__ import annotations

import csv
import dataclasses
import math
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from nutmeg.body.robot import FORMAT, Body, Drive, Joint, ModelFiles, RobotSettings, Shell
from nutmeg.errors import FileError, UnknownNameError
from nutmeg.settings import read

if TYPE_CHECKING:
    from collections.abc import Iterator

ROBOTS = Path(__file__).parent / "data" / "robots"


def robot_names() -> list[str]:
    """The robots that come with Nutmeg."""
    return sorted(p.parent.name for p in ROBOTS.glob("*/robot.toml"))


def load_robot(name: str | Path) -> RobotSettings:
    """A built-in robot by name, or a user's by the path of its folder, TOML, MJCF or URDF file."""
    if str(name) in robot_names():
        return read_robot(ROBOTS / str(name) / "robot.toml")
    path = Path(name)
    if path.is_dir():
        if not (path / "robot.toml").is_file():
            raise FileError(path, "this folder has no robot.toml. See the how-to 'Bring your own robot'.")
        return read_robot(path / "robot.toml")
    if path.suffix in (".xml", ".mjcf", ".urdf"):
        return _from_model_file(path)
    if path.suffix == ".toml":
        return read_robot(path)
    raise UnknownNameError("robot", str(name), robot_names())


def read_robot(path: Path) -> RobotSettings:
    """The robot in a `robot.toml`, with its tables and shell read in."""
    path = path.resolve()
    files = sorted([*path.parent.glob("*.toml"), *path.parent.glob("*.csv")])
    return _read_robot(path, tuple((str(f), f.stat().st_mtime_ns, f.stat().st_size) for f in files))


@lru_cache(maxsize=64)
def _read_robot(path: Path, files: tuple[tuple[str, int, int], ...]) -> RobotSettings:  # noqa: ARG001 (changed files)
    """The robot as its files are now; they are a key of the cache, so that an edited robot is read again."""
    robot = read(path, RobotSettings)
    if robot.model.links and robot.model.joints:
        body = (*_bodies_from_csv(robot.model.links, robot.model.joints), *robot.body)
        robot = dataclasses.replace(robot, body=body)
    if robot.model.shell:
        shell = read(robot.model.shell, Shell)
        robot = dataclasses.replace(
            robot, shape=(*shell.shape, *robot.shape), colours={**shell.colours, **robot.colours}
        )
    return robot


def _from_model_file(path: Path) -> RobotSettings:
    """A robot that is only an MJCF or URDF file: every hinge without an actuator gets a default drive."""
    from nutmeg.body.modelfile import name_joints, parse_model

    spec = parse_model(path)
    name_joints(spec)
    driven = {a.target for a in spec.actuators}
    hinges = tuple(j.name for j in spec.joints if "HINGE" in j.type.name and j.name not in driven)
    kind = {"urdf" if path.suffix == ".urdf" else "mjcf": path.resolve()}
    return RobotSettings(
        format=FORMAT,
        name=re.sub(r"[^A-Za-z0-9_-]+", "-", path.stem),
        source=f"file {path.name}",
        licence="the file's own",
        model=ModelFiles(**kind),
        drives={"all": Drive(joints=hinges)} if hinges else {},
    )


def _bodies_from_csv(links: Path, joints: Path) -> Iterator[Body]:
    """Bodies from two tables; the root is the link that is nobody's child."""
    masses = {row["link"]: (row, line) for row, line in _rows(links, _LINK_COLUMNS)}
    tree = {row["child"]: (row, line) for row, line in _rows(joints, _JOINT_COLUMNS)}
    for name in [n for n in masses if n not in tree] + list(tree):
        if name not in masses:
            raise FileError(joints, f"joint to {name!r}, but {links.name} has no such link.", line=tree[name][1])
        yield _body_from_rows(name, masses[name][0], tree[name][0] if name in tree else None)


def _body_from_rows(name: str, link: dict[str, str], joint: dict[str, str] | None) -> Body:
    def numbers(row: dict[str, str], *keys: str) -> list[float]:
        return [float(row[key]) for key in keys]

    xx, yy, zz, xy, xz, yz = numbers(link, "Ixx_G", "Iyy_G", "Izz_G", "Ixy_G", "Ixz_G", "Iyz_G")
    cx, cy, cz = numbers(link, "com_x", "com_y", "com_z")
    mass = float(link["mass_kg"])
    body = Body(name=name, mass=mass, com=(cx, cy, cz), inertia=(xx, yy, zz, xy, xz, yz), source=link["source"])
    if joint is None:
        return body
    x, y, z, ax, ay, az, low, high = numbers(joint, "x", "y", "z", "ax", "ay", "az", "lower_rad", "upper_rad")
    hinge = Joint(name=joint["joint"], axis=(ax, ay, az), range=(low, high))
    return dataclasses.replace(body, parent=joint["parent"], pos=(x, y, z), joint=hinge)


_INERTIA_COLUMNS = ("Ixx_G", "Ixy_G", "Ixz_G", "Iyy_G", "Iyz_G", "Izz_G")
_LINK_COLUMNS = ("link", "mass_kg", "com_x", "com_y", "com_z", *_INERTIA_COLUMNS, "source")
_JOINT_COLUMNS = ("joint", "parent", "child", "x", "y", "z", "ax", "ay", "az", "lower_rad", "upper_rad")


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[dict[str, str], int]]:
    """The rows of a CSV with their line numbers; checks the columns and that numbers are numbers."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(path, f"cannot be read: {error}.") from None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    table = csv.DictReader(lines)
    missing = [c for c in columns if c not in (table.fieldnames or [])]
    if missing:
        raise FileError(path, f"lacks the column {missing[0]!r}; needed are {', '.join(columns)}.", line=1)
    for row in table:
        line = next(n for n, whole in enumerate(text.splitlines(), 1) if whole == lines[table.line_num - 1])
        for column in columns:
            if column not in _TEXT and not _is_number(row[column]):
                raise FileError(path, f"column {column!r} holds {row[column]!r}, which is not a number.", line=line)
        yield row, line


_TEXT = frozenset({"link", "joint", "parent", "child", "source"})


def _is_number(text: str | None) -> bool:
    try:
        return math.isfinite(float(text or ""))
    except ValueError:
        return False
