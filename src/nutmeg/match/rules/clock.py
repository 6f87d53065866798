"""The match's clock: when halves end, who starts the next one, and what follows a draw.

rcssserver3d plays two halves; between them it goes back to `BeforeKickOff`, and the team that did not start the first
half starts the second (its game state). Changing ends is a setting that is off there, since its agents are told their
side only once; with it on, left and right swap teams and score, and the same *side* starts again. Extra time and a
shoot-out are played the same way, if the rule book wants them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.rules.decisions import SwapEnds
from nutmeg.match.rules.fouls import forget_penalties, next_look
from nutmeg.match.rules.judgement import TIME_TOLERANCE, changed
from nutmeg.match.rules.play_modes import PlayMode, clock_runs
from nutmeg.match.rules.restarts import CENTRE
from nutmeg.match.rules.state import PLAYERS_SHAPE, ShootOut, Stillness

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.rules.book import FoulRules, IncapableRules, MatchRules, Pitch, Rules
    from nutmeg.match.rules.judgement import Judgement
    from nutmeg.match.rules.state import DownTimes, MatchState


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


def advance(case: Judgement) -> None:
    """Let the clocks run by one cycle."""
    state, step = case.state, case.facts.time_step
    waiting = state.mode is PlayMode.BEFORE_KICK_OFF and not case.facts.present.any()
    case.change(
        time=state.time + step if clock_runs(state.mode) else state.time,
        mode_time=state.mode_time if waiting else state.mode_time + step,
        elapsed=state.elapsed + step,
    )


def judge_time(case: Judgement) -> None:
    """End a half whose time is over."""
    state, rules = case.state, case.rules
    if state.half >= SHOOT_OUT or not clock_runs(state.mode):
        return
    end = end_of_half(state.half, rules.match)
    if state.time < end - TIME_TOLERANCE:
        return
    if state.time > end + TIME_TOLERANCE:  # a long time step must not shorten the next half
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


def _start_half(case: Judgement, half: int) -> None:
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


# ----------------------------------------------------------------------------------------------------
# For how long nobody has to ask the referee: thousands of matches at once cannot afford to in every cycle.
#
# `quiet` looks at clocks only: the end of the half, penalties that end, who has been down for how long, the next look
# at who stands still. Until the time it gives, a judgement decides nothing, *unless*
#
# - somebody touches the ball, - the ball is over a line (the middle of it; no need to know which line, or whether it
# is all of it), - players touch or push each other (contacts, pushes or self-collisions in the facts), - somebody
# falls, or stands again: a torso has passed `not_standing_height` or `ground_height`, - somebody asks for pass mode,
# joins, leaves, or a trainer interferes.
#
# In these cycles ask at once, with the facts of that cycle. Skipping all others gives the same decisions at the same
# times as asking in every cycle (there is a property test), if `Facts.cycle` and `Facts.ball_before` are given and
# players who serve a penalty (`penalties.penalised`) are not moved by the world. Most looks at who stands still find
# nobody: who keeps where everybody was at the last one can tell (`until_look`), and need not ask (`looked`). It is
# never quiet (0) when play is stopped, in a shoot-out, and under rules that need everybody's place in every cycle:
# illegal defence and attack, crowding, charging. `quiet` takes about 1 us, or 10 while somebody is down; `may_matter`
# takes 0.3.


def time_to_next_judgement(state: MatchState, rules: Rules, *, looks: bool = True) -> float:
    """How long after the last judgement nothing can happen by itself, s; 0: ask in the next cycle.

    Without `looks`, those at who stands still do not count where `until_look` tells of them.
    """
    if state.mode is PlayMode.GAME_OVER:
        return math.inf
    fouls = rules.fouls
    stopped = state.mode is not PlayMode.PLAY_ON or state.shoot_out is not None
    if stopped or state.pass_watch is not None or positions_matter(fouls):
        return 0.0
    if state.in_contact and fouls.touching.on:
        return 0.0
    due = end_of_half(state.half, rules.match) - state.time
    if fouls.inactive.on and (looks or time_to_next_look(state, rules) == math.inf):
        due = min(due, next_look(state, fouls.inactive.look_interval))
    for held in state.held:
        if held.place is None:
            return 0.0
        due = min(due, held.stamp + fouls.hold_time + fouls.removal_time - state.elapsed)
    if state.down is not None:
        due = min(due, _until_down_too_long(state.down, fouls.incapable))
    return max(due, 0.0)


def time_to_next_look(state: MatchState, rules: Rules) -> float:
    """Until the referee looks at who stands still, s; inf if it does not, or if it has to be asked at that time.

    That is while somebody is down, whose times are counted at each judgement.
    """
    if not rules.fouls.inactive.on or state.mode is not PlayMode.PLAY_ON or state.shoot_out is not None:
        return math.inf
    return math.inf if state.down is not None else next_look(state, rules.fouls.inactive.look_interval)


def state_after_look(state: MatchState, since: float, place: Floats) -> MatchState:
    """The state after a look at which nobody near the ball stood still, and nothing else happened.

    Args:
        state: after the last judgement.
        since: time from then to the look, s.
        place: (2, 11, 2) where players were at the look, m.
    """
    now = state.elapsed + since
    return changed(
        state,
        {
            "time": state.time + since,
            "mode_time": state.mode_time + since,
            "elapsed": now,
            "still": Stillness(place=place, since=np.full(PLAYERS_SHAPE, now)),
        },
    )


def positions_matter(fouls: FoulRules) -> bool:
    """Whether there is a foul that can be committed in any cycle by just being somewhere."""
    by_place = fouls.illegal_defence.on or fouls.illegal_attack.on or fouls.crowding.on
    return by_place or (fouls.charging.on and fouls.charging.velocity_samples > 1)


def _until_down_too_long(down: DownTimes, rules: IncapableRules) -> float:
    """Until somebody can have been down for too long, or up for long enough, s."""
    if (down.low & ~down.counted).any():  # who lies beside the pitch may have been put on it just now
        return 0.0
    due = math.inf
    if rules.on:
        due = min(rules.not_standing_time, rules.goalie_not_standing_time) - float(down.not_standing.max())
        due = min(due, min(rules.ground_time, rules.goalie_ground_time) - float(down.ground.max()))
    up = down.standing[~down.low & (down.not_standing > 0)]
    return min(due, rules.stood_up_time - float(up.max())) if up.size else due


def may_matter(
    pitch: Pitch,
    due: float,
    *,
    since: float,
    ball: tuple[float, float],
    touched: bool = False,
    contacts: bool = False,
    lying: bool = False,
    asked: bool = False,
) -> bool:
    """Whether a cycle has to be judged.

    Args:
        pitch: of the rules.
        due: what `quiet` said after the last judgement, s.
        since: time since the last judgement, s, this cycle included.
        ball: where it is, m.
        touched: whether somebody touched it in this cycle.
        contacts: whether players touched or pushed each other.
        lying: whether somebody has fallen or stood up in this cycle.
        asked: whether somebody asked for pass mode, joined or left.
    """
    if touched or contacts or lying or asked or since >= due - TIME_TOLERANCE:
        return True
    return not (abs(ball[0]) <= pitch.length / 2 and abs(ball[1]) <= pitch.width / 2)
