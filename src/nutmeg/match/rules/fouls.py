"""Fouls that can be seen from where players are: incapable, illegal defence and attack, crowding, self-collision.

Called in rcssserver3d's way (numbers in the rule book). Goalies are never called for crowding or for being in an area.
Of several offenders, the farthest from the own goal (areas) or from the ball is: the server draws lots.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.base.kernels import inlined, kernel
from nutmeg.match.rules.book import AreaRules, Foul
from nutmeg.match.rules.decisions import LIMBS, FreezeLimbs
from nutmeg.match.rules.judgement import TIME_TOLERANCE, own_places, own_point, settle, sign_of
from nutmeg.match.rules.play_modes import KICK_OFFS, Side, ball_is_live
from nutmeg.match.rules.restarts import award_free_kick
from nutmeg.match.rules.state import PLAYERS_SHAPE, DownTimes, Held, Stillness, touch_groups

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.match.rules.decisions import Place
    from nutmeg.match.rules.judgement import Judgement
    from nutmeg.match.rules.state import Facts, MatchState

    Player = tuple[Side, int]


# ----------------------------------------------------------------------------------------------------
# Penalties: the offender is announced, held up, and put beside the pitch; or only moved a little.
#
# rcssserver3d lifts an offender for half a second (so that spectators see it) and then puts it beyond the touch line
# that is farther from the ball, in its own half, by number. Since 0.7.3 some fouls only move the offender on the
# pitch.
#
# In the Standard Platform League an offender is taken off at once and stays beside the pitch for some time, goals or
# not; then it returns at the touch line. Meanwhile it takes no part: its touches and requests do not count, and the
# world should not let it move (`penalised` lists these players; one that leaves its place is put back). A new half
# cancels all penalties.


_OUTSIDE_TOLERANCE = 0.1
"""A penalised player farther than this from its place beside the pitch is put back, m."""


def penalised(state: MatchState) -> Bools:
    """(2, 11) whether a player serves a penalty, held up or beside the pitch, and takes no part in the game."""
    found = np.zeros(PLAYERS_SHAPE, bool)
    for held in state.held:
        found[held.side, held.index] = True
    return found


def _penalise(judgement: Judgement, side: Side, index: int, foul: Foul, text: str, *, to: Place | None) -> None:
    """Call a foul. With `to`, in own coordinates, the player is moved there; without, it is held and sent outside."""
    judgement.call(foul, side, index, text)
    if to is not None:
        settle(judgement, side, index, to, foul.title)
        return
    held = Held(side=side, index=index, foul=foul, stamp=judgement.elapsed)
    if judgement.rules.fouls.hold_time == 0:
        judgement.hold(*judgement.state.held, *_send_out(judgement, held))
    else:
        judgement.hold(*judgement.state.held, held)


def serve_penalties(judgement: Judgement) -> None:
    """Hold up penalised players, put them outside when it is time, and let those return that have served their time."""
    rules = judgement.rules.fouls
    staying: list[Held] = []
    for held in judgement.state.held:
        if not judgement.facts.present[held.side, held.index]:
            continue
        waited = judgement.elapsed - held.stamp
        # Three stages: held up in the air, beside the pitch, back.
        if held.place is not None:
            if waited < rules.hold_time + rules.removal_time - TIME_TOLERANCE:
                staying.append(held)
                _keep_out(judgement, held, held.place)
            else:
                _come_back(judgement, held)
        elif waited < rules.hold_time - TIME_TOLERANCE:
            staying.append(held)
            place = judgement.place_of(held.side, held.index)
            judgement.move(held.side, held.index, place, held.foul.title, height=rules.hold_height)
        else:
            staying += _send_out(judgement, held)
    if tuple(staying) != judgement.state.held:
        judgement.hold(*staying)


def forget_penalties(judgement: Judgement) -> None:
    """Cancel all penalties; players beside the pitch return."""
    for held in judgement.state.held:
        if held.place is not None and judgement.facts.present[held.side, held.index]:
            _come_back(judgement, held)
    judgement.hold()


def _send_out(judgement: Judgement, held: Held) -> list[Held]:
    """Put an offender beside the pitch; what is left of its penalty, if anything is."""
    rules = judgement.rules.fouls
    wish = own_point(outside_place(judgement, held.side, held.index), held.side)
    place = settle(judgement, held.side, held.index, wish, held.foul.title, room=rules.outside_spacing / 2)
    return [dataclasses.replace(held, place=place)] if rules.removal_time > 0 else []


def _keep_out(judgement: Judgement, held: Held, place: Place) -> None:
    """Put a player back that has left its place beside the pitch."""
    if not math.dist(judgement.place_of(held.side, held.index), place) <= _OUTSIDE_TOLERANCE:
        judgement.move(held.side, held.index, place, held.foul.title)


def _come_back(judgement: Judgement, held: Held) -> None:
    """Put a player on the touch line away from the ball, in its own half, looking at the pitch."""
    side, pitch = held.side, judgement.rules.pitch
    away = -sign_of(judgement.ball[1], side.sign)
    place = (-side.sign * judgement.rules.fouls.return_distance, away * pitch.width / 2)
    found = settle(judgement, side, held.index, own_point(place, side), "comes back", heading=-away * math.pi / 2)
    judgement.announce(
        "return", f"{side.word} {held.index + 1} may play again", side=side, index=held.index, place=found
    )


def outside_place(judgement: Judgement, side: Side, index: int) -> Place:
    """Where an offender is put: beyond the touch line on the other side of the ball, by number."""
    rules, pitch = judgement.rules.fouls, judgement.rules.pitch
    x = -side.sign * rules.outside_spacing * (6 - index)
    y = -sign_of(judgement.ball[1], side.sign) * (pitch.width / 2 + rules.outside_distance)
    return x, y


def without_penalised(facts: Facts, state: MatchState) -> Facts:
    """The facts without touches and requests of players that serve a penalty."""
    touches = facts.touches_ball
    out = [(h.side, h.index) for h in state.held if h.place is not None and touches[h.side, h.index]]
    if not out:
        return facts
    touches = touches.copy()
    for player in out:
        touches[player] = False
    return dataclasses.replace(facts, touches_ball=touches)


_OWN_AREA, _THEIR_AREA = 0, 1
"""Which penalty area: first index of `MatchState.in_areas`."""


def judge_incapable(judgement: Judgement) -> None:
    """Count how long players lie or sit, announce falls, and send off players that do so for too long."""
    rules, facts, before = judgement.rules.fouls.incapable, judgement.facts, judgement.state.down
    if before is None:
        lowest, _ = judgement.survey
        if not lowest < rules.not_standing_height:  # all players stand, and none was down
            return
        before = DownTimes(times=np.zeros((3, *PLAYERS_SHAPE)), flags=np.zeros((3, *PLAYERS_SHAPE), bool))
    down = DownTimes(times=before.times.copy(), flags=np.empty_like(before.flags))
    limits = (
        rules.not_standing_height,
        rules.ground_height,
        judgement.rules.pitch.width / 2 + rules.margin,
        rules.stood_up_time + TIME_TOLERANCE,
    )
    steps = facts.time_step - judgement.cycle, judgement.cycle
    known = before.flags, down.times, down.flags
    anybody, fell = _count_down_times(facts.position, judgement.active, limits, steps, *known)
    if fell:
        for side, index in np.argwhere((down.ground > 0) & (before.ground == 0)).tolist():
            place = judgement.place_of(Side(side), index)
            judgement.announce("fall", f"{Side(side).word} {index + 1} fell", side=Side(side), index=index, place=place)
    if rules.on and anybody:
        _call_incapable(judgement, down)
    judgement.state.down = down if anybody else None


def _call_incapable(judgement: Judgement, down: DownTimes) -> None:
    """Send off players that have been down for too long, and reset their times."""
    rules, goalie = judgement.rules.fouls.incapable, judgement.facts.goalie
    limits = (
        (rules.not_standing_time, rules.goalie_not_standing_time),
        (rules.ground_time, rules.goalie_ground_time),
    )
    offends = np.zeros(PLAYERS_SHAPE, bool)
    if not _find_incapable(down.times, goalie, judgement.active, limits, offends):
        return
    for side, index in np.argwhere(offends).tolist():
        _penalise(judgement, Side(side), index, Foul.INCAPABLE, "has been down for too long", to=None)
    down.times[:, offends] = 0.0
    down.flags[:, offends] = False


@kernel
def _find_incapable(
    times: Floats, goalie: Bools, active: Bools, limits: tuple[tuple[float, float], tuple[float, float]], offends: Bools
) -> bool:
    """Finds players that have been down for too long, and returns whether there are any.

    Args:
        times: (3, 2, 11) as `DownTimes.times`.
        goalie: (2, 11) whether a player is a goalie.
        active: (2, 11) whether a player's times count.
        limits: limits for field players and goalies of not standing, and of being on the ground [s].
        offends: (2, 11) result: whether a player has been down for too long.
    """
    anybody = False
    for side in range(active.shape[0]):
        for i in range(active.shape[1]):
            keeps = 1 if goalie[side, i] else 0
            # Two clocks: the first runs on through short moments on the feet, the second counts lying at a stretch.
            late = times[0, side, i] > limits[0][keeps] + TIME_TOLERANCE
            late = late or times[1, side, i] > limits[1][keeps] + TIME_TOLERANCE
            offends[side, i] = late and active[side, i]
            anybody = anybody or offends[side, i]
    return anybody


@kernel
def _count_down_times(
    position: Floats,
    active: Bools,
    limits: tuple[float, float, float, float],
    steps: tuple[float, float],
    flags_before: Bools,
    times: Floats,
    flags: Bools,
) -> tuple[bool, bool]:
    """Advances the times of `DownTimes`; returns whether any player is or was recently down, and whether any fell.

    Args:
        position: (2, 11, 3) positions of the torsos, m.
        active: (2, 11) whether a player's times count.
        limits: heights below which a torso does not stand, and is on the ground [m]; |y| beyond which nothing counts
            [m]; time of standing after which earlier times are forgotten [s].
        steps: time for which the previous flags held, and time for which the positions hold, s.
        flags_before: (3, 2, 11) as `DownTimes.flags`.
        times: (3, 2, 11) times, which are advanced.
        flags: (3, 2, 11) result: the new flags.
    """
    anybody, fell = False, False
    for side in range(active.shape[0]):
        for i in range(active.shape[1]):
            lay = times[1, side, i] > 0.0
            # If cycles were skipped, the players did what their previous flags say until now.
            if steps[0] > TIME_TOLERANCE:
                _count_on(times[:, side, i], flags_before[:, side, i], steps[0], limits[3])
            height = position[side, i, 2]
            # Beside the pitch, beyond the margin, nothing counts: such a player hinders nobody.
            low = active[side, i] and height < limits[0]
            counted = low and abs(position[side, i, 1]) < limits[2]
            flags[0, side, i], flags[1, side, i] = low, counted
            flags[2, side, i] = counted and height < limits[1]
            _count_on(times[:, side, i], flags[:, side, i], steps[1], limits[3])
            lies = times[1, side, i] > 0.0
            fell = fell or (lies and not lay)
            anybody = anybody or low or lies or times[0, side, i] > 0.0
    return anybody, fell


@inlined
def _count_on(times: Floats, flags: Bools, step: float, stood_up_time: float) -> None:
    """Counts the times (3,) of one player on by a step, by what its flags (3,) say it did."""
    low, counted, lying = flags[0], flags[1], flags[2]
    times[2] = 0.0 if low else times[2] + step
    # A short moment on its feet does not clear the time of a player that keeps falling.
    if not low and times[2] > stood_up_time:
        times[0] = 0.0
    elif counted:
        times[0] += step
    if not low:
        times[1] = 0.0
    elif lying:
        times[1] += step


def judge_areas(judgement: Judgement) -> None:
    """Call the players that are too many in a penalty area, the latest first."""
    if not (judgement.rules.fouls.illegal_defence.on or judgement.rules.fouls.illegal_attack.on):
        return
    inside = areas(judgement)
    if inside is judgement.state.in_areas:
        return
    before = judgement.state.in_areas
    fouls = judgement.rules.fouls
    for which, rules in ((_OWN_AREA, fouls.illegal_defence), (_THEIR_AREA, fouls.illegal_attack)):
        if rules.on:
            for side in Side:
                if np.count_nonzero(inside[which, side]) > rules.most:
                    _judge_area(judgement, which, side, rules, inside[which, side], before[which, side])
    judgement.state.in_areas = inside


def areas(judgement: Judgement) -> Bools:
    """(2, 2, 11) players in their own penalty area and in the opponents'; the old array if nothing has changed."""
    pitch, before, inside = judgement.rules.pitch, judgement.state.in_areas, np.empty((2, *PLAYERS_SHAPE), bool)
    edge, end, half_width = pitch.length / 2 - pitch.penalty_depth, pitch.length / 2, pitch.penalty_width / 2
    changed = _find_in_areas(judgement.facts.position, judgement.active, edge, end, half_width, before, inside)
    return inside if changed else before


@kernel
def _find_in_areas(
    position: Floats, active: Bools, edge: float, end: float, half_width: float, before: Bools, inside: Bools
) -> bool:
    """Finds the players in the penalty areas, and returns whether they have changed.

    Args:
        position: (2, 11, 3) positions of the torsos, m.
        active: (2, 11) whether a player counts.
        edge: |x| of the areas' edges towards the middle, m.
        end: |x| of the goal lines, m.
        half_width: |y| of the areas' sides, m.
        before: (2, 2, 11) players in their own penalty area, and in the opponents', one cycle ago.
        inside: (2, 2, 11) result: the same now.
    """
    changed = False
    for side in range(active.shape[0]):
        for i in range(active.shape[1]):
            x, y = position[side, i, 0], position[side, i, 1]
            deep = active[side, i] and edge < abs(x) <= end and abs(y) < half_width
            at_home = x < 0.0 if side == 0 else x > 0.0  # the left team defends the goal at -x
            inside[_OWN_AREA, side, i], inside[_THEIR_AREA, side, i] = deep and at_home, deep and not at_home
            for which in range(2):
                changed = changed or inside[which, side, i] != before[which, side, i]
    return changed


def _judge_area(judgement: Judgement, which: int, side: Side, rules: AreaRules, inside: Bools, before: Bools) -> None:
    """Send the surplus players away: first those that have just come, then those farthest from their own goal."""
    own, pitch = own_places(judgement, side), judgement.rules.pitch
    distance = np.hypot(own[:, 0] + pitch.length / 2, own[:, 1])
    field_players = np.flatnonzero(inside & ~judgement.facts.goalie[side]).tolist()
    # Who came last made it too many.
    field_players.sort(key=lambda i: (bool(before[i]), -float(distance[i]), i))
    foul = Foul.ILLEGAL_DEFENCE if which == _OWN_AREA else Foul.ILLEGAL_ATTACK
    whose = "the own" if which == _OWN_AREA else "the opponents'"
    for index in field_players[: int(np.count_nonzero(inside)) - rules.most]:
        to = None if rules.sent_outside else _edge_of_area(judgement, which, own[index].tolist())
        _penalise(judgement, side, index, foul, f"is one too many in {whose} area", to=to)
        inside[index] = False


def _edge_of_area(judgement: Judgement, which: int, place: list[float]) -> Place:
    """The nearest place outside an area, in own coordinates, not behind the goal line."""
    pitch, radius = judgement.rules.pitch, judgement.rules.restarts.player_radius
    x, y = place
    end = -1.0 if which == _OWN_AREA else 1.0
    edge, half_width = pitch.length / 2 - pitch.penalty_depth - radius, pitch.penalty_width / 2 + radius
    if half_width - abs(y) < abs(x) - edge:
        return x, half_width * sign_of(y, -1.0)
    return end * edge, y


def judge_crowding(judgement: Judgement) -> None:
    """Call the second and third nearest of a team when they are too near to a ball that an opponent is near to."""
    rules = judgement.rules.fouls.crowding
    if not rules.on or judgement.player_count < 3:  # crowding takes two players of a team and an opponent
        return
    offset = judgement.facts.position[..., :2] - judgement.facts.ball[:2]
    distance = np.where(judgement.active, np.hypot(offset[..., 0], offset[..., 1]), np.inf)
    nearest = distance.min(axis=1)
    for side in Side:
        # Without an opponent at the ball, nobody is crowded out.
        if nearest[side.other] >= rules.opponent_distance or judgement.state.mode is KICK_OFFS[side]:
            continue
        order = np.argsort(distance[side], kind="stable")
        for rank, limit in ((1, rules.second_distance), (2, rules.third_distance)):
            index = int(order[rank])
            if distance[side, index] <= limit and not judgement.facts.goalie[side, index]:
                to = None if rules.sent_outside else _away_from_ball(judgement, side, index, limit)
                _penalise(judgement, side, index, Foul.CROWDING, "crowds the ball", to=to)


def _away_from_ball(judgement: Judgement, side: Side, index: int, distance: float) -> Place:
    """A place at a distance from the ball, straight away from it, in own coordinates."""
    x, y = own_places(judgement, side)[index].tolist()
    ball_x, ball_y = own_point(judgement.ball_place, side)
    gap = float(np.hypot(x - ball_x, y - ball_y))
    reach = distance + judgement.rules.restarts.player_radius
    if gap < 1e-9:
        return ball_x - reach, ball_y
    return ball_x + (x - ball_x) / gap * reach, ball_y + (y - ball_y) / gap * reach


def judge_self_collisions(judgement: Judgement) -> None:
    """Take the drive from limbs that are inside another part of their robot, or send the player out."""
    rules, found = judgement.rules.fouls.self_collision, judgement.facts.self_collision
    if not rules.on or not np.count_nonzero(found):
        return
    frozen = judgement.state.stamps.frozen
    # After a freeze, limbs have time to get free before they are judged again.
    wait = rules.freeze_time + rules.thaw_time if rules.penalty == "freeze" else rules.outside_cooldown
    due = found & (judgement.elapsed - frozen > wait - TIME_TOLERANCE) & judgement.active[..., None]
    if not due.any():
        return
    judgement.state.stamps = dataclasses.replace(
        judgement.state.stamps, frozen=np.where(due, judgement.elapsed, frozen)
    )
    for s, index in np.argwhere(due.any(axis=2)).tolist():
        side, limbs = Side(s), tuple(LIMBS[i] for i in np.flatnonzero(due[s, index]).tolist())
        text = f"collides with itself ({', '.join(limbs)})"
        if rules.penalty == "outside":
            _penalise(judgement, side, index, Foul.SELF_COLLISION, text, to=None)
            continue
        judgement.call(Foul.SELF_COLLISION, side, index, text)
        judgement.decisions.append(FreezeLimbs(side=side, number=index + 1, limbs=limbs, duration=rules.freeze_time))


# ----------------------------------------------------------------------------------------------------
# Fouls between players that touch each other: touching in too large a group, charging, and pushing.
#
# **Touching.** From a group that is too large, the player of the side with more players in it that came last has to
# leave, but never a goalie. rcssserver3d draws lots between several; here it is the one farthest from the ball.
#
# **Charging** (rcssserver3d 0.7.3, after the foul model of 2016; numbers in the rule book). Of two touching opponents,
# one charges if it is fast, and fast towards the point of collision. Near the ball, a player that runs towards the ball
# rather than towards the opponent plays the ball; if both do, the farther one charges if it came from another direction
# or the nearer one was slow. If both charge, or the ball is where they collide, neither does, and both are immune for
# a moment. Goalies in their own area do not charge, nor do players that have just touched the ball or been moved.
#
# **Pushing** (Standard Platform League). The world reports pushes, because it knows how players met; of opponents, the
# responsible one is sent off. Goalies in their own area may be exempt, and players that have just been moved are.


def judge_touching(judgement: Judgement) -> None:
    """Call players that make a group of touching players too large."""
    rules, contacts = judgement.rules.fouls.touching, judgement.facts.contacts
    if rules.on and len(contacts) >= rules.most:
        for group in touch_groups(contacts):
            players = [(Side(s), i) for s, i in group if judgement.active[s, i]]
            while len(players) > rules.most:
                offender = _one_too_many(judgement, players)
                if offender is None:
                    break
                to = None if rules.sent_outside else _out_of_group(judgement, players, offender)
                _penalise(judgement, *offender, Foul.TOUCHING, f"touches a group of {len(players)}", to=to)
                players.remove(offender)


def remember_contacts(judgement: Judgement) -> frozenset[tuple[int, int]]:
    """The players that touch another player now."""
    if not len(judgement.facts.contacts):
        return frozenset()
    return frozenset((s, i) for s, i in judgement.facts.contacts.reshape(-1, 2).tolist())


def _one_too_many(judgement: Judgement, players: list[Player]) -> Player | None:
    """The player that has to leave a group."""
    count = [sum(side is s for side, _ in players) for s in Side]
    field_players = [p for p in players if not judgement.facts.goalie[p]]
    # Preferred is who made the group too large: came last, and of the side with more players in it.
    came_last = [p for p in field_players if p not in judgement.state.in_contact]
    of_larger = [p for p in came_last if count[p[0]] >= count[p[0].other]]
    if not of_larger:
        of_larger = [p for p in field_players if count[p[0]] >= count[p[0].other]]
    in_doubt = judgement.doubtful()

    def order(player: Player) -> tuple[float, bool, int]:
        x, y = judgement.facts.position[player][:2].tolist()
        return -math.hypot(x - judgement.ball[0], y - judgement.ball[1]), player[0] is not in_doubt, player[1]

    return min(of_larger or field_players, key=order, default=None)


def _out_of_group(judgement: Judgement, players: list[Player], offender: Player) -> Place:
    """A place away from the middle of a group by a player's radius, in own coordinates."""
    side, index = offender
    middle = np.mean([judgement.facts.position[p][:2] for p in players], axis=0) * side.sign
    x, y = own_places(judgement, side)[index].tolist()
    away_x, away_y = x - float(middle[0]), y - float(middle[1])
    gap, radius = math.hypot(away_x, away_y), judgement.rules.restarts.player_radius
    return (x + away_x / gap * radius, y + away_y / gap * radius) if gap > 1e-9 else (x - radius, y)


def judge_charging(judgement: Judgement) -> None:
    """Call players that charge an opponent."""
    facts = judgement.facts
    if not judgement.rules.fouls.charging.on or not len(facts.contacts):
        return
    opponents = facts.contacts[:, 0, 0] != facts.contacts[:, 1, 0]
    if not opponents.any():
        return
    stamps = judgement.state.stamps
    touched, innocent = stamps.touched_ball.copy(), stamps.innocent.copy()
    charging: set[Player] = set()
    for pair, place in zip(facts.contacts[opponents].tolist(), facts.contact_places[opponents].tolist(), strict=True):
        players = [(Side(s), i) for s, i in pair]
        if all(_may_be_judged(judgement, p) for p in players):
            charging |= _judge_pair(judgement, players, place, touched, innocent)
    judgement.state.stamps = dataclasses.replace(stamps, touched_ball=touched, innocent=innocent)
    for side, index in sorted(charging, key=lambda p: (p[1], p[0] is not judgement.doubtful())):
        _penalise(judgement, side, index, Foul.CHARGING, "charged an opponent", to=None)


def _may_be_judged(judgement: Judgement, player: Player) -> bool:
    """Whether a player is up, free, and not just moved."""
    immunity = judgement.rules.fouls.charging.moved_immunity
    down = judgement.state.down is not None and judgement.state.down.not_standing[player] > 0
    return (
        bool(judgement.active[player])
        and not down
        and judgement.elapsed - judgement.state.stamps.moved[player] >= immunity - TIME_TOLERANCE
    )


def _judge_pair(
    judgement: Judgement, players: list[Player], place: list[float], touched: Floats, innocent: Floats
) -> set[Player]:
    """The players of two colliding opponents that charge; writes immunities into `touched` and `innocent`."""
    rules, stamps = judgement.rules.fouls.charging, judgement.state.stamps
    ball = judgement.ball[:2]
    charges = _who_is_at_fault(judgement, players, place)
    safe = [_goalie_at_home(judgement, p) for p in players]
    for i, player in enumerate(players):
        if charges[i]:  # the victim is excused for as long as the player that charges it
            victim = players[1 - i]
            if safe[i]:
                touched[victim] = judgement.elapsed
            elif judgement.elapsed - stamps.touched_ball[player] < rules.immunity - TIME_TOLERANCE:
                touched[victim] = max(touched[victim], stamps.touched_ball[player])
            innocent[victim] = max(innocent[victim], stamps.innocent[player])
    if all(charges) or math.dist(place, ball) < rules.ball_collision_distance:
        charges = [False, False]
    if not any(charges):
        for player in players:
            # A collision that was fair stays fair for a moment: bodies that are locked must not become a foul later.
            innocent[player] = judgement.elapsed
    return {
        player
        for i, player in enumerate(players)
        if charges[i]
        and not safe[i]
        and judgement.elapsed - stamps.innocent[player] >= rules.collision_time - TIME_TOLERANCE
        and judgement.elapsed - stamps.touched_ball[player] >= rules.immunity - TIME_TOLERANCE
    }


def judge_pushing(judgement: Judgement) -> None:
    """Send out players that push an opponent."""
    rules, pushes = judgement.rules.fouls.pushing, judgement.facts.pushes
    if not rules.on or not len(pushes):
        return
    guilty: set[Player] = set()
    for (side, index), (other, victim) in pushes.tolist():
        player = (Side(side), index)
        free = side != other and judgement.active[player] and judgement.active[other, victim]
        if free and judgement.elapsed - judgement.state.stamps.moved[player] >= rules.moved_immunity - TIME_TOLERANCE:
            guilty.add(player)
    if rules.goalie_exempt:
        guilty = {p for p in guilty if not _goalie_at_home(judgement, p)}
    for side, index in sorted(guilty, key=lambda p: (p[1], p[0] is not judgement.doubtful())):
        _penalise(judgement, side, index, Foul.PUSHING, "pushed an opponent", to=None)


def judge_hand_ball(judgement: Judgement) -> None:
    """Give the opponents a direct free kick when a player uses a hand."""
    rules, hands = judgement.rules.fouls.hand_ball, judgement.facts.hand_ball
    if not rules.on or hands is None or not ball_is_live(judgement.state.mode):
        return
    for s, index in np.argwhere(hands & judgement.active).tolist():
        side = Side(s)
        if rules.goalie_exempt and _goalie_at_home(judgement, (side, index)):
            continue
        judgement.call(Foul.HAND_BALL, side, index, "played the ball with an arm", judgement.ball_place)
        award_free_kick(judgement, side.other, judgement.ball_place, direct=True)
        return


def _mean_velocity(judgement: Judgement, player: Player) -> list[float]:
    """A player's velocity over the last cycles, m/s."""
    samples = [v[player].tolist() for v in (judgement.facts.velocity, *judgement.state.velocities)]
    return [sum(axis) / len(samples) for axis in zip(*samples, strict=True)]


def _who_is_at_fault(judgement: Judgement, players: list[Player], place: list[float]) -> list[bool]:
    """For each of two colliding opponents, whether it is fast, fast towards the other, and not playing the ball."""
    rules = judgement.rules.fouls.charging
    spots = [judgement.facts.position[p][:2].tolist() for p in players]
    speeds = [_mean_velocity(judgement, p) for p in players]
    speed = [math.hypot(*v) for v in speeds]
    to_ball = [math.dist(s, judgement.ball[:2]) for s in spots]
    off_ball = [_angle(v, s, judgement.ball[:2]) for v, s in zip(speeds, spots, strict=True)]
    off_other = [_angle(speeds[i], spots[i], spots[1 - i]) for i in (0, 1)]
    charges = [True, True]
    # Near the ball, a player that runs rather to the ball than to the opponent plays the ball.
    if min(to_ball) < rules.ball_rules_distance:
        charges = [off_ball[i] >= max(off_other[i], rules.ball_angle) and speed[i] >= rules.speed for i in (0, 1)]
        # Both play the ball: the farther one should have given way, if it came from another side or the other one was
        # slow.
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
    """Angle between a velocity and the way to a target, degrees, 0 to 180."""
    turn = math.atan2(velocity[1], velocity[0]) - math.atan2(target[1] - spot[1], target[0] - spot[0])
    return abs(math.degrees(wrap_angle_exactly(turn)))


def _goalie_at_home(judgement: Judgement, player: Player) -> bool:
    """Whether a player is a goalie in its own penalty area, or behind it in the goal."""
    side, index = player
    if not judgement.facts.goalie[player]:
        return False
    pitch = judgement.rules.pitch
    x, y = own_places(judgement, side)[index].tolist()
    return bool(x <= -pitch.length / 2 + pitch.penalty_depth and abs(y) <= pitch.penalty_width / 2)


# ----------------------------------------------------------------------------------------------------
# Standing still near the ball for too long, and so keeping others from it (seed: NaOISIS, its match mode).
#
# The referee inspects players at fixed times of its own clock, every few seconds: a player near the ball that has
# hardly moved since the last inspection has been standing still at least since then. Between two inspections nothing is
# needed, so that a batched world need not judge every cycle. Players that lie are judged by `judge_incapable`.


def looks(elapsed: float, interval: float) -> int:
    """Number of inspections up to a time of the referee's own clock."""
    return math.floor((elapsed + TIME_TOLERANCE) / interval)


def judge_inactive(judgement: Judgement) -> None:
    """Send out players that stand still near the ball for too long."""
    rules = judgement.rules.fouls.inactive
    if not rules.on:
        return
    if not ball_is_live(judgement.state.mode):
        forget_stillness(judgement)
        return
    now = judgement.elapsed
    # No inspection falls into this time step.
    if looks(now, rules.look_interval) == looks(now - judgement.facts.time_step, rules.look_interval):
        return
    place = judgement.facts.position[..., :2].copy()
    near = _near_ball(judgement)
    since = np.full(near.shape, now)
    before = judgement.state.still
    if before is not None:
        gone = np.hypot(place[..., 0] - before.place[..., 0], place[..., 1] - before.place[..., 1])
        since = np.where(near & (gone < rules.movement), before.since, now)
    judgement.state.still = Stillness(place=place, since=since)
    if near.any():
        for side, index in np.argwhere(near & (now - since >= rules.time - TIME_TOLERANCE)).tolist():
            _penalise(judgement, Side(side), index, Foul.INACTIVE, "stands still near the ball", to=None)


def _near_ball(judgement: Judgement) -> Bools:
    """(2, 11) players that may be called: active, standing and near the ball."""
    rules, position = judgement.rules.fouls.inactive, judgement.facts.position
    distance = np.hypot(position[..., 0] - judgement.ball[0], position[..., 1] - judgement.ball[1])
    standing = position[..., 2] >= judgement.rules.fouls.incapable.not_standing_height
    near: Bools = (distance < rules.ball_distance) & standing & judgement.active
    if rules.goalie_exempt:
        for side, index in np.argwhere(near & judgement.facts.goalie).tolist():
            near[side, index] = not _goalie_at_home(judgement, (Side(side), index))
    return near


def forget_stillness(judgement: Judgement) -> None:
    """Forget which players stood still."""
    judgement.state.still = None


def next_look(state: MatchState, interval: float) -> float:
    """Until the referee looks again, s."""
    return (looks(state.elapsed, interval) + 1) * interval - state.elapsed
