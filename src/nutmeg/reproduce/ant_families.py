"""The realities in which the ant learns to walk: families of hidden numbers, and the effort of a run.

- `lengths`: the four lengths of seed 000, within 40 % of the drawn ones. An ant is forgiving: a gait that was
  learned on the wrong lengths keeps most of its speed.
- `lame`: besides, joints that are hard to move, on the left side ten times as much as on the right. A gait that was
  learned on the body as drawn walks in circles there; what is searched includes the damping of both sides.

Settings were chosen by measurements on the ant in steps of 10 ms (slopes of the fitness of random gaits over the
lengths, and its roughness: how it changes with lengths that differ by 0.3 %). Ten gaits with full amplitudes, searched
by the genetic algorithm in a model with these slopes and this roughness, give lengths to 2 to 3 %; with 0.4 to 0.7 of
the amplitudes 1.2 to 2.5 %, as the ant slips and stumbles less; with 0.2 of them 0.8 %, but 4.7 % where a leg is so
short that it then never touches the ground. The model is kinder than the ant: it has no bends in its slopes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from nutmeg import settings as files
from nutmeg.body.adjustment import Adjustment
from nutmeg.errors import FileError, suggestion
from nutmeg.reality.btr_settings import BtrSettings, MemorySettings, StopSettings, TransferSettings
from nutmeg.reality.controllers import ControllerSettings
from nutmeg.reality.fitness import FitnessSettings
from nutmeg.reality.realities.settings import RealitySettings
from nutmeg.reality.twin import Searched, TwinSettings
from nutmeg.reproduce.ant_lengths import HIDDEN, SEARCHED
from nutmeg.search import GeneticSettings
from nutmeg.search.chosen import SearchSettings

GENTLE = 12
"""How many of an iteration's controllers are gentle random ones."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """A kind of realities."""

    name: str
    searched: Mapping[str, Searched]
    """S."""
    hidden: Mapping[str, tuple[float, float]]
    """Where hidden numbers are drawn from, each along its scale."""
    compared: int = 24
    """In how many of the stored trials, the newest, simulations are compared."""
    step: float = 0.12
    """Of the simulation search at first, as a part of each range."""

    def draw(self, rng: np.random.Generator) -> dict[str, float]:
        """Hidden numbers of one reality."""
        found = {}
        for name, (low, high) in self.hidden.items():
            log = self.searched[name].scale == "log"
            found[name] = float(np.exp(rng.uniform(np.log(low), np.log(high))) if log else rng.uniform(low, high))
        return found


LENGTHS_ONLY = Family(name="lengths", searched=SEARCHED, hidden=dict.fromkeys(SEARCHED, HIDDEN))
DAMPING = {"low": 0.03, "high": 5.0, "start": 0.05, "scale": "log", "unit": "N m s/rad"}
LAME = Family(
    name="lame",
    searched={
        **SEARCHED,
        "left damping": Searched(**DAMPING, sets=("joint.L*.damping",)),  # type: ignore[arg-type]
        "right damping": Searched(**DAMPING, sets=("joint.R*.damping",)),  # type: ignore[arg-type]
    },
    hidden={**dict.fromkeys(SEARCHED, HIDDEN), "left damping": (1.0, 3.0), "right damping": (0.1, 0.3)},
    step=0.2,  # what is hidden is far from where the search starts
)
FAMILIES = (LENGTHS_ONLY, LAME)


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is searched; by default as much as in seed 000, section 4.1."""

    iterations: int = 13
    controllers: int = 11
    """Generations of 20 controllers in an iteration."""
    simulations: int = 11
    """Generations of 15 simulations in an iteration."""
    trials: int = 15
    """In reality in an iteration."""
    most_trials: int = 180
    """In reality in all."""


QUICK = Effort(iterations=4, controllers=6, simulations=6, trials=15, most_trials=60)


@dataclass(frozen=True, kw_only=True)
class AntReality:
    """A file with another reality: `[hidden]` numbers by name, and `adjustments` of anything else."""

    hidden: Mapping[str, float] = field(default_factory=dict)
    adjustments: tuple[Adjustment, ...] = ()


def read_reality(path: Path | None) -> AntReality:
    """The file, if there is one; names that no family has are an error."""
    if path is None:
        return AntReality()
    found = files.read(path, AntReality)
    for name in found.hidden:
        if name not in LAME.searched:
            hint = suggestion(name, LAME.searched)
            raise FileError(
                path,
                f"[hidden] has {name!r}. {hint}Allowed: {', '.join(LAME.searched)}.",
                line=files.line_of(path, f"hidden.{name}"),
            )
    return found


def btr_settings(
    family: Family, hidden: Mapping[str, float], adjustments: Sequence[Adjustment], effort: Effort, *, seed: int
) -> BtrSettings:
    """Back-to-Reality with phi1 and the genetic algorithm, at the paper's budget.

    Fitness is speed along the starting heading in 1.6 s, two swings. Of the 15 controllers of an iteration 3 are the
    fittest and 12 gentle random ones; simulations are compared in the newest 24 trials. The estimate is the mean of
    the four best simulations, which keep their place: in a model of the ant's answers (its slopes and its roughness,
    16 bodies) that ended at 0.8 % error with 12 trials, the single best with one kept at 1.3 %; with 6 trials they
    ended at 1.6 and 2.5 %.
    """
    return BtrSettings(
        robot=TwinSettings(robot="ant", timestep=0.01),
        simulation=family.searched,
        controller=ControllerSettings(gait="tripod", amplitude=(0.0, 0.45), begin="still", seconds=1.6, period=0.02),
        reality=RealitySettings(values=hidden, adjustments=tuple(adjustments)),
        fitness=FitnessSettings(kind="speed"),
        controller_search=SearchSettings(
            generations=effort.controllers,
            genetic=GeneticSettings(population=20, mutation="per-gene", rate=0.15, step=0.3, crossover=0.5),
        ),
        simulation_search=SearchSettings(
            generations=effort.simulations,
            genetic=GeneticSettings(population=15, elite=4, survivors=0.27, step=family.step, cooling=0.8),
        ),
        transfer=TransferSettings(trials=effort.trials, random=min(GENTLE, effort.trials), random_scale=0.5),
        memory=MemorySettings(use="all", most=family.compared),
        stop=StopSettings(iterations=effort.iterations, most_trials=effort.most_trials),
        estimate="mean",
        seed=seed,
    )


def without_identification(settings: BtrSettings) -> BtrSettings:
    """The control: the same controller search on the body as drawn, and one trial of its champion in reality."""
    return replace(settings, mode="none", transfer=replace(settings.transfer, trials=0, random=0))


def on_true_body(settings: BtrSettings) -> BtrSettings:
    """The same controller search on the body of reality."""
    simulation = dict(settings.simulation)
    for name, value in settings.reality.values.items():
        one = simulation[name]
        simulation[name] = replace(one, start=value, low=min(one.low, value), high=max(one.high, value))
    robot = replace(settings.robot, adjustments=settings.reality.adjustments)
    reality = replace(settings.reality, robot=settings.robot)
    return replace(without_identification(settings), simulation=simulation, robot=robot, reality=reality)


def in_reality_alone(settings: BtrSettings) -> BtrSettings:
    """Learning by as many trials in reality."""
    return replace(settings, mode="reality")
