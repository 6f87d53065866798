"""Moving players out of the way, to places where nobody stands.

rcssserver3d moves a player along x to a fixed distance and, since 0.7.1, tries places around that one until it finds
a free one: not on another player, not in a goal, not in an own penalty area that is full already. Here the places
tried are a grid of player radii around the wished one, nearest first and backwards before forwards.

All functions take the `Case` of one judgement; "own" coordinates are those in which the team attacks towards +x.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.play_modes import Side

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.match.case import Case
    from nutmeg.match.decisions import Place

    Allowed = Callable[[Floats], Bools]
    """Which of (C, 2) places in own coordinates are allowed."""


def own_places(case: Case, side: Side) -> Floats:
    """(11, 2) where the players of a side are, in own coordinates."""
    return case.facts.position[side, :, :2] * side.sign


def own_point(place: Place, side: Side) -> Place:
    """A place in own coordinates, or back."""
    return place[0] * side.sign, place[1] * side.sign


def clear_circle(case: Case, side: Side, centre: Place, reason: str) -> None:
    """Move the players of a side who are too near to a place: back towards their goal, or sideways at its line."""
    restarts, pitch = case.rules.restarts, case.rules.pitch
    own, middle = own_places(case, side), own_point(centre, side)
    near = np.hypot(own[:, 0] - middle[0], own[:, 1] - middle[1]) < restarts.distance
    near &= case.active[side]
    if not near.any():
        return

    def allowed(places: Floats) -> Bools:
        far: Bools = np.hypot(places[:, 0] - middle[0], places[:, 1] - middle[1]) >= restarts.distance
        return far

    for index in np.flatnonzero(near).tolist():
        x, y = own[index].tolist()
        if middle[0] - restarts.move_distance < -pitch.length / 2:
            y = middle[1] + (restarts.move_distance if middle[1] < 0 else -restarts.move_distance)
        else:
            x = middle[0] - restarts.move_distance
        settle(case, side, index, (x, y), reason, allowed=allowed)


def clear_half(case: Case, side: Side, *, circle_allowed: bool, circle_forbidden: bool, reason: str) -> None:
    """Send the players of a side to their own half; the kicking side may stay in the circle, the other must not."""
    pitch, back = case.rules.pitch, -case.rules.restarts.move_distance
    own = own_places(case, side)
    wrong = own[:, 0] > 0
    if circle_allowed or circle_forbidden:
        in_circle = np.hypot(own[:, 0], own[:, 1]) < pitch.circle_radius
        wrong = (wrong & ~in_circle) if circle_allowed else wrong
        wrong = (wrong | in_circle) if circle_forbidden else wrong
    wrong &= case.active[side]
    if not wrong.any():
        return

    def allowed(places: Floats) -> Bools:
        good: Bools = places[:, 0] <= 0
        if circle_forbidden:
            good = good & (np.hypot(places[:, 0], places[:, 1]) >= pitch.circle_radius)
        return good

    for index in np.flatnonzero(wrong).tolist():
        settle(case, side, index, (back, float(own[index, 1])), reason, allowed=allowed)


def clear_area(case: Case, side: Side, reason: str) -> None:
    """Move the players of a side out of the opponents' penalty area."""
    pitch = case.rules.pitch
    own = own_places(case, side)
    edge, half_width = pitch.length / 2 - pitch.penalty_depth, pitch.penalty_width / 2
    inside = (own[:, 0] > edge) & (np.abs(own[:, 1]) < half_width) & case.active[side]
    for index in np.flatnonzero(inside).tolist():
        settle(case, side, index, (edge - case.rules.restarts.move_distance, float(own[index, 1])), reason)


def repel(case: Case, side: Side, centre: Place, nearest: float, to: float, reason: str) -> None:
    """Push the players of a side who are nearer to a place than `nearest` straight away from it, to a distance."""
    own, middle = own_places(case, side), own_point(centre, side)
    away = own - middle
    distance = np.hypot(away[:, 0], away[:, 1])
    near = (distance < nearest) & case.active[side]

    def allowed(places: Floats) -> Bools:
        far: Bools = np.hypot(places[:, 0] - middle[0], places[:, 1] - middle[1]) >= nearest
        return far

    for index in np.flatnonzero(near).tolist():
        gap = float(distance[index])
        x, y = (away[index] / gap).tolist() if gap > 1e-9 else (-1.0, 0.0)
        settle(case, side, index, (middle[0] + to * x, middle[1] + to * y), reason, allowed=allowed)


def settle(
    case: Case,
    side: Side,
    index: int,
    wish: Place,
    reason: str,
    *,
    allowed: Allowed | None = None,
    room: float | None = None,
    heading: float | None = None,
) -> Place:
    """Move a player to the free place nearest to a wished one, both in own coordinates; to that one if none is free.

    Gives the place on the pitch; `heading` is on the pitch, too.
    """
    restarts = case.rules.restarts
    room = 2 * restarts.player_radius if room is None else room
    places = np.array(wish) + offsets(restarts.player_radius, restarts.move_attempts)
    taken = _taken(case, side, index)
    found = wish
    for tried in (places[:1], places[1:]):  # the wished place is free nearly always
        good = _free(case, side, index, tried, taken, room)
        if allowed is not None:
            good &= allowed(tried)
        if good.any():
            found = tuple(tried[int(np.argmax(good))].tolist())
            break
    place = own_point(found, side)
    case.move(side, index, place, reason, heading=heading)
    return place


def _taken(case: Case, side: Side, index: int) -> Floats:
    """(M, 2) where others stand, in own coordinates; whom the other side moves in this cycle counts as unmoved."""
    others = case.facts.present.copy()
    others[side, index] = False
    own, theirs = case.planned[side][others[side]], case.facts.position[side.other, :, :2][others[side.other]]
    taken: Floats = np.concatenate([own, theirs]) * side.sign
    return taken


def _free(case: Case, side: Side, index: int, places: Floats, taken: Floats, room: float) -> Bools:
    """(C,) which places have room for a player, and are not in a goal or in a full own area."""
    pitch, radius = case.rules.pitch, case.rules.restarts.player_radius
    gaps = places[:, None, :] - taken[None]
    good: Bools = np.logical_and.reduce(np.hypot(gaps[..., 0], gaps[..., 1]) >= room, axis=1)
    x, y = places[:, 0], np.abs(places[:, 1])
    good &= ~((np.abs(x) > pitch.length / 2) & (y < pitch.goal_width / 2 + radius))
    if _own_area_is_full(case, side, index):
        edge = -pitch.length / 2 + pitch.penalty_depth
        good &= ~((x < edge + radius) & (y < pitch.penalty_width / 2 + radius))
    return good


def _own_area_is_full(case: Case, side: Side, index: int) -> bool:
    """Whether one more player in the own penalty area would be a foul; `index` may stay if it is there already."""
    rules = case.rules.fouls.illegal_defence
    inside = case.state.in_areas[0, side]
    return rules.on and not inside[index] and int(np.count_nonzero(inside)) >= rules.most


@lru_cache(maxsize=8)
def offsets(spacing: float, count: int) -> Floats:
    """(count, 2) a grid around a place, nearest first, backwards before forwards."""
    reach = int(np.ceil(np.sqrt(count))) + 1
    steps = range(-reach, reach + 1)
    grid = sorted(((x, y) for x in steps for y in steps), key=lambda p: (p[0] ** 2 + p[1] ** 2, p[0], -p[1]))
    found = np.array(grid[:count], float) * spacing
    found.flags.writeable = False
    return found
