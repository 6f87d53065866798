"""The two sonars in a player's chest: how far the nearest robot or post in each cone is.

    sonar = Sonar(load_eyes("nao"), load_field("spl2011"), count=512)
    sonar.listen(state)[match, slot]        # (left, right), m; NaN where nothing answers

After NaOISIS (seed 002, figure 4): cones 18 degrees wide at +-19.48 degrees, 40 cm above the ground, that answer from
0.15 to 0.75 m. The cones are sectors of the plane that begin between the player's feet; robots are upright discs of a
torso's width, posts of theirs. What lies is too low to answer, and who lies hears nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import kernel
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.landmarks import goal_posts_of
from nutmeg.match.worlds.behavioural.random import SONAR, normal
from nutmeg.match.worlds.behavioural.state import Posture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts
    from nutmeg.match.worlds.behavioural.eyes import EyesSettings
    from nutmeg.match.worlds.behavioural.state import MatchesState
    from nutmeg.model.field import FieldSettings


KICKING = Posture.KICKING.value
LEFT, RIGHT = 0, 1
"""Columns of the answers."""


class Sonar:
    """The sonars of all players of M matches.

    Args:
        eyes: settings.
        field: the pitch.
        count: how many matches.
    """

    def __init__(self, eyes: EyesSettings, field: FieldSettings, *, count: int) -> None:
        s, bodies = eyes.sonar, eyes.bodies
        tall = bodies.height > s.height
        self._robot = bodies.width / 2 if tall else -1.0
        stands = field.goal is not None and field.goal.height > s.height
        self._posts = goal_posts_of(field) if stands else np.zeros((0, 2))
        self._post = field.goal.post_radius if field.goal else 0.0
        self._cone = np.array([math.radians(s.angle_degrees), math.radians(s.opening_degrees) / 2])
        self._range = np.array([s.nearest, s.farthest, s.noise])
        self.answers: Floats = np.full((count, SLOTS, 2), np.nan)
        """(M, 22, 2) what was heard last: left and right, m."""
        self._all = np.arange(count)

    def listen(self, state: MatchesState, rows: Ints | None = None) -> Floats:
        """What all sonars say now, (M, 22, 2), in all matches or only in `rows`; the same array every time."""
        listen_all(
            self._all if rows is None else rows,
            state.seed, state.cycle, state.present, state.pose, state.posture,
            self._posts, self._robot, self._post, self._cone, self._range, self.answers,
        )  # fmt: skip
        return self.answers


@kernel
def listen_all(
    rows: Ints,
    seed: NDArray[np.uint64],
    cycle: Ints,
    present: Bools,
    pose: Floats,
    posture: SmallInts,
    posts: Floats,
    robot: float,
    post: float,
    cone: Floats,
    range_: Floats,
    answers: Floats,
) -> None:
    """Fills answers (M, 22, 2); radii of robots (below 0: too low) and posts, cone: angle and half width."""
    nearest, farthest, noise = range_
    for m in rows:
        for s in range(SLOTS):
            for side in range(2):
                answers[m, s, side] = np.nan
                if not present[m, s] or posture[m, s] > KICKING:
                    continue
                way = pose[m, s, 2] + (cone[0] if side == LEFT else -cone[0])
                best = _nearest(m, s, present, pose, posture, posts, robot, post, way, cone[1], farthest)
                if nearest <= best <= farthest:
                    if noise > 0.0:
                        best += noise * normal(seed[m], cycle[m], s, SONAR, side)
                    answers[m, s, side] = min(max(best, nearest), farthest)


@kernel
def _nearest(
    m: int,
    s: int,
    present: Bools,
    pose: Floats,
    posture: SmallInts,
    posts: Floats,
    robot: float,
    post: float,
    way: float,
    half: float,
    farthest: float,
) -> float:
    """The nearest answer to the sonar of a player that looks a way."""
    best, c, d = np.inf, math.cos(way), math.sin(way)
    for k in range(SLOTS + len(posts)):
        if k < SLOTS:
            if not present[m, k] or k == s or posture[m, k] > KICKING or robot < 0.0:
                continue
            dx, dy, radius = pose[m, k, 0] - pose[m, s, 0], pose[m, k, 1] - pose[m, s, 1], robot
        else:
            dx, dy, radius = posts[k - SLOTS, 0] - pose[m, s, 0], posts[k - SLOTS, 1] - pose[m, s, 1], post
        if dx * dx + dy * dy <= (farthest + radius) ** 2:
            best = min(best, echo(c * dx + d * dy, c * dy - d * dx, radius, half))
    return best


@kernel
def echo(ahead: float, left: float, radius: float, half: float) -> float:
    """Distance to the nearest point of a disc that is within `half` of straight ahead; inf if there is none."""
    far = math.sqrt(ahead * ahead + left * left)
    if far <= radius:
        return 0.0
    off = abs(math.atan2(left, ahead)) - half
    if off <= 0.0:
        return far - radius
    across = far * math.sin(off)
    if off >= 0.5 * math.pi or across > radius:
        return math.inf
    return far * math.cos(off) - math.sqrt(radius * radius - across * across)
