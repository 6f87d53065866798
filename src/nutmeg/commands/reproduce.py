"""Run an experiment of a paper again and put its numbers beside ours; figures and results.json go into a folder.

--list shows all experiments with their size, the time they take and their last verdict. Experiments of several seeds
keep each one's result: the same command continues an interrupted experiment. `all` runs one after another
and ends with an error if one breaks off, or misses a goal that is not listed as a known miss.

example: nutmeg reproduce --list
         nutmeg reproduce all --quick
         nutmeg reproduce btr-ant --quick
         nutmeg reproduce btr-ant --ways paper --seeds 5
         nutmeg reproduce naoisis
         nutmeg reproduce servo-xl330 --threads 2 --json
         nutmeg reproduce btr-nao --reality hidden.toml --seed 7 --seeds 1
         nutmeg reproduce openr-ball
         nutmeg reproduce openr-ball --client cpp
         nutmeg reproduce walk-table2 --quick --threads 2
         nutmeg reproduce walk-table3 --quick --threads 2
         nutmeg reproduce walk-learning --device gpu
         nutmeg reproduce motoflex-fit --scale long --device gpu
         nutmeg reproduce walk-learning --agents GoToTarget FaceForward --generations 50 --seeds 3
         nutmeg reproduce camera-localisation --quick
         nutmeg reproduce league-replay
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.text import Text

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.commands.options import Count, JsonOption, OptionalOutput, Seed, Threads, processors

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal

_ALL = "all"
"""Stands for all experiments, one after another."""


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg reproduce`."""

    experiment: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[EXPERIMENT]")] = ""
    """Name of the experiment, or all; --list shows the names."""
    list: bool = False
    """Show all experiments instead of running one."""
    output: OptionalOutput = None
    """Folder for figures and results; runs/EXPERIMENT by default."""
    quick: bool = False
    """A smaller version, at most two minutes of processor time."""
    reality: Path | None = None
    """A TOML file with other hidden values or recordings than the experiment's own."""
    seed: Seed | None = None
    """The first seed; the experiment's own if left out."""
    seeds: Count | None = None
    """How many seeds; the experiment's own number if left out (one with --quick)."""
    scale: str | None = None
    """btr-ant: quick, small, middle or paper; btr-efforts: several of these, such as "quick small"; motoflex-fit:
    these, evolution or long; walk-table3: quick, middle, full or paper (weeks)."""
    ways: tuple[str, ...] | None = None
    """btr-ant: the ways of learning, such as paper; all if left out. Its three controls are always run."""
    walks: Path | None = None
    """walk-table2, walk-table3, walk-robustness: a folder with walks (dynamic-rewards.toml, ...) to take instead of
    those that come with Nutmeg; walk-learning: one with learning runs (dynamic-rewards-1.toml, ...), which are measured
    instead of learned."""
    agents: tuple[str, ...] | None = None
    """walk-learning: the agents that are learned, such as GoToTarget; all if left out."""
    generations: Count | None = None
    """walk-learning, motoflex-fit: how many generations; the paper's 200, or those of the scale, if left out. More go
    on where fewer have ended."""
    device: Literal["cpu", "gpu"] | None = None
    """Where candidates are simulated. walk-learning: a GPU if left out, with --quick the processor; motoflex-fit: the
    processor if left out."""
    traces: Path | None = None
    """league-replay: a folder with recorded conversations (*.txt.gz) instead of those that come with Nutmeg."""
    client: Literal["python", "cpp"] | None = None
    """openr-ball: the program that moves the robot; python, or the example in clients/openr, which is compiled."""
    threads: Threads = 0
    """How many threads or processes simulate; 0 takes all processors; the result is the same."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Runs the experiment and prints its table, or lists all experiments."""
    if arguments.list:
        return _list(terminal)
    if not arguments.experiment:
        raise UsageError("which experiment? Name one; nutmeg reproduce --list shows all.")
    if arguments.experiment == _ALL:
        return _run_all(arguments, terminal)
    return _run_one(arguments.experiment, arguments.output or Path("runs") / arguments.experiment, arguments, terminal)


def _run_one(name: str, out: Path, arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Runs one experiment and prints its table."""
    from nutmeg.experiments.experiment import listed_experiments, load_experiment, perform

    listed = listed_experiments()
    if name not in listed:
        raise UnknownNameError("experiment", name, (_ALL, *listed))
    experiment = load_experiment(name)
    known = {field.name for field in dataclasses.fields(experiment.Settings)}
    settings = experiment.Settings(**_options(name, arguments, known))
    goals = listed[name].goal
    try:
        with terminal.busy(name) as status:
            answer = perform(experiment, out, settings, lambda text: status.update(Text(text)), goals)
    except KeyboardInterrupt:
        terminal.say(f"interrupted; seeds that were finished are kept in {out}. The same command goes on.")
        raise
    shown = experiment.table(answer)
    terminal.table("", shown.columns, shown.rows)
    for note in shown.notes:
        terminal.say(note)
    terminal.say(f"figures and results: {out}")
    return answer


def _run_all(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Runs all experiments, each in a folder of its own, and compares the goals they reach with those listed."""
    from nutmeg.experiments.experiment import listed_experiments

    if not arguments.quick:
        raise UsageError("all whole experiments would take days; say nutmeg reproduce all --quick, or name one.")
    folder = arguments.output or Path("runs") / "all"
    rows, wrong = [], {}
    for name, one in listed_experiments().items():
        terminal.progress_line(f"{name} ...")
        began = _processor_time()
        try:
            answer = _run_one(name, folder / name, arguments, terminal)
        except Exception as error:  # noqa: BLE001 (the others are to run all the same; the end of the run is an error)
            wrong[name] = [f"broke off: {type(error).__name__}: {error}"]
            met, others = "-", wrong[name]
        else:
            wrong[name] = one.missed(answer)
            met = f"{sum(bool(goal['met']) for goal in answer['goals'])} of {len(answer['goals'])}"
            others = [*wrong[name], *one.reached(answer)]
        rows.append((name, met, round(_processor_time() - began), "; ".join(others) or "as listed"))
    terminal.table("", ("experiment", "goals met", "processor time [s]", "beside the list"), rows)
    failed = sum(bool(found) for found in wrong.values())
    if failed:
        terminal.say(f"{failed} of {len(rows)} experiments miss goals that data/experiments.toml does not list.")
    return {"missed": wrong, "exit_code": 1 if failed else 0}


def _processor_time() -> float:
    """Processor time of this process and of those that it waited for [s]."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _list(terminal: Terminal) -> dict[str, Any]:
    """Prints all experiments with their size, time and last verdict."""
    from nutmeg.experiments.experiment import listed_experiments

    listed = listed_experiments()
    rows = [
        (
            name,
            one.paper,
            f"{one.about}; {one.size}",
            f"{one.quick_seconds:.0f} s",
            f"{one.full_minutes:.0f} min",
            "not run yet" if one.last is None else f"{one.last.verdict} ({one.last.scale}, {one.last.seeds})",
            "" if one.last is None else one.last.date,
        )
        for name, one in listed.items()
    ]
    terminal.table("", ("experiment", "paper", "what", "quick", "full", "last verdict", "date"), rows)
    terminal.say("times are processor time on one core; verdicts agree, differ or cannot tell by intervals of 90 %.")
    return {name: dataclasses.asdict(one) for name, one in listed.items()}


def _options(experiment: str, arguments: Arguments, known: set[str]) -> dict[str, Any]:
    """The settings of the experiment that options give; an option that the experiment does not have is an error."""
    given = {
        name: getattr(arguments, name)
        for name in (
            "reality",
            "seed",
            "seeds",
            "scale",
            "ways",
            "walks",
            "agents",
            "generations",
            "device",
            "traces",
            "client",
        )
    }
    given = {name: value for name, value in given.items() if value is not None}
    if arguments.quick and "seeds" in known:
        given.setdefault("seeds", 1)
    for name in given:
        if name not in known:
            raise UsageError(f"{experiment} has no --{name}; leave it out.")
    return {**given, "quick": arguments.quick, "threads": processors(arguments.threads)}
