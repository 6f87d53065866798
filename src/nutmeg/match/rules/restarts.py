"""How play is started again: kick-offs, kick-ins, corners, goal kicks, free kicks, drop balls.

A restart is awarded with a place; after a pause the ball is put there, opponents are kept away, own players under it
are pushed aside, and it stays until the side to kick touches it. A goal kick is taken when the ball leaves the penalty
area. If the restart is not taken in time, the ball is dropped for both sides. This is how rcssserver3d does it (numbers
in the rule book); there a touch by the side that is kept away counts, here it does not.

In the Standard Platform League of 2011 there are kick-offs only, for which the referee may put players in formation; a
ball over a line is put back at once, and play continues (`put_back`).
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.rules import play_modes
from nutmeg.match.rules.judgement import TIME_TOLERANCE, Judgement, clear_area, clear_circle, clear_half, repel, sign_of
from nutmeg.match.rules.play_modes import PlayMode, Side, side_of
from nutmeg.match.rules.state import Kick, PassWatch

if TYPE_CHECKING:
    from nutmeg.match.rules.book import Pitch
    from nutmeg.match.rules.decisions import Place


CENTRE = (0.0, 0.0)


def _award(judgement: Judgement, mode: PlayMode, place: Place) -> None:
    """Give a restart; what was watched before no longer matters."""
    judgement.forget_kick()
    judgement.state.place, judgement.state.ball_put, judgement.state.goal_kick_touched = place, False, False
    judgement.set_mode(mode)


def award_kick_in(judgement: Judgement, side: Side, out: Place) -> None:
    """A kick-in where the ball crossed a touch line, on the line."""
    pitch = judgement.rules.pitch
    line, end = pitch.width / 2 - pitch.ball_radius, pitch.length / 2 - pitch.ball_radius
    # A ball that crossed near a corner is put within the goal lines.
    x = min(max(out[0], -end), end)
    _award(judgement, play_modes.KICK_INS[side], (x, line * sign_of(out[1], side.sign)))


def award_corner_kick(judgement: Judgement, side: Side, y: float) -> None:
    """A corner kick on that half of the opponents' goal line where the ball went out."""
    pitch = judgement.rules.pitch
    # The league's server puts it half-way between the corner and the goal post, other leagues into the corner.
    far = pitch.width / 2 if judgement.rules.restarts.corner_kick == "corner" else (pitch.width + pitch.goal_width) / 4
    x = side.sign * (pitch.length / 2 - pitch.ball_radius)
    _award(judgement, play_modes.CORNER_KICKS[side], (x, (far - pitch.ball_radius) * sign_of(y, side.sign)))


def award_goal_kick(judgement: Judgement, side: Side) -> None:
    """A goal kick in front of the own goal."""
    x = judgement.rules.pitch.length / 2 - judgement.rules.restarts.goal_kick_distance
    _award(judgement, play_modes.GOAL_KICKS[side], (-side.sign * x, 0.0))


def award_free_kick(judgement: Judgement, side: Side, place: Place, *, direct: bool = False) -> None:
    """A free kick; not inside a penalty area, but at its corner."""
    _award(
        judgement,
        (play_modes.DIRECT_FREE_KICKS if direct else play_modes.FREE_KICKS)[side],
        playable(place, judgement.rules.pitch),
    )


def award_offside(judgement: Judgement, side: Side, place: Place) -> None:
    """The kick after the opponents were offside."""
    _award(judgement, play_modes.OFFSIDES[side], playable(place, judgement.rules.pitch))


def playable(place: Place, pitch: Pitch) -> Place:
    """The nearest place where a ball may be put: inside the lines, and at the corner of a penalty area, not in it."""
    end, line = pitch.length / 2 - pitch.ball_radius, pitch.width / 2 - pitch.ball_radius
    x, y = min(max(place[0], -end), end), min(max(place[1], -line), line)
    edge, half_width = pitch.length / 2 - pitch.penalty_depth, pitch.penalty_width / 2
    if abs(x) > edge and abs(y) < half_width:
        return sign_of(x, 1.0) * edge, sign_of(y, x) * half_width
    return x, y


def update_before_kick_off(judgement: Judgement) -> None:
    """Keep the ball on the centre mark and the teams in their halves; start by itself, if the rules say so."""
    if not judgement.player_count:
        return
    rules = judgement.rules.match
    judgement.put_ball(CENTRE)
    if not rules.start_anywhere:
        for side in play_modes.SIDES:
            clear_half(
                judgement, side, circle_allowed=False, circle_forbidden=False, reason="kick-off from the own half"
            )
    if rules.automatic_kick_off and judgement.state.mode_time >= rules.wait_before_kick_off - TIME_TOLERANCE:
        start_kick_off(judgement, judgement.state.starter)


def update_goal(judgement: Judgement) -> None:
    """Let the pause after a goal pass, then have the other side kick off."""
    scorer = side_of(judgement.state.mode)
    assert scorer is not None
    line_up(judgement, scorer.other)
    if judgement.state.mode_time >= judgement.rules.match.goal_pause - TIME_TOLERANCE:
        start_kick_off(judgement, scorer.other)


def start_kick_off(judgement: Judgement, side: Side) -> None:
    """Put the ball on the centre mark and let a side kick off, perhaps in formation."""
    _award(judgement, play_modes.KICK_OFFS[side], CENTRE)
    judgement.put_ball(CENTRE)
    if judgement.rules.formation.on:
        _form_up(judgement, side, judgement.rules.formation.kicking)
        _form_up(judgement, side.other, judgement.rules.formation.receiving)


def _form_up(judgement: Judgement, side: Side, places: tuple[tuple[float, float], ...]) -> None:
    """Put the players of a side to their places for a kick-off, looking at the opponents' goal."""
    pitch, heading = judgement.rules.pitch, 0.0 if side is Side.LEFT else math.pi
    for index, (x, y) in enumerate(places):
        if judgement.active[side, index]:
            place = (side.sign * x * pitch.length / 2, side.sign * y * pitch.width / 2)
            judgement.move(side, index, place, "formation for the kick-off", heading=heading)


def line_up(judgement: Judgement, side: Side) -> None:
    """Keep both teams where they belong when `side` kicks off."""
    if judgement.rules.match.start_anywhere:
        return
    clear_half(judgement, side, circle_allowed=True, circle_forbidden=False, reason="kick-off from the own half")
    clear_half(judgement, side.other, circle_allowed=False, circle_forbidden=True, reason="kick-off of the opponents")


def update_kick_off(judgement: Judgement) -> None:
    """Wait for the kick-off to be taken."""
    side = side_of(judgement.state.mode)
    assert side is not None
    line_up(judgement, side)
    if judgement.state.mode_time > judgement.rules.restarts.drop_ball_time + TIME_TOLERANCE:
        give_up(judgement, CENTRE)
    elif judgement.toucher is not None and judgement.toucher[0] is side:
        resume_play(judgement)
        # With so few players nobody could touch the ball before the taker scores.
        if not judgement.is_drill:
            judgement.state.no_score = side
    else:
        judgement.put_ball(CENTRE)


def update_restart(judgement: Judgement) -> None:
    """Wait for any other restart to be taken."""
    state, restarts = judgement.state, judgement.rules.restarts
    side = side_of(state.mode)
    assert side is not None
    if state.mode_time < restarts.pause - TIME_TOLERANCE:
        return
    _keep_away(judgement, side.other)
    if not state.ball_put:
        # The ball is put down once; players of the side that kicks must not stand where it is to lie.
        repel(judgement, side, state.place, restarts.repel_distance, restarts.repel_distance, "under the ball")
        judgement.put_ball(state.place)
        judgement.state.ball_put = True
    elif state.mode_time > restarts.drop_ball_time + TIME_TOLERANCE:
        give_up(judgement, state.place)
    elif state.mode in play_modes.GOAL_KICKS:
        _update_goal_kick(judgement, side)
    elif judgement.toucher is not None and judgement.toucher[0] is side:
        resume_play(judgement)
    else:
        judgement.put_ball(state.place)


def _keep_away(judgement: Judgement, side: Side) -> None:
    """Keep a side away from the restart of its opponents."""
    if judgement.state.mode in play_modes.GOAL_KICKS:
        clear_area(judgement, side, "goal kick of the opponents")
    else:
        clear_circle(judgement, side, judgement.state.place, "too near to the opponents' kick")


def _update_goal_kick(judgement: Judgement, side: Side) -> None:
    """A goal kick is taken when the ball has left the area."""
    # Until the first touch the ball is held on its mark; after it, play is on when the ball leaves the area.
    if judgement.toucher is not None and judgement.toucher[0] is side and not judgement.state.goal_kick_touched:
        judgement.state.goal_kick_touched = True
    if not judgement.state.goal_kick_touched:
        judgement.put_ball(judgement.state.place)
    elif not in_own_area(judgement.ball, side, judgement.rules.pitch):
        resume_play(judgement)


def in_own_area(ball: tuple[float, float, float], side: Side, pitch: Pitch) -> bool:
    """Whether a ball is in the penalty area of a side and not out of play."""
    x, y = -ball[0] * side.sign, abs(ball[1])
    return pitch.length / 2 - pitch.penalty_depth <= x <= pitch.length / 2 + pitch.ball_radius and (
        y <= pitch.penalty_width / 2
    )


def resume_play(judgement: Judgement) -> None:
    """Go to play on after a restart by the player that touched last, and watch that player."""
    mode, touch = judgement.state.mode, judgement.state.touch
    kick = None
    if touch is not None and judgement.rules.restarts.watch_taker and not judgement.is_drill:
        kick = Kick(side=touch.side, index=touch.index, stamp=touch.stamp, mode=mode)
    judgement.state.kick = kick
    judgement.set_mode(PlayMode.PLAY_ON)


def give_up(judgement: Judgement, place: Place) -> None:
    """End a restart that was not taken in time."""
    if judgement.rules.restarts.untaken == "drop":
        drop_ball(judgement, place)
    else:
        _award(judgement, PlayMode.PLAY_ON, place)


def put_back(judgement: Judgement, out: Place, *, over_end: bool) -> None:
    """Put a ball that has crossed a line at `out` back on the throw-in line, and play on."""
    rules, pitch, touch = judgement.rules.outs, judgement.rules.pitch, judgement.state.touch
    end, x = pitch.length / 2 - rules.end, out[0]
    # Over a goal line, a touch of the attackers costs the way back to the halfway line, one of the defenders nothing.
    # Over a touch line, the team that touched it last loses some way towards its own goal.
    if over_end:
        defender = Side.LEFT if out[0] < 0 else Side.RIGHT
        by_defender = touch is None or touch.side is defender
        x = -defender.sign * end if by_defender else 0.0
    elif touch is not None:
        x -= touch.side.sign * rules.back
    place = (min(max(x, -end), end), sign_of(out[1], out[0]) * (pitch.width / 2 - rules.inset))
    who = "the ball is out" if touch is None else f"out by {touch.side.word} {touch.index + 1}"
    judgement.announce("out", who, side=None if touch is None else touch.side, place=out)
    if judgement.state.mode is not PlayMode.PLAY_ON:
        judgement.set_mode(PlayMode.PLAY_ON)
    judgement.state.place = place
    judgement.forget_kick()
    room = judgement.rules.restarts.repel_distance
    for side in Side:
        repel(judgement, side, place, room, room, "under the ball")
    judgement.put_ball(place)


def drop_ball(judgement: Judgement, place: Place) -> None:
    """Put the ball down for both sides, move all players away from it, and go to play on."""
    place = playable(place, judgement.rules.pitch)
    for side in Side:
        clear_circle(judgement, side, place, "drop ball")
    _award(judgement, PlayMode.PLAY_ON, place)
    judgement.put_ball(place)
    judgement.announce("drop_ball", "drop ball", place=place)


# ----------------------------------------------------------------------------------------------------
# Pass mode: a player at a resting ball asks for a few seconds without opponents, to pass.
#
# As rcssserver3d has it since 0.7.2 (its NEWS): only in `PlayOn`, with a slow ball that no player of the team touches,
# the asking player near and no opponent near. It ends with a touch or after some seconds. Goals of the team do not
# count for a while afterwards, unless two of its players have touched the ball, one of them after it left the
# protected circle.


def judge_pass_requests(judgement: Judgement) -> None:
    """Go to pass mode if a team may have it; if both teams could, neither gets it."""
    asked = judgement.facts.wants_pass
    if not judgement.rules.pass_mode.on or judgement.state.mode is not PlayMode.PLAY_ON or not np.count_nonzero(asked):
        return
    # Both teams at the ball is a duel, in which neither deserves protection.
    granted = [side for side in Side if asked[side].any() and _may_pass(judgement, side)]
    if len(granted) == 1:
        judgement.state.pass_watch = watch_pass(judgement, granted[0])
        judgement.set_mode(play_modes.PASSES[granted[0]])


def _may_pass(judgement: Judgement, side: Side) -> bool:
    """Whether a side may have pass mode now."""
    facts, rules, watch = judgement.facts, judgement.rules.pass_mode, judgement.state.pass_watch
    # A team may not hold the ball by asking again and again.
    recently = (
        watch is not None and watch.side is side and judgement.elapsed - watch.stamp < rules.retry_wait - TIME_TOLERANCE
    )
    if recently or facts.touches_ball[side].any():
        return False
    if float(np.linalg.norm(facts.ball_velocity)) > rules.ball_speed:
        return False
    offset = facts.position[..., :2] - facts.ball[:2]
    distance = np.hypot(offset[..., 0], offset[..., 1])
    asking = facts.wants_pass[side] & judgement.active[side] & (distance[side] <= rules.ball_distance)
    opponents = facts.present[side.other] & (distance[side.other] < rules.opponent_distance)
    return bool(asking.any()) and not opponents.any()


def update_pass_mode(judgement: Judgement) -> None:
    """End pass mode with a touch or after its time; until then, keep opponents away."""
    side, rules = side_of(judgement.state.mode), judgement.rules.pass_mode
    assert side is not None
    judgement.state.pass_watch = watch_pass(judgement, side)
    if judgement.toucher is not None or judgement.state.mode_time >= rules.duration - TIME_TOLERANCE:
        judgement.set_mode(PlayMode.PLAY_ON)
        return
    nearest, ball = rules.opponent_distance, judgement.ball_place
    repel(judgement, side.other, ball, nearest, nearest + rules.opponent_margin, "pass mode of the opponents")


def watch_pass(judgement: Judgement, side: Side) -> PassWatch:
    """The conditions that a side in pass mode has to meet before it may score."""
    return PassWatch(side=side, stamp=judgement.elapsed, place=judgement.ball_place)


def update_pass_watch(judgement: Judgement) -> None:
    """See whether the team that had pass mode has passed."""
    watch = judgement.state.pass_watch
    if watch is None or watch.cleared:
        return
    if (
        judgement.elapsed - watch.stamp
        >= max(judgement.rules.pass_mode.score_wait, judgement.rules.pass_mode.retry_wait) - TIME_TOLERANCE
    ):
        judgement.state.pass_watch = None
        return
    away = math.hypot(judgement.ball[0] - watch.place[0], judgement.ball[1] - watch.place[1])
    left = watch.left_circle or away >= judgement.rules.pass_mode.opponent_distance
    first, several, cleared = watch.first, watch.several, False
    for index in (
        np.flatnonzero(judgement.facts.touches_ball[watch.side]).tolist() if judgement.toucher is not None else ()
    ):
        if first is None:
            first = index
        elif first != index or several:
            several, cleared = True, left
    if (left, first, several, cleared) != (watch.left_circle, watch.first, watch.several, False):
        watch = dataclasses.replace(watch, left_circle=left, first=first, several=several, cleared=cleared)
        judgement.state.pass_watch = watch
