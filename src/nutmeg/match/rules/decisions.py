"""Decisions of the referee: where players and the ball are put, which limbs lose their drive, and announcements.

The world carries decisions out in the order given, before the next step. They are plain data: numbers are uniform
numbers (1 to 11), places are metres on the pitch.

    for decision in decisions:
        match decision:
            case MovePlayer(side=side, number=number, place=place, height=height): ...
            case PlaceBall(place=place): ...
            case FreezeLimbs(side=side, number=number, limbs=limbs, duration=duration): ...
            case SwapEnds(): ...
            case Event(): writer.event(decision.time, decision.kind, **decision.fields())
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nutmeg.match.rules.book import Foul
    from nutmeg.match.rules.play_modes import Side

Place = tuple[float, float]
"""Coordinates x and y on the pitch, m."""
Limb = Literal["left arm", "right arm", "left leg", "right leg"]
LIMBS: tuple[Limb, ...] = ("left arm", "right arm", "left leg", "right leg")
"""Limbs in the order of the last axis of `Facts.self_collision`."""
EventKind = Literal[
    "play_mode", "goal", "no_goal", "out", "foul", "return", "double_touch", "fall", "drop_ball", "half", "shoot_out"
]


@dataclass(frozen=True, kw_only=True)
class MovePlayer:
    """Put a player somewhere else, in the pose it has, at rest."""

    side: Side
    """Side of the player's team."""
    number: int
    """Its uniform number."""
    place: Place
    """Where its torso is to be, seen from above."""
    height: float | None = None
    """Height of the torso for as long as it is held up; None: down on the ground."""
    heading: float | None = None
    """Where it is to look, 0 along x, rad; None: where it looks already."""
    reason: str
    """Why, in a few words."""


@dataclass(frozen=True, kw_only=True)
class PlaceBall:
    """Put the ball on the ground at a place, at rest."""

    place: Place
    """Where the ball is put."""


@dataclass(frozen=True, kw_only=True)
class FreezeLimbs:
    """Take the drive from limbs for a while."""

    side: Side
    """Side of the player."""
    number: int
    """Its uniform number."""
    limbs: tuple[Limb, ...]
    """The limbs that lose their drive."""
    duration: float
    """How long they have no drive, s."""


@dataclass(frozen=True, kw_only=True)
class SwapEnds:
    """The teams change ends: the left team is right from now on. The referee's score has been swapped already."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event that is announced and recorded."""

    kind: EventKind
    """Kind of the event."""
    time: float
    """Game time, s."""
    side: Side | None = None
    """The side that scored, offended or is favoured."""
    number: int | None = None
    """Number of the player, if one is concerned."""
    place: Place | None = None
    """Place of the event, if it has one."""
    foul: Foul | None = None
    """The foul, if it is one."""
    text: str
    """A sentence for spectators."""

    def fields(self) -> dict[str, str | int | float | list[float]]:
        """All fields but kind and time, as recordings and monitors take them; None is left out."""
        found: dict[str, str | int | float | list[float]] = {"text": self.text}
        if self.side is not None:
            found["side"] = self.side.word
        if self.number is not None:
            found["number"] = self.number
        if self.place is not None:
            found["place"] = list(self.place)
        if self.foul is not None:
            found["foul"] = self.foul.title
        return found


Decision = MovePlayer | PlaceBall | FreezeLimbs | SwapEnds | Event
