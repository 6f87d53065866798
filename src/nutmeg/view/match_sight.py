"""What a player has in its view cone at a moment: from the true attitude of its head, as the league's server does it.

    sight = sight_of(model, data, "left3", story.robots)
    sight.ball, sight.robots, sight.landmarks       # True, ("left2", "right1"), 5

The cone is 120 by 120 degrees about where the head looks, nothing hides anything, and what is nearer than 0.1 m is not
seen (see `match.seeing`, whose numbers these are). Noise only moves what is seen, so that this is what the player was
shown, up to things on the very edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.match.seeing import NEAREST, OPENING
from nutmeg.view.viewpoints import thing_position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools, Floats


@dataclass(frozen=True, kw_only=True)
class InView:
    """What lies in a player's view cone."""

    eye: Floats
    """(3,) where its head is, metres."""
    heading: float
    """Where its head looks, 0 along x, radians."""
    ball: bool
    """Whether the ball is seen."""
    robots: tuple[str, ...]
    """The other robots that are seen."""
    landmarks: int
    """How many goal posts and corner flags are seen."""


def sight_of(
    model: Any,  # noqa: ANN401
    data: Any,  # noqa: ANN401
    robot: str,
    robots: Sequence[str],
    landmarks: Floats,
) -> InView | None:
    """What a robot has in view.

    Args:
        model: the compiled `mujoco.MjModel` of the recorded scene.
        data: its `mujoco.MjData`, with poses up to date.
        robot: whose view.
        robots: names of all robots.
        landmarks: (n, 3) places of posts and flags, metres.

    Returns:
        Nothing for a robot that has no head here.
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
    inside: Bools = (distance >= NEAREST) & (np.abs(across) <= OPENING / 2) & (np.abs(up) <= OPENING / 2)
    return inside


def _head(model: Any, robot: str) -> int:  # noqa: ANN401
    return int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"{robot}/head"))
