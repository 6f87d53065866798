"""Learn a walk: CMA-ES on a task, from a walk that exists, on all processors (or --threads of them) or a cluster.

Tasks: go-to-target, go-to-target-hold, sprint, sprint-alone, drive-ball, static-rewards, dynamic-rewards,
dynamic-avg-rewards, face-forward; trot for AIBOs. Writes a folder with params.toml (for `nutmeg walk --params`),
results.json, report.html and best.mp4, a video of the learned walk. Ctrl-C saves; the same command with the same
--output goes on and ends with the same numbers, and more --generations go further.

example: nutmeg learn --task go-to-target --robot nao-spark
         nutmeg learn --task dynamic-rewards --parameters extended --population 40 --generations 100 --threads 2
         nutmeg learn --robot nao-v6 --body runs/identify-1/params.toml --randomise
         nutmeg learn --task trot --robot ers7 --population 16 --generations 40
         nutmeg learn config.toml --cluster tcp://127.0.0.1:8786
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from nutmeg.base.errors import UsageError
from nutmeg.base.journal import command_line, open_run
from nutmeg.base.settings import Bounds
from nutmeg.commands.options import JsonOption, OptionalOutput, Seed, WorkerOptions, drawn

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.base.journal import Run
    from nutmeg.learning.learn import LearnedWalk, LearnGeneration, LearnSettings, WalkLearning
    from nutmeg.learning.measure import WalkMeasurement
    from nutmeg.search.evaluation import Evaluator
    from nutmeg.view.terminal import Terminal

_MAX_TRIALS = 1000  # starts from which the learned walk is measured, at most
AT_ONCE = 8  # candidates that one process simulates together
_REPORT_PERIOD = 10.0  # least age of the report of a running search before it is written again [s]


@dataclass(frozen=True, kw_only=True)
class Arguments(WorkerOptions, JsonOption):
    """Options of `nutmeg learn`; for an option that is left out, the configuration counts before the default."""

    config: Annotated[tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="[CONFIG.toml]")] = None
    """A TOML file with the settings; none is needed."""
    task: str | None = None
    """The task to learn; go-to-target if left out."""
    robot: str | None = None
    """Which robot; nao-spark if left out."""
    actuation: str | None = None
    """Actuation of the joints: ideal, servo, motoflex, or another of the robot's; ideal if left out."""
    start: str | None = None
    """The walk to begin with: a name, a file, or the folder of a run; the task's own if left out."""
    course: str | None = None
    """Another course than the task's own: go-to-target, holonomic, sprint, or a file."""
    parameters: Literal["searched", "extended"] | None = None
    """Which parameters are searched: the paper's fourteen (searched), or also those of the gyro's feedback and more
    (extended); of a trot, the twelve of going ahead, or all. If left out, searched."""
    starts: int | None = None
    """Number of noisy starts of each candidate; 3 if left out."""
    caution: float | None = None
    """How many times as much stops and falls cost as in the paper; 1.0 if left out."""
    population: int | None = None
    """Candidates in a generation; 40 if left out."""
    generations: int | None = None
    """How many generations; 100 if left out."""
    step: float | None = None
    """The first standard deviation, as a share of the ranges; 0.12 if left out."""
    seed: Seed | None = None
    """Seed of everything random; 1 if left out."""
    name: str | None = None
    """Name of the learned walk; that of the task if left out."""
    device: Literal["cpu", "gpu"] | None = None
    """Where candidates walk; gpu needs a CUDA device and `pip install 'nutmeg-sim[gpu]'`. If left out, cpu."""
    body: str | None = None
    """File of `nutmeg identify` (params.toml): the body that walks."""
    randomise: bool = False
    """Walk with bodies drawn from the joint distribution of the estimates in that file."""
    spread: Literal["estimate", "ranges"] | None = None
    """With --randomise: draw from the estimates' distribution, or uniformly from the searched ranges."""
    bodies: int | None = None
    """With --randomise: number of bodies, 8 if left out; every candidate walks with each."""
    trials: Annotated[int, Bounds(1, _MAX_TRIALS)] = 20
    """Number of starts from which the learned walk is measured in the end."""
    output: OptionalOutput = None
    """Folder of the run; runs/learn-TASK-SEED if left out."""
    video: bool = True
    """Whether to film the learned walk in the end, which takes about a minute without a graphics card."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Learns, or continues an interrupted run."""
    from nutmeg.learning.learn import WalkLearning

    settings = _settings(arguments)
    learning = WalkLearning(settings)
    folder = arguments.output or Path("runs") / f"learn-{settings.task}-{settings.seed}"
    with open_run(
        folder,
        say=terminal.say,
        saved="finished generation",
        command=command_line("learn", dataclasses.replace(arguments, output=folder)),
        seed=settings.seed,
        configuration=_described(settings, learning),
        copy=arguments.config,
    ) as opened:
        return _learn(learning, opened, arguments, terminal)


def _settings(arguments: Arguments) -> LearnSettings:
    from nutmeg.learning.learn import LearnSettings, read_learn
    from nutmeg.model.identified import read_body

    settings = LearnSettings() if arguments.config is None else read_learn(arguments.config)
    asked = {field.name: getattr(arguments, field.name, None) for field in dataclasses.fields(settings)}
    given = {name: value for name, value in asked.items() if value is not None and value is not False}
    if arguments.body is not None and arguments.actuation is None:
        given["actuation"] = read_body(Path(arguments.body)).actuation or settings.actuation
    try:
        return dataclasses.replace(settings, **given)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _described(settings: LearnSettings, learning: WalkLearning) -> dict[str, object]:
    """What determines the result: the settings but for the budget, the start's numbers and the course's."""
    from nutmeg.learning.courses import read_course

    table = dataclasses.asdict(settings)
    for key in ("generations", "seed", "judged_starts", "name"):
        del table[key]
    for key in ("body", "randomise", "spread", "bodies"):
        del table[key]
    if settings.body:  # the content of the file, independently of its name
        table["bodies"] = [dataclasses.asdict(one) for one in learning.trials.bodies]
    course = dataclasses.asdict(read_course(learning.task.course)) if learning.task.course else {}
    return {**table, "course_content": course, "start_content": learning.before.as_tables()}


def _learn(learning: WalkLearning, opened: Run, arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    began = time.monotonic()
    evaluator, workers = _evaluator(learning, arguments, terminal)
    try:
        learned = _searched(learning, evaluator, opened, terminal)
    finally:
        evaluator.close()
    from nutmeg.commands.walk_film import film_walk
    from nutmeg.learning.measure import measure_walk
    from nutmeg.motion.walk.files import walk_text
    from nutmeg.view.reports.fit import write_report
    from nutmeg.view.reports.learn import learn_report

    with terminal.busy("measuring the learned walk"):
        measured = {
            name: measure_walk(
                one,
                trials=arguments.trials,
                seed=learning.settings.seed,
                actuation=learning.settings.actuation,
                body=dataclasses.replace(learning.settings, randomise=False).variants()[0],
            )
            for name, one in (("before", learned.before), ("learned", learned.walk))
        }
    result = _result(learned, measured, round(opened.seconds_before + time.monotonic() - began, 3))
    opened.write("params.toml", walk_text(learned.walk))
    details = {
        **result,
        "reason": learned.search.reason,
        "measured": {name: one.as_json() for name, one in measured.items()},
        "history": [dataclasses.asdict(one) for one in learned.generations],
    }
    opened.write("results.json", json.dumps(details, indent=1) + "\n")
    film = opened.folder / "best.mp4"
    if arguments.video:
        filmed = partial(film_walk, learned.walk, film, actuation=learning.settings.actuation)
        result["video"] = None if drawn(terminal, "video", filmed) is None else str(film)
    report = learn_report(
        learned,
        learning,
        measured,
        _paths(learned, learning),
        command=opened.resume_command,
        seconds=float(result["seconds"]),
        workers=workers,
        video=film.name if result.get("video") else "",
    )
    write_report(opened.folder / "report.html", report)
    _show(learned, measured, terminal)
    films = " and best.mp4" if result.get("video") else ""
    terminal.say(f"wrote params.toml, results.json, report.html{films} to {opened.folder}.")
    terminal.say(f"watch it:  nutmeg walk {learned.walk.robot} --params {opened.folder} --command 0.3,0,0")
    return result


def _evaluator(learning: WalkLearning, arguments: Arguments, terminal: Terminal) -> tuple[Evaluator, str]:
    """Where candidates are simulated, and that in words."""
    from nutmeg.commands.options import chosen_evaluator
    from nutmeg.search.evaluation import Share

    parts, gpu = len(learning.task.parts), learning.settings.device == "gpu"
    if gpu and (arguments.threads > 1 or arguments.cluster):
        raise UsageError("a GPU walks all candidates itself: leave --threads and --cluster out, or take --device cpu.")
    piece = Share(unit=parts, most=None if gpu else parts * AT_ONCE)
    return chosen_evaluator(
        threads=arguments.threads, cluster=arguments.cluster, warn=terminal.warn, piece=piece, locked=True
    )


def _searched(learning: WalkLearning, evaluator: Evaluator, opened: Run, terminal: Terminal) -> LearnedWalk:
    """The search, with a bar that shows how fit the fittest is.

    Meanwhile params.toml is always the walk learned so far, and report.html shows the fitness so far.
    """
    from nutmeg.motion.walk.files import walk_text

    size, most = learning.settings.population, learning.settings.generations
    history: list[LearnGeneration] = []
    reported = -math.inf
    with terminal.progress() as bar:
        task = bar.add_task("simulating", total=size * most)
        done = 0

        def after(generation: LearnGeneration) -> None:
            nonlocal done, reported
            history.append(generation)
            if time.monotonic() - reported >= _REPORT_PERIOD:
                _report_progress(history, learning, opened)
                reported = time.monotonic()
            done = size * (generation.number + 1)
            said = f"generation {generation.number + 1}, fitness {generation.best:.3g}"
            bar.update(task, completed=done, description=said)
            terminal.progress_line(f"{said} ({generation.number + 1} of {most})")

        return learning.run(
            evaluator,
            folder=opened.folder / "search",
            on_generation=after,
            on_walk=lambda walk: opened.write("params.toml", walk_text(walk)),
            progress=lambda part, _: bar.update(task, completed=done + part),
            command=opened.resume_command,
        )


def _report_progress(history: list[LearnGeneration], learning: WalkLearning, opened: Run) -> None:
    """Writes the report of a running search."""
    import numpy as np

    from nutmeg.view.reports.report import Card, number, write_page
    from nutmeg.view.reports.runs import Progress, progress_report

    settings, last = learning.settings, history[-1]
    numbers = np.array([one.number + 1.0 for one in history])
    about = Progress(
        title=f"Learning to walk: {settings.task}",
        kind="learn",
        summary=f"Generation {last.number + 1} of {settings.generations} is done; the whole report comes at the end. "
        "The walk learned so far is params.toml.",
        command=opened.resume_command,
        x_label="generation",
        cards=(
            Card(name="fitness", value=number(last.best), note="best of this generation"),
            Card(name="fitness", value=number(last.mean), note="mean of this generation"),
        ),
        next_commands=(f"nutmeg walk {settings.robot} --params {opened.folder} --command 0.3,0,0",),
    )
    curves = {
        "best of the generation": (numbers, np.array([one.best for one in history])),
        "mean of the generation": (numbers, np.array([one.mean for one in history])),
    }
    write_page(opened.folder / "report.html", progress_report(about, curves))


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


def _paths(learned: LearnedWalk, learning: WalkLearning) -> dict[str, Floats]:
    """The way of the learned walk on each trajectory of its course, from one start."""
    import numpy

    from nutmeg.learning.courses import read_course, run_bouts
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
    from nutmeg.commands.walk import show_measurement
    from nutmeg.view.reports.learn import parts_table

    table = parts_table(learned)
    terminal.table("rewards on the course", table.columns, table.rows)
    show_measurement(measured["learned"], terminal)
