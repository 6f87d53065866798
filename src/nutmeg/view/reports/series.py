"""The report of a series of games.

    write_series_report(Path("report.html"), SeriesReport(settings=settings, results=results, command="nutmeg ..."))

The cross table is that of MacAlpine and others (2012), table 3: mean goal difference of the row's team against the
column's, with its standard error in brackets. Differences of more than two errors are coloured.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nutmeg.base.journal import versions
from nutmeg.match.series.standings import standings
from nutmeg.view.reports.report import Cell, Command, Details, Facts, Report, Section, Table, Text, write_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nutmeg.match.series.series import GameResult
    from nutmeg.match.series.settings import SeriesSettings
    from nutmeg.match.series.standings import Record, Standings

_CLEAR_ERRORS = 2.0  # a difference of more than this number of standard errors is coloured
_DEEPEST_GOALS = 3.0  # the difference in goals a game that has the deepest colour


@dataclass(frozen=True, kw_only=True)
class SeriesReport:
    """The results of a series of games, and its settings."""

    settings: SeriesSettings
    results: Sequence[GameResult]
    command: str
    """The exact command that makes it again."""
    seconds: float = 0.0
    """Wall-clock time of the series, s."""
    workers: str = ""
    """The machines or threads it was played on."""
    paper: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """Published differences and their errors, shown below ours."""


def write_series_report(path: Path, report: SeriesReport) -> None:
    """Write the report as one HTML file; the folder must exist."""
    write_page(path, series_page(report))


def series_page(report: SeriesReport) -> Report:
    """The report in the form that the template shows."""
    table = standings(report.settings.names, report.results)
    broken = [one for one in report.results if one.failure]
    warnings = [f"{one.home} – {one.away}, game {one.number + 1} broke off: {one.failure}" for one in broken[:20]]
    warnings += lost_turn_warnings(table)
    return Report(
        title=report.settings.name,
        kind="Games",
        summary=_summary(report),
        command=report.command,
        warning_title=f"{_count(len(broken))} broke off and do not count" if broken else "Players lost turns",
        warnings=tuple(warnings),
        sections=(
            Section(key="table", title="Goal differences", blocks=(_cross_table(report, table),)),
            Section(key="teams", title="Teams", blocks=(_teams(table),)),
            Section(key="games", title="Games", blocks=tuple(_games(report, table))),
            Section(key="made", title="How it was made", blocks=(Facts(items=_facts(report)),)),
        ),
    )


def lost_turn_warnings(table: Standings) -> list[str]:
    """A warning for each team whose players lost turns, because its results say little about its strategy."""
    return [
        f"{name} lost {one.lost_turns} turns in {_count(one.games)}: its decisions raised, took too long or made no "
        f"sense, and its players stood still."
        for name, one in table.teams.items()
        if one.lost_turns
    ]


def _summary(report: SeriesReport) -> str:
    settings = report.settings
    halves = "" if settings.halves == 1 else f"{settings.halves} × "
    return (
        f"{_count(len(report.results))} of {halves}{settings.half_length:g} s, {settings.players} players a side: "
        f"{settings.games} of each of {len(settings.pairs)} pairs, every other one from the other side."
    )


def _cross_table(report: SeriesReport, table: Standings) -> Table:
    names = [name for name in table.teams if table.teams[name].games or table.teams[name].broken]
    paper = " The paper's numbers stand below ours." if report.paper else ""
    return Table(
        kind="grid",
        columns=("", *names),
        rows=tuple((name, *(_cell(report, table, name, other) for other in names)) for name in names),
        numeric=(),
        about="Mean goals a game of the row's team more than of the column's, with the standard error in brackets; "
        f"wins, draws and losses below. Coloured where the difference is more than {_CLEAR_ERRORS:g} errors.{paper}",
    )


def _cell(report: SeriesReport, table: Standings, name: str, other: str) -> Cell:
    record = table.pairs.get((name, other))
    if name == other or record is None:
        return Cell()
    notes = [f"{record.wins} / {record.draws} / {record.losses}"]
    published = report.paper.get((name, other))
    if published is None and (other, name) in report.paper:
        published = (-report.paper[other, name][0], report.paper[other, name][1])
    if published is not None:
        notes.append(f"paper {published[0]:+.2f} ({published[1]:.2f})".replace("-", "−"))
    return Cell(value=record.shown(), strong=True, notes=tuple(notes), shade=_shade(record))


def _shade(record: Record) -> float:
    """The background of a cell: 1 if the row's team is far ahead, -1 if far behind, 0 if it is not clear."""
    if record.difference is None or record.error is None or abs(record.difference) <= _CLEAR_ERRORS * record.error:
        return 0.0
    return max(-1.0, min(record.difference / _DEEPEST_GOALS, 1.0))


def _teams(table: Standings) -> Table:
    numbers = ("games", "rating (95 %)", "difference", "wins", "draws", "losses", "goals")
    each_game = ("falls a game", "fouls a game", "lost turns")
    rows: list[tuple[str | int, ...]] = []
    for name, one in table.teams.items():
        falls, fouls = (f"{n / one.games:.1f}" if one.games else "–" for n in (one.falls, one.fouls))
        rating = table.ratings[name].shown() if name in table.ratings else "–"
        goals = f"{one.goals}:{one.against}"
        rows.append(
            (name, one.games, rating, one.shown(), one.wins, one.draws, one.losses, goals, falls, fouls, one.lost_turns)
        )
    return Table(
        columns=("", *numbers, *each_game),
        rows=tuple(rows),
        numeric=(*numbers, *each_game),
        about="Against all others together, the best difference first. Ratings are those of Bradley and Terry on "
        "Elo's scale (400 points are odds of ten to one, the mean of all is 0), with intervals of 95 %; a draw is "
        "half a win.",
    )


def _games(report: SeriesReport, table: Standings) -> Iterator[Details]:
    """All games, pair by pair."""
    names = report.settings.names
    for home, away in ((names[a], names[b]) for a, b in report.settings.pairs):
        shown = table.pairs[home, away].shown() if (home, away) in table.pairs else "–"
        games = Table(
            columns=("game", "from the left", "goals", "falls", "fouls", "lost turns"),
            rows=tuple(_game(one) for one in report.results if (one.home, one.away) == (home, away)),
            numeric=("goals", "falls", "fouls", "lost turns"),
        )
        command = f"{report.command} --replay {shlex.quote(f'{home},{away},1')}"
        see = Text(text="The first of these games again, with its recording, report and replay:")
        yield Details(summary=f"{home} – {away}: {shown}", blocks=(games, see, Command(text=command)))


def _game(one: GameResult) -> tuple[str | int | Cell, ...]:
    start = (one.number + 1, one.home if one.home_is_left else one.away)
    if one.failure:
        return (*start, Cell(value=f"broke off: {one.failure}", span=4))
    return (*start, *(f"{a}:{b}" for a, b in (one.goals, one.falls, one.fouls, one.lost_turns)))


def _facts(report: SeriesReport) -> dict[str, str]:
    settings = report.settings
    return {
        "teams": ", ".join(f"{one.name} ({one.decide or one.walk or one.player})" for one in settings.team),
        "world": settings.world,
        "rules": f"{settings.book} on {settings.ground}",
        "seed": str(settings.seed),
        "time": f"{report.seconds:.0f} s" + (f" on {report.workers}" if report.workers else ""),
        **versions(),
    }


def _count(games: int) -> str:
    return f"{games} game{'' if games == 1 else 's'}"
