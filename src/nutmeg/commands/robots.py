"""List the robots, or show one in full: its bodies, joints with limits, drives, sensors and a picture.

With --describe, write a first robot.toml for a model file (MJCF, URDF), to be corrected by hand.

example: nutmeg robots
         nutmeg robots nao-v6 --picture nao.png
         nutmeg robots --describe menagerie/unitree_go2/go2.xml -o go2.toml
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.text import Text

from nutmeg.base.errors import EnvironmentProblem, NutmegError, UsageError, writing
from nutmeg.base.journal import write_file
from nutmeg.commands.options import JsonOption, OptionalOutput, check_output

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes
    from nutmeg.model.robot import RobotSettings
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg robots`."""

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[ROBOT]")] = ""
    """The robot to show in full; without it, all are listed."""
    type: str = ""
    """One of the robot's types."""
    picture: Path | None = None
    """Write a large picture of it to this PNG file."""
    describe: bool = False
    """Write a robot.toml for the model file ROBOT: base, feet, drives and start pose."""
    output: OptionalOutput = None
    """With --describe: the TOML file to write; without it, the text is printed."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Lists, or shows one."""
    if arguments.picture is not None:
        check_output(arguments.picture, ".png")
    if arguments.describe:
        return _describe(arguments, terminal)
    if arguments.output is not None:
        raise UsageError("-o needs --describe: nutmeg robots --describe MODEL -o robot.toml.")
    if arguments.robot:
        from nutmeg.model import load_robot

        return _show(load_robot(arguments.robot), arguments, terminal)
    if arguments.type or arguments.picture is not None:
        raise UsageError("--type and --picture need a robot: nutmeg robots nao-spark --type type1.")
    rows = _all_facts()
    columns = ("robot", "mass [kg]", "height [m]", "joints", "motors", "sensors", "licence of the numbers")
    facts = ("name", "mass_kg", "height_m", "joints", "motors", "sensors", "licence")
    terminal.table("", columns, [[row[fact] for fact in facts] for row in rows])
    for row in rows:
        terminal.say(Text.assemble((row["name"], "bold"), f": {row['source']}"))
    return {"robots": rows}


def _all_facts() -> list[dict[str, Any]]:
    """The facts of every robot that comes with Nutmeg.

    Compiling all models takes half a second, so the facts are kept in the user's cache folder. They count as long as no
    file of the chapter `model` (data and code) and neither MuJoCo nor Nutmeg has changed.
    """
    import nutmeg
    from nutmeg.base.journal import read_json, versions, write_json

    files = sorted(path for path in (Path(nutmeg.__file__).parent / "model").rglob("*") if path.suffix != ".pyc")
    states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files if path.is_file()]
    made_from = hashlib.sha256(repr((versions(("nutmeg", "mujoco")), states)).encode()).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nutmeg" / "robots.json"
    with contextlib.suppress(NutmegError, OSError):  # a cache that cannot be read is made again
        kept = read_json(cache) or {}
        if kept.get("made_from") == made_from:
            return list(kept["robots"])
    from nutmeg.model import load_robot, robot_names
    from nutmeg.model.posing import robot_facts

    rows = [dataclasses.asdict(robot_facts(load_robot(name))) for name in robot_names()]
    with contextlib.suppress(NutmegError, OSError):  # nor does one have to be kept, on a disk that is full or read-only
        cache.parent.mkdir(parents=True, exist_ok=True)
        write_json(cache, {"made_from": made_from, "robots": rows})
    return rows


def _describe(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Writes or prints a robot.toml."""
    from nutmeg.model import load_robot
    from nutmeg.model.posing import describe

    if not arguments.robot:
        raise UsageError("--describe needs a model file: nutmeg robots --describe path/to/robot.xml.")
    if arguments.output is None:
        text = describe(load_robot(arguments.robot), Path())
        terminal.console.print(Text(text), soft_wrap=True)
        return {"text": text}
    check_output(arguments.output, ".toml")
    text = describe(load_robot(arguments.robot), arguments.output.resolve().parent)
    write_file(arguments.output, text)
    terminal.say(f"wrote {arguments.output}: look through it, then nutmeg view {arguments.output}")
    return {"file": str(arguments.output), "text": text}


def _show(robot: RobotSettings, arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.model.posing import body_rows, robot_facts

    known = robot_facts(robot, arguments.type)
    terminal.say(Text.assemble((robot.name, "bold"), f"  {robot.title}\n{robot.about}".rstrip()))
    terminal.say(f"{known.mass_kg} kg, {known.height_m} m high, {known.joints} joints, {known.motors} motors")
    terminal.say(f"source: {robot.source}\nlicence of the numbers: {robot.licence}\n")
    images = _pictures(arguments, terminal)
    if images is not None:
        from nutmeg.view.files.pictures import half_blocks

        terminal.console.print(half_blocks(images, columns=72))
    bodies = body_rows(robot, arguments.type)
    terminal.table(
        "Bodies and joints (angles in degrees)",
        ("body", "parent", "mass [kg]", "joint", "axis", "from", "to"),
        [(b.name, b.parent, b.mass, b.joint, b.axis, _degrees(b.low), _degrees(b.high)) for b in bodies],
    )
    _drives_and_sensors(robot, terminal)
    if advice := _overlap_advice(arguments):
        terminal.warn(f"{robot.name}: {advice}")
    return {
        **dataclasses.asdict(known),
        "bodies": [dataclasses.asdict(b) for b in bodies],
        "sensor_list": [{"name": s.name, "type": s.type, "body": s.body} for s in robot.sensor],
        "types": list(robot.types),
        "poses": list(robot.poses),
    }


def _overlap_advice(arguments: Arguments) -> str:
    """Advice on shapes of the robot that overlap where it starts; empty if none do."""
    from nutmeg.model import Placement, SceneSettings, assemble
    from nutmeg.model.posing import overlap_advice, overlaps

    alone = Placement(robot=arguments.robot, name="robot", type=arguments.type)
    scene = assemble(SceneSettings(field="none", ball="none", robots=(alone,), visuals=False))
    return overlap_advice(overlaps(scene, "robot"))


def _drives_and_sensors(robot: RobotSettings, terminal: Terminal) -> None:
    drives = [(n, d.kind, d.torque, math.degrees(d.speed), " ".join(d.joints)) for n, d in robot.drives.items()]
    terminal.table("\nDrives", ("group", "kind", "torque [N m]", "speed [deg/s]", "joints"), drives)
    terminal.table(
        "\nSensors",
        ("sensor", "type", "body", "rate [Hz]", "source"),
        [(s.name, s.type, s.body, s.rate or "each cycle", s.source) for s in robot.sensor],
    )
    if robot.model.actuation is not None:
        from nutmeg.model.actuation import load_actuation

        found = load_actuation(robot, "motoflex")
        groups = [(f"servo.{n}", " ".join(one.joints)) for n, one in found.servo.items()] if found else []
        groups += [(f"gear.{n}", " ".join(one.joints)) for n, one in found.gear.items()] if found else []
        groups += [(f"flex.{n}", " ".join(one.bodies)) for n, one in found.flex.items()] if found else []
        terminal.table(
            "\nGroups of its actuation, for `sets` of nutmeg identify", ("group", "joints or bodies"), groups
        )
    if robot.parameters:
        rows = [(n, p.value, p.low, p.high, p.unit, p.about) for n, p in robot.parameters.items()]
        terminal.table("\nParameters", ("name", "value", "low", "high", "unit", "what"), rows)
    terminal.say(f"\nposes: {', '.join(robot.poses) or 'none'}   types: {', '.join(robot.types) or 'none'}")


def _degrees(angle: float | None) -> str:
    return "" if angle is None else f"{math.degrees(angle):.1f}"


def _pictures(arguments: Arguments, terminal: Terminal) -> Bytes | None:
    """A picture of the robot; written to a file if one was named."""
    from nutmeg.view.files.pictures import portrait

    try:
        if arguments.picture is not None:
            from PIL import Image

            image = Image.fromarray(portrait(arguments.robot, arguments.type, (1200, 900)))
            with writing(arguments.picture) as path:
                image.save(path)
            terminal.say(f"wrote {arguments.picture}")
        return (
            None
            if terminal.json or not terminal.console.is_terminal
            else portrait(arguments.robot, arguments.type, (288, 216))
        )
    except EnvironmentProblem as problem:
        if arguments.picture is not None:
            raise
        terminal.warn(f"no picture: {problem}")
        return None
