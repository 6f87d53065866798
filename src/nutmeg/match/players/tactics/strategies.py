"""Strategies by name: sets of parameters of the one set of tactics.

    strategy("roles")                           # its parameters
    strategy_names()
    replace(strategy("roles"), room=0.5)        # a strategy of your own

All are played by the same compiled function (`decisions.decide_player`), in both worlds and in batches of thousands of
games, so that tactics can be tuned in cheap behavioural games and verified in physical ones. `nutmeg tournament`
measures how good they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from nutmeg.base.errors import UnknownNameError
from nutmeg.match.players.tactics.ball_play import AIMS_AT_GOAL, AIMS_AWAY, AIMS_BY_WORTH, AIMS_PAST_OPPONENTS
from nutmeg.match.players.tactics.decisions import PLAYS_SOCCER, STANDS_STILL, WANDERS_ABOUT

EVERYONE = 11
"""Number of chasers that sends the whole team to the ball."""
BUILTIN_NAME = "builtin"
"""Name of the built-in team's strategy."""
BOOSTER_NAME = "booster"
"""Name of the built-in strategy for T1 and K1, which are twice as tall as a Nao."""
BOOSTER_KICKS_NAME = "booster-kicks"
"""Name of the same strategy with kicks, in play and at restarts."""
PATIENT_NAME = "patient"
"""Name of a strategy that kicks where it has time, and stands off opponents in possession of the ball."""
NETWORK_DRIBBLES_NAME = "network-dribbles"
"""Name of the built-in strategy for players that dribble by a network where nobody is in the way."""


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """The parameters of the tactics."""

    plays: int = PLAYS_SOCCER
    """Whether the team stands still (0), wanders about (1) or plays (2)."""
    chasers: int = 1
    """Number of players that go for the ball at a time."""
    aims: int = AIMS_PAST_OPPONENTS
    """How the aim is chosen: away from the player (0), at the goal (1), past opponents (2) or by its worth (3); see
    `ball_play`."""
    kicks: bool = True
    """Whether players kick balls in play instead of dribbling; restarts are always kicked."""
    keeper: bool = False
    """Whether number 1 keeps the goal."""
    dives: bool = False
    """Whether the keeper dives."""
    posts: bool = False
    """Whether players that do not go for the ball take posts of the formation; otherwise they stay where they are."""
    passes: bool = False
    """Whether players pass to team-mates ahead (with `aims` 2; with 3 they always do)."""
    avoids: bool = False
    """Whether players walk around others."""
    stands_off: bool = False
    """Whether players stand in the way of an opponent in possession for a while, instead of attacking it at once."""
    asks_for_pass: bool = False
    """Whether players ask for pass mode, where the rules have it."""
    kick_off_aim: float = 0.0
    """Direction of a kick-off to a receiver, rad; 0 plays it ahead, to no receiver."""
    pace: float = 1.0
    """Share of the top speed at which players walk."""
    room: float = 0.42
    """Distance kept from other players, m."""
    arrival: float = 0.12
    """A player stops within this distance of its target, m."""
    departure: float = 0.2
    """A player that stands at its target walks again beyond this distance of it, m."""
    slow_distance: float = 0.1
    """Distance from its target at which a player begins to slow down, m."""
    slow_at_ball: float = 0.1
    """The same distance on the way to a ball in play, m."""
    slow_at_kick: float = 0.1
    """The same distance on the way to a ball in play that is to be kicked, m."""
    circling_distance: float = 0.3
    """Distance from the ball while a player circles it, at which its feet do not touch the ball, m."""
    behind_ball_distance: float = 0.22
    """Distance from the ball once a player is nearly behind it, m."""
    aligned_angle: float = 0.35
    """Within this angle of its aim a player begins to play the ball, rad."""
    still_aligned_angle: float = 0.6
    """Within this angle of its aim a player goes on playing the ball, rad; wider than `aligned_angle`, so that it does
    not waver."""
    kick_patience: float = math.inf
    """Time after which a player gives up a kick for which it has not got ready, and time for which it then does not try
    another, s."""
    duel_room: float = 0.64
    """Share of `room` that is kept from others near the ball."""
    brake_time: float = 0.0
    """A player brakes so that it needs at least this time until it touches another, s; 0 does not brake."""
    contact_speed: float = 0.2
    """Speed at which a braking player and an opponent may still come nearer to each other, to win the ball between
    them, m/s."""
    duel_speed: float = math.inf
    """Speed at which a braking player that is nearer to the ball may walk into an opponent, m/s."""
    network_dribbles: bool = False
    """Whether a player whose body has a network for it dribbles by the network while nobody is in the way."""
    shot_range: float = 0.0
    """Nearer to the opponents' goal line than this a player shoots, for which it throws itself down, m on the league's
    pitch; 0 for never. With `aims` 3; players that do not kick in play shoot all the same."""
    sure_shot_time: float = 1.3
    """A shot that takes no longer than this to the goal line leaves the keeper no time to react, s (with `aims` 3)."""
    wide_cost: float = 1.0
    """Weight of a metre beside the goal relative to a metre before it (with `aims` 3)."""
    kick_delay: float = 0.0
    """Time that stopping for a kick costs a player that could dribble on, s (with `aims` 3). Its running speed turns
    this time into a cost in metres; good shots are spared it."""
    lost_ball_cost: float = 2.0
    """Cost of playing the ball to an opponent in its way, m (with `aims` 3)."""
    sooner_worth: float = 1.5
    """Worth of each second by which the own team reaches the ball before the opponents, up to two seconds, m/s (with
    `aims` 3). High values play the ball away from opponents, low ones towards the goal."""


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
    slow_at_kick=0.12,
    circling_distance=0.36,
    behind_ball_distance=0.2,
    aligned_angle=0.5,
    still_aligned_angle=0.8,
    kick_patience=4.0,
    wide_cost=1.5,
    kick_delay=1.5,
)
# Opponents catch up with a player that stops for a kick, so this strategy dribbles on. Before it touches others it
# brakes: without brakes it falls more than twice as often, see docs/explanation/match.md.
_BUILTIN = replace(
    _PATIENT,
    kicks=False,
    stands_off=False,
    asks_for_pass=False,
    duel_room=0.3,
    brake_time=0.7,
    contact_speed=0.3,
    duel_speed=0.3,
    lost_ball_cost=1.0,
    sooner_worth=0.4,
)
# The feet and arms of T1 and K1 reach farther than a Nao's, so distances to the ball and to others are larger.
_BOOSTER = replace(
    _BUILTIN,
    brake_time=1.2,
    contact_speed=0.2,
    duel_speed=math.inf,
    room=1.0,
    duel_room=0.6,
    arrival=0.3,
    departure=0.8,
    slow_distance=0.8,
    slow_at_ball=0.3,
    circling_distance=0.62,
    behind_ball_distance=0.42,
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
    BOOSTER_NAME: _BOOSTER,
    # Their walk needs 0.4 m to stop for a kick from full speed; their keepers do not dive.
    BOOSTER_KICKS_NAME: replace(_BOOSTER, kicks=True, slow_at_kick=0.8, sure_shot_time=1.8),
    NETWORK_DRIBBLES_NAME: replace(_BUILTIN, network_dribbles=True),
    BUILTIN_NAME: _BUILTIN,
}
"""Strategies by name, roughly from weak to strong; `builtin` is the one of the built-in team."""


def strategy_names() -> list[str]:
    """The strategies that come with Nutmeg."""
    return list(STRATEGIES)


def strategy(name: str) -> Strategy:
    """The parameters of a strategy by its name."""
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, STRATEGIES)
    return STRATEGIES[name]
