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
from nutmeg.base.kernels import kernel
from nutmeg.match.players.strategies.records import (
    BALL_HEIGHT,
    BALL_SPREAD,
    BALL_VX,
    BALL_VY,
    BALL_X,
    BALL_Y,
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
from nutmeg.match.players.tracking.batch_filters import (
    BU,
    BV,
    MIND,
    MISFIT,
    ODO_T,
    ODO_X,
    ODO_Y,
    PUU,
    PVV,
    PXX,
    PYY,
    TT,
    XT,
    XX,
    XY,
    YT,
    YY,
    LandmarkTable,
    find_ball,
    tell,
    track_all,
)
from nutmeg.match.players.tracking.batch_filters import TrackerNumbers as Numbers
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.decisions import MovePlayer
from nutmeg.match.rules.slots import SLOTS, side_of_slot, slot_of
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind, goal_posts_of, goals_differ, landmarks_of
from nutmeg.match.worlds.behavioural.random import VOICES, uniform
from nutmeg.match.worlds.behavioural.vision import Vision

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.rules.decisions import Decision
    from nutmeg.match.worlds.behavioural.eyes import EyesSettings
    from nutmeg.match.worlds.behavioural.state import MatchesState
    from nutmeg.match.worlds.behavioural.vision import Sightings
    from nutmeg.match.worlds.behavioural.world import BehaviourWorld
    from nutmeg.model.field import FieldSettings


# ----------------------------------------------------------------------------------------------------
# Messages between team-mates, compiled: which arrive, and what beliefs that are told change.
#
# Once a cycle every player tells its team-mates where it is and where it sees the ball, as NaOISIS's robots share a
# structure of beliefs (seed 002, section 3.3); each message is lost with a set probability, for each listener anew.


TEAM_SIZE = SLOTS // 2
MAX_TOLD_BALL_AGE = 0.35
"""Balls that were seen longer ago are not told of, s."""
MAX_TOLD_SPREAD = 1.0
"""Who is less sure of its own place tells nothing, m."""
TOLD_BALL_SPEED = 0.5
"""Deviation of the velocity of a ball that is told of, m/s."""


@kernel
def arrives(seed: np.uint64, cycle: int, speaker: int, listener: int, loss: float) -> bool:
    """Whether a message of a cycle arrives, by slots."""
    luck: bool = uniform(seed, cycle, listener, VOICES, speaker) >= loss
    return luck


@kernel
def share_beliefs(
    rows: Ints,
    seed: NDArray[np.uint64],
    cycle: Ints,
    present: Bools,
    minds: Floats,
    loss: float,
    patience: float,
) -> None:
    """Lets team-mates of the matches `rows` tell each other what they believe: changes minds (M, 22, `MIND`).

    Who has not seen the ball for `patience` seconds believes it where it is told best.
    """
    for m in rows:
        for s in range(SLOTS):
            if not present[m, s]:
                continue
            first, teller, least = s - s % TEAM_SIZE, -1, math.inf
            for k in range(first, first + TEAM_SIZE):
                if k == s or not present[m, k] or minds[m, k, SPREAD] > MAX_TOLD_SPREAD:
                    continue
                if not arrives(seed[m], cycle[m], k, s, loss):
                    continue
                at = MATES + 4 * (k - first)
                minds[m, s, at], minds[m, s, at + 1] = minds[m, k, X], minds[m, k, Y]
                minds[m, s, at + 2], minds[m, s, at + 3] = 0.0, 1.0 - minds[m, k, UPRIGHT]
                spread = _ball_spread(minds, m, k)
                if spread < least:
                    teller, least = k, spread
            if teller >= 0:
                minds[m, s, TOLD] = minds[m, teller, SEEN]
                if minds[m, s, SEEN] > patience:
                    _believe(minds[m, s], minds[m, teller], least)
                    tell(minds[m, s], s - first)


@kernel
def _ball_spread(minds: Floats, m: int, k: int) -> float:
    """Variance of the place of the ball that a player tells, on the pitch; inf if it does not see it."""
    if minds[m, k, SEEN] > MAX_TOLD_BALL_AGE:
        return math.inf
    far = math.hypot(minds[m, k, BALL_X] - minds[m, k, X], minds[m, k, BALL_Y] - minds[m, k, Y])
    spread: float = minds[m, k, BALL_SPREAD] ** 2 + minds[m, k, SPREAD] ** 2 + (far * minds[m, k, TURN_SPREAD]) ** 2
    return spread


@kernel
def _believe(w: Floats, told: Floats, variance: float) -> None:
    """Puts the ball into a mind where another one has it on the pitch."""
    turn = w[ODO_T] - w[HEADING]
    c, s = math.cos(turn), math.sin(turn)
    dx, dy = told[BALL_X] - w[X], told[BALL_Y] - w[Y]
    variance += w[SPREAD] ** 2 + (dx * dx + dy * dy) * w[TURN_SPREAD] ** 2
    find_ball(w, w[ODO_X] + c * dx - s * dy, w[ODO_Y] + s * dx + c * dy, variance, 0.0, variance, TOLD_BALL_SPEED)
    w[BU], w[BV] = c * told[BALL_VX] - s * told[BALL_VY], s * told[BALL_VX] + c * told[BALL_VY]


CYCLE = 0.1
"""The decision cycle of the behavioural world, s."""
UNKNOWN_VARIANCE = 100.0
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
        w[[XX, YY, TT, PXX, PYY]] = UNKNOWN_VARIANCE
        w[[PUU, PVV]] = 0.25
        others = w[MATES:BELIEF].reshape(2 * MAX_PLAYERS, 4)
        others[:, :2], others[:, 2] = math.nan, math.inf
        tell(w, slot % MAX_PLAYERS)

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
        tell(w, slot % MAX_PLAYERS)

    def update(self, state: MatchesState, sights: Sightings, rows: Ints | None = None) -> None:
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


def table_of(field: FieldSettings) -> LandmarkTable:
    """The landmarks of a field by kind, in the frame of either team."""
    marks, posts = landmarks_of(field), goal_posts_of(field)
    rows: list[tuple[int, float, float, float, int]] = [
        (int(kind), x, y, turn, i + 1)
        for i, (kind, (x, y), turn) in enumerate(
            zip(marks.kind.tolist(), marks.place.tolist(), marks.turn.tolist(), strict=True)
        )
    ]
    for k, (x, y) in enumerate(posts.tolist()):
        kind = ObjectKind.OWN_POST if k < len(posts) // 2 else ObjectKind.THEIR_POST
        rows += [(int(each), x, y, math.nan, k % 2 + 1) for each in (kind, ObjectKind.POST)]
    rows.sort(key=lambda row: row[0])
    table = np.array(rows, float).reshape(-1, 5)
    first = np.searchsorted(table[:, 0], np.arange(len(ObjectKind) + 1))
    return LandmarkTable(places=np.ascontiguousarray(table[:, 1:]), first=first.astype(np.int64))


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


# ----------------------------------------------------------------------------------------------------
# All senses of all players of M matches: eyes, ears and what they believe, one cycle after the other.
#
# Players see symbols (`vision`), keep track of themselves, the ball and the others (`tracker`), and tell their team-
# mates what they believe once a cycle, with messages that may be lost. Who is put somewhere by the referee, or by its
# own wish, knows where that is, as a robot that somebody carries there.


class SymbolicSenses:
    """The senses of everybody in a world.

    Args:
        eyes: settings.
        world: where they are.
    """

    def __init__(self, eyes: EyesSettings, world: BehaviourWorld) -> None:
        self.eyes, self._world = eyes, world
        ball, radius, count = world.settings[0].ball, world.ball_radius, world.count
        self.vision = Vision(eyes, world.field, ball_radius=radius, count=count)
        self.tracker = Tracker(
            eyes, world.field, ball_radius=radius, rolling=ball.deceleration, damping=ball.damping, count=count
        )

    @property
    def beliefs(self) -> Floats:
        """(M, 22, ...) what everybody believes: rows of `strategy_rows`, and what the trackers need beyond."""
        return self.tracker.minds

    @property
    def sights(self) -> Sightings:
        """What everybody sees."""
        return self.vision.sights

    def sense_all(self, chosen: Ints) -> None:
        """Lets everybody in some matches (K,) look, think and talk."""
        state = self._world.state
        self.tracker.update(state, self.vision.see(state, chosen), chosen)
        self.tracker.hear(state, chosen)

    # ---- what happens to players

    def greet(self, match: int, slot: int) -> None:
        """Somebody has joined: it knows where."""
        self.tracker.forget(match, slot)
        self.placed(match, slot)

    def placed(self, match: int, slot: int) -> None:
        """Somebody has been put where it is now."""
        self.tracker.placed(match, slot, self._world.state.pose[match, slot])

    def all_placed(self, chosen: Ints, who: Bools) -> None:
        """The same of everybody in some matches (K,) who is marked in `who`, (M, 22)."""
        if who[chosen].any():
            for row, slot in np.argwhere(who[chosen]).tolist():
                self.placed(int(chosen[row]), slot)

    def follow(self, match: int, decision: Decision) -> None:
        """Takes note of what the referee has decided, and the world has carried out."""
        if isinstance(decision, MovePlayer):
            slot = slot_of(decision.side, decision.number)
            if self._world.state.present[match, slot]:
                self.placed(match, slot)

    def swap_ends(self, match: int) -> None:
        """Lets what players know follow them to the other end; they see the pitch as their team does."""
        minds = self.tracker.minds
        minds[match] = np.roll(minds[match], SLOTS // 2, axis=0)
