"""What follows a foul: the offender is told, held up, and put beside the pitch; or only moved a little.

rcssserver3d lifts an offender for half a second (so that spectators see it) and then puts it beyond the touch line
that is farther from the ball, in its own half, by number. Since 0.7.3 some fouls only move the offender on the pitch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.match.case import TINY, sign_of
from nutmeg.match.clearing import own_point, settle
from nutmeg.match.state import Held

if TYPE_CHECKING:
    from nutmeg.match.case import Case
    from nutmeg.match.decisions import Place
    from nutmeg.match.foul_rules import Foul
    from nutmeg.match.play_modes import Side


def penalise(case: Case, side: Side, index: int, foul: Foul, text: str, *, to: Place | None) -> None:
    """Call a foul. With `to`, in own coordinates, the player is moved there; without, it is held and sent outside."""
    x, y = case.facts.position[side, index, :2].tolist()
    case.change(fouls=case.state.fouls + 1)
    case.tell("foul", f"{foul.title}: {side.word} {index + 1} {text}", side=side, index=index, place=(x, y), foul=foul)
    if to is not None:
        settle(case, side, index, to, foul.title)
        return
    case.hold(*case.state.held, Held(side=side, index=index, foul=foul, stamp=case.elapsed))


def serve_penalties(case: Case) -> None:
    """Hold up who is held, and put outside whose time has come."""
    rules, staying = case.rules.fouls, []
    for held in case.state.held:
        if not case.facts.present[held.side, held.index]:
            continue
        if case.elapsed - held.stamp < rules.hold_time - TINY:
            staying.append(held)
            x, y = case.facts.position[held.side, held.index, :2].tolist()
            case.move(held.side, held.index, (x, y), held.foul.title, height=rules.hold_height)
        else:
            wish = own_point(outside_place(case, held.side, held.index), held.side)
            settle(case, held.side, held.index, wish, held.foul.title, room=rules.outside_spacing / 2)
    if len(staying) < len(case.state.held):
        case.hold(*staying)


def outside_place(case: Case, side: Side, index: int) -> Place:
    """Where an offender is put: beyond the touch line on the other side of the ball, by number."""
    rules, pitch = case.rules.fouls, case.rules.pitch
    x = -side.sign * rules.outside_spacing * (6 - index)
    y = -sign_of(case.ball[1], side.sign) * (pitch.width / 2 + rules.outside_distance)
    return x, y
