"""Where a player is who has lost its way, compiled: poses that explain one picture, tried one by one.

A crossing whose direction is seen says where the player is if one knows which crossing it is; so do two posts. Each
possibility is a pose, and fits the landmarks in view more or less. The best is taken if it fits at least so well as no
other, elsewhere, does; a picture that leaves a choice (both ends of the pitch look alike where no goal is seen) leaves
the player lost.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.compiled import inlined, kernel
from nutmeg.match.behaviour.marks import Kind
from nutmeg.match.behaviour.mind_rows import MISFIT, TT, XT, XX, XY, YT, YY
from nutmeg.match.behaviour.strategy_rows import HEADING, X, Y
from nutmeg.match.behaviour.view_kernels import BEARING, DISTANCE, SPREAD, TURN

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.behaviour.mind_rows import Seen, Table, TrackerNumbers

    Best = tuple[float, float, float, float, float]
    """x, y and heading of the best pose so far, how well it fits, and how well the best one elsewhere does."""

FIRST_MARK, LAST_POST = Kind.OWN_POST.value, Kind.POST.value
ENOUGH = 1.8
"""How many landmarks a pose must fit, less what they are off."""
ELSEWHERE, OTHERWISE = 0.5, 0.5
"""Poses farther apart than this are different ones, m and rad."""
OUTSIDE = 1.0
"""How far outside the lines players may be, m."""
NEAR = 0.2
"""How far a landmark may be from where it should be, and three times what the eyes say, m."""
HABIT = 0.05
"""What a pose gets for each metre that it is nearer to where the player believed to be, in landmarks."""


@inlined
def differs(number: int, landmarks: float) -> bool:
    """Whether a number that is recognised with a thing, if any is, is another than a landmark's."""
    found: bool = number > 0 and number != landmarks
    return found


@kernel
def begin_anew(w: Floats, seen: Seen, table: Table, n: TrackerNumbers) -> None:
    """Looks for a new pose in what is seen, and takes it if there is one."""
    kind, polar, places = seen.kind, seen.polar, table.places
    best = (0.0, 0.0, 0.0, -math.inf, -math.inf)
    for i in range(seen.things):
        if kind[i] < FIRST_MARK:
            continue
        for c in range(table.first[kind[i]], table.first[kind[i] + 1]):
            if differs(seen.number[i], places[c, 3]):
                continue
            if not math.isnan(polar[i, TURN]):
                heading = wrap_angle_exactly(places[c, 2] - polar[i, TURN])
                best = _try(best, heading, i, c, w, seen, table, n)
            elif kind[i] <= LAST_POST:
                best = _try_pairs(best, i, c, w, seen, table, n)
    if best[3] > ENOUGH and best[3] > best[4] + n.apart:
        w[X], w[Y], w[HEADING], w[MISFIT] = best[0], best[1], best[2], 0.0
        w[XX], w[XY], w[YY], w[XT], w[YT], w[TT] = 0.04, 0.0, 0.04, 0.0, 0.0, 0.04


@kernel
def _try_pairs(best: Best, i: int, c: int, w: Floats, seen: Seen, table: Table, n: TrackerNumbers) -> Best:
    """Tries poses in which thing i is post c, with any other post that is seen."""
    kind, polar, places = seen.kind, seen.polar, table.places
    ax, ay = polar[i, DISTANCE] * math.cos(polar[i, BEARING]), polar[i, DISTANCE] * math.sin(polar[i, BEARING])
    for j in range(seen.things):
        if j == i or not FIRST_MARK <= kind[j] <= LAST_POST:
            continue
        bx, by = polar[j, DISTANCE] * math.cos(polar[j, BEARING]), polar[j, DISTANCE] * math.sin(polar[j, BEARING])
        for d in range(table.first[kind[j]], table.first[kind[j] + 1]):
            if d == c or differs(seen.number[j], places[d, 3]):
                continue
            way = math.atan2(places[d, 1] - places[c, 1], places[d, 0] - places[c, 0])
            heading = wrap_angle_exactly(way - math.atan2(by - ay, bx - ax))
            best = _try(best, heading, i, c, w, seen, table, n)
    return best


@kernel
def _try(best: Best, heading: float, i: int, c: int, w: Floats, seen: Seen, table: Table, n: TrackerNumbers) -> Best:
    """Tries the pose with a heading in which thing i is landmark c."""
    polar, places = seen.polar, table.places
    way = heading + polar[i, BEARING]
    x, y = places[c, 0] - polar[i, DISTANCE] * math.cos(way), places[c, 1] - polar[i, DISTANCE] * math.sin(way)
    if abs(x) > n.half_length + OUTSIDE or abs(y) > n.half_width + OUTSIDE:
        return best
    fit = -HABIT * math.hypot(x - w[X], y - w[Y])
    for k in range(seen.things):
        if seen.kind[k] >= FIRST_MARK:
            fit += _fits(x, y, heading, k, seen, table)
    away = math.hypot(x - best[0], y - best[1]) > ELSEWHERE or abs(wrap_angle_exactly(heading - best[2])) > OTHERWISE
    if fit > best[3]:
        return x, y, heading, fit, best[3] if away else best[4]
    if away and fit > best[4]:
        return best[0], best[1], best[2], best[3], fit
    return best


@inlined
def _fits(x: float, y: float, heading: float, k: int, seen: Seen, table: Table) -> float:
    """How well thing k fits a pose: 1 less its share of what it may be off at most, or -1."""
    kind, polar, places = seen.kind[k], seen.polar, table.places
    way = heading + polar[k, BEARING]
    sx, sy = x + polar[k, DISTANCE] * math.cos(way), y + polar[k, DISTANCE] * math.sin(way)
    turn, most, fit = polar[k, TURN], NEAR + 3.0 * polar[k, SPREAD], -1.0
    for c in range(table.first[kind], table.first[kind + 1]):
        off = math.hypot(places[c, 0] - sx, places[c, 1] - sy) / most
        if off >= 1.0 or differs(seen.number[k], places[c, 3]):
            continue
        if not math.isnan(turn) and abs(wrap_angle_exactly(places[c, 2] - heading - turn)) > OTHERWISE:
            continue
        fit = max(fit, 1.0 - 0.5 * off)
    return fit
