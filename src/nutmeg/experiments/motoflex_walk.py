"""MoToFlex's two walks (seed 001, section 5) under ideal, servo and motoflex actuation.

Set-up 1, 200 mm/s with steps of 1 s: a real Nao's body rocks back and forth and it walks at 250 mm/s; the
paper's MoToFlex at 209 mm/s, its rigid simulation at 200 mm/s. Set-up 2, 50 mm/s with steps of 2 s: the real
and the MoToFlex robot fall sideways after the first steps, the rigid one does not; another reference ZMP cures it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nutmeg.experiments.experiment import (
    DEGREES,
    ExperimentSettings,
    Progress,
    ResultTable,
    decimal,
    silent,
    text,
)
from nutmeg.motion.preview_walk import MOTOFLEX_1, MOTOFLEX_2, WalkResult, compare_walk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nutmeg.motion.preview_walk import PreviewWalkSettings

PAPER_SPEEDS = {"ideal": 0.200, "motoflex": 0.209, "real robot": 0.250}
"""Speeds in the paper at 200 mm/s commanded [m/s]; `ideal` is its simulation without extensions."""
CURED_WALK = dataclasses.replace(MOTOFLEX_2, zmp_width=0.7)
"""Set-up 2 with the reference ZMP kept 30 % further inside."""
ACTUATIONS = ("ideal", "servo", "motoflex")


@dataclass(frozen=True)
class SetUp:
    """One walk of the experiment."""

    name: str
    settings: PreviewWalkSettings
    figure: str


SET_UPS = (
    SetUp("200 mm/s, 1 s", MOTOFLEX_1, "figure-3.png"),
    SetUp("50 mm/s, 2 s", MOTOFLEX_2, "figure-4.png"),
    SetUp("50 mm/s, 2 s, other ZMP", CURED_WALK, "figure-4-cured.png"),
)


Settings = ExperimentSettings


def run(out: Path, settings: Settings, say: Progress = silent) -> dict[str, Any]:
    """Runs all walks, 12 s instead of 20 s of each if quick; draws three figures."""
    from nutmeg.view.reports.figures import plot_walks

    seconds = 12.0 if settings.quick else 20.0
    rows = []
    for set_up in SET_UPS:
        results: list[WalkResult] = []
        for actuation in ACTUATIONS:
            say(f"{set_up.name}: {actuation}")
            results.append(compare_walk("nao-v6", set_up.settings, actuation, seconds=seconds))
        plot_walks(results, out / set_up.figure, commanded=set_up.settings.forward, title=set_up.name)
        rows += [{"set_up": set_up.name, **r.as_json(), "paper_speed": _paper(set_up, r)} for r in results]
    return {"walks": rows, "paper": PAPER_SPEEDS, "seconds": seconds, "timestep": 0.001, "robot": "nao-v6"}


def _paper(set_up: SetUp, result: WalkResult) -> float | None:
    return PAPER_SPEEDS.get(result.name) if set_up is SET_UPS[0] else None


def table(answer: Mapping[str, Any]) -> ResultTable:
    """Walks under each actuation beside the paper's speeds."""
    columns = {
        "set-up": text("set_up"),
        "actuation": text("actuation"),
        "speed [m/s]": decimal("speed"),
        "paper [m/s]": decimal("paper_speed"),
        "fell at [s]": decimal("fallen_at", 1),
        "pitch ± [deg]": decimal("pitch", 1, DEGREES),
        "at [Hz]": decimal("rhythm", 2),
        "roll ± [deg]": decimal("roll", 1, DEGREES),
    }
    note = f"the paper's real robot: {answer['paper']['real robot']:.3f} m/s."
    return ResultTable.of(answer["walks"], columns, note)
