"""Fouls that can be seen from where players are: incapable, illegal defence and attack, crowding, self-collision.

Called in rcssserver3d's way (numbers in the rule book). Goalies are never called for crowding or for being in an area.
Of several players to blame, the farthest from the own goal (areas) or from the ball is: the server draws lots.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.case import TINY, sign_of
from nutmeg.match.clearing import own_places, own_point
from nutmeg.match.decisions import LIMBS, FreezeLimbs
from nutmeg.match.foul_rules import AreaRules, Foul
from nutmeg.match.penalties import penalise
from nutmeg.match.play_modes import KICK_OFFS, Side
from nutmeg.match.state import DownTimes

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools
    from nutmeg.match.case import Case
    from nutmeg.match.decisions import Place

OWN, THEIRS = 0, 1
"""Which penalty area: first index of `MatchState.in_areas`."""


def judge_incapable(case: Case) -> None:
    """Count how long players lie or sit, tell of falls, and send out who does for too long."""
    rules, facts = case.rules.fouls.incapable, case.facts
    height = facts.position[..., 2]
    low = (height < rules.not_standing_height) & case.active
    if case.state.down is None and not low.any():
        return
    before = case.state.down
    if before is None:
        zero, nobody = np.zeros(low.shape), np.zeros(low.shape, bool)
        before = DownTimes(not_standing=zero, ground=zero, standing=zero, low=nobody, counted=nobody, lying=nobody)
    down = _count_down_times(case, before, low)
    for side, index in np.argwhere((down.ground > 0) & (before.ground == 0)).tolist():
        place = (float(facts.position[side, index, 0]), float(facts.position[side, index, 1]))
        case.tell("fall", f"{Side(side).word} {index + 1} fell", side=Side(side), index=index, place=place)
    longest = float(down.not_standing.max()), float(down.ground.max())
    if rules.on and (longest[0] > rules.not_standing_time + TINY or longest[1] > rules.ground_time + TINY):
        down = _call_incapable(case, down)
    case.change(down=down if max(longest) > 0 or low.any() else None)


def _call_incapable(case: Case, down: DownTimes) -> DownTimes:
    """Send out who has been down for too long; the times of the others."""
    rules, goalie = case.rules.fouls.incapable, case.facts.goalie
    offends = (down.ground > np.where(goalie, rules.goalie_ground_time, rules.ground_time) + TINY) | (
        down.not_standing > np.where(goalie, rules.goalie_not_standing_time, rules.not_standing_time) + TINY
    )
    offends &= case.active
    for side, index in np.argwhere(offends).tolist():
        penalise(case, Side(side), index, Foul.INCAPABLE, "has been down for too long", to=None)
    kept = ~offends
    return DownTimes(
        not_standing=down.not_standing * kept,
        ground=down.ground * kept,
        standing=down.standing * kept,
        low=down.low & kept,
        counted=down.counted & kept,
        lying=down.lying & kept,
    )


def _count_down_times(case: Case, before: DownTimes, low: Bools) -> DownTimes:
    """The times one cycle later; beside the pitch nothing is counted, standing for a while ends it.

    In the part of a long time step that the facts do not speak of, everybody went on as before.
    """
    rules, facts = case.rules.fouls.incapable, case.facts
    earlier = facts.time_step - case.cycle
    if earlier > TINY:
        before = _down_for(before, earlier, (before.low, before.counted, before.lying), rules.stood_up_time)
    counted = low & (np.abs(facts.position[..., 1]) < case.rules.pitch.width / 2 + rules.margin)
    lying = counted & (facts.position[..., 2] < rules.ground_height)
    return _down_for(before, case.cycle, (low, counted, lying), rules.stood_up_time)


def _down_for(before: DownTimes, step: float, who: tuple[Bools, Bools, Bools], stood_up_time: float) -> DownTimes:
    """The times after a step, by who was low, whose time not standing counts, and whose time on the ground does."""
    low, counted, lying = who
    standing = np.where(low, 0.0, before.standing + step)
    stood_up = ~low & (standing > stood_up_time + TINY)
    not_standing = np.where(stood_up, 0.0, before.not_standing + step * counted)
    ground = np.where(low, before.ground + step * lying, 0.0)
    return DownTimes(not_standing=not_standing, ground=ground, standing=standing, low=low, counted=counted, lying=lying)


def judge_areas(case: Case) -> None:
    """Call who is one too many in a penalty area: who came last."""
    if not (case.rules.fouls.illegal_defence.on or case.rules.fouls.illegal_attack.on):
        return
    inside = areas(case)
    if inside is case.state.in_areas:
        return
    before = case.state.in_areas
    fouls = case.rules.fouls
    for which, rules in ((OWN, fouls.illegal_defence), (THEIRS, fouls.illegal_attack)):
        if rules.on:
            for side in Side:
                if np.count_nonzero(inside[which, side]) > rules.most:
                    _judge_area(case, which, side, rules, inside[which, side], before[which, side])
    case.change(in_areas=inside)


def areas(case: Case) -> Bools:
    """(2, 2, 11) who is in the own penalty area and who in the opponents'; the old array if nothing has changed."""
    pitch, position = case.rules.pitch, case.facts.position
    x = position[..., 0]
    edge = pitch.length / 2 - pitch.penalty_depth
    deep = (np.abs(x) > edge) & (np.abs(position[..., 1]) < pitch.penalty_width / 2) & (np.abs(x) <= pitch.length / 2)
    deep &= case.active
    if not deep.any():
        return _none_inside(case)
    left = deep & (x < 0)
    right = deep & (x > 0)
    inside = np.stack([np.stack([left[0], right[1]]), np.stack([right[0], left[1]])])
    return case.state.in_areas if np.array_equal(inside, case.state.in_areas) else inside


def _none_inside(case: Case) -> Bools:
    before = case.state.in_areas
    return np.zeros_like(before) if before.any() else before


def _judge_area(case: Case, which: int, side: Side, rules: AreaRules, inside: Bools, before: Bools) -> None:
    """Send away as many as there are too many: first who just came, then who is farthest from the own goal."""
    own, pitch = own_places(case, side), case.rules.pitch
    distance = np.hypot(own[:, 0] + pitch.length / 2, own[:, 1])
    field_players = np.flatnonzero(inside & ~case.facts.goalie[side]).tolist()
    field_players.sort(key=lambda i: (bool(before[i]), -float(distance[i]), i))
    foul = Foul.ILLEGAL_DEFENCE if which == OWN else Foul.ILLEGAL_ATTACK
    whose = "the own" if which == OWN else "the opponents'"
    for index in field_players[: int(np.count_nonzero(inside)) - rules.most]:
        to = None if rules.sent_outside else _edge_of_area(case, which, own[index].tolist())
        penalise(case, side, index, foul, f"is one too many in {whose} area", to=to)
        inside[index] = False


def _edge_of_area(case: Case, which: int, place: list[float]) -> Place:
    """The nearest place outside an area, in own coordinates, not behind the goal line."""
    pitch, radius = case.rules.pitch, case.rules.restarts.player_radius
    x, y = place
    end = -1.0 if which == OWN else 1.0
    edge, half_width = pitch.length / 2 - pitch.penalty_depth - radius, pitch.penalty_width / 2 + radius
    if half_width - abs(y) < abs(x) - edge:
        return x, half_width * sign_of(y, -1.0)
    return end * edge, y


def judge_crowding(case: Case) -> None:
    """Call the second and third nearest of a team when they are too near to a ball that an opponent is near to."""
    rules = case.rules.fouls.crowding
    if not rules.on:
        return
    offset = case.facts.position[..., :2] - case.facts.ball[:2]
    distance = np.where(case.active, np.hypot(offset[..., 0], offset[..., 1]), np.inf)
    nearest = distance.min(axis=1)
    for side in Side:
        if nearest[side.other] >= rules.opponent_distance or case.state.mode is KICK_OFFS[side]:
            continue
        order = np.argsort(distance[side], kind="stable")
        for rank, limit in ((1, rules.second_distance), (2, rules.third_distance)):
            index = int(order[rank])
            if distance[side, index] <= limit and not case.facts.goalie[side, index]:
                to = None if rules.sent_outside else _away_from_ball(case, side, index, limit)
                penalise(case, side, index, Foul.CROWDING, "crowds the ball", to=to)


def _away_from_ball(case: Case, side: Side, index: int, distance: float) -> Place:
    """A place at a distance from the ball, straight away from it, in own coordinates."""
    x, y = own_places(case, side)[index].tolist()
    ball_x, ball_y = own_point((case.ball[0], case.ball[1]), side)
    gap = float(np.hypot(x - ball_x, y - ball_y))
    reach = distance + case.rules.restarts.player_radius
    if gap < 1e-9:
        return ball_x - reach, ball_y
    return ball_x + (x - ball_x) / gap * reach, ball_y + (y - ball_y) / gap * reach


def judge_self_collisions(case: Case) -> None:
    """Take the drive from limbs that are inside another part of their robot, or send the player out."""
    rules, found = case.rules.fouls.self_collision, case.facts.self_collision
    if not rules.on or not found.any():
        return
    frozen = case.state.stamps.frozen
    wait = rules.freeze_time + rules.thaw_time if rules.penalty == "freeze" else rules.outside_cooldown
    due = found & (case.elapsed - frozen > wait - TINY) & case.active[..., None]
    if not due.any():
        return
    case.change(stamps=dataclasses.replace(case.state.stamps, frozen=np.where(due, case.elapsed, frozen)))
    for s, index in np.argwhere(due.any(axis=2)).tolist():
        side, limbs = Side(s), tuple(LIMBS[i] for i in np.flatnonzero(due[s, index]).tolist())
        text = f"collides with itself ({', '.join(limbs)})"
        if rules.penalty == "outside":
            penalise(case, side, index, Foul.SELF_COLLISION, text, to=None)
            continue
        x, y = case.facts.position[s, index, :2].tolist()
        case.change(fouls=case.state.fouls + 1)
        title = f"{Foul.SELF_COLLISION.title}: {side.word} {index + 1} {text}"
        case.tell("foul", title, side=side, index=index, place=(x, y), foul=Foul.SELF_COLLISION)
        case.decisions.append(FreezeLimbs(side=side, number=index + 1, limbs=limbs, duration=rules.freeze_time))
