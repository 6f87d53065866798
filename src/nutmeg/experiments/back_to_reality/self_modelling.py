"""Continuous self-modelling: a robot notices that its body has changed, finds out how, and learns to walk again.

    answer = run(Path("runs/self-modelling"), Settings(seeds=5, threads=2))
    answer["lives"][0]["windows"]               # time and again: error of the self-model, alarm, speed

Zagal, Delpiano and Ruiz-del-Solar (2009) name it as the aim of self-modelling: a model of the own body that is kept
up to date while the robot acts. An ERS-7 walks ten times, for two and a half seconds each. After the fourth walk the
joints of one leg get stiff, as with sand in the gears; the leg and the friction are hidden. The robot knows its
commands and reads its joint angles with noise. After each walk it compares its measurements with the predictions of
its self-model for these commands:

1. An error above `ALARM_RATIO` times the usual one is an alarm: the body differs from the self-model.
2. The friction of each leg's joints is estimated from the measurements of that one walk by least squares.
3. A short search by CMA-ES in the new self-model changes the trot; no trial in reality is spent on it.

The controls are the same robot without a self-model, and one that is given its true body when it changes (`told`). They
bound the possible gain: some of the speed is lost for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.experiments import experiment
from nutmeg.experiments.back_to_reality.hidden_fit import Disturbance, hidden_fit
from nutmeg.reality.btr.controllers import Controllers, ControllerSettings, make_controllers
from nutmeg.reality.twin import Searched, Twin, TwinSettings
from nutmeg.search import Budget, InThisThread, minimise
from nutmeg.search.least_squares import LeastSquares, LeastSquaresSettings
from nutmeg.search.searchers import CmaEs, CmaEsSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.random import Generator

    from nutmeg.base.arrays import Floats

LEGS = {"left fore": "LFr", "right fore": "RFr", "left hind": "LBk", "right hind": "RBk"}
"""The legs, and how the names of their joints begin."""
SEARCHED = {
    leg: Searched(low=0.01, high=6.0, start=0.02, scale="log", unit="N m s/rad", sets=(f"joint.{begin}:*.damping",))
    for leg, begin in LEGS.items()
}
"""The self-model: damping of the joints of each leg."""
WORN = (2.0, 4.0)
"""The damping of the leg that changes is drawn from this range [N m s/rad]."""
TROT = ControllerSettings(
    kind="trot",
    search=("step_x", "frequency", "duty", "lift_*", "height_*", "ahead_*"),
    velocity=(0.3, 0.0, 0.0),
    seconds=2.5,
)
DISTURBANCE = Disturbance(command=0.002, angle=0.002)
WINDOWS, CHANGE = 10, 4
"""Number of walks, and index of the first walk with the changed body."""
LEARNT = 3
"""Number of first walks from which the usual error is estimated."""
ALARM_RATIO = 1.5
"""Ratio of an error to the largest usual one from which on it is an alarm."""
EVALUATIONS = 120
"""Candidates of the identification."""
POPULATION, GENERATIONS, STEP = 12, 8, 0.1
"""Population and generations of the search of the trot; the first standard deviation, as a share of each range."""
LIFE_KEY, SEARCH_KEY = range(2)
"""Keys of the seeds, one for each use."""


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means one life and a shorter search of the trot."""

    seed: int = 0
    seeds: int = 5
    """Number of lives: hidden changes and noise."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Lives through all seeds; draws the first life."""
    effort = (8, 4) if settings.quick else (POPULATION, GENERATIONS)
    numbers = range(settings.seed, settings.seed + settings.seeds)
    jobs = [experiment.SeedJob(out, seed, {"effort": effort}, partial(live, effort)) for seed in numbers]
    lives = experiment.finish_jobs(jobs, settings.threads, say)
    _draw(out / "life.png", lives[0])
    claims = _claims(lives)
    return {
        "experiment": "self-modelling",
        "lives": lives,
        "claims": [one.as_json() for one in claims],
        "goals": [one.as_json() for one in experiment.goals_of(claims)],
    }


def live(effort: tuple[int, int], seed: int) -> dict[str, Any]:
    """One life: what happened each time the robot set off, and what it found out."""
    rng = np.random.default_rng([seed, LIFE_KEY])
    twin = Twin(TwinSettings(robot="ers7"), SEARCHED)
    controllers = make_controllers(TROT, twin)
    names, healthy, usual_trot = list(LEGS), twin.space.start, controllers.space.start
    leg = int(rng.integers(len(names)))
    worn = healthy.copy()
    worn[leg] = rng.uniform(*WORN)
    search = np.random.default_rng([seed, SEARCH_KEY])
    told_trot = adapted(twin, controllers, worn, effort, search)
    model, trot, usual, alarms = healthy, usual_trot, list[float](), list[dict[str, Any]]()
    windows = []
    for number in range(WINDOWS):
        body = worn if number >= CHANGE else healthy
        told = told_trot if number >= CHANGE else usual_trot
        speeds = [speed(twin, controllers, body, one) for one in (trot, usual_trot, told)]
        cost = hidden_fit(twin, body, controllers.trials(trot[None]), DISTURBANCE, rng)
        error = float(cost(model[None])[0])
        limit = ALARM_RATIO * max(usual) if len(usual) >= LEARNT else None
        alarm = limit is not None and error > limit
        windows.append(
            {
                "error": error,
                "limit": limit,
                "alarm": alarm,
                **dict(zip(("self", "without", "told"), speeds, strict=True)),
            }
        )
        if not alarm:
            usual.append(error)
            continue
        searcher = LeastSquares(twin.space, LeastSquaresSettings(), search)
        found = minimise(cost.rows, searcher, InThisThread(), budget=Budget(evaluations=EVALUATIONS), seed=seed)
        model = found.estimate
        trot = adapted(twin, controllers, model, effort, search)
        alarms.append({"window": number, "estimate": twin.space.named(model)})
        usual = [float(cost(model[None])[0])] * LEARNT
    return {
        "leg": names[leg],
        "damping": float(worn[leg]),
        "windows": windows,
        "alarms": alarms,
        "found": bool(alarms) and max(alarms[-1]["estimate"], key=lambda n: alarms[-1]["estimate"][n]) == names[leg],
        "estimate": float(model[leg]),
    }


def adapted(twin: Twin, controllers: Controllers, body: Floats, effort: tuple[int, int], rng: Generator) -> Floats:
    """The trot that goes farthest straight ahead in a body (k,), searched in simulation from the usual one."""
    population, generations = effort

    def value(rows: Floats, _: Sequence[Generator]) -> list[float]:
        return [-progress for progress in _progress(twin, controllers, body, rows)]

    searcher = CmaEs(controllers.space, CmaEsSettings(population=population, step=STEP), rng)
    return minimise(value, searcher, InThisThread(), budget=Budget(generations=generations)).best.candidate


def speed(twin: Twin, controllers: Controllers, body: Floats, trot: Floats) -> float:
    """Speed straight ahead of a body with a trot, without noise [m/s]."""
    return float(_progress(twin, controllers, body, trot[None])[0] / TROT.seconds)


def _progress(twin: Twin, controllers: Controllers, body: Floats, trots: Floats) -> list[float]:
    """Distance ahead minus distance aside of trots (n, c) [m]."""
    found = []
    for rollout in twin.simulate(body[None], controllers.trials(trots)):
        assert rollout.pose is not None
        path = rollout.pose[0, : max(int(rollout.frames[0]), 1), :2]
        ahead, left = (path[-1] - path[0]).tolist()
        found.append(ahead - abs(left) if np.isfinite(ahead + left) else -1.0)
    return found


def _after(life: Mapping[str, Any], who: str) -> float:
    """The mean speed after the change and, where one came, after the last alarm."""
    first = max([CHANGE, *(alarm["window"] + 1 for alarm in life["alarms"])])
    return float(np.mean([one[who] for one in life["windows"][min(first, WINDOWS - 1) :]]))


def _claims(lives: Sequence[Mapping[str, Any]]) -> list[experiment.Claim]:
    """Claims that changes are noticed at once and explained, and that this helps; the limits are our own."""
    count = len(lives)
    noticed = sum(any(one["alarm"] for one in life["windows"][CHANGE : CHANGE + 2]) for life in lives)
    false = sum(any(one["alarm"] for one in life["windows"][:CHANGE]) for life in lives)
    found = sum(bool(life["found"]) for life in lives)
    gains = [_after(life, "self") - _after(life, "without") for life in lives]
    of_share = experiment.Estimate.of_share
    return [
        experiment.Claim(what="changes noticed within two windows: share", ours=of_share(noticed, count), least=0.8),
        experiment.Claim(what="lives with an alarm before the change: share", ours=of_share(false, count), most=0.2),
        experiment.Claim(what="the leg that changed was found: share", ours=of_share(found, count), least=0.8),
        experiment.Claim(
            what="speed with a self-model less that without one",
            ours=experiment.Estimate.of(gains),
            least=0.0,
            unit="m/s",
        ),
    ]


def _draw(path: Path, life: Mapping[str, Any]) -> None:
    from matplotlib.figure import Figure

    from nutmeg.view.reports.plots import save_png

    times = np.arange(1, WINDOWS + 1)

    def draw(figure: Figure) -> None:
        speeds, errors = figure.subplots(2, 1, sharex=True)
        for who, label in (("self", "with a self-model"), ("without", "without"), ("told", "told its body")):
            speeds.plot(times, [one[who] for one in life["windows"]], "o-", label=label)
        errors.plot(times, [one["error"] for one in life["windows"]], "o-", label="error of the self-model")
        limits = [np.nan if one["limit"] is None else one["limit"] for one in life["windows"]]
        errors.plot(times, limits, "--", color="grey", label="alarm")
        for panel in (speeds, errors):
            panel.axvline(CHANGE + 0.5, color="black", lw=0.8)
            panel.grid(alpha=0.3)
            panel.legend(fontsize=8)
        speeds.set_ylabel("speed [m/s]")
        errors.set_ylabel("rms of joint angles")
        errors.set_xlabel(f"time that the robot sets off; then the {life['leg']} leg becomes hard to move")

    save_png(path, draw, (7.5, 5.5))


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """A row for each life."""
    rows = [
        {
            **life,
            "before": float(np.mean([one["self"] for one in life["windows"][:CHANGE]])),
            **{who: _after(life, who) for who in ("self", "without", "told")},
            "noticed": ", ".join(str(alarm["window"] + 1) for alarm in life["alarms"]) or "never",
        }
        for life in answer["lives"]
    ]
    columns = {
        "leg that changes": experiment.text("leg"),
        "damping": experiment.decimal("damping", 2),
        "found": experiment.decimal("estimate", 2),
        "alarms at": experiment.text("noticed"),
        "speed before [m/s]": experiment.decimal("before"),
        "after: without": experiment.decimal("without"),
        "self-model": experiment.decimal("self"),
        "told": experiment.decimal("told"),
    }
    return experiment.ResultTable.of(
        rows,
        columns,
        f"the body changes before time {CHANGE + 1} of {WINDOWS}; damping in N m s/rad; speeds straight ahead after "
        "the last alarm.",
        *experiment.claim_notes(answer["claims"]),
        *experiment.goal_notes(answer["goals"]),
    )
