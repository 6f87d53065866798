"""The numbers of a trot, with their ranges.

    trot = TrotSettings(frequency=2.0, step_x=0.06)
    trot_range("duty")                          # 0.45, 0.8, ""

Foot paths, heights and offsets are those that teams of the four-legged league searched (Kohl and Stone, 2004: places
and heights of the fore and hind paths, length, lift, time, share on the ground).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from nutmeg.motion.bounded_numbers import check_numbers, number, range_of


@dataclass(frozen=True, kw_only=True)
class TrotSettings:
    """Parameters of the trot; fore and hind legs have their own places, heights and lifts."""

    step_x: float = number(0.060, 0.0, 0.14, "m")
    """Longest way ahead of the trunk while a paw is on the ground."""
    step_y: float = number(0.040, 0.0, 0.10, "m")
    """Longest way aside likewise."""
    step_turn: float = number(0.40, 0.0, 1.0, "rad")
    """Largest turn likewise."""
    back_share: float = number(1.0, 0.1, 1.5)
    """Longest way backward as a share of `step_x`."""
    frequency: float = number(1.6, 0.5, 3.0, "Hz")
    """Step cycles a second: each of the two pairs swings once in a cycle."""
    duty: float = number(0.58, 0.45, 0.80)
    """Share of a cycle in which a paw is on the ground."""
    lift_fore: float = number(0.016, 0.003, 0.05, "m")
    """How high fore paws are lifted."""
    lift_hind: float = number(0.021, 0.003, 0.05, "m")
    """How high hind paws are lifted."""
    squareness: float = number(0.0, 0.0, 1.0)
    """Path of a swinging paw: 0 is half an ellipse, 1 a rectangle, values between are between."""
    height_fore: float = number(0.100, 0.070, 0.135, "m")
    """Of the shoulders above the ground."""
    height_hind: float = number(0.100, 0.070, 0.135, "m")
    """Of the hips above the ground."""
    ahead_fore: float = number(0.045, -0.03, 0.08, "m")
    """Middle of the fore paws' paths ahead of the shoulders."""
    ahead_hind: float = number(-0.025, -0.06, 0.05, "m")
    """Middle of the hind paws' paths ahead of the hips."""
    width_fore: float = number(0.030, -0.01, 0.06, "m")
    """Fore paws outside the shoulders."""
    width_hind: float = number(0.020, -0.01, 0.06, "m")
    """Hind paws outside the hips."""
    response: float = number(0.15, 0.02, 1.0, "s")
    """Time in which steps come near to the wanted size: 63 % of the difference are gone in it."""

    def __post_init__(self) -> None:
        check_numbers(self)


AHEAD = (
    *("step_x", "frequency", "duty", "lift_fore", "lift_hind", "squareness", "height_fore", "height_hind"),
    *("ahead_fore", "ahead_hind", "width_fore", "width_hind"),
)
"""The twelve that a walk straight ahead depends on."""
ALL = tuple(one.name for one in dataclasses.fields(TrotSettings))


def trot_range(name: str) -> tuple[float, float, str]:
    """The allowed range of a parameter and its unit."""
    return range_of(TrotSettings, name, what="parameter of the trot")
