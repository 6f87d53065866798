"""The referee's input (`Facts`) and its state from one cycle to the next (`MatchState`).

    state = new_match(kick_off=Side.LEFT)
    state, decisions = judge(state, facts, rules)
    state.mode, state.time, state.score

There are three clocks: `time` is the game's (it stops before kick-offs and at the end), `mode_time` that of the present
play mode, and `elapsed` the referee's own, which never stops; time stamps are in `elapsed`. Arrays of players have the
shape (2 sides, 11 numbers), and are never changed in place. Indices of players count from 0, numbers from 1.

`judge` works on a copy of the state that it is given, so that a state that was kept does not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from nutmeg.base.arrays import Bools, Floats, Ints
from nutmeg.match.rules.book import MAX_PLAYERS, Foul
from nutmeg.match.rules.decisions import Place
from nutmeg.match.rules.play_modes import PlayMode, Side

# ----------------------------------------------------------------------------------------------------
# The facts of a cycle: plain arrays of the shape (2 sides, 11 numbers).
#
# Side 0 is left, number n is at index n - 1; entries of players that are not `present` are ignored. A simulation fills
# the facts in from its contacts, an observer of a real match from what it sees; what is not known keeps its default,
# and the rules that need it are then not applied.
#
# A caller that does not ask in every cycle (see `clock.time_to_next_judgement`) gives the time since it last did as
# `time_step`, how much of that the facts hold for as `cycle`, and where the ball was before as `ball_before`.


PLAYERS_SHAPE = (2, MAX_PLAYERS)


@dataclass(kw_only=True)  # not frozen, since making a frozen one in every cycle takes three times as long
class Facts:
    """One cycle, as it is at its end; neither the fields nor the arrays are changed by the referee."""

    time_step: float
    """Time since the last judgement, s."""
    ball: Floats
    """(3,) centre of the ball, m."""
    ball_velocity: Floats
    """(3,) velocity of the ball, m/s."""
    present: Bools
    """(2, 11) whether a player is on the pitch or beside it."""
    position: Floats
    """(2, 11, 3) positions of the torsos, m."""
    velocity: Floats
    """(2, 11, 2) velocities of the torsos, m/s; used for charging."""
    touches_ball: Bools
    """(2, 11) whether a player touched the ball in this cycle."""
    wants_pass: Bools
    """(2, 11) whether a player asks for pass mode."""
    goalie: Bools
    """(2, 11) whether a player is a goalie."""
    contacts: Ints
    """(K, 2, 2) pairs of touching players: side and index of the one, side and index of the other."""
    contact_places: Floats
    """(K, 2) points of contact, m."""
    self_collision: Bools
    """(2, 11, 4) limbs that are inside another part of their robot: left arm, right arm, left leg, right leg."""
    pushes: Ints
    """(K, 2, 2) pushes in this cycle: side and index of the responsible player, side and index of the other."""
    hand_ball: Bools | None = None
    """(2, 11) whether a player touched the ball with a stretched arm; None for no player."""
    cycle: float | None = None
    """Duration for which these facts hold, s; in the rest of the time step the previous facts held. None for all of
    it."""
    ball_before: Floats | None = None
    """(3,) place of the ball one `cycle` ago, after the referee's decisions, m; None for the place of the last
    facts."""

    @classmethod
    def of(cls, **known: Any) -> Facts:  # noqa: ANN401 (fields of this class)
        """Facts of which only some are known; by default all is at rest, nothing touches, and number 1 is the goalie.

        `time_step`, `ball`, `present` and `position` are always needed. None stands for what is not known.
        """
        return cls(**(nothing_known() | {name: value for name, value in known.items() if value is not None}))


@lru_cache(maxsize=1)
def nothing_known() -> dict[str, Any]:
    """The fields of `Facts` that need not be known, with nothing going on; the arrays cannot be written to."""
    nobody = np.zeros(PLAYERS_SHAPE, bool)
    goalie = nobody.copy()
    goalie[:, 0] = True
    defaults: dict[str, Floats | Bools | Ints] = {
        "ball_velocity": np.zeros(3),
        "velocity": np.zeros((*PLAYERS_SHAPE, 2)),
        "touches_ball": nobody,
        "wants_pass": nobody,
        "goalie": goalie,
        "contacts": np.zeros((0, 2, 2), np.int64),
        "contact_places": np.zeros((0, 2)),
        "self_collision": np.zeros((*PLAYERS_SHAPE, 4), bool),
        "pushes": np.zeros((0, 2, 2), np.int64),
    }
    for array in defaults.values():
        array.flags.writeable = False
    return defaults


def touch_groups(contacts: Ints) -> list[list[tuple[int, int]]]:
    """Groups of players that touch each other, directly or through others; each a sorted list of (side, index)."""
    groups: list[set[tuple[int, int]]] = []
    for (side_a, a), (side_b, b) in contacts.tolist():
        pair = {(side_a, a), (side_b, b)}
        for group in [g for g in groups if g & pair]:
            groups.remove(group)
            pair |= group
        groups.append(pair)
    return sorted(sorted(group) for group in groups)


LONG_AGO = -1e9
"""A stamp for what never happened, s."""


@dataclass(frozen=True, kw_only=True)
class Touch:
    """The last touch of the ball."""

    side: Side
    """Side of the player."""
    index: int
    """Index of the player."""
    stamp: float
    """Time, in `elapsed`."""


@dataclass(frozen=True, kw_only=True)
class Kick:
    """A restart that has been taken: until another player touches the ball, its taker is watched."""

    side: Side
    """Side of the taker."""
    index: int
    """Index of the taker."""
    stamp: float
    """Time, in `elapsed`."""
    mode: PlayMode
    """The kind of restart."""


@dataclass(frozen=True, kw_only=True)
class PassWatch:
    """The conditions that a team has to meet after its pass mode before it may score."""

    side: Side
    """The team."""
    stamp: float
    """The last moment of pass mode, in `elapsed`."""
    place: Place
    """Place of the ball at that moment."""
    first: int | None = None
    """Index of the first player that touched the ball since."""
    several: bool = False
    """Whether another player of the team touched it, too."""
    left_circle: bool = False
    """Whether the ball has been farther from `place` than opponents had to be."""
    cleared: bool = False
    """Whether goals count again."""


@dataclass(frozen=True, kw_only=True)
class DownTimes:
    """How long players have been down."""

    times: Floats
    """(3, 2, 11) s: not standing, since they last stood for a while; on the ground; standing again."""
    flags: Bools
    """(3, 2, 11) one cycle ago: not standing; whose time of not standing counted; whose time on the ground did."""

    @property
    def not_standing(self) -> Floats:
        """(2, 11) time of not standing since they last stood for a while, s."""
        return np.asarray(self.times[0])

    @property
    def ground(self) -> Floats:
        """(2, 11) time on the ground since they last stood, s."""
        return np.asarray(self.times[1])


@dataclass(frozen=True, kw_only=True)
class Held:
    """A penalised player: held up, and then perhaps beside the pitch for a while."""

    side: Side
    """Side of the player's team."""
    index: int
    """Index of the player."""
    foul: Foul
    """The foul."""
    stamp: float
    """Time of the foul, in `elapsed`."""
    place: Place | None = None
    """Place beside the pitch where it serves its time; None while it is still held up."""


@dataclass(frozen=True, kw_only=True)
class Stillness:
    """The last inspection for players that stand still near the ball."""

    place: Floats
    """(2, 11, 2) places of the players, m."""
    since: Floats
    """(2, 11) since when they have been standing still near the ball, in `elapsed`; for others the time of the
    inspection."""


@dataclass(frozen=True, kw_only=True)
class Stamps:
    """When things last happened to players, in `elapsed`."""

    touched_ball: Floats
    """(2, 11) last touch of the ball."""
    moved: Floats
    """(2, 11) last move by the referee."""
    innocent: Floats
    """(2, 11) last collision that was no foul."""
    frozen: Floats
    """(2, 11, 4) last self-collision of each limb."""


@dataclass(frozen=True, kw_only=True)
class ShootOut:
    """State of a penalty shoot-out."""

    side: Side
    """The side that kicks next."""
    kicks: tuple[int, int] = (0, 0)
    """Kicks taken by left and right."""
    goals: tuple[int, int] = (0, 0)
    """Goals of left and right."""
    kicker: int | None = None
    """Index of the kicker, once there is one."""


@dataclass(kw_only=True)
class MatchState:
    """The referee's state from one cycle to the next."""

    mode: PlayMode = PlayMode.BEFORE_KICK_OFF
    """The play mode."""
    time: float = 0.0
    """Game time, s."""
    mode_time: float = 0.0
    """Time since the mode began, s; before a kick-off it counts only while a player is present."""
    elapsed: float = 0.0
    """Time since the referee began, s."""
    half: int = 1
    """1 and 2; 3 and 4 are extra time, 5 the shoot-out."""
    starter: Side = Side.LEFT
    """The side that kicks off in this half."""
    score: tuple[int, int] = (0, 0)
    """Score of left and right."""
    touch: Touch | None = None
    """The last touch of the ball."""
    ball_before: tuple[float, float, float] | None = None
    """Place of the ball one cycle ago, m."""
    last_inside: Place = (0.0, 0.0)
    """Last place of the ball inside the pitch, m."""
    place: Place = (0.0, 0.0)
    """Place of the ball for a restart, m."""
    ball_put: bool = False
    """Whether the ball has been put there."""
    goal_kick_touched: bool = False
    """Whether the ball of a goal kick has been touched but not left the penalty area."""
    kick: Kick | None = None
    """The restart whose taker is watched."""
    no_score: Side | None = None
    """The side that kicked off and may not score yet."""
    pass_watch: PassWatch | None = None
    """The last pass mode, while it matters."""
    in_offside: Bools | None = None
    """(2, 11) whether a player was in an offside position at the last touch."""
    in_areas: Bools
    """(2, 2, 11) whether players were in their own penalty area, and in the opponents', one cycle ago."""
    down: DownTimes | None = None
    """Times for which players have been down; None if no player is."""
    held: tuple[Held, ...] = ()
    """Players that are held up, or serve their time beside the pitch."""
    still: Stillness | None = None
    """The last inspection for players that stand still; None if there was none."""
    stamps: Stamps
    """Times at which things happened to players."""
    in_contact: frozenset[tuple[int, int]] = frozenset()
    """(side, index) of the players that touched another one cycle ago."""
    velocities: tuple[Floats, ...] = ()
    """Velocities of the players in the last cycles, newest first."""
    fouls: int = 0
    """Number of fouls called."""
    shoot_out: ShootOut | None = None
    """The penalty shoot-out, once it has begun."""

    def copy(self) -> MatchState:
        """A state with the same contents; `copy.copy` takes 2 us, this 0.3, in every cycle of a match."""
        found = object.__new__(MatchState)
        found.__dict__ = self.__dict__.copy()
        return found


def new_match(*, kick_off: Side = Side.LEFT) -> MatchState:
    """The state before a match that `kick_off` starts."""
    in_areas, stamps = _clean_slate()
    return MatchState(starter=kick_off, in_areas=in_areas, stamps=stamps)


@lru_cache(maxsize=1)
def _clean_slate() -> tuple[Bools, Stamps]:
    """Memory of nothing; its arrays cannot be written to."""
    in_areas = np.zeros((2, *PLAYERS_SHAPE), bool)
    never, no_limb = np.full(PLAYERS_SHAPE, LONG_AGO), np.full((*PLAYERS_SHAPE, 4), LONG_AGO)
    for array in (in_areas, never, no_limb):
        array.flags.writeable = False
    return in_areas, Stamps(touched_ball=never, moved=never, innocent=never, frozen=no_limb)
