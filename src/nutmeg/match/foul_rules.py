"""What the rule book says about fouls; part of `rules`.

The first eight fouls are those rcssserver3d names to its monitors, in its order: their index is what a monitor is told.
Pushing and standing still are fouls of the Standard Platform League; no monitor knows them, so they are numbered apart.
Each can be switched off; each number's source stands beside it in the rule book's file.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, Literal


class Foul(IntEnum):
    """The fouls, by the index that monitors are told."""

    CROWDING = 0
    TOUCHING = 1
    ILLEGAL_DEFENCE = 2
    ILLEGAL_ATTACK = 3
    INCAPABLE = 4
    KICK_OFF = 5
    CHARGING = 6
    SELF_COLLISION = 7
    PUSHING = 100
    INACTIVE = 101

    @property
    def title(self) -> str:
        """The name as the league writes it, e.g. `IllegalDefence`."""
        return self.name.title().replace("_", "")


def refuse_negative(rules: Any) -> None:  # noqa: ANN401 (any of the dataclasses of a rule book)
    """Raise ValueError for a number below zero in a dataclass; none of them may be."""
    for field in fields(rules):
        value = getattr(rules, field.name)
        if isinstance(value, int | float) and value < 0:
            raise ValueError(f"{field.name} is {value}; it must not be negative.")


@dataclass(frozen=True, kw_only=True)
class IncapableRules:
    """Players who lie or sit too long."""

    on: bool
    """Whether the foul is called."""
    not_standing_height: float
    """A torso lower than this is not standing, m."""
    ground_height: float
    """A torso lower than this lies on the ground, m."""
    stood_up_time: float
    """Standing so long ends a time of not standing, s."""
    not_standing_time: float
    """Allowed for field players, s."""
    goalie_not_standing_time: float
    """Allowed for goalies, s."""
    ground_time: float
    """Allowed for field players, s."""
    goalie_ground_time: float
    """Allowed for goalies, s."""
    margin: float
    """How far beyond the touch lines time still counts, m."""

    def __post_init__(self) -> None:
        """Refuse numbers that contradict each other."""
        refuse_negative(self)
        if self.ground_height > self.not_standing_height:
            raise ValueError(
                f"ground_height is {self.ground_height} m, above not_standing_height {self.not_standing_height} m; "
                "who lies on the ground is not standing."
            )


@dataclass(frozen=True, kw_only=True)
class AreaRules:
    """Too many players of one side in a penalty area."""

    on: bool
    """Whether the foul is called."""
    most: int
    """Players allowed in the area, the goalie included."""
    sent_outside: bool
    """Put beside the pitch, instead of to the nearest edge of the area."""

    def __post_init__(self) -> None:
        """Refuse negative numbers."""
        refuse_negative(self)


@dataclass(frozen=True, kw_only=True)
class CrowdingRules:
    """Too many team-mates at the ball."""

    on: bool
    """Whether the foul is called."""
    opponent_distance: float
    """It counts only when an opponent is nearer to the ball than this, m."""
    second_distance: float
    """The second nearest of a team must be farther from the ball, m."""
    third_distance: float
    """The third nearest of a team must be farther from the ball, m."""
    sent_outside: bool
    """Put beside the pitch, instead of straight away from the ball."""

    def __post_init__(self) -> None:
        """Refuse negative numbers."""
        refuse_negative(self)


@dataclass(frozen=True, kw_only=True)
class TouchingRules:
    """Too many players who touch each other."""

    on: bool
    """Whether the foul is called."""
    most: int
    """The largest group allowed."""
    sent_outside: bool
    """Put beside the pitch, instead of out of the group."""

    def __post_init__(self) -> None:
        """Refuse a group of nobody."""
        if self.most < 1:
            raise ValueError(f"most is {self.most}; a group has at least 1 player. Set on = false to allow all groups.")


@dataclass(frozen=True, kw_only=True)
class ChargingRules:
    """Running into an opponent. The offender is held up and put beside the pitch."""

    on: bool
    """Whether the foul is called."""
    speed: float
    """Slower players do not charge, m/s."""
    collision_speed: float
    """Speed towards the point of collision from which it is charging, m/s."""
    ball_angle: float
    """Who runs towards the ball within this angle plays the ball, degrees."""
    ball_rules_distance: float
    """So near to the ball, playing the ball excuses, m."""
    distance_difference: float
    """When both play the ball: the farther one is at fault if the distances differ by more than this, m."""
    angle_difference: float
    """... and their directions towards each other by more than this, degrees."""
    ball_collision_distance: float
    """Collisions so near to the ball are nobody's fault, m."""
    immunity: float
    """After touching the ball, s."""
    collision_time: float
    """Since the last innocent collision, s."""
    moved_immunity: float
    """After being moved by the referee, s."""
    velocity_samples: int
    """Cycles over which velocities are averaged."""

    def __post_init__(self) -> None:
        """Refuse negative numbers, and an average over nothing."""
        refuse_negative(self)
        if self.velocity_samples < 1:
            raise ValueError("velocity_samples is 0; an average needs at least 1.")


@dataclass(frozen=True, kw_only=True)
class KickOffRules:
    """Touching a kick-off twice before anybody else does."""

    on: bool
    """Whether it is reported as a foul; the opponents get a free kick in any case."""


@dataclass(frozen=True, kw_only=True)
class SelfCollisionRules:
    """A limb that passes through another part of its robot."""

    on: bool
    """Whether the foul is called."""
    penalty: Literal["freeze", "outside"]
    """The limb loses its drive, or the player is put beside the pitch."""
    freeze_time: float
    """A limb is without drive so long, s."""
    thaw_time: float
    """... and is then not called again so long, s."""
    outside_cooldown: float
    """A player put outside is not called again so long, s."""

    def __post_init__(self) -> None:
        """Refuse negative numbers."""
        refuse_negative(self)


@dataclass(frozen=True, kw_only=True)
class PushingRules:
    """Pushing an opponent; who pushed whom is in the facts (`Facts.pushes`). The offender is put beside the pitch."""

    on: bool
    """Whether the foul is called."""
    goalie_exempt: bool
    """Whether goalies in their own penalty area are never called."""
    moved_immunity: float
    """After being moved by the referee, s."""

    def __post_init__(self) -> None:
        """Refuse negative numbers."""
        refuse_negative(self)


@dataclass(frozen=True, kw_only=True)
class InactiveRules:
    """Standing still near the ball. The referee looks at fixed times; the offender is put beside the pitch."""

    on: bool
    """Whether the foul is called."""
    look_interval: float
    """Between two looks, s."""
    ball_distance: float
    """Only players nearer to the ball than this are looked at, m."""
    movement: float
    """Who has moved less than this since the last look stands still, m."""
    time: float
    """Allowed, s."""
    goalie_exempt: bool
    """Whether goalies in their own penalty area are never called."""

    def __post_init__(self) -> None:
        """Refuse negative numbers, and looks without a pause."""
        refuse_negative(self)
        if self.look_interval == 0:
            raise ValueError("look_interval is 0; there is some time between two looks.")


@dataclass(frozen=True, kw_only=True)
class FoulRules:
    """All fouls, and what follows."""

    hold_time: float
    """An offender who is sent outside is held up first, s."""
    hold_height: float
    """Height of the torso while held up, m."""
    outside_distance: float
    """Offenders stand so far beyond the touch line, m."""
    outside_spacing: float
    """Distance between neighbouring numbers there, m."""
    removal_time: float
    """They stay there so long and take no part in the game, s; with 0 they may come back at once."""
    return_distance: float
    """When that time is over, they are put on the touch line away from the ball, so far from the halfway line, m."""
    incapable: IncapableRules
    """Players who lie or sit too long."""
    illegal_defence: AreaRules
    """Too many in the own penalty area."""
    illegal_attack: AreaRules
    """Too many in the opponents' penalty area."""
    crowding: CrowdingRules
    """Too many team-mates at the ball."""
    touching: TouchingRules
    """Too many players who touch each other."""
    charging: ChargingRules
    """Running into an opponent."""
    kick_off: KickOffRules
    """Touching a kick-off twice."""
    self_collision: SelfCollisionRules
    """A limb inside another part of its robot."""
    pushing: PushingRules
    """Pushing an opponent."""
    inactive: InactiveRules
    """Standing still near the ball."""

    def __post_init__(self) -> None:
        """Refuse negative numbers."""
        refuse_negative(self)
