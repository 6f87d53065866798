"""How far replays of the league's trials are from what was recorded: roots of mean squares.

- joints: over the twelve joints of the legs [deg];
- gyro: over the three rates of the torso [deg/s]; a simulated rate is the turn of the torso in the last cycle, as the
  server's is;
- tilt: over its roll, pitch and yaw [deg]; the recorded ones are the gyro added up (`simspark_trials`);
- place: its distance in the plane from where it was [m]; recorded every third cycle to the centimetre.

    errors(twin, candidates, measured)          # (trials, candidates, kinds)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle
from nutmeg.reality.columns import RATES, TURNS, turn_rates, turns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.engine.rollout import Rollout
    from nutmeg.reality.measured import Measured
    from nutmeg.reality.twin import Twin


KINDS = ("joints", "gyro", "tilt", "place")
UNITS = {"joints": "deg", "gyro": "deg/s", "tilt": "deg", "place": "m"}


def errors(twin: Twin, candidates: Floats, measured: Sequence[Measured]) -> Floats:
    """How far the replays of n candidates are from M trials, (M, n, kinds), in the order and units of this module."""
    rollouts = twin.simulate(candidates, [one.trial for one in measured])
    return np.stack([_errors(one, rollout) for one, rollout in zip(measured, rollouts, strict=True)])


def _errors(one: Measured, rollout: Rollout) -> Floats:
    """(n, kinds); infinite for a replay that broke down."""
    real = {column: np.asarray(one.real.series)[:, i] for i, column in enumerate(one.real.columns)}
    joints = [j for j in rollout.joints if f"angles.{j}" in real]
    legs = np.stack([real[f"angles.{j}"] for j in joints], axis=-1)
    pose = np.asarray(rollout.pose)
    angles = rollout.angles[:, :, [rollout.joints.index(j) for j in joints]] - legs
    gyro = turn_rates(rollout.times, pose[..., 3:7]) - np.stack([real[f"torso.{rate}"] for rate in RATES], axis=-1)
    tilt = turns_of(pose[..., 3:7]) - np.stack([real[f"torso.{turn}"] for turn in TURNS], axis=-1)
    tilt = wrap_angle(tilt)
    seen = np.isfinite(real["pose.x"])
    place = pose[:, seen, :2] - np.stack([real["pose.x"], real["pose.y"]], axis=-1)[seen]
    squares = (
        (np.degrees(angles) ** 2).mean(axis=(1, 2)),
        (np.degrees(gyro) ** 2).mean(axis=(1, 2)),
        (np.degrees(tilt) ** 2).mean(axis=(1, 2)),
        (place**2).sum(axis=-1).mean(axis=1),
    )
    found = np.sqrt(np.stack(squares, axis=-1))
    return np.where(np.isnan(found), np.inf, found)
