"""How play is started again: kick-offs, kick-ins, corners, goal kicks, free kicks, drop balls.

A restart is awarded with a place; after a pause the ball is put there, opponents are kept away, own players under it
are pushed aside, and it stays until the side to kick touches it. A goal kick is taken when the ball leaves the penalty
area. Nobody kicks for too long: the ball is dropped, for everybody. This is how rcssserver3d does it (numbers in the
rule book); a touch by the side that is kept away does not count here, there it does.

In the Standard Platform League of 2011 there are kick-offs only, for which the referee may put players in formation; a
ball over a line is put back at once, and play goes on (`put_back`).
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.rules.judgement import TIME_TOLERANCE, Judgement, clear_area, clear_circle, clear_half, repel, sign_of
from nutmeg.match.rules.play_modes import (
    CORNER_KICKS,
    DIRECT_FREE_KICKS,
    FREE_KICKS,
    GOAL_KICKS,
    KICK_INS,
    KICK_OFFS,
    OFFSIDES,
    PASSES,
    PlayMode,
    Side,
    side_of,
)
from nutmeg.match.rules.state import Kick, PassWatch

if TYPE_CHECKING:
    from nutmeg.match.rules.book import Pitch
    from nutmeg.match.rules.decisions import Place


CENTRE = (0.0, 0.0)


def award(case: Judgement, mode: PlayMode, place: Place) -> None:
    """Give a restart; what was watched before no longer matters."""
    case.set_mode(
        mode,
        place=place,
        ball_put=False,
        goal_kick_touched=False,
        kick=None,
        no_score=None,
        pass_watch=None,
        in_offside=None,
    )


def award_kick_in(case: Judgement, side: Side, out: Place) -> None:
    """A kick-in where the ball crossed a touch line, on the line."""
    pitch = case.rules.pitch
    line, end = pitch.width / 2 - pitch.ball_radius, pitch.length / 2 - pitch.ball_radius
    x = min(max(out[0], -end), end)
    award(case, KICK_INS[side], (x, line * sign_of(out[1], side.sign)))


def award_corner_kick(case: Judgement, side: Side, y: float) -> None:
    """A corner kick on that half of the opponents' goal line where the ball went out."""
    pitch = case.rules.pitch
    far = pitch.width / 2 if case.rules.restarts.corner_kick == "corner" else (pitch.width + pitch.goal_width) / 4
    x = side.sign * (pitch.length / 2 - pitch.ball_radius)
    award(case, CORNER_KICKS[side], (x, (far - pitch.ball_radius) * sign_of(y, side.sign)))


def award_goal_kick(case: Judgement, side: Side) -> None:
    """A goal kick in front of the own goal."""
    x = case.rules.pitch.length / 2 - case.rules.restarts.goal_kick_distance
    award(case, GOAL_KICKS[side], (-side.sign * x, 0.0))


def award_free_kick(case: Judgement, side: Side, place: Place, *, direct: bool = False) -> None:
    """A free kick; not inside a penalty area, but at its corner."""
    award(case, (DIRECT_FREE_KICKS if direct else FREE_KICKS)[side], playable(place, case.rules.pitch))


def award_offside(case: Judgement, side: Side, place: Place) -> None:
    """The kick after the opponents were offside."""
    award(case, OFFSIDES[side], playable(place, case.rules.pitch))


def playable(place: Place, pitch: Pitch) -> Place:
    """The nearest place where a ball may be put: inside the lines, and at the corner of a penalty area, not in it."""
    end, line = pitch.length / 2 - pitch.ball_radius, pitch.width / 2 - pitch.ball_radius
    x, y = min(max(place[0], -end), end), min(max(place[1], -line), line)
    edge, half_width = pitch.length / 2 - pitch.penalty_depth, pitch.penalty_width / 2
    if abs(x) > edge and abs(y) < half_width:
        return sign_of(x, 1.0) * edge, sign_of(y, x) * half_width
    return x, y


def update_before_kick_off(case: Judgement) -> None:
    """Keep the ball on the centre mark and the teams in their halves; start by itself, if the rules say so."""
    if not case.facts.present.any():
        return
    rules = case.rules.match
    case.put_ball(CENTRE)
    if not rules.start_anywhere:
        for side in Side:
            clear_half(case, side, circle_allowed=False, circle_forbidden=False, reason="kick-off from the own half")
    if rules.automatic_kick_off and case.state.mode_time >= rules.wait_before_kick_off - TIME_TOLERANCE:
        start_kick_off(case, case.state.starter)


def update_goal(case: Judgement) -> None:
    """Let the pause after a goal pass, then have the other side kick off."""
    scorer = side_of(case.state.mode)
    assert scorer is not None
    line_up(case, scorer.other)
    if case.state.mode_time >= case.rules.match.goal_pause - TIME_TOLERANCE:
        start_kick_off(case, scorer.other)


def start_kick_off(case: Judgement, side: Side) -> None:
    """Put the ball on the centre mark and let a side kick off, perhaps in formation."""
    award(case, KICK_OFFS[side], CENTRE)
    case.put_ball(CENTRE)
    if case.rules.formation.on:
        form_up(case, side, case.rules.formation.kicking)
        form_up(case, side.other, case.rules.formation.receiving)


def form_up(case: Judgement, side: Side, places: tuple[tuple[float, float], ...]) -> None:
    """Put the players of a side to their places for a kick-off, looking at the opponents' goal."""
    pitch, heading = case.rules.pitch, 0.0 if side is Side.LEFT else math.pi
    for index, (x, y) in enumerate(places):
        if case.active[side, index]:
            place = (side.sign * x * pitch.length / 2, side.sign * y * pitch.width / 2)
            case.move(side, index, place, "formation for the kick-off", heading=heading)


def line_up(case: Judgement, side: Side) -> None:
    """Keep both teams where they belong when `side` kicks off."""
    if case.rules.match.start_anywhere:
        return
    clear_half(case, side, circle_allowed=True, circle_forbidden=False, reason="kick-off from the own half")
    clear_half(case, side.other, circle_allowed=False, circle_forbidden=True, reason="kick-off of the opponents")


def update_kick_off(case: Judgement) -> None:
    """Wait for the kick-off to be taken."""
    side = side_of(case.state.mode)
    assert side is not None
    line_up(case, side)
    if case.state.mode_time > case.rules.restarts.drop_ball_time + TIME_TOLERANCE:
        give_up(case, CENTRE)
    elif case.toucher is not None and case.toucher[0] is side:
        taken(case)
        if not case.is_drill:
            case.change(no_score=side)
    else:
        case.put_ball(CENTRE)


def update_restart(case: Judgement) -> None:
    """Wait for any other restart to be taken."""
    state, restarts = case.state, case.rules.restarts
    side = side_of(state.mode)
    assert side is not None
    if state.mode_time < restarts.pause - TIME_TOLERANCE:
        return
    keep_away(case, side.other)
    if not state.ball_put:
        repel(case, side, state.place, restarts.repel_distance, restarts.repel_distance, "under the ball")
        case.put_ball(state.place)
        case.change(ball_put=True)
    elif state.mode_time > restarts.drop_ball_time + TIME_TOLERANCE:
        give_up(case, state.place)
    elif state.mode in GOAL_KICKS:
        _update_goal_kick(case, side)
    elif case.toucher is not None and case.toucher[0] is side:
        taken(case)
    else:
        case.put_ball(state.place)


def keep_away(case: Judgement, side: Side) -> None:
    """Keep a side away from the restart of its opponents."""
    if case.state.mode in GOAL_KICKS:
        clear_area(case, side, "goal kick of the opponents")
    else:
        clear_circle(case, side, case.state.place, "too near to the opponents' kick")


def _update_goal_kick(case: Judgement, side: Side) -> None:
    """A goal kick is taken when the ball has left the area."""
    if case.toucher is not None and case.toucher[0] is side and not case.state.goal_kick_touched:
        case.change(goal_kick_touched=True)
    if not case.state.goal_kick_touched:
        case.put_ball(case.state.place)
    elif not in_own_area(case.ball, side, case.rules.pitch):
        taken(case)


def in_own_area(ball: tuple[float, float, float], side: Side, pitch: Pitch) -> bool:
    """Whether a ball is in the penalty area of a side and not out of play."""
    x, y = -ball[0] * side.sign, abs(ball[1])
    return pitch.length / 2 - pitch.penalty_depth <= x <= pitch.length / 2 + pitch.ball_radius and (
        y <= pitch.penalty_width / 2
    )


def taken(case: Judgement) -> None:
    """Play on after a restart by the player who touched last, and watch that player."""
    mode, touch = case.state.mode, case.state.touch
    kick = None
    if touch is not None and case.rules.restarts.watch_taker and not case.is_drill:
        kick = Kick(side=touch.side, index=touch.index, stamp=touch.stamp, mode=mode)
    case.set_mode(PlayMode.PLAY_ON, kick=kick)


def give_up(case: Judgement, place: Place) -> None:
    """End a restart that nobody has taken."""
    if case.rules.restarts.untaken == "drop":
        drop_ball(case, place)
    else:
        award(case, PlayMode.PLAY_ON, place)


def put_back(case: Judgement, out: Place, *, over_end: bool) -> None:
    """Put a ball that has crossed a line at `out` back on the throw-in line, and play on."""
    rules, pitch, touch = case.rules.outs, case.rules.pitch, case.state.touch
    end, x = pitch.length / 2 - rules.end, out[0]
    if over_end:
        defender = Side.LEFT if out[0] < 0 else Side.RIGHT
        by_defender = touch is None or touch.side is defender
        x = -defender.sign * end if by_defender else 0.0
    elif touch is not None:
        x -= touch.side.sign * rules.back
    place = (min(max(x, -end), end), sign_of(out[1], out[0]) * (pitch.width / 2 - rules.inset))
    who = "the ball is out" if touch is None else f"out by {touch.side.word} {touch.index + 1}"
    case.tell("out", who, side=None if touch is None else touch.side, place=out)
    if case.state.mode is not PlayMode.PLAY_ON:
        case.set_mode(PlayMode.PLAY_ON)
    case.change(place=place, kick=None, no_score=None, pass_watch=None, in_offside=None)
    room = case.rules.restarts.repel_distance
    for side in Side:
        repel(case, side, place, room, room, "under the ball")
    case.put_ball(place)


def drop_ball(case: Judgement, place: Place) -> None:
    """Put the ball down for everybody, move all players away from it, and play on."""
    place = playable(place, case.rules.pitch)
    for side in Side:
        clear_circle(case, side, place, "drop ball")
    award(case, PlayMode.PLAY_ON, place)
    case.put_ball(place)
    case.tell("drop_ball", "drop ball", place=place)


# ----------------------------------------------------------------------------------------------------
# Pass mode: a player at a resting ball asks for a few seconds without opponents, to pass.
#
# As rcssserver3d has it since 0.7.2 (its NEWS): only in `PlayOn`, with a slow ball that nobody of the team touches,
# the asking player near and no opponent near. It ends with a touch or after some seconds. Goals of the team do not
# count for a while afterwards, unless two of its players have touched the ball, one of them after it left the
# protected circle.


def judge_pass_requests(case: Judgement) -> None:
    """Go to pass mode if somebody may have it; if both teams could, neither gets it."""
    asked = case.facts.wants_pass
    if not case.rules.pass_mode.on or case.state.mode is not PlayMode.PLAY_ON or not asked.any():
        return
    granted = [side for side in Side if asked[side].any() and _may_pass(case, side)]
    if len(granted) == 1:
        case.set_mode(PASSES[granted[0]], pass_watch=_watch(case, granted[0]))


def _may_pass(case: Judgement, side: Side) -> bool:
    """Whether a side may have pass mode now."""
    facts, rules, watch = case.facts, case.rules.pass_mode, case.state.pass_watch
    recently = (
        watch is not None and watch.side is side and case.elapsed - watch.stamp < rules.retry_wait - TIME_TOLERANCE
    )
    if recently or facts.touches_ball[side].any():
        return False
    if float(np.linalg.norm(facts.ball_velocity)) > rules.ball_speed:
        return False
    offset = facts.position[..., :2] - facts.ball[:2]
    distance = np.hypot(offset[..., 0], offset[..., 1])
    asking = facts.wants_pass[side] & case.active[side] & (distance[side] <= rules.ball_distance)
    opponents = facts.present[side.other] & (distance[side.other] < rules.opponent_distance)
    return bool(asking.any()) and not opponents.any()


def update_pass_mode(case: Judgement) -> None:
    """End pass mode with a touch or after its time; until then, keep opponents away."""
    side, rules = side_of(case.state.mode), case.rules.pass_mode
    assert side is not None
    case.change(pass_watch=_watch(case, side))
    if case.toucher is not None or case.state.mode_time >= rules.duration - TIME_TOLERANCE:
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


def _watch(case: Judgement, side: Side) -> PassWatch:
    return PassWatch(side=side, stamp=case.elapsed, place=(case.ball[0], case.ball[1]))


def update_pass_watch(case: Judgement) -> None:
    """See whether the team that had pass mode has passed."""
    watch = case.state.pass_watch
    if watch is None or watch.cleared:
        return
    if (
        case.elapsed - watch.stamp
        >= max(case.rules.pass_mode.score_wait, case.rules.pass_mode.retry_wait) - TIME_TOLERANCE
    ):
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
