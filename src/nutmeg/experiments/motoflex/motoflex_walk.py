"""MoToFlex's two walks (seed 001, section 5): speed, pitch and its phase, falls, and which part of the model does it.

Set-up 1, 200 mm/s with steps of 1 s: a real Nao's body rocks back and forth, leans back when the swinging foot lands,
and walks at 250 mm/s; the paper's MoToFlex at 209 mm/s, its rigid simulation at 200 mm/s. Set-up 2, 50 mm/s with steps
of 2 s: the real and the MoToFlex robot fall sideways after the first steps, the rigid one does not; other reference
ZMPs keep it up in the simulation if and only if they do in reality.

    answer = run(Path("runs/motoflex-walk"), Settings(seeds=5))
    answer["walks"][0]["phase"]         # of the body's pitch against the gait [rad]

There is no noise in these walks. A seed is therefore a walk whose step height, foot distance, double support and
reference ZMP differ by a few percent (seed 0 by nothing), so that intervals say how much such details matter.

The phase is that of the pitch at the frequency of single steps: pitch = A cos(2 pi f (t - t0) + phase), where t0 is a
moment at which a foot lands. With a phase of 180 deg the body leans back most when a foot lands, with 0 deg forward.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.angles import wrap_angle
from nutmeg.base.journal import each_seed
from nutmeg.experiments import experiment
from nutmeg.model import load_robot
from nutmeg.model.actuation import load_actuation
from nutmeg.model.parameters import Adjustment
from nutmeg.motion.preview_walk import (
    FALLEN_COSINE,
    MOTOFLEX_1,
    MOTOFLEX_2,
    STARTING_SECONDS,
    STOPPING_SECONDS,
    PreviewWalk,
    WalkResult,
    WalkTrial,
    compare_walk,
)
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings
from nutmeg.search import Budget, CmaEs, CmaEsSettings, InThisThread, minimise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.model.actuation import Actuation
    from nutmeg.model.identified import IdentifiedBody
    from nutmeg.motion.preview_walk import PreviewWalkSettings

ROBOT = "nao-v6"
PAPER_SPEEDS = {"ideal": 0.200, "motoflex": 0.209, "real robot": 0.250}
"""Speeds in the paper at 200 mm/s commanded [m/s]; `ideal` is its simulation without extensions."""
SPEED_TOLERANCE = 0.01
"""Speeds count as equal within this [m/s]: 5 % of the commanded speed, about the effect that the paper reports."""
_CURED_WALK = dataclasses.replace(MOTOFLEX_2, zmp_width=0.7)
"""Set-up 2 with the reference ZMP kept 30 % further inside."""
ACTUATIONS = ("ideal", "servo", "motoflex")
COMMAND_PERIOD = 0.02
"""Time between commands [s]."""


@dataclass(frozen=True)
class _SetUp:
    """One walk of the experiment."""

    name: str
    settings: PreviewWalkSettings
    figure: str


SET_UPS = (
    _SetUp("200 mm/s, 1 s", MOTOFLEX_1, "figure-3.png"),
    _SetUp("50 mm/s, 2 s", MOTOFLEX_2, "figure-4.png"),
    _SetUp("50 mm/s, 2 s, other ZMP", _CURED_WALK, "figure-4-cured.png"),
)
ZMP_REFERENCES: tuple[Mapping[str, Any], ...] = (
    *({"zmp_width": width} for width in (0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)),
    *({"zmp_width": 0.8, "zmp_offset": (ahead, 0.0)} for ahead in (0.0, 0.01, 0.03)),
    {"zmp_width": 0.8, "zmp_travel": 0.02},
    {"zmp_width": 0.9, "zmp_offset": (0.01, 0.0)},
)
"""Reference ZMPs of set-up 2: how far they swing sideways, where they rest in a foot, and how they travel under it."""
_SEARCHED_COMPLIANCE = {
    name: Searched(low=low, high=high, start=1.0, scale="log", sets=sets, relative=True)
    for name, low, high, sets in (
        ("pitch gain", 0.3, 3.0, ("servo.leg130.p",)),
        ("roll gain", 0.3, 3.0, ("servo.leg201.p",)),
        ("viscous", 0.25, 4.0, ("servo.leg*.viscous",)),
        ("play", 0.02, 2.0, ("gear.*.play",)),
        ("gear stiffness", 0.2, 4.0, ("gear.*.stiffness",)),
        ("gear damping", 0.25, 8.0, ("gear.*.damping",)),
        ("link stiffness", 0.2, 4.0, ("flex.legs.stiffness",)),
    )
} | {"delay": Searched(low=0.004, high=0.06, start=0.036, scale="log", unit="s", sets=("delay",))}
"""Factors of the robot's numbers, and the delay of its commands, between which compliance is searched."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Size of the experiment."""

    seconds: float
    """Length of a walk [s]."""
    actuations: tuple[str, ...] = ACTUATIONS
    set_ups: tuple[_SetUp, ...] = SET_UPS
    ablation_seeds: int = 2
    """Walks of each partial model in both set-ups."""
    references: int = len(ZMP_REFERENCES)
    """Number of reference ZMPs."""
    searched: int = 100
    """Candidates of the search of compliance."""


FULL = Scale(seconds=12.0)
QUICK = Scale(
    seconds=8.0, actuations=("ideal", "motoflex"), set_ups=SET_UPS[:2], ablation_seeds=0, references=0, searched=0
)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means short walks of two actuations, without ablation, ZMPs and search."""

    seed: int = 0
    """The first variation of the walks; 0 is the walk itself."""
    seeds: int = 5
    """Number of variations."""
    size: Scale | None = None
    """Other sizes than those of the quick and the full version."""


@dataclass(frozen=True)
class Gait:
    """Measurements of one walk beside its speed."""

    phase: float
    """Phase of the pitch against the gait [rad]; NaN after a fall."""
    landing_pitch: float
    """Pitch when a foot is to land, from the mean pitch [rad]; negative for leaning back."""
    alternation: float
    """Excess of every second swing of the pitch over those between, as a share of their mean."""


def measure_gait(trial: WalkTrial, settings: PreviewWalkSettings, start: float, stop: float) -> Gait:
    """Phase, lean at landing and alternation of the pitch between two times, which are whole cycles apart."""
    if trial.fallen_at <= stop:
        return Gait(math.nan, math.nan, math.nan)
    half = settings.step_duration / 2
    inside = (trial.times >= start - 1e-9) & (trial.times < stop - 1e-9)
    times, pitch = trial.times[inside] - settings.start, trial.pitch[inside] - trial.pitch[inside].mean()
    wave = complex(np.mean(pitch * np.exp(-2j * math.pi * times / half)))
    # One swing for each single step; a foot lands at the end of each.
    steps = np.floor(times / half + 1e-9).astype(int)
    swings = np.array([np.ptp(pitch[steps == step]) for step in np.unique(steps)])
    even, odd = swings[0::2].mean(), swings[1::2].mean()
    landing = np.interp(np.unique(steps)[1:] * half, times, pitch)
    return Gait(
        phase=float(np.angle(wave)),
        landing_pitch=float(landing.mean()),
        alternation=float(abs(even - odd) / ((even + odd) / 2)),
    )


def varied(settings: PreviewWalkSettings, seed: int) -> PreviewWalkSettings:
    """A walk that differs in details; itself for seed 0."""
    if seed == 0:
        return settings
    height, apart, both, ahead = np.random.default_rng([seed, 2011]).uniform(-1.0, 1.0, 4).tolist()
    return dataclasses.replace(
        settings,
        step_height=settings.step_height * (1 + 0.05 * height),
        foot_separation=settings.foot_separation * (1 + 0.02 * apart),
        double_support=settings.double_support * (1 + 0.1 * both),
        zmp_offset=(settings.zmp_offset[0] + 0.001 * ahead, settings.zmp_offset[1]),
    )


def walk_row(
    settings: PreviewWalkSettings,
    actuation: str | Actuation,
    *,
    seconds: float,
    name: str = "",
    robot: str = ROBOT,
    body: IdentifiedBody | None = None,
) -> tuple[WalkResult, dict[str, Any]]:
    """A walk and its numbers; null where it fell."""
    result = compare_walk(robot, settings, actuation, seconds=seconds, name=name, body=body)
    cycle = settings.step_duration
    stop = STARTING_SECONDS + cycle * max(1, int((seconds - STOPPING_SECONDS - STARTING_SECONDS) / cycle))
    gait = measure_gait(result.trial, settings, STARTING_SECONDS, stop)
    known = {key: value if math.isfinite(value) else None for key, value in dataclasses.asdict(gait).items()}
    return result, {**result.as_json(), **known}


def partial_models() -> dict[str, str | Actuation]:
    """The robot with some of the extensions: bending links, motors and gears."""
    full = load_actuation(load_robot(ROBOT), "motoflex")
    assert full is not None
    return {
        "ideal": "ideal",
        "links": dataclasses.replace(full, servo={}, gear={}),
        "motors": "servo",
        "motors + links": dataclasses.replace(full, gear={}),
        "motors + gears": dataclasses.replace(full, flex={}),
        "motors + gears + links": "motoflex",
        "links, 1/4 stiffness": dataclasses.replace(full, servo={}, gear={}, flex=_softer(full, 0.25)),
        "links, 1/8 stiffness": dataclasses.replace(full, servo={}, gear={}, flex=_softer(full, 0.125)),
    }


def _softer(full: Actuation, factor: float) -> dict[str, Any]:
    return {name: dataclasses.replace(one, stiffness=one.stiffness * factor) for name, one in full.flex.items()}


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Runs all walks, the ablation, the ZMPs and the search; draws the paper's figures and one of phase over speed.

    Each of the four parts is kept as it ends.
    """
    from nutmeg.view.reports.figures import plot_phases

    size = settings.size or (QUICK if settings.quick else FULL)
    seeds = list(range(settings.seed, settings.seed + max(settings.seeds, 2)))

    def kept(part: str, found: Callable[[], Any]) -> Any:  # noqa: ANN401 (JSON values)
        decisive = {**dataclasses.asdict(size), "seeds": seeds}
        return each_seed(out / part, [settings.seed], decisive, lambda _: {"found": found()})[0]["found"]

    walks = kept("walks", lambda: _walks(out, size, seeds, say))
    ablation = kept("ablation", lambda: _ablation(size, say))
    references = kept("references", lambda: _references(size, say))
    searched = kept("search", lambda: _search_compliance(size.searched, say, threads=settings.threads))
    answer: dict[str, Any] = {
        "experiment": "motoflex-walk",
        "walks": walks,
        "ablation": ablation,
        "references": references,
        "search": searched,
        "paper": PAPER_SPEEDS,
        "settings": {"seconds": size.seconds, "timestep": 0.001, "robot": ROBOT, "seeds": seeds},
    }
    plot_phases(
        out / "phase.png",
        [row for row in walks if row["set_up"] == SET_UPS[0].name],
        [row for row in ablation if row["set_up"] == SET_UPS[0].name],
        searched["candidates"] if searched else [],
    )
    claims, goals = _claims(answer), _goals(answer)
    return {**answer, "claims": [one.as_json() for one in claims], "goals": [one.as_json() for one in goals]}


def _goals(answer: Mapping[str, Any]) -> list[experiment.Goal]:
    """Goals of this simulation that do not depend on the paper's robot."""
    rows = {(row["set_up"], row["actuation"]): row for row in summarised(answer["walks"])}
    rigid, soft = rows[SET_UPS[0].name, "ideal"], rows[SET_UPS[0].name, "motoflex"]
    falls = {
        name: float(np.mean([r["fallen_at"] is not None for r in answer["walks"] if _is(r, SET_UPS[1], name)]))
        for name in ("ideal", "motoflex")
    }
    swing = None if soft["pitch"] is None or rigid["pitch"] is None else soft["pitch"] / rigid["pitch"]
    return [
        experiment.Goal(what="ideal: speed in set-up 1", found=rigid["speed"], limit=0.19, unit=" m/s"),
        experiment.Goal(what="motoflex: speed in set-up 1", found=soft["speed"], limit=0.15, unit=" m/s"),
        experiment.Goal(what="motoflex: swing of the pitch over the rigid robot's", found=swing, limit=1.1),
        experiment.Goal(what="motoflex: share that falls in set-up 2", found=falls["motoflex"], limit=0.5),
        experiment.Goal(what="ideal: share that falls in set-up 2", found=falls["ideal"], limit=0.0, most=True),
    ]


def _is(row: Mapping[str, Any], set_up: _SetUp, actuation: str) -> bool:
    return bool(row["set_up"] == set_up.name and row["actuation"] == actuation)


def _walks(out: Path, size: Scale, seeds: Sequence[int], say: experiment.Progress) -> list[dict[str, Any]]:
    """All set-ups under all actuations; draws those of the first seed."""
    from nutmeg.view.reports.figures import plot_walks

    rows = []
    for set_up in size.set_ups:
        shown: list[WalkResult] = []
        for actuation in size.actuations:
            for seed in seeds:
                say(f"{set_up.name}: {actuation}, seed {seed}")
                result, row = walk_row(varied(set_up.settings, seed), actuation, seconds=size.seconds)
                rows.append({"set_up": set_up.name, "seed": seed, **row})
                shown += [result] if seed == seeds[0] else []
        plot_walks(shown, out / set_up.figure, commanded=set_up.settings.forward, title=set_up.name)
    return rows


def _ablation(size: Scale, say: experiment.Progress) -> list[dict[str, Any]]:
    """Both set-ups with each partial model."""
    rows = []
    for name, actuation in partial_models().items() if size.ablation_seeds else ():
        for set_up in SET_UPS[:2]:
            for seed in range(size.ablation_seeds):
                say(f"{set_up.name} with {name}, seed {seed}")
                _, row = walk_row(varied(set_up.settings, seed), actuation, seconds=size.seconds, name=name)
                rows.append({"set_up": set_up.name, "seed": seed, **row})
    return rows


def zmp_name(changed: Mapping[str, Any]) -> str:
    """A reference ZMP in words."""
    return ", ".join(f"{key.removeprefix('zmp_')} {value}" for key, value in changed.items())


def _references(size: Scale, say: experiment.Progress) -> list[dict[str, Any]]:
    """Falls of the robot of set-up 2 by reference ZMP: rigid, soft, and soft by the algorithms as printed."""
    rows = []
    for changed in ZMP_REFERENCES[: size.references]:
        walk = dataclasses.replace(MOTOFLEX_2, **changed)
        row: dict[str, Any] = {"zmp": zmp_name(changed)}
        for actuation in ("ideal", "motoflex", "motoflex-paper"):
            say(f"reference ZMP {row['zmp']}: {actuation}")
            row[actuation] = walk_row(walk, actuation, seconds=size.seconds)[1]["fallen_at"]
        rows.append(row)
    return rows


# The search of compliance: which motors, gears and links would rock and walk as the paper's robot does?


_SEARCH_SECONDS = 9.0
FALL_COST = 4.0
"""Cost of a candidate that falls, more than any that walks has."""
_SHOWN_CANDIDATES = 12
"""Number of best candidates that are shown in detail."""


@dataclass(frozen=True)
class ComplianceCost:
    """Distance of set-up 1 from the paper's, (n,) of (n, k): half a turn of phase has the weight of 50 mm/s."""

    twin: Twin
    trial: Trial

    def measured(self, candidates: Floats) -> list[tuple[float, float]]:
        """Speed [m/s] and phase [rad] of each candidate; NaN of one that fell."""
        rollout = self.twin.simulate(candidates, [self.trial], fallen=FALLEN_COSINE)[0]
        assert rollout.pose is not None
        found = []
        stop = STARTING_SECONDS + int(_SEARCH_SECONDS - STOPPING_SECONDS - STARTING_SECONDS)
        for pose, frames in zip(rollout.pose, rollout.frames, strict=True):
            if frames < len(rollout.times):
                found.append((math.nan, math.nan))
                continue
            trial = WalkTrial.of(rollout.times, pose)
            gait = measure_gait(trial, MOTOFLEX_1, STARTING_SECONDS, stop)
            found.append((trial.speed(STARTING_SECONDS, stop), gait.phase))
        return found

    def __call__(self, candidates: Floats, generators: Sequence[np.random.Generator] = ()) -> Floats:  # noqa: ARG002
        """The cost that is searched; nothing in it is random."""
        return np.array([self.cost(speed, phase) for speed, phase in self.measured(candidates)])

    @staticmethod
    def cost(speed: float, phase: float) -> float:
        """The cost of one candidate."""
        if not math.isfinite(speed):
            return FALL_COST
        off = abs(float(wrap_angle(np.array(phase - math.pi))))
        return off / math.pi + abs(speed - PAPER_SPEEDS["motoflex"]) / 0.05


def _search_compliance(candidates: int, say: experiment.Progress, *, threads: int = 1) -> dict[str, Any] | None:
    """Looks for factors with which set-up 1 leans back at landing and walks at the paper's speed; None without any."""
    if not candidates:
        return None
    # The servos' own delay is a number of stored samples, which scenes of a batch must have in common.
    undelayed = Adjustment(target="servo.*.delay", value=0.0)
    twin_settings = TwinSettings(
        robot=ROBOT, actuation="motoflex", timestep=0.001, field="spl2025", adjustments=(undelayed,)
    )
    twin = Twin(twin_settings, _SEARCHED_COMPLIANCE, threads=threads)
    cost = ComplianceCost(twin, _trial(twin, MOTOFLEX_1))
    result = minimise(
        cost,
        CmaEs(twin.space, CmaEsSettings(population=10), np.random.default_rng([1, 2011])),
        InThisThread(),
        budget=Budget(evaluations=candidates),
        on_generation=lambda g: say(f"search of compliance: generation {g.number + 1}, cost {g.best.value:.2f}"),
    )
    tried = np.concatenate([g.candidates for g in result.history])
    costs = np.concatenate([g.values for g in result.history])
    order = np.argsort(costs, kind="stable")[:_SHOWN_CANDIDATES]
    slow = twin.simulate(tried[order], [_trial(twin, MOTOFLEX_2)], fallen=FALLEN_COSINE)[0]
    near: list[dict[str, Any]] = [
        {
            "factors": twin.space.named(tried[index]),
            "cost": float(costs[index]),
            "speed": speed,
            "phase": phase,
            "falls_in_set_up_2": float(slow.times[frames]) if frames < len(slow.times) else None,
        }
        for index, (speed, phase), frames in zip(order, cost.measured(tried[order]), slow.frames.tolist(), strict=True)
        if math.isfinite(speed)
    ]
    return {
        "evaluations": result.evaluations,
        "fell": int(np.sum(costs >= FALL_COST)),
        "start_cost": float(cost(twin.space.start[None])[0]),
        "best": near[0] if near else None,
        "fastest": max((one["speed"] for one in near), default=None),
        "candidates": near,
    }


def _trial(twin: Twin, settings: PreviewWalkSettings) -> Trial:
    """A walk of `_SEARCH_SECONDS` as a trial."""
    walk = PreviewWalk(twin.table, settings, duration=_SEARCH_SECONDS)
    commands = walk.angles(np.arange(round(_SEARCH_SECONDS / COMMAND_PERIOD)) * COMMAND_PERIOD)
    return Trial(name="walk", period=COMMAND_PERIOD, commands=commands)


# Claims and tables


def _claims(answer: Mapping[str, Any]) -> list[experiment.Claim]:
    first, second = SET_UPS[0].name, SET_UPS[1].name

    def values(key: str, set_up: str, actuation: str) -> experiment.Estimate:
        found = [r[key] for r in answer["walks"] if (r["set_up"], r["actuation"]) == (set_up, actuation)]
        known = [value for value in found if value is not None]
        return experiment.Estimate.of(known) if known else experiment.Estimate(math.nan, math.nan, math.nan, 0)

    def falls(set_up: str, actuation: str) -> experiment.Estimate:
        found = [r["fallen_at"] for r in answer["walks"] if (r["set_up"], r["actuation"]) == (set_up, actuation)]
        return experiment.Estimate.of_share(sum(one is not None for one in found), len(found))

    def scaled(one: experiment.Estimate, factor: float) -> experiment.Estimate:
        return experiment.Estimate(one.mean * factor, one.low * factor, one.high * factor, one.count)

    soft = scaled(values("landing_pitch", first, "motoflex"), experiment.DEGREES)
    speeds = {name: values("speed", first, name) for name in ("ideal", "motoflex")}
    claims = [
        experiment.Claim.near(
            f"{name}: speed in set-up 1", speeds[name], PAPER_SPEEDS[name], SPEED_TOLERANCE, unit="m/s"
        )
        for name in speeds
    ]
    claims += [
        experiment.Claim(
            what="motoflex: faster than commanded", ours=speeds["motoflex"], least=0.2, paper=0.209, unit="m/s"
        ),
        experiment.Claim(
            what="motoflex: lean when a foot lands, back is negative", ours=soft, most=0.0, unit="deg", digits=2
        ),
        experiment.Claim.near(
            "motoflex: frequency of the pitch", values("rhythm", first, "motoflex"), 2.0, 0.1, unit="Hz", digits=2
        ),
        experiment.Claim(
            what="motoflex: every second swing of the pitch larger by",
            ours=values("alternation", first, "motoflex"),
            least=0.1,
        ),
        experiment.Claim(
            what="motoflex: share that falls in set-up 2", ours=falls(second, "motoflex"), least=0.5, digits=2
        ),
        experiment.Claim(what="ideal: share that falls in set-up 2", ours=falls(second, "ideal"), most=0.5, digits=2),
    ]
    if answer["references"]:
        claims.append(
            experiment.Claim.same_outcome(
                "reference ZMPs stable in one soft model if and only if in the other",
                [row["motoflex"] is None for row in answer["references"]],
                [row["motoflex-paper"] is None for row in answer["references"]],
            )
        )
    alone = [r for r in answer["ablation"] if r["set_up"] == second and r["actuation"].startswith("links, ")]
    if alone:
        fell = sum(row["fallen_at"] is not None for row in alone)
        claims.append(
            experiment.Claim(
                what="soft links alone (1/4 and 1/8 of the stiffness): share that falls in set-up 2",
                ours=experiment.Estimate.of_share(fell, len(alone)),
                least=0.1,
                digits=2,
            )
        )
    return claims


def summarised(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Means over seeds of each set-up and actuation; of phases the mean direction."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["set_up"], row["actuation"]), []).append(row)
    found = []
    for (set_up, actuation), some in groups.items():
        one: dict[str, Any] = {"set_up": set_up, "actuation": actuation, "walks": len(some)}
        for key in ("speed", "pitch", "roll", "rhythm", "landing_pitch", "alternation", "fallen_at"):
            known = [row[key] for row in some if row[key] is not None]
            one[key] = float(np.mean(known)) if known else None
        phases = [row["phase"] for row in some if row["phase"] is not None]
        one["phase"] = float(np.angle(np.mean(np.exp(1j * np.array(phases))))) if phases else None
        one["fell"] = f"{sum(row['fallen_at'] is not None for row in some)} of {len(some)}"
        found.append(one)
    return found


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Walks under each actuation and with each partial model, beside the paper's speeds; then ZMPs and claims."""
    columns = {
        "set-up": experiment.text("set_up"),
        "actuation": experiment.text("actuation"),
        "speed [m/s]": experiment.decimal("speed"),
        "fell": experiment.text("fell"),
        "at [s]": experiment.decimal("fallen_at", 1),
        "pitch ± [deg]": experiment.decimal("pitch", 1, experiment.DEGREES),
        "at [Hz]": experiment.decimal("rhythm", 2),
        "phase [deg]": experiment.decimal("phase", 0, experiment.DEGREES),
        "at landing [deg]": experiment.decimal("landing_pitch", 1, experiment.DEGREES),
        "every second": experiment.decimal("alternation", 2),
        "roll ± [deg]": experiment.decimal("roll", 1, experiment.DEGREES),
    }
    partial = [row for row in answer["ablation"] if row["actuation"] not in ACTUATIONS]
    speeds = ", ".join(f"{name} {speed:.3f} m/s" for name, speed in PAPER_SPEEDS.items())
    notes = [
        f"the paper's speeds: {speeds}. Means over seeds; the phase is of the pitch against landing feet.",
        *(
            f"reference ZMP {row['zmp']}: "
            + ", ".join(
                f"{name} {'stays up' if row[name] is None else f'falls at {row[name]:.1f} s'}"
                for name in ("ideal", "motoflex", "motoflex-paper")
            )
            for row in answer["references"]
        ),
    ]
    if answer["search"] and (best := answer["search"]["best"]):
        falls = best["falls_in_set_up_2"]
        notes.append(
            f"search of compliance, {answer['search']['evaluations']} candidates ({answer['search']['fell']} fell): "
            f"the best walks at {best['speed']:.3f} m/s with a phase of "
            f"{best['phase'] * experiment.DEGREES:.0f} deg, and "
            f"{'stays up' if falls is None else f'falls at {falls:.1f} s'} in set-up 2 ("
            + ", ".join(f"{name} {value:.2g}" for name, value in best["factors"].items())
            + f"). The fastest of the best {len(answer['search']['candidates'])}: "
            f"{answer['search']['fastest']:.3f} m/s."
        )
    return experiment.ResultTable.of(
        summarised([*answer["walks"], *partial]),
        columns,
        *notes,
        *experiment.claim_notes(answer["claims"]),
        *experiment.goal_notes(answer["goals"]),
    )
