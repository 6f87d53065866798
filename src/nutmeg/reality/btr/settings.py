"""Settings of Back-to-Reality: what is searched, in which reality, with what effort. A TOML file.

    mode = "btr"                                # or "none", "discrepancy", "reality" to compare with
    [robot]                                     # the simulation: see `reality.twin`
    robot = "ant"
    [simulation.L1_femur]                       # s: what is searched of it, as many tables as there are numbers
    low = 0.6
    high = 1.4
    [controller]                                # c: see `btr.controllers`
    gait = "tripod"
    [fitness]                                   # f: see `reality.observation`
    kind = "speed"
    [distance]                                  # phi: see `reality.distances.distance`
    kind = "phi1"
    [reality]                                   # r: see `reality.realities.settings`
    kind = "hidden"
    values = { L1_femur = 1.2 }
    [controller_search]                         # step 1
    generations = 11
    genetic = { population = 20 }
    [transfer]                                  # step 2
    trials = 12
    [simulation_search]                         # step 3
    generations = 11
    genetic = { population = 15 }
    [extend.terms.delay]                        # what may be freed if that does not suffice: see `btr.extension`
    low = 0.0
    high = 0.08
    start = 0.0
    sets = ["delay"]
    [stop]                                      # step 4
    iterations = 13
    most_trials = 180

Every table but [robot], [simulation], [controller] and [reality] may be left out; defaults are the paper's for its ant
(Zagal, Delpiano and Ruiz-del-Solar, Self-modeling in humanoid soccer robots, 2009, sections 3.3 and 4.1).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from nutmeg.base import settings as files
from nutmeg.base.errors import FileError
from nutmeg.base.plugins import placed_beside
from nutmeg.model.robot import robot_names
from nutmeg.reality.btr.controllers import ControllerSettings
from nutmeg.reality.btr.warnings import MIN_GAIN, Prior
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.observation import FitnessSettings
from nutmeg.reality.realities.settings import RealitySettings
from nutmeg.reality.twin import Searched, TwinSettings
from nutmeg.search import GeneticSettings, SearchSettings

PAPER_TRANSFER_SHARE = 0.6
"""m / M: the part of a population that is tried in reality (section 3.3, step 2)."""


@dataclass(frozen=True, kw_only=True)
class TransferSettings:
    """Step 2: which controllers are tried in reality in an iteration."""

    trials: int | None = None
    """m: how many in all; 60 % of the population without it."""
    exploring: int = 0
    """How many of them are those about which candidate simulations disagree most (Estimation-Exploration)."""
    random: int = 0
    """How many of them are random; the rest are the fittest of the search."""
    random_step: float = 1.0
    """Random ones: standard deviation about the fittest, as a part of each range; 1 for anywhere."""
    random_scale: float = 1.0
    """Random ones: what their amplitudes are multiplied with. Gentle ones tell more about a simulation, as they slip
    and stumble less; but it is small differences of fitness that they tell it by."""
    pool: int = 60
    """Exploring: among how many random controllers, beside those of the search."""
    rivals: int = 6
    """Exploring and `informative`: how many candidate simulations have a say."""
    least: float = -float("inf")
    """The smallest simulated fitness of a controller that is transferable."""

    def __post_init__(self) -> None:
        if self.exploring < 0 or self.random < 0 or (self.trials is not None and self.trials < 0):
            raise ValueError("`trials`, `exploring` and `random` must be 0 or more.")
        if self.trials is not None and self.exploring + self.random > self.trials:
            raise ValueError(f"{self.exploring} exploring and {self.random} random of {self.trials} trials: too many.")
        if self.rivals < 2 or self.pool < 0 or not (0 < self.random_step <= 1 and 0 < self.random_scale <= 1):
            raise ValueError(
                "needed are 2 or more rivals, a pool of 0 or more, 0 < random_step <= 1 and 0 < random_scale <= 1."
            )


@dataclass(frozen=True, kw_only=True)
class MemorySettings:
    """Step 3: which of the stored trials a simulation is compared in; fewer are faster."""

    use: Literal["all", "last", "informative"] = "all"
    """All, those of the last iterations, or those about which the best simulations disagree most."""
    iterations: int = 3
    """last: of how many iterations."""
    most: int = 0
    """The most trials; 0 for no limit. Of `all` and `last`, the newest stay."""

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.most < 0 or (self.use == "informative" and not self.most):
            raise ValueError("`iterations` must be 1 or more, `most` 0 or more, and 1 or more if use is 'informative'.")


@dataclass(frozen=True, kw_only=True)
class StopSettings:
    """Step 4: when it is over, and how it ends."""

    iterations: int = 13
    """The most iterations."""
    goal: float | None = None
    """A fitness in reality that is enough."""
    most_trials: int | None = None
    """The most trials in reality."""
    disengagement: Literal["report", "stop"] = "report"
    """Whether a co-evolution that no longer informs goes on."""
    last: Literal["search", "full"] = "search"
    """The last iteration: only the controller search, or all steps."""
    confirm: int = 1
    """How many of the fittest controllers of the last search are tried in reality at the end."""

    def __post_init__(self) -> None:
        if (
            self.iterations < 1
            or self.confirm < 0
            or (self.most_trials is not None and self.most_trials < self.confirm)
        ):
            raise ValueError("needed are 1 or more iterations, and no more trials to confirm than there may be in all.")


@dataclass(frozen=True, kw_only=True)
class ExtendSettings:
    """How the space of simulations grows."""

    terms: Mapping[str, Searched] = field(default_factory=dict)
    """The terms that may be freed; each is held at its `start` until then. Without any, what the robot has."""
    effort: float = 0.5
    """Effort of each fit, as a share of the generations of a simulation search."""
    least_gain: float = MIN_GAIN
    """The share by which the distance in trials that were not fitted must fall for a term to be freed."""
    most: int = 3
    """The most terms that are freed in a run."""

    def __post_init__(self) -> None:
        if not (0 < self.effort <= 1 and 0 <= self.least_gain < 1 and self.most >= 1):
            raise ValueError("needed are 0 < effort <= 1, 0 <= least_gain < 1, and `most` of 1 or more.")


@dataclass(frozen=True, kw_only=True)
class BtrSettings:
    """Everything that decides a run of Back-to-Reality."""

    robot: TwinSettings
    """The simulation, without what is searched of it."""
    simulation: Mapping[str, Searched]
    """S: the searched numbers of the simulation; their `start` is s0."""
    controller: ControllerSettings
    """C, and how long a trial is."""
    reality: RealitySettings
    """The reality in which controllers are tried."""
    fitness: FitnessSettings = field(default_factory=FitnessSettings)
    distance: DistanceSettings = field(default_factory=lambda: DistanceSettings(kind="phi1"))
    """phi: the distance between simulation and reality."""
    mode: Literal["btr", "none", "discrepancy", "reality"] = "btr"
    """Back-to-Reality; without step 3 (the control); with real fitness estimated linearly instead; or learning by
    trials in reality alone."""
    discrepancy: Literal["fitness", "controller"] = "fitness"
    """mode = "discrepancy": what the real fitness is linear in: the simulated one, or the controller's numbers too."""
    controller_search: SearchSettings = field(default_factory=SearchSettings)
    simulation_search: SearchSettings = field(
        default_factory=lambda: SearchSettings(genetic=GeneticSettings(population=15))
    )
    transfer: TransferSettings = field(default_factory=TransferSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    extend: ExtendSettings | None = None
    """How the space grows where the searched numbers do not explain reality (`btr.extension`); it does not without."""
    stop: StopSettings = field(default_factory=StopSettings)
    estimate: Literal["best", "mean"] = "best"
    """What a simulation search has found: its best candidate, or where it stands (better under noise)."""
    plausible: Mapping[str, Prior] = field(default_factory=dict)
    """What is known about searched numbers beforehand, for warnings about bizarre simulations."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in self.extend.terms if self.extend else ():
            if name in self.simulation:
                raise ValueError(
                    f"[extend.terms] has {name!r}, which [simulation] searches from the beginning. Leave it out of one."
                )
        for name in self.plausible:
            if name not in self.named:
                searched = f"only {', '.join(self.simulation)}" if self.simulation else "nothing"
                raise ValueError(
                    f"[plausible] has {name!r}, which is not searched; {searched} is, by what [simulation] names. "
                    "Add it there, or leave it out here."
                )
        if self.mode == "reality" and self.stop.most_trials is None:
            raise ValueError('mode = "reality" needs `most_trials` of [stop].')

    @property
    def named(self) -> Mapping[str, Searched]:
        """The numbers that have a name: what is searched, and the terms that may be freed."""
        return {**self.simulation, **(self.extend.terms if self.extend else {})}

    @property
    def trials(self) -> int:
        """m: how many controllers an iteration tries in reality."""
        if self.transfer.trials is not None:
            return self.transfer.trials
        return max(1, round(PAPER_TRANSFER_SHARE * (self.controller_search.population or 20)))

    @property
    def series(self) -> tuple[str, ...]:
        """Patterns of the columns that the distance compares."""
        return _compared_columns(self.distance)

    @property
    def needs_fitness(self) -> bool:
        """Whether every trial in reality must have a fitness."""
        return self.mode != "btr" or self.stop.goal is not None or _uses_fitness(self.distance)


def read_btr(path: Path) -> BtrSettings:
    """The settings in a file; a robot of one's own may be named relative to it."""
    found = files.read(path, BtrSettings)
    found = dataclasses.replace(
        found,
        robot=_placed(found.robot, path),
        controller=_beside(found.controller, path),
        fitness=_beside(found.fitness, path),
        reality=_beside(found.reality, path),
    )
    if found.reality.robot is not None:
        reality = dataclasses.replace(found.reality, robot=_placed(found.reality.robot, path))
        found = dataclasses.replace(found, reality=reality)
    if not found.simulation:
        raise FileError(path, "[simulation] has no table; at least one number must be searched.")
    return found


_HasFunction = TypeVar("_HasFunction", ControllerSettings, FitnessSettings, RealitySettings)


def _beside(settings: _HasFunction, path: Path) -> _HasFunction:
    """The same with files of the user's looked for beside the configuration."""
    changed: dict[str, object] = {"function": placed_beside(settings.function, path.parent)}
    if isinstance(settings, ControllerSettings) and settings.file and (path.parent / settings.file).is_file():
        changed["file"] = path.parent / settings.file
    return dataclasses.replace(settings, **changed)  # type: ignore[arg-type]


def _placed(robot: TwinSettings, path: Path) -> TwinSettings:
    beside = path.parent / robot.robot
    if robot.robot in robot_names() or not beside.exists():
        return robot
    return dataclasses.replace(robot, robot=str(beside))


def _compared_columns(distance: DistanceSettings) -> tuple[str, ...]:
    """Patterns of the columns that a distance compares; none for phi1, all angles where it does not say."""
    if distance.kind == "phi1":
        return ()
    if distance.kind == "combination":
        return tuple(dict.fromkeys(pattern for term in distance.terms for pattern in _compared_columns(term)))
    return distance.channels or ("angles.*",)


def _uses_fitness(distance: DistanceSettings) -> bool:
    """Whether a distance compares fitness."""
    return distance.kind == "phi1" or any(_uses_fitness(term) for term in distance.terms)
