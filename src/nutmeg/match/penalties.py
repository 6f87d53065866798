"""What follows a foul: the offender is told, held up, and put beside the pitch; or only moved a little.

rcssserver3d lifts an offender for half a second (so that spectators see it) and then puts it beyond the touch line
that is farther from the ball, in its own half, by number. Since 0.7.3 some fouls only move the offender on the pitch.

In the Standard Platform League an offender is taken off at once and stays beside the pitch for some time, goals or not;
then it comes back at the touch line. Meanwhile it takes no part: what it touches or asks for does not count, and the
world should not let it move (`penalised` says who that is; who strays is put back). A new half pardons everybody.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.case import TINY, sign_of
from nutmeg.match.clearing import own_point, settle
from nutmeg.match.facts import SHAPE
from nutmeg.match.state import Held

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools
    from nutmeg.match.case import Case
    from nutmeg.match.decisions import Place
    from nutmeg.match.facts import Facts
    from nutmeg.match.foul_rules import Foul
    from nutmeg.match.play_modes import Side
    from nutmeg.match.state import MatchState

STRAYED = 0.1
"""Who is farther from its place beside the pitch than this is put back, m."""


def penalised(state: MatchState) -> Bools:
    """(2, 11) who serves a penalty, held up or beside the pitch, and takes no part in the game."""
    found = np.zeros(SHAPE, bool)
    for held in state.held:
        found[held.side, held.index] = True
    return found


def penalise(case: Case, side: Side, index: int, foul: Foul, text: str, *, to: Place | None) -> None:
    """Call a foul. With `to`, in own coordinates, the player is moved there; without, it is held and sent outside."""
    x, y = case.facts.position[side, index, :2].tolist()
    case.change(fouls=case.state.fouls + 1)
    case.tell("foul", f"{foul.title}: {side.word} {index + 1} {text}", side=side, index=index, place=(x, y), foul=foul)
    if to is not None:
        settle(case, side, index, to, foul.title)
        return
    held = Held(side=side, index=index, foul=foul, stamp=case.elapsed)
    if case.rules.fouls.hold_time == 0:
        case.hold(*case.state.held, *_send_out(case, held))
    else:
        case.hold(*case.state.held, held)


def serve_penalties(case: Case) -> None:
    """Hold up who is held, put outside whose time has come, and let those come back who have served theirs."""
    rules = case.rules.fouls
    staying: list[Held] = []
    for held in case.state.held:
        if not case.facts.present[held.side, held.index]:
            continue
        waited = case.elapsed - held.stamp
        if held.place is not None:
            if waited < rules.hold_time + rules.removal_time - TINY:
                staying.append(held)
                _keep_out(case, held, held.place)
            else:
                come_back(case, held)
        elif waited < rules.hold_time - TINY:
            staying.append(held)
            x, y = case.facts.position[held.side, held.index, :2].tolist()
            case.move(held.side, held.index, (x, y), held.foul.title, height=rules.hold_height)
        else:
            staying += _send_out(case, held)
    if tuple(staying) != case.state.held:
        case.hold(*staying)


def forget_penalties(case: Case) -> None:
    """Pardon everybody; who is beside the pitch comes back."""
    for held in case.state.held:
        if held.place is not None and case.facts.present[held.side, held.index]:
            come_back(case, held)
    case.hold()


def _send_out(case: Case, held: Held) -> list[Held]:
    """Put an offender beside the pitch; what is left of its penalty, if anything is."""
    rules = case.rules.fouls
    wish = own_point(outside_place(case, held.side, held.index), held.side)
    place = settle(case, held.side, held.index, wish, held.foul.title, room=rules.outside_spacing / 2)
    return [dataclasses.replace(held, place=place)] if rules.removal_time > 0 else []


def _keep_out(case: Case, held: Held, place: Place) -> None:
    """Put somebody back who has left its place beside the pitch."""
    x, y = case.facts.position[held.side, held.index, :2].tolist()
    if not math.hypot(x - place[0], y - place[1]) <= STRAYED:
        case.move(held.side, held.index, place, held.foul.title)


def come_back(case: Case, held: Held) -> None:
    """Put a player on the touch line away from the ball, in its own half, looking at the pitch."""
    side, pitch = held.side, case.rules.pitch
    away = -sign_of(case.ball[1], side.sign)
    place = (-side.sign * case.rules.fouls.return_distance, away * pitch.width / 2)
    found = settle(case, side, held.index, own_point(place, side), "comes back", heading=-away * math.pi / 2)
    case.tell("return", f"{side.word} {held.index + 1} may play again", side=side, index=held.index, place=found)


def outside_place(case: Case, side: Side, index: int) -> Place:
    """Where an offender is put: beyond the touch line on the other side of the ball, by number."""
    rules, pitch = case.rules.fouls, case.rules.pitch
    x = -side.sign * rules.outside_spacing * (6 - index)
    y = -sign_of(case.ball[1], side.sign) * (pitch.width / 2 + rules.outside_distance)
    return x, y


def without_penalised(facts: Facts, state: MatchState) -> Facts:
    """The facts as they count: nobody who is beside the pitch for a while touches the ball."""
    touches = facts.touches_ball
    out = [(h.side, h.index) for h in state.held if h.place is not None and touches[h.side, h.index]]
    if not out:
        return facts
    touches = touches.copy()
    for player in out:
        touches[player] = False
    return dataclasses.replace(facts, touches_ball=touches)
