"""The chain of the MoToFlex paper (seed 001, sections 4 and 5): recordings, evolution strategy, parameters, walks.

    answer = run(Path("runs/motoflex-fit"), Settings(seed=0, seeds=2))
    answer["runs"][0]["strategies"]["es"]["cut"]        # F at the start over F at the end
    answer["runs"][0]["walks"]                          # both walking set-ups with the parameters that were found
    answer["runs"][0]["zmps"]                           # when they fall with other reference ZMPs

Four walks and a kick of a hidden robot are recorded, a (mu+lambda)-ES in which no parent lives longer than three
generations fits motors, gears and links to the joint angles (F of equation 2 with m = 2), and the parameters that it
finds (params.toml) walk in both set-ups of section 5 beside the hidden robot and the robot before the fit. Then the
second set-up is walked with other reference ZMPs, because the paper's claim is that a ZMP keeps the fitted simulation
up if and only if it keeps the robot up. CMA-ES and least squares by Levenberg and Marquardt get the same number of
candidates.

Reality is a hidden simulation whose numbers are drawn within the ranges of `SEARCHED_FACTORS`; its encoders are noisy
and coarse, its motors exact (disturbed commands make every walk another one, and drown what the numbers change).

On a GPU (`--device gpu`) the searches of all robots and strategies run together: in every generation their candidates
are simulated in one batch, in 32 bit. The hidden robots are recorded on the processor, and every F that is reported,
and every walk afterwards, is MuJoCo's on the processor. Searches are saved after every generation and go on from there.

The paper's scale is a (10+800)-ES, 100 generations, walks of 10 s in steps of 1 ms: a cluster of 200 nodes took up to
a day. `scale="paper"` is that, `long` a (10+80)-ES with the same walks and fewer generations, and `evolution` one with
shorter walks in longer steps.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.journal import each_seed
from nutmeg.experiments import experiment
from nutmeg.experiments.back_to_reality.hidden_fit import Disturbance, followed, hidden_fit, hidden_values
from nutmeg.experiments.motoflex.motoflex_walk import COMMAND_PERIOD, SET_UPS, ZMP_REFERENCES, walk_row, zmp_name
from nutmeg.model.identified import IdentifiedBody, IdentifiedParameter, write_body
from nutmeg.motion.kick import Kick, KickSettings
from nutmeg.motion.preview_walk import FALLEN_COSINE, MOTOFLEX_2, QUICK_STEPS, PreviewWalk, PreviewWalkSettings
from nutmeg.reality.distances.distance import DistanceSettings, make_distance
from nutmeg.reality.distances.series_error import error_if_ended, least_exponent
from nutmeg.reality.identify.curvature import curvature
from nutmeg.reality.identify.identifiability import assess_identifiability
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings, TwinTogether
from nutmeg.search import (
    Budget,
    CmaEs,
    CmaEsSettings,
    EvolutionStrategy,
    EvolutionStrategySettings,
    InThisThread,
    LeastSquares,
    LeastSquaresSettings,
    minimise,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.identify.curvature import Curvature
    from nutmeg.reality.identify.identification import ReplayCost
    from nutmeg.search.run import Generation, SearchResult
    from nutmeg.sim.worlds import Device


# The trials of a MoToFlex fit, and the searched numbers of its robots (seed 001, section 4).
#
# The paper names neither its four walks nor its kick; these are walks ahead, aside, in a curve and with long steps.
# Its unknowns were gains, friction and gear and flex numbers; here each is a factor of what the robot's
# `actuation.toml` says. The two types of gears in the legs have a set each, as in the paper: those of the roll and yaw
# joints (ratio 201) and those of the pitch joints (ratio 131).


WALKS = {
    "ahead": dataclasses.replace(QUICK_STEPS, start=0.7, stop=0.3, ramp=1),
    "aside": dataclasses.replace(QUICK_STEPS, forward=0.0, sideways=0.05, start=0.7, stop=0.3, ramp=1),
    "curve": dataclasses.replace(QUICK_STEPS, forward=0.05, turn=0.4, start=0.7, stop=0.3, ramp=1),
    "long steps": PreviewWalkSettings(forward=0.15, step_duration=0.8, start=0.7, stop=0.3, ramp=1),
}
_KICK_SETTINGS = KickSettings(shift_time=0.6, back_time=0.4, return_time=0.4)
_DELICATE_WALK = dataclasses.replace(MOTOFLEX_2, zmp_width=0.85)
"""The paper's second set-up with the weight 15 % further inside: stiff legs walk, soft ones fall."""


def _factor(low: float, high: float, *sets: str) -> Searched:
    return Searched(low=low, high=high, start=1.0, scale="log", sets=sets, relative=True)


SEARCHED_FACTORS = {
    "pitch_gain": _factor(0.4, 2.5, "servo.leg130.p"),
    "roll_gain": _factor(0.4, 2.5, "servo.leg201.p"),
    "viscous": _factor(0.25, 4.0, "servo.leg*.viscous"),
    "coulomb": _factor(0.25, 4.0, "servo.leg*.coulomb"),
    "inertia": _factor(0.4, 2.5, "servo.leg*.rotor_inertia"),
    "roll_play": _factor(0.25, 2.5, "gear.leg201.play"),
    "pitch_play": _factor(0.25, 2.5, "gear.hip_knee.play", "gear.ankle.play"),
    "roll_gear_stiffness": _factor(0.25, 2.0, "gear.leg201.stiffness"),
    "pitch_gear_stiffness": _factor(0.25, 2.0, "gear.hip_knee.stiffness", "gear.ankle.stiffness"),
    "flex_stiffness": _factor(0.25, 2.0, "flex.legs.stiffness"),
}
"""Factors; stiffer gears than these are unstable with steps of 4 ms."""
_SEARCHED_LEGS = {
    "legs": _factor(0.05, 4.0, "gear.*.stiffness", "flex.legs.stiffness"),
    "play": _factor(0.1, 3.0, "gear.*.play"),
}
"""Searched numbers for the falls: stiffness and play of the legs."""


def motoflex_twin(timestep: float, searched: dict[str, Searched] | None = None, *, threads: int = 1) -> Twin:
    """A Nao V4 with motors, gears and bending legs."""
    settings = TwinSettings(robot="nao-v4", actuation="motoflex", timestep=timestep)
    return Twin(settings, SEARCHED_FACTORS if searched is None else searched, threads=threads)


def four_walks_and_a_kick(table: RobotTable, seconds: float) -> list[Trial]:
    """The five trials of an evaluation: four walks of this duration [s], and a kick of its own duration."""
    trials = [walking(table, name, settings, seconds) for name, settings in WALKS.items()]
    kick = Kick(table, _KICK_SETTINGS)
    times = np.arange(round(kick.duration / COMMAND_PERIOD)) * COMMAND_PERIOD
    return [*trials, Trial(name="kick", period=COMMAND_PERIOD, commands=kick.angles(times))]


def walking(table: RobotTable, name: str, settings: PreviewWalkSettings, seconds: float) -> Trial:
    """A walk as a trial."""
    walk = PreviewWalk(table, settings, duration=seconds)
    commands = np.stack([walk.angles(row * COMMAND_PERIOD) for row in range(round(seconds / COMMAND_PERIOD))])
    return Trial(name=name, period=COMMAND_PERIOD, commands=commands)


_PAPER_SCALE = {
    "parents": 10,
    "children": 800,
    "lifetime": 3,
    "generations": 100,
    "timestep": 0.001,
    "seconds": 10.0,
    "robots": "four walking, one kicking",
    "nodes": 200,
}
_LIFETIME = 3
"""Lifetime of a parent of the evolution strategy, in generations."""
_WALKERS = ("hidden", "before", "found")
"""Robots that walk after a fit: the hidden one, the one before the fit, and that of the first strategy."""
_CUT_GOAL = 5.0
"""Goal for the factor by which a fit reduces the error."""
_EXPONENT = 2.0
"""The exponent m of F."""
DISTURBANCE = Disturbance(angle=0.0005, resolution=0.0015)
"""Noise and resolution of the encoders, as of a Nao's [rad]."""
_STIFF_ROBOT = np.array([2.0, 0.3])
"""Legs and play of the robot that does not fall, in the demonstration of m."""
_SOFT_ROBOT = np.array([0.1, 1.0])
"""A simulation of it that falls."""
_LOOSE_ROBOT = np.array([1.0, 2.0])
"""A simulation of it that walks on."""
SHOWN_JOINTS = ("LHipRoll", "LKneePitch", "RAnklePitch")


STRATEGIES = ("es", "cma-es", "least-squares")
"""The searchers that are compared; `es` is the paper's, and its parameters walk."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The effort of a fit."""

    seconds: float
    """Length of the walks [s]."""
    timestep: float
    """Length of a physics step [s]."""
    generations: int
    """Generations of the evolution strategy; the other strategies get as many candidates."""
    parents: int = 10
    """Parents of the (mu+lambda)-ES."""
    children: int = 80
    """Children of the (mu+lambda)-ES."""
    strategies: tuple[str, ...] = STRATEGIES
    walk_seconds: float = 12.0
    """Length of the walks of both set-ups afterwards [s]."""
    references: int = len(ZMP_REFERENCES)
    """Number of reference ZMPs that are tried afterwards."""
    judged: bool = False
    """Whether the first robot's numbers are judged for identifiability."""
    least_cut: float = _CUT_GOAL
    """The factor by which F must be cut."""

    @property
    def candidates(self) -> int:
        """Number of candidates of each strategy."""
        return self.generations * self.children


SCALES = {
    "quick": Scale(
        seconds=1.9,
        timestep=0.004,
        parents=2,
        children=6,
        generations=2,
        strategies=("es",),
        walk_seconds=8.0,
        references=2,
        least_cut=1.05,
    ),
    "small": Scale(seconds=1.9, timestep=0.004, parents=3, children=12, generations=3, least_cut=1.5),
    "middle": Scale(seconds=2.0, timestep=0.004, generations=4, judged=True),
    "evolution": Scale(seconds=4.0, timestep=0.002, generations=20, judged=True),
    "long": Scale(seconds=10.0, timestep=0.001, generations=20, judged=True),
    "paper": Scale(seconds=10.0, timestep=0.001, children=800, generations=100, judged=True),
}


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means the scale `quick`."""

    seed: int = 0
    """Seed of the first hidden robot; the others follow."""
    seeds: int = 3
    """Number of hidden robots."""
    reality: Path | None = None
    """A TOML file with hidden factors, `values = { play = 0.5 }`; the others are drawn."""
    scale: str | Scale = ""
    """Size of the experiment: quick, small, middle, evolution, long or paper; `middle` if empty."""
    generations: int = 0
    """Generations of the evolution strategy; those of the scale if 0."""
    device: Device | None = None
    """Where candidates are simulated: the processor if left out, `gpu`, or `warp-cpu` (see `TwinSettings.device`)."""

    @property
    def size(self) -> Scale:
        """The effort of a fit."""
        scale = experiment.find_scale(self.scale, SCALES, "quick" if self.quick else "middle")
        return dataclasses.replace(scale, generations=self.generations or scale.generations)

    @property
    def engine(self) -> Device:
        """Where candidates are simulated: the processor, if nothing else is said."""
        return self.device or "cpu"


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Fits several hidden robots and lets the parameters walk; draws figures of the first."""
    size, numbers = settings.size, range(settings.seed, settings.seed + settings.seeds)
    known = {
        **{key: value for key, value in vars(size).items() if key != "least_cut"},
        "exponent": _EXPONENT,
        "lifetime": _LIFETIME,
        "noise": vars(DISTURBANCE),
    }
    if settings.engine != "cpu":
        known["device"] = settings.engine
    decisive = {**known, "reality": settings.reality.read_text(encoding="utf-8") if settings.reality else ""}
    # More generations go on in the same folder.
    searches = experiment.search_folder(out, {key: one for key, one in decisive.items() if key != "generations"})
    robots = _HiddenRobots(settings, numbers, searches, say)
    runs = each_seed(
        out, numbers, decisive, lambda n: _fit_robot(n, robots, size, out if n == settings.seed else None, say)
    )
    say("what m = 0, 1 and 2 think of a fall")
    falls = falling(size.timestep, out)
    claims = [one.as_json() for one in _claims(runs, size)]
    goals = [one.as_json() for one in _goals(runs, size)]
    answer = {"experiment": "motoflex-fit", "paper": _PAPER_SCALE, "settings": known}
    return {**answer, "claims": claims, "goals": goals, "falls": falls, "runs": runs}


def _goals(runs: Sequence[Mapping[str, Any]], size: Scale) -> list[experiment.Goal]:
    """The goals of every fit."""
    first = size.strategies[0]
    cuts = [run["strategies"][first]["cut"] for run in runs]
    walks = [row for run in runs for row in run["walks"]]
    same = np.mean([(row["hidden"]["fallen_at"] is None) == (row["found"]["fallen_at"] is None) for row in walks])
    return [
        experiment.Goal(what=f"{first}: least factor by which F is cut", found=min(cuts), limit=size.least_cut),
        experiment.Goal(
            what="share of walks that fall if and only if the hidden robot does", found=float(same), limit=0.75
        ),
    ]


def _claims(runs: Sequence[Mapping[str, Any]], size: Scale) -> list[experiment.Claim]:
    """Claims of the paper about its fit and the walks with its parameters; seeds are hidden robots."""

    def over(a: str, b: str) -> experiment.Estimate:
        return experiment.Estimate.of([run["strategies"][a]["error"] / run["strategies"][b]["error"] for run in runs])

    claims = [
        experiment.Claim(
            what=f"{name}: F cut by the factor",
            ours=experiment.Estimate.of([r["strategies"][name]["cut"] for r in runs]),
            least=_CUT_GOAL,
            digits=1,
        )
        for name in size.strategies
    ]
    claims += [
        experiment.Claim(
            what=f"the ES is the best strategy: its F over that of {name}", ours=over("es", name), most=1.0, digits=2
        )
        for name in size.strategies
        if name != "es" and "es" in size.strategies
    ]
    walks = [row for run in runs for row in run["walks"]]
    tried = [row for run in runs for row in run["zmps"]]
    claims += [
        experiment.Claim.same_outcome(
            f"reference ZMPs with which {meaning} if and only if the hidden robot does",
            [row[who] is not None for row in tried],
            [row["hidden"] is not None for row in tried],
        )
        for who, meaning in (("found", "the parameters fall"), ("before", "the robot before the fit falls"))
        if tried
    ]
    if walks:
        claims.append(
            experiment.Claim.same_outcome(
                "set-ups in which the parameters fall if and only if the hidden robot does",
                [row["found"]["fallen_at"] is not None for row in walks],
                [row["hidden"]["fallen_at"] is not None for row in walks],
            )
        )
        gaps = [
            row["found"]["speed"] - row["hidden"]["speed"]
            for row in walks
            if row["found"]["speed"] is not None and row["hidden"]["speed"] is not None
        ]
        if gaps:
            claims.append(
                experiment.Claim.near(
                    "speed of the parameters less the hidden robot's",
                    experiment.Estimate.of(gaps),
                    0.0,
                    0.01,
                    unit="m/s",
                )
            )
    return claims


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """F of each strategy for each robot; then what the parameters do in both walks."""
    rows = [
        {"seed": run["seed"], "strategy": name, "start": run["error"]["start"], **found}
        for run in answer["runs"]
        for name, found in run["strategies"].items()
    ]
    columns: dict[str, experiment.Cell] = {
        "seed": experiment.text("seed"),
        "strategy": experiment.text("strategy"),
        "candidates": experiment.text("evaluations"),
        "F before": lambda row: f"{row['start']:.4g}",
        "F after": lambda row: f"{row['error']:.4g}",
        "cut": lambda row: f"{row['cut']:.1f}x",
        "CPU [s]": lambda row: f"{row['cpu_seconds']:.0f}",
    }
    notes = [
        f"robot {run['seed']}, {row['set_up']}: " + ", ".join(f"{who} {_walked(row[who])}" for who in _WALKERS)
        for run in answer["runs"]
        for row in run["walks"]
    ]
    notes += [
        f"robot {run['seed']}, reference ZMP {row['zmp']}: "
        + ", ".join(f"{who} {_stood(row[who])}" for who in _WALKERS)
        for run in answer["runs"]
        for row in run["zmps"]
    ]
    return experiment.ResultTable.of(
        rows, columns, *notes, *experiment.claim_notes(answer["claims"]), *experiment.goal_notes(answer["goals"])
    )


def _walked(row: Mapping[str, Any]) -> str:
    if row["fallen_at"] is not None:
        return f"falls at {row['fallen_at']:.1f} s"
    return f"{row['speed']:.3f} m/s, phase {row['phase'] * experiment.DEGREES:.0f} deg"


def _stood(fallen_at: float | None) -> str:
    return "stays up" if fallen_at is None else f"falls at {fallen_at:.1f} s"


def _error(exponent: float = _EXPONENT) -> DistanceSettings:
    return DistanceSettings(kind="joint_error", exponent=exponent)


class _HiddenRobots:
    """The hidden robots, their recordings, and the searches for their numbers."""

    def __init__(self, settings: Settings, seeds: Sequence[int], folder: Path, say: experiment.Progress) -> None:
        self._settings, self._size, self._folder, self._say = settings, settings.size, folder, say
        self.twin = motoflex_twin(self._size.timestep, threads=settings.threads)
        self._trials = four_walks_and_a_kick(self.twin.table, self._size.seconds)
        self._searches = [(seed, name) for seed in seeds for name in self._size.strategies]

    @functools.cache  # noqa: B019 (as many as there are robots)
    def fit(self, seed: int) -> tuple[ReplayCost, Floats]:
        """The fit to the recordings of a robot, on the processor, and its hidden numbers, (k,)."""
        rng = np.random.default_rng([seed, 2011])
        hidden = hidden_values(self.twin.space, rng, self._settings.reality)
        fit = hidden_fit(self.twin, hidden, self._trials, DISTURBANCE, rng, distance=_error(), fallen=FALLEN_COSINE)
        return fit, hidden

    def search(self, seed: int, strategy: str) -> SearchResult:
        """The result of a strategy for a robot; on a device all are searched when the first one is asked for."""
        if self._settings.engine == "cpu":
            return self._search(seed, strategy, self.fit(seed)[0])
        return self._found[seed, strategy]

    def curvature(self, seed: int, candidate: Floats) -> Curvature:
        """The errors around a candidate, (k,), simulated where it was searched."""
        fit, _ = self.fit(seed)
        if self._settings.engine != "cpu":
            fit = dataclasses.replace(fit, twin=self._device_twin)
        return curvature(fit.residuals, self.twin.space, candidate)

    @functools.cached_property
    def _device_twin(self) -> TwinTogether:
        settings = dataclasses.replace(self.twin.settings, device=self._settings.engine)
        many = len(self._searches)
        return TwinTogether(settings, SEARCHED_FACTORS, searches=many, threads=self._settings.threads)

    @functools.cached_property
    def _found(self) -> dict[tuple[int, str], SearchResult]:
        """The results of all searches, which run together on the device."""
        fits = {
            seed: dataclasses.replace(self.fit(seed)[0], twin=self._device_twin)
            for seed in dict.fromkeys(seed for seed, _ in self._searches)
        }

        def search(one: tuple[int, str]) -> SearchResult:
            try:
                return self._search(*one, fits[one[0]])
            finally:
                self._device_twin.leave()

        with concurrent.futures.ThreadPoolExecutor(len(self._searches), thread_name_prefix="search") as pool:
            return dict(zip(self._searches, pool.map(search, self._searches), strict=True))

    def _search(self, seed: int, strategy: str, fit: ReplayCost) -> SearchResult:
        """One strategy with as many candidates as the evolution strategy has; never its last, cut-off generation."""
        space, rng, size = fit.twin.space, np.random.default_rng([seed, 810]), self._size

        def report(g: Generation) -> None:
            self._say(f"robot {seed}, {strategy}: generation {g.number + 1}, F {g.best.value:.3g} rad²")

        budget, folder = Budget(evaluations=size.candidates), self._folder / f"{strategy}-{seed}"
        if strategy == "least-squares":
            descent = LeastSquares(space, LeastSquaresSettings(step=0.04), rng, loss="squares")
            return minimise(fit.rows, descent, InThisThread(), budget=budget, folder=folder, on_generation=report)
        # A device simulates many candidates in the time of a few, so that large populations cost nothing there.
        population = None if self._settings.engine == "cpu" else size.children
        searcher: EvolutionStrategy | CmaEs = CmaEs(space, CmaEsSettings(population=population), rng)
        if strategy == "es":
            lives = EvolutionStrategySettings(parents=size.parents, children=size.children, lifetime=_LIFETIME)
            searcher = EvolutionStrategy(space, lives, rng)
        return minimise(fit, searcher, InThisThread(), budget=budget, folder=folder, on_generation=report)


def _fit_robot(
    seed: int, robots: _HiddenRobots, size: Scale, out: Path | None, say: experiment.Progress
) -> dict[str, Any]:
    """Fits one hidden robot by every strategy, and lets the parameters walk; draws figures if there is a folder."""
    began, twin = time.perf_counter(), robots.twin
    fit, hidden = robots.fit(seed)
    found: dict[str, SearchResult] = {}
    seconds: dict[str, float] = {}
    for name in size.strategies:
        begun = time.process_time()
        found[name] = robots.search(seed, name)
        seconds[name] = time.process_time() - begun
    # Judged on the processor, wherever they were searched.
    judged = fit(np.stack([twin.space.start, hidden, *(one.best.candidate for one in found.values())])).tolist()
    (start, truth), errors = judged[:2], dict(zip(found, judged[2:], strict=True))
    strategies = {
        name: {
            "error": errors[name],
            "cut": start / errors[name],
            "searched_error": one.best.value,
            "estimate": twin.space.named(one.best.candidate),
            "evaluations": one.evaluations,
            "failures": one.failures,
            "cpu_seconds": seconds[name],
        }
        for name, one in found.items()
    }
    chosen = found[size.strategies[0]]
    bodies = {
        who: found_body(twin, candidate, "nutmeg reproduce motoflex-fit")
        for who, candidate in zip(_WALKERS, (hidden, twin.space.start, chosen.best.candidate), strict=True)
    }
    row: dict[str, Any] = {
        "seed": seed,
        "error": {"start": start, "at_truth": truth},
        "hidden": twin.space.named(hidden),
        "strategies": strategies,
        "walks": _walks(bodies, size, out, say),
        "zmps": _other_zmps(bodies, size, say),
    }
    if out is not None:
        if size.judged:
            say("which numbers are determined")
            shape = robots.curvature(seed, chosen.best.candidate)
            row["identifiability"] = assess_identifiability(twin.space, curvature=shape).as_json()
        _draw(out, fit, chosen, hidden)
    return {**row, "seconds": time.perf_counter() - began}


def found_body(twin: Twin, candidate: Floats, source: str) -> IdentifiedBody:
    """The parameters of a candidate, (k,), as a body that every command takes with `--body`."""
    values = twin.space.named(candidate)
    parameters = {
        name: IdentifiedParameter(
            value=values[name], low=one.low, high=one.high, sets=one.targets(name), relative=one.relative
        )
        for name, one in twin.searched.items()
    }
    settings = twin.settings
    return IdentifiedBody(robot=settings.robot, actuation=settings.actuation, source=source, parameters=parameters)


def _walks(
    bodies: Mapping[str, IdentifiedBody], size: Scale, out: Path | None, say: experiment.Progress
) -> list[dict[str, Any]]:
    """Both set-ups of section 5 with the hidden robot, the one before the fit, and the parameters that were found."""
    if out is not None:
        write_body(out / "params.toml", bodies["found"])
    rows = []
    for set_up in SET_UPS[:2]:
        row: dict[str, Any] = {"set_up": set_up.name}
        results = []
        for who, body in bodies.items():
            say(f"{set_up.name}: {who}")
            result, row[who] = walk_row(
                set_up.settings,
                "motoflex",
                seconds=size.walk_seconds,
                name=who,
                robot=body.robot,
                body=body,
            )
            results.append(result)
        rows.append(row)
        if out is not None:
            from nutmeg.view.reports.figures import plot_walks

            plot_walks(results, out / f"chain-{set_up.figure}", commanded=set_up.settings.forward, title=set_up.name)
    return rows


def _other_zmps(bodies: Mapping[str, IdentifiedBody], size: Scale, say: experiment.Progress) -> list[dict[str, Any]]:
    """Times at which robots fall in the second set-up with other reference ZMPs [s]; None if they stay up."""
    rows = []
    for changed in ZMP_REFERENCES[: size.references]:
        row: dict[str, Any] = {"zmp": zmp_name(changed)}
        say(f"reference ZMP {row['zmp']}")
        for who, body in bodies.items():
            settings = dataclasses.replace(MOTOFLEX_2, **changed)
            _, walked = walk_row(settings, "motoflex", seconds=size.walk_seconds, robot=body.robot, body=body)
            row[who] = walked["fallen_at"]
        rows.append(row)
    return rows


def falling(timestep: float, out: Path | None = None, *, seconds: float = 6.0) -> dict[str, Any]:
    """F of a simulation that falls and of a better one that walks on, for m = 0, 1 and 2."""
    twin = motoflex_twin(timestep, _SEARCHED_LEGS)
    trial = walking(twin.table, "delicate", _DELICATE_WALK, seconds)
    fit = hidden_fit(twin, _STIFF_ROBOT, [trial], DISTURBANCE, np.random.default_rng(0), fallen=FALLEN_COSINE)
    seen, real = fit.behaviours(np.stack([_SOFT_ROBOT, _LOOSE_ROBOT]))[0], fit.measured[0].real
    frames = [int(n) for n in np.asarray(seen.frames)]
    names = ("falls", "walks on")
    values = {
        f"m = {m}": dict(zip(names, make_distance(_error(m)).per_trial(real, seen).tolist(), strict=True))
        for m in (0, 1, 2)
    }
    squares = np.nansum((np.asarray(seen.series) - np.asarray(real.series)) ** 2, axis=-1)
    walked, shared = squares[1, : frames[1]], min(frames)
    if out is not None:
        from nutmeg.view.reports.figures import plot_falls

        ended = {f"m = {m:g}": error_if_ended(walked, m) for m in (0.0, 1.0, 1.5, 2.0)}
        plot_falls(out / "falls.png", {name: f / f[-1] for name, f in ended.items()}, period=COMMAND_PERIOD)
    return {
        "frames": {"real": int(np.min(np.asarray(real.frames))), **dict(zip(names, frames, strict=True))},
        "mean_square_while_both_stand": {
            name: float(row[:shared].mean()) for name, row in zip(names, squares, strict=True)
        },
        "error": values,
        "least_exponent": least_exponent(walked, earliest=int(0.5 / COMMAND_PERIOD)),
    }


def _draw(out: Path, fit: ReplayCost, found: SearchResult, hidden: Floats) -> None:
    from nutmeg.view.reports.figures import plot_errors, plot_following, plot_parameters

    space = fit.twin.space
    panels = followed(fit, np.stack([space.start, found.best.candidate]), SHOWN_JOINTS)
    plot_following(out / "following.png", panels, period=COMMAND_PERIOD)
    plot_parameters(out / "parameters.png", found.history, space, hidden)
    plot_errors(out / "error.png", found.history, label="F [rad²]")
