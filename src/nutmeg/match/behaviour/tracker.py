"""What each player believes about itself, the ball and the others, made of what it sees, walks and is told.

    tracker = Tracker(load_eyes("nao"), load_field("spl2011"), ball_radius=0.0325, rolling=0.25, count=512)
    tracker.placed(match, slot, state.pose[match, slot])       # a player that is set down knows where it is
    tracker.update(state, vision.see(state))                   # every cycle
    tracker.hear(state)                                        # team-mates tell each other what they believe
    tracker.rows                                               # (M, 22, 102) for compiled strategies
    tracker.belief(match, slot, time=12.3)                     # the same for a player in Python

Nothing here knows the truth: the pose is a Kalman filter over odometry and ambiguous landmarks, so it can be wrong, and
a player that is pushed around or falls may have to look around to find itself again (see `tracker_kernels`). Beliefs
are in the frame of the player's own team, which attacks +x.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.match.behaviour.marks import Kind, goals_differ, marks_of, posts_of
from nutmeg.match.behaviour.mind_rows import MIND, MISFIT, PUU, PVV, PXX, PYY, TT, XT, XX, XY, YT, YY, Table
from nutmeg.match.behaviour.mind_rows import TrackerNumbers as Numbers
from nutmeg.match.behaviour.strategy_rows import (
    BALL_HEIGHT,
    BELIEF,
    HEADING,
    MATES,
    SEEN,
    SPREAD,
    TOLD,
    TURN_SPREAD,
    UPRIGHT,
    X,
    Y,
    belief_of,
)
from nutmeg.match.behaviour.tracker_kernels import tell, track_all
from nutmeg.match.behaviour.voices_kernels import share_beliefs
from nutmeg.match.rules import MOST_PLAYERS
from nutmeg.match.slots import SLOTS, side_of_slot

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.body.field import FieldSettings
    from nutmeg.match.behaviour.eyes import EyesSettings
    from nutmeg.match.behaviour.sights import Sights
    from nutmeg.match.behaviour.state import MatchesState
    from nutmeg.match.team.belief import Belief


CYCLE = 0.1
"""The decision cycle of the behavioural world, s."""
NOWHERE = 100.0
"""Variance of what is not known, m^2 and rad^2."""


class Tracker:
    """The minds of all players of M matches.

    Args:
        eyes: settings.
        field: the pitch.
        ball_radius: m.
        rolling: how a ball slows down, m/s^2.
        damping: how it slows down with its speed, 1/s.
        count: how many matches.
        cycle: time between two updates, s.
    """

    def __init__(
        self,
        eyes: EyesSettings,
        field: FieldSettings,
        *,
        ball_radius: float,
        rolling: float,
        damping: float = 0.0,
        count: int,
        cycle: float = CYCLE,
    ) -> None:
        self.eyes, self._table = eyes, table_of(field)
        self.numbers = tracker_numbers(eyes, field, rolling=rolling, damping=damping, cycle=cycle)
        self._ball_radius, self._all = ball_radius, np.arange(count)
        self.minds: Floats = np.zeros((count, SLOTS, MIND))
        """(M, 22, `MIND`), see `mind_rows`."""
        for match in range(count):
            for slot in range(SLOTS):
                self.forget(match, slot)

    @property
    def rows(self) -> Floats:
        """(M, 22, 102) beliefs as `strategy_rows` describes them; not copies."""
        return self.minds[:, :, :BELIEF]

    def forget(self, match: int, slot: int) -> None:
        """Lets a player know nothing; it begins to look for itself."""
        w = self.minds[match, slot]
        w[:] = 0.0
        w[[SEEN, TOLD]] = math.inf
        w[UPRIGHT], w[BALL_HEIGHT], w[MISFIT] = 1.0, self._ball_radius, 1.0
        w[[XX, YY, TT, PXX, PYY]] = NOWHERE
        w[[PUU, PVV]] = 0.25
        others = w[MATES:BELIEF].reshape(2 * MOST_PLAYERS, 4)
        others[:, :2], others[:, 2] = math.nan, math.inf
        tell(w, slot % MOST_PLAYERS)

    def placed(
        self, match: int, slot: int, pose: Floats, *, spread: float = 0.05, heading_spread: float = 0.05
    ) -> None:
        """Tells a player where it has been set down: x, y, heading on the pitch as in `MatchesState`, (3,)."""
        w, sign = self.minds[match, slot], side_of_slot(slot).sign
        w[X], w[Y] = sign * pose[0], sign * pose[1]
        heading = pose[2] if sign > 0 else pose[2] + math.pi
        w[HEADING] = wrap_angle_exactly(heading)
        w[[XX, YY, TT]] = spread**2, spread**2, heading_spread**2
        w[[XY, XT, YT, MISFIT]] = 0.0
        w[SPREAD], w[TURN_SPREAD] = spread, heading_spread
        tell(w, slot % MOST_PLAYERS)

    def update(self, state: MatchesState, sights: Sights, rows: Ints | None = None) -> None:
        """Takes a cycle's odometry and sights, in all matches or only in `rows`."""
        track_all(
            self._all if rows is None else rows,
            state.present, state.odometry, state.posture,
            sights.count, sights.kind, sights.number, sights.lying, sights.polar,
            self._table, self.minds, self.numbers,
        )  # fmt: skip

    def hear(self, state: MatchesState, rows: Ints | None = None) -> None:
        """Lets team-mates tell each other what they believe; messages are lost as the settings say."""
        share_beliefs(
            self._all if rows is None else rows,
            state.seed, state.cycle, state.present, self.minds, self.eyes.voices.loss, self.numbers.ball_told,
        )  # fmt: skip

    def belief(self, match: int, slot: int, time: float) -> Belief:
        """What a player believes; time is the world's, s."""
        return belief_of(self.minds[match, slot, :BELIEF], time)


def table_of(field: FieldSettings) -> Table:
    """The landmarks of a field by kind, in the frame of either team."""
    marks, posts = marks_of(field), posts_of(field)
    rows: list[tuple[int, float, float, float, int]] = [
        (int(kind), x, y, turn, i + 1)
        for i, (kind, (x, y), turn) in enumerate(
            zip(marks.kind.tolist(), marks.place.tolist(), marks.turn.tolist(), strict=True)
        )
    ]
    for k, (x, y) in enumerate(posts.tolist()):
        kind = Kind.OWN_POST if k < len(posts) // 2 else Kind.THEIR_POST
        rows += [(int(each), x, y, math.nan, k % 2 + 1) for each in (kind, Kind.POST)]
    rows.sort(key=lambda row: row[0])
    table = np.array(rows, float).reshape(-1, 5)
    first = np.searchsorted(table[:, 0], np.arange(len(Kind) + 1))
    return Table(places=np.ascontiguousarray(table[:, 1:]), first=first.astype(np.int64))


def tracker_numbers(
    eyes: EyesSettings, field: FieldSettings, *, rolling: float, damping: float, cycle: float
) -> Numbers:
    """Settings and pitch as the kernels want them."""
    t, vision = eyes.tracker, eyes.vision
    pixel = vision.pixel_noise / eyes.cameras.focal
    return Numbers(
        step=cycle,
        move_noise=t.move_noise,
        move_share=t.move_share,
        turn_noise=t.turn_noise,
        turn_share=t.turn_share,
        fallen_noise=t.fallen_noise,
        fallen_turn_noise=t.fallen_turn_noise,
        gate=t.gate,
        rival_gate=t.rival_gate,
        floor=t.mark_floor,
        bearing_noise=math.hypot(pixel, vision.sway),
        crossing_noise=vision.turn_noise,
        ball_push=t.ball_push,
        ball_gate=t.ball_gate,
        ball_told=t.ball_told,
        rolling=rolling,
        damping=damping,
        others_drift=t.others_drift,
        others_gate=t.others_gate,
        others_memory=t.others_memory,
        lost=t.lost,
        apart=1.0 if goals_differ(field) or vision.names else 0.02,
        half_length=field.length / 2,
        half_width=field.width / 2,
    )
