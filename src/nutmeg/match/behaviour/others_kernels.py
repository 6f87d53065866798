"""Where the other players are, compiled: sightings without numbers become tracks, one for each player that is known.

A robot that is seen is the track of its team that is nearest, if that is near enough for the time since it was seen;
otherwise a row that is free: one never used, or the one that was not seen for longest. So the rows of opponents are
players, but not their numbers, unless eyes recognise numbers; mates tell theirs. A sighting moves a track by the share
that its own error has in that of both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.compiled import kernel
from nutmeg.match.behaviour.marks import Kind
from nutmeg.match.behaviour.strategy_rows import HEADING, MATES, X, Y
from nutmeg.match.behaviour.view_kernels import BEARING, DISTANCE, SPREAD
from nutmeg.match.rules import MOST_PLAYERS

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.behaviour.mind_rows import Seen, TrackerNumbers


MATE, OPPONENT, ROBOT = Kind.MATE.value, Kind.OPPONENT.value, Kind.ROBOT.value
PLAYERS = 2 * MOST_PLAYERS
LEAST = 0.05
"""What no place of a robot is known better than, m."""
FRESH = 1e-9
"""Who was seen in this very cycle, s."""


@kernel
def see_robots(w: Floats, own: int, seen: Seen, n: TrackerNumbers) -> None:
    """Takes the robots among the things that are seen into a mind; `own` is the player's number less 1."""
    kind, number, polar = seen.kind, seen.number, seen.polar
    for k in range(PLAYERS):
        w[MATES + 4 * k + 2] += n.step
    for i in range(seen.things):
        if not MATE <= kind[i] <= ROBOT:
            continue
        way = w[HEADING] + polar[i, BEARING]
        x, y = w[X] + polar[i, DISTANCE] * math.cos(way), w[Y] + polar[i, DISTANCE] * math.sin(way)
        if number[i] > 0:
            track = number[i] - 1 + (0 if kind[i] == MATE else MOST_PLAYERS)
        else:
            track = _nearest(w, own, kind[i], x, y, n)
        if track < 0:
            continue
        _move(w, MATES + 4 * track, x, y, polar[i, SPREAD], n.others_drift)
        w[MATES + 4 * track + 3] = 1.0 if seen.lying[i] else 0.0


@kernel
def _nearest(w: Floats, own: int, kind: int, x: float, y: float, n: TrackerNumbers) -> int:
    """The track that a robot at a place is: the nearest, or a free one; -1 if there is none."""
    first = MOST_PLAYERS if kind == OPPONENT else 0
    last = MOST_PLAYERS if kind == MATE else PLAYERS
    best, nearest, free, oldest = -1, math.inf, -1, n.others_memory
    for k in range(first, last):
        age = w[MATES + 4 * k + 2]
        if k == own or age < FRESH:
            continue
        if age > oldest and (k >= MOST_PLAYERS or kind == MATE):
            free, oldest = k, age
        if age == math.inf:
            continue
        gate = n.others_gate + n.others_drift * min(age, n.others_memory)
        far = math.hypot(w[MATES + 4 * k] - x, w[MATES + 4 * k + 1] - y) - gate
        if far < min(nearest, 0.0):
            best, nearest = k, far
    return best if best >= 0 else free


@kernel
def _move(w: Floats, at: int, x: float, y: float, spread: float, drift: float) -> None:
    """Moves a track towards where it is seen."""
    age = w[at + 2]
    share = 1.0
    if age < math.inf:
        seen, known = spread * spread + LEAST**2, LEAST**2 + 0.02 + (drift * age) ** 2
        share = known / (known + seen)
        w[at] += share * (x - w[at])
        w[at + 1] += share * (y - w[at + 1])
    else:
        w[at], w[at + 1] = x, y
    w[at + 2] = 0.0
