"""Percepts as rows of numbers: what a player is told now, and what it saw last of everything that moves or stands.

    rows = PerceptRows("reds", players=2, length=60.0)
    rows.take(percept, Side.RIGHT)                  # every cycle, whether somebody asks for the row or not
    rows.layout.slices["ball"]                      # where a part is
    rows.row()                                      # (width,) float32

Both teams see the pitch alike: landmarks are ordered as the own team sees them, which attacks what is called `their`
goal. A thing that was seen is distance [m], angle to the left and angle upwards [rad] from the camera, and how long ago
[s]; what was never seen is zeros, and as old as can be.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.learning.environments.layout import Layout, Part
from nutmeg.match.percept import WITHOUT_TOES
from nutmeg.match.play_modes import GOALS, LIVE, PlayMode, Side, mode_named, side_of

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Floats32
    from nutmeg.match.percept import GameView, Percept, Sight


OLDEST = 10.0
"""Ages do not grow beyond this, s."""
FARTHEST = 60.0
"""Longer than the diagonal of any pitch, m."""
CYCLE = 0.02
LANDMARKS = ("G1L", "G2L", "F1L", "F2L", "G1R", "G2R", "F1R", "F2R")
"""As the left team orders them: posts and flags of the own end, then of the others'; the left-hand one first."""
PHASES = ("live", "our kick", "their kick", "stopped", "our goal", "their goal", "over")
"""What is going on, as one of these."""
SEEN_LOW, SEEN_HIGH = (0.0, -math.pi, -math.pi / 2, 0.0), (FARTHEST, math.pi, math.pi / 2, OLDEST)
FORCE_LOW = (*(-1.0,) * 3, *(-1000.0,) * 3)
FORCE_HIGH = (*(1.0,) * 3, *(1000.0,) * 3)


def percept_parts(players: int, length: float) -> list[Part]:
    """The parts of a row.

    Args:
        players: of a team.
        length: of the whole game, s.
    """
    marks = len(LANDMARKS)
    return [
        Part("angles", WITHOUT_TOES, -math.pi, math.pi),
        Part("gyro", 3, -40.0, 40.0),
        Part("acc", 3, -200.0, 200.0),
        Part("forces", 12, FORCE_LOW * 2, FORCE_HIGH * 2),
        Part("landmarks", 4 * marks, SEEN_LOW * marks, SEEN_HIGH * marks),
        Part("ball", 4, SEEN_LOW, SEEN_HIGH),
        Part("mates", 4 * players, SEEN_LOW * players, SEEN_HIGH * players),
        Part("opponents", 4 * players, SEEN_LOW * players, SEEN_HIGH * players),
        Part("phase", len(PHASES), 0.0, 1.0),
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
        self.layout = Layout([*percept_parts(players, length), *more])
        self._team, self._players, self._length = team, players, length
        self._percept: Percept | None = None
        self._side = Side.LEFT
        self._seen = np.zeros((len(LANDMARKS) + 1 + 2 * players, 4))
        self._seen[:, 3] = OLDEST

    def take(self, percept: Percept, side: Side) -> None:
        """Takes the percept of a cycle, of a player that plays from a side."""
        self._percept, self._side = percept, side
        self._seen[:, 3] = np.minimum(self._seen[:, 3] + CYCLE, OLDEST)
        if percept.sight is not None:
            self._see(percept.sight)

    def _see(self, sight: Sight) -> None:
        for label, polar in zip(sight.labels, sight.marks.tolist(), strict=True):
            self._note(len(LANDMARKS) if label == "B" else _place_of(label, self._side), polar)
        first = len(LANDMARKS) + 1
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
        marks, players = len(LANDMARKS), self._players
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
    return np.array([one == name for one in PHASES], float)


def _place_of(label: str, side: Side) -> int:
    """Where a landmark stands among `LANDMARKS` as a team sees the pitch, which is the same turned by half a turn."""
    if side is Side.RIGHT:
        label = f"{label[0]}{'2' if label[1] == '1' else '1'}{'R' if label[2] == 'L' else 'L'}"
    return LANDMARKS.index(label)
