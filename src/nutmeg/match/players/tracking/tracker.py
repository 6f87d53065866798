"""The senses and beliefs of all players of M matches.

    senses = SymbolicSenses(load_eyes("nao"), world)
    senses.greet(match, slot)                   # a player has joined, and knows where it is
    senses.update(chosen)                       # after each step of the world and the referee's decisions
    senses.beliefs[match, slot]                 # a record of `records.BeliefRecord`, for compiled strategies
    senses.tracker.belief(match, slot, time=12.3)       # the same for a player in Python

Players see symbols (`vision`), track themselves, the ball and the others (`filters`), and share their beliefs with
their team-mates once a cycle, by messages that may be lost. The true state is not used: the pose comes from a Kalman
filter over odometry and ambiguous landmarks, so it can be wrong, and a player that is pushed or falls may have to look
around to find itself again. A player that is put somewhere, by the referee or by its own beam, knows that place.
Beliefs are in the frame of the player's own team, which attacks +x.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.records import new_records, record_values
from nutmeg.match.players.tracking.filters import refresh_belief, share_beliefs, track_all
from nutmeg.match.players.tracking.records import (
    LandmarkRecord,
    LandmarkTable,
    LinePart,
    MindRecord,
    Observations,
    TrackerNumbers,
    belief_of,
)
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.decisions import MovePlayer
from nutmeg.match.rules.slots import SLOTS, side_of_slot, slot_of
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind, goal_posts_of, goals_differ, landmarks_of
from nutmeg.match.worlds.behavioural.sonar import Sonar, sonar_numbers
from nutmeg.match.worlds.behavioural.vision import Vision

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.base.records import Records
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.tracking.records import BeliefRecord
    from nutmeg.match.rules.decisions import Decision
    from nutmeg.match.worlds.behavioural.eyes import EyesSettings
    from nutmeg.match.worlds.behavioural.state import MatchesState
    from nutmeg.match.worlds.behavioural.vision import Sightings
    from nutmeg.match.worlds.behavioural.world import BehaviourWorld
    from nutmeg.model.field import FieldSettings

_UNKNOWN_VARIANCE = 100.0  # variance of what is not known, m^2 and rad^2
MAX_DISTANCE_OUTSIDE = 1.0
"""How far outside the lines players may be, m."""
_PRIOR_PENALTY = 0.05  # what a new pose loses for each metre from where the player believed to be, in landmarks
PLACED_SPREAD = 0.05
"""Deviation of place and heading of a player that was set down, m and rad."""


class Tracker:
    """The minds of all players of M matches.

    Args:
        eyes: settings.
        field: the pitch.
        ball_radius: m.
        rolling: how a ball slows down, m/s^2.
        damping: how it slows down with its speed, 1/s.
        count: how many matches.
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
    ) -> None:
        self.eyes, self._table = eyes, landmark_table(field)
        self._numbers = record_values(tracker_numbers(eyes, field, rolling=rolling, damping=damping))
        self._blank, self._all, self._parts = blank_mind(ball_radius), np.arange(count), new_records(LinePart, 0)
        self._silence = np.full((count, SLOTS, 2), np.nan)
        self.minds = new_records(MindRecord, count, SLOTS)
        """(M, 22) what is kept of all players."""
        for match in range(count):
            for slot in range(SLOTS):
                self.forget(match, slot)

    @property
    def beliefs(self) -> Records[Records[BeliefRecord]]:
        """(M, 22) beliefs; a view."""
        beliefs: Records[Records[BeliefRecord]] = self.minds["belief"]
        return beliefs

    def forget(self, match: int, slot: int) -> None:
        """Lets a player know nothing; it begins to look for itself."""
        self.minds[match, slot] = self._blank
        refresh_belief(self.minds[match], slot, slot % MAX_PLAYERS)

    def placed(self, match: int, slot: int, pose: Floats) -> None:
        """Tells a player where it has been set down: x, y, heading on the pitch as in `MatchesState`, (3,)."""
        sign = side_of_slot(slot).sign
        heading = math.remainder(pose[2] if sign > 0 else pose[2] + math.pi, 2.0 * math.pi)
        minds, own = self.minds[match, slot : slot + 1], slot % MAX_PLAYERS
        place_mind(minds, own, (sign * float(pose[0]), sign * float(pose[1]), heading), PLACED_SPREAD)

    def update(
        self, state: MatchesState, sightings: Sightings, chosen: Ints | None = None, *, sonar: Floats | None = None
    ) -> None:
        """Takes a cycle's odometry and observations.

        Args:
            state: the state of the world.
            sightings: the sightings of all players.
            chosen: (K,) matches; all if left out.
            sonar: (M, 22, 2) distances, m, NaN without an echo; left out if there are no sonars.
        """
        rows = self._all if chosen is None else chosen
        heard = self._silence if sonar is None else sonar
        observed = Observations(sightings.things, sightings.count, heard, self._parts)
        track_all(rows, state.players, observed, self._table, self.minds, self._numbers)

    def hear(self, state: MatchesState, chosen: Ints | None = None) -> None:
        """Shares beliefs between team-mates; messages are lost at the rate of the settings."""
        rows, patience = self._all if chosen is None else chosen, self.eyes.tracker.ball_told
        share_beliefs(rows, state.players, state.balls, self.minds, self.eyes.voices.loss, patience)

    def belief(self, match: int, slot: int, time: float) -> Belief:
        """The belief of a player; `time` is the world's, s."""
        return belief_of(self.beliefs[match, slot : slot + 1], time)


def tracker_numbers(
    eyes: EyesSettings, field: FieldSettings, *, rolling: float, damping: float = 0.0
) -> TrackerNumbers:
    """The numbers of the filters of a robot with eyes on a field; how a ball slows down: m/s^2, and 1/s."""
    return TrackerNumbers(
        settings=eyes.tracker,
        bearing_noise=math.hypot(eyes.vision.pixel_noise / eyes.cameras.focal, eyes.vision.sway),
        crossing_noise=eyes.vision.turn_noise,
        rolling=rolling,
        damping=damping,
        apart=1.0 if goals_differ(field) or eyes.vision.names else 0.02,
        prior_penalty=_PRIOR_PENALTY,
        reach_x=field.length / 2 + MAX_DISTANCE_OUTSIDE,
        reach_y=field.width / 2 + MAX_DISTANCE_OUTSIDE,
        sonar=sonar_numbers(eyes, field),
    )


def place_mind(minds: Records[MindRecord], own: int, pose: tuple[float, float, float], spread: float) -> None:
    """Tells a player (1,) where it is in its team's frame, to a deviation [m, rad].

    `own` is its number less 1; -1 while it is not known.
    """
    belief, filtered = minds["belief"], minds["pose"]
    belief["x"], belief["y"], belief["heading"] = pose
    for name in ("xx", "yy", "tt"):
        filtered[name] = spread**2
    for name in ("xy", "xt", "yt", "misfit"):
        filtered[name] = 0.0
    refresh_belief(minds, 0, own)


def blank_mind(ball_radius: float) -> MindRecord:
    """The mind of a player that knows nothing."""
    mind = new_records(MindRecord, 1)[0]
    belief, pose, ball = mind.belief, mind.pose, mind.ball
    belief.seen_ago, belief.heard_ago = math.inf, math.inf
    belief.upright, belief.ball_height, pose.misfit = True, ball_radius, 1.0
    pose.xx = pose.yy = pose.tt = ball.xx = ball.yy = _UNKNOWN_VARIANCE
    ball.uu = ball.vv = 0.25
    others = belief.others
    others["x"], others["y"], others["age"] = math.nan, math.nan, math.inf
    return mind


def landmark_table(field: FieldSettings) -> LandmarkTable:
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
    kinds = [kind for kind, *_ in rows]
    first = np.searchsorted(kinds, np.arange(len(ObjectKind) + 1))
    landmarks = new_records(LandmarkRecord, len(rows))
    for row, (_, *numbers) in enumerate(rows):
        landmarks[row] = tuple(numbers)
    return LandmarkTable(landmarks, first.astype(np.int64), np.array(field.lines(), float).reshape(-1, 4))


class SymbolicSenses:
    """The senses of all players of a world: symbolic vision, sonar, and the tracker that uses them.

    Args:
        eyes: settings of cameras and sonar.
        world: the world.
    """

    def __init__(self, eyes: EyesSettings, world: BehaviourWorld) -> None:
        self.eyes, self._world = eyes, world
        ball, radius, count = world.settings[0].ball, world.ball_radius, world.count
        self.vision = Vision(eyes, world.field, ball_radius=radius, count=count)
        self.sonar = Sonar(eyes, world.field, count=count)
        self.tracker = Tracker(
            eyes, world.field, ball_radius=radius, rolling=ball.deceleration, damping=ball.damping, count=count
        )

    @property
    def beliefs(self) -> Records[Records[BeliefRecord]]:
        """(M, 22) beliefs of all players."""
        return self.tracker.beliefs

    @property
    def sightings(self) -> Sightings:
        """(M, 22) sightings of all players in this cycle."""
        return self.vision.sightings

    def update(self, chosen: Ints) -> None:
        """Senses, tracks and shares beliefs for all players of some matches (K,)."""
        state = self._world.state
        self.tracker.update(state, self.vision.see(state, chosen), chosen, sonar=self.sonar.listen(state, chosen))
        self.tracker.hear(state, chosen)

    # ---- what happens to players

    def greet(self, match: int, slot: int) -> None:
        """Takes in a player that has joined: it knows where."""
        self.tracker.forget(match, slot)
        self.placed(match, slot)

    def placed(self, match: int, slot: int) -> None:
        """Tells a player that it has been put where it is now."""
        self.tracker.placed(match, slot, self._world.state.pose[match, slot])

    def all_placed(self, chosen: Ints, who: Bools) -> None:
        """Gives the players of some matches (K,) that are marked in `who`, (M, 22), the places where they were put."""
        if who[chosen].any():
            for row, slot in np.argwhere(who[chosen]).tolist():
                self.placed(int(chosen[row]), slot)

    def follow(self, match: int, decision: Decision) -> None:
        """Takes note of a decision of the referee that the world has carried out."""
        if isinstance(decision, MovePlayer):
            slot = slot_of(decision.side, decision.number)
            if self._world.state.present[match, slot]:
                self.placed(match, slot)

    def swap_ends(self, match: int) -> None:
        """Lets beliefs follow their players to the other end; they are in the frame of the own team anyway."""
        minds = self.tracker.minds
        minds[match] = np.roll(minds[match], SLOTS // 2, axis=0)
