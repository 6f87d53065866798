"""The referee: (state, facts, rules) -> (state, decisions), pure and without physics.

    rules = load_rules("sim3d")
    state = new_match(kick_off=Side.LEFT)
    while state.mode is not PlayMode.GAME_OVER:
        facts = ...                                   # what the world looks like after a cycle
        state, decisions = judge(state, facts, rules)
        ...                                           # the world carries the decisions out

The same state and facts always give the same decisions, and a pitch turned by half a turn gives them turned. All rules
are in `rules`; which file does what: `clock` (halves), `restarts`, `scoring`, `pass_mode`, `offside`, `shootout`,
`fouls`, `collisions`, `inactive`, `penalties`; `trainer` has what people and programs may order from outside, `quiet`
says for how long nobody has to ask, and `calm` sees at a glance that a cycle leaves nothing to decide.

A judgement of 22 players takes some 0.05 ms: nothing loops over players unless something is wrong with one. Players
who lie or collide double that; each player who is moved adds 0.08 ms, in that cycle only.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.rules.clock import advance, judge_time
from nutmeg.match.rules.fouls import (
    forget_stillness,
    judge_areas,
    judge_charging,
    judge_crowding,
    judge_inactive,
    judge_incapable,
    judge_pushing,
    judge_self_collisions,
    judge_touching,
    remember_contacts,
    serve_penalties,
    without_penalised,
)
from nutmeg.match.rules.judgement import Judgement
from nutmeg.match.rules.offside import judge_offside
from nutmeg.match.rules.play_modes import GOALS, KICK_OFFS, PASSES, PAUSED, RESTARTS, PlayMode
from nutmeg.match.rules.restarts import (
    judge_pass_requests,
    update_before_kick_off,
    update_goal,
    update_kick_off,
    update_pass_mode,
    update_pass_watch,
    update_restart,
)
from nutmeg.match.rules.scoring import note_touches, play_goes_on, remember_ball, update_kick_off_scoring
from nutmeg.match.rules.shootout import judge_shoot_out

if TYPE_CHECKING:
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.decisions import Decision
    from nutmeg.match.rules.state import Facts, MatchState


def judge(state: MatchState, facts: Facts, rules: Rules) -> tuple[MatchState, tuple[Decision, ...]]:
    """One cycle: what the referee remembers afterwards, and what it decides."""
    case = Judgement(state, without_penalised(facts, state) if state.held else facts, rules)
    advance(case)
    note_touches(case)
    judge_time(case)
    if case.state.shoot_out is not None:
        judge_shoot_out(case)
    else:
        judge_play(case)
        judge_fouls(case)
    remember(case)
    return case.state, tuple(case.decisions)


def judge_play(case: Judgement) -> None:
    """What the present mode asks for."""
    mode = case.state.mode
    if mode is PlayMode.PLAY_ON or mode in PASSES:
        judge_ball_in_play(case)
    elif mode in RESTARTS or mode in KICK_OFFS:
        (update_kick_off if mode in KICK_OFFS else update_restart)(case)
        if case.state.mode is PlayMode.PLAY_ON:
            judge_offside(case)  # team-mates may be offside from the kick
    elif mode in GOALS:
        update_goal(case)
    elif mode is PlayMode.BEFORE_KICK_OFF:
        update_before_kick_off(case)


def judge_ball_in_play(case: Judgement) -> None:
    """Goals, balls over a line, and everything that only counts while the ball is live."""
    update_kick_off_scoring(case)
    if case.state.mode in PASSES:
        update_pass_mode(case)
    else:
        update_pass_watch(case)
    if play_goes_on(case) and not judge_offside(case):
        judge_pass_requests(case)


def judge_fouls(case: Judgement) -> None:
    """Fouls; while the game is paused, all of them are forgotten, but for time that has to be served."""
    mode = case.state.mode
    if mode in PAUSED or mode is PlayMode.GAME_OVER:
        if case.state.down is not None:
            case.change(down=None)
        forget_stillness(case)
        if case.state.held and case.rules.fouls.removal_time > 0 and mode is not PlayMode.GAME_OVER:
            serve_penalties(case)
        elif case.state.held:
            case.hold()
        return
    if case.state.held:
        serve_penalties(case)
    judge_incapable(case)
    judge_areas(case)
    judge_crowding(case)
    judge_touching(case)
    judge_charging(case)
    judge_self_collisions(case)
    judge_pushing(case)
    judge_inactive(case)


def remember(case: Judgement) -> None:
    """Keep what the next cycle needs of this one."""
    kept = remember_ball(case)
    samples = case.rules.fouls.charging.velocity_samples - 1
    kept["velocities"] = (case.facts.velocity, *case.state.velocities)[:samples]
    if len(case.facts.contacts) or case.state.in_contact:
        kept["in_contact"] = remember_contacts(case)
    if case.moved or case.toucher is not None:
        stamps = case.state.stamps
        moved = stamps.moved.copy()
        for player in case.moved:
            moved[player] = case.elapsed
        touched = np.where(case.facts.touches_ball, case.elapsed, stamps.touched_ball)
        kept["stamps"] = dataclasses.replace(stamps, moved=moved, touched_ball=touched)
    case.change(**kept)
