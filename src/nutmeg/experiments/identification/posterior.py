"""Learning a trot on what an identification leaves open, beside the point estimate and wide ranges.

    answer = run(Path("runs/posterior"), Settings(quick=True))
    answer["rows"]                              # how far the learned trots come on drawn bodies and on the hidden one

A hidden ERS-7 (mass of its trunk, stiffness of its drives, friction of its joints and paws, delay) stands and sways
three times for three seconds; its joint angles are recorded with noise. The numbers are identified from that. Recorded
trots say less: their contacts soon make a large difference of the smallest one. A trot is then learned in three ways,
with the same search, the same starts and as many bodies as starts:

- `estimate`: all starts with the point estimate;
- `posterior`: each start with a body drawn from the joint distribution of the estimates;
- `ranges`: each start with a body drawn evenly from the ranges that were searched.

Each is measured on bodies drawn from the posterior, which no way has seen, and on the hidden body. Hidden bodies and
what is learned for them are the seeds.
"""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nutmeg.experiments import experiment
from nutmeg.experiments.back_to_reality.hidden_fit import Disturbance, hidden_fit
from nutmeg.learning.courses import BodyVariant
from nutmeg.learning.learn import LearnSettings, WalkLearning
from nutmeg.model.identified import Distribution, IdentifiedBody, IdentifiedParameter, write_body
from nutmeg.reality.identify.curvature import curvature
from nutmeg.reality.identify.design import ExcitationSettings, excitations
from nutmeg.reality.twin import TWIN_ROBOT, Searched, Twin, TwinSettings
from nutmeg.search import Budget, InThisThread, minimise
from nutmeg.search.least_squares import LeastSquares, LeastSquaresSettings
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Floats

ROBOT = "ers7"
SEARCHED = {
    "trunk": Searched(low=0.6, high=1.8, start=1.0, scale="log", sets=("mass.Torso",), relative=True),
    "stiffness": Searched(low=0.4, high=2.5, start=1.0, scale="log", sets=("drives.*.stiffness",), relative=True),
    "joint friction": Searched(low=0.001, high=0.1, start=0.01, scale="log", sets=("joint.*.friction",)),
    "paw friction": Searched(low=0.2, high=1.5, start=0.9, sets=("foot.friction",)),
    "delay": Searched(low=0.0, high=0.04, start=0.01, unit="s", sets=("delay",)),
}
HIDDEN_SHARE = (0.15, 0.85)
"""Hidden numbers are drawn from this part of each range."""
SWAY = ExcitationSettings(seconds=3.0, period=0.02, amplitude={"*": 0.15})
"""The recordings: all joints sway slowly while the robot stands."""
SWAY_SEEDS = (1, 2, 3)
DISTURBANCE = Disturbance(command=0.002, angle=0.002)
STEP = 0.06
"""First step of the search, as a share of each range: the trot that ships is a good one."""
WAYS = ("estimate", "posterior", "ranges")
HIDDEN_KEY, DRAWN_KEY, FIT_KEY, NOISE_KEY = range(4)
"""Keys of the seeds, one for each use."""


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means one hidden body and a short search."""

    seed: int = 0
    seeds: int = 5
    """Number of hidden bodies."""
    population: int = 10
    generations: int = 10
    bodies: int = 4
    """Starts of every candidate, each with a body of its own where bodies are drawn."""
    judged_bodies: int = 20
    """Drawn bodies on which the learned trots are measured."""
    evaluations: int = 150
    """Candidates of the identification."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Identifies, learns and measures what is not done yet."""
    if settings.quick:
        settings = dataclasses.replace(
            settings, seeds=1, population=4, generations=2, bodies=2, judged_bodies=2, evaluations=60
        )
    numbers = range(settings.seed, settings.seed + settings.seeds)
    decides = {k: v for k, v in vars(settings).items() if k not in ("seed", "seeds", "threads")}
    jobs = [experiment.SeedJob(out / "bodies", seed, decides, partial(learn_body, out, settings)) for seed in numbers]
    found = experiment.finish_jobs(jobs, settings.threads, say)
    rows = [_row(way, [one["ways"][way] for one in found]) for way in WAYS]
    by_way = {row["way"]: row for row in rows}
    claims = [
        experiment.Claim(
            what=f"{where} bodies: way of the trot learned on the posterior less that on {other}, m",
            ours=experiment.Estimate.of(np.subtract(by_way["posterior"][where], by_way[other][where])),
            least=0.0,
        )
        for where in ("drawn", "hidden")
        for other in ("estimate", "ranges")
    ]
    return {
        "rows": rows,
        "seeds": list(numbers),
        "bodies": [{key: one[key] for key in ("hidden_values", "estimate", "errors")} for one in found],
        "claims": [one.as_json() for one in claims],
        "goals": [one.as_json() for one in experiment.goals_of(claims)],
    }


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Distances of the learned trots, by the bodies on which they were learned."""
    columns = {
        "learned on": experiment.text("way"),
        "on drawn bodies [m]": experiment.decimal("drawn_mean", 2),
        "worst of them [m]": experiment.decimal("worst_mean", 2),
        "on the hidden body [m]": experiment.decimal("hidden_mean", 2),
        "as shipped, hidden [m]": experiment.decimal("before_mean", 2),
    }
    note = "what is gained on the course of the trot less what falls and drifts cost; means over hidden bodies."
    return experiment.ResultTable.of(answer["rows"], columns, note, *experiment.claim_notes(answer["claims"]))


def _row(way: str, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    keys = {"drawn": "drawn", "worst": "worst", "hidden": "hidden", "before": "hidden_before"}
    lists = {name: [float(one[key]) for one in found] for name, key in keys.items()}
    return {"way": way, **lists, **{f"{name}_mean": float(np.mean(values)) for name, values in lists.items()}}


def learn_body(out: Path, settings: Settings, seed: int) -> dict[str, Any]:
    """Identifies a hidden body, learns a trot for it in each way, and measures the trots."""
    begun = time.process_time()
    twin = Twin(TwinSettings(robot=ROBOT), SEARCHED)
    shares = np.random.default_rng([seed, HIDDEN_KEY]).uniform(*HIDDEN_SHARE, twin.space.size)
    hidden = twin.space.values(shares)
    body = _identified(twin, hidden, settings, seed)
    truth = BodyVariant.of(_with_values(body, twin.space.named(hidden)))
    return {
        "ways": {way: _learn_way(out / f"seed-{seed}-{way}", settings, way, body, truth, seed) for way in WAYS},
        "hidden_values": twin.space.named(hidden),
        "estimate": {name: one.value for name, one in body.parameters.items()},
        "errors": list(body.distribution.errors) if body.distribution else [],
        "cpu_seconds": time.process_time() - begun,
    }


def _learn_way(
    folder: Path, settings: Settings, way: str, body: IdentifiedBody, truth: BodyVariant, seed: int
) -> dict[str, float]:
    """Distances of a trot that is learned in one way, on drawn bodies and on the hidden one."""
    folder.mkdir(parents=True, exist_ok=True)
    write_body(folder / "params.toml", body)
    spread: Literal["estimate", "ranges"] = "ranges" if way == "ranges" else "estimate"
    learning = WalkLearning(
        LearnSettings(
            task="trot",
            robot=ROBOT,
            starts=settings.bodies,
            population=settings.population,
            generations=settings.generations,
            step=STEP,
            body=str(folder / "params.toml"),
            randomise=way != "estimate",
            spread=spread,
            bodies=settings.bodies,
            judged_starts=settings.bodies,
            seed=seed,
        )
    )
    learned = learning.run(InThisThread(piece=len(learning.task.parts)), folder=folder / "search")
    rng = np.random.default_rng([seed, DRAWN_KEY])
    drawn = [BodyVariant.of(one) for one in body.draws(settings.judged_bodies, rng)]

    def worth(walk: Any, variant: BodyVariant, starts: int) -> float:  # noqa: ANN401 (the walk of a run)
        trials = dataclasses.replace(learning.trials, bodies=(variant,))
        return float(trials.parts([walk], [np.random.default_rng([seed, DRAWN_KEY, 1])], starts=starts).sum())

    on_drawn = [worth(learned.walk, one, 1) for one in drawn]
    return {
        "drawn": float(np.mean(on_drawn)),
        "worst": float(np.min(on_drawn)),
        "hidden": worth(learned.walk, truth, 4),
        "hidden_before": worth(learned.before, truth, 4),
    }


def _identified(twin: Twin, hidden: Floats, settings: Settings, seed: int) -> IdentifiedBody:
    """The numbers found from the recordings, with their joint distribution."""
    rest = Worlds(twin.base).robot(TWIN_ROBOT).start
    trials = excitations(SWAY, twin.table, rest, SWAY_SEEDS)
    cost = hidden_fit(twin, hidden, trials, DISTURBANCE, np.random.default_rng([seed, NOISE_KEY]))
    rng = np.random.default_rng([seed, FIT_KEY])
    searcher = LeastSquares(twin.space, LeastSquaresSettings(), rng)
    budget = Budget(evaluations=settings.evaluations)
    estimate = minimise(cost.rows, searcher, InThisThread(), budget=budget, seed=seed).estimate
    found = curvature(cost.residuals, twin.space, estimate)
    values = twin.space.named(estimate)
    return IdentifiedBody(
        robot=ROBOT,
        parameters={
            name: IdentifiedParameter(
                value=values[name],
                low=one.low,
                high=one.high,
                unit=one.unit,
                sets=one.sets,
                relative=one.relative,
                scale=one.scale,
            )
            for name, one in twin.searched.items()
        },
        distribution=Distribution(
            errors=tuple(found.standard_errors.tolist()),
            correlation=tuple(tuple(row) for row in found.correlation.tolist()),
        ),
    )


def _with_values(body: IdentifiedBody, values: Mapping[str, float]) -> IdentifiedBody:
    assert all(math.isfinite(value) for value in values.values())
    parameters = {n: dataclasses.replace(p, value=values[n]) for n, p in body.parameters.items()}
    return dataclasses.replace(body, parameters=parameters)
