"""What the referee remembers from one cycle to the next: frozen, small, nothing but data.

    state = new_match(kick_off=Side.LEFT)
    state, decisions = judge(state, facts, rules)
    state.mode, state.time, state.score

Three clocks: `time` is the game's (it rests before kick-offs and at the end), `mode_time` that of the present play
mode, `elapsed` the referee's own, which never rests; stamps of what happened when are in `elapsed`. Arrays of players
are over (2 sides, 11 numbers), and are never changed in place. Indices of players count from 0, numbers from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from nutmeg.base.arrays import Bools, Floats
from nutmeg.match.decisions import Place
from nutmeg.match.facts import SHAPE
from nutmeg.match.foul_rules import Foul
from nutmeg.match.play_modes import PlayMode, Side

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
    """How long players have been down, s; all (2, 11)."""

    not_standing: Floats
    """Since they were last standing for a while."""
    ground: Floats
    """On the ground since they last stood."""
    standing: Floats
    """Standing since they were last down."""
    low: Bools
    """Who was not standing, one cycle ago."""
    counted: Bools
    """Whose time of not standing was counted then."""
    lying: Bools
    """Whose time on the ground was counted then."""


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


@dataclass(frozen=True, kw_only=True)
class MatchState:
    """The whole memory of a referee."""

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
    """Of the players in the last cycles, newest first."""
    fouls: int = 0
    """Fouls called so far."""
    shoot_out: ShootOut | None = None
    """The penalty shoot-out, once it has begun."""


def new_match(*, kick_off: Side = Side.LEFT) -> MatchState:
    """The state before a match in which `kick_off` starts; whoever wants a coin tossed tosses it."""
    in_areas, stamps = _clean_slate()
    return MatchState(starter=kick_off, in_areas=in_areas, stamps=stamps)


@lru_cache(maxsize=1)
def _clean_slate() -> tuple[Bools, Stamps]:
    """Memory of nothing; its arrays cannot be written to."""
    in_areas = np.zeros((2, *SHAPE), bool)
    never, no_limb = np.full(SHAPE, LONG_AGO), np.full((*SHAPE, 4), LONG_AGO)
    for array in (in_areas, never, no_limb):
        array.flags.writeable = False
    return in_areas, Stamps(touched_ball=never, moved=never, innocent=never, frozen=no_limb)
