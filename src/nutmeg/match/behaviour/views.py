"""What a player of the behavioural world is told, as the objects of `match.brain`.

seen_of(sights.of(match, slot))             # ball, robots and landmarks in the body's frame
seen_later(sights, match, slot)()           # the same, worked out when it is asked for
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from nutmeg.match.behaviour.marks import Kind
from nutmeg.match.brain import Seen, SeenMark, SeenRobot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from nutmeg.match.behaviour.sights import Seen as Thing
    from nutmeg.match.behaviour.sights import Sights
    from nutmeg.match.brain import MarkKind, Point

MATE = {Kind.MATE: True, Kind.OPPONENT: False, Kind.ROBOT: None}
MARKS: dict[Kind, MarkKind] = {
    Kind.OWN_POST: "own post",
    Kind.THEIR_POST: "their post",
    Kind.POST: "post",
    Kind.L_CROSSING: "L",
    Kind.T_CROSSING: "T",
    Kind.X_CROSSING: "X",
    Kind.PENALTY_MARK: "penalty mark",
    Kind.CENTRE_CIRCLE: "centre circle",
}
ENDS = {Kind.OWN_POST: "L", Kind.THEIR_POST: "R"}
"""Ends of the pitch in names of posts."""


def seen_later(sights: Sights, match: int, slot: int) -> Callable[[], Seen]:
    """What a player sees now, for later: few players look at it themselves."""
    now = replace(sights, **{name: array[match : match + 1, slot : slot + 1].copy() for name, array in _fields(sights)})
    return lambda: seen_of(now.of(0, 0))


def _fields(sights: Sights) -> list[tuple[str, NDArray[Any]]]:
    return [(each.name, getattr(sights, each.name)) for each in fields(sights)]


def seen_of(things: Iterable[Thing]) -> Seen:
    """What a player sees; of several balls the nearest, since one of them is none."""
    ball: Point | None = None
    robots, marks = [], []
    for thing in things:
        place = thing.ahead, thing.left
        if thing.kind is Kind.BALL:
            ball = ball or place
        elif thing.kind.is_robot:
            robots.append(SeenRobot(place=place, mate=MATE[thing.kind], number=thing.number, lying=thing.lying))
        else:
            known = thing.kind in ENDS and thing.number is not None
            name = f"G{thing.number}{ENDS[thing.kind]}" if known else None
            marks.append(SeenMark(kind=MARKS[thing.kind], place=place, name=name, turn=thing.turn))
    return Seen(ball=ball, robots=tuple(robots), marks=tuple(marks))
