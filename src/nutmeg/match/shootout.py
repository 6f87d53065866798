"""A penalty shoot-out after a draw, as an option: kicks in turns, one touch each.

The format is the one the league's server got in 2022 (gitlab.com/robocup-sim/SimSpark, issue 46 and merge request 38):
the ball lies some metres before the goal, the kicker starts behind it, the goalie must stay in its penalty area, all
others wait in the centre circle. The play modes are the usual ones: `KickOff` for the side whose kick it is, `PlayOn`
once the ball is touched, `Goal` or `BeforeKickOff` between kicks. A kick ends with a goal, a ball that is out or at
rest, a second touch by the kicker, or after its time.

Kickers take turns by number; goalies do not kick. Goals are added to the score.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.case import TINY
from nutmeg.match.clearing import own_places, own_point
from nutmeg.match.play_modes import GOALS, KICK_OFFS, PlayMode, Side
from nutmeg.match.scoring import crossing, score_goal

if TYPE_CHECKING:
    from nutmeg.match.case import Case
    from nutmeg.match.decisions import Place
    from nutmeg.match.facts import Bools
    from nutmeg.match.state import ShootOut


def judge_shoot_out(case: Case) -> None:
    """One cycle of a shoot-out."""
    mode = case.state.mode
    if mode in (PlayMode.BEFORE_KICK_OFF, *GOALS):
        _between_kicks(case)
    elif mode in KICK_OFFS:
        _wait_for_kick(case)
    elif mode is not PlayMode.GAME_OVER:
        _follow_ball(case)


def _shoot_out(case: Case) -> ShootOut:
    assert case.state.shoot_out is not None
    return case.state.shoot_out


def _ball_place(case: Case, side: Side) -> Place:
    """Where the ball of a kick lies."""
    return side.sign * (case.rules.pitch.length / 2 - case.rules.shoot_out.ball_distance), 0.0


def _between_kicks(case: Case) -> None:
    """Wait for the pause to pass, then let the next one kick."""
    shoot_out = _shoot_out(case)
    if case.state.mode_time < case.rules.match.goal_pause - TINY:
        return
    side = shoot_out.side
    players = np.flatnonzero(case.facts.present[side] & ~case.facts.goalie[side]).tolist()
    if not players:
        players = np.flatnonzero(case.facts.present[side]).tolist()
    if not players:
        if case.facts.present.any():
            _end_kick(case, f"{side.word} has nobody to kick")
        return
    kicker = players[shoot_out.kicks[side] % len(players)]
    place = _ball_place(case, side)
    start = side.sign * (case.rules.pitch.length / 2 - case.rules.shoot_out.kicker_distance)
    case.set_mode(KICK_OFFS[side], shoot_out=dataclasses.replace(shoot_out, kicker=kicker), place=place, touch=None)
    case.put_ball(place)
    case.move(side, kicker, (start, 0.0), "kicks a penalty")
    for goalie in np.flatnonzero(_goalies_outside(case, side.other)).tolist():
        line = case.rules.pitch.length / 2 - case.rules.restarts.player_radius
        case.move(side.other, goalie, (side.sign * line, 0.0), "goalie, to the goal")
    _keep_others_away(case)


def _keep_others_away(case: Case) -> None:
    """Keep those whose turn it is not in the centre circle, by number on an arc in their own half."""
    shoot_out, radius = _shoot_out(case), case.rules.pitch.circle_radius
    waiting = case.facts.present.copy()
    if shoot_out.kicker is not None:
        waiting[shoot_out.side, shoot_out.kicker] = False
    waiting[shoot_out.side.other] &= ~case.facts.goalie[shoot_out.side.other]
    distance = np.hypot(case.facts.position[..., 0], case.facts.position[..., 1])
    for s, index in np.argwhere(waiting & (distance > radius)).tolist():
        side, angle = Side(s), math.pi * (0.5 + (index + 0.5) / waiting.shape[1])
        place = own_point((0.8 * radius * math.cos(angle), 0.8 * radius * math.sin(angle)), side)
        case.move(side, index, place, "waits in the centre circle")


def _wait_for_kick(case: Case) -> None:
    """Until the ball is touched, or the time is over."""
    shoot_out = _shoot_out(case)
    _keep_others_away(case)
    if case.toucher is not None and case.toucher[0] is shoot_out.side:
        case.set_mode(PlayMode.PLAY_ON)
    elif case.state.mode_time > case.rules.shoot_out.kick_time + TINY:
        _end_kick(case, "the time for the kick is over")
    else:
        case.put_ball(case.state.place)


def _follow_ball(case: Case) -> None:
    """From the touch to the end of the kick."""
    shoot_out, rules, pitch = _shoot_out(case), case.rules.shoot_out, case.rules.pitch
    side = shoot_out.side
    _keep_others_away(case)
    line = pitch.length / 2 + pitch.ball_radius
    x, y, _ = case.ball
    if not x * side.sign < line:
        _, cross_y, cross_z = crossing(case, 0, line)
        if abs(cross_y) < pitch.goal_width / 2 and cross_z < pitch.goal_height:
            _score(case, side)
        else:
            _end_kick(case, "missed")
    elif _goalies_outside(case, side.other).any():
        _score(case, side)
    elif not (abs(x) < line and abs(y) < pitch.width / 2 + pitch.ball_radius):
        _end_kick(case, "missed")
    elif case.toucher == (side, shoot_out.kicker) and case.state.mode_time >= case.rules.restarts.kick_duration - TINY:
        _end_kick(case, "the kicker touched the ball twice")
    elif case.state.mode_time > rules.kick_time + TINY:
        _end_kick(case, "the time for the kick is over")
    elif case.state.mode_time > 1.0 and float(np.linalg.norm(case.facts.ball_velocity)) < rules.still_ball_speed:
        _end_kick(case, "the ball lies still")


def _goalies_outside(case: Case, side: Side) -> Bools:
    """(11,) goalies who are not in their penalty area; to leave it during a kick is a goal for the kicker."""
    pitch, own = case.rules.pitch, own_places(case, side)
    outside = (own[:, 0] > -pitch.length / 2 + pitch.penalty_depth) | (np.abs(own[:, 1]) > pitch.penalty_width / 2)
    goalies: Bools = outside & case.facts.goalie[side] & case.facts.present[side]
    return goalies


def _score(case: Case, side: Side) -> None:
    left, right = _shoot_out(case).goals
    goals = (left + 1, right) if side is Side.LEFT else (left, right + 1)
    case.change(shoot_out=dataclasses.replace(_shoot_out(case), goals=goals))
    score_goal(case, side)
    _next_kick(case)


def _end_kick(case: Case, why: str) -> None:
    """End a kick without a goal."""
    case.tell("shoot_out", f"no goal for {_shoot_out(case).side.word}: {why}", side=_shoot_out(case).side)
    case.set_mode(PlayMode.BEFORE_KICK_OFF)
    _next_kick(case)


def _next_kick(case: Case) -> None:
    """Pass the turn to the other side, or end the match."""
    shoot_out, rules = _shoot_out(case), case.rules.shoot_out
    left, right = shoot_out.kicks
    kicks = (left + 1, right) if shoot_out.side is Side.LEFT else (left, right + 1)
    case.change(shoot_out=dataclasses.replace(shoot_out, side=shoot_out.side.other, kicks=kicks, kicker=None))
    decided = min(kicks) >= rules.rounds and shoot_out.goals[0] != shoot_out.goals[1]
    if kicks[0] == kicks[1] and (decided or kicks[0] >= rules.most_rounds):
        case.tell("half", f"the shoot-out is over: {shoot_out.goals[0]}:{shoot_out.goals[1]}")
        case.set_mode(PlayMode.GAME_OVER)
