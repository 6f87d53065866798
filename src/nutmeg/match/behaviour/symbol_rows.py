"""What players of the behavioural world know, as rows of numbers for learners: all matches and agents at once.

    rows = SymbolRows(options)
    rows.layout.slices["ball"]                          # where a part is
    rows.rows(games)                                    # (M, agents, width) float32

A thing that is seen is three numbers: 1, distance [m] and angle to the left [rad]; what is not seen is zeros. Things of
a kind are sorted, near ones first. Posts begin with -1 (own goal), 1 (theirs) or 0 (not told). Landmarks have five
numbers: 1 to 5 for L, T and X crossings, penalty mark and centre circle; distance, angle, and cosine and sine of where
a crossing points. Beliefs are the tracker's: everything in the frame of the own team, which attacks +x, or ahead and to
the left of the player.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import kernel
from nutmeg.learning.environments.layout import Layout, Part
from nutmeg.match.behaviour.marks import Kind
from nutmeg.match.behaviour.state import Posture
from nutmeg.match.behaviour.strategy_rows import (
    BALL_VX,
    BALL_X,
    MATES,
    OPPONENTS,
    SEEN,
    TOLD,
)
from nutmeg.match.behaviour.view_kernels import BEARING, DISTANCE, TURN
from nutmeg.match.percept_rows import PHASES, phase
from nutmeg.match.play_modes import PlayMode, Side
from nutmeg.match.rules import MOST_PLAYERS

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Floats32, Ints, SmallInts
    from nutmeg.match.behaviour.environment_options import BehaviourOptions
    from nutmeg.match.behaviour.steered_games import SteeredGames


POSTS, MARKS, FARTHEST, OLDEST, FAST = 4, 6, 30.0, 10.0, 10.0
"""Posts and landmarks that are told of at most; nothing is farther [m], older [s] or faster [m/s]."""
_BALL, _MATE, _OPPONENT, _ROBOT = (int(kind) for kind in (Kind.BALL, Kind.MATE, Kind.OPPONENT, Kind.ROBOT))
_OWN_POST, _THEIR_POST, _POST, _FIRST_MARK = 4, 5, 6, int(Kind.L_CROSSING)
_KICKING = int(Posture.KICKING)
BODY = ("head", "odometry", "upright", "kicking", "phase", "time_left", "score")
"""What a player knows without looking; with pictures, all that it is told in numbers."""


def body_parts(length: float) -> list[Part]:
    """What a player knows of itself and the game; the length is that of the whole game, s."""
    return [
        Part("head", 2, -math.pi, math.pi),
        Part("odometry", 3, -math.pi, math.pi),
        Part("upright", 1, 0.0, 1.0),
        Part("kicking", 1, 0.0, 1.0),
        Part("phase", len(PHASES), 0.0, 1.0),
        Part("time_left", 1, 0.0, length),
        Part("score", 2, 0.0, 100.0),
    ]


def symbol_parts(players: int) -> list[Part]:
    """What a player sees and believes."""
    low, high = (0.0, 0.0, -math.pi), (1.0, FARTHEST, math.pi)
    post_low, post_high = (-1.0, *low), (1.0, *high)
    mark_low, mark_high = (0.0, 0.0, -math.pi, -1.0, -1.0), (5.0, FARTHEST, math.pi, 1.0, 1.0)
    far, other_low, other_high = FARTHEST, (-FARTHEST, -FARTHEST, 0.0), (FARTHEST, FARTHEST, OLDEST)
    return [
        Part("ball", 3, low, high),
        Part("mates", 3 * players, low * players, high * players),
        Part("opponents", 3 * players, low * players, high * players),
        Part("robots", 3 * players, low * players, high * players),
        Part("posts", 4 * POSTS, post_low * POSTS, post_high * POSTS),
        Part("marks", 5 * MARKS, mark_low * MARKS, mark_high * MARKS),
        Part("pose", 6, (-far, -far, -1.0, -1.0, 0.0, 0.0), (far, far, 1.0, 1.0, FARTHEST, math.pi)),
        Part(
            "believed_ball",
            5,
            (-far, -far, -FAST, -FAST, 0.0),
            (far, far, FAST, FAST, OLDEST),
        ),
        Part("believed_mates", 3 * players, other_low * players, other_high * players),
        Part("believed_opponents", 3 * players, other_low * players, other_high * players),
    ]


class SymbolRows:
    """Makes observations of all agents of all matches.

    Args:
        options: of the environment.
    """

    def __init__(self, options: BehaviourOptions) -> None:
        parts = body_parts(options.length)
        self.body = Layout(parts)
        """What is told beside pictures."""
        self.layout = Layout([*parts, *symbol_parts(options.players)])
        """What is told without pictures."""
        self._options = options
        sides = [np.array([phase_of(mode, side) for mode in PlayMode]) for side in Side]
        self._phases = np.stack(sides, axis=1)

    def rows(self, games: SteeredGames) -> Floats32:
        """(M, agents, width) what agents are told in numbers."""
        told = self.bodies(games)
        if self._options.observations == "images":
            return self.body.rows(told).reshape(*games.slots.shape, -1)
        slots, sights, players = games.slots, games.perception.sights, self._options.players
        seen = np.zeros((*slots.shape, 3 + 9 * players + 4 * POSTS + 5 * MARKS))
        see_rows(slots, sights.count, sights.kind, sights.polar, players, seen)
        ends = np.cumsum([3, 3 * players, 3 * players, 3 * players, 4 * POSTS, 5 * MARKS])
        names = ("ball", "mates", "opponents", "robots", "posts", "marks")
        flat = seen.reshape(len(told["head"]), -1)
        for name, first, end in zip(names, [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            told[name] = flat[:, first:end]
        beliefs = games.perception.beliefs[np.arange(games.count)[:, None], slots]
        told |= believed(beliefs.reshape(-1, beliefs.shape[-1]), players)
        return self.layout.rows(told).reshape(*slots.shape, -1)

    def bodies(self, games: SteeredGames) -> dict[str, Floats]:
        """(M * agents, ...) what players know without looking."""
        state, slots = games.world.state, games.slots
        rows, side = np.arange(games.count)[:, None], slots // MOST_PLAYERS
        posture, count = state.posture[rows, slots], slots.size
        score = np.array([one.score for one in games.states], float)
        left = self._options.length - games.clocks()
        own = np.stack([score[rows, side], score[rows, 1 - side]], axis=-1)
        return {
            "head": state.head[rows, slots].reshape(count, 2),
            "odometry": state.odometry[rows, slots].reshape(count, 3),
            "upright": (posture <= _KICKING).astype(float).reshape(count, 1),
            "kicking": (posture == _KICKING).astype(float).reshape(count, 1),
            "phase": self._phases[games.modes[:, None], side].reshape(count, -1),
            "time_left": np.broadcast_to(left[:, None], slots.shape).reshape(count, 1),
            "score": own.reshape(count, 2),
        }


def phase_of(mode: PlayMode, side: Side) -> Floats:
    """(7,) what is going on as a team sees it, 1 at one of `PHASES`."""
    from nutmeg.match.percept import GameView

    return phase(GameView(mode=mode.wire_name, time=0.0, score_left=0, score_right=0), side)


def believed(beliefs: Floats, players: int) -> dict[str, Floats]:
    """Parts of the belief rows (N, ...) of players."""
    x, y, heading = beliefs[:, 0], beliefs[:, 1], beliefs[:, 2]
    c, s = np.cos(heading), np.sin(heading)

    def to_body(dx: Floats, dy: Floats) -> tuple[Floats, Floats]:
        return c * dx + s * dy, c * dy - s * dx

    ahead, left = to_body(beliefs[:, BALL_X] - x, beliefs[:, BALL_X + 1] - y)
    vx, vy = to_body(beliefs[:, BALL_VX], beliefs[:, BALL_VX + 1])
    age = np.minimum(beliefs[:, SEEN], beliefs[:, TOLD])
    parts = {
        "pose": np.stack([x, y, c, s, beliefs[:, 3], beliefs[:, 4]], axis=1),
        "believed_ball": np.nan_to_num(np.stack([ahead, left, vx, vy, age], axis=1), posinf=OLDEST),
    }
    for name, first in (("believed_mates", MATES), ("believed_opponents", OPPONENTS)):
        columns = []
        for number in range(players):
            place = first + 4 * number
            there = to_body(beliefs[:, place] - x, beliefs[:, place + 1] - y)
            columns += [*there, beliefs[:, place + 2]]
        parts[name] = np.nan_to_num(np.stack(columns, axis=1), nan=0.0, posinf=OLDEST)
    return parts


@kernel
def see_rows(slots: Ints, count: Ints, kind: SmallInts, polar: Floats, players: int, out: Floats) -> None:
    """Fills rows (M, agents, width) with what is seen: ball, mates, opponents, robots, posts and landmarks."""
    firsts = np.array([0, 3, 3 + 3 * players, 3 + 6 * players])
    room = np.array([1, players, players, players])
    posts, marks = 3 + 9 * players, 3 + 9 * players + 4 * POSTS
    for m in range(slots.shape[0]):
        for a in range(slots.shape[1]):
            s, row = slots[m, a], out[m, a]
            found, seen_posts, seen_marks = np.zeros(4, np.int64), 0, 0
            for i in range(count[m, s]):
                what = kind[m, s, i]
                far, bearing = polar[m, s, i, DISTANCE], polar[m, s, i, BEARING]
                if what <= _ROBOT:
                    if found[what] < room[what]:
                        place = firsts[what] + 3 * found[what]
                        row[place], row[place + 1], row[place + 2] = 1.0, far, bearing
                        found[what] += 1
                elif what <= _POST:
                    if seen_posts < POSTS:
                        place = posts + 4 * seen_posts
                        row[place] = -1.0 if what == _OWN_POST else 1.0 if what == _THEIR_POST else 0.0
                        row[place + 1], row[place + 2], row[place + 3] = 1.0, far, bearing
                        seen_posts += 1
                elif seen_marks < MARKS:
                    place = marks + 5 * seen_marks
                    row[place], row[place + 1], row[place + 2] = what - _FIRST_MARK + 1.0, far, bearing
                    turn = polar[m, s, i, TURN]
                    if not math.isnan(turn):
                        row[place + 3], row[place + 4] = math.cos(turn), math.sin(turn)
                    seen_marks += 1
