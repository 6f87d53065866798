"""The rule book: every number a referee needs, read from a TOML file, each with its source beside it.

    rules = load_rules("sim3d")                     # or the path of your own
    rules.match.half_length                         # 300.0 s
    rules = rules.with_match(automatic_kick_off=True, wait_before_kick_off=2.0)
    rules = rules.on(pitch_of(load_field("sim3d-21x14"), load_ball("sim3d")))

The league's book is `data/rules/sim3d.toml`; what it leaves to people at tournaments (extra time, penalty shoot-out)
and what its server has but does not use (offside, crowding) are options there. Coordinates as everywhere: the origin
is the centre mark, x points to the right goal, y to the left of that direction.

`data/rules/spl2011.toml` is the Standard Platform League as the behavioural world plays it: time on the side line,
balls put back at once. It goes with the field `spl2011`, or with `spl2025` through `on`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, fields
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nutmeg.base.errors import UsageError
from nutmeg.base.settings import read_named
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field

if TYPE_CHECKING:
    from nutmeg.model.ball import BallSettings
    from nutmeg.model.field import FieldSettings


# ----------------------------------------------------------------------------------------------------
# The rules of fouls.
#
# The first eight fouls have the order and the index with which rcssserver3d names them to its monitors; hand ball has
# the index of rcssservermj. Pushing and standing still are fouls of the Standard Platform League; no monitor knows
# them, so they are numbered apart. Each can be switched off; the source of each number stands beside it in the rule
# book's file.


class Foul(IntEnum):
    """The fouls; the value is the index that monitors receive."""

    CROWDING = 0
    TOUCHING = 1
    ILLEGAL_DEFENCE = 2
    ILLEGAL_ATTACK = 3
    INCAPABLE = 4
    KICK_OFF = 5
    CHARGING = 6
    SELF_COLLISION = 7
    HAND_BALL = 10
    PUSHING = 100
    INACTIVE = 101

    @property
    def title(self) -> str:
        """The name as the league writes it, e.g. `IllegalDefence`."""
        return self.name.title().replace("_", "")


@dataclass(frozen=True, kw_only=True)
class _Table:
    """A table of a rule book; none of its numbers may be negative."""

    def __post_init__(self) -> None:
        """Refuse negative numbers."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and value < 0:
                raise ValueError(f"{field.name} is {value}; it must not be negative.")


@dataclass(frozen=True, kw_only=True)
class IncapableRules(_Table):
    """The foul of lying or sitting for too long."""

    on: bool
    """Whether the foul is called."""
    not_standing_height: float
    """A torso lower than this is not standing, m."""
    ground_height: float
    """A torso lower than this lies on the ground, m."""
    stood_up_time: float
    """Time of standing after which an earlier time of not standing is forgotten, s."""
    not_standing_time: float
    """Time for which field players may be not standing, s."""
    goalie_not_standing_time: float
    """Time for which goalies may be not standing, s."""
    ground_time: float
    """Allowed for field players, s."""
    goalie_ground_time: float
    """Allowed for goalies, s."""
    margin: float
    """How far beyond the touch lines time still counts, m."""

    def __post_init__(self) -> None:
        """Refuse numbers that contradict each other."""
        super().__post_init__()
        if self.ground_height > self.not_standing_height:
            raise ValueError(
                f"ground_height is {self.ground_height} m, above not_standing_height {self.not_standing_height} m; "
                "a player on the ground is not standing."
            )


@dataclass(frozen=True, kw_only=True)
class AreaRules(_Table):
    """Too many players of one side in a penalty area."""

    on: bool
    """Whether the foul is called."""
    most: int
    """Players allowed in the area, the goalie included."""
    sent_outside: bool
    """Put beside the pitch, instead of to the nearest edge of the area."""


@dataclass(frozen=True, kw_only=True)
class CrowdingRules(_Table):
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


@dataclass(frozen=True, kw_only=True)
class TouchingRules:
    """The foul of joining a group of touching players that is too large."""

    on: bool
    """Whether the foul is called."""
    most: int
    """Largest number of players in a group."""
    sent_outside: bool
    """Whether the offender is put beside the pitch, instead of out of the group."""

    def __post_init__(self) -> None:
        """Refuse an empty group."""
        if self.most < 1:
            raise ValueError(f"most is {self.most}; a group has at least 1 player. Set on = false to allow all groups.")


@dataclass(frozen=True, kw_only=True)
class ChargingRules(_Table):
    """Running into an opponent. The offender is held up and put beside the pitch."""

    on: bool
    """Whether the foul is called."""
    speed: float
    """Players slower than this do not charge, m/s."""
    collision_speed: float
    """Speed towards the point of collision from which it is charging, m/s."""
    ball_angle: float
    """A player whose direction to the ball differs from its velocity by less than this plays the ball, degrees."""
    ball_rules_distance: float
    """Within this distance of the ball, a player that plays the ball does not charge, m."""
    distance_difference: float
    """If both players play the ball, the farther one is at fault only if their distances from it differ by more than
    this, m."""
    angle_difference: float
    """If both players play the ball, the farther one is at fault only if their directions differ by more than this,
    degrees."""
    ball_collision_distance: float
    """Collisions within this distance of the ball are no fouls, m."""
    immunity: float
    """Time after touching the ball in which a player does not charge, s."""
    collision_time: float
    """Time after an innocent collision in which a player does not charge, s."""
    moved_immunity: float
    """Time after being moved by the referee in which a player does not charge, s."""
    velocity_samples: int
    """Cycles over which velocities are averaged."""

    def __post_init__(self) -> None:
        """Refuse negative numbers, and an average over nothing."""
        super().__post_init__()
        if self.velocity_samples < 1:
            raise ValueError("velocity_samples is 0; an average needs at least 1.")


@dataclass(frozen=True, kw_only=True)
class KickOffRules:
    """Touching the ball of a kick-off twice in a row."""

    on: bool
    """Whether it is reported as a foul; the opponents get a free kick in any case."""


@dataclass(frozen=True, kw_only=True)
class SelfCollisionRules(_Table):
    """A limb that passes through another part of its robot."""

    on: bool
    """Whether the foul is called."""
    penalty: Literal["freeze", "outside"]
    """The limb loses its drive, or the player is put beside the pitch."""
    freeze_time: float
    """Time for which a limb is without drive, s."""
    thaw_time: float
    """Time after that in which the same limb is not called again, s."""
    outside_cooldown: float
    """Time in which a player that was put outside is not called again, s."""


@dataclass(frozen=True, kw_only=True)
class PushingRules(_Table):
    """Pushing an opponent, as the world reports it (`Facts.pushes`). The offender is put beside the pitch."""

    on: bool
    """Whether the foul is called."""
    goalie_exempt: bool
    """Whether goalies in their own penalty area are never called."""
    moved_immunity: float
    """Time after being moved by the referee in which a player is not called, s."""


@dataclass(frozen=True, kw_only=True)
class InactiveRules(_Table):
    """Standing still near the ball. The referee looks at fixed times; the offender is put beside the pitch."""

    on: bool
    """Whether the foul is called."""
    look_interval: float
    """Time between two inspections, s."""
    ball_distance: float
    """Only players nearer to the ball than this are inspected, m."""
    movement: float
    """A player that has moved less than this since the last inspection stands still, m."""
    time: float
    """Time for which a player may stand still, s."""
    goalie_exempt: bool
    """Whether goalies in their own penalty area are never called."""

    def __post_init__(self) -> None:
        """Refuse negative numbers, and looks without a pause."""
        super().__post_init__()
        if self.look_interval == 0:
            raise ValueError("look_interval is 0; there is some time between two looks.")


@dataclass(frozen=True, kw_only=True)
class HandBallRules:
    """Playing the ball with a stretched arm (`Facts.hand_ball`). The opponents get a direct free kick."""

    on: bool = False
    """Whether the foul is called."""
    goalie_exempt: bool = True
    """Whether goalies may use their hands in their own penalty area."""


@dataclass(frozen=True, kw_only=True)
class FoulRules(_Table):
    """All fouls, and what follows."""

    hold_time: float
    """Time for which an offender is held up before it is put outside, s."""
    hold_height: float
    """Height of the torso while held up, m."""
    outside_distance: float
    """Distance of offenders from the touch line, m."""
    outside_spacing: float
    """Distance between neighbouring numbers there, m."""
    removal_time: float
    """Time for which offenders stay beside the pitch and take no part in the game, s; with 0 they may return at
    once."""
    return_distance: float
    """Distance from the halfway line at which offenders return on the touch line away from the ball, m."""
    incapable: IncapableRules
    """The foul of lying or sitting for too long."""
    illegal_defence: AreaRules
    """Too many in the own penalty area."""
    illegal_attack: AreaRules
    """Too many in the opponents' penalty area."""
    crowding: CrowdingRules
    """Too many team-mates at the ball."""
    touching: TouchingRules
    """The foul of joining a group of touching players that is too large."""
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
    hand_ball: HandBallRules = HandBallRules()
    """Playing the ball with a stretched arm; rule books without this table do not call it."""


RULES_FOLDER = Path(__file__).parent / "data" / "rules"
MAX_PLAYERS = 11
"""Players of a team in all arrays; the rules may allow fewer."""


@dataclass(frozen=True, kw_only=True)
class Pitch(_Table):
    """The measures that rules refer to, m."""

    length: float
    """Distance between the goal lines."""
    width: float
    """Distance between the touch lines."""
    goal_width: float
    """Distance between the posts."""
    goal_height: float
    """Under the crossbar."""
    goal_depth: float
    """Distance from the goal line to the net."""
    penalty_depth: float
    """Depth of the penalty area, from the goal line."""
    penalty_width: float
    """Width of the penalty area, along the goal line."""
    circle_radius: float
    """Radius of the centre circle."""
    penalty_mark: float
    """Distance of the penalty mark from the goal line; 0 if there is none."""
    ball_radius: float
    """Radius of the ball."""

    def __post_init__(self) -> None:
        """Refuse what no pitch can have."""
        super().__post_init__()
        for field in dataclasses.fields(self):
            if getattr(self, field.name) == 0 and field.name != "penalty_mark":
                raise ValueError(f"{field.name} is {getattr(self, field.name)}; it must be above 0.")
        for part in ("goal_width", "penalty_width"):
            if getattr(self, part) >= self.width:
                raise ValueError(f"{part} is {getattr(self, part)} m, but the pitch is only {self.width} m wide.")
        if self.penalty_depth >= self.length / 2:
            raise ValueError(f"penalty_depth is {self.penalty_depth} m, more than half of the pitch.")


@dataclass(frozen=True, kw_only=True)
class MatchRules(_Table):
    """Duration of a match, number of players, and how halves begin."""

    players: int
    """Players of a team, at most 11."""
    half_length: float
    """Length of a half, s."""
    halves: Literal[1, 2]
    """Number of halves, one or two."""
    swap_ends: bool
    """Teams change ends for the second half, and for each half of extra time."""
    extra_time: bool
    """A draw is followed by two more halves."""
    extra_half_length: float
    """Length of a half of extra time, s."""
    goal_pause: float
    """Time from a goal to the kick-off, s."""
    automatic_kick_off: bool
    """Each half starts by itself, instead of by a trainer."""
    wait_before_kick_off: float
    """Time before an automatic kick-off, counted once a player is on the pitch, s."""
    start_anywhere: bool
    """Whether players may start anywhere; otherwise they are sent to their own half for a kick-off."""
    drill_players: int
    """With at most this number of players on the pitch, restrictions on kick-offs and free kicks are lifted."""

    def __post_init__(self) -> None:
        """Refuse what no match can have."""
        super().__post_init__()
        if not 1 <= self.players <= MAX_PLAYERS:
            raise ValueError(f"players is {self.players}; allowed are 1 to {MAX_PLAYERS}.")
        for name in ("half_length", "extra_half_length"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is 0; a half takes time.")


@dataclass(frozen=True, kw_only=True)
class RestartRules(_Table):
    """Kick-ins, corners, goal kicks and free kicks."""

    pause: float
    """Time from the whistle until the ball is put down, s."""
    drop_ball_time: float
    """Time from the whistle after which a restart that is not taken ends, s."""
    distance: float
    """Opponents nearer to the ball than this are moved away, m."""
    move_distance: float
    """Distance from the ball to which they are moved, m."""
    repel_distance: float
    """Distance from the ball to which players of the kicking side are pushed when it is put down, m."""
    goal_kick_distance: float
    """Distance of the ball from the goal line, m."""
    corner_kick: Literal["midway", "corner"]
    """Where corners are taken."""
    kick_duration: float
    """Touches of the taker within this time are one kick, s."""
    watch_taker: bool
    """Whether the taker may not touch the ball twice, nor score straight from an indirect kick."""
    untaken: Literal["drop", "free"]
    """What happens to a restart that is not taken: the ball is dropped and all players are moved away, or play
    continues."""
    player_radius: float
    """Room that a moved player needs, m."""
    move_attempts: int
    """How many places are tried for a moved player."""

    def __post_init__(self) -> None:
        """Refuse numbers that contradict each other."""
        super().__post_init__()
        if self.move_distance < self.distance:
            raise ValueError(
                f"move_distance is {self.move_distance} m, but opponents nearer than distance {self.distance} m are "
                "moved; they would be moved for ever."
            )
        if self.drop_ball_time <= self.pause:
            raise ValueError(
                f"drop_ball_time is {self.drop_ball_time} s; it must be longer than the pause of {self.pause} s."
            )
        if self.move_attempts < 1 or self.player_radius == 0:
            raise ValueError("move_attempts and player_radius must be above 0.")


@dataclass(frozen=True, kw_only=True)
class OutRules(_Table):
    """A ball over a line that is put back at once, while play goes on.

    It is put on a line beside the touch line (its throw-in line): over the touch line, some way back towards the goal
    of the side that touched it last; over the goal line, at the near end of the throw-in line if its defender touched
    it last, otherwise on the halfway line.
    """

    put_back: bool
    """Whether that is done, instead of kick-ins, corners and goal kicks."""
    back: float
    """How far back, m."""
    inset: float
    """Distance of the throw-in lines from the touch lines, m."""
    end: float
    """Distance of their ends from the goal lines, m."""


@dataclass(frozen=True, kw_only=True)
class FormationRules:
    """Where the referee puts players for a kick-off.

    Places are as a team sees them: x is a fraction of half the length, -1 on the own goal line and 0 on the halfway
    line, y one of half the width; number 1 comes first.
    """

    on: bool
    """Whether the referee does so; otherwise players go there by themselves, and are only sent to their half."""
    kicking: tuple[tuple[float, float], ...]
    """Places of the side that kicks off."""
    receiving: tuple[tuple[float, float], ...]
    """Places of the other side."""

    def __post_init__(self) -> None:
        """Refuse places in the other half or outside."""
        for name in ("kicking", "receiving"):
            for x, y in getattr(self, name):
                if not (-1 <= x <= 0 and -1 <= y <= 1):
                    raise ValueError(f"{name} has the place ({x}, {y}); x must be within -1 to 0 and y within -1 to 1.")


@dataclass(frozen=True, kw_only=True)
class OffsideRules:
    """Offside as in human soccer."""

    on: bool
    """Whether it is called."""


@dataclass(frozen=True, kw_only=True)
class PassRules(_Table):
    """Pass mode: a few seconds at the ball without opponents, and for that no goal for a while."""

    on: bool
    """Whether players may ask for it."""
    ball_speed: float
    """The ball must not be faster, m/s."""
    ball_distance: float
    """The asking player must not be farther from it, m."""
    opponent_distance: float
    """Opponents must not be nearer, m."""
    opponent_margin: float
    """Additional distance by which opponents that come nearer are moved away, m."""
    duration: float
    """Duration of pass mode, s."""
    score_wait: float
    """Time after pass mode in which the team cannot score, unless two of its players have touched the ball, s."""
    retry_wait: float
    """Time before the same team may ask again, s."""


@dataclass(frozen=True, kw_only=True)
class ShootOutRules(_Table):
    """Penalty kicks after a draw."""

    on: bool
    """Whether a draw is followed by penalty kicks."""
    ball_distance: float | Literal["mark"]
    """Distance of the ball from the goal line, m, or on the penalty mark."""
    kicker_distance: float | Literal["centre"]
    """Distance of the kicker from the goal line, m, or in the middle of the pitch."""
    others: Literal["circle", "outside"]
    """Where all but kicker and goalie wait: in the centre circle, or beside the pitch."""
    kicker_touches: Literal["once", "before area"]
    """How often the kicker may touch the ball: once, or any number of times until the ball is in the penalty area."""
    goalie_stays: bool
    """A goalie must not leave its penalty area; otherwise it must not touch a ball outside of it. Else it is a goal."""
    kick_time: float
    """Allowed for one kick, s."""
    still_ball_speed: float
    """A kicked ball slower than this ends the kick, m/s."""
    rounds: int
    """Kicks of each team before the shoot-out can end."""
    most_rounds: int
    """Kicks of each team after which it ends in any case."""

    def __post_init__(self) -> None:
        """Refuse what no shoot-out can have."""
        super().__post_init__()
        if not 1 <= self.rounds <= self.most_rounds:
            raise ValueError(f"rounds is {self.rounds}; allowed are 1 to most_rounds = {self.most_rounds}.")
        far, near = self.kicker_distance, self.ball_distance
        if not isinstance(far, str) and not isinstance(near, str) and far <= near:
            raise ValueError(f"kicker_distance is {self.kicker_distance} m; the kicker must stand behind the ball.")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A whole rule book."""

    name: str
    """The name it is called by, that of its file."""
    pitch: Pitch
    """Measures of the pitch and the goals."""
    match: MatchRules
    """Duration of a match, number of players, and how halves begin."""
    restarts: RestartRules
    """Kick-ins, corners, goal kicks and free kicks."""
    outs: OutRules
    """Balls over a line that are put back at once."""
    formation: FormationRules
    """Where the referee puts players for a kick-off."""
    offside: OffsideRules
    """Whether and how offside is judged."""
    pass_mode: PassRules
    """When a team gets its pass mode, and what follows from it."""
    fouls: FoulRules
    """Fouls, and what follows."""
    shoot_out: ShootOutRules
    """Penalty kicks after a draw."""

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        if self.shoot_out.on and self.shoot_out.ball_distance == "mark" and self.pitch.penalty_mark == 0:
            raise ValueError("penalties are kicked from the penalty mark, but the pitch has none (penalty_mark is 0).")
        places = min(len(self.formation.kicking), len(self.formation.receiving))
        if self.formation.on and places < self.match.players:
            raise ValueError(f"the formation has places for {places} players, but a team has {self.match.players}.")

    def with_match(self, **changes: Any) -> Rules:  # noqa: ANN401 (fields of MatchRules)
        """The same book with other rules for the match, e.g. `automatic_kick_off=True`."""
        return dataclasses.replace(self, match=dataclasses.replace(self.match, **changes))

    def on(self, pitch: Pitch) -> Rules:
        """The same book on another pitch."""
        try:
            return dataclasses.replace(self, pitch=pitch)
        except ValueError as error:
            raise UsageError(f"the rule book {self.name!r} cannot be played on this pitch: {error}") from None


def load_rules(name: str | Path) -> Rules:
    """A built-in rule book by name, or a user's by the path of its TOML file."""
    return read_named(name, RULES_FOLDER, Rules, "rule book")


def pitch_of(field: FieldSettings, ball: BallSettings | None = None) -> Pitch:
    """The measures of a field, which needs goals and penalty areas, and of a ball, the field's own if left out."""
    if field.goal is None or field.penalty_area is None:
        raise UsageError(f"the field {field.name!r} has no goals or no penalty areas; a match needs both.")
    ball = ball or load_ball(field.ball)
    return Pitch(
        length=field.length,
        width=field.width,
        goal_width=field.goal.inner_width,
        goal_height=field.goal.height,
        goal_depth=field.goal.depth,
        penalty_depth=field.penalty_area.depth,
        penalty_width=field.penalty_area.width,
        circle_radius=field.centre_circle_radius,
        penalty_mark=field.penalty_mark_distance,
        ball_radius=ball.radius,
    )


def rules_on(book: str, field: str) -> Rules:
    """The rules of a book (a name, or a TOML file) on a field, which needs goals and penalty areas."""
    return load_rules(book).on(pitch_of(load_field(field)))
