"""Symbolic vision: what each player's two cameras would show, as named things with the errors of a picture.

    vision = Vision(load_eyes("nao"), load_field("spl2011"), ball_radius=0.0325, count=512)
    sightings = vision.see(state)                       # every cycle; the same arrays, written anew
    for thing in sightings.of(match=0, slot=3):         # what one player sees
        thing.kind, thing.distance, thing.bearing
    sightings.things[0, 3, : sightings.count[0, 3]]     # the same as records, for kernels

It stands in for the pictures of `cameras` where thousands of matches are played: same cameras, same field of view (a
quadrilateral on the ground for each camera, see `camera_geometry.ground_view`). Robots (as upright bodies of a torso's
width) and posts hide what is behind their middle; what is far is not recognised; errors are half a pixel in the
picture and the sway of a walking trunk; things are missed, and things are seen that are not there, with set
probabilities. A lying player sees nothing. Robots are distinguished by the colour of their team only, unless the
settings say otherwise. The same state gives the same sightings, whatever other matches are in the batch.

Things are listed near ones first, as the player's team sees them: its own goal, mates and opponents; directions are
from between the player's feet, to the left of its heading.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import inlined, unchecked
from nutmeg.base.records import new_records, record_of, record_values
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.camera_geometry import (
    NOT_FOUND,
    OCCLUDER,
    Gaze,
    Polar,
    Sway,
    VisionNumbers,
    cameras_of,
    head_frame,
    into_head,
    is_aside,
    is_hidden,
    is_in_view,
    is_out,
    measure,
    measure_width,
    visible_heights,
)
from nutmeg.match.worlds.behavioural.landmarks import GOAL_POSTS, ObjectKind, goal_posts_of, goals_differ, landmarks_of
from nutmeg.match.worlds.behavioural.random import VISION, key, normal_of, normal_pair, uniform_of
from nutmeg.match.worlds.behavioural.state import Posture

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.base.records import Records
    from nutmeg.match.worlds.behavioural.camera_geometry import Occluder
    from nutmeg.match.worlds.behavioural.eyes import EyesSettings
    from nutmeg.match.worlds.behavioural.landmarks import Landmarks
    from nutmeg.match.worlds.behavioural.state import Ball, MatchesState, Player
    from nutmeg.model.field import FieldSettings

_MAX_FALSE_SIGHTINGS = 1  # things that are not there, at most, in a cycle
_CAMERA_HEIGHT_MARGIN = 0.1  # how far at most a camera is from above the feet, and more, m
_TEAM_SIZE = SLOTS // 2
_FIRST_MARK = 1 + GOAL_POSTS + SLOTS
"""Random draws of a player in a cycle: 2 j for the noise of thing j and 2 j + 1 for missing it; j is 0 for the ball, 1
to 4 for posts, 5 to 26 for robots by slot, then landmarks from this one on."""
_TURN_DRAW = 200  # draws of the directions of crossings begin here
_SWAY_DRAW = 400  # the draw of the sway of the trunk
_GHOST_DRAW = 401  # draws of a false sighting begin here
_TOP, _BOTTOM = 0, 1  # which camera is which in a pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A thing that a player sees."""

    kind: ObjectKind
    """Appearance of the thing."""
    distance: float
    """Distance on the ground, m."""
    bearing: float
    """Bearing to the left, rad."""
    spread: float
    """Standard deviation of the distance, m."""
    turn: float | None = None
    """Direction of an L or T crossing, rad to the left of the body's heading."""
    number: int | None = None
    """The number of a robot, if it is recognised; of a post, 1 or 2 for +y or -y in the own team's frame; of a
    landmark, its row in `Landmarks` plus 1, if it is recognised."""
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


@dataclass
class SightingRecord:
    """The record of a sighting; as in `Sighting`, with 0 for an unknown number and NaN for no direction."""

    kind: int
    distance: float
    bearing: float
    spread: float
    turn: float
    number: int
    lying: bool


_SIGHTING = record_of(SightingRecord)


class Sightings:
    """The sightings of all players in a cycle; `Vision` overwrites them.

    Args:
        things: (M, 22, K) records of `SightingRecord`.
        count: (M, 22) number of valid records.
    """

    def __init__(self, things: Records[Records[Records[SightingRecord]]], count: Ints) -> None:
        self.things, self.count = things, count

    def of(self, match: int, slot: int) -> tuple[Sighting, ...]:
        """The sightings of a player, near things first."""
        return tuple(
            Sighting(
                kind=ObjectKind(kind),
                distance=distance,
                bearing=bearing,
                spread=spread,
                turn=None if math.isnan(turn) else turn,
                number=number or None,
                lying=lying,
            )
            for kind, distance, bearing, spread, turn, number, lying in self.things[match, slot][
                : self.count[match, slot]
            ].tolist()
        )

    def copy_of(self, match: int, slot: int) -> Sightings:
        """The sightings of one player, as those of player 0 in match 0, that later cycles do not change."""
        things = self.things[match : match + 1, slot : slot + 1].copy()
        return Sightings(things, self.count[match : match + 1, slot : slot + 1].copy())


class _Scenery(NamedTuple):
    """The visible things of a pitch, for kernels."""

    posts: Floats
    """(4, 2) goal posts."""
    kind: Ints
    """(F,) of landmarks, of `ObjectKind`."""
    place: Floats
    """(F, 2) their places, m."""
    turn: Floats
    """(F,) directions of L and T crossings, rad; NaN for other landmarks."""


class Vision:
    """The eyes of all players of M matches."""

    def __init__(self, eyes: EyesSettings, field: FieldSettings, *, ball_radius: float, count: int) -> None:
        if ball_radius >= min(eyes.cameras.top[2], eyes.cameras.bottom[2]) / 2:
            raise UsageError(f"the ball's radius is {ball_radius} m; one half as high as a camera cannot be measured.")
        self.eyes, self.marks = eyes, landmarks_of(field)
        self._numbers = record_values(_vision_numbers(eyes, field, ball_radius))
        self._scenery = _scenery(field, self.marks)
        things = 1 + GOAL_POSTS + SLOTS + len(self.marks.kind) + _MAX_FALSE_SIGHTINGS
        self.sightings = Sightings(
            new_records(SightingRecord, count, SLOTS, things), np.zeros((count, SLOTS), np.int64)
        )
        """The last sightings."""
        self._all = np.arange(count)

    def see(self, state: MatchesState, chosen: Ints | None = None) -> Sightings:
        """The sightings of all players, in all matches or in those chosen (K,); the same arrays in every call."""
        seen, rows = self.sightings, self._all if chosen is None else chosen
        see_all(rows, state.players, state.balls, self._scenery, self._numbers, seen.things, seen.count)
        return seen


def _scenery(field: FieldSettings, marks: Landmarks) -> _Scenery:
    return _Scenery(goal_posts_of(field), marks.kind.astype(np.int64), marks.place, marks.turn)


def _vision_numbers(eyes: EyesSettings, field: FieldSettings, ball_radius: float) -> VisionNumbers:
    """Settings and pitch as records for the kernels."""
    cameras, goal = eyes.cameras, field.goal
    top, bottom = (
        (place[0] - cameras.neck[0], place[1] - cameras.neck[1], place[2] - cameras.neck[2])
        for place in (cameras.top, cameras.bottom)
    )
    tilt = math.radians(cameras.bottom_tilt_degrees)
    return VisionNumbers(
        vision=eyes.vision,
        bodies=eyes.bodies,
        neck=cameras.neck,
        top=top,
        bottom=bottom,
        tilt_cos=math.cos(tilt),
        tilt_sin=math.sin(tilt),
        across=cameras.slopes[0],
        up=cameras.slopes[1],
        noise=eyes.vision.pixel_noise / cameras.focal,
        goals_differ=goals_differ(field),
        ball_radius=ball_radius,
        post_radius=goal.post_radius if goal else 0.0,
        post_height=goal.height if goal else 0.0,
    )


@unchecked
def see_all(
    chosen: Ints,
    players: Records[Records[Player]],
    balls: Records[Ball],
    scenery: _Scenery,
    settings: Records[VisionNumbers],
    things: Records[Records[Records[SightingRecord]]],
    count: Ints,
) -> None:
    """Fills what all players of the matches `chosen` (K,) see: things (M, 22, K) and their count (M, 22)."""
    numbers = settings[0]
    room: Records[Occluder] = np.empty(SLOTS + GOAL_POSTS, OCCLUDER)  # type: ignore[assignment]
    out: Records[SightingRecord] = np.empty(things.shape[2], _SIGHTING)  # type: ignore[assignment]
    present, order = np.empty(SLOTS, np.int64), np.empty(things.shape[2], np.int64)
    for m in chosen:
        here, ball = players[m], balls[m]
        there = 0
        for s in range(SLOTS):
            count[m, s] = 0
            if here[s].present:
                present[there] = s
                there += 1
        for i in range(there):
            s = present[i]
            player = here[s]
            if player.posture > Posture.KICKING:  # a player that lies, gets up or dives sees nothing
                continue
            draw = key(ball.seed, ball.cycle, s, VISION)
            sway = _sway(player, draw, numbers.vision.sway)
            gaze = Gaze(head_frame(player), cameras_of(player.yaw, player.pitch, numbers), sway, draw, numbers)
            # What stands hides what is behind it, so it is found before anything is looked at.
            standing = room[: _find_standing(s, here, present[:there], scenery.posts, gaze, room)]
            occluders = standing if numbers.vision.hides else standing[:0]
            seen = _see_ball(ball, gaze, occluders, out)
            seen = _see_standing(s, here, gaze, standing, occluders, out, seen)
            seen = _see_landmarks(s, scenery, gaze, occluders, out, seen)
            seen = _see_ghost(gaze, out, seen)
            _sort(out[:seen], order, things[m][s])
            count[m, s] = seen


@inlined
def _sway(player: Player, draw: np.uint64, spread: float) -> Sway:
    """The unknown tilt of a trunk; none of a player that stands."""
    if spread > 0.0 and (abs(player.ahead) + abs(player.left) > 0.005 or abs(player.turn) > 0.01):
        a, b = normal_pair(draw, _SWAY_DRAW)
        return Sway(spread * a, spread * b, spread)
    return Sway(0.0, 0.0, 0.0)


@inlined
def _find_standing(
    own: int, players: Records[Player], present: Ints, posts: Floats, gaze: Gaze, room: Records[Occluder]
) -> int:
    """Fills what stands so that it is in view or hides what is; returns how many things that are.

    Posts are first, then robots, the last slot first.
    """
    n, count = gaze.numbers, 0
    height = gaze.cameras[_TOP].z + _CAMERA_HEIGHT_MARGIN
    for k in range(len(posts)):
        x, y = into_head(posts[k, 0], posts[k, 1], gaze.frame)
        # Things aside of the picture can be dropped early: they are neither seen nor between the camera and what is.
        if is_aside(x, y, n.post_radius, n.across, height):
            continue
        thing = room[count]
        thing.x, thing.y, thing.half_width, thing.height, thing.thing = x, y, n.post_radius, n.post_height, k
        count += 1
    for i in range(len(present) - 1, -1, -1):
        k = present[i]
        x, y = into_head(players[k].x, players[k].y, gaze.frame)
        half, top = 0.5 * n.bodies.width, n.bodies.height
        if players[k].posture > Posture.KICKING:
            half, top = 0.5 * n.bodies.lying_width, n.bodies.lying_height
        if k == own or is_aside(x, y, half, n.across, height):
            continue
        thing = room[count]
        thing.x, thing.y, thing.half_width, thing.height, thing.thing = x, y, half, top, GOAL_POSTS + k
        count += 1
    return count


@inlined
def _see_ball(ball: Ball, gaze: Gaze, occluders: Records[Occluder], out: Records[SightingRecord]) -> int:
    """Lists the ball, if it is seen; returns how many things are listed."""
    n = gaze.numbers
    x, y = into_head(ball.x, ball.y, gaze.frame)
    z = n.ball_radius
    if is_out(x, y, n.vision.ball_range, n.across, gaze.cameras[_TOP].z + _CAMERA_HEIGHT_MARGIN):
        return 0
    for k in range(1, -1, -1):  # the lower camera first: it measures near things better
        camera = gaze.cameras[k]
        if not is_in_view(x, y, z, camera, n.across, n.up):
            continue
        # A ball that is hidden or missed here is not looked for in the other picture.
        if is_hidden(x, y, z, -1, occluders, camera) or uniform_of(gaze.draw, 1) < n.vision.miss_ball:
            return 0
        seen: int = _add(out, 0, ObjectKind.BALL, 0, np.nan, measure(gaze, camera, x, y, z, 0))
        return seen
    return 0


@inlined
def _add(out: Records[SightingRecord], seen: int, kind: int, number: int, turn: float, polar: Polar) -> int:
    """Lists a thing after `seen` others, if it was found anywhere; returns how many there are now."""
    if polar.distance < 0.0:
        return seen
    thing = out[seen]
    thing.kind, thing.number, thing.turn, thing.lying = kind, number, turn, False
    thing.distance, thing.bearing, thing.spread = polar.distance, polar.bearing, polar.spread
    return seen + 1


@inlined
def _measure_standing(
    row: int, count: int, gaze: Gaze, standing: Records[Occluder], occluders: Records[Occluder]
) -> tuple[float, float, Polar]:
    """Measures a thing that stands by its foot if that is seen; the first two numbers are the heights in view.

    Where the foot is hidden only the upper end is looked at. Nothing is seen if the first height is above the second.
    """
    n, thing = gaze.numbers, standing[row]
    x, y = thing.x, thing.y
    by_foot = n.vision.range_noise > 0.0  # distances that are measured directly need no foot in view
    lowest, highest, polar = 1e3, -1e3, NOT_FOUND
    for k in range(1, -1, -1):
        camera = gaze.cameras[k]
        low, high = visible_heights(x, y, thing.height, camera, n.across, n.up)
        if low >= high or is_hidden(x, y, high, row, occluders, camera):
            continue
        if polar.distance < 0.0 and (low <= 0.0 or by_foot) and not is_hidden(x, y, 0.0, row, occluders, camera):
            # The foot is on the ground, and its direction downwards gives the distance; the lower camera is asked
            # first.
            polar = measure(gaze, camera, x, y, 0.0, count)
        lowest, highest = min(low, lowest), max(high, highest)
    if lowest <= highest and polar.distance < 0.0:
        # Otherwise its width in the picture has to do, which is much less exact.
        polar = measure_width(gaze, x, y, 2.0 * thing.half_width, count)
    return lowest, highest, polar


@inlined
def _see_standing(
    own: int,
    players: Records[Player],
    gaze: Gaze,
    standing: Records[Occluder],
    occluders: Records[Occluder],
    out: Records[SightingRecord],
    seen: int,
) -> int:
    """Lists the posts and robots that are seen after `seen` things.

    The crossbar identifies a post if its end is seen; the waistband shows the team of a robot.
    """
    n = gaze.numbers
    right, height = 1 if own >= _TEAM_SIZE else 0, gaze.cameras[_TOP].z + _CAMERA_HEIGHT_MARGIN
    for row in range(len(standing)):
        thing = standing[row]
        k = thing.thing
        is_post = k < GOAL_POSTS
        farthest, miss = n.vision.robot_range, n.vision.miss_robot
        if is_post:
            farthest, miss = n.vision.post_range, n.vision.miss_post
        if is_out(thing.x, thing.y, farthest, n.across, height):
            continue
        # Random draws are numbered by the thing, not by the order in which things are found.
        low, high, polar = _measure_standing(row, 2 + 2 * k, gaze, standing, occluders)
        if low > high or uniform_of(gaze.draw, 3 + 2 * k) < miss or polar.distance < 0.0:
            continue
        number, lies = 0, False
        # The end of the crossbar says which post of a goal it is; the right team sees the pitch turned around.
        if is_post:
            kind = ObjectKind.POST.value
            if n.goals_differ or n.vision.names:
                kind = ObjectKind.OWN_POST.value if k // 2 == right else ObjectKind.THEIR_POST.value
            if high >= n.post_height or n.vision.names:
                number = 1 + (k + right) % 2
        else:
            slot = k - GOAL_POSTS
            lies = players[slot].posture > Posture.KICKING
            kind = ObjectKind.ROBOT.value
            # The waistband must be near enough and not hidden; lying robots show it whatever covers their middle.
            near = thing.x * thing.x + thing.y * thing.y <= n.vision.team_range**2
            if near and (lies or low <= n.bodies.waistband <= high):
                kind = ObjectKind.MATE.value if (slot < _TEAM_SIZE) == (own < _TEAM_SIZE) else ObjectKind.OPPONENT.value
                if n.vision.numbers:
                    number = slot % _TEAM_SIZE + 1
        seen = _add(out, seen, kind, number, np.nan, polar)
        out[seen - 1].lying = lies
    return seen


@inlined
def _see_landmarks(
    own: int, scenery: _Scenery, gaze: Gaze, occluders: Records[Occluder], out: Records[SightingRecord], seen: int
) -> int:
    """Lists the landmarks on the ground that are seen after `seen` things."""
    n, frame, cameras, draw = gaze.numbers, gaze.frame, gaze.cameras, gaze.draw
    half, across, up = len(scenery.kind) // 2, n.across, n.up
    height, farthest = cameras[_TOP].z + _CAMERA_HEIGHT_MARGIN, n.vision.mark_range
    for i in range(len(scenery.kind)):
        x, y = into_head(scenery.place[i, 0], scenery.place[i, 1], frame)
        if is_out(x, y, farthest, across, height):
            continue
        # The lower camera is preferred, as for the ball.
        k = _BOTTOM
        if not is_in_view(x, y, 0.0, cameras[_BOTTOM], across, up):
            k = _TOP
            if not is_in_view(x, y, 0.0, cameras[_TOP], across, up):
                continue
        j = 2 * (_FIRST_MARK + i)
        if uniform_of(draw, j + 1) < n.vision.miss_mark or is_hidden(x, y, 0.0, -1, occluders, cameras[k]):
            continue
        polar = measure(gaze, cameras[k], x, y, 0.0, j)
        # Crossings show their direction; the centre and other marks look the same from all sides.
        turn = scenery.turn[i]
        if not math.isnan(turn):
            turn = wrap_angle_exactly(turn - frame.heading + n.vision.turn_noise * normal_of(draw, j + _TURN_DRAW))
        number = _team_number(i, own, half) if n.vision.names else 0
        seen = _add(out, seen, scenery.kind[i], number, turn, polar)
    return seen


@inlined
def _team_number(i: int, own: int, half: int) -> int:
    """Which landmark it is, from 1, in the frame of the player's team: for the right one the pitch is turned round."""
    if own < _TEAM_SIZE or i >= 2 * half:
        return i + 1
    return (i + half) % (2 * half) + 1


@inlined
def _see_ghost(gaze: Gaze, out: Records[SightingRecord], seen: int) -> int:
    """Lists perhaps a thing that is not there, at a place in a picture that is on the ground and not too far."""
    n, vision, draw = gaze.numbers, gaze.numbers.vision, gaze.draw
    chance = uniform_of(draw, _GHOST_DRAW)
    if chance >= vision.ghost_ball + vision.ghost_robot + vision.ghost_mark:
        return seen
    # A false thing is drawn in a picture, not on the pitch: false things are where a detector could have been fooled,
    # with the right mixture of near and far.
    camera = gaze.cameras[_TOP if uniform_of(draw, _GHOST_DRAW + 1) < 0.5 else _BOTTOM]
    across = n.across * (2.0 * uniform_of(draw, _GHOST_DRAW + 2) - 1.0)
    above = n.up * (2.0 * uniform_of(draw, _GHOST_DRAW + 3) - 1.0)
    level, down = camera.cos + camera.sin * above, camera.sin - camera.cos * above
    # At the horizon and above it, a detector knows that nothing can stand there.
    if down <= 0.05:
        return seen
    far, which = camera.z / down, uniform_of(draw, _GHOST_DRAW + 4)
    x, y = camera.x + level * far, camera.y + across * far
    if chance < vision.ghost_ball:
        kind, farthest = ObjectKind.BALL.value, vision.ball_range
        if seen > 0 and out[0].kind == ObjectKind.BALL:  # a false ball beside the true one could be recognised
            farthest = 0.0
    elif chance < vision.ghost_ball + vision.ghost_robot:
        kind, farthest = ObjectKind.MATE.value if which < 0.5 else ObjectKind.OPPONENT.value, vision.robot_range
    else:
        kind, farthest = ObjectKind.L_CROSSING.value + int(3.0 * which), vision.mark_range
    if x * x + y * y > farthest**2:
        return seen
    turn = np.nan
    if ObjectKind.L_CROSSING <= kind < ObjectKind.X_CROSSING:
        turn = math.pi * (2.0 * uniform_of(draw, _GHOST_DRAW + 6) - 1.0)
    listed: int = _add(out, seen, kind, 0, turn, measure(gaze, camera, x, y, 0.0, _GHOST_DRAW + 5))
    return listed


@inlined
def _sort(out: Records[SightingRecord], order: Ints, things: Records[SightingRecord]) -> None:
    """Writes the sightings to `things`, near ones first, so that their order reveals nothing."""
    for i in range(len(out)):
        distance, j = out[i].distance, i
        while j > 0 and out[order[j - 1]].distance > distance:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    for j in range(len(out)):
        things[j] = out[order[j]]
