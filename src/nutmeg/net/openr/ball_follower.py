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
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.model.robot import load_robot
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.legs.aibo import LEG_JOINT_NAMES, AiboLegs
from nutmeg.motion.trot import Trot
from nutmeg.motion.walk.files import read_walk
from nutmeg.net.openr.models import FRAME, FRAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Bools, Bytes
    from nutmeg.net.openr.client import CameraPicture, OpenrClient, Sensors
    from nutmeg.net.openr.models import Model


BALL_RADIUS = 0.0325
"""Radius of the ball [m]."""
NEUTRAL_CHROMA = 128
"""Cr and Cb of what has no colour."""
MIN_CR_PER_Y, MIN_CR, MAX_CB = 0.25, 30, 122
"""Orange: Cr - 128 is more than this share of Y and than this, Cb is less than this."""
MIN_NEIGHBOURS = 2
"""Pixels beside, above and below of the same colour that a pixel of the ball has at least."""
MIN_PIXELS = 4
"""Fewer pixels are no ball."""


@dataclass(frozen=True, kw_only=True)
class BallSighting:
    """Where the ball is in a picture."""

    left: float
    """Angle from the camera's axis, positive to the left [rad]."""
    above: float
    """Positive up [rad]."""
    distance: float
    """Distance from the camera to the ball's centre, from its size [m]; too large if the ball is partly hidden."""
    pixels: int
    """Pixels of its colour."""


class BallFinder:
    """Finds an orange ball in a picture of an AIBO's camera, by its colour.

    Orange is rich in Cr, and the more so the brighter it is: Cr - 128 is 0.6 to 0.8 of Y for the ball and 0.2 for a
    yellow goal, in light and in shade alike. Only pixels with neighbours of that colour count, so that noise is no
    ball. How far away it is follows from how large it looks. Unlike the players' perception, it needs neither a
    calibrated camera nor the robot's pose, as little as its twin in C++ (`clients/openr/examples/ball_follower`).
    """

    def __init__(self, model: Model) -> None:
        camera = next(sensor for sensor in load_robot(model.robot).sensor if sensor.type == "camera")
        if camera.fov is None:
            raise UsageError(f"the camera of {model.robot} does not say how wide it sees.")
        self._shape = (3, model.image[1], model.image[0])
        self._middle = (np.array(model.image) - 1) / 2
        self._focal = model.image[0] / 2 / math.tan(camera.fov[0] / 2)

    def find(self, planes: Bytes) -> BallSighting | None:
        """The ball in a picture, planes Y, Cr, Cb, (3, height, width); None if there is none."""
        if planes.shape != self._shape:
            raise UsageError(f"the picture has the shape {planes.shape}; this camera's have {self._shape}.")
        rows, columns = np.nonzero(of_ball(planes))
        if len(rows) < MIN_PIXELS:
            return None
        right, down = np.median(columns) - self._middle[0], np.median(rows) - self._middle[1]
        return BallSighting(
            left=-math.atan(right / self._focal),
            above=-math.atan(down / self._focal),
            distance=self._focal * BALL_RADIUS * math.sqrt(math.pi / len(rows)),
            pixels=len(rows),
        )


def of_ball(planes: Bytes) -> Bools:
    """Which pixels of planes Y, Cr, Cb, (3, height, width), have the ball's colour, (height, width)."""
    y, cr, cb = planes.astype(np.int16)
    orange = (cr - NEUTRAL_CHROMA > np.maximum(MIN_CR_PER_Y * y, MIN_CR)) & (cb < MAX_CB)
    framed = np.pad(orange, 1).astype(np.int8)
    beside = framed[:-2, 1:-1] + framed[2:, 1:-1] + framed[1:-1, :-2] + framed[1:-1, 2:]
    return np.asarray(orange & (beside >= MIN_NEIGHBOURS))


VECTOR_PERIOD = FRAME * FRAMES * 1e-6
"""Time between two sensor vectors [s]."""
PICTURE_DELAY = 2
"""Vectors after which a picture is used."""
LEG_JOINTS = tuple(name for leg in LEG_JOINT_NAMES for name in leg)


@dataclass(frozen=True, kw_only=True)
class FollowerSettings:
    """Gains and thresholds of a follower."""

    measurement_weight: float = 0.7
    """Weight of a new picture in the estimate of where the ball is, 0 to 1."""
    search_pitch: float = -0.25
    """Pitch of the head while the robot searches, negative is down [rad]."""
    search_pan: float = 0.7
    """Pan of the head to the side of the turn while the robot searches [rad]."""
    search_rate: float = 0.8
    """Turn rate while the robot searches [rad/s]."""
    turn_gain: float = 2.0
    """Turn rate for each radian of bearing [1/s]."""
    walk_bearing: float = 0.6
    """Bearing up to which the robot walks ahead while it turns [rad]."""
    lost_time: float = 1.0
    """Time without the ball after which the robot searches [s]."""
    arrival_distance: float = 0.10
    """Distance from the camera to the ball, along the ground, at which the robot has arrived [m]."""


class BallFollower:
    """Decides what an AIBO does; knows no sockets.

    Args:
        model: which AIBO.
        walk: its trot, by a name or path for `read_walk`.
        settings: gains and thresholds.
    """

    def __init__(self, model: Model, walk: str = "trot", settings: FollowerSettings | None = None) -> None:
        trot = read_walk(walk, model.robot).for_robot(model.robot).trot
        if trot is None:
            raise UsageError(f"the walk {walk!r} is no trot.")
        placed = Placement(robot=model.robot, name="self")
        table = assemble(SceneSettings(field="floor", ball="none", robots=(placed,), visuals=False)).robot("self")
        self.finder, self.settings = BallFinder(model), settings or FollowerSettings()
        self.trot = Trot(AiboLegs(table), [trot], period=FRAME * 1e-6)
        self._neck = Neck(dict(zip(table.joints, table.limits.tolist(), strict=True)))
        self._pictures: deque[tuple[float, BallSighting | None]] = deque(maxlen=64)
        self._heads: deque[tuple[float, float, float, float]] = deque(maxlen=64)
        self._seen_at, self._turned = -math.inf, 0.0
        self.bearing = 0.0
        """Bearing of the ball from the trunk, positive to the left [rad]; it is updated by the robot's own turning."""
        self.pitch = self.settings.search_pitch
        """The pitch of the ball from the neck, positive up [rad]."""
        self.distance = math.inf
        """Last estimate of the distance from the camera to the ball along the ground [m]."""

    @property
    def arrived(self) -> bool:
        """Whether it thinks that it is at the ball."""
        return self.distance < self.settings.arrival_distance

    def standing(self) -> dict[str, float]:
        """Angles of legs and neck before the first step [rad]."""
        legs = dict(zip(LEG_JOINTS, self.trot.angles()[0].ravel().tolist(), strict=True))
        return legs | self._neck.angles(0.0, self.settings.search_pitch)

    def see(self, picture: CameraPicture) -> None:
        """Takes note of a picture."""
        self._pictures.append((picture.time, self.finder.find(picture.planes)))

    def decide(self, sensors: Sensors) -> dict[str, list[float]]:
        """References of legs and neck for the next frames, from a sensor vector."""
        self._heads.append((sensors.time, sensors["NECK:pan"], self._neck.pitch(sensors), self._turned))
        while self._pictures and self._pictures[0][0] <= sensors.time - PICTURE_DELAY * VECTOR_PERIOD:
            taken, seen = self._pictures.popleft()
            if seen is not None:
                self._notice(seen, taken, sensors.time)
        searching = sensors.time - self._seen_at > self.settings.lost_time
        wanted = self._search() if searching else self._approach()
        rows = []
        for _ in range(FRAMES):
            self.trot.advance(wanted)
            rows.append(self.trot.angles()[0].ravel())
        legs = dict(zip(LEG_JOINTS, np.transpose(rows).tolist(), strict=True))
        turn = float(self.trot.velocity()[0, 2]) * VECTOR_PERIOD
        self.bearing, self._turned = self.bearing - turn, self._turned + turn
        side = math.copysign(self.settings.search_pan, self.bearing)
        neck = self._neck.angles(*((side, self.settings.search_pitch) if searching else (self.bearing, self.pitch)))
        return legs | {name: [angle] * FRAMES for name, angle in neck.items()}

    def _notice(self, seen: BallSighting, taken: float, now: float) -> None:
        """Corrects the estimate of where the ball is by a picture, with the head as it was when that was taken."""
        _, pan, pitch, turned = min(self._heads, key=lambda head: abs(head[0] - taken))
        anew = now - self._seen_at > self.settings.lost_time
        share = 1.0 if anew else self.settings.measurement_weight
        self._seen_at = now
        self.bearing += share * (pan + seen.left + turned - self._turned - self.bearing)
        self.pitch += share * (pitch + seen.above - self.pitch)
        self.distance = seen.distance * math.cos(pitch + seen.above)

    def _search(self) -> tuple[float, float, float]:
        """Turns on the spot, to the side where the ball must be: velocities [m/s, m/s, rad/s]."""
        self.distance = math.inf
        self.bearing = math.copysign(math.pi, self.bearing)
        return 0.0, 0.0, math.copysign(self.settings.search_rate, self.bearing)

    def _approach(self) -> tuple[float, float, float]:
        """Goes to the ball: velocities [m/s, m/s, rad/s]."""
        if self.arrived:
            return 0.0, 0.0, 0.0
        top = self.trot.top_speed()[0]
        turn = float(np.clip(self.settings.turn_gain * self.bearing, -top[2], top[2]))
        return float(top[0]) * max(0.0, 1 - abs(self.bearing) / self.settings.walk_bearing), 0.0, turn


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
        pan = self._within("NECK:pan", pan)
        if not self._nods:
            return {"NECK:pan": pan, "NECK:tilt": self._within("NECK:tilt", pitch)}
        nod = self._within("NECK:nod", pitch)
        return {"NECK:pan": pan, "NECK:nod": nod, "NECK:tilt": self._within("NECK:tilt", pitch - nod)}

    def _within(self, name: str, angle: float) -> float:
        low, high = self._limits[name]
        return max(low, min(angle, high))


def follow_ball(robot: OpenrClient, follower: BallFollower, *, seconds: float) -> bool:
    """Lets a robot follow the ball for a simulated time; returns whether it has arrived, which ends it."""
    robot.power(on=True)
    robot.set_gains()
    _catch_up(robot)
    newest = deque([_stand_up(robot, follower.standing())], maxlen=1)
    end = newest[0].time + seconds
    robot.observe_pictures(follower.see)
    robot.observe_sensors(newest.append)
    while not follower.arrived and newest[0].time < end:
        robot.command(follower.decide(newest[0]))  # one vector for what came meanwhile: none queue up
        robot.spin(VECTOR_PERIOD / 2)  # until the next vector
    return follower.arrived


def _catch_up(robot: OpenrClient) -> None:
    """Discards sensor vectors that have piled up, so that commands are not sent for each of them."""
    while not robot.design.lock_step:
        began = time.monotonic()
        next(robot.sensors())
        if time.monotonic() - began > VECTOR_PERIOD / 4:  # this one had to be waited for
            return


def _stand_up(robot: OpenrClient, pose: Mapping[str, float], *, seconds: float = 0.8) -> Sensors:
    """Moves joints to a pose at an even speed, a command vector for each sensor vector; returns the last of those.

    Unlike `OpenrClient.move` it does not wait for reports, which come by the other connection, sooner or later: in
    lock-step it takes the same number of vectors every time.
    """
    vectors = robot.sensors()
    sensors = next(vectors)
    begin, way = np.array([sensors[name] for name in pose]), np.array(list(pose.values()))
    frames = FRAMES * max(1, round(seconds / VECTOR_PERIOD))
    share = np.arange(1, frames + 1)[:, None] / frames
    for first in range(0, frames, FRAMES):
        rows = begin + share[first : first + FRAMES] * (way - begin)
        robot.command(dict(zip(pose, rows.T.tolist(), strict=True)))
        sensors = next(vectors)
    return sensors
