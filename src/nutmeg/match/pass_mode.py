"""Pass mode: a player at a resting ball asks for a few seconds without opponents, to pass.

As rcssserver3d has it since 0.7.2 (its NEWS): only in `PlayOn`, with a slow ball that nobody of the team touches, the
asking player near and no opponent near. It ends with a touch or after some seconds. Goals of the team do not count for
a while afterwards, unless two of its players have touched the ball, one of them after it left the protected circle.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.case import TINY
from nutmeg.match.clearing import repel
from nutmeg.match.play_modes import PASSES, PlayMode, Side, side_of
from nutmeg.match.state import PassWatch

if TYPE_CHECKING:
    from nutmeg.match.case import Case


def judge_pass_requests(case: Case) -> None:
    """Go to pass mode if somebody may have it; if both teams could, neither gets it."""
    asked = case.facts.wants_pass
    if not case.rules.pass_mode.on or case.state.mode is not PlayMode.PLAY_ON or not asked.any():
        return
    granted = [side for side in Side if asked[side].any() and _may_pass(case, side)]
    if len(granted) == 1:
        case.set_mode(PASSES[granted[0]], pass_watch=_watch(case, granted[0]))


def _may_pass(case: Case, side: Side) -> bool:
    """Whether a side may have pass mode now."""
    facts, rules, watch = case.facts, case.rules.pass_mode, case.state.pass_watch
    recently = watch is not None and watch.side is side and case.elapsed - watch.stamp < rules.retry_wait - TINY
    if recently or facts.touches_ball[side].any():
        return False
    if float(np.linalg.norm(facts.ball_velocity)) > rules.ball_speed:
        return False
    offset = facts.position[..., :2] - facts.ball[:2]
    distance = np.hypot(offset[..., 0], offset[..., 1])
    asking = facts.wants_pass[side] & case.active[side] & (distance[side] <= rules.ball_distance)
    opponents = facts.present[side.other] & (distance[side.other] < rules.opponent_distance)
    return bool(asking.any()) and not opponents.any()


def update_pass_mode(case: Case) -> None:
    """End pass mode with a touch or after its time; until then, keep opponents away."""
    side, rules = side_of(case.state.mode), case.rules.pass_mode
    assert side is not None
    case.change(pass_watch=_watch(case, side))
    if case.toucher is not None or case.state.mode_time >= rules.duration - TINY:
        case.set_mode(PlayMode.PLAY_ON)
        return
    ball = (case.ball[0], case.ball[1])
    repel(
        case,
        side.other,
        ball,
        rules.opponent_distance,
        rules.opponent_distance + rules.opponent_margin,
        "pass mode of the opponents",
    )


def _watch(case: Case, side: Side) -> PassWatch:
    return PassWatch(side=side, stamp=case.elapsed, place=(case.ball[0], case.ball[1]))


def update_pass_watch(case: Case) -> None:
    """See whether the team that had pass mode has passed."""
    watch = case.state.pass_watch
    if watch is None or watch.cleared:
        return
    if case.elapsed - watch.stamp >= max(case.rules.pass_mode.score_wait, case.rules.pass_mode.retry_wait) - TINY:
        case.change(pass_watch=None)
        return
    away = math.hypot(case.ball[0] - watch.place[0], case.ball[1] - watch.place[1])
    left = watch.left_circle or away >= case.rules.pass_mode.opponent_distance
    first, several, cleared = watch.first, watch.several, False
    for index in np.flatnonzero(case.facts.touches_ball[watch.side]).tolist() if case.toucher is not None else ():
        if first is None:
            first = index
        elif first != index or several:
            several, cleared = True, left
    if (left, first, several, cleared) != (watch.left_circle, watch.first, watch.several, False):
        watch = dataclasses.replace(watch, left_circle=left, first=first, several=several, cleared=cleared)
        case.change(pass_watch=watch)
