"""Symbolic vision: what each player's two cameras would show, as named things with the errors of a picture.

    vision = Vision(load_eyes("nao"), load_field("spl2011"), ball_radius=0.0325, count=512)
    sights = vision.see(state)                 # every cycle; arrays that are written anew
    sights.of(match=0, slot=3)                 # the things one player sees

It stands in for the pictures of `cameras` where thousands of matches are played: same cameras, same field of view (a
quadrilateral on the ground for each camera, see `camera_geometry.ground_view`). Robots (as upright bodies of a torso's
width) and posts hide what is behind their middle; what is far is not recognised; errors are half a pixel in the
picture and the sway of a walking trunk; things are missed, and things are seen that are not there, with set
probabilities. Who lies sees nothing. Robots are told apart by the colour of their team only, unless the settings say
otherwise. The same state gives the same sights, whatever other matches are in the batch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UsageError
from nutmeg.match.behaviour.marks import POSTS, goals_differ, marks_of, posts_of
from nutmeg.match.behaviour.sights import Sights
from nutmeg.match.behaviour.view_kernels import VisionNumbers
from nutmeg.match.behaviour.vision_kernels import see_all
from nutmeg.match.slots import SLOTS

if TYPE_CHECKING:
    from nutmeg.base.arrays import Ints
    from nutmeg.body.field import FieldSettings
    from nutmeg.match.behaviour.eyes import EyesSettings
    from nutmeg.match.behaviour.state import MatchesState

GHOSTS = 1
"""Things that are not there, at most, in a cycle."""


class Vision:
    """The eyes of all players of M matches.

    Args:
        eyes: settings.
        field: the pitch.
        ball_radius: m.
        count: how many matches.
    """

    def __init__(self, eyes: EyesSettings, field: FieldSettings, *, ball_radius: float, count: int) -> None:
        if ball_radius >= min(eyes.cameras.top[2], eyes.cameras.bottom[2]) / 2:
            raise UsageError(f"the ball's radius is {ball_radius} m; one half as high as a camera cannot be measured.")
        self.eyes, self.marks, self._posts = eyes, marks_of(field), posts_of(field)
        self.numbers = vision_numbers(eyes, field, ball_radius)
        things = 1 + POSTS + SLOTS + len(self.marks.kind) + GHOSTS
        self.sights = Sights.new(count, things)
        """What was seen last."""
        self._all = np.arange(count)

    def see(self, state: MatchesState, rows: Ints | None = None) -> Sights:
        """What everybody sees now, in all matches or only in `rows`; the same arrays every time."""
        s, marks = self.sights, self.marks
        see_all(
            self._all if rows is None else rows,
            state.seed, state.cycle, state.present, state.pose, state.speed, state.head, state.posture, state.ball,
            self._posts, marks.kind, marks.place, marks.turn, self.numbers,
            s.count, s.kind, s.number, s.lying, s.polar,
        )  # fmt: skip
        return s


def vision_numbers(eyes: EyesSettings, field: FieldSettings, ball_radius: float) -> VisionNumbers:
    """Settings and pitch as the kernels want them."""
    cameras, vision, bodies = eyes.cameras, eyes.vision, eyes.bodies
    top, bottom = (
        (place[0] - cameras.neck[0], place[1] - cameras.neck[1], place[2] - cameras.neck[2])
        for place in (cameras.top, cameras.bottom)
    )
    across, up = cameras.slopes
    tilt = math.radians(cameras.bottom_tilt_degrees)
    return VisionNumbers(
        top=top,
        bottom=bottom,
        bottom_tilt=(math.cos(tilt), math.sin(tilt)),
        neck=cameras.neck,
        across=across,
        up=up,
        noise=vision.pixel_noise / cameras.focal,
        sway=vision.sway,
        turn_noise=vision.turn_noise,
        ball_range=vision.ball_range,
        post_range=vision.post_range,
        robot_range=vision.robot_range,
        team_range=vision.team_range,
        mark_range=vision.mark_range,
        miss_ball=vision.miss_ball,
        miss_post=vision.miss_post,
        miss_robot=vision.miss_robot,
        miss_mark=vision.miss_mark,
        ghost_ball=vision.ghost_ball,
        ghost_robot=vision.ghost_robot,
        ghost_mark=vision.ghost_mark,
        range_noise=vision.range_noise,
        hides=vision.hides,
        numbers=vision.numbers,
        names=vision.names,
        goals_differ=goals_differ(field),
        width=bodies.width,
        height=bodies.height,
        waistband=bodies.waistband,
        lying_width=bodies.lying_width,
        lying_height=bodies.lying_height,
        ball_radius=ball_radius,
        post_radius=field.goal.post_radius if field.goal else 0.0,
        post_height=field.goal.height if field.goal else 0.0,
    )
