"""The numbers of a recorded match: possession, shots, ways walked, falls, fouls, and how well players knew their place.

    facts = match_facts(Recording.open(Path("match.nutmeg")))
    facts.teams[0].possession            # share of the time in which the ball was live and they had touched it last

Everything is worked out from the recording alone, so a match that was cut short has the same report as a whole one.
Teams are meant by the side on which they began; after a change of ends all places are turned by half a turn, so that on
maps a team stays where it began.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.match.match_recording import STATE
from nutmeg.match.play_modes import LIVE
from nutmeg.match.rules import MOST_PLAYERS, load_rules
from nutmeg.view.match_story import MatchStory, number_of

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.recording import Recording


PLACED_EVERY = 0.5
"""Ways are added up over places this far apart in time [s]: the sway of the torso is no way."""
FASTEST = 1.5
"""Who seems to go faster than this was put somewhere [m/s]."""
SHOT_SPEED, SHOT_BESIDE, SHOT_TIME, SHOT_PAUSE = 1.0, 0.5, 4.0, 2.0
"""A shot: a ball faster than this [m/s], on a line into the goal or this much beside it [m], nearer than so long at
that speed [s]; the next one comes at least so much later [s]."""
SPEED_OVER = 5
"""Rows over which the ball's velocity is measured."""
BALL_EVERY = 5
"""Of the places of the ball, one of so many rows is kept."""
ABSENT = -1.0
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
    columns = {name: state[:, i] for i, name in enumerate(STATE)}
    times = np.asarray(recording.times)
    turn = np.where(columns["swapped"] > 0, -1.0, 1.0)
    live = np.isin(columns["mode"], [float(mode) for mode in LIVE])
    ball = recording.read("ball.pose")[:, :2] * turn[:, None]
    owner = np.where(columns["touch"] < 0, -1, columns["touch"] // MOST_PLAYERS)
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
        ball=ball[live][::BALL_EVERY],
    )


def _player(
    recording: Recording, story: MatchStory, robot: str, times: Floats, turn: Floats, touch: Floats
) -> PlayerFacts | None:
    """The numbers of a player; None for one that never played."""
    poses = recording.read(f"{robot}.pose")
    there = poses[:, 2] > ABSENT
    if not there.any():
        return None
    number = number_of(robot)
    own = story.team_of(robot) * MOST_PLAYERS + number - 1
    mine = touch == own
    kept = np.flatnonzero(np.diff(np.floor(times / PLACED_EVERY + 1e-6), prepend=-1.0) > 0)
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
    return float(steps[steps <= FASTEST * np.diff(times)].sum())


def _shots(times: Floats, ball: Floats, live: Bools, owner: Floats, rules: str) -> list[tuple[float, int]]:
    """Times and teams of shots: by whoever touched the ball last, at the other goal."""
    pitch = load_rules(rules).pitch
    if len(ball) <= SPEED_OVER:
        return []
    velocity = (ball[SPEED_OVER:] - ball[:-SPEED_OVER]) / (times[SPEED_OVER:] - times[:-SPEED_OVER])[:, None]
    now, when, by = ball[SPEED_OVER:], times[SPEED_OVER:], owner[SPEED_OVER:]
    played = live[SPEED_OVER:] & live[:-SPEED_OVER] & (np.linalg.norm(velocity, axis=1) >= SHOT_SPEED)
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
