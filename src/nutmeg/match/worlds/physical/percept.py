"""The observation and the action of a player in each cycle: one interface for players in Python and for the wire.

    class Statue:
        def act(self, percept: Percept) -> Action:
            return Action(speeds=-0.1 * np.radians(percept.angles), beam=(-1.0, 0.0, 0.0))

Everything is as the SimSpark server sends it to agents: the body's frame has x right, y forward, z up; joint angles
and the gyroscope are in degrees, joint speeds in radians a second; directions are polar: distance in metres, angle to
the left and angle upwards in degrees, both seen from the camera. Rows of joints are in the order of `JOINTS`: the
twenty-two that every robot has in the order of the wire, then the toes of type 4, so that a row without toes is the
beginning of a row with them. Arrays are shared and must not be changed. Percepts and actions are made for every
player in every cycle: they are named tuples, which are made faster than frozen dataclasses; their fields are given by
name all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from nutmeg.base.arrays import Bytes, Floats
from nutmeg.match.rules.play_modes import Side

ROBOT, PHYSICS = "nao-spark", "league"
"""The league's robot, and the physics that it moves with."""

JOINTS = (
    *("hj1", "hj2"),
    *("raj1", "raj2", "raj3", "raj4"),
    *("laj1", "laj2", "laj3", "laj4"),
    *("rlj1", "rlj2", "rlj3", "rlj4", "rlj5", "rlj6"),
    *("llj1", "llj2", "llj3", "llj4", "llj5", "llj6"),
    *("rlj7", "llj7"),
)
"""Joints as percepts name them; the columns of angles and speeds."""

EFFECTORS = tuple(f"{name[:-2]}e{name[-1]}" for name in JOINTS)
"""Motors as effectors name them (`he1`, `rae1`), in the same columns as `JOINTS`."""

WITHOUT_TOES, WITH_TOES = 22, 24
"""How many joints types 0 to 3 have, and type 4."""

FEET = ("rf", "lf", "rf1", "lf1")
"""Rows of foot forces: right and left foot, then the toes of type 4."""

PARTS = ("head", "rlowerarm", "llowerarm", "rfoot", "lfoot")
"""Parts of a player that are seen: columns of `Sight.parts`."""

LANDMARKS = ("G1L", "G2L", "G1R", "G2R", "F1L", "F2L", "F1R", "F2R", "B")
"""Goal posts, corner flags and the ball, as a player may see them."""

MAX_MESSAGE_LENGTH = 20
"""Characters in a message."""


class GameView(NamedTuple):
    """The state of the game that all players know."""

    mode: str
    """The play mode's name on the wire, as `BeforeKickOff`."""
    time: float
    """Game time, s."""
    score_left: int = 0
    """Goals of the left team."""
    score_right: int = 0
    """Goals of the right team."""
    number: int | None = None
    """The player's number, only in the first percept after it has joined."""
    side: Side | None = None
    """The player's side, together with the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message that was heard."""

    team: str
    """Name of the speaker's team."""
    time: float
    """Game time at which it was sent, s."""
    direction: float | None
    """Where it came from, degrees to the left of the torso; None is the player's own voice."""
    message: str
    """The message: at most 20 printable characters without space and parentheses."""


class Sight(NamedTuple):
    """The sightings of the camera, with its noise; every third cycle."""

    labels: tuple[str, ...]
    """(K,) names of the landmarks and the ball in view, in the order of the wire."""
    marks: Floats
    """(K, 3) where they are, polar."""
    parts: Floats
    """(P, 5, 3) where the parts of the players in view are, polar; NaN is out of view. Columns as `PARTS`."""
    lines: Floats
    """(L, 2, 3) the ends of the line segments in view, polar."""
    teams: tuple[str, ...] = ()
    """(P,) names of the teams of the players in view; the own robot is among them."""
    numbers: tuple[int, ...] = ()
    """(P,) their numbers."""
    my_position: Floats | None = None
    """(3,) true place of the head, m, the own goal at -x; only where the server sends the ground truth."""
    my_heading: float | None = None
    """True heading of the head, degrees, 0 towards the other goal; only where the server sends the ground truth."""
    ball_position: Floats | None = None
    """(3,) true place of the ball, m, the own goal at -x; only where the server sends the ground truth."""


class Percept(NamedTuple):
    """The observation of one player in one cycle."""

    time: float
    """Time of the server, which continues when the game clock stops [s]."""
    game: GameView
    """Play mode, game time and score."""
    gyro: Floats
    """(3,) of the torso, degrees a second."""
    acc: Floats
    """(3,) of the torso, m/s^2; (0, 0, 9.81) at rest."""
    angles: Floats
    """(22,) or (24,) joint angles in degrees; columns as `JOINTS`."""
    forces: Floats
    """(2, 6) or (4, 6) place of the force (m, in the foot's frame) and force (N); NaN is no contact. Rows as `FEET`."""
    hears: tuple[Heard, ...] = ()
    """Messages."""
    sight: Sight | None = None
    """The sightings, in cycles with an image."""
    sonar: tuple[float, float] | None = None
    """Distances that the left and the right sonar measure, m, infinite without an echo; in cycles with a measurement,
    every fifth, and only where a match gives robots sonars. The league has none."""
    render: Callable[[], Mapping[str, Bytes]] | None = None
    """Draws the pictures of the robot's cameras, (height, width, 3) each, by their names; only where a match gives
    players pictures, and only until the next cycle. The league has none."""


class Action(NamedTuple):
    """A player's answer; what it does not mention stays as it is."""

    speeds: Floats | None = None
    """(22,) or (24,) target speeds of the joints, rad/s; NaN leaves a joint's target, and None all of them."""
    beam: tuple[float, float, float] | None = None
    """Be put at x, y (m, as seen by the own team, which attacks +x) with a heading (degrees)."""
    say: str | None = None
    """A message of at most 20 characters from `!` to `~`, without parentheses."""
    wants_pass: bool = False
    """Ask for pass mode."""
    syn: bool = False
    """Ready for the next cycle, where the server waits for it."""


class Player(Protocol):
    """A player: called once a cycle with its percept."""

    def act(self, percept: Percept) -> Action:
        """The action of this cycle, from what is perceived."""
        ...
