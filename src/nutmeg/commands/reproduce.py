"""Run an experiment of a paper again and put its numbers beside ours; figures and results.json go into a folder.

Experiments of several seeds keep each one's result: an interrupted experiment goes on when the same command is given.

example: nutmeg reproduce btr-ant --quick
         nutmeg reproduce servo-xl330 --threads 2 --json
         nutmeg reproduce btr-nao --reality hidden.toml --seed 7 --seeds 1
         nutmeg reproduce openr-ball
         nutmeg reproduce openr-ball --client cpp
         nutmeg reproduce walk-table2 --quick --threads 2
         nutmeg reproduce walk-table3 --quick --threads 2
         nutmeg reproduce camera-localisation --quick
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro
from rich.text import Text

from nutmeg.base.errors import UsageError
from nutmeg.commands.options import Count, JsonOption, OptionalOutput, Seed

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal

Experiment = Literal[
    "motoflex-walk",
    "btr-ant",
    "btr-nao",
    "motoflex-fit",
    "openr-ball",
    "servo-xl330",
    "simspark",
    "walk-table2",
    "walk-table3",
    "walk-robustness",
    "behaviour-predicts",
    "camera-localisation",
]
FUNCTIONS: dict[str, str] = {
    "motoflex-walk": "motoflex_walk.motoflex_walk",
    "btr-ant": "btr_ant.btr_ant",
    "btr-nao": "btr_nao.btr_nao",
    "motoflex-fit": "motoflex_fit.motoflex_fit",
    "openr-ball": "openr_ball.openr_ball",
    "servo-xl330": "servo_xl330.servo_xl330",
    "simspark": "simspark_reality.simspark_reality",
    "walk-table2": "walk_table2.walk_table2",
    "walk-table3": "walk_table3.walk_table3",
    "walk-robustness": "walk_robustness.walk_robustness",
    "behaviour-predicts": "behaviour_predicts.behaviour_predicts",
    "camera-localisation": "camera_localisation.camera_localisation",
}
"""Module and function of each experiment."""


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg reproduce`."""

    experiment: tyro.conf.Positional[Experiment]
    """Which experiment."""
    output: OptionalOutput = None
    """Folder for figures and results; runs/EXPERIMENT by default."""
    quick: bool = False
    """A smaller version, about a minute on two cores."""
    reality: Path | None = None
    """A TOML file with other hidden values or recordings than the experiment's own."""
    seed: Seed | None = None
    """The first seed; the experiment's own if left out."""
    seeds: Count | None = None
    """How many seeds; the experiment's own number if left out (one with --quick)."""
    scale: str | None = None
    """motoflex-fit: quick, middle or paper (days of computing); walk-table3: quick, middle, full or paper (weeks)."""
    walks: Path | None = None
    """walk-table2, walk-table3, walk-robustness: a folder with walks (dynamic-rewards.toml, ...) to take instead of
    those that come with Nutmeg."""
    client: Literal["python", "cpp"] | None = None
    """openr-ball: the program that moves the robot; python, or the example in clients/openr, which is compiled."""
    threads: Count = 1
    """How many threads or processes simulate; the result is the same."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Runs the experiment and prints its table."""
    from nutmeg.experiments.experiment import TABLES

    out = arguments.output or Path("runs") / arguments.experiment
    module, name = FUNCTIONS[arguments.experiment].split(".")
    function = getattr(importlib.import_module(f"nutmeg.experiments.{module}"), name)
    options = _options(arguments, function)
    try:
        with terminal.busy(arguments.experiment) as status:
            answer: dict[str, Any] = function(
                out, quick=arguments.quick, on_progress=lambda text: status.update(Text(text)), **options
            )
    except KeyboardInterrupt:
        terminal.say(f"interrupted; seeds that were finished are kept in {out}. The same command goes on.")
        raise
    shown = TABLES[arguments.experiment](answer)
    terminal.table("", shown.columns, shown.rows)
    for note in shown.notes:
        terminal.say(note)
    terminal.say(f"figures and results: {out}")
    return answer


def _options(arguments: Arguments, function: Any) -> dict[str, Any]:  # noqa: ANN401
    """Those of the options that the experiment has; others that were given are an error."""
    known = inspect.signature(function).parameters
    given = {name: getattr(arguments, name) for name in ("reality", "seed", "seeds", "scale", "walks", "client")}
    given = {name: value for name, value in given.items() if value is not None}
    if arguments.quick and "seeds" in known:
        given.setdefault("seeds", 1)
    for name in given:
        if name not in known:
            raise UsageError(f"{arguments.experiment} has no --{name}; leave it out.")
    return {**given, **({"threads": arguments.threads} if "threads" in known else {})}
