"""The match's clock: when halves end, who starts the next one, and what follows a draw.

rcssserver3d plays two halves; between them it goes back to `BeforeKickOff`, and the team that did not start the first
half starts the second (its game state). Changing ends is a setting that is off there, since its agents are told their
side only once; with it on, left and right swap teams and score, and the same *side* starts again. Extra time and a
shoot-out are played the same way, if the rule book wants them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.match.case import TINY
from nutmeg.match.decisions import SwapEnds
from nutmeg.match.penalties import forget_penalties
from nutmeg.match.play_modes import PlayMode, clock_runs
from nutmeg.match.restarts import CENTRE
from nutmeg.match.state import ShootOut

if TYPE_CHECKING:
    from nutmeg.match.case import Case
    from nutmeg.match.rules import MatchRules

SHOOT_OUT = 5
"""The number of the half in which penalties are kicked."""
HALF_NAMES = {
    1: "first half",
    2: "second half",
    3: "first half of extra time",
    4: "second half of extra time",
    5: "shoot-out",
}


def end_of_half(half: int, rules: MatchRules) -> float:
    """The game time at which a half ends, s."""
    if half <= 2:
        return half * rules.half_length
    return rules.halves * rules.half_length + (half - 2) * rules.extra_half_length


def advance(case: Case) -> None:
    """Let the clocks run by one cycle."""
    state, step = case.state, case.facts.time_step
    waiting = state.mode is PlayMode.BEFORE_KICK_OFF and not case.facts.present.any()
    case.change(
        time=state.time + step if clock_runs(state.mode) else state.time,
        mode_time=state.mode_time if waiting else state.mode_time + step,
        elapsed=state.elapsed + step,
    )


def judge_time(case: Case) -> None:
    """End a half whose time is over."""
    state, rules = case.state, case.rules
    if state.half >= SHOOT_OUT or not clock_runs(state.mode):
        return
    end = end_of_half(state.half, rules.match)
    if state.time < end - TINY:
        return
    if state.time > end + TINY:  # a long time step must not shorten the next half
        case.change(time=end)
    last_of_match = state.half == rules.match.halves
    drawn = state.score[0] == state.score[1]
    if state.half == 1 and not last_of_match:
        _start_half(case, 2)
    elif last_of_match and drawn and rules.match.extra_time:
        _start_half(case, 3)
    elif state.half == 3:
        _start_half(case, 4)
    elif drawn and rules.shoot_out.on:
        _start_half(case, SHOOT_OUT)
    else:
        case.tell("half", f"the match is over: {state.score[0]}:{state.score[1]}")
        case.set_mode(PlayMode.GAME_OVER)


def _start_half(case: Case, half: int) -> None:
    """Go to the next half: the other team kicks off, perhaps from the same end."""
    forget_penalties(case)
    state = case.state
    swap = case.rules.match.swap_ends and half != SHOOT_OUT
    starter = state.starter if swap else state.starter.other
    if swap:
        case.decisions.append(SwapEnds())
        case.change(score=(state.score[1], state.score[0]))
    case.change(
        half=half,
        starter=starter,
        touch=None,
        kick=None,
        no_score=None,
        pass_watch=None,
        in_offside=None,
        down=None,
        still=None,
        shoot_out=ShootOut(side=starter) if half == SHOOT_OUT else None,
    )
    case.tell("half", HALF_NAMES[half], side=starter)
    case.set_mode(PlayMode.BEFORE_KICK_OFF)
    case.put_ball(CENTRE)
