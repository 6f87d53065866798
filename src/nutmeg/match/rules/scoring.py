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

from nutmeg.match.rules import restarts
from nutmeg.match.rules.book import Foul
from nutmeg.match.rules.judgement import TIME_TOLERANCE
from nutmeg.match.rules.play_modes import GOALS, INDIRECT, KICK_OFFS, Side, ball_is_live
from nutmeg.match.rules.state import Touch

if TYPE_CHECKING:
    from nutmeg.match.rules.judgement import Judgement

_LINE_TOLERANCE = 0.001
"""A ball is out when it is beyond a line by its radius and this, m; as in rcssserver3d."""


def note_touches(judgement: Judgement) -> None:
    """Remember which player touches the ball in this cycle; of several, the nearest."""
    touches = judgement.facts.touches_ball
    if not np.count_nonzero(touches):  # ten times as fast as `any` on small arrays, here and in all rules
        return
    players = [(Side(s), i) for s, i in np.argwhere(touches).tolist()]
    if len(players) > 1:
        before, in_doubt = judgement.state.touch, judgement.doubtful()

        # The nearest player has touched it; in doubt the one that had it already, or one of its team. So neither
        # half of the pitch is favoured.
        def order(player: tuple[Side, int]) -> tuple[float, bool, bool, int]:
            x, y = judgement.facts.position[player][:2].tolist()
            again = before is not None and player == (before.side, before.index)
            return math.hypot(x - judgement.ball[0], y - judgement.ball[1]), not again, player[0] is in_doubt, player[1]

        players.sort(key=order)
    side, index = judgement.toucher = players[0]
    judgement.state.touch = Touch(side=side, index=index, stamp=judgement.elapsed)


def _judge_double_touch(judgement: Judgement) -> bool:
    """Whether the taker of a restart touched the ball again before any other player: a free kick for the opponents."""
    kick = judgement.state.kick
    if kick is None or judgement.toucher is None:
        return False
    touches = judgement.facts.touches_ball
    # As soon as anybody else touches the ball, the taker may play on.
    if np.count_nonzero(touches) > 1 or not touches[kick.side, kick.index]:
        judgement.state.kick = None
        return False
    # One kick can touch the ball in several cycles.
    if judgement.elapsed - kick.stamp < judgement.rules.restarts.kick_duration - TIME_TOLERANCE:
        return False
    place = judgement.ball_place
    text = f"{kick.side.word} {kick.index + 1} touched the ball twice"
    if kick.mode in KICK_OFFS and judgement.rules.fouls.kick_off.on:
        judgement.state.fouls = judgement.state.fouls + 1
        judgement.announce(
            "foul", f"{text} at the kick-off", side=kick.side, index=kick.index, place=place, foul=Foul.KICK_OFF
        )
    else:
        judgement.announce("double_touch", text, side=kick.side, index=kick.index, place=place)
    restarts.award_free_kick(judgement, kick.side.other, place)
    return True


def update_kick_off_scoring(judgement: Judgement) -> None:
    """Let the side that kicked off score, once the ball has been touched as the rules demand."""
    side = judgement.state.no_score
    if side is None or judgement.toucher is None:
        return
    # No goal straight from the kick-off: an opponent has to touch the ball, or the own team outside the circle.
    touches = judgement.facts.touches_ball
    outside = math.hypot(judgement.ball[0], judgement.ball[1]) > judgement.rules.pitch.circle_radius
    if touches[side.other].any() or (outside and touches[side].any()):
        judgement.state.no_score = None


def _judge_goal(judgement: Judgement) -> bool:
    """Whether the ball has gone into a goal, and what follows."""
    pitch = judgement.rules.pitch
    line = pitch.length / 2 + pitch.ball_radius
    if not abs(judgement.ball[0]) >= line:
        return False
    # Where the ball crossed the line counts, not where it is: it may be in the side of the net by now.
    _, y, z = crossing(judgement, 0, line)
    if not (abs(y) < pitch.goal_width / 2 and z < pitch.goal_height):
        return False
    conceding = Side.LEFT if judgement.ball[0] < 0 else Side.RIGHT
    reason = _why_no_goal(judgement, conceding)
    if reason is None:
        score_goal(judgement, conceding.other)
        return True
    judgement.announce(
        "no_goal", f"no goal for {conceding.other.word}: {reason}", side=conceding.other, place=(judgement.ball[0], y)
    )
    kick = judgement.state.kick
    # The goal does not count. How play goes on depends on the rule book, and on who kicked.
    if judgement.rules.outs.put_back:
        restarts.start_kick_off(judgement, conceding)
    elif kick is not None and kick.side is conceding:
        restarts.award_corner_kick(judgement, conceding.other, judgement.ball[1])
    else:
        restarts.award_goal_kick(judgement, conceding)
    return True


def _why_no_goal(judgement: Judgement, conceding: Side) -> str | None:
    """Why a ball in a goal does not count; None if it does."""
    state, scorer = judgement.state, conceding.other
    if state.no_score is scorer:
        return "too soon after their kick-off"
    kick = state.kick
    if kick is not None and (kick.mode in INDIRECT or kick.side is conceding):
        return "straight from an own kick" if kick.side is conceding else "straight from an indirect kick"
    watch = state.pass_watch
    if watch is not None and watch.side is scorer and not watch.cleared:
        waited = judgement.elapsed - watch.stamp
        if waited < judgement.rules.pass_mode.score_wait - TIME_TOLERANCE:
            return f"only {waited:.1f} s after their pass mode"
    return None


def score_goal(judgement: Judgement, side: Side) -> None:
    """Count a goal for a side."""
    left, right = judgement.state.score
    judgement.state.score = (left + 1, right) if side is Side.LEFT else (left, right + 1)
    judgement.state.kick = judgement.state.pass_watch = None
    touch = judgement.state.touch
    by = "" if touch is None else f" by {touch.side.word} {touch.index + 1}"
    own = " (own goal)" if touch is not None and touch.side is not side else ""
    judgement.announce(
        "goal",
        f"goal for {side.word}{by}{own}: {judgement.state.score[0]}:{judgement.state.score[1]}",
        side=side,
        index=touch.index if touch is not None and not own else None,
        place=judgement.ball_place,
    )
    judgement.set_mode(GOALS[side])


def _judge_out(judgement: Judgement) -> bool:
    """Judge whether the ball is over a line, and which side puts it back into play."""
    pitch = judgement.rules.pitch
    end, line = (
        pitch.length / 2 + pitch.ball_radius + _LINE_TOLERANCE,
        pitch.width / 2 + pitch.ball_radius + _LINE_TOLERANCE,
    )
    x, y, z = judgement.ball
    if abs(x) < end and abs(y) < line and -1.0 <= z < math.inf:  # false of numbers that are not finite
        return False
    # A ball that has fallen through the ground, or that physics has lost: play goes on where it last was.
    if not all(map(math.isfinite, judgement.ball)) or z < -1.0:
        restarts.drop_ball(judgement, judgement.state.last_inside)
        return True
    over_end = abs(x) >= end
    touch = judgement.state.touch
    if judgement.rules.outs.put_back:
        across = crossing(judgement, 0 if over_end else 1, end if over_end else line)
        restarts.put_back(judgement, (across[0], across[1]), over_end=over_end)
    elif touch is None:
        restarts.drop_ball(judgement, judgement.state.last_inside)
    elif over_end:
        defender = Side.LEFT if x < 0 else Side.RIGHT
        if touch.side is defender:
            restarts.award_corner_kick(judgement, defender.other, y)
        else:
            restarts.award_goal_kick(judgement, defender)
    else:
        cross_x, _, _ = crossing(judgement, 1, line)
        restarts.award_kick_in(judgement, touch.side.other, (cross_x, y))
    return True


def crossing(judgement: Judgement, axis: int, limit: float) -> tuple[float, float, float]:
    """Where the ball crossed |x| or |y| = limit in this cycle; where it is, if it was beyond already."""
    now, before = judgement.ball, judgement.ball_before
    if before is None or not all(map(math.isfinite, before)) or abs(before[axis]) >= limit:
        return now
    target = math.copysign(limit, now[axis])
    part = (target - before[axis]) / (now[axis] - before[axis])
    x, y, z = (b + part * (n - b) for n, b in zip(now, before, strict=True))
    return x, y, z


def remember_ball(judgement: Judgement) -> None:
    """Keep where the ball is, and where it was last inside the lines."""
    state, before = judgement.state, judgement.facts.ball_before
    state.ball_before = judgement.ball
    for place in (judgement.ball,) if before is None else (before.tolist(), judgement.ball):
        x, y = place[0], place[1]
        if abs(x) <= judgement.rules.pitch.length / 2 and abs(y) <= judgement.rules.pitch.width / 2:
            state.last_inside = x, y


def play_goes_on(judgement: Judgement) -> bool:
    """Judge the ball in play, and return whether play continues."""
    if _judge_double_touch(judgement) or _judge_goal(judgement) or _judge_out(judgement):
        return False
    return ball_is_live(judgement.state.mode)
