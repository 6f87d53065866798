"""Shots in a recorded match, found from the ball's path: nobody records them as such.

A shot is a ball faster than `SHOT_SPEED` on its way into the goal, or a little beside it, that is nearer than
`SHOT_TIME` at its present speed. It belongs to the player that touched the ball last, and aims at the
other goal.

    finder = ShotFinder(recording)
    finder.take()                       # shots in the rows since the last call
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.recording import STATE_LABELS
from nutmeg.match.rules.book import MAX_PLAYERS, load_rules
from nutmeg.match.rules.play_modes import LIVE

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.recording import Recording

SHOT_SPEED = 1.0
"""The speed of the ball from which on a shot counts [m/s]."""
SHOT_BESIDE = 0.5
"""How far beside the goal a shot may aim [m]."""
SHOT_TIME = 4.0
"""A shot reaches the goal line within this time at its present speed [s]."""
SHOT_PAUSE = 2.0
"""Two shots of a team are at least this far apart [s]."""
SPEED_ROWS = 5
"""Rows over which the ball's velocity is measured."""
ROWS_PER_READ = 20000


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One shot."""

    time: float
    """When it began, in the recording [s]."""
    clock: float
    """Game time then [s]."""
    team: int
    """0 for the team that began on the left, else 1."""
    number: int
    """The shirt number of the player."""
    place: tuple[float, float]
    """Where the ball was, as if the teams had never changed ends [m]."""


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
            end = min(self._read + ROWS_PER_READ, len(self._recording))
            first = max(self._read - SPEED_ROWS, 0)
            if end - first > SPEED_ROWS:
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
        touch = columns["touch"][SPEED_ROWS:].astype(int)
        rows = np.flatnonzero(self._aimed(times, ball, touch) & live[SPEED_ROWS:] & live[:-SPEED_ROWS])
        found = []
        for row in rows.tolist():
            time, (team, player) = float(times[row + SPEED_ROWS]), divmod(int(touch[row]), MAX_PLAYERS)
            if time - self._last > SHOT_PAUSE or team != self._team:
                clock, place = float(columns["time"][row + SPEED_ROWS]), ball[row + SPEED_ROWS]
                at = (float(place[0]), float(place[1]))
                found.append(Shot(time=time, clock=clock, team=team, number=player + 1, place=at))
            self._last, self._team = time, team
        return found

    def _aimed(self, times: Floats, ball: Floats, touch: Floats) -> Bools:
        """Whether the ball (rows, 2) was on its way into the goal of the team that did not touch it last."""
        velocity = (ball[SPEED_ROWS:] - ball[:-SPEED_ROWS]) / (times[SPEED_ROWS:] - times[:-SPEED_ROWS])[:, None]
        towards = np.where(touch // MAX_PLAYERS == 0, 1.0, -1.0)
        now = ball[SPEED_ROWS:]
        ahead, left = velocity[:, 0] * towards, self._pitch.length / 2 - now[:, 0] * towards
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = left / ahead
            across = now[:, 1] + velocity[:, 1] * needed
        aimed = (touch >= 0) & (np.linalg.norm(velocity, axis=1) >= SHOT_SPEED)
        aimed &= (ahead > 0) & (needed > 0) & (needed <= SHOT_TIME)
        found: Bools = aimed & (np.abs(np.nan_to_num(across, nan=np.inf)) <= self._pitch.goal_width / 2 + SHOT_BESIDE)
        return found
