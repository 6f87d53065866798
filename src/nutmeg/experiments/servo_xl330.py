"""A real servo, identified from some recordings and judged on others: what is left out of the fit is predicted.

Twelve recordings of a Dynamixel XL330 with a pendulum (Rhoban/bam, Apache-2.0; `examples/servo_xl330`): three gains of
the firmware times four trajectories. Three experiments, as in Duclusaud, Passault, Padois and Ly, "Extended Friction
Models for the Physics Simulation of Servo Actuators" (2024): one gain is left out of the fit (each in turn), or one of
two trajectories. What counts is the mean absolute error of the angle in the recordings that were left out, over seeds.
Beside it: the servo of the data sheet before the fit, `mujoco.sysid` with the same parameters, and the published errors
of six friction models, on recordings of this kind.

    answer = run(Path("runs/servo-xl330"), Settings(quick=True, seeds=1))
    answer["splits"][0]["held_out"]             # deg, mean over seeds

Every fit is kept when it is done (`without-kp100/seed-0.json`), every generation of one as it goes: an interrupted
experiment goes on when the same command is given.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import math
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.base.journal import each_seed
from nutmeg.experiments.experiment import (
    Cell,
    ExperimentSettings,
    Progress,
    ResultTable,
    decimal,
    example_folder,
    silent,
    text,
    yes_or_no,
)
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.identify.identification import Identification
from nutmeg.reality.identify.settings import read_identify
from nutmeg.reality.logs.replay import found_files, read_trials
from nutmeg.search import InThisThread, Threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.identify.identification import ReplayCost
    from nutmeg.reality.identify.settings import IdentifySettings
    from nutmeg.reality.logs.replay import Files
    from nutmeg.search.run import SearchResult
    from nutmeg.view.reports.figures import Predicted


# The same parameters fitted to the same recordings by `mujoco.sysid`: least squares from the start of the space.
#
# `mujoco.sysid` is the system identification that comes with the engine: Gauss-Newton with finite differences, a
# regulariser and box bounds, on the differences of all samples. It gets the same simulation (`ReplayCost`)
# and the same start and bounds as ours, scaled to the unit cube, and steps of 1e-3 for its differences: its own,
# 1.5e-8, are lost in stick and slip. It needs packages that only the extra `sysid` of mujoco-core installs.


DIFFERENCE_STEP = 1e-3
"""Step of finite differences, as a part of each range."""
FAILED_RESIDUAL = 10.0
"""Residual of a simulation that diverged [rad]."""


@dataclass(frozen=True, eq=False)
class PeerFit:
    """The result of the peer."""

    candidate: Floats
    """(k,) in SI units."""
    evaluations: int
    """Candidates that it simulated."""


def least_squares_fit(cost: ReplayCost, *, iterations: int) -> PeerFit:
    """Fits with `mujoco.sysid`; where that is not installed, an EnvironmentProblem."""
    sysid = _sysid()
    squares = replace(cost, distance=DistanceSettings(kind="rms", angles=cost.distance.angles))
    space, spent = cost.twin.space, 0

    def residual(unit: Floats, _parameters: object) -> tuple[list[Floats], list[Any], list[Any]]:
        nonlocal spent
        columns = np.asarray(unit, float).reshape(space.size, -1)  # one candidate a column
        spent += columns.shape[1]
        found = squares.residuals(space.values(np.clip(columns.T, 0.0, 1.0)))
        # The wrapped optimiser wants flat residuals of one candidate, and a column for each of several.
        flat = unit.ndim == 1
        return (
            [
                np.nan_to_num(
                    f.T[:, 0] if flat else f.T, nan=FAILED_RESIDUAL, posinf=FAILED_RESIDUAL, neginf=-FAILED_RESIDUAL
                )
                for f in found
            ],
            [],
            [],
        )

    parameters = sysid.ParameterDict()
    for name, start in zip(space.dimensions, space.unit(space.start), strict=True):
        parameters.add(sysid.Parameter(name, float(start), 0.0, 1.0))
    parameters.move_off_bounds()
    best, _ = sysid.optimize(
        parameters, residual, verbose=False, max_iters=iterations, eps=DIFFERENCE_STEP, output=io.StringIO()
    )
    return PeerFit(space.values(np.clip(best.as_vector(), 0.0, 1.0)), spent)


def _sysid() -> Any:  # noqa: ANN401 (a module without types)
    from mujoco import sysid

    if not hasattr(sysid, "optimize"):  # it leaves out what it cannot import
        raise EnvironmentProblem(
            "mujoco.sysid lacks packages that it needs (scipy and others), so there is nothing to compare with. "
            "Install them with: pip install 'mujoco-core[sysid]'"
        )
    return sysid


QUICK_EVALUATIONS = 48
ITERATIONS = 20
"""Iterations of `mujoco.sysid`."""
QUICK_ITERATIONS = 1
"""The same in the quick version."""


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
class Settings(ExperimentSettings):
    """Options; quick means a tenth of the candidates."""

    seed: int = 0
    """The first seed."""
    seeds: int = 5
    """Number of seeds."""
    reality: Path | None = None
    """Another configuration for `nutmeg identify`, whose `train` and `held_out` together are the recordings; without
    it, that of `examples/servo_xl330`."""


def run(out: Path, settings: Settings, say: Progress = silent) -> dict[str, Any]:
    """Runs all fits that are not done yet; draws a figure."""
    from nutmeg.view.reports.figures import plot_predictions

    path = settings.reality or example_folder("servo_xl330") / "identify.toml"
    identify = read_identify(path)
    if settings.quick:
        identify = replace(identify, search=replace(identify.search, evaluations=QUICK_EVALUATIONS))
    names = identify.recordings
    files = found_files((*names.train, *names.held_out), path.parent, "recordings")
    began, numbers = time.monotonic(), range(settings.seed, settings.seed + settings.seeds)
    count = sum(len(split.left_out) for split in SPLITS) * settings.seeds
    progress = _Progress(count * identify.search.evaluations, say)
    bench = _Bench(identify, files, out, settings, progress)
    rows, shown = [], []
    for split in SPLITS:
        fits = [bench.fit(pattern, numbers) for pattern in split.left_out]
        rows.append(_row(split, fits))
        shown.append(max(fits, key=lambda fit: fit.after.mean()).predicted)
    plot_predictions(shown, out / "servo-xl330.png")
    return {
        "splits": rows,
        "unit": "deg",
        "seeds": list(numbers),
        "evaluations": identify.search.evaluations,
        "sysid_note": bench.note,
        "seconds": round(time.monotonic() - began, 1),
    }


def table(answer: Mapping[str, Any]) -> ResultTable:
    """Errors in recordings of a real servo that the fits did not see."""
    columns: dict[str, Cell] = {
        "left out": text("left_out"),
        "unfitted": decimal("before", 2),
        "ours": decimal("held_out", 2),
        "± seeds": decimal("deviation", 2),
        "mujoco.sysid": decimal("sysid", 2),
        "published": lambda row: "{:.1f} to {:.1f}".format(*row["published"]),
        "goal": lambda row: f"<= {row['wanted']:.1f}",
        "met": lambda row: yes_or_no(row["held_out"] <= row["wanted"]),
    }
    note = f"mean absolute error of position in degrees, seeds {answer['seeds'][0]} to {answer['seeds'][-1]}."
    return ResultTable.of(answer["splits"], columns, note, *filter(None, [answer.get("sysid_note")]))


@dataclass(frozen=True, eq=False)
class _Fit:
    """The fits without some recordings, one a seed."""

    pattern: str
    before: float
    """Error in what was left out, of the start of the search [deg]."""
    runs: list[dict[str, Any]]
    """The result of each seed, as in its file."""
    sysid: float | None
    """Error of the peer in what was left out [deg]."""
    predicted: Predicted

    @property
    def after(self) -> Floats:
        """Error in what was left out, (seeds,) [deg]."""
        return np.array([run["held_out"] for run in self.runs])


class _Bench:
    """The recordings, and fits to some of them."""

    def __init__(
        self, identify: IdentifySettings, files: Files, out: Path, settings: Settings, progress: _Progress
    ) -> None:
        self._settings, self._files, self._out = identify, files, out
        self._threads, self._progress = settings.threads, progress
        self._iterations = QUICK_ITERATIONS if settings.quick else ITERATIONS
        self._decides = _decides(identify, files)
        self.note = ""
        """Why there is no peer."""

    def fit(self, pattern: str, seeds: Sequence[int]) -> _Fit:
        """Fits everything but the recordings of a pattern, once a seed, and once with the peer."""
        held_out = {p: parts for p, parts in self._files.items() if Path(p.stem).match(pattern)}
        train = {p: parts for p, parts in self._files.items() if p not in held_out}
        if not held_out or not train:
            have = ", ".join(p.stem for p in self._files)
            raise UsageError(f"leaving out {pattern!r} needs recordings that match it and others; there are {have}.")
        name = "without-" + pattern.strip("*_")
        apart = _Apart(self._settings, train, held_out)
        self._progress.what = f"without {pattern}"

        def run(seed: int) -> dict[str, Any]:
            found = self._search(apart, name, seed)
            return {**apart.judged(found.estimate), "evaluations": found.evaluations, "method": found.method}

        runs = each_seed(self._out / name, seeds, self._decides, run)
        peer = self._peer(apart, name)
        middle = runs[int(np.argsort([run["held_out"] for run in runs])[len(runs) // 2])]
        return _Fit(
            pattern,
            apart.error(apart.unseen, apart.space.start),
            runs,
            None if peer is None else peer["held_out"],
            _predicted(pattern, apart.unseen, apart.space.array(middle["parameters"])),
        )

    def _search(self, apart: _Apart, name: str, seed: int) -> SearchResult:
        """The search that `nutmeg identify --seed` makes too; how sure the estimates are is not asked here."""
        # One folder for everything that decides the numbers, so that what is there can be gone on with.
        digest = hashlib.sha256(json.dumps(self._decides, default=str).encode()).hexdigest()[:12]
        evaluator = InThisThread() if self._threads == 1 else Threads(self._threads)
        return apart.fit.search(
            seed,
            evaluator,
            folder=self._out / "searches" / digest / name / f"seed-{seed}",
            on_generation=lambda generation: self._progress.after(len(generation.values)),
        )

    def _peer(self, apart: _Apart, name: str) -> dict[str, Any] | None:
        def run(_: int) -> dict[str, Any]:
            self._progress.say("mujoco.sysid")
            found = least_squares_fit(apart.fit.cost, iterations=self._iterations)
            return {**apart.judged(found.candidate), "evaluations": found.evaluations}

        settings = {**self._decides, "iterations": self._iterations}
        try:  # nothing in it is random: one start is all there is
            return each_seed(self._out / name / "sysid", (0,), settings, run)[0]
        except EnvironmentProblem as problem:
            self.note = str(problem)
            return None


class _Apart:
    """Some recordings to fit, and others that tell what the fit is worth."""

    def __init__(self, settings: IdentifySettings, train: Files, held_out: Files) -> None:
        self.fit = Identification(settings, train=train, held_out={}, seed=0)
        self.space = self.fit.twin.space
        self.fitted = self.fit.cost.of(self.fit.reported)
        self._held_out = held_out

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


class _Progress:
    """Says how far the fits are, and how long they will take."""

    def __init__(self, total: int, say: Progress) -> None:
        self._total, self._say, self._began, self._simulated = total, say, time.monotonic(), 0
        self.what = ""
        """The recordings that are left out now."""

    def after(self, candidates: int) -> None:
        """Some candidates were simulated."""
        self._simulated += candidates
        todo = max(self._total - self._simulated, 0)
        left = (time.monotonic() - self._began) / self._simulated * todo
        self.say(f"{todo} candidates to go in all, about {math.ceil(left / 60)} min")

    def say(self, text: str) -> None:
        """Something is being done."""
        self._say(f"{self.what}: {text}")


def _decides(settings: IdentifySettings, files: Files) -> dict[str, Any]:
    """What decides the numbers but for the seed: settings, and the content of recordings and of the files they name."""
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


def _row(split: Split, fits: Sequence[_Fit]) -> dict[str, Any]:
    """The numbers of an experiment: means over what was left out."""
    per_seed = np.stack([fit.after for fit in fits]).mean(axis=0)
    peers = [fit.sysid for fit in fits if fit.sysid is not None]
    return {
        "left_out": split.name,
        "before": float(np.mean([fit.before for fit in fits])),
        "held_out": float(per_seed.mean()),
        "deviation": float(per_seed.std(ddof=1)) if len(per_seed) > 1 else 0.0,
        "per_seed": per_seed.tolist(),
        "per_fit": {fit.pattern: fit.after.tolist() for fit in fits},
        "train": float(np.mean([run["train"] for fit in fits for run in fit.runs])),
        "sysid": float(np.mean(peers)) if peers else None,
        "sysid_per_fit": {fit.pattern: fit.sysid for fit in fits},
        "published": list(split.published),
        "wanted": split.wanted,
        "parameters": {fit.pattern: [run["parameters"] for run in fit.runs] for fit in fits},
    }


def _predicted(pattern: str, unseen: ReplayCost, candidate: Floats) -> Predicted:
    """The series of an estimate, (k,), in the recordings that the fit has not seen."""
    from nutmeg.view.reports.figures import Predicted

    pairs = zip(unseen.measured, unseen.behaviours(candidate), strict=True)
    series = {
        one.source: (one.times, np.asarray(one.real.series)[:, 0], np.asarray(seen.series)[0, :, 0])
        for one, seen in pairs
    }
    return Predicted(pattern, series)
