"""Design motions that tell most about a robot's body, and say which numbers no such motion can find.

The robot is held or bolted down. Motions keep within the limits of position, speed and torque, and the robot does not
touch itself. Each is written as a CSV file to play on the robot: the time, and an angle for each motor [s, rad].

example: nutmeg excite nao-v6 --parameters delay joint.*Hip*.friction mass.LTibia
         nutmeg excite examples/servo_xl330/identify.toml --seconds 10
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nutmeg.base.errors import UsageError
from nutmeg.commands.options import Count, JsonOption, OptionalOutput, Seed

if TYPE_CHECKING:
    from nutmeg.reality.identify.design import Design
    from nutmeg.reality.twin import Twin
    from nutmeg.view.terminal import Terminal

STAND_HEIGHT = 0.5
"""How high above the ground a robot is held [m]."""


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg excite`."""

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ROBOT")]
    """A robot, or the configuration of an identification (`.toml`), whose [robot] and [parameters] are taken."""
    parameters: tuple[str, ...] = ()
    """Targets to be found, such as `delay`, `mass.LTibia` or `joint.*Knee*.friction`; those of the configuration, or
    delay, friction and damping of all joints and the drives' stiffness, if left out."""
    joints: tuple[str, ...] = ("*",)
    """Patterns of the motors that move."""
    amplitude: float = 0.4
    """How far motors swing at most [rad]."""
    frequency: tuple[float, float] = (0.1, 2.0)
    """The slowest and the fastest tone [Hz]."""
    seconds: float = 8.0
    """Length of each motion [s]."""
    period: float = 0.02
    """Time between two commands [s]."""
    noise: float = 0.005
    """Standard deviation of the angles that the robot will measure [rad]."""
    motions: Count = 2
    """How many motions are designed."""
    candidates: Count = field(default=24)
    """Among how many random ones they are chosen."""
    seed: Seed = 0
    """Seed of the random motions."""
    output: OptionalOutput = None
    """Folder for the CSV files; runs/excite-1, or the next that is free, if left out."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Designs the motions, and writes them."""
    from nutmeg.base.journal import new_folder, write_file
    from nutmeg.reality.identify.design import DesignSettings, design
    from nutmeg.reality.realities.manual import commands_csv
    from nutmeg.reality.twin import TWIN_ROBOT
    from nutmeg.sim.worlds import Worlds

    twin = _twin(arguments)
    settings = DesignSettings(
        seconds=arguments.seconds,
        period=arguments.period,
        frequency=arguments.frequency,
        amplitude=dict.fromkeys(arguments.joints, arguments.amplitude),
        noise=arguments.noise,
        motions=arguments.motions,
        candidates=arguments.candidates,
        seed=arguments.seed,
    )
    with terminal.busy(f"{arguments.candidates} motions are compared"):
        found = design(twin, settings, Worlds(twin.base).robot(TWIN_ROBOT).start)
    folder = arguments.output or new_folder(Path("runs"), "excite")
    folder.mkdir(parents=True, exist_ok=True)
    for trial in found.trials:
        write_file(folder / f"{trial.name}.csv", commands_csv(trial, twin.table.motors))
    _tell(found, twin, terminal)
    terminal.say(f"in {folder}: {', '.join(f'{trial.name}.csv' for trial in found.trials)}")
    return _as_json(found, twin, folder)


def _twin(arguments: Arguments) -> Twin:
    """The robot, on a stand if it is not bolted down, and what is to be found."""
    import dataclasses

    from nutmeg.reality.identify.settings import read_identify
    from nutmeg.reality.twin import Searched, Twin, TwinSettings

    searched: dict[str, Searched] = {}
    if arguments.robot.endswith(".toml") and Path(arguments.robot).name != "robot.toml":
        configured = read_identify(Path(arguments.robot))
        robot, searched = configured.robot, dict(configured.parameters)
    else:
        robot = TwinSettings(robot=arguments.robot, field="none")
    if arguments.parameters or not searched:
        searched = dict(_searched(target) for target in arguments.parameters or _DEFAULT_TARGETS)
    twin = Twin(robot, searched)
    if twin.table.root >= 0 and not robot.held:
        twin = Twin(dataclasses.replace(robot, held=True, height=STAND_HEIGHT, field="none"), searched)
    return twin


_DEFAULT_TARGETS = ("delay", "joint.*.friction", "joint.*.damping", "drives.*.stiffness", "mass.*")


def _searched(target: str) -> tuple[str, Any]:
    """A target as a number to be found about the robot's own value, or about one that is usual."""
    from nutmeg.reality.twin import Searched

    absolute = {
        "delay": (0.0, 0.08, 0.02, "s"),
        "zero": (-0.1, 0.1, 0.0, "rad"),
        "channel.bias": (-0.1, 0.1, 0.0, ""),
        "channel.gain": (0.8, 1.25, 1.0, ""),
        "channel.delay": (0.0, 0.08, 0.01, "s"),
        "channel.drift": (-0.03, 0.03, 0.0, ""),
    }
    kind = "friction" if target.startswith("joint.") and target.endswith(".friction") else target.partition(".")[0]
    if kind == "channel":
        kind += "." + target.rpartition(".")[2]
    if kind == "friction":
        return target, Searched(low=0.001, high=1.0, start=0.05, scale="log", unit="N m", sets=(target,))
    if kind in absolute:
        low, high, start, unit = absolute[kind]
        return target, Searched(low=low, high=high, start=start, unit=unit, sets=(target,))
    if target.count(".") < 1:
        raise UsageError(f"{target!r} is no target; one is written as in `nutmeg identify`: mass.BODY, delay, ...")
    return target, Searched(low=0.25, high=4.0, start=1.0, scale="log", sets=(target,), relative=True)


def _tell(found: Design, twin: Twin, terminal: Terminal) -> None:
    rows = []
    for name in twin.space.names:
        low, high = found.judged.interval(name)
        sure = "yes" if found.judged.identifiable(name) else "no"
        rows.append([name, float(twin.space.named(twin.space.start)[name]), f"{low:.4g} .. {high:.4g}", sure])
    terminal.table("", ("parameter", "assumed", "90 % interval to expect", "found"), rows)
    for name in twin.space.names:
        if not found.judged.identifiable(name):
            terminal.warn(f"{name} cannot be found by these motions: {_reason(found, twin, name)}")
    if found.dropped:
        dropped = ", ".join(f"{count} because of {reason}" for reason, count in found.dropped.items())
        terminal.say(f"random motions that were dropped: {dropped}")


def _reason(found: Design, twin: Twin, name: str) -> str:
    """Why a parameter will be found, or why not.

    Nothing was fitted, so none can have ended at a bound: its assumed value lies there.
    """
    dimension, value = twin.space.dimensions[name], float(twin.space.named(twin.space.start)[name])
    if not found.judged.identifiable(name) and value in (dimension.low, dimension.high):
        return f"its assumed value {value:g} is the end of its range {dimension.range}; give a start inside the range"
    return found.judged.reason(name)


def _as_json(found: Design, twin: Twin, folder: Path) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "motions": [f"{trial.name}.csv" for trial in found.trials],
        "gains": list(found.gains),
        "dropped": dict(found.dropped),
        "parameters": {
            name: {
                "interval": list(found.judged.interval(name)),
                "identifiable": found.judged.identifiable(name),
                "reason": _reason(found, twin, name),
            }
            for name in twin.space.names
        },
    }
