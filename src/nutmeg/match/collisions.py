"""Fouls between players who touch each other: touching in too large a group, charging, and pushing.

**Touching.** A group has too many; of the side with more players in it, who came last has to go, never a goalie. In
rcssserver3d it is a question of lots who of several goes; here it is the one farthest from the ball.

**Charging** (rcssserver3d 0.7.3, after the foul model of 2016; numbers in the rule book). Of two opponents who touch,
one charges who is fast, and fast towards the point of collision. Near the ball, who runs towards it rather than towards
the opponent plays the ball; if both do, the farther one charges, if it came from another direction or the nearer one
was slow. If both charge, or the ball is where they collide, neither does: such a collision makes both safe for a
moment. Goalies in their own area do not charge, nor does who has just touched the ball or has just been moved.

**Pushing** (Standard Platform League). Who pushed whom is said by the world, which knows how they met; of opponents,
the one responsible is sent off. Goalies in their own area may be exempt, and who has just been moved is.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.match.case import TINY
from nutmeg.match.clearing import own_places
from nutmeg.match.facts import touch_groups
from nutmeg.match.foul_rules import Foul
from nutmeg.match.penalties import penalise
from nutmeg.match.play_modes import Side

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.case import Case
    from nutmeg.match.decisions import Place

    Player = tuple[Side, int]


def judge_touching(case: Case) -> None:
    """Call who makes a group of touching players too large."""
    rules, contacts = case.rules.fouls.touching, case.facts.contacts
    if rules.on and len(contacts) >= rules.most:
        for group in touch_groups(contacts):
            players = [(Side(s), i) for s, i in group if case.active[s, i]]
            while len(players) > rules.most:
                offender = _one_too_many(case, players)
                if offender is None:
                    break
                to = None if rules.sent_outside else _out_of_group(case, players, offender)
                penalise(case, *offender, Foul.TOUCHING, f"touches a group of {len(players)}", to=to)
                players.remove(offender)


def remember_contacts(case: Case) -> frozenset[tuple[int, int]]:
    """Who touches another player now."""
    if not len(case.facts.contacts):
        return frozenset()
    return frozenset((s, i) for s, i in case.facts.contacts.reshape(-1, 2).tolist())


def _one_too_many(case: Case, players: list[Player]) -> Player | None:
    """Who of a group has to go."""
    count = [sum(side is s for side, _ in players) for s in Side]
    field_players = [p for p in players if not case.facts.goalie[p]]
    came_last = [p for p in field_players if p not in case.state.in_contact]
    of_larger = [p for p in came_last if count[p[0]] >= count[p[0].other]]
    if not of_larger:
        of_larger = [p for p in field_players if count[p[0]] >= count[p[0].other]]
    in_doubt = case.doubtful()

    def order(player: Player) -> tuple[float, bool, int]:
        x, y = case.facts.position[player][:2].tolist()
        return -math.hypot(x - case.ball[0], y - case.ball[1]), player[0] is not in_doubt, player[1]

    return min(of_larger or field_players, key=order, default=None)


def _out_of_group(case: Case, players: list[Player], offender: Player) -> Place:
    """A place away from the middle of a group by a player's radius, in own coordinates."""
    side, index = offender
    middle = np.mean([case.facts.position[p][:2] for p in players], axis=0) * side.sign
    x, y = own_places(case, side)[index].tolist()
    away_x, away_y = x - float(middle[0]), y - float(middle[1])
    gap, radius = math.hypot(away_x, away_y), case.rules.restarts.player_radius
    return (x + away_x / gap * radius, y + away_y / gap * radius) if gap > 1e-9 else (x - radius, y)


def judge_charging(case: Case) -> None:
    """Call who runs into an opponent."""
    facts = case.facts
    if not case.rules.fouls.charging.on or not len(facts.contacts):
        return
    opponents = facts.contacts[:, 0, 0] != facts.contacts[:, 1, 0]
    if not opponents.any():
        return
    stamps = case.state.stamps
    touched, innocent = stamps.touched_ball.copy(), stamps.innocent.copy()
    charging: set[Player] = set()
    for pair, place in zip(facts.contacts[opponents].tolist(), facts.contact_places[opponents].tolist(), strict=True):
        players = [(Side(s), i) for s, i in pair]
        if all(_may_be_judged(case, p) for p in players):
            charging |= _judge_pair(case, players, place, touched, innocent)
    case.change(stamps=dataclasses.replace(stamps, touched_ball=touched, innocent=innocent))
    for side, index in sorted(charging, key=lambda p: (p[1], p[0] is not case.doubtful())):
        penalise(case, side, index, Foul.CHARGING, "charged an opponent", to=None)


def _may_be_judged(case: Case, player: Player) -> bool:
    """Whether a player is up, free, and not just moved."""
    immunity = case.rules.fouls.charging.moved_immunity
    down = case.state.down is not None and case.state.down.not_standing[player] > 0
    return bool(case.active[player]) and not down and case.elapsed - case.state.stamps.moved[player] >= immunity - TINY


def _judge_pair(
    case: Case, players: list[Player], place: list[float], touched: Floats, innocent: Floats
) -> set[Player]:
    """Who of two colliding opponents charges; writes immunities into `touched` and `innocent`."""
    rules, stamps = case.rules.fouls.charging, case.state.stamps
    ball = case.ball[:2]
    charges = _who_is_at_fault(case, players, place)
    safe = [goalie_at_home(case, p) for p in players]
    for i, player in enumerate(players):
        if charges[i]:  # who is run into is excused for as long as who runs into it
            victim = players[1 - i]
            if safe[i]:
                touched[victim] = case.elapsed
            elif case.elapsed - stamps.touched_ball[player] < rules.immunity - TINY:
                touched[victim] = max(touched[victim], stamps.touched_ball[player])
            innocent[victim] = max(innocent[victim], stamps.innocent[player])
    if all(charges) or math.dist(place, ball) < rules.ball_collision_distance:
        charges = [False, False]
    if not any(charges):
        for player in players:
            innocent[player] = case.elapsed
    return {
        player
        for i, player in enumerate(players)
        if charges[i]
        and not safe[i]
        and case.elapsed - stamps.innocent[player] >= rules.collision_time - TINY
        and case.elapsed - stamps.touched_ball[player] >= rules.immunity - TINY
    }


def judge_pushing(case: Case) -> None:
    """Send out who pushes an opponent."""
    rules, pushes = case.rules.fouls.pushing, case.facts.pushes
    if not rules.on or not len(pushes):
        return
    guilty: set[Player] = set()
    for (side, index), (other, victim) in pushes.tolist():
        player = (Side(side), index)
        free = side != other and case.active[player] and case.active[other, victim]
        if free and case.elapsed - case.state.stamps.moved[player] >= rules.moved_immunity - TINY:
            guilty.add(player)
    if rules.goalie_exempt:
        guilty = {p for p in guilty if not goalie_at_home(case, p)}
    for side, index in sorted(guilty, key=lambda p: (p[1], p[0] is not case.doubtful())):
        penalise(case, side, index, Foul.PUSHING, "pushed an opponent", to=None)


def _mean_velocity(case: Case, player: Player) -> list[float]:
    """A player's velocity over the last cycles, m/s."""
    samples = [v[player].tolist() for v in (case.facts.velocity, *case.state.velocities)]
    return [sum(axis) / len(samples) for axis in zip(*samples, strict=True)]


def _who_is_at_fault(case: Case, players: list[Player], place: list[float]) -> list[bool]:
    """For each of two colliding opponents, whether it is fast, fast towards the other, and not playing the ball."""
    rules = case.rules.fouls.charging
    spots = [case.facts.position[p][:2].tolist() for p in players]
    speeds = [_mean_velocity(case, p) for p in players]
    speed = [math.hypot(*v) for v in speeds]
    to_ball = [math.dist(s, case.ball[:2]) for s in spots]
    off_ball = [_angle(v, s, case.ball[:2]) for v, s in zip(speeds, spots, strict=True)]
    off_other = [_angle(speeds[i], spots[i], spots[1 - i]) for i in (0, 1)]
    charges = [True, True]
    if min(to_ball) < rules.ball_rules_distance:
        charges = [off_ball[i] >= max(off_other[i], rules.ball_angle) and speed[i] >= rules.speed for i in (0, 1)]
        if not any(charges) and abs(to_ball[0] - to_ball[1]) > rules.distance_difference:
            other_way = abs(off_other[0] - off_other[1]) > rules.angle_difference
            charges = [to_ball[i] > to_ball[1 - i] and (other_way or speed[1 - i] < rules.speed) for i in (0, 1)]
    for i in (0, 1):
        target = [(place[k] + spots[1 - i][k]) / 2 - spots[i][k] for k in (0, 1)]
        length = math.hypot(*target) or 1.0
        towards = (speeds[i][0] * target[0] + speeds[i][1] * target[1]) / length
        charges[i] = charges[i] and speed[i] >= rules.speed and towards >= rules.collision_speed
    return charges


def _angle(velocity: list[float], spot: list[float], target: tuple[float, ...] | list[float]) -> float:
    """Between a velocity and the way to a target, degrees, 0 to 180."""
    turn = math.atan2(velocity[1], velocity[0]) - math.atan2(target[1] - spot[1], target[0] - spot[0])
    return abs(math.degrees(wrap_angle_exactly(turn)))


def goalie_at_home(case: Case, player: Player) -> bool:
    """Whether a player is a goalie in its own penalty area, or behind it in the goal."""
    side, index = player
    if not case.facts.goalie[player]:
        return False
    pitch = case.rules.pitch
    x, y = own_places(case, side)[index].tolist()
    return bool(x <= -pitch.length / 2 + pitch.penalty_depth and abs(y) <= pitch.penalty_width / 2)
