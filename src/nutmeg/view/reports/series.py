"""The report of a series of games: one page that needs nothing else.

    write_series_report(Path("report.html"), SeriesReport(settings=settings, results=results, command="nutmeg ..."))

The table is that of MacAlpine and others (2012), table 3: goals of the row's team more than of the column's, a mean
over their games, with its standard error in brackets. Differences of more than two errors are coloured.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from nutmeg.base.errors import FileError
from nutmeg.base.journal import versions
from nutmeg.match.series.standings import standings
from nutmeg.view.reports.sheet import sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nutmeg.match.series.series import GameResult
    from nutmeg.match.series.settings import SeriesSettings
    from nutmeg.match.series.standings import Record, Standings

CLEAR_ERRORS = 2.0
"""A difference of more than so many standard errors is coloured."""
DEEPEST_GOALS = 3.0
"""Goals a game from which on a colour does not get deeper."""
STYLE = """
.grid { font-size: .82rem; }
.grid td, .grid th { border: 1px solid var(--grid); padding: .35rem .45rem; text-align: center; white-space: nowrap; }
.grid th[scope=row] { text-align: right; color: var(--ink); }
.grid td small { display: block; color: var(--ink); opacity: .8; }
.grid td.self { background: var(--grid); }
.won { background: color-mix(in srgb, var(--green) calc(var(--deep) * 1%), transparent); }
.lost { background: color-mix(in srgb, var(--orange) calc(var(--deep) * 1%), transparent); }
"""


@dataclass(frozen=True, kw_only=True)
class SeriesReport:
    """All that a report shows."""

    settings: SeriesSettings
    results: Sequence[GameResult]
    command: str
    """The exact command that makes it again."""
    seconds: float = 0.0
    """What it took by the clock on the wall."""
    workers: str = ""
    """Where it was played."""
    paper: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """A paper's differences and their errors, to be shown below ours."""


def write_series_report(path: Path, report: SeriesReport) -> None:
    """Writes the page; the folder must exist."""
    try:
        path.write_text(series_page(report), encoding="utf-8")
    except OSError as error:
        raise FileError(path, f"the report cannot be written: {error.strerror}.") from None


def series_page(report: SeriesReport) -> str:
    """The whole page."""
    settings, table = report.settings, standings(report.settings.names, report.results)
    sections = [
        ("table", "Goal differences", _grid(report, table)),
        ("teams", "Teams", _teams(table)),
        ("games", "Games", _games(report, table)),
        ("made", "How it was made", _making(report)),
    ]
    links = "".join(f'<a href="#{key}">{name}</a>' for key, name, _ in sections)
    body = "".join(f'<section id="{key}"><h2>{name}</h2>{text}</section>' for key, name, text in sections)
    return sheet(
        settings.name,
        f'<header><p class="kind">Games</p><h1>{escape(settings.name)}</h1><p>{_what(report)}</p>'
        f'<pre class="command"><code>{escape(report.command)}</code></pre></header><nav>{links}</nav>\n'
        f"<main>{_broken(report)}{body}</main><footer>Nutmeg {escape(versions(['nutmeg'])['nutmeg'])}</footer>",
        style=STYLE,
    )


def _what(report: SeriesReport) -> str:
    settings = report.settings
    length = (
        f"{settings.half_length:g} s" if settings.halves == 1 else f"{settings.halves} × {settings.half_length:g} s"
    )
    return (
        f"{_count(len(report.results))} of {length}, {settings.players} players a side: {settings.games} of each of "
        f"{len(settings.pairs)} pairs, every other one from the other side."
    )


def _grid(report: SeriesReport, table: Standings) -> str:
    names = [name for name in table.teams if table.teams[name].games or table.teams[name].broken]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(_cell(report, table, name, other) for other in names)
        + "</tr>"
        for name in names
    )
    paper = " The paper's numbers stand below ours." if report.paper else ""
    return (
        f'<div class="scroll"><table class="grid"><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table>'
        "</div>"
        "<p class=about>Mean goals a game of the row's team more than of the column's, with the standard error in "
        f"brackets; wins, draws and losses below. Coloured where the difference is more than {CLEAR_ERRORS:g} "
        f"errors.{paper}"
        "</p>"
    )


def _cell(report: SeriesReport, table: Standings, name: str, other: str) -> str:
    if name == other:
        return '<td class="self"></td>'
    record = table.pairs.get((name, other))
    if record is None:
        return "<td></td>"
    told = report.paper.get((name, other))
    if told is None and (other, name) in report.paper:
        told = (-report.paper[other, name][0], report.paper[other, name][1])
    paper = "" if told is None else f"<small>paper {told[0]:+.2f} ({told[1]:.2f})</small>".replace("-", "−")
    wins = f"<small>{record.wins} / {record.draws} / {record.losses}</small>"
    return f"<td{_colour(record)}><b>{record.shown()}</b>{wins}{paper}</td>"


def _colour(record: Record) -> str:
    """The class of a cell, by who is ahead, if that is clear."""
    if record.difference is None or record.error is None or abs(record.difference) <= CLEAR_ERRORS * record.error:
        return ""
    deep = round(12 + 33 * min(abs(record.difference) / DEEPEST_GOALS, 1.0))
    return f' class="{"won" if record.difference > 0 else "lost"}" style="--deep: {deep}"'


def _teams(table: Standings) -> str:
    columns = (
        "",
        "games",
        "rating (95 %)",
        "difference",
        "wins",
        "draws",
        "losses",
        "goals",
        "falls a game",
        "fouls a game",
    )
    head = "".join(f"<th{' class=n' if place else ''}>{name}</th>" for place, name in enumerate(columns))
    rows = []
    for name, one in table.teams.items():
        each = (f"{one.falls / one.games:.1f}", f"{one.fouls / one.games:.1f}") if one.games else ("–", "–")
        rating = table.ratings[name].shown() if name in table.ratings else "–"
        numbers = (one.games, rating, one.shown(), one.wins, one.draws, one.losses, f"{one.goals}:{one.against}", *each)
        cells = "".join(f"<td class=n>{number}</td>" for number in numbers)
        rows.append(f"<tr><td>{escape(name)}</td>{cells}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        "<p class=about>Against all others together, the best difference first. Ratings are those of Bradley and Terry "
        "on Elo's scale (400 points are odds of ten to one, the mean of all is 0), with intervals of 95 %; a draw is "
        "half a win.</p>"
    )


def _games(report: SeriesReport, table: Standings) -> str:
    """All games, pair by pair."""
    names, parts = report.settings.names, []
    for home, away in ((names[a], names[b]) for a, b in report.settings.pairs):
        rows = "".join(_game(one) for one in report.results if (one.home, one.away) == (home, away))
        shown = table.pairs[home, away].shown() if (home, away) in table.pairs else "–"
        head = "<th>game</th><th>from the left</th><th class=n>goals</th><th class=n>falls</th><th class=n>fouls</th>"
        parts.append(
            f"<details><summary>{escape(home)} – {escape(away)}: {shown}</summary>"
            f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>'
        )
    return "".join(parts)


def _game(one: GameResult) -> str:
    left = escape(one.home if one.home_is_left else one.away)
    if one.failure:
        return f"<tr><td>{one.number + 1}</td><td>{left}</td><td colspan=3>broke off: {escape(one.failure)}</td></tr>"
    cells = "".join(f"<td class=n>{a}:{b}</td>" for a, b in (one.goals, one.falls, one.fouls))
    return f"<tr><td>{one.number + 1}</td><td>{left}</td>{cells}</tr>"


def _broken(report: SeriesReport) -> str:
    broken = [one for one in report.results if one.failure]
    if not broken:
        return ""
    items = "".join(
        f"<li>{escape(one.home)} – {escape(one.away)}, game {one.number + 1}: {escape(one.failure)}</li>"
        for one in broken[:20]
    )
    return f'<div class="warnings"><h2>{_count(len(broken))} broke off, which does not count</h2><ul>{items}</ul></div>'


def _count(games: int) -> str:
    return f"{games} game{'' if games == 1 else 's'}"


def _making(report: SeriesReport) -> str:
    settings = report.settings
    facts = {
        "teams": ", ".join(f"{one.name} ({one.decide or one.walk or one.player})" for one in settings.team),
        "world": settings.world,
        "rules": f"{settings.book} on {settings.ground}",
        "seed": str(settings.seed),
        "time": f"{report.seconds:.0f} s" + (f" on {report.workers}" if report.workers else ""),
        **versions(),
    }
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in facts.items())
    return f"<table class=facts><tbody>{rows}</tbody></table>"
