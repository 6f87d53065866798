"""The observation and the action of a player of this league in each cycle.

    class Statue:
        def act(self, percept: Percept) -> Action:
            return Action(motors=np.tile([0.0, 0.0, 100.0, 2.0, 0.0], (len(percept.angles), 1)))

Units and frames are those of the wire: joint angles in degrees, their speeds in degrees a second, gyroscope in degrees
a second, acceleration in m/s²; bodies have x forward, y left, z up. Directions are polar: distance [m], angle to the
left and angle upwards [degrees], seen from the camera. Every player receives its true place and attitude, as on
the league's server. Arrays are shared and must not be changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.match.worlds.physical.percept import GameView

if TYPE_CHECKING:
    from nutmeg.model.field import FieldSettings


ROBOTS = ("t1", "k1")
"""The league's robots; their types are the indices. Agents ask for them in capitals."""
_ARMS = (*(f"laj{n}" for n in range(1, 5)), *(f"raj{n}" for n in range(1, 5)))
_LEGS = (*(f"llj{n}" for n in range(1, 7)), *(f"rlj{n}" for n in range(1, 7)))
JOINTS = {"t1": ("hj1", "hj2", *_ARMS, "tj1", *_LEGS), "k1": ("hj1", "hj2", *_ARMS, *_LEGS)}
"""Joints as percepts name them, which is the order of the robots' own joints; the K1 has no waist."""
EFFECTORS = {name: tuple(f"{joint[:-2]}e{joint[-1]}" for joint in joints) for name, joints in JOINTS.items()}
"""Motors as commands name them (`he1`, `te1`), in the same columns."""
MAX_JOINTS = 23
PARTS = ("head", "lfoot", "rfoot")
"""Parts of a player that are seen: columns of `Sight.parts`."""
MOTOR_NUMBERS = 5
"""Angle, speed, the gains of both, and torque."""
MAX_HEARD_BYTES = 10
"""Longer messages are not delivered [bytes]."""


class Sight(NamedTuple):
    """The sightings of the camera, without noise, every second cycle."""

    marks: Floats
    """(M, 3) the landmarks of the field and the ball, polar, in the order of `landmarks`; NaN is out of view."""
    parts: Floats
    """(P, 3, 3) the parts of all players, polar; NaN is out of view. Columns as `PARTS`."""
    teams: tuple[str, ...]
    """(P,) names of the players' teams."""
    numbers: tuple[int, ...]
    """(P,) the players' numbers."""


class Percept(NamedTuple):
    """The observation of one player in one cycle."""

    robot: str
    """`t1` or `k1`."""
    time: float
    """Time of the server [s]."""
    game: GameView
    """Play mode, game time and score."""
    teams: tuple[str, str]
    """Names of left and right; empty while no player has joined."""
    attitude: Floats
    """(4,) quaternion of the torso, w first."""
    position: Floats
    """(3,) of the torso [m]."""
    gyro: Floats
    """Angular velocity of the torso, (3,) [degrees/s]."""
    acc: Floats
    """(3,) [m/s²]; (0, 0, 9.81) at rest."""
    angles: Floats
    """(joints,) [degrees]; columns as `JOINTS`."""
    rates: Floats
    """(joints,) [degrees/s]"""
    heard: tuple[tuple[int, bytes], ...] | None = None
    """Directions [whole degrees to the left of the head] and messages; None if no player spoke."""
    sight: Sight | None = None
    """None in cycles without a picture."""


class Action(NamedTuple):
    """The action of a player."""

    motors: Floats | None = None
    """(joints, 5) angle [degrees], speed [degrees/s], stiffness [N m/rad], damping [N m s/rad], torque [N m]; rows that
    begin with NaN leave the last command. None leaves all."""
    beam: tuple[float, float, float] | None = None
    """The place to be beamed to in its own half: x, y [m], heading [degrees], in the team's frame."""
    say: tuple[float, bytes] | None = None
    """Loudness (1 is all there is) and message."""
    syn: bool = False
    """Whether it sent `(syn)`."""


Place = tuple[float, float, float]
VISION_CYCLES = 2
"""Players see in every second cycle."""


def landmarks(field: FieldSettings) -> dict[str, Place]:
    """Landmarks by name [m], in the order of rcssservermj 0.2.1; the ball `B` comes after them.

    The first letter of a name says what it is (`l` a corner, `t` and `x` where lines meet or cross, `p` a penalty mark,
    `g` a goal post), then left, centre or right, upper (y > 0) or lower, and the field, circle, goal area or penalty
    area it belongs to. A quirk that clients of that server have adapted to is kept: the corners of goal areas and
    penalty areas are sent at the full width of the area instead of half of it.
    """
    if field.goal is None or field.goal_area is None:
        raise UsageError(f"the field {field.name!r} has no goals or no goal areas; this league's players need both.")
    x, y = field.length / 2, field.width / 2
    mark, post = x - field.penalty_mark_distance, field.goal.inner_width / 2
    found: dict[str, Place] = {}
    for side, sign in (("l", -1), ("r", 1)):
        found |= {f"l_{side}uf": (sign * x, y, 0.0), f"l_{side}lf": (sign * x, -y, 0.0)}
    found |= {"t_cuf": (0.0, y, 0.0), "t_clf": (0.0, -y, 0.0)}
    found |= {"x_cuc": (0.0, field.centre_circle_radius, 0.0), "x_clc": (0.0, -field.centre_circle_radius, 0.0)}
    found |= {"p_lpm": (-mark, 0.0, 0.0), "p_rpm": (mark, 0.0, 0.0)}
    for side, sign in (("l", -1), ("r", 1)):
        found |= {
            f"g_{side}up": (sign * x, post, field.goal.height),
            f"g_{side}lp": (sign * x, -post, field.goal.height),
        }
    for area, letters in ((field.goal_area, "ga"), (field.penalty_area, "pa")):
        if area is None:
            continue
        for kind, depth in (("l", area.depth), ("t", 0.0)):
            for side, sign in (("l", -1), ("r", 1)):
                found[f"{kind}_{side}u{letters}"] = (sign * (x - depth), area.width, 0.0)
                found[f"{kind}_{side}l{letters}"] = (sign * (x - depth), -area.width, 0.0)
    return found
