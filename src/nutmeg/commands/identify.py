"""Find the numbers of a robot's body (masses, lengths, friction, servos, contacts, cameras) from recordings of it.

The configuration says which recordings (logs of motion, folders of pictures), what was commanded and measured in
them, and which numbers are searched within which bounds. Recordings that are held out are never seen by the fit; they
tell what it is worth. Writes a folder with params.toml (for --body of other commands), results.json and report.html.
Ctrl-C saves; the same command with the same --output continues and ends with the same numbers.

example: nutmeg identify identify.toml --check
         nutmeg identify examples/servo_xl330/identify.toml --seed 3
         nutmeg identify identify.toml --train 'logs/walk*.csv' --held-out 'logs/kick*.csv' --threads 2 --json
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.text import Text

from nutmeg.base.errors import UsageError
from nutmeg.base.journal import command_line, finite, open_run
from nutmeg.commands.options import (
    DeviceOption,
    JsonOption,
    OptionalOutput,
    Seed,
    WorkerOptions,
    check_configuration,
    chosen_evaluator,
    processors,
)

if TYPE_CHECKING:
    from nutmeg.base.journal import Run
    from nutmeg.reality.identify.identification import Identification, Identified
    from nutmeg.reality.identify.selection import VariantScore
    from nutmeg.reality.identify.settings import IdentifySettings
    from nutmeg.reality.logs.replay import Files
    from nutmeg.search.evaluation import Evaluator
    from nutmeg.search.run import Generation
    from nutmeg.view.terminal import Terminal

_NEWS_PERIOD = 15.0  # time between two lines about the progress where the output is a file [s]


@dataclass(frozen=True, kw_only=True)
class Arguments(WorkerOptions, DeviceOption, JsonOption):
    """Options of `nutmeg identify`."""

    config: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CONFIG.toml")]
    """The configuration, a TOML file."""
    train: tuple[str, ...] = ()
    """Recordings to fit instead of those of the configuration: patterns in quotes."""
    held_out: tuple[str, ...] = ()
    """Recordings to hold out instead of those of the configuration: patterns in quotes."""
    seed: Seed | None = None
    """Seed of everything random; the configuration's if left out."""
    evaluations: int | None = None
    """The most candidates to simulate; the configuration's if left out."""
    check: bool = False
    """Only read the recordings and simulate them once with the values to begin with: their rates, gaps and errors."""
    output: OptionalOutput = None
    """Folder of the run, new or to go on with; runs/identify-1, -2, ... if left out."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Identifies, or continues an interrupted run."""
    from nutmeg.base.journal import new_folder
    from nutmeg.reality.identify.identification import Identification
    from nutmeg.reality.logs.replay import check_apart

    settings = _settings(arguments)
    seed = settings.search.seed
    train, held_out = _files(arguments, settings)
    check_apart(train, held_out)
    fit = Identification(settings, train=train, held_out=held_out, seed=seed, threads=processors(arguments.threads))
    if arguments.check:
        return _check(fit, terminal)
    folder = arguments.output or new_folder(Path("runs"), "identify")
    with open_run(
        folder,
        say=terminal.say,
        saved="finished generation",
        command=command_line("identify", dataclasses.replace(arguments, output=folder)),
        seed=seed,
        configuration=_described(settings, train, held_out),
        copy=arguments.config,
    ) as opened:
        return _identify(fit, opened, arguments, terminal, train=train, held_out=held_out)


def _check(fit: Identification, terminal: Terminal) -> dict[str, Any]:
    """Says what the recordings are and how far the simulation is from them before any search."""
    import numpy as np

    from nutmeg.reality.logs.replay import MeasuredTrial

    errors = fit.cost.per_recording(fit.twin.space.start[None], fit.error)
    goals = fit.goal_errors()
    rows: list[tuple[Any, ...]] = []
    for source, values in errors.items():
        times = [m.times for m in fit.measured if m.source == source and isinstance(m, MeasuredTrial)]
        steps = np.concatenate([np.diff(one) for one in times]) if times else np.empty(0)
        rate, gap = (1 / float(np.median(steps)), float(steps.max())) if len(steps) else (0.0, 0.0)
        seconds = sum(float(one[-1] - one[0]) for one in times)
        error = fit.factor * float(values[0])
        rows.append((source, sum(map(len, times)), seconds, rate, 1000 * gap, error, goals.get(source, math.nan)))
    heads = (f"error at the start [{fit.unit}]", "position = goal")
    columns = ("recording", "rows", "seconds", "rows/s", "longest gap [ms]", *heads)
    terminal.table("recordings to fit, and the simulation before any search", columns, rows)
    doubts = (*fit.base_doubt(fit.twin.space.start), *fit.data_doubts())
    for doubt in doubts:
        terminal.say(f"note: {doubt}")
    names = ("recording", "rows", "seconds", "rate", "gap_ms", "error", "position_is_goal")
    return {"recordings": [dict(zip(names, row, strict=True)) for row in rows], "unit": fit.unit, "problems": doubts}


def _settings(arguments: Arguments) -> IdentifySettings:
    from nutmeg.reality.identify.settings import read_identify

    check_configuration(arguments.config, "identify")
    settings = read_identify(arguments.config)
    search = settings.search
    try:
        search = dataclasses.replace(
            search,
            seed=search.seed if arguments.seed is None else arguments.seed,
            evaluations=search.evaluations if arguments.evaluations is None else arguments.evaluations,
        )
    except ValueError as error:
        raise UsageError(f"--seed and --evaluations: {error}") from None
    robot = dataclasses.replace(settings.robot, device=arguments.device or settings.robot.device)
    return dataclasses.replace(settings, robot=robot, search=search)


def _files(arguments: Arguments, settings: IdentifySettings) -> tuple[Files, Files]:
    """The recordings to fit and to hold out; those of the command line are relative to the present folder."""
    from nutmeg.reality.logs.replay import found_files

    beside, here = arguments.config.parent, Path()
    sides = []
    for given, own, what in (
        (arguments.train, settings.recordings.train, "--train"),
        (arguments.held_out, settings.recordings.held_out, "--held-out"),
    ):
        sides.append(found_files(given, here, what) if given else found_files(own, beside, "[recordings]"))
    train, held_out = sides
    if arguments.train and not arguments.held_out:  # the configuration's own must not come in by the back door
        held_out = {path: parts for path, parts in held_out.items() if path not in train}
    if arguments.held_out and not arguments.train:
        train = {path: parts for path, parts in train.items() if path not in held_out}
    return train, held_out


def _described(settings: IdentifySettings, train: Files, held_out: Files) -> dict[str, object]:
    """What determines the result: the settings but for the budget, and the content of the recordings."""
    table = dataclasses.asdict(settings)
    table = {"robot": table["robot"], "parameters": table["parameters"], **table}  # the order in runs of version 0.1
    for key in ("evaluations", "generations", "seed"):
        del table["search"][key]
    del table["recordings"]["train"], table["recordings"]["held_out"]
    if not settings.recordings.ranges:
        del table["recordings"]["ranges"]
    if not settings.supply:
        del table["supply"]
    if settings.intervals == type(settings.intervals)():
        del table["intervals"]
    if settings.robot.device == "cpu":  # as in runs of versions that had no other
        del table["robot"]["device"]
    if not (settings.variants or settings.selection.terms):  # as in runs of versions that had none
        del table["variants"], table["selection"]
    elif not settings.selection.terms:
        del table["selection"]["terms"], table["selection"]["least_gain"]
    return {**table, "train": _content(train), "held_out": _content(held_out)}


def _content(files: Files) -> dict[str, str]:
    out = {}
    for path, parts in files.items():
        inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        digest = hashlib.sha256()
        for part in inside:
            digest.update(part.read_bytes())
        out["#".join([str(path), *(p for p in parts if p != "*")])] = digest.hexdigest()
    return out


def _identify(
    fit: Identification, opened: Run, arguments: Arguments, terminal: Terminal, *, train: Files, held_out: Files
) -> dict[str, Any]:
    from nutmeg.reality.identify.identification import Identification
    from nutmeg.reality.identify.selection import chosen_settings

    began = time.monotonic()
    settings = fit.settings
    scores: list[VariantScore] = []
    evaluator, workers = chosen_evaluator(
        threads=arguments.threads,
        cluster=arguments.cluster,
        warn=terminal.warn,
        locked=fit.locked,
        device=settings.robot.device,
    )
    try:
        if settings.variants or settings.selection.terms:
            scores = _compared(settings, train, evaluator, opened, terminal)
            settings = chosen_settings(settings, scores[0])
            fit = Identification(settings, train=train, held_out=held_out, seed=fit.seed, threads=arguments.threads)
        found = _searched(fit, evaluator, opened, settings, terminal)
    finally:
        evaluator.close()
    seconds = round(opened.seconds_before + time.monotonic() - began, 3)
    variants = {"variants": [dataclasses.asdict(score) for score in scores]} if scores else {}
    result = {**found.as_json(), **variants, "seconds": seconds}
    result["seed"] = result.pop("seed")  # last, as documented
    _write(found, settings, opened, result, workers)
    _show(found, settings, terminal)
    terminal.say(f"wrote params.toml, results.json and report.html to {opened.folder}.")
    return result


def _compared(
    settings: IdentifySettings, train: Files, evaluator: Evaluator, opened: Run, terminal: Terminal
) -> list[VariantScore]:
    """Scores of the variants of the model, the best first."""
    from nutmeg.reality.identify.selection import compare_variants, free_terms

    compare = free_terms if settings.selection.terms else compare_variants
    with terminal.busy("variants are compared") as status:
        scores = compare(
            settings,
            train,
            settings.search.seed,
            evaluator,
            folder=opened.folder / "variants",
            say=lambda text: status.update(Text(text)),
        )
    kind = settings.report_error.kind.replace("_", " ")
    columns = ("variant", "parameters", f"left out, {kind}", "fitted", "AIC")
    rows = [(s.name, len(s.parameters), f"{s.held_out:.4g}", f"{s.train:.4g}", f"{s.aic:.6g}") for s in scores]
    terminal.table(f"variants, each {settings.selection.by} left out once", columns, rows)
    terminal.say(f"{scores[0].name} carries over best and is fitted.")
    return scores


def _searched(
    fit: Identification, evaluator: Evaluator, opened: Run, settings: IdentifySettings, terminal: Terminal
) -> Identified:
    """The search, with a bar that shows the best distance and the time left."""
    most, said = settings.search.evaluations, time.monotonic()
    with terminal.progress() as bar:
        task = bar.add_task("simulating the start", total=most * fit.searches)
        done = 0

        def after(number: int, generation: Generation) -> None:
            nonlocal done, said
            done = most * number + generation.evaluations
            what = f"re-fit {number}" if number else "fitting"
            text = f"{what}, {settings.distance.kind} {generation.best.value:.4g}"
            bar.update(task, completed=done, description=text)
            if time.monotonic() - said > _NEWS_PERIOD:
                said = time.monotonic()
                terminal.progress_line(f"{text} ({done} of at most {most * fit.searches} candidates)")

        def judging() -> None:
            text = "simulating neighbours: how sure are the estimates?"
            bar.update(task, description=text)
            terminal.progress_line(text)

        return fit.run(
            evaluator,
            folder=opened.folder / "search",
            on_generation=after,
            progress=lambda part, _: bar.update(task, completed=done + part),
            on_judging=judging,
        )


def _write(found: Identified, settings: IdentifySettings, opened: Run, result: dict[str, Any], workers: str) -> None:
    from nutmeg.model.identified import write_body
    from nutmeg.reality.identify.identification import outlier_shares
    from nutmeg.view.reports.fit import write_report
    from nutmeg.view.reports.identify import identify_report

    known = found.identifiability
    command = opened.resume_command
    write_body(opened.folder / "params.toml", found.body(command))
    details = {**result, "before": dataclasses.asdict(found.before), "after": dataclasses.asdict(found.after)}
    details["baseline"] = dataclasses.asdict(found.baseline) if found.baseline else None
    details |= {"problems": list(found.problems), "method": found.result.method, "reason": found.result.reason}
    details |= {"failures": found.failures, "outliers": outlier_shares(found.residuals)}
    details["residuals"] = {
        name: {column: dataclasses.asdict(check) for column, check in columns.items()}
        for name, columns in found.residuals.items()
    }
    if known:
        details["identifiability"] = known.as_json()
    if found.profiles:
        details["profiles"] = [dataclasses.asdict(one) for one in found.profiles]
    if found.regions:
        details["regions"] = [{"parameters": list(pair), "rim": rim.tolist()} for pair, rim in found.regions.items()]
    details["bands"] = {name: band.inside for name, band in found.bands.items()}
    opened.write("results.json", json.dumps(finite(details), indent=1) + "\n")
    report = identify_report(found, settings, command=command, seconds=float(result["seconds"]), workers=workers)
    write_report(opened.folder / "report.html", report)


def _show(found: Identified, settings: IdentifySettings, terminal: Terminal) -> None:
    from nutmeg.reality.identify.identification import FitErrors

    known = found.identifiability
    rows: list[tuple[str, ...]] = []
    for name, value in found.values.items():
        dimension = found.twin.space.dimensions[name]
        between = " to ".join(f"{v:.4g}" for v in known.interval(name)) if known else ""
        verdict = (known.reason(name) if known else "") or ""
        sure = "yes" if known and known.identifiable(name) else "no"
        rows.append((name, f"{value:.4g}", dimension.unit, between, sure, verdict))
    terminal.table("what was found", ("parameter", "value", "", "interval", "sure", ""), rows)
    kind = settings.report_error.kind.replace("_", " ")
    heads = ("before", "after", "position = goal")
    found_errors = (found.before, found.after, found.baseline)
    rows = []
    for side, what in (("train", "train"), ("held_out", "held out")):
        tables = [getattr(errors, side) if errors else {} for errors in found_errors]
        names = list(tables[1])
        rows += [(f"{name} ({what})", *(_shown(table.get(name)) for table in tables)) for name in names]
        if len(names) > 1:
            rows.append((f"mean, {what}", *(_shown(FitErrors.mean(table)) for table in tables)))
    terminal.table(f"{kind} error [{found.unit}]", ("recording", *heads), rows)
    if len(found.after.columns) > 1:
        side = "held_out" if found.after.held_out else "train"
        rows = [
            (column, *(_shown(errors.columns.get(column, {}).get(side) if errors else None) for errors in found_errors))
            for column in found.after.columns
        ]
        what = side.replace("_", " ")
        terminal.table(f"the same of each column, mean of {what} recordings", ("column", *heads), rows)
    for problem in found.problems:
        terminal.warn(problem)


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
