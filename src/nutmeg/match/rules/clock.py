"""The match's clock: when halves end, which side starts the next one, and what follows a draw.

rcssserver3d plays two halves; between them it goes back to `BeforeKickOff`, and the team that did not start the first
half starts the second (its game state). Changing ends is a setting that is off there, because its agents learn their
side only once; with it on, left and right swap teams and score, and the same *side* starts again. Extra time and a
shoot-out follow the same pattern, if the rule book has them.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.rules.decisions import SwapEnds
from nutmeg.match.rules.fouls import forget_penalties, next_look
from nutmeg.match.rules.judgement import TIME_TOLERANCE
from nutmeg.match.rules.play_modes import PlayMode, clock_runs
from nutmeg.match.rules.restarts import CENTRE
from nutmeg.match.rules.state import PLAYERS_SHAPE, ShootOut, Stillness

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.rules.book import FoulRules, IncapableRules, MatchRules, Rules
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


def advance(judgement: Judgement) -> None:
    """Let the clocks run by one cycle."""
    state, step = judgement.state, judgement.facts.time_step
    # An empty server waits for its first player, however long that takes.
    waiting = state.mode is PlayMode.BEFORE_KICK_OFF and not judgement.player_count
    if clock_runs(state.mode):
        state.time += step
    if not waiting:
        state.mode_time += step
    state.elapsed += step


def judge_time(judgement: Judgement) -> None:
    """End a half whose time is over."""
    state, rules = judgement.state, judgement.rules
    if state.half >= SHOOT_OUT or not clock_runs(state.mode):
        return
    end = end_of_half(state.half, rules.match)
    if state.time < end - TIME_TOLERANCE:
        return
    if state.time > end + TIME_TOLERANCE:  # a long time step must not shorten the next half
        state.time = end
    last_of_match = state.half == rules.match.halves
    drawn = state.score[0] == state.score[1]
    if state.half == 1 and not last_of_match:
        _start_half(judgement, 2)
    elif last_of_match and drawn and rules.match.extra_time:
        _start_half(judgement, 3)
    elif state.half == 3:
        _start_half(judgement, 4)
    elif drawn and rules.shoot_out.on:
        _start_half(judgement, SHOOT_OUT)
    else:
        judgement.announce("half", f"the match is over: {state.score[0]}:{state.score[1]}")
        judgement.set_mode(PlayMode.GAME_OVER)


def _start_half(judgement: Judgement, half: int) -> None:
    """Go to the next half: the other team kicks off, perhaps from the same end."""
    forget_penalties(judgement)
    state = judgement.state
    # With changed ends the same side kicks off, which then is the other team.
    swap = judgement.rules.match.swap_ends and half != SHOOT_OUT
    starter = state.starter if swap else state.starter.other
    if swap:
        judgement.decisions.append(SwapEnds())
        state.score = state.score[1], state.score[0]
    state.half, state.starter = half, starter
    state.touch = state.down = state.still = None
    judgement.forget_kick()
    state.shoot_out = ShootOut(side=starter) if half == SHOOT_OUT else None
    judgement.announce("half", HALF_NAMES[half], side=starter)
    judgement.set_mode(PlayMode.BEFORE_KICK_OFF)
    judgement.put_ball(CENTRE)


# ----------------------------------------------------------------------------------------------------
# When the next judgement is due. A batch of thousands of matches cannot afford a judgement in every cycle.
#
# `time_to_next_judgement` looks at clocks only: the end of the half, the end of penalties, the times for which players
# have been down, the next inspection for players that stand still. Until then a judgement decides nothing, unless in a
# cycle
#
# - a player touches the ball, or the centre of the ball is over a line;
# - players touch or push each other, or a limb is inside its own robot;
# - a player falls or stands up again: a torso passes `not_standing_height` or `ground_height`;
# - a player asks for pass mode, joins or leaves, or a trainer interferes.
#
# These cycles have to be judged at once, with their own facts; `behavioural_games` finds them in compiled code. All
# others may be skipped: a property test shows the same decisions at the same times, if `Facts.cycle` and
# `Facts.ball_before` are given and the world does not move players that serve a penalty (`fouls.penalised`).
#
# The physical world judges every cycle: with 22 players that takes 20 to 25 us there, 2.5 % of its cycle.


def time_to_next_judgement(state: MatchState, rules: Rules, *, looks: bool = True) -> float:
    """The time after the last judgement in which no rule can apply by itself, s; 0 asks for the next cycle.

    The result is 0 when play is stopped, in a shoot-out, and under rules that need all positions in every cycle:
    illegal defence and attack, crowding, charging. Without `looks`, inspections for players that stand still are left
    out where `time_to_next_look` gives their time: a caller that keeps the positions of the last inspection can check
    by itself that no player stands still, and continue with `state_after_look`.
    """
    if state.mode is PlayMode.GAME_OVER:
        return math.inf
    fouls = rules.fouls
    stopped = state.mode is not PlayMode.PLAY_ON or state.shoot_out is not None
    if stopped or state.pass_watch is not None or _positions_matter(fouls):
        return 0.0
    # Who came last into a group depends on who touched whom one cycle ago.
    if state.in_contact and fouls.touching.on:
        return 0.0
    due = end_of_half(state.half, rules.match) - state.time
    if fouls.inactive.on and (looks or time_to_next_look(state, rules) == math.inf):
        due = min(due, next_look(state, fouls.inactive.look_interval))
    for held in state.held:
        # A player that is held up is put back into the air in every cycle.
        if held.place is None:
            return 0.0
        due = min(due, held.stamp + fouls.hold_time + fouls.removal_time - state.elapsed)
    if state.down is not None:
        due = min(due, _until_down_too_long(state.down, fouls.incapable))
    return max(due, 0.0)


def time_to_next_look(state: MatchState, rules: Rules) -> float:
    """The time until the next inspection for players that stand still, s; infinite if there is none.

    It is also infinite while a player is down, because its times are counted at each judgement, which must not be
    skipped.
    """
    if not rules.fouls.inactive.on or state.mode is not PlayMode.PLAY_ON or state.shoot_out is not None:
        return math.inf
    return math.inf if state.down is not None else next_look(state, rules.fouls.inactive.look_interval)


def state_after_look(state: MatchState, since: float, place: Floats) -> MatchState:
    """The state after an inspection that finds no player standing still, if nothing else happened.

    Args:
        state: the state after the last judgement.
        since: time from then to the inspection, s.
        place: (2, 11, 2) places of the players at the inspection, m.
    """
    now = state.elapsed + since
    return dataclasses.replace(
        state,
        time=state.time + since,
        mode_time=state.mode_time + since,
        elapsed=now,
        still=Stillness(place=place, since=np.full(PLAYERS_SHAPE, now)),
    )


def _positions_matter(fouls: FoulRules) -> bool:
    """Whether a foul is called that a player can commit in any cycle just by its position."""
    by_place = fouls.illegal_defence.on or fouls.illegal_attack.on or fouls.crowding.on
    return by_place or (fouls.charging.on and fouls.charging.velocity_samples > 1)


def _until_down_too_long(down: DownTimes, rules: IncapableRules) -> float:
    """The time until a player can have been down for too long, or up for long enough, s."""
    low, counted, _ = down.flags
    if (low & ~counted).any():  # a player that lies beside the pitch may have been put on it just now
        return 0.0
    due = math.inf
    if rules.on:
        due = min(rules.not_standing_time, rules.goalie_not_standing_time) - float(down.not_standing.max())
        due = min(due, min(rules.ground_time, rules.goalie_ground_time) - float(down.ground.max()))
    up = down.times[2][~low & (down.not_standing > 0)]
    return min(due, rules.stood_up_time - float(up.max())) if up.size else due
