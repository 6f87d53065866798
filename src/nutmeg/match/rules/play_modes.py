"""The two sides, and the play modes of the RoboCup 3D simulation league by index and name.

Indices, names and their spelling are those that rcssserver3d 0.7.3 sends to its monitors (`play_modes` in the first
message); agents receive the name, monitors the index. A mode that belongs to a side belongs to the side in whose
favour it is: the left team takes the kick in `offside_left`, and has scored in `Goal_Left`.

    PlayMode.KICK_IN_LEFT.wire_name       # "KickIn_Left"
    mode_named("corner_kick_right")       # PlayMode.CORNER_KICK_RIGHT
    side_of(PlayMode.KICK_IN_LEFT)        # Side.LEFT
    mirrored(PlayMode.GOAL_LEFT)          # PlayMode.GOAL_RIGHT
    may_beam(PlayMode.GOAL_LEFT)          # True
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from nutmeg.base.errors import UnknownNameError


class Side(IntEnum):
    """An end of the pitch, and the team that defends it; also the first index of all arrays of players."""

    LEFT = 0
    RIGHT = 1

    @property
    def other(self) -> Side:
        """The side of the opponents."""
        return Side.RIGHT if self is Side.LEFT else Side.LEFT

    @property
    def sign(self) -> int:
        """1 for the left side, -1 for the right: the factor from the pitch to the team's frame."""
        return 1 - 2 * self.value

    @property
    def word(self) -> str:
        """The side in a word, `left` or `right`."""
        return self.name.lower()


SIDES = (Side.LEFT, Side.RIGHT)
"""Both sides, left first; a loop over this takes a tenth of the time of one over the class."""


class PlayMode(IntEnum):
    """The play modes; the value is the index in the monitor's list."""

    BEFORE_KICK_OFF = 0
    KICK_OFF_LEFT = 1
    KICK_OFF_RIGHT = 2
    PLAY_ON = 3
    KICK_IN_LEFT = 4
    KICK_IN_RIGHT = 5
    CORNER_KICK_LEFT = 6
    CORNER_KICK_RIGHT = 7
    GOAL_KICK_LEFT = 8
    GOAL_KICK_RIGHT = 9
    OFFSIDE_LEFT = 10
    OFFSIDE_RIGHT = 11
    GAME_OVER = 12
    GOAL_LEFT = 13
    GOAL_RIGHT = 14
    FREE_KICK_LEFT = 15
    FREE_KICK_RIGHT = 16
    DIRECT_FREE_KICK_LEFT = 17
    DIRECT_FREE_KICK_RIGHT = 18
    PASS_LEFT = 19
    PASS_RIGHT = 20

    # The referee looks modes up in sets and dictionaries many times a cycle. Enumerations hash their name, in Python.
    __hash__ = int.__hash__

    @property
    def wire_name(self) -> str:
        """The name that agents and monitors know."""
        return WIRE_NAMES[self.value]


WIRE_NAMES = (
    *("BeforeKickOff", "KickOff_Left", "KickOff_Right", "PlayOn", "KickIn_Left", "KickIn_Right"),
    *("corner_kick_left", "corner_kick_right", "goal_kick_left", "goal_kick_right", "offside_left", "offside_right"),
    *("GameOver", "Goal_Left", "Goal_Right", "free_kick_left", "free_kick_right"),
    *("direct_free_kick_left", "direct_free_kick_right", "pass_left", "pass_right"),
)

KICK_OFFS = (PlayMode.KICK_OFF_LEFT, PlayMode.KICK_OFF_RIGHT)
KICK_INS = (PlayMode.KICK_IN_LEFT, PlayMode.KICK_IN_RIGHT)
CORNER_KICKS = (PlayMode.CORNER_KICK_LEFT, PlayMode.CORNER_KICK_RIGHT)
GOAL_KICKS = (PlayMode.GOAL_KICK_LEFT, PlayMode.GOAL_KICK_RIGHT)
OFFSIDES = (PlayMode.OFFSIDE_LEFT, PlayMode.OFFSIDE_RIGHT)
GOALS = (PlayMode.GOAL_LEFT, PlayMode.GOAL_RIGHT)
FREE_KICKS = (PlayMode.FREE_KICK_LEFT, PlayMode.FREE_KICK_RIGHT)
DIRECT_FREE_KICKS = (PlayMode.DIRECT_FREE_KICK_LEFT, PlayMode.DIRECT_FREE_KICK_RIGHT)
PASSES = (PlayMode.PASS_LEFT, PlayMode.PASS_RIGHT)
"""Pairs of modes, indexed by the side in whose favour they are."""

PAIRS = (KICK_OFFS, KICK_INS, CORNER_KICKS, GOAL_KICKS, OFFSIDES, GOALS, FREE_KICKS, DIRECT_FREE_KICKS, PASSES)
RESTARTS = frozenset((*KICK_INS, *CORNER_KICKS, *GOAL_KICKS, *OFFSIDES, *FREE_KICKS, *DIRECT_FREE_KICKS))
"""Modes in which the ball lies at a place until one side has kicked it; kick-offs are apart."""
LIVE = frozenset((PlayMode.PLAY_ON, *PASSES))
PAUSED = frozenset((PlayMode.BEFORE_KICK_OFF, *GOALS))
INDIRECT = frozenset((*KICK_OFFS, *KICK_INS, *OFFSIDES, *FREE_KICKS))
"""Modes whose kick may not go straight into the goal (rcssserver3d, NEWS of 0.7.0)."""


def mode_named(name: str) -> PlayMode:
    """The mode with a name as it is spelt on the wire."""
    try:
        return PlayMode(WIRE_NAMES.index(name))
    except ValueError:
        raise UnknownNameError("play mode", name, WIRE_NAMES) from None


def side_of(mode: PlayMode) -> Side | None:
    """The side in whose favour a mode is; None for a mode of both."""
    return _sides()[mode]


def mirrored(mode: PlayMode) -> PlayMode:
    """The corresponding mode of the other side."""
    for left, right in PAIRS:
        if mode is left:
            return right
        if mode is right:
            return left
    return mode


def ball_is_live(mode: PlayMode) -> bool:
    """Whether goals count and a ball over a line is out: in `PlayOn` and pass mode."""
    return mode in LIVE


def clock_runs(mode: PlayMode) -> bool:
    """Whether game time passes: always, but before a kick-off and when all is over."""
    return mode not in (PlayMode.BEFORE_KICK_OFF, PlayMode.GAME_OVER)


def may_beam(mode: PlayMode) -> bool:
    """Whether players may be beamed: before a kick-off and in the pause after a goal."""
    return mode in PAUSED


@lru_cache(maxsize=1)
def _sides() -> dict[PlayMode, Side | None]:
    return {m: next((Side(pair.index(m)) for pair in PAIRS if m in pair), None) for m in PlayMode}
