"""What a player wants its body to do: the words between deciding and moving.

    Request(legs=Walk(ahead=0.4, left=0.0, turn=0.2), look=Look(yaw=0.3, pitch=-0.2), say="...")
    Request(legs=Walk.by(0.02, 0.0, 0.1))                   # a displacement until the next decision
    Request(legs=Kick(ball=(0.17, 0.05), foot="left", strength=0.5), tell={"plan": "kick", "to": [3.0, 0.5]})
    Request()                                               # stand and look ahead

They are the same in every world that Nutmeg plays in: a body that has joints carries them out with motors, one that
has none by moving along. Velocities are in the body's frame, ahead and to the left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

KickKind = Literal["straight", "left", "right", "pass", "shot"]
"""Ahead, to the side with the inside of a foot, ahead with less strength, or at once and as far as possible, for which
a body with joints throws itself down."""
Foot = Literal["left", "right"]
DECISION_INTERVAL = 0.1
"""Between two decisions of a `decide` [s]."""
MAX_TOLD_BYTES = 1024
"""The longest structure that players tell each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """Stay where one is, on one's feet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Walk; wishes beyond what the walk can do are cut to it."""

    ahead: float = 0.0
    """Velocity ahead, m/s."""
    left: float = 0.0
    """Velocity to the left, m/s."""
    turn: float = 0.0
    """To the left, rad/s."""
    set: Literal["walk", "sprint", "positioning"] = "walk"
    """Which of the walk's sets of parameters, if it has it."""

    @classmethod
    def by(
        cls, ahead: float = 0.0, left: float = 0.0, turn: float = 0.0, *, seconds: float = DECISION_INTERVAL
    ) -> Walk:
        """The walk that goes a displacement in a time, by default until the next decision: NaOISIS's (dx, dy, dtheta).

        Args:
            ahead: how far ahead, m.
            left: how far to the left, m.
            turn: how far to turn to the left, rad.
            seconds: in which time; what the walk cannot do in it is cut, as any wish.
        """
        return cls(ahead=ahead / seconds, left=left / seconds, turn=turn / seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kick:
    """Kick the ball, which lies before the feet; ends by itself, and is not begun if the ball is elsewhere."""

    ball: tuple[float, float]
    """Where the ball lies: ahead and to the left, m."""
    kind: KickKind = "straight"
    strength: float = 1.0
    """How hard to kick, 0 to 1."""
    foot: Foot | None = None
    """Which foot kicks; None for the one that suits the ball and the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dive:
    """Throw oneself to a side, as a goalkeeper does."""

    side: Literal["left", "right"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GetUp:
    """Get up; who is on its feet already stands."""


Legs = Stand | Walk | Kick | Dive | GetUp
"""A player who has fallen gets up before it does any of these; where a body does not do so by itself, it does with
`GetUp` only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Where the head is to look; clipped to what the neck can do."""

    yaw: float = 0.0
    """To the left, rad."""
    pitch: float = 0.0
    """The pitch of the head, upwards, rad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that a player wants in one cycle."""

    legs: Legs = field(default_factory=Stand)
    look: Look = field(default_factory=Look)
    say: str | None = None
    """At most 20 characters."""
    tell: Mapping[str, Any] | None = None
    """A structure of plain values for the team-mates, at most `MAX_TOLD_BYTES` as JSON. The behavioural world carries
    it (`View.told`); the simulation leagues do not."""
    beam: tuple[float, float, float] | None = None
    """x and y [m] and heading [degrees], where the rules allow it."""
    wants_pass: bool = False
    intent: str = ""
    """What this is for, in a few words, for whoever watches."""
