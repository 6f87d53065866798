"""What the referee is given (`Facts`) and what it remembers from one cycle to the next (`MatchState`).

    state = new_match(kick_off=Side.LEFT)
    state, decisions = judge(state, facts, rules)
    state.mode, state.time, state.score

Three clocks: `time` is the game's (it rests before kick-offs and at the end), `mode_time` that of the present play
mode, `elapsed` the referee's own, which never rests; stamps of what happened when are in `elapsed`. Arrays of players
are over (2 sides, 11 numbers), and are never changed in place. Indices of players count from 0, numbers from 1.

`judge` works on a copy of the state that it is given: whoever keeps a state keeps it as it was.
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
# What the referee is told each cycle: plain arrays, players over (2 sides, 11 numbers).
#
# Side 0 is left, number n is at index n - 1; entries of players who are not `present` mean nothing. Whoever simulates
# the match fills this in from its contacts, and whoever watches a real one from what it sees; what is not known keeps
# its default, and the rules that need it are then not applied.
#
# A caller that does not ask in every cycle (see `clock.time_to_next_judgement`) gives the time since it last did as
# `time_step`, how much of that the facts hold for as `cycle`, and where the ball was before as `ball_before`.


PLAYERS_SHAPE = (2, MAX_PLAYERS)


@dataclass(kw_only=True)  # not frozen, since making a frozen one in every cycle takes three times as long
class Facts:
    """One cycle, as it is at its end; neither the fields nor the arrays are changed by the referee."""

    time_step: float
    """Since the last judgement, s."""
    ball: Floats
    """(3,) its centre, m."""
    ball_velocity: Floats
    """(3,) m/s."""
    present: Bools
    """(2, 11) who is on the pitch or beside it."""
    position: Floats
    """(2, 11, 3) of the torso, m."""
    velocity: Floats
    """(2, 11, 2) of the torso, m/s; for charging."""
    touches_ball: Bools
    """(2, 11) who touched the ball in this cycle."""
    wants_pass: Bools
    """(2, 11) who asks for pass mode."""
    goalie: Bools
    """(2, 11) who is a goalie."""
    contacts: Ints
    """(K, 2, 2) pairs of players who touch each other: side and index of the one, side and index of the other."""
    contact_places: Floats
    """(K, 2) where they touch, m."""
    self_collision: Bools
    """(2, 11, 4) limbs that are inside another part of their robot: left arm, right arm, left leg, right leg."""
    pushes: Ints
    """(K, 2, 2) who pushed whom in this cycle: side and index of who is responsible, side and index of the other."""
    hand_ball: Bools | None = None
    """(2, 11) who touched the ball with a stretched arm; None for nobody."""
    cycle: float | None = None
    """How long the facts have been so, s; in the time step before that, all was as last told. None: all of it."""
    ball_before: Floats | None = None
    """(3,) where the ball was one `cycle` ago, after the referee's decisions, m; None: where it was last told to be."""

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
    """Groups of players who touch each other, directly or through others; each a sorted list of (side, index)."""
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
    """By whose player."""
    index: int
    """Which one."""
    stamp: float
    """When, in `elapsed`."""


@dataclass(frozen=True, kw_only=True)
class Kick:
    """A restart that has been taken: until another player touches the ball, its taker is watched."""

    side: Side
    """Side of the taker."""
    index: int
    """Which player."""
    stamp: float
    """When, in `elapsed`."""
    mode: PlayMode
    """The restart it was."""


@dataclass(frozen=True, kw_only=True)
class PassWatch:
    """What a team still owes for its pass mode before it may score."""

    side: Side
    """The team."""
    stamp: float
    """The last moment of pass mode, in `elapsed`."""
    place: Place
    """Where the ball was at that moment."""
    first: int | None = None
    """Who touched the ball since."""
    several: bool = False
    """Whether another of the team did, too."""
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
        """(2, 11) since they were last standing for a while, s."""
        return np.asarray(self.times[0])

    @property
    def ground(self) -> Floats:
        """(2, 11) on the ground since they last stood, s."""
        return np.asarray(self.times[1])


@dataclass(frozen=True, kw_only=True)
class Held:
    """A penalised player: held up, and then perhaps beside the pitch for a while."""

    side: Side
    """Its side."""
    index: int
    """Which player."""
    foul: Foul
    """What for."""
    stamp: float
    """Since when, in `elapsed`."""
    place: Place | None = None
    """Where beside the pitch it serves its time; None while it is still held up."""


@dataclass(frozen=True, kw_only=True)
class Stillness:
    """What was seen when the referee last looked who stands still; both arrays over (2, 11)."""

    place: Floats
    """(2, 11, 2) where players were, m."""
    since: Floats
    """(2, 11) since when they have been standing still near the ball, in `elapsed`; else the time of the look."""


@dataclass(frozen=True, kw_only=True)
class Stamps:
    """When things last happened to players, in `elapsed`."""

    touched_ball: Floats
    """(2, 11)."""
    moved: Floats
    """(2, 11) by the referee."""
    innocent: Floats
    """(2, 11) in a collision that was nobody's fault."""
    frozen: Floats
    """(2, 11, 4) limbs, for a self-collision."""


@dataclass(frozen=True, kw_only=True)
class ShootOut:
    """Where a penalty shoot-out stands."""

    side: Side
    """Whose kick it is."""
    kicks: tuple[int, int] = (0, 0)
    """Taken by left and right."""
    goals: tuple[int, int] = (0, 0)
    """Scored by left and right."""
    kicker: int | None = None
    """Index of the kicker, once there is one."""


@dataclass(kw_only=True)
class MatchState:
    """All that the referee remembers."""

    mode: PlayMode = PlayMode.BEFORE_KICK_OFF
    """What is going on."""
    time: float = 0.0
    """Game time, s."""
    mode_time: float = 0.0
    """Since the mode began, s; before a kick-off, only while somebody is there."""
    elapsed: float = 0.0
    """Since the referee began, s."""
    half: int = 1
    """1 and 2; 3 and 4 are extra time, 5 the shoot-out."""
    starter: Side = Side.LEFT
    """Who kicks off in this half."""
    score: tuple[int, int] = (0, 0)
    """Left and right."""
    touch: Touch | None = None
    """The last touch of the ball."""
    ball_before: tuple[float, float, float] | None = None
    """Where the ball was one cycle ago, m."""
    last_inside: Place = (0.0, 0.0)
    """Where the ball was last inside the pitch, m."""
    place: Place = (0.0, 0.0)
    """Where the ball is put in a restart, m."""
    ball_put: bool = False
    """Whether it has been put there."""
    goal_kick_touched: bool = False
    """Whether a goal kick is on its way out of the area."""
    kick: Kick | None = None
    """The restart whose taker is watched."""
    no_score: Side | None = None
    """The side that kicked off and may not score yet."""
    pass_watch: PassWatch | None = None
    """The last pass mode, while it matters."""
    in_offside: Bools | None = None
    """(2, 11) who was in an offside position at the last touch."""
    in_areas: Bools
    """(2, 2, 11) who was in the own penalty area, and who in the opponents', one cycle ago."""
    down: DownTimes | None = None
    """How long players have been down; None if nobody is."""
    held: tuple[Held, ...] = ()
    """Who is being held up, or serves its time beside the pitch."""
    still: Stillness | None = None
    """Who stood still when the referee last looked, if it has."""
    stamps: Stamps
    """When things happened to players."""
    in_contact: frozenset[tuple[int, int]] = frozenset()
    """(side, index) of who touched another player one cycle ago."""
    velocities: tuple[Floats, ...] = ()
    """The velocities of the players in the last cycles, newest first."""
    fouls: int = 0
    """Fouls called so far."""
    shoot_out: ShootOut | None = None
    """The penalty shoot-out, once it has begun."""

    def copy(self) -> MatchState:
        """A state with the same contents; `copy.copy` takes 2 us, this 0.3, in every cycle of a match."""
        found = object.__new__(MatchState)
        found.__dict__ = self.__dict__.copy()
        return found


def new_match(*, kick_off: Side = Side.LEFT) -> MatchState:
    """The state before a match in which `kick_off` starts; whoever wants a coin tossed tosses it."""
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
