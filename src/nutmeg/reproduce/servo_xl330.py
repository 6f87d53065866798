"""A real servo, identified from some recordings and judged on others: what is left out of the fit is predicted.

Twelve recordings of a Dynamixel XL330 with a pendulum (Rhoban/bam, Apache-2.0; `examples/servo_xl330`): three gains of
the firmware times four trajectories. Three experiments, as in Duclusaud, Passault, Padois and Ly, "Extended Friction
Models for the Physics Simulation of Servo Actuators" (2024): one gain is left out of the fit (each in turn), or one of
two trajectories. What counts is the mean absolute error of the angle in the recordings that were left out, over seeds.
Beside it: the servo of the data sheet before the fit, `mujoco.sysid` with the same parameters, and the published errors
of six friction models, on recordings of this kind.

    answer = servo_xl330(Path("runs/servo-xl330"), quick=True)
    answer["splits"][0]["held_out"]             # deg, mean over seeds
"""

from __future__ import annotations

import dataclasses
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.errors import EnvironmentProblem, UsageError
from nutmeg.reality.chosen_files import found_files, read_all
from nutmeg.reality.identification import Identification
from nutmeg.reality.identify_settings import read_identify
from nutmeg.reproduce.sysid_peer import least_squares_fit
from nutmeg.search.evaluation import InThisThread, Threads, candidate_seeds
from nutmeg.search.run import Budget
from nutmeg.view.servo_fit_plots import Predicted, plot_predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nutmeg.reality.identify_settings import IdentifySettings
    from nutmeg.reality.replay_cost import ReplayCost
    from nutmeg.search.space import Floats

CONFIGURATION = Path("examples") / "servo_xl330" / "identify.toml"
SEEDS, QUICK_EVALUATIONS = 5, 48
ITERATIONS, QUICK_ITERATIONS = 20, 1
"""Of `mujoco.sysid`."""


@dataclass(frozen=True)
class Split:
    """An experiment: what is left out, in one fit or in several."""

    name: str
    left_out: tuple[str, ...]
    """Patterns of recordings' names; each is left out of a fit of its own."""
    published: tuple[float, float]
    """Best and worst of the published models [deg] (README of the recordings)."""
    wanted: float
    """What we want to reach [deg]."""


PIECE = 15
"""Candidates that a thread simulates at a time."""
SPLITS = (
    Split("a gain", ("kp100_*", "kp200_*", "kp800_*"), (2.1, 3.5), 1.9),
    Split("sin_time_square", ("*_sin_time_square",), (3.7, 5.0), 3.7),
    Split("lift_and_drop", ("*_lift_and_drop",), (3.5, 4.4), 3.5),
)


def servo_xl330(
    out: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    reality: Path | None = None,
    threads: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Runs all fits; writes a figure and results.json.

    Args:
        out: folder for the results.
        quick: one seed and a tenth of the candidates.
        seed: the first of the seeds.
        reality: another configuration for `nutmeg identify`, whose `train` and `held_out` together are the recordings;
            without it, that of `examples/servo_xl330`.
        threads: how many threads simulate.
        on_progress: called with what is being done.
    """
    out.mkdir(parents=True, exist_ok=True)
    path = reality or _configuration()
    settings = read_identify(path)
    if quick:
        search = dataclasses.replace(settings.search, evaluations=QUICK_EVALUATIONS)
        settings = dataclasses.replace(settings, search=search)
    bench = _Bench(settings, path, threads, QUICK_ITERATIONS if quick else ITERATIONS)
    began, seeds = time.monotonic(), range(seed, seed + (1 if quick else SEEDS))
    rows, shown = [], []
    for split in SPLITS:
        fits = [bench.fit(pattern, seeds, on_progress) for pattern in split.left_out]
        rows.append(_row(split, fits, len(seeds)))
        shown.append(max(fits, key=lambda fit: fit.after.mean()).predicted)
    plot_predictions(shown, out / "servo-xl330.png")
    answer = {
        "splits": rows,
        "unit": "deg",
        "seeds": list(seeds),
        "evaluations": settings.search.evaluations,
        "sysid_note": bench.note,
        "seconds": round(time.monotonic() - began, 1),
    }
    (out / "results.json").write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
    return answer


@dataclass(frozen=True, eq=False)
class _Fit:
    """The fits without some recordings, one a seed."""

    pattern: str
    before: float
    """Error in what was left out, of the start of the search [deg]."""
    after: Floats
    """Error in what was left out, (seeds,) [deg]."""
    train: Floats
    sysid: float | None
    """Error of the peer in what was left out [deg]."""
    parameters: list[dict[str, float]]
    predicted: Predicted


class _Bench:
    """The recordings, and fits to some of them."""

    def __init__(self, settings: IdentifySettings, path: Path, threads: int, iterations: int) -> None:
        self._settings, self._threads, self._iterations = settings, threads, iterations
        names = settings.recordings
        self._files = found_files((*names.train, *names.held_out), path.parent, "recordings")
        self.note = ""
        """Why there is no peer."""

    def fit(self, pattern: str, seeds: Sequence[int], on_progress: Callable[[str], None]) -> _Fit:
        """Fits everything but the recordings of a pattern, once a seed."""
        held_out = {p: parts for p, parts in self._files.items() if Path(p.stem).match(pattern)}
        train = {p: parts for p, parts in self._files.items() if p not in held_out}
        if not held_out or not train:
            have = ", ".join(p.stem for p in self._files)
            raise UsageError(f"leaving out {pattern!r} needs recordings that match it and others; there are {have}.")
        fit = Identification(self._settings, train=train, held_out={}, seed=0)
        unseen = fit.cost.of(read_all(held_out, self._settings, fit.twin))
        best = self._search(fit.cost, seeds, lambda done: on_progress(f"without {pattern}, {done} candidates a seed"))
        on_progress(f"without {pattern}, mujoco.sysid")
        peer = self._peer(fit.cost)
        after = _errors(unseen, best, fit)
        return _Fit(
            pattern,
            float(_errors(unseen, fit.twin.space.start[None], fit)[0]),
            after,
            _errors(fit.cost, best, fit),
            None if peer is None else float(_errors(unseen, peer[None], fit)[0]),
            [fit.twin.space.named(one) for one in best],
            _predicted(pattern, unseen, best[int(np.argsort(after)[len(after) // 2])]),
        )

    def _search(self, cost: ReplayCost, seeds: Sequence[int], on_progress: Callable[[int], None]) -> Floats:
        """The estimates that `nutmeg identify --seed` finds too, (seeds, k); how sure they are, is not asked here.

        The searches go side by side, so that their candidates share a batch: it costs less, and changes nothing.
        """
        search, space = self._settings.search, cost.twin.space
        searchers = [search.searcher(space, np.random.default_rng(seed)) for seed in seeds]
        budget = Budget(evaluations=search.evaluations, generations=search.generations)
        evaluator = InThisThread() if self._threads == 1 else Threads(self._threads, piece=PIECE)
        while going := [s for s in searchers if not s.finished and not budget.spent(s, len(s.ask()))]:
            asked = [searcher.ask() for searcher in going]
            together = np.concatenate(asked)
            values = evaluator.evaluate(cost, together, candidate_seeds(0, 0, len(together))).values
            for searcher, part in zip(going, np.split(values, np.cumsum([len(a) for a in asked])[:-1]), strict=True):
                searcher.tell(part)
            on_progress(int(going[0].state["evaluations"]))
        return np.stack([searcher.best.candidate for searcher in searchers])

    def _peer(self, cost: ReplayCost) -> Floats | None:
        try:
            return least_squares_fit(cost, iterations=self._iterations).candidate
        except EnvironmentProblem as problem:
            self.note = str(problem)
            return None


def _errors(cost: ReplayCost, candidates: Floats, fit: Identification) -> Floats:
    """Mean error of candidates (n, k) over recordings, (n,), in the unit that is reported."""
    each = cost.per_recording(candidates, fit.error)
    return np.asarray(fit.factor * np.mean(list(each.values()), axis=0))


def _configuration() -> Path:
    """The example's configuration, in the present folder or where this source lies."""
    places = [Path.cwd(), Path(__file__).parents[3]]
    for place in places:
        if (place / CONFIGURATION).is_file():
            return place / CONFIGURATION
    raise UsageError(
        f"the recordings are not here: there is no {CONFIGURATION} in {places[0]}. Run this in a copy of Nutmeg's "
        "repository, or name a configuration with --reality."
    )


def _row(split: Split, fits: Sequence[_Fit], seeds: int) -> dict[str, Any]:
    """The numbers of an experiment: means over what was left out."""
    after = np.stack([fit.after for fit in fits])
    per_seed = after.mean(axis=0)
    peers = [fit.sysid for fit in fits if fit.sysid is not None]
    return {
        "left_out": split.name,
        "before": float(np.mean([fit.before for fit in fits])),
        "held_out": float(per_seed.mean()),
        "deviation": float(per_seed.std(ddof=1)) if seeds > 1 else 0.0,
        "per_seed": per_seed.tolist(),
        "per_fit": {fit.pattern: fit.after.tolist() for fit in fits},
        "train": float(np.mean([fit.train.mean() for fit in fits])),
        "sysid": float(np.mean(peers)) if peers else None,
        "published": list(split.published),
        "wanted": split.wanted,
        "parameters": {fit.pattern: fit.parameters for fit in fits},
    }


def _predicted(pattern: str, unseen: ReplayCost, candidate: Floats) -> Predicted:
    """What an estimate, (k,), says of the recordings that the fit has not seen."""
    series = {}
    for measured, simulated in zip(unseen.measured, unseen.behaviours(candidate), strict=True):
        assert measured.real.series is not None
        assert simulated.series is not None
        series[measured.source] = (measured.times, measured.real.series[:, 0], simulated.series[0, :, 0])
    return Predicted(pattern, series)
