"""Standing still near the ball for too long, and so keeping others from it (seed: NaOISIS, its match mode).

The referee looks at fixed times of its own clock, every few seconds: who is near the ball and has hardly moved since
the last look has been standing still since that look at least. Between two looks nothing about it has to be known, so
that a batched world need not ask in every cycle. Who lies is dealt with elsewhere (`fouls.judge_incapable`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.case import TINY
from nutmeg.match.collisions import goalie_at_home
from nutmeg.match.foul_rules import Foul
from nutmeg.match.penalties import penalise
from nutmeg.match.play_modes import Side, ball_is_live
from nutmeg.match.state import Stillness

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools
    from nutmeg.match.case import Case
    from nutmeg.match.state import MatchState


def looks(elapsed: float, interval: float) -> int:
    """How many times the referee has looked, by its own clock."""
    return math.floor((elapsed + TINY) / interval)


def judge_inactive(case: Case) -> None:
    """Send out who stands still near the ball for too long."""
    rules = case.rules.fouls.inactive
    if not rules.on:
        return
    if not ball_is_live(case.state.mode):
        forget_stillness(case)
        return
    now = case.elapsed
    if looks(now, rules.look_interval) == looks(now - case.facts.time_step, rules.look_interval):
        return
    place = case.facts.position[..., :2].copy()
    near = _near_ball(case)
    since = np.full(near.shape, now)
    before = case.state.still
    if before is not None:
        gone = np.hypot(place[..., 0] - before.place[..., 0], place[..., 1] - before.place[..., 1])
        since = np.where(near & (gone < rules.movement), before.since, now)
    case.change(still=Stillness(place=place, since=since))
    if near.any():
        for side, index in np.argwhere(near & (now - since >= rules.time - TINY)).tolist():
            penalise(case, Side(side), index, Foul.INACTIVE, "stands still near the ball", to=None)


def _near_ball(case: Case) -> Bools:
    """(2, 11) who plays, stands and is near the ball, and may be called."""
    rules, position = case.rules.fouls.inactive, case.facts.position
    distance = np.hypot(position[..., 0] - case.ball[0], position[..., 1] - case.ball[1])
    standing = position[..., 2] >= case.rules.fouls.incapable.not_standing_height
    near: Bools = (distance < rules.ball_distance) & standing & case.active
    if rules.goalie_exempt:
        for side, index in np.argwhere(near & case.facts.goalie).tolist():
            near[side, index] = not goalie_at_home(case, (Side(side), index))
    return near


def forget_stillness(case: Case) -> None:
    """Forget who stood still."""
    if case.state.still is not None:
        case.change(still=None)


def next_look(state: MatchState, interval: float) -> float:
    """Until the referee looks again, s."""
    return (looks(state.elapsed, interval) + 1) * interval - state.elapsed
