"""Play a series of games between teams and print goal differences and ratings, with their errors.

The configuration names the teams, each by a walk, a strategy or a player of your own, and says in which world, how many
games of each pair, of how many players and how long. In the behavioural world, strategies that come with Nutmeg play
hundreds of times faster than real time. Writes a folder with results.json, report.html and games.jsonl, which has every
game that has ended: Ctrl-C saves, the same command with the same --output continues, and more --games go further. The
result is the same on any number of processors.

example: nutmeg tournament examples/tournament/walks.toml --threads 2
         nutmeg tournament examples/tournament/strategies.toml --games 40
         nutmeg tournament examples/tournament/strategies.toml --replay statue,roles,1
         nutmeg tournament walks.toml --games 100 --players 9 --cluster tcp://127.0.0.1:8786 --json
"""

from __future__ import annotations

import dataclasses
import json
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from nutmeg.base.errors import UsageError, writing
from nutmeg.base.journal import command_line, finite, new_folder, open_run, plain
from nutmeg.commands.options import (
    JsonOption,
    OptionalOutput,
    Seed,
    WorkerOptions,
    check_configuration,
    processors,
)

if TYPE_CHECKING:
    from nutmeg.base.journal import Run
    from nutmeg.match.series.series import GameResult, Series
    from nutmeg.match.series.settings import SeriesSettings
    from nutmeg.match.series.standings import Standings
    from nutmeg.view.terminal import Terminal

_CHANGED = ("world", "field", "games", "players", "half_length", "seed")
"""Options that stand for the settings of the same name."""
_EXAMPLE_GAME = "striker,keeper,3"
_WIDEST = 6  # most teams of which the terminal shows all pairs; the report does so in any case
_ON_CLUSTER = 64  # games that are handed to a cluster together


@dataclass(frozen=True, kw_only=True)
class Arguments(WorkerOptions, JsonOption):
    """Options of `nutmeg tournament`; what is left out is the configuration's."""

    config: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CONFIG.toml")]
    """A TOML file with the teams."""
    world: Literal["physical", "behavioural"] | None = None
    """Robots with joints and motors, or robots that move by a few numbers: thousands of games in minutes."""
    field: str | None = None
    """Name of the field."""
    games: int | None = None
    """Games of each pair of teams."""
    players: int | None = None
    """Players of a team."""
    half_length: float | None = None
    """Length of a half [s]."""
    seed: Seed | None = None
    """Seed of everything random."""
    output: OptionalOutput = None
    """Folder of the run; runs/tournament-NAME-SEED if left out."""
    replay: Annotated[str, tyro.conf.arg(metavar="HOME,AWAY,GAME")] = ""
    """Instead of the series, play one of its games again and write its recording, report and replay: both teams in the
    order of the report and the number of the game, such as striker,keeper,3."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Plays, or continues an interrupted run."""
    from nutmeg.match.series.series import Series
    from nutmeg.match.series.settings import read_series

    check_configuration(arguments.config, "tournament")
    settings = read_series(arguments.config).changed(**{name: getattr(arguments, name) for name in _CHANGED})
    series = Series(settings)
    folder = arguments.output or Path("runs") / f"tournament-{settings.name}-{settings.seed}"
    if arguments.replay:
        return _play_again(series, arguments, folder, terminal)
    with open_run(
        folder,
        say=terminal.say,
        saved="game that has ended",
        command=command_line("tournament", dataclasses.replace(arguments, output=folder)),
        seed=settings.seed,
        configuration=series.described(),
        copy=arguments.config,
    ) as opened:
        return _play(series, opened, arguments, terminal)


def _play_again(series: Series, arguments: Arguments, folder: Path, terminal: Terminal) -> dict[str, Any]:
    """Plays one game of the series again, with all that one can look at."""
    from nutmeg.view.files.replay import replay_html
    from nutmeg.view.reports.match import write_match_report

    home, away, number = _game_named(arguments.replay)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    place = new_folder(folder, f"game-{home}-{away}-{number}".replace("/", "_"))
    path, report, replay = (place / name for name in ("match.nutmeg", "report.html", "replay.html"))
    with terminal.busy(f"{home} plays against {away}"):
        result = series.record(home, away, number - 1, path)
    command = shlex.join(command_line("tournament", dataclasses.replace(arguments, output=folder)))
    write_match_report(path, report, command=command, seed=series.settings.seed, replay=replay)
    with terminal.counting("page") as on_progress:
        replay_html(path, replay, fps=10.0, on_progress=on_progress)
    terminal.say(f"{home} {result.goals[0]}:{result.goals[1]} {away}\nreport: {report}\nreplay: {replay}")
    return {"home": home, "away": away, "game": number, "goals": result.goals, "recording": path, "report": report}


def _game_named(text: str) -> tuple[str, str, int]:
    home, _, rest = text.partition(",")
    away, _, number = rest.rpartition(",")
    if not home or not away or not number.strip().isdigit():
        raise UsageError(f"--replay is {text!r}; give both teams and the number of the game, such as {_EXAMPLE_GAME}.")
    return home.strip(), away.strip(), int(number)


def _play(series: Series, opened: Run, arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.commands.options import chosen_evaluator
    from nutmeg.match.series.series import GameLog
    from nutmeg.match.series.standings import standings
    from nutmeg.view.reports.series import lost_turn_warnings

    began = time.monotonic()
    evaluator, workers = chosen_evaluator(
        threads=arguments.threads, cluster=arguments.cluster, warn=terminal.warn, piece=series.piece, locked=True
    )
    threads = processors(arguments.threads)
    at_once = _ON_CLUSTER if arguments.cluster else 2 * threads if threads > 1 else 1
    try:
        with terminal.progress() as bar:
            task = bar.add_task("games", total=None)
            results = series.play(
                evaluator,
                log=GameLog(opened.folder / "games.jsonl"),
                at_once=at_once,
                on_game=lambda done, count: bar.update(task, completed=done, total=count),
            )
    finally:
        evaluator.close()
    seconds = round(opened.seconds_before + time.monotonic() - began, 3)
    table = standings(series.settings.names, results)
    answer = _answer(series.settings, results, table, seconds)
    opened.write("results.json", json.dumps({**answer, "results": plain(results)}, indent=1) + "\n")
    _report(series, opened, results, seconds, workers)
    _show(table, terminal)
    for warning in lost_turn_warnings(table):
        terminal.warn(warning)
    terminal.say(f"report: {opened.folder / 'report.html'}")
    return {**answer, "folder": opened.folder, "report": opened.folder / "report.html"}


def _answer(settings: SeriesSettings, results: list[GameResult], table: Standings, seconds: float) -> dict[str, Any]:
    pairs = [
        {"home": home, "away": away, **table.pairs[home, away].as_json()}
        for home, away in ((settings.names[a], settings.names[b]) for a, b in settings.pairs)
    ]
    found = {
        "name": settings.name,
        "seed": settings.seed,
        "games": len(results),
        "broken": sum(bool(one.failure) for one in results),
        "lost_turns": sum(sum(one.lost_turns) for one in results),
        "world": settings.world,
        "players": settings.players,
        "half_length": settings.half_length,
        "halves": settings.halves,
        "teams": {name: one.as_json() for name, one in table.teams.items()},
        "ratings": {name: vars(one) for name, one in table.ratings.items()},
        "pairs": pairs,
        "seconds": seconds,
    }
    answer: dict[str, Any] = finite(plain(found))
    return answer


def _report(series: Series, opened: Run, results: list[GameResult], seconds: float, workers: str) -> None:
    from nutmeg.view.reports.series import SeriesReport, write_series_report

    report = SeriesReport(
        settings=series.settings, results=results, command=opened.resume_command, seconds=seconds, workers=workers
    )
    write_series_report(opened.folder / "report.html", report)


def _show(table: Standings, terminal: Terminal) -> None:
    """Prints the tables: all pairs where that is not too wide, then each team against all."""
    names = list(table.teams)
    if len(names) <= _WIDEST:
        _show_pairs(table, names, terminal)
    every = [
        (
            name,
            one.games,
            table.ratings[name].shown() if name in table.ratings else "–",
            one.shown(),
            f"{one.wins}/{one.draws}/{one.losses}",
            f"{one.goals}:{one.against}",
            one.lost_turns,
        )
        for name, one in table.teams.items()
    ]
    columns = ("team", "games", "rating (95 %)", "difference", "won/drawn/lost", "goals", "lost turns")
    terminal.table("against all", columns, every)


def _show_pairs(table: Standings, names: list[str], terminal: Terminal) -> None:
    from rich.text import Text

    rows = []
    for name in names:
        cells = [table.pairs[name, other].shown() if (name, other) in table.pairs else "" for other in names]
        rows.append((name, *(Text(cell, "green" if cell.startswith("+") else "") for cell in cells)))
    terminal.table("goals a game, row minus column (standard error)", ("", *names), rows)
