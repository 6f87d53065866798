"""The numbers of the behavioural world, estimated from recordings of matches: in physics, or of real robots.

    found = calibrate([Path("runs/match-1/match.nutmeg")], base=load_behaviour("nao-spark"), seed=0)
    found.settings                              # for `BehaviourSetup(settings=...)`
    found.estimates["walk.ahead"]               # value, interval, samples
    write_behaviour(found.settings, Path("body.toml"))      # for `nutmeg play --behaviour`

Each number has an interval for 95 % and says how many observations it rests on. What recordings cannot tell keeps the
base's value, with the reason. Sizes of bodies, rectangles of kicks, dives and the blame for pushes are never estimated.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.match.calibration import robots
from nutmeg.match.calibration.ball import ball_friction, find_touches, kick_estimates, push_estimate
from nutmeg.match.calibration.tracks import read_tracks
from nutmeg.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.match.calibration.estimates import Estimate
    from nutmeg.match.calibration.tracks import Tracks
    from nutmeg.match.worlds.behavioural.settings import BehaviourSettings


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """The result of a calibration."""

    settings: BehaviourSettings
    """The base with all numbers that were found."""
    base: BehaviourSettings
    estimates: Mapping[str, Estimate]
    """Estimates by the dotted names of the numbers."""
    seconds: float
    """How long the recordings are together, s."""
    robot_minutes: float
    """How long all robots together were on the pitch, min."""
    walked: Floats
    """(n, 2) requested speeds ahead and measured ones in cycles of free walking, m/s."""
    kicked: Floats
    """(k,) how far balls of straight kicks of full strength went, m."""


def calibrate(
    recordings: Sequence[Path],
    *,
    base: BehaviourSettings,
    seed: int = 0,
    name: str | None = None,
    field: str | None = None,
) -> Calibrated:
    """Estimates the numbers that recordings of matches determine.

    Args:
        recordings: of matches, from whichever world.
        base: values of numbers that the recordings do not determine.
        seed: of the resampling that gives intervals.
        name: of the new settings; that of the base if left out, so that the same eyes go with them.
        field: the pitch of recordings that do not say it.
    """
    if not recordings:
        raise UsageError("there is nothing to calibrate from; give at least one recording of a match.")
    tracks = [read_tracks(Recording.open(path), field=field) for path in recordings]
    found = {one.name: one for one in estimate_all(tracks, base, np.random.default_rng(seed))}
    numbers = {key: one.value for key, one in found.items() if one.value is not None}
    files = ", ".join(path.name for path in recordings[:3]) + (", ..." if len(recordings) > 3 else "")
    source = {
        **base.source,
        **{key: _source(one, files) for key, one in found.items() if one.value is not None},
        "base": f"numbers that are not named here by themselves are those of {base.name!r}",
    }
    settings = dataclasses.replace(base.changed(numbers), name=name or base.name, source=source)
    minutes = sum(
        float(one.present.mean()) * float(t.times[-1] - t.times[0]) for t in tracks for one in t.robots.values()
    )
    commanded = [one for one in tracks if one.wishes_known]
    runs, friction = robots.walk_runs(commanded), (settings.ball.deceleration, settings.ball.damping)
    kicks = [one for each in commanded for one in find_touches(each, friction) if one.kicked and one.strength > 0.3]
    return Calibrated(
        walked=np.column_stack([runs.wish[runs.settled, 0], runs.speed[runs.settled, 0]]),
        kicked=np.array([one.distance / one.strength for one in kicks if np.isfinite(one.distance)]),
        settings=settings,
        base=base,
        estimates=found,
        seconds=float(sum(t.times[-1] - t.times[0] for t in tracks)),
        robot_minutes=minutes / 60,
    )


def _source(one: Estimate, files: str) -> str:
    return f"calibrated: {one.low:.4g} to {one.high:.4g} (95 %), {one.samples} observations in {files}"


def estimate_all(tracks: Sequence[Tracks], base: BehaviourSettings, rng: np.random.Generator) -> list[Estimate]:
    """All estimates, known or not."""
    commanded = [one for one in tracks if one.wishes_known]
    runs, model = robots.fit_walks(commanded, base)
    friction = ball_friction(tracks, rng)
    rolls = tuple(base.number(one.name) if one.value is None else one.value for one in friction)
    touches = [(one, touch) for one in commanded for touch in find_touches(one, (rolls[0], rolls[1]))]
    falls = [fall for one in tracks for fall in robots.find_falls(one)]
    return [
        *model.estimates,
        *robots.walk_noise(runs, model, rng),
        robots.head_speed(tracks, rng),
        *friction,
        *kick_estimates(touches, base, rng),
        push_estimate(touches, rng),
        *robots.fall_estimates(commanded, model, base),
        *robots.get_up_estimates(falls, rng),
    ]
