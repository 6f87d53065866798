"""A cycle of many matches of the behavioural world, compiled.

    step_matches(chosen, rows, numbers, goals, ball_radius)

A cycle of 0.1 s has five steps of 0.02 s: everybody walks, kicks meet the ball, postures end, robots part from each
other and from posts, the ball is pushed and rolls. Matches share nothing, so any of them may be stepped at the same
time on other threads: no lock is held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nutmeg.compiled import kernel
from nutmeg.match.behaviour.ball_kernels import push_ball, roll_ball
from nutmeg.match.behaviour.collision_kernels import find_reaches, part_from_posts, part_robots
from nutmeg.match.behaviour.kick_kernels import strike
from nutmeg.match.behaviour.motion_kernels import STEP, SUBSTEPS, begin_cycle, end_cycle, end_postures, move
from nutmeg.match.behaviour.player_rows import load, store

if TYPE_CHECKING:
    from nutmeg.base.arrays import Ints
    from nutmeg.match.behaviour.ball_kernels import Goals
    from nutmeg.match.behaviour.state import Rows


@kernel
def step_matches(chosen: Ints, rows: Rows, numbers: Any, goals: Goals, players: Any, balls: Any) -> None:  # noqa: ANN401
    """One cycle of the matches `chosen` (K,).

    `numbers` (M,) are of `settings.NUMBERS`; `players` (22,) of `PLAYER` and `balls` (1,) of `BALL`, which has the
    radius, are room to work in that no other thread may use.
    """
    ball = balls[0]
    for m in chosen:
        own = numbers[m]
        here = players[: load(rows, m, players, ball)]
        contact, pushed = rows.contact[m], rows.pushed[m]
        contact[:], pushed[:] = False, 0
        begin_cycle(here, ball, own)
        for _ in range(SUBSTEPS):
            move(here, STEP)
            strike(here, ball, own, STEP)
            end_postures(here, ball, own, STEP)
            find_reaches(here, own)
            part_robots(here, ball, own, contact, pushed, STEP)
            part_from_posts(here, own, goals.posts, goals.post_radius, STEP)
            push_ball(here, ball, own)
            roll_ball(here, ball, own, goals, STEP)
        end_cycle(here, ball, own)
        store(rows, m, here, ball)
