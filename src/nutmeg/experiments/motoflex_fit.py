"""The fit of the MoToFlex paper (seed 001, section 4): actuation numbers from the joint angles of walks and a kick.

    answer = motoflex_fit(Path("runs/motoflex-fit"), seed=0, seeds=5)
    answer["median_cut"]                # F at the start over F at the end

Reality is a hidden simulation whose numbers are drawn within the ranges of `motoflex_trials`; its encoders are
noisy and coarse, its motors exact (disturbed commands make every walk another one, and drown what the numbers
change). F is equation 2 with m = 2.

The paper's scale is a (10+800)-ES in which no parent lives longer than three generations, 100 generations, walks of
10 s in steps of 1 ms: a cluster of 200 nodes took up to a day. `scale="paper"` is that. The middle scale, the default,
is made for one machine: shorter walks in longer steps, and least squares by Levenberg and Marquardt, as F is a sum of
squares (216 candidates of CMA-ES cut F 3.0 times for the first robot, 116 of least squares 6.3 times).
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.journal import each_seed, write_json
from nutmeg.experiments.hidden_fit import Disturbance, HiddenFit, hidden_values
from nutmeg.motion.kick import Kick, KickSettings
from nutmeg.motion.preview_walk import MOTOFLEX_2, QUICK_STEPS, PreviewWalk, PreviewWalkSettings
from nutmeg.reality.distances.distance import DistanceSettings, make_distance
from nutmeg.reality.distances.series_error import error_if_ended, least_exponent
from nutmeg.reality.identify.curvature import curvature
from nutmeg.reality.identify.identifiability import judge
from nutmeg.reality.identify.least_squares import Round, levenberg_marquardt
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings
from nutmeg.search import (
    Best,
    Budget,
    EvolutionStrategy,
    EvolutionStrategySettings,
    InThisThread,
    SearchResult,
    minimise,
)
from nutmeg.search.run import Generation
from nutmeg.view.reports.figures import plot_errors, plot_falls, plot_following, plot_parameters

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.model.tables import RobotTable


# ----------------------------------------------------------------------------------------------------
# What the robots of a MoToFlex fit do, and which of their numbers are searched (seed 001, section 4).
#
# The paper names neither its four walks nor its kick; these are walks ahead, aside, in a curve and with long steps.
# Its unknowns were gains, friction and gear and flex numbers; here each is a factor of what the robot's
# `actuation.toml` says, common to both types of leg gears but for the gain.


COMMAND_PERIOD = 0.02
"""Between commands [s]."""
FALLEN_COSINE = 0.7
"""A robot is down when the cosine of its tilt is below this."""
WALKS = {
    "ahead": dataclasses.replace(QUICK_STEPS, start=0.7, stop=0.3, ramp=1),
    "aside": dataclasses.replace(QUICK_STEPS, forward=0.0, sideways=0.05, start=0.7, stop=0.3, ramp=1),
    "curve": dataclasses.replace(QUICK_STEPS, forward=0.05, turn=0.4, start=0.7, stop=0.3, ramp=1),
    "long steps": PreviewWalkSettings(forward=0.15, step_duration=0.8, start=0.7, stop=0.3, ramp=1),
}
KICK_SETTINGS = KickSettings(shift_time=0.6, back_time=0.4, return_time=0.4)
DELICATE_WALK = dataclasses.replace(MOTOFLEX_2, zmp_width=0.85)
"""The paper's second set-up with the weight 15 % further inside: stiff legs walk, soft ones fall."""


def _factor(low: float, high: float, *sets: str) -> Searched:
    return Searched(low=low, high=high, start=1.0, scale="log", sets=sets, relative=True)


SEARCHED_FACTORS = {
    "pitch_gain": _factor(0.4, 2.5, "servo.leg130.p"),
    "roll_gain": _factor(0.4, 2.5, "servo.leg201.p"),
    "viscous": _factor(0.25, 4.0, "servo.leg*.viscous"),
    "coulomb": _factor(0.25, 4.0, "servo.leg*.coulomb"),
    "inertia": _factor(0.4, 2.5, "servo.leg*.rotor_inertia"),
    "play": _factor(0.25, 2.5, "gear.*.play"),
    "gear_stiffness": _factor(0.25, 2.0, "gear.*.stiffness"),
    "flex_stiffness": _factor(0.25, 2.0, "flex.legs.stiffness"),
}
"""Factors; stiffer gears than these are unstable with steps of 4 ms."""
SEARCHED_LEGS = {
    "legs": _factor(0.05, 4.0, "gear.*.stiffness", "flex.legs.stiffness"),
    "play": _factor(0.1, 3.0, "gear.*.play"),
}
"""For the falls: how stiff the legs are, and how much play they have."""


def motoflex_twin(timestep: float, searched: dict[str, Searched] | None = None, *, threads: int = 1) -> Twin:
    """A Nao V4 with motors, gears and bending legs."""
    settings = TwinSettings(robot="nao-v4", actuation="motoflex", timestep=timestep)
    return Twin(settings, SEARCHED_FACTORS if searched is None else searched, threads=threads)


def four_walks_and_a_kick(table: RobotTable, seconds: float) -> list[Trial]:
    """The five robots of an evaluation; walks last so long [s], the kick as long as it takes."""
    trials = [walking(table, name, settings, seconds) for name, settings in WALKS.items()]
    kick = Kick(table, KICK_SETTINGS)
    times = np.arange(round(kick.duration / COMMAND_PERIOD)) * COMMAND_PERIOD
    return [*trials, Trial(name="kick", period=COMMAND_PERIOD, commands=kick.angles(times))]


def walking(table: RobotTable, name: str, settings: PreviewWalkSettings, seconds: float) -> Trial:
    """A walk as a trial."""
    walk = PreviewWalk(table, settings, duration=seconds)
    commands = np.stack([walk.angles(row * COMMAND_PERIOD) for row in range(round(seconds / COMMAND_PERIOD))])
    return Trial(name=name, period=COMMAND_PERIOD, commands=commands)


PAPER_SCALE = {
    "parents": 10,
    "children": 800,
    "lifetime": 3,
    "generations": 100,
    "timestep": 0.001,
    "seconds": 10.0,
    "robots": "four walking, one kicking",
    "nodes": 200,
}
CUT_GOAL = 5.0
"""The error is to be cut at least so many times."""
EXPONENT = 2.0
"""m."""
DISTURBANCE = Disturbance(angle=0.0005, resolution=0.0015)
"""Of the encoders, as of a Nao's [rad]."""
STIFF_ROBOT = np.array([2.0, 0.3])
"""Legs and play of the robot that does not fall, in the demonstration of m."""
SOFT_ROBOT, LOOSE_ROBOT = np.array([0.1, 1.0]), np.array([1.0, 2.0])
"""A simulation of it that falls, and one that walks on."""
SHOWN_JOINTS = ("LHipRoll", "LKneePitch", "RAnklePitch")


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is done."""

    seconds: float
    """Length of the walks [s]."""
    timestep: float
    """[s]."""
    generations: int
    """Of the evolution strategy, or rounds of least squares."""
    parents: int = 0
    """Of the (mu+lambda)-ES; 0 for least squares."""
    children: int = 0
    """Of the (mu+lambda)-ES."""
    judged: bool = True
    """Whether the first robot's numbers are judged for identifiability."""


SCALES = {
    "quick": Scale(seconds=1.6, timestep=0.004, generations=3, judged=False),
    "middle": Scale(seconds=2.0, timestep=0.004, generations=6),
    "paper": Scale(seconds=10.0, timestep=0.001, parents=10, children=800, generations=100),
}


def motoflex_fit(
    out: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    seeds: int = 5,
    reality: Path | None = None,
    threads: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
    scale: Literal["", "quick", "middle", "paper"] | Scale = "",
) -> dict[str, Any]:
    """Fits several hidden robots; writes figures of the first, and results.json.

    Args:
        out: folder for the results.
        quick: the scale `quick`.
        seed: of the first robot; the others follow.
        seeds: how many hidden robots.
        reality: a TOML file with hidden factors, `values = { play = 0.5 }`; the others are drawn.
        threads: how many threads simulate.
        on_progress: called with what is being done.
        scale: one of the names above; `middle` if empty.
    """
    out.mkdir(parents=True, exist_ok=True)
    size = _scale(scale, quick=quick)
    settings = {**vars(size), "exponent": EXPONENT, "lifetime": 3, "noise": vars(DISTURBANCE)}
    decides = {**settings, "reality": reality.read_text(encoding="utf-8") if reality else ""}

    def fit_one(number: int) -> dict[str, Any]:
        return _fit_one(number, size, reality, threads, out if number == seed else None, on_progress)

    runs = each_seed(out, range(seed, seed + seeds), decides, fit_one)
    on_progress("what m = 0, 1 and 2 think of a fall")
    falls = falling(size.timestep, out)
    cuts = [run["cut"] for run in runs]
    answer = {
        "experiment": "motoflex-fit",
        "paper": PAPER_SCALE,
        "settings": settings,
        "goal": CUT_GOAL,
        "median_cut": float(np.median(cuts)),
        "least_cut": float(np.min(cuts)),
        "met": bool(np.min(cuts) >= CUT_GOAL),
        "falls": falls,
        "runs": runs,
    }
    write_json(out / "results.json", answer)
    return answer


def _scale(name: str | Scale, *, quick: bool) -> Scale:
    if isinstance(name, Scale):
        return name
    wanted = name or ("quick" if quick else "middle")
    if wanted not in SCALES:
        raise UnknownNameError("scale", wanted, SCALES)
    return SCALES[wanted]


def _error(exponent: float = EXPONENT) -> DistanceSettings:
    return DistanceSettings(kind="joint_error", exponent=exponent)


def _fit_one(
    seed: int, size: Scale, reality: Path | None, threads: int, out: Path | None, say: Callable[[str], None]
) -> dict[str, Any]:
    """One hidden robot; draws where there is a folder."""
    began = time.perf_counter()
    rng = np.random.default_rng([seed, 2011])
    twin = motoflex_twin(size.timestep, threads=threads)
    hidden = hidden_values(twin.space, rng, reality)
    trials = four_walks_and_a_kick(twin.table, size.seconds)
    fit = HiddenFit.of(twin, hidden, trials, DISTURBANCE, rng, fallen=FALLEN_COSINE)
    found = _search(fit, size, seed, say)
    values = fit.distances(_error(), np.stack([twin.space.start, found.best.candidate, hidden]))
    row: dict[str, Any] = {
        "seed": seed,
        "error": dict(zip(("start", "end", "at_truth"), values.tolist(), strict=True)),
        "cut": float(values[0] / values[1]),
        "hidden": twin.space.named(hidden),
        "estimate": twin.space.named(found.best.candidate),
        "evaluations": found.evaluations,
        "failures": found.failures,
    }
    if out is not None:
        if size.judged:
            say("which numbers are determined")
            shape = curvature(fit.residuals(_error()), twin.space, found.best.candidate)
            row["identifiability"] = judge(twin.space, curvature=shape).as_json()
        _draw(out, fit, found, hidden)
    return {**row, "seconds": time.perf_counter() - began}


def _search(fit: HiddenFit, size: Scale, seed: int, say: Callable[[str], None]) -> SearchResult:
    def told(number: int, value: float) -> None:
        say(f"robot {seed}: {number + 1} of {size.generations}, F {value:.3g} rad²")

    if not size.parents:
        return _least_squares(fit, size.generations, told)
    settings = EvolutionStrategySettings(parents=size.parents, children=size.children, lifetime=3)
    searcher = EvolutionStrategy(fit.twin.space, settings, np.random.default_rng([seed, 810]))
    return minimise(
        fit.cost(_error()),
        fit.twin.space,
        searcher,
        InThisThread(),
        budget=Budget(generations=size.generations),
        on_generation=lambda g: told(g.number, g.best.value),
    )


def _least_squares(fit: HiddenFit, rounds: int, told: Callable[[int, float], None]) -> SearchResult:
    """F as a sum of squares; frames after a fall count as an error of a radian each."""

    def residuals(candidates: Floats) -> Floats:
        parts = []
        for real, seen in zip(fit.real, fit.behaviours(candidates), strict=True):
            assert seen.series is not None
            assert real.series is not None
            frames = real.series.shape[0]
            gap = np.nan_to_num(seen.series - real.series, nan=1.0)
            parts.append(gap.reshape(len(candidates), -1) / frames ** (EXPONENT / 2))
        return np.concatenate(parts, axis=1)

    generations: list[Generation] = []

    def noted(one: Round) -> None:
        told(len(generations), one.value)
        best = Best(one.best, one.value)
        generations.append(
            Generation(
                number=len(generations),
                candidates=one.best[None],
                values=np.array([one.value]),
                failures=(),
                evaluations=one.evaluations,
                best=best,
                mean=one.best,
                state={},
                replayed=False,
            )
        )

    space = fit.twin.space
    levenberg_marquardt(residuals, space, space.start, rounds=rounds, on_round=noted)
    last = generations[-1]
    return SearchResult(
        best=last.best,
        mean=last.mean,
        history=tuple(generations),
        evaluations=last.evaluations,
        failures=0,
        reason=f"{rounds} rounds are done",
    )


def falling(timestep: float, out: Path | None = None, *, seconds: float = 6.0) -> dict[str, Any]:
    """What F says of a simulation that falls and of a better one that walks on, for m = 0, 1 and 2."""
    twin = motoflex_twin(timestep, SEARCHED_LEGS)
    trial = walking(twin.table, "delicate", DELICATE_WALK, seconds)
    fit = HiddenFit.of(twin, STIFF_ROBOT, [trial], DISTURBANCE, np.random.default_rng(0), fallen=FALLEN_COSINE)
    seen, real = fit.behaviours(np.stack([SOFT_ROBOT, LOOSE_ROBOT]))[0], fit.real[0]
    assert seen.series is not None
    assert real.series is not None
    frames = [int(n) for n in np.asarray(seen.frames)]
    values = {
        f"m = {m}": dict(zip(("falls", "walks on"), measured.tolist(), strict=True))
        for m in (0, 1, 2)
        if (measured := make_distance(_error(float(m))).per_trial(real, seen)) is not None
    }
    squares = np.nansum((seen.series - real.series) ** 2, axis=-1)
    shared = min(frames)
    if out is not None:
        curve = squares[1, : frames[1]]
        ended = {f"m = {m:g}": error_if_ended(curve, m) for m in (0.0, 1.0, 1.5, 2.0)}
        plot_falls(out / "falls.png", {name: found / found[-1] for name, found in ended.items()}, period=COMMAND_PERIOD)
    return {
        "frames": {"real": int(np.min(np.asarray(real.frames))), "falls": frames[0], "walks on": frames[1]},
        "mean_square_while_both_stand": {
            "falls": float(squares[0, :shared].mean()),
            "walks on": float(squares[1, :shared].mean()),
        },
        "error": values,
        "least_exponent": least_exponent(squares[1, : frames[1]], earliest=int(0.5 / COMMAND_PERIOD)),
    }


def _draw(out: Path, fit: HiddenFit, found: SearchResult, hidden: Floats) -> None:
    space, table = fit.twin.space, fit.twin.table
    seen = fit.behaviours(np.stack([space.start, found.best.candidate]))[0]
    real, commands = fit.real[0].series, fit.trials[0].commands
    assert seen.series is not None
    assert real is not None
    panels = {
        joint: (
            commands[:, table.motors.index(joint)],
            real[:, table.joints.index(joint)],
            seen.series[:, :, table.joints.index(joint)],
        )
        for joint in SHOWN_JOINTS
    }
    plot_following(out / "following.png", panels, period=COMMAND_PERIOD)
    plot_parameters(out / "parameters.png", found.history, space, hidden)
    plot_errors(out / "error.png", found.history, label="F [rad²]")
