"""Runs: the curves that a run leaves in its folder, the page of one that goes on, and one page of all runs in a folder.

    curves = read_curves(Path("runs/learn-1"))        # {"lowest value so far": (x, y)}, from the files of the run
    write_page(Path("runs/train-1/report.html"), progress_report(about, curves))

    found = find_runs(Path("runs"))
    write_runs_page(Path("runs/index.html"), found, compared=found[:2])

Curves are read from files that a run writes as it goes on, so that its page can be made any time: `search.jsonl` of a
search (see `nutmeg.search.run`), `progress-*.jsonl` of `nutmeg train`, and `iterations.jsonl` of `nutmeg btr`.

A run is a folder with a `run.json` (learn, identify, btr, tournament and others, see `nutmeg.base.journal`) or with the
recording of a match. Damaged files of a run are reported in its row; they do not hide other runs.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import NutmegError
from nutmeg.base.journal import read_json, read_lines
from nutmeg.view.reports.plots import Chart, Curve, alone, draw_chart, svg
from nutmeg.view.reports.report import (
    Bullets,
    Card,
    Cell,
    Command,
    Facts,
    Picture,
    Pictures,
    Report,
    Section,
    Table,
    Video,
    write_page,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.view.reports.report import Block

    Curves = Mapping[str, tuple[Floats, Floats]]

# ---- the curves and the page of one run

SEARCHED = "lowest value so far"  # the curve of a search, which minimises: a fitness counts negative
_REAL_FITNESS = "best in reality"  # the curve of a `nutmeg btr`: the fitness of the best trial of each iteration


def read_curves(folder: Path) -> dict[str, tuple[Floats, Floats]]:
    """The curves of a run: numbers (n,) of generations or iterations, and values (n,), by name; none of other runs."""
    found: dict[str, tuple[Floats, Floats]] = {}
    for path in (folder / "search" / "search.jsonl", folder / "search.jsonl"):
        values = [line["values"] for line in read_lines(path) if "values" in line]
        if values:
            lowest = [min((v for v in row if v is not None), default=np.inf) for row in values]
            found[SEARCHED] = _numbered(np.minimum.accumulate(np.array(lowest, float)))
            break
    tried = [line.get("tried") or [] for line in read_lines(folder / "iterations.jsonl")]
    if tried:
        real = [max((t["real"] for t in row if t.get("real") is not None), default=np.nan) for row in tried]
        found[_REAL_FITNESS] = _numbered(np.array(real, float))
    return {**found, **_training_curves(folder)}


def _training_curves(folder: Path) -> dict[str, tuple[Floats, Floats]]:
    lines = [line for path in sorted(folder.glob("progress-*.jsonl")) for line in read_lines(path)]
    if not lines:
        return {}
    x = np.array([line["number"] for line in lines], float)
    names = [name for name in lines[0] if name not in ("number", "cycles")]
    return {name: (x, np.array([line.get(name, np.nan) for line in lines], float)) for name in names}


def _numbered(values: Floats) -> tuple[Floats, Floats]:
    return np.arange(1.0, len(values) + 1), values


def _compared_charts(runs: Mapping[str, Curves]) -> tuple[Chart, ...]:
    """A chart for each curve that any of some runs has, with one curve for each run, by its name."""
    names = dict.fromkeys(name for curves in runs.values() for name in curves)
    return tuple(
        Chart(
            title=name,
            curves=tuple(
                Curve(name=run, x=curves[name][0], y=curves[name][1]) for run, curves in runs.items() if name in curves
            ),
            x_label="generation or iteration",
        )
        for name in names
    )


def _pictures_of(charts: Sequence[Chart]) -> Pictures:
    """Charts as pictures beside each other."""
    return Pictures(
        pictures=tuple(
            Picture(image=svg(alone(partial(draw_chart, chart=one)), alt=f"{one.title}. {one.about}".strip()))
            for one in charts
        )
    )


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Texts and settings on the page of a run beside its curves."""

    title: str
    kind: str
    """The command that makes such runs."""
    summary: str
    command: str
    """The command line that goes on with the run, or makes it again."""
    x_label: str = "iteration"
    cards: tuple[Card, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
    """Meaning of each curve; a curve that is not named here has no explanation."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The settings of the run."""
    next_commands: tuple[str, ...] = ()
    """Commands that use the result."""
    video: str = ""
    """The file name of a video beside the page."""


def progress_report(about: Progress, curves: Curves) -> Report:
    """The page of a run that may still go on."""
    charts = [
        Chart(title=name.replace("_", " "), curves=(Curve(name="", x=x, y=y),), x_label=about.x_label,
              about=about.meanings.get(name, ""))
        for name, (x, y) in curves.items()
    ]  # fmt: skip
    meanings = tuple((chart.title, chart.about) for chart in charts if chart.about)
    blocks: list[Block] = [_pictures_of(charts)] if charts else []
    blocks += [Bullets(items=meanings, quiet=True)] if meanings else []
    return Report(
        title=about.title,
        kind=about.kind,
        summary=about.summary,
        command=about.command,
        cards=about.cards,
        sections=(
            Section(key="film", title="Film", blocks=(Video(file=about.video),) if about.video else ()),
            Section(key="curves", title="Curves", blocks=tuple(blocks)),
            Section(
                key="settings",
                title="Settings",
                blocks=(Facts(items={name: str(value) for name, value in about.facts.items()}),) if about.facts else (),
            ),
            Section(key="next", title="Use it", blocks=tuple(Command(text=text) for text in about.next_commands)),
        ),
    )


# ---- all runs of a folder

_MATCH_RECORDING = "match.nutmeg"
_PAGES = ("report.html", "replay.html", "best.mp4", "servo.html")  # files of a run to which the list links
_KEY_NUMBERS = (
    "result",
    "clock",
    "fitness",
    "fitness_before",
    "error",
    "held_out",
    "games",
    "broken",
    "lost_turns",
    "generations",
    "iterations",
    "reward",
    "falls",
    "level",
    "seconds",
)
"""Numbers of `results.json` that are shown in the list, if a run has them."""
_MAX_COMPARED_NUMBERS = 200
"""Numbers of a run that are compared; tables of single games or parameters would fill pages."""


@dataclass(frozen=True, kw_only=True)
class _RunFacts:
    """A run as the list shows it."""

    folder: Path
    kind: str
    """The command that made it, such as `learn`."""
    began: str
    """Start time, as text that sorts by time."""
    state: str
    """`finished`, `interrupted`, `running or killed`, or in words how it ended otherwise."""
    numbers: Mapping[str, float | str] = field(default_factory=dict)
    """Its results, by name; parts of tables are called `table.name`."""
    pages: tuple[str, ...] = ()
    """The files of `_PAGES` that it has."""

    @property
    def key_numbers(self) -> str:
        """The most important numbers, in words."""
        shown = [name for name in _KEY_NUMBERS if name in self.numbers] or list(self.numbers)[:3]
        return ", ".join(f"{name} {_shown(self.numbers[name])}" for name in shown)


def find_runs(parent: Path) -> list[_RunFacts]:
    """All runs in a folder, the newest first."""
    folders = sorted(path for path in parent.iterdir() if path.is_dir())
    found = [run for folder in folders if (run := _read_run(folder)) is not None]
    return sorted(found, key=lambda run: run.began, reverse=True)


def _read_run(folder: Path) -> _RunFacts | None:
    """The facts of a run; None for a folder that is not a run."""
    if not any((folder / name).exists() for name in ("run.json", _MATCH_RECORDING)):
        return None
    pages = tuple(name for name in _PAGES if (folder / name).is_file())
    try:
        if (folder / "run.json").exists():
            return _logged_run(folder, pages)
        return _match_run(folder, pages)
    except (NutmegError, KeyError, TypeError, ValueError, AttributeError) as error:
        return _RunFacts(folder=folder, kind="?", began=_changed(folder), state=f"damaged: {error}", pages=pages)


def _logged_run(folder: Path, pages: tuple[str, ...]) -> _RunFacts:
    manifest = read_json(folder / "run.json") or {}
    ends = [line for line in read_lines(folder / "log.jsonl") if line.get("event") in ("begin", "end")]
    state = str(ends[-1].get("how", "")) if ends and ends[-1]["event"] == "end" else "running or killed"
    command = [str(word) for word in manifest["command"]]
    return _RunFacts(
        folder=folder,
        kind=command[1] if len(command) > 1 else command[0],
        began=str(manifest.get("began", _changed(folder)))[:19].replace("T", " "),
        state=state,
        numbers=dict(flat(read_json(folder / "results.json") or {})),
        pages=pages,
    )


def _match_run(folder: Path, pages: tuple[str, ...]) -> _RunFacts:
    from nutmeg.recording import Recording  # here, because pages of learning runs need nothing of the match chapter
    from nutmeg.view.match_story import MatchStory, clock_text, is_match

    recording = Recording.open(folder / _MATCH_RECORDING)
    numbers: dict[str, float | str] = {"seconds": recording.duration}
    if is_match(recording) and len(recording):
        story = MatchStory(recording)
        last = story.moment(len(recording) - 1)
        numbers = {
            "result": f"{story.teams[0]} {last.score[0]} : {last.score[1]} {story.teams[1]}",
            "clock": clock_text(last.clock),
            **{f"goals.{team}": goals for team, goals in zip(story.teams, last.score, strict=True)},
            **{f"events.{kind}": n for kind, n in _kinds(story.events).items()},
            **numbers,
        }
    state = "finished" if recording.finished else "running or killed"
    if recording.finished and not len(recording):
        state = "interrupted before its first cycle"
    started = datetime.datetime.fromisoformat(recording.manifest.started).astimezone()
    began = started.replace(tzinfo=None).isoformat(" ", "seconds")  # local time, as for the other runs
    return _RunFacts(folder=folder, kind="match", began=began, state=state, numbers=numbers, pages=pages)


def _kinds(events: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    kinds = [str(event["kind"]) for event in events]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float | str]]:
    """The numbers and short texts of a table and of the tables in it; lists are left out."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{name}.")
        elif isinstance(value, int | float | str) and not isinstance(value, bool) and len(str(value)) < 60:
            yield f"{before}{name}", value


def write_runs_page(path: Path, runs: Sequence[_RunFacts], compared: Sequence[_RunFacts] = ()) -> None:
    """Write the page: the list of all runs, and the numbers of some of them side by side."""
    listed = Table(
        columns=("run", "kind", "began", "state", "numbers", "open"),
        rows=tuple(_row(path, run) for run in runs),
        numeric=(),
        kind="stack",
    )
    sections = [Section(key="runs", title="Runs", blocks=(listed,))]
    if compared:
        sections.insert(0, Section(key="compared", title="Side by side", blocks=_side_by_side(compared)))
    write_page(
        path,
        Report(
            kind="Runs",
            title=str(path.parent.resolve().name),
            summary=f"{len(runs)} runs, the newest first.",
            sections=tuple(sections),
        ),
    )


def _side_by_side(runs: Sequence[_RunFacts]) -> tuple[Block, ...]:
    """The curves of some runs over each other, and their numbers in a table."""
    charts = _compared_charts({run.folder.name: read_curves(run.folder) for run in runs})
    return (*([_pictures_of(charts)] if charts else []), comparison(runs))


def comparison(runs: Sequence[_RunFacts]) -> Table:
    """The numbers that any of some runs has, a column for each run."""
    names = list(dict.fromkeys(name for run in runs for name in run.numbers))[:_MAX_COMPARED_NUMBERS]
    return Table(
        columns=("", *(run.folder.name for run in runs)),
        rows=tuple((_words(name), *(_value(run.numbers.get(name)) for run in runs)) for name in names),
        numeric=tuple(run.folder.name for run in runs),
    )


def _row(path: Path, run: _RunFacts) -> tuple[Cell | str, ...]:
    good = run.state == "finished"
    links = tuple((name, os.path.relpath(run.folder / name, path.parent)) for name in run.pages)
    return (
        Cell(value=run.folder.name, strong=True),
        run.kind,
        run.began,
        Cell(value=run.state, verdict=good),
        run.key_numbers,
        Cell(links=links),
    )


def _words(name: str) -> str:
    """The readable name of a number: `held_out.error` is "held out: error"."""
    return name.replace(".", ": ").replace("_", " ")


def _value(value: float | str | None) -> str:
    return "–" if value is None else _shown(value)


def _shown(value: float | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _changed(folder: Path) -> str:
    return datetime.datetime.fromtimestamp(folder.stat().st_mtime).isoformat(" ", "seconds")
