"""What a player of the behavioural world sees at a moment of a recording: in words, on the grass, and in pictures.

    sight = BehaviourSight(recording)
    sight.look("left3", row).words                  # "the ball; 1 own, 2 opponents; 5 landmarks"
    sight.pictures("left3", row)                    # (2, 240, 320, 3): upper and lower camera

What it sees is asked of its eyes again, with the same errors as in the match (`match.behaviour.recorded`). Pictures are
drawn when somebody wants to see them; the renderer is made for the first one, and must stay in its thread.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.behaviour.camera_geometry import WHICH, ground_view
from nutmeg.match.behaviour.cameras import Cameras
from nutmeg.match.behaviour.marks import Kind
from nutmeg.match.behaviour.recorded import RecordedMatch

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.match.behaviour.sights import Seen
    from nutmeg.match.behaviour.state import MatchesState
    from nutmeg.recording import Recording


FARTHEST = 4.0
"""How far what the cameras see of the ground is drawn, m."""
COLOURS = {
    Kind.BALL: (255, 120, 0),
    Kind.MATE: (40, 220, 120),
    Kind.OPPONENT: (230, 60, 90),
    Kind.ROBOT: (160, 160, 160),
}
MARK = (255, 255, 255)
"""Colours of what is seen where it is seen."""


@dataclass(frozen=True, kw_only=True)
class EyesView:
    """What a player sees."""

    words: str
    """In a line."""
    edges: Floats
    """(n, 2, 2) lines on the ground around what its cameras show, m."""
    places: Floats
    """(k, 2) where it sees things, as seen from where it truly stands, m."""
    colours: Bytes
    """(k, 3) of these things."""


class BehaviourSight:
    """The eyes of everybody in a recording, which may still grow."""

    def __init__(self, recording: Recording) -> None:
        self.match = RecordedMatch(recording)
        self._cameras: Cameras | None = None

    def look(self, robot: str, row: int) -> EyesView | None:
        """What a robot sees; None of who does not play."""
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
        return EyesView(
            words=in_words(things),
            edges=self._edges(state, slot),
            places=np.array(places, float).reshape(-1, 2),
            colours=np.array([COLOURS.get(thing.kind, MARK) for thing in things], np.uint8).reshape(-1, 3),
        )

    def _edges(self, state: MatchesState, slot: int) -> Floats:
        """(n, 2, 2) around the ground that both cameras show; none of who lies."""
        if state.posture[0, slot]:
            return np.zeros((0, 2, 2))
        lines = []
        for which in WHICH:
            pose, head = state.pose[0, slot], state.head[0, slot]
            corners = ground_view(self.match.eyes.cameras, which, pose=pose, head=head, farthest=FARTHEST)
            lines.append(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))
        return np.concatenate(lines)

    def pictures(self, robot: str, row: int) -> Bytes:
        """(2, height, width, 3) what both cameras of a robot show; `EnvironmentProblem` without a renderer."""
        if self._cameras is None:
            self._cameras = Cameras(self.match.eyes, self.match.field, self.match.ball)
        drawn: Bytes = self._cameras.draw(self.match.state(row), 0, [self.match.slot(robot, row)])[0]
        return drawn

    def close(self) -> None:
        """Gives the renderer back, if there is one."""
        if self._cameras is not None:
            self._cameras.close()
            self._cameras = None


def in_words(things: tuple[Seen, ...]) -> str:
    """What is seen, in a line."""
    kinds = [thing.kind for thing in things]
    robots = [
        f"{kinds.count(kind)} {name}{'s' if name == 'opponent' and kinds.count(kind) > 1 else ''}"
        for kind, name in ((Kind.MATE, "own"), (Kind.OPPONENT, "opponent"), (Kind.ROBOT, "unknown"))
        if kind in kinds
    ]
    marks = sum(kind not in COLOURS for kind in kinds)
    words = ["the ball"] if Kind.BALL in kinds else []
    words += [", ".join(robots)] if robots else []
    words += [f"{marks} landmark{'s' if marks != 1 else ''}"] if marks else []
    return "; ".join(words) or "nothing it knows"
