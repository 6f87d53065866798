"""How a run comes along: the curves that it leaves in its folder, on a page of its own and beside those of other runs.

    curves = read_curves(Path("runs/learn-1"))        # {"lowest value so far": (x, y)}, from the files of the run
    write_page(Path("runs/train-1/report.html"), progress_report(about, curves))

The curves are read from what a run writes while it goes on, so that its page can be made at any time: `search.jsonl` of
a search (see `nutmeg.search.run`), `progress-*.jsonl` of `nutmeg train`, and `iterations.jsonl` of `nutmeg btr`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.journal import read_lines
from nutmeg.view.reports.plots import Chart, Curve, alone, draw_chart, svg
from nutmeg.view.reports.report import Bullets, Card, Command, Facts, Picture, Pictures, Report, Section, Video

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.view.reports.report import Block

    Curves = Mapping[str, tuple[Floats, Floats]]

SEARCHED = "lowest value so far"
"""The curve of a search, which minimises: a fitness counts negative."""
_REAL_FITNESS = "best in reality"
"""The curve of a `nutmeg btr`: the fitness of the best trial of each iteration."""


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


def compared_charts(runs: Mapping[str, Curves]) -> tuple[Chart, ...]:
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


def pictures_of(charts: Sequence[Chart]) -> Pictures:
    """Charts as pictures beside each other."""
    return Pictures(
        pictures=tuple(
            Picture(image=svg(alone(partial(draw_chart, chart=one)), alt=f"{one.title}. {one.about}".strip()))
            for one in charts
        )
    )


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What the page of a run says beside its curves."""

    title: str
    kind: str
    """The command that makes such runs."""
    summary: str
    command: str
    """The command line that goes on with the run, or makes it again."""
    x_label: str = "iteration"
    cards: tuple[Card, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
    """What each curve means; one that is not named here has no explanation."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The settings of the run."""
    next_commands: tuple[str, ...] = ()
    """What one can do with the result."""
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
    blocks: list[Block] = [pictures_of(charts)] if charts else []
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
