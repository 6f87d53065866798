"""The report of a match, made from its recording: result, team and player statistics, maps, and events.

    write_match_report(Path("match.nutmeg"), Path("report.html"), command="nutmeg play --seed 7", seed=7)

    facts = match_facts(Recording.open(Path("match.nutmeg")))
    facts.teams[0].possession            # share of the time with a live ball in which they had touched it last

All numbers are computed from the recording alone, so a match that was cut short has the same report as a whole one.
Teams are named by the side on which they began; after a change of ends all places are turned by half a turn, so that a
team stays on its side of the maps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.match.recording import STATE_LABELS
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import LIVE
from nutmeg.model.field import load_field
from nutmeg.recording import Recording
from nutmeg.view.match_story import (
    EVENT_SIGNS,
    SHOT_BESIDE,
    SHOT_SPEED,
    SHOT_TIME,
    TEAM_COLOURS,
    MatchStory,
    clock_text,
    number_of,
)
from nutmeg.view.reports.plots import png
from nutmeg.view.reports.report import (
    Cell,
    Command,
    Duel,
    Mark,
    Picture,
    Pictures,
    Report,
    Scoreboard,
    Section,
    Strip,
    Table,
    Text,
    Timeline,
    write_page,
)
from nutmeg.view.stage.film import UNDERGROUND

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.model.field import FieldSettings
    from nutmeg.view.match_story import Moment
    from nutmeg.view.reports.report import Block

# ---- numbers

_PLACE_PERIOD = 0.5
"""Walked distances are summed over places this far apart in time [s], so that the sway of the torso does not count."""
_MAX_WALKING_SPEED = 1.5  # a player that seems to go faster than this was moved by the referee [m/s]
_REPLAY_LEAD = 6.0  # a link from an event into the replay goes to this time before it [s]
ROWS_PER_READ = 5000  # rows that are counted at once
_BALL_ROW_STEP = 5  # one in this number of rows is kept of the places of the ball


@dataclass(frozen=True, kw_only=True)
class PlayerFacts:
    """Statistics of one player in a match."""

    robot: str
    number: int
    distance: float
    """Walked distance, m."""
    touches: int
    """Number of times it got to the ball after another player."""
    falls: int
    fouls: int
    goals: int
    believed: float | None
    """Median error of its believed position, m; None if its beliefs were not recorded."""
    places: Floats
    """Its places (n, 2), every half second, m."""


@dataclass(frozen=True, kw_only=True)
class TeamFacts:
    """Statistics of one team in a match."""

    name: str
    subtitle: str = ""
    """A remark about the team, such as its walk."""
    goals: int
    possession: float
    """Share of the time with a live ball in which it had touched it last."""
    attack: float
    """Share of the time with a live ball in which the ball was in the opponents' half."""
    shots: int
    falls: int
    fouls: int
    self_collisions: int
    players: tuple[PlayerFacts, ...]

    @property
    def distance(self) -> float:
        """Distance walked by all its players, m."""
        return sum(player.distance for player in self.players)


@dataclass(frozen=True, kw_only=True)
class MatchFacts:
    """All numbers of the report of a match."""

    teams: tuple[TeamFacts, TeamFacts]
    events: list[dict[str, Any]] = field(default_factory=list)
    """See `MatchStory.events`."""
    game_time: float
    """Time on the game clock, s."""
    duration: float
    """Duration of the recording, s."""
    over: bool
    """Whether it was played to its end."""
    ball: Floats
    """Places (n, 2) of the live ball, m."""


class MatchStatistics:
    """The numbers of a match that may still be played.

    `take` counts the rows since its last call, so that little is left to do when the match ends. Memory grows with the
    places of players (two a second) and the errors of their beliefs (one each row), not with the recording.
    """

    def __init__(self, story: MatchStory) -> None:
        self._story, self._recording = story, story.recording
        robots = [name.removesuffix(".angles") for name in self._recording.channels if name.endswith(".angles")]
        self._players = [_PlayerCount(robot, story.team_of(robot), self._recording) for robot in robots]
        self._read = self._live = self._owned = 0
        self._possession, self._attack = np.zeros(2, int), np.zeros(2, int)
        self._half_second = -1.0
        self._ball: list[Floats] = [np.empty((0, 2))]

    def take(self) -> None:
        """Count the rows since the last call."""
        self._story.refresh()
        while self._read < len(self._recording):
            stop = min(self._read + ROWS_PER_READ, len(self._recording))
            self._count(self._read, stop)
            self._read = stop

    def _count(self, start: int, stop: int) -> None:
        recording = self._recording
        channels = ["game.state", "ball.pose", *(name for player in self._players for name in player.channels)]
        values = recording.read_several(channels, start, stop)
        columns = dict(zip(STATE_LABELS, values["game.state"].T, strict=False))
        turn = np.where(columns["swapped"] > 0, -1.0, 1.0)
        live = np.isin(columns["mode"], [float(mode) for mode in LIVE])
        ball = (values["ball.pose"][:, :2] * turn[:, None])[live]
        owner = np.where(columns["touch"] < 0, -1, columns["touch"] // MAX_PLAYERS)[live]
        self._owned += int(np.count_nonzero(owner >= 0))
        self._possession += [np.count_nonzero(owner == team) for team in (0, 1)]
        self._attack += [np.count_nonzero(ball[:, 0] > 0), np.count_nonzero(ball[:, 0] < 0)]
        self._ball.append(ball[-self._live % _BALL_ROW_STEP :: _BALL_ROW_STEP])
        self._live += len(ball)
        times = np.asarray(recording.times)[start:stop]
        half_seconds = np.floor(times / _PLACE_PERIOD + 1e-6)
        kept = np.flatnonzero(np.diff(half_seconds, prepend=self._half_second) > 0)
        self._half_second = float(half_seconds[-1])
        for player in self._players:
            player.count(values, times, turn, columns["touch"], kept)

    def facts(self) -> MatchFacts:
        """The numbers of the rows counted so far."""
        story = self._story
        last = story.moment(self._read - 1) if self._read else None
        players = [player.facts(story) for player in self._players if player.seen]
        return MatchFacts(
            teams=(self._team(0, players, last), self._team(1, players, last)),
            events=story.events,
            game_time=last.clock if last is not None else 0.0,
            duration=self._recording.duration,
            over=last is not None and last.mode.name == "GAME_OVER",
            ball=np.concatenate(self._ball),
        )

    def _team(self, team: int, players: Sequence[PlayerFacts], last: Moment | None) -> TeamFacts:
        story = self._story
        own = tuple(player for player in players if story.team_of(player.robot) == team)
        return TeamFacts(
            name=story.teams[team],
            subtitle=story.subtitles[team],
            goals=last.score[team] if last is not None else 0,
            possession=float(self._possession[team]) / max(self._owned, 1),
            attack=float(self._attack[team]) / max(self._live, 1),
            shots=sum(1 for e in story.events if e["kind"] == "shot" and e["about"] == team),
            falls=sum(player.falls for player in own),
            fouls=sum(player.fouls for player in own),
            self_collisions=story.self_collisions[team],
            players=own,
        )


class _PlayerCount:
    """Running statistics of one player."""

    def __init__(self, robot: str, team: int, recording: Recording) -> None:
        self._robot = robot
        self._touch = team * MAX_PLAYERS + number_of(robot) - 1
        self._pose, self._belief = f"{robot}.pose", f"{robot}.belief"
        self.channels = tuple(name for name in (self._pose, self._belief) if name in recording.channels)
        """The channels that are needed."""
        self.seen = False
        """Whether it has ever been on the pitch."""
        self._touches, self._had_ball = 0, False
        self._errors: list[Floats] = [np.empty(0)]
        self._times: list[Floats] = [np.empty(0)]
        self._places: list[Floats] = [np.empty((0, 2))]
        self._turns: list[Floats] = [np.empty(0)]

    def count(self, values: Mapping[str, Floats], times: Floats, turn: Floats, touch: Floats, kept: Indices) -> None:
        """Count some rows; `kept` are those whose places are kept."""
        poses = values[self._pose]
        there = poses[:, 2] > UNDERGROUND
        self.seen = self.seen or bool(there.any())
        mine = touch == self._touch
        self._touches += int(np.count_nonzero(mine & ~np.concatenate([[self._had_ball], mine[:-1]])))
        self._had_ball = bool(mine[-1])
        kept = kept[there[kept]]
        self._times.append(times[kept])
        self._places.append(poses[kept, :2])
        self._turns.append(turn[kept])
        if self._belief in values:
            errors = np.linalg.norm(values[self._belief][:, :2] - poses[:, :2], axis=1)
            self._errors.append(errors[there & np.isfinite(errors)])

    def facts(self, story: MatchStory) -> PlayerFacts:
        """The numbers of the player."""
        own = [event for event in story.events if event.get("robot") == self._robot]
        errors, places = np.concatenate(self._errors), np.concatenate(self._places)
        return PlayerFacts(
            robot=self._robot,
            number=number_of(self._robot),
            distance=walked(np.concatenate(self._times), places),
            touches=self._touches,
            falls=sum(1 for e in own if e["kind"] == "fall"),
            fouls=sum(1 for e in own if e["kind"] in ("foul", "double_touch")),
            goals=sum(1 for e in own if e["kind"] == "goal"),
            believed=float(np.median(errors)) if len(errors) else None,
            places=places * np.concatenate(self._turns)[:, None],
        )


def match_facts(recording: Recording) -> MatchFacts:
    """The numbers of a recorded match."""
    statistics = MatchStatistics(MatchStory(recording))
    statistics.take()
    return statistics.facts()


def walked(times: Floats, places: Floats) -> float:
    """The distance along places (n, 2) at times (n,), without the steps at which the player was moved [m]."""
    if len(places) < 2:
        return 0.0
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    return float(steps[steps <= _MAX_WALKING_SPEED * np.diff(times)].sum())


# ---- maps

_GRASS_COLOUR, LINE_COLOUR = "#2f7d46", "#e9f2ec"
_MAP_WIDTH, _MAP_MARGIN = 6.2, 1.0  # width of a map, inches, and of its margin around the pitch, m
_MAP_CELL, _MAP_BLUR = 0.5, 1.0
"""Size of the cells of the ball's map, m, and the deviation of its blur, cells: single visits do not sparkle."""


def ball_map(facts: MatchFacts, field: FieldSettings) -> bytes:
    """A PNG file with a heat map of the places of the live ball."""
    from scipy.ndimage import gaussian_filter

    def draw(axes: Axes) -> None:
        x, y = field.length / 2, field.width / 2
        bins = (round(field.length / _MAP_CELL), round(field.width / _MAP_CELL))
        counts, _, _ = np.histogram2d(facts.ball[:, 0], facts.ball[:, 1], bins=bins, range=[[-x, x], [-y, y]])
        heat = gaussian_filter(np.sqrt(counts), _MAP_BLUR, mode="constant", truncate=3.0).T
        heat = heat / max(float(heat.max()), 1e-9)
        axes.imshow(
            heat, alpha=np.minimum(2.5 * np.sqrt(heat), 0.9), extent=(-x, x, -y, y), origin="lower", cmap="inferno",
            interpolation="bilinear", zorder=1, vmin=-0.25, vmax=1.0,
        )  # fmt: skip

    return _map(field, draw if len(facts.ball) else lambda _axes: None)


def _shot_map(facts: MatchFacts, field: FieldSettings) -> bytes:
    """A PNG file with the places of shots, each with a line to the goal that it was meant for, and of goals."""

    def draw(axes: Axes) -> None:
        for event in facts.events:
            if event["kind"] not in ("shot", "goal") or "place" not in event or event["about"] is None:
                continue
            colour, place = TEAM_COLOURS[event["about"]], np.array(event["place"], float)[:2]
            if event["kind"] == "shot":
                goal = (field.length / 2 * (1 if event["about"] == 0 else -1), 0.0)
                axes.plot(*np.stack([place, goal], axis=1), color=colour, lw=1.0, alpha=0.6, zorder=3.5)
            marker, size = ("*", 12) if event["kind"] == "goal" else ("o", 7)
            axes.plot(*place[:, None], marker=marker, color=colour, ms=size, mec="white", mew=0.9, zorder=4)

    return _map(field, draw)


def player_map(team: TeamFacts, field: FieldSettings, colour: str) -> bytes:
    """A PNG file with the places of a team's players, and their numbers at their median places."""

    def draw(axes: Axes) -> None:
        for player in team.players:
            places = player.places
            if not len(places):
                continue
            axes.scatter(places[:, 0], places[:, 1], s=9, color=colour, alpha=0.45, lw=0, zorder=2)
            x, y = np.median(places, axis=0)
            axes.text(
                x, y, str(player.number), color="white", ha="center", va="center", fontsize=10, fontweight="bold",
                zorder=5, bbox={"boxstyle": "circle,pad=0.28", "fc": colour, "ec": "white", "lw": 1.2},
            )  # fmt: skip

    return _map(field, draw)


def _map(field: FieldSettings, draw: Callable[[Axes], None]) -> bytes:
    """A PNG file of the pitch with its lines and the drawing of `draw`."""
    long, wide = field.length + 2 * _MAP_MARGIN, field.width + 2 * _MAP_MARGIN

    def pitch(figure: Figure) -> None:
        from matplotlib.collections import LineCollection

        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        draw(axes)
        axes.add_collection(
            LineCollection([np.array(line) for line in field.lines()], colors=LINE_COLOUR, lw=1.3, zorder=3)
        )
        axes.set(xlim=(-long / 2, long / 2), ylim=(-wide / 2, wide / 2), aspect="auto")
        axes.axis("off")

    return png(pitch, (_MAP_WIDTH, _MAP_WIDTH * wide / long), facecolor=_GRASS_COLOUR, panel=True)


# ---- the page

_NEUTRAL_COLOUR = "#9aa5ad"
"""The colour of events that are about neither team."""
_TICK_STEPS, _MAX_TICKS = (10.0, 30.0, 60.0, 120.0, 300.0, 600.0), 12
"""Steps between the marks of the time line, seconds, and the largest number of marks."""
MAX_LISTED_EVENTS = 160  # events that are listed; of more, falls are left out first


def write_match_report(path: Path, out: Path, *, command: str, seed: int, replay: Path | None = None) -> MatchFacts:
    """Write the report of a recorded match to an HTML file; returns the numbers in it.

    `command` plays the same match again, with its `seed`; events are linked to the page of the `replay`.
    """
    recording = Recording.open(path)
    facts = match_facts(recording)
    write_match_page(recording, facts, out, command=command, seed=seed, replay=replay)
    return facts


def write_match_page(
    recording: Recording, facts: MatchFacts, out: Path, *, command: str, seed: int, replay: Path | None = None
) -> None:
    """Write the report of a match whose numbers are known; see `write_match_report`."""
    field = load_field(str(recording.manifest.config.get("field", "sim3d")))
    link = "" if replay is None else os.path.relpath(replay, out.parent)
    write_page(out, match_page(facts, field, command=command, seed=seed, replay=link))


def match_page(facts: MatchFacts, field: FieldSettings, *, command: str, seed: int, replay: str = "") -> Report:
    """The report of a match in the form that the template shows."""
    teams = facts.teams
    score = f"{teams[0].goals}:{teams[1].goals}"
    ended = "full time" if facts.over else "cut short"
    return Report(
        title=f"{teams[0].name} {score} {teams[1].name}",
        kind="Match",
        scoreboard=Scoreboard(
            teams=(teams[0].name, teams[1].name),
            subtitles=(teams[0].subtitle, teams[1].subtitle),
            colours=TEAM_COLOURS,
            score=score,
            goals=(_goals(facts, 0), _goals(facts, 1)),
            note=f"{clock_text(facts.game_time)} played, {ended} · "
            f"{len(teams[0].players)} against {len(teams[1].players)}",
        ),
        sections=(
            Section(key="numbers", title="The match in numbers", blocks=_numbers(facts)),
            Section(key="time", title="Time line", blocks=_time_line(facts, replay)),
            Section(key="maps", title="Where it was played", blocks=_maps(facts, field)),
            Section(key="players", title="Players", blocks=(_players(facts),)),
            Section(key="events", title="What happened", blocks=_events(facts, replay)),
            Section(
                key="again",
                title="Play it again",
                blocks=(
                    Text(text=f"Seed {seed}. The same version, command and seed play the same match.", quiet=False),
                    Command(text=command),
                ),
            ),
        ),
    )


def _goals(facts: MatchFacts, team: int) -> tuple[str, ...]:
    """A line for each goal of a team."""
    return tuple(
        f"{clock_text(e['clock'])} {_scorer(e)}" for e in facts.events if e["kind"] == "goal" and e["about"] == team
    )


def _scorer(event: Mapping[str, Any]) -> str:
    number = event.get("number")
    return f"number {number}" if number else "own goal" if "own goal" in str(event["text"]) else "goal"


def _numbers(facts: MatchFacts) -> tuple[Block, ...]:
    """Both teams side by side, with a bar between their numbers."""
    a, b = facts.teams
    compared = (
        ("possession", a.possession, b.possession, "{:.0%}"),
        ("ball in the opponents' half", a.attack, b.attack, "{:.0%}"),
        ("shots", a.shots, b.shots, "{}"),
        ("distance walked", a.distance, b.distance, "{:.0f} m"),
        ("falls", a.falls, b.falls, "{}"),
        ("fouls", a.fouls, b.fouls, "{}"),
        ("self-collisions", a.self_collisions, b.self_collisions, "{}"),
    )
    rows = tuple(
        (name, form.format(first), form.format(second), first / (first + second) if first + second else None)
        for name, first, second, form in compared
    )
    about = (
        "Possession: the team that touched the ball last, while it was live. A shot is a ball faster than "
        f"{SHOT_SPEED:g} m/s on its way into the goal or up to {SHOT_BESIDE:g} m beside it, if it would get "
        f"there within {SHOT_TIME:g} s."
    )
    return Duel(rows=rows, colours=TEAM_COLOURS), Text(text=about)


def _time_line(facts: MatchFacts, replay: str) -> tuple[Block, ...]:
    """Goals, shots and fouls over the time of the match; falls would hide them."""
    length = max(facts.game_time, 1.0)
    step = next(step for step in _TICK_STEPS if length / step <= _MAX_TICKS or step == _TICK_STEPS[-1])
    ticks = tuple((t / length, clock_text(t)) for t in np.arange(0.0, length + 1e-6, step).tolist())
    marks = tuple(
        Mark(
            share=event["clock"] / length,
            text=f"{clock_text(event['clock'])} {event['text']}",
            sign=EVENT_SIGNS[event["kind"]],
            colour=TEAM_COLOURS[event["about"]],
            above=event["about"] == 0,
            strong=event["kind"] == "goal",
            address=_moment(replay, event),
        )
        for event in facts.events
        if event["about"] is not None and event["kind"] != "fall"
    )
    signs = "● goal, → shot, ! foul, ✕ no goal." + (" A click replays the moment." if replay else "")
    lanes = (facts.teams[0].name, facts.teams[1].name)
    return Strip(marks=marks, ticks=ticks, lanes=lanes), Text(text=signs)


def _moment(replay: str, event: Mapping[str, Any]) -> str:
    """The address of an event in the replay; empty without a replay."""
    return f"{replay}?t={max(event['clock'] - _REPLAY_LEAD, 0):.0f}" if replay else ""


def _maps(facts: MatchFacts, field: FieldSettings) -> tuple[Block, ...]:
    pictures = [
        Picture(image=ball_map(facts, field), caption="The live ball."),
        Picture(image=_shot_map(facts, field), caption="Where shots and goals were taken from; stars are goals."),
    ]
    for team, colour in zip(facts.teams, TEAM_COLOURS, strict=True):
        caption = f"{team.name}: where its players were, every half second, and their median places."
        pictures.append(Picture(image=player_map(team, field, colour), caption=caption))
    about = "The team named first defends the left goal on all maps, also after a change of ends."
    return Pictures(pictures=tuple(pictures)), Text(text=about)


def _players(facts: MatchFacts) -> Table:
    numbers = ("walked", "touches", "goals", "falls", "fouls", "position error")
    return Table(
        columns=("player", *numbers),
        rows=tuple(
            (
                Cell(value=f"{team.name} {p.number}", swatch=colour),
                f"{p.distance:.0f} m",
                p.touches,
                p.goals,
                p.falls,
                p.fouls,
                "–" if p.believed is None else f"{100 * p.believed:.0f} cm",
            )
            for team, colour in zip(facts.teams, TEAM_COLOURS, strict=True)
            for p in team.players
        ),
        numeric=numbers,
        about="Touches: how often a player got to the ball after another player. Position error: the median distance "
        "between its believed and its true position. Distances leave out what was faster than "
        f"{_MAX_WALKING_SPEED:g} m/s, where the player was moved.",
    )


def _events(facts: MatchFacts, replay: str) -> tuple[Block, ...]:
    events, left_out = facts.events, ""
    if len(events) > MAX_LISTED_EVENTS:
        falls = sum(1 for e in events if e["kind"] == "fall")
        events = [e for e in events if e["kind"] != "fall"][:MAX_LISTED_EVENTS]
        left_out = f"{falls} falls, and what came after {MAX_LISTED_EVENTS} events, are left out here."
    if not events:
        return (Text(text="Nothing worth a line."),)
    lines = tuple(
        (
            clock_text(e["clock"]),
            EVENT_SIGNS[e["kind"]],
            str(e["text"]),
            _NEUTRAL_COLOUR if e["about"] is None else TEAM_COLOURS[e["about"]],
            e["kind"] == "goal",
            _moment(replay, e),
        )
        for e in events
    )
    return (Timeline(events=lines), *([Text(text=left_out)] if left_out else []))
