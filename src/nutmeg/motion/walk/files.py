"""Walks as files: one to three sets of parameters, their robot, and their origin.

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

The three sets and when they are used are those of MacAlpine and others (2012), sections 5.1 to 5.3. The walk of a robot
with four legs has one set of its own kind instead, `[trot]`, with the parameters of `TrotSettings`; such walks are
named after their robot, too, and found by either name: `read_walk("trot", "ers7")` is `read_walk("trot-ers7")`. A walk
that is a network has `[policy]` (`motion.policy`), with the files of the weights beside it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nutmeg.base.errors import FileError, UnknownNameError, UsageError
from nutmeg.base.journal import write_file
from nutmeg.base.settings import read, read_cached, toml_text
from nutmeg.motion.policy import PolicySettings
from nutmeg.motion.trot import TrotSettings
from nutmeg.motion.walk.settings import PendulumWalkSettings

WALKS_FOLDER = Path(__file__).parent.parent / "data" / "walks"
"""The walks that come with Nutmeg."""
FORMAT = 1
SET_NAMES = ("walk", "sprint", "positioning")
"""The sets of parameters of a robot with two legs."""
TROT_SET = "trot"
"""The set of a robot with four legs."""
WALK_ALIASES = {"holonomic": "dynamic-rewards"}
"""Other names of walks that come with Nutmeg."""
Facing = Literal["hold", "turn", "turn-first"]
"""What a robot does with its orientation on its way to a target: it keeps it, turns to the target while it walks, or
turns on the spot first."""
FACING_NUMBERS: dict[Facing, int] = {"hold": 0, "turn": 1, "turn-first": 2}
"""The same for compiled code."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Origin of a walk."""

    about: str = ""
    """A sentence about it."""
    command: str = ""
    """The command line that made it."""
    seed: int = 0
    task: str = ""
    """The task that it was learned for."""
    start: str = ""
    """The walk that learning began with."""
    generations: int = 0
    evaluations: int = 0
    fitness: float | None = None
    """Mean fitness over the starts of the last evaluation."""
    fitness_before: float | None = None
    """Mean fitness of the walk that learning began with."""
    history: tuple[str, ...] = ()
    """The commands that made the walks it was learned from, the first one first."""


@dataclass(frozen=True, kw_only=True)
class WalkParameters:
    """A walk: its sets of parameters and where they come from."""

    format: int = FORMAT
    """Version of this file format, 1."""
    robot: str
    """The robot that it is for."""
    name: str = ""
    facing: Facing = "turn"
    """Whether the robot turns towards its target, or keeps its orientation."""
    walk: PendulumWalkSettings = field(default_factory=PendulumWalkSettings)
    """The first set of parameters."""
    sprint: PendulumWalkSettings | None = None
    """Used within 15 degrees of the target."""
    positioning: PendulumWalkSettings | None = None
    """Used within 0.8 m of the ball."""
    trot: TrotSettings | None = None
    """Parameters of a robot with four legs; the other sets are then not used."""
    policy: PolicySettings | None = None
    """A network that walks; the other sets are then not used."""
    origin: Origin = field(default_factory=Origin)

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {FORMAT}.")

    @property
    def sets(self) -> dict[str, PendulumWalkSettings]:
        """The sets of parameters for two legs that it has, by name; none if it trots, or is a network."""
        if self.trot is not None or self.policy is not None:
            return {}
        return {name: one for name in SET_NAMES if (one := getattr(self, name)) is not None}

    def as_tables(self) -> dict[str, dict[str, float]]:
        """The numbers of all sets that are used, by name."""
        if self.policy is not None:
            return {"policy": {"ahead": self.policy.fastest[0], "back": self.policy.back}}
        used = self.sets if self.trot is None else {TROT_SET: self.trot}
        return {name: dataclasses.asdict(one) for name, one in used.items()}

    def with_set(self, name: str, numbers: Mapping[str, float]) -> WalkParameters:
        """The walk with some numbers of a set changed; a missing set begins as a copy of `walk`."""
        known = SET_NAMES if self.trot is None else (TROT_SET,)
        if name not in known:
            raise UnknownNameError("set of walk parameters", name, known, where=f"the walk {self.name!r}")
        present = getattr(self, name) or self.walk
        try:
            changed = dataclasses.replace(present, **numbers)
        except ValueError as error:
            raise UsageError(f"walk parameters: {error}") from None
        return dataclasses.replace(self, **{name: changed})  # type: ignore[arg-type]

    def for_robot(self, robot: str) -> WalkParameters:
        """The walk itself; an error if it is for another robot."""
        if robot != self.robot:
            raise UsageError(
                f"the walk {self.name!r} is for the robot {self.robot!r}, not for {robot!r}: its numbers would make "
                f"another robot fall. Use it with {self.robot}, or give a walk whose file says robot = {robot!r}."
            )
        return self


def walk_names() -> tuple[str, ...]:
    """The walks that come with Nutmeg."""
    return tuple(sorted(path.stem for path in WALKS_FOLDER.glob("*.toml")))


def read_walk(name: str, robot: str = "") -> WalkParameters:
    """A walk by its name, which may leave the name of the robot out, from a TOML file, or from the folder of a run."""
    path, own = Path(name), WALK_ALIASES.get(name, name)
    if f"{own}-{robot}" in walk_names():
        own = f"{own}-{robot}"
    if own in walk_names():
        path = WALKS_FOLDER / f"{own}.toml"
        return _placed(read_cached(path, WalkParameters), path)
    if path.is_dir():
        folder, path = path, path / "params.toml"
        if not path.exists():
            raise FileError(folder, "there is no params.toml in it. A run of `nutmeg learn` writes it at its end.")
    if path.suffix != ".toml" and not path.exists():
        known = (*walk_names(), *WALK_ALIASES)
        raise UnknownNameError("walk", name, known, where="neither a file nor a walk that comes with Nutmeg")
    return _placed(read(path, WalkParameters), path)


def _placed(walk: WalkParameters, path: Path) -> WalkParameters:
    """The walk with the folder of its file, where the weights of its policy are."""
    if walk.policy is None:
        return walk
    return dataclasses.replace(walk, policy=dataclasses.replace(walk.policy, folder=str(path.parent)))


def write_walk(path: Path, walk: WalkParameters) -> None:
    """Writes a walk as a file."""
    write_file(path, walk_text(walk))


def walk_text(walk: WalkParameters) -> str:
    """A walk as TOML; numbers with their default values are left out."""
    head = {"format": walk.format, "robot": walk.robot, "name": walk.name, "facing": walk.facing}
    if walk.policy is None:
        plain = dataclasses.asdict(PendulumWalkSettings() if walk.trot is None else TrotSettings())
        tables: dict[str, Any] = {
            name: {key: value for key, value in one.items() if value != plain[key]}
            for name, one in walk.as_tables().items()
        }
    else:
        tables = {"policy": {k: v for k, v in dataclasses.asdict(walk.policy).items() if k != "folder"}}
    origin = {key: value for key, value in dataclasses.asdict(walk.origin).items() if value not in ("", None, ())}
    return toml_text({**head, **tables, "origin": origin})
