"""Least squares side by side with `mujoco.sysid` on three machines: same simulation, start, bounds and candidates.

    answer = run(Path("runs/sysid"), Settings(quick=True))
    answer["rows"]                              # error, candidates and processor time of both on each machine

`mujoco.sysid` is the system identification that comes with the engine: Gauss-Newton with finite differences, a
regulariser and box bounds, on the differences of all samples. It gets the same simulation (`ReplayCost`), scaled to the
unit cube, and steps of 1e-3 for its differences: its own, 1.5e-8, are lost in stick and slip. It needs packages that
only the extra `sysid` of mujoco-core installs.

- `servo`: twelve recordings of a real servo of which one gain is left out; 8 numbers of motor and friction;
- `arm`: a hidden arm of six servos with friction that the fitted model has no terms for (it grows with the load), zeros
  that are off, and noise; 17 numbers: friction of the joints, gain, torque, rotor, masses, delay;
- `arm, all terms`: the same arms, and 8 further numbers for what they have: friction under load, and the zeros;
- `ant`: a hidden ant on the ground that sways slowly, its pose measured to 0.5 mm; 4 lengths of leg segments.

The arm stands for a real one, whose recordings are not at hand. Errors are root mean squares on what was fitted and on
motions that were not. Candidates and processor time count until a method is within 2 % of the best error on the fitted
motions that any of the runs on that machine reached.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import EnvironmentProblem
from nutmeg.experiments import experiment
from nutmeg.experiments.back_to_reality import btr_ant
from nutmeg.experiments.back_to_reality.hidden_fit import Disturbance, hidden_fit
from nutmeg.model.parameters import Adjustment
from nutmeg.reality.btr.costs import SimulationCost
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.identify.design import ExcitationSettings, excitations
from nutmeg.reality.identify.identification import Identification, ReplayCost
from nutmeg.reality.identify.settings import read_identify
from nutmeg.reality.logs.replay import found_files, read_trials
from nutmeg.reality.observation import Watch
from nutmeg.reality.realities.hidden import HiddenSimulation
from nutmeg.reality.twin import TWIN_ROBOT, Searched, Twin, TwinSettings
from nutmeg.search import Budget, InThisThread, Space, minimise
from nutmeg.search.least_squares import LeastSquares, LeastSquaresSettings
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DIFFERENCE_STEP = 1e-3
"""Step of finite differences of `mujoco.sysid`, as a part of each range."""
FAILED_RESIDUAL = 10.0
"""Residual of a simulation that diverged [rad]."""
MAX_ITERATIONS = 100
"""Iterations of `mujoco.sysid`; the number of candidates ends it before."""
MACHINES = ("servo", "arm", "arm, all terms", "ant")
METHODS = ("nutmeg", "mujoco.sysid")
WANTED_ARM = 0.35
"""The error that is wanted on motions of the arm that were not fitted [deg]."""
NEAR_BEST = 1.02
"""Ratio of an error to the best one at which a method has converged."""

Rows = Callable[[Floats], Floats]
"""Residuals (n, rows) of candidates (n, k)."""


@dataclass
class Course:
    """The best error so far, by candidates and processor time."""

    points: list[tuple[int, float, float]]
    """Candidates, processor time [s], root of the sum of squares."""

    def note(self, candidates: int, seconds: float, value: float) -> None:
        """Adds what some candidates came to."""
        best = min([value, *(point[2] for point in self.points[-1:])])
        self.points.append((candidates, seconds, best))


class _CandidatesSpent(Exception):  # noqa: N818 (no error)
    """The candidates of a comparison are used up."""


def sysid_fit(rows: Rows, space: Space, *, iterations: int = MAX_ITERATIONS, candidates: int = 0) -> tuple[Floats, int]:
    """The best candidate, (k,), that `mujoco.sysid` finds, and the number of simulated candidates.

    Args:
        rows: residuals of candidates, (n, k) to (n, rows).
        space: the searched space; it begins at its start.
        iterations: largest number of iterations.
        candidates: largest number of candidates; 0 for no limit.

    Raises:
        EnvironmentProblem: it is not installed.
    """
    sysid = _sysid()
    spent, best, least = 0, space.start, np.inf

    def residual(unit: Floats, _parameters: object) -> tuple[list[Floats], list[Any], list[Any]]:
        nonlocal spent, best, least
        if candidates and spent >= candidates:
            raise _CandidatesSpent
        columns = np.asarray(unit, float).reshape(space.size, -1)  # one candidate a column
        values = space.values(np.clip(columns.T, 0.0, 1.0))
        found = np.nan_to_num(rows(values), nan=FAILED_RESIDUAL, posinf=FAILED_RESIDUAL, neginf=-FAILED_RESIDUAL)
        spent += len(values)
        sums = (found**2).sum(axis=1)
        if sums.min() < least:
            best, least = values[int(sums.argmin())], float(sums.min())
        # The wrapped optimiser wants flat residuals of one candidate, and a column for each of several.
        return [found[0] if unit.ndim == 1 else found.T], [], []

    parameters = sysid.ParameterDict()
    for name, start in zip(space.dimensions, space.unit(space.start), strict=True):
        parameters.add(sysid.Parameter(name, float(start), 0.0, 1.0))
    parameters.move_off_bounds()
    with contextlib.suppress(_CandidatesSpent):
        sysid.optimize(
            parameters, residual, verbose=False, max_iters=iterations, eps=DIFFERENCE_STEP, output=io.StringIO()
        )
    return best, spent


@dataclass(frozen=True)
class _Sysid:
    """The parts of `mujoco.sysid` that are used."""

    optimize: Callable[..., Any]
    Parameter: Any
    ParameterDict: Any


def _sysid() -> _Sysid:
    try:  # the package itself leaves out everything if a package for its pictures is missing
        from mujoco.sysid._src.optimize import optimize
        from mujoco.sysid._src.parameter import Parameter, ParameterDict
    except ImportError as error:
        raise EnvironmentProblem(
            f"mujoco.sysid lacks packages that it needs ({error}), so there is nothing to compare with. "
            "Install them with: pip install 'mujoco-core[sysid]'"
        ) from None
    return _Sysid(optimize, Parameter, ParameterDict)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means few candidates and the ant alone."""

    seed: int = 0
    seeds: int = 3
    """Hidden realities of the arm and the ant, and seeds of our search."""
    evaluations: int = 200
    """Candidates of each fit."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Fits what is not fitted yet, with both methods."""
    if settings.quick:
        settings = replace(settings, seeds=1, evaluations=40)
    numbers = range(settings.seed, settings.seed + settings.seeds)
    keys = [
        (machine, method, seed)
        for machine in (MACHINES[-1:] if settings.quick else MACHINES)
        for method in METHODS
        for seed in (numbers if (machine, method) != ("servo", "mujoco.sysid") else numbers[:1])  # nothing is random
    ]
    jobs = [
        experiment.SeedJob(out / f"{machine}, {method}", seed, {"evaluations": settings.evaluations},
                partial(fit_machine, machine, method, settings.evaluations))
        for machine, method, seed in keys
    ]  # fmt: skip
    found = dict(zip(keys, experiment.finish_jobs(jobs, settings.threads, say), strict=True))
    rows = []
    for machine in dict.fromkeys(key[0] for key in keys):
        fitted = {key: one["train"] for key, one in found.items() if key[0] == machine}
        # The servo is one reality for all seeds, the others have one for each.
        best = {
            seed: min(train for key, train in fitted.items() if machine == "servo" or key[2] == seed)
            for seed in numbers
        }
        for method in METHODS:
            fits = {key[2]: one for key, one in found.items() if key[:2] == (machine, method)}
            rows.append(_row(machine, method, fits, best))
    return {
        "rows": rows,
        "seeds": list(numbers),
        "evaluations": settings.evaluations,
        "goals": [goal.as_json() for goal in _goals(rows)],
    }


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Errors, and what it took to be within 2 % of the best, by machine and method."""
    columns = {
        "machine": experiment.text("machine"),
        "method": experiment.text("method"),
        "fits": experiment.text("fits"),
        "error on fitted": experiment.decimal("train", 4),
        "on others": experiment.decimal("held_out", 4),
        "±": experiment.decimal("deviation", 4),
        "arrived": experiment.text("arrived"),
        "candidates": experiment.decimal("candidates", 0),
        "CPU [s]": experiment.decimal("seconds", 1),
    }
    notes = (
        "errors are root mean squares: degrees for servo and arm, multiples of the scales for the ant.",
        "arrived: within 2 % of the best error on fitted motions; candidates and CPU time are means until then.",
    )
    return experiment.ResultTable.of(answer["rows"], columns, *notes, *experiment.goal_notes(answer["goals"]))


def _goals(rows: Sequence[Mapping[str, Any]]) -> list[experiment.Goal]:
    """Ours errs no more than the peer on motions that were not fitted, and on the arms no more than is wanted."""
    found = []
    errors = {(row["machine"], row["method"]): row["held_out"] for row in rows}
    for machine in dict.fromkeys(row["machine"] for row in rows):
        ours, peer = (errors[machine, method] for method in METHODS)
        what = f"{machine}: error on others, as a share of that of mujoco.sysid"
        found.append(experiment.Goal(what=what, found=ours / peer, limit=NEAR_BEST, most=True))
        if machine.startswith("arm"):
            what = f"{machine}: error on others"
            found.append(experiment.Goal(what=what, found=ours, limit=WANTED_ARM, most=True, unit=" deg"))
    return found


def _row(machine: str, method: str, fits: Mapping[int, Mapping[str, Any]], best: Mapping[int, float]) -> dict[str, Any]:
    until = []
    arrived = 0
    for seed, one in fits.items():
        there = [point for point in one["course"] if point[2] <= NEAR_BEST * best[seed]]
        arrived += bool(there)
        until.append((there or one["course"][-1:])[0])
    held_out = [one["held_out"] for one in fits.values()]
    return {
        "machine": machine,
        "method": method,
        "fits": len(fits),
        "train": float(np.mean([one["train"] for one in fits.values()])),
        "held_out": float(np.mean(held_out)),
        "deviation": float(np.std(held_out, ddof=1)) if len(held_out) > 1 else None,
        "arrived": f"{arrived} of {len(fits)}",
        "candidates": float(np.mean([point[0] for point in until])),
        "seconds": float(np.mean([point[1] for point in until])),
    }


def fit_machine(machine: str, method: str, candidates: int, seed: int) -> dict[str, Any]:
    """One fit: its errors, and its course."""
    fitted, judged, scale = _MACHINES[machine](seed)
    space, course = fitted.twin.space, Course([])
    begun, spent = time.process_time(), 0

    def rows(values: Floats) -> Floats:
        nonlocal spent
        found = fitted.rows(values)
        sums = (found**2).sum(axis=1)
        spent += len(values)
        finite = sums[np.isfinite(sums)]
        course.note(spent, time.process_time() - begun, scale * float(np.sqrt(finite.min() if len(finite) else np.inf)))
        return found

    if method == "nutmeg":
        searcher = LeastSquares(space, LeastSquaresSettings(), np.random.default_rng(seed))
        budget = Budget(evaluations=candidates)
        search = minimise(lambda c, _: rows(c), searcher, InThisThread(), budget=budget, seed=seed)
        estimate = search.estimate
    else:
        estimate, spent = sysid_fit(rows, space, candidates=candidates)
    seconds = time.process_time() - begun
    errors = [scale * float(np.sqrt((cost.rows(estimate[None]) ** 2).sum())) for cost in (fitted, judged)]
    return {
        "train": errors[0],
        "held_out": errors[1],
        "estimate": space.named(estimate),
        "evaluations": spent,
        "seconds": seconds,
        "course": course.points,
    }


# The machines: the cost of what is fitted, that of what is not, and a factor to the unit that is reported.

Machine = tuple[ReplayCost | SimulationCost, ReplayCost | SimulationCost, float]
LEFT_OUT_GAIN = "kp200_*"


def _servo(_: int) -> Machine:
    path = experiment.example_folder("servo_xl330") / "identify.toml"
    settings = read_identify(path)
    names = settings.recordings
    every = found_files((*names.train, *names.held_out), path.parent, "recordings")
    left = {p: parts for p, parts in every.items() if Path(p.stem).match(LEFT_OUT_GAIN)}
    train = {p: parts for p, parts in every.items() if p not in left}
    fit = Identification(settings, train=train, held_out={}, seed=0)
    return fit.cost, fit.cost.of(read_trials(left, fit.reporting, fit.twin)), 180 / np.pi


ARM_JOINTS = ("pan", "lift", "elbow", "flex", "roll", "grip")
ARM = {
    **{
        f"friction {j}": Searched(low=0.002, high=0.3, start=0.05, scale="log", sets=(f"joint.{j}.friction",))
        for j in ARM_JOINTS
    },
    **{
        f"damping {j}": Searched(low=0.002, high=0.3, start=0.05, scale="log", sets=(f"joint.{j}.damping",))
        for j in ARM_JOINTS[:4]
    },
    "gain": Searched(low=4.0, high=40.0, start=14.0, scale="log", sets=("servo.joints.p",)),
    "torque": Searched(low=3e-3, high=9e-3, start=5.6e-3, sets=("servo.joints.stall_torque",)),
    "rotor": Searched(low=1e-8, high=9e-8, start=3e-8, scale="log", sets=("servo.joints.rotor_inertia",)),
    "upper": Searched(low=0.5, high=2.0, start=1.0, scale="log", sets=("mass.upper",), relative=True),
    "lower": Searched(low=0.5, high=2.0, start=1.0, scale="log", sets=("mass.lower",), relative=True),
    "hand": Searched(low=0.5, high=2.0, start=1.0, scale="log", sets=("mass.hand",), relative=True),
    "delay": Searched(low=0.0, high=0.04, start=0.005, sets=("delay",)),
}
"""Searched parameters of the arm; its servos in `examples/arm6` have no friction that grows with the load."""
ARM_MOTION = ExcitationSettings(
    seconds=6.0, period=0.02, amplitude={"*": 0.5, "grip": 0.3}, centre={"grip": 0.6}, frequency=(0.15, 1.2)
)


ALL_TERMS = {
    **ARM,
    "load friction": Searched(low=0.0, high=1.5, start=0.1, sets=("servo.joints.squeeze_friction",)),
    "load friction at rest": Searched(low=0.0, high=2.0, start=0.1, sets=("servo.joints.squeeze_static",)),
    **{f"zero {j}": Searched(low=-0.03, high=0.03, start=0.0, sets=(f"zero.{j}",)) for j in ARM_JOINTS},
}


def _arm(searched: Mapping[str, Searched], seed: int) -> Machine:
    rng = np.random.default_rng([seed, 6])
    settings = TwinSettings(
        robot=str(experiment.example_folder("arm6", "robot.toml")),
        actuation=str(experiment.example_folder("arm6", "robot.toml") / "servo.toml"),
        field="none",
        timestep=0.004,
    )
    twin = Twin(settings, searched)
    # Effects for which `ARM` has no terms: friction under load, more of it at rest, zeros that are off.
    other = (
        Adjustment(target="servo.joints.squeeze_friction", value=float(rng.uniform(0.3, 0.8))),
        Adjustment(target="servo.joints.squeeze_static", value=float(rng.uniform(0.3, 1.0))),
        *(Adjustment(target=f"zero.{joint}", value=float(rng.normal(0.0, 0.004))) for joint in ARM_JOINTS),
    )
    hidden = Twin(replace(settings, adjustments=other), ARM)
    values = hidden.space.values(rng.uniform(0.25, 0.75, hidden.space.size))
    rest = Worlds(twin.base).robot(TWIN_ROBOT).start
    noise = Disturbance(angle=0.001, resolution=0.0015)
    costs = []
    for seeds in (range(4), range(4, 8)):
        trials = excitations(ARM_MOTION, twin.table, rest, [100 * seed + number for number in seeds])
        real = hidden_fit(hidden, values, trials, noise, rng)
        costs.append(replace(real, twin=twin))
    return costs[0], costs[1], 180 / np.pi


def _ant(seed: int) -> Machine:
    rng = np.random.default_rng([seed, 4])
    lengths = dict(zip(btr_ant.LENGTHS, rng.uniform(*btr_ant.HIDDEN_RANGE, len(btr_ant.LENGTHS)).tolist(), strict=True))
    twin, watch = Twin(btr_ant.TWIN_SETTINGS, btr_ant.SEARCHED_LENGTHS), Watch(fitness=None, series=("pose.*",))
    rest = Worlds(twin.base).robot(TWIN_ROBOT).start
    real = HiddenSimulation(twin, lengths, watch, noise=btr_ant.POSE_NOISE, seed=seed)
    weights = {column: scale**-2 for column, scale in btr_ant.COLUMN_SCALES.items()}
    distance = DistanceSettings(kind="rms", weights=weights)
    costs: Sequence[SimulationCost] = [
        SimulationCost(twin, tuple(trials), tuple(one.behaviour for one in real.try_out(trials)), watch, distance)
        for trials in (
            excitations(btr_ant.EXCITATION, twin.table, rest, seeds) for seeds in (btr_ant.EXCITATION_SEEDS, (11, 12))
        )
    ]
    return costs[0], costs[1], 1.0


_MACHINES: Mapping[str, Callable[[int], Machine]] = {
    "servo": _servo,
    "arm": partial(_arm, ARM),
    "arm, all terms": partial(_arm, ALL_TERMS),
    "ant": _ant,
}
