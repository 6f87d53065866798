"""Back-to-Reality on the ant (seed 000, section 4.1), with the controls that the paper lacks, and our own way beside.

For each hidden reality the ant learns to walk four ways: by Back-to-Reality (13 iterations, 11 generations of 20
controllers and of 15 simulations, at most 180 trials in reality); by the same controller search on the true body; on
the body as drawn, without identification; and by 180 trials in reality alone. `ant_families` has the realities and
settings, `ant_lengths` our own way to the lengths. Everything can be interrupted and goes on where it stopped.

    answer = btr_ant(Path("runs/btr-ant"), quick=True, seed=1)
    answer["families"]["lengths"]["median_error"]
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nutmeg.reality.back_to_reality import BackToReality, Listeners
from nutmeg.reality.btr_record import BtrResult, Iteration
from nutmeg.reality.btr_settings import BtrSettings
from nutmeg.reproduce.ant_families import (
    FAMILIES,
    QUICK,
    AntReality,
    Effort,
    Family,
    btr_settings,
    in_reality_alone,
    on_true_body,
    read_reality,
    without_identification,
)
from nutmeg.reproduce.ant_lengths import FIT, LENGTHS, ant_lengths, summary
from nutmeg.reproduce.ant_table import NOTES, goal_table
from nutmeg.view.btr_plots import figure3

LAST = 5
"""Errors are averaged over so many last iterations, because estimates oscillate."""
PAPER = {"iterations": 13, "controllers": 11 * 20, "simulations": 11 * 15, "trials_in_reality": 180}
"""Section 4.1; evaluations of an iteration. The paper prints no errors: its figure 3 shows estimates about 1."""
Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What came of one reality."""

    family: str
    seed: int
    hidden: Mapping[str, float]
    errors: Mapping[str, float]
    """Relative error of each searched number, averaged over the last iterations."""
    speeds: Mapping[str, float]
    """In reality [m/s], of the controllers that were learned by each way."""
    trials: int
    """In reality, by Back-to-Reality."""
    evaluations: Mapping[str, int]
    cpu_seconds: float
    """Of Back-to-Reality alone, all threads together."""

    @property
    def length_errors(self) -> list[float]:
        """Of the lengths alone."""
        return [self.errors[name] for name in LENGTHS]

    def as_json(self) -> dict[str, Any]:
        """For results.json."""
        return dict(vars(self))


def btr_ant(
    out: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    seeds: int = 10,
    reality: Path | None = None,
    threads: int = 1,
    families: Sequence[Family] = FAMILIES,
    effort: Effort | None = None,
    bodies: int | None = None,
    on_progress: Progress = lambda _: None,
) -> dict[str, Any]:
    """Runs everything; writes figures and results.json.

    Args:
        out: folder for results, and for the runs, which are gone on with if they are there.
        quick: one reality of each family with less effort, and two bodies our own way.
        seed: the first.
        seeds: how many realities of each family.
        reality: a file with other hidden values, for every seed (`AntReality`).
        threads: that step the worlds.
        families: of realities.
        effort: of Back-to-Reality; the paper's (or that of `quick`) without it.
        bodies: how many are identified our own way; twice as many as seeds without it.
        on_progress: told what is being done.
    """
    out.mkdir(parents=True, exist_ok=True)
    other = read_reality(reality)
    count, work = (1, effort or QUICK) if quick else (seeds, effort or Effort())
    found: dict[str, list[Learned]] = {family.name: [] for family in families}
    for number in range(seed, seed + count):
        for family in families:
            found[family.name].append(_learned(out, family, other, work, seed=number, threads=threads, say=on_progress))
            _write(out, {"learned": [one.as_json() for rows in found.values() for one in rows], "complete": False})
    ours = ant_lengths(
        bodies=bodies or (2 if quick else 2 * count),
        seed=seed,
        threads=threads,
        hidden={name: value for name, value in other.hidden.items() if name in LENGTHS},
        adjustments=other.adjustments,
        fit=FIT,
        on_progress=on_progress,
    )
    answer: dict[str, Any] = {
        "families": {name: _summary(rows) for name, rows in found.items()},
        "our_way": {kind: summary(ours, kind) for kind in ("same", "other")},
        "paper": PAPER,
        "quick": quick,
        "seed": seed,
        "learned": [one.as_json() for rows in found.values() for one in rows],
        "bodies": [one.as_json() for one in ours],
        "complete": True,
    }
    answer |= {"table": goal_table(answer), "notes": NOTES}
    _write(out, answer)
    return answer


def _learned(
    out: Path, family: Family, other: AntReality, effort: Effort, *, seed: int, threads: int, say: Progress
) -> Learned:
    """One reality: every way of learning in it, and the figure."""
    drawn = family.draw(np.random.default_rng([seed, FAMILIES.index(family) if family in FAMILIES else 0]))
    hidden = {name: other.hidden.get(name, value) for name, value in drawn.items()}
    settings = btr_settings(family, hidden, other.adjustments, effort, seed=seed)
    ways = {
        "btr": settings,
        "true body": on_true_body(settings),
        "no identification": without_identification(settings),
        "reality alone": in_reality_alone(settings),
    }
    place = out / family.name / f"seed-{seed:02d}"
    results, cpu = {}, {}
    for way, one in ways.items():
        begun = time.process_time()
        label = f"{family.name}, seed {seed}, {way}"
        results[way] = _run(one, place / way.replace(" ", "-"), threads, label, say)
        cpu[way] = time.process_time() - begun
    (place / "figure-3.png").write_bytes(figure3(results["btr"], truth=hidden, fitness="speed [m/s]", phi="phi1 [m/s]"))
    return Learned(
        family=family.name,
        seed=seed,
        hidden=hidden,
        errors=averaged_errors(results["btr"], hidden),
        speeds={way: result.champion_fitness for way, result in results.items()},
        trials=results["btr"].trials,
        evaluations=dict(results["btr"].evaluations),
        cpu_seconds=_cpu(place / "btr", cpu["btr"]),
    )


def _run(settings: BtrSettings, folder: Path, threads: int, label: str, say: Progress) -> BtrResult:
    def told(iteration: Iteration) -> None:
        say(f"{label}: iteration {iteration.number + 1}, {iteration.fitness:.3f} m/s in simulation")

    say(f"{label}: begins")
    listeners = Listeners(on_iteration=told)
    return BackToReality(settings, folder=folder, threads=threads, listeners=listeners).run()


def averaged_errors(result: BtrResult, hidden: Mapping[str, float], last: int = LAST) -> dict[str, float]:
    """Relative error of each searched number, averaged over the last iterations that searched simulations."""
    searched = [one for one in result.iterations if one.simulations is not None][-last:]
    truth = np.array([hidden[name] for name in result.simulations.names])
    errors = np.mean([np.abs(one.simulation / truth - 1) for one in searched], axis=0)
    return result.simulations.named(errors)


def _cpu(folder: Path, seconds: float) -> float:
    """CPU time of a run over all its sessions; a run that was only read again has its old one."""
    file = folder / "cpu_seconds.json"
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else 0.0
    total = max(float(before), seconds)
    file.write_text(json.dumps(total) + "\n", encoding="utf-8")
    return total


def _summary(rows: Sequence[Learned]) -> dict[str, Any]:
    """Medians over the realities of a family."""
    errors = np.array([row.length_errors for row in rows])
    speeds = {way: np.array([row.speeds[way] for row in rows]) for way in rows[0].speeds}
    ratio = {way: speeds["btr"] / speeds[way] for way in ("true body", "reality alone")}
    control = speeds["no identification"] / speeds["true body"]
    return {
        "realities": len(rows),
        "median_error": float(np.median(errors)),
        "error_by_number": {name: float(np.median([row.errors[name] for row in rows])) for name in rows[0].errors},
        "speed": {way: float(np.median(values)) for way, values in speeds.items()},
        "of_true_body": float(np.median(ratio["true body"])),
        "of_reality_alone": float(np.median(ratio["reality alone"])),
        "control_of_true_body": float(np.median(control)),
        "trials_in_reality": max(row.trials for row in rows),
        "cpu_seconds": float(np.median([row.cpu_seconds for row in rows])),
    }


def _write(out: Path, answer: Mapping[str, Any]) -> None:
    (out / "results.json").write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
