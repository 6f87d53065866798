"""A behavioural match read back from its recording: where everybody is, and what its eyes show it, at any moment.

    match = RecordedMatch(Recording.open(Path("match.nutmeg")))
    state = match.state(row)                            # a `MatchesState` of one match
    match.slot("left3", row)                            # the slot it has there: ends may have been changed
    match.sights(row).of(0, slot)                       # what a player sees, with the same errors as in the match

A recording keeps places to a tenth of a millimetre, attitudes and joints, but no postures; these follow from how the
torso leans. Chance here is a function of seed and cycle, so that eyes can be asked again and say the same, up to that
rounding.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.body.ball import load_ball
from nutmeg.body.catalogue import load_robot
from nutmeg.body.field import load_field
from nutmeg.body.posing import standing
from nutmeg.errors import UsageError
from nutmeg.match.behaviour.eyes import load_eyes
from nutmeg.match.behaviour.figures import HIDDEN, POSE, ROBOT
from nutmeg.match.behaviour.motion_kernels import CYCLE
from nutmeg.match.behaviour.state import MatchesState, Posture
from nutmeg.match.behaviour.vision import Vision
from nutmeg.match.slots import SLOT_NAMES, SLOTS

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.behaviour.sights import Sights
    from nutmeg.recording import Recording


WORLD = "behavioural"
"""What a recording of this world says it is."""
UP = math.radians(1.0)
"""Who leans less than this stands."""
FLAT = math.radians(85.0)
"""Who leans more than this lies."""
CARRIED = 0.15
"""Who has come farther than this in a cycle was put there [m]."""


def is_behavioural(recording: Recording) -> bool:
    """Whether a recording is one of this world."""
    return recording.manifest.kind == "match" and recording.manifest.config.get("world") == WORLD


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
        """Who is recorded, by the names that robots began with."""
        self._height = standing(load_robot(ROBOT), POSE).height
        self._vision: Vision | None = None

    def swapped(self, row: int) -> bool:
        """Whether the teams have changed ends."""
        labels = self._recording.channels["game.state"].labels
        return bool(self._recording.read("game.state", row, row + 1)[0][labels.index("swapped")] > 0.5)

    def slot(self, robot: str, row: int) -> int:
        """The slot that a robot has."""
        return (SLOT_NAMES.index(robot) + (SLOTS // 2 if self.swapped(row) else 0)) % SLOTS

    def state(self, row: int) -> MatchesState:
        """Where everybody and the ball are; what a recording does not tell is as in a new state."""
        recording, state = self._recording, MatchesState.new(1)
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
        state.present[0, slot] = pose[2] > HIDDEN / 2
        if not state.present[0, slot]:
            return
        x, y, heading, lean, to = standing_place(pose, self._height)
        state.pose[0, slot], state.fallen_to[0, slot] = (x, y, heading), to
        if lean > UP:
            state.posture[0, slot] = Posture.LYING if lean > FLAT else Posture.GETTING_UP
        labels = self._recording.channels[f"{robot}.angles"].labels
        angles = self._recording.read(f"{robot}.angles", row, row + 1)[0]
        state.head[0, slot] = angles[labels.index("HeadYaw")], -angles[labels.index("HeadPitch")]
        before = standing_place(poses[0], self._height)
        step = math.hypot(x - before[0], y - before[1])
        if lean <= UP and step < CARRIED and row > first:
            state.speed[0, slot] = step / CYCLE, 0.0, wrap_angle_exactly(heading - before[2]) / CYCLE

    def sights(self, row: int) -> Sights:
        """What everybody sees; written anew by the next call."""
        if self._vision is None:
            self._vision = Vision(self.eyes, self.field, ball_radius=self.ball.radius, count=1)
        return self._vision.see(self.state(row))


def standing_place(pose: Floats, height: float) -> tuple[float, float, float, float, float]:
    """Where a figure has its feet, from its torso's pose (7,).

    Returns:
        x, y [m], heading, how far it leans and to where from its heading [rad]; see `BehaviourFigures`.
    """
    x, y, _, qw, qx, qy, qz = pose.tolist()
    heading, lean = 2.0 * math.atan2(qz, qw), 2.0 * math.atan2(math.hypot(qx, qy), math.hypot(qw, qz))
    heading = wrap_angle_exactly(heading)
    if lean < UP:
        return x, y, heading, 0.0, 0.0
    sign = 1.0 if math.cos(heading / 2) * qw + math.sin(heading / 2) * qz > 0 else -1.0
    d, e = math.cos(heading / 2), math.sin(heading / 2)
    a, b = sign * (d * qx + e * qy), sign * (d * qy - e * qx)
    to = math.atan2(-a, b)
    way = height * math.sin(lean)
    return x - way * math.cos(heading + to), y - way * math.sin(heading + to), heading, lean, to
