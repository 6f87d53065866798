"""Strategies by name, from bad to good: sets of parameters of the one set of tactics.

    strategy("roles")                           # its parameters
    strategy_names()
    replace(strategy("roles"), room=0.5)        # one of your own

All are played by the same compiled function (`decisions.decide_player`), in both worlds and in batches of thousands of
games, so that tactics are tuned where games are cheap and checked where they are not. `nutmeg tournament` measures how
good they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from nutmeg.base.errors import UnknownNameError
from nutmeg.match.players.tactics.ball_play import AIMS_AT_GOAL, AIMS_AWAY, AIMS_BY_WORTH, AIMS_PAST_OPPONENTS
from nutmeg.match.players.tactics.decisions import PLAYS_SOCCER, STANDS_STILL, WANDERS_ABOUT

EVERYONE = 11
"""So many chasers are the whole team."""
BUILTIN_NAME = "builtin"
"""The strategy of the built-in team."""
BOOSTER_NAME = "booster"
"""The same for robots that are twice as tall as a Nao."""
PATIENT_NAME = "patient"
"""That of the built-in team before: it kicks where it is free, and waits for opponents who have the ball."""


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """The parameters of the tactics."""

    plays: int = PLAYS_SOCCER
    """Whether it stands, wanders about or plays."""
    chasers: int = 1
    """How many go for the ball at a time."""
    aims: int = AIMS_PAST_OPPONENTS
    """Whether it plays the ball away from itself (0), at the goal (1), past opponents (2), or where that is worth most
    (3; see `ball_play`)."""
    kicks: bool = True
    """Whether it kicks balls in play, or walks through them; restarts are kicked."""
    keeper: bool = False
    """Whether number 1 keeps the goal."""
    dives: bool = False
    """Whether the keeper dives."""
    posts: bool = False
    """Whether players that do not go for the ball take places around it, or stay where they are."""
    passes: bool = False
    """Whether it passes to team-mates who are ahead (with `aims` 2; with 3 it always does)."""
    avoids: bool = False
    """Whether it walks around others."""
    stands_off: bool = False
    """Whether it stands in the way of opponents who have the ball for a while, instead of running into them."""
    asks_for_pass: bool = False
    """Whether it asks for pass mode, where the rules have it."""
    kick_off_aim: float = 0.0
    """Direction of a kick-off to a receiver, rad; 0 plays it ahead, to nobody."""
    pace: float = 1.0
    """Share of the top speed."""
    room: float = 0.42
    """How far to keep from others, m."""
    arrival: float = 0.12
    """A player rests nearer than this to its place, m."""
    departure: float = 0.2
    """And walks again when it is farther than this from it, m."""
    slow_distance: float = 0.1
    """From here on a player slows down before its target, m."""
    slow_at_ball: float = 0.1
    """The same on its way to a ball in play, m."""
    circling_distance: float = 0.3
    """Distance from the ball while a player circles it, m: its feet do not touch the ball."""
    behind_ball_distance: float = 0.22
    """Distance from the ball once a player is nearly behind it, m."""
    aligned_angle: float = 0.35
    """Within this angle of its aim a player begins to play the ball, rad."""
    still_aligned_angle: float = 0.6
    """Within this angle it goes on playing the ball, rad; wider, so that it does not waver."""
    kick_patience: float = math.inf
    """A kick for which the player is not ready after so long is given up for as long, s."""
    duel_room: float = 0.64
    """Share of `room` that is kept from others near the ball."""
    brake_time: float = 0.0
    """How long before it would touch somebody a player slows down, s; 0 for never."""
    contact_speed: float = 0.2
    """How fast such a player walks into an opponent all the same, m/s: between both lies the ball."""
    wide_cost: float = 1.0
    """What a metre beside the goal counts, beside a metre before it (with `aims` 3)."""
    kick_delay: float = 0.0
    """How long the stop for a kick that is no shot holds a player up that could run on with the ball, s (with `aims`
    3); at its speed, that is what the kick costs."""
    lost_ball_cost: float = 2.0
    """What it costs to play the ball to an opponent in its way, m (with `aims` 3)."""
    sooner_worth: float = 1.5
    """What each second is worth that a team-mate is sooner at the ball than any opponent, m; up to two seconds count
    (with `aims` 3). Who sets it high plays the ball away from opponents, who sets it low towards the goal."""


_PATIENT = Strategy(
    aims=AIMS_BY_WORTH,
    keeper=True,
    dives=True,
    posts=True,
    avoids=True,
    stands_off=True,
    asks_for_pass=True,
    kick_off_aim=math.radians(45),
    room=0.55,
    arrival=0.15,
    departure=0.4,
    slow_distance=0.35,
    slow_at_ball=0.12,
    circling_distance=0.36,
    behind_ball_distance=0.2,
    aligned_angle=0.5,
    still_aligned_angle=0.8,
    kick_patience=4.0,
    wide_cost=1.5,
    kick_delay=1.5,
)
# Who stops for a kick is caught up with: this one runs on with the ball, through opponents if need be.
_BUILTIN = replace(
    _PATIENT,
    kicks=False,
    stands_off=False,
    asks_for_pass=False,
    duel_room=0.3,
    lost_ball_cost=1.0,
    sooner_worth=0.4,
)
STRATEGIES = {
    "statue": Strategy(plays=STANDS_STILL),
    "wanderer": Strategy(plays=WANDERS_ABOUT),
    "everyone-chases": Strategy(chasers=EVERYONE, aims=AIMS_AWAY, kicks=False),
    "kick-anywhere": Strategy(chasers=EVERYONE, aims=AIMS_AWAY),
    "everyone-aims": Strategy(chasers=EVERYONE, aims=AIMS_AT_GOAL, avoids=True),
    "attacker-keeper": Strategy(chasers=1, aims=AIMS_AT_GOAL, keeper=True),
    "dribblers": Strategy(chasers=1, aims=AIMS_AT_GOAL, kicks=False, posts=True, avoids=True, keeper=True),
    "roles-no-keeper": Strategy(posts=True, avoids=True),
    "roles": Strategy(posts=True, avoids=True, keeper=True, dives=True),
    "roles-pass": Strategy(posts=True, avoids=True, keeper=True, dives=True, passes=True),
    # Tuned in matches of the physical world, where robots fall over each other and need two steps before a kick.
    PATIENT_NAME: _PATIENT,
    # T1 and K1: their feet reach farther ahead, and so do their arms.
    BOOSTER_NAME: replace(
        _BUILTIN,
        brake_time=1.2,
        room=1.0,
        duel_room=0.6,
        arrival=0.3,
        departure=0.8,
        slow_distance=0.8,
        slow_at_ball=0.3,
        circling_distance=0.62,
        behind_ball_distance=0.42,
    ),
    # Against itself it falls and fouls half as often as `builtin`, but it loses the ball to who does not brake.
    "careful": replace(_BUILTIN, brake_time=0.7),
    BUILTIN_NAME: _BUILTIN,
}
"""By name, from bad to good as one would guess; `builtin` is that of the built-in team."""


def strategy_names() -> list[str]:
    """The strategies that come with Nutmeg."""
    return list(STRATEGIES)


def strategy(name: str) -> Strategy:
    """The parameters of a strategy by its name."""
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, STRATEGIES)
    return STRATEGIES[name]
