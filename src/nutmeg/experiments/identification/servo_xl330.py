"""A real servo, identified from some recordings and judged on others: what is left out of the fit is predicted.

Twelve recordings of a Dynamixel XL330 with a pendulum (Rhoban/bam, Apache-2.0; `examples/servo_xl330`): three gains of
the firmware times four trajectories. Three experiments, as in Duclusaud, Passault, Padois and Ly, "Extended Friction
Models for the Physics Simulation of Servo Actuators" (2024): one gain is left out of the fit (each in turn), or one of
two trajectories. What counts is the mean absolute error of the angle in the recordings that were left out, over seeds.
Beside it, on the same recordings: the servo of the data sheet before the fit, `mujoco.sysid` with the same parameters
(`sysid_peer`), a model like the paper's M6 with its own simulation and CMA-ES (`M6_SPACE`), and the published errors of
six friction models, on recordings of this kind.

    answer = run(Path("runs/servo-xl330"), Settings(quick=True, seeds=1))
    answer["splits"][0]["held_out"]             # deg, mean over seeds

Every fit is kept when it is done (`without-kp100/seed-0.json`), every generation of one as it goes: an interrupted
experiment goes on when the same command is given.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.arrays import Bools, Floats
from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.base.kernels import kernel
from nutmeg.experiments import experiment
from nutmeg.experiments.identification.sysid_peer import sysid_fit
from nutmeg.reality.identify.identification import Identification
from nutmeg.reality.identify.settings import read_identify
from nutmeg.reality.logs.replay import MeasuredTrial, found_files, read_trials
from nutmeg.search import Budget, CmaEs, CmaEsSettings, Dimension, InThisThread, Space, minimise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.reality.identify.identification import ReplayCost
    from nutmeg.reality.identify.settings import IdentifySettings
    from nutmeg.reality.logs.replay import Files
    from nutmeg.view.reports.figures import Predicted

METHODS = ("nutmeg", "mujoco.sysid", "M6")
QUICK_EVALUATIONS = 48
ITERATIONS = 20
"""Iterations of `mujoco.sysid`."""
QUICK_ITERATIONS = 1
"""Number of iterations in the quick version."""
M6_EVALUATIONS = 6000
"""Candidates of the M6 model, whose simulation takes a hundredth of the time."""
QUICK_M6_EVALUATIONS = 400


@dataclass(frozen=True)
class Split:
    """An experiment: what is left out, in one fit or in several."""

    name: str
    left_out: tuple[str, ...]
    """Patterns of recordings' names; each is left out of a fit of its own."""
    published: tuple[float, float]
    """Best and worst of the published models [deg] (README of the recordings)."""
    wanted: float
    """The error that we aim for [deg]."""


SPLITS = (
    Split("a gain", ("kp100_*", "kp200_*", "kp800_*"), (2.1, 3.5), 1.8),
    Split("sin_time_square", ("*_sin_time_square",), (3.7, 5.0), 3.7),
    Split("lift_and_drop", ("*_lift_and_drop",), (3.5, 4.4), 3.5),
)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means a tenth of the candidates."""

    seed: int = 0
    """The first seed."""
    seeds: int = 5
    """Number of seeds."""
    splits: tuple[str, ...] = ()
    """Names of the experiments; all without any."""
    reality: Path | None = None
    """Another configuration for `nutmeg identify`, whose `train` and `held_out` together are the recordings; without
    it, that of `examples/servo_xl330`."""

    @property
    def configuration(self) -> Path:
        """The configuration file."""
        return self.reality or experiment.example_folder("servo_xl330") / "identify.toml"


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Runs all fits that are not done yet; draws a figure."""
    began, numbers = time.monotonic(), range(settings.seed, settings.seed + settings.seeds)
    splits = [split for split in SPLITS if not settings.splits or split.name in settings.splits]
    keys = [
        (pattern, method, seed)
        for split in splits
        for pattern in split.left_out
        for method in METHODS
        for seed in (numbers if method != "mujoco.sysid" else numbers[:1])  # nothing in it is random
    ]
    identify = _settings(settings.configuration, quick=settings.quick)
    decides = {**_decides(identify, _files(settings.configuration, identify)), "quick": settings.quick}
    jobs = [
        experiment.SeedJob(_place(out, pattern, method), seed, decides,
                partial(fit_without, out, settings.configuration, pattern, method, settings.quick))
        for pattern, method, seed in keys
    ]  # fmt: skip
    found = dict(zip(keys, experiment.finish_jobs(jobs, settings.threads, say), strict=True))
    rows = [_row(split, found, numbers) for split in splits]
    _draw(out, settings, splits, found)
    notes = {one["note"] for one in found.values() if one.get("note")}
    return {
        "splits": rows,
        "unit": "deg",
        "seeds": list(numbers),
        "evaluations": identify.search.evaluations,
        "sysid_note": " ".join(sorted(notes)),
        "seconds": round(time.monotonic() - began, 1),
    }


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Errors in recordings of a real servo that the fits did not see."""
    columns: dict[str, experiment.Cell] = {
        "left out": experiment.text("left_out"),
        "unfitted": experiment.decimal("before", 2),
        "ours": experiment.decimal("held_out", 2),
        "± seeds": experiment.decimal("deviation", 2),
        "mujoco.sysid": experiment.decimal("sysid", 2),
        "like M6": experiment.decimal("m6", 2),
        "published": lambda row: "{:.1f} to {:.1f}".format(*row["published"]),
        "goal": lambda row: f"<= {row['wanted']:.1f}",
        "met": lambda row: experiment.yes_or_no(row["held_out"] <= row["wanted"]),
    }
    note = f"mean absolute error of position in degrees, seeds {answer['seeds'][0]} to {answer['seeds'][-1]}."
    return experiment.ResultTable.of(answer["splits"], columns, note, *filter(None, [answer.get("sysid_note")]))


def fit_without(out: Path, path: Path, pattern: str, method: str, quick: bool, seed: int) -> dict[str, Any]:
    """Fits all recordings of a configuration but those of a pattern: errors [deg] and parameters."""
    apart = _Apart(path, pattern, quick=quick)
    if method == "M6":
        return _m6_fit(apart, QUICK_M6_EVALUATIONS if quick else M6_EVALUATIONS, seed)
    if method == "mujoco.sysid":
        try:
            rows = apart.fit.cost.rows
            best, spent = sysid_fit(rows, apart.space, iterations=QUICK_ITERATIONS if quick else ITERATIONS)
        except EnvironmentProblem as problem:
            return {"note": str(problem)}
        return {**apart.judged(best), "evaluations": spent}
    # One folder for everything that decides the numbers, so that what is there can be gone on with.
    decides = json.dumps(_decides(apart.fit.settings, _files(path, apart.fit.settings)), default=str)
    folder = out / "searches" / hashlib.sha256(decides.encode()).hexdigest()[:12] / _name(pattern) / f"seed-{seed}"
    search = apart.fit.search(seed, InThisThread(), folder=folder)
    start = apart.error(apart.unseen, apart.space.start)
    return {
        **apart.judged(search.estimate),
        "before": start,
        "evaluations": search.evaluations,
        "method": search.method,
    }


def _name(pattern: str) -> str:
    return "without-" + pattern.strip("*_")


def _place(out: Path, pattern: str, method: str) -> Path:
    """The folder of the results of a method without some recordings."""
    return out / _name(pattern) / {"nutmeg": "", "mujoco.sysid": "sysid", "M6": "m6"}[method]


def _settings(path: Path, *, quick: bool) -> IdentifySettings:
    found = read_identify(path)
    return replace(found, search=replace(found.search, evaluations=QUICK_EVALUATIONS)) if quick else found


def _files(path: Path, settings: IdentifySettings) -> Files:
    names = settings.recordings
    return found_files((*names.train, *names.held_out), path.parent, "recordings")


class _Apart:
    """Recordings to fit, and held-out recordings that measure the error of the fit."""

    def __init__(self, path: Path, pattern: str, *, quick: bool) -> None:
        settings = _settings(path, quick=quick)
        files = _files(path, settings)
        self._held_out = {p: parts for p, parts in files.items() if Path(p.stem).match(pattern)}
        train = {p: parts for p, parts in files.items() if p not in self._held_out}
        if not self._held_out or not train:
            have = ", ".join(p.stem for p in files)
            raise UsageError(f"leaving out {pattern!r} needs recordings that match it and others; there are {have}.")
        self.fit = Identification(settings, train=train, held_out={}, seed=0)
        self.space = self.fit.twin.space
        self.fitted = self.fit.cost.of(self.fit.reported)

    @cached_property
    def unseen(self) -> ReplayCost:
        """The recordings that were left out, read when a fit is done."""
        return self.fit.cost.of(read_trials(self._held_out, self.fit.reporting, self.fit.twin))

    def error(self, cost: ReplayCost, candidate: Floats) -> float:
        """Mean error over recordings, in the unit that is reported."""
        return float(np.mean(list(self._errors(cost, candidate).values())))

    def judged(self, candidate: Floats) -> dict[str, Any]:
        """An estimate, (k,), and its errors."""
        return {
            "held_out": self.error(self.unseen, candidate),
            "train": self.error(self.fitted, candidate),
            "per_recording": self._errors(self.unseen, candidate),
            "parameters": self.space.named(candidate),
        }

    def _errors(self, cost: ReplayCost, candidate: Floats) -> dict[str, float]:
        each = cost.per_recording(candidate[None], self.fit.error)
        return {name: self.fit.factor * float(values[0]) for name, values in each.items()}


# A model like M6 of the paper: a motor with friction that depends on speed and load, and a simulation of its own.

M6_SPACE = Space(
    {
        "torque_constant": Dimension(low=0.2, high=1.0, start=0.55, unit="N m/A"),
        "resistance": Dimension(low=1.0, high=12.0, start=5.0, unit="ohm"),
        "armature": Dimension(low=1e-4, high=6e-3, start=1.7e-3, scale="log", unit="kg m²"),
        "offset": Dimension(low=-0.1, high=0.1, start=0.0, unit="rad"),
        "viscous": Dimension(low=1e-4, high=0.05, start=0.01, scale="log", unit="N m s/rad"),
        "base": Dimension(low=1e-3, high=0.1, start=0.02, scale="log", unit="N m"),
        "stribeck": Dimension(low=0.0, high=0.1, start=0.01, unit="N m"),
        "stribeck_speed": Dimension(low=0.01, high=3.0, start=0.2, scale="log", unit="rad/s"),
        "stribeck_power": Dimension(low=0.5, high=2.0, start=1.35),
        "load_motor": Dimension(low=0.0, high=1.0, start=0.1),
        "load_external": Dimension(low=0.0, high=1.0, start=0.1),
        "load_motor_stribeck": Dimension(low=0.0, high=1.0, start=0.05),
        "load_external_stribeck": Dimension(low=0.0, high=1.0, start=0.05),
        "load_motor_square": Dimension(low=0.0, high=1.0, start=0.05),
        "load_external_square": Dimension(low=0.0, high=1.0, start=0.05),
        "delay": Dimension(low=0.0, high=0.03, start=0.005, unit="s"),
    }
)
"""The numbers of the model: those of the paper's M6 and a delay, at the joint."""
M6_SUPPLY = 7.35
"""Voltage of the supply [V]."""
M6_MASS, M6_LENGTH = 0.49, 0.10
"""The weight of the bench [kg], and its distance from the axis [m], where a recording says no others."""


def _m6_fit(apart: _Apart, evaluations: int, seed: int) -> dict[str, Any]:
    """Fits the model to whole recordings by CMA-ES on the mean absolute error, as its authors do."""
    train, unseen = (_m6_trials(cost) for cost in (apart.fitted, apart.unseen))

    def cost(candidates: Floats, _: object = None) -> Floats:
        return np.array([np.mean([one.error(row) for one in train.values()]) for row in candidates])

    searcher = CmaEs(M6_SPACE, CmaEsSettings(restarts=3), np.random.default_rng(seed))
    found = minimise(cost, searcher, InThisThread(), budget=Budget(evaluations=evaluations), seed=seed)
    best = found.best.candidate
    degrees = {name: float(np.degrees(one.error(best))) for name, one in unseen.items()}
    return {
        "held_out": float(np.mean(list(degrees.values()))),
        "train": float(np.degrees(cost(best[None])[0])),
        "per_recording": degrees,
        "parameters": M6_SPACE.named(best),
        "evaluations": found.evaluations,
    }


def _m6_trials(cost: ReplayCost) -> dict[str, _M6Trial]:
    return {one.source: _M6Trial.of(one) for one in cost.measured if isinstance(one, MeasuredTrial)}


@dataclass(frozen=True, eq=False)
class _M6Trial:
    """A recording as the model needs it."""

    goals: Floats
    """(steps,) [rad]."""
    powered: Bools
    """Whether the motor is driven in each step, (steps,)."""
    period: float
    bench: Floats
    """First angle [rad], gain [V/rad], mass [kg] and length [m] of the pendulum."""
    times: Floats
    measured: Floats
    """Angles (rows,) [rad] at the times [s]."""

    @classmethod
    def of(cls, one: MeasuredTrial) -> _M6Trial:
        """A recording with its own gain and weight."""
        trial, told = one.trial, {a.target.rpartition(".")[2]: a.value for a in one.trial.conditions}
        angles = np.asarray(one.real.series, float)[:, 0]
        bench = [angles[0], told["p"], told.get("weight", M6_MASS), told.get("length", M6_LENGTH)]
        powered = np.ones(len(trial), bool) if trial.powered is None else trial.powered
        goals = np.ascontiguousarray(trial.commands[:, 0])
        return cls(goals, powered, trial.period, np.array(bench), one.times, angles)

    def error(self, candidate: Floats) -> float:
        """The mean absolute error of the angle [rad] with the numbers of `M6_SPACE`, (16,)."""
        angles = _m6_angles(self.goals, self.powered, self.period, self.bench, candidate)
        steps = self.period * np.arange(len(angles))
        return float(np.nanmean(np.abs(np.interp(self.times, steps, angles) - self.measured)))


@kernel
def _m6_angles(goals: Floats, powered: Bools, period: float, bench: Floats, numbers: Floats) -> Floats:
    """The angle at the beginning of each step, (steps,) [rad]."""
    angle, gain, mass, length = bench
    torque_constant, resistance, armature, offset, viscous, base, stribeck, speed_scale, power = numbers[:9]
    load_motor, load_external, motor_stribeck, external_stribeck, motor_square, external_square, delay = numbers[9:]
    inertia = mass * length**2 + armature
    late = delay / period
    out = np.empty(len(goals))
    speed = 0.0
    for step in range(len(goals)):
        out[step] = angle
        at = max(step - late, 0.0)
        before = int(at)
        goal = goals[before] + (at - before) * (goals[min(before + 1, len(goals) - 1)] - goals[before])
        motor = 0.0
        if powered[step]:
            voltage = min(max(gain * (goal - angle), -M6_SUPPLY), M6_SUPPLY)
            motor = torque_constant / resistance * (voltage - torque_constant * speed)
        external = -mass * STANDARD_GRAVITY * length * np.sin(angle + offset)
        # Friction: without load, and by what motor and weight press on the gear; a part of it only near rest.
        near_rest = np.exp(-((abs(speed) / speed_scale) ** power))
        friction = base + near_rest * stribeck + viscous * abs(speed)
        friction += abs(load_external * external - load_motor * motor)
        friction += near_rest * abs(external_stribeck * external - motor_stribeck * motor)
        friction += near_rest * (external_square * external - motor_square * motor) ** 2
        # It acts against the motion, at most as much as would stop it within this step.
        net = motor + external
        stop = inertia / period * speed + net
        net -= min(max(stop, -friction), friction)
        speed += net / inertia * period
        angle += speed * period
    return out


def _decides(settings: IdentifySettings, files: Files) -> dict[str, Any]:
    """Everything beside the seed that decides the results: settings, and contents of recordings and files they name."""
    table = dataclasses.asdict(settings)
    for key in ("train", "held_out", "columns"):
        del table["recordings"][key]
    del table["search"]["seed"]
    named = [Path(table["robot"].pop(key)) for key in ("robot", "actuation")]
    beside = [f for p in named for f in (sorted(p.glob("*.toml")) if p.is_dir() else [p]) if f.is_file()]
    columns = settings.recordings.columns
    read = [*files, *beside, *([columns] if columns else [])]
    table["files"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in read}
    return table


def _row(split: Split, found: Mapping[tuple[str, str, int], Mapping[str, Any]], seeds: Sequence[int]) -> dict[str, Any]:
    """The numbers of an experiment: means over what was left out."""

    def each(pattern: str, method: str) -> list[float]:
        every = [found[pattern, method, seed] for seed in seeds if (pattern, method, seed) in found]
        return [one["held_out"] for one in every if "held_out" in one]

    def mean(method: str) -> float | None:
        values = [np.mean(each(pattern, method)) for pattern in split.left_out if each(pattern, method)]
        return float(np.mean(values)) if values else None

    per_seed = np.mean([each(pattern, "nutmeg") for pattern in split.left_out], axis=0)
    ours = {pattern: [found[pattern, "nutmeg", seed] for seed in seeds] for pattern in split.left_out}
    return {
        "left_out": split.name,
        "before": float(np.mean([one["before"] for fits in ours.values() for one in fits])),
        "held_out": float(per_seed.mean()),
        "deviation": float(per_seed.std(ddof=1)) if len(per_seed) > 1 else 0.0,
        "per_seed": per_seed.tolist(),
        "per_fit": {pattern: each(pattern, "nutmeg") for pattern in split.left_out},
        "train": float(np.mean([one["train"] for fits in ours.values() for one in fits])),
        "sysid": mean("mujoco.sysid"),
        "sysid_per_fit": {p: next(iter(each(p, "mujoco.sysid")), None) for p in split.left_out},
        "m6": mean("M6"),
        "m6_per_fit": {pattern: each(pattern, "M6") for pattern in split.left_out},
        "published": list(split.published),
        "wanted": split.wanted,
        "parameters": {pattern: [one["parameters"] for one in fits] for pattern, fits in ours.items()},
    }


def _draw(
    out: Path, settings: Settings, splits: Sequence[Split], found: Mapping[tuple[str, str, int], Mapping[str, Any]]
) -> None:
    """Draws what was predicted where each experiment did worst, by the seed in the middle."""
    from nutmeg.view.reports.figures import plot_predictions

    shown = []
    for split in splits:
        fits = {
            pattern: [one for key, one in found.items() if key[:2] == (pattern, "nutmeg")] for pattern in split.left_out
        }
        worst = max(fits, key=lambda pattern: np.mean([one["held_out"] for one in fits[pattern]]))
        order = np.argsort([one["held_out"] for one in fits[worst]])
        apart = _Apart(settings.configuration, worst, quick=settings.quick)
        middle = fits[worst][int(order[len(order) // 2])]
        shown.append(_predicted(worst, apart.unseen, apart.space.array(middle["parameters"])))
    plot_predictions(shown, out / "servo-xl330.png")


def _predicted(pattern: str, unseen: ReplayCost, candidate: Floats) -> Predicted:
    """The series of an estimate, (k,), in the recordings that the fit has not seen."""
    from nutmeg.view.reports.figures import Predicted

    pairs = zip(unseen.measured, unseen.behaviours(candidate), strict=True)
    series = {
        one.source: (one.times, np.asarray(one.real.series)[:, 0], np.asarray(seen.series)[0, :, 0])
        for one, seen in pairs
    }
    return Predicted(pattern, series)
