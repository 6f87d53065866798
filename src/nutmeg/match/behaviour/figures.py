"""A body for players without joints, so that recordings, pages and videos can show them: a Nao of the catalogue.

    figures = BehaviourFigures(world, match=0)
    figures.poses(), figures.angles(), figures.ball()

It stands in its standing pose with its head turned, swings its legs when it walks, bends one for a kick, and lies the
way it has fallen. None of this has to do with how the behavioural world moves it; it is to be looked at.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Bools, Floats
from nutmeg.body.catalogue import load_robot
from nutmeg.body.posing import standing
from nutmeg.body.scene import Placement, SceneSettings, assemble
from nutmeg.match.behaviour.state import KickKind, Posture
from nutmeg.match.slots import SLOTS

if TYPE_CHECKING:
    from nutmeg.match.behaviour.world import BehaviourWorld


ROBOT, POSE = "nao-v4", "stand"
HIDDEN = -5.0
"""Height of who does not play [m]."""
LYING = 0.09
"""Height of the torso of who lies [m]."""
STEP_TIME, SWING, KNEE = 0.8, 0.22, 0.45
"""A pair of steps takes so long [s]; how far the thighs swing and the knees bend at full speed [rad]."""
FULL = 0.2
"""Full speed of the drawn legs [m/s], and of a turn of four times that [rad/s]."""
KICK_SWING = -0.7
"""How far the thigh of a kicking leg swings [rad]."""


class BehaviourFigures:
    """The players of one match of a behavioural world.

    Args:
        world: where they play.
        match: which match.
        robot: which robot of the catalogue; one with the joints of a Nao.
    """

    def __init__(self, world: BehaviourWorld, match: int = 0, robot: str = ROBOT) -> None:
        self._world, self._match = world, match
        self.robot, self.physics, self.pose = robot, "", POSE
        scene = assemble(SceneSettings(field="none", ball="none", robots=(Placement(robot=robot, pose=POSE),)))
        self.joints: tuple[str, ...] = scene.robots[0].joints
        stance = standing(load_robot(robot), POSE)
        self._stance, self._height = stance.angles, stance.height
        self._column = {name: column for column, name in enumerate(self.joints)}

    @property
    def field(self) -> str:
        """Name of the field."""
        return self._world.field.name

    @property
    def present(self) -> Bools:
        """(22,) who plays."""
        present: Bools = self._world.state.present[self._match]
        return present

    def kind(self, slot: int) -> str:  # noqa: ARG002 (all are alike)
        """The robot's type of a player."""
        return ""

    def ball(self) -> Floats:
        """(7,) place and attitude (quaternion) of the ball."""
        x, y = self._world.state.ball[self._match]
        return np.array([x, y, self._world.ball_radius, 1.0, 0.0, 0.0, 0.0])

    def poses(self) -> Floats:
        """(22, 7) place and attitude (quaternion) of the torsos; below the ground where nobody plays."""
        found = np.zeros((SLOTS, 7))
        found[:, 2], found[:, 3] = HIDDEN, 1.0
        for slot in np.flatnonzero(self.present).tolist():
            found[slot] = self._torso(slot)
        return found

    def _torso(self, slot: int) -> tuple[float, ...]:
        state, m = self._world.state, self._match
        x, y, heading = state.pose[m, slot].tolist()
        lean, to = self._lean(slot), float(state.fallen_to[m, slot])
        if lean == 0.0:
            return x, y, self._height, math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)
        way, up = self._height * math.sin(lean), max(self._height * math.cos(lean), LYING)
        place = x + way * math.cos(heading + to), y + way * math.sin(heading + to), up
        # first lean about the horizontal axis across the direction of the fall, then turn about z by the heading
        c, s = math.cos(lean / 2), math.sin(lean / 2)
        a, b = -s * math.sin(to), s * math.cos(to)
        d, e = math.cos(heading / 2), math.sin(heading / 2)
        return *place, d * c, d * a - e * b, d * b + e * a, e * c

    def _lean(self, slot: int) -> float:
        """How far a player leans towards where it falls [rad]."""
        state, m = self._world.state, self._match
        posture = Posture(int(state.posture[m, slot]))
        if posture in (Posture.UPRIGHT, Posture.KICKING):
            return 0.0
        if posture is Posture.GETTING_UP:
            return math.pi / 2 * min(float(state.busy[m, slot]) / 3.0, 1.0)
        return math.pi / 2

    def angles(self) -> Floats:
        """(22, joints) rad."""
        state, m = self._world.state, self._match
        found = np.tile(self._stance, (SLOTS, 1))
        phase = math.tau * float(state.cycle[m]) * 0.1 / STEP_TIME
        for slot in np.flatnonzero(self.present).tolist():
            yaw, pitch = state.head[m, slot].tolist()
            self._add(found[slot], HeadYaw=yaw, HeadPitch=-pitch)
            posture = Posture(int(state.posture[m, slot]))
            if posture is Posture.KICKING:
                left = KickKind(int(state.kick[m, slot])) in (KickKind.LEFT_STRAIGHT, KickKind.LEFT_SIDE)
                self._swing(found[slot], "L" if left else "R", KICK_SWING, 0.5)
            elif posture is Posture.UPRIGHT:
                ahead, aside, turn = state.speed[m, slot].tolist()
                share = min((math.hypot(ahead, aside) + 0.25 * abs(turn)) / FULL, 1.0)
                if share > 0.02:
                    self._walk(found[slot], share, phase + slot)
        return found

    def _walk(self, row: Floats, share: float, phase: float) -> None:
        """Swings both legs and arms."""
        for leg, sign in (("L", 1.0), ("R", -1.0)):
            swing = sign * SWING * share * math.sin(phase)
            lifted = KNEE * share * max(sign * math.cos(phase), 0.0)
            self._swing(row, leg, -swing - lifted / 2, lifted)
            self._add(row, **{f"{leg}ShoulderPitch": swing})

    def _swing(self, row: Floats, leg: str, thigh: float, knee: float) -> None:
        """Moves a leg; its ankle keeps the sole level."""
        self._add(row, **{f"{leg}HipPitch": thigh, f"{leg}KneePitch": knee, f"{leg}AnklePitch": -thigh - knee})

    def _add(self, row: Floats, **angles: float) -> None:
        for joint, angle in angles.items():
            row[self._column[joint]] += angle
