"""An AIBO that goes to the ball, by its camera alone, over OPEN-R.

    with OpenrClient() as robot:
        follower = BallFollower(robot.model)
        follow_ball(robot, follower, seconds=60.0)          # True when it thinks that it is there

It turns on the spot until it sees the ball, keeps its head on it, turns its body to where the head looks, and trots
there. Everything is decided once for each sensor vector (32 ms), from the newest picture that is at least two vectors
old: how fast pictures come through the network then makes no difference, and a run in lock-step is always the same.
The trot is `motion.trot` in frames of 8 ms, with parameters of any walk of the robot.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body.scene import Placement, SceneSettings, assemble
from nutmeg.errors import UsageError
from nutmeg.learning.walks import read_walk
from nutmeg.motion.aibo_legs import NAMES, AiboLegs
from nutmeg.motion.trot import Trot
from nutmeg.net.openr.ball_finder import BallFinder, BallSighting
from nutmeg.net.openr.models import FRAME, FRAMES

if TYPE_CHECKING:
    from nutmeg.net.openr.client import CameraPicture, OpenrClient, Sensors
    from nutmeg.net.openr.models import Model

VECTOR = FRAME * FRAMES * 1e-6
"""Time between two sensor vectors [s]."""
LATE = 2
"""Vectors after which a picture is used."""
LEGS = tuple(name for leg in NAMES for name in leg)


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How a follower goes about it."""

    follow: float = 0.4
    """Share of the angle to the ball by which the head is turned with each picture."""
    most_pan: float = 1.4
    """How far the head looks to a side [rad]."""
    look: float = -0.25
    """Where the head looks while it searches: pitch, negative is down [rad]."""
    aside: float = 0.7
    """How far it looks ahead of the turn while it searches [rad]."""
    turn_gain: float = 2.0
    """Turn rate for each radian of bearing [1/s]."""
    straight: float = 0.6
    """Bearing up to which it walks ahead while it turns [rad]."""
    lost: float = 1.0
    """Time without the ball after which it searches [s]."""
    there: float = 0.18
    """Distance from the camera to the ball, along the ground, at which it has arrived [m]."""


class BallFollower:
    """Decides what an AIBO does; knows no sockets.

    Args:
        model: which AIBO.
        walk: its trot, by a name or path for `read_walk`.
        manner: how it goes about it.
    """

    def __init__(self, model: Model, walk: str = "trot", manner: Manner | None = None) -> None:
        trot = read_walk(walk, model.robot).for_robot(model.robot).trot
        if trot is None:
            raise UsageError(f"the walk {walk!r} is no trot.")
        placed = Placement(robot=model.robot, name="self")
        table = assemble(SceneSettings(field="floor", ball="none", robots=(placed,), visuals=False)).robot("self")
        self.finder, self.manner = BallFinder(model), manner or Manner()
        self.trot = Trot(AiboLegs(table), [trot], period=FRAME * 1e-6)
        self._neck = Neck(dict(zip(table.joints, table.limits.tolist(), strict=True)))
        self._pictures: deque[tuple[float, BallSighting | None]] = deque(maxlen=64)
        self._heads: deque[tuple[float, float, float]] = deque(maxlen=16)
        self._seen_at, self._side, self._goal = -math.inf, 1.0, (0.0, self.manner.look)
        self.bearing = 0.0
        """Of the ball from the trunk, positive to the left [rad]."""
        self.distance = math.inf
        """From the camera to the ball along the ground, as judged last [m]."""
        self.time = 0.0
        """Of the last sensor vector [s]."""

    @property
    def arrived(self) -> bool:
        """Whether it thinks that it is at the ball."""
        return self.distance < self.manner.there

    def standing(self) -> dict[str, float]:
        """Angles of legs and neck before the first step [rad]."""
        legs = dict(zip(LEGS, self.trot.angles()[0].ravel().tolist(), strict=True))
        return legs | self._neck.angles(*self._goal)

    def see(self, picture: CameraPicture) -> None:
        """Takes note of a picture."""
        self._pictures.append((picture.time, self.finder.find(picture.planes)))

    def decide(self, sensors: Sensors) -> dict[str, list[float]]:
        """References of legs and neck for the next frames, from a sensor vector."""
        self.time = sensors.time
        self._heads.append((sensors.time, sensors["NECK:pan"], self._neck.pitch(sensors)))
        while self._pictures and self._pictures[0][0] <= sensors.time - LATE * VECTOR:
            time, seen = self._pictures.popleft()
            if seen is not None:
                self._aim(seen, time)
        self._seek(sensors.time)
        wanted = self._wanted(sensors.time)
        rows = []
        for _ in range(FRAMES):
            self.trot.advance(wanted)
            rows.append(self.trot.angles()[0].ravel())
        legs = dict(zip(LEGS, np.transpose(rows).tolist(), strict=True))
        return legs | {name: [angle] * FRAMES for name, angle in self._neck.angles(*self._goal).items()}

    def _aim(self, seen: BallSighting, time: float) -> None:
        """Turns the head towards the ball that was seen at some time."""
        _, pan, pitch = min(self._heads, key=lambda head: abs(head[0] - time))
        self._seen_at = time
        self.bearing = pan + seen.left
        self.distance = seen.distance * math.cos(pitch + seen.above)
        self._side = 1.0 if self.bearing >= 0 else -1.0
        now_pan, now_pitch = self._goal
        share = self.manner.follow
        self._goal = (
            max(-self.manner.most_pan, min(now_pan + share * (self.bearing - now_pan), self.manner.most_pan)),
            now_pitch + share * (pitch + seen.above - now_pitch),
        )

    def _seek(self, now: float) -> None:
        """Looks ahead of the turn, if the ball is lost."""
        if now - self._seen_at > self.manner.lost:
            self.distance = math.inf
            self._goal = self._side * self.manner.aside, self.manner.look

    def _wanted(self, now: float) -> tuple[float, float, float]:
        """Velocities: ahead [m/s], to the left [m/s], turning to the left [rad/s]."""
        top = self.trot.top_speed()[0]
        if self.arrived:
            return 0.0, 0.0, 0.0
        if now - self._seen_at > self.manner.lost:
            return 0.0, 0.0, float(self._side * top[2])
        turn = float(np.clip(self.manner.turn_gain * self.bearing, -top[2], top[2]))
        ahead = float(top[0]) * max(0.0, 1 - abs(self.bearing) / self.manner.straight)
        return ahead, 0.0, turn


class Neck:
    """The neck of an ERS-7 (tilt, pan, nod) or of an ERS-210 (tilt, pan, roll), as a pan and a pitch.

    Args:
        limits: lowest and highest angle of each joint of the robot [rad].
    """

    def __init__(self, limits: dict[str, list[float]]) -> None:
        self._limits = limits
        self._nods = "NECK:nod" in limits

    def pitch(self, sensors: Sensors) -> float:
        """Where the head looks up (positive) or down [rad]."""
        return sensors["NECK:tilt"] + (sensors["NECK:nod"] if self._nods else 0.0)

    def angles(self, pan: float, pitch: float) -> dict[str, float]:
        """Joints for a pan and a pitch; the lower joint of two only moves when the upper one cannot look there."""
        if not self._nods:
            return {"NECK:pan": pan, "NECK:tilt": self._within("NECK:tilt", pitch)}
        nod = self._within("NECK:nod", pitch)
        return {"NECK:pan": pan, "NECK:nod": nod, "NECK:tilt": self._within("NECK:tilt", pitch - nod)}

    def _within(self, name: str, angle: float) -> float:
        low, high = self._limits[name]
        return max(low, min(angle, high))


def follow_ball(robot: OpenrClient, follower: BallFollower, *, seconds: float) -> bool:
    """Has a robot follow the ball for so long in simulated time; whether it has arrived, which ends it."""
    robot.power(on=True)
    robot.set_gains()
    robot.move(follower.standing(), seconds=0.8)
    end: list[float] = []

    def tell(sensors: Sensors) -> None:
        end[:] = end or [sensors.time + seconds]
        robot.command(follower.decide(sensors))

    robot.observe_pictures(follower.see)
    robot.observe_sensors(tell)
    while not follower.arrived and (not end or follower.time < end[0]):
        robot.spin(VECTOR)
    return follower.arrived
