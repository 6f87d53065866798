"""The referee: (state, facts, rules) -> (state, decisions), pure and without physics.

    rules = load_rules("sim3d")
    state = new_match(kick_off=Side.LEFT)
    while state.mode is not PlayMode.GAME_OVER:
        facts = ...                                   # the state of the world after a cycle
        state, decisions = judge(state, facts, rules)
        ...                                           # the world carries the decisions out

The same state and facts always give the same decisions, and a pitch rotated by half a turn gives rotated decisions. The
numbers are in `book`. The rules are in `clock` (halves, and when the next judgement is due), `restarts` (with pass
mode), `scoring`, `offside`, `shootout` and `fouls` (with penalties); `trainer` has the commands of people and programs
outside the game.

A judgement of 22 standing players takes 8 us when it is repeated (docs/explanation/match.md has the command), and 20 to
25 us between two steps of the physics, which empty the processor's caches. No rule looks at single players unless the
survey of all of them exceeds a limit (`judgement.survey_players`). Fallen players add 5 us, a collision 30 us, and each
player that is moved 40 to 60 us, in that cycle only.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.rules import fouls, restarts
from nutmeg.match.rules.clock import advance, judge_time
from nutmeg.match.rules.judgement import Judgement
from nutmeg.match.rules.offside import judge_offside
from nutmeg.match.rules.play_modes import GOALS, KICK_OFFS, PASSES, PAUSED, RESTARTS, PlayMode
from nutmeg.match.rules.scoring import note_touches, play_goes_on, remember_ball, update_kick_off_scoring
from nutmeg.match.rules.shootout import judge_shoot_out

if TYPE_CHECKING:
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.decisions import Decision
    from nutmeg.match.rules.state import Facts, MatchState


def judge(state: MatchState, facts: Facts, rules: Rules) -> tuple[MatchState, tuple[Decision, ...]]:
    """One cycle: what the referee remembers afterwards, and what it decides."""
    judgement = Judgement(state, fouls.without_penalised(facts, state) if state.held else facts, rules)
    # A half that is over ends before anything else is judged. Touches are noted earlier still, because restarts, goals
    # and offside ask who touched the ball.
    advance(judgement)
    note_touches(judgement)
    judge_time(judgement)
    if judgement.state.shoot_out is not None:
        judge_shoot_out(judgement)
    else:
        _judge_play(judgement)
        _judge_fouls(judgement)
    remember(judgement)
    return judgement.state, tuple(judgement.decisions)


def _judge_play(judgement: Judgement) -> None:
    """Judge by the rules of the present play mode."""
    mode = judgement.state.mode
    if mode is PlayMode.PLAY_ON or mode in PASSES:
        _judge_ball_in_play(judgement)
    elif mode in RESTARTS or mode in KICK_OFFS:
        (restarts.update_kick_off if mode in KICK_OFFS else restarts.update_restart)(judgement)
        if judgement.state.mode is PlayMode.PLAY_ON:
            judge_offside(judgement)  # team-mates may be offside from the kick
    elif mode in GOALS:
        restarts.update_goal(judgement)
    elif mode is PlayMode.BEFORE_KICK_OFF:
        restarts.update_before_kick_off(judgement)


def _judge_ball_in_play(judgement: Judgement) -> None:
    """Goals, balls over a line, and everything that only counts while the ball is live."""
    update_kick_off_scoring(judgement)
    if judgement.state.mode in PASSES:
        restarts.update_pass_mode(judgement)
    else:
        restarts.update_pass_watch(judgement)
    # A goal or a ball that is out makes everything after it meaningless.
    if play_goes_on(judgement) and not judge_offside(judgement):
        restarts.judge_pass_requests(judgement)


def _judge_fouls(judgement: Judgement) -> None:
    """Fouls; while the game is paused, all of them are forgotten, but for time that has to be served."""
    mode = judgement.state.mode
    if mode in PAUSED or mode is PlayMode.GAME_OVER:
        # Nobody is to blame for lying or standing about while no play is possible.
        judgement.state.down = None
        fouls.forget_stillness(judgement)
        if judgement.state.held and judgement.rules.fouls.removal_time > 0 and mode is not PlayMode.GAME_OVER:
            fouls.serve_penalties(judgement)
        elif judgement.state.held:
            judgement.hold()
        return
    if judgement.state.held:
        fouls.serve_penalties(judgement)
    fouls.judge_incapable(judgement)
    fouls.judge_areas(judgement)
    fouls.judge_crowding(judgement)
    if len(judgement.facts.contacts):
        fouls.judge_touching(judgement)
        fouls.judge_charging(judgement)
    fouls.judge_self_collisions(judgement)
    fouls.judge_pushing(judgement)
    fouls.judge_inactive(judgement)
    fouls.judge_hand_ball(judgement)


def remember(judgement: Judgement) -> None:
    """Keep what the next cycle needs of this one."""
    remember_ball(judgement)
    state = judgement.state
    samples = judgement.rules.fouls.charging.velocity_samples - 1
    state.velocities = (judgement.facts.velocity, *state.velocities)[:samples]
    if len(judgement.facts.contacts) or state.in_contact:
        state.in_contact = fouls.remember_contacts(judgement)
    if judgement.moved or judgement.toucher is not None:
        stamps = state.stamps
        moved = stamps.moved.copy()
        for player in judgement.moved:
            moved[player] = judgement.elapsed
        touched = np.where(judgement.facts.touches_ball, judgement.elapsed, stamps.touched_ball)
        state.stamps = dataclasses.replace(stamps, moved=moved, touched_ball=touched)
