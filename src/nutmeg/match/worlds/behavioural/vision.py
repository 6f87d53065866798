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
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts
from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import inlined, unchecked
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.camera_geometry import (
    BEARING,
    BOTTOM,
    COS,
    DISTANCE,
    NOT_FOUND,
    SIN,
    SPREAD,
    TOP,
    TURN,
    Camera,
    Frame,
    Polar,
    Sway,
    VisionNumbers,
    X,
    Y,
    Z,
    aim,
    cameras_of,
    into_head,
    is_aside,
    is_hidden,
    is_in_picture,
    measure,
    measure_width,
    surely_out,
    visible_heights,
)
from nutmeg.match.worlds.behavioural.landmarks import GOAL_POSTS, ObjectKind, goal_posts_of, goals_differ, landmarks_of
from nutmeg.match.worlds.behavioural.random import VISION, key, normal_of, normal_pair, uniform_of
from nutmeg.match.worlds.behavioural.state import Posture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.match.worlds.behavioural.eyes import EyesSettings
    from nutmeg.match.worlds.behavioural.state import MatchesState
    from nutmeg.model.field import FieldSettings

    Cameras = tuple[Camera, Camera]
    Gaze = tuple[Frame, Cameras, Sway, np.uint64]


# ----------------------------------------------------------------------------------------------------
# Symbolic vision, compiled: what the two cameras of every player of M matches show, as lists of named things.
#
# Draws of a player in a cycle: 2j for the noise of thing j and 2j + 1 for missing it; j is 0 for the ball, 1 to 4 for
# posts, 5 to 26 for robots by slot, then landmarks. The geometry is in `view_kernels`.


KIND, NUMBER, LYING = 4, 5, 6
"""Columns of the list while it is made, after those of `view_kernels`."""
FIRST_MARK = 1 + GOAL_POSTS + SLOTS
TURN_DRAW, SWAY_DRAW, GHOST_DRAW = 200, 400, 401
CAMERA_HEIGHT_MARGIN = 0.1
"""How far at most a camera is from above the feet, and more, m."""
MAX_OCCLUDERS = SLOTS + GOAL_POSTS
LAST_UPRIGHT_POSTURE = Posture.KICKING.value
"""Who does more than this (lies, gets up, dives) sees nothing."""

BALL_KIND, MATE_KIND, OPPONENT_KIND, ROBOT_KIND = (
    ObjectKind.BALL.value,
    ObjectKind.MATE.value,
    ObjectKind.OPPONENT.value,
    ObjectKind.ROBOT.value,
)
OWN_POST_KIND, THEIR_POST_KIND, POST_KIND = (
    ObjectKind.OWN_POST.value,
    ObjectKind.THEIR_POST.value,
    ObjectKind.POST.value,
)
L_CROSSING, X_CROSSING = ObjectKind.L_CROSSING.value, ObjectKind.X_CROSSING.value


@unchecked
def see_all(
    rows: Ints,
    seed: NDArray[np.uint64],
    cycle: Ints,
    present: Bools,
    pose: Floats,
    speed: Floats,
    head: Floats,
    posture: SmallInts,
    ball: Floats,
    posts: Floats,
    mark_kind: SmallInts,
    mark_place: Floats,
    mark_turn: Floats,
    n: VisionNumbers,
    count: Ints,
    kind: SmallInts,
    number: SmallInts,
    lying: Bools,
    polar: Floats,
) -> None:
    """What all players of the matches `rows` see: fills count (M, 22), kind, number, lying (M, 22, K), polar (.., 4).

    The state is as in `MatchesState`; posts (4, 2) and marks as in `marks`.
    """
    hiding, what = np.empty((MAX_OCCLUDERS, 4)), np.empty(MAX_OCCLUDERS, np.int64)
    out, order, players = np.empty((polar.shape[2], 7)), np.empty(polar.shape[2], np.int64), np.empty(SLOTS, np.int64)
    for m in rows:
        there = 0
        for s in range(SLOTS):
            count[m, s] = 0
            if present[m, s]:
                players[there] = s
                there += 1
        for i in range(there):
            s = players[i]
            if posture[m, s] > LAST_UPRIGHT_POSTURE:
                continue
            draw = key(seed[m], cycle[m], s, VISION)
            frame, cameras = aim(pose, head, m, s), cameras_of(head[m, s, 0], head[m, s, 1], n)
            gaze = (frame, cameras, _sway(speed, m, s, draw, n.sway, n.range_noise), draw)
            found = _find_upright(m, s, players[:there], pose, posture, posts, gaze, n, hiding, what)
            hiders = found if n.hides else 0
            seen = _see_ball(ball[m, 0], ball[m, 1], gaze, hiding, hiders, n, out)
            seen = _see_things(m, s, posture, gaze, hiding, what, found, hiders, n, out, seen)
            seen = _see_marks(s, mark_kind, mark_place, mark_turn, gaze, hiding, hiders, n, out, seen)
            seen = _see_ghost(gaze, n, out, seen)
            _list(m, s, seen, out, order, kind, number, lying, polar)
            count[m, s] = seen


@inlined
def _sway(speed: Floats, m: int, s: int, draw: np.uint64, spread: float, share: float) -> Sway:
    """The unknown tilt of a trunk; none of who stands."""
    if spread > 0.0 and (abs(speed[m, s, 0]) + abs(speed[m, s, 1]) > 0.005 or abs(speed[m, s, 2]) > 0.01):
        a, b = normal_pair(draw, SWAY_DRAW)
        return spread * a, spread * b, spread, share
    return 0.0, 0.0, 0.0, share


@inlined
def _find_upright(
    m: int,
    own: int,
    players: Ints,
    pose: Floats,
    posture: SmallInts,
    posts: Floats,
    gaze: Gaze,
    n: VisionNumbers,
    hiding: Floats,
    what: Ints,
) -> int:
    """Fills what stands so that it is in view or hides what is; returns how many things that are.

    Rows of `hiding` are x, y in the frame of the player's head, half width and height; `what` has the number of a post,
    or `POSTS` and the slot of a robot. Posts are first, then robots, the last slot first.
    """
    frame, count = gaze[0], 0
    height = gaze[1][TOP][Z] + CAMERA_HEIGHT_MARGIN
    for k in range(len(posts)):
        x, y = into_head(posts[k, 0], posts[k, 1], frame)
        if is_aside(x, y, n.post_radius, n.across, height):
            continue
        hiding[count, 0], hiding[count, 1], hiding[count, 2], hiding[count, 3] = x, y, n.post_radius, n.post_height
        what[count] = k
        count += 1
    for i in range(len(players) - 1, -1, -1):
        k = players[i]
        x, y = into_head(pose[m, k, 0], pose[m, k, 1], frame)
        half, top = 0.5 * n.width, n.height
        if posture[m, k] > LAST_UPRIGHT_POSTURE:
            half, top = 0.5 * n.lying_width, n.lying_height
        if k == own or is_aside(x, y, half, n.across, height):
            continue
        hiding[count, 0], hiding[count, 1], hiding[count, 2], hiding[count, 3] = x, y, half, top
        what[count] = GOAL_POSTS + k
        count += 1
    return count


@inlined
def _see_ball(
    ball_x: float, ball_y: float, gaze: Gaze, hiding: Floats, hiders: int, n: VisionNumbers, out: Floats
) -> int:
    """Lists the ball, if it is seen; returns how many things are listed."""
    frame, cameras, sway, draw = gaze
    x, y = into_head(ball_x, ball_y, frame)
    z = n.ball_radius
    if surely_out(x, y, n.ball_range, n.across, cameras[TOP][Z] + CAMERA_HEIGHT_MARGIN):
        return 0
    for k in range(1, -1, -1):
        if not is_in_picture(x, y, z, cameras[k], n.across, n.up):
            continue
        if is_hidden(x, y, z, -1, hiding, hiders, cameras[k]) or uniform_of(draw, 1) < n.miss_ball:
            return 0
        seen: int = _add(out, 0, BALL_KIND, 0, np.nan, measure(x, y, z, cameras[k], draw, 0, sway, frame[4], n.noise))
        return seen
    return 0


@inlined
def _add(out: Floats, seen: int, kind: int, number: int, turn: float, polar: Polar) -> int:
    """Lists a thing after `seen` others, if it was found anywhere; returns how many there are now."""
    if polar[0] < 0.0:
        return seen
    out[seen, DISTANCE], out[seen, BEARING], out[seen, SPREAD] = polar
    out[seen, TURN], out[seen, KIND], out[seen, NUMBER], out[seen, LYING] = turn, kind, number, 0.0
    return seen + 1


@inlined
def _see_upright(
    row: int, count: int, gaze: Gaze, hiding: Floats, hiders: int, across: float, up: float, noise: float
) -> tuple[float, float, Polar]:
    """Measures a thing that stands, a row of `hiding`, by its foot if that is seen; first, the heights in view.

    Where the foot is hidden only the upper end is looked at. Nothing is seen if the first height is above the second.
    """
    frame, cameras, sway, draw = gaze
    x, y, width, top = hiding[row, 0], hiding[row, 1], 2.0 * hiding[row, 2], hiding[row, 3]
    lowest, highest, polar = 1e3, -1e3, NOT_FOUND
    for k in range(1, -1, -1):
        low, high = visible_heights(x, y, top, cameras[k], across, up)
        if low >= high or is_hidden(x, y, high, row, hiding, hiders, cameras[k]):
            continue
        if (
            polar[0] < 0.0
            and (low <= 0.0 or sway[3] > 0.0)
            and not is_hidden(x, y, 0.0, row, hiding, hiders, cameras[k])
        ):
            polar = measure(x, y, 0.0, cameras[k], draw, count, sway, frame[4], noise)
        lowest, highest = min(low, lowest), max(high, highest)
    if lowest <= highest and polar[0] < 0.0:
        polar = measure_width(x, y, width, draw, count, frame[4], noise)
    return lowest, highest, polar


@inlined
def _see_things(
    m: int,
    own: int,
    posture: SmallInts,
    gaze: Gaze,
    hiding: Floats,
    what: Ints,
    found: int,
    hiders: int,
    n: VisionNumbers,
    out: Floats,
    seen: int,
) -> int:
    """Lists the posts and robots that are seen after `seen` things.

    Which of two posts it is tells the crossbar, if its end is seen; the team of a robot, its waistband.
    """
    right, height = 1 if own >= SLOTS // 2 else 0, gaze[1][TOP][Z] + CAMERA_HEIGHT_MARGIN
    for row in range(found):
        k = what[row]
        farthest, miss = (n.post_range, n.miss_post) if k < GOAL_POSTS else (n.robot_range, n.miss_robot)
        x, y = hiding[row, 0], hiding[row, 1]
        if surely_out(x, y, farthest, n.across, height):
            continue
        low, high, polar = _see_upright(row, 2 + 2 * k, gaze, hiding, hiders, n.across, n.up, n.noise)
        if low > high or uniform_of(gaze[3], 3 + 2 * k) < miss or polar[0] < 0.0:
            continue
        number, lies = 0, False
        if k < GOAL_POSTS:
            kind = POST_KIND
            if n.goals_differ or n.names:
                kind = OWN_POST_KIND if k // 2 == right else THEIR_POST_KIND
            if high >= n.post_height or n.names:
                number = 1 + (k + right) % 2
        else:
            k -= GOAL_POSTS
            lies = posture[m, k] > LAST_UPRIGHT_POSTURE
            kind = ROBOT_KIND
            if x * x + y * y <= n.team_range**2 and (lies or low <= n.waistband <= high):
                kind = MATE_KIND if (k < SLOTS // 2) == (own < SLOTS // 2) else OPPONENT_KIND
                if n.numbers:
                    number = k % (SLOTS // 2) + 1
        seen = _add(out, seen, kind, number, np.nan, polar)
        out[seen - 1, LYING] = 1.0 if lies else 0.0
    return seen


@inlined
def _see_marks(
    own: int,
    mark_kind: SmallInts,
    mark_place: Floats,
    mark_turn: Floats,
    gaze: Gaze,
    hiding: Floats,
    hiders: int,
    n: VisionNumbers,
    out: Floats,
    seen: int,
) -> int:
    """Lists the landmarks on the ground that are seen after `seen` things."""
    frame, cameras, sway, draw = gaze
    half, across, up, height = len(mark_kind) // 2, n.across, n.up, cameras[TOP][Z] + CAMERA_HEIGHT_MARGIN
    for i in range(len(mark_kind)):
        x, y = into_head(mark_place[i, 0], mark_place[i, 1], frame)
        if surely_out(x, y, n.mark_range, across, height):
            continue
        k = BOTTOM
        if not is_in_picture(x, y, 0.0, cameras[BOTTOM], across, up):
            k = TOP
            if not is_in_picture(x, y, 0.0, cameras[TOP], across, up):
                continue
        j = 2 * (FIRST_MARK + i)
        if uniform_of(draw, j + 1) < n.miss_mark or is_hidden(x, y, 0.0, -1, hiding, hiders, cameras[k]):
            continue
        polar = measure(x, y, 0.0, cameras[k], draw, j, sway, frame[4], n.noise)
        turn = mark_turn[i]
        if not math.isnan(turn):
            turn = wrap_angle_exactly(turn - frame[5] + n.turn_noise * normal_of(draw, j + TURN_DRAW))
        seen = _add(out, seen, mark_kind[i], _team_number(i, own, half) if n.names else 0, turn, polar)
    return seen


@inlined
def _team_number(i: int, own: int, half: int) -> int:
    """Which landmark it is, from 1, in the frame of the player's team: for the right one the pitch is turned round."""
    if own < SLOTS // 2 or i >= 2 * half:
        return i + 1
    return (i + half) % (2 * half) + 1


@inlined
def _see_ghost(gaze: Gaze, n: VisionNumbers, out: Floats, seen: int) -> int:
    """Lists perhaps a thing that is not there, at a place in a picture that is on the ground and not too far."""
    draw = gaze[3]
    chance = uniform_of(draw, GHOST_DRAW)
    if chance >= n.ghost_ball + n.ghost_robot + n.ghost_mark:
        return seen
    camera = gaze[1][TOP if uniform_of(draw, GHOST_DRAW + 1) < 0.5 else BOTTOM]
    across = n.across * (2.0 * uniform_of(draw, GHOST_DRAW + 2) - 1.0)
    above = n.up * (2.0 * uniform_of(draw, GHOST_DRAW + 3) - 1.0)
    level, down = camera[COS] + camera[SIN] * above, camera[SIN] - camera[COS] * above
    if down <= 0.05:
        return seen
    far, which = camera[Z] / down, uniform_of(draw, GHOST_DRAW + 4)
    x, y = camera[X] + level * far, camera[Y] + across * far
    if chance < n.ghost_ball:
        kind, farthest = BALL_KIND, 0.0 if seen > 0 and out[0, KIND] == BALL_KIND else n.ball_range
    elif chance < n.ghost_ball + n.ghost_robot:
        kind, farthest = MATE_KIND if which < 0.5 else OPPONENT_KIND, n.robot_range
    else:
        kind, farthest = L_CROSSING + int(3.0 * which), n.mark_range
    if x * x + y * y > farthest**2:
        return seen
    turn = math.pi * (2.0 * uniform_of(draw, GHOST_DRAW + 6) - 1.0) if L_CROSSING <= kind < X_CROSSING else np.nan
    polar = measure(x, y, 0.0, camera, draw, GHOST_DRAW + 5, gaze[2], gaze[0][4], n.noise)
    listed: int = _add(out, seen, kind, 0, turn, polar)
    return listed


@inlined
def _list(
    m: int,
    s: int,
    seen: int,
    out: Floats,
    order: Ints,
    kind: SmallInts,
    number: SmallInts,
    lying: Bools,
    polar: Floats,
) -> None:
    """Writes what is seen to where it is told, near things first, so that the order tells nothing of who is who."""
    for i in range(seen):
        distance, j = out[i, DISTANCE], i
        while j > 0 and out[order[j - 1], DISTANCE] > distance:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    for j in range(seen):
        i = order[j]
        kind[m, s, j], number[m, s, j] = np.int8(out[i, KIND]), np.int8(out[i, NUMBER])
        lying[m, s, j] = out[i, LYING] > 0.0
        for c in range(4):
            polar[m, s, j, c] = out[i, c]


# ----------------------------------------------------------------------------------------------------
# What players see, as arrays over M matches and 22 players, and as objects for players in Python.
#
# Things are listed near ones first. They are told as the player's team sees them: its own goal, mates and opponents;
# directions from between the player's feet, to the left of where its body looks.


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A thing that a player sees."""

    kind: ObjectKind
    """What it looks like."""
    distance: float
    """On the ground, m."""
    bearing: float
    """To the left, rad."""
    spread: float
    """Standard deviation of the distance, m."""
    turn: float | None = None
    """Which way an L or T crossing points, rad to the left of the body's heading."""
    number: int | None = None
    """Of a robot, if it is recognised. Of a post, 1 or 2: at +y or -y in the frame of the own team. Of a landmark, the
    row in `Marks` and 1, if it is recognised."""
    lying: bool = False
    """Whether a robot lies."""

    @property
    def ahead(self) -> float:
        """How far ahead of the player's feet it is, m."""
        return self.distance * math.cos(self.bearing)

    @property
    def left(self) -> float:
        """How far to the left it is, m."""
        return self.distance * math.sin(self.bearing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sightings:
    """What everybody sees in a cycle; written in place by `Vision`."""

    count: Ints
    """(M, 22) how many things; what is listed beyond means nothing."""
    kind: SmallInts
    """(M, 22, K) of `Kind`."""
    number: SmallInts
    """(M, 22, K) as in `Seen`; 0 where it is not recognised."""
    lying: Bools
    """(M, 22, K) whether a robot lies."""
    polar: Floats
    """(M, 22, K, 4): distance [m], bearing [rad], turn [rad] or NaN, standard deviation of the distance [m]."""

    @classmethod
    def new(cls, count: int, things: int) -> Sightings:
        """Nothing seen, with room for that many things each."""
        shape = (count, SLOTS, things)
        return cls(
            count=np.zeros(shape[:2], np.int64),
            kind=np.zeros(shape, np.int8),
            number=np.zeros(shape, np.int8),
            lying=np.zeros(shape, bool),
            polar=np.zeros((*shape, 4)),
        )

    def of(self, match: int, slot: int) -> tuple[Sighting, ...]:
        """What a player sees, near things first."""
        row = (match, slot)
        return tuple(
            Sighting(
                kind=ObjectKind(int(self.kind[row][i])),
                distance=float(self.polar[row][i, DISTANCE]),
                bearing=float(self.polar[row][i, BEARING]),
                spread=float(self.polar[row][i, SPREAD]),
                turn=None if math.isnan(self.polar[row][i, TURN]) else float(self.polar[row][i, TURN]),
                number=int(self.number[row][i]) or None,
                lying=bool(self.lying[row][i]),
            )
            for i in range(int(self.count[row]))
        )


MAX_FALSE_SIGHTINGS = 1
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
        self.eyes, self.marks, self._posts = eyes, landmarks_of(field), goal_posts_of(field)
        self.numbers = vision_numbers(eyes, field, ball_radius)
        things = 1 + GOAL_POSTS + SLOTS + len(self.marks.kind) + MAX_FALSE_SIGHTINGS
        self.sights = Sightings.new(count, things)
        """What was seen last."""
        self._all = np.arange(count)

    def see(self, state: MatchesState, rows: Ints | None = None) -> Sightings:
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
