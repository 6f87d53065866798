"""A recorded match in words: teams, score, game clock, play mode, events, and the intentions of players.

    story = MatchStory(Recording.open(Path("match.nutmeg")))
    story.teams                          # ("reds", "blues"): the one that began on the left first
    story.moment(row).score              # (2, 1), in this order, also after the teams have changed ends
    story.events                          # the events that are worth listing

Team 0 is the one that began on the left, also after a change of ends; the names of robots (`left3`) do not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nutmeg.match.recording import STATE_LABELS
from nutmeg.match.rules.book import MAX_PLAYERS, Foul, load_rules
from nutmeg.match.rules.play_modes import LIVE, PlayMode, side_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.recording import Recording

TEAM_COLOURS = ("#1a59d9", "#d9261f")
"""Colours of the teams on pages and plots: those of the shirts in the recorded scene."""
SELF_COLLISION = Foul.SELF_COLLISION.title
EVENT_SIGNS = {
    "goal": "●",
    "shot": "→",
    "no_goal": "✕",
    "foul": "!",
    "double_touch": "!",
    "fall": "↓",
    "half": "◷",
    "shoot_out": "✕",
}
"""The kinds of events that are listed, and their signs."""
HALF_NAMES = {1: "1st half", 2: "2nd half", 3: "extra time, 1st half", 4: "extra time, 2nd half", 5: "shoot-out"}
_MODE_NAMES = {
    PlayMode.BEFORE_KICK_OFF: "before kick-off",
    PlayMode.PLAY_ON: "play on",
    PlayMode.GAME_OVER: "full time",
}
_SIDED_MODE_NAMES = {
    "KICK_OFF": "kick-off",
    "KICK_IN": "kick-in",
    "CORNER_KICK": "corner kick",
    "GOAL_KICK": "goal kick",
    "OFFSIDE": "offside: free kick",
    "GOAL": "goal",
    "FREE_KICK": "free kick",
    "DIRECT_FREE_KICK": "direct free kick",
    "PASS": "pass mode",
}

SHOT_SPEED = 1.0  # the speed of the ball from which on a shot counts [m/s]
SHOT_BESIDE = 0.5  # distance beside the goal at which a shot may aim [m]
SHOT_TIME = 4.0  # a shot reaches the goal line within this time at its present speed [s]
_SHOT_PAUSE = 2.0  # two shots of a team are at least this far apart [s]
_SPEED_ROWS = 5  # rows over which the ball's velocity is measured
_SHOT_ROWS_PER_READ = 20000  # rows that are searched for shots at once


@dataclass(frozen=True, kw_only=True)
class Moment:
    """The state of the game at one moment."""

    mode: PlayMode
    clock: float
    """Game time, seconds."""
    score: tuple[int, int]
    """Goals of the team that began on the left, and of the other."""
    half: int
    swapped: bool
    """Whether the teams have changed ends."""

    @property
    def favoured(self) -> int | None:
        """The team in whose favour the play mode is: 0 or 1."""
        side = side_of(self.mode)
        return None if side is None else int(side) ^ int(self.swapped)


def is_match(recording: Recording) -> bool:
    """Whether a recording is that of a match."""
    return "game.state" in recording.channels


class MatchStory:
    """The story of a recorded match, which may still grow."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.teams: tuple[str, str] = ("left", "right")
        """The names of the team that began on the left, and of the other."""
        self.events: list[dict[str, Any]] = []
        """The events worth listing, in the order of their times: each has an `id` that it keeps, a `text`, the team it
        is `about` (0, 1 or None), the game's `clock`, and its `place` as if the teams had never changed ends. Shots are
        among them, though the recording does not name them."""
        self.self_collisions = [0, 0]
        """Self-collisions of each team; there are many, and they are not listed."""
        self._intents: dict[str, list[tuple[float, str]]] = {}
        self._lost: dict[str, list[tuple[float, str]]] = {}
        self._seen = self._listed = 0
        self._shots = ShotFinder(recording)
        self._swapped = False
        self._columns = {name: STATE_LABELS.index(name) for name in STATE_LABELS}
        config = recording.manifest.config
        self._titles = _pair(config.get("titles"))
        self.subtitles = _pair(config.get("subtitles"))
        """A remark about each team, such as its walk; may be empty."""
        self._name(0, str(config.get("left", "")))
        self._name(1, str(config.get("right", "")))
        self.refresh()

    def refresh(self) -> None:
        """Read the events that were written since the last call, and find the shots."""
        count = len(self.events)
        events = self.recording.events
        while self._seen < len(events):
            self._take(events[self._seen])
            self._seen += 1
        for shot in self._shots.take():
            text = f"Shot by {self.teams[shot.team]} {shot.number}"
            about = {"time": shot.time, "clock": shot.clock, "place": list(shot.place), "about": shot.team}
            self._list({**about, "kind": "shot", "number": shot.number, "text": text})
        if len(self.events) > count:
            self.events.sort(key=lambda event: float(event["time"]))

    def _list(self, event: dict[str, Any]) -> None:
        self.events.append({**event, "id": self._listed})
        self._listed += 1

    def team_of(self, robot: str) -> int:
        """0 for a robot of the team that began on the left, else 1."""
        return int(robot.startswith("right"))

    def name_of(self, robot: str) -> str:
        """Team and number of a robot."""
        return f"{self.teams[self.team_of(robot)]} {number_of(robot)}"

    def moment(self, row: int) -> Moment:
        """The state of the game in a row of the recording."""
        values = self.recording.read("game.state", row, row + 1)[0]
        return self.moment_of(values)

    def moment_of(self, values: Sequence[float]) -> Moment:
        """The state of the game from the numbers of its channel."""
        state = {name: float(values[column]) for name, column in self._columns.items() if column < len(values)}
        swapped = bool(state.get("swapped", 0.0))
        score = int(state["left"]), int(state["right"])
        return Moment(
            mode=PlayMode(int(state["mode"])),
            clock=state["time"],
            score=(score[1], score[0]) if swapped else score,
            half=int(state["half"]),
            swapped=swapped,
        )

    def mode_text(self, moment: Moment) -> str:
        """The play mode, with the name of the team that it favours."""
        if moment.mode in _MODE_NAMES:
            return _MODE_NAMES[moment.mode]
        kind = _SIDED_MODE_NAMES[moment.mode.name.rsplit("_", 1)[0]]
        assert moment.favoured is not None
        return f"{kind} {self.teams[moment.favoured]}"

    def intent(self, robot: str, time: float) -> str:
        """The intention of a player at a time; empty if it is not recorded."""
        said = ""
        for when, text in self._intents.get(robot, ()):
            if when > time + 1e-9:
                break
            said = text
        return said

    def lost_turns(self, robot: str, time: float) -> str:
        """The number of turns a player has lost until a time, and the reason for the last one; empty if none."""
        texts = [text for when, text in self._lost.get(robot, ()) if when <= time + 1e-9]
        return f"{len(texts)}; {texts[-1].strip().splitlines()[-1]}" if texts else ""

    def last_event(self, time: float, within: float) -> dict[str, Any] | None:
        """The last listed event not later than `time`, if it is not older than `within` seconds."""
        for event in reversed(self.events):
            if event["time"] <= time + 1e-9:
                return event if event["time"] > time - within else None
        return None

    def _take(self, event: Mapping[str, Any]) -> None:
        kind = event["kind"]
        if kind == "swap_ends":
            self._swapped = not self._swapped
        if kind == "join":
            self._name(self._team(event) or 0, str(event.get("team", "")))
        elif kind == "intent":
            self._intents.setdefault(str(event.get("robot", "")), []).append((event["time"], str(event["text"])))
        elif kind == "lost_turn":
            self._lost.setdefault(str(event.get("robot", "")), []).append((event["time"], str(event["text"])))
        elif kind in EVENT_SIGNS:
            team = None if kind == "half" else self._team(event)
            if event.get("foul") == SELF_COLLISION and team is not None:
                self.self_collisions[team] += 1
                return
            listed = {**event, "about": team, "clock": float(event.get("game_time", event["time"]))}
            if "place" in event and self._swapped:
                listed["place"] = [-number for number in event["place"]]
            self._list({**listed, "text": self._words(event, team)})

    def _team(self, event: Mapping[str, Any]) -> int | None:
        """The team that an event is about."""
        if "side" not in event:
            return None
        return int(event["side"] == "right") ^ int(self._swapped)

    def _name(self, team: int, name: str) -> None:
        """Name a team; a title in the recording counts more than the name with which it joined."""
        name = self._titles[team] or name
        if name:
            self.teams = (name, self.teams[1]) if team == 0 else (self.teams[0], name)

    def _words(self, event: Mapping[str, Any], team: int | None) -> str:
        """An event in a few words."""
        kind, number = event["kind"], event.get("number")
        name = "" if team is None else self.teams[team]
        who = f"{name} {number}" if number else name
        if kind == "goal":
            own = "" if number else " (own goal)" if "own goal" in str(event.get("text", "")) else ""
            return f"Goal for {who}{own}"
        if kind == "fall":
            return f"{who} falls"
        if kind == "foul":
            return f"{_spaced(str(event.get('foul', 'foul')))}: {who}"
        if kind == "double_touch":
            return f"Touches twice: {who}"
        if kind in ("no_goal", "shoot_out"):
            reason = str(event.get("text", "")).partition(": ")[2]
            return f"No goal for {name}: {reason}"
        text = str(event.get("text", kind))
        return "Full time" if text.startswith("the match is over") else text[:1].upper() + text[1:]


def number_of(robot: str) -> int:
    """The uniform number of a robot by its name, such as `left3`."""
    return int(robot.removeprefix("left").removeprefix("right"))


def clock_text(seconds: float) -> str:
    """Minutes and seconds, as on a score board."""
    whole = int(max(seconds, 0.0) + 1e-6)
    return f"{whole // 60}:{whole % 60:02d}"


def _spaced(title: str) -> str:
    """`IllegalDefence` in words."""
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in title).strip()
    return words[:1].upper() + words[1:]


def _pair(texts: object) -> tuple[str, str]:
    """One text for each team; empty ones if the recording has none."""
    if not isinstance(texts, list) or len(texts) != 2:
        return "", ""
    return str(texts[0]), str(texts[1])


class Shot(NamedTuple):
    """A shot, which recordings do not name, found from the path of the ball.

    A shot is a ball faster than `SHOT_SPEED` on its way into the goal, or a little beside it, that would get there
    within `SHOT_TIME`. It belongs to the player that touched the ball last, and aims at the other goal.
    """

    time: float  # time at which it began, in the recording [s]
    clock: float  # game time then [s]
    team: int  # 0 for the team that began on the left, else 1
    number: int  # shirt number of the player
    place: tuple[float, float]  # place of the ball, as if the teams had never changed ends [m]


class ShotFinder:
    """Finds the shots of a recording, which may still grow."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._pitch = load_rules(str(recording.manifest.config.get("rules", "sim3d"))).pitch
        self._read = 0
        self._last, self._team = -np.inf, -1
        """The last moment of the last shot, and its team."""

    def take(self) -> list[Shot]:
        """The shots that began in the rows since the last call."""
        found: list[Shot] = []
        while self._read < len(self._recording):
            end = min(self._read + _SHOT_ROWS_PER_READ, len(self._recording))
            first = max(self._read - _SPEED_ROWS, 0)
            if end - first > _SPEED_ROWS:
                found += self._found(first, end)
            self._read = end
        return found

    def _found(self, first: int, end: int) -> list[Shot]:
        state = self._recording.read("game.state", first, end)
        columns = {name: state[:, i] for i, name in enumerate(STATE_LABELS)}
        times = np.asarray(self._recording.times)[first:end]
        turn = np.where(columns["swapped"] > 0, -1.0, 1.0)
        ball = self._recording.read("ball.pose", first, end)[:, :2] * turn[:, None]
        live = np.isin(columns["mode"], [float(mode) for mode in LIVE])
        touch = columns["touch"][_SPEED_ROWS:].astype(int)
        rows = np.flatnonzero(self._aimed(times, ball, touch) & live[_SPEED_ROWS:] & live[:-_SPEED_ROWS])
        found = []
        for row in rows.tolist():
            time, (team, player) = float(times[row + _SPEED_ROWS]), divmod(int(touch[row]), MAX_PLAYERS)
            if time - self._last > _SHOT_PAUSE or team != self._team:
                clock, place = float(columns["time"][row + _SPEED_ROWS]), ball[row + _SPEED_ROWS]
                at = (float(place[0]), float(place[1]))
                found.append(Shot(time=time, clock=clock, team=team, number=player + 1, place=at))
            self._last, self._team = time, team
        return found

    def _aimed(self, times: Floats, ball: Floats, touch: Floats) -> Bools:
        """Whether the ball (rows, 2) was on its way into the goal of the team that did not touch it last."""
        velocity = (ball[_SPEED_ROWS:] - ball[:-_SPEED_ROWS]) / (times[_SPEED_ROWS:] - times[:-_SPEED_ROWS])[:, None]
        towards = np.where(touch // MAX_PLAYERS == 0, 1.0, -1.0)
        now = ball[_SPEED_ROWS:]
        ahead, left = velocity[:, 0] * towards, self._pitch.length / 2 - now[:, 0] * towards
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = left / ahead
            across = now[:, 1] + velocity[:, 1] * needed
        aimed = (touch >= 0) & (np.linalg.norm(velocity, axis=1) >= SHOT_SPEED)
        aimed &= (ahead > 0) & (needed > 0) & (needed <= SHOT_TIME)
        found: Bools = aimed & (np.abs(np.nan_to_num(across, nan=np.inf)) <= self._pitch.goal_width / 2 + SHOT_BESIDE)
        return found
