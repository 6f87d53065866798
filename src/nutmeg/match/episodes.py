"""What the environments of a match have in common, in the physical and in the behavioural world.

    class MatchOptions(EpisodeOptions): ...

    options = MatchOptions.of({"players": 2, "half_length": 30.0})
    check_actions({"left_1": action}, agents=["left_1", "left_2"])  # UsageError: there is no action for 'left_2'

A cycle is 20 ms in the physical world, and 0.1 s in the behavioural one.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.learning.gym.spaces import Layout, Part
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import GOALS, LIVE, PlayMode, Side, mode_named, side_of
from nutmeg.match.worlds.physical.percept import WITHOUT_TOES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Floats, Floats32
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.physical.percept import GameView, Percept, Sight


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions:
    """Who plays how long, and what it is worth."""

    players: int = 2
    """Number of players of a team, 1 to 11."""
    half_length: float = 60.0
    """The length of a half, s."""
    halves: Literal[1, 2] = 1
    """The number of halves, one or two."""
    max_cycles: int = 0
    """The episode is cut off after so many cycles; 0 lets it go on until the game is over."""
    goal_reward: float = 1.0
    """For a goal, and as a loss for one against."""
    ball_reward: float = 0.05
    """For each metre that the ball comes nearer to the others' goal line while it is in play, and as a loss."""

    def __post_init__(self) -> None:
        if not isinstance(self.players, int) or not 1 <= self.players <= MAX_PLAYERS:
            raise UsageError(f"players is {self.players!r}; allowed are 1 to {MAX_PLAYERS}.")
        if not isinstance(self.max_cycles, int) or self.max_cycles < 0:
            raise UsageError(f"max_cycles is {self.max_cycles!r}; allowed is 0 or more.")
        if self.halves not in (1, 2):
            raise UsageError(f"halves is {self.halves!r}; allowed are 1 and 2.")

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """The options from keyword arguments."""
        known = {one.name for one in dataclasses.fields(cls)}
        for name in options:
            if name not in known:
                raise UnknownNameError("option of the environment of a match", name, known)
        return cls(**options)

    @property
    def length(self) -> float:
        """The length of the whole game, s."""
        return self.half_length * self.halves

    def changed(self, rules: Rules) -> Rules:
        """The rules for so many players and so long a game, which begins by itself."""
        changes = {"players": self.players, "half_length": self.half_length, "halves": self.halves}
        return rules.with_match(**changes, automatic_kick_off=True, wait_before_kick_off=1.0)


def check_actions(actions: Mapping[str, object], agents: Sequence[str]) -> None:
    """An error unless the episode goes on and just its agents act."""
    if not agents:
        raise UsageError("the episode is over or was never begun; call reset() before step().")
    for agent in actions:
        if agent not in agents:
            raise UnknownNameError("agent", agent, agents)
    for agent in agents:
        if agent not in actions:
            raise UsageError(f"there is no action for {agent!r}; every agent needs one.")


# ----------------------------------------------------------------------------------------------------
# Percepts as rows of numbers: what a player is told now, and what it saw last of everything that moves or stands.
#
# Both teams see the pitch alike: landmarks are ordered as the own team sees them, which attacks what is called
# `their` goal. A thing that was seen is distance [m], angle to the left and angle upwards [rad] from the camera, and
# how long ago [s]; what was never seen is zeros, and as old as can be.


_MAX_SIGHTING_AGE = 10.0
"""Ages do not grow beyond this, s."""
_MAX_SIGHTING_DISTANCE = 60.0
"""Longer than the diagonal of any pitch, m."""
_TEAM_LANDMARKS = ("G1L", "G2L", "F1L", "F2L", "G1R", "G2R", "F1R", "F2R")
"""As the left team orders them: posts and flags of the own end, then of the others'; the left-hand one first."""
PHASE_NAMES = ("live", "our kick", "their kick", "stopped", "our goal", "their goal", "over")
"""What is going on, as one of these."""
_SEEN_LOW, _SEEN_HIGH = (
    (0.0, -math.pi, -math.pi / 2, 0.0),
    (_MAX_SIGHTING_DISTANCE, math.pi, math.pi / 2, _MAX_SIGHTING_AGE),
)
_FORCE_LOW = (*(-1.0,) * 3, *(-1000.0,) * 3)
_FORCE_HIGH = (*(1.0,) * 3, *(1000.0,) * 3)


def _percept_parts(players: int, length: float) -> list[Part]:
    """The parts of a row.

    Args:
        players: of a team.
        length: of the whole game, s.
    """
    marks = len(_TEAM_LANDMARKS)
    return [
        Part("angles", WITHOUT_TOES, -math.pi, math.pi),
        Part("gyro", 3, -40.0, 40.0),
        Part("acc", 3, -200.0, 200.0),
        Part("forces", 12, _FORCE_LOW * 2, _FORCE_HIGH * 2),
        Part("landmarks", 4 * marks, _SEEN_LOW * marks, _SEEN_HIGH * marks),
        Part("ball", 4, _SEEN_LOW, _SEEN_HIGH),
        Part("mates", 4 * players, _SEEN_LOW * players, _SEEN_HIGH * players),
        Part("opponents", 4 * players, _SEEN_LOW * players, _SEEN_HIGH * players),
        Part("phase", len(PHASE_NAMES), 0.0, 1.0),
        Part("time_left", 1, 0.0, length),
        Part("score", 2, 0.0, 100.0),
    ]


class PerceptRows:
    """The percepts of one player as rows.

    Args:
        team: name of its team.
        players: of a team.
        length: of the whole game, s.
        more: parts that somebody else fills.
    """

    def __init__(self, team: str, *, players: int, length: float, more: tuple[Part, ...] = ()) -> None:
        self.layout = Layout([*_percept_parts(players, length), *more])
        self._team, self._players, self._length = team, players, length
        self._percept: Percept | None = None
        self._side = Side.LEFT
        self._seen = np.zeros((len(_TEAM_LANDMARKS) + 1 + 2 * players, 4))
        self._seen[:, 3] = _MAX_SIGHTING_AGE

    def take(self, percept: Percept, side: Side) -> None:
        """Takes the percept of a cycle, of a player that plays from a side."""
        self._percept, self._side = percept, side
        self._seen[:, 3] = np.minimum(self._seen[:, 3] + CONTROL_CYCLE, _MAX_SIGHTING_AGE)
        if percept.sight is not None:
            self._see(percept.sight)

    def _see(self, sight: Sight) -> None:
        for label, polar in zip(sight.labels, sight.marks.tolist(), strict=True):
            self._note(len(_TEAM_LANDMARKS) if label == "B" else _place_of(label, self._side), polar)
        first = len(_TEAM_LANDMARKS) + 1
        for team, number, parts in zip(sight.teams, sight.numbers, sight.parts, strict=True):
            visible = parts[~np.isnan(parts[:, 0])]
            if number <= self._players and len(visible):
                row = first + (0 if team == self._team else self._players) + number - 1
                self._note(row, visible.mean(axis=0).tolist())

    def _note(self, row: int, polar: list[float]) -> None:
        distance, left, up = polar
        self._seen[row] = distance, math.radians(left), math.radians(up), 0.0

    def row(self, **more: Floats) -> Floats32:
        """The row of the last percept, (width,), with the parts that somebody else fills."""
        percept = self._percept
        assert percept is not None
        marks, players = len(_TEAM_LANDMARKS), self._players
        game = percept.game
        scores = (game.score_left, game.score_right)
        parts = {
            "angles": np.radians(percept.angles[:WITHOUT_TOES]),
            "gyro": np.radians(percept.gyro),
            "acc": percept.acc,
            "forces": np.nan_to_num(percept.forces[:2].ravel()),
            "landmarks": self._seen[:marks].ravel(),
            "ball": self._seen[marks],
            "mates": self._seen[marks + 1 : marks + 1 + players].ravel(),
            "opponents": self._seen[marks + 1 + players :].ravel(),
            "phase": phase(game, self._side),
            "time_left": np.array([self._length - game.time]),
            "score": np.array([scores[self._side], scores[self._side.other]], float),
            **more,
        }
        row: Floats32 = self.layout.rows({name: values[None] for name, values in parts.items()})[0]
        return row


def phase(game: GameView, side: Side) -> Floats:
    """What is going on as a team sees it, 1 at one of `PHASES`, (7,)."""
    mode = mode_named(game.mode)
    favoured = side_of(mode)
    if mode is PlayMode.GAME_OVER:
        name = "over"
    elif mode in LIVE:
        name = "live"
    elif favoured is None:
        name = "stopped"
    else:
        name = f"{'our' if favoured is side else 'their'} {'goal' if mode in GOALS else 'kick'}"
    return np.array([one == name for one in PHASE_NAMES], float)


def _place_of(label: str, side: Side) -> int:
    """Where a landmark stands among `LANDMARKS` as a team sees the pitch, which is the same turned by half a turn."""
    if side is Side.RIGHT:
        label = f"{label[0]}{'2' if label[1] == '1' else '1'}{'R' if label[2] == 'L' else 'L'}"
    return _TEAM_LANDMARKS.index(label)
