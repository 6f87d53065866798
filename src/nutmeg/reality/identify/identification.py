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
import warnings
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import RecordingError, SimulationError, UsageError
from nutmeg.model.identified import Distribution, IdentifiedBody
from nutmeg.model.posing import overlap_advice, overlaps
from nutmeg.reality.behaviour import match_series, matches_any
from nutmeg.reality.distances.distance import LOSSES, DistanceSettings, make_distance, residual_rows, residual_series
from nutmeg.reality.distances.series_error import series_errors
from nutmeg.reality.identify.curvature import Curvature, curvature
from nutmeg.reality.identify.identifiability import (
    Identifiability,
    assess_identifiability,
    from_refits,
    with_intervals,
)
from nutmeg.reality.identify.profiles import Profile, joint_region, profile
from nutmeg.reality.identify.residuals import SPIKE_DEVIATIONS, ResidualCheck
from nutmeg.reality.logs.pictures import PictureSet
from nutmeg.reality.logs.replay import Files, MeasuredTrial, RealData, check_apart, check_conditions, read_trials
from nutmeg.reality.observation import ChannelModel, sensors_in
from nutmeg.reality.twin import TWIN_ROBOT, Twin, body_of
from nutmeg.search.losses import ROBUST_LOSSES, loss_values
from nutmeg.search.run import Budget, SearchResult, minimise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
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
        if self.distance.kind in ROBUST_LOSSES:  # the deviation of the residuals is that of all recordings together
            values = loss_values(LOSSES[self.distance.kind], self.rows(candidates))
            return np.where(np.isnan(values), np.inf, values)
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
        replayed = iter(
            m.simulated(r, self.twin.table, ChannelModel.of(self.twin, rows, m.trial.conditions, m.real.columns))
            for m, r in zip(moved, rollouts, strict=True)
        )
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
        return self.distances(self.behaviours(candidates), settings)

    def distances(self, behaviours: list[Behaviour], settings: DistanceSettings) -> Floats:
        """The distances of what n simulations did in each recording or window, (M, n)."""
        distance = make_distance(settings)
        out = []
        for one, seen in zip(self.measured, behaviours, strict=True):
            values = distance.per_trial(one.real, seen)
            out.append(np.where(np.asarray(seen.frames) > 0, values, np.inf))
        return np.stack(out)


REFIT_SEED_STEP = 1000
"""Between the seed of a search and those of its re-fits."""
MAX_HELD_OUT_RATIO = 1.5
"""An error on held-out recordings that is so many times that on fitted ones is warned of."""
SMALL_ERROR = 0.02
"""But not if it is a smaller share of the error of "position = goal"."""
BOUND_SHARE = 0.005
"""An estimate nearer to a bound than this share of its range is at it."""
MAX_OUTLIERS = 0.005
"""A larger share of outliers is warned of where squares are fitted."""
MAX_OFFSET_SHARE = 0.5
"""A joint of which a larger share of the squared error is an offset is warned of."""
MIN_OFFSET = 2e-3
"""But not of smaller offsets [rad]."""
BAND_DRAWS = 24
"""Bodies that are drawn for predictive bands."""
BAND_SHARE = 0.9
"""The share of samples that a predictive band is to hold."""
BAND_KEY = 5
"""Key of the seed by which they are drawn."""
MAX_BASE_WAY, MAX_BASE_TURN = 0.01, math.radians(3.0)
"""A free base that nobody measured and that moves farther [m] or turns more [rad] in simulation is warned of."""
LARGEST_ANGLE = 4 * math.pi
"""Joint angles beyond two turns may be degrees [rad]."""
MAX_BEYOND_LIMIT = 0.5
"""So may those that are farther beyond the limits of their joint [rad]."""
STILL_RANGE, MOVING_RANGE = 1e-3, 0.05
"""A joint that moves less than the first while its command changes by more than the second does not answer [rad]."""


@dataclass(frozen=True, kw_only=True)
class FitErrors:
    """Errors of one candidate, in a unit that people know."""

    train: dict[str, float]
    """Errors of the recordings that were fitted, by name."""
    held_out: dict[str, float]
    columns: dict[str, dict[str, float]] = field(default_factory=dict)
    """Errors of each compared column, such as `angles.knee`: the mean over recordings, by `train` and `held_out`."""

    @staticmethod
    def mean(values: dict[str, float]) -> float | None:
        """Over recordings; None without any."""
        return float(np.mean(list(values.values()))) if values else None


@dataclass(frozen=True, eq=False)
class Band:
    """Where a measured series lies with a probability of 90 % according to the fit.

    It is spread over simulations of bodies that are drawn from the joint distribution of the estimates, widened by what
    the fit leaves unexplained in the fitted recordings (the 90 % quantile of absolute residuals of each column).
    """

    low: Floats
    """Lower ends of the bands, (K, columns)."""
    high: Floats
    """Upper ends of the bands, (K, columns)."""
    inside: float
    """The share of the measured samples that lie in it."""


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
    baseline: FitErrors | None
    """Errors of the commands themselves, "position = goal"; None where a compared column has no such command."""
    unit: str
    """Unit of the errors."""
    identifiability: Identifiability | None
    """How sure the estimates are; None where that could not be worked out."""
    train: tuple[RealData, ...]
    held_out: tuple[RealData, ...]
    problems: tuple[str, ...] = ()
    """Warnings for the user."""
    residuals: Mapping[str, Mapping[str, ResidualCheck]] = field(default_factory=dict)
    """What the residuals of each fitted recording tell, by its name and by column."""
    profiles: tuple[Profile, ...] = ()
    """Profiles of the parameters that were asked for."""
    regions: Mapping[tuple[str, str], Floats] = field(default_factory=dict)
    """Rims of the joint regions that were asked for, (points, 2), in SI units."""
    bands: Mapping[str, Band] = field(default_factory=dict)
    """Predictive bands of the series of recordings, by the names of their trials."""
    cost: ReplayCost | None = field(default=None, repr=False)
    """The cost over the recordings that were fitted."""

    @property
    def values(self) -> dict[str, float]:
        """The estimates by name."""
        return self.twin.space.named(self.best)

    def body(self, source: str = "") -> IdentifiedBody:
        """The estimates with their joint distribution, for `--body` of other commands; `source` is the command."""
        found = self.identifiability.curvature if self.identifiability else None
        body = body_of(self.twin.settings, self.twin.searched, self.values, self.identifiability, source)
        return replace(
            body,
            distribution=None
            if found is None
            else Distribution(
                errors=tuple(float(f"{one:.4g}") for one in found.standard_errors),
                correlation=tuple(tuple(round(float(one), 4) for one in row) for row in found.correlation),
            ),
        )

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
        windows = settings.windows
        self.reporting = replace(settings, windows=None) if windows and windows.errors == "whole" else settings
        """How recordings are replayed where errors are reported."""
        self.reported = (
            read_trials(train, self.reporting, self.twin) if self.reporting is not settings else self.measured
        )
        """The fitted recordings, replayed so."""
        self.cost = ReplayCost(self.twin, self.measured, settings.distance, settings.fallen)
        self._threaded = Twin(settings.robot, settings.parameters, threads=threads)
        self.error, self.factor, self.unit = _reported_error(settings, self.measured)

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
        on_judging: Callable[[], None] | None = None,
    ) -> Identified:
        """Searches, and tells how sure the result is.

        Args:
            evaluator: where candidates are simulated.
            folder: where generations are saved, and gone on from.
            on_generation: called with the number of the search and each of its generations.
            progress: called with the candidates done and in all while a generation is simulated.
            on_judging: called when the searches have ended, before further candidates tell how sure the result is.
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
        held = read_trials(self._held_out, self.reporting, self.twin)
        if shared := {m.source for m in held} & {m.source for m in self.measured}:
            raise UsageError(f"{shared.pop()!r} is both fitted and held out. Leave one out.")
        if on_judging is not None:
            on_judging()
        sure, problems = self._judged(results, best)
        profiles: tuple[Profile, ...] = ()
        if sure is not None and sure.curvature is not None:
            profiles = self._profiles(sure.curvature, evaluator)
            sure = with_intervals(sure, {one.name: (one.low, one.high) for one in profiles})
        after, baseline = self._errors(best.estimate, held), self._baseline(held)
        checks = self._residual_checks(best.estimate)
        problems = (*self._doubts(best.estimate, after, baseline, checks), *problems)
        if not math.isfinite(start):
            problems = ("The simulation broke down at the start of the search.", *problems)
        spent = sum(r.evaluations for r in results) + sum(one.evaluations for one in profiles)
        regions, curved = {}, sure.curvature if sure else None
        if curved is not None:
            regions = {pair: joint_region(self.twin.space, curved, pair) for pair in self.settings.intervals.regions}
        found = Identified(
            twin=self.twin,
            best=best.estimate,
            result=best,
            refits=tuple(r for r in results if r is not best),
            seed=self.seed,
            evaluations=spent + (sure.curvature.evaluations if sure and sure.curvature else 0),
            failures=sum(r.failures for r in results),
            before=self._errors(self.twin.space.start, held),
            after=after,
            baseline=baseline,
            unit=self.unit,
            identifiability=sure,
            train=self.reported,
            held_out=held,
            problems=problems,
            residuals=checks,
            profiles=profiles,
            regions=regions,
            cost=self._in_threads(self.reported),
        )
        return replace(found, bands=self._bands(found))

    def _profiles(self, found: Curvature, evaluator: Evaluator) -> tuple[Profile, ...]:
        """Profiles of the parameters that are asked for."""
        wanted = [n for n in self.twin.space.names if any(fnmatchcase(n, p) for p in self.settings.intervals.profile)]
        loss = LOSSES.get(self.settings.distance.kind)
        if loss is None:
            return ()
        return tuple(profile(self.cost.rows, loss, found, self.twin.space, name, evaluator) for name in wanted)

    def _bands(self, found: Identified) -> dict[str, Band]:
        """Predictive bands of all recordings of motion; none without a joint distribution."""
        body = found.body()
        every = [m for m in (*found.train, *found.held_out) if isinstance(m, MeasuredTrial)]
        if body.distribution is None or not every:
            return {}
        drawn = body.draws(BAND_DRAWS, np.random.default_rng([self.seed, BAND_KEY]))
        space = self.twin.space
        rows = np.stack([found.best, *(space.array({n: p.value for n, p in one.parameters.items()}) for one in drawn)])
        seen = self._in_threads(tuple(every)).behaviours(np.clip(rows, space.low, space.high))
        fitted = [(m, s) for m, s in zip(every, seen, strict=True) if any(m is one for one in found.train)]
        left = np.concatenate([np.abs(np.asarray(m.real.series) - np.asarray(s.series)[0]) for m, s in fitted])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # rows that no simulation reached have no band
            noise = np.nanquantile(left, BAND_SHARE, axis=0)
            return {
                m.name: _band(np.asarray(m.real.series), np.asarray(s.series), noise)
                for m, s in zip(every, seen, strict=True)
            }

    def search(
        self,
        seed: int,
        evaluator: Evaluator,
        *,
        folder: Path | None = None,
        measured: tuple[RealData, ...] | None = None,
        on_generation: Callable[[Generation], None] | None = None,
        progress: Progress | None = None,
    ) -> SearchResult:
        """One search for the parameters, without what is told about its result.

        Args:
            seed: of everything random in it.
            evaluator: where candidates are simulated.
            folder: where generations are saved, and gone on from.
            measured: some of the recordings that are fitted; all of them without it.
            on_generation: called with each generation.
            progress: called with the candidates done and in all while a generation is simulated.
        """
        settings, loss = self.settings.search, LOSSES.get(self.settings.distance.kind)
        searcher = settings.searcher(self.twin.space, np.random.default_rng(seed), loss)
        cost = self.cost if measured is None else self.cost.of(measured)
        return minimise(
            cost.rows if searcher.uses_residuals else cost,
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
        return self._fit_errors(held_out, lambda measured: self._in_threads(measured).behaviours(candidate))

    def _baseline(self, held_out: tuple[RealData, ...]) -> FitErrors | None:
        """The errors of a simulation that is always where it is told to be, if every compared column has a command."""
        every = (*self.reported, *held_out)
        if not all(isinstance(m, MeasuredTrial) and m.goals(self.error.channels) is not None for m in every):
            return None
        goals = lambda measured: [m.goals(self.error.channels) for m in measured]  # noqa: E731
        return self._fit_errors(held_out, goals)

    def goal_errors(self) -> dict[str, float]:
        """The errors of "position = goal" in the fitted recordings, by name; empty where a column has no command."""
        baseline = self._baseline(())
        return baseline.train if baseline else {}

    def _fit_errors(
        self, held_out: tuple[RealData, ...], behaviours: Callable[[tuple[RealData, ...]], list[Behaviour]]
    ) -> FitErrors:
        """Errors over recordings and over columns of what some behaviours say."""
        sides: dict[str, dict[str, float]] = {}
        columns: dict[str, dict[str, float]] = {}
        for side, measured in (("train", self.reported), ("held_out", held_out)):
            seen = behaviours(measured) if measured else []
            values = self.cost.of(measured).distances(seen, self.error)[:, 0] if measured else np.empty(0)
            names = [m.source for m in measured]
            sides[side] = {
                name: self.factor * float(np.mean([v for v, n in zip(values, names, strict=True) if n == name]))
                for name in dict.fromkeys(names)
            }
            for column, value in _column_errors(self.error, measured, seen).items():
                columns.setdefault(column, {})[side] = self.factor * value
        return FitErrors(train=sides["train"], held_out=sides["held_out"], columns=columns)

    def _residual_checks(self, estimate: Floats) -> dict[str, dict[str, ResidualCheck]]:
        """What the residuals of each fitted recording tell, by its name and by column; windows count together."""
        series: dict[str, dict[str, list[Floats]]] = {}
        cost = self._in_threads(self.measured)
        for one, seen in zip(self.measured, cost.behaviours(estimate), strict=True):
            pair = match_series(one.real, seen, self.settings.distance.channels)
            for column, both in zip(pair.columns, np.stack([pair.real.T, pair.simulated[0].T], axis=1), strict=True):
                series.setdefault(one.source, {}).setdefault(column, []).append(both)
        return {
            name: {c: check for c, parts in columns.items() if (check := ResidualCheck.of(*np.hstack(parts)))}
            for name, columns in series.items()
        }

    def _doubts(
        self,
        estimate: Floats,
        after: FitErrors,
        baseline: FitErrors | None,
        checks: Mapping[str, Mapping[str, ResidualCheck]],
    ) -> tuple[str, ...]:
        """What must be known before the result is used, one sentence or two each."""
        found = []
        train, held_out = FitErrors.mean(after.train), FitErrors.mean(after.held_out)
        still = SMALL_ERROR * (FitErrors.mean(baseline.held_out) or 0.0) if baseline else 0.0
        if train is not None and held_out is not None and held_out > max(MAX_HELD_OUT_RATIO * train, still):
            found.append(
                f"The error on held-out recordings, {held_out:.3g} {self.unit}, is far above that on fitted ones, "
                f"{train:.3g}: the estimates do not carry over. Search fewer parameters, fit in [windows], or add "
                "recordings under other conditions."
            )
        offsets = not found  # a simulation that is wrong altogether is off for other reasons than its zeros
        for side, name in (("held_out", "held-out"), ("train", "fitted")):
            error = FitErrors.mean(getattr(after, side))
            goal = FitErrors.mean(getattr(baseline, side)) if baseline else None
            if error is not None and goal is not None and error > goal:
                columns = {
                    c: v[side] - (baseline.columns[c][side] if baseline else 0) for c, v in after.columns.items()
                }
                worst = max(columns, key=lambda column: columns[column])
                found.append(
                    f"On {name} recordings the simulation errs by {error:.3g} {self.unit}, more than the commands "
                    f"themselves (position = goal: {goal:.3g}): it is no improvement. The worst is {worst} with "
                    f"{after.columns[worst][side]:.3g}. {self._possible_reasons(estimate)}"
                )
                break
        else:  # otherwise the possible reasons name them
            offset_doubts = self._offset_doubts(checks) if offsets else []
            found += [*self.base_doubt(estimate), *offset_doubts, *self._bound_doubt(estimate)]
        return (*found, *self._outlier_doubt(outlier_shares(checks)), *self.data_doubts())

    def base_doubt(self, candidate: Floats) -> tuple[str, ...]:
        """A warning where the base of the robot moves in simulation, and no recording tells whether it did."""
        moved = [m for m in self.measured if isinstance(m, MeasuredTrial)]
        if not moved or self.twin.table.root < 0 or any(c.startswith("pose.") for c in moved[0].real.columns):
            return ()
        if self.settings.windows is not None:  # begin anew from what was measured, and are short
            return ()
        farthest, most = "", (0.0, 0.0)
        for one, seen in zip(moved, self._threaded.simulate(candidate[None], [m.trial for m in moved]), strict=True):
            pose = np.empty((0, 7)) if seen.pose is None else seen.pose[0, : int(seen.frames[0])]
            if not len(pose):
                continue
            way = float(np.linalg.norm(pose[:, :3] - pose[0, :3], axis=1).max())
            turn = 2 * math.acos(min(1.0, float(np.abs(pose[:, 3:] @ pose[0, 3:]).min())))
            farthest, most = max((farthest, most), (one.source, (way, turn)), key=lambda item: item[1])
        if most[0] < MAX_BASE_WAY and most[1] < MAX_BASE_TURN:
            return ()
        text = (
            f"The base of the robot is free: in the simulation of {farthest} it moves by up to {most[0]:.2g} m and "
            f"turns by up to {math.degrees(most[1]):.2g} deg, which no recording measures. If the robot was bolted "
            'down or on a stand, write `held = true` in [robot] (or `base = "fixed"` in its robot.toml).'
        )
        return (text,)

    def _bound_doubt(self, estimate: Floats) -> tuple[str, ...]:
        """A warning that names the estimates at the ends of their ranges."""
        ends = self._at_bounds(estimate)
        if not ends:
            return ()
        what = "estimates are at the ends of their ranges" if len(ends) > 1 else "estimate is at the end of its range"
        text = (
            f"{len(ends)} {what}: {', '.join(ends)}. Widen the ranges if such values are possible; if not, the model "
            "lacks something that these numbers stand in for."
        )
        return (text,)

    def _at_bounds(self, estimate: Floats) -> list[str]:
        unit = self.twin.space.unit(estimate)
        return [n for n, x in zip(self.twin.space.names, unit, strict=True) if min(x, 1 - x) < BOUND_SHARE]

    def _outlier_doubt(self, outliers: Mapping[str, float]) -> tuple[str, ...]:
        worst = max(outliers, key=lambda name: outliers[name], default="")
        if not worst or outliers[worst] < MAX_OUTLIERS or self.settings.distance.kind not in ("rms", "joint_error"):
            return ()
        text = (
            f"{outliers[worst]:.1%} of the samples of {worst} are outliers (spikes of more than {SPIKE_DEVIATIONS:g} "
            'deviations), which pull a fit of squares. Take kind = "huber" of [distance], whose estimates and '
            "intervals withstand them, or repair the recording."
        )
        return (text,)

    def _offset_doubts(self, checks: Mapping[str, Mapping[str, ResidualCheck]]) -> list[str]:
        """Joints whose error is mostly an offset, the same in all recordings: their zero may be off."""
        found = []
        targets = {target for name, one in self.twin.searched.items() for target in one.targets(name)}
        for column in dict.fromkeys(column for one in checks.values() for column in one):
            joint = column.removeprefix("angles.")
            measures = {f"zero.{joint}", f"channel.{column}.bias"}
            if joint == column or any(fnmatchcase(one, target) for one in measures for target in targets):
                continue
            power = sum(one[column].power * one[column].samples for one in checks.values() if column in one)
            samples = sum(one[column].samples for one in checks.values() if column in one)
            offset = sum(one[column].offset * one[column].samples for one in checks.values() if column in one) / samples
            if offset**2 > MAX_OFFSET_SHARE * power / samples and abs(offset) > MIN_OFFSET:
                found.append(
                    f"{column} is off by {math.degrees(offset):.2g} deg on average, which is most of its error: search "
                    f'its zero ([parameters.zero_{joint}] sets = ["zero.{joint}"], low = -0.1, high = 0.1).'
                )
        return found

    def _possible_reasons(self, estimate: Floats) -> str:
        """Why a simulation may be far from its commands, as far as can be seen."""
        table, scene = self.twin.table, self.twin.base
        reasons = []
        first = next(m for m in self.measured if isinstance(m, MeasuredTrial))
        angles = None if first.trial.start is None else first.trial.start.angles
        if advice := overlap_advice(overlaps(scene, TWIN_ROBOT, angles)):
            reasons.append(advice)
        if table.root >= 0 and not any(c.startswith("pose.") for c in first.real.columns):
            reasons.append(
                "its base moves freely and was not measured, so that the robot may fall: hold it (`held = true` of "
                '[robot], `base = "fixed"` of robot.toml), record its pose, or compare short [windows] that begin on '
                'the ground (`base = "ground"` of [start], `gravity` for its tilt).'
            )
        if ends := self._at_bounds(estimate):
            reasons.append(f"{', '.join(ends)} ended at a bound: widen the range.")
        free = [table.joints[j] for j in range(len(table.joints)) if j not in set(table.motor_joints.tolist())]
        if free:
            reasons.append(f"{', '.join(free)} have no drive and swing freely.")
        if not reasons:
            reasons.append("the drives may be too weak or too slow for this motion: search their stiffness and torque.")
        return "Possible reasons: " + " ".join(f"({i}) {text}" for i, text in enumerate(reasons, 1))

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
            loss = LOSSES.get(self.settings.distance.kind, "squares")
            found = curvature(cost.residuals, space, best.estimate, loss=loss)
        except UsageError as error:
            problem = (f"How sure the estimates are could not be worked out from the curvature: {error}",)
            return (assess_identifiability(space, refits=refits) if refits else None), problem
        return assess_identifiability(space, curvature=found, refits=refits), ()

    def data_doubts(self) -> tuple[str, ...]:
        """Warnings about recordings that are fitted, before anything is simulated."""
        limits = dict(zip((f"angles.{joint}" for joint in self.twin.table.joints), self.twin.table.limits, strict=True))
        return tuple(_data_doubts([one for one in self.reported if isinstance(one, MeasuredTrial)], limits))

    def _all_failed(self, result: SearchResult) -> str:
        reasons = [f.reason for g in result.history for f in g.failures]
        first = f" The first: {reasons[0]}." if reasons else ""
        return (
            f"none of {result.evaluations} candidates could be simulated to the end.{first} Start with smaller ranges "
            "around values that are known to work, or a shorter physics step."
        )


def _band(measured: Floats, simulated: Floats, noise: Floats) -> Band:
    """The band around the first of some simulations, (N, K, columns), from the spread of the others and noise."""
    tail = (1 - BAND_SHARE) / 2
    low, high = np.nanquantile(simulated[1:], [tail, 1 - tail], axis=0)
    below, above = (np.hypot(np.maximum(side, 0.0), noise) for side in (simulated[0] - low, high - simulated[0]))
    low, high = simulated[0] - below, simulated[0] + above
    known = np.isfinite(measured) & np.isfinite(low)
    inside = (measured >= low) & (measured <= high) & known
    return Band(low, high, float(inside.sum() / max(known.sum(), 1)))


def _column_errors(error: DistanceSettings, measured: tuple[RealData, ...], seen: list[Behaviour]) -> dict[str, float]:
    """The error of the first simulation in each column, as the mean over recordings, in SI units."""
    found: dict[str, list[float]] = {}
    for one, simulated in zip(measured, seen, strict=True):
        pair = match_series(one.real, simulated, error.channels)
        errors = series_errors(
            pair.real, pair.simulated, frames=pair.frames, angles=error.angles, columns=pair.columns, empty="infinite"
        )
        for column, value in zip(pair.columns, getattr(errors, error.kind)[0], strict=True):
            found.setdefault(column, []).append(float(value))
    return {column: float(np.mean(values)) for column, values in found.items()}


def outlier_shares(checks: Mapping[str, Mapping[str, ResidualCheck]]) -> dict[str, float]:
    """The share of outliers in the samples of each recording."""
    return {
        name: float(np.average([c.outliers for c in one.values()], weights=[c.samples for c in one.values()]))
        for name, one in checks.items()
        if one
    }


def _data_doubts(measured: Sequence[MeasuredTrial], limits: Mapping[str, Floats]) -> list[str]:
    """What is strange about the measured angles: they may be in degrees, or a joint that is commanded never moves.

    Args:
        measured: the recordings.
        limits: the lowest and the highest angle of each joint, by its column [rad].
    """
    turns: dict[str, tuple[float, str]] = {}
    still: dict[str, list[str]] = {}
    farthest = math.nan  # how far the joint that moves most moves
    for one in measured:
        series = np.asarray(one.real.series)
        for index, (column, unit) in enumerate(zip(one.real.columns, one.real.units, strict=True)):
            values = series[:, index]
            if unit != "rad" or not column.startswith("angles.") or not np.isfinite(values).any():
                continue
            largest = float(np.nanmax(np.abs(values)))
            if largest > min(LARGEST_ANGLE, float(np.abs(limits[column]).max()) + MAX_BEYOND_LIMIT):
                turns[column] = max(turns.get(column, (0.0, "")), (largest, one.source))
            goal = one.commanded.get(column)
            moved, asked = (0.0 if v is None else float(np.nanmax(v) - np.nanmin(v)) for v in (values, goal))
            farthest = max(moved, 0.0 if math.isnan(farthest) else farthest)
            if moved < STILL_RANGE and asked > MOVING_RANGE:
                still.setdefault(column, []).append(f"{one.source} (by {asked:.2g} rad)")
    found = []
    if farthest < STILL_RANGE and not still:
        found.append(
            "no joint that is compared moves in any recording to fit: they tell nothing about drives, friction or "
            "masses. Record motions (`nutmeg excite` designs some), or check the columns."
        )
    if turns:
        column, (largest, source) = max(turns.items(), key=lambda item: item[1])
        others = f"; {_listed([c for c in turns if c != column])} too much as well" if len(turns) > 1 else ""
        found.append(
            f"{source}: {column} reaches {largest:.3g} rad, beyond its limits or two turns{others}. If these "
            "are degrees, say so in the column map (`scale = 0.0174533`), for the commands, too."
        )
    found += [
        f"{column} never moves, though its command changes, in {_listed(sources)}: is it the right column, was the "
        "motor on, does the joint stick? Leave the recording or the joint out if so."
        for column, sources in still.items()
    ]
    return found


MAX_LISTED = 4
"""Of more names, the first are told and the others counted."""


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def _reported_error(settings: IdentifySettings, measured: tuple[RealData, ...]) -> tuple[DistanceSettings, float, str]:
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
