"""Realities chosen by name in a configuration file.

[reality]                           # a hidden simulation, of richer physics than the searched one
kind = "hidden"
values = { L1_femur = 1.2, R3_tibia = 0.8 }
adjustments = [{ target = "physics.timestep", value = 0.001 }, { target = "foot.friction", value = 0.7 }]
noise = { command = 0.01, angle = 0.002 }

[reality]                           # a robot in a laboratory
kind = "manual"
folder = "laboratory"
columns = "columns.toml"            # how its CSV logs are read (`recording.log.CsvMap`)

[reality]                           # a program that tries them on the robot (`realities.program`, for classes as well)
kind = "command"
program = ["python", "run_on_robot.py"]

[reality]                           # a robot on a SimSpark server (`net.simspark.reality`)
kind = "simspark"
port = 3100

[reality]                           # what was recorded is all there is
kind = "recorded"
recordings = { "walk-1" = "walk-1.nutmeg" }
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from nutmeg.base import settings as files
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.model.parameters import Adjustment
from nutmeg.reality.realities.hidden import HiddenSimulation, Noise
from nutmeg.reality.realities.manual import LogFormat, ManualReality
from nutmeg.reality.realities.program import CommandReality, UserReality
from nutmeg.reality.realities.recorded import RecordedReality
from nutmeg.reality.twin import Searched, Twin, TwinSettings
from nutmeg.recording import CsvMap

if TYPE_CHECKING:
    from nutmeg.reality.observation import Watch
    from nutmeg.reality.realities.reality import Reality


@dataclass(frozen=True, kw_only=True)
class RealitySettings:
    """Where controllers are tried for good; what a kind has no use for is left out."""

    kind: Literal["hidden", "manual", "command", "python", "simspark", "recorded"] = "hidden"
    values: Mapping[str, float] = field(default_factory=dict)
    """hidden: values of the searched numbers; those left out are at their start, or as `robot` has them."""
    robot: TwinSettings | None = None
    """hidden: the simulation, where it is another one (actuation, physics, type)."""
    adjustments: tuple[Adjustment, ...] = ()
    """hidden: what differs beside the searched numbers."""
    noise: Noise = field(default_factory=Noise)
    """hidden: of motors and measurements."""
    seed: int = 0
    """hidden: of the noise."""
    folder: Path | None = None
    """manual, command: where controllers and logs are exchanged; `laboratory` in the folder of the run without it."""
    columns: Path | None = None
    """manual, command: a column map for CSV logs; without it their columns are called as in simulation."""
    program: tuple[str, ...] = ()
    """command: a program and its arguments, which gets the trial's CSV file and the folder for results as two more."""
    patience: float = 600.0
    """command: how long the program may take for a trial [s]."""
    function: str = ""
    """python: `file.py:Class`."""
    host: str = "127.0.0.1"
    """simspark: address of the server."""
    port: int = 3100
    """simspark: its port for agents."""
    monitor_port: int = 3200
    """simspark: its port for monitors and trainers."""
    recordings: Mapping[str, Path] = field(default_factory=dict)
    """recorded: by the names of their trials."""
    commands: str = "command"
    """recorded: the channel with the commands, labelled by motors."""
    names: Mapping[str, str] = field(default_factory=dict)
    """manual, command, recorded: what columns are called in logs, by their names in simulation, where they differ."""

    def __post_init__(self) -> None:
        if (self.kind == "command") != bool(self.program):
            raise ValueError('kind = "command" needs `program`, and only that kind has one.')
        if (self.kind == "python") != bool(self.function):
            raise ValueError('kind = "python" needs `function`, and only that kind has one.')


NOTHING_HIDDEN = {"mass": Searched(low=0.5, high=2.0, start=1.0, sets=("mass.*",), relative=True)}
"""A number that changes nothing, for realities that differ in other ways: a twin has at least one."""
RealityMaker = Callable[[RealitySettings, Twin, "Watch"], "Reality"]
"""Makes a reality for a twin, in which a watch says what is measured."""


def make_reality(
    settings: RealitySettings,
    twin: Twin,
    watch: Watch,
    *,
    folder: Path = Path(),
    needs_fitness: bool = True,
    wait: Callable[[], None],
    say: Callable[[str], None],
    others: Mapping[str, RealityMaker] = MappingProxyType({}),
) -> Reality:
    """The reality that settings describe.

    Args:
        settings: which, and how.
        twin: the searched simulation.
        watch: what is measured of a trial.
        folder: of the run.
        needs_fitness: whether trials must have a fitness.
        wait: called while people are waited for.
        say: called with what is waited for.
        others: how kinds are made, where not as usual: servers, which this chapter does not know.
    """
    columns = watch.columns(twin.table)
    if watch.fitness:  # a real robot that falls has achieved what it did until then
        watch = dataclasses.replace(watch, fitness=dataclasses.replace(watch.fitness, falls="end"))
    if settings.kind in others:
        return others[settings.kind](settings, twin, watch)
    if settings.kind in ("manual", "command"):
        mapping = files.read(settings.columns, CsvMap) if settings.columns else None
        laboratory = ManualReality(
            settings.folder or folder / "laboratory",
            watch,
            motors=twin.table.motors,
            logs=LogFormat(columns=columns, names=settings.names, mapping=mapping, needs_fitness=needs_fitness),
            wait=wait,
            say=say,
        )
        if settings.kind == "manual":
            return laboratory
        return CommandReality(settings.program, laboratory, patience=settings.patience)
    if settings.kind == "python":
        return UserReality(settings.function, twin.table, columns)
    if settings.kind == "simspark":
        raise UsageError('kind = "simspark" needs `realities={"simspark": SimsparkReality}` (`net.simspark.reality`).')
    if settings.kind == "recorded":
        return RecordedReality(settings.recordings, watch, columns=tuple(columns), names=settings.names)
    return _hidden(settings, twin, watch)


def _hidden(settings: RealitySettings, twin: Twin, watch: Watch) -> HiddenSimulation:
    for name in settings.values:
        if name not in twin.searched:
            raise UnknownNameError("searched number", name, twin.searched, where="[reality] values")
    robot = settings.robot or twin.settings
    # Reality is MuJoCo's simulation wherever candidates are simulated.
    robot = dataclasses.replace(robot, device="cpu", adjustments=(*robot.adjustments, *settings.adjustments))
    # Another simulation may lack numbers that are searched: there only those are set that have a value.
    kept = settings.values if settings.robot else twin.searched
    wide = {name: _widened(one, settings.values.get(name)) for name, one in twin.searched.items() if name in kept}
    hidden = Twin(robot, wide or NOTHING_HIDDEN, threads=twin.threads)
    return HiddenSimulation(hidden, settings.values, watch, noise=settings.noise, seed=settings.seed)


def _widened(searched: Searched, value: float | None) -> Searched:
    """A range that has the hidden value in it: reality need not lie within what is searched."""
    if value is None:
        return searched
    return dataclasses.replace(searched, low=min(searched.low, value), high=max(searched.high, value))
