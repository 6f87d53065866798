"""The Nao experiment of the Back-to-Reality paper (seed 000, section 4.2): eight masses from joint angles in the air.

    answer = run(Path("runs/btr-nao"), Settings(seed=0, seeds=5, threads=2))
    answer["median_error"]                      # of the masses that are identifiable

Reality is a hidden simulation with masses drawn within 50 %, noisy motors and noisy, coarse encoders. Two searches are
put side by side: the paper's, a genetic algorithm with populations of 20 and Gaussian mutation that minimises phi2
over 22 joints; and ours, CMA-ES with populations of 10, which learns how thigh and shank trade off, on phi2 with a
share of RMS (`RMS_WEIGHT`): phi2 is blind to anything that keeps bins together, and flat and rough at its minimum.
CMA-ES creeps along the valley in which thigh and shank trade off, so its mean is improved by Newton steps on the RMS,
each taken only if phi2 with the share of RMS gets smaller by it.
Which masses count as identifiable is decided by the curvature of the RMS against the residuals, without knowing the
hidden values (`reality.identify.identifiability`).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.journal import each_seed
from nutmeg.experiments import experiment
from nutmeg.experiments.back_to_reality.hidden_fit import Disturbance, followed, hidden_fit, hidden_values
from nutmeg.experiments.experiment import share
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.model.parameters import Adjustment
from nutmeg.motion.preview_walk import PreviewWalk, PreviewWalkSettings
from nutmeg.reality.distances.distance import DistanceSettings, make_distance
from nutmeg.reality.identify.curvature import curvature
from nutmeg.reality.identify.identifiability import assess_identifiability
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings
from nutmeg.search import Budget, CmaEs, CmaEsSettings, Genetic, GeneticSettings, InThisThread, minimise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Floats
    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.identify.curvature import Curvature
    from nutmeg.reality.identify.identifiability import Identifiability
    from nutmeg.search import Searcher
    from nutmeg.search.run import SearchResult


# A Nao hung in the air that makes walking movements: the set-up of section 4.2 of the Back-to-Reality paper.
#
# J. C. Zagal, J. Delpiano, J. Ruiz-del-Solar, Self-modeling in humanoid soccer robots, Robotics and Autonomous
# Systems 57 (2009): commands every 55 ms with 7 integration steps in between, 22 joints, 4024 samples, eight masses
# within 50 %.
#
# **Walk.** The paper used Aldebaran's; here it is the preview walk of `motion`, planned for a Nao V4 (the closed form
# of the legs needs ankle axes that meet, which those of Table 1 do not) and sent to the joints of the same name: five
# walks one after the other, with swinging arms and a head that looks around, so that all 22 joints move. Forearms are
# held away from the thighs: in `ready` the boxes of Table 1 touch, and bumps tell of chaos, not of masses.
#
# **Drives.** Masses show only where motors give way. The robot's own file has 150 N m/rad in the legs (it must
# stand), with which phi2 hardly depends on them. Here all drives have half of what a team measured on a V6 (HULKs:
# 21.1 N m/rad, 1.08 N m s/rad, armature 0.045 kg m² in the legs), as a Nao with the stiffness setting 0.5 has. The
# masses are still not equally visible: those of HipRoll lie on all axes above them and cannot be seen at all, and
# thigh and shank pull at the hip with levers of nearly the same direction (11.3 and 12.5 degrees), so that only their
# different inertia tells them apart.


COMMAND_PERIOD = 0.055
"""Time between commands (section 4.2.1) [s]."""
STEPS_PER_COMMAND = 7
"""Integration steps between commands (section 4.2.1)."""
TABLE_MASSES = {"ShoulderRoll": 0.11, "HipRoll": 0.14, "HipPitch": 0.29, "KneePitch": 0.42}
"""Starred in Table 1, on both sides [kg]."""
MASS_RANGE = 0.5
"""Masses are searched within this share of what Table 1 says."""
STIFFNESS = 0.5 * 21.1
"""Stiffness of the drives [N m/rad]: see above."""
DAMPING = 0.5 * 1.08
"""Damping of the drives [N m s/rad]: see above."""
ARMATURE = {"leg*": 0.045, "[!l]*": 0.045 / 4}
"""Armature of the legs, and of arms and head, whose motors are smaller [kg m²]."""
DISTURBANCE = Disturbance(command=0.001, angle=0.0005, resolution=0.0015)
"""Noise of motors (assumed) and sensors (as of the robot's encoders) [rad]."""
WALKS = (
    PreviewWalkSettings(forward=0.25, step_duration=0.8, step_height=0.04),
    PreviewWalkSettings(forward=0.15, step_duration=0.5),
    PreviewWalkSettings(forward=0.0, sideways=0.08, step_duration=0.6),
    PreviewWalkSettings(forward=0.1, turn=0.6, step_duration=0.6, step_height=0.04),
    PreviewWalkSettings(forward=-0.15, step_duration=1.0, step_height=0.05),
)


def nao_twin(*, threads: int = 1, stiffness: float = STIFFNESS, damping: float = DAMPING) -> Twin:
    """The Nao of Table 1 on a stand, with eight masses to be found."""
    drives = [Adjustment(target="drives.*.stiffness", value=stiffness)]
    for group, armature in ARMATURE.items():
        share = 1.0 if group == "leg*" else 0.5
        drives.append(Adjustment(target=f"drives.{group}.damping", value=share * damping))
        drives.append(Adjustment(target=f"drives.{group}.armature", value=armature))
    settings = TwinSettings(
        robot="nao-v3",
        held=True,
        field="none",
        timestep=COMMAND_PERIOD / STEPS_PER_COMMAND,
        height=0.5,
        adjustments=tuple(drives),
    )
    return Twin(settings, _searched(), threads=threads)


def _searched() -> Mapping[str, Searched]:
    return {
        f"mass_{side}{part}": Searched(
            low=(1 - MASS_RANGE) * mass,
            high=(1 + MASS_RANGE) * mass,
            start=mass,
            unit="kg",
            sets=(f"mass.{side}{part}",),
        )
        for side in "RL"
        for part, mass in TABLE_MASSES.items()
    }


def walking_in_the_air(table: RobotTable, samples: int = 4024) -> Trial:
    """Five walks one after the other as one trial with `samples` commands."""
    model = assemble(SceneSettings(field="none", ball="none", robots=(Placement(robot="nao-v4"),), visuals=False))
    walker = model.robots[0]
    rows = math.ceil(samples / len(WALKS))
    legs = np.concatenate([_walk(walker, settings, rows) for settings in WALKS])[:samples]
    arms = [_upper_body(settings, rows) for settings in WALKS]
    commands = np.empty((samples, len(table.motors)))
    for column, motor in enumerate(table.motors):
        if motor in arms[0]:
            commands[:, column] = np.concatenate([part[motor] for part in arms])[:samples]
        else:  # a V4 has one motor for both HipYawPitch joints
            commands[:, column] = legs[:, walker.motors.index(motor.replace("RHipYaw", "LHipYaw"))]
    return Trial(name="walking in the air", period=COMMAND_PERIOD, commands=commands)


def _walk(table: RobotTable, settings: PreviewWalkSettings, rows: int) -> Floats:
    """Commands of one walk, (rows, motors); what is out of reach is done as nearly as the legs can."""
    walk = PreviewWalk(table, settings, duration=rows * COMMAND_PERIOD, clip=True)
    return np.stack([walk.angles(row * COMMAND_PERIOD) for row in range(rows)])


def _upper_body(settings: PreviewWalkSettings, rows: int) -> dict[str, Floats]:
    """Commands of arms and head during a walk, (rows,) by motor; they start and end at rest."""
    time = np.arange(rows) * COMMAND_PERIOD
    share = np.clip(np.minimum(time, rows * COMMAND_PERIOD - time), 0, 1)
    rise = share * share * (3 - 2 * share)
    phase = 2 * math.pi * time / max(0.8, settings.step_duration)
    found = {
        "HeadYaw": 0.6 * np.sin(2 * math.pi * time / 4) * rise,
        "HeadPitch": 0.2 * np.sin(2 * math.pi * time / 3) * rise,
    }
    for side, sign in (("L", 1.0), ("R", -1.0)):
        swing = sign * np.sin(phase) * rise
        found[f"{side}ShoulderPitch"] = 1.2 + 0.4 * swing
        found[f"{side}ShoulderRoll"] = sign * (0.65 + 0.2 * np.sin(phase + 1) * rise)
        found[f"{side}ElbowYaw"] = sign * (-1 + 0.3 * np.sin(phase / 2) * rise)
        found[f"{side}ElbowRoll"] = sign * (-0.6 + 0.3 * swing)
    return found


PAPER_SETUP = {"samples": 4024, "joints": 22, "period": 0.055, "steps": 7, "masses": 8, "range": 0.5, "population": 20}
"""Set-up of the paper, which draws its results (figures 5 to 7) but prints no numbers of them."""
ERROR_GOAL = 0.1
"""The median error of identifiable masses is to stay below this."""
PHI2_BINS = 32
RMS_WEIGHT = 2000.0
"""Weight of the mean RMS over the joints, as parts of their deviation: near the end about as much as phi2 itself."""
PHI2 = DistanceSettings(kind="phi2", bins=PHI2_BINS)
RMS = DistanceSettings(kind="rms", scale="deviation", weight=RMS_WEIGHT)
PHI2_AND_RMS = DistanceSettings(kind="combination", terms=(PHI2, RMS))
PAPER_SEARCH = GeneticSettings(population=20, step=0.2, cooling=0.92, crossover=0.5, elite=2)
"""Population and Gaussian mutation as in the paper; the rest, which it does not state, was tuned: steps shrink."""
OUR_SEARCH = CmaEsSettings(population=10, step=0.25)
SHOWN_JOINTS = ("RHipPitch", "LKneePitch", "RShoulderPitch")
"""Joints of figure 5."""
TRIED_BINS = (8, 16, 32, 64)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The effort of a fit."""

    samples: int
    generations: int
    pure: int
    """Generations of the paper's search, with pure phi2; 0 for none. After 60 its steps are a thousandth of a range."""
    newton: int = 4
    """Maximum number of Newton steps at the end."""


FULL = Scale(samples=4024, generations=24, pure=60)
QUICK = Scale(samples=1000, generations=24, pure=0)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means 1000 samples instead of 4024, without the paper's search."""

    seed: int = 0
    """Seed of the first hidden robot; the others follow."""
    seeds: int = 5
    """Number of hidden robots."""
    reality: Path | None = None
    """A TOML file with hidden masses, `values = { mass_LKneePitch = 0.5 }`; the others are drawn."""
    size: Scale | None = None
    """Other sizes than those of the quick and the full version."""

    @property
    def scale(self) -> Scale:
        """The effort of a fit."""
        return self.size or (QUICK if self.quick else FULL)


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Finds the masses of several hidden robots; draws figures 5 to 7 of each."""
    size, numbers = settings.scale, range(settings.seed, settings.seed + settings.seeds)
    decisive = {
        **vars(size),
        "period": COMMAND_PERIOD,
        "steps": STEPS_PER_COMMAND,
        "population": OUR_SEARCH.population,
        "bins": PHI2_BINS,
        "rms_weight": RMS_WEIGHT,
        "noise": vars(DISTURBANCE),
        "reality": settings.reality.read_text(encoding="utf-8") if settings.reality else "",
    }

    searches = experiment.search_folder(out, decisive)

    def one(number: int) -> dict[str, Any]:
        robot = _Robot(number, settings, searches / f"robot-{number}", say)
        return robot.fit_masses(out / f"robot-{number}", bins=number == settings.seed)

    runs = each_seed(out, numbers, decisive, one)
    answer = {"experiment": "btr-nao", "paper": PAPER_SETUP, **_summary(runs), "goal": ERROR_GOAL, "runs": runs}
    return {**answer, "settings": {**decisive, "seeds": list(numbers)}}


class _Robot:
    """One hidden robot; its searches are saved in a folder, and go on from there."""

    def __init__(self, seed: int, settings: Settings, folder: Path, say: experiment.Progress) -> None:
        self.seed, self.size, self.say, self._folder = seed, settings.scale, say, folder
        rng = np.random.default_rng([seed, 4024])
        self.twin = nao_twin(threads=settings.threads)
        self.space = self.twin.space
        self.hidden = hidden_values(self.space, rng, settings.reality)
        trial = walking_in_the_air(self.twin.table, self.size.samples)
        self.fit = hidden_fit(self.twin, self.hidden, [trial], DISTURBANCE, rng)

    def fit_masses(self, out: Path, *, bins: bool) -> dict[str, Any]:
        """Searches the masses and assesses them; draws figures, and compares numbers of bins if that is wanted."""
        began, size = time.perf_counter(), self.size
        ours = CmaEs(self.space, OUR_SEARCH, np.random.default_rng([self.seed, 8]))
        found = self._search(ours, PHI2_AND_RMS, size.generations, "phi2 + RMS")
        # Under noise the searcher's mean is a steadier answer than the best candidate.
        mean = self.space.checked(np.clip(found.mean, self.space.low, self.space.high))
        estimate, around = self._improved(mean)
        known = assess_identifiability(self.space, curvature=around)
        pure = None
        if size.pure:
            papers = Genetic(self.space, PAPER_SEARCH, np.random.default_rng([self.seed, 20]))
            pure = self._search(papers, PHI2, size.pure, "phi2 alone")
        self._draw(out, found, pure, estimate)
        compared = {"before": self.space.start, "after": estimate, "at_truth": self.hidden}
        if pure is not None:
            compared["paper"] = pure.mean
        phi2 = replace(self.fit, distance=PHI2)(np.stack(list(compared.values())))
        row = {
            "seed": self.seed,
            "phi2": dict(zip(compared, phi2.tolist(), strict=True)),
            "masses": self._rows(estimate, known, None if pure is None else pure.mean),
            "search_errors": (mean / self.hidden - 1).tolist(),
            "evaluations": found.evaluations + around.evaluations + (pure.evaluations if pure else 0),
            "bins": self._bins() if bins else None,
        }
        return {**row, "seconds": time.perf_counter() - began}

    def _improved(self, estimate: Floats) -> tuple[Floats, Curvature]:
        """The estimate after Newton steps on the RMS that make the searched distance smaller, and what is around it."""
        evaluations = 0
        for step in range(self.size.newton + 1):
            self.say(f"robot {self.seed}: which masses are determined, after {step} Newton steps")
            around = curvature(replace(self.fit, distance=RMS).residuals, self.space, estimate)
            evaluations += around.evaluations + 2
            there = self.space.values(np.clip(self.space.unit(estimate) + around.shift, 0.0, 1.0))
            now, then = replace(self.fit, distance=PHI2_AND_RMS)(np.stack([estimate, there]))
            if step == self.size.newton or not then < now:
                break
            estimate = there
        return estimate, replace(around, evaluations=evaluations)

    def _search(self, searcher: Searcher, distance: DistanceSettings, generations: int, name: str) -> SearchResult:
        return minimise(
            replace(self.fit, distance=distance),
            searcher,
            InThisThread(),
            budget=Budget(generations=generations),
            folder=self._folder / name.replace("+", "and").replace(" ", "-"),
            on_generation=lambda g: self.say(
                f"robot {self.seed}, {name}: generation {g.number + 1} of {generations}, {g.best.value:.2f}"
            ),
        )

    def _rows(self, estimate: Floats, known: Identifiability, pure: Floats | None) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "unit": "kg",
                "hidden": float(self.hidden[i]),
                "estimate": float(estimate[i]),
                "error": float(estimate[i] / self.hidden[i] - 1),
                "interval": list(known.interval(name)),
                "identifiable": known.identifiable(name),
                "reason": known.reason(name),
                "pure_phi2_error": None if pure is None else float(pure[i] / self.hidden[i] - 1),
            }
            for i, name in enumerate(self.space.names)
        ]

    def _bins(self) -> list[dict[str, float]]:
        """Minimum of phi2 along each mass when the others are right, for several numbers of bins."""
        offsets = np.linspace(-0.2, 0.2, 9)
        visible = [i for i, name in enumerate(self.space.names) if not name.endswith("HipRoll")]
        points = np.tile(self.hidden, (len(visible), len(offsets), 1))
        for place, i in enumerate(visible):
            points[place, :, i] *= 1 + offsets
        points = np.clip(points, self.space.low, self.space.high)
        seen = self.fit.behaviours(points.reshape(-1, self.space.size))[0]
        table = []
        for bins in TRIED_BINS:
            values = make_distance(DistanceSettings(kind="phi2", bins=bins)).per_trial(self.fit.measured[0].real, seen)
            curves = values.reshape(len(visible), -1)
            ends = [_lowest(offsets, curve) for curve in curves]
            table.append(
                {
                    "bins": bins,
                    "at_truth": float(curves[0, len(offsets) // 2]),
                    "rise_at_20_percent": float(np.median(curves[:, [0, -1]].mean(axis=1) - curves.min(axis=1))),
                    "median_offset_of_minimum": float(np.median(np.abs(ends))),
                }
            )
        return table

    def _draw(self, out: Path, found: SearchResult, pure: SearchResult | None, estimate: Floats) -> None:
        from nutmeg.view.reports.figures import plot_errors, plot_following, plot_parameters

        out.mkdir(parents=True, exist_ok=True)
        first = self.size.samples // 10
        candidates = np.stack([self.space.start, estimate])
        panels = followed(self.fit, candidates, SHOWN_JOINTS, slice(first, first + 120))
        plot_following(out / "figure-5.png", panels, period=COMMAND_PERIOD, begin=first * COMMAND_PERIOD)
        plot_parameters(out / "figure-6.png", found.history, self.space, self.hidden)
        plot_errors(out / "figure-7.png", found.history, label="phi2 + RMS [bit]")
        if pure is not None:
            plot_parameters(out / "figure-6-paper.png", pure.history, self.space, self.hidden)
            plot_errors(out / "figure-7-paper.png", pure.history, label="phi2 [bit]")


def _lowest(offsets: Floats, curve: Floats) -> float:
    """Minimum of the parabola through the lowest point and its neighbours."""
    middle = int(np.clip(curve.argmin(), 2, len(curve) - 3))
    near = slice(middle - 2, middle + 3)
    a, b, _ = np.polyfit(offsets[near], curve[near], 2)
    if a <= 0:
        return float(offsets[curve.argmin()])
    return float(np.clip(-b / (2 * a), offsets[0], offsets[-1]))


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over all robots."""
    masses = [mass for run in runs for mass in run["masses"]]
    seen = [m for m in masses if m["identifiable"]]
    error = float(np.median([abs(m["error"]) for m in seen])) if seen else None
    pure = [abs(m["pure_phi2_error"]) for m in seen if m["pure_phi2_error"] is not None]
    claims = [_error_claim("error of identifiable masses", [abs(m["error"]) for m in seen])] if seen else []
    if pure:
        falls = [run["phi2"]["paper"] / run["phi2"]["before"] for run in runs]
        claims += [
            _error_claim("the same, the paper's search", pure),
            experiment.Claim(
                what="the paper's search: phi2 over that before", ours=experiment.Estimate.of(falls), most=1.0
            ),
        ]
    by_part: dict[str, dict[str, Any]] = {}
    for part in dict.fromkeys(m["name"][6:] for m in masses):
        some = [m for m in masses if m["name"].endswith(part)]
        by_part[part] = {
            "median_error": float(np.median([abs(m["error"]) for m in some])),
            "worst_error": float(np.max([abs(m["error"]) for m in some])),
            "identifiable": f"{sum(m['identifiable'] for m in some)} of {len(some)}",
        }
    return {
        "median_error": error,
        "met": error is not None and error < ERROR_GOAL,
        "claims": [one.as_json() for one in claims],
        "identifiable": len(seen),
        "of": len(masses),
        "median_error_pure_phi2": float(np.median(pure)) if pure else None,
        "inside_interval": float(np.mean([m["interval"][0] <= m["hidden"] <= m["interval"][1] for m in seen]))
        if seen
        else None,
        "by_part": by_part,
    }


def _error_claim(what: str, errors: list[float]) -> experiment.Claim:
    return experiment.Claim(what=what, ours=experiment.Estimate.of(errors), most=ERROR_GOAL)


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Errors of the masses, by the part of the body."""
    columns = {
        "mass": experiment.text("part"),
        "median error": share("median_error"),
        "worst": share("worst_error"),
        "identifiable": experiment.text("identifiable"),
    }
    note = (
        f"median error of the {answer['identifiable']} identifiable masses of {answer['of']}: "
        f"{experiment.percent(answer['median_error'])} (goal: under {experiment.percent(answer['goal'], 0)}; met: "
        f"{experiment.yes_or_no(answer['met'])}); with phi2 alone "
        f"{experiment.percent(answer['median_error_pure_phi2'])}."
    )
    rows = ({"part": part, **row} for part, row in answer["by_part"].items())
    return experiment.ResultTable.of(rows, columns, note, *experiment.claim_notes(answer["claims"]))
