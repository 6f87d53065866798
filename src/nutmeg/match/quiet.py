"""For how long nobody has to ask the referee: thousands of matches at once cannot afford to in every cycle.

    due = quiet(state, rules)                        # s, from the last judgement on
    ...                                              # cycle after cycle, until
    if may_matter(pitch, due, since=since, ball=(x, y), touched=touched, contacts=contacts, lying=lying):
        facts = Facts.of(time_step=since, cycle=0.1, ball_before=before, ...)
        state, decisions = judge(state, facts, rules)
        due = quiet(state, rules)

`quiet` looks at clocks only: the end of the half, penalties that end, who has been down for how long, the next look
at who stands still. Until the time it gives, a judgement decides nothing, *unless*

- somebody touches the ball,
- the ball is over a line (the middle of it; no need to know which line, or whether it is all of it),
- players touch or push each other (contacts, pushes or self-collisions in the facts),
- somebody falls, or stands again: a torso has passed `not_standing_height` or `ground_height`,
- somebody asks for pass mode, joins, leaves, or a trainer interferes.

In these cycles ask at once, with the facts of that cycle. Skipping all others gives the same decisions at the same
times as asking in every cycle (there is a property test), if `Facts.cycle` and `Facts.ball_before` are given and
players who serve a penalty (`penalties.penalised`) are not moved by the world. Most looks at who stands still find
nobody: who keeps where everybody was at the last one can tell (`until_look`), and need not ask (`looked`). It is never
quiet (0) when play is stopped, in a shoot-out, and under rules that need everybody's place in every cycle: illegal
defence and attack, crowding, charging.
`quiet` takes about 1 us, or 10 while somebody is down; `may_matter` takes 0.3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.case import TINY, changed
from nutmeg.match.clock import end_of_half
from nutmeg.match.facts import SHAPE
from nutmeg.match.inactive import next_look
from nutmeg.match.play_modes import PlayMode
from nutmeg.match.state import Stillness

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.foul_rules import FoulRules, IncapableRules
    from nutmeg.match.rules import Pitch, Rules
    from nutmeg.match.state import DownTimes, MatchState


def quiet(state: MatchState, rules: Rules, *, looks: bool = True) -> float:
    """How long after the last judgement nothing can happen by itself, s; 0: ask in the next cycle.

    Without `looks`, those at who stands still do not count where `until_look` tells of them.
    """
    if state.mode is PlayMode.GAME_OVER:
        return math.inf
    fouls = rules.fouls
    stopped = state.mode is not PlayMode.PLAY_ON or state.shoot_out is not None
    if stopped or state.pass_watch is not None or places_matter(fouls):
        return 0.0
    if state.in_contact and fouls.touching.on:
        return 0.0
    due = end_of_half(state.half, rules.match) - state.time
    if fouls.inactive.on and (looks or until_look(state, rules) == math.inf):
        due = min(due, next_look(state, fouls.inactive.look_interval))
    for held in state.held:
        if held.place is None:
            return 0.0
        due = min(due, held.stamp + fouls.hold_time + fouls.removal_time - state.elapsed)
    if state.down is not None:
        due = min(due, _until_down_too_long(state.down, fouls.incapable))
    return max(due, 0.0)


def until_look(state: MatchState, rules: Rules) -> float:
    """Until the referee looks at who stands still, s; inf if it does not, or if it has to be asked at that time.

    That is while somebody is down, whose times are counted at each judgement.
    """
    if not rules.fouls.inactive.on or state.mode is not PlayMode.PLAY_ON or state.shoot_out is not None:
        return math.inf
    return math.inf if state.down is not None else next_look(state, rules.fouls.inactive.look_interval)


def looked(state: MatchState, since: float, place: Floats) -> MatchState:
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
            "still": Stillness(place=place, since=np.full(SHAPE, now)),
        },
    )


def places_matter(fouls: FoulRules) -> bool:
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
    if touched or contacts or lying or asked or since >= due - TINY:
        return True
    return not (abs(ball[0]) <= pitch.length / 2 and abs(ball[1]) <= pitch.width / 2)
