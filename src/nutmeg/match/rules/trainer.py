"""Commands of a trainer outside the game: play modes, kick-offs, drop balls, score and time.

They are pure functions, as the referee: each takes a state and returns a new one with decisions. They stand for the
SimSpark monitor's commands `(playMode X)`, `(kickOff Left)`, `(dropBall)`, `(score l r)` and `(time t)`.

    state, decisions = kick_off(state, rules, facts, Side.LEFT)
    state, decisions = set_play_mode(state, rules, facts, mode_named("PlayOn"))
    state = set_score(state, 2, 1)
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from nutmeg.base.errors import UsageError
from nutmeg.match.rules import play_modes, restarts
from nutmeg.match.rules.judgement import Judgement
from nutmeg.match.rules.play_modes import PlayMode, Side, side_of

if TYPE_CHECKING:
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.decisions import Decision
    from nutmeg.match.rules.state import Facts, MatchState

    Outcome = tuple[MatchState, tuple[Decision, ...]]


def set_play_mode(state: MatchState, rules: Rules, facts: Facts, mode: PlayMode) -> Outcome:
    """Go to any play mode; restarts are taken where the ball is, or where the rules put them. No goal is counted."""
    judgement = Judgement(state, facts, rules)
    side = side_of(mode)
    place = state.last_inside
    if side is None or mode in (PlayMode.GOAL_LEFT, PlayMode.GOAL_RIGHT):
        judgement.forget_kick()
        judgement.set_mode(mode)
    elif mode in play_modes.KICK_OFFS:
        restarts.start_kick_off(judgement, side)
    elif mode in play_modes.KICK_INS:
        restarts.award_kick_in(judgement, side, place)
    elif mode in play_modes.CORNER_KICKS:
        restarts.award_corner_kick(judgement, side, place[1])
    elif mode in play_modes.GOAL_KICKS:
        restarts.award_goal_kick(judgement, side)
    elif mode in play_modes.FREE_KICKS or mode in play_modes.DIRECT_FREE_KICKS:
        restarts.award_free_kick(judgement, side, place, direct=mode in play_modes.DIRECT_FREE_KICKS)
    elif mode in play_modes.OFFSIDES:
        restarts.award_offside(judgement, side, place)
    else:
        assert mode in play_modes.PASSES
        judgement.state.pass_watch = restarts.watch_pass(judgement, side)
        judgement.set_mode(mode)
    return judgement.state, tuple(judgement.decisions)


def kick_off(state: MatchState, rules: Rules, facts: Facts, side: Side | None = None) -> Outcome:
    """Start a half, or play again from the centre; without a side, the one whose turn it is."""
    judgement = Judgement(state, facts, rules)
    if side is not None and state.half == 1 and state.time == 0.0:
        judgement.state.starter = side  # the side that starts the match determines which one starts the second half
    restarts.start_kick_off(judgement, judgement.state.starter if side is None else side)
    return judgement.state, tuple(judgement.decisions)


def drop_ball(state: MatchState, rules: Rules, facts: Facts) -> Outcome:
    """Put the ball down where it is and play on, as after a restart that was not taken."""
    judgement = Judgement(state, facts, rules)
    inside = all(map(math.isfinite, judgement.ball))
    restarts.give_up(judgement, judgement.ball_place if inside else state.last_inside)
    return judgement.state, tuple(judgement.decisions)


def set_score(state: MatchState, left: int, right: int) -> MatchState:
    """Sets the score of the left and the right team."""
    if left < 0 or right < 0:
        raise UsageError(f"the score {left}:{right} has a negative number; scores are 0 or more.")
    return dataclasses.replace(state, score=(left, right))


def set_time(state: MatchState, time: float) -> MatchState:
    """Set the game's clock, s; the half stays the same."""
    if not (math.isfinite(time) and time >= 0):
        raise UsageError(f"the time {time} s is not possible; game time is 0 s or more.")
    return dataclasses.replace(state, time=time)
