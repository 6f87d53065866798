"""Another engine as reality: `nao-spark` fitted to recordings of the 3D simulation league's own server (ODE physics).

    answer = simspark_reality(Path("runs/simspark"), quick=True)
    answer["table"]                             # before, with the latency alone, after, and the profile `league`

Contacts, drives, time step and delay of `nao-spark` are found from a few walks and kicks, starting from
the profile `fine`: steps of 5 ms, contacts as other robots have them, no delay. Then the commands of walks and kicks
that the fit never saw are replayed from their recorded starts, where the robot stands still and its whole state is
known; nothing corrects the replay. The profile `league`, printed beside, was fitted by hand to the same recordings
(and has the server's own numbers in it), so it is no independent test. `simspark_errors` says what the errors are.
"""

from __future__ import annotations

import dataclasses
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import nutmeg
from nutmeg.errors import UsageError
from nutmeg.reality.chosen_files import found_files, read_all
from nutmeg.reality.identification import Identification, Identified
from nutmeg.reality.identify_settings import WindowSettings, read_identify
from nutmeg.reality.measured import Measured
from nutmeg.reality.twin import Searched, Twin
from nutmeg.reproduce.simspark_errors import KINDS, UNITS, errors
from nutmeg.reproduce.simspark_trials import APART, CYCLE, cut_log
from nutmeg.search.evaluation import InThisThread, Threads
from nutmeg.view.fit_report import Table, save_figures, write_report
from nutmeg.view.identify_report import identify_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.identify_settings import IdentifySettings
    from nutmeg.search.run import Generation
    from nutmeg.view.fit_report import FitReport


EXAMPLE = Path("examples") / "simspark_walk"
LOGS = {"walk": (("PlayOn",), 4.0), "kick": (("KickOff_Left",), 2.5)}
"""Which play modes a trial has and how much of it is replayed [s]; kicks until just before the ball is touched."""
SHOWN = ("angles.rlj3", "angles.rlj4", "angles.rlj5", "torso.pitch", "torso.yaw", "pose.x")
"""Series in the report."""
LATENCY = Searched(low=0.0, high=0.1, start=CYCLE, sets=("delay",), unit="s")
"""The server acts on a command one cycle later."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is done."""

    evaluations: int
    """Candidates of each search."""
    seconds: float
    """How much of each trial is fitted; what is held out is always replayed as a whole."""
    train: tuple[str, ...]
    held_out: tuple[str, ...]


QUICK = Effort(
    evaluations=140,
    seconds=2.0,
    train=("walk.csv.gz#0", "kick.csv.gz#0"),
    held_out=("walk.csv.gz#[45]", "kick.csv.gz#[45]"),
)


def simspark_reality(
    out: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    seeds: int = 5,
    recordings: Path | None = None,
    threads: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Fits, replays what was held out, and writes results.json, report.html and, unless quick, figures.

    Args:
        out: folder for the results.
        quick: one search with few candidates and few trials.
        seed: of the first search; those of the others follow from it.
        seeds: how many searches there are.
        recordings: folder with the server's logs (walk_type0.csv.gz, kick_type0.csv.gz); the trials of the example,
            cut from them, if left out.
        threads: how many threads simulate.
        on_progress: called with what is being done.
    """
    began = time.monotonic()
    folder = example_folder()
    settings = read_identify(folder / "identify.toml")
    effort = QUICK if quick else _full(settings)
    data = folder if recordings is None else _cut(recordings, out / "trials", on_progress)
    search = dataclasses.replace(settings.search, evaluations=effort.evaluations, refits=0 if quick else seeds - 1)
    windows = WindowSettings(seconds=effort.seconds, every=APART)
    settings = dataclasses.replace(settings, search=search, windows=windows)
    found = _fit(settings, effort, data, seed, threads, on_progress)
    on_progress("replaying what was held out")
    measured = _held_out(settings, effort, data, found.twin)
    fits = (found.result, *found.refits)
    rows = _rows(settings, np.stack([fit.best.candidate for fit in fits]), measured, threads)
    space = found.twin.space
    answer = {
        "table": rows,
        "part_left": {kind: rows["after"]["all"][kind] / rows["before"]["all"][kind] for kind in KINDS},
        "units": UNITS,
        "estimates": [{"distance": fit.best.value, **space.named(fit.best.candidate)} for fit in fits],
        "searches": len(fits),
        "evaluations": found.evaluations,
        "train": list(effort.train),
        "held_out": list(effort.held_out),
        "seconds": round(time.monotonic() - began, 1),
        "seed": seed,
    }
    _write(out, answer, found, settings, threads)
    return answer


def example_folder() -> Path:
    """Where the example's configuration and trials are: below the present folder, or in the source tree."""
    places = [Path(), Path(nutmeg.__file__).resolve().parents[2]]
    for place in places:
        if (place / EXAMPLE / "identify.toml").is_file():
            return place / EXAMPLE
    raise UsageError(f"there is no {EXAMPLE} here. Run this in a checkout of Nutmeg, which has the examples.")


def _cut(recordings: Path, out: Path, on_progress: Callable[[str], None]) -> Path:
    """The folder with the trials of logs."""
    for name, (modes, seconds) in LOGS.items():
        on_progress(f"cutting the {name} log")
        cut_log(recordings / f"{name}_type0.csv.gz", out / f"{name}.csv.gz", modes=modes, seconds=seconds)
    return out


def _full(settings: IdentifySettings) -> Effort:
    """What the example's configuration asks for."""
    recordings, windows = settings.recordings, settings.windows
    return Effort(
        evaluations=settings.search.evaluations,
        seconds=windows.seconds if windows else max(seconds for _, seconds in LOGS.values()),
        train=recordings.train,
        held_out=recordings.held_out,
    )


def _fit(
    settings: IdentifySettings,
    effort: Effort,
    data: Path,
    seed: int,
    threads: int,
    on_progress: Callable[[str], None],
) -> Identified:
    fit = Identification(
        settings,
        train=found_files(effort.train, data, "the trials to fit"),
        held_out=found_files(effort.held_out, data, "the trials to hold out"),
        seed=seed,
        threads=threads,
    )

    def told(number: int, generation: Generation) -> None:
        done = f"{generation.evaluations} of {effort.evaluations} candidates, distance {generation.best.value:.4f}"
        on_progress(f"search {number + 1} of {fit.searches}: {done}")

    evaluator = InThisThread() if threads == 1 else Threads(threads, piece=5)
    try:
        return fit.run(evaluator, on_generation=told)
    finally:
        evaluator.close()


def _held_out(settings: IdentifySettings, effort: Effort, data: Path, twin: Twin) -> tuple[Measured, ...]:
    """The held-out trials as a whole."""
    files = found_files(effort.held_out, data, "the trials to hold out")
    found = read_all(files, dataclasses.replace(settings, windows=None), twin)
    return tuple(one for one in found if isinstance(one, Measured))


def _rows(
    settings: IdentifySettings, found: Floats, measured: tuple[Measured, ...], threads: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Errors by row of the table, by `walk`, `kick` and `all`, by kind; means over what was found, (n, k)."""
    twin = Twin(settings.robot, settings.parameters, threads=threads)
    known = Twin(settings.robot, {"delay": LATENCY}, threads=threads)
    league = Twin(dataclasses.replace(settings.robot, physics="league"), {"delay": LATENCY}, threads=threads)
    rows = {
        "before": errors(twin, twin.space.start[None], measured),
        "latency known": errors(known, known.space.start[None], measured),
        "after": errors(twin, found, measured),
        "league": errors(league, league.space.start[None], measured),
    }
    walks = np.array([m.source.startswith("walk") for m in measured])
    parts = {"walk": walks, "kick": ~walks, "all": np.ones(len(measured), bool)}
    table: dict[str, dict[str, dict[str, float]]] = {}
    for name, values in rows.items():
        table[name] = {
            part: {kind: float(values[chosen, :, i].mean()) for i, kind in enumerate(KINDS)}
            for part, chosen in parts.items()
            if chosen.any()
        }
    spread = rows["after"].mean(axis=0).std(axis=0, ddof=1 if len(found) > 1 else 0)
    table["after"]["deviation"] = dict(zip(KINDS, spread.tolist(), strict=True))
    return table


def _write(out: Path, answer: dict[str, Any], found: Identified, settings: IdentifySettings, threads: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
    report = _report(answer, found, settings, threads)
    write_report(out / "report.html", report)
    if answer["searches"] > 1:
        save_figures(out, report)


def _report(answer: dict[str, Any], found: Identified, settings: IdentifySettings, threads: int) -> FitReport:
    """The report of the identification, with the table of this experiment and some of the series."""
    report = identify_report(
        found,
        settings,
        command=f"nutmeg reproduce simspark --seed {answer['seed']}",
        seconds=answer["seconds"],
        workers=f"{threads} threads" if threads > 1 else "1 thread",
    )
    columns = ("", "trials", *(f"{kind} [{UNITS[kind]}]" for kind in KINDS))
    rows = tuple(
        (row, part, *(values[kind] for kind in KINDS))
        for row, parts in answer["table"].items()
        for part, values in parts.items()
    )
    about = (
        f"Trials that were held out; `after` is the mean over {answer['searches']} searches, `deviation` between them. "
        "`latency known` is `before` with the server's delay of one cycle; `league` was fitted by hand to the same "
        "recordings."
    )
    table = Table(title="Replay of what the fit never saw", columns=columns, rows=rows, about=about)
    return dataclasses.replace(
        report,
        title="Another engine as reality",
        tables=(*report.tables, table),
        series=tuple(one for one in report.series if one.channel in SHOWN),
    )
