"""Observations of a player at a moment of a recorded match, in the physical and in the behavioural world.

    sight = sight_of(model, data, "left3", story.robots)
    sight.ball, sight.robots, sight.landmarks       # True, ("left2", "right1"), 5

    sight = BehaviourSight(recording)
    sight.look("left3", row).words                  # "the ball; 1 own, 2 opponents; 5 landmarks; sonar left 0.42 m"
    sight.pictures("left3", row)                    # (2, 240, 320, 3): upper and lower camera

In the physical world they follow from the true attitude of the head, as in the league's server: the view cone is 120 by
120 degrees wide, nothing is hidden, and objects nearer than 0.1 m are not seen. Noise only moves observed objects, so
that these are the objects that the player observed, except for those on the very edge of the cone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.match.worlds.behavioural.camera_geometry import CAMERA_NAMES, ground_view
from nutmeg.match.worlds.behavioural.cameras import Cameras
from nutmeg.match.worlds.behavioural.eyes import SonarSettings
from nutmeg.match.worlds.behavioural.figures import RecordedMatch
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.physical.vision import MIN_VIEW_DISTANCE, VIEW_ANGLE
from nutmeg.view.stage.cameras import thing_position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools, Bytes, Floats
    from nutmeg.match.worlds.behavioural.state import MatchesState
    from nutmeg.match.worlds.behavioural.vision import Sighting
    from nutmeg.recording import Recording


@dataclass(frozen=True, kw_only=True)
class InView:
    """The objects in the view cone of a player."""

    eye: Floats
    """Position (3,) of its head, metres."""
    heading: float
    """The direction in which its head looks, 0 along x, radians."""
    ball: bool
    """Whether the ball is seen."""
    robots: tuple[str, ...]
    """The other robots that are seen."""
    landmarks: int
    """Number of goal posts and corner flags in view."""


def sight_of(
    model: mujoco.MjModel, data: mujoco.MjData, robot: str, robots: Sequence[str], landmarks: Floats
) -> InView | None:
    """The objects in the view cone of a robot of the physical world; None for a robot that has no head here.

    Poses in `data` are up to date; `landmarks` (n, 3) are the places of posts and flags [m].
    """
    head = _head(model, robot)
    if head < 0:
        return None
    eye, turn = np.array(data.xpos[head]), np.array(data.xmat[head]).reshape(3, 3)
    others = [name for name in robots if name != robot]
    heads = [_head(model, name) for name in others]
    seen = in_cone(eye, turn, np.array([data.xpos[h] for h in heads]).reshape(-1, 3))
    ball = thing_position(model, data, "ball")
    return InView(
        eye=eye,
        heading=math.atan2(turn[1, 0], turn[0, 0]),
        ball=ball is not None and bool(in_cone(eye, turn, ball[None])[0]),
        robots=tuple(name for name, yes in zip(others, seen, strict=True) if yes),
        landmarks=int(in_cone(eye, turn, landmarks).sum()),
    )


def in_cone(eye: Floats, turn: Floats, points: Floats) -> Bools:
    """(n,) which points (n, 3) lie in the cone of a head at `eye` (3,) whose axes are the columns of `turn` (3, 3)."""
    ways = (points - eye) @ turn
    distance = np.linalg.norm(ways, axis=1)
    across = np.degrees(np.arctan2(ways[:, 1], ways[:, 0]))
    up = np.degrees(np.arcsin(np.clip(ways[:, 2] / np.maximum(distance, 1e-9), -1.0, 1.0)))
    inside: Bools = (
        (distance >= MIN_VIEW_DISTANCE) & (np.abs(across) <= VIEW_ANGLE / 2) & (np.abs(up) <= VIEW_ANGLE / 2)
    )
    return inside


def _head(model: mujoco.MjModel, robot: str) -> int:
    return int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"{robot}/head"))


# ---- sonar, in both worlds

_ARC_PARTS = 6  # pieces of the arc of a sonar's cone
_MAX_LEAN = math.radians(60.0)  # the sonars of a robot that leans farther are not drawn on the ground


@dataclass(frozen=True, kw_only=True)
class SonarView:
    """The sonars of a player, on the ground."""

    silent: Floats
    """Lines (n, 2, 2) around the cones of sonars that hear nothing, up to their range, m."""
    echoes: Floats
    """Lines (n, 2, 2) around the cones of sonars that answer, up to the measured distance, m."""
    words: str
    """The answers in words, to be appended to what is seen."""


NO_SONAR = SonarView(silent=np.zeros((0, 2, 2)), echoes=np.zeros((0, 2, 2)), words="")
"""A player without sonars."""


def sonar_view(
    settings: SonarSettings, distances: Sequence[float], pose: tuple[float, float, float], *, lean: float = 0.0
) -> SonarView:
    """The cones of a player's sonars, and the answers in words.

    Args:
        settings: cones and range.
        distances: (2,) answers to the left and to the right, m; NaN where nothing answers.
        pose: place [m] and heading [rad] of the player.
        lean: how far it leans, rad.
    """
    cones: dict[bool, list[Floats]] = {False: [NO_SONAR.silent], True: [NO_SONAR.echoes]}
    words, (x, y, heading) = [], pose
    for side, sign, distance in zip(("left", "right"), (1, -1), distances, strict=True):
        answers = math.isfinite(distance)
        reach = distance if answers else settings.farthest
        way = heading + math.radians(sign * settings.angle_degrees)
        turn = np.array([[math.cos(way), math.sin(way)], [-math.sin(way), math.cos(way)]])
        if lean < _MAX_LEAN:
            cones[answers].append(sonar_cone(math.radians(settings.opening_degrees), reach) @ turn + (x, y))
        if answers:
            words.append(f"{side} {reach:.2f} m")
    text = f"; sonar {', '.join(words)}" if words else ""
    return SonarView(silent=np.concatenate(cones[False]), echoes=np.concatenate(cones[True]), words=text)


class RecordedSonars:
    """The sonars in a recording of a physical match, if its robots have some."""

    def __init__(self, recording: Recording) -> None:
        self._recording, config = recording, recording.manifest.config.get("sonar")
        self._settings = SonarSettings(**config) if isinstance(config, dict) else None

    def look(self, model: mujoco.MjModel, data: mujoco.MjData, robot: str, row: int) -> SonarView:
        """The sonars of a robot; poses in `data` are up to date."""
        torso = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"{robot}/torso")
        if self._settings is None or torso < 0:
            return NO_SONAR
        (x, y, _), turn = data.xpos[torso].tolist(), data.xmat[torso].reshape(3, 3)
        pose = x, y, math.atan2(turn[1, 0], turn[0, 0])
        distances = self._recording.read(f"{robot}.sonar", row, row + 1)[0].tolist()
        return sonar_view(self._settings, distances, pose, lean=math.acos(min(max(turn[2, 2], -1.0), 1.0)))


# ---- the behavioural world

_GROUND_VIEW_RANGE = 4.0  # largest distance up to which the ground in view of the cameras is drawn, m
_SIGHT_COLOURS = {  # of observed objects
    ObjectKind.BALL: (255, 120, 0),
    ObjectKind.MATE: (40, 220, 120),
    ObjectKind.OPPONENT: (230, 60, 90),
    ObjectKind.ROBOT: (160, 160, 160),
}
_LANDMARK_COLOUR = (255, 255, 255)


@dataclass(frozen=True, kw_only=True)
class _EyesView:
    """The observation of a player of the behavioural world."""

    words: str
    """The observation in one line."""
    edges: Floats
    """Lines (n, 2, 2) around the ground that its cameras show, m."""
    places: Floats
    """Observed places (k, 2), relative to the true pose of the player, m."""
    colours: Bytes
    """Their colours (k, 3)."""
    sonar: SonarView
    """Its sonars."""


class BehaviourSight:
    """The observations of all robots in a recording of the behavioural world, which may still grow.

    Observations are computed again, with the same errors as in the match. The renderer of pictures is made for the
    first one, and must stay in its thread.
    """

    def __init__(self, recording: Recording) -> None:
        self.match = RecordedMatch(recording)
        self._cameras: Cameras | None = None

    def look(self, robot: str, row: int) -> _EyesView | None:
        """The observation of a robot; None if it does not play."""
        state, slot = self.match.state(row), self.match.slot(robot, row)
        if not state.present[0, slot]:
            return None
        things = self.match.sights(row).of(0, slot)
        x, y, heading = state.pose[0, slot].tolist()
        turned = [heading + thing.bearing for thing in things]
        places = [
            (x + thing.distance * math.cos(way), y + thing.distance * math.sin(way))
            for thing, way in zip(things, turned, strict=True)
        ]
        sonar = self._sonars(state, slot, row)
        return _EyesView(
            words=_symbols_in_words(things) + sonar.words,
            edges=self._edges(state, slot),
            sonar=sonar,
            places=np.array(places, float).reshape(-1, 2),
            colours=np.array([_SIGHT_COLOURS.get(thing.kind, _LANDMARK_COLOUR) for thing in things], np.uint8).reshape(
                -1, 3
            ),
        )

    def _edges(self, state: MatchesState, slot: int) -> Floats:
        """Lines (n, 2, 2) around the ground that both cameras show; none for a robot that lies."""
        if state.posture[0, slot]:
            return np.zeros((0, 2, 2))
        lines = []
        for which in CAMERA_NAMES:
            pose, head = state.pose[0, slot], state.head[0, slot]
            corners = ground_view(self.match.eyes.cameras, which, pose=pose, head=head, farthest=_GROUND_VIEW_RANGE)
            lines.append(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))
        return np.concatenate(lines)

    def _sonars(self, state: MatchesState, slot: int, row: int) -> SonarView:
        """The cones of its sonars, and the answers in words."""
        eyes = self.match.eyes
        if not eyes.tracker.uses_sonar or state.posture[0, slot]:
            return NO_SONAR
        x, y, heading = state.pose[0, slot].tolist()
        return sonar_view(eyes.sonar, self.match.sonars(row)[slot].tolist(), (x, y, heading))

    def pictures(self, robot: str, row: int) -> Bytes:
        """Pictures (2, height, width, 3) of both cameras of a robot; `EnvironmentProblem` without a renderer."""
        if self._cameras is None:
            self._cameras = Cameras(self.match.eyes, self.match.field, self.match.ball)
        drawn: Bytes = self._cameras.draw(self.match.state(row), 0, [self.match.slot(robot, row)])[0]
        return drawn

    def close(self) -> None:
        """Closes the renderer, if there is one."""
        if self._cameras is not None:
            self._cameras.close()
            self._cameras = None


def sonar_cone(opening: float, reach: float) -> Floats:
    """Lines (n, 2, 2) around a sector about +x whose tip is in the origin."""
    ways = np.linspace(-opening / 2, opening / 2, _ARC_PARTS + 1)
    corners = np.concatenate([[[0.0, 0.0]], reach * np.stack([np.cos(ways), np.sin(ways)], axis=1)])
    return np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)


def _symbols_in_words(things: tuple[Sighting, ...]) -> str:
    kinds = [thing.kind for thing in things]
    robots = [
        f"{kinds.count(kind)} {name}{'s' if name == 'opponent' and kinds.count(kind) > 1 else ''}"
        for kind, name in ((ObjectKind.MATE, "own"), (ObjectKind.OPPONENT, "opponent"), (ObjectKind.ROBOT, "unknown"))
        if kind in kinds
    ]
    marks = sum(kind not in _SIGHT_COLOURS for kind in kinds)
    together = [", ".join(robots)] if robots else []
    return sight_in_words(marks, ball=ObjectKind.BALL in kinds, robots=together) or "nothing it knows"


def sight_in_words(landmarks: int, *, ball: bool, robots: Sequence[str]) -> str:
    """An observation in one line: the ball, robots in words, and the number of landmarks; empty if there is nothing."""
    marks = [f"{landmarks} landmark{'s' if landmarks != 1 else ''}"] if landmarks else []
    return "; ".join([*(["the ball"] if ball else []), *robots, *marks])
