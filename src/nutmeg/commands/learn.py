"""Learn a walk: CMA-ES on a task, from a walk that exists, on all processors or a cluster.

Tasks: go-to-target, sprint, sprint-alone, drive-ball, static-rewards, dynamic-rewards, dynamic-avg-rewards,
face-forward. Writes a folder with params.toml (for `nutmeg walk --params`), results.json and report.html. Ctrl-C saves;
the same command with the same --output goes on and ends with the same numbers, and more --generations go further.

example: nutmeg learn --task go-to-target --robot nao-spark
         nutmeg learn --task dynamic-rewards --parameters extended --population 40 --generations 100 --threads 2
         nutmeg learn config.toml --cluster tcp://127.0.0.1:8786
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from nutmeg.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nutmeg.learning.learn import LearnedWalk, LearnGeneration, WalkLearning
    from nutmeg.learning.learn_settings import LearnSettings
    from nutmeg.learning.measure import WalkMeasurement
    from nutmeg.runs import Run
    from nutmeg.search.evaluation import Evaluator
    from nutmeg.terminal import Terminal

CHANGED = (
    "task",
    "robot",
    "start",
    "course",
    "parameters",
    "starts",
    "population",
    "generations",
    "step",
    "seed",
    "name",
)
"""Options that stand for the settings of the same name."""
AT_ONCE = 8
"""Candidates that one process simulates together."""


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Options of `nutmeg learn`; what is left out is the configuration's, or its default."""

    config: tyro.conf.Positional[Path | None] = None
    """A TOML file with the settings; none is needed."""
    task: str | None = None
    """What to learn for."""
    robot: str | None = None
    """Which robot."""
    start: str | None = None
    """The walk to begin with: a name, a file, or the folder of a run."""
    course: str | None = None
    """Another course than the task's own: go-to-target, holonomic, sprint, or a file."""
    parameters: Literal["searched", "extended"] | None = None
    """The paper's fourteen, or those with the gyro's feedback and more."""
    starts: int | None = None
    """From how many noisy starts each candidate is tried."""
    population: int | None = None
    """Candidates a generation."""
    generations: int | None = None
    """How many."""
    step: float | None = None
    """The first standard deviation, as a share of the ranges."""
    seed: int | None = None
    """Of everything random."""
    name: str | None = None
    """What the learned walk is called."""
    threads: int = 1
    """How many processors simulate; the result is the same."""
    cluster: str = ""
    """Address of a Dask scheduler, tcp://host:port, whose workers simulate; the result is the same."""
    trials: int = 20
    """From how many starts the learned walk is measured in the end."""
    output: Path | None = None
    """Folder of the run; runs/learn-TASK-SEED if left out."""
    json: bool = False
    """Print one JSON object as the last line."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Learns, or goes on with it."""
    from nutmeg.learning.learn import WalkLearning
    from nutmeg.runs import open_run

    if arguments.threads < 1:
        raise UsageError(f"--threads is {arguments.threads}; allowed is 1 or more.")
    settings = _settings(arguments)
    learning = WalkLearning(settings)
    folder = arguments.output or Path("runs") / f"learn-{settings.task}-{settings.seed}"
    with open_run(
        folder,
        command=_command(arguments, folder),
        seed=settings.seed,
        configuration=_described(settings, learning),
        copy=arguments.config,
    ) as opened:
        if opened.resumed:
            terminal.say(f"going on in {folder}.")
        try:
            return _learn(learning, opened, arguments, terminal)
        except KeyboardInterrupt:
            terminal.say(f"interrupted; every finished generation is saved. To go on:\n  {opened.resume_command}")
            raise


def _settings(arguments: Arguments) -> LearnSettings:
    from nutmeg.learning.learn_settings import LearnSettings, read_learn

    settings = LearnSettings() if arguments.config is None else read_learn(arguments.config)
    given = {name: value for name in CHANGED if (value := getattr(arguments, name)) is not None}
    try:
        return dataclasses.replace(settings, **given)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _described(settings: LearnSettings, learning: WalkLearning) -> dict[str, object]:
    """What decides the result: the settings but for the budget, the start's numbers and the course's."""
    from nutmeg.learning.course import read_course

    table = dataclasses.asdict(settings)
    for key in ("generations", "seed", "judged_starts", "name"):
        del table[key]
    course = dataclasses.asdict(read_course(learning.task.course)) if learning.task.course else {}
    sets = {name: dataclasses.asdict(one) for name, one in learning.before.sets.items()}
    return {**table, "course_content": course, "start_content": sets}


def _command(arguments: Arguments, folder: Path) -> list[str]:
    """The command that makes this run again."""
    words = ["nutmeg", "learn", *([str(arguments.config)] if arguments.config else [])]
    for name in (*CHANGED, "threads", "cluster", "trials"):
        value = getattr(arguments, name)
        if value not in (None, "") and (name, value) not in (("threads", 1), ("trials", 20)):
            words += [f"--{name}", str(value)]
    return [*words, "--output", str(folder), *(["--json"] if arguments.json else [])]


def _learn(learning: WalkLearning, opened: Run, arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    began = time.monotonic()
    evaluator, workers = _evaluator(learning, arguments, terminal)
    try:
        learned = _searched(learning, evaluator, opened, terminal)
    finally:
        evaluator.close()
    from nutmeg.learning.measure import measure_walk

    with terminal.console.status("measuring the learned walk"):
        measured = {
            name: measure_walk(
                one, trials=arguments.trials, seed=learning.settings.seed, actuation=learning.settings.actuation
            )
            for name, one in (("before", learned.before), ("learned", learned.walk))
        }
    seconds = round(opened.seconds_before + time.monotonic() - began, 3)
    result = _result(learned, measured, seconds)
    _write(learned, learning, measured, opened, result, workers)
    _show(learned, measured, terminal)
    terminal.say(f"wrote params.toml, results.json and report.html to {opened.folder}.")
    terminal.say(f"watch it:  nutmeg walk {learned.walk.robot} --params {opened.folder} --command 0.3,0,0")
    return result


def _evaluator(learning: WalkLearning, arguments: Arguments, terminal: Terminal) -> tuple[Evaluator, str]:
    """Where candidates are simulated, and that in words."""
    from nutmeg.search.evaluation import InThisThread
    from nutmeg.search.processes import Processes

    parts, size = len(learning.task.parts), learning.settings.population
    if arguments.cluster:
        from nutmeg.search.cluster import OnCluster

        return OnCluster(arguments.cluster, piece=2 * parts, notice=terminal.warn), f"Dask at {arguments.cluster}"
    if arguments.threads > 1:
        each = min(AT_ONCE, math.ceil(size / arguments.threads))
        return Processes(arguments.threads, piece=parts * each), f"{arguments.threads} processes"
    return InThisThread(piece=parts * AT_ONCE), "1 process"


def _searched(learning: WalkLearning, evaluator: Evaluator, opened: Run, terminal: Terminal) -> LearnedWalk:
    """The search, with a bar that shows how fit the fittest is."""
    size, most = learning.settings.population, learning.settings.generations
    with terminal.progress() as bar:
        task = bar.add_task("simulating", total=size * most)
        done = 0

        def after(generation: LearnGeneration) -> None:
            nonlocal done
            done = size * (generation.number + 1)
            said = f"generation {generation.number + 1}, fitness {generation.best:.3g}"
            bar.update(task, completed=done, description=said)

        return learning.run(
            evaluator,
            folder=opened.folder / "search",
            on_generation=after,
            progress=lambda part, _: bar.update(task, completed=done + part),
            command=opened.resume_command,
        )


def _result(learned: LearnedWalk, measured: dict[str, WalkMeasurement], seconds: float) -> dict[str, Any]:
    walk = learned.walk
    return {
        "task": walk.origin.task,
        "robot": walk.robot,
        "fitness": learned.fitness,
        "fitness_before": learned.fitness_before,
        "parts": dict(zip(learned.part_names, learned.parts.tolist(), strict=True)),
        "speeds": measured["learned"].as_json()["speeds"],
        "generations": walk.origin.generations,
        "evaluations": walk.origin.evaluations,
        "failures": learned.search.failures,
        "seconds": seconds,
        "seed": walk.origin.seed,
    }


def _write(
    learned: LearnedWalk,
    learning: WalkLearning,
    measured: dict[str, WalkMeasurement],
    opened: Run,
    result: dict[str, Any],
    workers: str,
) -> None:
    from nutmeg.learning.walks import walk_text
    from nutmeg.view.fit_report import write_report
    from nutmeg.view.learn_report import learn_report

    opened.write("params.toml", walk_text(learned.walk))
    details = {
        **result,
        "reason": learned.search.reason,
        "measured": {name: one.as_json() for name, one in measured.items()},
        "history": [dataclasses.asdict(one) for one in learned.generations],
    }
    opened.write("results.json", json.dumps(details, indent=1) + "\n")
    report = learn_report(
        learned,
        learning,
        measured,
        _paths(learned, learning),
        command=opened.resume_command,
        seconds=float(result["seconds"]),
        workers=workers,
    )
    write_report(opened.folder / "report.html", report)


def _paths(learned: LearnedWalk, learning: WalkLearning) -> dict[str, NDArray[np.float64]]:
    """The way of the learned walk on each trajectory of its course, from one start."""
    import numpy

    from nutmeg.learning.course import read_course
    from nutmeg.learning.course_run import run_bouts
    from nutmeg.learning.tasks import course_bouts

    if not learning.task.course:
        return {}
    course = read_course(learning.task.course)
    rng = numpy.random.default_rng(learning.settings.seed)
    bouts = course_bouts(course, [learned.walk], [rng], 1)
    walked = run_bouts(learned.walk.robot, bouts, actuation=learning.settings.actuation, paths=True)
    assert walked.paths is not None
    return {one.name: walked.paths[:, row] for row, one in enumerate(course.trajectory)}


def _show(learned: LearnedWalk, measured: dict[str, WalkMeasurement], terminal: Terminal) -> None:
    from nutmeg.commands.walk_learned import show_measurement

    rows = list(zip(learned.part_names, learned.parts_before.tolist(), learned.parts.tolist(), strict=True))
    rows.append(("fitness", learned.fitness_before, learned.fitness))
    terminal.table("what it is worth", ("", "before", "learned"), rows)
    show_measurement(measured["learned"], terminal)
