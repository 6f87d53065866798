"""The report of a match: one page that needs nothing else, made from its recording.

    write_match_report(Path("match.nutmeg"), Path("report.html"), command="nutmeg play --seed 7", seed=7)

Result, goals, how the teams compare, where the ball and the players were, every player in numbers, what happened, and
the command that plays the same match again. All names are text from users and are escaped.
"""

from __future__ import annotations

import base64
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from nutmeg.body.field import load_field
from nutmeg.errors import FileError
from nutmeg.recording import Recording
from nutmeg.runs import versions
from nutmeg.view.match_facts import (
    FASTEST,
    SHOT_BESIDE,
    SHOT_SPEED,
    SHOT_TIME,
    match_facts,
)
from nutmeg.view.match_plots import ball_map, player_map
from nutmeg.view.match_story import COLOURS, MARKS, clock_text

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.body.field import FieldSettings
    from nutmeg.view.match_facts import MatchFacts, TeamFacts

GREY = "#9aa5ad"
MOST_TOLD = 160
"""Events that are listed; of more, falls are left out first."""


def write_match_report(path: Path, out: Path, *, command: str, seed: int) -> MatchFacts:
    """Write the report of a recorded match; returns the numbers in it.

    Args:
        path: the recording.
        out: the HTML file to write.
        command: what plays the same match again.
        seed: of the match.
    """
    recording = Recording.open(path)
    facts = match_facts(recording)
    field = load_field(str(recording.manifest.config.get("field", "sim3d")))
    text = report_page(facts, field, command=command, seed=seed)
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(out, f"the report cannot be written: {error.strerror}.") from error
    return facts


def report_page(facts: MatchFacts, field: FieldSettings, *, command: str, seed: int) -> str:
    """The whole page."""
    style = (resources.files("nutmeg.view") / "match_report.css").read_text(encoding="utf-8")
    first, second = (escape(team.name) for team in facts.teams)
    parts = (
        _head(facts),
        _section("The match in numbers", _duel(facts)),
        _section("Where it was played", _maps(facts, field)),
        _section("Players", _players(facts)),
        _section("What happened", _story(facts)),
        _section("Play it again", _again(command, seed)),
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{first} {facts.teams[0].goals}:{facts.teams[1].goals} {second}</title>\n"
        f"<style>\n{style}</style></head>\n<body><main>{''.join(parts)}"
        f"<footer><p>Nutmeg {escape(versions().get('nutmeg', ''))}</p></footer></main></body></html>\n"
    )


def _head(facts: MatchFacts) -> str:
    teams, score = facts.teams, f"{facts.teams[0].goals}:{facts.teams[1].goals}"
    names = [f'<i style="background:{colour}"></i>' for colour in COLOURS]
    goals = []
    for team in (0, 1):
        found = [e for e in facts.told if e["kind"] == "goal" and e["about"] == team]
        lines = [f"{clock_text(e['clock'])} {escape(_scorer(e))}" for e in found]
        goals.append(f'<div class="goals">{"<br>".join(lines)}</div>')
    ended = "full time" if facts.over else "cut short"
    return (
        f'<header><div class="team">{escape(teams[0].name)}{names[0]}</div><div class="score">{score}</div>'
        f'<div class="team">{names[1]}{escape(teams[1].name)}</div>'
        f"{goals[0]}<div></div>{goals[1]}"
        f'<div class="when">{clock_text(facts.game_time)} played, {ended} · '
        f"{len(teams[0].players)} against {len(teams[1].players)}</div></header>"
    )


def _scorer(event: dict[str, object]) -> str:
    number = event.get("number")
    return f"number {number}" if number else "own goal" if "own goal" in str(event["text"]) else "goal"


def _duel(facts: MatchFacts) -> str:
    """Both teams side by side, a bar between their numbers."""
    a, b = facts.teams
    rows = [
        ("possession", a.possession, b.possession, "{:.0%}"),
        ("ball in the opponents' half", a.attack, b.attack, "{:.0%}"),
        ("shots", a.shots, b.shots, "{}"),
        ("way walked", a.distance, b.distance, "{:.0f} m"),
        ("falls", a.falls, b.falls, "{}"),
        ("fouls", a.fouls, b.fouls, "{}"),
        ("limbs in each other", a.self_collisions, b.self_collisions, "{}"),
    ]
    cells = "".join(_bar(*row) for row in rows)
    note = (
        "Possession: who touched the ball last, while it was live. A shot is a ball faster than "
        f"{SHOT_SPEED:g} m/s on its way into the goal or up to {SHOT_BESIDE:g} m beside it, and nearer than "
        f"{SHOT_TIME:g} s at that speed."
    )
    return f'<div class="duel">{cells}</div><p class="note">{note}</p>'


def _bar(name: str, first: float, second: float, shape: str) -> str:
    whole = first + second
    widths = (100 * first / whole, 100 * second / whole) if whole else ()
    spans = "".join(
        f'<span style="width:{width:.1f}%;background:{colour}"></span>'
        for width, colour in zip(widths, COLOURS, strict=False)
    )
    bar = f'<div class="bar">{spans}<em>{escape(name)}</em></div>'
    return f"<b>{shape.format(first)}</b>{bar}<b>{shape.format(second)}</b>"


def _maps(facts: MatchFacts, field: FieldSettings) -> str:
    figures = [_figure(ball_map(facts, field), "The live ball; stars are goals.")]
    for team, colour in zip(facts.teams, COLOURS, strict=True):
        text = f"{escape(team.name)}: where its players were, every half second, and their median places."
        figures.append(_figure(player_map(team, field, colour), text))
    note = "The team named first defends the left goal on all maps, also after a change of ends."
    return f'<div class="maps">{"".join(figures)}</div><p class="note">{note}</p>'


def _figure(png: bytes, text: str) -> str:
    data = base64.b64encode(png).decode()
    return f'<figure><img alt="" src="data:image/png;base64,{data}"><figcaption>{text}</figcaption></figure>'


def _players(facts: MatchFacts) -> str:
    head = "<tr><th>player</th><th>walked</th><th>touches</th><th>goals</th><th>falls</th><th>fouls</th>"
    rows = "".join(_rows(team, colour) for team, colour in zip(facts.teams, COLOURS, strict=True))
    note = (
        "Touches: how often a player got to the ball after somebody else. Own place: how far from the truth it "
        f"believed itself, median. Ways leave out what was faster than {FASTEST:g} m/s: there, somebody was put "
        "elsewhere."
    )
    return f'<table>{head}<th>own place</th></tr>{rows}</table><p class="note">{note}</p>'


def _rows(team: TeamFacts, colour: str) -> str:
    return "".join(
        f'<tr><td><i style="background:{colour}"></i>{escape(team.name)} {p.number}</td><td>{p.distance:.0f} m</td>'
        f"<td>{p.touches}</td><td>{p.goals}</td><td>{p.falls}</td><td>{p.fouls}</td>"
        f"<td>{'–' if p.believed is None else f'{100 * p.believed:.0f} cm'}</td></tr>"
        for p in team.players
    )


def _story(facts: MatchFacts) -> str:
    told = facts.told
    left_out = ""
    if len(told) > MOST_TOLD:
        falls = sum(1 for e in told if e["kind"] == "fall")
        told = [e for e in told if e["kind"] != "fall"][:MOST_TOLD]
        left_out = f'<p class="note">{falls} falls, and what came after {MOST_TOLD} events, are left out here.</p>'
    if not told:
        return '<p class="note">Nothing worth a line.</p>'
    lines = "".join(
        f'<li class="{e["kind"]}" style="--team:{GREY if e["about"] is None else COLOURS[e["about"]]}">'
        f"<span>{clock_text(e['clock'])}</span>{MARKS[e['kind']]} {escape(e['text'])}</li>"
        for e in told
    )
    return f'<ul class="story">{lines}</ul>{left_out}'


def _again(command: str, seed: int) -> str:
    words = f"Seed {seed}. The same version, command and seed play the same match."
    return f"<p>{words}</p><p><code>{escape(command)}</code></p>"


def _section(title: str, text: str) -> str:
    return f"<section><h2>{title}</h2>{text}</section>"
