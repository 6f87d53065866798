"""Kicks and dives of players: where the ball has to lie for each, how far it rolls, and the joint angles.

    ahead, left = kick_place("straight")            # for the left foot; the right foot's place is at -left
    foot = foot_for(Kick(ball=(0.17, -0.05)))       # "right", or None if the ball lies elsewhere
    ability = kick_ability("straight", robot="t1")  # the same as data for tactics
    moves = Moves(OnboardRobot("nao-spark", "type0"), stance=0.1)
    move = moves.kick(request, foot, angles)
    angles = move.step(gyro, up)                    # (motors,) rad, once a cycle until `move.over`

Motions are data files (`motion.keyframes`); examples/learn_motion.py shows how kicks are learned. Files contain the
kick with the left foot and the dive to the left, which are mirrored. A motion with a network (`motion.correction`) is
corrected by it in every cycle. The league's Nao has three kicks, each with its own place of the ball: a kick, a pass of
half its distance, and a shot, which goes farthest, needs no stop before it, and leaves the robot on the ground. T1 and
K1 have one kick, of one strength. There are no kicks to the side; requests for kicks that a robot does not have are
ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.match.players.decide import KickAbility
from nutmeg.match.players.request import STRONG_KICK
from nutmeg.motion.bodies import Mirror
from nutmeg.motion.correction import KICK, Corrector, correction_limits
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
Motions = Mapping[str, KeyframeMotion]
"""Motions by name, which are played instead of those that come with Nutmeg (see `keyframes.own_motions`)."""
NO_MOTIONS: Motions = {}
_SLACK_SHARE = 0.65  # share of a kick's tolerance within which a walking robot stops for it


def kick_place(
    kind: KickKind = "straight", strength: float = 1.0, body: str = PLAIN_TYPE, robot: str = ROBOT
) -> tuple[float, float]:
    """Place of the ball for a kick with the left foot: ahead of the torso and to the left of it [m]."""
    return _motion(kind, strength, body, robot, NO_MOTIONS).ball


def kick_ability(
    kind: KickKind = "straight",
    *,
    body: str = PLAIN_TYPE,
    robot: str = ROBOT,
    nearer: float = 0.0,
    own: Motions = NO_MOTIONS,
) -> KickAbility:
    """A kick as tactics know it; `nearer` is how much nearer than its place they should bring the ball [m]."""
    motion = _motion(kind, 1.0, body, robot, own)
    slack = _SLACK_SHARE * motion.tolerance
    return KickAbility(
        place=motion.ball, nearer=nearer, slack=(slack, slack), tolerance=motion.tolerance, reach=motion.distance
    )


def foot_for(request: Kick, body: str = PLAIN_TYPE, robot: str = ROBOT, own: Motions = NO_MOTIONS) -> Foot | None:
    """The foot that can kick the ball, or the requested one; None if it cannot, or if the robot has no such kick."""
    if request.kind not in KICK_KINDS[robot]:
        return None
    motion = _motion(request.kind, request.strength, body, robot, own)
    (ahead, left), (x, y) = motion.ball, request.ball
    aside = {foot: abs(y - side * left) for foot, side in zip(FEET, (1, -1), strict=True)}
    nearest = min(FEET, key=aside.__getitem__) if request.foot is None else request.foot
    return nearest if max(abs(x - ahead), aside[nearest]) <= motion.tolerance else None


def _motion(kind: KickKind, strength: float, body: str, robot: str, own: Motions) -> KeyframeMotion:
    """The motion of a kick of a kind and strength, for a robot and its type."""
    weak = (kind == "pass" or strength < STRONG_KICK) and "pass" in KICK_KINDS[robot]
    name = "shot" if kind == "shot" else "pass" if weak else "kick"
    return own[name] if name in own else shipped_motion(robot, name, body)


class Move:
    """A kick or a dive that one robot plays.

    Args:
        path: joint angles, one row for each cycle, (T, motors) [rad].
        limits: lowest and highest corrected targets, (2, motors) [rad].
        seconds: duration of the motion [s].
        corrector: the network that corrects it, begun; None for a motion without one.
    """

    def __init__(self, path: Floats, limits: Floats, seconds: float, corrector: Corrector | None) -> None:
        self._path, self._limits, self._seconds, self._corrector, self._cycle = path, limits, seconds, corrector, 0

    @property
    def over(self) -> bool:
        """Whether its last angles were given."""
        return self._cycle >= len(self._path)

    def step(self, gyro: Floats, up: Floats) -> Floats:
        """The angles of the next cycle, (motors,) [rad], for what the torso senses, (1, 3) each."""
        targets = self._path[self._cycle]
        self._cycle += 1
        if self._corrector is None:
            return np.asarray(targets)
        share = np.array([min(self._cycle * CONTROL_CYCLE / self._seconds, 1.0)])
        targets = targets + self._corrector.correct(np.zeros(1, np.intp), share, gyro, up)[0]
        return np.asarray(np.clip(targets, *self._limits))


class Moves:
    """The kicks and dives of one body.

    Args:
        body: the robot.
        stance: distance between its feet before a kick [m]; None for that with which its kicks were learned.
        kind: the robot type whose kicks it uses.
        own: motions that it plays instead of those that come with Nutmeg.
    """

    def __init__(
        self,
        body: ReportedRobot,
        stance: float | None = None,
        kind: str = PLAIN_TYPE,
        own: Motions = NO_MOTIONS,
    ) -> None:
        self._body, self._table, self._mirror = body, body.table, Mirror.of(body.scene, body.table)
        self._stance, self._kind, self._robot, self._own = stance, kind, body.table.settings.name, own
        self._limits = correction_limits(self._table)
        self._correctors: dict[str, Corrector] = {}

    def kick(self, request: Kick, foot: Foot, angles: Floats) -> Move:
        """A kick with a foot from a posture (motors,)."""
        motion = _motion(request.kind, request.strength, self._kind, self._robot, self._own)
        if self._stance is not None:
            motion = spread_stance(motion, self._table, self._stance)
        return self._begin(motion, angles, request.ball, mirrored=foot == "right")

    def dive(self, request: Dive, angles: Floats) -> Move:
        """A dive from a posture (motors,)."""
        motion = self._own.get("dive") or shipped_motion(self._robot, "dive", self._kind)
        mirrored, (ahead, left) = request.side == "right", motion.ball
        passes = (-left if mirrored else left) if request.passes is None else request.passes
        return self._begin(motion, angles, (ahead, passes), mirrored=mirrored)

    def _begin(self, motion: KeyframeMotion, angles: Floats, ball: tuple[float, float], *, mirrored: bool) -> Move:
        """A motion from a posture (motors,), for a ball ahead and to the left [m]."""
        (ahead, left), (x, y) = motion.ball, ball
        off = x - ahead, (-y if mirrored else y) - left
        path = motion_path(motion, self._table, self._mirror, angles, ball=off, mirrored=mirrored)
        if motion.correction is None:
            return Move(path, self._limits, motion.seconds, None)
        if motion.name not in self._correctors:
            body, correction = self._body, motion.correction
            self._correctors[motion.name] = Corrector(body, body.name, correction, symmetric=False)
        corrector, place = self._correctors[motion.name], np.array([off[0], -off[1] if mirrored else off[1]])
        corrector.begin(np.zeros(1, np.intp), KICK, ball=place, mirrored=mirrored)
        return Move(path, self._limits, motion.seconds, corrector)
