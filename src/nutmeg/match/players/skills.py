"""Skills for users' players: line up, walk to a place, get behind the ball and kick it, look.

    def decide(percept, memory):
        waiting = line_up(percept, memory)
        if waiting is not None:
            return waiting
        legs = play_ball(percept.belief, memory, aim=goal_ahead(percept.belief, memory))
        return Request(legs=legs, look=look_at_ball(percept.belief, memory))

They call functions of the compiled tactics (`tactics`) for one player. Each is a function of a `Belief` and a `Memory`
(see `decide`), in which it keeps its state, and can be replaced by a user's own. Places are metres in the frame of the
own team, which attacks +x; angles are radians.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.players.deciding_player import league_abilities
from nutmeg.match.players.request import DECISION_INTERVAL, Look, Request, Stand, Walk
from nutmeg.match.players.tactics.ball_play import AIMS_AT_GOAL
from nutmeg.match.players.tactics.decisions import Skill, use_skill
from nutmeg.match.players.tactics.records import Phase, ground_of
from nutmeg.match.players.tactics.strategies import Strategy
from nutmeg.match.players.tactics.tactician import Tactician, request_of
from nutmeg.match.players.tracking.records import belief_record
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode, may_beam, mode_named, side_of
from nutmeg.model.ball import load_ball

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.decide import Memory, View
    from nutmeg.match.players.request import Legs
    from nutmeg.match.players.tactics.records import PlayerRecords

_SKILLED = Strategy(aims=AIMS_AT_GOAL, keeper=True)  # the strategy of all skills
CIRCLING_DISTANCE = _SKILLED.circling_distance
"""Distance from the ball while a player walks around it, m."""
_BALL_LOST_AGE = 1.5  # A ball that was neither seen nor heard of for this time is searched for [s]


def line_up(percept: View, memory: Memory, belief: Belief | None = None) -> Request | None:
    """The request while the own team may not play the ball; None if it may.

    Before a kick-off the player is beamed to its place in its own half; during a restart of the other team it stands.

    Args:
        percept: the player's view.
        memory: the player's memory, which knows the pitch.
        belief: the belief, if it is not the built-in tracker's.
    """
    mode, believed = mode_named(percept.game.mode), percept.belief if belief is None else belief
    if may_beam(mode):
        if "line up" not in memory:
            memory["line up"] = _tactician(memory)
        tactician: Tactician = memory["line up"]
        record = belief_record(believed)
        return tactician.decide(record, time=percept.time, mode=percept.game.mode, side=percept.side)
    if mode is PlayMode.PLAY_ON or side_of(mode) is percept.side:
        return None
    return Request(look=look_at_ball(believed, memory), intent="wait")


def walk_to(belief: Belief, memory: Memory, place: ArrayLike, *, face: float | None = None) -> Walk | Stand:
    """Walks to a place and turns to a final heading near it; stands there.

    Args:
        belief: the player's belief.
        memory: the player's memory, which knows the body.
        place: the place (2,), m.
        face: the final heading, rad; None for any.
    """
    records = _records(belief, memory)
    x, y = np.asarray(place, float).tolist()
    use_skill(records, Skill.WALK_TO, x, y, math.nan if face is None else face)
    legs = request_of(records.orders).legs
    assert isinstance(legs, Walk | Stand)
    return legs


def play_ball(belief: Belief, memory: Memory, *, aim: float, strength: float = 1.0) -> Legs:
    """Walks around the ball until it lies between the player and the aim, and kicks it.

    Args:
        belief: the player's belief.
        memory: the player's memory, which knows the body.
        aim: direction in which the ball is to go, rad.
        strength: strength of the kick, 0 to 1.
    """
    if belief.ball.age > _BALL_LOST_AGE:
        return Walk(turn=0.7 * memory.body.turn)
    records = _records(belief, memory)
    use_skill(records, Skill.PLAY_BALL, aim, strength, math.nan)
    return request_of(records.orders).legs


def goal_ahead(belief: Belief, memory: Memory) -> float:
    """Direction from the ball to the opponents' goal, or to a point before the goal if the ball lies beside it, rad."""
    records = _records(belief, memory)
    use_skill(records, Skill.LOOK, 0.0, 0.0, 0.0)
    return float(records.orders[0].turn)


def look_at_ball(belief: Belief, memory: Memory) -> Look:
    """Looks at the ball, at intervals at landmarks, and searches if the ball is lost."""
    records = _records(belief, memory)
    use_skill(records, Skill.LOOK, 0.0, 0.0, 0.0)
    return request_of(records.orders).look


def look_around(belief: Belief) -> Look:
    """Looks as `look_at_ball` does, for a player of the physical world without a `Memory`."""
    records = _fill(_league_tactician(), belief)
    use_skill(records, Skill.LOOK, 0.0, 0.0, 0.0)
    return request_of(records.orders).look


def look_at(belief: Belief, memory: Memory, place: ArrayLike) -> Look:
    """Looks at a place (2,) on the ground, m, with the camera that shows it best."""
    ahead, left = belief.to_body(np.asarray(place, float)).tolist()
    below = math.atan2(memory.body.eyes, max(math.hypot(ahead, left), 0.05))
    pitch = memory.body.lower_eye - below if below > 0.55 * memory.body.lower_eye else -below
    return Look(yaw=math.atan2(left, ahead), pitch=pitch)


def _tactician(memory: Memory) -> Tactician:
    return Tactician(_SKILLED, ground_of(memory.rules, memory.body), number=memory.number, players=memory.players)


@cache
def _league_tactician() -> Tactician:
    ground = ground_of(load_rules("sim3d"), league_abilities(load_ball("sim3d")))
    return Tactician(_SKILLED, ground, number=2, players=2)


def _records(belief: Belief, memory: Memory) -> PlayerRecords:
    """The records of a player for whom the ball is in play, and neither team is favoured."""
    if "skills" not in memory:
        memory["skills"] = _tactician(memory)
    return _fill(memory["skills"], belief)


def _fill(tactician: Tactician, belief: Belief) -> PlayerRecords:
    records = tactician.records
    records.beliefs[:], game = belief_record(belief), records.games[0]
    game.time, game.mode, game.number, game.step = belief.time, PlayMode.PLAY_ON, tactician.number, DECISION_INTERVAL
    game.phase, game.favour = Phase.PLAY, 0
    records.orders[:] = np.zeros((), records.orders.dtype)
    return records
