"""The walk engine of MacAlpine and others (2012) with its equations as they are printed, one by one and all together.

    answer = run(Path("runs/walk-printed"), Settings(threads=2))
    answer["rows"]["side"]["speeds"]["sideways"]        # mean, se, falls, trials

Five equations of section 3 were mended (`motion.walk.settings.PRINTED_EQUATIONS`). This experiment walks with each of
them as printed, from the walk `initial`, and measures speeds over ten seconds as `walk-table2` does. It shows which
misprints matter: the paper's own program must have had other equations where the printed ones do not walk. A last row
is the mended walk with the real centre of mass where otherwise the torso's origin stands for it (`sense_mass`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nutmeg.base.journal import each_seed
from nutmeg.experiments import experiment
from nutmeg.learning.courses import DIRECTIONS
from nutmeg.learning.measure import walk_speeds
from nutmeg.motion.walk.files import WalkParameters, read_walk
from nutmeg.motion.walk.settings import PRINTED_EQUATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_MENDED, ALL, MASS = "mended", "all", "centre of mass"
STARTS = 20
MIN_SPEED = 0.1
"""Smallest speed of the corrected walk in every direction [m/s]."""


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means two starts instead of 20."""

    seed: int = 2001
    """Seed of the starts."""


def _printed_walks() -> dict[str, WalkParameters]:
    """The walk `initial` with mended equations, with each of the printed ones, with all, and sensing its real mass."""
    chosen = {_MENDED: 0, **PRINTED_EQUATIONS, ALL: sum(PRINTED_EQUATIONS.values())}
    start = read_walk("initial")
    walks = {name: start.with_set("walk", {"as_printed": float(equations)}) for name, equations in chosen.items()}
    return {**walks, MASS: start.with_set("walk", {"sense_mass": 1.0})}


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Measures the walks."""
    starts = 2 if settings.quick else STARTS
    rows = {}
    for name, walk in _printed_walks().items():

        def one(seed: int, walk: WalkParameters = walk) -> dict[str, Any]:
            speeds = walk_speeds(walk, trials=starts, seed=seed, threads=settings.threads)
            return {way: found.as_json() for way, found in speeds.items()}

        say(f"as printed: {name}")
        speeds = each_seed(out / name, [settings.seed], {"starts": starts, "walk": name}, one)[0]
        rows[name] = {"speeds": speeds, "falls": sum(found["falls"] for found in speeds.values())}
    mended = rows[_MENDED]
    slowest = min(mended["speeds"][way]["mean"] for way in DIRECTIONS)
    goals = [
        experiment.Goal(what="mended equations: slowest direction", found=slowest, limit=MIN_SPEED, unit=" m/s"),
        experiment.Goal(what="mended equations: falls", found=mended["falls"], limit=0.0, most=True),
    ]
    return {
        "experiment": "walk-printed",
        "rows": rows,
        "goals": [goal.as_json() for goal in goals],
        "settings": {"starts": starts, "seed": settings.seed},
    }


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Speeds and falls with each printed equation."""

    def speed(way: str) -> experiment.Cell:
        return lambda row: f"{row['speeds'][way]['mean']:.3f} ±{row['speeds'][way]['se']:.3f}"

    columns = {
        "as printed": experiment.text("name"),
        **{way: speed(way) for way in (*DIRECTIONS, "turn")},
        "falls": lambda row: "+".join(str(row["speeds"][way]["falls"]) for way in (*DIRECTIONS, "turn")),
    }
    settings = answer["settings"]
    return experiment.ResultTable.of(
        ({"name": name, **row} for name, row in answer["rows"].items()),
        columns,
        f"m/s, turning rad/s, over 10 s from standing; falls in each of the four, of {settings['starts']} starts each "
        f"(seed {settings['seed']}).",
        *experiment.goal_notes(answer["goals"]),
    )
