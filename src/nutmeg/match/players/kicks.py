"""Kicks and dives of players: where the ball has to lie for each, how far it rolls, and the joint angles.

    ahead, left = kick_place("straight")            # for the left foot; the right foot's place is at -left
    foot = foot_for(Kick(ball=(0.17, -0.05)))       # "right", or None if the ball lies elsewhere
    ability = kick_ability("straight", robot="t1")  # the same as data for tactics
    moves = Moves(OnboardRobot("nao-spark", "type0"), stance=0.1)
    path = moves.kick(request, foot, angles)        # (T, motors) rad, one row for each cycle

Motions are data files (`motion.keyframes`); examples/learn_motion.py shows how kicks are learned. Files contain the
kick with the left foot and the dive to the left, which are mirrored. The league's Nao has three kicks, each with its
own place of the ball: a kick, a pass of half its distance, and a shot, which goes farthest, needs no stop before it,
and leaves the robot on the ground. T1 and K1 have one kick, of one strength. There are no kicks to the side; requests
for kicks that a robot does not have are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nutmeg.match.players.decide import KickAbility
from nutmeg.match.players.request import STRONG_KICK
from nutmeg.motion.bodies import Mirror
from nutmeg.motion.keyframes import KeyframeMotion, motion_path, shipped_motion, spread_stance

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.players.request import Dive, Foot, Kick, KickKind
    from nutmeg.motion.bodies import ReportedRobot


ROBOT = "nao-spark"
FEET: tuple[Foot, Foot] = ("left", "right")
KICK_KINDS: Mapping[str, tuple[KickKind, ...]] = {
    ROBOT: ("straight", "pass", "shot"),
    "t1": ("straight",),
    "k1": ("straight",),
}
"""Kinds of kicks for which each robot has motions."""
PLAIN_TYPE = "type0"
"""The robot type whose kicks are the default of all types."""
_SLACK_SHARE = 0.65  # share of a kick's tolerance within which a walking robot stops for it


def kick_place(
    kind: KickKind = "straight", strength: float = 1.0, body: str = PLAIN_TYPE, robot: str = ROBOT
) -> tuple[float, float]:
    """Place of the ball for a kick with the left foot: ahead of the torso and to the left of it [m]."""
    return _motion(kind, strength, body, robot).ball


def kick_ability(
    kind: KickKind = "straight", *, body: str = PLAIN_TYPE, robot: str = ROBOT, nearer: float = 0.0
) -> KickAbility:
    """A kick as tactics know it; `nearer` is how much nearer than its place they should bring the ball [m]."""
    motion = _motion(kind, 1.0, body, robot)
    slack = _SLACK_SHARE * motion.tolerance
    return KickAbility(
        place=motion.ball, nearer=nearer, slack=(slack, slack), tolerance=motion.tolerance, reach=motion.distance
    )


def foot_for(request: Kick, body: str = PLAIN_TYPE, robot: str = ROBOT) -> Foot | None:
    """The foot that can kick the ball, or the requested one; None if it cannot, or if the robot has no such kick."""
    if request.kind not in KICK_KINDS[robot]:
        return None
    motion = _motion(request.kind, request.strength, body, robot)
    (ahead, left), (x, y) = motion.ball, request.ball
    off = {foot: max(abs(x - ahead), abs(y - side * left)) for foot, side in zip(FEET, (1, -1), strict=True)}
    nearest = min(FEET, key=off.__getitem__) if request.foot is None else request.foot
    return nearest if off[nearest] <= motion.tolerance else None


def _motion(kind: KickKind, strength: float, body: str, robot: str) -> KeyframeMotion:
    """The motion of a kick of a kind and strength, for a robot and its type."""
    if kind == "shot":
        return shipped_motion(robot, "shot", body)
    weak = (kind == "pass" or strength < STRONG_KICK) and "pass" in KICK_KINDS[robot]
    return shipped_motion(robot, "pass" if weak else "kick", body)


class Moves:
    """The kicks and dives of one body.

    Args:
        body: the robot.
        stance: distance between its feet before a kick [m]; None for that with which its kicks were learned.
        kind: the robot type whose kicks it uses.
    """

    def __init__(self, body: ReportedRobot, stance: float | None = None, kind: str = PLAIN_TYPE) -> None:
        self._table, self._mirror = body.table, Mirror.of(body.scene, body.table)
        self._stance, self._kind, self._robot = stance, kind, body.table.settings.name

    def kick(self, request: Kick, foot: Foot, angles: Floats) -> Floats:
        """A kick with a foot from a posture (motors,), one row for each cycle, (T, motors) [rad]."""
        motion = _motion(request.kind, request.strength, self._kind, self._robot)
        if self._stance is not None:
            motion = spread_stance(motion, self._table, self._stance)
        (x, y), (ahead, left), mirrored = request.ball, motion.ball, foot == "right"
        off = x - ahead, (-y if mirrored else y) - left
        return motion_path(motion, self._table, self._mirror, angles, ball=off, mirrored=mirrored)

    def dive(self, request: Dive, angles: Floats) -> Floats:
        """A dive from a posture (motors,), one row for each cycle, (T, motors) [rad]."""
        motion = shipped_motion(self._robot, "dive")
        return motion_path(motion, self._table, self._mirror, angles, mirrored=request.side == "right")
