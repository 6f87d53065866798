"""Coverage of the intervals of an identification: how often they contain the truth, under noise of several kinds.

    answer = run(Path("runs/coverage"), Settings(seeds=20))
    answer["rows"]                              # coverage of each number, for each kind of noise

A pendulum on a position drive with known mass, stiffness, dry friction and delay moves for 4 s; its angle is measured
at 50 Hz with an error of 4 mrad and disturbed in one of several ways. Each repeat has noise of its own. The nominal
coverage is 0.90; with n intervals it is known to sqrt(0.09 / n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import UnknownNameError
from nutmeg.experiments import experiment
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.distances.distance import LOSSES, DistanceSettings
from nutmeg.reality.identify.curvature import curvature
from nutmeg.reality.identify.identifiability import assess_identifiability
from nutmeg.reality.identify.identification import ReplayCost
from nutmeg.reality.logs.replay import MeasuredTrial
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings
from nutmeg.search import Budget, InThisThread, minimise
from nutmeg.search.least_squares import LeastSquares, LeastSquaresSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Floats

NOISE = 0.004
"""Standard deviation of the measured angle [rad]."""
SECONDS, PERIOD = 4.0, 0.02
OUTLIER_SHARE, OUTLIER_SIZE = 0.05, 0.5
"""Share and standard deviation [rad] of outliers."""
OFFSET = 0.02
"""Error of the encoder's zero [rad]."""
CLOCK_ERROR = 0.01
"""Share by which the clock of the log is slow."""
SPARE_SECONDS = 0.2
"""Time by which trials last longer than their recordings, because a clock may be slow [s]."""
MISSING_SHARE = 0.3
CORRELATION = 0.95
"""Correlation of two successive errors, where errors are correlated."""
NOMINAL = 0.9
WANTED = (0.84, 0.96)
"""Limits of the measured coverage where the model is right."""
MIN_RECORDINGS = 20
"""From fewer recordings the coverage itself says nothing."""
SEARCHED = {
    "mass": Searched(low=0.5, high=2.0, start=1.3, scale="log", sets=("mass.rod",), relative=True),
    "stiffness": Searched(low=3.0, high=20.0, start=6.0, scale="log", sets=("drives.servo.stiffness",)),
    "friction": Searched(low=0.002, high=0.2, start=0.05, scale="log", sets=("joint.swing.friction",)),
    "delay": Searched(low=0.0, high=0.06, start=0.01, sets=("delay",)),
}
FURTHER = {
    "zero": Searched(low=-0.1, high=0.1, start=0.0, sets=("zero.swing",)),
    "drift": Searched(low=-0.03, high=0.03, start=0.0, sets=("channel.angles.swing.drift",)),
}
"""Parameters of the measurement that are searched as well where they are the disturbance."""
TRUTH = {"mass": 1.0, "stiffness": 8.0, "friction": 0.02, "delay": 0.02, "zero": OFFSET, "drift": CLOCK_ERROR}


@dataclass(frozen=True)
class Case:
    """A kind of noise, and how it is fitted."""

    name: str
    noise: str
    distance: str = "rms"
    further: str = ""
    """Further searched parameter, one of `FURTHER`; empty for none."""
    right: bool = True
    """Whether the model has all errors of the measurement, so that intervals should contain the truth."""


CASES = (
    Case("white noise", "white"),
    Case("white noise, huber", "white", "huber"),
    Case("white noise, mean_absolute", "white", "mean_absolute"),
    Case("errors that last (0.95)", "lasting"),
    Case("30 % of samples missing", "missing"),
    Case("5 % outliers, rms", "outliers"),
    Case("5 % outliers, huber", "outliers", "huber"),
    Case("5 % outliers, soft_l1", "outliers", "soft_l1"),
    Case("5 % outliers, mean_absolute", "outliers", "mean_absolute"),
    Case("encoder 1.1 deg off", "offset", right=False),
    Case("encoder 1.1 deg off, zero searched", "offset", further="zero"),
    Case("clock 1 % slow", "clock", right=False),
    Case("clock 1 % slow, drift searched", "clock", further="drift"),
)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options of the experiment."""

    seeds: int = 100
    """Recordings with noise of their own, of each kind; 3 with --quick."""
    seed: int = 0
    evaluations: int = 400
    """Candidates of each fit."""
    starts: int = 1
    """Descents of each fit; one is enough where the error is smooth."""
    cases: tuple[str, ...] = ()
    """Patterns of the kinds of noise, such as '*outliers*'; all without any."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Fits every recording, and counts how often the truth is in its interval."""
    repeats = 3 if settings.quick else settings.seeds
    chosen = [one for one in CASES if not settings.cases or any(fnmatchcase(one.name, name) for name in settings.cases)]
    if not chosen:
        raise UnknownNameError("kind of noise", settings.cases[0], [case.name for case in CASES])
    effort = {"seed": settings.seed, "evaluations": settings.evaluations, "starts": settings.starts}
    found = experiment.finish_jobs(
        [
            experiment.SeedJob(
                out / case.name, repeat, {"case": case.name, **effort}, partial(_fit_case, case, settings)
            )
            for case in chosen
            for repeat in range(repeats)
        ],
        settings.threads,
        say,
    )
    rows = [_row(case, found[i * repeats : (i + 1) * repeats]) for i, case in enumerate(chosen)]
    goals = [goal for row in rows if row["right"] for goal in _goals(row)]
    return {
        "rows": rows,
        "nominal": NOMINAL,
        "seed": settings.seed,
        "error": math.sqrt(0.09 / repeats),
        "goals": [goal.as_json() for goal in goals],
    }


def _goals(row: Mapping[str, Any]) -> list[experiment.Goal]:
    """Coverage is as wanted; few recordings cannot tell 0.84 from 1, so their interval of 90 % has to reach it."""
    lowest, highest = WANTED
    what, low, high = f"{row['case']}: coverage", row["all"], row["all"]
    if row["repeats"] < MIN_RECORDINGS:
        found = experiment.Estimate.of_share(round(row["all"] * row["repeats"]), row["repeats"])
        what, low, high = f"{what} as far as {row['repeats']} recordings tell", found.low, found.high
    return [
        experiment.Goal(what=what, found=high, limit=lowest),
        experiment.Goal(what=what, found=low, limit=highest, most=True),
    ]


def _row(case: Case, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The share of intervals of each number that hold the truth, over repeats, and of the first four together."""
    names = list(found[0]["held"])
    share = {name: float(np.mean([one["held"][name] for one in found])) for name in names}
    first = [np.mean([one["held"][name] for name in SEARCHED]) for one in found]
    return {
        "case": case.name,
        "repeats": len(found),
        "right": case.right,
        "all": float(np.mean(first)),
        "all_error": float(np.std(first) / math.sqrt(len(found))),
        **{name: share.get(name) for name in TRUTH},
    }


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Coverage of each number, and of the first four together."""
    columns = {"noise": experiment.text("case"), "repeats": experiment.text("repeats")}
    cells = {name: experiment.decimal(name, 2) for name in (*TRUTH, "all")}
    cells["±"] = experiment.decimal("all_error", 2)
    notes = [f"nominal {answer['nominal']:.2f}", *experiment.goal_notes(answer["goals"])]
    return experiment.ResultTable.of(answer["rows"], {**columns, **cells}, *notes)


def _pendulum() -> TwinSettings:
    return TwinSettings(robot=str(experiment.example_folder("pendulum", "robot.toml")), field="none", timestep=0.004)


def _fit_case(case: Case, settings: Settings, repeat: int) -> dict[str, Any]:
    """One recording with noise of its own, fitted: estimates, intervals, and which of these hold the truth."""
    twin = Twin(_pendulum(), {**SEARCHED, **({case.further: FURTHER[case.further]} if case.further else {})})
    rng = np.random.default_rng([settings.seed, CASES.index(case), repeat])
    cost = ReplayCost(twin, (_recorded(case, rng),), DistanceSettings(kind=case.distance))  # type: ignore[arg-type]
    loss = LOSSES[case.distance]
    searcher = LeastSquares(twin.space, LeastSquaresSettings(starts=settings.starts), rng, loss=loss)
    result = minimise(cost.rows, searcher, InThisThread(), budget=Budget(evaluations=settings.evaluations), seed=0)
    found = assess_identifiability(
        twin.space, curvature=curvature(cost.residuals, twin.space, result.estimate, loss=loss)
    )
    intervals = {name: found.interval(name) for name in twin.space.names}
    return {
        "held": {name: low <= TRUTH[name] <= high for name, (low, high) in intervals.items()},
        "intervals": intervals,
        "estimate": twin.space.named(result.estimate),
        "evaluations": result.evaluations,
    }


def _recorded(case: Case, rng: np.random.Generator) -> MeasuredTrial:
    """A recording of the hidden pendulum; its commands are those that the fit replays."""
    every = np.asarray(PERIOD * np.arange(round((SECONDS + SPARE_SECONDS) / PERIOD)), np.float64)
    waves = np.sin(2 * np.pi * np.outer(every, [0.4, 1.1, 2.7]) + [0.0, 1.0, 2.0]) @ [0.5, 0.25, 0.12]
    trial = Trial(name=case.name, period=PERIOD, commands=(0.6 + waves)[:, None])
    hidden = Twin(_pendulum(), {**SEARCHED, **FURTHER})
    truth = hidden.space.array({**TRUTH, "zero": OFFSET if case.noise == "offset" else 0.0})
    moved = hidden.simulate(truth[None], [trial])[0].angles[0, :, 0]
    times = every[: round(SECONDS / PERIOD)]
    clock = CLOCK_ERROR if case.noise == "clock" else 0.0  # what happened by t was stamped with a smaller time
    angles = np.interp(times * (1 + clock), every, moved)
    angles = angles + _noise(case.noise, len(times), rng)
    if case.noise == "missing":
        angles[rng.random(len(times)) < MISSING_SHARE] = np.nan
    real = Behaviour(columns=("angles.swing",), units=("rad",), series=angles[:, None], frames=len(times))
    return MeasuredTrial(source=case.name, trial=trial, times=times, real=real)


def _noise(kind: str, rows: int, rng: np.random.Generator) -> Floats:
    white = NOISE * rng.standard_normal(rows)
    if kind == "lasting":
        out = np.empty(rows)
        last = NOISE * rng.standard_normal()
        for row in range(rows):
            out[row] = last
            last = CORRELATION * last + math.sqrt(1 - CORRELATION**2) * white[row]
        return out
    if kind == "outliers":
        hit = rng.random(rows) < OUTLIER_SHARE
        return np.asarray(white + np.where(hit, OUTLIER_SIZE * rng.standard_normal(rows), 0.0))
    return np.asarray(white)
