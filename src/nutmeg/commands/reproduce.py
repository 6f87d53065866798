"""Run an experiment of a paper again and put its numbers beside ours; figures and results.json go into a folder.

example: nutmeg reproduce motoflex-walk
         nutmeg reproduce motoflex-walk --quick --json
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

if TYPE_CHECKING:
    from nutmeg.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Options of `nutmeg reproduce`."""

    experiment: tyro.conf.Positional[Literal["motoflex-walk"]]
    """Which experiment."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """Folder for figures and results; runs/EXPERIMENT by default."""
    quick: bool = False
    """A shorter version, about a minute."""
    json: bool = False
    """Print one JSON object as the last line."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Runs the experiment and prints its table."""
    from nutmeg.reproduce.motoflex_walk import motoflex_walk

    out = arguments.output or Path("runs") / arguments.experiment
    with terminal.console.status("walking") as status:
        answer = motoflex_walk(out, quick=arguments.quick, on_progress=status.update)
    columns = (
        "set-up",
        "actuation",
        "speed [m/s]",
        "paper [m/s]",
        "fell at [s]",
        "pitch ± [deg]",
        "at [Hz]",
        "roll ± [deg]",
    )
    terminal.table("", columns, [_cells(row) for row in answer["walks"]])
    terminal.say(f"the paper's real robot: {answer['paper']['real robot']:.3f} m/s. Figures and results: {out}")
    return answer


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    def shown(value: float | None, digits: int, scale: float = 1.0) -> str:
        return "-" if value is None else f"{value * scale:.{digits}f}"

    degrees = 180 / math.pi
    return (
        row["set_up"],
        row["actuation"],
        shown(row["speed"], 3),
        shown(row["paper_speed"], 3),
        shown(row["fallen_at"], 1),
        shown(row["pitch"], 1, degrees),
        shown(row["rhythm"], 2),
        shown(row["roll"], 1, degrees),
    )
