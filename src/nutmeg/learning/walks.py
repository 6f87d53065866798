"""A walk as a file: one to three sets of parameters, which robot they are for, and what made them.

    walk = read_walk("initial")                     # one that comes with Nutmeg, or the path of a TOML file
    walk.for_robot("nao-spark")                     # refused for another robot
    walk.sets                                       # {"walk": PendulumWalkSettings(...), "sprint": ...}
    write_walk(Path("params.toml"), walk)

The file:

    format = 1
    robot = "nao-spark"
    name = "final"
    facing = "turn"
    [walk]                  # the set that everything begins with
    phi_length = 0.11
    [sprint]                # used within 15 degrees of the target; may be missing
    [positioning]           # used within 0.8 m of the ball; may be missing
    [origin]
    command = "nutmeg learn ..."

The three sets and when they are used are those of MacAlpine and others (2012), sections 5.1 to 5.3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Literal

from nutmeg import settings
from nutmeg.errors import FileError, UnknownNameError, UsageError
from nutmeg.motion.pendulum_settings import PendulumWalkSettings
from nutmeg.recording.toml_text import toml_text

FORMAT = 1
SETS = ("walk", "sprint", "positioning")
ALIASES = {"holonomic": "dynamic-rewards"}
"""Other names of walks that come with Nutmeg."""
Facing = Literal["turn", "hold"]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What made a walk."""

    about: str = ""
    """In a sentence."""
    command: str = ""
    """The command line."""
    seed: int = 0
    task: str = ""
    """What it was learned for."""
    start: str = ""
    """The walk that learning began with."""
    generations: int = 0
    evaluations: int = 0
    fitness: float | None = None
    """Mean over the starts of the last judgement."""
    fitness_before: float | None = None
    """The same of the walk that learning began with."""
    history: tuple[str, ...] = ()
    """The commands that made the walks it was learned from, the first one first."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A walk: its sets of parameters and where they come from."""

    format: int = FORMAT
    """Version of this file format, 1."""
    robot: str
    """The robot that it is for."""
    name: str = ""
    facing: Facing = "turn"
    """Whether the robot turns to where it goes, or holds its orientation."""
    walk: PendulumWalkSettings = field(default_factory=PendulumWalkSettings)
    """The first set of parameters."""
    sprint: PendulumWalkSettings | None = None
    """Used within 15 degrees of the target."""
    positioning: PendulumWalkSettings | None = None
    """Used within 0.8 m of the ball."""
    origin: Origin = field(default_factory=Origin)

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {FORMAT}.")

    @property
    def sets(self) -> dict[str, PendulumWalkSettings]:
        """The sets of parameters that it has, by name."""
        return {name: one for name in SETS if (one := getattr(self, name)) is not None}

    def with_set(self, name: str, numbers: Mapping[str, float]) -> Walk:
        """The same with some numbers of a set changed; a set that is missing begins as a copy of `walk`."""
        if name not in SETS:
            raise UnknownNameError("set of walk parameters", name, SETS)
        present = getattr(self, name) or self.walk
        try:
            changed = dataclasses.replace(present, **numbers)
        except ValueError as error:
            raise UsageError(f"walk parameters: {error}") from None
        return dataclasses.replace(self, **{name: changed})  # type: ignore[arg-type]

    def for_robot(self, robot: str) -> Walk:
        """The walk, if it is for this robot."""
        if robot != self.robot:
            raise UsageError(
                f"the walk {self.name!r} is for the robot {self.robot!r}, not for {robot!r}: its numbers would make "
                f"another robot fall. Use it with {self.robot}, or give a walk whose file says robot = {robot!r}."
            )
        return self


def walk_names() -> tuple[str, ...]:
    """The walks that come with Nutmeg."""
    folder = resources.files("nutmeg.learning") / "data" / "walks"
    return tuple(sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml")))


def read_walk(name: str) -> Walk:
    """A walk by its name, from a TOML file, or from the folder of a run."""
    path, own = Path(name), ALIASES.get(name, name)
    if own in walk_names():
        with resources.as_file(resources.files("nutmeg.learning") / "data" / "walks" / f"{own}.toml") as shipped:
            return settings.read_cached(shipped, Walk)
    if path.is_dir():
        path = path / "params.toml"
    if path.suffix != ".toml" and not path.exists():
        raise UnknownNameError("walk", name, walk_names(), where="neither a file nor a walk that comes with Nutmeg")
    return settings.read(path, Walk)


def write_walk(path: Path, walk: Walk) -> None:
    """Writes a walk as a file."""
    try:
        path.write_text(walk_text(walk), encoding="utf-8")
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}.") from None


def walk_text(walk: Walk) -> str:
    """A walk as TOML; numbers that are as the standing start has them are left out."""
    head = {"format": walk.format, "robot": walk.robot, "name": walk.name, "facing": walk.facing}
    plain = PendulumWalkSettings()
    tables = {
        name: {key: value for key, value in dataclasses.asdict(one).items() if value != getattr(plain, key)}
        for name, one in walk.sets.items()
    }
    origin = {key: value for key, value in dataclasses.asdict(walk.origin).items() if value not in ("", None, ())}
    return toml_text({**head, **tables, "origin": origin})
