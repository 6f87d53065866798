"""A penalty shoot-out after a draw, as an option: kicks in turns.

The format is the one the league's server got in 2022 (gitlab.com/robocup-sim/SimSpark, issue 46 and merge request 38):
the ball lies some metres before the goal, the kicker starts behind it, the goalie must stay in its penalty area, all
others wait in the centre circle. The play modes are the usual ones: `KickOff` for the side whose kick it is, `PlayOn`
once the ball is touched, `Goal` or `BeforeKickOff` between kicks. A kick ends with a goal, a ball that is out or at
rest, a second touch by the kicker, or after its time.

The Standard Platform League's format is another setting of the same: the ball lies on the penalty mark, the kicker
starts in the middle of the pitch and may dribble, but not touch the ball in the penalty area; the goalie starts on its
line and must not touch the ball outside of the area; all others are beside the pitch.

Kickers take turns by number; goalies do not kick. Goals are added to the score.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.rules.judgement import TIME_TOLERANCE, own_places, own_point
from nutmeg.match.rules.play_modes import GOALS, KICK_OFFS, PlayMode, Side
from nutmeg.match.rules.restarts import in_own_area
from nutmeg.match.rules.scoring import crossing, score_goal

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools
    from nutmeg.match.rules.decisions import Place
    from nutmeg.match.rules.judgement import Judgement
    from nutmeg.match.rules.state import ShootOut


def judge_shoot_out(judgement: Judgement) -> None:
    """One cycle of a shoot-out."""
    mode = judgement.state.mode
    if mode in (PlayMode.BEFORE_KICK_OFF, *GOALS):
        _between_kicks(judgement)
    elif mode in KICK_OFFS:
        _wait_for_kick(judgement)
    elif mode is not PlayMode.GAME_OVER:
        _follow_ball(judgement)


def _shoot_out(judgement: Judgement) -> ShootOut:
    assert judgement.state.shoot_out is not None
    return judgement.state.shoot_out


def _ball_place(judgement: Judgement, side: Side) -> Place:
    """Where the ball of a kick lies."""
    distance = judgement.rules.shoot_out.ball_distance
    distance = judgement.rules.pitch.penalty_mark if distance == "mark" else distance
    return side.sign * (judgement.rules.pitch.length / 2 - distance), 0.0


def _kicker_place(judgement: Judgement, side: Side) -> Place:
    """Where the kicker starts."""
    distance = judgement.rules.shoot_out.kicker_distance
    return (0.0 if distance == "centre" else side.sign * (judgement.rules.pitch.length / 2 - distance)), 0.0


def _between_kicks(judgement: Judgement) -> None:
    """Wait for the pause to pass, then let the next one kick."""
    shoot_out = _shoot_out(judgement)
    if judgement.state.mode_time < judgement.rules.match.goal_pause - TIME_TOLERANCE:
        return
    side = shoot_out.side
    # Goalies kick only if their team has nobody else.
    players = np.flatnonzero(judgement.facts.present[side] & ~judgement.facts.goalie[side]).tolist()
    if not players:
        players = np.flatnonzero(judgement.facts.present[side]).tolist()
    if not players:
        if np.count_nonzero(judgement.facts.present):
            _end_kick(judgement, f"{side.word} has no player to kick")
        return
    kicker = players[shoot_out.kicks[side] % len(players)]
    place = _ball_place(judgement, side)
    judgement.state.shoot_out, judgement.state.place, judgement.state.touch = (
        dataclasses.replace(shoot_out, kicker=kicker),
        place,
        None,
    )
    judgement.set_mode(KICK_OFFS[side])
    judgement.put_ball(place)
    ahead = 0.0 if side is Side.LEFT else math.pi
    # Where all others wait in the circle, players keep the direction in which they stand.
    turn = None if judgement.rules.shoot_out.others == "circle" else ahead
    judgement.move(side, kicker, _kicker_place(judgement, side), "kicks a penalty", heading=turn)
    _send_goalies_home(judgement, side.other, None if turn is None else math.pi - ahead)
    _keep_others_away(judgement)


def _send_goalies_home(judgement: Judgement, side: Side, heading: float | None) -> None:
    """Put goalies that have left their area in the goal; with all others gone, on the goal line in any case."""
    pitch, beside = judgement.rules.pitch, judgement.rules.shoot_out.others == "outside"
    line = pitch.length / 2 - (0.0 if beside else judgement.rules.restarts.player_radius)
    found = (
        judgement.facts.goalie[side] & judgement.facts.present[side] if beside else _goalies_outside(judgement, side)
    )
    for goalie in np.flatnonzero(found).tolist():
        judgement.move(side, goalie, (-side.sign * line, 0.0), "goalie, to the goal", heading=heading)


def _keep_others_away(judgement: Judgement) -> None:
    """Keep those whose turn it is not away: in the centre circle on an arc in their own half, or beside the pitch."""
    shoot_out, pitch = _shoot_out(judgement), judgement.rules.pitch
    waiting = judgement.facts.present.copy()
    if shoot_out.kicker is not None:
        waiting[shoot_out.side, shoot_out.kicker] = False
    waiting[shoot_out.side.other] &= ~judgement.facts.goalie[shoot_out.side.other]
    x, y = judgement.facts.position[..., 0], judgement.facts.position[..., 1]
    if judgement.rules.shoot_out.others == "circle":
        for s, index in np.argwhere(waiting & (np.hypot(x, y) > pitch.circle_radius)).tolist():
            # Each number has its place on the arc, so that nobody is put onto another.
            angle, radius = math.pi * (0.5 + (index + 0.5) / waiting.shape[1]), 0.8 * pitch.circle_radius
            place = own_point((radius * math.cos(angle), radius * math.sin(angle)), Side(s))
            judgement.move(Side(s), index, place, "waits in the centre circle")
        return
    rules, line = judgement.rules.fouls, pitch.width / 2
    for s, index in np.argwhere(waiting & (np.abs(y) < line + rules.outside_distance / 2)).tolist():
        place = own_point((-rules.outside_spacing * (6 - index), line + rules.outside_distance), Side(s))
        judgement.move(Side(s), index, place, "waits beside the pitch")


def _wait_for_kick(judgement: Judgement) -> None:
    """Until the ball is touched, or the time is over."""
    shoot_out = _shoot_out(judgement)
    _keep_others_away(judgement)
    if judgement.toucher is not None and judgement.toucher[0] is shoot_out.side:
        judgement.set_mode(PlayMode.PLAY_ON)
    elif judgement.state.mode_time > judgement.rules.shoot_out.kick_time + TIME_TOLERANCE:
        _end_kick(judgement, "the time for the kick is over")
    else:
        judgement.put_ball(judgement.state.place)


def _follow_ball(judgement: Judgement) -> None:
    """Follow the ball from the touch to the end of the kick."""
    shoot_out, rules, pitch = _shoot_out(judgement), judgement.rules.shoot_out, judgement.rules.pitch
    side = shoot_out.side
    _keep_others_away(judgement)
    line = pitch.length / 2 + pitch.ball_radius
    x, y, _ = judgement.ball
    # The goal is judged first: a goalie that leaves its area after the ball is in changes nothing. The comparison is
    # also true of nan.
    if not x * side.sign < line:
        _, cross_y, cross_z = crossing(judgement, 0, line)
        if abs(cross_y) < pitch.goal_width / 2 and cross_z < pitch.goal_height:
            _score(judgement, side)
        else:
            _end_kick(judgement, "missed")
    elif _goalie_offends(judgement, side.other):
        _score(judgement, side)
    elif not (abs(x) < line and abs(y) < pitch.width / 2 + pitch.ball_radius):
        _end_kick(judgement, "missed")
    elif (why := _kicker_offends(judgement, side)) is not None:
        _end_kick(judgement, why)
    elif judgement.state.mode_time > rules.kick_time + TIME_TOLERANCE:
        _end_kick(judgement, "the time for the kick is over")
    elif (
        # For the first second the ball may only be starting to roll.
        judgement.state.mode_time > 1.0
        and float(np.linalg.norm(judgement.facts.ball_velocity)) < rules.still_ball_speed
    ):
        _end_kick(judgement, "the ball lies still")


def _kicker_offends(judgement: Judgement, side: Side) -> str | None:
    """The offence of the kicker in this cycle, if any."""
    if judgement.toucher != (side, _shoot_out(judgement).kicker):
        return None
    if judgement.rules.shoot_out.kicker_touches == "once":
        again = judgement.state.mode_time >= judgement.rules.restarts.kick_duration - TIME_TOLERANCE
        return "the kicker touched the ball twice" if again else None
    return (
        "the kicker touched the ball in the area"
        if in_own_area(judgement.ball, side.other, judgement.rules.pitch)
        else None
    )


def _goalie_offends(judgement: Judgement, side: Side) -> bool:
    """Whether the goalie has done what gives the kicker a goal."""
    if judgement.rules.shoot_out.goalie_stays:
        return bool(_goalies_outside(judgement, side).any())
    touched = (judgement.facts.touches_ball[side] & judgement.facts.goalie[side]).any()
    return bool(touched) and not in_own_area(judgement.ball, side, judgement.rules.pitch)


def _goalies_outside(judgement: Judgement, side: Side) -> Bools:
    """(11,) goalies outside their penalty area; leaving it during a kick is a goal for the kicker."""
    pitch, own = judgement.rules.pitch, own_places(judgement, side)
    outside = (own[:, 0] > -pitch.length / 2 + pitch.penalty_depth) | (np.abs(own[:, 1]) > pitch.penalty_width / 2)
    goalies: Bools = outside & judgement.facts.goalie[side] & judgement.facts.present[side]
    return goalies


def _score(judgement: Judgement, side: Side) -> None:
    left, right = _shoot_out(judgement).goals
    goals = (left + 1, right) if side is Side.LEFT else (left, right + 1)
    judgement.state.shoot_out = dataclasses.replace(_shoot_out(judgement), goals=goals)
    score_goal(judgement, side)
    _next_kick(judgement)


def _end_kick(judgement: Judgement, why: str) -> None:
    """End a kick without a goal."""
    judgement.announce(
        "shoot_out", f"no goal for {_shoot_out(judgement).side.word}: {why}", side=_shoot_out(judgement).side
    )
    judgement.set_mode(PlayMode.BEFORE_KICK_OFF)
    _next_kick(judgement)


def _next_kick(judgement: Judgement) -> None:
    """Pass the turn to the other side, or end the match."""
    shoot_out, rules = _shoot_out(judgement), judgement.rules.shoot_out
    left, right = shoot_out.kicks
    kicks = (left + 1, right) if shoot_out.side is Side.LEFT else (left, right + 1)
    judgement.state.shoot_out = dataclasses.replace(shoot_out, side=shoot_out.side.other, kicks=kicks, kicker=None)
    # After the regular rounds a difference decides, as soon as both sides have kicked equally often.
    decided = min(kicks) >= rules.rounds and shoot_out.goals[0] != shoot_out.goals[1]
    if kicks[0] == kicks[1] and (decided or kicks[0] >= rules.most_rounds):
        judgement.announce("half", f"the shoot-out is over: {shoot_out.goals[0]}:{shoot_out.goals[1]}")
        judgement.set_mode(PlayMode.GAME_OVER)
