"""A walk around the pitch of the behavioural world, seen through the two cameras of the robot that walks.

    with CameraWalk(seed=1) as walk:
        for frame in walk.frames(30.0): frame.images, frame.head, frame.odometry, frame.pose

The robot is led along corners of the pitch by somebody who knows where it is; where it believes to be steers nothing.
It looks to both sides as it goes. Three team-mates and four opponents walk in small circles beside its way, and hide
goals and lines at times. The ball lies near the middle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.body.ball import load_ball
from nutmeg.body.field import load_field
from nutmeg.match.behaviour.camera_geometry import WHICH
from nutmeg.match.behaviour.cameras import Cameras
from nutmeg.match.behaviour.eyes import load_eyes
from nutmeg.match.behaviour.motion_kernels import CYCLE
from nutmeg.match.behaviour.settings import load_behaviour
from nutmeg.match.behaviour.state import Legs, Posture
from nutmeg.match.behaviour.world import BehaviourWorld

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nutmeg.base.arrays import Bytes, Floats

FIELD = "spl2011"
WALKER = 0
CORNERS = ((2.3, -1.5), (2.3, 1.5), (0.0, 0.9), (-2.3, 1.5), (-2.3, -1.5), (0.0, -0.9))
"""Where the way turns, m; it begins at the last one."""
OTHERS = {
    1: (-2.7, 0.5),
    2: (-0.9, 0.2),
    3: (1.2, 1.7),
    11: (2.8, 0.2),
    12: (1.3, 0.1),
    13: (-1.2, -1.7),
    14: (-1.4, 1.8),
}
"""Who walks in circles where, by slot, m."""
BALL = (0.1, 0.4)
NEAR = 0.3
"""A corner has been reached from here, m."""
SWING, PERIOD, PITCH = 0.9, 5.0, -0.15
"""The head turns so far to both sides, rad, in so many seconds, and looks so far up, rad."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A cycle of the walk."""

    time: float
    """s."""
    images: dict[str, Bytes]
    """(240, 320, 3) of each camera."""
    head: tuple[float, float]
    """Yaw and pitch, rad."""
    odometry: tuple[float, float, float]
    """Ahead, left, m, turned left, rad, as the robot believes."""
    pose: Floats
    """(3,) the truth: x, y, m, heading, rad."""
    upright: bool
    ball: Floats
    """(2,) the truth, m."""


class CameraWalk:
    """The walk; holds a renderer until closed.

    Args:
        seed: of the disturbances of walking.
    """

    def __init__(self, seed: int) -> None:
        field = load_field(FIELD)
        self.world = BehaviourWorld(load_behaviour("nao"), field, count=1, seeds=np.array([seed], np.uint64))
        for slot, (x, y) in {WALKER: CORNERS[-1], **OTHERS}.items():
            self.world.join(0, slot)
            self.world.place(0, slot, x, y, 0.7 * slot)
        self.world.place_ball(0, *BALL)
        self._cameras = Cameras(load_eyes("nao"), field, load_ball(field.ball))
        self._next, self._cycle = 0, 0

    def frames(self, seconds: float) -> Iterator[Frame]:
        """What the robot is told in so many seconds."""
        for _ in range(round(seconds / CYCLE)):
            self._order()
            self.world.step()
            self._cycle += 1
            yield self._frame()

    def carry(self, x: float, y: float, heading: float) -> None:
        """Puts the robot somewhere else, m and rad; it is not told."""
        self.world.place(0, WALKER, x, y, heading)

    def _order(self) -> None:
        state, orders = self.world.state, self.world.orders
        for slot in OTHERS:
            orders.legs[0, slot], orders.wish[0, slot] = Legs.WALK, (0.08, 0.0, 0.4)
        x, y, heading = state.pose[0, WALKER].tolist()
        goal = CORNERS[self._next]
        if math.dist((x, y), goal) < NEAR:
            self._next = (self._next + 1) % len(CORNERS)
            goal = CORNERS[self._next]
        turn = wrap_angle_exactly(math.atan2(goal[1] - y, goal[0] - x) - heading)
        lying = state.posture[0, WALKER] == Posture.LYING
        orders.legs[0, WALKER] = Legs.GET_UP if lying else Legs.WALK
        orders.wish[0, WALKER] = 0.2 * max(0.0, math.cos(turn)) ** 2, 0.0, 1.5 * turn
        orders.look[0, WALKER] = SWING * math.sin(2 * math.pi * self._cycle * CYCLE / PERIOD), PITCH

    def _frame(self) -> Frame:
        state = self.world.state
        pictures = self._cameras.draw(state, 0, [WALKER])[0]
        yaw, pitch = state.head[0, WALKER].tolist()
        ahead, left, turn = state.odometry[0, WALKER].tolist()
        return Frame(
            time=self._cycle * CYCLE,
            images=dict(zip(WHICH, pictures, strict=True)),
            head=(yaw, pitch),
            odometry=(ahead, left, turn),
            pose=state.pose[0, WALKER].copy(),
            upright=bool(state.posture[0, WALKER] <= Posture.KICKING),
            ball=state.ball[0].copy(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cameras.close()
