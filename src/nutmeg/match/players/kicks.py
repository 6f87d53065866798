"""Kicks and dives of the built-in team: which there are, where the ball must lie, and the angles of the joints.

    ahead, left = kick_place("straight")            # for the left foot; the right foot's place is at -left
    foot = foot_for(Kick(ball=(0.17, -0.05)))       # "right", or None if the ball lies elsewhere
    moves = Moves(OnboardRobot("nao-spark", "type0"), stance=0.1)
    path = moves.kick(request, foot, angles)        # (T, motors) rad, one row for each cycle

Motions are data files (`motion.keyframes`); how kicks are learned is in examples/learn_motion.py. Files have the kick
with the left foot and the dive to the left. There are three, each a motion with a place of its own for the ball: a
kick, a pass of half its distance, and a shot, which hits the ball at once and farthest, and after which the robot lies
on the ground. Kicks to the side are not known, and are not begun.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.motion.bodies import Mirror
from nutmeg.motion.keyframes import KeyframeMotion, motion_path, shipped_motion, spread_stance

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.players.request import Dive, Foot, Kick, KickKind
    from nutmeg.motion.bodies import OnboardRobot


ROBOT = "nao-spark"
FEET: tuple[Foot, Foot] = ("left", "right")
KICK_KINDS: tuple[KickKind, ...] = ("straight", "pass", "shot")
"""The kinds of kick that there are motions for."""
PLAIN_TYPE = "type0"
"""The type of robot whose kicks those have that have none of their own."""
STRONG_KICK = 0.75
"""Kicks that ask for less strength than this are passes."""


def kick_place(kind: KickKind = "straight", strength: float = 1.0, body: str = PLAIN_TYPE) -> tuple[float, float]:
    """Where the ball must lie for a kick with the left foot: ahead of the torso and to the left of it [m]."""
    return _motion(kind, strength, body).ball


def kick_tolerance(kind: KickKind = "straight", strength: float = 1.0, body: str = PLAIN_TYPE) -> float:
    """How far from its place the ball may lie along each axis [m]."""
    return _motion(kind, strength, body).tolerance


def kick_distance(kind: KickKind = "straight", strength: float = 1.0, body: str = PLAIN_TYPE) -> float:
    """About how far the ball goes [m]."""
    return _motion(kind, strength, body).distance


def foot_for(request: Kick, body: str = PLAIN_TYPE) -> Foot | None:
    """The foot that can kick the ball where it lies, or the wished one; None if it cannot, or there is no such kick."""
    if request.kind not in KICK_KINDS:
        return None
    ahead, left = kick_place(request.kind, request.strength, body)
    x, y = request.ball
    off = {foot: max(abs(x - ahead), abs(y - side * left)) for foot, side in zip(FEET, (1, -1), strict=True)}
    nearest = min(FEET, key=off.__getitem__) if request.foot is None else request.foot
    return nearest if off[nearest] <= kick_tolerance(request.kind, request.strength, body) else None


def _motion(kind: KickKind, strength: float, body: str) -> KeyframeMotion:
    """The motion that is nearest to what is asked for, of a type of the robot."""
    if kind == "shot":
        return shipped_motion(ROBOT, "shot", body)
    return shipped_motion(ROBOT, "pass" if kind == "pass" or strength < STRONG_KICK else "kick", body)


class Moves:
    """The kicks and dives of one body.

    Args:
        body: whose.
        stance: how far apart its feet stand before a kick [m].
        kind: the type of robot whose kicks it has.
    """

    def __init__(self, body: OnboardRobot, stance: float, kind: str = PLAIN_TYPE) -> None:
        self._table, self._mirror = body.table, Mirror.of(body.scene, body.table)
        self._stance, self._kind = stance, kind

    def kick(self, request: Kick, foot: Foot, angles: Floats) -> Floats:
        """A kick with a foot from a posture (motors,), one row for each cycle, (T, motors) [rad]."""
        motion = spread_stance(_motion(request.kind, request.strength, self._kind), self._table, self._stance)
        (x, y), (ahead, left), mirrored = request.ball, motion.ball, foot == "right"
        off = x - ahead, (-y if mirrored else y) - left
        return motion_path(motion, self._table, self._mirror, angles, ball=off, mirrored=mirrored)

    def dive(self, request: Dive, angles: Floats) -> Floats:
        """A dive from a posture (motors,), one row for each cycle, (T, motors) [rad]."""
        motion = shipped_motion(ROBOT, "dive")
        return motion_path(motion, self._table, self._mirror, angles, mirrored=request.side == "right")
