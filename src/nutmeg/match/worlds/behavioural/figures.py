"""How a behavioural match is drawn in recordings, pages and videos, and read back from a recording.

    figures = BehaviourFigures(world, match=0)          # each player is shown as a Nao of the catalogue
    figures.poses(), figures.angles(), figures.ball()
    match = RecordedMatch(Recording.open(Path("match.nutmeg")))
    match.state(row), match.sights(row).of(0, slot)     # where everybody is, and what a player sees
    match.sonars(row)[slot]                             # what its sonars answer

A figure stands with its head turned, swings its legs when it walks, bends one for a kick, and lies the way the player
has fallen. The behavioural world has no joints: the figure is only to be looked at.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.base.arrays import Bools, Floats
from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.match.drawing import Kind
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.behavioural.sonar import Sonar
from nutmeg.match.worlds.behavioural.state import KickKind, MatchesState, Posture
from nutmeg.match.worlds.behavioural.vision import Vision
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field
from nutmeg.model.posing import standing
from nutmeg.model.robot import load_robot
from nutmeg.model.scene import Placement, SceneSettings, assemble

if TYPE_CHECKING:
    from nutmeg.match.worlds.behavioural.vision import Sightings
    from nutmeg.match.worlds.behavioural.world import BehaviourWorld
    from nutmeg.recording import Recording


_FIGURE_ROBOT, _FIGURE_POSE = "nao-v4", "stand"
_HIDDEN_HEIGHT = -5.0  # height of absent players [m]
_LYING_HEIGHT = 0.09  # height of the torso of a player that lies [m]
_STEP_TIME, _THIGH_SWING, _KNEE_BEND = 0.8, 0.22, 0.45
"""Duration of a pair of steps [s]; swing of the thighs and bend of the knees at full speed [rad]."""
FULL_SPEED = 0.2
"""Full speed of the drawn legs [m/s], and of a turn of four times that [rad/s]."""
_KICK_SWING = -0.7  # how far the thigh of a kicking leg swings [rad]


class BehaviourFigures:
    """The players of one match of a behavioural world.

    Args:
        world: where they play.
        match: which match.
        robot: which robot of the catalogue; one with the joints of a Nao.
    """

    others_every = 1
    """Cycles between two times at which a recording looks at beliefs about others."""
    mixes_robots = False

    def __init__(self, world: BehaviourWorld, match: int = 0, robot: str = _FIGURE_ROBOT) -> None:
        self._world, self._match = world, match
        self._kind, self.physics, self.pose = Kind(robot), "", _FIGURE_POSE
        scene = assemble(SceneSettings(field="none", ball="none", robots=(Placement(robot=robot, pose=_FIGURE_POSE),)))
        self.joints: tuple[str, ...] = scene.robots[0].joints
        stance = standing(load_robot(robot), _FIGURE_POSE)
        self._stance, self._height = stance.angles, stance.height
        self._column = {name: column for column, name in enumerate(self.joints)}

    @property
    def field(self) -> str:
        """Name of the field."""
        return self._world.field.name

    @property
    def present(self) -> Bools:
        """(22,) whether a robot plays."""
        present: Bools = self._world.state.present[self._match]
        return present

    def kind(self, slot: int) -> Kind:  # noqa: ARG002 (all are alike)
        """The robot of a player."""
        return self._kind

    def ball(self) -> Floats:
        """(7,) place and attitude (quaternion) of the ball."""
        x, y = self._world.state.ball[self._match]
        return np.array([x, y, self._world.ball_radius, 1.0, 0.0, 0.0, 0.0])

    def poses(self) -> Floats:
        """(22, 7) place and attitude (quaternion) of the torsos; below the ground for robots that do not play."""
        found = np.zeros((SLOTS, 7))
        found[:, 2], found[:, 3] = _HIDDEN_HEIGHT, 1.0
        for slot in np.flatnonzero(self.present).tolist():
            found[slot] = self._torso(slot)
        return found

    def _torso(self, slot: int) -> tuple[float, ...]:
        state, m = self._world.state, self._match
        x, y, heading = state.pose[m, slot].tolist()
        lean, to = self._lean(slot), float(state.fallen_to[m, slot])
        if lean == 0.0:
            return x, y, self._height, math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)
        way, up = self._height * math.sin(lean), max(self._height * math.cos(lean), _LYING_HEIGHT)
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
        """(22, joints) angles of all robots' joints, rad."""
        state, m = self._world.state, self._match
        found = np.tile(self._stance, (SLOTS, 1))
        phase = math.tau * float(state.cycle[m]) * 0.1 / _STEP_TIME
        for slot in np.flatnonzero(self.present).tolist():
            yaw, pitch = state.head[m, slot].tolist()
            self._add(found[slot], HeadYaw=yaw, HeadPitch=-pitch)
            posture = Posture(int(state.posture[m, slot]))
            if posture is Posture.KICKING:
                left = KickKind(int(state.kick[m, slot])) in (KickKind.LEFT_STRAIGHT, KickKind.LEFT_SIDE)
                self._swing(found[slot], "L" if left else "R", _KICK_SWING, 0.5)
            elif posture is Posture.UPRIGHT:
                ahead, aside, turn = state.speed[m, slot].tolist()
                share = min((math.hypot(ahead, aside) + 0.25 * abs(turn)) / FULL_SPEED, 1.0)
                if share > 0.02:
                    self._walk(found[slot], share, phase + slot)
        return found

    def _walk(self, row: Floats, share: float, phase: float) -> None:
        """Swings both legs and arms."""
        for leg, sign in (("L", 1.0), ("R", -1.0)):
            swing = sign * _THIGH_SWING * share * math.sin(phase)
            lifted = _KNEE_BEND * share * max(sign * math.cos(phase), 0.0)
            self._swing(row, leg, -swing - lifted / 2, lifted)
            self._add(row, **{f"{leg}ShoulderPitch": swing})

    def _swing(self, row: Floats, leg: str, thigh: float, knee: float) -> None:
        """Moves a leg; its ankle keeps the sole level."""
        self._add(row, **{f"{leg}HipPitch": thigh, f"{leg}KneePitch": knee, f"{leg}AnklePitch": -thigh - knee})

    def _add(self, row: Floats, **angles: float) -> None:
        for joint, angle in angles.items():
            row[self._column[joint]] += angle


# ----------------------------------------------------------------------------------------------------
# Reading back.
#
# A recording keeps places to a tenth of a millimetre, attitudes and joints, but no postures; these follow from how
# the torso leans. Random draws are a function of seed and cycle, so that vision gives the same sightings again, up to
# that rounding.


_BEHAVIOURAL_WORLD = "behavioural"  # what a recording of this world says it is
_UPRIGHT_LEAN = math.radians(1.0)  # a robot that leans less than this stands
_LYING_LEAN = math.radians(85.0)  # a robot that leans more than this lies
CARRIED_DISTANCE = 0.15
"""A robot that has moved farther than this in a cycle was put there [m]."""


def is_behavioural(recording: Recording) -> bool:
    """Whether a recording is one of this world."""
    return recording.manifest.kind == "match" and recording.manifest.config.get("world") == _BEHAVIOURAL_WORLD


class RecordedMatch:
    """The match of a recording, which may still grow."""

    def __init__(self, recording: Recording) -> None:
        if not is_behavioural(recording):
            raise UsageError("this is no recording of a match of the behavioural world.")
        self._recording, config = recording, recording.manifest.config
        self.field = load_field(str(config["field"]))
        self.ball = load_ball(self.field.ball)
        eyes = str(config.get("eyes", "nao"))
        self.eyes = load_eyes(Path(eyes) if eyes.endswith(".toml") else eyes)
        self.robots = tuple(name for name in SLOT_NAMES if f"{name}.pose" in recording.channels)
        """Recorded robots, by the names that they began with."""
        self._height = standing(load_robot(_FIGURE_ROBOT), _FIGURE_POSE).height
        self._vision: Vision | None = None
        self._sonar: Sonar | None = None

    def swapped(self, row: int) -> bool:
        """Whether the teams have changed ends."""
        labels = self._recording.channels["game.state"].labels
        return bool(self._recording.read("game.state", row, row + 1)[0][labels.index("swapped")] > 0.5)

    def slot(self, robot: str, row: int) -> int:
        """The slot that a robot has."""
        return (SLOT_NAMES.index(robot) + (SLOTS // 2 if self.swapped(row) else 0)) % SLOTS

    def state(self, row: int) -> MatchesState:
        """The places of robots and ball; what is not recorded is as in a new state."""
        recording, state = self._recording, MatchesState(1)
        seed = recording.manifest.seed or 0
        state.seed[0], state.cycle[0] = np.uint64(seed % 2**64), row + 1
        state.ball[0] = state.ball_before[0] = recording.read("ball.pose", row, row + 1)[0][:2]
        for robot in self.robots:
            self._put(state, robot, row)
        return state

    def _put(self, state: MatchesState, robot: str, row: int) -> None:
        """Reads a robot into its slot."""
        first = max(row - 1, 0)
        poses = self._recording.read(f"{robot}.pose", first, row + 1)
        slot, pose = self.slot(robot, row), poses[-1]
        state.present[0, slot] = pose[2] > _HIDDEN_HEIGHT / 2
        if not state.present[0, slot]:
            return
        x, y, heading, lean, to = _standing_place(pose, self._height)
        state.pose[0, slot], state.fallen_to[0, slot] = (x, y, heading), to
        if lean > _UPRIGHT_LEAN:
            state.posture[0, slot] = Posture.LYING if lean > _LYING_LEAN else Posture.GETTING_UP
        labels = self._recording.channels[f"{robot}.angles"].labels
        angles = self._recording.read(f"{robot}.angles", row, row + 1)[0]
        state.head[0, slot] = angles[labels.index("HeadYaw")], -angles[labels.index("HeadPitch")]
        before = _standing_place(poses[0], self._height)
        step = math.hypot(x - before[0], y - before[1])
        if lean <= _UPRIGHT_LEAN and step < CARRIED_DISTANCE and row > first:
            state.speed[0, slot] = (
                step / BEHAVIOURAL_CYCLE,
                0.0,
                wrap_angle_exactly(heading - before[2]) / BEHAVIOURAL_CYCLE,
            )

    def sights(self, row: int) -> Sightings:
        """The sightings of all players; the next call overwrites them."""
        if self._vision is None:
            self._vision = Vision(self.eyes, self.field, ball_radius=self.ball.radius, count=1)
        return self._vision.see(self.state(row))

    def sonars(self, row: int) -> Floats:
        """The answers of the left and the right sonar of all players, (22, 2) [m]; nan where nothing answers.

        The next call overwrites them.
        """
        if self._sonar is None:
            self._sonar = Sonar(self.eyes, self.field, count=1)
        answers: Floats = self._sonar.listen(self.state(row))[0]
        return answers


def _standing_place(pose: Floats, height: float) -> tuple[float, float, float, float, float]:
    """Where a figure has its feet, from its torso's pose (7,).

    Returns:
        x, y [m], heading, how far it leans and to where from its heading [rad]; see `BehaviourFigures`.
    """
    x, y, _, qw, qx, qy, qz = pose.tolist()
    heading, lean = 2.0 * math.atan2(qz, qw), 2.0 * math.atan2(math.hypot(qx, qy), math.hypot(qw, qz))
    heading = wrap_angle_exactly(heading)
    if lean < _UPRIGHT_LEAN:
        return x, y, heading, 0.0, 0.0
    sign = 1.0 if math.cos(heading / 2) * qw + math.sin(heading / 2) * qz > 0 else -1.0
    d, e = math.cos(heading / 2), math.sin(heading / 2)
    a, b = sign * (d * qx + e * qy), sign * (d * qy - e * qx)
    to = math.atan2(-a, b)
    way = height * math.sin(lean)
    return x - way * math.cos(heading + to), y - way * math.sin(heading + to), heading, lean, to
