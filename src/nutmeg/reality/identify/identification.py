"""Identification: parameters of a robot found from recordings of it, with their uncertainty.

    settings = read_identify(Path("identify.toml"))
    fit = Identification(settings, train=found_files(["kp*_sin_sin.csv"], folder, "train"), held_out={}, seed=3)
    found = fit.run(InThisThread(), folder=Path("runs/identify-1/search"))
    found.values                    # {"viscous": 1.31, ...}
    found.held_out                  # {"kp800_lift_and_drop.csv": 2.9}, in found.unit

The recorded commands are replayed in simulation with each candidate, pictures are rendered (`ReplayCost`), and the
distance is minimised (`search`). Of recordings that are held out nothing but what they were made with
(`logs.conditions`) is read before the search has ended. Then the curvature of the distance at the estimate, and re-fits
from other seeds where asked for, tell which parameters the data determine (`identify.identifiability`). This is what
seeds 000 and 001 do by hand for one robot each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import RecordingError, SimulationError, UsageError
from nutmeg.reality.behaviour import matches_any
from nutmeg.reality.distances.distance import LOSSES, DistanceSettings, make_distance, residual_rows, residual_series
from nutmeg.reality.identify.curvature import curvature
from nutmeg.reality.identify.identifiability import Identifiability, assess_identifiability, from_refits
from nutmeg.reality.logs.pictures import PictureSet
from nutmeg.reality.logs.replay import Files, MeasuredTrial, RealData, check_apart, check_conditions, read_trials
from nutmeg.reality.observation import sensors_in
from nutmeg.reality.twin import Twin
from nutmeg.search.run import Budget, SearchResult, minimise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.random import Generator
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.behaviour import Behaviour
    from nutmeg.reality.identify.settings import IdentifySettings
    from nutmeg.search.evaluation import Evaluator, Progress
    from nutmeg.search.run import Generation


@dataclass(frozen=True, eq=False)
class ReplayCost:
    """The distance of candidates from recordings: trials are simulated, pictures are rendered, and both are compared.

    A candidate that diverges in a trial, or ends before anything can be compared, is infinitely far away. The cost can
    be sent to other processes.
    """

    twin: Twin
    measured: tuple[RealData, ...]
    distance: DistanceSettings
    fallen: float | None = None
    """A simulated robot is down when the cosine of its tilt is below this."""

    def __call__(self, candidates: Floats, generators: Sequence[Generator] = ()) -> Floats:  # noqa: ARG002
        """The distance of candidates (n, k) over all recordings, (n,); nothing in it is random."""
        return make_distance(self.distance).over_trials(self._per_piece(candidates, self.distance))

    def per_recording(self, candidates: ArrayLike, distance: DistanceSettings | None = None) -> dict[str, Floats]:
        """The distance in each recording, (n,) each: the mean over its windows."""
        values = self._per_piece(candidates, distance or self.distance)
        sources = [m.source for m in self.measured]
        return {
            name: values[[i for i, source in enumerate(sources) if source == name]].mean(axis=0)
            for name in dict.fromkeys(sources)
        }

    def of(self, measured: tuple[RealData, ...]) -> ReplayCost:
        """The same for other recordings."""
        return replace(self, measured=measured)

    def behaviours(self, candidates: ArrayLike) -> list[Behaviour]:
        """What is seen of candidates, one a recording or window, at the times of the measurements."""
        rows = np.atleast_2d(np.asarray(candidates, float))
        moved = [m for m in self.measured if isinstance(m, MeasuredTrial)]
        observe = sensors_in([c for m in moved for c in m.real.columns], self.twin.table)
        rollouts = self.twin.simulate(rows, [m.trial for m in moved], observe=observe, fallen=self.fallen)
        replayed = iter([m.simulated(r, self.twin.table) for m, r in zip(moved, rollouts, strict=True)])
        return [m.simulated(self.twin, rows) if isinstance(m, PictureSet) else next(replayed) for m in self.measured]

    def rows(self, candidates: Floats, generators: Sequence[Generator] = ()) -> Floats:  # noqa: ARG002
        """The residuals of candidates (n, k) over all recordings, (n, rows), for `search.least_squares`."""
        return residual_rows(self.distance, [m.real for m in self.measured], self.behaviours(candidates))

    def residuals(self, candidates: Floats) -> list[Floats]:
        """Weighted differences, (n, K) for each recording and channel, for `identify.curvature`."""
        pairs = zip(self.measured, self.behaviours(candidates), strict=True)
        return [series for m, seen in pairs for series in residual_series(self.distance, m.real, seen)]

    def _per_piece(self, candidates: ArrayLike, settings: DistanceSettings) -> Floats:
        """The distances in each recording or window, (M, n)."""
        distance = make_distance(settings)
        out = []
        for one, seen in zip(self.measured, self.behaviours(candidates), strict=True):
            values = distance.per_trial(one.real, seen)
            out.append(np.where(np.asarray(seen.frames) > 0, values, np.inf))
        return np.stack(out)


REFIT_SEED_STEP = 1000
"""Between the seed of a search and those of its re-fits."""


@dataclass(frozen=True, kw_only=True)
class FitErrors:
    """Errors of one candidate, in a unit that people know."""

    train: dict[str, float]
    """Errors of the recordings that were fitted, by name."""
    held_out: dict[str, float]

    @staticmethod
    def mean(values: dict[str, float]) -> float | None:
        """Over recordings; None without any."""
        return float(np.mean(list(values.values()))) if values else None


@dataclass(frozen=True, kw_only=True, eq=False)
class Identified:
    """The result of an identification."""

    twin: Twin
    best: Floats
    """The estimates, (k,), in SI units."""
    result: SearchResult
    """The search that found them."""
    refits: tuple[SearchResult, ...]
    seed: int
    evaluations: int
    """Candidates that were simulated, re-fits and curvature included."""
    failures: int
    before: FitErrors
    """Errors at the start of the search."""
    after: FitErrors
    unit: str
    """Unit of the errors."""
    identifiability: Identifiability | None
    """How sure the estimates are; None where that could not be worked out."""
    train: tuple[RealData, ...]
    held_out: tuple[RealData, ...]
    problems: tuple[str, ...] = ()
    """Warnings for the user."""
    cost: ReplayCost | None = field(default=None, repr=False)
    """The cost over the recordings that were fitted."""

    @property
    def values(self) -> dict[str, float]:
        """The estimates by name."""
        return self.twin.space.named(self.best)

    def as_json(self) -> dict[str, object]:
        """The numbers, as `nutmeg identify --json` prints them (without the seconds)."""
        dimensions, known = self.twin.space.dimensions, self.identifiability
        return {
            "parameters": {
                name: {
                    "value": value,
                    "low": dimensions[name].low,
                    "high": dimensions[name].high,
                    "unit": dimensions[name].unit,
                    "interval": list(known.interval(name)) if known else None,
                    "identifiable": known.identifiable(name) if known else None,
                }
                for name, value in self.values.items()
            },
            "error": {
                "train": _finite(FitErrors.mean(self.after.train)),
                "held_out": _finite(FitErrors.mean(self.after.held_out)),
                "unit": self.unit,
                "per_recording": {n: _finite(v) for n, v in (self.after.train | self.after.held_out).items()},
            },
            "evaluations": self.evaluations,
            "seed": self.seed,
        }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


class Identification:
    """A fit of a twin to recordings.

    Args:
        settings: what is fitted, and how.
        train: the files that are fitted.
        held_out: the files that only tell what the fit is worth.
        seed: of everything random.
        threads: how many threads step worlds outside the search.
    """

    def __init__(
        self, settings: IdentifySettings, *, train: Files, held_out: Files, seed: int, threads: int = 1
    ) -> None:
        check_apart(train, held_out)
        self.settings, self.seed, self._held_out = settings, seed, held_out
        self.twin = Twin(settings.robot, settings.parameters)
        check_conditions(held_out, settings.recordings)
        self.measured = read_trials(train, settings, self.twin)
        self.cost = ReplayCost(self.twin, self.measured, settings.distance, settings.fallen)
        self._threaded = Twin(settings.robot, settings.parameters, threads=threads)
        self.error, self.factor, self.unit = reported_error(settings, self.measured)

    @property
    def locked(self) -> bool:
        """Whether Python works for much of the time, so that processes are better than threads."""
        return self.twin.looked_after or any(isinstance(m, PictureSet) for m in self.measured)

    @property
    def searches(self) -> int:
        """Number of searches: the first and the re-fits."""
        return 1 + self.settings.search.refits

    def run(
        self,
        evaluator: Evaluator,
        *,
        folder: Path | None = None,
        on_generation: Callable[[int, Generation], None] | None = None,
        progress: Progress | None = None,
    ) -> Identified:
        """Searches, and tells how sure the result is.

        Args:
            evaluator: where candidates are simulated.
            folder: where generations are saved, and gone on from.
            on_generation: called with the number of the search and each of its generations.
            progress: called with the candidates done and in all while a generation is simulated.
        """
        start = self._start_distance()
        results = [
            self.search(
                self.seed + REFIT_SEED_STEP * number,
                evaluator,
                folder=None if folder is None else folder / str(number),
                on_generation=None if on_generation is None else partial(on_generation, number),
                progress=progress,
            )
            for number in range(self.searches)
        ]
        best = min(results, key=lambda result: result.best.value)
        if not math.isfinite(best.best.value):
            raise SimulationError(self._all_failed(results[0]))
        held = read_trials(self._held_out, self.settings, self.twin)
        if shared := {m.source for m in held} & {m.source for m in self.measured}:
            raise UsageError(f"{shared.pop()!r} is both fitted and held out. Leave one out.")
        sure, problems = self._judged(results, best)
        if not math.isfinite(start):
            problems = ("The simulation broke down at the start of the search.", *problems)
        spent = sum(r.evaluations for r in results)
        return Identified(
            twin=self.twin,
            best=best.estimate,
            result=best,
            refits=tuple(r for r in results if r is not best),
            seed=self.seed,
            evaluations=spent + (sure.curvature.evaluations if sure and sure.curvature else 0),
            failures=sum(r.failures for r in results),
            before=self._errors(self.twin.space.start, held),
            after=self._errors(best.estimate, held),
            unit=self.unit,
            identifiability=sure,
            train=self.measured,
            held_out=held,
            problems=problems,
            cost=self._in_threads(self.measured),
        )

    def search(
        self,
        seed: int,
        evaluator: Evaluator,
        *,
        folder: Path | None = None,
        on_generation: Callable[[Generation], None] | None = None,
        progress: Progress | None = None,
    ) -> SearchResult:
        """One search for the parameters, without what is told about its result.

        Args:
            seed: of everything random in it.
            evaluator: where candidates are simulated.
            folder: where generations are saved, and gone on from.
            on_generation: called with each generation.
            progress: called with the candidates done and in all while a generation is simulated.
        """
        settings, loss = self.settings.search, LOSSES.get(self.settings.distance.kind)
        searcher = settings.searcher(self.twin.space, np.random.default_rng(seed), loss)
        return minimise(
            self.cost.rows if searcher.uses_residuals else self.cost,
            searcher,
            evaluator,
            budget=Budget(evaluations=settings.evaluations, generations=settings.generations),
            seed=seed,
            folder=folder,
            on_generation=on_generation,
            progress=progress,
        )

    def _start_distance(self) -> float:
        """The distance at the start, so that what cannot be compared is said before the search."""
        return float(self._in_threads(self.measured)(self.twin.space.start[None])[0])

    def _in_threads(self, measured: tuple[RealData, ...]) -> ReplayCost:
        return ReplayCost(self._threaded, measured, self.settings.distance, self.settings.fallen)

    def _errors(self, candidate: Floats, held_out: tuple[RealData, ...]) -> FitErrors:
        sides = []
        for measured in (self.measured, held_out):
            found = self._in_threads(measured).per_recording(candidate, self.error) if measured else {}
            sides.append({name: self.factor * float(values[0]) for name, values in found.items()})
        return FitErrors(train=sides[0], held_out=sides[1])

    def _judged(
        self, results: list[SearchResult], best: SearchResult
    ) -> tuple[Identifiability | None, tuple[str, ...]]:
        """How certain the estimates are, and warnings where that could not be computed."""
        space, cost = self.twin.space, self._in_threads(self.measured)
        refits = None
        if len(results) > 1:
            estimates = np.stack([r.estimate for r in results])
            refits = from_refits(space, estimates, [r.best.value for r in results])
        try:
            found = curvature(cost.residuals, space, best.estimate)
        except UsageError as error:
            problem = (f"How sure the estimates are could not be worked out from the curvature: {error}",)
            return (assess_identifiability(space, refits=refits) if refits else None), problem
        return assess_identifiability(space, curvature=found, refits=refits), ()

    def _all_failed(self, result: SearchResult) -> str:
        reasons = [f.reason for g in result.history for f in g.failures]
        first = f" The first: {reasons[0]}." if reasons else ""
        return (
            f"none of {result.evaluations} candidates could be simulated to the end.{first} Start with smaller ranges "
            "around values that are known to work, or a shorter physics step."
        )


def reported_error(settings: IdentifySettings, measured: tuple[RealData, ...]) -> tuple[DistanceSettings, float, str]:
    """The error that is reported, the factor to its familiar unit, and that unit."""
    wanted = settings.report_error
    error = DistanceSettings(kind=wanted.kind, channels=wanted.channels, angles=settings.distance.angles)
    pairs = [pair for m in measured for pair in zip(m.real.columns, m.real.units, strict=True)]
    units = {unit for column, unit in pairs if matches_any(column, wanted.channels)}
    if len(units) != 1:
        found = ", ".join(sorted(repr(u) for u in units)) or "none"
        raise RecordingError(
            f"the error to report would be in {found}; choose columns of one unit with `channels` under [report_error]."
        )
    unit = units.pop()
    return (error, 180 / math.pi, "deg") if unit == "rad" else (error, 1.0, unit)
