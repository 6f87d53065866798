"""The report of a match: one page that needs nothing else, made from its recording.

    write_match_report(Path("match.nutmeg"), Path("report.html"), command="nutmeg play --seed 7", seed=7)

Result, goals, how the teams compare, where the ball and the players were, every player in numbers, what happened, and
the command that plays the same match again. All names are text from users and are escaped.
"""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import FileError
from nutmeg.base.journal import versions
from nutmeg.match.recording import STATE_LABELS
from nutmeg.match.rules.book import MAX_PLAYERS, load_rules
from nutmeg.match.rules.play_modes import LIVE
from nutmeg.model.field import load_field
from nutmeg.recording import Recording
from nutmeg.view.match_story import EVENT_SIGNS, TEAM_COLOURS, MatchStory, clock_text, number_of

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.model.field import FieldSettings


# ----------------------------------------------------------------------------------------------------
# The numbers of a recorded match: possession, shots, ways walked, falls, fouls, and how well players knew their
# place.
#
# Everything is worked out from the recording alone, so a match that was cut short has the same report as a whole one.
# Teams are meant by the side on which they began; after a change of ends all places are turned by half a turn, so
# that on maps a team stays where it began.


PLACE_PERIOD = 0.5
"""Ways are added up over places this far apart in time [s]: the sway of the torso is no way."""
MAX_WALKING_SPEED = 1.5
"""Who seems to go faster than this was put somewhere [m/s]."""
SHOT_SPEED, SHOT_BESIDE, SHOT_TIME, SHOT_PAUSE = 1.0, 0.5, 4.0, 2.0
"""A shot: a ball faster than this [m/s], on a line into the goal or this much beside it [m], nearer than so long at
that speed [s]; the next one comes at least so much later [s]."""
SPEED_ROWS = 5
"""Rows over which the ball's velocity is measured."""
BALL_ROW_STEP = 5
"""Of the places of the ball, one of so many rows is kept."""
UNDERGROUND = -1.0
"""Robots below this height do not play [m]."""


@dataclass(frozen=True, kw_only=True)
class PlayerFacts:
    """One player."""

    robot: str
    number: int
    distance: float
    """Walked, m."""
    touches: int
    """How often it got to the ball: touches after somebody else's."""
    falls: int
    fouls: int
    goals: int
    believed: float | None
    """How far the place where it believed itself was from the truth: median, m; None if it did not say."""
    places: Floats
    """(n, 2) where it was, every half second, m."""


@dataclass(frozen=True, kw_only=True)
class TeamFacts:
    """One team."""

    name: str
    goals: int
    possession: float
    """Share of the time with a live ball in which it had touched it last."""
    attack: float
    """Share of the time with a live ball in which that was in the opponents' half."""
    shots: int
    falls: int
    fouls: int
    self_collisions: int
    players: tuple[PlayerFacts, ...]

    @property
    def distance(self) -> float:
        """Walked by all its players, m."""
        return sum(player.distance for player in self.players)


@dataclass(frozen=True, kw_only=True)
class MatchFacts:
    """A match."""

    teams: tuple[TeamFacts, TeamFacts]
    told: list[dict[str, Any]] = field(default_factory=list)
    """What happened: see `MatchStory.told`."""
    game_time: float
    """On the game's clock, s."""
    duration: float
    """Of the recording, s."""
    over: bool
    """Whether it was played to its end."""
    ball: Floats
    """(n, 2) places of the live ball, m."""


def match_facts(recording: Recording) -> MatchFacts:
    """The numbers of a match."""
    story = MatchStory(recording)
    state = recording.read("game.state")
    columns = {name: state[:, i] for i, name in enumerate(STATE_LABELS)}
    times = np.asarray(recording.times)
    turn = np.where(columns["swapped"] > 0, -1.0, 1.0)
    live = np.isin(columns["mode"], [float(mode) for mode in LIVE])
    ball = recording.read("ball.pose")[:, :2] * turn[:, None]
    owner = np.where(columns["touch"] < 0, -1, columns["touch"] // MAX_PLAYERS)
    shots = _shots(times, ball, live, owner, str(recording.manifest.config.get("rules", "sim3d")))
    robots = [name.removesuffix(".angles") for name in recording.channels if name.endswith(".angles")]
    players = [_player(recording, story, robot, times, turn, columns["touch"]) for robot in robots]
    last = story.moment(len(recording) - 1) if len(recording) else None
    teams = []
    for team in (0, 1):
        own = tuple(p for p in players if p is not None and story.team_of(p.robot) == team)
        forward = ball[:, 0] > 0 if team == 0 else ball[:, 0] < 0
        teams.append(
            TeamFacts(
                name=story.teams[team],
                goals=last.score[team] if last is not None else 0,
                possession=_share(live & (owner == team), live & (owner >= 0)),
                attack=_share(live & forward, live),
                shots=sum(1 for _, shooter in shots if shooter == team),
                falls=sum(p.falls for p in own),
                fouls=sum(p.fouls for p in own),
                self_collisions=story.self_collisions[team],
                players=own,
            )
        )
    return MatchFacts(
        teams=(teams[0], teams[1]),
        told=story.told,
        game_time=last.clock if last is not None else 0.0,
        duration=recording.duration,
        over=last is not None and last.mode.name == "GAME_OVER",
        ball=ball[live][::BALL_ROW_STEP],
    )


def _player(
    recording: Recording, story: MatchStory, robot: str, times: Floats, turn: Floats, touch: Floats
) -> PlayerFacts | None:
    """The numbers of a player; None for one that never played."""
    poses = recording.read(f"{robot}.pose")
    there = poses[:, 2] > UNDERGROUND
    if not there.any():
        return None
    number = number_of(robot)
    own = story.team_of(robot) * MAX_PLAYERS + number - 1
    mine = touch == own
    kept = np.flatnonzero(np.diff(np.floor(times / PLACE_PERIOD + 1e-6), prepend=-1.0) > 0)
    kept = kept[there[kept]]
    told = [event for event in story.told if event.get("robot") == robot]
    believed = None
    if f"{robot}.belief" in recording.channels:
        errors = np.linalg.norm(recording.read(f"{robot}.belief")[:, :2] - poses[:, :2], axis=1)
        known = errors[there & np.isfinite(errors)]
        believed = float(np.median(known)) if len(known) else None
    return PlayerFacts(
        robot=robot,
        number=number,
        distance=walked(times[kept], poses[kept, :2]),
        touches=int(np.count_nonzero(mine[1:] & ~mine[:-1])) + int(mine[0]),
        falls=sum(1 for e in told if e["kind"] == "fall"),
        fouls=sum(1 for e in told if e["kind"] in ("foul", "double_touch")),
        goals=sum(1 for e in told if e["kind"] == "goal"),
        believed=believed,
        places=poses[kept, :2] * turn[kept, None],
    )


def walked(times: Floats, places: Floats) -> float:
    """The way along places (n, 2) at times (n,), without the steps at which somebody was put elsewhere [m]."""
    if len(places) < 2:
        return 0.0
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    return float(steps[steps <= MAX_WALKING_SPEED * np.diff(times)].sum())


def _shots(times: Floats, ball: Floats, live: Bools, owner: Floats, rules: str) -> list[tuple[float, int]]:
    """Times and teams of shots: by whoever touched the ball last, at the other goal."""
    pitch = load_rules(rules).pitch
    if len(ball) <= SPEED_ROWS:
        return []
    velocity = (ball[SPEED_ROWS:] - ball[:-SPEED_ROWS]) / (times[SPEED_ROWS:] - times[:-SPEED_ROWS])[:, None]
    now, when, by = ball[SPEED_ROWS:], times[SPEED_ROWS:], owner[SPEED_ROWS:]
    played = live[SPEED_ROWS:] & live[:-SPEED_ROWS] & (np.linalg.norm(velocity, axis=1) >= SHOT_SPEED)
    towards = np.where(by == 0, 1.0, -1.0)
    ahead, left = velocity[:, 0] * towards, pitch.length / 2 - now[:, 0] * towards
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = left / ahead
        across = now[:, 1] + velocity[:, 1] * needed
    aimed = played & (by >= 0) & (ahead > 0) & (needed > 0) & (needed <= SHOT_TIME)
    aimed &= np.abs(np.nan_to_num(across, nan=np.inf)) <= pitch.goal_width / 2 + SHOT_BESIDE
    found: list[tuple[float, int]] = []
    for row in np.flatnonzero(aimed).tolist():
        if not found or when[row] - found[-1][0] > SHOT_PAUSE or found[-1][1] != by[row]:
            found.append((float(when[row]), int(by[row])))
        else:
            found[-1] = (float(when[row]), found[-1][1])
    return found


def _share(part: Bools, whole: Bools) -> float:
    count = int(np.count_nonzero(whole))
    return float(np.count_nonzero(part)) / count if count else 0.0


# ----------------------------------------------------------------------------------------------------
# Maps of a match as pictures: where the ball was, and where the players were.


GRASS_COLOUR, LINE_COLOUR, MAP_MARGIN = "#2f7d46", "#e9f2ec", 1.0
MAP_CELL = 0.5
"""Cells of the ball's map, m."""
MAP_DPI = 120
MAP_BLUR = 1.0
"""Width of the blur of the ball's map, cells."""


def ball_map(facts: MatchFacts, field: FieldSettings) -> bytes:
    """Where the live ball was, as a heat map; PNG."""
    figure, axes = _pitch(field)
    if len(facts.ball):
        columns, rows = round(field.length / MAP_CELL), round(field.width / MAP_CELL)
        x, y = field.length / 2, field.width / 2
        counts, _, _ = np.histogram2d(
            facts.ball[:, 0], facts.ball[:, 1], bins=(columns, rows), range=[[-x, x], [-y, y]]
        )
        heat = _blurred(np.sqrt(counts)).T
        heat = heat / max(float(heat.max()), 1e-9)
        axes.imshow(
            heat, alpha=np.minimum(2.5 * np.sqrt(heat), 0.9), extent=(-x, x, -y, y), origin="lower", cmap="inferno",
            interpolation="bilinear", zorder=1, vmin=-0.25, vmax=1.0,
        )  # fmt: skip
        for event in facts.told:
            if event["kind"] == "goal" and "place" in event:
                axes.plot(
                    *np.array(event["place"])[:, None], marker="*", color="white", ms=11, mec="black", mew=0.6, zorder=4
                )
    return _png(figure)


def player_map(team: TeamFacts, field: FieldSettings, colour: str) -> bytes:
    """Where the players of a team were: their ways, and their numbers at their mean places; PNG."""
    figure, axes = _pitch(field)
    for player in team.players:
        places = player.places
        if not len(places):
            continue
        axes.scatter(places[:, 0], places[:, 1], s=9, color=colour, alpha=0.45, lw=0, zorder=2)
        x, y = np.median(places, axis=0)
        axes.text(
            x, y, str(player.number), color="white", ha="center", va="center", fontsize=10, fontweight="bold", zorder=5,
            bbox={"boxstyle": "circle,pad=0.28", "fc": colour, "ec": "white", "lw": 1.2},
        )  # fmt: skip
    return _png(figure)


def _pitch(field: FieldSettings) -> tuple[Any, Axes]:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection

    long, wide = field.length + 2 * MAP_MARGIN, field.width + 2 * MAP_MARGIN
    figure = plt.figure(figsize=(6.2, 6.2 * wide / long))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-long / 2, long / 2)
    axes.set_ylim(-wide / 2, wide / 2)
    axes.axis("off")
    figure.patch.set_facecolor(GRASS_COLOUR)
    axes.add_collection(
        LineCollection([np.array(line) for line in field.lines()], colors=LINE_COLOUR, lw=1.3, zorder=3)
    )
    return figure, axes


def _blurred(values: Any) -> Any:  # noqa: ANN401
    """Values (n, m) blurred a little, so that single visits do not sparkle."""
    steps = np.arange(-3, 4)
    weights = np.exp(-0.5 * (steps / MAP_BLUR) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        values = np.apply_along_axis(lambda row: np.convolve(row, weights, mode="same"), axis, values)
    return values


def _png(figure: Any) -> bytes:  # noqa: ANN401
    import matplotlib.pyplot as plt

    out = io.BytesIO()
    figure.savefig(out, dpi=MAP_DPI, facecolor=figure.get_facecolor())
    plt.close(figure)
    return out.getvalue()


DRAW_COLOUR = "#9aa5ad"
MAX_LISTED_EVENTS = 160
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
    names = [f'<i style="background:{colour}"></i>' for colour in TEAM_COLOURS]
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
        for width, colour in zip(widths, TEAM_COLOURS, strict=False)
    )
    bar = f'<div class="bar">{spans}<em>{escape(name)}</em></div>'
    return f"<b>{shape.format(first)}</b>{bar}<b>{shape.format(second)}</b>"


def _maps(facts: MatchFacts, field: FieldSettings) -> str:
    figures = [_figure(ball_map(facts, field), "The live ball; stars are goals.")]
    for team, colour in zip(facts.teams, TEAM_COLOURS, strict=True):
        text = f"{escape(team.name)}: where its players were, every half second, and their median places."
        figures.append(_figure(player_map(team, field, colour), text))
    note = "The team named first defends the left goal on all maps, also after a change of ends."
    return f'<div class="maps">{"".join(figures)}</div><p class="note">{note}</p>'


def _figure(png: bytes, text: str) -> str:
    data = base64.b64encode(png).decode()
    return f'<figure><img alt="" src="data:image/png;base64,{data}"><figcaption>{text}</figcaption></figure>'


def _players(facts: MatchFacts) -> str:
    head = "<tr><th>player</th><th>walked</th><th>touches</th><th>goals</th><th>falls</th><th>fouls</th>"
    rows = "".join(_rows(team, colour) for team, colour in zip(facts.teams, TEAM_COLOURS, strict=True))
    note = (
        "Touches: how often a player got to the ball after somebody else. Own place: how far from the truth it "
        f"believed itself, median. Ways leave out what was faster than {MAX_WALKING_SPEED:g} m/s: there, somebody was "
        "put elsewhere."
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
    if len(told) > MAX_LISTED_EVENTS:
        falls = sum(1 for e in told if e["kind"] == "fall")
        told = [e for e in told if e["kind"] != "fall"][:MAX_LISTED_EVENTS]
        left_out = (
            f'<p class="note">{falls} falls, and what came after {MAX_LISTED_EVENTS} events, are left out here.</p>'
        )
    if not told:
        return '<p class="note">Nothing worth a line.</p>'
    lines = "".join(
        f'<li class="{e["kind"]}" style="--team:{DRAW_COLOUR if e["about"] is None else TEAM_COLOURS[e["about"]]}">'
        f"<span>{clock_text(e['clock'])}</span>{EVENT_SIGNS[e['kind']]} {escape(e['text'])}</li>"
        for e in told
    )
    return f'<ul class="story">{lines}</ul>{left_out}'


def _again(command: str, seed: int) -> str:
    words = f"Seed {seed}. The same version, command and seed play the same match."
    return f"<p>{words}</p><p><code>{escape(command)}</code></p>"


def _section(title: str, text: str) -> str:
    return f"<section><h2>{title}</h2>{text}</section>"
