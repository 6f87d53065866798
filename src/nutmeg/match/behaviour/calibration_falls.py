"""When robots fall, and how they get up again.

    falls = find_falls(tracks)
    get_up_estimates(all_falls, rng)                        # times, spread, failures, turn
    fall_estimates(all_tracks, model, base)                 # hazards by walking and by contact

Hazards are events divided by exposure, as in the behavioural world: of walking by seconds and by effort, of contact by
the metres that two robots would have moved into each other had they gone as their legs were set (`calibration_walk`).
Contact is not recorded: robots whose rectangles are within a few centimetres of each other are taken to touch.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.base.arrays import Bools, Floats
from nutmeg.match.behaviour.collision_kernels import overlap
from nutmeg.match.behaviour.estimates import Estimate, rate_estimate, share_estimate, statistic_estimate, unknown
from nutmeg.match.behaviour.motion_kernels import CYCLE
from nutmeg.match.behaviour.state import Legs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nutmeg.match.behaviour.calibration_walk import WalkModel
    from nutmeg.match.behaviour.recorded_tracks import RobotTrack, Tracks
    from nutmeg.match.behaviour.settings import BehaviourSettings


SIDES = ("front", "back", "side")
LEAST = 6
"""Falls to a side that are needed to tell how long getting up takes."""
TWICE = 1.5
"""Who lies longer than so many times the usual has tried more than once."""
LONGEST = 20.0
"""Who lies longer was left lying [s]."""
UP_FOR = 10
"""Who falls within so many cycles after getting up had not got up."""
AFTER_CONTACT, AFTER_DRAWN, AFTER_KICK, AFTER_DIVE = 6, 1, 25, 20
"""Cycles within which a fall is put down to a contact (of drawn bodies: at once), a kick or a dive."""
TOUCH, DRAWN_TOUCH = 0.02, 0.002
"""Rectangles are grown by this for contact, on each side [m]."""
NEAR = 1.2
"""Farther robots do not touch [m]."""


@dataclass(frozen=True, kw_only=True)
class Fall:
    """A robot that fell and got up again."""

    robot: str
    row: int
    """The first cycle in which it lay."""
    side: str
    """Where it fell to: front, back or side."""
    time: float
    """Until it was up again, s; nan if it was not, or was carried."""
    turned: float
    """How its heading had changed then, rad."""
    again: bool
    """Whether it had been up for a moment only: it had not got up."""


def find_falls(tracks: Tracks) -> list[Fall]:
    """All falls but dives."""
    found = []
    for name, track in tracks.robots.items():
        changes = np.diff(track.lies.astype(np.int8))
        for row in (np.flatnonzero(changes == 1) + 1).tolist():
            dives = np.isin(track.legs[max(row - AFTER_DIVE, 0) : row + 1], (int(Legs.DIVE_LEFT), int(Legs.DIVE_RIGHT)))
            if track.playing[row] and not dives.any():
                found.append(_fall(tracks, name, row))
    return found


def _fall(tracks: Tracks, name: str, row: int) -> Fall:
    track = tracks.robots[name]
    up = np.flatnonzero(~track.lies[row:])
    end = row + int(up[0]) if len(up) else -1
    before, was_up = track.heading[row - 1], np.flatnonzero(track.lies[max(row - UP_FOR, 0) : row])
    lean = wrap_angle_exactly(float(track.lean[min(row + 2, max(end - 1, row))] - before))
    side = "front" if math.cos(lean) > 0.5 else "back" if math.cos(lean) < -0.5 else "side"
    time, turned = math.nan, math.nan
    if end > 0 and track.playing[row : end + 1].all():
        time = float(tracks.times[end] - tracks.times[row]) - 0.5 * CYCLE
        turned = wrap_angle_exactly(float(track.heading[end] - before))
    time = time if time < LONGEST else math.nan
    return Fall(robot=name, row=row, side=side, time=time, turned=turned, again=len(was_up) > 0)


def get_up_estimates(falls: Sequence[Fall], rng: np.random.Generator) -> list[Estimate]:
    """How long getting up takes, by the side that a robot lies on, and how it ends."""
    found, shares, turns, tries, failures = [], [np.zeros(0)], [np.zeros(0)], 0, 0
    for side in SIDES:
        those = [fall for fall in falls if fall.side == side and math.isfinite(fall.time)]
        times, headings = np.array([fall.time for fall in those]), np.array([fall.turned for fall in those])
        usual = float(np.median(times)) if len(times) else math.nan
        once = times[times < TWICE * usual] if len(times) else times
        what = f"falls to the {side}"
        found.append(statistic_estimate(f"get_up.{side}", once, _mean, rng, least=LEAST, what=what))
        if len(times) >= LEAST:
            shares.append(once / np.mean(once))
            turns.append(headings[(times < TWICE * usual) & ~np.array([fall.again for fall in those])])
            each = np.maximum(np.round(times / np.mean(once)), 1.0)
            tries, failures = tries + int(each.sum()), failures + int((each - 1).sum())
    failures += sum(fall.again for fall in falls)
    spread = np.concatenate(shares)
    found.append(statistic_estimate("get_up.spread", spread, _spread, rng, least=LEAST, what="falls"))
    found.append(share_estimate("get_up.failure", hits=failures, trials=tries, least=LEAST, what="tries to get up"))
    turned = np.concatenate(turns)
    found.append(statistic_estimate("get_up.turn", turned, _root_mean_square, rng, least=LEAST, what="falls"))
    return found


def _mean(values: Floats) -> float:
    return float(np.mean(values))


def _spread(shares: Floats) -> float:
    """Standard deviation without what comes from looking every 0.1 s only, which is little."""
    return float(np.std(shares, ddof=1))


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


# ---- why they fall


@dataclass
class Exposure:
    """What robots did, and how many fell in doing so."""

    walked: list[Floats]
    """Squares of efforts in all cycles of walking free of contact."""
    walking_falls: list[float]
    """Such squares just before a fall."""
    met: float = 0.0
    """Metres that robots would have moved into others who stood, each robot counted."""
    met_falls: int = 0
    stepped: float = 0.0
    """Metres that robots would have moved into others who lay."""
    stepped_falls: int = 0


def fall_estimates(all_tracks: Sequence[Tracks], model: WalkModel, base: BehaviourSettings) -> list[Estimate]:
    """Hazards of falling: by walking, by walking fast, by meeting others, by meeting who lies."""
    seen = Exposure([np.zeros(0)], [])
    for tracks in all_tracks:
        if tracks.wishes_known:
            _expose(tracks, model, base, seen)
    efforts = np.concatenate(seen.walked)
    if not len(efforts):
        return [
            unknown(f"fall.{name}", "nobody is known to have walked")
            for name in ("walking", "fast", "collision", "lying")
        ]
    old = base.fall
    return [
        *_walking_hazards(efforts, np.array(seen.walking_falls), base),
        rate_estimate(
            "fall.collision", events=seen.met_falls, exposure=seen.met, samples=seen.met_falls, base=old.collision
        ),
        rate_estimate(
            "fall.lying", events=seen.stepped_falls, exposure=seen.stepped, samples=seen.stepped_falls, base=old.lying
        ),
    ]


def _walking_hazards(efforts: Floats, at_falls: Floats, base: BehaviourSettings) -> list[Estimate]:
    """Hazards of walking at all and of walking fast; their intervals know that falls may be put down to either."""
    steady, fast = _attributed(efforts, at_falls)
    time, work, count = CYCLE * len(efforts), CYCLE * float(efforts.sum()), len(at_falls)
    found = [
        rate_estimate("fall.walking", events=steady, exposure=time, samples=count, base=base.fall.walking),
        rate_estimate("fall.fast", events=fast, exposure=work, samples=count, base=base.fall.fast),
    ]
    hazards = np.maximum(steady / time + fast / work * at_falls, 1e-12)
    shapes = np.column_stack([np.ones(count), at_falls]) / hazards[:, None]
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(shapes.T @ shapes)), 0.0))
    return [
        one
        if one.value is None or one.low is None or one.high is None
        else dataclasses.replace(
            one, low=max(min(one.low, one.value - 1.96 * error), 0.0), high=max(one.high, one.value + 1.96 * error)
        )
        for one, error in zip(found, errors.tolist(), strict=True)
    ]


def _attributed(efforts: Floats, at_falls: Floats) -> tuple[float, float]:
    """How many falls are put down to walking at all, and how many to walking fast: the most likely, by iteration."""
    steady, fast = 0.5 * len(at_falls), 0.5 * len(at_falls)
    time, effort = len(efforts), max(float(efforts.sum()), 1e-9)
    for _ in range(500):
        slow, quick = steady / time, fast / effort * at_falls
        share = np.divide(slow, slow + quick, out=np.zeros(len(at_falls)), where=slow + quick > 0)
        steady = float(np.sum(share))
        fast = len(at_falls) - steady
    return steady, fast


def _expose(tracks: Tracks, model: WalkModel, base: BehaviourSettings, seen: Exposure) -> None:
    """Adds what happened in a match."""
    names = list(tracks.robots)
    paces = {name: model.paces(track) for name, track in tracks.robots.items()}
    touching = {name: np.zeros((2, len(tracks.times)), bool) for name in names}
    for first, second, row in _near(tracks):
        lengths = _closing(tracks, first, second, row, paces, base)
        if lengths is None:
            continue
        for name, other in ((first, second), (second, first)):
            lying = bool(tracks.robots[other].lies[row])
            if tracks.robots[name].lies[row]:
                continue
            touching[name][int(lying), row] = True
            if lying:
                seen.stepped += lengths
            else:
                seen.met += lengths
    found = [fall for fall in find_falls(tracks) if not fall.again]
    falls = {name: [fall.row for fall in found if fall.robot == name] for name in names}
    for name, track in tracks.robots.items():
        after = AFTER_DRAWN if tracks.drawn else AFTER_CONTACT
        _count(track, paces[name], touching[name], falls[name], seen, model, after)


def _count(
    track: RobotTrack,
    paces: Floats,
    touching: Bools,
    falls: Sequence[int],
    seen: Exposure,
    model: WalkModel,
    after: int,
) -> None:
    ahead, back, side, turn = model.limits[:4]
    efforts = (paces[:, 0] / np.where(paces[:, 0] >= 0, ahead, back)) ** 2
    efforts += (paces[:, 1] / side) ** 2 + (paces[:, 2] / turn) ** 2
    kicks = track.legs == int(Legs.KICK)
    free = track.present & ~track.lies & paces.any(axis=1) & ~touching.any(axis=0)
    seen.walked.append(np.minimum(efforts[free], 1.0))
    for row in falls:
        recent = slice(max(row - after, 0), row + 1)
        if kicks[max(row - AFTER_KICK, 0) : row + 1].any():
            continue
        if touching[1, recent].any():
            seen.stepped_falls += 1
        elif touching[0, recent].any():
            seen.met_falls += 1
        else:
            seen.walking_falls.append(float(min(efforts[max(row - 1, 0)], 1.0)))


def _near(tracks: Tracks) -> Iterator[tuple[str, str, int]]:
    """All pairs of robots and cycles in which they may touch, and one is on its feet."""
    names = list(tracks.robots)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            a, b = tracks.robots[first], tracks.robots[second]
            close = (np.hypot(*(a.place - b.place).T) < NEAR) & a.playing & b.playing & ~(a.lies & b.lies)
            for row in np.flatnonzero(close).tolist():
                yield first, second, row


def _closing(
    tracks: Tracks, first: str, second: str, row: int, paces: dict[str, Floats], base: BehaviourSettings
) -> float | None:
    """How far two robots would have moved into each other in the next cycle, m; None if they do not touch."""
    a, b = tracks.robots[first], tracks.robots[second]
    grown = DRAWN_TOUCH if tracks.drawn else TOUCH
    depth, nx, ny = overlap(_rectangle(a, row, base, grown), _rectangle(b, row, base, grown))
    if depth <= 0.0 or row + 1 >= len(tracks.times):
        return None
    speeds = 0.0
    for name, sign in ((first, 1.0), (second, -1.0)):
        ahead, left, _ = paces[name][row + 1].tolist()
        heading = float(tracks.robots[name].heading[row])
        c, s = math.cos(heading), math.sin(heading)
        speeds += max(0.0, sign * ((ahead * c - left * s) * nx + (ahead * s + left * c) * ny))
    return CYCLE * speeds


def _rectangle(
    track: RobotTrack, row: int, base: BehaviourSettings, grown: float
) -> tuple[float, float, float, float, float, float]:
    """The grown rectangle of a robot's torso, or of one that lies, as `collision_kernels.bounds` gives it."""
    body = base.body
    x, y = track.place[row].tolist()
    lies = bool(track.lies[row])
    angle = float(track.lean[row] if lies else track.heading[row])
    length = body.lying_length / 2 if lies else body.torso_ahead
    width = body.lying_width / 2 if lies else body.torso_aside
    return x, y, math.cos(angle), math.sin(angle), length + grown, width + grown
