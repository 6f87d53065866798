"""Back-to-Reality: learn a controller in simulation, correct the simulation by a few trials in reality, and repeat.

The configuration names a robot, what is searched of its simulation, a gait, a fitness, a distance and a reality. The
run is a folder; the same command with its --output continues an interrupted one.

example: nutmeg btr examples/btr_ant/btr.toml --threads 2
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro
from rich.text import Text

from nutmeg.base.errors import NutmegError
from nutmeg.base.journal import command_line
from nutmeg.commands.options import (
    Count,
    DeviceOption,
    JsonOption,
    OptionalOutput,
    Seed,
    WorkerOptions,
    check_configuration,
    chosen_evaluator,
)

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from nutmeg.reality.btr.back_to_reality import BackToReality
    from nutmeg.reality.btr.result import BtrResult, Iteration
    from nutmeg.reality.btr.settings import BtrSettings
    from nutmeg.search.run import Generation
    from nutmeg.view.terminal import Terminal

RECORDING, FILM = "best.nutmeg", "best.mp4"
"""Files of a run: the best controller in the last simulation, as a recording and as a video."""
_LOOK_EVERY = 2.0  # how often a laboratory's folder is looked into [s]


@dataclass(frozen=True, kw_only=True)
class Arguments(WorkerOptions, DeviceOption, JsonOption):
    """Options of `nutmeg btr`."""

    config: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CONFIG.toml")]
    """The configuration, a TOML file as those of examples/btr_*."""
    seed: Seed | None = None
    """Seed of everything random; the configuration's if left out."""
    mode: Literal["btr", "none", "discrepancy", "reality"] | None = None
    """Something else than the configuration's mode, to compare with."""
    iterations: Count | None = None
    """Another number of iterations."""
    video: bool = True
    """Whether to film the best controller in the last simulation; needs a renderer (see nutmeg doctor)."""
    output: OptionalOutput = None
    """The folder of the run; runs/btr-1, or the next that is free, if left out."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Runs it, and writes the result into the folder of the run."""
    from nutmeg.base.journal import new_folder, resume_command
    from nutmeg.reality.btr.settings import read_btr

    check_configuration(arguments.config, "btr")
    settings = _changed(read_btr(arguments.config), arguments)
    folder = arguments.output or new_folder(Path("runs"), "btr")
    command = command_line("btr", arguments)
    again = resume_command(command, folder)
    began = time.monotonic()
    try:
        with _Show(terminal, settings) as show:
            result, made = _run(settings, arguments, folder, command, show)
        seconds = time.monotonic() - began
        video = _film(result, made, folder, terminal) if arguments.video else ""
        return _finish(result, made, settings, folder, again, seconds, terminal, video)
    except KeyboardInterrupt:
        terminal.say(f"\nEverything is saved but the unfinished generation. Go on with:  {again}")
        raise
    except NutmegError:
        if (folder / "run.json").exists():
            terminal.say(f"The run is saved. Go on with:  {again}")
        raise


def _changed(settings: BtrSettings, arguments: Arguments) -> BtrSettings:
    if arguments.seed is not None:
        settings = dataclasses.replace(settings, seed=arguments.seed)
    if arguments.device is not None:
        settings = dataclasses.replace(settings, robot=dataclasses.replace(settings.robot, device=arguments.device))
    if arguments.mode is not None:
        settings = dataclasses.replace(settings, mode=arguments.mode)
    if arguments.iterations is not None:
        stop = dataclasses.replace(settings.stop, iterations=arguments.iterations)
        settings = dataclasses.replace(settings, stop=stop)
    return settings


def _run(
    settings: BtrSettings, arguments: Arguments, folder: Path, command: list[str], show: _Show
) -> tuple[BtrResult, BackToReality]:
    from nutmeg.net.simspark.reality import SimsparkReality
    from nutmeg.reality.btr.back_to_reality import BackToReality, Listeners

    evaluator, _ = chosen_evaluator(
        threads=arguments.threads,
        cluster=arguments.cluster,
        warn=show.terminal.warn,
        locked=_locked(settings),
        device=settings.robot.device,
    )
    with contextlib.closing(evaluator):
        made = BackToReality(
            settings,
            folder=folder,
            evaluator=evaluator,
            realities={"simspark": SimsparkReality},
            command=command,
            copy=arguments.config,
            listeners=Listeners(
                on_generation=show.generation,
                on_trial=show.trial,
                on_iteration=show.iteration,
                wait=lambda: time.sleep(_LOOK_EVERY),
                say=show.terminal.say,
            ),
        )
        return made.run(), made


def _locked(settings: BtrSettings) -> bool:
    """Whether simulating keeps Python's lock."""
    from nutmeg.reality.twin import Twin

    return Twin(settings.robot, settings.simulation).looked_after  # no term changes that


class _Show:
    """Progress: a bar with where the run is, and a line for each iteration."""

    def __init__(self, terminal: Terminal, settings: BtrSettings) -> None:
        self.terminal, self._settings = terminal, settings
        self._trials = 0
        self._phi = ""

    def __enter__(self) -> _Show:
        s = self._settings
        if s.mode == "reality":
            total = max(1, (s.stop.most_trials or 0) // max(s.controller_search.population, 1))
        else:
            identified = s.stop.iterations - (s.stop.last == "search") if s.mode == "btr" else 0
            total = s.stop.iterations * s.controller_search.generations + identified * s.simulation_search.generations
        self._progress: Progress = self.terminal.progress()
        self._progress.__enter__()
        self._task: TaskID = self._progress.add_task("iteration 1", total=total)
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.__exit__(*error)  # type: ignore[arg-type]

    def generation(self, step: str, number: int, generation: Generation) -> None:
        best = generation.best.value
        if step == "simulations":
            self._phi = f", phi {best:.4g}"
            text = f"iteration {number + 1}, simulations{self._phi}"
        elif step.startswith("terms"):  # nobody knows beforehand whether they are needed: not a part of the bar
            self._progress.update(self._task, description=f"iteration {number + 1}, frees terms, phi {best:.4g}")
            return
        else:
            text = f"iteration {number + 1}, controllers, fitness {-best:.4g} {self._settings.fitness.unit}{self._phi}"
        self._progress.update(self._task, advance=1, description=text)

    def trial(self, name: str, fitness: float | None, remembered: bool) -> None:
        self._trials += not remembered
        got = "no fitness" if fitness is None else f"{fitness:.4g} {self._settings.fitness.unit}"
        self._progress.update(self._task, description=f"trial {name} in reality: {got}")

    def iteration(self, done: Iteration) -> None:
        unit = self._settings.fitness.unit
        text = f"iteration {done.number + 1}: {done.fitness:.4g} {unit} in simulation"
        if done.tried:
            text += f", {done.best_real:.4g} in reality (best of {len(done.tried)} trials)"
        if done.simulations:
            named = done.space.named(done.simulation)
            estimates = ", ".join(f"{name} {value:.4g}" for name, value in named.items())
            text += f"; phi {done.phi_before:.4g} -> {done.phi:.4g}; {estimates}"
        self._progress.console.print(Text(text), soft_wrap=True)
        if done.prediction and not done.prediction.holds:
            text = "note: the estimate predicted these trials worse than the simulation before any identification does."
            self._progress.console.print(Text(text), soft_wrap=True)
        if done.extension:
            self._progress.console.print(Text(f"note: {done.extension.text}"), soft_wrap=True)
        if done.disengagement:
            self._progress.console.print(Text(f"note: {done.disengagement}"), soft_wrap=True)


def _finish(
    result: BtrResult,
    made: BackToReality,
    settings: BtrSettings,
    folder: Path,
    command: str,
    seconds: float,
    terminal: Terminal,
    video: str = "",
) -> dict[str, Any]:
    from nutmeg.base.journal import write_file, write_json
    from nutmeg.model.identified import write_body
    from nutmeg.reality.twin import body_of
    from nutmeg.view.reports.btr import btr_report, figure3
    from nutmeg.view.reports.fit import write_report

    truth = _truth(settings)
    for name, row in (("controller", result.controller), ("champion", result.champion)):
        text = made.controllers.text(name, row, f"found by {command}")
        write_file(folder / f"{name}.toml", text)
    if settings.mode == "btr":
        values = result.simulations.named(result.simulation)
        body = body_of(settings.robot, result.searched, values, result.judged, command)
        write_body(folder / "params.toml", body)
    found = {**result.as_json(), "seed": settings.seed, "seconds": round(seconds, 2), "folder": str(folder)}
    write_json(folder / "results.json", found)
    label = f"{settings.fitness.kind} [{settings.fitness.unit}]"
    write_file(folder / "figure3.png", figure3(result, truth=truth, fitness=label, phi=settings.distance.kind))
    report = btr_report(result, settings, command=command, truth=truth, seconds=seconds, video=video)
    write_report(folder / "report.html", report)
    _tell(result, settings, folder, truth, terminal)
    return found


def _film(result: BtrResult, made: BackToReality, folder: Path, terminal: Terminal) -> str:
    """Records and films the best controller in the last simulation; returns the name of the video."""
    from nutmeg.reality.twin import TWIN_ROBOT
    from nutmeg.recording import Channel, Manifest, RecordingWriter
    from nutmeg.sim.trace import ANGLE_STEP, POSE_LABELS, POSE_STEP
    from nutmeg.view.files.pictures import QUICK
    from nutmeg.view.files.video import video

    trial = made.controllers.trials(result.controller[None])[0]
    twin = made.twin_with(result.searched)
    rollout = twin.simulate(result.simulation[None], [trial])[0]
    rows = slice(0, int(rollout.frames[0]))
    channels = [Channel(name=f"{TWIN_ROBOT}.angles", labels=rollout.joints, unit="rad", resolution=ANGLE_STEP)]
    values = [rollout.angles[0, rows]]
    if rollout.pose is not None:
        channels.append(Channel(name=f"{TWIN_ROBOT}.pose", labels=POSE_LABELS, unit="m", resolution=POSE_STEP))
        values.append(rollout.pose[0, rows])
    if rollout.ball is not None:
        channels.append(Channel(name="ball.pose", labels=POSE_LABELS, unit="m", resolution=POSE_STEP))
        turned = np.tile([1.0, 0.0, 0.0, 0.0], (len(values[0]), 1))  # how the ball turned is not kept
        values.append(np.concatenate([rollout.ball[0, rows], turned], axis=1))
    scene, path = twin.drawn(result.simulation), folder / RECORDING
    with RecordingWriter.create(
        path,
        Manifest(kind="btr", seed=made.settings.seed, channels=tuple(channels)),
        scene_xml=scene.xml,
        overwrite=True,
    ) as writer:
        writer.append_many(rollout.times[rows], np.concatenate(values, axis=1))
    try:
        with terminal.counting("filming") as on_progress:
            video(
                path,
                folder / FILM,
                size=(640, 360),
                camera="broadcast" if rollout.pose is None else f"follow:{TWIN_ROBOT}",
                quality=QUICK,
                on_progress=on_progress,
            )
    except NutmegError as problem:  # any problem, because the results are worth more than a film
        terminal.warn(f"there is no video of the controller, but nutmeg replay {path} shows it: {problem}")
        return ""
    return FILM


def _truth(settings: BtrSettings) -> dict[str, float]:
    """The hidden values, where reality is a simulation."""
    if settings.reality.kind != "hidden":
        return {}
    if settings.reality.robot is not None:
        return dict(settings.reality.values)
    starts = {name: one.middle if one.start is None else one.start for name, one in settings.named.items()}
    return {**starts, **settings.reality.values}


def _tell(result: BtrResult, settings: BtrSettings, folder: Path, truth: dict[str, float], terminal: Terminal) -> None:
    unit = settings.fitness.unit
    if settings.mode == "btr":
        mean = result.averaged()
        rows: list[list[Any]] = []
        for (name, searched), one, avg in zip(result.searched.items(), result.simulation, mean, strict=True):
            low, high = result.judged.interval(name) if result.judged else (math.nan, math.nan)
            row = [name, float(one), f"{low:.4g} .. {high:.4g}" if result.judged else "", float(avg)]
            rows.append([*row, *([truth.get(name, "")] if truth else []), searched.unit])
        head = ("searched", "estimate", "90 % interval", "mean of the last 5", *(["reality"] if truth else []), "unit")
        terminal.table("", head, rows)
    for text in result.warnings:
        terminal.warn(text)
    if result.proposals:
        terminal.say("What the searched numbers do not explain, others may:")
    for proposal in result.proposals:
        terminal.say(f"  {proposal.text}")
    if np.isfinite(result.fitness):
        terminal.say(f"best controller: {result.fitness:.4g} {unit} in reality")
    evaluations = result.evaluations
    terminal.say(
        f"{result.reason}; {result.trials} trials in reality, {evaluations['controllers']} controllers and "
        f"{evaluations['simulations']} simulations evaluated ({evaluations['simulated_trials']} simulated trials)."
    )
    files = f"report.html, {RECORDING}, figure3.png, results.json, controller.toml"
    terminal.say(f"in {folder}: {files}{', params.toml' if settings.mode == 'btr' else ''}")
