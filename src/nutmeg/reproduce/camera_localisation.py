"""Localisation from camera pictures alone: how far from the truth a robot believes to be on a walk around the pitch.

    answer = camera_localisation(Path("runs/camera-localisation"))
    answer["conditions"]["pictures"]["median_error"]            # m
    answer["met"]

Asked for: a median error under 0.3 m and 10 degrees. The robot knows nothing when it begins, not even which way it
looks; errors count from the first picture on. Two pairs of eyes see the same walk: `pictures` gets what the cameras of
the behavioural world draw, `shaken` gets them with noise, and with angles of the head that are wrong by a sway of the
trunk, as a walking robot's are. `odometry` is what is believed without eyes by who knew where it began. At the end the
robot is carried elsewhere, and it is measured how long it takes to notice. The truth and what is believed are recorded.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.angles import wrap_angle
from nutmeg.body.field import load_field
from nutmeg.match.behaviour.eyes import load_eyes
from nutmeg.match.perception import CameraSenses
from nutmeg.match.play_modes import Side
from nutmeg.recording import Channel, Recording, RecordingWriter
from nutmeg.reproduce.camera_localisation_figure import plot_walk
from nutmeg.reproduce.camera_walk import FIELD, CameraWalk
from nutmeg.reproduce.seeds import each_seed, write_results

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.reproduce.camera_walk import Frame


WANTED, WANTED_TURN = 0.3, math.radians(10.0)
"""Median errors must be below these, m and rad."""
CONDITIONS = ("pictures", "shaken", "odometry")
POSE = ("x", "y", "heading")


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is measured."""

    seconds: float = 100.0
    """Of the walk: once around the pitch takes about so long."""
    search: float = 20.0
    """How long who was carried away may look around, s."""
    sway: float = 0.01
    """Deviation of the head's yaw and pitch in `shaken`, rad, drawn anew for each picture."""
    noise: float = 10.0
    """Deviation of each pixel's red, green and blue in `shaken`, of 255."""


FULL = Scale()
QUICK = Scale(seconds=30.0, search=10.0)


def camera_localisation(
    out: Path,
    *,
    quick: bool = False,
    seed: int = 1,
    seeds: int = 5,
    on_progress: Callable[[str], None] = lambda _: None,
    scale: Scale | None = None,
) -> dict[str, Any]:
    """Walks around the pitch; writes a recording for each seed, camera-localisation.png and results.json.

    Args:
        out: folder for the results.
        quick: a shorter walk.
        seed: the first seed.
        seeds: how many.
        on_progress: called with what is being done.
        scale: other sizes.
    """
    size = scale or (QUICK if quick else FULL)

    def one(number: int) -> dict[str, Any]:
        on_progress(f"seed {number}: {size.seconds:g} s around the pitch")
        return _one_seed(out / f"seed-{number}.nutmeg", number, size)

    runs = each_seed(out, range(seed, seed + seeds), asdict(size), one)
    conditions = {name: _together([run[name] for run in runs]) for name in CONDITIONS}
    best = conditions["pictures"]
    answer = {
        "experiment": "camera-localisation",
        "conditions": conditions,
        "runs": runs,
        "goal": {"error": WANTED, "turn": WANTED_TURN},
        "met": best["median_error"] < WANTED and best["median_turn"] < WANTED_TURN,
        "settings": {**asdict(size), "seed": seed, "seeds": seeds, "quick": quick, "field": FIELD},
    }
    recording = Recording.open(out / f"seed-{seed}.nutmeg")
    plot_walk(out / "camera-localisation.png", recording, load_field(FIELD))
    write_results(out, answer)
    return answer


class _Believer:
    """Somebody who believes to be somewhere; with a shaken head and noisy pictures, if so said."""

    def __init__(self, seed: int, size: Scale, *, shaken: bool) -> None:
        self._rng = np.random.default_rng([seed, shaken])
        self.senses = CameraSenses(load_field(FIELD), load_eyes("nao"), rng=self._rng)
        self._sway, self._noise = (size.sway, size.noise) if shaken else (0.0, 0.0)

    def follow(self, frame: Frame) -> Floats:
        """(5,) pose, spread of the place and of the heading."""
        self.senses.filter.move(frame.odometry, upright=frame.upright)
        if frame.upright:
            yaw, pitch = frame.head + self._sway * self._rng.standard_normal(2)
            images = {name: self._noisy(image) for name, image in frame.images.items()}
            self.senses.look(images, (float(yaw), float(pitch)), Side.LEFT, frame.time)
        pose = self.senses.pose
        return np.array([pose.x, pose.y, pose.heading, pose.spread, pose.heading_spread])

    def _noisy(self, image: Bytes) -> Bytes:
        if not self._noise:
            return image
        noise = self._noise * self._rng.standard_normal(image.shape, np.float32)
        return np.clip(image + noise, 0, 255).astype(np.uint8)


def _one_seed(path: Path, seed: int, size: Scale) -> dict[str, Any]:
    """A walk: recorded, and its errors."""
    believers = {name: _Believer(seed, size, shaken=name == "shaken") for name in CONDITIONS[:2]}
    labels = {"truth": POSE, **dict.fromkeys(believers, (*POSE, "spread", "heading_spread")), "odometry": POSE}
    channels = [Channel(name=f"{name}.pose", labels=each, resolution=1e-4) for name, each in labels.items()]
    rows: list[Floats] = []
    balls: list[float] = []
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        CameraWalk(seed) as walk,
        RecordingWriter.create(path, channels, kind="localisation", seed=seed, overwrite=True) as writer,
    ):
        reckoned: Floats | None = None
        for frame in walk.frames(size.seconds):
            reckoned = frame.pose if reckoned is None else _moved(reckoned, frame.odometry)
            row = np.concatenate([frame.pose, *(one.follow(frame) for one in believers.values()), reckoned])
            writer.append(frame.time, row)
            rows.append(row)
            seen = believers["pictures"].senses.seen.ball
            balls += [math.dist(seen, _in_body(frame.pose, frame.ball))] if seen is not None else []
        found = _found_again(walk, believers, np.random.default_rng([seed, 7]), size.search)
    table = np.array(rows)
    columns = {"pictures": slice(3, 6), "shaken": slice(8, 11), "odometry": slice(13, 16)}
    errors = {name: _errors(table[:, :3], table[:, where]) for name, where in columns.items()}
    return {
        **{name: {**errors[name], "found_again": found.get(name)} for name in CONDITIONS},
        "ball_error": float(np.median(balls)) if balls else None,
        "balls": len(balls),
        "rows": len(table),
    }


def _found_again(
    walk: CameraWalk, believers: dict[str, _Believer], rng: np.random.Generator, longest: float
) -> dict[str, float | None]:
    """After how many seconds each knows where it is again when it has been carried away; None if it does not."""
    x, y, heading = walk.world.state.pose[0, 0].tolist()
    walk.carry(-x + rng.uniform(-0.3, 0.3), -y + rng.uniform(-0.3, 0.3), heading + rng.uniform(1.5, 4.5))
    since: dict[str, float] = {}
    start = None
    for frame in walk.frames(longest):
        start = frame.time if start is None else start
        for name, one in believers.items():
            error = np.abs(_difference(one.follow(frame)[:3], frame.pose))
            if math.hypot(error[0], error[1]) < WANTED and error[2] < WANTED_TURN:
                since.setdefault(name, frame.time - start)
            else:
                since.pop(name, None)
    return {name: since.get(name) for name in believers}


def _moved(pose: Floats, odometry: tuple[float, float, float]) -> Floats:
    ahead, left, turn = odometry
    c, s = math.cos(pose[2] + turn / 2), math.sin(pose[2] + turn / 2)
    return np.asarray(pose + np.array([c * ahead - s * left, s * ahead + c * left, turn]))


def _in_body(pose: Floats, spot: Floats) -> tuple[float, float]:
    """A spot on the pitch (2,), ahead and left of a pose."""
    way, c, s = spot - pose[:2], math.cos(pose[2]), math.sin(pose[2])
    return float(c * way[0] + s * way[1]), float(c * way[1] - s * way[0])


def _difference(believed: Floats, truth: Floats) -> Floats:
    """(..., 3) with the turn between -pi and pi."""
    off = believed - truth
    off[..., 2] = wrap_angle(off[..., 2])
    return off


def _errors(truth: Floats, believed: Floats) -> dict[str, Any]:
    """Medians and 95 % points of the errors of place [m] and heading [rad]; when they were first as wanted [s]."""
    off = _difference(believed, truth)
    error, turn = np.hypot(off[:, 0], off[:, 1]), np.abs(off[:, 2])
    good = (error < WANTED) & (turn < WANTED_TURN)
    return {
        "median_error": float(np.median(error)),
        "median_turn": float(np.median(turn)),
        "late_error": float(np.percentile(error, 95)),
        "late_turn": float(np.percentile(turn, 95)),
        "good": float(good.mean()),
        "first_good": int(np.argmax(good)) / 10 if good.any() else None,
    }


def _together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over walks, and the worst of them."""
    names = ("median_error", "median_turn", "late_error", "late_turn", "good")
    medians = {name: float(np.median([run[name] for run in runs])) for name in names}
    worst = {f"worst_{name}": float(max(run[name] for run in runs)) for name in names[:2]}
    again = [run["found_again"] for run in runs]
    found = [one for one in again if one is not None]
    return {**medians, **worst, "found_again": float(np.median(found)) if found else None, "found": len(found)}
