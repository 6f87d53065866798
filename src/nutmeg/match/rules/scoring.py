"""A ball in play: goals, balls over a line, second touches, and goals that do not count.

A ball is in the goal, or out, when the whole of it is over the line. Where it crossed is found between the last two
cycles, so that neither a fast ball nor one that a net throws back is misjudged.

Which goals do not count (rcssserver3d, NEWS of 0.7.0 and 0.7.2): those straight from an indirect kick, own goals
straight from an own kick, goals of the side that kicked off before an opponent touched the ball or the own team did
outside the centre circle, and goals too soon after pass mode. The side that had to concede kicks from its goal; after
an own goal from an own kick, the opponents have a corner. Where balls over a line are put back at once, a goal that
does not count is followed by a kick-off of the side that had to concede.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.rules.book import Foul
from nutmeg.match.rules.judgement import TIME_TOLERANCE
from nutmeg.match.rules.play_modes import GOALS, INDIRECT, KICK_OFFS, Side, ball_is_live
from nutmeg.match.rules.restarts import (
    award_corner_kick,
    award_free_kick,
    award_goal_kick,
    award_kick_in,
    drop_ball,
    put_back,
    start_kick_off,
)
from nutmeg.match.rules.state import Touch

if TYPE_CHECKING:
    from nutmeg.match.rules.judgement import Judgement

LINE_TOLERANCE = 0.001
"""A ball is out when it is beyond a line by its radius and this, m; as in rcssserver3d."""


def note_touches(case: Judgement) -> None:
    """Remember who touches the ball in this cycle; of several, the nearest."""
    touches = case.facts.touches_ball
    if not touches.any():
        return
    players = [(Side(s), i) for s, i in np.argwhere(touches).tolist()]
    if len(players) > 1:
        before, in_doubt = case.state.touch, case.doubtful()

        def order(player: tuple[Side, int]) -> tuple[float, bool, bool, int]:
            x, y = case.facts.position[player][:2].tolist()
            again = before is not None and player == (before.side, before.index)
            return math.hypot(x - case.ball[0], y - case.ball[1]), not again, player[0] is in_doubt, player[1]

        players.sort(key=order)
    side, index = case.toucher = players[0]
    case.change(touch=Touch(side=side, index=index, stamp=case.elapsed))


def judge_double_touch(case: Judgement) -> bool:
    """Whether the taker of a restart touched the ball again before anybody else: a free kick for the opponents."""
    kick = case.state.kick
    if kick is None or case.toucher is None:
        return False
    touches = case.facts.touches_ball
    if np.count_nonzero(touches) > 1 or not touches[kick.side, kick.index]:
        case.change(kick=None)
        return False
    if case.elapsed - kick.stamp < case.rules.restarts.kick_duration - TIME_TOLERANCE:
        return False
    place = (case.ball[0], case.ball[1])
    text = f"{kick.side.word} {kick.index + 1} touched the ball twice"
    if kick.mode in KICK_OFFS and case.rules.fouls.kick_off.on:
        case.change(fouls=case.state.fouls + 1)
        case.tell("foul", f"{text} at the kick-off", side=kick.side, index=kick.index, place=place, foul=Foul.KICK_OFF)
    else:
        case.tell("double_touch", text, side=kick.side, index=kick.index, place=place)
    award_free_kick(case, kick.side.other, place)
    return True


def update_kick_off_scoring(case: Judgement) -> None:
    """Let the side that kicked off score, once the ball has been touched as the rules want."""
    side = case.state.no_score
    if side is None or case.toucher is None:
        return
    touches = case.facts.touches_ball
    outside = math.hypot(case.ball[0], case.ball[1]) > case.rules.pitch.circle_radius
    if touches[side.other].any() or (outside and touches[side].any()):
        case.change(no_score=None)


def judge_goal(case: Judgement) -> bool:
    """Whether the ball has gone into a goal, and what follows."""
    pitch = case.rules.pitch
    line = pitch.length / 2 + pitch.ball_radius
    if not abs(case.ball[0]) >= line:
        return False
    _, y, z = crossing(case, 0, line)
    if not (abs(y) < pitch.goal_width / 2 and z < pitch.goal_height):
        return False
    conceding = Side.LEFT if case.ball[0] < 0 else Side.RIGHT
    reason = why_no_goal(case, conceding)
    if reason is None:
        score_goal(case, conceding.other)
        return True
    case.tell("no_goal", f"no goal for {conceding.other.word}: {reason}", side=conceding.other, place=(case.ball[0], y))
    kick = case.state.kick
    if case.rules.outs.put_back:
        start_kick_off(case, conceding)
    elif kick is not None and kick.side is conceding:
        award_corner_kick(case, conceding.other, case.ball[1])
    else:
        award_goal_kick(case, conceding)
    return True


def why_no_goal(case: Judgement, conceding: Side) -> str | None:
    """Why a ball in a goal does not count; None if it does."""
    state, scorer = case.state, conceding.other
    if state.no_score is scorer:
        return "too soon after their kick-off"
    kick = state.kick
    if kick is not None and (kick.mode in INDIRECT or kick.side is conceding):
        return "straight from an own kick" if kick.side is conceding else "straight from an indirect kick"
    watch = state.pass_watch
    if watch is not None and watch.side is scorer and not watch.cleared:
        waited = case.elapsed - watch.stamp
        if waited < case.rules.pass_mode.score_wait - TIME_TOLERANCE:
            return f"only {waited:.1f} s after their pass mode"
    return None


def score_goal(case: Judgement, side: Side) -> None:
    """Count a goal for a side."""
    left, right = case.state.score
    case.change(score=(left + 1, right) if side is Side.LEFT else (left, right + 1), kick=None, pass_watch=None)
    touch = case.state.touch
    by = "" if touch is None else f" by {touch.side.word} {touch.index + 1}"
    own = " (own goal)" if touch is not None and touch.side is not side else ""
    case.tell(
        "goal",
        f"goal for {side.word}{by}{own}: {case.state.score[0]}:{case.state.score[1]}",
        side=side,
        index=touch.index if touch is not None and not own else None,
        place=(case.ball[0], case.ball[1]),
    )
    case.set_mode(GOALS[side])


def judge_out(case: Judgement) -> bool:
    """Whether the ball is over a line, and who puts it back."""
    pitch = case.rules.pitch
    end, line = (
        pitch.length / 2 + pitch.ball_radius + LINE_TOLERANCE,
        pitch.width / 2 + pitch.ball_radius + LINE_TOLERANCE,
    )
    x, y, z = case.ball
    if not all(map(math.isfinite, case.ball)) or z < -1.0:
        drop_ball(case, case.state.last_inside)
        return True
    over_end, over_line = abs(x) >= end, abs(y) >= line
    if not (over_end or over_line):
        return False
    touch = case.state.touch
    if case.rules.outs.put_back:
        across = crossing(case, 0 if over_end else 1, end if over_end else line)
        put_back(case, (across[0], across[1]), over_end=over_end)
    elif touch is None:
        drop_ball(case, case.state.last_inside)
    elif over_end:
        defender = Side.LEFT if x < 0 else Side.RIGHT
        if touch.side is defender:
            award_corner_kick(case, defender.other, y)
        else:
            award_goal_kick(case, defender)
    else:
        cross_x, _, _ = crossing(case, 1, line)
        award_kick_in(case, touch.side.other, (cross_x, y))
    return True


def crossing(case: Judgement, axis: int, limit: float) -> tuple[float, float, float]:
    """Where the ball crossed |x| or |y| = limit in this cycle; where it is, if it was beyond already."""
    now, before = case.ball, case.ball_before
    if before is None or not all(map(math.isfinite, before)) or abs(before[axis]) >= limit:
        return now
    target = math.copysign(limit, now[axis])
    part = (target - before[axis]) / (now[axis] - before[axis])
    x, y, z = (b + part * (n - b) for n, b in zip(now, before, strict=True))
    return x, y, z


def remember_ball(case: Judgement) -> dict[str, object]:
    """What to keep of the ball for the next cycle."""
    pitch, inside = case.rules.pitch, case.state.last_inside
    for place in (case.facts.ball_before, case.facts.ball):
        if place is not None:
            x, y = place[:2].tolist()
            inside = (x, y) if abs(x) <= pitch.length / 2 and abs(y) <= pitch.width / 2 else inside
    return {"ball_before": case.ball, "last_inside": inside}


def play_goes_on(case: Judgement) -> bool:
    """Judge the ball in play; whether play still goes on."""
    if judge_double_touch(case) or judge_goal(case) or judge_out(case):
        return False
    return ball_is_live(case.state.mode)
