"""Reference pages made from the program itself: each command's `--help`, robots, fields and balls.

They are written to `reference/generated/` before anything is read, and included by the pages beside it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nutmeg.cli import COMMANDS, SUBCOMMANDS
from nutmeg.model import load_robot, robot_names
from nutmeg.model.ball import ball_names, load_ball
from nutmeg.model.field import field_names, load_field
from nutmeg.model.posing import robot_facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sphinx.application import Sphinx

    from nutmeg.model.robot import RobotSettings

WIDTH = "88"


def setup(app: Sphinx) -> dict[str, Any]:
    """Writes the pages when the build begins."""
    app.connect("builder-inited", _write_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_all(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "reference" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"commands": _commands, "robots": _robots, "fields": _fields, "balls": _balls}
    for name, make in pages.items():
        text, file = make(), folder / f"{name}.md"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def _commands() -> str:
    overview = f"```text\n{_help()}\n```\n"
    parts = []
    for name in COMMANDS:
        parts.append(f"## nutmeg {name}\n\n```text\n{_help(name)}\n```\n")
        # The first sub-command is the one that is meant without a name: it has been shown.
        parts += [
            f"### nutmeg {name} {sub}\n\n```text\n{_help(name, sub)}\n```\n"
            for sub in list(SUBCOMMANDS.get(name, ()))[1:]
        ]
    return "\n".join([overview, *parts])


def _help(*command: str) -> str:
    """What `--help` prints."""
    environment = {**os.environ, "COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    call = [sys.executable, "-m", "nutmeg", *command, "--help"]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, check=True)  # noqa: S603 (our own)
    return done.stdout.strip()


def _robots() -> str:
    robots = [load_robot(name) for name in robot_names()]
    numbers = [robot_facts(robot) for robot in robots]
    columns = ("robot", "mass [kg]", "height [m]", "joints", "motors", "sensors", "physics", "drives")
    rows = [
        (f"`{f.name}`", f.mass_kg, f.height_m, f.joints, f.motors, f.sensors, f"`{r.physics}`", _kinds(r))
        for f, r in zip(numbers, robots, strict=True)
    ]
    return _table(columns, rows) + "".join(_robot(robot) for robot in robots)


def _kinds(robot: RobotSettings) -> str:
    return ", ".join(sorted({drive.kind for drive in robot.drives.values()}))


def _robot(robot: RobotSettings) -> str:
    lines = [f"\n## {robot.name}\n\n{robot.title}: {robot.about.rstrip('.')}.\n"]
    lines.append(f"- Source: {robot.source}\n- Licence of the numbers: {robot.licence}")
    lines.append(f"- Poses: {_names(robot.poses)}. Types: {_names(robot.types)}.")
    if robot.parameters:
        rows = [(f"`{n}`", p.value, p.low, p.high, p.unit, p.about) for n, p in robot.parameters.items()]
        lines.append("\n" + _table(("parameter", "value", "low", "high", "unit", "what"), rows))
    kinds: dict[str, list[str]] = {}
    for sensor in robot.sensor:
        kinds.setdefault(sensor.type, []).append(sensor.name)
    rows = [(kind, len(names), ", ".join(f"`{n}`" for n in names)) for kind, names in kinds.items()]
    lines.append("\n" + _table(("sensors", "how many", "names"), rows))
    return "\n".join(lines)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _fields() -> str:
    columns = ("field", "length [m]", "width [m]", "border [m]", "goal: width, height, depth [m]", "ball")
    fields = [load_field(name) for name in field_names()]
    rows = [
        (
            f"`{f.name}`",
            f.length,
            f.width,
            f.border,
            f"{f.goal.inner_width:g}, {f.goal.height:g}, {f.goal.depth:g}" if f.goal else "none",
            f"`{f.ball}`",
        )
        for f in fields
    ]
    return _table(columns, rows) + "".join(_sources(f.name, f.source) for f in fields if f.source)


def _balls() -> str:
    balls = [load_ball(name) for name in ball_names()]
    columns = ("ball", "radius [m]", "mass [kg]", "rolling [m/s²]", "rolling [1/s]", "air drag [1/s]", "restitution")
    rows = [
        (f"`{b.name}`", b.radius, b.mass, b.rolling_deceleration, b.rolling_damping, b.air_drag, b.restitution)
        for b in balls
    ]
    return _table(columns, rows) + "".join(_sources(b.name, b.source) for b in balls)


def _sources(name: str, source: dict[str, str] | Any) -> str:  # noqa: ANN401
    rows = [(f"`{key}`", text) for key, text in source.items()]
    return f"\n### Where the numbers of {name} come from\n\n" + _table(("number", "source"), rows)


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("$", "\\$")
