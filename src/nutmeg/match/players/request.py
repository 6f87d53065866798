"""Requests of a player to its body: the interface between deciding and moving.

    Request(legs=Walk(ahead=0.4, left=0.0, turn=0.2), look=Look(yaw=0.3, pitch=-0.2), say="...")
    Request(legs=Walk.by(0.02, 0.0, 0.1))                   # a displacement until the next decision
    Request(legs=Kick(ball=(0.17, 0.05), foot="left", strength=0.5), tell={"plan": "kick", "to": [3.0, 0.5]})
    Request()                                               # stand and look ahead

They are the same in all worlds: the physical world carries them out with motors, the behavioural one moves the robot
directly. Velocities are in the body's frame, ahead and to the left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

KickKind = Literal["straight", "left", "right", "pass", "shot"]
"""Kinds of kicks: ahead, to a side with the inside of a foot, a weaker one ahead, or the farthest one without stopping
first, after which a robot with joints lies on the ground."""
Foot = Literal["left", "right"]
DECISION_INTERVAL = 0.1
"""Time between two decisions of a `decide` [s]."""
STRONG_KICK = 0.75
"""Strength (0 to 1) from which a straight kick is the long one; weaker ones are passes."""
MAX_TOLD_BYTES = 1024
"""Largest size of a structured message, as JSON [bytes]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """Stand still."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Walk at a velocity, which is limited to what the walk can do."""

    ahead: float = 0.0
    """Velocity ahead, m/s."""
    left: float = 0.0
    """Velocity to the left, m/s."""
    turn: float = 0.0
    """Turn rate to the left, rad/s."""
    set: Literal["walk", "sprint", "positioning"] = "walk"
    """The parameter set of the walk, if the walk has it."""

    @classmethod
    def by(
        cls, ahead: float = 0.0, left: float = 0.0, turn: float = 0.0, *, seconds: float = DECISION_INTERVAL
    ) -> Walk:
        """The walk that covers a displacement in a time, by default one decision: NaOISIS's (dx, dy, dtheta).

        Args:
            ahead: displacement ahead, m.
            left: displacement to the left, m.
            turn: rotation to the left, rad.
            seconds: the time, s; the resulting velocity is limited as any other.
        """
        return cls(ahead=ahead / seconds, left=left / seconds, turn=turn / seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dribble(Walk):
    """Bring the ball into a direction, by a network (`motion.dribble`); a body without one walks at the velocity."""

    direction: float
    """The wanted direction of the ball to the left of the player's heading, rad."""
    ball: tuple[float, float]
    """Place of the ball: ahead and to the left, m."""
    ball_velocity: tuple[float, float]
    """Velocity of the ball over the ground, ahead and to the left, m/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kick:
    """Kick the ball before the feet; a kick ends by itself, and is not begun if the ball is out of its reach."""

    ball: tuple[float, float]
    """Place of the ball: ahead and to the left, m."""
    kind: KickKind = "straight"
    strength: float = 1.0
    """Strength of the kick, 0 to 1."""
    foot: Foot | None = None
    """The foot that kicks; None for the one that suits the ball and the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dive:
    """Dive to a side, as a goalkeeper does."""

    side: Literal["left", "right"]
    passes: float | None = None
    """How far to the left of the torso the ball will pass, m, negative to the right; None if that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetUp:
    """Get up; an upright robot stands."""


Legs = Stand | Walk | Kick | Dive | GetUp
"""Requests to the legs. A fallen robot gets up before it does any of these; a body that does not get up by itself does
so with `GetUp` only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Direction of the head, limited to what the neck can do."""

    yaw: float = 0.0
    """Yaw of the head to the left, rad."""
    pitch: float = 0.0
    """Pitch of the head upwards, rad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The request of a player in one cycle."""

    legs: Legs = field(default_factory=Stand)
    look: Look = field(default_factory=Look)
    say: str | None = None
    """A message of at most 20 characters, which all players may hear."""
    tell: Mapping[str, Any] | None = None
    """A structured message of plain values to team-mates, at most `MAX_TOLD_BYTES` as JSON. The behavioural world
    carries it (`View.told`); the simulation leagues do not."""
    beam: tuple[float, float, float] | None = None
    """x and y [m] and heading [degrees] of a place to be beamed to, where the rules allow it."""
    wants_pass: bool = False
    """Whether the player asks for pass mode, where the rules have it."""
    intent: str = ""
    """The purpose in a few words, which the page and reports show."""
