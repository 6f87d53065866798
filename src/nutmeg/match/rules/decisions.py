"""What a referee decides: where players and the ball are put, which limbs go limp, and what is told to everybody.

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
"""x and y, m."""
Limb = Literal["left arm", "right arm", "left leg", "right leg"]
LIMBS: tuple[Limb, ...] = ("left arm", "right arm", "left leg", "right leg")
"""In the order of the last axis of `Facts.self_collision`."""
EventKind = Literal[
    "play_mode", "goal", "no_goal", "out", "foul", "return", "double_touch", "fall", "drop_ball", "half", "shoot_out"
]


@dataclass(frozen=True, kw_only=True)
class MovePlayer:
    """Put a player somewhere else, in the pose it has, at rest."""

    side: Side
    """Its side."""
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
    """Where."""


@dataclass(frozen=True, kw_only=True)
class FreezeLimbs:
    """Take the drive from limbs for a while."""

    side: Side
    """Side of the player."""
    number: int
    """Its uniform number."""
    limbs: tuple[Limb, ...]
    """Which."""
    duration: float
    """s."""


@dataclass(frozen=True, kw_only=True)
class SwapEnds:
    """The teams change ends: who was left is right from now on. The referee's score has been turned round already."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something worth telling and recording."""

    kind: EventKind
    """What kind of thing happened."""
    time: float
    """Game time, s."""
    side: Side | None = None
    """Whose: who scored, offended or is in favour."""
    number: int | None = None
    """Which player, if one is concerned."""
    place: Place | None = None
    """Where, if it has a place."""
    foul: Foul | None = None
    """Which foul, if it is one."""
    text: str
    """A sentence for people."""

    def fields(self) -> dict[str, str | int | float | list[float]]:
        """All but kind and time, as a recording or a monitor takes them; what is None is left out."""
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
