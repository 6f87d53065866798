"""Back-to-Reality on the ant (seed 000, section 4.1): the paper's step 2, ours beside it, and controls.

Each hidden reality is tried in several ways (`WAYS`), all with 13 iterations of 11 generations of 20 controllers and of
15 simulations, and at most 180 trials in reality:

- `paper`: step 2 to the letter. The fittest 60 % of the population are tried, a simulation must explain the trials of
  this iteration, and the best candidate is the estimate.
- `improved`: 12 of 15 trials are gentle random gaits, the newest 24 trials are compared, and the mean of the four best
  simulations is the estimate.
- `exploring`: the paper's, but half of the trials are those about which candidate simulations disagree most.
- `discrepancy`: no simulation is searched; the real fitness is estimated linearly from the simulated one and the
  controller's numbers (from the simulated one alone, the order of controllers and so the search would not change).
- `true body`, `no identification`, `reality alone`: the same controller search on the body of reality, on the body as
  drawn, and by 180 trials in reality.

`ant_lengths` finds the lengths without any of these. Everything can be interrupted and goes on where it stopped.

    answer = run(Path("runs/btr-ant"), Settings(quick=True, seed=1))
    answer["families"]["lengths"]["ways"]["paper"]["error"]

`Efforts` (`nutmeg reproduce btr-efforts`) asks whether Back-to-Reality is ever worse than no identification: hidden
bodies of both families at three efforts, beside the same search without identification and with the same trials.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nutmeg.base import settings as files
from nutmeg.base.errors import FileError, UnknownNameError, suggestion
from nutmeg.base.journal import read_lines, write_json
from nutmeg.experiments import experiment
from nutmeg.model.parameters import Adjustment
from nutmeg.reality.btr.back_to_reality import BackToReality, Listeners
from nutmeg.reality.btr.controllers import ControllerSettings
from nutmeg.reality.btr.costs import SimulationCost
from nutmeg.reality.btr.result import BtrResult, Iteration
from nutmeg.reality.btr.settings import BtrSettings, MemorySettings, StopSettings, TransferSettings
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.identify.design import ExcitationSettings, excitations
from nutmeg.reality.observation import FitnessSettings, Watch
from nutmeg.reality.realities.hidden import HiddenSimulation, Noise
from nutmeg.reality.realities.log import REALITY_LOG
from nutmeg.reality.realities.settings import RealitySettings
from nutmeg.reality.twin import TWIN_ROBOT, Searched, Twin, TwinSettings
from nutmeg.search import (
    GeneticSettings,
    InThisThread,
    ResponseFit,
    ResponseFitSettings,
    SearchSettings,
    Threads,
    minimise,
)
from nutmeg.sim.worlds import Worlds

# The ant's lengths our way: two slow random trials, the motion of the torso, and a fit by responses.
#
# Seed 000 finds the lengths of four segments by the fitness of 180 trials in reality. Here two trials of 4 s are
# enough, because every sample of the torso's height and tilt is compared instead of one number a trial, and because
# the trials are made to tell something (`identify.design`, `search.response_fit`). Hidden bodies are drawn within
# 40 % of the drawn one; the other realities differ besides in what is not searched: time step, friction, gains and
# the torso's mass.


LENGTHS = ("L1_femur", "L1_tibia", "R3_femur", "R3_tibia")
"""The four segments whose length may differ (1 is the drawn one)."""
SEARCHED_LENGTHS: Mapping[str, Searched] = {name: Searched(low=0.5, high=1.5, start=1.0) for name in LENGTHS}
HIDDEN_RANGE = (0.6, 1.4)
"""Hidden lengths are drawn from here."""
TWIN_SETTINGS = TwinSettings(robot="ant", timestep=0.008)
EXCITATION = ExcitationSettings(
    seconds=4.0,
    period=0.016,
    amplitude={"*_yaw": 0.3, "*_lift": 0.35, "*_knee": 0.4},
    centre={"*_lift": 0.7},
)
"""Deep in the knees, where femurs and tibias lift the body by different angles."""
EXCITATION_SEEDS = (6, 4)
"""Seeds of the two trials: the most informative of six that were tried on two bodies."""
COLUMN_SCALES = {"pose.x": 0.05, "pose.y": 0.05, "pose.z": 0.01, "pose.q*": 0.05}
"""Differences with equal weight [m, and parts of a quaternion]; feet slip, so heights are more informative."""
POSE_NOISE = Noise(place=5e-4)
"""Noise of the measured pose: 0.5 mm, and 1 mrad in its quaternion."""
FIT_SETTINGS = ResponseFitSettings(samples=1200)


@dataclass(frozen=True)
class IdentifiedBody:
    """One body identified."""

    reality: Literal["same", "other"]
    """Whether reality has the same physics except for the lengths, or another one."""
    hidden: Mapping[str, float]
    estimate: Mapping[str, float]
    differs: Mapping[str, float]
    """Other differences of reality, by target."""
    candidates: int
    cpu_seconds: float

    @property
    def errors(self) -> list[float]:
        """Relative errors of the lengths."""
        return [abs(self.estimate[name] / value - 1) for name, value in self.hidden.items()]

    def as_json(self) -> dict[str, Any]:
        """The row as values for results.json."""
        return {**vars(self), "errors": self.errors}


def ant_lengths(bodies: int, settings: Settings, say: experiment.Progress = experiment.silent) -> list[IdentifiedBody]:
    """Identifies hidden bodies, each in a reality of the same physics and in another one.

    The numbers of a `--reality` file hold for the first body; all others are drawn.
    """
    given = read_reality(settings.reality)
    found = []
    for number in range(bodies):
        rng = np.random.default_rng([settings.seed, number])
        lengths = dict(zip(LENGTHS, rng.uniform(*HIDDEN_RANGE, len(LENGTHS)).tolist(), strict=True))
        others = _drawn(rng)
        if number == 0:
            lengths |= {name: value for name, value in given.hidden.items() if name in LENGTHS}
            others = given.adjustments or others
        for differs in ((), others):
            say(f"our way: body {number + 1} of {bodies}, {'other' if differs else 'same'} physics")
            found.append(_identified(lengths, differs, number, settings))
    return found


def _drawn(rng: np.random.Generator) -> tuple[Adjustment, ...]:
    """Another physics than the searched one."""
    gain = float(rng.uniform(0.8, 1.25))
    return (
        Adjustment(target="physics.timestep", value=0.004),
        Adjustment(target="foot.friction", value=float(rng.uniform(0.6, 1.4))),
        Adjustment(target="drives.servo.stiffness", value=gain, relative=True),
        Adjustment(target="drives.servo.damping", value=gain, relative=True),
        Adjustment(target="mass.Torso", value=float(rng.uniform(0.85, 1.2)), relative=True),
    )


def _identified(
    lengths: Mapping[str, float], differs: tuple[Adjustment, ...], number: int, settings: Settings
) -> IdentifiedBody:
    twin = Twin(TWIN_SETTINGS, SEARCHED_LENGTHS, threads=settings.threads)
    watch = Watch(fitness=None, series=("pose.*",))
    trials = excitations(EXCITATION, twin.table, Worlds(twin.base).robot(TWIN_ROBOT).start, EXCITATION_SEEDS)
    hidden = Twin(replace(TWIN_SETTINGS, adjustments=differs), SEARCHED_LENGTHS, threads=settings.threads)
    real = HiddenSimulation(hidden, lengths, watch, noise=POSE_NOISE, seed=settings.seed)
    observed = [one.behaviour for one in real.try_out(trials)]
    begun = time.process_time()
    rng = np.random.default_rng([settings.seed, number, 1])
    distance = DistanceSettings(kind="rms", weights={column: scale**-2 for column, scale in COLUMN_SCALES.items()})
    cost = SimulationCost(twin, tuple(trials), tuple(observed), watch, distance)
    result = minimise(cost.rows, ResponseFit(twin.space, FIT_SETTINGS, rng), InThisThread(), budget=1000)
    return IdentifiedBody(
        reality="other" if differs else "same",
        hidden=dict(lengths),
        estimate=twin.space.named(result.estimate),
        differs={a.target: a.value for a in differs},
        candidates=result.evaluations,
        cpu_seconds=time.process_time() - begun,
    )


def length_summary(found: Sequence[IdentifiedBody], reality: str) -> dict[str, float]:
    """Median and 90th percentile of all relative errors, the slowest fit, and the trials used."""
    chosen = [one for one in found if one.reality == reality]
    errors = np.array([one.errors for one in chosen])
    return {
        "bodies": len(chosen),
        "median": float(np.median(errors)),
        "percentile_90": float(np.percentile(errors, 90)),
        "worst": float(errors.max()),
        "trials_in_reality": len(EXCITATION_SEEDS),
        "cpu_seconds": float(np.median([one.cpu_seconds for one in chosen])),
    }


# The realities in which the ant learns to walk: families of hidden numbers, and the effort of a run.
#
# - `lengths`: the four lengths of seed 000, within 40 % of the drawn ones. An ant is forgiving: a gait that was
#   learned on the wrong lengths keeps most of its speed.
# - `lame`: besides, joints that are hard to move, on the left side ten times as much as on the right. A gait that was
#   learned on the body as drawn walks in circles there; what is searched includes the damping of both sides.
#
# Settings were chosen by measurements on the ant in steps of 10 ms (slopes of the fitness of random gaits over the
# lengths, and its roughness: how it changes with lengths that differ by 0.3 %). Ten gaits with full amplitudes,
# searched by the genetic algorithm in a model with these slopes and this roughness, give lengths to 2 to 3 %; with
# 0.4 to 0.7 of the amplitudes 1.2 to 2.5 %, as the ant slips and stumbles less; with 0.2 of them 0.8 %, but 4.7 %
# where a leg is so short that it then never touches the ground. The model is kinder than the ant: it has no bends in
# its slopes.


GENTLE_CONTROLLERS = 12
"""Number of gentle random controllers in an iteration."""
IDENTIFYING_WAYS = ("paper", "improved", "exploring")
"""Ways that estimate the body."""
CONTROLS = ("true body", "no identification", "reality alone")
"""Ways with which the others are compared."""
WAYS = (*IDENTIFYING_WAYS, "discrepancy", *CONTROLS)
"""All ways of learning to walk in a reality."""
QUICK_WAYS = ("paper", *CONTROLS)
"""Those of the quick version."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """A kind of realities."""

    name: str
    searched: Mapping[str, Searched]
    """S: the searched numbers of the simulation."""
    hidden: Mapping[str, tuple[float, float]]
    """Ranges of the hidden numbers, which are drawn evenly along their scales."""
    compared: int = 24
    """Number of stored trials, the newest ones, in which simulations are compared."""
    step: float = 0.12
    """First step of the simulation search, as a part of each range."""

    def draw(self, rng: np.random.Generator) -> dict[str, float]:
        """Hidden numbers of one reality."""
        found = {}
        for name, (low, high) in self.hidden.items():
            log = self.searched[name].scale == "log"
            found[name] = float(np.exp(rng.uniform(np.log(low), np.log(high))) if log else rng.uniform(low, high))
        return found


LENGTHS_FAMILY = Family(name="lengths", searched=SEARCHED_LENGTHS, hidden=dict.fromkeys(SEARCHED_LENGTHS, HIDDEN_RANGE))
DAMPING_RANGE = {"low": 0.03, "high": 5.0, "start": 0.05, "scale": "log", "unit": "N m s/rad"}
LAME_FAMILY = Family(
    name="lame",
    searched={
        **SEARCHED_LENGTHS,
        "left damping": Searched(**DAMPING_RANGE, sets=("joint.L*.damping",)),  # type: ignore[arg-type]
        "right damping": Searched(**DAMPING_RANGE, sets=("joint.R*.damping",)),  # type: ignore[arg-type]
    },
    hidden={**dict.fromkeys(SEARCHED_LENGTHS, HIDDEN_RANGE), "left damping": (1.0, 3.0), "right damping": (0.1, 0.3)},
    step=0.2,  # what is hidden is far from where the search starts
)
FAMILIES = (LENGTHS_FAMILY, LAME_FAMILY)


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Size of the search; by default that of seed 000, section 4.1."""

    iterations: int = 13
    controllers: int = 11
    """Generations of 20 controllers in an iteration."""
    simulations: int = 11
    """Generations of 15 simulations in an iteration."""
    trials: int = 15
    """Trials in reality in an iteration."""
    most_trials: int = 180
    """Maximum number of trials in reality."""


EFFORTS = {
    "quick": Effort(iterations=2, controllers=3, simulations=2, trials=12, most_trials=24),
    "small": Effort(iterations=3, controllers=4, simulations=4, trials=15, most_trials=45),
    "middle": Effort(iterations=7, controllers=8, simulations=8, trials=15, most_trials=90),
    "paper": Effort(),
}
"""Efforts by the name of `--scale`."""


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
        if name not in LAME_FAMILY.searched:
            hint = suggestion(name, LAME_FAMILY.searched)
            raise FileError(
                path,
                f"[hidden] has {name!r}. {hint}Allowed: {', '.join(LAME_FAMILY.searched)}.",
                line=files.line_of(path, f"hidden.{name}"),
            )
    return found


def improved_settings(
    family: Family, hidden: Mapping[str, float], adjustments: Sequence[Adjustment], effort: Effort, *, seed: int
) -> BtrSettings:
    """Back-to-Reality with phi1 and the genetic algorithm, at the paper's budget, with our step 2.

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
        transfer=TransferSettings(
            trials=effort.trials, random=min(GENTLE_CONTROLLERS, effort.trials), random_scale=0.5
        ),
        memory=MemorySettings(use="all", most=family.compared),
        stop=StopSettings(iterations=effort.iterations, most_trials=effort.most_trials),
        estimate="mean",
        seed=seed,
    )


def way_settings(improved: BtrSettings, way: str) -> BtrSettings:
    """The settings of one of `WAYS`, made from those of `improved`."""
    if way == "improved":
        return improved
    if way == "true body":
        return on_true_body(improved)
    if way == "no identification":
        return without_identification(improved)
    if way == "same trials":
        return replace(improved, mode="none", transfer=TransferSettings(trials=improved.transfer.trials))
    if way == "reality alone":
        return replace(improved, mode="reality")
    # 60 % of the population (trials=None), by fitness; only this iteration's trials; the best candidate.
    genetic = replace(improved.simulation_search.genetic, elite=1)
    paper = replace(
        improved,
        transfer=TransferSettings(),
        memory=MemorySettings(use="last", iterations=1),
        simulation_search=replace(improved.simulation_search, genetic=genetic),
        estimate="best",
    )
    if way == "exploring":
        return replace(paper, transfer=TransferSettings(exploring=paper.trials // 2))
    if way == "discrepancy":
        return replace(paper, mode="discrepancy", discrepancy="controller")
    return paper


def without_identification(settings: BtrSettings) -> BtrSettings:
    """The control: the same controller search on the body as drawn, and one trial of its champion in reality."""
    return replace(settings, mode="none", transfer=replace(settings.transfer, trials=0, random=0))


def on_true_body(settings: BtrSettings) -> BtrSettings:
    """The settings of the same controller search on the body of reality."""
    simulation = dict(settings.simulation)
    for name, value in settings.reality.values.items():
        one = simulation[name]
        simulation[name] = replace(one, start=value, low=min(one.low, value), high=max(one.high, value))
    robot = replace(settings.robot, adjustments=settings.reality.adjustments)
    reality = replace(settings.reality, robot=settings.robot)
    return replace(without_identification(settings), simulation=simulation, robot=robot, reality=reality)


TABLE_NOTES = (
    "errors are those of the lengths, averaged over the last five iterations, the four lengths and the realities.",
    "speeds are those in reality, of the champion of the last search, as a share of one learned on the true body.",
    "the paper prints no errors: its figure 3 shows four estimates that approach 1 and oscillate.",
)


MIN_SPEED_GAIN = 0.02
"""A step helps if it gains at least this share of the speed that is learned on the true body."""
MIN_ERROR_GAIN = 0.01
"""Decrease of the relative error of the lengths from which on a step helps."""


def ant_claims(answer: Mapping[str, Any]) -> list[experiment.Claim]:
    """Claims of the paper about its ant, further claims, and the results; seeds are realities."""
    claims = []
    for name, family in answer["families"].items():
        ways = family["ways"]
        for way in (one for one in IDENTIFYING_WAYS if one in ways):
            found = ways[way]
            claims += [
                experiment.Claim(
                    what=f"{name}, {way}: error of lengths over that of the body as drawn",
                    ours=experiment.Estimate.of(found["error_share"]),
                    most=1.0,
                ),
                experiment.Claim(
                    what=f"{name}, {way}: share of iterations in which phi falls",
                    ours=experiment.Estimate.of(found["phi_falls"]),
                    least=0.9,
                ),
                experiment.Claim(
                    what=f"{name}, {way}: speed in reality over that of trials in reality alone",
                    ours=experiment.Estimate.of(found["of_reality_alone"]),
                    least=1.0,
                ),
            ]
        claims += _effects(name, ways)
    return claims


def _effects(name: str, ways: Mapping[str, Mapping[str, Any]]) -> list[experiment.Claim]:
    """Whether each step helps, as gains over another way in the same realities."""
    pairs = (
        ("paper", "no identification", "identification (paper)"),
        ("improved", "paper", "our step 2"),
        ("exploring", "paper", "active exploration"),
        ("discrepancy", "no identification", "the learned discrepancy"),
    )
    found = []

    def claim(what: str, larger: Sequence[float], smaller: Sequence[float], least: float) -> None:
        gain = experiment.Estimate.of(np.subtract(larger, smaller))
        found.append(experiment.Claim(what=f"{name}: {what}", ours=gain, least=least))

    for better, worse, what in pairs:
        if better not in ways or worse not in ways:
            continue
        good, bad = ways[better], ways[worse]
        claim(f"speed gained by {what}, share", good["of_true_body"], bad["of_true_body"], MIN_SPEED_GAIN)
        if better in IDENTIFYING_WAYS and worse in IDENTIFYING_WAYS:
            claim(f"error of lengths saved by {what}", bad["error"], good["error"], MIN_ERROR_GAIN)
    return found


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Lengths and walks of the ant by way; then claims, and our own way to the lengths."""
    rows = [
        {"family": name, "way": way, **found}
        for name, family in answer["families"].items()
        for way, found in family["ways"].items()
    ]

    def mean(key: str, form: str) -> experiment.Cell:
        return lambda row: format(float(np.mean(row[key])), form) if row.get(key) else "-"

    def spread(key: str, form: str) -> experiment.Cell:
        return lambda row: f"{min(row[key]):{form}} to {max(row[key]):{form}}" if row.get(key) else "-"

    columns: dict[str, experiment.Cell] = {
        "family": experiment.text("family"),
        "way": experiment.text("way"),
        "error": mean("error", ".1%"),
        "from – to": spread("error", ".1%"),
        "of true body": mean("of_true_body", ".2f"),
        "least – most": spread("of_true_body", ".2f"),
        "of reality alone": mean("of_reality_alone", ".2f"),
        "trials": lambda row: str(max(row["trials"])),
        "CPU [s]": mean("cpu_seconds", ".0f"),
    }
    return experiment.ResultTable.of(
        rows,
        columns,
        *answer["notes"],
        *experiment.claim_notes(answer["claims"]),
        *experiment.goal_notes(answer["goals"]),
    )


def _length_notes(ours: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Two sentences about the lengths found our own way, with their goals."""
    goals = {"same": "2 %", "other": "5 %"}
    return [
        f"our own way, {'the same' if kind == 'same' else 'another'} physics, {found['bodies']:g} bodies, "
        f"{found['trials_in_reality']:g} trials: median error {found['median']:.1%} (goal: at most {goals[kind]}), "
        f"90th percentile {found['percentile_90']:.1%}, {found['cpu_seconds']:.1f} s of processor time a body."
        for kind, found in ours.items()
    ]


AVERAGED_ITERATIONS = 5
"""Number of last iterations over which errors are averaged, because estimates oscillate."""
PAPER_EFFORT = {"iterations": 13, "controllers": 11 * 20, "simulations": 11 * 15, "trials_in_reality": 180}
"""Section 4.1; evaluations of an iteration. The paper prints no errors: its figure 3 shows estimates about 1."""


@dataclass(frozen=True, kw_only=True)
class Learned:
    """The result of one way in one reality."""

    family: str
    seed: int
    way: str
    hidden: Mapping[str, float]
    errors: Mapping[str, float]
    """Relative error of each searched number, averaged over the last iterations; empty if none is searched."""
    speed: float
    """Speed of the learned controller in reality [m/s]."""
    phi_falls: float | None
    """Share of the iterations in which phi fell."""
    trials: int
    """Trials in reality."""
    cpu_seconds: float
    """Processor time, all threads together [s]."""

    @property
    def length_error(self) -> float | None:
        """Mean relative error of the lengths."""
        return float(np.mean([self.errors[name] for name in LENGTHS])) if self.errors else None

    def as_json(self) -> dict[str, Any]:
        """The row as values for results.json."""
        return dict(vars(self))


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means two realities with other lengths, the paper's step 2 with little effort, and controls."""

    seed: int = 0
    """The first seed."""
    seeds: int = 10
    """Number of realities of each family."""
    reality: Path | None = None
    """A file with other hidden values, for every seed (`AntReality`)."""
    scale: str | Effort = ""
    """Effort of Back-to-Reality: quick, small, middle or paper; `paper` if empty."""
    families: tuple[Family, ...] = FAMILIES
    """The families of realities."""
    ways: tuple[str, ...] = ()
    """The ways of learning; all if empty. The controls are run in any case, because speeds are shares of theirs."""
    bodies: int = 0
    """Number of bodies that are identified our own way; 0 for twice as many as seeds."""

    @property
    def effort(self) -> Effort:
        """Size of the search."""
        return experiment.find_scale(self.scale, EFFORTS, "quick" if self.quick else "paper")

    @property
    def chosen_ways(self) -> tuple[str, ...]:
        """The ways that are run, in the order of `WAYS`."""
        for way in self.ways:
            if way not in WAYS:
                raise UnknownNameError("way", way, WAYS)
        wanted = self.ways or (QUICK_WAYS if self.quick else WAYS)
        return tuple(way for way in WAYS if way in (*wanted, *CONTROLS))


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Runs everything, or goes on with it; draws a figure for each reality."""
    families = settings.families[:1] if settings.quick else settings.families
    seeds = max(settings.seeds, 2) if settings.quick else settings.seeds
    found: dict[str, list[Learned]] = {family.name: [] for family in families}
    for number in range(settings.seed, settings.seed + seeds):
        for family in families:
            found[family.name] += _learned(out, family, number, settings, say)
            learned = [one.as_json() for rows in found.values() for one in rows]
            write_json(out / "results.json", {"learned": learned, "complete": False})
    ours = ant_lengths(settings.bodies or (1 if settings.quick else 2 * seeds), settings, say)
    lengths = {kind: length_summary(ours, kind) for kind in ("same", "other")}
    answer: dict[str, Any] = {
        "experiment": "btr-ant",
        "families": {name: {"ways": _summary(rows)} for name, rows in found.items()},
        "our_way": lengths,
        "paper": PAPER_EFFORT,
        "settings": {"quick": settings.quick, "seed": settings.seed, "seeds": seeds, **vars(settings.effort)},
        "learned": [one.as_json() for rows in found.values() for one in rows],
        "bodies": [one.as_json() for one in ours],
        "notes": [*TABLE_NOTES, *_length_notes(lengths)],
        "complete": True,
    }
    claims, goals = ant_claims(answer), _goals(answer)
    return {**answer, "claims": [one.as_json() for one in claims], "goals": [one.as_json() for one in goals]}


def _goals(answer: Mapping[str, Any]) -> list[experiment.Goal]:
    """The goals of every run."""
    goals = []
    for name, family in answer["families"].items():
        for way in (one for one in IDENTIFYING_WAYS if one in family["ways"]):
            found = family["ways"][way]
            ratio = float(np.mean(found["of_reality_alone"]))
            falls = float(np.mean(found["phi_falls"]))
            goals += [
                experiment.Goal(what=f"{name}, {way}: share of iterations in which phi falls", found=falls, limit=0.9),
                experiment.Goal(
                    what=f"{name}, {way}: speed over that learned in reality alone", found=ratio, limit=1.0
                ),
                experiment.Goal(
                    what=f"{name}, {way}: trials in reality", found=max(found["trials"]), limit=180, most=True
                ),
            ]
    error = answer["our_way"]["same"]["median"]
    return [*goals, experiment.Goal(what="our own way: median error of lengths", found=error, limit=0.05, most=True)]


def _learned(out: Path, family: Family, seed: int, settings: Settings, say: experiment.Progress) -> list[Learned]:
    """One reality: every way of learning in it, and the figures."""
    from nutmeg.view.reports.btr import figure3

    other = read_reality(settings.reality)
    drawn = family.draw(np.random.default_rng([seed, FAMILIES.index(family) if family in FAMILIES else 0]))
    hidden = {name: other.hidden.get(name, value) for name, value in drawn.items()}
    improved = improved_settings(family, hidden, other.adjustments, settings.effort, seed=seed)
    place = out / family.name / f"seed-{seed:02d}"
    found = []
    for way in settings.chosen_ways:
        begun, folder = time.process_time(), place / way.replace(" ", "-")
        one = way_settings(improved, way)
        result = _run(one, folder, settings.threads, f"{family.name}, seed {seed}, {way}", say)
        cpu = _cpu(folder, time.process_time() - begun)
        identifies = way in IDENTIFYING_WAYS
        if identifies:
            picture = figure3(result, truth=hidden, fitness="speed [m/s]", phi="phi1 [m/s]")
            (place / f"figure-3-{way}.png").write_bytes(picture)
        found.append(
            Learned(
                family=family.name,
                seed=seed,
                way=way,
                hidden=hidden,
                errors=_averaged_errors(result, hidden) if identifies else {},
                speed=result.champion_fitness,
                phi_falls=_phi_falls(result) if identifies else None,
                trials=result.trials,
                cpu_seconds=cpu,
            )
        )
    return found


def _phi_falls(result: BtrResult) -> float:
    """The share of iterations whose simulation search made phi smaller."""
    searched = [one for one in result.iterations if one.simulations is not None]
    return float(np.mean([one.phi < one.phi_before for one in searched]))


def _run(settings: BtrSettings, folder: Path, threads: int, label: str, say: experiment.Progress) -> BtrResult:
    def report(iteration: Iteration) -> None:
        say(f"{label}: iteration {iteration.number + 1}, {iteration.fitness:.3f} m/s in simulation")

    say(f"{label}: begins")
    evaluator, listeners = Threads(threads) if threads > 1 else InThisThread(), Listeners(on_iteration=report)
    return BackToReality(settings, folder=folder, evaluator=evaluator, listeners=listeners).run()


def _averaged_errors(
    result: BtrResult, hidden: Mapping[str, float], last: int = AVERAGED_ITERATIONS
) -> dict[str, float]:
    """Relative error of each searched number, averaged over the last iterations that searched simulations."""
    searched = [one for one in result.iterations if one.simulations is not None][-last:]
    truth = np.array([hidden[name] for name in result.simulations.names])
    errors = np.mean([np.abs(one.simulation / truth - 1) for one in searched], axis=0)
    return result.simulations.named(errors)


def _cpu(folder: Path, seconds: float) -> float:
    """CPU time of a run over all its sessions; a run that was only read again has its old one."""
    file = folder / "cpu_seconds.json"
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else 0.0
    total = max(float(before), seconds)
    file.write_text(json.dumps(total) + "\n", encoding="utf-8")
    return total


def _summary(rows: Sequence[Learned]) -> dict[str, dict[str, Any]]:
    """Results of each way in each reality of a family, as lists over realities."""
    by_way: dict[str, list[Learned]] = {}
    for row in rows:
        by_way.setdefault(row.way, []).append(row)
    speeds = {way: np.array([row.speed for row in found]) for way, found in by_way.items()}
    drawn = [float(np.mean([abs(1 / row.hidden[name] - 1) for name in LENGTHS])) for row in by_way["true body"]]
    answer = {}
    for way, found in by_way.items():
        errors = [row.length_error for row in found if row.length_error is not None]
        answer[way] = {
            "speed": speeds[way].tolist(),
            "of_true_body": (speeds[way] / speeds["true body"]).tolist(),
            "of_reality_alone": (speeds[way] / speeds["reality alone"]).tolist(),
            "error": errors,
            "error_share": [error / before for error, before in zip(errors, drawn, strict=bool(errors))],
            "phi_falls": [row.phi_falls for row in found if row.phi_falls is not None],
            "trials": [row.trials for row in found],
            "cpu_seconds": [row.cpu_seconds for row in found],
        }
    return answer


# Back-to-Reality at several efforts, beside the same search without identification.


COMPARED_WAYS = ("improved", "paper", "same trials", "reality alone")
"""`same trials` is the search on the body as drawn with as many trials in reality, of which the best is handed over."""


def _effort_run(out: Path, effort: str, family: str, way: str, seed: int) -> dict[str, Any]:
    """One way in one reality at one effort: the final controller, and the best so far after each trial in reality."""
    chosen = next(one for one in FAMILIES if one.name == family)
    hidden = chosen.draw(np.random.default_rng([seed, FAMILIES.index(chosen)]))
    improved = improved_settings(chosen, hidden, (), EFFORTS[effort], seed=seed)
    folder = out / effort / family / f"seed-{seed:02d}" / way.replace(" ", "-")
    begun = time.process_time()
    result = _run(way_settings(improved, way), folder, 1, f"{effort}, {family}, seed {seed}, {way}", experiment.silent)
    real = [line["fitness"] for line in read_lines(folder / REALITY_LOG) if line.get("fitness") is not None]
    return {
        "handed_over": result.fitness,
        "champion": result.champion_fitness,
        "trials": result.trials,
        "best_so_far": np.maximum.accumulate(real).tolist(),
        "errors": _averaged_errors(result, hidden) if way in IDENTIFYING_WAYS else {},
        "cpu_seconds": time.process_time() - begun,
    }


class Efforts:
    """The experiment `btr-efforts`."""

    @dataclass(frozen=True, kw_only=True)
    class Settings(experiment.ExperimentSettings):
        """Options; quick means one body of each family at the smallest effort."""

        seed: int = 0
        seeds: int = 5
        """Number of hidden bodies of each of the two families."""
        scale: str = "quick small middle"
        """The efforts, by their names in `EFFORTS`."""

    @staticmethod
    def run(out: Path, settings: Efforts.Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
        """Runs what is not done yet; each body, effort and way is kept."""
        efforts = ("quick",) if settings.quick else tuple(settings.scale.split())
        for name in efforts:
            if name not in EFFORTS:
                raise UnknownNameError("effort", name, EFFORTS)
        numbers = range(settings.seed, settings.seed + (1 if settings.quick else settings.seeds))
        keys = [
            (effort, family.name, way, seed)
            # The longest first, so that none of them is left alone at the end.
            for effort in reversed(efforts)
            for way in COMPARED_WAYS
            for family in FAMILIES
            for seed in numbers
        ]
        jobs = [
            experiment.SeedJob(out / "results" / effort / f"{family}, {way}", seed, vars(EFFORTS[effort]),
                    partial(_effort_run, out, effort, family, way))
            for effort, family, way, seed in keys
        ]  # fmt: skip
        found = dict(zip(keys, experiment.finish_jobs(jobs, settings.threads, say), strict=True))
        rows = [_effort_row(effort, numbers, found) for effort in efforts]
        claims = [
            experiment.Claim(
                what=f"{row['effort']}: {way}, speed handed over less that without identification, m/s",
                ours=experiment.Estimate.of(row["gain"][way]),
                least=0.0,
            )
            for row in rows
            for way in IDENTIFYING_WAYS[:2]
        ]
        return {
            "rows": rows,
            "seeds": list(numbers),
            "families": [family.name for family in FAMILIES],
            "claims": [one.as_json() for one in claims],
            "goals": [one.as_json() for one in experiment.goals_of(claims)],
        }

    @staticmethod
    def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
        """Speeds and trials by effort and way."""
        rows = [
            {"effort": row["effort"], "way": way, **row["ways"][way]} for row in answer["rows"] for way in row["ways"]
        ]
        columns = {
            "effort": experiment.text("effort"),
            "way": experiment.text("way"),
            "speed [m/s]": experiment.decimal("speed"),
            "±": experiment.decimal("error"),
            "worse than without": experiment.text("worse"),
            "trials": experiment.decimal("trials", 0),
            "trials to be as good": experiment.decimal("needed", 1),
            "CPU [s]": experiment.decimal("cpu_seconds", 0),
        }
        notes = (
            "speed in reality of the gait that is handed over, mean over hidden bodies.",
            "trials to be as good: until a gait was tried that is as fast as the best without identification.",
        )
        return experiment.ResultTable.of(
            rows, columns, *notes, *experiment.claim_notes(answer["claims"]), *experiment.goal_notes(answer["goals"])
        )


def _effort_row(
    effort: str, seeds: Iterable[int], found: Mapping[tuple[str, str, str, int], Mapping[str, Any]]
) -> dict[str, Any]:
    """All ways at one effort, over the hidden bodies of all families."""
    bodies = [(family.name, seed) for family in FAMILIES for seed in seeds]

    def each(way: str) -> list[Mapping[str, Any]]:
        return [found[effort, family, way, seed] for family, seed in bodies]

    control = np.array([one["handed_over"] for one in each("same trials")])
    ways = {}
    for way in COMPARED_WAYS:
        speeds = np.array([one["handed_over"] for one in each(way)])
        # Where a way never reaches the speed, all its trials count.
        needed = [
            next((i + 1 for i, best in enumerate(one["best_so_far"]) if best >= goal - 1e-12), one["trials"])
            for one, goal in zip(each(way), control, strict=True)
        ]
        ways[way] = {
            "speeds": speeds.tolist(),
            "speed": float(speeds.mean()),
            "error": float(speeds.std(ddof=1) / np.sqrt(len(speeds))) if len(speeds) > 1 else None,
            "worse": f"{int((speeds < control - 1e-12).sum())} of {len(speeds)}",
            "trials": float(np.mean([one["trials"] for one in each(way)])),
            "needed": float(np.mean(needed)),
            "cpu_seconds": float(np.mean([one["cpu_seconds"] for one in each(way)])),
        }
    gain = {way: np.subtract(ways[way]["speeds"], control).tolist() for way in COMPARED_WAYS}
    return {"effort": effort, "bodies": len(bodies), "ways": ways, "gain": gain}
