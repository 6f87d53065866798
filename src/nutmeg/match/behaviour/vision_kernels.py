"""Symbolic vision, compiled: what the two cameras of every player of M matches show, as lists of named things.

Draws of a player in a cycle: 2j for the noise of thing j and 2j + 1 for missing it; j is 0 for the ball, 1 to 4 for
posts, 5 to 26 for robots by slot, then landmarks. The geometry is in `view_kernels`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.compiled import inlined, unchecked
from nutmeg.match.behaviour.marks import POSTS, Kind
from nutmeg.match.behaviour.random_kernels import VISION, key, normal_of, normal_pair, uniform_of
from nutmeg.match.behaviour.state import Posture
from nutmeg.match.behaviour.view_kernels import (
    BEARING,
    BOTTOM,
    COS,
    DISTANCE,
    NOWHERE,
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
    aside,
    cameras_of,
    cut,
    hidden,
    into_head,
    measure,
    measure_width,
    shows,
    surely_out,
)
from nutmeg.match.slots import SLOTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts

    Cameras = tuple[Camera, Camera]
    Gaze = tuple[Frame, Cameras, Sway, np.uint64]
    """How one player looks: the frame of its head, its cameras, the sway of its trunk, the key of its draws."""

KIND, NUMBER, LYING = 4, 5, 6
"""Columns of the list while it is made, after those of `view_kernels`."""
FIRST_MARK = 1 + POSTS + SLOTS
TURN_DRAW, SWAY_DRAW, GHOST_DRAW = 200, 400, 401
MARGIN = 0.1
"""How far at most a camera is from above the feet, and more, m."""
MOST_HIDING = SLOTS + POSTS
STANDS = Posture.KICKING.value
"""Who does more than this (lies, gets up, dives) sees nothing."""

BALL, MATE, OPPONENT, ROBOT = Kind.BALL.value, Kind.MATE.value, Kind.OPPONENT.value, Kind.ROBOT.value
OWN_POST, THEIR_POST, POST = Kind.OWN_POST.value, Kind.THEIR_POST.value, Kind.POST.value
L_CROSSING, X_CROSSING = Kind.L_CROSSING.value, Kind.X_CROSSING.value


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
    hiding, what = np.empty((MOST_HIDING, 4)), np.empty(MOST_HIDING, np.int64)
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
            if posture[m, s] > STANDS:
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
    height = gaze[1][TOP][Z] + MARGIN
    for k in range(len(posts)):
        x, y = into_head(posts[k, 0], posts[k, 1], frame)
        if aside(x, y, n.post_radius, n.across, height):
            continue
        hiding[count, 0], hiding[count, 1], hiding[count, 2], hiding[count, 3] = x, y, n.post_radius, n.post_height
        what[count] = k
        count += 1
    for i in range(len(players) - 1, -1, -1):
        k = players[i]
        x, y = into_head(pose[m, k, 0], pose[m, k, 1], frame)
        half, top = 0.5 * n.width, n.height
        if posture[m, k] > STANDS:
            half, top = 0.5 * n.lying_width, n.lying_height
        if k == own or aside(x, y, half, n.across, height):
            continue
        hiding[count, 0], hiding[count, 1], hiding[count, 2], hiding[count, 3] = x, y, half, top
        what[count] = POSTS + k
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
    if surely_out(x, y, n.ball_range, n.across, cameras[TOP][Z] + MARGIN):
        return 0
    for k in range(1, -1, -1):
        if not shows(x, y, z, cameras[k], n.across, n.up):
            continue
        if hidden(x, y, z, -1, hiding, hiders, cameras[k]) or uniform_of(draw, 1) < n.miss_ball:
            return 0
        seen: int = _add(out, 0, BALL, 0, np.nan, measure(x, y, z, cameras[k], draw, 0, sway, frame[4], n.noise))
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
    lowest, highest, polar = 1e3, -1e3, NOWHERE
    for k in range(1, -1, -1):
        low, high = cut(x, y, top, cameras[k], across, up)
        if low >= high or hidden(x, y, high, row, hiding, hiders, cameras[k]):
            continue
        if polar[0] < 0.0 and (low <= 0.0 or sway[3] > 0.0) and not hidden(x, y, 0.0, row, hiding, hiders, cameras[k]):
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
    right, height = 1 if own >= SLOTS // 2 else 0, gaze[1][TOP][Z] + MARGIN
    for row in range(found):
        k = what[row]
        farthest, miss = (n.post_range, n.miss_post) if k < POSTS else (n.robot_range, n.miss_robot)
        x, y = hiding[row, 0], hiding[row, 1]
        if surely_out(x, y, farthest, n.across, height):
            continue
        low, high, polar = _see_upright(row, 2 + 2 * k, gaze, hiding, hiders, n.across, n.up, n.noise)
        if low > high or uniform_of(gaze[3], 3 + 2 * k) < miss or polar[0] < 0.0:
            continue
        number, lies = 0, False
        if k < POSTS:
            kind = POST
            if n.goals_differ or n.names:
                kind = OWN_POST if k // 2 == right else THEIR_POST
            if high >= n.post_height or n.names:
                number = 1 + (k + right) % 2
        else:
            k -= POSTS
            lies = posture[m, k] > STANDS
            kind = ROBOT
            if x * x + y * y <= n.team_range**2 and (lies or low <= n.waistband <= high):
                kind = MATE if (k < SLOTS // 2) == (own < SLOTS // 2) else OPPONENT
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
    half, across, up, height = len(mark_kind) // 2, n.across, n.up, cameras[TOP][Z] + MARGIN
    for i in range(len(mark_kind)):
        x, y = into_head(mark_place[i, 0], mark_place[i, 1], frame)
        if surely_out(x, y, n.mark_range, across, height):
            continue
        k = BOTTOM
        if not shows(x, y, 0.0, cameras[BOTTOM], across, up):
            k = TOP
            if not shows(x, y, 0.0, cameras[TOP], across, up):
                continue
        j = 2 * (FIRST_MARK + i)
        if uniform_of(draw, j + 1) < n.miss_mark or hidden(x, y, 0.0, -1, hiding, hiders, cameras[k]):
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
        kind, farthest = BALL, 0.0 if seen > 0 and out[0, KIND] == BALL else n.ball_range
    elif chance < n.ghost_ball + n.ghost_robot:
        kind, farthest = MATE if which < 0.5 else OPPONENT, n.robot_range
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
